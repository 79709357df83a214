//! The geometry of a declared section.

use super::ranges::{Range, Ranges};

/// `element` bytes at `start + sum(index[d] * stride[d])` for every `index[d] < count[d]`.
///
/// Strides are positive, counts at least 2, and the dimensions are ordered by their strides, the largest
/// first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    start: u64,
    element: u64,
    dimensions: Vec<(u64, u64)>,
}

/// Gaps up to this many bytes are read too: a longer copy is cheaper than two.
const READ_OVER: u64 = 256;

/// So many pieces are looked at one by one.
const FEW: u64 = if cfg!(test) { 2 } else { 32 };

impl Shape {
    /// The section that a declaration describes; `None` where it is empty. `dimensions` are (stride,
    /// count). An error where it does not fit the address space.
    pub fn new(
        start: u64,
        element: i64,
        dimensions: impl Iterator<Item = (i64, i64)>,
    ) -> Result<Option<Self>, DoesNotFit> {
        let mut start = i128::from(start);
        let mut shape = Self {
            start: 0,
            element: u64::try_from(element).map_err(|_| DoesNotFit)?,
            dimensions: Vec::new(),
        };
        let mut extent = i128::from(element);
        let mut is_empty = element == 0;
        for (stride, count) in dimensions {
            // What the program could not compute.
            if count == i64::MAX {
                return Err(DoesNotFit);
            }
            if count <= 0 {
                is_empty = true;
            }
            if count <= 1 || stride == 0 {
                continue;
            }
            let span = i128::from(stride) * i128::from(count - 1);
            start += span.min(0);
            extent += span.abs();
            if extent > i128::from(i64::MAX) {
                return Err(DoesNotFit);
            }
            shape
                .dimensions
                .push((stride.unsigned_abs(), count.unsigned_abs()));
        }
        if is_empty {
            return Ok(None);
        }
        shape.start = u64::try_from(start).map_err(|_| DoesNotFit)?;
        shape.start.checked_add(extent as u64).ok_or(DoesNotFit)?;
        shape
            .dimensions
            .sort_unstable_by_key(|&(stride, _)| std::cmp::Reverse(stride));
        shape.fold(0);
        Ok(Some(shape))
    }

    /// All of a range.
    pub fn whole((start, end): Range) -> Self {
        Self {
            start,
            element: end - start,
            dimensions: Vec::new(),
        }
    }

    /// The same with its narrow gaps, for reading.
    #[must_use]
    pub fn without_narrow_gaps(mut self) -> Self {
        self.fold(READ_OVER);
        self
    }

    /// The same at `start + distance`.
    #[must_use]
    pub fn moved_to(mut self, start: u64) -> Self {
        self.start = start;
        self
    }

    /// Joins the innermost dimensions whose elements leave gaps of at most `gap` bytes.
    fn fold(&mut self, gap: u64) {
        while let Some(&(stride, count)) = self.dimensions.last()
            && stride <= self.element + gap
        {
            self.element += stride * (count - 1);
            self.dimensions.pop();
        }
    }

    /// From its first byte to its last.
    pub fn hull(&self) -> Range {
        let span = span(&self.dimensions);
        (self.start, self.start + span + self.element)
    }

    /// Number of ranges of bytes it consists of, at most.
    pub fn pieces(&self) -> u64 {
        let counts = self.dimensions.iter().map(|&(_, count)| count);
        counts.fold(1, u64::saturating_mul)
    }

    /// Its bytes.
    pub fn ranges(&self) -> Ranges {
        let mut ranges = Vec::with_capacity(self.pieces() as usize);
        self.add(self.start, &self.dimensions, &mut ranges);
        Ranges::of(ranges)
    }

    /// Adds the elements at `start` and in these dimensions.
    fn add(&self, start: u64, dimensions: &[(u64, u64)], ranges: &mut Vec<Range>) {
        match *dimensions {
            [] => ranges.push((start, start + self.element)),
            [(stride, count)] => ranges.extend((0..count).map(|index| {
                let start = start + index * stride;
                (start, start + self.element)
            })),
            [(stride, count), ref inner @ ..] => {
                for index in 0..count {
                    self.add(start + index * stride, inner, ranges);
                }
            }
        }
    }

    /// Its bytes; of the parts in many pieces of which `is_one` says so of their hull, all of that instead.
    pub(crate) fn ranges_or_hulls(&self, is_one: &impl Fn(Range) -> bool) -> Ranges {
        let mut ranges = Vec::new();
        self.add_or_hulls(self.start, &self.dimensions, is_one, &mut ranges);
        Ranges::of(ranges)
    }

    fn add_or_hulls(
        &self,
        start: u64,
        dimensions: &[(u64, u64)],
        is_one: &impl Fn(Range) -> bool,
        ranges: &mut Vec<Range>,
    ) {
        let [(stride, count), inner @ ..] = dimensions else {
            return self.add(start, dimensions, ranges);
        };
        let counts = dimensions.iter().map(|&(_, count)| count);
        if counts.fold(1, u64::saturating_mul) <= FEW {
            return self.add(start, dimensions, ranges);
        }
        let hull = (start, start + span(dimensions) + self.element);
        if is_one(hull) {
            return ranges.push(hull);
        }
        for index in 0..*count {
            self.add_or_hulls(start + index * stride, inner, is_one, ranges);
        }
    }

    /// Words of a shape without dimensions.
    pub(crate) const WORDS: usize = 3;

    /// Number of words that describe it.
    pub(crate) fn words(&self) -> usize {
        Self::WORDS + 2 * self.dimensions.len()
    }

    /// As words: start, element, number of dimensions, (stride, count) of each.
    pub(crate) fn push_to(&self, words: &mut Vec<u64>) {
        words.extend([self.start, self.element, self.dimensions.len() as u64]);
        for &(stride, count) in &self.dimensions {
            words.extend([stride, count]);
        }
    }

    /// From words of [`Shape::push_to`], which are taken off.
    pub(crate) fn take_from(words: &mut &[u64]) -> Self {
        let (header, rest) = words.split_at(Self::WORDS);
        let (dimensions, rest) = rest.split_at(2 * header[2] as usize);
        *words = rest;
        Self {
            start: header[0],
            element: header[1],
            dimensions: dimensions
                .chunks(2)
                .map(|pair| (pair[0], pair[1]))
                .collect(),
        }
    }
}

/// From the first element to the last one.
fn span(dimensions: &[(u64, u64)]) -> u64 {
    let spans = dimensions.iter();
    spans.map(|&(stride, count)| stride * (count - 1)).sum()
}

/// A section that reaches beyond the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoesNotFit;

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    fn enumerate(start: u64, element: i64, dimensions: &[(i64, i64)]) -> Ranges {
        let mut bytes = vec![start as i64];
        for &(stride, count) in dimensions {
            bytes = bytes
                .iter()
                .flat_map(|&at| (0..count).map(move |index| at + index * stride))
                .collect();
        }
        Ranges::of(
            bytes
                .into_iter()
                .map(|at| (at as u64, (at + element) as u64))
                .collect(),
        )
    }

    #[test]
    fn the_bytes_of_a_section_are_those_its_loops_touch() {
        let mut random = Random(7);
        let mut below = |bound: u64| random.below(bound as usize) as i64;
        for _ in 0..3000 {
            let element = 1 + below(9);
            let dimensions: Vec<(i64, i64)> =
                (0..below(4)).map(|_| (below(81) - 40, below(9))).collect();
            let shape = Shape::new(1000, element, dimensions.iter().copied()).expect("small");
            let expected = enumerate(1000, element, &dimensions);
            let Some(shape) = shape else {
                assert!(expected.is_empty(), "{dimensions:?}");
                continue;
            };
            assert_eq!(shape.ranges(), expected, "{element} {dimensions:?}");
            assert!(shape.pieces() >= expected.iter().count() as u64);
            assert_eq!(shape.ranges_or_hulls(&|_| false), expected);
            let below_1000 = |(_, end): Range| end < 1000;
            let some = shape.ranges_or_hulls(&below_1000);
            assert!(expected.minus(&some).is_empty());
            assert!(some.minus(&expected).iter().all(below_1000));
            let mut ends = expected.iter();
            let first = ends.next().expect("not empty");
            let last = ends.next_back().unwrap_or(first);
            assert_eq!(shape.hull(), (first.0, last.1));
            let closed = shape.clone().without_narrow_gaps();
            assert!(expected.minus(&closed.ranges()).is_empty());
            assert_eq!(closed.hull(), shape.hull());
            let mut words = vec![];
            shape.push_to(&mut words);
            assert_eq!(words.len(), shape.words());
            assert_eq!(Shape::take_from(&mut &words[..]), shape);
        }
    }

    #[test]
    fn what_does_not_fit_is_found() {
        let huge = [(1 << 40, 1 << 40)];
        assert_eq!(Shape::new(0, 8, huge.into_iter()), Err(DoesNotFit));
        assert_eq!(Shape::new(8, 8, [(-16, 2)].into_iter()), Err(DoesNotFit));
        assert_eq!(Shape::new(0, -1, [].into_iter()), Err(DoesNotFit));
        assert_eq!(
            Shape::new(0, 8, [(0, i64::MAX)].into_iter()),
            Err(DoesNotFit)
        );
        assert_eq!(Shape::new(0, 8, [(8, 0)].into_iter()), Ok(None));
    }
}
