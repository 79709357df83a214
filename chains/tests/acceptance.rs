//! Known chains and schedules, each against the oracle.

mod oracle;

use okl_chains::code::Code;
use okl_chains::model::{Affine, Chain, Mode};
use okl_chains::order::Order;
use okl_chains::plan::{self, Plan};
use okl_chains::pragma::{Number, Position, What};
use oracle::*;

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

#[test]
fn jacobi() {
    let chain = jacobi_2d();
    assert_eq!(shifts(&chain), [[0, 0], [1, 1]]);
    for items in [
        vec![What::Fuse(None)],
        vec![What::Fuse(None), tile(&[3, 2], What::Serial, What::Serial)],
        vec![
            What::Fuse(None),
            tile(&[3, 2], What::Wavefront, What::Serial),
        ],
        vec![What::Fuse(None), What::Wavefront],
        vec![tile(&[3, 4], What::Serial, What::Serial), What::Fuse(None)],
        vec![tile(&[3, 4], What::Parallel, What::Serial)],
    ] {
        let plan = right(&chain, items, &[], &sizes(0..=9));
        println!("{}", text(&plan.code, 0));
    }
}
