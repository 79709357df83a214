//! Locks and atomics: what they protect travels with them, through the homes of its pages.
//!
//! Other threads of the rank may write meanwhile. So each byte that changed is looked at once, for the message and the
//! twin; and pages are closed before it is found what changed in them, not after.

use super::{Access, Coherence, Event, Machine, changed_ranges};
use crate::{layout::Page, page_table::flag};

impl<M: Machine> Coherence<M> {
    /// Sends every changed byte home: what the holder of a lock wrote is at the homes afterwards.
    pub fn release(&mut self) {
        let mut sent = self.send_collected();
        sent |= self.send_section_changes();
        for index in 0..self.dirty.len() {
            let page = self.dirty[index];
            if self.pages.home(page) != self.rank && self.pages.has_twin(page) {
                self.send_changes(page);
                self.mark_flushed(page);
                sent = true;
            }
        }
        if sent {
            self.machine.settle();
        }
    }

    /// Drops every copy, and sends what changed in it: the next read of a page asks its home.
    pub fn acquire(&mut self) {
        self.counts.acquires += 1;
        // In a stretch a rank has one thread, and what is closed is told by what was sent.
        let in_stretch = self.sections.is_in_stretch();
        if in_stretch {
            self.release();
            self.forget_section_copies();
        }
        self.close_section_copies();
        let mut closed = Vec::new();
        for page in std::mem::take(&mut self.cached) {
            self.pages.clear(page, flag::CACHED);
            if self.pages.home(page) != self.rank
                && self.pages.access(page) != Access::None
                && !self.pages.has(page, flag::SECTION | flag::ENTERING)
            {
                closed.push(page);
                self.change_access(page, Access::None);
            }
        }
        self.apply_pending();
        if !in_stretch {
            self.release();
            self.forget_section_copies();
        }
        for page in closed {
            self.pages.drop_twin(page);
        }
        self.drop_private_copies();
        let dirty = std::mem::take(&mut self.dirty);
        for page in dirty {
            if self.pages.home(page) != self.rank && self.pages.access(page) == Access::None {
                self.pages.clear(page, flag::DIRTY);
                self.mark_flushed(page);
            } else {
                self.dirty.push(page);
            }
        }
    }

    /// Sends the changed bytes of `page` to where an atomic operation is carried out.
    pub fn before_atomic(&mut self, page: Page) {
        if self.pages.has(page, flag::SECTION | flag::ENTERING) {
            self.before_atomic_in_sections(page);
        }
        if self.pages.has(page, flag::SECTION) {
            return;
        }
        self.combine_page(page);
        if self.pages.home(page) != self.rank && self.pages.has_twin(page) {
            self.send_changes(page);
            self.mark_flushed(page);
            self.machine.settle();
        }
    }

    /// Records that `bytes` now stand at the home of `page`, in this rank's copy too if it has one.
    pub fn after_atomic(&mut self, page: Page, offset: usize, bytes: &[u8], written: bool) {
        if self.pages.has(page, flag::SECTION) {
            // Where it is held others may change it meanwhile.
            if self.holder(page, offset, bytes.len()) == Some(self.rank) {
                return;
            }
            self.machine.contents(page)[offset..offset + bytes.len()].copy_from_slice(bytes);
            if let Some(twin) = self.pages.twin(page) {
                twin[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            return;
        }
        if self.pages.home(page) != self.rank && self.pages.access(page) != Access::None {
            self.machine.contents(page)[offset..offset + bytes.len()].copy_from_slice(bytes);
            if let Some(twin) = self.pages.twin(page) {
                twin[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
        if written {
            self.mark_flushed(page);
        }
    }

    pub(super) fn mark_flushed(&mut self, page: Page) {
        if self.pages.mark(page, flag::FLUSHED) {
            self.flushed.push(page);
        }
    }

    pub(super) fn remember_copy(&mut self, page: Page) {
        if self.pages.mark(page, flag::CACHED) {
            self.cached.push(page);
        }
    }

    /// Sends the bytes of `page` that differ from its twin to its home and updates the twin.
    pub(super) fn send_changes(&mut self, page: Page) {
        self.send_collected_of(page);
        let home = self.pages.home(page);
        let contents = *self.machine.contents(page);
        let Some(twin) = self.pages.twin(page) else {
            return;
        };
        let mut sent = 0;
        for (start, end) in changed_ranges(&contents, twin) {
            self.machine.put(page, start, &contents[start..end], home);
            sent += end - start;
        }
        twin.copy_from_slice(&contents);
        self.counts.diffs += 1;
        self.counts.diff_bytes += sent as u64;
        if sent > 0 {
            M::tell(|| Event::Diff {
                page,
                bytes: sent,
                to: home,
            });
        }
    }
}
