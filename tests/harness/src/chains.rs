//! Programs with loop chains (`#pragma omplc`): whatever its schedule, a program prints what it prints without okl, or is refused
//! with an error that has a place.
//!
//! A program's opening comment says, beside text:
//!
//! | directive | meaning |
//! |---|---|
//! | `flags: ...` | more compiler flags |
//! | `variants: A B` | it is also another program with `-DA`, and with `-DB` |
//! | `later: A B` | the same, but of what okl does not know yet: they run with `--later` |
//! | `schedules: 0 1 2` | with `-DSCHEDULE=` each of these it compiles |
//! | `schedules later: 3` | with these it does with `--later`, and is not tried without |
//! | `refused: 90 91` | with these it does not |
//! | `refused later: 92` | with these it does not with `--later`, and is not tried without |
//! | `says 90: text` | what the error says then |
//!
//! | target | how it is built and run |
//! |---|---|
//! | `cpu` | on one thread and on three |
//! | `mpi` | on two ranks and on three, which share all regions |
//! | `cuda-emulated` | on the machine that executes PTX |

pub(crate) mod fused;
pub(crate) mod random;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::Common;
use crate::compare::difference;
use crate::directives::Comparison;
use crate::jobs::{self, Outcome, Tally};
use crate::lines::short_name;
use crate::process::{self, End, Finished, command_line};
use crate::tools::{Language, Tools, is_source};

const LIMIT: Duration = Duration::from_secs(120);
/// The number of `schedule(auto)`.
const AUTO: u32 = 1;
/// The environment variable that has the compiler take chains for large, of which those of tests are none: with `auto` both are
/// tried on the processor.
const LARGE: &str = "OKL_CHAINS_LARGE";
const TARGETS: [&str; 3] = ["cpu", "mpi", "cuda-emulated"];

/// A program, in one of its variants.
#[derive(Clone, Debug, Default, PartialEq)]
struct Program {
    path: PathBuf,
    flags: Vec<String>,
    variants: Vec<String>,
    later: Vec<String>,
    schedules: Vec<u32>,
    schedules_later: Vec<u32>,
    refused: Vec<u32>,
    refused_later: Vec<u32>,
    says: Vec<(u32, String)>,
}

/// Runs the programs at or below `paths`, each variant of each with all of its schedules; where `is_later`, also the variants of
/// what okl does not know yet.
pub(crate) fn run(
    paths: &[PathBuf],
    wanted: &[String],
    is_later: bool,
    common: &Common,
) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    if let Some(unknown) = wanted.iter().find(|one| !TARGETS.contains(&one.as_str())) {
        return Err(format!("there is no target {unknown}"));
    }
    let targets: Vec<&str> = match wanted {
        [] => vec!["cpu"],
        some => some.iter().map(String::as_str).collect(),
    };
    let mut files = Vec::new();
    for path in paths {
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        collect(&path.canonicalize().map_err(told)?, &mut files).map_err(told)?;
    }
    files.sort();
    let filter = common.filter.as_deref().unwrap_or("");
    let mut tests = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let mut program = Program::of(file, &text)?;
        if is_later {
            program.variants.append(&mut program.later);
            program.schedules.append(&mut program.schedules_later);
            program.refused.append(&mut program.refused_later);
        }
        let variants = program.variants.iter().map(|one| vec![format!("-D{one}")]);
        for variant in std::iter::once(Vec::new()).chain(variants) {
            let name = format!("{} {}", short_name(&program.path), variant.join(" "));
            if name.contains(filter) {
                let mut program = program.clone();
                program.flags.extend(variant);
                tests.push((name.trim_end().to_owned(), program));
            }
        }
    }
    let folder = common.folder()?;
    Ok(jobs::run_all(
        &tests,
        common.jobs,
        |(name, _)| name.clone(),
        |(name, program)| {
            let own = folder.path().join(name.replace(['/', ' '], "_"));
            let language = Language::of(&program.path).unwrap_or(Language::C);
            if let Some(why) = tools.lacks(language) {
                return Outcome::Skipped(why);
            }
            match check_all(program, &tools, &targets, &own) {
                Ok((passed, failed)) => Outcome::Several(passed, failed),
                Err(why) => Outcome::Failed(why),
            }
        },
    ))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if is_source(path) {
        files.push(path.to_owned());
    }
    Ok(())
}

impl Program {
    /// What the comment that a file begins with says.
    fn of(path: PathBuf, text: &str) -> Result<Self, String> {
        let mut program = Self {
            path,
            ..Self::default()
        };
        let begins = ["//", "!"];
        let comment = text
            .lines()
            .map_while(|line| begins.iter().find_map(|one| line.strip_prefix(one)));
        for (key, value) in comment.filter_map(|line| line.trim().split_once(": ")) {
            let words = || value.split_whitespace().map(str::to_owned);
            let numbers = || {
                let all: Result<Vec<u32>, _> = words().map(|word| word.parse()).collect();
                all.map_err(|error| format!("{}: {key}: {error}", program.path.display()))
            };
            match key {
                "flags" => program.flags = words().collect(),
                "variants" => program.variants = words().collect(),
                "later" => program.later = words().collect(),
                "schedules" => program.schedules = numbers()?,
                "schedules later" => program.schedules_later = numbers()?,
                "refused" => program.refused = numbers()?,
                "refused later" => program.refused_later = numbers()?,
                _ => {
                    let number = key.strip_prefix("says ").and_then(|one| one.parse().ok());
                    program
                        .says
                        .extend(number.map(|number| (number, value.to_owned())));
                }
            }
        }
        match program.schedules.is_empty() && program.schedules_later.is_empty() {
            true => Err(format!("{}: no schedules", program.path.display())),
            false => Ok(program),
        }
    }

    /// Each level with half of the schedules.
    fn level(schedule: u32) -> &'static [&'static str] {
        match schedule % 2 {
            0 => &["-O2"],
            _ => &["-O0", "-g"],
        }
    }
}

/// How many schedules are as they should be, and what is wrong with the others.
fn check_all(
    program: &Program,
    tools: &Tools,
    targets: &[&str],
    folder: &Path,
) -> Result<(usize, Vec<String>), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let language = Language::of(&program.path).unwrap_or(Language::C);
    let driver = match language {
        Language::Fortran => "okl-fc",
        Language::Cxx => "okl-c++",
        _ => "okl-cc",
    };
    let built = Built {
        source: &program.path,
        flags: &program.flags,
        folder,
    };
    let mut expected = Vec::new();
    for level in [0, 1] {
        let mut compile = tools.compiler(language);
        compile.args(Program::level(level)).arg("-fopenmp");
        expected.push(built.prints(&mut compile)?);
    }
    let (mut passed, mut failed) = (0, Vec::new());
    for &schedule in program.schedules.iter().chain(&program.refused) {
        let result = if program.refused.contains(&schedule) {
            let says = program.says.iter().find(|(number, _)| *number == schedule);
            let mut compile = tools.driver(driver);
            compile.args(Program::level(schedule));
            compile.arg(format!("-DSCHEDULE={schedule}"));
            built.refused(&mut compile).and_then(|said| match says {
                Some((_, wanted)) if !said.contains(wanted) => {
                    Err(format!("the error is not '{wanted}', but\n{said}"))
                }
                _ => Ok(()),
            })
        } else {
            let sizes = |target: &str| match (schedule, target) {
                (AUTO, "cpu") => &[true, false][..],
                _ => &[false],
            };
            let all = targets.iter();
            let mut all = all.flat_map(|target| sizes(target).iter().map(move |one| (target, one)));
            all.try_for_each(|(target, &is_large)| {
                let mut compile = tools.driver(driver);
                compile.args(Program::level(schedule));
                compile.arg(format!("-DSCHEDULE={schedule}"));
                if is_large {
                    compile.env(LARGE, "1");
                }
                let expected = &expected[schedule as usize % 2];
                built.is_same(&mut compile, target, expected).map(drop)
            })
        };
        match result {
            Ok(()) => passed += 1,
            Err(why) => failed.push(format!("schedule {schedule}: {why}")),
        }
    }
    Ok((passed, failed))
}

/// A source, and where it is built.
struct Built<'a> {
    source: &'a Path,
    flags: &'a [String],
    folder: &'a Path,
}

impl Built<'_> {
    fn compile(&self, compiler: &mut Command) -> Result<Finished, String> {
        // What a device contracts has other bits.
        compiler
            .args(["-fopenmp", "-w", "-ffp-contract=off"])
            .args(self.flags);
        compiler.arg(self.source).args(["-o", "program", "-lm"]);
        process::run(compiler, self.folder, "", LIMIT)
    }

    /// What the program prints without okl.
    fn prints(&self, compiler: &mut Command) -> Result<String, String> {
        let done = self.compile(compiler)?;
        finished(compiler, done)?;
        let mut start = Command::new(self.folder.join("program"));
        start.env("OMP_NUM_THREADS", "2");
        let done = process::run(&mut start, self.folder, "", LIMIT)?;
        finished(&start, done)
    }

    /// The errors that the compiler tells of, each with a place.
    fn refused(&self, compiler: &mut Command) -> Result<String, String> {
        let done = self.compile(compiler)?;
        let how = command_line(compiler);
        if done.end == End::Exit(0) {
            return Err(format!("it is not refused: {how}"));
        }
        let is_error = |line: &str| {
            let place = match (line.strip_prefix("error: "), line.split_once(": error: ")) {
                // What flang is told of it has no place of its own.
                (Some(line), _) => line.split_once(": ").map_or(line, |(place, _)| place),
                (None, Some((place, _))) => place,
                (None, None) => return false,
            };
            let numbers = place.rsplit(':').take(2);
            numbers.clone().count() == 2
                && numbers.into_iter().all(|one| one.parse::<u32>().is_ok())
        };
        let errors: Vec<&str> = done.stderr.lines().filter(|line| is_error(line)).collect();
        match done.end {
            End::Exit(1) if !errors.is_empty() => Ok(errors.join("\n")),
            end => Err(format!(
                "{end}, without an error that has a place: {how}\n{}",
                done.stderr
            )),
        }
    }

    /// Whether okl's program prints the same, however it is run. What the compiler says.
    fn is_same(
        &self,
        compiler: &mut Command,
        target: &str,
        expected: &str,
    ) -> Result<String, String> {
        compiler.arg(match target {
            "mpi" => "--okl-target=mpi",
            "cuda-emulated" => "--okl-target=cuda,cpu",
            _ => "--okl-target=cpu",
        });
        let done = self.compile(compiler)?;
        let told = done.stderr.clone();
        finished(compiler, done)?;
        for start in &mut self.starts(target) {
            start.env("OMP_WAIT_POLICY", "passive");
            let done = process::run(start, self.folder, "", LIMIT)?;
            let found = finished(start, done)?;
            if let Some(why) = difference(expected, &found, Comparison::Exact) {
                return Err(format!(
                    "{}\n{}\n{why}",
                    command_line(compiler),
                    command_line(start)
                ));
            }
        }
        Ok(told)
    }

    fn starts(&self, target: &str) -> Vec<Command> {
        let program = self.folder.join("program");
        let with = |name: &str, value: &str| {
            let mut start = Command::new(&program);
            start.env(name, value);
            start
        };
        match target {
            "mpi" => [2, 3]
                .map(|ranks| {
                    let mut start = process::on_ranks(&program, ranks);
                    start.env("OMP_NUM_THREADS", "1");
                    start.env("OKL_REGIONS_ALONE", "0");
                    start
                })
                .into(),
            "cuda-emulated" => vec![with("OKL_BACKEND", "cuda-emulated")],
            _ => ["1", "3"]
                .map(|threads| with("OMP_NUM_THREADS", threads))
                .into(),
        }
    }
}

/// What a command printed, if it went well.
fn finished(command: &Command, done: Finished) -> Result<String, String> {
    match done.end {
        End::Exit(0) => Ok(done.stdout),
        end => Err(format!(
            "{end}: {}\n{}{}",
            command_line(command),
            done.stdout,
            done.stderr
        )),
    }
}

/// Checks the random program of each seed, which `options` and the seed print again; for how many of them that said yes.
fn each_seed(
    seeds: Range<u64>,
    common: &Common,
    options: &str,
    program: fn(u64) -> String,
    check: fn(u64, &Tools, &Path) -> Result<bool, String>,
) -> Result<(Tally, usize), String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let folder = common.folder()?;
    let said = AtomicUsize::new(0);
    let seeds: Vec<u64> = seeds.collect();
    let tally = jobs::run_all(
        &seeds,
        common.jobs,
        |seed| format!("chains {options}--count 1 --seed {seed}"),
        |&seed| match check(seed, &tools, &folder.path().join(seed.to_string())) {
            Ok(yes) => {
                said.fetch_add(usize::from(yes), Ordering::Relaxed);
                Outcome::Passed
            }
            Err(why) => Outcome::Failed(format!("{why}\n{}", program(seed))),
        },
    );
    Ok((tally, said.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_how_it_is_tested() {
        let text = "// flags: -lm\n// schedules: 0 1\n// refused: 90\n// says 90: a: b\n//\n// Text: more.\n\n// schedules: 7\n";
        let program = Program::of(PathBuf::from("a.c"), text).expect("a program");
        assert_eq!(program.schedules, [0, 1]);
        assert_eq!(program.refused, [90]);
        assert_eq!(program.says, [(90, "a: b".to_owned())]);
        assert_eq!(program.flags, ["-lm"]);
        assert!(Program::of(PathBuf::from("a.c"), "// text\n").is_err());
    }
}
