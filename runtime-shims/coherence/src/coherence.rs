//! The coherence protocol: which rank has the current contents of each shared page.
//!
//! One rank's part of it: [`Coherence`]. Its states and words are those of the [crate's page](crate).
//!
//! * Faults, fetches and what is read ahead: [`accesses`], [`ahead`]. What regions touch by faults is fetched ahead when they
//!   run again: [`learned`].
//! * Notices, and the next state of each page: [`synchronisation`].
//! * Locks and atomic accesses: [`locks`]. Contributions, atomic operations that commute, are collected: [`collected`].
//! * Pages that rank 0 changes between regions, a little each time: [`updated`].
//! * Pages whose accesses the compiler declared, byte by byte: [`declared`].
//! * Memory that goes back to the machine: [`room`].

mod accesses;
mod ahead;
mod collected;
pub(crate) mod declared;
mod learned;
mod locks;
mod room;
mod synchronisation;
mod updated;

use okl_abi::AtomicOp;

use crate::{
    contents::Contents,
    geometry::{
        ranges::{Range, Ranges},
        signature::Signature,
    },
    layout::{PAGE, Page},
    page_table::{PageTable, flag},
};
use accesses::{Sequence, WRITE_AHEAD};
use synchronisation::Scratch;

use crate::page_table::Access;
pub use collected::Object;

/// What the protocol needs of the machine under it.
pub trait Machine {
    /// Sets the protection of `count` pages in the program's view. Fails where the kernel refuses
    /// another mapping.
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings>;
    /// Copies `count` pages from `home`'s memory into this rank's.
    fn fetch(&mut self, first: Page, count: u32, home: u32);
    /// Copies ranges of bytes, given as positions in the memory file, from `owner`'s memory into this
    /// rank's.
    fn pull(&mut self, owner: u32, ranges: &[(u64, u64)]);
    /// Whether there are ranks whose memory is not mapped here; the same on all ranks.
    fn spans_nodes(&self) -> bool;
    /// Whether `rank`'s memory is mapped here.
    fn is_near(&self, rank: u32) -> bool;
    /// A number that the ranks have in common whose memory is mapped by each other; the same on all ranks.
    fn node(&self, rank: u32) -> u32;
    /// Sends `bytes` to `rank`, which [`Machine::expect`]s them.
    fn push(&mut self, rank: u32, bytes: Vec<u8>);
    /// Begins to receive `bytes` that `owner` pushes: the messages of one rank in the order in which it
    /// sends them. The message's number.
    fn expect(&mut self, owner: u32, bytes: usize) -> u64;
    /// Ranges of this rank's memory, as they are now, to go to other ranks.
    fn pack(&mut self, ranges: &[(u64, u64)]) -> Vec<u8>;
    /// As [`Machine::expect`], for a message that comes along with another one.
    fn expect_along(&mut self, owner: u32) -> u64;
    /// It has come.
    fn arrived(&mut self, number: u64, bytes: &[u8]);
    /// Whether a message from `owner` has arrived.
    fn has_arrived(&mut self, owner: u32, number: u64) -> bool;
    /// As [`Machine::pack`], but for ranges that lie in messages which have arrived.
    fn pack_again(&mut self, parts: &[Part]) -> Vec<u8>;
    /// A message from `owner`, when it has arrived.
    fn received(&mut self, owner: u32, number: u64) -> Vec<u8>;
    /// Copies ranges out of a message from `owner`, each from the place given with it, when it has arrived.
    fn take(&mut self, owner: u32, number: u64, parts: &[(usize, (u64, u64))]);
    /// Nothing more is taken out of a message from `owner`, which may not have arrived yet.
    fn forget(&mut self, owner: u32, number: u64);
    /// Takes what the program has marked as written since the last time; `last` says that it marks nothing
    /// more until it declares that again.
    fn take_marked(&mut self, last: bool) -> Ranges;
    /// Writes `bytes` into `home`'s copy of `page` at `offset`; complete after [`Machine::settle`].
    fn put(&mut self, page: Page, offset: usize, bytes: &[u8], home: u32);
    /// Replaces the object of `size` bytes at position `at` in `owner`'s memory by what `operation` makes of
    /// it and `value`, with nobody else in between; complete after [`Machine::settle`], here at once. It
    /// comes after every earlier [`Machine::put`] to that rank, and before every later one.
    fn combine(&mut self, at: u64, size: usize, operation: AtomicOp, value: u64, owner: u32);
    /// Returns when every [`Machine::put`] and [`Machine::combine`] has reached its target.
    fn settle(&mut self);
    /// What was sent so far reaches its targets before the next atomic operation that this rank has carried out in
    /// another one's memory. What ranks tell each other otherwise does not wait for it.
    fn order(&mut self);
    /// Tells all ranks that the homes of `pages`, or of any pages, have new contents: who asks for what was
    /// [announced](Machine::announced) after it has heard of what this rank does next. It comes after every earlier
    /// [`Machine::put`] and [`Machine::combine`]; complete after [`Machine::settle`].
    fn announce(&mut self, pages: Option<&[Page]>);
    /// The same of bytes, of which ranks that copy them know the owners; `id` stands for them. False where there is no room
    /// to tell of so many different sets: then nothing is told.
    #[must_use]
    fn announce_bytes(&mut self, id: Signature, bytes: &Ranges) -> bool;
    /// What other ranks have announced since the last call; `None` where that may be any page. What a rank that has no
    /// copies is not told it need not be told later.
    fn announced(&mut self, has_copies: bool) -> Option<Heard>;
    /// Tells `home`, which may write them unnoticed, that this rank is about to copy `count` pages.
    fn note_copies(&mut self, first: Page, count: u32, home: u32);
    /// What other ranks have noted since the last call, with the page's contents as this rank has written them so far or
    /// older ones; `None` where that may be any pages.
    fn copied(&mut self) -> Option<Vec<Run>>;
    /// All ranks are about to synchronise: of what was announced and copied so far they will know otherwise.
    fn forget_announcements(&mut self);
    /// The program accesses `run`, of whole pieces that the kernel maps as one where it can, again and again.
    fn enlarge(&mut self, run: Run);
    /// Gives the memory of this rank's copy of `count` pages back to the machine. Nobody asks for what it was any more.
    fn discard(&mut self, first: Page, count: u32);
    /// The first pages from `from` on whose copies take memory of this rank.
    fn held(&mut self, from: Page) -> Option<Run>;
    /// How many pages less this rank should hold where it is about to fetch `more`, as far as that is known without much
    /// ado.
    fn surplus(&mut self, more: u32) -> u32;
    /// This rank's copy of a page, whatever its protection.
    fn contents(&mut self, page: Page) -> &Contents;
    /// Something happens, which it is only where somebody asks for it.
    fn tell<'a>(event: impl FnOnce() -> Event<'a>);
}

/// Something that happens, for who watches.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Bytes that this rank changed in a page go to rank `to`.
    Diff {
        /// The page.
        page: Page,
        /// How many they are.
        bytes: usize,
        /// Where they go.
        to: u32,
    },
    /// Ranges of the memory file are sent to a rank that has not asked for them.
    Send {
        /// That rank.
        to: u32,
        /// The ranges.
        ranges: &'a [(u64, u64)],
    },
    /// Whole pages leave section mode.
    Leave {
        /// The pages.
        bytes: &'a Ranges,
        /// There may be others, which stay.
        some: bool,
        /// None will enter it again.
        last: bool,
    },
}

/// What other ranks have announced.
#[derive(Debug, Default)]
pub struct Heard {
    /// Pages of which the homes have new contents.
    pub pages: Vec<Page>,
    /// Bytes that have new values, each set with what stands for it.
    pub bytes: Vec<(Signature, Ranges)>,
}

/// A range of bytes to be sent, and where it is if not in this rank's memory: the sender of a message, its
/// number, and the place in it.
pub type Part = ((u64, u64), Option<(u32, u64, usize)>);

/// The kernel's limit on mappings is reached.
#[derive(Debug)]
pub struct TooManyMappings;

/// Adjacent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: Page,
    /// How many.
    pub count: u32,
}

impl Run {
    /// The pages themselves.
    #[inline]
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
    /// Pages that the program has freed.
    pub(crate) freed: Vec<Run>,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Faults of reads.
    pub read_faults: u64,
    /// Faults of writes.
    pub write_faults: u64,
    /// Pages copied whole.
    pub pages_fetched: u64,
    /// Of other ranks' private areas.
    pub private_pages_fetched: u64,
    /// Bytes of both, and of pages in section mode that were accessed undeclared.
    pub fetched_bytes: u64,
    /// Pages of which changed bytes went home.
    pub diffs: u64,
    /// These bytes.
    pub diff_bytes: u64,
    /// Changes of protection.
    pub protections: u64,
    /// Acquisitions of locks.
    pub acquires: u64,
    /// Those of what others told this rank directly, and bytes that came along and were declared to be read.
    pub acquires_directly: u64,
    /// These bytes.
    pub bytes_along: u64,
    /// How often all pages were closed to save mappings.
    pub closings: u64,
    /// Declarations of sections, and those that were not like an earlier one.
    pub declarations: u64,
    /// Those declarations that were not like an earlier one.
    pub plans: u64,
    /// Copies of declared bytes from one owner each.
    pub pulls: u64,
    /// These bytes.
    pub pulled_bytes: u64,
    /// Synchronisations at which declarations were exchanged.
    pub transitions: u64,
    /// Those at which bytes became their expected writers'.
    pub moves: u64,
    /// Returns of pages from section mode.
    pub collapses: u64,
    /// Pages given up where memory was short.
    pub given_up: u64,
}

/// Bytes of a page that one rank changed between two synchronisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The page.
    pub page: Page,
    /// The first byte in it.
    pub start: u32,
    /// Behind the last one.
    pub end: u32,
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
pub enum Violation {
    /// Another rank's private memory was written.
    PrivateWrite,
    /// A region that declares all its writes made another one.
    Undeclared,
    /// A fault that the page's protection does not explain.
    Unexplained,
}

/// One rank's part of the protocol.
pub struct Coherence<M> {
    rank: u32,
    /// What is under it.
    pub machine: M,
    pages: PageTable,
    dirty: Vec<Page>,
    flushed: Vec<Page>,
    fetched: Vec<Page>,
    cached: Vec<Page>,
    /// Pages of other ranks' private areas that this rank has copied.
    private_copies: Vec<Page>,
    /// How many tasks of other ranks run here, one inside another: they may write what those have on their stacks.
    guests: u32,
    reads: Sequence,
    ahead: ahead::Ahead,
    writes: Sequence,
    pending: Option<(Run, Access)>,
    scratch: Scratch,
    sections: declared::SectionMode,
    learned: learned::Learned,
    collected: collected::Collected,
    updated: updated::Updated,
    unannounced: locks::Unannounced,
    /// What the program has freed since the last synchronisation.
    freed: Vec<Run>,
    copies: room::Fetched,
    /// Track every write with a twin and remember the bytes changed (`OKL_VERIFY`).
    verify: bool,
    /// Then: the bytes that went home since the last synchronisation.
    sent_home: Vec<Range>,
    /// What it has done.
    pub counts: Counts,
}

impl<M: Machine> Coherence<M> {
    /// The part of `rank`, at the start. With `verify` every write is tracked, and declarations are not heeded.
    pub fn new(rank: u32, pages: PageTable, machine: M, verify: bool) -> Self {
        Self {
            rank,
            machine,
            pages,
            dirty: Vec::new(),
            flushed: Vec::new(),
            fetched: Vec::new(),
            cached: Vec::new(),
            private_copies: Vec::new(),
            guests: 0,
            reads: Sequence::default(),
            ahead: ahead::Ahead::default(),
            writes: Sequence::default(),
            pending: None,
            scratch: Scratch::default(),
            sections: declared::SectionMode::new(!verify),
            learned: learned::Learned::default(),
            collected: collected::Collected::default(),
            updated: updated::Updated::default(),
            unannounced: locks::Unannounced::default(),
            freed: Vec::new(),
            copies: room::Fetched::default(),
            verify,
            sent_home: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// What it knows of each page.
    #[inline]
    pub fn pages(&self) -> &PageTable {
        &self.pages
    }

    // ---- Pages that travel with a fork ---------------------------------------------------------

    /// Of this rank's pages: whether one may travel with a fork (it is the home, or will be as the
    /// only writer of a serial phase).
    pub fn can_travel(&self, page: Page) -> bool {
        self.pages.access(page) == Access::Write
            && !self.pages.layout().is_private(page)
            && !self.pages.has(page, flag::SECTION | flag::UPDATED)
            && !self.verify
    }

    /// The pages this rank has written since the last synchronisation, tracked.
    pub fn dirty_pages(&self) -> &[Page] {
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
#[inline]
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
