//! Loops over the elements of one set as a chain, and whether they may be one loop, whose iterations each run all of them, one
//! behind the other, in any order and at the same time.
//!
//! What an iteration accesses of data is its own element, or whatever there is: a map leads anywhere.

use crate::model::{Access, Affine, Bounds, Chain, Mode, Nest, Space};
use crate::order::{Manner, Order, Way};
use crate::plan::Refused;
use crate::pragma::Position;

/// What iterations of a loop do with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The number of the data.
    pub data: usize,
    /// What.
    pub does: Does,
    /// Whether each does so with its own element alone.
    pub is_own: bool,
}

/// What is done with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written.
    Change,
    /// Something is combined with it. How often that is done, and in which order, is the loop's own affair; another loop that
    /// combines something with it as well is not to come between.
    Combine,
}

/// The chain of such loops; `data` are the names of what they use, for messages.
pub fn chain(data: &[String], loops: &[Vec<Use>]) -> Chain {
    let space = |name: &String| Space {
        name: name.clone(),
        rank: 1,
        is_local: false,
    };
    let nests = loops.iter().enumerate().map(|(number, uses)| Nest {
        line: 0,
        bounds: vec![Bounds {
            first: Affine::constant(0),
            last: Affine::parameter(0).less(&Affine::constant(1)),
        }],
        accesses: uses.iter().flat_map(|one| accesses(number, one)).collect(),
    });
    Chain {
        parameters: vec!["elements".to_string()],
        known: vec![Affine::parameter(0)],
        spaces: data.iter().map(space).collect(),
        nests: nests.collect(),
        may_overlap: Vec::new(),
    }
}

fn accesses(number: usize, one: &Use) -> Vec<Access> {
    let modes = match one.does {
        Does::Read => vec![Mode::Read],
        Does::Write => vec![Mode::Write],
        Does::Change => vec![Mode::Read, Mode::Write],
        // Each loop combines in a way of its own: sums of two loops are not mixed, as that would round them otherwise.
        Does::Combine => vec![Mode::Reduce(number as u32)],
    };
    let access = |mode| Access {
        space: one.data,
        mode,
        must: false,
        at_last: false,
        index: one.is_own.then(|| vec![Affine::iterator(0, 0)]),
    };
    modes.into_iter().map(access).collect()
}

/// Proves that the loops may be one; where they may not, says why.
pub fn prove_one(chain: &Chain) -> Result<(), Refused> {
    let at = Position::default();
    let order = Order::new(chain);
    let mut order = order.map_err(|failed| Refused::failed(at, failed))?;
    let unmoved = vec![vec![Affine::default()]; chain.nests.len()];
    order.fuse(at, 0..order.groups(), Some(&unmoved), None)?;
    let what = Way::Parallel;
    order.set(0, &Manner { at, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isl::Isl;

    fn uses(loops: &[&[(usize, Does, bool)]]) -> Result<(), String> {
        let each = |&(data, does, is_own): &_| Use { data, does, is_own };
        let loops: Vec<_> = loops
            .iter()
            .map(|one| one.iter().map(each).collect())
            .collect();
        let names = ["x", "y"].map(str::to_string);
        prove_one(&chain(&names, &loops)).map_err(|refused| refused.why)
    }

    #[test]
    fn loops_may_be_one_where_they_meet_in_the_same_element_alone() {
        if !Isl::is_installed() {
            eprintln!(
                "skip loops_may_be_one_where_they_meet_in_the_same_element_alone: there is no isl"
            );
            return;
        }
        const X: usize = 0;
        const Y: usize = 1;
        let (own, any) = (true, false);
        for all in [
            &[&[(X, Does::Write, own)][..], &[(X, Does::Read, own)]][..],
            &[&[(X, Does::Change, own)], &[(X, Does::Change, own)]],
            &[&[(X, Does::Read, any)], &[(X, Does::Read, own)]],
            &[
                &[(X, Does::Read, any), (Y, Does::Write, own)],
                &[(Y, Does::Read, own), (X, Does::Read, own)],
            ],
            // Sums stay in order, in front of whatever has nothing to do with them, and behind.
            &[
                &[(Y, Does::Combine, any)],
                &[(X, Does::Change, own)],
                &[(X, Does::Read, own)],
            ],
            &[&[(X, Does::Change, own)], &[(Y, Does::Combine, any)]],
        ] {
            assert_eq!(uses(all), Ok(()), "{all:?}");
        }
        for (all, why) in [
            (
                &[&[(X, Does::Write, own)][..], &[(X, Does::Read, any)]][..],
                "loop 2 reads what loop 1 writes of `x`",
            ),
            (
                &[&[(X, Does::Read, any)], &[(X, Does::Change, own)]],
                "loop 2 overwrites what loop 1 reads of `x`",
            ),
            // One loop lies between.
            (
                &[
                    &[(X, Does::Write, own)],
                    &[(Y, Does::Write, own)],
                    &[(X, Does::Read, any), (Y, Does::Read, own)],
                ],
                "loop 3 reads what loop 1 writes of `x`",
            ),
            (
                &[&[(Y, Does::Combine, any)], &[(Y, Does::Combine, any)]],
                "loop 2 overwrites what loop 1 writes of `y`",
            ),
            (
                &[&[(Y, Does::Combine, any)], &[(Y, Does::Read, own)]],
                "loop 2 reads what loop 1 writes of `y`",
            ),
            // The loop itself depends on the order of its elements.
            (
                &[
                    &[(Y, Does::Write, own)],
                    &[(X, Does::Read, any), (X, Does::Write, own)],
                ],
                "loop 2 overwrites what it reads of `x`",
            ),
        ] {
            let told = uses(all).expect_err("it is illegal");
            assert!(told.contains(why), "{all:?}: {told}");
        }
    }
}
