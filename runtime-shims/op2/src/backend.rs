//! What the program runs on: `OKL_BACKEND` chooses among what there is.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
};

use okl_job::{launcher, own_environment, settings};

use crate::{job, local, report::fatal, team};

/// Where loops run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Backend {
    /// One process, one thread, one element at a time.
    Sequential,
    /// One process, its threads and vectors.
    Cpu,
    /// The same on each rank of a job.
    Mpi,
}

static IS_REPRODUCIBLE: AtomicBool = AtomicBool::new(false);

static BACKEND: AtomicU8 = AtomicU8::new(Backend::Cpu as u8);

fn choose(asked: &str, is_job: bool) -> Result<Backend, String> {
    match asked {
        "" if is_job => Ok(Backend::Mpi),
        "" | "cpu" => Ok(Backend::Cpu),
        "seq" => Ok(Backend::Sequential),
        "mpi" if is_job => Ok(Backend::Mpi),
        "mpi" => Err("OKL_BACKEND=mpi: there is no MPI job; start the program with mpirun".into()),
        other => Err(format!(
            "OKL_BACKEND={other}: valid values are seq, cpu and mpi"
        )),
    }
}

/// Chooses, and joins the job where that is the choice: the ranks of `communicator`, by its number in Fortran, or all.
pub(crate) fn start(communicator: Option<c_int>) {
    let is_launched = launcher::has_started(own_environment);
    // A program that declares parts calls MPI itself.
    let is_job = is_launched || job::is_initialised() || local::is_asked_for();
    let asked = std::env::var("OKL_BACKEND").unwrap_or_default();
    let chosen = choose(&asked, is_job);
    if is_job && (local::is_asked_for() || matches!(chosen, Ok(Backend::Mpi) | Err(_))) {
        job::start(communicator);
    }
    if local::is_local() && matches!(chosen, Ok(Backend::Sequential | Backend::Cpu)) {
        fatal(&format!(
            "OKL_BACKEND={asked}: each rank declares a part of the mesh, which several ranks run with mpi alone"
        ));
    }
    match chosen {
        Ok(backend) => BACKEND.store(backend as u8, Relaxed),
        Err(mistake) => fatal(&mistake),
    }
    team::share_processors();
    read_reproducible();
}

/// Takes rank 0's word for whether results are to be reproducible.
fn read_reproducible() {
    let is_reproducible = settings::switch(own_environment, "OKL_REPRODUCIBLE", false);
    let is_reproducible = is_reproducible.unwrap_or_else(|mistake| fatal(&mistake));
    let mut of_all = [u8::from(is_reproducible)];
    job::broadcast(&mut of_all, 0);
    IS_REPRODUCIBLE.store(of_all[0] != 0, Relaxed);
}

/// Whether what loops add up does not depend on the number of ranks and threads.
pub(crate) fn is_reproducible() -> bool {
    IS_REPRODUCIBLE.load(Relaxed)
}

/// Whether loops run one element after the other.
pub(crate) fn is_sequential() -> bool {
    BACKEND.load(Relaxed) == Backend::Sequential as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_used_where_there_is_one() {
        assert_eq!(choose("", false), Ok(Backend::Cpu));
        assert_eq!(choose("", true), Ok(Backend::Mpi));
        assert_eq!(choose("seq", true), Ok(Backend::Sequential));
        assert_eq!(choose("cpu", true), Ok(Backend::Cpu));
        assert!(choose("mpi", false).is_err());
        assert!(choose("CPU", false).is_err());
    }
}
