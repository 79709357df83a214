//! What regions write to streams that serial code has opened, which are rank 0's.
//!
//! Guarantee: it reaches rank 0's stream. What a rank writes before a synchronisation or inside a lock
//! stands before what any rank writes after it, and serial code finds all of it written.
//!
//! Streams that libraries have opened while a rank calls them, as drivers of devices do, are that rank's.
//!
//! Another rank writes to a stand-in, a stream of its own that collects what the C library formats. Its
//! pieces go to a log in a memory file on rank 0's node, behind each other whoever writes them, from
//! which rank 0 writes them to the streams: before it writes to one itself, and where ranks synchronise.
//! Ranks of other nodes send their pieces when they synchronise.

use std::{
    ffi::c_void,
    mem,
    sync::{
        Mutex, MutexGuard, OnceLock,
        atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use crate::{
    control_area,
    control_words::{exchange_word, load_word},
    memory, mpi_job,
    next::Next,
    process, program, region, report, scopes, turns,
};

unsafe extern "C" {
    static stdin: usize;
    static stdout: usize;
    static stderr: usize;
    fn fopencookie(cookie: usize, mode: *const libc::c_char, functions: Functions) -> usize;
    fn __fpending(stream: *mut libc::FILE) -> usize;
}

/// `cookie_io_functions_t`.
#[repr(C)]
struct Functions {
    read: usize,
    write: unsafe extern "C" fn(usize, *const u8, usize) -> isize,
    seek: usize,
    close: usize,
}

/// The buffer of a stand-in, which is private memory.
const BUFFER: usize = 1 << 16;
/// A log of more bytes is emptied when nobody writes to it.
const LARGE: u64 = 1 << 20;
/// Stream and length of a piece, in front of its bytes. A piece without bytes asks for `fflush`.
const HEADER: usize = 16;

/// A stream of rank 0's, and what stands in for it on this rank.
#[derive(Clone, Copy)]
struct StandIn {
    stream: usize,
    local: usize,
}

static STAND_INS: Mutex<Vec<StandIn>> = Mutex::new(Vec::new());
/// Whether this rank has written pieces since it last synchronised.
static WRITTEN: AtomicBool = AtomicBool::new(false);
/// On a rank far from rank 0: the pieces to send.
static TO_SEND: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// The standard streams of this process.
static STANDARD: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
/// The log, where this rank has opened it; -1: not yet.
static LOG: AtomicI32 = AtomicI32::new(-1);
/// Rank 0: the bytes of the log that have been written to their streams.
static DONE: AtomicU64 = AtomicU64::new(0);

/// Whether the log is on another node.
static IS_FAR: AtomicBool = AtomicBool::new(false);

static FWRITE: Next = Next::new("fwrite\0");
static FFLUSH: Next = Next::new("fflush\0");

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Every rank, before program code starts: notes the standard streams; rank 0 opens the log, which is on another node
/// where it `is_far`.
pub(crate) fn start(is_far: bool) {
    IS_FAR.store(is_far, Relaxed);
    FWRITE.find();
    FFLUSH.find();
    // SAFETY: the C library's variables.
    let standard = unsafe { [stdin, stdout, stderr] };
    for (known, stream) in STANDARD.iter().zip(standard) {
        known.store(stream, Relaxed);
    }
    if mpi_job::rank() != 0 || mpi_job::ranks() == 1 {
        return;
    }
    // SAFETY: a new descriptor of our own.
    let log = unsafe {
        let log = libc::memfd_create(c"okl-files".as_ptr(), libc::MFD_CLOEXEC);
        libc::fcntl(log, libc::F_SETFL, libc::O_APPEND);
        log
    };
    LOG.store(log, Relaxed);
    exchange_word(control_area::FILES_LOG, 0, log as u64);
    for (index, stream) in standard.into_iter().enumerate() {
        exchange_word(control_area::FILES_STANDARD + 8 * index, 0, stream as u64);
    }
}

/// The stream that takes what the calling thread writes to `stream`. What runs in a private scope has opened its own.
pub(crate) fn stream(stream: usize) -> usize {
    if !region::is_distributed() || stream == 0 || is_standard(stream) || scopes::is_private() {
        return stream;
    }
    if mpi_job::rank() != 0 {
        return stand_in(stream);
    }
    // What other ranks have written before stands before it.
    if program::allocates_shared() {
        write_out();
    }
    stream
}

/// `fflush` on a stream of rank 0's: its status where another rank called it.
pub(crate) fn flush_elsewhere(stream: usize) -> Option<i32> {
    let is_elsewhere = region::is_distributed() && mpi_job::rank() != 0;
    if !is_elsewhere || scopes::is_private() || stream == 0 || is_standard(stream) {
        return None;
    }
    let local = stand_in(stream);
    if STANDARD.iter().any(|one| one.load(Relaxed) == local) {
        return None;
    }
    // SAFETY: a stream of our own.
    let status = unsafe { flush_own(local) };
    append(stream, &[]);
    Some(status)
}

/// Whether this is a standard stream of this process.
fn is_standard(stream: usize) -> bool {
    STANDARD.iter().any(|known| known.load(Relaxed) == stream)
}

/// Writes to a stream of this process's, whoever asks.
///
/// # Safety
/// An open stream.
unsafe fn write_own(stream: usize, bytes: &[u8]) {
    type Write = unsafe extern "C" fn(*const u8, usize, usize, usize) -> usize;
    // SAFETY: the C library's function, and the caller's promise. As with `fwrite`, an error stays with the stream.
    unsafe {
        mem::transmute::<*mut c_void, Write>(FWRITE.address())(
            bytes.as_ptr(),
            1,
            bytes.len(),
            stream,
        );
    }
}

/// `fflush` on a stream of this process's.
///
/// # Safety
/// An open stream.
unsafe fn flush_own(stream: usize) -> i32 {
    // SAFETY: the C library's function, and the caller's promise.
    unsafe {
        mem::transmute::<*mut c_void, unsafe extern "C" fn(usize) -> i32>(FFLUSH.address())(stream)
    }
}

/// What stands in for a stream of rank 0's.
fn stand_in(stream: usize) -> usize {
    let mut known = lock(&STAND_INS);
    if let Some(found) = known.iter().find(|one| one.stream == stream) {
        return found.local;
    }
    let local = scopes::private(|| match standard_of_root(stream) {
        Some(local) => local,
        None => open(stream),
    });
    known.push(StandIn { stream, local });
    local
}

/// This rank's stream, where `stream` is rank 0's standard output or the like. (With randomised addresses
/// they differ.)
fn standard_of_root(stream: usize) -> Option<usize> {
    static ROOT: OnceLock<[usize; 3]> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        [0, 1, 2].map(|index| load_word(control_area::FILES_STANDARD + 8 * index) as usize)
    });
    let index = root.iter().position(|&one| one == stream)?;
    Some(STANDARD[index].load(Relaxed))
}

fn open(stream: usize) -> usize {
    let functions = Functions {
        read: 0,
        write: collect,
        seek: 0,
        close: 0,
    };
    let buffer = vec![0u8; BUFFER].leak();
    // SAFETY: a new stream, with a buffer that lives as long.
    unsafe {
        let local = fopencookie(stream, c"w".as_ptr(), functions);
        if local == 0 {
            report::fatal("no memory for a stream that stands in for one of rank 0's");
        }
        libc::setvbuf(
            local as *mut libc::FILE,
            buffer.as_mut_ptr().cast(),
            libc::_IOFBF,
            BUFFER,
        );
        local
    }
}

/// The C library hands over what has been written to a stand-in.
unsafe extern "C" fn collect(stream: usize, bytes: *const u8, length: usize) -> isize {
    // SAFETY: the C library's buffer, or the program's, whose pages are here.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    append(stream, bytes);
    length as isize
}

/// Writes a piece to the log, or where that is far keeps it.
fn append(stream: usize, bytes: &[u8]) {
    let mut piece = Vec::with_capacity(HEADER + bytes.len());
    piece.extend((stream as u64).to_le_bytes());
    piece.extend((bytes.len() as u64).to_le_bytes());
    piece.extend(bytes);
    if IS_FAR.load(Relaxed) {
        lock(&TO_SEND).extend(piece);
    } else {
        log_pieces(&piece);
    }
    // Afterwards: another thread may be telling of what there was before.
    WRITTEN.store(true, Relaxed);
}

/// Writes pieces to the log at once.
pub(crate) fn log_pieces(pieces: &[u8]) {
    let log = open_log();
    // SAFETY: a live buffer. A memory file takes all of it unless there is no memory left.
    let written = unsafe { libc::write(log, pieces.as_ptr().cast(), pieces.len()) };
    if written != pieces.len() as isize {
        report::fatal(&format!(
            "cannot hand what a region writes to a file to rank 0: {}",
            std::io::Error::last_os_error()
        ));
    }
}

fn open_log() -> i32 {
    let known = LOG.load(Relaxed);
    if known >= 0 {
        return known;
    }
    static OPENED: OnceLock<i32> = OnceLock::new();
    *OPENED.get_or_init(|| {
        let number = load_word(control_area::FILES_LOG);
        let path = format!("/proc/{}/fd/{number}\0", process::of_root());
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL.
        let log = unsafe { libc::open(path.as_ptr().cast(), flags) };
        if log < 0 {
            report::fatal(&format!(
                "cannot hand what a region writes to a file to rank 0: {}",
                std::io::Error::last_os_error()
            ));
        }
        LOG.store(log, Relaxed);
        log
    })
}

/// Where ranks synchronise: hands over what this rank has written; rank 0 writes what has come.
pub(crate) fn flush() {
    if mpi_job::rank() == 0 {
        if region::is_distributed() {
            write_out();
        }
        return;
    }
    let pending = {
        let stand_ins = lock(&STAND_INS);
        let pending = stand_ins.iter().filter(|one| {
            // SAFETY: streams of our own.
            !is_standard(one.local) && unsafe { __fpending(one.local as *mut libc::FILE) } > 0
        });
        pending.map(|one| one.local).collect::<Vec<_>>()
    };
    for local in pending {
        // SAFETY: as above.
        scopes::private(|| unsafe { flush_own(local) });
    }
    // One thread after the other: who goes on knows that what it wrote has been handed over.
    turns::alone(|| {
        if WRITTEN.swap(false, Relaxed) {
            let to_send = mem::take(&mut *lock(&TO_SEND));
            if !to_send.is_empty() {
                memory::coherence(|coherence| coherence.machine.write_to_files(&to_send));
            }
            exchange_word(control_area::FILES, 0, 1);
        }
    });
}

/// Rank 0: writes to its streams what other ranks have written, if there is any.
pub(crate) fn write_out() {
    static ONE: Mutex<()> = Mutex::new(());
    if mpi_job::ranks() == 1 {
        return;
    }
    scopes::private(|| {
        // Several threads write to streams. Each goes on when all that there was has been written, and once only.
        let one = lock(&ONE);
        if load_word(control_area::FILES) != 0 {
            exchange_word(control_area::FILES, 1, 0);
            write_pieces();
        }
        drop(one);
    });
}

/// Rank 0, at the end of a region: as [`write_out`], when no other rank writes any more.
pub(crate) fn end_region() {
    write_out();
    if DONE.load(Relaxed) > LARGE {
        // SAFETY: our own descriptor, which nobody uses now.
        unsafe { libc::ftruncate(LOG.load(Relaxed), 0) };
        DONE.store(0, Relaxed);
    }
}

fn write_pieces() {
    let log = LOG.load(Relaxed);
    let mut at = DONE.load(Relaxed);
    let read = |to: &mut [u8], at: u64| {
        // SAFETY: a live buffer.
        let got = unsafe { libc::pread(log, to.as_mut_ptr().cast(), to.len(), at as i64) };
        got == to.len() as isize
    };
    let mut header = [0u8; HEADER];
    let mut bytes = Vec::new();
    // A piece that is still being written is left for the next time.
    while read(&mut header, at) {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        let (stream, length) = (word(0) as usize, word(8) as usize);
        bytes.resize(length, 0);
        if !read(&mut bytes, at + HEADER as u64) {
            break;
        }
        // SAFETY: a stream that the program writes to.
        unsafe {
            if length == 0 {
                flush_own(stream);
            } else {
                write_own(stream, &bytes);
            }
        }
        at += (HEADER + length) as u64;
    }
    DONE.store(at, Relaxed);
}

/// The stream for a call whose arguments stay in their registers, and the real function behind it.
#[repr(C)]
pub(crate) struct Redirected {
    stream: usize,
    function: *mut c_void,
}

impl Redirected {
    pub(crate) fn new(to: usize, function: *mut c_void) -> Self {
        Self {
            stream: stream(to),
            function,
        }
    }
}
