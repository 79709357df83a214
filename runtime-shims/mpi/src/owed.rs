//! What this rank owes to others: that it has released what it wrote before it stored something that so far it alone looked
//! at. As long as nobody else looks, it need not.
//!
//! Guarantee: who has [asked](ask) a rank sees, when he acquires next, what that rank wrote before it stored anything of
//! the kind. A rank answers wherever it enters the run time and waits there, and where it meets the others it releases before:
//! then it owes nothing until it has met them. So nobody waits for a rank that waits for him.

use std::{
    sync::{
        OnceLock,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use okl_abi::AtomicOp;

use crate::{
    control_area,
    memory::{self, Words, coherence, control_words_of, update_control_word},
    mpi_job,
    service::Atomic,
};

/// Words in each rank's own area: how often it was asked, how many of these it has answered, and whether it owes nothing
/// because it waits for all ranks.
const ASKED: usize = 0;
const ANSWERED: usize = 1;
const MEETS: usize = 2;
const WORDS: usize = 3;

/// Whether there is something that this rank has not released.
static OWES: AtomicBool = AtomicBool::new(false);

static MEETINGS: AtomicU64 = AtomicU64::new(0);

fn own_words() -> &'static [AtomicU64] {
    static OWN: OnceLock<&'static [AtomicU64]> = OnceLock::new();
    OWN.get_or_init(
        || match control_words_of(mpi_job::rank(), control_area::OWED, WORDS) {
            Words::Near(words) => words,
            Words::Far => unreachable!("a rank reaches its own memory"),
        },
    )
}

/// This rank is about to store something that it alone looks at.
#[inline]
pub(crate) fn note() {
    if !OWES.load(Relaxed) {
        OWES.store(true, SeqCst);
    }
}

/// Releases what this rank owes. What its threads write meanwhile may be noted anew.
fn pay() {
    if OWES.swap(false, SeqCst) {
        coherence(|coherence| coherence.release());
    }
}

/// Answers those who have asked.
#[inline]
pub(crate) fn answer() {
    let own = own_words();
    let asked = own[ASKED].load(SeqCst);
    if asked != own[ANSWERED].load(Relaxed) {
        pay();
        own[ANSWERED].fetch_max(asked, SeqCst);
    }
}

/// Runs `body`, in which this rank waits for others, and all its threads for that.
pub(crate) fn while_meeting<R>(body: impl FnOnce() -> R) -> R {
    let own = own_words();
    pay();
    own[MEETS].store(1, SeqCst);
    let result = body();
    own[MEETS].store(0, SeqCst);
    MEETINGS.fetch_add(1, SeqCst);
    result
}

/// How often this rank has met the others.
pub(crate) fn meetings() -> u64 {
    MEETINGS.load(SeqCst)
}

/// Asks `rank`, and waits until it owes nothing of what it stored before.
pub(crate) fn ask(rank: u32) {
    let at = |word: usize| control_area::OWED + 8 * word;
    let once_more = Atomic::Update(AtomicOp::Add, 1);
    let mine = update_control_word(rank, at(ASKED), once_more) + 1;
    let word = |word: usize| match control_words_of(rank, at(word), 1) {
        Words::Near(words) => words[0].load(SeqCst),
        Words::Far => update_control_word(rank, at(word), Atomic::Load),
    };
    let mut looks = 0u32;
    while word(ANSWERED) < mine && word(MEETS) == 0 {
        answer();
        // It may be on its way only when it has got what this rank has sent.
        memory::let_messages_go();
        looks += 1;
        match looks < 1000 {
            true => std::thread::yield_now(),
            false => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}
