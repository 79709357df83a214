//! Work items of a block that access the same element of a `@shared` array, and one of them writes it, with no barrier
//! between.
//!
//! Guarantee: what is told of happens whenever the block runs: both accesses are made by every work item, and the places are
//! computed for each of them from the iterators of a nest whose loops have known numbers of iterations, and from variables
//! that nothing in the nest changes. Computations that are equal for two work items are also equal where they overflow.
//! What is the same value for all work items may be written by all of them.

use std::collections::HashMap;

use super::annotations::What;
use super::{Kernel, Segment, Wrong};
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::llvm::{Block, Instruction, Opcode, Type, Value};
use crate::marks::{OKL_BARRIER, is_okl_marker};
use crate::numbers::Polynomial;

/// Work items of a block that are looked at.
const MOST_ITEMS: i64 = 4096;
/// Accesses that are compared with each other.
const MOST_ACCESSES: usize = 24;
/// How far values are followed.
const DEEPEST: usize = 32;

/// A number that is the same for all work items: what a variable has, or with what an iterator begins.
type Number<'m> = Polynomial<Instruction<'m>>;

/// A loop of the nest: its iterator, where it begins, how often it runs, and its step.
struct Turns<'m> {
    iterator: Instruction<'m>,
    begins: Number<'m>,
    count: i64,
    step: i64,
}

/// The code that each work item runs between two barriers.
struct Items<'a, 'm> {
    loops: Vec<Turns<'m>>,
    /// All blocks of the nest.
    nest: &'a [Block<'m>],
    /// Those of the body that each work item comes to.
    always: Vec<Block<'m>>,
}

/// A load or store of an element.
struct Access<'m> {
    at: Instruction<'m>,
    is_write: bool,
    /// What its indices are of, and what they are.
    types: Vec<Type<'m>>,
    indices: Vec<Value<'m>>,
}

/// What is sure to go wrong in a segment, at most one thing for each array.
pub fn of<'m>(kernel: &Kernel<'m>, segment: &Segment<'m>) -> Vec<Wrong<'m>> {
    let Some(items) = Items::of(kernel, segment) else {
        return Vec::new();
    };
    let said = kernel.said.iter();
    let arrays = said.filter(|one| one.what == What::Shared);
    arrays
        .filter_map(|one| items.race(&items.accesses(one.variable, segment)))
        .collect()
}

/// What is sure to go wrong between nests of which `@nobarrier` says that nobody waits at the end of the first one.
pub fn between<'m>(kernel: &Kernel<'m>, segments: &[Segment<'m>]) -> Vec<Wrong<'m>> {
    // Without barriers inside, that is.
    let nest = |one: &Segment<'m>| one.path[0];
    let is_alone = |one: &&Segment<'m>| {
        let of_it = segments.iter().filter(|other| nest(other) == nest(one));
        of_it.count() == 1
    };
    let alone: Vec<_> = segments.iter().filter(is_alone).collect();
    let mut wrong = Vec::new();
    for first in &alone {
        let second = alone.iter().find(|other| follows(kernel, first, other));
        let Some(second) = second else { continue };
        let Some(both) = Items::of(kernel, first).zip(Items::of(kernel, second)) else {
            continue;
        };
        let said = kernel.said.iter().filter(|one| one.what == What::Shared);
        wrong.extend(said.filter_map(|array| {
            let before = both.0.accesses(array.variable, first);
            let behind = both.1.accesses(array.variable, second);
            race_between([&both.0, &both.1], &before, &behind)
        }));
    }
    wrong
}

/// Whether work items go from one nest straight to another, which has the same directions, and nobody waits.
fn follows<'m>(kernel: &Kernel<'m>, first: &Segment<'m>, second: &Segment<'m>) -> bool {
    let [one, other] = [first, second].map(|segment| &kernel.loops[segment.path[0]]);
    let axes = |of: &Segment<'m>| {
        of.path
            .iter()
            .map(|&at| kernel.axes[at])
            .collect::<Vec<_>>()
    };
    if !one.no_barrier || first.path == second.path || axes(first) != axes(second) {
        return false;
    }
    let begins = other.site.block();
    let mut way = vec![one.counter.exit];
    while let Some(&block) = way.last() {
        let has_barrier = block.instructions().into_iter().any(is_barrier);
        match block.successors()[..] {
            _ if has_barrier => return false,
            _ if block == begins => return true,
            [next] if !way.contains(&next) => way.push(next),
            _ => return false,
        }
    }
    false
}

fn race_between<'m>(
    [first, second]: [&Items<'_, 'm>; 2],
    before: &[Access<'m>],
    behind: &[Access<'m>],
) -> Option<Wrong<'m>> {
    for one in before {
        for other in behind.iter().filter(|other| other.types == one.types) {
            // That both write the same value is not excluded.
            if one.is_write == other.is_write {
                continue;
            }
            let from = vec![Number::constant(0); one.indices.len()];
            let places = first
                .elements(one, &from)
                .zip(second.elements(other, &from));
            let Some((places, others)) = places else {
                continue;
            };
            let mut items: HashMap<&Vec<i64>, Vec<&Vec<i64>>> = HashMap::new();
            for (key, item) in &places {
                items.entry(key).or_default().push(item);
            }
            let meets = |(key, item): &(Vec<i64>, Vec<i64>)| {
                let here = items.get(key);
                here.is_some_and(|here| here.iter().any(|other| *other != item))
            };
            if others.iter().any(meets) {
                let does = if one.is_write {
                    ["read", "write"]
                } else {
                    ["write", "read"]
                };
                let told = format!(
                    "work items of a block {} here what others {}{}, and do not wait in between, as @nobarrier says: \
                     take it away",
                    does[0],
                    does[1],
                    line_of(one.at)
                );
                return Some((other.at, told));
            }
        }
    }
    None
}

/// How the place of an access is told to the reader of another one.
fn line_of(one: Instruction<'_>) -> String {
    match one.source_location() {
        Some((_, line)) => format!(" in line {line}"),
        None => String::new(),
    }
}

impl<'a, 'm> Items<'a, 'm> {
    fn of(kernel: &'a Kernel<'m>, segment: &Segment<'m>) -> Option<Self> {
        let leaf = *segment.path.last()?;
        let nest = &kernel.loops[*segment.path.first()?].counter.blocks;
        let body = kernel.body(leaf);
        let end = kernel.loops[leaf].counter.steps.block();
        let is_marker = |one: Instruction<'m>| {
            let name = one.as_call().map(|call| call.callee_name());
            name.is_some_and(|name| is_okl_marker(&name) && name != OKL_BARRIER)
        };
        let mut code = body.iter().flat_map(|block| block.instructions());
        if code.any(is_marker) {
            return None;
        }
        let comes_to_end_without = |block: Block<'m>| {
            let mut seen = vec![body[0]];
            let mut at = 0;
            while let Some(here) = seen.get(at).copied() {
                let next = here.successors().into_iter();
                let next = next.filter(|next| here != block && body.contains(next));
                let new: Vec<_> = next.filter(|next| !seen.contains(next)).collect();
                seen.extend(new);
                at += 1;
            }
            block != end && seen.contains(&end)
        };
        let mut items = Self {
            loops: Vec::new(),
            nest,
            always: Vec::new(),
        };
        let mut all = 1_i64;
        for &at in &segment.path {
            let one = &kernel.loops[at];
            let step = one.counter.counting.step.as_constant_int()?;
            let begins = one.counter.begins.operand(0);
            let begins = match items.number(begins, &[], 0) {
                Some(begins) => begins,
                None if items.is_same_for_all(begins) => Number::of(one.variable),
                None => return None,
            };
            let count = one.count?;
            all = all.checked_mul(count).filter(|all| *all <= MOST_ITEMS)?;
            items.loops.push(Turns {
                iterator: one.variable,
                begins,
                count,
                step: if one.counter.counting.is_up {
                    step.abs()
                } else {
                    -step.abs()
                },
            });
        }
        let always = body.iter().filter(|block| !comes_to_end_without(**block));
        items.always = always.copied().collect();
        // What a barrier separates that is not always met is not known.
        let is_sure =
            |one: &Instruction<'m>| !is_barrier(*one) || items.always.contains(&one.block());
        let mut code = body.iter().flat_map(|block| block.instructions());
        if !code.all(|one| is_sure(&one)) {
            return None;
        }
        Some(items)
    }

    /// Whether nothing in the nest changes what a value is computed of, which is nothing but variables.
    fn is_same_for_all(&self, value: Value<'m>) -> bool {
        let mut rest = vec![(value, 0)];
        while let Some((value, depth)) = rest.pop() {
            let Some(one) = value.as_instruction() else {
                continue;
            };
            if depth > DEEPEST {
                return false;
            }
            match one.opcode() {
                Opcode::LLVMLoad => match one.operand(0).as_op(Opcode::LLVMAlloca) {
                    Some(variable) if self.stays(variable) => {}
                    _ => return false,
                },
                Opcode::LLVMPHI => return false,
                _ if one.only_computes() => {
                    rest.extend(one.operands().into_iter().map(|one| (one, depth + 1)));
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a variable is the same for all work items while they run.
    fn stays(&self, variable: Instruction<'m>) -> bool {
        let changes = |(at, does): &(Instruction<'m>, Does)| match does {
            Does::Read => false,
            Does::Write => self.nest.contains(&at.block()),
            Does::Unknown => true,
        };
        let is_iterator = |one: &Turns<'m>| one.iterator == variable;
        !self.loops.iter().any(is_iterator) && !uses(variable).iter().any(changes)
    }

    /// Of a variable that each work item has, what is stored in it before all else that it does with it.
    fn stored_once(&self, variable: Instruction<'m>) -> Option<Value<'m>> {
        let uses = uses(variable);
        let mut writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let (Some((store, Does::Write)), None) = (writes.next(), writes.next()) else {
            return None;
        };
        if store.opcode() != Opcode::LLVMStore || store.operand(1) != *variable {
            return None;
        }
        let here = store.block().instructions();
        let at = here.iter().position(|one| one == store);
        let is_behind = |one: &Instruction<'m>| here.iter().position(|other| other == one) > at;
        let is_right = |(one, _): &(Instruction<'m>, Does)| {
            let block = one.block();
            one == store || block == store.block() && is_behind(one)
        };
        let is_mine = self.always.contains(&store.block());
        (is_mine && uses.iter().all(is_right)).then(|| store.operand(0))
    }

    /// What a value is for a work item, the iterations of whose loops are these.
    fn number(&self, value: Value<'m>, item: &[i64], depth: usize) -> Option<Number<'m>> {
        if let Some(number) = value.as_constant_int() {
            return Some(Number::constant(number));
        }
        let one = value.as_instruction().filter(|_| depth < DEEPEST)?;
        let operand = |at| self.number(one.operand(at), item, depth + 1);
        let constants = || {
            let constant = |at| operand(at)?.as_constant().filter(|number| *number >= 0);
            Some((constant(0)?, constant(1)?))
        };
        match one.opcode() {
            Opcode::LLVMLoad => {
                let variable = one.operand(0).as_op(Opcode::LLVMAlloca)?;
                let mut loops = self.loops.iter().zip(item);
                if variable.allocated_type() != Some(one.ty()) || one.is_volatile() {
                    None
                } else if let Some((one, turn)) = loops.find(|(one, _)| one.iterator == variable) {
                    one.begins.plus(&Number::constant(one.step * turn))
                } else if self.stays(variable) {
                    Some(Number::of(variable))
                } else {
                    self.number(self.stored_once(variable)?, item, depth + 1)
                }
            }
            Opcode::LLVMAdd => operand(0)?.plus(&operand(1)?),
            Opcode::LLVMSub => operand(0)?.minus(&operand(1)?),
            Opcode::LLVMMul => operand(0)?.times(&operand(1)?),
            Opcode::LLVMSExt | Opcode::LLVMZExt => operand(0),
            Opcode::LLVMSRem | Opcode::LLVMURem => {
                let (a, b) = constants()?;
                a.checked_rem(b).map(Number::constant)
            }
            Opcode::LLVMSDiv | Opcode::LLVMUDiv => {
                let (a, b) = constants()?;
                a.checked_div(b).map(Number::constant)
            }
            Opcode::LLVMAnd => constants().map(|(a, b)| Number::constant(a & b)),
            _ => None,
        }
    }

    /// Whether a value depends on the iterators of the nest.
    fn varies(&self, value: Value<'m>) -> bool {
        let mut rest = vec![(value, 0)];
        while let Some((value, depth)) = rest.pop() {
            let Some(one) = value.as_instruction().filter(|_| depth < DEEPEST) else {
                continue;
            };
            let variable = (one.opcode() == Opcode::LLVMLoad).then(|| one.operand(0));
            if let Some(variable) = variable.and_then(|one| one.as_op(Opcode::LLVMAlloca)) {
                if self.loops.iter().any(|one| one.iterator == variable) {
                    return true;
                }
                rest.extend(self.stored_once(variable).map(|value| (value, depth + 1)));
            }
            let follows = one.opcode() == Opcode::LLVMLoad
                || one.opcode() == Opcode::LLVMGetElementPtr
                || one.only_computes();
            if follows {
                rest.extend(one.operands().into_iter().map(|one| (one, depth + 1)));
            }
        }
        false
    }

    /// The accesses of a segment to elements of an array that every work item makes.
    fn accesses(&self, array: Instruction<'m>, segment: &Segment<'m>) -> Vec<Access<'m>> {
        let mut found = Vec::new();
        let mut rest = vec![(*array, Vec::new(), Vec::new())];
        while let Some((address, types, indices)) = rest.pop() {
            let users = address.users().into_iter();
            for one in users.filter_map(|user| user.as_instruction()) {
                let is_address = one.address() == Some(address);
                match one.opcode() {
                    Opcode::LLVMGetElementPtr if one.operand(0) == address => {
                        let (mut types, mut indices) = (types.clone(), indices.clone());
                        types.extend(one.source_element_type());
                        indices.extend(one.operands().into_iter().skip(1));
                        rest.push((*one, types, indices));
                    }
                    Opcode::LLVMLoad | Opcode::LLVMStore if is_address && !is_harmless(one) => {
                        let is_write = one.opcode() == Opcode::LLVMStore;
                        let value = if is_write {
                            one.operand(0).ty()
                        } else {
                            one.ty()
                        };
                        let is_here = self.always.contains(&one.block())
                            && segment.code.spans.iter().any(|span| span.has(one));
                        if is_here && !one.is_volatile_or_atomic() {
                            found.push(Access {
                                at: one,
                                is_write,
                                types: types.iter().copied().chain([value]).collect(),
                                indices: indices.clone(),
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        found.truncate(MOST_ACCESSES);
        found
    }

    /// The work items by the elements that an access leads to, as distances from those of the first one of another.
    fn elements(&self, of: &Access<'m>, from: &[Number<'m>]) -> Option<Vec<(Vec<i64>, Vec<i64>)>> {
        let mut found = Vec::new();
        let mut item = vec![0; self.loops.len()];
        if self.loops.iter().any(|one| one.count < 1) {
            return None;
        }
        loop {
            let mut key = Vec::new();
            for (index, from) in of.indices.iter().zip(from) {
                let number = self.number(*index, &item, 0)?;
                key.push(number.minus(from)?.as_constant()?);
            }
            found.push((key, item.clone()));
            let mut at = item.len();
            loop {
                if at == 0 {
                    return Some(found);
                }
                at -= 1;
                item[at] += 1;
                if item[at] < self.loops[at].count {
                    break;
                }
                item[at] = 0;
            }
        }
    }

    fn race(&self, accesses: &[Access<'m>]) -> Option<Wrong<'m>> {
        let first = vec![0; self.loops.len()];
        for write in accesses.iter().filter(|one| one.is_write) {
            let numbers = write.indices.iter();
            let from: Option<Vec<_>> = numbers.map(|one| self.number(*one, &first, 0)).collect();
            let Some(from) = from else { continue };
            let Some(written) = self.elements(write, &from) else {
                continue;
            };
            let mut items: HashMap<&Vec<i64>, Vec<&Vec<i64>>> = HashMap::new();
            for (key, item) in &written {
                items.entry(key).or_default().push(item);
            }
            for other in accesses.iter().filter(|one| one.types == write.types) {
                let is_same = |one: &Access<'m>, two: &Access<'m>| {
                    let constants = [one, two].map(|one| one.at.operand(0).as_constant_int());
                    match constants {
                        [Some(a), Some(b)] => a == b,
                        _ => !self.varies(one.at.operand(0)) && !self.varies(two.at.operand(0)),
                    }
                };
                if other.is_write && is_same(write, other) {
                    continue;
                }
                let Some(accessed) = self.elements(other, &from) else {
                    continue;
                };
                let meets = |(key, item): &(Vec<i64>, Vec<i64>)| {
                    let others = items.get(key);
                    others.is_some_and(|others| others.iter().any(|other| *other != item))
                };
                if accessed.iter().any(meets) {
                    return Some(told(write, other));
                }
            }
        }
        None
    }
}

fn told<'m>(write: &Access<'m>, other: &Access<'m>) -> Wrong<'m> {
    let told = match other.is_write {
        true => "work items of a block write different values to the same element of a @shared array here: let one of them \
                 do it, or make it @atomic"
            .to_string(),
        false => format!(
            "work items of a block read here what others write{}, with no barrier between: put a @barrier there, or make \
             two @inner loops of it",
            line_of(write.at)
        ),
    };
    (other.at, told)
}
