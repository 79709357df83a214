//! Building a program with schedules, and running it by turns with the program as it is written.
//!
//! A program counts only where it ends well, in time, and prints what the program as it is written prints.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};
use std::{env, fs};

use super::process::{Ended, Limits, run, shell};
use super::schedules::{AS_WRITTEN, Entry, Schedules, number_of};
use super::search::{Stop, Subject};
use super::state::Outcome;
use super::told::{self, Seen};
use super::{Asked, say};

/// How often a program and the one as it is written run by turns.
const RUNS: usize = 5;
/// A program may take so many times as long as it does as it is written, and a second.
const PATIENCE: u32 = 5;
/// Nor does a build go on for ever.
const BUILD_PATIENCE: u32 = 10;
const BUILD_AT_LEAST: Duration = Duration::from_secs(120);
/// What is slower than the best by that is not run more often: after one run, after two, and after more.
const SURELY_SLOWER: [f64; 3] = [0.5, 0.75, 0.95];
/// Shorter runs say little.
const SHORT: f64 = 0.05;
/// What the pass says of chains that it leaves alone.
const LEFT_ALONE: [&str; 2] = [
    "the loop chain stays as it is",
    "the loops stay in the order in which they are written",
];

/// How the program is built.
pub(crate) enum Build {
    /// By this driver, called by that name, with these words.
    Itself(&'static str, Vec<OsString>),
    /// By a command of the shell.
    Shell(OsString),
}

/// A program that is built and run.
pub(crate) struct Bench<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) build: Build,
    /// The file of schedules, from the root.
    pub(crate) file: PathBuf,
    /// What is in it for chains of other programs.
    pub(crate) others: Schedules,
    pub(crate) signal: Arc<AtomicUsize>,
    pub(crate) end: Option<Instant>,
    /// The chains that are tuned.
    pub(crate) chains: Vec<Seen>,
    /// What the build makes.
    programs: Vec<PathBuf>,
    /// Copies of it.
    folder: tempfile::TempDir,
    /// What came of programs, by their bytes.
    known: HashMap<u64, Outcome>,
    /// What the compiler says of chains that have schedules of their own.
    warnings: Vec<String>,
    /// How the program as it is written runs.
    written: Option<Written>,
}

struct Written {
    output: Vec<u8>,
    time: Duration,
    build: Duration,
}

/// Copies of what the build makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    Written,
    Candidate,
    Best,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        asked: &'a Asked,
        build: Build,
        file: PathBuf,
        others: Schedules,
        signal: Arc<AtomicUsize>,
    ) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("okl-tune-").tempdir();
        let folder = folder.map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        Ok(Bench {
            asked,
            build,
            file,
            others,
            signal,
            end: asked.limit.map(|limit| Instant::now() + limit),
            chains: Vec::new(),
            programs: Vec::new(),
            folder,
            known: HashMap::new(),
            warnings: Vec::new(),
            written: None,
        })
    }

    /// Builds and runs the program as it is written. Returns the number of all that its results depend on.
    pub(crate) fn begin(&mut self, output: Option<PathBuf>) -> Result<u64, Stop> {
        // Whatever it has for these chains.
        Schedules::default().write(&self.file)?;
        let built = self.build(false)?;
        if let Some(failure) = built.failure() {
            let text = [built.output, built.errors].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(Stop::Failed(format!(
                "the program cannot be built: what builds it {failure}\n{}",
                text.trim_end()
            )));
        }
        let text = [&built.output[..], &built.errors].concat();
        self.warnings = left_alone(&text);
        let all = self.told()?;
        for one in all.iter().filter(|one| !one.is_auto) {
            say(&format!(
                "{} has a schedule of its own, which stays",
                one.place
            ));
        }
        self.chains = all.into_iter().filter(|one| one.is_auto).collect();
        if self.chains.is_empty() {
            let more = match self.build {
                Build::Itself(..) => "",
                Build::Shell(_) => {
                    ", and the build has to compile their files again (`make clean all`, say)"
                }
            };
            return Err(Stop::Failed(format!(
                "no loop chain with schedule(auto) was compiled: chains that are to be tuned have it{more}"
            )));
        }
        self.programs = self.find_programs(output)?;
        let number = self.keep(Copy::Written)?;
        self.known.insert(number, Outcome::Ratio(1.0));
        let first = self.run(None)?;
        if let Some(why) = self.wrong(&first) {
            let errors = String::from_utf8_lossy(&first.errors).into_owned();
            return Err(Stop::Failed(format!(
                "the program as it is written cannot be measured: it {why}\n{}",
                errors.trim_end()
            )));
        }
        let output = self.compared(&first.output);
        let time = first.time;
        self.written = Some(Written {
            output,
            time,
            build: built.time,
        });
        let second = self.run(None)?;
        if let Some(why) = self.wrong(&second) {
            return Err(Stop::Failed(format!(
                "the program as it is written does not do the same each time: it {why}; --okl-tune-ignore-output does not \
                 look at what it prints, and --okl-tune-measure=TEXT not at the line that has TEXT"
            )));
        }
        if let Some(written) = &mut self.written {
            written.time = time.min(second.time);
        }
        let seconds = self.cost(&second).unwrap_or_default();
        let chains: Vec<_> = self
            .chains
            .iter()
            .map(|one| one.place.to_string())
            .collect();
        say(&match &self.asked.measure {
            Some(text) => format!("{}: as written, {text} {seconds}", chains.join(", ")),
            None => format!("{}: as written, {seconds:.3} s a run", chains.join(", ")),
        });
        if self.asked.measure.is_none() && seconds < SHORT {
            say("such short runs say little: let the program do more");
        }
        let chains = self.chains.iter().map(|one| format!("{one:?}"));
        // How long it may take changes nothing.
        let asked = Asked {
            limit: None,
            ..self.asked.clone()
        };
        let asked = format!("{asked:?} {:?}", chains.collect::<Vec<_>>());
        Ok(number_of(asked.as_bytes()) ^ number.rotate_left(1))
    }

    /// What the build makes and the command runs.
    fn find_programs(&self, output: Option<PathBuf>) -> Result<Vec<PathBuf>, String> {
        let mut all: Vec<PathBuf> = output.into_iter().collect();
        all.extend(self.asked.programs.iter().cloned());
        if all.is_empty() {
            let here = env::current_dir().and_then(|here| here.canonicalize());
            let here = here.map_err(|error| format!("cannot tell where this is: {error}"))?;
            let text = self.asked.run.to_string_lossy();
            let is_word_end = |one: char| one.is_whitespace() || "'\"();&|<>".contains(one);
            for word in text.split(is_word_end).filter(|word| !word.is_empty()) {
                let file = Path::new(word).canonicalize().unwrap_or_default();
                let begins =
                    |file: &Path| fs::read(file).is_ok_and(|text| text.starts_with(b"\x7fELF"));
                if file.starts_with(&here) && begins(&file) && !all.contains(&file) {
                    all.push(file);
                }
            }
        }
        if all.is_empty() {
            return Err(
                "no word of the command that runs the program is a program in this folder: name what the build makes, and \
                 has loop chains, with --okl-tune-program=FILE"
                    .to_string(),
            );
        }
        if let Some(missing) = all.iter().find(|one| !one.is_file()) {
            return Err(format!("the build does not make {}", missing.display()));
        }
        Ok(all)
    }

    /// What the file has had for the chains.
    pub(crate) fn earlier(&self) -> Vec<Option<String>> {
        let of_chain = |chain: &Seen| {
            let all = self.others.entries.iter();
            let mut same = all.filter(|one| {
                one.place.file == chain.place.file && one.place.text == chain.place.text
            });
            // Several may have the same text.
            let here = same.clone().find(|one| one.place.line == chain.place.line);
            here.or_else(|| same.next()).map(|one| one.schedule.clone())
        };
        self.chains.iter().map(of_chain).collect()
    }

    /// Entries for schedules.
    pub(crate) fn entries(&self, schedules: &[String], gains: &[f64]) -> Vec<Entry> {
        let all = self.chains.iter().zip(schedules).zip(gains);
        let entry = |((chain, schedule), ratio): ((&Seen, &String), &f64)| Entry {
            place: chain.place.clone(),
            ratio: *ratio,
            schedule: schedule.clone(),
        };
        all.map(entry).collect()
    }

    /// Writes the file of schedules.
    pub(crate) fn write(&self, schedules: &[String], gains: &[f64]) -> Result<(), String> {
        let mut all = self.others.clone();
        all.put(self.entries(schedules, gains));
        all.write(&self.file)
    }

    fn told_file(&self) -> PathBuf {
        self.folder.path().join("chains")
    }

    /// The chains that the last build has compiled.
    fn told(&self) -> Result<Vec<Seen>, Stop> {
        let text = fs::read_to_string(self.told_file()).unwrap_or_default();
        let all =
            Seen::all(&text).ok_or_else(|| "the build runs another version of okl".to_string())?;
        if let Some(other) = all.iter().find(|one| one.reads != self.file) {
            return Err(Stop::Failed(format!(
                "the build reads schedules from {}: say --okl-schedules={0} here, too",
                other.reads.display()
            )));
        }
        Ok(all)
    }

    /// Builds the program; unless that is the last time, what compiles it tells which chains there are.
    fn build(&self, is_last: bool) -> Result<Ended, Stop> {
        let _ = fs::remove_file(self.told_file());
        let mut command = match &self.build {
            Build::Itself(name, words) => {
                let itself = env::current_exe()
                    .map_err(|error| format!("cannot tell where this program is: {error}"))?;
                let mut command = Command::new(itself);
                command.arg0(name).args(words);
                command
            }
            Build::Shell(text) => shell(text),
        };
        command.env(told::FILE, &self.file);
        if !is_last {
            command.env(told::TOLD, self.told_file());
            // So that programs that do the same are the same.
            if env::var_os("SOURCE_DATE_EPOCH").is_none() {
                command.env("SOURCE_DATE_EPOCH", "0");
            }
        }
        let written = self.written.as_ref().map(|written| written.build);
        self.command(
            command,
            written.map(|time| BUILD_AT_LEAST + time * BUILD_PATIENCE),
        )
    }

    /// Builds the program for the user.
    pub(crate) fn build_last(&mut self) -> Result<(), Stop> {
        let built = self.build(true)?;
        let text = [&built.output[..], &built.errors].concat();
        eprint!("{}", String::from_utf8_lossy(&text));
        match built.failure() {
            Some(failure) => Err(Stop::Failed(format!("what builds the program {failure}"))),
            None => Ok(()),
        }
    }

    fn command(&self, command: Command, longest: Option<Duration>) -> Result<Ended, Stop> {
        run(
            command,
            &Limits {
                signal: &self.signal,
                end: self.end,
                longest,
            },
        )
    }

    /// Runs the program, the copy of that name, where it is not there already.
    fn run(&self, copy: Option<Copy>) -> Result<Ended, Stop> {
        if let Some(copy) = copy {
            self.place(copy)?;
        }
        let longest = self
            .written
            .as_ref()
            .map(|written| Duration::from_secs(1) + written.time * PATIENCE);
        self.command(shell(&self.asked.run), longest)
    }

    fn copy(&self, copy: Copy, number: usize) -> PathBuf {
        self.folder.path().join(format!("{copy:?}-{number}"))
    }

    /// Keeps what the build has made. Returns the number of its bytes.
    fn keep(&self, copy: Copy) -> Result<u64, String> {
        let mut number = 0;
        for (at, program) in self.programs.iter().enumerate() {
            let failed = |error| format!("cannot copy {}: {error}", program.display());
            fs::copy(program, self.copy(copy, at)).map_err(failed)?;
            let text = fs::read(program).map_err(failed)?;
            number = number_of(&text) ^ u64::rotate_left(number, 7);
        }
        Ok(number)
    }

    /// Puts copies where the program is.
    fn place(&self, copy: Copy) -> Result<(), String> {
        for (at, program) in self.programs.iter().enumerate() {
            let mut beside = program.clone().into_os_string();
            beside.push(".okl-tune");
            let copied = fs::copy(self.copy(copy, at), &beside);
            let placed = copied.and_then(|_| fs::rename(&beside, program));
            placed.map_err(|error| format!("cannot write {}: {error}", program.display()))?;
        }
        Ok(())
    }

    /// Puts the best program that is known where the program is.
    pub(crate) fn place_best(&self) {
        // It is built with the schedules of the file anyway.
        let _ = match self.copy(Copy::Best, 0).exists() {
            true => self.place(Copy::Best),
            false => self.place(Copy::Written),
        };
    }

    /// The time of a run, or what the program says that it costs.
    fn cost(&self, ended: &Ended) -> Result<f64, String> {
        let Some(text) = &self.asked.measure else {
            return Ok(ended.time.as_secs_f64());
        };
        let output = String::from_utf8_lossy(&ended.output);
        let line = output
            .lines()
            .rev()
            .find_map(|line| line.split_once(&**text));
        let Some((_, behind)) = line else {
            return Err(format!("prints no line with '{text}'"));
        };
        let is_end = |one: char| one.is_whitespace() || ",;:=".contains(one);
        let word = behind
            .split(is_end)
            .find(|word| !word.is_empty())
            .unwrap_or("");
        let is_of_number = |one: char| one.is_ascii_digit() || ".eE+-".contains(one);
        let number = &word[..word.find(|one| !is_of_number(one)).unwrap_or(word.len())];
        let number = number
            .parse()
            .ok()
            .filter(|one: &f64| one.is_finite() && *one > 0.0);
        number.ok_or_else(|| format!("prints no number above 0 behind '{text}'"))
    }

    /// What of an output has to stay the same.
    fn compared(&self, output: &[u8]) -> Vec<u8> {
        if self.asked.ignores_output {
            return Vec::new();
        }
        let Some(text) = &self.asked.measure else {
            return output.to_vec();
        };
        let lines = output.split_inclusive(|byte| *byte == b'\n');
        let others = lines.filter(|line| !String::from_utf8_lossy(line).contains(&**text));
        others.flatten().copied().collect()
    }

    /// Why a run does not count.
    fn wrong(&self, ended: &Ended) -> Option<String> {
        if let Some(failure) = ended.failure() {
            return Some(failure);
        }
        if let Err(why) = self.cost(ended) {
            return Some(why);
        }
        let written = &self.written.as_ref()?.output;
        let output = self.compared(&ended.output);
        (output != *written).then(|| {
            let [output, written] = [&output, written].map(|one| String::from_utf8_lossy(one));
            let mut lines = output.lines().zip(written.lines());
            match lines.find(|(one, other)| one != other) {
                Some((one, other)) => format!("prints '{one}' in place of '{other}'"),
                None => "prints more or less".to_string(),
            }
        })
    }

    /// The median of what runs by turns say.
    fn ratio(&self, to_beat: f64) -> Result<Outcome, Stop> {
        let mut ratios: Vec<f64> = Vec::new();
        let runs = self.asked.runs.unwrap_or(RUNS);
        for turn in 0..runs {
            let mut costs = [0.0; 2];
            let mut order = [Copy::Candidate, Copy::Written];
            order.rotate_left(turn % 2);
            for copy in order {
                let ended = self.run(Some(copy))?;
                if let Some(why) = self.wrong(&ended) {
                    if copy == Copy::Candidate {
                        return Ok(Outcome::Dropped(why));
                    }
                    return Err(Stop::Failed(format!("the program as it is written {why}")));
                }
                costs[usize::from(copy == Copy::Written)] = self.cost(&ended)?;
            }
            ratios.push(costs[1] / costs[0]);
            ratios.sort_by(f64::total_cmp);
            if median(&ratios) < to_beat * SURELY_SLOWER[turn.min(2)] {
                break;
            }
        }
        Ok(Outcome::Ratio(median(&ratios)))
    }

    /// Measures the program that is known to be the best once more.
    pub(crate) fn confirm(&mut self, schedules: &[String], gains: &[f64]) -> Result<Outcome, Stop> {
        self.write(schedules, gains)?;
        if !self.copy(Copy::Best, 0).exists() {
            let built = self.build(false)?;
            if let Some(failure) = built.failure() {
                return Ok(Outcome::Refused(failure));
            }
            self.keep(Copy::Best)?;
        }
        self.place(Copy::Best)?;
        self.keep(Copy::Candidate)?;
        self.ratio(0.0)
    }
}

impl Subject for Bench<'_> {
    fn measure(&mut self, schedules: &[String], to_beat: f64) -> Result<Outcome, Stop> {
        self.write(schedules, &vec![1.0; schedules.len()])?;
        let built = self.build(false)?;
        let bytes = [&built.output[..], &built.errors].concat();
        let text = String::from_utf8_lossy(&bytes);
        if let Some(failure) = built.failure() {
            let error = text.lines().find(|line| line.contains("error:"));
            let error = error.map_or(failure, |line| line.trim().to_string());
            return Ok(Outcome::Refused(error));
        }
        let told = self.told()?;
        if let Some(missing) = self.chains.iter().zip(schedules).find(|(chain, schedule)| {
            *schedule != AS_WRITTEN && !told.iter().any(|one| one.place == chain.place)
        }) {
            return Err(Stop::Failed(format!(
                "the build does not compile {} again when the schedules change: it has to do so each time (`make clean all`, \
                 say), or to know it from files of dependencies (-MD), which name the file of schedules",
                missing.0.place.file.display()
            )));
        }
        let mut warnings = left_alone(&bytes).into_iter();
        if let Some(line) = warnings.find(|line| !self.warnings.contains(line)) {
            return Ok(Outcome::Refused(line));
        }
        let number = self.keep(Copy::Candidate)?;
        if let Some(known) = self.known.get(&number) {
            return Ok(known.clone());
        }
        let outcome = self.ratio(to_beat)?;
        self.known.insert(number, outcome.clone());
        Ok(outcome)
    }

    fn is_best(&mut self, is_there: bool) -> Result<(), Stop> {
        for at in 0..self.programs.len() {
            if !is_there {
                // An older one would be taken for it.
                let _ = fs::remove_file(self.copy(Copy::Best, at));
                continue;
            }
            let copied = fs::copy(self.copy(Copy::Candidate, at), self.copy(Copy::Best, at));
            copied.map_err(|error| format!("cannot copy a program: {error}"))?;
        }
        Ok(())
    }

    fn tell(&mut self, text: &str) {
        say(text);
    }
}

/// What the compiler says of chains that it leaves alone.
fn left_alone(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let is_one = |line: &&str| LEFT_ALONE.iter().any(|one| line.contains(one));
    let lines = text.lines().filter(is_one);
    lines.map(|line| line.trim().to_string()).collect()
}

/// Of numbers that are sorted.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// What a command calls its program.
pub(crate) fn output(parts: &[crate::arguments::Part]) -> PathBuf {
    let named = parts.iter().rev().find_map(crate::okl_inputs::output);
    named.unwrap_or_else(|| OsStr::from_bytes(b"a.out")).into()
}
