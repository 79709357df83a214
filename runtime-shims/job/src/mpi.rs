//! MPI, through an object that is built for one MPI (`object`) and opened where a job is to be joined. A process that
//! is a program of its own loads no MPI.
//!
//! Guarantee: nothing here calls MPI before [`load`] has said that it is there.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::object::{self, CHOICE};
use crate::{
    end::{self, Speaker},
    launcher,
    opened::Opened,
    own_environment,
};
use functions::{ANY, BITS, Comm, Info, Request, SUM};

pub use functions::Threads;
pub use object::{functions, load};
pub use turns::take_turns;
use turns::{are_taken, mpi};

/// Whether MPI has been started, by the program or by okl.
pub fn is_initialised() -> bool {
    type Initialized = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: a function of the MPI standard, which has the same type in all implementations.
    let initialized = unsafe { Opened::PROGRAM.symbol::<Initialized>(c"MPI_Initialized") };
    initialized.is_ok_and(|initialized| {
        let mut flag = 0;
        // SAFETY: may be called at any time, and writes a flag.
        unsafe { initialized(&mut flag) };
        flag != 0
    })
}

/// How MPI was found or started.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// Whether it was not there before.
    pub is_ours: bool,
    /// Which threads may call it.
    pub threads: Threads,
}

/// Starts MPI, if the program has not. An error says that it is not the launcher's: each rank would run the whole program.
pub fn start(wanted: Threads) -> Result<Started, String> {
    // MPI may set variables of launchers when it starts alone.
    let told = launcher::size(own_environment);
    end::note_launcher();
    let mut provided = 0;
    // SAFETY: a number, and room for one.
    let is_ours = unsafe { (mpi().start)(wanted as i32, &mut provided) } != 0;
    let all = Communicator::world();
    require_all(told, all.ranks())?;
    end::job_is(all.rank(), all.handle());
    let levels = [
        Threads::Single,
        Threads::Funneled,
        Threads::Serialized,
        Threads::Multiple,
    ];
    Ok(Started {
        is_ours,
        threads: levels[provided as usize],
    })
}

/// Ends in an error if the launcher has `told` of several ranks, and MPI has `found` none but this one.
fn require_all(told: Option<(&str, u32)>, found: u32) -> Result<(), String> {
    match told {
        Some((name, ranks)) if ranks > 1 && found == 1 => Err(format!(
            "the launcher has started {ranks} ranks ({name}), and MPI has found 1: take the launcher of the MPI that okl is \
             built for, or name an object that is built for this one with {CHOICE}=FILE"
        )),
        _ => Ok(()),
    }
}

/// Ends MPI, unless it has ended. No call follows, but for those of what goes wrong in the middle of it.
pub fn finalize() {
    // SAFETY: MPI is initialised.
    unsafe { (mpi().finalize)() };
}

/// `MPI_INFO_NULL`, for libraries that take one.
pub fn no_info() -> Info {
    // SAFETY: a constant.
    unsafe { (mpi().no_info)() }
}

/// How long a thread that waits looks again and again before it leaves the processor: in microseconds.
static PATIENCE: AtomicU64 = AtomicU64::new(30);

/// From now on a thread that waits keeps its processor for longer: nobody else needs it, but for a moment, as a thread
/// that wakes up and is done.
pub fn keep_processor() {
    PATIENCE.store(2000, Relaxed);
}

/// Looks at `done` until it is. A thread that only yields keeps its turn from threads that always run; so one that waits
/// for long leaves the processor.
pub fn wait_until(mut done: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_micros(5);
    let patience = Duration::from_micros(PATIENCE.load(Relaxed));
    let since = Instant::now();
    while !done() {
        if since.elapsed() < patience {
            std::thread::yield_now();
        } else {
            std::thread::sleep(PAUSE);
        }
    }
}

/// How a thread waits for what MPI does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As MPI does, which is fastest: an immediate collective slows all of MPI's progress down.
    InMpi,
    /// With [`wait_until`], where another thread needs the processor.
    Patiently,
}

impl Wait {
    /// A thread that takes turns with another one does not wait inside MPI.
    fn in_turn(self) -> Self {
        match are_taken() {
            true => Self::Patiently,
            false => self,
        }
    }
}

/// A number that crosses.
pub trait Element: Copy + Default + sealed::Element {}
impl Element for u8 {}
impl Element for u64 {}

mod sealed {
    pub trait Element: Sized {
        const BYTES: i32 = size_of::<Self>() as i32;
    }
    impl Element for u8 {}
    impl Element for u64 {}
}

/// Elements in one message.
fn count(elements: usize) -> i32 {
    number(elements).unwrap_or_else(|mistake| end::fatal(&mistake, Speaker::Rank))
}

/// So many elements as one of MPI's numbers, if it is one.
fn number(elements: usize) -> Result<i32, String> {
    i32::try_from(elements).map_err(|_| {
        format!(
            "a message of {elements} elements is too long: MPI's numbers end at {}",
            i32::MAX
        )
    })
}

/// An operation under way. It has to be complete before it goes.
#[derive(Debug)]
pub struct Pending(Option<Request>);

impl Pending {
    /// One that is complete.
    pub const NONE: Self = Self(None);

    /// # Safety
    /// `start` starts an operation for the room that it is given, or does nothing.
    unsafe fn of(start: impl FnOnce(*mut Request)) -> Self {
        let mut room = 0;
        start(&mut room);
        Self(Some(room))
    }

    /// Whether it is complete. Lends MPI a hand.
    pub fn is_complete(&mut self) -> bool {
        if let Some(request) = &mut self.0 {
            // SAFETY: a request that is not complete.
            if unsafe { (mpi().test)(request) } == 0 {
                return false;
            }
            self.0 = None;
        }
        true
    }

    /// Returns when it is complete.
    pub fn complete(&mut self, wait: Wait) {
        if wait.in_turn() == Wait::Patiently {
            return wait_until(|| self.is_complete());
        }
        if let Some(mut request) = self.0.take() {
            // SAFETY: a request that is not complete.
            unsafe { (mpi().wait)(&mut request) };
        }
    }
}

/// A communicator, and the tag of the messages that are sent in it. It is never freed.
#[derive(Clone, Copy, Debug)]
pub struct Communicator {
    handle: Comm,
    tag: i32,
    /// Which threads call MPI is agreed at its start.
    _threads: PhantomData<*const ()>,
}

impl Communicator {
    fn of(handle: Comm) -> Self {
        Self {
            handle,
            tag: 0,
            _threads: PhantomData,
        }
    }

    /// `MPI_COMM_WORLD`.
    pub fn world() -> Self {
        // SAFETY: a constant.
        Self::of(unsafe { (mpi().world)() })
    }

    /// That of a number in Fortran; none for `MPI_COMM_NULL`.
    pub fn of_fortran(number: i32) -> Option<Self> {
        // SAFETY: a conversion.
        let handle = unsafe { (mpi().of_fortran)(number) };
        // SAFETY: a constant.
        let none = unsafe { (mpi().no_communicator)() };
        (handle != none).then(|| Self::of(handle))
    }

    /// As MPI's C functions take it.
    pub fn handle(self) -> Comm {
        self.handle
    }

    /// For messages of another kind.
    pub fn tagged(self, tag: i32) -> Self {
        Self { tag, ..self }
    }

    /// A communicator of its own, of the same ranks. Collective.
    pub fn duplicate(self) -> Self {
        // SAFETY: a communicator.
        Self::of(unsafe { (mpi().duplicate)(self.handle) })
    }

    /// Calls `body` with that of the ranks that share memory with this one. Collective.
    pub fn on_node<R>(self, body: impl FnOnce(Self) -> R) -> R {
        // SAFETY: a communicator, which is not used afterwards.
        unsafe {
            let node = (mpi().of_node)(self.handle);
            let result = body(Self::of(node));
            (mpi().free)(node);
            result
        }
    }

    /// This process's rank.
    pub fn rank(self) -> u32 {
        // SAFETY: a communicator.
        unsafe { (mpi().rank)(self.handle) as u32 }
    }

    /// The number of ranks.
    pub fn ranks(self) -> u32 {
        // SAFETY: a communicator.
        unsafe { (mpi().size)(self.handle) as u32 }
    }

    /// Starts an operation, and returns when it is done. In between nothing of what it is about is used.
    ///
    /// # Safety
    /// `start` starts an operation for the room that it is given, or does it where that is null.
    unsafe fn run(wait: Wait, start: impl FnOnce(*mut Request)) {
        match wait.in_turn() {
            Wait::InMpi => start(std::ptr::null_mut()),
            // SAFETY: the caller's promise.
            Wait::Patiently => unsafe { Pending::of(start) }.complete(wait),
        }
    }

    /// Waits for all ranks.
    pub fn barrier(self, wait: Wait) {
        // SAFETY: a communicator.
        unsafe { Self::run(wait, |request| (mpi().barrier)(self.handle, request)) };
    }

    /// What every rank has, in rank order; all have as many elements.
    pub fn gathered<T: Element>(self, mine: &[T], wait: Wait) -> Vec<T> {
        let mut all = vec![T::default(); mine.len() * self.ranks() as usize];
        if !mine.is_empty() {
            self.all_gather(mine, &mut all, wait);
        }
        all
    }

    /// Gathers `mine`, which is as long on all ranks, from every rank, in rank order, into `all`.
    pub fn all_gather<T: Element>(self, mine: &[T], all: &mut [T], wait: Wait) {
        assert_eq!(all.len(), mine.len() * self.ranks() as usize);
        let (count, from, to) = (
            count(mine.len()),
            mine.as_ptr().cast(),
            all.as_mut_ptr().cast(),
        );
        let start = |request| {
            // SAFETY: as long as is said.
            unsafe { (mpi().all_gather)(self.handle, from, to, count, T::BYTES, request) }
        };
        // SAFETY: as above.
        unsafe { Self::run(wait, start) };
    }

    /// Gathers parts of different lengths: `lengths[r]` elements of `bytes` bytes from rank `r`, in rank order. Elements
    /// are numbers where it waits [patiently](Wait::Patiently).
    pub fn all_gather_parts<T: Element>(
        self,
        mine: &[T],
        lengths: &[usize],
        bytes: usize,
        wait: Wait,
    ) -> Vec<T> {
        let each = bytes / size_of::<T>();
        let counts: Vec<i32> = lengths.iter().map(|&length| count(length)).collect();
        let starts = lengths.iter().scan(0, |next, length| {
            let start = *next;
            *next += length;
            Some(count(start))
        });
        let starts: Vec<i32> = starts.collect();
        let mut all = vec![T::default(); lengths.iter().sum::<usize>() * each];
        let (own, from) = (count(mine.len() / each), mine.as_ptr().cast());
        assert_eq!(own, counts[self.rank() as usize]);
        let (to, counts, starts) = (all.as_mut_ptr().cast(), counts.as_ptr(), starts.as_ptr());
        let start = |request| {
            let (one, bytes) = (self.handle, bytes as i32);
            // SAFETY: as many as is said, of that many bytes.
            unsafe { (mpi().all_gather_parts)(one, from, own, to, counts, starts, bytes, request) }
        };
        // SAFETY: as above.
        unsafe { Self::run(wait, start) };
        all
    }

    /// Gives all ranks what `from` has.
    pub fn broadcast<T: Element>(self, elements: &mut [T], from: u32, wait: Wait) {
        let (count, data) = (count(elements.len()), elements.as_mut_ptr().cast());
        let start = |request| {
            // SAFETY: as long as is said.
            unsafe { (mpi().broadcast)(self.handle, data, count, T::BYTES, from as i32, request) }
        };
        // SAFETY: as above.
        unsafe { Self::run(wait, start) };
    }

    fn reduce(self, words: &mut [u64], operation: i32) {
        // SAFETY: as many as is said.
        unsafe {
            (mpi().all_reduce)(
                self.handle,
                words.as_mut_ptr(),
                count(words.len()),
                operation,
            )
        };
    }

    /// Adds up what all ranks have.
    pub fn all_add(self, words: &mut [u64]) {
        self.reduce(words, SUM);
    }

    /// The bits that any rank has.
    pub fn all_or(self, words: &mut [u64]) {
        self.reduce(words, BITS);
    }

    /// Sends `elements` to `rank`.
    pub fn send<T: Element>(self, elements: &[T], rank: u32, wait: Wait) {
        // SAFETY: what is sent is there until the call returns.
        unsafe {
            Self::run(wait, |request| self.begin_send(elements, rank, request));
        }
    }

    /// Sends `elements` to `rank`, [receives](Self::receive) what it sends meanwhile, and returns when both are done.
    pub fn send_and_receive<T: Element>(self, elements: &[T], rank: u32) -> Vec<T> {
        // SAFETY: what is sent is there until the call returns.
        let mut sending =
            unsafe { Pending::of(|request| self.begin_send(elements, rank, request)) };
        let received = self.receive(rank, Wait::Patiently);
        sending.complete(Wait::Patiently);
        received
    }

    fn begin_send<T: Element>(self, elements: &[T], rank: u32, request: *mut Request) {
        let (count, data) = (count(elements.len()), elements.as_ptr().cast());
        let (one, to) = (self.handle, rank as i32);
        // SAFETY: as long as is said; the callers see to it that it stays.
        unsafe { (mpi().send)(one, data, count, T::BYTES, to, self.tag, request) }
    }

    /// Begins to send `elements` to `rank`.
    ///
    /// # Safety
    /// They stay where, and as, they are until it is complete.
    pub unsafe fn start_send<T: Element>(self, elements: &[T], rank: u32) -> Pending {
        // SAFETY: the caller's promise.
        unsafe { Pending::of(|request| self.begin_send(elements, rank, request)) }
    }

    /// Begins to receive as many bytes as there is `room` for from `rank`.
    ///
    /// # Safety
    /// The room stays where it is, and is not looked at, until it is complete.
    pub unsafe fn start_receive(self, room: &mut [MaybeUninit<u8>], rank: u32) -> Pending {
        let (count, data) = (count(room.len()), room.as_mut_ptr().cast());
        let start = |request| {
            // SAFETY: as long as is said; the rest is the caller's promise.
            unsafe { (mpi().receive)(self.handle, data, count, 1, rank as i32, self.tag, request) }
        };
        // SAFETY: as above.
        unsafe { Pending::of(start) }
    }

    /// The rank and the number of elements of a message that can be received.
    fn probe<T: Element>(self, from: i32, waits: bool) -> Option<(u32, usize)> {
        let (mut sender, mut count) = (0, 0);
        let (one, tag, waits) = (self.handle, self.tag, i32::from(waits));
        // SAFETY: room for what is written.
        let found =
            unsafe { (mpi().probe)(one, from, tag, T::BYTES, waits, &mut sender, &mut count) };
        (found != 0).then_some((sender as u32, count as usize))
    }

    /// The rank of a message that can be received, if there is one. Lends MPI a hand.
    pub fn sender(self) -> Option<u32> {
        self.probe::<u8>(ANY, false).map(|(sender, _)| sender)
    }

    /// Receives a message of any length from `rank`. One thread at a time does so in a communicator.
    pub fn receive<T: Element>(self, rank: u32, wait: Wait) -> Vec<T> {
        let mut message = vec![T::default(); self.next::<T>(rank, wait)];
        self.take(&mut message, rank);
        message
    }

    /// The same of as many elements as there is `room` for.
    pub fn receive_into<T: Element>(self, room: &mut [T], rank: u32, wait: Wait) {
        if wait.in_turn() == Wait::Patiently {
            self.next::<T>(rank, wait);
        }
        self.take(room, rank);
    }

    /// Waits for a message: its elements.
    fn next<T: Element>(self, rank: u32, wait: Wait) -> usize {
        let mut found = None;
        match wait.in_turn() {
            Wait::InMpi => found = self.probe::<T>(rank as i32, true),
            Wait::Patiently => wait_until(|| {
                found = self.probe::<T>(rank as i32, false);
                found.is_some()
            }),
        }
        found.expect("there is a message").1
    }

    fn take<T: Element>(self, room: &mut [T], rank: u32) {
        let (count, data) = (count(room.len()), room.as_mut_ptr().cast());
        let (one, from) = (self.handle, rank as i32);
        let start = |request| {
            // SAFETY: room for as many as is said.
            unsafe { (mpi().receive)(one, data, count, T::BYTES, from, self.tag, request) }
        };
        // SAFETY: as above.
        unsafe { Self::run(Wait::InMpi, start) };
    }
}

mod turns;

#[cfg(test)]
mod tests;
