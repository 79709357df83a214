//! Variables with which iterations only combine something: threads do so in variables of their own.

use okl_chains::model::Mode;

use crate::analysis::chains::{Accessing, Modelled};
use crate::analysis::folds::Fold;
use crate::analysis::variables::is_harmless;
use crate::llvm::{Function, Instruction, Opcode, Type, Value};
use crate::lower::cpu::threads::can_combine;

/// Such a variable.
#[derive(Clone, Copy, PartialEq)]
pub struct Sum<'m> {
    /// The number of its space.
    pub space: usize,
    /// The variable, of the function or of the program.
    pub variable: Value<'m>,
    /// What is in it.
    pub ty: Type<'m>,
    /// How something is combined with it.
    pub operation: Fold,
}

/// Those of the iterations of each nest, and the loads and stores of those of the program.
pub struct Sums<'m> {
    pub all: Vec<Vec<Sum<'m>>>,
    pub by: Vec<Vec<(Value<'m>, Instruction<'m>)>>,
}

/// Those of a chain in a function.
pub fn sums<'m>(known: &Modelled<'m>, function: Function<'m>) -> Sums<'m> {
    let mut found = Sums {
        all: Vec::new(),
        by: Vec::new(),
    };
    for (nest, accessing) in known.model.nests.iter().zip(&known.accessing) {
        let (mut all, mut by) = (Vec::new(), Vec::new());
        for access in &nest.accesses {
            let Mode::Reduce(number) = access.mode else {
                continue;
            };
            let mut others = nest.accesses.iter();
            let is_alone = others.all(|one| one.space != access.space || one.mode == access.mode);
            let its = accessing.iter().filter(|one| one.space == access.space);
            let its: Vec<_> = its.collect();
            let operation = Fold::of_number(number).filter(|_| is_alone);
            let Some(operation) = operation else { continue };
            let Some((variable, ty)) = variable(&its, function) else {
                continue;
            };
            if !can_combine(operation, ty) {
                continue;
            }
            all.push(Sum {
                space: access.space,
                variable,
                ty,
                operation,
            });
            if variable.as_global().is_some() {
                by.extend(its.iter().filter_map(|one| Some((variable, one.at?))));
            }
        }
        found.all.push(all);
        found.by.push(by);
    }
    found
}

/// The variable that is accessed, and what is in it, where all of the iteration's own accesses name it.
fn variable<'m>(its: &[&Accessing<'m>], function: Function<'m>) -> Option<(Value<'m>, Type<'m>)> {
    let here = |one: &&Accessing<'m>| one.at.filter(|at| at.function() == function);
    let stores = its.iter().filter_map(here);
    let store = { stores }.find(|at| at.opcode() == Opcode::LLVMStore)?;
    let (variable, ty) = (store.operand(1), store.operand(0).ty());
    let names = |at: Instruction<'m>| match at.opcode() {
        Opcode::LLVMLoad => at.operand(0) == variable && at.ty() == ty,
        Opcode::LLVMStore => at.operand(1) == variable && at.operand(0).ty() == ty,
        _ => false,
    };
    if let Some(own) = variable.as_op(Opcode::LLVMAlloca) {
        let is_whole =
            own.allocated_type() == Some(ty) && own.operand(0).as_constant_int() == Some(1);
        let named = { its.iter().filter_map(here) }.all(names);
        return (is_whole && named && is_known_by_name(own)).then_some((variable, ty));
    }
    let global = variable.as_global()?;
    let named = its.iter().all(|one| here(one).is_some_and(names));
    (named && !global.is_thread_local()).then_some((variable, ty))
}

/// Whether the address of a variable is in no memory but for a call, which whoever accesses it there takes it from.
fn is_known_by_name(variable: Instruction<'_>) -> bool {
    let is_plain = |user: Instruction<'_>| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0) != *variable,
        Opcode::LLVMCall | Opcode::LLVMInvoke => true,
        _ => is_harmless(user),
    };
    variable.instruction_users().into_iter().all(is_plain)
}
