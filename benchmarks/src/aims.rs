//! What is to be reached, and what was found.

use std::fmt::Write;

/// What was compared with an aim: what it is, the aim in words, what was found, and whether that is so.
#[derive(Default)]
pub(crate) struct Aims(pub(crate) Vec<(String, String, String, bool)>);

impl Aims {
    pub(crate) fn add(
        &mut self,
        what: String,
        aim: String,
        found: Option<f64>,
        is_so: impl Fn(f64) -> bool,
    ) {
        let text = found.map_or("not known".to_owned(), |found| format!("{found:.2}"));
        self.0.push((what, aim, text, found.is_some_and(is_so)));
    }

    pub(crate) fn table(&self) -> String {
        let mut text = "\n## Aims\n\n| | aim | found | |\n|---|---|---|---|\n".to_owned();
        for (what, aim, found, is_so) in &self.0 {
            let is_so = if *is_so { "reached" } else { "**not reached**" };
            let _ = writeln!(text, "| {what} | {aim} | {found} | {is_so} |");
        }
        text
    }
}
