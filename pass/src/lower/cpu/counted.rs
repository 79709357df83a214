//! How often loops of a kernel run, computed in front of them.
//!
//! Guarantee: that is what each of them finds out itself, where what it is computed from is the same there: which who asks
//! looks at before.

use std::collections::{HashMap, HashSet};

use crate::ir::Counter;
use crate::llvm::{Asks, Block, Builder, Instruction, Module, Opcode, Value};

/// What a loop counts with.
pub(in crate::lower) fn variable<'m>(counter: &Counter<'m>) -> Instruction<'m> {
    let variable = counter.begins.operand(1).as_op(Opcode::LLVMAlloca);
    variable.expect("a loop counts with a stack variable")
}

/// Whether a loop compares its whole iterator, perhaps made wider.
pub(in crate::lower) fn compares_whole(counter: &Counter<'_>) -> bool {
    let compared = match counter.counting.compared.as_instruction() {
        Some(cast) if matches!(cast.opcode(), Opcode::LLVMSExt | Opcode::LLVMZExt) => {
            cast.operand(0)
        }
        _ => counter.counting.compared,
    };
    let load = compared.as_op(Opcode::LLVMLoad);
    load.is_some_and(|load| load.operand(0) == *variable(counter))
}

/// What is computed of a loop in front of it, as integers of 64 bits.
pub(in crate::lower) struct Counted<'m> {
    pub(in crate::lower) variable: Instruction<'m>,
    pub(in crate::lower) first: Value<'m>,
    pub(in crate::lower) step: Value<'m>,
    pub(in crate::lower) count: Value<'m>,
    /// Whether it counts within 32 bits.
    pub(in crate::lower) is_narrow: bool,
}

/// Code of the loops that is computed in front of them.
pub(in crate::lower) struct Copies<'m> {
    pub(in crate::lower) builder: Builder<'m>,
    known: HashSet<Block<'m>>,
    copies: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Copies<'m> {
    /// In front of an instruction; of the code of these blocks.
    pub(in crate::lower) fn before(
        module: &'m Module,
        at: Instruction<'m>,
        known: HashSet<Block<'m>>,
    ) -> Self {
        Self {
            builder: Builder::before(module, at),
            known,
            copies: HashMap::new(),
        }
    }

    /// A value as it is there.
    pub(in crate::lower) fn value(&mut self, value: Value<'m>) -> Value<'m> {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| self.known.contains(&one.block())) else {
            return value;
        };
        if let Some(&copy) = self.copies.get(&value) {
            return copy;
        }
        let operands: Vec<_> = one
            .operands()
            .into_iter()
            .map(|one| self.value(one))
            .collect();
        let copy = self.builder.copy_of(one, &operands);
        self.copies.insert(value, copy);
        copy
    }

    /// How often a loop runs, exactly as it would find out itself.
    pub(in crate::lower) fn counted(
        &mut self,
        module: &'m Module,
        counter: &Counter<'m>,
    ) -> Counted<'m> {
        let counting = &counter.counting;
        let long = module.int(64);
        let first = self.value(counter.begins.operand(0));
        let end = self.value(counting.end);
        let narrow = first.ty();
        let step = match counting.step.as_constant_int() {
            Some(by) => {
                let bits = narrow.bits().expect("an integer");
                let mask = u64::MAX >> (64 - bits);
                module.const_i64(((by.unsigned_abs() & mask) as i64).max(1))
            }
            None => {
                let by = self.value(counting.step);
                let builder = &self.builder;
                let by = builder.int_cast(builder.int_cast(by, narrow), long);
                // A step of 0 has no meaning, and is to do no harm here.
                let is_zero = builder.compare(by, module.const_i64(0), false);
                builder.select(is_zero, module.const_i64(1), by)
            }
        };
        let builder = &self.builder;
        let compared = match counting.compared.as_instruction() {
            Some(cast) if cast.opcode() != Opcode::LLVMLoad => {
                builder.cast(cast.opcode(), first, end.ty())
            }
            _ => first,
        };
        let asks = Asks {
            is_up: counting.is_up,
            is_last: counting.is_last,
            signed: counting.signed,
        };
        let [_, count] = builder.iterations(asks, compared, end, step);
        let widths = [narrow, end.ty()].map(|ty| ty.bits().expect("an integer"));
        Counted {
            is_narrow: widths.iter().all(|&bits| bits <= 32),
            variable: variable(counter),
            first: match counting.signed {
                true => builder.cast(Opcode::LLVMSExt, first, long),
                false => builder.int_cast(first, long),
            },
            step,
            count,
        }
    }
}
