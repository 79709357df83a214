//! What differs between kinds of devices: data, nothing else.

use std::fmt;

use okl_abi::gpu::form;

use crate::llvm::Processor;

/// A kind of device.
pub struct GpuTarget {
    /// What the user calls it.
    pub name: &'static str,
    /// What it is, in words.
    pub words: &'static str,
    /// What its code is written in, for the run time.
    pub form: i64,
    /// What LLVM compiles for: the lowest that has what is used.
    pub processor: Processor,
    /// The number of the convention that functions have which the host starts.
    pub convention: u32,
    /// The address space of what all blocks see.
    pub global_space: u32,
    /// The address space of what the work items of a block share.
    pub shared_space: u32,
    /// The number of a work item in its block, in each direction.
    pub item: [&'static str; 3],
    /// The number of a block, in each direction.
    pub block: [&'static str; 3],
    /// Where all work items of a block wait for each other.
    pub barrier: &'static str,
    /// The attribute that says how many work items a block has at most.
    pub bound: &'static str,
    /// Work items of a block, at most.
    pub most_items: i64,
    /// Bytes that a block shares, at most.
    pub most_shared: u64,
    /// Bytes that are passed to a kernel, at most.
    pub most_passed: i64,
    /// The file of libclc that has its mathematical functions.
    pub library: &'static str,
}

/// Devices of NVIDIA's, from Volta on.
pub static CUDA: GpuTarget = GpuTarget {
    name: "cuda",
    words: "a CUDA device",
    form: form::PTX,
    processor: Processor {
        triple: "nvptx64-nvidia-cuda",
        name: "sm_70",
        features: "+ptx70",
    },
    convention: 71,
    global_space: 1,
    shared_space: 3,
    item: [
        "llvm.nvvm.read.ptx.sreg.tid.x",
        "llvm.nvvm.read.ptx.sreg.tid.y",
        "llvm.nvvm.read.ptx.sreg.tid.z",
    ],
    block: [
        "llvm.nvvm.read.ptx.sreg.ctaid.x",
        "llvm.nvvm.read.ptx.sreg.ctaid.y",
        "llvm.nvvm.read.ptx.sreg.ctaid.z",
    ],
    barrier: "llvm.nvvm.barrier.cta.sync.aligned.all",
    bound: "nvvm.maxntid",
    most_items: 1024,
    most_shared: 48 << 10,
    most_passed: 4 << 10,
    library: "nvptx64--.bc",
};

impl PartialEq for GpuTarget {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for GpuTarget {}

impl fmt::Debug for GpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
