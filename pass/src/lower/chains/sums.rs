//! Variables of the function around with which iterations only combine something: threads do so in variables of their own.

use crate::analysis::updates;
use crate::analysis::variables::is_harmless;
use crate::ir::Operation;
use crate::llvm::{Instruction, Opcode};
use crate::lower::cpu::threads::neutral;

use super::bodies::Body;

/// Such a variable.
#[derive(Clone, Copy, PartialEq)]
pub struct Sum<'m> {
    /// The variable.
    pub variable: Instruction<'m>,
    /// How something is combined with it.
    pub operation: Operation,
}

/// Those of an iteration.
pub fn sums<'m>(body: &Body<'m>) -> Vec<Sum<'m>> {
    let stores = body.instructions().filter_map(|one| {
        let is_store = one.opcode() == Opcode::LLVMStore && one.is_plain_access();
        let variable = is_store.then(|| one.operand(1).as_op(Opcode::LLVMAlloca));
        let variable = variable.flatten().filter(|one| !body.is_own(*one))?;
        let operation = operation(body, variable, one)?;
        Some(Sum {
            variable,
            operation,
        })
    });
    stores.collect()
}

/// What a store that is the only one combines a variable with.
fn operation<'m>(
    body: &Body<'m>,
    variable: Instruction<'m>,
    store: Instruction<'m>,
) -> Option<Operation> {
    let mut users = variable.instruction_users();
    users.retain(|user| body.has(*user) && !is_harmless(*user) && *user != store);
    let [load] = users[..] else {
        return None;
    };
    let ty = variable.allocated_type()?;
    let result = store.operand(0).as_instruction()?;
    let is_one = load.opcode() == Opcode::LLVMLoad
        && load.is_plain_access()
        && load.ty() == ty
        && result.ty() == ty
        && load.users() == [*result]
        && result.users() == [*store];
    let operands = result.operands();
    let mut places = operands.iter().enumerate().filter(|one| *one.1 == *load);
    let ((place, _), None) = (places.next()?, places.next()) else {
        return None;
    };
    let is_sum = updates::added_to(result).contains(&place);
    let operation = match is_sum {
        true => Operation::Add,
        false => updates::combined(result)?,
    };
    (is_one && neutral(operation, ty).is_some()).then_some(operation)
}
