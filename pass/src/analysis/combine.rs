//! Whether a reduction's combine function reaches memory other than the items it combines.
//!
//! The function gets two lists of pointers to items. Every address it uses is traced back to one of
//! the lists, to an item, or to a variable of its own; an address of any other origin, and any call
//! that is not followed, counts as reaching further.

use std::collections::HashMap;

use crate::analysis::memory::{base_of, private_variable};
use crate::analysis::runtime::argument;
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};

/// How many calls deep user-declared combiners and overloaded operators are followed.
const DEPTH: usize = 8;

/// What an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointsTo {
    /// A list of pointers to items.
    List,
    /// An item.
    Item,
    /// A variable of the function itself.
    Own,
    /// Anything else.
    Elsewhere,
}

/// Bytes of the largest item of a call that reduces; `None` where that is not known.
pub fn largest_item(module: &Module, call: Call<'_>) -> Option<u64> {
    let items = argument(call, "items")?.as_constant_int()?;
    let list = base_of(argument(call, "list")?).as_op(Opcode::LLVMAlloca)?;
    let parts = (list.users().into_iter()).filter(|user| base_of(*user) == *list && *user != *list);
    let addresses: Vec<Value<'_>> = parts.chain([*list]).collect();
    let mut sizes = Vec::new();
    for address in addresses {
        for user in address.users() {
            let Some(store) = user.as_op(Opcode::LLVMStore) else {
                continue;
            };
            let item = store.operand(0).as_op(Opcode::LLVMAlloca)?;
            let count = u64::try_from(item.operand(0).as_constant_int()?).ok()?;
            sizes.push(module.size_of(item.allocated_type()?) * count);
        }
    }
    (sizes.len() as i64 == items)
        .then(|| sizes.into_iter().max())
        .flatten()
}

/// True where the function provably reads nothing but the lists and the items, and writes nothing
/// but the items.
pub fn touches_only_items(combine: Function<'_>) -> bool {
    stays_inside(combine, &[PointsTo::List, PointsTo::List], DEPTH)
}

fn stays_inside(function: Function<'_>, parameters: &[PointsTo], depth: usize) -> bool {
    if depth == 0 || function.is_declaration() {
        return false;
    }
    let origins: HashMap<_, _> = function
        .parameters()
        .into_iter()
        .zip(parameters.iter().copied())
        .collect();
    function.instructions().into_iter().all(|instruction| {
        let origin = |address| origin(address, &origins, &mut Vec::new());
        match instruction.opcode() {
            // The item lists may be read, but not changed.
            Opcode::LLVMLoad => origin(instruction.operand(0)) != PointsTo::Elsewhere,
            Opcode::LLVMStore => {
                let to = origin(instruction.operand(1));
                let pointer_leaves =
                    instruction.operand(0).ty().is_pointer() && to != PointsTo::Own;
                matches!(to, PointsTo::Item | PointsTo::Own) && !pointer_leaves
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => false,
            Opcode::LLVMCall | Opcode::LLVMInvoke => instruction
                .as_call()
                .is_some_and(|call| call_stays_inside(call, &origin, depth)),
            _ => true,
        }
    })
}

fn call_stays_inside<'m>(
    call: Call<'m>,
    origin: &impl Fn(Value<'m>) -> PointsTo,
    depth: usize,
) -> bool {
    let Some(callee) = call.callee_function() else {
        return false;
    };
    let arguments = call.arguments();
    let addresses = arguments
        .iter()
        .filter(|argument| argument.ty().is_pointer());
    let inside = addresses
        .clone()
        .all(|&address| origin(address) != PointsTo::Elsewhere);
    let name = callee.name();
    if callee.is_intrinsic() {
        // Copies go where their addresses point; the others do not touch memory at all.
        return inside;
    }
    // Complex multiplication and division, and libm's functions of numbers.
    if callee.is_declaration() {
        return addresses.count() == 0
            && crate::analysis::library::known(&name)
                .is_some_and(|known| known.effect == crate::analysis::library::Effect::None);
    }
    let parameters: Vec<_> = arguments
        .iter()
        .map(|argument| {
            if argument.ty().is_pointer() {
                origin(*argument)
            } else {
                PointsTo::Own
            }
        })
        .collect();
    inside && stays_inside(callee, &parameters, depth - 1)
}

/// Where an address comes from. `open` holds the variables being looked at, which may hold addresses
/// computed from their own older content.
fn origin<'m>(
    address: Value<'m>,
    parameters: &HashMap<Value<'m>, PointsTo>,
    open: &mut Vec<Instruction<'m>>,
) -> PointsTo {
    if let Some(&origin) = parameters.get(&address) {
        return origin;
    }
    let Some(instruction) = address.as_instruction() else {
        return if address.is_null() {
            PointsTo::Own
        } else {
            PointsTo::Elsewhere
        };
    };
    match instruction.opcode() {
        Opcode::LLVMAlloca => PointsTo::Own,
        Opcode::LLVMGetElementPtr => origin(instruction.operand(0), parameters, open),
        Opcode::LLVMLoad => match origin(instruction.operand(0), parameters, open) {
            PointsTo::List => PointsTo::Item,
            PointsTo::Item | PointsTo::Elsewhere => PointsTo::Elsewhere,
            PointsTo::Own => loaded_from_own(instruction.operand(0), parameters, open),
        },
        Opcode::LLVMPHI if open.contains(&instruction) => PointsTo::Own,
        Opcode::LLVMPHI => {
            open.push(instruction);
            let values: Vec<_> = instruction
                .incoming()
                .into_iter()
                .map(|(value, _)| value)
                .collect();
            let origin = join(&values, parameters, open);
            open.pop();
            origin
        }
        Opcode::LLVMSelect => join(&instruction.operands()[1..], parameters, open),
        // An overloaded operator may return a reference to its first argument.
        Opcode::LLVMCall | Opcode::LLVMInvoke => PointsTo::Elsewhere,
        _ => PointsTo::Elsewhere,
    }
}

/// What the value of a variable of the function points to.
fn loaded_from_own<'m>(
    address: Value<'m>,
    parameters: &HashMap<Value<'m>, PointsTo>,
    open: &mut Vec<Instruction<'m>>,
) -> PointsTo {
    let Some(variable) = private_variable(address) else {
        return PointsTo::Elsewhere;
    };
    if open.contains(&variable) {
        return PointsTo::Own;
    }
    open.push(variable);
    let stored: Vec<_> = variable
        .users()
        .into_iter()
        .filter_map(|user| user.as_op(Opcode::LLVMStore))
        .map(|store| store.operand(0))
        .collect();
    let origin = join(&stored, parameters, open);
    open.pop();
    origin
}

fn join<'m>(
    values: &[Value<'m>],
    parameters: &HashMap<Value<'m>, PointsTo>,
    open: &mut Vec<Instruction<'m>>,
) -> PointsTo {
    let mut joined = PointsTo::Own;
    for &value in values {
        joined = match (joined, origin(value, parameters, open)) {
            (PointsTo::Own, other) | (other, PointsTo::Own) => other,
            (a, b) if a == b => a,
            _ => return PointsTo::Elsewhere,
        };
    }
    joined
}
