//! Synchronisations: where each page lives from now on, by what all ranks did to it.

use std::collections::HashMap;

use super::{Access, Change, Coherence, Machine, Notices, Phase, changed_ranges, runs_of};
use crate::{
    geometry::ranges::{Range, Ranges},
    layout::{PAGE, Page},
    page_table::flag,
};

/// Per-page sums over the notices of one synchronisation.
#[derive(Default)]
pub(super) struct Scratch {
    touched: Vec<Page>,
    sums: HashMap<Page, Writers>,
}

/// Who wrote a page.
#[derive(Clone, Copy, Default)]
struct Writers {
    /// The first rank that has it dirty.
    dirty: Option<u32>,
    /// More than one rank has it dirty.
    several: bool,
    /// A rank other than the home has it dirty.
    foreign_dirty: bool,
    /// Some rank sent changed bytes home early.
    flushed: bool,
    /// A rank other than the home wrote it at all.
    foreign: bool,
    home_wrote: bool,
    i_have_it_dirty: bool,
}

impl<M: Machine> Coherence<M> {
    /// What this rank has to tell the others.
    pub(crate) fn notices(&mut self) -> Notices {
        self.machine.settle();
        self.machine.forget_announcements();
        Notices {
            dirty: runs_of(&mut self.dirty),
            flushed: runs_of(&mut self.flushed),
            fetched: runs_of(&mut self.fetched),
            freed: self.freed.clone(),
        }
    }

    /// In verify mode: the bytes that this rank changed and sent home since the last synchronisation.
    pub fn sent_home(&self) -> &[Range] {
        &self.sent_home
    }

    /// In verify mode: the bytes this rank changed since the last synchronisation, but for those that ranks have
    /// `sent_home` in that time, which stand in the home's copy as if it had written them.
    pub fn changes(&mut self, sent_home: &Ranges) -> Vec<Change> {
        let mut changes = Vec::new();
        for index in 0..self.dirty.len() {
            let page = self.dirty[index];
            let contents = self.machine.contents(page).copy();
            let at = u64::from(page) * PAGE as u64;
            let is_home = self.pages.home(page) == self.rank;
            let Some(twin) = self.pages.twin(page) else {
                continue;
            };
            let changed = changed_ranges(&contents, twin);
            let changed = changed.map(|(start, end)| (at + start as u64, at + end as u64));
            let mut changed = Ranges::of(changed.collect());
            if is_home {
                changed = changed.minus(sent_home);
            }
            changes.extend(changed.iter().map(|(start, end)| Change {
                page,
                start: (start - at) as u32,
                end: (end - at) as u32,
            }));
        }
        changes
    }

    /// Applies the notices of all ranks, in rank order. Whether changed bytes are under way: then no
    /// rank may go on before all ranks have returned from here and [`Machine::settle`]d.
    #[must_use]
    pub(crate) fn apply(&mut self, notices: &[Notices], phase: Phase) -> bool {
        assert!(
            self.collected.is_empty(),
            "contributions that were not combined"
        );
        let mut serial_writes = self.sum_up(notices);
        let touched = std::mem::take(&mut self.scratch.touched);
        let mut changes_under_way = false;
        for &page in &touched {
            let writers = self.scratch.sums[&page];
            changes_under_way |= self.apply_to_page(page, writers, phase);
        }
        for run in notices.iter().flat_map(|notices| &notices.fetched) {
            for page in run.pages() {
                if self.pages.is_exclusive(page) && !self.scratch.sums.contains_key(&page) {
                    self.count_copied(page);
                    self.pages.set_exclusive(page, false);
                    if self.pages.home(page) == self.rank {
                        self.change_access(page, Access::Read);
                    } else if phase == Phase::Parallel {
                        // The home may have written, untracked, since the copy was made.
                        self.change_access(page, Access::None);
                    }
                }
            }
        }
        self.apply_pending();
        self.scratch.sums.clear();
        self.scratch.touched = touched;
        self.scratch.touched.clear();
        self.forget_interval();
        self.apply_serial_writes(&mut serial_writes);
        if changes_under_way {
            self.machine.settle();
        }
        changes_under_way
    }

    /// Sums the notices up page by page. The written pages in section mode: only serial code writes such
    /// unannounced.
    fn sum_up(&mut self, notices: &[Notices]) -> Vec<Page> {
        let mut in_section_mode = Vec::new();
        for (rank, notices) in (0u32..).zip(notices) {
            for (runs, flushed) in [(&notices.dirty, false), (&notices.flushed, true)] {
                for page in runs.iter().flat_map(|run| run.pages()) {
                    if self.pages.has(page, flag::SECTION) {
                        in_section_mode.push(page);
                        continue;
                    }
                    let home = self.pages.home(page);
                    let writers = self.scratch.sums.entry(page).or_insert_with(|| {
                        self.scratch.touched.push(page);
                        Writers::default()
                    });
                    if flushed {
                        writers.flushed = true;
                    } else {
                        writers.several |= writers.dirty.is_some_and(|first| first != rank);
                        writers.dirty.get_or_insert(rank);
                        writers.foreign_dirty |= rank != home;
                        writers.i_have_it_dirty |= rank == self.rank;
                    }
                    writers.home_wrote |= rank == home;
                    writers.foreign |= rank != home;
                }
            }
        }
        in_section_mode
    }

    /// Decides where a written page lives from now on. Whether changed bytes are under way to it.
    fn apply_to_page(&mut self, page: Page, writers: Writers, phase: Phase) -> bool {
        let home = self.pages.home(page);
        let untracked = self.pages.is_exclusive(page) || self.pages.has(page, flag::UPDATED);
        let home_wrote_untracked = untracked && phase == Phase::Parallel;
        match phase {
            Phase::Parallel => self.must_leave_update_mode(page),
            Phase::Serial => self.leave_update_mode(page),
        }
        let exclusive = !self.verify;
        match writers.dirty {
            Some(writer)
                if !writers.several
                    && !writers.flushed
                    && writer != home
                    && !home_wrote_untracked =>
            {
                self.pages.set_home(page, writer);
                self.pages.set_exclusive(page, exclusive);
                self.pages.drop_twin(page);
                self.keep_as_home(page, writer == self.rank, exclusive);
                false
            }
            _ if !writers.foreign => {
                self.pages.drop_twin(page);
                self.pages.set_exclusive(page, exclusive);
                self.keep_as_home(page, home == self.rank, exclusive);
                false
            }
            _ => {
                let exclusive = writers.home_wrote && exclusive;
                if home != self.rank {
                    if writers.i_have_it_dirty {
                        self.send_changes(page);
                    }
                    self.pages.drop_twin(page);
                    self.change_access(page, Access::None);
                } else {
                    self.pages.drop_twin(page);
                    self.change_access(
                        page,
                        if exclusive {
                            Access::Write
                        } else {
                            Access::Read
                        },
                    );
                }
                self.pages.set_exclusive(page, exclusive);
                writers.foreign_dirty
            }
        }
    }

    fn keep_as_home(&mut self, page: Page, mine: bool, exclusive: bool) {
        let access = match (mine, exclusive) {
            (true, true) => Access::Write,
            (true, false) => Access::Read,
            (false, _) => Access::None,
        };
        self.change_access(page, access);
    }

    fn forget_interval(&mut self) {
        for (list, bit) in [
            (&mut self.dirty, flag::DIRTY),
            (&mut self.flushed, flag::FLUSHED),
            (&mut self.fetched, flag::FETCHED),
        ] {
            for page in list.drain(..) {
                self.pages.clear(page, bit);
            }
        }
        self.sent_home.clear();
        self.unannounced.forget();
        self.ahead.begin_interval();
        self.copies.changes();
        self.drop_private_copies();
        if self.cached.len() > 4096 {
            let pages = &mut self.pages;
            let rank = self.rank;
            self.cached.retain(|&page| {
                let keep = pages.home(page) != rank && pages.access(page) != Access::None;
                if !keep {
                    pages.clear(page, flag::CACHED);
                }
                keep
            });
        }
    }
}
