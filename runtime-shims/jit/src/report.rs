//! Tells, in the end, which versions there were, where the user asks for statistics.

use std::sync::Once;

use crate::lock::Lock;
use crate::settings::settings;

/// Something that is told of.
pub trait Tells: Sync {
    /// Lines.
    fn tell(&self) -> String;
}

static ALL: Lock<Vec<&'static dyn Tells>> = Lock::new(Vec::new());

/// Something is to be told of.
pub fn add(one: &'static dyn Tells) {
    static AT_END: Once = Once::new();
    if let Some(mut all) = ALL.hold() {
        all.push(one);
    }
    if settings().tells {
        AT_END.call_once(|| {
            // SAFETY: a function that does not unwind.
            unsafe { libc::atexit(tell) };
        });
    }
}

extern "C" fn tell() {
    let Some(all) = ALL.hold() else { return };
    let text: String = all.iter().map(|one| one.tell()).collect();
    eprint!("{text}");
}
