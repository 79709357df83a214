//! Where parallel code goes.

use std::fmt;

use crate::lower::gpu::target::GpuTarget;
use crate::options::Options;
use crate::recognise::{Found, KeepsThreads};

/// Where a region or a loop goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether the ranks of an MPI job share it.
    pub distribute: bool,
    /// What runs a rank's share, or all of it: the first of them that is there when the program runs. The processor, which
    /// always is, comes last.
    pub targets: Vec<Target>,
}

/// What code is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The processor that the program runs on.
    Cpu,
    /// A device of a kind.
    Gpu(&'static GpuTarget),
}

impl Plan {
    /// Where code goes that stays in its process.
    pub fn local() -> Self {
        Self {
            distribute: false,
            targets: vec![Target::Cpu],
        }
    }

    /// Whether it may run on the processor.
    pub fn has_cpu(&self) -> bool {
        self.targets.contains(&Target::Cpu)
    }

    /// The kinds of devices that it may run on.
    pub fn devices(&self) -> impl Iterator<Item = &'static GpuTarget> {
        self.targets.iter().filter_map(|one| match one {
            Target::Gpu(target) => Some(*target),
            Target::Cpu => None,
        })
    }

    /// Whether there are such kinds.
    pub fn has_devices(&self) -> bool {
        self.devices().next().is_some()
    }

    /// The same for what only processors run.
    pub fn on_the_processor(&self) -> Self {
        Self {
            targets: vec![Target::Cpu],
            ..*self
        }
    }
}

/// Where the parallel code of a module goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans {
    /// Its regions.
    pub regions: Plan,
    /// Its loops outside regions. Which rank has which elements is found out when the program runs.
    pub loops: Plan,
}

impl Plans {
    /// As the user asked, or as front ends have it: regions go to the ranks of an MPI job, unless they keep their
    /// threads. Devices run all of what ranks do not share, and of what they share each rank's part.
    pub fn of(options: &Options, found: &Found<'_>) -> Self {
        let asked = options.plan.as_ref();
        let regions = match (found.keeps_threads, asked) {
            (None, None) => Plan {
                distribute: true,
                ..Plan::local()
            },
            (
                None
                | Some(KeepsThreads {
                    unless_asked: true, ..
                }),
                Some(asked),
            ) => asked.clone(),
            (Some(_), _) => Plan::local(),
        };
        let loops = asked.map(|asked| Plan {
            distribute: false,
            ..asked.clone()
        });
        Self {
            regions,
            loops: loops.unwrap_or_else(Plan::local),
        }
    }

    /// Of loops over blocks of work items that go where the user asked, before regions are looked for.
    pub fn of_blocks(asked: Plan) -> Self {
        Self {
            regions: Plan::local(),
            loops: asked,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.distribute {
            write!(f, "shared by the ranks of an MPI job, ")?;
        }
        for (at, target) in self.targets.iter().enumerate() {
            let or = if at > 0 { ", or else " } else { "" };
            match target {
                Target::Cpu => write!(f, "{or}on the processor")?,
                Target::Gpu(target) => write!(f, "{or}on {}", target.words)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_that_keep_their_threads_are_not_distributed() {
        let distributed = |options: &str, unless_asked: Option<bool>| {
            let options = Options::read(options, "", false, false, None).expect("valid options");
            let found = Found {
                keeps_threads: unless_asked.map(|unless_asked| KeepsThreads {
                    why: "it is a test",
                    unless_asked,
                }),
                ..Found::default()
            };
            let plans = Plans::of(&options, &found);
            assert!(!plans.loops.distribute);
            plans.regions.distribute
        };
        for (options, keeps_threads, expected) in [
            ("", None, true),
            ("mpi", None, true),
            ("cpu", None, false),
            ("cuda", None, false),
            ("mpi+cuda", None, true),
            ("mpi+cuda", Some(false), false),
            ("", Some(false), false),
            ("mpi", Some(false), false),
            ("", Some(true), false),
            ("mpi", Some(true), true),
        ] {
            assert_eq!(distributed(options, keeps_threads), expected, "{options}");
        }
    }
}
