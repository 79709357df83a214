//! A model, not a measurement: how the counted communication would grow on many ranks, and how long
//! it would take by LogGP.

use crate::count::{Communication, PerIteration};

/// The numbers of ranks the model speaks about.
pub(crate) const RANKS: [u32; 3] = [64, 512, 4096];

/// LogGP's parameters, in microseconds: of a network of today, stated and not measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    /// From one network interface to the other.
    pub(crate) latency: f64,
    /// Of a processor for each message sent or received.
    pub(crate) overhead: f64,
    /// Least time between two messages of a rank.
    pub(crate) gap: f64,
    /// For each byte of a message.
    pub(crate) gap_per_byte: f64,
}

/// 100 Gbit/s with a latency between two programs of about 2 microseconds.
pub(crate) const NETWORK: Network = Network {
    latency: 1.0,
    overhead: 0.5,
    gap: 0.3,
    gap_per_byte: 0.000_08,
};

impl Network {
    /// Microseconds of one iteration for a rank that sends `messages` at once and takes `steps` in trees of
    /// all ranks, one after the other. Nothing overlaps with computation.
    fn microseconds(&self, messages: f64, steps: f64, bytes: f64) -> f64 {
        let one = self.latency + 2.0 * self.overhead;
        let sent = if messages < 0.5 {
            0.0
        } else {
            one + (messages - 1.0).max(0.0) * self.gap.max(self.overhead)
        };
        sent + steps * one + bytes * self.gap_per_byte
    }
}

/// How a count may depend on the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// The same for any number.
    Constant,
    /// p - 1: neighbours in a row, or everyone with one rank.
    Row,
    /// log2 p: the root of a tree, or everyone in a butterfly.
    Tree,
    /// p log2 p: a butterfly.
    Butterfly,
    /// p (p - 1): everyone with everyone.
    AllPairs,
    /// 1 - 1/p: a fixed amount dealt out anew, or all of it that a rank does not have.
    Dealt,
    /// (1 - 1/p) / p: the part of it that one rank has.
    DealtShare,
}

impl Law {
    fn at(self, ranks: u32) -> f64 {
        let p = f64::from(ranks);
        match self {
            Law::Constant => 1.0,
            Law::Row => p - 1.0,
            Law::Tree => p.log2(),
            Law::Butterfly => p * p.log2(),
            Law::AllPairs => p * (p - 1.0),
            Law::Dealt => 1.0 - 1.0 / p,
            Law::DealtShare => (1.0 - 1.0 / p) / p,
        }
    }
}

const TOTAL: &[Law] = &[Law::Row, Law::Dealt, Law::Butterfly, Law::AllPairs];
const BUSIEST: &[Law] = &[
    Law::Constant,
    Law::Dealt,
    Law::DealtShare,
    Law::Tree,
    Law::Row,
];

/// A sum of at most two laws.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    terms: Vec<(Law, f64)>,
    /// The largest relative difference from what was counted.
    pub(crate) deviation: f64,
}

impl Fit {
    /// The fewest laws that describe `(ranks, count)` within a hundredth, or else the best pair; of several that
    /// miss nothing the first one. None with fewer counts than two.
    pub(crate) fn of(points: &[(u32, f64)], laws: &[Law]) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let zero = Fit {
            terms: Vec::new(),
            deviation: 0.0,
        };
        if points.iter().all(|(_, count)| *count <= 0.0) {
            return Some(zero);
        }
        let singles = laws.iter().filter_map(|law| Self::single(points, *law));
        let pairs = laws.iter().enumerate().flat_map(|(i, one)| {
            let others = laws[i + 1..].iter();
            others.filter_map(|other| Self::pair(points, *one, *other))
        });
        let best = |fits: &mut dyn Iterator<Item = Fit>| {
            const NOTHING: f64 = 1e-9;
            let missed = |fit: &Fit| fit.deviation.max(NOTHING);
            fits.min_by(|a, b| missed(a).total_cmp(&missed(b)))
        };
        let single = best(&mut singles.into_iter())?;
        if single.deviation <= 0.01 {
            return Some(single);
        }
        match best(&mut pairs.into_iter()) {
            Some(pair) if pair.deviation < single.deviation => Some(pair),
            _ => Some(single),
        }
    }

    /// What the laws say for `ranks`.
    pub(crate) fn at(&self, ranks: u32) -> f64 {
        self.terms
            .iter()
            .fold(0.0, |sum, (law, factor)| sum + factor * law.at(ranks))
    }

    /// What one of them says for `ranks`.
    fn part(&self, of: Law, ranks: u32) -> f64 {
        let terms = self.terms.iter().filter(|(law, _)| *law == of);
        terms.map(|(law, factor)| factor * law.at(ranks)).sum()
    }

    fn single(points: &[(u32, f64)], law: Law) -> Option<Self> {
        // Least squares of relative errors.
        let (mut top, mut bottom) = (0.0, 0.0);
        for (ranks, count) in relative(points) {
            let at = law.at(ranks) / count;
            top += at;
            bottom += at * at;
        }
        Self::checked(points, vec![(law, top / bottom)])
    }

    fn pair(points: &[(u32, f64)], one: Law, other: Law) -> Option<Self> {
        let [mut aa, mut ab, mut bb, mut a1, mut b1] = [0.0; 5];
        for (ranks, count) in relative(points) {
            let (a, b) = (one.at(ranks) / count, other.at(ranks) / count);
            aa += a * a;
            ab += a * b;
            bb += b * b;
            a1 += a;
            b1 += b;
        }
        let determinant = aa * bb - ab * ab;
        if determinant <= 1e-9 * aa * bb {
            return None;
        }
        let factors = [
            (a1 * bb - b1 * ab) / determinant,
            (b1 * aa - a1 * ab) / determinant,
        ];
        Self::checked(points, vec![(one, factors[0]), (other, factors[1])])
    }

    /// Nothing is communicated less than never.
    fn checked(points: &[(u32, f64)], terms: Vec<(Law, f64)>) -> Option<Self> {
        if !terms.iter().all(|(_, factor)| *factor > 0.0) {
            return None;
        }
        let mut fit = Fit {
            terms,
            deviation: 0.0,
        };
        for (ranks, count) in relative(points) {
            let deviation = (fit.at(ranks) / count - 1.0).abs();
            fit.deviation = fit.deviation.max(deviation);
        }
        Some(fit)
    }
}

/// The counts one can divide by.
fn relative(points: &[(u32, f64)]) -> impl Iterator<Item = (u32, f64)> {
    points.iter().copied().filter(|(_, count)| *count > 0.0)
}

/// What the model says about one variant of a benchmark on one number of ranks, per iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forecast {
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
    pub(crate) microseconds: f64,
    /// Of the laws from the counts, at worst.
    pub(crate) deviation: f64,
}

/// `counted`: one variant of one benchmark, on several numbers of ranks. None if these are fewer
/// than three.
pub(crate) fn forecast(counted: &[&Communication], ranks: u32) -> Option<Forecast> {
    if counted.len() < 3 {
        return None;
    }
    type Count = fn(&Communication) -> Option<PerIteration>;
    let points = |count: Count, busiest: bool| -> Option<Vec<(u32, f64)>> {
        counted
            .iter()
            // With two ranks no one has two neighbours.
            .filter(|row| !busiest || row.ranks > 2)
            .map(|row| {
                let count = count(row)?;
                let value = if busiest { count.busiest } else { count.total };
                Some((row.ranks, value))
            })
            .collect()
    };
    let messages = Fit::of(&points(|row| row.messages, false)?, TOTAL)?;
    let bytes = Fit::of(&points(|row| row.bytes, false)?, TOTAL)?;
    // Collectives have their own term.
    let single: Count = |row| {
        let all = row.messages?;
        Some(match row.collective_messages {
            Some(collective) => PerIteration {
                total: all.total - collective.total,
                busiest: (all.busiest - collective.busiest).max(0.0),
            },
            None => all,
        })
    };
    let busiest_messages = Fit::of(&points(single, true)?, BUSIEST)?;
    let busiest_bytes = Fit::of(&points(|row| row.bytes, true)?, BUSIEST)?;
    let collectives = counted
        .iter()
        .filter_map(|row| row.collectives)
        .map(|count| count.busiest)
        .fold(0.0, f64::max);
    // What grows like trees is sent in as many steps.
    let in_trees = busiest_messages.part(Law::Tree, ranks);
    let steps = collectives * f64::from(ranks).log2().ceil() + in_trees;
    let fits = [&messages, &bytes, &busiest_messages, &busiest_bytes];
    Some(Forecast {
        messages: messages.at(ranks),
        bytes: bytes.at(ranks),
        microseconds: NETWORK.microseconds(
            busiest_messages.at(ranks) - in_trees,
            steps,
            busiest_bytes.at(ranks),
        ),
        deviation: fits.iter().map(|fit| fit.deviation).fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(laws: &[Law], count: impl Fn(f64) -> f64) -> Fit {
        let points = [2, 4, 8].map(|ranks| (ranks, count(f64::from(ranks))));
        Fit::of(&points, laws).unwrap()
    }

    #[test]
    fn a_halo_grows_with_the_number_of_borders() {
        let fit = fitted(TOTAL, |p| 2.0 * (p - 1.0));
        assert_eq!(fit.terms.len(), 1);
        assert!((fit.at(4096) - 8190.0).abs() < 1e-6);
    }

    #[test]
    fn a_transpose_moves_all_but_the_diagonal() {
        let fit = fitted(TOTAL, |p| 8e6 * (1.0 - 1.0 / p));
        assert!((fit.at(64) - 7.875e6).abs() < 1.0);
        let share = fitted(BUSIEST, |p| 8e6 * (1.0 - 1.0 / p) / p);
        assert!((share.at(64) - 8e6 * 63.0 / 4096.0).abs() < 1.0);
    }

    #[test]
    fn two_laws_add_up() {
        let fit = fitted(TOTAL, |p| 3.0 * (p - 1.0) + 0.5 * p * (p - 1.0));
        assert!(fit.deviation < 1e-9);
        assert!((fit.at(64) - (189.0 + 2016.0)).abs() < 1e-6);
    }

    #[test]
    fn what_fits_nothing_says_by_how_much() {
        let fit = fitted(TOTAL, |p| if p == 4.0 { 1.0 } else { 10.0 });
        assert!(fit.deviation > 0.3);
    }

    #[test]
    fn no_communication_stays_none_and_one_count_says_nothing() {
        assert_eq!(fitted(TOTAL, |_| 0.0).at(4096), 0.0);
        assert_eq!(Fit::of(&[(2, 3.0)], TOTAL), None);
    }

    #[test]
    fn the_network_charges_latency_once_and_every_byte() {
        let network = Network {
            latency: 1.0,
            overhead: 0.5,
            gap: 0.3,
            gap_per_byte: 0.001,
        };
        assert_eq!(network.microseconds(0.0, 0.0, 0.0), 0.0);
        assert_eq!(network.microseconds(1.0, 0.0, 1000.0), 3.0);
        assert_eq!(network.microseconds(3.0, 0.0, 0.0), 3.0);
        assert_eq!(network.microseconds(0.0, 6.0, 0.0), 12.0);
    }

    #[test]
    fn the_root_of_a_tree_sends_in_steps() {
        let points = [4, 8].map(|ranks| (ranks, 1.0 + 2.0 * f64::from(ranks).log2()));
        let fit = Fit::of(&points, BUSIEST).unwrap();
        assert!((fit.at(4096) - 25.0).abs() < 1e-6);
        assert!((fit.part(Law::Tree, 4096) - 24.0).abs() < 1e-6);
        assert_eq!(fit.part(Law::Row, 4096), 0.0);
    }
}
