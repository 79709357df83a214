//! Sums that do not depend on the order of their terms.
//!
//! Guarantee: a sum of doubles is rounded once, however many terms there are, and to even. With terms that are not
//! finite it is what adding them in any order gives; a sum that is zero is positive.

/// Bits of a digit.
const DIGIT: u32 = 32;

/// Digits of a sum, the first in units of the least double there is: those of the greatest double, and room for as many
/// terms as a rank can add in its life.
const DIGITS: usize = 70;

/// A sum so far.
#[derive(Clone)]
pub(crate) struct Exact {
    /// Each may have a sign of its own, and be longer than a digit until it is carried on.
    digits: [i64; DIGITS],
    /// Terms since then, at most.
    terms: u32,
    /// What infinite terms and such that are no numbers add up to.
    infinite: f64,
}

/// So many terms fit before digits are carried on: each adds less than one of a digit's 2^32.
const MOST_TERMS: u32 = 1 << 30;

/// Bytes of a sum that is sent.
pub(crate) const BYTES: usize = (DIGITS + 1) * size_of::<i64>();

/// Explicit bits of a double's fraction.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;

impl Default for Exact {
    fn default() -> Self {
        Self {
            digits: [0; DIGITS],
            terms: 0,
            infinite: 0.0,
        }
    }
}

impl Exact {
    pub(crate) fn add(&mut self, term: f64) {
        if term == 0.0 {
            return;
        }
        if !term.is_finite() {
            self.infinite += term;
            return;
        }
        let bits = term.to_bits();
        let exponent = (bits >> FRACTION & 0x7ff) as u32;
        let fraction = bits & ((1 << FRACTION) - 1);
        // The least exponent stands for numbers without a leading one.
        let (whole, shift) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << FRACTION, exponent - 1),
        };
        let wide = u128::from(whole) << (shift % DIGIT);
        let first = (shift / DIGIT) as usize;
        for (at, digit) in self.digits[first..first + 3].iter_mut().enumerate() {
            let part = i64::from((wide >> (at as u32 * DIGIT)) as u32);
            *digit += if term < 0.0 { -part } else { part };
        }
        self.terms += 1;
        if self.terms == MOST_TERMS {
            self.carry();
        }
    }

    /// Makes all digits but the last positive and short.
    fn carry(&mut self) {
        let mut over = 0;
        let (last, digits) = self.digits.split_last_mut().expect("there are digits");
        for digit in digits {
            let sum = *digit + over;
            over = sum >> DIGIT;
            *digit = sum - (over << DIGIT);
        }
        *last += over;
        self.terms = 1;
    }

    /// The sum, for another rank.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        self.carry();
        let digits = self.digits.iter().flat_map(|digit| digit.to_ne_bytes());
        digits.chain(self.infinite.to_ne_bytes()).collect()
    }

    /// Adds what another rank has sent.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        self.carry();
        let (digits, infinite) = bytes.split_at(BYTES - size_of::<f64>());
        let digits = digits.chunks_exact(size_of::<i64>());
        for (digit, other) in self.digits.iter_mut().zip(digits) {
            *digit += i64::from_ne_bytes(other.try_into().expect("its bytes"));
        }
        self.infinite += f64::from_ne_bytes(infinite.try_into().expect("its bytes"));
        self.carry();
    }

    /// The double that is nearest to the sum.
    pub(crate) fn value(&self) -> f64 {
        if self.infinite != 0.0 {
            // Which of those that are no numbers it is depends on the order.
            return match self.infinite.is_nan() {
                true => f64::NAN,
                false => self.infinite,
            };
        }
        let mut sum = self.clone();
        sum.carry();
        if sum.digits[DIGITS - 1] < 0 {
            for digit in &mut sum.digits {
                *digit = -*digit;
            }
            sum.carry();
            return -sum.magnitude();
        }
        sum.magnitude()
    }

    /// Of a sum that is not negative and has been carried.
    fn magnitude(&self) -> f64 {
        let Some(high) = self.digits.iter().rposition(|&digit| digit != 0) else {
            return 0.0;
        };
        // The three highest digits have all bits of the result, and those by which it is rounded.
        let digit = |below: usize| high.checked_sub(below).map_or(0, |at| self.digits[at]);
        let top = (0..3).fold(0, |top, below| top << DIGIT | digit(below) as u128);
        let bits = high as u32 * DIGIT + (self.digits[high] as u64).ilog2() + 1;
        let Some(dropped) = bits.checked_sub(f64::MANTISSA_DIGITS) else {
            // Units of the least double, which is what its bits count.
            let units = top >> (2 * DIGIT) << (high as u32 * DIGIT);
            let low = if high == 1 { digit(1) as u128 } else { 0 };
            return f64::from_bits((units | low) as u64);
        };
        let below = dropped as i64 - (high as i64 - 2) * i64::from(DIGIT);
        let (whole, rest) = (top >> below, top & ((1 << below) - 1));
        let half = 1 << (below - 1);
        let has_more = self.digits[..high.saturating_sub(2)]
            .iter()
            .any(|&digit| digit != 0);
        let is_up = rest > half || rest == half && (has_more || whole & 1 == 1);
        // A carry out of the fraction makes the exponent one larger, as it should.
        let bits = (u64::from(dropped) << FRACTION) + whole as u64 + u64::from(is_up);
        f64::from_bits(bits.min(f64::INFINITY.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn sum(terms: &[f64]) -> f64 {
        let mut sum = Exact::default();
        for &term in terms {
            sum.add(term);
        }
        sum.value()
    }

    #[test]
    fn sums_are_rounded_once_and_to_even() {
        let least = f64::from_bits(1);
        let ulp = f64::EPSILON;
        for (terms, expected) in [
            (&[][..], 0.0),
            (&[-0.0], 0.0),
            (&[1.5, -1.5], 0.0),
            (&[1e300, 1.0, -1e300], 1.0),
            (&[1.0, ulp / 2.0], 1.0),
            (&[1.0 + ulp, ulp / 2.0], 1.0 + 2.0 * ulp),
            (&[1.0, ulp / 2.0, least], 1.0 + ulp),
            (&[1.0, ulp / 2.0, -least], 1.0),
            (&[-1.0, -ulp / 2.0, -least], -1.0 - ulp),
            (&[least, least, -5.0 * least], -3.0 * least),
            (&[f64::MIN_POSITIVE, -least], f64::MIN_POSITIVE - least),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
            (&[1.0, f64::NEG_INFINITY], f64::NEG_INFINITY),
        ] {
            assert_eq!(sum(terms).to_bits(), expected.to_bits(), "{terms:?}");
        }
        assert!(sum(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, f64::INFINITY]).is_nan());
    }

    #[test]
    fn two_terms_are_added_as_the_processor_does() {
        let mut random = Random(9);
        for _ in 0..100_000 {
            let words = [(); 3].map(|()| random.below(1 << 31) as u64);
            let one = f64::from_bits(words[0] << 33 ^ words[1] << 2 ^ words[2] & 3);
            let other = match random.below(3) {
                0 => f64::from_bits(words[2] << 33 ^ words[0]),
                1 => one * (random.below(9) as f64 - 4.0),
                _ => f64::from_bits(one.to_bits() ^ (words[2] << 63 | 1)),
            };
            if one.is_finite() && other.is_finite() {
                assert_eq!(sum(&[one, other]).to_bits(), (one + other + 0.0).to_bits());
            }
        }
    }

    #[test]
    fn order_and_ranks_make_no_difference() {
        let mut random = Random(4);
        for _ in 0..200 {
            let terms: Vec<f64> = (0..random.below(60))
                .map(|_| {
                    let size = 2f64.powi(random.below(2000) as i32 - 1000);
                    (random.below(1 << 30) as f64 - (1 << 29) as f64) * size
                })
                .collect();
            let expected = sum(&terms).to_bits();
            let backwards: Vec<f64> = terms.iter().rev().copied().collect();
            assert_eq!(sum(&backwards).to_bits(), expected);
            let mut ranks = [(); 3].map(|()| Exact::default());
            for &term in &terms {
                ranks[random.below(3)].add(term);
            }
            let mut all = Exact::default();
            for rank in &mut ranks {
                all.add_bytes(&rank.bytes());
            }
            assert_eq!(all.value().to_bits(), expected);
        }
    }
}
