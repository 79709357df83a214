//! OP2's files in HDF5.
//!
//! A set is a dataset with one integer, its size. A map and the data on a set are datasets with a row for each element,
//! with the attributes `size` (rows of a map, bytes of an element of data), `dim` and `type`; a constant has its values,
//! `dim` and `type`. That is OP2's layout, and files of either can be read by the other. A map's numbers begin where the
//! program's do.
//!
//! Guarantee: what is written is the whole mesh in the order in which the program declared it, on any number of ranks.
//! Each rank reads what it keeps, rank 0 writes; neither needs room for more than a slab of rows besides.

mod file;
mod library;

use std::ffi::{c_char, c_int};

use crate::{
    distribute, job,
    layout::{Dat, Map, Set},
    mesh::{self, mesh},
    report::{fatal, text, warn},
    slabs,
    value::Value,
};
use file::{Access, Dataset, File, value_of};

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

/// What a file holds of that name; nothing, which the program is told, if it has no such dataset.
fn read<T>(
    at: &str,
    path: &str,
    name: &str,
    work: impl FnOnce(&Dataset) -> Result<T, String>,
) -> Option<T> {
    demand(
        at,
        File::open(path, Access::Read).and_then(|file| match file.has(name)? {
            true => work(&file.dataset(name)?).map(Some),
            false => Ok(None),
        }),
    )
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
        mesh::declare_shared(size, text(name))
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
    // SAFETY: the caller's promise.
    unsafe {
        let at = place("op_decl_set_hdf5_infer_size", name, file);
        let at = format!("{at}: {}", text(dataset));
        let size = read(&at, text(file), text(dataset), |dataset| {
            size_of_set(table(dataset)?.0.into())
        });
        let size = demand(&at, size.ok_or_else(|| NO_DATASET.to_owned()));
        mesh::declare_shared(size, text(name))
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
            Ok(mesh::declare_map(&at, from, to, dim, each, text(name)))
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
                let here = distribute::numbers(set, true);
                slabs::fill(size, &here, room, |rows, to| {
                    demand(&at, dataset.read_rows(value, rows, to));
                });
            };
            let parts = (dim, value.bytes() as c_int);
            let (type_name, name) = (text(type_name), text(name));
            Ok(mesh::declare_filled(&at, set, parts, type_name, name, fill))
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

/// Opens a file to be written, on rank 0. Collective: whoever reads it must have closed it.
fn open(at: &str, path: &str, access: Access) -> Option<File> {
    job::barrier();
    (job::rank() == 0).then(|| demand(at, File::open(path, access)))
}

/// Writes what is still to be written, while the others wait.
fn close(at: &str, file: Option<File>) {
    if let Some(file) = file {
        demand(at, file.close());
    }
    job::barrier();
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
    // SAFETY: the caller's promises.
    unsafe {
        let at = place("op_write_const_hdf5", name, file);
        let (name, type_name) = (text(name), text(type_name));
        let value = demand(&at, value_of(type_name));
        let Ok(count) = u64::try_from(dim) else {
            fatal(&format!("{at}: {dim} values"));
        };
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), count as usize * value.bytes());
        let out = open(&at, text(file), Access::Change);
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
        if let Some(out) = &out {
            demand(&at, work(out));
        }
        close(&at, out);
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

/// Writes all data of a dat. Collective; rank 0 has the dataset.
///
/// # Safety
/// The dat is declared.
unsafe fn write_dat(at: &str, dataset: Option<Dataset>, value: Value, dat: *const Dat) {
    // SAFETY: the caller's promise: there is an element for each that is here.
    unsafe {
        let (set, size) = (&*(*dat).set, (*dat).size as usize);
        let turned = (*dat).turned();
        let local = turned.as_deref().unwrap_or_else(|| (*dat).stored());
        let mine = distribute::numbers(set, false);
        slabs::gather((set.whole as usize, size), &mine, local, |first, bytes| {
            if let Some(dataset) = &dataset {
                demand(at, dataset.write_rows(value, first, bytes));
            }
        });
    }
}

/// Writes a map into a new dataset. Collective; rank 0 has the file.
///
/// # Safety
/// The map is declared.
unsafe fn write_map(at: &str, file: Option<&File>, map: *const Map) {
    // SAFETY: the caller's promise.
    unsafe {
        let (name, whole, dim) = (text((*map).name), (*(*map).from).whole, (*map).dim);
        let base = mesh::maps_base_index();
        let dataset = file.map(|file| demand(at, create_map(file, name, whole, dim)));
        let (mine, rows) = distribute::rows(map);
        let local = distribute::as_bytes(&rows);
        let size = dim as usize * Value::Int.bytes();
        slabs::gather((whole as usize, size), &mine, local, |first, bytes| {
            let numbers = bytes.as_chunks().0.iter();
            let numbers = numbers.map(|&one| i32::from_ne_bytes(one) + base);
            let bytes: Vec<u8> = numbers.flat_map(i32::to_ne_bytes).collect();
            if let Some(dataset) = &dataset {
                demand(at, dataset.write_rows(Value::Int, first, &bytes));
            }
        });
    }
}

/// Writes all that is declared into a new file. Collective.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_dump_to_hdf5(file: *const c_char) {
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
        let file = open(&at, path, Access::Create);
        let out = file.as_ref();
        for &set in &sets {
            let (name, size) = (text((*set).name), (*set).whole.to_ne_bytes());
            if let Some(out) = out {
                let dataset = out.create(name, Value::Int, &[1]);
                let done = dataset.and_then(|dataset| dataset.write(Value::Int, &size));
                demand(&format!("{at}: {name}"), done);
            }
        }
        for &map in &maps {
            write_map(&format!("{at}: {}", text((*map).name)), out, map);
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
            let dataset = out.map(|out| demand(&at, create_dat(out, name, &*dat, value)));
            write_dat(&at, dataset, value, dat);
        }
        close(&at, file);
    }
}

/// Writes data into a file, under their name. Collective.
///
/// # Safety
/// The dat is declared, `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_hdf5_file(dat: *const Dat, file: *const c_char) {
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
    // SAFETY: the caller's promises.
    unsafe {
        let at = place("op_fetch_data_hdf5_file", name, file);
        if dat.is_null() {
            fatal(&format!("{at}: the dat is missing"));
        }
        let value = demand(&at, value_of(text((*dat).type_name)));
        let out = open(&at, text(file), Access::Change);
        let place = |file| {
            let name = text(name);
            match File::has(file, name)? {
                true => existing(file, name, value, &shape(&*dat)),
                false => create_dat(file, name, &*dat, value),
            }
        };
        let dataset = out.as_ref().map(|file| demand(&at, place(file)));
        write_dat(&at, dataset, value, dat);
        close(&at, out);
    }
}
