//! Integers that are sums of products of unknown ones: what places and lengths are as functions of a loop's iteration.
//!
//! Guarantee: two polynomials of the same unknowns are equal where they are the same number for all values of these.
//! Numbers are unbounded here; whoever wants to know whether the program's own overflow has to check that. What has many
//! terms is not worth its time: powers of sums are not written out.

use std::fmt::{self, Display};

/// Terms of a sum.
const MOST_TERMS: usize = 64;

/// A sum of products.
#[derive(Clone, Debug)]
pub struct Polynomial<A> {
    /// Factors and the number that they are multiplied with, which is not 0; no two have the same factors.
    terms: Vec<(Vec<A>, i64)>,
}

impl<A: Clone + PartialEq> Polynomial<A> {
    /// A number.
    pub fn constant(number: i64) -> Self {
        let terms = match number {
            0 => Vec::new(),
            _ => vec![(Vec::new(), number)],
        };
        Self { terms }
    }

    /// An unknown.
    pub fn of(unknown: A) -> Self {
        Self {
            terms: vec![(vec![unknown], 1)],
        }
    }

    /// The number that it is; `None` where that depends on something.
    pub fn as_constant(&self) -> Option<i64> {
        match &self.terms[..] {
            [] => Some(0),
            [(factors, number)] if factors.is_empty() => Some(*number),
            _ => None,
        }
    }

    /// Its products: unknowns, and the number that they are multiplied with.
    pub fn terms(&self) -> impl Iterator<Item = (&[A], i64)> {
        self.terms
            .iter()
            .map(|(factors, times)| (&factors[..], *times))
    }

    /// The sum; `None` where a number in it is too large, or there are too many.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (factors, number) in &other.terms {
            sum.add(factors, *number)?;
        }
        Some(sum)
    }

    /// The difference; `None` as of a sum.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&Self::constant(-1))?)
    }

    /// The product; `None` as of a sum.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::constant(0);
        for (a, times) in &self.terms {
            for (b, number) in &other.terms {
                let factors: Vec<A> = a.iter().chain(b).cloned().collect();
                product.add(&factors, times.checked_mul(*number)?)?;
            }
        }
        Some(product)
    }

    /// Whether an unknown that it depends on, as a factor, is such.
    pub fn depends_on(&self, is_it: impl Fn(&A) -> bool) -> bool {
        self.terms
            .iter()
            .any(|(factors, _)| factors.iter().any(&is_it))
    }

    /// The number that it is where the unknowns are these.
    #[cfg(test)]
    pub fn value(&self, of: &impl Fn(&A) -> i128) -> i128 {
        let term = |(factors, number): &(Vec<A>, i64)| {
            i128::from(*number) * factors.iter().map(of).product::<i128>()
        };
        self.terms.iter().map(term).sum()
    }

    fn add(&mut self, factors: &[A], number: i64) -> Option<()> {
        let same = self
            .terms
            .iter()
            .position(|(known, _)| is_permutation(known, factors));
        match same {
            Some(at) => {
                let sum = self.terms[at].1.checked_add(number)?;
                match sum {
                    0 => {
                        self.terms.remove(at);
                    }
                    _ => self.terms[at].1 = sum,
                }
            }
            None if number == 0 => {}
            None if self.terms.len() == MOST_TERMS => return None,
            None => self.terms.push((factors.to_vec(), number)),
        }
        Some(())
    }
}

impl<A: Clone + PartialEq> PartialEq for Polynomial<A> {
    fn eq(&self, other: &Self) -> bool {
        self.terms.len() == other.terms.len()
            && self.terms.iter().all(|(factors, number)| {
                let mut others = other.terms.iter();
                others.any(|(known, other)| number == other && is_permutation(known, factors))
            })
    }
}

fn is_permutation<A: PartialEq>(a: &[A], b: &[A]) -> bool {
    let count = |list: &[A], one: &A| list.iter().filter(|&other| other == one).count();
    a.len() == b.len() && a.iter().all(|one| count(a, one) == count(b, one))
}

impl<A: Display> Display for Polynomial<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (index, (factors, number)) in self.terms.iter().enumerate() {
            match (index, *number < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let size = number.unsigned_abs();
            if factors.is_empty() || size != 1 {
                write!(f, "{size}")?;
                if !factors.is_empty() {
                    f.write_str(" * ")?;
                }
            }
            for (index, factor) in factors.iter().enumerate() {
                let between = if index == 0 { "" } else { " * " };
                write!(f, "{between}{factor}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type P = Polynomial<char>;

    fn value(one: &P, of: [i64; 3]) -> i128 {
        one.value(&|&unknown| i128::from(of[unknown as usize - 'a' as usize]))
    }

    #[test]
    fn sums_and_products_are_those_of_the_values() {
        let mut state = 0x1234_5678_9abc_def1_u64;
        let mut random = |bound: i64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as i64 % bound
        };
        let any = |random: &mut dyn FnMut(i64) -> i64| {
            let mut sum = P::constant(random(9) - 4);
            for _ in 0..random(4) {
                let mut product = P::constant(random(9) - 4);
                for _ in 0..random(3) {
                    let factor = P::of((b'a' + random(3) as u8) as char);
                    product = product.times(&factor).expect("it is small");
                }
                sum = sum.plus(&product).expect("it is small");
            }
            sum
        };
        for _ in 0..500 {
            let (a, b) = (any(&mut random), any(&mut random));
            let of = [random(19) - 9, random(19) - 9, random(19) - 9];
            let (sum, product) = (a.plus(&b).expect("small"), a.times(&b).expect("small"));
            assert_eq!(
                value(&sum, of),
                value(&a, of) + value(&b, of),
                "{a} + {b} = {sum}"
            );
            assert_eq!(
                value(&product, of),
                value(&a, of) * value(&b, of),
                "({a}) * ({b})"
            );
            assert_eq!(a.minus(&a).expect("small").as_constant(), Some(0));
            assert!(sum.minus(&b).expect("small") == a, "{sum} - {b}");
            assert!(b.times(&a).expect("small") == product);
            assert!(
                P::of('a')
                    .times(&P::constant(2))
                    .expect("small")
                    .depends_on(|&one| one == 'a')
            );
        }
    }

    #[test]
    fn numbers_that_are_too_large_are_none() {
        let large = P::constant(i64::MAX);
        assert!(large.plus(&P::constant(1)).is_none());
        assert!(large.times(&P::constant(2)).is_none());
        assert!(large.plus(&P::of('a')).is_some());
    }

    #[test]
    fn powers_of_sums_are_not_written_out() {
        let mut power = ('a'..='e').fold(P::constant(0), |sum, one| {
            sum.plus(&P::of(one)).expect("small")
        });
        let squared = (1..=10).find(|_| match power.times(&power) {
            Some(square) => {
                power = square;
                false
            }
            None => true,
        });
        // The fourth power has 70 terms.
        assert_eq!(squared, Some(2));
    }

    #[test]
    fn they_are_written_as_sums() {
        let (a, b) = (P::of('a'), P::of('b'));
        let one = a.times(&P::constant(8)).and_then(|one| one.minus(&b));
        let one = one
            .and_then(|one| one.plus(&P::constant(-4)))
            .expect("small");
        assert_eq!(one.to_string(), "8 * a - b - 4");
        assert_eq!(P::constant(0).to_string(), "0");
    }
}
