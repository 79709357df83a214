//! Chunks that move: a thread that has run its block of a dynamic loop takes chunks that others have not begun.
//!
//! Guarantee: each unit (whole chunks; the last may be shorter) is run by one thread, whatever the others do meanwhile,
//! and the loop's last one, where anybody asks for it, by the thread to which it was dealt, behind all else that this
//! thread runs of the loop: what it leaves in private variables is what `lastprivate` wants.
//!
//! Blocks are dealt out in advance. A word of each thread, in its rank's control area, says what is left of its block: its
//! slot. The thread takes from its front; others take half of it from its back, and it becomes their block: nearest first,
//! those of the same rank, of the same machine, of others, and of these from the thread that has most left, where that
//! saves more than it costs. All change the slot by compare-and-swap.
//!
//! Threads may be at different loops of a region. A slot names the loop by its number in the region; another word says
//! where the thread is. Who finds a thread that is at the loop before puts its block there for it, less what it takes; so
//! loops with even numbers and those with odd ones have slots of their own. In a slot the numbers only grow, and at the end
//! of a region it is closed: no word is there twice, but one that means the same.
//!
//! What a rank declares and what it writes is what it runs, so memory knows nothing of this, but for the price: what moves
//! is declared by other ranks than the last time. So a loop of which nothing moves is soon run in whole blocks again, and
//! tried anew in ever fewer executions, which all ranks count alike.

mod history;

use std::{
    cmp::Ordering,
    ops::Range,
    sync::atomic::{
        AtomicU8, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
    time::{Duration, Instant},
};

use super::share::{MOST_UNITS, Mapping, Member, Piece, chunk_size, piece, unit_size};
use crate::{
    control_area,
    memory::{self, Words},
    mpi_job, region,
    settings::{ChunksMove, settings},
    stats, threads, turns,
};
pub(super) use history::Key;
use history::{Loop, Outcome};

/// Two numbers of units fit in a word beside the number of the loop.
const UNIT_BITS: u32 = MOST_UNITS.count_ones();
/// The number of a loop in its region is in such words, too.
const NUMBER_BITS: u32 = 64 - 2 * UNIT_BITS;
/// More than any.
const BEYOND: u32 = (1 << NUMBER_BITS) - 1;
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

/// Where a thread is: the region, as all ranks count them, and the loop. Behind its last loop in a region it is at
/// [`BEYOND`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    region: u64,
    number: u32,
}

impl At {
    fn of(word: u64) -> Self {
        Self {
            region: word >> NUMBER_BITS,
            number: word as u32 & BEYOND,
        }
    }

    fn word(self) -> u64 {
        self.region << NUMBER_BITS | u64::from(self.number)
    }

    /// Whether a thread that was here has left every loop up to the last but one before `at`, and not begun `at`.
    fn is_just_before(self, at: Self) -> bool {
        match self.region == at.region {
            true => self.number + 1 == at.number,
            false => self.region < at.region && at.number == 1,
        }
    }
}

/// A thread's words: what is left of its blocks of loops with even and odd numbers, and where it is.
const WORDS: usize = 3;
/// The last of them, so that who copies them in order has seen a slot before the place. A thread that is before a loop then
/// was so when its slot was seen; the other way round it may have run the loop and left the region in between, and its slot,
/// closed again, would be filled for nobody until the next region, of which the thread would run less.
const PLACE: usize = 2;

fn slot(number: u32) -> usize {
    number as usize % 2
}

/// Reads the words of a thread, with something `between` for tests.
fn look(words: &[AtomicU64], mut between: impl FnMut()) -> [u64; WORDS] {
    std::array::from_fn(|at| {
        between();
        words[at].load(SeqCst)
    })
}

/// What is in a slot while its thread has not begun a loop of the region with such a number, and nobody else has for it: the
/// loop 0, and what nothing else there ever was.
fn closed(regions: u64) -> u64 {
    regions % (1 << (2 * UNIT_BITS))
}

/// The thread of these words begins a loop: what is left of its block. Others may have begun it for the thread, while that
/// was late. A thread that runs its block whole leaves nothing there; if it can do so is the second result.
fn enter(words: &[AtomicU64], at: At, block: &Range<u32>, is_whole: bool) -> (Left, bool) {
    words[PLACE].store(at.word(), SeqCst);
    let own = Left {
        number: at.number,
        first: if is_whole { block.end } else { block.start },
        end: block.end,
    };
    let slot = &words[slot(at.number)];
    let mut seen = slot.load(SeqCst);
    loop {
        let left = Left::of(seen);
        if left.number == at.number {
            return (left, false);
        }
        match slot.compare_exchange(seen, own.word(), SeqCst, SeqCst) {
            Ok(_) => return (own, is_whole),
            Err(now) => seen = now,
        }
    }
}

/// The thread of these words leaves a region, one of so many that its rank has run: what a cancelled loop has left there
/// is nobody's, and nobody begins a loop for it.
fn leave_region(words: &[AtomicU64], region: u64, regions: u64) {
    let number = BEYOND;
    words[PLACE].store(At { region, number }.word(), SeqCst);
    for slot in &words[..PLACE] {
        slot.store(closed(regions), SeqCst);
    }
}

/// Takes at most `most` units from the front of the own slot.
fn take_front(slot: &AtomicU64, number: u32, most: u32) -> Option<Range<u32>> {
    let mut seen = slot.load(SeqCst);
    loop {
        let left = Left::of(seen);
        if left.number != number || left.units() == 0 {
            return None;
        }
        let first = left.first + most.min(left.units());
        match slot.compare_exchange(seen, Left { first, ..left }.word(), SeqCst, SeqCst) {
            Ok(_) => return Some(left.first..first),
            Err(now) => seen = now,
        }
    }
}

/// What can be taken from a thread at a loop, where its words were seen to be these and `block` was dealt to it: with the
/// word of its slot. It may not have begun the loop.
fn available(seen: &[u64; WORDS], at: At, block: &Range<u32>) -> Option<(u64, Left)> {
    let word = seen[slot(at.number)];
    let left = Left::of(word);
    let left = match left.number.cmp(&at.number) {
        Ordering::Equal => left,
        Ordering::Less if At::of(seen[PLACE]).is_just_before(at) => Left {
            number: at.number,
            first: block.start,
            end: block.end,
        },
        _ => return None,
    };
    (left.units() > 0).then_some((word, left))
}

/// Takes half of what is [`available`] of another thread, from its back, as long as that is `worth` it. `exchange` compares
/// and swaps the thread's slot.
fn take_back(
    (mut seen, mut left): (u64, Left),
    worth: impl Fn(Left) -> bool,
    mut exchange: impl FnMut(u64, u64) -> u64,
) -> Option<Range<u32>> {
    let number = left.number;
    for _ in 0..TRIES {
        if left.number != number || left.units() == 0 || !worth(left) {
            return None;
        }
        let end = left.end - left.units().div_ceil(2);
        let now = exchange(seen, Left { end, ..left }.word());
        if now == seen {
            return Some(end..left.end);
        }
        (seen, left) = (now, Left::of(now));
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

/// Where the loop's last unit is, if the loop asks which one that is: the variables of the thread that runs it hold their
/// last values only if it runs nothing behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastUnit {
    NotHere,
    BehindAllOthers,
    HasRun,
}

/// A thread in a loop whose chunks may move.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    at: At,
    member: Member,
    trips: u128,
    units: Units,
    /// What was dealt to this thread, but for the loop's last unit where that is to be run behind all others.
    block: Range<u32>,
    /// It has asked for iterations.
    is_begun: bool,
    /// The block is run as it was dealt out.
    is_whole: bool,
    /// The loop has something in it like `lastprivate`.
    asks_for_last: bool,
    last: LastUnit,
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
    /// Begins a loop that may be run so: the one with this number in its region, from 1, among those.
    pub(super) fn begin(
        number: u32,
        key: Key,
        trips: u128,
        chunk: i128,
        member: Member,
    ) -> Option<Self> {
        let choice = choice();
        if choice == ChunksMove::Never || number >= BEYOND || trips == 0 {
            return None;
        }
        if turns::index() >= control_area::MOST_LOOP_WORDS {
            return None;
        }
        let (this, is_whole, at_a_time) = match choice {
            ChunksMove::Always => (None, false, 1),
            _ => {
                let (this, is_whole, at_a_time) = history::begin(number, key, turns::active());
                (Some(this), is_whole, at_a_time)
            }
        };
        let units = Units::of(trips, chunk);
        Some(Self {
            at: At {
                region: region::number(),
                number,
            },
            member,
            trips,
            units,
            block: units.block(member),
            is_begun: false,
            is_whole,
            asks_for_last: false,
            last: LastUnit::NotHere,
            this,
            at_a_time,
            began: Instant::now(),
            running: None,
            outcome: Outcome::default(),
            has_asked: false,
        })
    }

    /// Whether chunks may move from here or to here.
    pub(super) fn is_moving(&self) -> bool {
        !self.is_whole
    }

    fn own_slot(&self) -> &'static AtomicU64 {
        &words_here(turns::index())[slot(self.at.number)]
    }

    /// What was dealt to a thread, but for the loop's last unit where that is to be run behind all others.
    fn block_of(&self, thread: u32) -> Range<u32> {
        let block = self.units.block(Member {
            thread,
            ..self.member
        });
        let has_last = block.end == self.units.count && !block.is_empty();
        block.start..block.end - u32::from(has_last && self.asks_for_last)
    }

    /// The iterations that this thread runs next; `None` where it has done its part. `asks_for_last`, which is the same on
    /// all threads: it asks whether the loop's last one is among them.
    pub(super) fn next(&mut self, asks_for_last: bool) -> Option<Piece> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.asks_for_last = asks_for_last;
            let block = self.block_of(self.member.thread);
            let dealt = std::mem::replace(&mut self.block, block);
            if dealt != self.block {
                self.last = LastUnit::BehindAllOthers;
            }
            let words = words_here(turns::index());
            let (_, is_whole) = enter(words, self.at, &self.block, self.is_whole);
            self.is_whole = is_whole;
            if is_whole {
                return (!dealt.is_empty()).then(|| self.units.piece(&dealt, self.trips));
            }
        } else if self.is_whole {
            return None;
        }
        self.end_piece();
        // Then every chunk has a good chance to move.
        let is_eager = choice() == ChunksMove::Always;
        let units = match (self.last, is_eager) {
            (LastUnit::HasRun, _) => None,
            (_, true) => self.taken().or_else(|| self.own()),
            (_, false) => self.own().or_else(|| self.taken()),
        };
        let last = || {
            let last = self.last == LastUnit::BehindAllOthers;
            last.then(|| self.units.count - 1..self.units.count)
        };
        let Some(units) = units.or_else(last) else {
            self.outcome.took = self.began.elapsed();
            if let Some(this) = &self.this {
                history::end(self.at.number, this, &self.outcome);
            }
            return None;
        };
        if units.end == self.units.count && self.asks_for_last {
            self.last = LastUnit::HasRun;
        }
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

    /// The next units of the own slot.
    fn own(&mut self) -> Option<Range<u32>> {
        let units = take_front(self.own_slot(), self.at.number, self.at_a_time)?;
        if !self.has_asked {
            self.outcome.of_block += units.end - units.start;
        }
        Some(units)
    }

    /// Units of another thread, the first of which are to be run and the others left in the own slot, where that is empty.
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
        let own = self.own_slot();
        if Left::of(own.load(SeqCst)).units() != 0 {
            return Some(units);
        }
        let end = units.start + self.at_a_time.min(units.end - units.start);
        if end < units.end {
            // Nobody else changes an empty slot of a loop that its thread has begun.
            let left = Left {
                number: self.at.number,
                first: end,
                end: units.end,
            };
            own.store(left.word(), SeqCst);
        }
        Some(units.start..end)
    }

    /// What is left of a thread's block, where its words were seen to be these, and how long that takes, as far as it can
    /// be seen from here.
    fn available(
        &self,
        seen: &[u64; WORDS],
        of: u32,
        so_far: Duration,
    ) -> Option<(u64, Left, Duration)> {
        let (word, left) = available(seen, self.at, &self.block_of(of))?;
        Some((word, left, self.each(left, of, so_far) * left.units()))
    }

    /// How long a unit of a thread takes.
    fn each(&self, left: Left, of: u32, so_far: Duration) -> Duration {
        let dealt = self.block_of(of);
        match left.first.checked_sub(dealt.start) {
            // It has been at work about as long as this thread.
            Some(begun @ 1..) if left.first <= dealt.end => so_far / begun,
            _ if self.outcome.units > 0 => self.outcome.busy / self.outcome.units,
            _ => so_far,
        }
    }

    fn is_worth(&self, left: Left, of: u32, distance: Distance, so_far: Duration) -> bool {
        let each = self.each(left, of, so_far);
        let (all, half) = (each * left.units(), each * left.units().div_ceil(2));
        choice() == ChunksMove::Always || (half >= distance.price() && all >= so_far / LEAST_PART)
    }

    fn take(&self) -> Option<(Range<u32>, Distance)> {
        let so_far = self.began.elapsed();
        let per_rank = match region::is_distributed() {
            true => threads::on_each_rank(self.member.threads as i32),
            false => self.member.threads,
        };
        let here = self.member.thread / per_rank;
        let own_rank = here * per_rank..((here + 1) * per_rank).min(self.member.threads);
        let words = |thread| Some(words_here((thread % per_rank) as usize));
        if let Some(taken) = self.take_near(own_rank, Distance::SameRank, so_far, words) {
            return Some((taken, Distance::SameRank));
        }
        if !region::is_distributed() {
            return None;
        }
        let near = |thread| match words_of(thread / per_rank) {
            Words::Near(words) if thread / per_rank != here => {
                let first = (thread % per_rank) as usize * STRIDE;
                words.get(first..first + WORDS)
            }
            _ => None,
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
        words: impl Fn(u32) -> Option<&'static [AtomicU64]>,
    ) -> Option<Range<u32>> {
        for _ in 0..TRIES {
            let others = threads.clone().filter(|one| *one != self.member.thread);
            let found = others.filter_map(|thread| {
                let words = words(thread)?;
                let seen = look(words, || ());
                let (word, left, all) = self.available(&seen, thread, so_far)?;
                Some((all, thread, words, word, left))
            });
            let (_, thread, words, word, left) = found.max_by_key(|one| one.0)?;
            let worth = |left| self.is_worth(left, thread, distance, so_far);
            if !worth(left) {
                return None;
            }
            let slot = &words[slot(self.at.number)];
            let exchange = |old, new| {
                let now = slot.compare_exchange(old, new, SeqCst, SeqCst);
                now.unwrap_or_else(|now| now)
            };
            if let Some(taken) = take_back((word, left), worth, exchange) {
                return Some(taken);
            }
        }
        None
    }

    /// Asks some ranks of other machines.
    fn take_far(&self, per_rank: u32, so_far: Duration) -> Option<Range<u32>> {
        if so_far < SHORT_FOR_FAR && choice() != ChunksMove::Always {
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
            let count = count.min(control_area::MOST_LOOP_WORDS as u32);
            for group in (0..count).step_by(GROUP) {
                let words = read_far(rank, group, (count - group).min(GROUP as u32));
                let threads = words.iter().zip(first + group..);
                let found = threads.filter_map(|(seen, thread)| {
                    let (word, left, all) = self.available(seen, thread, so_far)?;
                    Some((all, thread, word, left))
                });
                let Some((_, thread, word, left)) = found.max_by_key(|one| one.0) else {
                    continue;
                };
                let worth = |left| self.is_worth(left, thread, Distance::OtherMachine, so_far);
                let at = offset_of(thread - first) + 8 * slot(self.at.number);
                let exchange = |old, new| memory::exchange_control_word(rank, at, old, new);
                if let Some(taken) = take_back((word, left), worth, exchange) {
                    return Some(taken);
                }
            }
        }
        None
    }
}

/// What is between the words of threads: a cache line is its own.
const STRIDE: usize = control_area::LOOP_WORD_BYTES / 8;

/// Threads whose words are read at a time.
const GROUP: usize = 8;

fn offset_of(index: u32) -> usize {
    control_area::LOOPS + index as usize * control_area::LOOP_WORD_BYTES
}

fn words_of(rank: u32) -> Words {
    let words = control_area::MOST_LOOP_WORDS * STRIDE;
    memory::control_words_of(rank, control_area::LOOPS, words)
}

/// The words of a thread of this rank.
fn words_here(index: usize) -> &'static [AtomicU64] {
    match words_of(mpi_job::rank()) {
        Words::Near(words) => &words[index * STRIDE..][..WORDS],
        Words::Far => unreachable!("a rank has its own memory mapped"),
    }
}

/// Reads the words of `count` threads of a rank on another machine, from `first` on.
fn read_far(rank: u32, first: u32, count: u32) -> Vec<[u64; WORDS]> {
    let mut bytes = [0; GROUP * control_area::LOOP_WORD_BYTES];
    let bytes = &mut bytes[..count as usize * control_area::LOOP_WORD_BYTES];
    memory::read_control_words(rank, offset_of(first), bytes);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let threads = bytes.chunks(control_area::LOOP_WORD_BYTES);
    threads
        .map(|bytes| std::array::from_fn(|at| word(&bytes[8 * at..8 * at + 8])))
        .collect()
}

/// What rank 0 was told.
static CHOICE: AtomicU8 = AtomicU8::new(ChunksMove::Never as u8);

/// All ranks do the same. Collective.
pub(super) fn start() {
    let mut choice = [settings().chunks_move as u64];
    mpi_job::broadcast(&mut choice);
    CHOICE.store(choice[0] as u8, Relaxed);
}

fn choice() -> ChunksMove {
    match CHOICE.load(Relaxed) {
        one if one == ChunksMove::Always as u8 => ChunksMove::Always,
        one if one == ChunksMove::WhereItPays as u8 => ChunksMove::WhereItPays,
        _ => ChunksMove::Never,
    }
}

/// Regions that this rank has run.
static REGIONS: AtomicU64 = AtomicU64::new(0);

/// On the rank's first thread, before its threads run a region.
pub(super) fn begin_region() {
    if choice() != ChunksMove::Never {
        REGIONS.fetch_add(1, Relaxed);
        history::begin_region();
    }
}

/// Where the calling thread leaves a region.
pub(super) fn end_region() {
    if choice() != ChunksMove::Never && turns::index() < control_area::MOST_LOOP_WORDS {
        let regions = REGIONS.load(Relaxed);
        leave_region(words_here(turns::index()), region::number(), regions);
    }
}

#[cfg(test)]
mod tests;
