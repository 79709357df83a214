//! Which code is tracked because of what it calls in other files.

use std::fmt::Write;

use super::is_asked;
use crate::{cell::ProgramCell, mpi_job, settings::asked};

static NOTED: ProgramCell<Vec<(&'static str, String)>> = ProgramCell::new(Vec::new());

/// Notes that code at `location` is tracked, and why: a sentence without its end.
pub(crate) fn note(location: &'static str, why: impl FnOnce() -> String) {
    if is_asked(asked::STATS) && mpi_job::rank() == 0 {
        NOTED.with(|noted| {
            if noted.iter().all(|one| one.0 != location) {
                noted.push((location, why()));
            }
        });
    }
}

/// The list, on rank 0; empty where there is none.
pub(super) fn text() -> String {
    let mut noted = NOTED.with(std::mem::take);
    if noted.is_empty() {
        return String::new();
    }
    noted.sort();
    let mut text = String::from("okl: pages are tracked while this runs\n");
    for (location, why) in noted {
        writeln!(text, "  {location}: {why}").expect("writing to a string");
    }
    text
}
