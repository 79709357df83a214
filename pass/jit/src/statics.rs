//! What LLVM has made stays when the program ends.
//!
//! A program may end, by `exit`, while a version is being made on another thread. The run time waits for that thread, but in a
//! function of `atexit`, and those run in the reverse of the order in which they were asked for: what LLVM has made since, when
//! it first needed it (variables inside of functions), would be taken apart before. So LLVM asks for nothing any more: its
//! entry for `__cxa_atexit`, which the linker fills, leads to a function that forgets.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Release};

use libc::{Elf64_Phdr, Elf64_Rela, Elf64_Sym};

/// Of the entry that a call of another library's function goes through, or that has its address.
#[cfg(target_arch = "x86_64")]
const ENTRIES: [u32; 2] = [6, 7]; // R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT
#[cfg(target_arch = "aarch64")]
const ENTRIES: [u32; 2] = [1025, 1026]; // R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;

/// A word of a library's dynamic section (System V ABI, "Dynamic Section").
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

unsafe extern "C" fn forget(_: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

/// Has the library that `of` is in never take apart what it makes from now on. Is called before it works on any other thread.
///
/// # Safety
/// `of` is an address in a library that stays until the program's end.
pub unsafe fn stay(of: *const c_void) {
    let mut search = Search {
        of: of.addr(),
        found: None,
    };
    // SAFETY: `visit` gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    if let Some(library) = search.found {
        // SAFETY: the linker has loaded it.
        unsafe { library.set_entries(c"__cxa_atexit", forget as *mut c_void) };
    }
}

/// A library as it is loaded.
struct Library {
    base: usize,
    dynamic: *const Dynamic,
    /// Where what is loaded is made unwritable when it is linked: from, to.
    sealed: (usize, usize),
}

struct Search {
    of: usize,
    found: Option<Library>,
}

/// # Safety
/// `to` is a [`Search`].
unsafe extern "C" fn visit(
    one: *mut libc::dl_phdr_info,
    _: libc::size_t,
    to: *mut c_void,
) -> c_int {
    // SAFETY: the linker's promise, and the caller's.
    let (one, search, parts) = unsafe {
        let one = &*one;
        let parts = std::slice::from_raw_parts(one.dlpi_phdr, usize::from(one.dlpi_phnum));
        (one, &mut *to.cast::<Search>(), parts)
    };
    let base = one.dlpi_addr as usize;
    let place = |part: &Elf64_Phdr| {
        let from = base + part.p_vaddr as usize;
        (from, from + part.p_memsz as usize)
    };
    let of_kind = |kind: u32| {
        parts
            .iter()
            .filter(move |part| part.p_type == kind)
            .map(place)
    };
    let is_in = |(from, to): (usize, usize)| (from..to).contains(&search.of);
    if !of_kind(libc::PT_LOAD).any(is_in) {
        return 0;
    }
    search.found = of_kind(libc::PT_DYNAMIC).next().map(|(from, _)| Library {
        base,
        dynamic: std::ptr::with_exposed_provenance(from),
        sealed: of_kind(libc::PT_GNU_RELRO).next().unwrap_or_default(),
    });
    1
}

impl Library {
    /// # Safety
    /// It is loaded, and stays.
    unsafe fn set_entries(&self, name: &CStr, function: *mut c_void) {
        // SAFETY: the dynamic section ends with a null; the linker has put addresses there.
        unsafe {
            let all = (0..).map(|at| &*self.dynamic.add(at));
            let all: Vec<_> = all.take_while(|one| one.tag != DT_NULL).collect();
            let value = |tag| all.iter().find(|one| one.tag == tag).map(|one| one.value);
            let (Some(symbols), Some(names)) = (value(DT_SYMTAB), value(DT_STRTAB)) else {
                return;
            };
            let symbols = std::ptr::with_exposed_provenance::<Elf64_Sym>(symbols);
            let names = std::ptr::with_exposed_provenance::<c_char>(names);
            for (from, size) in [(DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)] {
                let (Some(from), Some(size)) = (value(from), value(size)) else {
                    continue;
                };
                let from = std::ptr::with_exposed_provenance::<Elf64_Rela>(from);
                for entry in std::slice::from_raw_parts(from, size / size_of::<Elf64_Rela>()) {
                    let symbol = &*symbols.add((entry.r_info >> 32) as usize);
                    let is_entry = ENTRIES.contains(&(entry.r_info as u32));
                    if is_entry && CStr::from_ptr(names.add(symbol.st_name as usize)) == name {
                        self.set(self.base + entry.r_offset as usize, function);
                    }
                }
            }
        }
    }

    /// # Safety
    /// An entry of the library's is there.
    unsafe fn set(&self, at: usize, function: *mut c_void) {
        // SAFETY: the caller's promise; what is sealed is opened for that.
        unsafe {
            let size = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let page = std::ptr::with_exposed_provenance_mut::<c_void>(at / size * size);
            let is_sealed = (self.sealed.0..self.sealed.1).contains(&at);
            if is_sealed && libc::mprotect(page, size, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return;
            }
            AtomicPtr::from_ptr(std::ptr::with_exposed_provenance_mut(at)).store(function, Release);
            if is_sealed {
                libc::mprotect(page, size, libc::PROT_READ);
            }
        }
    }
}
