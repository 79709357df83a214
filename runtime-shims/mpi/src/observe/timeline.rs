//! `OKL_TIMELINE`: when each rank did what, in one file of Chrome's trace format, which Perfetto and
//! `chrome://tracing` show.
//!
//! Guarantee: a rank keeps a limited number of events, the first ones, and the file and a message say so
//! where there were more. That the file can be written is known before the program starts.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock},
};

use super::{Event, Place, clock::Alignment};
use crate::{mpi_job, report, scopes, settings::settings};
use okl_coherence::PAGE;
use okl_job::json::Object;

/// Events that travel to rank 0 in one message.
const BATCH: usize = 4096;

/// On rank 0: where the file is, wherever the program goes.
static FILE: OnceLock<PathBuf> = OnceLock::new();
static TIMELINE: Mutex<Option<Timeline>> = Mutex::new(None);

struct Kept {
    event: Event,
    /// Nanoseconds on this machine's clock.
    start: u64,
    spent: u64,
}

/// Keeps the first so many events.
struct Timeline {
    most: usize,
    /// Rank 0's time at the start.
    origin: u64,
    alignment: Alignment,
    /// Regions end, and are kept, after what happens in them: they have a place of their own.
    regions: Vec<Kept>,
    others: Vec<Kept>,
    happened: u64,
}

impl Timeline {
    fn new(most: usize, origin: u64, alignment: Alignment) -> Self {
        Self {
            most,
            origin,
            alignment,
            regions: Vec::new(),
            others: Vec::new(),
            happened: 0,
        }
    }

    fn keep(&mut self, event: Event, start: u64, spent: u64) {
        if name_of(&event).is_none() {
            return;
        }
        self.happened += 1;
        let list = match event {
            Event::Region { .. } => &mut self.regions,
            _ => &mut self.others,
        };
        if list.len() < self.most {
            list.push(Kept {
                event,
                start,
                spent,
            });
        }
    }

    fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.regions.iter().chain(&self.others)
    }

    /// The time of an event since rank 0's start.
    fn since_origin(&self, time: u64) -> i64 {
        time.wrapping_add_signed(self.alignment.offset)
            .wrapping_sub(self.origin) as i64
    }

    /// The JSON object of an event of `rank`.
    fn json(&self, one: &Kept, rank: u32, object_at: &dyn Fn(u64) -> String) -> String {
        let (category, name) = name_of(&one.event).expect("only such are kept");
        Object::new()
            .text("name", &name)
            .text("cat", category)
            .text("ph", "X")
            .number("pid", rank)
            .number("tid", 0)
            .microseconds("ts", self.since_origin(one.start))
            .microseconds("dur", one.spent as i64)
            .object("args", arguments(&one.event, object_at))
            .finish()
    }
}

/// Category and name of an event; `None`: it is not for a timeline.
fn name_of(event: &Event) -> Option<(&'static str, String)> {
    let (category, name) = match *event {
        Event::Region { location, .. } => ("region", location),
        Event::Idle => ("waiting", "no region"),
        Event::Waiting => ("waiting", "waiting"),
        Event::Barrier(_) => ("barrier", "barrier"),
        Event::Join(_) => ("barrier", "end of region"),
        Event::Reduction(_) => ("reduction", "reduction"),
        Event::Lock { .. } => ("lock", "lock"),
        Event::Copy { was_sent, .. } if was_sent => ("data", "take what was sent"),
        Event::Copy { .. } => ("data", "copy"),
        Event::Fetch { .. } => ("data", "fetch pages"),
        Event::Fault { write: false, .. } => ("fault", "read fault"),
        Event::Fault { write: true, .. } => ("fault", "write fault"),
        Event::Fork { .. }
        | Event::Declaration(_)
        | Event::Send { .. }
        | Event::Diff { .. }
        | Event::Leave { .. } => {
            return None;
        }
    };
    Some((category, name.to_owned()))
}

/// What a viewer shows when the event is selected.
fn arguments(event: &Event, object_at: &dyn Fn(u64) -> String) -> Object {
    let arguments = Object::new();
    match *event {
        Event::Region {
            thread, threads, ..
        } => arguments
            .number("thread", thread)
            .number("threads", threads),
        Event::Barrier(at) | Event::Reduction(at) => arguments.text("at", &at.text()),
        Event::Join(location) => arguments.text("at", &Place::Text(location).text()),
        Event::Lock { key, at } => arguments
            .text("at", &at.text())
            .text("lock", &format!("{key:#x}")),
        Event::Copy { from, what, .. } => arguments
            .number("bytes", what.bytes)
            .number("from", from)
            .number("pieces", what.pieces)
            .text("object", &object_at(what.first)),
        Event::Fetch { from, first, pages } => arguments
            .number("bytes", u64::from(pages) * PAGE as u64)
            .number("from", from)
            .text("object", &object_at(u64::from(first) * PAGE as u64)),
        Event::Fault { address, code, .. } => arguments
            .text("at", &Place::Code(code).text())
            .text("object", &super::object_at(address)),
        Event::Idle
        | Event::Waiting
        | Event::Fork { .. }
        | Event::Declaration(_)
        | Event::Send { .. }
        | Event::Diff { .. }
        | Event::Leave { .. } => arguments,
    }
}

/// On rank 0: makes sure that `file` can be written.
pub(super) fn create(file: &Path) -> Result<(), String> {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    File::create(&path).map_err(|error| {
        let file = file.display();
        format!("OKL_TIMELINE={file}: the file cannot be written: {error}")
    })?;
    assert!(FILE.set(path).is_ok(), "one job starts once");
    Ok(())
}

/// From now on events are kept.
pub(super) fn start(most: usize, origin: u64, alignment: Alignment) {
    let mut timeline = TIMELINE.lock().expect("nothing panics here");
    *timeline = Some(Timeline::new(most, origin, alignment));
}

/// Keeps an event that began at `start` and took `spent` nanoseconds.
pub(super) fn keep(event: Event, start: u64, spent: u64) {
    let mut timeline = TIMELINE.lock().expect("nothing panics here");
    if let Some(timeline) = timeline.as_mut() {
        timeline.keep(event, start, spent);
    }
}

/// Collects the events of all ranks in rank 0's file. Collective.
pub(super) fn write() {
    scopes::private(|| {
        let timeline = TIMELINE.lock().expect("nothing panics here").take();
        let timeline = timeline.expect("a timeline is kept");
        let kept = timeline.kept().count() as u64;
        let mine = [
            kept,
            timeline.happened,
            timeline.alignment.offset as u64,
            timeline.alignment.error,
        ];
        let mut all = vec![0; mine.len() * mpi_job::ranks() as usize];
        mpi_job::all_gather(&mine, &mut all);
        if mpi_job::rank() != 0 {
            batches(&timeline, |batch| mpi_job::send(batch.as_bytes(), 0));
            mpi_job::send(&[], 0);
            return;
        }
        let ranks: Vec<&[u64]> = all.chunks(mine.len()).collect();
        let path = FILE.get().expect("made at the start");
        // The other ranks' events are received even where they cannot be written.
        let mut file = File::create(path).map(BufWriter::new);
        let mut put = |text: &[u8]| {
            if let Ok(open) = &mut file
                && let Err(error) = open.write_all(text)
            {
                file = Err(error);
            }
        };
        put(head(ranks.len()).as_bytes());
        batches(&timeline, |batch| put(batch.as_bytes()));
        for rank in 1..mpi_job::ranks() {
            loop {
                let batch = mpi_job::receive(rank);
                if batch.is_empty() {
                    break;
                }
                put(&batch);
            }
        }
        put(tail(&ranks).as_bytes());
        if let Err(error) = file.and_then(|mut file| file.flush()) {
            let path = path.display();
            report::warn(&format!(
                "warning: the timeline {path} is not whole: {error}"
            ));
        }
        let happened = ranks.iter().filter(|rank| rank[0] < rank[1]);
        if let Some(happened) = happened.map(|rank| rank[1]).max() {
            report::warn(&format!(
                "warning: the timeline {} holds the first {} events of each rank; there were up to {happened}: \
                 OKL_TIMELINE_EVENTS={happened} keeps all",
                path.display(),
                settings().timeline_events,
            ));
        }
    });
}

/// Gives this rank's events away, each after a comma.
fn batches(timeline: &Timeline, mut give: impl FnMut(String)) {
    let mut batch = String::new();
    for (index, one) in (1..).zip(timeline.kept()) {
        batch.push_str(",\n");
        batch.push_str(&timeline.json(one, mpi_job::rank(), &super::object_at_position));
        if index % BATCH == 0 {
            give(std::mem::take(&mut batch));
        }
    }
    if !batch.is_empty() {
        give(batch);
    }
}

/// What stands before the events: the ranks as processes.
fn head(ranks: usize) -> String {
    let describe = |rank: usize, what: &str, arguments: Object| {
        Object::new()
            .text("name", what)
            .text("ph", "M")
            .number("pid", rank as u64)
            .number("tid", 0)
            .object("args", arguments)
            .finish()
    };
    let lines: Vec<String> = (0..ranks)
        .flat_map(|rank| {
            let name = Object::new().text("name", &format!("rank {rank}"));
            let index = Object::new().number("sort_index", rank as u64);
            [
                describe(rank, "process_name", name),
                describe(rank, "process_sort_index", index),
            ]
        })
        .collect();
    format!("{{\"traceEvents\":[\n{}", lines.join(",\n"))
}

/// What stands behind the events: how far they can be relied on. Of each rank the events kept, those that
/// happened, and its clock.
fn tail(ranks: &[&[u64]]) -> String {
    let mut notes = Object::new();
    for (rank, numbers) in ranks.iter().enumerate() {
        let (kept, happened, offset, error) = (numbers[0], numbers[1], numbers[2], numbers[3]);
        let events = match kept < happened {
            true => format!("cut: the first {kept} of {happened} events"),
            false => format!("all {happened} events"),
        };
        let clock = match error {
            0 => "the clock of rank 0's machine".to_owned(),
            _ => format!(
                "{} ns are added to its clock, which may be wrong by {error} ns",
                offset as i64
            ),
        };
        notes = notes.text(&format!("rank {rank}"), &format!("{events}; {clock}"));
    }
    let rest = Object::new()
        .text("displayTimeUnit", "ns")
        .object("otherData", notes)
        .finish();
    format!("\n],{}\n", &rest[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_events_are_kept_and_regions_apart() {
        let mut timeline = Timeline::new(2, 0, Alignment::default());
        for start in 0..4 {
            timeline.keep(Event::Waiting, start, 1);
        }
        let region = Event::Region {
            location: "x.c:1",
            thread: 0,
            threads: 2,
        };
        timeline.keep(region, 0, 5);
        // Not for a timeline.
        timeline.keep(Event::Declaration("x.c:2"), 0, 5);
        let starts: Vec<u64> = timeline.kept().map(|one| one.start).collect();
        assert_eq!((starts, timeline.happened), (vec![0, 0, 1], 5));
    }

    #[test]
    fn events_are_on_rank_0s_time() {
        let alignment = Alignment {
            offset: -900,
            error: 10,
        };
        let mut timeline = Timeline::new(9, 1000, alignment);
        timeline.keep(Event::Barrier(Place::Text("x.c:3")), 3_500, 1_250);
        timeline.keep(Event::copy(0, &[(8, 16), (24, 32)]), 1_000, 0);
        let object_at = |position| format!("\"a\" + {position}");
        let json = |index: usize| {
            let one = timeline.kept().nth(index).expect("kept");
            timeline.json(one, 1, &object_at)
        };
        assert_eq!(
            json(0),
            "{\"name\":\"barrier\",\"cat\":\"barrier\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\
             \"ts\":1.600,\"dur\":1.250,\"args\":{\"at\":\"x.c:3\"}}"
        );
        assert_eq!(
            json(1),
            "{\"name\":\"copy\",\"cat\":\"data\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":-0.900,\
             \"dur\":0.000,\"args\":{\"bytes\":16,\"from\":0,\"pieces\":2,\"object\":\"\\\"a\\\" + 8\"}}"
        );
    }

    #[test]
    fn the_file_says_what_it_lacks() {
        assert_eq!(
            tail(&[&[5, 5, 0, 0], &[2, 9, (-3i64) as u64, 7]]),
            "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\
             \"rank 0\":\"all 5 events; the clock of rank 0's machine\",\
             \"rank 1\":\"cut: the first 2 of 9 events; -3 ns are added to its clock, which may be \
             wrong by 7 ns\"}}\n"
        );
    }
}
