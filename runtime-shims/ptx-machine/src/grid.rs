//! A launch: its blocks run one after the other, in an order that a number decides.

use std::collections::HashMap;

use crate::block;
use crate::check::{Accesses, Segments, Who};
use crate::counts::Counts;
use crate::decode::SharedLayout;
use crate::memory::Memory;
use crate::program::Program;
use crate::surroundings::{Finding, Shape, SharedMemory, Surroundings};

/// A launch.
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its kernel's number.
    pub function: u32,
    /// Where the variables of its blocks lie.
    pub layout: &'a SharedLayout,
    /// Blocks and threads.
    pub shape: Shape,
    /// The parameters.
    pub params: &'a [u8],
    /// What decides the order of blocks and warps; 0: as they are numbered.
    pub seed: u64,
    /// Whether races are looked for.
    pub checks_races: bool,
    /// After how many warp instructions the launch ends.
    pub most_instructions: u64,
    /// The next segment.
    pub next_segment: &'a mut u32,
    /// What is printed.
    pub print: &'a mut dyn FnMut(&[u8]),
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

impl Launch<'_> {
    /// Runs all blocks.
    pub fn run(self, memory: &mut Memory) -> Result<Counts, Finding> {
        let mut counts = Counts {
            launches: 1,
            ..Counts::default()
        };
        let mut random = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [x, y, z] = self.shape.blocks.map(u64::from);
        let mut order: Vec<u64> = (0..x * y * z).collect();
        if random != 0 {
            for at in (1..order.len()).rev() {
                order.swap(at, (next(&mut random) >> 11) as usize % (at + 1));
            }
        }
        if *self.next_segment > u32::MAX / 2 {
            memory.forget_accesses();
            *self.next_segment = 1;
        }
        let launch = *self.next_segment;
        let dynamic = self.shape.dynamic_shared as usize;
        let mut layout = self.layout.clone();
        if dynamic > 0 {
            layout.add(dynamic, 128);
        }
        let bytes = layout.ranges.last().map_or(0, |(_, end)| *end as usize);
        let mut shared = SharedMemory {
            data: vec![0; bytes],
            known: vec![0; bytes],
            accesses: Accesses::default(),
            ranges: layout.ranges,
        };
        let mut releases = HashMap::new();
        let (mut clock, mut segment) = (0, launch);
        let kernel = &self.program.functions[self.function as usize].name;
        let print = self.print;
        let mut found = Ok(());
        for block in order {
            shared.known.fill(0);
            let mut surroundings = Surroundings {
                program: self.program,
                memory: &mut *memory,
                shared,
                params: self.params,
                counts: &mut counts,
                shape: self.shape.clone(),
                block: [block % x, block / x % y, block / x / y].map(|one| one as u32),
                who: Who {
                    segment,
                    block: segment,
                    launch,
                    thread: 0,
                    warp_barriers: 0,
                    is_shared: false,
                },
                seen: Segments::default(),
                releases: &mut releases,
                checks_races: self.checks_races,
                clock,
                last_clock: self.most_instructions,
                kernel,
                print: &mut *print,
            };
            let turn = if random == 0 {
                0
            } else {
                (next(&mut random) >> 11) as usize
            };
            found = block::run(self.function, turn, &mut surroundings);
            clock = surroundings.clock;
            segment = surroundings.who.segment + 1;
            shared = surroundings.shared;
            if found.is_err() {
                break;
            }
        }
        *self.next_segment = segment;
        found.map(|()| counts)
    }
}
