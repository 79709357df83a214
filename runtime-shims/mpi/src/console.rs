//! Standard output of regions.
//!
//! Guarantee: what any rank prints before a synchronisation or inside a lock stands before what any
//! rank prints after it. Ranks on rank 0's node write to rank 0's own standard output; the others
//! collect their text in a memory file and hand it to rank 0 at every synchronisation.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::{memory, program};

/// The memory file that stands in for standard output on ranks far from rank 0; -1: none.
static COLLECTED: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    fn __fpending(stream: *mut libc::FILE) -> usize;
}

/// Makes this rank's standard output go to `descriptor`, rank 0's own.
pub(crate) fn use_first_ranks(descriptor: i32) {
    // SAFETY: replaces descriptor 1 by an open one.
    unsafe {
        libc::dup2(descriptor, 1);
        libc::close(descriptor);
    }
}

/// Collects this rank's standard output until the next [`flush`].
pub(crate) fn collect() {
    // SAFETY: a new descriptor put in place of standard output.
    unsafe {
        let file = libc::memfd_create(c"okl-stdout".as_ptr(), libc::MFD_CLOEXEC);
        assert!(file >= 0, "memfd_create: {}", std::io::Error::last_os_error());
        libc::dup2(file, 1);
        COLLECTED.store(file, Relaxed);
    }
}

/// Writes out what the C and C++ libraries hold back, and hands collected text to rank 0.
pub(crate) fn flush() {
    // SAFETY: the C library's own stream; pending text means it is initialised.
    unsafe {
        if __fpending(stdout) > 0 {
            program::private(|| libc::fflush(stdout));
        }
    }
    flush_cpp_stream();
    let file = COLLECTED.load(Relaxed);
    if file >= 0 {
        hand_over(file);
    }
}

/// `std::cout.flush()` where the program uses the C++ library and took `cout` out of step with stdio.
fn flush_cpp_stream() {
    use std::sync::OnceLock;
    type Flush = unsafe extern "C" fn(*mut libc::c_void) -> *mut libc::c_void;
    static STREAM: OnceLock<Option<(usize, Flush)>> = OnceLock::new();
    let found = STREAM.get_or_init(|| {
        program::private(|| {
            // SAFETY: looks up two symbols of libstdc++; the second is `ostream::flush()`.
            unsafe {
                let cout = libc::dlsym(libc::RTLD_DEFAULT, c"_ZSt4cout".as_ptr());
                let flush = libc::dlsym(libc::RTLD_DEFAULT, c"_ZNSo5flushEv".as_ptr());
                (!cout.is_null() && !flush.is_null())
                    .then(|| (cout as usize, std::mem::transmute::<*mut libc::c_void, Flush>(flush)))
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
    unsafe {
        let length = libc::lseek(file, 0, libc::SEEK_END);
        if length <= 0 {
            return;
        }
        let mut text = vec![0u8; length as usize];
        let got = libc::pread(file, text.as_mut_ptr().cast(), text.len(), 0);
        assert_eq!(got, length as isize, "reading collected output: {}", std::io::Error::last_os_error());
        libc::ftruncate(file, 0);
        libc::lseek(file, 0, libc::SEEK_SET);
        memory::coherence(|coherence| coherence.machine.write_to_console(&text));
    }
}

/// Writes all of `text` to `descriptor`, past the C library's buffers.
pub(crate) fn write_all(descriptor: i32, text: &[u8]) {
    let mut rest = text;
    while !rest.is_empty() {
        // SAFETY: a live buffer.
        let written = unsafe { libc::write(descriptor, rest.as_ptr().cast(), rest.len()) };
        if written < 0 {
            if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            return;
        }
        rest = &rest[written as usize..];
    }
}
