//! Which bytes a kernel accesses of what its addresses lead to, as the compiler says it ([`okl_abi::gpu::section`]).
//!
//! Guarantee: of an object of which parts are said the kernel accesses nothing else, if it stays within the object. What the
//! program computes in 32 bits is what is computed here but for multiples of 2^32: where such another place could be in the
//! object, too, all of it is said to be accessed.

use std::ops::Range;

use okl_abi::gpu::section;

use crate::described::Described;
use crate::values::Values;

/// What the program's numbers may be off by.
const WRAPS: i128 = 1 << 32;

/// From the least one to the largest one.
type Numbers = [i128; 2];

/// What is accessed by an address that a kernel is passed.
#[derive(Debug, PartialEq)]
pub struct Accessed {
    /// Which parameter the address is.
    pub parameter: usize,
    /// Whether it is written.
    pub writes: bool,
    /// Which bytes, from where it leads to; `None`: all may be.
    bytes: Option<Range<i128>>,
}

impl Accessed {
    /// What of an object is accessed by an address in it, or near it.
    pub fn of(&self, object: &Range<usize>, address: usize) -> Range<usize> {
        let at = |place: usize| place as i128 - address as i128;
        let (start, end) = (at(object.start), at(object.end));
        match &self.bytes {
            Some(bytes) if bytes.start + WRAPS >= end && bytes.end - WRAPS <= start => {
                let place = |at: i128| (address as i128 + at.clamp(start, end)) as usize;
                place(bytes.start)..place(bytes.end)
            }
            _ => object.clone(),
        }
    }
}

/// All that a kernel accesses by its addresses; empty where nothing is known.
pub fn all(kernel: &Described, values: &Values) -> Vec<Accessed> {
    let number = |at: i64| {
        let at = usize::try_from(at).ok()?;
        let parameter = kernel.parameters.get(at)?;
        (parameter.kind == 0).then(|| values.number(at, parameter.size))?
    };
    let mut all = Vec::new();
    let mut said = Said {
        numbers: kernel.sections,
        number: &number,
        is_known: true,
    };
    let (Some(from), Some(to)) = (said.value(), said.value()) else {
        return all;
    };
    while !said.numbers.is_empty() {
        match said.section([from, to]) {
            Some(one) => all.push(one),
            // Nothing behind it can be read.
            None => return Vec::new(),
        }
    }
    all
}

/// What is left to read.
struct Said<'a> {
    numbers: &'a [i64],
    number: &'a dyn Fn(i64) -> Option<i128>,
    /// Whether what has been read means what it says.
    is_known: bool,
}

impl Said<'_> {
    fn next(&mut self) -> Option<i64> {
        let (first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(*first)
    }

    /// The number that a parameter is.
    fn value(&mut self) -> Option<i128> {
        let at = self.next()?;
        (self.number)(at)
    }

    fn section(&mut self, iterations: Numbers) -> Option<Accessed> {
        let parameter = usize::try_from(self.next()?).ok()?;
        let writes = self.next()? != 0;
        let element = self.next()?;
        if element == section::ANYWHERE {
            let bytes = None;
            return Some(Accessed {
                parameter,
                writes,
                bytes,
            });
        }
        self.is_known = true;
        let [mut low, mut high] = self.sum(iterations)?;
        for _ in 0..self.next()? {
            let [stride, count] = [self.sum(iterations)?, self.sum(iterations)?];
            // A number that has wrapped around is negative here, or so large.
            self.is_known &= count[0] >= 0 && count[1] < WRAPS / 2;
            let times = count[1].max(1) - 1;
            low += (times.checked_mul(stride[0])?).min(0);
            high += (times.checked_mul(stride[1])?).max(0);
        }
        let bytes = low..high.checked_add(element.into())?;
        Some(Accessed {
            parameter,
            writes,
            bytes: self.is_known.then_some(bytes),
        })
    }

    /// All that a sum may be while iterations run.
    fn sum(&mut self, [from, to]: Numbers) -> Option<Numbers> {
        let mut again = Said { ..*self };
        match self.degree()? {
            // Between its values at both ends.
            0 | 1 => {
                let mut last = Said { ..again };
                let ends = [again.sum_of([from; 2])?, last.sum_of([to; 2])?];
                self.is_known &= again.is_known && last.is_known;
                let [first, last] = ends;
                Some([first[0].min(last[0]), first[1].max(last[1])])
            }
            _ => {
                let all = again.sum_of([from, to]);
                self.is_known &= again.is_known;
                all
            }
        }
    }

    fn sum_of(&mut self, iterations: Numbers) -> Option<Numbers> {
        let mut sum: Numbers = [0; 2];
        for _ in 0..self.next()? {
            let times = i128::from(self.next()?);
            let mut product = [times; 2];
            for _ in 0..self.next()? {
                let factor = match self.next()? {
                    section::ITERATION => iterations,
                    section::ONE_OF => {
                        let mut any: Option<Numbers> = None;
                        for _ in 0..self.next()? {
                            let [low, high] = self.sum_of(iterations)?;
                            let [least, largest] = any.unwrap_or([low, high]);
                            any = Some([least.min(low), largest.max(high)]);
                        }
                        any?
                    }
                    section::TURN => {
                        let [low, high] = self.sum_of(iterations)?;
                        // A number that has wrapped around is negative here, or so large.
                        self.is_known &= low >= 0 && high < WRAPS / 2;
                        [0, high.max(0)]
                    }
                    at => [(self.number)(at)?; 2],
                };
                product = times_each(product, factor)?;
            }
            for (sum, one) in sum.iter_mut().zip(product) {
                *sum = sum.checked_add(one)?;
            }
        }
        // What is further away is nowhere, and what is computed of it here does not overflow.
        sum.iter().all(|one| one.abs() < 1 << 100).then_some(sum)
    }

    /// How often the number of the iteration is a factor; more than once where one of several sums is chosen that have it.
    fn degree(&mut self) -> Option<usize> {
        let mut most = 0;
        for _ in 0..self.next()? {
            self.next()?;
            let mut degree = 0;
            for _ in 0..self.next()? {
                match self.next()? {
                    section::ITERATION => degree += 1,
                    section::ONE_OF => {
                        for _ in 0..self.next()? {
                            degree += 2 * self.degree()?;
                        }
                    }
                    section::TURN => degree += 2 * self.degree()?,
                    _ => {}
                }
            }
            most = most.max(degree);
        }
        Some(most)
    }
}

fn times_each([a, b]: Numbers, [c, d]: Numbers) -> Option<Numbers> {
    let mut all = [0; 4];
    for (product, (one, other)) in all.iter_mut().zip([(a, c), (a, d), (b, c), (b, d)]) {
        *product = one.checked_mul(other)?;
    }
    Some([*all.iter().min()?, *all.iter().max()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is accessed where parameters are these numbers.
    fn read(numbers: &[i64], parameters: &[i128]) -> Option<Accessed> {
        let number = |at: i64| parameters.get(usize::try_from(at).ok()?).copied();
        let mut said = Said {
            numbers,
            number: &number,
            is_known: true,
        };
        let [from, to] = [said.value()?, said.value()?];
        said.section([from, to])
    }

    /// `a[i * n + j - 1]` of numbers of 8 bytes, j from 0 to n - 3.
    const ROWS: &[i64] = &[
        0,
        1,
        3,
        0,
        8,
        2,
        8,
        2,
        section::ITERATION,
        2,
        -8,
        0,
        1,
        1,
        8,
        0,
        2,
        1,
        1,
        2,
        -2,
        0,
    ];

    #[test]
    fn places_are_those_of_the_iterations() {
        let one = read(ROWS, &[10, 19, 100, 0]).unwrap();
        assert_eq!(one.bytes, Some(8 * 1000 - 8..8 * 1900 - 8 + 8 * 98));
        let object = 0x10_0000..0x10_0000 + 8 * 100 * 100;
        assert_eq!(
            one.of(&object, 0x10_0000),
            0x10_0000 + 7992..0x10_0000 + 15976
        );
        // The address is behind the beginning of its object, which ends before the last row does.
        assert_eq!(
            one.of(&(0x10_0000 - 64..0x10_3000), 0x10_0000),
            0x10_0000 + 7992..0x10_3000
        );
        let first = read(ROWS, &[0, 4, 100, 0]).unwrap();
        assert_eq!(first.of(&object, 0x10_0000), 0x10_0000..0x10_0000 + 8 * 497);
    }

    #[test]
    fn numbers_that_may_have_wrapped_around_are_of_no_use() {
        // A negative count.
        let one = read(ROWS, &[10, 19, 1, 0]).unwrap();
        assert_eq!(one.bytes, None);
        assert_eq!(one.of(&(50..100), 60), 50..100);
        // 2^32 bytes further there may be something, too.
        let far = Accessed {
            parameter: 0,
            writes: false,
            bytes: Some(-8..8),
        };
        assert_eq!(
            far.of(&(0x1000..0x1000 + (1 << 33)), 0x1000),
            0x1000..0x1000 + (1 << 33)
        );
        assert_eq!(
            far.of(&(0x1000..0x1000 + (1 << 31)), 0x1000),
            0x1000..0x1008
        );
        assert_eq!(
            read(
                &[0, 1, 2, 0, 8, 1, i64::MAX, 3, 0, 0, 0, 0],
                &[1 << 62, 1 << 62, 0]
            ),
            None
        );
    }

    #[test]
    fn whichever_of_some_sums_it_is() {
        // a[min(i, n)]
        let numbers = [
            0,
            1,
            3,
            1,
            4,
            1,
            4,
            1,
            section::ONE_OF,
            2,
            1,
            1,
            1,
            section::ITERATION,
            1,
            1,
            1,
            2,
            0,
        ];
        let one = read(&numbers, &[10, 20, 15, 0]).unwrap();
        assert_eq!((one.writes, one.bytes), (true, Some(40..84)));
        // i * i
        let square = [
            0,
            1,
            3,
            0,
            1,
            1,
            1,
            2,
            section::ITERATION,
            section::ITERATION,
            0,
        ];
        let one = read(&square, &[-3, 2, 0, 0]).unwrap();
        let turns = |last| {
            let numbers = [
                0,
                1,
                3,
                0,
                8,
                2,
                80,
                1,
                section::ITERATION,
                8,
                1,
                section::TURN,
                1,
                1,
                1,
                2,
                0,
            ];
            read(&numbers, &[5, 6, last, 0]).unwrap().bytes
        };
        assert_eq!(
            (turns(9), turns(0), turns(-1)),
            (Some(400..560), Some(400..488), None)
        );
        assert_eq!(one.bytes, Some(-6..10));
        assert_eq!(
            read(&[0, 1, 3, 0, section::ANYWHERE], &[0, 1])
                .unwrap()
                .bytes,
            None
        );
        assert_eq!(read(&[0, 1, 3, 0, 8, 1], &[0, 1]), None);
    }
}
