//! Memory that goes back to the machine: what the program has freed, and copies where memory is short.
//!
//! What the program has freed has no value any more. All ranks apply the notice of it as the last thing of a synchronisation,
//! when nothing that was sent is under way. Guarantee: from then on such pages are as at the start, whoever had them, so that
//! nothing that was written before can come over what is written next; what they hold is undefined.
//!
//! Where memory is short a rank [makes room](Coherence::make_room) for what it fetches. Guarantee: it gives up only what
//! another rank has, too, and is asked for: first what is not current here, then copies that it has not changed, those that
//! were fetched first before others. Other ranks need not know. What this rank has written, what it is the home or owner of,
//! and what regions declared since the last synchronisation stays.

use std::collections::{HashSet, VecDeque};

use super::{
    Access, Coherence, Machine, Notices, Run,
    accesses::READ_AHEAD,
    declared::{bytes_of, bytes_of_page},
    runs_of,
};
use crate::{
    geometry::ranges::Ranges,
    layout::{PAGE, Page},
    page_table::flag,
};

/// So many pages that were fetched last stay: what one instruction needs of them must be there all at once.
const KEPT: usize = if cfg!(test) { 4 } else { 1024 };
/// Copies are given up in pieces of so many pages.
const PIECE: u32 = if cfg!(test) { 2 } else { 256 };
/// So many runs are looked through for what is no copy any more, or was fetched again.
const MANY: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// What this rank has fetched, as it came.
#[derive(Default)]
pub(super) struct Fetched {
    runs: VecDeque<Run>,
    pages: usize,
    /// How many runs there were when they were looked through.
    looked_through: usize,
    /// Nothing has become out of date since all pages were looked at.
    is_swept: bool,
}

impl Fetched {
    fn note(&mut self, run: Run) {
        for first in run.pages().step_by(PIECE as usize) {
            let count = PIECE.min(run.first + run.count - first);
            self.runs.push_back(Run { first, count });
            self.pages += count as usize;
        }
    }

    fn take_first(&mut self) -> Option<Run> {
        let run = self.runs.pop_front()?;
        self.pages -= run.count as usize;
        Some(run)
    }

    /// A synchronisation or acquisition makes copies out of date.
    pub(super) fn changes(&mut self) {
        self.is_swept = false;
    }
}

impl<M: Machine> Coherence<M> {
    // ---- What the program has freed ------------------------------------------------------------

    /// The program has freed pages of this rank's heap, which stay free until the next synchronisation is over. That
    /// tells.
    pub fn free(&mut self, run: Run) {
        debug_assert!(
            run.pages()
                .all(|page| self.pages.layout().first_home(page) == self.rank)
        );
        self.freed.push(run);
    }

    /// On all ranks, as the last step of a synchronisation: what they have freed is as at the start.
    pub(crate) fn apply_freed<'a>(&mut self, freed: impl Iterator<Item = &'a Run> + Clone) {
        if freed.clone().next().is_none() {
            return;
        }
        self.freed.clear();
        let bytes = Ranges::of(freed.copied().map(bytes_of).collect());
        self.forget_sections(&bytes);
        let runs: Vec<Run> = bytes.iter().map(run_of).collect();
        for page in runs.iter().flat_map(|run| run.pages()) {
            self.leave_update_mode(page);
            self.pages.drop_twin(page);
            let home = self.pages.layout().first_home(page);
            self.pages.set_home(page, home);
            self.pages.set_exclusive(page, true);
            let access = match home == self.rank {
                true => self.pages.home_access_at_start(page),
                false => Access::None,
            };
            self.change_access(page, access);
        }
        self.apply_pending();
        for run in runs {
            self.machine.discard(run.first, run.count);
        }
        self.learned.forget(&bytes);
    }

    // ---- Copies --------------------------------------------------------------------------------

    /// Notes that pages were fetched.
    pub(super) fn note_fetched(&mut self, run: Run) {
        self.copies.note(run);
        if self.copies.runs.len() >= MANY.max(2 * self.copies.looked_through) {
            self.look_through_copies();
        }
    }

    /// Forgets what was fetched again, or is no copy any more.
    fn look_through_copies(&mut self) {
        let mut seen = HashSet::new();
        let old = std::mem::take(&mut self.copies.runs);
        self.copies.pages = 0;
        for run in old.into_iter().rev() {
            let mut wanted = self.others(run, Access::Read);
            wanted.retain(|&page| seen.insert(page));
            for run in runs_of(&mut wanted) {
                self.copies.pages += run.count as usize;
                self.copies.runs.push_front(run);
            }
        }
        self.copies.looked_through = self.copies.runs.len();
    }

    /// Before `more` pages are fetched, or memory is taken otherwise: gives back what the machine is short of, as far as
    /// that can be had. Not where the run time or the kernel needs pages that it has made present.
    pub fn make_room(&mut self, more: u32) {
        let surplus = self.machine.surplus(more) as usize;
        if surplus == 0 {
            return;
        }
        let mut given = 0;
        if !std::mem::replace(&mut self.copies.is_swept, true) {
            given += self.give_up(|held, pages| {
                let mut from = 0;
                while let Some(run) = held.machine.held(from) {
                    pages.extend(held.others(run, Access::None));
                    from = run.first + run.count;
                }
            });
        }
        if given < surplus {
            self.give_up(|held, pages| {
                while given + pages.len() < surplus
                    && held.copies.pages > KEPT
                    && let Some(run) = held.copies.take_first()
                {
                    pages.extend(held.others(run, Access::Read));
                }
            });
        }
    }

    /// The same, before pages are [touched](Coherence::touch), if some are not here.
    pub fn make_room_for(&mut self, first: Page, last: Page) {
        let mut pages = first..=last;
        if pages.any(|page| self.pages.access(page) == Access::None) {
            self.make_room((last - first + 1).max(READ_AHEAD));
        }
    }

    /// Whether so many pages more are too many.
    pub(super) fn is_short_of_memory(&mut self, more: u32) -> bool {
        self.machine.surplus(more) > 0
    }

    /// Gives pages up that `find` finds. How many.
    fn give_up(&mut self, find: impl FnOnce(&mut Self, &mut Vec<Page>)) -> usize {
        let mut pages = Vec::new();
        find(self, &mut pages);
        let runs = runs_of(&mut pages);
        let (mut sections, mut given) = (Vec::new(), 0);
        for &page in &pages {
            if self.pages.has(page, flag::SECTION) {
                sections.push(page);
            } else {
                self.change_access(page, Access::None);
            }
        }
        self.apply_pending();
        self.forget_copies_of_sections(&runs_of(&mut sections));
        for run in runs {
            self.machine.discard(run.first, run.count);
            given += run.count as usize;
        }
        self.counts.given_up += given as u64;
        given
    }

    /// The pages of a run with this access that are wholly other ranks', and of which this rank has written nothing that it
    /// has yet to tell: its copies that are current, or those that are not.
    fn others(&self, run: Run, access: Access) -> Vec<Page> {
        const IN_USE: u8 = flag::DIRTY | flag::ENTERING | flag::UPDATED;
        let layout = self.pages.layout();
        let is_unused = |&page: &Page| {
            self.pages.access(page) == access
                && !self.pages.has(page, IN_USE)
                && !self.pages.has_twin(page)
                && !layout.is_private(page)
                && !layout.is_stack(page)
        };
        let is_section = |page: &Page| self.pages.has(*page, flag::SECTION);
        let unused = run.pages().filter(is_unused);
        let (mut sections, mut others): (Vec<Page>, Vec<Page>) = unused.partition(is_section);
        others.retain(|&page| self.pages.home(page) != self.rank);
        if !sections.is_empty() {
            let own = self.own_in_sections(&runs_of(&mut sections));
            sections.retain(|&page| !own.contains(bytes_of_page(page).0));
            others.append(&mut sections);
        }
        others
    }
}

/// The pages of a range that consists of such.
pub(super) fn run_of((start, end): (u64, u64)) -> Run {
    let (first, behind) = (start / PAGE as u64, end / PAGE as u64);
    Run {
        first: first as Page,
        count: (behind - first) as u32,
    }
}

impl Notices {
    /// What was freed, in all of some ranks' notices.
    pub(crate) fn freed_of(all: &[Self]) -> impl Iterator<Item = &Run> + Clone {
        all.iter().flat_map(|notices| &notices.freed)
    }
}
