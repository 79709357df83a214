//! What `mpirun`, `srun` and their like tell the processes that they start, before MPI starts.
//!
//! Guarantee: what is said to be alone is: in doubt a process is part of a job. Copies of a program that each think they are
//! alone would overwrite each other's files.

use crate::Environment;

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

/// Variables that processes of a job have, and few others. With [`BATCH`] in front of their names they are there in the
/// script of a job as well, which no launcher has started.
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

const BATCH: &str = "SLURM_";

/// Of them, those that are the number of the rank.
const NUMBERS: [&str; 8] = [
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "JSM_NAMESPACE_RANK",
    "FLUX_TASK_RANK",
    "PALS_RANKID",
    "SLURM_PROCID",
];

/// Variables by which launchers say how many ranks a node has.
const SIZES_OF_NODES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_LOCAL_SIZE",
];

/// Variables by which launchers number the ranks of a node.
const NUMBERS_OF_NODES: [&str; 7] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "JSM_NAMESPACE_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID",
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
];

/// Whether anything tells of a launcher, or of a script in which there may be one.
pub fn is_mentioned(environment: impl Environment) -> bool {
    let known = SIZES.iter().chain(&RANKS);
    known.into_iter().any(|name| environment(name).is_some())
}

/// Whether a launcher has started this process, so that MPI can find the others.
pub fn has_started(environment: impl Environment) -> bool {
    let mut known = SIZES
        .iter()
        .chain(&RANKS)
        .filter(|name| !name.starts_with(BATCH));
    known.any(|name| environment(name).is_some())
}

/// The variable that says that there are several ranks, with how many that are.
pub fn several(environment: impl Environment) -> Option<(&'static str, String)> {
    let mut sizes = SIZES
        .iter()
        .filter_map(|&name| Some((name, environment(name)?)));
    sizes.find(|(_, size)| size.trim() != "1")
}

/// Whether this process is all there is of its job.
pub fn is_alone(environment: impl Environment) -> bool {
    // A job of several parts has several sizes.
    let in_parts = environment("SLURM_HET_SIZE").is_some_and(|parts| parts.trim() != "1");
    if several(&environment).is_some() || in_parts {
        return false;
    }
    if SIZES.iter().any(|name| environment(name).is_some()) || !is_mentioned(&environment) {
        return true;
    }
    // Within a batch script the number of tasks is what was asked for.
    let tasks = environment("SLURM_NTASKS").or_else(|| environment("SLURM_NPROCS"));
    tasks.is_some_and(|tasks| tasks.trim() == "1") && !has_started(environment)
}

fn number(environment: impl Environment, names: &[&str]) -> Option<u32> {
    names
        .iter()
        .find_map(|name| environment(name)?.trim().parse().ok())
}

/// This process's rank.
pub fn rank(environment: impl Environment) -> Option<u32> {
    number(environment, &NUMBERS)
}

/// How many ranks there are, and the variable that says so.
pub fn size(environment: impl Environment) -> Option<(&'static str, u32)> {
    let size = |name: &&'static str| Some((*name, environment(name)?.trim().parse().ok()?));
    SIZES.iter().find_map(size)
}

/// How many ranks this node has.
pub fn ranks_of_node(environment: impl Environment) -> Option<u32> {
    number(environment, &SIZES_OF_NODES)
}

/// This process's number among the ranks of its node.
pub fn rank_of_node(environment: impl Environment) -> Option<u32> {
    number(environment, &NUMBERS_OF_NODES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn without_a_launcher_and_on_one_rank_it_is_alone() {
        for alone in [
            &[][..],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")],
            &[("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")],
            &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")],
        ] {
            assert!(is_alone(with(alone)), "{alone:?}");
        }
    }

    #[test]
    fn in_doubt_it_is_part_of_a_job() {
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
        ] {
            assert!(!is_alone(with(doubtful)), "{doubtful:?}");
        }
    }

    #[test]
    fn the_script_of_a_job_is_started_by_no_launcher() {
        let script = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        assert!(is_mentioned(with(&script)) && !has_started(with(&script)));
        for started in [
            "OMPI_COMM_WORLD_SIZE",
            "PMI_RANK",
            "PMIX_RANK",
            "FLUX_TASK_RANK",
        ] {
            assert!(has_started(with(&[(started, "0")])), "{started}");
        }
        assert!(!has_started(with(&[])) && !is_mentioned(with(&[])));
    }

    #[test]
    fn numbers_are_those_of_the_first_variable_that_has_one() {
        let both = [("OMPI_COMM_WORLD_RANK", "?"), ("PMIX_RANK", " 3 ")];
        assert_eq!(rank(with(&both)), Some(3));
        assert_eq!(size(with(&[("PMI_SIZE", "4")])), Some(("PMI_SIZE", 4)));
        assert_eq!(ranks_of_node(with(&[("MPI_LOCALNRANKS", "2")])), Some(2));
        assert_eq!(rank(with(&[])), None);
        assert_eq!(
            several(with(&[("PMI_SIZE", "4")])),
            Some(("PMI_SIZE", "4".to_string()))
        );
    }
}
