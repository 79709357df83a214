//! Work in a process of its own, of which nothing comes back but bytes: what it does to this process's memory is undone.
//!
//! That of a compiler is a copy of it ([`apart`]). A program may have threads, and memory and children that it knows of: there
//! another program does the work ([`Worker`]), of whose process the program sees nothing.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

/// It ends after so many seconds: another thread may have had a lock when the process was copied, which nobody gives back there.
const LIMIT: u32 = 300;

/// Behind the bytes of one that has come to its end.
const DONE: u8 = 1;

/// Behind a worker's bytes that say why it has made nothing.
const FAILED: u8 = 2;

/// What it gives; `None` where it gives nothing, ends in another way, or there can be no such process.
pub fn apart(work: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let mut ends = [0; 2];
    // SAFETY: room for two numbers.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return None;
    }
    // SAFETY: both were just opened, and are nobody else's.
    let [from, to] = ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) }));
    // SAFETY: the copy has this thread alone, does its work and ends; it runs nothing that waits for the end of a process.
    let child = unsafe { libc::fork() };
    match child {
        -1 => None,
        0 => {
            end_by_signals();
            if let Some(mut bytes) = catch_unwind(AssertUnwindSafe(work)).ok().flatten() {
                bytes.push(DONE);
                let _ = (&to).write_all(&bytes);
            }
            // SAFETY: ends the process, and nothing of what the original does at its end is done here.
            unsafe { libc::_exit(0) }
        }
        _ => {
            drop(to);
            let mut bytes = Vec::new();
            let is_read = (&from).read_to_end(&mut bytes).is_ok();
            // SAFETY: waits for the process above; where nobody may wait for it, it goes by itself.
            while unsafe { libc::waitpid(child, ptr::null_mut(), 0) } == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            let is_done = is_read && bytes.pop() == Some(DONE);
            is_done.then_some(bytes)
        }
    }
}

/// Signals end this process, which has to do with no handler of the original's, and the clock is one of them.
fn end_by_signals() {
    use libc::{SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    // SAFETY: sets the handlers of a process that has one thread, its mask, and a clock.
    unsafe {
        for signal in [SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        libc::alarm(LIMIT);
    }
}

/// A program that works for this process, which is no compiler's.
pub struct Worker {
    program: CString,
    /// The first one is the program's name.
    arguments: Vec<CString>,
}

static WORKER: OnceLock<Worker> = OnceLock::new();

/// Who works for this process, where it is no compiler's.
pub fn worker() -> Option<&'static Worker> {
    WORKER.get()
}

/// Has a program, which gets one argument, work for this process from now on.
pub fn employ(program: CString, argument: CString) {
    let arguments = vec![program.clone(), argument];
    WORKER.get_or_init(|| Worker { program, arguments });
}

unsafe extern "C" {
    fn posix_spawn_file_actions_addclosefrom_np(
        actions: *mut libc::posix_spawn_file_actions_t,
        from: c_int,
    ) -> c_int;
}

/// What a process is started with.
struct Start<'a> {
    program: &'a CString,
    arguments: &'a [*mut c_char],
    environment: &'a [*mut c_char],
    files: [c_int; 2],
}

impl Worker {
    /// What it makes of some bytes, or why it makes nothing.
    ///
    /// The program is not told of the end of a process that it has not started: the new one is the child of one in between,
    /// which has this one's memory, runs while this thread waits, and whose end is told to nobody.
    pub fn make(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let name = self.program.to_string_lossy();
        let told = |why: io::Error| format!("there is no memory for what {name} does: {why}");
        let (mut from, mut to) = (memory().map_err(told)?, memory().map_err(told)?);
        from.write_all(bytes).map_err(told)?;
        from.rewind().map_err(told)?;
        let pointers = |all: &[CString]| -> Vec<*mut c_char> {
            let all = all.iter().map(|one| one.as_ptr().cast_mut());
            all.chain([ptr::null_mut()]).collect()
        };
        let environment = environment();
        let start = Start {
            program: &self.program,
            arguments: &pointers(&self.arguments),
            environment: &pointers(&environment),
            files: [from.as_raw_fd(), to.as_raw_fd()],
        };
        const STACK: usize = 128 << 10;
        let mut stack = [MaybeUninit::<u128>::uninit(); STACK / size_of::<u128>()];
        // SAFETY: the process runs on a stack of its own while this thread waits, and accesses what is passed to it, and what is
        // this thread's.
        let is_started = unsafe {
            let top = stack.as_mut_ptr_range().end.cast();
            let flags = libc::CLONE_VM | libc::CLONE_VFORK;
            let process = libc::clone(run, top, flags, (&raw const start).cast_mut().cast());
            let mut status = 0;
            while process != -1
                && libc::waitpid(process, &mut status, libc::__WALL) == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            process != -1 && status == 0
        };
        if !is_started {
            return Err(format!("{name}, which makes it, cannot be started"));
        }
        let mut made = Vec::new();
        to.rewind().map_err(told)?;
        to.read_to_end(&mut made).map_err(told)?;
        match made.pop() {
            Some(DONE) => Ok(made),
            Some(FAILED) => Err(String::from_utf8_lossy(&made).into_owned()),
            _ => Err(format!("{name}, which makes it, has ended early")),
        }
    }
}

/// Starts a process, and waits for its end.
extern "C" fn run(start: *mut c_void) -> c_int {
    // SAFETY: what it was given, which lives meanwhile; what is written here is read here. Signals of this process are blocked,
    // or have the handlers of the program's, which run on this stack.
    unsafe {
        let start = &*start.cast_const().cast::<Start<'_>>();
        let mut actions = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        let mut signals = MaybeUninit::uninit();
        let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), start.files[0], 0);
        libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), start.files[1], 1);
        let (nowhere, writes) = (c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::posix_spawn_file_actions_addopen(actions.as_mut_ptr(), 2, nowhere, writes, 0);
        posix_spawn_file_actions_addclosefrom_np(actions.as_mut_ptr(), 3);
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::sigemptyset(signals.as_mut_ptr());
        libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), signals.as_ptr());
        libc::sigfillset(signals.as_mut_ptr());
        libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), signals.as_ptr());
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as libc::c_short);
        let mut process = 0;
        let failed = libc::posix_spawn(
            &mut process,
            start.program.as_ptr(),
            actions.as_ptr(),
            attributes.as_ptr(),
            start.arguments.as_ptr(),
            start.environment.as_ptr(),
        );
        if failed == 0 {
            while libc::waitpid(process, ptr::null_mut(), 0) == -1
                && *libc::__errno_location() == libc::EINTR
            {}
        }
        libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        failed
    }
}

/// A file in memory, whose number is none of the standard ones: a program may have closed these.
fn memory() -> io::Result<File> {
    let own = |file| match file {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it was just opened, and is nobody else's.
        file => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
    };
    // SAFETY: a name that lives through the call, and an open file.
    unsafe {
        let file = own(libc::memfd_create(
            c"okl-worker".as_ptr(),
            libc::MFD_CLOEXEC,
        ))?;
        let file = own(libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3))?;
        Ok(File::from(file))
    }
}

/// Where a worker looks for libraries and programs: as this process did when it began, but with nothing else put in.
fn environment() -> Vec<CString> {
    const KEPT: [&[u8]; 3] = [b"LD_LIBRARY_PATH=", b"PATH=", b"TMPDIR="];
    // SAFETY: asks the system.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Vec::new();
    }
    let all = std::fs::read("/proc/self/environ").unwrap_or_default();
    let all = all.split(|byte| *byte == 0);
    let kept = all.filter(|one| KEPT.iter().any(|name| one.starts_with(name)));
    kept.filter_map(|one| CString::new(one).ok()).collect()
}

/// The worker's side: reads what it is given, and writes what it makes of that, or why it makes nothing. Whether it has.
pub fn work(of: impl FnOnce(&[u8]) -> Result<Vec<u8>, String>) -> bool {
    // SAFETY: a clock, which ends this process.
    unsafe { libc::alarm(LIMIT) };
    let mut given = Vec::new();
    if io::stdin().lock().read_to_end(&mut given).is_err() {
        return false;
    }
    let made = catch_unwind(AssertUnwindSafe(|| of(&given)));
    let all = match made.unwrap_or_else(|_| Err("an internal error".to_string())) {
        Ok(made) => [made, vec![DONE]].concat(),
        Err(why) => [why.into_bytes(), vec![FAILED]].concat(),
    };
    let is_done = all.ends_with(&[DONE]);
    let mut to = io::stdout().lock();
    to.write_all(&all).and_then(|()| to.flush()).is_ok() && is_done
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::{Worker, apart};

    fn worker(script: &str) -> Worker {
        let text = |text: &str| CString::new(text).expect("it has no NUL");
        Worker {
            program: text("/bin/sh"),
            arguments: ["sh", "-c", script].map(text).to_vec(),
        }
    }

    #[test]
    fn a_worker_makes_bytes_of_bytes_or_nothing() {
        let given = vec![65_u8; 1 << 20];
        let made = worker(r"tr A B; printf '\001'").make(&given);
        assert_eq!(made, Ok(vec![66; 1 << 20]));
        for fails in ["cat", "kill -9 $$", "exit 1"] {
            let why = worker(fails).make(&given).expect_err(fails);
            assert!(why.ends_with("has ended early"), "{fails}: {why}");
        }
        let why = worker(r"printf 'why\002'").make(&given);
        assert_eq!(why, Err("why".to_owned()));
        let missing = Worker {
            program: CString::new("/nowhere").expect("it has no NUL"),
            arguments: Vec::new(),
        };
        let why = missing.make(&given).expect_err("it is nowhere");
        assert_eq!(why, "/nowhere, which makes it, cannot be started");
    }

    #[test]
    fn nobody_is_told_of_the_end_of_a_worker() {
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static TOLD: AtomicU32 = AtomicU32::new(0);
        extern "C" fn told(_: i32) {
            TOLD.fetch_add(1, Relaxed);
        }
        // A process of its own: tests have children at the same time.
        let is_right = apart(|| {
            // SAFETY: a handler that counts; this process has no children.
            unsafe {
                libc::signal(libc::SIGCHLD, told as *const () as libc::sighandler_t);
                // As on the thread that makes versions.
                let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
                libc::sigfillset(&mut all);
                libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
                let made = worker(r"printf 'A\001'").make(&[]);
                libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
                let is_known = libc::waitpid(-1, std::ptr::null_mut(), 0) != -1;
                (made == Ok(vec![b'A']) && TOLD.load(Relaxed) == 0 && !is_known).then(Vec::new)
            }
        });
        assert_eq!(is_right, Some(Vec::new()));
    }

    #[test]
    fn bytes_come_back_and_nothing_else() {
        let mut here = 1;
        let there = apart(|| {
            here = 2;
            Some(vec![7; 1 << 20])
        });
        assert_eq!(there, Some(vec![7; 1 << 20]));
        assert_eq!(here, 1);
    }

    #[test]
    fn what_ends_otherwise_gives_nothing() {
        assert_eq!(apart(|| None), None);
        assert_eq!(apart(|| std::process::abort()), None);
    }
}
