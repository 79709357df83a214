//! `--okl-tune`: which schedules are the fastest for the loop chains of a program that leave theirs to okl, `schedule(auto)`.
//!
//! The program is built again and again, each time with other schedules in the file of schedules, which the compiler reads
//! (`told`), and run by turns with the program as it is written (`bench`). What was measured is kept in a file beside it
//! (`state`), so that the same command goes on after an interruption. However it ends, the file of schedules has the best
//! that is known by then; where nothing is, it is what it was.

mod bench;
mod candidates;
mod process;
pub(crate) mod schedules;
mod search;
mod state;
pub(crate) mod told;

#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::low_level;

use crate::arguments::{Arguments, Stage, parts};
use crate::front_step;
use crate::language::Language;
use bench::{Bench, Build};
use schedules::{AS_WRITTEN, Schedules, absolute};
use search::{BETTER, Search, Stop, written};
use state::{Outcome, State};

/// The file of schedules where nothing else is said.
const FILE: &str = "okl.schedules";
/// How the options begin.
const PREFIX: &[u8] = b"--okl-tune";

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The command that runs the program; nothing is tuned where it is empty.
    pub run: OsString,
    /// The command that builds it, where this one does not.
    pub build: Option<OsString>,
    /// What has loop chains of what that makes.
    pub programs: Vec<PathBuf>,
    /// What stands in front of the number to be made small in what the program prints.
    pub measure: Option<String>,
    /// How often programs run.
    pub runs: Option<usize>,
    /// How long all may take.
    pub limit: Option<Duration>,
    /// Whether the program may print something else.
    pub ignores_output: bool,
}

impl Asked {
    /// Reads an option behind its prefix. Returns whether it is one.
    pub fn read(&mut self, option: &str) -> bool {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) if !value.is_empty() => (name, value),
            Some(_) => return false,
            None => {
                self.ignores_output |= option == "tune-ignore-output";
                return option == "tune-ignore-output";
            }
        };
        match name {
            "tune" => self.run = value.into(),
            "tune-build" => self.build = Some(value.into()),
            "tune-program" => self.programs.push(value.into()),
            "tune-measure" => self.measure = Some(value.to_string()),
            "tune-runs" => {
                self.runs = value.parse().ok().filter(|runs| *runs > 0);
                return self.runs.is_some();
            }
            "tune-limit" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                self.limit = seconds.map(Duration::from_secs);
                return self.limit.is_some();
            }
            _ => return false,
        }
        true
    }

    fn is_anything(&self) -> bool {
        *self != Asked::default()
    }
}

/// Whether a command is to tune; an error where only parts of that are said.
pub(crate) fn is_asked_for(arguments: &Arguments) -> Result<bool, String> {
    let asked = &arguments.wishes.tune;
    // What a tuner runs does not tune, even where a file of options says so.
    if !asked.is_anything() || env::var_os(told::TOLD).is_some() {
        return Ok(false);
    }
    if asked.run.is_empty() {
        return Err("--okl-tune=COMMAND, which runs the program, is missing".to_string());
    }
    Ok(true)
}

/// Tunes.
pub(crate) fn run(
    language: &'static Language,
    arguments: &Arguments,
    words: &[OsString],
) -> Result<ExitCode, String> {
    let asked = &arguments.wishes.tune;
    if !language.headers {
        return Err(format!("{} has no loop chains to tune", language.driver));
    }
    let (build, output) = match &asked.build {
        Some(_) if !arguments.sources.is_empty() => {
            return Err(
                "--okl-tune-build=COMMAND builds the program: no inputs can be named, too"
                    .to_string(),
            );
        }
        Some(command) => (Build::Shell(command.clone()), None),
        None if arguments.stage != Stage::Link || arguments.sources.is_empty() => {
            return Err(
                "--okl-tune goes with the inputs of a whole program, or with --okl-tune-build=COMMAND, which builds it"
                    .to_string(),
            );
        }
        None => {
            let is_other = |word: &&OsString| !word.as_encoded_bytes().starts_with(PREFIX);
            let words = words.iter().filter(is_other).cloned().collect();
            let output = bench::output(&parts(&arguments.expanded[0]));
            (Build::Itself(language.driver, words), Some(output))
        }
    };
    let name = told::file(&arguments.wishes).unwrap_or_else(|| FILE.into());
    let signal = front_step::noted_signals()?;
    match search(asked, build, output, &name, &signal) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Stop::Failed(why)) => Err(why),
        Err(Stop::Limit) => Err("the time is over before anything was measured".to_string()),
        Err(Stop::Interrupted) => {
            if let Ok(signal) = i32::try_from(signal.load(Ordering::SeqCst)) {
                let _ = low_level::emulate_default_handler(signal);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Searches, writes the file of that name, and builds the program.
fn search(
    asked: &Asked,
    build: Build,
    output: Option<PathBuf>,
    name: &Path,
    signal: &Arc<AtomicUsize>,
) -> Result<(), Stop> {
    let before = fs::read(name).ok();
    let others = match &before {
        Some(_) => Schedules::read(name)?,
        None => Schedules::default(),
    };
    let mut bench = Bench::new(asked, build, absolute(name), others, Arc::clone(signal))?;
    let restore = || {
        // What cannot be restored has no schedules, or those of the loops as they are written.
        let _ = match &before {
            Some(text) => schedules::replace(name, text),
            None => fs::remove_file(name).map_err(|error| error.to_string()),
        };
    };
    let of = bench.begin(output).inspect_err(|_| restore())?;
    let chains = bench.chains.clone();
    let mut beside = absolute(name).into_os_string();
    beside.push(".tuning");
    let state = State::read(Path::new(&beside), of);
    if state.is_of_another {
        say(&format!(
            "{} is of another program, or another command: what it has does not count",
            Path::new(&beside).display()
        ));
    }
    if state.resumed > 0 {
        say(&format!(
            "goes on: {} results are known from {}",
            state.resumed,
            Path::new(&beside).display()
        ));
    }
    let earlier = bench.earlier();
    let mut search = Search::new(&chains, earlier, bench, state);
    let found = search.run().and_then(|()| confirm(&mut search));
    match &found {
        // What is built at last reads the file, which says that loops stay where there was none.
        Err(stop) if search.ratio <= 1.0 && (before.is_some() || *stop != Stop::Limit) => restore(),
        _ => search.subject.write(&search.best, &search.gains)?,
    }
    match &found {
        Ok(()) => {}
        // What is best is built all the same.
        Err(Stop::Limit) => say("the time is over; the same command goes on from here"),
        Err(stop) => {
            search.subject.place_best();
            if *stop == Stop::Interrupted {
                say(&format!(
                    "interrupted; the best so far is {:.2} x as fast as written, in {}; the same command goes on from here",
                    search.ratio,
                    name.display()
                ));
            }
            return found;
        }
    }
    // However little of the time is left.
    search.subject.end = None;
    search.subject.build_last()?;
    if found.is_ok() {
        search.state.remove();
    }
    for (chain, schedule) in chains.iter().zip(&search.best) {
        say(&written(chain, schedule));
    }
    say(&format!(
        "{:.2} x as fast as written; the schedules are in {name}, for --okl-schedules={name}",
        search.ratio,
        name = name.display()
    ));
    Ok(())
}

/// Measures the best once more, as the luckiest of many is not the best; what is not faster then stays as it is written.
fn confirm(search: &mut Search<Bench>) -> Result<(), Stop> {
    if search.best.iter().all(|one| one == AS_WRITTEN) {
        return Ok(());
    }
    let outcome = search.subject.confirm(&search.best, &search.gains)?;
    match outcome {
        Outcome::Ratio(ratio) if ratio > BETTER => {
            let changed = search.best.iter().filter(|one| *one != AS_WRITTEN).count();
            let part = (ratio / search.ratio).powf(1.0 / changed as f64);
            for (gain, schedule) in search.gains.iter_mut().zip(&search.best) {
                *gain *= if schedule == AS_WRITTEN { 1.0 } else { part };
            }
            search.ratio = ratio;
        }
        _ => {
            say("what seemed to be the best is not faster than the loops as they are written");
            search.best.fill(AS_WRITTEN.to_string());
            search.gains.fill(1.0);
            search.ratio = 1.0;
        }
    }
    Ok(())
}

/// Tells the user.
fn say(text: &str) {
    eprintln!("okl-tune: {text}");
}
