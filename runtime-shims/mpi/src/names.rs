//! Names of shared memory for messages: those of variables, and for heap blocks the name under which the
//! program last declared an access to them.

use std::{collections::HashMap, sync::Mutex};

use okl_abi::SectionEntry;

use crate::{layout, objects, observe, program_graph, settings::asked};

/// Names by the start of the block.
static NAMES: Mutex<Option<HashMap<usize, &'static str>>> = Mutex::new(None);

/// Learns how the program calls the object at `start`.
#[inline]
pub(crate) fn declares(start: usize, entry: &SectionEntry) {
    if observe::is_asked(asked::DATA | asked::FAULTS) && !entry.object.is_null() {
        let name = program_graph::text(entry.object);
        observe::apart(|| {
            let mut names = NAMES.lock().expect("nothing panics here");
            names.get_or_insert_default().insert(start, name);
        });
    }
}

/// The object at an address.
pub(crate) fn object_at(address: usize) -> String {
    if layout::is_arena_address(address)
        && let Some((start, _)) = objects::object_at(address)
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
