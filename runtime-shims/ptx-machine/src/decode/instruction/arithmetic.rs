//! Instructions that compute: of numbers, bits and comparisons.

use super::{NONE, Operands};
use crate::decode::words::Words;
use crate::decode::{Decoder, Result, wrong};
use crate::parse;
use crate::program::{
    Class, Combination, Comparison, FloatClass, Floating, Operand, Register, What, Whole1, Whole2,
    Whole3,
};
use crate::types::{Kind, Type};

impl Decoder<'_> {
    pub(super) fn sum(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let gives = words.has("cc");
        let takes = name.ends_with('c');
        let subtracts = name.starts_with("sub");
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if of.is_float() {
            let op = if subtracts {
                Floating::Sub
            } else {
                Floating::Add
            };
            return self.floating(op, of, mode, 2, operands);
        }
        if gives || takes {
            let carry = self.carry();
            let to = self.to(operands)?.0;
            let (a, b) = (self.value(operands, of)?, self.value(operands, of)?);
            let bits = of.width();
            return Ok((
                Class::Integer,
                What::Carry {
                    subtracts,
                    bits,
                    takes,
                    gives,
                    carry,
                    to,
                    a,
                    b,
                    product: None,
                },
            ));
        }
        if mode.saturates && !(of.is_signed() && of.width() == 32) {
            return words.unknown();
        }
        let op = if subtracts { Whole2::Sub } else { Whole2::Add };
        self.whole2(op, of, mode.saturates, operands)
    }

    pub(super) fn carry(&mut self) -> Register {
        let carry = self.carry.unwrap_or(self.registers);
        if self.carry.is_none() {
            self.registers += 1;
            self.carry = Some(carry);
        }
        carry
    }

    pub(super) fn product(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let is_24 = name == "mul24";
        let (high, wide, low) = (words.has("hi"), words.has("wide"), words.has("lo"));
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if of.is_float() {
            return self.floating(Floating::Mul, of, mode, 2, operands);
        }
        if wide && of.width() > 32 {
            return words.unknown();
        }
        let op = match (is_24, high, wide, low) {
            (true, true, false, false) => Whole2::Mul24High,
            (true, false, false, true) => Whole2::Mul24Low,
            (false, true, false, false) => Whole2::MulHigh,
            (false, false, true, false) => Whole2::MulWide,
            (false, false, false, true) => Whole2::MulLow,
            _ => return words.unknown(),
        };
        self.whole2(op, of, false, operands)
    }

    pub(super) fn product_and_sum(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (high, wide, low) = (words.has("hi"), words.has("wide"), words.has("lo"));
        let gives = words.has("cc");
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if of.is_float() {
            return self.floating(Floating::Fma, of, mode, 3, operands);
        }
        if name == "fma" || mode.saturates {
            return words.unknown();
        }
        if wide && of.width() > 32 {
            return words.unknown();
        }
        let to = self.to(operands)?.0;
        let (a, b) = (self.value(operands, of)?, self.value(operands, of)?);
        let sum_type = if wide {
            Type {
                bits: of.bits * 2,
                ..of
            }
        } else {
            of
        };
        let c = self.value(operands, sum_type)?;
        let takes = name == "madc";
        if gives || takes {
            if wide || high == low {
                return words.unknown();
            }
            let carry = self.carry();
            let product = Some((b, high, of.is_signed()));
            let bits = of.width();
            return Ok((
                Class::Integer,
                What::Carry {
                    subtracts: false,
                    bits,
                    takes,
                    gives,
                    carry,
                    to,
                    a,
                    b: c,
                    product,
                },
            ));
        }
        let op = match (name, high, wide, low) {
            ("mad24", false, false, true) => Whole3::Mad24Low,
            ("mad", true, false, false) => Whole3::MadHigh,
            ("mad", false, true, false) => Whole3::MadWide,
            ("mad", false, false, true) => Whole3::MadLow,
            _ => return words.unknown(),
        };
        Ok((
            Class::Integer,
            What::Whole3 {
                op,
                of,
                to,
                operands: [a, b, c],
            },
        ))
    }

    pub(super) fn two(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let keeps_nan = words.has("NaN");
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if of.is_float() {
            let op = match name {
                "div" => Floating::Div,
                "min" => Floating::Min { keeps_nan },
                "max" => Floating::Max { keeps_nan },
                _ => return words.unknown(),
            };
            return self.floating(op, of, mode, 2, operands);
        }
        if keeps_nan || mode.saturates || of.packed > 1 {
            return words.unknown();
        }
        let op = match name {
            "div" => Whole2::Div,
            "rem" => Whole2::Rem,
            "min" => Whole2::Min,
            "max" => Whole2::Max,
            "and" => Whole2::And,
            "or" => Whole2::Or,
            "xor" => Whole2::Xor,
            "shl" => Whole2::ShiftLeft,
            _ => Whole2::ShiftRight,
        };
        self.whole2(op, of, false, operands)
    }

    pub(super) fn one(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let is_shift = words.has("shiftamt");
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if of.is_float() {
            let op = match name {
                "neg" => Floating::Neg,
                "abs" => Floating::Abs,
                _ => return words.unknown(),
            };
            return self.floating(op, of, mode, 1, operands);
        }
        if of.packed > 1 {
            return words.unknown();
        }
        let op = match name {
            "neg" => Whole1::Neg,
            "abs" => Whole1::Abs,
            "not" => Whole1::Not,
            "cnot" => Whole1::LogicalNot,
            "popc" => Whole1::Count,
            "clz" => Whole1::LeadingZeros,
            "brev" => Whole1::Reverse,
            _ => Whole1::Find { is_shift },
        };
        let to = self.to(operands)?.0;
        let a = self.value(operands, of)?;
        Ok((Class::Integer, What::Whole1 { op, of, to, a }))
    }

    pub(super) fn function_of(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (op, count) = match name {
            "sqrt" => (Floating::Sqrt, 1),
            "rcp" => (Floating::Reciprocal, 1),
            "rsqrt" => (Floating::ReciprocalRoot, 1),
            "ex2" => (Floating::Exp2, 1),
            "lg2" => (Floating::Log2, 1),
            "sin" => (Floating::Sin, 1),
            "cos" => (Floating::Cos, 1),
            "tanh" => (Floating::Tanh, 1),
            "copysign" => (Floating::CopySign, 2),
            _ => {
                let class = words.find(|word| {
                    Some(match word {
                        "finite" => FloatClass::Finite,
                        "infinite" => FloatClass::Infinite,
                        "number" => FloatClass::Number,
                        "notanumber" => FloatClass::NotANumber,
                        "normal" => FloatClass::Normal,
                        "subnormal" => FloatClass::Subnormal,
                        _ => return None,
                    })
                });
                let Some(class) = class else {
                    return words.unknown();
                };
                (Floating::Class(class), 1)
            }
        };
        let mode = Self::mode(words);
        let of = words.one_type()?;
        if !of.is_float() {
            return words.unknown();
        }
        self.floating(op, of, mode, count, operands)
    }

    pub(super) fn bits(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (left, right) = (words.has("l"), words.has("r"));
        let (clamps, wraps) = (words.has("clamp"), words.has("wrap"));
        let of = words.one_type()?;
        let to = self.to(operands)?.0;
        let small = Type::named("u32").expect("a type");
        let a = self.value(operands, of)?;
        let (b, c) = match name {
            "bfe" => (self.value(operands, small)?, self.value(operands, small)?),
            _ => (self.value(operands, of)?, NONE),
        };
        let op = match name {
            "sad" => {
                let c = self.value(operands, of)?;
                let what = What::Whole3 {
                    op: Whole3::Sad,
                    of,
                    to,
                    operands: [a, b, c],
                };
                return Ok((Class::Integer, what));
            }
            "shf" if left != right && clamps != wraps => {
                let op = if left {
                    Whole3::FunnelLeft { clamps }
                } else {
                    Whole3::FunnelRight { clamps }
                };
                let c = self.value(operands, small)?;
                let what = What::Whole3 {
                    op,
                    of,
                    to,
                    operands: [a, b, c],
                };
                return Ok((Class::Integer, what));
            }
            "bfe" => Whole3::Extract,
            "bfi" => {
                let (c, d) = (self.value(operands, small)?, self.value(operands, small)?);
                let bits = of.width();
                return Ok((
                    Class::Integer,
                    What::Insert {
                        bits,
                        to,
                        operands: [a, b, c, d],
                    },
                ));
            }
            "prmt" => {
                let c = self.value(operands, of)?;
                let what = What::Whole3 {
                    op: Whole3::Permute,
                    of,
                    to,
                    operands: [a, b, c],
                };
                return Ok((Class::Integer, what));
            }
            "lop3" => {
                let c = self.value(operands, of)?;
                let Operand::Immediate(table) = self.value(operands, small)? else {
                    return wrong(operands.line, "the table of lop3 has to be a number");
                };
                let op = Whole3::Lop3(table as u8);
                return Ok((
                    Class::Integer,
                    What::Whole3 {
                        op,
                        of,
                        to,
                        operands: [a, b, c],
                    },
                ));
            }
            _ => return words.unknown(),
        };
        Ok((
            Class::Integer,
            What::Whole3 {
                op,
                of,
                to,
                operands: [a, b, c],
            },
        ))
    }

    pub(super) fn comparison(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        use Comparison::{
            Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, NotNumbers, Numbers,
        };
        let found = words.find(|word| {
            Some(match word {
                "eq" => (Equal, false),
                "ne" => (NotEqual, false),
                "lt" | "lo" => (Less, false),
                "le" | "ls" => (LessEqual, false),
                "gt" | "hi" => (Greater, false),
                "ge" | "hs" => (GreaterEqual, false),
                "equ" => (Equal, true),
                "neu" => (NotEqual, true),
                "ltu" => (Less, true),
                "leu" => (LessEqual, true),
                "gtu" => (Greater, true),
                "geu" => (GreaterEqual, true),
                "num" => (Numbers, false),
                "nan" => (NotNumbers, false),
                _ => return None,
            })
        });
        let Some((op, unordered)) = found else {
            return words.unknown();
        };
        let combination = words.find(|word| {
            Some(match word {
                "and" => Combination::And,
                "or" => Combination::Or,
                "xor" => Combination::Xor,
                _ => return None,
            })
        });
        let flushes = words.has("ftz");
        let types = words.types();
        let (result, of) = match (name, &types[..]) {
            ("setp", [of]) => (None, *of),
            ("set", [result, of]) => (Some(*result), *of),
            _ => return words.unknown(),
        };
        if of.packed > 1 || of.kind == Kind::Predicate {
            return words.unknown();
        }
        let line = operands.line;
        let (to, other) = match operands.next()? {
            parse::Operand::Pair(to, other) => {
                let to = self.perhaps_to(to, line)?;
                let to = to.unwrap_or_else(|| self.sink());
                (to, self.perhaps_to(other, line)?)
            }
            operand => (self.register_of(operand, line)?.0, None),
        };
        let (a, b) = (self.value(operands, of)?, self.value(operands, of)?);
        let combination = match combination {
            None => None,
            Some(how) => Some((how, self.guard_of(operands.next()?, line)?)),
        };
        let what = What::Compare {
            op,
            unordered,
            of,
            flushes,
            to,
            other,
            result,
            combination,
            a,
            b,
        };
        Ok((Class::Compare, what))
    }

    pub(super) fn selection(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let flushes = words.has("ftz");
        let types = words.types();
        let line = operands.line;
        let to = self.to(operands)?.0;
        Ok(match (name, &types[..]) {
            ("selp", [of]) => {
                let (a, b) = (self.value(operands, *of)?, self.value(operands, *of)?);
                let by = self.guard_of(operands.next()?, line)?;
                (Class::Compare, What::Select { to, a, b, by })
            }
            ("slct", [of, by]) if !flushes => {
                let (a, b) = (self.value(operands, *of)?, self.value(operands, *of)?);
                let is_float = by.is_float();
                let by = self.value(operands, *by)?;
                (
                    Class::Compare,
                    What::SelectBySign {
                        to,
                        a,
                        b,
                        by,
                        is_float,
                    },
                )
            }
            _ => return words.unknown(),
        })
    }
}
