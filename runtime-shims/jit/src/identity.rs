//! What machine code rests on besides what is compiled: the processor, and the libraries that made it.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::elf::{FileHeader64, NT_GNU_BUILD_ID, PT_NOTE, ProgramHeader64};
use object::read::ReadCache;
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader};
use object::{LittleEndian, elf};

/// All that LLVM asks a processor: the same bytes have the same name and features. Nothing for a processor whose code is not
/// kept.
#[cfg(target_arch = "x86_64")]
pub(crate) fn processor() -> Vec<u8> {
    use std::arch::x86_64::{__cpuid_count, CpuidResult};
    const EXTENDED: u32 = 0x8000_0000;
    // Leaves and subleaves; of the first one the number of the processor is left out.
    const ASKED: [(u32, u32); 12] = [
        (0, 0),
        (1, 0),
        (7, 0),
        (7, 1),
        (0xd, 0),
        (0xd, 1),
        (0x14, 0),
        (0x19, 0),
        (0x1e, 1),
        (0x24, 0),
        (EXTENDED + 1, 0),
        (EXTENDED + 8, 0),
    ];
    let mut told = Vec::new();
    for (leaf, part) in ASKED {
        let most = __cpuid_count(leaf & EXTENDED, 0).eax;
        let mut answer = match leaf <= most {
            true => __cpuid_count(leaf, part),
            false => CpuidResult {
                eax: 0,
                ebx: 0,
                ecx: 0,
                edx: 0,
            },
        };
        match leaf {
            1 => answer.ebx = 0,
            // Numbers of cores.
            _ if leaf == EXTENDED + 8 => answer.ecx = 0,
            _ => {}
        }
        let CpuidResult { eax, ebx, ecx, edx } = answer;
        told.extend([eax, ebx, ecx, edx].map(u32::to_le_bytes).concat());
    }
    const SYSTEM_SAVES_STATE: u32 = 1 << 27;
    if __cpuid_count(1, 0).ecx & SYSTEM_SAVES_STATE != 0 {
        let (low, high): (u32, u32);
        // SAFETY: the processor has this instruction, which reads a register of the system's.
        unsafe {
            std::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack));
        }
        told.extend([low, high].map(u32::to_le_bytes).concat());
    }
    told
}

/// See above.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn processor() -> Vec<u8> {
    Vec::new()
}

/// The mathematical functions of the program, with which LLVM computes what is known, and those of the system: which libraries
/// they are of, and which code of these, as a library may have some for several processors. None where that is not known.
pub(crate) fn mathematics() -> Option<Vec<u8>> {
    const ASKED: [&CStr; 7] = [c"sin", c"exp", c"log", c"pow", c"sinf", c"expf", c"powf"];
    let mut told = Vec::new();
    // SAFETY: asks the system; LLVM has that library loaded, too, and it has no initialisation that a program notices.
    unsafe {
        let system = libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if system.is_null() {
            return None;
        }
        for library in [system, libc::RTLD_DEFAULT] {
            for name in ASKED {
                let function = libc::dlsym(library, name.as_ptr());
                let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
                if function.is_null() {
                    told.push(0);
                    continue;
                }
                if libc::dladdr(function, found.as_mut_ptr()) == 0 {
                    return None;
                }
                let found = found.assume_init();
                let file = Path::new(OsStr::from_bytes(
                    CStr::from_ptr(found.dli_fname).to_bytes(),
                ));
                told.extend(of_loaded(file)?);
                let offset = function.addr() - found.dli_fbase.addr();
                told.extend((offset as u64).to_le_bytes());
            }
        }
    }
    Some(told)
}

/// The build id of a library in a file, if it has one.
pub(crate) fn of_file(file: &Path) -> Option<Vec<u8>> {
    let data = ReadCache::new(File::open(file).ok()?);
    let header = FileHeader64::<LittleEndian>::parse(&data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, &data).ok()?;
    segments.iter().find_map(|one| {
        let notes = one.notes(endian, &data).ok()??;
        id_in(notes)
    })
}

fn id_in(mut notes: NoteIterator<'_, FileHeader64<LittleEndian>>) -> Option<Vec<u8>> {
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(LittleEndian) == NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}

/// That of a library that is loaded from a file of this name.
pub(crate) fn of_loaded(file: &Path) -> Option<Vec<u8>> {
    let mut asked = Asked { file, found: None };
    // SAFETY: a function that does not unwind, and what it is handed lives through the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut asked).cast()) };
    asked.found
}

struct Asked<'a> {
    file: &'a Path,
    found: Option<Vec<u8>>,
}

/// # Safety
/// As `dl_iterate_phdr` calls it, for [`Asked`].
unsafe extern "C" fn look(
    one: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    asked: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promises; the segments of a library are in memory while it is told of.
    unsafe {
        let (one, asked) = (&*one, &mut *asked.cast::<Asked<'_>>());
        if one.dlpi_name.is_null()
            || CStr::from_ptr(one.dlpi_name).to_bytes() != asked.file.as_os_str().as_bytes()
        {
            return 0;
        }
        let count = usize::from(one.dlpi_phnum);
        let headers = std::slice::from_raw_parts(
            one.dlpi_phdr.cast::<ProgramHeader64<LittleEndian>>(),
            count,
        );
        for header in headers {
            if header.p_type(LittleEndian) != PT_NOTE {
                continue;
            }
            let (start, size) = (header.p_vaddr(LittleEndian), header.p_memsz(LittleEndian));
            let start = (one.dlpi_addr as usize).wrapping_add(start as usize);
            let start = std::ptr::with_exposed_provenance::<u8>(start);
            let notes = std::slice::from_raw_parts(start, size as usize);
            let notes = NoteIterator::new(LittleEndian, header.p_align(LittleEndian), notes);
            asked.found = asked.found.take().or_else(|| id_in(notes.ok()?));
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_the_same_identity_in_its_file_and_in_memory() {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: an address of the C library's; the name that is found stays.
        let file = unsafe {
            libc::dladdr(libc::malloc as *const c_void, found.as_mut_ptr());
            CStr::from_ptr(found.assume_init().dli_fname)
        };
        let file = Path::new(OsStr::from_bytes(file.to_bytes()));
        let id = of_file(file).expect("the C library has a build id");
        assert!(id.len() >= 8, "{id:?}");
        assert_eq!(of_loaded(file), Some(id));
        assert_eq!(of_file(Path::new("/dev/null")), None);
        assert_eq!(of_loaded(Path::new("/dev/null")), None);
    }

    #[test]
    fn mathematical_functions_are_told_by_their_library_and_code() {
        let told = mathematics().expect("the C library has them");
        assert!(told.len() > 7 * 2 * 8, "{told:?}");
        assert_eq!(mathematics(), Some(told));
    }

    #[test]
    fn a_processor_tells_the_same_each_time() {
        assert_eq!(processor(), processor());
        assert_eq!(processor().is_empty(), cfg!(not(target_arch = "x86_64")));
    }
}
