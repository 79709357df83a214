//! Where everything lies in the address space, and the numbering of shared pages.
//!
//! Guarantee: the layout is a function of its inputs, which all ranks agree on before they build it,
//! so a page number and an address mean the same on every rank.
//!
//! Shared pages are numbered in this order, and page `p` lies at offset `p * PAGE` of every rank's memory
//! file. That and its address differ by a multiple of [`Sizes::large`], as the kernel wants it of what it is to map
//! in large pages; so there are numbers between segments that no page has.
//!
//! | pages | what | home at start |
//! |---|---|---|
//! | globals | the shared sections of the executable and its libraries, at their link addresses | 0 |
//! | stack | rank 0's stack, where serial code runs | 0 |
//! | arenas | one heap for each rank, rank 0's larger than the others' | that rank |
//! | private | one area for each rank: the stack of its region frames and its `threadprivate` data | that rank |
//!
//! What a memory file holds behind them is no page.

/// Bytes of a page, the unit of protection and coherence.
pub const PAGE: usize = 4096;

const BASE: usize = 0x1000_0000_0000;
/// Unused addresses between areas: running off an area's end faults.
const GUARD: usize = 1 << 20;

/// A number of a shared page.
pub type Page = u32;

/// A range of addresses that is one range of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address, a multiple of [`PAGE`].
    pub address: usize,
    /// First page.
    pub page: Page,
    /// Number of pages.
    pub pages: u32,
    /// Rank that holds the pages at start.
    pub home: u32,
}

impl Segment {
    /// First address behind the segment.
    #[inline]
    pub fn end(&self) -> usize {
        self.address + self.pages as usize * PAGE
    }

    #[inline]
    fn contains(&self, address: usize) -> bool {
        (self.address..self.end()).contains(&address)
    }

    /// The part of `rank`, in a segment that has `first` bytes for rank 0, and `bytes` for each other one.
    #[inline]
    fn part(self, first: usize, bytes: usize, rank: u32) -> Self {
        let (start, length) = match rank {
            0 => (0, first),
            _ => (first + (rank as usize - 1) * bytes, bytes),
        };
        Self {
            address: self.address + start,
            page: self.page + (start / PAGE) as u32,
            pages: (length / PAGE) as u32,
            home: rank,
        }
    }

    /// The rank whose part the byte at `offset` is.
    #[inline]
    fn rank_at(first: usize, bytes: usize, offset: usize) -> u32 {
        match offset.checked_sub(first) {
            None => 0,
            Some(behind) => (behind / bytes) as u32 + 1,
        }
    }
}

/// Sizes in bytes that all ranks have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rank 0's stack.
    pub stack: usize,
    /// Rank 0's heap, in which serial code has its data.
    pub first_arena: usize,
    /// Each other rank's heap.
    pub arena: usize,
    /// Each rank's region stack and `threadprivate` data.
    pub private: usize,
    /// What the kernel maps as one where it can.
    pub large: usize,
}

/// The map between addresses and pages.
#[derive(Clone, Debug)]
pub struct Layout {
    ranks: u32,
    sizes: Sizes,
    globals: Vec<Segment>,
    stack: Segment,
    arenas: Segment,
    private: Segment,
}

impl Layout {
    /// Lays out `globals` (page-aligned address ranges), the stack and `ranks` arenas and private
    /// areas. Sizes are multiples of [`PAGE`].
    pub fn new(globals: &[(usize, usize)], sizes: Sizes, ranks: u32) -> Self {
        let mut page: Page = 0;
        let mut segment = |address: usize, bytes: usize| {
            let pages = u32::try_from(bytes / PAGE).expect("segment within 16 TiB");
            let large = (sizes.large / PAGE) as Page;
            let behind = (address / PAGE) as u64 % u64::from(large);
            page += (behind as Page + large - page % large) % large;
            let segment = Segment {
                address,
                page,
                pages,
                home: 0,
            };
            page = page
                .checked_add(pages)
                .expect("shared memory within 16 TiB");
            segment
        };
        let globals = globals
            .iter()
            .map(|&(start, end)| segment(start, end - start))
            .collect();
        let stack = segment(BASE, sizes.stack);
        let others = ranks as usize - 1;
        let behind = |before: Segment| (before.end() + GUARD).next_multiple_of(sizes.large);
        let arenas = segment(behind(stack), sizes.first_arena + sizes.arena * others);
        let private = segment(behind(arenas), sizes.private * ranks as usize);
        Self {
            ranks,
            sizes,
            globals,
            stack,
            arenas,
            private,
        }
    }

    /// Bytes that the kernel maps as one where it can.
    #[inline]
    pub fn large(&self) -> usize {
        self.sizes.large
    }

    /// The number behind those of all shared pages.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.private.page + self.private.pages
    }

    /// The segments, in the order of their pages; arenas and private areas are one segment a rank.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        self.globals
            .iter()
            .copied()
            .chain([self.stack])
            .chain((0..self.ranks).map(|rank| self.arena(rank)))
            .chain((0..self.ranks).map(|rank| self.private_area(rank)))
    }

    /// The shared sections of the executable and its libraries.
    #[inline]
    pub fn globals(&self) -> &[Segment] {
        &self.globals
    }

    /// Rank 0's stack.
    #[inline]
    pub fn stack(&self) -> Segment {
        self.stack
    }

    /// The heap of `rank`.
    #[inline]
    pub fn arena(&self, rank: u32) -> Segment {
        let Sizes {
            first_arena, arena, ..
        } = self.sizes;
        self.arenas.part(first_arena, arena, rank)
    }

    /// Bytes of the heap of each rank but 0.
    pub fn other_arenas(&self) -> usize {
        self.sizes.arena
    }

    /// The private area of `rank`.
    #[inline]
    pub fn private_area(&self, rank: u32) -> Segment {
        let bytes = self.sizes.private;
        self.private.part(bytes, bytes, rank)
    }

    /// The page of an address, if it is shared.
    #[inline]
    pub fn page_of(&self, address: usize) -> Option<Page> {
        let segment = self.segment_of(address)?;
        Some(segment.page + ((address - segment.address) / PAGE) as u32)
    }

    /// The address of a page.
    #[inline]
    pub fn address_of(&self, page: Page) -> usize {
        let segment = self.segment_with(page);
        let segment = segment.expect("a page has an address");
        segment.address + (page - segment.page) as usize * PAGE
    }

    /// How many of `count` pages from `first` on have adjacent addresses: none where no page has that number.
    #[inline]
    pub fn adjacent(&self, first: Page, count: u32) -> u32 {
        let segment = self.segment_with(first);
        segment.map_or(0, |segment| count.min(segment.page + segment.pages - first))
    }

    /// The rank that holds `page` at start.
    #[inline]
    pub fn first_home(&self, page: Page) -> u32 {
        let offset = |all: Segment| (page - all.page) as usize * PAGE;
        let Sizes {
            first_arena,
            arena,
            private,
            ..
        } = self.sizes;
        if page >= self.private.page {
            Segment::rank_at(private, private, offset(self.private))
        } else if page >= self.arenas.page {
            Segment::rank_at(first_arena, arena, offset(self.arenas))
        } else {
            0
        }
    }

    /// Whether `page` belongs to a rank's private area.
    #[inline]
    pub fn is_private(&self, page: Page) -> bool {
        page >= self.private.page
    }

    /// Whether `address` lies in some rank's heap.
    #[inline]
    pub fn is_arena_address(&self, address: usize) -> bool {
        self.arenas.contains(address)
    }

    /// Whether `page` is a global variable's.
    #[inline]
    pub fn is_global(&self, page: Page) -> bool {
        page < self.stack.page
    }

    /// Whether `page` belongs to rank 0's stack.
    #[inline]
    pub fn is_stack(&self, page: Page) -> bool {
        (self.stack.page..self.stack.page + self.stack.pages).contains(&page)
    }

    /// Where `address` lies, in words for messages.
    pub fn describe(&self, address: usize) -> String {
        if self.stack.contains(address) {
            "the initial thread's stack".into()
        } else if self.arenas.contains(address) {
            format!(
                "the heap of rank {}",
                self.first_home(self.page_of(address).expect("it lies there"))
            )
        } else if self.private.contains(address) {
            format!(
                "the private memory of rank {}",
                (address - self.private.address) / self.sizes.private
            )
        } else if self.globals.iter().any(|segment| segment.contains(address)) {
            "the program's global variables".into()
        } else {
            "memory that the ranks do not share".into()
        }
    }

    #[inline]
    fn segment_of(&self, address: usize) -> Option<&Segment> {
        [&self.arenas, &self.stack, &self.private]
            .into_iter()
            .chain(&self.globals)
            .find(|segment| segment.contains(address))
    }

    #[inline]
    fn segment_with(&self, page: Page) -> Option<&Segment> {
        let segment = if page >= self.private.page {
            &self.private
        } else if page >= self.arenas.page {
            &self.arenas
        } else if page >= self.stack.page {
            &self.stack
        } else {
            self.globals.iter().rfind(|segment| segment.page <= page)?
        };
        (page < segment.page + segment.pages).then_some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Layout {
        let sizes = Sizes {
            stack: 4 * PAGE,
            first_arena: 24 * PAGE,
            arena: 16 * PAGE,
            private: 8 * PAGE,
            large: 512 * PAGE,
        };
        Layout::new(&[(0x40_1000, 0x40_4000), (0x50_0000, 0x50_1000)], sizes, 3)
    }

    #[test]
    fn pages_and_addresses_are_inverse() {
        let layout = sample();
        let pages = layout
            .segments()
            .flat_map(|segment| segment.page..segment.page + segment.pages);
        let pages: Vec<Page> = pages.collect();
        assert_eq!(pages.len(), 3 + 1 + 4 + 24 + 2 * 16 + 3 * 8);
        for page in pages {
            let address = layout.address_of(page);
            assert_eq!(layout.page_of(address), Some(page));
            assert_eq!(layout.page_of(address + PAGE - 1), Some(page));
            let offset = page as usize * PAGE;
            assert_eq!(address % layout.large(), offset % layout.large());
        }
    }

    #[test]
    fn segments_cover_every_page_once_with_its_home() {
        let layout = sample();
        let mut next = 0;
        for segment in layout.segments() {
            let most = (layout.large() / PAGE) as Page;
            assert!((next..next + most).contains(&segment.page));
            next = segment.page + segment.pages;
            for page in segment.page..next {
                assert_eq!(layout.first_home(page), segment.home);
                assert_eq!(
                    layout.address_of(page),
                    segment.address + (page - segment.page) as usize * PAGE
                );
            }
        }
        assert_eq!(next, layout.pages());
    }

    #[test]
    fn addresses_outside_are_not_shared() {
        let layout = sample();
        for address in [0, 0x40_4000, 0x50_1000, BASE - 1, BASE + 4 * PAGE] {
            assert_eq!(layout.page_of(address), None, "{address:#x}");
        }
    }

    #[test]
    fn runs_stop_where_addresses_do() {
        let layout = sample();
        let page = |address| layout.page_of(address).expect("it is shared");
        assert_eq!(layout.adjacent(page(0x40_2000), 9), 2);
        assert_eq!(layout.adjacent(page(0x50_0000), 9), 1);
        // No page has the numbers in front of a segment and behind it.
        let first = page(0x40_1000).min(page(0x50_0000));
        let others = [page(0x50_0000) - 1, page(0x50_0000) + 1];
        let before = first.checked_sub(1);
        for other in others.into_iter().chain(before) {
            assert_eq!(layout.adjacent(other, 2), 0, "{other}");
        }
        assert_eq!(layout.adjacent(page(BASE), 2), 2);
    }
}
