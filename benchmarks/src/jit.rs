//! Loops that are compiled once more at run time (`--okl-jit`), against the same loops as they were compiled ahead of time, for
//! any processor and for this one. All variants run one right after the other, in each repetition.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::aims::Aims;
use crate::airfoil;
use crate::measure::Load;
use crate::output::same_checksum;
use crate::statistics::Spread;
use crate::tools::{COMPILER_CPP, LIMIT, finish};

/// A way to compile and run a program.
struct Variant {
    name: &'static str,
    flags: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Whether it gives the bits of the first one.
    is_exact: bool,
}

const GENERIC: &str = "ahead of time";
const JIT: &str = "`--okl-jit`";
const KEPT: &str = "`--okl-jit`, versions of an earlier run";
const FREE: &str = "`--okl-jit`, `OKL_JIT_FMA=1`";
const NATIVE: &str = "ahead of time, `-march=native`";

const fn variant(name: &'static str) -> Variant {
    Variant {
        name,
        flags: &["--okl-jit"],
        environment: &[],
        is_exact: true,
    }
}

const AHEAD: Variant = Variant {
    flags: &[],
    ..variant(GENERIC)
};
const VERSIONS: Variant = variant(JIT);
const KEPT_VERSIONS: Variant = Variant {
    environment: &[("OKL_JIT_CACHE", "versions")],
    ..variant(KEPT)
};
const FREE_VERSIONS: Variant = Variant {
    environment: &[("OKL_JIT_FMA", "1")],
    is_exact: false,
    ..variant(FREE)
};
const NATIVE_CODE: Variant = Variant {
    flags: &["-march=native"],
    is_exact: false,
    ..variant(NATIVE)
};

/// Of loops that are timed when they have run for a while.
const OF_LOOPS: &[Variant] = &[AHEAD, VERSIONS, FREE_VERSIONS, NATIVE_CODE];
/// Of programs whose run is timed.
const OF_PROGRAMS: &[Variant] = &[AHEAD, VERSIONS, KEPT_VERSIONS, FREE_VERSIONS, NATIVE_CODE];
/// Of such a program that knows whether each bit is right.
const EXACT: &[Variant] = &[AHEAD, VERSIONS, KEPT_VERSIONS];

/// Sums that are rounded otherwise, and what conjugate gradients make of these.
const SUMS: f64 = 1e-9;
const GRADIENTS: f64 = 1e-4;

/// A program.
struct Program {
    name: &'static str,
    what: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    source: &'static str,
    ways: &'static [Variant],
    /// Within which those of them that are not exact agree.
    tolerance: f64,
    loops: &'static [&'static str],
    arguments: &'static [&'static str],
    /// The arguments where nothing is measured; none where it is not run then.
    tiny: Option<&'static [&'static str]>,
}

const PROGRAMS: [Program; 6] = [
    Program {
        name: "loops",
        what: "Loops of OpenMP's whose lengths are read from the command line: a stencil of radius 4, a sparse matrix with 9 \
               elements in each row, a derivative on spectral elements of order 8, and differences of fluxes in boxes of 16³ \
               cells.",
        compiler: "okl-cc",
        flags: &["-fopenmp"],
        source: "programs/jit/loops.c",
        ways: OF_LOOPS,
        tolerance: SUMS,
        loops: &["stencil", "sparse", "tensor", "boxes"],
        arguments: &[],
        tiny: Some(&["16"]),
    },
    Program {
        name: "elements",
        what: "A kernel of OKL's: a derivative on spectral elements whose order, 8, is read from the command line.",
        compiler: "okl-c++",
        flags: &[],
        source: "programs/jit/elements.okl",
        ways: OF_LOOPS,
        tolerance: SUMS,
        loops: &["derivative"],
        arguments: &[],
        tiny: Some(&["16"]),
    },
    Program {
        name: AIRFOIL,
        what: "OP2's airfoil on 45000 cells: the seconds of 600 iterations behind the first 100, and of the whole run, with \
               its beginning, the first iterations, and making the versions.",
        compiler: "okl-c++",
        flags: &["-std=c++17"],
        source: "programs/airfoil/airfoil.cpp",
        ways: OF_PROGRAMS,
        tolerance: SUMS,
        loops: &[
            "save_soln",
            "adt_calc",
            "res_calc",
            "bres_calc",
            "update",
            WHOLE,
        ],
        arguments: &[OF_AIRFOIL, "700", "100"],
        tiny: Some(&[OF_AIRFOIL, "100", "50"]),
    },
    Program {
        name: "aero",
        what: "OP2's way to flow around an airfoil by finite elements, on 14400 cells: Newton's method, and conjugate gradients, \
               cell by cell. The seconds of 100 iterations behind the first 100, of loops whose \
               calls take longer than some microseconds, and of the whole run.",
        compiler: "okl-c++",
        flags: &["-std=c++17"],
        source: "programs/aero/aero.cpp",
        ways: OF_PROGRAMS,
        tolerance: GRADIENTS,
        loops: &["res_calc", "spMV", "dotPV", "updateUR", WHOLE],
        arguments: &[OF_AERO, "200", "100"],
        tiny: Some(&[OF_AERO, "6", "3"]),
    },
    Program {
        name: "tsunami",
        what: "OP2's program of the tests for tsunamis: a short run of many loops, whole.",
        compiler: "okl-c++",
        flags: &["-std=c++11", "-ffp-contract=off"],
        source: "../tests/op2/programs/tsunami.cpp",
        ways: EXACT,
        tolerance: SUMS,
        loops: &[WHOLE],
        arguments: &["write", VALUES],
        tiny: None,
    },
    Program {
        name: CALLS,
        what: "1000 calls of what hardly does anything: a region of OpenMP's whose loop has a turn, and a loop of OP2's over a \
               set with an element.",
        compiler: "okl-c++",
        flags: &["-std=c++17", "-fopenmp"],
        source: "programs/jit/calls.cpp",
        ways: &[AHEAD, VERSIONS],
        tolerance: SUMS,
        loops: &["region", "set"],
        arguments: &[],
        tiny: Some(&["16"]),
    },
];

const AIRFOIL: &str = "airfoil";
/// The program whose loops do hardly anything, and how many calls each of its times is of.
const CALLS: &str = "calls";
const CALLS_TIMED: f64 = 1000.0;
/// Files with meshes, and cells along and away from the airfoil.
const MESHES: [(&str, [&str; 2]); 2] = [(OF_AIRFOIL, ["100", "150"]), (OF_AERO, ["80", "60"])];
const OF_AIRFOIL: &str = "airfoil.dat";
const OF_AERO: &str = "aero.dat";
const TINY_MESH: [&str; 2] = ["10", "15"];
/// What is timed of programs besides their loops.
const WHOLE: &str = "the whole run";
/// The file that a program writes its results to.
const VALUES: &str = "values";
/// What programs of OP2's print behind the times of their first iterations.
const FIRST: &str = "these were the first iterations";

/// What a run says: seconds of each loop, what it computes, and the KiB of memory that it had.
#[derive(Debug, Default, PartialEq)]
struct Found {
    seconds: BTreeMap<String, f64>,
    results: Vec<f64>,
    memory: Option<u64>,
}

/// The runs of a variant, and what else there is to say of it.
struct Measured {
    executable: PathBuf,
    runs: Vec<Found>,
}

/// Builds all variants, runs them `repetitions` times on one and two threads, and tells of it in Markdown; at tiny sizes where
/// `is_smoke`.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    repetitions: u32,
    is_smoke: bool,
) -> Result<String, String> {
    // Files are told of by their names here.
    let here = format!("{}/", root.display());
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = built.path();
    let load = Load::now();
    let size = |of: [&'static str; 2]| if is_smoke { TINY_MESH } else { of };
    make_meshes(root, folder, &MESHES.map(|(file, of)| (file, size(of))))?;
    let mut text = format!(
        "# Compiling once more at run time\n{}\nMedians of {repetitions} repetitions in which all ways run one right after the other, \
         and how many times as fast each is as the loops that were compiled ahead of time for any processor of this kind (median \
         of the repetitions' ratios, least to most). But with `OKL_JIT_FMA=1` and `-march=native` all compute the same bits.\n",
        load.note()
    );
    let mut aims = Aims::default();
    for program in &PROGRAMS {
        let arguments = match is_smoke {
            true => program.tiny,
            false => Some(program.arguments),
        };
        let Some(arguments) = arguments else {
            continue;
        };
        let mut all = build(program, root, libraries, folder)?;
        let _ = write!(text, "\n## {}\n\n{}\n", program.name, program.what);
        for threads in [1, 2] {
            for one in &mut all {
                one.runs.clear();
            }
            for repetition in 0..repetitions {
                for (variant, one) in program.ways.iter().zip(&mut all) {
                    eprintln!(
                        "bench: {} of {repetitions}: {}, {}, {threads} threads",
                        repetition + 1,
                        program.name,
                        variant.name
                    );
                    let executable = &one.executable;
                    let mut run = command(variant, executable, arguments, folder, threads);
                    let start = Instant::now();
                    let (stdout, _) = finish(&mut run)?;
                    let elapsed = start.elapsed();
                    let written = fs::read(folder.join(VALUES)).unwrap_or_default();
                    one.runs.push(found(program, &stdout, elapsed, &written)?);
                }
                compare(program, &all, threads)?;
            }
            table(&mut text, program, &all, threads);
            aims.note_versions(program, &all, threads);
        }
        let sizes = |at: usize| sizes(&all[at].executable);
        let [generic, jit] = [sizes(0)?, sizes(1)?];
        let [text_before, before] = generic;
        let grows = (jit[1] - before) / text_before;
        let _ = writeln!(
            text,
            "\nThe program has {text_before:.0} bytes that it only reads, code among them, and {before:.0} in all; {:.0} in all with \
             {JIT}: it grows by {grows:.2} of the former.",
            jit[1]
        );
        aims.note_growth(program.name, grows);
        let memory = |at: usize| all[at].runs.last()?.memory;
        if let (Some(generic), Some(jit)) = (memory(0), memory(1)) {
            let _ = writeln!(
                text,
                "It has {generic} KiB of memory, and {jit} with `--okl-jit`, of which LLVM is the most."
            );
        }
        let kept = folder.join(format!("kept-{}", program.name));
        let told = || {
            let mut run = command(&VERSIONS, &all[1].executable, arguments, folder, 1);
            let run = run.env("OKL_STATS", "1").env("OKL_JIT_CACHE", &kept);
            let (_, stderr) = finish(run)?;
            Ok::<_, String>(said(&stderr.replace(&here, "")))
        };
        let [made, found] = [told()?, told()?];
        let _ = writeln!(
            text,
            "\n```text\n{made}```\n\nWhere these versions are there from that run:\n\n```text\n{found}```"
        );
        aims.note_making(program, &made, &found);
    }
    if !is_smoke {
        text.push_str(&aims.table());
    }
    Ok(text)
}

/// Bytes of a program that it only reads, and all that it has in its file and in memory.
fn sizes(executable: &Path) -> Result<[f64; 2], String> {
    let (stdout, _) = finish(Command::new("size").arg(executable))?;
    let line = stdout.lines().nth(1).unwrap_or_default();
    let mut numbers = line.split_whitespace().map_while(|one| one.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(text), Some(data)) => Ok([text, text + data]),
        _ => Err(format!("size: no sizes:\n{stdout}")),
    }
}

/// Writes meshes: files, with cells along and away from the airfoil.
pub(crate) fn make_meshes(
    root: &Path,
    folder: &Path,
    meshes: &[(&str, [&str; 2])],
) -> Result<(), String> {
    let mesh = folder.join("mesh");
    finish(
        Command::new(COMPILER_CPP)
            .args(["-O2", "-std=c++17"])
            .arg(root.join("programs/airfoil/mesh.cpp"))
            .arg("-o")
            .arg(&mesh),
    )?;
    for (file, size) in meshes {
        finish(Command::new(&mesh).args(size).arg(folder.join(file)))?;
    }
    Ok(())
}

/// Variants with the same flags are one executable.
fn build(
    program: &Program,
    root: &Path,
    libraries: &Path,
    folder: &Path,
) -> Result<Vec<Measured>, String> {
    eprintln!("bench: compiling {}", program.name);
    let mut all: Vec<Measured> = Vec::new();
    for (at, variant) in program.ways.iter().enumerate() {
        let same = program.ways[..at]
            .iter()
            .position(|one| one.flags == variant.flags);
        let executable = match same {
            Some(same) => all[same].executable.clone(),
            None => folder.join(format!("{}-{at}", program.name)),
        };
        if same.is_none() {
            let mut command = Command::new(libraries.join(program.compiler));
            command.args(["-O3", "--okl-target=cpu"]);
            command.args(program.flags).args(variant.flags);
            command.arg(root.join(program.source));
            finish(command.arg("-o").arg(&executable))?;
        }
        all.push(Measured {
            executable,
            runs: Vec::new(),
        });
    }
    Ok(all)
}

fn command(
    variant: &Variant,
    executable: &Path,
    arguments: &[&str],
    folder: &Path,
    threads: u32,
) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "10", LIMIT])
        .arg(executable)
        .args(arguments)
        .current_dir(folder)
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_PROC_BIND", "close")
        .env("OMP_PLACES", "cores")
        // Versions are made in each run, but where they are to be there.
        .env("OKL_JIT_CACHE", "")
        .envs(variant.environment.iter().copied());
    command
}

/// From the lines `LOOP time SECONDS checksum VALUE`, or from OP2's tables and the lines of residuals. Where there are two
/// tables, the first one is of what is not to be counted. A program may have written its results.
fn found(
    program: &Program,
    stdout: &str,
    elapsed: Duration,
    written: &[u8],
) -> Result<Found, String> {
    let mut found = Found::default();
    for line in stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, "time", seconds, "checksum", value] => {
                if let (Ok(seconds), Ok(value)) = (seconds.parse(), value.parse()) {
                    found.seconds.insert(name.to_owned(), seconds);
                    found.results.push(value);
                }
            }
            [iteration, residual] if iteration.parse::<u32>().is_ok() => {
                found.results.extend(residual.parse::<f64>());
            }
            ["memory", kib] => found.memory = kib.parse().ok(),
            _ => {}
        }
    }
    if let Some((first, all)) = stdout.split_once(FIRST) {
        let first = airfoil::times(first, program.loops);
        for (name, one) in airfoil::times(all, program.loops) {
            let before = first.get(name).map_or(0.0, |first| first.seconds);
            found.seconds.insert(name.to_owned(), one.seconds - before);
        }
    }
    let written = written.chunks_exact(8).map(|bytes| bytes.try_into());
    let written = written.flatten().map(f64::from_le_bytes);
    found.results.extend(written);
    found
        .seconds
        .insert(WHOLE.to_owned(), elapsed.as_secs_f64());
    let missing = program
        .loops
        .iter()
        .find(|name| !found.seconds.contains_key(**name));
    match missing {
        Some(name) => Err(format!("no times of {name}:\n{stdout}")),
        None if found.results.is_empty() => Err(format!("no results:\n{stdout}")),
        None => Ok(found),
    }
}

/// Checks that all have computed the same in their last runs. Several threads add up in any order.
fn compare(program: &Program, all: &[Measured], threads: u32) -> Result<(), String> {
    let last = |one: &Measured| one.runs.last().map(|run| run.results.clone());
    let wanted = last(&all[0]).unwrap_or_default();
    for (variant, one) in program.ways.iter().zip(all) {
        let results = last(one).unwrap_or_default();
        let is_same = |(one, other): (&f64, &f64)| match variant.is_exact && threads == 1 {
            true => one.to_bits() == other.to_bits(),
            false => same_checksum(*one, *other, program.tolerance),
        };
        if results.len() != wanted.len() || !wanted.iter().zip(&results).all(is_same) {
            return Err(format!(
                "{}: {}: {results:?}, not {wanted:?}",
                program.name, variant.name
            ));
        }
    }
    Ok(())
}

/// How many times as fast a loop is in `one` as in `other`, repetition by repetition.
fn gain(one: &Measured, other: &Measured, name: &str) -> Option<Spread> {
    let seconds = |of: &Measured| -> Vec<_> {
        let runs = of.runs.iter();
        runs.map(|run| run.seconds.get(name).copied()).collect()
    };
    Spread::of_ratios(&seconds(other), &seconds(one))
}

/// How many seconds more a loop takes in `one` than in `other`, repetition by repetition.
fn of_differences(one: &Measured, other: &Measured, name: &str) -> Option<Spread> {
    let seconds = |run: &Found| run.seconds.get(name).copied();
    let pairs = one.runs.iter().zip(&other.runs);
    let more: Option<Vec<f64>> = pairs
        .map(|(one, other)| Some(seconds(one)? - seconds(other)?))
        .collect();
    Spread::of(&more?)
}

fn table(text: &mut String, program: &Program, all: &[Measured], threads: u32) {
    let noun = if threads == 1 { "thread" } else { "threads" };
    let _ = writeln!(
        text,
        "\n### {threads} {noun}\n\n| loop | way | ms | times as fast |\n|---|---|---|---|"
    );
    for name in program.loops {
        for (variant, one) in program.ways.iter().zip(all) {
            let seconds: Vec<f64> = one
                .runs
                .iter()
                .filter_map(|run| run.seconds.get(*name).copied())
                .collect();
            let median = Spread::of(&seconds).map_or(f64::NAN, |of| 1e3 * of.median);
            let digits = if median < 10.0 { 4 } else { 1 };
            let gain = gain(one, &all[0], name).map_or(String::new(), |of| {
                format!("{:.2} ({:.2} to {:.2})", of.median, of.least, of.most)
            });
            let _ = writeln!(
                text,
                "| {name} | {} | {median:.digits$} | {gain} |",
                variant.name
            );
        }
    }
}

/// Milliseconds that the first version of a kernel took, as is said of it.
fn took(said: &str, kernel: &str, how: &str) -> Option<f64> {
    let (_, of) = said.split_once(&format!("versions of {kernel}("))?;
    let (_, of) = of.lines().nth(1)?.split_once(how)?;
    let (parts, _) = of.split_once(" ms")?;
    parts.split(" + ").map(|one| one.parse::<f64>().ok()).sum()
}

/// What `OKL_STATS` says of versions.
fn said(stderr: &str) -> String {
    let mut text = String::new();
    let mut is_of_versions = false;
    for line in stderr.lines() {
        is_of_versions =
            line.starts_with("okl: versions of") || is_of_versions && line.starts_with("okl:   ");
        if is_of_versions || line.starts_with("okl: LLVM was opened") {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

impl Aims {
    /// A loop is that many times as fast where its length is put in.
    const GAIN: f64 = 1.15;
    /// No loop takes more of the time that it took.
    const LOSS: f64 = 1.02;
    /// With the processor's own operations, of the time of code that was compiled for it.
    const OF_NATIVE: f64 = 1.05;
    /// Nanoseconds that a call takes longer.
    const CALL: f64 = 100.0;
    /// Milliseconds, without opening LLVM.
    const MAKING: f64 = 40.0;
    const LOADING: f64 = 1.0;
    /// By that part of what it only reads a program grows.
    const GROWTH: f64 = 1.0;

    fn note_growth(&mut self, name: &str, grows: f64) {
        self.add(
            format!("{name}: grows with {JIT} by that part of what it only reads"),
            format!("{:.2} at most", Self::GROWTH),
            Some(grows),
            |found| found <= Self::GROWTH,
        );
    }

    /// Of the kernel that most of airfoil's time goes into.
    fn note_making(&mut self, program: &Program, made: &str, found: &str) {
        if program.name != AIRFOIL {
            return;
        }
        for (what, told, how, most) in [
            ("to make a version", made, "made in ", Self::MAKING),
            ("to load it", found, "from the cache in ", Self::LOADING),
        ] {
            self.add(
                format!("{AIRFOIL}, `res_calc`: milliseconds {what}"),
                format!("{most:.0} at most"),
                took(told, "res_calc", how),
                |found| found <= most,
            );
        }
    }

    fn note_calls(&mut self, program: &Program, all: &[Measured], of: &str) {
        for name in program.loops {
            let found = of_differences(&all[1], &all[0], name);
            self.add(
                format!("{of}, `{name}`: nanoseconds that a call takes longer with {JIT}"),
                format!("{:.0} at most", Self::CALL),
                found.map(|of| of.median / CALLS_TIMED * 1e9),
                |found| found <= Self::CALL,
            );
        }
    }

    fn note_versions(&mut self, program: &Program, all: &[Measured], threads: u32) {
        let of = format!("{} on {threads} threads", program.name).replace("1 threads", "1 thread");
        if program.name == CALLS {
            // Threads that wait for each other take longer than that, and never the same time.
            if threads == 1 {
                self.note_calls(program, all, &of);
            }
            return;
        }
        let at = |name| program.ways.iter().position(|one| one.name == name);
        let (Some(jit), Some(free), Some(native)) = (at(JIT), at(FREE), at(NATIVE)) else {
            return;
        };
        let gains: Vec<(&str, f64)> = program
            .loops
            .iter()
            .filter(|name| **name != WHOLE)
            .filter_map(|name| Some((*name, gain(&all[jit], &all[0], name)?.median)))
            .collect();
        let best = gains.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        let worst = gains.iter().min_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((name, best)) = best.filter(|_| !program.loops.contains(&WHOLE)) {
            self.add(
                format!("{of}, the best, `{name}`: times as fast with {JIT}"),
                format!("{:.2} at least", Self::GAIN),
                Some(*best),
                |found| found >= Self::GAIN,
            );
        }
        if let Some((name, worst)) = worst {
            self.add(
                format!("{of}, the worst, `{name}`: part of the time with {JIT}"),
                format!("{:.2} at most", Self::LOSS),
                Some(1.0 / worst),
                |found| found <= Self::LOSS,
            );
        }
        if program.name == AIRFOIL {
            let whole = |one: &Measured| -> Vec<_> {
                let of = |run: &Found| -> Option<f64> {
                    let loops = program.loops.iter().filter(|name| **name != WHOLE);
                    loops.map(|name| run.seconds.get(*name)).sum()
                };
                one.runs.iter().map(of).collect()
            };
            let part = Spread::of_ratios(&whole(&all[free]), &whole(&all[native]));
            self.add(
                format!("{of}, all loops: part of the time of {NATIVE} with {FREE}"),
                format!("{:.2} at most", Self::OF_NATIVE),
                part.map(|of| of.median),
                |found| found <= Self::OF_NATIVE,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, seconds: &[f64]) -> Measured {
        let run = |seconds: &f64| Found {
            seconds: BTreeMap::from([(name.to_owned(), *seconds)]),
            results: vec![1.0],
            memory: None,
        };
        Measured {
            executable: PathBuf::new(),
            runs: seconds.iter().map(run).collect(),
        }
    }

    #[test]
    fn reads_what_the_programs_print() {
        let stdout = "stencil time 0.5 checksum 3\nsparse time 0.1 checksum 2\ntensor time 1 checksum 1\n\
                      boxes time 2 checksum 0\nanything else\nmemory 77\n";
        let none = Duration::ZERO;
        let all = found(&PROGRAMS[0], stdout, none, &[]).expect("all are there");
        assert_eq!(
            (all.seconds["tensor"], &all.results[..]),
            (1.0, &[3.0, 2.0, 1.0, 0.0][..])
        );
        assert_eq!(all.memory, Some(77));
        assert!(found(&PROGRAMS[0], "stencil time 0.5 checksum 3\n", none, &[]).is_err());
        assert!(found(&PROGRAMS[2], "100 1.5e-3\n", none, &[]).is_err());
    }

    #[test]
    fn what_is_slower_misses_its_aim() {
        let all = [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
        let all = all.map(|seconds| with("stencil", &seconds));
        let mut aims = Aims::default();
        aims.note_versions(&PROGRAMS[0], &all, 1);
        assert!(aims.0.iter().all(|one| one.3) && aims.0.len() == 2);
        let all = [[1.0, 1.0], [1.1, 1.1], [1.0, 1.0], [1.0, 1.0]];
        let all = all.map(|seconds| with("stencil", &seconds));
        let mut aims = Aims::default();
        aims.note_versions(&PROGRAMS[0], &all, 1);
        assert!(aims.0.iter().all(|one| !one.3));
    }

    #[test]
    fn what_a_call_takes_longer_is_told_in_nanoseconds() {
        let calls = PROGRAMS.iter().find(|one| one.name == CALLS);
        let calls = calls.expect("it is there");
        for (longer, is_so) in [(90e-9, true), (110e-9, false), (-1e-9, true)] {
            let all = [1e-3, 1e-3 + longer * CALLS_TIMED].map(|one| with("set", &[one, one]));
            let mut aims = Aims::default();
            aims.note_versions(calls, &all, 1);
            aims.note_versions(calls, &all, 2);
            let found = aims.0.iter().map(|one| (&one.2[..], one.3));
            let wanted = format!("{:.2}", longer * 1e9);
            assert_eq!(
                found.collect::<Vec<_>>(),
                [("not known", false), (&wanted[..], is_so)]
            );
        }
    }

    #[test]
    fn how_long_versions_took_is_read() {
        let made = "okl: versions of f(int): 2 calls\nokl:   1 values: not made\nokl: versions of res_calc(double*): 2 calls\n\
                    okl:   1 values: made in 30.5 + 12.0 ms, there after 50.0 ms, 1 calls\n";
        let found = made.replace("made in 30.5 + 12.0 ms", "from the cache in 0.32 ms");
        assert_eq!(took(made, "res_calc", "made in "), Some(42.5));
        assert_eq!(took(&found, "res_calc", "from the cache in "), Some(0.32));
        assert_eq!(took(made, "f", "made in "), None);
        let airfoil = PROGRAMS.iter().find(|one| one.name == AIRFOIL);
        let mut aims = Aims::default();
        aims.note_making(airfoil.expect("it is there"), made, &found);
        assert_eq!(
            aims.0.iter().map(|one| one.3).collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn other_results_are_found_out() {
        let mut all = [1.0; 4].map(|seconds| with("stencil", &[seconds]));
        assert!(compare(&PROGRAMS[0], &all, 1).is_ok());
        all[2].runs[0].results[0] += 1e-15;
        assert!(compare(&PROGRAMS[0], &all, 1).is_ok());
        all[1].runs[0].results[0] += 1e-15;
        assert!(compare(&PROGRAMS[0], &all, 1).is_err());
        assert!(compare(&PROGRAMS[0], &all, 2).is_ok());
    }

    #[test]
    fn only_what_is_said_of_versions_is_told() {
        let text = "okl: versions of f: 2 calls\nokl:   1 values: not made\nother\nokl:   of that\nokl: LLVM was opened in 9.1 ms\n";
        assert_eq!(
            said(text),
            "okl: versions of f: 2 calls\nokl:   1 values: not made\nokl: LLVM was opened in 9.1 ms\n"
        );
    }
}
