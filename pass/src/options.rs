//! Every option of the plugin.
//!
//! | option | pass parameter | compiler flag | environment |
//! |---|---|---|---|
//! | where loops go | `okl-lower<mpi>`, `okl-lower<cpu>` | `-mllvm -okl-target=mpi` | `OKL_TARGET=mpi` |
//! | declines are errors | `okl-lower<strict>` | `-mllvm -okl-strict` | |
//!
//! A pass parameter beats a flag, a flag beats the environment.

use crate::plan::{Plan, Target};

/// What the user may call them.
const TARGETS: [(&str, Plan); 2] = [
    (
        "mpi",
        Plan {
            distribute: true,
            target: Target::Cpu,
        },
    ),
    (
        "cpu",
        Plan {
            distribute: false,
            target: Target::Cpu,
        },
    ),
];

/// The plan of that name.
pub fn plan_called(name: &str) -> Option<Plan> {
    let known = TARGETS.iter().find(|(known, _)| *known == name);
    known.map(|(_, plan)| *plan)
}

fn valid() -> String {
    TARGETS.map(|(name, _)| name).join(", ")
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where regions go, where the user says it.
    pub plan: Option<Plan>,
    /// Whether a decline is an error.
    pub strict: bool,
}

impl Options {
    /// Reads the options from their three sources. An error is a complete message.
    pub fn read(
        parameters: &str,
        target_flag: &str,
        strict_flag: bool,
        environment: Option<&str>,
    ) -> Result<Options, String> {
        let mut plan = None;
        let mut strict = strict_flag;
        for word in parameters.split(';').filter(|word| !word.is_empty()) {
            match (word, plan_called(word)) {
                ("strict", _) => strict = true,
                (_, Some(parsed)) => plan = Some(parsed),
                (_, None) => {
                    return Err(format!(
                        "okl: unknown parameter '{word}' of okl-lower; valid are: {}, strict",
                        valid()
                    ));
                }
            }
        }
        let sources = [
            (target_flag, "of -okl-target"),
            (environment.unwrap_or_default(), "in OKL_TARGET"),
        ];
        for (name, place) in sources {
            if plan.is_none() && !name.is_empty() {
                let parsed = plan_called(name).ok_or_else(|| {
                    format!(
                        "okl: unknown target '{name}' {place}; valid are: {}",
                        valid()
                    )
                })?;
                plan = Some(parsed);
            }
        }
        Ok(Options { plan, strict })
    }
}
