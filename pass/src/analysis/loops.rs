//! What happens inside one natural loop: which values change from one iteration to the next, and
//! what the decision to go on depends on.

use std::collections::{HashMap, HashSet};

use crate::analysis::memory::private_variable;
use crate::analysis::runtime::is_of_runtime;
use crate::llvm::{Block, Instruction, NaturalLoop, Opcode, Value};

/// A loop with what is asked of it most.
pub struct LoopView<'m> {
    /// Its first block.
    pub header: Block<'m>,
    blocks: Vec<Block<'m>>,
    members: HashSet<Block<'m>>,
    /// The stores into each private variable.
    stores: HashMap<Instruction<'m>, Vec<Instruction<'m>>>,
    /// Its instructions in order.
    pub instructions: Vec<Instruction<'m>>,
}

impl<'m> LoopView<'m> {
    /// Reads a loop.
    pub fn of(natural: &NaturalLoop<'m>) -> Self {
        let instructions: Vec<_> = natural
            .blocks
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
        let mut stores: HashMap<_, Vec<_>> = HashMap::new();
        for &store in instructions
            .iter()
            .filter(|i| i.opcode() == Opcode::LLVMStore)
        {
            if let Some(variable) = private_variable(store.operand(1)) {
                stores.entry(variable).or_default().push(store);
            }
        }
        Self {
            header: natural.header,
            blocks: natural.blocks.clone(),
            members: natural.blocks.iter().copied().collect(),
            stores,
            instructions,
        }
    }

    /// Whether an instruction stands in the loop.
    pub fn contains(&self, instruction: Instruction<'m>) -> bool {
        self.members.contains(&instruction.block())
    }

    /// Whether every turn of the loop comes to an instruction of a kind.
    pub fn always_meets(&self, is_one: impl Fn(Instruction<'m>) -> bool) -> bool {
        let meets = |block: Block<'m>| block.instructions().into_iter().any(&is_one);
        let mut seen = HashSet::new();
        let mut rest = vec![self.header];
        while let Some(block) = rest.pop() {
            if meets(block) {
                continue;
            }
            for next in block.successors() {
                if next == self.header {
                    return false;
                }
                if self.members.contains(&next) && seen.insert(next) {
                    rest.push(next);
                }
            }
        }
        true
    }

    /// The stores into a private variable in the loop.
    pub fn stored_into(&self, variable: Instruction<'m>) -> &[Instruction<'m>] {
        self.stores.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// The instructions of the loop on which its exits depend, through private variables and
    /// through the branches that choose what is stored in them.
    pub fn decides_exit(&self) -> Vec<Instruction<'m>> {
        self.decides_exit_through(|_| true)
    }

    /// As [`Self::decides_exit`], without what only those for which `through` is false depend on.
    pub fn decides_exit_through(
        &self,
        through: impl Fn(Instruction<'m>) -> bool,
    ) -> Vec<Instruction<'m>> {
        let mut rest: Vec<Value<'m>> = Vec::new();
        for &block in &self.blocks {
            if block
                .successors()
                .iter()
                .any(|next| !self.members.contains(next))
            {
                rest.extend(block.terminator().and_then(Instruction::branch_condition));
            }
        }
        self.slice_through(rest, through)
    }

    /// The instructions of the loop on which these values depend.
    pub fn slice(&self, rest: Vec<Value<'m>>) -> Vec<Instruction<'m>> {
        self.slice_through(rest, |_| true)
    }

    fn slice_through(
        &self,
        mut rest: Vec<Value<'m>>,
        through: impl Fn(Instruction<'m>) -> bool,
    ) -> Vec<Instruction<'m>> {
        let mut slice = Vec::new();
        let mut seen = HashSet::new();
        while let Some(value) = rest.pop() {
            let Some(instruction) = value.as_instruction() else {
                continue;
            };
            if !self.contains(instruction) || !seen.insert(instruction) {
                continue;
            }
            slice.push(instruction);
            if !through(instruction) {
                continue;
            }
            match instruction.opcode() {
                Opcode::LLVMLoad => match private_variable(instruction.operand(0)) {
                    Some(variable) => {
                        for store in self.stored_into(variable) {
                            rest.push(store.operand(0));
                            self.push_choice(store.block(), &mut rest);
                        }
                    }
                    None => rest.push(instruction.operand(0)),
                },
                Opcode::LLVMPHI => {
                    for (value, from) in instruction.incoming() {
                        rest.push(value);
                        if self.members.contains(&from) {
                            rest.extend(from.terminator().and_then(Instruction::branch_condition));
                            self.push_choice(from, &mut rest);
                        }
                    }
                }
                // What an OpenMP runtime call answers does not depend on who asks.
                Opcode::LLVMCall | Opcode::LLVMInvoke
                    if instruction
                        .as_call()
                        .is_some_and(|call| is_of_runtime(&call.callee_name())) => {}
                _ => rest.extend(instruction.operands()),
            }
        }
        slice
    }

    /// Adds the conditions of the branches that lead into a block.
    fn push_choice(&self, block: Block<'m>, rest: &mut Vec<Value<'m>>) {
        for &before in &self.blocks {
            if before.successors().contains(&block) {
                rest.extend(before.terminator().and_then(Instruction::branch_condition));
            }
        }
    }

    /// Whether a value is the same in every iteration, as far as this thread changes it. Memory
    /// that others can see counts as unchanged, and so does what a call with unchanged arguments
    /// returns: that is what a waiting loop waits for.
    pub fn is_invariant(&self, value: Value<'m>) -> bool {
        self.is_unchanging(value, &mut Vec::new(), &mut HashSet::new())
    }

    /// `open` holds the private variables whose content is being looked at: one that is computed
    /// from itself changes.
    fn is_unchanging(
        &self,
        value: Value<'m>,
        open: &mut Vec<Instruction<'m>>,
        known: &mut HashSet<Instruction<'m>>,
    ) -> bool {
        let Some(instruction) = value.as_instruction() else {
            return true;
        };
        if !self.contains(instruction) || known.contains(&instruction) {
            return true;
        }
        let parts: Vec<Value<'m>> = match instruction.opcode() {
            Opcode::LLVMPHI => return false,
            Opcode::LLVMLoad => match private_variable(instruction.operand(0)) {
                Some(variable) if open.contains(&variable) => return false,
                Some(variable) => {
                    open.push(variable);
                    let stores = self.stored_into(variable);
                    let unchanging = stores
                        .iter()
                        .all(|store| self.is_unchanging(store.operand(0), open, known));
                    open.pop();
                    if unchanging {
                        known.insert(instruction);
                    }
                    return unchanging;
                }
                None => vec![instruction.operand(0)],
            },
            _ => instruction.operands(),
        };
        let unchanging = parts
            .into_iter()
            .all(|part| self.is_unchanging(part, open, known));
        if unchanging {
            known.insert(instruction);
        }
        unchanging
    }

    /// Whether the loop counts: among `decides` is a variable whose new value is computed from its
    /// old one.
    pub fn counts(&self, decides: &[Instruction<'m>]) -> bool {
        decides
            .iter()
            .any(|&instruction| match instruction.opcode() {
                Opcode::LLVMPHI => instruction.incoming().into_iter().any(|(value, from)| {
                    self.members.contains(&from) && self.is_step(value, instruction)
                }),
                Opcode::LLVMLoad => {
                    private_variable(instruction.operand(0)).is_some_and(|variable| {
                        self.stored_into(variable).iter().any(|store| {
                            self.slice(vec![store.operand(0)]).into_iter().any(|part| {
                                is_arithmetic(part)
                                    && self.slice(part.operands()).into_iter().any(|old| {
                                        old.opcode() == Opcode::LLVMLoad
                                            && private_variable(old.operand(0)) == Some(variable)
                                    })
                            })
                        })
                    })
                }
                _ => false,
            })
    }

    fn is_step(&self, value: Value<'m>, phi: Instruction<'m>) -> bool {
        value
            .as_instruction()
            .is_some_and(|step| is_arithmetic(step) && self.slice(step.operands()).contains(&phi))
    }
}

fn is_arithmetic(instruction: Instruction<'_>) -> bool {
    matches!(
        instruction.opcode(),
        Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMLShr
            | Opcode::LLVMAShr
            | Opcode::LLVMUDiv
            | Opcode::LLVMSDiv
            | Opcode::LLVMFAdd
            | Opcode::LLVMFSub
            | Opcode::LLVMFMul
            | Opcode::LLVMFDiv
            | Opcode::LLVMGetElementPtr
    )
}

/// Whether two addresses are computed in the same way from the same variables.
pub fn is_same_address(a: Value<'_>, b: Value<'_>) -> bool {
    if a == b {
        return true;
    }
    let (Some(a), Some(b)) = (a.as_instruction(), b.as_instruction()) else {
        return false;
    };
    let comparable = matches!(
        a.opcode(),
        Opcode::LLVMLoad
            | Opcode::LLVMGetElementPtr
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
    );
    let (operands_a, operands_b) = (a.operands(), b.operands());
    comparable
        && a.opcode() == b.opcode()
        && operands_a.len() == operands_b.len()
        && operands_a
            .into_iter()
            .zip(operands_b)
            .all(|(a, b)| is_same_address(a, b))
}
