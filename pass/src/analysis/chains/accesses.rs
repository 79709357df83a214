//! What an iteration of a nest accesses.

use okl_chains::model::Mode;

use super::numbers::{Base, Number, Place, Reader, rows, varies};
use super::single::{
    Iteration, Single, always_passes, always_passes_one, between, is_inside, is_ours,
};
use super::splits::{Split, split};
use crate::analysis::folds;
use crate::analysis::library::is_mathematics;
use crate::analysis::variables::is_harmless;
use crate::diagnostic::user_name;
use crate::llvm::{Instruction, Module, Opcode, Reach, Value};

/// An access that has been found.
#[derive(Clone)]
pub struct Found<'c> {
    /// How.
    pub mode: Mode,
    /// Where.
    pub place: Place<'c>,
    /// What the offset is made of, where it is such a sum.
    pub split: Option<Split<'c>>,
    /// Bytes; 0 where they are not known.
    pub bytes: i64,
    /// Whether every iteration does.
    pub must: bool,
    /// Whether only the last iteration does.
    pub at_last: bool,
    /// What does.
    pub at: Instruction<'c>,
    /// All that do, and whether they read or write.
    pub by: Vec<(Instruction<'c>, Mode)>,
}

/// Something that may do more than can be said, and why: the end of a sentence that begins with "it".
pub type Unknown<'c> = (Instruction<'c>, String);

/// What an iteration accesses of what others see. `combines` says whether floating-point numbers may be combined in another
/// order, `is_last` whether only the last iteration comes to an instruction.
pub fn of<'c>(
    copy: &'c Module,
    single: &Single<'c>,
    nest: &Iteration<'c>,
    reader: &Reader<'_, 'c>,
    combines: bool,
    is_last: &dyn Fn(Instruction<'c>) -> bool,
) -> Result<Vec<Found<'c>>, Unknown<'c>> {
    let mut found: Vec<Found<'c>> = Vec::new();
    let depth = nest.loops.len();
    let code = between(nest.enter, nest.leave);
    let is_own = |base: &Base<'c>| match base {
        Base::Value(value) => {
            value.as_op(Opcode::LLVMAlloca).is_some()
                && !single.kept.iter().any(|one| one.0 == *value)
        }
        _ => false,
    };
    for &at in &code {
        let mut add = |address: Value<'c>, bytes: i64, mode: Mode| {
            let place = reader.place(address);
            if is_own(&place.base) {
                return;
            }
            let offset = place.offset.as_ref().filter(|_| bytes > 0);
            let split = offset.and_then(|offset| split(reader, &nest.turns, offset, depth, bytes));
            found.push(Found {
                mode,
                must: always(nest, at, split.as_ref()),
                split,
                place,
                bytes,
                at_last: is_last(at),
                at,
                by: vec![(at, mode)],
            });
        };
        let size = |value: Value<'c>| copy.store_size_of(value.ty()) as i64;
        match at.opcode() {
            Opcode::LLVMLoad if at.is_plain_access() => add(at.operand(0), size(*at), Mode::Read),
            Opcode::LLVMStore if at.is_plain_access() => {
                add(at.operand(1), size(at.operand(0)), Mode::Write);
            }
            Opcode::LLVMLoad
            | Opcode::LLVMStore
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMFence => {
                return Err((at, "has an atomic or volatile access".to_string()));
            }
            _ if is_harmless(at) || at.only_computes() || only_computes(at) => {}
            Opcode::LLVMCall | Opcode::LLVMInvoke => {
                let call = at.as_call().expect("it is a call");
                let name = call.callee_name();
                let length = || {
                    call.argument(2)
                        .and_then(|one| one.as_constant_int())
                        .unwrap_or(0)
                };
                if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
                    add(call.arguments()[1], length(), Mode::Read);
                    add(call.arguments()[0], length(), Mode::Write);
                } else if name.starts_with("llvm.memset.") {
                    add(call.arguments()[0], length(), Mode::Write);
                } else if is_inside(&name) {
                } else if is_ours(&name) {
                    return Err((at, "is not understood".to_string()));
                } else {
                    let what = call
                        .callee_function()
                        .map_or("a function that is not known".to_string(), user_name);
                    return Err((
                        at,
                        format!("calls {what}, of which it is not known what it does"),
                    ));
                }
            }
            Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMPHI | Opcode::LLVMAlloca => {}
            Opcode::LLVMUnreachable | Opcode::LLVMResume => {}
            _ if !at.may_write() => {}
            _ => return Err((at, "does something that is not understood".to_string())),
        }
    }
    Ok(reductions(merge(nest, found), reader, combines))
}

/// Has a pointer of a table be one of its rows wherever others of its rows are accessed by a number.
pub fn tell_rows<'c>(found: &mut [Vec<Found<'c>>]) {
    let mut tables: Vec<Base<'c>> = Vec::new();
    for access in found.iter().flatten() {
        if let Base::Rows(table) = &access.place.base
            && !tables.contains(table)
        {
            tables.push((**table).clone());
        }
    }
    for access in found.iter_mut().flatten() {
        let Base::Loaded(from) = &access.place.base else {
            continue;
        };
        if !tables.contains(&from.base) {
            continue;
        }
        let table = from.base.clone();
        let row = from.offset.as_ref().and_then(|offset| rows(offset, &table));
        let more = |one: &Number<'c>| one.plus(row.as_ref()?);
        access.place.offset = access.place.offset.as_ref().and_then(more);
        access.split = access.split.take().and_then(|split| {
            let rest = more(&split.rest)?;
            Some(Split { rest, ..split })
        });
        access.place.base = Base::Rows(Box::new(table));
    }
}

/// Whether every iteration does something, with all numbers of the loops in it that its place depends on.
fn always<'c>(nest: &Iteration<'c>, at: Instruction<'c>, split: Option<&Split<'c>>) -> bool {
    let mut around = nest.enter;
    let mut until = nest.leave;
    let its = |which: usize| {
        let mut turns = split.iter().flat_map(|split| &split.turns);
        turns.any(|one| one.turn == which)
    };
    for (_, turn) in nest.turns.iter().enumerate().filter(|one| its(one.0)) {
        let Some(number) = turn.number.as_instruction() else {
            return false;
        };
        if !always_passes(around, until, turn.decides.block()) {
            return false;
        }
        around = number;
        until = turn.decides;
    }
    always_passes(around, until, at.block())
}

/// Whether a call accesses nothing of the program's, and goes on behind it.
fn only_computes(at: Instruction<'_>) -> bool {
    let Some(call) = at.as_call().filter(|_| at.opcode() == Opcode::LLVMCall) else {
        return false;
    };
    let name = call.callee_name();
    let is_external = call
        .callee_function()
        .is_some_and(|one| one.is_declaration());
    let is_hint = [
        "llvm.assume",
        "llvm.stack",
        "llvm.experimental.noalias.scope.decl",
    ]
    .iter()
    .any(|hint| name.starts_with(hint));
    let is_arithmetic = is_external && is_arithmetic(&name);
    is_hint
        || is_arithmetic
        || call.reach() == Reach::Nothing
        || is_external && is_mathematics(&name)
}

/// Whether a function of the compiler's multiplies or divides complex numbers that it is handed as values.
fn is_arithmetic(name: &str) -> bool {
    let of = name.strip_prefix("__mul").or(name.strip_prefix("__div"));
    of.is_some_and(|of| ["hc3", "sc3", "dc3", "xc3"].contains(&of))
}

/// Of accesses that are the same, one. An iteration that goes one way or another may always come to one of them.
fn merge<'c>(nest: &Iteration<'c>, all: Vec<Found<'c>>) -> Vec<Found<'c>> {
    let mut kept: Vec<Found<'c>> = Vec::new();
    for one in all {
        let same = |other: &&mut Found<'_>| {
            other.mode == one.mode
                && other.place == one.place
                && other.bytes == one.bytes
                && other.at_last == one.at_last
                && one.place.offset.is_some()
        };
        match kept.iter_mut().find(same) {
            Some(other) => {
                other.must |= one.must;
                other.by.extend(one.by);
            }
            None => kept.push(one),
        }
    }
    for one in kept.iter_mut().filter(|one| one.by.len() > 1) {
        let is_plain = one.split.as_ref().is_some_and(|one| one.turns.is_empty());
        let blocks: Vec<_> = one.by.iter().map(|one| one.0.block()).collect();
        one.must |= is_plain && always_passes_one(nest.enter, nest.leave, &blocks);
    }
    kept
}

/// Accesses of a place that is the same for all iterations, where each of them only combines something with what is there.
/// `is_said`: numbers may be combined in another order, and what that asks for may be read.
fn reductions<'c>(
    mut all: Vec<Found<'c>>,
    reader: &Reader<'_, 'c>,
    is_said: bool,
) -> Vec<Found<'c>> {
    let writes = all.iter().filter(|one| one.mode == Mode::Write);
    let written: Vec<Base<'c>> = writes.map(|one| one.place.base.clone()).collect();
    let mut at = 0;
    while at < all.len() {
        let one = &all[at];
        let is_fixed = one.place.offset.as_ref().is_some_and(|one| !varies(one));
        if one.mode != Mode::Write || !is_fixed || one.at_last {
            at += 1;
            continue;
        }
        let is_its = |other: &Found<'c>| other.place == one.place && other.bytes == one.bytes;
        let is_apart = |other: &Found<'c>| {
            let offsets = other.place.offset.as_ref().zip(one.place.offset.as_ref());
            let distance = offsets.and_then(|(a, b)| a.minus(b)?.as_constant());
            other.place.base != one.place.base
                || other.bytes > 0
                    && distance.is_some_and(|far| far >= one.bytes || far <= -other.bytes)
        };
        let its = all.iter().filter(|other| is_its(other));
        let by: Vec<_> = its.clone().flat_map(|other| other.by.clone()).collect();
        let must = its.clone().any(|other| other.must);
        let of = |opcode| {
            let its = by.iter().map(|one| one.0);
            its.filter(|at| at.opcode() == opcode).collect::<Vec<_>>()
        };
        let (loads, stores) = (of(Opcode::LLVMLoad), of(Opcode::LLVMStore));
        let is_plain = loads.len() + stores.len() == by.len()
            && all.iter().all(|other| is_its(other) || is_apart(other));
        let is_mark = |at: Instruction<'c>| {
            let call = at.as_call();
            call.is_some_and(|call| is_inside(&call.callee_name()))
        };
        let is_settled = |load: Instruction<'c>| {
            let base = reader.place(load.operand(0)).base;
            base != Base::Unknown && !written.contains(&base)
        };
        let found = is_plain.then(|| {
            folds::found(&folds::Uses {
                loads: &loads,
                stores: &stores,
                is_mark: &is_mark,
                is_settled: &is_settled,
            })
        });
        let is_exact = stores
            .first()
            .is_some_and(|one| one.operand(0).ty().is_integer());
        // What each iteration writes anew is no such thing.
        let found = found.flatten().filter(|_| !must || !loads.is_empty());
        if let Some(found) = found.filter(|one| is_said || is_exact && !one.guards) {
            let place = one.place.clone();
            all[at].mode = Mode::Reduce(found.fold.number());
            (all[at].by, all[at].must) = (by, must);
            let is_gone =
                |one: &Found<'c>| one.place == place && !matches!(one.mode, Mode::Reduce(_));
            at -= all[..at].iter().filter(|one| is_gone(one)).count();
            all.retain(|one| !is_gone(one));
        }
        at += 1;
    }
    all
}
