//! `@nobarrier` at an `@inner` loop: nobody waits at its end. The loop itself knows (`pass/src/recognise/okl/loops.rs`).

use super::{AT_LOOPS, Attribute, LoopKind, PLAIN, Place};

/// The attribute.
pub static NOBARRIER: Attribute = Attribute {
    name: "nobarrier",
    places: &[Place::Loop],
    stands: AT_LOOPS,
    loops: &[LoopKind::Inner],
    ..PLAIN
};
