//! The `thread_local` variables of the program.
//!
//! Guarantee: each thread of a rank has its own copy of each, with the initial value, in its part of the rank's private
//! area; other ranks may read it. A thread reaches its copies through pointers of its own, which [`adopt`] fills. Code that was
//! compiled without okl gets the same copies where it asks the OpenMP run time for them; what it knows as `thread_local`
//! variables does not link with the program (the pass's `thread_private.rs`).

use std::{collections::HashMap, ffi::c_void, sync::OnceLock};

use crate::{next::Next, program_graph, program_stacks, turns};

/// Returns where the calling thread has the pointer to its copy.
type Place = extern "C" fn() -> *mut usize;

/// A variable.
pub(crate) struct Variable {
    place: Place,
    align: usize,
    value: Vec<u8>,
    /// Where the files have that value.
    images: Vec<usize>,
}

/// How each variable's pointer is found, and where the copy of the rank's first thread is.
static COPIES: OnceLock<Vec<(Place, usize)>> = OnceLock::new();
/// Where variables have their initial values, and how the pointers to their copies are found.
static PLACES: OnceLock<HashMap<usize, Place>> = OnceLock::new();

fn place(place: *mut c_void) -> Place {
    // SAFETY: the pass emits a function of this type.
    unsafe { std::mem::transmute(place) }
}

/// The variables with their initial values. Several files may have the same one, and not all of it (a common block).
pub(crate) fn find() -> Vec<Variable> {
    let mut indices: HashMap<usize, usize> = HashMap::new();
    let mut found: Vec<Variable> = Vec::new();
    let modules = program_graph::modules();
    for variable in modules.iter().flat_map(|module| module.thread_privates()) {
        let place = place(variable.place);
        // SAFETY: the pass names the initial value with its size.
        let value = unsafe {
            std::slice::from_raw_parts(variable.image.cast::<u8>(), variable.size as usize)
        };
        let next = found.len();
        let index = *indices.entry(place() as usize).or_insert(next);
        if index == next {
            found.push(Variable {
                place,
                align: 1,
                value: Vec::new(),
                images: Vec::new(),
            });
        }
        let known = &mut found[index];
        known.images.push(variable.image.addr());
        known.align = known.align.max(variable.align as usize);
        if known.value.len() < value.len() {
            known.value = value.to_vec();
        }
    }
    found
}

/// Gives each variable its copies, one for each of `threads` threads.
pub(crate) fn fill(variables: Vec<Variable>, threads: usize) {
    let mut next = program_stacks::first_part();
    let mut copies = Vec::new();
    let mut places = HashMap::new();
    for Variable {
        place,
        align,
        value,
        images,
    } in variables
    {
        places.extend(images.into_iter().map(|image| (image, place)));
        next = next.next_multiple_of(align);
        copies.push((place, next));
        for index in 0..threads {
            let copy = (next + program_stacks::offset(index)) as *mut u8;
            // SAFETY: memory of ours, which is large enough.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), copy, value.len()) };
        }
        next += value.len();
    }
    program_stacks::install_guards(threads, next);
    let is_set = COPIES.set(copies).is_ok() && PLACES.set(places).is_ok();
    assert!(is_set, "one job starts once");
}

/// Lets the calling thread reach its copies.
pub(crate) fn adopt() {
    let offset = program_stacks::offset(turns::index());
    for (place, first) in COPIES.get().into_iter().flatten() {
        // SAFETY: the pass's pointer variable of this thread.
        unsafe { place().write(first + offset) };
    }
}

/// The OpenMP run time's: how code that was compiled without okl comes to a thread's copy of a variable, which is the one
/// that the program's other code has. Where it asks for the copy of another variable, or there are no ranks, it is asked.
///
/// # Safety
/// As of that function.
#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
pub unsafe extern "C" fn __kmpc_threadprivate_cached(
    ident: *mut c_void,
    thread: i32,
    data: *mut c_void,
    size: usize,
    cache: *mut c_void,
) -> *mut c_void {
    type Function =
        unsafe extern "C" fn(*mut c_void, i32, *mut c_void, usize, *mut c_void) -> *mut c_void;
    static NEXT: Next = Next::new("__kmpc_threadprivate_cached\0");
    let place = PLACES.get().and_then(|places| places.get(&data.addr()));
    // SAFETY: the pass's pointer variable of this thread.
    let copy = place.map_or(0, |place| unsafe { place().read() });
    if copy != 0 {
        return std::ptr::with_exposed_provenance_mut(copy);
    }
    // SAFETY: a function of that type.
    unsafe {
        let function = std::mem::transmute::<*mut c_void, Function>(NEXT.address());
        function(ident, thread, data, size, cache)
    }
}
