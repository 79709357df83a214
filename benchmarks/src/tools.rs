//! Compiles the programs in their variants, all with the same flags, and starts them pinned in the
//! same way.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::catalogue::{Benchmark, Size};
use crate::output::{self, Outcome};

/// A way to build and run a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Each rank is a node of its own to okl: all that moves between ranks is a message.
    OklNodes,
    HandMpi,
    /// The same executable, whose ranks share memory.
    Okl,
    OpenMp,
}

impl Variant {
    /// In the order of their numbers, and in which they run.
    pub(crate) const ALL: [Self; 4] = [Self::OklNodes, Self::HandMpi, Self::Okl, Self::OpenMp];

    /// Those that are compiled.
    pub(crate) const BUILT: [Self; 3] = [Self::HandMpi, Self::Okl, Self::OpenMp];

    /// In file names and CSV.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::OklNodes => "okl-nodes",
            Self::HandMpi => "mpi",
            Self::Okl => "okl",
            Self::OpenMp => "openmp",
        }
    }

    /// Whether a number of ranks or threads makes sense for it: a single node is a single rank.
    pub(crate) fn runs_on(self, ranks: u32) -> bool {
        self != Self::OklNodes || ranks > 1
    }

    fn built(self) -> Self {
        match self {
            Self::OklNodes => Self::Okl,
            other => other,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OklNodes => "okl as nodes",
            Self::HandMpi => "hand MPI",
            Self::Okl => "okl",
            Self::OpenMp => "OpenMP",
        })
    }
}

/// What one run of a program printed.
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) stderr: String,
}

/// What a run adds to the plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing: for times.
    Timed,
    /// Counts of what happened, in the run as it is timed.
    Counted,
    /// Counts that do not depend on time: okl distributes short regions, too, whatever they cost.
    CountedAlike,
}

pub(crate) const COMPILER: &str = "clang-22";
pub(crate) const COMPILER_CPP: &str = "clang++-22";
pub(crate) const FLAGS: &[&str] = &["-O3", "-march=native"];
/// Seconds after which a run counts as hanging.
pub(crate) const LIMIT: &str = "180";

/// Compiles the library that counts what programs ask MPI to send. `benchmarks` is this crate's folder.
pub(crate) fn compile_counting_library(benchmarks: &Path, library: &Path) -> Result<(), String> {
    let mut command = Command::new(COMPILER);
    command
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        .args(wrapper_flags("compile")?)
        .arg(benchmarks.join("count/mpi_count.c"))
        .args(wrapper_flags("link")?)
        .arg("-o")
        .arg(library);
    finish(&mut command).map(drop)
}

/// The compiler, the libraries and the compiled programs.
pub(crate) struct Tools {
    benchmarks: PathBuf,
    plugin: PathBuf,
    runtime: PathBuf,
    mpi_compile: Vec<String>,
    mpi_link: Vec<String>,
    built: tempfile::TempDir,
    pub(crate) cores: u32,
}

impl Tools {
    /// Looks for everything; the error names what is missing. `benchmarks` is this crate's folder,
    /// `libraries` where okl's are.
    pub(crate) fn find(benchmarks: &Path, libraries: &Path) -> Result<Self, String> {
        let plugin = libraries.join("libokl_pass.so");
        let runtime = libraries.join("libokl_mpi.so");
        for library in [&plugin, &runtime] {
            if !library.is_file() {
                return Err(format!(
                    "{} is missing: run cargo build --release",
                    library.display()
                ));
            }
        }
        for program in [COMPILER, COMPILER_CPP, "mpirun", "timeout", "nm"] {
            let status = Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .output();
            if !status.is_ok_and(|output| output.status.success()) {
                return Err(format!("{program} is missing"));
            }
        }
        let io = |error: std::io::Error| error.to_string();
        Ok(Self {
            benchmarks: benchmarks.to_owned(),
            plugin,
            runtime: libraries.canonicalize().map_err(io)?,
            mpi_compile: wrapper_flags("compile")?,
            mpi_link: wrapper_flags("link")?,
            built: tempfile::tempdir().map_err(io)?,
            cores: cores(),
        })
    }

    /// Where [`Tools::compile`] puts a program.
    pub(crate) fn executable(&self, source: &str, variant: Variant) -> PathBuf {
        self.built
            .path()
            .join(format!("{source}-{}", variant.built().key()))
    }

    fn counting_library(&self) -> PathBuf {
        self.built.path().join("libmpi_count.so")
    }

    /// The files of a program: its own, whose names begin with `openmp` or `mpi`, and those that
    /// belong to both.
    fn sources(&self, source: &str, variant: Variant) -> Result<Vec<PathBuf>, String> {
        let other = match variant {
            Variant::HandMpi => "openmp",
            Variant::OpenMp | Variant::Okl | Variant::OklNodes => "mpi",
        };
        let folder = self.benchmarks.join("programs").join(source);
        let entries = fs::read_dir(&folder)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            (name.ends_with(".c") || name.ends_with(".cpp")) && !name.starts_with(other)
        });
        files.sort();
        Ok(files)
    }

    fn compile_command(&self, files: &[PathBuf], variant: Variant) -> Command {
        let is_cpp = |file: &PathBuf| file.extension().is_some_and(|name| name == "cpp");
        let mut command = Command::new(match files.iter().any(is_cpp) {
            true => COMPILER_CPP,
            false => COMPILER,
        });
        command.args(FLAGS);
        match variant {
            Variant::OpenMp => command.arg("-fopenmp"),
            Variant::HandMpi => command.args(&self.mpi_compile),
            Variant::Okl | Variant::OklNodes => command
                .arg("-fopenmp")
                .arg(format!("-fpass-plugin={}", self.plugin.display()))
                .args(["-mllvm", "-okl-target=mpi"]),
        };
        command.args(files);
        command
    }

    /// Compiles and links. A warning is an error: none of okl's regions may run as a team of one.
    pub(crate) fn compile(&self, source: &str, variant: Variant) -> Result<(), String> {
        self.build(source, variant, &[]).map(drop)
    }

    /// What [`Tools::compile`] does; what the compiler said.
    fn build(&self, source: &str, variant: Variant, more: &[&str]) -> Result<String, String> {
        let mut command = self.compile_command(&self.sources(source, variant)?, variant);
        command.args(["-Wall", "-Wextra", "-Werror", "-o"]);
        command.arg(self.executable(source, variant));
        match variant {
            Variant::OpenMp => {}
            Variant::HandMpi => {
                command.args(&self.mpi_link);
            }
            Variant::Okl | Variant::OklNodes => {
                command
                    .args(["-mllvm", "-okl-strict"])
                    .arg(format!("-L{}", self.runtime.display()))
                    .arg(format!("-Wl,-rpath,{}", self.runtime.display()))
                    .arg("-lokl_mpi");
            }
        }
        command.args(more).arg("-lm");
        finish(&mut command).map(|(_, stderr)| stderr)
    }

    /// How long the compiler alone takes, for object files that are thrown away.
    pub(crate) fn compile_time(&self, source: &str, variant: Variant) -> Result<Duration, String> {
        let mut total = Duration::ZERO;
        for file in self.sources(source, variant)? {
            let mut command = self.compile_command(&[file], variant);
            command
                .args(["-c", "-o"])
                .arg(self.built.path().join("timed.o"));
            let start = Instant::now();
            finish(&mut command)?;
            total += start.elapsed();
        }
        Ok(total)
    }

    /// Compiles and links, and returns where the compiler says that it vectorised a loop, and how
    /// wide: `openmp.c:12:3: remark: ...`. How many iterations it interleaves is left out: that
    /// depends on what else it knows.
    pub(crate) fn compile_listing_vectorised(
        &self,
        source: &str,
        variant: Variant,
    ) -> Result<BTreeSet<String>, String> {
        let more = ["-gline-tables-only", "-Rpass=loop-vectorize"];
        let stderr = self.build(source, variant, &more)?;
        let remarks = stderr.lines().filter(|line| line.contains(": remark: "));
        // The folder may hold anything, the file's name is ours.
        let shortened = |line: &str| {
            let line = line
                .rsplit_once("/programs/")
                .map_or(line, |(_, rest)| rest);
            let line = line
                .split_once(", interleaved")
                .map_or(line, |(kept, _)| kept);
            line.to_owned()
        };
        Ok(remarks.map(shortened).collect())
    }

    /// As the function of that name.
    pub(crate) fn compile_counting_library(&self) -> Result<(), String> {
        compile_counting_library(&self.benchmarks, &self.counting_library())
    }

    /// Calls of MPI in the hand-written program that move data and that the library does not see.
    pub(crate) fn uncounted_calls(&self, source: &str) -> Result<Vec<String>, String> {
        // They move nothing, or belong to a call that is counted.
        const NEUTRAL: &[&str] = &[
            "MPI_Abort",
            "MPI_Comm_rank",
            "MPI_Comm_size",
            "MPI_Wtime",
            "MPI_Irecv",
            "MPI_Recv",
            "MPI_Wait",
            "MPI_Waitall",
            "MPI_Waitany",
            "MPI_Win_allocate",
            "MPI_Win_flush",
            "MPI_Win_free",
            "MPI_Win_lock_all",
            "MPI_Win_sync",
            "MPI_Win_unlock_all",
        ];
        let used = symbols(
            "--undefined-only",
            &self.executable(source, Variant::HandMpi),
        )?;
        let counted = symbols("--defined-only", &self.counting_library())?;
        Ok(used
            .into_iter()
            .filter(|name| !counted.contains(name) && !NEUTRAL.contains(&name.as_str()))
            .collect())
    }

    /// Runs a compiled benchmark once.
    pub(crate) fn run(
        &self,
        benchmark: &Benchmark,
        variant: Variant,
        ranks: u32,
        arguments: &[u32],
        iterations: u32,
        mode: Mode,
    ) -> Result<Run, String> {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", LIMIT]);
        match variant {
            Variant::OpenMp => bind_threads(&mut command, ranks),
            Variant::HandMpi | Variant::Okl | Variant::OklNodes => {
                command
                    .arg("mpirun")
                    .args(["--map-by", "core", "--bind-to", "core:overload-allowed"])
                    .env("OMP_NUM_THREADS", "1")
                    // As for every other program on this machine, root or not.
                    .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                    .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                if ranks > self.cores {
                    command.arg("--oversubscribe");
                }
                if variant == Variant::OklNodes {
                    command.env("OKL_RANKS_PER_NODE", "1");
                }
                if mode == Mode::CountedAlike {
                    command.env("OKL_REGIONS_ALONE", "0");
                }
                if mode != Mode::Timed {
                    if variant == Variant::HandMpi {
                        let library = self.counting_library();
                        command.args(["-x", &format!("LD_PRELOAD={}", library.display())]);
                    } else {
                        command.env("OKL_STATS", "1");
                    }
                }
                command.args(["-n", &ranks.to_string()]);
            }
        }
        self.start(command, benchmark, variant, arguments, iterations)
    }

    /// Runs a benchmark, OpenMP's or okl's, as a process of its own with `threads` threads: okl's is one rank.
    pub(crate) fn run_one_rank(
        &self,
        benchmark: &Benchmark,
        variant: Variant,
        threads: u32,
    ) -> Result<Outcome, String> {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", LIMIT]);
        bind_threads(&mut command, threads);
        let Size {
            arguments,
            iterations,
        } = benchmark.full;
        let run = self.start(command, benchmark, variant, arguments, iterations)?;
        Ok(run.outcome)
    }

    /// Has `command` run the executable.
    fn start(
        &self,
        mut command: Command,
        benchmark: &Benchmark,
        variant: Variant,
        arguments: &[u32],
        iterations: u32,
    ) -> Result<Run, String> {
        command.arg(self.executable(benchmark.source, variant));
        command.args(arguments.iter().map(u32::to_string));
        command.arg(iterations.to_string());
        let (stdout, stderr) = finish(&mut command)?;
        let outcome = output::outcome(&stdout)?;
        if outcome.iterations != iterations {
            return Err(format!(
                "did {} iterations instead of {iterations}",
                outcome.iterations
            ));
        }
        Ok(Run { outcome, stderr })
    }
}

/// How threads of one process are bound to cores.
fn bind_threads(command: &mut Command, threads: u32) {
    command
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_PLACES", "cores")
        .env("OMP_PROC_BIND", "close");
}

/// Runs a command to its end; what it printed, or how it failed.
pub(crate) fn finish(command: &mut Command) -> Result<(String, String), String> {
    let line = || {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let line = line();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {line}: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok((stdout, stderr));
    }
    let how = match output.status.code() {
        Some(124) => format!("still ran after {LIMIT} s"),
        _ => output.status.to_string(),
    };
    let said: Vec<&str> = stderr.lines().take(20).collect();
    Err(format!("{how}: {line}\n{}", said.join("\n")))
}

/// What mpicc adds to a compiler's arguments.
pub(crate) fn wrapper_flags(step: &str) -> Result<Vec<String>, String> {
    let output = Command::new("mpicc")
        .arg(format!("-showme:{step}"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("mpicc is missing ({error})"))?;
    if !output.status.success() {
        return Err(format!("mpicc -showme:{step}: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().map(String::from).collect())
}

/// The MPI functions among the dynamic symbols of a file.
fn symbols(which: &str, file: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new("nm");
    command.args(["--dynamic", which]).arg(file);
    let (stdout, _) = finish(&mut command)?;
    Ok(stdout
        .split_whitespace()
        .filter(|word| word.starts_with("MPI_"))
        .map(String::from)
        .collect())
}

/// Cores, not hardware threads: what mpirun takes for its slots.
fn cores() -> u32 {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |line: &str| {
        line.split_once(':')
            .map(|(_, value)| value.trim().to_owned())
    };
    let mut package = None;
    let mut found = HashSet::new();
    for line in info.lines() {
        if line.starts_with("physical id") {
            package = value(line);
        } else if line.starts_with("core id") {
            found.insert((package.clone(), value(line)));
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    match found.len() {
        0 => processors as u32,
        cores => cores.min(processors) as u32,
    }
}
