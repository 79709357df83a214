//! How the standard streams of C++ format what is written to them, and where it goes. The streams
//! belong to the C++ library, of which every rank has its own; threads of one process share them.
//!
//! Guarantee: what serial code has set, formats and buffers, holds on every rank in the region that
//! follows. Formats that a region sets hold on every rank after the next synchronisation; where several
//! ranks set the same one, the last rank's.

use std::{
    ffi::c_void,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use okl_job::opened::Opened;

use crate::{cell::ProgramCell, layout, report, scopes};

const STREAMS: [&std::ffi::CStr; 3] = [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"];

/// Words per stream: the precision, the flags, the fill character, and the buffer.
const OF_STREAM: usize = 4;
const FLAGS: usize = 1;
const BUFFER: usize = 3;

/// Words of all streams.
pub(crate) const WORDS: usize = OF_STREAM * STREAMS.len();

/// A buffer word: the stream's own buffer. Others are the number of the stream, counted from 1, whose
/// own buffer it is, or the address of an object in shared memory.
const OWN: u64 = 0;

/// The start of libstdc++'s `std::basic_ios<char>`, whose layout is part of its ABI. The width is
/// not sticky.
#[repr(C)]
struct Ios {
    virtual_table: *const isize,
    precision: i64,
    width: i64,
    flags: u32,
    /// State, exceptions, callbacks and user words.
    others: [u32; 45],
    locale: *mut c_void,
    tied: *mut c_void,
    fill: u8,
    is_fill_set: u8,
    buffer: *mut usize,
}

const _: () = assert!(std::mem::offset_of!(Ios, fill) == 224);
const _: () = assert!(std::mem::offset_of!(Ios, buffer) == 232);

/// A stream, and the buffer and the locale that the C++ library made it with.
#[derive(Clone, Copy)]
struct Stream {
    /// Null where the program has no libstdc++.
    ios: *mut Ios,
    own: *mut usize,
    locale: *mut c_void,
}

// SAFETY: addresses that do not change; only the program's thread uses them.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

static PLACES: OnceLock<[Stream; STREAMS.len()]> = OnceLock::new();

/// The words that all ranks have agreed on last.
static AGREED: ProgramCell<[u64; WORDS]> = ProgramCell::new([0; WORDS]);

/// The streams. Asked for first before the program starts.
pub(crate) fn find() {
    streams();
}

fn streams() -> [Stream; STREAMS.len()] {
    *PLACES.get_or_init(|| {
        STREAMS.map(|name| {
            // SAFETY: looks up a variable of libstdc++.
            let stream = scopes::private(|| unsafe { Opened::PROGRAM.symbol(name) });
            let stream = stream.unwrap_or(std::ptr::null_mut());
            // SAFETY: a stream of libstdc++, where there is one.
            unsafe {
                let ios = format_of(stream);
                let made = |ios: &Ios| (ios.buffer, ios.locale);
                let (own, locale) = ios
                    .as_ref()
                    .map_or((std::ptr::null_mut(), std::ptr::null_mut()), made);
                Stream { ios, own, locale }
            }
        })
    })
}

/// The virtual base of a stream. Its offset stands in front of the virtual table.
///
/// # Safety
/// `stream` is null or a `std::ostream` of libstdc++.
unsafe fn format_of(stream: *mut c_void) -> *mut Ios {
    const BASE_OFFSET: isize = -3;
    if stream.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the first word is the virtual table, or null before libstdc++ has made the stream.
    unsafe {
        let table = *stream.cast::<*const isize>();
        if table.is_null() {
            return std::ptr::null_mut();
        }
        stream.byte_offset(*table.offset(BASE_OFFSET)).cast()
    }
}

/// Whether `buffer` is an object of the program's. One that is not is the C++ library's: it makes others
/// for streams that are out of step with stdio.
fn is_programs(buffer: *mut usize) -> bool {
    layout::get().is_some_and(|layout| layout.page_of(buffer as usize).is_some())
}

fn current() -> [u64; WORDS] {
    let streams = streams();
    let mut words = [0; WORDS];
    for (words, stream) in words.chunks_mut(OF_STREAM).zip(&streams) {
        // SAFETY: null or a stream that lives as long as the process.
        if let Some(ios) = unsafe { stream.ios.as_ref() } {
            words[0] = ios.precision as u64;
            words[FLAGS] = ios.flags.into();
            words[2] = u64::from(ios.fill) | u64::from(ios.is_fill_set) << 8;
            let of_other = streams.iter().position(|other| other.own == ios.buffer);
            words[BUFFER] = if ios.buffer == stream.own {
                OWN
            } else if is_programs(ios.buffer) {
                ios.buffer as u64
            } else {
                of_other.map_or(OWN, |other| other as u64 + 1)
            };
        }
    }
    words
}

/// Makes the formats, and with `buffers` the buffers, of this rank's streams those of `words`.
fn set(words: &[u64; WORDS], buffers: bool) {
    let streams = streams();
    for (words, stream) in words.chunks(OF_STREAM).zip(&streams) {
        // SAFETY: as in `current`; only the program's thread uses the streams.
        if let Some(ios) = unsafe { stream.ios.as_mut() } {
            ios.precision = words[0] as i64;
            ios.flags = words[FLAGS] as u32;
            ios.fill = words[2] as u8;
            ios.is_fill_set = (words[2] >> 8) as u8;
            if buffers {
                ios.buffer = match words[BUFFER] {
                    OWN => stream.own,
                    number if number <= streams.len() as u64 => streams[number as usize - 1].own,
                    address => address as *mut usize,
                };
            }
        }
    }
}

/// Rank 0, at a fork: what the other ranks adopt.
pub(crate) fn agree() -> [u64; WORDS] {
    AGREED.with(|agreed| {
        *agreed = current();
        *agreed
    })
}

/// The other ranks, at a fork: take over rank 0's streams.
pub(crate) fn adopt(words: &[u64]) {
    let words = words.try_into().expect("all words");
    AGREED.with(|agreed| *agreed = words);
    set(&words, true);
}

/// The formats that this rank has changed since the ranks agreed last: an index and a word each.
pub(crate) fn changes() -> Vec<u64> {
    AGREED.with(|agreed| {
        let now = current();
        (0..WORDS)
            .filter(|&index| now[index] != agreed[index] && index % OF_STREAM != BUFFER)
            .flat_map(|index| [index as u64, now[index]])
            .collect()
    })
}

/// Applies the changes of all ranks, in rank order. Of flags, each rank's changed ones.
pub(crate) fn merge<'a>(changes: impl Iterator<Item = &'a [u64]>) {
    AGREED.with(|agreed| {
        let before = *agreed;
        for change in changes.flat_map(|changes| changes.chunks_exact(2)) {
            let (index, word) = (change[0] as usize, change[1]);
            if index % OF_STREAM == FLAGS {
                let changed = word ^ before[index];
                agreed[index] = agreed[index] & !changed | word & changed;
            } else {
                agreed[index] = word;
            }
        }
        if *agreed != before {
            set(agreed, false);
        }
    });
}

/// Whether `std::cout` writes to an object of the program's.
pub(crate) fn is_redirected() -> bool {
    // SAFETY: as in `current`.
    unsafe { streams()[0].ios.as_ref() }.is_some_and(|ios| is_programs(ios.buffer))
}

/// Whether the region at `location` must run on rank 0 alone because a stream has what only this process
/// can use. If so the user is told, once.
pub(crate) fn declines(location: &str) -> bool {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some(obstacle) = streams().iter().find_map(obstacle) else {
        return false;
    };
    if !TOLD.swap(true, Relaxed) {
        report::warn(&format!(
            "warning: the parallel region {} runs on rank 0 alone, as all do while a standard stream of C++ \
             {obstacle}",
            report::at(location)
        ));
    }
    true
}

fn obstacle(stream: &Stream) -> Option<&'static str> {
    static FILE_BUFFER: OnceLock<usize> = OnceLock::new();
    const NAME: &std::ffi::CStr = c"_ZTVSt13basic_filebufIcSt11char_traitsIcEE";
    const BEHIND_HEADER: usize = 16;
    // SAFETY: as in `current`.
    let ios = unsafe { stream.ios.as_ref() }?;
    if ios.locale != stream.locale {
        return Some("has a locale that was given to it by imbue");
    }
    if !is_programs(ios.buffer) {
        return None;
    }
    let table = *FILE_BUFFER.get_or_init(|| {
        // SAFETY: looks up a variable of libstdc++.
        let table = scopes::private(|| unsafe { Opened::PROGRAM.symbol::<*const c_void>(NAME) });
        table.map_or(0, |table| table as usize)
    });
    // SAFETY: a buffer starts with its virtual table. Serial code asks, so that its page can be fetched.
    let is_file = table != 0 && unsafe { *ios.buffer } == table + BEHIND_HEADER;
    is_file.then_some(
        "writes to the program's own std::filebuf: that file is open in one process only",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_several_ranks_add_up() {
        const PRECISION: u64 = 0;
        AGREED.with(|agreed| *agreed = [0; WORDS]);
        AGREED.with(|agreed| agreed[FLAGS] = 0b0001);
        let one: &[u64] = &[FLAGS as u64, 0b0110, PRECISION, 3];
        let two: &[u64] = &[FLAGS as u64, 0b1001, PRECISION, 4];
        merge([one, two].into_iter());
        AGREED.with(|agreed| {
            assert_eq!(agreed[FLAGS], 0b1110);
            assert_eq!(agreed[PRECISION as usize], 4);
        });
    }
}
