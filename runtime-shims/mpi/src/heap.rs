//! The allocator of a rank's shared arena.
//!
//! Guarantee: live blocks do not overlap, are aligned as asked, and keep their contents. A `free` of
//! something that is not a live block is found, and changes nothing.
//!
//! A header of 16 bytes lies in front of each block, in the arena, where coherence shows it to every
//! rank: any rank can free or resize a block of any arena. Who frees a block of another rank's arena may
//! give it out again until the next synchronisation and hands it back there: a program that allocates in
//! regions what serial code frees, or the other way round, must not use up an arena.
//! Everything else (free lists, ranges of free pages) is private to the process.
//!
//! Small blocks come from chunks by size class and go back to the list of their class. From 16 KiB on,
//! or with an alignment of a page or more, a block has pages of its own: a page for its header, so that
//! the owner of the data in front is never disturbed, then the data. Such pages are joined with their
//! free neighbours and given out again to the request they fit best. Where many of them are free their memory goes back to
//! the machine at a synchronisation: [`Heap::take_idle`].

mod extents;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, ptr};

pub(crate) use extents::Arenas;
use extents::{Extents, aligned_start};
use okl_coherence::PAGE;

/// Bytes of a header, and the alignment of every block.
const HEADER: usize = 16;
/// Largest length of a small block's data.
const SMALL: usize = (16 << 10) - HEADER;
/// Bytes that a small block has at most with its header.
pub(crate) const MOST_SMALL: usize = SMALL + HEADER;
/// Bytes of the chunks that small blocks are cut from.
const CHUNK: usize = 64 << 10;
/// Number of size classes.
const CLASSES: usize = class_of(SMALL) + 1;

/// Why an address given to `free` or `realloc` cannot be one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// No live block starts there, or its header was overwritten.
    NotABlock,
    /// The block that starts there is free.
    AlreadyFree,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotABlock => {
                "where no allocated block starts (or something wrote over the 16 bytes in front of it)"
            }
            Self::AlreadyFree => "which was freed before",
        })
    }
}

/// What a header says.
#[derive(Clone, Copy, Debug)]
enum Block {
    /// A block of size class `class`.
    Small { class: usize },
    /// A block with pages of its own, `length` bytes of data.
    Large { length: usize },
    /// The aligned part of a small block, whose data start `back` bytes in front.
    Aligned { back: usize },
}

/// Where new small blocks are cut from.
#[derive(Debug)]
struct Chunk {
    next: usize,
    end: usize,
    /// Memory from here on was never given out: it reads as zero.
    fresh_from: usize,
}

/// Memory that was found for a request.
struct Place {
    start: usize,
    /// Memory from here on was never given out: it reads as zero.
    fresh_from: usize,
}

/// Most words of a list of blocks that go back at one synchronisation.
const RETURNED: usize = 1 << 14;
/// In such a list: a small block is its address with its class + 1 from this bit on, a range of pages
/// its start and its end.
const CLASS_SHIFT: u32 = 48;

/// In the end of a large block: none any more, small ones are cut from its pages.
pub(crate) const NO_LARGE: usize = 1;

/// Free pages give their memory back where so many bytes of them lie together and were free at the last synchronisations.
/// (The C library's allocator does so with blocks of that size, at once.) What is less, or was freed a moment ago, is likely
/// to be used again soon.
const IDLE: usize = if cfg!(test) { 256 << 10 } else { 32 << 20 };

/// At most so many synchronisations lie between two looks at what is idle, and so often that grows.
const MOST_PERIOD: u32 = 1 << 14;
const GROWTH: u32 = 4;
/// So many times it may have been in vain to give memory back.
const MOST_IN_VAIN: u32 = 4;

/// Nothing of a place is fresh.
const NEVER: usize = usize::MAX;

/// When it is looked at what is idle: at each synchronisation at first. Work arrays that a program frees and allocates again
/// in each of its steps would cost a page fault for each page then, on every rank: where memory is used again and again that
/// has gone back, it is looked less often.
#[derive(Debug)]
struct Looks {
    /// Synchronisations from one look to the next.
    period: u32,
    /// Of these, how many are still to come.
    left: u32,
    /// What went back at the last look that found something, as far as none of it has been used since.
    returned: Extents,
    /// Synchronisations since then.
    age: u32,
    /// How often some of it has been used.
    in_vain: u32,
}

impl Looks {
    fn new(arenas: Arenas) -> Self {
        Self {
            period: 1,
            left: 1,
            returned: Extents::new(arenas),
            age: 0,
            in_vain: 0,
        }
    }

    /// At a synchronisation: whether to look.
    fn is_due(&mut self) -> bool {
        self.age = self.age.saturating_add(1);
        if self.age == MOST_PERIOD && self.returned.longest() > 0 {
            // It was right to give it back.
            self.returned.clear();
            (self.period, self.left, self.in_vain) = (1, 1, 0);
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }

    /// These have gone back.
    fn note_returned(&mut self, ranges: &[(usize, usize)]) {
        if !ranges.is_empty() {
            self.age = 0;
            self.returned.clear();
            for &(start, end) in ranges {
                self.returned.insert(start, end);
            }
        }
    }

    /// Pages change their use.
    fn note_used(&mut self, start: usize, end: usize) {
        if self.returned.overlaps(start, end) {
            self.returned.clear();
            self.in_vain += 1;
            if self.in_vain > MOST_IN_VAIN {
                self.period = (self.period * GROWTH).min(MOST_PERIOD);
                self.left = self.period;
            }
        }
    }
}

/// The allocator of one arena.
#[derive(Debug)]
pub(crate) struct Heap {
    arenas: Arenas,
    base: usize,
    limit: usize,
    /// First address that was never given out.
    end: usize,
    chunk: Chunk,
    /// Data addresses of free small blocks, by class.
    small: [Vec<usize>; CLASSES],
    pages: Extents,
    /// Of these, what has been in use since it was last given back to the machine: since no look, since one, and since
    /// more.
    idle: [Extents; 3],
    looks: Looks,
    /// The same of other ranks' arenas, until they go back.
    foreign_small: [Vec<usize>; CLASSES],
    foreign_pages: Extents,
    /// Some of `foreign_small` may have blocks.
    has_foreign_small: bool,
    /// Data start to end of the large blocks this rank gave out. An entry outlives its block where
    /// another rank freed it, until its pages are used again.
    large: BTreeMap<usize, usize>,
    /// The large blocks given out since the other ranks were told.
    new_large: BTreeMap<usize, usize>,
    live: i64,
}

impl Heap {
    /// The heap over the `size` bytes at `base`, both multiples of the page size.
    ///
    /// It is one of `arenas`; blocks of the others may be freed here.
    ///
    /// # Safety
    /// The range is mapped, reads as zero at first, and only blocks of this heap are accessed in it. Both
    /// hold for the arenas of other ranks.
    pub(crate) unsafe fn new(base: usize, size: usize, arenas: Arenas) -> Self {
        assert!(base.is_multiple_of(PAGE) && size.is_multiple_of(PAGE) && size > 0);
        assert!(arenas.offset(base) == 0);
        Self {
            arenas,
            base,
            limit: base + size,
            end: base,
            chunk: Chunk {
                next: base,
                end: base,
                fresh_from: NEVER,
            },
            small: [const { Vec::new() }; CLASSES],
            pages: Extents::new(arenas),
            idle: [(); 3].map(|()| Extents::new(arenas)),
            looks: Looks::new(arenas),
            foreign_small: [const { Vec::new() }; CLASSES],
            foreign_pages: Extents::new(arenas),
            has_foreign_small: false,
            large: BTreeMap::new(),
            new_large: BTreeMap::new(),
            live: 0,
        }
    }

    /// A block of at least `length` bytes at a multiple of `alignment`, a power of two. `None`: the arena
    /// is full.
    pub(crate) fn allocate(&mut self, length: usize, alignment: usize) -> Option<usize> {
        Some(self.place(length, alignment)?.start)
    }

    /// As [`Heap::allocate`], and the `length` bytes are zero.
    pub(crate) fn allocate_zeroed(&mut self, length: usize, alignment: usize) -> Option<usize> {
        let Place { start, fresh_from } = self.place(length, alignment)?;
        let used = length.min(fresh_from.saturating_sub(start));
        // SAFETY: the first `length` bytes of a new block.
        unsafe { ptr::write_bytes(start as *mut u8, 0, used) };
        Some(start)
    }

    /// Takes back the block at `address`, of any rank's arena.
    pub(crate) fn free(&mut self, address: usize) -> Result<(), Misuse> {
        let block = self.block_at(address)?;
        self.live -= self.capacity(address, block)? as i64;
        match block {
            Block::Small { class } => self.free_small(address, class),
            Block::Large { length } => {
                write_header(address, block, State::Free);
                self.free_pages(address - PAGE, address + length);
            }
            Block::Aligned { back } => {
                let real = address - back;
                let Block::Small { class } = self.block_at(real)? else {
                    return Err(Misuse::NotABlock);
                };
                write_header(address, block, State::Free);
                self.free_small(real, class);
            }
        }
        Ok(())
    }

    /// Makes the block at `address` hold `length` bytes, elsewhere if need be; contents are kept up to the
    /// shorter length. `Ok(None)`: the arena is full, and the block is as it was.
    pub(crate) fn resize(
        &mut self,
        address: usize,
        length: usize,
    ) -> Result<Option<usize>, Misuse> {
        let block = self.block_at(address)?;
        let capacity = self.capacity(address, block)?;
        if let Block::Large { .. } = block {
            if self.resize_pages(address, capacity, length) {
                return Ok(Some(address));
            }
        } else if length <= capacity {
            return Ok(Some(address));
        }
        let Some(new) = self.allocate(length, HEADER) else {
            return Ok(None);
        };
        // SAFETY: two live blocks, which do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(address as *const u8, new as *mut u8, capacity.min(length));
        }
        self.free(address)?;
        Ok(Some(new))
    }

    /// How many bytes the block at `address` can hold.
    pub(crate) fn usable_length(&self, address: usize) -> Result<usize, Misuse> {
        self.capacity(address, self.block_at(address)?)
    }

    /// Memory that holds the object at `address`, as (start, length): the whole data of a large block, else
    /// the pages of this arena, from the page of `address` on, that a small block there can reach. `None`:
    /// neither in the used part of this rank's arena nor in a large block of this rank.
    pub(crate) fn extent_of(&self, address: usize) -> Option<(usize, usize)> {
        if let Some((&start, &end)) = self.large.range(..=address).next_back()
            && address < end
        {
            return Some((start, end - start));
        }
        if !(self.base..self.end).contains(&address) {
            return None;
        }
        let start = address / PAGE * PAGE;
        let end = (start + PAGE + SMALL + HEADER).min(self.end);
        Some((start, end - start))
    }

    /// The large block of this rank's that an address lies in: where its data start and end.
    pub(crate) fn large_at(&self, address: usize) -> Option<(usize, usize)> {
        let (&start, &end) = self.large.range(..=address).next_back()?;
        (address < end).then_some((start, end))
    }

    /// Bytes in live blocks: what this rank gave out less what it took back. The sum over all ranks is
    /// exact; one rank's number is negative where it frees what others allocate.
    pub(crate) fn bytes_live(&self) -> i64 {
        self.live
    }

    /// Free blocks of other ranks' arenas, as words for [`Heap::take_back`]; they are no longer this heap's.
    pub(crate) fn give_back(&mut self) -> Vec<u64> {
        let mut words = Vec::new();
        while words.len() < RETURNED
            && let Some((start, end)) = self.foreign_pages.take_first()
        {
            words.extend([start as u64, end as u64]);
        }
        if !std::mem::take(&mut self.has_foreign_small) {
            return words;
        }
        for (class, list) in (1u64..).zip(&mut self.foreign_small) {
            let count = list.len().min(RETURNED.saturating_sub(words.len()));
            let given = list.drain(list.len() - count..);
            words.extend(given.map(|address| address as u64 | class << CLASS_SHIFT));
            self.has_foreign_small |= !list.is_empty();
        }
        words
    }

    /// Takes what is this rank's out of a list that some rank gave back.
    pub(crate) fn take_back(&mut self, words: &[u64]) {
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let address = (word & ((1 << CLASS_SHIFT) - 1)) as usize;
            match (word >> CLASS_SHIFT) as usize {
                0 => {
                    let end = words.next().expect("the end of a range") as usize;
                    if self.is_own(address) {
                        self.free_pages(address, end);
                    }
                }
                class => {
                    if self.is_own(address) {
                        self.small[class - 1].push(address);
                    }
                }
            }
        }
    }

    fn place(&mut self, length: usize, alignment: usize) -> Option<Place> {
        debug_assert!(alignment.is_power_of_two());
        // An empty block has an address of its own, too.
        let length = length.max(1);
        let place = if alignment <= HEADER && length <= SMALL {
            self.place_small(length)?
        } else if alignment < PAGE && length.checked_add(alignment)? <= SMALL {
            let mut place = self.place_small(length + alignment - HEADER)?;
            let aligned = place.start.next_multiple_of(alignment);
            if aligned > place.start {
                let alias = Block::Aligned {
                    back: aligned - place.start,
                };
                write_header(aligned, alias, State::Live);
                place.start = aligned;
            }
            place
        } else {
            self.place_large(length, alignment.max(PAGE))?
        };
        self.live += self.usable_length(place.start).expect("a new block") as i64;
        Some(place)
    }

    fn place_small(&mut self, length: usize) -> Option<Place> {
        let class = class_of(length);
        let free = self.small[class]
            .pop()
            .or_else(|| self.foreign_small[class].pop());
        let place = match free {
            Some(start) => Place {
                start,
                fresh_from: NEVER,
            },
            None => self.cut(class)?,
        };
        write_header(place.start, Block::Small { class }, State::Live);
        Some(place)
    }

    /// Cuts a new block off the chunk.
    fn cut(&mut self, class: usize) -> Option<Place> {
        let bytes = HEADER + data_bytes(class);
        if self.chunk.end - self.chunk.next < bytes {
            let length = bytes.next_multiple_of(PAGE);
            let (place, length) = match self.take_pages(CHUNK, 0, PAGE) {
                Some(place) => (place, CHUNK),
                None => (self.take_pages(length, 0, PAGE)?, length),
            };
            let Place { start, fresh_from } = place;
            self.new_large.insert(start, (start + length) | NO_LARGE);
            if start == self.chunk.end {
                // Blocks of one size lie at one distance beyond the end of a chunk, too.
                self.chunk.end += length;
                if fresh_from > start {
                    self.chunk.fresh_from = fresh_from;
                }
            } else {
                self.cut_up_chunk();
                self.chunk = Chunk {
                    next: start,
                    end: start + length,
                    fresh_from,
                };
            }
        }
        let start = self.chunk.next + HEADER;
        self.chunk.next += bytes;
        Some(Place {
            start,
            fresh_from: self.chunk.fresh_from,
        })
    }

    /// Makes free blocks of what is left of the chunk.
    fn cut_up_chunk(&mut self) {
        while let Some(class) = (0..CLASSES)
            .rfind(|&class| HEADER + data_bytes(class) <= self.chunk.end - self.chunk.next)
        {
            let start = self.chunk.next + HEADER;
            self.chunk.next = start + data_bytes(class);
            self.free_small(start, class);
        }
    }

    fn free_small(&mut self, address: usize, class: usize) {
        write_header(address, Block::Small { class }, State::Free);
        if self.is_own(address) {
            self.small[class].push(address);
        } else {
            self.foreign_small[class].push(address);
            self.has_foreign_small = true;
        }
    }

    fn place_large(&mut self, length: usize, alignment: usize) -> Option<Place> {
        let length = length.checked_next_multiple_of(PAGE)?;
        let mut place = self.take_pages(length.checked_add(PAGE)?, PAGE, alignment)?;
        place.start += PAGE;
        self.write_large(place.start, length);
        Some(place)
    }

    /// Makes `length` bytes at `address` a large block.
    fn write_large(&mut self, address: usize, length: usize) {
        write_header(address, Block::Large { length }, State::Live);
        self.large.insert(address, address + length);
        self.new_large.insert(address, address + length);
    }

    /// Start and end of the large blocks given out since the last call, for the other ranks.
    pub(crate) fn take_new_large(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.new_large)
            .into_iter()
            .flat_map(|(start, end)| [start as u64, end as u64])
            .collect()
    }

    /// `length` bytes of pages at which `start + lead` is a multiple of `alignment`.
    fn take_pages(&mut self, length: usize, lead: usize, alignment: usize) -> Option<Place> {
        let free = self.pages.take(length, lead, alignment);
        let free = free.or_else(|| self.foreign_pages.take(length, lead, alignment));
        if let Some(start) = free {
            self.forget_large(start, start + length);
            return Some(Place {
                start,
                fresh_from: NEVER,
            });
        }
        let fresh_from = self.end;
        let free_from = self.pages.take_ending_at(fresh_from).unwrap_or(fresh_from);
        let place = aligned_start(free_from, lead, alignment).and_then(|start| {
            let end = start.checked_add(length)?;
            (end <= self.limit).then_some((start, end))
        });
        let Some((start, end)) = place else {
            self.pages.insert_if_any(free_from, fresh_from);
            return None;
        };
        // An end in front of the old one would have been found among the free ranges.
        self.end = end;
        self.pages.insert_if_any(free_from, start);
        self.forget_large(start, end);
        Some(Place { start, fresh_from })
    }

    /// At each synchronisation: ranges of this rank's pages that have been free for some of them, and whose memory may go
    /// back to the machine. What they hold need not stay, as long as that is done before any of them is given out again.
    pub(crate) fn take_idle(&mut self) -> Vec<(usize, usize)> {
        if !self.looks.is_due() {
            return Vec::new();
        }
        let [new, newer, old] = &mut self.idle;
        let idle = old.take_long(IDLE);
        self.looks.note_returned(&idle);
        while let Some((start, end)) = newer.take_first() {
            old.insert(start, end);
        }
        while let Some((start, end)) = new.take_first() {
            newer.insert(start, end);
        }
        idle
    }

    /// Whether the next synchronisations are to give memory back.
    pub(crate) fn has_idle(&self) -> bool {
        match self.looks.period {
            1 => self.idle.iter().any(|idle| idle.longest() >= IDLE),
            // There will be others before.
            _ => false,
        }
    }

    fn free_pages(&mut self, start: usize, end: usize) {
        self.forget_large(start, end);
        if self.is_own(start) {
            self.pages.insert(start, end);
            self.idle[0].insert(start, end);
        } else {
            self.foreign_pages.insert(start, end);
        }
    }

    /// Whether the large block at `address` was made to hold `length` bytes where it is.
    fn resize_pages(&mut self, address: usize, have: usize, length: usize) -> bool {
        let Some(want) = length.max(1).checked_next_multiple_of(PAGE) else {
            return false;
        };
        let end = address + have;
        if want < have {
            self.free_pages(address + want, end);
        } else if want > have && !self.take_more(end, want - have) {
            return false;
        }
        self.write_large(address, want);
        self.live += want as i64 - have as i64;
        true
    }

    /// Takes the `more` bytes of pages at `end`, if they are free.
    fn take_more(&mut self, end: usize, more: usize) -> bool {
        if self.arenas.offset(end) == 0 {
            return false;
        }
        if self.pages.take_at(end, more) || self.foreign_pages.take_at(end, more) {
            self.forget_large(end, end + more);
            return true;
        }
        let old_end = self.end;
        let free_from = if end == old_end {
            end
        } else if let Some(start) = self.pages.take_ending_at(old_end) {
            start
        } else {
            return false;
        };
        if free_from == end && more <= self.limit - end {
            self.end = end + more;
            self.forget_large(end, self.end);
            true
        } else {
            self.pages.insert_if_any(free_from, old_end);
            false
        }
    }

    /// Drops what is known of large blocks in pages that change their use.
    fn forget_large(&mut self, start: usize, end: usize) {
        for idle in &mut self.idle {
            idle.exclude(start, end);
        }
        self.looks.note_used(start, end);
        for blocks in [&mut self.large, &mut self.new_large] {
            while let Some((&block, &block_end)) = blocks.range(..end).next_back()
                && start < block_end
            {
                blocks.remove(&block);
            }
        }
    }

    /// Whether `address` lies in this rank's arena.
    fn is_own(&self, address: usize) -> bool {
        (self.base..self.limit).contains(&address)
    }

    /// The live block at `address`.
    fn block_at(&self, address: usize) -> Result<Block, Misuse> {
        if !address.is_multiple_of(HEADER) || self.arenas.offset(address) < HEADER {
            return Err(Misuse::NotABlock);
        }
        // The header of a free block may have gone with its pages.
        read_header(address).map_err(|misuse| match self.pages.contains(address) {
            true => Misuse::AlreadyFree,
            false => misuse,
        })
    }

    fn capacity(&self, address: usize, block: Block) -> Result<usize, Misuse> {
        match block {
            Block::Small { class } => Ok(data_bytes(class)),
            Block::Large { length } => Ok(length),
            Block::Aligned { back } => match self.block_at(address - back)? {
                Block::Small { class } => Ok(data_bytes(class) - back),
                Block::Large { .. } | Block::Aligned { .. } => Err(Misuse::NotABlock),
            },
        }
    }
}

/// The smallest size class whose data hold `length` bytes. Blocks with their headers take 32, 48, … 128
/// bytes, then four sizes for each doubling.
const fn class_of(length: usize) -> usize {
    if length <= 128 - HEADER {
        return if length <= HEADER {
            0
        } else {
            (length - 1) / 16
        };
    }
    let last = length + HEADER - 1;
    let log = last.ilog2() as usize;
    7 + (log - 7) * 4 + (last >> (log - 2) & 3)
}

/// Bytes of data of a block of `class`.
const fn data_bytes(class: usize) -> usize {
    let block = if class < 7 {
        32 + class * 16
    } else {
        let (log, quarter) = (7 + (class - 7) / 4, (class - 7) % 4);
        (5 + quarter) << (log - 2)
    };
    block - HEADER
}

#[derive(Clone, Copy)]
enum State {
    Live,
    Free,
}

/// The first word of a header: it fits one address, contents and state only, so that neither stray data
/// nor a copied header passes for a block.
fn seal(address: usize, word: u64, state: State) -> u64 {
    let state = match state {
        State::Live => 0x6f6b_6c2d_6c69_7665,
        State::Free => 0x6f6b_6c2d_6672_6565,
    };
    let mixed = (address as u64 ^ word.rotate_left(24) ^ state).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

fn write_header(address: usize, block: Block, state: State) {
    let word = match block {
        Block::Small { class } => (class as u64) << 2,
        Block::Large { length } => (length as u64) << 2 | 1,
        Block::Aligned { back } => (back as u64) << 2 | 2,
    };
    // SAFETY: callers pass a block's data address, and its header is the heap's.
    unsafe {
        ptr::write(
            (address - HEADER) as *mut [u64; 2],
            [seal(address, word, state), word],
        )
    };
}

/// The live block at `address`, a multiple of [`HEADER`] in an arena but not its first.
fn read_header(address: usize) -> Result<Block, Misuse> {
    // SAFETY: the 16 bytes in front of `address` are in the same arena, which is mapped.
    let [sealed, word] = unsafe { ptr::read((address - HEADER) as *const [u64; 2]) };
    if sealed == seal(address, word, State::Free) {
        return Err(Misuse::AlreadyFree);
    }
    if sealed != seal(address, word, State::Live) {
        return Err(Misuse::NotABlock);
    }
    let value = (word >> 2) as usize;
    match word & 3 {
        0 if value < CLASSES => Ok(Block::Small { class: value }),
        1 => Ok(Block::Large { length: value }),
        2 => Ok(Block::Aligned { back: value }),
        _ => Err(Misuse::NotABlock),
    }
}
