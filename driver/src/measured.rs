//! What a program told of its last run: a file of `OKL_STATS=FILE.json`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The form of the file that is read (`runtime-shims/mpi/src/observe/stats_file.rs`).
const VERSION: u64 = 1;
/// What takes less of the ranks' time is nothing to see to.
const LITTLE: f64 = 0.02;

/// A run.
#[derive(Debug, Default, PartialEq)]
pub struct Measured {
    /// Time of all ranks together.
    nanoseconds: f64,
    regions: Vec<Place>,
    lines: Vec<Place>,
}

/// What a region or a line cost, on all ranks together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// File and line, or the function.
    at: String,
    runs: u64,
    /// Nanoseconds in okl, and those of them waiting for other ranks.
    inside: f64,
    waiting: f64,
    faults: u64,
    /// Bytes that moved as pages or changes of pages, and as sections.
    page_bytes: f64,
    section_bytes: f64,
}

impl Measured {
    /// Reads a file. An error says which, and what is wrong with it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(&text).ok_or_else(|| {
            format!(
                "{} is not what a program of this version of okl writes with OKL_STATS=FILE.json",
                file.display()
            )
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let all: Value = serde_json::from_str(text).ok()?;
        if all["okl"].as_u64()? != VERSION {
            return None;
        }
        // Of devices there is nothing here to explain.
        if all["ranks"].is_null() && all["devices"].is_array() {
            return Some(Self::default());
        }
        let ranks = all["ranks"].as_array()?.len();
        let places = |name: &str| -> Option<Vec<Place>> {
            all[name].as_array()?.iter().map(place).collect()
        };
        Some(Self {
            nanoseconds: all["ns"].as_f64()? * ranks as f64,
            regions: places("regions")?,
            lines: places("lines")?,
        })
    }

    /// What a region or line of that place cost: the region's sum, where there is one.
    pub fn at(&self, place: &str) -> Option<&Place> {
        let mut all = self.regions.iter().chain(&self.lines);
        all.find(|one| is_same_place(&one.at, place))
    }

    /// The part of the ranks' time that was spent in okl for it.
    pub fn share(&self, place: &Place) -> f64 {
        match self.nanoseconds > 0.0 {
            true => place.inside / self.nanoseconds,
            false => 0.0,
        }
    }

    /// A sentence.
    pub fn in_words(&self, place: &Place) -> String {
        let times = match place.runs {
            1 => "once".to_string(),
            runs => format!("{runs} times"),
        };
        let share = self.share(place);
        if share < LITTLE {
            return format!("In the run: {times}, hardly any time in okl: nothing to gain.");
        }
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        let mut text = format!(
            "In the run: {times}, {:.2} s in okl ({:.0} % of the ranks' time), {:.2} s of it waiting",
            seconds(place.inside),
            100.0 * share,
            seconds(place.waiting),
        );
        if place.faults > 0 {
            let _ = write!(text, "; {} page faults", place.faults);
        }
        let moved = [
            (place.page_bytes, "pages"),
            (place.section_bytes, "sections"),
        ];
        for (bytes, what) in moved.into_iter().filter(|(bytes, _)| *bytes > 0.0) {
            let _ = write!(text, "; {:.1} MB moved as {what}", bytes / 1e6);
        }
        text + "."
    }

    /// What to change where nothing is wrong with a region but what it cost; empty where that is little.
    pub fn advice(&self, place: &Place) -> &'static str {
        if self.share(place) < LITTLE {
            ""
        } else if place.waiting > place.inside / 2.0 {
            "Ranks wait for each other: deal the work out evenly, in smaller chunks, and put less of it between barriers."
        } else if place.section_bytes > place.page_bytes {
            "Let loops over the same data deal it out alike: the same order of loops and the same schedule."
        } else if place.faults > 0 {
            "Initialise data in a parallel loop with the schedule of the loops that use them."
        } else {
            "Have one region around several loops, and `nowait` where it is allowed."
        }
    }
}

fn place(one: &Value) -> Option<Place> {
    let number = |name: &str| one[name].as_f64();
    Some(Place {
        at: one["at"].as_str()?.to_string(),
        runs: one["runs"].as_u64()?,
        inside: number("ns in okl")?,
        waiting: number("ns waiting")?,
        faults: one["faults"].as_u64()?,
        page_bytes: number("page bytes")? + number("diff bytes")?,
        section_bytes: number("section bytes")?,
    })
}

/// Whether two places are one: their files may be written from other folders.
fn is_same_place(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() > other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let short = short.trim_start_matches("./");
    long.strip_suffix(short)
        .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"okl":1,"ns":1000000000,"ranks":[{},{}],"regions":[
{"at":"/home/me/turn.c:9","runs":24,"ns in okl":1500000000,"ns waiting":40000000,"faults":610,"sections":0,
"section bytes":0,"pages":600,"page bytes":2400000,"diffs":10,"diff bytes":100000,"control messages":1,
"control bytes":5,"messages":2,"message bytes":9}],"lines":[
{"at":"turn.c:12","runs":1,"ns in okl":1000,"ns waiting":0,"faults":0,"sections":3,"section bytes":80,
"pages":0,"page bytes":0,"diffs":0,"diff bytes":0,"control messages":0,"control bytes":0,"messages":0,
"message bytes":0}]}"#;

    #[test]
    fn places_are_found_and_told() {
        let run = Measured::parse(FILE).unwrap();
        let region = run.at("turn.c:9").unwrap();
        assert_eq!(
            run.in_words(region),
            "In the run: 24 times, 1.50 s in okl (75 % of the ranks' time), 0.04 s of it waiting; \
             610 page faults; 2.5 MB moved as pages."
        );
        assert!(run.advice(region).starts_with("Initialise"));
        let line = run.at("./turn.c:12").unwrap();
        assert_eq!(
            run.in_words(line),
            "In the run: once, hardly any time in okl: nothing to gain."
        );
        assert_eq!(run.advice(line), "");
        assert_eq!(run.at("urn.c:9"), None);
        assert_eq!(run.at("turn.c:1"), None);
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for wrong in [
            "",
            "{}",
            "[1]",
            &FILE.replace("\"okl\":1", "\"okl\":2"),
            &FILE.replace("runs", "run"),
        ] {
            assert_eq!(Measured::parse(wrong), None, "{wrong}");
        }
    }
}
