//! The records that go from the stage that lowers to those that come later: what one has found out that the others can
//! no longer see.
//!
//! A loop's record hangs on the call that runs it, its *anchor*: constants are text there, values are the call's operands.
//! LLVM may copy the call, and the record with it. Where the record is lost, or of another version, the loop is declined.
//! A region's record is the ABI's `RegionDescriptor`, which a fork names.

use std::fmt;
use std::str::FromStr;

use okl_abi::{Effects, RegionDescriptor, region_flags};

use crate::analysis::runtime;
use crate::ir::{Columns, Element, Mode, ParallelLoop, Place, Scalar, Storage};
use crate::llvm::{Call, Function, Global, Module, Opcode, Value};

/// The attribute of an anchor.
const MARK: &str = "okl-loop";

/// What a record begins with. It changes with what follows.
const VERSION: &str = "1";

/// What late stages know of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRecord {
    /// Its arguments in order.
    pub arguments: Vec<ArgumentRecord>,
}

/// What is known of an argument: see [`crate::ir::Argument`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentRecord {
    /// How the body accesses it.
    pub access: Mode,
    /// Where.
    pub place: Place,
    /// What an element consists of, where that is known.
    pub element: Option<Element>,
    /// How its elements lie in memory.
    pub storage: Storage,
    /// The map that leads to it.
    pub map: Option<MapRecord>,
}

/// A map, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRecord {
    /// The first argument whose map seems to be the same.
    pub first: usize,
    /// How many elements each element leads to, where the program says so.
    pub arity: Option<i64>,
}

impl LoopRecord {
    /// Of a loop.
    pub fn of(one: &ParallelLoop<'_>) -> Self {
        let arguments = one.args.iter().map(|argument| ArgumentRecord {
            access: argument.access,
            place: argument.place.clone(),
            element: argument.element,
            storage: argument.storage,
            map: argument.map.map(|map| {
                let is_like = |other: &crate::ir::Argument<'_>| {
                    other
                        .map
                        .is_some_and(|other| is_same(other.value, map.value))
                };
                MapRecord {
                    first: one
                        .args
                        .iter()
                        .position(is_like)
                        .expect("it is like itself"),
                    arity: map.arity,
                }
            }),
        });
        Self {
            arguments: arguments.collect(),
        }
    }

    /// Leaves it at an anchor.
    pub fn leave_at(&self, module: &Module, anchor: Call<'_>) {
        anchor.note(module, MARK, &self.to_string());
    }

    /// The one that was left at an anchor; none where the call is no anchor.
    pub fn at(anchor: Call<'_>) -> Option<Result<Self, NoRecord>> {
        Some(anchor.noted(MARK)?.parse())
    }
}

/// Whether two values are computed in the same way. Memory may have changed in between: what relies on it is compared
/// again when the program runs.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let same_operation = |opcode| {
        let (Some(a), Some(b)) = (a.as_op(opcode), b.as_op(opcode)) else {
            return false;
        };
        let (a, b) = (a.operands(), b.operands());
        a.len() == b.len() && a.iter().zip(&b).all(|(&a, &b)| is_same(a, b))
    };
    a == b || same_operation(Opcode::LLVMLoad) || same_operation(Opcode::LLVMGetElementPtr)
}

const ACCESSES: [(Mode, &str); 6] = [
    (Mode::Read, "read"),
    (Mode::Write, "write"),
    (Mode::ReadWrite, "rw"),
    (Mode::Increment, "inc"),
    (Mode::Min, "min"),
    (Mode::Max, "max"),
];

const STORAGES: [(Storage, &str); 4] = [
    (Storage::ByElement, "element"),
    (
        Storage::Either {
            by_component: false,
        },
        "either",
    ),
    (Storage::Either { by_component: true }, "component"),
    (Storage::Unknown, "unknown"),
];

fn word_of<T: PartialEq>(words: &[(T, &'static str)], value: &T) -> &'static str {
    let found = words.iter().find(|(one, _)| one == value);
    found.expect("there is a word for each").1
}

fn meant<T: Clone>(words: &[(T, &str)], word: &str) -> Option<T> {
    let found = words.iter().find(|(_, one)| *one == word);
    found.map(|(value, _)| value.clone())
}

impl fmt::Display for LoopRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERSION)?;
        for one in &self.arguments {
            write!(f, "; {} ", word_of(&ACCESSES, &one.access))?;
            match one.place {
                Place::Scalar => f.write_str("scalar")?,
                Place::Section { offset, stride } => write!(f, "section:{offset}:{stride}")?,
                Place::Indirect { columns } => match columns {
                    Columns::One(column) => write!(f, "column:{column}")?,
                    Columns::First(count) => write!(f, "columns:{count}")?,
                },
                Place::Number { column: None } => f.write_str("number")?,
                Place::Number {
                    column: Some(column),
                } => write!(f, "number:{column}")?,
            }
            match one.element {
                None => f.write_str(" -")?,
                Some(element) => {
                    let optional = if element.optional { "?" } else { "" };
                    write!(f, " {}{}x{}", optional, element.components, element.scalar)?;
                }
            }
            write!(f, " {}", word_of(&STORAGES, &one.storage))?;
            match one.map {
                None => f.write_str(" -")?,
                Some(MapRecord { first, arity: None }) => write!(f, " {first}")?,
                Some(MapRecord {
                    first,
                    arity: Some(arity),
                }) => write!(f, " {first}:{arity}")?,
            }
        }
        Ok(())
    }
}

/// A text is no record of this version.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRecord;

impl FromStr for LoopRecord {
    type Err = NoRecord;

    fn from_str(text: &str) -> Result<Self, NoRecord> {
        let mut parts = text.split("; ");
        if parts.next() != Some(VERSION) {
            return Err(NoRecord);
        }
        let arguments: Option<Vec<_>> = parts.map(argument).collect();
        let arguments = arguments.ok_or(NoRecord)?;
        let refers = |one: &ArgumentRecord| one.map.is_none_or(|map| map.first < arguments.len());
        match arguments.iter().all(refers) {
            true => Ok(Self { arguments }),
            false => Err(NoRecord),
        }
    }
}

fn argument(text: &str) -> Option<ArgumentRecord> {
    let words: Vec<_> = text.split(' ').collect();
    let [access, place, element, storage, map] = words[..] else {
        return None;
    };
    Some(ArgumentRecord {
        access: meant(&ACCESSES, access)?,
        place: self::place(place)?,
        element: match element {
            "-" => None,
            element => Some(self::element(element)?),
        },
        storage: meant(&STORAGES, storage)?,
        map: match map.split(':').collect::<Vec<_>>()[..] {
            ["-"] => None,
            [first] => Some(MapRecord {
                first: first.parse().ok()?,
                arity: None,
            }),
            [first, arity] => Some(MapRecord {
                first: first.parse().ok()?,
                arity: Some(arity.parse().ok()?),
            }),
            _ => return None,
        },
    })
}

fn place(text: &str) -> Option<Place> {
    let words: Vec<_> = text.split(':').collect();
    Some(match words[..] {
        ["scalar"] => Place::Scalar,
        ["section", offset, stride] => Place::Section {
            offset: offset.parse().ok()?,
            stride: stride.parse().ok()?,
        },
        ["column", column] => Place::Indirect {
            columns: Columns::One(column.parse().ok()?),
        },
        ["columns", count] => Place::Indirect {
            columns: Columns::First(count.parse().ok()?),
        },
        ["number"] => Place::Number { column: None },
        ["number", column] => Place::Number {
            column: Some(column.parse().ok()?),
        },
        _ => return None,
    })
}

fn element(text: &str) -> Option<Element> {
    let required = text.strip_prefix('?');
    let (components, scalar) = required.unwrap_or(text).split_once('x')?;
    let (kind, bits) = scalar.split_at_checked(1)?;
    let bits: i64 = bits.parse().ok()?;
    Some(Element {
        scalar: Scalar {
            bytes: Some(bits / 8).filter(|bytes| bytes * 8 == bits)?,
            floating: kind == "f",
            signed: match kind {
                "f" | "i" => true,
                "u" => false,
                _ => return None,
            },
        },
        components: components.parse().ok()?,
        optional: required.is_some(),
    })
}

/// What a fork says of the region that it begins.
pub struct RegionRecord<'m> {
    /// Where it is.
    pub global: Global<'m>,
    /// The region's body.
    pub body: Function<'m>,
    fields: Vec<Value<'m>>,
}

impl<'m> RegionRecord<'m> {
    /// Of a fork of ours.
    pub fn of(fork: Call<'m>) -> Option<Self> {
        let function = runtime::function(fork).filter(|one| one.has(Effects::FORKS))?;
        let global = fork.argument(function.position("region")?)?.as_global()?;
        let fields = global.initializer()?.operands();
        if fields.len() != RegionDescriptor::FIELDS.len() {
            return None;
        }
        Some(Self {
            global,
            body: fields[position("body")].as_function()?,
            fields,
        })
    }

    /// The bits of [`region_flags`].
    pub fn flags(&self) -> i64 {
        self.fields[position("flags")]
            .as_constant_int()
            .unwrap_or(0)
    }

    /// Whether its team has one thread.
    pub fn is_alone(&self) -> bool {
        self.flags() & region_flags::TEAM_OF_ONE != 0
    }

    /// Completes it: its flags, and the list of what it accesses at known addresses with its length.
    pub fn complete(&self, module: &'m Module, flags: i64, direct: Option<(Value<'m>, usize)>) {
        let mut fields = self.fields.clone();
        fields[position("flags")] = module.const_i64(flags);
        if let Some((list, count)) = direct {
            fields[position("direct")] = list;
            fields[position("direct_count")] = module.const_i64(count as i64);
        }
        self.global.set_initializer(module.const_struct(&fields));
    }
}

/// Which field of a `RegionDescriptor` has that name.
fn position(field: &str) -> usize {
    let names = RegionDescriptor::NAMES;
    let found = names.iter().position(|name| *name == field);
    found.expect("the descriptor has the field")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence that its first number, which is not 0, determines.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % bound
        }

        fn number(&mut self) -> i64 {
            self.below(2000) as i64 - 1000
        }

        fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
            (self.below(2) == 0).then(|| make(self))
        }

        fn argument(&mut self, count: usize) -> ArgumentRecord {
            let floating = self.below(2) == 0;
            ArgumentRecord {
                access: ACCESSES[self.below(ACCESSES.len())].0,
                place: match self.below(6) {
                    0 => Place::Scalar,
                    1 => Place::Section {
                        offset: self.number(),
                        stride: self.number(),
                    },
                    2 => Place::Indirect {
                        columns: Columns::One(self.below(9) as u32),
                    },
                    3 => Place::Indirect {
                        columns: Columns::First(self.below(9) as u32),
                    },
                    4 => Place::Number { column: None },
                    _ => Place::Number {
                        column: Some(self.below(9) as u32),
                    },
                },
                element: self.some(|random| Element {
                    scalar: Scalar {
                        bytes: 1 << random.below(4),
                        floating,
                        signed: floating || random.below(2) == 0,
                    },
                    components: random.number(),
                    optional: random.below(2) == 0,
                }),
                storage: STORAGES[self.below(STORAGES.len())].0,
                map: self.some(|random| MapRecord {
                    first: random.below(count),
                    arity: random.some(Self::number),
                }),
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut random = Random(1);
        for _ in 0..2000 {
            let count = random.below(12) + 1;
            let arguments = (0..count).map(|_| random.argument(count)).collect();
            let record = LoopRecord { arguments };
            let text = record.to_string();
            assert_eq!(text.parse(), Ok(record), "{text}");
        }
        let none = LoopRecord {
            arguments: Vec::new(),
        };
        assert_eq!(none.to_string().parse(), Ok(none));
    }

    #[test]
    fn the_form_is_that_of_its_version() {
        let text = "1; read column:1 3xf64 either 0:4; max scalar ?1xu8 element -; rw section:0:2 - unknown 0";
        let record: LoopRecord = text.parse().expect("a record of this version");
        assert_eq!(record.to_string(), text);
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        for text in [
            "",
            "0",
            "2; read scalar - element -",
            "1; read scalar - element",
            "1; read scalar - element - -",
            "1; reads scalar - element -",
            "1; read section:0 - element -",
            "1; read scalar 1xf63 element -",
            "1; read scalar 1xq64 element -",
            "1; read column:0 - element 1",
            "1; read column:-1 - element 0",
            "1; read column:0 - element 0:1:2",
        ] {
            assert_eq!(text.parse::<LoopRecord>(), Err(NoRecord), "{text}");
        }
    }
}
