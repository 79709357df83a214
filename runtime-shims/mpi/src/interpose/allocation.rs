//! `malloc` and its family.
//!
//! Guarantee: memory that program code asks for lies in this rank's arena; all other memory is the C
//! library's. `free` and `realloc` go by the address, whoever calls. Nothing here allocates through the
//! exported functions or takes a lock; of a thread that is not the program's, no thread-local state is touched.
//! No signal handler of the program comes inside.
//!
//! Some memory asked for on behalf of program code is private even so, told by the return address
//! of the call: buffers that the C library lends to the kernel, which must never be protected (those of a
//! `FILE` and of a `DIR`), and what the dynamic loader and the OpenMP run time keep for all threads.

use std::{
    ffi::{CStr, c_int, c_void},
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use crate::{heap::Misuse, layout, mpi_job, next::Next, program, report, scopes, symbolise};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

/// Alignment of every block, and of the plain functions' results.
const PLAIN: usize = 16;
const PAGE: usize = okl_coherence::PAGE;

/// Exports functions that hand their return address to `$body` as one more argument, in `$register`; but in a program
/// on one rank they are the next library's.
macro_rules! export_with_caller {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? = $body:ident, $register:literal;)*) => {
        /// What each function does.
        #[allow(non_upper_case_globals, reason = "named as the functions are")]
        mod target {
            use std::{ffi::c_void, sync::atomic::AtomicPtr};
            $(pub(super) static $name: AtomicPtr<c_void> = AtomicPtr::new(super::with_caller::$name as *mut c_void);)*
        }

        /// The functions for a job.
        mod with_caller {
            use super::*;
            $(#[unsafe(naked)]
            pub(super) unsafe extern "C" fn $name($($arg: $type),*) $(-> $ret)? {
                std::arch::naked_asm!(
                    concat!("mov ", $register, ", [rsp]"),
                    "jmp {body}",
                    body = sym $body,
                )
            })*
        }

        $(
            #[unsafe(naked)]
            #[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
            unsafe extern "C" fn $name($($arg: $type),*) $(-> $ret)? {
                std::arch::naked_asm!("jmp [rip + {target}]", target = sym target::$name)
            }
        )*

        /// Has each function be the next library's from now on.
        pub(super) fn hand_on() {
            $(
                // SAFETY: a look-up by name.
                let next = unsafe {
                    libc::dlsym(libc::RTLD_NEXT, concat!(stringify!($name), "\0").as_ptr().cast())
                };
                if !next.is_null() {
                    target::$name.store(next, Relaxed);
                }
            )*
        }
    };
}

export_with_caller! {
    fn malloc(length: usize) -> usize = malloc_for, "rsi";
    fn calloc(count: usize, length: usize) -> usize = calloc_for, "rdx";
    fn realloc(address: usize, length: usize) -> usize = realloc_for, "rdx";
    fn reallocarray(address: usize, count: usize, length: usize) -> usize = reallocarray_for, "rcx";
    fn memalign(alignment: usize, length: usize) -> usize = memalign_for, "rdx";
    fn aligned_alloc(alignment: usize, length: usize) -> usize = memalign_for, "rdx";
    fn posix_memalign(result: *mut usize, alignment: usize, length: usize) -> c_int = posix_memalign_for, "rcx";
    fn valloc(length: usize) -> usize = valloc_for, "rsi";
    fn pvalloc(length: usize) -> usize = pvalloc_for, "rsi";
    fn free(address: usize) = free_for, "rsi";
    fn malloc_usable_size(address: usize) -> usize = usable_size_for, "rsi";
}

unsafe extern "C" fn malloc_for(length: usize, caller: usize) -> usize {
    if gets_shared(caller) {
        shared(length, PLAIN, caller)
    } else {
        // SAFETY: any length is fine.
        private(|| unsafe { __libc_malloc(length) as usize })
    }
}

unsafe extern "C" fn calloc_for(count: usize, length: usize, caller: usize) -> usize {
    if gets_shared(caller) {
        let zeroed = |bytes| program::heap(|heap| heap.allocate_zeroed(bytes, PLAIN));
        let bytes = count.checked_mul(length);
        or_out_of_memory(bytes.and_then(zeroed), bytes, caller)
    } else {
        // SAFETY: any numbers are fine.
        private(|| unsafe { __libc_calloc(count, length) as usize })
    }
}

unsafe extern "C" fn realloc_for(address: usize, length: usize, caller: usize) -> usize {
    if layout::is_arena_address(address) {
        if length == 0 {
            free_shared(address, "realloc", caller);
            return 0;
        }
        match program::heap(|heap| heap.resize(address, length)) {
            Ok(new) => or_out_of_memory(new, Some(length), caller),
            Err(misuse) => stop("realloc", address, misuse, caller),
        }
    } else if address == 0 && gets_shared(caller) {
        shared(length, PLAIN, caller)
    } else {
        // SAFETY: null or a block of the C library's.
        private(|| unsafe { __libc_realloc(address as *mut c_void, length) as usize })
    }
}

unsafe extern "C" fn reallocarray_for(
    address: usize,
    count: usize,
    length: usize,
    caller: usize,
) -> usize {
    match count.checked_mul(length) {
        // SAFETY: the caller's promises are the same.
        Some(bytes) => unsafe { realloc_for(address, bytes, caller) },
        None => or_out_of_memory(None, None, caller),
    }
}

unsafe extern "C" fn memalign_for(alignment: usize, length: usize, caller: usize) -> usize {
    if gets_shared(caller) {
        // As in glibc, an alignment that is no power of two is rounded up to one.
        match alignment.max(PLAIN).checked_next_power_of_two() {
            Some(alignment) => shared(length, alignment, caller),
            None => {
                set_errno(libc::EINVAL);
                0
            }
        }
    } else {
        // SAFETY: any numbers are fine.
        private(|| unsafe { __libc_memalign(alignment, length) as usize })
    }
}

unsafe extern "C" fn posix_memalign_for(
    result: *mut usize,
    alignment: usize,
    length: usize,
    caller: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // POSIX: `errno` stays as it is.
    let errno = errno();
    // SAFETY: any numbers are fine.
    let address = unsafe { memalign_for(alignment, length, caller) };
    set_errno(errno);
    if address == 0 {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's result variable.
    unsafe { *result = address };
    0
}

unsafe extern "C" fn valloc_for(length: usize, caller: usize) -> usize {
    // SAFETY: any length is fine.
    unsafe { memalign_for(PAGE, length, caller) }
}

unsafe extern "C" fn pvalloc_for(length: usize, caller: usize) -> usize {
    match length.checked_next_multiple_of(PAGE) {
        // SAFETY: any length is fine.
        Some(length) => unsafe { memalign_for(PAGE, length, caller) },
        None => or_out_of_memory(None, None, caller),
    }
}

unsafe extern "C" fn free_for(address: usize, caller: usize) {
    if layout::is_arena_address(address) {
        free_shared(address, "free", caller);
    } else {
        // SAFETY: null or a block of the C library's.
        private(|| unsafe { __libc_free(address as *mut c_void) });
    }
}

unsafe extern "C" fn usable_size_for(address: usize, caller: usize) -> usize {
    type UsableSize = unsafe extern "C" fn(usize) -> usize;
    static NEXT: Next = Next::new("malloc_usable_size\0");
    if layout::is_arena_address(address) {
        program::heap(|heap| heap.usable_length(address))
            .unwrap_or_else(|misuse| stop("malloc_usable_size", address, misuse, caller))
    } else {
        // SAFETY: the C library's function has this signature.
        let next = unsafe { std::mem::transmute::<*mut c_void, UsableSize>(NEXT.address()) };
        // SAFETY: null or a block of the C library's.
        unsafe { next(address) }
    }
}

/// A copy of the private text at `address`, where program code would get it; the original is freed.
pub(super) fn copy_for_program(address: usize) -> usize {
    if !program::allocates_shared() {
        return address;
    }
    let length = super::text_length(address);
    let copy = shared(length, PLAIN, 0);
    if copy != 0 {
        // SAFETY: a new block and a live text of this length; the text is a block of the C library's.
        unsafe { ptr::copy_nonoverlapping(address as *const u8, copy as *mut u8, length) };
    }
    // SAFETY: a block of the C library's that nobody else knows.
    private(|| unsafe { __libc_free(address as *mut c_void) });
    copy
}

/// Runs `body`, a function of the C library's allocator.
#[inline]
fn private<R>(body: impl FnOnce() -> R) -> R {
    if program::allocates_shared() {
        scopes::undisturbed(body)
    } else {
        body()
    }
}

/// A block for program code.
pub(super) fn for_program(length: usize) -> usize {
    shared(length, PLAIN, 0)
}

/// A block of this rank's arena, for the code at `caller`.
fn shared(length: usize, alignment: usize, caller: usize) -> usize {
    let block = program::heap(|heap| heap.allocate(length, alignment));
    or_out_of_memory(block, Some(length), caller)
}

fn or_out_of_memory(address: Option<usize>, length: Option<usize>, caller: usize) -> usize {
    address.unwrap_or_else(|| {
        if let Some(length) = length {
            tell_of_full_heap(length, caller);
        }
        set_errno(libc::ENOMEM);
        0
    })
}

/// Once: there is no room for `length` bytes in this rank's heap. Not where they are more than the machine has, which are
/// refused without okl, too.
#[cold]
pub(super) fn tell_of_full_heap(length: usize, caller: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    // SAFETY: asks for two numbers.
    let [pages, bytes] =
        [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    if length as u64 > pages as u64 * bytes as u64 || TOLD.swap(true, Relaxed) {
        return;
    }
    scopes::private(|| {
        let place = symbolise::location_of(caller.wrapping_sub(1));
        let place = place.unwrap_or_else(|| "a call of the C library".into());
        let layout = layout::layout();
        let gib = |rank| {
            let arena = layout.arena(rank);
            (arena.end() - arena.address) >> 30
        };
        let rank = mpi_job::rank();
        let advice = match rank {
            0 => String::from(
                "start fewer ranks on a machine, with threads instead (okl-run --per socket)",
            ),
            _ => format!(
                "allocate it in serial code, where there are {} GiB, or start fewer ranks on a machine, with threads \
                 instead (okl-run --per socket)",
                gib(0)
            ),
        };
        report::warn(&format!(
            "warning: {place}: no room for {length} bytes in the heap of rank {rank}, which has {} GiB; the program gets \
             a null pointer. If it needs the memory, {advice}",
            gib(rank)
        ));
    });
}

/// Takes back a block of an arena.
pub(super) fn free_shared(address: usize, call: &str, caller: usize) {
    // At the very end nobody needs the memory any more, and the block's header may be far away.
    if !program::is_running() {
        return;
    }
    if let Err(misuse) = program::heap(|heap| heap.free(address)) {
        stop(call, address, misuse, caller);
    }
}

/// Ends the job: the heap was not used as `free` or `realloc` demand.
#[cold]
fn stop(call: &str, address: usize, misuse: Misuse, caller: usize) -> ! {
    let place =
        symbolise::location_of(caller.wrapping_sub(1)).unwrap_or_else(|| format!("{caller:#x}"));
    report::fatal(&format!("{place}: {call} of {address:#x}, {misuse}"))
}

pub(super) fn errno() -> c_int {
    // SAFETY: this thread's `errno`.
    unsafe { *libc::__errno_location() }
}

pub(super) fn set_errno(value: c_int) {
    // SAFETY: this thread's `errno`.
    unsafe { *libc::__errno_location() = value };
}

/// Whether what the code at `caller` allocates is shared.
#[inline]
fn gets_shared(caller: usize) -> bool {
    if program::allocates_shared() {
        !PRIVATE_CALLERS.iter().any(|code| code.contains(caller))
    } else {
        DIRECTORY_BUFFER.note(caller);
        false
    }
}

/// A range of code addresses, empty until it is known.
struct Code {
    start: AtomicUsize,
    length: AtomicUsize,
}

impl Code {
    const fn unknown() -> Self {
        Self {
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
        }
    }

    fn set(&self, range: Range<usize>) {
        self.start.store(range.start, Relaxed);
        self.length.store(range.len(), Relaxed);
    }

    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start.load(Relaxed)) < self.length.load(Relaxed)
    }
}

/// Code whose allocations are private: the dynamic loader; the function that makes the buffer of a `FILE`;
/// the place in the C library that makes a `DIR` with its buffer; the OpenMP run time.
static PRIVATE_CALLERS: [Code; 4] = [const { Code::unknown() }; 4];

/// Fills [`PRIVATE_CALLERS`].
pub(super) fn find_private_callers() {
    let [loader, file_buffer, directory_buffer, openmp] = &PRIVATE_CALLERS;
    if let Some(function) = symbol(c"__tls_get_addr")
        && let Some(range) = object_with(function)
    {
        loader.set(range);
    }
    if let Some(range) = symbol(c"_IO_file_doallocate").and_then(extent_of_function) {
        file_buffer.set(range);
    }
    if let Some(function) = symbol(c"__kmpc_fork_call")
        && let Some(range) = object_with(function)
    {
        openmp.set(range);
    }
    // The function has no name that can be looked up: watch it at work.
    if let Some(caller) = DIRECTORY_BUFFER.watch(|| {
        // SAFETY: opens and closes a directory.
        unsafe {
            let directory = libc::opendir(c"/".as_ptr());
            if !directory.is_null() {
                libc::closedir(directory);
            }
        }
    }) {
        directory_buffer.set(caller..caller + 1);
    }
}

/// Notes the return address of a call of `malloc` on one thread.
struct Watch {
    /// The address of `errno` on the watched thread; 0 where nothing is watched.
    thread: AtomicUsize,
    caller: AtomicUsize,
}

static DIRECTORY_BUFFER: Watch = Watch {
    thread: AtomicUsize::new(0),
    caller: AtomicUsize::new(0),
};

impl Watch {
    /// The last caller of `malloc` on this thread during `body`.
    fn watch(&self, body: impl FnOnce()) -> Option<usize> {
        self.caller.store(0, Relaxed);
        self.thread.store(this_thread(), Relaxed);
        body();
        self.thread.store(0, Relaxed);
        Some(self.caller.load(Relaxed)).filter(|&caller| caller != 0)
    }

    fn note(&self, caller: usize) {
        let thread = self.thread.load(Relaxed);
        if thread != 0 && thread == this_thread() {
            self.caller.store(caller, Relaxed);
        }
    }
}

/// A number no other live thread has.
fn this_thread() -> usize {
    // SAFETY: always succeeds.
    unsafe { libc::__errno_location() as usize }
}

fn symbol(name: &CStr) -> Option<usize> {
    // SAFETY: a NUL-terminated name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address as usize)
}

/// The code of the exported function at `address`.
fn extent_of_function(address: usize) -> Option<Range<usize>> {
    const RTLD_DL_SYMENT: c_int = 1;
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut entry = ptr::null_mut();
    // SAFETY: two variables to fill; the flag says that `entry` becomes a symbol table entry.
    let found = unsafe {
        dladdr1(
            address as *const c_void,
            &mut info,
            &mut entry,
            RTLD_DL_SYMENT,
        )
    } != 0;
    if !found || entry.is_null() || info.dli_saddr as usize != address {
        return None;
    }
    // SAFETY: an entry of a loaded symbol table.
    let size = unsafe { (*entry.cast::<libc::Elf64_Sym>()).st_size } as usize;
    Some(address..address + size)
}

/// The addresses of the loaded object that `address` is in.
pub(super) fn object_with(address: usize) -> Option<Range<usize>> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: both pointers are valid for this call, the second is the one passed below.
        let (info, (address, found)) =
            unsafe { (&*info, &mut *data.cast::<(usize, Range<usize>)>()) };
        // SAFETY: the loader's array of program headers of a loaded object.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let base = info.dlpi_addr as usize;
        let loaded = headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD);
        let parts = loaded.map(|header| (base + header.p_vaddr as usize, header.p_memsz as usize));
        let start = parts.clone().map(|(start, _)| start).min().unwrap_or(0);
        let whole = start
            ..parts
                .map(|(start, length)| start + length)
                .max()
                .unwrap_or(0);
        if whole.contains(address) {
            *found = whole;
            return 1;
        }
        0
    }

    let mut search = (address, 0..0);
    // SAFETY: `visit` gets a pointer to `search`, which outlives the call.
    let found = unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) } != 0;
    found.then_some(search.1)
}
