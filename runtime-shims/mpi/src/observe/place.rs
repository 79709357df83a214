//! Places in the source, as cheap as they come, and their text when it is wanted.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_void},
    sync::Mutex,
};

use crate::symbolise;

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// `file:line`, or `in function f`.
    Text(&'static str),
    /// The address of an instruction.
    Code(usize),
}

/// What the compiler passes to the OpenMP runtime to say where a construct is (`ident_t`).
#[repr(C)]
struct Ident {
    reserved: [i32; 4],
    /// `;file;function;line;column;;`, NUL-terminated.
    source: *const c_char,
}

impl Place {
    /// The place of the construct that `ident` describes; that of the region where it does not say.
    pub(crate) fn of_construct(ident: *mut c_void) -> Self {
        // SAFETY: null, or the constant that the compiler emits.
        let text = unsafe {
            let ident = ident.cast::<Ident>().as_ref();
            ident
                .filter(|ident| !ident.source.is_null())
                .and_then(|ident| CStr::from_ptr(ident.source).to_str().ok())
        };
        Self::Text(text.and_then(known).unwrap_or_else(super::region))
    }

    /// In words: `file:line`, without folders, or `in function f`.
    pub(crate) fn text(self) -> String {
        static KNOWN: Mutex<Option<HashMap<usize, String>>> = Mutex::new(None);
        match self {
            Self::Text(text) => without_folders(text).to_owned(),
            Self::Code(address) => {
                let mut known = KNOWN.lock().expect("nothing panics here");
                let known = known.get_or_insert_default().entry(address);
                // It reads and writes for the program.
                let look_up = || match symbolise::is_own(address) {
                    true => Some("in okl's run time".to_owned()),
                    false => symbolise::location_of(address),
                };
                known
                    .or_insert_with(|| look_up().unwrap_or_else(|| format!("{address:#x}")))
                    .clone()
            }
        }
    }
}

/// `file:line` as the symboliser says it. What is in a function has no folders.
fn without_folders(text: &str) -> &str {
    match text.starts_with("in ") {
        true => text,
        false => text.rsplit('/').next().unwrap_or(text),
    }
}

/// `file:line` of a construct's description, made once for each.
fn known(source: &'static str) -> Option<&'static str> {
    static KNOWN: Mutex<Option<HashMap<usize, Option<&'static str>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().expect("nothing panics here");
    *known
        .get_or_insert_default()
        .entry(source.as_ptr() as usize)
        .or_insert_with(|| of_source(source).map(|text| &*text.leak()))
}

/// `file:line` of `;file;function;line;column;;`. `None` where there is no debug information.
fn of_source(source: &str) -> Option<String> {
    let mut fields = source.split(';').skip(1);
    let (file, _function, line) = (fields.next()?, fields.next()?, fields.next()?);
    (line.parse::<u32>().ok()? > 0).then(|| format!("{file}:{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_constructs_have_lines_with_debug_information() {
        assert_eq!(
            of_source(";src/a.c;main;12;1;;").as_deref(),
            Some("src/a.c:12")
        );
        for other in [";unknown;unknown;0;0;;", "", ";;", ";a.c;f;x;1;;"] {
            assert_eq!(of_source(other), None, "{other}");
        }
    }

    #[test]
    fn one_line_has_one_text() {
        for (text, short) in [
            ("src/a.c:12", "a.c:12"),
            ("a.c:12", "a.c:12"),
            ("in function f (bin/prog)", "in function f (bin/prog)"),
        ] {
            assert_eq!(Place::Text(text).text(), short);
        }
    }

    #[test]
    fn a_construct_without_a_description_is_in_its_region() {
        assert_eq!(
            Place::of_construct(std::ptr::null_mut()),
            Place::Text("serial code")
        );
    }
}
