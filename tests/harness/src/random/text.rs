//! Random numbers and indented text, both deterministic.

/// SplitMix64: the same seed gives the same program everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.between(1, 100) <= percent
    }

    pub(crate) fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() - 1)]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.between(0, at));
        }
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.between(0, from.len() - 1)]
    }
}

/// Lines of C, indented by the braces they open and close.
#[derive(Default)]
pub(crate) struct Text {
    lines: String,
    depth: usize,
}

impl Text {
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.depth -= 1;
        }
        let pragma = line.starts_with('#');
        let indent = if pragma { 0 } else { self.depth * 2 };
        self.lines.push_str(&" ".repeat(indent));
        self.lines.push_str(line);
        self.lines.push('\n');
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    pub(crate) fn into_string(self) -> String {
        self.lines
    }
}
