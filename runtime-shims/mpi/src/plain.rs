//! A program on one rank, which is the OpenMP program as it was: whether this process is one.
//!
//! Guarantee: the decision is made once, from the environment, before anything of the program runs. In doubt the
//! process is part of a job: copies of a program that each think they are alone would overwrite each other's files.
//! In a program on one rank nothing of this library runs but what this module says, and what `interpose` hands on.

use std::{
    ffi::c_void,
    sync::{
        Once, OnceLock,
        atomic::{AtomicPtr, Ordering::Relaxed},
    },
};

use okl_abi::ModuleTable;

use crate::{interpose, program_graph, report, settings::Settings};

/// Variables by which launchers say how many ranks a job has.
const SIZES: [&str; 8] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "MPI_WORLD_SIZE",
    "JSM_NAMESPACE_SIZE",
    "FLUX_JOB_SIZE",
    "PALS_SIZE",
    "SLURM_STEP_NUM_TASKS",
];

/// Variables that processes of a job have, and few others.
const RANKS: [&str; 16] = [
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "PMIX_SERVER_URI2",
    "PMIX_SERVER_URI3",
    "PMI_RANK",
    "PMI_FD",
    "PMI_PORT",
    "PMI_JOBID",
    "MV2_COMM_WORLD_RANK",
    "JSM_NAMESPACE_RANK",
    "FLUX_TASK_RANK",
    "PALS_RANKID",
    "ALPS_APP_PE",
    "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_PROCID",
];

/// Whether this process is a whole program on one rank. What is wrong with the environment makes it one as well: the
/// program's first module tells, and ends it.
pub(crate) fn is_plain() -> bool {
    !matches!(decision(), Ok(false))
}

/// Whether nothing tells of a launcher, which would have started the ranks of a job.
pub(crate) fn has_no_launcher() -> bool {
    let known = SIZES.iter().chain(&RANKS);
    !known
        .into_iter()
        .any(|name| std::env::var_os(name).is_some())
}

fn decision() -> &'static Result<bool, String> {
    static DECISION: OnceLock<Result<bool, String>> = OnceLock::new();
    DECISION.get_or_init(|| decide(|name| std::env::var(name).ok()))
}

/// Whether the program runs on one rank, as plain OpenMP.
fn decide(variable: impl Fn(&str) -> Option<String>) -> Result<bool, String> {
    let is_set = |name: &&str| variable(name).is_some();
    let sizes: Vec<(&str, String)> = SIZES
        .iter()
        .filter_map(|&name| Some((name, variable(name)?)))
        .collect();
    let several = sizes.iter().find(|(_, size)| size.trim() != "1");
    // A job of several parts has several sizes.
    let in_parts = variable("SLURM_HET_SIZE").is_some_and(|parts| parts.trim() != "1");
    let is_alone = if several.is_some() || in_parts {
        false
    } else if !sizes.is_empty() {
        true
    } else if RANKS.iter().any(is_set) {
        // Within a batch script the number of tasks is what was asked for.
        let tasks = variable("SLURM_NTASKS").or_else(|| variable("SLURM_NPROCS"));
        let others = RANKS.iter().filter(|name| !name.starts_with("SLURM_"));
        tasks.is_some_and(|tasks| tasks.trim() == "1") && !others.into_iter().any(is_set)
    } else {
        true
    };
    match variable("OKL_BACKEND").as_deref() {
        None | Some("") => Ok(is_alone),
        Some("mpi") => Ok(false),
        Some("cpu") => match several {
            None => Ok(true),
            Some((name, size)) => Err(format!(
                "OKL_BACKEND=cpu runs the program on one rank, and the launcher has started {size} ({name})"
            )),
        },
        Some(other) => Err(format!(
            "OKL_BACKEND={other}: valid values for an OpenMP program are cpu and mpi"
        )),
    }
}

/// For a module of the program: whether it runs on one rank. Ends the process where the environment makes no sense.
pub(crate) fn start() -> bool {
    if !is_plain() {
        return false;
    }
    static CHECKED: Once = Once::new();
    CHECKED.call_once(|| {
        if let Err(error) = decision() {
            report::fatal(error);
        }
        let settings =
            Settings::read(|name| std::env::var(name).ok()).unwrap_or_else(|error| report::fatal(&error));
        if settings.stats || settings.trace != 0 || settings.timeline.is_some() {
            say(
                "the program runs on one rank, as plain OpenMP: there is nothing to tell of ranks (OKL_BACKEND=mpi runs \
                 it as a job of one rank)",
            );
        }
    });
    for (name, next) in [
        (c"__kmpc_fork_call", &FORK_CALL),
        (c"__kmpc_fork_teams", &FORK_TEAMS),
    ] {
        // SAFETY: a look-up by name.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if !found.is_null() {
            next.store(found, Relaxed);
        }
    }
    true
}

/// Prints a message of this process, which is no rank of a job.
fn say(message: &str) {
    let text = format!("okl: {message}\n");
    // SAFETY: plain write of a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// The OpenMP run time's functions that start regions.
static FORK_CALL: AtomicPtr<c_void> = AtomicPtr::new(no_runtime as *mut c_void);
static FORK_TEAMS: AtomicPtr<c_void> = AtomicPtr::new(no_runtime as *mut c_void);

extern "C" fn no_runtime() -> ! {
    report::fatal("the OpenMP run time is not there: link the program with -fopenmp")
}

/// What versions for one rank call in the place of `__kmpc_fork_call`, as `okl_abi::PLAIN_FORKS` says. Such a call by
/// its own name is one of code that was not compiled with okl.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn okl_mpi_plain_fork_call() {
    // Arguments are variable: all registers stay as they are.
    std::arch::naked_asm!("jmp [rip + {next}]", next = sym FORK_CALL)
}

/// In the place of `__kmpc_fork_teams`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn okl_mpi_plain_fork_teams() {
    std::arch::naked_asm!("jmp [rip + {next}]", next = sym FORK_TEAMS)
}

/// Called when this library is loaded, before constructors of what depends on it.
extern "C" fn loaded() {
    if is_plain() {
        interpose::hand_on();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// `okl_mpi_register_v8`, from a constructor of each module.
pub(crate) fn okl_mpi_register_v8(table: *mut c_void) {
    // SAFETY: the pass emits the table as a constant.
    let table: &'static ModuleTable = unsafe { &*table.cast::<ModuleTable>() };
    let module = program_graph::module_of(table);
    // SAFETY: the pass emits a variable of one byte, which the program reads only.
    unsafe { table.plain.cast::<u8>().write(u8::from(start())) };
    if !is_plain() {
        program_graph::register(module);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<bool, String> {
        decide(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn without_a_launcher_and_on_one_rank_it_is_plain() {
        assert_eq!(with(&[]), Ok(true));
        assert_eq!(
            with(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]),
            Ok(true)
        );
        assert_eq!(with(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")]), Ok(true));
        assert_eq!(
            with(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]),
            Ok(true)
        );
        assert_eq!(
            with(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]),
            Ok(true)
        );
    }

    #[test]
    fn in_doubt_it_is_a_job() {
        for doubtful in [
            &[("OMPI_COMM_WORLD_SIZE", "2")][..],
            &[("OMPI_COMM_WORLD_SIZE", "?")],
            &[("PMIX_RANK", "0")],
            &[("PMI_RANK", "0")],
            &[("SLURM_PROCID", "0")],
            &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")],
            &[
                ("SLURM_NTASKS", "1"),
                ("SLURM_PROCID", "0"),
                ("PMIX_RANK", "0"),
            ],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("SLURM_STEP_NUM_TASKS", "4")],
            &[("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_HET_SIZE", "2")],
            &[("OKL_BACKEND", "mpi")],
        ] {
            assert_eq!(with(doubtful), Ok(false), "{doubtful:?}");
        }
    }

    #[test]
    fn one_rank_is_not_asked_for_on_several() {
        let two = ("OMPI_COMM_WORLD_SIZE", "2");
        assert!(with(&[("OKL_BACKEND", "cpu"), two]).is_err());
        assert_eq!(
            with(&[("OKL_BACKEND", "cpu"), ("PMIX_RANK", "0")]),
            Ok(true)
        );
        assert!(with(&[("OKL_BACKEND", "seq")]).is_err());
    }
}
