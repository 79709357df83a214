//! Chains and schedules by chance, against the oracle. `OKL_CHAINS_RANDOM` says how many, `OKL_CHAINS_SEED` and
//! `OKL_CHAINS_FIRST` which.

mod oracle;

use okl_chains::code::Code;
use okl_chains::model::{Access, Affine, Bounds, Chain, Mode, Nest};
use okl_chains::order::{Manner, Order, Size, Way};
use okl_chains::plan;
use okl_chains::pragma::{Number, Position, What};
use okl_chains::sizes::Costs;
use oracle::*;

/// splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, many: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % many as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn from(&mut self, first: i64, last: i64) -> i64 {
        first + self.below((last - first + 1) as usize) as i64
    }
}

/// The parameters: two extents, a size and a shift.
const PARAMETERS: [&str; 4] = ["N", "M", "T", "K"];

fn bounds(chance: &mut Chance, outer: usize) -> Bounds {
    let parameter = chance.below(2);
    let (first, last) = match chance.below(10) {
        0 => (chance.from(-2, 2), Affine::constant(chance.from(-1, 4))),
        1 if outer > 0 => (0, Affine::iterator(outer - 1, chance.from(-1, 1))),
        2 => (
            chance.from(-3, 3),
            oracle::parameter(parameter, chance.from(-2, 2)),
        ),
        _ => (
            chance.from(0, 1),
            oracle::parameter(parameter, chance.from(-1, 0)),
        ),
    };
    let first = match outer > 0 && chance.one_in(12) {
        true => Affine::iterator(outer - 1, chance.from(-1, 1)),
        false => Affine::constant(first),
    };
    Bounds { first, last }
}

fn index(chance: &mut Chance, depth: usize, at: usize) -> Affine {
    let offset = match chance.below(3) {
        0 => chance.from(-2, 2),
        1 => chance.from(-1, 1),
        _ => 0,
    };
    match chance.below(16) {
        0 => Affine::constant(offset),
        1 => oracle::parameter(chance.below(2), offset),
        2 if depth > 0 => Affine::iterator(chance.below(depth), offset),
        3 if depth > at => Affine {
            iterators: [vec![0; at], vec![2]].concat(),
            ..Affine::constant(offset)
        },
        _ if at < depth => Affine::iterator(at, offset),
        _ => Affine::constant(offset),
    }
}

fn chain(chance: &mut Chance) -> Chain {
    let depth = chance.pick(&[1, 1, 2, 2, 2, 3]);
    let spaces = 1 + chance.below(3);
    let names = [("A", 0), ("B", 0), ("C", 0), ("s", 0)];
    let mut chain = Builder::new(&PARAMETERS, &names[..spaces]).0;
    for space in &mut chain.spaces {
        space.is_local = chance.one_in(2);
        space.rank = if chance.one_in(8) {
            chance.below(3)
        } else {
            depth
        };
    }
    for parameter in 0..3 {
        chain.known.push(oracle::parameter(parameter, 0));
    }
    let is_stencil = chance.one_in(2);
    for number in 0..1 + chance.below(4) {
        let depth = if chance.one_in(10) {
            chance.below(4)
        } else {
            depth
        };
        let mut nest = Nest {
            line: number as u32 + 1,
            bounds: (0..depth).map(|at| bounds(chance, at)).collect(),
            accesses: Vec::new(),
        };
        for _ in 0..1 + chance.below(4) {
            let space = chance.below(spaces);
            let mode = match chance.below(8) {
                0..3 => Mode::Write,
                3 => Mode::Reduce(chance.below(2) as u32),
                _ => Mode::Read,
            };
            let mut numbers: Vec<_> = (0..chain.spaces[space].rank)
                .map(|at| index(chance, depth, at))
                .collect();
            if is_stencil && mode != Mode::Read {
                numbers = (0..numbers.len())
                    .map(|at| {
                        if at < depth {
                            Affine::iterator(at, 0)
                        } else {
                            Affine::constant(0)
                        }
                    })
                    .collect();
            }
            // A temporary space is written by all iterations, or not at all.
            let at_last = mode == Mode::Write && !chain.spaces[space].is_local && chance.one_in(6);
            nest.accesses.push(Access {
                space,
                mode,
                must: !at_last,
                at_last,
                index: (!chance.one_in(40)).then_some(numbers),
            });
        }
        chain.nests.push(nest);
    }
    chain
}

fn way(chance: &mut Chance, depth: usize, deeper: usize) -> What {
    match chance.below(if deeper > 0 { 8 } else { 5 }) {
        0..2 => What::Serial,
        2 => What::Parallel,
        3..5 => What::Wavefront,
        _ => tile_by_chance(chance, depth, deeper - 1),
    }
}

fn tile_by_chance(chance: &mut Chance, depth: usize, deeper: usize) -> What {
    let rank = if chance.one_in(3) {
        1 + chance.below(depth)
    } else {
        depth
    };
    let size = |chance: &mut Chance| match chance.one_in(4) {
        true => Number::Value(0),
        false => Number::Constant(chance.from(1, 4)),
    };
    let sizes = (0..rank).map(|_| size(chance)).collect();
    let over = way(chance, rank, deeper);
    let within = way(chance, depth, deeper);
    tile_of(sizes, over, within)
}

fn items(chance: &mut Chance, chain: &Chain) -> Vec<What> {
    let depth = chain
        .nests
        .iter()
        .map(|nest| nest.bounds.len())
        .max()
        .unwrap_or(1)
        .max(1);
    if chance.one_in(12) {
        return vec![What::Auto];
    }
    let item = |chance: &mut Chance| match chance.below(10) {
        0..4 => What::Fuse(None),
        4 => {
            let shift = |chance: &mut Chance| match chance.one_in(6) {
                true => Number::Value(1),
                false => Number::Constant(chance.from(-1, 3)),
            };
            let shifts = chain
                .nests
                .iter()
                .map(|_| (0..depth).map(|_| shift(chance)).collect());
            What::Fuse(Some(shifts.collect()))
        }
        5..8 => tile_by_chance(chance, depth, 1),
        _ => way(chance, depth, 1),
    };
    let mut all: Vec<_> = (0..1 + chance.below(3)).map(|_| item(chance)).collect();
    if chance.one_in(8) {
        all.truncate(1);
        let sizes = 1 + chance.below(depth);
        let size = |_| match chance.one_in(4) {
            true => Number::Value(0),
            false => Number::Constant(chance.from(1, 4)),
        };
        all.push(overlapping((0..sizes).map(size).collect()));
    }
    all
}

fn number_of(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}

#[test]
fn orders_are_right_or_refused() {
    let (count, seed) = (
        number_of("OKL_CHAINS_RANDOM", 120),
        number_of("OKL_CHAINS_SEED", 1),
    );
    let (mut right, mut refused, mut given_up, mut checked, mut buffers) = (0, 0, 0, 0, 0);
    let mut small = 0;
    let first = number_of("OKL_CHAINS_FIRST", 0);
    for number in first..first + count {
        let mut chance = Chance(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let chain = chain(&mut chance);
        let items = items(&mut chance, &chain);
        let said = schedule(items);
        let begin = std::time::Instant::now();
        // Wherever it is small, the same is right.
        let costs = Costs {
            instructions: vec![Some(4); chain.nests.len()],
            ..Costs::default()
        };
        let plan = match plan::plan_by_size(&chain, &said, &[2, 3], Some(&costs)) {
            Ok(plan) => plan,
            Err(one) => {
                refused += 1;
                // That tiles cannot overlap is found out, and not given up.
                let is_found = one.is_illegal || one.why.starts_with("tiles cannot overlap");
                given_up += u32::from(!is_found);
                if !is_found {
                    println!("given up, number {number} of seed {seed}: {}", one.why);
                }
                continue;
            }
        };
        if begin.elapsed().as_secs() > 2 {
            println!("number {number} of seed {seed} takes {:?}", begin.elapsed());
        }
        right += 1;
        buffers += plan.buffers.len();
        small += u32::from(plan.small.is_some());
        let largest = if chain.nests.iter().any(|nest| nest.bounds.len() > 2) {
            3
        } else {
            5
        };
        for _ in 0..4 {
            let of = [
                chance.from(0, largest),
                chance.from(0, largest),
                chance.from(0, 4),
                chance.from(-1, 3),
            ];
            checked += u32::from(plan.requires.holds(&of, &[]) == Some(true));
            if let Err(wrong) = check(&chain, &plan, &of) {
                panic!(
                    "number {number} of seed {seed}: {wrong}\n{chain:#?}\n{said:?}\n{:?}",
                    plan.code
                );
            }
            let other = plan.small.as_ref().map(|small| &small.code);
            if let Some(Err(wrong)) = other.map(|code| check_code(&chain, code, &of)) {
                panic!("number {number} of seed {seed}, small: {wrong}\n{chain:#?}\n{other:?}");
            }
        }
    }
    println!(
        "{right} right, {refused} refused, {given_up} of them given up, {checked} orders looked at, {buffers} buffers, {small} that may be small"
    );
    assert!(
        given_up * 50 <= count as u32,
        "{given_up} of {count} schedules are given up"
    );
    assert!(
        right * 4 > count,
        "{right} of {count} schedules are legal: these chains say little"
    );
}

/// Loops that sweep over some spaces, which read what is near and write one of them.
fn sweeps(chance: &mut Chance, depth: usize) -> Chain {
    let names = [("A", depth), ("B", depth), ("C", depth)];
    let spaces = 1 + chance.below(3);
    let mut chain = Builder::new(&PARAMETERS[..2], &names[..spaces]).0;
    for space in &mut chain.spaces {
        space.is_local = chance.one_in(2);
    }
    for stage in 0..2 + chance.below(4) {
        let mut nest = Nest {
            line: stage as u32 + 1,
            ..Nest::default()
        };
        for at in 0..depth {
            let triangular = at > 0 && chance.one_in(8);
            nest.bounds.push(Bounds {
                first: Affine::constant(chance.from(-1, 1)),
                last: match triangular {
                    true => Affine::iterator(at - 1, chance.from(-1, 1)),
                    false => oracle::parameter(chance.below(2), chance.from(-1, 1)),
                },
            });
        }
        let mut add = |space, mode, index| {
            nest.accesses.push(Access {
                space,
                mode,
                must: true,
                at_last: false,
                index: Some(index),
            });
        };
        let to = chance.below(spaces);
        let moved = match chance.one_in(4) {
            true => chance.from(-1, 1),
            false => 0,
        };
        let here = (0..depth).map(|at| Affine::iterator(at, moved));
        add(to, Mode::Write, here.collect());
        for _ in 0..chance.below(4) {
            let of = chance.below(spaces);
            // Rows of what it writes itself are not read: they cannot be cut.
            let near = |at: usize, chance: &mut Chance| match of == to && at == 0 {
                true => Affine::iterator(at, moved),
                false => Affine::iterator(at, chance.from(-2, 2)),
            };
            add(
                of,
                Mode::Read,
                (0..depth).map(|at| near(at, chance)).collect(),
            );
        }
        chain.nests.push(nest);
    }
    chain
}

#[test]
fn blocks_need_nothing_of_each_other() {
    let (count, seed) = (
        number_of("OKL_CHAINS_RANDOM", 120),
        number_of("OKL_CHAINS_SEED", 1),
    );
    let (mut cut, mut edges, mut buffers) = (0, 0, 0);
    for number in 0..count {
        let mut chance = Chance(seed.wrapping_mul(9_000_011).wrapping_add(number));
        let depth = 1 + chance.below(2);
        let chain = match chance.one_in(5) {
            true => chain(&mut chance),
            false => sweeps(&mut chance, depth),
        };
        let mut order = Order::new(&chain).expect("isl is installed");
        let first = chance.below(2).min(chain.nests.len() - 1);
        let depth = 1 + chance.below(depth);
        let groups = first..chain.nests.len();
        if let Err(refused) = order.fuse(Position::default(), groups, None, Some(depth)) {
            assert!(refused.is_illegal, "{refused:?}");
            continue;
        }
        if !order.cut(Position::default(), first).expect("it is legal") {
            continue;
        }
        cut += 1;
        let plan = order.plan().expect("there are loops");
        edges += u32::from(matches!(&plan.code, Code::Sequence(all) if all.len() > 1 + first));
        buffers += plan.buffers.len();
        for _ in 0..4 {
            let mut parameters = vec![chance.from(0, 12), chance.from(-1, 12), 2, 1];
            parameters.truncate(chain.parameters.len());
            if let Err(wrong) = check(&chain, &plan, &parameters) {
                panic!(
                    "number {number} of seed {seed}: {wrong}\n{chain:#?}\n{:?}",
                    plan.code
                );
            }
        }
    }
    println!("{cut} chains are cut, {edges} of them with edges, {buffers} buffers");
    assert!(
        cut * 2 > count && u64::from(edges) * 8 > count,
        "{cut} chains are cut, {edges} of them with edges: they say little"
    );
}

/// Loops each of which reads what those in front of it have written, in temporary spaces that are wide enough.
fn pipeline(chance: &mut Chance, depth: usize) -> Chain {
    let stages = 2 + chance.below(3);
    // What is read round what is written was there before, then.
    let is_wide = !chance.one_in(4);
    let names = [("A", depth), ("B", depth), ("C", depth), ("D", depth)];
    let mut chain = Builder::new(&PARAMETERS[..1], &names[..stages]).0;
    chain.known.push(oracle::parameter(0, 0));
    for stage in 0..stages {
        chain.spaces[stage].is_local = true;
        let more = if is_wide {
            2 * (stages - 1 - stage) as i64
        } else {
            0
        };
        let bounds = || Bounds {
            first: Affine::constant(-more),
            last: oracle::parameter(0, more),
        };
        let mut nest = Nest {
            line: stage as u32 + 1,
            bounds: (0..depth).map(|_| bounds()).collect(),
            accesses: Vec::new(),
        };
        let moved = match chance.one_in(4) {
            true => chance.from(0, 2) - 1,
            false => 0,
        };
        let index = |offset: &mut dyn FnMut() -> i64| {
            Some(
                (0..depth)
                    .map(|at| Affine::iterator(at, offset()))
                    .collect(),
            )
        };
        let mut add = |space, mode, index| {
            nest.accesses.push(Access {
                space,
                mode,
                must: true,
                at_last: false,
                index,
            });
        };
        add(stage, Mode::Write, index(&mut || moved));
        for _ in 0..if stage > 0 { 1 + chance.below(3) } else { 0 } {
            let of = chance.below(stage);
            add(of, Mode::Read, index(&mut || chance.from(0, 2) - 1));
        }
        chain.nests.push(nest);
    }
    chain
}

/// Whether an item names values.
fn said_of_run_time(one: &What) -> bool {
    let is_value = |number: &Number| matches!(number, Number::Value(_));
    match one {
        What::Fuse(shifts) => shifts.iter().flatten().flatten().any(is_value),
        What::Tile(tile) => {
            let [over, within] = [&tile.over.what, &tile.within.what].map(said_of_run_time);
            over || within || tile.sizes.iter().any(is_value)
        }
        _ => false,
    }
}

#[test]
fn tiles_that_overlap_need_nothing_of_each_other() {
    let (count, seed) = (
        number_of("OKL_CHAINS_RANDOM", 120) / 2,
        number_of("OKL_CHAINS_SEED", 1),
    );
    let (mut cut, mut again) = (0, 0);
    for number in 0..count {
        let mut chance = Chance(seed.wrapping_mul(11_000_027).wrapping_add(number));
        let rank = 1 + chance.below(2);
        let mut chain = pipeline(&mut chance, rank);
        let last = chain.nests.len() - 1;
        chain.spaces[last].is_local = false;
        if chance.one_in(3) {
            // Something that is there already is changed in its place.
            let stage = chance.below(last + 1);
            let mut update = chain.nests[stage].clone();
            let mut here = update.accesses[0].clone();
            update.accesses.truncate(1);
            here.mode = Mode::Read;
            update.accesses.push(here);
            chain.nests.insert(stage + 1, update);
        }
        let mut order = Order::new(&chain).expect("isl is installed");
        let depth = 1 + chance.below(rank);
        order
            .fuse(Position::default(), 0..chain.nests.len(), None, Some(depth))
            .expect("it is legal");
        let sizes: Vec<_> = (0..1 + chance.below(depth))
            .map(|_| Size::Constant(chance.from(1, 5)))
            .collect();
        if let Err(refused) = order.overlap(Position::default(), 0, &sizes) {
            assert!(!refused.is_illegal, "{refused:?}");
            continue;
        }
        cut += 1;
        let plan = order.plan().expect("there are loops");
        again += u64::from(plan.buffers.iter().any(|buffer| buffer.is_needed));
        for size in 0..=6 {
            if let Err(wrong) = check(&chain, &plan, &[size]) {
                panic!(
                    "number {number} of seed {seed}: {wrong}\n{chain:#?}\n{:?}",
                    plan.code
                );
            }
        }
    }
    println!("{cut} chains are cut, {again} of them overlap");
    assert!(
        again * 2 > count,
        "{again} of {count} overlap: they say little"
    );
}

#[test]
fn temporary_spaces_hold_what_is_read() {
    let (count, seed) = (
        number_of("OKL_CHAINS_RANDOM", 120) / 4,
        number_of("OKL_CHAINS_SEED", 1),
    );
    let mut buffers = 0;
    for number in 0..count {
        let mut chance = Chance(seed.wrapping_mul(7_000_003).wrapping_add(number));
        let depth = 1 + chance.below(2);
        let chain = pipeline(&mut chance, depth);
        let mut order = Order::new(&chain).expect("isl is installed");
        let first = chance.below(2);
        let depth = 1 + chance.below(depth);
        order
            .fuse(
                Position::default(),
                first..chain.nests.len(),
                None,
                Some(depth),
            )
            .expect("it is legal");
        if chance.one_in(3) {
            let what = Way::Parallel;
            let _ = order.set(
                first,
                &Manner {
                    at: Position::default(),
                    what,
                },
            );
        }
        let plan = order.plan().expect("there are loops");
        buffers += plan.buffers.len();
        for size in 0..=4 {
            if let Err(wrong) = check(&chain, &plan, &[size]) {
                panic!(
                    "number {number} of seed {seed}: {wrong}\n{chain:#?}\n{:?}",
                    plan.code
                );
            }
        }
    }
    // Spaces that are used again, in orders of all kinds.
    let mut needed = 0;
    for number in 0..count {
        let mut chance = Chance(seed.wrapping_mul(9_000_011).wrapping_add(number));
        let depth = 1 + chance.below(2);
        let mut chain = pipeline(&mut chance, depth);
        if chance.one_in(2) {
            let mut again = pipeline(&mut chance, depth);
            let spaces = chain.spaces.len();
            for access in again.nests.iter_mut().flat_map(|nest| &mut nest.accesses) {
                access.space %= spaces;
            }
            chain.nests.append(&mut again.nests);
        }
        let mut items = items(&mut chance, &chain);
        items.retain(|one| !said_of_run_time(one));
        let Ok(plan) = plan::plan(&chain, &schedule(items), &[]) else {
            continue;
        };
        needed += plan.buffers.iter().filter(|one| one.is_needed).count();
        for size in 0..=4 {
            if let Err(wrong) = check(&chain, &plan, &[size]) {
                panic!(
                    "number {number} of seed {seed}, again: {wrong}\n{chain:#?}\n{:?}",
                    plan.code
                );
            }
        }
    }
    println!("{buffers} buffers, {needed} that orders rely on");
    assert!(
        buffers as u64 > count,
        "{buffers} buffers in {count} chains say little"
    );
}
