//! The memory system under the protocol: views of the shared pages, and the way to other ranks'.
//!
//! Every rank keeps its copy of all shared pages in a memory file, mapped twice: the *program's view*
//! at the addresses of the [layout], with the protections the protocol asks for, and
//! the *runtime's view*, always writable. Ranks of one node map each other's files, so a fetch is a
//! copy and an atomic is a CPU instruction; ranks of other nodes are asked through
//! [`crate::service`].

mod announcements;
mod mappings;

use std::sync::{
    OnceLock,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Relaxed, SeqCst},
        fence,
    },
};

use okl_abi::AtomicOp;

use crate::{
    byte_sets::{self, ByteSets},
    cell::ProgramCell,
    control_area,
    directly::{self, Flag},
    kernel,
    large_pages::LargePages,
    layout::{self, control_offset},
    marks, meanwhile, mpi_job, observe,
    observe::Event,
    program_stacks, ring,
    room::Room,
    scopes,
    service::{Atomic, Heard, Remote},
    settings::settings,
    traffic::Traffic,
    view::View,
};
use okl_coherence::{
    Access, Coherence, Contents, Heard as Announcements, Layout, Machine, PAGE, Page, Part, Run,
    TooManyMappings,
    geometry::{ranges::Ranges, signature::Signature},
};

use announcements::{
    ALL_PAGES, ANNOUNCED_BY, COPIED_COUNT, FIRST_SET, Journal, MOST_COPIED, MOST_HEARD, MOST_KNOWN,
};
use mappings::Mappings;

/// How another rank's memory is reached.
#[derive(Clone, Copy)]
pub(crate) enum Peer {
    /// On this node: its file is mapped here.
    Mapped(View),
    /// On another node.
    Remote,
}

/// This rank's memory and the way to the others'.
pub(crate) struct Memory {
    layout: Layout,
    rank: u32,
    file: i32,
    own: View,
    peers: Vec<Peer>,
    /// The node of each rank.
    nodes: Vec<u32>,
    remote: Option<Remote>,
    /// Single-process jobs have nothing to protect.
    alone: bool,
    mappings: Mappings,
    room: Room,
    large_pages: LargePages,
    byte_sets: ByteSets,
    /// How much of what was announced this rank has heard, and of what was copied of it.
    heard: u64,
    looked_at: u64,
    /// Where rank 0 is on another node: behind the last number of which there is a copy here, and whether it came with the
    /// last atomic operation.
    mirrored: u64,
    has_just_heard: bool,
    journal: Journal,
}

impl Memory {
    /// The memory of `rank` is `file`, mapped at `own`.
    pub(crate) fn new(
        layout: Layout,
        rank: u32,
        file: i32,
        own: View,
        peers: Vec<Peer>,
        nodes: Vec<u32>,
        remote: Option<Remote>,
    ) -> Self {
        let alone = peers.len() == 1;
        Self {
            layout,
            rank,
            file,
            own,
            peers,
            nodes,
            remote,
            alone,
            mappings: Mappings::new(),
            room: Room::new(settings().memory),
            large_pages: LargePages::new(own, file, settings().large_pages),
            byte_sets: ByteSets::default(),
            heard: 0,
            looked_at: 0,
            mirrored: 0,
            has_just_heard: false,
            journal: Journal::default(),
        }
    }

    fn remote(&mut self) -> &mut Remote {
        self.remote
            .as_mut()
            .expect("a rank on another node implies a service thread")
    }

    /// An atomic operation on the `size` bytes at `offset` of the file of rank `home`. The old value.
    pub(crate) fn atomic(&mut self, offset: usize, size: u32, operation: Atomic, home: u32) -> u64 {
        match self.peers[home as usize] {
            Peer::Mapped(view) => {
                if let Some(remote) = &mut self.remote {
                    remote.settle();
                    self.has_just_heard = false;
                }
                match operation {
                    Atomic::Load => view.compare_exchange(offset, 0, 0, size),
                    Atomic::Exchange(expected, desired) => {
                        view.compare_exchange(offset, expected, desired, size)
                    }
                    Atomic::Update(operation, value) => view.update(offset, size, operation, value),
                }
            }
            Peer::Remote => {
                // An acquisition follows, as a rule.
                let heard = (home == 0).then(|| Heard {
                    offset: (control_offset(&self.layout) + control_area::ANNOUNCED) as u64,
                    from: self.heard,
                    copy: self.list(self.own, control_area::ANNOUNCED),
                });
                self.has_just_heard = home == 0;
                if home == 0 {
                    self.mirrored = self.heard + ring::COPIED as u64;
                }
                self.remote().atomic(offset, size, operation, home, heard)
            }
        }
    }

    /// Atomic load of `size` bytes at `offset` of the file of rank `home`.
    pub(crate) fn load(&mut self, offset: usize, size: u32, home: u32) -> u64 {
        self.atomic(offset, size, Atomic::Load, home)
    }

    /// Reads the control words at `offset` of the file of rank `home`, on another node.
    fn read_far(&mut self, offset: usize, target: &mut [u8], home: u32) {
        self.remote().read_words(offset, target, home);
    }

    /// What this rank has sent to other nodes outside synchronisations, and the answers to its requests.
    pub(crate) fn traffic(&self) -> Traffic {
        self.remote
            .as_ref()
            .map(Remote::traffic)
            .unwrap_or_default()
    }

    /// Bytes of this rank's memory file that are in use.
    pub(crate) fn resident_bytes(&self) -> u64 {
        resident_bytes(self.file)
    }

    /// Whether so many bytes more fit into this rank's memory.
    pub(crate) fn has_room(&self, more: u64) -> bool {
        self.room.has(more, || self.resident_bytes())
    }

    /// How many large pages were made for this rank.
    pub(crate) fn large_pages(&self) -> u64 {
        self.large_pages.made
    }

    /// Writes text to rank 0's standard output through its service thread.
    pub(crate) fn write_to_console(&mut self, text: &[u8]) {
        self.remote().write_to_console(text);
    }

    /// Writes pieces to rank 0's log of what goes to files.
    pub(crate) fn write_to_files(&mut self, pieces: &[u8]) {
        self.remote().write_to_files(pieces);
    }

    /// Ends the service thread. No rank may need it any more.
    pub(crate) fn stop(&mut self) {
        if let Some(remote) = self.remote.take() {
            remote.stop();
        }
    }
}

/// Bytes of a memory file that are in use.
fn resident_bytes(file: i32) -> u64 {
    // SAFETY: asks about a descriptor of our own.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        match libc::syscall(libc::SYS_fstat, file, &mut status) {
            0 => status.st_blocks as u64 * 512,
            _ => 0,
        }
    }
}

impl Machine for Memory {
    // By mprotect, although userfaultfd's write protection is faster where pages in use take turns (Linux 6.18: a fault 2.0
    // against 4.2 us; 8192 of which every other one was written closed in 0.2 against 4 ms). It knows no page that may not be
    // read: to take it out of the view instead costs a fault for each page that is opened, also where that is all of a large
    // array, system calls fail with EFAULT on pages that the protocol has open and the kernel has taken out, and what has no
    // memory yet reads as zero. With both, a page that is fetched costs what it does now, and those are most.
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings> {
        if self.alone {
            return Ok(());
        }
        if self.mappings.are_too_many() {
            return Err(TooManyMappings);
        }
        let protection = match access {
            Access::None => libc::PROT_NONE,
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        let (mut page, mut left) = (first, count);
        while left > 0 {
            let pages = self.layout.adjacent(page, left);
            let address = self.layout.address_of(page);
            // SAFETY: the program's view of shared pages, which only the protocol protects.
            let failed =
                unsafe { kernel::mprotect(address as *mut _, pages as usize * PAGE, protection) }
                    != 0;
            if failed {
                let error = std::io::Error::last_os_error();
                assert_eq!(
                    error.raw_os_error(),
                    Some(libc::ENOMEM),
                    "mprotect: {error}"
                );
                return Err(TooManyMappings);
            }
            page += pages;
            left -= pages;
        }
        Ok(())
    }

    fn fetch(&mut self, first: Page, count: u32, home: u32) {
        assert_ne!(home, self.rank, "a rank fetches a page it is the home of");
        let _span = observe::span(|| Event::fetch(home, first, count));
        let offset = first as usize * PAGE;
        let bytes = count as usize * PAGE;
        match self.peers[home as usize] {
            // SAFETY: two different files, both mapped whole.
            Peer::Mapped(view) => unsafe {
                std::ptr::copy_nonoverlapping(view.at(offset), self.own.at(offset), bytes);
            },
            Peer::Remote => {
                let own = self.own;
                // SAFETY: this rank's copy of pages that are closed: its threads wait for them.
                let target = unsafe { std::slice::from_raw_parts_mut(own.at(offset), bytes) };
                self.remote().get(offset, target, home);
            }
        }
    }

    fn pull(&mut self, owner: u32, ranges: &[(u64, u64)]) {
        assert_ne!(owner, self.rank, "a rank copies bytes that it owns");
        let _span = observe::span(|| Event::copy(owner, ranges));
        match self.peers[owner as usize] {
            Peer::Mapped(view) => {
                let own = self.own;
                let length = |item: usize| (ranges[item].1 - ranges[item].0) as usize;
                meanwhile::copy(ranges.len(), length, |part| {
                    let at = ranges[part.item].0 as usize + part.skip;
                    // SAFETY: two different files, both mapped whole.
                    unsafe { std::ptr::copy_nonoverlapping(view.at(at), own.at(at), part.bytes) };
                });
            }
            Peer::Remote => {
                let own = self.own;
                self.remote().pull(own, ranges, owner);
            }
        }
    }

    fn spans_nodes(&self) -> bool {
        self.remote.is_some()
    }

    fn is_near(&self, rank: u32) -> bool {
        matches!(self.peers[rank as usize], Peer::Mapped(_))
    }

    fn node(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    fn push(&mut self, rank: u32, bytes: Vec<u8>) {
        self.remote().pushes.push(rank, bytes);
    }

    fn expect(&mut self, owner: u32, bytes: usize) -> u64 {
        self.remote().pushes.expect(owner, bytes)
    }

    fn take(&mut self, owner: u32, number: u64, parts: &[(usize, (u64, u64))]) {
        let _span = observe::span(|| Event::taken(owner, parts));
        let own = self.own;
        let message = self.remote().pushes.message(number);
        let length = |item: usize| {
            let (_, (start, end)) = parts[item];
            (end - start) as usize
        };
        meanwhile::copy(parts.len(), length, |part| {
            let (from, (start, _)) = parts[part.item];
            let from = from + part.skip;
            own.write(
                start as usize + part.skip,
                &message[from..from + part.bytes],
            );
        });
    }

    fn received(&mut self, _owner: u32, number: u64) -> Vec<u8> {
        self.remote().pushes.message(number).to_vec()
    }

    fn pack(&mut self, ranges: &[(u64, u64)]) -> Vec<u8> {
        let own = self.own;
        self.remote().pushes.pack(own, ranges)
    }

    fn expect_along(&mut self, _owner: u32) -> u64 {
        self.remote().pushes.expect_along()
    }

    fn arrived(&mut self, number: u64, bytes: &[u8]) {
        self.remote().pushes.arrived(number, bytes);
    }

    fn has_arrived(&mut self, _owner: u32, number: u64) -> bool {
        self.remote().pushes.has_arrived(number)
    }

    fn pack_again(&mut self, parts: &[Part]) -> Vec<u8> {
        let own = self.own;
        self.remote().pushes.pack_again(own, parts)
    }

    fn forget(&mut self, _owner: u32, number: u64) {
        self.remote().pushes.forget(number);
    }

    fn take_marked(&mut self, last: bool) -> Ranges {
        marks::take(last)
    }

    fn put(&mut self, page: Page, offset: usize, bytes: &[u8], home: u32) {
        let at = page as usize * PAGE + offset;
        match self.peers[home as usize] {
            Peer::Mapped(view) => view.write(at, bytes),
            Peer::Remote => self.remote().put(at, bytes, home),
        }
    }

    fn combine(&mut self, at: u64, size: usize, operation: AtomicOp, value: u64, owner: u32) {
        match self.peers[owner as usize] {
            Peer::Mapped(view) => {
                view.update(at as usize, size as u32, operation, value);
            }
            Peer::Remote => self.remote().combine(at, size, operation, value, owner),
        }
    }

    fn order(&mut self) {
        fence(SeqCst);
    }

    fn settle(&mut self) {
        fence(SeqCst);
        if let Some(remote) = &mut self.remote {
            remote.settle();
        }
    }

    fn announce(&mut self, pages: Option<&[Page]>) {
        if self.alone {
            return;
        }
        // There is no memory of so many pages that their numbers are those of something else.
        let pages = pages.filter(|pages| pages.iter().all(|&page| u64::from(page) < FIRST_SET));
        match pages {
            Some(pages) => self.append_announced(pages.iter().copied().map(u64::from)),
            None => self.append_announced([ALL_PAGES].into_iter()),
        }
    }

    fn announce_bytes(&mut self, id: Signature, bytes: &Ranges) -> bool {
        if self.alone {
            return true;
        }
        if self.peers.len() > MOST_KNOWN as usize {
            return false;
        }
        let at = control_offset(&self.layout) + control_area::BYTE_SETS;
        let words = self.own.words(at, byte_sets::WORDS);
        let Some(place) = self.byte_sets.place(words, id, bytes) else {
            return false;
        };
        self.append_announced([FIRST_SET + u64::from(place)].into_iter());
        true
    }

    fn announced(&mut self, has_copies: bool) -> Option<Announcements> {
        if self.alone {
            return Some(Announcements::default());
        }
        let mut from = self.heard;
        let view = match self.peers[0] {
            Peer::Mapped(view) => view,
            Peer::Remote if !has_copies => {
                if self.peers.len() > 2 {
                    self.journal.lose();
                }
                return Some(Announcements::default());
            }
            Peer::Remote => {
                let count = self.hear();
                // It was told of more since it asked.
                if count <= from {
                    return Some(Announcements::default());
                }
                if count - from > MOST_HEARD {
                    self.heard = count;
                    self.journal.lose();
                    return None;
                }
                self.own
            }
        };
        let knows_own = self.peers.len() <= MOST_KNOWN as usize;
        let mut words = Vec::new();
        let list = self.list(view, control_area::ANNOUNCED);
        let is_whole = list.read(&mut from, |word| words.push(word));
        self.heard = from;
        if knows_own {
            let rank = self.rank;
            words.retain(|word| (word >> ANNOUNCED_BY) as u32 != rank);
        }
        if self.remote.is_some() {
            self.journal.note(words.iter().copied());
        }
        if !is_whole {
            self.journal.lose();
            return None;
        }
        self.announcements(words.into_iter())
    }

    fn note_copies(&mut self, first: Page, count: u32, home: u32) {
        let words = (0..count).step_by(MOST_COPIED as usize).map(|part| {
            let pages = u64::from((count - part).min(MOST_COPIED));
            pages << COPIED_COUNT | u64::from(first + part)
        });
        match self.peers[home as usize] {
            Peer::Mapped(view) => self.list(view, control_area::COPIED).append_before(words),
            Peer::Remote => {
                let at = (control_offset(&self.layout) + control_area::COPIED) as u64;
                // They go with the request.
                let remote = self.remote();
                words.for_each(|word| remote.append(at, word, home));
            }
        }
    }

    fn copied(&mut self) -> Option<Vec<Run>> {
        let mut from = self.looked_at;
        let mut runs = Vec::new();
        let is_whole = self
            .list(self.own, control_area::COPIED)
            .read_after(&mut from, |word| {
                runs.push(Run {
                    first: word as Page,
                    count: (word >> COPIED_COUNT) as u32,
                });
            });
        self.looked_at = from;
        is_whole.then_some(runs)
    }

    fn forget_announcements(&mut self) {
        self.journal = Journal::default();
        self.looked_at = self.list(self.own, control_area::COPIED).count();
        if let Peer::Mapped(view) = self.peers[0] {
            self.heard = self.list(view, control_area::ANNOUNCED).count();
        }
    }

    fn enlarge(&mut self, run: Run) {
        self.large_pages.make(run);
    }

    fn discard(&mut self, first: Page, count: u32) {
        self.large_pages.forget(Run { first, count });
        // SAFETY: a descriptor of our own; the protocol says that nobody needs what was there. Where the kernel refuses,
        // the memory stays taken.
        unsafe {
            libc::fallocate(
                self.file,
                libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
                i64::from(first) * PAGE as i64,
                i64::from(count) * PAGE as i64,
            );
        }
    }

    fn held(&mut self, from: Page) -> Option<Run> {
        let pages = self.layout.pages();
        let seek = |from: Page, whence| {
            // SAFETY: asks about a descriptor of our own, of which nobody uses the position.
            let at = unsafe { libc::lseek(self.file, i64::from(from) * PAGE as i64, whence) };
            u64::try_from(at).map(|at| at / PAGE as u64)
        };
        let first = seek(from, libc::SEEK_DATA).ok()?;
        let first = Page::try_from(first).ok().filter(|&first| first < pages)?;
        let end = seek(first, libc::SEEK_HOLE).ok()?.min(u64::from(pages));
        Some(Run {
            first,
            count: end as Page - first,
        })
    }

    fn surplus(&mut self, more: u32) -> u32 {
        // The kernel would fail, or stop half-way, at a copy that is given up.
        if self.alone || LENT_TO_KERNEL.load(Relaxed) != 0 {
            return 0;
        }
        let file = self.file;
        self.room.surplus(more, || resident_bytes(file))
    }

    fn contents(&mut self, page: Page) -> &Contents {
        // SAFETY: in the own file, aligned; the runtime's view is always accessible. Threads of the program may write
        // there meanwhile.
        unsafe { &*self.own.at(page as usize * PAGE).cast() }
    }

    #[inline]
    fn tell<'a>(event: impl FnOnce() -> okl_coherence::Event<'a>) {
        observe::tell(|| Event::of_protocol(&event()));
    }
}

static COHERENCE: ProgramCell<Option<Coherence<Memory>>> = ProgramCell::new(None);

/// Gives the protocol its memory; called once at start-up.
pub(crate) fn install(coherence: Coherence<Memory>) {
    COHERENCE.with(|slot| *slot = Some(coherence));
}

/// This rank's protocol state. Library calls that `body` makes are the runtime's: they neither allocate
/// shared memory nor touch it.
pub(crate) fn coherence<R>(body: impl FnOnce(&mut Coherence<Memory>) -> R) -> R {
    program_stacks::make_next_frames_writable();
    scopes::private(|| COHERENCE.with(|slot| body(slot.as_mut().expect("the job has started"))))
}

/// How much of this rank's memory the kernel uses, for any of its threads.
static LENT_TO_KERNEL: AtomicU32 = AtomicU32::new(0);

/// The kernel will use memory: no copies are given up until it is taken back.
pub(crate) fn lend_to_kernel() {
    LENT_TO_KERNEL.fetch_add(1, Relaxed);
}

/// The kernel uses `times` less.
pub(crate) fn take_back_from_kernel(times: u32) {
    LENT_TO_KERNEL.fetch_sub(times, Relaxed);
}

/// Where a thread waits outside of MPI: whoever is to end that may be on its way only when it has got what this rank has sent.
pub(crate) fn let_messages_go() {
    coherence(|coherence| {
        if coherence.machine.spans_nodes() {
            mpi_job::progress();
        }
    });
}

/// Words of a rank's control area.
#[derive(Clone, Copy)]
pub(crate) enum Words {
    /// On this node.
    Near(&'static [AtomicU64]),
    /// On another one.
    Far,
}

/// The `count` words at `offset` of the control area of `rank`, which are not the protocol's.
pub(crate) fn control_words_of(rank: u32, offset: usize, count: usize) -> Words {
    /// The ranks' memory, which stays mapped where it is.
    static PEERS: OnceLock<Vec<Peer>> = OnceLock::new();
    let find = || scopes::private(|| coherence(|coherence| coherence.machine.peers.clone()));
    match PEERS.get_or_init(find)[rank as usize] {
        Peer::Mapped(view) => {
            let at = layout::control_offset(layout::layout()) + offset;
            Words::Near(view.words(at, count))
        }
        Peer::Remote => Words::Far,
    }
}

/// For an acquisition that follows no atomic operation of the protocol, but a look at such words: what came with the last
/// operation is too old.
pub(crate) fn acquiring<R>(body: impl FnOnce(&mut Coherence<Memory>) -> R) -> R {
    coherence(|coherence| {
        coherence.machine.has_just_heard = false;
        body(coherence)
    })
}

/// Reads such words of a rank on another node.
pub(crate) fn read_control_words(rank: u32, offset: usize, target: &mut [u8]) {
    let at = layout::control_offset(layout::layout()) + offset;
    coherence(|coherence| coherence.machine.read_far(at, target, rank));
}

/// Compare and exchange of such a word. The old value.
pub(crate) fn exchange_control_word(rank: u32, offset: usize, expected: u64, desired: u64) -> u64 {
    update_control_word(rank, offset, Atomic::Exchange(expected, desired))
}

/// Adds to such a word.
pub(crate) fn add_to_control_word(rank: u32, offset: usize, value: u64) {
    update_control_word(rank, offset, Atomic::Update(AtomicOp::Add, value));
}

/// An operation on such a word, behind all that this rank has sent. The old value.
pub(crate) fn update_control_word(rank: u32, offset: usize, operation: Atomic) -> u64 {
    let at = layout::control_offset(layout::layout()) + offset;
    coherence(|coherence| {
        let machine = &mut coherence.machine;
        let old = machine.atomic(at, 8, operation, rank);
        // No acquisition follows.
        machine.has_just_heard = false;
        old
    })
}

/// After a release: tells `rank`, on another node, that a flag was stored, and with it what it is expected to read. Where the
/// flag is that rank's own its slot is at `slot` of the control area.
pub(crate) fn tell_directly(flag: Flag, slot: usize, rank: u32) {
    coherence(|coherence| {
        let ranges = coherence.to_send_directly(rank);
        let interval = coherence.interval();
        let machine = &mut coherence.machine;
        machine.tell(flag, interval, &ranges, slot, rank);
    });
}

/// Acquires what others have told this rank directly.
pub(crate) fn acquire_directly() {
    coherence(|coherence| match directly::take(coherence.interval()) {
        Some(all) => {
            let machine = &mut coherence.machine;
            let all = all.into_iter().map(|one| machine.message(one)).collect();
            coherence.acquire_directly(all);
        }
        None => {
            coherence.machine.has_just_heard = false;
            coherence.acquire();
        }
    });
}

/// What this rank has put into others' memory is there.
pub(crate) fn settle() {
    coherence(|coherence| coherence.machine.settle());
}

/// Makes `length` bytes from `address` present in the program's view, and writable where `write` says
/// so. Does nothing for memory that is not shared, and in a job of one rank.
pub(crate) fn touch(address: usize, length: usize, write: bool) {
    let Some(layout) = layout::get() else {
        return;
    };
    if length == 0 || !crate::program::on_program_stack() {
        return;
    }
    touch_pages(layout, address, length, write);
}

/// Where memory is short, copies go. Only where neither the run time nor the kernel needs any.
pub(crate) fn make_room() {
    coherence(|coherence| coherence.make_room(0));
}

/// Before the kernel is to read `length` bytes from `address` and nothing else has been made present for it: the same, if
/// some of them are not here.
pub(crate) fn make_room_for(address: usize, length: usize) {
    let Some(first) = layout::layout().page_of(address) else {
        return;
    };
    let last = layout::layout().page_of(address + length - 1);
    coherence(|coherence| coherence.make_room_for(first, last.unwrap_or(first)));
}

/// The program has freed these ranges of this rank's heap, which stay free until the synchronisation that begins now is
/// over.
pub(crate) fn free(ranges: &[(usize, usize)]) {
    let layout = layout::layout();
    coherence(|coherence| {
        for &(start, end) in ranges {
            let first = layout.page_of(start).expect("in this rank's heap");
            let count = ((end - start) / PAGE) as u32;
            coherence.free(Run { first, count });
        }
    });
}

/// Makes `length` bytes from `address` readable in the program's view, for any of its threads.
pub(crate) fn make_readable(address: usize, length: usize) {
    touch_pages(layout::layout(), address, length, false);
}

fn touch_pages(layout: &Layout, address: usize, length: usize, write: bool) {
    let Some(first) = layout.page_of(address) else {
        return;
    };
    let last = layout.page_of(address + length - 1).unwrap_or_else(|| {
        let pages = layout.adjacent(first, u32::MAX - first);
        first + pages - 1
    });
    coherence(|coherence| {
        if !coherence.machine.alone {
            coherence.touch(first, last, write);
        }
    });
}
