//! Which memory was mapped in one piece, by the program or a library: such memory is one object, were it next to another.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use crate::pages::PAGE;

/// Start and end of each.
static ALL: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn all<R>(body: impl FnOnce(&mut BTreeMap<usize, usize>) -> R) -> R {
    body(&mut ALL.lock().unwrap_or_else(|broken| broken.into_inner()))
}

/// Has been mapped.
pub fn add(start: usize, length: usize) {
    let end = start.saturating_add(length.next_multiple_of(PAGE));
    all(|all| {
        // One that is placed in another one, as in memory that was reserved, is a part of it.
        let before = all.range(..=start).next_back();
        if before.is_none_or(|(_, its_end)| *its_end < end) {
            cut(all, start..end);
            all.insert(start, end);
        }
    });
}

/// Is not mapped any more.
pub fn remove(start: usize, length: usize) {
    let end = start.saturating_add(length.saturating_add(PAGE - 1) / PAGE * PAGE);
    all(|all| cut(all, start..end));
}

fn cut(all: &mut BTreeMap<usize, usize>, range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    if let Some((&start, &end)) = all.range(..range.start).next_back()
        && end > range.start
    {
        all.insert(start, range.start);
        if end > range.end {
            all.insert(range.end, end);
        }
    }
    while let Some((&start, &end)) = all.range(range.clone()).next() {
        all.remove(&start);
        if end > range.end {
            all.insert(range.end, end);
        }
    }
}

/// What an address is in, or ends.
pub fn around(address: usize) -> Option<Range<usize>> {
    all(|all| {
        let (&start, &end) = all.range(..=address).next_back()?;
        match start == address {
            _ if address < end => Some(start..end),
            false if address == end => Some(start..end),
            _ => None,
        }
    })
}

/// Of a range in which nothing is at `address` that is known here, the part around it that nothing known here is in.
pub fn without_others(range: Range<usize>, address: usize) -> Range<usize> {
    all(|all| {
        let before = all.range(..address).next_back();
        let start = before.map_or(range.start, |(_, end)| range.start.max(*end));
        let behind = all.range(address..).next();
        let end = behind.map_or(range.end, |(start, _)| range.end.min(*start));
        start..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_apart() {
        // At addresses that no process has.
        let at = |page: usize| (1 << 60) + page * PAGE;
        add(at(0), 10 * PAGE);
        add(at(10), 5 * PAGE - 100);
        add(at(20), PAGE);
        let piece = |page| {
            around(at(page)).map(|range| ((range.start - at(0)) / PAGE, (range.end - at(0)) / PAGE))
        };
        assert_eq!(
            [piece(0), piece(9), piece(10)],
            [Some((0, 10)), Some((0, 10)), Some((10, 15))]
        );
        assert_eq!([piece(15), piece(16)], [Some((10, 15)), None]);
        // A part of one.
        add(at(2), PAGE);
        assert_eq!(piece(2), Some((0, 10)));
        remove(at(4), 2 * PAGE);
        assert_eq!(
            [piece(3), piece(5), piece(6)],
            [Some((0, 4)), None, Some((6, 10))]
        );
        remove(at(8), 4 * PAGE);
        assert_eq!(
            [piece(7), piece(9), piece(12)],
            [Some((6, 8)), None, Some((12, 15))]
        );
        let around = without_others(at(5)..at(25), at(17));
        assert_eq!(around, at(15)..at(20));
        remove(at(0), 25 * PAGE);
        assert!((0..25).all(|page| piece(page).is_none()));
    }
}
