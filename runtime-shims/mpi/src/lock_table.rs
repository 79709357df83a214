//! Where the locks of a job are: a table of words that all ranks reach, and which slot of it is whose.
//!
//! Guarantee: a lock has one slot from its first use until it is destroyed; then another lock may get it. A slot
//! names its lock, so that a rank which remembers the slot of a lock that was destroyed notices it, without asking
//! more than it asks anyway.
//!
//! Open addressing with linear probing: a search ends at an empty slot. Where a slot is given back, others may move
//! into it (Knuth, The Art of Computer Programming, section 6.4, algorithm R). Slots are only taken, moved and given
//! back under the table's own lock; a rank that finds its lock's slot to be another's searches again, under it too.

/// The words of a table, which any rank may change at any time.
pub(crate) trait Words {
    /// Compare and exchange of a slot; what it was.
    fn exchange(&self, slot: usize, expected: u64, desired: u64) -> u64;
    /// A slot.
    fn load(&self, slot: usize) -> u64;
    /// Runs `body` while no other rank does.
    fn exclusively<R>(&self, body: impl FnOnce() -> R) -> R;
}

/// The lowest bits of a slot say which rank holds the lock, plus 1; the others are its key, an address of the program.
const HOLDER_BITS: u32 = 16;
const EMPTY: u64 = 0;

/// What a slot holds whose lock is free.
pub(crate) fn free(key: u64) -> u64 {
    key << HOLDER_BITS
}

/// What a slot holds whose lock `rank` has.
pub(crate) fn held(key: u64, rank: u32) -> u64 {
    free(key) | (u64::from(rank) + 1)
}

/// Whether what a slot holds is about the lock `key`.
pub(crate) fn is_of(word: u64, key: u64) -> bool {
    word >> HOLDER_BITS == key
}

/// A table of so many slots.
pub(crate) struct LockTable<W> {
    words: W,
    slots: usize,
}

impl<W: Words> LockTable<W> {
    pub(crate) fn new(words: W, slots: usize) -> Self {
        Self { words, slots }
    }

    /// The slot of a lock, which gets one if it has none; `None`: there are no more.
    pub(crate) fn slot_of(&self, key: u64) -> Option<usize> {
        self.words.exclusively(|| {
            let slot = self.search(key)?;
            self.words.exchange(slot, EMPTY, free(key));
            Some(slot)
        })
    }

    /// Gives the slot of a lock back, if it has one.
    pub(crate) fn give_back(&self, key: u64) {
        self.words.exclusively(|| {
            let found = self.search(key);
            let Some(mut hole) = found.filter(|&slot| self.take(slot) != EMPTY) else {
                return;
            };
            let after = (hole + 1..self.slots).chain(0..hole);
            for slot in after {
                let word = self.words.load(slot);
                if word == EMPTY {
                    return;
                }
                // Searches for it that begin behind the hole do not miss it.
                let first = self.first(word >> HOLDER_BITS);
                let from = |start: usize| (slot + self.slots - start) % self.slots;
                if from(first) >= from(hole) {
                    let word = self.take(slot);
                    self.words.exchange(hole, EMPTY, word);
                    hole = slot;
                }
            }
        });
    }

    /// Where the search for a lock begins.
    fn first(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % self.slots
    }

    /// The slot of a lock, or the empty one that it may have.
    fn search(&self, key: u64) -> Option<usize> {
        let first = self.first(key);
        (first..self.slots).chain(0..first).find(|&slot| {
            let word = self.words.load(slot);
            word == EMPTY || is_of(word, key)
        })
    }

    /// Empties a slot, whose lock may be taken and released meanwhile; what it held.
    fn take(&self, slot: usize) -> u64 {
        let mut old = self.words.load(slot);
        loop {
            let was = self.words.exchange(slot, old, EMPTY);
            if was == old {
                return old;
            }
            old = was;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{HashMap, HashSet},
        sync::{
            Mutex,
            atomic::{
                AtomicU64, AtomicUsize,
                Ordering::{Relaxed, SeqCst},
            },
        },
    };

    use super::*;
    use okl_testing::Random;

    struct Memory {
        words: Vec<AtomicU64>,
        exclusive: Mutex<()>,
        looks: AtomicUsize,
    }

    impl Memory {
        fn new(slots: usize) -> Self {
            Self {
                words: (0..slots).map(|_| AtomicU64::new(0)).collect(),
                exclusive: Mutex::new(()),
                looks: AtomicUsize::new(0),
            }
        }
    }

    impl Words for &Memory {
        fn exchange(&self, slot: usize, expected: u64, desired: u64) -> u64 {
            self.words[slot]
                .compare_exchange(expected, desired, SeqCst, SeqCst)
                .unwrap_or_else(|old| old)
        }

        fn load(&self, slot: usize) -> u64 {
            self.looks.fetch_add(1, Relaxed);
            self.words[slot].load(SeqCst)
        }

        fn exclusively<R>(&self, body: impl FnOnce() -> R) -> R {
            let _guard = self.exclusive.lock().unwrap();
            body()
        }
    }

    /// An address that a lock may have.
    fn address(number: u64) -> u64 {
        0x5555_0000_0000 + 8 * number
    }

    #[test]
    fn a_lock_has_one_slot_while_it_exists() {
        for seed in 1..200 {
            let mut random = Random(seed * 0x9e37_79b9);
            let slots = 4 + random.below(12);
            let memory = Memory::new(slots);
            let table = LockTable::new(&memory, slots);
            let mut known: HashSet<u64> = HashSet::new();
            for _ in 0..300 {
                let key = address(random.below(24) as u64);
                if random.chance(50) {
                    let is_there = table.slot_of(key).is_some();
                    assert_eq!(is_there, known.len() < slots || known.contains(&key));
                    if is_there {
                        known.insert(key);
                    }
                } else {
                    table.give_back(key);
                    known.remove(&key);
                }
                let used = (0..slots).filter(|&slot| (&memory).load(slot) != EMPTY);
                assert_eq!(used.count(), known.len(), "seed {seed}");
                for &key in &known {
                    let slot = table.slot_of(key).expect("it has a slot");
                    assert!(is_of((&memory).load(slot), key), "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn ever_new_locks_stay_cheap() {
        let memory = Memory::new(1024);
        let table = LockTable::new(&memory, 1024);
        for kept in 0..100 {
            table.slot_of(address(1_000_000 + 7 * kept));
        }
        for number in 0..100_000 {
            assert!(table.slot_of(address(number)).is_some());
            table.give_back(address(number));
        }
        let looks = memory.looks.load(Relaxed);
        assert!(looks < 100_000 * 12, "{looks} looks");
    }

    #[test]
    fn one_thread_at_a_time_holds_a_lock_that_comes_and_goes() {
        const LOCKS: usize = 3;
        let memory = Memory::new(8);
        let inside: Vec<AtomicU64> = (0..LOCKS).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let (memory, inside) = (&memory, &inside);
                scope.spawn(move || {
                    let table = LockTable::new(memory, 8);
                    let mut known: HashMap<u64, usize> = HashMap::new();
                    let mut random = Random(u64::from(thread) + 1);
                    for _ in 0..2000 {
                        let number = random.below(LOCKS);
                        let key = address(number as u64);
                        loop {
                            let slot = *known
                                .entry(key)
                                .or_insert_with(|| table.slot_of(key).unwrap());
                            let old = memory.exchange(slot, free(key), held(key, thread));
                            if old == free(key) {
                                break;
                            }
                            if !is_of(old, key) {
                                known.remove(&key);
                            }
                            std::thread::yield_now();
                        }
                        assert_eq!(inside[number].fetch_add(1, SeqCst), 0);
                        inside[number].fetch_sub(1, SeqCst);
                        let slot = known[&key];
                        assert_eq!(
                            memory.exchange(slot, held(key, thread), free(key)),
                            held(key, thread)
                        );
                        // Locks that nobody else uses, which take and give back slots in between.
                        let own = address(100 + u64::from(thread));
                        table.slot_of(own);
                        table.give_back(own);
                    }
                });
            }
        });
    }
}
