//! Every option of the plugin.
//!
//! | option | pass parameter | compiler flag | environment |
//! |---|---|---|---|
//! | where loops go | `okl-lower<mpi>`, `okl-lower<cpu>` | `-mllvm -okl-target=mpi` | `OKL_TARGET=mpi` |
//! | declines are errors | `okl-lower<strict>` | `-mllvm -okl-strict` | |
//!
//! A pass parameter beats a flag, a flag beats the environment.

/// Where parallel loops go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To the ranks of an MPI job.
    Mpi,
    /// Nowhere: they stay as they are.
    Cpu,
}

impl Target {
    const NAMES: [(&'static str, Target); 2] = [("mpi", Target::Mpi), ("cpu", Target::Cpu)];

    fn parse(name: &str) -> Option<Target> {
        Self::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, target)| *target)
    }

    fn valid() -> String {
        Self::NAMES.map(|(name, _)| name).join(", ")
    }
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where parallel loops go; none where nobody says it: those of OpenMP to the ranks of an MPI job.
    pub target: Option<Target>,
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
        let mut target = None;
        let mut strict = strict_flag;
        for word in parameters.split(';').filter(|word| !word.is_empty()) {
            match (word, Target::parse(word)) {
                ("strict", _) => strict = true,
                (_, Some(parsed)) => target = Some(parsed),
                (_, None) => {
                    return Err(format!(
                        "okl: unknown parameter '{word}' of okl-lower; valid are: {}, strict",
                        Target::valid()
                    ));
                }
            }
        }
        let sources = [
            (target_flag, "of -okl-target"),
            (environment.unwrap_or_default(), "in OKL_TARGET"),
        ];
        for (name, place) in sources {
            if target.is_none() && !name.is_empty() {
                let parsed = Target::parse(name).ok_or_else(|| {
                    format!(
                        "okl: unknown target '{name}' {place}; valid are: {}",
                        Target::valid()
                    )
                })?;
                target = Some(parsed);
            }
        }
        Ok(Options { target, strict })
    }
}
