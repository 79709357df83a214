//! Pages in update mode: few, small changes by rank 0, read by all.
//!
//! The captured variables of a region usually share a page of rank 0's stack or of the globals, which
//! serial code writes between any two regions. Guarantee: such a page is writable on rank 0 and readable
//! on the other ranks without any change of protection; the bytes that rank 0 changed travel with its
//! next fork or synchronisation. A write of another rank ends the mode, and so do many changes in a
//! region.

use super::{Access, Coherence, Machine, PAGE, Page, changed_ranges};
use crate::page_table::flag;

/// Most pages in update mode.
const MOST: usize = 16;
/// More changed bytes than this in a region, and the page is no longer in update mode.
const MOST_BYTES: usize = 512;

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
        for index in 0..self.updated.len() {
            let page = self.updated[index];
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
        self.updated.push(page);
        if self.rank == 0 {
            self.pages.drop_twin(page);
            self.pages.make_twin(page, self.machine.contents(page));
        }
    }

    /// On all ranks: ends a page's update mode.
    pub(super) fn leave_update_mode(&mut self, page: Page) {
        if self.pages.has(page, flag::UPDATED) {
            self.pages.clear(page, flag::UPDATED);
            self.updated.retain(|&other| other != page);
            if self.rank == 0 {
                self.pages.drop_twin(page);
            }
        }
    }

    /// On rank 0, before a fork: makes room for `wanted` more pages in update mode. The notices tell.
    pub(crate) fn make_room_for_updates(&mut self, wanted: usize) {
        let surplus = (self.updated.len() + wanted).saturating_sub(MOST);
        for index in 0..surplus.min(self.updated.len()) {
            let page = self.updated[index];
            self.note_written(page);
        }
    }

    fn note_written(&mut self, page: Page) {
        if self.pages.mark(page, flag::DIRTY) {
            self.dirty.push(page);
        }
    }

    /// After [`Coherence::apply`]: takes `contents` of `page`, which came from its home with the fork.
    pub(crate) fn receive(&mut self, page: Page, contents: &[u8; PAGE]) {
        if self.rank != 0 {
            self.machine.contents(page).write(0, contents);
            self.remember_copy(page);
            self.change_access(page, Access::Read);
        }
        self.pages.set_exclusive(page, false);
        self.enter_update_mode(page);
    }
}
