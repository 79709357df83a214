//! The MPI job, on the `mpi` crate.
//!
//! Guarantee: MPI is started only if [`start`] is called; without it there is one rank, and nothing here communicates.
//! All calls are made by the program's own thread.

use std::{
    cell::UnsafeCell,
    hash::{DefaultHasher, Hash, Hasher},
    mem::{ManuallyDrop, MaybeUninit},
    sync::OnceLock,
};

use mpi::{
    Threading,
    collective::SystemOperation,
    datatype::{MutView, PartitionMut, UserDatatype, View},
    ffi,
    raw::AsRaw,
    topology::SimpleCommunicator,
    traits::*,
};

use crate::{partition::Rank, report::fatal};

struct Job {
    world: SimpleCommunicator,
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

/// Whether the program, or this library, has started MPI.
pub(crate) fn is_initialised() -> bool {
    let mut flag = 0;
    // SAFETY: may be called at any time, and writes a flag.
    unsafe { ffi::MPI_Initialized(&mut flag) };
    flag != 0
}

/// A communicator that programs see.
#[repr(transparent)]
struct Shown(UnsafeCell<MaybeUninit<ffi::MPI_Comm>>);

// SAFETY: written by the program's own thread when the job starts.
unsafe impl Sync for Shown {}

#[unsafe(export_name = "OP_MPI_WORLD")]
static WORLD: Shown = Shown(UnsafeCell::new(MaybeUninit::zeroed()));
#[unsafe(export_name = "OP_MPI_GLOBAL")]
static GLOBAL: Shown = Shown(UnsafeCell::new(MaybeUninit::zeroed()));

impl Shown {
    fn set(&self, communicator: ffi::MPI_Comm) {
        // SAFETY: see above.
        unsafe { (*self.0.get()).write(communicator) };
    }
}

/// Shows the program the communicator of that number in Fortran as that of all ranks.
pub(crate) fn show_global(number: i32) {
    // SAFETY: MPI is initialised.
    GLOBAL.set(unsafe { ffi::RSMPI_Comm_f2c(number) });
}

/// Joins the job: the ranks of the communicator of that number in Fortran, or all.
pub(crate) fn start(communicator: Option<i32>) {
    if JOB.get().is_some() {
        fatal("op_init is called after op_exit: MPI cannot start again");
    }
    // Whoever starts MPI ends it, at a place of its choosing: a `Universe` that is dropped would.
    let universe = mpi::initialize_with_threading(Threading::Funneled);
    let is_ours = universe.is_some();
    std::mem::forget(universe);
    // SAFETY: MPI is initialised.
    let given = communicator.map(|number| unsafe { ffi::RSMPI_Comm_f2c(number) });
    // SAFETY: as above; a program gives a communicator of its own.
    let world = unsafe {
        if given.is_some_and(|given| given == ffi::RSMPI_COMM_NULL) {
            fatal("op_mpi_init: the communicator is MPI_COMM_NULL");
        }
        let given = given.map(|given| SimpleCommunicator::from_raw(given));
        // It stays the program's.
        ManuallyDrop::new(given.unwrap_or_else(SimpleCommunicator::world))
    };
    WORLD.set(world.as_raw());
    GLOBAL.set(SimpleCommunicator::world().as_raw());
    let world = world.duplicate();
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let job = Job {
        world,
        rank,
        ranks,
        is_ours,
    };
    assert!(JOB.set(job).is_ok(), "it was not there before");
}

/// This process's rank.
pub(crate) fn rank() -> usize {
    JOB.get().map_or(0, |job| job.rank)
}

/// Ranks of the job.
pub(crate) fn ranks() -> usize {
    JOB.get().map_or(1, |job| job.ranks)
}

/// A communicator, as MPI's C functions take it.
pub(crate) type Comm = ffi::MPI_Comm;

/// What MPI's functions may be told besides.
pub(crate) type Info = ffi::MPI_Info;

/// Nothing.
pub(crate) fn no_info() -> Info {
    // SAFETY: a constant.
    unsafe { ffi::RSMPI_INFO_NULL }
}

/// That of all ranks, where there are several.
pub(crate) fn communicator() -> Comm {
    world().as_raw()
}

fn world() -> &'static SimpleCommunicator {
    &JOB.get().expect("there are several ranks").world
}

/// Waits for all ranks.
pub(crate) fn barrier() {
    if ranks() > 1 {
        world().barrier();
    }
}

/// What every rank has, in the order of ranks; all have the same number of bytes.
pub(crate) fn all_gather(mine: &[u8]) -> Vec<u8> {
    if ranks() == 1 {
        return mine.to_vec();
    }
    let mut all = vec![0; mine.len() * ranks()];
    if !mine.is_empty() {
        world().all_gather_into(mine, &mut all[..]);
    }
    all
}

/// The threads of the ranks on this node, and the processors they have together; `processors` are this rank's, a bit
/// for each. Collective, in a job of several ranks.
pub(crate) fn on_this_node(threads: usize, processors: [u64; 16]) -> (usize, usize) {
    let mut all_threads = 0_u64;
    let mut all_processors = [0_u64; 16];
    let node = world().split_shared(rank() as i32);
    node.all_reduce_into(&(threads as u64), &mut all_threads, SystemOperation::sum());
    node.all_reduce_into(
        &processors,
        &mut all_processors,
        SystemOperation::bitwise_or(),
    );
    let processors = all_processors.iter().map(|word| word.count_ones());
    (all_threads as usize, processors.sum::<u32>() as usize)
}

/// Whether it is so on every rank. Collective.
pub(crate) fn all(is_so: bool) -> bool {
    !all_gather(&[u8::from(is_so)]).contains(&0)
}

/// What is right on this rank if it is so on all; else what is wrong on the first where it is not. Collective.
pub(crate) fn agree<T>(result: Result<T, String>) -> Result<T, String> {
    let why = result.as_ref().err().map_or("", String::as_str);
    let lengths = [u32::from(result.is_err()), why.len() as u32];
    let all = all_gather(&lengths.map(u32::to_ne_bytes).concat());
    let all: Vec<u32> = all
        .as_chunks()
        .0
        .iter()
        .map(|&one| u32::from_ne_bytes(one))
        .collect();
    let mut ranks = all.chunks_exact(lengths.len());
    let Some(rank) = ranks.position(|one| one[0] != 0) else {
        return result;
    };
    let mut why = why.as_bytes().to_vec();
    why.resize(all[lengths.len() * rank + 1] as usize, 0);
    broadcast(&mut why, rank);
    let why = String::from_utf8_lossy(&why);
    Err(match rank {
        0 => why.into_owned(),
        _ => format!("{why} (on rank {rank})"),
    })
}

/// The first rank that has something else than rank 0. Collective.
pub(crate) fn first_that_differs(what: impl Hash) -> Option<usize> {
    if ranks() == 1 {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let mine = hasher.finish().to_ne_bytes();
    let all = all_gather(&mine);
    all.chunks_exact(mine.len())
        .position(|one| *one != all[..mine.len()])
}

/// The elements, of `size` bytes, that the ranks have: `counts` of each, in the order of ranks.
pub(crate) fn all_gather_elements(mine: &[u8], counts: &[usize], size: usize) -> Vec<u8> {
    if ranks() == 1 {
        return mine.to_vec();
    }
    let element = UserDatatype::contiguous(size as i32, &u8::equivalent_datatype());
    let counts: Vec<i32> = counts.iter().map(|&count| count as i32).collect();
    let starts: Vec<i32> = counts
        .iter()
        .scan(0, |next, &count| {
            let start = *next;
            *next += count;
            Some(start)
        })
        .collect();
    let total: i32 = counts.iter().sum();
    let mut all = vec![0; total as usize * size];
    if all.is_empty() {
        return all;
    }
    let sent = (mine.len() / size) as i32;
    // SAFETY: both have that many elements of that many bytes.
    unsafe {
        let sent = View::with_count_and_datatype(mine, sent, &element);
        let mut room = MutView::with_count_and_datatype(&mut all[..], total, &element);
        let mut parts = PartitionMut::new(&mut room, &counts[..], &starts[..]);
        world().all_gather_varcount_into(&sent, &mut parts);
    }
    all
}

/// Sends bytes to a rank while those of another come, if there are such; at the same time these do the like.
pub(crate) fn pass(sent: Option<(Vec<u8>, usize)>, from: Option<usize>) -> Vec<u8> {
    let mut messages = Messages::default();
    if let Some((bytes, to)) = sent {
        messages.send(bytes, to);
    }
    let received = from.map(|from| {
        let from = world().process_at_rank(from as i32);
        from.receive_vec::<u8>().0
    });
    messages.complete();
    received.unwrap_or_default()
}

/// Gives all ranks what one has.
pub(crate) fn broadcast(bytes: &mut [u8], from: usize) {
    if ranks() > 1 {
        world().process_at_rank(from as i32).broadcast_into(bytes);
    }
}

/// Calls `work` on the ranks that `turns` names, one after the other, with the number of the turn: each gets the bytes
/// that the one before has left, and in the end all have those of the last one.
pub(crate) fn in_turn(turns: &[Rank], bytes: &mut [u8], mut work: impl FnMut(usize, &mut [u8])) {
    let me = rank() as Rank;
    let other = |rank: Rank| world().process_at_rank(rank as i32);
    for (turn, _) in turns.iter().enumerate().filter(|(_, one)| **one == me) {
        if let Some(&before) = turn
            .checked_sub(1)
            .map(|at| &turns[at])
            .filter(|one| **one != me)
        {
            other(before).receive_into(bytes);
        }
        work(turn, bytes);
        if let Some(&next) = turns.get(turn + 1).filter(|one| **one != me) {
            other(next).send(&bytes[..]);
        }
    }
    if let Some(&last) = turns.last() {
        broadcast(bytes, last as usize);
    }
}

/// Messages on their way, with the memory they need.
#[derive(Default)]
pub(crate) struct Messages {
    requests: Vec<ffi::MPI_Request>,
    /// What was sent, and room for what comes.
    outgoing: Vec<Vec<u8>>,
    incoming: Incoming,
}

/// Messages by position of the neighbour.
type Incoming = Vec<(usize, Vec<u8>)>;

// SAFETY: used by the program's own thread only.
unsafe impl Send for Messages {}

/// All messages of a pair of ranks arrive in their order, so that one tag is enough.
const TAG: i32 = 1;

fn count(bytes: usize, rank: usize) -> i32 {
    i32::try_from(bytes).unwrap_or_else(|_| {
        fatal(&format!(
            "a message of {bytes} bytes between ranks {} and {rank} is too long",
            self::rank()
        ))
    })
}

impl Messages {
    /// Sends `bytes` to a rank.
    pub(crate) fn send(&mut self, bytes: Vec<u8>, rank: usize) {
        let count = count(bytes.len(), rank);
        self.request(|request| {
            // SAFETY: the bytes are kept where they are, and as they are, until the request is complete.
            unsafe {
                ffi::MPI_Isend(
                    bytes.as_ptr().cast(),
                    count,
                    ffi::RSMPI_UINT8_T,
                    rank as i32,
                    TAG,
                    world().as_raw(),
                    request,
                )
            }
        });
        self.outgoing.push(bytes);
    }

    /// Receives as many bytes as `room` has from a rank, neighbour number `neighbour`.
    pub(crate) fn receive(&mut self, mut room: Vec<u8>, neighbour: usize, rank: usize) {
        let count = count(room.len(), rank);
        self.request(|request| {
            // SAFETY: the room stays where it is, and is not looked at, until the request is complete.
            unsafe {
                ffi::MPI_Irecv(
                    room.as_mut_ptr().cast(),
                    count,
                    ffi::RSMPI_UINT8_T,
                    rank as i32,
                    TAG,
                    world().as_raw(),
                    request,
                )
            }
        });
        self.incoming.push((neighbour, room));
    }

    fn request(&mut self, start: impl FnOnce(*mut ffi::MPI_Request) -> i32) {
        let mut request = std::mem::MaybeUninit::uninit();
        start(request.as_mut_ptr());
        // SAFETY: MPI has written the request; errors end the job.
        self.requests.push(unsafe { request.assume_init() });
    }

    /// Lends MPI a hand.
    pub(crate) fn progress(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let mut done = 0;
        // SAFETY: these are requests, and all stay until `complete`.
        unsafe {
            ffi::MPI_Testall(
                self.requests.len() as i32,
                self.requests.as_mut_ptr(),
                &mut done,
                ffi::RSMPI_STATUSES_IGNORE,
            )
        };
    }

    /// Waits until all have arrived: the memory of those that were sent, and those that came, by neighbour.
    pub(crate) fn complete(mut self) -> (Vec<Vec<u8>>, Incoming) {
        self.wait();
        let outgoing = std::mem::take(&mut self.outgoing);
        (outgoing, std::mem::take(&mut self.incoming))
    }

    fn wait(&mut self) {
        if !self.requests.is_empty() {
            // SAFETY: these are requests, complete or not.
            unsafe {
                ffi::MPI_Waitall(
                    self.requests.len() as i32,
                    self.requests.as_mut_ptr(),
                    ffi::RSMPI_STATUSES_IGNORE,
                )
            };
            self.requests.clear();
        }
    }
}

impl Drop for Messages {
    /// MPI uses the memory until they are complete.
    fn drop(&mut self) {
        self.wait();
    }
}

/// Leaves the job. A program that has started MPI may end it after this; OP2's own do not.
pub(crate) fn finalize() {
    extern "C" fn end() {
        let mut flag = 0;
        // SAFETY: may be called at any time; no MPI call follows the last one.
        unsafe {
            ffi::MPI_Finalized(&mut flag);
            if flag == 0 {
                ffi::MPI_Finalize();
            }
        }
    }
    match JOB.get() {
        Some(job) if job.is_ours => end(),
        // SAFETY: a function without parameters, in a library that stays loaded.
        Some(_) => unsafe {
            libc::atexit(end);
        },
        None => {}
    }
}

/// Ends the whole job, if there is one.
pub(crate) fn abort(status: i32) -> ! {
    if let Some(job) = JOB.get() {
        job.world.abort(status);
    }
    std::process::exit(status)
}
