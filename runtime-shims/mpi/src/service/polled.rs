//! Requests as messages of MPI, where ranks do not reach each other otherwise.
//!
//! MPI has no way to sleep until a message comes, so a thread looks for requests again and again, in turn with the
//! program's, and takes time from it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use okl_job::mpi::{self, Communicator, Wait};

use super::{answers::Answers, start_thread};
use crate::{mpi_job, scopes};

/// How long the thread looks for requests without a pause after the last one, and how long it then
/// sleeps between looks: short enough for a fault, long enough to leave the core to the program.
const ALERT: Duration = Duration::from_micros(300);
const NAP: Duration = Duration::from_micros(20);

/// A communicator lent to one thread.
struct Channel(Communicator);

// SAFETY: the threads take turns, and one of this process uses the communicator for receiving.
unsafe impl Send for Channel {}

pub(super) struct Polled {
    requests: Communicator,
    replies: Communicator,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Polled {
    /// Collective.
    pub(super) fn start(answers: Answers) -> Self {
        let (requests, replies) = (mpi_job::duplicate(), mpi_job::duplicate());
        let (serving, answering) = (Channel(requests), Channel(replies));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        mpi::take_turns();
        let thread = start_thread(move || {
            run_anywhere();
            serve(answers, serving, answering, &stopped);
        });
        Self {
            requests,
            replies,
            stop,
            thread,
        }
    }

    pub(super) fn send(&self, head: &[u8], data: &[u8], rank: u32) {
        let message = [head, data].concat();
        scopes::private(|| self.requests.send(&message, rank, Wait::Patiently));
    }

    pub(super) fn receive(&self, into: &mut [u8], rank: u32) {
        scopes::private(|| self.replies.receive_into(into, rank, Wait::Patiently));
    }

    pub(super) fn stop(self) {
        self.stop.store(true, SeqCst);
        self.thread
            .join()
            .expect("the service thread does not panic");
    }
}

/// A thread that always runs is in the program's way on the core that a launcher has bound the rank to: it runs
/// wherever there is room.
fn run_anywhere() {
    // SAFETY: changes this thread's scheduling only; a refusal leaves it as it was.
    unsafe {
        let mut everywhere: libc::cpu_set_t = std::mem::zeroed();
        for processor in 0..libc::CPU_SETSIZE as usize {
            libc::CPU_SET(processor, &mut everywhere);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &everywhere);
        // The default slack of 50 us would dominate a nap.
        libc::prctl(libc::PR_SET_TIMERSLACK, 1000);
    }
}

/// Serves requests until `stop`.
fn serve(answers: Answers, requests: Channel, replies: Channel, stop: &AtomicBool) {
    let mut last = Instant::now();
    while !stop.load(SeqCst) {
        match requests.0.sender() {
            Some(rank) => {
                let message: Vec<u8> = requests.0.receive(rank, Wait::Patiently);
                answers.answer(rank, &message, |bytes| {
                    replies.0.send(bytes, rank, Wait::Patiently);
                });
                last = Instant::now();
            }
            None if last.elapsed() < ALERT => std::thread::yield_now(),
            None => std::thread::sleep(NAP),
        }
    }
}
