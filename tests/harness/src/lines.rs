//! RUN-line tests, for the compiler side.
//!
//! Every .ll, .c, .cpp, .f90 and .okl file below the given folders is a test and must hold at least one `RUN:`
//! line. A RUN line is one bash command with `pipefail`; `%s` is the file, `%S` its folder, `%t` a
//! path of the test's own, `%plugin` the plugin, `%runtime-dir` the folder of the run-time libraries,
//! `%op2-include` that of OP2's headers, `%okl-cc`, `%okl-c++` and `%okl-run` the drivers, and `%launch`
//! starts a program on ranks of this machine. A FileCheck whose file holds none of its check lines is a
//! failure. What goes by time on a machine that may be busy stands in a line `RUN-ONCE-IN-5:`, of five executions of which one
//! must pass: what must always hold, the program's result above all, is a RUN line's.
//!
//! A line `REQUIRES: NAME...` names commands, and libraries such as `libscotch`, without which the test
//! is skipped. A RUN line with `mpirun` has Open MPI start as quickly as it can, and ranks that wait leave the cores to others,
//! unless it says how itself; with `2>&1` what a program writes to both comes in its order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Common;
use crate::combinations::Mode;
use crate::jobs::{self, Outcome, Tally};
use crate::process::{self, End};
use crate::tools::{self, Tools};

const LIMIT: Duration = Duration::from_secs(120);

/// Runs every test below `paths`.
pub(crate) fn run(paths: &[PathBuf], common: &Common) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let mut tests = Vec::new();
    for path in paths {
        let path = path
            .canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        collect(&path, &mut tests).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    tests.retain(|test| {
        let wanted = common.filter.as_deref().unwrap_or("");
        test.to_string_lossy().contains(wanted)
    });
    tests.sort();
    Ok(jobs::run_all(
        &tests,
        common.jobs,
        |test| short_name(test),
        |test| match check(test, &tools, common.keep) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Failed(why),
        },
    ))
}

fn collect(path: &Path, tests: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), tests)?;
        }
    } else if tools::is_source(path) || path.extension().is_some_and(|e| e == "ll") {
        tests.push(path.to_owned());
    }
    Ok(())
}

/// The path relative to the current folder where it lies below it.
pub(crate) fn short_name(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Starts programs as quickly as Open MPI can, with more ranks than cores, also as root.
const LAUNCH: &str = "mpirun --allow-run-as-root --oversubscribe --bind-to none \
    --mca pml ob1 --mca btl vader,self";

fn check(test: &Path, tools: &Tools, keep: bool) -> Result<Outcome, String> {
    let text = fs::read_to_string(test).map_err(|error| error.to_string())?;
    if let Some(lacks) = tools.missing(&required(&text)) {
        return Ok(Outcome::Skipped(format!("{lacks} is missing")));
    }
    let run_lines = run_lines(&text)?;
    let mut folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    if keep {
        folder.disable_cleanup(true);
    }
    let show = |path: &Path| path.display().to_string();
    for RunLine { command, tries } in run_lines {
        // The longer names first: %s is a prefix of none, but %S, %t and %s are single letters.
        let line = command
            .replace("%plugin", &show(&tools.plugin))
            .replace("%runtime-dir", &show(&tools.runtime_dir))
            .replace("%op2-include", &show(&tools.op2_include))
            .replace("%okl-", &format!("{}/okl-", show(&tools.runtime_dir)))
            .replace("%launch", LAUNCH)
            .replace("%libdevice", &show(&tools::libdevice().unwrap_or_default()))
            .replace("%S", &show(test.parent().unwrap_or(test)))
            .replace("%s", &show(test))
            .replace("%t", &show(&folder.path().join("t")));
        refuse_early_ends(&line)?;
        require_checks(&line)?;
        let starts_mpi = line.contains("mpirun");
        let quick = match starts_mpi {
            true => Mode::Node.environment(),
            false => &[],
        };
        let shares = match starts_mpi {
            true => process::SHARES_CORES,
            false => &[],
        };
        // Otherwise what a program writes to both may come from Open MPI in any order.
        let in_order = (line.contains("2>&1") && !line.contains("--output-filename"))
            .then_some(("OMPI_MCA_iof_base_redirect_app_stderr_to_stdout", "1"));
        let execute = || {
            process::run(
                Command::new("bash")
                    .args(["-o", "pipefail", "-c", &line])
                    .env("PATH", tools.path())
                    // Where short regions run depends on times, and so does what is counted.
                    .env("OKL_REGIONS_ALONE", "0")
                    // What one run of the tests has left is not for the next one.
                    .env("OKL_JIT_CACHE", "0")
                    .envs(in_order)
                    .envs(quick.iter().chain(shares).copied()),
                folder.path(),
                "",
                LIMIT,
            )
        };
        let mut finished = execute()?;
        for _ in 1..tries {
            if finished.end == End::Exit(0) {
                break;
            }
            finished = execute()?;
        }
        if finished.end != End::Exit(0) {
            let kept = if keep {
                format!("\nkept: {}", show(folder.path()))
            } else {
                String::new()
            };
            return Err(format!(
                "RUN: {line}\n{}\n{}{}{kept}",
                finished.end, finished.stdout, finished.stderr
            ));
        }
    }
    Ok(Outcome::Passed)
}

/// What the test cannot do without.
fn required(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split_once("REQUIRES:"))
        .flat_map(|(_, names)| names.split_whitespace().map(str::to_owned))
        .collect()
}

/// A command of a test, and how often it is executed at most until it passes.
#[derive(Debug, PartialEq)]
struct RunLine {
    command: String,
    tries: usize,
}

/// The commands of a test, lines that end in a backslash joined.
fn run_lines(text: &str) -> Result<Vec<RunLine>, String> {
    let mut commands: Vec<RunLine> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let with = |word, tries| line.split_once(word).map(|(_, rest)| (rest.trim(), tries));
        let Some((rest, tries)) = with("RUN:", 1).or_else(|| with("RUN-ONCE-IN-5:", 5)) else {
            continue;
        };
        let (part, continues) = match rest.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (rest, false),
        };
        match commands.last_mut() {
            Some(last) if open => last.command.push_str(part),
            _ => commands.push(RunLine {
                command: part.to_owned(),
                tries,
            }),
        }
        open = continues;
    }
    if commands.is_empty() {
        return Err("no RUN line".to_owned());
    }
    if open {
        return Err("the last RUN line ends in a backslash".to_owned());
    }
    Ok(commands)
}

/// No command of a RUN line may stop reading before the one in front of it has written all: that one may then fail, or not, as
/// the times fall, and with it the line.
fn refuse_early_ends(line: &str) -> Result<(), String> {
    for part in line.split('|').skip(1) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let ends_early = match words.first() {
            Some(&"head") => true,
            Some(&"grep") => words[1..].iter().any(|word| {
                let flags = word.strip_prefix('-').unwrap_or_default();
                !flags.starts_with('-') && flags.contains(['q', 'm'])
            }),
            _ => false,
        };
        if ends_early {
            return Err(format!(
                "`{}` may end before what it reads from has written all, which then fails: use `sed -n`, or `grep` with `> /dev/null`",
                part.trim()
            ));
        }
    }
    Ok(())
}

/// Every FileCheck of a RUN line must have something to check for each of its prefixes.
fn require_checks(line: &str) -> Result<(), String> {
    for part in line.split(['|', ';', '&']) {
        let mut words = part.split_whitespace();
        if !words.any(|word| word == "FileCheck" || word.ends_with("/FileCheck")) {
            continue;
        }
        let mut prefixes = Vec::new();
        let mut file = None;
        for word in words.take_while(|word| !word.starts_with(['<', '>'])) {
            if let Some(list) = word.split_once("check-prefix").map(|(_, rest)| rest) {
                let names = list.split_once('=').map_or("", |(_, names)| names);
                prefixes.extend(names.split(',').map(str::to_owned));
            } else if !word.starts_with('-') && file.is_none() {
                file = Some(word);
            }
        }
        if prefixes.is_empty() {
            prefixes.push("CHECK".to_owned());
        }
        let file = file.ok_or_else(|| format!("FileCheck without a file: {part}"))?;
        // A file that an earlier RUN line writes is FileCheck's own business.
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        for prefix in prefixes {
            let has_check = text.match_indices(prefix.as_str()).any(|(at, _)| {
                let rest = &text[at + prefix.len()..];
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-{}".contains(c)));
                end.is_some_and(|end| rest[end..].starts_with(':'))
            });
            if !has_check {
                return Err(format!("{file} has no {prefix} line"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_continued_lines() {
        let text = "; RUN: a \\\n; RUN: | b\n// RUN: c\n";
        let found = |text| -> Vec<(String, usize)> {
            let lines = run_lines(text).unwrap().into_iter();
            lines.map(|line| (line.command, line.tries)).collect()
        };
        assert_eq!(found(text), [("a | b".to_owned(), 1), ("c".to_owned(), 1)]);
        assert_eq!(found("// RUN-ONCE-IN-5: a\n"), [("a".to_owned(), 5)]);
        assert!(run_lines("nothing").is_err());
        assert!(run_lines("; RUN: a \\").is_err());
    }

    #[test]
    fn names_what_is_missing() {
        let path = std::env::var_os("PATH").unwrap();
        let missing = |text| tools::missing(&required(text), &path).map(str::to_owned);
        assert_eq!(missing("// REQUIRES: bash libc\n"), None);
        let text = "; REQUIRES: bash\n; REQUIRES: libc no-such-command\n";
        assert_eq!(missing(text).as_deref(), Some("no-such-command"));
        let text = "; REQUIRES: libno-such\n";
        assert_eq!(missing(text).as_deref(), Some("libno-such"));
    }

    #[test]
    fn refuses_commands_that_end_early() {
        assert!(refuse_early_ends("a | sed -n 1p | cmp b - || exit 1").is_ok());
        assert!(refuse_early_ends("head -n 1 a | grep -o 'q m' | b").is_ok());
        assert!(refuse_early_ends("a 2>&1 | head -n 1 | cmp b -").is_err());
        assert!(refuse_early_ends("a | grep -cq b").is_err());
        assert!(refuse_early_ends("a | grep -m1 b").is_err());
    }

    #[test]
    fn finds_missing_checks() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.ll");
        fs::write(
            &file,
            "; CHECK-LABEL: x\n; RUN: FileCheck\n; OTHER-SAME{LITERAL}: y",
        )
        .unwrap();
        let file = file.display();
        assert!(require_checks(&format!("opt x | FileCheck {file}")).is_ok());
        assert!(require_checks(&format!("FileCheck --check-prefix=OTHER {file}")).is_ok());
        assert!(require_checks(&format!("FileCheck --check-prefix=NONE {file}")).is_err());
        assert!(require_checks("opt x | FileCheck").is_err());
    }
}
