//! This process as the driver of a synchronisation sees it: MPI under it, the program's side beside it.
//!
//! Every message is counted here.

use okl_coherence::{
    Coherence,
    driver::{Collectives, Enclosed, Kind, Rank, Waits},
};

use crate::{
    cancel,
    interpose::exit,
    memory::{self, Memory},
    mpi_job, objects,
    observe::{self, Event},
    program, region, report, sections, stats, stream_format,
};

/// See the module's text.
pub(super) struct ThisRank;

fn count_message(words: &[u64], data: usize) {
    let others = 8 * (words.len() - data.div_ceil(8));
    stats::count(|counts| match data {
        0 => counts.sent.control(1, others),
        bytes => counts.sent.data_along(bytes, others),
    });
}

impl Collectives for ThisRank {
    #[inline]
    fn rank(&self) -> u32 {
        mpi_job::rank()
    }

    #[inline]
    fn ranks(&self) -> u32 {
        mpi_job::ranks()
    }

    fn all_gather(&mut self, mine: &[u64], all: &mut [u64]) {
        mpi_job::all_gather(mine, all);
        let others = mpi_job::ranks() as usize - 1;
        stats::count(|counts| counts.sent.control(others, 8 * mine.len()));
    }

    fn all_gather_parts(&mut self, mine: &[u64], lengths: &[usize]) -> Vec<u64> {
        stats::count(|counts| counts.sent.control(lengths.len() - 1, 8 * mine.len()));
        mpi_job::all_gather_parts(mine, lengths)
    }

    fn broadcast(&mut self, words: &mut Vec<u64>) {
        if mpi_job::rank() == 0 {
            let others = mpi_job::ranks() as usize - 1;
            stats::count(|counts| counts.sent.control(others, 8 * words.len()));
        }
        mpi_job::broadcast_list(words);
    }

    fn broadcast_pages(&mut self, contents: &mut [u8]) {
        mpi_job::broadcast_bytes(contents);
        if mpi_job::rank() == 0 {
            let others = mpi_job::ranks() as usize - 1;
            stats::count(|counts| counts.sent.data(others, contents.len()));
        }
    }

    fn barrier(&mut self) {
        // A barrier of MPI takes about so many rounds.
        let rounds = mpi_job::ranks().next_power_of_two().ilog2();
        stats::count(|counts| counts.sent.control(rounds as usize, 0));
        mpi_job::barrier();
    }

    #[inline]
    fn has_tree(&self) -> bool {
        mpi_job::has_tree()
    }

    fn send(&mut self, words: &[u64], data: usize, rank: u32) {
        count_message(words, data);
        mpi_job::send_in_tree(words, rank);
    }

    fn receive(&mut self, rank: u32) -> Vec<u64> {
        mpi_job::receive_in_tree(rank)
    }

    fn exchange(&mut self, words: &[u64], data: usize, rank: u32) -> Vec<u64> {
        count_message(words, data);
        mpi_job::exchange_in_tree(words, rank)
    }
}

/// Takes this rank's blocks out of what a rank gave back.
pub(super) fn take_back(returned: &[u64]) {
    if !returned.is_empty() {
        program::heap(|heap| heap.take_back(returned));
    }
}

impl Rank for ThisRank {
    type Machine = Memory;

    #[inline]
    fn coherence<R>(&mut self, body: impl FnOnce(&mut Coherence<Memory>) -> R) -> R {
        memory::coherence(body)
    }

    fn waiting<R>(&mut self, body: impl FnOnce(&mut Self) -> (R, Waits)) -> R {
        let mut span = observe::span(|| Event::Waiting);
        let (result, waits) = body(self);
        if waits == Waits::ForRegion {
            span.turns_out(Event::Idle);
        }
        result
    }

    fn wait_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        mpi_job::wait_until(|| done(self));
    }

    /// Free blocks of other ranks' arenas; destructors for rank 0 to call when the program exits; formats that it
    /// set on C++ streams; large heap blocks, start and end.
    fn enclose(&mut self) -> Enclosed {
        let returned = program::heap(|heap| heap.give_back());
        let destructors = exit::take_registered();
        let allocated = program::heap(|heap| heap.take_new_large());
        let formats = stream_format::changes();
        [returned, destructors, formats, allocated]
    }

    fn open(&mut self, all: &[Enclosed]) {
        stream_format::merge(all.iter().map(|[_, _, formats, _]| &formats[..]));
        for [returned, destructors, _, allocated] in all {
            take_back(returned);
            objects::learn_large_blocks(allocated);
            if mpi_job::rank() == 0 {
                exit::register_for_others(destructors);
            }
        }
    }

    /// Ends the job where the team's threads wait at different constructs. (Without an exchange of headers they
    /// wait alike.)
    fn check(&mut self, mine: Kind, all: &[Kind]) {
        if mine == Kind::Passive {
            return;
        }
        for (rank, &kind) in all.iter().enumerate() {
            let differs = kind != mine && kind != Kind::Passive;
            // The threads of a cancelled region go to its end from where they are.
            if differs && !cancel::region_is_cancelled() {
                let name = |kind| match kind {
                    Kind::Join => "the end of the region",
                    Kind::Exchange => "a single construct with copyprivate",
                    Kind::Barrier | Kind::Passive => "a barrier",
                };
                report::fatal(&format!(
                    "the threads of {} wait at different places: this one at {}, thread \
                     {rank} at {}; OpenMP demands that all threads of a team meet the same barriers",
                    region::name(),
                    name(mine),
                    name(kind),
                ));
            }
        }
    }

    fn take_apart(&mut self) -> bool {
        sections::take_rows_are_apart()
    }

    fn declare_nothing(&mut self) {
        sections::declare_nothing();
    }

    fn track_pages(&mut self) {
        sections::track_pages();
    }

    fn stop_declaring(&mut self) {
        sections::stop_declaring();
    }
}
