//! Values that are passed to a kernel.

use std::ffi::c_void;

use okl_abi::gpu::{DeviceParameter, parameter};

use crate::table::Address;

/// Values that are passed to a kernel.
pub struct Values {
    words: Vec<u64>,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Values {
    /// Copies them: the program may have them in memory that is protected.
    ///
    /// # Safety
    /// `arguments` points to an address of each, which has as many bytes as the parameter says.
    pub unsafe fn of(parameters: &[DeviceParameter], arguments: *const *const c_void) -> Self {
        let mut all = Self {
            words: Vec::new(),
            starts: Vec::new(),
        };
        for (at, parameter) in parameters.iter().enumerate() {
            let bytes = match parameter.kind & parameter::RESULTS {
                0 => usize::try_from(parameter.size).unwrap_or(0),
                _ => size_of::<usize>(),
            };
            // Numbers of 16 bytes are aligned as their type is.
            all.words.resize(all.words.len().next_multiple_of(2), 0);
            let start = all.words.len();
            all.starts.push(start);
            all.words.resize(start + bytes.div_ceil(8), 0);
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                continue;
            }
            // SAFETY: the caller's promise; there is room.
            unsafe {
                let from = (*arguments.add(at)).cast::<u8>();
                let to = all.words[start..].as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(from, to, bytes);
            }
        }
        all
    }

    /// That of an address.
    pub fn address(&self, at: usize) -> usize {
        self.words[self.starts[at]] as usize
    }

    /// Where one is.
    pub fn place(&self, at: usize) -> *const u8 {
        self.words[self.starts[at]..].as_ptr().cast()
    }

    /// That of a number of so many bytes, with its sign; `None`: it is so narrow that the compiler may take it for one without.
    pub fn number(&self, at: usize, bytes: i64) -> Option<i128> {
        let word = self.words[self.starts[at]];
        match bytes {
            4 => Some(i128::from(word as i32)),
            8 => Some(i128::from(word as i64)),
            _ => None,
        }
    }

    /// An address becomes that one.
    pub fn set(&mut self, at: usize, address: Address) {
        self.words[self.starts[at]] = address;
    }

    /// Where they are.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        // Of a vector the same words lie at the same place each time.
        let first = self.words.as_mut_ptr();
        self.starts
            .iter()
            .map(|&start| first.wrapping_add(start).cast())
            .collect()
    }
}
