//! The test runner of okl: `lines` runs RUN lines, `run` compares okl builds of small programs with
//! their OpenMP builds, `random` does the same with generated programs, `sections` checks what the
//! pass declares of generated loops, `op2` compares generated OP2 programs with and without the plugin, `okl` generated
//! OKL programs with what an interpreter says,
//! `devices` runs a list of programs on every kind of device,
//! `ptxas` has NVIDIA's assembler take the code for devices, `documents` runs the commands that documents tell their readers to type.
//!
//! The last line printed is `N passed, N failed, N skipped`; the exit status is 0 only when nothing
//! failed and something passed.

mod chains;
mod combinations;
mod compare;
mod devices;
mod differential;
mod directives;
mod documents;
mod jobs;
mod lines;
mod okl;
mod op2;
mod opencl;
mod process;
mod ptxas;
mod random;
mod sections;
mod tools;

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tempfile::TempDir;

/// Runs okl's tests.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Runs the `RUN:` lines of every .ll, .c, .cpp and .f90 file below the folders.
    Lines {
        /// Folders or single files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Compares the okl build of every program below the folders with its OpenMP build.
    Run {
        /// Folders or single files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        launch: Launch,
        /// Checks the tests themselves: plain OpenMP builds only, every result twice.
        #[arg(long)]
        reference_only: bool,
    },
    /// Compares okl and OpenMP builds of random race-free programs.
    Random {
        #[command(flatten)]
        seeds: Seeds,
        /// Programs of loops that devices can run, for the most part.
        #[arg(long)]
        for_devices: bool,
        /// So many programs in one executable; where it fails, each alone.
        #[arg(long, value_name = "COUNT", default_value_t = 1)]
        batch: usize,
        /// Prints the program of the seed, or so many in one executable, and stops.
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        launch: Launch,
        /// Checks the generator itself: plain OpenMP builds only.
        #[arg(long)]
        reference_only: bool,
    },
    /// Compares random OP2 programs with the plugin, run in many ways, and without it.
    Op2 {
        #[command(flatten)]
        seeds: Seeds,
        /// Prints the program of the seed and stops.
        #[arg(long)]
        print: bool,
        /// Has programs run on an OpenCL device, and nowhere else.
        #[arg(long)]
        spirv: bool,
        /// Has loops compiled once more at run time, wherever they run, and some programs be lazy.
        #[arg(long)]
        jit: bool,
        #[command(flatten)]
        common: Common,
        /// Builds the programs for a device alone, and runs them there, emulated: so ten times as many run
        #[arg(long, conflicts_with = "spirv")]
        devices: bool,
    },
    /// Compares random OKL programs with what an interpreter of the language says.
    Okl {
        #[command(flatten)]
        seeds: Seeds,
        /// Prints the program of the seed and stops.
        #[arg(long)]
        print: bool,
        /// Has programs run on an OpenCL device, and nowhere else.
        #[arg(long)]
        spirv: bool,
        /// Has what is compiled for devices compiled once more at run time, there and on the processor.
        #[arg(long)]
        jit: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Runs the commands of every Markdown file at or below the paths.
    Documents {
        /// Folders or single files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Has NVIDIA's assembler take the code for CUDA devices of every test of kernels below the paths.
    Ptxas {
        /// Folders or single files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// The assembler.
        #[arg(long)]
        ptxas: PathBuf,
        #[command(flatten)]
        common: Common,
    },
    /// Runs a list of programs with kernels on every kind of device.
    Devices {
        /// The list.
        list: PathBuf,
        /// Only these targets.
        #[arg(long, value_delimiter = ',')]
        targets: Vec<String>,
        /// NVIDIA's assembler.
        #[arg(long)]
        ptxas: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Compares programs with loop chains, in all of their schedules, or random ones, with what they do without okl.
    Chains {
        /// Folders or single files; without them random chains.
        paths: Vec<PathBuf>,
        /// Where their programs run [default: cpu].
        #[arg(long, value_delimiter = ',')]
        targets: Vec<String>,
        /// Also the variants of what okl does not know yet.
        #[arg(long)]
        later: bool,
        /// Random parallel loops that follow each other, with `--okl-fuse`, in place of chains.
        #[arg(long)]
        fuse: bool,
        #[command(flatten)]
        seeds: Seeds,
        /// Prints the program of the seed and stops.
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Compares what the pass declares of random loop nests with what they access.
    Sections {
        #[command(flatten)]
        seeds: Seeds,
        #[command(flatten)]
        common: Common,
    },
}

/// Which random programs.
#[derive(Args)]
struct Seeds {
    /// How many programs.
    #[arg(long, default_value_t = 20)]
    count: u64,
    /// Seed of the first program; the next ones take the numbers that follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Seeds {
    fn range(&self) -> Range<u64> {
        self.seed..self.seed + self.count
    }
}

/// Options of every mode.
#[derive(Args)]
pub(crate) struct Common {
    /// Folder with libokl_pass.so and libokl_mpi.so [default: the folder of this program].
    #[arg(long)]
    build_dir: Option<PathBuf>,
    /// Only tests whose path contains this text.
    #[arg(long)]
    filter: Option<String>,
    /// Tests at the same time [default: number of cores].
    #[arg(long)]
    jobs: Option<usize>,
    /// Keeps the working folders and prints where they are.
    #[arg(long)]
    keep: bool,
}

impl Common {
    /// A folder to work in, which is gone in the end, or is kept, and said.
    fn folder(&self) -> Result<TempDir, String> {
        let mut folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if self.keep {
            folder.disable_cleanup(true);
            println!("programs: {}", folder.path().display());
        }
        Ok(folder)
    }
}

/// How okl programs are started.
#[derive(Args)]
pub(crate) struct Launch {
    /// Sets a variable for the runs of okl programs; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    environment: Vec<(String, String)>,
    /// Where okl programs are compiled for: `mpi+cuda,cpu` with `OKL_BACKEND=cuda-emulated` has ranks run loops on devices,
    /// and `cuda,cpu` with `--ranks=0` programs without ranks, or `spirv,cpu` with `OKL_BACKEND=spirv`.
    #[arg(long, value_name = "TARGETS", default_value = "mpi")]
    target: String,
    /// Has them compiled once more at run time: `cpu` with `--ranks=0`, and `OKL_JIT=turns`.
    #[arg(long)]
    jit: bool,
    /// Only these rank counts; tests that name none run on all of them.
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    /// Optimisation levels to use instead of those the tests ask for, such as -O3.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    opt: Vec<String>,
    /// How to run them; `all` of them if that is said.
    #[arg(long, value_delimiter = ',', default_value = "node", value_parser = mode)]
    modes: Vec<Vec<combinations::Mode>>,
    /// Runs each program in so many of its combinations of level, ranks and mode only.
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// Which sample.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    sample_seed: u64,
    /// Moves a program's stack by so many bytes, with the size of its environment [default: drawn from the
    /// sample's seed].
    #[arg(long, value_name = "BYTES")]
    stack_shift: Option<usize>,
    /// Keeps the builds in this folder, and uses those that are there already: they must be of the
    /// same sources and the same plugin.
    #[arg(long, value_name = "FOLDER", value_parser = absolute)]
    builds: Option<PathBuf>,
    /// Seconds one run may take.
    #[arg(long, default_value = "30", value_parser = seconds)]
    timeout: Duration,
}

impl Launch {
    fn modes(&self) -> Vec<combinations::Mode> {
        self.modes.concat()
    }
}

fn mode(text: &str) -> Result<Vec<combinations::Mode>, String> {
    use combinations::Mode;
    match text {
        "all" => Ok(Mode::value_variants().to_vec()),
        name => Mode::from_str(name, false).map(|mode| vec![mode]),
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn absolute(text: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(text)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "expected whole seconds")?;
    Ok(Duration::from_secs(seconds))
}

fn main() -> ExitCode {
    let result = match Cli::parse().mode {
        Mode::Lines { paths, common } => lines::run(&paths, &common),
        Mode::Run {
            paths,
            common,
            launch,
            reference_only,
        } => differential::run(&paths, &common, &launch, reference_only),
        Mode::Ptxas {
            paths,
            ptxas,
            common,
        } => ptxas::run(&paths, &ptxas, &common),
        Mode::Devices {
            list,
            targets,
            ptxas,
            common,
        } => devices::run(&list, &targets, ptxas.as_deref(), &common),
        Mode::Documents { paths, common } => documents::run(&paths, &common),
        Mode::Sections { seeds, common } => sections::run(seeds.range(), &common),
        Mode::Chains {
            seeds,
            fuse,
            print: true,
            ..
        } => {
            let program = match fuse {
                true => chains::fused::program(seeds.seed),
                false => chains::random::program(seeds.seed),
            };
            print!("{program}");
            return ExitCode::SUCCESS;
        }
        Mode::Chains {
            paths,
            targets,
            later,
            fuse,
            seeds,
            print: false,
            common,
        } => match paths.is_empty() {
            true if fuse => chains::fused::run(seeds.range(), &common),
            true => chains::random::run(seeds.range(), &common),
            false => chains::run(&paths, &targets, later, &common),
        },
        Mode::Okl {
            seeds, print: true, ..
        } => {
            print!("{}", okl::program(seeds.seed));
            return ExitCode::SUCCESS;
        }
        Mode::Okl {
            seeds,
            print: false,
            spirv,
            jit,
            common,
        } => okl::run(seeds.range(), &common, okl::Runs { spirv, jit }),
        Mode::Op2 {
            seeds, print: true, ..
        } => {
            print!("{}", op2::program(seeds.seed));
            return ExitCode::SUCCESS;
        }
        Mode::Op2 {
            seeds,
            print: false,
            spirv,
            jit,
            common,
            devices,
        } => op2::run(seeds.range(), &common, op2::Runs::of(devices, spirv), jit),
        Mode::Random {
            seeds,
            for_devices,
            batch,
            print: true,
            ..
        } => {
            let kind = random::Kind { for_devices };
            print!("{}", random::printed(seeds.seed, kind, batch));
            return ExitCode::SUCCESS;
        }
        Mode::Random {
            seeds,
            for_devices,
            batch,
            print: false,
            common,
            launch,
            reference_only,
        } => {
            let kind = random::Kind { for_devices };
            random::run(seeds.range(), kind, batch, &common, &launch, reference_only)
        }
    };
    match result {
        Ok(tally) => {
            println!("{tally}");
            if tally.is_success() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(message) => {
            eprintln!("okl-tests: {message}");
            ExitCode::from(2)
        }
    }
}
