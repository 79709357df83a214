//! What a rank knows about each shared page.
//!
//! Guarantee: a page nobody has looked at costs no memory. The tables are anonymous mappings that
//! read as zero, and zero means "as at the start".

use crate::{
    contents::Contents,
    layout::{Layout, PAGE, Page},
    sparse::Sparse,
};

/// What this rank's protection of a page allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing: this rank's copy is stale or was never fetched.
    None,
    /// Reading: the copy is current.
    Read,
    /// Reading and writing.
    Write,
}

/// Bits of a page's flags.
pub(crate) mod flag {
    /// In the list of pages written since the last synchronisation.
    pub(crate) const DIRTY: u8 = 1;
    /// In the list of pages whose writes went home before the synchronisation.
    pub(crate) const FLUSHED: u8 = 2;
    /// In the list of pages fetched since the last synchronisation.
    pub(crate) const FETCHED: u8 = 4;
    /// In the list of pages this rank may hold a copy of.
    pub(crate) const CACHED: u8 = 8;
    /// Ranks other than its home may hold copies, so the home's writes are tracked. The complement
    /// is an exclusive page: its home reads and writes it without a fault or a notice.
    pub(crate) const SHARED: u8 = 16;
    /// In section mode: see [`crate::coherence::declared`].
    pub(crate) const SECTION: u8 = 32;
    /// Will be in section mode after the next synchronisation.
    pub(crate) const ENTERING: u8 = 64;
    /// In update mode: see `coherence/updated.rs`.
    pub(crate) const UPDATED: u8 = 128;
}

/// The table.
pub struct PageTable {
    rank: u32,
    track_all: bool,
    layout: Layout,
    /// 0: as at the start; otherwise [`Access`] + 1.
    access: Sparse<u8>,
    /// 0: as at the start; otherwise the home + 1.
    home: Sparse<u32>,
    flags: Sparse<u8>,
    /// The closing after which the page was opened last; see [`PageTable::is_closed`].
    opened: Sparse<u32>,
    closings: u32,
    /// Counts pages that were closed, and closings.
    times_closed: u64,
    /// 0: none; otherwise an index into `twins` + 1.
    twin: Sparse<u32>,
    twins: Vec<Box<[u8; PAGE]>>,
    free_twins: Vec<u32>,
}

impl PageTable {
    /// The table at the start. With `track_all` no page is ever exclusive, so that every write is seen.
    pub fn new(rank: u32, layout: Layout, track_all: bool) -> Self {
        let pages = layout.pages() as usize;
        Self {
            rank,
            track_all,
            access: Sparse::zeroed(pages),
            home: Sparse::zeroed(pages),
            flags: Sparse::zeroed(pages),
            opened: Sparse::zeroed(pages),
            closings: 0,
            times_closed: 0,
            twin: Sparse::zeroed(pages),
            layout,
            twins: Vec::new(),
            free_twins: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn access(&self, page: Page) -> Access {
        match self.access.get(page) {
            0 if self.layout.first_home(page) == self.rank => self.home_access_at_start(page),
            0 | 1 => Access::None,
            2 => Access::Read,
            _ => Access::Write,
        }
    }

    /// The protection of a page of this rank's own at the start.
    #[inline]
    pub(crate) fn home_access_at_start(&self, page: Page) -> Access {
        if self.track_all && !self.layout.is_private(page) {
            Access::Read
        } else {
            Access::Write
        }
    }

    #[inline]
    pub(crate) fn set_access(&mut self, page: Page, access: Access) {
        self.times_closed += u64::from(access == Access::None);
        self.access.set(page, access as u8 + 1);
    }

    /// While this is the same no page has been closed.
    #[inline]
    pub(crate) fn times_closed(&self) -> u64 {
        self.times_closed
    }

    /// Whether the kernel denies all access to `page` whatever [`PageTable::access`] says, because all
    /// pages were closed since it was opened: many pages with alternating protections become one mapping.
    #[inline]
    pub(crate) fn is_closed(&self, page: Page) -> bool {
        self.opened.get(page) < self.closings && self.can_close(page)
    }

    /// The runtime itself runs on stacks, so these stay open.
    #[inline]
    fn can_close(&self, page: Page) -> bool {
        !self.layout.is_stack(page) && !self.layout.is_private(page)
    }

    /// Notes that `page` has the protection that [`PageTable::access`] says.
    #[inline]
    pub(crate) fn note_open(&mut self, page: Page) {
        if self.closings > 0 {
            self.opened.set(page, self.closings);
        }
    }

    /// Notes that all pages are closed, and says which the kernel must close for that.
    #[inline]
    pub(crate) fn close_all(&mut self) -> Vec<(Page, u32)> {
        self.closings += 1;
        self.times_closed += 1;
        let can_close = |page| self.can_close(page);
        self.layout
            .segments()
            .filter(|segment| segment.pages > 0 && can_close(segment.page))
            .map(|segment| (segment.page, segment.pages))
            .collect()
    }

    /// The rank that has its contents whenever no rank has unpublished writes.
    #[inline]
    pub fn home(&self, page: Page) -> u32 {
        match self.home.get(page) {
            0 => self.layout.first_home(page),
            home => home - 1,
        }
    }

    #[inline]
    pub(crate) fn set_home(&mut self, page: Page, home: u32) {
        self.home.set(page, home + 1);
    }

    #[inline]
    pub(crate) fn has(&self, page: Page, flag: u8) -> bool {
        self.flags.get(page) & flag != 0
    }

    /// Sets `flag`; whether it was clear before.
    #[inline]
    pub(crate) fn mark(&mut self, page: Page, flag: u8) -> bool {
        let flags = self.flags.get(page);
        self.flags.set(page, flags | flag);
        flags & flag == 0
    }

    #[inline]
    pub(crate) fn clear(&mut self, page: Page, flag: u8) {
        let flags = self.flags.get(page);
        if flags & flag != 0 {
            self.flags.set(page, flags & !flag);
        }
    }

    #[inline]
    pub(crate) fn is_exclusive(&self, page: Page) -> bool {
        !self.track_all && !self.has(page, flag::SHARED)
    }

    #[inline]
    pub(crate) fn set_exclusive(&mut self, page: Page, exclusive: bool) {
        if exclusive {
            self.clear(page, flag::SHARED);
        } else {
            self.mark(page, flag::SHARED);
        }
    }

    /// The copy of `page` as it was before this rank's first write.
    #[inline]
    pub(crate) fn twin(&mut self, page: Page) -> Option<&mut [u8; PAGE]> {
        match self.twin.get(page) {
            0 => None,
            index => Some(&mut self.twins[index as usize - 1]),
        }
    }

    #[inline]
    pub(crate) fn has_twin(&self, page: Page) -> bool {
        self.twin.get(page) != 0
    }

    /// Gives `page` a twin with `contents`.
    pub(crate) fn make_twin(&mut self, page: Page, contents: &Contents) {
        debug_assert!(!self.has_twin(page));
        let index = match self.free_twins.pop() {
            Some(index) => {
                contents.read(0, &mut self.twins[index as usize][..]);
                index
            }
            None => {
                self.twins.push(Box::new(contents.copy()));
                (self.twins.len() - 1) as u32
            }
        };
        self.twin.set(page, index + 1);
    }

    #[inline]
    pub(crate) fn drop_twin(&mut self, page: Page) {
        let index = self.twin.get(page);
        if index != 0 {
            self.twin.set(page, 0);
            self.free_twins.push(index - 1);
        }
    }
}
