//! Runs tests on a few threads, prints one line for each and counts the outcomes.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// So many tests are named with the time they took.
const SLOWEST: usize = 10;

/// How one test ended.
pub(crate) enum Outcome {
    /// As expected.
    Passed,
    /// With what was wrong, several lines.
    Failed(String),
    /// Not run, and why.
    Skipped(String),
    /// Several tests in one: how many passed, and what was wrong with each of the others.
    Several(usize, Vec<String>),
}

/// How many tests ended in which way.
#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// Seconds that each test took.
    times: Vec<(f64, String)>,
}

impl Tally {
    /// Both.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.times.extend(other.times);
        self
    }

    /// Nothing failed, and there was something to run.
    pub(crate) fn is_success(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Runs `test` on every one of `tests`, at most `limit` at a time (default: one for each core).
pub(crate) fn run_all<T: Sync>(
    tests: &[T],
    limit: Option<usize>,
    name: impl Fn(&T) -> String + Sync,
    test: impl Fn(&T) -> Outcome + Sync,
) -> Tally {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = limit.unwrap_or(cores).clamp(1, tests.len().max(1));
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let outcome = test(item);
                    let seconds = start.elapsed().as_secs_f64();
                    // The lock also keeps the lines of different tests apart.
                    let mut tally = tally.lock().unwrap();
                    tally.times.push((seconds, name(item)));
                    match outcome {
                        Outcome::Passed => {
                            tally.passed += 1;
                            println!("pass {} ({seconds:.1} s)", name(item));
                        }
                        Outcome::Failed(why) => {
                            tally.failed += 1;
                            println!("FAIL {} ({seconds:.1} s)", name(item));
                            why.lines().for_each(|line| println!("     {line}"));
                        }
                        Outcome::Several(passed, failures) => {
                            tally.passed += passed;
                            println!("pass {passed} of {} ({seconds:.1} s)", name(item));
                            for why in failures {
                                tally.failed += 1;
                                println!("FAIL {}", name(item));
                                why.lines().for_each(|line| println!("     {line}"));
                            }
                        }
                        Outcome::Skipped(why) => {
                            tally.skipped += 1;
                            println!("skip {} ({why})", name(item));
                        }
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.times.sort_by(|one, other| other.0.total_cmp(&one.0));
    let total: f64 = tally.times.iter().map(|(seconds, _)| seconds).sum();
    println!("slowest of {total:.0} s in all:");
    for (seconds, name) in tally.times.iter().take(SLOWEST) {
        println!("{seconds:8.1} s {name}");
    }
    tally
}
