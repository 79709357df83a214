//! Files, and datasets in them.
//!
//! Guarantee: no value is changed on its way: where the file's type and the program's differ, values are converted, and
//! one that the other type does not have is an error. Errors say what is wrong with the file; HDF5 prints nothing itself.
//!
//! Where ranks have a file together, all of them make, change and close it, with the same arguments; each writes rows of its
//! own, all at the same time, and each reads for itself. Where one fails, its file stays open until the job ends: the others may
//! wait for it elsewhere.

use std::{
    ffi::{CString, c_int, c_void},
    ops::Range,
};

use super::library::{Id, Library, Report, has_failed, library};
use crate::{job, value::Value};

/// The type that programs call so, in C or in Fortran.
pub(super) fn value_of(type_name: &str) -> Result<Value, String> {
    let name = type_name.strip_suffix(":soa").unwrap_or(type_name);
    let found = Value::of(name).or(match name {
        "double precision" | "real(8)" => Some(Value::Double),
        "real(4)" | "real" => Some(Value::Float),
        "int(4)" | "integer" | "integer(4)" => Some(Value::Int),
        "long" | "long long" => Some(Value::Long),
        _ => None,
    });
    found.ok_or_else(|| format!("HDF5 files hold no values of the type \"{type_name}\""))
}

impl Value {
    /// HDF5's type for it.
    fn id(self, library: &Library) -> Id {
        match self {
            Self::Double => library.ids.double,
            Self::Float => library.ids.float,
            Self::Int => library.ids.int,
            Self::Unsigned => library.ids.unsigned,
            Self::Long => library.ids.long,
            Self::UnsignedLong => library.ids.unsigned_long,
            Self::Bool => library.ids.byte,
        }
    }

    fn class(self) -> c_int {
        match self {
            Self::Double | Self::Float => FLOAT,
            _ => INTEGER,
        }
    }
}

// Values of `H5T_class_t`.
const INTEGER: c_int = 0;
const FLOAT: c_int = 1;
const CLASSES: [&str; 11] = [
    "integers",
    "numbers",
    "times",
    "strings",
    "bits",
    "bytes without a meaning",
    "structures",
    "references",
    "enumerations",
    "lists",
    "arrays",
];

/// Values of `H5T_conv_except_t` from here on are infinities, and what is no number.
const INFINITIES: c_int = 4;

/// `H5P_DEFAULT`.
const DEFAULT: Id = 0;

/// `H5S_ALL`, for memory and for the file.
const ALL: (Id, Id) = (0, 0);

/// `H5FD_MPIO_COLLECTIVE`: all ranks take part.
const COLLECTIVE: c_int = 1;

/// `H5FD_MPIO_INDIVIDUAL_IO`: each writes its own. Rows of a rank are one behind the other, and many: to send them to fewer
/// ranks first, as MPI may otherwise do, would gain nothing and need room there.
const INDIVIDUAL: c_int = 1;

/// An identifier, which is given back in the end. (Not where the program ends: other ranks do not give theirs back.)
struct Handle(Id);

impl Drop for Handle {
    fn drop(&mut self) {
        if let Ok(library) = library()
            && !has_failed()
        {
            // SAFETY: an identifier of the library, which nobody uses any more.
            unsafe { (library.H5Idec_ref)(self.0) };
        }
    }
}

impl Library {
    fn handle(&self, id: Id) -> Result<Handle, String> {
        match id {
            0.. => Ok(Handle(id)),
            _ => Err(self.cause()),
        }
    }

    fn require(&self, status: c_int) -> Result<c_int, String> {
        match status {
            0.. => Ok(status),
            _ => Err(self.cause()),
        }
    }
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a name holds a zero byte".to_owned())
}

/// What HDF5 does with its own messages, which is restored in the end.
struct Quiet {
    library: &'static Library,
    report: Report,
    data: *mut c_void,
}

impl Quiet {
    fn new(library: &'static Library) -> Self {
        let (mut report, mut data) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: writes to the two variables; the default stack is 0.
        unsafe {
            (library.H5Eget_auto2)(0, &mut report, &mut data);
            (library.H5Eset_auto2)(0, std::ptr::null_mut(), std::ptr::null_mut());
        }
        Self {
            library,
            report,
            data,
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: what the library gave.
        unsafe { (self.library.H5Eset_auto2)(0, self.report, self.data) };
    }
}

/// In place of an identifier.
const CLOSED: Id = -1;

/// A list that says that all ranks open a file.
fn shared(library: &Library) -> Result<Handle, String> {
    let for_ranks = library.for_ranks()?;
    // SAFETY: a new list, and the communicator of all ranks, of the MPI that the library calls.
    unsafe {
        let way = library.handle((library.H5Pcreate)(library.ids.access))?;
        let set = (for_ranks.H5Pset_fapl_mpio)(way.0, job::communicator(), job::no_info());
        library.require(set)?;
        Ok(way)
    }
}

/// An open file.
pub(super) struct File {
    id: Id,
    quiet: Quiet,
    /// All ranks have it, together.
    is_shared: bool,
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// It is made if it is not there.
    Change,
    /// What it held is lost.
    Create,
}

impl File {
    /// `is_shared`: all ranks do so together, which the library must be made for.
    pub(super) fn open(path: &str, access: Access, is_shared: bool) -> Result<Self, String> {
        let mut exists = [u8::from(std::path::Path::new(path).exists())];
        if is_shared {
            // Another rank may be about to make it.
            job::broadcast(&mut exists, 0);
        }
        let exists = exists == [1];
        if access == Access::Read && !exists {
            return Err("there is no such file".to_owned());
        }
        let library = library()?;
        let quiet = Quiet::new(library);
        let name = c_string(path)?;
        let way = is_shared.then(|| shared(library)).transpose()?;
        let way = way.as_ref().map_or(DEFAULT, |way| way.0);
        // SAFETY: a string; the numbers are H5F_ACC_RDONLY, H5F_ACC_RDWR, H5F_ACC_TRUNC.
        let id = unsafe {
            match access {
                Access::Read => (library.H5Fopen)(name.as_ptr(), 0, way),
                Access::Change if exists => (library.H5Fopen)(name.as_ptr(), 1, way),
                _ => (library.H5Fcreate)(name.as_ptr(), 2, DEFAULT, way),
            }
        };
        match id {
            0.. => Ok(Self {
                id,
                quiet,
                is_shared,
            }),
            _ => Err(format!("the file cannot be opened: {}", library.cause())),
        }
    }

    /// Writes what is still to be written.
    pub(super) fn close(mut self) -> Result<(), String> {
        let id = std::mem::replace(&mut self.id, CLOSED);
        // SAFETY: an open file.
        let done = unsafe { (self.library().H5Fclose)(id) };
        self.require(done).map(|_| ())
    }

    fn library(&self) -> &'static Library {
        self.quiet.library
    }

    fn handle(&self, id: Id) -> Result<Handle, String> {
        self.library().handle(id)
    }

    fn require(&self, status: c_int) -> Result<c_int, String> {
        self.library().require(status)
    }

    /// Whether something of that name is in the file.
    pub(super) fn has(&self, name: &str) -> Result<bool, String> {
        let mut path = String::new();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            path.push('/');
            path.push_str(part);
            let path = c_string(&path)?;
            // SAFETY: an open file and a string.
            let found = unsafe { (self.library().H5Lexists)(self.id, path.as_ptr(), DEFAULT) };
            // Less than 0: what is on the way to it is no group.
            if found <= 0 {
                return Ok(false);
            }
        }
        Ok(!path.is_empty())
    }

    /// The dataset of that name.
    pub(super) fn dataset(&self, name: &str) -> Result<Dataset<'_>, String> {
        if !self.has(name)? {
            return Err("the file has no such dataset".to_owned());
        }
        let library = self.library();
        let name = c_string(name)?;
        // SAFETY: an open file and a string; then an open dataset, its space and type.
        unsafe {
            let id = self.handle((library.H5Dopen2)(self.id, name.as_ptr(), DEFAULT))?;
            let space = self.handle((library.H5Dget_space)(id.0))?;
            let rank = self.require((library.H5Sget_simple_extent_ndims)(space.0))?;
            let mut shape = vec![0; rank as usize];
            let sizes = shape.as_mut_ptr();
            self.require((library.H5Sget_simple_extent_dims)(
                space.0,
                sizes,
                std::ptr::null_mut(),
            ))?;
            let values = self.handle((library.H5Dget_type)(id.0))?;
            let class = self.require((library.H5Tget_class)(values.0))?;
            let bytes = (library.H5Tget_size)(values.0);
            Ok(Dataset {
                file: self,
                id,
                shape,
                class,
                bytes,
            })
        }
    }

    /// Makes a dataset, and the groups on the way to it.
    pub(super) fn create(
        &self,
        name: &str,
        value: Value,
        shape: &[u64],
    ) -> Result<Dataset<'_>, String> {
        if self.has(name)? {
            return Err("there is something of that name already".to_owned());
        }
        let library = self.library();
        let path = c_string(name)?;
        // SAFETY: an open file, a string, a shape of that rank, and what these calls make.
        unsafe {
            let space = self.handle((library.H5Screate_simple)(
                shape.len() as c_int,
                shape.as_ptr(),
                std::ptr::null(),
            ))?;
            let way = self.handle((library.H5Pcreate)(library.ids.link_creation))?;
            self.require((library.H5Pset_create_intermediate_group)(way.0, 1))?;
            let id = self.handle((library.H5Dcreate2)(
                self.id,
                path.as_ptr(),
                value.id(library),
                space.0,
                way.0,
                DEFAULT,
                DEFAULT,
            ))?;
            Ok(Dataset {
                file: self,
                id,
                shape: shape.to_vec(),
                class: value.class(),
                bytes: value.bytes(),
            })
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Ranks close what they share together, or not at all.
        if self.id != CLOSED && !self.is_shared {
            // SAFETY: an open file.
            unsafe { (self.library().H5Fclose)(self.id) };
        }
    }
}

/// A dataset of an open file.
pub(super) struct Dataset<'a> {
    file: &'a File,
    id: Handle,
    pub(super) shape: Vec<u64>,
    class: c_int,
    /// Of a value in the file.
    bytes: usize,
}

/// Ends a conversion at a value that the other type does not have.
unsafe extern "C" fn stop(
    kind: c_int,
    _: Id,
    target: Id,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
) -> c_int {
    const ABORT: c_int = -1;
    const UNHANDLED: c_int = 0;
    // SAFETY: the library's own type.
    let class = library().map_or(INTEGER, |library| unsafe { (library.H5Tget_class)(target) });
    match kind >= INFINITIES && class == FLOAT {
        true => UNHANDLED,
        false => ABORT,
    }
}

impl Dataset<'_> {
    /// The number of values.
    fn count(&self) -> Result<usize, String> {
        let all = self
            .shape
            .iter()
            .try_fold(1u64, |all, &one| all.checked_mul(one));
        let all = all.and_then(|all| usize::try_from(all).ok());
        all.ok_or_else(|| "there are more values than memory can hold".to_owned())
    }

    /// What the values are in the file.
    pub(super) fn kind(&self) -> String {
        let class = usize::try_from(self.class).ok();
        let class = class.and_then(|class| CLASSES.get(class));
        format!("{} of {} bits", class.unwrap_or(&"values"), 8 * self.bytes)
    }

    /// Whether the file's type is of the same kind and width.
    pub(super) fn holds(&self, value: Value) -> bool {
        self.class == value.class() && self.bytes == value.bytes()
    }

    /// Whether values are rounded when they are read.
    pub(super) fn is_rounded(&self, value: Value) -> bool {
        self.class == FLOAT && value.class() == FLOAT && self.bytes > value.bytes()
    }

    /// All values.
    pub(super) fn read(&self, value: Value) -> Result<Vec<u8>, String> {
        let length = self.count()?.checked_mul(value.bytes());
        let length = length.ok_or("there are more values than memory can hold")?;
        let mut bytes = vec![0u8; length];
        // SAFETY: there is room for all values.
        unsafe { self.read_from(value, ALL, &mut bytes)? };
        Ok(bytes)
    }

    /// The values of some rows.
    pub(super) fn read_rows(
        &self,
        value: Value,
        rows: Range<usize>,
        room: &mut [u8],
    ) -> Result<(), String> {
        let places = self.places(rows, value, room.len())?;
        // SAFETY: there is room for these values.
        unsafe { self.read_from(value, (places.0.0, places.1.0), room) }
    }

    /// Where rows are in memory and in the file: spaces, of as many values as `length` bytes hold.
    fn places(
        &self,
        rows: Range<usize>,
        value: Value,
        length: usize,
    ) -> Result<(Handle, Handle), String> {
        let library = self.file.library();
        let mut counts = self.shape.clone();
        let mut starts = vec![0; counts.len()];
        let [all, ..] = &mut counts[..] else {
            return Err("the dataset has no rows".to_owned());
        };
        let is_inside = rows.start <= rows.end && rows.end as u64 <= *all;
        (starts[0], *all) = (rows.start as u64, rows.len() as u64);
        let values: u64 = counts.iter().product();
        if !is_inside || values != (length / value.bytes()) as u64 {
            return Err(format!("there are no rows {rows:?}"));
        }
        let none = std::ptr::null();
        // SAFETY: arrays of the dataset's rank; the numbers are H5S_SELECT_SET.
        unsafe {
            let rank = counts.len() as c_int;
            let made = (library.H5Screate_simple)(rank, counts.as_ptr(), none);
            let memory = self.file.handle(made)?;
            let file = self.file.handle((library.H5Dget_space)(self.id.0))?;
            let (starts, counts) = (starts.as_ptr(), counts.as_ptr());
            let selected = (library.H5Sselect_hyperslab)(file.0, 0, starts, none, counts, none);
            self.file.require(selected)?;
            Ok((memory, file))
        }
    }

    /// # Safety
    /// There is room for the values at these places, in memory and in the file.
    unsafe fn read_from(
        &self,
        value: Value,
        (memory, file): (Id, Id),
        bytes: &mut [u8],
    ) -> Result<(), String> {
        if !matches!(self.class, INTEGER | FLOAT) {
            return Err(format!(
                "the dataset holds {}, not values of type \"{}\"",
                self.kind(),
                value.name()
            ));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let library = self.file.library();
        let way = self.transfer()?;
        // SAFETY: the caller's promise.
        let done = unsafe {
            let to = bytes.as_mut_ptr().cast();
            (library.H5Dread)(self.id.0, value.id(library), memory, file, way.0, to)
        };
        if let Err(cause) = self.file.require(done) {
            return Err(match self.holds(value) {
                true => format!("the dataset cannot be read: {cause}"),
                false => format!(
                    "the dataset holds {}, and cannot be read as \"{}\": {cause}",
                    self.kind(),
                    value.name()
                ),
            });
        }
        if value == Value::Bool {
            bytes.iter_mut().for_each(|one| *one = u8::from(*one != 0));
        }
        Ok(())
    }

    /// Writes all values: those of rank 0, where all write.
    pub(super) fn write(&self, value: Value, bytes: &[u8]) -> Result<(), String> {
        match self.file.is_shared && job::rank() > 0 {
            true => self.write_rows(value, 0, &[]),
            false => self.write_rows(value, 0, bytes),
        }
    }

    /// Writes the rows from number `first` on.
    pub(super) fn write_rows(
        &self,
        value: Value,
        first: usize,
        bytes: &[u8],
    ) -> Result<(), String> {
        let library = self.file.library();
        let columns: u64 = self.shape.iter().skip(1).product();
        let count = bytes.len() / (columns as usize * value.bytes()).max(1);
        let (memory, file) = match (bytes.is_empty(), self.file.is_shared) {
            (true, false) => return Ok(()),
            (true, true) => (self.nowhere()?, self.nowhere()?),
            (false, _) => self.places(first..first + count, value, bytes.len())?,
        };
        let way = self.transfer()?;
        // SAFETY: a list that is new, and a buffer with the values of these places.
        let done = unsafe {
            if self.file.is_shared {
                let for_ranks = library.for_ranks()?;
                self.file
                    .require((for_ranks.H5Pset_dxpl_mpio)(way.0, COLLECTIVE))?;
                self.file
                    .require((for_ranks.H5Pset_dxpl_mpio_collective_opt)(
                        way.0, INDIVIDUAL,
                    ))?;
            }
            let (kind, from) = (value.id(library), bytes.as_ptr().cast());
            (library.H5Dwrite)(self.id.0, kind, memory.0, file.0, way.0, from)
        };
        let done = self.file.require(done);
        done.map(|_| ())
            .map_err(|cause| format!("the dataset cannot be written: {cause}"))
    }

    /// No places of the dataset.
    fn nowhere(&self) -> Result<Handle, String> {
        let library = self.file.library();
        // SAFETY: an open dataset, and its space.
        unsafe {
            let space = self.file.handle((library.H5Dget_space)(self.id.0))?;
            self.file.require((library.H5Sselect_none)(space.0))?;
            Ok(space)
        }
    }

    /// How values are converted.
    fn transfer(&self) -> Result<Handle, String> {
        let library = self.file.library();
        // SAFETY: a new list, and a function that needs nothing.
        unsafe {
            let way = self
                .file
                .handle((library.H5Pcreate)(library.ids.transfer))?;
            let set = (library.H5Pset_type_conv_cb)(way.0, stop, std::ptr::null_mut());
            self.file.require(set)?;
            Ok(way)
        }
    }

    /// Attaches a number.
    pub(super) fn number(&self, name: &str, number: i32) -> Result<(), String> {
        let library = self.file.library();
        // SAFETY: a shape of rank 1.
        let space = unsafe { (library.H5Screate_simple)(1, &1, std::ptr::null()) };
        let space = self.file.handle(space)?;
        self.attribute(name, library.ids.int, &space, (&raw const number).cast())
    }

    /// Attaches a text, in `room` bytes.
    pub(super) fn text(&self, name: &str, text: &str, room: usize) -> Result<(), String> {
        let library = self.file.library();
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(room.max(1), 0);
        // SAFETY: a scalar (0) space, and a copy of a type.
        let (space, kind) = unsafe {
            let space = self.file.handle((library.H5Screate)(0))?;
            let kind = self.file.handle((library.H5Tcopy)(library.ids.string))?;
            self.file
                .require((library.H5Tset_size)(kind.0, bytes.len()))?;
            (space, kind)
        };
        self.attribute(name, kind.0, &space, bytes.as_ptr().cast())
    }

    fn attribute(
        &self,
        name: &str,
        kind: Id,
        space: &Handle,
        value: *const c_void,
    ) -> Result<(), String> {
        let library = self.file.library();
        let name = c_string(name)?;
        // SAFETY: the dataset is open; the callers give a value of that type.
        unsafe {
            let made =
                (library.H5Acreate2)(self.id.0, name.as_ptr(), kind, space.0, DEFAULT, DEFAULT);
            let attribute = self.file.handle(made)?;
            self.file
                .require((library.H5Awrite)(attribute.0, kind, value))?;
        }
        Ok(())
    }
}
