//! The process itself: its heap, page faults, system calls and signals.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::Mutex;

use super::*;
use crate::program::{self, State};

/// There is one process.
static ONE: Mutex<()> = Mutex::new(());

/// Runs `body` where the process has the calling thread's device.
fn with_device<R>(body: impl FnOnce() -> R) -> R {
    let _one = ONE.lock().unwrap_or_else(|broken| broken.into_inner());
    let arena = program::make_arena().expect("a heap");
    let device = device();
    program::with(|state| {
        *state = State::Device(Box::new(Offload::new(device, Some(arena), true)))
    });
    program::note_device();
    crate::fault::install();
    let result = body();
    program::with(|state| {
        if let State::Device(offload) = state {
            offload.go_home().unwrap();
        }
        *state = State::Unknown;
    });
    result
}

fn run(kernel: &Described, arguments: &[u64]) {
    program::with(|state| match state {
        State::Device(offload) => launch(offload, kernel, arguments).unwrap(),
        _ => panic!("no device"),
    });
}

fn moved() -> Moved {
    program::with(|state| match state {
        State::Device(offload) => offload.cost(0).moved,
        _ => panic!("no device"),
    })
}

/// Memory of `malloc`'s; the program's own name of it.
fn allocated(count: usize) -> &'static mut [f64] {
    // SAFETY: a block of so many numbers, all of which are zero.
    unsafe {
        let block = libc::calloc(count, 8).cast::<f64>();
        block.expose_provenance();
        std::slice::from_raw_parts_mut(block, count)
    }
}

fn free(block: &'static mut [f64]) {
    // SAFETY: of `allocated`.
    unsafe { libc::free(block.as_mut_ptr().cast()) };
}

fn address(block: &[f64]) -> u64 {
    block.as_ptr().expose_provenance() as u64
}

#[test]
fn a_program_that_knows_nothing_of_devices_finds_what_kernels_wrote() {
    with_device(|| {
        const PAGE: u64 = 4096;
        let twice = with_twice();
        let count = 100 * 512;
        let (x, y) = (allocated(count), allocated(count));
        for (at, one) in x.iter_mut().enumerate() {
            *one = at as f64;
        }
        run(&twice, &[count as u64, address(x), address(y)]);
        assert_eq!(
            moved(),
            Moved {
                up: 200 * PAGE,
                down: 0
            }
        );
        // Read in the middle: 16 pages, and then what follows.
        assert_eq!(std::hint::black_box(&*y)[20 * 512], 2.0 * 20.0 * 512.0);
        assert_eq!(moved().down, 16 * PAGE);
        for (at, one) in std::hint::black_box(&*y).iter().enumerate() {
            assert_eq!(*one, 2.0 * at as f64);
        }
        assert_eq!(
            moved(),
            Moved {
                up: 200 * PAGE,
                down: 100 * PAGE
            }
        );
        // What is written goes to the device, and nothing else.
        std::hint::black_box(&mut *x)[50 * 512 + 3] = 1.0;
        run(&twice, &[count as u64, address(x), address(y)]);
        assert_eq!(
            moved(),
            Moved {
                up: 201 * PAGE,
                down: 100 * PAGE
            }
        );
        assert_eq!(std::hint::black_box(&*y)[50 * 512 + 3], 2.0);
        // Written where the device alone has it.
        run(&twice, &[count as u64, address(x), address(y)]);
        std::hint::black_box(&mut *y)[0] = 7.0;
        run(&twice, &[512, address(y), address(x)]);
        assert_eq!(std::hint::black_box(&*x)[..2], [14.0, 4.0]);
        free(x);
        free(y);
        // The same addresses, with nothing of what was there.
        let z = allocated(count);
        assert!(z.iter().all(|one| *one == 0.0));
        free(z);
    });
}

#[test]
fn blocks_grow_and_shrink_with_what_the_device_has() {
    with_device(|| {
        let twice = with_twice();
        let count = 20_000;
        let x = allocated(count);
        x.fill(3.0);
        run(&twice, &[count as u64, address(x), address(x)]);
        // SAFETY: a block of `malloc`'s.
        unsafe {
            let larger = libc::realloc(x.as_mut_ptr().cast(), 8 * 50_000).cast::<f64>();
            assert!((0..count).all(|at| *larger.add(at) == 6.0));
            let smaller = libc::realloc(larger.cast(), 800).cast::<f64>();
            assert!((0..100).all(|at| *smaller.add(at) == 6.0));
            let large = libc::realloc(smaller.cast(), 1 << 20).cast::<f64>();
            assert!((0..100).all(|at| *large.add(at) == 6.0));
            assert!(program::arena_of(large.addr()).is_some());
            let mut aligned = ptr::null_mut();
            assert_eq!(libc::posix_memalign(&mut aligned, 1 << 16, 100_000), 0);
            assert!(
                aligned.addr().is_multiple_of(1 << 16)
                    && program::arena_of(aligned.addr()).is_some()
            );
            libc::free(aligned);
            libc::free(large.cast());
        }
    });
}

#[test]
fn system_calls_find_their_memory_open() {
    with_device(|| {
        let twice = with_twice();
        let count = 20_000;
        let (x, y) = (allocated(count), allocated(count));
        x.fill(4.0);
        let mut file = tempfile();
        // From memory that the device alone has.
        run(&twice, &[count as u64, address(x), address(y)]);
        let bytes = 8 * count;
        // SAFETY: blocks with so many bytes.
        unsafe {
            let written = libc::write(file.as_raw_fd(), y.as_ptr().cast(), bytes);
            assert_eq!(written, bytes as isize);
            // Into memory that the device alone has, and into such that both have.
            run(&twice, &[count as u64, address(x), address(y)]);
            for _ in 0..2 {
                let read = libc::pread(file.as_raw_fd(), y.as_mut_ptr().cast(), bytes, 0);
                assert_eq!(read, bytes as isize);
                run(&twice, &[count as u64, address(y), address(x)]);
            }
            assert_eq!(std::hint::black_box(&*x)[count - 1], 16.0);
            let pieces = [libc::iovec {
                iov_base: x.as_mut_ptr().cast(),
                iov_len: bytes,
            }];
            run(&twice, &[count as u64, address(y), address(x)]);
            assert_eq!(
                libc::pwritev(file.as_raw_fd(), pieces.as_ptr(), 1, 0),
                bytes as isize
            );
        }
        file.flush().unwrap();
        free(x);
        free(y);
    });
}

fn tempfile() -> std::fs::File {
    // SAFETY: a new file.
    unsafe {
        let file = libc::memfd_create(c"test".as_ptr(), 0);
        std::os::fd::FromRawFd::from_raw_fd(file)
    }
}

#[test]
fn threads_that_fault_at_the_same_time_see_one_memory() {
    with_device(|| {
        let twice = with_twice();
        let count = 64 * 512;
        let x = allocated(count);
        for round in 0..20 {
            x.fill(f64::from(round));
            run(&twice, &[count as u64, address(x), address(x)]);
            let driver = fake::mine();
            std::thread::scope(|scope| {
                for part in x.chunks_mut(count / 4) {
                    let driver = &driver;
                    scope.spawn(move || {
                        fake::share(driver);
                        assert!(part.iter().all(|one| *one == 2.0 * f64::from(round)));
                        part.iter_mut().for_each(|one| *one += 1.0);
                    });
                }
            });
            assert!(x.iter().all(|one| *one == 2.0 * f64::from(round) + 1.0));
        }
        free(x);
    });
}

#[test]
fn a_process_that_is_forked_has_its_own_memory() {
    with_device(|| {
        let twice = with_twice();
        let count = 20_000;
        let x = allocated(count);
        x.fill(1.0);
        run(&twice, &[count as u64, address(x), address(x)]);
        // SAFETY: the child does nothing but access memory, and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let is_right = x.iter().all(|one| *one == 2.0);
                x.fill(5.0);
                let block = libc::malloc(100_000);
                block.cast::<u8>().write_bytes(1, 100_000);
                libc::_exit(if is_right && x[7] == 5.0 { 0 } else { 1 });
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
        assert!(x.iter().all(|one| *one == 2.0));
        run(&twice, &[count as u64, address(x), address(x)]);
        assert!(x.iter().all(|one| *one == 4.0));
        free(x);
    });
}

#[test]
fn faults_of_the_program_are_the_program_s() {
    static SEEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    unsafe extern "C" fn handler(_: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: what the system passes; the page is the test's.
        unsafe {
            let address = (*info).si_addr();
            SEEN.store(address.addr(), std::sync::atomic::Ordering::Relaxed);
            libc::mprotect(
                ptr::without_provenance_mut(address.addr() & !4095),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
            );
        }
    }
    with_device(|| {
        let twice = with_twice();
        let x = allocated(20_000);
        // SAFETY: structures of the test, and a page of its own.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGSEGV, &action, &mut old);
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut set);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, ptr::null_mut());
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page =
                libc::mmap(ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0).cast::<u8>();
            page.write_volatile(3);
            assert_eq!(SEEN.load(std::sync::atomic::Ordering::Relaxed), page.addr());
            // Ours are served as before.
            run(&twice, &[20_000, address(x), address(x)]);
            assert_eq!(std::hint::black_box(&*x)[5], 0.0);
            assert_eq!(SEEN.load(std::sync::atomic::Ordering::Relaxed), page.addr());
            let mut kept: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGSEGV, &old, &mut kept);
            assert_eq!(kept.sa_sigaction, handler as *const () as usize);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        }
        free(x);
    });
}
