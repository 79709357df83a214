//! Data out of the library: into the program's arrays, and into files. Elements are in the order in which
//! the program declared them.

use std::{
    borrow::Cow,
    ffi::{c_char, c_int},
    fs::File,
    io::{BufWriter, Write},
};

use crate::{
    argument::same_type,
    distribute, job,
    layout::{Dat, Set},
    local, memory,
    report::{fatal, text},
    slabs,
    value::Value,
    waiting,
};

/// Copies to `data` all of `dat` that the program has declared on this rank.
///
/// # Safety
/// `dat` is declared and `data` has room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_char(dat: *const Dat, data: *mut c_char) {
    waiting::run_for("op_fetch_data");
    // SAFETY: the caller's promise.
    unsafe {
        let all = bytes(dat);
        let mine = declared(dat, &all);
        std::ptr::copy_nonoverlapping(mine.as_ptr(), data.cast(), mine.len());
    }
}

/// Copies the elements `low` to `high` of the whole mesh, both included.
///
/// # Safety
/// `dat` is declared and `data` has room for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_idx_char(
    dat: *const Dat,
    data: *mut c_char,
    low: c_int,
    high: c_int,
) {
    waiting::run_for("op_fetch_data_idx");
    // SAFETY: the caller's promise.
    unsafe {
        let last = (*(*dat).set).whole - 1;
        if low < 0 || high > last || low > high + 1 {
            let name = text((*dat).name);
            fatal(&format!(
                "op_fetch_data_idx {name}: elements {low} to {high}; there are 0 to {last}"
            ));
        }
        let size = (*dat).size as usize;
        let all = bytes(dat);
        let some = &all[low as usize * size..(high + 1) as usize * size];
        std::ptr::copy_nonoverlapping(some.as_ptr(), data.cast(), some.len());
    }
}

/// All of `dat`, of whichever ranks. Collective.
///
/// # Safety
/// `dat` is declared, and stays as it is while the bytes are used.
pub(crate) unsafe fn bytes<'a>(dat: *const Dat) -> Cow<'a, [u8]> {
    // SAFETY: the caller's promise.
    unsafe { distribute::whole_data(dat) }
}

/// What the program has declared on this rank, of all of `dat`.
///
/// # Safety
/// `dat` is declared.
unsafe fn declared(dat: *const Dat, all: &[u8]) -> &[u8] {
    // SAFETY: the caller's promise.
    let (elements, size) = unsafe { ((*(*dat).set).declared(), (*dat).size as usize) };
    &all[elements.start * size..elements.end * size]
}

/// A copy of what the program has declared of `dat` on this rank, with a set of its own, which the program frees: data, set, and the copy itself. Collective.
///
/// # Safety
/// `dat` is declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_fetch_data_file_char(dat: *const Dat) -> *mut Dat {
    waiting::run_for("op_fetch_data_file");
    // SAFETY: the caller's promise; new memory of these sizes. Of the other fields null and 0 are values.
    unsafe {
        let all = bytes(dat);
        let mine = declared(dat, &all);
        let data = memory::op_malloc(mine.len().max(1)).cast::<c_char>();
        data.copy_from_nonoverlapping(mine.as_ptr().cast(), mine.len());
        let set = memory::op_calloc(1, size_of::<Set>()).cast::<Set>();
        let size = (*(*dat).set).declared;
        ((*set).index, (*set).name) = ((*(*dat).set).index, (*(*dat).set).name);
        ((*set).size, (*set).core_size, (*set).stride) = (size, size, size);
        let copy = memory::op_calloc(1, size_of::<Dat>()).cast::<Dat>();
        ((*copy).index, (*copy).set, (*copy).data) = ((*dat).index, set, data);
        ((*copy).dim, (*copy).size) = ((*dat).dim, (*dat).size);
        ((*copy).type_name, (*copy).name) = ((*dat).type_name, (*dat).name);
        copy
    }
}

/// The same by the name that it has in OP2's MPI library.
///
/// # Safety
/// See [`op_fetch_data_file_char`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_get_data(dat: *const Dat) -> *mut Dat {
    waiting::run_for("op_mpi_get_data");
    // SAFETY: the caller's promise.
    unsafe { op_fetch_data_file_char(dat) }
}

/// Nothing, as in OP2.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_put_data(_dat: *const Dat) {}

/// Prints all values, each in a line of its own: on rank 0 those of the whole mesh; where each rank declares a part, on
/// each what it has. Collective, but for these.
///
/// # Safety
/// `dat` is null or declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_dump_dat(dat: *const Dat) {
    waiting::run_for("op_dump_dat");
    // SAFETY: the caller's promise.
    let Some(declared) = (unsafe { dat.as_ref() }) else {
        return;
    };
    // SAFETY: the same; `printf` is given what its formats ask for.
    unsafe {
        let (name, type_name) = (text(declared.name), text(declared.type_name));
        let all = match local::is_local() {
            true => {
                let mut here = declared
                    .turned()
                    .unwrap_or_else(|| declared.stored().to_vec());
                here.truncate((*declared.set).size as usize * declared.size as usize);
                here.into()
            }
            false => bytes(dat),
        };
        if job::rank() > 0 && !local::is_local() {
            return;
        }
        let is = |one: &str| same_type(type_name, one);
        if is("double") {
            for &one in all.as_chunks().0 {
                libc::printf(c"%f\n".as_ptr(), f64::from_ne_bytes(one));
            }
        } else if is("float") {
            for &one in all.as_chunks().0 {
                libc::printf(c"%f\n".as_ptr(), f64::from(f32::from_ne_bytes(one)));
            }
        } else if is("int") {
            for &one in all.as_chunks().0 {
                libc::printf(c"%d\n".as_ptr(), c_int::from_ne_bytes(one));
            }
        } else {
            fatal(&format!(
                "op_dump_dat {name}: it is of type \"{type_name}\"; there are \"double\", \"float\" and \"int\""
            ));
        }
        libc::fflush(std::ptr::null_mut());
    }
}

/// All of `dat`, whichever ranks have it, on the first `writers` ranks: see [`slabs::deliver`].
///
/// # Safety
/// `dat` is declared.
pub(crate) unsafe fn deliver(
    dat: *const Dat,
    writers: usize,
    work: impl FnMut(usize, &[u8]),
) -> usize {
    // SAFETY: the caller's promise: there is an element for each that is here.
    unsafe {
        let (set, size) = (&*(*dat).set, (*dat).size as usize);
        let turned = (*dat).turned();
        let local = turned.as_deref().unwrap_or_else(|| (*dat).stored());
        let mine = distribute::numbers_given(set, writers);
        slabs::deliver((set.whole as usize, size), writers, &mine, local, work)
    }
}

/// Writes a file, on rank 0: first `head`, then what `work` makes of the elements' bytes. Collective.
///
/// # Safety
/// `dat` is declared, `file` is a string.
unsafe fn print(
    function: &str,
    (dat, file): (*const Dat, *const c_char),
    head: &[u8],
    work: impl Fn(&[u8], &mut dyn Write) -> std::io::Result<()>,
) {
    // SAFETY: the caller's promise.
    let path = unsafe { text(file) };
    let done = |result: std::io::Result<()>| {
        if let Err(error) = result {
            fatal(&format!("{function}: {path}: {error}"));
        }
    };
    let mut out = None;
    if job::rank() == 0 {
        match File::create(path) {
            Ok(file) => done(out.insert(BufWriter::new(file)).write_all(head)),
            Err(error) => done(Err(error)),
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        deliver(dat, 1, |_, bytes| {
            if let Some(out) = &mut out {
                done(work(bytes, out));
            }
        });
    }
    if let Some(mut out) = out {
        done(out.flush());
    }
}

/// Writes `dat` as bytes: the numbers of elements and of components, as 32-bit integers, and the data.
///
/// # Safety
/// `dat` is declared, `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_print_dat_to_binfile(dat: *const Dat, file: *const c_char) {
    waiting::run_for("op_print_dat_to_binfile");
    // SAFETY: the caller's promise.
    unsafe {
        let head = [(*(*dat).set).whole, (*dat).dim];
        let head = head.map(i32::to_ne_bytes).concat();
        let work = |bytes: &[u8], out: &mut dyn Write| out.write_all(bytes);
        print("op_print_dat_to_binfile", (dat, file), &head, work);
    }
}

/// Writes `dat` as text: the numbers of elements and of components, then a line for each element.
///
/// # Safety
/// `dat` is declared, `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_print_dat_to_txtfile(dat: *const Dat, file: *const c_char) {
    waiting::run_for("op_print_dat_to_txtfile");
    // SAFETY: the caller's promise.
    unsafe {
        let (size, dim) = ((*(*dat).set).whole, (*dat).dim);
        let head = format!("{size} {dim}\n");
        let type_name = text((*dat).type_name);
        let Some(value) = Value::of(type_name) else {
            let name = text((*dat).name);
            fatal(&format!(
                "op_print_dat_to_txtfile {name}: there is no text for values of type \"{type_name}\""
            ));
        };
        let (element, component) = ((*dat).size as usize, ((*dat).size / dim) as usize);
        let work = |bytes: &[u8], out: &mut dyn Write| {
            for element in bytes.chunks_exact(element) {
                for component in element.chunks_exact(component) {
                    write!(out, " {}", value.text(component))?;
                }
                out.write_all(b"\n")?;
            }
            Ok(())
        };
        print(
            "op_print_dat_to_txtfile",
            (dat, file),
            head.as_bytes(),
            work,
        );
    }
}
