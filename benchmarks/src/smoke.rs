//! The test that every program works: each is built in all variants, runs once on 2 ranks at a
//! tiny size, and all variants print the same checksum. okl's loops vectorise as OpenMP's do. At its
//! full size, an iteration communicates no more than [`Most`](crate::catalogue::Most) says.

use crate::catalogue::Benchmark;
use crate::count::{self, PerIteration};
use crate::output::{Counts, same_checksum};
use crate::tools::{Mode, Tools, Variant};

const RANKS: u32 = 2;
/// Bytes of an iteration that nobody minds: a page.
const SLACK: f64 = 4096.0;

/// Whether all passed.
pub(crate) fn run(tools: &Tools, benchmarks: &[Benchmark]) -> bool {
    let counting = tools.compile_counting_library();
    let mut built = Vec::new();
    let (mut passed, mut failed) = (0, 0);
    for benchmark in benchmarks {
        let result = counting.clone().and_then(|()| {
            if !built.contains(&benchmark.source) {
                build(tools, benchmark.source)?;
                built.push(benchmark.source);
            }
            check(tools, benchmark)?;
            check_communication(tools, benchmark)
        });
        match result {
            Ok(()) => {
                passed += 1;
                println!("ok {}", benchmark.name);
            }
            Err(message) => {
                failed += 1;
                println!(
                    "FAIL {}\n     {}",
                    benchmark.name,
                    message.replace('\n', "\n     ")
                );
            }
        }
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    failed == 0
}

/// Compiles all variants; okl's must vectorise what OpenMP's does.
fn build(tools: &Tools, source: &str) -> Result<(), String> {
    tools.compile(source, Variant::HandMpi)?;
    let okl = tools.compile_listing_vectorised(source, Variant::Okl)?;
    let openmp = tools.compile_listing_vectorised(source, Variant::OpenMp)?;
    let lost: Vec<&str> = openmp.difference(&okl).map(String::as_str).collect();
    if !lost.is_empty() {
        return Err(format!(
            "OpenMP's loops vectorise, okl's do not:\n{}",
            lost.join("\n")
        ));
    }
    Ok(())
}

fn check(tools: &Tools, benchmark: &Benchmark) -> Result<(), String> {
    let uncounted = tools.uncounted_calls(benchmark.source)?;
    if !uncounted.is_empty() {
        return Err(format!(
            "calls that nobody counts: {}",
            uncounted.join(", ")
        ));
    }
    let size = benchmark.smoke;
    let run = |variant| {
        tools
            .run(
                benchmark,
                variant,
                RANKS,
                size.arguments,
                size.iterations,
                Mode::Counted,
            )
            .map_err(|message| format!("{variant} on {RANKS} ranks: {message}"))
    };
    let expected = run(Variant::OpenMp)?.outcome.checksum;
    for variant in [Variant::HandMpi, Variant::OklNodes, Variant::Okl] {
        let run = run(variant)?;
        let found = run.outcome.checksum;
        if !same_checksum(found, expected, benchmark.tolerance) {
            return Err(format!(
                "{variant} on {RANKS} ranks: checksum {found:?}, OpenMP's is {expected:?}"
            ));
        }
        let counts = Counts::parse(&run.stderr, RANKS)
            .ok_or_else(|| format!("{variant}: no counts in {:?}", run.stderr))?;
        for label in ["messages", "bytes", "resident KiB"] {
            counts
                .total(label)
                .ok_or_else(|| format!("{variant}: no {label:?} in {:?}", run.stderr))?;
        }
    }
    Ok(())
}

fn check_communication(tools: &Tools, benchmark: &Benchmark) -> Result<(), String> {
    let count = |variant| count::count(tools, benchmark, variant, RANKS, Mode::CountedAlike);
    let (by_hand, okl) = (count(Variant::HandMpi)?, count(Variant::OklNodes)?);
    let total = |of: Option<PerIteration>| of.map_or(0.0, |count| count.total);
    let most = benchmark.most;
    let counts = [
        (
            "messages with data",
            total(okl.data_messages),
            most.messages * total(by_hand.messages),
        ),
        (
            "bytes of data",
            total(okl.data_bytes),
            most.bytes * total(by_hand.bytes) + SLACK,
        ),
        ("page faults", total(okl.faults), most.faults),
    ];
    let above: Vec<String> = counts
        .into_iter()
        .filter(|(_, found, most)| found > most)
        .map(|(what, found, most)| format!("{found:.1} {what}, at most {most:.1} expected"))
        .collect();
    match above.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "an iteration on {RANKS} ranks as nodes: {}",
            above.join("; ")
        )),
    }
}
