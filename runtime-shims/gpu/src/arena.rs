//! The heap of the program's large blocks: a memory file that is mapped twice, so that the library reads and writes blocks in
//! its own view while the program's is protected.
//!
//! Guarantee: an address that points into a block, to its end, or right before it leads to that block: between two blocks
//! lies a page that belongs half to the one and half to the other. Memory that is given out is zero. Nothing here is locked
//! while a driver is called, so that drivers may allocate on any thread.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use crate::pages::{Access, PAGE};

/// Smaller blocks are the C library's.
pub const SMALLEST: usize = 64 << 10;

/// The heap.
pub struct Arena {
    /// The program's view.
    base: usize,
    /// From it to the library's.
    offset: usize,
    size: usize,
    file: AtomicI32,
    blocks: Mutex<Blocks>,
    /// A large block was the C library's, as there was no room here.
    has_been_full: AtomicBool,
}

pub struct Blocks {
    /// Behind what was ever given out.
    end: usize,
    /// What is free before that: start and end.
    free: BTreeMap<usize, usize>,
    /// Start and end of blocks.
    live: BTreeMap<usize, Block>,
}

struct Block {
    end: usize,
    /// Whether something is known of it that has to be forgotten before it goes.
    is_watched: bool,
}

/// A heap in which nothing changes.
pub struct Held(#[allow(dead_code, reason = "it is held")] MutexGuard<'static, Blocks>);

/// `sysconf`, as a number of bytes: the memory of the machine.
fn memory_of_machine() -> usize {
    // SAFETY: asks for numbers.
    let [pages, bytes] =
        [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    usize::try_from(pages.saturating_mul(bytes)).unwrap_or(0)
}

impl Arena {
    /// One that has room for more than the machine has; `None` where the system does not give as many addresses.
    pub fn new() -> Option<Self> {
        let size = memory_of_machine()
            .saturating_mul(4)
            .clamp(64 << 30, 1 << 40);
        Self::of(size / PAGE * PAGE)
    }

    /// One of `size` bytes, a multiple of a page.
    pub fn of(size: usize) -> Option<Self> {
        // SAFETY: system calls on memory of our own.
        unsafe {
            let file = libc::memfd_create(c"okl device memory".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return None;
            }
            let map = || {
                let (protection, flags) = (
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                );
                libc::mmap(ptr::null_mut(), size, protection, flags, file, 0)
            };
            let fits = libc::ftruncate(file, size as i64) == 0;
            let views = if fits {
                [map(), map()]
            } else {
                [libc::MAP_FAILED; 2]
            };
            if views.contains(&libc::MAP_FAILED) {
                for view in views.into_iter().filter(|view| *view != libc::MAP_FAILED) {
                    libc::munmap(view, size);
                }
                libc::close(file);
                return None;
            }
            let [base, view] = views.map(|view| view.expose_provenance());
            Some(Self {
                base,
                offset: view.wrapping_sub(base),
                size,
                file: AtomicI32::new(file),
                blocks: Mutex::new(Blocks {
                    end: base + PAGE,
                    free: BTreeMap::new(),
                    live: BTreeMap::new(),
                }),
                has_been_full: AtomicBool::new(false),
            })
        }
    }

    /// Whether an address is in the program's view.
    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    /// The library's view of an address of the program's.
    pub fn view(&self, address: usize) -> *mut u8 {
        ptr::with_exposed_provenance_mut(address.wrapping_add(self.offset))
    }

    /// Whether the C library has large blocks.
    pub fn has_been_full(&self) -> bool {
        self.has_been_full.load(Relaxed)
    }

    fn blocks<R>(&self, body: impl FnOnce(&mut Blocks) -> R) -> R {
        let mut blocks = self
            .blocks
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        body(&mut blocks)
    }

    /// A block, which is zero. `None`: there is no room, or less memory than that.
    pub fn allocate(&self, length: usize, alignment: usize) -> Option<usize> {
        let found = self.place(length, alignment);
        if found.is_none() {
            self.has_been_full.store(true, Relaxed);
        }
        found
    }

    fn place(&self, length: usize, alignment: usize) -> Option<usize> {
        let bytes = length.max(1).checked_next_multiple_of(PAGE)?;
        let alignment = alignment.max(PAGE);
        if bytes > memory_of_machine() || alignment > self.size / 2 {
            return None;
        }
        self.blocks(|blocks| {
            // A page behind it is no other block's.
            let fits = |start: usize, end: usize| {
                let at = start.checked_next_multiple_of(alignment)?;
                (at.checked_add(bytes + PAGE)? <= end).then_some(at)
            };
            let found = blocks
                .free
                .iter()
                .find_map(|(&start, &end)| Some((start, end, fits(start, end)?)));
            let start = match found {
                Some((start, end, at)) => {
                    blocks.free.remove(&start);
                    if start < at {
                        blocks.free.insert(start, at);
                    }
                    if at + bytes + PAGE < end {
                        blocks.free.insert(at + bytes + PAGE, end);
                    }
                    at
                }
                None => {
                    let at = fits(blocks.end, self.base + self.size)?;
                    if blocks.end < at {
                        blocks.free.insert(blocks.end, at);
                    }
                    blocks.end = at + bytes + PAGE;
                    at
                }
            };
            let block = Block {
                end: start + bytes,
                is_watched: false,
            };
            blocks.live.insert(start, block);
            Some(start)
        })
    }

    /// The block that an address leads to.
    pub fn block_of(&self, address: usize) -> Option<Range<usize>> {
        if !self.contains(address) {
            return None;
        }
        self.blocks(|blocks| {
            let (&start, block) = blocks.live.range(..=address + PAGE / 2).next_back()?;
            (address < block.end + PAGE / 2).then_some(start..block.end)
        })
    }

    /// The block that starts there.
    pub fn block_at(&self, start: usize) -> Option<Range<usize>> {
        self.blocks(|blocks| blocks.live.get(&start).map(|block| start..block.end))
    }

    /// From now on something is known of the block that starts there, or not any more.
    pub fn watch(&self, start: usize, is_watched: bool) {
        self.blocks(|blocks| {
            if let Some(block) = blocks.live.get_mut(&start) {
                block.is_watched = is_watched;
            }
        });
    }

    /// Whether something is known of it.
    pub fn is_watched(&self, start: usize) -> bool {
        self.blocks(|blocks| {
            blocks
                .live
                .get(&start)
                .is_some_and(|block| block.is_watched)
        })
    }

    /// Takes back the block that starts there, which nobody watches; false where there is none.
    pub fn free(&self, start: usize) -> bool {
        let Some(block) = self.block_at(start) else {
            return false;
        };
        // Its memory goes back to the machine first: until then nobody else can get it.
        let (at, length) = ((start - self.base) as i64, (block.end - start) as i64);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a part of our file that nobody uses; where there are no holes it is overwritten.
        unsafe {
            if libc::fallocate(self.file.load(Relaxed), mode, at, length) != 0 {
                ptr::write_bytes(self.view(start), 0, length as usize);
            }
        }
        self.blocks(|blocks| {
            if blocks.live.remove(&start).is_none() {
                return false;
            }
            let (mut start, mut end) = (start, block.end + PAGE);
            if let Some((&before, &its_end)) = blocks.free.range(..start).next_back()
                && its_end == start
            {
                blocks.free.remove(&before);
                start = before;
            }
            if let Some(behind) = blocks.free.remove(&end) {
                end = behind;
            }
            match end == blocks.end {
                true => blocks.end = start,
                false => {
                    blocks.free.insert(start, end);
                }
            }
            true
        })
    }

    /// The process forks: until this goes, nothing changes here.
    pub fn hold(&'static self) -> Held {
        Held(
            self.blocks
                .lock()
                .unwrap_or_else(|broken| broken.into_inner()),
        )
    }

    /// Gives a process that was forked memory of its own, in place of its parent's; false where there is not enough.
    pub fn separate(&self, _: &Held) -> bool {
        let old = self.file.load(Relaxed);
        // SAFETY: system calls on files and mappings of our own; in this process nobody else runs.
        unsafe {
            let new = libc::memfd_create(c"okl device memory".as_ptr(), libc::MFD_CLOEXEC);
            if new < 0 || libc::ftruncate(new, self.size as i64) != 0 {
                return false;
            }
            // Only what was ever written is there.
            let mut at = 0;
            loop {
                let start = libc::lseek(old, at, libc::SEEK_DATA);
                if start < 0 {
                    break;
                }
                at = libc::lseek(old, start, libc::SEEK_HOLE);
                let mut from = start;
                while from < at {
                    let data = self.view(self.base + from as usize);
                    let written = libc::pwrite(new, data.cast(), (at - from) as usize, from);
                    if written <= 0 {
                        return false;
                    }
                    from += written as i64;
                }
            }
            for start in [self.base, self.base.wrapping_add(self.offset)] {
                let start = ptr::with_exposed_provenance_mut(start);
                let (protection, flags) = (
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                );
                if libc::mmap(
                    start,
                    self.size,
                    protection,
                    flags | libc::MAP_FIXED,
                    new,
                    0,
                ) == libc::MAP_FAILED
                {
                    return false;
                }
            }
            libc::close(old);
            self.file.store(new, Relaxed);
        }
        true
    }

    /// Has the program's view of a range be protected so; false: there are too many mappings.
    pub fn protect(&self, range: Range<usize>, access: Access) -> bool {
        let protection = match access {
            Access::None => libc::PROT_NONE,
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        let start = ptr::with_exposed_provenance_mut::<c_void>(range.start);
        // SAFETY: pages of our mapping; what the program does there then faults, and is served.
        unsafe { libc::mprotect(start, range.len(), protection) == 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    fn bytes<'a>(start: usize, length: usize) -> &'a mut [u8] {
        // SAFETY: of a live block.
        unsafe { std::slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(start), length) }
    }

    #[test]
    fn blocks_are_zero_apart_and_found_by_addresses_around_them() {
        let arena = Arena::of(64 << 20).unwrap();
        let mut random = Random(7);
        let mut live: Vec<(usize, usize)> = Vec::new();
        for _ in 0..2000 {
            if live.len() > 20 || !live.is_empty() && random.chance(45) {
                let (start, length) = live.swap_remove(random.below(live.len()));
                assert!(bytes(start, length).iter().all(|byte| *byte == 0xaa));
                assert!(arena.free(start) && !arena.free(start));
                assert_eq!(arena.block_at(start), None);
                continue;
            }
            let length = 1 + random.below(300_000);
            let alignment = 1 << random.below(18);
            let start = arena.allocate(length, alignment).unwrap();
            assert!(start.is_multiple_of(alignment) && start.is_multiple_of(PAGE));
            assert!(bytes(start, length).iter().all(|byte| *byte == 0));
            bytes(start, length).fill(0xaa);
            live.push((start, length));
            let block = start..start + length.next_multiple_of(PAGE);
            for near in [
                start,
                start - 8,
                start + length / 2,
                start + length,
                block.end + 64,
            ] {
                assert_eq!(arena.block_of(near).as_ref(), Some(&block));
            }
        }
        for (start, _) in live {
            assert!(arena.free(start));
        }
        arena.blocks(|blocks| {
            assert_eq!(blocks.free.len(), 0, "all is one piece again");
            assert_eq!(blocks.end, arena.base + PAGE);
        });
        assert!(!arena.has_been_full());
        assert_eq!(arena.allocate(65 << 20, 1), None);
        assert!(arena.has_been_full());
    }

    #[test]
    fn the_library_s_view_is_writable_while_the_program_s_is_not() {
        let arena = Arena::of(16 << 20).unwrap();
        let start = arena.allocate(100_000, 1).unwrap();
        assert!(arena.protect(start..start + 8 * PAGE, Access::None));
        // SAFETY: a block of ours.
        unsafe { arena.view(start + 5000).write(17) };
        assert!(arena.protect(start..start + 8 * PAGE, Access::Read));
        assert_eq!(bytes(start, 100_000)[5000], 17);
        assert!(arena.protect(start..start + 8 * PAGE, Access::Write));
    }
}
