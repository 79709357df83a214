//! Loops inside an iteration that count with a variable of their own.
//!
//! Guarantee: what is a loop's number in the copy is one of those that it comes to, and nothing that is computed where the
//! loop has ended, or from what one of its turns hands on to the next one, depends on it.

use std::collections::HashSet;

use super::instructions::noted;
use super::numbers::{Number, Reader};
use super::single::mark;
use crate::llvm::{Builder, Function, Instruction, Linkage, Module, NaturalLoop, Opcode, Value};
use crate::numbers::Polynomial;
use crate::recognise::counted::{Form, Iterator, without_casts};

/// Such a loop.
pub struct Turn<'c> {
    /// Its number, where its body is run.
    pub number: Value<'c>,
    /// The first one.
    first: Value<'c>,
    /// What it compares with, right in front of the branch that decides whether the body is run again.
    end: Value<'c>,
    how: How,
    /// Where it is asked whether there is another turn.
    pub decides: Instruction<'c>,
}

/// How it counts.
#[derive(Clone, Copy)]
pub struct How {
    by: i64,
    is_last: bool,
    /// Whether the end is compared as a number with a sign.
    compares_signed: bool,
    /// Whether its numbers have one.
    pub signed: bool,
    /// What is noted of the program's store that gives its variable the first value.
    begins: Option<usize>,
}

/// From where to where a loop goes.
#[derive(Clone)]
pub struct Range<'c> {
    /// The first number.
    pub first: Number<'c>,
    /// What the next one is more.
    pub by: i64,
    /// So many, or none at all where it is no constant and less than 1.
    pub count: Number<'c>,
}

/// Marks the loops in an iteration of a copy, the outermost first, and says how they count. `name` is what their marks begin
/// with.
pub fn mark_turns<'c>(
    copy: &'c Module,
    name: &str,
    function: Function<'c>,
    code: &HashSet<Instruction<'c>>,
) -> Vec<How> {
    let is_inside = |natural: &NaturalLoop<'c>| {
        let mut all = natural.blocks.iter().filter_map(|block| block.terminator());
        all.all(|one| code.contains(&one))
    };
    let mut loops = function.loops();
    loops.retain(is_inside);
    loops.sort_by_key(|one| std::cmp::Reverse(one.blocks.len()));
    let forms: Vec<Form<'c>> = loops.iter().filter_map(counted).collect();
    let mut all = Vec::new();
    for (which, form) in forms.iter().enumerate() {
        let name = |what: &str| format!("{name}{which}.{what}");
        let by = form.by.expect("its step is known");
        let variable = form.begins.operand(1);
        mark(
            copy,
            &name("first"),
            form.begins,
            Some(form.begins.operand(0)),
        );
        mark(copy, &name("end"), form.decides, Some(form.bound.value));
        let ty = form.begins.operand(0).ty();
        let number = copy.add_function(
            &super::single::ours(&name("number")),
            copy.function_type(ty, &[]),
            Linkage::LLVMExternalLinkage,
        );
        let body = form.body.first_insertion_point();
        let builder = Builder::before(copy, body.expect("a body has an end"));
        builder.store(builder.call(number, &[]), variable);
        all.push(How {
            by,
            is_last: form.bound.is_last,
            compares_signed: form.bound.signed,
            signed: form.bound.counts_signed,
            begins: noted(form.begins),
        });
    }
    all
}

/// How a loop counts, where that is known.
fn counted<'c>(natural: &NaturalLoop<'c>) -> Option<Form<'c>> {
    let decides = natural.header.terminator()?;
    let asks = decides.branch_condition()?.as_op(Opcode::LLVMICmp)?;
    let counts = |value: Value<'c>| {
        let load = without_casts(value).as_op(Opcode::LLVMLoad)?;
        let variable = load.operand(0).as_op(Opcode::LLVMAlloca)?;
        let mut stores = variable.instruction_users().into_iter();
        let changes = |one: &Instruction<'c>| {
            one.opcode() == Opcode::LLVMStore
                && one.operand(1) == *variable
                && natural.blocks.contains(&one.block())
        };
        stores.any(|one| changes(&one)).then_some(variable)
    };
    let variable = asks.operands().into_iter().find_map(counts)?;
    let iterator = Iterator::of(variable).ok()?;
    let mut entries = natural.header.predecessors();
    entries.retain(|one| !natural.blocks.contains(one));
    let [mut block] = entries[..] else {
        return None;
    };
    // The last store in front of the loop, where nothing else comes from.
    let mut begins = None;
    for _ in 0..8 {
        let all = block.instructions().into_iter();
        begins = { all }.filter(|one| iterator.stores.contains(one)).last();
        match (begins, &block.predecessors()[..]) {
            (None, &[before]) => block = before,
            _ => break,
        }
    }
    let begins = begins?;
    if Some(begins.operand(0).ty()) != variable.allocated_type() {
        return None;
    }
    let form = Form::of(natural, &iterator, begins, true).ok()?;
    let is_plain = form.by.is_some()
        && form.bound.is_whole(form.width)
        && form.body.predecessors() == [natural.header];
    is_plain.then_some(form)
}

impl<'c> Turn<'c> {
    /// What has been marked, as it is in the end: its number, the first one, and what it compares with.
    pub fn of(how: How, number: Instruction<'c>, first: Value<'c>, end: Instruction<'c>) -> Self {
        Self {
            number: *number,
            first,
            end: end.operand(0),
            how,
            decides: end,
        }
    }

    /// Whether its numbers have a sign.
    pub fn is_signed(&self) -> bool {
        self.how.signed
    }

    /// Whether none of its numbers is negative although they may have a sign.
    pub fn is_natural(&self) -> bool {
        let least = match self.how.by > 0 {
            true => self.first.as_constant_int(),
            false => self.end.as_constant_int(),
        };
        least.is_some_and(|least| least >= 0)
    }

    /// What is noted of the program's store that gives its variable the first value.
    pub fn begins(&self) -> Option<usize> {
        self.how.begins
    }

    /// From where to where it goes; none where that is not known, or where nobody counts how often.
    pub fn range(&self, reader: &Reader<'_, 'c>) -> Option<Range<'c>> {
        let by = self.how.by;
        let first = reader.number(self.first, self.how.signed)?;
        let end = reader.number(self.end, self.how.compares_signed)?;
        if reader.wraps() {
            return None;
        }
        let distance = match by > 0 {
            true => end.minus(&first)?,
            false => first.minus(&end)?,
        };
        let distance = distance.plus(&Polynomial::constant(i64::from(self.how.is_last)))?;
        let count = match (distance.as_constant(), by.checked_abs()?) {
            (_, 1) => distance,
            (Some(distance), by) => {
                Polynomial::constant(distance.checked_add(by - 1)?.div_euclid(by))
            }
            (None, _) => return None,
        };
        let is_some = count.as_constant().is_none_or(|count| count > 0);
        is_some.then_some(Range { first, by, count })
    }
}
