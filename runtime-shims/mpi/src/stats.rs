//! `OKL_STATS=1`: what every rank did, printed by rank 0 at the end, and the source lines with the
//! most page faults.

use std::{collections::HashMap, fmt::Write};

use crate::{
    cell::ProgramCell, coherence, memory, mpi_job, program, report, settings::settings, symbolise,
};

/// Counts of this rank since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) forks: u64,
    pub(crate) barriers: u64,
    pub(crate) synchronisations: u64,
    pub(crate) reductions: u64,
    pub(crate) locks: u64,
    pub(crate) atomics: u64,
    messages: u64,
    bytes: u64,
}

impl Counts {
    /// Adds a message of `bytes` to each of `others`.
    pub(crate) fn sent(&mut self, others: usize, bytes: usize) {
        self.messages += others as u64;
        self.bytes += (others * bytes) as u64;
    }

    /// Adds rank 0's part of a broadcast.
    pub(crate) fn sent_if_first(&mut self, bytes: usize) {
        if mpi_job::rank() == 0 {
            self.sent(mpi_job::ranks() as usize - 1, bytes);
        }
    }
}

static COUNTS: ProgramCell<Option<Counts>> = ProgramCell::new(None);
/// Faults by program counter; kept only for `OKL_STATS`.
static FAULTS: ProgramCell<Option<HashMap<usize, u64>>> = ProgramCell::new(None);

/// Changes the counts.
pub(crate) fn count(change: impl FnOnce(&mut Counts)) {
    COUNTS.with(|counts| change(counts.get_or_insert_default()));
}

/// Synchronisations and forks so far: equal numbers mean that no protection was taken away between.
pub(crate) fn synchronisations() -> u64 {
    COUNTS.with(|counts| {
        let counts = counts.get_or_insert_default();
        counts.synchronisations + counts.forks + counts.locks
    })
}

/// Notes a fault at `program_counter`.
pub(crate) fn fault_at(program_counter: usize) {
    if settings().stats {
        FAULTS.with(|faults| {
            *faults
                .get_or_insert_default()
                .entry(program_counter)
                .or_default() += 1
        });
    }
}

const COLUMNS: [&str; 19] = [
    "forks",
    "barriers",
    "syncs",
    "reductions",
    "locks",
    "atomics",
    "messages",
    "bytes",
    "read faults",
    "write faults",
    "pages fetched",
    "diffs",
    "diff bytes",
    "declarations",
    "section plans",
    "exchanges",
    "section copies",
    "section bytes",
    "resident KiB",
];

/// Prints the table of all ranks on rank 0's standard error. Collective.
pub(crate) fn print() {
    if !settings().stats {
        return;
    }
    program::private(|| {
        let mine = COUNTS.with(|counts| *counts.get_or_insert_default());
        let (protocol, (remote_messages, remote_bytes)) =
            memory::coherence(|coherence| (coherence.counts, coherence.machine.traffic()));
        let row = row(&mine, &protocol, remote_messages, remote_bytes);
        let ranks = mpi_job::ranks() as usize;
        let mut table = vec![0; COLUMNS.len() * ranks];
        mpi_job::all_gather(&row, &mut table);
        if mpi_job::rank() == 0 {
            let mut text = String::from("okl: statistics\n");
            for (column, name) in COLUMNS.iter().enumerate() {
                write!(text, "  {name:>14}").expect("writing to a string");
                for rank in 0..ranks {
                    write!(text, " {:>12}", table[rank * COLUMNS.len() + column])
                        .expect("writing to a string");
                }
                text.push('\n');
            }
            crate::console::write_all(2, text.as_bytes());
        }
        mpi_job::barrier();
        print_hottest_lines();
    });
}

fn row(
    mine: &Counts,
    protocol: &coherence::Counts,
    messages: u64,
    bytes: u64,
) -> [u64; COLUMNS.len()] {
    [
        mine.forks,
        mine.barriers,
        mine.synchronisations,
        mine.reductions,
        mine.locks,
        mine.atomics,
        mine.messages + messages,
        mine.bytes + bytes,
        protocol.read_faults,
        protocol.write_faults,
        protocol.pages_fetched + protocol.private_pages_fetched,
        protocol.diffs,
        protocol.diff_bytes,
        protocol.declarations,
        protocol.plans,
        protocol.transitions,
        protocol.pulls,
        protocol.pulled_bytes,
        memory::coherence(|coherence| coherence.machine.resident_bytes()) >> 10,
    ]
}

fn print_hottest_lines() {
    const MOST: usize = 5;
    let faults = FAULTS.with(std::mem::take).unwrap_or_default();
    let mut by_line: HashMap<String, u64> = HashMap::new();
    for (program_counter, count) in faults {
        let line = symbolise::location_of(program_counter)
            .unwrap_or_else(|| format!("{program_counter:#x}"));
        *by_line.entry(line).or_default() += count;
    }
    let mut lines: Vec<(String, u64)> = by_line.into_iter().collect();
    lines.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut text = String::new();
    for (line, count) in lines.iter().take(MOST) {
        writeln!(
            text,
            "okl: rank {}: {count} faults {}",
            mpi_job::rank(),
            report::at(line)
        )
        .expect("writing to a string");
    }
    crate::console::write_all(2, text.as_bytes());
}
