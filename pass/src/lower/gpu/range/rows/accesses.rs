//! What iterations access that others may access, and what has to be so for work items to meet nowhere in one.

use super::numbers::binary;
use super::shared::{Apart, Cells, Fits};
use super::{
    Lanes, Look, MOST_OPERATIONS, MOST_QUESTIONS, MOST_STEP, NEAR, computes, is_of_runtime, is_told,
};
use crate::llvm::{Expression, ExpressionKind as Kind, Instruction, Opcode};
use crate::lower::gpu::range::uniform::Evaluated;

/// An access of memory that others may access, in an iteration.
pub(super) struct Access<'d> {
    address: Expression<'d>,
    bytes: i64,
    writes: bool,
    /// The loops that it is in of those that are shared, in each direction.
    lanes: Option<Lanes>,
    /// What its address is in the first turns of all loops, and what is added in each turn of which.
    start: Expression<'d>,
    along: Vec<Along<'d>>,
}

/// A loop in which an address changes.
struct Along<'d> {
    of: usize,
    step: Expression<'d>,
}

impl Along<'_> {
    /// Bytes from one turn to the next, if they are known and not many.
    fn constant(&self) -> Option<i64> {
        let step = i64::try_from(self.step.constant()?).ok();
        step.filter(|step| step.abs() <= MOST_STEP)
    }
}

impl<'d> Access<'d> {
    /// Bytes from turn to turn of the loops that are shared, as far as they are known.
    fn steps(&self) -> impl Iterator<Item = i64> {
        let loops = self.lanes.into_iter().flat_map(Lanes::all);
        loops.filter_map(|of| Some(self.along(of)?.constant()?.abs()))
    }

    fn along(&self, of: usize) -> Option<&Along<'d>> {
        self.along.iter().find(|one| one.of == of)
    }
}

/// How many turns loops have that the host is asked about.
pub(super) type Turns = Vec<(usize, (Evaluated, u32))>;

/// What has to be so for work items to meet nowhere.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) apart: Vec<Apart>,
    pub(super) cells: Vec<Cells>,
    pub(super) fits: Vec<Fits>,
}

impl<'d> Look<'_, 'd> {
    /// What an iteration accesses that others may access; none where it does what cannot be dealt out.
    pub(super) fn accesses(&self, lanes: &[Lanes]) -> Option<Vec<Access<'d>>> {
        let body = self.code.function();
        let mut found = Vec::new();
        for at in body.instructions() {
            let is_in = |lanes: &&Lanes| self.code.contains(lanes.along, at.block());
            let own = lanes.iter().find(is_in).copied();
            // The innermost of them that it is in.
            let is_across = |lanes: &Lanes| {
                let across = lanes
                    .across
                    .filter(|of| self.code.contains(*of, at.block()));
                across.is_some()
            };
            let innermost = own.map(|own| own.along);
            let innermost = innermost.or_else(|| lanes.iter().find(|one| is_across(one))?.across);
            let is_inside = self.code.contains(self.iterations, at.block());
            let (address, bytes, writes) = match at.opcode() {
                Opcode::LLVMLoad => (at.operand(0), self.module.store_size_of(at.ty()), false),
                Opcode::LLVMStore => {
                    let bytes = self.module.store_size_of(at.operand(0).ty());
                    (at.operand(1), bytes, true)
                }
                _ if is_told(at) || at.as_call().is_some_and(computes) => continue,
                Opcode::LLVMCall if !is_inside && is_of_runtime(at) => continue,
                Opcode::LLVMCall | Opcode::LLVMInvoke => return None,
                _ if at.may_write() => return None,
                _ => continue,
            };
            let object = address.underlying_object();
            let is_table = object.as_global().is_some_and(|one| one.is_readonly());
            if let Some(variable) = object.as_op(Opcode::LLVMAlloca) {
                match innermost {
                    Some(of) if writes && !self.is_of_turn(variable, of) => return None,
                    _ => continue,
                }
            }
            if (is_table || !is_inside) && !writes {
                continue;
            }
            // What the last iteration leaves is one work item's.
            if !at.is_plain_access() || writes && own.is_none() {
                return None;
            }
            let address = self.code.expression(address);
            let (start, along) = self.along(address, at)?;
            // It is none that a work item has for itself.
            self.address(self.code.object(start))?;
            let one = Access {
                address,
                bytes: bytes as i64,
                writes,
                lanes: own,
                start,
                along,
            };
            let changes = |of| one.along(of).is_some();
            if writes && !own.is_some_and(|own| own.all().all(changes)) {
                return None;
            }
            found.push(one);
        }
        Some(found)
    }

    /// What an address is where all loops in the iteration that an access is in have their first turn, and what is added in
    /// each turn of them.
    fn along(
        &self,
        address: Expression<'d>,
        at: Instruction<'d>,
    ) -> Option<(Expression<'d>, Vec<Along<'d>>)> {
        let around = self.code.loops_around(at.block());
        let around: Vec<_> = around.take_while(|of| *of != self.iterations).collect();
        let (mut start, mut along) = (address, Vec::new());
        while let Some(one) = self.code.recurrence(start)
            && around.contains(&one.of)
        {
            let (of, step) = (one.of, one.step);
            self.number(step)?;
            along.push(Along { of, step });
            start = one.start;
        }
        let is_same = |of: &usize| self.code.is_invariant(start, *of);
        let is_inside = self.code.contains(self.iterations, at.block());
        (is_inside && around.iter().all(is_same)).then_some((start, along))
    }

    /// Whether a variable begins anew in each turn of a loop, and is nowhere else.
    fn is_of_turn(&self, variable: Instruction<'d>, of: usize) -> bool {
        let code = self.code.function().instructions().into_iter();
        let mut begins = code.filter(|at| {
            let call = at.as_call();
            call.is_some_and(|call| {
                call.callee_name().starts_with("llvm.lifetime.start")
                    && call.arguments().last() == Some(&*variable)
            })
        });
        let (Some(begin), None) = (begins.next(), begins.next()) else {
            return false;
        };
        let mut rest = variable.instruction_users();
        let mut all = Vec::new();
        while let Some(one) = rest.pop() {
            if all.contains(&one) {
                continue;
            }
            if one.opcode() == Opcode::LLVMGetElementPtr {
                rest.extend(one.instruction_users());
            }
            all.push(one);
        }
        let is_here = |one: &Instruction<'d>| {
            *one == begin || self.code.contains(of, one.block()) && self.code.is_before(begin, *one)
        };
        self.code.contains(of, begin.block()) && all.iter().all(is_here)
    }

    /// Whether elements of most accesses are near those of the next turn, and not near those of the next iteration: more of
    /// them than it is the other way round for, or fewer.
    pub(super) fn go_along_rows(&self, accesses: &[Access<'d>]) -> i32 {
        let mut sum = 0;
        for one in accesses {
            let Some(lanes) = one.lanes else { continue };
            let across = self.code.recurrence(one.start);
            let across = across.filter(|across| across.of == self.iterations);
            let across = match across {
                Some(across) => across.step.constant().and_then(|by| i64::try_from(by).ok()),
                None if self.code.is_invariant(one.start, self.iterations) => Some(0),
                None => None,
            };
            // What is not known is far.
            let along = one.along(lanes.along).map_or(Some(0), Along::constant);
            let [along, across] = [along, across].map(|by| by.map_or(i64::MAX, i64::abs));
            sum += match across {
                0 => 0,
                _ if along == 0 => 0,
                _ if across < along => -1,
                _ if across == along => 0,
                _ if along <= NEAR => 1,
                _ => 0,
            };
        }
        sum
    }

    /// What has to be so for these accesses to meet in turns of work items of their own alone.
    pub(super) fn questions(
        &self,
        accesses: &[Access<'d>],
        turns: &mut Turns,
    ) -> Option<Questions> {
        let mut all = Questions::default();
        for (number, write) in accesses.iter().enumerate().filter(|(_, one)| one.writes) {
            for (other, access) in accesses.iter().enumerate() {
                // Two that write are looked at once.
                if access.writes && other < number {
                    continue;
                }
                let is_same = number == other || access.address == write.address;
                let distance = match is_same {
                    true => Some(self.code.number(64, 0)),
                    false => self.same_object(access, write),
                };
                let constant = distance.and_then(|one| i64::try_from(one.constant()?).ok());
                if let Some(distance) = constant.filter(|_| access.lanes.is_some()) {
                    if let Some(step) = single_step(access, write) {
                        match meets_in_other_turns(distance, step, access.bytes, write.bytes) {
                            true => return None,
                            false => continue,
                        }
                    }
                    let bytes = write
                        .bytes
                        .max(access.bytes)
                        .saturating_add(distance.saturating_abs());
                    if write.steps().any(|step| step < bytes) {
                        return None;
                    }
                    if let Some(cells) = self.cells(access, write, distance, turns) {
                        if !all.cells.contains(&cells) {
                            all.cells.push(cells);
                        }
                        continue;
                    }
                }
                let (distance, growth) = self.distance(access, write, &mut all.fits)?;
                let mut spans = |one: &Access<'d>| {
                    let along = one.along.iter().map(|along| {
                        let turns = self.turn(along.of, turns)?;
                        Some((turns, self.number(along.step)?))
                    });
                    along.collect::<Option<Vec<_>>>()
                };
                let one = Apart {
                    distance,
                    growth,
                    spans: [spans(access)?, spans(write)?],
                    bytes: [access.bytes, write.bytes],
                };
                if !all.apart.contains(&one) {
                    all.apart.push(one);
                }
            }
        }
        let asked = all.apart.len() + all.cells.len() + all.fits.len();
        (asked <= MOST_QUESTIONS).then_some(all)
    }

    /// That two accesses that begin so far from each other meet in the same turns of loops that are shared alone, because
    /// what one turn of these leads to lies apart from what others lead to.
    fn cells(
        &self,
        one: &Access<'d>,
        other: &Access<'d>,
        distance: i64,
        turns: &mut Turns,
    ) -> Option<Cells> {
        let mut loops = Vec::new();
        let mut rest: Vec<_> = other.along.iter().collect();
        let shared = one.lanes?.all().zip(other.lanes?.all());
        for (of, of_other) in shared {
            let [a, b] = [one.along(of)?, other.along(of_other)?];
            if a.step != b.step {
                return None;
            }
            rest.retain(|one| one.of != of_other);
            let both = vec![self.turn(of, turns)?, self.turn(of_other, turns)?];
            loops.push((self.number(a.step)?, both));
        }
        let (lanes, shared) = (one.lanes?, loops.len());
        for a in one
            .along
            .iter()
            .filter(|a| !lanes.all().any(|of| of == a.of))
        {
            let mut its = vec![self.turn(a.of, turns)?];
            if let Some(same) = rest.iter().position(|b| b.step == a.step) {
                its.push(self.turn(rest.remove(same).of, turns)?);
            }
            loops.push((self.number(a.step)?, its));
        }
        for b in rest {
            loops.push((self.number(b.step)?, vec![self.turn(b.of, turns)?]));
        }
        let bytes = one.bytes.max(other.bytes);
        let bytes = bytes.checked_add(distance.checked_abs()?)?;
        (bytes <= MOST_STEP).then_some(Cells {
            loops,
            shared,
            bytes,
        })
    }

    /// The number in the list of what the host is asked about of how many turns a loop has.
    pub(super) fn turn(&self, of: usize, turns: &mut Turns) -> Option<usize> {
        if let Some(known) = turns.iter().position(|(known, _)| *known == of) {
            return Some(known);
        }
        turns.push((of, self.most_turns(of)?));
        Some(turns.len() - 1)
    }

    /// How far one access begins behind another one, where they begin in the same object.
    fn same_object(&self, one: &Access<'d>, other: &Access<'d>) -> Option<Expression<'d>> {
        let [a, b] = [one, other].map(|one| self.code.object(one.start));
        let [from, to] = [one, other].map(|one| self.code.offset(one.start));
        (a == b).then(|| self.code.minus(from, to))
    }

    /// How far one access begins behind another one in iteration 0, and what that grows by, as the host computes it.
    fn distance(
        &self,
        one: &Access<'d>,
        other: &Access<'d>,
        fits: &mut Vec<Fits>,
    ) -> Option<(Evaluated, Option<Evaluated>)> {
        let [a, b] = [one, other].map(|one| self.code.object(one.start));
        let [from, to] = [one, other].map(|one| self.code.offset(one.start));
        let offset = self.code.minus(from, to);
        if offset.is(Kind::Unknown) || offset.size() > 2 * MOST_OPERATIONS {
            return None;
        }
        let offset = self.unwrapped(offset, fits)?;
        let (offset, growth) = match self.code.recurrence(offset) {
            Some(along) if along.of == self.iterations => {
                let at_0 = self.at_0(along.start)?;
                (at_0, Some(self.number(along.step)?))
            }
            _ => (offset, None),
        };
        let offset = self.number(offset)?;
        let distance = match a == b {
            true => offset,
            false => {
                let [a, b] = [self.address(a)?, self.address(b)?];
                let between = binary(Opcode::LLVMSub, a, b);
                binary(Opcode::LLVMAdd, between, offset)
            }
        };
        Some((distance, growth))
    }
}

/// Bytes from turn to turn of two accesses that change in the one loop alone that is shared, and by as much.
fn single_step(one: &Access<'_>, other: &Access<'_>) -> Option<i64> {
    let step = |one: &Access<'_>| match (&one.along[..], one.lanes) {
        ([along], Some(lanes)) if lanes.across.is_none() && lanes.along == along.of => {
            along.constant()
        }
        _ => None,
    };
    step(one).filter(|its| step(other) == Some(*its))
}

/// Whether an access that goes on by `step` bytes from turn to turn, and begins so many bytes behind one that does the same,
/// meets it in another turn.
fn meets_in_other_turns(distance: i64, step: i64, bytes: i64, of_other: i64) -> bool {
    let [distance, step, bytes, of_other] = [distance, step, bytes, of_other].map(i128::from);
    if step == 0 {
        return true;
    }
    // From the turns on in which they would begin at one place.
    let near = -distance / step;
    let many = (bytes + of_other) / step.abs() + 2;
    let mut turns = near - many..=near + many;
    turns.any(|turns| {
        let distance = distance + step * turns;
        turns != 0 && -bytes < distance && distance < of_other
    })
}
