//! What one instruction makes of an old value and another one, as far as such updates commute: the question that
//! analyses of kernels, of loops and of critical sections have in common.

use okl_abi::AtomicOp;

use crate::ir::{Mode, Operation};
use crate::llvm::{Call, Comparison, Instruction, IntPredicate, Intrinsic, Opcode, RealPredicate};

/// How an atomic update accesses memory. One whose result is used tells what was there.
pub fn atomic(update: Instruction<'_>) -> Mode {
    let operation = update.atomic_operation();
    match operation.filter(|_| update.is_unused()) {
        Some(operation) => mode_of(operation),
        None => Mode::ReadWrite,
    }
}

/// How memory is accessed where it becomes `old op v`.
fn mode_of(operation: AtomicOp) -> Mode {
    use AtomicOp::*;
    match operation {
        Add | Sub | FAdd | FSub => Mode::Increment,
        Min | UMin | FMin => Mode::Min,
        Max | UMax | FMax => Mode::Max,
        // The last four tell zeros apart, and what is no number: which one is left depends on the order.
        Xchg | And | Nand | Or | Xor | FGreater | FLess | FNotLess | FNotGreater => Mode::ReadWrite,
    }
}

/// What two values are combined to by an operation.
fn combination(operation: AtomicOp) -> Operation {
    use AtomicOp::*;
    match operation {
        Add | FAdd => Operation::Add,
        And => Operation::And,
        Or => Operation::Or,
        Xor => Operation::Xor,
        Min | UMin | FMin | FLess | FNotGreater => Operation::Min,
        Max | UMax | FMax | FGreater | FNotLess => Operation::Max,
        Xchg | Sub | Nand | FSub => Operation::Declared,
    }
}

/// The operation of `old op v`, and whether it is that of `v op old` too.
pub fn arithmetic(last: Instruction<'_>) -> Option<(AtomicOp, bool)> {
    Some(match last.opcode() {
        Opcode::LLVMAdd => (AtomicOp::Add, true),
        Opcode::LLVMSub => (AtomicOp::Sub, false),
        Opcode::LLVMAnd => (AtomicOp::And, true),
        Opcode::LLVMOr => (AtomicOp::Or, true),
        Opcode::LLVMXor => (AtomicOp::Xor, true),
        Opcode::LLVMFAdd => (AtomicOp::FAdd, true),
        Opcode::LLVMFSub => (AtomicOp::FSub, false),
        Opcode::LLVMCall => {
            let intrinsic = last.as_call().and_then(Call::intrinsic)?;
            let operation = match intrinsic.name().as_str() {
                "llvm.maxnum" => AtomicOp::FMax,
                "llvm.minnum" => AtomicOp::FMin,
                "llvm.smax" => AtomicOp::Max,
                "llvm.smin" => AtomicOp::Min,
                "llvm.umax" => AtomicOp::UMax,
                "llvm.umin" => AtomicOp::UMin,
                _ => return None,
            };
            (operation, true)
        }
        _ => return None,
    })
}

/// What the two operands of an instruction become, where they may change places.
pub fn combined(at: Instruction<'_>) -> Option<Operation> {
    match at.opcode() {
        Opcode::LLVMMul | Opcode::LLVMFMul => Some(Operation::Multiply),
        _ => {
            let (operation, commutes) = arithmetic(at)?;
            commutes.then(|| combination(operation))
        }
    }
}

/// The operands of an instruction of which any one may be what the others are added to.
pub fn added_to(sum: Instruction<'_>) -> &'static [usize] {
    match arithmetic(sum) {
        Some((operation, commutes)) if mode_of(operation) == Mode::Increment => match commutes {
            true => &[0, 1],
            false => &[0],
        },
        Some(_) => &[],
        // A product is added in one step.
        None => {
            let intrinsic = sum.as_call().and_then(Call::intrinsic);
            match intrinsic.map(Intrinsic::name).as_deref() {
                Some("llvm.fmuladd" | "llvm.fma") => &[2],
                _ => &[],
            }
        }
    }
}

/// The operation that puts `v` in the place of `old` where a comparison of the two says so: where it holds
/// if `takes_if`. `mirrored`: the old value comes first.
pub fn choice(comparison: Comparison, mirrored: bool, takes_if: bool) -> Option<AtomicOp> {
    use IntPredicate::*;
    use RealPredicate::*;
    // Of `v ? old`: whether v is taken where it is larger; of equal ones it does not matter which is.
    let is_larger_taken = |is_greater: bool| is_greater ^ mirrored ^ !takes_if;
    Some(match comparison {
        Comparison::Integer(predicate) => {
            let (is_greater, is_signed) = match predicate {
                LLVMIntSGT | LLVMIntSGE => (true, true),
                LLVMIntSLT | LLVMIntSLE => (false, true),
                LLVMIntUGT | LLVMIntUGE => (true, false),
                LLVMIntULT | LLVMIntULE => (false, false),
                _ => return None,
            };
            match (is_larger_taken(is_greater), is_signed) {
                (true, true) => AtomicOp::Max,
                (false, true) => AtomicOp::Min,
                (true, false) => AtomicOp::UMax,
                (false, false) => AtomicOp::UMin,
            }
        }
        // Zeros are equal and differ, and a NaN is neither larger nor smaller.
        Comparison::Floating(predicate) => {
            let is_greater = match predicate {
                LLVMRealOGT => true,
                LLVMRealOLT => false,
                _ => return None,
            };
            match (is_larger_taken(is_greater), takes_if) {
                (true, true) => AtomicOp::FGreater,
                (false, true) => AtomicOp::FLess,
                (true, false) => AtomicOp::FNotLess,
                (false, false) => AtomicOp::FNotGreater,
            }
        }
    })
}

/// Whether a choice of one of two values by a comparison of them takes the smaller or the larger one; of equal ones it
/// may take either. `mirrored`: the one that is taken where it holds comes second.
pub fn smaller_or_larger(comparison: Comparison, mirrored: bool) -> Option<Operation> {
    let strict = match comparison {
        Comparison::Floating(RealPredicate::LLVMRealOGE) => RealPredicate::LLVMRealOGT,
        Comparison::Floating(RealPredicate::LLVMRealOLE) => RealPredicate::LLVMRealOLT,
        _ => return choice(comparison, mirrored, true).map(combination),
    };
    choice(Comparison::Floating(strict), mirrored, true).map(combination)
}
