//! What communication cost: the columns of the tables of regions and of lines.
//!
//! What moves is counted by its cause, wherever the ranks are: within a node it is copied, between nodes
//! it takes messages, which are counted as well.

use std::{array, fmt::Write};

use okl_job::json::Object;

/// The columns. `KiB` belongs to the column before it.
const COLUMNS: [&str; 14] = [
    "runs",
    "ms in okl",
    "ms waiting",
    "faults",
    "sections",
    "KiB",
    "pages",
    "KiB",
    "diffs",
    "KiB",
    "control",
    "KiB",
    "messages",
    "KiB",
];

const RUNS: usize = 0;
const INSIDE: usize = 1;
const FAULTS: usize = 3;

/// Sums, in the order of [`COLUMNS`]; times in nanoseconds, sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Costs([u64; COLUMNS.len()]);

impl Costs {
    pub(super) const NONE: Self = Self([0; COLUMNS.len()]);

    /// Those of this rank since the start, but for times, which are given, and runs.
    pub(super) fn so_far(inside: u64, waited: u64) -> Self {
        let (protocol, sent) = super::moved();
        Self([
            0,
            inside,
            waited,
            protocol.read_faults + protocol.write_faults,
            protocol.pulls,
            protocol.pulled_bytes,
            protocol.pages_fetched + protocol.private_pages_fetched,
            protocol.fetched_bytes,
            protocol.diffs,
            protocol.diff_bytes,
            sent.messages - sent.data_messages,
            sent.bytes - sent.data_bytes,
            sent.messages,
            sent.bytes,
        ])
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self(array::from_fn(|column| self.0[column] + other.0[column]))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self(array::from_fn(|column| {
            self.0[column].saturating_sub(other.0[column])
        }))
    }

    pub(super) fn with_runs(mut self, runs: u64) -> Self {
        self.0[RUNS] = runs;
        self
    }

    pub(super) fn runs(&self) -> u64 {
        self.0[RUNS]
    }

    /// Time in the runtime.
    pub(super) fn with_inside(mut self, nanoseconds: u64) -> Self {
        self.0[INSIDE] = nanoseconds;
        self
    }

    pub(super) fn inside(&self) -> u64 {
        self.0[INSIDE]
    }

    /// Of two places the one that moves more is the more interesting one.
    pub(super) fn weight(&self) -> (u64, u64, u64) {
        // Sections, pages, diffs and control.
        let bytes = (5..12).step_by(2).map(|column| self.0[column]).sum();
        (bytes, self.0[FAULTS], self.0[RUNS])
    }

    /// As they stand in a file of statistics: the times in nanoseconds, sizes in bytes.
    pub(super) fn json(&self, place: &str) -> Object {
        const NAMES: [&str; COLUMNS.len()] = [
            "runs",
            "ns in okl",
            "ns waiting",
            "faults",
            "sections",
            "section bytes",
            "pages",
            "page bytes",
            "diffs",
            "diff bytes",
            "control messages",
            "control bytes",
            "messages",
            "message bytes",
        ];
        let all = NAMES.iter().zip(&self.0);
        all.fold(
            Object::new().text("at", place),
            |object, (name, &number)| object.number(name, number),
        )
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(super) const WORDS: usize = COLUMNS.len();

    pub(super) fn from_words(words: &[u64]) -> Self {
        Self(array::from_fn(|column| words[column]))
    }
}

fn width(name: &str) -> usize {
    name.len().max(7) + 2
}

/// A table of `rows`, each with its place.
pub(super) fn table<'a>(title: &str, rows: impl Iterator<Item = (&'a Costs, &'a str)>) -> String {
    let mut text = format!("okl: {title}, sums over all ranks\n  ");
    for name in COLUMNS {
        write!(text, "{name:>0$}", width(name)).expect("writing to a string");
    }
    text.push_str("  at\n");
    for (costs, place) in rows {
        text.push_str("  ");
        for (name, &number) in COLUMNS.iter().zip(&costs.0) {
            let width = width(name);
            match *name {
                "ms in okl" | "ms waiting" => write!(text, "{:>width$.1}", number as f64 / 1e6),
                "KiB" => write!(text, "{:>width$.1}", number as f64 / 1024.0),
                _ => write!(text, "{number:>width$}"),
            }
            .expect("writing to a string");
        }
        writeln!(text, "  {place}").expect("writing to a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_number_for_each_column() {
        let costs = Costs(array::from_fn(|column| column as u64 * 100_000));
        let text = table("regions", [(&costs, "x.c:3")].into_iter());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "okl: regions, sums over all ranks");
        let numbers = [
            "0", "0.1", "0.2", "300000", "400000", "488.3", "600000", "683.6", "800000", "878.9",
            "1000000", "1074.2", "1200000", "1269.5", "x.c:3",
        ];
        assert!(lines[2].split_whitespace().eq(numbers), "{}", lines[2]);
        assert_eq!(
            lines[1].len() - "  at".len(),
            lines[2].len() - "  x.c:3".len()
        );
    }
}
