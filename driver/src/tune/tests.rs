use super::*;
use crate::tune::schedules::Place;
use crate::tune::search::Subject;
use crate::tune::told::Seen;
use std::ffi::OsStr;

/// A program whose speed is a function of its schedules.
struct Model<'a> {
    speed: &'a dyn Fn(&[String]) -> Outcome,
    measured: Vec<Vec<String>>,
    told: Vec<String>,
    /// What would be placed as the best program.
    kept: Option<Vec<String>>,
    /// A signal comes behind so many.
    ends_behind: usize,
}

impl Subject for Model<'_> {
    fn measure(&mut self, schedules: &[String], _: f64) -> Result<Outcome, Stop> {
        if self.measured.len() == self.ends_behind {
            return Err(Stop::Interrupted);
        }
        assert!(
            !self.measured.iter().any(|one| one == schedules),
            "{schedules:?}"
        );
        self.measured.push(schedules.to_vec());
        Ok((self.speed)(schedules))
    }

    fn is_best(&mut self, is_there: bool) -> Result<(), Stop> {
        self.kept = self.measured.last().filter(|_| is_there).cloned();
        Ok(())
    }

    fn tell(&mut self, text: &str) {
        self.told.push(text.to_string());
    }
}

fn chain(line: usize) -> Seen {
    Seen {
        place: Place {
            file: "/a.c".into(),
            line,
            text: 1,
        },
        is_auto: true,
        has_openmp: true,
        ranks: vec![2, 2],
        shifts: Some(vec![0, 1]),
        reads: "/s".into(),
    }
}

/// Tiles of 16 × 256 behind the outer loops' fusion are the best for both; it takes both to see the second one's.
fn speed(schedules: &[String]) -> Outcome {
    let one = |schedule: &String| {
        if schedule.contains("parallel, serial)") {
            return None;
        }
        let sizes = schedule.split("tile((").nth(1).map(|behind| {
            let sizes = behind.split(')').next().unwrap_or("").split(',');
            sizes
                .map(|size| size.parse().unwrap())
                .collect::<Vec<f64>>()
        });
        let base = if schedule.starts_with("fuse((0,0),(1,0))") {
            2.0
        } else {
            1.0
        };
        Some(match sizes.as_deref() {
            Some([rows, columns]) => {
                base * 3.0
                    / (1.0
                        + (rows / 16.0).log2().abs() / 10.0
                        + (columns / 256.0).log2().abs() / 20.0)
            }
            _ => base,
        })
    };
    let all: Option<Vec<f64>> = schedules.iter().map(one).collect();
    match all {
        Some(all) => Outcome::Ratio(all.iter().product()),
        None => Outcome::Refused("error: illegal".to_string()),
    }
}

fn search<'a>(chains: &'a [Seen], file: &Path, ends_behind: usize) -> Search<'a, Model<'static>> {
    let subject = Model {
        speed: &speed,
        measured: Vec::new(),
        told: Vec::new(),
        kept: None,
        ends_behind,
    };
    Search::new(
        chains,
        vec![None; chains.len()],
        subject,
        State::read(file, 7),
    )
}

#[test]
fn what_was_the_best_earlier_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let chains = [chain(3), chain(9)];
    let mut search = search(&chains, &folder.path().join("state"), 1);
    search.earlier[1] = Some("fuse((0,0),(1,0))".to_string());
    assert_eq!(search.run(), Err(Stop::Interrupted));
    assert_eq!(search.best, [AS_WRITTEN, "fuse((0,0),(1,0))"]);
    assert_eq!((search.ratio, &search.gains[..]), (2.0, &[1.0, 2.0][..]));
}

#[test]
fn the_fastest_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let chains = [chain(3), chain(9)];
    let mut search = search(&chains, &folder.path().join("state"), usize::MAX);
    search.run().unwrap();
    for best in &search.best {
        assert_eq!(best, "fuse((0,0),(1,0)), tile((16,256), wavefront, serial)");
    }
    assert!((search.ratio - 36.0).abs() < 1e-6, "{}", search.ratio);
    assert!((search.gains[0] * search.gains[1] - 36.0).abs() < 1e-6);
    let told = search.subject.told.join("\n");
    assert!(
        told.contains("best 1.00 x: /a.c:3 schedule(auto): 1.00 x\n"),
        "{told}"
    );
    assert!(told.contains("refused: error: illegal"), "{told}");
}

/// Where a program that is known from before is the best, one that was built since is not taken for it.
#[test]
fn what_is_known_to_be_the_best_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let chains = [chain(3), chain(9)];
    let all = candidates::plain(&chains[0]);
    let known = [all[2].clone(), AS_WRITTEN.to_string()];
    let mut search = search(&chains, &folder.path().join("state"), 1);
    search.subject.speed = &|_| Outcome::Ratio(1.5);
    search.state.put(&known, Outcome::Ratio(5.0)).unwrap();
    assert_eq!(search.run(), Err(Stop::Interrupted));
    assert_eq!(search.subject.measured[0][0], all[1]);
    assert_eq!((&search.best[..], search.ratio), (&known[..], 5.0));
    assert_eq!(search.subject.kept, None);
}

/// An interruption after any number of programs costs nothing that was measured, and changes nothing of what is found.
#[test]
fn what_is_interrupted_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let chains = [chain(3)];
    let file = folder.path().join("state");
    let mut whole = search(&chains, &file, usize::MAX);
    whole.run().unwrap();
    whole.state.remove();
    let mut measured = Vec::new();
    let mut parts = 0;
    loop {
        let mut part = search(&chains, &file, 7);
        let end = part.run();
        measured.append(&mut part.subject.measured);
        parts += 1;
        match end {
            Ok(()) => {
                assert_eq!((part.best, part.ratio), (whole.best, whole.ratio));
                break;
            }
            Err(stop) => assert_eq!(stop, Stop::Interrupted),
        }
    }
    assert!(parts > 3, "{parts}");
    assert_eq!(measured, whole.subject.measured);
    // What another program has left says nothing.
    let other = State::read(&file, 8);
    assert!(other.resumed == 0 && other.is_of_another);
    assert_eq!(State::read(&file, 7).resumed, measured.len());
    fs::write(&file, "{").unwrap();
    assert_eq!(State::read(&file, 7).resumed, 0);
}

#[test]
fn options_are_read() {
    let mut asked = Asked::default();
    for option in [
        "tune=./a 1=2",
        "tune-build=make",
        "tune-program=b",
        "tune-measure=time:",
        "tune-runs=3",
        "tune-limit=60",
        "tune-ignore-output",
    ] {
        assert!(asked.read(option), "{option}");
    }
    assert_eq!(
        (asked.run.as_os_str(), asked.runs),
        (OsStr::new("./a 1=2"), Some(3))
    );
    for option in [
        "tune",
        "tune=",
        "tune-runs=0",
        "tune-limit=x",
        "tune-ignore-output=1",
        "tune-fast=1",
    ] {
        assert!(!asked.clone().read(option), "{option}");
    }
}
