//! What memory of the program's an address leads to, where it is no large block of the heap, and no large variable: of other
//! memory what may belong to the object is copied to the device before a kernel runs, and what the kernel changed is copied back after it.
//!
//! Guarantee: the object that the address leads to is in the range, whole. More than that may be: bytes that the kernel does
//! not change are never written.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::arena::SMALLEST;
use crate::arrays;
use crate::mappings;
use crate::pages::PAGE;
use crate::symbols;

/// Where the caller's frames begin, and whether small blocks of the C library's heap are smaller than [`SMALLEST`].
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The stack pointer of the program's code that called us.
    pub frame: usize,
    /// Whether large blocks are never the C library's.
    pub has_arena: bool,
}

/// The range that the object at `address` is in; `None`: there is no memory.
pub fn around(address: usize, context: Context) -> Option<Range<usize>> {
    let range = own_stack(address, context.frame)
        .or_else(|| heap(address, context.has_arena))
        .or_else(|| global(address))
        .or_else(|| mapped(address, context.has_arena));
    range.map(in_words)
}

/// Where the C library's heap begins, once that is known.
static HEAP: AtomicUsize = AtomicUsize::new(0);

/// What a small block of the C library's heap may reach: what [`mapped`] finds, without asking the system for all that is
/// mapped.
fn heap(address: usize, has_arena: bool) -> Option<Range<usize>> {
    let start = HEAP.load(Relaxed);
    // SAFETY: asks where it ends.
    let end = unsafe { libc::sbrk(0) }.addr();
    // Where it begins no block does: what ends there is another object.
    if !has_arena || start == 0 || address <= start || end < address {
        return None;
    }
    if mappings::around(address).is_some() {
        return None;
    }
    let range = reach(mappings::without_others(start..end, address), address);
    is_readable(&range).then_some(range)
}

/// Of the heap the block that an address is in, with what its allocator keeps in front of it.
fn reach(heap: Range<usize>, address: usize) -> Range<usize> {
    let reach = SMALLEST + 64;
    heap.start.max(address.saturating_sub(reach))..heap.end.min(address + reach)
}

/// With all of the words that it has a part of: where a device updates less than a word at once, it reads and compares the word.
pub fn in_words(range: Range<usize>) -> Range<usize> {
    const WORD: usize = 8;
    range.start / WORD * WORD..range.end.next_multiple_of(WORD)
}

/// What the calling thread's frames have, from the caller's on.
fn own_stack(address: usize, frame: usize) -> Option<Range<usize>> {
    thread_local! {
        static STACK: Range<usize> = bounds();
    }
    let stack = STACK.with(Clone::clone);
    (stack.contains(&frame) && (frame..=stack.end).contains(&address)).then_some(frame..stack.end)
}

/// The calling thread's stack; empty where it is not known.
fn bounds() -> Range<usize> {
    // SAFETY: asks for two numbers.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0..0;
        }
        let (mut low, mut size) = (ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&attributes, &mut low, &mut size) == 0;
        libc::pthread_attr_destroy(&mut attributes);
        match known {
            true => low.addr()..low.addr() + size,
            false => 0..0,
        }
    }
}

/// The part of the program or a library with variables that the address is in, or ends; of a large one, the variables there.
fn global(address: usize) -> Option<Range<usize>> {
    struct Search {
        address: usize,
        part: Option<Range<usize>>,
        base: usize,
        file: String,
    }
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: both are valid for this call, the second is the one passed below; the loader's array of headers, and text.
        let (info, search, name) = unsafe {
            let name = CStr::from_ptr((*info).dlpi_name);
            (&*info, &mut *data.cast::<Search>(), name)
        };
        // SAFETY: as above.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let base = info.dlpi_addr as usize;
        let parts = headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD);
        for header in parts {
            let start = base + header.p_vaddr as usize;
            let part = start..start + header.p_memsz as usize;
            let is_inside = part.contains(&search.address);
            // One behind the last variable; if nothing else is there.
            if is_inside || part.end == search.address {
                search.part = Some(part);
                search.base = base;
                search.file = match name.is_empty() {
                    true => "/proc/self/exe".to_owned(),
                    false => name.to_string_lossy().into_owned(),
                };
            }
            if is_inside {
                return 1;
            }
        }
        0
    }
    let mut search = Search {
        address,
        part: None,
        base: 0,
        file: String::new(),
    };
    // SAFETY: `visit` gets a pointer to `search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let part = search.part?;
    if part.len() <= SMALLEST {
        return Some(arrays::without(part, address));
    }
    let variables = symbols::around(search.base, &search.file, address);
    let inside = |range: &Range<usize>| part.start <= range.start && range.end <= part.end;
    let range = variables.filter(inside).unwrap_or(part);
    Some(arrays::without(range, address))
}

/// What is mapped there without a gap, and can be read; of the C library's heap, what a small block may reach.
fn mapped(address: usize, has_arena: bool) -> Option<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let (range, name) = in_maps(&maps, address)?;
    if let Some(piece) = mappings::around(address) {
        let (own, _) = in_maps(&maps, address.min(piece.end - 1))?;
        let own = own.start.max(piece.start)..own.end.min(piece.end);
        // Where something begins right behind it, the address may lead to either.
        return Some(match own.end == address && range.contains(&address) {
            true => own.start..range.end,
            false => own,
        });
    }
    let range = mappings::without_others(range, address);
    if name != "[heap]" || !has_arena {
        return Some(range);
    }
    if range.contains(&address) {
        HEAP.store(range.start, Relaxed);
    }
    Some(reach(range, address))
}

/// What is mapped at an address under one name, without a gap, and can be read; and the name.
fn in_maps(maps: &str, address: usize) -> Option<(Range<usize>, &str)> {
    let mut found: Option<(Range<usize>, &str)> = None;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else {
            continue;
        };
        let name = words.nth(3).unwrap_or("");
        let Some((start, end)) = range.split_once('-') else {
            continue;
        };
        let number = |text| usize::from_str_radix(text, 16).ok();
        let (Some(start), Some(end)) = (number(start), number(end)) else {
            continue;
        };
        if !rights.starts_with('r') {
            continue;
        }
        match &mut found {
            Some((range, of)) if range.end == start && *of == name => range.end = end,
            // One behind the end belongs to what ends there, where nothing begins.
            Some((range, _))
                if range.contains(&address) || range.end == address && start > address =>
            {
                break;
            }
            _ => found = Some((start..end, name)),
        }
    }
    found.filter(|(range, _)| range.contains(&address) || range.end == address)
}

/// The parts of a range that are on one page each, of which at most so many bytes are looked at.
fn on_pages(range: &Range<usize>, most: usize) -> Vec<libc::iovec> {
    let pages = range.start / PAGE..range.end.div_ceil(PAGE);
    let pieces = pages.map(|page| {
        let (start, end) = (
            (page * PAGE).max(range.start),
            ((page + 1) * PAGE).min(range.end),
        );
        libc::iovec {
            iov_base: ptr::with_exposed_provenance_mut(start),
            iov_len: (end - start).min(most),
        }
    });
    pieces.collect()
}

/// Whether all of a range of a few pages can be read, and the system tells.
fn is_readable(range: &Range<usize>) -> bool {
    let pieces = on_pages(range, 1);
    let mut bytes = vec![0_u8; pieces.len()];
    read(&mut bytes, &pieces) == pieces.len() as isize
}

/// Copies pieces of memory of this process, or of none, one behind the other; how many bytes there were.
fn read(copy: &mut [u8], pieces: &[libc::iovec]) -> isize {
    let to = libc::iovec {
        iov_base: copy.as_mut_ptr().cast(),
        iov_len: copy.len(),
    };
    let count = pieces.len() as u64;
    // SAFETY: copies into `copy`.
    unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, pieces.as_ptr(), count, 0) }
}

/// Copies what there is of a range, up to where nothing can be read any more, into as many bytes that are 0.
pub fn snapshot_into(range: &Range<usize>, copy: &mut [u8]) {
    // Another thread may unmap what is no part of the object: the system then reads less, where we would fault.
    // Of a piece it reads all or nothing.
    let pieces = on_pages(range, PAGE);
    let mut done = 0;
    for pieces in pieces.chunks(512) {
        let read = read(&mut copy[done..], pieces);
        let all: usize = pieces.iter().map(|piece| piece.iov_len).sum();
        if read < 0 && matches!(errno(), libc::ENOSYS | libc::EPERM) {
            let from = ptr::with_exposed_provenance::<u8>(range.start);
            // SAFETY: the range was mapped; the system does not let us ask more carefully.
            unsafe { ptr::copy_nonoverlapping(from, copy.as_mut_ptr(), copy.len()) };
            return;
        }
        done += usize::try_from(read).unwrap_or(0);
        if usize::try_from(read) != Ok(all) {
            break;
        }
    }
}

fn errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Writes into memory what of `new` is not as it was; how many bytes.
///
/// # Safety
/// The range can be written where the two differ.
pub unsafe fn write_changes(start: usize, old: &[u8], new: &[u8]) -> usize {
    const WORD: usize = 64;
    let mut changed = 0;
    for (at, (old, new)) in old.chunks(WORD).zip(new.chunks(WORD)).enumerate() {
        if old == new {
            continue;
        }
        for (behind, (old, new)) in old.iter().zip(new).enumerate() {
            if old != new {
                // SAFETY: the caller's promise.
                unsafe {
                    ptr::with_exposed_provenance_mut::<u8>(start + at * WORD + behind).write(*new)
                };
                changed += 1;
            }
        }
    }
    changed
}

/// Ranges that overlap or touch as one, with whether one of them is written.
pub fn joined(mut ranges: Vec<(Range<usize>, bool)>) -> Vec<(Range<usize>, bool)> {
    ranges.sort_by_key(|(range, _)| range.start);
    let mut all: Vec<(Range<usize>, bool)> = Vec::new();
    for (range, writes) in ranges {
        match all.last_mut() {
            Some((last, written)) if range.start <= last.end => {
                last.end = last.end.max(range.end);
                *written |= writes;
            }
            _ => all.push((range, writes)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r--p 00000000 00:00 0 \n\
2000-5000 rw-p 00000000 00:00 0 \n\
5000-6000 ---p 00000000 00:00 0 \n\
10000-100000 rw-p 00000000 00:00 0                    [heap]\n\
100000-101000 r--p 00000000 08:01 17                  /lib/x.so\n\
200000-201000 rw-p 00000000 00:00 0\n";

    #[test]
    fn what_is_mapped_in_one_piece_is_found() {
        let at =
            |address| in_maps(MAPS, address).map(|(range, name)| (range.start, range.end, name));
        assert_eq!(at(0x1800), Some((0x1000, 0x5000, "")));
        assert_eq!(at(0x5000), Some((0x1000, 0x5000, "")));
        assert_eq!(at(0x5800), None);
        assert_eq!(at(0x10000), Some((0x10000, 0x100000, "[heap]")));
        assert_eq!(at(0x100000), Some((0x100000, 0x101000, "/lib/x.so")));
        assert_eq!(at(0x101000), Some((0x100000, 0x101000, "/lib/x.so")));
        assert_eq!(at(0x200fff), Some((0x200000, 0x201000, "")));
        assert_eq!(at(0x201000), Some((0x200000, 0x201000, "")));
        assert_eq!(at(0x300000), None);
        assert_eq!(at(0), None);
    }

    fn snapshot(range: &Range<usize>) -> Vec<u8> {
        let mut copy = vec![0_u8; range.len()];
        snapshot_into(range, &mut copy);
        copy
    }

    static TABLE: [u64; 4] = [1, 2, 3, 4];

    #[test]
    fn objects_of_all_kinds_are_in_their_ranges() {
        let array = [1_u32; 100];
        let frame = (&raw const array).addr();
        let context = Context {
            frame,
            has_arena: true,
        };
        let on_stack = around(frame + 40, context).unwrap();
        assert!(on_stack.start == frame && on_stack.end > frame + 400);
        let table = TABLE.as_ptr().addr();
        let global = around(table, context).unwrap();
        assert!(global.contains(&table) && global.contains(&(table + 31)));
        let small = vec![7_u8; 500].leak();
        let start = small.as_ptr().addr();
        let heap = around(start + 250, context).unwrap();
        assert!(heap.contains(&start) && heap.end >= start + 500);
        let copy = snapshot(&heap);
        assert_eq!(&copy[start - heap.start..][..500], small);
        assert_eq!(around(8, context), None);
        // Another thread's stack.
        let other = std::thread::spawn(move || {
            around(
                frame,
                Context {
                    frame: 0,
                    has_arena: true,
                },
            )
        });
        let other = other.join().unwrap().unwrap();
        assert!(other.start <= frame && other.end >= frame + 400);
    }

    #[test]
    fn the_heap_is_found_again_without_the_list_of_what_is_mapped() {
        // In the middle of a piece that is larger than what is looked at.
        // SAFETY: new memory, which nobody else has.
        let start = unsafe { libc::sbrk(1 << 19) }.addr();
        let address = start + (1 << 18) + 24;
        let slow = mapped(address, true);
        assert_eq!(slow, Some(address - SMALLEST - 64..address + SMALLEST + 64));
        assert_eq!(heap(address, true), slow);
        assert_eq!(heap(address, false), None);
        assert_eq!(heap(8, true), None);
        // A page that nobody can read.
        let page = ptr::with_exposed_provenance_mut(address.next_multiple_of(PAGE) + PAGE);
        // SAFETY: memory of this test.
        unsafe { libc::mprotect(page, PAGE, libc::PROT_NONE) };
        assert_eq!(heap(address, true), None);
        assert_eq!(mapped(address, true).unwrap().end, page.addr());
        // SAFETY: as above.
        unsafe { libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) };
    }

    #[test]
    fn a_snapshot_ends_where_nothing_is_mapped() {
        // SAFETY: memory of this test.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let first = libc::mmap(
                ptr::null_mut(),
                3 << 20,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
            let start = first.expose_provenance();
            first.cast::<u8>().write_bytes(9, 3 << 20);
            libc::munmap(first.byte_add(2 << 20), 1 << 20);
            let copy = snapshot(&(start..start + (3 << 20)));
            assert!(copy[..2 << 20].iter().all(|byte| *byte == 9));
            assert!(copy[2 << 20..].iter().all(|byte| *byte == 0));
            libc::munmap(first, 2 << 20);
        }
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut memory = [0_u8; 200];
        let old = [1_u8; 200];
        let mut new = old;
        (new[3], new[199]) = (5, 6);
        // SAFETY: an array.
        let changed = unsafe { write_changes(memory.as_mut_ptr().expose_provenance(), &old, &new) };
        let mut expected = [0; 200];
        (expected[3], expected[199]) = (5, 6);
        assert_eq!((changed, memory), (2, expected));
    }

    #[test]
    fn ranges_that_meet_are_one() {
        let all = joined(vec![
            (10..20, false),
            (0..5, false),
            (15..30, true),
            (30..31, false),
        ]);
        assert_eq!(all, [(0..5, false), (10..31, true)]);
    }
}
