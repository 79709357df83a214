//! `@max_inner_dims(X, Y, Z)` at the outermost `@outer` loop: in each direction a block has no more work items than that. It is
//! what there is room for where the compiler does not see how many there are (`Kernel::most_items` in
//! `pass/src/recognise/okl.rs`).

#[cfg(okl_pass)]
use super::Semantics;
use super::{AT_LOOPS, Attribute, LoopKind, PLAIN, Place, Values};

/// The attribute.
pub static MAX_INNER_DIMS: Attribute = Attribute {
    name: "max_inner_dims",
    places: &[Place::Loop],
    stands: AT_LOOPS,
    loops: &[LoopKind::Outer],
    arguments: [1, 3],
    takes: "one to three sizes",
    values: Values::Integers {
        are: |size| size > 0,
        must: "the arguments of '@max_inner_dims' must be positive integers",
    },
    #[cfg(okl_pass)]
    semantics: Semantics {
        check: |kernel, one| kernel.is_not_outermost(one),
        check_kernel: pass::check_kernel,
        ..Semantics::NONE
    },
    ..PLAIN
};

#[cfg(okl_pass)]
mod pass {
    use crate::recognise::okl::{Kernel, Kind, Use, Wrong};

    /// Inner loops with more iterations than the program says: of each nest the first one in a direction.
    pub fn check_kernel<'m>(kernel: &Kernel<'m>, _: &[&Use<'m>]) -> Vec<Wrong<'m>> {
        let mut told_of = Vec::new();
        let mut wrong = Vec::new();
        for at in kernel.of_kind(Kind::Inner) {
            let (outermost, axis) = (kernel.outermost_of(at), kernel.axes[at]);
            let most = kernel.most_items(outermost, axis);
            let Some((count, most)) = kernel.loops[at].count.zip(most) else {
                continue;
            };
            if count > most && !told_of.contains(&(outermost, axis)) {
                told_of.push((outermost, axis));
                let told = format!(
                    "this @inner loop has {count} iterations, and @max_inner_dims says {most}"
                );
                wrong.push((kernel.loops[at].site, told));
            }
        }
        wrong
    }
}
