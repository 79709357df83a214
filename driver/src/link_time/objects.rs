//! The objects of a command that links, and which of them belong together.
//!
//! Archives are not looked into: from which of them the linker takes a function, and whether it does, depends on all that it is
//! given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use okl_chains::kept::Kept;

use crate::arguments::Part;

/// How LLVM's bitcode begins, also where it is wrapped.
const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
/// How other files begin that have code: objects and shared libraries, archives, and such that name their members only.
const OTHERS: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"!<thin>\n"];

/// An object that keeps its module.
pub(super) struct Found {
    /// The file.
    pub(super) name: String,
    /// The number of the input that it is.
    pub(super) input: usize,
    pub(super) kept: Kept,
}

/// What a command that links is given, but for what is compiled before.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<Found>,
    /// Whether there are files that may tell the linker anything.
    has_scripts: bool,
}

/// The first bytes of a plain file.
fn begins(file: &Path) -> Option<Vec<u8>> {
    let is_plain = fs::metadata(file).is_ok_and(|file| file.is_file());
    let mut bytes = Vec::new();
    let opened = is_plain.then(|| File::open(file).ok())??;
    opened.take(8).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Objects {
    /// Of a command; for some of its inputs there are objects. What is a source is said by its number.
    pub(super) fn read(
        parts: &[Part],
        made: &BTreeMap<usize, PathBuf>,
        is_source: impl Fn(usize) -> bool,
    ) -> Objects {
        let mut found = Objects::default();
        let inputs = parts.iter().filter_map(|part| match part {
            Part::Input(name) => Some(*name),
            _ => None,
        });
        for (input, name) in inputs.enumerate() {
            let own = made.get(&input).map(PathBuf::as_path);
            if own.is_some() || !is_source(input) {
                let file = own.unwrap_or(Path::new(name));
                found.add(file, &name.to_string_lossy(), input);
            }
        }
        found
    }

    fn add(&mut self, file: &Path, name: &str, input: usize) {
        let Some(first) = begins(file) else {
            return;
        };
        let is_one_of = |all: &[&[u8]]| all.iter().any(|one| first.starts_with(one));
        if !is_one_of(&BITCODE) {
            self.has_scripts |= !is_one_of(&OTHERS);
            return;
        }
        let kept = fs::read(file).ok().and_then(|bytes| Kept::find(&bytes));
        self.all.extend(kept.map(|kept| Found {
            name: name.to_string(),
            input,
            kept,
        }));
    }

    /// Whether a chain of some object calls functions of other files.
    pub(super) fn has_open(&self) -> bool {
        self.all.iter().any(|one| one.kept.is_open)
    }

    /// The objects that are to be one, in their order: those with chains, and those with functions that these call, if they are
    /// `alike`. Where the linker changes symbols each is alone.
    pub(super) fn groups(
        &self,
        changes_symbols: bool,
        alike: impl Fn(&Found, &Found) -> bool,
    ) -> Vec<Vec<&Found>> {
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        for (at, one) in self.all.iter().enumerate() {
            if !one.kept.is_open {
                continue;
            }
            let mut group = BTreeSet::from([at]);
            let mut names: Vec<_> = one.kept.wanted.iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(name) = names.pop() {
                if changes_symbols || self.has_scripts || !seen.insert(name) {
                    continue;
                }
                let Some(other) = self.defines(name) else {
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
        let in_order = groups.into_iter().map(|group| {
            let all = group.into_iter();
            all.map(|at| &self.all[at]).collect()
        });
        in_order.collect()
    }

    /// The object that the linker takes a function from: it takes all objects, and of two with a function of that name none.
    fn defines(&self, name: &str) -> Option<usize> {
        let all = self.all.iter().enumerate();
        let mut all = all.filter(|(_, one)| one.kept.defined.contains_key(name));
        let (at, _) = all.next()?;
        all.next().is_none().then_some(at)
    }
}
