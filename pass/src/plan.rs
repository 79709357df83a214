//! Where parallel code goes.

use std::fmt;

use crate::options::Options;
use crate::recognise::{Found, KeepsThreads};

/// Where a region or a loop goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether the ranks of an MPI job share it.
    pub distribute: bool,
    /// What runs a rank's share, or all of it.
    pub target: Target,
}

/// What code is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The processor that the program runs on.
    Cpu,
}

/// Where code goes that stays in its process.
const LOCAL: Plan = Plan {
    distribute: false,
    target: Target::Cpu,
};

/// Where the parallel code of a module goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plans {
    /// Its regions.
    pub regions: Plan,
    /// Its loops outside regions. Which rank has which elements is found out when the program runs.
    pub loops: Plan,
}

impl Plans {
    /// As the user asked, or as front ends have it: regions go to the ranks of an MPI job, unless they keep their
    /// threads.
    pub fn of(options: &Options, found: &Found<'_>) -> Self {
        let asked = options.plan.unwrap_or(Plan {
            distribute: true,
            ..LOCAL
        });
        Self {
            regions: match found.keeps_threads {
                Some(KeepsThreads {
                    unless_asked: true, ..
                }) => options.plan.unwrap_or(LOCAL),
                Some(_) => LOCAL,
                None => asked,
            },
            loops: LOCAL,
        }
    }

    /// Of loops over blocks of work items that go where the user asked, before regions are looked for.
    pub fn of_blocks(asked: Plan) -> Self {
        Self {
            regions: LOCAL,
            loops: asked,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = if self.distribute {
            "shared by the ranks of an MPI job, "
        } else {
            ""
        };
        match self.target {
            Target::Cpu => write!(f, "{shared}on the processor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_that_keep_their_threads_are_not_distributed() {
        let distributed = |options: &str, unless_asked: Option<bool>| {
            let options = Options::read(options, "", false, None).expect("valid options");
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
            ("", Some(false), false),
            ("mpi", Some(false), false),
            ("", Some(true), false),
            ("mpi", Some(true), true),
        ] {
            assert_eq!(distributed(options, keeps_threads), expected, "{options}");
        }
    }
}
