//! Has versions made, on a thread of its own. What another process makes waits, for a while, and what is asked for meanwhile is
//! made first: ranks of a job make one version each. A process that was forked has no such thread: it gets one of its own when
//! it asks: who forks waits until nothing is being made. Nobody holds a lock that such a process could wait for.
//!
//! The thread has made what it is making before the program ends: what LLVM has is taken apart then. `exit` is told of in front
//! of all of that where the program's first thread calls it; where another one does, by a function of `atexit` that is asked for
//! when LLVM is open, which has nothing taken apart that it makes later.
//!
//! Who waits for the thread may hold the loader's lock (in the constructor of a library that is being opened), which the thread
//! needs: it is waited for only where it has answered before. A program whose first thread has left it ends with the last of
//! the others, and so there is no such thread then.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::*};
use std::sync::mpsc::{Receiver as Queue, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::cache::Code;
use crate::lock::Lock;
use crate::make::{Attempt, Earlier, Made, Maker};
use crate::trial::Verdict;

/// What a version calls to hand over what it has become: its first argument is who gets it, the others are
/// those of what runs the code.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// The function.
    pub function: *mut c_void,
    /// Bits of its arguments that it does not look at.
    pub unread: i64,
}

// SAFETY: a function's address.
unsafe impl Send for Receiver {}

/// What is to be made.
pub(crate) struct Job {
    pub(crate) code: Code,
    pub(crate) receiver: Receiver,
    /// Is called on the thread: with what hands over, and how it was made; or why there is none.
    pub(crate) then: Box<dyn FnOnce(Result<Made, String>)>,
}

// SAFETY: addresses of the program's, which the thread hands on, and what it calls is made for it.
unsafe impl Send for Job {}

/// What is asked before something is made: what earlier runs have found of it.
pub(crate) struct Question {
    pub(crate) code: Code,
    /// Is called on the thread; what it says is made.
    pub(crate) then: Box<dyn FnOnce(Code, Option<Earlier>) -> Option<Job>>,
}

// SAFETY: as above.
unsafe impl Send for Question {}

/// What the thread does.
pub(crate) enum Message {
    Make(Job),
    Ask(Question),
    /// Has later runs know.
    Tell(&'static Earlier, Verdict),
    /// Says that it has had the loader's lock.
    Answer(Sender<()>),
    End,
}

/// The thread, and the process that has it.
struct Thread {
    process: u32,
    jobs: Sender<Message>,
    handle: Lock<Option<JoinHandle<()>>>,
}

/// Threads stay, as a process does not know whether another one's is being looked at.
static THREAD: AtomicPtr<Thread> = AtomicPtr::new(std::ptr::null_mut());

/// The process whose thread is making something, or 0; or that a thread is forking meanwhile.
static MAKES: AtomicU32 = AtomicU32::new(0);
const FORKS: u32 = u32::MAX;

thread_local! {
    /// Whether this thread forks, and has the other one wait.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// A process that was forked in the middle of something would have LLVM's and the loader's locks held by nobody, and meet them
/// when it ends: what is being made is waited for, but not for ever, as it may itself wait for who forks.
extern "C" fn before_fork() {
    const MOST: Duration = Duration::from_secs(2);
    let start = Instant::now();
    let is_own = std::thread::current().name() == Some(NAME);
    while !is_own && start.elapsed() < MOST {
        if MAKES.compare_exchange(0, FORKS, AcqRel, Relaxed).is_ok() {
            HOLDS.set(true);
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// In both processes. Where it was not waited for, the new one has no versions.
extern "C" fn after_fork() {
    if HOLDS.replace(false) {
        MAKES.store(0, Release);
    }
}

/// Begins to make something.
fn begin(process: u32) {
    while MAKES.compare_exchange(0, process, AcqRel, Relaxed).is_err() {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Nothing else is made.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Has something done. Where there can be no thread it is not.
pub(crate) fn request(what: Message) {
    if let Some(thread) = thread() {
        finish_with_first_thread();
        let _ = thread.jobs.send(what);
    }
}

/// How long it is waited for a thread that is making nothing, and so has nothing to do but that.
const UNANSWERED: Duration = Duration::from_secs(2);
/// How long it is waited for what is being made: longer than that takes, on whichever machine.
const LONGEST: Duration = Duration::from_secs(20);

/// Waits for something of the thread's, which `is_done` waits for a little while. False where it may never come.
fn wait_until(mut is_done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    let mut idle = start;
    while !is_done() {
        let is_making = MAKES.load(Relaxed) == std::process::id();
        if is_making && start.elapsed() < LONGEST {
            idle = Instant::now();
        }
        if idle.elapsed() > UNANSWERED {
            return false;
        }
    }
    true
}

/// The process where who waited last heard nothing, and whose thread has not answered since; or 0.
static UNHEARD: AtomicU32 = AtomicU32::new(0);

/// Whether what is asked for now can be waited for. It cannot where who asks holds the loader's lock.
pub(crate) fn answers() -> bool {
    const A_WHILE: Duration = Duration::from_millis(20);
    let process = std::process::id();
    if UNHEARD.load(Acquire) == process {
        return false;
    }
    let (told, tell) = channel();
    request(Message::Answer(told));
    if wait_until(|| tell.recv_timeout(A_WHILE) != Err(RecvTimeoutError::Timeout)) {
        return true;
    }
    // The thread takes it back behind its answer.
    UNHEARD.store(process, Release);
    let is_late = tell.try_recv().is_ok();
    if is_late {
        UNHEARD.store(0, Release);
    }
    is_late
}

/// That of this process, which gets one.
fn thread() -> Option<&'static Thread> {
    let process = std::process::id();
    // What LLVM and the loader were doing when this process was forked is never done here.
    let makes = MAKES.load(Acquire);
    if ENDS.load(Relaxed) || ![0, FORKS, process].contains(&makes) {
        return None;
    }
    let there = THREAD.load(Acquire);
    // SAFETY: threads stay.
    let own = unsafe { there.as_ref() };
    if let Some(own) = own.filter(|one| one.process == process) {
        return Some(own);
    }
    let new = Box::leak(Box::new(start(process)?));
    match THREAD.compare_exchange(there, new, AcqRel, Acquire) {
        Ok(_) => {
            static FORK: Once = Once::new();
            // SAFETY: functions that do not unwind.
            FORK.call_once(|| unsafe {
                libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork));
            });
            finish_at_end();
            Some(new)
        }
        Err(other) => {
            let _ = new.jobs.send(Message::End);
            // SAFETY: as above.
            unsafe { other.as_ref() }
        }
    }
}

const NAME: &str = "okl-jit";

/// LLVM's passes call each other.
const STACK: usize = 64 << 20;

fn start(process: u32) -> Option<Thread> {
    let (jobs, queue) = channel();
    let builder = Builder::new().name(NAME.to_owned()).stack_size(STACK);
    // The program's handlers of signals run on its own threads.
    // SAFETY: sets that are written here; what this thread had is put back.
    let handle = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        let handle = builder.spawn(move || work(&queue, process));
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        handle
    };
    Some(Thread {
        process,
        jobs,
        handle: Lock::new(Some(handle.ok()?)),
    })
}

/// What LLVM has now is still there when `finish` is called; the program may have begun to end meanwhile.
fn finish_at_end() {
    // SAFETY: a function that does not unwind.
    unsafe { libc::atexit(finish) };
}

/// Variables of the thread that calls `exit` go first.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        finish();
    }
}

/// The program's first thread may never ask for anything: this runs on it where the program is linked with the library.
#[used]
#[unsafe(link_section = ".init_array")]
static WHEN_LOADED: extern "C" fn() = finish_with_first_thread;

extern "C" fn finish_with_first_thread() {
    thread_local! {
        static END: End = const { End };
    }
    // SAFETY: asks the system.
    if unsafe { libc::gettid() != libc::getpid() } {
        return;
    }
    // Where that thread has gone already nothing is made any more.
    let _ = END.try_with(|_| {});
    // Of these `pthread_exit` tells.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut key = 0;
        // SAFETY: a function that does not unwind, and a value that it does not look at.
        unsafe {
            if libc::pthread_key_create(&mut key, Some(first_thread_leaves)) == 0 {
                libc::pthread_setspecific(key, (&raw const WHEN_LOADED).cast());
            }
        }
    });
}

unsafe extern "C" fn first_thread_leaves(_: *mut c_void) {
    finish();
}

/// What is being made is done, and no more.
extern "C" fn finish() {
    ENDS.store(true, Relaxed);
    // SAFETY: threads stay.
    let thread = unsafe { THREAD.load(Acquire).as_ref() };
    let Some(thread) = thread.filter(|one| one.process == std::process::id()) else {
        return;
    };
    let _ = thread.jobs.send(Message::End);
    let handle = thread.handle.hold().and_then(|mut handle| handle.take());
    // LLVM ends the process where it cannot go on.
    let own = std::thread::current().id();
    let Some(handle) = handle.filter(|one| one.thread().id() != own) else {
        return;
    };
    let is_finished = || {
        let is_finished = handle.is_finished();
        if !is_finished {
            std::thread::sleep(Duration::from_micros(100));
        }
        is_finished
    };
    if wait_until(is_finished) {
        let _ = handle.join();
    }
}

/// When it is looked again for what another process makes: twice as late each time, as many ranks may share a disk.
const AGAIN: Duration = Duration::from_millis(2);
const LATEST: Duration = Duration::from_millis(64);
/// What it waits before it is made here, too.
const PATIENCE: Duration = Duration::from_secs(5);

fn work(queue: &Queue<Message>, process: u32) {
    let mut maker = Maker::new(finish_at_end);
    // What other processes make, and since when.
    let mut elsewhere: VecDeque<(Job, Instant)> = VecDeque::new();
    let mut again = AGAIN;
    loop {
        let next = match elsewhere.is_empty() {
            true => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => queue.recv_timeout(again),
        };
        let mut attempts = match next {
            Ok(Message::Make(job)) => {
                again = AGAIN;
                VecDeque::from([(job, Instant::now())])
            }
            Ok(Message::Ask(Question { code, then })) => {
                let earlier = maker.earlier(&code);
                let job = then(code, earlier).into_iter();
                job.map(|job| (job, Instant::now())).collect()
            }
            Ok(Message::Tell(earlier, verdict)) => {
                maker.tell_later_runs(earlier, verdict);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {
                again = LATEST.min(2 * again);
                std::mem::take(&mut elsewhere)
            }
            Ok(Message::Answer(told)) => {
                // SAFETY: asks the loader, of an address of this library's.
                unsafe {
                    let mut found = std::mem::zeroed();
                    libc::dladdr((&raw const THREAD).cast(), &mut found);
                }
                let _ = told.send(());
                UNHEARD.store(0, Release);
                continue;
            }
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return,
        };
        while let Some((job, since)) = attempts.pop_front() {
            if ENDS.load(Relaxed) {
                return;
            }
            begin(process);
            let waits = since.elapsed() < PATIENCE;
            match maker.attempt(&job.code, job.receiver.function, waits) {
                Attempt::Done(made) => {
                    (job.then)(made);
                    finish_at_end();
                    again = AGAIN;
                }
                Attempt::Elsewhere => elsewhere.push_back((job, since)),
            }
            MAKES.store(0, Release);
        }
    }
}

/// A text of the program's.
///
/// # Safety
/// It is one.
pub(crate) unsafe fn text(of: *const c_void) -> String {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(of.cast::<c_char>()) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forked;

    fn job(told: std::sync::mpsc::Sender<bool>) -> Job {
        Job {
            code: Code {
                // That of nothing.
                bitcode: Vec::new(),
                addresses: Vec::new(),
                values: Vec::new(),
                bytes: Vec::new(),
                flags: 0,
                vector_bits: 0,
                unwanted: 0,
                unread: 0,
                unwinder: 0,
            },
            receiver: Receiver {
                function: std::ptr::null_mut(),
                unread: 0,
            },
            then: Box::new(move |made| {
                let _ = told.send(made.is_err());
            }),
        }
    }

    /// Whether it was tried, and came to nothing.
    fn is_tried() -> bool {
        let (told, tell) = channel();
        request(Message::Make(job(told)));
        tell.recv().unwrap_or(false)
    }

    #[test]
    fn a_forked_process_has_a_thread_of_its_own_or_none() {
        assert!(is_tried());
        assert_eq!(forked(is_tried), Some(true));
        // The thread of this process is in the middle of something, and does not finish it.
        begin(std::process::id());
        assert_eq!(forked(|| !is_tried()), Some(true));
        // It finishes it.
        let end = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            MAKES.store(0, Release);
        });
        assert_eq!(forked(is_tried), Some(true));
        end.join().expect("it ends");
        assert!(is_tried());
        // At the end what is asked for is not made.
        let ends = || {
            finish();
            !is_tried()
        };
        assert_eq!(forked(ends), Some(true));
        let ends_with_thread = || {
            let is_tried = is_tried();
            finish();
            is_tried && !self::is_tried()
        };
        assert_eq!(forked(ends_with_thread), Some(true));
        // The thread itself may end the process.
        let ends_by_thread = || {
            let (told, tell) = channel();
            let mut job = job(channel().0);
            job.then = Box::new(move |_| {
                finish();
                let _ = told.send(true);
            });
            request(Message::Make(job));
            tell.recv().unwrap_or(false) && !is_tried()
        };
        assert_eq!(forked(ends_by_thread), Some(true));
    }
}
