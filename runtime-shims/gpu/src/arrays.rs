//! Large variables of the program, to which the compiler has given pages of their own ([`okl_abi::gpu::arrays`]): while a device
//! has one, its pages are those of a memory file that is mapped twice, as the heap of large blocks is.
//!
//! Guarantee: what is said of a variable is known for sure, or the variable is copied like any other one: nothing else is in its
//! pages, and an address in them, or right in front of them where nothing else is, leads to it. No write of another thread is
//! lost when its pages become those of the file, or are its own again: meanwhile it may only read.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use okl_abi::gpu::arrays::SECTION;

use crate::pages::PAGE;
use crate::symbols::Elf;

/// One of them.
struct Array {
    /// Its pages.
    pages: Range<usize>,
    /// Behind its last byte that the program knows of.
    end: usize,
    /// The first address that leads to it.
    front: usize,
    /// From its pages to the library's view of them; 0 where they are no file's.
    offset: AtomicUsize,
}

static ALL: OnceLock<Vec<Array>> = OnceLock::new();

/// Finds them. Before that there are none.
pub fn find() {
    ALL.get_or_init(|| of_program().unwrap_or_default());
}

fn all() -> &'static [Array] {
    ALL.get().map_or(&[], Vec::as_slice)
}

/// That whose pages an address is in.
fn with_page(address: usize) -> Option<&'static Array> {
    let behind = all().partition_point(|one| one.pages.start <= address);
    let one = &all()[behind.checked_sub(1)?];
    one.pages.contains(&address).then_some(one)
}

/// Whether an address is in the pages of one.
pub fn contains(address: usize) -> bool {
    with_page(address).is_some()
}

/// Whether it is in those of one that a device has.
pub fn is_watched(address: usize) -> bool {
    with_page(address).is_some_and(|one| one.offset.load(Relaxed) != 0)
}

/// The pages of the one that an address leads to.
pub fn around(address: usize) -> Option<Range<usize>> {
    among(all(), address)
}

fn among(all: &[Array], address: usize) -> Option<Range<usize>> {
    let behind = all.partition_point(|one| one.pages.start <= address);
    let next = all.get(behind).filter(|one| one.front <= address);
    let own = behind.checked_sub(1).map(|at| &all[at]);
    let own = own.filter(|one| address < one.pages.end);
    next.or(own).map(|one| one.pages.clone())
}

/// Of a range in which an address leads to none of them, the part around it that has none of their pages.
pub fn without(range: Range<usize>, address: usize) -> Range<usize> {
    let mut part = range;
    for one in all().iter().map(|one| &one.pages) {
        if one.end <= address {
            part.start = part.start.max(one.end);
        } else if one.start > address {
            part.end = part.end.min(one.start);
        }
    }
    part
}

/// Where the program lies: its address, and where it may write.
#[derive(Default)]
struct Program {
    base: usize,
    parts: Vec<Range<usize>>,
    /// What it may only write while it is loaded.
    fixed: Vec<Range<usize>>,
    is_known: bool,
}

/// The first object that is loaded is the program. Others may go while a device still has something of theirs.
fn program() -> Program {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: both are valid for this call, the second is the one passed below; a text, and the loader's array of headers.
        let (info, program, name) = unsafe {
            let name = CStr::from_ptr((*info).dlpi_name);
            (&*info, &mut *data.cast::<Program>(), name)
        };
        // SAFETY: as above.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        program.base = info.dlpi_addr as usize;
        program.is_known = name.is_empty();
        for one in headers {
            let start = program.base + one.p_vaddr as usize;
            let range = start..start + one.p_memsz as usize;
            match one.p_type {
                libc::PT_LOAD if one.p_flags & libc::PF_W != 0 => program.parts.push(range),
                libc::PT_GNU_RELRO => program.fixed.push(range),
                _ => {}
            }
        }
        1
    }
    let mut program = Program::default();
    // SAFETY: `visit` gets a pointer to `program`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut program).cast()) };
    program
}

fn of_program() -> Option<Vec<Array>> {
    let program = program();
    if !program.is_known {
        return Some(Vec::new());
    }
    let file = Elf::open("/proc/self/exe")?;
    let list = file.section(SECTION)?;
    let list = program.base + list.start..program.base + list.end;
    let is_there = |range: &Range<usize>| {
        let has = |part: &Range<usize>| part.start <= range.start && range.end <= part.end;
        program.parts.iter().any(has)
    };
    let (variables, has_local) = file.variables()?;
    if !is_there(&list) || !has_local {
        return None;
    }
    let list = (list.start..list.end).step_by(2 * size_of::<usize>());
    let rows = list.map(|at| {
        // SAFETY: the list, as the compiler has made it and the loader has completed it.
        unsafe { ptr::with_exposed_provenance::<[usize; 2]>(at).read_unaligned() }
    });
    let at = |address: usize| address - program.base;
    let mut rows: Vec<_> = rows.filter(|row| row[0] >= program.base).collect();
    rows.sort_unstable();
    let mut found = Vec::new();
    for [start, bytes] in rows {
        let Some(array) = array(&variables, at(start), bytes) else {
            continue;
        };
        let pages = start..program.base + array.pages.end;
        let is_fixed = program
            .fixed
            .iter()
            .any(|one| one.start < pages.end && pages.start < one.end);
        if is_there(&pages) && !is_fixed {
            found.push(Array {
                end: start + bytes,
                front: program.base + array.front,
                pages,
                offset: AtomicUsize::new(0),
            });
        }
    }
    Some(arranged(found))
}

/// The variable that begins there, of which the program knows so many bytes, if nothing else is in its pages.
fn array(variables: &[(usize, usize)], start: usize, bytes: usize) -> Option<Array> {
    let begin = variables.partition_point(|(its, _)| *its < start);
    let own = variables[begin..].iter().take_while(|one| one.0 == start);
    let end = own.map(|one| one.1).max()?;
    let inside = variables[begin..].iter().take_while(|one| one.0 < end);
    let is_alone = inside.clone().all(|one| one.1 <= end);
    let before = variables[..begin]
        .iter()
        .map(|one| one.1)
        .max()
        .unwrap_or(0);
    let is_whole = start.is_multiple_of(PAGE) && end.is_multiple_of(PAGE);
    (is_alone && is_whole && before <= start && start + bytes < end).then(|| Array {
        pages: start..end,
        end: start + bytes,
        // Right behind another one is still that one's.
        front: (before + 1).max(start.saturating_sub(PAGE / 2)).min(start),
        offset: AtomicUsize::new(0),
    })
}

/// Each once, in their order. Behind the last byte of one, an address may be in front of the next one.
fn arranged(mut all: Vec<Array>) -> Vec<Array> {
    all.sort_by_key(|one| (one.pages.start, one.end));
    let mut found: Vec<Array> = Vec::new();
    for mut one in all {
        match found.last_mut() {
            Some(last) if last.pages.start == one.pages.start => {
                // Files may know of more or less of it.
                last.end = one.end;
                continue;
            }
            Some(last) if last.pages.end == one.pages.start => {
                let nearest = one.pages.start - PAGE / 2;
                one.front = (last.end + 1).max(nearest);
            }
            _ => {}
        }
        found.push(one);
    }
    found
}

fn address(at: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(at)
}

/// A mapping of the system's, past what this library keeps of those of the program. `None`: it gives none.
///
/// # Safety
/// As for `mmap`.
unsafe fn map(at: usize, length: usize, flags: c_int, file: c_int) -> Option<usize> {
    // As wide as the system takes them.
    let rights = i64::from(libc::PROT_READ | libc::PROT_WRITE);
    let (flags, file) = (i64::from(flags | libc::MAP_NORESERVE), i64::from(file));
    let offset = 0_i64;
    // SAFETY: the caller's promise.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            address(at),
            length,
            rights,
            flags,
            file,
            offset,
        )
    };
    usize::try_from(mapped).ok()
}

/// # Safety
/// As for `munmap`.
unsafe fn unmap(at: usize, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_munmap, address(at), length) };
}

/// Has the program read there only, or write, too.
fn protect(pages: &Range<usize>, writes: bool) -> bool {
    let rights = match writes {
        true => libc::PROT_READ | libc::PROT_WRITE,
        false => libc::PROT_READ,
    };
    // SAFETY: pages of a variable; what the program does there then faults, and waits for the thread that works with the device.
    unsafe { libc::mprotect(address(pages.start), pages.len(), rights) == 0 }
}

/// Copies what is not 0 into memory that is: what was never written stays no memory of the machine's.
///
/// # Safety
/// Both have so many bytes, whole pages.
unsafe fn copy(to: usize, from: usize, length: usize) {
    for at in (0..length).step_by(PAGE) {
        let (to, from) = (
            ptr::with_exposed_provenance_mut::<u64>(to + at),
            ptr::with_exposed_provenance::<u64>(from + at),
        );
        // SAFETY: the caller's promise.
        unsafe {
            let words = std::slice::from_raw_parts(from, PAGE / 8);
            if words.iter().any(|word| *word != 0) {
                ptr::copy_nonoverlapping(from, to, PAGE / 8);
            }
        }
    }
}

/// Has the pages of the variable that begins there be a file's; the distance from them to the library's view. `None`: the system
/// has no memory for that. Nobody else works with the device meanwhile.
pub fn share(start: usize) -> Option<usize> {
    let one = with_page(start)?;
    let (pages, length) = (&one.pages, one.pages.len());
    // SAFETY: system calls on a new file, new mappings, and the pages of the variable, in which nothing else is; they have the
    // same contents before and after.
    unsafe {
        let file = libc::memfd_create(c"okl device array".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return None;
        }
        let fits = libc::ftruncate(file, length as i64) == 0;
        let view = match fits {
            true => map(0, length, libc::MAP_SHARED, file),
            false => None,
        };
        let offset = view.and_then(|view| {
            // From now on a system call of another thread that fails there waits for us.
            one.offset.store(view.wrapping_sub(pages.start), Relaxed);
            let is_shared = protect(pages, false) && {
                copy(view, pages.start, length);
                map(
                    pages.start,
                    length,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    file,
                )
                .is_some()
            };
            if !is_shared {
                protect(pages, true);
                unmap(view, length);
            }
            is_shared.then(|| view.wrapping_sub(pages.start))
        });
        libc::close(file);
        one.offset.store(offset.unwrap_or(0), Relaxed);
        offset
    }
}

/// Has the pages be the program's own again. False: the system has no memory for that, and they stay a file's.
pub fn separate(start: usize) -> bool {
    let Some(one) = with_page(start) else {
        return true;
    };
    let (pages, length) = (&one.pages, one.pages.len());
    let view = pages.start.wrapping_add(one.offset.load(Relaxed));
    // SAFETY: as above.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let Some(new) = map(0, length, flags, -1) else {
            return false;
        };
        if !protect(pages, false) {
            unmap(new, length);
            return false;
        }
        copy(new, view, length);
        let flags = i64::from(libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED);
        let to = address(pages.start);
        // In one step: another thread finds the one or the other.
        let moved = libc::syscall(libc::SYS_mremap, address(new), length, length, flags, to);
        if moved < 0 {
            protect(pages, true);
            unmap(new, length);
            return false;
        }
        one.offset.store(0, Relaxed);
        unmap(view, length);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, AtomicU8};

    const P: usize = PAGE;

    #[test]
    fn only_variables_that_are_alone_in_their_pages_are_arrays() {
        let all = [
            (P - 100, P - 50),
            (P, 21 * P),
            (21 * P, 21 * P + 8),
            (30 * P, 50 * P),
            (50 * P - 8, 50 * P + 8),
            (60 * P, 80 * P),
            (80 * P, 100 * P),
        ];
        let of = |start, bytes| {
            let found = array(&all, start, bytes)?;
            Some((found.pages.end, found.front))
        };
        assert_eq!(of(P, 20 * P - 8), Some((21 * P, P - 49)));
        // All of it is the program's: an address behind it may be the next one's.
        assert_eq!(of(P, 20 * P), None);
        // Another file's definition was taken, or there is no symbol.
        assert_eq!(of(P, 40 * P), None);
        assert_eq!(of(2 * P, P), None);
        assert_eq!(of(30 * P, 10 * P), None, "something reaches into it");
        assert_eq!(of(60 * P, 19 * P), Some((80 * P, 60 * P - P / 2)));
        assert_eq!(of(80 * P, 19 * P), Some((100 * P, 80 * P)));
    }

    #[test]
    fn addresses_around_arrays_lead_to_them() {
        let all = [(P, 2 * P), (2 * P, 3 * P), (9 * P, 10 * P)];
        let of = |start, bytes| array(&all, start, bytes).unwrap();
        let all = arranged(vec![
            of(2 * P, P - 100),
            of(P, 17),
            of(9 * P, 30),
            of(P, P - 100),
        ]);
        assert_eq!(all.len(), 3);
        let at = |address| among(&all, address).map(|pages| pages.start / P);
        assert_eq!([at(0), at(P - P / 2), at(P)], [None, Some(1), Some(1)]);
        assert_eq!([at(2 * P - 100), at(2 * P - 99)], [Some(1), Some(2)]);
        assert_eq!([at(3 * P - 1), at(3 * P), at(8 * P)], [Some(2), None, None]);
        assert_eq!([at(9 * P - P / 2), at(10 * P)], [Some(9), None]);
    }

    /// As the compiler lays them out.
    #[repr(align(4096))]
    struct Own([AtomicU8; 70000]);

    #[repr(C)]
    struct Row(&'static Own, usize);

    static OWN: Own = Own([const { AtomicU8::new(0) }; 70000]);

    #[used]
    #[unsafe(link_section = "okl_arrays")]
    static ROW: Row = Row(&OWN, 70000);

    #[test]
    fn a_variable_is_mapped_twice_while_a_device_has_it() {
        find();
        let start = OWN.0.as_ptr().addr();
        let pages = start..start + size_of::<Own>();
        assert_eq!(around(start + 70000), Some(pages.clone()));
        assert!(contains(pages.end - 1) && !contains(pages.end));
        assert_eq!(without(start - 16..pages.end + 8, start - 8).end, start);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Of another thread no write is lost: where it may not write, it asks the system until it may.
            let writer = scope.spawn(|| {
                let file = tempfile();
                let mut count = 0_u8;
                while !stop.load(Relaxed) {
                    count = count.wrapping_add(1);
                    write(&file, start + 50000, count);
                }
                count
            });
            for round in 1..=100 {
                OWN.0[1].store(round, Relaxed);
                let offset = share(start).expect("there is memory");
                assert!(is_watched(start));
                let view = |at: usize| {
                    let at = start.wrapping_add(at).wrapping_add(offset);
                    // SAFETY: the library's view of the variable.
                    unsafe { &*ptr::with_exposed_provenance::<AtomicU8>(at) }
                };
                assert_eq!(view(1).load(Relaxed), round);
                assert!(protect(&pages, false));
                view(69999).store(round, Relaxed);
                assert_eq!(OWN.0[69999].load(Relaxed), round);
                assert!(protect(&pages, true));
                assert!(separate(start) && !is_watched(start));
                assert_eq!(OWN.0[69999].load(Relaxed), round);
            }
            stop.store(true, Relaxed);
            let count = writer.join().unwrap();
            assert_eq!(OWN.0[50000].load(Relaxed), count);
        });
    }

    fn tempfile() -> File {
        // SAFETY: a new file of ours.
        unsafe { File::from_raw_fd(libc::memfd_create(c"okl test".as_ptr(), 0)) }
    }

    /// Writes a byte by a system call, which fails where a store would fault.
    fn write(file: &File, at: usize, byte: u8) {
        file.write_at(&[byte], 0).unwrap();
        let to = ptr::with_exposed_provenance_mut::<c_void>(at);
        // SAFETY: a byte of the variable's.
        while unsafe { libc::pread(file.as_raw_fd(), to, 1, 0) } != 1 {}
    }
}
