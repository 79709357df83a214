//! What a variant communicates in one iteration: counted in two runs of different lengths, so that
//! start and end drop out of the difference.

use crate::catalogue::Benchmark;
use crate::output::Counts;
use crate::tools::{Mode, Tools, Variant};

// Not shorter: okl still learns in the first iterations.
const SHORT: u32 = 12;
const LONG: u32 = 18;

/// A count that grows with every iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PerIteration {
    /// Of all ranks together.
    pub(crate) total: f64,
    /// Of the rank with most.
    pub(crate) busiest: f64,
}

/// Per iteration of one benchmark, on one number of ranks. None is what was not counted.
#[derive(Clone, Debug)]
pub(crate) struct Communication {
    pub(crate) benchmark: &'static str,
    pub(crate) variant: Variant,
    pub(crate) ranks: u32,
    /// Messages of every kind: data and control, requests and answers, collectives.
    pub(crate) messages: Option<PerIteration>,
    pub(crate) bytes: Option<PerIteration>,
    /// Of these, okl's messages that carry data.
    pub(crate) data_messages: Option<PerIteration>,
    pub(crate) data_bytes: Option<PerIteration>,
    /// Of these, what collectives amount to; see `count/mpi_count.c`.
    pub(crate) collective_messages: Option<PerIteration>,
    /// Calls of collectives.
    pub(crate) collectives: Option<PerIteration>,
    /// okl's starts of regions.
    pub(crate) forks: Option<PerIteration>,
    /// Page faults that okl served.
    pub(crate) faults: Option<PerIteration>,
    /// Memory of the rank that holds most: all it touched since MPI started (hand MPI), or the
    /// program's shared memory (okl).
    pub(crate) resident_kib: Option<u64>,
}

/// Runs the benchmark at its full size, for a few iterations. `mode` is one of those that count.
pub(crate) fn count(
    tools: &Tools,
    benchmark: &Benchmark,
    variant: Variant,
    ranks: u32,
    mode: Mode,
) -> Result<Communication, String> {
    let counts = |variant, iterations| {
        let sizes = benchmark.full.arguments;
        let run = tools.run(benchmark, variant, ranks, sizes, iterations, mode)?;
        Counts::parse(&run.stderr, ranks).ok_or_else(|| format!("no counts in {:?}", run.stderr))
    };
    let near = [counts(variant, SHORT)?, counts(variant, LONG)?];
    let apart = match variant {
        Variant::Okl => [
            counts(Variant::OklNodes, SHORT)?,
            counts(Variant::OklNodes, LONG)?,
        ],
        _ => near.clone(),
    };
    let own_and_collective = |what: &str| {
        let own = per_iteration(&apart, what)?;
        let collective = per_iteration(&apart, &format!("collective {what}")).unwrap_or_default();
        Some(PerIteration {
            total: own.total + collective.total,
            busiest: own.busiest + collective.busiest,
        })
    };
    let sum = |labels: [&str; 2]| {
        let [one, other] = labels.map(|label| per_iteration(&near, label));
        let (one, other) = (one?, other?);
        Some(PerIteration {
            total: one.total + other.total,
            busiest: one.busiest + other.busiest,
        })
    };
    Ok(Communication {
        benchmark: benchmark.name,
        variant,
        ranks,
        messages: own_and_collective("messages"),
        bytes: own_and_collective("bytes"),
        data_messages: per_iteration(&apart, "data messages"),
        data_bytes: per_iteration(&apart, "data bytes"),
        collective_messages: per_iteration(&apart, "collective messages"),
        collectives: per_iteration(&apart, "collectives"),
        forks: per_iteration(&near, "forks"),
        faults: sum(["read faults", "write faults"]),
        resident_kib: near[1].largest("resident KiB"),
    })
}

fn per_iteration([short, long]: &[Counts; 2], label: &str) -> Option<PerIteration> {
    let difference = |short: Option<u64>, long: Option<u64>| {
        Some((long? as f64 - short? as f64) / f64::from(LONG - SHORT))
    };
    Some(PerIteration {
        total: difference(short.total(label), long.total(label))?,
        busiest: difference(short.largest(label), long.largest(label))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_runs_share_drops_out() {
        let counts = |text: &str| Counts::parse(&format!("okl: statistics\n{text}"), 2).unwrap();
        let runs = [counts("bytes 100 230\n"), counts("bytes 112 266\n")];
        let found = per_iteration(&runs, "bytes").unwrap();
        assert_eq!((found.total, found.busiest), (8.0, 6.0));
        assert_eq!(per_iteration(&runs, "data bytes"), None);
    }
}
