//! What code that may be compiled once more at run time shares with whoever has that done: the pass embeds a [`JitCode`],
//! the run time whose loop it is looks for a version of it ([`JitRequest`]), and `libokl_jit.so` makes that.

use crate::tables::abi_structs;

abi_structs! {
    /// Code that may be compiled once more, when more is known of it. A variable of the file that has the code.
    struct JitCode {
        /// What the user calls it, NUL-terminated.
        name: ptr,
        /// Hash of the bitcode.
        hash: i64,
        /// [`codes`]: LLVM's bitcode of the code and of what it reaches, with that of others.
        bitcode: ptr,
        /// Bytes of `bitcode`.
        length: i64,
        /// What the bitcode declares and does not define, in its order: addresses. Null is what nothing reaches.
        addresses: ptr,
        /// Length of `addresses`.
        address_count: i64,
        /// [`JitValue`] array: what is the same for all that a version runs.
        values: ptr,
        /// Length of `values`.
        value_count: i64,
        /// Bits of [`code_flags`].
        flags: i64,
        /// Bits of the vectors that it was compiled for ahead of time.
        vector_bits: i64,
        /// The run time's: null until it has met the code.
        versions: ptr,
        /// Which of the codes in `bitcode` it is, or [`JOINED`].
        number: i64,
        /// Where exceptions may pass through it, or end in it, its file's `_Unwind_Resume`: which library unwinds them.
        unwinder: ptr,
    }

    /// A value that code reads and does not change.
    struct JitValue {
        /// One of [`value`].
        kind: i64,
        /// Of a variable its position in `addresses`; else the number of the function's parameter.
        place: i64,
        /// Bytes from where that points to, to the value.
        offset: i64,
        /// Bytes of the value.
        size: i64,
        /// Of a variable its address.
        variable: ptr,
    }

    /// What is asked of `libokl_jit.so`.
    struct JitRequest {
        /// What is [picked](codes::pick) of the [`JitCode`], or [`joined`] loops.
        bitcode: ptr,
        /// Bytes of `bitcode`.
        length: i64,
        /// The fields of the [`JitCode`].
        addresses: ptr,
        /// See `addresses`.
        address_count: i64,
        /// [`JitValue`] array: those that have a known value.
        values: ptr,
        /// Length of `values`.
        value_count: i64,
        /// The bytes of these values, one behind the other.
        bytes: ptr,
        /// Those of the [`JitCode`], and others of a request's: see [`code_flags`].
        flags: i64,
        /// What is called in place of the function that runs the code: by [`JitAnswer::entry`], which hands over what has been
        /// made of it.
        receiver: ptr,
        /// Which of the receiver's arguments are to be null, as bits: functions that are not wanted are not made.
        unwanted: i64,
        /// Which of them it does not look at.
        unread: i64,
        /// See `addresses`.
        vector_bits: i64,
    }

    /// What `libokl_jit.so` answers. Texts and the object are there until it is asked again.
    struct JitAnswer {
        /// Machine code, an ELF object whose function [`ENTRY`] is `void entry(void *to)`: it calls the receiver
        /// with `to` in place of its first argument. Null where something failed, or `entry` is there.
        object: ptr,
        /// Bytes of `object`.
        object_length: i64,
        /// The names under which it has what is at the request's `addresses`: texts, NUL-terminated, one behind the other.
        names: ptr,
        /// Which of them is the receiver's, or -1.
        receiver: i64,
        /// The file that LLVM was loaded from, NUL-terminated.
        llvm: ptr,
        /// That function, where whoever asks cannot link: see [`LINKS`].
        entry: ptr,
        /// Nanoseconds that it took to simplify the code.
        simplify: i64,
        /// Nanoseconds that it took to make machine code of it.
        generate: i64,
        /// What failed, NUL-terminated: room for `room` bytes.
        message: ptr,
        /// See `message`.
        room: i64,
    }
}

/// `JitCode::number` of [`joined`] loops, which are in place of [`codes`].
pub const JOINED: i64 = -1;

/// Values of `JitValue::kind`.
pub mod value {
    /// A variable.
    pub const VARIABLE: i64 = 0;
    /// What a parameter of the function points to.
    pub const BEHIND: i64 = 1;
    /// A parameter of the function.
    pub const PARAMETER: i64 = 2;
    /// A number, somewhere in what a parameter of the function points to: all loads of it are known, and nothing else there.
    pub const MEMBER: i64 = 3;
    /// A pointer that leads to numbers: no value itself, it has no bytes. A parameter of the function is it. Such pointers come
    /// first among the values.
    pub const GIVEN: i64 = 4;
    /// As before; it is found behind another pointer, whose position among the values is `place`.
    pub const LOADED: i64 = 5;
    /// As [`MEMBER`], behind the pointer at position `place` of the values; of `offset` see [`Through`].
    pub const THROUGH: i64 = 6;
    /// As [`GIVEN`]: a variable is there.
    pub const NAMED: i64 = 7;

    /// What the offset of a number [`THROUGH`] a pointer says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Through {
        /// Bytes from where the pointer points to, to the number.
        pub offset: i64,
        /// Bytes from there to some that are sure to be there. If that is not where the number is, it is sure to be there where it
        /// is on the page of these.
        pub sure: i64,
    }

    impl Through {
        /// What both are less than.
        pub const END: i64 = 1 << 31;

        /// As one number.
        pub fn to_bits(self) -> i64 {
            self.sure << 32 | self.offset
        }

        /// Of such a number.
        pub fn from_bits(bits: i64) -> Self {
            Self {
                offset: bits & (Self::END - 1),
                sure: bits >> 32,
            }
        }

        /// Whether a number of `size` bytes is sure to be there, behind a pointer to this address.
        pub fn is_there(self, pointer: usize, size: i64) -> bool {
            const PAGE: usize = 4096;
            let page = |offset: i64| pointer.wrapping_add(offset as usize) / PAGE;
            let ends = [self.offset, self.offset + size - 1];
            self.offset == self.sure || ends.iter().all(|end| page(*end) == page(self.sure))
        }
    }

    /// Of a kernel for devices: how many work items its blocks have in a direction, a number of 32 bits; `place` is the
    /// direction.
    pub const ITEMS: i64 = 16;
}

/// Bits of `JitCode::flags`.
pub mod code_flags {
    /// Ahead of time products and sums became one operation wherever the program allowed it; without it they never did.
    pub const FUSED: i64 = 1;
    /// Results depend on how many elements run at once.
    pub const COUNTS_LANES: i64 = 2;
    /// The program leaves it to the compiler how results are rounded: those of two compilations may differ.
    pub const ROUNDS_FREELY: i64 = 4;
    /// Of a request: results need not be those of the code as it was compiled ahead of time.
    pub const LOOSE: i64 = 8;
    /// Of a loop over a set: it reads and writes nothing but its arguments, of each the element alone, and variables that are
    /// all among the values. So it may run later, for the values that these have now.
    pub const MAY_WAIT: i64 = 16;
    /// Values decide how often loops run.
    pub const COUNTS: i64 = 32;
    /// Of a request: where values decide how often loops run they are not put in.
    pub const ASKS_COUNTS: i64 = 64;
    /// Of a request: as before, but for what may be assumed of such values: that they are multiples of a number, and no less than
    /// one.
    pub const ASSUMES_COUNTS: i64 = 128;
    /// It is a kernel for devices, in the form that the answer's object has, too: that is the code for the device, and has no
    /// names.
    pub const DEVICE: i64 = 256;
    /// It is a kernel for devices, and computes with numbers of single precision.
    pub const SINGLE: i64 = 512;
}

/// What a file has of code: the bitcode of several, compressed as one, as they have much in common.
pub mod codes {
    use alloc::vec::Vec;

    /// What it begins with. It changes with what follows.
    const MARK: &[u8] = b"okl codes 1\n";
    /// Bytes of a hash.
    pub const HASH: usize = 16;

    /// All of them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Codes<'a> {
        /// The bytes of each, and their hash.
        pub parts: Vec<(usize, [u8; HASH])>,
        /// The bitcode of one behind the other, or what the pass has compressed that to.
        pub packed: &'a [u8],
    }

    impl<'a> Codes<'a> {
        /// As bytes.
        pub fn write(&self) -> Vec<u8> {
            let mut bytes = MARK.to_vec();
            bytes.extend((self.parts.len() as u32).to_le_bytes());
            for (length, hash) in &self.parts {
                bytes.extend((*length as u32).to_le_bytes());
                bytes.extend(hash);
            }
            bytes.extend(self.packed);
            bytes
        }

        /// Of such bytes; none where they are something else.
        pub fn read(bytes: &'a [u8]) -> Option<Self> {
            let (count, mut rest) = bytes.strip_prefix(MARK)?.split_first_chunk()?;
            let mut parts = Vec::new();
            for _ in 0..u32::from_le_bytes(*count) {
                let (length, others) = rest.split_first_chunk()?;
                let (hash, others) = others.split_first_chunk()?;
                parts.push((u32::from_le_bytes(*length) as usize, *hash));
                rest = others;
            }
            Some(Self {
                parts,
                packed: rest,
            })
        }

        /// Which bytes of all are those of a code.
        pub fn place(&self, number: usize) -> Option<core::ops::Range<usize>> {
            let (before, rest) = self.parts.split_at_checked(number)?;
            let start = before.iter().map(|one| one.0).sum();
            let length = rest.first()?.0;
            Some(start..length.checked_add(start)?)
        }

        /// The bytes of all.
        pub fn length(&self) -> usize {
            self.parts.iter().map(|one| one.0).sum()
        }
    }

    /// One of them: its number, and all.
    pub fn pick(number: usize, codes: &[u8]) -> Vec<u8> {
        [&(number as u64).to_le_bytes(), codes].concat()
    }

    /// What was [picked](pick).
    pub fn picked(bytes: &[u8]) -> Option<(usize, Codes<'_>)> {
        let (number, codes) = bytes.split_first_chunk()?;
        let number = usize::try_from(u64::from_le_bytes(*number)).ok()?;
        let codes = Codes::read(codes)?;
        (number < codes.parts.len()).then_some((number, codes))
    }

    /// Fewer bytes that tell code from other code, wherever it stands: of what was picked, and of [joined](super::joined) loops.
    pub fn identity(code: &[u8]) -> Vec<u8> {
        if let Some(mut joined) = super::joined::Joined::read(code) {
            let parts = joined.parts.iter().map(|one| identity(one.bitcode));
            let parts: Vec<_> = parts.collect();
            for (part, identity) in joined.parts.iter_mut().zip(&parts) {
                part.bitcode = identity;
            }
            return joined.write();
        }
        match picked(code) {
            Some((number, codes)) => codes.parts[number].1.to_vec(),
            None => code.to_vec(),
        }
    }

    #[cfg(test)]
    mod tests {
        use alloc::vec;

        use super::super::joined::{Joined, Part};
        use super::*;

        fn codes<'a>(packed: &'a [u8], hashes: &[u8]) -> Codes<'a> {
            let parts = hashes.iter().map(|one| (*one as usize, [*one; HASH]));
            Codes {
                parts: parts.collect(),
                packed,
            }
        }

        #[test]
        fn what_is_written_is_read_and_nothing_less() {
            let codes = codes(b"packed", &[3, 0, 4]);
            let bytes = codes.write();
            assert_eq!(Codes::read(&bytes), Some(codes.clone()));
            for length in 0..bytes.len() - codes.packed.len() {
                assert_eq!(Codes::read(&bytes[..length]), None);
            }
            assert_eq!(Codes::read(b"BC\xc0\xde"), None);
            assert_eq!((codes.place(0), codes.place(2)), (Some(0..3), Some(3..7)));
            assert_eq!((codes.place(3), codes.length()), (None, 7));
            assert_eq!(picked(&pick(2, &bytes)), Some((2, codes)));
            assert_eq!(picked(&pick(3, &bytes)), None);
        }

        #[test]
        fn code_is_the_same_whatever_stands_beside_it() {
            let one = pick(1, &codes(b"packed", &[3, 2]).write());
            let other = pick(0, &codes(b"otherwise", &[2, 5]).write());
            assert_eq!(identity(&one), identity(&other));
            assert_ne!(identity(&one), identity(&pick(0, &one[8..])));
            assert_eq!(identity(b"anything"), b"anything");
            let joined = |bitcode, arguments: usize| Joined {
                parts: vec![Part {
                    bitcode,
                    addresses: 0,
                    arguments: vec![0],
                }],
                data: vec![0; arguments],
                same: Vec::new(),
            };
            let all = [joined(&one, 1), joined(&other, 1), joined(&one, 2)];
            let [one, same, other] = all.map(|joined| identity(&joined.write()));
            assert_eq!(one, same);
            assert_ne!(one, other);
        }
    }
}

/// The code of several loops over a set, to be compiled as one: what is in place of bitcode then. The one loop runs, for each
/// element, one of them after the other.
pub mod joined {
    use alloc::vec::Vec;

    /// What it begins with, where bitcode begins otherwise. It changes with what follows.
    const MARK: &[u8] = b"okl joined 2\n";

    /// One of the loops.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Part<'a> {
        /// Its code, as it was [picked](super::codes::pick).
        pub bitcode: &'a [u8],
        /// How many addresses it has. Those of the parts stand one behind the other.
        pub addresses: usize,
        /// For each of its arguments the number that it has among those of the one loop.
        pub arguments: Vec<usize>,
    }

    /// All of them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Joined<'a> {
        /// The loops, in order.
        pub parts: Vec<Part<'a>>,
        /// For each argument of the one loop the number of the first one that has the same data.
        pub data: Vec<usize>,
        /// For each address the position of the first one that is the same.
        pub same: Vec<usize>,
    }

    impl<'a> Joined<'a> {
        /// As bytes.
        pub fn write(&self) -> Vec<u8> {
            let mut bytes = MARK.to_vec();
            let mut put = |number: usize| bytes.extend((number as u64).to_le_bytes());
            put(self.data.len());
            self.data.iter().for_each(|one| put(*one));
            put(self.parts.len());
            for part in &self.parts {
                put(part.bitcode.len());
                put(part.addresses);
                put(part.arguments.len());
                part.arguments.iter().for_each(|one| put(*one));
            }
            put(self.same.len());
            self.same.iter().for_each(|one| put(*one));
            for part in &self.parts {
                bytes.extend(part.bitcode);
            }
            bytes
        }

        /// Of such bytes; none where they are something else.
        pub fn read(bytes: &'a [u8]) -> Option<Self> {
            let mut rest = bytes.strip_prefix(MARK)?;
            let mut number = || {
                let (first, others) = rest.split_first_chunk::<8>()?;
                rest = others;
                usize::try_from(u64::from_le_bytes(*first)).ok()
            };
            let arguments = number()?;
            let data: Option<Vec<_>> = (0..arguments).map(|_| number()).collect();
            let count = number()?;
            let mut parts = Vec::new();
            for _ in 0..count {
                let (length, addresses, its) = (number()?, number()?, number()?);
                let its: Option<Vec<_>> = (0..its).map(|_| number()).collect();
                parts.push((length, addresses, its?));
            }
            let same = number()?;
            let same: Option<Vec<_>> = (0..same).map(|_| number()).collect();
            let parts = parts.into_iter().map(|(length, addresses, arguments)| {
                let (bitcode, others) = rest.split_at_checked(length)?;
                rest = others;
                Some(Part {
                    bitcode,
                    addresses,
                    arguments,
                })
            });
            let joined = Self {
                parts: parts.collect::<Option<_>>()?,
                data: data?,
                same: same?,
            };
            let addresses: usize = joined.parts.iter().map(|one| one.addresses).sum();
            let mut its = joined.parts.iter().flat_map(|one| &one.arguments);
            let mut data = joined.data.iter().enumerate();
            let is_right = rest.is_empty()
                && its.all(|one| *one < arguments)
                && data.all(|(at, first)| *first <= at)
                && joined.same.len() == addresses;
            is_right.then_some(joined)
        }
    }

    #[cfg(test)]
    mod tests {
        use alloc::vec;

        use super::*;

        #[test]
        fn what_is_written_is_read_and_nothing_less() {
            let part = |bitcode, addresses, arguments: &[usize]| Part {
                bitcode,
                addresses,
                arguments: arguments.to_vec(),
            };
            let joined = Joined {
                parts: vec![
                    part(b"one", 2, &[0, 1]),
                    part(b"", 0, &[]),
                    part(b"two", 1, &[1, 2]),
                ],
                data: vec![0, 1, 0],
                same: vec![0, 1, 0],
            };
            let bytes = joined.write();
            assert_eq!(Joined::read(&bytes), Some(joined));
            for length in 0..bytes.len() {
                assert_eq!(Joined::read(&bytes[..length]), None);
            }
            assert_eq!(Joined::read(&[&bytes[..], b"more"].concat()), None);
            assert_eq!(Joined::read(b"BC\xc0\xde"), None);
        }
    }
}

/// Which `libokl_jit.so` a run time is for: it is part of the name of its function.
pub const COMPILE: &str = "okl_jit_compile_v3";

/// Whether run times link objects. Those for other processors get them linked, by LLVM.
pub const LINKS: bool = cfg!(target_arch = "x86_64");

/// The name of the function by which the code of a version hands over what it has become.
pub const ENTRY: &str = "okl.jit.entry";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_there_on_the_page_of_what_is() {
        let through = |offset, sure| value::Through { offset, sure };
        for one in [through(0, 0), through(8, 4000), through(4000, 8)] {
            assert_eq!(value::Through::from_bits(one.to_bits()), one);
        }
        assert!(through(8, 0).is_there(0x1ff4, 4));
        assert!(!through(8, 0).is_there(0x1ff4, 8));
        assert!(!through(16, 0).is_there(0x1ff4, 4));
        assert!(!through(0, 16).is_there(0x1ff4, 4));
        assert!(through(8, 8).is_there(0x1ff4, 8));
    }

    #[test]
    fn the_structs_are_those_of_their_version() {
        assert_eq!(crate::hash("", LAYOUT_TEXT), 0x132651f355e11418);
        assert_eq!(COMPILE, "okl_jit_compile_v3");
    }
}
