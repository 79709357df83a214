//! Which iterations have to stay in the order in which they are written.

use std::collections::BTreeMap;

use crate::isl::{Isl, Map, Result};
use crate::model::{Access, Chain, Mode};
use crate::notation;

/// What two iterations do with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The later one reads what the earlier one writes.
    Flow,
    /// The later one writes what the earlier one reads.
    Anti,
    /// Both write it.
    Output,
    /// Both combine something with it in the same way: they do not have to stay in order, but one has to wait for the other.
    Combine,
}

/// Iterations of two nests that access the same elements, one of them to change them.
pub struct Dependence {
    /// The nest whose iterations are earlier as it is written.
    pub from: usize,
    /// The nest whose iterations are later; it may be the same.
    pub to: usize,
    /// The space.
    pub space: usize,
    /// What they do.
    pub kind: Kind,
    /// Pairs of iterations.
    pub map: Map,
}

/// All dependences of a chain.
pub fn dependences(isl: &Isl, chain: &Chain) -> Result<Vec<Dependence>> {
    let accesses = chain
        .nests
        .iter()
        .enumerate()
        .map(|(nest, _)| accesses(isl, chain, nest));
    let accesses: Vec<_> = accesses.collect::<Result<_>>()?;
    let mut all = Vec::new();
    for to in 0..chain.nests.len() {
        for from in 0..=to {
            for (&(space, earlier), one) in &accesses[from] {
                for (_, later, other) in accesses[to]
                    .iter()
                    .filter(|other| other.0.0 == space)
                    .map(|(key, map)| (key.0, key.1, map))
                {
                    let Some(kind) = kind(earlier, later) else {
                        continue;
                    };
                    let mut map = one.clone().then(other.clone().reverse()?)?;
                    if from == to {
                        map = map.intersect(later_iterations(isl, chain, to)?)?;
                    }
                    if !map.is_empty()? {
                        let map = map.coalesce()?;
                        all.push(Dependence {
                            from,
                            to,
                            space,
                            kind,
                            map,
                        });
                    }
                }
            }
        }
    }
    Ok(all)
}

fn kind(earlier: How, later: How) -> Option<Kind> {
    match (earlier, later) {
        (How::Read, How::Read) => None,
        (How::Combine(one), How::Combine(other)) if one == other => Some(Kind::Combine),
        (How::Read, _) => Some(Kind::Anti),
        (_, How::Read) => Some(Kind::Flow),
        _ => Some(Kind::Output),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Read,
    Write,
    Combine(u32),
}

/// What iterations of a nest access, by spaces and how.
fn accesses(isl: &Isl, chain: &Chain, nest: usize) -> Result<BTreeMap<(usize, How), Map>> {
    let mut all: BTreeMap<(usize, How), Map> = BTreeMap::new();
    for access in &chain.nests[nest].accesses {
        let how = match access.mode {
            Mode::Read => How::Read,
            Mode::Write => How::Write,
            Mode::Reduce(number) => How::Combine(number),
        };
        let map = Map::read(isl, &text(chain, nest, access))?;
        let map = match all.remove(&(access.space, how)) {
            Some(before) => before.union(map)?.coalesce()?,
            None => map,
        };
        all.insert((access.space, how), map);
    }
    Ok(all)
}

/// From iterations of a nest to the elements that an access is to.
pub(crate) fn text(chain: &Chain, nest: usize, access: &Access) -> String {
    let header = notation::header(chain, &[]);
    let from = notation::tuple("i", chain.nests[nest].bounds.len());
    let to = notation::tuple("e", chain.spaces[access.space].rank);
    let mut conditions = notation::known(chain);
    conditions.extend(notation::domain(&chain.nests[nest]));
    let bounds = chain.nests[nest].bounds.iter().enumerate();
    let is_last = bounds.map(|(at, one)| format!("i{at} = {}", notation::affine(&one.last, "i")));
    conditions.extend(is_last.filter(|_| access.at_last));
    let numbers = access.index.iter().flatten().enumerate();
    conditions
        .extend(numbers.map(|(at, number)| format!("e{at} = {}", notation::affine(number, "i"))));
    format!(
        "{header}{{ {from} -> {to} : {} }}",
        notation::all(conditions)
    )
}

/// From iterations of a nest to those behind them.
fn later_iterations(isl: &Isl, chain: &Chain, nest: usize) -> Result<Map> {
    let rank = chain.nests[nest].bounds.len();
    let (from, to) = (notation::tuple("i", rank), notation::tuple("j", rank));
    let carried = |at: usize| {
        let same = (0..at).map(|outer| format!("i{outer} = j{outer}"));
        notation::all(same.chain([format!("i{at} < j{at}")]))
    };
    let any: Vec<_> = (0..rank).map(carried).collect();
    let any = match any.is_empty() {
        true => "1 = 0".to_string(),
        false => any.join(" or "),
    };
    let header = notation::header(chain, &[]);
    Map::read(isl, &format!("{header}{{ {from} -> {to} : {any} }}"))
}
