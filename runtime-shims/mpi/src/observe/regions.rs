//! What each parallel region cost, by its place in the source, and what the serial code between them did.
//!
//! Every rank takes part in every distributed region, so the lists of all ranks are in the same order.

use super::{costs::Costs, is_asked};
use crate::{cell::ProgramCell, mpi_job, settings::asked};

struct Regions {
    /// Serial code first.
    known: Vec<(&'static str, Costs)>,
    /// The costs when what runs began, a region or serial code.
    before: Costs,
    /// Nanoseconds in the runtime since the start, and those of them waiting for other ranks.
    inside: u64,
    waited: u64,
}

static REGIONS: ProgramCell<Regions> = ProgramCell::new(Regions {
    known: Vec::new(),
    before: Costs::NONE,
    inside: 0,
    waited: 0,
});

const SERIAL_CODE: &str = "serial code";

/// Time went by in the runtime.
pub(super) fn was_inside(nanoseconds: u64) {
    REGIONS.with(|regions| regions.inside += nanoseconds);
}

/// Time went by in which this rank waited for others.
pub(crate) fn waited(nanoseconds: u64) {
    REGIONS.with(|regions| regions.waited += nanoseconds);
}

/// The costs so far.
pub(super) fn so_far() -> Costs {
    let (inside, waited) = REGIONS.with(|regions| (regions.inside, regions.waited));
    Costs::so_far(inside, waited)
}

/// What ran until now was at `location`, for `runs` times more.
fn ended(location: &'static str, runs: u64) {
    let now = so_far();
    REGIONS.with(|regions| {
        let costs = now.minus(regions.before).with_runs(runs);
        regions.before = now;
        match regions.known.iter_mut().find(|known| known.0 == location) {
            Some((_, sum)) => *sum = sum.plus(costs),
            None => regions.known.push((location, costs)),
        }
    });
}

/// Serial code ends, a region begins.
pub(crate) fn enter() {
    if is_asked(asked::STATS) {
        ended(SERIAL_CODE, 1);
    }
}

/// The region at `location` ends.
pub(crate) fn leave(location: &'static str) {
    if is_asked(asked::STATS) {
        ended(location, 1);
    }
}

/// The costs of each region, and of serial code: sums over all ranks, but the runs; of use on rank 0. Collective.
pub(super) fn sums() -> Vec<(&'static str, Costs)> {
    let known = REGIONS.with(|regions| regions.known.len());
    if known == 0 {
        return Vec::new();
    }
    ended(SERIAL_CODE, 0);
    let known = REGIONS.with(|regions| std::mem::take(&mut regions.known));
    let ranks = mpi_job::ranks() as usize;
    let mine: Vec<u64> = known
        .iter()
        .flat_map(|region| region.1.words())
        .copied()
        .collect();
    let mut all = vec![0; mine.len() * ranks];
    mpi_job::all_gather(&mine, &mut all);
    (known.iter().enumerate())
        .map(|(index, (place, costs))| {
            let rows = all.chunks(Costs::WORDS);
            let rows = rows.skip(index).step_by(known.len());
            let sum = rows.map(Costs::from_words).fold(Costs::NONE, Costs::plus);
            (*place, sum.with_runs(costs.runs()))
        })
        .collect()
}
