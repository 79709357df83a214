//! Versions of kernels that are compiled while the program runs, for the values that they are launched with and for the size of
//! their blocks.
//!
//! Guarantee: a kernel is launched in a version whose values are those that it is passed, or as it was compiled ahead of time.

use okl_abi::jit::{JitCode, JitValue, code_flags, value};
use okl_versions::{Asked, Receiver, Turn};

use crate::described::Described;
use crate::device::Loader;
use crate::table::Handle;
use crate::values::Values;

/// A kernel of a version, on the device.
#[derive(Clone, Copy)]
pub struct Kernel {
    function: Handle,
    /// See [`Loader::is_exact`].
    is_exact: bool,
}

// SAFETY: a handle of a driver, which any thread may use.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// A version, and what it became, if it is to run now.
#[derive(Clone, Copy)]
pub struct Version {
    of: &'static okl_versions::Version<Kernel>,
    kernel: Option<Kernel>,
    turn: Turn,
}

impl Version {
    /// What is launched in place of the kernel.
    pub fn function(&self) -> Option<Handle> {
        self.kernel.map(|one| one.function)
    }

    /// Whether is to be measured how long the launch takes.
    pub fn is_tried(&self) -> bool {
        self.turn.is_compared()
    }

    /// The launch took so many milliseconds, of so many work items.
    pub fn took(&self, milliseconds: f64, items: f64) {
        let seconds = milliseconds * 1e-3 / items;
        self.of.took(self.turn, seconds);
    }
}

/// The version of a kernel for these values and for blocks of so many work items, where there is one; `code` is what is left of it
/// for the device that loads it. Nobody holds the device meanwhile: what makes a version may give back memory that the device has,
/// too.
///
/// # Safety
/// The kernel is one of the program's, with this code, and the values are those of its parameters.
pub unsafe fn find(
    kernel: &Described,
    (code, loader): (*mut JitCode, Loader),
    items: [i64; 3],
    values: &Values,
) -> Option<Version> {
    let sizes = items.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let place = |one: &JitValue| {
        let at = one.place as usize;
        match one.kind {
            value::ITEMS => (&raw const sizes[at]).cast(),
            _ => values.place(at),
        }
    };
    let (entry, parameters) = (kernel.entry, kernel.parameters);
    let shared = u32::try_from(kernel.shared).unwrap_or(u32::MAX);
    let is_exact = loader.is_exact;
    let all = sizes.into_iter().fold(1, u32::saturating_mul);
    let load = || -> okl_versions::Load<Kernel> {
        let entry = entry.to_owned();
        let parameters = parameters.to_vec();
        Box::new(move |image| {
            let function = loader.load_kernel(image, &entry, &parameters, (all, shared))?;
            Ok(Kernel { function, is_exact })
        })
    };
    let asked = Asked {
        code,
        place: &place,
        receiver: Receiver {
            function: std::ptr::null_mut(),
            unread: 0,
        },
        load: Some(&load),
        unwanted: 0,
        compiled: Kernel {
            function: std::ptr::null_mut(),
            is_exact,
        },
        accepts: |version, _, flags| match flags & (code_flags::SINGLE | code_flags::LOOSE) {
            code_flags::SINGLE if !version.is_exact => {
                Err("the device computes otherwise with the smallest numbers".to_owned())
            }
            _ => Ok(version),
        },
    };
    // SAFETY: the caller's promise; all versions of such code are of this type.
    let call = unsafe { okl_versions::find(&asked) }?;
    let (kernel, turn) = call.begin();
    let of = call.version();
    Some(Version { of, kernel, turn })
}
