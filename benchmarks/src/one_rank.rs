//! okl's executable as one process with several threads, against OpenMP's: it should cost nothing to be able to run on ranks.
//!
//! OpenMP runs twice in each repetition, so that what two runs of one program differ by is known.

use std::fmt::Write;

use crate::catalogue::Benchmark;
use crate::measure::Load;
use crate::output::same_checksum;
use crate::statistics::{Spread, geometric_mean};
use crate::tools::{Tools, Variant};

/// The geometric mean of okl : OpenMP that is aimed at, over all programs.
const ALL: f64 = 1.01;
/// That of one program, besides what OpenMP differs from itself by.
const EACH: f64 = 1.03;

/// The runs of a repetition.
const RUNS: [Variant; 3] = [Variant::OpenMp, Variant::Okl, Variant::OpenMp];

/// The ratios of a program, one for each repetition.
struct Ratios {
    name: &'static str,
    okl: Vec<f64>,
    /// OpenMP's second run to its first.
    itself: Vec<f64>,
}

impl Ratios {
    fn mean(&self) -> f64 {
        geometric_mean(&self.okl).unwrap_or(f64::NAN)
    }

    /// How far apart the middle half of OpenMP's ratios to itself is.
    fn spread(&self) -> f64 {
        Spread::of(&self.itself).map_or(0.0, |spread| spread.upper_quartile - spread.lower_quartile)
    }

    fn reaches_aim(&self) -> bool {
        self.mean() <= EACH + self.spread()
    }
}

/// Builds and runs all, with a thread for each core, and tells of it in Markdown.
pub(crate) fn run(
    tools: &Tools,
    benchmarks: &[Benchmark],
    repetitions: u32,
) -> Result<String, String> {
    let load = Load::now();
    let threads = tools.cores;
    let mut all = Vec::new();
    for benchmark in benchmarks {
        for variant in [Variant::OpenMp, Variant::Okl] {
            tools.compile(benchmark.source, variant)?;
        }
        eprintln!("bench: {}", benchmark.name);
        all.push(ratios(tools, benchmark, threads, repetitions)?);
    }
    let mut text = format!(
        "# okl on one rank against OpenMP\n\n{threads} threads each, {repetitions} repetitions, one run right after the \
         other; OpenMP runs twice in each.\n{}\n| program | okl : OpenMP | least to most | OpenMP : itself, middle half | \
         aim |\n|---|---|---|---|---|\n",
        load.note()
    );
    for ratios in &all {
        let (Some(okl), Some(itself)) = (Spread::of(&ratios.okl), Spread::of(&ratios.itself))
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "| {} | {:.3} | {:.2} to {:.2} | {:.3} to {:.3} | {:.3}, {} |",
            ratios.name,
            ratios.mean(),
            okl.least,
            okl.most,
            itself.lower_quartile,
            itself.upper_quartile,
            EACH + ratios.spread(),
            if ratios.reaches_aim() {
                "reached"
            } else {
                "missed"
            },
        );
    }
    let means: Vec<f64> = all.iter().map(Ratios::mean).collect();
    let mean = geometric_mean(&means).unwrap_or(f64::NAN);
    let _ = writeln!(
        text,
        "\nGeometric mean of all {}: {mean:.4} (aim {ALL}); {} of them reach their aim.",
        all.len(),
        all.iter().filter(|ratios| ratios.reaches_aim()).count(),
    );
    Ok(text)
}

fn ratios(
    tools: &Tools,
    benchmark: &Benchmark,
    threads: u32,
    repetitions: u32,
) -> Result<Ratios, String> {
    let mut found = Ratios {
        name: benchmark.name,
        okl: Vec::new(),
        itself: Vec::new(),
    };
    let mut expected = None;
    for repetition in 0..repetitions as usize {
        let mut seconds = [0.0; RUNS.len()];
        for turn in 0..RUNS.len() {
            let which = (repetition + turn) % RUNS.len();
            let outcome = tools.run_one_rank(benchmark, RUNS[which], threads)?;
            let wanted = *expected.get_or_insert(outcome.checksum);
            if !same_checksum(outcome.checksum, wanted, benchmark.tolerance) {
                return Err(format!(
                    "{}, {}: checksum {:?}, but {wanted:?} before",
                    benchmark.name, RUNS[which], outcome.checksum
                ));
            }
            seconds[which] = outcome.seconds;
        }
        let [first, okl, second] = seconds;
        // The time of OpenMP is that of both runs.
        found.okl.push(okl / (first * second).sqrt());
        found.itself.push(second / first);
    }
    Ok(found)
}
