//! What Fortran programs write to units.
//!
//! Guarantee: what any rank writes to a unit before a synchronisation or inside a lock stands before what any rank
//! writes to it after it. A process has its own units, which flang's run-time library keeps in the executable. Standard
//! output (unit 6) and standard error are shared as C's are, if only what is held back is written out in time. Any other
//! unit is open on rank 0. Another rank writes to a unit of its own, whose file is in memory, and puts the text into
//! shared memory, from where rank 0 writes it before its own next statement, or when the region ends.

use std::{
    collections::HashMap,
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use okl_abi::FortranUnits;

use crate::{
    atomics::{
        okl_mpi_atomic_acquire, okl_mpi_atomic_cmpxchg, okl_mpi_atomic_load, okl_mpi_atomic_release,
    },
    cell::ProgramCell,
    console, mpi_job, program_graph, report,
};

/// Standard error and standard output: `error_unit` and `output_unit` of `iso_fortran_env`.
const PREDEFINED: [i32; 2] = [0, 6];

static UNITS: AtomicPtr<FortranUnits> = AtomicPtr::new(ptr::null_mut());
/// An OPEN statement that changes what is written to its unit.
static SPECIAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static STATE: ProgramCell<Option<State>> = ProgramCell::new(None);

#[derive(Default)]
struct State {
    /// Statements that have begun and not ended: a function that one of them calls may contain a region.
    open: u32,
    /// Predefined units that may hold back text.
    held: [bool; PREDEFINED.len()],
    /// For each unit of rank 0's to which this rank wrote.
    own: HashMap<i32, Own>,
}

/// A unit whose file is in memory.
#[derive(Clone, Copy)]
struct Own {
    unit: i32,
    file: c_int,
    /// Bytes of the file that are on their way.
    taken: usize,
}

/// A text on its way to rank 0, in front of its bytes in shared memory.
#[repr(C)]
struct Letter {
    next: *mut Letter,
    unit: i32,
    length: usize,
}

type Cookie = *mut c_void;

/// The library's functions. Statements have a file and a line for its messages.
struct Library(&'static FortranUnits);

macro_rules! library {
    ($($name:ident = $field:ident($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
        impl Library {
            $(fn $name(&self, $($arg: $type),*) -> $ret {
                // SAFETY: the pass puts the function of this signature there.
                let function = unsafe {
                    std::mem::transmute::<*mut c_void, extern "C" fn($($type),*) -> $ret>(self.0.$field)
                };
                function($($arg),*)
            })*
        }
    };
}

library! {
    begin_flush = begin_flush(unit: i32, file: *const u8, line: i32) -> Cookie;
    begin_open = begin_open_new_unit(file: *const u8, line: i32) -> Cookie;
    set_file = set_file(cookie: Cookie, name: *const u8, length: usize) -> bool;
    new_unit = get_new_unit(cookie: Cookie, unit: *mut i32, kind: i32) -> bool;
    begin_output = begin_formatted_output(format: *const u8, length: usize, descriptor: *const c_void, unit: i32,
        file: *const u8, line: i32) -> Cookie;
    set_advance = set_advance(cookie: Cookie, word: *const u8, length: usize) -> bool;
    output = output_ascii(cookie: Cookie, text: *const u8, length: usize) -> bool;
    end = end_io_statement(cookie: Cookie) -> i32;
}

/// The library, if the program writes to units at all.
fn library() -> Option<Library> {
    // SAFETY: a constant of the program.
    unsafe { UNITS.load(Relaxed).as_ref() }.map(Library)
}

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| body(state.get_or_insert_default()))
}

/// `okl_mpi_fortran_units`. An executable and its libraries have the same units if they have the same library; the first
/// counts.
pub(crate) fn okl_mpi_fortran_units(units: *mut c_void) {
    let units: *mut FortranUnits = units.cast();
    let _ = UNITS.compare_exchange(ptr::null_mut(), units, Relaxed, Relaxed);
    console::flush_also(flush);
    // SAFETY: a constant of the program.
    let special = unsafe { (*units).special };
    if !special.is_null() {
        SPECIAL.store(special, Relaxed);
    }
}

/// `okl_mpi_fortran_begin`.
pub(crate) fn okl_mpi_fortran_begin(unit: i32) -> i32 {
    if let Some(index) = PREDEFINED.iter().position(|known| *known == unit) {
        state(|state| {
            state.held[index] = true;
            state.open += 1;
        });
        return unit;
    }
    let named = if mpi_job::has_started() && mpi_job::rank() != 0 {
        own_unit(unit)
    } else {
        deliver();
        unit
    };
    state(|state| state.open += 1);
    named
}

/// `okl_mpi_fortran_end`.
pub(crate) fn okl_mpi_fortran_end(unit: i32) {
    state(|state| state.open = state.open.saturating_sub(1));
    let own = state(|state| {
        let mut own = state.own.iter();
        own.find(|(_, own)| own.unit == unit)
            .map(|(&unit, &own)| (unit, own))
    });
    if let Some((unit, own)) = own
        && !PREDEFINED.contains(&own.unit)
    {
        post(unit, own);
    }
}

/// The unit of this rank that stands for `unit`.
fn own_unit(unit: i32) -> i32 {
    if let Some(own) = state(|state| state.own.get(&unit).copied()) {
        return own.unit;
    }
    let special = SPECIAL.load(Relaxed);
    if !special.is_null() {
        report::fatal(&format!(
            "writes to unit {unit}, while the program opens units with {}: other ranks than 0 do not know how that \
             changes the text; let the master thread write it",
            program_graph::text(special)
        ));
    }
    let library = library().expect("the module of this statement has handed it over");
    // SAFETY: a new descriptor of this process.
    let file = unsafe { libc::memfd_create(c"okl-unit".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        report::fatal(&format!(
            "no memory for what is written to unit {unit}: {}",
            std::io::Error::last_os_error()
        ));
    }
    let name = format!("/proc/self/fd/{file}");
    let mut own = 0;
    let cookie = library.begin_open(c"okl".as_ptr().cast(), 0);
    library.set_file(cookie, name.as_ptr(), name.len());
    library.new_unit(cookie, &mut own, 4);
    library.end(cookie);
    let own = Own {
        unit: own,
        file,
        taken: 0,
    };
    state(|state| state.own.insert(unit, own));
    own.unit
}

/// Sends what a statement wrote to the rank's own unit.
fn post(unit: i32, own: Own) {
    let Some(library) = library() else { return };
    library.end(library.begin_flush(own.unit, c"okl".as_ptr().cast(), 0));
    // SAFETY: asks for the size of a file of our own.
    let size = unsafe { libc::lseek(own.file, 0, libc::SEEK_END) } as usize;
    let length = size.saturating_sub(own.taken);
    if length == 0 {
        return;
    }
    // SAFETY: a block of the program's memory, as the caller is program code: a letter, and `length` bytes that are
    // read from the file, whose memory is given back. Nobody else knows the block before it is the newest letter.
    unsafe {
        let letter = libc::malloc(size_of::<Letter>() + length).cast::<Letter>();
        if letter.is_null() {
            report::fatal(&format!("no memory for what is written to unit {unit}"));
        }
        let text = letter.add(1).cast::<u8>();
        let got = libc::pread(own.file, text.cast(), length, own.taken as i64);
        assert_eq!(got, length as isize, "reading what was written to a unit");
        libc::fallocate(
            own.file,
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
            0,
            size as i64,
        );
        letter.write(Letter {
            next: ptr::null_mut(),
            unit,
            length,
        });
        let mail = library.0.mail;
        let mut newest = okl_mpi_atomic_load(mail, 8);
        loop {
            (*letter).next = newest as *mut Letter;
            okl_mpi_atomic_release();
            let found = okl_mpi_atomic_cmpxchg(mail, newest, letter as i64, 8);
            if found == newest {
                break;
            }
            newest = found;
        }
    }
    state(|state| {
        if let Some(own) = state.own.get_mut(&unit) {
            own.taken = size;
        }
    });
}

/// Rank 0: writes what other ranks sent.
pub(crate) fn deliver() {
    let Some(library) = library() else { return };
    if !mpi_job::has_started() || mpi_job::rank() != 0 || state(|state| state.open) > 0 {
        return;
    }
    let mail = library.0.mail;
    let mut newest = okl_mpi_atomic_load(mail, 8);
    if newest == 0 {
        return;
    }
    loop {
        let found = okl_mpi_atomic_cmpxchg(mail, newest, 0, 8);
        if found == newest {
            break;
        }
        newest = found;
    }
    okl_mpi_atomic_acquire();
    let mut letters = Vec::new();
    let mut letter = newest as *mut Letter;
    while !letter.is_null() {
        letters.push(letter);
        // SAFETY: letters are complete before they are in the list, and stay until they are freed below.
        letter = unsafe { (*letter).next };
    }
    for letter in letters.into_iter().rev() {
        // SAFETY: as above; the bytes follow the letter.
        unsafe {
            let text = std::slice::from_raw_parts(letter.add(1).cast::<u8>(), (*letter).length);
            library.write((*letter).unit, text);
            libc::free(letter.cast());
        }
    }
}

impl Library {
    /// Writes records to a unit; the last one is not complete if no line end follows it.
    fn write(&self, unit: i32, text: &[u8]) {
        for record in text.split_inclusive(|&byte| byte == b'\n') {
            let format = "(A)";
            let cookie = self.begin_output(
                format.as_ptr(),
                format.len(),
                ptr::null(),
                unit,
                c"okl".as_ptr().cast(),
                0,
            );
            let line = record.strip_suffix(b"\n");
            if line.is_none() {
                let word = "NO";
                self.set_advance(cookie, word.as_ptr(), word.len());
            }
            let line = line.unwrap_or(record);
            self.output(cookie, line.as_ptr(), line.len());
            self.end(cookie);
        }
    }
}

/// Writes out what predefined units hold back.
fn flush() {
    let Some(library) = library() else { return };
    let held = state(|state| match state.open {
        0 => std::mem::take(&mut state.held),
        _ => [false; PREDEFINED.len()],
    });
    for (unit, _) in PREDEFINED.iter().zip(held).filter(|(_, held)| *held) {
        library.end(library.begin_flush(*unit, c"okl".as_ptr().cast(), 0));
    }
}
