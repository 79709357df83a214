//! Whether an order keeps what is written in front of what needs it.
//!
//! Of two iterations that have to stay in order, the differences of all that they are ordered by are a set of tuples:
//! differences of coordinates, and, for each tile, whatever the difference of tiles can be when that of coordinates is so
//! much. That is more than what happens where tiles begin somewhere, and so what is found to be legal is so for all sizes of
//! tiles, and wherever they begin. Loop by loop, no difference may be negative, none may be other than 0 where iterations
//! run at the same time, and those that are larger than 0 are done with.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Condition;
use crate::dependences::{Dependence, Kind};
use crate::isl::{Extreme, Failed, Map, Result, Set};
use crate::loops;
use crate::model::Affine;
use crate::notation;
use crate::order::{Group, Order, Part, Piece, Size, Steps, Walk};
use crate::plan::Refused;
use crate::pragma::Position;

/// Factors of a coordinate in a wavefront are at most so large.
const STEEPEST: i64 = 4;

/// Differences between iterations that depend on each other.
pub struct Pair {
    /// All of them, in the order in which they have been found.
    pub set: Set,
    /// How many there are.
    pub quantities: usize,
    /// Those of the coordinates of groups, from the outermost group inwards.
    pub levels: Vec<Vec<usize>>,
    /// Those of dimensions that a nest has in addition to those of its group.
    rest: Vec<usize>,
    /// Tiles whose size is known at run time, and those of what is in them.
    tiles: Vec<(usize, usize)>,
}

impl Pair {
    /// One more: `condition` says what it, which is given by its name, may be.
    fn add(&mut self, order: &Order, condition: impl Fn(&str) -> String) -> Result<usize> {
        let place = self.quantities;
        let header = notation::header(order.chain, &[]);
        let (from, to) = (notation::tuple("q", place), notation::tuple("q", place + 1));
        let condition = condition(&format!("q{place}"));
        let map = Map::read(
            &order.isl,
            &format!("{header}{{ {from} -> {to} : {condition} }}"),
        )?;
        self.set = self.set.clone().apply(map)?;
        self.quantities += 1;
        Ok(place)
    }

    /// Those for which something holds.
    fn with(&self, order: &Order, set: &Set, condition: &str) -> Result<Set> {
        let header = notation::header(order.chain, &[]);
        let tuple = notation::tuple("q", self.quantities);
        let other = Set::read(&order.isl, &format!("{header}{{ {tuple} : {condition} }}"))?;
        set.clone().intersect(other)
    }
}

/// What the difference `tile` of two tiles may be when that of coordinates in them is `inner`.
fn tiles(size: Size, tile: &str, inner: &str, is_within_reach: bool) -> String {
    match size {
        Size::Constant(size) => {
            let most = size - 1;
            format!("-{most} <= {inner} - {size}*({tile}) <= {most}")
        }
        Size::Parameter(_) => {
            let (more, less) = match is_within_reach {
                true => ("1", "-1"),
                false => (inner, inner),
            };
            format!(
                "({inner} = 0 and {tile} = 0) or ({inner} > 0 and 0 <= {tile} <= {more}) or ({inner} < 0 and {less} <= {tile} <= 0)"
            )
        }
    }
}

/// The differences of iterations of two groups that are to be one of such a depth, or of one group.
pub fn between(
    order: &Order,
    from: &Group,
    to: &Group,
    dependence: &Dependence,
    depth: usize,
) -> Result<Pair> {
    let part = |group: &Group, nest| group.part_of(nest).ok_or(Failed::Error);
    let (one, other) = (part(from, dependence.from)?, part(to, dependence.to)?);
    of_parts(order, &from.parts[one], &to.parts[other], dependence, depth)
}

fn of_parts(
    order: &Order,
    from: &Part,
    to: &Part,
    dependence: &Dependence,
    depth: usize,
) -> Result<Pair> {
    let nothing = Affine::default();
    let shift = |part: &Part, at: usize| part.shift.get(at).unwrap_or(&nothing).clone();
    match (&from.piece, &to.piece) {
        (Piece::Nest(one), Piece::Nest(other)) => {
            let rank = order.chain.nests[*one].bounds.len();
            // Of one nest, all its dimensions tell iterations from each other.
            let all = if one == other { depth.max(rank) } else { depth };
            let coordinates = |part: &Part, nest: usize| {
                let numbers = (0..all).map(|at| coordinate(order, part, nest, at));
                let numbers: Vec<_> = numbers
                    .map(|number| notation::affine(&number, "i"))
                    .collect();
                let tuple = notation::tuple("i", order.chain.nests[nest].bounds.len());
                let header = notation::header(order.chain, &[]);
                let text = format!("{header}{{ {tuple} -> [{}] }}", numbers.join(", "));
                Map::read(&order.isl, &text)
            };
            let map = dependence.map.clone().from(coordinates(from, *one)?)?;
            let map = map.then(coordinates(to, *other)?)?;
            Ok(Pair {
                set: map.deltas()?.coalesce()?,
                quantities: all,
                levels: vec![(0..depth).collect()],
                rest: (depth..all).collect(),
                tiles: Vec::new(),
            })
        }
        (Piece::Tiles(sizes, one), Piece::Tiles(others, other)) if sizes == others => {
            let inner_depth = one.depth.max(other.depth);
            let mut pair = between(order, one, other, dependence, inner_depth)?;
            let is_same = one.nests() == other.nests();
            let mut level = Vec::new();
            for at in 0..depth {
                let moved = notation::affine(&shift(to, at).less(&shift(from, at)), "i");
                let inner = pair.levels[0][at.min(inner_depth - 1)];
                let place = match sizes.get(at) {
                    Some(&size) => pair.add(order, |name| {
                        tiles(
                            size,
                            &format!("({name} - ({moved}))"),
                            &format!("q{inner}"),
                            !is_same,
                        )
                    })?,
                    None => pair.add(order, |name| format!("{name} = {moved}"))?,
                };
                if let (Some(&Size::Parameter(size)), false) = (sizes.get(at), is_same) {
                    pair.tiles.push((size, inner));
                }
                level.push(place);
            }
            pair.levels.insert(0, level);
            Ok(pair)
        }
        _ => Err(Failed::Error),
    }
}

/// A coordinate of a nest's iterations in its group.
pub fn coordinate(order: &Order, part: &Part, nest: usize, at: usize) -> Affine {
    let own = match at < order.chain.nests[nest].bounds.len() {
        true => Affine::iterator(at, 0),
        false => Affine::default(),
    };
    match part.shift.get(at) {
        Some(shift) => own.plus(shift),
        None => own,
    }
}

/// How far parts of a group that are tiled in sizes known at run time need something of each other: None if arbitrarily far.
pub fn reaches(order: &Order, group: &Group) -> Result<Vec<(usize, Option<i64>)>> {
    let mut all: BTreeMap<usize, Option<i64>> = BTreeMap::new();
    let nests = group.nests();
    for dependence in &order.dependences {
        let is_inside = nests.contains(&dependence.from) && nests.contains(&dependence.to);
        if !is_inside || dependence.kind == Kind::Combine {
            continue;
        }
        let pair = between(order, group, group, dependence, group.depth)?;
        for &(size, place) in &pair.tiles {
            let header = notation::header(order.chain, &[]);
            let from = notation::tuple("q", pair.quantities);
            for sign in ["", "-"] {
                let map = Map::read(
                    &order.isl,
                    &format!("{header}{{ {from} -> [{sign}q{place}] }}"),
                )?;
                let reach = all.entry(size).or_insert(Some(1));
                *reach = match (*reach, pair.set.clone().apply(map)?.largest(0)?) {
                    (Some(known), Extreme::Is(more)) => Some(known.max(more)),
                    (known, Extreme::Empty) => known,
                    _ => None,
                };
            }
        }
    }
    Ok(all.into_iter().collect())
}

/// Something that iterations are ordered by.
struct Component {
    terms: Vec<(usize, i64)>,
    is_parallel: bool,
    /// Whether it alone has to order all that differ in coordinates.
    is_front: bool,
    /// The walk that it belongs to.
    walk: usize,
    at: Position,
    /// The coordinates of that walk.
    coordinates: Vec<usize>,
    /// Whether it is tiles that have these coordinates.
    is_of_tiles: bool,
}

impl Component {
    fn text(&self) -> String {
        let terms: Vec<_> = self
            .terms
            .iter()
            .map(|(place, factor)| format!("{factor}*q{place}"))
            .collect();
        format!("({})", terms.join(" + "))
    }
}

/// All that the iterations of a pair are ordered by, from the outermost loop inwards.
fn components(
    order: &Order,
    group: &Group,
    dependence: &Dependence,
    pair: &mut Pair,
) -> Result<Vec<Component>> {
    let mut all = Vec::new();
    let mut group = group;
    for level in 0.. {
        let part = group.part_of(dependence.from).ok_or(Failed::Error)?;
        let is_tiles = matches!(group.parts[part].piece, Piece::Tiles(..));
        let coordinates = pair.levels[level].clone();
        walk_components(order, &group.walk, coordinates, is_tiles, pair, &mut all)?;
        if group.part_of(dependence.to) != Some(part) {
            break;
        }
        match &group.parts[part].piece {
            Piece::Nest(_) => {
                for &place in &pair.rest {
                    all.push(Component {
                        terms: vec![(place, 1)],
                        is_parallel: false,
                        is_front: false,
                        walk: group.walk.number,
                        at: group.walk.at,
                        coordinates: pair.levels[level]
                            .iter()
                            .chain(&pair.rest)
                            .copied()
                            .collect(),
                        is_of_tiles: false,
                    });
                }
                break;
            }
            Piece::Tiles(_, inner) => group = inner,
        }
    }
    Ok(all)
}

fn walk_components(
    order: &Order,
    walk: &Walk,
    coordinates: Vec<usize>,
    is_of_tiles: bool,
    pair: &mut Pair,
    all: &mut Vec<Component>,
) -> Result<()> {
    let mut add = |terms, is_parallel, is_front| {
        all.push(Component {
            terms,
            is_parallel,
            is_front,
            walk: walk.number,
            at: walk.at,
            coordinates: coordinates.clone(),
            is_of_tiles,
        });
    };
    match &walk.what {
        Steps::Wavefront(factors) if !factors.is_empty() => {
            let terms = coordinates.iter().copied().zip(factors.iter().copied());
            add(terms.collect(), false, true);
            for (at, &place) in coordinates.iter().enumerate().skip(1) {
                add(vec![(place, 1)], at == 1, false);
            }
        }
        Steps::Serial
        | Steps::Parallel
        | Steps::Wavefront(_)
        | Steps::Blocks(_)
        | Steps::Overlap(_) => {
            for (at, &place) in coordinates.iter().enumerate() {
                let is_parallel = at == 0 && matches!(walk.what, Steps::Parallel);
                add(vec![(place, 1)], is_parallel, false);
            }
        }
        Steps::Tiled(sizes, over, within) => {
            let mut outer = Vec::new();
            for (&size, inner) in sizes.iter().zip(&coordinates) {
                let inner = format!("q{inner}");
                outer.push(pair.add(order, |name| tiles(size, name, &inner, false))?);
            }
            walk_components(order, over, outer, true, pair, all)?;
            walk_components(order, within, coordinates, is_of_tiles, pair, all)?;
        }
    }
    Ok(())
}

/// What is wrong with an order.
enum Wrong {
    /// A loop's iterations are to run at the same time, but cannot.
    Parallel,
    /// What is to be later is earlier.
    Reversed,
}

struct Violation {
    wrong: Wrong,
    dependence: usize,
    walk: usize,
    at: Position,
    is_of_tiles: bool,
    /// The nearest such difference.
    vector: Option<Vec<i64>>,
}

struct Verdict {
    violation: Option<Violation>,
    /// What has to hold of parameters that loops are moved by.
    requires: Vec<Condition>,
}

/// Whether a group is legal, down to a walk if one is given.
fn check(order: &Order, group: &Group, down_to: Option<usize>) -> Result<Verdict> {
    let nests = group.nests();
    let mut requires = Vec::new();
    for (number, dependence) in order.dependences.iter().enumerate() {
        let is_inside = nests.contains(&dependence.from) && nests.contains(&dependence.to);
        if !is_inside || dependence.kind == Kind::Combine {
            continue;
        }
        let mut pair = between(order, group, group, dependence, group.depth)?;
        let components = components(order, group, dependence, &mut pair)?;
        let mut left = pair.set.clone();
        let mut is_done = false;
        for component in &components {
            if is_done && down_to.is_some_and(|walk| walk != component.walk) {
                break;
            }
            is_done |= down_to == Some(component.walk);
            if left.is_empty()? {
                break;
            }
            let text = component.text();
            let (wrong, condition) = match (component.is_parallel, component.is_front) {
                (true, _) => (Wrong::Parallel, format!("{text} != 0")),
                (_, false) => (Wrong::Reversed, format!("{text} < 0")),
                (_, true) => {
                    let differ = component
                        .coordinates
                        .iter()
                        .map(|place| format!("q{place} != 0"));
                    let differ: Vec<_> = differ.collect();
                    (
                        Wrong::Reversed,
                        format!("{text} <= 0 and ({})", differ.join(" or ")),
                    )
                }
            };
            let bad = pair.with(order, &left, &condition)?;
            if !bad.is_empty()? {
                match avoided(order, &bad)? {
                    Some(condition) => requires.push(condition),
                    None => {
                        let violation = Violation {
                            wrong,
                            dependence: number,
                            walk: component.walk,
                            at: component.at,
                            is_of_tiles: component.is_of_tiles,
                            vector: nearest(order, &pair, bad, &component.coordinates)?,
                        };
                        return Ok(Verdict {
                            violation: Some(violation),
                            requires,
                        });
                    }
                }
            }
            left = pair.with(order, &left, &format!("{text} = 0"))?;
        }
    }
    Ok(Verdict {
        violation: None,
        requires,
    })
}

/// What has to hold of parameters that loops are moved by, so that none of these differences is there.
fn avoided(order: &Order, bad: &Set) -> Result<Option<Condition>> {
    if order.moving.is_empty() {
        return Ok(None);
    }
    // The parameters become numbers of tuples, so that all others can be left out.
    let header = notation::header(order.chain, &[]);
    let moving: Vec<_> = order
        .moving
        .iter()
        .map(|number| format!("p{number}"))
        .collect();
    let moving = format!("[{}]", moving.join(", "));
    let from = notation::tuple("q", bad.rank());
    let map = Map::read(&order.isl, &format!("{header}{{ {from} -> {moving} }}"))?;
    let good = bad.clone().apply(map)?.without_parameters()?.complement()?;
    let known = notation::all(notation::known(order.chain));
    let known = Set::read(&order.isl, &format!("{header}{{ {moving} : {known} }}"))?;
    if good
        .clone()
        .intersect(known.without_parameters()?)?
        .is_empty()?
    {
        return Ok(None);
    }
    let ours = Set::read(&order.isl, &format!("{header}{{ {moving} }}"))?;
    let good = good.intersect(ours)?.parameters()?.coalesce()?;
    let anything = Set::read(&order.isl, &format!("{header}{{ : }}"))?;
    let condition = good.condition(anything)?;
    loops::condition(&condition, &loops::Names::default()).map(Some)
}

/// The nearest of some differences.
fn nearest(
    order: &Order,
    pair: &Pair,
    set: Set,
    coordinates: &[usize],
) -> Result<Option<Vec<i64>>> {
    let from = notation::tuple("q", pair.quantities);
    let names: Vec<_> = coordinates
        .iter()
        .map(|place| format!("q{place}"))
        .collect();
    let far: Vec<_> = (0..coordinates.len()).map(|at| format!("u{at}")).collect();
    let each = far
        .iter()
        .zip(&names)
        .map(|(far, name)| format!("{far} >= {name} and {far} >= -{name}"));
    let each = notation::all(each.chain([format!("s = {}", far.join(" + "))]));
    let text = format!(
        "{{ {from} -> [s, {}] : exists ({}: {each}) }}",
        names.join(", "),
        far.join(", ")
    );
    let set = set
        .without_parameters()?
        .apply(Map::read(&order.isl, &text)?)?;
    let nearest = set.smallest()?.sample()?;
    Ok(nearest.map(|nearest| nearest[1..].to_vec()))
}

/// Finds how wavefronts of a group are skewed, and proves that it is legal.
pub fn settle(order: &mut Order, group: usize) -> std::result::Result<(), Refused> {
    let mut open = Vec::new();
    unsettled(&order.groups[group], &mut open);
    for (walk, depth, at) in open {
        let failed = |failed| Refused::failed(at, failed);
        let mut first = None;
        for factors in all_factors(depth) {
            set_factors(&mut order.groups[group], walk, &factors);
            let verdict = check(order, &order.groups[group], Some(walk)).map_err(failed)?;
            match verdict.violation {
                None => {
                    first = None;
                    break;
                }
                Some(violation) if violation.walk == walk => first = first.or(Some(violation)),
                Some(violation) => {
                    first = Some(violation);
                    break;
                }
            }
        }
        if let Some(violation) = first {
            return Err(refused(order, group, violation));
        }
    }
    let at = order.groups[group].walk.at;
    let failed = |failed| Refused::failed(at, failed);
    let verdict = check(order, &order.groups[group], None).map_err(failed)?;
    if let Some(violation) = verdict.violation {
        return Err(refused(order, group, violation));
    }
    verdict
        .requires
        .into_iter()
        .for_each(|condition| order.require(condition));
    Ok(())
}

/// Wavefronts whose factors are not known, from outside inwards.
fn unsettled(group: &Group, open: &mut Vec<(usize, usize, Position)>) {
    fn of_walk(walk: &Walk, depth: usize, open: &mut Vec<(usize, usize, Position)>) {
        match &walk.what {
            Steps::Wavefront(factors) if factors.is_empty() => {
                open.push((walk.number, depth, walk.at))
            }
            Steps::Tiled(sizes, over, within) => {
                of_walk(over, sizes.len(), open);
                of_walk(within, depth, open);
            }
            _ => {}
        }
    }
    of_walk(&group.walk, group.depth, open);
    for part in &group.parts {
        if let Piece::Tiles(_, inner) = &part.piece {
            unsettled(inner, open);
        }
    }
}

fn each_walk(group: &mut Group, change: &mut dyn FnMut(&mut Walk)) {
    fn of_walk(walk: &mut Walk, change: &mut dyn FnMut(&mut Walk)) {
        change(walk);
        if let Steps::Tiled(_, over, within) = &mut walk.what {
            of_walk(over, change);
            of_walk(within, change);
        }
    }
    of_walk(&mut group.walk, change);
    for part in &mut group.parts {
        if let Piece::Tiles(_, inner) = &mut part.piece {
            each_walk(inner, change);
        }
    }
}

fn set_factors(group: &mut Group, number: usize, factors: &[i64]) {
    each_walk(group, &mut |walk| {
        if walk.number == number {
            walk.what = Steps::Wavefront(factors.to_vec());
        }
    });
}

/// Factors of wavefronts, the flattest first.
fn all_factors(depth: usize) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..depth {
        let longer =
            |one: Vec<i64>| (1..=STEEPEST).map(move |factor| [&one[..], &[factor]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all.sort_by_key(|factors| factors.iter().sum::<i64>());
    all.truncate(64);
    all
}

/// What is said of something wrong.
fn refused(order: &Order, group: usize, violation: Violation) -> Refused {
    let dependence = &order.dependences[violation.dependence];
    let space = &order.chain.spaces[dependence.space].name;
    let name = order.name(dependence.to);
    let (does, did) = match dependence.kind {
        Kind::Flow => ("reads", "writes"),
        Kind::Anti => ("overwrites", "reads"),
        Kind::Output | Kind::Combine => ("overwrites", "writes"),
    };
    let earlier = match dependence.from == dependence.to {
        true => "it".to_string(),
        false => order.name(dependence.from),
    };
    let reason = format!("{name} {does} what {earlier} {did} of `{space}`");
    let units = if violation.is_of_tiles {
        "tiles"
    } else {
        "iterations"
    };
    let vector = violation.vector.as_ref().map(|vector| {
        let numbers: Vec<_> = vector.iter().map(i64::to_string).collect();
        format!(", dependence ({}) between {units}", numbers.join(","))
    });
    let vector = vector.unwrap_or_default();
    let is_scalar =
        dependence.from == dependence.to && order.chain.spaces[dependence.space].rank == 0;
    let vector = match is_scalar {
        true => format!(
            "{vector}; `{space}` is one variable for all iterations, and more is done with it than to combine something with it \
             by + * & | ^ && || or as the least or the largest: declare it in the loop, or name it in `private` or `reduction`"
        ),
        false => vector,
    };
    let why = match violation.wrong {
        Wrong::Parallel => {
            let instead = match is_wavefront_legal(order, group, violation.walk) {
                true => "; write `wavefront`",
                false => "",
            };
            format!("{units} cannot run in parallel: {reason}{vector}{instead}")
        }
        Wrong::Reversed => format!("{units} cannot run in this order: {reason}{vector}"),
    };
    Refused::illegal(violation.at, why)
}

/// Whether a wavefront would do in the place of a walk.
fn is_wavefront_legal(order: &Order, group: usize, walk: usize) -> bool {
    let mut changed = order.groups[group].clone();
    let mut depths = Vec::new();
    set_factors(&mut changed, walk, &[]);
    unsettled(&changed, &mut depths);
    let Some(&(_, depth, _)) = depths.iter().find(|one| one.0 == walk) else {
        return false;
    };
    depth > 1 && {
        set_factors(&mut changed, walk, &vec![1; depth]);
        matches!(
            check(order, &changed, Some(walk)),
            Ok(Verdict {
                violation: None,
                ..
            })
        )
    }
}

/// Nests no iteration of whose innermost loop depends on another one of it.
pub fn independent(order: &Order) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for (number, nest) in order.chain.nests.iter().enumerate() {
        let Some(innermost) = nest.bounds.len().checked_sub(1) else {
            continue;
        };
        let same = (0..innermost).map(|at| format!("q{at} = 0"));
        let condition = notation::all(same.chain([format!("q{innermost} != 0")]));
        let header = notation::header(order.chain, &[]);
        let tuple = notation::tuple("q", nest.bounds.len());
        let mut is_independent = true;
        for dependence in &order.dependences {
            if (dependence.from, dependence.to) == (number, number) {
                let carried = format!("{header}{{ {tuple} : {condition} }}");
                let carried = Set::read(&order.isl, &carried)?;
                let carried = dependence.map.clone().deltas()?.intersect(carried)?;
                is_independent &= carried.is_empty()?;
            }
        }
        if is_independent {
            all.push(number);
        }
    }
    Ok(all)
}

/// Spaces that iterations of parallel loops combine something with at the same places, by walks.
pub fn combines(order: &Order, group: &Group) -> Result<BTreeMap<usize, BTreeSet<usize>>> {
    let nests = group.nests();
    let mut all: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for dependence in &order.dependences {
        let is_inside = nests.contains(&dependence.from) && nests.contains(&dependence.to);
        if !is_inside || dependence.kind != Kind::Combine {
            continue;
        }
        let mut pair = between(order, group, group, dependence, group.depth)?;
        let components = components(order, group, dependence, &mut pair)?;
        let mut left = pair.set.clone();
        for component in &components {
            let text = component.text();
            if component.is_parallel
                && !pair
                    .with(order, &left, &format!("{text} != 0"))?
                    .is_empty()?
            {
                all.entry(component.walk)
                    .or_default()
                    .insert(dependence.space);
            }
            left = pair.with(order, &left, &format!("{text} = 0"))?;
        }
    }
    Ok(all)
}
