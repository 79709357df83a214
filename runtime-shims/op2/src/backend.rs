//! What the program runs on: `OKL_BACKEND` chooses among what there is.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use okl_job::{
    Environment, launcher, own_environment,
    settings::{self, Backend},
};

use crate::{increments, job, local, report::fatal, team};

static IS_REPRODUCIBLE: AtomicBool = AtomicBool::new(false);

/// What runs kernels.
const DEVICES: [Backend; 4] = [
    Backend::Cuda,
    Backend::CudaEmulated,
    Backend::Hip,
    Backend::Spirv,
];

/// Whether the user says what the program runs on.
static IS_SAID: AtomicBool = AtomicBool::new(false);

static BACKEND: AtomicU8 = AtomicU8::new(Backend::Cpu as u8);

fn choose(environment: impl Environment, is_job: bool) -> Result<Backend, String> {
    let mut valid = vec![Backend::Sequential, Backend::Cpu, Backend::Mpi];
    valid.extend(DEVICES);
    match settings::backend(environment, "an OP2 program", &valid)? {
        Some(Backend::Mpi) if !is_job => {
            Err("OKL_BACKEND=mpi: there is no MPI job; start the program with mpirun".into())
        }
        Some(asked) => Ok(asked),
        None if is_job => Ok(Backend::Mpi),
        None => Ok(Backend::Cpu),
    }
}

/// Chooses, and joins the job where that is the choice: the ranks that are `given`, or all. A program that `begins_again`
/// joins none.
pub(crate) fn start(given: Option<job::Given>, begins_again: bool) {
    let is_launched = launcher::has_started(own_environment);
    // A program that declares parts calls MPI itself.
    let is_job = is_launched || job::is_initialised() || local::is_asked_for();
    let chosen = choose(own_environment, is_job);
    let keeps_alone = matches!(chosen, Ok(Backend::Sequential | Backend::Cpu));
    let joins = is_job && (local::is_asked_for() || !keeps_alone);
    if begins_again && (joins || job::has_left()) {
        fatal("op_init is called after op_exit: a program joins a job once, as MPI begins once");
    }
    if joins {
        job::start(given);
    }
    if let Ok(asked @ (Backend::Sequential | Backend::Cpu)) = chosen
        && local::is_local()
    {
        fatal(&format!(
            "OKL_BACKEND={asked}: each rank declares a part of the mesh, which several ranks run with mpi alone"
        ));
    }
    match chosen {
        Ok(backend) => {
            let is_said = settings::said(own_environment, "OKL_BACKEND").is_some();
            IS_SAID.store(is_said, Relaxed);
            BACKEND.store(backend as u8, Relaxed);
        }
        Err(mistake) => fatal(&mistake),
    }
    if let Err(mistake) = settings::threads(own_environment) {
        fatal(&mistake);
    }
    team::share_processors();
    read_reproducible();
    increments::read(is_reproducible());
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

/// Whether the user asks for a device.
pub(crate) fn asks_for_device() -> bool {
    DEVICES
        .iter()
        .any(|one| BACKEND.load(Relaxed) == *one as u8)
}

/// Whether loops may run on a device: he asks for one, or for nothing.
pub(crate) fn may_have_device() -> bool {
    asks_for_device() || !IS_SAID.load(Relaxed)
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
        let choose = |asked: &'static str, is_job| choose(|_: &str| Some(asked.to_owned()), is_job);
        assert_eq!(choose("", false), Ok(Backend::Cpu));
        assert_eq!(choose("", true), Ok(Backend::Mpi));
        assert_eq!(choose("seq", true), Ok(Backend::Sequential));
        assert_eq!(choose("cpu", true), Ok(Backend::Cpu));
        assert_eq!(choose("cuda-emulated", true), Ok(Backend::CudaEmulated));
        assert!(choose("mpi", false).is_err());
        assert!(choose("CPU", false).is_err());
    }
}
