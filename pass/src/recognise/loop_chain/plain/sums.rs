//! What the threads of a region combine behind their loop, as a loop that combines it with the result in each iteration.
//!
//! Guarantee: but for the order in which values are combined, that is the same. In the loop nobody looks at what has been
//! combined so far.

use okl_abi::Effects;

use super::{MORE, Why};
use crate::analysis::runtime::{self, effects};
use crate::analysis::updates;
use crate::analysis::variables::is_harmless;
use crate::ir::Operation;
use crate::llvm::{Block, Builder, Function, Instruction, Module, Opcode, Type, Value};

const COMBINES: Why = "threads combine what it computes in a way that is not understood";

/// What a thread combines in a variable of its own.
struct Sum<'m> {
    own: Instruction<'m>,
    shared: Value<'m>,
    operation: Operation,
}

/// Has the loop of a copy do so, and says by which operations: as OpenMP writes them.
pub fn put_in<'m>(module: &'m Module, copy: Function<'m>) -> Result<Vec<&'static str>, Why> {
    let calls = copy.instructions().into_iter();
    let calls = calls.filter_map(|one| one.as_call());
    let calls: Vec<_> = calls
        .filter(|call| effects(*call).has(Effects::REDUCES))
        .collect();
    let [call] = calls[..] else {
        return if calls.is_empty() {
            Ok(Vec::new())
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
    let mut names = Vec::new();
    for sum in &sums {
        names.push(check(sum, &is_inside)?);
    }
    for sum in &sums {
        for user in sum.own.instruction_users() {
            match user.opcode() {
                Opcode::LLVMLoad if is_inside(user) => user.set_operand(0, sum.shared),
                Opcode::LLVMStore if is_inside(user) => user.set_operand(1, sum.shared),
                // Nobody combines the list any more.
                Opcode::LLVMStore if user.operand(0) == *sum.own => user.erase(),
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
    Ok(names)
}

/// What is combined where a thread does so alone.
fn sums(block: Block<'_>) -> Result<Vec<Sum<'_>>, Why> {
    let mut sums = Vec::new();
    for one in block.instructions() {
        match one.opcode() {
            Opcode::LLVMStore if one.is_plain_access() => sums.push(sum(one).ok_or(COMBINES)?),
            Opcode::LLVMBr => {}
            _ if one.only_computes() || is_harmless(one) => {}
            // The call that ends it.
            Opcode::LLVMCall if one.ty().is_void() => {}
            _ => return Err(COMBINES),
        }
    }
    Ok(sums)
}

fn sum(store: Instruction<'_>) -> Option<Sum<'_>> {
    let shared = store.operand(1);
    shared.as_parameter()?;
    let result = store.operand(0).as_instruction()?;
    let loads = result.operands().into_iter();
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
        operation: updates::combined(result)?,
    })
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
    is_inside: &dyn Fn(Instruction<'m>) -> bool,
) -> Result<&'static str, Why> {
    let ty = sum.own.allocated_type().ok_or(COMBINES)?;
    let (name, neutral) = named(sum.operation, ty).ok_or(COMBINES)?;
    let mut begins = 0;
    for user in sum.own.instruction_users() {
        let is_right = match user.opcode() {
            _ if is_harmless(user) => true,
            Opcode::LLVMStore if user.operand(0) == *sum.own => !is_inside(user),
            Opcode::LLVMStore if is_inside(user) => combines(user, sum),
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
                    is_store && store.operand(1) == *sum.own && combines(store, sum)
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

/// Whether a store puts there what was there, and something combined with it.
fn combines<'m>(store: Instruction<'m>, sum: &Sum<'m>) -> bool {
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
        && match sum.operation {
            Operation::Add => updates::added_to(result).contains(&place),
            other => updates::combined(result) == Some(other),
        }
}
