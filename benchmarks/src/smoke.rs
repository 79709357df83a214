//! The test that every program works: each is built in all variants, runs once on 2 ranks at a
//! tiny size, and all variants print the same checksum. okl's loops vectorise as OpenMP's do.

use crate::catalogue::Benchmark;
use crate::output::{Counts, same_checksum};
use crate::tools::{Mode, Tools, Variant};

const RANKS: u32 = 2;

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
            check(tools, benchmark)
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
