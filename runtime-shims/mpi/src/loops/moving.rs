//! Chunks that move: a thread that has run its block of a dynamic loop takes chunks that others have not begun.
//!
//! Guarantee: each unit (whole chunks; the last may be shorter) is run by one thread, whatever the others do meanwhile,
//! and the loop's last one, where anybody asks for it, by the thread to which it was dealt, behind all else that this
//! thread runs of the loop: what it leaves in private variables is what `lastprivate` wants.
//!
//! Blocks are dealt out in advance. A word of each thread, in its rank's control area, says what is left of its block. The
//! thread takes from its front; others take half of it from its back, and it becomes their block: nearest first, those of
//! the same rank, of the same machine, of others, and of these from the thread that has most left, where that saves more
//! than it costs. All change the word by compare-and-swap. Only its thread puts a block there, with the number of the
//! loop: threads may be at different loops of a region.
//!
//! What a rank declares and what it writes is what it runs, so memory knows nothing of this, but for the price: what moves
//! is declared by other ranks than the last time. So a loop of which nothing moves is soon run in whole blocks again, and
//! tried anew in ever fewer executions, which all ranks count alike.

mod history;

use std::{
    ops::Range,
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire, Release},
    },
    time::{Duration, Instant},
};

use super::share::{MOST_UNITS, Mapping, Member, Piece, chunk_size, piece, unit_size};
use crate::{
    control_area,
    memory::{self, Words},
    region,
    settings::{ChunksMove, settings},
    stats, threads, turns,
};
pub(super) use history::{Key, Loop, begin_region};
use history::{Outcome, Way};

/// Two numbers of units fit in a word beside the number of the loop.
const UNIT_BITS: u32 = MOST_UNITS.count_ones();
/// Loops of a region whose chunks move.
const MOST_LOOPS: u32 = (1 << (64 - 2 * UNIT_BITS)) - 1;
/// Ranks on other machines that a thread asks before it gives up.
const MOST_ASKED: u32 = 3;
/// A thread that has not been at work for so long asks no other machine.
const SHORT_FOR_FAR: Duration = Duration::from_millis(2);
/// Where less than this part of the time so far is left, it stays where it is.
const LEAST_PART: u32 = 10;
/// So often a thread tries again where another one was quicker.
const TRIES: u32 = 8;

/// What is left of a thread's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    /// Which loop of the region, from 1.
    number: u32,
    first: u32,
    end: u32,
}

impl Left {
    fn of(word: u64) -> Self {
        Self {
            number: (word >> (2 * UNIT_BITS)) as u32,
            first: (word >> UNIT_BITS) as u32 & MOST_UNITS,
            end: word as u32 & MOST_UNITS,
        }
    }

    fn word(self) -> u64 {
        u64::from(self.number) << (2 * UNIT_BITS)
            | u64::from(self.first) << UNIT_BITS
            | u64::from(self.end)
    }

    fn units(self) -> u32 {
        self.end.saturating_sub(self.first)
    }
}

/// Takes at most `most` units from the front of the own word.
fn take_front(word: &AtomicU64, number: u32, most: u32) -> Option<Range<u32>> {
    let mut seen = word.load(Acquire);
    loop {
        let left = Left::of(seen);
        if left.number != number || left.units() == 0 {
            return None;
        }
        let first = left.first + most.min(left.units());
        match word.compare_exchange(seen, Left { first, ..left }.word(), AcqRel, Acquire) {
            Ok(_) => return Some(left.first..first),
            Err(now) => seen = now,
        }
    }
}

/// Takes half of another thread's word, which was `seen`, from its back, as long as that is `worth` it. `exchange` compares
/// and swaps the word.
fn take_back(
    mut seen: u64,
    number: u32,
    worth: impl Fn(Left) -> bool,
    mut exchange: impl FnMut(u64, u64) -> u64,
) -> Option<Range<u32>> {
    for _ in 0..TRIES {
        let left = Left::of(seen);
        if left.number != number || left.units() == 0 || !worth(left) {
            return None;
        }
        let end = left.end - left.units().div_ceil(2);
        let now = exchange(seen, Left { end, ..left }.word());
        if now == seen {
            return Some(end..left.end);
        }
        seen = now;
    }
    None
}

/// The units of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Units {
    /// Iterations and chunks of each.
    size: u128,
    chunks: u64,
    count: u32,
}

impl Units {
    fn of(trips: u128, chunk: i128) -> Self {
        let size = unit_size(chunk, trips);
        Self {
            size,
            chunks: (size / chunk_size(chunk, trips)) as u64,
            count: trips.div_ceil(size) as u32,
        }
    }

    /// Those that are dealt to a thread, as where the loop is run whole.
    fn block(self, member: Member) -> Range<u32> {
        let whole = piece(Mapping::BlocksOfChunks(1), self.count.into(), member, 0);
        whole.map_or(0..0, |Piece { first, count }| {
            first as u32..(first + count) as u32
        })
    }

    fn piece(self, units: &Range<u32>, trips: u128) -> Piece {
        let first = u128::from(units.start) * self.size;
        Piece {
            first,
            count: (u128::from(units.end - units.start) * self.size).min(trips - first),
        }
    }
}

/// How far it is to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distance {
    SameRank,
    SameMachine,
    OtherMachine,
}

impl Distance {
    /// What moves must take longer than this, which is what it costs to bring its data and to learn of what is new.
    fn price(self) -> Duration {
        Duration::from_micros(match self {
            Self::SameRank => 10,
            Self::SameMachine => 100,
            Self::OtherMachine => 300,
        })
    }
}

/// A thread in a loop whose chunks may move.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    number: u32,
    member: Member,
    trips: u128,
    units: Units,
    /// What was dealt to this thread, but for the loop's last unit where that is to be run behind all others.
    block: Range<u32>,
    /// It is there for others to take from.
    is_put: bool,
    /// The last unit is still to be run here, behind all others.
    runs_last: bool,
    /// Where this execution is remembered.
    this: Option<Loop>,
    /// Units that it takes at a time.
    at_a_time: u32,
    began: Instant,
    /// The units that are running, and since when.
    running: Option<(u32, Instant)>,
    outcome: Outcome,
    /// It has asked others.
    has_asked: bool,
}

impl Moving {
    /// Begins the loop with this number in its region; `None` where its blocks are run whole, as dealt out.
    pub(super) fn begin(
        number: u32,
        key: Key,
        trips: u128,
        chunk: i128,
        member: Member,
    ) -> Option<Self> {
        let choice = settings().chunks_move;
        if choice == ChunksMove::Never || number > MOST_LOOPS || trips == 0 {
            return None;
        }
        if turns::index() >= control_area::MOST_LOOP_WORDS {
            return None;
        }
        let (this, at_a_time) = match choice {
            ChunksMove::Always => (None, 1),
            _ => match history::begin(number, key, turns::active()) {
                (_, Way::Whole) => return None,
                (this, Way::Pieces(units)) => (Some(this), units),
            },
        };
        let units = Units::of(trips, chunk);
        Some(Self {
            number,
            member,
            trips,
            units,
            block: units.block(member),
            is_put: false,
            runs_last: false,
            this,
            at_a_time,
            began: Instant::now(),
            running: None,
            outcome: Outcome::default(),
            has_asked: false,
        })
    }

    fn own_word(&self) -> &'static AtomicU64 {
        word_here(turns::index())
    }

    /// Makes `units` what others can take from.
    fn put(&self, units: Range<u32>) {
        let left = Left {
            number: self.number,
            first: units.start,
            end: units.end,
        };
        self.own_word().store(left.word(), Release);
    }

    /// The iterations that this thread runs next; `None` where it has done its part. `asks_for_last`: it asks whether the
    /// loop's last one is among them.
    pub(super) fn next(&mut self, asks_for_last: bool) -> Option<Piece> {
        if !std::mem::replace(&mut self.is_put, true) {
            let has_last = self.block.end == self.units.count && !self.block.is_empty();
            self.runs_last = has_last && asks_for_last;
            self.block.end -= u32::from(self.runs_last);
            self.put(self.block.clone());
        }
        self.end_piece();
        // Then every chunk has a good chance to move.
        let is_eager = settings().chunks_move == ChunksMove::Always;
        let units = match is_eager {
            true => self.taken().or_else(|| self.own()),
            false => self.own().or_else(|| self.taken()),
        };
        let units = units.or_else(|| {
            let last = self.units.count - 1..self.units.count;
            std::mem::take(&mut self.runs_last).then_some(last)
        });
        let Some(units) = units else {
            self.outcome.took = self.began.elapsed();
            if let Some(this) = &self.this {
                history::end(self.number, this, &self.outcome);
            }
            return None;
        };
        self.running = Some((units.end - units.start, Instant::now()));
        Some(self.units.piece(&units, self.trips))
    }

    /// Notes how long a declaration took.
    pub(super) fn note_declaration(&mut self, took: Duration) {
        self.outcome.declaring += took;
    }

    /// Notes how long the last piece took.
    fn end_piece(&mut self) {
        let Some((units, since)) = self.running.take() else {
            return;
        };
        let took = since.elapsed();
        self.outcome.busy += took;
        self.outcome.units += units;
        if self.this.as_ref().is_some_and(Loop::is_new) {
            self.at_a_time = history::next_size(units, took, self.began.elapsed());
        }
    }

    /// The next units of the own word.
    fn own(&mut self) -> Option<Range<u32>> {
        let units = take_front(self.own_word(), self.number, self.at_a_time)?;
        if !self.has_asked {
            self.outcome.of_block += units.end - units.start;
        }
        Some(units)
    }

    /// Units of another thread, the first of which are to be run and the others left in the own word, where that is empty.
    fn taken(&mut self) -> Option<Range<u32>> {
        if !self.has_asked {
            self.has_asked = true;
            let block = self.block.end - self.block.start;
            self.outcome.lost = block.saturating_sub(self.outcome.of_block);
        }
        let (units, distance) = self.take()?;
        self.outcome.taken += units.end - units.start;
        let count = u64::from(units.end - units.start) * self.units.chunks;
        stats::count(|counts| match distance {
            Distance::SameRank => counts.taken_in_rank += count,
            Distance::SameMachine => counts.taken_near += count,
            Distance::OtherMachine => counts.taken_far += count,
        });
        if Left::of(self.own_word().load(Acquire)).units() != 0 {
            return Some(units);
        }
        let end = units.start + self.at_a_time.min(units.end - units.start);
        if end < units.end {
            self.put(end..units.end);
        }
        Some(units.start..end)
    }

    /// How long what is left of a block takes, and half of it, as far as that can be seen from here.
    fn estimate(&self, left: Left, of: u32, so_far: Duration) -> (Duration, Duration) {
        let dealt = self.units.block(Member {
            thread: of,
            ..self.member
        });
        let each = match left.first.checked_sub(dealt.start) {
            // It has been at work about as long as this thread.
            Some(begun @ 1..) if left.first <= dealt.end => so_far / begun,
            _ if self.outcome.units > 0 => self.outcome.busy / self.outcome.units,
            _ => so_far,
        };
        (each * left.units(), each * left.units().div_ceil(2))
    }

    fn is_worth(&self, left: Left, of: u32, distance: Distance, so_far: Duration) -> bool {
        let (all, half) = self.estimate(left, of, so_far);
        settings().chunks_move == ChunksMove::Always
            || (half >= distance.price() && all >= so_far / LEAST_PART)
    }

    fn take(&self) -> Option<(Range<u32>, Distance)> {
        let so_far = self.began.elapsed();
        let per_rank = match region::is_distributed() {
            true => threads::on_each_rank(self.member.threads as i32),
            false => self.member.threads,
        };
        let here = self.member.thread / per_rank;
        let own_rank = here * per_rank..((here + 1) * per_rank).min(self.member.threads);
        if let Some(taken) = self.take_near(own_rank, Distance::SameRank, so_far, |thread| {
            Some(word_here((thread % per_rank) as usize))
        }) {
            return Some((taken, Distance::SameRank));
        }
        if !region::is_distributed() {
            return None;
        }
        let near = |thread| {
            let rank = thread / per_rank;
            let index = (thread % per_rank) as usize;
            match words_of(rank) {
                Words::Near(words) if rank != here => words.get(index * STRIDE),
                _ => None,
            }
        };
        let all = 0..self.member.threads;
        if let Some(taken) = self.take_near(all, Distance::SameMachine, so_far, near) {
            return Some((taken, Distance::SameMachine));
        }
        let taken = self.take_far(per_rank, so_far)?;
        Some((taken, Distance::OtherMachine))
    }

    /// Takes from that one of `threads` that has most left.
    fn take_near(
        &self,
        threads: Range<u32>,
        distance: Distance,
        so_far: Duration,
        word: impl Fn(u32) -> Option<&'static AtomicU64>,
    ) -> Option<Range<u32>> {
        for _ in 0..TRIES {
            let others = threads.clone().filter(|one| *one != self.member.thread);
            let found = others.filter_map(|thread| {
                let word = word(thread)?;
                let seen = word.load(Acquire);
                let left = Left::of(seen);
                let is_here = left.number == self.number && left.units() > 0;
                let (all, _) = is_here.then(|| self.estimate(left, thread, so_far))?;
                Some((all, thread, word, seen))
            });
            let (_, thread, word, seen) = found.max_by_key(|one| one.0)?;
            let worth = |left| self.is_worth(left, thread, distance, so_far);
            if !worth(Left::of(seen)) {
                return None;
            }
            let exchange = |old, new| {
                let now = word.compare_exchange(old, new, AcqRel, Acquire);
                now.unwrap_or_else(|now| now)
            };
            if let Some(taken) = take_back(seen, self.number, worth, exchange) {
                return Some(taken);
            }
        }
        None
    }

    /// Asks some ranks of other machines.
    fn take_far(&self, per_rank: u32, so_far: Duration) -> Option<Range<u32>> {
        let is_always = settings().chunks_move == ChunksMove::Always;
        if so_far < SHORT_FOR_FAR && !is_always {
            return None;
        }
        let ranks = self.member.threads.div_ceil(per_rank);
        let is_far = |rank: &u32| matches!(words_of(*rank), Words::Far);
        let far = (0..ranks).filter(is_far).count();
        if far == 0 {
            return None;
        }
        // Threads that are done at the same time ask others first.
        let start = self.member.thread.wrapping_add(self.outcome.units) as usize % far;
        let asked = (0..ranks).filter(is_far).cycle().skip(start);
        for rank in asked.take(far.min(MOST_ASKED as usize)) {
            let first = rank * per_rank;
            let count = per_rank.min(self.member.threads - first);
            let mut words = [0; 8];
            for group in (0..count).step_by(words.len()) {
                let here = &mut words[..(count - group).min(8) as usize];
                read_far(rank, group as usize, here);
                let threads = here.iter().zip(first + group..);
                let found = threads.filter(|(seen, _)| {
                    let left = Left::of(**seen);
                    left.number == self.number && left.units() > 0
                });
                let most = found.max_by_key(|(seen, thread)| {
                    self.estimate(Left::of(**seen), *thread, so_far).0
                });
                let Some((&seen, thread)) = most else {
                    continue;
                };
                let worth = |left| self.is_worth(left, thread, Distance::OtherMachine, so_far);
                let at = offset_of((thread - first) as usize);
                let exchange = |old, new| memory::exchange_control_word(rank, at, old, new);
                if let Some(taken) = take_back(seen, self.number, worth, exchange) {
                    return Some(taken);
                }
            }
        }
        None
    }
}

/// Words of a thread: a cache line is its own.
const STRIDE: usize = control_area::LOOP_WORD_BYTES / 8;

fn offset_of(index: usize) -> usize {
    control_area::LOOPS + index * control_area::LOOP_WORD_BYTES
}

fn words_of(rank: u32) -> Words {
    let words = control_area::MOST_LOOP_WORDS * STRIDE;
    memory::control_words_of(rank, control_area::LOOPS, words)
}

/// The word of a thread of this rank.
fn word_here(index: usize) -> &'static AtomicU64 {
    match words_of(crate::mpi_job::rank()) {
        Words::Near(words) => &words[index * STRIDE],
        Words::Far => unreachable!("a rank has its own memory mapped"),
    }
}

/// Reads the words of threads of a rank on another machine, from `first` on.
fn read_far(rank: u32, first: usize, words: &mut [u64]) {
    let mut bytes = [0; 8 * control_area::LOOP_WORD_BYTES];
    let bytes = &mut bytes[..words.len() * control_area::LOOP_WORD_BYTES];
    memory::read_control_words(rank, offset_of(first), bytes);
    for (word, bytes) in words
        .iter_mut()
        .zip(bytes.chunks(control_area::LOOP_WORD_BYTES))
    {
        *word = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
    }
}

/// Where the calling thread leaves a region: what a cancelled loop has left there is nobody's.
pub(super) fn end_region() {
    if turns::index() < control_area::MOST_LOOP_WORDS {
        word_here(turns::index()).store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use okl_testing::Random;

    use super::*;

    #[test]
    fn a_word_says_what_was_put_there() {
        for left in [
            Left {
                number: 1,
                first: 0,
                end: MOST_UNITS,
            },
            Left {
                number: MOST_LOOPS,
                first: MOST_UNITS,
                end: MOST_UNITS,
            },
            Left {
                number: 77,
                first: 5,
                end: 1 << 19,
            },
        ] {
            assert_eq!(Left::of(left.word()), left);
        }
    }

    #[test]
    fn blocks_of_units_are_those_of_loops_that_are_run_whole() {
        let mut random = Random(7);
        for round in 0..20_000 {
            let trips = 1 + u128::from(random.word()) % if round % 2 == 0 { 100 } else { 1 << 40 };
            let chunk = i128::from(random.word() % 50);
            let threads = 1 + (random.word() % 9) as u32;
            let units = Units::of(trips, chunk);
            assert!(units.count <= MOST_UNITS);
            for thread in 0..threads {
                let member = Member { thread, threads };
                let whole = piece(Mapping::BlocksOfChunks(chunk), trips, member, 0);
                let block = units.block(member);
                let found = (!block.is_empty()).then(|| units.piece(&block, trips));
                assert_eq!(found, whole, "{trips} {chunk} {member:?}");
            }
        }
    }

    /// Threads that take units from each other, some of them late, run each once.
    #[test]
    fn each_unit_is_run_by_one_thread() {
        const THREADS: u32 = 4;
        for round in 0..300_u32 {
            let number = 1 + round;
            let words = [const { AtomicU64::new(0) }; THREADS as usize];
            let count = 1 + round % 97;
            let units = Units {
                size: 1,
                chunks: 1,
                count,
            };
            let runs = Mutex::new(vec![0; count as usize]);
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (words, runs) = (&words, &runs);
                    scope.spawn(move || {
                        let mut random = Random(u64::from(round * THREADS + thread) + 1);
                        if random.word().is_multiple_of(3) {
                            std::thread::yield_now();
                        }
                        let member = Member {
                            thread,
                            threads: THREADS,
                        };
                        let own = &words[thread as usize];
                        let put = |units: Range<u32>| {
                            let left = Left {
                                number,
                                first: units.start,
                                end: units.end,
                            };
                            own.store(left.word(), Release);
                        };
                        put(units.block(member));
                        let most = 1 + random.word() as u32 % 3;
                        loop {
                            while let Some(taken) = take_front(own, number, most) {
                                for unit in taken {
                                    runs.lock().unwrap()[unit as usize] += 1;
                                }
                                if random.word().is_multiple_of(4) {
                                    std::thread::yield_now();
                                }
                            }
                            let others = words.iter().filter(|one| !std::ptr::eq(*one, own));
                            let taken = others.into_iter().find_map(|word| {
                                let exchange = |old, new| {
                                    let now = word.compare_exchange(old, new, AcqRel, Acquire);
                                    now.unwrap_or_else(|now| now)
                                };
                                take_back(word.load(Acquire), number, |_| true, exchange)
                            });
                            match taken {
                                Some(taken) => put(taken),
                                None => return,
                            }
                        }
                    });
                }
            });
            assert!(runs.into_inner().unwrap().iter().all(|times| *times == 1));
        }
    }

    #[test]
    fn words_of_other_loops_and_empty_ones_are_left() {
        let word = AtomicU64::new(
            Left {
                number: 3,
                first: 4,
                end: 9,
            }
            .word(),
        );
        let exchange = |old, new| {
            let now = word.compare_exchange(old, new, AcqRel, Acquire);
            now.unwrap_or_else(|now| now)
        };
        let take = |number, worth: bool| take_back(word.load(Acquire), number, |_| worth, exchange);
        assert_eq!(take(2, true), None);
        assert_eq!(take(4, true), None);
        assert_eq!(take(3, false), None);
        assert_eq!(take_front(&word, 2, 1), None);
        assert_eq!(take(3, true), Some(6..9));
        assert_eq!(take_front(&word, 3, 1), Some(4..5));
        assert_eq!(take(3, true), Some(5..6));
        assert_eq!(take(3, true), None);
        assert_eq!(take_front(&word, 3, 1), None);
    }
}
