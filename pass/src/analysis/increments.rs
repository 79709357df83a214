//! Whether a kernel does to what elements have in common only what its results can be put together from.
//!
//! Guarantee: of what [`only_adds`] says yes to, each component in the end is what it was and something that does not
//! depend on what it was; so what is added to zero can be added later.

use std::collections::HashMap;

use super::access::Uses;
use super::kernel::{Kernel, Memory, Object, Root};
use super::updates::added_to;
use crate::llvm::{Instruction, Intrinsic, Opcode, Type, Value};

/// Whether all that a kernel does to an argument is to add to it. `done` is what it does by its pointers to that, in as
/// many forms as there are of the kernel.
pub fn only_adds(kernel: &Kernel<'_, '_>, at: usize, done: &[&Uses]) -> bool {
    done.iter().any(|done| done.only_increments()) || keeps_sums(kernel, at)
}

/// Whether a kernel that does this to an argument may be one that replaces it by the smaller or the larger of it and
/// another value. It is none if it assigns without a look.
pub fn may_compare(done: &Uses) -> bool {
    done.reads || !done.writes
}

/// The same as [`only_adds`] of values that are kept for a while before they come back.
fn keeps_sums(kernel: &Kernel<'_, '_>, at: usize) -> bool {
    let mut sums = Sums {
        kernel,
        at,
        of: HashMap::new(),
    };
    let order = kernel.order();
    let mut all = order.iter().flat_map(|block| block.instructions());
    // What comes together is the same sum on every way, or none.
    let is_one = |phi: Instruction<'_>, sums: &Sums<'_, '_>| {
        let of = sums.of.get(&*phi);
        phi.incoming().iter().all(|(one, _)| sums.of.get(one) == of)
    };
    all.all(|one| sums.follow(one))
        && order
            .iter()
            .flat_map(|block| block.phis())
            .all(|phi| is_one(phi, &sums))
}

/// A component of an argument: the object that it is in, and the byte.
type Component<'m> = (Object<'m>, i64);

/// Values that are what an argument was before, and what was added to it.
struct Sums<'a, 'm> {
    kernel: &'a Kernel<'a, 'm>,
    /// The argument.
    at: usize,
    /// What each is a sum of.
    of: HashMap<Value<'m>, Component<'m>>,
}

impl<'m> Sums<'_, 'm> {
    /// Where in the argument an address is, or nothing where it is in none of it. `Err` where it may be in it and its
    /// place is not known.
    fn shared(&self, pointer: Value<'m>) -> Result<Option<Component<'m>>, ()> {
        if let Some(place) = self.kernel.place(pointer) {
            let is_own = matches!(place.0, Object::Element(at, _) if at == self.at);
            return Ok(is_own.then_some(place));
        }
        match self.kernel.root(pointer) {
            Root::Unknown => Err(()),
            Root::Parameter(at) if at == self.at => Err(()),
            _ => Ok(None),
        }
    }

    /// Whether an instruction only adds.
    fn follow(&mut self, instruction: Instruction<'m>) -> bool {
        let value = *instruction;
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                return match self.shared(instruction.operand(0)) {
                    Ok(Some(place)) => {
                        self.of.insert(value, place);
                        true
                    }
                    Ok(None) => true,
                    Err(()) => value.ty().is_pointer(),
                };
            }
            Opcode::LLVMStore => match self.shared(instruction.operand(1)) {
                Ok(None) => {}
                Ok(place) => return self.of.get(&instruction.operand(0)).copied() == place,
                Err(()) => return false,
            },
            _ => {}
        }
        if let Some(call) = instruction.as_call() {
            let intrinsic = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
            let pointers: Vec<_> = match Memory::of(&intrinsic) {
                Some(Memory::Copies) => call.arguments()[..2].to_vec(),
                Some(Memory::Fills) => call.arguments()[..1].to_vec(),
                None if intrinsic.starts_with("llvm.lifetime.") => Vec::new(),
                None => call.arguments(),
            };
            let mut pointers = pointers.into_iter().filter(|one| one.ty().is_pointer());
            if pointers.any(|one| self.shared(one) != Ok(None)) {
                return false;
            }
        }
        let operands = instruction.operands();
        let used = operands.iter().filter_map(|one| self.of.get(one).copied());
        let used: Vec<_> = used.collect();
        let Some(&first) = used.first() else {
            return true;
        };
        let is_sum = |at: &usize| self.of.contains_key(&operands[*at]);
        let is_first = |at: usize| self.of.get(&operands[at]) == Some(&first);
        let is_right = match instruction.opcode() {
            // A sum in another type, as where a double is added to a float.
            Opcode::LLVMFPExt | Opcode::LLVMSExt | Opcode::LLVMZExt => true,
            // Where as many bits are left as the argument has, what is lost is lost again with the next sum.
            Opcode::LLVMFPTrunc | Opcode::LLVMTrunc => {
                let bits = |ty: Type<'m>| match ty.bits() {
                    Some(bits) => u64::from(bits),
                    None => self.kernel.module.store_size_of(ty) * 8,
                };
                let of = self.kernel.type_of(first.0);
                of.is_some_and(|of| bits(value.ty()) >= bits(of))
            }
            Opcode::LLVMSelect => is_first(1) && is_first(2),
            // What comes from the end of a loop is known later.
            Opcode::LLVMPHI => true,
            _ => used.len() == 1 && added_to(instruction).iter().any(is_sum),
        };
        self.of.insert(value, first);
        is_right
    }
}
