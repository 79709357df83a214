//! Has versions made, on a thread of its own, by `libokl_jit.so`, which is opened when the first one is asked for. A process
//! that was forked has no such thread: it gets one of its own when it asks.
//!
//! The thread has made what it is making before the program ends: what LLVM has is taken apart then.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::thread::{Builder, JoinHandle};

use okl_abi::jit::{COMPILE, JitAnswer, JitRequest, JitValue};
use okl_job::opened::{Opened, own_folder};

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

/// What is to be made. It has copies: the file with the code may be gone meanwhile.
pub(crate) struct Job {
    pub(crate) bitcode: Vec<u8>,
    pub(crate) addresses: Vec<usize>,
    pub(crate) values: Vec<JitValue>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) flags: i64,
    pub(crate) vector_bits: i64,
    pub(crate) receiver: Receiver,
    pub(crate) unwanted: i64,
    /// Is called on the thread: with what hands over, and how many seconds it took; or why there is none.
    pub(crate) then: Box<dyn FnOnce(Result<Made, String>)>,
}

// SAFETY: addresses of the program's, which the thread hands on, and what it calls is made for it.
unsafe impl Send for Job {}

/// A version that has been made.
pub(crate) struct Made {
    /// `void entry(void *to)`.
    entry: unsafe extern "C" fn(*mut c_void),
    /// Seconds that it took to simplify the code, and to make machine code.
    pub(crate) seconds: [f64; 2],
}

impl Made {
    /// Has it hand over what it has become.
    ///
    /// # Safety
    /// `to` is what the receiver of the job expects.
    pub(crate) unsafe fn hand_over(&self, to: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { (self.entry)(to) }
    }
}

/// The thread, and the process that has it.
struct Thread {
    process: u32,
    jobs: Sender<Job>,
    handle: JoinHandle<()>,
}

static THREAD: Mutex<Option<Thread>> = Mutex::new(None);

/// Has something made. Where there can be no thread it is not.
pub(crate) fn request(job: Job) {
    FIRST.with(|_| {});
    let Ok(mut thread) = THREAD.lock() else {
        return;
    };
    let process = std::process::id();
    if thread.as_ref().is_none_or(|one| one.process != process) {
        // The thread of the process that this one is a copy of cannot be waited for.
        std::mem::forget(thread.take());
        *thread = start(process);
    }
    if let Some(thread) = thread.as_ref() {
        // It ends with the program only.
        let _ = thread.jobs.send(job);
    }
}

/// LLVM's passes call each other.
const STACK: usize = 64 << 20;

fn start(process: u32) -> Option<Thread> {
    let (jobs, queue) = channel();
    let builder = Builder::new().name("okl-jit".to_owned()).stack_size(STACK);
    // The program's handlers of signals run on its own threads.
    // SAFETY: sets that are written here; what this thread had is put back.
    let handle = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        let handle = builder.spawn(move || work(queue));
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        handle
    };
    let handle = handle.ok()?;
    finish_at_end();
    Some(Thread {
        process,
        jobs,
        handle,
    })
}

/// What is opened before that is still there when `finish` is called.
fn finish_at_end() {
    // SAFETY: a function that does not unwind.
    unsafe { libc::atexit(finish) };
}

/// Where the program's first thread ends it, that comes before all that is called at the end: LLVM has things that are taken
/// apart then and that it only makes while it works.
struct First;

thread_local! {
    static FIRST: First = const { First };
}

impl Drop for First {
    fn drop(&mut self) {
        // SAFETY: asks the system.
        if unsafe { libc::gettid() }.cast_unsigned() == std::process::id() {
            finish();
        }
    }
}

/// What is being made is done, and no more.
extern "C" fn finish() {
    let thread = THREAD.lock().ok().and_then(|mut thread| thread.take());
    let Some(thread) = thread else { return };
    if thread.process == std::process::id() {
        ENDS.store(true, Relaxed);
        drop(thread.jobs);
        let _ = thread.handle.join();
    }
}

/// Nothing else is made.
static ENDS: AtomicBool = AtomicBool::new(false);

fn work(queue: Queue<Job>) {
    let mut library = None;
    for job in queue {
        if ENDS.load(Relaxed) {
            return;
        }
        let library = library.get_or_insert_with(open);
        let made = match library {
            Ok(compile) => make(*compile, &job),
            Err(why) => Err(why.clone()),
        };
        (job.then)(made);
    }
}

type Compile = unsafe extern "C" fn(*const JitRequest, *mut JitAnswer);

fn open() -> Result<Compile, String> {
    let file = own_folder().join("libokl_jit.so");
    let name = CString::new(file.as_os_str().as_bytes()).expect("names of files have no NUL");
    let function = CString::new(COMPILE).expect("it has no NUL");
    // SAFETY: the name has the version of the function's type.
    let compile = unsafe { Opened::new(&name)?.symbol(&function)? };
    // The program may have begun to end meanwhile.
    finish_at_end();
    Ok(compile)
}

fn make(compile: Compile, job: &Job) -> Result<Made, String> {
    let request = JitRequest {
        bitcode: job.bitcode.as_ptr().cast_mut().cast(),
        length: job.bitcode.len() as i64,
        addresses: job.addresses.as_ptr().cast_mut().cast(),
        address_count: job.addresses.len() as i64,
        values: job.values.as_ptr().cast_mut().cast(),
        value_count: job.values.len() as i64,
        bytes: job.bytes.as_ptr().cast_mut().cast(),
        flags: job.flags,
        receiver: job.receiver.function,
        unwanted: job.unwanted,
        unread: job.receiver.unread,
        vector_bits: job.vector_bits,
    };
    let mut message = [0u8; 512];
    let mut answer = JitAnswer {
        entry: std::ptr::null_mut(),
        simplify: 0,
        generate: 0,
        message: message.as_mut_ptr().cast(),
        room: message.len() as i64,
    };
    // SAFETY: arrays of these lengths, of code that the pass has left, and room for a message.
    unsafe { compile(&request, &mut answer) };
    if answer.entry.is_null() {
        let text = CStr::from_bytes_until_nul(&message).unwrap_or_default();
        return Err(text.to_string_lossy().into_owned());
    }
    // SAFETY: that is its type.
    let entry = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(answer.entry)
    };
    let seconds = [answer.simplify, answer.generate].map(|one| one as f64 * 1e-9);
    Ok(Made { entry, seconds })
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
