//! Random race-free OpenMP programs, compared like the run tests.
//!
//! | file | what it writes |
//! |---|---|
//! | `objects.rs` | the shared data: element types and shapes |
//! | `phase.rs` | who may touch what until the next barrier |
//! | `generator.rs` | expressions, functions, the frame of the program |
//! | `serial.rs` | serial code |
//! | `region.rs` | regions and their statements |
//! | `worksharing.rs` | loops, sections, protected updates |
//! | `tasks.rs` | tasks |
//! | `atomics.rs` | atomic accesses |
//! | `calls.rs` | functions that are called, in the same file or another one |
//! | `exceptions.rs` | exceptions |
//! | `source.rs` | the files, of one program or of several |
//!
//! A program's output depends neither on the team's size nor on the schedule, so the reference is
//! one OpenMP run with one thread.
//!
//! Most of the time that a program takes is the compilers' and mpirun's to start, so that several of them make one
//! executable. Where that fails each of them is built and run alone, in the same way.

mod atomics;
mod calls;
mod exceptions;
mod generator;
mod nests;
mod objects;
mod phase;
mod region;
mod serial;
mod source;
mod tasks;
pub(crate) mod text;
mod worksharing;

use std::fs;
use std::ops::Range;
use std::path::Path;

use generator::program;

use crate::differential::{Setting, Test};
use crate::jobs::{self, Outcome, Tally};
use crate::{Common, Launch};

/// Which programs of these seeds: those of loops that devices can run, for the most part, or any.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) for_devices: bool,
}

impl Kind {
    /// How the runner is told.
    fn option(self) -> &'static str {
        match self.for_devices {
            true => "--for-devices ",
            false => "",
        }
    }
}

/// Runs the programs of `seeds`, `batch` of them at a time.
pub(crate) fn run(
    seeds: Range<u64>,
    kind: Kind,
    batch: usize,
    common: &Common,
    launch: &Launch,
    reference_only: bool,
) -> Result<Tally, String> {
    let seeds: Vec<u64> = seeds.collect();
    let batches: Vec<&[u64]> = seeds.chunks(batch.max(1)).collect();
    let folder = common.folder()?;
    let setting = Setting::new(common, launch, reference_only)?;
    Ok(jobs::run_all(
        &batches,
        common.jobs,
        |seeds| match seeds {
            [first, .., last] => format!("seeds {first} to {last}"),
            seeds => format!("seed {}", seeds[0]),
        },
        |seeds| match seeds {
            [seed] => match alone((*seed, kind), None, folder.path(), &setting) {
                Ok(outcome) => outcome,
                Err(why) => Outcome::Failed(why),
            },
            seeds => together((seeds, kind), folder.path(), &setting),
        },
    ))
}

/// The program of a seed, in the combinations that `drawn_as` draws.
fn alone(
    (seed, kind): (u64, Kind),
    drawn_as: Option<&str>,
    folder: &Path,
    setting: &Setting,
) -> Result<Outcome, String> {
    let folder = folder.join(format!("seed-{seed}"));
    let main = write(&folder, &source::alone(&program(seed, kind.for_devices)))?;
    let command = format!("random {}--count 1 --seed {seed}", kind.option());
    let mut test = Test::new(command);
    if let Some(drawn_as) = drawn_as {
        test.drawn_as = drawn_as.to_owned();
    }
    setting.test_file(&main, test)
}

/// Several programs in one executable; if that fails, each alone.
fn together((seeds, kind): (&[u64], Kind), folder: &Path, setting: &Setting) -> Outcome {
    let [first, count] = [seeds[0], seeds.len() as u64];
    let kind_said = kind.option();
    let command = format!("random {kind_said}--batch {count} --count {count} --seed {first}");
    let written = seeds.iter().map(|seed| program(*seed, kind.for_devices));
    let programs: Vec<_> = written.collect();
    let files = source::together(&programs);
    let mut test = Test::new(command.clone());
    test.times = count as u32;
    let tested = write(&folder.join(format!("seeds-{first}")), &files)
        .and_then(|main| setting.test_file(&main, test));
    let why = match tested {
        Ok(Outcome::Passed) => return Outcome::Several(seeds.len(), Vec::new()),
        Ok(Outcome::Failed(why)) | Err(why) => why,
        Ok(outcome) => return outcome,
    };
    let mut failed = Vec::new();
    for seed in seeds {
        match alone((*seed, kind), Some(&command), folder, setting) {
            Ok(Outcome::Failed(why)) | Err(why) => failed.push(format!("seed {seed}: {why}")),
            Ok(_) => {}
        }
    }
    let passed = seeds.len() - failed.len().max(1);
    if failed.is_empty() {
        failed.push(format!(
            "each alone passes, all of them in one executable: {why}"
        ));
    }
    Outcome::Several(passed, failed)
}

/// Writes files into a folder of their own, and says where the first one is.
fn write(folder: &Path, files: &[(&str, String)]) -> Result<std::path::PathBuf, String> {
    let written = fs::create_dir_all(folder).and_then(|()| {
        files
            .iter()
            .try_for_each(|(name, text)| fs::write(folder.join(name), text))
    });
    written.map_err(|error| error.to_string())?;
    Ok(folder.join(files[0].0))
}

/// The files of one program or of a batch, one after the other.
pub(crate) fn printed(seed: u64, kind: Kind, batch: usize) -> String {
    let seeds = seed..seed + batch.max(1) as u64;
    let programs: Vec<_> = seeds.map(|seed| program(seed, kind.for_devices)).collect();
    let files = match &programs[..] {
        [one] => source::alone(one),
        several => source::together(several),
    };
    let mut text = String::new();
    for (name, of_file) in files {
        text += &format!("{of_file}// End of {name}.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Kind, printed, program};

    #[test]
    fn a_seed_gives_one_program() {
        assert_eq!(program(7, false), program(7, false));
        assert_ne!(program(7, false), program(8, false));
    }

    /// Two hundred programs together have all that the generator can write.
    #[test]
    fn programs_have_everything() {
        let text = printed(1, Kind { for_devices: false }, 200);
        for what in [
            "second.c.",
            "second.cpp.",
            "throw ",
            "timer_start(1)",
            "must_be(",
            "__atomic_compare_exchange_n",
            "__sync_bool_compare_and_swap",
            "compare_exchange_strong",
            "atomic capture",
            "atomic write",
            "atomic read",
            "_Atomic(",
            "std::atomic<",
        ] {
            assert!(text.contains(what), "{what}");
        }
    }
}
