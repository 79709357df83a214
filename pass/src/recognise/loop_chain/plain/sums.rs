//! What the threads of a region combine behind their loop, as a loop that combines it with the result in each iteration.
//!
//! Guarantee: but for the order in which values are combined, that is the same. In the loop nobody looks at what has been
//! combined so far. Of the least and the largest that is still to be proved of the loop; what they begin with, and that they are
//! combined with what was there before, is the business of whoever puts the loop somewhere.

use okl_abi::Effects;

use super::{MORE, Why};
use crate::analysis::runtime::{self, effects};
use crate::analysis::updates;
use crate::analysis::variables::is_harmless;
use crate::ir::Operation;
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Module, Opcode, RealPredicate,
    Type, Value,
};

const COMBINES: Why = "threads combine what it computes in a way that is not understood";

/// What a thread combines in a variable of its own.
struct Sum<'m> {
    own: Instruction<'m>,
    shared: Value<'m>,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    By(Operation),
    /// The larger one, or the smaller one.
    Choice(Comparison),
}

/// What the threads of a copy combine.
#[derive(Default)]
pub struct Sums<'m> {
    /// By which operations, as OpenMP writes them.
    pub names: Vec<&'static str>,
    /// Variables with the least or the largest of a loop, the parameters in whose place they stand, and how they are compared.
    pub chosen: Vec<(Instruction<'m>, Value<'m>, Comparison)>,
}

/// Has the loop of a copy do so.
pub fn put_in<'m>(module: &'m Module, copy: Function<'m>) -> Result<Sums<'m>, Why> {
    let calls = copy.instructions().into_iter();
    let calls = calls.filter_map(|one| one.as_call());
    let calls: Vec<_> = calls
        .filter(|call| effects(*call).has(Effects::REDUCES))
        .collect();
    let [call] = calls[..] else {
        return if calls.is_empty() {
            Ok(Sums::default())
        } else {
            Err(MORE)
        };
    };
    let [switch] = call.instruction().instruction_users()[..] else {
        return Err(COMBINES);
    };
    if switch.opcode() != Opcode::LLVMSwitch {
        return Err(COMBINES);
    }
    let (cases, behind) = switch.cases();
    let first = cases.iter().find(|one| one.0.as_constant_int() == Some(1));
    let first = first.ok_or(COMBINES)?.1;
    let sums = sums(first)?;
    let items = runtime::argument(call, "items").and_then(Value::as_constant_int);
    if items != i64::try_from(sums.len()).ok() {
        return Err(COMBINES);
    }
    let loops = copy.loops();
    let is_inside = |one: Instruction<'m>| {
        let mut loops = loops.iter();
        loops.any(|natural| natural.blocks.contains(&one.block()))
    };
    let mut found = Sums::default();
    for sum in &sums {
        match sum.how {
            How::By(operation) => found.names.push(check(sum, operation, &is_inside)?),
            How::Choice(by) => {
                found.names.push(check_choice(sum, by, &is_inside)?);
                found.chosen.push((sum.own, sum.shared, by));
            }
        }
    }
    for sum in &sums {
        let is_chosen = matches!(sum.how, How::Choice(_));
        for user in sum.own.instruction_users() {
            match user.opcode() {
                // Nobody combines the list any more.
                Opcode::LLVMStore if user.operand(0) == *sum.own => user.erase(),
                _ if is_chosen => {}
                Opcode::LLVMLoad if is_inside(user) => user.set_operand(0, sum.shared),
                Opcode::LLVMStore if is_inside(user) => user.set_operand(1, sum.shared),
                _ => {}
            }
        }
    }
    let block = call.instruction().block();
    call.instruction().split_before();
    let jump = block.terminator().expect("a complete block");
    Builder::before(module, jump).go(behind);
    jump.erase();
    copy.remove_unreachable_blocks();
    Ok(found)
}

/// What is combined where a thread does so alone, from a block on.
fn sums(mut block: Block<'_>) -> Result<Vec<Sum<'_>>, Why> {
    let mut sums = Vec::new();
    loop {
        for one in block.instructions() {
            match one.opcode() {
                Opcode::LLVMStore if one.is_plain_access() => sums.push(sum(one).ok_or(COMBINES)?),
                Opcode::LLVMBr | Opcode::LLVMPHI => {}
                _ if one.only_computes() || is_harmless(one) => {}
                // The call that ends it.
                Opcode::LLVMCall if one.ty().is_void() => return Ok(sums),
                _ => return Err(COMBINES),
            }
        }
        // One of two is chosen.
        let next = block.successors();
        let [one, other] = next[..] else {
            return Err(COMBINES);
        };
        let is_way = |way: Block<'_>| {
            let mut all = way.instructions().into_iter();
            let only_reads =
                |one: Instruction<'_>| is_plain_load(one) || one.opcode() == Opcode::LLVMBr;
            way.predecessors() == [block] && all.all(only_reads)
        };
        let behind = one.successors();
        let [behind] = behind[..] else {
            return Err(COMBINES);
        };
        if other.successors() != [behind] || one == other || !is_way(one) || !is_way(other) {
            return Err(COMBINES);
        }
        block = behind;
    }
}

fn sum(store: Instruction<'_>) -> Option<Sum<'_>> {
    let shared = store.operand(1);
    shared.as_parameter()?;
    let result = store.operand(0).as_instruction()?;
    let is_choice = result.opcode() == Opcode::LLVMPHI;
    let operands = match is_choice {
        true => result.incoming().into_iter().map(|one| one.0).collect(),
        false => result.operands(),
    };
    let loads = operands.into_iter();
    let loads: Option<Vec<_>> = loads
        .map(|one| Some(one.as_op(Opcode::LLVMLoad)?.operand(0)))
        .collect();
    let loads = loads?;
    let [one, other] = loads[..] else {
        return None;
    };
    let own = if one == shared { other } else { one };
    let is_both = [one, other].contains(&shared) && own != shared;
    let own = own.as_op(Opcode::LLVMAlloca).filter(|_| is_both)?;
    Some(Sum {
        own,
        shared,
        how: match is_choice {
            true => How::Choice(choice(result, shared, own)?),
            false => How::By(updates::combined(result)?),
        },
    })
}

/// How what all have is compared with a thread's own, where it stays if that holds.
fn choice<'m>(
    result: Instruction<'m>,
    shared: Value<'m>,
    own: Instruction<'m>,
) -> Option<Comparison> {
    use {IntPredicate::*, RealPredicate::*};
    let loads_from = |value: Value<'m>, from: Value<'m>| {
        let load = value.as_op(Opcode::LLVMLoad);
        load.is_some_and(|load| is_plain_load(load) && load.operand(0) == from)
    };
    let ways = result.incoming();
    let (_, keeps) = ways.iter().find(|one| loads_from(one.0, shared))?;
    let (_, takes) = ways.iter().find(|one| loads_from(one.0, *own))?;
    let [from] = keeps.predecessors()[..] else {
        return None;
    };
    let asks = from.terminator()?.branch_condition()?.as_instruction()?;
    // Numbers with fewer bits are compared as numbers with more.
    let cast = asks.operand(0).as_instruction().map(Instruction::opcode);
    let cast = cast.filter(|one| matches!(one, Opcode::LLVMSExt | Opcode::LLVMZExt));
    let compared = |at: usize| match (cast, asks.operand(at).as_instruction()) {
        (None, _) => Some(asks.operand(at)),
        (Some(cast), Some(one)) => (one.opcode() == cast).then(|| one.operand(0)),
        (Some(_), None) => None,
    };
    let by = match (asks.comparison()?, cast) {
        (Comparison::Integer(LLVMIntSGT), Some(Opcode::LLVMZExt)) => {
            Comparison::Integer(LLVMIntUGT)
        }
        (Comparison::Integer(LLVMIntSLT), Some(Opcode::LLVMZExt)) => {
            Comparison::Integer(LLVMIntULT)
        }
        (by, _) => by,
    };
    let is_known = matches!(
        by,
        Comparison::Integer(LLVMIntSGT | LLVMIntSLT | LLVMIntUGT | LLVMIntULT)
            | Comparison::Floating(LLVMRealOGT | LLVMRealOLT)
    );
    let is_of = |at: usize, from: Value<'m>| compared(at).is_some_and(|one| loads_from(one, from));
    let is_of_both = is_of(0, shared) && is_of(1, *own);
    let is_right = is_known && is_of_both && from.successors() == [*keeps, *takes];
    is_right.then_some(by)
}

fn is_plain_load(one: Instruction<'_>) -> bool {
    one.opcode() == Opcode::LLVMLoad && one.is_plain_access()
}

/// The name of an operation, and what it begins with.
fn named<'m>(operation: Operation, ty: Type<'m>) -> Option<(&'static str, Value<'m>)> {
    let is_integer = ty.is_integer();
    Some(match operation {
        Operation::Add if is_integer || ty.is_floating() => ("+", ty.zero()),
        Operation::Multiply if is_integer => ("*", ty.integer_constant(1)),
        Operation::Multiply if ty.is_floating() => ("*", ty.floating_constant(1.0)),
        Operation::And if is_integer => ("&", ty.integer_constant(-1)),
        Operation::Or if is_integer => ("|", ty.zero()),
        Operation::Xor if is_integer => ("^", ty.zero()),
        _ => return None,
    })
}

/// Whether a thread's own variable begins with nothing, and is what iterations combine something with.
fn check<'m>(
    sum: &Sum<'m>,
    operation: Operation,
    is_inside: &dyn Fn(Instruction<'m>) -> bool,
) -> Result<&'static str, Why> {
    let ty = sum.own.allocated_type().ok_or(COMBINES)?;
    let (name, neutral) = named(operation, ty).ok_or(COMBINES)?;
    let mut begins = 0;
    for user in sum.own.instruction_users() {
        let is_right = match user.opcode() {
            _ if is_harmless(user) => true,
            Opcode::LLVMStore if user.operand(0) == *sum.own => !is_inside(user),
            Opcode::LLVMStore if is_inside(user) => combines(user, sum, operation),
            Opcode::LLVMStore => {
                begins += 1;
                user.operand(0) == neutral
            }
            Opcode::LLVMLoad if is_inside(user) => {
                let only = |one: Instruction<'m>| match one.instruction_users()[..] {
                    [one] => Some(one),
                    _ => None,
                };
                let store = only(user).and_then(only);
                store.is_some_and(|store| {
                    let is_store = store.opcode() == Opcode::LLVMStore;
                    is_store && store.operand(1) == *sum.own && combines(store, sum, operation)
                })
            }
            Opcode::LLVMLoad => true,
            _ => false,
        };
        if !is_right {
            return Err(COMBINES);
        }
    }
    match begins {
        1 => Ok(name),
        _ => Err(COMBINES),
    }
}

/// Whether a thread's own variable begins with a constant, and is accessed by name only.
fn check_choice<'m>(
    sum: &Sum<'m>,
    by: Comparison,
    is_inside: &dyn Fn(Instruction<'m>) -> bool,
) -> Result<&'static str, Why> {
    use {IntPredicate::*, RealPredicate::*};
    let mut begins = 0;
    for user in sum.own.instruction_users() {
        let is_right = match user.opcode() {
            _ if is_harmless(user) => true,
            Opcode::LLVMStore if user.operand(0) == *sum.own => !is_inside(user),
            Opcode::LLVMStore if is_inside(user) => user.is_plain_access(),
            Opcode::LLVMStore => {
                begins += 1;
                user.operand(0).is_constant()
            }
            Opcode::LLVMLoad => user.is_plain_access(),
            _ => false,
        };
        if !is_right {
            return Err(COMBINES);
        }
    }
    match (begins, by) {
        (1, Comparison::Integer(LLVMIntSGT | LLVMIntUGT)) => Ok("max"),
        (1, Comparison::Floating(LLVMRealOGT)) => Ok("max"),
        (1, _) => Ok("min"),
        _ => Err(COMBINES),
    }
}

/// Whether a store puts there what was there, and something combined with it.
fn combines<'m>(store: Instruction<'m>, sum: &Sum<'m>, operation: Operation) -> bool {
    let Some(result) = store.operand(0).as_instruction() else {
        return false;
    };
    let operands = result.operands();
    let is_it = |one: &Value<'m>| {
        let load = one.as_op(Opcode::LLVMLoad);
        load.is_some_and(|load| load.is_plain_access() && load.operand(0) == *sum.own)
    };
    let mut places = operands.iter().enumerate().filter(|one| is_it(one.1));
    let (Some((place, _)), None) = (places.next(), places.next()) else {
        return false;
    };
    let is_plain = store.is_plain_access() && result.instruction_users() == [store];
    is_plain
        && match operation {
            Operation::Add => updates::added_to(result).contains(&place),
            other => updates::combined(result) == Some(other),
        }
}
