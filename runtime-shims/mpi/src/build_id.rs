//! Which program this is: the build ID that the linker has written into the executable (`NT_GNU_BUILD_ID`), as it lies in
//! memory.
//!
//! Guarantee: executables of different contents differ in it, unless the user has made the linker write one of his own.

use std::ffi::{c_int, c_void};

use object::{
    Endianness,
    elf::{ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID, PT_NOTE},
    read::elf::NoteIterator,
};
use xxhash_rust::xxh3::xxh3_64;

/// A number that stands for the executable. Where it has no build ID, it stands for the contents of the file.
pub(crate) fn of_program() -> u64 {
    build_id().map_or_else(
        || xxh3_64(&std::fs::read("/proc/self/exe").unwrap_or_default()),
        |id| xxh3_64(&id),
    )
}

/// The executable's.
fn build_id() -> Option<Vec<u8>> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a description of what is mapped, and `found` is the variable below.
        unsafe {
            let segments = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into());
            let notes = segments.iter().filter(|one| one.p_type == PT_NOTE.0);
            let id = notes
                .map(|one| {
                    let start = ((*info).dlpi_addr + one.p_vaddr) as *const u8;
                    let bytes = std::slice::from_raw_parts(start, one.p_memsz as usize);
                    (bytes, one.p_align)
                })
                .find_map(|(bytes, align)| in_notes(bytes, align));
            *found.cast::<Option<Vec<u8>>>() = id;
        }
        // The executable is the first one.
        1
    }
    let mut found: Option<Vec<u8>> = None;
    // SAFETY: `visit` gets the variable, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// The build ID among the notes of a segment.
fn in_notes(bytes: &[u8], align: u64) -> Option<Vec<u8>> {
    let little = Endianness::Little;
    let mut notes = NoteIterator::<FileHeader64<Endianness>>::new(little, align, bytes).ok()?;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == ELF_NOTE_GNU && note.n_type(little) == NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let mut notes = Vec::new();
        for (kind, text) in [
            (1_u32, &b"ABI."[..]),
            (NT_GNU_BUILD_ID.0, &b"0123456789"[..]),
        ] {
            for word in [4, text.len() as u32, kind] {
                notes.extend(word.to_le_bytes());
            }
            notes.extend(b"GNU\0");
            notes.extend(text);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(in_notes(&notes, 4).as_deref(), Some(&b"0123456789"[..]));
        assert_eq!(in_notes(&notes[..20], 4), None);
    }

    #[test]
    fn this_program_has_one_that_stays() {
        assert_eq!(of_program(), of_program());
        assert_ne!(of_program(), xxh3_64(&[]));
    }
}
