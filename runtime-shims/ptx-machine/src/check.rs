//! Races: two threads access the same byte, at least one of them writes, and nothing orders the two. What orders is a barrier
//! of the block, one of the warp, the end of a launch, and between blocks a release that an acquire has seen.
//!
//! A segment is what lies between two barriers of a block: each has a number of its own, and those of a block follow each
//! other, as blocks run one after the other. Atomic accesses do not race with each other; nor do writes of what is there.
//! Whether a block has released is not asked of each of its threads: a race that looks ordered is missed, none is made up.

/// Who accesses.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// The segment.
    pub segment: u32,
    /// The first segment of the block.
    pub block: u32,
    /// The first segment of the launch.
    pub launch: u32,
    /// The thread's number in its block.
    pub thread: u16,
    /// How many barriers its warp has met.
    pub warp_barriers: u16,
    /// Whether the memory is the block's own.
    pub is_shared: bool,
}

/// How something is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Whether it is written.
    pub writes: bool,
    /// Whether the access is atomic.
    pub is_atomic: bool,
    /// Whether what is written was there.
    pub is_same: bool,
}

/// With what an access races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// An access of a thread of the block.
    Thread {
        /// The thread, where it is one.
        thread: Option<u16>,
        /// Whether it wrote.
        wrote: bool,
    },
    /// One of another block.
    Block {
        /// Whether it wrote.
        wrote: bool,
    },
}

/// The last access of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    segment: u32,
    /// The thread, or `SEVERAL`; with `ATOMIC` and `BLOCKS`.
    thread: u16,
    warp_barriers: u16,
}

/// More than one thread of a block.
const SEVERAL: u16 = 0x7ff;
/// The access is atomic.
const ATOMIC: u16 = 1 << 15;
/// Other blocks have read it, too.
const BLOCKS: u16 = 1 << 14;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Last,
    read: Last,
}

/// A stretch of memory: a cell for each word, or for each byte once bytes are accessed.
#[derive(Clone, Debug)]
struct Page {
    shift: u32,
    cells: Vec<Cell>,
}

const PAGE: usize = 1024;

/// What is known of the accesses to a memory.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    pages: Vec<Option<Box<Page>>>,
}

impl Accesses {
    /// Notes an access to `bytes` bytes from `offset`, and says with what it races.
    pub fn access(
        &mut self,
        offset: usize,
        bytes: usize,
        who: Who,
        how: How,
        seen: &Segments,
    ) -> Option<Conflict> {
        let mut found = None;
        let mut at = offset;
        let end = offset + bytes;
        while at < end {
            let number = at / PAGE;
            let stop = end.min((number + 1) * PAGE);
            if self.pages.len() <= number {
                self.pages.resize(number + 1, None);
            }
            let page = self.pages[number].get_or_insert_with(|| {
                Box::new(Page {
                    shift: 2,
                    cells: vec![Cell::default(); PAGE / 4],
                })
            });
            if page.shift == 2 && !(at.is_multiple_of(4) && stop.is_multiple_of(4)) {
                page.cells = page.cells.iter().flat_map(|cell| [*cell; 4]).collect();
                page.shift = 0;
            }
            let first = (at % PAGE) >> page.shift;
            let count = (stop - at) >> page.shift;
            for cell in &mut page.cells[first..first + count] {
                let conflict = cell.access(who, how, seen);
                found = found.or(conflict);
            }
            at = stop;
        }
        found
    }

    /// Forgets all accesses.
    pub fn clear(&mut self) {
        self.pages.clear();
    }
}

impl Cell {
    fn access(&mut self, who: Who, how: How, seen: &Segments) -> Option<Conflict> {
        let mut found = None;
        let are_atomic = |last: Last| how.is_atomic && last.thread & ATOMIC != 0;
        let changes_nothing = how.writes && how.is_same;
        if !are_atomic(self.write) && !changes_nothing {
            found = self.write.races(who, true, seen);
        }
        if how.writes {
            if !are_atomic(self.read) && !changes_nothing && found.is_none() {
                found = self.read.races(who, false, seen);
            }
            self.write = Last {
                segment: who.segment,
                thread: who.thread | if how.is_atomic { ATOMIC } else { 0 },
                warp_barriers: who.warp_barriers,
            };
        } else {
            self.read.read(who, how, seen);
        }
        found
    }
}

impl Last {
    fn thread(self) -> u16 {
        self.thread & SEVERAL
    }

    fn races(self, who: Who, wrote: bool, seen: &Segments) -> Option<Conflict> {
        if self.segment < who.launch || self.segment == 0 {
            return None;
        }
        let others = self.thread & BLOCKS != 0 && !who.is_shared;
        if self.segment < who.block {
            if who.is_shared || seen.has(self.segment) {
                return None;
            }
            return Some(Conflict::Block { wrote });
        }
        // Others have read it before this block did: whether that is ordered is known only if the block has seen all of them.
        if others && !seen.has_all(who.launch, who.block) {
            return Some(Conflict::Block { wrote });
        }
        if self.segment != who.segment || self.thread() == who.thread {
            return None;
        }
        let thread = self.thread();
        if thread == SEVERAL {
            return Some(Conflict::Thread {
                thread: None,
                wrote,
            });
        }
        let is_ordered = thread / 32 == who.thread / 32 && self.warp_barriers != who.warp_barriers;
        (!is_ordered).then_some(Conflict::Thread {
            thread: Some(thread),
            wrote,
        })
    }

    fn read(&mut self, who: Who, how: How, seen: &Segments) {
        let mut blocks = 0;
        let (mut thread, mut atomic) = (who.thread, if how.is_atomic { ATOMIC } else { 0 });
        if !who.is_shared && self.segment >= who.launch && self.segment != 0 {
            blocks = self.thread & BLOCKS;
            if self.segment < who.block && !seen.has(self.segment) {
                blocks = BLOCKS;
            }
        }
        if self.segment == who.segment {
            let is_ordered = self.thread() / 32 == who.thread / 32
                && self.thread() != SEVERAL
                && self.warp_barriers != who.warp_barriers;
            if self.thread() != who.thread && !is_ordered {
                thread = SEVERAL;
            }
            if self.thread & ATOMIC == 0 {
                atomic = 0;
            }
        }
        *self = Self {
            segment: who.segment,
            thread: thread | atomic | blocks,
            warp_barriers: who.warp_barriers,
        };
    }
}

/// Segments of other blocks whose accesses are ordered before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    ranges: Vec<(u32, u32)>,
}

impl Segments {
    /// Adds those from `first` up to `last`.
    pub fn add(&mut self, first: u32, last: u32) {
        let at = self.ranges.partition_point(|range| range.1 + 1 < first);
        let (mut start, mut end) = (first, last);
        let mut behind = at;
        while let Some(range) = self.ranges.get(behind).filter(|range| range.0 <= end + 1) {
            start = start.min(range.0);
            end = end.max(range.1);
            behind += 1;
        }
        self.ranges.splice(at..behind, [(start, end)]);
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (first, last) in &other.ranges {
            self.add(*first, *last);
        }
    }

    fn has(&self, segment: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < segment);
        self.ranges.get(at).is_some_and(|range| range.0 <= segment)
    }

    fn has_all(&self, from: u32, to: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < from);
        from >= to
            || self
                .ranges
                .get(at)
                .is_some_and(|range| range.0 <= from && range.1 + 1 >= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: How = How {
        writes: false,
        is_atomic: false,
        is_same: false,
    };
    const WRITE: How = How {
        writes: true,
        is_atomic: false,
        is_same: false,
    };
    const ATOMIC: How = How {
        writes: true,
        is_atomic: true,
        is_same: false,
    };

    fn who(segment: u32, block: u32, thread: u16) -> Who {
        Who {
            segment,
            block,
            launch: 10,
            thread,
            warp_barriers: 0,
            is_shared: false,
        }
    }

    /// The conflict of the last of these accesses; those before have none.
    fn last(accesses: &[(Who, How)], seen: &Segments) -> Option<Conflict> {
        let mut all = Accesses::default();
        let (last, before) = accesses.split_last().expect("an access");
        for (who, how) in before {
            assert_eq!(all.access(6, 4, *who, *how, seen), None);
        }
        all.access(8, 1, last.0, last.1, seen)
    }

    #[test]
    fn what_nothing_orders_races() {
        let none = Segments::default();
        let by = |thread, wrote| {
            Some(Conflict::Thread {
                thread: Some(thread),
                wrote,
            })
        };
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (who(10, 10, 1), READ)], &none),
            by(0, true)
        );
        assert_eq!(
            last(&[(who(10, 10, 0), READ), (who(10, 10, 1), WRITE)], &none),
            by(0, false)
        );
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (who(11, 10, 1), READ)], &none),
            None
        );
        assert_eq!(
            last(&[(who(10, 10, 0), ATOMIC), (who(10, 10, 1), ATOMIC)], &none),
            None
        );
        assert_eq!(
            last(&[(who(10, 10, 0), ATOMIC), (who(10, 10, 1), READ)], &none),
            by(0, true)
        );
        let block = |wrote| Some(Conflict::Block { wrote });
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (who(11, 11, 0), READ)], &none),
            block(true)
        );
        // One block reads what another one reads and writes.
        let reads = (who(10, 10, 0), READ);
        assert_eq!(
            last(
                &[reads, (who(11, 11, 0), READ), (who(11, 11, 0), WRITE)],
                &none
            ),
            block(false)
        );
        let mut seen = Segments::default();
        seen.add(10, 10);
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (who(11, 11, 0), READ)], &seen),
            None
        );
        // An earlier launch, and a barrier of the warp.
        assert_eq!(
            last(&[(who(9, 9, 0), WRITE), (who(11, 11, 0), READ)], &none),
            None
        );
        let behind = Who {
            warp_barriers: 1,
            ..who(10, 10, 1)
        };
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (behind, READ)], &none),
            None
        );
        let other_warp = Who {
            thread: 40,
            ..behind
        };
        assert_eq!(
            last(&[(who(10, 10, 0), WRITE), (other_warp, READ)], &none),
            by(0, true)
        );
    }

    #[test]
    fn segments_join() {
        let mut all = Segments::default();
        all.add(1, 2);
        all.add(5, 6);
        all.add(3, 4);
        assert_eq!(all.ranges, [(1, 6)]);
        assert!(all.has_all(1, 7) && !all.has_all(1, 8) && !all.has(7) && all.has(3));
    }
}
