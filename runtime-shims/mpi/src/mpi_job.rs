//! The MPI job: ranks and collectives; between ranks of one node [`crate::exchange`] serves for the collectives as soon as
//! it can.
//!
//! Guarantee: whatever MPI allocates inside these calls is private to the process, and every buffer
//! handed to MPI is memory that is never protected.

use std::{
    convert::Infallible,
    ffi::CString,
    os::unix::ffi::OsStringExt,
    sync::{OnceLock, atomic::AtomicU64},
};

use okl_job::{
    end,
    mpi::{self, Communicator, Pending, Started, Threads, Wait},
};

use crate::{
    cell::ProgramCell,
    exchange::{Exchange, Patient},
    foreign_regions,
    processors::Processors,
    scopes,
};

/// The job this process is a rank of.
pub(crate) struct Job {
    collective: Communicator,
    rank: u32,
    ranks: u32,
    /// How it waits: whether this rank has a second thread, which needs the processor to answer.
    wait: Wait,
    /// For single messages between the ranks' program threads, where there are several nodes.
    tree: Option<Communicator>,
    threads: Threads,
}

// SAFETY: used by the program's threads only, one at a time; a service thread has communicators of its own.
unsafe impl Sync for Job {}
// SAFETY: as above.
unsafe impl Send for Job {}

static JOB: OnceLock<Job> = OnceLock::new();

/// On how many nodes the ranks of a job are.
pub(crate) struct Nodes {
    /// Whether there are several, so that a second thread of each rank communicates too.
    pub(crate) several: bool,
    /// The processors of each rank on this one.
    pub(crate) processors: Vec<Processors>,
}

pub(crate) use okl_job::mpi::{load, wait_until};

/// Starts MPI, which has been loaded. With `in_turn` several threads will communicate, one at a time; an error says that
/// this MPI cannot do that. `per_node` ranks are taken for a node, if it is said.
pub(crate) fn start(in_turn: bool, per_node: Option<u32>) -> Result<Nodes, String> {
    let wanted = Threads::Serialized;
    let Started { is_ours, threads } = scopes::private(|| mpi::start(wanted))?;
    if !is_ours {
        return Err(
            "MPI is already initialised: a program that calls MPI itself cannot be re-targeted"
                .into(),
        );
    }
    if in_turn && threads < wanted {
        return Err(
            "this MPI library lacks MPI_THREAD_SERIALIZED, which several threads on each rank need"
                .into(),
        );
    }
    scopes::private(keep_libraries);
    let collective = scopes::private(|| Communicator::world().duplicate());
    let nodes = scopes::private(|| nodes(collective, per_node));
    let job = Job {
        collective,
        rank: collective.rank(),
        ranks: collective.ranks(),
        wait: match nodes.several {
            true => Wait::Patiently,
            false => Wait::InMpi,
        },
        tree: (nodes.several).then(|| scopes::private(|| collective.duplicate())),
        threads,
    };
    assert!(JOB.set(job).is_ok(), "one job starts once");
    Ok(nodes)
}

/// Whether several threads may call MPI, one at a time.
pub(crate) fn may_take_turns() -> bool {
    job().threads >= Threads::Serialized
}

/// Asks MPI which ranks share memory (MPI 4.1, section 7.4.2). Collective.
fn nodes(all: Communicator, per_node: Option<u32>) -> Nodes {
    let mine = Processors::of_this_thread();
    let words = all.on_node(|node| node.gathered(mine.words(), Wait::InMpi));
    let processors: Vec<Processors> = words
        .chunks(Processors::length())
        .map(Processors::of_words)
        .collect();
    Nodes {
        several: all.ranks() > per_node.unwrap_or(processors.len() as u32),
        processors,
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
    assert!(job().wait == Wait::InMpi, "all ranks are on this node");
    let idle = Patient {
        is_crowded,
        meanwhile: progress as fn(),
    };
    EXCHANGE.with(|slot| *slot = Some(Exchange::new(slots, rank(), idle)));
}

/// Lends MPI a hand with messages that were sent.
pub(crate) fn progress() {
    job().collective.sender();
}

/// Does a collective operation through memory, or `otherwise`.
fn exchange<V, R>(
    values: V,
    through_memory: impl FnOnce(&mut Shared, V) -> R,
    otherwise: impl FnOnce(V) -> R,
) -> R {
    scopes::private(|| {
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

fn job() -> &'static Job {
    JOB.get().expect("MPI has started")
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
pub(crate) fn duplicate() -> Communicator {
    scopes::private(|| job().collective.duplicate())
}

/// What every rank has, in rank order; all have as many words.
pub(crate) fn gathered(mine: &[u64]) -> Vec<u64> {
    let mut all = vec![0; mine.len() * ranks() as usize];
    all_gather(mine, &mut all);
    all
}

/// Gathers `mine` from every rank, in rank order, into `all`.
pub(crate) fn all_gather(mine: &[u64], all: &mut [u64]) {
    exchange(
        all,
        |exchange, all| exchange.all_gather(mine, all),
        |all| job().collective.all_gather(mine, all, job().wait),
    );
}

/// Gathers parts of different lengths: `lengths[r]` words from rank `r`, in rank order.
pub(crate) fn all_gather_parts(mine: &[u64], lengths: &[usize]) -> Vec<u64> {
    exchange(
        mine,
        |exchange, mine| exchange.all_gather_parts(mine, lengths),
        |mine| {
            let bytes = size_of::<u64>();
            (job().collective).all_gather_parts(mine, lengths, bytes, job().wait)
        },
    )
}

/// Sends `words` from rank 0 to all.
pub(crate) fn broadcast(words: &mut [u64]) {
    exchange(
        words,
        |exchange, words| exchange.broadcast(words),
        |words| job().collective.broadcast(words, 0, job().wait),
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
        |()| job().collective.barrier(job().wait),
    );
}

/// Whether ranks are on several nodes, and synchronise in a tree.
pub(crate) fn has_tree() -> bool {
    job().tree.is_some()
}

fn tree() -> Communicator {
    job().tree.expect("there are several nodes")
}

/// What was sent in the tree and may be under way.
static UNDER_WAY: ProgramCell<Vec<(Vec<u64>, Pending)>> = ProgramCell::new(Vec::new());

/// So many messages may be.
const MOST_UNDER_WAY: usize = 64;

/// Sends `words` to `rank`, which [receives](receive_in_tree) them. Does not wait for that: it may be in the midst of taking
/// a long message, for which it needs no other rank.
pub(crate) fn send_in_tree(words: &[u64], rank: u32) {
    scopes::private(|| {
        let words = words.to_vec();
        // SAFETY: what a vector holds stays where it is when that is moved; it is dropped when the message is complete.
        let pending = unsafe { tree().start_send(&words, rank) };
        UNDER_WAY.with(|all| {
            all.retain_mut(|(_, pending)| !pending.is_complete());
            all.push((words, pending));
            if all.len() > MOST_UNDER_WAY {
                all.remove(0).1.complete(Wait::Patiently);
            }
        });
    });
}

/// Sends `words` to `rank` while that sends some to this one: these.
pub(crate) fn exchange_in_tree(words: &[u64], rank: u32) -> Vec<u64> {
    scopes::private(|| tree().send_and_receive(words, rank))
}

/// Receives what `rank` [sent](send_in_tree).
pub(crate) fn receive_in_tree(rank: u32) -> Vec<u64> {
    scopes::private(|| tree().receive(rank, Wait::Patiently))
}

/// Sends `bytes` to `rank`.
pub(crate) fn send(bytes: &[u8], rank: u32) {
    scopes::private(|| job().collective.send(bytes, rank, Wait::InMpi));
}

/// Receives a message of any length from `rank`.
pub(crate) fn receive(rank: u32) -> Vec<u8> {
    scopes::private(|| job().collective.receive(rank, Wait::InMpi))
}

/// Ends MPI. Collective.
pub(crate) fn finalize() {
    scopes::private(|| {
        let under_way = UNDER_WAY.with(std::mem::take);
        for (_words, mut pending) in under_way {
            pending.complete(Wait::Patiently);
        }
        mpi::finalize();
    });
}

/// Ends the whole job at once with exit status `status`.
pub(crate) fn abort(status: i32) -> ! {
    match scopes::private(|| -> Infallible { end::abort(status) }) {}
}
