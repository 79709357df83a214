//! `@simd_length(N)` at the outermost `@outer` loop: a hint for devices, which the processor does without.

#[cfg(okl_pass)]
use super::Semantics;
use super::{AT_LOOPS, Attribute, LoopKind, PLAIN, Place, Values};

/// The attribute.
pub static SIMD_LENGTH: Attribute = Attribute {
    name: "simd_length",
    places: &[Place::Loop],
    stands: AT_LOOPS,
    loops: &[LoopKind::Outer],
    arguments: [1, 1],
    takes: "one argument, the number of lanes",
    values: Values::Integers {
        are: |lanes| lanes > 0,
        must: "the arguments of '@simd_length' must be positive integers",
    },
    #[cfg(okl_pass)]
    semantics: Semantics {
        check: |kernel, one| kernel.is_not_outermost(one),
        ..Semantics::NONE
    },
    ..PLAIN
};
