//! A program on one rank, which is the OpenMP program as it was: whether this process is one.
//!
//! Guarantee: the decision is made once, from the environment, before anything of the program runs.
//! In a program on one rank nothing of this library runs but what this module says, and what `interpose` hands on.

use std::{
    ffi::c_void,
    sync::{
        Once, OnceLock,
        atomic::{AtomicPtr, Ordering::Relaxed},
    },
};

use okl_abi::ModuleTable;
use okl_job::{
    launcher,
    opened::Opened,
    own_environment,
    settings::{self, Backend},
};

use crate::{interpose, program_graph, report, settings::Settings};

/// Whether this process is a whole program on one rank. What is wrong with the environment makes it one as well: the
/// program's first module tells, and ends it.
pub(crate) fn is_plain() -> bool {
    !matches!(decision(), Ok(false))
}

fn decision() -> &'static Result<bool, String> {
    static DECISION: OnceLock<Result<bool, String>> = OnceLock::new();
    // SAFETY: looks a function up.
    let has_devices =
        || unsafe { Opened::PROGRAM.symbol::<*mut c_void>(c"okl_gpu_launch_v6") }.is_ok();
    DECISION.get_or_init(|| decide(own_environment, has_devices))
}

/// Whether the program runs on one rank, as plain OpenMP. What ranks have run on their devices is the matter of who does that.
fn decide(
    variable: impl Fn(&str) -> Option<String>,
    has_devices: impl Fn() -> bool,
) -> Result<bool, String> {
    const DEVICES: [&str; 4] = ["cuda", "cuda-emulated", "hip", "spirv"];
    let said = settings::said(&variable, "OKL_BACKEND");
    if said.is_some_and(|text| DEVICES.contains(&&*text)) && has_devices() {
        return Ok(launcher::is_alone(&variable));
    }
    let valid = [Backend::Cpu, Backend::Mpi];
    match settings::backend(&variable, "an OpenMP program", &valid)? {
        None => Ok(launcher::is_alone(&variable)),
        Some(Backend::Mpi) => Ok(false),
        Some(_) => match launcher::several(&variable) {
            None => Ok(true),
            Some((name, size)) => Err(format!(
                "OKL_BACKEND=cpu runs the program on one rank, and the launcher has started {size} ({name})"
            )),
        },
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
            Settings::read(own_environment).unwrap_or_else(|error| report::fatal(&error));
        if settings.stats.is_some() || settings.trace != 0 || settings.timeline.is_some() {
            okl_job::report::say(
                "the program runs on one rank, as plain OpenMP: there is nothing to tell of ranks (OKL_BACKEND=mpi runs \
                 it as a job of one rank)",
            );
        }
    });
    for (name, next) in [
        (c"__kmpc_fork_call", &FORK_CALL),
        (c"__kmpc_fork_teams", &FORK_TEAMS),
    ] {
        // SAFETY: a function's address.
        if let Ok(found) = unsafe { Opened::PROGRAM.symbol(name) } {
            next.store(found, Relaxed);
        }
    }
    true
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
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn okl_mpi_plain_fork_call() {
    // Arguments are variable: all registers stay as they are.
    std::arch::naked_asm!("jmp [rip + {next}]", next = sym FORK_CALL)
}

/// In the place of `__kmpc_fork_teams`.
#[unsafe(naked)]
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
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

/// `okl_mpi_register_v15`, from a constructor of each module.
pub(crate) fn okl_mpi_register_v15(table: *mut c_void) {
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
        decide_with(variables, false)
    }

    fn decide_with(variables: &[(&str, &str)], has_devices: bool) -> Result<bool, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        };
        decide(variable, || has_devices)
    }

    #[test]
    fn what_is_asked_for_decides_before_the_launcher() {
        assert_eq!(with(&[]), Ok(true));
        assert_eq!(with(&[("PMIX_RANK", "0")]), Ok(false));
        assert_eq!(with(&[("OKL_BACKEND", "mpi")]), Ok(false));
    }

    #[test]
    fn devices_are_asked_for_on_any_number_of_ranks() {
        let device = ("OKL_BACKEND", "cuda-emulated");
        let two = ("OMPI_COMM_WORLD_SIZE", "2");
        assert_eq!(decide_with(&[device], true), Ok(true));
        assert_eq!(decide_with(&[device, two], true), Ok(false));
        assert!(decide_with(&[device, two], false).is_err());
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
