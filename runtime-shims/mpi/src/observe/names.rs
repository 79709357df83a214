//! Names of shared memory for messages: those of variables, and for heap blocks the name under which the
//! program last declared an access to them.

use std::{collections::HashMap, sync::Mutex};

use okl_abi::SectionEntry;

use super::asked;
use crate::{layout, program_graph, sections};
use okl_coherence::{PAGE, Page};

/// Names by the start of the block.
static NAMES: Mutex<Option<HashMap<usize, &'static str>>> = Mutex::new(None);

/// Learns how the program calls the object at `start`.
#[inline]
pub(crate) fn declares(start: usize, entry: &SectionEntry) {
    if super::is_asked(asked::DATA | asked::FAULTS) && !entry.object.is_null() {
        let name = program_graph::text(entry.object);
        super::apart(|| {
            let mut names = NAMES.lock().expect("nothing panics here");
            names.get_or_insert_default().insert(start, name);
        });
    }
}

/// The object at a position of the memory file.
pub(super) fn object_at_position(position: u64) -> String {
    let page = (position / PAGE as u64) as Page;
    object_at(layout::layout().address_of(page) + position as usize % PAGE)
}

/// The object at an address.
pub(super) fn object_at(address: usize) -> String {
    if layout::is_arena_address(address)
        && let Some((start, _)) = sections::object_at(address)
    {
        let names = NAMES.lock().expect("nothing panics here");
        if let Some(name) = names.as_ref().and_then(|names| names.get(&start)) {
            return format!("{name} + {}", address - start);
        }
    }
    let text = program_graph::object_at(address);
    match text.contains(" + ") {
        true => text,
        false => format!("{address:#x} in {text}"),
    }
}
