//! Compares okl with OpenMP and with hand-written MPI: builds every benchmark in three variants,
//! runs them in turn, okl's with ranks as nodes and with ranks of one machine, checks that they compute the same, and reports ratios with their spread. The same for OP2's
//! airfoil and the variants that OP2's own tools make of it, for OKL kernels, for kernels on devices, and for chains of loops.

mod aims;
mod airfoil;
mod catalogue;
mod chains;
mod count;
mod devices;
mod figures;
mod jit;
mod measure;
mod model;
mod okl;
mod one_rank;
mod output;
mod report;
mod smoke;
mod statistics;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use catalogue::{BENCHMARKS, Benchmark};
use tools::Tools;

/// Compares okl with OpenMP and with hand-written MPI.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// A quarter of the iterations, three repetitions.
    #[arg(long)]
    quick: bool,
    /// Only programs whose names contain this; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Numbers of ranks, and of OpenMP threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    ranks: Vec<u32>,
    /// How often everything is timed [default: 7, with --quick 3].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Where results/ and figures/ go [default: benchmarks for a whole run, else build/bench].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Only checks that every program works in every variant, at tiny sizes on 2 ranks.
    #[arg(long)]
    smoke: bool,
    /// With --smoke: only every second of these programs, the first ones where the number is even.
    #[arg(long, value_name = "NUMBER", requires = "smoke")]
    sample: Option<u64>,
    /// Instead of all this: okl on one rank with a thread for each core, against OpenMP; 15 repetitions.
    #[arg(long, conflicts_with_all = ["smoke", "airfoil", "okl"])]
    one_rank: bool,
    /// Instead of all this: OP2's airfoil on 720000 cells, with --smoke on 7200.
    #[arg(long)]
    airfoil: bool,
    /// With --airfoil: a copy of OP2's repository, whose variants are built and compared.
    #[arg(long, value_name = "FOLDER", requires = "airfoil")]
    op2: Option<PathBuf>,
    /// Instead of all this: OKL kernels, with --smoke at tiny sizes.
    #[arg(long, conflicts_with = "airfoil")]
    okl: bool,
    /// With --okl: a copy of OCCA that has been built (its `include` and `lib`), to compare with.
    #[arg(long, value_name = "FOLDER", requires = "okl")]
    occa: Option<PathBuf>,
    /// Instead of all this: kernels on an emulated CUDA device.
    #[arg(long, conflicts_with_all = ["airfoil", "okl"])]
    devices: bool,
    /// Instead of all this: chains of loops, with --smoke at tiny sizes, with --quick at two of each program.
    #[arg(long, conflicts_with_all = ["airfoil", "okl", "devices"])]
    chains: bool,
    /// Instead of all this: loops that are compiled once more at run time, with --smoke at tiny sizes.
    #[arg(long, conflicts_with_all = ["airfoil", "okl", "devices", "chains"])]
    jit: bool,
    /// With --devices and --jit: NVIDIA's tools, as ./scripts/nvidia-tools installs them, to compare with.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["airfoil", "okl", "chains"])]
    nvidia: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut benchmarks = chosen(&arguments.only)?;
    if let Some(sample) = arguments.sample {
        let mut turn = sample % 2;
        benchmarks.retain(|_| {
            turn += 1;
            turn % 2 == 1
        });
    }
    let root = Path::new("benchmarks");
    if !root.join("programs").is_dir() {
        return Err("start it as ./scripts/bench, in the project's folder".into());
    }
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let libraries = executable.parent().ok_or("no folder of its own")?;
    if arguments.airfoil {
        return airfoil(arguments, root, libraries).map(|()| true);
    }
    if arguments.okl {
        return okl(arguments, root, libraries).map(|()| true);
    }
    if arguments.chains {
        return chains(arguments, root, libraries).map(|()| true);
    }
    if arguments.jit {
        let repetitions = match arguments.smoke {
            true => 1,
            false => arguments.repetitions.unwrap_or(15),
        };
        let mut text = jit::run(root, libraries, repetitions, arguments.smoke)?;
        let nvidia = existing(arguments.nvidia.as_deref())?;
        text += &devices::versions::run(root, libraries, nvidia.as_deref(), arguments.smoke)?;
        return tell(arguments, root, "jit.md", &text).map(|()| true);
    }
    if arguments.devices {
        let nvidia = existing(arguments.nvidia.as_deref())?;
        let text = devices::run(root, libraries, nvidia.as_deref())?;
        return tell(arguments, root, "devices.md", &text).map(|()| true);
    }
    let tools = match Tools::find(root, libraries) {
        Ok(tools) => tools,
        Err(missing) if arguments.smoke => {
            println!("skip bench: {missing}");
            println!("0 passed, 0 failed, {} skipped", benchmarks.len());
            return Ok(true);
        }
        Err(missing) => return Err(missing),
    };
    if arguments.one_rank {
        let text = one_rank::run(&tools, &benchmarks, arguments.repetitions.unwrap_or(15))?;
        return tell(arguments, root, "one-rank.md", &text).map(|()| true);
    }
    if arguments.smoke {
        return Ok(smoke::run(&tools, &benchmarks));
    }

    let plan = measure::Plan {
        benchmarks: &benchmarks,
        ranks: &arguments.ranks,
        repetitions: arguments
            .repetitions
            .unwrap_or(if arguments.quick { 3 } else { 7 }),
        quick: arguments.quick,
    };
    let results = measure::run(&tools, &plan)?;
    let whole = !arguments.quick && arguments.only.is_empty();
    let out = match &arguments.out {
        Some(folder) => folder.clone(),
        None if whole => root.to_owned(),
        None => PathBuf::from("build/bench"),
    };
    report::write(&results, &out)?;
    for error in &results.errors {
        eprintln!("bench: error: {error}");
    }
    Ok(results.errors.is_empty())
}

fn airfoil(arguments: &Arguments, root: &Path, libraries: &Path) -> Result<(), String> {
    let op2 = existing(arguments.op2.as_deref())?;
    let (mesh, repetitions) = match arguments.smoke {
        true => (airfoil::SMALL, 1),
        false => (airfoil::LARGE, arguments.repetitions.unwrap_or(5)),
    };
    let text = airfoil::run(root, libraries, op2.as_deref(), &mesh, repetitions)?;
    tell(arguments, root, "airfoil.md", &text)
}

fn okl(arguments: &Arguments, root: &Path, libraries: &Path) -> Result<(), String> {
    let occa = existing(arguments.occa.as_deref())?;
    let repetitions = match arguments.smoke {
        true => 1,
        false => arguments.repetitions.unwrap_or(15),
    };
    let text = okl::run(
        root,
        libraries,
        occa.as_deref(),
        repetitions,
        arguments.smoke,
    )?;
    tell(arguments, root, "okl.md", &text)
}

fn chains(arguments: &Arguments, root: &Path, libraries: &Path) -> Result<(), String> {
    let (extent, repetitions) = match (arguments.smoke, arguments.quick) {
        (true, _) => (chains::Extent::Smoke, 1),
        (false, true) => (chains::Extent::Quick, 3),
        (false, false) => (chains::Extent::Whole, 15),
    };
    let repetitions = match extent {
        chains::Extent::Smoke => repetitions,
        _ => arguments.repetitions.unwrap_or(repetitions),
    };
    // What is measured in a hurry does not take the place of results.
    let root_of_results = match extent {
        chains::Extent::Quick => Path::new("build/bench"),
        _ => root,
    };
    let figures = arguments.out.as_deref().unwrap_or(root_of_results);
    let figures = figures.join("figures");
    if !arguments.smoke {
        std::fs::create_dir_all(&figures)
            .map_err(|error| format!("{}: {error}", figures.display()))?;
    }
    let text = chains::run(root, libraries, &figures, repetitions, extent)?;
    tell(arguments, root_of_results, "chains.md", &text)
}

/// A folder, with all of its path.
fn existing(folder: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let canonical = folder.map(|folder| {
        let canonical = folder.canonicalize();
        canonical.map_err(|error| format!("{}: {error}", folder.display()))
    });
    canonical.transpose()
}

/// Prints a table, and stores it among the results where something was measured.
fn tell(arguments: &Arguments, root: &Path, file: &str, text: &str) -> Result<(), String> {
    print!("{text}");
    if arguments.smoke {
        println!("1 passed, 0 failed, 0 skipped");
        return Ok(());
    }
    let results = arguments.out.as_deref().unwrap_or(root).join("results");
    std::fs::create_dir_all(&results)
        .and_then(|()| std::fs::write(results.join(file), text))
        .map_err(|error| format!("{}: {error}", results.display()))
}

/// The benchmarks whose names contain one of `only`; all if it is empty.
fn chosen(only: &[String]) -> Result<Vec<Benchmark>, String> {
    for name in only {
        if !BENCHMARKS.iter().any(|b| b.name.contains(name.as_str())) {
            let names: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
            return Err(format!(
                "no program is called {name}; there are: {}",
                names.join(" ")
            ));
        }
    }
    Ok(BENCHMARKS
        .iter()
        .filter(|b| only.is_empty() || only.iter().any(|name| b.name.contains(name.as_str())))
        .copied()
        .collect())
}
