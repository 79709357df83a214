//! Numbers with a point as IEEE 754 and PTX have them: all roundings, denormals flushed where an instruction says so, halves.
//! Results are the bits that the host computes, rounded once; only what PTX itself calls approximate is approximate.

use crate::types::Kind;

/// How a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    Away,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// What has a fraction of `BITS` bits that rounding may ask for.
trait Binary: Copy + PartialEq + PartialOrd {
    fn next_up(self) -> Self;
    fn next_down(self) -> Self;
}

impl Binary for f32 {
    fn next_up(self) -> Self {
        f32::next_up(self)
    }
    fn next_down(self) -> Self {
        f32::next_down(self)
    }
}

impl Binary for f64 {
    fn next_up(self) -> Self {
        f64::next_up(self)
    }
    fn next_down(self) -> Self {
        f64::next_down(self)
    }
}

/// The neighbour of a nearest result that another rounding asks for, where the exact result is that much (a sign) beside it.
fn directed<T: Binary + Default>(nearest: T, beside: f64, rounding: Rounding) -> T {
    let negative = nearest < T::default() || (nearest == T::default() && beside < 0.0);
    match rounding {
        Rounding::Nearest | Rounding::Away => nearest,
        Rounding::Up if beside > 0.0 => nearest.next_up(),
        Rounding::Down if beside < 0.0 => nearest.next_down(),
        Rounding::Zero if !negative && beside < 0.0 => nearest.next_down(),
        Rounding::Zero if negative && beside > 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

/// What a 64-bit number is in 32 bits.
pub fn narrowed(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    if value.is_nan() || value.is_infinite() {
        return nearest;
    }
    if nearest.is_infinite() {
        let is_cut = match rounding {
            Rounding::Nearest | Rounding::Away => false,
            Rounding::Zero => true,
            Rounding::Up => value < 0.0,
            Rounding::Down => value > 0.0,
        };
        return if is_cut {
            f32::MAX.copysign(nearest)
        } else {
            nearest
        };
    }
    let result = directed(nearest, value - f64::from(nearest), rounding);
    if result == 0.0 {
        result.copysign(value as f32)
    } else {
        result
    }
}

/// A sum rounded to an odd last bit where it is not exact: rounded once more, to at most 51 bits, it is as if rounded once.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 {
        sum.next_up()
    } else {
        sum.next_down()
    }
}

/// The sign that an exact sum of zero has.
fn zero_of_sum(sum: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    if sum == 0.0 && a == -b && a.is_sign_negative() != b.is_sign_negative() {
        return if rounding == Rounding::Down {
            -0.0
        } else {
            0.0
        };
    }
    sum
}

/// `a` + `b`.
pub fn add32(a: f32, b: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Nearest {
        return a + b;
    }
    let (a, b) = (f64::from(a), f64::from(b));
    narrowed(zero_of_sum(odd_sum(a, b), a, b, rounding), rounding)
}

/// `a` times `b`.
pub fn mul32(a: f32, b: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Nearest {
        return a * b;
    }
    narrowed(f64::from(a) * f64::from(b), rounding)
}

/// `a` times `b` plus `c`, rounded once.
pub fn fma32(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Nearest {
        return a.mul_add(b, c);
    }
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = zero_of_sum(odd_sum(product, c), product, c, rounding);
    narrowed(sum, rounding)
}

/// `a` over `b`.
pub fn div32(a: f32, b: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Nearest {
        return a / b;
    }
    let (a, b) = (f64::from(a), f64::from(b));
    narrowed(
        odd(a / b, a, |quotient| (-quotient).mul_add(b, a), b),
        rounding,
    )
}

/// The root of `a`.
pub fn sqrt32(a: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Nearest {
        return a.sqrt();
    }
    let a = f64::from(a);
    narrowed(
        odd(a.sqrt(), a, |root| (-root).mul_add(root, a), 1.0),
        rounding,
    )
}

/// A result of 64 bits with an odd last bit where `rest` says that it is not exact.
fn odd(result: f64, of: f64, rest: impl Fn(f64) -> f64, divisor: f64) -> f64 {
    if !result.is_finite() || !of.is_finite() || result == 0.0 || !divisor.is_finite() {
        return result;
    }
    let beside = rest(result) * divisor.signum();
    if beside == 0.0 || result.to_bits() & 1 == 1 {
        result
    } else if beside > 0.0 {
        result.next_up()
    } else {
        result.next_down()
    }
}

/// What is beside a result of 64 bits decides whether it moves; `None` where it overflowed.
fn directed64(nearest: f64, beside: f64, rounding: Rounding) -> f64 {
    if nearest.is_nan() {
        return nearest;
    }
    directed(nearest, beside, rounding)
}

/// An infinity that only rounding made.
fn cut(nearest: f64, rounding: Rounding) -> f64 {
    let is_cut = match rounding {
        Rounding::Nearest | Rounding::Away => false,
        Rounding::Zero => true,
        Rounding::Up => nearest < 0.0,
        Rounding::Down => nearest > 0.0,
    };
    if is_cut {
        f64::MAX.copysign(nearest)
    } else {
        nearest
    }
}

/// `a` + `b`.
pub fn add64(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    if rounding == Rounding::Nearest || !a.is_finite() || !b.is_finite() {
        return sum;
    }
    if sum.is_infinite() {
        return cut(sum, rounding);
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 {
        return zero_of_sum(sum, a, b, rounding);
    }
    directed64(sum, error, rounding)
}

/// `a` times `b`. Toward one side it is exact where the product's error is a number, which the smallest products' is not.
pub fn mul64(a: f64, b: f64, rounding: Rounding) -> f64 {
    let product = a * b;
    if rounding == Rounding::Nearest || !a.is_finite() || !b.is_finite() {
        return product;
    }
    if product.is_infinite() {
        return cut(product, rounding);
    }
    directed64(product, exact_beside(a, b, product), rounding)
}

/// The sign of `a` times `b` minus `product`, as a number.
fn exact_beside(a: f64, b: f64, product: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    // Scaled by powers of two so that nothing underflows.
    let (a, by_a) = scaled(a);
    let (b, by_b) = scaled(b);
    if product == 0.0 {
        return a * b;
    }
    let exact = a * b;
    let error = a.mul_add(b, -exact);
    let (product, by_product) = scaled(product);
    // All three lie in [1, 2) or its negative; the product of two in [1, 4).
    let shift = by_product - by_a - by_b;
    let there = product * 2f64.powi(shift);
    (exact - there) + error
}

/// A number as one from 1 to 2, and the power of two that it was multiplied by.
fn scaled(value: f64) -> (f64, i32) {
    let mut value = value;
    let mut exponent = 0;
    if value.abs() < f64::MIN_POSITIVE {
        value *= 2f64.powi(64);
        exponent = -64;
    }
    let power = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let bits = (value.to_bits() & !(0x7ff << 52)) | (1023 << 52);
    (f64::from_bits(bits), power + exponent)
}

/// `a` over `b`; toward one side unless the result is too small for its remainder to be a number.
pub fn div64(a: f64, b: f64, rounding: Rounding) -> f64 {
    let quotient = a / b;
    if rounding == Rounding::Nearest || !a.is_finite() || !b.is_finite() || b == 0.0 || a == 0.0 {
        return quotient;
    }
    if quotient.is_infinite() {
        return cut(quotient, rounding);
    }
    if quotient == 0.0 {
        return directed64(quotient, a.signum() * b.signum(), rounding);
    }
    let (a, by_a) = scaled(a);
    let (b, by_b) = scaled(b);
    let (scaled_quotient, by_quotient) = scaled(quotient);
    let there = scaled_quotient * 2f64.powi(by_quotient - by_a + by_b);
    let rest = (-there).mul_add(b, a);
    directed64(quotient, rest * b.signum(), rounding)
}

/// The root of `a`.
pub fn sqrt64(a: f64, rounding: Rounding) -> f64 {
    let root = a.sqrt();
    if rounding == Rounding::Nearest || !root.is_finite() || root == 0.0 {
        return root;
    }
    // Scaled by an even power, so that the remainder is a number.
    let scale = if a < 1e-200 { 2f64.powi(200) } else { 1.0 };
    let (large, large_root) = (a * scale * scale, root * scale);
    directed64(root, (-large_root).mul_add(large_root, large), rounding)
}

/// `value` as a whole number of its own type.
pub fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Away => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// A denormal as zero.
pub fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

/// What 16 bits are, of either kind.
pub fn from_half(bits: u16, kind: Kind) -> f32 {
    if kind == Kind::Brain {
        return f32::from_bits(u32::from(bits) << 16);
    }
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 31, u32::from(bits) & 1023);
    let magnitude = match (exponent, fraction) {
        (31, 0) => 0x7f80_0000,
        (31, _) => 0x7fc0_0000 | (fraction << 13),
        (0, _) => return f32::from_bits((fraction as f32 * 2f32.powi(-24)).to_bits() | sign),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(magnitude | sign)
}

/// A number in 16 bits of either kind.
pub fn to_half(value: f64, kind: Kind, rounding: Rounding) -> u16 {
    let (precision, least, most): (i32, i32, i32) = if kind == Kind::Brain {
        (8, -126, 127)
    } else {
        (11, -14, 15)
    };
    let exponent_bits = if kind == Kind::Brain { 8 } else { 5 };
    let fraction_bits = precision - 1;
    let sign = u16::from(value.is_sign_negative()) << 15;
    let infinity = (((1u32 << exponent_bits) - 1) << fraction_bits) as u16;
    if value.is_nan() {
        return 0x7fff;
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    if magnitude == 0.0 {
        return sign;
    }
    let exponent = (((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(least);
    let unit = 2f64.powi(exponent - fraction_bits);
    let toward = match rounding {
        Rounding::Up if value < 0.0 => Rounding::Zero,
        Rounding::Up => Rounding::Up,
        Rounding::Down if value < 0.0 => Rounding::Up,
        Rounding::Down => Rounding::Zero,
        other => other,
    };
    let count = integral(magnitude / unit, toward) as u32;
    // A count that reaches the next power carries into the exponent by itself.
    let biased = (exponent - least) as u32;
    let bits = (biased << fraction_bits) + count;
    if bits >= u32::from(infinity) {
        let _ = most;
        let largest = infinity - 1;
        return sign
            | if toward == Rounding::Zero {
                largest
            } else {
                infinity
            };
    }
    sign | bits as u16
}

/// `a` times `b` plus `c` of halves, as a number that rounds once more to the right half.
pub fn half_fma(a: f32, b: f32, c: f32) -> f64 {
    odd_sum(f64::from(a) * f64::from(b), f64::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    /// Interesting bits: any, and ones near the ends of the exponents.
    fn number(random: &mut Random) -> f32 {
        let bits = random.word() as u32;
        match random.below(4) {
            0 => f32::from_bits(bits & 0x80ff_ffff),
            1 => f32::from_bits((bits & 0x807f_ffff) | 0x3f80_0000),
            _ => f32::from_bits(bits),
        }
    }

    #[test]
    fn directed_results_enclose_the_exact_one() {
        let mut random = Random(7);
        for _ in 0..200_000 {
            let (a, b, c) = (
                number(&mut random),
                number(&mut random),
                number(&mut random),
            );
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                continue;
            }
            let near = a.mul_add(b, c);
            let (down, up) = (fma32(a, b, c, Rounding::Down), fma32(a, b, c, Rounding::Up));
            assert!(down <= near && near <= up, "{a:e} {b:e} {c:e}");
            assert!(down == up || down.next_up() == up, "{a:e} {b:e} {c:e}");
            let zero = fma32(a, b, c, Rounding::Zero);
            assert_eq!(zero.abs(), down.abs().min(up.abs()));
            let near = a / b;
            let (down, up) = (div32(a, b, Rounding::Down), div32(a, b, Rounding::Up));
            if near.is_finite() {
                assert!(
                    down <= near && near <= up,
                    "{a:e} / {b:e}: {down:e} {near:e} {up:e}"
                );
            }
            let (a, b) = (f64::from(a), f64::from(b) * 1e-3);
            for f in [add64, mul64, div64] {
                let (near, down, up) = (
                    f(a, b, Rounding::Nearest),
                    f(a, b, Rounding::Down),
                    f(a, b, Rounding::Up),
                );
                if near.is_finite() {
                    assert!(down <= near && near <= up, "{a:e} {b:e}");
                    assert!(down == up || down.next_up() == up, "{a:e} {b:e}");
                }
            }
        }
    }

    #[test]
    fn halves_are_what_they_were() {
        for bits in 0..=u16::MAX {
            let (value, brain) = (from_half(bits, Kind::Float), from_half(bits, Kind::Brain));
            if !value.is_nan() {
                assert_eq!(
                    to_half(f64::from(value), Kind::Float, Rounding::Nearest),
                    bits
                );
            }
            if !brain.is_nan() {
                assert_eq!(
                    to_half(f64::from(brain), Kind::Brain, Rounding::Nearest),
                    bits
                );
            }
        }
        assert_eq!(to_half(65519.0, Kind::Float, Rounding::Nearest), 0x7bff);
        assert_eq!(to_half(65520.0, Kind::Float, Rounding::Nearest), 0x7c00);
        assert_eq!(to_half(65536.0, Kind::Float, Rounding::Zero), 0x7bff);
    }
}
