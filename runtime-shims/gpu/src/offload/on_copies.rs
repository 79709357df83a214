//! Launches of kernels whose memory others keep: they are handed copies of it, and hand them back.
//!
//! Guarantee: what a kernel finds is what it was handed. The device keeps its copies, and this library what is in them: of the
//! next copy of the same memory only what is different goes there.

use std::mem;
use std::ops::Range;

use super::launch::Results;
use super::{ALIGNMENT, Offload, Room, Values, words};
use crate::described::Described;
use crate::device::Problem;
use crate::mirrors::Moved;
use crate::table::Address;

/// A range of the program's memory that is copied for one launch.
pub struct Copied {
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
    /// What is in it there.
    contents: Vec<u8>,
    /// The memory that it lies in.
    room: Room,
    /// Where it begins.
    address: Address,
}

impl Kept {
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
        mut values: Values,
        Copies {
            all: mut copies,
            objects,
        }: Copies,
    ) -> Result<(Vec<Copied>, Results), String> {
        let doing = &words(kernel.name, kernel.place);
        let (number, sizes) = self.begin(doing, kernel, [blocks, items])?;
        let Some([blocks, items]) = sizes else {
            for copy in &mut copies {
                copy.writes = false;
            }
            return Ok((copies, Vec::new()));
        };
        let mut all = Vec::new();
        for copy in &copies {
            let kept = self.take_kept(doing, &copy.range)?;
            let moved = self.update(&kept, &copy.contents);
            let up = self.check(doing, moved)?;
            self.moved(number, Moved { up, down: 0 });
            all.push(kept);
        }
        let left = self.give_all(doing, number, kernel, blocks, &mut values)?;
        for (at, object) in objects {
            let which = copies.iter().position(|copy| copy.range.contains(&object));
            let which = which.expect("its object was copied");
            // Where it is in front of the object, the distance is negative.
            let distance = values.address(at).wrapping_sub(copies[which].range.start);
            values.set(at, all[which].address.wrapping_add(distance as Address));
        }
        self.run(doing, number, kernel, blocks, items, &mut values)?;
        let results = self.results(doing, number, left)?;
        for (copy, mut kept) in copies.iter_mut().zip(all) {
            if copy.writes {
                copy.after = self.fetch(doing, number, kept.address, copy.contents.len())?;
                kept.contents.clone_from(&copy.after);
            } else {
                kept.contents.clone_from(&copy.contents);
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
            contents: Vec::new(),
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
    fn update(&self, kept: &Kept, contents: &[u8]) -> Result<u64, Problem> {
        let mut moved = 0;
        let mut begins = None;
        let end = contents.len().div_ceil(PIECE);
        for piece in 0..=end {
            let bytes = piece * PIECE..((piece + 1) * PIECE).min(contents.len());
            let is_same =
                piece == end || kept.contents.get(bytes.clone()) == Some(&contents[bytes]);
            match (is_same, begins) {
                (false, None) => begins = Some(piece * PIECE),
                (true, Some(from)) => {
                    let part = &contents[from..(piece * PIECE).min(contents.len())];
                    // SAFETY: a part of what has room there.
                    unsafe {
                        let to = kept.address + from as Address;
                        self.device.upload(to, part.as_ptr(), part.len())?;
                    }
                    moved += part.len() as u64;
                    begins = None;
                }
                _ => {}
            }
        }
        Ok(moved)
    }
}
