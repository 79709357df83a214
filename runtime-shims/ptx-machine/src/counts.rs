//! What a kernel's launches cost, in numbers that are the same in every run: warp instructions by class, 32-byte sectors of
//! the device's memory, and how often a block's memory is asked.

use crate::program::Class;

/// The kinds of requests for the device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Updates.
    Atomic,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Launches.
    pub launches: u64,
    /// Warp instructions, by class.
    pub instructions: [u64; Class::ALL.len()],
    /// Instructions of threads.
    pub thread_instructions: u64,
    /// Requests of warps for the device's memory, by kind, and the sectors that they touch.
    pub global: [(u64, u64); 3],
    /// How often warps came to each instruction of the module, whether or not it was for any of their lanes.
    pub issued: Vec<u64>,
    /// Requests for a block's memory, and how often it is asked for them: once without conflicts of banks.
    pub shared: (u64, u64),
}

impl Counts {
    /// Counts an instruction of these lanes.
    pub fn instruction(&mut self, class: Class, lanes: u32) {
        self.instructions[class as usize] += 1;
        self.thread_instructions += u64::from(lanes.count_ones());
    }

    /// A warp comes to an instruction.
    pub fn issue(&mut self, at: u32) {
        let at = at as usize;
        if self.issued.len() <= at {
            self.issued.resize(at + 1, 0);
        }
        self.issued[at] += 1;
    }

    /// Counts a request for the device's memory, of each lane so many bytes from its address.
    pub fn global(&mut self, request: Request, addresses: impl Iterator<Item = u64>, bytes: u64) {
        let mut sectors = [0; 64];
        let mut all = Vec::new();
        let mut count = 0;
        for address in addresses {
            for sector in address / 32..=(address + bytes - 1) / 32 {
                // Neighbours are mostly in the same one as the last.
                if count > 0 && count <= 64 && sectors[count - 1] == sector {
                    continue;
                }
                if count < 64 {
                    sectors[count] = sector;
                    count += 1;
                } else {
                    all.push(sector);
                }
            }
        }
        all.extend(&sectors[..count]);
        all.sort_unstable();
        all.dedup();
        let (requests, touched) = &mut self.global[request as usize];
        *requests += 1;
        *touched += all.len() as u64;
    }

    /// Counts a request for a block's memory.
    pub fn shared(&mut self, addresses: &[u64], bytes: u64) {
        let together = (128 / bytes.max(4)).max(1) as usize;
        let mut asked = 0;
        for lanes in addresses.chunks(together) {
            let mut words: Vec<u64> = Vec::new();
            for address in lanes {
                words.extend(address / 4..=(address + bytes - 1) / 4);
            }
            words.sort_unstable();
            words.dedup();
            let mut banks = [0u64; 32];
            for word in words {
                banks[(word % 32) as usize] += 1;
            }
            asked += banks.iter().max().copied().unwrap_or(0);
        }
        self.shared.0 += 1;
        self.shared.1 += asked;
    }

    /// Adds those of other launches.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        for (own, other) in self.instructions.iter_mut().zip(other.instructions) {
            *own += other;
        }
        self.thread_instructions += other.thread_instructions;
        self.issued
            .resize(self.issued.len().max(other.issued.len()), 0);
        for (own, other) in self.issued.iter_mut().zip(&other.issued) {
            *own += other;
        }
        for (own, other) in self.global.iter_mut().zip(other.global) {
            own.0 += other.0;
            own.1 += other.1;
        }
        self.shared.0 += other.shared.0;
        self.shared.1 += other.shared.1;
    }

    /// All of it in one line: names and numbers, those that are 0 left out.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("launches {}", self.launches)];
        let all: u64 = self.instructions.iter().sum();
        parts.push(format!("warp instructions {all}"));
        parts.push(format!("thread instructions {}", self.thread_instructions));
        for (class, name) in Class::ALL {
            let count = self.instructions[class as usize];
            if count > 0 {
                parts.push(format!("{name} {count}"));
            }
        }
        for (name, (requests, sectors)) in ["load", "store", "atomic"].iter().zip(self.global) {
            if requests > 0 {
                parts.push(format!("{name} requests {requests} sectors {sectors}"));
            }
        }
        if self.shared.0 > 0 {
            parts.push(format!(
                "shared requests {} asked {}",
                self.shared.0, self.shared.1
            ));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_are_counted_at_each_instruction() {
        let (mut one, mut other) = (Counts::default(), Counts::default());
        one.issue(2);
        one.issue(0);
        other.issue(2);
        other.issue(3);
        one.add(&other);
        assert_eq!(one.issued, [1, 0, 2, 1]);
    }

    #[test]
    fn sectors_and_banks() {
        let mut counts = Counts::default();
        counts.global(Request::Load, (0..32).map(|lane| 4096 + 4 * lane), 4);
        counts.global(Request::Load, (0..32).map(|lane| 4096 + 32 * lane), 4);
        counts.global(Request::Store, (0..32).map(|lane| 4096 + 8 * lane + 4), 8);
        counts.global(Request::Load, (0..32).map(|_| 4096), 4);
        assert_eq!(counts.global, [(3, 4 + 32 + 1), (1, 9), (0, 0)]);
        let addresses = |stride: u64| (0..32).map(|lane| lane * stride).collect::<Vec<u64>>();
        counts.shared(&addresses(4), 4);
        assert_eq!(counts.shared, (1, 1));
        counts.shared(&addresses(8), 8);
        assert_eq!(counts.shared, (2, 3));
        counts.shared(&addresses(128), 4);
        assert_eq!(counts.shared, (3, 35));
        counts.shared(&addresses(0), 4);
        assert_eq!(counts.shared, (4, 36));
    }
}
