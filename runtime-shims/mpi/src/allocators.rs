//! OpenMP's memory allocators (OpenMP 5.2, section 18.13).
//!
//! Guarantee: all memory comes from the program's heap, which every rank sees; alignment and fallback
//! traits are kept, the others have no effect. An allocator made by one rank is good on every rank.

use std::ffi::c_void;

use crate::{region, report, team};

const NULL_ALLOCATOR: i64 = 0;
const DEFAULT_ALLOCATOR: i64 = 1;
const LAST_PREDEFINED: i64 = 8;
/// Smaller handles are no addresses.
const FIRST_ADDRESS: i64 = 4096;

const LAST_MEMORY_SPACE: i64 = 4;
const DEFAULT_MEMORY_SPACE: i64 = 99;

// `omp_alloctrait_key_t`.
const TRAIT_FIRST: i32 = 1;
const TRAIT_ALIGNMENT: i32 = 2;
const TRAIT_FALLBACK: i32 = 5;
const TRAIT_FALLBACK_DATA: i32 = 6;
const TRAIT_LAST: i32 = 14;

/// `omp_atv_default`.
const VALUE_DEFAULT: u64 = u64::MAX;

/// What happens where there is no memory: `omp_alloctrait_value_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fallback {
    DefaultMemory,
    Null,
    Abort,
    Allocator(i64),
}

/// The traits that have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traits {
    alignment: usize,
    fallback: Fallback,
}

const DEFAULT_TRAITS: Traits = Traits {
    alignment: 1,
    fallback: Fallback::DefaultMemory,
};

/// An allocator of the program. Its handle is its address.
#[repr(C)]
struct Allocator {
    mark: u64,
    traits: Traits,
}

const ALLOCATOR_MARK: u64 = u64::from_be_bytes(*b"okl-allo");
const BLOCK_MARK: u64 = u64::from_be_bytes(*b"okl-blck");

/// What stands in front of memory handed out.
#[repr(C)]
struct Block {
    /// What `malloc` returned.
    start: *mut c_void,
    size: usize,
    mark: u64,
    unused: u64,
}

/// The traits of an allocator by its handle.
fn traits_of(function: &str, handle: i64) -> Traits {
    let handle = match handle {
        NULL_ALLOCATOR => team::icv(|icv| icv.default_allocator),
        _ => handle,
    };
    if (DEFAULT_ALLOCATOR..=LAST_PREDEFINED).contains(&handle) {
        return DEFAULT_TRAITS;
    }
    let address = handle as usize as *const Allocator;
    if !(0..FIRST_ADDRESS).contains(&handle) && address.is_aligned() {
        // SAFETY: the handle should be what `omp_init_allocator` returned; a wild one faults.
        let allocator = unsafe { &*address };
        if allocator.mark == ALLOCATOR_MARK {
            return allocator.traits;
        }
    }
    report::fatal(&format!(
        "{function} ({}): {handle:#x} is no allocator",
        region::location()
    ))
}

/// Memory with a [`Block`] in front of it; null where there is none.
fn raw_allocate(alignment: usize, size: usize) -> *mut c_void {
    const MALLOC_ALIGNMENT: usize = 16;
    let front = size_of::<Block>().max(alignment);
    let room = size
        .checked_add(front)
        .and_then(|room| room.checked_next_multiple_of(alignment));
    let Some(room) = room.filter(|&room| room <= isize::MAX as usize) else {
        return std::ptr::null_mut();
    };
    // SAFETY: plain allocation; `room` is a multiple of the alignment, a power of two. The block's
    // description lies in the `front` bytes before the memory.
    unsafe {
        let start = if alignment <= MALLOC_ALIGNMENT {
            libc::malloc(room)
        } else {
            libc::aligned_alloc(alignment, room)
        };
        if start.is_null() {
            return start;
        }
        let memory = start.byte_add(front);
        memory.cast::<Block>().sub(1).write(Block {
            start,
            size,
            mark: BLOCK_MARK,
            unused: 0,
        });
        memory
    }
}

fn allocate(function: &str, alignment: usize, size: usize, handle: i64) -> *mut c_void {
    if size == 0 {
        return std::ptr::null_mut();
    }
    if !alignment.is_power_of_two() {
        report::fatal(&format!(
            "{function} ({}): the alignment {alignment} is no power of two",
            region::location()
        ));
    }
    let mut traits = traits_of(function, handle);
    loop {
        let memory = raw_allocate(alignment.max(traits.alignment), size);
        if !memory.is_null() {
            return memory;
        }
        traits = match traits.fallback {
            // The default memory space is where this allocator looked.
            Fallback::DefaultMemory | Fallback::Null => return memory,
            Fallback::Abort => report::fatal(&format!(
                "{function} ({}): no memory for {size} bytes, and the allocator's fallback is to stop",
                region::location()
            )),
            Fallback::Allocator(next) => traits_of(function, next),
        };
    }
}

fn allocate_zeroed(
    function: &str,
    alignment: usize,
    count: usize,
    size: usize,
    handle: i64,
) -> *mut c_void {
    // A product that overflows is more memory than there is.
    let size = count.saturating_mul(size);
    let memory = allocate(function, alignment, size, handle);
    if !memory.is_null() {
        // SAFETY: memory of `size` bytes.
        unsafe { libc::memset(memory, 0, size) };
    }
    memory
}

/// The block of memory that was handed out.
///
/// # Safety
/// `memory` is not null.
unsafe fn block_of(function: &str, memory: *mut c_void) -> *mut Block {
    let block = memory.cast::<Block>().wrapping_sub(1);
    // SAFETY: the program's pointer; a wild one faults.
    if !block.is_aligned() || unsafe { (*block).mark } != BLOCK_MARK {
        report::fatal(&format!(
            "{function} ({}): {memory:p} does not come from an OpenMP allocator, or is free already",
            region::location()
        ));
    }
    block
}

/// # Safety
/// Nothing uses the memory any more.
unsafe fn free(function: &str, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: the block in front of the memory.
    unsafe {
        let block = block_of(function, memory);
        (*block).mark = 0;
        libc::free((*block).start);
    }
}

/// The size of an object as the ABI passes it.
fn bytes(size: i64) -> usize {
    size as usize
}

/// `omp_alloc`.
pub(crate) fn okl_mpi_omp_alloc(size: i64, allocator: i64) -> *mut c_void {
    allocate("omp_alloc", 1, bytes(size), allocator)
}

/// `omp_aligned_alloc`.
pub(crate) fn okl_mpi_omp_aligned_alloc(align: i64, size: i64, allocator: i64) -> *mut c_void {
    allocate("omp_aligned_alloc", bytes(align), bytes(size), allocator)
}

/// `omp_calloc`.
pub(crate) fn okl_mpi_omp_calloc(count: i64, size: i64, allocator: i64) -> *mut c_void {
    allocate_zeroed("omp_calloc", 1, bytes(count), bytes(size), allocator)
}

/// `omp_aligned_calloc`.
pub(crate) fn okl_mpi_omp_aligned_calloc(
    align: i64,
    count: i64,
    size: i64,
    allocator: i64,
) -> *mut c_void {
    allocate_zeroed(
        "omp_aligned_calloc",
        bytes(align),
        bytes(count),
        bytes(size),
        allocator,
    )
}

/// `omp_realloc`: memory that stays as it was where there is no more.
///
/// # Safety
/// `pointer` comes from one of these functions or is null.
pub(crate) unsafe fn okl_mpi_omp_realloc(
    pointer: *mut c_void,
    size: i64,
    allocator: i64,
    _free_allocator: i64,
) -> *mut c_void {
    const NAME: &str = "omp_realloc";
    // SAFETY: the caller's memory; the copy is as long as the shorter of the two.
    unsafe {
        if size == 0 {
            free(NAME, pointer);
            return std::ptr::null_mut();
        }
        let new = allocate(NAME, 1, bytes(size), allocator);
        if !pointer.is_null() && !new.is_null() {
            let old_size = (*block_of(NAME, pointer)).size;
            libc::memcpy(new, pointer, old_size.min(bytes(size)));
            free(NAME, pointer);
        }
        new
    }
}

/// `omp_free`.
///
/// # Safety
/// `pointer` comes from one of these functions or is null.
pub(crate) unsafe fn okl_mpi_omp_free(pointer: *mut c_void, _allocator: i64) {
    // SAFETY: the caller's memory.
    unsafe { free("omp_free", pointer) };
}

/// `__kmpc_alloc`: the `allocate` directive.
pub(crate) fn okl_mpi_kmpc_alloc(_gtid: i32, size: i64, allocator: *mut c_void) -> *mut c_void {
    allocate("the allocate directive", 1, bytes(size), allocator as i64)
}

/// `__kmpc_aligned_alloc`.
pub(crate) fn okl_mpi_kmpc_aligned_alloc(
    _gtid: i32,
    align: i64,
    size: i64,
    allocator: *mut c_void,
) -> *mut c_void {
    allocate(
        "the allocate directive",
        bytes(align),
        bytes(size),
        allocator as i64,
    )
}

/// `__kmpc_free`.
///
/// # Safety
/// `pointer` comes from one of these functions or is null.
pub(crate) unsafe fn okl_mpi_kmpc_free(_gtid: i32, pointer: *mut c_void, _allocator: *mut c_void) {
    // SAFETY: the caller's memory.
    unsafe { free("the allocate directive", pointer) };
}

/// One trait: `omp_alloctrait_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Trait {
    key: i32,
    value: u64,
}

/// The traits a program asks for; `None` where one cannot be had.
fn checked_traits(list: &[Trait]) -> Option<Traits> {
    let mut traits = DEFAULT_TRAITS;
    let value_of = |key| {
        list.iter()
            .rev()
            .find(|entry| entry.key == key)
            .map(|entry| entry.value)
    };
    if !list
        .iter()
        .all(|entry| (TRAIT_FIRST..=TRAIT_LAST).contains(&entry.key))
    {
        return None;
    }
    if let Some(alignment) = value_of(TRAIT_ALIGNMENT).filter(|&value| value != VALUE_DEFAULT) {
        traits.alignment = usize::try_from(alignment)
            .ok()
            .filter(|size| size.is_power_of_two())?;
    }
    traits.fallback = match value_of(TRAIT_FALLBACK) {
        None | Some(VALUE_DEFAULT | 11) => Fallback::DefaultMemory,
        Some(12) => Fallback::Null,
        Some(13) => Fallback::Abort,
        Some(14) => Fallback::Allocator(value_of(TRAIT_FALLBACK_DATA)? as i64),
        Some(_) => return None,
    };
    Some(traits)
}

/// `omp_init_allocator`: `omp_null_allocator` where the request cannot be met.
///
/// # Safety
/// `traits` points to `count` traits.
pub(crate) unsafe fn okl_mpi_omp_init_allocator(
    space: i64,
    count: i32,
    traits: *mut c_void,
) -> i64 {
    if !(0..=LAST_MEMORY_SPACE).contains(&space) && space != DEFAULT_MEMORY_SPACE {
        return NULL_ALLOCATOR;
    }
    let list: &[Trait] = match count {
        ..=0 => &[],
        // SAFETY: the caller's array.
        _ => unsafe { std::slice::from_raw_parts(traits.cast(), count as usize) },
    };
    let Some(traits) = checked_traits(list) else {
        return NULL_ALLOCATOR;
    };
    // SAFETY: plain allocation, then a write to it.
    unsafe {
        let allocator = libc::malloc(size_of::<Allocator>()).cast::<Allocator>();
        if allocator.is_null() {
            return NULL_ALLOCATOR;
        }
        allocator.write(Allocator {
            mark: ALLOCATOR_MARK,
            traits,
        });
        allocator as i64
    }
}

/// `omp_destroy_allocator`.
///
/// # Safety
/// Nothing uses the allocator any more.
pub(crate) unsafe fn okl_mpi_omp_destroy_allocator(allocator: i64) {
    if (NULL_ALLOCATOR..=LAST_PREDEFINED).contains(&allocator) {
        return;
    }
    traits_of("omp_destroy_allocator", allocator);
    let allocator = allocator as usize as *mut Allocator;
    // SAFETY: an allocator of the program, as just checked.
    unsafe {
        (*allocator).mark = 0;
        libc::free(allocator.cast());
    }
}

/// `omp_set_default_allocator`.
pub(crate) fn okl_mpi_omp_set_default_allocator(allocator: i64) {
    let allocator = if allocator == NULL_ALLOCATOR {
        DEFAULT_ALLOCATOR
    } else {
        allocator
    };
    traits_of("omp_set_default_allocator", allocator);
    team::icv(|icv| icv.default_allocator = allocator);
}

/// `omp_get_default_allocator`.
pub(crate) fn okl_mpi_omp_get_default_allocator() -> i64 {
    team::icv(|icv| icv.default_allocator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(list: &[(i32, u64)]) -> Option<Traits> {
        let list: Vec<Trait> = list
            .iter()
            .map(|&(key, value)| Trait { key, value })
            .collect();
        checked_traits(&list)
    }

    #[test]
    fn traits_are_kept_or_refused() {
        assert_eq!(asked(&[]), Some(DEFAULT_TRAITS));
        let traits = |alignment, fallback| {
            Some(Traits {
                alignment,
                fallback,
            })
        };
        for (list, expected) in [
            (
                &[(TRAIT_ALIGNMENT, 64)][..],
                traits(64, Fallback::DefaultMemory),
            ),
            (
                &[(TRAIT_ALIGNMENT, VALUE_DEFAULT), (TRAIT_FALLBACK, 12)],
                traits(1, Fallback::Null),
            ),
            (
                &[(TRAIT_FALLBACK, 13), (4, 1 << 20)],
                traits(1, Fallback::Abort),
            ),
            (
                &[(TRAIT_FALLBACK_DATA, 3), (TRAIT_FALLBACK, 14)],
                traits(1, Fallback::Allocator(3)),
            ),
            (&[(TRAIT_FALLBACK, 14)], None),
            (&[(TRAIT_FALLBACK, 99)], None),
            (&[(TRAIT_ALIGNMENT, 48)], None),
            (&[(77, 1)], None),
        ] {
            assert_eq!(asked(list), expected, "{:?}", list);
        }
    }

    #[test]
    fn memory_has_its_alignment_and_goes_back() {
        for alignment in [1, 8, 16, 32, 64, 4096] {
            let memory = raw_allocate(alignment, 100);
            assert!(!memory.is_null() && memory.addr().is_multiple_of(alignment.max(16)));
            // SAFETY: 100 bytes of our own, freed once.
            unsafe {
                libc::memset(memory, 1, 100);
                assert_eq!((*block_of("test", memory)).size, 100);
                free("test", memory);
            }
        }
        assert!(raw_allocate(1, usize::MAX - 8).is_null());
        assert!(raw_allocate(1, isize::MAX as usize).is_null());
    }
}
