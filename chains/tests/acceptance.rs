//! Known chains and schedules, each against the oracle.

mod extensions;
mod oracle;

use okl_chains::code::Code;
use okl_chains::model::{Affine, Chain, Mode};
use okl_chains::order::Order;
use okl_chains::plan::{self, Plan};
use okl_chains::pragma::{Number, Position, What};
use oracle::*;

/// Accesses as [`Builder::nest`] takes them.
type Accesses = (Mode, usize, &'static [&'static [i64]]);

const FIVE: &[&[i64]] = &[&[0, 0], &[-1, 0], &[1, 0], &[0, -1], &[0, 1]];

fn square() -> [(Affine, Affine); 2] {
    [range(1, (0, 0)), range(1, (0, 0))]
}

fn jacobi_2d() -> Chain {
    jacobi_of(FIVE)
}

fn jacobi_of(reads: &[&[i64]]) -> Chain {
    Builder::new(&["N"], &[("A", 2), ("B", 2)])
        .nest(
            &square(),
            &[(Mode::Write, 0, &[&[0, 0]]), (Mode::Read, 1, reads)],
        )
        .nest(
            &square(),
            &[(Mode::Write, 1, &[&[0, 0]]), (Mode::Read, 0, reads)],
        )
        .0
}

/// The plan, right for some sizes.
fn right(chain: &Chain, items: Vec<What>, values: &[usize], parameters: &[Vec<i64>]) -> Plan {
    let plan =
        plan::plan(chain, &schedule(items), values).unwrap_or_else(|refused| panic!("{refused:?}"));
    for parameters in parameters {
        if let Err(wrong) = check(chain, &plan, parameters) {
            panic!("{wrong}\n{}", text(&plan.code, 0));
        }
    }
    plan
}

fn sizes(all: std::ops::RangeInclusive<i64>) -> Vec<Vec<i64>> {
    all.map(|one| vec![one]).collect()
}

fn text(code: &Code, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match code {
        Code::Sequence(all) => all.iter().map(|one| text(one, depth)).collect(),
        Code::For(one) => format!(
            "{indent}{}for v{} = {:?} ..= {:?} by {:?}\n{}",
            if one.is_parallel { "parallel " } else { "" },
            one.variable,
            one.first,
            one.last,
            one.step,
            text(&one.body, depth + 1)
        ),
        Code::If(one) => {
            let otherwise = one.otherwise.as_ref().map_or(String::new(), |one| {
                format!("{indent}else\n{}", text(one, depth + 1))
            });
            format!(
                "{indent}if {:?}\n{}{otherwise}",
                one.condition,
                text(&one.then, depth + 1)
            )
        }
        Code::Run { nest, iteration } => format!("{indent}{nest}{iteration:?}\n"),
    }
}

/// By how much `fuse()` moves the loops of a chain.
fn shifts(chain: &Chain) -> Vec<Vec<i64>> {
    let mut order = Order::new(chain).expect("isl is installed");
    order
        .fuse(Position::default(), 0..chain.nests.len(), None, None)
        .expect("it is legal");
    order.shifts(0)
}

#[test]
fn u1_reads_alone_move_nothing() {
    let read = (Mode::Read, 0, &[&[-1][..], &[0], &[1]][..]);
    let chain = Builder::new(&["N"], &[("A", 1)])
        .nest(&[range(1, (0, 0))], &[read])
        .nest(&[range(1, (0, 0))], &[read])
        .0;
    assert_eq!(shifts(&chain), [[0], [0]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=4));
}

/// A chain of nests of these extents, the accesses of which are written as they are for [`Builder::nest`].
fn plain(extents: &[&[i64]]) -> Chain {
    let mut builder = Builder::new(&[], &[("A", 1)]);
    for extents in extents {
        let bounds: Vec<_> = extents
            .iter()
            .map(|&extent| constants(0, extent - 1))
            .collect();
        builder = builder.nest(&bounds, &[]);
    }
    builder.0
}

fn refusal(chain: &Chain, items: Vec<What>) -> (u32, String) {
    match plan::plan(chain, &schedule(items), &[]) {
        Ok(plan) => panic!("it is not refused: {}", text(&plan.code, 0)),
        Err(refused) => {
            assert!(refused.is_illegal, "{refused:?}");
            (refused.at.column, refused.why)
        }
    }
}

/// Loops around each iteration of a nest, the outermost first, by whether they are parallel: of all places that it is run at.
fn loops_around(code: &Code, nest: usize) -> Vec<Vec<bool>> {
    fn look(code: &Code, nest: usize, around: &mut Vec<bool>, all: &mut Vec<Vec<bool>>) {
        match code {
            Code::Sequence(parts) => parts.iter().for_each(|one| look(one, nest, around, all)),
            Code::For(looped) => {
                around.push(looped.is_parallel);
                look(&looped.body, nest, around, all);
                around.pop();
            }
            Code::If(choice) => {
                look(&choice.then, nest, around, all);
                choice
                    .otherwise
                    .iter()
                    .for_each(|one| look(one, nest, around, all));
            }
            Code::Run { nest: run, .. } if *run == nest => all.push(around.clone()),
            Code::Run { .. } => {}
        }
    }
    let mut all = Vec::new();
    look(code, nest, &mut Vec::new(), &mut all);
    all
}

/// Whether something is asked, or there is a choice in bounds, anywhere.
fn asks(code: &Code) -> bool {
    match code {
        Code::Sequence(all) => all.iter().any(asks),
        Code::For(looped) => asks(&looped.body),
        Code::If(_) => true,
        Code::Run { .. } => false,
    }
}

fn ran(plan: &Plan, parameters: &[i64]) -> Vec<Iteration> {
    order(&plan.code, parameters)
        .into_iter()
        .map(|one| one.0)
        .collect()
}

#[test]
fn u2_what_is_behind_is_reached_exactly() {
    let chain = Builder::new(&["N"], &[("A", 1)])
        .nest(&[range(1, (0, 0))], &[(Mode::Write, 0, &[&[0]])])
        .nest(&[range(1, (0, 0))], &[(Mode::Read, 0, &[&[-1]])])
        .0;
    assert_eq!(shifts(&chain), [[1], [0]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=5));
}

#[test]
fn u3_jacobi_1d() {
    let three: &[&[i64]] = &[&[-1], &[0], &[1]];
    let chain = Builder::new(&["N"], &[("A", 1), ("B", 1)])
        .nest(
            &[range(1, (0, 0))],
            &[(Mode::Write, 0, &[&[0]]), (Mode::Read, 1, three)],
        )
        .nest(
            &[range(1, (0, 0))],
            &[(Mode::Write, 1, &[&[0]]), (Mode::Read, 0, three)],
        )
        .0;
    assert_eq!(shifts(&chain), [[0], [1]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=6));
}

#[test]
fn u4_jacobi_2d() {
    let chain = jacobi_2d();
    assert_eq!(shifts(&chain), [[0, 0], [1, 1]]);
    let plan = right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=7));
    assert!(!asks(&plan.code), "{}", text(&plan.code, 0));
}

#[test]
fn u5_a_longer_reach() {
    let chain = jacobi_of(&[&[0, 0], &[-1, 0], &[2, 0], &[0, -1], &[0, 2]]);
    assert_eq!(shifts(&chain), [[0, 0], [2, 2]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=7));
}

/// Differences of fluxes through the faces of cells, a direction after the other: for each, two loops over faces, and one
/// over cells. Directions begin with that of the innermost loop, and each has its own faces.
fn fluxes(dimensions: usize) -> Chain {
    let mut spaces = vec![("old", dimensions), ("new", dimensions)];
    spaces.extend(&[("x", dimensions), ("y", dimensions), ("z", dimensions)][..dimensions]);
    let mut builder = Builder::new(&["N"], &spaces);
    let here = vec![0; dimensions];
    for direction in 0..dimensions {
        let inner = dimensions - 1 - direction;
        let at = |offset| {
            let mut place = vec![0; dimensions];
            place[inner] = offset;
            place
        };
        let cells: Vec<_> = (0..dimensions).map(|_| range(0, (0, -1))).collect();
        let mut faces = cells.clone();
        faces[inner] = range(0, (0, 0));
        let near: Vec<_> = (-2..=1).map(at).collect();
        let near: Vec<_> = near.iter().map(|place| &place[..]).collect();
        let (space, next) = (2 + direction, at(1));
        let here: &[&[i64]] = &[&here];
        builder = builder
            .nest(
                &faces,
                &[(Mode::Read, 0, &near), (Mode::Write, space, here)],
            )
            .nest(
                &faces,
                &[(Mode::Read, space, here), (Mode::Write, space, here)],
            )
            .nest(
                &cells,
                &[
                    (Mode::Read, space, &[here[0], &next]),
                    (Mode::Read, 1, here),
                    (Mode::Write, 1, here),
                ],
            );
    }
    builder.0
}

#[test]
fn u6_fluxes_in_two_dimensions() {
    let (x, y, both) = ([1, 0], [0, 1], [1, 1]);
    let chain = fluxes(2);
    assert_eq!(shifts(&chain), [x, x, both, y, y, both]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=4));
    let tiled = vec![
        What::Fuse(None),
        tile(&[2, 3], What::Wavefront, What::Serial),
    ];
    right(&chain, tiled, &[], &sizes(0..=5));
}

#[test]
fn u7_fluxes_in_three_dimensions() {
    let (x, y, z, all) = ([1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]);
    let chain = fluxes(3);
    assert_eq!(shifts(&chain), [x, x, all, y, y, all, z, z, all]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=3));
}

#[test]
fn u8_reaches_that_do_not_add_up() {
    fn read(space: usize, place: &'static [&'static [i64]]) -> Accesses {
        (Mode::Read, space, place)
    }
    let write = |space| -> Accesses { (Mode::Write, space, &[&[0]]) };
    let bounds = [range(1, (0, 0))];
    let chain = Builder::new(&["N"], &[("A", 1), ("B", 1), ("C", 1)])
        .nest(&bounds, &[write(0)])
        .nest(&bounds, &[read(0, &[&[1]]), write(1)])
        .nest(&bounds, &[read(1, &[&[1]]), read(0, &[&[0]]), write(2)])
        .0;
    assert_eq!(shifts(&chain), [[0], [1], [2]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=6));
}

#[test]
fn f1_to_f3_different_extents() {
    for extents in [
        [&[4][..], &[7]],
        [&[3, 5], &[4, 2]],
        [&[2, 3, 4], &[3, 2, 5]],
    ] {
        let plan = right(&plain(&extents), vec![What::Fuse(None)], &[], &[vec![]]);
        let ran = ran(&plan, &[]);
        let at = |nest| {
            ran.iter()
                .position(|one| one.0 == nest && one.1.iter().all(|&at| at == 1))
        };
        assert_eq!(
            at(0).map(|at| at + 1),
            at(1),
            "the first loop is first at the same iteration"
        );
    }
}

#[test]
fn f4_some_of_three() {
    let chain = plain(&[&[4], &[5], &[6]]);
    for (groups, left) in [(0..2, 2), (1..3, 2), (0..3, 1)] {
        let mut order = Order::new(&chain).expect("isl is installed");
        order
            .fuse(Position::default(), groups.clone(), None, None)
            .expect("it is legal");
        assert_eq!(order.groups(), left);
        let plan = order.plan().expect("there are loops");
        check(&chain, &plan, &[]).expect("it is right");
        let ran = ran(&plan, &[]);
        match groups.start {
            0 if left == 2 => assert!(ran[9..].iter().all(|one| one.0 == 2)),
            1 => assert!(ran[..4].iter().all(|one| one.0 == 0)),
            _ => {}
        }
    }
}

#[test]
fn f5_different_depths() {
    right(
        &plain(&[&[4], &[3], &[4, 3]]),
        vec![What::Fuse(None)],
        &[],
        &[vec![]],
    );
    // What the last one writes is read along the second dimension: the other is behind it in the first one.
    let chain = Builder::new(&["N"], &[("A", 1), ("B", 2)])
        .nest(
            &square(),
            &[(Mode::Write, 1, &[&[0, 0]]), (Mode::Write, 0, &[&[0]])],
        )
        .nest(&square()[..1], &[(Mode::Read, 0, &[&[0]])])
        .0;
    assert_eq!(shifts(&chain), [[0, 0], [1, 0]]);
    right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=5));
}

#[test]
fn s1_one_loop_that_is_moved() {
    for (extents, shift) in [
        (&[5][..], &[1][..]),
        (&[3, 4], &[1, 2]),
        (&[5], &[5]),
        (&[5], &[-5]),
        (&[5], &[0]),
        (&[0], &[3]),
        (&[1], &[-2]),
    ] {
        let chain = plain(&[extents]);
        let plan = right(&chain, vec![fuse_by(&[shift])], &[], &[vec![]]);
        assert_eq!(ran(&plan, &[]), iterations(&chain, &[]));
    }
}

#[test]
fn s2_one_of_two_that_is_moved() {
    let chain = plain(&[&[4], &[4]]);
    let mut order = Order::new(&chain).expect("isl is installed");
    let shift = [vec![Affine::constant(2)]];
    order
        .fuse(Position::default(), 1..2, Some(&shift), None)
        .expect("it is legal");
    let plan = order.plan().expect("there are loops");
    assert_eq!(ran(&plan, &[]), iterations(&chain, &[]));
}

#[test]
fn s3_moved_onto_each_other() {
    let chain = Builder::new(&[], &[])
        .nest(&[constants(1, 10)], &[])
        .nest(&[constants(10, 19)], &[])
        .0;
    let plan = right(&chain, vec![fuse_by(&[&[0], &[-9]])], &[], &[vec![]]);
    assert!(
        matches!(&plan.code, Code::For(_)) && !asks(&plan.code),
        "{}",
        text(&plan.code, 0)
    );
}

#[test]
fn s4_wrong_numbers_of_shifts() {
    let chain = plain(&[&[4, 4], &[4, 4]]);
    let why = "`fuse` moves loop 2 in 1 dimension, but it has 2".to_string();
    assert_eq!(refusal(&chain, vec![fuse_by(&[&[0, 0], &[1]])]), (1, why));
    let why = "`fuse` moves 1 of 2 loops: it has to say that of all or of none".to_string();
    assert_eq!(refusal(&chain, vec![fuse_by(&[&[0, 0]])]), (1, why));
}

#[test]
fn t1_tiles_one_after_the_other() {
    let chain = plain(&[&[100, 100]]);
    let plan = right(
        &chain,
        vec![tile(&[10, 10], What::Serial, What::Serial)],
        &[],
        &[vec![]],
    );
    let tiles: Vec<_> = ran(&plan, &[])
        .iter()
        .map(|one| (one.1[0] / 10, one.1[1] / 10))
        .collect();
    assert!(tiles.is_sorted());
    assert!(!asks(&plan.code));
}

#[test]
fn t2_tiles_of_either() {
    let chain = plain(&[&[9], &[7, 8]]);
    for tiled in [&[0][..], &[1], &[0, 1]] {
        let mut order = Order::new(&chain).expect("isl is installed");
        for &group in tiled {
            let sizes = vec![okl_chains::order::Size::Constant(3); group + 1];
            order.tile(group, &manner_of(sizes)).expect("it is legal");
        }
        let plan = order.plan().expect("there are loops");
        check(&chain, &plan, &[]).expect("it is right");
        let ran = ran(&plan, &[]);
        assert!(
            ran.iter().map(|one| one.0).is_sorted(),
            "all of the first loop is first"
        );
    }
}

fn manner_of(sizes: Vec<okl_chains::order::Size>) -> okl_chains::order::Manner {
    use okl_chains::order::{Manner, Way};
    let at = Position::default();
    let serial = || {
        Box::new(Manner {
            at,
            what: Way::Serial,
        })
    };
    Manner {
        at,
        what: Way::Tile(sizes, serial(), serial()),
    }
}

#[test]
fn t3_tiles_of_what_is_fused() {
    let items = || {
        vec![
            What::Fuse(None),
            tile(&[10, 10], What::Serial, What::Serial),
        ]
    };
    let plan = right(&plain(&[&[25, 25], &[25, 25]]), items(), &[], &[vec![]]);
    assert_eq!(loops_around(&plan.code, 0), [[false; 4]]);
    let ran = ran(&plan, &[]);
    assert!(
        ran.chunks(2)
            .all(|two| two[0].0 == 0 && two[1] == (1, two[0].1.clone()))
    );
    right(
        &jacobi_2d(),
        vec![What::Fuse(None), tile(&[3, 2], What::Serial, What::Serial)],
        &[],
        &sizes(0..=8),
    );
}

#[test]
fn t4_tiles_that_are_fused() {
    let chain = jacobi_2d();
    let items = || vec![tile(&[3, 4], What::Serial, What::Serial), What::Fuse(None)];
    assert_eq!(
        shifts_after(&chain, &[3, 4]),
        [[0, 0], [1, 1]],
        "tiles are moved by tiles"
    );
    let plan = right(&chain, items(), &[], &sizes(0..=13));
    for nest in 0..2 {
        assert_eq!(loops_around(&plan.code, nest), [[false; 4]]);
    }
}

fn shifts_after(chain: &Chain, sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut order = Order::new(chain).expect("isl is installed");
    let sizes: Vec<_> = sizes
        .iter()
        .map(|&size| okl_chains::order::Size::Constant(size))
        .collect();
    for group in 0..order.groups() {
        order
            .tile(group, &manner_of(sizes.clone()))
            .expect("it is legal");
    }
    order
        .fuse(Position::default(), 0..chain.nests.len(), None, None)
        .expect("it is legal");
    order.shifts(0)
}

#[test]
fn t5_tiles_that_do_not_fit() {
    let chain = plain(&[&[4]]);
    let serial = || What::Serial;
    let why =
        "tiles of 2 dimensions do not fit loop 1 (line 10), which has 1 dimension".to_string();
    assert_eq!(
        refusal(&chain, vec![tile(&[2, 2], serial(), serial())]),
        (1, why)
    );
    let why = "a tile needs a size".to_string();
    assert_eq!(
        refusal(&chain, vec![tile(&[], serial(), serial())]),
        (1, why)
    );
    let why = "a tile has at least 1 iteration in each dimension, not 0".to_string();
    assert_eq!(
        refusal(&chain, vec![tile(&[0], serial(), serial())]),
        (1, why)
    );
}

#[test]
fn p1_parallel_outermost_loops() {
    for extents in [&[&[5][..]][..], &[&[4, 5]], &[&[4, 5], &[3, 4]]] {
        let plan = right(&plain(extents), vec![What::Parallel], &[], &[vec![]]);
        for (nest, extents) in extents.iter().enumerate() {
            let mut expected = vec![false; extents.len()];
            expected[0] = true;
            assert_eq!(loops_around(&plan.code, nest), [expected]);
        }
    }
}

#[test]
fn p2_parallel_tiles_or_in_tiles() {
    for extents in [&[&[7, 5][..]][..], &[&[4, 5], &[3, 4]]] {
        for (over, within, expected) in [
            (What::Parallel, What::Serial, [true, false, false, false]),
            (What::Serial, What::Parallel, [false, false, true, false]),
        ] {
            let plan = right(
                &plain(extents),
                vec![tile(&[3, 2], over, within)],
                &[],
                &[vec![]],
            );
            for nest in 0..extents.len() {
                assert_eq!(loops_around(&plan.code, nest), [expected]);
            }
        }
    }
}

#[test]
fn w1_wavefront() {
    let plan = right(
        &jacobi_2d(),
        vec![What::Fuse(None), What::Wavefront],
        &[],
        &sizes(0..=8),
    );
    let around = loops_around(&plan.code, 1);
    assert!(
        around.contains(&vec![false, true]),
        "{}",
        text(&plan.code, 0)
    );
    // Loops around iterations at the ends of a front are those of the fronts alone.
    assert!(
        around
            .iter()
            .all(|one| one == &[false, true] || one == &[false])
    );
    let tiled = vec![
        What::Fuse(None),
        tile(&[2, 3], What::Wavefront, What::Serial),
    ];
    let plan = right(&jacobi_2d(), tiled, &[], &sizes(0..=9));
    assert!(
        loops_around(&plan.code, 0)
            .iter()
            .all(|one| one[..2] == [false, true])
    );
}

#[test]
fn d1_as_written() {
    for extents in [
        &[&[5][..]][..],
        &[&[2, 3], &[4]],
        &[&[2, 3, 2], &[3], &[0, 2]],
    ] {
        let chain = plain(extents);
        let plan = right(&chain, Vec::new(), &[], &[vec![]]);
        assert_eq!(ran(&plan, &[]), iterations(&chain, &[]));
    }
}

#[test]
fn in_place_loops_are_skewed_as_far_as_they_need() {
    // The second reads what is in front of and behind it in the row above: (1,-1) needs two rows for a column.
    let bounds = square();
    let chain = Builder::new(&["N"], &[("A", 2)])
        .nest(
            &bounds,
            &[
                (Mode::Write, 0, &[&[0, 0]]),
                (Mode::Read, 0, &[&[-1, 1], &[0, -1], &[-1, -1]]),
            ],
        )
        .0;
    let plan = right(&chain, vec![What::Wavefront], &[], &sizes(0..=7));
    assert!(
        loops_around(&plan.code, 0)
            .iter()
            .any(|one| one == &[false, true])
    );
    let why = "tiles cannot run in this order: loop 1 (line 10) reads what it writes of `A`, dependence (0,-1) between tiles";
    let tiles = tile(&[2, 2], What::Serial, What::Serial);
    assert_eq!(refusal(&chain, vec![tiles]), (2, why.to_string()));
}

#[test]
fn what_is_illegal_is_refused() {
    let chain = jacobi_2d();
    let tiles = |over| vec![What::Fuse(None), tile(&[64, 64], over, What::Serial)];
    let why = "tiles cannot run in parallel: loop 2 (line 20) reads what loop 1 (line 10) writes of `A`, \
        dependence (1,0) between tiles; write `wavefront`";
    assert_eq!(refusal(&chain, tiles(What::Parallel)), (3, why.to_string()));
    let why = "iterations cannot run in parallel: loop 2 (line 20) reads what loop 1 (line 10) writes of `A`, \
        dependence (1,0) between iterations; write `wavefront`";
    assert_eq!(
        refusal(&chain, vec![What::Fuse(None), What::Parallel]),
        (2, why.to_string())
    );
    let why = "iterations cannot run in this order: loop 2 (line 20) reads what loop 1 (line 10) writes of `A`, \
        dependence (-1,0) between iterations";
    assert_eq!(
        refusal(&chain, vec![fuse_by(&[&[0, 0], &[0, 0]])]),
        (1, why.to_string())
    );
    let why = "a wavefront cannot be tiled: write `tile(.., wavefront, ..)`";
    let items = vec![
        What::Fuse(None),
        What::Wavefront,
        tile(&[4, 4], What::Serial, What::Serial),
    ];
    assert_eq!(refusal(&chain, items), (3, why.to_string()));
}

#[test]
fn sizes_and_shifts_that_are_known_at_run_time() {
    let mut chain = jacobi_2d();
    chain.parameters.extend(["T".to_string(), "K".to_string()]);
    let of = |sizes: [Number; 2]| tile_of(sizes.to_vec(), What::Wavefront, What::Serial);
    let parameters: Vec<_> = (0..=7)
        .flat_map(|n| (-1..=4).map(move |t| vec![n, t, 1]))
        .collect();
    let sizes = [Number::Value(0), Number::Constant(3)];
    let plan = right(
        &chain,
        vec![What::Fuse(None), of(sizes)],
        &[1, 2],
        &parameters,
    );
    assert_eq!(plan.requires.holds(&[5, 1, 0], &[]), Some(true));
    assert_eq!(plan.requires.holds(&[5, 0, 0], &[]), Some(false));
    // Tiles that are fused have to be as large as what they need of each other reaches.
    let mut far = jacobi_of(&[&[0, 0], &[-2, 0], &[2, 0]]);
    far.parameters.extend(["T".to_string(), "K".to_string()]);
    let tiles = tile_of(sizes.to_vec(), What::Serial, What::Serial);
    let plan = right(&far, vec![tiles, What::Fuse(None)], &[1, 2], &parameters);
    assert_eq!(plan.requires.holds(&[5, 2, 0], &[]), Some(true));
    assert_eq!(plan.requires.holds(&[5, 1, 0], &[]), Some(false));
    // Loops have to be moved far enough.
    let shift = vec![vec![Number::Constant(0); 2], vec![Number::Value(1); 2]];
    let parameters: Vec<_> = (0..=5)
        .flat_map(|n| (-1..=3).map(move |k| vec![n, 1, k]))
        .collect();
    let plan = right(&chain, vec![What::Fuse(Some(shift))], &[1, 2], &parameters);
    assert_eq!(plan.requires.holds(&[5, 0, 1], &[]), Some(true));
    assert_eq!(plan.requires.holds(&[5, 0, 0], &[]), Some(false));
}

#[test]
fn what_is_combined_may_run_at_the_same_time() {
    let sum: (Mode, usize, &[&[i64]]) = (Mode::Reduce(0), 1, &[&[]]);
    let other: (Mode, usize, &[&[i64]]) = (Mode::Reduce(1), 1, &[&[]]);
    let read: (Mode, usize, &[&[i64]]) = (Mode::Read, 0, &[&[0, 0]]);
    let builder = || Builder::new(&["N"], &[("A", 2), ("s", 0)]).nest(&square(), &[read, sum]);
    let chain = builder().nest(&square(), &[sum]).0;
    let plan = right(
        &chain,
        vec![What::Fuse(None), What::Parallel],
        &[],
        &sizes(0..=4),
    );
    let Code::For(looped) = &plan.code else {
        panic!("{}", text(&plan.code, 0));
    };
    assert!(looped.is_parallel && looped.combines == [1]);
    // Two ways of combining do not mix.
    let chain = builder().nest(&square(), &[other]).0;
    let (column, why) = refusal(&chain, vec![What::Fuse(None)]);
    let expected = "loop 1 (line 10) and loop 2 (line 20) cannot be fused: \
        one needs what is arbitrarily many iterations away in the other";
    assert_eq!((column, &why[..]), (1, expected));
}

#[test]
fn what_takes_too_long_is_given_up() {
    let chain = fluxes(3);
    let isl = okl_chains::isl::Isl::with(2000).expect("isl is installed");
    let failed = Order::in_context(&chain, isl).err();
    assert_eq!(failed, Some(okl_chains::isl::Failed::Operations));
}
