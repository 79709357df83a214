//! Ranks append to a list, and one reads it on.

use loom::{sync::Arc, thread};

use crate::{
    models::explore,
    primitives::{Acquire, AtomicU64, Relaxed, Release},
    ring::{Ring, SLOTS, WORDS},
};

/// A list that is empty, and a word that stands for any other way in which a rank tells another one something.
struct Memory {
    words: Vec<AtomicU64>,
    told: AtomicU64,
}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            words: (0..WORDS).map(|_| AtomicU64::new(0)).collect(),
            told: AtomicU64::new(0),
        })
    }

    fn list(&self) -> Ring<'_> {
        Ring(&self.words)
    }
}

/// Reads on. What there is, and whether it is all.
fn read(list: Ring, from: &mut u64) -> (Vec<u64>, bool) {
    let mut words = Vec::new();
    let is_all = list.read(from, |word| words.push(word));
    (words, is_all)
}

/// Who has been told by a rank, in any way, that it has appended a word reads that word, whatever another one is just
/// appending.
#[test]
fn what_was_told_of_is_read() {
    explore(3, || {
        let memory = Memory::new();
        let others = [1, 2].map(|word| {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                memory.list().append(word);
                // Who tells it has no order of its own for the list.
                memory.told.fetch_add(1 << (8 * word), Release);
            })
        });
        let mut from = 0;
        let told = memory.told.load(Acquire);
        let (mut all, is_all) = read(memory.list(), &mut from);
        assert!(is_all);
        for word in [1, 2] {
            let is_told = told >> (8 * word) & 1 == 1;
            assert!(!is_told || all.contains(&word), "{word} of {all:?}");
        }
        for other in others {
            other.join().expect("no panic");
        }
        let (rest, is_all) = read(memory.list(), &mut from);
        assert!(is_all);
        all.extend(rest);
        assert!(all.contains(&1) && all.contains(&2), "{all:?}");
    });
}

/// A rank that was stopped while the others appended a whole round hides none of their words: who reads on gets them all
/// or is told that some are lost.
#[test]
fn what_is_lost_is_told() {
    explore(3, || {
        let memory = Memory::new();
        let other = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || memory.list().append(100))
        };
        let mut from = memory.list().count();
        (0..SLOTS as u64).for_each(|word| memory.list().append(word));
        let (all, is_all) = read(memory.list(), &mut from);
        let own = (0..SLOTS as u64).all(|word| all.contains(&word));
        assert!(!is_all || own, "{all:?}");
        other.join().expect("no panic");
    });
}

/// A rank copies what another one writes: either that one sees that it was copied, or the copy has what it wrote.
#[test]
fn what_is_copied_is_known_or_new() {
    explore(4, || {
        let memory = Memory::new();
        let other = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                memory.list().append_before([1].into_iter());
                memory.told.load(Relaxed)
            })
        };
        // What is written has no order of its own.
        memory.told.store(7, Relaxed);
        let mut from = 0;
        let mut is_known = false;
        assert!(memory.list().read_after(&mut from, |_| is_known = true));
        let copied = other.join().expect("no panic");
        assert!(is_known || copied == 7);
    });
}
