//! What regions and spans say of themselves.

use super::*;
use crate::llvm::{Module, OwnModule};
use crate::recognise::recognise;

/// A region that runs this code; `%if` is a condition.
fn module(code: &str) -> OwnModule {
    OwnModule::parse(&format!(
        "declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
        declare void @__kmpc_barrier(ptr, i32)
        define void @code(ptr %number, ptr %bound) {{
            %if = load i1, ptr %number
            {code}
        }}
        define void @main() {{
            call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @code)
            ret void
        }}"
    ))
}

fn steps_in_a_line(module: &Module) -> Option<usize> {
    let found = recognise(module);
    let [region] = &found.regions[..] else {
        panic!("one region");
    };
    region.straight().map(<[_]>::len)
}

#[test]
fn steps_are_in_a_line_where_each_follows_on_the_one_before_it() {
    let barrier = "call void @__kmpc_barrier(ptr null, i32 0)";
    let straight = format!("{barrier}\n {barrier}\n ret void");
    assert_eq!(steps_in_a_line(&module(&straight)), Some(3));
    assert_eq!(steps_in_a_line(&module("ret void")), Some(1));

    let passed_by = format!(
        "br i1 %if, label %then, label %rest
        then: {barrier}
        br label %rest
        rest: ret void"
    );
    assert_eq!(steps_in_a_line(&module(&passed_by)), None);

    let twice = format!(
        "br label %body
        body: {barrier}
        {barrier}
        br i1 %if, label %body, label %rest
        rest: ret void"
    );
    assert_eq!(steps_in_a_line(&module(&twice)), None);

    // Two ways to the end.
    let early = format!(
        "br i1 %if, label %then, label %rest
        then: ret void
        rest: {barrier}
        ret void"
    );
    assert_eq!(steps_in_a_line(&module(&early)), None);

    // A step that does not end.
    let endless = format!(
        "{barrier}
        br label %body
        body: br label %body"
    );
    assert_eq!(steps_in_a_line(&module(&endless)), None);
}

#[test]
fn what_is_left_of_a_span_without_others() {
    let module = module("br label %rest\n rest: ret void");
    let function = module.function("code").expect("it is there");
    let [block, other] = function.blocks()[..] else {
        panic!("two blocks");
    };
    let span = |from, to| Span { block, from, to };
    let elsewhere = Span {
        block: other,
        from: 0,
        to: 9,
    };
    let left = |others: &[Span<'_>]| -> Vec<_> {
        let left = span(2, 8).without(others).into_iter();
        left.map(|one| (one.from, one.to)).collect()
    };
    assert_eq!(left(&[]), [(2, 8)]);
    assert_eq!(left(&[elsewhere]), [(2, 8)]);
    assert_eq!(left(&[span(4, 5)]), [(2, 4), (5, 8)]);
    assert_eq!(left(&[span(0, 3), span(7, 9)]), [(3, 7)]);
    assert_eq!(left(&[span(4, 5), span(5, 6)]), [(2, 4), (6, 8)]);
    assert_eq!(left(&[span(2, 8)]), []);
    assert_eq!(left(&[span(0, 9)]), []);
    // Those that lie beside it take nothing.
    assert_eq!(left(&[span(0, 1), span(9, 12)]), [(2, 8)]);
    assert_eq!(left(&[span(0, 2), span(8, 9)]), [(2, 8)]);
}

#[test]
fn code_outside_of_loops_accesses_nothing_by_iteration() {
    let access = |place| Access {
        mode: Mode::Write,
        must: false,
        optional: false,
        stated: false,
        element: Some(Element::of_bytes(4)),
        base: Base::Capture(0),
        place,
    };
    let at = |offset| {
        let rows = Vec::new();
        Place::At(Elements { offset, rows })
    };
    let loaded = |offset| {
        let base = Base::Capture(1);
        Number::of(Unknown::Loaded(Box::new(Object { base, offset })))
    };
    let iteration = Number::of(Unknown::Iteration);
    for (place, expected) in [
        (Place::Whole, true),
        (Place::Anywhere, true),
        (at(loaded(Number::constant(8))), true),
        (Place::Own, false),
        (at(iteration.clone()), false),
        (at(loaded(iteration.clone())), false),
        (at(Number::of(Unknown::Least(vec![iteration]))), false),
    ] {
        let one = Description {
            accesses: vec![access(place)],
            ..Description::default()
        };
        assert_eq!(one.verify_of_code().is_ok(), expected, "{one}");
    }
    let combines = Description {
        reductions: vec![Reduction {
            target: Object {
                base: Base::Capture(0),
                offset: Number::constant(0),
            },
            operation: Operation::Add,
        }],
        ..Description::default()
    };
    assert!(combines.verify_of_code().is_err());
}
