//! What ranks announce, hear of each other and tell each other directly: words of lists in control areas, and what they mean.
//!
//! Guarantee: what a rank has announced or heard in an interval, and may matter to one that it tells directly, is in the
//! [`Journal`], or that says that something is not.

use std::{
    collections::BTreeMap,
    sync::atomic::{Ordering::SeqCst, fence},
};

use super::{Memory, Peer};
use crate::{
    byte_sets, control_area,
    directly::{self, Arrived, Flag},
    layout::control_offset,
    ring::{self, Ring},
    service::{Atomic, Heard},
    view::View,
};
use okl_coherence::{
    Heard as Announcements, Message, Page,
    geometry::{ranges::Ranges, signature::Signature},
};

/// A page among what was announced, and the rank that did.
pub(super) const ANNOUNCED_BY: u32 = 32;
/// Instead of a page: all; and the place of a set of bytes among those of the rank that has announced it.
pub(super) const ALL_PAGES: u64 = u32::MAX as u64;
pub(super) const FIRST_SET: u64 = ALL_PAGES - byte_sets::WORDS as u64;
/// Number of the rank, as far as it fits: who has more ranks hears what it announced itself.
pub(super) const MOST_KNOWN: u32 = 1 << 16;
/// Pages and their number among what was copied.
pub(super) const COPIED_COUNT: u32 = 32;
pub(super) const MOST_COPIED: u32 = (1 << 16) - 1;
/// What was announced is asked for, between nodes, up to so much.
pub(super) const MOST_HEARD: u64 = 4096;

/// What this rank has announced and heard since the interval began, as words of the list, for who is told directly.
#[derive(Default)]
pub(super) struct Journal {
    words: Vec<u64>,
    /// Some is not in it.
    lacks_some: bool,
    /// How much of it each rank was told.
    told: BTreeMap<u32, usize>,
}

impl Journal {
    /// More words are told as any pages.
    const MOST: usize = 1 << 14;

    pub(super) fn note(&mut self, words: impl Iterator<Item = u64>) {
        if !self.lacks_some {
            self.words.extend(words);
            if self.words.len() > Self::MOST {
                self.lose();
            }
        }
    }

    pub(super) fn lose(&mut self) {
        self.lacks_some = true;
        self.words.clear();
    }

    /// What `rank` was not told yet.
    fn tell(&mut self, rank: u32) -> Vec<u64> {
        if self.lacks_some {
            return vec![ALL_PAGES];
        }
        let before = self.told.insert(rank, self.words.len()).unwrap_or(0);
        let is_known = |word: &u64| (word >> ANNOUNCED_BY) as u32 == rank;
        let new = self.words[before..].iter().copied();
        new.filter(|word| !is_known(word)).collect()
    }
}

impl Memory {
    /// The list at `place` of a control area.
    pub(super) fn list(&self, view: View, place: usize) -> Ring<'static> {
        Ring(view.words(control_offset(&self.layout) + place, ring::WORDS))
    }

    /// Where rank 0 is on another node: copies the words of what was announced that this rank has not heard. How many
    /// were announced in all.
    pub(super) fn hear(&mut self) -> u64 {
        let list = self.list(self.own, control_area::ANNOUNCED);
        if !std::mem::take(&mut self.has_just_heard) {
            // A load of some control word.
            let at = control_offset(&self.layout) + control_area::ANNOUNCED;
            self.load(at, 8, 0);
            self.has_just_heard = false;
        }
        let count = list.count();
        if count.saturating_sub(self.heard) > MOST_HEARD {
            return count;
        }
        while self.mirrored < count {
            let at = control_offset(&self.layout) + control_area::ANNOUNCED;
            let heard = Heard {
                offset: at as u64,
                from: self.mirrored,
                copy: list,
            };
            self.mirrored += ring::COPIED as u64;
            self.remote().atomic(at, 8, Atomic::Load, 0, Some(heard));
        }
        count
    }

    /// Appends words to the list of what was announced.
    pub(super) fn append_announced(&mut self, words: impl Iterator<Item = u64>) {
        let by = u64::from(self.rank % MOST_KNOWN) << ANNOUNCED_BY;
        let words: Vec<u64> = words.map(|word| by | word).collect();
        if self.remote.is_some() {
            self.journal.note(words.iter().copied());
        }
        let words = words.into_iter();
        match self.peers[0] {
            Peer::Mapped(view) => {
                // Who acquires by this sees no flag earlier.
                fence(SeqCst);
                if let Some(remote) = &mut self.remote {
                    remote.settle_puts();
                }
                let list = self.list(view, control_area::ANNOUNCED);
                words.for_each(|word| list.append(word));
            }
            Peer::Remote => {
                let at = (control_offset(&self.layout) + control_area::ANNOUNCED) as u64;
                let remote = self.remote();
                remote.settle_but(0);
                words.for_each(|word| remote.append(at, word, 0));
            }
        }
    }

    /// A set of bytes that `rank` has announced, and what stands for it.
    fn set_of(&mut self, rank: u32, place: u32) -> (Signature, Ranges) {
        let at = control_offset(&self.layout) + control_area::BYTE_SETS;
        let mut sets = std::mem::take(&mut self.byte_sets);
        let found = sets.find(rank, place, |from, target| {
            match self.peers[rank as usize] {
                Peer::Mapped(view) => {
                    let words = view.words(at + 8 * from, target.len());
                    for (target, word) in target.iter_mut().zip(words) {
                        *target = word.load(SeqCst);
                    }
                }
                Peer::Remote => {
                    let mut bytes = vec![0; 8 * target.len()];
                    if !bytes.is_empty() {
                        self.remote().read_words(at + 8 * from, &mut bytes, rank);
                    }
                    for (target, word) in target.iter_mut().zip(bytes.as_chunks().0) {
                        *target = u64::from_le_bytes(*word);
                    }
                }
            }
        });
        self.byte_sets = sets;
        found
    }

    /// What words of the list say; `None` where that may be any pages.
    pub(super) fn announcements(
        &mut self,
        words: impl Iterator<Item = u64>,
    ) -> Option<Announcements> {
        let mut all = Announcements::default();
        for word in words {
            let by = (word >> ANNOUNCED_BY) as u32;
            match word & ALL_PAGES {
                ALL_PAGES => return None,
                set @ FIRST_SET.. => all.bytes.push(self.set_of(by, (set - FIRST_SET) as u32)),
                page => all.pages.push(page as Page),
            }
        }
        Some(all)
    }

    /// Tells `rank`, on another node, that a flag was stored, all that it has not been told yet, and with it what is in
    /// `ranges`.
    pub(super) fn tell(
        &mut self,
        flag: Flag,
        interval: u64,
        ranges: &[(u64, u64)],
        slot: usize,
        rank: u32,
    ) {
        let announced = self.journal.tell(rank);
        let own = self.own;
        let count = match self.peers[0] {
            Peer::Mapped(view) => self.list(view, control_area::ANNOUNCED).count(),
            Peer::Remote => 0,
        };
        let message = directly::pack(
            flag,
            interval,
            count,
            &announced,
            ranges,
            |message, range| {
                let (start, end) = range;
                let (at, length) = (start as usize, (end - start) as usize);
                // SAFETY: within the own file. This rank has written these bytes, and nobody does so now.
                message
                    .extend_from_slice(unsafe { std::slice::from_raw_parts(own.at(at), length) });
            },
        );
        let offset = control_offset(&self.layout) + slot;
        let is_stored = flag.version == 0;
        self.remote().tell(offset, &message, is_stored, rank);
    }

    /// What another rank has told this one.
    pub(super) fn message(&mut self, arrived: Arrived) -> Message {
        let (me, from) = (u64::from(self.rank), u64::from(arrived.from));
        let mut others = arrived.announced;
        if others.contains(&ALL_PAGES) && from != 0 {
            others.push(from << ANNOUNCED_BY | ALL_PAGES);
        }
        others.retain(|word| word >> ANNOUNCED_BY != me);
        self.journal.note(others.iter().copied());
        // The only other rank has told all that it announced. So what it would take too long to ask for is known.
        if self.peers.len() == 2 {
            self.heard = self.heard.max(arrived.count);
        }
        let is_own = |word: &u64| word >> ANNOUNCED_BY == from;
        let (own, others): (Vec<u64>, Vec<u64>) = others.into_iter().partition(is_own);
        Message {
            from: arrived.from,
            own: self.announcements(own.into_iter()),
            others: self.announcements(others.into_iter()),
            ranges: arrived.ranges,
            bytes: arrived.bytes,
        }
    }
}
