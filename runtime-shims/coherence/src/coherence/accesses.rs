//! Accesses of the program: page faults, and memory that is made present before it is accessed.
//!
//! An access that the protection allows costs nothing. Sequential ones are served ahead, in runs, and others in blocks
//! that grow: [`super::ahead`].

use super::{Access, Coherence, Machine, Run, Violation};
use crate::{
    layout::{PAGE, Page},
    page_table::{PageTable, flag},
};

/// Most pages fetched ahead of a sequential reader, and made writable ahead of a sequential writer.
pub(super) const READ_AHEAD: u32 = 256;
pub(super) const WRITE_AHEAD: u32 = 64;

/// Detects sequential faults and doubles the run length with each.
#[derive(Default)]
pub(super) struct Sequence {
    pub(super) next: Page,
    length: u32,
}

impl Sequence {
    pub(super) fn fault_at(&mut self, page: Page, most: u32) -> u32 {
        self.length = if page == self.next {
            (self.length * 2).clamp(1, most)
        } else {
            1
        };
        self.length
    }
}

impl<M: Machine> Coherence<M> {
    /// Serves a fault of the program on `page`.
    pub fn fault(&mut self, page: Page, write: bool) -> Result<(), Violation> {
        let access = self.pages.access(page);
        if self.pages.is_closed(page) {
            self.reopen(page);
            if access == Access::Write || (access == Access::Read && !write) {
                return Ok(());
            }
        }
        if access == Access::Write || (access == Access::Read && !write) {
            return Err(Violation::Unexplained);
        }
        if write {
            self.counts.write_faults += 1;
        } else {
            self.counts.read_faults += 1;
        }
        if access == Access::None {
            self.make_room(READ_AHEAD);
        }
        if self.pages.has(page, flag::SECTION) {
            return self.access_section_page(page, write);
        }
        if self.pages.layout().is_private(page) {
            if write && self.guests == 0 {
                return Err(Violation::PrivateWrite);
            }
            self.touch_private(page, write);
        } else if write {
            self.make_writable(page);
        } else {
            self.fetch(page);
        }
        Ok(())
    }

    /// Makes the pages from `first` to `last` present, and writable where `write` says so, all at once.
    pub fn touch(&mut self, first: Page, last: Page, write: bool) {
        loop {
            let closings = self.counts.closings;
            for page in first..=last {
                self.touch_page(page, write);
            }
            if self.counts.closings == closings {
                return;
            }
        }
    }

    pub(super) fn touch_page(&mut self, page: Page, write: bool) {
        let access = self.pages.access(page);
        if self.pages.is_closed(page) {
            self.reopen(page);
        }
        if self.pages.has(page, flag::SECTION) {
            assert!(
                self.access_section_page(page, write).is_ok(),
                "a region that declares its writes hands memory to a system call"
            );
        } else if self.pages.layout().is_private(page) {
            self.touch_private(page, write && self.guests > 0);
        } else if write && access != Access::Write {
            self.make_writable(page);
        } else if access == Access::None {
            self.fetch(page);
        }
    }

    /// Gives a closed page, and its neighbours that were closed alike, its protection back.
    fn reopen(&mut self, page: Page) {
        let access = self.pages.access(page);
        let most = self.pages.layout().adjacent(page, READ_AHEAD);
        let mut count = 1;
        while count < most
            && self.pages.is_closed(page + count)
            && self.pages.access(page + count) == access
        {
            count += 1;
        }
        self.protect_now(Run { first: page, count }, access);
    }

    fn fetch(&mut self, page: Page) {
        let home = self.pages.home(page);
        let run = self.run_around(page, |pages, other| {
            pages.access(other) == Access::None
                && pages.home(other) == home
                && !pages.layout().is_private(other)
                && !pages.has(other, flag::SECTION)
        });
        self.combine_pages(run);
        self.tell_of_copies(run);
        self.machine.fetch(run.first, run.count, home);
        self.show_fetched(run);
    }

    /// The pages to fetch where one faults: as many before and behind it as are wanted and `may_be`.
    pub(super) fn run_around(
        &mut self,
        page: Page,
        may_be: impl Fn(&PageTable, Page) -> bool,
    ) -> Run {
        let in_sequence = self.reads.fault_at(page, READ_AHEAD);
        let block = match in_sequence {
            1 => self.ahead.block_of(page),
            _ => {
                self.ahead.was_left_out(page);
                page..page + in_sequence
            }
        };
        let pages = &self.pages;
        let may_be = |other: &Page| may_be(pages, *other);
        let count = pages.layout().adjacent(page, block.end - page);
        let behind = (page + 1..page + count).take_while(may_be).count() as u32;
        let before = (block.start..page).rev();
        let before = before
            .take_while(|&other| pages.layout().adjacent(other, 2) == 2)
            .take_while(may_be)
            .count() as u32;
        let mut run = page - before..page + behind + 1;
        if in_sequence == 1 {
            run = self.ahead.probe(run, page);
        }
        self.reads.next = run.end;
        Run {
            first: run.start,
            count: run.end - run.start,
        }
    }

    /// Fetches pages that are not accessible from their homes.
    pub(super) fn fetch_all(&mut self, runs: &[Run]) {
        let mut by_home: std::collections::BTreeMap<u32, Vec<(u64, u64)>> = Default::default();
        for &run in runs {
            self.combine_pages(run);
            self.tell_of_copies(run);
            for page in run.pages() {
                let ranges = by_home.entry(self.pages.home(page)).or_default();
                let start = u64::from(page) * PAGE as u64;
                match ranges.last_mut() {
                    Some(last) if last.1 == start => last.1 += PAGE as u64,
                    _ => ranges.push((start, start + PAGE as u64)),
                }
            }
        }
        for (home, ranges) in by_home {
            self.machine.pull(home, &ranges);
        }
        for &run in runs {
            self.show_fetched(run);
        }
    }

    /// Makes pages readable that were fetched.
    fn show_fetched(&mut self, run: Run) {
        self.counts.pages_fetched += u64::from(run.count);
        self.counts.fetched_bytes += u64::from(run.count) * PAGE as u64;
        self.learned.note(run, false);
        self.note_fetched(run);
        for fetched in run.pages() {
            self.pages.set_access(fetched, Access::Read);
            if self.pages.mark(fetched, flag::FETCHED) {
                self.fetched.push(fetched);
            }
            self.remember_copy(fetched);
        }
        self.protect_now(run, Access::Read);
    }

    fn make_writable(&mut self, page: Page) {
        if self.pages.access(page) == Access::None {
            self.fetch(page);
        }
        let home = self.pages.home(page);
        let most = self.writes.fault_at(page, WRITE_AHEAD);
        let most = self.pages.layout().adjacent(page, most);
        let mut count = 1;
        while count < most
            && self.pages.access(page + count) == Access::Read
            && self.pages.home(page + count) == home
            && !self.pages.has(page + count, flag::SECTION)
        {
            count += 1;
        }
        self.open_for_writing(Run { first: page, count });
        self.writes.next = page + count;
    }

    /// Opens readable pages for writing, so that what is written is found.
    pub(super) fn open_for_writing(&mut self, run: Run) {
        self.learned.note(run, true);
        for written in run.pages() {
            let is_elsewhere = self.pages.home(written) != self.rank || self.verify;
            if is_elsewhere && !self.pages.has_twin(written) {
                self.pages
                    .make_twin(written, self.machine.contents(written));
            }
            if self.pages.mark(written, flag::DIRTY) {
                self.dirty.push(written);
            }
            self.pages.set_access(written, Access::Write);
            self.unannounced.open(written);
        }
        self.protect_now(run, Access::Write);
    }

    /// A task of another rank begins, which was created before that rank's last release: it may write what is on that
    /// rank's stack, and on those of the ranks whose tasks have created it.
    pub fn begin_guest(&mut self) {
        self.acquire();
        self.guests += 1;
    }

    /// Such a task has ended: others read what it wrote when they have acquired.
    pub fn end_guest(&mut self) {
        self.release();
        self.guests -= 1;
        self.drop_private_copies();
    }

    /// Whether a task of another rank runs here.
    pub fn has_guest(&self) -> bool {
        self.guests > 0
    }

    /// Makes another rank's private page present, and writable: what changes there is sent home at the next release, to
    /// where that rank may write meanwhile.
    fn touch_private(&mut self, page: Page, write: bool) {
        if self.pages.access(page) == Access::None {
            self.fetch_private(page);
        }
        if write && self.pages.access(page) == Access::Read {
            self.pages.make_twin(page, self.machine.contents(page));
            self.pages.set_access(page, Access::Write);
            self.unannounced.open(page);
            self.protect_now(
                Run {
                    first: page,
                    count: 1,
                },
                Access::Write,
            );
        }
    }

    fn fetch_private(&mut self, page: Page) {
        self.counts.private_pages_fetched += 1;
        self.counts.fetched_bytes += PAGE as u64;
        self.machine.fetch(page, 1, self.pages.home(page));
        self.show_private(page);
    }

    /// Takes `contents` as the copy of another rank's private page, readable until the next
    /// synchronisation.
    pub fn install_private(&mut self, page: Page, contents: &[u8; PAGE]) {
        self.machine.contents(page).write(0, contents);
        self.show_private(page);
    }

    fn show_private(&mut self, page: Page) {
        if self.pages.access(page) == Access::None {
            self.private_copies.push(page);
            self.pages.set_access(page, Access::Read);
            self.protect_now(
                Run {
                    first: page,
                    count: 1,
                },
                Access::Read,
            );
        }
    }

    /// This rank's copy of a page.
    pub fn contents(&mut self, page: Page) -> [u8; PAGE] {
        self.machine.contents(page).copy()
    }

    /// Takes back the copies of other ranks' private pages, and sends what changed in them.
    pub fn drop_private_copies(&mut self) {
        let copies = std::mem::take(&mut self.private_copies);
        for &page in &copies {
            self.change_access(page, Access::None);
        }
        self.apply_pending();
        for page in copies {
            if self.pages.has_twin(page) {
                if self.send_changes(page) {
                    self.unannounced.note(page);
                }
                self.pages.drop_twin(page);
            }
        }
    }

    /// Forgets that faults were sequential: a new region accesses anew.
    pub fn restart_sequences(&mut self) {
        self.reads = Sequence::default();
        self.writes = Sequence::default();
    }
}
