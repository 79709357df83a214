//! What a warp works in: the program, the device's memory, its block's, what the launch says.

use std::collections::HashMap;

use crate::check::{Accesses, Segments, Who};
use crate::counts::Counts;
use crate::memory::Memory;
use crate::program::Program;

/// What is wrong, where, and as which of CUDA's errors the launch ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The instruction.
    pub at: u32,
    /// CUDA's number.
    pub code: i32,
    /// What is wrong.
    pub text: String,
}

/// CUDA's errors in which launches end.
pub mod codes {
    /// An address that is not allowed.
    pub const ILLEGAL_ADDRESS: i32 = 700;
    /// An assertion does not hold.
    pub const ASSERT: i32 = 710;
    /// One that is no multiple of what it has to be.
    pub const MISALIGNED: i32 = 716;
    /// Anything else.
    pub const LAUNCH_FAILED: i32 = 719;
}

/// A block's memory.
#[derive(Debug, Default)]
pub struct SharedMemory {
    /// What is in it.
    pub data: Vec<u8>,
    /// Bits that are set say that those of `data` have been written.
    pub known: Vec<u8>,
    /// Who accessed it.
    pub accesses: Accesses,
    /// Where variables begin, and behind them.
    pub ranges: Vec<(u64, u64)>,
}

impl SharedMemory {
    /// Whether these bytes are a variable's, or what is wrong.
    pub fn check(&self, address: u64, bytes: usize) -> Result<(), String> {
        let end = address.saturating_add(bytes as u64);
        let behind = self.ranges.partition_point(|range| range.0 <= address);
        let before = behind.checked_sub(1).map(|at| self.ranges[at]);
        match before {
            Some((_, last)) if end <= last => Ok(()),
            Some((first, last)) if address < last => Err(format!(
                "over the end of a shared variable of {} bytes",
                last - first
            )),
            Some((first, last)) => Err(format!(
                "{} bytes behind a shared variable of {} bytes",
                address - last,
                last - first
            )),
            None => Err("no memory of the block's".to_owned()),
        }
    }
}

/// What a launch says.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Blocks, by dimension.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Bytes that the launch adds to a block's memory.
    pub dynamic_shared: u32,
    /// Bytes of it in all.
    pub total_shared: u32,
    /// The launch's number.
    pub grid: u64,
}

impl Shape {
    /// How many threads a block has.
    pub fn block_size(&self) -> u32 {
        self.threads.iter().product()
    }

    /// A thread of a block by its number.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.threads;
        [number % x, number / x % y, number / x / y]
    }
}

/// What a warp works in.
pub struct Surroundings<'a> {
    /// The program.
    pub program: &'a Program,
    /// The device's memory.
    pub memory: &'a mut Memory,
    /// The block's.
    pub shared: SharedMemory,
    /// The parameters of the kernel.
    pub params: &'a [u8],
    /// What it costs.
    pub counts: &'a mut Counts,
    /// What the launch says.
    pub shape: Shape,
    /// Which block it is.
    pub block: [u32; 3],
    /// The segment and those before; `thread` and the warp's number are the warp's to say.
    pub who: Who,
    /// Segments of other blocks that are ordered before.
    pub seen: Segments,
    /// What was released where, in this launch.
    pub releases: &'a mut HashMap<u64, Segments>,
    /// Whether races are looked for.
    pub checks_races: bool,
    /// Warp instructions so far.
    pub clock: u64,
    /// Warp instructions after which the launch ends.
    pub last_clock: u64,
    /// The kernel's name.
    pub kernel: &'a str,
    /// What is printed.
    pub print: &'a mut dyn FnMut(&[u8]),
}

impl Surroundings<'_> {
    /// Begins a segment: what is accessed from now on is ordered behind what the block has accessed.
    pub fn begin_segment(&mut self) {
        self.who.segment += 1;
    }

    /// A thread by name.
    pub fn named(&self, thread: u32) -> String {
        let [x, y, z] = self.shape.thread(thread);
        match self.shape.threads {
            [_, 1, 1] => format!("thread {x}"),
            [_, _, 1] => format!("thread ({x}, {y})"),
            _ => format!("thread ({x}, {y}, {z})"),
        }
    }

    /// The block by name.
    pub fn block_named(&self) -> String {
        let [x, y, z] = self.block;
        match self.shape.blocks {
            [_, 1, 1] => format!("block {x}"),
            [_, _, 1] => format!("block ({x}, {y})"),
            _ => format!("block ({x}, {y}, {z})"),
        }
    }
}
