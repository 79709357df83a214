//! Declarations as the compiler writes them: a table of what a loop nest accesses, and values that the program computes in
//! front of it.

use std::ffi::c_void;

use okl_abi::{SectionEntry, SectionTable, SectionValue};

/// What the compiler knows of the entries of a table.
pub fn entry_list(table: &SectionTable) -> &[SectionEntry] {
    // SAFETY: the pass emits `entry_count` constant entries.
    unsafe { std::slice::from_raw_parts(table.entries.cast(), table.entry_count as usize) }
}

/// What the values of its entries are made of.
pub fn value_list(table: &SectionTable) -> &[SectionValue] {
    // SAFETY: the pass emits `value_count` constants.
    unsafe { std::slice::from_raw_parts(table.values.cast(), table.value_count as usize) }
}

/// Values of an entry: the address, and stride and count of each dimension.
pub fn value_count(entry: &SectionEntry) -> usize {
    1 + 2 * entry.dimensions as usize
}

/// The values of a table's entries, one behind the other.
///
/// # Safety
/// `computed` points to as many values as the table refers to.
pub unsafe fn values(
    table: &SectionTable,
    computed: *const c_void,
) -> impl Iterator<Item = i64> + '_ {
    value_list(table).iter().map(move |value| {
        let computed = match value.computed {
            -1 => 0,
            // SAFETY: the caller's promise.
            at => unsafe { *computed.cast::<i64>().add(at as usize) },
        };
        let variable = value.variable.addr() as i64;
        computed.wrapping_add(variable).wrapping_add(value.constant)
    })
}

/// The entries of a table, each with its values: address, stride and count of each dimension.
pub fn entries<'a>(
    table: &'a SectionTable,
    mut values: &'a [i64],
) -> impl Iterator<Item = (&'a SectionEntry, &'a [i64])> {
    entry_list(table).iter().map(move |entry| {
        let (own, rest) = values.split_at(value_count(entry));
        values = rest;
        (entry, own)
    })
}

/// Stride and count of each dimension, as the values of an entry say.
pub fn pairs(values: &[i64]) -> impl Iterator<Item = (i64, i64)> + '_ {
    let pairs = values[1..].chunks_exact(2);
    pairs.map(|pair| (pair[0], pair[1]))
}
