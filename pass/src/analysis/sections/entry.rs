//! One section as it is declared, and how what is known of an access becomes one.

use super::{Access, POINTER, Size, Spoiled};
use crate::analysis::memory::base_of;
use crate::analysis::nests::{
    Extent, Nests, Places, Section, TablePlace, Term, Unused, source_name,
};
use crate::llvm::{Instruction, Value, demangle};

/// A value at run time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quantity<'m> {
    /// A term of the function's analysis.
    Term(Term<'m>),
    /// A value of the program: an address or an integer.
    Value(Value<'m>),
    /// A number.
    Constant(i64),
    /// The function that says where the read at this address is in a turn of its loop.
    Places(Value<'m>),
}

/// One section.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry<'m> {
    /// What is said of it.
    pub what: What,
    /// Bytes of an element.
    pub element: i64,
    /// Of the first element: from each pointer in the table, where there is one.
    pub address: Quantity<'m>,
    /// Stride in bytes and count, outer dimensions first; the corners, where the entry has such.
    pub dimensions: Vec<(Quantity<'m>, Quantity<'m>)>,
    /// Name of the object; may be empty.
    pub object: String,
    /// An access.
    pub at: Instruction<'m>,
    /// Pointers, or numbers, that the loop loads itself; or what computes the places of a read.
    pub table: Option<Box<Entry<'m>>>,
}

impl Entry<'_> {
    /// Where it writes elements: that these may be read, too.
    pub(super) fn as_read(&self) -> Option<Self> {
        let What::Elements {
            is_write: true,
            relative,
            ..
        } = self.what
        else {
            return None;
        };
        let what = What::Elements {
            is_write: false,
            exact: false,
            relative,
        };
        Some(Self {
            what,
            ..self.clone()
        })
    }
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Elements are read or written: all of them if exact, and no others.
    Elements {
        /// Whether they are written.
        is_write: bool,
        /// Whether every one is accessed.
        exact: bool,
        /// Whether its address is one from each of the pointers in the table.
        relative: bool,
    },
    /// Where a loop reads pointers that other entries are relative to. That it does is said elsewhere.
    Pointers {
        /// Whether its address is one from each of the pointers in the table.
        relative: bool,
    },
    /// Where a loop reads numbers that corners are computed from.
    Numbers {
        /// Whether they have a sign.
        signed: bool,
        /// Which are not used.
        unused: Unused,
        /// They lie between corners, which are computed from the numbers in front of them; and whether the address is a
        /// variable's own.
        between: Option<bool>,
    },
    /// What computes where elements of the next entry are read.
    Places,
    /// Every one of these elements is written by some thread before all wait for each other, of the loop that they share: what
    /// others write of them this one does not access. What it does itself is said elsewhere.
    ByAll,
    /// Something in the object that the address points into is read.
    Anywhere {
        /// Whether the address is a variable's own.
        of_variable: bool,
    },
    /// The same, between the least and the largest of some corners.
    Between {
        /// Whether the address is a variable's own.
        of_variable: bool,
    },
    /// Something in the object is written, and the stores mark what.
    Marked {
        /// Whether a mark is a bit, instead of a byte.
        by_bits: bool,
        /// Whether what is written is found behind the nest, unless the run time wants to know at each store.
        counted: bool,
        /// Whether the address is a variable's own.
        of_variable: bool,
    },
}

impl What {
    pub(super) fn is_write(self) -> bool {
        matches!(
            self,
            Self::Elements { is_write: true, .. } | Self::Marked { .. }
        )
    }

    pub(super) fn is_read(self) -> bool {
        matches!(
            self,
            Self::Elements {
                is_write: false,
                ..
            } | Self::Anywhere { .. }
                | Self::Between { .. }
        )
    }

    /// Whether all of these elements are written, and no others.
    pub(super) fn is_exact_write(self) -> bool {
        let is_write = self.is_write();
        is_write && matches!(self, Self::Elements { exact: true, .. })
    }

    /// Whether just these elements are read.
    pub(super) fn is_exact_read(self) -> bool {
        let is_read = self.is_read();
        is_read && matches!(self, Self::Elements { exact: true, .. })
    }
}

/// Whether an address is a variable's.
pub(super) fn is_of_variable<'m>(nests: &Nests<'m>, address: Term<'m>) -> bool {
    matches!(nests.anchor(address), Some((base, 0)) if base.as_global().is_some())
}

/// The numbers of corners, as they stand in an entry.
fn in_pairs<'m>(corners: Vec<Vec<Term<'m>>>) -> Vec<(Quantity<'m>, Quantity<'m>)> {
    let mut values: Vec<_> = corners.into_iter().flatten().map(Quantity::Term).collect();
    // Values come in pairs.
    if values.len() % 2 == 1 {
        values.push(Quantity::Constant(0));
    }
    values.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The entry of an access whose extent is known; of another an error, what is wrong with it.
pub(super) fn entry_of<'m>(
    nests: &Nests<'m>,
    extent: Extent<'m>,
    is_write: bool,
    element: i64,
    at: Instruction<'m>,
) -> Result<Entry<'m>, Spoiled<'m>> {
    let entry = |what, element, address, dimensions| Entry {
        what,
        element,
        address: Quantity::Term(address),
        dimensions,
        object: demangle(&nests.object_name(address)),
        at,
        table: None,
    };
    let of_section = |section: Section<'m>, what, element| {
        let dimensions = section.dimensions.into_iter();
        let dimensions = dimensions
            .map(|(stride, count)| (Quantity::Term(stride), Quantity::Term(count)))
            .collect();
        entry(what, element, section.address, dimensions)
    };
    let elements = |exact, relative| What::Elements {
        is_write,
        exact,
        relative,
    };
    let reason = match extent {
        Extent::Section(section) => {
            let what = elements(section.exact, false);
            return Ok(of_section(section, what, element));
        }
        Extent::Rows(mut levels) => {
            let row = levels.pop().expect("of a table and a row");
            let what = elements(row.exact, true);
            let mut table: Option<Box<Entry<'m>>> = None;
            for level in levels {
                let relative = table.is_some();
                let mut one = of_section(level, What::Pointers { relative }, POINTER);
                one.table = table;
                table = Some(Box::new(one));
            }
            let mut row = of_section(row, what, element);
            let mut first = table.as_ref();
            while let Some(one) = first {
                row.object.clone_from(&one.object);
                first = one.table.as_ref();
            }
            row.table = table;
            return Ok(row);
        }
        Extent::Between(between) => {
            let mut table = None;
            for one in between.tables {
                let numbers = |between| What::Numbers {
                    signed: one.is_signed,
                    unused: one.unused,
                    between,
                };
                let mut entry = match one.place {
                    TablePlace::Section(section) => of_section(section, numbers(None), one.bytes),
                    TablePlace::Between { object, corners } => {
                        let what = numbers(Some(is_of_variable(nests, object)));
                        entry(what, one.bytes, object, in_pairs(corners))
                    }
                };
                entry.table = table;
                table = Some(Box::new(entry));
            }
            let of_variable = is_of_variable(nests, between.object);
            let what = What::Between { of_variable };
            let mut part = entry(what, element, between.object, in_pairs(between.corners));
            part.table = table;
            return Ok(part);
        }
        Extent::Anywhere(object) if !is_write => {
            let of_variable = is_of_variable(nests, object);
            return Ok(entry(What::Anywhere { of_variable }, 1, object, Vec::new()));
        }
        Extent::Anywhere(_) => "writes where cannot be told before the loop",
        Extent::Unknown if is_write => "writes to an object that is not known before the loop",
        Extent::Unknown => "reads from an object that is not known before the loop",
    };
    Err(Spoiled {
        at,
        reason: reason.to_string(),
    })
}

impl<'m> Entry<'m> {
    /// As the analysis gave it.
    pub(super) fn extent(&self) -> Extent<'m> {
        let term = |quantity| match quantity {
            Quantity::Term(term) => Some(term),
            Quantity::Value(_) | Quantity::Constant(_) | Quantity::Places(_) => None,
        };
        let Some(address) = term(self.address) else {
            return Extent::Unknown;
        };
        if self.table.is_some() {
            return Extent::Unknown;
        }
        let exact = match self.what {
            What::Anywhere { .. } | What::Between { .. } => return Extent::Anywhere(address),
            What::Elements { exact, .. } => exact,
            What::Pointers { .. }
            | What::Numbers { .. }
            | What::Places
            | What::ByAll
            | What::Marked { .. } => true,
        };
        let dimensions = self.dimensions.iter();
        let dimensions: Option<Vec<_>> = dimensions
            .map(|&(stride, count)| Some((term(stride)?, term(count)?)))
            .collect();
        match dimensions {
            Some(dimensions) => Extent::Section(Section {
                address,
                dimensions,
                exact,
            }),
            None => Extent::Unknown,
        }
    }

    pub(super) fn is_same_section(&self, other: &Entry<'m>) -> bool {
        self.what == other.what
            && self.element == other.element
            && self.address == other.address
            && self.dimensions == other.dimensions
            && self.has_table_of(other)
    }

    pub(super) fn has_table_of(&self, other: &Entry<'m>) -> bool {
        match (&self.table, &other.table) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same_section(other),
            _ => false,
        }
    }

    /// An offset and a factor for each table, of each of the corners between which the access lies.
    pub fn corners(&self) -> Vec<Vec<Quantity<'m>>> {
        let values: Vec<_> = self.dimensions.iter().flat_map(|&(a, b)| [a, b]).collect();
        let corners = values.chunks_exact(self.with_tables().len());
        corners.map(<[_]>::to_vec).collect()
    }

    /// This entry behind the tables it needs, the first one first.
    pub fn with_tables(&self) -> Vec<&Entry<'m>> {
        let mut all = self
            .table
            .as_ref()
            .map_or(Vec::new(), |table| table.with_tables());
        all.push(self);
        all
    }
}

impl<'m> Entry<'m> {
    /// The same of reads whose places can be computed.
    pub(super) fn at_places(self, places: Places<'m>, element: i64) -> Self {
        let mut values: Vec<_> = [places.turns]
            .into_iter()
            .chain(places.captured)
            .map(Quantity::Term)
            .collect();
        // Values come in pairs.
        if values.len() % 2 == 1 {
            values.push(Quantity::Constant(0));
        }
        let table = Entry {
            what: What::Places,
            element,
            address: Quantity::Places(places.address),
            dimensions: values.chunks(2).map(|pair| (pair[0], pair[1])).collect(),
            object: String::new(),
            at: self.at,
            table: None,
        };
        Self {
            table: Some(Box::new(table)),
            ..self
        }
    }
}

/// An access outside every nest.
pub(super) fn point<'m>(access: &Access<'m>) -> Entry<'m> {
    let (element, dimensions) = match access.size {
        Size::Constant(size) => (size, Vec::new()),
        Size::Bytes(length) => (1, vec![(Quantity::Constant(1), Quantity::Value(length))]),
    };
    let base = base_of(access.address);
    Entry {
        what: What::Elements {
            is_write: access.is_write,
            exact: true,
            relative: false,
        },
        element,
        address: Quantity::Value(access.address),
        dimensions,
        object: demangle(&source_name(base)),
        at: access.at,
        table: None,
    }
}
