//! Threads of a rank touch the same page, which is another rank's.
//!
//! The protocol and what lends it to one thread at a time are those that ship. The kernel is modelled: a change of a page's
//! protection is seen by an access at once or later, and who finds a page open sees all that was done before.

use loom::{cell::UnsafeCell, sync::Arc, thread};

use okl_abi::AtomicOp;
use okl_coherence::{
    Access, Coherence, Contents, Event, Heard, Layout, Machine, PAGE, Page, PageTable, Part, Run,
    Sizes, TooManyMappings, Violation,
    geometry::{ranges::Ranges, signature::Signature},
};

use crate::{
    cell::ProgramCell,
    models::explore,
    primitives::{Acquire, AtomicU32, Release},
    turns,
};

/// The page that they touch: rank 0's.
const TOUCHED: Page = 0;
/// What is there.
const VALUE: u32 = 7;

/// What threads of the program and the protocol have in common.
struct Shared {
    /// The protection of the page: 0 closed, 1 to be read, 2 to be written.
    open: AtomicU32,
    /// A word of this rank's copy for each thread.
    words: [UnsafeCell<u32>; 2],
    fetched: AtomicU32,
}

struct Modelled {
    shared: Arc<Shared>,
    page: Box<Contents>,
}

impl Machine for Modelled {
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings> {
        if (first..first + count).contains(&TOUCHED) {
            self.shared.open.store(access as u32, Release);
        }
        Ok(())
    }

    fn fetch(&mut self, _: Page, _: u32, home: u32) {
        assert_eq!(home, 0);
        self.shared.fetched.fetch_add(1, Release);
        for word in &self.shared.words {
            // SAFETY: nobody reads a page that is closed; loom looks.
            word.with_mut(|word| unsafe { *word = VALUE });
        }
    }

    fn spans_nodes(&self) -> bool {
        false
    }

    fn is_near(&self, _: u32) -> bool {
        true
    }

    fn node(&self, _: u32) -> u32 {
        0
    }

    fn note_copies(&mut self, _: Page, _: u32, _: u32) {}

    fn surplus(&mut self, _: u32) -> u32 {
        0
    }

    fn contents(&mut self, _: Page) -> &Contents {
        // For a twin: of a page that is not open for writing.
        for word in &self.shared.words {
            // SAFETY: as above; other threads may read.
            word.with(|word| assert_eq!(unsafe { *word }, VALUE));
        }
        &self.page
    }

    fn tell<'a>(_: impl FnOnce() -> Event<'a>) {}

    fn pull(&mut self, _: u32, _: &[(u64, u64)]) {
        unreachable!()
    }
    fn push(&mut self, _: u32, _: Vec<u8>) {
        unreachable!()
    }
    fn expect(&mut self, _: u32, _: usize) -> u64 {
        unreachable!()
    }
    fn pack(&mut self, _: &[(u64, u64)]) -> Vec<u8> {
        unreachable!()
    }
    fn expect_along(&mut self, _: u32) -> u64 {
        unreachable!()
    }
    fn arrived(&mut self, _: u64, _: &[u8]) {
        unreachable!()
    }
    fn has_arrived(&mut self, _: u32, _: u64) -> bool {
        unreachable!()
    }
    fn pack_again(&mut self, _: &[Part]) -> Vec<u8> {
        unreachable!()
    }
    fn received(&mut self, _: u32, _: u64) -> Vec<u8> {
        unreachable!()
    }
    fn take(&mut self, _: u32, _: u64, _: &[(usize, (u64, u64))]) {
        unreachable!()
    }
    fn forget(&mut self, _: u32, _: u64) {
        unreachable!()
    }
    fn take_marked(&mut self, _: bool) -> Ranges {
        unreachable!()
    }
    fn put(&mut self, _: Page, _: usize, _: &[u8], _: u32) {
        unreachable!()
    }
    fn combine(&mut self, _: u64, _: usize, _: AtomicOp, _: u64, _: u32) {
        unreachable!()
    }
    fn settle(&mut self) {
        unreachable!()
    }
    fn order(&mut self) {
        unreachable!()
    }
    fn announce(&mut self, _: Option<&[Page]>) {
        unreachable!()
    }
    fn announce_bytes(&mut self, _: Signature, _: &Ranges) -> bool {
        unreachable!()
    }
    fn announced(&mut self, _: bool) -> Option<Heard> {
        unreachable!()
    }
    fn copied(&mut self) -> Option<Vec<Run>> {
        unreachable!()
    }
    fn forget_announcements(&mut self) {
        unreachable!()
    }
    fn enlarge(&mut self, _: Run) {
        unreachable!()
    }
    fn discard(&mut self, _: Page, _: u32) {
        unreachable!()
    }
    fn held(&mut self, _: Page) -> Option<Run> {
        unreachable!()
    }
}

/// Rank 1 of two.
struct Rank {
    shared: Arc<Shared>,
    coherence: ProgramCell<Coherence<Modelled>>,
}

// SAFETY: one thread at a time uses the state, and who reads and writes which word when is under test; loom looks at both.
unsafe impl Send for Rank {}
// SAFETY: as above.
unsafe impl Sync for Rank {}

impl Rank {
    fn new() -> Arc<Self> {
        let sizes = Sizes {
            stack: PAGE,
            first_arena: PAGE,
            arena: PAGE,
            private: PAGE,
            large: PAGE,
        };
        let layout = Layout::new(&[(0x40_0000, 0x40_0000 + PAGE)], sizes, 2);
        let shared = Arc::new(Shared {
            open: AtomicU32::new(0),
            words: [UnsafeCell::new(0), UnsafeCell::new(0)],
            fetched: AtomicU32::new(0),
        });
        let machine = Modelled {
            shared: Arc::clone(&shared),
            page: Box::new(Contents::zeros()),
        };
        let pages = PageTable::new(1, layout, false);
        Arc::new(Self {
            shared,
            coherence: ProgramCell::new(Coherence::new(1, pages, machine, false)),
        })
    }

    /// Returns when the page is open for the access, as the program's thread goes on behind it.
    fn touch(&self, write: bool) {
        let wanted = if write { Access::Write } else { Access::Read };
        while self.shared.open.load(Acquire) < wanted as u32 {
            let served = turns::alone(|| {
                self.coherence
                    .with(|coherence| coherence.fault(TOUCHED, write))
            });
            match served {
                Ok(()) => {}
                // Another thread was faster: the access is tried again.
                Err(Violation::Unexplained) => loom::thread::yield_now(),
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    /// Thread `thread` reads its word.
    fn read(&self, thread: usize) {
        self.touch(false);
        // SAFETY: the page is open; loom looks.
        self.shared.words[thread].with(|word| assert_eq!(unsafe { *word }, VALUE));
    }

    /// It writes its word.
    fn write(&self, thread: usize) {
        self.touch(true);
        // SAFETY: as above.
        self.shared.words[thread].with_mut(|word| unsafe { *word += 1 });
    }
}

/// Runs `body` on two threads of the rank.
fn on_two_threads(body: fn(&Rank, usize)) {
    explore(3, move || {
        let program = with_a_stack(move || {
            turns::set_active(2);
            let rank = Rank::new();
            let other = {
                let rank = Arc::clone(&rank);
                with_a_stack(move || {
                    turns::set_index(1);
                    body(&rank, 1);
                })
            };
            body(&rank, 0);
            other.join().expect("no panic");
            assert_eq!(rank.shared.fetched.load(Acquire), 1, "fetched once");
        });
        program.join().expect("no panic");
    });
}

/// A thread with room for pages on its stack, of which loom's have little.
fn with_a_stack(body: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    const BYTES: usize = 1 << 20;
    let thread = thread::Builder::new().stack_size(BYTES);
    thread.spawn(body).expect("a thread")
}

/// A page is opened when it has been fetched, which it is once, whoever touches it first.
#[test]
fn two_threads_read_a_page() {
    on_two_threads(|rank, thread| rank.read(thread));
}

/// It is fetched before one of them has written, and the twin is made before: not again where the other one writes, too.
#[test]
fn two_threads_write_a_page() {
    on_two_threads(|rank, thread| rank.write(thread));
}

/// One reads while the other one writes something else.
#[test]
fn one_reads_while_another_one_writes() {
    on_two_threads(|rank, thread| match thread {
        0 => rank.read(0),
        _ => rank.write(1),
    });
}
