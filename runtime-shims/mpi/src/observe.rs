//! What happens in the runtime: told as it happens (`OKL_TRACE`), kept for a file (`OKL_TIMELINE`), and
//! summed up (`OKL_STATS`).
//!
//! Guarantee: what is not asked for costs one load of a word that nobody writes. All ranks do as rank 0's
//! environment says, so that what is collected at the end is collected from all of them.

pub(crate) mod clock;
mod costs;
mod lines;
mod place;
pub(crate) mod regions;
mod stats_file;
mod timeline;
pub(crate) mod trace;
pub(crate) mod unknown;

use std::{
    fmt::Write,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    layout, mpi_job, program_stacks, scopes,
    settings::{asked, settings},
    traffic::Traffic,
};
use okl_coherence::{Counts, PAGE, Page};
use okl_job::report;
pub(crate) use place::Place;

/// How objects are called.
static NAME: OnceLock<fn(usize) -> String> = OnceLock::new();

/// What the protocol did on this rank so far, and what moved.
static MOVED: OnceLock<fn() -> (Counts, Traffic)> = OnceLock::new();

fn moved() -> (Counts, Traffic) {
    MOVED.get().map_or_else(Default::default, |moved| moved())
}

/// The object at an address.
fn object_at(address: usize) -> String {
    NAME.get()
        .map_or_else(|| format!("{address:#x}"), |name| name(address))
}

/// The object at a position of the memory file.
fn object_at_position(position: u64) -> String {
    let page = (position / PAGE as u64) as Page;
    object_at(layout::layout().address_of(page) + position as usize % PAGE)
}

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Where the region that runs was entered.
static REGION: Mutex<&str> = Mutex::new(SERIAL_CODE);

const SERIAL_CODE: &str = "serial code";

/// Whether something of `what` is asked for.
#[inline]
pub(crate) fn is_asked(what: u64) -> bool {
    ASKED.load(Relaxed) & what != 0
}

/// Ranges of the memory file in short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pieces: u32,
    bytes: u64,
    /// Where the first and the last range begin.
    first: u64,
    last: u64,
}

impl Extent {
    fn of(ranges: &[(u64, u64)]) -> Self {
        let start = |range: Option<&(u64, u64)>| range.map_or(0, |range| range.0);
        Self {
            pieces: ranges.len() as u32,
            bytes: ranges.iter().map(|(start, end)| end - start).sum(),
            first: start(ranges.first()),
            last: start(ranges.last()),
        }
    }
}

/// Something that happens. Positions and pages are those of the memory file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Rank 0 starts a region: `bytes` for each other rank, contents of `pages` among them.
    Fork {
        location: &'static str,
        threads: i32,
        pages: u32,
        bytes: u64,
    },
    /// A region runs, here as `thread` of `threads`; a rank with a higher number only takes part in what
    /// ranks exchange.
    Region {
        location: &'static str,
        thread: i32,
        threads: i32,
    },
    /// A rank other than 0 has no region to run.
    Idle,
    /// The team meets.
    Barrier(Place),
    /// The team meets at the end of a region.
    Join(&'static str),
    /// The rest of another event is waiting for other ranks.
    Waiting,
    /// Values of all threads are combined.
    Reduction(Place),
    /// A lock, or a critical section's, is acquired.
    Lock { key: usize, at: Place },
    /// The program declares what the loops at a place access.
    Declaration(&'static str),
    /// Declared bytes are copied from their owner, which may have sent them unasked.
    Copy {
        from: u32,
        was_sent: bool,
        what: Extent,
    },
    /// Bytes are sent to a rank that has not asked for them.
    Send { to: u32, what: Extent },
    /// Pages are fetched.
    Fetch { from: u32, first: Page, pages: u32 },
    /// The program touched a page that is not as it needs it.
    Fault {
        address: usize,
        code: usize,
        write: bool,
    },
    /// Bytes that this rank changed in a page go to its home.
    Diff { page: Page, bytes: u32, to: u32 },
    /// Pages leave section mode, some of them because they are accessed undeclared in a region that declares
    /// the rest, or all there are; `last` says that none will enter it again.
    Leave {
        first: Page,
        pages: u32,
        some: bool,
        last: bool,
    },
}

impl Event {
    /// Ranges of the memory file that are copied from a rank.
    pub(crate) fn copy(from: u32, ranges: &[(u64, u64)]) -> Self {
        Self::Copy {
            from,
            was_sent: false,
            what: Extent::of(ranges),
        }
    }

    /// Ranges of the memory file that are taken out of what a rank sent, each with its place there.
    pub(crate) fn taken(from: u32, parts: &[(usize, (u64, u64))]) -> Self {
        let ranges: Vec<(u64, u64)> = parts.iter().map(|part| part.1).collect();
        Self::Copy {
            from,
            was_sent: true,
            what: Extent::of(&ranges),
        }
    }

    /// What the protocol tells of.
    pub(crate) fn of_protocol(event: &okl_coherence::Event<'_>) -> Self {
        use okl_coherence::Event;
        match *event {
            Event::Diff { page, bytes, to } => {
                let bytes = bytes as u32;
                Self::Diff { page, bytes, to }
            }
            Event::Send { to, ranges } => {
                let what = Extent::of(ranges);
                Self::Send { to, what }
            }
            Event::Leave { bytes, some, last } => {
                let pages = |(start, end): (u64, u64)| (end - start) / PAGE as u64;
                Self::Leave {
                    first: bytes.iter().next().map_or(0, |range| range.0 / PAGE as u64) as Page,
                    pages: bytes.iter().map(pages).sum::<u64>() as u32,
                    some,
                    last,
                }
            }
        }
    }

    /// Rank 0 starts a region; besides `pages` pages there are `bytes` for each other rank.
    pub(crate) fn fork(location: &'static str, threads: i32, pages: usize, bytes: usize) -> Self {
        Self::Fork {
            location,
            threads,
            pages: pages as u32,
            bytes: (bytes + pages * PAGE) as u64,
        }
    }

    /// A region runs, here as `thread` of `threads`.
    pub(crate) fn region(location: &'static str, thread: i32, threads: i32) -> Self {
        Self::Region {
            location,
            thread,
            threads,
        }
    }

    /// Pages that are fetched from a rank.
    pub(crate) fn fetch(from: u32, first: Page, pages: u32) -> Self {
        Self::Fetch { from, first, pages }
    }

    /// The lock that is known by the address `key` is acquired.
    pub(crate) fn lock(key: u64, at: Place) -> Self {
        let key = key as usize;
        Self::Lock { key, at }
    }

    /// The source line that statistics name for the time in the runtime, and for what moves.
    fn line(&self) -> Option<Place> {
        match *self {
            Self::Barrier(at) | Self::Reduction(at) | Self::Lock { at, .. } => Some(at),
            Self::Join(location) | Self::Declaration(location) => Some(Place::Text(location)),
            Self::Fault { code, .. } => Some(Place::Code(code)),
            _ => None,
        }
    }
}

/// An event that lasts until this is dropped.
pub(crate) struct Span(Option<Box<Open>>);

struct Open {
    event: Event,
    start: u64,
    sums: Option<lines::Before>,
    /// The region around this one.
    around: Option<&'static str>,
}

impl Span {
    /// It was another event than it seemed to be.
    pub(crate) fn turns_out(&mut self, event: Event) {
        if let Some(open) = &mut self.0 {
            open.event = event;
        }
    }
}

/// An event begins. It is `event` only if something is asked for.
#[inline]
pub(crate) fn span(event: impl FnOnce() -> Event) -> Span {
    match ASKED.load(Relaxed) {
        0 => Span(None),
        asked => Span(Some(apart(|| begin(event(), asked)))),
    }
}

/// Runs `body`, which is an event.
pub(crate) fn during<R>(event: impl FnOnce() -> Event, body: impl FnOnce() -> R) -> R {
    let _span = span(event);
    body()
}

/// Tells of an event that takes no time of its own.
#[inline]
pub(crate) fn tell(event: impl FnOnce() -> Event) {
    if is_asked(asked::SYNC | asked::DATA | asked::FAULTS) {
        apart(|| trace::tell(&event(), ASKED.load(Relaxed)));
    }
}

/// Runs `body`, which must not be interrupted by a page fault of its own or by a handler of the program.
#[cold]
pub(crate) fn apart<R>(body: impl FnOnce() -> R) -> R {
    program_stacks::make_next_frames_writable();
    scopes::private(body)
}

fn begin(event: Event, asked: u64) -> Box<Open> {
    let mut around = None;
    if let Event::Region { location, .. } = event {
        let mut region = REGION.lock().expect("nothing panics here");
        around = Some(std::mem::replace(&mut *region, location));
    }
    trace::tell(&event, asked);
    let is_line = asked & asked::STATS != 0 && event.line().is_some();
    Box::new(Open {
        event,
        sums: is_line.then(lines::begin),
        start: clock::now(),
        around,
    })
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            apart(|| end(*open));
        }
    }
}

fn end(open: Open) {
    let spent = clock::now() - open.start;
    if is_asked(asked::TIMELINE) {
        timeline::keep(open.event, open.start, spent);
    }
    if let (Some(before), Some(line)) = (open.sums, open.event.line()) {
        lines::end(line, before, spent);
    }
    match open.event {
        Event::Waiting => regions::waited(spent),
        Event::Idle => lines::not_inside(spent),
        _ => {}
    }
    if let Some(around) = open.around {
        *REGION.lock().expect("nothing panics here") = around;
    }
}

/// Where the region that runs was entered.
fn region() -> &'static str {
    *REGION.lock().expect("nothing panics here")
}

/// Takes over what rank 0's environment asks for; `name` says how the object at an address is called, and `moved` what
/// the protocol did on this rank so far. An error says that the timeline cannot be written. Collective.
pub(crate) fn start(
    name: fn(usize) -> String,
    moved: fn() -> (Counts, Traffic),
) -> Result<(), String> {
    NAME.get_or_init(|| name);
    MOVED.get_or_init(|| moved);
    let mut words = [0; 3];
    if mpi_job::rank() == 0 {
        let chosen = settings();
        let mut asked = chosen.trace;
        if let Some(statistics) = &chosen.stats {
            stats_file::create(statistics)?;
            asked |= asked::STATS;
        }
        if let Some(file) = &chosen.timeline {
            timeline::create(file)?;
            asked |= asked::TIMELINE;
        }
        words = [asked, chosen.timeline_events as u64, clock::now()];
    }
    mpi_job::broadcast(&mut words);
    let [asked, most, origin] = words;
    if asked & asked::TIMELINE != 0 {
        timeline::start(most as usize, origin, clock::align());
    }
    ASKED.store(asked, Relaxed);
    Ok(())
}

/// Nothing happens any more that is collected. What was asked for, for [`finish`] and what else ends then.
pub(crate) fn stop() -> u64 {
    ASKED.swap(0, Relaxed)
}

/// Tells what each rank did, a number of it in each of the `columns`, and what regions and lines cost. Collective.
pub(crate) fn tell_costs(columns: &[&str], mine: &[u64]) {
    let ranks = mpi_job::ranks() as usize;
    let mut table = vec![0; columns.len() * ranks];
    mpi_job::all_gather(mine, &mut table);
    let regions = regions::sums();
    let lines = lines::sums();
    let unknown = unknown::text();
    if mpi_job::rank() != 0 {
        return;
    }
    match stats_file::take() {
        Some(file) => file.write(columns, &table, &regions, &lines),
        None => {
            let mut text = per_rank(columns, &table);
            if !regions.is_empty() {
                let rows = regions.iter().map(|(place, costs)| (costs, *place));
                text += &costs::table("parallel regions", rows);
            }
            if !lines.is_empty() {
                text += &lines::table(&lines);
            }
            text += &unknown;
            report::write_all(2, text.as_bytes());
        }
    }
}

/// What each rank did, a column for each rank.
fn per_rank(columns: &[&str], table: &[u64]) -> String {
    let mut text = String::from("okl: statistics\n");
    for (column, name) in columns.iter().enumerate() {
        write!(text, "  {name:>14}").expect("writing to a string");
        for row in table.chunks(columns.len()) {
            write!(text, " {:>12}", row[column]).expect("writing to a string");
        }
        text.push('\n');
    }
    text
}

/// Writes what was collected, if it was `asked` for. Collective.
pub(crate) fn finish(asked: u64) {
    if asked & asked::TIMELINE != 0 {
        timeline::write();
    }
}
