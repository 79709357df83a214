//! Reads at places that no section describes, but that can be computed, turn by turn, before a loop runs: by remainders, bit
//! masks and the like of the number of the turn.
//!
//! Guarantee: the function that is written for a read says, for each turn of the loop, where the read is in that turn, if it
//! is reached. It computes nothing but that, and cannot fail.

use std::collections::{HashMap, HashSet};

use super::{Expression, Nests, Scope, Term, WORD, intrinsic_name};
use crate::llvm::{Block, Builder, Function, Instruction, Linkage, Opcode, Value};

/// Longer computations are not worth their time.
const MOST_COMPUTED: usize = 64;

/// Values that the function of a read is handed.
const MOST_CAPTURED: usize = 12;

/// A read whose places can be computed.
pub struct Places<'m> {
    /// Its address.
    pub address: Value<'m>,
    /// How many turns the loop has.
    pub turns: Term<'m>,
    /// What the function is handed, besides the turn.
    pub captured: Vec<Term<'m>>,
}

/// How an address is computed in a turn of a loop.
#[derive(Default)]
struct Slice<'m> {
    /// Operands first.
    computed: Vec<Instruction<'m>>,
    /// Values that are the same in all turns.
    fixed: Vec<Value<'m>>,
    /// Those that grow from turn to turn: where they start, and the step.
    counted: Vec<(Value<'m>, Expression<'m>, Expression<'m>)>,
    seen: HashSet<Value<'m>>,
}

/// Whether an instruction can be carried out for any turn, also for one in which it is not reached.
fn is_harmless(at: Instruction<'_>) -> bool {
    use Opcode::*;
    match at.opcode() {
        LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr
        | LLVMXor | LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMICmp
        | LLVMSelect | LLVMFreeze | LLVMGetElementPtr => true,
        LLVMUDiv | LLVMURem | LLVMSDiv | LLVMSRem => {
            at.operand(1).as_constant_int().is_some_and(|by| by > 0)
        }
        LLVMCall => {
            let names = ["llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."];
            let name = intrinsic_name(at);
            names.iter().any(|one| name.starts_with(one))
        }
        _ => false,
    }
}

/// Whether it makes something of the turn's number that is in no proportion to it.
fn is_crooked(at: Instruction<'_>) -> bool {
    use Opcode::*;
    matches!(
        at.opcode(),
        LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMUDiv
            | LLVMURem
            | LLVMSDiv
            | LLVMSRem
            | LLVMSelect
            | LLVMCall
    )
}

fn is_word(value: Value<'_>) -> bool {
    value.ty().is_pointer() || value.ty().bits().is_some_and(|bits| bits <= WORD)
}

impl<'m> Nests<'m> {
    /// How a read, in `block`, of one element at `address` is to be computed in front of the loop of the scope; `None` where
    /// that is not known, or where it moves on evenly from turn to turn.
    pub fn places(
        &self,
        address: Value<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Option<Places<'m>> {
        let Scope::Loop(nest) = scope else {
            return None;
        };
        if self.loop_of(block) != Some(nest) {
            return None;
        }
        let slice = self.slice(address, nest)?;
        if !slice.computed.iter().any(|&one| is_crooked(one)) {
            return None;
        }
        let captured: Vec<_> = self.captured(&slice).collect();
        let turns = self.turn_count(nest)?;
        let is_usable = |&one: &Expression<'m>| self.is_usable(one, scope);
        if captured.len() > MOST_CAPTURED || !captured.iter().chain([&turns]).all(is_usable) {
            return None;
        }
        Some(Places {
            address,
            turns: self.term(turns),
            captured: captured.into_iter().map(|one| self.term(one)).collect(),
        })
    }

    /// How many turns a loop has, as is known in front of it.
    pub fn turns(&self, nest: usize) -> Option<Term<'m>> {
        let turns = self.turn_count(nest)?;
        let is_usable = self.is_usable(turns, Scope::Loop(nest));
        is_usable.then(|| self.term(turns))
    }

    fn turn_count(&self, nest: usize) -> Option<Expression<'m>> {
        Some(self.more(self.backedges(nest)?, 1))
    }

    /// What is handed over, as numbers of 64 bits or addresses.
    fn captured(&self, slice: &Slice<'m>) -> impl Iterator<Item = Expression<'m>> {
        let word = |one: Expression<'m>| match one.ty().is_pointer() {
            true => one,
            false => self.with_sign(one, WORD),
        };
        let fixed = slice.fixed.iter().map(|&one| self.expression(one));
        let counted = slice.counted.iter();
        let counted = counted.flat_map(|&(_, start, step)| [start, step]);
        fixed.chain(counted).map(word)
    }

    fn slice(&self, address: Value<'m>, nest: usize) -> Option<Slice<'m>> {
        let mut slice = Slice::default();
        self.compute_in_turn(address, nest, &mut slice)?;
        Some(slice)
    }

    fn compute_in_turn(&self, value: Value<'m>, nest: usize, slice: &mut Slice<'m>) -> Option<()> {
        if value.is_constant() || !slice.seen.insert(value) {
            return Some(());
        }
        if !is_word(value) {
            return None;
        }
        if self.is_outside(value, nest) {
            slice.fixed.push(value);
            return self.can_know(value).then_some(());
        }
        let at = value.as_instruction()?;
        if self.loop_of(at.block()) != Some(nest) {
            return None;
        }
        if at.opcode() == Opcode::LLVMPHI {
            let counted = self.can_know(value).then(|| self.expression(value))?;
            let counted = self.recurrence(counted).filter(|one| one.of == nest)?;
            slice.counted.push((value, counted.start, counted.step));
            return Some(());
        }
        if !is_harmless(at) || slice.computed.len() == MOST_COMPUTED {
            return None;
        }
        let operands = match at.as_call() {
            Some(call) => call.arguments(),
            None => value.operands(),
        };
        for operand in operands {
            self.compute_in_turn(operand, nest, slice)?;
        }
        slice.computed.push(at);
        Some(())
    }

    /// Writes the function that says where a read is in a turn.
    pub fn write_places(&self, address: Value<'m>) -> Function<'m> {
        let at = address.as_instruction();
        let nest = at.and_then(|at| self.loop_of(at.block()));
        let slice = nest.and_then(|nest| self.slice(address, nest));
        let slice = slice.expect("what is computed in a loop, as was found");
        let module = self.module;
        let word = module.int(WORD);
        let ty = module.function_type(word, &[word, module.pointer()]);
        let function = module.add_function("okl.places", ty, Linkage::LLVMInternalLinkage);
        let builder = Builder::at_end(module, function.append_block(module));
        let (turn, values) = (function.parameters()[0], function.parameters()[1]);
        let mut handed = 0;
        let mut next = || {
            handed += 8;
            builder.load(word, builder.offset(values, handed - 8))
        };
        let mut known: HashMap<Value<'m>, Value<'m>> = HashMap::new();
        for &value in &slice.fixed {
            known.insert(value, builder.value_of_bits(next(), value.ty()));
        }
        for &(value, ..) in &slice.counted {
            let (start, step) = (next(), next());
            let number = builder.sum(start, builder.multiply(turn, step));
            known.insert(value, builder.value_of_bits(number, value.ty()));
        }
        for &one in &slice.computed {
            let here = |operand| known.get(&operand).copied().unwrap_or(operand);
            let operands: Vec<_> = one.operands().into_iter().map(here).collect();
            known.insert(*one, builder.copy_of(one, &operands));
        }
        builder.ret(Some(builder.bits_of(known[&address], WORD)));
        function
    }
}
