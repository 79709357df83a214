//! What all threads write together in a worksharing loop. A read that may be anywhere in an object is none of what another
//! thread writes there for sure: nothing would tell which of the two comes first.
//!
//! Guarantee: between the read and such a write there is no order: the threads of the region wait for each other at
//! barriers alone.

use super::entry::entry_of;
use super::{Entry, Quantity, Scan, What};
use crate::analysis::call_graph::reached;
use crate::analysis::library::is_mathematics;
use crate::analysis::nests::{Extent, Scope, Term};
use crate::analysis::runtime;
use crate::llvm::{Function, Instruction, Opcode, Value};
use okl_abi::Effects;

impl<'m> Scan<'m> {
    /// What all threads write together of the objects that a nest reads it is not known where; `entries` say what it does in
    /// its share.
    pub(super) fn written_by_all(&self, entries: &[Entry<'m>], nest: usize) -> Vec<Entry<'m>> {
        let nests = &self.out.nests;
        let base = |one: &Entry<'m>| nests.base(term(one.address)?);
        let is_inexact = |one: &&Entry<'m>| one.what.is_read() && !one.what.is_exact_read();
        let read: Vec<Value<'m>> = entries.iter().filter(is_inexact).filter_map(base).collect();
        let is_one = |one: &&Entry<'m>| {
            let is_plain = one.what.is_exact_write() && one.table.is_none();
            is_plain && base(one).is_some_and(|base| read.contains(&base))
        };
        let written: Vec<&Entry<'m>> = entries.iter().filter(is_one).collect();
        if written.is_empty() || !self.is_body || !has_barriers_alone(self.out.function) {
            return Vec::new();
        }
        let Some(share) = nests.share(nest) else {
            return Vec::new();
        };
        let of_all = written.into_iter().filter_map(|one| {
            let dimensions = one.dimensions.iter();
            let dimensions: Option<Vec<_>> = dimensions
                .map(|&(stride, count)| Some((term(stride)?, term(count)?)))
                .collect();
            let scope = Scope::Loop(nest);
            let address = term(one.address)?;
            let all = nests.of_all_shares(address, &dimensions?, &share, scope)?;
            let all = entry_of(nests, Extent::Section(all), true, one.element, one.at).ok()?;
            Some(Entry {
                what: What::ByAll,
                ..all
            })
        });
        of_all.collect()
    }
}

fn term<'m>(quantity: Quantity<'m>) -> Option<Term<'m>> {
    match quantity {
        Quantity::Term(term) => Some(term),
        Quantity::Value(_) | Quantity::Constant(_) | Quantity::Places(_) => None,
    }
}

/// Whether nothing that a region does orders its threads but barriers.
fn has_barriers_alone(body: Function<'_>) -> bool {
    let reached = reached(body);
    let mut all = reached.iter().flat_map(|function| function.instructions());
    all.all(orders_nothing)
}

fn orders_nothing(at: Instruction<'_>) -> bool {
    const HARMLESS: Effects = Effects::HIDDEN
        .and(Effects::SHARES)
        .and(Effects::ENDS_SHARE)
        .and(Effects::ASKS)
        .and(Effects::BARRIER);
    const ORDERING: Effects = Effects::ATOMIC
        .and(Effects::UNPLAIN)
        .and(Effects::REDUCES)
        .and(Effects::FLUSHES)
        .and(Effects::DEALS)
        .and(Effects::ENTERS)
        .and(Effects::LEAVES)
        .and(Effects::FORKS)
        .and(Effects::YIELDS);
    match at.opcode() {
        Opcode::LLVMCall | Opcode::LLVMInvoke => {}
        Opcode::LLVMCallBr | Opcode::LLVMFence => return false,
        _ => return !at.is_atomic_access() && !at.is_volatile(),
    }
    let Some(callee) = (*at).as_call().and_then(|call| call.callee_function()) else {
        return false;
    };
    let name = callee.name();
    match runtime::function_of(&name) {
        Some(function) => {
            let effects = function.effects;
            effects.has_some(HARMLESS) && !effects.has_some(ORDERING)
        }
        None => !callee.is_declaration() || callee.is_intrinsic() || is_mathematics(&name),
    }
}
