//! `mmap` and its family.
//!
//! Guarantee: what program code maps for itself to compute with lies in this rank's arena, as what it allocates does:
//! anonymous memory, and files that it does not write through the mapping, whose contents are brought in. Everything
//! else is the kernel's: other code's mappings, and those that the ranks cannot share (files that are written through
//! them, devices, code, address space without access). A mapping in the arena is never replaced by the kernel's.
//!
//! What the arena's memory may be used for (`mprotect`), when it is paged (`madvise`, `mlock`) and whether it is written
//! back (`msync`) is not the program's to say: such calls do nothing there.

use std::{
    collections::BTreeMap,
    ffi::{c_int, c_long, c_void},
    ptr,
    sync::Mutex,
};

use super::allocation::{self, set_errno};
use crate::{kernel, layout, layout::PAGE, program, report, symbolise};

const FAILED: usize = usize::MAX;

/// The mappings that this rank has made in its arena, by address.
static MAPPINGS: Mutex<BTreeMap<usize, Mapping>> = Mutex::new(BTreeMap::new());

/// A mapping in the arena.
struct Mapping {
    /// For each page whether it is still mapped.
    pages: Vec<bool>,
    mapped: usize,
}

fn mappings<R>(body: impl FnOnce(&mut BTreeMap<usize, Mapping>) -> R) -> R {
    program::private(|| body(&mut MAPPINGS.lock().expect("nobody panics with it")))
}

/// Arguments of `mmap`.
#[derive(Clone, Copy)]
struct Wanted {
    address: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
}

impl Wanted {
    fn is_anonymous(&self) -> bool {
        self.flags & libc::MAP_ANONYMOUS != 0
    }

    fn is_at_a_place(&self) -> bool {
        self.flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0
    }

    /// Whether ordinary memory serves as well.
    fn is_memory(&self) -> bool {
        const SPECIAL: c_int = libc::MAP_GROWSDOWN | libc::MAP_32BIT | libc::MAP_SYNC;
        let is_private = self.flags & libc::MAP_TYPE == libc::MAP_PRIVATE;
        let is_written_back = !is_private && self.protection & libc::PROT_WRITE != 0;
        self.length != 0
            && self.flags & SPECIAL == 0
            && self.protection != libc::PROT_NONE
            && self.protection & libc::PROT_EXEC == 0
            && (self.is_anonymous() || !is_written_back && is_regular(self.file))
    }

    /// The kernel's mapping.
    fn by_kernel(&self) -> usize {
        let address = self.address as *mut c_void;
        // SAFETY: what the caller promises is what the system call demands.
        let mapped = unsafe {
            kernel::mmap(
                address,
                self.length,
                self.protection,
                self.flags,
                self.file,
                self.offset,
            )
        };
        mapped as usize
    }

    /// Puts what the mapping shows at `address`, which holds zeros. False: the kernel refuses the file.
    fn fill(&self, address: usize) -> bool {
        if self.is_anonymous() {
            return true;
        }
        let file = Wanted {
            address: 0,
            protection: libc::PROT_READ,
            flags: libc::MAP_PRIVATE,
            ..*self
        };
        let from = file.by_kernel();
        if from == FAILED {
            return false;
        }
        let rest = usize::try_from(size_of_file(self.file) - self.offset).unwrap_or(0);
        // SAFETY: the file's bytes, as the kernel maps them, and memory of this length.
        unsafe {
            ptr::copy_nonoverlapping(from as *const u8, address as *mut u8, rest.min(self.length));
            kernel::munmap(from as *mut c_void, self.length);
        }
        true
    }
}

/// Hands `mmap`'s return address on as a seventh argument.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap() {
    std::arch::naked_asm!(
        "push qword ptr [rsp]",
        "call {body}",
        "add rsp, 8",
        "ret",
        body = sym mmap_for,
    )
}

/// The same where `off_t` has 64 bits.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64() {
    std::arch::naked_asm!("jmp {mmap}", mmap = sym mmap)
}

unsafe extern "C" fn mmap_for(
    address: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
    caller: usize,
) -> usize {
    let wanted = Wanted {
        address,
        length,
        protection,
        flags,
        file,
        offset,
    };
    let is_fixed_here = wanted.is_at_a_place() && layout::is_arena_address(address);
    if !program::allocates_shared() || !(is_fixed_here || wanted.is_memory()) {
        return wanted.by_kernel();
    }
    if is_fixed_here {
        return replace(&wanted, caller);
    }
    if wanted.is_at_a_place() {
        return wanted.by_kernel();
    }
    let pages = length.div_ceil(PAGE);
    let start = program::heap(|heap| heap.allocate_zeroed(pages * PAGE, PAGE));
    let Some(start) = start else {
        set_errno(libc::ENOMEM);
        return FAILED;
    };
    if !wanted.fill(start) {
        let error = allocation::errno();
        allocation::free_shared(start, "munmap", caller);
        set_errno(error);
        return FAILED;
    }
    let mapping = Mapping {
        pages: vec_of(pages),
        mapped: pages,
    };
    mappings(|all| all.insert(start, mapping));
    start
}

fn vec_of(pages: usize) -> Vec<bool> {
    program::private(|| vec![true; pages])
}

/// Another mapping in the place of one in the arena.
fn replace(wanted: &Wanted, caller: usize) -> usize {
    if wanted.flags & libc::MAP_FIXED_NOREPLACE == libc::MAP_FIXED_NOREPLACE {
        set_errno(libc::EEXIST);
        return FAILED;
    }
    if wanted.protection != libc::PROT_NONE && !wanted.is_memory() {
        let place = symbolise::location_of(caller.wrapping_sub(1))
            .unwrap_or_else(|| format!("{caller:#x}"));
        report::fatal(&format!(
            "{place}: mmap puts a file that is written through it, or code, in the place of memory that the ranks \
             share: map it elsewhere (without MAP_FIXED)"
        ));
    }
    // SAFETY: the program replaces what is mapped there.
    unsafe { ptr::write_bytes(wanted.address as *mut u8, 0, wanted.length) };
    if wanted.protection == libc::PROT_NONE || wanted.fill(wanted.address) {
        wanted.address
    } else {
        FAILED
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: usize, length: usize) -> c_int {
    if !layout::is_arena_address(address) {
        // SAFETY: what the caller promises is what the system call demands.
        return unsafe { kernel::munmap(address as *mut c_void, length) };
    }
    if !address.is_multiple_of(PAGE) || length == 0 {
        set_errno(libc::EINVAL);
        return -1;
    }
    // Those of another rank stay: how much of them is mapped is known there.
    let is_unused = mappings(|all| {
        let (&start, mapping) = all.range_mut(..=address).next_back()?;
        let first = (address - start) / PAGE;
        let last = (first + length.div_ceil(PAGE)).min(mapping.pages.len());
        for page in mapping.pages.get_mut(first..last)? {
            mapping.mapped -= usize::from(*page);
            *page = false;
        }
        (mapping.mapped == 0).then(|| {
            all.remove(&start);
            start
        })
    });
    if let Some(start) = is_unused {
        allocation::free_shared(start, "munmap", 0);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    old: usize,
    old_length: usize,
    new_length: usize,
    flags: c_int,
    place: usize,
) -> usize {
    if !layout::is_arena_address(old) {
        // SAFETY: what the caller promises is what the system call demands.
        return unsafe {
            let flags = c_long::from(flags);
            libc::syscall(libc::SYS_mremap, old, old_length, new_length, flags, place) as usize
        };
    }
    let [before, after] = [old_length, new_length].map(|bytes| bytes.next_multiple_of(PAGE));
    if flags & !libc::MREMAP_MAYMOVE != 0 || !old.is_multiple_of(PAGE) || new_length == 0 {
        set_errno(libc::EINVAL);
        return FAILED;
    }
    if after <= before {
        if after < before {
            // SAFETY: the end of the caller's mapping.
            unsafe { munmap(old + after, before - after) };
        }
        return old;
    }
    if flags & libc::MREMAP_MAYMOVE == 0 {
        set_errno(libc::ENOMEM);
        return FAILED;
    }
    let (anonymous, access) = (
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        libc::PROT_READ | libc::PROT_WRITE,
    );
    // SAFETY: a new mapping, into which the old one fits, and that one is given back.
    unsafe {
        let new = mmap_for(0, after, access, anonymous, -1, 0, 0);
        if new != FAILED {
            ptr::copy_nonoverlapping(old as *const u8, new as *mut u8, before);
            munmap(old, before);
        }
        new
    }
}

/// Functions that say how memory is to be treated.
macro_rules! treat {
    ($($(#[$doc:meta])* fn $name:ident($address:ident: usize, $length:ident: usize $(, $more:ident: $type:ty)?) = $call:ident, $there:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($address: usize, $length: usize $(, $more: $type)?) -> c_int {
            if layout::is_arena_address($address) {
                return $there;
            }
            // SAFETY: what the caller promises is what the system call demands.
            unsafe { libc::syscall(libc::$call, $address, $length $(, c_long::from($more))?) as c_int }
        }
    )*};
}

treat! {
    fn mprotect(address: usize, length: usize, _protection: c_int) = SYS_mprotect, 0;
    fn madvise(address: usize, length: usize, advice: c_int) = SYS_madvise, forget(address, length, advice);
    fn msync(address: usize, length: usize, _flags: c_int) = SYS_msync, 0;
    fn mlock(address: usize, length: usize) = SYS_mlock, 0;
    fn munlock(address: usize, length: usize) = SYS_munlock, 0;
}

/// Advice to drop pages of anonymous memory makes them zero.
fn forget(address: usize, length: usize, advice: c_int) -> c_int {
    if advice == libc::MADV_DONTNEED {
        // SAFETY: the program gives up what is there.
        unsafe { ptr::write_bytes(address as *mut u8, 0, length) };
    }
    0
}

fn status_of(file: c_int) -> Option<libc::stat> {
    // SAFETY: a structure to fill; a descriptor that is none is refused.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let path = c"".as_ptr();
        (libc::syscall(
            libc::SYS_newfstatat,
            file,
            path,
            &mut status,
            libc::AT_EMPTY_PATH,
        ) == 0)
            .then_some(status)
    }
}

fn is_regular(file: c_int) -> bool {
    status_of(file).is_some_and(|status| status.st_mode & libc::S_IFMT == libc::S_IFREG)
}

fn size_of_file(file: c_int) -> i64 {
    status_of(file).map_or(0, |status| status.st_size)
}
