//! Numbers with a point, and conversions.

use super::registers::Unknown;
use super::{Group, LANES, Warp};
use crate::float::{self, Rounding, from_half, to_half};
use crate::program::{FloatClass, Floating, Mode, What};
use crate::types::{Kind, Type, ones, sign_extended};

/// What PTX's operations give for what is no number.
const NAN32: u32 = 0x7fff_ffff;

impl Warp {
    /// Executes one of them.
    pub(super) fn floating(&mut self, what: &What, group: Group) {
        match what {
            What::Floating {
                op,
                of,
                mode,
                to,
                operands,
                count,
            } => {
                let read = operands.map(|operand| self.registers.read(group, operand));
                let [(a, ua), (b, ub), (c, uc)] = read;
                let mut values = [0; LANES];
                match of.bits {
                    64 => each(&mut values, |lane| {
                        let [a, b, c] = [&a, &b, &c].map(|all| f64::from_bits(all[lane]));
                        double(*op, *mode, a, b, c)
                    }),
                    32 => each(&mut values, |lane| {
                        let [a, b, c] = [&a, &b, &c].map(|all| f32::from_bits(all[lane] as u32));
                        u64::from(single(*op, *mode, a, b, c))
                    }),
                    _ => each(&mut values, |lane| {
                        let one = |shift: u32| {
                            let [a, b, c] = [&a, &b, &c].map(|all| (all[lane] >> shift) as u16);
                            u64::from(half(*op, of.kind, *mode, a, b, c))
                        };
                        if of.packed == 2 {
                            one(0) | (one(16) << 16)
                        } else {
                            one(0)
                        }
                    }),
                }
                let unknown = [ua, ub, uc];
                let result = match op {
                    Floating::Class(_) => 1,
                    _ => ones(of.width()),
                };
                let unknown = all_bits(&unknown[..usize::from(*count)], result);
                self.registers.write(group, *to, &values, unknown);
                self.registers.note_computed(group, *to);
            }
            What::Convert {
                to,
                from,
                into,
                of,
                mode,
                is_rounded_to_whole,
                upper,
            } => {
                let (values, unknown) = self.registers.read(group, *from);
                let one = Type { packed: 1, ..*into };
                let convert = |value: u64| converted(value, one, *of, *mode, *is_rounded_to_whole);
                let mut result = [0; LANES];
                each(&mut result, |lane| convert(values[lane]));
                let mut unknown = converted_unknown(unknown, one, *of, mode.saturates);
                if let Some(upper) = upper {
                    let (upper, upper_unknown) = self.registers.read(group, *upper);
                    let low = result;
                    each(&mut result, |lane| low[lane] | (convert(upper[lane]) << 16));
                    unknown = all_bits(&[unknown, upper_unknown], ones(32));
                }
                // A register that is wider than the type has the sign, too.
                if into.is_signed() && into.width() < 32 {
                    let low = result;
                    each(&mut result, |lane| {
                        sign_extended(low[lane], into.width()) & ones(32)
                    });
                }
                self.registers.write(group, *to, &result, unknown);
            }
            _ => unreachable!("it is executed elsewhere"),
        }
    }
}

fn each(values: &mut [u64; LANES], f: impl Fn(usize) -> u64) {
    for (lane, value) in values.iter_mut().enumerate() {
        *value = f(lane);
    }
}

fn all_bits(unknown: &[Unknown], mask: u64) -> Unknown {
    if unknown.iter().all(Option::is_none) {
        return None;
    }
    let mut result = [0; LANES];
    each(&mut result, |lane| {
        let is_unknown = unknown.iter().flatten().any(|one| one[lane] != 0);
        if is_unknown { mask } else { 0 }
    });
    Some(result)
}

fn converted_unknown(unknown: Unknown, into: Type, of: Type, saturates: bool) -> Unknown {
    let mask = ones(into.width());
    let unknown = unknown?;
    let mut result = [0; LANES];
    each(&mut result, |lane| {
        let bits = unknown[lane];
        match bits & ones(of.width()) {
            0 => 0,
            _ if !of.is_whole() || !into.is_whole() || saturates => mask,
            bits if of.is_signed() => sign_extended(bits, of.width()) & mask,
            bits => bits & mask,
        }
    });
    Some(result)
}

fn is_in(class: FloatClass, value: f64, is_subnormal: bool) -> bool {
    match class {
        FloatClass::Finite => value.is_finite(),
        FloatClass::Infinite => value.is_infinite(),
        FloatClass::Number => !value.is_nan(),
        FloatClass::NotANumber => value.is_nan(),
        FloatClass::Normal => value.is_finite() && value != 0.0 && !is_subnormal,
        FloatClass::Subnormal => is_subnormal,
    }
}

/// The smaller one, or the larger one: a number if one of them is, and of zeros the right one.
fn least(a: f64, b: f64, keeps_nan: bool, is_max: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return match (keeps_nan, a.is_nan()) {
            (true, _) => f64::NAN,
            (false, true) => b,
            (false, false) => a,
        };
    }
    let takes_a = match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Equal) => a.is_sign_negative() != is_max,
        order => (order == Some(std::cmp::Ordering::Less)) != is_max,
    };
    if takes_a { a } else { b }
}

fn double(op: Floating, mode: Mode, a: f64, b: f64, c: f64) -> u64 {
    let rounding = mode.rounding;
    // Of those that flush denormals the hardware has the upper half.
    let approximate = |value: f64| {
        f64::from_bits(if mode.is_approximate && mode.flushes {
            value.to_bits() & !ones(32)
        } else {
            value.to_bits()
        })
    };
    let value = match op {
        Floating::Add => float::add64(a, b, rounding),
        Floating::Sub => float::add64(a, -b, rounding),
        Floating::Mul => float::mul64(a, b, rounding),
        Floating::Fma => a.mul_add(b, c),
        Floating::Div => float::div64(a, b, rounding),
        Floating::Reciprocal => approximate(float::div64(1.0, a, rounding)),
        Floating::ReciprocalRoot => approximate(1.0 / a.sqrt()),
        Floating::Sqrt => float::sqrt64(a, rounding),
        Floating::Min { keeps_nan } => least(a, b, keeps_nan, false),
        Floating::Max { keeps_nan } => least(a, b, keeps_nan, true),
        Floating::Neg => return (-a).to_bits(),
        Floating::Abs => return a.abs().to_bits(),
        Floating::CopySign => return b.copysign(a).to_bits(),
        Floating::Class(class) => return is_in(class, a, a.is_subnormal()).into(),
        Floating::Exp2 => a.exp2(),
        Floating::Log2 => a.log2(),
        Floating::Sin => a.sin(),
        Floating::Cos => a.cos(),
        Floating::Tanh => a.tanh(),
    };
    value.to_bits()
}

fn single(op: Floating, mode: Mode, a: f32, b: f32, c: f32) -> u32 {
    let flush = |value: f32| {
        if mode.flushes {
            float::flushed(value)
        } else {
            value
        }
    };
    let rounding = mode.rounding;
    match op {
        Floating::CopySign => return b.copysign(a).to_bits(),
        Floating::Class(class) => return is_in(class, f64::from(a), a.is_subnormal()).into(),
        Floating::Neg => return (-flush(a)).to_bits(),
        Floating::Abs => return flush(a).abs().to_bits(),
        _ => {}
    }
    let (a, b, c) = (flush(a), flush(b), flush(c));
    let wide = f64::from(a);
    let value = match op {
        Floating::Add => float::add32(a, b, rounding),
        Floating::Sub => float::add32(a, -b, rounding),
        Floating::Mul => float::mul32(a, b, rounding),
        Floating::Fma => float::fma32(a, b, c, rounding),
        Floating::Div => float::div32(a, b, rounding),
        Floating::Reciprocal => float::div32(1.0, a, rounding),
        Floating::Sqrt => float::sqrt32(a, rounding),
        Floating::ReciprocalRoot => (1.0 / wide.sqrt()) as f32,
        Floating::Exp2 => wide.exp2() as f32,
        Floating::Log2 => wide.log2() as f32,
        Floating::Sin => wide.sin() as f32,
        Floating::Cos => wide.cos() as f32,
        Floating::Tanh => wide.tanh() as f32,
        Floating::Min { keeps_nan } => least(wide, b.into(), keeps_nan, false) as f32,
        Floating::Max { keeps_nan } => least(wide, b.into(), keeps_nan, true) as f32,
        Floating::Neg | Floating::Abs | Floating::CopySign | Floating::Class(_) => a,
    };
    finished(value, mode)
}

/// A result as an instruction leaves it.
fn finished(value: f32, mode: Mode) -> u32 {
    let value = if mode.flushes {
        float::flushed(value)
    } else {
        value
    };
    if mode.saturates {
        return saturated(value.into()).to_bits() as u64 as u32;
    }
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits()
    }
}

fn saturated(value: f64) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0) as f32 + 0.0
    }
}

fn half(op: Floating, kind: Kind, mode: Mode, a: u16, b: u16, c: u16) -> u16 {
    let flush = |bits: u16| {
        let value = from_half(bits, kind);
        let is_small = kind == Kind::Float && value.abs() < 2f32.powi(-14);
        if mode.flushes && is_small {
            0f32.copysign(value)
        } else {
            value
        }
    };
    let [x, y, z] = [a, b, c].map(flush);
    let wide = f64::from(x);
    let value = match op {
        Floating::Neg => return a ^ 0x8000,
        Floating::Abs => return a & 0x7fff,
        Floating::CopySign => return (b & 0x7fff) | (a & 0x8000),
        Floating::Add => wide + f64::from(y),
        Floating::Sub => wide - f64::from(y),
        Floating::Mul => wide * f64::from(y),
        Floating::Fma => float::half_fma(x, y, z),
        Floating::Div => f64::from(x / y),
        Floating::Sqrt => f64::from(x.sqrt()),
        Floating::Reciprocal => f64::from(1.0 / x),
        Floating::ReciprocalRoot => 1.0 / wide.sqrt(),
        Floating::Exp2 => wide.exp2(),
        Floating::Log2 => wide.log2(),
        Floating::Sin => wide.sin(),
        Floating::Cos => wide.cos(),
        Floating::Tanh => wide.tanh(),
        Floating::Min { keeps_nan } => least(wide, y.into(), keeps_nan, false),
        Floating::Max { keeps_nan } => least(wide, y.into(), keeps_nan, true),
        Floating::Class(class) => return is_in(class, wide, false).into(),
    };
    let value = if mode.saturates {
        saturated(value).into()
    } else {
        value
    };
    let bits = to_half(value, kind, mode.rounding);
    let is_small = kind == Kind::Float && from_half(bits, kind).abs() < 2f32.powi(-14);
    if mode.flushes && is_small {
        bits & 0x8000
    } else {
        bits
    }
}

/// A value of one type as one of another.
pub fn converted(value: u64, into: Type, of: Type, mode: Mode, to_whole: bool) -> u64 {
    match (of.is_float(), into.is_float()) {
        (false, false) => whole_to_whole(value, into, of, mode.saturates),
        (false, true) => whole_to_float(value, into, of, mode),
        (true, false) => float_to_whole(value, into, of, mode),
        (true, true) => float_to_float(value, into, of, mode, to_whole),
    }
}

fn signed_value(value: u64, of: Type) -> i128 {
    if of.is_signed() {
        i128::from(sign_extended(value, of.width()) as i64)
    } else {
        i128::from(value & ones(of.width()))
    }
}

fn range(of: Type) -> (i128, i128) {
    let bits = of.width();
    if of.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn whole_to_whole(value: u64, into: Type, of: Type, saturates: bool) -> u64 {
    let value = signed_value(value, of);
    let (least, most) = range(into);
    let value = if saturates {
        value.clamp(least, most)
    } else {
        value
    };
    value as u64 & ones(into.width())
}

fn whole_to_float(value: u64, into: Type, of: Type, mode: Mode) -> u64 {
    let value = signed_value(value, of);
    let exact = value as f64;
    // What a 64-bit number cannot hold is beside it.
    let beside = value - exact as i128;
    match into.bits {
        64 => next_to(exact, beside, mode.rounding).to_bits(),
        32 => {
            let nearest = value as f32;
            let beside = value - nearest as i128;
            let result = match mode.rounding {
                Rounding::Nearest | Rounding::Away => nearest,
                Rounding::Up if beside > 0 => nearest.next_up(),
                Rounding::Down if beside < 0 => nearest.next_down(),
                Rounding::Zero if beside < 0 && value > 0 => nearest.next_down(),
                Rounding::Zero if beside > 0 && value < 0 => nearest.next_up(),
                _ => nearest,
            };
            let result = if mode.saturates {
                saturated(result.into())
            } else {
                result
            };
            result.to_bits().into()
        }
        _ => {
            // An odd last bit stands for all that is behind it.
            let odd = if beside != 0 && exact.to_bits() & 1 == 0 {
                let toward = if beside > 0 {
                    Rounding::Up
                } else {
                    Rounding::Down
                };
                next_to(exact, beside, toward)
            } else {
                exact
            };
            to_half(odd, into.kind, mode.rounding).into()
        }
    }
}

fn next_to(nearest: f64, beside: i128, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Up if beside > 0 => nearest.next_up(),
        Rounding::Down if beside < 0 => nearest.next_down(),
        Rounding::Zero if beside < 0 && nearest > 0.0 => nearest.next_down(),
        Rounding::Zero if beside > 0 && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

fn float_value(value: u64, of: Type, flushes: bool) -> f64 {
    match of.bits {
        64 => f64::from_bits(value),
        32 => {
            let value = f32::from_bits(value as u32);
            f64::from(if flushes {
                float::flushed(value)
            } else {
                value
            })
        }
        _ => f64::from(from_half(value as u16, of.kind)),
    }
}

fn float_to_whole(value: u64, into: Type, of: Type, mode: Mode) -> u64 {
    let number = float_value(value, of, mode.flushes);
    let bits = into.width();
    if number.is_nan() {
        let is_narrow = of.bits < 64 && bits < 64;
        return if is_narrow { 0 } else { 1 << (bits - 1) };
    }
    let (least, most) = range(into);
    let whole = float::integral(number, mode.rounding);
    // The conversion keeps to the ends of the range by itself.
    let whole = (whole as i128).clamp(least, most);
    whole as u64 & ones(bits)
}

fn float_to_float(value: u64, into: Type, of: Type, mode: Mode, to_whole: bool) -> u64 {
    let mut number = float_value(value, of, mode.flushes);
    if to_whole {
        number = float::integral(number, mode.rounding);
    }
    if number.is_nan() && !mode.saturates {
        return match into.bits {
            64 if of.bits == 64 => value,
            64 => number.to_bits(),
            32 => NAN32.into(),
            _ => 0x7fff,
        };
    }
    let rounding = if to_whole {
        Rounding::Nearest
    } else {
        mode.rounding
    };
    match into.bits {
        64 => number.to_bits(),
        32 => finished(float::narrowed(number, rounding), mode).into(),
        _ => {
            let number = if mode.saturates {
                saturated(number).into()
            } else {
                number
            };
            to_half(number, into.kind, rounding).into()
        }
    }
}
