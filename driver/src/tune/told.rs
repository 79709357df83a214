//! What commands that compile know of schedules: the file that they read, and the tuner that is told of their chains.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use okl_chains::pragma::{LoopPragma, Position};
use serde_json::{Value, json};

use super::candidates::outer_shifts;
use super::schedules::{Choice, Place, Schedules, absolute, number_of};
use crate::arguments::Wishes;

/// The environment variable that names the file where no option does.
pub(crate) const FILE: &str = "OKL_SCHEDULES";
/// That which names the file in which a tuner is told of chains.
pub(crate) const TOLD: &str = "OKL_TUNE_CHAINS";

/// A file of schedules that a command reads.
pub(crate) struct Tuned {
    name: PathBuf,
    schedules: Schedules,
    /// Where a tuner is told.
    told: Option<PathBuf>,
    /// The chains whose schedules come from the file.
    used: RefCell<Vec<String>>,
}

impl Tuned {
    /// What a command reads, if it does.
    pub(crate) fn of(wishes: &Wishes) -> Result<Option<Tuned>, String> {
        let Some(name) = file(wishes) else {
            return Ok(None);
        };
        Ok(Some(Tuned {
            schedules: Schedules::read(&name)?,
            told: std::env::var_os(TOLD).map(PathBuf::from),
            used: RefCell::default(),
            name,
        }))
    }

    /// The file, as it is named.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// What a chain runs as whose `auto` is at a place, and whose text that is; tells the programmer of a chain that has changed.
    pub(crate) fn choice(&self, file: &str, line: u32, text: &str, auto: Position) -> Choice {
        let place = place(file, line, text);
        let choice = self.schedules.choice(&place, auto);
        match &choice {
            Choice::Changed(why) => eprintln!(
                "{file}:{line}:{}: warning: {why}: it runs with its own schedule, and not with that of {}",
                auto.column,
                self.name.display()
            ),
            // As nobody has measured anything yet, the loops are to be what all is compared with.
            Choice::Own if self.told.is_some() => return Choice::AsWritten,
            Choice::Own | Choice::AsWritten => {}
            Choice::Items(_) => self.used.borrow_mut().push(format!("{file}:{line}")),
        }
        choice
    }

    /// Tells the tuner of a chain, if there is one.
    pub(crate) fn tell(
        &self,
        (file, line): (&str, u32),
        text: &str,
        is_auto: bool,
        has_openmp: bool,
        loops: &[&LoopPragma],
    ) -> Result<(), String> {
        let Some(told) = &self.told else {
            return Ok(());
        };
        let seen = Seen {
            place: place(file, line, text),
            is_auto,
            has_openmp,
            ranks: loops.iter().map(|one| one.domain.len()).collect(),
            shifts: outer_shifts(loops),
            reads: absolute(&self.name),
        };
        // One write, as other commands may write as well.
        let text = format!("{}\n", seen.to_json());
        let mut to = File::options().create(true).append(true).open(told);
        let written = to.as_mut().map_err(|error| error.to_string());
        let written = written.and_then(|to| {
            to.write_all(text.as_bytes())
                .map_err(|error| error.to_string())
        });
        written.map_err(|error| format!("cannot write {}: {error}", told.display()))
    }

    /// Where the schedules are from that a command has been compiled with that has failed.
    pub(crate) fn note(&self) -> Option<String> {
        let used = self.used.borrow();
        let name = self.name.display();
        (!used.is_empty()).then(|| format!("schedules from {name}: those of {}", used.join(", ")))
    }
}

/// The file of schedules that a command names, or the environment.
pub(crate) fn file(wishes: &Wishes) -> Option<PathBuf> {
    let named = || std::env::var_os(FILE).filter(|name| !name.is_empty());
    wishes
        .schedules
        .clone()
        .or_else(|| named().map(PathBuf::from))
}

fn place(file: &str, line: u32, text: &str) -> Place {
    Place {
        file: absolute(Path::new(file)),
        line: usize::try_from(line).unwrap_or(0),
        text: number_of(text.as_bytes()),
    }
}

/// A chain that a command has compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) place: Place,
    /// Whether its schedule is `auto`.
    pub(crate) is_auto: bool,
    /// Whether anything of it can run in parallel.
    pub(crate) has_openmp: bool,
    /// How many dimensions the domain of each loop has.
    pub(crate) ranks: Vec<usize>,
    /// How far each loop has to move in its outermost dimension to be fused, where that is declared.
    pub(crate) shifts: Option<Vec<i64>>,
    /// The file of schedules that the command reads.
    pub(crate) reads: PathBuf,
}

impl Seen {
    fn to_json(&self) -> Value {
        json!({
            "file": self.place.file.to_string_lossy(),
            "line": self.place.line,
            "text": self.place.text,
            "auto": self.is_auto,
            "openmp": self.has_openmp,
            "ranks": self.ranks,
            "shifts": self.shifts,
            "reads": self.reads.to_string_lossy(),
        })
    }

    /// What commands have told: each chain once, which headers have for several files.
    pub(crate) fn all(text: &str) -> Option<Vec<Seen>> {
        let mut all: Vec<Seen> = Vec::new();
        for line in text.lines() {
            let one = Self::from_json(&serde_json::from_str(line).ok()?)?;
            match all.iter_mut().find(|known| known.place == one.place) {
                Some(known) => known.has_openmp |= one.has_openmp,
                None => all.push(one),
            }
        }
        all.sort_by(|one, other| one.place.cmp(&other.place));
        Some(all)
    }

    fn from_json(one: &Value) -> Option<Seen> {
        let path = |name: &str| Some(PathBuf::from(one[name].as_str()?));
        let size = |one: &Value| usize::try_from(one.as_u64()?).ok();
        let shifts = match &one["shifts"] {
            Value::Null => None,
            all => Some(
                all.as_array()?
                    .iter()
                    .map(Value::as_i64)
                    .collect::<Option<_>>()?,
            ),
        };
        Some(Seen {
            place: Place {
                file: path("file")?,
                line: size(&one["line"])?,
                text: one["text"].as_u64()?,
            },
            is_auto: one["auto"].as_bool()?,
            has_openmp: one["openmp"].as_bool()?,
            ranks: one["ranks"]
                .as_array()?
                .iter()
                .map(size)
                .collect::<Option<_>>()?,
            shifts,
            reads: path("reads")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuner_reads_what_it_is_told() {
        let seen = Seen {
            place: place("a.c", 3, "text"),
            is_auto: true,
            has_openmp: false,
            ranks: vec![2, 1],
            shifts: Some(vec![0, -1]),
            reads: "/s".into(),
        };
        let other = Seen {
            shifts: None,
            place: place("a.c", 2, "other"),
            ..seen.clone()
        };
        let with_openmp = Seen {
            has_openmp: true,
            ..seen.clone()
        };
        let all = [&seen, &other, &with_openmp, &seen];
        let text = all.map(|one| format!("{}\n", one.to_json()));
        assert_eq!(Seen::all(&text.concat()), Some(vec![other, with_openmp]));
        assert_eq!(Seen::all("{}"), None);
    }
}
