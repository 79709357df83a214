//! OKL kernels: okl's, against what OCCA makes of the same file where there is a copy of OCCA that has been built. All
//! variants run one right after the other, in each repetition.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::measure::Load;
use crate::output::same_checksum;
use crate::statistics::Spread;
use crate::tools::{COMPILER_CPP, FLAGS, LIMIT, finish};

/// The kernels, in the order in which the program runs them.
const KERNELS: [&str; 7] = [
    "triad",
    "stencil",
    "reduction",
    // The same of 1 MiB.
    "cached",
    "product",
    "tensor",
    "sparse",
];
/// Sums of single precision are added in other orders.
const TOLERANCE: f64 = 1e-5;
/// What the sizes are divided by where nothing is measured.
const TINY: &str = "16";
/// Of arrays, in bytes, for all variants.
const ALIGNMENT: &str = "64";

/// A way to run the kernels.
struct Variant {
    name: String,
    executable: PathBuf,
    /// OCCA's mode.
    mode: Option<&'static str>,
    /// OCCA's compiler.
    compiler: &'static str,
    threads: u32,
}

/// Of a kernel in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    /// The least of a few calls.
    seconds: f64,
    /// From the program's start to the first result.
    first: f64,
    checksum: f64,
}

type Kernels = BTreeMap<&'static str, Times>;

/// What a run of the program says.
struct Found {
    kernels: Kernels,
    /// Seconds in which one thread reads the vector that `reduction` adds up.
    reading: f64,
}

/// Builds all variants, runs them `repetitions` times, and tells of it in Markdown; at tiny sizes where `is_smoke`.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    occa: Option<&Path>,
    repetitions: u32,
    is_smoke: bool,
) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = built.path();
    let load = Load::now();
    let variants = build(root, libraries, occa, folder)?;
    let mut all: Vec<Vec<Found>> = variants.iter().map(|_| Vec::new()).collect();
    for repetition in 0..repetitions {
        for (variant, runs) in variants.iter().zip(&mut all) {
            eprintln!(
                "bench: {} of {repetitions}: {}",
                repetition + 1,
                variant.name
            );
            runs.push(once(variant, folder, is_smoke)?);
        }
    }
    compare(&variants, &all)?;
    Ok(report(&variants, &all, &load))
}

fn build(
    root: &Path,
    libraries: &Path,
    occa: Option<&Path>,
    folder: &Path,
) -> Result<Vec<Variant>, String> {
    eprintln!("bench: compiling");
    let canonical = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let programs = canonical(&root.join("programs/okl"))?;
    let executable = folder.join("okl");
    finish(
        Command::new(canonical(libraries)?.join("okl-c++"))
            .args(FLAGS)
            .arg(programs.join("main.cpp"))
            .arg(programs.join("kernels.okl"))
            .arg("-o")
            .arg(&executable),
    )?;
    let ours = |threads| Variant {
        name: format!("okl, {threads} threads").replace("1 threads", "1 thread"),
        executable: executable.clone(),
        mode: None,
        compiler: "",
        threads,
    };
    let mut variants = vec![ours(1), ours(2)];
    let Some(occa) = occa else {
        return Ok(variants);
    };
    let executable = folder.join("occa");
    let library = occa.join("lib");
    finish(
        Command::new(COMPILER_CPP)
            .args(FLAGS)
            .args(["-std=c++17", "-w", "-DOCCA"])
            .arg(format!(
                "-DSOURCE=\"{}\"",
                programs.join("kernels.okl").display()
            ))
            .arg(format!("-I{}", occa.join("include").display()))
            .arg(programs.join("main.cpp"))
            .arg(format!("-L{}", library.display()))
            .arg(format!("-Wl,-rpath,{}", library.display()))
            .args(["-locca", "-o"])
            .arg(&executable),
    )?;
    for compiler in ["g++", COMPILER_CPP] {
        for (mode, threads) in [("Serial", 1), ("OpenMP", 1), ("OpenMP", 2)] {
            let on = match (mode, threads) {
                ("Serial", _) => String::new(),
                (_, 1) => ", 1 thread".to_owned(),
                (_, threads) => format!(", {threads} threads"),
            };
            variants.push(Variant {
                name: format!("OCCA {mode}, {compiler}{on}"),
                executable: executable.clone(),
                mode: Some(mode),
                compiler,
                threads,
            });
        }
    }
    Ok(variants)
}

fn once(variant: &Variant, folder: &Path, is_smoke: bool) -> Result<Found, String> {
    // OCCA compiles kernels when it first runs: each run begins without them.
    let cache = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
    let mut command = Command::new("timeout");
    command.args(["-k", "10", LIMIT]).arg(&variant.executable);
    command
        .args(variant.mode)
        .args(is_smoke.then_some(TINY))
        .env("OMP_NUM_THREADS", variant.threads.to_string())
        // Threads are not bound: libocca.so is linked to GNU's OpenMP, which would bind the thread that clang's run time
        // starts others from.
        .env("OCCA_MEM_BYTE_ALIGN", ALIGNMENT)
        .env("OCCA_CACHE_DIR", cache.path())
        .env("OCCA_CXX", variant.compiler)
        .env("OCCA_CXXFLAGS", FLAGS.join(" "));
    let (stdout, _) = finish(&mut command)?;
    let kernels = times(&stdout);
    let missing = KERNELS.into_iter().find(|name| !kernels.contains_key(name));
    match (missing, reading(&stdout)) {
        (None, Some(reading)) => Ok(Found { kernels, reading }),
        (missing, _) => {
            let name = missing.unwrap_or("reading");
            Err(format!("{}: no times of {name}:\n{stdout}", variant.name))
        }
    }
}

/// From the line `reading time SECONDS sum VALUE`.
fn reading(stdout: &str) -> Option<f64> {
    stdout.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["reading", "time", seconds, "sum", _] => seconds.parse().ok(),
            _ => None,
        }
    })
}

/// From the lines `KERNEL first SECONDS` and `KERNEL time SECONDS checksum VALUE`.
fn times(stdout: &str) -> Kernels {
    let mut found = Kernels::new();
    let mut firsts = BTreeMap::new();
    for line in stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kernel = |name: &str| KERNELS.into_iter().find(|one| *one == name);
        let number = |text: &str| text.parse::<f64>().ok();
        match words[..] {
            [name, "first", seconds] => {
                firsts.extend(kernel(name).zip(number(seconds)));
            }
            [name, "time", seconds, "checksum", checksum] => {
                let Some(name) = kernel(name) else { continue };
                let all = (number(seconds), firsts.get(name), number(checksum));
                if let (Some(seconds), Some(&first), Some(checksum)) = all {
                    found.insert(
                        name,
                        Times {
                            seconds,
                            first,
                            checksum,
                        },
                    );
                }
            }
            _ => {}
        }
    }
    found
}

/// Checks that all variants have computed the same.
fn compare(variants: &[Variant], all: &[Vec<Found>]) -> Result<(), String> {
    let expected = &all[0][0].kernels;
    for (variant, runs) in variants.iter().zip(all) {
        for (kernel, times) in runs.iter().flat_map(|run| &run.kernels) {
            let (one, other) = (expected[kernel].checksum, times.checksum);
            if !same_checksum(one, other, TOLERANCE) {
                return Err(format!("{kernel}: {}: {other}, not {one}", variant.name));
            }
        }
    }
    Ok(())
}

/// A table of times, and of ratios to okl on as many threads.
fn report(variants: &[Variant], all: &[Vec<Found>], load: &Load) -> String {
    let mut text = format!(
        "# OKL kernels\n\nMilliseconds of a call (median of {} repetitions; each is the least of ten calls or more; `cached` is the reduction of 1 MiB), and behind it \
         how much of that time okl takes on as many threads (median of the repetitions' ratios). {}\n\n",
        all[0].len(),
        load.note()
    );
    let _ = writeln!(
        text,
        "| variant | {} | first result, s |",
        KERNELS.join(" | ")
    );
    let _ = writeln!(text, "|---|{}---|", "---|".repeat(KERNELS.len()));
    let column = |at: usize, kernel: &str| -> Vec<Option<f64>> {
        let runs = all[at].iter();
        runs.map(|run| run.kernels.get(kernel).map(|one| one.seconds))
            .collect()
    };
    for (at, variant) in variants.iter().enumerate() {
        let ours = variants
            .iter()
            .position(|one| one.mode.is_none() && one.threads == variant.threads);
        let cells = KERNELS.iter().map(|kernel| {
            let its = column(at, kernel);
            let known: Vec<f64> = its.iter().flatten().copied().collect();
            let median = Spread::of(&known).map_or(f64::NAN, |spread| 1e3 * spread.median);
            let ratio = ours
                .filter(|ours| *ours != at)
                .and_then(|ours| Spread::of_ratios(&column(ours, kernel), &its))
                .map(|spread| format!(" ({:.2})", spread.median))
                .unwrap_or_default();
            let digits = if median < 0.1 { 4 } else { 2 };
            format!("{median:.digits$}{ratio}")
        });
        let cells: Vec<_> = cells.collect();
        let firsts: Vec<f64> = all[at]
            .iter()
            .map(|run| run.kernels[KERNELS[0]].first)
            .collect();
        let first = Spread::of(&firsts).map_or(f64::NAN, |spread| spread.median);
        let _ = writeln!(
            text,
            "| {} | {} | {first:.2} |",
            variant.name,
            cells.join(" | ")
        );
    }
    let reading: Vec<f64> = all[0].iter().map(|run| run.reading).collect();
    let at_reading = Spread::of_ratios(
        &column(0, "reduction"),
        &reading.iter().copied().map(Some).collect::<Vec<_>>(),
    );
    if let (Some(reading), Some(ratio)) = (Spread::of(&reading), at_reading) {
        let _ = writeln!(
            text,
            "\nOne thread reads the vector that `reduction` adds up in {:.2} ms if it does nothing else; okl's `reduction` \
             takes {:.2} times as long on one thread.",
            1e3 * reading.median,
            ratio.median
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_program_prints() {
        let found =
            times("triad first 0.5\ntriad time 0.01 checksum 3.5\nnonsense time 1 checksum 2\n");
        let triad = Times {
            seconds: 0.01,
            first: 0.5,
            checksum: 3.5,
        };
        assert_eq!(found, Kernels::from([("triad", triad)]));
        assert_eq!(times("stencil time 0.1 checksum 1\n"), Kernels::new());
        assert_eq!(
            reading("triad first 1\nreading time 0.25 sum 3\n"),
            Some(0.25)
        );
        assert_eq!(reading("reading time"), None);
    }
}
