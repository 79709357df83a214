//! How much is fetched where the program reads pages in no order: blocks that grow with the faults.
//!
//! Pages are looked at in areas. The faults of an area since the last synchronisation say how large the block is that the
//! next one fetches, around the page and aligned to its size. Whether that pays is found out by one page at the end of
//! each larger block that is left out: where no such page of an area is read until the next synchronisation the area
//! is read here and there, and its faults fetch one page each for some time.

use std::{collections::HashMap, ops::Range};

use crate::layout::Page;

/// Pages of an area.
const AREA: Page = 512;
/// Most pages of a block.
const MOST: Page = if cfg!(test) { 8 } else { 64 };
/// The fewest of a block that leaves one out.
const LEAST_PROBED: Page = 8;
/// For so many intervals an area is not tried again.
const TRIED_AGAIN: u32 = 15;
/// Areas remembered; when there are more all are forgotten.
const MOST_AREAS: usize = 4096;

#[derive(Default)]
struct Area {
    /// Faults since the last synchronisation.
    faults: u32,
    /// Pages left out, those that were read since, and those that were not.
    left_out: Vec<Page>,
    read: u32,
    /// For so many intervals blocks have one page.
    is_sparse: u32,
}

/// What is known of areas.
#[derive(Default)]
pub(super) struct Ahead {
    areas: HashMap<Page, Area>,
    /// Those with faults since the last synchronisation.
    used: Vec<Page>,
}

impl Ahead {
    /// A page is about to be fetched. The block around it that is to be.
    pub(super) fn block_of(&mut self, page: Page) -> Range<Page> {
        if self.areas.len() >= MOST_AREAS {
            self.areas.clear();
            self.used.clear();
        }
        if self.was_left_out(page) {
            return page..page + 1;
        }
        let area = self.areas.entry(page / AREA).or_default();
        if area.faults == 0 {
            self.used.push(page / AREA);
        }
        let size = match area.is_sparse {
            0 => 1 << (area.faults / 2).min(MOST.ilog2()),
            _ => 1,
        };
        area.faults += 1;
        let first = page / size * size;
        first..first + size
    }

    /// A page is about to be fetched. Whether it was left out.
    pub(super) fn was_left_out(&mut self, page: Page) -> bool {
        let Some(area) = self.areas.get_mut(&(page / AREA)) else {
            return false;
        };
        let index = area.left_out.iter().position(|&other| other == page);
        if let Some(index) = index {
            area.left_out.swap_remove(index);
            area.read += 1;
        }
        index.is_some()
    }

    /// Of `found`, what of a block can be fetched: what is, without the page that is left out. `page` is not.
    pub(super) fn probe(&mut self, found: Range<Page>, page: Page) -> Range<Page> {
        let Some(area) = self.areas.get_mut(&(page / AREA)) else {
            return found;
        };
        area.left_out.retain(|other| !found.contains(other));
        if found.end - found.start < LEAST_PROBED {
            return found;
        }
        if found.end - page > page - found.start {
            area.left_out.push(found.end - 1);
            found.start..found.end - 1
        } else {
            area.left_out.push(found.start);
            found.start + 1..found.end
        }
    }

    /// All ranks have synchronised.
    pub(super) fn begin_interval(&mut self) {
        for number in self.used.drain(..) {
            let Some(area) = self.areas.get_mut(&number) else {
                continue;
            };
            area.is_sparse = match (area.left_out.len(), area.read) {
                (2.., 0) => TRIED_AGAIN,
                _ => area.is_sparse.saturating_sub(1),
            };
            area.faults = 0;
            area.read = 0;
            area.left_out.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `pages`, each of which is fetched unless it has been. How many faults that takes.
    fn read(ahead: &mut Ahead, pages: impl Iterator<Item = Page>) -> usize {
        let mut here = std::collections::HashSet::new();
        let mut faults = 0;
        for page in pages {
            if here.contains(&page) {
                continue;
            }
            faults += 1;
            let mut block = ahead.block_of(page);
            assert!(block.contains(&page));
            let is_new = |other: &Page| !here.contains(other);
            block.start = (block.start..page)
                .rev()
                .take_while(is_new)
                .last()
                .unwrap_or(page);
            block.end = (page..block.end).take_while(is_new).last().expect("itself") + 1;
            let fetched = ahead.probe(block, page);
            assert!(fetched.contains(&page));
            here.extend(fetched);
        }
        ahead.begin_interval();
        faults
    }

    fn scattered(count: u32, step: u32) -> impl Iterator<Item = Page> {
        (0..count).map(move |index| index * step % AREA)
    }

    #[test]
    fn an_area_that_is_read_in_no_order_is_fetched_in_blocks() {
        let mut ahead = Ahead::default();
        for _ in 0..3 {
            let faults = read(&mut ahead, scattered(AREA, 211));
            assert!((20..200).contains(&faults), "{faults}");
        }
    }

    #[test]
    fn an_area_that_is_read_here_and_there_is_not() {
        let mut ahead = Ahead::default();
        let reads = || scattered(16, 160);
        read(&mut ahead, reads());
        for _ in 0..TRIED_AGAIN {
            assert_eq!(read(&mut ahead, reads()), 16);
            assert!(ahead.block_of(7).len() == 1);
            ahead.begin_interval();
        }
    }
}
