//! The MPI job: ranks and collectives, on the `mpi` crate; between ranks of one node [`crate::exchange`]
//! serves for the collectives as soon as it can.
//!
//! Guarantee: whatever MPI allocates inside these calls is private to the process, and every buffer
//! handed to MPI is memory that is never protected.

use std::{
    ffi::CString,
    os::unix::ffi::OsStringExt,
    sync::{OnceLock, atomic::AtomicU64},
    time::{Duration, Instant},
};

use mpi::{
    Threading,
    datatype::PartitionMut,
    environment::Universe,
    ffi,
    request::{Request, Scope, scope},
    topology::SimpleCommunicator,
    traits::*,
};

use crate::{
    cell::ProgramCell,
    exchange::{Exchange, Patient},
    foreign_regions, program, report,
};

/// The job this process is a rank of.
pub(crate) struct Job {
    /// Never dropped: [`finalize`] ends MPI, at a place of our choosing.
    _universe: std::mem::ManuallyDrop<Universe>,
    collective: SimpleCommunicator,
    rank: u32,
    ranks: u32,
    /// Whether this rank has a second thread, to which it must leave the processor when it waits.
    service_thread: bool,
    /// For single messages between the ranks' program threads, where there are several nodes.
    tree: Option<SimpleCommunicator>,
}

// SAFETY: used by the program's threads only, one at a time; the service thread has communicators of its own.
unsafe impl Sync for Job {}
// SAFETY: as above.
unsafe impl Send for Job {}

static JOB: OnceLock<Job> = OnceLock::new();

/// On how many nodes the ranks of a job are.
pub(crate) struct Nodes {
    /// Whether there are several, so that a second thread of each rank communicates too.
    pub(crate) several: bool,
    /// Ranks on this one.
    pub(crate) ranks_here: u32,
}

/// Starts MPI. Where there `may` be several nodes a second thread of each rank may communicate too; an error says
/// that this MPI cannot do that. With `in_turn` several threads will, one at a time. `per_node` ranks are taken for a
/// node, if it is said.
pub(crate) fn start(may: bool, in_turn: bool, per_node: Option<u32>) -> Result<Nodes, String> {
    let wanted = match (may, in_turn) {
        (true, _) => Threading::Multiple,
        (false, true) => Threading::Serialized,
        (false, false) => Threading::Funneled,
    };
    let (universe, provided) = program::private(|| mpi::initialize_with_threading(wanted)).ok_or(
        "MPI is already initialised: a program that calls MPI itself cannot be re-targeted",
    )?;
    if provided < wanted {
        return Err(
            "this MPI library lacks MPI_THREAD_MULTIPLE, which ranks on several nodes need, or \
             MPI_THREAD_SERIALIZED, which several threads on each rank need"
                .into(),
        );
    }
    program::private(keep_libraries);
    let collective = program::private(|| universe.world().duplicate());
    let nodes = program::private(|| nodes(&collective, per_node));
    let service_thread = nodes.several;
    if service_thread && provided < Threading::Multiple {
        return Err("some ranks are on another node than the launcher says".into());
    }
    let tree = service_thread.then(|| program::private(|| collective.duplicate()));
    let rank = collective.rank() as u32;
    let ranks = collective.size() as u32;
    let job = Job {
        _universe: std::mem::ManuallyDrop::new(universe),
        collective,
        rank,
        ranks,
        service_thread,
        tree,
    };
    assert!(JOB.set(job).is_ok(), "one job starts once");
    Ok(nodes)
}

/// Asks MPI which ranks share memory (MPI 4.1, section 7.4.2). Collective.
fn nodes(all: &SimpleCommunicator, per_node: Option<u32>) -> Nodes {
    let ranks_here = all.split_shared(all.rank()).size() as u32;
    Nodes {
        several: all.size() as u32 > per_node.unwrap_or(ranks_here),
        ranks_here,
    }
}

/// Keeps what MPI has loaded to the end of the process: while it ends, Open MPI unloads components that a thread of
/// PMIx may still be about to call.
fn keep_libraries() {
    for file in foreign_regions::loaded_files() {
        let Ok(name) = CString::new(file.into_os_string().into_vec()) else {
            continue;
        };
        // SAFETY: a name; nothing is loaded that is not there already.
        unsafe {
            libc::dlopen(
                name.as_ptr(),
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            )
        };
    }
}

type Shared = Exchange<Patient<fn()>>;

/// Where all ranks are on this node.
static EXCHANGE: ProgramCell<Option<Shared>> = ProgramCell::new(None);

/// From now on the collectives go through memory: `slots` of all ranks. Collective.
pub(crate) fn share_memory(slots: Vec<&'static [AtomicU64]>, is_crowded: bool) {
    assert!(!job().service_thread, "all ranks are on this node");
    let idle = Patient {
        is_crowded,
        meanwhile: progress as fn(),
    };
    EXCHANGE.with(|slot| *slot = Some(Exchange::new(slots, rank(), idle)));
}

/// Lends MPI a hand with messages that were sent.
fn progress() {
    let _ = job().collective.any_process().immediate_probe();
}

/// Does a collective operation through memory, or `otherwise`.
fn exchange<V, R>(
    values: V,
    through_memory: impl FnOnce(&mut Shared, V) -> R,
    otherwise: impl FnOnce(V) -> R,
) -> R {
    program::private(|| {
        EXCHANGE.with(|slot| match slot {
            Some(exchange) => through_memory(exchange, values),
            None => otherwise(values),
        })
    })
}

/// Whether the program was started by its `main`, as okl lowers it.
pub(crate) fn has_started() -> bool {
    JOB.get().is_some()
}

/// Ends a program whose `main` did not start a job although `part` of it needs one.
pub(crate) fn not_started(part: &str) -> ! {
    report::fatal(&format!(
        "{part} was compiled for the ranks of an MPI job, but main was not: compile the file of main with the plugin and \
         with -fopenmp, or this one with -mllvm -okl-target=cpu"
    ))
}

fn job() -> &'static Job {
    JOB.get().expect("MPI has started")
}

/// Looks at `done` until it is. Where a service thread shares the processor, a rank that waits leaves it
/// soon: a thread that only yields keeps its turn from threads that wake up.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    const PATIENCE: Duration = Duration::from_micros(30);
    const PAUSE: Duration = Duration::from_micros(5);
    let since = Instant::now();
    while !done() {
        if since.elapsed() < PATIENCE {
            std::thread::yield_now();
        } else {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Completes an operation that was started, where there is a service thread. (Without one the blocking
/// operations are used, which are faster: an immediate collective slows all of MPI's progress down.)
fn complete<'a, D: ?Sized, S: Scope<'a>>(request: Request<'a, D, S>) {
    let mut open = Some(request);
    wait_until(|| {
        open = open.take().and_then(|request| request.test().err());
        open.is_none()
    });
}

/// This process's rank; 0 before the start.
pub(crate) fn rank() -> u32 {
    JOB.get().map_or(0, |job| job.rank)
}

/// The number of ranks.
pub(crate) fn ranks() -> u32 {
    job().ranks
}

/// A communicator of its own, for one purpose. Collective.
pub(crate) fn duplicate() -> SimpleCommunicator {
    program::private(|| job().collective.duplicate())
}

/// Gathers `mine` from every rank, in rank order, into `all`.
pub(crate) fn all_gather(mine: &[u64], all: &mut [u64]) {
    exchange(
        all,
        |exchange, all| exchange.all_gather(mine, all),
        |all| {
            if !job().service_thread {
                return job().collective.all_gather_into(mine, all);
            }
            scope(|scope| complete(job().collective.immediate_all_gather_into(scope, mine, all)));
        },
    );
}

/// Gathers parts of different lengths: `lengths[r]` words from rank `r`, in rank order.
pub(crate) fn all_gather_parts(mine: &[u64], lengths: &[usize]) -> Vec<u64> {
    exchange(
        mine,
        |exchange, mine| exchange.all_gather_parts(mine, lengths),
        |mine| all_gather_messages(mine, lengths),
    )
}

fn all_gather_messages(mine: &[u64], lengths: &[usize]) -> Vec<u64> {
    let counts: Vec<i32> = lengths.iter().map(|&n| n as i32).collect();
    let starts: Vec<i32> = counts
        .iter()
        .scan(0, |next, &count| {
            let start = *next;
            *next += count;
            Some(start)
        })
        .collect();
    let mut all = vec![0; lengths.iter().sum()];
    let mut parts = PartitionMut::new(&mut all[..], counts, &starts[..]);
    let collective = &job().collective;
    if job().service_thread {
        scope(|scope| {
            complete(collective.immediate_all_gather_varcount_into(scope, mine, &mut parts));
        });
    } else {
        collective.all_gather_varcount_into(mine, &mut parts);
    }
    drop(parts);
    all
}

/// Sends `words` from rank 0 to all.
pub(crate) fn broadcast(words: &mut [u64]) {
    exchange(
        words,
        |exchange, words| exchange.broadcast(words),
        |words| {
            let first = job().collective.process_at_rank(0);
            if !job().service_thread {
                return first.broadcast_into(words);
            }
            scope(|scope| complete(first.immediate_broadcast_into(scope, words)));
        },
    );
}

/// Sends `bytes` from rank 0 to all.
pub(crate) fn broadcast_bytes(bytes: &mut [u8]) {
    const WORD: usize = size_of::<u64>();
    let mut words = vec![0; bytes.len().div_ceil(WORD)];
    for (word, part) in words.iter_mut().zip(bytes.chunks(WORD)) {
        let mut whole = [0; WORD];
        whole[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(whole);
    }
    broadcast(&mut words);
    for (word, part) in words.iter().zip(bytes.chunks_mut(WORD)) {
        part.copy_from_slice(&word.to_ne_bytes()[..part.len()]);
    }
}

/// On one node: sends any number of words from rank 0 to all.
pub(crate) fn broadcast_list(words: &mut Vec<u64>) {
    exchange(
        words,
        |exchange, words| exchange.broadcast_list(words),
        |_| unreachable!("ranks on several nodes have a tree"),
    );
}

/// Waits for all ranks.
pub(crate) fn barrier() {
    exchange(
        (),
        |exchange, ()| exchange.barrier(),
        |()| {
            if !job().service_thread {
                return job().collective.barrier();
            }
            complete(job().collective.immediate_barrier());
        },
    );
}

/// Whether ranks are on several nodes, and synchronise in a tree.
pub(crate) fn has_tree() -> bool {
    job().tree.is_some()
}

fn tree() -> &'static SimpleCommunicator {
    job().tree.as_ref().expect("there are several nodes")
}

/// Sends `words` to `rank`, which [receives](receive_in_tree) them.
pub(crate) fn send_in_tree(words: &[u64], rank: u32) {
    program::private(|| {
        let target = tree().process_at_rank(rank as i32);
        scope(|scope| complete(target.immediate_send(scope, words)));
    });
}

/// Sends `words` to `rank` while that sends some to this one: these.
pub(crate) fn exchange_in_tree(words: &[u64], rank: u32) -> Vec<u64> {
    program::private(|| {
        let target = tree().process_at_rank(rank as i32);
        scope(|scope| {
            let sending = target.immediate_send(scope, words);
            let received = receive_in_tree(rank);
            complete(sending);
            received
        })
    })
}

/// Receives what `rank` [sent](send_in_tree).
pub(crate) fn receive_in_tree(rank: u32) -> Vec<u64> {
    program::private(|| {
        let source = tree().process_at_rank(rank as i32);
        wait_until(|| source.immediate_probe().is_some());
        source.receive_vec().0
    })
}

/// Sends `bytes` to `rank`.
pub(crate) fn send(bytes: &[u8], rank: u32) {
    program::private(|| job().collective.process_at_rank(rank as i32).send(bytes));
}

/// Receives a message of any length from `rank`.
pub(crate) fn receive(rank: u32) -> Vec<u8> {
    program::private(|| {
        job()
            .collective
            .process_at_rank(rank as i32)
            .receive_vec::<u8>()
            .0
    })
}

/// Ends MPI. Collective.
pub(crate) fn finalize() {
    // SAFETY: MPI is initialised, and no MPI call follows.
    program::private(|| unsafe { ffi::MPI_Finalize() });
}

/// Ends the whole job at once with exit status `status`.
pub(crate) fn abort(status: i32) -> ! {
    if let Some(job) = JOB.get() {
        program::private(|| job.collective.abort(status));
    }
    // SAFETY: ends the process without running anything else of it.
    unsafe { libc::_exit(status) }
}

/// Ends the whole job with the runtime's own status.
pub(crate) fn abort_failed() -> ! {
    abort(okl_job::FAILED)
}
