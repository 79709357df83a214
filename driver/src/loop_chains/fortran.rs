//! Pragmas of loop chains in Fortran, which nothing reads yet: the compiler passes over them as comments, and the user is told.

use std::ffi::OsString;
use std::path::Path;

use super::bytes_of;
use crate::arguments::{Arguments, Stage, is_one_of};

/// How a directive begins: in free form, and in the first column of fixed form.
const SENTINELS: [&str; 3] = ["!$omplc", "c$omplc", "*$omplc"];

/// Of inputs in Fortran, written small.
const EXTENSIONS: &str = " f for ftn fpp f77 f90 f95 f03 f08 f18 cuf ";

/// A warning for each input that has such pragmas.
pub(crate) fn warnings(arguments: &Arguments) -> Vec<String> {
    if arguments.stage < Stage::Check {
        return Vec::new();
    }
    let sources = arguments.sources.iter().map(|(name, _)| name);
    sources.filter_map(warning).collect()
}

fn warning(name: &OsString) -> Option<String> {
    let extension = Path::new(name).extension()?.to_str()?;
    if !is_one_of(EXTENSIONS, &extension.to_ascii_lowercase()) {
        return None;
    }
    let text = bytes_of(Path::new(name))?;
    let mut lines = text.split(|byte| *byte == b'\n').zip(1..);
    let (column, line) = lines.find_map(|(line, number)| Some((column(line)?, number)))?;
    Some(format!(
        "{}:{line}:{column}: warning: loop chains are not known in Fortran yet: the loops run as they are written",
        name.to_string_lossy()
    ))
}

/// Where such a pragma begins, if a line is one.
fn column(line: &[u8]) -> Option<usize> {
    let blanks = line.iter().take_while(|byte| byte.is_ascii_whitespace());
    let blanks = blanks.count();
    let rest = &line[blanks..];
    let begins = |one: &&str| {
        let length = one.len();
        let is_one = rest
            .get(..length)
            .is_some_and(|word| word.eq_ignore_ascii_case(one.as_bytes()));
        let goes_on = rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
        is_one && !goes_on && (blanks == 0 || one.starts_with('!'))
    };
    SENTINELS.iter().any(begins).then_some(blanks + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_are_told_from_comments() {
        for (line, at) in [
            ("!$omplc for domain(1:n)", Some(1)),
            ("  !$OMPLC loopchain", Some(3)),
            ("C$omplc loopchain", Some(1)),
            (" c$omplc loopchain", None),
            ("! $omplc", None),
            ("!$omplcx", None),
            ("x = 1 !$omplc", None),
            ("!$omp do", None),
        ] {
            assert_eq!(column(line.as_bytes()), at, "{line}");
        }
    }
}
