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
type Variables = Vec<(usize, usize)>;

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

/// Those of an ELF file of 64 bits, from its table of symbols. (`elf.h`)
fn of_file(file: &str) -> Option<Variables> {
    const SYMTAB: usize = 2;
    const OBJECT: u8 = 1;
    const SYMBOL: usize = 24;
    let file = File::open(file).ok()?;
    let read = |at: usize, length: usize| {
        let mut bytes = vec![0_u8; length];
        file.read_exact_at(&mut bytes, at as u64).ok()?;
        Some(bytes)
    };
    let header = read(0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (
        number(&header, 40, 8)?,
        number(&header, 58, 2)?,
        number(&header, 60, 2)?,
    );
    let sections = read(table, size.checked_mul(count)?)?;
    let mut sections = sections.chunks_exact(size.max(1));
    let symbols = sections.find(|section| number(section, 4, 4) == Some(SYMTAB))?;
    let symbols = read(number(symbols, 24, 8)?, number(symbols, 32, 8)?)?;
    let symbols = symbols.chunks_exact(SYMBOL).filter_map(|symbol| {
        let (value, size) = (number(symbol, 8, 8)?, number(symbol, 16, 8)?);
        let is_defined = number(symbol, 6, 2)? != 0;
        (symbol[4] & 15 == OBJECT && size > 0 && is_defined)
            .then_some((value, value.checked_add(size)?))
    });
    let mut symbols: Variables = symbols.collect();
    symbols.sort_unstable();
    Some(symbols)
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
