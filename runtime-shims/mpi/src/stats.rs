//! `OKL_STATS`: what every rank did, and what each parallel region and each source line cost, told by rank 0 at the end.

use crate::{cell::ProgramCell, memory, observe, scopes, traffic::Traffic};

/// Counts of this rank since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) forks: u64,
    /// Regions that rank 0 ran by itself because that is faster.
    pub(crate) alone: u64,
    pub(crate) barriers: u64,
    pub(crate) synchronisations: u64,
    pub(crate) reductions: u64,
    pub(crate) locks: u64,
    pub(crate) atomics: u64,
    /// Chunks of dynamic loops that threads of this rank took: from each other, from ranks of this node, from others.
    pub(crate) taken_in_rank: u64,
    pub(crate) taken_near: u64,
    pub(crate) taken_far: u64,
    /// Tasks that threads of this rank ran for others: for each other, for ranks of this node, and of others.
    pub(crate) tasks_in_rank: u64,
    pub(crate) tasks_near: u64,
    pub(crate) tasks_far: u64,
    /// At forks, synchronisations and reductions.
    pub(crate) sent: Traffic,
}

static COUNTS: ProgramCell<Option<Counts>> = ProgramCell::new(None);

/// Changes the counts.
pub(crate) fn count(change: impl FnOnce(&mut Counts)) {
    COUNTS.with(|counts| change(counts.get_or_insert_default()));
}

/// What the protocol did on this rank so far, and what moved.
pub(crate) fn so_far() -> (okl_coherence::Counts, Traffic) {
    (memory::coherence(|coherence| coherence.counts), traffic())
}

/// All that this rank sent, and the answers to its requests.
fn traffic() -> Traffic {
    let sent = COUNTS.with(|counts| counts.get_or_insert_default().sent);
    sent + memory::coherence(|coherence| coherence.machine.traffic())
}

/// Synchronisations and forks so far: equal numbers mean that no protection was taken away between.
pub(crate) fn synchronisations() -> u64 {
    COUNTS.with(|counts| {
        let counts = counts.get_or_insert_default();
        counts.synchronisations + counts.forks + counts.locks
    })
}

const COLUMNS: [&str; 33] = [
    "forks",
    "regions alone",
    "barriers",
    "syncs",
    "reductions",
    "locks",
    "atomics",
    "chunks in rank",
    "chunks near",
    "chunks far",
    "tasks in rank",
    "tasks near",
    "tasks far",
    "messages",
    "bytes",
    "data messages",
    "data bytes",
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
    "protections",
    "acquisitions",
    "told directly",
    "bytes along",
    "resident KiB",
    "large pages",
];

/// Tells what happened: `OKL_STATS`. Collective.
pub(crate) fn tell() {
    scopes::private(|| {
        let mine = COUNTS.with(|counts| *counts.get_or_insert_default());
        let (protocol, sent) = so_far();
        observe::tell_costs(&COLUMNS, &row(&mine, &protocol, sent));
    });
}

fn row(mine: &Counts, protocol: &okl_coherence::Counts, sent: Traffic) -> [u64; COLUMNS.len()] {
    [
        mine.forks,
        mine.alone,
        mine.barriers,
        mine.synchronisations,
        mine.reductions,
        mine.locks,
        mine.atomics,
        mine.taken_in_rank,
        mine.taken_near,
        mine.taken_far,
        mine.tasks_in_rank,
        mine.tasks_near,
        mine.tasks_far,
        sent.messages,
        sent.bytes,
        sent.data_messages,
        sent.data_bytes,
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
        protocol.protections,
        protocol.acquires,
        protocol.acquires_directly,
        protocol.bytes_along,
        memory::coherence(|coherence| coherence.machine.resident_bytes()) >> 10,
        memory::coherence(|coherence| coherence.machine.large_pages()),
    ]
}
