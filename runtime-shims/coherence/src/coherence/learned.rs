//! What a region that declares nothing accesses, or code that declares nothing in another one, learned from the time before.
//!
//! An interval between two synchronisations mostly touches the pages that it touched when it was last
//! run. They are fetched and opened when it begins, all at once: one message for each owner instead of one
//! for each fault. Guarantee: this is no more than faults at the beginning of the interval would do, so it
//! is right whatever the interval then accesses; a wrong guess costs time.

use std::{collections::HashMap, rc::Rc};

use super::{Access, Coherence, Machine, Run, runs_of};
use crate::{
    geometry::{
        ranges::Ranges,
        signature::{ByHalf, Signature},
    },
    layout::{PAGE, Page},
    page_table::flag,
};

/// Fewer faults are served as they come.
const LEAST: usize = if cfg!(test) { 2 } else { 8 };
/// After so many guesses pages are found by faults again: what is not touched any more is forgotten.
const GUESSES: u32 = 15;
/// Of so many intervals of a region each is known by its number; later ones by the synchronisation before.
const NUMBERED: u64 = 64;
/// Intervals remembered; when there are more all are forgotten.
const MOST_INTERVALS: usize = 1024;

/// Pages touched in one interval, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Touched {
    read: Vec<Page>,
    written: Vec<Page>,
}

impl Touched {
    fn count(&self) -> usize {
        self.read.len() + self.written.len()
    }

    /// How many of its pages are in `other`, too.
    fn in_common(&self, other: &Self) -> usize {
        let both = |some: &[Page], others: &[Page]| {
            some.iter()
                .filter(|page| others.binary_search(page).is_ok())
                .count()
        };
        both(&self.read, &other.read) + both(&self.written, &other.written)
    }
}

/// What is known of an interval.
#[derive(Default)]
struct Interval {
    touched: Rc<Touched>,
    guesses: u32,
    /// It touches other pages each time.
    is_irregular: bool,
}

/// What has been learned, and what happens now.
#[derive(Default)]
pub(super) struct Learned {
    intervals: HashMap<Signature, Interval, ByHalf>,
    /// The region that runs, and the number of its interval.
    region: Option<Signature>,
    number: u64,
    /// The interval that runs.
    now: Option<Signature>,
    read: Vec<Page>,
    written: Vec<Page>,
}

impl Learned {
    /// Notes that pages were made accessible.
    pub(super) fn note(&mut self, run: Run, write: bool) {
        if self.now.is_some() {
            let list = if write {
                &mut self.written
            } else {
                &mut self.read
            };
            list.extend(run.pages());
        }
    }

    /// Forgets pages that were freed.
    pub(super) fn forget(&mut self, freed: &Ranges) {
        let is_kept = |page: &Page| !freed.contains(u64::from(*page) * PAGE as u64);
        for interval in self.intervals.values_mut() {
            let touched = &interval.touched;
            if touched.read.iter().chain(&touched.written).all(is_kept) {
                continue;
            }
            let kept = |pages: &[Page]| pages.iter().copied().filter(is_kept).collect();
            interval.touched = Rc::new(Touched {
                read: kept(&touched.read),
                written: kept(&touched.written),
            });
        }
        self.read.retain(is_kept);
        self.written.retain(is_kept);
    }

    /// Ends the interval that ran, and begins the next. What that is likely to touch.
    fn turn_to(&mut self, next: Option<Signature>) -> Option<Rc<Touched>> {
        let sorted = |list: &mut Vec<Page>| {
            let mut list = std::mem::take(list);
            list.sort_unstable();
            list.dedup();
            list
        };
        let touched = Touched {
            read: sorted(&mut self.read),
            written: sorted(&mut self.written),
        };
        if let Some(interval) = self.now.take().and_then(|now| self.intervals.get_mut(&now)) {
            let known = &interval.touched;
            if interval.guesses == 0 && known.count() >= LEAST {
                interval.is_irregular = 2 * known.in_common(&touched) < known.count();
            }
            interval.touched = Rc::new(touched);
        }
        let next = next?;
        if self.intervals.len() >= MOST_INTERVALS && !self.intervals.contains_key(&next) {
            self.intervals.clear();
        }
        self.now = Some(next);
        let interval = self.intervals.entry(next).or_default();
        if interval.is_irregular || interval.touched.count() < LEAST {
            return None;
        }
        if interval.guesses == GUESSES {
            interval.guesses = 0;
            return None;
        }
        interval.guesses += 1;
        Some(Rc::clone(&interval.touched))
    }
}

impl<M: Machine> Coherence<M> {
    /// A region begins that `region` stands for.
    pub fn begin_first_interval(&mut self, region: Signature) {
        let learns = !self.verify && !self.is_declaring();
        self.learned.region = learns.then_some(region);
        self.learned.number = 0;
        self.begin_interval(0);
    }

    /// The team has synchronised at the place that `synchronisation` stands for.
    pub fn begin_next_interval(&mut self, synchronisation: u64) {
        self.learned.number = (self.learned.number + 1).min(NUMBERED);
        self.begin_interval(synchronisation);
    }

    /// The region has ended.
    pub fn end_intervals(&mut self) {
        self.learned.region = None;
        self.learned.turn_to(None);
    }

    /// In a region that declares its accesses, code follows that does not.
    pub(super) fn begin_learning(&mut self, place: u64) {
        self.turn_to(Some(Signature::START.with(u64::MAX).with(place)));
    }

    /// It has ended.
    pub(super) fn end_learning(&mut self) {
        self.turn_to(None);
    }

    fn begin_interval(&mut self, synchronisation: u64) {
        let number = self.learned.number;
        let key = self.learned.region;
        self.turn_to(key.map(|region| region.with(number).with(synchronisation)));
    }

    fn turn_to(&mut self, key: Option<Signature>) {
        if let Some(touched) = self.learned.turn_to(key) {
            self.make_accessible(&touched.read, false);
            self.make_accessible(&touched.written, true);
        }
    }

    /// Fetches what is not current of `pages`, and opens them.
    fn make_accessible(&mut self, pages: &[Page], write: bool) {
        let layout = self.pages.layout();
        let open: Vec<Page> = pages
            .iter()
            .copied()
            .filter(|&page| !layout.is_private(page) && !self.pages.is_closed(page))
            .collect();
        let (mut sections, mut others): (Vec<Page>, Vec<Page>) = open
            .into_iter()
            .partition(|&page| self.pages.has(page, flag::SECTION));
        // Where there is no room for all at once, faults fetch what is needed next.
        if self.is_short_of_memory(pages.len() as u32) {
            return;
        }
        self.access_section_pages(&runs_of(&mut sections), write);
        let others = runs_of(&mut others);
        self.fetch_all(&self.runs_with(&others, Access::None));
        if write {
            for run in self.runs_with(&others, Access::Read) {
                self.open_for_writing(run);
            }
        }
    }

    /// Those of some pages that have a protection.
    pub(super) fn runs_with(&self, runs: &[Run], access: Access) -> Vec<Run> {
        let pages = runs.iter().flat_map(|run| run.pages());
        let mut pages: Vec<Page> = pages
            .filter(|&page| self.pages.access(page) == access)
            .collect();
        runs_of(&mut pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(learned: &mut Learned, first: Page, count: u32) {
        learned.note(Run { first, count }, false);
    }

    #[test]
    fn what_was_touched_is_guessed_and_now_and_then_looked_at_again() {
        let key = Signature::START;
        let mut learned = Learned::default();
        assert!(learned.turn_to(Some(key)).is_none());
        touch(&mut learned, 10, 20);
        for _ in 0..GUESSES {
            let guess = learned.turn_to(Some(key)).expect("known by now");
            assert_eq!(guess.read, (10..30).collect::<Vec<Page>>());
            touch(&mut learned, 10, 20);
        }
        assert!(learned.turn_to(Some(key)).is_none());
        touch(&mut learned, 10, 12);
        let guess = learned.turn_to(Some(key)).expect("much as before");
        assert_eq!(guess.read, (10..22).collect::<Vec<Page>>());
    }

    #[test]
    fn an_interval_that_touches_other_pages_each_time_is_left_alone() {
        let key = Signature::START;
        let mut learned = Learned::default();
        learned.turn_to(Some(key));
        touch(&mut learned, 0, 20);
        for _ in 0..GUESSES {
            assert!(learned.turn_to(Some(key)).is_some());
            touch(&mut learned, 0, 20);
        }
        assert!(learned.turn_to(Some(key)).is_none());
        touch(&mut learned, 500, 20);
        assert!(learned.turn_to(Some(key)).is_none());
        touch(&mut learned, 900, 20);
        assert!(learned.turn_to(Some(key)).is_none());
    }
}
