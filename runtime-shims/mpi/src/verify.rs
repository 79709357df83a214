//! `OKL_VERIFY=1`: two ranks that change the same byte between two synchronisations are reported.
//!
//! Every write is tracked with a twin, so that each rank knows the bytes it changed; the ranks exchange
//! these at every synchronisation. Writes under a lock or an atomic went home before and are not part
//! of the comparison. A write that leaves a byte as it was cannot be seen.
//!
//! What went home before changes the home's copy, where it looks like a write of the home's own; so does an atomic
//! operation, contribution or not: ranks tell each other which bytes these are.
//!
//! Where a region declares all its accesses, a change of a byte that it did not declare ends the job.

use crate::{
    cell::ProgramCell, layout, memory, mpi_job, program_graph, region, report, sections,
    settings::settings,
};
use okl_coherence::{Change, Object, geometry::ranges::Ranges};

/// Most conflicts named for one synchronisation.
const MOST: usize = 3;

fn encode(change: Change) -> u64 {
    // start < 4096 and end <= 4096 take 13 bits each.
    u64::from(change.page) << 26 | u64::from(change.start) << 13 | u64::from(change.end)
}

fn decode(word: u64) -> Change {
    let field = |shift: u32| (word >> shift & 0x1fff) as u32;
    Change {
        page: (word >> 26) as u32,
        start: field(13),
        end: field(0),
    }
}

/// The bytes of the objects this rank changed with atomic operations since the last synchronisation.
static ATOMIC: ProgramCell<Vec<(u64, u64)>> = ProgramCell::new(Vec::new());

/// This rank changes `object` with an atomic operation.
pub(crate) fn note_atomic(object: Object) {
    if settings().verify {
        ATOMIC.with(|atomic| atomic.push(object.bytes()));
    }
}

/// The bytes that all ranks have. Collective.
fn exchange(mine: &Ranges) -> Ranges {
    let words: Vec<u64> = mine.iter().flat_map(|(start, end)| [start, end]).collect();
    let (all, _) = gather(&words);
    Ranges::of(all.chunks(2).map(|pair| (pair[0], pair[1])).collect())
}

/// The words of all ranks, and how many each has.
fn gather(mine: &[u64]) -> (Vec<u64>, Vec<usize>) {
    let mut lengths = vec![0; mpi_job::ranks() as usize];
    mpi_job::all_gather(&[mine.len() as u64], &mut lengths);
    let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
    (mpi_job::all_gather_parts(mine, &lengths), lengths)
}

/// Exchanges the changes of all ranks and reports conflicts, on rank 0. Collective.
pub(crate) fn exchange_changes() {
    if !settings().verify {
        return;
    }
    let sent_home = memory::coherence(|coherence| coherence.sent_home().to_vec());
    let sent_home = exchange(&Ranges::of(sent_home));
    let changes = memory::coherence(|coherence| coherence.changes(&sent_home));
    let atomic = exchange(&Ranges::of(ATOMIC.with(std::mem::take)));
    sections::check_changes(&changes, &atomic);
    let (all, lengths) = gather(&changes.into_iter().map(encode).collect::<Vec<_>>());
    if mpi_job::rank() != 0 {
        return;
    }
    let mut rest = &all[..];
    let mut changes: Vec<(Change, u32)> = Vec::with_capacity(all.len());
    for (rank, &length) in (0..).zip(&lengths) {
        let (own, others) = rest.split_at(length);
        changes.extend(own.iter().map(|&word| (decode(word), rank)));
        rest = others;
    }
    for (page, start, end, first, second) in conflicts(&mut changes).into_iter().take(MOST) {
        let address = layout::layout().address_of(page) + start as usize;
        report::warn(&format!(
            "ranks {first} and {second} both changed {} bytes at {address:#x} ({}) in {} \
             without a synchronisation between them: a data race",
            end - start,
            program_graph::object_at(address),
            region::name(),
        ));
    }
}

/// Overlaps of changes of different ranks: (page, start, end, rank, rank).
fn conflicts(changes: &mut [(Change, u32)]) -> Vec<(u32, u32, u32, u32, u32)> {
    changes.sort_unstable_by_key(|(change, rank)| (change.page, change.start, *rank));
    let mut found = Vec::new();
    // Of the changes so far on this page, the one that reaches furthest.
    let mut furthest: Option<(Change, u32)> = None;
    for &(change, rank) in changes.iter() {
        match furthest {
            Some((before, other)) if before.page == change.page && change.start < before.end => {
                if other != rank {
                    found.push((
                        change.page,
                        change.start,
                        change.end.min(before.end),
                        other,
                        rank,
                    ));
                }
                if change.end > before.end {
                    furthest = Some((change, rank));
                }
            }
            _ => furthest = Some((change, rank)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(page: u32, start: u32, end: u32) -> Change {
        Change { page, start, end }
    }

    #[test]
    fn words_keep_a_change() {
        for sample in [
            change(0, 0, 1),
            change(u32::MAX, 4095, 4096),
            change(7, 12, 4096),
        ] {
            assert_eq!(decode(encode(sample)), sample);
        }
    }

    #[test]
    fn neighbours_do_not_conflict_and_overlaps_do() {
        let mut apart = [
            (change(1, 0, 8), 0),
            (change(1, 8, 16), 1),
            (change(2, 0, 8), 1),
        ];
        assert!(conflicts(&mut apart).is_empty());
        let mut overlap = [
            (change(1, 4, 12), 1),
            (change(1, 0, 8), 0),
            (change(1, 20, 24), 1),
        ];
        assert_eq!(conflicts(&mut overlap), [(1, 4, 8, 0, 1)]);
    }
}
