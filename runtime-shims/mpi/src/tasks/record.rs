//! The record of a task, as compiled code and libomp know it, and what the runtime keeps in front of it.
//!
//! Records lie in the program's heap: a region inside a task may hand their variables to other ranks.

use std::ffi::c_void;

use crate::{region, report};

/// Compiled code of a task: `kmp_routine_entry_t`.
pub(super) type Routine = unsafe extern "C-unwind" fn(i32, *mut c_void) -> i32;
/// Makes one taskloop task's record from another's: copies firstprivate objects, notes the last one.
pub(super) type Duplicate = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, i32);

/// A bit of libomp's `kmp_tasking_flags_t`: private variables have destructors.
const DESTRUCTORS: i32 = 1 << 3;

/// The start of a task's record: libomp's `kmp_task_t`. Private variables follow, then the block
/// `shareds` points to.
#[repr(C)]
pub(super) struct Record {
    pub(super) shareds: *mut c_void,
    pub(super) routine: Routine,
    pub(super) part: i32,
    /// The destructors of the private variables, where the flags say so.
    pub(super) destructors: Option<Routine>,
    pub(super) priority: i64,
}

/// What the runtime keeps in front of a record. The size is the alignment of the record.
#[repr(C, align(64))]
pub(super) struct Header {
    /// Bytes of the record and what belongs to it.
    pub(super) size: usize,
    pub(super) flags: i32,
    /// Whether the routine is being called.
    pub(super) running: bool,
    /// An untied task hands itself in again and returns, to go on at its next part.
    pub(super) resubmitted: bool,
    /// The event its completion waits for; 0: none.
    pub(super) event: i64,
}

const _: () = assert!(size_of::<Record>() == 40 && size_of::<Header>() == align_of::<Header>());

/// # Safety
/// `task` comes from [`allocate`].
pub(super) unsafe fn header_of(task: *mut c_void) -> *mut Header {
    // SAFETY: the header lies in front of the record.
    unsafe { task.cast::<Header>().sub(1) }
}

/// Room for a record of `size` bytes, with what belongs to it.
pub(super) fn allocate(size: usize) -> *mut c_void {
    let block = size.checked_next_multiple_of(align_of::<Header>());
    let block = block.and_then(|block| block.checked_add(size_of::<Header>()));
    // SAFETY: the size is a multiple of the alignment.
    let block = block.map(|size| unsafe { libc::aligned_alloc(align_of::<Header>(), size) });
    let header = block.unwrap_or(std::ptr::null_mut()).cast::<Header>();
    if header.is_null() {
        report::fatal(&format!(
            "no memory for a task of {size} bytes ({})",
            region::location()
        ));
    }
    let contents = Header {
        size,
        flags: 0,
        running: false,
        resubmitted: false,
        event: 0,
    };
    // SAFETY: the block has room for a header and `size` bytes.
    unsafe {
        header.write(contents);
        header.add(1).cast()
    }
}

/// Frees a complete task, its private objects first.
///
/// # Safety
/// `task` is a record that nothing uses any more.
pub(super) unsafe fn dispose(gtid: i32, task: *mut c_void) {
    // SAFETY: as for this function.
    unsafe {
        destroy(gtid, task);
        free(task);
    }
}

/// Destroys the private objects of a complete task.
///
/// # Safety
/// `task` is a record whose objects nothing uses any more.
pub(super) unsafe fn destroy(gtid: i32, task: *mut c_void) {
    // SAFETY: a record with its header.
    unsafe {
        if (*header_of(task)).flags & DESTRUCTORS != 0
            && let Some(destructors) = (*task.cast::<Record>()).destructors
        {
            destructors(gtid, task);
        }
    }
}

/// Frees a record whose private objects are gone.
///
/// # Safety
/// `task` is a record that nothing uses any more.
pub(super) unsafe fn free(task: *mut c_void) {
    // SAFETY: the header is the start of the block.
    unsafe { libc::free(header_of(task).cast()) };
}

/// A second record with the contents of a first.
///
/// # Safety
/// `task` comes from [`allocate`].
pub(super) unsafe fn copy_of(task: *mut c_void) -> *mut c_void {
    // SAFETY: both blocks have `size` bytes; the shareds lie at the same place in both.
    unsafe {
        let header = header_of(task);
        let copy = allocate((*header).size);
        (*header_of(copy)).flags = (*header).flags;
        copy.cast::<u8>()
            .copy_from_nonoverlapping(task.cast::<u8>(), (*header).size);
        let shareds = (*task.cast::<Record>()).shareds;
        if !shareds.is_null() {
            let offset = shareds.byte_offset_from(task);
            (*copy.cast::<Record>()).shareds = copy.byte_offset(offset);
        }
        copy
    }
}
