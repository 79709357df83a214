//! What the runtime tells the user: one readable message, then the end of the job.

use std::convert::Infallible;

use okl_job::{
    end::{self, Speaker},
    report,
};

use crate::scopes;

pub(crate) use okl_job::end::share_last_words;

/// Ends the job with `message`, of which the rank is told. Of several ranks of a node that do so at once, one tells its
/// message.
pub(crate) fn fatal(message: &str) -> ! {
    match scopes::private(|| -> Infallible { end::fatal(message, Speaker::Rank) }) {}
}

/// Ends a program whose `main` did not start a job although `part` of it needs one.
pub(crate) fn not_started(part: &str) -> ! {
    fatal(&format!(
        "{part} was compiled for the ranks of an MPI job, but main was not: compile the file of main with the plugin and \
         with -fopenmp, or this one with -mllvm -okl-target=cpu"
    ))
}

/// A source place as the continuation of a phrase. Without debug information a place is a function.
pub(crate) fn at(place: &str) -> String {
    if place.starts_with("in ") {
        place.to_owned()
    } else {
        format!("at {place}")
    }
}

/// Tells `message`, which names the rank.
pub(crate) fn warn(message: &str) {
    report::say_of(end::rank(), message);
}
