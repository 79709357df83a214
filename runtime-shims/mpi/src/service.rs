//! The second thread of a rank, through which ranks on other nodes reach its memory.
//!
//! Guarantee: a request is served whatever the rank's program thread is doing. Requests of one rank
//! are served in the order it sent them. The thread touches nothing but the runtime's view, so it
//! never faults and needs no lock; it sleeps while nobody asks, unless ranks do not reach each other but by MPI.
//!
//! Puts and contributions are collected and go in one message a home, with the next request if there is one;
//! [`Remote::settle`] sends them and waits until each home has answered. All other requests wait for their reply at once.
//! Of what is pulled in many bytes, parts that are zero are told and not sent ([`packed`]).

mod answers;
mod packed;
mod polled;
mod reached;

use std::thread::JoinHandle;

use okl_abi::AtomicOp;
use okl_job::mpi;

use self::{answers::Answers, polled::Polled, reached::Reached};
use crate::{
    interfaces::Choice,
    mpi_job,
    pushes::Pushes,
    report,
    ring::{self, Ring},
    scopes,
    traffic::Traffic,
    view::View,
};

const GET: u64 = 1;
const PUT: u64 = 2;
const COMPARE_EXCHANGE: u64 = 3;
const SETTLE: u64 = 4;
const CONSOLE: u64 = 5;
const PULL: u64 = 6;
const FILES: u64 = 7;
const UPDATE: u64 = 8;
const TELL: u64 = 9;

/// Bytes of a request before its data: operation, offset, length, two operands, and how many bytes of puts come before
/// the data.
const HEADER: usize = 48;
const HEADER_PUTS: usize = 5;
/// Instead of an offset among puts: a contribution. Below are its operation, the logarithm of its size, and its
/// offset.
const CONTRIBUTION: u64 = 1 << 63;
const CONTRIBUTION_OPERATION: u32 = 56;
const CONTRIBUTION_SIZE: u32 = 52;
/// Instead of an offset among puts: a word for the list at the offset below.
const APPENDED: u64 = 1 << 62;
/// A home's puts are sent when they exceed this many bytes.
const PUT_BATCH: usize = 1 << 16;
/// Largest reply in one message.
const GET_BATCH: usize = 1 << 20;

/// An atomic operation, which yields the old value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atomic {
    /// Nothing is changed.
    Load,
    /// The second value replaces the first one.
    Exchange(u64, u64),
    /// An operation with a value replaces what is there.
    Update(AtomicOp, u64),
}

/// A list of which a copy comes with an answer: its offset, from which number on, and where the copy goes.
pub(crate) struct Heard {
    pub(crate) offset: u64,
    pub(crate) from: u64,
    pub(crate) copy: Ring<'static>,
}

/// How requests and their answers travel.
enum Way {
    Sockets(Reached),
    Mpi(Polled),
}

/// The asking side.
pub(crate) struct Remote {
    way: Way,
    /// Messages that nobody asks for.
    pub(crate) pushes: Pushes,
    /// For each rank, puts and contributions not yet sent, after one another: (offset, length, bytes) and
    /// ([`CONTRIBUTION`] with what and where, value).
    puts: Vec<Vec<u8>>,
    unsettled: Vec<bool>,
    /// The same of flags that were stored.
    stored: Vec<bool>,
    /// There may be puts that are not in place.
    has_puts: bool,
    traffic: Traffic,
}

impl Remote {
    /// Starts the service thread over this rank's memory. `nodes` are those of all ranks; they use the interfaces of
    /// `choice`. Where it `is_crowded` ranks do not have a processor each. Collective.
    pub(crate) fn start(
        own: View,
        log: fn(&[u8]),
        nodes: &[u32],
        choice: &Choice,
        is_crowded: bool,
    ) -> Self {
        let answers = Answers { own, log };
        let way = scopes::private(
            || match Reached::start(answers, nodes, choice, is_crowded) {
                Ok(reached) => {
                    if !is_crowded {
                        mpi::keep_processor();
                    }
                    Way::Sockets(reached)
                }
                Err(why) => {
                    poll_instead(&why);
                    Way::Mpi(Polled::start(answers))
                }
            },
        );
        let ranks = mpi_job::ranks() as usize;
        Self {
            way,
            pushes: Pushes::start(),
            puts: vec![Vec::new(); ranks],
            unsettled: vec![false; ranks],
            stored: vec![false; ranks],
            has_puts: false,
            traffic: Traffic::default(),
        }
    }

    /// This rank's requests, the answers to them, and what it pushed.
    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic + self.pushes.traffic
    }

    fn request(&mut self, words: [u64; 5], data: &[u8], rank: u32) {
        let puts = std::mem::take(&mut self.puts[rank as usize]);
        self.unsettled[rank as usize] |= !puts.is_empty();
        let mut head = [0; HEADER];
        let words = words.into_iter().chain([puts.len() as u64]);
        for (room, word) in head.as_chunks_mut().0.iter_mut().zip(words) {
            *room = word.to_le_bytes();
        }
        let bytes = head.len() + puts.len() + data.len();
        match puts.is_empty() {
            true => self.traffic.control(1, bytes),
            false => self.traffic.data(1, bytes),
        }
        let all;
        let data = match (puts.is_empty(), data.is_empty()) {
            (true, _) => data,
            (false, true) => &puts,
            (false, false) => {
                all = [&puts, data].concat();
                &all
            }
        };
        match &mut self.way {
            Way::Sockets(reached) => reached.send(&head, data, rank),
            Way::Mpi(polled) => polled.send(&head, data, rank),
        }
    }

    /// Waits for what was asked for.
    fn data(&mut self, into: &mut [u8], rank: u32) {
        self.traffic.data(1, into.len());
        self.receive(into, rank);
    }

    /// Waits for an answer without data.
    fn reply(&mut self, into: &mut [u8], rank: u32) {
        self.traffic.control(1, into.len());
        self.receive(into, rank);
    }

    /// What was put before the request is in place then.
    fn receive(&mut self, into: &mut [u8], rank: u32) {
        self.unsettled[rank as usize] = false;
        self.stored[rank as usize] = false;
        match &mut self.way {
            Way::Sockets(reached) => reached.receive(into, rank),
            Way::Mpi(polled) => polled.receive(into, rank),
        }
    }

    /// Reads from `offset` of the file of `rank`, when what was put there is.
    pub(crate) fn get(&mut self, offset: usize, target: &mut [u8], rank: u32) {
        let mut offset = offset;
        for part in target.chunks_mut(GET_BATCH) {
            self.request([GET, offset as u64, part.len() as u64, 0, 0], &[], rank);
            self.data(part, rank);
            offset += part.len();
        }
    }

    /// The same, of a few words that are no data.
    pub(crate) fn read_words(&mut self, offset: usize, target: &mut [u8], rank: u32) {
        self.request([GET, offset as u64, target.len() as u64, 0, 0], &[], rank);
        self.reply(target, rank);
    }

    /// Copies ranges of positions of the file of `rank` into `own`, packed in as few messages as possible.
    pub(crate) fn pull(&mut self, own: View, ranges: &[(u64, u64)], rank: u32) {
        let mut batch: Vec<(usize, usize)> = Vec::new();
        let mut bytes = 0;
        for &(start, end) in ranges {
            let (mut at, end) = (start as usize, end as usize);
            while at < end {
                let length = (end - at).min(GET_BATCH - bytes);
                batch.push((at, length));
                bytes += length;
                at += length;
                if bytes == GET_BATCH {
                    self.pull_batch(own, &batch, bytes, rank);
                    batch.clear();
                    bytes = 0;
                }
            }
        }
        if bytes > 0 {
            self.pull_batch(own, &batch, bytes, rank);
        }
    }

    fn pull_batch(&mut self, own: View, batch: &[(usize, usize)], bytes: usize, rank: u32) {
        let mut places = Vec::with_capacity(16 * batch.len());
        for &(at, length) in batch {
            places.extend_from_slice(&(at as u64).to_le_bytes());
            places.extend_from_slice(&(length as u64).to_le_bytes());
        }
        self.request([PULL, 0, bytes as u64, 0, 0], &places, rank);
        let places = || batch.iter().copied();
        let mut marks = vec![0; packed::marks(places(), bytes)];
        if !marks.is_empty() {
            self.reply(&mut marks, rank);
        }
        let mut packed = vec![0; packed::sent(places(), bytes, &marks)];
        if !packed.is_empty() {
            self.data(&mut packed, rank);
        }
        packed::unpack(places(), &marks, &packed, |at, part| own.write(at, part));
    }

    /// Writes to `offset` of the file of `rank`, by the next [`Remote::settle`].
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8], rank: u32) {
        let puts = self.puts_to(rank);
        puts.extend_from_slice(&(offset as u64).to_le_bytes());
        puts.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        puts.extend_from_slice(bytes);
        if puts.len() > PUT_BATCH {
            self.send_puts(rank);
        }
    }

    /// Contributes to the object of `size` bytes at `offset` of the file of `rank`, by the next [`Remote::settle`].
    pub(crate) fn combine(
        &mut self,
        offset: u64,
        size: usize,
        operation: AtomicOp,
        value: u64,
        rank: u32,
    ) {
        let what = (operation as u64) << CONTRIBUTION_OPERATION
            | u64::from(size.ilog2()) << CONTRIBUTION_SIZE;
        let puts = self.puts_to(rank);
        puts.extend_from_slice(&(CONTRIBUTION | what | offset).to_le_bytes());
        puts.extend_from_slice(&value.to_le_bytes());
        if puts.len() > PUT_BATCH {
            self.send_puts(rank);
        }
    }

    /// Appends `word` to the list at `offset` of the file of `rank`, by the next [`Remote::settle`], and after every
    /// earlier put to it.
    pub(crate) fn append(&mut self, offset: u64, word: u64, rank: u32) {
        let puts = self.puts_to(rank);
        puts.extend_from_slice(&(APPENDED | offset).to_le_bytes());
        puts.extend_from_slice(&word.to_le_bytes());
        if puts.len() > PUT_BATCH {
            self.send_puts(rank);
        }
    }

    fn puts_to(&mut self, rank: u32) -> &mut Vec<u8> {
        self.has_puts = true;
        &mut self.puts[rank as usize]
    }

    /// Sends what is put to `rank`.
    fn send_puts(&mut self, rank: u32) {
        self.request([PUT, 0, 0, 0, 0], &[], rank);
    }

    /// Returns when all puts are in place.
    pub(crate) fn settle(&mut self) {
        self.settle_but(u32::MAX);
        self.has_puts = false;
    }

    /// The same, but for what is put to `other`.
    pub(crate) fn settle_but(&mut self, other: u32) {
        if self.has_puts {
            self.settle_some(|this, rank| {
                rank != other && (this.stored[rank as usize] || this.has_put(rank))
            });
        }
    }

    /// The same, but for flags that were stored.
    pub(crate) fn settle_puts(&mut self) {
        if self.has_puts {
            self.settle_some(Self::has_put);
        }
    }

    fn has_put(&self, rank: u32) -> bool {
        self.unsettled[rank as usize] || !self.puts[rank as usize].is_empty()
    }

    fn settle_some(&mut self, waits: impl Fn(&Self, u32) -> bool) {
        let all = 0..self.puts.len() as u32;
        let waiting: Vec<u32> = all.filter(|&rank| waits(self, rank)).collect();
        for &rank in &waiting {
            self.request([SETTLE, 0, 0, 0, 0], &[], rank);
        }
        for rank in waiting {
            self.reply(&mut [0; 8], rank);
        }
    }

    /// An atomic operation on the `size` bytes at `offset` of the file of `rank`, when all puts are in place. The old
    /// value; what is to be `heard` is as it is after the operation.
    pub(crate) fn atomic(
        &mut self,
        offset: usize,
        size: u32,
        operation: Atomic,
        rank: u32,
        heard: Option<Heard>,
    ) -> u64 {
        self.settle_but(rank);
        let (offset, size) = (offset as u64, u64::from(size));
        let words = match operation {
            Atomic::Load => [COMPARE_EXCHANGE, offset, size, 0, 0],
            Atomic::Exchange(expected, desired) => {
                [COMPARE_EXCHANGE, offset, size, expected, desired]
            }
            Atomic::Update(operation, value) => [UPDATE, offset, size, operation as u64, value],
        };
        let mut old = [0; 8];
        let Some(heard) = heard else {
            self.request(words, &[], rank);
            self.reply(&mut old, rank);
            return u64::from_le_bytes(old);
        };
        let [offset, from] = [heard.offset, heard.from].map(u64::to_le_bytes);
        self.request(words, &[offset, from].concat(), rank);
        let mut answer = [0; 8 + 8 * ring::COPY];
        self.reply(&mut answer, rank);
        let (first, rest) = answer.split_at(8);
        old.copy_from_slice(first);
        let mut copy = [0; ring::COPY];
        for (word, bytes) in copy.iter_mut().zip(rest.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        heard.copy.take_over(heard.from, &copy);
        u64::from_le_bytes(old)
    }

    /// Sends a message of [`crate::directly`] behind everything that is put to `rank`, and when all that is put to others is in
    /// place. Where `is_stored` the flag that it is about is one of `rank`, whose slot is at `offset` of the file; it has that
    /// value by the next [`Remote::settle`].
    pub(crate) fn tell(&mut self, offset: usize, message: &[u8], is_stored: bool, rank: u32) {
        self.settle_but(rank);
        let words = [TELL, offset as u64, message.len() as u64, 0, 0];
        self.request(words, message, rank);
        self.stored[rank as usize] |= is_stored;
        self.has_puts |= is_stored;
    }

    /// Writes `text` to rank 0's standard output; returns when it is written.
    pub(crate) fn write_to_console(&mut self, text: &[u8]) {
        self.request([CONSOLE, 0, text.len() as u64, 0, 0], text, 0);
        self.reply(&mut [0; 8], 0);
    }

    /// Writes pieces to rank 0's log of what goes to files; returns when they are there.
    pub(crate) fn write_to_files(&mut self, pieces: &[u8]) {
        self.request([FILES, 0, pieces.len() as u64, 0, 0], pieces, 0);
        self.reply(&mut [0; 8], 0);
    }

    /// Ends the thread.
    pub(crate) fn stop(self) {
        scopes::private(move || {
            let mut this = self;
            this.pushes.finish();
            match this.way {
                Way::Sockets(reached) => reached.stop(),
                Way::Mpi(polled) => polled.stop(),
            }
        });
    }
}

/// Says once what it costs that ranks do not reach each other, and ends the job where MPI cannot stand in.
fn poll_instead(why: &str) {
    if !mpi_job::may_take_turns() {
        report::fatal(&format!(
            "{why}, and this MPI library cannot stand in: it lacks MPI_THREAD_SERIALIZED"
        ));
    }
    if mpi_job::rank() == 0 {
        report::warn(&format!(
            "warning: ranks on different nodes have no connection of their own: {why}; so a thread of each rank asks MPI \
             for requests every 20 us, which takes an eighth of a core. OKL_SOCKET_IFNAME names interfaces to use"
        ));
    }
}

/// Starts the service thread, which runs `body`.
fn start_thread(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let thread = std::thread::Builder::new().name("okl-service".into());
    let thread = thread.spawn(move || {
        block_signals();
        run_promptly();
        body();
    });
    thread.expect("the system allows another thread")
}

/// Signals are the program thread's business.
fn block_signals() {
    // SAFETY: changes this thread's signal mask only.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigdelset(&mut all, libc::SIGSEGV);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

/// Where the thread runs beside the program's it asks to be run as soon as it wakes: with a slice shorter than other
/// threads' (Linux 6.12; older kernels ignore it) it preempts them.
fn run_promptly() {
    const SLICE_NS: u64 = 100_000;
    // SAFETY: asks for a number.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        return;
    }
    // SAFETY: asks for a number.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: nice,
        sched_priority: 0,
        sched_runtime: SLICE_NS,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: changes this thread's scheduling only; a refusal leaves it as it was.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
