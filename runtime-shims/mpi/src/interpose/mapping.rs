//! `mmap` and its family.
//!
//! Guarantee: what the program maps for itself to compute with lies in this rank's arena, as what it allocates does:
//! anonymous memory, and files that it does not write through the mapping, whose contents are brought in. Everything
//! else is the kernel's: what libraries map that were not compiled with okl, and what the ranks cannot share (files that
//! are written through it, devices, code, address space without access). Rank 0's mappings of the latter kind are known
//! on all ranks, which name them where they are touched. A mapping in the arena is never replaced by the kernel's.
//!
//! What the arena's memory may be used for (`mprotect`), when it is paged (`madvise`, `mlock`) and whether it is written
//! back (`msync`) is not the program's to say: such calls do nothing there.

use std::{
    collections::BTreeMap,
    ffi::{c_int, c_long, c_void},
    ops::Range,
    ptr,
    sync::{Mutex, OnceLock},
};

use super::allocation::{self, set_errno};
use crate::{
    control_area::MAPPING_BYTES, control_area::MAPPINGS_NOT_SHARED, control_area::MOST_MAPPINGS,
    control_words::exchange_word, control_words::load_word, kernel, layout, mpi_job, program,
    program_graph, region, report, scopes, symbolise,
};
use okl_coherence::PAGE;

const FAILED: usize = usize::MAX;

/// The mappings that this rank has made in its arena, by address.
static MAPPINGS: Mutex<BTreeMap<usize, Mapping>> = Mutex::new(BTreeMap::new());

/// The executable and the libraries that have modules of the program. They are where a call of the program comes from;
/// functions in them that were not compiled with okl cannot be told from it.
static PROGRAM: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Notes what the program's modules are in. Called when they are known, before program code starts.
pub(crate) fn find_program() {
    let mut places: Vec<usize> = program_graph::modules()
        .iter()
        .map(|one| one.dso())
        .collect();
    places.sort_unstable();
    places.dedup();
    let found = places.into_iter().filter_map(allocation::object_with);
    PROGRAM.get_or_init(|| found.collect());
}

fn is_program(caller: usize) -> bool {
    let program = PROGRAM.get();
    program.is_some_and(|all| all.iter().any(|object| object.contains(&caller)))
}

/// A mapping in the arena.
struct Mapping {
    /// What it shows, where that is a file.
    file: Option<File>,
    /// For each page whether it is still mapped.
    pages: Vec<bool>,
    mapped: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum File {
    /// Its contents as they were: nothing writes to the mapping.
    Read,
    Written,
}

fn mappings<R>(body: impl FnOnce(&mut BTreeMap<usize, Mapping>) -> R) -> R {
    scopes::private(|| body(&mut MAPPINGS.lock().expect("nobody panics with it")))
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

    fn kind(&self) -> Option<File> {
        match self.protection & libc::PROT_WRITE {
            _ if self.is_anonymous() => None,
            0 => Some(File::Read),
            _ => Some(File::Written),
        }
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
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
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
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
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
    if !program::allocates_shared() {
        return wanted.by_kernel();
    }
    if wanted.is_at_a_place() && layout::is_arena_address(address) {
        return replace(&wanted, caller);
    }
    if !is_program(caller) {
        return wanted.by_kernel();
    }
    if !wanted.is_memory() || wanted.is_at_a_place() {
        let mapped = wanted.by_kernel();
        if mapped != FAILED && protection != libc::PROT_NONE {
            note_not_shared(mapped, &wanted, caller);
        }
        return mapped;
    }
    in_arena(&wanted, caller)
}

/// A new mapping in the arena.
fn in_arena(wanted: &Wanted, caller: usize) -> usize {
    let pages = wanted.length.div_ceil(PAGE);
    let start = program::heap(|heap| heap.allocate_zeroed(pages * PAGE, PAGE));
    let Some(start) = start else {
        allocation::tell_of_full_heap(pages * PAGE, caller);
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
        file: wanted.kind(),
        pages: vec_of(pages),
        mapped: pages,
    };
    mappings(|all| all.insert(start, mapping));
    start
}

fn vec_of(pages: usize) -> Vec<bool> {
    scopes::private(|| vec![true; pages])
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
    if wanted.kind().is_some() {
        mappings(|all| {
            if let Some((_, around)) = all.range_mut(..=wanted.address).next_back() {
                // Some of it shows a file now.
                around.file = Some(File::Written);
            }
        });
    }
    if wanted.protection == libc::PROT_NONE || wanted.fill(wanted.address) {
        wanted.address
    } else {
        FAILED
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn munmap(address: usize, length: usize) -> c_int {
    if !layout::is_arena_address(address) {
        if program::allocates_shared() {
            forget_not_shared(address, length);
        }
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

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
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
    // What a file has behind the mapping is not known any more.
    let is_anonymous = mapping_at(old).is_some_and(|file| file.is_none());
    if flags & libc::MREMAP_MAYMOVE == 0 || !is_anonymous {
        set_errno(libc::ENOMEM);
        return FAILED;
    }
    let wanted = Wanted {
        address: 0,
        length: after,
        protection: libc::PROT_READ | libc::PROT_WRITE,
        flags: libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        file: -1,
        offset: 0,
    };
    let new = in_arena(&wanted, 0);
    if new != FAILED {
        // SAFETY: a new mapping, into which the old one fits, and that one is given back.
        unsafe {
            ptr::copy_nonoverlapping(old as *const u8, new as *mut u8, before);
            munmap(old, before);
        }
    }
    new
}

/// Functions that say how memory is to be treated.
macro_rules! treat {
    ($($(#[$doc:meta])* fn $name:ident($address:ident: usize, $length:ident: usize $(, $more:ident: $type:ty)?) = $call:ident, $there:expr;)*) => {$(
        $(#[$doc])*
        #[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
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
    fn mprotect(address: usize, length: usize, protection: c_int) = SYS_mprotect, protect(protection);
    fn madvise(address: usize, length: usize, advice: c_int) = SYS_madvise, forget(address, length, advice);
    fn msync(address: usize, length: usize, _flags: c_int) = SYS_msync, 0;
    fn mlock(address: usize, length: usize) = SYS_mlock, 0;
    fn munlock(address: usize, length: usize) = SYS_munlock, 0;
}

/// Code cannot be shared.
fn protect(protection: c_int) -> c_int {
    if protection & libc::PROT_EXEC != 0 {
        report::fatal(
            "mprotect makes memory executable that the ranks share: map it with PROT_EXEC from the beginning",
        );
    }
    0
}

/// Advice to drop pages of anonymous memory makes them zero; those of a file are as in the file.
fn forget(address: usize, length: usize, advice: c_int) -> c_int {
    if advice != libc::MADV_DONTNEED {
        return 0;
    }
    match mapping_at(address) {
        Some(Some(File::Read)) => return 0,
        Some(None) => {}
        // What serial code allocates is no file.
        None if !region::is_distributed() => {}
        _ => {
            set_errno(libc::EINVAL);
            return -1;
        }
    }
    // SAFETY: the program gives up what is there.
    unsafe { ptr::write_bytes(address as *mut u8, 0, length) };
    0
}

/// What this rank's mapping at `address` shows, if there is one.
fn mapping_at(address: usize) -> Option<Option<File>> {
    mappings(|all| {
        let (start, mapping) = all.range(..=address).next_back()?;
        (address - start < mapping.pages.len() * PAGE).then_some(mapping.file)
    })
}

// ---- Mappings that are rank 0's alone ----------------------------------------------------------

/// Words of the entry of a mapping: start, end, the return address of `mmap`, and the name of what is mapped.
const START: usize = 0;
const END: usize = 8;
const CALLER: usize = 16;
const NAME: usize = 24;
const NAME_WORDS: usize = (MAPPING_BYTES - NAME) / 8;

fn entry(index: usize) -> usize {
    MAPPINGS_NOT_SHARED + index * MAPPING_BYTES
}

fn set(offset: usize, value: u64) {
    exchange_word(offset, load_word(offset), value);
}

/// On rank 0: lets other ranks know of a mapping of the program that is not shared with them. When there are too many,
/// of some.
fn note_not_shared(start: usize, wanted: &Wanted, caller: usize) {
    if mpi_job::rank() != 0 {
        return;
    }
    scopes::private(|| {
        let free = (0..MOST_MAPPINGS).find(|&index| load_word(entry(index)) == 0);
        let Some(entry) = free.map(entry) else {
            return;
        };
        let name = match wanted.is_anonymous() {
            true => "memory".into(),
            false => std::fs::read_link(format!("/proc/self/fd/{}", wanted.file))
                .map_or("a file".into(), |path| path.to_string_lossy().into_owned()),
        };
        // The end of a long path says most.
        let name = &name.as_bytes()[name.len().saturating_sub(8 * NAME_WORDS)..];
        for (index, bytes) in name.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            set(entry + NAME + 8 * index, u64::from_ne_bytes(word));
        }
        for index in name.len().div_ceil(8)..NAME_WORDS {
            set(entry + NAME + 8 * index, 0);
        }
        set(entry + CALLER, caller as u64);
        set(entry + END, (start + wanted.length) as u64);
        set(entry + START, start as u64);
    });
}

/// On rank 0: these addresses are mapped no more.
fn forget_not_shared(address: usize, length: usize) {
    if mpi_job::rank() != 0 {
        return;
    }
    scopes::private(|| {
        for entry in (0..MOST_MAPPINGS).map(entry) {
            let start = load_word(entry) as usize;
            if (address..address + length).contains(&start) {
                set(entry, 0);
            }
        }
    });
}

/// For a last message: the mapping at `address` of rank 0's that is not shared, in words.
pub(crate) fn not_shared_at(address: usize) -> Option<String> {
    // A fault in the runtime may have interrupted what would be needed.
    if scopes::is_in_runtime() {
        return None;
    }
    scopes::private(|| {
        let entry = (0..MOST_MAPPINGS).map(entry).find(|entry| {
            let [start, end] = [START, END].map(|word| load_word(entry + word) as usize);
            (start..end).contains(&address)
        })?;
        let name = (0..NAME_WORDS).map(|index| load_word(entry + NAME + 8 * index).to_ne_bytes());
        let name: Vec<u8> = name.flatten().take_while(|&byte| byte != 0).collect();
        let caller = load_word(entry + CALLER) as usize;
        let place = symbolise::location_of(caller.wrapping_sub(1));
        let place = report::at(&place.unwrap_or_else(|| format!("{caller:#x}")));
        Some(format!(
            "the program's own mmap of {} {place}, which the ranks do not share: map a file with MAP_PRIVATE or without \
             PROT_WRITE, or copy it to memory from malloc",
            String::from_utf8_lossy(&name)
        ))
    })
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
