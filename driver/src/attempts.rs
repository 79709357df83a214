//! Compiling OKL files together with the instances of their templates that literals ask for (`okl::literals`).
//!
//! Guarantee: what compiles without these instances compiles with them, to the same but for those among them that can be
//! compiled. The others are left out, and what the compiler says of them is not told: the program asks for them while it runs.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Output};

use crate::front_step;
use crate::okl::literals::{self, Literal, PLACE};

/// A text that is to be compiled, and what it asks for.
pub(crate) struct Asking {
    /// The file, which has the text alone.
    pub(crate) file: PathBuf,
    pub(crate) literals: Vec<Literal>,
}

/// What a command has printed that has succeeded.
pub(crate) struct Compiled(Output);

impl Compiled {
    /// Prints it.
    pub(crate) fn tell(self) -> Result<ExitStatus, String> {
        let written = io::stdout()
            .write_all(&self.0.stdout)
            .and_then(|()| io::stderr().write_all(&self.0.stderr));
        written.map_err(|error| format!("cannot write: {error}"))?;
        Ok(self.0.status)
    }
}

/// Runs a command that compiles texts, with as many of the instances as can be compiled. If there are none, the texts are as
/// they were and the command has not been run so.
pub(crate) fn run(
    command: &[OsString],
    typed: Option<&File>,
    all: &[Asking],
) -> Result<Option<Compiled>, String> {
    // What is wrong with one may hide what is wrong with another one, and so may the compiler what the plugin finds.
    const MOST: usize = 3;
    let failed = |one: &Asking, error: io::Error| format!("{}: {error}", one.file.display());
    let texts: Vec<String> = all
        .iter()
        .map(|one| fs::read_to_string(&one.file).map_err(|error| failed(one, error)))
        .collect::<Result<_, _>>()?;
    let write = |left_out: Option<&HashSet<usize>>| {
        let mut number = 0;
        for (one, text) in all.iter().zip(&texts) {
            let first = number + 1;
            number += one.literals.len();
            let numbered = (first..).zip(&one.literals);
            let kept =
                numbered.filter(|(number, _)| left_out.is_some_and(|out| !out.contains(number)));
            let whole = [text.as_str(), &literals::text(kept)].concat();
            fs::write(&one.file, whole).map_err(|error| failed(one, error))?;
        }
        Ok::<usize, String>(number)
    };
    let mut command = command.to_vec();
    if io::stderr().is_terminal() {
        command.insert(1, "-fcolor-diagnostics".into());
    }
    let mut left_out = HashSet::new();
    for _ in 0..MOST {
        let count = write(Some(&left_out))?;
        let output = front_step::output(&command, typed)?;
        if output.status.success() {
            return Ok(Some(Compiled(output)));
        }
        let known = left_out.len();
        left_out.extend(named(&String::from_utf8_lossy(&output.stderr)));
        if left_out.len() == known || left_out.len() >= count {
            break;
        }
    }
    write(None)?;
    Ok(None)
}

/// The numbers of the instances that errors name, or their notes; not those of warnings.
fn named(told: &str) -> impl Iterator<Item = usize> {
    let begin = format!("{PLACE}:");
    let (mut numbers, mut is_error) = (Vec::new(), false);
    for line in told.lines() {
        if line.contains("error: ") {
            is_error = true;
        } else if ["warning: ", "remark: "]
            .iter()
            .any(|one| line.contains(one))
        {
            is_error = false;
        }
        for rest in line.split(&begin).skip(1).filter(|_| is_error) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            numbers.extend(rest[..digits].parse::<usize>());
        }
    }
    numbers.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_instances() {
        let told = "okl::kernel:3:5: error: no\nk.okl:4:5: error: x\nokl::kernel:12:1: note: y\nokl::kernel: z";
        assert_eq!(named(told).collect::<Vec<_>>(), [3, 12]);
        let warned = format!("k.okl:1:1: warning: w\nokl::kernel:7:1: note: n\n{told}");
        assert_eq!(named(&warned).collect::<Vec<_>>(), [3, 12]);
    }
}
