//! Which inputs may have loop chains.
//!
//! An input has where the word is in its file, or in a file that this one includes from its own folder or from those that
//! the command names, and so on; names of files that macros make are not looked for. So a program without chains pays for
//! reading its own files, and no compiler is run for it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Dialect, WORD};
use crate::arguments::{Arguments, Stage, is_okl};
use crate::language::Language;

/// The inputs of a command that may have loop chains, and what they are in. What stands in for standard input is `typed`.
pub(crate) fn chains(
    arguments: &Arguments,
    driver: &Language,
    typed: Option<&[u8]>,
) -> Result<Vec<(OsString, Dialect)>, String> {
    if !may_have_chains(arguments, driver) {
        return Ok(Vec::new());
    }
    let may_have = |(name, language): &(OsString, String)| {
        let dialect = dialect(name, language, driver)?;
        let mut search = Search {
            folders: &arguments.folders,
            seen: HashSet::new(),
        };
        let mut included = arguments.included.iter();
        let in_included = included.any(|name| {
            let file = search.file(name, Some(Path::new("")));
            file.is_some_and(|file| search.finds(&file, None))
        });
        let text = typed.filter(|_| name == "-").map(<[u8]>::to_vec);
        let finds = in_included || search.finds(Path::new(name), text);
        finds.then(|| (name.clone(), dialect))
    };
    let found: Vec<_> = arguments.sources.iter().filter_map(may_have).collect();
    let is_precompiled = |file: &PathBuf| {
        [".pch", ".gch"].iter().any(|extension| {
            let mut name = file.clone().into_os_string();
            name.push(extension);
            Path::new(&name).exists()
        })
    };
    let precompiled = arguments.has_precompiled || arguments.included.iter().any(is_precompiled);
    match found.first().filter(|_| precompiled) {
        Some((name, _)) => Err(format!(
            "{} has loop chains, which are not read where a precompiled header is included; include the header itself",
            Path::new(name).display()
        )),
        None => Ok(found),
    }
}

/// Whether a command reads a program from standard input that may have chains.
pub(crate) fn reads_typed(arguments: &Arguments, driver: &Language) -> bool {
    let is_typed = |(name, language): &(OsString, String)| {
        name == "-" && dialect(name, language, driver).is_some()
    };
    may_have_chains(arguments, driver) && arguments.sources.iter().any(is_typed)
}

fn may_have_chains(arguments: &Arguments, driver: &Language) -> bool {
    arguments.stage >= Stage::Check && driver.headers
}

/// What an input is in, if it is a source of C or C++.
fn dialect(name: &OsStr, language: &str, driver: &Language) -> Option<Dialect> {
    match language {
        "c" => Some(Dialect::C),
        "c++" if !is_okl(name, language) => Some(Dialect::Cpp),
        "" | "none" => match Path::new(name).extension()?.to_str()? {
            "c" if driver.driver == "okl-c++" => Some(Dialect::Cpp),
            "c" => Some(Dialect::C),
            "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "CXX" => Some(Dialect::Cpp),
            _ => None,
        },
        _ => None,
    }
}

struct Search<'a> {
    folders: &'a [PathBuf],
    seen: HashSet<PathBuf>,
}

impl Search<'_> {
    /// The first file of a name that is in a folder of one's own or in those that the command names.
    fn file(&self, name: &Path, own: Option<&Path>) -> Option<PathBuf> {
        let named = self.folders.iter().map(PathBuf::as_path);
        let mut places = own.into_iter().chain(named).map(|folder| folder.join(name));
        places.find(|place| self.seen.contains(place) || place.is_file())
    }

    /// Whether the word is in a file, which has this text, or in what it includes.
    fn finds(&mut self, file: &Path, text: Option<Vec<u8>>) -> bool {
        let mut next = vec![(file.to_owned(), text)];
        while let Some((file, text)) = next.pop() {
            let Some(text) = text.or_else(|| bytes_of(&file)) else {
                continue;
            };
            if contains(&text, WORD.as_bytes()) {
                return true;
            }
            let own = file.parent().unwrap_or(Path::new(""));
            for (name, is_quoted) in includes(&text) {
                let name = Path::new(OsStr::from_bytes(name));
                let found = self.file(name, is_quoted.then_some(own));
                if let Some(found) = found
                    && self.seen.insert(found.clone())
                {
                    next.push((found, None));
                }
            }
        }
        false
    }
}

/// What is in a plain file; others, such as pipes, can be read only once, and the compiler is to read them.
pub(crate) fn bytes_of(file: &Path) -> Option<Vec<u8>> {
    let is_plain = fs::metadata(file).is_ok_and(|file| file.is_file());
    is_plain.then(|| fs::read(file).ok())?
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    match (std::str::from_utf8(text), std::str::from_utf8(word)) {
        (Ok(text), Ok(word)) => text.contains(word),
        _ => text.windows(word.len()).any(|one| one == word),
    }
}

/// What a text includes, and whether its name is in quotes.
fn includes(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let rest = line.trim_ascii_start().strip_prefix(b"#")?;
        let rest = rest.trim_ascii_start().strip_prefix(b"include")?;
        let rest = rest
            .strip_prefix(b"_next")
            .unwrap_or(rest)
            .trim_ascii_start();
        let is_quoted = rest.starts_with(b"\"");
        if !is_quoted && !rest.starts_with(b"<") {
            return None;
        }
        let end = rest[1..]
            .iter()
            .position(|byte| matches!(byte, b'"' | b'>'))?;
        Some((&rest[1..=end], is_quoted))
    })
}
