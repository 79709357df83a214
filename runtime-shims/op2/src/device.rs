//! The device that loops run on, where the program has code for one: its memory, and the functions of `libokl_gpu.so`, with
//! which programs are linked that have such code.
//!
//! Guarantee: nothing here is called in a program without code for devices. What cannot be done ends the program with a
//! message of that library's.

use std::{
    ffi::{c_int, c_void},
    sync::OnceLock,
};

use okl_abi::{
    gpu::runs,
    op2::{DeviceLoop, DeviceValue, halo},
};
use okl_job::opened::Opened;

use crate::{increments::Increments, report::fatal};

okl_job::functions! {
    /// Those of `okl_device.h`.
    Memories {
        okl_malloc(usize) -> *mut c_void;
        okl_free(*mut c_void);
        okl_copy(*mut c_void, *const c_void, usize);
    }
}

fn memories() -> &'static Memories {
    static MEMORIES: OnceLock<Memories> = OnceLock::new();
    MEMORIES.get_or_init(|| {
        // SAFETY: `okl_device.h` declares them so.
        let found = unsafe { Memories::of(Opened::PROGRAM) };
        found.unwrap_or_else(|why| fatal(&format!("libokl_gpu.so: {why}")))
    })
}

/// Memory of the device, which is given back at the end.
pub(crate) struct Memory {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: an address that means nothing on the host.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated, and is given back once.
        unsafe { (memories().okl_free)(self.start) }
    }
}

impl Memory {
    /// So many bytes, which are not set.
    pub(crate) fn new(bytes: usize) -> Self {
        let bytes = bytes.max(1);
        // SAFETY: any number is fine.
        let start = unsafe { (memories().okl_malloc)(bytes) };
        Self { start, bytes }
    }

    /// With a copy of these.
    pub(crate) fn with(bytes: &[u8]) -> Self {
        let memory = Self::new(bytes.len());
        memory.set(bytes);
        memory
    }

    /// Where it begins, as kernels are told.
    pub(crate) fn address(&self) -> u64 {
        self.start.addr() as u64
    }

    /// How much it is.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it begins with from now on.
    pub(crate) fn set(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.bytes);
        if !bytes.is_empty() {
            // SAFETY: both have as many.
            unsafe { (memories().okl_copy)(self.start, bytes.as_ptr().cast(), bytes.len()) }
        }
    }

    /// What it begins with, when all kernels have run that were launched.
    pub(crate) fn get(&self, bytes: &mut [u8]) {
        assert!(bytes.len() <= self.bytes);
        if !bytes.is_empty() {
            // SAFETY: both have as many.
            unsafe { (memories().okl_copy)(bytes.as_mut_ptr().cast(), self.start, bytes.len()) }
        }
    }
}

/// What runs a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    Processor,
    /// The device.
    Device {
        /// Whether it has no instructions for what is added there at once, so that it compares and exchanges.
        exchanges: bool,
    },
}

/// A loop as a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'a>(&'a DeviceLoop);

type Asks = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type Launch =
    unsafe extern "C" fn(*mut c_void, *const i64, *const i64, *const *const c_void, c_int) -> c_int;

impl<'a> Kernel<'a> {
    /// # Safety
    /// `device` is null or describes a loop of the program's.
    pub(crate) unsafe fn of(device: *const c_void) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { device.cast::<DeviceLoop>().as_ref() }.map(Self)
    }

    /// What is passed, and what has to hold.
    pub(crate) fn values(&self) -> &'a [DeviceValue] {
        // SAFETY: there are as many.
        unsafe { std::slice::from_raw_parts(self.0.values.cast(), self.0.value_count as usize) }
    }

    /// Which loop it is of, as a number.
    pub(crate) fn number(&self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }

    /// Work items of a block.
    pub(crate) fn block(&self) -> usize {
        self.0.block as usize
    }

    /// Whether the processor may run the loop.
    pub(crate) fn has_processor(&self) -> bool {
        self.0.has_processor != 0
    }

    /// What runs it: where there is no device, the processor, if it may.
    pub(crate) fn runs(&self) -> Runs {
        // SAFETY: that is the function's type, and the kernel is one of the program's.
        let by = unsafe {
            let asks = std::mem::transmute::<*mut c_void, Asks>(self.0.runs);
            asks(self.0.kernel, c_int::from(self.has_processor()))
        };
        match by {
            runs::PROCESSOR => Runs::Processor,
            by => Runs::Device {
                exchanges: by == runs::DEVICE_EXCHANGES,
            },
        }
    }

    /// Whether elements that run at the same time may add to the same.
    pub(crate) fn adds_at_once(&self) -> bool {
        !self.0.apart.is_null()
    }

    /// Whether there is a kernel for it whose blocks add what their elements leave.
    pub(crate) fn can_be_staged(&self) -> bool {
        !self.0.staged.is_null()
    }

    /// Has so many blocks of it run.
    ///
    /// # Safety
    /// `arguments` are addresses of values of its parameters; addresses among these are of the device's memory, or null. What
    /// `which` asks of elements and blocks that add to the same is so.
    pub(crate) unsafe fn launch(
        &self,
        which: Increments,
        blocks: usize,
        arguments: &[*const c_void],
    ) {
        let kernel = match which {
            Increments::Atomics => self.0.kernel,
            Increments::Colours if !self.adds_at_once() => self.0.kernel,
            Increments::Colours => self.0.apart,
            Increments::Blocks => self.0.staged,
        };
        // SAFETY: the caller's promise.
        unsafe { self.launch_one(kernel, blocks, self.block(), arguments) }
    }

    /// Has so many blocks run of the kernel that moves elements.
    ///
    /// # Safety
    /// The same for its parameters, which [`okl_abi::op2::halo`] lists.
    pub(crate) unsafe fn launch_halo(&self, blocks: usize, arguments: &[*const c_void]) {
        // SAFETY: the caller's promise.
        unsafe { self.launch_one(self.0.halo, blocks, halo::BLOCK as usize, arguments) }
    }

    /// # Safety
    /// The same for the parameters of `kernel`.
    unsafe fn launch_one(
        &self,
        kernel: *mut c_void,
        blocks: usize,
        items: usize,
        arguments: &[*const c_void],
    ) {
        let (blocks, items) = ([blocks as i64, 1, 1], [items as i64, 1, 1]);
        // SAFETY: the caller's promise; that is the function's type.
        unsafe {
            let launch = std::mem::transmute::<*mut c_void, Launch>(self.0.launch);
            launch(
                kernel,
                blocks.as_ptr(),
                items.as_ptr(),
                arguments.as_ptr(),
                c_int::from(self.has_processor()),
            );
        }
    }
}
