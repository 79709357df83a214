//! Pointers that step through an array from turn to turn, as in what combines array sections: where they begin.

use crate::llvm::{Module, Opcode, Value};

/// So many loops lie in each other at most.
const MOST_NESTED: usize = 8;

/// What an address leads to, also one that steps.
pub(super) fn object(address: Value<'_>) -> Value<'_> {
    let mut object = address.underlying_object();
    for _ in 0..MOST_NESTED {
        match start(object) {
            Some(start) => object = start.underlying_object(),
            None => break,
        }
    }
    object
}

/// The address, as a distance from another one, that an address is at first.
pub(super) fn first<'d>(module: &'d Module, address: Value<'d>) -> (Value<'d>, i64) {
    let (mut base, mut bytes) = address.offset_in_object(module);
    for _ in 0..MOST_NESTED {
        let Some(start) = start(base) else { break };
        let (its, more) = start.offset_in_object(module);
        (base, bytes) = (its, bytes + more);
    }
    (base, bytes)
}

/// What a pointer is in the first turn that is made of itself in the others.
fn start(pointer: Value<'_>) -> Option<Value<'_>> {
    let phi = pointer.as_op(Opcode::LLVMPHI)?;
    let own = phi.incoming().into_iter().map(|(value, _)| value);
    let mut others = own.filter(|value| value.underlying_object() != *phi);
    let start = others.next()?;
    others.all(|value| value == start).then_some(start)
}
