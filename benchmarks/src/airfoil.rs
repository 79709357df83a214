//! OP2's airfoil: okl, and the variants that OP2's own translator and libraries make of it, where there
//! is a copy of OP2's repository. All run one right after the other, in each repetition.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::measure::Load;
use crate::output::Counts;
use crate::statistics::Spread;
use crate::tools::{COMPILER_CPP, FLAGS, LIMIT, compile_counting_library, finish, wrapper_flags};

/// OP2's headers without its translator.
const TEMPLATE: &str = "OP2 template";
/// Stands for all loops together.
const WHOLE: &str = "all";
const LOOPS: [&str; 5] = ["save_soln", "adt_calc", "res_calc", "bres_calc", "update"];
const ITERATIONS: u32 = 20;

/// A mesh.
pub(crate) struct Mesh {
    cells: u32,
    /// Of the generator.
    size: [&'static str; 2],
    /// After so many iterations, as OP2's sequential template prints it.
    residual: &'static str,
}

/// OP2's usual one.
pub(crate) const LARGE: Mesh = Mesh {
    cells: 720_000,
    size: ["400", "600"],
    residual: "1.10517e-03",
};

/// To see whether everything works.
pub(crate) const SMALL: Mesh = Mesh {
    cells: 7200,
    size: ["40", "60"],
    residual: "1.77797e-03",
};

/// A way to run the program.
struct Variant {
    name: &'static str,
    executable: PathBuf,
    threads: u32,
    is_okl: bool,
    /// Variables of the environment that are 1.
    switches: &'static [&'static str],
    /// OP2's template says nothing of single loops.
    is_timed_as_a_whole: bool,
}

/// What a run says of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Times {
    calls: f64,
    /// Of all calls.
    pub(crate) seconds: f64,
    plan: f64,
}

type Loops = BTreeMap<&'static str, Times>;

/// Builds all variants, runs them `repetitions` times, and tells of it in Markdown. `op2` is a copy
/// of OP2's repository.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    op2: Option<&Path>,
    mesh: &Mesh,
    repetitions: u32,
) -> Result<String, String> {
    let io = |error: std::io::Error| error.to_string();
    let built = tempfile::tempdir().map_err(io)?;
    let folder = built.path();
    let load = Load::now();
    let (variants, op2_on_ranks) = build(root, libraries, op2, folder)?;
    eprintln!("bench: the mesh");
    finish(
        Command::new(folder.join("mesh"))
            .args(mesh.size)
            .arg(folder.join("new_grid.dat")),
    )?;
    let mut all: Vec<Vec<Loops>> = variants.iter().map(|_| Vec::new()).collect();
    for repetition in 0..repetitions {
        for (variant, runs) in variants.iter().zip(&mut all) {
            eprintln!(
                "bench: {} of {repetitions}: {}",
                repetition + 1,
                variant.name
            );
            runs.push(once(variant, folder, mesh)?);
        }
    }
    let ranks = on_ranks(folder, op2_on_ranks)?;
    Ok(report(mesh, &variants, &all, &ranks, &load))
}

fn once(variant: &Variant, folder: &Path, mesh: &Mesh) -> Result<Loops, String> {
    let mut command = Command::new("timeout");
    command.args(["-k", "10", LIMIT]).arg(&variant.executable);
    command
        .current_dir(folder)
        .env("OMP_NUM_THREADS", variant.threads.to_string())
        .env("OMP_PROC_BIND", "close")
        .env("OMP_PLACES", "cores")
        .envs(variant.switches.iter().map(|name| (name, "1")));
    if variant.is_okl {
        command.args(["new_grid.dat", &ITERATIONS.to_string()]);
    }
    let (stdout, _) = finish(&mut command)?;
    if !stdout.contains(mesh.residual) {
        return Err(format!(
            "{}: the residual is not {}:\n{stdout}",
            variant.name, mesh.residual
        ));
    }
    let found = times(&stdout, &LOOPS);
    let wanted: &[&str] = match variant.is_timed_as_a_whole {
        true => &[WHOLE],
        false => &LOOPS,
    };
    match wanted.iter().find(|&&name| !found.contains_key(name)) {
        Some(name) => Err(format!("{}: no times of {name}:\n{stdout}", variant.name)),
        None => Ok(found),
    }
}

/// The times of these loops, from the tables of okl (columns, with a heading) or of OP2 (fields between semicolons), or
/// what OP2 says of all together.
pub(crate) fn times(stdout: &str, loops: &[&'static str]) -> BTreeMap<&'static str, Times> {
    let mut found = Loops::new();
    let mut heading: Vec<&str> = Vec::new();
    for line in stdout.lines() {
        let whole = line
            .strip_prefix("Airfoil *1 total: ")
            .and_then(|rest| rest.strip_suffix('s')?.parse().ok());
        if let Some(seconds) = whole {
            found.insert(
                WHOLE,
                Times {
                    calls: 1.0,
                    seconds,
                    plan: 0.0,
                },
            );
        }
        let fields: Vec<&str> = match line.contains(';') {
            true => line.split([';', '(']).map(str::trim).collect(),
            false => line.split_whitespace().collect(),
        };
        if fields.first() == Some(&"calls") {
            heading = fields;
            continue;
        }
        let Some(&name) = loops.iter().find(|&name| fields.last() == Some(name)) else {
            continue;
        };
        let at = |column: &str| {
            let at = match line.contains(';') {
                true => Some(match column {
                    "calls" => 0,
                    "plan" => 1,
                    _ => 4,
                }),
                false => heading.iter().position(|&one| one == column),
            };
            at.and_then(|at| fields.get(at)?.parse().ok())
        };
        if let (Some(calls), Some(seconds)) = (at("calls"), at("seconds")) {
            let plan = at("plan").unwrap_or(0.0);
            found.insert(
                name,
                Times {
                    calls,
                    seconds,
                    plan,
                },
            );
        }
    }
    found
}

/// Messages and bytes of an iteration on two ranks.
struct OnRanks {
    name: &'static str,
    messages: f64,
    bytes: f64,
}

fn counting_library(folder: &Path) -> PathBuf {
    folder.join("libmpi_count.so")
}

fn mpirun(executable: &Path, folder: &Path) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "10", LIMIT, "mpirun", "--oversubscribe", "-n", "2"])
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let library = counting_library(folder);
    command.args(["-x", &format!("LD_PRELOAD={}", library.display())]);
    command.arg(executable);
    command
}

/// Counted by the library that the hand-written MPI programs are counted with, as the difference of a long and a short
/// run.
fn on_ranks(folder: &Path, op2: Option<PathBuf>) -> Result<Vec<OnRanks>, String> {
    let mut all = Vec::new();
    let short = ITERATIONS / 2;
    let difference = |name, executable: &Path, is_okl: bool| {
        let total = |iterations: u32| {
            let mut command = mpirun(executable, folder);
            command.env("AIRFOIL_ITERATIONS", iterations.to_string());
            if is_okl {
                command.args(["new_grid.dat", &iterations.to_string()]);
            }
            let (_, stderr) = finish(&mut command)?;
            let counts = Counts::parse(&stderr, 2);
            let total = |label| counts.as_ref()?.total(label);
            match (total("messages"), total("bytes")) {
                (Some(messages), Some(bytes)) => Ok((messages as f64, bytes as f64)),
                _ => Err(format!("{name} on 2 ranks: no counts in {stderr}")),
            }
        };
        let (more, less) = (total(ITERATIONS)?, total(short)?);
        let each = f64::from(ITERATIONS - short);
        Ok::<_, String>(OnRanks {
            name,
            messages: (more.0 - less.0) / each,
            bytes: (more.1 - less.1) / each,
        })
    };
    all.push(difference("okl", &folder.join("okl"), true)?);
    if let Some(executable) = op2 {
        all.push(difference("OP2, blocks", &executable, false)?);
    }
    Ok(all)
}

fn compiler() -> Command {
    let mut command = Command::new(COMPILER_CPP);
    command.args(FLAGS).args(["-std=c++17", "-w"]);
    command
}

/// All variants, and OP2's for MPI.
fn build(
    root: &Path,
    libraries: &Path,
    op2: Option<&Path>,
    folder: &Path,
) -> Result<(Vec<Variant>, Option<PathBuf>), String> {
    eprintln!("bench: compiling");
    let programs = root.join("programs/airfoil");
    let libraries = libraries
        .canonicalize()
        .map_err(|error| error.to_string())?;
    finish(
        compiler()
            .arg(programs.join("mesh.cpp"))
            .arg("-o")
            .arg(folder.join("mesh")),
    )?;
    let ours = |name: &str, plugin: bool| {
        let mut command = compiler();
        if plugin {
            let plugin = libraries.join("libokl_pass.so");
            command.arg(format!("-fpass-plugin={}", plugin.display()));
        }
        let executable = folder.join(name);
        command
            .arg("-Iruntime-shims/op2/include")
            .arg(programs.join("airfoil.cpp"))
            .arg(format!("-L{}", libraries.display()))
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .args(["-lokl_op2", "-o"])
            .arg(&executable);
        finish(&mut command).map(|_| executable)
    };
    let (okl, template) = (ours("okl", true)?, ours("template", false)?);
    compile_counting_library(root, &counting_library(folder))?;
    let okl_variant = |name, executable: &Path, threads, switches| Variant {
        name,
        executable: executable.to_owned(),
        threads,
        is_okl: true,
        switches,
        is_timed_as_a_whole: false,
    };
    let mut variants = vec![
        okl_variant("okl", &okl, 1, &[]),
        okl_variant("okl, 2 threads", &okl, 2, &[]),
        okl_variant("okl, by component", &okl, 1, &["OP_AUTO_SOA"]),
        okl_variant("okl, reproducible", &okl, 1, &["OKL_REPRODUCIBLE"]),
        okl_variant("okl without the plugin", &template, 1, &[]),
    ];
    let Some(op2) = op2 else {
        return Ok((variants, None));
    };
    let source = patched(op2, folder)?;
    translate(op2, &source)?;
    let include = format!("-I{}", op2.join("op2/include").display());
    let object = |file: &str, flags: &[String]| {
        let object = folder.join(format!("{}.o", file.replace('/', "_")));
        let mut command = compiler();
        command.arg(&include).args(flags).arg("-c");
        command.arg(op2.join("op2/src").join(format!("{file}.cpp")));
        finish(command.arg("-o").arg(&object)).map(|_| object)
    };
    let objects = |files: &[&str], flags: &[String]| {
        let all = files.iter().map(|file| object(file, flags));
        all.collect::<Result<Vec<PathBuf>, String>>()
    };
    let common = objects(&COMMON, &[])?;
    let sequential = objects(&["sequential/op_seq"], &[])?;
    let threaded = objects(&["openmp/op_openmp_decl"], &[])?;
    let link = |name: &str, files: &[&str], flags: &[&str], own: &[PathBuf]| {
        let executable = folder.join(name);
        let mut command = compiler();
        command.current_dir(&source).args([&include, "-I."]);
        command.args(files).args(&common).args(own).args(flags);
        finish(command.arg("-o").arg(&executable)).map(|_| executable)
    };
    let translated = |generated| ["airfoil_op.cpp", generated];
    let (seq, vec) = (
        translated("seq/airfoil_seqkernels.cpp"),
        translated("vec/airfoil_veckernels.cpp"),
    );
    let openmp = translated("openmp/airfoil_kernels.cpp");
    let vectors = ["-DVECTORIZE"];
    let fast = ["-DVECTORIZE", "-ffast-math"];
    for (name, file, files, flags, own, threads) in [
        (
            TEMPLATE,
            "op2",
            &["airfoil.cpp"][..],
            &[][..],
            &sequential,
            1,
        ),
        ("OP2 sequential", "op2-seq", &seq, &[], &sequential, 1),
        ("OP2 vectors", "op2-vec", &vec, &vectors, &sequential, 1),
        (
            "OP2 vectors, -ffast-math",
            "op2-fast",
            &vec,
            &fast,
            &sequential,
            1,
        ),
        (
            "OP2 OpenMP",
            "op2-openmp",
            &openmp,
            &["-fopenmp"],
            &threaded,
            1,
        ),
        (
            "OP2 OpenMP, 2 threads",
            "op2-openmp",
            &openmp,
            &["-fopenmp"],
            &threaded,
            2,
        ),
    ] {
        let executable = link(file, files, flags, own)?;
        variants.push(Variant {
            name,
            executable,
            threads,
            is_okl: false,
            switches: &[],
            is_timed_as_a_whole: name == TEMPLATE,
        });
    }
    let mpi_compile = wrapper_flags("compile")?;
    let mpi = objects(&ON_RANKS, &mpi_compile)?;
    let executable = folder.join("op2-mpi");
    let mut command = compiler();
    command.current_dir(&source).args([&include, "-I."]);
    command.args(&mpi_compile).arg("airfoil_mpi.cpp").args(mpi);
    command.args(wrapper_flags("link")?);
    finish(command.arg("-o").arg(&executable))?;
    Ok((variants, Some(executable)))
}

/// Files of OP2's library that every variant on one process needs.
const COMMON: [&str; 6] = [
    "core/op_lib_core",
    "core/op_rt_support",
    "core/op_dummy_singlenode",
    "externlib/op_util",
    "externlib/op_profile",
    "fortran/op_dummy_wrappers",
];

/// Files of OP2's library for MPI.
const ON_RANKS: [&str; 9] = [
    "core/op_lib_core",
    "core/op_rt_support",
    "externlib/op_util",
    "externlib/op_profile",
    "mpi/op_mpi_core",
    "mpi/op_mpi_decl",
    "mpi/op_mpi_rt_support",
    "mpi/op_mpi_part_core",
    "mpi/op_mpi_util",
];

/// OP2's airfoil with so many iterations, and with an `update` that its older translator understands: without the
/// place of the greatest change.
fn patched(op2: &Path, folder: &Path) -> Result<PathBuf, String> {
    let from = op2.join("apps/c/airfoil/airfoil_plain/dp");
    let to = folder.join("op2-airfoil");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&to).map_err(|error| failed(&to, error))?;
    let entries = fs::read_dir(&from).map_err(|error| {
        format!(
            "{error}: {}; --op2 names a copy of OP2-Common",
            from.display()
        )
    })?;
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(mut text) = fs::read_to_string(&path) else {
            continue;
        };
        let mut replace = |begin: &str, end: &str, by: &str| {
            let start = text.find(begin);
            let stop = start.and_then(|at| Some(at + text[at..].find(end)? + end.len()));
            match start.zip(stop) {
                Some((start, stop)) => text.replace_range(start..stop, by),
                None => return Err(format!("{} is unknown: no {begin}", path.display())),
            }
            Ok(())
        };
        let name = entry.file_name();
        if name == "airfoil.cpp" || name == "airfoil_mpi.cpp" {
            let count = "niter = getenv(\"AIRFOIL_ITERATIONS\") ? atoi(getenv(\"AIRFOIL_ITERATIONS\")) : 20;";
            replace("niter = 1000", ";", count)?;
            replace("iter % 100 ==", "0)", "iter % 20 == 0)")?;
            replace(
                "op_profile_output()",
                ";",
                "op_profile_output(), op_timing_output();",
            )?;
            let sum = "op_arg_gbl(&rms, 1, \"double\", OP_INC)";
            replace(sum, "op_arg_info(&errloc, 1, \"int\", 5)", sum)?;
        }
        if name == "update.h" {
            replace(", double *maxerr", "*errloc", "")?;
            replace("if (sqdel > *maxerr)", "}", "")?;
        }
        let path = to.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(to)
}

/// OP2's older translator is the one that writes vector code.
fn translate(op2: &Path, source: &Path) -> Result<(), String> {
    let mut command = Command::new("python3");
    command
        .arg(op2.join("translator/c/op2.py"))
        .arg("airfoil.cpp")
        .current_dir(source);
    finish(&mut command).map(drop)
}

fn report(
    mesh: &Mesh,
    variants: &[Variant],
    all: &[Vec<Loops>],
    ranks: &[OnRanks],
    load: &Load,
) -> String {
    let repetitions = all[0].len();
    let mut text = format!(
        "# airfoil, {} cells, {ITERATIONS} iterations\n{}\n\
         {repetitions} repetitions, the variants one right after the other. Milliseconds per call: median (least to \
         most); plans: milliseconds in all. The copy of OP2 is compiled with the same compiler and flags.\n\n\
         | variant | {} | plans | {ITERATIONS} iterations, s |\n|{}\n",
        mesh.cells,
        load.note(),
        LOOPS.join(" | "),
        " --- |".repeat(LOOPS.len() + 3)
    );
    let spread = |values: Vec<f64>, digits: usize| {
        Spread::of(&values).map_or_else(String::new, |of| {
            format!(
                "{:.digits$} ({:.digits$} to {:.digits$})",
                of.median, of.least, of.most
            )
        })
    };
    let of = |runs: &[Loops], name: &str| -> Vec<f64> {
        let each = runs.iter().filter_map(|run| run.get(name));
        each.map(|one| one.seconds / one.calls * 1e3).collect()
    };
    for (variant, runs) in variants.iter().zip(all) {
        let mut row = format!("| {} |", variant.name);
        for name in LOOPS {
            let _ = write!(row, " {} |", spread(of(runs, name), 2));
        }
        let plans = runs.iter().map(|run| {
            let each = run.values().map(|one| one.plan * 1e3);
            each.sum()
        });
        // What OP2 says of the whole is more than its loops.
        let seconds = runs.iter().map(|run| {
            let each = LOOPS.iter().filter_map(|name| run.get(name));
            match variant.is_timed_as_a_whole {
                true => run[WHOLE].seconds,
                false => each.map(|one| one.seconds).sum(),
            }
        });
        let _ = writeln!(
            text,
            "{row} {} | {} |",
            spread(plans.collect(), 2),
            spread(seconds.collect(), 3)
        );
    }
    let others = || {
        let named = variants.iter().zip(all).filter(|(one, _)| !one.is_okl);
        named.filter(|(one, _)| one.threads == 1 && !one.is_timed_as_a_whole)
    };
    if others().next().is_some() {
        text.push_str("\nokl : the fastest of OP2's on one thread, of each repetition:\n\n");
        for name in LOOPS {
            let fastest: Vec<f64> = (0..repetitions)
                .map(|at| {
                    let each = others().map(|(_, runs)| of(runs, name)[at]);
                    each.fold(f64::INFINITY, f64::min)
                })
                .collect();
            let ratios = of(&all[0], name);
            let ratios = ratios.iter().zip(&fastest).map(|(okl, op2)| okl / op2);
            let _ = writeln!(text, "- {name}: {}", spread(ratios.collect(), 2));
        }
    }
    text.push_str(
        "\n2 ranks, an iteration, both ranks together, without reductions:\n\n| variant | messages | bytes |\n| --- | --- | --- |\n",
    );
    for one in ranks {
        let _ = writeln!(text, "| {} | {} | {} |", one.name, one.messages, one.bytes);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_are_read() {
        let okl = "20 1.1e-03\n calls seconds GB/s threads lanes colours plan loop\n 40 0.25 40.54 1 4 2 0.01 res_calc\n";
        let op2 = "     40;    0.0100;    0.0000(  0.0000);    0.2500(  0.0000);   11.0564;         ;   res_calc \n";
        let wanted = Times {
            calls: 40.0,
            seconds: 0.25,
            plan: 0.01,
        };
        for table in [okl, op2] {
            let found = times(table, &LOOPS);
            assert_eq!(found.get("res_calc"), Some(&wanted));
            assert_eq!(found.len(), 1);
        }
    }
}
