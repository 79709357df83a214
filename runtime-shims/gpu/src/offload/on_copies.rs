//! Launches of kernels whose memory others keep: they are handed copies of it, and hand them back.
//!
//! Guarantee: what a kernel finds in the parts that it may access is what it was handed. The device keeps its copies, and this
//! library what is in them: of the next copy of the same memory only what is different goes there.

use std::mem;
use std::ops::Range;

use super::launch::Results;
use super::{ALIGNMENT, Offload, Room, words};
use crate::described::Described;
use crate::device::Problem;
use crate::mirrors::Moved;
use crate::places;
use crate::table::Address;
use crate::values::Values;
use crate::versions::Version;

/// A range of the program's memory that the device has a copy of.
pub struct Copied {
    /// Where it is.
    pub range: Range<usize>,
    /// What of it a kernel may access. No two have a byte in common.
    pub parts: Vec<Part>,
}

/// What is copied for one launch.
pub struct Part {
    /// Where it is.
    pub range: Range<usize>,
    /// Whether the kernel may write it.
    pub writes: bool,
    /// As it is before the kernel.
    pub contents: Vec<u8>,
    /// As the kernel leaves it, where it may write it.
    pub after: Vec<u8>,
}

/// All of them.
pub struct Copies {
    /// No two have a byte in common.
    pub all: Vec<Copied>,
    /// Parameters that are addresses, and where what they lead to begins, which is in one of these.
    pub objects: Vec<(usize, usize)>,
}

/// What the device has of a range.
pub struct Kept {
    range: Range<usize>,
    /// What is in it there, as far as that is known.
    contents: Vec<u8>,
    /// What of it is: bytes from its beginning, in their order.
    known: Vec<Range<usize>>,
    /// The memory that it lies in.
    room: Room,
    /// Where it begins.
    address: Address,
}

impl Kept {
    /// What is in these bytes there is known from now on.
    fn know(&mut self, bytes: Range<usize>) {
        let all = mem::take(&mut self.known).into_iter().chain([bytes]);
        let all = all.map(|one| (one, false)).collect();
        let all = places::joined(all).into_iter();
        self.known = all.map(|(one, _)| one).collect();
    }

    /// The memory that it lies in, which is free then.
    pub fn into_room(self) -> Room {
        self.room
    }
}

/// So many bytes are compared at once, and go to the device where one of them is different.
const PIECE: usize = 1024;

impl Offload {
    /// Has a kernel run on copies of what its addresses lead to. They come back with what it leaves, and so do its results.
    ///
    /// # Safety
    /// The values are those of the kernel's parameters.
    pub unsafe fn launch_on_copies(
        &mut self,
        kernel: &Described,
        [blocks, items]: [[i64; 3]; 2],
        (mut values, version): (Values, Option<Version>),
        Copies {
            all: mut copies,
            objects,
        }: Copies,
    ) -> Result<(Vec<Copied>, Results), String> {
        let doing = &words(kernel.name, kernel.place);
        let (number, sizes) = self.begin(doing, kernel, [blocks, items])?;
        let Some([blocks, items]) = sizes else {
            for part in copies.iter_mut().flat_map(|copy| &mut copy.parts) {
                part.writes = false;
            }
            return Ok((copies, Vec::new()));
        };
        let mut all = Vec::new();
        for copy in &copies {
            let mut kept = self.take_kept(doing, &copy.range)?;
            for part in &copy.parts {
                let moved = self.update(&mut kept, part);
                let up = self.check(doing, moved)?;
                self.moved(number, Moved { up, down: 0 });
            }
            all.push(kept);
        }
        let left = self.give_all(doing, number, kernel, blocks, &mut values, 0)?;
        for (at, object) in objects {
            let which = copies.iter().position(|copy| copy.range.contains(&object));
            let which = which.expect("its object was copied");
            // Where it is in front of the object, the distance is negative.
            let distance = values.address(at).wrapping_sub(copies[which].range.start);
            values.set(at, all[which].address.wrapping_add(distance as Address));
        }
        let run = (number, version);
        self.run(doing, run, kernel, [blocks, items], &mut values)?;
        let results = self.results(doing, number, left, Vec::new(), &mut Vec::new())?;
        for (copy, mut kept) in copies.iter_mut().zip(all) {
            for part in copy.parts.iter_mut().filter(|part| part.writes) {
                let start = part.range.start - copy.range.start;
                let bytes = part.contents.len();
                part.after = self.fetch(doing, number, kept.address + start as Address, bytes)?;
                kept.contents[start..start + bytes].copy_from_slice(&part.after);
            }
            self.kept.push(kept);
        }
        self.give_up_kept();
        Ok((copies, results))
    }

    /// The device's copy of a range; one of which nothing is known where there is none.
    fn take_kept(&mut self, doing: &str, range: &Range<usize>) -> Result<Kept, String> {
        if let Some(at) = self.kept.iter().position(|kept| kept.range == *range) {
            return Ok(self.kept.remove(at));
        }
        // The program uses that memory otherwise now.
        let overlaps = |kept: &Kept| kept.range.start < range.end && range.start < kept.range.end;
        let (gone, stay) = mem::take(&mut self.kept).into_iter().partition(overlaps);
        self.kept = stay;
        self.spare
            .extend(Vec::into_iter(gone).map(|kept: Kept| kept.room));
        // All in it is aligned as it is on the host.
        let before = range.start % ALIGNMENT;
        let room = self.room(doing, before + range.len())?;
        Ok(Kept {
            range: range.clone(),
            contents: vec![0_u8; range.len()],
            known: Vec::new(),
            address: room.1 + before as Address,
            room,
        })
    }

    /// Has it keep at most so many bytes.
    #[cfg(test)]
    pub fn keep_at_most(&mut self, bytes: usize) {
        self.most_kept = bytes;
    }

    /// No more is kept than there is room for: what was used last stays.
    fn give_up_kept(&mut self) {
        let mut bytes: usize = self.kept.iter().map(|kept| kept.contents.len()).sum();
        while bytes > self.most_kept && self.kept.len() > 1 {
            let kept = self.kept.remove(0);
            bytes -= kept.contents.len();
            self.spare.push(kept.into_room());
        }
    }

    /// Brings what is different to the device; how many bytes.
    fn update(&self, kept: &mut Kept, part: &Part) -> Result<u64, Problem> {
        let start = part.range.start - kept.range.start;
        let end = start + part.contents.len();
        let mut moved = 0;
        let mut begins = None;
        let mut from = start;
        while from < end {
            let to = (from + PIECE - from % PIECE).min(end);
            let is_known = kept
                .known
                .iter()
                .any(|one| one.start <= from && to <= one.end);
            let is_same =
                is_known && kept.contents[from..to] == part.contents[from - start..to - start];
            if !is_same {
                begins = begins.or(Some(from));
            }
            if let Some(first) = begins
                && (is_same || to == end)
            {
                let behind = if is_same { from } else { to };
                let part = &part.contents[first - start..behind - start];
                // SAFETY: a part of what has room there.
                unsafe {
                    let to = kept.address + first as Address;
                    self.device.upload(to, part.as_ptr(), part.len())?;
                }
                moved += part.len() as u64;
                begins = None;
            }
            from = to;
        }
        kept.contents[start..end].copy_from_slice(&part.contents);
        kept.know(start..end);
        Ok(moved)
    }
}
