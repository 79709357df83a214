//! Time, on a scale that all ranks share.
//!
//! Ranks of one machine have one clock (`CLOCK_MONOTONIC`). The clock of another machine is compared with
//! rank 0's when the job starts, by messages there and back: the difference is known to half the time that
//! the quickest of them took.

use crate::{mpi_job, settings::settings};

/// Messages there and back.
const ROUNDS: usize = 32;

/// Nanoseconds on this machine's clock.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills the structure; this clock exists everywhere.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How a rank's clock stands to rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    /// What is to be added to this rank's time; 0 on rank 0's machine.
    pub(super) offset: i64,
    /// How far that may be wrong.
    pub(super) error: u64,
}

/// A message to rank 0 and back: when it left here, rank 0's time there, when the answer came.
struct Exchange {
    left: u64,
    theirs: u64,
    came: u64,
}

/// The difference of two clocks by the quickest exchange, in the middle of which the other clock was read.
fn alignment(exchanges: &[Exchange]) -> Alignment {
    let quickest = exchanges.iter().min_by_key(|one| one.came - one.left);
    quickest.map_or_else(Alignment::default, |one| {
        let half = (one.came - one.left) / 2;
        Alignment {
            offset: one.theirs.wrapping_sub(one.left + half) as i64,
            error: half,
        }
    })
}

/// Compares this rank's clock with rank 0's. Collective.
pub(super) fn align() -> Alignment {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot = boot.bytes().fold(0u64, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let node = |rank: u32| {
        settings()
            .ranks_per_node
            .map_or(0, |per_node| rank / per_node)
    };
    let rank = mpi_job::rank();
    let mut machines = vec![0; 2 * mpi_job::ranks() as usize];
    mpi_job::all_gather(&[boot, u64::from(node(rank))], &mut machines);
    let mut found = Alignment::default();
    for (other, machine) in (0..).zip(machines.chunks(2)) {
        if machine == &machines[..2] {
            continue;
        }
        if rank == 0 {
            for _ in 0..ROUNDS {
                mpi_job::receive(other);
                mpi_job::send(&now().to_le_bytes(), other);
            }
        } else if rank == other {
            let exchanges: Vec<Exchange> = (0..ROUNDS)
                .map(|_| {
                    let left = now();
                    mpi_job::send(&[0], 0);
                    let theirs = mpi_job::receive(0).try_into().expect("8 bytes");
                    Exchange {
                        left,
                        theirs: u64::from_le_bytes(theirs),
                        came: now(),
                    }
                })
                .collect();
            found = alignment(&exchanges);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_decides() {
        // Rank 0's clock is 10 000 ahead; the way back of the second exchange is slow.
        let exchanges = [
            (100, 10_150, 200),
            (300, 10_310, 400_000),
            (500, 10_505, 510),
        ];
        let exchanges = exchanges.map(|(left, theirs, came)| Exchange { left, theirs, came });
        let expected = Alignment {
            offset: 10_000,
            error: 5,
        };
        assert_eq!(alignment(&exchanges), expected);
        // A clock that is behind.
        let behind = [Exchange {
            left: 5000,
            theirs: 1010,
            came: 5020,
        }];
        assert_eq!(alignment(&behind).offset, -4000);
        assert_eq!(alignment(&[]), Alignment::default());
    }

    #[test]
    fn time_goes_on() {
        let before = now();
        assert!(now() >= before);
    }
}
