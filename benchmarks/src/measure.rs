//! Runs everything of a plan in one sitting.

use indicatif::{ProgressBar, ProgressStyle};

use crate::catalogue::{Benchmark, Size};
use crate::count::{self, Communication};
use crate::output::same_checksum;
use crate::tools::{Mode, Tools, Variant};

/// What to run.
pub(crate) struct Plan<'a> {
    pub(crate) benchmarks: &'a [Benchmark],
    pub(crate) ranks: &'a [u32],
    pub(crate) repetitions: u32,
    pub(crate) quick: bool,
}

impl Plan<'_> {
    /// The sizes a benchmark is timed at.
    fn size(&self, benchmark: &Benchmark) -> Size {
        let full = benchmark.full;
        if self.quick {
            Size {
                // With fewer, the first iterations after the warm-up would show.
                iterations: (full.iterations / 4).max(20).min(full.iterations),
                ..full
            }
        } else {
            full
        }
    }

    /// The numbers of ranks at which communication is counted: where several are timed 2, 4 and 8 too, since
    /// the model needs to see how the counts grow.
    fn counted_ranks(&self) -> Vec<u32> {
        let mut ranks = self.ranks.to_vec();
        if ranks.len() > 1 {
            ranks.extend([2, 4, 8]);
        }
        ranks.retain(|ranks| *ranks > 1);
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

/// The times of one benchmark on one number of ranks.
pub(crate) struct Timing {
    pub(crate) benchmark: Benchmark,
    pub(crate) ranks: u32,
    /// Seconds per iteration for each of [`Variant::ALL`], one for each repetition; none where the
    /// run failed.
    pub(crate) seconds: [Vec<Option<f64>>; Variant::ALL.len()],
}

/// Seconds that compiling one source takes, one for each repetition.
pub(crate) struct CompileTime {
    pub(crate) source: &'static str,
    pub(crate) openmp: Vec<Option<f64>>,
    pub(crate) okl: Vec<Option<f64>>,
}

/// All that was measured.
pub(crate) struct Results {
    pub(crate) repetitions: u32,
    pub(crate) cores: u32,
    /// When it began.
    pub(crate) load: Load,
    pub(crate) timings: Vec<Timing>,
    pub(crate) compile_times: Vec<CompileTime>,
    pub(crate) communication: Vec<Communication>,
    /// One for each run that failed or computed something else.
    pub(crate) errors: Vec<String>,
}

/// How many others want a core, in the average of the last minute.
pub(crate) struct Load(f64);

impl Load {
    /// Above this, times are not to be trusted.
    const MOST: f64 = 0.7;

    /// Tells the user if it is too much.
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let first = text.split_whitespace().next();
        let load = Self(first.and_then(|load| load.parse().ok()).unwrap_or(0.0));
        if load.0 > Self::MOST {
            eprintln!(
                "bench: the machine is busy (load average {}): times will say little",
                load.0
            );
        }
        load
    }

    /// A paragraph in Markdown if it was too much.
    pub(crate) fn note(&self) -> String {
        match self.0 > Self::MOST {
            true => format!(
                "\n**Busy machine**: the load average was {} at the start. Times say little.\n",
                self.0
            ),
            false => String::new(),
        }
    }
}

/// Fails only if nothing can be measured.
pub(crate) fn run(tools: &Tools, plan: &Plan) -> Result<Results, String> {
    let load = Load::now();
    let mut sources: Vec<&'static str> = plan.benchmarks.iter().map(|b| b.source).collect();
    sources.dedup();
    let counted_ranks = plan.counted_ranks();
    let timed = plan.repetitions as usize * plan.benchmarks.len() * plan.ranks.len();
    let counted = plan.benchmarks.len() * counted_ranks.len();
    let bar = ProgressBar::new((sources.len() * 2 + timed + counted) as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed_precise} {msg}");
    bar.set_style(style.map_err(|error| error.to_string())?);

    tools.compile_counting_library()?;
    for source in &sources {
        bar.set_message(format!("compiling {source}"));
        for variant in Variant::BUILT {
            tools.compile(source, variant)?;
        }
        bar.inc(1);
    }
    let mut results = Results {
        repetitions: plan.repetitions,
        cores: tools.cores,
        load,
        timings: Vec::new(),
        compile_times: Vec::new(),
        communication: Vec::new(),
        errors: Vec::new(),
    };
    for source in &sources {
        bar.set_message(format!("timing the compiler on {source}"));
        results.compile_times.push(time_compiler(tools, source)?);
        bar.inc(1);
    }
    time(tools, plan, &bar, &mut results);
    for benchmark in plan.benchmarks {
        let mut failed = Vec::new();
        for &ranks in &counted_ranks {
            bar.set_message(format!("counting {} on {ranks}", benchmark.name));
            for variant in [Variant::HandMpi, Variant::Okl] {
                if failed.contains(&variant) {
                    continue;
                }
                match count::count(tools, benchmark, variant, ranks, Mode::Counted) {
                    Ok(row) => results.communication.push(row),
                    Err(message) => {
                        failed.push(variant);
                        results.errors.push(format!(
                            "{}, {variant} on {ranks} ranks, counting: {message}",
                            benchmark.name
                        ));
                    }
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(results)
}

fn time_compiler(tools: &Tools, source: &'static str) -> Result<CompileTime, String> {
    const REPETITIONS: usize = 5;
    let mut times = CompileTime {
        source,
        openmp: Vec::new(),
        okl: Vec::new(),
    };
    for _ in 0..REPETITIONS {
        for (variant, times) in [
            (Variant::OpenMp, &mut times.openmp),
            (Variant::Okl, &mut times.okl),
        ] {
            let time = tools.compile_time(source, variant)?;
            times.push(Some(time.as_secs_f64()));
        }
    }
    Ok(times)
}

/// Times the variants of a benchmark one right after the other, so that what disturbs the machine
/// disturbs all of them; each repetition starts with another variant.
fn time(tools: &Tools, plan: &Plan, bar: &ProgressBar, results: &mut Results) {
    for benchmark in plan.benchmarks {
        for &ranks in plan.ranks {
            results.timings.push(Timing {
                benchmark: *benchmark,
                ranks,
                seconds: Default::default(),
            });
        }
    }
    // Of the first run of each benchmark that printed one.
    let mut expected: Vec<(&str, f64, String)> = Vec::new();
    for repetition in 0..plan.repetitions as usize {
        for timing in &mut results.timings {
            let name = timing.benchmark.name;
            bar.set_message(format!("timing {name} on {}", timing.ranks));
            for turn in 0..Variant::ALL.len() {
                let which = (repetition + turn) % Variant::ALL.len();
                let variant = Variant::ALL[which];
                if !variant.runs_on(timing.ranks) {
                    continue;
                }
                let times = &mut timing.seconds[which];
                // What failed once would fail, or hang, again.
                if times.last() == Some(&None) {
                    times.push(None);
                    continue;
                }
                let at = format!("{variant} on {} ranks", timing.ranks);
                let size = plan.size(&timing.benchmark);
                let run = tools.run(
                    &timing.benchmark,
                    variant,
                    timing.ranks,
                    size.arguments,
                    size.iterations,
                    Mode::Timed,
                );
                let outcome = match run {
                    Ok(run) => run.outcome,
                    Err(message) => {
                        results.errors.push(format!("{name}, {at}: {message}"));
                        times.push(None);
                        continue;
                    }
                };
                let found = outcome.checksum;
                let tolerance = timing.benchmark.tolerance;
                match expected.iter().find(|(n, _, _)| *n == name) {
                    None => expected.push((name, found, at)),
                    Some((_, wanted, _)) if same_checksum(found, *wanted, tolerance) => {}
                    Some((_, wanted, first)) => {
                        results.errors.push(format!(
                            "{name}, {at}: checksum {found:?}, but {wanted:?} with {first}"
                        ));
                        times.push(None);
                        continue;
                    }
                }
                times.push(Some(outcome.seconds / f64::from(outcome.iterations)));
            }
            bar.inc(1);
        }
    }
}
