//! Numbers and places of an iteration, as sums of products of its own numbers and of what is the same for all of them.
//!
//! Guarantee: a number is what it is for the program's own, where these do not overflow in a way in which the program has no
//! meaning; a number of 64 bits may be another one by a multiple of 2^64, which [`Reader::wraps`] tells. Two loads are the same
//! unknown where they load from one place, whenever: whoever uses them checks that nothing is written there.

use std::cell::Cell;
use std::collections::HashSet;

use super::single::Iteration;
use crate::analysis::nests::source_name;
use crate::llvm::{Instruction, Module, Naming, Opcode, Value};
use crate::numbers::Polynomial;

/// Operations that are followed, one in the other.
const MOST_STEPS: usize = 64;

/// A number.
pub type Number<'c> = Polynomial<Unknown<'c>>;

/// What numbers are made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown<'c> {
    /// The number of the iteration, in the loop with this number.
    Iteration(usize),
    /// The number that the loop in the iteration, with this number, has come to.
    Turn(usize),
    /// A value from outside of the chain, as a number with or without a sign.
    Value(Value<'c>, bool),
    /// What is loaded from a place, so many bits, as a number with or without a sign.
    Loaded(Box<Place<'c>>, u32, bool),
    /// What is computed in a way that is not looked into.
    Computed(Opcode, Vec<Number<'c>>, u32, bool),
    /// The bytes from one row of a table of rows to the next one, if they were so far apart: rows are what the pointers in a
    /// table lead to.
    Row(Box<Base<'c>>),
    /// Something that is different in each iteration.
    Varying(Value<'c>),
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Place<'c> {
    /// The object.
    pub base: Base<'c>,
    /// Bytes from its beginning, where they are known.
    pub offset: Option<Number<'c>>,
}

/// What an address is computed from.
#[derive(Clone, Debug, PartialEq)]
pub enum Base<'c> {
    /// A variable, or an address from outside of the chain.
    Value(Value<'c>),
    /// What a pointer in memory leads to, which is the same for all iterations.
    Loaded(Box<Place<'c>>),
    /// What the pointers in a table lead to.
    Rows(Box<Base<'c>>),
    /// Anything.
    Unknown,
}

/// Reads numbers of a chain.
pub struct Reader<'a, 'c> {
    copy: &'c Module,
    /// What is run between the beginning and the end of the chain.
    inside: &'a HashSet<Instruction<'c>>,
    /// The nest, and for each of its loops whether its numbers have a sign, and are known not to be negative.
    nest: Option<(&'a Iteration<'c>, &'a [Counts])>,
    wraps: Cell<bool>,
}

/// What the numbers of a loop are.
#[derive(Clone, Copy)]
pub struct Counts {
    /// Whether they have a sign.
    pub signed: bool,
    /// Whether none of them is negative although they may have one.
    pub is_natural: bool,
}

impl<'a, 'c> Reader<'a, 'c> {
    /// Of an iteration of a nest, or of the code around.
    pub fn of(
        copy: &'c Module,
        inside: &'a HashSet<Instruction<'c>>,
        nest: Option<(&'a Iteration<'c>, &'a [Counts])>,
    ) -> Self {
        Self {
            copy,
            inside,
            nest,
            wraps: Cell::new(false),
        }
    }

    /// Whether a number that has been read since the last time may have lost a multiple of 2^64.
    pub fn wraps(&self) -> bool {
        self.wraps.take()
    }

    /// A number, with a sign or without one.
    pub fn number(&self, value: Value<'c>, signed: bool) -> Option<Number<'c>> {
        self.at(value, signed, 0)
    }

    fn at(&self, value: Value<'c>, signed: bool, depth: usize) -> Option<Number<'c>> {
        if depth > MOST_STEPS {
            return None;
        }
        let bits = value.ty().bits()?;
        if let Some(constant) = value.as_constant_int() {
            let is_plain = signed || constant >= 0 || bits == 64;
            return match is_plain {
                true => Some(Polynomial::constant(constant)),
                false => Some(Polynomial::constant(
                    constant.checked_add(1_i64.checked_shl(bits)?)?,
                )),
            };
        }
        let leaf = || Some(Polynomial::of(Unknown::Value(value, signed || bits == 64)));
        let Some(one) = value.as_instruction() else {
            return leaf();
        };
        if let Some(number) = self.iteration(value, signed) {
            return number;
        }
        if !self.inside.contains(&one) && one.opcode() == Opcode::LLVMPHI {
            return leaf();
        }
        let of = |index: usize, signed: bool| self.at(one.operand(index), signed, depth + 1);
        let is_whole = one.keeps_number(signed);
        match one.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul if is_whole || bits == 64 => {
                if !is_whole {
                    self.wraps.set(true);
                }
                let (a, b) = (of(0, signed)?, of(1, signed)?);
                match one.opcode() {
                    Opcode::LLVMAdd => a.plus(&b),
                    Opcode::LLVMSub => a.minus(&b),
                    _ => a.times(&b),
                }
            }
            Opcode::LLVMShl if is_whole || bits == 64 => {
                let by = one.operand(1).as_constant_int();
                let by = by.filter(|by| (0..62).contains(by));
                if !is_whole {
                    self.wraps.set(true);
                }
                of(0, signed)?.times(&Polynomial::constant(1 << by?))
            }
            Opcode::LLVMSExt => of(0, true),
            Opcode::LLVMZExt => of(0, false),
            Opcode::LLVMFreeze => of(0, signed),
            Opcode::LLVMTrunc if is_whole => of(0, signed),
            Opcode::LLVMLoad if one.is_plain_access() && self.inside.contains(&one) => {
                let place = self.place(one.operand(0));
                match place.base == Base::Unknown || place.offset.is_none() {
                    true => Some(Polynomial::of(Unknown::Varying(value))),
                    false => Some(Polynomial::of(Unknown::Loaded(
                        Box::new(place),
                        bits,
                        signed || bits == 64,
                    ))),
                }
            }
            Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMSDiv
            | Opcode::LLVMUDiv
            | Opcode::LLVMSRem
            | Opcode::LLVMURem
            | Opcode::LLVMAnd
            | Opcode::LLVMOr
            | Opcode::LLVMXor
            | Opcode::LLVMAShr
            | Opcode::LLVMLShr
            | Opcode::LLVMTrunc => {
                let operands = 0..one.operands().len();
                let operands: Option<Vec<_>> = operands.map(|index| of(index, true)).collect();
                let unknown =
                    Unknown::Computed(one.opcode(), operands?, bits, signed || bits == 64);
                Some(Polynomial::of(unknown))
            }
            _ if self.inside.contains(&one) => Some(Polynomial::of(Unknown::Varying(value))),
            _ => leaf(),
        }
    }

    /// The number of an iteration, if a value is one.
    fn iteration(&self, value: Value<'c>, signed: bool) -> Option<Option<Number<'c>>> {
        let (nest, counts) = self.nest?;
        let level = nest.loops.iter().position(|one| one[0] == value);
        let turn = || nest.turns.iter().position(|one| one.number == value);
        let (known, counts) = match level {
            Some(level) => (Unknown::Iteration(level), counts[level]),
            None => {
                let which = turn()?;
                let turn = &nest.turns[which];
                let counts = Counts {
                    signed: turn.is_signed(),
                    is_natural: turn.is_natural(),
                };
                (Unknown::Turn(which), counts)
            }
        };
        let is_same = value.ty().bits() == Some(64)
            || counts.signed == signed
            || counts.signed && counts.is_natural;
        let unknown = match is_same {
            true => known,
            false => Unknown::Varying(value),
        };
        Some(Some(Polynomial::of(unknown)))
    }

    /// The place that an address leads to.
    pub fn place(&self, address: Value<'c>) -> Place<'c> {
        self.place_at(address, 0).unwrap_or(Place {
            base: Base::Unknown,
            offset: None,
        })
    }

    fn place_at(&self, address: Value<'c>, depth: usize) -> Option<Place<'c>> {
        if depth > MOST_STEPS {
            return None;
        }
        let is_step =
            address.is_constant_gep() || address.as_op(Opcode::LLVMGetElementPtr).is_some();
        if is_step {
            let mut place = self.place_at(address.operand(0), depth + 1)?;
            let more = self.distance(address);
            place.offset = place.offset.zip(more).and_then(|(a, b)| a.plus(&b));
            return Some(place);
        }
        let zero = || Some(Polynomial::constant(0));
        let Some(one) = address
            .as_instruction()
            .filter(|one| self.inside.contains(one))
        else {
            return Some(Place {
                base: Base::Value(address),
                offset: zero(),
            });
        };
        match one.opcode() {
            Opcode::LLVMFreeze => self.place_at(one.operand(0), depth + 1),
            Opcode::LLVMLoad if one.is_plain_access() => {
                let from = self.place_at(one.operand(0), depth + 1)?;
                let offset = from.offset.clone()?;
                if from.base == Base::Unknown {
                    return None;
                }
                if !varies(&offset) && !base_varies(&from.base) {
                    return Some(Place {
                        base: Base::Loaded(Box::new(from)),
                        offset: zero(),
                    });
                }
                // One of the pointers of a table: as if what they lead to were rows of one object.
                let offset = rows(&offset, &from.base);
                offset.is_some().then(|| Place {
                    base: Base::Rows(Box::new(from.base)),
                    offset,
                })
            }
            Opcode::LLVMAlloca => Some(Place {
                base: Base::Value(address),
                offset: zero(),
            }),
            _ => None,
        }
    }

    /// What a computation adds to an address.
    fn distance(&self, address: Value<'c>) -> Option<Number<'c>> {
        let (bytes, parts) = address.address_parts(self.copy)?;
        let mut sum = Polynomial::constant(bytes);
        for (index, times) in parts {
            let index = self.number(index, true)?;
            sum = sum.plus(&index.times(&Polynomial::constant(times))?)?;
        }
        Some(sum)
    }
}

/// How far a row is behind the first one, if its pointer is so many bytes behind the beginning of a table.
pub fn rows<'c>(offset: &Number<'c>, table: &Base<'c>) -> Option<Number<'c>> {
    let row = Polynomial::of(Unknown::Row(Box::new(table.clone())));
    let mut rows = Polynomial::constant(0);
    for (factors, times) in offset.terms() {
        let times = (times % 8 == 0).then_some(times / 8)?;
        let factors = factors.iter().cloned().map(Polynomial::of);
        let term = { factors }.try_fold(Polynomial::constant(times), |product, one| {
            product.times(&one)
        })?;
        rows = rows.plus(&term)?;
    }
    rows.times(&row)
}

/// Whether a number is not the same for all iterations.
pub fn varies(number: &Number<'_>) -> bool {
    number.depends_on(|one| match one {
        Unknown::Iteration(_) | Unknown::Turn(_) | Unknown::Varying(_) => true,
        Unknown::Value(..) => false,
        Unknown::Loaded(place, ..) => place_varies(place),
        Unknown::Computed(_, operands, ..) => operands.iter().any(varies),
        Unknown::Row(base) => base_varies(base),
    })
}

fn place_varies(place: &Place<'_>) -> bool {
    base_varies(&place.base) || place.offset.as_ref().is_none_or(varies)
}

/// Whether an object is not the same for all iterations.
pub fn base_varies(base: &Base<'_>) -> bool {
    match base {
        Base::Value(_) => false,
        Base::Loaded(place) => place_varies(place),
        Base::Rows(table) => base_varies(table),
        Base::Unknown => true,
    }
}

/// The places that a number is loaded from.
pub fn loads_of<'c>(number: &Number<'c>, found: &mut Vec<Place<'c>>) {
    for (factors, _) in number.terms() {
        for one in factors {
            match one {
                Unknown::Loaded(place, ..) => {
                    loads_of_place(place, found);
                }
                Unknown::Computed(_, operands, ..) => {
                    operands.iter().for_each(|one| loads_of(one, found));
                }
                Unknown::Row(base) => loads_of_base(base, found),
                Unknown::Iteration(_)
                | Unknown::Turn(_)
                | Unknown::Value(..)
                | Unknown::Varying(_) => {}
            }
        }
    }
}

fn loads_of_place<'c>(place: &Place<'c>, found: &mut Vec<Place<'c>>) {
    loads_of_base(&place.base, found);
    if let Some(offset) = &place.offset {
        loads_of(offset, found);
    }
    if !found.contains(place) {
        found.push(place.clone());
    }
}

/// The places that the address of an object is loaded from.
pub fn loads_of_base<'c>(base: &Base<'c>, found: &mut Vec<Place<'c>>) {
    match base {
        Base::Loaded(place) => loads_of_place(place, found),
        Base::Rows(table) => {
            loads_of_base(table, found);
            let table = Place {
                base: (**table).clone(),
                offset: None,
            };
            if !found.contains(&table) {
                found.push(table);
            }
        }
        Base::Value(_) | Base::Unknown => {}
    }
}

/// What a number is multiplied with in another one, and what is left of that without it; none where it is in no plain
/// product.
pub fn without_iterations<'c>(
    number: &Number<'c>,
    depth: usize,
) -> Option<(Vec<Number<'c>>, Number<'c>)> {
    let mut factors_of = vec![Polynomial::constant(0); depth];
    let mut rest = Polynomial::constant(0);
    for (factors, times) in number.terms() {
        let levels: Vec<usize> = factors
            .iter()
            .filter_map(|one| match one {
                Unknown::Iteration(level) => Some(*level),
                _ => None,
            })
            .collect();
        let others = factors
            .iter()
            .filter(|one| !matches!(one, Unknown::Iteration(_)));
        let mut others = others.cloned().map(Polynomial::of);
        let term = others.try_fold(Polynomial::constant(times), |product, one| {
            product.times(&one)
        })?;
        if varies(&term) {
            return None;
        }
        match levels[..] {
            [] => rest = rest.plus(&term)?,
            [level] => factors_of[level] = factors_of[level].plus(&term)?,
            _ => return None,
        }
    }
    Some((factors_of, rest))
}

/// The name of a value in the source, or of the variable whose address it is, or whose value.
fn known_name(value: Value<'_>) -> Option<String> {
    let names = [source_name(value), value.variable_name(Naming::Address)];
    if let Some(known) = names.into_iter().find(|name| !name.is_empty()) {
        return Some(known);
    }
    let load = value.as_op(Opcode::LLVMLoad);
    let named = load.map_or(value, |load| load.operand(0));
    let name = named.name();
    // What the compiler calls the variable of a parameter, and a second variable of a name.
    let name = name.split(".addr").next().unwrap_or_default();
    let is_plain = !name.is_empty() && !name.starts_with(|one: char| one.is_numeric());
    is_plain.then(|| name.to_string())
}

/// The name of a value, where it has one; else what it is.
fn name_of(value: Value<'_>) -> String {
    if let Some(known) = known_name(value) {
        return known;
    }
    match value.as_instruction().map(Instruction::opcode) {
        Some(Opcode::LLVMAlloca) => "a variable".to_string(),
        None if value.as_parameter().is_some() => "a parameter".to_string(),
        _ if value.as_constant_int().is_some() || value.is_constant() => value.operand_text(),
        _ if value.ty().is_pointer() => "a pointer".to_string(),
        _ => "a number".to_string(),
    }
}

/// Whether an object has a name that the source gives it.
pub fn has_name(base: &Base<'_>) -> bool {
    match base {
        Base::Value(value) => known_name(*value).is_some(),
        Base::Loaded(place) => has_name(&place.base),
        Base::Rows(table) => has_name(table),
        Base::Unknown => false,
    }
}

impl std::fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unknown::Iteration(level) => write!(f, "i{level}"),
            Unknown::Turn(which) => write!(f, "c{which}"),
            Unknown::Value(value, _) | Unknown::Varying(value) => f.write_str(&name_of(*value)),
            Unknown::Loaded(place, ..) => match (&place.base, &place.offset) {
                (Base::Value(value), Some(offset)) if offset.as_constant() == Some(0) => {
                    f.write_str(&name_of(*value))
                }
                (base, Some(offset)) => write!(f, "[{base} + {offset}]"),
                (base, None) => write!(f, "[{base}]"),
            },
            Unknown::Computed(..) => f.write_str("(..)"),
            Unknown::Row(base) => write!(f, "row of {base}"),
        }
    }
}

impl std::fmt::Display for Base<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Base::Value(value) => f.write_str(&name_of(*value)),
            Base::Loaded(place) => match (&place.base, &place.offset) {
                (base, Some(offset)) if offset.as_constant() == Some(0) => write!(f, "{base}"),
                (base, Some(offset)) => write!(f, "[{base} + {offset}]"),
                (base, None) => write!(f, "[{base}]"),
            },
            Base::Rows(table) => write!(f, "{table}[]"),
            Base::Unknown => f.write_str("an unknown object"),
        }
    }
}
