//! Loops that lie in the iterations of a region's loop and go along rows of arrays: work items that lie next to each other
//! have elements of a row that do. So a warp asks memory for a few sectors where one that has a row for each of its work
//! items asks for one each.
//!
//! How many work items share a row the host says: a power of two, and 1 where it cannot be more, which leaves a row to each
//! work item. All of them run the iteration, and of the loops in it each every so many turns, from its own one on.
//!
//! Guarantee: in one iteration what a turn writes no other turn accesses that another work item may have, and what stands
//! around these loops changes nothing that others see, and reads nothing that they write. Where that depends on values, the
//! host asks in front of the launch. (What other iterations access they may at any time.)

mod shared;

pub(super) use shared::Shared;

use okl_abi::Effects;

use super::checks::tells_only;
use super::uniform::Evaluated;
use super::wide::Copy;
use super::{Passed, calls};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::ir::Region;
use crate::llvm::{
    Block, Builder, Call, Code, Comparison, Evolution, Expression, ExpressionKind as Kind,
    Function, Instruction, IntPredicate, Module, Opcode, Reach, Value,
};
use crate::lower::gpu::math;
use shared::{Apart, Fits, LEAST_TURNS};

/// Bytes from one turn's element to the next one's, at most.
const MOST_STEP: i64 = 1 << 20;
/// Bytes within which next to each other is near.
const NEAR: i64 = 64;
/// Operations of a number that the host computes, at most.
const MOST_OPERATIONS: usize = 40;
/// Instructions around these loops, at most, which each of the work items runs that share a row, and how many a call counts as.
const MOST_AROUND: usize = 64;
const OF_CALL: usize = 32;
/// Questions of the host's, at most.
const MOST_QUESTIONS: usize = 48;

/// Loops whose turns work items share.
pub(super) struct Rows<'d> {
    loops: Vec<Row<'d>>,
    shared: Shared,
}

/// One of them: its header asks whether there is another turn, and does nothing else.
struct Row<'d> {
    header: Block<'d>,
    preheader: Block<'d>,
    latch: Block<'d>,
    /// Whether there is another turn where it is so what it asks.
    yes: bool,
    counters: Vec<Counter<'d>>,
}

/// What counts turns.
struct Counter<'d> {
    phi: Instruction<'d>,
    /// What is added in each.
    by: i64,
    /// What computes the next one.
    next: Instruction<'d>,
}

/// An access of memory that others may access, in an iteration.
struct Access<'d> {
    address: Expression<'d>,
    bytes: i64,
    writes: bool,
    /// The loop that it is in, its element's address in the first turn, and what is added in each.
    row: Option<usize>,
    start: Expression<'d>,
    step: i64,
}

/// What is looked at.
struct Look<'a, 'd> {
    module: &'d Module,
    code: Evolution<'d>,
    /// The loop over iterations, and the first one's number there.
    iterations: usize,
    first: Value<'d>,
    signed: bool,
    values: Vec<(Value<'d>, &'a Passed)>,
    last: Option<&'a (Evaluated, u32, bool)>,
}

/// The loops in the iterations of a body's loop, if they are such; the values that the body loads in front of its code the
/// host passes. `last` is the number of the last iteration, as the host computes it.
pub(super) fn find<'d>(
    module: &'d Module,
    body: Function<'d>,
    site: Call<'d>,
    signed: bool,
    values: &[(Value<'d>, Passed)],
    last: Option<&(Evaluated, u32, bool)>,
) -> Option<Rows<'d>> {
    // Loops get their blocks in front of them.
    let code = Code::open(body);
    over_iterations(&code, site)?;
    drop(code);
    let copy = Copy::of(module, body);
    let found = find_in(module, &copy, site, signed, values, last);
    copy.erase();
    found
}

fn find_in<'d>(
    module: &'d Module,
    copy: &Copy<'d>,
    site: Call<'d>,
    signed: bool,
    values: &[(Value<'d>, Passed)],
    last: Option<&(Evaluated, u32, bool)>,
) -> Option<Rows<'d>> {
    let code = Code::open(copy.body);
    let site = copy.copied(site.instruction())?.as_call()?;
    let (iterations, first) = over_iterations(&code, site)?;
    let its: Vec<_> = (0..code.loops().len())
        .filter(|of| code.loops()[*of].parent == Some(iterations))
        .collect();
    let is_inside = |of: &usize| {
        code.loops_around(code.loops()[*of].header)
            .any(|one| one == iterations)
    };
    let inside = (0..code.loops().len()).filter(is_inside).count();
    // Others would run in each work item.
    if its.is_empty() || inside != its.len() + 1 {
        return None;
    }
    let values = values.iter().filter_map(|(value, passed)| {
        let value = copy.copied(value.as_instruction()?)?;
        Some((*value, passed))
    });
    let look = Look {
        module,
        code: Evolution::of(code),
        iterations,
        first,
        signed,
        values: values.collect(),
        last,
    };
    let mut loops = Vec::new();
    let mut turns = Vec::new();
    for of in &its {
        let (row, count) = look.row(*of)?;
        loops.push(row.original(copy)?);
        turns.push(count);
    }
    if look.around(&its) > MOST_AROUND {
        return None;
    }
    let accesses = look.accesses(&its)?;
    if !look.go_along_rows(&accesses) {
        return None;
    }
    let (apart, fits) = look.apart(&accesses)?;
    let shared = Shared { turns, fits, apart };
    Some(Rows { loops, shared })
}

/// The loop that goes from one iteration of a share to the next, and the number of its first one.
fn over_iterations<'d>(code: &Code<'d>, site: Call<'d>) -> Option<(usize, Value<'d>)> {
    let lowers: Vec<_> = match effects(site).has(Effects::DEALS) {
        true => {
            let all = calls(code.function()).into_iter();
            let next = all
                .filter(|one| runtime::function(*one).is_some_and(|one| one.has(Effects::SHARES)));
            next.filter_map(|one| runtime::argument(one, "lower"))
                .collect()
        }
        false => runtime::argument(site, "lower").into_iter().collect(),
    };
    let begins = |of: usize| {
        let one = &code.loops()[of];
        let code = one.header.instructions().into_iter();
        let phis = code.take_while(|at| at.opcode() == Opcode::LLVMPHI);
        let mut firsts = phis.filter_map(|phi| {
            let (first, next) = incoming(phi, one.preheader?, one.latch?)?;
            let load = first.as_op(Opcode::LLVMLoad)?;
            let sum = next.as_op(Opcode::LLVMAdd)?;
            let is_next = sum.operand(0) == *phi && sum.operand(1).as_constant_int() == Some(1);
            (lowers.contains(&load.operand(0)) && is_next).then_some(first)
        });
        firsts.next()
    };
    let mut all = (0..code.loops().len()).filter_map(|of| Some((of, begins(of)?)));
    all.next().filter(|_| all.next().is_none())
}

/// What a phi of a header is in the first turn, and in the next one.
fn incoming<'d>(
    phi: Instruction<'d>,
    preheader: Block<'d>,
    latch: Block<'d>,
) -> Option<(Value<'d>, Value<'d>)> {
    let all = phi.incoming();
    let from = |block| Some(all.iter().find(|(_, from)| *from == block)?.0);
    Some((from(preheader)?, from(latch)?)).filter(|_| all.len() == 2)
}

/// Whether an instruction computes a number or an address, wherever it stands.
fn only_counts(at: Instruction<'_>) -> bool {
    matches!(
        at.opcode(),
        Opcode::LLVMPHI
            | Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMAnd
            | Opcode::LLVMOr
            | Opcode::LLVMXor
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMICmp
            | Opcode::LLVMSelect
            | Opcode::LLVMGetElementPtr
    )
}

impl<'d> Look<'_, 'd> {
    /// A loop whose turns may be dealt out, as far as its own code says, and how many it has.
    fn row(&self, of: usize) -> Option<(Row<'d>, (Evaluated, u32))> {
        let one = &self.code.loops()[of];
        let (header, preheader, latch) = (one.header, one.preheader?, one.latch?);
        let inside = |block: Block<'d>| self.code.contains(of, block);
        let end = header.terminator()?;
        let leaves = |block: &Block<'d>| !block.successors().iter().all(|to| inside(*to));
        // It is left from its header, and nothing of it is used behind it.
        if header == latch
            || end.branch_condition().is_none()
            || one
                .blocks
                .iter()
                .any(|block| leaves(block) != (*block == header))
        {
            return None;
        }
        let mut counters = Vec::new();
        for at in one.blocks.iter().flat_map(|block| block.instructions()) {
            if at
                .instruction_users()
                .iter()
                .any(|user| !inside(user.block()))
            {
                return None;
            }
            if at.block() == header && at != end && !only_counts(at) && !is_told(at) {
                return None;
            }
            if at.block() != header || at.opcode() != Opcode::LLVMPHI {
                continue;
            }
            let (_, next) = incoming(at, preheader, latch)?;
            if !self.code.can_know(*at) {
                return None;
            }
            let counts = self.code.expression(*at);
            let counts = self.code.recurrence(counts).filter(|one| one.of == of)?;
            counters.push(Counter {
                phi: at,
                by: i64::try_from(counts.step.constant()?).ok()?,
                next: next.as_instruction()?,
            });
        }
        let count = self.code.backedge_taken_count(of)?;
        if let Some(known) = count.constant()
            && known < i128::from(LEAST_TURNS)
        {
            return None;
        }
        let bits = self.code.bits(count);
        let mut turns = self.number(count)?;
        if bits < 32 {
            turns = Evaluated::Cast(Opcode::LLVMZExt, Box::new(turns), 32);
        }
        let row = Row {
            header,
            preheader,
            latch,
            yes: inside(header.successors()[0]),
            counters,
        };
        (bits <= 64).then_some((row, (turns, bits.max(32))))
    }

    /// How much of an iteration's code stands around its loops.
    fn around(&self, rows: &[usize]) -> usize {
        let is_around = |block: &&Block<'d>| {
            let mut rows = rows.iter();
            !rows.any(|of| self.code.contains(*of, **block))
        };
        let blocks = self.code.loops()[self.iterations].blocks.iter();
        let code = blocks
            .filter(is_around)
            .flat_map(|block| block.instructions());
        let counts = code.map(|at| match at.as_call() {
            Some(_) if is_told(at) => 0,
            Some(_) => OF_CALL,
            None => 1,
        });
        counts.sum()
    }

    /// What an iteration accesses that others may access; none where it does what cannot be dealt out.
    fn accesses(&self, rows: &[usize]) -> Option<Vec<Access<'d>>> {
        let body = self.code.function();
        let mut found = Vec::new();
        for at in body.instructions() {
            let row = rows
                .iter()
                .position(|of| self.code.contains(*of, at.block()));
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
                match row {
                    Some(row) if writes && !self.is_of_turn(variable, rows[row]) => return None,
                    _ => continue,
                }
            }
            if (is_table || !is_inside) && !writes {
                continue;
            }
            // What the last iteration leaves is one work item's.
            if !at.is_plain_access() || writes && row.is_none() {
                return None;
            }
            let address = self.code.expression(address);
            let (start, step) = match row.map(|row| (rows[row], self.code.recurrence(address))) {
                Some((of, Some(along))) if along.of == of => {
                    (along.start, i64::try_from(along.step.constant()?).ok()?)
                }
                Some((of, _)) if !self.code.is_invariant(address, of) => return None,
                _ => (address, 0),
            };
            if step.abs() > MOST_STEP || writes && step == 0 {
                return None;
            }
            // It is none that a work item has for itself.
            self.address(self.code.object(start))?;
            let bytes = bytes as i64;
            found.push(Access {
                address,
                bytes,
                writes,
                row,
                start,
                step,
            });
        }
        Some(found)
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

    /// Whether elements of most accesses are near those of the next turn, and not near those of the next iteration.
    fn go_along_rows(&self, accesses: &[Access<'d>]) -> bool {
        let mut sum = 0;
        for one in accesses.iter().filter(|one| one.row.is_some()) {
            let across = self.code.recurrence(one.start);
            let across = across.filter(|across| across.of == self.iterations);
            let across = match across {
                Some(across) => across.step.constant().and_then(|by| i64::try_from(by).ok()),
                None if self.code.is_invariant(one.start, self.iterations) => Some(0),
                None => None,
            };
            let (along, across) = (one.step.abs(), across.map(i64::abs));
            sum += match across {
                Some(0) => 0,
                _ if along == 0 => 0,
                Some(across) if across < along => -1,
                Some(across) if across == along => 0,
                _ if along <= NEAR => 1,
                _ => 0,
            };
        }
        sum > 0
    }

    /// What has to be so for these accesses to meet in turns of work items of their own alone.
    fn apart(&self, accesses: &[Access<'d>]) -> Option<(Vec<Apart>, Vec<Fits>)> {
        let mut all: Vec<Apart> = Vec::new();
        let mut fits = Vec::new();
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
                if let Some(distance) = constant
                    && access.row.is_some()
                    && access.step == write.step
                {
                    match meets_in_other_turns(distance, write.step, access.bytes, write.bytes) {
                        true => return None,
                        false => continue,
                    }
                }
                let (distance, growth) = self.distance(access, write, &mut fits)?;
                let step = |one: &Access<'d>| Some((one.row?, one.step));
                let one = Apart {
                    distance,
                    growth,
                    steps: [step(access), step(write)],
                    bytes: [access.bytes, write.bytes],
                };
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
        (all.len() + fits.len() <= MOST_QUESTIONS).then_some((all, fits))
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

    /// What an expression is where a share begins with iteration 0: what it is there in any share, if nothing but the
    /// number of the iteration changes from one to the next.
    fn at_0(&self, one: Expression<'d>) -> Option<Expression<'d>> {
        let code = self.code.loops()[self.iterations].header.instructions();
        let phis = code.iter().filter(|at| at.opcode() == Opcode::LLVMPHI);
        (phis.count() == 1).then(|| self.without_first(one))
    }

    fn without_first(&self, one: Expression<'d>) -> Expression<'d> {
        if one.value() == Some(self.first) {
            return self.code.number(self.code.bits(one), 0);
        }
        let operands = one.operands();
        let new: Vec<_> = operands
            .iter()
            .map(|one| self.without_first(*one))
            .collect();
        match new == operands {
            true => one,
            false => self.code.like(one, &new),
        }
    }

    /// The number of a share's first iteration.
    fn first_of(&self, bits: u32) -> Expression<'d> {
        let first = self.code.expression(self.first);
        match self.signed {
            true => self.code.with_sign(first, bits),
            false => self.code.without_sign(first, bits),
        }
    }

    /// The same number, of which parts that count iterations in few bits do so in 64: if they fit.
    fn unwrapped(&self, one: Expression<'d>, fits: &mut Vec<Fits>) -> Option<Expression<'d>> {
        let operands = one.operands();
        let signed = match one.kind() {
            Kind::SignExtend => Some(true),
            Kind::ZeroExtend => Some(false),
            _ => None,
        };
        if let Some(signed) = signed
            && self.code.bits(one) == 64
            && let Some(counts) = self.code.recurrence(operands[0])
            && counts.of == self.iterations
        {
            let bits = self.code.bits(operands[0]);
            let step = i64::try_from(counts.step.constant()?).ok()?;
            let at_0 = self.at_0(counts.start)?;
            let one = Fits {
                start: self.number(at_0)?,
                bits,
                signed,
                step,
            };
            if step.abs() > MOST_STEP {
                return None;
            }
            if !fits.contains(&one) {
                fits.push(one);
            }
            let at_0 = match signed {
                true => self.code.with_sign(at_0, 64),
                false => self.code.without_sign(at_0, 64),
            };
            let step = self.code.number(64, step);
            let before = self.code.product(&[step, self.first_of(64)]);
            let start = self.code.sum(&[at_0, before]);
            return Some(self.code.recurring(&[start, step], self.iterations));
        }
        if operands.is_empty() || one.is(Kind::Recurrence) {
            return Some(one);
        }
        let new = operands.iter().map(|one| self.unwrapped(*one, fits));
        let new: Vec<_> = new.collect::<Option<_>>()?;
        match new == operands {
            true => Some(one),
            false => Some(self.code.like(one, &new)),
        }
    }

    /// An address that the host knows, as a number.
    fn address(&self, object: Expression<'d>) -> Option<Evaluated> {
        let value = object.value().filter(|one| one.ty().is_pointer())?;
        let value = Box::new(self.value(value)?);
        Some(Evaluated::Cast(Opcode::LLVMPtrToInt, value, 64))
    }

    /// A value that the host passes.
    fn value(&self, value: Value<'d>) -> Option<Evaluated> {
        if let Some((_, at)) = value.as_parameter() {
            return at.checked_sub(Region::LEADING).map(Evaluated::Capture);
        }
        let (_, passed) = self.values.iter().find(|(known, _)| *known == value)?;
        match passed {
            Passed::Value(value) => Some(value.clone()),
            Passed::Last => {
                let (last, bits, _) = self.last?;
                let last = last.clone();
                Some(match bits {
                    32 => last,
                    _ => Evaluated::Cast(Opcode::LLVMTrunc, Box::new(last), 32),
                })
            }
            _ => None,
        }
    }

    /// How the host computes a number.
    fn number(&self, one: Expression<'d>) -> Option<Evaluated> {
        if one.is(Kind::Unknown) || one.size() > MOST_OPERATIONS || !one.ty().is_integer() {
            return None;
        }
        let bits = one.ty().bits().filter(|bits| *bits <= 64)?;
        if let Some(number) = one.constant() {
            return Some(Evaluated::Constant(number as i64, bits));
        }
        let operands = one.operands();
        let cast = |opcode| {
            let from = Box::new(self.number(operands[0])?);
            Some(Evaluated::Cast(opcode, from, bits))
        };
        let all = |join: &dyn Fn(Evaluated, Evaluated) -> Evaluated| {
            let mut numbers = operands.iter().map(|one| self.number(*one));
            let first = numbers.next()??;
            numbers.try_fold(first, |before, next| Some(join(before, next?)))
        };
        let choice = |predicate| {
            all(&|a, b| Evaluated::Choice(predicate, Box::new([a.clone(), b.clone(), a, b])))
        };
        match one.kind() {
            Kind::Truncate => cast(Opcode::LLVMTrunc),
            Kind::ZeroExtend => cast(Opcode::LLVMZExt),
            Kind::SignExtend => cast(Opcode::LLVMSExt),
            Kind::Add => all(&|a, b| binary(Opcode::LLVMAdd, a, b)),
            Kind::Multiply => all(&|a, b| binary(Opcode::LLVMMul, a, b)),
            Kind::UnsignedDivide => {
                operands[1].constant().filter(|by| *by != 0)?;
                all(&|a, b| binary(Opcode::LLVMUDiv, a, b))
            }
            Kind::UnsignedMax => choice(IntPredicate::LLVMIntUGT),
            Kind::SignedMax => choice(IntPredicate::LLVMIntSGT),
            Kind::UnsignedMin => choice(IntPredicate::LLVMIntULT),
            Kind::SignedMin => choice(IntPredicate::LLVMIntSLT),
            Kind::PointerToInteger => self.address(operands[0]),
            Kind::Value => self.value(one.value()?),
            Kind::Constant
            | Kind::Recurrence
            | Kind::SequentialMin
            | Kind::Other
            | Kind::Unknown => None,
        }
    }
}

fn binary(opcode: Opcode, a: Evaluated, b: Evaluated) -> Evaluated {
    Evaluated::Binary(opcode, Box::new([a, b]))
}

/// Whether an instruction tells something and does nothing.
fn is_told(at: Instruction<'_>) -> bool {
    is_harmless(at) || at.as_call().is_some_and(tells_only)
}

fn is_of_runtime(at: Instruction<'_>) -> bool {
    at.as_call()
        .is_some_and(|call| runtime::function(call).is_some())
}

/// Whether a call computes something of numbers and does nothing else on a device.
fn computes(call: Call<'_>) -> bool {
    let is_math = call
        .callee_function()
        .is_some_and(|callee| callee.is_declaration() && math::has_function(callee));
    call.instruction().opcode() == Opcode::LLVMCall
        && runtime::function(call).is_none()
        && (is_math || call.reach() == Reach::Nothing && !call.instruction().may_write())
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

impl<'d> Rows<'d> {
    /// What the host finds out.
    pub(super) fn shared(self) -> Shared {
        self.shared
    }

    /// How many turns each loop has.
    pub(super) fn turns(&self) -> &[(Evaluated, u32)] {
        &self.shared.turns
    }

    /// Has each loop begin with the turn of this number, and go on so many turns further; `turns` are those of each loop.
    pub(super) fn emit(
        &self,
        device: &'d Module,
        first: Instruction<'d>,
        turns: &[Value<'d>],
        [number, width]: [Value<'d>; 2],
    ) {
        for (row, turns) in self.loops.iter().zip(turns) {
            let ty = turns.ty();
            let turn = Builder::before(device, first).alloca(ty, 8);
            let start = row.preheader.terminator().expect("a complete block");
            let end = row.latch.terminator().expect("a complete block");
            let asks = row.header.terminator().expect("a complete block");
            // Before and behind a turn.
            let [before, behind] = [start, end].map(|at| Builder::before(device, at));
            before.store(before.int_cast(number, ty), turn);
            let header = Builder::before(device, asks);
            let own = header.load(ty, turn);
            let less = Comparison::Integer(IntPredicate::LLVMIntULT);
            let has = header.ask(less, own, *turns);
            let asked = match row.yes {
                true => has,
                false => header.not(has),
            };
            asks.set_branch_condition(asked);
            let next = behind.sum(own, behind.int_cast(width, ty));
            if let Some(next) = next.as_instruction() {
                next.promise_no_wrap(false);
            }
            behind.store(next, turn);
            for counter in &row.counters {
                counter.emit(device, row, [&before, &behind], [number, width]);
            }
        }
    }
}

impl<'d> Row<'d> {
    /// The same in what was copied.
    fn original(self, copy: &Copy<'d>) -> Option<Self> {
        let counters = self.counters.into_iter().map(|one| {
            Some(Counter {
                phi: copy.original(one.phi)?,
                next: copy.original(one.next)?,
                ..one
            })
        });
        Some(Self {
            header: copy.original_block(self.header)?,
            preheader: copy.original_block(self.preheader)?,
            latch: copy.original_block(self.latch)?,
            counters: counters.collect::<Option<_>>()?,
            ..self
        })
    }
}

impl<'d> Counter<'d> {
    /// Has it begin with the value of a turn, and go on by that of so many.
    fn emit(
        &self,
        device: &'d Module,
        row: &Row<'d>,
        [before, behind]: [&Builder<'d>; 2],
        [number, width]: [Value<'d>; 2],
    ) {
        let long = device.int(64);
        let phi = self.phi;
        let ty = phi.ty();
        let by = |builder: &Builder<'d>, times: Value<'d>| {
            let ty = if ty.is_pointer() { long } else { ty };
            let times = builder.int_cast(times, ty);
            let by = builder.int_cast(device.const_i64(self.by), ty);
            builder.binary(Opcode::LLVMMul, times, by)
        };
        let moved = |builder: &Builder<'d>, value: Value<'d>, times: Value<'d>| {
            let by = by(builder, times);
            if ty.is_pointer() {
                return builder.element(device.int(8), value, by);
            }
            let sum = builder.sum(value, by);
            // What it is in a turn it would have been without overflow, and in none it is not used.
            let bits = ty.bits().unwrap_or(64);
            // What is added is a number of that type only if it is small.
            let most = self
                .by
                .unsigned_abs()
                .saturating_mul(1 << shared::MOST_SHARE);
            let fits = most < 1 << (bits - 1).min(62);
            for signed in [true, false].into_iter().filter(|_| fits) {
                if let Some(sum) = sum.as_op(Opcode::LLVMAdd)
                    && self.next.opcode() == Opcode::LLVMAdd
                    && self.next.keeps_number(signed)
                    && (signed || self.by > 0)
                {
                    sum.promise_no_wrap(signed);
                }
            }
            sum
        };
        for (at, (value, from)) in phi.incoming().into_iter().enumerate() {
            let value = match from == row.preheader {
                true => moved(before, value, number),
                false => moved(behind, *phi, width),
            };
            phi.set_operand(at, value);
        }
    }
}
