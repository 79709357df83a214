//! The MPI job.
//!
//! Guarantee: MPI is loaded and started only if [`start`] is called; without it there is one rank, and nothing here
//! communicates, nor after [`finalize`]. All calls are made by the program's own thread.

use std::{
    hash::Hash,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use okl_job::{
    agree, end,
    mpi::{self, Communicator, Pending, Threads, Wait},
};

use crate::{
    report::{self, fatal},
    topology::Rank,
};

pub(crate) use okl_job::mpi::functions::{Comm, Info};
pub(crate) use okl_job::mpi::{is_initialised, no_info};

struct Job {
    world: Communicator,
    rank: usize,
    ranks: usize,
    /// Whether MPI was not there before.
    is_ours: bool,
}

// SAFETY: used by the program's own thread only.
unsafe impl Sync for Job {}
// SAFETY: as above.
unsafe impl Send for Job {}

static JOB: OnceLock<Job> = OnceLock::new();

/// Whether the program has left the job: nothing communicates any more.
static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// Communicators that programs see: `MPI_Comm` is a pointer, or a number, which is at the beginning then.
#[unsafe(export_name = "OP_MPI_WORLD")]
static WORLD: AtomicUsize = AtomicUsize::new(0);
#[unsafe(export_name = "OP_MPI_GLOBAL")]
static GLOBAL: AtomicUsize = AtomicUsize::new(0);

/// The communicators that a program gives `op_mpi_init`, by their numbers in Fortran.
#[derive(Clone, Copy)]
pub(crate) struct Given {
    /// That of the ranks that have a part of the mesh.
    pub(crate) local: i32,
    /// That of all ranks, for the program.
    pub(crate) global: i32,
}

impl Given {
    /// Neither is none: a rank that has no part of the mesh makes no calls of OP2's, and there is nothing in which it could
    /// wait for the others.
    fn communicators(self) -> [Communicator; 2] {
        [(self.local, "local"), (self.global, "global")].map(|(number, which)| {
            Communicator::of_fortran(number).unwrap_or_else(|| {
                fatal(&format!(
                    "op_mpi_init: the {which} communicator is MPI_COMM_NULL: ranks without a part of the mesh do not call it"
                ))
            })
        })
    }
}

/// Joins the job: the ranks of the communicator that is given, or all.
pub(crate) fn start(given: Option<Given>) {
    let started = mpi::load().and_then(|()| mpi::start(Threads::Funneled));
    let is_ours = started.unwrap_or_else(|mistake| fatal(&mistake)).is_ours;
    let all = Communicator::world();
    let [world, global] = given.map_or([all; 2], Given::communicators);
    WORLD.store(world.handle(), Relaxed);
    GLOBAL.store(global.handle(), Relaxed);
    let world = world.duplicate();
    end::rank_is(world.rank());
    let job = Job {
        world,
        rank: world.rank() as usize,
        ranks: world.ranks() as usize,
        is_ours,
    };
    report::start(job.rank == 0);
    assert!(JOB.set(job).is_ok(), "it was not there before");
}

/// This process's rank.
pub(crate) fn rank() -> usize {
    JOB.get().map_or(0, |job| job.rank)
}

/// Whether the program has left a job.
pub(crate) fn has_left() -> bool {
    HAS_LEFT.load(Relaxed)
}

/// Whether it has left one in which there were others.
pub(crate) fn has_left_others() -> bool {
    has_left() && JOB.get().is_some_and(|job| job.ranks > 1)
}

/// Ranks of the job; 1 before and after it.
pub(crate) fn ranks() -> usize {
    let job = JOB.get().filter(|_| !has_left());
    job.map_or(1, |job| job.ranks)
}

/// That of all ranks, where there are several.
pub(crate) fn communicator() -> Comm {
    world().handle()
}

fn world() -> Communicator {
    JOB.get().expect("there are several ranks").world
}

/// Waits for all ranks.
pub(crate) fn barrier() {
    if ranks() > 1 {
        world().barrier(Wait::InMpi);
    }
}

/// What every rank has, in the order of ranks; all have the same number of bytes.
pub(crate) fn all_gather(mine: &[u8]) -> Vec<u8> {
    match ranks() {
        1 => mine.to_vec(),
        _ => world().gathered(mine, Wait::InMpi),
    }
}

/// The threads of the ranks on this node, and the processors they have together; `processors` are this rank's, a bit
/// for each. Collective, in a job of several ranks.
pub(crate) fn on_this_node(threads: usize, mut processors: [u64; 16]) -> (usize, usize) {
    let mut all_threads = [threads as u64];
    world().on_node(|node| {
        node.all_add(&mut all_threads);
        node.all_or(&mut processors);
    });
    let processors = processors.iter().map(|word| word.count_ones());
    (all_threads[0] as usize, processors.sum::<u32>() as usize)
}

fn gather_words(mine: &[u64]) -> Vec<u64> {
    match ranks() {
        1 => mine.to_vec(),
        _ => world().gathered(mine, Wait::InMpi),
    }
}

/// Whether it is so on every rank. Collective.
pub(crate) fn all(is_so: bool) -> bool {
    agree::all(is_so, gather_words)
}

/// What is right on this rank if it is so on all; else what is wrong on the first where it is not. Collective.
pub(crate) fn agree<T>(result: Result<T, String>) -> Result<T, String> {
    agree::agree(result, gather_words)
}

/// The first rank that has something else than rank 0. Collective.
pub(crate) fn first_that_differs(what: impl Hash) -> Option<usize> {
    agree::first_that_differs(what, gather_words)
}

/// The elements, of `size` bytes, that the ranks have: `counts` of each, in the order of ranks.
pub(crate) fn all_gather_elements(mine: &[u8], counts: &[usize], size: usize) -> Vec<u8> {
    if ranks() == 1 {
        return mine.to_vec();
    }
    if counts.iter().sum::<usize>() * size == 0 {
        return Vec::new();
    }
    world().all_gather_parts(mine, counts, size, Wait::InMpi)
}

/// Sends bytes to a rank while those of another come, if there are such; at the same time these do the like.
pub(crate) fn pass(sent: Option<(Vec<u8>, usize)>, from: Option<usize>) -> Vec<u8> {
    let mut messages = Messages::default();
    if let Some((bytes, to)) = sent {
        messages.send(bytes, to);
    }
    let received = from.map(|from| messages_of(world()).receive(from as u32, Wait::InMpi));
    messages.complete();
    received.unwrap_or_default()
}

/// Gives all ranks what one has.
pub(crate) fn broadcast(bytes: &mut [u8], from: usize) {
    if ranks() > 1 {
        world().broadcast(bytes, from as u32, Wait::InMpi);
    }
}

/// Calls `work` on the ranks that `turns` names, one after the other, with the number of the turn: each gets the bytes
/// that the one before has left, and in the end all have those of the last one.
pub(crate) fn in_turn(turns: &[Rank], bytes: &mut [u8], mut work: impl FnMut(usize, &mut [u8])) {
    let me = rank() as Rank;
    for (turn, _) in turns.iter().enumerate().filter(|(_, one)| **one == me) {
        if let Some(&before) = turn
            .checked_sub(1)
            .map(|at| &turns[at])
            .filter(|one| **one != me)
        {
            world().receive_into(bytes, before, Wait::InMpi);
        }
        work(turn, bytes);
        if let Some(&next) = turns.get(turn + 1).filter(|one| **one != me) {
            world().send(bytes, next, Wait::InMpi);
        }
    }
    if let Some(&last) = turns.last() {
        broadcast(bytes, last as usize);
    }
}

/// Messages on their way, with the memory they need.
#[derive(Default)]
pub(crate) struct Messages {
    pending: Vec<Pending>,
    /// What was sent, and room for what comes.
    outgoing: Vec<Vec<u8>>,
    incoming: Incoming,
}

/// Messages by position of the neighbour.
type Incoming = Vec<(usize, Vec<u8>)>;

/// All messages of a pair of ranks arrive in their order, so that one tag is enough.
fn messages_of(world: Communicator) -> Communicator {
    world.tagged(1)
}

impl Messages {
    /// Sends `bytes` to a rank.
    pub(crate) fn send(&mut self, bytes: Vec<u8>, rank: usize) {
        // SAFETY: the bytes are kept where they are, and as they are, until it is complete.
        let pending = unsafe { messages_of(world()).start_send(&bytes, rank as u32) };
        self.pending.push(pending);
        self.outgoing.push(bytes);
    }

    /// Receives as many bytes as `room` has from a rank, neighbour number `neighbour`.
    pub(crate) fn receive(&mut self, mut room: Vec<u8>, neighbour: usize, rank: usize) {
        let length = room.len();
        // What was there is room like any other.
        room.clear();
        let free = &mut room.spare_capacity_mut()[..length];
        // SAFETY: the room stays where it is, and is not looked at, until it is complete.
        let pending = unsafe { messages_of(world()).start_receive(free, rank as u32) };
        // SAFETY: all of it was initialised before, and is written by MPI only.
        unsafe { room.set_len(length) };
        self.pending.push(pending);
        self.incoming.push((neighbour, room));
    }

    /// Lends MPI a hand.
    pub(crate) fn progress(&mut self) {
        let _ = self.pending.iter_mut().all(Pending::is_complete);
    }

    /// Waits until all have arrived: the memory of those that were sent, and those that came, by neighbour.
    pub(crate) fn complete(mut self) -> (Vec<Vec<u8>>, Incoming) {
        self.wait();
        let outgoing = std::mem::take(&mut self.outgoing);
        (outgoing, std::mem::take(&mut self.incoming))
    }

    fn wait(&mut self) {
        for mut one in self.pending.drain(..) {
            one.complete(Wait::InMpi);
        }
    }
}

impl Drop for Messages {
    /// MPI uses the memory until they are complete.
    fn drop(&mut self) {
        self.wait();
    }
}

/// Leaves the job, if it has joined one. A program that has started MPI may end it after this; OP2's own do not.
pub(crate) fn finalize() {
    extern "C" fn end() {
        mpi::finalize();
    }
    let Some(job) = JOB.get() else { return };
    HAS_LEFT.store(true, Relaxed);
    match job.is_ours {
        true => end(),
        // SAFETY: a function without parameters, in a library that stays loaded.
        false => unsafe {
            libc::atexit(end);
        },
    }
}
