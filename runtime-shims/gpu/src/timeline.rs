//! `OKL_TIMELINE`: when kernels ran on the device, and when what was copied there and back, in a file of Chrome's trace format.
//!
//! Guarantee: a limited number of events, the first ones, are kept, and the file and a message say so where there were more.
//! That the file can be written is known before the first kernel runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use okl_job::json::Object;
use okl_job::{Environment, launcher, report, settings};

/// What happened.
pub enum Event {
    /// A kernel ran.
    Kernel {
        /// Its name.
        name: String,
        /// Where it stands.
        place: String,
        /// Blocks, and work items of a block, in each direction.
        sizes: [[u32; 3]; 2],
    },
    /// Bytes were copied.
    Copy(Copied, usize),
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// From the host.
    Up,
    /// To the host.
    Down,
    /// Where they are.
    Within,
}

struct Kept {
    event: Event,
    /// Nanoseconds since the timeline began.
    start: i64,
    spent: i64,
}

/// See the module's text.
pub struct Timeline {
    path: PathBuf,
    rank: u32,
    most: usize,
    origin: i64,
    kept: Vec<Kept>,
    happened: usize,
}

/// Nanoseconds since some moment before the program.
pub fn now() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The file of a rank, where there are several: that of all has what they do besides.
pub fn file_of(path: &Path, rank: Option<u32>) -> PathBuf {
    let Some(rank) = rank else {
        return path.to_owned();
    };
    match path.extension() {
        Some(extension) => {
            path.with_extension(format!("device-{rank}.{}", extension.to_string_lossy()))
        }
        None => path.with_extension(format!("device-{rank}")),
    }
}

impl Timeline {
    /// One, if the user wants it. An error is what he said wrongly.
    pub fn wanted(environment: impl Environment) -> Result<Option<Self>, String> {
        const USUAL: u32 = 1 << 18;
        let Some(file) = settings::said(&environment, "OKL_TIMELINE") else {
            return Ok(None);
        };
        let most = settings::number(&environment, "OKL_TIMELINE_EVENTS")?.unwrap_or(USUAL);
        let rank = launcher::rank(&environment);
        let path = file_of(Path::new(&file), rank);
        let path = std::path::absolute(&path).unwrap_or(path);
        File::create(&path)
            .map_err(|error| format!("OKL_TIMELINE={file}: the file cannot be written: {error}"))?;
        Ok(Some(Self {
            path,
            rank: rank.unwrap_or(0),
            most: most as usize,
            origin: now(),
            kept: Vec::new(),
            happened: 0,
        }))
    }

    /// Keeps what happened from a moment to another one.
    pub fn keep(&mut self, event: Event, start: i64, end: i64) {
        self.happened += 1;
        if self.kept.len() < self.most {
            self.kept.push(Kept {
                event,
                start: start - self.origin,
                spent: (end - start).max(0),
            });
        }
    }

    /// Writes all that was kept, on this device.
    pub fn write(&self, device: &str) {
        let (path, kept) = (self.path.display(), self.kept.len());
        if let Err(error) = self.try_write(device) {
            report::say(&format!(
                "warning: the timeline {path} is not whole: {error}"
            ));
        }
        if kept < self.happened {
            let happened = self.happened;
            report::say(&format!(
                "warning: the timeline {path} holds the first {kept} events of the device; there were {happened}: \
                 OKL_TIMELINE_EVENTS={happened} keeps all"
            ));
        }
    }

    fn try_write(&self, device: &str) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&self.path)?);
        let named = |what: &str, track: u32, name: &str| {
            let arguments = Object::new().text("name", name);
            let event = Object::new().text("name", what).text("ph", "M");
            let event = event.number("pid", self.rank).number("tid", track);
            event.object("args", arguments).finish()
        };
        write!(
            file,
            "{{\"traceEvents\":[\n{}",
            named("process_name", 0, device)
        )?;
        for (track, name) in [(KERNELS, "kernels"), (COPIES, "copies")] {
            write!(file, ",\n{}", named("thread_name", track, name))?;
        }
        for one in &self.kept {
            write!(file, ",\n{}", self.json(one))?;
        }
        let told = match self.kept.len() < self.happened {
            true => format!(
                "cut: the first {} of {} events",
                self.kept.len(),
                self.happened
            ),
            false => format!("all {} events", self.happened),
        };
        let other = Object::new().text(device, &told).finish();
        write!(
            file,
            "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{other}}}\n"
        )?;
        file.flush()
    }

    fn json(&self, one: &Kept) -> String {
        let (track, category, name, arguments) = match &one.event {
            Event::Kernel { name, place, sizes } => {
                let three = |[x, y, z]: [u32; 3]| format!("{x} {y} {z}");
                let arguments = Object::new().text("at", place);
                let arguments = arguments.text("blocks", &three(sizes[0]));
                (
                    KERNELS,
                    "kernel",
                    name.as_str(),
                    arguments.text("items", &three(sizes[1])),
                )
            }
            Event::Copy(way, bytes) => {
                let name = match way {
                    Copied::Up => "to device",
                    Copied::Down => "from device",
                    Copied::Within => "on device",
                };
                (
                    COPIES,
                    "data",
                    name,
                    Object::new().number("bytes", *bytes as i128),
                )
            }
        };
        let event = Object::new().text("name", name).text("cat", category);
        let event = event.text("ph", "X").number("pid", self.rank);
        let event = event.number("tid", track);
        let event = event.microseconds("ts", one.start);
        let event = event.microseconds("dur", one.spent);
        event.object("args", arguments).finish()
    }
}

/// Numbers of rows.
const KERNELS: u32 = 0;
const COPIES: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_first_events() {
        let path = std::env::temp_dir().join(format!("okl-timeline-{}.json", std::process::id()));
        let said = |name: &str| match name {
            "OKL_TIMELINE" => Some(path.display().to_string()),
            "OKL_TIMELINE_EVENTS" => Some("2".to_owned()),
            _ => None,
        };
        let mut timeline = Timeline::wanted(said)
            .expect("it can be written")
            .expect("it is wanted");
        let origin = timeline.origin;
        let kernel = Event::Kernel {
            name: "add".to_owned(),
            place: "k.okl:3".to_owned(),
            sizes: [[2, 1, 1], [64, 1, 1]],
        };
        timeline.keep(Event::Copy(Copied::Up, 4096), origin + 1000, origin + 3500);
        timeline.keep(kernel, origin + 4000, origin + 4001);
        timeline.keep(Event::Copy(Copied::Down, 8), origin + 5000, origin + 5001);
        timeline.write("device");
        let text = std::fs::read_to_string(&path).expect("it is there");
        std::fs::remove_file(&path).expect("it is ours");
        let expected = "{\"traceEvents\":[\n\
            {\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"device\"}},\n\
            {\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"kernels\"}},\n\
            {\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":1,\"args\":{\"name\":\"copies\"}},\n\
            {\"name\":\"to device\",\"cat\":\"data\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1.000,\"dur\":2.500,\"args\":{\"bytes\":4096}},\n\
            {\"name\":\"add\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":4.000,\"dur\":0.001,\
            \"args\":{\"at\":\"k.okl:3\",\"blocks\":\"2 1 1\",\"items\":\"64 1 1\"}}\n\
            ],\"displayTimeUnit\":\"ns\",\"otherData\":{\"device\":\"cut: the first 2 of 3 events\"}}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn ranks_have_files_of_their_own() {
        let file = |path: &str, rank| file_of(Path::new(path), rank).display().to_string();
        assert_eq!(file("run.json", None), "run.json");
        assert_eq!(file("/a.b/run.json", Some(3)), "/a.b/run.device-3.json");
        assert_eq!(file("run", Some(0)), "run.device-0");
    }
}
