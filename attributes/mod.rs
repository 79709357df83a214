//! The attributes of OKL: a row of one table for each. One that means something of its own to the compiler has a file of its
//! own here: its row, what kernels have to be like that use it, and what becomes of it. [`language`] has the rows of those that
//! OKL is made of, whose meaning is what the driver and the pass do.
//!
//! This folder is a module of the driver as well as of the pass. The driver takes from a row where the attribute may stand
//! in a text and what its arguments may be, and makes an annotation of it; the pass holds the same against annotations,
//! whoever has written them. What stands behind `#[cfg(okl_pass)]` the pass alone sees, in terms of its nodes of LLVM's code.
//!
//! `docs/okl-attributes.md` says how to write one.

pub mod language;
pub mod max_inner_dims;
pub mod nobarrier;
mod simd_length;
mod unroll;

#[cfg(okl_pass)]
use crate::recognise::okl::{Kernel, Use, Wrong};

/// The attributes.
pub static ATTRIBUTES: &[&Attribute] = &[
    &language::KERNEL,
    &language::OUTER,
    &language::INNER,
    &language::TILE,
    &nobarrier::NOBARRIER,
    &max_inner_dims::MAX_INNER_DIMS,
    &simd_length::SIMD_LENGTH,
    &unroll::UNROLL,
    &language::SHARED,
    &language::EXCLUSIVE,
    &language::GLOBAL,
    &language::ATOMIC,
    &language::BARRIER,
    &language::DIM,
    &language::DIM_ORDER,
    &language::RESTRICT,
    &language::DIRECTIVE,
];

/// An attribute.
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What it may stand at.
    pub places: &'static [Place],
    /// The same in words: "it must stand ...".
    pub stands: &'static str,
    /// The kinds of loops that it is for; none where it is for any, or for none.
    pub loops: &'static [LoopKind],
    /// How many arguments it has, at least and at most.
    pub arguments: [usize; 2],
    /// The same in words: "it takes ...".
    pub takes: &'static str,
    /// What its arguments have to be.
    pub values: Values,
    /// The numbers of its annotation where it has no arguments.
    pub without: &'static [i64],
    /// Whose parentheses follow it.
    pub parentheses: Parentheses,
    /// What it becomes in C++.
    pub form: Form,
    /// What it means to the pass, if that is not the pass's own affair.
    #[cfg(okl_pass)]
    pub semantics: Semantics,
}

/// What rows say that say nothing else: an annotation without arguments, in which the pass finds nothing to do.
pub const PLAIN: Attribute = Attribute {
    name: "",
    places: &[],
    stands: "",
    loops: &[],
    arguments: [0, 0],
    takes: "no arguments",
    values: Values::Other,
    without: &[],
    parentheses: Parentheses::Own,
    form: Form::Annotation,
    #[cfg(okl_pass)]
    semantics: Semantics::NONE,
};

/// What an attribute stands before or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A `for` loop.
    Loop,
    /// A block.
    Block,
    /// A lone `;`.
    Null,
    /// An expression and its `;`.
    Expression,
    /// A variable in a function.
    Variable,
    /// A variable outside all functions, or a static one of a class.
    Global,
    /// A parameter of a function.
    Parameter,
    /// A field of a class.
    Field,
    /// A name for a type.
    Typedef,
    /// A function, or what it returns.
    Function,
}

/// For [`Attribute::stands`], of loops.
pub const AT_LOOPS: &str = "before a 'for' loop or in its fourth clause";
/// The same of variables of kernels: [`Place::Variable`] and [`Place::Typedef`].
pub const AT_VARIABLES: &str = "at a variable in a kernel, or at a typedef";

/// What a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `@outer`.
    Outer,
    /// `@inner`.
    Inner,
    /// Neither.
    Regular,
}

impl LoopKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            LoopKind::Outer => "@outer",
            LoopKind::Inner => "@inner",
            LoopKind::Regular => "regular",
        }
    }
}

/// What arguments have to be.
pub enum Values {
    /// Integers that the compiler knows.
    Integers {
        /// Which of them are right.
        are: fn(i64) -> bool,
        /// What is said of others.
        must: &'static str,
    },
    /// Something else, which the driver sees to.
    Other,
}

/// What an attribute becomes in C++.
pub enum Form {
    /// `annotate("okl.NAME", NUMBERS)` of the loop's iterator, or of what is declared.
    Annotation,
    /// That of a tile.
    Tile,
    /// A call in place of the attribute, with the number of its argument, or 0 where it has none.
    Call(&'static str, &'static [(&'static str, i64)]),
    /// Calls before and behind: the first is told whether that is a block.
    Around([&'static str; 2]),
    /// `__restrict`.
    Restrict,
    /// Nothing: on the processor it makes no difference.
    Nothing,
    /// The sizes of a multi-dimensional array.
    Sizes,
    /// The order of its dimensions.
    Order,
    /// A line for the preprocessor.
    Directive,
}

/// Whether parentheses behind an attribute are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parentheses {
    /// They are.
    Own,
    /// Only if nothing is in them, or what follows begins anew: else they belong to the expression.
    Expression,
}

/// What an attribute at loops or variables of kernels means to the pass. What is wrong is an error at its line, and nothing is
/// lowered then.
#[cfg(okl_pass)]
pub struct Semantics {
    /// What is wrong with one, at the loop or the variable where it stands.
    pub check: for<'m> fn(&Kernel<'m>, &Use<'m>) -> Option<String>,
    /// What is wrong in a kernel, with all of them that it has.
    pub check_kernel: for<'m> fn(&Kernel<'m>, &[&Use<'m>]) -> Vec<Wrong<'m>>,
    /// Does what one asks for, on the processor, before anything else of the kernel is lowered. It cannot fail.
    pub lower: for<'m> fn(&Kernel<'m>, &Use<'m>),
}

#[cfg(okl_pass)]
impl Semantics {
    /// Nothing.
    pub const NONE: Self = Self {
        check: |_, _| None,
        check_kernel: |_, _| Vec::new(),
        lower: |_, _| {},
    };
}

/// The row of an attribute.
pub fn named(name: &str) -> Option<&'static Attribute> {
    let all = ATTRIBUTES.iter().copied();
    #[cfg(test)]
    let all = all.chain([&tests::PROBE]);
    let mut all = all;
    all.find(|one| one.name == name)
}

impl Attribute {
    /// Which of the loops that one becomes it belongs to, the outer one first: the innermost that may have it, and of `@outer`
    /// loops the outermost. A loop that stays one is the only one.
    pub fn belongs_to(&self, loops: &[LoopKind]) -> Option<usize> {
        let fits = |kind: &LoopKind| self.loops.is_empty() || self.loops.contains(kind);
        match self.loops.contains(&LoopKind::Outer) {
            true => loops.iter().position(fits),
            false => loops.iter().rposition(fits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attribute of variables, which only tests know: 7 is wrong, and the variable is called `probed` in the end.
    pub static PROBE: Attribute = Attribute {
        name: "probe",
        places: &[Place::Variable, Place::Typedef],
        stands: AT_VARIABLES,
        arguments: [1, 2],
        takes: "one or two numbers",
        values: Values::Integers {
            are: |number| number > 0,
            must: "the arguments of '@probe' must be positive integers",
        },
        #[cfg(okl_pass)]
        semantics: Semantics {
            check: |_, one| one.numbers.contains(&7).then(|| "7 is wrong".to_string()),
            check_kernel: |_, all| {
                let last = all.last().filter(|_| all.len() > 1).into_iter();
                last.map(|one| (one.site, "once is enough".to_string()))
                    .collect()
            },
            lower: |_, one| one.variable.set_name("probed"),
        },
        ..PLAIN
    };

    #[test]
    fn every_attribute_stands_somewhere_and_has_a_name_of_its_own() {
        for (at, one) in ATTRIBUTES.iter().enumerate() {
            assert!(ATTRIBUTES[..at].iter().all(|other| other.name != one.name));
            let is_directive = matches!(one.form, Form::Directive);
            assert_eq!(one.places.is_empty(), is_directive, "{}", one.name);
            let is_for_loops = one.places.contains(&Place::Loop);
            assert_eq!(one.stands == AT_LOOPS, is_for_loops, "{}", one.name);
            assert!(one.loops.is_empty() || is_for_loops, "{}", one.name);
        }
    }

    #[test]
    fn an_attribute_at_a_tile_belongs_to_the_innermost_loop_that_may_have_it() {
        use LoopKind::{Inner, Outer, Regular};
        for (name, loops, belongs) in [
            ("nobarrier", [Outer, Inner], Some(1)),
            ("nobarrier", [Inner, Regular], Some(0)),
            ("nobarrier", [Outer, Regular], None),
            ("simd_length", [Outer, Outer], Some(0)),
            ("simd_length", [Regular, Outer], Some(1)),
            ("unroll", [Outer, Inner], Some(1)),
            ("unroll", [Inner, Regular], Some(1)),
            ("unroll", [Outer, Outer], None),
        ] {
            let row = named(name).expect("it is there");
            assert_eq!(row.belongs_to(&loops), belongs, "{name} {loops:?}");
        }
    }
}
