//! Timers of sections of a program, one inside the other, which the program starts and stops by name.

use std::{ffi::c_char, fmt::Write, sync::Mutex};

use crate::{
    report::{fatal, print, text, write_file},
    times::now,
    waiting,
};

/// A section, by where it was entered from.
struct Section {
    name: String,
    count: u64,
    seconds: f64,
    inside: Vec<Section>,
}

struct Profile {
    root: Section,
    /// From the root to where the program is: position in the section before, and when it was entered.
    open: Vec<(usize, f64)>,
    started: Option<f64>,
}

static PROFILE: Mutex<Option<Profile>> = Mutex::new(None);

impl Section {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            count: 0,
            seconds: 0.0,
            inside: Vec::new(),
        }
    }

    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
    }

    fn table(&self, depth: usize, whole: f64, out: &mut String) {
        let share = if whole > 0.0 {
            self.seconds / whole * 100.0
        } else {
            0.0
        };
        let name = format!("{}{}", "  ".repeat(depth), self.name);
        let _ = writeln!(
            out,
            "  {name:<40} {:>8} {:>10.4} s {share:>6.2} %",
            self.count, self.seconds
        );
        for one in &self.inside {
            one.table(depth + 1, whole, out);
        }
    }

    fn json(&self) -> String {
        let inside: Vec<_> = self.inside.iter().map(Section::json).collect();
        format!(
            "{{\"name\":{:?},\"count\":{},\"seconds\":{},\"children\":[{}]}}",
            self.name,
            self.count,
            self.seconds,
            inside.join(",")
        )
    }
}

impl Profile {
    fn here(&mut self) -> &mut Section {
        let mut section = &mut self.root;
        for &(at, _) in &self.open {
            section = &mut section.inside[at];
        }
        section
    }

    fn enter(&mut self, name: &str) {
        let inside = &mut self.here().inside;
        let found = inside.iter().position(|one| one.name == name);
        let at = found.unwrap_or_else(|| {
            inside.push(Section::new(name));
            inside.len() - 1
        });
        self.open.push((at, now()));
    }

    fn exit(&mut self) {
        let Some(&(_, entered)) = self.open.last() else {
            fatal("op_profile_exit: no section is entered");
        };
        self.here().add(now() - entered);
        self.open.pop();
    }
}

/// With the profile, if the program has started one.
fn with<R>(body: impl FnOnce(&mut Profile) -> R) -> Option<R> {
    PROFILE
        .lock()
        .expect("no panic while it is locked")
        .as_mut()
        .map(body)
}

/// Starts timing the program as `name`.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_profile_start(name: *const c_char) {
    waiting::run_for("op_profile_start");
    *PROFILE.lock().expect("no panic while it is locked") = Some(Profile {
        // SAFETY: the caller's promise.
        root: Section::new(unsafe { text(name) }),
        open: Vec::new(),
        started: Some(now()),
    });
}

/// Enters a section. Nothing happens before `op_profile_start`.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_profile_enter(name: *const c_char) {
    waiting::run_for("op_profile_enter");
    // SAFETY: the caller's promise.
    with(|profile| profile.enter(unsafe { text(name) }));
}

/// Enters the section of a kernel.
///
/// # Safety
/// All are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_profile_enter_kernel(
    name: *const c_char,
    _target: *const c_char,
    _variant: *const c_char,
) {
    waiting::run_for("op_profile_enter_kernel");
    // SAFETY: the caller's promise.
    unsafe { op_profile_enter(name) };
}

/// Leaves the section and enters the next one beside it.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_profile_next(name: *const c_char) {
    waiting::run_for("op_profile_next");
    with(|profile| {
        profile.exit();
        // SAFETY: the caller's promise.
        profile.enter(unsafe { text(name) });
    });
}

/// Leaves the section.
#[unsafe(no_mangle)]
pub extern "C" fn op_profile_exit() {
    waiting::run_for("op_profile_exit");
    with(Profile::exit);
}

/// Ends timing the program.
#[unsafe(no_mangle)]
pub extern "C" fn op_profile_end() {
    waiting::run_for("op_profile_end");
    with(|profile| {
        while !profile.open.is_empty() {
            profile.exit();
        }
        if let Some(started) = profile.started.take() {
            profile.root.add(now() - started);
        }
    });
}

/// Prints the sections.
#[unsafe(no_mangle)]
pub extern "C" fn op_profile_output() {
    waiting::run_for("op_profile_output");
    with(|profile| {
        let mut out = String::new();
        profile.root.table(0, profile.root.seconds, &mut out);
        print(out.trim_end());
        if let Ok(file) = std::env::var("OP_PROFILE_JSON_OUTPUT") {
            write_file("op_profile_output", &file, profile.root.json().as_bytes());
        }
    });
}

/// Writes the sections as JSON.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_profile_output_json(file: *const c_char) {
    waiting::run_for("op_profile_output_json");
    with(|profile| {
        // SAFETY: the caller's promise.
        let file = unsafe { text(file) };
        write_file(
            "op_profile_output_json",
            file,
            profile.root.json().as_bytes(),
        );
    });
}
