//! Where parallel code goes.

use std::fmt;

use crate::options::Options;
use crate::recognise::Found;

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
        let local = Plan {
            distribute: false,
            target: Target::Cpu,
        };
        let asked = options.plan.unwrap_or(Plan {
            distribute: true,
            ..local
        });
        Self {
            regions: match found.keeps_threads {
                Some(_) => local,
                None => asked,
            },
            loops: local,
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
        let distributed = |options: &str, keeps_threads: bool| {
            let options = Options::read(options, "", false, None).expect("valid options");
            let found = Found {
                keeps_threads: keeps_threads.then_some("it is a test"),
                ..Found::default()
            };
            let plans = Plans::of(&options, &found);
            assert!(!plans.loops.distribute);
            plans.regions.distribute
        };
        for (options, keeps_threads, expected) in [
            ("", false, true),
            ("mpi", false, true),
            ("cpu", false, false),
            ("", true, false),
            ("mpi", true, false),
        ] {
            assert_eq!(distributed(options, keeps_threads), expected, "{options}");
        }
    }
}
