//! What an object that `-flto` makes keeps of its module: the code as the compiler made it, before anything is simplified, for
//! where chains and functions that they call stand in different files, and what is told of both.
//!
//! ```text
//! MAGIC, how many bytes of lines and of code follow (two numbers of 64 bits, the lowest byte first), lines, code
//! ```
//!
//! LLVM's bitcode has it as one text, whose bytes follow each other, so that whoever links finds it without LLVM.

use std::collections::{BTreeMap, BTreeSet};

/// What it begins with. The last byte is a version.
const MAGIC: [u8; 15] = *b"\x7fokl-kept-code\x01";

/// A module that is kept, and what is told of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The words by which it was compiled, quoted as in a shell.
    pub options: String,
    /// Whether chains of it stay as they are as long as functions of other files are not seen.
    pub is_open: bool,
    /// The functions of other files that its chains call, and functions that these call.
    pub wanted: BTreeSet<String>,
    /// The functions that other files may call, and those of other files that each may call.
    pub defined: BTreeMap<String, BTreeSet<String>>,
    /// The code.
    pub code: Vec<u8>,
}

impl Kept {
    /// As bytes.
    pub fn written(&self) -> Vec<u8> {
        let mut lines = format!("options {}\n", self.options);
        if self.is_open {
            lines += "open\n";
        }
        let mut line = |what: &str, name: &str| {
            lines += &format!("{what} {name}\n");
        };
        self.wanted.iter().for_each(|name| line("wants", name));
        for (name, called) in &self.defined {
            line("defines", name);
            called.iter().for_each(|name| line("calls", name));
        }
        let mut out = MAGIC.to_vec();
        for length in [lines.len(), self.code.len()] {
            out.extend((length as u64).to_le_bytes());
        }
        out.extend(lines.as_bytes());
        out.extend(&self.code);
        out
    }

    /// The one that is somewhere in an object, if there is one.
    pub fn find(bytes: &[u8]) -> Option<Kept> {
        let mut rest = bytes;
        loop {
            let first = rest.iter().position(|byte| *byte == MAGIC[0])?;
            rest = &rest[first..];
            if let Some(found) = rest.strip_prefix(&MAGIC).and_then(read) {
                return Some(found);
            }
            rest = &rest[1..];
        }
    }
}

/// What stands behind the magic.
fn read(bytes: &[u8]) -> Option<Kept> {
    let (lines, bytes) = bytes.split_first_chunk::<8>()?;
    let (code, bytes) = bytes.split_first_chunk::<8>()?;
    let [lines, code] = [lines, code].map(|one| usize::try_from(u64::from_le_bytes(*one)).ok());
    let (lines, bytes) = bytes.split_at_checked(lines?)?;
    let (code, _) = bytes.split_at_checked(code?)?;
    let mut kept = Kept {
        code: code.to_vec(),
        ..Kept::default()
    };
    let mut last = None;
    for line in std::str::from_utf8(lines).ok()?.lines() {
        let (what, name) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "options" => kept.options = name.to_string(),
            "open" => kept.is_open = true,
            "wants" => {
                kept.wanted.insert(name.to_string());
            }
            "defines" => last = Some(kept.defined.entry(name.to_string()).or_default()),
            "calls" => {
                last.as_mut()?.insert(name.to_string());
            }
            _ => return None,
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        let names = |all: &[&str]| all.iter().map(|one| one.to_string()).collect();
        Kept {
            options: "-O3 '-march=x y'".to_string(),
            is_open: true,
            wanted: names(&["first", "second"]),
            defined: BTreeMap::from([
                ("main".to_string(), names(&["first", "printf"])),
                ("other".to_string(), BTreeSet::new()),
            ]),
            code: b"BC\xc0\xde\n\0".to_vec(),
        }
    }

    #[test]
    fn what_is_written_is_found_among_other_bytes() {
        let mut bytes = b"\x7f\x7fokl-kept".to_vec();
        bytes.extend(kept().written());
        bytes.extend(b"behind");
        assert_eq!(Kept::find(&bytes), Some(kept()));
    }

    #[test]
    fn what_is_cut_off_or_of_another_version_is_none() {
        let bytes = kept().written();
        assert_eq!(Kept::find(&bytes[..bytes.len() - 1]), None);
        let mut other = bytes.clone();
        other[MAGIC.len() - 1] += 1;
        assert_eq!(Kept::find(&other), None);
        assert_eq!(Kept::find(b""), None);
    }
}
