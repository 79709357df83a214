//! Random OP2 programs: with the plugin they print what they print without it, in every way in which loops may run.
//!
//! | file | what it writes |
//! |---|---|
//! | `prelude.h` | what all programs begin with |
//! | `program.rs` | sets, maps, data, and what the program does with them |
//! | `calls.rs` | arguments of loops |
//! | `kernel.rs` | kernels |
//! | `expression.rs` | what kernels compute |
//!
//! All values are whole numbers that their types hold exactly, and kernels do what their arguments say. So results do
//! not depend on the order of elements, and are compared bit by bit.

mod calls;
mod expression;
mod kernel;
mod program;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

pub(crate) use program::program;

use crate::Common;
use crate::combinations::Mode;
use crate::compare::difference;
use crate::directives::Comparison;
use crate::jobs::{self, Outcome, Tally};
use crate::opencl::OpenCl;
use crate::process::{self, End, Finished, command_line};
use crate::random::text::Random;
use crate::tools::{Language, Tools};

/// Seconds that a build or a run may take. (A device that is emulated takes a launch for each colour, of which there are as many
/// as elements where all write the same.)
const LIMIT: Duration = Duration::from_secs(180);
/// Percentage of the loops that have to run several elements at once.
const LEAST_LANES: usize = 20;
/// Of so many programs one runs on an OpenCL device, too: to start it takes long.
const ONE_ON_OPENCL: u64 = 5;

/// Where programs run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// On the processor and on devices.
    Everywhere,
    /// On a CUDA device alone, emulated.
    Emulated,
    /// On an OpenCL device alone.
    OpenCl,
}

impl Runs {
    /// As two options say, of which at most one is given.
    pub(crate) fn of(emulated: bool, on_opencl: bool) -> Self {
        match (emulated, on_opencl) {
            (true, _) => Self::Emulated,
            (_, true) => Self::OpenCl,
            _ => Self::Everywhere,
        }
    }
}

/// Runs the programs of `seeds`; with `jit`, loops are compiled once more at run time.
pub(crate) fn run(
    seeds: Range<u64>,
    common: &Common,
    runs: Runs,
    jit: bool,
) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let folder = common.folder()?;
    let opencl = match OpenCl::lacks(&tools) {
        None => Some(OpenCl::new(&tools, folder.path())?),
        Some(lacks) if runs == Runs::OpenCl => return Err(lacks),
        Some(lacks) => {
            println!("skip OpenCL: {lacks}");
            None
        }
    };
    let seeds: Vec<u64> = seeds.collect();
    let counts = Counts::default();
    let tally = jobs::run_all(
        &seeds,
        common.jobs,
        |seed| format!("seed {seed}"),
        |seed| {
            let folder = folder.path().join(format!("seed-{seed}"));
            let made = fs::create_dir(&folder).map_err(|error| error.to_string());
            let test = Test {
                tools: &tools,
                folder,
                counts: &counts,
                runs,
                jit,
                opencl: opencl.as_ref(),
            };
            let run = |()| match runs {
                Runs::OpenCl => test.run_on_opencl(*seed),
                Runs::Everywhere | Runs::Emulated => test.run(*seed),
            };
            match made.and_then(run) {
                Ok(()) => Outcome::Passed,
                Err(why) => Outcome::Failed(why),
            }
        },
    );
    if runs != Runs::Everywhere {
        return Ok(tally);
    }
    let (lanes, one_at_a_time) = (counts.lanes.into_inner(), counts.one_at_a_time.into_inner());
    println!(
        "{lanes} of {} loops run several elements at a time",
        lanes + one_at_a_time
    );
    if lanes * 100 < (lanes + one_at_a_time) * LEAST_LANES {
        return Err(format!("fewer than {LEAST_LANES} % of the loops"));
    }
    Ok(tally)
}

/// What the compiler has said of the loops of all programs.
#[derive(Default)]
struct Counts {
    lanes: AtomicUsize,
    one_at_a_time: AtomicUsize,
}

/// One program.
struct Test<'a> {
    tools: &'a Tools,
    folder: PathBuf,
    counts: &'a Counts,
    runs: Runs,
    jit: bool,
    opencl: Option<&'a OpenCl>,
}

/// How a build is run.
#[derive(Clone, Default)]
struct Way {
    /// 0: without mpirun.
    ranks: usize,
    /// With what Open MPI starts quickest with.
    is_quick: bool,
    environment: Vec<(&'static str, String)>,
    arguments: Vec<String>,
}

impl Way {
    fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }

    fn backend(&self) -> Option<&str> {
        let mut said = self.environment.iter().rev();
        let (_, value) = said.find(|(name, _)| *name == "OKL_BACKEND")?;
        Some(value)
    }

    fn says(mut self, argument: impl ToString) -> Self {
        self.arguments.push(argument.to_string());
        self
    }
}

impl Test<'_> {
    fn run(&self, seed: u64) -> Result<(), String> {
        let source = self.folder.join("program.cpp");
        fs::write(&source, program(seed)).map_err(|error| error.to_string())?;
        let mut random = Random::new(seed ^ 0x0bad_5eed);
        let plain = self.build("plain", &["-O1"], false)?;
        let expected = self.launch(&plain, &Way::default())?;
        let builds = [
            ("native", &["-O3", "-march=native"][..]),
            match random.between(0, 4) {
                // What is not optimised has no versions.
                0 | 1 if !self.jit => ("slow", &["-O0"]),
                2 => ("avx2", &["-O3", "-mavx2", "-mfma"]),
                3 => (
                    "widest",
                    &["-O2", "-march=native", "-mprefer-vector-width=512"],
                ),
                _ => ("sse2", &["-O2"]),
            },
        ];
        let builds = match self.runs {
            Runs::Everywhere => &builds[..],
            Runs::Emulated | Runs::OpenCl => &[],
        };
        for (at, (name, flags)) in builds.iter().enumerate() {
            let build = self.build(name, flags, true)?;
            for mut way in ways(&mut random, at == 0) {
                if self.jit && way.ranks == 0 && random.chance(40) {
                    way = way.with("OKL_LAZY", 1);
                }
                self.compare(&plain, &build, &way, &expected)?;
            }
        }
        let build = self.build("device", &["-O3", "-mllvm", "-okl-target=cuda,cpu"], true)?;
        for way in ways_on_a_device(&mut random) {
            self.compare(&plain, &build, &way, &expected)?;
        }
        let is_one = self.runs == Runs::Everywhere && seed.is_multiple_of(ONE_ON_OPENCL);
        match self.opencl.filter(|_| is_one) {
            Some(_) => self.compare_on_opencl(&plain, &mut random, &expected),
            None => Ok(()),
        }
    }

    /// On an OpenCL device alone.
    fn run_on_opencl(&self, seed: u64) -> Result<(), String> {
        let source = self.folder.join("program.cpp");
        fs::write(&source, program(seed)).map_err(|error| error.to_string())?;
        let plain = self.build("plain", &["-O1"], false)?;
        let expected = self.launch(&plain, &Way::default())?;
        self.compare_on_opencl(&plain, &mut Random::new(seed ^ 0x0bad_5eed), &expected)
    }

    fn compare_on_opencl(
        &self,
        plain: &Path,
        random: &mut Random,
        expected: &Printed,
    ) -> Result<(), String> {
        // What is not optimised has no versions.
        let levels = ["-O0", "-O2", "-O3"];
        let level = random.one_of(if self.jit { &levels[1..] } else { &levels });
        let build = self.build("opencl", &[level, "-mllvm", "-okl-target=spirv,cpu"], true)?;
        for way in ways_on_a_device(random) {
            let way = way.with("OKL_BACKEND", "spirv");
            self.compare(plain, &build, &way, expected)?;
        }
        Ok(())
    }

    /// The program's file.
    fn build(&self, name: &str, flags: &[&str], has_plugin: bool) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let runtime = self.tools.runtime_dir.display();
        let mut command = self.tools.compiler(Language::Cxx);
        command
            .args(flags)
            .arg(format!("-I{}", self.tools.op2_include.display()));
        if has_plugin {
            command
                .arg("-g1")
                .arg(format!("-fpass-plugin={}", self.tools.plugin.display()))
                .args(["-Rpass=okl", "-Rpass-missed=okl"]);
        }
        if has_plugin && self.jit {
            command.args(["-mllvm", "-okl-jit"]);
        }
        command
            .arg(self.folder.join("program.cpp"))
            .arg(format!("-L{runtime}"))
            .args([&format!("-L{runtime}/okl-link"), "-lokl_op2"])
            .args(["-Wl,--as-needed", "-lokl_gpu", "-Wl,--no-as-needed"])
            .args([&format!("-Wl,-rpath,{runtime}"), "-lm", "-o"])
            .arg(&path);
        let done = process::run(&mut command, &self.folder, "", LIMIT)?;
        let wrong =
            |why: &str| format!("{why}: {}\n{}", command_line(&command), tail(&done.stderr));
        if done.end != End::Exit(0) {
            return Err(wrong(&done.end.to_string()));
        }
        let is_unknown = |line: &&str| {
            line.contains("warning:") && !WARNINGS.iter().any(|known| line.contains(known))
        };
        if let Some(warning) = done.stderr.lines().find(is_unknown) {
            return Err(wrong(&format!("of a program that is right: {warning}")));
        }
        if name == "native" {
            let count = |text: &str| {
                let lines = done.stderr.lines();
                lines.filter(|line| line.contains(text)).count()
            };
            let one = count("one element at a time");
            self.counts.one_at_a_time.fetch_add(one, Relaxed);
            let several = count("elements at a time");
            self.counts.lanes.fetch_add(several, Relaxed);
        }
        Ok(path)
    }

    /// What the program prints, and what all ranks have seen.
    fn launch(&self, build: &Path, way: &Way) -> Result<Printed, String> {
        let folder = tempfile::tempdir_in(&self.folder).map_err(|error| error.to_string())?;
        let mut command = command_of(build, way);
        command.env("OKL_JIT", "turns").env("OKL_JIT_CACHE", "0");
        if let Some(opencl) = self.opencl.filter(|_| way.backend() == Some("spirv")) {
            opencl.serves(&mut command);
        }
        let done = process::run(&mut command, folder.path(), "", LIMIT)?;
        let line = command_line(&command);
        if done.end != End::Exit(0) {
            let Finished {
                end,
                stdout,
                stderr,
            } = done;
            return Err(format!(
                "{end}: {line}\n{}\n{}",
                tail(&stdout),
                tail(&stderr)
            ));
        }
        let unexpected = done.stderr.lines().find(|line| {
            let is_known = EXPECTED.iter().any(|known| line.contains(known));
            line.contains("okl: ") && !is_known
        });
        if let Some(message) = unexpected {
            return Err(format!("an unexpected message: {line}\n{message}"));
        }
        let seen = |rank: usize| {
            let text = fs::read_to_string(folder.path().join(format!("end.{rank}")));
            text.map_err(|error| format!("{line}\nrank {rank} has not come to its end: {error}"))
        };
        let seen = (0..way.ranks.max(1)).map(seen);
        Ok(Printed {
            line: line.clone(),
            text: done.stdout,
            seen: seen.collect::<Result<_, _>>()?,
        })
    }

    fn compare(
        &self,
        plain: &Path,
        build: &Path,
        way: &Way,
        expected: &Printed,
    ) -> Result<(), String> {
        let found = self.launch(build, way)?;
        let line = &found.line;
        if let Some(first) = difference(&expected.text, &found.text, Comparison::Exact) {
            // Once more with all values.
            let in_full = |build, way: Way| self.launch(build, &way.says("full=yes"));
            let expected = in_full(plain, Way::default())?;
            let found = in_full(build, way.clone())?;
            let again = different_lines(&expected.text, &found.text);
            return Err(format!("{line}\n{first}\nvalues:\n{again}"));
        }
        match found.seen.iter().position(|one| *one != expected.seen[0]) {
            Some(rank) => Err(format!("{line}\nrank {rank} has seen something else")),
            None => Ok(()),
        }
    }
}

/// What the compiler may tell of kernels that are right.
const WARNINGS: [&str; 4] = [
    "this cannot run on a device, so the processor runs it",
    "this cannot run on an OpenCL device, so the processor runs it there",
    "but the kernel assigns to it without comparing",
    "but the kernel assigns to it: increments of other elements may be lost",
];

/// What the library may tell about programs that are right.
const EXPECTED: [&str; 8] = [
    ": the processor runs it: ",
    "is not stored component by component",
    "no data are stored component by component",
    "is OP_RW, and the loop writes through maps",
    "used instead",
    "OKL_REPRODUCIBLE: with OP_RW of several elements through maps",
    "OKL_LAZY=1 does nothing where op_init is called with a level of 2 or more",
    "op_renumber: the mesh stays as it is: with OKL_REPRODUCIBLE",
];

/// What a run has printed.
struct Printed {
    line: String,
    text: String,
    /// By rank.
    seen: Vec<String>,
}

/// The first lines that differ where all values are printed; not those with checksums.
fn different_lines(expected: &str, found: &str) -> String {
    let pairs = expected.lines().zip(found.lines());
    let is_value = |line: &str| line.starts_with("  ") || line.contains(" g");
    let pairs = pairs.filter(|(one, other)| one != other && is_value(one));
    let pairs = pairs.map(|(one, other)| format!("-{one}\n+{other}\n"));
    pairs.take(8).collect()
}

/// The end of what a program says.
fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn command_of(build: &Path, way: &Way) -> Command {
    let mut command = match way.ranks {
        0 => Command::new(build),
        ranks => process::on_ranks(build, ranks),
    };
    for name in [
        "OP_AUTO_SOA",
        "OKL_BACKEND",
        "OKL_INCREMENTS",
        "OKL_LAZY",
        "OKL_REPRODUCIBLE",
        "OMP_NUM_THREADS",
    ] {
        command.env_remove(name);
    }
    // Several tests share the cores: waiting threads must not spin.
    command.env("OMP_WAIT_POLICY", "passive");
    if way.is_quick {
        command.envs(Mode::Node.environment().iter().copied());
    }
    command.envs(way.environment.iter().map(|(name, value)| (name, value)));
    command.args(&way.arguments);
    command
}

/// Ways of running the build for a device.
fn ways_on_a_device(random: &mut Random) -> Vec<Way> {
    let emulated = || Way::default().with("OKL_BACKEND", "cuda-emulated");
    let increments = |random: &mut Random, way: Way| match random.between(0, 4) {
        0 => way.with("OKL_REPRODUCIBLE", 1),
        1 => way.with("OKL_INCREMENTS", "colours"),
        2 => way.with("OKL_INCREMENTS", "atomics"),
        _ => way.with("OKL_INCREMENTS", "blocks"),
    };
    let mut other = increments(random, emulated());
    if random.chance(50) {
        other = other.with("OP_AUTO_SOA", 1);
    }
    if random.chance(50) {
        other = other.says("renumber=yes");
    }
    let mut on_ranks = emulated();
    on_ranks.ranks = random.one_of(&[2, 2, 3, 4]);
    on_ranks.is_quick = true;
    if random.chance(60) {
        on_ranks = increments(random, on_ranks);
    }
    if random.chance(30) {
        on_ranks = on_ranks.says("renumber=yes");
    }
    on_ranks = on_ranks.says(format!("way={}", division(random)));
    vec![emulated(), other, on_ranks]
}

/// How ranks share the mesh.
fn division(random: &mut Random) -> &'static str {
    random.one_of(&[
        "", "default", "block", "rcb", "scotch", "ptscotch", "external",
    ])
}

/// Ways of running a build; all of them where `has_all`.
fn ways(random: &mut Random, has_all: bool) -> Vec<Way> {
    let soa = |way: Way| way.with("OP_AUTO_SOA", 1);
    let threads = |way: Way, count: usize| way.with("OMP_NUM_THREADS", count);
    let maybe_soa = |random: &mut Random| match random.chance(60) {
        true => soa(Way::default()),
        false => Way::default(),
    };
    let some_threads = |random: &mut Random, way: Way| {
        let block = random.one_of(&[0, 1, 5, 37, 64, 200]);
        let way = threads(way, random.between(2, 4));
        match block {
            0 => way,
            _ => way.says(format!("OP_PART_SIZE={block}")),
        }
    };
    let mut all = vec![Way::default(), soa(Way::default())];
    let plain = some_threads(random, Way::default());
    all.push(plain);
    let plain = some_threads(random, soa(Way::default()));
    all.push(plain);
    if has_all {
        all.push(maybe_soa(random).with("OKL_BACKEND", "seq"));
        let way = maybe_soa(random).says("renumber=yes");
        let way = match random.chance(40) {
            true => way.says("again=renumber"),
            false => way,
        };
        all.push(match random.chance(50) {
            true => some_threads(random, way),
            false => way,
        });
        all.push(match random.chance(50) {
            true => maybe_soa(random).with("OKL_REPRODUCIBLE", 1),
            false => maybe_soa(random).says("OP_NO_REALLOC"),
        });
    }
    for _ in 0..if has_all { 2 } else { 1 } {
        let mut way = maybe_soa(random);
        way.ranks = random.one_of(&[2, 2, 3, 3, 4]);
        way.is_quick = random.chance(80);
        if random.chance(50) {
            way = some_threads(random, way);
        }
        way = way.says(format!("way={}", division(random)));
        if random.chance(30) {
            way = way.says("renumber=yes");
        }
        if random.chance(25) {
            let again = match random.chance(30) {
                true => "renumber",
                false => division(random),
            };
            way = way.says(format!("again={again}"));
        }
        if random.chance(10) {
            way = way.with("OKL_REPRODUCIBLE", 1);
        }
        all.push(way);
    }
    all
}
