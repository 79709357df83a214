//! Random race-free OpenMP programs, compared like the run tests.
//!
//! | file | what it writes |
//! |---|---|
//! | `objects.rs` | the shared data: element types and shapes |
//! | `phase.rs` | who may touch what until the next barrier |
//! | `generator.rs` | expressions, the frame of the program |
//! | `serial.rs` | serial code |
//! | `region.rs` | regions and their statements |
//! | `worksharing.rs` | loops, sections, protected updates |
//! | `tasks.rs` | tasks |
//!
//! A program's output depends neither on the team's size nor on the schedule, so the reference is
//! one OpenMP run with one thread.

mod generator;
mod objects;
mod phase;
mod region;
mod serial;
mod tasks;
pub(crate) mod text;
mod worksharing;

use std::fs;
use std::ops::Range;

pub(crate) use generator::program;

use crate::jobs::{self, Outcome, Tally};
use crate::{Common, Launch, differential};

/// Runs the programs of `seeds`.
pub(crate) fn run(
    seeds: Range<u64>,
    common: &Common,
    launch: &Launch,
    reference_only: bool,
) -> Result<Tally, String> {
    let seeds: Vec<u64> = seeds.collect();
    let folder = common.folder()?;
    let runner = differential::Setting::new(common, launch, reference_only)?;
    Ok(jobs::run_all(
        &seeds,
        common.jobs,
        |seed| format!("seed {seed}"),
        |seed| {
            let main = folder.path().join(format!("seed-{seed}.c"));
            let written = fs::write(&main, program(*seed)).map_err(|error| error.to_string());
            match written
                .and_then(|()| runner.test_file(&main, format!("random --count 1 --seed {seed}")))
            {
                Ok(outcome) => outcome,
                Err(why) => Outcome::Failed(why),
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_seed_gives_one_program() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }
}
