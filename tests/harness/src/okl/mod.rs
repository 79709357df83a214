//! Random OKL programs: compiled by `okl-c++`, at every level of optimisation, on several threads, on ranks and on an emulated
//! device, some of them on an OpenCL device, too, they print what an interpreter of the language says.
//!
//! | file | what it has |
//! |---|---|
//! | `kernel.rs` | what programs consist of |
//! | `generator.rs` | which programs there are |
//! | `text.rs` | how they are written |
//! | `interpreter.rs` | what they mean |

mod generator;
mod interpreter;
mod kernel;
mod text;

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::Common;
use crate::compare::difference;
use crate::directives::Comparison;
use crate::jobs::{self, Outcome, Tally};
use crate::opencl::OpenCl;
use crate::process::{self, End, command_line};
use crate::random::text::Random;
use crate::tools::Tools;

/// Seconds that a build or a run may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    text::write(&generator::program(seed))
}

/// Of so many programs one runs on an OpenCL device, too, if that is able to: to start it takes long.
const ONE_ON_OPENCL: u64 = 2;

/// Where programs run, if not everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Runs {
    /// On an OpenCL device alone.
    pub(crate) spirv: bool,
    /// Compiled once more at run time: on devices, and on the processor by what is compiled for these.
    pub(crate) jit: bool,
}

/// Runs the programs of `seeds`.
pub(crate) fn run(seeds: Range<u64>, common: &Common, runs: Runs) -> Result<Tally, String> {
    let on_opencl = runs.spirv;
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let folder = common.folder()?;
    let opencl = match OpenCl::lacks(&tools) {
        None => Some(OpenCl::new(&tools, folder.path())?),
        Some(lacks) if on_opencl => return Err(lacks),
        Some(lacks) => {
            println!("skip OpenCL: {lacks}");
            None
        }
    };
    let seeds: Vec<u64> = seeds.collect();
    let [on_devices, versions] = [(); 2].map(|()| AtomicUsize::new(0));
    let tally = jobs::run_all(
        &seeds,
        common.jobs,
        |seed| format!("seed {seed}"),
        |seed| match test(&tools, folder.path(), *seed, opencl.as_ref(), runs) {
            Ok([kernels, made]) => {
                versions.fetch_add(made, Ordering::Relaxed);
                on_devices.fetch_add(usize::from(kernels > 0), Ordering::Relaxed);
                Outcome::Passed
            }
            Err(why) => Outcome::Failed(why),
        },
    );
    let on_devices = on_devices.into_inner();
    println!("{on_devices} programs had kernels on the device");
    if runs.jit {
        println!("{} versions were made", versions.into_inner());
    }
    // Of what an OpenCL device is not able to run it is not asked.
    let least = seeds.len() / if on_opencl { 8 } else { 4 };
    if tally.is_success() && on_devices < least {
        return Err(format!("the device ran less than {least} of the programs"));
    }
    Ok(tally)
}

/// Tests the program of a seed; how many of its nests of loops ran on the device, and how many versions were made of them.
fn test(
    tools: &Tools,
    folder: &Path,
    seed: u64,
    opencl: Option<&OpenCl>,
    Runs { spirv, jit }: Runs,
) -> Result<[usize; 2], String> {
    let (on_opencl, is_elsewhere) = (spirv, !spirv && !jit);
    let program = generator::program(seed);
    let expected = interpreter::output(&program, seed);
    // Work items in another order: a difference is a mistake of the generator.
    if let Some(why) = difference(&expected, &interpreter::output(&program, !seed), EXACTLY) {
        return Err(format!("the program depends on an order: {why}"));
    }
    let name = format!("seed-{seed}");
    let source = folder.join(&name).with_extension("okl");
    fs::write(&source, text::write(&program)).map_err(|error| error.to_string())?;
    let mut random = Random::new(seed ^ 0x0bad_5eed);
    let levels = [
        &["-O0"][..],
        &["-O0", "-g"],
        &["-O1"],
        &["-O2"],
        &["-O2", "-g"],
    ];
    // What is not optimised has no versions.
    let levels = if jit { &levels[2..] } else { &levels };
    let level = random.one_of(levels);
    let executable = folder.join(&name);
    let mut threads = [1, random.between(2, 5)].map(|threads| {
        let mut start = Command::new(&executable);
        start.env("OMP_NUM_THREADS", threads.to_string());
        // Several tests share the cores: waiting threads must not spin.
        start.env("OMP_WAIT_POLICY", "passive");
        start
    });
    let mut on_ranks = process::on_ranks(&executable, random.between(2, 4));
    on_ranks.env("OKL_VERIFY", random.between(0, 1).to_string());
    let (mut kernels, mut versions) = (0, 0);
    let mut check = |flags: &[&str], starts: &mut [Command]| {
        let mut compile = tools.driver("okl-c++");
        // `10u ^ 93u` is what it is.
        compile.args(flags).arg("-Wno-xor-used-as-pow");
        compile.arg(&source).arg("-o").arg(&name);
        let done = process::run(&mut compile, folder, "", LIMIT)?;
        if done.end != End::Exit(0) || done.stderr.contains("warning:") {
            let line = command_line(&compile);
            return Err(format!("{}: {line}\n{}", done.end, done.stderr));
        }
        for start in starts {
            let done = process::run(start, folder, "", LIMIT)?;
            let how = || format!("{}, {}", command_line(&compile), command_line(start));
            if done.end != End::Exit(0) {
                return Err(format!("{}: {}\n{}", done.end, how(), done.stderr));
            }
            if let Some(why) = difference(&expected, &done.stdout, EXACTLY) {
                return Err(format!("{}\n{why}", how()));
            }
            let told = done
                .stderr
                .lines()
                .skip_while(|line| !line.starts_with(ON_DEVICE));
            kernels += told.skip(2).count();
            let made = done.stderr.lines();
            versions += made.filter(|line| line.contains(" made in ")).count();
            if let Some(failed) = done.stderr.lines().find(|one| one.contains(FAILED)) {
                return Err(format!("{}\n{failed}", how()));
            }
        }
        Ok(())
    };
    if is_elsewhere {
        check(&["-O3", "-march=native"], &mut threads)?;
        check(level, &mut threads)?;
        // What threads cannot share, and the compiler tells of, is as right.
        let of_ranks = [level, &["--okl-target=mpi", "-w"]].concat();
        check(&of_ranks, &mut [on_ranks])?;
    }
    // So is what a device cannot do, which the processor does then.
    let device = |name: &str| {
        let mut start = Command::new(&executable);
        start.env("OKL_BACKEND", name).env("OKL_STATS", "1");
        start.env("OKL_JIT", "turns").env("OKL_JIT_CACHE", "0");
        start
    };
    let mut emulated = device("cuda-emulated");
    let order = format!("seed={}", random.between(0, 1000));
    emulated.env("OKL_PTX_MACHINE", order);
    let mut starts = Vec::new();
    if !on_opencl {
        starts.push(emulated);
    }
    if jit && !on_opencl {
        starts.extend(threads.map(|mut start| {
            start.env("OKL_BACKEND", "cpu").env("OKL_STATS", "1");
            start.env("OKL_JIT", "turns").env("OKL_JIT_CACHE", "0");
            start
        }));
    }
    let mut targets = "--okl-target=cuda,cpu";
    let opencl = opencl.filter(|_| on_opencl || seed.is_multiple_of(ONE_ON_OPENCL));
    let is_able = |opencl: &&OpenCl| {
        let is_able = !program.meets_under_conditions() || !opencl.meets_wrongly_under_conditions();
        if !is_able {
            println!("skip OpenCL: seed {seed}: PoCL is wrong on barriers under conditions");
        }
        is_able
    };
    if let Some(opencl) = opencl.filter(is_able) {
        let mut start = device("spirv");
        opencl.serves(&mut start);
        starts.push(start);
        targets = "--okl-target=cuda,spirv,cpu";
    }
    let jit: &[&str] = if jit { &["--okl-jit"] } else { &[] };
    check(&[level, jit, &[targets, "-w"]].concat(), &mut starts)?;
    Ok([kernels, versions])
}

/// With what the table of the kernels on a device begins; a line of names follows.
const ON_DEVICE: &str = "okl: kernels on ";

/// What is said of a version that could not be made.
const FAILED: &str = " values: warning: failed";

const EXACTLY: Comparison = Comparison::Exact;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_depends_on_the_order_of_work_items() {
        for seed in 0..2000 {
            let program = generator::program(seed);
            let [one, other] = [1, 2].map(|order| interpreter::output(&program, order));
            assert!(one == other, "seed {seed}");
        }
    }
}
