//! What an atomic operation makes of a value: arithmetic only.
//!
//! Guarantee: the results of LLVM's `atomicrmw`, or of a comparison and a store, for integers of 1, 2, 4 and 8
//! bytes and for `float` and `double`. Values travel zero-extended.

use std::cmp::Ordering::{self, Greater, Less};

use okl_abi::AtomicOp;

/// The value `op` stores in place of `old`, both `size` bytes wide.
///
/// # Panics
/// For a size with no such type: the pass emits compare-and-exchange loops for those.
#[inline]
pub fn apply(op: AtomicOp, old: u64, operand: u64, size: i32) -> u64 {
    assert!(
        matches!(size, 1 | 2 | 4 | 8),
        "an atomic operation on {size} bytes"
    );
    let bits = 8 * size as u32;
    let mask = u64::MAX >> (64 - bits);
    let (old, operand) = (old & mask, operand & mask);
    let signed = |value: u64| (value << (64 - bits)) as i64 >> (64 - bits);
    let new = match op {
        AtomicOp::Xchg => operand,
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::Sub => old.wrapping_sub(operand),
        AtomicOp::And => old & operand,
        AtomicOp::Nand => !(old & operand),
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Max => signed(old).max(signed(operand)) as u64,
        AtomicOp::Min => signed(old).min(signed(operand)) as u64,
        AtomicOp::UMax => old.max(operand),
        AtomicOp::UMin => old.min(operand),
        AtomicOp::FAdd => floating(old, operand, size, |x, y| x + y, |x, y| x + y),
        AtomicOp::FSub => floating(old, operand, size, |x, y| x - y, |x, y| x - y),
        // `max` and `min` are IEEE 754's maxNum and minNum, as LLVM demands: a NaN loses.
        AtomicOp::FMax => floating(old, operand, size, f32::max, f64::max),
        AtomicOp::FMin => floating(old, operand, size, f32::min, f64::min),
        AtomicOp::FGreater => chosen(old, operand, order(old, operand, size) == Some(Less)),
        AtomicOp::FLess => chosen(old, operand, order(old, operand, size) == Some(Greater)),
        AtomicOp::FNotLess => chosen(old, operand, order(old, operand, size) != Some(Greater)),
        AtomicOp::FNotGreater => chosen(old, operand, order(old, operand, size) != Some(Less)),
    };
    new & mask
}

/// The same contribution by one that can be collected: what is left of several of the same operation does the same as
/// these one after the other, and a difference is a sum. `None` where there is none.
#[inline]
pub fn commuting(op: AtomicOp, operand: u64, size: i32) -> Option<(AtomicOp, u64)> {
    use AtomicOp::*;
    match op {
        Add | And | Or | Xor | Max | Min | UMax | UMin | FAdd | FMax | FMin => Some((op, operand)),
        // A NaN is no number to compare with: it is taken, or it is not.
        FGreater | FLess | FNotLess | FNotGreater => match order(operand, operand, size) {
            Some(_) => Some((op, operand)),
            None if matches!(op, FNotLess | FNotGreater) => Some((Xchg, operand)),
            None => Some((Or, 0)),
        },
        Sub => Some((Add, operand.wrapping_neg())),
        FSub => Some((FAdd, operand ^ 1 << (8 * size - 1))),
        Xchg | Nand => None,
    }
}

/// How two floating-point numbers compare; a NaN does not.
#[inline]
fn order(a: u64, b: u64, size: i32) -> Option<Ordering> {
    match size {
        4 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        8 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        _ => panic!("an atomic floating-point operation on {size} bytes"),
    }
}

#[inline]
fn chosen(old: u64, operand: u64, is_taken: bool) -> u64 {
    if is_taken { operand } else { old }
}

/// Single precision stays single: a detour through `double` would round twice.
#[inline]
fn floating(
    old: u64,
    operand: u64,
    size: i32,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
) -> u64 {
    match size {
        4 => single(f32::from_bits(old as u32), f32::from_bits(operand as u32))
            .to_bits()
            .into(),
        8 => double(f64::from_bits(old), f64::from_bits(operand)).to_bits(),
        _ => panic!("an atomic floating-point operation on {size} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AtomicOp::*;

    #[test]
    fn integers_of_every_size() {
        for (op, old, operand, size, new) in [
            (Xchg, 1, 0xff, 1, 0xff),
            (Add, 0xff, 2, 1, 1),
            (Add, u64::MAX, 1, 8, 0),
            (Add, 0xffff_fff0, 0x20, 4, 0x10),
            (Sub, 0, 1, 2, 0xffff),
            (And, 0b1100, 0b1010, 4, 0b1000),
            (Nand, 0b1100, 0b1010, 1, 0xf7),
            (Nand, 0, 0, 8, u64::MAX),
            (Or, 0b1100, 0b1010, 2, 0b1110),
            (Xor, 0b1100, 0b1010, 2, 0b0110),
            (Max, 0xff, 1, 1, 1),
            (Max, 0x7f, 0x80, 1, 0x7f),
            (Min, 0xff, 1, 1, 0xff),
            (Min, 0x8000, 0, 2, 0x8000),
            (Min, 1 << 63, 0, 8, 1 << 63),
            (Max, 0xffff_ffff, 0, 4, 0),
            (UMax, 0xff, 1, 1, 0xff),
            (UMin, 0xffff_ffff, 3, 4, 3),
            (UMin, u64::MAX, 3, 8, 3),
        ] {
            assert_eq!(
                apply(op, old, operand, size),
                new,
                "{op:?} {old:#x} {operand:#x} {size}"
            );
        }
    }

    #[test]
    fn commuting_operations_do_the_same() {
        let random = |seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for &op in AtomicOp::ALL {
            for seed in 1..100 {
                let size = 1 << (seed % 4);
                let is_float = (op as i32) >= FAdd as i32;
                if is_float && size < 4 {
                    continue;
                }
                let (old, operand) = (random(seed), random(seed + 1000));
                let Some((other, changed)) = commuting(op, operand, size) else {
                    assert!(matches!(op, Xchg | Nand));
                    continue;
                };
                assert_eq!(
                    apply(op, old, operand, size),
                    apply(other, old, changed, size),
                    "{op:?} {old:#x} {operand:#x} {size}"
                );
            }
        }
    }

    #[test]
    fn bits_above_the_size_do_not_matter() {
        let above = 0xdead_beef_0000_0000;
        for &op in AtomicOp::ALL {
            let expected = apply(op, 0x3f80_0001, 0x4020_0000, 4);
            assert_eq!(
                apply(op, above | 0x3f80_0001, above | 0x4020_0000, 4),
                expected,
                "{op:?}"
            );
        }
    }

    #[test]
    fn doubles_and_floats() {
        let double = |op, x: f64, y: f64| f64::from_bits(apply(op, x.to_bits(), y.to_bits(), 8));
        let single = |op, x: f32, y: f32| {
            f32::from_bits(apply(op, x.to_bits().into(), y.to_bits().into(), 4) as u32)
        };
        assert_eq!(double(FAdd, 0.1, 0.2), 0.1 + 0.2);
        assert_eq!(double(FSub, 1.0, 3.5), -2.5);
        assert_eq!(single(FAdd, 0.1, 0.2), 0.1f32 + 0.2f32);
        assert_eq!(single(FSub, 16_777_216.0, -1.0), 16_777_216.0f32 + 1.0);
        assert_eq!(double(FMax, -1.0, 2.0), 2.0);
        assert_eq!(single(FMin, -1.0, 2.0), -1.0);
    }

    #[test]
    fn a_nan_loses_against_a_number() {
        let nan = f64::NAN.to_bits();
        for op in [FMax, FMin] {
            assert_eq!(apply(op, nan, 1.5f64.to_bits(), 8), 1.5f64.to_bits());
            assert_eq!(apply(op, 1.5f64.to_bits(), nan, 8), 1.5f64.to_bits());
            assert!(f64::from_bits(apply(op, nan, nan, 8)).is_nan());
        }
        assert!(f64::from_bits(apply(FAdd, nan, 1, 8)).is_nan());
    }

    #[test]
    fn what_is_left_of_several_does_the_same() {
        let values = [-0.0, 0.0, 1.0, -2.5, f64::NAN, f64::INFINITY].map(f64::to_bits);
        let not_nan = |value: u64| !f64::from_bits(value).is_nan();
        for op in [FGreater, FLess, FNotLess, FNotGreater] {
            let is_taken = |v: f64, old: f64| match op {
                FGreater => v > old,
                FLess => v < old,
                FNotLess => v.partial_cmp(&old) != Some(Less),
                _ => v.partial_cmp(&old) != Some(Greater),
            };
            for first in values {
                for second in values {
                    for old in values {
                        let source =
                            [first, second].into_iter().fold(old, |old, v| {
                                match is_taken(f64::from_bits(v), f64::from_bits(old)) {
                                    true => v,
                                    false => old,
                                }
                            });
                        let [a, b] = [first, second].map(|v| commuting(op, v, 8).unwrap());
                        let apart = apply(b.0, apply(a.0, old, a.1, 8), b.1, 8);
                        assert_eq!(apart, source, "{op:?} {first:#x} {second:#x} {old:#x}");
                        if a.0 == b.0 && not_nan(first) {
                            let left = apply(op, a.1, b.1, 8);
                            let together = apply(op, old, left, 8);
                            // Of equal numbers of several ranks any may come first.
                            assert!(together == source || f64::from_bits(source) == 0.0);
                        }
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "floating-point operation on 2 bytes")]
    fn half_precision_is_left_to_the_pass() {
        apply(FAdd, 0, 0, 2);
    }
}
