//! What orders have beyond those of the paper: temporary spaces that shrink, a choice, tiles that overlap, fused outer loops.

use super::*;
use okl_chains::code::Condition;
use okl_chains::sizes::Costs;

/// What the second loop reads the first one has written, round it as well.
fn wide_jacobi() -> Chain {
    let wide = [range(0, (0, 1)), range(0, (0, 1))];
    let mut chain = Builder::new(&["N"], &[("A", 2), ("B", 2)])
        .nest(
            &wide,
            &[(Mode::Write, 0, &[&[0, 0]]), (Mode::Read, 1, FIVE)],
        )
        .nest(&square(), &[(Mode::Read, 0, FIVE)])
        .0;
    chain.spaces[0].is_local = true;
    chain
}

#[test]
fn temporary_spaces_shrink() {
    let periods = |plan: &Plan| {
        let buffers = plan.buffers.iter();
        let periods = |numbers: &[okl_chains::storage::Number]| {
            numbers.iter().map(|one| one.period).collect()
        };
        buffers
            .map(|buffer| (buffer.space, periods(&buffer.numbers)))
            .collect::<Vec<(usize, Vec<_>)>>()
    };
    let plan = right(&wide_jacobi(), vec![What::Fuse(None)], &[], &sizes(0..=6));
    assert_eq!(periods(&plan), [(0, vec![Some(3), None])]);
    // Outermost loops alone are enough.
    let chain = wide_jacobi();
    let mut order = Order::new(&chain).expect("isl is installed");
    order
        .fuse(Position::default(), 0..2, None, Some(1))
        .expect("it is legal");
    let plan = order.plan().expect("there are loops");
    assert_eq!(periods(&plan), [(0, vec![Some(3), None])]);
    assert_eq!(order.shifts(0), [[0], [1]]);
    for size in 0..=6 {
        check(&chain, &plan, &[size]).expect("it is right");
    }
    // What was there before, round what is written, is not in the buffer.
    let plan = right(
        &local(jacobi_2d()),
        vec![What::Fuse(None)],
        &[],
        &sizes(0..=6),
    );
    assert_eq!(periods(&plan), [(0, vec![Some(3), None])]);
    assert!(plan.buffers[0].is_bounded);
    // Rows of tiles need what is round them, too.
    let tiles = tile(&[3, 3], What::Serial, What::Serial);
    let items = vec![What::Fuse(None), tiles];
    let plan = right(&wide_jacobi(), items, &[], &sizes(0..=8));
    assert_eq!(periods(&plan), [(0, vec![Some(5), None])]);
    // Tiles one after the other in one dimension are just the iterations one after the other.
    let tiles = tile(&[3], What::Serial, What::Serial);
    let items = vec![What::Fuse(None), tiles];
    let plan = right(&wide_jacobi(), items, &[], &sizes(0..=8));
    assert_eq!(periods(&plan), [(0, vec![Some(3), None])]);
    // Not where nothing is fused, where rows run at the same time, or where something was there before the chain.
    for (chain, items) in [
        (wide_jacobi(), vec![What::Serial]),
        (wide_jacobi(), vec![What::Fuse(None), What::Wavefront]),
    ] {
        assert_eq!(right(&chain, items, &[], &sizes(0..=6)).buffers, []);
    }
    // What is used where it is made is a single variable.
    let here: &[&[i64]] = &[&[0, 0]];
    let mut chain = Builder::new(&["N"], &[("A", 2), ("B", 2)])
        .nest(&square(), &[(Mode::Write, 0, here)])
        .nest(&square(), &[(Mode::Read, 0, here), (Mode::Write, 1, here)])
        .0;
    chain.spaces[0].is_local = true;
    let plan = right(&chain, vec![What::Fuse(None)], &[], &sizes(0..=6));
    assert_eq!(periods(&plan), [(0, vec![Some(1), Some(1)])]);
}

#[test]
fn a_space_that_is_used_again_is_several() {
    let here: &[&[i64]] = &[&[0, 0]];
    let two: &[&[i64]] = &[&[0, 0], &[-1, 0]];
    let sum: &[&[i64]] = &[&[0, 0]];
    let chain = |is_local: bool| {
        let bounds = [range(0, (0, 0)), range(0, (0, 0))];
        let inner = [range(1, (0, 0)), range(0, (0, 0))];
        let mut chain = Builder::new(&["N"], &[("A", 2), ("B", 2)])
            .nest(&bounds, &[(Mode::Write, 0, here)])
            .nest(&inner, &[(Mode::Read, 0, two), (Mode::Write, 1, sum)])
            .nest(&bounds, &[(Mode::Write, 0, here)])
            .nest(
                &inner,
                &[
                    (Mode::Read, 0, two),
                    (Mode::Read, 1, sum),
                    (Mode::Write, 1, sum),
                ],
            )
            .0;
        chain.spaces[0].is_local = is_local;
        chain
    };
    let zero: &[i64] = &[0, 0];
    let items = || vec![fuse_by(&[zero; 4])];
    let plan = right(&chain(true), items(), &[], &sizes(0..=6));
    let found: Vec<_> = { plan.buffers.iter() }
        .map(|one| {
            (
                one.space,
                &one.nests[..],
                one.is_needed,
                one.numbers[0].period,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, &[0, 1][..], true, Some(2)),
            (0, &[2, 3][..], true, Some(2))
        ]
    );
    // Else what is written second would be there too early.
    assert!(plan::plan(&chain(false), &schedule(items()), &[]).is_err());
    // Where nothing is fused all of it is one space, and where only some is, too.
    let plan = right(&chain(true), vec![What::Parallel], &[], &sizes(0..=6));
    assert_eq!(plan.buffers, []);
}

fn local(mut chain: Chain) -> Chain {
    chain.spaces[0].is_local = true;
    chain
}

/// Numbers of the loops of a chain that are chosen to be one, by how many loops are around each of them.
fn chosen(chain: &Chain, parameters: &[Vec<i64>]) -> Plan {
    let plan = right(chain, vec![What::Auto], &[], parameters);
    let Code::Sequence(parts) = &plan.code else {
        panic!("{}", text(&plan.code, 0));
    };
    let is_parallel = |code: &Code| matches!(code, Code::For(looped) if looped.is_parallel);
    assert!(parts.iter().all(is_parallel), "{}", text(&plan.code, 0));
    plan
}

/// The nests that share innermost loops.
fn together(code: &Code) -> Vec<Vec<usize>> {
    match code {
        Code::Sequence(all) => {
            let runs = all.iter().map(|one| match one {
                Code::Run { nest, .. } => Some(*nest),
                _ => None,
            });
            match runs.collect() {
                Some(nests) => vec![nests],
                None => all.iter().flat_map(together).collect(),
            }
        }
        Code::For(one) => together(&one.body),
        Code::If(one) => {
            let otherwise = one.otherwise.iter().flat_map(together);
            together(&one.then).into_iter().chain(otherwise).collect()
        }
        Code::Run { .. } => Vec::new(),
    }
}

#[test]
fn an_order_is_chosen() {
    // Jacobi's loops are one in blocks of rows: what the second one needs beyond a block runs first.
    let plan = chosen(&jacobi_2d(), &sizes(0..=9));
    // In front of the rows that it writes and behind them, the first one runs alone; where both run, their inner loops are one.
    let rows = vec![true, false, false];
    assert_eq!(loops_around(&plan.code, 0), vec![rows.clone(); 5]);
    assert_eq!(loops_around(&plan.code, 1), vec![rows; 2]);
    assert_eq!(together(&plan.code), [[0, 1]]);
    assert_eq!(plan.threads, Some(1));
    // All loops over rows are one, in tiles that overlap; with results that others need, they have edges.
    let mut chain = fluxes(3);
    let plan = chosen(&chain, &sizes(0..=5));
    for nest in 0..9 {
        let edges = usize::from(matches!(nest, 6 | 7));
        let Code::Sequence(parts) = &plan.code else {
            unreachable!("it has been seen");
        };
        let has_it = |part: &&Code| !loops_around(part, nest).is_empty();
        assert_eq!(parts.iter().filter(has_it).count(), 1 + edges);
    }
    for space in 2..5 {
        chain.spaces[space].is_local = true;
    }
    let plan = right(&chain, vec![What::Auto], &[], &sizes(0..=5));
    assert!(matches!(&plan.code, Code::For(tiles) if tiles.is_parallel));
    let periods = plan.buffers.iter().map(|buffer| {
        assert!(buffer.is_private && buffer.is_needed);
        let numbers = buffer.numbers.iter().map(|one| one.period);
        (
            chain.spaces[buffer.space].name.clone(),
            numbers.collect::<Vec<_>>(),
        )
    });
    let expected = [
        ("x", [Some(1), Some(1), None]),
        ("y", [Some(1), Some(2), None]),
        ("z", [Some(2), None, None]),
    ];
    let expected = expected.map(|(name, periods)| (name.to_string(), periods.to_vec()));
    assert_eq!(periods.collect::<Vec<_>>(), expected);
    // What is needed at one place is computed in one iteration of inner loops, where all of them run; else as much as runs.
    let all: &[&[usize]] = &[
        &[0, 1],
        &[3, 4, 6, 7, 2, 5, 8],
        &[3, 4],
        &[6, 7],
        &[2, 5, 8],
    ];
    assert_eq!(together(&plan.code), all, "{}", text(&plan.code, 0));
    assert_eq!(plan.joined.len(), all.len());
    // Loops that have nothing in common stay as they are.
    let here: &[&[i64]] = &[&[0, 0]];
    let chain = Builder::new(&["N"], &[("A", 2), ("B", 2)])
        .nest(&square(), &[(Mode::Write, 0, here)])
        .nest(&square(), &[(Mode::Read, 1, FIVE)])
        .0;
    let plan = chosen(&chain, &sizes(0..=5));
    assert!(matches!(&plan.code, Code::Sequence(parts) if parts.len() == 2));
    assert_eq!(plan.threads, None);
}

#[test]
fn what_is_small_runs_otherwise() {
    let costs = |instructions: Option<usize>, is_alone| Costs {
        instructions: vec![instructions; 2],
        elements: vec![Some(8); 2],
        is_alone,
    };
    let planned = |chain: &Chain, costs: &Costs| {
        let items = schedule(vec![What::Auto]);
        plan::plan_by_size(chain, &items, &[], Some(costs)).expect("it is legal")
    };
    // Beginning a row costs as much as 153 elements save, and threads as much as 23831 iterations.
    let chain = local(jacobi_2d());
    let plan = planned(&chain, &costs(Some(11), false));
    let small = plan.small.as_ref().expect("it may be small");
    let limits = &small.limits;
    let numbers = (limits.row, limits.all, limits.shared);
    assert_eq!(numbers, (Some(153), 98304, Some(23831)));
    for (size, is_small, is_little) in [
        (0, true, true),
        (109, true, true),
        (110, true, false),
        (153, true, false),
        (154, false, false),
        (1 << 47, false, false),
    ] {
        let holds = [&limits.is_small, &limits.is_little].map(|one| one.holds(&[size], &[]));
        assert_eq!(holds, [Some(is_small), Some(is_little)], "{size}");
    }
    for size in 0..=9 {
        check(&chain, &plan, &[size]).expect("it is right");
        check_code(&chain, &small.code, &[size]).expect("it is right");
    }
    let around = (0..2).flat_map(|nest| loops_around(&small.code, nest));
    assert!(around.flatten().all(|is_parallel| !is_parallel));
    assert_eq!(plan.buffers.len(), 1);
    // On one thread rows alone count; where nothing shrinks either, there is nothing to save.
    let alone = costs(Some(11), true);
    let plan = planned(&chain, &alone);
    let limits = plan.small.expect("it may be small").limits;
    assert_eq!((limits.row, limits.shared), (Some(153), None));
    assert_eq!(limits.is_little, Condition::Constant(true));
    assert_eq!(planned(&jacobi_2d(), &alone).small, None);
    // The larger elements are, and the more an iteration does, the less beginnings count.
    let large = Costs {
        elements: vec![Some(80), Some(8)],
        ..costs(Some(11), false)
    };
    assert_eq!(planned(&chain, &large).small, None);
    let plan = planned(&jacobi_2d(), &costs(Some(110), false));
    let limits = plan.small.expect("it may be small").limits;
    assert_eq!((limits.row, limits.shared), (None, Some(2383)));
    for instructions in [Some(1 << 20), None] {
        assert_eq!(planned(&chain, &costs(instructions, false)).small, None);
    }
    // Of constants it is known.
    for (size, is_small) in [(109, true), (110, false)] {
        let mut chain = chain.clone();
        for bounds in chain.nests.iter_mut().flat_map(|nest| &mut nest.bounds) {
            bounds.last = Affine::constant(bounds.last.parameters[0] * size + bounds.last.constant);
        }
        let plan = planned(&chain, &costs(Some(11), false));
        assert_eq!(plan.small, None);
        assert_eq!(plan.buffers.is_empty(), is_small);
        assert_eq!(plan.whole.len(), usize::from(is_small));
        assert_eq!(plan.threads.is_none(), is_small);
    }
}

#[test]
fn tiles_overlap() {
    let mut chain = fluxes(2);
    for space in 2..4 {
        chain.spaces[space].is_local = true;
    }
    let sizes = |sizes: &[i64]| sizes.iter().map(|&size| Number::Constant(size)).collect();
    let parameters: Vec<_> = (0..=5).map(|size| vec![size]).collect();
    for tile in [&[2][..], &[2, 3]] {
        let items = vec![What::Fuse(None), overlapping(sizes(tile))];
        let plan = right(&chain, items, &[], &parameters);
        assert!(plan.buffers.iter().all(|buffer| buffer.is_needed));
        assert_eq!(plan.buffers.len(), 2);
        let Code::For(tiles) = &plan.code else {
            panic!("{}", text(&plan.code, 0));
        };
        assert!(tiles.is_parallel);
    }
    // What is overwritten is needed by other tiles: those of rows have edges.
    let rows = vec![What::Fuse(None), overlapping(sizes(&[3]))];
    let plan = right(&local(jacobi_2d()), rows, &[], &parameters);
    assert!(matches!(&plan.code, Code::Sequence(parts) if parts.len() == 2));
    let [rows] = &plan.buffers[..] else {
        panic!("{:?}", plan.buffers);
    };
    let periods: Vec<_> = rows.numbers.iter().map(|number| number.period).collect();
    assert_eq!(periods, [Some(3), None]);
    assert!(rows.is_private && rows.is_bounded && !rows.is_needed);
    let why = |chain: &Chain, tile: &[i64]| {
        let items = vec![What::Fuse(None), overlapping(sizes(tile))];
        let refused = plan::plan(chain, &schedule(items), &[]).expect_err("they cannot overlap");
        assert!(!refused.is_illegal);
        assert_eq!(refused.at.column, 2);
        let why = refused.why.strip_prefix("tiles cannot overlap: ");
        let why = why.and_then(|why| {
            why.strip_suffix("; the loops stay in the order in which they are written")
        });
        why.expect("it begins and ends so").to_string()
    };
    assert_eq!(
        why(&local(jacobi_2d()), &[3, 3]),
        "loop 2 (line 20) reads what loop 1 (line 10) writes of `A` in other tiles, or what is there before the chain"
    );
    assert_eq!(
        why(&fluxes(2), &[3, 3]),
        "loop 3 (line 30) reads what loop 1 (line 10) writes of `x` in other tiles; \
            write `local(x)` if nothing reads it behind the chain"
    );
    let sum: (Mode, usize, &[&[i64]]) = (Mode::Reduce(0), 1, &[&[]]);
    let read: (Mode, usize, &[&[i64]]) = (Mode::Read, 0, &[&[0, 0]]);
    let chain = Builder::new(&["N"], &[("A", 2), ("s", 0)])
        .nest(&square(), &[read, sum])
        .nest(&square(), &[sum])
        .0;
    assert_eq!(
        why(&chain, &[3]),
        "what loop 1 (line 10) and loop 1 (line 10) find is combined in `s`"
    );
    let item = |what| vec![What::Fuse(None), what];
    let overlap = || overlapping(sizes(&[3]));
    let last = "tiles that overlap are the last item of a schedule".to_string();
    assert_eq!(
        refusal(&jacobi_2d(), vec![overlap(), What::Serial]),
        (1, last)
    );
    let What::Tile(mut serial) = overlap() else {
        unreachable!("it is one");
    };
    serial.over.what = What::Serial;
    let why = "tiles that overlap run in parallel, and what is in them does not: write `parallel, serial`";
    assert_eq!(
        refusal(&jacobi_2d(), item(What::Tile(serial))),
        (2, why.to_string())
    );
}

#[test]
fn shifts_of_outer_loops_fuse_those_alone() {
    let rows = || vec![fuse_by(&[&[0], &[1]])];
    let plan = right(&jacobi_2d(), rows(), &[], &sizes(0..=6));
    // Whole rows follow each other.
    let ran = ran(&right(&jacobi_2d(), rows(), &[], &sizes(3..=3)), &[3]);
    let nests: Vec<_> = ran.iter().map(|one| one.0).collect();
    assert_eq!(
        nests,
        [[0; 3], [0; 3], [1; 3], [0; 3], [1; 3], [1; 3]].concat()
    );
    assert!(!asks(&plan.code), "{}", text(&plan.code, 0));
    let why = "iterations cannot run in this order: loop 2 (line 20) reads what loop 1 (line 10) writes of `A`, \
        dependence (-1) between iterations";
    let (column, refused) = refusal(&jacobi_2d(), vec![fuse_by(&[&[0], &[0]])]);
    assert_eq!((column, &refused[..]), (1, why));
    let plan = plan::in_parallel(&jacobi_2d()).expect("it is legal");
    check(&jacobi_2d(), &plan, &[5]).expect("it is right");
    assert_eq!(loops_around(&plan.code, 1), [[true, false]]);
}
