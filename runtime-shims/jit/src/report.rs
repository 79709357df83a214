//! Tells, in the end, which versions there were, where the user asks for statistics.

use std::sync::{Mutex, Once};

use crate::settings::settings;

/// Something that is told of.
pub(crate) trait Tells: Sync {
    /// Lines.
    fn tell(&self) -> String;
}

static ALL: Mutex<Vec<&'static dyn Tells>> = Mutex::new(Vec::new());

/// Something is to be told of.
pub(crate) fn add(one: &'static dyn Tells) {
    static AT_END: Once = Once::new();
    if let Ok(mut all) = ALL.lock() {
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
    let Ok(all) = ALL.lock() else { return };
    let text: String = all.iter().map(|one| one.tell()).collect();
    eprint!("{text}");
}
