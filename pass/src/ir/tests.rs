//! What regions and spans say of themselves.

use super::*;
use crate::llvm::{Module, OwnModule};
use crate::recognise::{Found, recognise};

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
    let object = Object {
        base: Base::Capture(1),
        offset: Number::of(Unknown::Iteration),
    };
    let behind = Description {
        accesses: vec![Access {
            base: Base::Loaded(Box::new(object)),
            ..access(Place::Anywhere)
        }],
        ..Description::default()
    };
    assert!(behind.verify_of_code().is_err());
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

/// A region with a worksharing loop between two barriers, one value that it captures, and a function of two numbers.
fn shared() -> OwnModule {
    OwnModule::parse(
        "declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
        declare void @__kmpc_barrier(ptr, i32)
        declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
        declare void @__kmpc_for_static_fini(ptr, i32)
        define void @code(ptr %number, ptr %bound, ptr %captured) {
            %last = alloca i32
            %first = alloca i32
            %upper = alloca i32
            %stride = alloca i32
            call void @__kmpc_barrier(ptr null, i32 0)
            call void @__kmpc_for_static_init_4(ptr null, i32 0, i32 34, ptr %last, ptr %first, ptr %upper, ptr %stride, i32 1, i32 1)
            store i32 1, ptr %captured
            call void @__kmpc_for_static_fini(ptr null, i32 0)
            ret void
        }
        define void @kernel(ptr %a, ptr %b) {
            ret void
        }
        define void @main(i32 %size) {
            %captured = alloca i32
            call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @code, ptr %captured)
            ret void
        }",
    )
}

/// What the check says of the region of [`shared`] when something about it is wrong.
fn says_of_region(spoil: impl for<'m> Fn(&'m Module, &mut Region<'m>)) -> String {
    let module = shared();
    let mut found = recognise(&module);
    let [region] = &mut found.regions[..] else {
        panic!("one region");
    };
    assert_eq!(region.verify(), Ok(()));
    spoil(&module, region);
    region.verify().expect_err("it is wrong")
}

fn shared_loop<'a, 'm>(region: &'a mut Region<'m>) -> &'a mut ParallelLoop<'m> {
    let mut parts = region.steps.iter_mut().flat_map(|step| &mut step.parts);
    let found = parts.find_map(|part| match part {
        Part::Share(one) => Some(one),
        Part::One(..) | Part::Each(_) => None,
    });
    found.expect("it has a loop")
}

#[test]
fn regions_that_no_lowering_could_trust_are_not_right() {
    use says_of_region as says;
    let is_undefined = "the body is not defined in this module";
    assert_eq!(
        says(|module, one| one.body = module.function("__kmpc_barrier").expect("it is there")),
        is_undefined
    );
    assert_eq!(
        says(|_, one| one.captures.clear()),
        "the body has 3 parameters for 2 arguments"
    );
    assert_eq!(
        says(|module, one| one.captures[0].value = module.const_i32(1)),
        "capture 0 is no address"
    );
    assert_eq!(
        says(|module, one| one.condition = Some(module.pointer().zero())),
        "its condition is not an integer"
    );
    assert_eq!(
        says(|_, one| one.edges[1].to = Some(9)),
        "a way to a step that there is not"
    );
    assert_eq!(
        says(|_, one| one.edges[1].from = Some(9)),
        "a way to a step that there is not"
    );
    assert_eq!(
        says(|_, one| one.edges[1].sync = Sync::Fork),
        "a fork in the middle"
    );
    assert_eq!(
        says(|_, one| one.edges[1].sync = Sync::Join),
        "a join in the middle"
    );
    assert_eq!(
        says(|_, one| one.edges[0].sync = Sync::Barrier),
        "a barrier in the middle"
    );
    // Its loops, too.
    let behind = "code behind the end of its block";
    let spoil_code = |change: fn(&mut Span<'_>)| {
        says(|_, one| {
            let Body::Code(code) = &mut shared_loop(one).body else {
                panic!("a part of the region");
            };
            change(&mut code.spans[0]);
        })
    };
    assert_eq!(spoil_code(|span| span.to = 99), behind);
    assert_eq!(spoil_code(|span| span.from = span.to + 1), behind);
    let narrow = |_: &Module, one: &mut Region<'_>| {
        if let Space::Range(extents) = &mut shared_loop(one).space {
            extents[0].width = 16;
        }
    };
    assert_eq!(says(narrow), "a loop of 16 bits");
}

/// A loop over a set with a body of two arguments, the second of which gets its element by a map.
fn set_loop(module: &Module) -> ParallelLoop<'_> {
    let mut found = recognise(module);
    let site = found.regions.remove(0).site;
    let value = site.arguments()[0];
    let access = |base, place| Access {
        mode: Mode::Read,
        must: false,
        optional: false,
        stated: true,
        element: Some(Element::NUMBER),
        base,
        place,
    };
    let row = access(Base::Map(1), Place::Own);
    let by_map = Place::Through(Box::new(row), Columns::One(0));
    let argument = |kind| Argument {
        value,
        kind,
        first: 0,
    };
    ParallelLoop {
        origin: Origin::Op2ParLoop,
        site,
        space: Space::Set {
            set: value,
            name: value,
        },
        body: Body::Function(module.function("kernel").expect("it is there")),
        arguments: vec![
            argument(Kind::Number),
            argument(Kind::Data(Storage::ByElement)),
        ],
        schedule: Schedule::Any,
        chunk: None,
        ordered: Some(false),
        description: Description {
            accesses: vec![
                access(Base::Argument(0), Place::Own),
                access(Base::Argument(1), by_map),
            ],
            ..Description::default()
        },
    }
}

fn says_of_loop(spoil: impl for<'m> Fn(&'m Module, &mut ParallelLoop<'m>)) -> String {
    let module = shared();
    let mut one = set_loop(&module);
    assert_eq!(one.verify(), Ok(()));
    spoil(&module, &mut one);
    one.verify().expect_err("it is wrong")
}

#[test]
fn loops_that_no_lowering_could_trust_are_not_right() {
    use says_of_loop as says;
    let code = || Body::Code(Code::default());
    assert_eq!(
        says(|_, one| one.body = code()),
        "arguments of code that is no function"
    );
    assert_eq!(
        says(|module, one| {
            let undefined = module.function("__kmpc_barrier").expect("it is there");
            one.body = Body::Function(undefined);
        }),
        "the body is not defined in this module"
    );
    assert_eq!(
        says(|module, one| {
            let other = module.function("code").expect("it is there");
            one.body = Body::Function(other);
        }),
        "the body has 3 parameters for 2 arguments"
    );
    assert_eq!(
        says(|_, one| one.space = Space::Range(vec![Extent {
            last: None,
            most: None,
            width: 32,
            signed: true,
            counter: None,
        }])),
        "an access of elements of a set in a loop over none"
    );
    let accesses =
        |change: fn(&mut Vec<Access<'_>>)| says(|_, one| change(&mut one.description.accesses));
    assert_eq!(accesses(|all| all.clear()), "argument 0 has 0 accesses");
    assert_eq!(
        accesses(|all| all[1].base = Base::Argument(0)),
        "argument 0 has 2 accesses"
    );
    assert_eq!(
        accesses(|all| all[0].mode = Mode::Write),
        "argument 0: a number is not read"
    );
    assert_eq!(
        accesses(|all| all[0].element = None),
        "argument 0: a number is not read"
    );
    let map = |change: fn(&mut Access<'_>)| {
        says(|_, one| {
            if let Place::Through(map, _) = &mut one.description.accesses[1].place {
                change(map);
            }
        })
    };
    assert_eq!(
        map(|map| map.base = Base::Map(2)),
        "an access by argument 2 of 2"
    );
    assert_eq!(
        map(|map| map.mode = Mode::Write),
        "the map of arg 1 is no map"
    );
    assert_eq!(
        map(|map| {
            let scalar = Scalar {
                bytes: 8,
                form: Form::Signed,
            };
            map.element = Some(Element {
                scalar,
                components: 1,
            });
        }),
        "the map of arg 1 is no map"
    );
}

#[test]
fn what_is_not_right_is_taken_away() {
    let module = shared();
    let mut found = recognise(&module);
    let is_right = |found: &Found<'_>| {
        [
            found.regions.len(),
            found.loops.len(),
            found.refused.len(),
            found.declined.len(),
        ]
    };
    found.loops.extend([set_loop(&module), set_loop(&module)]);
    found.verify();
    assert_eq!(is_right(&found), [1, 2, 0, 0]);
    found.regions[0].captures.clear();
    found.loops[1].description.accesses.clear();
    found.verify();
    assert_eq!(is_right(&found), [0, 1, 1, 1]);
    assert_eq!(
        found.refused[0].reason,
        "this parallel region is not understood: the body has 3 parameters for 2 arguments"
    );
    assert_eq!(
        found.declined[0].reason,
        "this op_par_loop is not understood: argument 0 has 0 accesses"
    );
}

/// A kernel of OKL's: one loop over blocks, and one over the work items of each.
const KERNEL: &str = "
    @outer = private constant [10 x i8] c\"okl.outer\\00\"
    @inner = private constant [10 x i8] c\"okl.inner\\00\"
    @kernel = private constant [11 x i8] c\"okl.kernel\\00\"
    @llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }]
        [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr @kernel, ptr @kernel, i32 1, ptr null }]
    declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
    define void @other() {
        %x = alloca i32
        ret void
    }
    define void @k(i32 %n) {
        %o = alloca i32
        %i = alloca i32
        call void @llvm.var.annotation.p0.p0(ptr %o, ptr @outer, ptr @kernel, i32 1, ptr null)
        store i32 0, ptr %o
        br label %blocks
    blocks:
        %block = load i32, ptr %o
        %is.block = icmp slt i32 %block, %n
        br i1 %is.block, label %in.block, label %end
    in.block:
        call void @llvm.var.annotation.p0.p0(ptr %i, ptr @inner, ptr @kernel, i32 2, ptr null)
        store i32 0, ptr %i
        br label %items
    items:
        %item = load i32, ptr %i
        %is.item = icmp slt i32 %item, 4
        br i1 %is.item, label %in.item, label %no.item
    in.item:
        br label %next.item
    next.item:
        %old.item = load i32, ptr %i
        %new.item = add i32 %old.item, 1
        store i32 %new.item, ptr %i
        br label %items
    no.item:
        br label %next.block
    next.block:
        %old.block = load i32, ptr %o
        %new.block = add i32 %old.block, 1
        store i32 %new.block, ptr %o
        br label %blocks
    end:
        ret void
    }";

#[test]
fn blocks_of_work_items_that_no_lowering_could_trust_are_not_right() {
    let module = OwnModule::parse(KERNEL);
    let says = |spoil: &dyn for<'m> Fn(&'m Module, &mut ParallelLoop<'m>)| {
        let mut found = recognise(&module);
        assert_eq!(found.loops.len(), 1);
        let mut one = found.loops.remove(0);
        assert_eq!(one.verify(), Ok(()));
        spoil(&module, &mut one);
        one.verify().expect_err("it is wrong")
    };
    let extents = |change: fn(&mut Vec<Extent<'_>>)| {
        says(&|_, one| {
            let Space::Range(extents) = &mut one.space else {
                panic!("it counts");
            };
            change(extents);
        })
    };
    assert_eq!(extents(|all| all.clear()), "0 loops in one");
    assert_eq!(
        extents(|all| all.extend_from_within(..)),
        "two loops of one direction"
    );
    assert_eq!(extents(|all| all[0].width = 24), "a loop of 24 bits");
    assert_eq!(
        extents(|all| {
            let counter = all[0].counter.as_mut().expect("a loop of the program");
            counter.exit = counter.body;
        }),
        "a loop that counts somewhere else"
    );
    let region = |change: for<'m> fn(&'m Module, &mut Region<'m>)| {
        says(&|module, one| {
            let Body::Region(region) = &mut one.body else {
                panic!("a team runs it");
            };
            change(module, region);
        })
    };
    assert_eq!(
        region(|_, one| one.captures.push(Capture {
            value: *one.site.callee_function().expect("it is known"),
            by_reference: true
        })),
        "captures of code that is no function"
    );
    assert_eq!(
        region(|module, one| {
            let other = module.function("other").expect("it is there");
            one.locals.push(Local {
                variable: other.instructions()[0],
                kind: LocalKind::Shared,
                site: one.site,
            });
        }),
        "a variable that is none of its body"
    );
}
