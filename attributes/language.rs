//! The rows of the attributes that OKL is made of. What they mean is not said here: of loops, variables, barriers and atomic
//! code the pass does (`pass/src/recognise/okl`), of everything else the driver (`driver/src/okl`).

use super::{AT_LOOPS, AT_VARIABLES, Attribute, Form, PLAIN, Parentheses, Place, Values};

/// Any number of arguments.
const MANY: usize = usize::MAX;
const AT_ARRAYS: &str = "at a variable, a parameter or a typedef";
const ARRAYS: &[Place] = &[
    Place::Variable,
    Place::Global,
    Place::Parameter,
    Place::Typedef,
];

/// `@kernel`.
pub static KERNEL: Attribute = Attribute {
    name: "kernel",
    places: &[Place::Function],
    stands: "before a function",
    ..PLAIN
};

/// `@outer`, `@outer(AXIS)`.
pub static OUTER: Attribute = Attribute {
    name: "outer",
    values: axis("the axis of '@outer' must be 0, 1 or 2"),
    ..DIVIDES
};

/// `@inner`, `@inner(AXIS)`.
pub static INNER: Attribute = Attribute {
    name: "inner",
    values: axis("the axis of '@inner' must be 0, 1 or 2"),
    ..DIVIDES
};

const DIVIDES: Attribute = Attribute {
    places: &[Place::Loop],
    stands: AT_LOOPS,
    arguments: [0, 1],
    takes: "at most one argument, the axis",
    without: &[-1],
    ..PLAIN
};

const fn axis(must: &'static str) -> Values {
    Values::Integers {
        are: |axis| (0..=2).contains(&axis),
        must,
    }
}

/// `@tile(SIZE, @outer, @inner, check=true)`.
pub static TILE: Attribute = Attribute {
    name: "tile",
    places: &[Place::Loop],
    stands: AT_LOOPS,
    arguments: [1, 4],
    takes: "a size, at most two loops, and 'check=true' or 'check=false'",
    form: Form::Tile,
    ..PLAIN
};

/// `@shared`. At a parameter it says what is passed, which on the processor makes no difference.
pub static SHARED: Attribute = Attribute {
    name: "shared",
    places: &[Place::Variable, Place::Typedef, Place::Parameter],
    stands: "at a variable in a kernel, a parameter or a typedef",
    ..PLAIN
};

/// `@global`, of older programs: what a pointer points to is in nobody's own memory.
pub static GLOBAL: Attribute = Attribute {
    name: "global",
    places: &[
        Place::Variable,
        Place::Global,
        Place::Parameter,
        Place::Field,
        Place::Typedef,
    ],
    stands: "at a variable, a parameter, a field or a typedef",
    form: Form::Nothing,
    ..PLAIN
};

/// `@exclusive`.
pub static EXCLUSIVE: Attribute = Attribute {
    name: "exclusive",
    places: &[Place::Variable, Place::Typedef],
    stands: AT_VARIABLES,
    ..PLAIN
};

/// `@atomic`.
pub static ATOMIC: Attribute = Attribute {
    name: "atomic",
    places: &[Place::Expression, Place::Block],
    stands: "before an expression or a block",
    parentheses: Parentheses::Expression,
    form: Form::Around(["__okl_atomic_begin", "__okl_atomic_end"]),
    ..PLAIN
};

/// `@barrier`, `@barrier("warp")`; of older programs `@barrier("local")` and `@barrier("global")`, which name the memory that
/// everybody sees alike behind it: all of it, as with `@barrier`.
pub static BARRIER: Attribute = Attribute {
    name: "barrier",
    places: &[Place::Null],
    stands: "alone, before a ';'",
    arguments: [0, 1],
    takes: "nothing, \"warp\", \"local\" or \"global\"",
    form: Form::Call(
        "__okl_barrier",
        &[("\"warp\"", 1), ("\"local\"", 0), ("\"global\"", 0)],
    ),
    ..PLAIN
};

/// `@dim(SIZE, ...)`.
pub static DIM: Attribute = Attribute {
    name: "dim",
    places: ARRAYS,
    stands: AT_ARRAYS,
    arguments: [1, MANY],
    takes: "the size of each dimension",
    values: Values::Integers {
        are: |size| size > 0,
        must: "the sizes of '@dim' must be positive integers",
    },
    form: Form::Sizes,
    ..PLAIN
};

/// `@dimOrder(NUMBER, ...)`.
pub static DIM_ORDER: Attribute = Attribute {
    name: "dimOrder",
    places: ARRAYS,
    stands: AT_ARRAYS,
    arguments: [1, MANY],
    takes: "the number of each dimension",
    form: Form::Order,
    ..PLAIN
};

/// `@restrict`.
pub static RESTRICT: Attribute = Attribute {
    name: "restrict",
    places: &[
        Place::Variable,
        Place::Global,
        Place::Parameter,
        Place::Field,
        Place::Typedef,
        Place::Function,
    ],
    stands: "at a variable, a parameter, a field, a typedef or a function",
    form: Form::Restrict,
    ..PLAIN
};

/// `@directive("#pragma X")`.
pub static DIRECTIVE: Attribute = Attribute {
    name: "directive",
    stands: "before a statement or a declaration",
    arguments: [1, 1],
    takes: "one string, such as \"#pragma unroll\"",
    form: Form::Directive,
    ..PLAIN
};
