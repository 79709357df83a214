//! Declares sets, maps and data.
//!
//! Guarantee: what a declaration returns is right: sizes are not negative, targets of maps exist, names of
//! types and sizes agree. Data are copied, and freed by `op_exit`.

use std::{
    cell::Cell,
    ffi::{CString, c_char, c_int, c_void},
};

use crate::{
    distribute,
    layout::{Dat, DatEntry, Map, Set, Wish},
    local, memory,
    mesh::{free_entry, maps_base_index, mesh},
    report::{fatal, print, text},
    settings, waiting,
};

/// A copy of a name, which [`crate::mesh::Mesh::clear`] frees.
fn own(name: &str) -> *const c_char {
    CString::new(name).expect("it was a C string").into_raw()
}

/// A copy of `bytes` bytes in memory of the C library; zeros where `data` is null.
///
/// # Safety
/// `data` is null or has that many bytes.
unsafe fn copy_of(data: *const c_void, bytes: usize) -> *mut c_void {
    let copy = memory::op_malloc(bytes.max(1));
    // SAFETY: both have that many bytes.
    unsafe {
        if data.is_null() {
            libc::memset(copy, 0, bytes);
        } else {
            libc::memcpy(copy, data, bytes);
        }
    }
    copy
}

/// Declares a set of `size` elements, or of those of all ranks' parts.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_set(size: c_int, name: *const c_char) -> *mut Set {
    waiting::run_for("op_decl_set");
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    settings::require_start("op_decl_set");
    if size < 0 {
        fatal(&format!("op_decl_set {name}: a set of {size} elements"));
    }
    let (first, whole) = match local::is_local() {
        true => local::place(&format!("op_decl_set {name}"), size),
        false => (0, size),
    };
    declare_set(name, first, size, whole)
}

/// Declares a set of which `whole` elements are known on every rank.
pub(crate) fn declare_shared(whole: c_int, name: &str) -> *mut Set {
    settings::require_start("op_decl_set_hdf5");
    let (first, size) = match local::is_local() {
        true => local::share(whole),
        false => (0, whole),
    };
    declare_set(name, first, size, whole)
}

fn declare_set(name: &str, first: c_int, size: c_int, whole: c_int) -> *mut Set {
    distribute::begin();
    distribute::end();
    let here = distribute::here_of_set(whole, size);
    let mut mesh = mesh();
    let set = Box::into_raw(Box::new(Set {
        index: mesh.sets.len() as i32,
        size,
        name: own(name),
        core_size: here,
        exec_size: 0,
        nonexec_size: 0,
        stride: here,
        whole,
        first,
        declared: size,
    }));
    mesh.sets.push(set);
    mesh.publish();
    set
}

/// Declares that element e of `from` points to the elements `map[e * dim] ..` of `to`.
///
/// # Safety
/// The sets are declared, `map` has `dim` numbers for each element of `from` on this rank, `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_map(
    from: *mut Set,
    to: *mut Set,
    dim: c_int,
    map: *const i32,
    name: *const c_char,
) -> *mut Map {
    waiting::run_for("op_decl_map");
    // SAFETY: the caller's promises.
    unsafe { declare_part_of_map(from, to, dim, map, name) }
}

/// The same with numbers of 64 bits.
///
/// # Safety
/// See [`op_decl_map`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_map_long(
    from: *mut Set,
    to: *mut Set,
    dim: c_int,
    map: *const i64,
    name: *const c_char,
) -> *mut Map {
    waiting::run_for("op_decl_map_long");
    // SAFETY: the caller's promises.
    unsafe { declare_part_of_map(from, to, dim, map, name) }
}

/// # Safety
/// See [`op_decl_map`].
unsafe fn declare_part_of_map<N: Copy + Into<i64>>(
    from: *mut Set,
    to: *mut Set,
    dim: c_int,
    map: *const N,
    name: *const c_char,
) -> *mut Map {
    // SAFETY: the caller's promises.
    let (name, sets) = unsafe { (text(name), (from.as_ref(), to.as_ref())) };
    let what = format!("op_decl_map {name}");
    let wrong = |why: &str| -> ! { fatal(&format!("{what}: {why}")) };
    let (Some(source), Some(_)) = sets else {
        wrong("a set is missing");
    };
    if dim < 1 {
        wrong(&format!("each element points to {dim} elements"));
    }
    if map.is_null() && source.declared > 0 {
        wrong("there are no numbers");
    }
    let count = source.declared as usize * dim as usize;
    let numbers = match count {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(map, count) },
    };
    // SAFETY: the sets are declared.
    unsafe {
        if !local::is_local() {
            let each = |put: &mut dyn FnMut(i64)| numbers.iter().for_each(|&one| put(one.into()));
            return declare_map(&what, from, to, dim, each, name);
        }
        let mine = numbers.iter().flat_map(|&one| one.into().to_ne_bytes());
        let mine: Vec<u8> = mine.collect();
        let size = dim as usize * size_of::<i64>();
        let whole = local::whole(&what, source, (*to).index, &mine, size);
        let numbers = whole.as_chunks().0.iter();
        let mut numbers = numbers.map(|&one| i64::from_ne_bytes(one));
        let each = |put: &mut dyn FnMut(i64)| numbers.by_ref().for_each(put);
        declare_map(&what, from, to, dim, each, name)
    }
}

/// Declares a map of the whole mesh; messages say `what` it is about. `each` calls what it is given with all numbers, `dim`
/// for each element of `from`.
///
/// # Safety
/// The sets are declared.
pub(crate) unsafe fn declare_map(
    what: &str,
    from: *mut Set,
    to: *mut Set,
    dim: c_int,
    each: impl FnOnce(&mut dyn FnMut(i64)),
    name: &str,
) -> *mut Map {
    distribute::end();
    // SAFETY: the caller's promise.
    let (source, target) = unsafe { (&*from, &*to) };
    let count = source.whole as usize * dim as usize;
    let base = i64::from(maps_base_index());
    let copy = memory::op_malloc((count * size_of::<i32>()).max(1)).cast::<i32>();
    let mut at = 0;
    each(&mut |number| {
        if !(base..base + i64::from(target.whole)).contains(&number) {
            // SAFETY: names of declared sets.
            let (from, to) = unsafe { (text(source.name), text(target.name)) };
            fatal(&format!(
                "{what}: element {} of {from} points to {number} in column {}; {to} has the elements {base} to {}",
                at as i64 / i64::from(dim) + base,
                at as i64 % i64::from(dim),
                base + i64::from(target.whole) - 1
            ));
        }
        assert!(at < count, "no more than there are");
        // SAFETY: one of `count` numbers.
        unsafe { *copy.add(at) = (number - base) as i32 };
        at += 1;
    });
    assert_eq!(at, count, "as many as there are");
    let mut mesh = mesh();
    let map = Box::into_raw(Box::new(Map {
        index: mesh.maps.len() as i32,
        from,
        to,
        dim,
        map: copy,
        map_gbl: std::ptr::null_mut(),
        map_d: std::ptr::null_mut(),
        name: own(name),
        user_managed: 0,
        force_part: false,
    }));
    mesh.maps.push(map);
    mesh.publish();
    map
}

/// What every declaration of data has in common; messages say `what` it is about. `data` becomes the dat's.
///
/// # Safety
/// The set is declared or null; `data` has an element for each of it.
unsafe fn declare_dat(
    what: &str,
    set: *mut Set,
    (dim, component): (c_int, c_int),
    type_name: &str,
    name: &str,
    data: impl FnOnce(usize) -> *mut c_void,
    (original, user_managed): (*mut c_char, bool),
) -> *mut Dat {
    // SAFETY: the caller's promise.
    let Some(declared) = (unsafe { set.as_ref() }) else {
        fatal(&format!("{what}: the set is missing"));
    };
    if dim < 1 || component < 1 {
        fatal(&format!("{what}: {dim} components of {component} bytes"));
    }
    let Some(size) = dim.checked_mul(component) else {
        fatal(&format!("{what}: an element of more than 2 GiB"));
    };
    let data = data(declared.elements() * size as usize);
    mesh().add_dat(
        Dat {
            index: 0,
            set,
            dim,
            size,
            data: data.cast(),
            data_d: std::ptr::null_mut(),
            type_name: own(type_name),
            name: own(name),
            buffer_d: std::ptr::null_mut(),
            buffer_d_r: std::ptr::null_mut(),
            dirtybit: 0,
            dirty_hd: 0,
            user_managed: i32::from(user_managed),
            mpi_buffer: std::ptr::null_mut(),
            by_component: std::ptr::null_mut(),
            stride: 0,
            wish: Wish::of(type_name, dim, component),
            mirror: Cell::default(),
            is_shared: false,
        },
        original,
    )
}

/// Declares data with `dim` components of `size` bytes for each element; zeros where `data` is null.
///
/// # Safety
/// `data` is null or has an element for each of the declared set; the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_dat_char(
    set: *mut Set,
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    data: *mut c_char,
    name: *const c_char,
) -> *mut Dat {
    waiting::run_for("op_decl_dat");
    // SAFETY: the caller's promise.
    let declared = unsafe { set.as_ref() };
    if local::is_local()
        && let Some(declared) = declared
        && dim > 0
        && size > 0
    {
        // SAFETY: the caller's promises.
        return unsafe { declare_part_of_dat(declared, (dim, size), type_name, data, name) };
    }
    let is_whole = data.is_null() || distribute::current().is_none();
    let keep = settings::keeps_user_memory() && !data.is_null() && is_whole;
    // SAFETY: the caller's promises.
    unsafe {
        let place = |bytes| match keep {
            true => data.cast(),
            false => part_of(set, data.cast(), size as usize * dim as usize, bytes),
        };
        let (type_name, name) = (text(type_name), text(name));
        declare_dat(
            &format!("op_decl_dat {name}"),
            set,
            (dim, size),
            type_name,
            name,
            place,
            (data, keep),
        )
    }
}

/// Declares the data of which each rank has a part.
///
/// # Safety
/// See [`op_decl_dat_char`].
unsafe fn declare_part_of_dat(
    set: &Set,
    (dim, component): (c_int, c_int),
    type_name: *const c_char,
    data: *mut c_char,
    name: *const c_char,
) -> *mut Dat {
    // SAFETY: the caller's promises.
    unsafe {
        let (type_name, name) = (text(type_name), text(name));
        let what = format!("op_decl_dat {name}");
        let size = dim as usize * component as usize;
        let length = set.declared as usize * size;
        let zeros;
        let mine = match data.is_null() || length == 0 {
            true => {
                zeros = vec![0; length];
                &zeros[..]
            }
            false => std::slice::from_raw_parts(data.cast::<u8>(), length),
        };
        let whole = local::whole(&what, set, type_name, mine, size);
        let set = std::ptr::from_ref(set).cast_mut();
        declare_copy(&what, set, (dim, component), type_name, name, &whole)
    }
}

/// Declares data with copies of `values`, those of all elements of the set; messages say `what` it is about.
///
/// # Safety
/// The set is declared and has that many elements.
pub(crate) unsafe fn declare_copy(
    what: &str,
    set: *mut Set,
    (dim, component): (c_int, c_int),
    type_name: &str,
    name: &str,
    values: &[u8],
) -> *mut Dat {
    let size = dim as usize * component as usize;
    // SAFETY: the caller's promise.
    unsafe {
        let fill = |room: &mut [u8]| room.copy_from_slice(&distribute::here(set, values, size));
        declare_filled(what, set, (dim, component), type_name, name, fill)
    }
}

/// The same with what `fill` puts into zeros, for the elements that are here.
///
/// # Safety
/// The set is declared.
pub(crate) unsafe fn declare_filled(
    what: &str,
    set: *mut Set,
    parts: (c_int, c_int),
    type_name: &str,
    name: &str,
    fill: impl FnOnce(&mut [u8]),
) -> *mut Dat {
    let original = (std::ptr::null_mut(), false);
    // SAFETY: the caller's promise; new memory of that many bytes.
    unsafe {
        let place = |bytes| {
            let data = copy_of(std::ptr::null(), bytes);
            fill(std::slice::from_raw_parts_mut(data.cast::<u8>(), bytes));
            data
        };
        declare_dat(what, set, parts, type_name, name, place, original)
    }
}

/// A copy, of `bytes` bytes, of what is here of data with `size` bytes for each element; zeros where they are null.
///
/// # Safety
/// The set is declared, and has that many elements; or the data are null.
unsafe fn part_of(set: *const Set, data: *const c_void, size: usize, bytes: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        let length = (*set).whole as usize * size;
        if data.is_null() || length == 0 {
            return copy_of(std::ptr::null(), bytes);
        }
        let whole = std::slice::from_raw_parts(data.cast::<u8>(), length);
        let here = distribute::here(set, whole, size);
        copy_of(here.as_ptr().cast(), bytes)
    }
}

/// Declares data, all zero, that may be freed before the end. As in OP2 there are no others of that name and kind.
///
/// # Safety
/// The set is declared; the others are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_dat_temp_char(
    set: *mut Set,
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    name: *const c_char,
) -> *mut Dat {
    waiting::run_for("op_decl_dat_temp");
    // SAFETY: the caller's promises.
    unsafe {
        let place = |bytes| copy_of(std::ptr::null(), bytes);
        let (type_name, name) = (text(type_name), text(name));
        let what = format!("op_decl_dat_temp {name}");
        let is_like = |&entry: &*mut DatEntry| {
            let one = &*(*entry).dat;
            (one.set, one.dim, one.size) == (set, dim, dim.saturating_mul(size))
                && (text(one.name), text(one.type_name)) == (name, type_name)
        };
        if mesh().dats.iter().any(is_like) {
            fatal(&format!(
                "{what}: {} has data of that name, type and dimension already, which op_free_dat_temp would free",
                text((*set).name)
            ));
        }
        let original = (std::ptr::null_mut(), false);
        declare_dat(&what, set, (dim, size), type_name, name, place, original)
    }
}

/// Frees data; 1, or -1 if they are not declared.
///
/// # Safety
/// `dat` is not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_free_dat_temp_char(dat: *mut Dat) -> c_int {
    waiting::run_for("op_free_dat_temp");
    let mut mesh = mesh();
    // SAFETY: entries of the list are alive.
    let found = mesh
        .dats
        .iter()
        .position(|&entry| unsafe { (*entry).dat } == dat);
    let Some(at) = found else { return -1 };
    let entry = mesh.dats.remove(at);
    mesh.publish();
    // SAFETY: it is in no list any more.
    unsafe { free_entry(entry) };
    1
}

/// The data of `dat` as data on `set`, which has no more elements.
///
/// # Safety
/// Both are declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_dat_overlay(set: *mut Set, dat: *mut Dat) -> *mut Dat {
    waiting::run_for("op_decl_dat_overlay");
    if dat.is_null() {
        fatal("op_decl_dat_overlay: the dat is missing");
    }
    // SAFETY: a declared dat.
    let (name, type_name) = unsafe { (text((*dat).name), text((*dat).type_name)) };
    if local::is_local() {
        fatal(&format!(
            "op_decl_dat_overlay {name}: not possible where each rank declares a part of the mesh"
        ));
    }
    distribute::give_up(&format!("op_decl_dat_overlay {name}"));
    // SAFETY: the caller's promise.
    let below = unsafe { &mut *dat };
    // SAFETY: the same; no loop runs.
    unsafe { below.stay_by_element("op_decl_dat_overlay lies over them") };
    below.is_shared = true;
    // SAFETY: the caller's promise; a dat has its set.
    let sizes = unsafe { set.as_ref().map(|set| (set.size, (*below.set).size)) };
    if let Some((size, most)) = sizes
        && size > most
    {
        fatal(&format!(
            "op_decl_dat_overlay {name}: the set has {size} elements, the data {most}"
        ));
    }
    let parts = (below.dim, below.size / below.dim);
    let place = |_| below.data.cast();
    let what = format!("op_decl_dat_overlay {name}");
    // SAFETY: there is data for each element.
    unsafe {
        let original = (std::ptr::null_mut(), true);
        let overlay = declare_dat(&what, set, parts, type_name, name, place, original);
        (*overlay).wish = Wish::Never;
        overlay
    }
}

/// The same by the pointer that the program declared `dat` with.
///
/// # Safety
/// The set is declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_dat_overlay_ptr(set: *mut Set, data: *mut c_char) -> *mut Dat {
    waiting::run_for("op_decl_dat_overlay_ptr");
    // SAFETY: entries of the list are alive.
    let of = |&entry: &*mut DatEntry| unsafe {
        ((*entry).original == data.cast()).then_some((*entry).dat)
    };
    let found = mesh().dats.iter().find_map(of);
    match found {
        // SAFETY: the caller's promise.
        Some(dat) => unsafe { op_decl_dat_overlay(set, dat) },
        None => fatal("op_decl_dat_overlay_ptr: no data were declared with this pointer"),
    }
}

/// Elements of a set in the whole mesh.
///
/// # Safety
/// The set is declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_get_size(set: *const Set) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { i64::from((*set).whole) }
}

/// Whether two sets are the same: 1 or 0.
///
/// # Safety
/// Both are declared, or sets of copies of data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn compare_sets(one: *const Set, other: *const Set) -> c_int {
    // SAFETY: the caller's promise.
    let is_same = unsafe {
        let (one, other) = (&*one, &*other);
        (one.size, one.index) == (other.size, other.index) && text(one.name) == text(other.name)
    };
    c_int::from(is_same)
}

/// Elements of a set on the ranks before this one.
///
/// # Safety
/// The set is declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_get_global_set_offset(set: *const Set) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        match distribute::current() {
            Some(distribution) => distribution.offset(set) as i64,
            None => i64::from((*set).first),
        }
    }
}

/// Elements of the set of that name: where each rank declares a part, those that are here, with those of others.
///
/// # Safety
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_size_of_set(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise; sets of the list are alive.
    unsafe {
        let name = text(name);
        let found = mesh()
            .sets
            .iter()
            .find(|&&set| text((*set).name) == name)
            .copied();
        match found {
            Some(set) => (*set).size + (*set).exec_size + (*set).nonexec_size,
            None => fatal(&format!("op_size_of_set: there is no set {name}")),
        }
    }
}

/// Prints what has been declared.
#[unsafe(no_mangle)]
pub extern "C" fn op_diagnostic_output() {
    waiting::run_for("op_diagnostic_output");
    if settings::diagnostics() < 2 {
        return;
    }
    let mesh = mesh();
    // SAFETY: what the lists hold is alive.
    unsafe {
        print("\n  set          size\n  -----------------");
        for &set in &mesh.sets {
            print(&format!(
                "  {:<10} {:>6}",
                text((*set).name),
                op_get_size(set)
            ));
        }
        print("\n  map          dim  from         to\n  ---------------------------------");
        for &map in &mesh.maps {
            print(&format!(
                "  {:<10} {:>5}  {:<10} {:>5}",
                text((*map).name),
                (*map).dim,
                text((*(*map).from).name),
                text((*(*map).to).name)
            ));
        }
        print("\n  dat          dim  set\n  ----------------------");
        for &entry in &mesh.dats {
            let dat = (*entry).dat;
            let set = text((*(*dat).set).name);
            print(&format!(
                "  {:<10} {:>5}  {set}",
                text((*dat).name),
                (*dat).dim
            ));
        }
        print("");
    }
}
