//! Functions whose arguments enter the kernel.
//!
//! Guarantee: where program code passes shared memory to one of these, exactly the bytes the kernel reads
//! are present and those it may write are writable, before the call. The kernel would not fault on a
//! protected page, but fail with `EFAULT`. Where another thread of the rank closes one in between, it is asked again.
//!
//! Each line of the table is a C function of the same name and signature; pointers and sizes are `usize`,
//! which the calling convention does not tell apart. The statements say what the kernel does with the
//! arguments; then comes the call of the real function. With `#[private]`, what the function itself
//! allocates is private to the process: the kernel writes into it, or library state that all threads use
//! refers to it. With `#[copied]`, so is the text it returns, and the program gets a copy.

use std::{
    cell::Cell,
    ffi::{c_char, c_void},
    mem,
};

use super::{
    allocation::{copy_for_program, errno},
    text_length,
};
use crate::{console, files, layout, memory, next::Next, program, region, scopes, turns};

macro_rules! interpose {
    ($($(#[$scope:ident])? fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty { $($before:tt)* })*) => {
        /// The real functions.
        #[allow(non_upper_case_globals, reason = "named as the functions are")]
        mod next {
            use super::Next;
            $(pub(super) static $name: Next = Next::new(concat!(stringify!($name), "\0"));)*
        }

        /// Looks up the real functions.
        pub(super) fn resolve() {
            $(next::$name.find();)*
        }

        $(
            #[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
            unsafe extern "C" fn $name($($arg: $type),*) -> $ret {
                let mut attempts = 1;
                loop {
                    let lent_before = LENT.get();
                    $($before)*
                    // SAFETY: the C library's function of this name has this signature. (A variadic one takes
                    // its arguments in the same registers.)
                    let next = unsafe {
                        mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $ret>(next::$name.address())
                    };
                    // SAFETY: what the caller promises is what this function demands.
                    let call = || unsafe { next($($arg),*) };
                    let result = scoped!($($scope)? call, [$($arg as usize),*]);
                    kernel_is_done(lent_before);
                    if attempts == MOST_ATTEMPTS || !has_met_closed_page(&result) {
                        return result;
                    }
                    attempts += 1;
                }
            }
        )*
    };
}

/// So often the kernel is asked, where other threads close pages meanwhile.
const MOST_ATTEMPTS: u32 = 1000;

/// What a system call returns.
trait Outcome {
    fn is_failure(&self) -> bool;
}

macro_rules! outcome {
    ($($type:ty: $fails:expr;)*) => {
        $(impl Outcome for $type {
            fn is_failure(&self) -> bool {
                let fails: fn(&$type) -> bool = $fails;
                fails(self)
            }
        })*
    };
}

outcome! {
    i32: |status| *status == -1;
    isize: |length| *length == -1;
    i64: |_| false;
    usize: |_| false;
    (): |_| false;
}

/// Whether the kernel met a page that another thread of the rank may have closed.
fn has_met_closed_page(result: &impl Outcome) -> bool {
    result.is_failure()
        && errno() == libc::EFAULT
        && turns::are_several()
        && program::allocates_shared()
}

/// A private copy of what goes to a stream, where other threads may close its pages meanwhile: what the stream has
/// written of it already cannot be asked for.
fn copied(from: usize, length: usize) -> Option<Vec<u8>> {
    let is_in_danger = turns::are_several() && length > 0 && is_programs(from);
    // SAFETY: callers pass what `fwrite` takes.
    is_in_danger.then(|| unsafe { std::slice::from_raw_parts(from as *const u8, length) }.to_vec())
}

/// Calls the real function in its scope.
macro_rules! scoped {
    ($call:ident, $args:expr) => {
        $call()
    };
    (private $call:ident, $args:expr) => {
        in_private($call)
    };
    (copied $call:ident, $args:expr) => {{
        let text = in_private($call);
        // The result is the caller's own buffer where there is one.
        if text == 0 || $args.contains(&text) {
            text
        } else {
            copy_for_program(text)
        }
    }};
}

/// Calls `body`, whose allocations are private. A foreign thread's are anyway.
fn in_private<R>(body: impl FnOnce() -> R) -> R {
    if program::allocates_shared() {
        scopes::private(body)
    } else {
        body()
    }
}

thread_local! {
    /// How much the kernel uses that the calling thread has lent it.
    static LENT: Cell<u32> = const { Cell::new(0) };
}

/// What the calling thread makes present for the kernel stays so until [`kernel_is_done`].
#[inline]
fn lend() {
    // Otherwise nothing happens meanwhile.
    if turns::are_several() {
        LENT.set(LENT.get() + 1);
        memory::lend_to_kernel();
    }
}

/// A call has ended before which the calling thread had lent the kernel so much.
#[inline]
fn kernel_is_done(lent_before: u32) {
    let lent = LENT.replace(lent_before) - lent_before;
    if lent != 0 {
        memory::take_back_from_kernel(lent);
    }
}

/// The kernel writes `length` bytes at `address`.
#[inline]
fn fill(address: usize, length: usize) {
    if program::allocates_shared() {
        lend();
        memory::touch(address, length.min(usize::MAX - address), true);
    }
}

/// The kernel reads `length` bytes at `address`.
#[inline]
fn take(address: usize, length: usize) {
    if program::allocates_shared() {
        lend();
        memory::touch(address, length.min(usize::MAX - address), false);
    }
}

/// More than so many bytes serial code writes in pieces of that size.
const PIECE: usize = 32 << 20;

/// What serial code writes at once may be more than this rank can hold, of what other ranks have: calls `write` with place
/// and length of one piece after the other, for each of which room is made. How much was written, as `write` says it;
/// `None`: that is done at once. (Where ranks write at the same time what one writes must stay in one piece.)
fn in_pieces(from: usize, length: usize, write: impl Fn(usize, usize) -> isize) -> Option<isize> {
    if length == 0 || !is_programs(from) {
        return None;
    }
    if length <= PIECE || region::is_distributed() {
        memory::make_room_for(from, length.min(PIECE));
        return None;
    }
    let mut at = 0;
    while at < length {
        let piece = PIECE.min(length - at);
        memory::make_room_for(from + at, piece);
        let written = write(at, piece);
        if written < 0 && at == 0 {
            return Some(written);
        }
        at += usize::try_from(written).unwrap_or(0);
        if written != piece as isize {
            break;
        }
    }
    Some(at as isize)
}

/// Runs `body`, which may write `length` bytes in pieces, while no other thread writes to the stream.
fn on_stream<R>(stream: usize, length: usize, body: impl FnOnce() -> R) -> R {
    unsafe extern "C" {
        fn flockfile(stream: usize);
        fn funlockfile(stream: usize);
    }
    if length <= PIECE {
        return body();
    }
    // SAFETY: the caller's stream.
    unsafe { flockfile(stream) };
    let result = body();
    // SAFETY: as above; this thread has locked it.
    unsafe { funlockfile(stream) };
    result
}

/// The kernel writes a `T`, or what the program has room for if that is less.
fn fill_value<T>(address: usize) {
    fill(address, size_of::<T>());
}

/// The kernel reads a `T`.
fn take_value<T>(address: usize) {
    take(address, size_of::<T>());
}

/// The kernel reads a text.
fn text(address: usize) {
    if is_programs(address) {
        take(address, text_length(address));
    }
}

/// The kernel reads a list of texts that ends with null.
fn texts(mut list: usize) {
    if list == 0 || !program::allocates_shared() {
        return;
    }
    loop {
        take_value::<usize>(list);
        // SAFETY: callers pass what `execve` takes, whose entries up to a null are readable.
        let entry = unsafe { *(list as *const usize) };
        if entry == 0 {
            return;
        }
        text(entry);
        list += size_of::<usize>();
    }
}

/// The kernel reads the environment, which may hold texts that the program made.
fn environment() {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the program thread's own variable.
    texts(unsafe { environ } as usize);
}

/// The kernel reads, or with `write` writes, the buffers of `count` `iovec`s.
fn vectors(list: usize, count: i32, write: bool) {
    // The kernel refuses longer ones.
    let count = usize::try_from(count).unwrap_or(0).min(1024);
    if list == 0 || count == 0 || !program::allocates_shared() {
        return;
    }
    take(list, count * size_of::<libc::iovec>());
    // SAFETY: callers pass what `readv` takes.
    for vector in unsafe { std::slice::from_raw_parts(list as *const libc::iovec, count) } {
        let at = if write { fill } else { take };
        at(vector.iov_base as usize, vector.iov_len);
    }
}

/// The kernel uses a `msghdr`, as `recvmsg` (with `write`) and `sendmsg` do.
fn message(address: usize, write: bool) {
    if address == 0 || !program::allocates_shared() {
        return;
    }
    let at = if write { fill } else { take };
    at(address, size_of::<libc::msghdr>());
    // SAFETY: callers pass what `recvmsg` takes.
    let header = unsafe { &*(address as *const libc::msghdr) };
    at(header.msg_name as usize, header.msg_namelen as usize);
    at(header.msg_control as usize, header.msg_controllen);
    vectors(header.msg_iov as usize, header.msg_iovlen as i32, write);
}

/// The kernel writes a socket address or option, and its length.
fn fill_sized(address: usize, length: usize) {
    fill_value::<libc::socklen_t>(length);
    if length != 0 && is_programs(address) {
        // SAFETY: callers pass what `accept` takes.
        fill(address, unsafe { *(length as *const libc::socklen_t) }
            as usize);
    }
}

/// The kernel updates three sets of `count` bits.
fn sets(count: i32, sets: [usize; 3]) {
    let bytes = usize::try_from(count).unwrap_or(0).div_ceil(64) * 8;
    for set in sets {
        fill(set, bytes);
    }
}

/// The pointer argument of `fcntl`, where the command has one.
fn lock(command: i32, argument: usize) {
    if matches!(
        command,
        libc::F_GETLK | libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_GETLK..=libc::F_OFD_SETLKW
    ) {
        fill_value::<libc::flock>(argument);
    }
}

/// Whether this is program code with shared memory at `address`.
fn is_programs(address: usize) -> bool {
    program::allocates_shared()
        && layout::get().is_some_and(|layout| layout.page_of(address).is_some())
}

type Set = libc::sigset_t;
type Time = libc::timespec;

interpose! {
    // Descriptors.
    fn read(file: i32, to: usize, length: usize) -> isize { fill(to, length); }
    fn __read_chk(file: i32, to: usize, length: usize, room: usize) -> isize { fill(to, length); }
    fn pread(file: i32, to: usize, length: usize, at: i64) -> isize { fill(to, length); }
    fn pread64(file: i32, to: usize, length: usize, at: i64) -> isize { fill(to, length); }
    fn __pread_chk(file: i32, to: usize, length: usize, at: i64, room: usize) -> isize { fill(to, length); }
    fn __pread64_chk(file: i32, to: usize, length: usize, at: i64, room: usize) -> isize { fill(to, length); }
    fn readv(file: i32, list: usize, count: i32) -> isize { vectors(list, count, true); }
    fn preadv(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, true); }
    fn preadv64(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, true); }
    fn preadv2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, true); }
    fn preadv64v2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, true); }
    fn write(file: i32, from: usize, length: usize) -> isize {
        // SAFETY: parts of what the caller promises.
        let piece = |at, length| unsafe { write(file, from + at, length) };
        if let Some(written) = in_pieces(from, length, piece) { return written; }
        take(from, length);
    }
    fn pwrite(file: i32, from: usize, length: usize, at: i64) -> isize {
        // SAFETY: parts of what the caller promises.
        let piece = |behind, length| unsafe { pwrite(file, from + behind, length, at + behind as i64) };
        if let Some(written) = in_pieces(from, length, piece) { return written; }
        take(from, length);
    }
    fn pwrite64(file: i32, from: usize, length: usize, at: i64) -> isize {
        // SAFETY: parts of what the caller promises.
        let piece = |behind, length| unsafe { pwrite64(file, from + behind, length, at + behind as i64) };
        if let Some(written) = in_pieces(from, length, piece) { return written; }
        take(from, length);
    }
    fn writev(file: i32, list: usize, count: i32) -> isize { vectors(list, count, false); }
    fn pwritev(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, false); }
    fn pwritev64(file: i32, list: usize, count: i32, at: i64) -> isize { vectors(list, count, false); }
    fn pwritev2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, false); }
    fn pwritev64v2(file: i32, list: usize, count: i32, at: i64, flags: i32) -> isize { vectors(list, count, false); }
    fn getdents64(file: i32, to: usize, length: usize) -> isize { fill(to, length); }
    fn ioctl(file: i32, request: u64, argument: usize) -> i32 { fill(argument, okl_coherence::PAGE); }
    fn fcntl(file: i32, command: i32, argument: usize) -> i32 { lock(command, argument); }
    fn fcntl64(file: i32, command: i32, argument: usize) -> i32 { lock(command, argument); }
    fn sendfile(to: i32, from: i32, at: usize, length: usize) -> isize { fill_value::<i64>(at); }
    fn sendfile64(to: i32, from: i32, at: usize, length: usize) -> isize { fill_value::<i64>(at); }
    fn copy_file_range(from: i32, at: usize, to: i32, to_at: usize, length: usize, flags: u32) -> isize {
        fill_value::<i64>(at);
        fill_value::<i64>(to_at);
    }
    fn pipe(ends: usize) -> i32 { fill_value::<[i32; 2]>(ends); }
    fn pipe2(ends: usize, flags: i32) -> i32 { fill_value::<[i32; 2]>(ends); }
    fn poll(list: usize, count: u64, timeout: i32) -> i32 { fill(list, count as usize * size_of::<libc::pollfd>()); }
    fn __poll_chk(list: usize, count: u64, timeout: i32, room: usize) -> i32 {
        fill(list, count as usize * size_of::<libc::pollfd>());
    }
    fn ppoll(list: usize, count: u64, timeout: usize, mask: usize) -> i32 {
        fill(list, count as usize * size_of::<libc::pollfd>());
        take_value::<Set>(mask);
    }
    fn select(count: i32, read: usize, write: usize, except: usize, timeout: usize) -> i32 {
        sets(count, [read, write, except]);
        fill_value::<libc::timeval>(timeout);
    }
    fn pselect(count: i32, read: usize, write: usize, except: usize, timeout: usize, mask: usize) -> i32 {
        sets(count, [read, write, except]);
        take_value::<Time>(timeout);
        take_value::<Set>(mask);
    }
    fn epoll_ctl(epoll: i32, operation: i32, file: i32, event: usize) -> i32 { take_value::<libc::epoll_event>(event); }
    fn epoll_wait(epoll: i32, events: usize, count: i32, timeout: i32) -> i32 {
        fill(events, count.max(0) as usize * size_of::<libc::epoll_event>());
    }

    // Sockets.
    fn recv(socket: i32, to: usize, length: usize, flags: i32) -> isize { fill(to, length); }
    fn __recv_chk(socket: i32, to: usize, length: usize, room: usize, flags: i32) -> isize { fill(to, length); }
    fn recvfrom(socket: i32, to: usize, length: usize, flags: i32, from: usize, from_length: usize) -> isize {
        fill(to, length);
        fill_sized(from, from_length);
    }
    fn recvmsg(socket: i32, header: usize, flags: i32) -> isize { message(header, true); }
    fn send(socket: i32, from: usize, length: usize, flags: i32) -> isize { take(from, length); }
    fn sendto(socket: i32, from: usize, length: usize, flags: i32, to: usize, to_length: u32) -> isize {
        take(from, length);
        take(to, to_length as usize);
    }
    fn sendmsg(socket: i32, header: usize, flags: i32) -> isize { message(header, false); }
    fn bind(socket: i32, address: usize, length: u32) -> i32 { take(address, length as usize); }
    fn connect(socket: i32, address: usize, length: u32) -> i32 { take(address, length as usize); }
    fn accept(socket: i32, address: usize, length: usize) -> i32 { fill_sized(address, length); }
    fn accept4(socket: i32, address: usize, length: usize, flags: i32) -> i32 { fill_sized(address, length); }
    fn getsockname(socket: i32, address: usize, length: usize) -> i32 { fill_sized(address, length); }
    fn getpeername(socket: i32, address: usize, length: usize) -> i32 { fill_sized(address, length); }
    fn getsockopt(socket: i32, level: i32, option: i32, value: usize, length: usize) -> i32 { fill_sized(value, length); }
    fn setsockopt(socket: i32, level: i32, option: i32, value: usize, length: u32) -> i32 { take(value, length as usize); }
    fn socketpair(domain: i32, kind: i32, protocol: i32, ends: usize) -> i32 { fill_value::<[i32; 2]>(ends); }
    #[private] fn getaddrinfo(node: usize, service: usize, hints: usize, result: usize) -> i32 {}
    #[private] fn getnameinfo(address: usize, length: u32, host: usize, hl: u32, service: usize, sl: u32, flags: i32) -> i32 {}
    #[private] fn gethostbyname(name: usize) -> usize {}
    #[private] fn gethostbyaddr(address: usize, length: u32, kind: i32) -> usize {}

    // Streams. Long pieces go past the stream's buffer, which is private.
    fn fread(to: usize, size: usize, count: usize, stream: usize) -> usize { fill(to, size.saturating_mul(count)); }
    fn fread_unlocked(to: usize, size: usize, count: usize, stream: usize) -> usize { fill(to, size.saturating_mul(count)); }
    fn __fread_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> usize {
        fill(to, size.saturating_mul(count).min(room));
    }
    fn __fread_unlocked_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> usize {
        fill(to, size.saturating_mul(count).min(room));
    }
    fn fwrite(from: usize, size: usize, count: usize, stream: usize) -> usize {
        let length = size.saturating_mul(count);
        // SAFETY: parts of what the caller promises.
        let piece = |at: usize, length| unsafe { fwrite(from + at, 1, length, stream) };
        let written = on_stream(stream, length, || in_pieces(from, length, |at, length| piece(at, length) as isize));
        if let Some(written) = written {
            return written as usize / size;
        }
        take(from, length);
        let copy = copied(from, size.saturating_mul(count));
        let from = copy.as_ref().map_or(from, |copy| copy.as_ptr() as usize);
        let stream = files::stream(stream);
    }
    fn fwrite_unlocked(from: usize, size: usize, count: usize, stream: usize) -> usize {
        let length = size.saturating_mul(count);
        // SAFETY: parts of what the caller promises.
        let piece = |at: usize, length| unsafe { fwrite_unlocked(from + at, 1, length, stream) };
        let written = on_stream(stream, length, || in_pieces(from, length, |at, length| piece(at, length) as isize));
        if let Some(written) = written {
            return written as usize / size;
        }
        take(from, size.saturating_mul(count));
        let copy = copied(from, size.saturating_mul(count));
        let from = copy.as_ref().map_or(from, |copy| copy.as_ptr() as usize);
        let stream = files::stream(stream);
    }
    fn fputs(text: usize, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn fputs_unlocked(text: usize, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn fputc(byte: i32, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn fputc_unlocked(byte: i32, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn putc(byte: i32, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn putc_unlocked(byte: i32, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn _IO_putc(byte: i32, stream: usize) -> i32 { let stream = files::stream(stream); }
    fn vfprintf(stream: usize, format: usize, list: usize) -> i32 { let stream = files::stream(stream); }
    fn __vfprintf_chk(stream: usize, flag: i32, format: usize, list: usize) -> i32 { let stream = files::stream(stream); }
    fn fflush(stream: usize) -> i32 {
        if let Some(status) = files::flush_elsewhere(stream) { return status; }
    }
    fn fflush_unlocked(stream: usize) -> i32 {
        if let Some(status) = files::flush_elsewhere(stream) { return status; }
    }
    // A buffer in shared memory is not used: C leaves open whether it is, and the kernel would write there.
    fn setvbuf(stream: usize, buffer: usize, mode: i32, length: usize) -> i32 {
        let buffer = if is_programs(buffer) { 0 } else { buffer };
    }
    fn setbuf(stream: usize, buffer: usize) -> () {
        if is_programs(buffer) { return default_buffer(stream); }
    }
    fn setbuffer(stream: usize, buffer: usize, length: usize) -> () {
        if is_programs(buffer) { return default_buffer(stream); }
    }
    #[private] fn fopen(path: usize, mode: usize) -> usize { text(path); }
    #[private] fn fopen64(path: usize, mode: usize) -> usize { text(path); }
    #[private] fn fdopen(file: i32, mode: usize) -> usize {}
    #[private] fn freopen(path: usize, mode: usize, stream: usize) -> usize { text(path); console::may_move(); }
    #[private] fn freopen64(path: usize, mode: usize, stream: usize) -> usize { text(path); console::may_move(); }
    fn dup2(from: i32, to: i32) -> i32 { if to == 1 { console::may_move(); } }
    fn dup3(from: i32, to: i32, flags: i32) -> i32 { if to == 1 { console::may_move(); } }
    #[private] fn tmpfile() -> usize {}
    #[private] fn tmpfile64() -> usize {}
    #[private] fn popen(command: usize, mode: usize) -> usize { text(command); environment(); }

    // Paths.
    fn open(path: usize, flags: i32, mode: u32) -> i32 { text(path); }
    fn open64(path: usize, flags: i32, mode: u32) -> i32 { text(path); }
    fn __open_2(path: usize, flags: i32) -> i32 { text(path); }
    fn __open64_2(path: usize, flags: i32) -> i32 { text(path); }
    fn openat(directory: i32, path: usize, flags: i32, mode: u32) -> i32 { text(path); }
    fn openat64(directory: i32, path: usize, flags: i32, mode: u32) -> i32 { text(path); }
    fn __openat_2(directory: i32, path: usize, flags: i32) -> i32 { text(path); }
    fn __openat64_2(directory: i32, path: usize, flags: i32) -> i32 { text(path); }
    fn creat(path: usize, mode: u32) -> i32 { text(path); }
    fn creat64(path: usize, mode: u32) -> i32 { text(path); }
    fn opendir(path: usize) -> usize { text(path); }
    fn scandir(path: usize, names: usize, select: usize, compare: usize) -> i32 { text(path); }
    fn scandir64(path: usize, names: usize, select: usize, compare: usize) -> i32 { text(path); }
    fn stat(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn stat64(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn lstat(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn lstat64(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn fstat(file: i32, to: usize) -> i32 { fill_value::<libc::stat>(to); }
    fn fstat64(file: i32, to: usize) -> i32 { fill_value::<libc::stat>(to); }
    fn fstatat(file: i32, path: usize, to: usize, flags: i32) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn fstatat64(file: i32, path: usize, to: usize, flags: i32) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn __xstat(version: i32, path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn __xstat64(version: i32, path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn __lxstat(version: i32, path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn __lxstat64(version: i32, path: usize, to: usize) -> i32 { text(path); fill_value::<libc::stat>(to); }
    fn __fxstat(version: i32, file: i32, to: usize) -> i32 { fill_value::<libc::stat>(to); }
    fn __fxstat64(version: i32, file: i32, to: usize) -> i32 { fill_value::<libc::stat>(to); }
    fn statx(file: i32, path: usize, flags: i32, mask: u32, to: usize) -> i32 { text(path); fill_value::<libc::statx>(to); }
    fn statfs(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::statfs>(to); }
    fn statfs64(path: usize, to: usize) -> i32 { text(path); fill_value::<libc::statfs>(to); }
    fn fstatfs(file: i32, to: usize) -> i32 { fill_value::<libc::statfs>(to); }
    fn fstatfs64(file: i32, to: usize) -> i32 { fill_value::<libc::statfs>(to); }
    fn statvfs(path: usize, to: usize) -> i32 { text(path); }
    fn statvfs64(path: usize, to: usize) -> i32 { text(path); }
    fn access(path: usize, mode: i32) -> i32 { text(path); }
    fn eaccess(path: usize, mode: i32) -> i32 { text(path); }
    fn faccessat(directory: i32, path: usize, mode: i32, flags: i32) -> i32 { text(path); }
    fn chmod(path: usize, mode: u32) -> i32 { text(path); }
    fn fchmodat(directory: i32, path: usize, mode: u32, flags: i32) -> i32 { text(path); }
    fn chown(path: usize, owner: u32, group: u32) -> i32 { text(path); }
    fn lchown(path: usize, owner: u32, group: u32) -> i32 { text(path); }
    fn fchownat(directory: i32, path: usize, owner: u32, group: u32, flags: i32) -> i32 { text(path); }
    fn unlink(path: usize) -> i32 { text(path); }
    fn unlinkat(directory: i32, path: usize, flags: i32) -> i32 { text(path); }
    fn remove(path: usize) -> i32 { text(path); }
    fn rmdir(path: usize) -> i32 { text(path); }
    fn mkdir(path: usize, mode: u32) -> i32 { text(path); }
    fn mkdirat(directory: i32, path: usize, mode: u32) -> i32 { text(path); }
    fn mkfifo(path: usize, mode: u32) -> i32 { text(path); }
    fn mknod(path: usize, mode: u32, device: u64) -> i32 { text(path); }
    fn rename(old: usize, new: usize) -> i32 { text(old); text(new); }
    fn renameat(from: i32, old: usize, to: i32, new: usize) -> i32 { text(old); text(new); }
    fn renameat2(from: i32, old: usize, to: i32, new: usize, flags: u32) -> i32 { text(old); text(new); }
    fn link(old: usize, new: usize) -> i32 { text(old); text(new); }
    fn linkat(from: i32, old: usize, to: i32, new: usize, flags: i32) -> i32 { text(old); text(new); }
    fn symlink(old: usize, new: usize) -> i32 { text(old); text(new); }
    fn symlinkat(old: usize, to: i32, new: usize) -> i32 { text(old); text(new); }
    fn readlink(path: usize, to: usize, length: usize) -> isize { text(path); fill(to, length); }
    fn __readlink_chk(path: usize, to: usize, length: usize, room: usize) -> isize { text(path); fill(to, length); }
    fn readlinkat(directory: i32, path: usize, to: usize, length: usize) -> isize { text(path); fill(to, length); }
    fn __readlinkat_chk(directory: i32, path: usize, to: usize, length: usize, room: usize) -> isize {
        text(path);
        fill(to, length);
    }
    fn truncate(path: usize, length: i64) -> i32 { text(path); }
    fn truncate64(path: usize, length: i64) -> i32 { text(path); }
    fn utime(path: usize, times: usize) -> i32 { text(path); take_value::<[i64; 2]>(times); }
    fn utimes(path: usize, times: usize) -> i32 { text(path); take_value::<[libc::timeval; 2]>(times); }
    fn utimensat(directory: i32, path: usize, times: usize, flags: i32) -> i32 { text(path); take_value::<[Time; 2]>(times); }
    fn futimens(file: i32, times: usize) -> i32 { take_value::<[Time; 2]>(times); }
    fn chdir(path: usize) -> i32 { text(path); }
    fn chroot(path: usize) -> i32 { text(path); }
    #[copied] fn getcwd(to: usize, length: usize) -> usize { fill(to, length); }
    fn __getcwd_chk(to: usize, length: usize, room: usize) -> usize { fill(to, length); }
    #[copied] fn get_current_dir_name() -> usize {}
    #[copied] fn realpath(path: usize, to: usize) -> usize {}
    #[copied] fn canonicalize_file_name(path: usize) -> usize {}

    // Processes and signals.
    fn execve(path: usize, arguments: usize, variables: usize) -> i32 { text(path); texts(arguments); texts(variables); }
    fn execv(path: usize, arguments: usize) -> i32 { text(path); texts(arguments); environment(); }
    fn execvp(path: usize, arguments: usize) -> i32 { text(path); texts(arguments); environment(); }
    fn posix_spawn(id: usize, path: usize, actions: usize, options: usize, arguments: usize, variables: usize) -> i32 {
        text(path);
        texts(arguments);
        texts(variables);
    }
    fn posix_spawnp(id: usize, path: usize, actions: usize, options: usize, arguments: usize, variables: usize) -> i32 {
        text(path);
        texts(arguments);
        texts(variables);
    }
    fn system(command: usize) -> i32 { text(command); environment(); }
    fn wait(status: usize) -> i32 { fill_value::<i32>(status); }
    fn waitpid(process: i32, status: usize, options: i32) -> i32 { fill_value::<i32>(status); }
    fn wait4(process: i32, status: usize, options: i32, usage: usize) -> i32 {
        fill_value::<i32>(status);
        fill_value::<libc::rusage>(usage);
    }
    fn sigpending(set: usize) -> i32 { fill_value::<Set>(set); }
    fn sigsuspend(set: usize) -> i32 { take_value::<Set>(set); }

    // Time and the machine.
    fn nanosleep(time: usize, rest: usize) -> i32 { take_value::<Time>(time); fill_value::<Time>(rest); }
    fn clock_nanosleep(clock: i32, flags: i32, time: usize, rest: usize) -> i32 {
        take_value::<Time>(time);
        fill_value::<Time>(rest);
    }
    // Without the kernel for the common clocks only.
    fn clock_gettime(clock: i32, to: usize) -> i32 { fill_value::<Time>(to); }
    fn clock_getres(clock: i32, to: usize) -> i32 { fill_value::<Time>(to); }
    fn gettimeofday(to: usize, zone: usize) -> i32 { fill_value::<libc::timeval>(to); }
    fn times(to: usize) -> i64 { fill_value::<libc::tms>(to); }
    fn getitimer(which: i32, to: usize) -> i32 { fill_value::<libc::itimerval>(to); }
    fn setitimer(which: i32, new: usize, old: usize) -> i32 {
        take_value::<libc::itimerval>(new);
        fill_value::<libc::itimerval>(old);
    }
    fn getrusage(who: i32, to: usize) -> i32 { fill_value::<libc::rusage>(to); }
    fn getrlimit(which: i32, to: usize) -> i32 { fill_value::<libc::rlimit>(to); }
    fn getrlimit64(which: i32, to: usize) -> i32 { fill_value::<libc::rlimit>(to); }
    fn setrlimit(which: i32, new: usize) -> i32 { take_value::<libc::rlimit>(new); }
    fn setrlimit64(which: i32, new: usize) -> i32 { take_value::<libc::rlimit>(new); }
    fn uname(to: usize) -> i32 { fill_value::<libc::utsname>(to); }
    fn sysinfo(to: usize) -> i32 { fill_value::<libc::sysinfo>(to); }
    fn getrandom(to: usize, length: usize, flags: u32) -> isize { fill(to, length); }
    fn getentropy(to: usize, length: usize) -> i32 { fill(to, length); }
    fn getgroups(count: i32, to: usize) -> i32 { fill(to, count.max(0) as usize * 4); }
    fn sched_getaffinity(process: i32, length: usize, to: usize) -> i32 { fill(to, length); }
    fn sched_setaffinity(process: i32, length: usize, from: usize) -> i32 { take(from, length); }

    // Library state that is read in from files or the network.
    #[private] fn getpwnam(name: usize) -> usize {}
    #[private] fn getpwuid(user: u32) -> usize {}
    #[private] fn getgrnam(name: usize) -> usize {}
    #[private] fn getgrgid(group: u32) -> usize {}
    #[private] fn tzset() -> () {}
    #[private] fn localtime(time: usize) -> usize {}
    #[private] fn localtime_r(time: usize, to: usize) -> usize {}
    #[private] fn mktime(time: usize) -> i64 {}
    #[private] fn strftime(to: usize, length: usize, format: usize, time: usize) -> usize {}
    #[private] fn setlocale(category: i32, name: usize) -> usize {}
    #[private] fn newlocale(mask: i32, name: usize, base: usize) -> usize {}
    #[private] fn iconv_open(to: usize, from: usize) -> usize {}
}

/// Functions with arguments that only the C library understands: all registers stay as they are but for the
/// stream, which is the first argument.
macro_rules! variadic {
    ($($name:ident, $next:ident, $redirect:ident;)*) => {
        $(
            static $next: Next = Next::new(concat!(stringify!($name), "\0"));

            extern "C" fn $redirect(stream: usize) -> files::Redirected {
                files::Redirected::new(stream, $next.address())
            }

            #[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 192",
                    "mov [rbp - 8], rax",
                    "mov [rbp - 16], rsi",
                    "mov [rbp - 24], rdx",
                    "mov [rbp - 32], rcx",
                    "mov [rbp - 40], r8",
                    "mov [rbp - 48], r9",
                    "movups [rbp - 64], xmm0",
                    "movups [rbp - 80], xmm1",
                    "movups [rbp - 96], xmm2",
                    "movups [rbp - 112], xmm3",
                    "movups [rbp - 128], xmm4",
                    "movups [rbp - 144], xmm5",
                    "movups [rbp - 160], xmm6",
                    "movups [rbp - 176], xmm7",
                    "call {redirect}",
                    "mov rdi, rax",
                    "mov r11, rdx",
                    "movups xmm0, [rbp - 64]",
                    "movups xmm1, [rbp - 80]",
                    "movups xmm2, [rbp - 96]",
                    "movups xmm3, [rbp - 112]",
                    "movups xmm4, [rbp - 128]",
                    "movups xmm5, [rbp - 144]",
                    "movups xmm6, [rbp - 160]",
                    "movups xmm7, [rbp - 176]",
                    "mov r9, [rbp - 48]",
                    "mov r8, [rbp - 40]",
                    "mov rcx, [rbp - 32]",
                    "mov rdx, [rbp - 24]",
                    "mov rsi, [rbp - 16]",
                    "mov rax, [rbp - 8]",
                    "leave",
                    "jmp r11",
                    redirect = sym $redirect,
                )
            }
        )*

        /// Looks up these functions.
        pub(super) fn resolve_variadic() {
            $($next.find();)*
        }
    };
}

variadic! {
    fprintf, FPRINTF, redirect_fprintf;
    __fprintf_chk, FPRINTF_CHK, redirect_fprintf_chk;
}

/// Gives `stream` a buffer of the C library's.
fn default_buffer(stream: usize) {
    // SAFETY: a stream of the program's; no buffer is passed.
    unsafe { setvbuf(stream, 0, libc::_IOFBF, 0) };
}
