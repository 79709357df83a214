//! What ranks of different nodes copy from each other while all of them are at a synchronisation: each tells the others what it
//! asks for, and they send it, in messages that both sides begin. So nobody is interrupted, and bytes travel as MPI has them
//! travel.
//!
//! Guarantee: a rank has what it asked for when it returns, as its owners have it when they send it; these may write it when they
//! have returned. What was asked for before is told by its number alone, which both sides have given it when it was new.

use std::{collections::BTreeMap, rc::Rc};

use crate::{
    coherence::{Coherence, Event, Machine},
    geometry::{
        ranges::{Range, Ranges},
        signature::Signature,
    },
};

/// So many lists are known to both sides.
const MOST_LISTS: usize = if cfg!(test) { 2 } else { 64 };

/// Words of a message that says what is asked for: the list's number, and how many words of it follow.
const HEAD: usize = 2;

/// What one rank has asked another one for.
#[derive(Default)]
struct Lists {
    all: Vec<(Signature, Rc<Vec<Range>>)>,
    next: usize,
}

impl Lists {
    fn find(&self, id: Signature) -> Option<usize> {
        self.all.iter().position(|(known, _)| *known == id)
    }

    /// Notes a list that is new, in place of the oldest one where there are many. Its number.
    fn note(&mut self, id: Signature, list: Rc<Vec<Range>>) -> usize {
        let number = self.next;
        match self.all.get_mut(number) {
            Some(room) => *room = (id, list),
            None => self.all.push((id, list)),
        }
        self.next = (number + 1) % MOST_LISTS;
        number
    }
}

/// By the other rank: what this one has told, and what it has heard.
#[derive(Default)]
pub(super) struct Asked {
    told: BTreeMap<u32, Lists>,
    heard: BTreeMap<u32, Lists>,
}

impl Asked {
    /// The number of what this rank asks `other` for, and its words where that does not know it.
    fn tell(&mut self, other: u32, list: &[Range]) -> (usize, Vec<u64>) {
        let told = self.told.entry(other).or_default();
        let id = id_of(list);
        match told.find(id) {
            Some(number) => (number, Vec::new()),
            None => {
                let words = list.iter().flat_map(|&(start, end)| [start, end]);
                (told.note(id, Rc::new(list.to_vec())), words.collect())
            }
        }
    }

    /// What `other` asks for by a number; by words that are new.
    fn hear(&mut self, other: u32, number: usize, words: &[u64]) -> Rc<Vec<Range>> {
        let heard = self.heard.entry(other).or_default();
        if !words.is_empty() {
            let pairs = words.as_chunks().0.iter();
            let list = Rc::new(pairs.map(|&[start, end]| (start, end)).collect::<Vec<_>>());
            let noted = heard.note(id_of(&list), list);
            assert_eq!(noted, number, "both sides number lists alike");
        }
        Rc::clone(&heard.all[number].1)
    }
}

fn id_of(list: &[Range]) -> Signature {
    Ranges::of(list.to_vec()).signature()
}

fn bytes_of_words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl<M: Machine> Coherence<M> {
    /// Copies what is `wanted`, given by its owner, from `partners` on other nodes, all of which do the same with this rank. Of
    /// others nothing is wanted.
    pub(super) fn copy_from_partners(&mut self, wanted: &[(u32, Vec<Range>)], partners: &[u32]) {
        let wanted_of = |other: u32| {
            let one = wanted.iter().find(|(owner, _)| *owner == other);
            one.map_or(&[][..], |(_, ranges)| &ranges[..])
        };
        for &other in partners {
            let list = wanted_of(other);
            let (number, words) = match list.is_empty() {
                true => (usize::MAX, Vec::new()),
                false => self.sections.asked.tell(other, list),
            };
            let head: [u64; HEAD] = [number as u64, words.len() as u64];
            self.machine.push(other, bytes_of_words(&head));
            if !words.is_empty() {
                self.machine.push(other, bytes_of_words(&words));
            }
        }
        let mut coming = Vec::new();
        for &other in partners {
            let head = self.words_from(other, HEAD);
            let (number, count) = (head[0] as usize, head[1] as usize);
            let words = match count {
                0 => Vec::new(),
                count => self.words_from(other, count),
            };
            // What this rank asked for comes behind that.
            let mut place = 0;
            let parts = wanted_of(other).iter().map(|&(start, end)| {
                let before = place;
                place += (end - start) as usize;
                (before, (start, end))
            });
            let parts: Vec<(usize, Range)> = parts.collect();
            if !parts.is_empty() {
                coming.push((other, self.machine.expect(other, place), parts));
            }
            if number != usize::MAX {
                let list = self.sections.asked.hear(other, number, &words);
                M::tell(|| Event::Send {
                    to: other,
                    ranges: &list,
                });
                let bytes = self.machine.pack(&list);
                self.machine.push(other, bytes);
            }
        }
        for (other, number, parts) in coming {
            self.machine.take(other, number, &parts);
            self.machine.forget(other, number);
        }
    }

    /// So many words from another rank.
    fn words_from(&mut self, other: u32, count: usize) -> Vec<u64> {
        let number = self.machine.expect(other, 8 * count);
        let bytes = self.machine.received(other, number);
        self.machine.forget(other, number);
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u64::from_le_bytes(*word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    #[test]
    fn both_sides_know_what_a_number_stands_for() {
        let mut random = Random(29);
        let (mut asks, mut hears) = (Asked::default(), Asked::default());
        let mut known = 0;
        for _ in 0..400 {
            let start = 8 * random.below(2 * MOST_LISTS) as u64;
            let list = vec![(start, start + 4), (start + 100, start + 108)];
            let (number, words) = asks.tell(1, &list);
            known += usize::from(words.is_empty());
            assert_eq!(*hears.hear(0, number, &words), list);
        }
        assert!(known > 20 && known < 380, "{known}");
    }
}
