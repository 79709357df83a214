//! OP2's files in HDF5.
//!
//! A set is a dataset with one integer, its size. A map and the data on a set are datasets with a row for each element,
//! with the attributes `size` (rows of a map, bytes of an element of data), `dim` and `type`; a constant has its values,
//! `dim` and `type`. That is OP2's layout, and files of either can be read by the other. A map's numbers begin where the
//! program's do.
//!
//! Guarantee: what is written is the whole mesh in the order in which the program declared it, on any number of ranks.
//! Each rank reads what it keeps, and writes a block of rows, where the library is made for MPI; else rank 0 writes. Nobody
//! needs room for more than a few slabs of rows besides. All ranks call each of these functions.

mod file;
mod library;

use std::{
    cell::Cell,
    ffi::{c_char, c_int},
};

use crate::{
    data, declare, distribute, job,
    layout::{Dat, Map, Set},
    mesh::{self, mesh},
    report::{fatal, print, text, warn, warn_once},
    settings, slabs,
    value::Value,
    waiting,
};
use file::{Access, Dataset, File, value_of};
use library::require_for_ranks;

/// Ends the program, if something is wrong: `at` names the function, what it is about, and the file.
fn demand<T>(at: &str, result: Result<T, String>) -> T {
    result.unwrap_or_else(|why| fatal(&format!("{at}: {why}")))
}

/// # Safety
/// Both are strings.
unsafe fn place(function: &str, name: *const c_char, file: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { format!("{function} {}: {}", text(name), text(file)) }
}

/// Ends the program if a rank is about to do something else, that is, has another text for it. Collective.
fn require_same(at: &str, what: &str) {
    if let Some(rank) = job::first_that_differs((at, what)) {
        fatal(&format!(
            "{at}: rank {rank} asks for something else: all ranks name the same file, and the same in it"
        ));
    }
}

/// What a file holds of that name; nothing, which the program is told, if it has no such dataset. Collective.
fn read<T>(
    at: &str,
    path: &str,
    name: &str,
    work: impl FnOnce(&Dataset) -> Result<T, String>,
) -> Option<T> {
    require_same(at, "");
    let is_shared = job::ranks() > 1 && require_for_ranks().is_ok();
    let file = demand(at, File::open(path, Access::Read, is_shared));
    let found = demand(at, file.has(name)).then(|| {
        let dataset = demand(at, file.dataset(name));
        demand(at, work(&dataset))
    });
    demand(at, file.close());
    found
}

/// Rows and columns.
fn table(dataset: &Dataset) -> Result<(u64, u64), String> {
    match *dataset.shape {
        [rows] => Ok((rows, 1)),
        [rows, columns] => Ok((rows, columns)),
        _ => Err(format!(
            "the dataset has {} dimensions",
            dataset.shape.len()
        )),
    }
}

/// Ends in an error if a dataset does not have `dim` columns and a row for each element of the set.
///
/// # Safety
/// The set is declared.
unsafe fn require_rows(dataset: &Dataset, set: *const Set, dim: c_int) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let (size, name) = unsafe { ((*set).whole, text((*set).name)) };
    let (rows, columns) = table(dataset)?;
    if i64::try_from(rows) != Ok(i64::from(size)) {
        return Err(format!(
            "the dataset has {rows} rows, {name} has {size} elements"
        ));
    }
    if i64::try_from(columns) != Ok(i64::from(dim)) {
        return Err(format!("the dataset has {columns} columns, not {dim}"));
    }
    Ok(())
}

fn size_of_set(number: i128) -> Result<c_int, String> {
    let size = c_int::try_from(number).ok().filter(|&size| size >= 0);
    size.ok_or_else(|| format!("a set of {number} elements"))
}

/// Declares a set of the size that the file says.
///
/// # Safety
/// Both are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_set_hdf5(file: *const c_char, name: *const c_char) -> *mut Set {
    waiting::run_for("op_decl_set_hdf5");
    // SAFETY: the caller's promise.
    unsafe {
        let at = place("op_decl_set_hdf5", name, file);
        let size = read(&at, text(file), text(name), |dataset| {
            let bytes = dataset.read(Value::Long)?;
            match <[u8; 8]>::try_from(bytes) {
                Ok(size) => size_of_set(i64::from_ne_bytes(size).into()),
                Err(bytes) => Err(format!(
                    "the dataset holds {} values, not a size",
                    bytes.len() / 8
                )),
            }
        });
        let size = demand(&at, size.ok_or_else(|| NO_DATASET.to_owned()));
        declare::declare_shared(size, text(name))
    }
}

const NO_DATASET: &str = "the file has no such dataset";

/// Declares a set that has an element for each row of a dataset.
///
/// # Safety
/// All are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_set_hdf5_infer_size(
    file: *const c_char,
    name: *const c_char,
    dataset: *const c_char,
) -> *mut Set {
    waiting::run_for("op_decl_set_hdf5_infer_size");
    // SAFETY: the caller's promise.
    unsafe {
        let at = place("op_decl_set_hdf5_infer_size", name, file);
        let at = format!("{at}: {}", text(dataset));
        let size = read(&at, text(file), text(dataset), |dataset| {
            size_of_set(table(dataset)?.0.into())
        });
        let size = demand(&at, size.ok_or_else(|| NO_DATASET.to_owned()));
        declare::declare_shared(size, text(name))
    }
}

/// Declares a map that a file holds. Null, with a warning, if it does not.
///
/// # Safety
/// The sets are declared, the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_map_hdf5(
    from: *mut Set,
    to: *mut Set,
    dim: c_int,
    file: *const c_char,
    name: *const c_char,
) -> *mut Map {
    waiting::run_for("op_decl_map_hdf5");
    // SAFETY: the caller's promises; there are as many numbers as the map needs.
    unsafe {
        let at = place("op_decl_map_hdf5", name, file);
        if from.is_null() || to.is_null() {
            fatal(&format!("{at}: a set is missing"));
        }
        let map = read(&at, text(file), text(name), |dataset| {
            require_rows(dataset, from, dim)?;
            let size = ((*from).whole as usize, dim as usize * Value::Long.bytes());
            let each = |put: &mut dyn FnMut(i64)| {
                let read = |rows, to: &mut [u8]| {
                    demand(&at, dataset.read_rows(Value::Long, rows, to));
                };
                slabs::each(size, read, |bytes| {
                    let numbers = bytes.as_chunks().0.iter();
                    numbers.for_each(|&one| put(i64::from_ne_bytes(one)));
                });
            };
            Ok(declare::declare_map(&at, from, to, dim, each, text(name)))
        });
        map.unwrap_or_else(|| {
            warn(&format!("{at}: {NO_DATASET}"));
            std::ptr::null_mut()
        })
    }
}

/// Declares data that a file holds. Null, with a warning, if it does not.
///
/// # Safety
/// The set is declared, the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_dat_hdf5(
    set: *mut Set,
    dim: c_int,
    type_name: *const c_char,
    file: *const c_char,
    name: *const c_char,
) -> *mut Dat {
    waiting::run_for("op_decl_dat_hdf5");
    // SAFETY: the caller's promises; there are as many values as the set needs.
    unsafe {
        let at = place("op_decl_dat_hdf5", name, file);
        if set.is_null() {
            fatal(&format!("{at}: the set is missing"));
        }
        let value = demand(&at, value_of(text(type_name)));
        let dat = read(&at, text(file), text(name), |dataset| {
            require_rows(dataset, set, dim)?;
            tell_if_rounded(&at, dataset, value, text(type_name));
            let size = ((*set).whole as usize, dim as usize * value.bytes());
            let fill = |room: &mut [u8]| {
                let here = distribute::numbers_here(set);
                slabs::fill(size, &here, room, |rows, to| {
                    demand(&at, dataset.read_rows(value, rows, to));
                });
            };
            let parts = (dim, value.bytes() as c_int);
            let (type_name, name) = (text(type_name), text(name));
            Ok(declare::declare_filled(
                &at, set, parts, type_name, name, fill,
            ))
        });
        dat.unwrap_or_else(|| {
            warn(&format!("{at}: {NO_DATASET}"));
            std::ptr::null_mut()
        })
    }
}

/// Warns if values are not quite those of the file.
fn tell_if_rounded(at: &str, dataset: &Dataset, value: Value, type_name: &str) {
    if dataset.is_rounded(value) {
        let kind = dataset.kind();
        warn(&format!(
            "{at}: the dataset holds {kind}, rounded here to \"{type_name}\""
        ));
    }
}

/// Reads a constant.
///
/// # Safety
/// `data` has room for `dim` values of that type; the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_get_const_hdf5(
    name: *const c_char,
    dim: c_int,
    type_name: *const c_char,
    data: *mut c_char,
    file: *const c_char,
) {
    waiting::run_for("op_get_const_hdf5");
    // SAFETY: the caller's promises.
    unsafe {
        let at = place("op_get_const_hdf5", name, file);
        let value = demand(&at, value_of(text(type_name)));
        let found = read(&at, text(file), text(name), |dataset| {
            tell_if_rounded(&at, dataset, value, text(type_name));
            let bytes = dataset.read(value)?;
            let held = bytes.len() / value.bytes();
            match i32::try_from(held) == Ok(dim) {
                true => Ok(bytes),
                false => Err(format!("the dataset holds {held} values, not {dim}")),
            }
        });
        let bytes = demand(&at, found.ok_or_else(|| NO_DATASET.to_owned()));
        data.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}

/// A file to be written.
struct Output<'a> {
    /// The function that does so, and the file.
    at: &'a str,
    /// On the ranks that write.
    file: Option<File>,
    /// How many of the first ranks those are.
    writers: usize,
    /// Bytes that this rank writes, and those of them that come from others.
    written: Cell<usize>,
    moved: Cell<usize>,
}

impl<'a> Output<'a> {
    /// `what` is to be written is the same on all ranks. Collective: whoever reads the file must have closed it.
    fn open(at: &'a str, what: &str, path: &str, access: Access) -> Self {
        require_same(at, what);
        let ranks = job::ranks();
        let mut writers = 1;
        if ranks > 1 {
            match require_for_ranks() {
                Ok(()) => writers = ranks,
                Err(why) => warn_once(&format!("rank 0 writes HDF5 files for all ranks: {why}")),
            }
        }
        let open = || demand(at, File::open(path, access, writers > 1));
        Self {
            at,
            file: (job::rank() < writers).then(open),
            writers,
            written: Cell::new(0),
            moved: Cell::new(0),
        }
    }

    /// What `make` makes of the file, on ranks that write.
    fn make<'f, T>(
        &'f self,
        at: &str,
        make: impl FnOnce(&'f File) -> Result<T, String>,
    ) -> Option<T> {
        self.file.as_ref().map(|file| demand(at, make(file)))
    }

    /// Writes rows of a dataset that this rank has got.
    fn write_rows(&self, at: &str, dataset: &Dataset, value: Value, first: usize, bytes: &[u8]) {
        demand(at, dataset.write_rows(value, first, bytes));
        self.written.set(self.written.get() + bytes.len());
    }

    /// Tells those who want to know who has written. Collective.
    fn tell(&self) {
        let mine = [self.written.get(), self.moved.get()];
        let all = job::all_gather(&mine.map(usize::to_ne_bytes).concat());
        if job::ranks() == 1 || settings::diagnostics() < 2 {
            return;
        }
        let all = all
            .as_chunks()
            .0
            .iter()
            .map(|&one| usize::from_ne_bytes(one));
        let all: Vec<usize> = all.collect();
        let of = |which: usize| all.iter().skip(which).step_by(mine.len());
        let (at, ranks) = (self.at, job::ranks());
        let (writers, bytes) = (of(0).filter(|&&one| one > 0).count(), of(0).sum::<usize>());
        let moved: usize = of(1).sum();
        print(&format!(
            "{at}: {writers} of {ranks} ranks write {bytes} bytes of data, {moved} of them from other ranks"
        ));
    }

    /// Writes what is still to be written, while ranks that do not write wait.
    fn close(self) {
        if let Some(file) = self.file {
            demand(self.at, file.close());
        }
        job::barrier();
    }
}

/// A dataset that is there already, to be written over.
fn existing<'a>(
    file: &'a File,
    name: &str,
    value: Value,
    shape: &[u64],
) -> Result<Dataset<'a>, String> {
    let dataset = file.dataset(name)?;
    if dataset.shape != shape || !dataset.holds(value) {
        let was: Vec<_> = dataset.shape.iter().map(u64::to_string).collect();
        let (was, kind) = (was.join(" x "), dataset.kind());
        return Err(format!(
            "the file has a dataset of that name with {was} {kind}, which cannot be replaced"
        ));
    }
    Ok(dataset)
}

/// Writes a constant, into a new file or one that is there.
///
/// # Safety
/// `data` are `dim` values of that type; the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_write_const_hdf5(
    name: *const c_char,
    dim: c_int,
    type_name: *const c_char,
    data: *const c_char,
    file: *const c_char,
) {
    waiting::run_for("op_write_const_hdf5");
    // SAFETY: the caller's promises.
    unsafe {
        settings::require_start_with_others("op_write_const_hdf5");
        let at = place("op_write_const_hdf5", name, file);
        let (name, type_name) = (text(name), text(type_name));
        let value = demand(&at, value_of(type_name));
        let Ok(count) = u64::try_from(dim) else {
            fatal(&format!("{at}: {dim} values"));
        };
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), count as usize * value.bytes());
        let out = Output::open(
            &at,
            &format!("{dim} {type_name}"),
            text(file),
            Access::Change,
        );
        let work = |file: &File| {
            if file.has(name)? {
                return existing(file, name, value, &[count])?.write(value, bytes);
            }
            let dataset = file.create(name, value, &[count])?;
            dataset.write(value, bytes)?;
            dataset.number("dim", dim)?;
            // The names that OP2's own library knows when it reads.
            let type_name = match value {
                Value::Double => "double",
                Value::Float => "float",
                Value::Int => "int",
                _ => type_name,
            };
            dataset.text("type", type_name, type_name.len())
        };
        out.make(&at, work);
        out.close();
    }
}

/// Room for the type's name of a map, in OP2's files.
const TYPE_OF_MAP: usize = 10;

/// Makes a map's dataset, with rows of `dim` numbers.
fn create_map<'a>(
    file: &'a File,
    name: &str,
    rows: c_int,
    dim: c_int,
) -> Result<Dataset<'a>, String> {
    let dataset = file.create(name, Value::Int, &[rows as u64, dim as u64])?;
    dataset.number("size", rows)?;
    dataset.number("dim", dim)?;
    dataset.text("type", "int", TYPE_OF_MAP)?;
    Ok(dataset)
}

/// Makes the dat's dataset.
///
/// # Safety
/// The dat is declared.
unsafe fn create_dat<'a>(
    file: &'a File,
    name: &str,
    dat: &Dat,
    value: Value,
) -> Result<Dataset<'a>, String> {
    // SAFETY: the caller's promise.
    let type_name = unsafe { text(dat.type_name) };
    let dataset = file.create(name, value, &shape(dat))?;
    dataset.number("size", dat.size)?;
    dataset.number("dim", dat.dim)?;
    dataset.text("type", type_name, type_name.len())?;
    Ok(dataset)
}

fn shape(dat: &Dat) -> [u64; 2] {
    // SAFETY: a dat has its set.
    [unsafe { (*dat.set).whole } as u64, dat.dim as u64]
}

/// Writes all data of a dat. Collective; ranks that write have the dataset.
///
/// # Safety
/// The dat is declared.
unsafe fn write_dat(
    at: &str,
    out: &Output,
    dataset: Option<Dataset>,
    value: Value,
    dat: *const Dat,
) {
    // SAFETY: the caller's promise.
    let moved = unsafe {
        data::deliver(dat, out.writers, |first, bytes| {
            if let Some(dataset) = &dataset {
                out.write_rows(at, dataset, value, first, bytes);
            }
        })
    };
    out.moved.set(out.moved.get() + moved);
}

/// Writes a map into a new dataset. Collective.
///
/// # Safety
/// The map is declared.
unsafe fn write_map(at: &str, out: &Output, map: *const Map) {
    // SAFETY: the caller's promise.
    unsafe {
        let (name, whole, dim) = (text((*map).name), (*(*map).from).whole, (*map).dim);
        let base = mesh::maps_base_index();
        let dataset = out.make(at, |file| create_map(file, name, whole, dim));
        let (mine, rows) = distribute::rows(map, out.writers);
        let local = distribute::as_bytes(&rows);
        let size = (whole as usize, dim as usize * Value::Int.bytes());
        let moved = slabs::deliver(size, out.writers, &mine, local, |first, bytes| {
            let numbers = bytes.as_chunks().0.iter();
            let numbers = numbers.map(|&one| i32::from_ne_bytes(one) + base);
            let bytes: Vec<u8> = numbers.flat_map(i32::to_ne_bytes).collect();
            if let Some(dataset) = &dataset {
                out.write_rows(at, dataset, Value::Int, first, &bytes);
            }
        });
        out.moved.set(out.moved.get() + moved);
    }
}

/// Writes all that is declared into a new file. Collective.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_dump_to_hdf5(file: *const c_char) {
    waiting::run_for("op_dump_to_hdf5");
    settings::require_start_with_others("op_dump_to_hdf5");
    // SAFETY: the caller's promise.
    let path = unsafe { text(file) };
    let at = format!("op_dump_to_hdf5: {path}");
    let (sets, maps, dats) = {
        let mesh = mesh();
        // SAFETY: entries of the list are alive.
        let dats = mesh
            .dats
            .iter()
            .map(|&entry| unsafe { (*entry).dat.cast_const() });
        (
            mesh.sets.clone(),
            mesh.maps.clone(),
            dats.collect::<Vec<_>>(),
        )
    };
    // SAFETY: what was declared is alive.
    unsafe {
        for &dat in &dats {
            demand(
                &format!("{at}: {}", text((*dat).name)),
                value_of(text((*dat).type_name)),
            );
        }
        let out = Output::open(&at, "", path, Access::Create);
        for &set in &sets {
            let (name, size) = (text((*set).name), (*set).whole.to_ne_bytes());
            out.make(&format!("{at}: {name}"), |file| {
                file.create(name, Value::Int, &[1])?
                    .write(Value::Int, &size)
            });
        }
        for &map in &maps {
            write_map(&format!("{at}: {}", text((*map).name)), &out, map);
        }
        for (position, &dat) in dats.iter().enumerate() {
            // Those of an overlay are written with what it lies over.
            if dats[..position]
                .iter()
                .any(|&other| (*other).start() == (*dat).start())
            {
                continue;
            }
            let name = text((*dat).name);
            let at = format!("{at}: {name}");
            let value = demand(&at, value_of(text((*dat).type_name)));
            let dataset = out.make(&at, |file| create_dat(file, name, &*dat, value));
            write_dat(&at, &out, dataset, value, dat);
        }
        out.tell();
        out.close();
    }
}

/// Writes data into a file, under their name. Collective.
///
/// # Safety
/// The dat is declared, `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_hdf5_file(dat: *const Dat, file: *const c_char) {
    waiting::run_for("op_fetch_data_hdf5_file");
    // SAFETY: the caller's promise.
    unsafe {
        if dat.is_null() {
            fatal("op_fetch_data_hdf5_file: the dat is missing");
        }
        op_fetch_data_hdf5_file_path(dat, file, (*dat).name);
    }
}

/// Writes data into a file, under `name`: a new dataset, or over one that is there. Collective.
///
/// # Safety
/// The dat is declared, the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_hdf5_file_path(
    dat: *const Dat,
    file: *const c_char,
    name: *const c_char,
) {
    waiting::run_for("op_fetch_data_hdf5_file_path");
    // SAFETY: the caller's promises.
    unsafe {
        let at = place("op_fetch_data_hdf5_file", name, file);
        if dat.is_null() {
            fatal(&format!("{at}: the dat is missing"));
        }
        let value = demand(&at, value_of(text((*dat).type_name)));
        let what = format!("dat {}", (*dat).index);
        let out = Output::open(&at, &what, text(file), Access::Change);
        let name = text(name);
        let dataset = out.make(&at, |file| match file.has(name)? {
            true => existing(file, name, value, &shape(&*dat)),
            false => create_dat(file, name, &*dat, value),
        });
        write_dat(&at, &out, dataset, value, dat);
        out.tell();
        out.close();
    }
}
