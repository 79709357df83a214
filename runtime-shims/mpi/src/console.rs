//! Standard output of regions.
//!
//! Guarantee: what any rank prints before a synchronisation or inside a lock stands before what any
//! rank prints after it. Ranks on rank 0's node write to rank 0's own standard output; the others
//! collect their text in a memory file and hand it to rank 0 at every synchronisation.

use std::{
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed},
};

use okl_job::opened::Opened;

use crate::{cell::ProgramCell, files, memory, report, scopes, stream_format, turns};

/// How ranks of rank 0's node come to its standard output.
struct Sharing {
    token: u64,
    takers: usize,
    takes: bool,
}

static SHARING: ProgramCell<Option<Sharing>> = ProgramCell::new(None);

/// Whether the program may have put another file in the place of standard output since it was shared.
static MOVED: AtomicBool = AtomicBool::new(false);

/// The memory file that stands in for standard output on ranks far from rank 0; -1: none.
static COLLECTED: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    fn __fpending(stream: *mut libc::FILE) -> usize;
}

/// The way rank 0's standard output is handed to the ranks of its node: as an open file, so that all
/// write behind each other whatever it is (a file, a pipe, a terminal).
pub(crate) struct Handover {
    address: SocketAddr,
    listener: Option<UnixListener>,
}

impl Handover {
    /// A place to meet that only this job knows by `token`. The giver listens from now on.
    pub(crate) fn new(token: u64, gives: bool) -> Self {
        let name = format!("okl-console-{token:016x}");
        let address = SocketAddr::from_abstract_name(name).expect("a short name");
        let listener = gives.then(|| {
            UnixListener::bind_addr(&address).unwrap_or_else(|error| {
                report::fatal(&format!("no socket to share the standard output: {error}"))
            })
        });
        Self { address, listener }
    }

    /// Gives this process's standard output to `takers` ranks. Anyone on this machine may come to the place: other
    /// users' processes get nothing.
    pub(crate) fn give(self, takers: usize) {
        let mut given = 0;
        while given < takers {
            let listener = self.listener.as_ref().expect("the giver listens");
            let (socket, _) = listener.accept().unwrap_or_else(|error| failed(&error));
            if !is_of_this_user(&socket) {
                continue;
            }
            given += 1;
            exchange(|message| {
                // SAFETY: the message has room for one descriptor.
                unsafe {
                    let header = libc::CMSG_FIRSTHDR(message);
                    (*header).cmsg_level = libc::SOL_SOCKET;
                    (*header).cmsg_type = libc::SCM_RIGHTS;
                    (*header).cmsg_len = libc::CMSG_LEN(size_of::<i32>() as u32) as usize;
                    libc::CMSG_DATA(header).cast::<i32>().write_unaligned(1);
                    if libc::sendmsg(socket.as_raw_fd(), message, 0) != 1 {
                        failed(&std::io::Error::last_os_error());
                    }
                }
            });
        }
    }

    /// Makes the giver's standard output this process's.
    pub(crate) fn take(self) {
        let socket = UnixStream::connect_addr(&self.address).unwrap_or_else(|error| failed(&error));
        if !is_of_this_user(&socket) {
            report::fatal(
                "cannot share the standard output with the other ranks: a process of another user listens in rank 0's \
                 place",
            );
        }
        exchange(|message| {
            // SAFETY: the message has room for one descriptor, which replaces standard output.
            unsafe {
                let got = libc::recvmsg(socket.as_raw_fd(), message, 0);
                let header = libc::CMSG_FIRSTHDR(message);
                if got != 1 || header.is_null() {
                    failed(&std::io::Error::last_os_error());
                }
                let descriptor = libc::CMSG_DATA(header).cast::<i32>().read_unaligned();
                libc::dup2(descriptor, 1);
                libc::close(descriptor);
            }
        });
    }
}

/// Whether the process at the other end belongs to the user that this one belongs to (unix(7), `SO_PEERCRED`).
fn is_of_this_user(socket: &UnixStream) -> bool {
    // SAFETY: a live descriptor and a structure of the size that is told.
    unsafe {
        let mut peer: libc::ucred = std::mem::zeroed();
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        let status = libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        );
        status == 0 && peer.uid == libc::geteuid()
    }
}

/// Remembers how standard output is shared: `takers` ranks share rank 0's; this one is among them or not.
pub(crate) fn note_sharing(token: u64, takers: usize, takes: bool) {
    SHARING.with(|sharing| {
        *sharing = Some(Sharing {
            token,
            takers,
            takes,
        })
    });
}

/// The program calls something that may put another file in the place of standard output.
pub(crate) fn may_move() {
    MOVED.store(true, Relaxed);
}

/// Rank 0, before a fork: what it has to give to the other ranks if its standard output moved.
pub(crate) fn offer() -> Option<Handover> {
    MOVED.swap(false, Relaxed).then(|| {
        scopes::private(|| {
            SHARING.with(|sharing| {
                let sharing = sharing.as_ref().expect("output is shared at the start");
                Handover::new(sharing.token, sharing.takers > 0)
            })
        })
    })
}

/// Rank 0: gives its standard output again to those that share it.
pub(crate) fn give_again(offer: Handover) {
    let takers = SHARING.with(|sharing| sharing.as_ref().map_or(0, |sharing| sharing.takers));
    scopes::private(|| offer.give(takers));
}

/// Another rank: takes rank 0's standard output again if it shares it.
pub(crate) fn take_again() {
    let token = SHARING.with(|sharing| {
        let sharing = sharing.as_ref().filter(|sharing| sharing.takes);
        sharing.map(|sharing| sharing.token)
    });
    if let Some(token) = token {
        scopes::private(|| Handover::new(token, false).take());
    }
}

fn failed(error: &std::io::Error) -> ! {
    report::fatal(&format!(
        "cannot share the standard output with the other ranks: {error}"
    ))
}

/// Lends a message of one byte with room for one descriptor.
fn exchange(body: impl FnOnce(&mut libc::msghdr)) {
    let mut byte = [0u8; 1];
    let mut control = [0u64; 8];
    let mut part = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: 1,
    };
    // SAFETY: all zero is an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: arithmetic.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<i32>() as u32) } as usize;
    body(&mut message);
}

/// Bytes of it that have been handed over. (Other threads of the rank may be writing: it is emptied when none are.)
static HANDED_OVER: AtomicU64 = AtomicU64::new(0);

/// Collects this rank's standard output until the next [`flush`].
pub(crate) fn collect() {
    // SAFETY: a new descriptor put in place of standard output.
    unsafe {
        let file = libc::memfd_create(c"okl-stdout".as_ptr(), libc::MFD_CLOEXEC);
        assert!(
            file >= 0,
            "memfd_create: {}",
            std::io::Error::last_os_error()
        );
        libc::dup2(file, 1);
        COLLECTED.store(file, Relaxed);
    }
}

/// Makes `std::cout` and its like usable on every rank: the objects that do so in each source file are
/// the program's constructors, which run on rank 0 only.
pub(crate) fn start_cpp_streams() {
    static INIT: u64 = 0;
    // SAFETY: `std::ios_base::Init::Init()` of libstdc++, whose object is one byte it never uses; it
    // counts how often it ran, and nothing is undone.
    scopes::private(|| unsafe {
        let init = Opened::PROGRAM.symbol(c"_ZNSt8ios_base4InitC1Ev");
        if let Ok(init) = init {
            let init: extern "C" fn(*const u64) = init;
            init(&INIT);
        }
    });
}

/// Whether this rank cannot write to rank 0's standard output itself.
pub(crate) fn is_far() -> bool {
    COLLECTED.load(Relaxed) >= 0
}

/// What else writes out text that is held back; null: nothing.
static OTHERS: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// From now on [`flush`] calls `others`, too.
pub(crate) fn flush_also(others: fn()) {
    OTHERS.store(others as *mut (), Relaxed);
}

/// Writes out what the C and C++ libraries, and others, hold back, and hands collected text to rank 0.
pub(crate) fn flush() {
    // SAFETY: the C library's own stream; pending text means it is initialised.
    unsafe {
        if __fpending(stdout) > 0 {
            scopes::private(|| libc::fflush(stdout));
        }
    }
    flush_cpp_stream();
    let others = OTHERS.load(Relaxed);
    if !others.is_null() {
        // SAFETY: `flush_also` stored a function.
        let flush = unsafe { std::mem::transmute::<*mut (), fn()>(others) };
        flush();
    }
    files::flush();
    let file = COLLECTED.load(Relaxed);
    if file >= 0 {
        hand_over(file);
    }
}

/// `std::cout.flush()` where the program uses the C++ library and took `cout` out of step with stdio.
fn flush_cpp_stream() {
    // Another object in the place of its buffer is the program's: it is told to write when the program says so.
    if stream_format::is_redirected() {
        return;
    }
    use std::sync::OnceLock;
    type Flush = unsafe extern "C" fn(*mut libc::c_void) -> *mut libc::c_void;
    static STREAM: OnceLock<Option<(usize, Flush)>> = OnceLock::new();
    let found = STREAM.get_or_init(|| {
        scopes::private(|| {
            // SAFETY: looks up two symbols of libstdc++; the second is `ostream::flush()`.
            unsafe {
                let cout = Opened::PROGRAM
                    .symbol::<*mut libc::c_void>(c"_ZSt4cout")
                    .ok()?;
                let flush = Opened::PROGRAM.symbol::<Flush>(c"_ZNSo5flushEv").ok()?;
                Some((cout as usize, flush))
            }
        })
    });
    if let Some((cout, flush)) = *found {
        // SAFETY: `cout` is initialised before `main` wherever libstdc++ is loaded.
        unsafe { flush(cout as *mut libc::c_void) };
    }
}

fn hand_over(file: i32) {
    // SAFETY: reads and empties a descriptor of our own.
    turns::alone(|| unsafe {
        let first = HANDED_OVER.load(Relaxed);
        let length = libc::lseek(file, 0, libc::SEEK_END) as u64;
        if length > first {
            let mut text = vec![0u8; (length - first) as usize];
            let got = libc::pread(file, text.as_mut_ptr().cast(), text.len(), first as i64);
            assert_eq!(
                got,
                text.len() as isize,
                "reading collected output: {}",
                std::io::Error::last_os_error()
            );
            memory::coherence(|coherence| coherence.machine.write_to_console(&text));
            HANDED_OVER.store(length, Relaxed);
        }
        if !turns::are_several() && length > 0 {
            libc::ftruncate(file, 0);
            libc::lseek(file, 0, libc::SEEK_SET);
            HANDED_OVER.store(0, Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a process of a user who is nobody. It connects to the place and returns 0 where it was given nothing.
    ///
    /// # Safety
    /// None of its own: the new process only makes system calls.
    unsafe fn visit_as_nobody(token: u64) -> libc::pid_t {
        let name = format!("\0okl-console-{token:016x}");
        // SAFETY: the address has room for the name; only system calls follow the fork.
        unsafe {
            let mut address: libc::sockaddr_un = std::mem::zeroed();
            address.sun_family = libc::AF_UNIX as u16;
            std::ptr::copy_nonoverlapping(
                name.as_ptr().cast(),
                address.sun_path.as_mut_ptr(),
                name.len(),
            );
            let process = libc::fork();
            if process != 0 {
                return process;
            }
            let gone = libc::setuid(65534);
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
            let length = (size_of::<libc::sa_family_t>() + name.len()) as libc::socklen_t;
            let connected = libc::connect(socket, (&raw const address).cast(), length);
            let mut byte = 0u8;
            let got = libc::recv(socket, (&raw mut byte).cast(), 1, 0);
            libc::_exit(i32::from(gone != 0 || connected != 0 || got > 0))
        }
    }

    #[test]
    fn another_user_is_given_nothing() {
        // SAFETY: asks for a number.
        if unsafe { libc::geteuid() } != 0 {
            println!("skip another_user_is_given_nothing (only root has processes of other users)");
            return;
        }
        let token = u64::from(std::process::id()) << 20 | 0x15;
        let giver = Handover::new(token, true);
        // SAFETY: see there.
        let visitor = unsafe { visit_as_nobody(token) };
        let giving = std::thread::spawn(move || giver.give(1));
        let mut status = 0;
        // SAFETY: a process of ours; it ends when it is turned away.
        unsafe { libc::waitpid(visitor, &mut status, 0) };
        assert_eq!(status, 0, "the visitor was given the standard output");
        assert!(!giving.is_finished(), "the rank is still awaited");
        Handover::new(token, false).take();
        giving.join().expect("the rank was given it");
    }
}
