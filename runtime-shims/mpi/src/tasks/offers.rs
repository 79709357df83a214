//! Slots in the ranks' control areas, in which tasks lie that other threads may take.
//!
//! Guarantee: a task that is in a slot is run by one thread: the one that changes the slot's word, by compare-and-swap, so
//! that it is no longer on offer. Only the slot's thread fills it, and only while it is free; no word is there twice.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::pending::{MOST_GUESTS, Moved};
use crate::{
    api::Icv,
    control_area::{TASK_WORDS, TASKS},
    memory::{self, Words},
    mpi_job, turns,
};

/// A thread of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) rank: u32,
    pub(super) index: u32,
}

/// The one that counts who waits.
pub(super) const FIRST: Thread = Thread { rank: 0, index: 0 };

impl Thread {
    /// The caller.
    pub(super) fn here() -> Self {
        Self {
            rank: mpi_job::rank(),
            index: turns::index() as u32,
        }
    }
}

/// Slots of a thread.
pub(super) const SLOTS: usize = 32;
/// Words of a moved task.
const PAYLOAD: usize = 2 + Icv::WORDS + MOST_GUESTS;
/// Of the first thread of rank 0: how many threads wait for tasks, and how many of them have created some. A cache line is its
/// own.
const ARRIVED: usize = 0;
const STATES: usize = 8;
const PAYLOADS: usize = STATES + SLOTS;
/// The bits of [`ARRIVED`] that count threads that have created tasks.
const CREATED: u32 = 32;

const _: () = assert!(PAYLOADS + SLOTS * PAYLOAD <= TASK_WORDS);

/// What is in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    Offered,
    /// Another thread runs it, and then: has run it, on another rank or on this one.
    Taken,
    Done,
    DoneHere,
}

const STATE_BITS: u32 = 3;
/// The logarithm of how long the task takes in microseconds.
const TAKES_BITS: u32 = 6;
const UNKNOWN: u64 = (1 << TAKES_BITS) - 1;
const TICKET: u32 = STATE_BITS + TAKES_BITS;

pub(super) fn state_of(word: u64) -> State {
    let states = [
        State::Free,
        State::Offered,
        State::Taken,
        State::Done,
        State::DoneHere,
    ];
    states[word as usize % (1 << STATE_BITS)]
}

fn with_state(word: u64, state: State) -> u64 {
    word >> STATE_BITS << STATE_BITS | state as u64
}

/// A number of the task in a slot, which no other one of its thread has had.
pub(super) fn ticket_of(word: u64) -> u64 {
    word >> TICKET
}

/// What the task takes at least, in microseconds, if that is known.
pub(super) fn takes(word: u64) -> Option<u32> {
    let logarithm = word >> STATE_BITS & UNKNOWN;
    (logarithm != UNKNOWN).then(|| 1u32.checked_shl(logarithm as u32).unwrap_or(u32::MAX))
}

/// The word of a task that is on offer.
pub(super) fn offered(ticket: u64, takes: Option<u32>) -> u64 {
    let takes = takes.map_or(UNKNOWN, |takes| takes.max(1).ilog2().into());
    ticket << TICKET | takes << STATE_BITS | State::Offered as u64
}

/// The name of a task of a thread that is or was in a slot; not 0.
pub(super) fn name_of(thread: Thread, word: u64) -> u64 {
    const RANK: u32 = 48;
    const INDEX: u32 = 38;
    let thread = u64::from(thread.rank) << RANK | u64::from(thread.index + 1) << INDEX;
    thread | (ticket_of(word) & ((1 << INDEX) - 1))
}

fn pack(moved: &Moved) -> [u64; PAYLOAD] {
    let mut words = [0; PAYLOAD];
    words[0] = moved.task as u64;
    words[1] = moved.depth.into();
    words[2..2 + Icv::WORDS].copy_from_slice(&moved.icv.to_words());
    words[2 + Icv::WORDS..].copy_from_slice(&moved.chain);
    words
}

fn unpack(words: [u64; PAYLOAD]) -> Moved {
    let part = |first: usize| &words[first..];
    Moved {
        task: words[0] as usize,
        depth: words[1] as u32,
        icv: Icv::from_words(part(2)[..Icv::WORDS].try_into().expect("all variables")),
        chain: part(2 + Icv::WORDS).try_into().expect("all names"),
    }
}

/// Where the words of a thread are in its rank's control area.
fn offset(thread: Thread, word: usize) -> usize {
    TASKS + 8 * (thread.index as usize * TASK_WORDS + word)
}

fn words_of(thread: Thread) -> Words {
    memory::control_words_of(thread.rank, offset(thread, 0), TASK_WORDS)
}

/// Whether a rank is on this machine.
pub(super) fn is_near(rank: u32) -> bool {
    matches!(words_of(Thread { rank, index: 0 }), Words::Near(_))
}

fn own() -> &'static [AtomicU64] {
    match words_of(Thread::here()) {
        Words::Near(words) => words,
        Words::Far => unreachable!("a rank has its own memory mapped"),
    }
}

/// The word of a slot of the caller.
pub(super) fn own_word(slot: usize) -> u64 {
    own()[STATES + slot].load(SeqCst)
}

/// Puts a task into a free slot. What it reads must have been released.
pub(super) fn offer(slot: usize, word: u64, moved: &Moved) {
    let words = own();
    let payload = &words[PAYLOADS + slot * PAYLOAD..][..PAYLOAD];
    for (word, value) in payload.iter().zip(pack(moved)) {
        word.store(value, SeqCst);
    }
    words[STATES + slot].store(word, SeqCst);
}

/// Takes a task out of a slot of the caller, if nobody else has.
pub(super) fn take_back(slot: usize, word: u64) -> bool {
    own()[STATES + slot]
        .compare_exchange(word, State::Free as u64, SeqCst, SeqCst)
        .is_ok()
}

/// What was in a slot of the caller is complete.
pub(super) fn free(slot: usize) {
    own()[STATES + slot].store(State::Free as u64, SeqCst);
}

/// What is in a thread's slots and, of the first one of rank 0, how many threads wait.
pub(super) struct Seen {
    pub(super) thread: Thread,
    arrived: u64,
    words: [u64; SLOTS],
}

/// Looks at a thread's slots.
pub(super) fn look_at(thread: Thread) -> Seen {
    let mut seen = [0; PAYLOADS];
    read(thread, 0, &mut seen);
    let mut words = [0; SLOTS];
    words.copy_from_slice(&seen[STATES..]);
    Seen {
        thread,
        arrived: seen[ARRIVED],
        words,
    }
}

fn read(thread: Thread, first: usize, target: &mut [u64]) {
    match words_of(thread) {
        Words::Near(words) => {
            for (target, word) in target.iter_mut().zip(&words[first..]) {
                *target = word.load(SeqCst);
            }
        }
        Words::Far => {
            let mut bytes = vec![0; 8 * target.len()];
            memory::read_control_words(thread.rank, offset(thread, first), &mut bytes);
            for (target, bytes) in target.iter_mut().zip(bytes.as_chunks().0) {
                *target = u64::from_le_bytes(*bytes);
            }
        }
    }
}

impl Seen {
    /// The slots with tasks on offer, the oldest first.
    pub(super) fn offers(&self) -> Vec<(usize, u64)> {
        let words = self.words.iter().copied().enumerate();
        let offered = words.filter(|(_, word)| state_of(*word) == State::Offered);
        let mut offered: Vec<_> = offered.collect();
        offered.sort_unstable_by_key(|(_, word)| ticket_of(*word));
        offered
    }

    /// Of the first one of rank 0: how many threads wait for tasks, and how many of these have created some.
    pub(super) fn arrived(&self) -> (u32, u32) {
        (self.arrived as u32, (self.arrived >> CREATED) as u32)
    }
}

/// What is to be known of a task in a slot of a thread, as long as the slot's word is the same.
pub(super) fn payload(thread: Thread, slot: usize) -> Moved {
    let mut words = [0; PAYLOAD];
    read(thread, PAYLOADS + slot * PAYLOAD, &mut words);
    unpack(words)
}

/// Changes the word of a slot of a thread from one state to another; whether it was in the first one.
fn change(thread: Thread, slot: usize, word: u64, to: State) -> bool {
    let to = with_state(word, to);
    match words_of(thread) {
        Words::Near(words) => words[STATES + slot]
            .compare_exchange(word, to, SeqCst, SeqCst)
            .is_ok(),
        Words::Far => {
            let at = offset(thread, STATES + slot);
            memory::exchange_control_word(thread.rank, at, word, to) == word
        }
    }
}

/// Takes a task from a thread. Whether it was still there.
pub(super) fn take(thread: Thread, slot: usize, word: u64) -> bool {
    change(thread, slot, word, State::Taken)
}

/// A task that was taken has run, and what it wrote is released.
pub(super) fn tell_done(thread: Thread, slot: usize, word: u64) {
    let done = match thread.rank == mpi_job::rank() {
        true => State::DoneHere,
        false => State::Done,
    };
    let was_taken = change(thread, slot, with_state(word, State::Taken), done);
    assert!(
        was_taken,
        "a task was taken back while another thread ran it"
    );
}

/// On rank 0, before a region: nobody waits.
pub(super) fn restart() {
    own()[ARRIVED].store(0, SeqCst);
}

/// The caller waits, and has created tasks or not.
pub(super) fn arrive(has_created: bool) {
    let value = 1 | u64::from(has_created) << CREATED;
    match words_of(FIRST) {
        Words::Near(words) => {
            words[ARRIVED].fetch_add(value, SeqCst);
        }
        Words::Far => memory::add_to_control_word(FIRST.rank, offset(FIRST, ARRIVED), value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_its_task_takes_and_which_it_is() {
        for (asked, known) in [
            (None, None),
            (Some(0), Some(1)),
            (Some(700), Some(512)),
            (Some(u32::MAX), Some(1 << 31)),
        ] {
            let word = offered(77, asked);
            let states = [State::Free, State::Offered, State::Taken, State::Done];
            for state in states.into_iter().chain([State::DoneHere]) {
                let word = with_state(word, state);
                assert_eq!((state_of(word), takes(word)), (state, known));
                assert_eq!(ticket_of(word), 77);
            }
        }
        let name = |rank, index, ticket| name_of(Thread { rank, index }, offered(ticket, None));
        let names = [name(0, 0, 1), name(0, 1, 1), name(1, 0, 1), name(0, 0, 2)];
        for (at, one) in names.iter().enumerate() {
            assert!(*one != 0 && !names[at + 1..].contains(one));
        }
    }

    #[test]
    fn a_moved_task_is_what_it_was() {
        let moved = Moved {
            task: 0x1234_5678_9abc,
            icv: Icv {
                num_threads: 3,
                default_allocator: 5,
                ..Icv::default()
            },
            depth: 9,
            chain: [1, 2, 3, 1 << 60],
        };
        assert_eq!(unpack(pack(&moved)), moved);
    }

    #[test]
    fn the_oldest_offer_comes_first() {
        let mut words = [0; SLOTS];
        words[3] = offered(9, None);
        words[5] = offered(4, Some(10));
        words[6] = with_state(offered(1, None), State::Taken);
        let seen = Seen {
            thread: FIRST,
            arrived: 3 | 1 << CREATED,
            words,
        };
        let slots: Vec<usize> = seen.offers().iter().map(|one| one.0).collect();
        assert_eq!(slots, [5, 3]);
        assert_eq!(seen.arrived(), (3, 1));
    }
}
