//! Marks: what the program wrote where the compiler could not tell before the loop.
//!
//! Beside each store to a computed place of an object the program sets a mark, a byte or a bit for each element
//! of the object: bytes are faster to set, bits are so few that they stay in the caches. Guarantee: what is
//! [taken](take) of an object are just the bytes that marked stores wrote since it was taken last; or, while several threads
//! run, since they have met. The marks
//! of an object are private memory of this process; each thread has its own.

use std::{cell::Cell, ptr};

use okl_abi::{
    SectionEntry,
    section_access::{BITS, MOST_MARKS},
};

use crate::{cell::ProgramCell, turns};
use okl_coherence::{geometry::ranges::Range, geometry::ranges::Ranges};

/// Where the program puts the marks of an object: that of the element at `address` has the number
/// `(address - start) / element & mask`, counted from `marks`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) marks: *mut u8,
    pub(crate) mask: usize,
}

/// Room behind the last mark: one store sets `MOST_MARKS`, eight times as many where another store to the
/// object has smaller elements.
const SLACK: usize = 8 * MOST_MARKS as usize;

/// Lines of a cache of their own.
#[repr(align(128))]
struct Unwanted([Cell<u8>; SLACK]);

thread_local! {
    static UNWANTED: Unwanted = const { Unwanted([const { Cell::new(0) }; SLACK]) };
}

/// For marks that nobody takes: where threads do not slow each other down.
pub(crate) fn nowhere() -> Place {
    Place {
        start: 0,
        marks: UNWANTED.with(|unwanted| unwanted.0.as_ptr().cast_mut().cast()),
        mask: 0,
    }
}

/// The marks of one object.
struct Marks {
    thread: usize,
    bytes: Range,
    element: u64,
    are_bits: bool,
    place: Place,
    /// The program may have set some.
    in_use: bool,
}

static ALL: ProgramCell<Vec<Marks>> = ProgramCell::new(Vec::new());

/// Objects whose marks are kept for the next time.
const MOST_OBJECTS: usize = 64;

/// Where the program puts marks, of the kind that `entry` says, of the object that starts at address `start`
/// and lies at `bytes` of the memory file.
pub(crate) fn of(start: usize, bytes: Range, entry: &SectionEntry) -> Place {
    let (element, are_bits) = (entry.element as u64, entry.access & BITS != 0);
    let thread = turns::index();
    let wanted = (thread, bytes, element, are_bits);
    ALL.with(|all| {
        let known = all
            .iter_mut()
            .find(|one| (one.thread, one.bytes, one.element, one.are_bits) == wanted);
        if let Some(known) = known {
            known.in_use = true;
            return known.place;
        }
        if all.iter().filter(|one| one.thread == thread).count() >= MOST_OBJECTS {
            all.retain(|one| one.in_use);
        }
        let count = (bytes.1 - bytes.0).div_ceil(element) as usize;
        let mask = count.next_power_of_two() - 1;
        let memory = vec![0u8; length(mask, are_bits)].into_boxed_slice();
        let place = Place {
            start,
            marks: Box::into_raw(memory).cast(),
            mask,
        };
        all.push(Marks {
            thread,
            bytes,
            element,
            are_bits,
            place,
            in_use: true,
        });
        place
    })
}

/// Takes what the program has marked; `last` says that it marks nothing more before it asks for a place
/// again.
pub(crate) fn take(last: bool) -> Ranges {
    let mut taken = Vec::new();
    ALL.with(|all| {
        for one in all.iter_mut().filter(|one| one.in_use) {
            let ((start, end), element) = (one.bytes, one.element);
            let found = &mut |first: usize, behind: usize| {
                let first = start + first as u64 * element;
                taken.push((first, end.min(start + behind as u64 * element)));
            };
            let scan = if one.are_bits { scan_bits } else { scan };
            match last || !turns::are_several() {
                true => scan(one.memory(), found),
                // Other threads set marks meanwhile: they are found again.
                false => scan(&mut one.memory().to_vec(), found),
            }
            one.in_use = !last;
        }
    });
    Ranges::of(taken)
}

/// Bytes of the marks of an object.
fn length(mask: usize, are_bits: bool) -> usize {
    let marks = if are_bits { (mask + 1) / 8 } else { mask + 1 };
    marks.next_multiple_of(BLOCK) + SLACK.next_multiple_of(BLOCK)
}

/// Marks are looked at in blocks of so many bytes.
const BLOCK: usize = 64;

impl Marks {
    fn memory(&mut self) -> &mut [u8] {
        // SAFETY: made by `of`; only the program's thread, which is here, sets marks.
        unsafe {
            std::slice::from_raw_parts_mut(self.place.marks, length(self.place.mask, self.are_bits))
        }
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        let memory = ptr::from_mut(self.memory());
        // SAFETY: from `Box::into_raw`, and the program has no place of it any more.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// Calls `found` with the first and behind the last of each range of marks, and clears them.
fn scan(marks: &mut [u8], found: &mut dyn FnMut(usize, usize)) {
    let mut open = None;
    for (index, block) in marks.chunks_mut(BLOCK).enumerate() {
        let at = index * BLOCK;
        let any = block.iter().fold(0, |any, mark| any | mark);
        let all = block.iter().fold(1, |all, mark| all & mark);
        if all != 0 {
            open.get_or_insert(at);
        } else if any == 0 {
            if let Some(first) = open.take() {
                found(first, at);
            }
            continue;
        } else {
            for (at, &mark) in (at..).zip(block.iter()) {
                if mark != 0 {
                    open.get_or_insert(at);
                } else if let Some(first) = open.take() {
                    found(first, at);
                }
            }
        }
        block.fill(0);
    }
    if let Some(first) = open {
        found(first, marks.len());
    }
}

/// The same where marks are bits.
fn scan_bits(marks: &mut [u8], found: &mut dyn FnMut(usize, usize)) {
    let mut open = None;
    let (words, rest) = marks.as_chunks_mut::<8>();
    assert!(rest.is_empty(), "memory for marks comes in blocks");
    for (index, bytes) in words.iter_mut().enumerate() {
        let mut word = u64::from_le_bytes(*bytes);
        match (word, open) {
            (0, None) => continue,
            (u64::MAX, Some(_)) => {
                *bytes = [0; 8];
                continue;
            }
            _ => {}
        }
        let mut at = index * 64;
        let end = at + 64;
        while at < end {
            let is_set = word & 1 != 0;
            let alike = if is_set {
                word.trailing_ones()
            } else {
                word.trailing_zeros()
            };
            match (is_set, open) {
                (true, None) => open = Some(at),
                (false, Some(first)) => {
                    found(first, at);
                    open = None;
                }
                _ => {}
            }
            at += (alike as usize).min(end - at);
            word = word.checked_shr(alike).unwrap_or(0);
        }
        if is_any(bytes) {
            *bytes = [0; 8];
        }
    }
    if let Some(first) = open {
        found(first, marks.len() * 8);
    }
}

fn is_any(bytes: &[u8; 8]) -> bool {
    *bytes != [0; 8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    /// Threads that mark what nobody takes write to lines of their own.
    #[test]
    fn unwanted_marks_are_apart() {
        let own = nowhere().marks.addr();
        let other = std::thread::spawn(|| nowhere().marks.addr());
        let other = other.join().expect("no panic");
        assert!(own.abs_diff(other) >= SLACK.max(128), "{own:#x} {other:#x}");
        assert_eq!((own % 128, nowhere().marks.addr()), (0, own));
    }

    #[test]
    fn ranges_of_marks_are_found_once() {
        let mut random = Random(9);
        let mut below = |bound: usize| random.below(bound);
        for _ in 0..500 {
            let mut marks = vec![0; (1 + below(16)) * BLOCK];
            let mut expected = Vec::new();
            for _ in 0..below(12) {
                let first = below(marks.len());
                let behind = (first + 1 + below(200)).min(marks.len());
                marks[first..behind].fill(1);
                expected.push((first as u64, behind as u64));
            }
            let mut bits = vec![0; marks.len() / 8];
            for (at, mark) in marks.iter().enumerate() {
                bits[at / 8] |= mark << (at % 8);
            }
            let (mut seen, mut seen_bits) = (Vec::new(), Vec::new());
            scan(&mut marks, &mut |first, behind| {
                seen.push((first as u64, behind as u64));
            });
            scan_bits(&mut bits, &mut |first, behind| {
                seen_bits.push((first as u64, behind as u64));
            });
            let expected: Vec<Range> = Ranges::of(expected).iter().collect();
            assert_eq!(seen, expected);
            assert_eq!(seen_bits, expected);
            assert!(marks.iter().chain(&bits).all(|&mark| mark == 0));
        }
    }
}
