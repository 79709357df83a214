//! The code that threads are to run, and what keeps it from being a function of its own.

use std::collections::HashSet;

use super::{Why, not};
use crate::analysis::leaving::Leaving;
use crate::analysis::variables::{Does, is_harmless, is_of_exception, uses, uses_of_parameter};
use crate::ir::Counter;
use crate::llvm::{Block, Function, Instruction, Module, Opcode, Value};
use crate::lower::cpu::exceptions::PERSONALITY;

/// The code that threads run: a loop, and what is reached from it before the program ends.
pub struct Area<'m> {
    /// The function that it is in.
    pub kernel: Function<'m>,
    /// Where it begins.
    pub header: Block<'m>,
    /// Where control goes in the end.
    pub exit: Block<'m>,
    /// All of it.
    pub blocks: Vec<Block<'m>>,
    /// Those that other code goes to, too: they end the program for an exception.
    others: Vec<Block<'m>>,
    /// As `blocks`.
    pub known: HashSet<Block<'m>>,
}

/// A stack variable that the code uses, and what it is to it.
pub struct Variable<'m> {
    /// The variable.
    pub variable: Instruction<'m>,
    /// What it is.
    pub is: Is,
}

/// Whose a variable is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Is {
    /// Nobody else uses it.
    Own,
    /// The compiler's own, in which nothing goes in or comes out.
    Slot,
    /// The code does not change it.
    Others,
    /// All threads have it, and may change it.
    Shared,
}

impl<'m> Area<'m> {
    /// The code of a loop.
    pub fn of(counter: &Counter<'m>) -> Self {
        Self::of_loop(counter.decides.block(), counter.exit)
    }

    /// The code of a loop that begins with a block, and goes on at another one in the end.
    pub fn of_loop(header: Block<'m>, exit: Block<'m>) -> Self {
        let kernel = header.function();
        let loops = kernel.loops().into_iter();
        let mut its = loops.filter(|one| one.header == header);
        let mut blocks = its.next().expect("it is a loop").blocks;
        let Leaving { own, others } = Leaving::of(&blocks, header, exit);
        blocks.extend(own);
        let known = blocks.iter().copied().collect();
        Self {
            kernel,
            header,
            exit,
            blocks,
            others,
            known,
        }
    }

    /// Whether an instruction is a part of it.
    pub fn has(&self, one: Instruction<'m>) -> bool {
        self.known.contains(&one.block())
    }

    fn instructions(&self) -> impl Iterator<Item = Instruction<'m>> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }

    /// Checks that a value of the code is the same in front of it. `is_strict`: computing it must do no harm either.
    pub fn can_compute(&self, value: Value<'m>, is_strict: bool) -> Result<(), Why> {
        let Some(one) = value.as_instruction().filter(|one| self.has(*one)) else {
            return Ok(());
        };
        if !one.only_computes() {
            return not("what it counts is computed with a condition or by a function");
        }
        if let Some(address) = one.address() {
            let variable = address.as_op(Opcode::LLVMAlloca);
            let changes = |user: &Instruction<'m>| {
                user.opcode() == Opcode::LLVMStore && user.operand(1) == address && self.has(*user)
            };
            if variable.is_some_and(|one| one.instruction_users().iter().any(changes)) {
                return not("what it counts changes while it runs");
            }
            let of_object = variable.is_none().then(|| field_of(address)).flatten();
            if let Some(object) = of_object {
                let changes =
                    |(user, does): &(Instruction<'m>, Does)| *does != Does::Read && self.has(*user);
                if uses(object).iter().any(changes) {
                    return not("what it counts changes while it runs");
                }
            }
            if variable.is_none() && of_object.is_none() && is_strict {
                return not("what it counts is not in a variable of the kernel");
            }
        }
        let divides = matches!(
            one.opcode(),
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem
        );
        if divides && is_strict {
            let by = one.operand(1).as_constant_int();
            if by.is_none_or(|by| by == 0 || by == -1) {
                return not("what it counts is divided by what may be 0");
            }
        }
        let mut operands = one.operands().into_iter();
        operands.try_for_each(|operand| self.can_compute(operand, is_strict))
    }

    /// Checks that it can be a function that threads run.
    pub fn check(&self) -> Result<(), Why> {
        self.can_be_function()?;
        for one in self.instructions() {
            for operand in one.operands() {
                let from = operand.as_instruction().filter(|from| !self.has(*from));
                let crosses = from.is_some() || operand.as_parameter().is_some();
                let ty = operand.ty();
                if crosses && !ty.is_pointer() && ty.bits() != Some(64) {
                    return not("it uses a value from in front of it that is in no variable");
                }
            }
        }
        // A large object that the kernel was handed is a variable of it.
        for (at, parameter) in self.kernel.parameters().into_iter().enumerate() {
            let changes =
                |(one, does): &(Instruction<'m>, Does)| *does != Does::Read && self.has(*one);
            let is_object = self.kernel.has_parameter_attribute(at, "byval");
            if is_object && uses_of_parameter(parameter).iter().any(changes) {
                return not("it may change a parameter of the kernel");
            }
        }
        self.variables().map(|_| ())
    }

    /// Checks that it, or a part of it, can be a function at all.
    pub fn can_be_function(&self) -> Result<(), Why> {
        for block in &self.blocks {
            let mut users = block.label().users().into_iter();
            if users.any(|user| user.as_instruction().is_none()) {
                return not("the address of a label in it is taken");
            }
            for next in block.successors() {
                if self.others.contains(&next) {
                    only_fails(next)?;
                }
            }
        }
        let has_pads = self.instructions().any(|one| {
            one.opcode() == Opcode::LLVMLandingPad || one.may_throw() && one.as_call().is_some()
        });
        let personality = self.kernel.personality();
        if has_pads && personality.is_some_and(|one| one.name() != PERSONALITY) {
            return not("its exceptions are not those of C++");
        }
        for one in self.instructions() {
            use Opcode::*;
            let name = one
                .as_call()
                .map(|call| call.callee_name())
                .unwrap_or_default();
            let stays = ["llvm.eh.", "llvm.va_start", "llvm.localescape"];
            match one.opcode() {
                LLVMCatchSwitch | LLVMCatchPad | LLVMCleanupPad | LLVMIndirectBr | LLVMCallBr
                | LLVMVAArg => return not("it has code that belongs to its function"),
                _ if name.starts_with("llvm.eh.typeid") => {
                    return not("it catches exceptions of a type");
                }
                _ if stays.iter().any(|one| name.starts_with(one)) => {
                    return not("it has code that belongs to its function");
                }
                _ if one.as_call().is_some_and(|call| call.is_must_tail()) => {
                    return not("it has code that belongs to its function");
                }
                _ => {}
            }
            let is_outside = |user: Instruction<'m>| !self.has(user);
            if one.instruction_users().into_iter().any(is_outside) {
                return not("a value that it computes is used behind it");
            }
        }
        Ok(())
    }

    /// The stack variables that it uses, of those that functions have from their beginning.
    fn used(&self) -> impl Iterator<Item = Instruction<'m>> {
        let entry = self.kernel.blocks()[0].instructions().into_iter();
        entry.filter(|one| {
            let users = one.instruction_users().into_iter();
            let mut users = users.filter(|user| self.has(*user) && !is_harmless(*user));
            one.opcode() == Opcode::LLVMAlloca
                && one.operand(0).as_constant_int().is_some()
                && users.next().is_some()
        })
    }

    /// The same of code that is written for threads, where these are each thread's own; others are shared.
    pub fn variables_of(&self, own: &[Instruction<'m>]) -> Vec<Variable<'m>> {
        let used = self.used();
        let all = used.map(|variable| Variable {
            variable,
            is: match own.contains(&variable) {
                true => Is::Own,
                false if self.writes(variable) => Is::Shared,
                false => Is::Others,
            },
        });
        all.collect()
    }

    /// Whose the stack variables are that it uses.
    pub fn variables(&self) -> Result<Vec<Variable<'m>>, Why> {
        let mut found = Vec::new();
        for variable in self.used() {
            let users = variable.instruction_users();
            let is_outside = |user: &Instruction<'m>| {
                let begins = user.opcode() == Opcode::LLVMStore && self.begins(*user, variable);
                !self.has(*user) && !is_harmless(*user) && !begins
            };
            let is = match users.iter().any(is_outside) {
                false => Is::Own,
                true if !self.writes(variable) => Is::Others,
                true if is_slot(variable) && !self.goes_on_with(variable) => Is::Slot,
                true => return not("it changes a variable from outside of it"),
            };
            found.push(Variable { variable, is });
        }
        Ok(found)
    }

    /// Whether a store gives the iterator of the loop its first value.
    fn begins(&self, store: Instruction<'m>, variable: Instruction<'m>) -> bool {
        let is_asked = self
            .header
            .instructions()
            .into_iter()
            .any(|one| one.opcode() == Opcode::LLVMLoad && one.operand(0) == *variable);
        is_asked
            && store.operand(1) == *variable
            && store.block().successors() == [self.header]
            && self.steps(variable)
    }

    /// Whether the loop counts with a variable.
    fn steps(&self, variable: Instruction<'m>) -> bool {
        let mut users = variable.instruction_users().into_iter();
        users.any(|user| {
            user.opcode() == Opcode::LLVMStore
                && user.operand(1) == *variable
                && user.block().successors() == [self.header]
                && self.has(user)
        })
    }

    /// Whether the loop itself writes a variable; what is destroyed for an exception may be another's.
    fn writes(&self, variable: Instruction<'m>) -> bool {
        let uses = uses(variable).into_iter();
        let mut writes = uses.filter(|(one, does)| *does != Does::Read && self.has(*one));
        writes.any(|(one, does)| does == Does::Write || !self.is_end(one.block()))
    }

    /// Whether the program does not go on behind a block.
    fn is_end(&self, block: Block<'m>) -> bool {
        let mut rest = vec![block];
        let mut seen = HashSet::from([block]);
        while let Some(block) = rest.pop() {
            if block == self.header {
                return false;
            }
            rest.extend(
                block
                    .successors()
                    .into_iter()
                    .filter(|next| seen.insert(*next)),
            );
        }
        true
    }

    /// Whether the value that a variable has in front of the loop, or behind it, may be used on the other side.
    fn goes_on_with(&self, variable: Instruction<'m>) -> bool {
        is_read_from(variable, self.header) || is_read_from(variable, self.exit)
    }

    /// Bytes of the variables that each thread has.
    pub fn own_bytes(&self, module: &Module) -> Result<u64, Why> {
        let variables = self.variables()?.into_iter();
        let own = variables.filter(|one| one.is != Is::Others);
        let bytes = own.filter_map(|one| {
            let count = one.variable.operand(0).as_constant_int()?;
            let size = module.size_of(one.variable.allocated_type()?);
            Some(size.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX)))
        });
        Ok(bytes.fold(0, u64::saturating_add))
    }
}

/// The stack variable that an address is that of a part of, at a constant place.
fn field_of(address: Value<'_>) -> Option<Instruction<'_>> {
    let part = address.as_op(Opcode::LLVMGetElementPtr)?;
    let mut places = part.operands().into_iter().skip(1);
    let is_constant = places.all(|place| place.as_constant_int().is_some());
    let object = part.operand(0);
    match object.as_op(Opcode::LLVMAlloca) {
        _ if !is_constant => None,
        Some(variable) => Some(variable),
        None => field_of(object),
    }
}

/// Whether a variable is read on a way from a block on which it is not written before.
pub fn is_read_from<'m>(variable: Instruction<'m>, from: Block<'m>) -> bool {
    let mut rest = vec![from];
    let mut seen = HashSet::from([from]);
    while let Some(block) = rest.pop() {
        let instructions = block.instructions().into_iter();
        let mut uses = instructions.filter(|one| one.operands().contains(&variable));
        match uses.find(|one| !is_harmless(*one)).map(Instruction::opcode) {
            Some(Opcode::LLVMStore) => {}
            Some(_) => return true,
            None => {
                let next = block.successors().into_iter();
                rest.extend(next.filter(|next| seen.insert(*next)));
            }
        }
    }
    false
}

/// Whether a variable is the compiler's own: where a scope goes on, or the exception for which it is left.
pub fn is_slot(variable: Instruction<'_>) -> bool {
    let mut users = variable.instruction_users().into_iter();
    let is_number = |user: Instruction<'_>| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0).as_constant_int().is_some(),
        _ => is_harmless(user),
    };
    is_of_exception(variable) || users.all(is_number)
}

/// Checks that a block that others come to, too, does nothing but leave the function by an exception.
fn only_fails(block: Block<'_>) -> Result<(), Why> {
    if block.phis().next().is_some() {
        return not("it is left with a value");
    }
    if is_pad(block) {
        return Ok(());
    }
    let mut rest = vec![block];
    let mut seen = HashSet::from([block]);
    while let Some(block) = rest.pop() {
        let end = block.terminator().map(Instruction::opcode);
        let next = block.successors();
        if next.is_empty() && end != Some(Opcode::LLVMResume) {
            return not("it is left by a jump");
        }
        let unwinds = |next: &Block<'_>| is_pad(*next);
        rest.extend(
            next.into_iter()
                .filter(|next| !unwinds(next) && seen.insert(*next)),
        );
    }
    Ok(())
}

/// Whether exceptions come to a block.
pub fn is_pad(block: Block<'_>) -> bool {
    let first = block
        .first_insertion_point()
        .and_then(Instruction::previous);
    first.is_some_and(|one| one.opcode() == Opcode::LLVMLandingPad)
}
