//! The registers of a warp: a value for each lane, and which of its bits are not known. Windows of them belong to functions.

use super::{Group, LANES};
use crate::program::Operand;

/// The registers.
#[derive(Debug, Default)]
pub struct Registers {
    values: Vec<[u64; LANES]>,
    /// Bits that are not known; they count only for lanes that are dirty.
    unknown: Vec<[u64; LANES]>,
    dirty: Vec<u32>,
    /// Lanes whose unknown bits come from a computation, and not only from where nothing was written, as those between the
    /// members of a struct that is copied.
    computed: Vec<u32>,
}

/// Bits that are not known, if there are any.
pub type Unknown = Option<[u64; LANES]>;

impl Registers {
    /// Has a window of registers, of which nothing is known, for some lanes.
    pub fn enter(&mut self, base: u32, count: u32, lanes: u32) {
        let end = (base + count) as usize;
        if self.values.len() < end {
            self.values.resize(end, [0; LANES]);
            self.unknown.resize(end, [0; LANES]);
            self.dirty.resize(end, 0);
            self.computed.resize(end, 0);
        }
        for register in base as usize..end {
            for lane in super::lanes_of(lanes) {
                self.unknown[register][lane] = !0;
            }
            self.dirty[register] |= lanes;
            self.computed[register] &= !lanes;
        }
    }

    /// The lanes of which something is not known.
    pub fn dirty(&self, register: u32) -> u32 {
        self.dirty[register as usize]
    }

    /// Says that what is not known of a register was computed.
    pub fn note_computed(&mut self, group: Group, to: u32) {
        let register = (group.base + to) as usize;
        self.computed[register] |= self.dirty[register] & group.lanes;
    }

    /// The lanes of which something is not known that was computed.
    pub fn computed(&self, group: Group, operand: Operand) -> u32 {
        match operand {
            Operand::Immediate(_) => 0,
            Operand::Register(register) => self.computed[(group.base + register) as usize],
        }
    }

    /// All lanes' values.
    pub fn values(&self, register: u32) -> &[u64; LANES] {
        &self.values[register as usize]
    }

    /// What an operand is in all lanes, and which bits of those of the group are not known.
    #[inline]
    pub fn read(&self, group: Group, operand: Operand) -> ([u64; LANES], Unknown) {
        match operand {
            Operand::Immediate(value) => ([value; LANES], None),
            Operand::Register(register) => {
                let register = (group.base + register) as usize;
                let dirty = self.dirty[register] & group.lanes;
                let unknown = (dirty != 0).then(|| {
                    let mut unknown = [0; LANES];
                    for lane in super::lanes_of(dirty) {
                        unknown[lane] = self.unknown[register][lane];
                    }
                    unknown
                });
                (self.values[register], unknown)
            }
        }
    }

    /// Writes a register of the group's lanes.
    #[inline]
    pub fn write(&mut self, group: Group, to: u32, values: &[u64; LANES], unknown: Unknown) {
        let register = (group.base + to) as usize;
        let own = &mut self.values[register];
        if group.lanes == !0 {
            *own = *values;
        } else {
            for lane in super::lanes_of(group.lanes) {
                own[lane] = values[lane];
            }
        }
        self.dirty[register] &= !group.lanes;
        self.computed[register] &= !group.lanes;
        if let Some(unknown) = unknown {
            for lane in super::lanes_of(group.lanes) {
                if unknown[lane] != 0 {
                    self.unknown[register][lane] = unknown[lane];
                    self.dirty[register] |= 1 << lane;
                }
            }
        }
    }

    /// Writes one lane's.
    pub fn set(&mut self, register: u32, lane: usize, value: u64, unknown: u64) {
        let register = register as usize;
        self.values[register][lane] = value;
        self.unknown[register][lane] = unknown;
        self.computed[register] &= !(1 << lane);
        if unknown == 0 {
            self.dirty[register] &= !(1 << lane);
        } else {
            self.dirty[register] |= 1 << lane;
        }
    }
}
