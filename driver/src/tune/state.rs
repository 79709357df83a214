//! What a tuner has measured, in a file beside that of the schedules, so that it goes on where it was interrupted.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::schedules::replace;

/// The form of the file.
const VERSION: u64 = 1;

/// What came of a schedule for each chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// How many times as fast the program is as it is written.
    Ratio(f64),
    /// The compiler does not do it; why.
    Refused(String),
    /// The program is no longer what it was; why.
    Dropped(String),
}

/// What has been measured.
pub(crate) struct State {
    file: PathBuf,
    /// What all of that is of.
    of: u64,
    results: HashMap<Vec<String>, Outcome>,
    /// How many results there were when it was read.
    pub(crate) resumed: usize,
    /// Whether there was a file that says nothing of this program.
    pub(crate) is_of_another: bool,
}

impl State {
    /// What is known of a program, which `of` is the number of; nothing, where what the file has is of another one.
    pub(crate) fn read(file: &Path, of: u64) -> State {
        let text = fs::read_to_string(file).unwrap_or_default();
        let results = parse(&text, of);
        let is_of_another = results.is_none() && !text.is_empty();
        let results = results.unwrap_or_default();
        State {
            file: file.to_owned(),
            of,
            resumed: results.len(),
            is_of_another,
            results,
        }
    }

    pub(crate) fn get(&self, schedules: &[String]) -> Option<&Outcome> {
        self.results.get(schedules)
    }

    pub(crate) fn put(&mut self, schedules: &[String], outcome: Outcome) -> Result<(), String> {
        self.results.insert(schedules.to_vec(), outcome);
        let results = self.results.iter().map(|(schedules, outcome)| {
            let [mut ratio, mut refused, mut dropped] = [const { Value::Null }; 3];
            match outcome {
                Outcome::Ratio(number) => ratio = json!(number),
                Outcome::Refused(why) => refused = json!(why),
                Outcome::Dropped(why) => dropped = json!(why),
            }
            json!({"schedules": schedules, "ratio": ratio, "refused": refused, "dropped": dropped})
        });
        let results = Value::Array(results.collect());
        let all = json!({"okl tuning": VERSION, "of": self.of, "results": results});
        replace(&self.file, format!("{all:#}\n").as_bytes())
    }

    /// All has been measured.
    pub(crate) fn remove(&self) {
        // What stays is of this very program.
        let _ = fs::remove_file(&self.file);
    }
}

fn parse(text: &str, of: u64) -> Option<HashMap<Vec<String>, Outcome>> {
    let all: Value = serde_json::from_str(text).ok()?;
    if all["okl tuning"].as_u64()? != VERSION || all["of"].as_u64()? != of {
        return None;
    }
    let word = |one: &Value| Some(one.as_str()?.to_string());
    let result = |one: &Value| {
        let schedules = one["schedules"].as_array()?.iter().map(word);
        let refused = || word(&one["refused"]).map(Outcome::Refused);
        let dropped = || word(&one["dropped"]).map(Outcome::Dropped);
        let ratio = one["ratio"].as_f64().map(Outcome::Ratio);
        Some((
            schedules.collect::<Option<_>>()?,
            ratio.or_else(refused).or_else(dropped)?,
        ))
    };
    all["results"].as_array()?.iter().map(result).collect()
}
