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

/// What is divided by: how the host computes it, and whether that is a number with a sign.
#[derive(Clone, PartialEq)]
pub struct Divisor {
    by: Evaluated,
    signed: bool,
}

/// A division of a number of an iteration.
pub struct Divided<'d> {
    at: Instruction<'d>,
    by: Divisor,
}

/// Divisions in the code of a loop, whose iterations count from 0 on.
pub fn find<'d>(uniform: &Uniform<'d>, spans: &Code<'d>, site: Call<'d>) -> Vec<Divided<'d>> {
    let mut found = Vec::new();
    let blocks: HashSet<_> = spans.spans.iter().map(|span| span.block).collect();
    let all = uniform.code.function().instructions().into_iter();
    for at in all.filter(|one| blocks.contains(&one.block())) {
        let signed = match at.opcode() {
            Opcode::LLVMSDiv | Opcode::LLVMSRem => true,
            Opcode::LLVMUDiv | Opcode::LLVMURem => false,
            _ => continue,
        };
        let by = at.operand(1);
        let is_small = at.ty().bits().is_some_and(|bits| [32, 64].contains(&bits));
        if !is_small || by.is_constant() || !is_number(uniform, at.operand(0), site, 0) {
            continue;
        }
        if let Some(by) = uniform.evaluated(by) {
            let by = Divisor { by, signed };
            found.push(Divided { at, by });
        }
    }
    found
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
            uniform.evaluated(one.operand(1)).is_some() && of(one.operand(0))
        }
        Opcode::LLVMSub => {
            let (whole, product) = (one.operand(0), one.operand(1));
            let Some(product) = product.as_op(Opcode::LLVMMul) else {
                return false;
            };
            let is_rest = [0, 1].iter().any(|side| {
                let (quotient, by) = (product.operand(*side), product.operand(1 - side));
                quotient.as_instruction().is_some_and(|quotient| {
                    [Opcode::LLVMSDiv, Opcode::LLVMUDiv].contains(&quotient.opcode())
                        && quotient.operand(0) == whole
                        && is_same(uniform, quotient.operand(1), by)
                })
            });
            is_rest && of(whole)
        }
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
    [factor, bits]: [Value<'d>; 2],
) {
    for one in divided.iter().filter(|one| one.by == *by) {
        let at = one.at;
        let builder = Builder::before(device, at);
        let (short, long) = (device.int(32), device.int(64));
        let whole = builder.int_cast(at.operand(0), short);
        let next = builder.binary(
            Opcode::LLVMAdd,
            whole,
            builder.int_cast(device.const_i64(1), short),
        );
        let [next, factor] = [next, factor].map(|one| builder.int_cast(one, long));
        let product = builder.binary(Opcode::LLVMMul, next, factor);
        let high = builder.int_cast(builder.shift_right(product, 32), short);
        let quotient = builder.binary(Opcode::LLVMLShr, high, bits);
        let quotient = builder.int_cast(quotient, at.ty());
        let result = match at.opcode() {
            Opcode::LLVMSDiv | Opcode::LLVMUDiv => quotient,
            _ => {
                let whole = builder.binary(Opcode::LLVMMul, quotient, at.operand(1));
                builder.difference(at.operand(0), whole)
            }
        };
        at.replace_all_uses_with(result);
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

    /// The factor, and the number of bits, of 32 bits each. A number n is divided by d when n + 1 is multiplied by
    /// floor((2^k - 1) / d), and shifted by k bits, 32 of which are those of the product's lower half: k is 32, or 30 bits more
    /// than d - 1 has, whichever is more. By what is greater than all numbers it gives 0.
    pub fn factor_and_bits<'m>(
        &self,
        builder: &Builder<'m>,
        captures: &[Value<'m>],
    ) -> [Value<'m>; 2] {
        let module = builder.module();
        let short = module.int(32);
        let number = |number| module.const_i64(number);
        let by = self.emit(builder, captures);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        let is_greater = builder.ask(less, number(1 << 30), by);
        // Whoever does not run the kernel gets here, too.
        let is_some = builder.ask(less, number(0), by);
        let by = builder.select(is_greater, number(1), by);
        let by = builder.select(is_some, by, number(1));
        let free = builder.call_intrinsic(
            Intrinsic::named("llvm.ctlz"),
            &[module.int(64)],
            &[
                builder.plus(by, -1),
                builder.int_cast(number(0), module.int(1)),
            ],
        );
        // 64 - free are the bits of d - 1; of the 30 that numbers have 32 are there without a shift.
        let bits = builder.difference(number(62), free);
        let bits = builder.select(builder.ask(less, bits, number(0)), number(0), bits);
        let power = builder.binary(Opcode::LLVMShl, number(1 << 32), bits);
        let factor = builder.binary(Opcode::LLVMUDiv, builder.plus(power, -1), by);
        [(factor, number(0)), (bits, number(0))]
            .map(|(one, none)| builder.int_cast(builder.select(is_greater, none, one), short))
    }
}
