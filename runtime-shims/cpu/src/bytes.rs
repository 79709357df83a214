//! What the threads of a kernel say that they access, as numbers of bytes: each byte counts once, however many work items
//! access it.

use std::ffi::c_void;

use okl_abi::{SectionTable, section_access};
use okl_coherence::geometry::declaration::{entries, pairs, values};
use okl_coherence::geometry::ranges::{Range, Ranges};
use okl_coherence::geometry::shape::Shape;

/// A section in more pieces is not looked at.
const MOST_PIECES: u64 = 1 << 18;

/// What a thread says.
#[derive(PartialEq)]
pub struct Declared {
    /// The address of the table; 0 where the compiler does not know.
    table: usize,
    values: Vec<i64>,
}

impl Declared {
    /// What is declared by a table, whose values the program has computed.
    ///
    /// # Safety
    /// `table` is null, or one of the pass's that stays, and `computed` points to its values.
    pub unsafe fn of(table: *const c_void, computed: *const c_void) -> Self {
        // SAFETY: the caller's promise.
        let values = unsafe { table.cast::<SectionTable>().as_ref() }.map(|table| {
            // SAFETY: the caller's promise.
            unsafe { values(table, computed) }.collect()
        });
        Self {
            table: table.addr(),
            values: values.unwrap_or_default(),
        }
    }

    fn table(&self) -> Option<&SectionTable> {
        let table = std::ptr::with_exposed_provenance::<SectionTable>(self.table);
        // SAFETY: null, or a table that stays: see `of`.
        unsafe { table.as_ref() }
    }
}

/// So many bytes, and whether there are more that the compiler does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    pub known: u64,
    pub are_more: bool,
}

impl Bytes {
    fn of(ranges: Vec<Range>, are_more: bool) -> Self {
        let ranges = Ranges::of(ranges);
        let known = ranges.iter().map(|(start, end)| end - start).sum();
        Self { known, are_more }
    }
}

/// What a call of a kernel reads and writes, of which its threads say this.
pub fn of(all: &[Declared]) -> [Bytes; 2] {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    let mut are_more = [all.is_empty(); 2];
    for one in all {
        let Some(table) = one.table() else {
            are_more = [true; 2];
            continue;
        };
        for (entry, values) in entries(table, &one.values) {
            let (reads, writes) = (
                entry.access & section_access::READ != 0,
                entry.access & section_access::WRITE != 0,
            );
            let is_part = section_access::ANYWHERE | section_access::RELATIVE;
            let shape = Shape::new(values[0] as u64, entry.element, pairs(values));
            let ranges = match shape {
                _ if entry.access & is_part != 0 => None,
                Ok(Some(shape)) if shape.pieces() <= MOST_PIECES => Some(shape.ranges()),
                Ok(None) => continue,
                Ok(Some(_)) | Err(_) => None,
            };
            match ranges {
                Some(ranges) => {
                    read.extend(ranges.iter().filter(|_| reads));
                    written.extend(ranges.iter().filter(|_| writes));
                }
                None => are_more = [are_more[0] | reads, are_more[1] | writes],
            }
        }
    }
    [
        Bytes::of(read, are_more[0]),
        Bytes::of(written, are_more[1]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_abi::{SectionEntry, SectionValue};
    use section_access::{ANYWHERE, BOUND, MAY, READ, RELATIVE, TABLE, WRITE};

    /// What a call reads and writes whose threads declare these tables: an access, bytes of an element, the address, and
    /// strides and counts.
    fn bytes_of(tables: &[&[(i64, i64, &[i64])]]) -> [Bytes; 2] {
        let text = c"".as_ptr().cast_mut().cast::<c_void>();
        let all = tables.iter().map(|table| {
            let entries = table.iter().map(|&(access, element, values)| SectionEntry {
                access,
                element,
                dimensions: (values.len() as i64 - 1) / 2,
                object: text,
                location: text,
            });
            let entries: &[SectionEntry] = entries.collect::<Vec<_>>().leak();
            let computed: &[i64] = table
                .iter()
                .flat_map(|(_, _, values)| *values)
                .copied()
                .collect::<Vec<_>>()
                .leak();
            let values = (0..computed.len()).map(|at| SectionValue {
                computed: at as i64,
                variable: std::ptr::null_mut(),
                constant: 0,
            });
            let values: &[SectionValue] = values.collect::<Vec<_>>().leak();
            let table = Box::leak(Box::new(SectionTable {
                location: text,
                entries: entries.as_ptr().cast_mut().cast(),
                entry_count: entries.len() as i64,
                values: values.as_ptr().cast_mut().cast(),
                value_count: values.len() as i64,
            }));
            // SAFETY: a table that stays, and its values.
            unsafe {
                let table = std::ptr::from_ref(table).expose_provenance();
                let table = std::ptr::with_exposed_provenance::<c_void>(table);
                Declared::of(table, computed.as_ptr().cast())
            }
        });
        of(&all.collect::<Vec<_>>())
    }

    fn exactly(known: u64) -> Bytes {
        Bytes {
            known,
            are_more: false,
        }
    }

    fn at_least(known: u64) -> Bytes {
        Bytes {
            known,
            are_more: true,
        }
    }

    #[test]
    fn each_byte_counts_once() {
        // Two threads, whose parts of a stencil overlap by a row on each side.
        let row = |first: i64, count: i64| [first * 800, 800, count, 8, 100];
        let (one, other) = (row(0, 6), row(4, 6));
        let (own, others) = (row(1, 4), row(5, 4));
        let tables: [&[(i64, i64, &[i64])]; 2] = [
            &[
                (READ | BOUND, 8, &one),
                (READ, 8, &own),
                (WRITE | MAY, 8, &own),
            ],
            &[(READ, 8, &other), (WRITE, 8, &others)],
        ];
        assert_eq!(bytes_of(&tables), [exactly(8000), exactly(6400)]);
    }

    #[test]
    fn what_is_not_known_is_more() {
        let whole = [1000, 4, 10];
        assert_eq!(
            bytes_of(&[&[(READ, 4, &whole), (READ | ANYWHERE, 1, &[5000])]]),
            [at_least(40), exactly(0)]
        );
        // Pointers that are read lead to where nothing is known; that they are read is another entry's.
        let behind = [(READ, 8, &whole[..]), (TABLE, 8, &whole[..])];
        let rows = [behind[0], behind[1], (WRITE | RELATIVE, 8, &[0, 8, 100])];
        assert_eq!(bytes_of(&[&rows]), [exactly(44), at_least(0)]);
        assert_eq!(bytes_of(&[]), [at_least(0), at_least(0)]);
        let none = Declared {
            table: 0,
            values: Vec::new(),
        };
        assert_eq!(of(&[none]), [at_least(0), at_least(0)]);
        // Nothing is accessed, or more pieces than are counted, or more than there can be.
        let of = |stride, count| bytes_of(&[&[(READ, 1, &[64, stride, count])]])[0];
        assert_eq!(of(8, 0), exactly(0));
        assert_eq!(of(8, 1 << 18), exactly(1 << 18));
        assert_eq!(of(8, (1 << 18) + 1), at_least(0));
        assert_eq!(of(8, i64::MAX), at_least(0));
    }
}
