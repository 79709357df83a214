//! `@unroll` and `@unroll(N)`: what `#pragma unroll` and `#pragma unroll N` are. LLVM writes out the iterations of the loop, all
//! of them where it knows how many there are, or `N` at a time; with 1 it leaves the loop as it is.
//!
//! It is for `@inner` loops and for those that are neither `@inner` nor `@outer`. Threads share the iterations of `@outer` loops:
//! there is nothing to write out.

#[cfg(okl_pass)]
use super::Semantics;
use super::{AT_LOOPS, Attribute, LoopKind, PLAIN, Place, Values};

/// The attribute.
pub static UNROLL: Attribute = Attribute {
    name: "unroll",
    places: &[Place::Loop],
    stands: AT_LOOPS,
    loops: &[LoopKind::Inner, LoopKind::Regular],
    arguments: [0, 1],
    takes: "at most one argument, how many iterations are written out",
    values: Values::Integers {
        are: |count| count > 0,
        must: "the argument of '@unroll' must be a positive integer",
    },
    #[cfg(okl_pass)]
    semantics: Semantics {
        check: pass::check,
        check_kernel: pass::check_kernel,
        lower: pass::lower,
    },
    ..PLAIN
};

#[cfg(okl_pass)]
mod pass {
    use crate::recognise::okl::{Kernel, Use, Wrong};

    /// What LLVM calls all options of this kind.
    const UNROLL: &str = "llvm.loop.unroll.";
    /// The one that clang gives all loops for which it is not to be done, as with `-O1`.
    const DISABLE: &str = "llvm.loop.unroll.disable";
    /// Copies of a body in all loops around it. LLVM itself writes out no more instructions than that in one loop.
    const MOST_COPIES: i64 = 16_384;

    /// The option of the loop, and its number, as clang has them for the pragma.
    fn option(one: &Use<'_>) -> (String, Option<u32>) {
        let (name, number) = match one.numbers[..] {
            [] => ("enable", None),
            [1, ..] => ("disable", None),
            // Larger numbers are wrong in any case.
            [count, ..] => ("count", Some(u32::try_from(count).unwrap_or(u32::MAX))),
        };
        (format!("{UNROLL}{name}"), number)
    }

    /// A pragma at the same loop that says something else.
    pub fn check<'m>(kernel: &Kernel<'m>, one: &Use<'m>) -> Option<String> {
        let (name, number) = option(one);
        let differs = one.ends().into_iter().any(|end| {
            let said = end.loop_options(kernel.module).into_iter();
            let mut said = said.filter(|said| said.starts_with(UNROLL) && said != DISABLE);
            let its = end.loop_option(kernel.module, &name).flatten();
            let its = its.and_then(|its| its.as_constant_int());
            said.any(|said| said != name || its != number.map(i64::from))
        });
        let told = "a #pragma at this loop says something else than @unroll: one of them has to go";
        differs.then(|| told.to_string())
    }

    /// Loops one in the other that come to more copies of the innermost body than anybody wants.
    pub fn check_kernel<'m>(_: &Kernel<'m>, all: &[&Use<'m>]) -> Vec<Wrong<'m>> {
        let copies = |one: &&Use<'m>| one.numbers.first().copied().or(one.count()).unwrap_or(1);
        let wrong = all.iter().find_map(|one| {
            let around = all.iter().copied().filter(|other| other.has(one));
            let product = around.map(|other| copies(&other)).fold(1, i64::saturating_mul);
            let told = format!(
                "@unroll asks for {product} copies of the body of this loop, with the loops around it: there are at most \
                 {MOST_COPIES}"
            );
            (product > MOST_COPIES).then_some((one.site, told))
        });
        wrong.into_iter().collect()
    }

    /// Says so of the loop, whatever becomes of it afterwards.
    pub fn lower<'m>(kernel: &Kernel<'m>, one: &Use<'m>) {
        let (name, number) = option(one);
        for end in one.ends() {
            if end.loop_option(kernel.module, &name).is_some() {
                continue;
            }
            if end.loop_option(kernel.module, DISABLE).is_some() {
                end.remove_loop_option(kernel.module, DISABLE);
            }
            end.add_loop_option(&name, number);
        }
    }
}
