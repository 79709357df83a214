//! Numbers of iterations that are divided by what is the same for all work items, as where loops were collapsed: the host
//! finds a factor, and work items multiply by it.
//!
//! Guarantee: numbers from 0 on below 2^30, by any number from 1 on, give what they give when they are divided.

use std::collections::HashSet;

use super::uniform::{Evaluated, Uniform};
use crate::analysis::runtime;
use crate::ir::Code;
use crate::llvm::{
    Builder, Call, Comparison, Instruction, IntPredicate, Intrinsic, Module, Opcode, Value,
};
use crate::lower::gpu::compile::declared;
use crate::lower::gpu::target::GpuTarget;

/// What is divided by: how the host computes it, and whether that is a number with a sign.
#[derive(Clone, PartialEq)]
pub struct Divisor {
    by: Evaluated,
    signed: bool,
}

/// A division of a number of an iteration, of which it is the quotient or what is left.
pub struct Divided<'d> {
    at: Instruction<'d>,
    by: Divisor,
    is_rest: bool,
}

/// What the host computes of a divisor.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// What is multiplied by.
    Factor,
    /// By how many bits the product is shifted.
    Shift,
    /// The number that times the quotient takes away what is divided, but for the rest.
    Negative,
}

/// Divisions in the code of a loop, whose iterations count from 0 on.
pub fn find<'d>(uniform: &Uniform<'d>, spans: &Code<'d>, site: Call<'d>) -> Vec<Divided<'d>> {
    let mut found = Vec::new();
    let blocks: HashSet<_> = spans.spans.iter().map(|span| span.block).collect();
    let all = uniform.code.function().instructions().into_iter();
    for at in all.filter(|one| blocks.contains(&one.block())) {
        let is_small = at.ty().bits().is_some_and(|bits| [32, 64].contains(&bits));
        let (division, is_rest) = match at.opcode() {
            Opcode::LLVMSDiv | Opcode::LLVMUDiv => (at, false),
            Opcode::LLVMSRem | Opcode::LLVMURem => (at, true),
            Opcode::LLVMSub => match taken_away(uniform, at) {
                Some(division) => (division, true),
                None => continue,
            },
            _ => continue,
        };
        let by = division.operand(1);
        if !is_small || by.is_constant() || !is_number(uniform, division.operand(0), site, 0) {
            continue;
        }
        let signed = [Opcode::LLVMSDiv, Opcode::LLVMSRem].contains(&division.opcode());
        if let Some(by) = uniform.evaluated(by) {
            let by = Divisor { by, signed };
            found.push(Divided { at, by, is_rest });
        }
    }
    found
}

/// Of a difference of a number and a multiple of what it is divided by: the division, where it is that often.
fn taken_away<'d>(uniform: &Uniform<'d>, at: Instruction<'d>) -> Option<Instruction<'d>> {
    let product = at.operand(1).as_op(Opcode::LLVMMul)?;
    [0, 1].iter().find_map(|side| {
        let (quotient, by) = (product.operand(*side), product.operand(1 - side));
        let quotient = quotient.as_instruction()?;
        let is_of_it = [Opcode::LLVMSDiv, Opcode::LLVMUDiv].contains(&quotient.opcode())
            && quotient.operand(0) == at.operand(0)
            && is_same(uniform, quotient.operand(1), by);
        is_of_it.then_some(quotient)
    })
}

/// Whether a value is the number of an iteration, or what is left of one when it is divided.
fn is_number<'d>(uniform: &Uniform<'d>, value: Value<'d>, site: Call<'d>, depth: u32) -> bool {
    let Some(one) = value.as_instruction().filter(|_| depth < 8) else {
        return false;
    };
    let of = |value: Value<'d>| is_number(uniform, value, site, depth + 1);
    match one.opcode() {
        Opcode::LLVMPHI => is_iterator(uniform, one, site),
        Opcode::LLVMSExt | Opcode::LLVMZExt => of(one.operand(0)),
        // No number has more than 30 bits.
        Opcode::LLVMTrunc => one.ty().bits() == Some(32) && of(one.operand(0)),
        Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem => {
            // The host asks whether others are numbers from 1 on.
            let by = one.operand(1);
            let is_positive = by.as_constant_int().is_none_or(|by| by > 0);
            is_positive && uniform.evaluated(by).is_some() && of(one.operand(0))
        }
        Opcode::LLVMSub => taken_away(uniform, one).is_some() && of(one.operand(0)),
        _ => false,
    }
}

fn is_same<'d>(uniform: &Uniform<'d>, one: Value<'d>, other: Value<'d>) -> bool {
    let both = || Some((uniform.evaluated(one)?, uniform.evaluated(other)?));
    one == other || both().is_some_and(|(one, other)| one == other)
}

/// Whether a phi counts from the first iteration of a share on.
fn is_iterator<'d>(uniform: &Uniform<'d>, phi: Instruction<'d>, site: Call<'d>) -> bool {
    let lower = runtime::argument(site, "lower");
    let code = &uniform.code;
    let begins = |value: Value<'d>| {
        let load = value.as_op(Opcode::LLVMLoad);
        // Of what the call writes, which stands in front of it.
        load.is_some_and(|load| {
            Some(load.operand(0)) == lower && code.is_before(site.instruction(), load)
        })
    };
    let goes_on = |value: Value<'d>| {
        let sum = value.as_op(Opcode::LLVMAdd);
        sum.is_some_and(|sum| sum.operand(0) == *phi && sum.operand(1).as_constant_int() == Some(1))
    };
    let is_header = code
        .loop_of(phi.block())
        .is_some_and(|of| code.loops()[of].header == phi.block());
    match &phi.incoming()[..] {
        [(one, _), (other, _)] => {
            is_header && (begins(*one) && goes_on(*other) || begins(*other) && goes_on(*one))
        }
        _ => false,
    }
}

/// What is divided by, each once.
pub fn divisors<'a>(divided: &'a [Divided<'_>]) -> Vec<&'a Divisor> {
    let mut all: Vec<&Divisor> = Vec::new();
    for one in divided {
        if !all.contains(&&one.by) {
            all.push(&one.by);
        }
    }
    all
}

/// Has work items multiply instead of dividing by this.
pub fn emit<'d>(
    device: &'d Module,
    divided: &[Divided<'d>],
    by: &Divisor,
    part: &mut dyn FnMut(Part) -> Value<'d>,
    target: &GpuTarget,
) {
    let its = || divided.iter().filter(|one| one.by == *by);
    let [factor, bits] = [Part::Factor, Part::Shift].map(&mut *part);
    let negative = its().any(|one| one.is_rest).then(|| part(Part::Negative));
    for one in its() {
        let at = one.at;
        let builder = Builder::before(device, at);
        let (short, long) = (device.int(32), device.int(64));
        let whole = builder.int_cast(at.operand(0), short);
        let next = builder.sum(whole, device.const_i32(1));
        let high = match target.high_product {
            Some(name) => {
                let ty = device.function_type(short, &[short; 2]);
                builder.call(declared(device, name, ty), &[next, factor])
            }
            None => {
                let [next, factor] = [next, factor].map(|one| builder.int_cast(one, long));
                let product = builder.binary(Opcode::LLVMMul, next, factor);
                builder.int_cast(builder.shift_right(product, 32), short)
            }
        };
        let quotient = builder.binary(Opcode::LLVMLShr, high, bits);
        let result = match negative.filter(|_| one.is_rest) {
            None => quotient,
            Some(negative) => {
                let away = builder.binary(Opcode::LLVMMul, quotient, negative);
                builder.sum(whole, away)
            }
        };
        at.replace_all_uses_with(builder.int_cast(result, at.ty()));
        at.erase();
    }
}

impl Divisor {
    /// Of 64 bits, on the host.
    fn emit<'m>(&self, builder: &Builder<'m>, captures: &[Value<'m>]) -> Value<'m> {
        let by = self.by.emit(builder, captures);
        let long = builder.module().int(64);
        match (by.ty() == long, self.signed) {
            (true, _) => by,
            (_, true) => builder.cast(Opcode::LLVMSExt, by, long),
            (_, false) => builder.cast(Opcode::LLVMZExt, by, long),
        }
    }

    /// Whether it is one that there is a factor for.
    pub fn is_good<'m>(&self, builder: &Builder<'m>, captures: &[Value<'m>]) -> Value<'m> {
        let by = self.emit(builder, captures);
        let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
        builder.ask(more, by, builder.module().const_i64(0))
    }

    /// A part of it, of 32 bits. A number n is divided by d when n + 1 is multiplied by floor((2^k - 1) / d), and shifted by k
    /// bits, 32 of which are those of the product's lower half: k is 32, or 30 bits more than d - 1 has, whichever is more. By
    /// what is greater than all numbers it gives 0.
    pub fn part<'m>(&self, part: Part, builder: &Builder<'m>, captures: &[Value<'m>]) -> Value<'m> {
        let module = builder.module();
        let short = module.int(32);
        let number = |number| module.const_i64(number);
        let by = self.emit(builder, captures);
        if part == Part::Negative {
            return builder.int_cast(builder.difference(number(0), by), short);
        }
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        let is_greater = builder.ask(less, number(1 << 30), by);
        let by = builder.select(is_greater, number(1), by);
        let below = builder.plus(by, -1);
        let is_zero_known = builder.int_cast(number(0), module.int(1));
        let ctlz = Intrinsic::named("llvm.ctlz");
        let free = builder.call_intrinsic(ctlz, &[module.int(64)], &[below, is_zero_known]);
        // 64 - free are the bits of d - 1; of the 30 that numbers have 32 are there without a shift.
        let bits = builder.difference(number(62), free);
        let bits = builder.select(builder.ask(less, bits, number(0)), number(0), bits);
        let power = builder.binary(Opcode::LLVMShl, number(1 << 32), bits);
        let result = match part {
            Part::Shift => bits,
            _ => builder.binary(Opcode::LLVMUDiv, builder.plus(power, -1), by),
        };
        builder.int_cast(builder.select(is_greater, number(0), result), short)
    }
}
