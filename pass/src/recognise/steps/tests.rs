//! Code of small functions that is cut: `meet` is where the team meets, and between `one` and `end` one thread runs.

use super::*;
use crate::analysis::meeting::conditions;
use crate::ir::Who;
use crate::llvm::{Module, OwnModule};

const COMMON: &str = "
    declare void @meet()
    define void @one() { ret void }
    define void @end() { ret void }
    declare void @elsewhere()
    define void @a() { ret void }
    define void @b() { ret void }
    define void @c() { ret void }
    define void @d() { ret void }
";

fn parse(text: &str) -> OwnModule {
    OwnModule::parse(&format!("{COMMON}{text}"))
}

fn is_call_of(name: &str) -> impl Fn(Call<'_>) -> bool {
    move |call| call.callee_name() == name
}

/// What begins at a call of `one`, up to an `end` in the same block.
fn constructs<'m>(blocks: &[Block<'m>]) -> Vec<Construct<'m>> {
    let construct = |block: Block<'m>| {
        let instructions = block.instructions();
        let at = |name| {
            let is_it = |one: &Instruction<'m>| one.as_call().is_some_and(is_call_of(name));
            instructions.iter().position(is_it)
        };
        let from = at("one")?;
        let spans = |to| {
            vec![Span {
                block,
                from: from + 1,
                to,
            }]
        };
        let code = at("end").map(|to| Code {
            spans: spans(to),
            description: None,
        });
        Some(Construct {
            begins: instructions[from],
            part: code
                .map(|code| Part::One(Who::Single, code))
                .ok_or("has no end".to_string()),
        })
    };
    blocks
        .iter()
        .filter_map(|&block| construct(block))
        .collect()
}

/// What steps consist of: what their parts call, and what else they call; where they lead; what is not known.
fn described(cut: &Steps<'_>) -> Vec<String> {
    let calls_of = |code: &Code<'_>| -> Vec<String> {
        let inside = code.spans.iter();
        let inside = inside.flat_map(|one| one.instructions());
        let calls = inside.filter_map(|one| one.as_call());
        calls.map(|call| call.callee_name()).collect()
    };
    let part = |part: &Part<'_>| {
        let calls = part.code().map(calls_of).unwrap_or_default().join(" ");
        match part {
            Part::One(..) => format!("one({calls})"),
            Part::Each(_) => format!("each({calls})"),
            Part::Share(_) => "share".to_string(),
        }
    };
    let step = |(number, step): (usize, &Step<'_>)| {
        let mut text: Vec<String> = step.parts.iter().map(part).collect();
        for edge in cut.edges.iter().filter(|edge| edge.from == Some(number)) {
            text.push(match edge.to {
                Some(to) => format!("{} {to}", edge.sync),
                None => edge.sync.to_string(),
            });
        }
        if let Some((_, reason)) = &step.unknown {
            text.push(format!("it {reason}"));
        }
        text.join(", ")
    };
    cut.steps.iter().enumerate().map(step).collect()
}

/// The cut of all of `@code`, or of its blocks of these numbers.
fn cut<'m>(module: &'m Module, numbers: Option<&[usize]>) -> Steps<'m> {
    let graph = CallGraph::of(module);
    let separates = |one: Instruction<'m>| one.as_call().is_some_and(is_call_of("meet"));
    let rules = Rules {
        separates: &separates,
        next: &|block| block.successors(),
        constructs: &constructs,
    };
    let blocks = code(module).blocks();
    let blocks = match numbers {
        Some(numbers) => numbers.iter().map(|&at| blocks[at]).collect(),
        None => blocks,
    };
    let cut = find(&blocks, &mut Callees::new(&graph, rules));
    for edge in &cut.edges {
        assert_eq!(edge.from.is_none(), edge.sync == Sync::Fork);
        assert_eq!(edge.to.is_none(), edge.sync == Sync::Join);
    }
    cut
}

fn unknown<'a>(cut: &'a Steps<'_>) -> Vec<Option<&'a str>> {
    let reason = |step: &'a Step<'_>| step.unknown.as_ref().map(|(_, reason)| reason.as_str());
    cut.steps.iter().map(reason).collect()
}

fn code(module: &Module) -> Function<'_> {
    module.function("code").expect("the code that is cut")
}

/// Of each way over a barrier: whether it leads back into the step that ends there.
fn joins(cut: &Steps<'_>) -> Vec<bool> {
    let edges = cut.edges.iter().filter(|one| one.sync == Sync::Barrier);
    edges.map(|one| one.from == one.to).collect()
}

/// What decides of a barrier: the numbers of the blocks that end so.
fn decides<'m>(barrier: &Barrier<'m>, blocks: &[Block<'m>]) -> Vec<usize> {
    let all = conditions(barrier.path[0], blocks, blocks).into_iter();
    let number = |one: Instruction<'m>| blocks.iter().position(|block| *block == one.block());
    let mut all: Vec<_> = all.filter_map(number).collect();
    all.sort_unstable();
    all
}

#[test]
fn barriers_in_a_row_make_steps_in_a_line() {
    let module = parse(
        "define void @code() {
            call void @a()
            call void @meet()
            call void @one()
            call void @b()
            call void @end()
            call void @c()
            call void @meet()
            ret void
        }",
    );
    let cut = cut(&module, None);
    assert_eq!(
        described(&cut),
        [
            "each(a meet), barrier 1",
            "one(b), each(one end c meet), barrier 2",
            "each(), join"
        ]
    );
    assert_eq!(joins(&cut), [false, false]);
    let blocks = code(&module).blocks();
    assert!(
        cut.barriers
            .iter()
            .all(|one| decides(one, &blocks).is_empty())
    );
}

#[test]
fn a_barrier_that_a_condition_passes_by_joins_what_is_around_it() {
    let module = parse(
        "define void @code(i1 %may, i1 %other) {
            call void @a()
            br i1 %may, label %then, label %rest
        then:
            call void @meet()
            call void @b()
            br label %rest
        rest:
            call void @c()
            br i1 %other, label %failed, label %on
        failed:
            unreachable
        on:
            call void @meet()
            call void @d()
            ret void
        }",
    );
    let cut = cut(&module, None);
    assert_eq!(
        described(&cut),
        [
            "each(a meet b c meet), barrier 0, barrier 1",
            "each(d), join"
        ]
    );
    assert_eq!(joins(&cut), [true, false]);
    // What ends the program passes no barrier by.
    let blocks = code(&module).blocks();
    let decided: Vec<_> = cut
        .barriers
        .iter()
        .map(|one| decides(one, &blocks))
        .collect();
    assert_eq!(decided, [vec![0], vec![]]);
}

#[test]
fn barriers_on_both_ways_separate() {
    let module = parse(
        "define void @code(i1 %which) {
            call void @a()
            br i1 %which, label %left, label %right
        left:
            call void @meet()
            call void @b()
            br label %rest
        right:
            call void @meet()
            call void @c()
            br label %rest
        rest:
            call void @d()
            ret void
        }",
    );
    let cut = cut(&module, None);
    assert_eq!(
        described(&cut),
        ["each(a meet meet), barrier 1", "each(b c d), join"]
    );
    assert_eq!(joins(&cut), [false]);
    let blocks = code(&module).blocks();
    assert_eq!(decides(&cut.barriers[0], &blocks), [0]);
}

const TIMES: &str = "define void @code(i1 %more) {
        br label %head
    head:
        br i1 %more, label %body, label %out
    body:
        call void @a()
        call void @meet()
        call void @b()
        call void @meet()
        call void @c()
        br label %head
    out:
        call void @d()
        ret void
    }";

#[test]
fn a_loop_around_barriers_makes_a_graph() {
    let module = parse(TIMES);
    let cut = cut(&module, None);
    assert_eq!(
        described(&cut),
        [
            "each(a meet c d), barrier 1, join",
            "each(b meet), barrier 0"
        ]
    );
    assert_eq!(joins(&cut), [false, false]);
    let blocks = code(&module).blocks();
    assert_eq!(decides(&cut.barriers[1], &blocks), [1]);
}

#[test]
fn one_barrier_in_a_loop_separates_no_turn_from_the_next_one() {
    let module = parse(
        "define void @code(i1 %more) {
            br label %body
        body:
            call void @a()
            call void @meet()
            call void @b()
            br i1 %more, label %body, label %out
        out:
            ret void
        }",
    );
    let cut = cut(&module, None);
    assert_eq!(described(&cut), ["each(a meet b), barrier 0, join"]);
    assert_eq!(joins(&cut), [true]);
    assert_eq!(decides(&cut.barriers[0], &code(&module).blocks()), [1]);
}

#[test]
fn the_body_of_a_loop_is_cut_without_its_turns() {
    let module = parse(TIMES);
    // With the loop's head, and without it: what is in front of it and behind it is no part.
    for numbers in [&[1, 2][..], &[2]] {
        let cut = cut(&module, Some(numbers));
        assert_eq!(
            described(&cut)[1..],
            ["each(b meet), barrier 2", "each(c), join"],
            "{numbers:?}"
        );
        assert_eq!(joins(&cut), [false, false]);
    }
    let blocks = code(&module).blocks();
    let body = cut(&module, Some(&[2]));
    assert!(decides(&body.barriers[0], &blocks[2..3]).is_empty());
    let with_head = cut(&module, Some(&[1, 2]));
    assert_eq!(decides(&with_head.barriers[0], &blocks[1..3]), [0]);
}

#[test]
fn functions_with_barriers_are_cut_at_each_call() {
    let module = parse(
        "define void @inner() {
            call void @b()
            call void @meet()
            call void @c()
            ret void
        }
        define void @code() {
            call void @a()
            call void @inner()
            call void @inner()
            call void @d()
            ret void
        }",
    );
    let cut = cut(&module, None);
    assert_eq!(
        described(&cut),
        [
            "each(a inner b meet), barrier 1",
            "each(c inner b meet), barrier 2",
            "each(c d), join"
        ]
    );
    let names = |one: &Barrier<'_>| -> Vec<String> {
        let calls = one.path.iter().filter_map(|one| one.as_call());
        calls.map(|call| call.callee_name()).collect()
    };
    let paths: Vec<_> = cut.barriers.iter().map(names).collect();
    assert_eq!(paths, [["inner", "meet"], ["inner", "meet"]]);
    assert!(cut.barriers[0].path[0] != cut.barriers[1].path[0]);
}

#[test]
fn a_function_of_a_run_time_that_has_no_line_is_not_known() {
    let module = parse(
        "declare void @__kmpc_new_construct(ptr)
        declare void @__kmpc_flush(ptr)
        declare i32 @okl_mpi_new()
        define void @code() {
            call void @__kmpc_flush(ptr null)
            call void @meet()
            call void @__kmpc_new_construct(ptr null)
            call void @meet()
            call i32 @okl_mpi_new()
            ret void
        }",
    );
    assert_eq!(
        unknown(&cut(&module, None)),
        [
            None,
            Some("calls __kmpc_new_construct, which is not known here"),
            Some("calls okl_mpi_new, which is not known here"),
        ]
    );
}

#[test]
fn what_is_not_known_spoils_its_own_step() {
    let module = parse(
        "define void @again() {
            call void @meet()
            call void @again()
            ret void
        }
        define void @code(ptr %function) {
            call void @elsewhere()
            call void @meet()
            call void @one()
            call void @meet()
            call void %function()
            call void @meet()
            call void @a()
            call void @again()
            ret void
        }",
    );
    assert_eq!(
        unknown(&cut(&module, None)),
        [
            Some("calls elsewhere, which is not known here"),
            Some("has no end"),
            Some("calls through a pointer"),
            None,
            Some("calls again, which is recursive"),
        ]
    );
}
