//! Every option of the plugin.
//!
//! | option | pass parameter | compiler flag | environment |
//! |---|---|---|---|
//! | where loops go | `okl-lower<mpi>`, `okl-lower<cuda;cpu>` | `-mllvm -okl-target=mpi`, `=cuda,cpu` | `OKL_TARGET=mpi` |
//! | declines are errors | `okl-lower<strict>` | `-mllvm -okl-strict` | |
//!
//! A pass parameter beats a flag, a flag beats the environment.

use crate::lower::gpu::target::CUDA;
use crate::plan::{Plan, Target};

/// What the user may call them.
const TARGETS: [(&str, bool, Target); 3] = [
    ("mpi", true, Target::Cpu),
    ("cpu", false, Target::Cpu),
    ("cuda", false, Target::Gpu(&CUDA)),
];

fn valid() -> String {
    TARGETS.map(|(name, ..)| name).join(", ")
}

/// The plan of these names, the first choice first. Names of several devices, and of the processor behind them, go together.
/// An error is the end of a message.
pub fn plan_called<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Plan, String> {
    let mut plan: Option<Plan> = None;
    for name in names {
        let known = TARGETS.iter().find(|(known, ..)| *known == name);
        let Some((_, distribute, target)) = known else {
            return Err(format!("unknown target '{name}'"));
        };
        let Some(plan) = &mut plan else {
            plan = Some(Plan {
                distribute: *distribute,
                targets: vec![*target],
            });
            continue;
        };
        if plan.distribute || *distribute {
            return Err("target 'mpi' goes with no other".to_string());
        }
        if plan.has_cpu() {
            return Err(format!(
                "target '{name}' behind 'cpu', which is there whenever it is asked for: it comes last"
            ));
        }
        if plan.targets.contains(target) {
            return Err(format!("target '{name}' twice"));
        }
        plan.targets.push(*target);
    }
    plan.ok_or_else(|| "no target".to_string())
}

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        let mut strict = strict_flag;
        let mut named = Vec::new();
        for word in parameters.split(';').filter(|word| !word.is_empty()) {
            match word {
                "strict" => strict = true,
                _ if TARGETS.iter().any(|(known, ..)| *known == word) => named.push(word),
                _ => {
                    return Err(format!(
                        "okl: unknown parameter '{word}' of okl-lower; valid are: {}, strict",
                        valid()
                    ));
                }
            }
        }
        let flag = target_flag.split(',');
        let variable = environment.unwrap_or_default().split(',');
        let sources = [
            (named, "as a parameter of okl-lower"),
            (flag.collect(), "of -okl-target"),
            (variable.collect(), "in OKL_TARGET"),
        ];
        let mut given = sources
            .into_iter()
            .filter(|(names, _)| !names.is_empty() && names[..] != [""]);
        let plan = given.next().map(|(names, place)| {
            let plan = plan_called(names);
            plan.map_err(|why| format!("okl: {why} {place}; valid are: {}", valid()))
        });
        let plan = plan.transpose()?;
        Ok(Options { plan, strict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(flag: &str) -> Result<Vec<Target>, String> {
        let options = Options::read("", flag, false, None)?;
        Ok(options.plan.expect("it is named").targets)
    }

    #[test]
    fn devices_are_tried_in_the_order_in_which_they_are_named() {
        let cuda = Target::Gpu(&CUDA);
        assert_eq!(targets("cuda"), Ok(vec![cuda]));
        assert_eq!(targets("cuda,cpu"), Ok(vec![cuda, Target::Cpu]));
        let options = Options::read("cuda;cpu;strict", "mpi", false, None);
        let plan = options.expect("valid options").plan.expect("it is named");
        assert_eq!((plan.has_cpu(), plan.devices().count()), (true, 1));
        assert!(!plan.distribute);
    }

    #[test]
    fn lists_that_make_no_sense_are_errors() {
        for (flag, why) in [
            ("mpi,cuda", "target 'mpi' goes with no other"),
            ("cuda,mpi", "target 'mpi' goes with no other"),
            (
                "cpu,cuda",
                "target 'cuda' behind 'cpu', which is there whenever it is asked for: it comes last",
            ),
            ("cuda,cuda", "target 'cuda' twice"),
            ("cuda,", "unknown target ''"),
            ("hip", "unknown target 'hip'"),
        ] {
            let told = format!("okl: {why} of -okl-target; valid are: mpi, cpu, cuda");
            assert_eq!(targets(flag), Err(told), "{flag}");
        }
    }
}
