//! The coherence protocol: which rank has the current contents of each shared page.
//!
//! Guarantee: after a synchronisation every rank that reads a byte gets the value written last before
//! it, provided that no two ranks wrote that byte since the synchronisation before (OpenMP's rule for
//! a race-free program) or did so under one lock.
//!
//! Every page has a *home* that holds its contents whenever no rank has unpublished writes. Homes and
//! the set of *exclusive* pages are replicated: all ranks apply the same notices in the same order at
//! every synchronisation, so they decide alike without negotiation.
//!
//! * A page only its home caches is exclusive: read and written without faults or notices.
//! * The first fetch by another rank is noticed at the next synchronisation; from then on the home's
//!   writes are tracked too.
//! * A rank that writes a page it is not the home of keeps a *twin* and can tell the bytes it changed.
//! * At a synchronisation a page with one writer moves to it. With several, each sends its changed
//!   bytes to the home and drops its copy; a second barrier then lets everybody go on.
//! * A lock's release sends changed bytes home at once, its acquisition drops all copies.
//!
//! Pages that rank 0 changes between regions, a little each time, are kept current by updates: [`updated`].
//! Pages whose accesses the compiler declared are kept coherent byte by byte instead: [`declared`].
//!
//! This file knows neither MPI nor the memory system: [`Machine`] is what it needs of them.

pub(crate) mod declared;
mod learned;
mod updated;

pub(crate) use crate::page_table::Access;
use crate::page_table::{PageTable, flag};
use crate::{
    layout::{PAGE, Page},
    observe::{self, Event},
};

/// What the protocol needs of the machine under it.
pub(crate) trait Machine {
    /// Sets the protection of `count` pages in the program's view. Fails where the kernel refuses
    /// another mapping.
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings>;
    /// Copies `count` pages from `home`'s memory into this rank's.
    fn fetch(&mut self, first: Page, count: u32, home: u32);
    /// Copies ranges of bytes, given as positions in the memory file, from `owner`'s memory into this
    /// rank's.
    fn gather(&mut self, owner: u32, ranges: &[(u64, u64)]);
    /// Whether there are ranks whose memory is not mapped here; the same on all ranks.
    fn spans_nodes(&self) -> bool;
    /// Whether `rank`'s memory is mapped here.
    fn is_near(&self, rank: u32) -> bool;
    /// Sends ranges of this rank's memory, as they are now, to `rank`, which [`Machine::expect`]s them.
    fn push(&mut self, rank: u32, ranges: &[(u64, u64)]);
    /// Begins to receive `bytes` that `owner` pushes.
    fn expect(&mut self, owner: u32, bytes: usize);
    /// Copies ranges out of what `owner` pushes, each from the place given with it.
    fn take(&mut self, owner: u32, parts: &[(usize, (u64, u64))]);
    /// Returns when all that was pushed has been received.
    fn finish_pushes(&mut self);
    /// Writes `bytes` into `home`'s copy of `page` at `offset`; complete after [`Machine::settle`].
    fn put(&mut self, page: Page, offset: usize, bytes: &[u8], home: u32);
    /// Returns when every [`Machine::put`] has reached its home.
    fn settle(&mut self);
    /// This rank's copy of a page, whatever its protection.
    fn contents(&mut self, page: Page) -> &mut [u8; PAGE];
}

/// The kernel's limit on mappings is reached.
#[derive(Debug)]
pub(crate) struct TooManyMappings;

/// Adjacent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: Page,
    pub(crate) count: u32,
}

impl Run {
    pub(crate) fn pages(self) -> std::ops::Range<Page> {
        self.first..self.first + self.count
    }
}

/// What a rank did to pages since the last synchronisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notices {
    /// Pages it wrote and has not sent home.
    pub(crate) dirty: Vec<Run>,
    /// Pages whose changed bytes it sent home.
    pub(crate) flushed: Vec<Run>,
    /// Pages it fetched.
    pub(crate) fetched: Vec<Run>,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) read_faults: u64,
    pub(crate) write_faults: u64,
    pub(crate) pages_fetched: u64,
    pub(crate) private_pages_fetched: u64,
    /// Bytes of both, and of pages in section mode that were accessed undeclared.
    pub(crate) fetched_bytes: u64,
    pub(crate) diffs: u64,
    pub(crate) diff_bytes: u64,
    pub(crate) protections: u64,
    pub(crate) acquires: u64,
    /// How often all pages were closed to save mappings.
    pub(crate) closings: u64,
    /// Declarations of sections, and those that were not like an earlier one.
    pub(crate) declarations: u64,
    pub(crate) plans: u64,
    /// Copies of declared bytes from one owner each.
    pub(crate) pulls: u64,
    pub(crate) pulled_bytes: u64,
    /// Synchronisations at which declarations were exchanged.
    pub(crate) transitions: u64,
    /// Returns of pages from section mode.
    pub(crate) collapses: u64,
}

/// Bytes of a page that one rank changed between two synchronisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) page: Page,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// How a synchronisation came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The team ran; any rank may have written.
    Parallel,
    /// Rank 0 ran serial code; the others waited, so their exclusive pages did not change.
    Serial,
}

/// A write that can be nothing but an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// Another rank's private memory was written.
    PrivateWrite,
    /// A region that declares all its writes made another one.
    Undeclared,
    /// A fault that the page's protection does not explain.
    Unexplained,
}

/// Most pages fetched ahead of a sequential reader, and made writable ahead of a sequential writer.
const READ_AHEAD: u32 = 256;
const WRITE_AHEAD: u32 = 64;

/// Detects sequential faults and doubles the run length with each.
#[derive(Default)]
struct Sequence {
    next: Page,
    length: u32,
}

impl Sequence {
    fn fault_at(&mut self, page: Page, most: u32) -> u32 {
        self.length = if page == self.next {
            (self.length * 2).clamp(1, most)
        } else {
            1
        };
        self.length
    }
}

/// One rank's part of the protocol.
pub(crate) struct Coherence<M> {
    rank: u32,
    pub(crate) machine: M,
    pages: PageTable,
    dirty: Vec<Page>,
    flushed: Vec<Page>,
    fetched: Vec<Page>,
    cached: Vec<Page>,
    /// Pages of other ranks' private areas that this rank has read.
    private_copies: Vec<Page>,
    reads: Sequence,
    writes: Sequence,
    pending: Option<(Run, Access)>,
    scratch: Scratch,
    sections: declared::SectionMode,
    learned: learned::Learned,
    /// Pages in update mode.
    updated: Vec<Page>,
    /// Track every write with a twin and remember the bytes changed (`OKL_VERIFY`).
    verify: bool,
    pub(crate) counts: Counts,
}

/// Per-page sums over the notices of one synchronisation.
#[derive(Default)]
struct Scratch {
    touched: Vec<Page>,
    sums: std::collections::HashMap<Page, Writers>,
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
    pub(crate) fn new(rank: u32, pages: PageTable, machine: M, verify: bool) -> Self {
        Self {
            rank,
            machine,
            pages,
            dirty: Vec::new(),
            flushed: Vec::new(),
            fetched: Vec::new(),
            cached: Vec::new(),
            private_copies: Vec::new(),
            reads: Sequence::default(),
            writes: Sequence::default(),
            pending: None,
            scratch: Scratch::default(),
            sections: declared::SectionMode::new(!verify),
            learned: learned::Learned::default(),
            updated: Vec::new(),
            verify,
            counts: Counts::default(),
        }
    }

    pub(crate) fn pages(&self) -> &PageTable {
        &self.pages
    }

    // ---- Accesses ------------------------------------------------------------------------------

    /// Serves a fault of the program on `page`.
    pub(crate) fn fault(&mut self, page: Page, write: bool) -> Result<(), Violation> {
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
        if self.pages.has(page, flag::SECTION) {
            return self.access_section_page(page, write);
        }
        if self.pages.layout().is_private(page) {
            if write {
                return Err(Violation::PrivateWrite);
            }
            self.fetch_private(page);
        } else if write {
            self.make_writable(page);
        } else {
            self.fetch(page);
        }
        Ok(())
    }

    /// Makes the pages from `first` to `last` present, and writable where `write` says so, all at once.
    pub(crate) fn touch(&mut self, first: Page, last: Page, write: bool) {
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

    fn touch_page(&mut self, page: Page, write: bool) {
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
            if access == Access::None {
                self.fetch_private(page);
            }
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
        let most = self.reads.fault_at(page, READ_AHEAD);
        let most = self.pages.layout().adjacent(page, most);
        let mut count = 1;
        while count < most
            && self.pages.access(page + count) == Access::None
            && self.pages.home(page + count) == home
            && !self.pages.layout().is_private(page + count)
            && !self.pages.has(page + count, flag::SECTION)
        {
            count += 1;
        }
        self.machine.fetch(page, count, home);
        self.show_fetched(Run { first: page, count });
        self.reads.next = page + count;
    }

    /// Fetches pages that are not accessible from their homes.
    fn fetch_all(&mut self, runs: &[Run]) {
        let mut by_home: std::collections::BTreeMap<u32, Vec<(u64, u64)>> = Default::default();
        for run in runs {
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
            self.machine.gather(home, &ranges);
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
    fn open_for_writing(&mut self, run: Run) {
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
        }
        self.protect_now(run, Access::Write);
    }

    fn fetch_private(&mut self, page: Page) {
        self.counts.private_pages_fetched += 1;
        self.counts.fetched_bytes += PAGE as u64;
        self.machine.fetch(page, 1, self.pages.home(page));
        self.show_private(page);
    }

    /// Takes `contents` as the copy of another rank's private page, readable until the next
    /// synchronisation.
    pub(crate) fn install_private(&mut self, page: Page, contents: &[u8; PAGE]) {
        *self.machine.contents(page) = *contents;
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
    pub(crate) fn contents(&mut self, page: Page) -> &[u8; PAGE] {
        self.machine.contents(page)
    }

    /// Takes back the copies of other ranks' private pages.
    pub(crate) fn drop_private_copies(&mut self) {
        for page in std::mem::take(&mut self.private_copies) {
            self.change_access(page, Access::None);
        }
        self.apply_pending();
    }

    /// Forgets that faults were sequential: a new region accesses anew.
    pub(crate) fn restart_sequences(&mut self) {
        self.reads = Sequence::default();
        self.writes = Sequence::default();
    }

    // ---- Locks and atomics ---------------------------------------------------------------------

    /// Sends every changed byte home: what the holder of a lock wrote is at the homes afterwards.
    pub(crate) fn release(&mut self) {
        let mut sent = self.send_section_changes();
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

    /// Drops every copy, after sending what changed in it: the next read of a page asks its home.
    pub(crate) fn acquire(&mut self) {
        self.release();
        self.counts.acquires += 1;
        self.drop_section_copies();
        for page in std::mem::take(&mut self.cached) {
            self.pages.clear(page, flag::CACHED);
            if self.pages.home(page) != self.rank
                && self.pages.access(page) != Access::None
                && !self.pages.has(page, flag::SECTION | flag::ENTERING)
            {
                self.pages.drop_twin(page);
                self.change_access(page, Access::None);
            }
        }
        self.apply_pending();
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

    /// Sends the changed bytes of `page` home before an atomic operation is carried out there.
    pub(crate) fn before_atomic(&mut self, page: Page) {
        assert!(
            !self.pages.has(page, flag::SECTION | flag::ENTERING),
            "an atomic in a page whose accesses are declared"
        );
        if self.pages.home(page) != self.rank && self.pages.has_twin(page) {
            self.send_changes(page);
            self.mark_flushed(page);
            self.machine.settle();
        }
    }

    /// Records that `bytes` now stand at the home of `page`, in this rank's copy too if it has one.
    pub(crate) fn after_atomic(&mut self, page: Page, offset: usize, bytes: &[u8], written: bool) {
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

    fn mark_flushed(&mut self, page: Page) {
        if self.pages.mark(page, flag::FLUSHED) {
            self.flushed.push(page);
        }
    }

    fn remember_copy(&mut self, page: Page) {
        if self.pages.mark(page, flag::CACHED) {
            self.cached.push(page);
        }
    }

    /// Sends the bytes of `page` that differ from its twin to its home and updates the twin.
    fn send_changes(&mut self, page: Page) {
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
            observe::tell(|| Event::diff(page, sent, home));
        }
    }

    // ---- Synchronisation -----------------------------------------------------------------------

    /// What this rank has to tell the others.
    pub(crate) fn notices(&mut self) -> Notices {
        Notices {
            dirty: runs_of(&mut self.dirty),
            flushed: runs_of(&mut self.flushed),
            fetched: runs_of(&mut self.fetched),
        }
    }

    /// In verify mode: the bytes this rank changed since the last synchronisation.
    pub(crate) fn changes(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        for index in 0..self.dirty.len() {
            let page = self.dirty[index];
            let contents = *self.machine.contents(page);
            if let Some(twin) = self.pages.twin(page) {
                changes.extend(changed_ranges(&contents, twin).map(|(start, end)| Change {
                    page,
                    start: start as u32,
                    end: end as u32,
                }));
            }
        }
        changes
    }

    /// Applies the notices of all ranks, in rank order. Whether changed bytes are under way: then no
    /// rank may go on before all ranks have returned from here and [`Machine::settle`]d.
    #[must_use]
    pub(crate) fn apply(&mut self, notices: &[Notices], phase: Phase) -> bool {
        let mut serial_writes = self.sum_up(notices);
        let touched = std::mem::take(&mut self.scratch.touched);
        let mut changes_under_way = false;
        for &page in &touched {
            let writers = self.scratch.sums[&page];
            changes_under_way |= self.settle_page(page, writers, phase);
        }
        for run in notices.iter().flat_map(|notices| &notices.fetched) {
            for page in run.pages() {
                if self.pages.is_exclusive(page) && !self.scratch.sums.contains_key(&page) {
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
    fn settle_page(&mut self, page: Page, writers: Writers, phase: Phase) -> bool {
        let home = self.pages.home(page);
        let untracked = self.pages.is_exclusive(page) || self.pages.has(page, flag::UPDATED);
        let home_wrote_untracked = untracked && phase == Phase::Parallel;
        self.leave_update_mode(page);
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

    // ---- Pages that travel with a fork ---------------------------------------------------------

    /// Of this rank's pages: whether one may travel with a fork (it is the home, or will be as the
    /// only writer of a serial phase).
    pub(crate) fn can_travel(&self, page: Page) -> bool {
        self.pages.access(page) == Access::Write
            && !self.pages.layout().is_private(page)
            && !self.pages.has(page, flag::SECTION | flag::UPDATED)
            && !self.verify
    }

    /// The pages this rank has written since the last synchronisation, tracked.
    pub(crate) fn dirty_pages(&self) -> &[Page] {
        &self.dirty
    }

    // ---- Protection ----------------------------------------------------------------------------

    /// Changes a page's protection, together with its neighbours' where they change alike.
    fn change_access(&mut self, page: Page, access: Access) {
        if self.pages.access(page) == access {
            return;
        }
        self.pages.set_access(page, access);
        if self.pages.is_closed(page) {
            return;
        }
        if let Some((run, pending)) = &mut self.pending
            && *pending == access
            && run.first + run.count == page
        {
            run.count += 1;
            return;
        }
        self.apply_pending();
        self.pending = Some((
            Run {
                first: page,
                count: 1,
            },
            access,
        ));
    }

    /// Carries out protection changes not yet made.
    pub(crate) fn apply_pending(&mut self) {
        if let Some((run, access)) = self.pending.take() {
            self.protect_now(run, access);
        }
    }

    fn protect_now(&mut self, run: Run, access: Access) {
        self.counts.protections += 1;
        if self.machine.protect(run.first, run.count, access).is_err() {
            self.close_all();
            if self.machine.protect(run.first, run.count, access).is_err() {
                panic!(
                    "the kernel's limit on memory mappings (vm.max_map_count) is reached; raise it"
                );
            }
        }
        for page in run.pages() {
            self.pages.note_open(page);
        }
    }

    /// Denies all access to all pages, so that the kernel joins their mappings. Accesses open them again.
    fn close_all(&mut self) {
        self.counts.closings += 1;
        for (first, count) in self.pages.close_all() {
            if self.machine.protect(first, count, Access::None).is_err() {
                panic!("whole areas cannot be protected");
            }
        }
    }
}

/// The maximal byte ranges in which two pages differ.
fn changed_ranges<'a>(
    new: &'a [u8; PAGE],
    old: &'a [u8; PAGE],
) -> impl Iterator<Item = (usize, usize)> {
    // The bytes are compared in words first: most of a page is unchanged.
    const WORD: usize = 64;
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < PAGE {
            if at % WORD == 0 && new[at..at + WORD] == old[at..at + WORD] {
                at += WORD;
            } else if new[at] == old[at] {
                at += 1;
            } else {
                let start = at;
                while at < PAGE && new[at] != old[at] {
                    at += 1;
                }
                return Some((start, at));
            }
        }
        None
    })
}

/// Sorts `pages` and joins neighbours.
fn runs_of(pages: &mut [Page]) -> Vec<Run> {
    pages.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    for &page in pages.iter() {
        match runs.last_mut() {
            Some(run) if run.first + run.count == page => run.count += 1,
            _ => runs.push(Run {
                first: page,
                count: 1,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests;
