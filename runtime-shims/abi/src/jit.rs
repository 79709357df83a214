//! What code that may be compiled once more at run time shares with whoever has that done: the pass embeds a [`JitCode`],
//! the run time whose loop it is looks for a version of it ([`JitRequest`]), and `libokl_jit.so` makes that.

use crate::tables::abi_structs;

abi_structs! {
    /// Code that may be compiled once more, when more is known of it. A variable of the file that has the code.
    struct JitCode {
        /// What the user calls it, NUL-terminated.
        name: ptr,
        /// Hash of the bitcode and of what is said here of its values.
        hash: i64,
        /// LLVM's bitcode of the code and of what it reaches, or what the pass has compressed that to.
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
        /// The fields of the [`JitCode`].
        bitcode: ptr,
        /// See `bitcode`.
        length: i64,
        /// See `bitcode`.
        addresses: ptr,
        /// See `bitcode`.
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
        /// See `bitcode`.
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

/// The code of several loops over a set, to be compiled as one: what is in place of bitcode then. The one loop runs, for each
/// element, one of them after the other.
pub mod joined {
    use alloc::vec::Vec;

    /// What it begins with, where bitcode begins otherwise. It changes with what follows.
    const MARK: &[u8] = b"okl joined 1\n";

    /// One of the loops.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Part<'a> {
        /// Its code.
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
        /// How many arguments the one loop has.
        pub arguments: usize,
        /// For each address the position of the first one that is the same.
        pub same: Vec<usize>,
    }

    impl<'a> Joined<'a> {
        /// As bytes.
        pub fn write(&self) -> Vec<u8> {
            let mut bytes = MARK.to_vec();
            let mut put = |number: usize| bytes.extend((number as u64).to_le_bytes());
            put(self.arguments);
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
            let (arguments, count) = (number()?, number()?);
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
                arguments,
                same: same?,
            };
            let addresses: usize = joined.parts.iter().map(|one| one.addresses).sum();
            let mut its = joined.parts.iter().flat_map(|one| &one.arguments);
            let is_right = rest.is_empty()
                && its.all(|one| *one < arguments)
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
                arguments: 3,
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
pub const COMPILE: &str = "okl_jit_compile_v2";

/// Whether run times link objects. Those for other processors get them linked, by LLVM.
pub const LINKS: bool = cfg!(target_arch = "x86_64");

/// The name of the function by which the code of a version hands over what it has become.
pub const ENTRY: &str = "okl.jit.entry";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structs_are_those_of_their_version() {
        assert_eq!(crate::hash("", LAYOUT_TEXT), 0x215eeb11293672c9);
        assert_eq!(COMPILE, "okl_jit_compile_v2");
    }
}
