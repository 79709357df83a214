//! A copy of a body that computes its indices in 64 bits, as LLVM does not see through sums of 32 bits that are extended.
//!
//! Guarantee: where the body accesses memory at all the copy accesses the same; and control flow is the same.

use crate::llvm::{Block, Builder, Function, Instruction, Module, Opcode, Value};

/// So deep expressions are looked at.
const DEEPEST: u32 = 12;

/// A copy, for looking at.
pub(super) struct Copy<'d> {
    pub body: Function<'d>,
    original: Function<'d>,
    code: Vec<Instruction<'d>>,
}

impl<'d> Copy<'d> {
    /// Of a body.
    pub(super) fn of(module: &'d Module, original: Function<'d>) -> Self {
        let body = original.copy();
        let code = body.instructions();
        for one in &code {
            let signed = match one.opcode() {
                Opcode::LLVMSExt => true,
                Opcode::LLVMZExt => one.says_not_negative(),
                _ => continue,
            };
            if one.ty().bits() != Some(64) {
                continue;
            }
            let from = one.operand(0);
            if let Some(wide) = widened(module, *one, from, signed, 0) {
                one.replace_all_uses_with(wide);
            }
        }
        Self {
            body,
            original,
            code,
        }
    }

    /// What stands there for an instruction of the body.
    pub(super) fn copied(&self, one: Instruction<'d>) -> Option<Instruction<'d>> {
        let all = self.original.instructions();
        let at = all.iter().position(|other| *other == one)?;
        self.code.get(at).copied()
    }

    /// The instruction that one of its own stands for.
    pub(super) fn original(&self, one: Instruction<'d>) -> Option<Instruction<'d>> {
        let at = self.code.iter().position(|other| *other == one)?;
        self.original.instructions().get(at).copied()
    }

    /// The block that one of its own stands for.
    pub(super) fn original_block(&self, block: Block<'d>) -> Option<Block<'d>> {
        let at = self.body.blocks().iter().position(|one| *one == block)?;
        self.original.blocks().get(at).copied()
    }

    /// Takes it away.
    pub(super) fn erase(self) {
        self.body.erase();
    }
}

/// A number of 64 bits in front of an instruction, if it is a sum or product that does not overflow; with a sign.
fn widened<'d>(
    module: &'d Module,
    at: Instruction<'d>,
    value: Value<'d>,
    signed: bool,
    depth: u32,
) -> Option<Value<'d>> {
    let one = value.as_instruction()?;
    let long = module.int(64);
    let builder = Builder::before(module, at);
    let opcode = match one.opcode() {
        Opcode::LLVMOr if one.is_sum() => Opcode::LLVMAdd,
        Opcode::LLVMShl if one.operand(1).is_constant() && one.keeps_number(signed) => {
            Opcode::LLVMShl
        }
        Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul if one.keeps_number(signed) => {
            one.opcode()
        }
        _ => return None,
    };
    let of = |value: Value<'d>| {
        let inner = (depth < DEEPEST).then(|| widened(module, at, value, signed, depth + 1));
        inner.flatten().unwrap_or_else(|| {
            let extends = match signed {
                true => Opcode::LLVMSExt,
                false => Opcode::LLVMZExt,
            };
            builder.cast(extends, value, long)
        })
    };
    let [a, b] = [of(one.operand(0)), of(one.operand(1))];
    let wide = builder.binary(opcode, a, b);
    if let Some(wide) = wide.as_instruction()
        && wide.opcode() != Opcode::LLVMShl
        && signed
    {
        wide.promise_no_wrap(true);
    }
    Some(wide)
}
