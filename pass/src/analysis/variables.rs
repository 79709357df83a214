//! What a function does with a stack variable, as clang writes it before anything is simplified: through addresses that
//! are computed from it, kept in other variables and by lambdas, and handed to functions, which may hand them back.

use std::collections::{HashMap, HashSet};

use crate::analysis::call_graph::is_final;
use crate::llvm::{Function, Instruction, Opcode, Type, Value};

/// What an instruction does with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Reads it, or some of it.
    Read,
    /// Writes it, or some of it.
    Write,
    /// Takes its address to where nobody follows it.
    Unknown,
}

/// How far calls are followed: the standard library hands references on through many.
const MOST_CALLS: usize = 12;

/// What instructions of its function do with a variable. What only says something of it does nothing.
pub fn uses<'m>(variable: Instruction<'m>) -> Vec<(Instruction<'m>, Does)> {
    of_address(*variable, MOST_CALLS)
}

/// What instructions of its function do with what a parameter leads to.
pub fn uses_of_parameter(parameter: Value<'_>) -> Vec<(Instruction<'_>, Does)> {
    of_address(parameter, MOST_CALLS)
}

/// Whether a call says something of a variable and does nothing with it.
pub fn is_harmless(call: Instruction<'_>) -> bool {
    call.as_call().is_some_and(|call| {
        let name = call.callee_name();
        let known = [
            "llvm.var.annotation",
            "llvm.lifetime.",
            "llvm.experimental.noalias.scope.decl",
        ];
        known.iter().any(|known| name.starts_with(known))
    })
}

/// Whether a variable is clang's own, which says where the end of a scope goes on.
pub fn is_destination(variable: Instruction<'_>) -> bool {
    variable.users().into_iter().all(|user| {
        let Some(user) = user.as_instruction() else {
            return false;
        };
        match user.opcode() {
            _ if is_harmless(user) => true,
            Opcode::LLVMStore => user.operand(0).as_constant_int().is_some(),
            Opcode::LLVMLoad => {
                let chooses = |one: &Instruction<'_>| one.opcode() == Opcode::LLVMSwitch;
                user.instruction_users().iter().all(chooses)
            }
            _ => false,
        }
    })
}

/// Whether a variable is the compiler's own: what is known of the exception that is handled.
pub fn is_of_exception(variable: Instruction<'_>) -> bool {
    variable.instruction_users().into_iter().all(|user| {
        let stored = (user.opcode() == Opcode::LLVMStore).then(|| user.operand(0));
        let part = stored.and_then(|value| value.as_op(Opcode::LLVMExtractValue));
        let of = part.and_then(|part| part.operand(0).as_op(Opcode::LLVMLandingPad));
        user.opcode() == Opcode::LLVMLoad || of.is_some() || is_harmless(user)
    })
}

fn of_address<'m>(address: Value<'m>, calls: usize) -> Vec<(Instruction<'m>, Does)> {
    through(address, To::Variable, calls, &mut Known::new())
}

/// What functions do with what their parameters lead to, and whether their results may lead there.
type Known<'m> = HashMap<(Function<'m>, usize, To<'m>), (Does, bool)>;

/// What an address leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum To<'m> {
    /// The variable.
    Variable,
    /// Memory in which its address is kept, and maybe other things: what a lambda captures by reference. In this field
    /// only, where that is known.
    Address(Option<Field<'m>>),
}

/// A type and the number of one of its parts.
type Field<'m> = (Type<'m>, i64);

/// The field whose address is computed.
fn field<'m>(part: Instruction<'m>) -> Option<Field<'m>> {
    let [_, first, number] = part.operands()[..] else {
        return None;
    };
    let is_whole = first.as_constant_int() == Some(0);
    let ty = part.source_element_type().filter(|_| is_whole)?;
    Some((ty, number.as_constant_int()?))
}

/// What is done with a variable through an address.
fn through<'m>(
    address: Value<'m>,
    to: To<'m>,
    calls: usize,
    known: &mut Known<'m>,
) -> Vec<(Instruction<'m>, Does)> {
    let mut found = Vec::new();
    let mut rest = vec![(address, to)];
    let mut seen = HashSet::from([(address, to)]);
    while let Some((address, to)) = rest.pop() {
        for user in address.users() {
            let Some(user) = user.as_instruction() else {
                continue;
            };
            let mut leads = Vec::new();
            let does = match (user.opcode(), to) {
                (Opcode::LLVMLoad, To::Variable) => Some(Does::Read),
                (Opcode::LLVMLoad, To::Address(_)) if user.ty().is_pointer() => {
                    leads.push((*user, To::Variable));
                    None
                }
                // What cannot be an address is something else that is kept there.
                (Opcode::LLVMLoad, To::Address(_)) => {
                    let ty = user.ty();
                    let is_small = ty.bits().is_some_and(|bits| bits < 64);
                    (!is_small && !ty.is_floating()).then_some(Does::Unknown)
                }
                (Opcode::LLVMStore, To::Variable) if user.operand(0) != address => {
                    Some(Does::Write)
                }
                (Opcode::LLVMStore, To::Address(_)) if user.operand(0) != address => None,
                (Opcode::LLVMStore, To::Variable) => match root(user.operand(1)) {
                    Some((memory, field)) => {
                        leads.push((memory, To::Address(field)));
                        None
                    }
                    None => Some(Does::Unknown),
                },
                (Opcode::LLVMStore, To::Address(_)) => match loads_of(user.operand(1)) {
                    Some(loads) => {
                        leads.extend(loads.into_iter().map(|one| (one, to)));
                        None
                    }
                    None => Some(Does::Unknown),
                },
                (Opcode::LLVMAtomicRMW, To::Variable) if user.operand(1) != address => {
                    Some(Does::Write)
                }
                (Opcode::LLVMAtomicCmpXchg, To::Variable) => Some(Does::Write),
                (Opcode::LLVMICmp, _) => None,
                (Opcode::LLVMGetElementPtr, To::Address(Some(kept))) => {
                    let other = field(user).filter(|(ty, _)| *ty == kept.0);
                    if other.is_none_or(|other| other == kept) {
                        leads.push((*user, To::Address(None)));
                    }
                    None
                }
                (
                    Opcode::LLVMGetElementPtr
                    | Opcode::LLVMPHI
                    | Opcode::LLVMSelect
                    | Opcode::LLVMAddrSpaceCast,
                    _,
                ) => {
                    leads.push((*user, to));
                    None
                }
                _ if is_harmless(user) => None,
                _ => {
                    let (does, hands_back) = of_call(user, address, to, calls, known);
                    if hands_back {
                        leads.push((*user, To::Variable));
                    }
                    if hands_back && to != To::Variable {
                        leads.push((*user, To::Address(None)));
                    }
                    Some(does)
                }
            };
            rest.extend(leads.into_iter().filter(|one| seen.insert(*one)));
            found.extend(does.map(|does| (user, does)));
        }
    }
    found
}

/// The stack variable that an address leads into, and which part of it.
fn root<'m>(address: Value<'m>) -> Option<(Value<'m>, Option<Field<'m>>)> {
    let mut fields = Vec::new();
    let mut address = address;
    while let Some(part) = address.as_op(Opcode::LLVMGetElementPtr) {
        fields.push(field(part));
        address = part.operand(0);
    }
    address.as_op(Opcode::LLVMAlloca)?;
    match fields[..] {
        [field] => Some((address, field)),
        _ => Some((address, None)),
    }
}

/// The loads of a variable that holds an address, where nothing else reads it.
fn loads_of(variable: Value<'_>) -> Option<Vec<Value<'_>>> {
    variable.as_op(Opcode::LLVMAlloca)?;
    let mut loads = Vec::new();
    for user in variable.users() {
        let one = user.as_instruction()?;
        match one.opcode() {
            Opcode::LLVMLoad => loads.push(user),
            Opcode::LLVMStore if one.operand(0) != variable => {}
            _ if is_harmless(one) => {}
            _ => return None,
        }
    }
    Some(loads)
}

/// What a call does with what an address leads to, and whether its result may lead there.
fn of_call<'m>(
    user: Instruction<'m>,
    address: Value<'m>,
    to: To<'m>,
    calls: usize,
    known: &mut Known<'m>,
) -> (Does, bool) {
    let Some(call) = user.as_call() else {
        return (Does::Unknown, false);
    };
    let name = call.callee_name();
    let arguments = call.arguments().into_iter().enumerate();
    let its = arguments.filter(|(_, one)| *one == address);
    let (written, copied) = match to {
        To::Variable => (Does::Write, Does::Read),
        // Where an address is kept is no part of the variable, and a copy is not followed.
        To::Address(_) => (Does::Read, Does::Unknown),
    };
    let its = its.map(|(at, _)| match call.callee_function() {
        _ if call.is_by_value(at) && to == To::Variable => (Does::Read, false),
        Some(_) if name.starts_with("llvm.memset.") => (written, false),
        Some(_) if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => {
            match at {
                0 => (written, false),
                _ => (copied, false),
            }
        }
        Some(callee) if calls > 0 && is_final(callee) => {
            of_parameter(callee, at, to, calls - 1, known)
        }
        _ => (Does::Unknown, false),
    });
    let all: Vec<_> = its.collect();
    let hands_back = all.iter().any(|(_, hands_back)| *hands_back);
    let does = all.into_iter().map(|(does, _)| does);
    (worst(does).unwrap_or(Does::Unknown), hands_back)
}

/// What a function does with what one of its parameters leads to, and whether its result may lead there.
fn of_parameter<'m>(
    function: Function<'m>,
    at: usize,
    to: To<'m>,
    calls: usize,
    known: &mut Known<'m>,
) -> (Does, bool) {
    let parameters = function.parameters();
    let Some(&parameter) = parameters.get(at).filter(|_| !function.is_declaration()) else {
        return (Does::Unknown, false);
    };
    if let Some(found) = known.get(&(function, at, to)) {
        return *found;
    }
    // Of one that calls itself.
    known.insert((function, at, to), (Does::Unknown, true));
    let all = through(parameter, to, calls, known).into_iter();
    let (ends, others): (Vec<_>, Vec<_>) =
        all.partition(|(one, _)| one.opcode() == Opcode::LLVMRet);
    let does = others.into_iter().map(|(_, does)| does);
    let found = (worst(does).unwrap_or(Does::Read), !ends.is_empty());
    known.insert((function, at, to), found);
    found
}

/// The one of several things done that all have to reckon with.
fn worst(all: impl Iterator<Item = Does>) -> Option<Does> {
    all.max_by_key(|does| match does {
        Does::Read => 0,
        Does::Write => 1,
        Does::Unknown => 2,
    })
}
