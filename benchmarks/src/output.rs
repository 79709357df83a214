//! What the programs, okl's run time and the counting library print.

use std::collections::HashMap;

/// The line every program prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) seconds: f64,
    pub(crate) iterations: u32,
    pub(crate) checksum: f64,
}

/// Finds the one line `time SECONDS iterations N checksum VALUE`.
pub(crate) fn outcome(stdout: &str) -> Result<Outcome, String> {
    let mut found = stdout.lines().filter_map(outcome_of_line);
    match (found.next(), found.next()) {
        (Some(outcome), None) => Ok(outcome),
        (Some(_), Some(_)) => Err("printed its result more than once".into()),
        (None, _) => Err(format!(
            "printed no `time ... iterations ... checksum ...`, but {stdout:?}"
        )),
    }
}

fn outcome_of_line(line: &str) -> Option<Outcome> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [
        "time",
        seconds,
        "iterations",
        iterations,
        "checksum",
        checksum,
    ] = words[..]
    else {
        return None;
    };
    let seconds: f64 = seconds.parse().ok()?;
    (seconds >= 0.0 && seconds.is_finite()).then_some(())?;
    Some(Outcome {
        seconds,
        iterations: iterations.parse().ok()?,
        checksum: checksum.parse().ok()?,
    })
}

/// Whether two checksums mean the same result. What is not a finite number never does.
pub(crate) fn same_checksum(one: f64, other: f64, tolerance: f64) -> bool {
    let difference = (one - other).abs();
    difference.is_finite() && difference <= tolerance * one.abs().max(other.abs())
}

/// A table of counts: for each label, a number for each rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts(HashMap<String, Vec<u64>>);

impl Counts {
    /// Reads the lines `LABEL NUMBER...`, one number for each rank, that follow a line ending in
    /// `statistics`, up to the next message. Lines that look otherwise are skipped, so that new
    /// ones do no harm.
    pub(crate) fn parse(stderr: &str, ranks: u32) -> Option<Self> {
        let mut lines = stderr.lines();
        lines.find(|line| line.ends_with("statistics"))?;
        let mut counts = HashMap::new();
        for line in lines.take_while(|line| !line.starts_with("okl: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(labelled) = words.len().checked_sub(ranks as usize).filter(|n| *n > 0) else {
                continue;
            };
            let (label, numbers) = words.split_at(labelled);
            let numbers: Option<Vec<u64>> = numbers.iter().map(|n| n.parse().ok()).collect();
            // A label that ends in a number is a row of more columns than ranks.
            let ends_in_number = label.last().is_some_and(|word| word.parse::<u64>().is_ok());
            if let (Some(numbers), false) = (numbers, ends_in_number) {
                counts.entry(label.join(" ")).or_insert(numbers);
            }
        }
        Some(Self(counts))
    }

    /// The sum of all ranks under `label`.
    pub(crate) fn total(&self, label: &str) -> Option<u64> {
        self.0.get(label).map(|numbers| numbers.iter().sum())
    }

    /// The largest number of a rank under `label`.
    pub(crate) fn largest(&self, label: &str) -> Option<u64> {
        self.0
            .get(label)
            .and_then(|numbers| numbers.iter().max().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_found_among_other_lines() {
        let found = outcome("hello\ntime 0.25 iterations 20 checksum -1.5e3\n").unwrap();
        let wanted = Outcome {
            seconds: 0.25,
            iterations: 20,
            checksum: -1500.0,
        };
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_missing_broken_or_second_result_is_an_error() {
        assert!(outcome("").is_err());
        assert!(outcome("time 0.25 iterations 20 checksum").is_err());
        assert!(outcome("time -1 iterations 20 checksum 3").is_err());
        assert!(outcome("time nan iterations 20 checksum 3").is_err());
        let line = "time 1 iterations 2 checksum 3\n";
        assert!(outcome(line).is_ok());
        assert!(outcome(&line.repeat(2)).is_err());
    }

    #[test]
    fn checksums_differ_by_their_tolerance() {
        assert!(same_checksum(1.0, 1.0, 0.0));
        assert!(!same_checksum(1.0, 1.0 + f64::EPSILON, 0.0));
        assert!(same_checksum(-1000.0, -1000.9, 1e-3));
        assert!(!same_checksum(-1000.0, -1001.1, 1e-3));
        assert!(!same_checksum(f64::NAN, f64::NAN, 1.0));
        assert!(!same_checksum(1.0, f64::INFINITY, 1e-3));
    }

    const TABLE: &str = "warning: something\nokl: statistics\n           forks           10           11\n     read faults            5           12\n    resident KiB          108           28\nokl: parallel regions\n forks 99 99\n late 1 2\n";

    #[test]
    fn counts_are_read_by_label() {
        let counts = Counts::parse(TABLE, 2).unwrap();
        assert_eq!(counts.total("forks"), Some(21));
        assert_eq!(counts.total("read faults"), Some(17));
        assert_eq!(counts.largest("resident KiB"), Some(108));
        assert_eq!(counts.total("section bytes"), None);
        assert_eq!(counts.total("late"), None);
    }

    #[test]
    fn counts_need_a_column_for_each_rank() {
        assert_eq!(Counts::parse(TABLE, 1).unwrap(), Counts::default());
        assert_eq!(Counts::parse(TABLE, 3).unwrap().total("read faults"), None);
        assert_eq!(Counts::parse("forks 1 2\n", 2), None);
    }
}
