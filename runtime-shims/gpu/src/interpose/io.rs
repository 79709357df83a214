//! Functions whose arguments enter the system, which does not fault on a protected page, but fails with `EFAULT`.
//!
//! Guarantee: where the program passes memory of the heap to one of these, the bytes that are read are there, and those that
//! may be written can be, before the call. Where another thread's kernel takes them away in between, it is asked again.
//!
//! Each line is a C function of the same name and signature; pointers and sizes are `usize`, which the calling convention does
//! not tell apart.

use std::ffi::c_void;
use std::mem;

use crate::next::Next;
use crate::program;

/// So often the system is asked, where kernels take pages away meanwhile.
const MOST_ATTEMPTS: u32 = 1000;

macro_rules! interpose {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty { $($before:tt)* })*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> $ret {
            static NEXT: Next = {
                let name = concat!(stringify!($name), "\0").as_bytes();
                match std::ffi::CStr::from_bytes_with_nul(name) {
                    Ok(name) => Next::new(name),
                    Err(_) => panic!("one zero"),
                }
            };
            // SAFETY: the C library's function of this name has this signature.
            let next = unsafe {
                mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $ret>(NEXT.address())
            };
            let mut attempts = 1;
            loop {
                $($before)*
                // SAFETY: what the caller promises is what this function demands.
                let result = unsafe { next($($arg),*) };
                if attempts == MOST_ATTEMPTS || !met_closed_page(result as i64) {
                    return result;
                }
                attempts += 1;
            }
        }
    )*};
}

fn met_closed_page(result: i64) -> bool {
    result == -1
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
        && program::has_device()
}

/// The system writes `length` bytes at `address`.
fn fill(address: usize, length: usize) {
    program::touch_all(address..address.saturating_add(length), true);
}

/// The system reads `length` bytes at `address`.
fn take(address: usize, length: usize) {
    program::touch_all(address..address.saturating_add(length), false);
}

/// The system reads, or with `write` writes, the buffers of `count` `iovec`s.
fn vectors(list: usize, count: i32, write: bool) {
    // The system refuses longer ones.
    let count = usize::try_from(count).unwrap_or(0).min(1024);
    if list == 0 || count == 0 || !program::has_device() {
        return;
    }
    take(list, count * size_of::<libc::iovec>());
    let list = std::ptr::with_exposed_provenance::<libc::iovec>(list);
    // SAFETY: callers pass what `readv` takes.
    for vector in unsafe { std::slice::from_raw_parts(list, count) } {
        let at = if write { fill } else { take };
        at(vector.iov_base.addr(), vector.iov_len);
    }
}

/// The system uses a `msghdr`, as `recvmsg` (with `write`) and `sendmsg` do.
fn message(header: usize, write: bool) {
    if header == 0 || !program::has_device() {
        return;
    }
    take(header, size_of::<libc::msghdr>());
    // SAFETY: callers pass what `recvmsg` takes.
    let header = unsafe { &*std::ptr::with_exposed_provenance::<libc::msghdr>(header) };
    vectors(
        header.msg_iov.addr(),
        i32::try_from(header.msg_iovlen).unwrap_or(i32::MAX),
        write,
    );
}

interpose! {
    fn read(file: i32, to: usize, length: usize) -> isize { fill(to, length); }
    fn __read_chk(file: i32, to: usize, length: usize, room: usize) -> isize { fill(to, length); }
    fn pread(file: i32, to: usize, length: usize, at: i64) -> isize { fill(to, length); }
    fn pread64(file: i32, to: usize, length: usize, at: i64) -> isize { fill(to, length); }
    fn __pread_chk(file: i32, to: usize, length: usize, at: i64, room: usize) -> isize { fill(to, length); }
    fn __pread64_chk(file: i32, to: usize, length: usize, at: i64, room: usize) -> isize { fill(to, length); }
    fn readv(file: i32, list: usize, count: i32) -> isize { vectors(list, count, true); }
    fn preadv(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, true); }
    fn preadv2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, true); }
    fn preadv64(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, true); }
    fn write(file: i32, from: usize, length: usize) -> isize { take(from, length); }
    fn pwrite(file: i32, from: usize, length: usize, at: i64) -> isize { take(from, length); }
    fn pwrite64(file: i32, from: usize, length: usize, at: i64) -> isize { take(from, length); }
    fn writev(file: i32, list: usize, count: i32) -> isize { vectors(list, count, false); }
    fn pwritev(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, false); }
    fn pwritev2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, false); }
    fn pwritev64(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, false); }
    fn recv(socket: i32, to: usize, length: usize, flags: i32) -> isize { fill(to, length); }
    fn __recv_chk(socket: i32, to: usize, length: usize, room: usize, flags: i32) -> isize { fill(to, length); }
    fn recvfrom(socket: i32, to: usize, length: usize, flags: i32, from: usize, from_length: usize) -> isize {
        fill(to, length);
    }
    fn recvmsg(socket: i32, header: usize, flags: i32) -> isize { message(header, true); }
    fn send(socket: i32, from: usize, length: usize, flags: i32) -> isize { take(from, length); }
    fn sendto(socket: i32, from: usize, length: usize, flags: i32, to: usize, to_length: u32) -> isize {
        take(from, length);
    }
    fn sendmsg(socket: i32, header: usize, flags: i32) -> isize { message(header, false); }
    fn getrandom(to: usize, length: usize, flags: u32) -> isize { fill(to, length); }

    // Long pieces go past the stream's buffer.
    fn fread(to: usize, size: usize, count: usize, stream: usize) -> usize { fill(to, size.saturating_mul(count)); }
    fn fread_unlocked(to: usize, size: usize, count: usize, stream: usize) -> usize { fill(to, size.saturating_mul(count)); }
    fn __fread_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> usize {
        fill(to, size.saturating_mul(count).min(room));
    }
    fn __fread_unlocked_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> usize {
        fill(to, size.saturating_mul(count).min(room));
    }
    fn fwrite(from: usize, size: usize, count: usize, stream: usize) -> usize { take(from, size.saturating_mul(count)); }
    fn fwrite_unlocked(from: usize, size: usize, count: usize, stream: usize) -> usize { take(from, size.saturating_mul(count)); }
}
