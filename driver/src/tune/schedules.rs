//! Files of schedules: what chains are to run as that leave it to okl, `schedule(auto)`.
//!
//! ```text
//! # comment
//! src/jacobi.c:11 1f3a52c07be49d80 1.42 schedule(fuse((0,0),(1,0)), tile((64), wavefront, serial))
//! ```
//!
//! A line for each chain: where it is, its text as a number, how many times as fast the program was as with the chain
//! as it is written, and the schedule. A schedule that does not fit the text, or the grammar, is never used.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use okl_chains::pragma::{Item, Position, Pragma, parse, tokens};

/// What stands in place of a schedule where the loops are to be left to the compiler.
pub(crate) const AS_WRITTEN: &str = "as-written";
/// How a file begins that is written here.
const HEAD: &str = "\
# Schedules of loop chains with schedule(auto), as okl-cc --okl-tune found them; okl-cc --okl-schedules=FILE reads them.
# Place, number of the text, speed against the loops as they are written, schedule.
";

/// A chain in the program's text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file, from the root.
    pub(crate) file: PathBuf,
    /// The line of its pragma.
    pub(crate) line: usize,
    /// The [number](number_of) of its text.
    pub(crate) text: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let here = std::env::current_dir().unwrap_or_default();
        let file = self.file.strip_prefix(here).unwrap_or(&self.file);
        write!(to, "{}:{}", file.display(), self.line)
    }
}

/// What a chain is to run as.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    /// How many times as fast the program was.
    pub(crate) ratio: f64,
    /// What stands in `schedule(..)`.
    pub(crate) schedule: String,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Schedules {
    pub(crate) entries: Vec<Entry>,
}

/// What a chain runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// What it says itself.
    Own,
    /// The same, although the file has something for that place; why.
    Changed(String),
    /// As plain loops.
    AsWritten,
    /// This.
    Items(Vec<Item>),
}

impl Schedules {
    /// Reads a file. An error says which line is wrong.
    pub(crate) fn read(file: &Path) -> Result<Schedules, String> {
        let text = fs::read_to_string(file).map_err(|error| {
            format!(
                "cannot read the schedules of loop chains in {}: {error}",
                file.display()
            )
        })?;
        Self::parse(&text, &folder_of(file))
            .map_err(|(at, what)| format!("{}:{at}: {what}", file.display()))
    }

    fn parse(text: &str, folder: &Path) -> Result<Schedules, (Position, String)> {
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let at = |column: usize| {
                let [line, column] =
                    [number + 1, column].map(|one| u32::try_from(one).unwrap_or(0));
                Position::new(line, column)
            };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = entry(line, folder, at)?;
            if entries.iter().any(|one| one.place == entry.place) {
                return Err((at(1), "this chain has a schedule already".to_string()));
            }
            entries.push(entry);
        }
        Ok(Schedules { entries })
    }

    /// Writes it so that there is the old file or the new one whatever happens.
    pub(crate) fn write(&self, file: &Path) -> Result<(), String> {
        let folder = folder_of(file);
        let mut text = HEAD.to_string();
        for one in &self.entries {
            let Place {
                file,
                line,
                text: number,
            } = &one.place;
            let name = file.strip_prefix(&folder).unwrap_or(file);
            let _ = writeln!(
                text,
                "{}:{line} {number:016x} {:.2} schedule({})",
                name.display(),
                one.ratio,
                one.schedule
            );
        }
        replace(file, text.as_bytes())
    }

    /// Puts entries in place of those for the same chains, and of those for other texts at the same places.
    pub(crate) fn put(&mut self, entries: Vec<Entry>) {
        let is_same = |one: &Place, other: &Place| {
            one.file == other.file && (one.line == other.line || one.text == other.text)
        };
        self.entries
            .retain(|old| !entries.iter().any(|new| is_same(&old.place, &new.place)));
        self.entries.extend(entries);
        self.entries
            .sort_by(|one, other| one.place.cmp(&other.place));
    }

    /// What a chain runs as whose `auto` is at a place.
    pub(crate) fn choice(&self, place: &Place, auto: Position) -> Choice {
        let of_file = || {
            self.entries
                .iter()
                .filter(|one| one.place.file == place.file)
        };
        let same_text: Vec<_> = of_file()
            .filter(|one| one.place.text == place.text)
            .collect();
        let found = match same_text[..] {
            [one] => one,
            [] => {
                let is_here = |one: &Entry| one.place.line == place.line;
                return match of_file().any(is_here) {
                    true => Choice::Changed(
                        "this loop chain has changed since it was tuned".to_string(),
                    ),
                    false => Choice::Own,
                };
            }
            ref several => match several.iter().find(|one| one.place.line == place.line) {
                Some(one) => one,
                None => {
                    return Choice::Changed(
                        "several loop chains with this text were tuned, and have moved".to_string(),
                    );
                }
            },
        };
        if found.schedule == AS_WRITTEN {
            return Choice::AsWritten;
        }
        match items(&found.schedule, auto) {
            Ok(mut items) => {
                items.iter_mut().for_each(|item| place_at(item, auto));
                Choice::Items(items)
            }
            Err((_, why)) => Choice::Changed(why),
        }
    }
}

/// An item, and what is in it, at a place.
fn place_at(item: &mut Item, at: Position) {
    item.at = at;
    if let okl_chains::pragma::What::Tile(tile) = &mut item.what {
        place_at(&mut tile.over, at);
        place_at(&mut tile.within, at);
    }
}

/// A line.
fn entry(
    line: &str,
    folder: &Path,
    at: impl Fn(usize) -> Position,
) -> Result<Entry, (Position, String)> {
    let wrong = |what: &str| {
        let form = "a line is FILE:LINE NUMBER RATIO schedule(...)";
        (
            at(1),
            format!("{what}; {form}, as okl-cc --okl-tune writes it"),
        )
    };
    let Some((before, schedule)) = line.split_once(" schedule(") else {
        return Err(wrong("there is no schedule"));
    };
    let Some(inside) = schedule.trim_end().strip_suffix(')') else {
        return Err(wrong("')' of the schedule is missing"));
    };
    let mut words = before.rsplitn(3, ' ');
    let (ratio, text, place) = (words.next(), words.next(), words.next());
    let ratio = ratio.and_then(|one| one.parse().ok());
    let ratio = ratio.filter(|one: &f64| one.is_finite() && *one > 0.0);
    let text = text.filter(|one| one.len() == 16);
    let text = text.and_then(|one| u64::from_str_radix(one, 16).ok());
    let place = place.and_then(|one| one.rsplit_once(':'));
    let place = place.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let Some(ratio) = ratio else {
        return Err(wrong("the ratio is no number"));
    };
    let Some(text) = text else {
        return Err(wrong("the number of the text has not 16 digits"));
    };
    let Some((file, number)) = place.filter(|(file, _)| !file.is_empty()) else {
        return Err(wrong("the place is no file and line"));
    };
    if inside != AS_WRITTEN {
        // Behind ` schedule(`.
        items(inside, at(before.len() + 11))?;
    }
    Ok(Entry {
        place: Place {
            file: absolute(&folder.join(file)),
            line: number,
            text,
        },
        ratio,
        schedule: inside.to_string(),
    })
}

/// What stands in a schedule that begins at a place.
fn items(schedule: &str, at: Position) -> Result<Vec<Item>, (Position, String)> {
    let mut words = tokens("loopchain schedule(", at);
    words.iter_mut().for_each(|one| one.at = at);
    words.extend(tokens(schedule, at));
    let end = Position::new(
        at.line,
        at.column + u32::try_from(schedule.len()).unwrap_or(0),
    );
    words.extend(tokens(")", end));
    let said = parse(&words, at).map_err(|error| (error.at, error.message))?;
    if let Some(value) = said.values.first() {
        let what = format!(
            "'{}' is no number; a file of schedules has no expressions",
            value.text
        );
        return Err((value.at, what));
    }
    match said.pragma {
        Pragma::Chain(said) if said.locals.is_empty() => Ok(said.schedule),
        _ => Err((at, "there is more than a schedule".to_string())),
    }
}

/// The number of a text: FNV-1a.
pub(crate) fn number_of(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |number, byte| {
        (number ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A file, or where it would be, from the root.
pub(crate) fn absolute(file: &Path) -> PathBuf {
    let plain = || std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    file.canonicalize().unwrap_or_else(|_| plain())
}

/// The folder of a file, from the root.
fn folder_of(file: &Path) -> PathBuf {
    let folder = absolute(file);
    folder.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Writes a file so that there is the old one or the new one whatever happens.
pub(crate) fn replace(file: &Path, text: &[u8]) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", file.display());
    let mut new = tempfile::Builder::new();
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut new = new.tempfile_in(folder_of(file)).map_err(failed)?;
    io::Write::write_all(&mut new, text).map_err(failed)?;
    new.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: usize, text: u64) -> Place {
        Place {
            file: file.into(),
            line,
            text,
        }
    }

    const FILE: &str = "# comment\n\nsrc/a b.c:7 00000000000000ff 1.25 schedule(fuse(), tile((8,16), wavefront, serial))\n\
        /x/c.c:1 0000000000000001 1.00 schedule(as-written)\n/x/c.c:9 0000000000000001 2.00 schedule()\n";

    #[test]
    fn chains_are_found_by_their_text_and_noticed_where_it_has_changed() {
        let read = Schedules::parse(FILE, Path::new("/none")).unwrap();
        let at = Position::new(3, 9);
        let choice = |file: &str, line, text| read.choice(&place(file, line, text), at);
        let here = choice("/none/src/a b.c", 7, 255);
        let Choice::Items(items) = &here else {
            panic!("{here:?}");
        };
        assert!(items.len() == 2 && items.iter().all(|item| item.at == at));
        assert_eq!(choice("/none/src/a b.c", 70, 255), here, "it has moved");
        assert!(matches!(
            choice("/none/src/a b.c", 7, 254),
            Choice::Changed(_)
        ));
        assert_eq!(choice("/none/src/a b.c", 8, 254), Choice::Own);
        assert_eq!(choice("/none/a b.c", 7, 255), Choice::Own);
        assert_eq!(choice("/x/c.c", 1, 1), Choice::AsWritten);
        assert_eq!(choice("/x/c.c", 9, 1), Choice::Items(Vec::new()));
        assert!(matches!(choice("/x/c.c", 8, 1), Choice::Changed(_)));
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        let error = |line: &str| {
            let text = format!("# 1\n{line}\n");
            let (at, what) = Schedules::parse(&text, Path::new("/")).unwrap_err();
            format!("{at} {what}")
        };
        let number = "0000000000000001";
        for (line, what) in [
            ("a.c:1".to_string(), "2:1 there is no schedule; a line is"),
            (format!("a.c:1 {number} 1 schedule(auto"), "2:1 ')' of the"),
            (
                format!("a.c:1 {number} x schedule(auto)"),
                "2:1 the ratio is no number",
            ),
            (
                "a.c:1 1 1 schedule(auto)".to_string(),
                "2:1 the number of the text",
            ),
            (
                format!("a.c {number} 1 schedule(auto)"),
                "2:1 the place is no file",
            ),
            (
                format!("a.c:1 {number} 1 schedule(fuse(), fast)"),
                "2:43 'fast' cannot stand here",
            ),
            (
                format!("a.c:1 {number} 1 schedule(tile((n), serial, serial))"),
                "2:41 'n' is no number",
            ),
            (
                format!("a.c:1 {number} 1 schedule(auto) local(b)"),
                "2:35 there is more than a schedule",
            ),
            (
                format!("a.c:1 {number} 1 schedule(auto)\na.c:1 {number} 1 schedule()"),
                "3:1 this chain has a schedule already",
            ),
        ] {
            assert!(error(&line).starts_with(what), "{line}: {}", error(&line));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s");
        let mut all = Schedules::parse(FILE, &folder.path().canonicalize().unwrap()).unwrap();
        let mut entry = all.entries[0].clone();
        entry.place.line = 8;
        all.put(vec![entry]);
        assert_eq!(all.entries.len(), 3);
        all.write(&file).unwrap();
        assert_eq!(Schedules::read(&file).unwrap(), all);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("\nsrc/a b.c:8 00000000000000ff 1.25 schedule("),
            "{text}"
        );
    }
}
