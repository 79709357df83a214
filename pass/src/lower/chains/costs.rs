//! What iterations of a chain cost: how many instructions they are, where that is seen.

use std::collections::HashSet;

use okl_chains::sizes::Costs;

use super::{is_marker, is_region};
use crate::analysis::chains::Modelled;
use crate::analysis::variables::is_harmless;
use crate::ir::{Chain, Nest};
use crate::llvm::{Block, Function, Instruction, Module, Opcode};

/// Functions that call each other are looked at so far.
const DEEPEST: usize = 4;

/// Those of a chain.
pub fn costs<'m>(module: &Module, chain: &Chain<'m>, known: &Modelled<'m>) -> Costs {
    let function = chain.site.instruction().function();
    Costs {
        instructions: chain.nests.iter().map(of_nest).collect(),
        elements: known.elements.clone(),
        is_alone: is_region(function) || !module.has_flag("openmp"),
    }
}

fn of_nest(nest: &Nest<'_>) -> Option<usize> {
    let counter = nest.loops.last()?.counter.as_ref()?;
    let around = [counter.decides.block(), counter.steps.block()];
    let mut blocks: Vec<_> = counter.blocks.clone();
    blocks.retain(|block| !around.contains(block));
    of_blocks(&blocks, DEEPEST)
}

/// The instructions of blocks that are no loop, but for those that compute addresses or are about variables of the stack.
fn of_blocks(blocks: &[Block<'_>], deepest: usize) -> Option<usize> {
    if { blocks.iter() }.any(|block| is_in_loop(*block, blocks)) {
        return None;
    }
    let all = blocks.iter().flat_map(|block| block.instructions());
    all.map(|one| of_instruction(one, deepest)).sum()
}

fn is_in_loop<'m>(block: Block<'m>, blocks: &[Block<'m>]) -> bool {
    let mut seen = HashSet::new();
    let mut rest = block.successors();
    while let Some(next) = rest.pop() {
        if next == block {
            return true;
        }
        if blocks.contains(&next) && seen.insert(next) {
            rest.extend(next.successors());
        }
    }
    false
}

fn of_instruction(one: Instruction<'_>, deepest: usize) -> Option<usize> {
    use Opcode::*;
    let is_of_stack = |operand: usize| {
        let address = one.operand(operand).as_instruction();
        address.is_some_and(|address| address.opcode() == LLVMAlloca)
    };
    match one.opcode() {
        LLVMLoad => Some((!is_of_stack(0)).into()),
        LLVMStore => Some((!is_of_stack(1)).into()),
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFNeg | LLVMFCmp | LLVMSelect | LLVMSIToFP
        | LLVMUIToFP | LLVMFPToSI | LLVMFPToUI | LLVMFPExt | LLVMFPTrunc | LLVMMul | LLVMAnd
        | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr => Some(1),
        LLVMFDiv | LLVMFRem | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => Some(8),
        LLVMCall if is_harmless(one) => Some(0),
        LLVMCall => {
            let call = one.as_call()?;
            match call.callee_function() {
                Some(callee) if callee.is_intrinsic() => Some(1),
                _ if is_marker(call) => Some(0),
                Some(callee) if !callee.is_declaration() && deepest > 0 => {
                    of_function(callee, deepest - 1)
                }
                _ => None,
            }
        }
        LLVMInvoke | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence => None,
        _ => Some(0),
    }
}

fn of_function(function: Function<'_>, deepest: usize) -> Option<usize> {
    of_blocks(&function.blocks(), deepest)
}
