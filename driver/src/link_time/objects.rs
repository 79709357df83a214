//! The objects and archives of a command that links, and which of them belong together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use okl_chains::kept::Kept;

use crate::arguments::Part;

/// How LLVM's bitcode begins, also where it is wrapped, and an archive.
const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
const ARCHIVE: &[u8] = b"!<arch>\n";
const ELF: &[u8] = b"\x7fELF";

/// An object that keeps its module.
pub(super) struct Found {
    /// The file, and what it is called in an archive.
    pub(super) name: String,
    /// The number of the input that it is; none in an archive.
    pub(super) input: Option<usize>,
    /// Where it stands among all that the linker is given.
    place: usize,
    pub(super) kept: Kept,
}

/// What a command that links is given, but for what is compiled before.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<Found>,
    /// Other files, with code of which nothing is known but its bytes.
    others: Vec<PathBuf>,
    with_archives: bool,
}

/// The first bytes of a plain file.
fn begins(file: &Path) -> Option<Vec<u8>> {
    let is_plain = fs::metadata(file).is_ok_and(|file| file.is_file());
    let mut bytes = Vec::new();
    let opened = is_plain.then(|| File::open(file).ok())??;
    opened
        .take(ARCHIVE.len() as u64)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

fn is_bitcode(bytes: &[u8]) -> bool {
    BITCODE.iter().any(|one| bytes.starts_with(one))
}

impl Objects {
    /// Of a command; for some of its inputs there are objects. Archives are left out, if that is said.
    pub(super) fn read(
        parts: &[Part],
        made: &BTreeMap<usize, PathBuf>,
        with_archives: bool,
    ) -> Objects {
        let mut found = Objects {
            with_archives,
            ..Objects::default()
        };
        let folders: Vec<_> = parts.iter().filter_map(folder).collect();
        let mut input = 0;
        for (place, part) in parts.iter().enumerate() {
            match *part {
                Part::Input(name) => {
                    let own = made.get(&input).map(PathBuf::as_path);
                    let file = own.unwrap_or(Path::new(name));
                    found.add(file, &name.to_string_lossy(), Some(input), place);
                    input += 1;
                }
                Part::Option(..) if with_archives => {
                    if let Some(file) = library(part, &folders) {
                        found.add(&file, &file.to_string_lossy(), None, place);
                    }
                }
                Part::Option(..) | Part::Language(_) => {}
            }
        }
        found
    }

    fn add(&mut self, file: &Path, name: &str, input: Option<usize>, place: usize) {
        let Some(first) = begins(file) else {
            return;
        };
        let is_archive = first.starts_with(ARCHIVE);
        if is_archive && !self.with_archives {
            return;
        }
        if !is_archive && !is_bitcode(&first) {
            if first.starts_with(ELF) {
                self.others.push(file.to_owned());
            }
            return;
        }
        let Ok(bytes) = fs::read(file) else {
            return;
        };
        if !is_archive {
            match Kept::find(&bytes) {
                Some(kept) => self.all.push(Found {
                    name: name.to_string(),
                    input,
                    place,
                    kept,
                }),
                None => self.others.push(file.to_owned()),
            }
            return;
        }
        let mut has_others = false;
        let archive = ArchiveFile::parse(&*bytes);
        let members = archive.iter().flat_map(ArchiveFile::members);
        for member in members.flatten() {
            let Ok(code) = member.data(&*bytes) else {
                continue;
            };
            match Kept::find(code).filter(|_| is_bitcode(code)) {
                Some(kept) => self.all.push(Found {
                    name: format!("{name}({})", String::from_utf8_lossy(member.name())),
                    input: None,
                    place,
                    kept,
                }),
                None => has_others = true,
            }
        }
        if has_others {
            self.others.push(file.to_owned());
        }
    }

    /// Whether a chain of some object, of no archive, calls functions of other files.
    pub(super) fn has_open(&self) -> bool {
        self.all
            .iter()
            .any(|one| one.input.is_some() && one.kept.is_open)
    }

    /// The objects that are to be one, of which the first stands in front of the others: those with chains, and those with
    /// functions that these call, if they are `alike`. Where the linker changes symbols each is alone.
    pub(super) fn groups(
        &self,
        changes_symbols: bool,
        alike: impl Fn(&Found, &Found) -> bool,
    ) -> Vec<Vec<&Found>> {
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        for (at, one) in self.all.iter().enumerate() {
            if one.input.is_none() || !one.kept.is_open {
                continue;
            }
            let mut group = BTreeSet::from([at]);
            let mut names: Vec<_> = one.kept.wanted.iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(name) = names.pop() {
                if changes_symbols || !seen.insert(name) {
                    continue;
                }
                let Some(other) = self.defines(name, one.place) else {
                    continue;
                };
                if !group.contains(&other) && !alike(one, &self.all[other]) {
                    continue;
                }
                names.extend(&self.all[other].kept.defined[name]);
                group.insert(other);
            }
            // Of those that have something in common one is made.
            groups.retain(|known| {
                let is_other = known.is_disjoint(&group);
                if !is_other {
                    group.extend(known);
                }
                is_other
            });
            groups.push(group);
        }
        let all = groups.into_iter();
        let in_order = all.map(|group| {
            // What stands in an archive is needed by what stands in front of it.
            let mut group: Vec<_> = group.into_iter().map(|at| &self.all[at]).collect();
            group.sort_by_key(|one| (one.input.is_none(), one.place));
            group
        });
        in_order.collect()
    }

    /// The object that the linker takes a function from which one at a place needs.
    fn defines(&self, name: &str, place: usize) -> Option<usize> {
        let defines = |one: &Found| one.kept.defined.contains_key(name);
        let all = || self.all.iter().enumerate();
        let mut plain = all().filter(|(_, one)| one.input.is_some() && defines(one));
        if let Some((at, _)) = plain.next() {
            return plain.next().is_none().then_some(at);
        }
        let mut archived = all().filter(|(_, one)| defines(one));
        let (at, first) = archived.next()?;
        let may_be_elsewhere = |file: &PathBuf| {
            let bytes = fs::read(file).unwrap_or_default();
            let mut name = name.as_bytes().to_vec();
            // LLVM's bitcode has names one right behind the other.
            name.extend(bytes.starts_with(ELF).then_some(0));
            let mut all = bytes.windows(name.len());
            all.any(|one| one == name)
        };
        let is_it = first.place > place && !self.others.iter().any(may_be_elsewhere);
        is_it.then_some(at)
    }
}

/// The folder that an option has the linker look into.
fn folder<'a>(part: &Part<'a>) -> Option<&'a Path> {
    match *part {
        Part::Option(option, value) if option == "-L" => value.map(Path::new),
        Part::Option(option, _) => option.to_str()?.strip_prefix("-L").map(Path::new),
        _ => None,
    }
}

/// The library that an option names, if it is in one of the folders.
fn library(part: &Part, folders: &[&Path]) -> Option<PathBuf> {
    let Part::Option(option, value) = *part else {
        return None;
    };
    let name = match option.to_str()? {
        "-l" => value?.to_str()?,
        text => text.strip_prefix("-l")?,
    };
    let names = match name.strip_prefix(':') {
        Some(file) => vec![file.to_string()],
        None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
    };
    folders.iter().find_map(|folder| {
        let mut files = names.iter().map(|name| folder.join(name));
        files.find(|file| file.is_file())
    })
}
