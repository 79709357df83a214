//! Pages in update mode: few, small changes by rank 0, read by all.
//!
//! The captured variables of a region usually share a page of rank 0's stack or of the globals, which
//! serial code writes between any two regions: their pages are carried by forks. In a region rank 0 sets what all read
//! next, as the result of a reduction. Guarantee: such a page is writable on rank 0 and readable
//! on the other ranks without any change of protection; the bytes that rank 0 changed travel with its
//! next fork or synchronisation. A write of another rank ends the mode, and so do many changes in a
//! region.

use std::collections::HashMap;

use super::{Access, Coherence, Machine, PAGE, Page};
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
    /// Words that changed in a page, kept for its memory.
    changed: Vec<(usize, u64)>,
}

/// Where words of a page differ from those of `old`, given with their numbers: as ranges of the page, of whole words where
/// they are to be, which are fewer, or of the bytes that differ.
fn changed_ranges_of(
    changed: &[(usize, u64)],
    old: &[u8; PAGE],
    in_whole_words: bool,
    mut found: impl FnMut(usize, usize),
) {
    const WORD: usize = size_of::<u64>();
    let mut open: Option<(usize, usize)> = None;
    let mut add = |start: usize, end: usize| match &mut open {
        Some((_, last)) if *last == start => *last = end,
        _ => {
            if let Some((start, end)) = open.replace((start, end)) {
                found(start, end);
            }
        }
    };
    for &(number, word) in changed {
        let at = number * WORD;
        if in_whole_words {
            add(at, at + WORD);
            continue;
        }
        let bytes = word.to_ne_bytes().into_iter().zip(&old[at..at + WORD]);
        for (at, (new, old)) in (at..).zip(bytes) {
            if new != *old {
                add(at, at + 1);
            }
        }
    }
    if let Some((start, end)) = open {
        found(start, end);
    }
}

impl<M: Machine> Coherence<M> {
    /// On rank 0: what changed in pages in update mode since the last call, for
    /// [`Coherence::apply_updates`]; at a synchronisation of a region before the notices are collected.
    pub(crate) fn take_updates(&mut self, in_region: bool) -> Vec<u64> {
        let mut words = Vec::new();
        if self.rank != 0 {
            return words;
        }
        let mut changed = std::mem::take(&mut self.updated.changed);
        for index in 0..self.updated.pages.len() {
            let page = self.updated.pages[index];
            let contents = self.machine.contents(page);
            let Some(published) = self.pages.twin(page) else {
                continue;
            };
            changed.clear();
            contents.differing(published, |number, word| changed.push((number, word)));
            if changed.is_empty() {
                continue;
            }
            // In a region another rank may have written, as it declared, to the same word.
            let mut bytes = 0;
            let before = words.len();
            changed_ranges_of(&changed, published, !in_region, |start, end| {
                bytes += end - start;
                words.push(u64::from(page) << 32 | (start as u64) << 16 | (end - start) as u64);
                words.resize(words.len() + (end - start).div_ceil(8), 0);
            });
            if in_region && bytes > MOST_BYTES {
                words.truncate(before);
                self.note_written(page);
                continue;
            }
            for &(number, word) in &changed {
                published[8 * number..8 * number + 8].copy_from_slice(&word.to_ne_bytes());
            }
            let mut at = before;
            while let Some(&place) = words.get(at) {
                let start = (place >> 16 & 0xffff) as usize;
                let length = (place & 0xffff) as usize;
                let data = published[start..start + length].chunks(8);
                for (room, chunk) in words[at + 1..].iter_mut().zip(data) {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    *room = u64::from_ne_bytes(word);
                }
                at += 1 + length.div_ceil(8);
            }
        }
        self.updated.changed = changed;
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
            let contents = self.machine.contents(page);
            for (word, at) in data.iter().zip((0..length).step_by(8)) {
                let end = 8.min(length - at);
                contents.write(start + at, &word.to_ne_bytes()[..end]);
            }
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

#[cfg(test)]
mod tests {
    use okl_testing::Random;

    use super::*;
    use crate::{Contents, coherence::changed_ranges};

    #[test]
    fn what_changed_is_told_in_bytes_or_in_words() {
        let mut random = Random(41);
        for _ in 0..500 {
            let mut old = [0; PAGE];
            (0..PAGE).for_each(|at| old[at] = random.below(3) as u8);
            let mut new = old;
            for _ in 0..random.below(9) {
                let start = random.below(PAGE);
                let length = 1 + random.below(20);
                let end = PAGE.min(start + length);
                (start..end).for_each(|at| new[at] = random.below(3) as u8);
            }
            let page = Contents::zeros();
            page.write(0, &new);
            let mut words = Vec::new();
            page.differing(&old, |number, word| words.push((number, word)));
            let ranges = |in_whole_words| {
                let mut all = Vec::new();
                let add = |start, end| all.push((start, end));
                changed_ranges_of(&words, &old, in_whole_words, add);
                all
            };
            let expected: Vec<_> = changed_ranges(&new, &old).collect();
            assert_eq!(ranges(false), expected);
            let rounded = expected.iter().map(|&(start, end)| {
                let (start, end) = (start / 8 * 8, end.next_multiple_of(8));
                (start as u64, end as u64)
            });
            let rounded = crate::geometry::ranges::Ranges::of(rounded.collect());
            let rounded = rounded.iter();
            let rounded: Vec<_> = rounded
                .map(|(start, end)| (start as usize, end as usize))
                .collect();
            assert_eq!(ranges(true), rounded);
        }
    }
}
