//! The heap of the program's large blocks: a memory file that is mapped twice, so that the library reads and writes blocks in
//! its own view while the program's is protected.
//!
//! Guarantee: an address that points into a block, to its end, or right before it leads to that block: between two blocks
//! lies a page that belongs half to the one and half to the other. What was never a block's is closed to the program, which
//! would fill it where it runs beyond a block. Nothing here is locked while a driver is called, so that drivers may allocate
//! on any thread.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

pub use okl_abi::gpu::arrays::SMALLEST;

use crate::pages::{Access, PAGE};

/// So many bytes of blocks that were freed are kept: programs use some again and again.
const MOST_KEPT: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

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
    /// To here the program's view is open.
    open: usize,
    /// What is free before that, by its start.
    free: BTreeMap<usize, Free>,
    /// Bytes of it that are not zero.
    used: usize,
    /// Start and end of blocks.
    live: BTreeMap<usize, Block>,
}

#[derive(Clone, Copy)]
struct Free {
    end: usize,
    /// It was a block's, and was not given back to the machine.
    is_used: bool,
}

struct Block {
    end: usize,
    /// Whether something is known of it that has to be forgotten before it goes.
    is_watched: bool,
}

impl Blocks {
    /// Is free from now on.
    fn put(&mut self, range: Range<usize>, is_used: bool) {
        if range.is_empty() {
            return;
        }
        if is_used {
            self.used += range.len();
        }
        let end = range.end;
        self.free.insert(range.start, Free { end, is_used });
    }

    /// What is free there is not any more.
    fn take(&mut self, start: usize) {
        if let Some(free) = self.free.remove(&start)
            && free.is_used
        {
            self.used -= free.end - start;
        }
    }
}

/// A heap in which nothing changes.
pub struct Held(MutexGuard<'static, Blocks>);

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
            let map = |protection| {
                let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
                libc::mmap(ptr::null_mut(), size, protection, flags, file, 0)
            };
            let fits = libc::ftruncate(file, size as i64) == 0;
            let views = if fits {
                [libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE].map(map)
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
                    open: base,
                    free: BTreeMap::new(),
                    used: 0,
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

    /// A block. `None`: there is no room, or less memory than that.
    pub fn allocate(&self, length: usize, alignment: usize) -> Option<usize> {
        Some(self.place(length, alignment)?.0)
    }

    /// The same, and the bytes are zero.
    pub fn allocate_zeroed(&self, length: usize) -> Option<usize> {
        let (start, is_used) = self.place(length, 1)?;
        if is_used {
            // SAFETY: a new block.
            unsafe { ptr::write_bytes(self.view(start), 0, length) };
        }
        Some(start)
    }

    /// A block, and whether some of it may not be zero.
    fn place(&self, length: usize, alignment: usize) -> Option<(usize, bool)> {
        let found = self.find(length, alignment);
        if found.is_none() {
            self.has_been_full.store(true, Relaxed);
        }
        found
    }

    fn find(&self, length: usize, alignment: usize) -> Option<(usize, bool)> {
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
            let mut free = blocks.free.iter();
            let found = free.find_map(|(&start, one)| Some((start, *one, fits(start, one.end)?)));
            let (start, is_used) = match found {
                Some((start, Free { end, is_used }, at)) => {
                    blocks.take(start);
                    blocks.put(start..at, is_used);
                    blocks.put(at + bytes + PAGE..end, is_used);
                    (at, is_used)
                }
                None => {
                    let at = fits(blocks.end, self.base + self.size)?;
                    let end = at + bytes + PAGE;
                    if end > blocks.open {
                        if !self.protect(blocks.open..end, Access::Write) {
                            return None;
                        }
                        blocks.open = end;
                    }
                    blocks.put(blocks.end..at, false);
                    blocks.end = end;
                    (at, false)
                }
            };
            let block = Block {
                end: start + bytes,
                is_watched: false,
            };
            blocks.live.insert(start, block);
            Some((start, is_used))
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

    /// Whether something is known of the block that an address is in.
    pub fn watches(&self, address: usize) -> bool {
        self.blocks(|blocks| {
            let block = blocks.live.range(..=address).next_back();
            block.is_some_and(|(_, block)| address < block.end && block.is_watched)
        })
    }

    /// Takes back the block that starts there, which nobody watches; false where there is none.
    pub fn free(&self, start: usize) -> bool {
        let Some(block) = self.block_at(start) else {
            return false;
        };
        let is_kept = self.blocks(|blocks| blocks.used + block.len() <= MOST_KEPT);
        if !is_kept {
            // Until it is free nobody else can get it. The page behind it may have been in the middle of an earlier block.
            let length = block.end + PAGE - start;
            let (at, length) = ((start - self.base) as i64, length as i64);
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: a part of our file that nobody uses; where there are no holes it is overwritten.
            unsafe {
                if libc::fallocate(self.file.load(Relaxed), mode, at, length) != 0 {
                    ptr::write_bytes(self.view(start), 0, length as usize);
                }
            }
        }
        self.blocks(|blocks| {
            if blocks.live.remove(&start).is_none() {
                return false;
            }
            let (mut start, mut end) = (start, block.end + PAGE);
            if let Some((&before, one)) = blocks.free.range(..start).next_back()
                && one.end == start
                && one.is_used == is_kept
            {
                blocks.take(before);
                start = before;
            }
            if let Some(behind) = blocks.free.get(&end)
                && behind.is_used == is_kept
            {
                end = behind.end;
                blocks.take(block.end + PAGE);
            }
            match end == blocks.end && !is_kept {
                true => blocks.end = start,
                false => blocks.put(start..end, is_kept),
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
    pub fn separate(&self, held: &Held) -> bool {
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
                let protection = match start == self.base {
                    true => libc::PROT_NONE,
                    false => libc::PROT_READ | libc::PROT_WRITE,
                };
                let start = ptr::with_exposed_provenance_mut(start);
                let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
                if libc::mmap(start, self.size, protection, flags, new, 0) == libc::MAP_FAILED {
                    return false;
                }
            }
            if !self.protect(self.base..held.0.open, Access::Write) {
                return false;
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
    fn what_was_never_a_blocks_is_closed() {
        let arena = Arena::of(64 << 20).unwrap();
        let mut pipe = [0; 2];
        // SAFETY: two numbers; the system looks whether it may read there.
        let is_open = |at: usize, pipe: [i32; 2]| unsafe {
            libc::write(pipe[1], ptr::with_exposed_provenance(at), 1) == 1
        };
        // SAFETY: as above.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        let mut end = 0;
        for length in [PAGE, 100_000, 1] {
            let start = arena.allocate(length, 1).unwrap();
            end = start + length.next_multiple_of(PAGE);
            assert!(is_open(start, pipe) && is_open(end - 1, pipe));
            assert!(!is_open(end + PAGE, pipe), "{length} bytes");
        }
        // SAFETY: closed once.
        unsafe {
            libc::close(pipe[0]);
            libc::close(pipe[1]);
        }
        assert!(arena.contains(end + PAGE));
    }

    #[test]
    fn blocks_are_apart_and_found_by_addresses_around_them() {
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
            let start = match random.chance(50) {
                true => arena.allocate(length, alignment).unwrap(),
                false => arena.allocate_zeroed(length).unwrap(),
            };
            assert!(start.is_multiple_of(PAGE));
            if random.chance(10) {
                // Of a block that is not filled the other bytes are zero.
                assert!(arena.free(start));
                let start = arena.allocate_zeroed(length).unwrap();
                assert!(bytes(start, length).iter().all(|byte| *byte == 0));
                assert!(arena.free(start));
                let start = arena.allocate(length, alignment).unwrap();
                assert!(start.is_multiple_of(alignment));
                assert!(arena.free(start));
                continue;
            }
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
            let used = blocks.free.values().filter(|one| one.is_used);
            assert!(used.count() > 0 && blocks.used <= MOST_KEPT);
            let free: usize = blocks.free.iter().map(|(start, one)| one.end - start).sum();
            assert_eq!(free, blocks.end - arena.base - PAGE, "nothing is lost");
        });
        assert!(!arena.has_been_full());
        assert_eq!(arena.allocate(65 << 20, 1), None);
        assert!(arena.has_been_full());
    }

    #[test]
    fn pages_between_blocks_are_zero_again_too() {
        let arena = Arena::of(16 << 20).unwrap();
        let allocate = |length| arena.allocate(length, 1).unwrap();
        let (first, other) = (allocate(512 << 10), allocate(900 << 10));
        bytes(first, 512 << 10).fill(0xaa);
        assert!(arena.free(first));
        // Both in its place, with a page of it between them.
        let pair = [allocate(200 << 10), allocate(200 << 10)];
        // With this as much is kept as may be.
        assert!(arena.free(other) && arena.free(pair[0]) && arena.free(pair[1]));
        let start = arena.allocate_zeroed(400 << 10).unwrap();
        assert_eq!(start, pair[0]);
        assert!(bytes(start, 400 << 10).iter().all(|byte| *byte == 0));
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
