//! Variables of the program and its libraries, from the tables of symbols in their files.
//!
//! Guarantee: what is said to be around an address has the whole variable that the address leads to, be it inside or the end of
//! one; where that is not sure, nothing is said. (Variables that compilers make have no symbols, and files may be stripped.)

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

/// Between two variables lies so much at most because of their alignment.
const PADDING: usize = 64;

/// The variables of an object: start and end, from the object's address on, in the order of their starts.
pub type Variables = Vec<(usize, usize)>;

/// Those of objects that were asked for, by their addresses and files.
static ALL: Mutex<BTreeMap<(usize, String), Variables>> = Mutex::new(BTreeMap::new());

/// The variables around an address of an object that is loaded at `base` from `file`.
pub fn around(base: usize, file: &str, address: usize) -> Option<Range<usize>> {
    let mut all = ALL.lock().unwrap_or_else(|broken| broken.into_inner());
    let variables = all
        .entry((base, file.to_owned()))
        .or_insert_with(|| of_file(file).unwrap_or_default());
    let found = among(variables, address.checked_sub(base)?)?;
    Some(base + found.start..base + found.end)
}

/// The variable that is around, and where it begins there, the one in front of it.
fn among(variables: &[(usize, usize)], address: usize) -> Option<Range<usize>> {
    let behind = variables.partition_point(|(start, _)| *start <= address);
    // Symbols may be of one place, or inside of each other.
    let before = &variables[..behind];
    let inside = before.iter().filter(|(_, end)| *end > address);
    let (start, end) = inside.fold((usize::MAX, 0), |(start, end), one| {
        (start.min(one.0), end.max(one.1))
    });
    if start > address {
        return None;
    }
    if start < address {
        return Some(start..end);
    }
    let before = before.iter().filter(|(its_start, _)| *its_start < start);
    let (its_end, its_start) = before
        .map(|(its_start, its_end)| (its_end, its_start))
        .max()?;
    match start.checked_sub(*its_end)? {
        0 => Some(*its_start..end),
        1..=PADDING => Some(start..end),
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + length)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | usize::from(*byte)),
    )
}

/// Those of an ELF file of 64 bits, from its table of symbols.
fn of_file(file: &str) -> Option<Variables> {
    Some(Elf::open(file)?.variables()?.0)
}

/// An ELF file of 64 bits. (`elf.h`)
pub struct Elf {
    file: File,
    sections: Vec<u8>,
    /// Bytes of what is said of a section.
    size: usize,
    names: Vec<u8>,
}

impl Elf {
    /// That of a name.
    pub fn open(file: &str) -> Option<Self> {
        let file = File::open(file).ok()?;
        let header = read(&file, 0, 64)?;
        if !header.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let (table, size, count, names) = (
            number(&header, 40, 8)?,
            number(&header, 58, 2)?,
            number(&header, 60, 2)?,
            number(&header, 62, 2)?,
        );
        let size = size.max(1);
        let sections = read(&file, table, size.checked_mul(count)?)?;
        let mut all = Self {
            file,
            sections,
            size,
            names: Vec::new(),
        };
        let names = all.sections.chunks_exact(size).nth(names);
        all.names = names
            .and_then(|names| all.contents(names))
            .unwrap_or_default();
        Some(all)
    }

    fn contents(&self, section: &[u8]) -> Option<Vec<u8>> {
        read(&self.file, number(section, 24, 8)?, number(section, 32, 8)?)
    }

    /// Where a section of a name lies, from the object's address on.
    pub fn section(&self, name: &str) -> Option<Range<usize>> {
        let mut all = self.sections.chunks_exact(self.size);
        let found = all.find(|section| {
            let its = number(section, 0, 4).and_then(|at| self.names.get(at..));
            its.and_then(|its| its.strip_prefix(name.as_bytes()))
                .is_some_and(|rest| rest.first() == Some(&0))
        })?;
        let start = number(found, 16, 8)?;
        Some(start..start.checked_add(number(found, 32, 8)?)?)
    }

    /// Its variables in the order of their starts, and whether those that only one of its files knows are among them: they may
    /// have been stripped.
    pub fn variables(&self) -> Option<(Variables, bool)> {
        const SYMTAB: usize = 2;
        const OBJECT: u8 = 1;
        const SYMBOL: usize = 24;
        let mut sections = self.sections.chunks_exact(self.size);
        let symbols = sections.find(|section| number(section, 4, 4) == Some(SYMTAB))?;
        let symbols = self.contents(symbols)?;
        let mut has_local = false;
        let symbols = symbols.chunks_exact(SYMBOL).filter_map(|symbol| {
            let (value, size) = (number(symbol, 8, 8)?, number(symbol, 16, 8)?);
            let is_defined = number(symbol, 6, 2)? != 0;
            let is_it = symbol[4] & 15 == OBJECT && size > 0 && is_defined;
            has_local |= is_it && symbol[4] >> 4 == 0;
            is_it.then_some((value, value.checked_add(size)?))
        });
        let mut symbols: Variables = symbols.collect();
        symbols.sort_unstable();
        Some((symbols, has_local))
    }
}

fn read(file: &File, at: usize, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; length];
    file.read_exact_at(&mut bytes, at as u64).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_whole() {
        let all = [
            (100, 200),
            (200, 300),
            (304, 400),
            (500, 508),
            (504, 508),
            (600, 700),
            (600, 610),
        ];
        let mut all = all.to_vec();
        all.sort_unstable();
        let at = |address| among(&all, address).map(|range| (range.start, range.end));
        assert_eq!(at(150), Some((100, 200)));
        // The end of one, and the beginning of another.
        assert_eq!(at(200), Some((100, 300)));
        // The first of all: what is before is not known.
        assert_eq!(at(100), None);
        assert_eq!(at(300), None);
        assert_eq!(at(304), Some((304, 400)));
        assert_eq!([at(399), at(400), at(450)], [Some((304, 400)), None, None]);
        // Too far from the one before.
        assert_eq!(at(500), None);
        assert_eq!(at(505), Some((500, 508)));
        assert_eq!(
            [at(605), at(650), at(700)],
            [Some((600, 700)), Some((600, 700)), None]
        );
        assert_eq!(among(&[], 7), None);
        assert_eq!(among(&[(0, 100), (10, 20), (30, 40)], 35), Some(0..100));
    }

    static LARGE: [std::sync::atomic::AtomicU64; 1000] =
        [const { std::sync::atomic::AtomicU64::new(0) }; 1000];

    #[test]
    fn variables_of_this_program_are_found() {
        let program = std::env::current_exe().unwrap();
        let all = of_file(program.to_str().unwrap()).unwrap();
        let is_it = |(start, end): &&(usize, usize)| end - start == 8000;
        let address = LARGE.as_ptr().addr();
        let at = all
            .iter()
            .filter(is_it)
            .any(|(start, _)| start & 4095 == address & 4095);
        assert!(at, "among {} variables", all.len());
        assert_eq!(of_file("/dev/null"), None);
        assert_eq!(of_file("/none"), None);
    }
}
