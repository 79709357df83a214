//! Code that is run from its beginning to its end, whatever the program computes.

use super::{Here, is_marker, is_note};
use crate::analysis::variables::{is_destination, is_harmless};
use crate::llvm::{Block, Call, Instruction, NaturalLoop, Opcode, Value};

/// Where it is followed, and what it has done.
pub struct Path<'m> {
    block: Block<'m>,
    /// The first instruction that has not been looked at.
    next: usize,
    /// What it has written into variables of the function: stores, and calls that copy one to another one.
    pub stores: Vec<Instruction<'m>>,
    /// These, and what it has computed that other blocks use, in its order.
    pub results: Vec<Instruction<'m>>,
    /// The calls on it that say what is called behind them.
    pub notes: Vec<Call<'m>>,
}

/// Where it stops.
pub enum Stop<'a, 'm> {
    /// In front of a call that marks something.
    Marker(Call<'m>),
    /// In front of a loop.
    Loop(&'a NaturalLoop<'m>),
    /// In front of the block that is waited for.
    Block,
    /// In front of something that it is not.
    Other(Instruction<'m>),
}

impl<'m> Path<'m> {
    /// From behind a call.
    pub fn behind(call: Call<'m>) -> Self {
        let at = call.instruction();
        match call.invoke_targets() {
            Some((normal, _)) => Self::from(normal),
            None => {
                let mut path = Self::from(at.block());
                let before = at.block().instructions().into_iter();
                path.next = before.take_while(|one| *one != at).count() + 1;
                path
            }
        }
    }

    /// From the beginning of a block.
    pub fn from(block: Block<'m>) -> Self {
        Self {
            block,
            next: 0,
            stores: Vec::new(),
            results: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The block that it has come to.
    pub fn block(&self) -> Block<'m> {
        self.block
    }

    fn store(&mut self, at: Instruction<'m>) {
        self.stores.push(at);
        self.results.push(at);
    }

    fn compute(&mut self, at: Instruction<'m>) {
        let is_elsewhere = |one: Instruction<'m>| one.block() != at.block();
        if at.opcode() != Opcode::LLVMAlloca && at.instruction_users().into_iter().any(is_elsewhere)
        {
            self.results.push(at);
        }
    }

    /// Goes on to where it stops, which is in front of a loop at the latest.
    pub fn follow<'a>(&mut self, here: &'a Here<'m>) -> Stop<'a, 'm> {
        self.until(here, None)
    }

    /// The same, or in front of a block.
    pub fn until<'a>(&mut self, here: &'a Here<'m>, wanted: Option<Block<'m>>) -> Stop<'a, 'm> {
        loop {
            let all = self.block.instructions();
            for &at in &all[self.next..] {
                if let Some(call) = at.as_call().filter(|&call| is_marker(call)) {
                    return Stop::Marker(call);
                }
                if let Some(call) = at.as_call().filter(|&call| is_note(call)) {
                    self.notes.push(call);
                    self.next += 1;
                    continue;
                }
                match at.opcode() {
                    Opcode::LLVMBr => {}
                    Opcode::LLVMStore if at.is_plain_access() => {
                        let Some(variable) = variable_of(at.operand(1)) else {
                            return Stop::Other(at);
                        };
                        if !is_destination(variable) {
                            self.store(at);
                        }
                    }
                    Opcode::LLVMLoad if at.is_plain_access() => self.compute(at),
                    _ if is_copy(at) => self.store(at),
                    _ if is_computation(at) => self.compute(at),
                    _ => return Stop::Other(at),
                }
                self.next += 1;
            }
            let end = self.block.terminator().expect("a block has an end");
            let [next] = self.block.successors()[..] else {
                return Stop::Other(end);
            };
            if wanted == Some(next) {
                return Stop::Block;
            }
            let into =
                |one: &&NaturalLoop<'m>| one.header == next && !one.blocks.contains(&self.block);
            if let Some(natural) = here.loops.iter().find(into) {
                return Stop::Loop(natural);
            }
            // What control comes to from elsewhere, too, need not be run once.
            if next.predecessors().len() != 1 {
                return Stop::Other(end);
            }
            (self.block, self.next) = (next, 0);
        }
    }
}

/// Whether an instruction has no effect but its result, or on what the compiler knows of variables.
pub fn is_computation(at: Instruction<'_>) -> bool {
    let is_variable = at.opcode() == Opcode::LLVMAlloca;
    is_variable || at.only_computes() || is_harmless(at)
}

/// Whether a call copies one variable to another one, or what is handed to the function by value.
pub fn is_copy(at: Instruction<'_>) -> bool {
    let Some(call) = at.as_call() else {
        return false;
    };
    let arguments = call.arguments();
    let is_variable = |at: usize| arguments[at].as_op(Opcode::LLVMAlloca).is_some();
    call.callee_name().starts_with("llvm.memcpy.")
        && arguments[2].as_constant_int().is_some()
        && arguments[3].as_constant_int() == Some(0)
        && is_variable(0)
        && (is_variable(1) || is_by_value(arguments[1]))
}

/// The variable of the function that an address leads into.
pub fn variable_of(mut address: Value<'_>) -> Option<Instruction<'_>> {
    while let Some(part) = address.as_op(Opcode::LLVMGetElementPtr) {
        address = part.operand(0);
    }
    address.as_op(Opcode::LLVMAlloca)
}

/// Whether an address is that of what is handed to a function by value.
pub fn is_by_value(address: Value<'_>) -> bool {
    let parameter = address.as_parameter();
    parameter.is_some_and(|(function, at)| function.has_parameter_attribute(at, "byval"))
}

/// The variable that is loaded, if that is all that a value is, but for its width.
pub fn loaded(value: Value<'_>) -> Option<Instruction<'_>> {
    let load = crate::recognise::counted::without_casts(value).as_op(Opcode::LLVMLoad)?;
    load.operand(0).as_op(Opcode::LLVMAlloca)
}
