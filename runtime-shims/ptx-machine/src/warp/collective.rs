//! What lanes of a warp do together: each names by a mask those that take part, and none goes on before all of them that have
//! not ended are there.

use super::{Group, LANES, Result, State, Warp, lanes_of};
use crate::program::{Operand, Shuffle, Update, Vote, What};
use crate::types::{ones, sign_extended};

impl Warp {
    /// Executes one of them, or waits. True if just the group's lanes did and go on.
    pub(super) fn collective(&mut self, what: &What, group: Group) -> Result<bool> {
        let waiting = lanes_of(self.with(State::Together))
            .filter(|lane| self.at[*lane] == group.at && self.base[*lane] == group.base);
        let there = waiting.fold(group.lanes, |all, lane| all | 1 << lane);
        let mask = match what {
            What::WarpBarrier { mask }
            | What::Shuffle { mask, .. }
            | What::Vote { mask, .. }
            | What::Match { mask, .. }
            | What::Reduce { mask, .. } => *mask,
            _ => unreachable!("lanes do it together"),
        };
        let all = Group {
            lanes: there,
            ..group
        };
        let (masks, unknown) = self.registers.read(all, mask);
        if unknown.is_some() {
            return group.failed("a value that was never written decides which lanes take part");
        }
        let first = group.lanes.trailing_zeros() as usize;
        let named = masks[first] as u32;
        if let Some(lane) = lanes_of(group.lanes).find(|lane| masks[*lane] as u32 >> lane & 1 == 0)
        {
            return group.failed(format!(
                "lane {lane} takes part in what lanes do together, and is not in its mask {:#x}",
                masks[lane]
            ));
        }
        let taking_part = lanes_of(there).filter(|lane| masks[*lane] as u32 == named);
        let taking_part = taking_part.fold(0, |all, lane| all | 1 << lane);
        let missing = named & self.alive() & !taking_part;
        // Others of the group have another mask: they come after these.
        for lane in lanes_of(group.lanes & !taking_part) {
            self.at[lane] = group.at;
        }
        if missing != 0 {
            for lane in lanes_of(group.lanes & taking_part) {
                self.at[lane] = group.at;
                self.state[lane] = State::Together;
            }
            return Ok(false);
        }
        let all = Group {
            lanes: taking_part,
            ..group
        };
        self.together_now(what, all)?;
        for lane in lanes_of(taking_part) {
            self.at[lane] = group.at + 1;
            self.state[lane] = State::Running;
        }
        Ok(taking_part == group.lanes)
    }

    fn together_now(&mut self, what: &What, group: Group) -> Result<()> {
        match what {
            What::WarpBarrier { .. } => self.barriers = self.barriers.wrapping_add(1),
            What::Shuffle { .. } => self.shuffle(what, group)?,
            What::Vote { what, to, by, .. } => {
                let (_, unknown) = self.registers.read(group, Operand::Register(by.register));
                let truths = self.bits(group.base + by.register, by.is_negated) & group.lanes;
                let value = match what {
                    Vote::All => u64::from(truths == group.lanes),
                    Vote::Any => u64::from(truths != 0),
                    Vote::Same => u64::from(truths == 0 || truths == group.lanes),
                    Vote::Ballot => truths.into(),
                };
                let unknown = unknown.map(|unknown| match what {
                    Vote::Ballot => {
                        let lanes = lanes_of(group.lanes).filter(|lane| unknown[*lane] != 0);
                        [lanes.fold(0, |all, lane| all | 1 << lane); LANES]
                    }
                    _ => [1; LANES],
                });
                self.registers.write(group, *to, &[value; LANES], unknown);
            }
            What::Match {
                bits,
                all,
                to,
                is_same,
                value,
                ..
            } => {
                let (values, unknown) = self.registers.read(group, *value);
                let values = values.map(|value| value & ones(*bits));
                let mut result = [0; LANES];
                for lane in lanes_of(group.lanes) {
                    let same = lanes_of(group.lanes).filter(|other| values[*other] == values[lane]);
                    result[lane] = same.fold(0, |all, other| all | 1 << other);
                }
                let first = group.lanes.trailing_zeros() as usize;
                let are_same = result[first] == u64::from(group.lanes);
                if *all {
                    result = [if are_same { group.lanes.into() } else { 0 }; LANES];
                }
                let unknown = unknown.map(|_| [ones(32); LANES]);
                self.registers.write(group, *to, &result, unknown);
                if let Some(is_same) = is_same {
                    let unknown = unknown.map(|_| [1; LANES]);
                    self.registers
                        .write(group, *is_same, &[are_same.into(); LANES], unknown);
                }
            }
            What::Reduce {
                op, of, to, value, ..
            } => {
                let (values, unknown) = self.registers.read(group, *value);
                let is_signed = of.is_signed();
                let extended = |value: u64| {
                    if is_signed {
                        sign_extended(value, 32)
                    } else {
                        value & ones(32)
                    }
                };
                let all = lanes_of(group.lanes).map(|lane| extended(values[lane]));
                let result = all.reduce(|a, b| match op {
                    Update::Add => a.wrapping_add(b),
                    Update::Min if is_signed => (a as i64).min(b as i64) as u64,
                    Update::Max if is_signed => (a as i64).max(b as i64) as u64,
                    Update::Min => a.min(b),
                    Update::Max => a.max(b),
                    Update::And => a & b,
                    Update::Or => a | b,
                    _ => a ^ b,
                });
                let result = result.unwrap_or(0) & ones(32);
                let unknown = unknown.map(|_| [ones(32); LANES]);
                self.registers.write(group, *to, &[result; LANES], unknown);
            }
            _ => unreachable!("lanes do it together"),
        }
        Ok(())
    }

    fn shuffle(&mut self, what: &What, group: Group) -> Result<()> {
        let What::Shuffle {
            how,
            to,
            inside,
            value,
            lane: by,
            clamp,
            ..
        } = what
        else {
            unreachable!("it is a shuffle");
        };
        let (values, unknown) = self.registers.read(group, *value);
        let (by, by_unknown) = self.registers.read(group, *by);
        let (clamps, clamp_unknown) = self.registers.read(group, *clamp);
        if by_unknown.is_some() || clamp_unknown.is_some() {
            return group.failed("a value that was never written decides which lane is read");
        }
        let (mut result, mut result_unknown) = ([0; LANES], [0; LANES]);
        let mut are_inside = [0; LANES];
        for own in lanes_of(group.lanes) {
            let lane = own as i64;
            let b = (by[own] & 31) as i64;
            let segment = (clamps[own] >> 8 & 31) as i64;
            let clamp = (clamps[own] & 31) as i64;
            let last = (lane & segment) | (clamp & !segment);
            let first = lane & segment;
            let (from, is_inside) = match how {
                Shuffle::Up => (lane - b, lane - b >= last),
                Shuffle::Down => (lane + b, lane + b <= last),
                Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
                Shuffle::Index => (first | (b & !segment), first | (b & !segment) <= last),
            };
            let from = if is_inside { from as usize & 31 } else { own };
            are_inside[own] = is_inside.into();
            result[own] = values[from];
            // A lane that does not take part has nothing to read.
            result_unknown[own] = if group.lanes >> from & 1 == 0 {
                ones(32)
            } else {
                unknown.map_or(0, |unknown| unknown[from])
            };
        }
        self.registers
            .write(group, *to, &result, Some(result_unknown));
        if let Some(inside) = inside {
            self.registers.write(group, *inside, &are_inside, None);
        }
        Ok(())
    }
}
