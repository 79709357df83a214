//! Machine code that can be anywhere in memory, and stays right in a file: an object of LLVM's, linked.
//!
//! Guarantee: an image has no address of a program's. What it uses of it it reaches through words of its own, each with the
//! number of an address of the program's code, or a name; they are filled in where the image is mapped. It has nothing that is
//! written then: all of it is read and executed only.

use std::ffi::{CStr, CString, c_void};

use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionFlags, SectionIndex, SymbolIndex, SymbolSection, elf,
};
use okl_abi::jit::ENTRY;

/// A linked object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    /// Where its function is, and how exceptions pass through it: a section `.eh_frame`.
    entry: u64,
    frames: u64,
    words: Vec<Word>,
    /// What it uses that is not at an address of the code's.
    names: Vec<String>,
}

/// A word that is filled in when the image is mapped: where something is, and so many bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    at: u64,
    of: Target,
    addend: i64,
}

/// Where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The image.
    Image,
    /// What the image hands its functions to.
    Receiver,
    /// One of the code's addresses.
    Address(u64),
    /// Something of that name in the program.
    Named(u64),
}

/// Bytes of a word.
const WORD: u64 = 8;
/// Of code that jumps to what a word has: `jmp *word(%rip)`, and two bytes that are not reached.
const STUB: u64 = 8;
/// No larger object is linked: numbers of four bytes reach all of it.
const MOST: usize = 64 << 20;

/// How an object is read, and what of it is linked so far.
struct Linker<'a> {
    object: ElfFile64<'a, LittleEndian>,
    /// The names of the code's addresses, and which is the receiver's.
    addresses: &'a [&'a str],
    receiver: Option<usize>,
    /// Where sections are.
    places: Vec<(SectionIndex, u64)>,
    /// Symbols that have a word, and a stub.
    slots: Vec<(SymbolIndex, u64)>,
    stubs: Vec<(SymbolIndex, u64)>,
    image: Image,
}

impl Image {
    /// Links an object, which has these names for what is at the code's addresses.
    pub(crate) fn link(
        object: &[u8],
        addresses: &[&str],
        receiver: Option<usize>,
    ) -> Result<Self, String> {
        if object.len() > MOST {
            return Err("it is too large".to_owned());
        }
        let object = ElfFile64::parse(object).map_err(|why| why.to_string())?;
        let mut linker = Linker {
            object,
            addresses,
            receiver,
            places: Vec::new(),
            slots: Vec::new(),
            stubs: Vec::new(),
            image: Self {
                bytes: Vec::new(),
                entry: 0,
                frames: 0,
                words: Vec::new(),
                names: Vec::new(),
            },
        };
        linker.lay_out()?;
        linker.relocate()?;
        Ok(linker.image)
    }
}

impl Linker<'_> {
    fn lay_out(&mut self) -> Result<(), String> {
        let (mut frames, mut others) = (None, Vec::new());
        for section in self.object.sections() {
            let SectionFlags::Elf { sh_flags, sh_type } = section.flags() else {
                continue;
            };
            let name = section.name().map_err(|why| why.to_string())?;
            if sh_flags.0 & elf::SHF_ALLOC.0 == 0 || section.size() == 0 {
                continue;
            }
            // Written when it is mapped, and not later. In the last one LLVM has where a file's own types of exceptions are.
            let is_address = [".data.rel.ro", ".data.DW.ref."];
            let has_addresses_alone =
                || name == ".data" && section.relocations().count() as u64 * WORD == section.size();
            let is_written = sh_flags.0 & elf::SHF_WRITE.0 != 0
                && !is_address.iter().any(|start| name.starts_with(start))
                && !has_addresses_alone();
            let is_plain = sh_type != elf::SHT_NOBITS && sh_flags.0 & elf::SHF_TLS.0 == 0;
            if is_written || !is_plain {
                return Err(format!("it has a section {name}"));
            }
            if name == ".eh_frame" {
                frames = Some(section.index());
                continue;
            }
            others.push(section.index());
        }
        for section in others {
            self.place(section)?;
        }
        if let Some(frames) = frames {
            self.image.frames = self.place(frames)?;
            // No more of them.
            self.image.bytes.extend([0; 4]);
        } else {
            return Err("it does not say how exceptions pass".to_owned());
        }
        let entry = self.object.symbols().find(|one| one.name() == Ok(ENTRY));
        let entry = entry.and_then(|one| self.inside(one.index()).transpose());
        self.image.entry = entry.ok_or("it has no entry")??;
        Ok(())
    }

    fn place(&mut self, section: SectionIndex) -> Result<u64, String> {
        let found = self.object.section_by_index(section);
        let found = found.map_err(|why| why.to_string())?;
        let data = found.data().map_err(|why| why.to_string())?;
        let (data, to) = (data.to_vec(), found.align());
        let at = self.align(to)?;
        self.image.bytes.extend(data);
        self.places.push((section, at));
        Ok(at)
    }

    fn align(&mut self, to: u64) -> Result<u64, String> {
        const PAGE: u64 = 4096;
        if to > PAGE {
            return Err("it is aligned to more than pages".to_owned());
        }
        let end = self.image.bytes.len().next_multiple_of(to.max(1) as usize);
        self.image.bytes.resize(end, 0);
        Ok(end as u64)
    }

    fn relocate(&mut self) -> Result<(), String> {
        for (section, place) in self.places.clone() {
            let section = self.object.section_by_index(section);
            let section = section.map_err(|why| why.to_string())?;
            let all: Vec<_> = section.relocations().collect();
            for (offset, one) in all {
                let RelocationFlags::Elf { r_type } = one.flags() else {
                    return Err("it is no object of ELF".to_owned());
                };
                let RelocationTarget::Symbol(symbol) = one.target() else {
                    return Err("something in it is relative to nothing".to_owned());
                };
                self.apply(r_type, place.wrapping_add(offset), symbol, one.addend())?;
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        kind: elf::RelocationType,
        at: u64,
        symbol: SymbolIndex,
        addend: i64,
    ) -> Result<(), String> {
        let place = match kind {
            elf::R_X86_64_NONE => return Ok(()),
            elf::R_X86_64_64 => {
                let word = self.word(symbol, at, addend)?;
                self.image.words.push(word);
                return self.write(at, &[0; WORD as usize]);
            }
            elf::R_X86_64_PLT32 => match self.inside(symbol)? {
                Some(place) => place,
                None => self.stub(symbol)?,
            },
            elf::R_X86_64_PC32 | elf::R_X86_64_PC64 => {
                let inside = self.inside(symbol)?;
                inside.ok_or("something that it uses has to be near")?
            }
            elf::R_X86_64_GOTPCREL
            | elf::R_X86_64_GOTPCRELX
            | elf::R_X86_64_REX_GOTPCRELX
            | elf::R_X86_64_CODE_4_GOTPCRELX => self.slot(symbol)?,
            other => return Err(format!("it has a relocation of type {}", other.0)),
        };
        let distance = (place as i64).wrapping_sub(at as i64).wrapping_add(addend);
        if kind == elf::R_X86_64_PC64 {
            return self.write(at, &distance.to_le_bytes());
        }
        let distance = i32::try_from(distance).map_err(|why| why.to_string())?;
        self.write(at, &distance.to_le_bytes())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let place = self.image.bytes.get_mut(at as usize..);
        let place = place.and_then(|one| one.get_mut(..bytes.len()));
        place
            .ok_or("a relocation is outside of its section")?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// Where in the image a symbol is, if it is there.
    fn inside(&self, symbol: SymbolIndex) -> Result<Option<u64>, String> {
        let symbol = self.object.symbol_by_index(symbol);
        let symbol = symbol.map_err(|why| why.to_string())?;
        match symbol.section() {
            SymbolSection::Undefined => Ok(None),
            SymbolSection::Section(section) => {
                let place = self.places.iter().find(|(one, _)| *one == section);
                let (_, place) = place.ok_or("it uses a section that is not loaded")?;
                Ok(Some(place.wrapping_add(symbol.address())))
            }
            _ => Err("it has a symbol without a section".to_owned()),
        }
    }

    /// What a word at `at` is, for a symbol.
    fn word(&mut self, symbol: SymbolIndex, at: u64, addend: i64) -> Result<Word, String> {
        if let Some(place) = self.inside(symbol)? {
            let (of, addend) = (Target::Image, addend.wrapping_add(place as i64));
            return Ok(Word { at, of, addend });
        }
        let symbol = self.object.symbol_by_index(symbol);
        let name = symbol.and_then(|one| one.name());
        let name = name.map_err(|why| why.to_string())?;
        let number = self.addresses.iter().position(|one| *one == name);
        let of = match number {
            Some(number) if self.receiver == Some(number) => Target::Receiver,
            Some(number) => Target::Address(number as u64),
            None => {
                let names = &mut self.image.names;
                let known = names.iter().position(|one| one == name);
                Target::Named(known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                }) as u64)
            }
        };
        Ok(Word { at, of, addend })
    }

    /// A word that has where a symbol is.
    fn slot(&mut self, symbol: SymbolIndex) -> Result<u64, String> {
        if let Some((_, there)) = self.slots.iter().find(|(one, _)| *one == symbol) {
            return Ok(*there);
        }
        let at = self.align(WORD)?;
        self.image.bytes.extend([0; WORD as usize]);
        let word = self.word(symbol, at, 0)?;
        self.image.words.push(word);
        self.slots.push((symbol, at));
        Ok(at)
    }

    /// Code that jumps to a symbol.
    fn stub(&mut self, symbol: SymbolIndex) -> Result<u64, String> {
        if let Some((_, there)) = self.stubs.iter().find(|(one, _)| *one == symbol) {
            return Ok(*there);
        }
        const JUMP: [u8; 2] = [0xff, 0x25];
        const BEHIND: u64 = 6;
        let slot = self.slot(symbol)?;
        let at = self.align(STUB)?;
        let distance = slot as i32 - (at + BEHIND) as i32;
        let code = [&JUMP[..], &distance.to_le_bytes(), &[0xcc; 2]].concat();
        self.image.bytes.extend(code);
        self.stubs.push((symbol, at));
        Ok(at)
    }
}

impl Image {
    /// As bytes of a file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut number = |value: u64| file.extend(value.to_le_bytes());
        for value in [self.entry, self.frames, self.words.len() as u64] {
            number(value);
        }
        for word in &self.words {
            let (kind, which) = match word.of {
                Target::Image => (0, 0),
                Target::Receiver => (1, 0),
                Target::Address(which) => (2, which),
                Target::Named(which) => (3, which),
            };
            for value in [word.at, kind, which, word.addend as u64] {
                number(value);
            }
        }
        let names = self.names.join("\n");
        put(&mut file, names.as_bytes());
        put(&mut file, &self.bytes);
        file
    }

    /// That of a file, all of whose places are inside of it; `addresses` is how many the code has.
    pub(crate) fn decode(mut file: &[u8], addresses: usize) -> Option<Self> {
        let rest = &mut file;
        let (entry, frames, count) = (number(rest)?, number(rest)?, number(rest)?);
        let mut words = Vec::new();
        for _ in 0..count {
            let (at, kind, which, addend) =
                (number(rest)?, number(rest)?, number(rest)?, number(rest)?);
            let of = match kind {
                0 => Target::Image,
                1 => Target::Receiver,
                2 => Target::Address(which),
                3 => Target::Named(which),
                _ => return None,
            };
            let addend = addend as i64;
            words.push(Word { at, of, addend });
        }
        let names = std::str::from_utf8(taken(rest)?).ok()?;
        let names: Vec<_> = names.lines().map(str::to_owned).collect();
        let bytes = taken(rest)?.to_vec();
        let size = bytes.len() as u64;
        let is_inside = |word: &Word| {
            let is_known = match word.of {
                Target::Image | Target::Receiver => true,
                Target::Address(which) => which < addresses as u64,
                Target::Named(which) => which < names.len() as u64,
            };
            is_known && word.at.checked_add(WORD).is_some_and(|end| end <= size)
        };
        let fits = rest.is_empty()
            && entry < size
            && frames < size
            && bytes.len() <= MOST
            && words.iter().all(is_inside);
        fits.then_some(Self {
            bytes,
            entry,
            frames,
            words,
            names,
        })
    }
}

/// Adds bytes, and how many.
pub(crate) fn put(file: &mut Vec<u8>, bytes: &[u8]) {
    file.extend((bytes.len() as u64).to_le_bytes());
    file.extend(bytes);
}

/// Takes such from the front.
pub(crate) fn taken<'a>(file: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(file)?).ok()?;
    let (bytes, rest) = file.split_at_checked(length)?;
    *file = rest;
    Some(bytes)
}

/// Takes a number from the front.
pub(crate) fn number(file: &mut &[u8]) -> Option<u64> {
    let (bytes, rest) = file.split_first_chunk()?;
    *file = rest;
    Some(u64::from_le_bytes(*bytes))
}

/// `void entry(void *to)`: see [`okl_abi::jit::JitAnswer::object`].
pub(crate) type Entry = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    /// The C++ run time's: exceptions pass through the functions that a section `.eh_frame` tells of.
    fn __register_frame(frames: *const c_void);
    fn __deregister_frame(frames: *const c_void);
    /// Which function an instruction is in, as far as who unwinds exceptions knows.
    fn _Unwind_FindEnclosingFunction(at: *const c_void) -> *const c_void;
    fn _Unwind_Resume();
}

/// What unwinds the exceptions of those who are told of frames here.
pub(crate) fn unwinder() -> usize {
    (_Unwind_Resume as *const c_void).addr()
}

/// Why there is no version.
pub(crate) const NOT_UNWOUND: &str = "exceptions may pass through it, and libgcc_s.so does not unwind the program's (-static-libgcc, or another library)";

impl Image {
    /// Maps it, for as long as the process lives, and with `unwinds` only where exceptions can pass through it.
    ///
    /// # Safety
    /// It is one of code that has these addresses, and was made for this processor; the receiver is such a function.
    pub(crate) unsafe fn map(
        &self,
        addresses: &[usize],
        receiver: *mut c_void,
        unwinds: bool,
    ) -> Result<Entry, String> {
        let found = self.names.iter().map(|name| find(name));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        let size = self.bytes.len();
        // SAFETY: new memory, which is filled in before anything else sees it; words are inside of it.
        unsafe {
            let (rights, kind) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            );
            let base = libc::mmap(std::ptr::null_mut(), size, rights, kind, -1, 0);
            if base == libc::MAP_FAILED {
                return Err("there is no memory for it".to_owned());
            }
            let start = base.cast::<u8>();
            std::ptr::copy_nonoverlapping(self.bytes.as_ptr(), start, size);
            for word in &self.words {
                let of = match word.of {
                    Target::Image => base.expose_provenance(),
                    Target::Receiver => receiver.expose_provenance(),
                    Target::Address(which) => addresses[which as usize],
                    Target::Named(which) => found[which as usize],
                };
                let value = of.wrapping_add_signed(word.addend as isize);
                let place = start.add(word.at as usize).cast::<usize>();
                place.write_unaligned(value);
            }
            if libc::mprotect(base, size, libc::PROT_READ | libc::PROT_EXEC) != 0 {
                libc::munmap(base, size);
                return Err("the system does not let memory become code".to_owned());
            }
            let frames = start.add(self.frames as usize).cast();
            __register_frame(frames);
            let entry = start.add(self.entry as usize);
            // Two libraries may share this among them.
            if unwinds && _Unwind_FindEnclosingFunction(entry.add(1).cast()).is_null() {
                __deregister_frame(frames);
                libc::munmap(base, size);
                return Err(NOT_UNWOUND.to_owned());
            }
            Ok(std::mem::transmute::<*mut u8, Entry>(entry))
        }
    }
}

/// Where something of the program's or its libraries' is.
fn find(name: &str) -> Result<usize, String> {
    let text = CString::new(name).map_err(|why| why.to_string())?;
    let text: &CStr = &text;
    // SAFETY: asks the system.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, text.as_ptr()) };
    match address.is_null() {
        true => Err(format!("there is no {name}")),
        false => Ok(address.expose_provenance()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Code that jumps to its receiver.
    pub(crate) fn receives() -> Image {
        const SLOT: u64 = 8;
        let jump = [0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc];
        let of = Target::Receiver;
        let word = Word {
            at: SLOT,
            of,
            addend: 0,
        };
        Image {
            // Room for the word, and no frames.
            bytes: [&jump[..], &[0; 12]].concat(),
            entry: 0,
            frames: 16,
            words: vec![word],
            names: Vec::new(),
        }
    }

    fn word(of: Target, addend: i64) -> Word {
        Word { at: 8, of, addend }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn an_image_reaches_what_it_is_mapped_for() {
        unsafe extern "C" fn receive(to: *mut c_void) {
            // SAFETY: the test's number.
            unsafe { *to.cast::<u32>() = 7 };
        }
        let image = receives();
        let mut number = 0u32;
        let again = Image::decode(&image.encode(), 0).expect("it is right");
        assert_eq!(again, image);
        // SAFETY: code for this processor, with such a receiver.
        unsafe {
            let entry = again
                .map(&[], receive as *mut c_void, false)
                .expect("memory");
            entry((&raw mut number).cast());
        }
        assert_eq!(number, 7);
    }

    #[test]
    fn what_is_outside_is_not_decoded() {
        let right = receives();
        let decoded = |change: &dyn Fn(&mut Image)| {
            let mut image = right.clone();
            change(&mut image);
            Image::decode(&image.encode(), 2).is_some()
        };
        assert!(decoded(&|_| {}));
        assert!(decoded(&|one| one.words.push(word(Target::Address(1), -8))));
        assert!(!decoded(&|one| one.words.push(word(Target::Address(2), 0))));
        assert!(!decoded(&|one| one.words.push(word(Target::Named(0), 0))));
        assert!(!decoded(&|one| one.words[0].at = 13));
        assert!(!decoded(&|one| one.words[0].at = u64::MAX));
        assert!(!decoded(&|one| one.entry = 20));
        assert!(!decoded(&|one| one.frames = 20));
        assert!(decoded(&|one| {
            one.names.push("malloc".to_owned());
            one.words.push(word(Target::Named(0), 0));
        }));
    }

    #[test]
    fn what_the_program_does_not_have_is_named() {
        let mut image = receives();
        image.names.push("okl_there_is_none".to_owned());
        // SAFETY: it is not mapped.
        let why = unsafe { image.map(&[], std::ptr::null_mut(), false).err() };
        assert_eq!(why.as_deref(), Some("there is no okl_there_is_none"));
    }

    #[test]
    fn what_is_no_object_is_not_linked() {
        for wrong in [&b""[..], b"\x7fELF", &[0; 1000]] {
            assert!(Image::link(wrong, &[], None).is_err());
        }
    }

    /// Tables of code and of functions, calls of what is far away, and an exception.
    #[cfg(target_arch = "x86_64")]
    const SOURCE: &str = r#"
        extern "C" int shared, twice(int), abs(int);
        extern "C" void receive(void *, int);
        static int less(int n) { return n - shared; }
        static int (*const table[])(int) = {less, twice, abs};
        static int chosen(int n) {
          switch (n) {
          case 0: return twice(7);
          case 1: return abs(-9);
          case 2: return less(3) * 5;
          case 3: return twice(n) + less(n);
          case 4: throw n;
          }
          return 1000;
        }
        void entry(void *) __asm__("okl.jit.entry");
        void entry(void *to) {
          int sum = 0;
          for (int n = 0; n < shared; n++)
            try {
              sum = 3 * sum + chosen(n) + table[n % 3](n);
            } catch (...) {
              sum += 100000;
            }
          receive(to, sum);
        }"#;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn an_object_of_llvms_becomes_an_image() {
        static SHARED: i32 = 6;
        extern "C" fn twice(n: i32) -> i32 {
            2 * n
        }
        unsafe extern "C" fn receive(to: *mut i32, sum: i32) {
            // SAFETY: the test's number.
            unsafe { *to = sum };
        }
        let name = format!("okl-image-{}.o", std::process::id());
        let file = std::env::temp_dir().join(name);
        let mut compile = std::process::Command::new("clang++-22");
        compile
            .args(["-O2", "-fPIC", "-c", "-x", "c++", "-", "-o"])
            .arg(&file);
        let child = compile.stdin(std::process::Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            eprintln!("skip an_object_of_llvms_becomes_an_image: there is no clang++-22");
            return;
        };
        let mut source = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut source, SOURCE.as_bytes()).expect("it reads");
        drop(source);
        assert!(child.wait().is_ok_and(|end| end.success()));
        let object = std::fs::read(&file).expect("an object");
        let _ = std::fs::remove_file(&file);
        let names = ["shared", "receive", "twice"];
        let image = Image::link(&object, &names, Some(1)).expect("it can be linked");
        assert!(
            image.names.iter().any(|name| name == "abs"),
            "{:?}",
            image.names
        );
        let image = Image::decode(&image.encode(), 3).expect("it is right");
        let addresses = [&raw const SHARED as usize, 0, twice as *const () as usize];
        let sum = |of: &Image| {
            let mut sum = 0i32;
            // SAFETY: code for this processor, of these addresses; the C++ library stays open.
            unsafe {
                let library = libc::dlopen(
                    c"libstdc++.so.6".as_ptr(),
                    libc::RTLD_NOW | libc::RTLD_GLOBAL,
                );
                assert!(!library.is_null());
                let entry = of.map(&addresses, receive as *mut c_void, false);
                entry.expect("it is mapped")((&raw mut sum).cast());
            }
            sum
        };
        let mut expected = 0i32;
        for n in 0..SHARED {
            let less = |n: i32| n - SHARED;
            let of_table = [less(n), 2 * n, n.abs()][n as usize % 3];
            let chosen = [14, 9, 5 * less(3), 2 * n + less(n), 0, 1000][n as usize];
            match n {
                4 => expected += 100_000,
                _ => expected = 3 * expected + chosen + of_table,
            }
        }
        assert_eq!(sum(&image), expected);
        // Elsewhere it is the same.
        assert_eq!(sum(&image), expected);
        // Without addresses it is looked for by name.
        let without = Image::link(&object, &[], None).expect("all have names");
        // SAFETY: it is not mapped.
        let why = unsafe { without.map(&[], std::ptr::null_mut(), false).err() };
        assert!(why.is_some_and(|why| why.starts_with("there is no ")));
        // Any byte of the object may be wrong: that is told of, or gives another image.
        for at in (0..object.len()).step_by(3) {
            let mut wrong = object.clone();
            wrong[at] ^= 0xff;
            let _ = Image::link(&wrong, &names, Some(1));
        }
    }
}
