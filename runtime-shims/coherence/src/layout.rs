//! Where everything lies in the address space, and the numbering of shared pages.
//!
//! Guarantee: the layout is a function of its inputs, which all ranks agree on before they build it,
//! so a page number and an address mean the same on every rank.
//!
//! Shared pages are numbered through, and page `p` lies at offset `p * PAGE` of every rank's memory
//! file:
//!
//! | pages | what | home at start |
//! |---|---|---|
//! | globals | the shared sections of the executable and its libraries, at their link addresses | 0 |
//! | stack | rank 0's stack, where serial code runs | 0 |
//! | arenas | one heap for each rank | that rank |
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

    /// The part of `rank`, in a segment that has so many bytes for each.
    #[inline]
    fn part(self, bytes: usize, rank: u32) -> Self {
        let pages = (bytes / PAGE) as u32;
        Self {
            address: self.address + rank as usize * bytes,
            page: self.page + rank * pages,
            pages,
            home: rank,
        }
    }
}

/// Sizes in bytes that all ranks have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rank 0's stack.
    pub stack: usize,
    /// Each rank's heap.
    pub arena: usize,
    /// Each rank's region stack and `threadprivate` data.
    pub private: usize,
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
        let arenas_at = BASE + sizes.stack + GUARD;
        let arenas = segment(arenas_at, sizes.arena * ranks as usize);
        let private = segment(arenas.end() + GUARD, sizes.private * ranks as usize);
        Self {
            ranks,
            sizes,
            globals,
            stack,
            arenas,
            private,
        }
    }

    /// Number of shared pages.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.private.page + self.private.pages
    }

    /// The segments, in the order of their pages; arenas and private areas are one segment a rank.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        let per_rank =
            |all: Segment, bytes: usize| (0..self.ranks).map(move |rank| all.part(bytes, rank));
        self.globals
            .iter()
            .copied()
            .chain([self.stack])
            .chain(per_rank(self.arenas, self.sizes.arena))
            .chain(per_rank(self.private, self.sizes.private))
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
        self.arenas.part(self.sizes.arena, rank)
    }

    /// The private area of `rank`.
    #[inline]
    pub fn private_area(&self, rank: u32) -> Segment {
        self.private.part(self.sizes.private, rank)
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
        segment.address + (page - segment.page) as usize * PAGE
    }

    /// How many of `count` pages from `first` on have adjacent addresses.
    #[inline]
    pub fn adjacent(&self, first: Page, count: u32) -> u32 {
        let segment = self.segment_with(first);
        count.min(segment.page + segment.pages - first)
    }

    /// The rank that holds `page` at start.
    #[inline]
    pub fn first_home(&self, page: Page) -> u32 {
        let in_area = |all: Segment, bytes: usize| (page - all.page) / (bytes / PAGE) as u32;
        if page >= self.private.page {
            in_area(self.private, self.sizes.private)
        } else if page >= self.arenas.page {
            in_area(self.arenas, self.sizes.arena)
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
                (address - self.arenas.address) / self.sizes.arena
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
    fn segment_with(&self, page: Page) -> &Segment {
        if page >= self.private.page {
            &self.private
        } else if page >= self.arenas.page {
            &self.arenas
        } else if page >= self.stack.page {
            &self.stack
        } else {
            self.globals
                .iter()
                .rfind(|segment| segment.page <= page)
                .expect("page 0 is in the first segment")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Layout {
        let sizes = Sizes {
            stack: 4 * PAGE,
            arena: 16 * PAGE,
            private: 8 * PAGE,
        };
        Layout::new(&[(0x40_0000, 0x40_3000), (0x50_0000, 0x50_1000)], sizes, 3)
    }

    #[test]
    fn pages_and_addresses_are_inverse() {
        let layout = sample();
        assert_eq!(layout.pages(), 3 + 1 + 4 + 3 * 16 + 3 * 8);
        for page in 0..layout.pages() {
            let address = layout.address_of(page);
            assert_eq!(layout.page_of(address), Some(page));
            assert_eq!(layout.page_of(address + PAGE - 1), Some(page));
        }
    }

    #[test]
    fn segments_cover_every_page_once_with_its_home() {
        let layout = sample();
        let mut next = 0;
        for segment in layout.segments() {
            assert_eq!(segment.page, next);
            next += segment.pages;
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
        for address in [0, 0x40_3000, 0x50_1000, BASE - 1, BASE + 4 * PAGE] {
            assert_eq!(layout.page_of(address), None, "{address:#x}");
        }
    }

    #[test]
    fn runs_stop_where_addresses_do() {
        let layout = sample();
        assert_eq!(layout.adjacent(1, 9), 2);
        assert_eq!(layout.adjacent(3, 9), 1);
        assert_eq!(layout.adjacent(4, 2), 2);
    }
}
