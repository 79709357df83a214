//! Schedules that may be fast for a chain. Whether they are legal the compiler finds out.

use okl_chains::pragma::{AccessPragma, LoopPragma};

use super::schedules::AS_WRITTEN;
use super::told::Seen;

/// Tile sizes are powers of two.
const FIRST_SIZE: i64 = 64;
pub(crate) const SIZES: std::ops::RangeInclusive<i64> = 4..=4096;

/// Schedules that differ in the sizes of their tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// What stands in front of the sizes.
    before: String,
    /// What stands behind them.
    behind: String,
    /// How many sizes there are.
    dimensions: usize,
}

impl Form {
    pub(crate) fn with(&self, sizes: &[i64]) -> String {
        let sizes: Vec<_> = sizes.iter().map(i64::to_string).collect();
        format!("{}({}){}", self.before, sizes.join(","), self.behind)
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Where the search begins.
    pub(crate) fn first(&self) -> Vec<i64> {
        vec![FIRST_SIZE; self.dimensions]
    }
}

/// Schedules without tiles.
pub(crate) fn plain(chain: &Seen) -> Vec<String> {
    let mut all = vec![AS_WRITTEN.to_string(), "auto".to_string(), String::new()];
    if chain.has_openmp {
        all.push("parallel".to_string());
    }
    for fuse in fuses(chain) {
        all.push(fuse.clone());
        if chain.has_openmp {
            all.push(format!("{fuse}, parallel"));
        }
    }
    if chain.has_openmp && chain.ranks.iter().any(|rank| *rank > 1) {
        all.push(match chain.ranks.len() {
            1 => "wavefront".to_string(),
            _ => "fuse(), wavefront".to_string(),
        });
    }
    all
}

/// Schedules with tiles.
pub(crate) fn tiled(chain: &Seen) -> Vec<Form> {
    let mut all = Vec::new();
    let lowest = chain.ranks.iter().copied().min().unwrap_or(0);
    let fuses = fuses(chain);
    for dimensions in 1..=lowest.min(3) {
        let mut form = |before: &str, behind: &str| {
            all.push(Form {
                before: before.to_string(),
                behind: behind.to_string(),
                dimensions,
            });
        };
        let mut in_front = vec![String::new()];
        in_front.extend(fuses.iter().map(|fuse| format!("{fuse}, ")));
        for (number, fuse) in in_front.iter().enumerate() {
            let before = format!("{fuse}tile(");
            if chain.has_openmp {
                form(&before, ", parallel, serial)");
                if number > 0 || dimensions > 1 {
                    form(&before, ", wavefront, serial)");
                }
                if number > 0 {
                    form(&before, ", overlap)");
                }
            }
            form(&before, ", serial, serial)");
        }
        if fuses.is_empty() {
            continue;
        }
        if chain.has_openmp {
            form("tile(", ", parallel, serial), fuse()");
        }
        form("tile(", ", serial, serial), fuse()");
    }
    all
}

/// The ways in which the loops of a chain may become one.
fn fuses(chain: &Seen) -> Vec<String> {
    if chain.ranks.len() < 2 {
        return Vec::new();
    }
    let mut all = vec!["fuse()".to_string()];
    // Of loops of one dimension, `fuse()` is that.
    if chain.ranks.iter().all(|rank| *rank < 2) {
        return all;
    }
    let outer = |shifts: &[i64]| {
        let shift = |(shift, rank): (&i64, &usize)| {
            let mut all = vec!["0".to_string(); (*rank).max(1)];
            all[0] = shift.to_string();
            format!("({})", all.join(","))
        };
        let shifts: Vec<_> = shifts.iter().zip(&chain.ranks).map(shift).collect();
        format!("fuse({})", shifts.join(","))
    };
    match &chain.shifts {
        Some(shifts) => {
            all.push(outer(shifts));
            // None comes in front of where it is without.
            let mut later = Vec::new();
            for shift in shifts {
                later.push((*shift).max(later.last().copied().unwrap_or(0)));
            }
            if later != *shifts {
                all.push(outer(&later));
            }
        }
        None => {
            for step in 0..=2 {
                let steps = (0..).map(|number| number * step);
                all.push(outer(&steps.take(chain.ranks.len()).collect::<Vec<_>>()));
            }
        }
    }
    all
}

/// How far each loop has to move in its outermost dimension so that all that it needs is there where the loops become one,
/// but for their inner loops. None where that is not declared, or is no distance.
pub(crate) fn outer_shifts(loops: &[&LoopPragma]) -> Option<Vec<i64>> {
    let mut shifts: Vec<i64> = Vec::new();
    for (number, later) in loops.iter().enumerate() {
        if later.accesses.is_empty() {
            return None;
        }
        let mut shift = None;
        for (earlier, earlier_shift) in loops[..number].iter().zip(&shifts) {
            for one in &earlier.accesses {
                for other in &later.accesses {
                    if one.space.text != other.space.text || !(one.is_write || other.is_write) {
                        continue;
                    }
                    let [one, other] = [reach(one)?, reach(other)?];
                    if one.number != other.number {
                        return None;
                    }
                    shift = shift.max(Some(earlier_shift + other.most - one.least));
                }
            }
        }
        shifts.push(shift.unwrap_or(0));
    }
    let first = shifts.iter().min().copied().unwrap_or(0);
    Some(shifts.iter().map(|shift| shift - first).collect())
}

/// What of an access goes with the outermost loop.
struct Reach {
    /// Which number of the elements.
    number: usize,
    /// How far it is from the iteration.
    least: i64,
    most: i64,
}

/// What goes with the outermost loop, where it is the same number of all elements.
fn reach(access: &AccessPragma) -> Option<Reach> {
    let mut found: Option<Reach> = None;
    for place in &access.places {
        let mut with = (0..)
            .zip(place)
            .filter(|(_, index)| index.iterator == Some(0));
        let (number, index) = with.next()?;
        let known = found.get_or_insert(Reach {
            number,
            least: index.offset,
            most: index.offset,
        });
        if known.number != number || with.next().is_some() {
            return None;
        }
        known.least = known.least.min(index.offset);
        known.most = known.most.max(index.offset);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::schedules::{Schedules, absolute};
    use okl_chains::pragma::{Position, Pragma, parse, tokens};
    use std::path::Path;

    fn shifts(loops: &[&str]) -> Option<Vec<i64>> {
        let parsed = loops.iter().map(|text| {
            let at = Position::new(1, 1);
            let text = format!("for domain(0:9, 0:9) with(i, j) {text}");
            match parse(&tokens(&text, at), at).unwrap().pragma {
                Pragma::Loop(said) => said,
                _ => unreachable!(),
            }
        });
        let parsed: Vec<_> = parsed.collect();
        outer_shifts(&parsed.iter().collect::<Vec<_>>())
    }

    #[test]
    fn loops_move_as_far_as_they_must() {
        let jacobi = [
            "write A{(i,j)} read B{(i-1,j),(i+1,j)}",
            "write B{(i,j)} read A{(i-1,j),(i+1,j)}",
        ];
        assert_eq!(shifts(&jacobi), Some(vec![0, 1]));
        let chain = [
            "write A{(i,j)} read X{(0,0)}",
            "write B{(i,j)} read A{(i+1,j)}",
            "write C{(i,j)} read B{(i+1,j)}, A{(i,j)}",
        ];
        assert_eq!(shifts(&chain), Some(vec![0, 1, 2]));
        assert_eq!(
            shifts(&["write A{(i,j)}", "read A{(i-2,j)}"]),
            Some(vec![2, 0])
        );
        assert_eq!(
            shifts(&["write A{(j,i)}", "read A{(j,i+3)}"]),
            Some(vec![0, 3])
        );
        assert_eq!(shifts(&["write A{(j,i)}", "read A{(i,j)}"]), None);
        assert_eq!(shifts(&["write A{(j,i)}", "read A{(0,j)}"]), None);
        assert_eq!(shifts(&["write A{(j,i)}", ""]), None);
    }

    /// Whatever is tried can stand in a file.
    #[test]
    fn candidates_are_schedules() {
        for (ranks, shifts) in [
            (vec![2, 2], Some(vec![0, 1])),
            (vec![1], None),
            (vec![3, 1, 2], None),
        ] {
            for has_openmp in [false, true] {
                let chain = Seen {
                    place: crate::tune::schedules::Place {
                        file: absolute(Path::new("a.c")),
                        line: 1,
                        text: 1,
                    },
                    is_auto: true,
                    has_openmp,
                    ranks: ranks.clone(),
                    shifts: shifts.clone(),
                    reads: "/s".into(),
                };
                let mut all = plain(&chain);
                all.extend(tiled(&chain).iter().map(|form| form.with(&form.first())));
                let is_parallel =
                    |one: &String| one.contains("parallel") || one.contains("wavefront");
                assert_eq!(all.iter().any(is_parallel), has_openmp);
                let folder = tempfile::tempdir().unwrap();
                for schedule in all {
                    let entry = super::super::schedules::Entry {
                        place: chain.place.clone(),
                        ratio: 1.0,
                        schedule,
                    };
                    let mut file = Schedules::default();
                    file.put(vec![entry]);
                    let name = folder.path().join("s");
                    file.write(&name).unwrap();
                    assert_eq!(Schedules::read(&name), Ok(file));
                }
            }
        }
    }
}
