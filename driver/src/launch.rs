//! `okl-run`: starts a program on ranks, with the launcher of the MPI that the run-time library is for.
//!
//! A machine has one rank, whose threads are as many as it has cores, unless the user says something else. Where all
//! ranks are on this machine, each gets cores of its own as long as there are enough, and the
//! transports that are quickest there. What the user says himself stays as he says it, and in an
//! allocation of a batch system, or with hosts, the number of machines is left to the launcher.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, iter};

use clap::Parser;
use object::Object;

use crate::installation::{Installation, in_path};
use crate::quote::command_line;

/// Starts an okl program on several ranks, with the launcher of the MPI that okl was built for.
#[derive(Debug, Parser)]
#[command(
    name = "okl-run",
    version,
    override_usage = "okl-run [-n RANKS] [--per machine|socket|core] [--okl-show] [LAUNCHER'S OPTIONS] PROGRAM [ARGUMENTS]",
    after_help = "Each rank runs OMP_NUM_THREADS threads (default: as many as its machine or socket has cores; with `-n` \
                  or `--per core`, 1) and gets as many cores, where there are enough. Other options go to the launcher."
)]
struct Cli {
    /// Number of ranks. Default: one for each machine, or as many as there are cores, or sockets, for them
    #[arg(short = 'n', long = "np", value_name = "RANKS", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,
    /// What is for one rank: each machine (the default), each socket or each core (the default with `-n`)
    #[arg(long, value_name = "WHAT", value_enum)]
    per: Option<Per>,
    /// Prints the command in place of running it
    #[arg(long = "okl-show", alias = "show")]
    show: bool,
    /// The launcher's options, the program and its arguments
    #[arg(hide = true)]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Per {
    Machine,
    Socket,
    Core,
}

/// An implementation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mpi {
    Open,
    Mpich,
}

impl Mpi {
    /// Names of its launcher, the clearest first.
    fn launchers(self) -> &'static [&'static str] {
        match self {
            Mpi::Open => &["mpirun.openmpi", "orterun", "mpirun", "mpiexec"],
            Mpi::Mpich => &["mpiexec.hydra", "mpirun.mpich", "mpirun", "mpiexec"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mpi::Open => "Open MPI",
            Mpi::Mpich => "MPICH",
        }
    }

    /// By a library that calls it.
    fn of_library(name: &str) -> Option<Mpi> {
        match name {
            "libmpi.so.40" | "libmpi.so.20" => Some(Mpi::Open),
            "libmpi.so.12" | "libmpich.so.12" => Some(Mpi::Mpich),
            _ => None,
        }
    }
}

/// What is there to run on.
#[derive(Clone, Copy, Debug)]
struct Machine {
    cores: u32,
    sockets: u32,
    is_root: bool,
}

/// Options of launchers that are followed by words of their own, with how many.
const VALUES: &[(&str, usize)] = &[
    ("-x", 1),
    ("-H", 1),
    ("-host", 1),
    ("--host", 1),
    ("-hosts", 1),
    ("-hostfile", 1),
    ("--hostfile", 1),
    ("-machinefile", 1),
    ("--machinefile", 1),
    ("-f", 1),
    ("-mca", 2),
    ("--mca", 2),
    ("-gmca", 2),
    ("--gmca", 2),
    ("-am", 1),
    ("--am", 1),
    ("-tune", 1),
    ("--tune", 1),
    ("-map-by", 1),
    ("--map-by", 1),
    ("-bind-to", 1),
    ("--bind-to", 1),
    ("-rank-by", 1),
    ("--rank-by", 1),
    ("-rf", 1),
    ("--rankfile", 1),
    ("-rankfile", 1),
    ("-wdir", 1),
    ("--wdir", 1),
    ("-wd", 1),
    ("-path", 1),
    ("--path", 1),
    ("--prefix", 1),
    ("-prefix", 1),
    ("-output-filename", 1),
    ("--output-filename", 1),
    ("-npernode", 1),
    ("--npernode", 1),
    ("-N", 1),
    ("-npersocket", 1),
    ("--npersocket", 1),
    ("-ppn", 1),
    ("-cpus-per-proc", 1),
    ("--cpus-per-proc", 1),
    ("-cpu-set", 1),
    ("--cpu-set", 1),
    ("-timeout", 1),
    ("--timeout", 1),
    ("-stdin", 1),
    ("--stdin", 1),
    ("-xterm", 1),
    ("--xterm", 1),
    ("-env", 2),
    ("-genv", 2),
    ("-envlist", 1),
    ("-genvlist", 1),
    ("-launcher", 1),
    ("-iface", 1),
    ("-app", 1),
    ("--app", 1),
    ("-configfile", 1),
];
/// Options that say where ranks are.
const PLACES: [&str; 14] = [
    "-H",
    "-host",
    "--host",
    "-hosts",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--machinefile",
    "-f",
    "-app",
    "--app",
    "-configfile",
    "-rf",
    "--rankfile",
];
/// Options that say what ranks are bound to.
const BINDINGS: [&str; 17] = [
    "-map-by",
    "--map-by",
    "-bind-to",
    "--bind-to",
    "-rank-by",
    "--rank-by",
    "-npernode",
    "--npernode",
    "-npersocket",
    "--npersocket",
    "-N",
    "-ppn",
    "-cpus-per-proc",
    "--cpus-per-proc",
    "-cpu-set",
    "--cpu-set",
    "--use-hwthread-cpus",
];
/// Variables of the batch systems that launchers ask for their hosts.
const ALLOCATIONS: [&str; 5] = [
    "SLURM_JOB_ID",
    "PBS_NODEFILE",
    "LSB_HOSTS",
    "LSB_MCPU_HOSTS",
    "PE_HOSTFILE",
];

/// Runs the launcher, or prints its command. Returns where the launcher did not take over.
pub fn run(words: Vec<OsString>) -> Result<ExitCode, String> {
    let (own, launched) = divide(words);
    let cli = Cli::parse_from(own);
    let mpi = built_for()?;
    let launcher = find_launcher(mpi)?;
    let machine = Machine::look()?;
    let made = command(&cli, mpi, machine, &launched, |name| env::var(name).ok())?;
    let chosen = chosen_object();
    let all: Vec<OsString> = iter::once(launcher.into()).chain(made.words).collect();
    let words = all.iter().map(OsString::as_os_str);
    if cli.show {
        let threads = made
            .threads
            .map(|threads| format!("OMP_NUM_THREADS={threads} "));
        let object = chosen.as_ref().map(|file| {
            let mut word = OsString::from(format!("{OBJECT}="));
            word.push(file);
            format!("{} ", command_line(iter::once(word.as_os_str())))
        });
        println!(
            "{}{}{}",
            object.unwrap_or_default(),
            threads.unwrap_or_default(),
            command_line(words)
        );
        return Ok(ExitCode::SUCCESS);
    }
    if cli.ranks != Some(1)
        && let Some(program) = launched.get(options_end(&launched))
        && runs_alone(program)
    {
        eprintln!(
            "okl-run: warning: {} is linked with no run-time library of okl: every rank runs all of it",
            program.to_string_lossy()
        );
    }
    let mut child = Command::new(&all[0]);
    child.args(&all[1..]);
    if let Some(threads) = made.threads {
        child.env("OMP_NUM_THREADS", threads.to_string());
    }
    if let Some(file) = chosen {
        child.env(OBJECT, file);
    }
    let error = child.exec();
    Err(format!("cannot run {}: {error}", all[0].to_string_lossy()))
}

/// Our own options, which may stand among the launcher's, and what the launcher gets.
fn divide(words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let mut words = words.into_iter();
    let mut own: Vec<OsString> = words.next().into_iter().collect();
    let mut launched = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        match text.as_str() {
            "-n" | "-np" | "--np" | "-c" => {
                own.push("-n".into());
                own.extend(words.next());
            }
            "--per" => {
                own.push(word);
                own.extend(words.next());
            }
            "--okl-show" | "--show" | "--help" | "-h" | "--version" | "-V" => own.push(word),
            text if text.starts_with("--per=") || text.starts_with("--okl-") => own.push(word),
            text if text.starts_with('-') => {
                let values = VALUES.iter().find(|(option, _)| *option == text);
                launched.push(word);
                launched.extend(words.by_ref().take(values.map_or(0, |(_, count)| *count)));
            }
            _ => {
                launched.push(word);
                launched.extend(words.by_ref());
            }
        }
    }
    (own, launched)
}

/// A launcher's words behind its name.
#[derive(Debug)]
struct Made {
    words: Vec<OsString>,
    /// `OMP_NUM_THREADS`, where it is to be set.
    threads: Option<u32>,
}

fn command(
    cli: &Cli,
    mpi: Mpi,
    machine: Machine,
    launched: &[OsString],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Made, String> {
    let has =
        |options: &[&str]| launcher_options(launched).any(|one| options.contains(&one.as_str()));
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if !has_program(launched) && !has(&["-app", "--app", "-configfile"]) {
        return Err("no program to run; `okl-run --help` tells how".to_string());
    }
    let is_local = !has(&PLACES) && !ALLOCATIONS.iter().any(|name| set(name).is_some());
    let asked = match set("OMP_NUM_THREADS") {
        // A list is for nested levels; the first is that of a region.
        Some(text) => match text.split(',').next().unwrap_or(&text).trim().parse() {
            Ok(0) | Err(_) => {
                return Err(format!("OMP_NUM_THREADS={text} is no number of threads"));
            }
            Ok(threads) => Some(threads),
        },
        None => None,
    };
    let sockets = machine.sockets.min(machine.cores).max(1);
    let per = cli.per.unwrap_or(match cli.ranks {
        Some(_) => Per::Core,
        None => Per::Machine,
    });
    let (ranks, threads) = match (per, cli.ranks) {
        (Per::Machine, ranks) => {
            let here = ranks.filter(|_| is_local).unwrap_or(1);
            let threads = asked.unwrap_or((machine.cores / here).max(1));
            (ranks.or(is_local.then_some(1)), threads)
        }
        (Per::Core, Some(ranks)) => (Some(ranks), asked.unwrap_or(1)),
        (Per::Core, None) => {
            let threads = asked.unwrap_or(1);
            (is_local.then(|| (machine.cores / threads).max(1)), threads)
        }
        (Per::Socket, ranks) => {
            let threads = asked.unwrap_or((machine.cores / sockets).max(1));
            (ranks.or(is_local.then_some(sockets)), threads)
        }
    };
    let has_machine = per == Per::Machine && !is_local;

    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|one| one.to_string()));
    if let Some(ranks) = ranks {
        add(&["-n", &ranks.to_string()]);
    }
    let fits = ranks
        .is_some_and(|ranks| u64::from(ranks) * u64::from(threads) <= u64::from(machine.cores));
    let binds = has(&BINDINGS)
        || [
            "OMPI_MCA_hwloc_base_binding_policy",
            "OMPI_MCA_rmaps_base_mapping_policy",
            "HYDRA_BINDING",
        ]
        .iter()
        .any(|name| set(name).is_some());
    let cores = threads.to_string();
    match mpi {
        Mpi::Open => {
            if machine.is_root
                && !has(&["--allow-run-as-root", "-allow-run-as-root"])
                && !(set("OMPI_ALLOW_RUN_AS_ROOT").is_some()
                    && set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM").is_some())
            {
                add(&["--allow-run-as-root"]);
            }
            if is_local && !fits && !has(&["--oversubscribe", "-oversubscribe"]) {
                add(&["--oversubscribe"]);
            }
            // To ranks on other nodes, which Open MPI hands no others than its own.
            let forwarded = launched_variables(launched);
            if set(OBJECT).is_some() && !forwarded.iter().any(|name| name == OBJECT) {
                add(&["-x", OBJECT]);
            }
            if binds {
            } else if is_local && !fits {
                add(&["--bind-to", "none"]);
            } else if has_machine {
                add(&["--map-by", "ppr:1:node", "--bind-to", "none"]);
            } else if per == Per::Socket {
                add(&["--map-by", &format!("socket:PE={cores}")]);
            } else {
                add(&["--map-by", &format!("slot:PE={cores}")]);
            }
            let chooses = |what: &str| {
                set(&format!("OMPI_MCA_{what}")).is_some()
                    || launched_mca(launched).any(|one| one == what)
            };
            if is_local && !["pml", "btl", "mtl"].into_iter().any(chooses) {
                add(&["--mca", "pml", "ob1", "--mca", "btl", "vader,self"]);
            }
        }
        Mpi::Mpich => {
            if !binds && has_machine {
                add(&["-ppn", "1", "-bind-to", "none"]);
            } else if !binds && (fits || !is_local) {
                let what = format!("core:{cores}");
                let place = if per == Per::Socket { "socket" } else { &what };
                add(&["-bind-to", &what, "-map-by", place]);
            }
        }
    }
    let words = words
        .into_iter()
        .map(OsString::from)
        .chain(launched.iter().cloned());
    Ok(Made {
        words: words.collect(),
        threads: (asked.is_none() && threads > 1).then_some(threads),
    })
}

/// How many of the words are the launcher's.
fn options_end(launched: &[OsString]) -> usize {
    let mut at = 0;
    while let Some(word) = launched.get(at) {
        let text = word.to_string_lossy();
        if !text.starts_with('-') {
            break;
        }
        let values = VALUES.iter().find(|(option, _)| *option == text);
        at += 1 + values.map_or(0, |(_, count)| *count);
    }
    at.min(launched.len())
}

fn has_program(launched: &[OsString]) -> bool {
    options_end(launched) < launched.len()
}

fn launcher_options(launched: &[OsString]) -> impl Iterator<Item = String> {
    let words = &launched[..options_end(launched)];
    words.iter().map(|word| word.to_string_lossy().into_owned())
}

/// The parameters that the user gives Open MPI with `--mca`.
fn launched_mca(launched: &[OsString]) -> impl Iterator<Item = String> {
    let all: Vec<_> = launcher_options(launched).collect();
    let names = all.windows(2).filter(|pair| pair[0].ends_with("mca"));
    names
        .map(|pair| pair[1].clone())
        .collect::<Vec<_>>()
        .into_iter()
}

/// The variables that the user hands on with Open MPI's `-x`.
fn launched_variables(launched: &[OsString]) -> Vec<String> {
    let all: Vec<_> = launcher_options(launched).collect();
    let names = all.windows(2).filter(|pair| pair[0] == "-x");
    let names = names.map(|pair| pair[1].split('=').next().unwrap_or_default().to_owned());
    names.collect()
}

/// The variable by which the user names another object through which programs call MPI.
const OBJECT: &str = "OKL_MPI";

/// The file that it names: as in the run time a name without a folder is one of the working directory, which ranks on
/// other nodes may not have.
fn chosen_object() -> Option<PathBuf> {
    let file = PathBuf::from(env::var_os(OBJECT).filter(|file| !file.is_empty())?);
    Some(std::path::absolute(&file).unwrap_or(file))
}

/// The MPI that the run-time libraries call.
fn built_for() -> Result<Mpi, String> {
    let library = match chosen_object() {
        Some(file) => file,
        None => Installation::find()?.libraries.join("libokl_job_mpi.so"),
    };
    let shown = library.display();
    let data = fs::read(&library).map_err(|error| {
        format!(
            "{shown}: {error}; install okl again, or name an object that is built for your MPI with {OBJECT}=FILE"
        )
    })?;
    let needed = needed(&data).map_err(|error| format!("{shown}: {error}"))?;
    needed
        .iter()
        .find_map(|name| Mpi::of_library(name))
        .ok_or_else(|| {
            format!("{shown} is for an MPI that okl-run does not know: use its own launcher")
        })
}

/// Whether a program surely knows nothing of other ranks: was it compiled without -fopenmp?
fn runs_alone(program: &OsString) -> bool {
    let data = in_path(program).and_then(|path| fs::read(path).ok());
    let Some(needed) = data.and_then(|data| needed(&data).ok()) else {
        return false; // a script, say
    };
    let knows = |name: &String| name.starts_with("libokl_") || Mpi::of_library(name).is_some();
    !needed.iter().any(knows)
}

/// The names of the libraries that a library or a program needs.
fn needed(data: &[u8]) -> object::Result<Vec<String>> {
    let file = object::File::parse(data)?;
    let names = file
        .import_libraries()?
        .map(|one| Ok(String::from_utf8_lossy(one?.name()).into_owned()));
    names.collect()
}

fn find_launcher(mpi: Mpi) -> Result<PathBuf, String> {
    let is_its_own = |path: &Path| {
        let output = Command::new(path).arg("--version").output();
        output.is_ok_and(|output| {
            let is_open = String::from_utf8_lossy(&output.stdout).contains("Open");
            is_open == (mpi == Mpi::Open)
        })
    };
    let launchers = mpi.launchers();
    let (clear, shared) = launchers.split_at(2);
    let found = clear.iter().find_map(|name| in_path(&name.into()));
    let found = found.or_else(|| {
        let paths = shared.iter().filter_map(|name| in_path(&name.into()));
        paths.into_iter().find(|path| is_its_own(path))
    });
    found.ok_or_else(|| {
        format!(
            "no launcher of {}, for which okl was built: none of {} is in PATH",
            mpi.name(),
            launchers.join(", ")
        )
    })
}

impl Machine {
    /// The cores that this process may use.
    fn look() -> Result<Machine, String> {
        let status = fs::read_to_string("/proc/self/status")
            .map_err(|error| format!("/proc/self/status: {error}"))?;
        let value = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or("")
                .trim()
        };
        let processors = processors(value("Cpus_allowed_list:"));
        let mut cores = BTreeSet::new();
        let mut sockets = BTreeSet::new();
        for one in processors {
            let topology = |what: &str| {
                let path = format!("/sys/devices/system/cpu/cpu{one}/topology/{what}");
                fs::read_to_string(path).map(|text| text.trim().to_string())
            };
            let socket = topology("physical_package_id").unwrap_or_default();
            // Processors of one core have the same siblings.
            let core = topology("thread_siblings_list").unwrap_or_else(|_| one.to_string());
            cores.insert(core);
            sockets.insert(socket);
        }
        let effective = value("Uid:").split_whitespace().nth(1) == Some("0");
        Ok(Machine {
            cores: cores.len().max(1) as u32,
            sockets: sockets.len().max(1) as u32,
            is_root: effective,
        })
    }
}

/// The numbers of a list such as `0-3,8`.
fn processors(list: &str) -> Vec<u32> {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine {
        cores: 8,
        sockets: 2,
        is_root: false,
    };

    fn made(machine: Machine, mpi: Mpi, words: &str, environment: &[(&str, &str)]) -> String {
        let words = iter::once("okl-run")
            .chain(words.split_whitespace())
            .map(OsString::from);
        let (own, launched) = divide(words.collect());
        let cli = Cli::parse_from(own);
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        };
        match command(&cli, mpi, machine, &launched, variable) {
            Ok(made) => {
                let line = command_line(made.words.iter().map(OsString::as_os_str));
                made.threads
                    .map_or(line.clone(), |threads| format!("{threads} threads: {line}"))
            }
            Err(message) => message,
        }
    }

    const QUICK: &str = "--mca pml ob1 --mca btl vader,self";

    #[test]
    fn ranks_get_cores_of_their_own_where_there_are_enough() {
        let open = |words: &str, environment: &[_]| made(MACHINE, Mpi::Open, words, environment);
        assert_eq!(
            open("-n 4 ./prog -n 3", &[]),
            format!("-n 4 --map-by slot:PE=1 {QUICK} ./prog -n 3")
        );
        let two = [("OMP_NUM_THREADS", "2")];
        assert_eq!(
            open("-n 4 ./prog", &two),
            format!("-n 4 --map-by slot:PE=2 {QUICK} ./prog")
        );
        assert_eq!(
            open("--per core ./prog", &two),
            format!("-n 4 --map-by slot:PE=2 {QUICK} ./prog")
        );
        assert_eq!(
            open("--per core ./prog", &[]),
            format!("-n 8 --map-by slot:PE=1 {QUICK} ./prog")
        );
        assert_eq!(
            open("./prog", &[]),
            format!("8 threads: -n 1 --map-by slot:PE=8 {QUICK} ./prog")
        );
        assert_eq!(
            open("./prog", &two),
            format!("-n 1 --map-by slot:PE=2 {QUICK} ./prog")
        );
        assert_eq!(
            open("-n 9 ./prog", &[]),
            format!("-n 9 --oversubscribe --bind-to none {QUICK} ./prog")
        );
        assert_eq!(
            open("-np 5 ./prog", &two),
            format!("-n 5 --oversubscribe --bind-to none {QUICK} ./prog")
        );
        assert_eq!(
            open("--per socket ./prog", &[]),
            format!("4 threads: -n 2 --map-by socket:PE=4 {QUICK} ./prog")
        );
        assert_eq!(
            open("--per=socket ./prog", &two),
            format!("-n 2 --map-by socket:PE=2 {QUICK} ./prog")
        );
        assert_eq!(
            open("-n 2 p", &[("OMP_NUM_THREADS", "x")]),
            "OMP_NUM_THREADS=x is no number of threads"
        );
        assert_eq!(
            open("-n 2", &[]),
            "no program to run; `okl-run --help` tells how"
        );
        assert_eq!(
            open("-n 2 -x A", &[]),
            "no program to run; `okl-run --help` tells how"
        );
    }

    #[test]
    fn what_the_user_says_stays() {
        let open = |words: &str, environment: &[_]| made(MACHINE, Mpi::Open, words, environment);
        assert_eq!(
            open("-x A --bind-to none -n 2 ./prog", &[]),
            format!("-n 2 {QUICK} -x A --bind-to none ./prog")
        );
        assert_eq!(
            open("-n 2 --mca btl tcp,self ./prog", &[]),
            "-n 2 --map-by slot:PE=1 --mca btl tcp,self ./prog"
        );
        assert_eq!(
            open("-n 2 p", &[("OMPI_MCA_pml", "ucx")]),
            "-n 2 --map-by slot:PE=1 p"
        );
        let object = [("OKL_MPI", "mine.so")];
        assert_eq!(
            open("-n 2 p", &object),
            format!("-n 2 -x OKL_MPI --map-by slot:PE=1 {QUICK} p")
        );
        assert_eq!(
            open("-n 2 -x OKL_MPI=other.so p", &object),
            format!("-n 2 --map-by slot:PE=1 {QUICK} -x OKL_MPI=other.so p")
        );
        let root = Machine {
            is_root: true,
            ..MACHINE
        };
        assert_eq!(
            made(root, Mpi::Open, "-n 1 p", &[]),
            format!("-n 1 --allow-run-as-root --map-by slot:PE=1 {QUICK} p")
        );
        let allowed = [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ];
        assert_eq!(
            made(root, Mpi::Open, "-n 1 p", &allowed),
            format!("-n 1 --map-by slot:PE=1 {QUICK} p")
        );
    }

    #[test]
    fn hosts_and_allocations_are_left_to_the_launcher() {
        let open = |words: &str, environment: &[_]| made(MACHINE, Mpi::Open, words, environment);
        assert_eq!(
            open("-H a,b -n 64 ./prog", &[]),
            "-n 64 --map-by slot:PE=1 -H a,b ./prog"
        );
        assert_eq!(
            open("./prog", &[("SLURM_JOB_ID", "7")]),
            "8 threads: --map-by ppr:1:node --bind-to none ./prog"
        );
        assert_eq!(
            open("--per core ./prog", &[("SLURM_JOB_ID", "7")]),
            "--map-by slot:PE=1 ./prog"
        );
        assert_eq!(
            open("--per machine -H a,b -n 2 ./prog", &[]),
            "8 threads: -n 2 --map-by ppr:1:node --bind-to none -H a,b ./prog"
        );
    }

    #[test]
    fn mpich_has_words_of_its_own() {
        let mpich = |words: &str, environment: &[_]| made(MACHINE, Mpi::Mpich, words, environment);
        let two = [("OMP_NUM_THREADS", "2")];
        assert_eq!(
            mpich("-n 4 ./prog", &two),
            "-n 4 -bind-to core:2 -map-by core:2 ./prog"
        );
        assert_eq!(mpich("-n 5 ./prog", &two), "-n 5 ./prog");
    }

    #[test]
    fn reads_lists_of_processors() {
        assert_eq!(processors("0-3,8"), [0, 1, 2, 3, 8]);
        assert!(processors("").is_empty());
    }
}
