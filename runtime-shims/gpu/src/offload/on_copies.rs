//! Launches of kernels whose memory others keep: they are handed copies of it, and hand them back.

use std::ops::Range;

use okl_abi::gpu::parameter;

use super::{ALIGNMENT, Offload, Values, words};
use crate::described::Described;
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
        Copies { all: mut copies, objects }: Copies,
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
        let mut rooms = Vec::new();
        for copy in &copies {
            // All in it is aligned as it is on the host.
            let before = copy.range.start % ALIGNMENT;
            let room = self.room(doing, before + copy.range.len())?;
            let address = room.1 + before as Address;
            let contents = &copy.contents;
            // SAFETY: as many bytes.
            let copied = unsafe {
                (self.device).upload(address, contents.as_ptr(), contents.len())
            };
            self.check(doing, copied)?;
            let up = contents.len() as u64;
            self.moved(number, Moved { up, down: 0 });
            rooms.push((room, address));
        }
        let mut left = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::RESULTS != 0 {
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
            values.set(at, rooms[which].1.wrapping_add(distance as Address));
        }
        self.run(doing, number, blocks, items, &mut values)?;
        for (address, bytes, room) in left {
            let mut contents = vec![0_u8; bytes];
            // SAFETY: as many bytes.
            let copied =
                unsafe { (self.device).download(contents.as_mut_ptr(), room.1, bytes) };
            self.check(doing, copied)?;
            let down = bytes as u64;
            self.moved(number, Moved { up: 0, down });
            results.push((address, contents));
            self.spare.push(room);
        }
        for (copy, (room, address)) in copies.iter_mut().zip(rooms) {
            if copy.writes {
                copy.after = vec![0_u8; copy.contents.len()];
                let to = copy.after.as_mut_ptr();
                // SAFETY: as many bytes.
                let copied = unsafe { (self.device).download(to, address, copy.contents.len()) };
                self.check(doing, copied)?;
                let down = copy.contents.len() as u64;
                self.moved(number, Moved { up: 0, down });
            }
            self.spare.push(room);
        }
        Ok((copies, results))
    }
}
