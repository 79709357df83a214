//! The functions of the HDF5 library.
//!
//! Guarantee: a program that uses no HDF5 files needs no HDF5. The library is looked for at the first use: the one that
//! `OKL_HDF5` names, or the one that the program has itself, or that of the system; on several ranks, one with which they
//! write together, if there is one. One that calls another MPI than this library is not used.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    ops::Deref,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use okl_job::{functions, opened::Opened};

use crate::{
    job::{self, Comm, Info},
    report::text,
};

/// `hid_t`.
pub(super) type Id = i64;

/// `H5E_auto2_t`, which is only kept and given back.
pub(super) type Report = *mut c_void;

/// `H5T_conv_except_func_t`: kind, source and target type, source and target value, what was given with it.
pub(super) type OnConversion =
    unsafe extern "C" fn(c_int, Id, Id, *mut c_void, *mut c_void, *mut c_void) -> c_int;

/// `H5E_error2_t`.
#[repr(C)]
pub(super) struct Cause {
    class: Id,
    major: Id,
    minor: Id,
    line: c_uint,
    function: *const c_char,
    file: *const c_char,
    description: *const c_char,
}

functions! {
    /// Functions that are there since HDF5 1.10.
    Functions {
        H5Acreate2(Id, *const c_char, Id, Id, Id, Id) -> Id;
        H5Awrite(Id, Id, *const c_void) -> c_int;
        H5Dcreate2(Id, *const c_char, Id, Id, Id, Id, Id) -> Id;
        H5Dget_space(Id) -> Id;
        H5Dget_type(Id) -> Id;
        H5Dopen2(Id, *const c_char, Id) -> Id;
        H5Dread(Id, Id, Id, Id, Id, *mut c_void) -> c_int;
        H5Dwrite(Id, Id, Id, Id, Id, *const c_void) -> c_int;
        H5Eget_auto2(Id, *mut Report, *mut *mut c_void) -> c_int;
        H5Eset_auto2(Id, Report, *mut c_void) -> c_int;
        H5Ewalk2(Id, c_int, unsafe extern "C" fn(c_uint, *const Cause, *mut c_void) -> c_int, *mut c_void) -> c_int;
        H5Fclose(Id) -> c_int;
        H5Fcreate(*const c_char, c_uint, Id, Id) -> Id;
        H5Fopen(*const c_char, c_uint, Id) -> Id;
        H5Idec_ref(Id) -> c_int;
        H5Lexists(Id, *const c_char, Id) -> c_int;
        H5Pcreate(Id) -> Id;
        H5Pset_create_intermediate_group(Id, c_uint) -> c_int;
        H5Pset_type_conv_cb(Id, OnConversion, *mut c_void) -> c_int;
        H5Screate(c_int) -> Id;
        H5Screate_simple(c_int, *const u64, *const u64) -> Id;
        H5Sget_simple_extent_dims(Id, *mut u64, *mut u64) -> c_int;
        H5Sget_simple_extent_ndims(Id) -> c_int;
        H5Sselect_hyperslab(Id, c_int, *const u64, *const u64, *const u64, *const u64) -> c_int;
        H5Sselect_none(Id) -> c_int;
        H5Tcopy(Id) -> Id;
        H5Tget_class(Id) -> c_int;
        H5Tget_size(Id) -> usize;
        H5Tset_size(Id, usize) -> c_int;
    }
}
functions! {
    /// What comes first.
    Start {
        H5get_libversion(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
        H5open() -> c_int;
    }
}
functions! {
    /// Functions of a library that is made for MPI.
    ForRanks {
        H5Pset_dxpl_mpio(Id, c_int) -> c_int;
        H5Pset_dxpl_mpio_collective_opt(Id, c_int) -> c_int;
        H5Pset_fapl_mpio(Id, Comm, Info) -> c_int;
    }
}

/// Identifiers that the library has from the beginning.
pub(super) struct Identifiers {
    pub(super) link_creation: Id,
    pub(super) access: Id,
    pub(super) transfer: Id,
    pub(super) string: Id,
    pub(super) double: Id,
    pub(super) float: Id,
    pub(super) int: Id,
    pub(super) unsigned: Id,
    pub(super) long: Id,
    pub(super) unsigned_long: Id,
    pub(super) byte: Id,
}

impl Identifiers {
    /// # Safety
    /// `H5open` of this library has returned.
    unsafe fn of(library: Opened) -> Result<Self, String> {
        let read = |name| {
            // SAFETY: the caller's promise: variables of this type, which do not change any more.
            unsafe { library.symbol::<*const Id>(name).map(|at| at.read()) }
        };
        Ok(Self {
            link_creation: read(c"H5P_CLS_LINK_CREATE_ID_g")?,
            access: read(c"H5P_CLS_FILE_ACCESS_ID_g")?,
            transfer: read(c"H5P_CLS_DATASET_XFER_ID_g")?,
            string: read(c"H5T_C_S1_g")?,
            double: read(c"H5T_NATIVE_DOUBLE_g")?,
            float: read(c"H5T_NATIVE_FLOAT_g")?,
            int: read(c"H5T_NATIVE_INT_g")?,
            unsigned: read(c"H5T_NATIVE_UINT_g")?,
            long: read(c"H5T_NATIVE_LLONG_g")?,
            unsigned_long: read(c"H5T_NATIVE_ULLONG_g")?,
            byte: read(c"H5T_NATIVE_UINT8_g")?,
        })
    }
}

/// An HDF5 library that has started.
pub(super) struct Library {
    functions: Functions,
    pub(super) ids: Identifiers,
    /// What ranks need to open files together; why that is not there.
    for_ranks: Result<ForRanks, String>,
}

impl Deref for Library {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

fn is_for_ranks(library: Opened) -> bool {
    library.has(c"H5Pset_fapl_mpio")
}

impl Library {
    /// Starts it; `without` says that it has nothing to do with MPI, if so.
    fn start(library: Opened, without: &str) -> Result<Self, String> {
        // It would take this MPI's communicators for something else.
        if is_for_ranks(library) {
            library.require_this_mpi()?;
        }
        // SAFETY: the functions have these signatures since HDF5 1.10; the identifiers are there once H5open has returned.
        unsafe {
            let start = Start::of(library).map_err(|why| format!("{why}: it is no HDF5"))?;
            let (mut major, mut minor, mut release) = (0, 0, 0);
            if (start.H5get_libversion)(&mut major, &mut minor, &mut release) < 0
                || (start.H5open)() < 0
            {
                return Err("it does not start".to_owned());
            }
            if (major, minor) < (1, 10) {
                return Err(format!(
                    "HDF5 {major}.{minor}.{release} is too old: 1.10 is needed"
                ));
            }
            Ok(Self {
                functions: Functions::of(library)?,
                ids: Identifiers::of(library)?,
                for_ranks: match is_for_ranks(library) {
                    true => ForRanks::of(library),
                    false => Err(without.to_owned()),
                },
            })
        }
    }
}

/// Where the system may have one for one rank, and one for several: Debian's and Ubuntu's names, and those of others.
const SERIAL: [&CStr; 7] = [
    c"libhdf5_serial.so.103",
    c"libhdf5_serial.so.310",
    c"libhdf5_serial.so",
    c"libhdf5.so.103",
    c"libhdf5.so.200",
    c"libhdf5.so.310",
    c"libhdf5.so",
];
const FOR_RANKS: [&CStr; 6] = [
    c"libhdf5_openmpi.so.103",
    c"libhdf5_openmpi.so.310",
    c"libhdf5_openmpi.so",
    c"libhdf5_mpich.so.103",
    c"libhdf5_mpich.so.310",
    c"libhdf5_mpich.so",
];

const MISSING: &str = "the HDF5 library is missing: install the Debian package libhdf5-103-1 (libhdf5-310 from Debian 13 \
                       on), or let OKL_HDF5 name the library";
const MISSING_FOR_RANKS: &str = "there is no HDF5 library for this MPI: install the Debian package libhdf5-openmpi-103-1 \
                                 (libhdf5-openmpi-310 from Debian 13 on), or let OKL_HDF5 name the library";

/// Those that there are under these names.
fn named<'a>(names: [&[&'a CStr]; 2]) -> impl Iterator<Item = (&'a CStr, Opened)> {
    let names = names.concat().into_iter();
    names.filter_map(|name| Some((name, Opened::new(name).ok()?)))
}

fn find(asked: &str, ranks: usize, [serial, for_ranks]: [&[&CStr]; 2]) -> Result<Library, String> {
    if !asked.is_empty() {
        let name = CString::new(asked).map_err(|_| "OKL_HDF5 holds a zero byte".to_owned())?;
        let library = Opened::new(&name)
            .map_err(|why| format!("OKL_HDF5: the library cannot be loaded: {why}"))?;
        let without = format!("OKL_HDF5={asked} is made without MPI");
        return Library::start(library, &without).map_err(|why| format!("OKL_HDF5={asked}: {why}"));
    }
    // Two of them in a program might take each other's functions.
    if Opened::PROGRAM.has(c"H5open") {
        let without = "the program's own HDF5 library is made without MPI";
        return Library::start(Opened::PROGRAM, without)
            .map_err(|why| format!("the program's own HDF5 library: {why}"));
    }
    let is_right = |library: Opened| !is_for_ranks(library) || library.require_this_mpi().is_ok();
    let mut found = None;
    if ranks > 1 {
        found = named([for_ranks, serial])
            .find(|&(_, library)| is_for_ranks(library) && is_right(library));
    }
    let (name, library) = found
        .or_else(|| named([serial, for_ranks]).find(|&(_, library)| is_right(library)))
        .ok_or(MISSING)?;
    Library::start(library, MISSING_FOR_RANKS)
        .map_err(|why| format!("{}: {why}", name.to_string_lossy()))
}

/// The library; why there is none.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let find = || {
        let asked = std::env::var("OKL_HDF5").unwrap_or_default();
        find(&asked, job::ranks(), [&SERIAL, &FOR_RANKS])
    };
    LIBRARY.get_or_init(find).as_ref().map_err(String::as_str)
}

/// Why not all ranks can write a file together, if they cannot; the same on all of them. Collective.
pub(super) fn require_for_ranks() -> Result<(), &'static str> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    let ask = || {
        job::agree(match library() {
            Ok(library) => library
                .for_ranks
                .as_ref()
                .map(|_| ())
                .map_err(String::clone),
            Err(why) => Err(why.to_owned()),
        })
    };
    KNOWN
        .get_or_init(ask)
        .as_ref()
        .map_err(|why| why.as_str())
        .copied()
}

static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether something went wrong.
pub(super) fn has_failed() -> bool {
    FAILED.load(Relaxed)
}

impl Library {
    /// What ranks need to open files together.
    pub(super) fn for_ranks(&self) -> Result<&ForRanks, String> {
        self.for_ranks.as_ref().map_err(String::clone)
    }

    /// What went wrong in the call before, as the library sees it; the program ends because of that.
    pub(super) fn cause(&self) -> String {
        FAILED.store(true, Relaxed);
        unsafe extern "C" fn note(_: c_uint, cause: *const Cause, to: *mut c_void) -> c_int {
            // SAFETY: what is passed below, and one of the library's entries.
            unsafe {
                let to = &mut *to.cast::<String>();
                if to.is_empty() {
                    text((*cause).description).clone_into(to);
                }
            }
            0
        }
        let mut cause = String::new();
        // From the innermost call (0) of the default stack (0) outwards.
        // SAFETY: `note` gets the string.
        unsafe { (self.H5Ewalk2)(0, 0, note, (&raw mut cause).cast()) };
        match cause.is_empty() {
            true => "HDF5 does not say why".to_owned(),
            false => cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let names: [&[&CStr]; 2] = [&[c"libnone.so"], &[c"libnone.so"]];
        let why = |asked: &str| find(asked, 1, names).err().expect("there is none");
        assert_eq!(why(""), MISSING);
        assert!(
            why("/nowhere/libhdf5.so")
                .starts_with("OKL_HDF5: the library cannot be loaded: /nowhere/libhdf5.so: ")
        );
        assert_eq!(
            why("libm.so.6"),
            "OKL_HDF5=libm.so.6: it has no H5get_libversion: it is no HDF5"
        );
    }
}
