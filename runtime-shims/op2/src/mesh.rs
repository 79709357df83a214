//! What the program has declared: sets, maps between them, and data on them.

use std::{
    ffi::{CString, c_char},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed},
    },
};

use crate::layout::{Dat, DatEntry, Map, Set};

/// What has been declared.
pub(crate) struct Mesh {
    pub(crate) sets: Vec<*mut Set>,
    pub(crate) maps: Vec<*mut Map>,
    pub(crate) dats: Vec<*mut DatEntry>,
    next_dat: i32,
}

// SAFETY: the pointers are the library's own allocations, reached under the lock or by the program's one
// thread.
unsafe impl Send for Mesh {}

static MESH: Mutex<Mesh> = Mutex::new(Mesh {
    sets: Vec::new(),
    maps: Vec::new(),
    dats: Vec::new(),
    next_dat: 0,
});

/// The mesh, for one caller at a time.
pub(crate) fn mesh() -> MutexGuard<'static, Mesh> {
    MESH.lock().expect("no panic while the mesh is locked")
}

#[unsafe(export_name = "OP_set_list")]
static SET_LIST: AtomicPtr<*mut Set> = AtomicPtr::new(std::ptr::null_mut());
#[unsafe(export_name = "OP_set_index")]
static SET_INDEX: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_map_list")]
static MAP_LIST: AtomicPtr<*mut Map> = AtomicPtr::new(std::ptr::null_mut());
#[unsafe(export_name = "OP_map_index")]
static MAP_INDEX: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_dat_index")]
static DAT_INDEX: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_maps_base_index")]
static MAPS_BASE_INDEX: AtomicI32 = AtomicI32::new(0);

/// A tail queue of `sys/queue.h`.
#[repr(C)]
struct DatList {
    first: AtomicPtr<DatEntry>,
    /// Where the next entry is hung.
    last: AtomicPtr<*mut DatEntry>,
}

#[unsafe(export_name = "OP_dat_list")]
static DAT_LIST: DatList = DatList {
    first: AtomicPtr::new(std::ptr::null_mut()),
    last: AtomicPtr::new((&raw const DAT_LIST.first).cast_mut().cast()),
};

/// Number of the first element in the program's maps.
pub(crate) fn set_maps_base_index(base: i32) {
    MAPS_BASE_INDEX.store(base, Relaxed);
}

/// See [`set_maps_base_index`].
pub(crate) fn maps_base_index() -> i32 {
    MAPS_BASE_INDEX.load(Relaxed)
}

impl Mesh {
    /// Shows programs the lists as they are now.
    pub(crate) fn publish(&mut self) {
        SET_LIST.store(self.sets.as_mut_ptr(), Relaxed);
        SET_INDEX.store(self.sets.len() as i32, Relaxed);
        MAP_LIST.store(self.maps.as_mut_ptr(), Relaxed);
        MAP_INDEX.store(self.maps.len() as i32, Relaxed);
        DAT_INDEX.store(self.next_dat, Relaxed);
        let mut link: *mut *mut DatEntry = DAT_LIST.first.as_ptr();
        for &entry in &self.dats {
            // SAFETY: `link` is the head or in an entry of this list, which are all alive.
            unsafe {
                *link = entry;
                (*entry).previous = link;
                link = &raw mut (*entry).next;
            }
        }
        // SAFETY: as above.
        unsafe { *link = std::ptr::null_mut() };
        DAT_LIST.last.store(link, Relaxed);
    }

    pub(crate) fn add_dat(&mut self, mut dat: Dat, original: *mut c_char) -> *mut Dat {
        dat.index = self.next_dat;
        self.next_dat += 1;
        let dat = Box::into_raw(Box::new(dat));
        self.dats.push(Box::into_raw(Box::new(DatEntry {
            dat,
            original: original.cast(),
            next: std::ptr::null_mut(),
            previous: std::ptr::null_mut(),
        })));
        self.publish();
        dat
    }

    /// Forgets and frees everything.
    pub(crate) fn clear(&mut self) {
        // SAFETY: all were made by the functions below and are removed from the lists.
        unsafe {
            for entry in std::mem::take(&mut self.dats) {
                free_entry(entry);
            }
            for map in std::mem::take(&mut self.maps) {
                let map = Box::from_raw(map);
                libc::free(map.map.cast());
                drop(CString::from_raw(map.name.cast_mut()));
            }
            for set in std::mem::take(&mut self.sets) {
                drop(CString::from_raw(Box::from_raw(set).name.cast_mut()));
            }
        }
        self.next_dat = 0;
        self.publish();
    }
}

/// # Safety
/// The entry was made by `add_dat` and is in no list.
pub(crate) unsafe fn free_entry(entry: *mut DatEntry) {
    // SAFETY: the caller's promise.
    unsafe {
        let dat = Box::from_raw(Box::from_raw(entry).dat);
        if dat.user_managed == 0 {
            libc::free(dat.start().cast());
        }
        drop(CString::from_raw(dat.name.cast_mut()));
        drop(CString::from_raw(dat.type_name.cast_mut()));
    }
}
