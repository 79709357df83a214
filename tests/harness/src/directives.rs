//! The directives of a run test: `// key: value` lines in the comment that opens its main file, `! key: value` in Fortran.
//!
//! | directive | meaning |
//! |---|---|
//! | `ranks: 1 2 3 4` | rank counts (default 1 2 3 4); 0 starts the program without mpirun |
//! | `opt: -O0 -O2` | optimisation levels (default -O0 -O2) |
//! | `flags: ...` | more compiler flags, for both builds |
//! | `threads: ranks` | OpenMP threads of the reference: `ranks` (default), a number, or `any`: the output does not depend on it |
//! | `compare: exact` | `exact` (default), `tolerance 1e-9` (numbers token by token), `sorted` (lines) |
//! | `expect-exit: N` | exit code of both programs (default 0), or `failure`: any other |
//! | `expect-stderr: text` | okl's stderr must contain it; without one, the runtime must say nothing |
//! | `warns: text` | the okl compiler must print it; without one, nothing may run on one rank only |
//! | `reference: FILE` | expected output, beside the main file, instead of an OpenMP run; `none`: any |
//! | `reference-opt: -O0` | level of the OpenMP build, instead of that of okl's |
//! | `limit: N` | seconds one run may take, instead of `--timeout` |
//! | `env: A=B` | a variable for both programs |
//! | `args: ...` | arguments, split at spaces |
//! | `stdin: text` | standard input, with `\n` for a line end |
//! | `libs: ...` | what the program needs to link |
//! | `untranslated: FILE` | a source compiled without the plugin |
//! | `skip-with: A=B` | skipped when run with `--environment A=B`; not run in modes that set it |
//! | `requires: ...` | commands, and libraries such as `libscotch`, without which the test is skipped |

use std::time::Duration;

/// Everything the comment of a test says.
#[derive(Debug, PartialEq)]
pub(crate) struct Directives {
    /// `None`: any number will do.
    pub(crate) ranks: Option<Vec<u32>>,
    pub(crate) opt: Option<Vec<String>>,
    pub(crate) flags: Vec<String>,
    pub(crate) threads: Threads,
    pub(crate) compare: Comparison,
    pub(crate) exit: Exit,
    pub(crate) stderr: Vec<String>,
    pub(crate) warns: Vec<String>,
    pub(crate) reference: Reference,
    pub(crate) reference_opt: Option<String>,
    pub(crate) limit: Option<Duration>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) args: Vec<String>,
    pub(crate) stdin: String,
    pub(crate) libs: Vec<String>,
    pub(crate) untranslated: Vec<String>,
    pub(crate) skip_with: Vec<(String, String)>,
    pub(crate) requires: Vec<String>,
}

/// Number of OpenMP threads of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the okl run has ranks.
    Ranks,
    /// Always this many.
    Fixed(u32),
    /// One; the output is the same with any other number.
    Any,
}

/// How the programs must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With this exit code.
    Code(i32),
    /// With an exit code other than 0, before the time limit.
    Failure,
}

/// Where the expected output comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The OpenMP build of the same program.
    OpenMp,
    /// A file beside the main file.
    File(String),
    /// Any output will do.
    None,
}

/// What "the same output" means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// Byte for byte.
    Exact,
    /// Byte for byte after sorting the lines.
    Sorted,
    /// Numbers within a relative tolerance, other words exactly.
    Tolerance(f64),
}

impl Default for Directives {
    fn default() -> Self {
        Self {
            ranks: None,
            opt: None,
            flags: Vec::new(),
            threads: Threads::Ranks,
            compare: Comparison::Exact,
            exit: Exit::Code(0),
            stderr: Vec::new(),
            warns: Vec::new(),
            reference: Reference::OpenMp,
            reference_opt: None,
            limit: None,
            env: Vec::new(),
            args: Vec::new(),
            stdin: String::new(),
            libs: Vec::new(),
            untranslated: Vec::new(),
            skip_with: Vec::new(),
            requires: Vec::new(),
        }
    }
}

/// Reads the directives of `source`; an unknown one is an error.
pub(crate) fn parse(source: &str) -> Result<Directives, String> {
    let mut found = Directives::default();
    let comment = |line: &'_ str| -> Option<String> {
        let text = line.strip_prefix("//").or(line.strip_prefix('!'))?;
        Some(text.to_owned())
    };
    let comment = source.lines().map_while(comment);
    for line in comment {
        let Some((key, value)) = line.trim().split_once(':') else {
            continue;
        };
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            continue;
        }
        let value = value.trim();
        let wrong = || format!("directive {key}: cannot read '{value}'");
        let words = || value.split_whitespace().map(str::to_owned);
        match key {
            "ranks" => {
                let ranks = words().map(|word| word.parse().map_err(|_| wrong()));
                found.ranks = Some(ranks.collect::<Result<_, _>>()?);
            }
            "opt" => found.opt = Some(words().collect()),
            "flags" => found.flags.extend(words()),
            "threads" => {
                found.threads = match value {
                    "ranks" => Threads::Ranks,
                    "any" => Threads::Any,
                    number => Threads::Fixed(number.parse().map_err(|_| wrong())?),
                }
            }
            "compare" => {
                found.compare = match value.split_once(' ') {
                    None if value == "exact" => Comparison::Exact,
                    None if value == "sorted" => Comparison::Sorted,
                    Some(("tolerance", limit)) => {
                        Comparison::Tolerance(limit.parse().map_err(|_| wrong())?)
                    }
                    _ => return Err(wrong()),
                }
            }
            "expect-exit" => {
                found.exit = match value {
                    "failure" => Exit::Failure,
                    code => Exit::Code(code.parse().map_err(|_| wrong())?),
                }
            }
            "expect-stderr" => found.stderr.push(value.to_owned()),
            "warns" => found.warns.push(value.to_owned()),
            "reference" => {
                found.reference = match value {
                    "none" => Reference::None,
                    file => Reference::File(file.to_owned()),
                }
            }
            "reference-opt" => found.reference_opt = Some(value.to_owned()),
            "limit" => {
                let seconds = value.parse().map_err(|_| wrong())?;
                found.limit = Some(Duration::from_secs(seconds));
            }
            "env" => found.env.push(pair(value).ok_or_else(wrong)?),
            "args" => found.args = words().collect(),
            "stdin" => found.stdin = value.replace("\\n", "\n"),
            "libs" => found.libs.extend(words()),
            "untranslated" => found.untranslated.extend(words()),
            "skip-with" => found.skip_with.push(pair(value).ok_or_else(wrong)?),
            "requires" => found.requires.extend(words()),
            _ => return Err(format!("unknown directive '{key}'")),
        }
    }
    let is_empty = |list: &Vec<String>| list.is_empty();
    if found.ranks.as_ref().is_some_and(Vec::is_empty) || found.opt.as_ref().is_some_and(is_empty) {
        return Err("no rank count or no optimisation level".to_owned());
    }
    Ok(found)
}

fn pair(value: &str) -> Option<(String, String)> {
    let (name, value) = value.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_opening_comment_only() {
        let found = parse(
            "// Guards against: prose with a colon.\n// ranks: 2 4\n// compare: tolerance 1e-3\n\
             // stdin: a\\nb\nint x;\n// opt: -O3\n",
        )
        .unwrap();
        assert_eq!(found.ranks, Some(vec![2, 4]));
        assert_eq!(found.compare, Comparison::Tolerance(1e-3));
        assert_eq!(found.stdin, "a\nb");
        assert_eq!(found.opt, None);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parse("// rank: 1\n").is_err());
        assert!(parse("// ranks: one\n").is_err());
        assert!(parse("// compare: roughly\n").is_err());
    }
}
