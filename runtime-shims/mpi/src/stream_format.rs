//! How the standard streams of C++ format what is written to them. The streams belong to the C++
//! library, of which every rank has its own; threads of one process share them. What rank 0 has set
//! before a fork therefore holds on every rank in the region.

use std::{ffi::c_void, sync::OnceLock};

use crate::program;

const STREAMS: [&std::ffi::CStr; 3] = [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"];

/// Words of the formats.
pub(crate) const WORDS: usize = 2 * STREAMS.len();

/// The start of libstdc++'s `std::basic_ios<char>`, whose layout is part of its ABI. The width is
/// not sticky.
#[repr(C)]
struct Ios {
    virtual_table: *const isize,
    precision: i64,
    width: i64,
    flags: u32,
    /// State, exceptions, callbacks, user words and the locale, up to `std::ios_base`'s end; the
    /// tied stream.
    others: [u32; 49],
    fill: u8,
    is_fill_set: u8,
}

const _: () = assert!(std::mem::offset_of!(Ios, fill) == 224);

/// Where the streams' formats are; null where the program has no libstdc++.
fn places() -> [*mut Ios; STREAMS.len()] {
    static PLACES: OnceLock<[usize; STREAMS.len()]> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        STREAMS.map(|name| {
            // SAFETY: looks up a variable of libstdc++.
            let stream =
                program::private(|| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
            // SAFETY: a stream of libstdc++, where there is one.
            unsafe { format_of(stream) as usize }
        })
    });
    places.map(|place| place as *mut Ios)
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

/// The formats of this rank's streams.
pub(crate) fn current() -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (words, place) in words.chunks_mut(2).zip(places()) {
        // SAFETY: null or a stream that lives as long as the process.
        if let Some(ios) = unsafe { place.as_ref() } {
            words[0] = ios.precision as u64;
            words[1] =
                u64::from(ios.flags) | u64::from(ios.fill) << 32 | u64::from(ios.is_fill_set) << 40;
        }
    }
    words
}

/// Takes over the formats of another rank.
pub(crate) fn adopt(words: &[u64]) {
    for (words, place) in words.chunks(2).zip(places()) {
        // SAFETY: as in `current`; only the program's thread uses the streams.
        if let Some(ios) = unsafe { place.as_mut() } {
            ios.precision = words[0] as i64;
            ios.flags = words[1] as u32;
            ios.fill = (words[1] >> 32) as u8;
            ios.is_fill_set = (words[1] >> 40) as u8;
        }
    }
}
