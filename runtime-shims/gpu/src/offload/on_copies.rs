//! Launches of kernels whose memory others keep: they are handed copies of it, and hand them back.
//!
//! Guarantee: what a kernel finds is what it was handed. The device keeps its copies, and this library what is in them: of the
//! next copy of the same memory only what is different goes there.

use std::mem;
use std::ops::Range;

use okl_abi::gpu::parameter;

use super::{ALIGNMENT, Offload, Values, words};
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
    /// The memory that it lies in: bytes and address.
    room: (usize, Address),
    /// Where it begins.
    address: Address,
}

impl Kept {
    /// The memory that it lies in, which is free then.
    pub fn into_room(self) -> (usize, Address) {
        self.room
    }
}

/// So many bytes are compared at once, and go to the device where one of them is different.
const PIECE: usize = 1024;

/// What kernels leave, with where it goes.
type Results = Vec<(usize, Vec<u8>)>;

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
        let entered = self.device.enter();
        self.check(doing, entered)?;
        let number = self.meet(kernel)?;
        let mut results = Vec::new();
        let Some([blocks, items]) = self.sizes(number, blocks, items)? else {
            for copy in &mut copies {
                copy.writes = false;
            }
            return Ok((copies, results));
        };
        let mut all = Vec::new();
        for copy in &copies {
            let kept = self.take_kept(doing, &copy.range)?;
            let moved = self.update(&kept, &copy.contents);
            let up = self.check(doing, moved)?;
            self.moved(number, Moved { up, down: 0 });
            all.push(kept);
        }
        let mut left = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                self.give(doing, number, parameter.kind, at, &mut values)?;
            } else if parameter.kind & parameter::RESULTS != 0 {
                let each = usize::try_from(parameter.size).unwrap_or(0);
                let count: usize = blocks.iter().map(|count| *count as usize).product();
                let room = self.room(doing, each * count)?;
                left.push((values.address(at), each * count, room));
                values.set(at, room.1);
            }
        }
        for (at, object) in objects {
            let which = copies.iter().position(|copy| copy.range.contains(&object));
            let which = which.expect("its object was copied");
            // Where it is in front of the object, the distance is negative.
            let distance = values.address(at).wrapping_sub(copies[which].range.start);
            values.set(at, all[which].address.wrapping_add(distance as Address));
        }
        self.run(doing, number, kernel, blocks, items, &mut values)?;
        for (address, bytes, room) in left {
            let mut contents = vec![0_u8; bytes];
            // SAFETY: as many bytes.
            let copied = unsafe { (self.device).download(contents.as_mut_ptr(), room.1, bytes) };
            self.check(doing, copied)?;
            let down = bytes as u64;
            self.moved(number, Moved { up: 0, down });
            results.push((address, contents));
            self.spare.push(room);
        }
        for (copy, mut kept) in copies.iter_mut().zip(all) {
            if copy.writes {
                copy.after = vec![0_u8; copy.contents.len()];
                let (to, bytes) = (copy.after.as_mut_ptr(), copy.after.len());
                // SAFETY: as many bytes.
                let copied = unsafe { (self.device).download(to, kept.address, bytes) };
                self.check(doing, copied)?;
                let down = bytes as u64;
                self.moved(number, Moved { up: 0, down });
                kept.contents.clone_from(&copy.after);
            } else {
                kept.contents.clone_from(&copy.contents);
            }
            self.kept.push(kept);
        }
        Ok((copies, results))
    }

    /// The device's copy of a range; one of which nothing is known where there is none.
    fn take_kept(&mut self, doing: &str, range: &Range<usize>) -> Result<Kept, String> {
        if let Some(at) = self.kept.iter().position(|kept| kept.range == *range) {
            return Ok(self.kept.swap_remove(at));
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
