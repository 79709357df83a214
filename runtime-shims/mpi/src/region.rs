//! The region that the calling thread runs, as messages name it.

use std::cell::Cell;

use crate::report;

thread_local! {
    static LOCATION: Cell<Option<&'static str>> = const { Cell::new(None) };
    static DISTRIBUTED: Cell<bool> = const { Cell::new(false) };
}

/// Notes where the innermost team was entered, as far as that is known.
pub(crate) fn set_location(location: Option<&'static str>) {
    LOCATION.set(location);
}

/// Notes whether the thread runs a distributed region.
pub(crate) fn set_distributed(distributed: bool) {
    DISTRIBUTED.set(distributed);
}

/// Whether a distributed region is running.
#[inline]
pub(crate) fn is_distributed() -> bool {
    DISTRIBUTED.get()
}

/// Where the innermost distributed region was entered.
pub(crate) fn location() -> &'static str {
    LOCATION.get().unwrap_or("serial code")
}

/// The innermost distributed region, as a phrase for messages.
pub(crate) fn name() -> String {
    match LOCATION.get() {
        Some(location) => format!("the parallel region {}", report::at(location)),
        None => "serial code".to_owned(),
    }
}
