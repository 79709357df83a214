//! What each parallel region cost, by its place in the source.
//!
//! Every rank takes part in every distributed region, so the lists of all ranks are in the same order.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use crate::{cell::ProgramCell, memory, mpi_job, settings::settings};

/// Sums over the executions of a region on this rank, in the order of [`COLUMNS`].
type Sums = [u64; COLUMNS.len()];

const COLUMNS: [&str; 8] = [
    "runs",
    "ms in okl",
    "faults",
    "pages",
    "copies",
    "copied KiB",
    "messages",
    "sent KiB",
];

struct Regions {
    known: Vec<(&'static str, Sums)>,
    /// The counts when the region that runs began.
    before: Sums,
    /// Nanoseconds in the runtime since the start.
    inside: u64,
}

static REGIONS: ProgramCell<Regions> = ProgramCell::new(Regions {
    known: Vec::new(),
    before: [0; COLUMNS.len()],
    inside: 0,
});

/// Runs `body` and counts its time as spent in the runtime: communicating, or waiting for other ranks.
pub(crate) fn in_runtime<R>(body: impl FnOnce() -> R) -> R {
    if !settings().stats {
        return body();
    }
    let since = Instant::now();
    let result = body();
    let spent = since.elapsed().as_nanos() as u64;
    REGIONS.with(|regions| regions.inside = regions.inside.wrapping_add(spent));
    result
}

/// Of the time that [`in_runtime`] measures now, `waited` was spent otherwise.
pub(crate) fn not_in_runtime(waited: Duration) {
    if settings().stats {
        let waited = waited.as_nanos() as u64;
        REGIONS.with(|regions| regions.inside = regions.inside.wrapping_sub(waited));
    }
}

/// The counts so far; there is one execution more each time.
fn counts(executions: u64) -> Sums {
    let inside = REGIONS.with(|regions| regions.inside);
    let protocol = memory::coherence(|coherence| coherence.counts);
    let sent = super::traffic();
    [
        executions,
        inside,
        protocol.read_faults + protocol.write_faults,
        protocol.pages_fetched + protocol.private_pages_fetched,
        protocol.pulls,
        protocol.pulled_bytes,
        sent.messages,
        sent.bytes,
    ]
}

/// A region begins.
pub(crate) fn enter() {
    if settings().stats {
        let before = counts(0);
        REGIONS.with(|regions| regions.before = before);
    }
}

/// The region at `location` ends.
pub(crate) fn leave(location: &'static str) {
    if !settings().stats {
        return;
    }
    let now = counts(1);
    REGIONS.with(|regions| {
        let at = regions.known.iter().position(|known| known.0 == location);
        let at = at.unwrap_or_else(|| {
            regions.known.push((location, [0; COLUMNS.len()]));
            regions.known.len() - 1
        });
        for ((sum, now), before) in regions.known[at].1.iter_mut().zip(now).zip(regions.before) {
            *sum += now - before;
        }
    });
}

/// Prints the table on rank 0's standard error: sums over all ranks, but the runs. Collective.
pub(super) fn print() {
    let known = REGIONS.with(|regions| std::mem::take(&mut regions.known));
    if known.is_empty() {
        return;
    }
    let ranks = mpi_job::ranks() as usize;
    let mine: Vec<u64> = known.iter().flat_map(|region| region.1).collect();
    let mut all = vec![0; mine.len() * ranks];
    mpi_job::all_gather(&mine, &mut all);
    if mpi_job::rank() != 0 {
        return;
    }
    let mut text = String::from("okl: parallel regions, sums over all ranks\n  ");
    for name in COLUMNS {
        write!(text, "{name:>11}").expect("writing to a string");
    }
    text.push_str("  at\n");
    for (index, (location, mine)) in known.iter().enumerate() {
        let sum = |column: usize| -> u64 {
            let rows = all.chunks(known.len() * COLUMNS.len());
            rows.map(|row| row[index * COLUMNS.len() + column]).sum()
        };
        text.push_str("  ");
        for (column, name) in COLUMNS.into_iter().enumerate() {
            let number = match name {
                "runs" => mine[column],
                "ms in okl" => sum(column) / 1_000_000,
                "copied KiB" | "sent KiB" => sum(column) >> 10,
                _ => sum(column),
            };
            write!(text, "{number:>11}").expect("writing to a string");
        }
        writeln!(text, "  {location}").expect("writing to a string");
    }
    crate::console::write_all(2, text.as_bytes());
}
