//! Pages in update mode: few, small changes by rank 0, read by all.
//!
//! The captured variables of a region usually share a page of rank 0's stack or of the globals, which
//! serial code writes between any two regions: their pages are carried by forks. In a region rank 0 sets what all read
//! next, as the result of a reduction. Guarantee: such a page is writable on rank 0 and readable
//! on the other ranks without any change of protection; the bytes that rank 0 changed travel with its
//! next fork or synchronisation. A write of another rank ends the mode, and so do many changes in a
//! region.

use std::collections::HashMap;

use super::{Access, Coherence, Machine, PAGE, Page, changed_ranges};
use crate::page_table::flag;

/// Most pages in update mode.
const MOST: usize = 16;
/// More changed bytes than this in a region, and the page is no longer in update mode.
const MOST_BYTES: usize = 512;
/// So often others have copied, in regions, what rank 0 wrote since the time before: the page goes into update mode.
const COPIED: i32 = 2;
/// That often more, once it had to leave.
const AGAIN: i32 = if cfg!(test) { 2 } else { 64 };
/// Pages of which that is counted; when there are more all are forgotten.
const MOST_COUNTED: usize = 4096;

/// Which pages are in update mode, and which are to be.
#[derive(Default)]
pub(super) struct Updated {
    /// In the order in which they came.
    pub(super) pages: Vec<Page>,
    /// How often others have copied what rank 0 wrote; the same on all ranks.
    copied: HashMap<Page, i32>,
    /// Those that go into update mode at this synchronisation.
    wanted: Vec<Page>,
}

/// The ranges of whole words in which two pages differ: fewer and sooner found than those of bytes.
fn changed_words(new: &[u8; PAGE], old: &[u8; PAGE]) -> Vec<(usize, usize)> {
    const WORD: usize = size_of::<u64>();
    // Most of a page is as before.
    const PIECE: usize = 512;
    let mut changed: Vec<(usize, usize)> = Vec::new();
    for piece in (0..PAGE).step_by(PIECE) {
        if new[piece..piece + PIECE] == old[piece..piece + PIECE] {
            continue;
        }
        for word in (piece..piece + PIECE).step_by(WORD) {
            if new[word..word + WORD] == old[word..word + WORD] {
                continue;
            }
            match changed.last_mut() {
                Some((_, end)) if *end == word => *end += WORD,
                _ => changed.push((word, word + WORD)),
            }
        }
    }
    changed
}

impl<M: Machine> Coherence<M> {
    /// On rank 0: what changed in pages in update mode since the last call, for
    /// [`Coherence::apply_updates`]; at a synchronisation of a region before the notices are collected.
    pub(crate) fn take_updates(&mut self, in_region: bool) -> Vec<u64> {
        let mut words = Vec::new();
        if self.rank != 0 {
            return words;
        }
        for index in 0..self.updated.pages.len() {
            let page = self.updated.pages[index];
            let contents = self.machine.contents(page);
            let Some(published) = self.pages.twin(page) else {
                continue;
            };
            if contents.is(published) {
                continue;
            }
            let contents = contents.copy();
            // In a region another rank may have written, as it declared, to the same word.
            let changed = match in_region {
                true => changed_ranges(&contents, published).collect(),
                false => changed_words(&contents, published),
            };
            let bytes: usize = changed.iter().map(|(start, end)| end - start).sum();
            if in_region && bytes > MOST_BYTES {
                self.note_written(page);
                continue;
            }
            for (start, end) in changed {
                words.push(u64::from(page) << 32 | (start as u64) << 16 | (end - start) as u64);
                words.extend(contents[start..end].chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                }));
            }
            published.copy_from_slice(&contents);
        }
        words
    }

    /// On all ranks, after the notices: takes over what rank 0 changed.
    pub(crate) fn apply_updates(&mut self, mut words: &[u64]) {
        while let Some((&place, rest)) = words.split_first() {
            let page = (place >> 32) as Page;
            let start = (place >> 16 & 0xffff) as usize;
            let length = (place & 0xffff) as usize;
            let (data, rest) = rest.split_at(length.div_ceil(8));
            words = rest;
            // What a page outside the mode holds its home has; another rank may be about to own some of it.
            if self.rank == 0 || !self.pages.has(page, flag::UPDATED) {
                continue;
            }
            let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_ne_bytes()).collect();
            self.machine.contents(page).write(start, &bytes[..length]);
        }
    }

    /// On all ranks: puts a page that rank 0 sent whole into update mode.
    pub(super) fn enter_update_mode(&mut self, page: Page) {
        self.pages.mark(page, flag::UPDATED);
        self.updated.pages.push(page);
        if self.rank == 0 {
            self.pages.drop_twin(page);
            self.pages.make_twin(page, self.machine.contents(page));
        }
    }

    /// On all ranks: a page is written in a region as it should not be in update mode, which ends.
    pub(super) fn must_leave_update_mode(&mut self, page: Page) {
        if self.pages.has(page, flag::UPDATED) {
            self.updated.copied.insert(page, -AGAIN);
            self.leave_update_mode(page);
        }
    }

    /// On all ranks: ends a page's update mode.
    pub(super) fn leave_update_mode(&mut self, page: Page) {
        if self.pages.has(page, flag::UPDATED) {
            self.pages.clear(page, flag::UPDATED);
            self.updated.pages.retain(|&other| other != page);
            if self.rank == 0 {
                self.pages.drop_twin(page);
            }
        }
    }

    /// On all ranks, at a synchronisation of a region: others have copied a page that its home alone may have written.
    pub(super) fn count_copied(&mut self, page: Page) {
        if self.pages.home(page) != 0 {
            return;
        }
        let Updated { copied, wanted, .. } = &mut self.updated;
        if copied.len() >= MOST_COUNTED {
            copied.clear();
        }
        let times = copied.entry(page).or_default();
        *times += 1;
        if *times >= COPIED {
            wanted.push(page);
        }
    }

    /// The pages that go into update mode now, when rank 0 has handed their contents round; the same on all ranks. All that
    /// ranks declared has been applied: others are in section mode.
    pub(crate) fn wanted_updates(&mut self) -> Vec<Page> {
        let room = MOST - self.updated.pages.len().min(MOST);
        let mut wanted = std::mem::take(&mut self.updated.wanted);
        wanted.retain(|&page| self.pages.home(page) == 0 && !self.pages.has(page, flag::SECTION));
        wanted.truncate(room);
        wanted
    }

    /// On rank 0, before a fork: makes room for `wanted` more pages in update mode. The notices tell.
    pub(crate) fn make_room_for_updates(&mut self, wanted: usize) {
        let surplus = (self.updated.pages.len() + wanted).saturating_sub(MOST);
        for index in 0..surplus.min(self.updated.pages.len()) {
            let page = self.updated.pages[index];
            self.note_written(page);
        }
    }

    fn note_written(&mut self, page: Page) {
        if self.pages.mark(page, flag::DIRTY) {
            self.dirty.push(page);
        }
    }

    /// After [`Coherence::apply`]: takes `contents` of `page`, which came from its home with the fork, or at a synchronisation.
    pub(crate) fn receive(&mut self, page: Page, contents: &[u8; PAGE]) {
        if self.rank != 0 {
            self.machine.contents(page).write(0, contents);
            self.remember_copy(page);
            self.change_access(page, Access::Read);
        } else if self.pages.access(page) != Access::Write {
            self.change_access(page, Access::Write);
        }
        self.pages.set_exclusive(page, false);
        self.enter_update_mode(page);
    }
}
