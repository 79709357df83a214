//! Locks and atomics: what they protect travels with them, through the homes of its pages.
//!
//! A release sends what this rank changed home and *announces* the pages to all ranks; an acquisition drops the copies of
//! pages that other ranks have announced, and no others. Guarantee: what a rank wrote before a release another one reads
//! after an acquisition that follows it, as every change of a page that others may have copies of is announced:
//!
//! * Pages that this rank opened for writing are compared with their twins. Its own ones get twins, too, once there is a
//!   release. What is not written for some releases is closed again, so that a release looks at few pages.
//! * Pages that this rank writes without faults, exclusive ones, others may copy meanwhile. Who does so tells this rank
//!   before. It looks at that after its writes: either it sees that the page was copied, or the copy has them. Then it
//!   announces the page, and closes it for writing.
//! * Pages in update mode rank 0 compares with what it published.
//! * Pages that it sent atomic operations and contributions to, which others change at the home.
//!
//! Pages in section mode have owners instead. In a tracked region these announce what they may have written, as they do of
//! exclusive pages, and others what they sent there. In a stretch nothing is announced of them: copies of them are dropped
//! by every acquisition. Where threads wait for flags between nests that declare their accesses they are announced as
//! [`super::declared`] has it.
//!
//! Other threads of the rank may write meanwhile. So each byte that changed is looked at once, for the message and the
//! twin; and pages are closed before it is found what changed in them, not after.

use super::{
    Access, Coherence, Event, Heard, Machine, Run, changed_ranges,
    declared::{self, directly::Message},
};
use crate::{
    layout::{PAGE, Page},
    page_table::flag,
};

/// After so many releases at which a page was as before it is closed: about what it costs to open it again.
const IDLE: u8 = if cfg!(test) { 2 } else { 40 };

/// Pages of a rank's own in section mode that stay open for writing when they are announced: they are announced again at each
/// release then, where closing them would cost a fault each.
const MOST_OWN_OPEN: usize = if cfg!(test) { 1 } else { 16 };

/// Pages that this rank has changed, for what it tells when it releases something.
#[derive(Default)]
pub(super) struct Unannounced {
    /// Those open for writing, and at how many releases in a row each was as before.
    written: Vec<(Page, u8)>,
    /// Changed since the last release.
    changed: Vec<Page>,
    /// Copied by others, and written by this rank without faults until the next synchronisation.
    unnoticed: Vec<Page>,
    /// It is not known any more what others have copied since the last synchronisation.
    all: bool,
    /// In section mode, of this rank at least in part, and opened for writing in a tracked region.
    own_in_sections: Vec<Page>,
}

impl Unannounced {
    /// A page was opened for writing.
    pub(super) fn open(&mut self, page: Page) {
        self.written.push((page, 0));
    }

    /// A page in section mode is about to be opened for writing, of which this rank owns some.
    pub(super) fn open_in_sections(&mut self, page: Page) {
        if !self.own_in_sections.contains(&page) {
            self.own_in_sections.push(page);
        }
    }

    /// A page has changed at its home.
    pub(super) fn note(&mut self, page: Page) {
        const MANY: usize = 4096;
        if self.changed.last() != Some(&page) {
            self.changed.push(page);
        }
        if self.changed.len() >= MANY && self.changed.len().is_power_of_two() {
            self.changed.sort_unstable();
            self.changed.dedup();
        }
    }

    /// All ranks have synchronised.
    pub(super) fn forget(&mut self) {
        self.written.clear();
        self.changed.clear();
        self.unnoticed.clear();
        self.all = false;
        self.own_in_sections.clear();
    }
}

impl<M: Machine> Coherence<M> {
    /// Sends every changed byte home, and announces it: what the holder of a lock wrote others read afterwards.
    pub fn release(&mut self) {
        self.release_in_order();
        self.machine.settle();
    }

    /// The same, but that others read it after the next atomic operation in their memory: see [`Machine::order`].
    pub fn release_in_order(&mut self) {
        let mut sent = self.send_collected();
        sent |= self.send_section_changes();
        sent |= self.send_written();
        self.look_at_copied();
        self.look_at_own_in_sections();
        self.look_at_updated();
        let in_sections = self.written_in_sections();
        let unannounced = &mut self.unannounced;
        let is_any = unannounced.all || in_sections.is_none();
        let (pages, bytes) = in_sections.unwrap_or_default();
        unannounced.changed.extend(pages);
        if let Some((id, bytes)) = bytes
            && !is_any
        {
            match self.machine.announce_bytes(id, &bytes) {
                true => sent = true,
                false => unannounced.changed.extend(declared::pages_of(&bytes)),
            }
        }
        unannounced
            .changed
            .extend_from_slice(&unannounced.unnoticed);
        if unannounced.changed.len() > 1 {
            unannounced.changed.sort_unstable();
            unannounced.changed.dedup();
        }
        if is_any {
            self.machine.announce(None);
        } else if !unannounced.changed.is_empty() {
            self.machine.announce(Some(&unannounced.changed));
        } else if !sent {
            return;
        }
        unannounced.changed.clear();
        self.machine.order();
    }

    /// Sends what changed in pages that are open for writing. Whether there was anything to send.
    fn send_written(&mut self) -> bool {
        let mut sent = false;
        let mut written = std::mem::take(&mut self.unannounced.written);
        written.retain_mut(|(page, idle)| {
            // Declarations close and open pages by rules of their own, and may need twins to find claims.
            let is_needed = self.verify
                || self.is_declaring()
                || self
                    .pages
                    .has(*page, flag::SECTION | flag::ENTERING | flag::UPDATED);
            // Closed by others' announcements, and sent then.
            if !is_needed && self.pages.access(*page) != Access::Write {
                return false;
            }
            let changed = self.send_written_page(*page, is_needed, *idle == IDLE);
            *idle = if changed || is_needed { 0 } else { *idle + 1 };
            sent |= changed;
            is_needed || *idle <= IDLE
        });
        assert!(self.unannounced.written.is_empty());
        self.unannounced.written = written;
        sent
    }

    /// The same of one page, which is closed where it `is_idle` and not needed. Whether it changed.
    fn send_written_page(&mut self, page: Page, is_needed: bool, is_idle: bool) -> bool {
        let is_here = self.pages.home(page) == self.rank;
        let is_closing = is_idle && !is_needed;
        if is_closing {
            self.change_access(page, Access::Read);
            self.apply_pending();
        }
        let changed = match (is_here, self.pages.has_twin(page)) {
            (false, true) => self.send_changes(page),
            (false, false) => false,
            (true, _) if is_needed => true,
            (true, true) => self.renew_twin(page),
            (true, false) => {
                self.pages.make_twin(page, self.machine.contents(page));
                true
            }
        };
        if is_closing {
            self.pages.drop_twin(page);
        }
        if changed {
            self.unannounced.note(page);
            if !is_here {
                self.mark_flushed(page);
            }
        }
        changed
    }

    /// Whether this rank's own page has changed since its twin was made, which is as it is now then.
    fn renew_twin(&mut self, page: Page) -> bool {
        let contents = self.machine.contents(page).copy();
        let twin = self.pages.twin(page).expect("the caller looked");
        let changed = *twin != contents;
        if changed {
            twin.copy_from_slice(&contents);
        }
        changed
    }

    /// What this rank may have written of its own in section mode is announced as long as it is open for writing.
    fn look_at_own_in_sections(&mut self) {
        let mut own = std::mem::take(&mut self.unannounced.own_in_sections);
        if own.len() > MOST_OWN_OPEN {
            for &page in &own {
                self.close_for_writing_in_sections(page);
            }
        }
        for &page in &own {
            self.unannounced.note(page);
        }
        own.retain(|&page| self.pages.access(page) == Access::Write);
        self.unannounced.own_in_sections = own;
    }

    /// Looks which pages that this rank writes without faults others have copied.
    fn look_at_copied(&mut self) {
        let Some(copied) = self.machine.copied() else {
            self.unannounced.all = true;
            return;
        };
        for page in copied.iter().flat_map(|run| run.pages()) {
            if self.announces_sections() && self.pages.has(page, flag::SECTION) {
                if self.pages.access(page) == Access::Write {
                    self.close_for_writing_in_sections(page);
                    self.unannounced.note(page);
                }
                continue;
            }
            let is_written = self.pages.home(page) == self.rank
                && self.pages.access(page) == Access::Write
                && self.pages.is_exclusive(page);
            if !is_written {
                continue;
            }
            self.unannounced.note(page);
            if self.pages.has(page, flag::SECTION | flag::ENTERING) {
                self.unannounced.unnoticed.push(page);
            } else if !self.pages.has(page, flag::DIRTY) {
                self.change_access(page, Access::Read);
            }
        }
        self.apply_pending();
    }

    /// Rank 0 looks what it changed in pages in update mode since all ranks had the same.
    fn look_at_updated(&mut self) {
        if self.rank != 0 {
            return;
        }
        for index in 0..self.updated.pages.len() {
            let page = self.updated.pages[index];
            let contents = self.machine.contents(page);
            if self.pages.twin(page).is_none_or(|twin| !contents.is(twin)) {
                self.unannounced.note(page);
            }
        }
    }

    /// Before pages of another rank are copied that it writes without faults: tells it.
    pub(super) fn tell_of_copies(&mut self, run: Run) {
        let is_alike = |page: Page, first: Page| {
            self.pages.is_exclusive(page) && self.pages.home(page) == self.pages.home(first)
        };
        let mut page = run.first;
        let end = run.first + run.count;
        while page < end {
            let count = (page..end)
                .take_while(|&other| is_alike(other, page))
                .count() as u32;
            if count > 0 {
                let home = self.pages.home(page);
                self.machine.note_copies(page, count, home);
            }
            page += count.max(1);
        }
    }

    /// Drops the copies of what other ranks have announced, and sends what changed in them: the next read of such a page
    /// asks its home.
    pub fn acquire(&mut self) {
        self.acquire_what(None);
    }

    /// The same of what this rank was told directly, or of all.
    pub(super) fn acquire_what(&mut self, directly: Option<Vec<Message>>) {
        self.counts.acquires += 1;
        self.copies.changes();
        let handed_over = self.hand_over();
        let entering = self.close_entering();
        let (closed, changed) = self.close_changed_copies(directly);
        let closed_in_sections = self.close_section_copies(changed.as_deref());
        let mut sent = self.send_collected();
        sent |= self.send_handed_over(&handed_over);
        sent |= self.send_compared();
        let entering_pages = entering.iter().map(|&(page, _)| page);
        for page in closed.iter().copied().chain(entering_pages) {
            let is_elsewhere = self.pages.home(page) != self.rank;
            if is_elsewhere && self.pages.has_twin(page) && self.send_changes(page) {
                self.unannounced.note(page);
                sent = true;
            }
        }
        if sent {
            self.machine.settle();
        }
        self.forget_section_copies(closed_in_sections.as_ref());
        self.open_entering(entering);
        let mut some_dirty = false;
        for page in closed {
            self.pages.drop_twin(page);
            if self.pages.has(page, flag::DIRTY) {
                self.pages.clear(page, flag::DIRTY);
                self.mark_flushed(page);
                some_dirty = true;
            }
        }
        self.drop_private_copies();
        if some_dirty {
            let pages = &self.pages;
            self.dirty.retain(|&page| pages.has(page, flag::DIRTY));
        }
    }

    /// Closes copies of pages that other ranks announced, but for those in section mode. Those that were open, and what was
    /// announced; `None` where that may be any pages.
    fn close_changed_copies(
        &mut self,
        directly: Option<Vec<Message>>,
    ) -> (Vec<Page>, Option<Vec<Page>>) {
        let may_have_heard = !self.cached.is_empty()
            || !self.unannounced.written.is_empty()
            || self.announces_sections()
            || self.is_between_nests();
        let announced = self.hear(directly, may_have_heard);
        self.forget_announced(announced.as_ref());
        let announced = announced.map(|Heard { pages, .. }| pages);
        let candidates = match &announced {
            Some(pages) => {
                self.note_changes_of_others(pages);
                pages.clone()
            }
            None => {
                let written = self.unannounced.written.iter();
                let written: Vec<Page> = written
                    .map(|&(page, _)| page)
                    .chain(self.updated.pages.iter().copied())
                    .collect();
                self.note_changes_of_others(&written);
                self.cached.clone()
            }
        };
        let mut closed = Vec::new();
        for page in candidates {
            if self.pages.home(page) != self.rank
                && self.pages.access(page) != Access::None
                && !self.pages.has(page, flag::SECTION | flag::ENTERING)
            {
                closed.push(page);
                self.change_access(page, Access::None);
            }
        }
        self.apply_pending();
        (closed, announced)
    }

    /// Of this rank's own pages that others have changed: what it writes in them may be what it wrote there before, so that a
    /// comparison would not find it.
    fn note_changes_of_others(&mut self, pages: &[Page]) {
        for &page in pages {
            let is_own = self.pages.home(page) == self.rank
                && !self.pages.has(page, flag::SECTION | flag::ENTERING);
            if !is_own || !self.pages.has_twin(page) {
                continue;
            }
            self.unannounced.note(page);
            if !self.pages.has(page, flag::UPDATED) && !self.verify {
                let contents = self.machine.contents(page).copy();
                if let Some(twin) = self.pages.twin(page) {
                    twin.copy_from_slice(&contents);
                }
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
            self.unannounced.note(page);
            self.machine.order();
        }
    }

    /// Records that `bytes` now stand at the home of `page`, in this rank's copy too if it has one.
    pub fn after_atomic(&mut self, page: Page, offset: usize, bytes: &[u8], written: bool) {
        if self.pages.has(page, flag::SECTION) {
            if written && self.announces_sections() {
                self.unannounced.note(page);
            }
            // Where it is held others may change it meanwhile.
            if self.holder(page, offset, bytes.len()) == Some(self.rank) {
                return;
            }
            self.machine.contents(page).write(offset, bytes);
            if let Some(twin) = self.pages.twin(page) {
                twin[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            return;
        }
        if self.pages.home(page) != self.rank && self.pages.access(page) != Access::None {
            self.machine.contents(page).write(offset, bytes);
            if let Some(twin) = self.pages.twin(page) {
                twin[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
        if written {
            self.note_change_at_home(page);
        }
    }

    /// `page` is changed where it is held, not by a diff.
    pub(super) fn note_change_at_home(&mut self, page: Page) {
        self.mark_flushed(page);
        self.unannounced.note(page);
    }

    /// Of a private page nothing is noticed.
    pub(super) fn mark_flushed(&mut self, page: Page) {
        if !self.pages.layout().is_private(page) && self.pages.mark(page, flag::FLUSHED) {
            self.flushed.push(page);
        }
    }

    pub(super) fn remember_copy(&mut self, page: Page) {
        if self.pages.mark(page, flag::CACHED) {
            self.cached.push(page);
        }
    }

    /// Sends the bytes of `page` that differ from its twin to its home and updates the twin. Whether there are any.
    pub(super) fn send_changes(&mut self, page: Page) -> bool {
        self.send_collected_of(page);
        let home = self.pages.home(page);
        let Some(twin) = self.pages.twin(page) else {
            return false;
        };
        let contents = self.machine.contents(page);
        if contents.is(twin) {
            return false;
        }
        let contents = contents.copy();
        let mut sent = 0;
        for (start, end) in changed_ranges(&contents, twin) {
            self.machine.put(page, start, &contents[start..end], home);
            sent += end - start;
            if self.verify {
                let at = u64::from(page) * PAGE as u64;
                self.sent_home.push((at + start as u64, at + end as u64));
            }
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
        sent > 0
    }
}
