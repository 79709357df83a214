//! What differs between kinds of devices: data, nothing else.

use std::fmt;

use okl_abi::gpu::{does, form};

use super::print;
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
    /// What makes code of what LLVM compiles.
    pub code: Code,
    /// The number of the convention that functions have which the host starts.
    pub convention: u32,
    /// That of other functions.
    pub function_convention: u32,
    /// The address space of what all blocks see.
    pub global_space: u32,
    /// The address space of what the work items of a block share.
    pub shared_space: u32,
    /// The address space of stack variables.
    pub stack_space: u32,
    /// The address space of constants of the file.
    pub table_space: u32,
    /// That of objects that are passed, where a kernel is passed their addresses; else it has copies on its stack.
    pub object_space: Option<u32>,
    /// Whether there are pointers which lead to any address space. Else all have to be found out, which lie in 0 at first.
    pub has_flat_pointers: bool,
    /// The number of a work item in its block.
    pub item: Asked,
    /// The number of a block.
    pub block: Asked,
    /// Where all work items of a block wait for each other.
    pub barrier: Barrier,
    /// How a work item gets a number from another one nearby.
    pub exchange: Option<Exchange>,
    /// The upper half of the product of two numbers of 32 bits, where there is an intrinsic for it.
    pub high_product: Option<&'static str>,
    /// What says how many work items a block has.
    pub bound: Bound,
    /// Whether each work item goes on some time, whatever others of its block do.
    pub goes_on: bool,
    /// A function by which a work item lets others go on for some nanoseconds.
    pub sleeps: Option<&'static str>,
    /// Whether kernels may print, and assert.
    pub prints: bool,
    /// What else is said of kernels.
    pub attributes: &'static [(&'static str, &'static str)],
    /// How objects are accessed at once.
    pub atomics: Atomics,
    /// Bits of the integers that it computes with; where there are none, any.
    pub integers: &'static [u32],
    /// Whether operations tell of an overflow.
    pub has_overflow: bool,
    /// Whether it fills memory. Else there are loops: what LLVM calls for that is not what all that read it know.
    pub has_fills: bool,
    /// Whether several cases of a `switch` may lead to the same block.
    pub has_same_cases: bool,
    /// Intrinsics that it has no code for, and others have.
    pub lacks: &'static [&'static str],
    /// What names of those intrinsics begin with that its library uses.
    pub has: &'static [&'static str],
    /// A number that is noted in the module.
    pub flag: Option<(&'static str, u32)>,
    /// A version that is noted in the module.
    pub version: Option<(&'static str, [u32; 2])>,
    /// Work items of a block, at most.
    pub most_items: i64,
    /// Bytes that a block shares, at most.
    pub most_shared: u64,
    /// The same of what its code says; what is more it is given when it is launched.
    pub most_static: u64,
    /// Bytes that are passed to a kernel, at most.
    pub most_passed: i64,
    /// The file of libclc that has its mathematical functions; none where the driver has them, by the same names.
    pub library: Option<&'static str>,
    /// Whether NVIDIA's assembler gets its code.
    pub is_for_ptxas: bool,
    /// Whether LLVM's back end for it must not meet two modules in one process: that for SPIR-V keeps the numbers that it gives
    /// blocks, by the addresses of functions, which another module's may get; then two things have one number.
    pub compiles_one: bool,
}

/// What makes code of what LLVM compiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Nothing: it is assembly.
    Assembly,
    /// Nothing: it is an object.
    Object,
    /// A linker: the object becomes a shared one.
    Linked,
}

/// How a device is asked for a number that there is of each direction.
pub enum Asked {
    /// By an intrinsic of each direction, which has 32 bits.
    Intrinsics([&'static str; 3]),
    /// By a function that is told the direction, and has 64 bits.
    Function(&'static str),
}

/// A function by which work items wait for each other.
pub struct Barrier {
    /// Its name.
    pub name: &'static str,
    /// A number that it is told.
    pub told: Option<i32>,
    /// The scope of fences around it, where it does not make visible what was written.
    pub fences: Option<&'static str>,
}

/// An intrinsic by which each of 32 work items in a row, whose first number is divided by 32, gets a number of 32 bits from the
/// one whose number differs in some bits. All of the 32 call it.
pub enum Exchange {
    /// `i32 (i32 members, i32 value, i32 bits, i32 last)`
    Butterfly(&'static str),
    /// `i32 (i32 value, i32 pattern)`
    Swizzle(&'static str),
}

/// An attribute that says how many work items a block has.
pub enum Bound {
    /// In each direction.
    Directions(&'static str),
    /// At least and at most, in all.
    Counts(&'static str),
    /// There is none.
    Nothing,
}

/// How objects are accessed at once.
pub struct Atomics {
    /// The scope of those that see it; none where it is all of the system.
    pub scope: Option<&'static str>,
    /// What is said of updates.
    pub notes: &'static [&'static str],
    /// Bytes of what is accessed, at least.
    pub least: u64,
    /// Whether LLVM has code for updates of floating-point numbers; else they become loops that compare and exchange here.
    pub has_floating: bool,
    /// The additions of [`does`] for which there are instructions: of others LLVM makes such loops.
    pub adds: i64,
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
        is_compiled_again: false,
    },
    code: Code::Assembly,
    convention: 71,
    function_convention: 0,
    global_space: 1,
    shared_space: 3,
    stack_space: 0,
    table_space: 0,
    object_space: None,
    has_flat_pointers: true,
    item: Asked::Intrinsics([
        "llvm.nvvm.read.ptx.sreg.tid.x",
        "llvm.nvvm.read.ptx.sreg.tid.y",
        "llvm.nvvm.read.ptx.sreg.tid.z",
    ]),
    block: Asked::Intrinsics([
        "llvm.nvvm.read.ptx.sreg.ctaid.x",
        "llvm.nvvm.read.ptx.sreg.ctaid.y",
        "llvm.nvvm.read.ptx.sreg.ctaid.z",
    ]),
    barrier: Barrier {
        name: "llvm.nvvm.barrier.cta.sync.aligned.all",
        told: Some(0),
        fences: None,
    },
    exchange: Some(Exchange::Butterfly("llvm.nvvm.shfl.sync.bfly.i32")),
    high_product: Some("llvm.nvvm.mulhi.ui"),
    bound: Bound::Directions("nvvm.maxntid"),
    goes_on: true,
    sleeps: Some("llvm.nvvm.nanosleep"),
    prints: true,
    attributes: &[],
    atomics: Atomics {
        scope: None,
        notes: &[],
        least: 1,
        has_floating: true,
        adds: does::ADDITIONS,
    },
    integers: &[],
    has_overflow: true,
    has_fills: true,
    has_same_cases: true,
    lacks: &[],
    has: &["llvm.nvvm."],
    flag: None,
    version: None,
    most_items: 1024,
    most_shared: 227 << 10,
    most_static: 48 << 10,
    most_passed: 4 << 10,
    library: Some("nvptx64--.bc"),
    is_for_ptxas: true,
    compiles_one: false,
};

/// Devices of AMD's: those of `hip` are the first ones, which are Instinct MI200, MI300, and Radeon RX 7900.
pub static HIP: [GpuTarget; 13] = [
    amd("gfx90a", does::ADDS_F64),
    amd("gfx942", does::ADDITIONS),
    amd("gfx1100", does::ADDS_F32),
    amd("gfx900", 0),
    amd("gfx906", 0),
    amd("gfx908", 0),
    amd("gfx950", does::ADDITIONS),
    amd("gfx1010", 0),
    amd("gfx1030", 0),
    amd("gfx1101", does::ADDS_F32),
    amd("gfx1102", does::ADDS_F32),
    amd("gfx1200", does::ADDS_F32),
    amd("gfx1201", does::ADDS_F32),
];

/// How many of [`HIP`] are meant where the user does not say which.
pub const HIP_USUAL: usize = 3;

const fn amd(processor: &'static str, adds: i64) -> GpuTarget {
    GpuTarget {
        name: "hip",
        words: "a HIP device",
        form: form::CODE_OBJECT,
        processor: Processor {
            triple: "amdgcn-amd-amdhsa",
            name: processor,
            features: "",
            is_compiled_again: false,
        },
        code: Code::Linked,
        convention: 91,
        function_convention: 0,
        global_space: 1,
        shared_space: 3,
        stack_space: 5,
        table_space: 4,
        object_space: Some(4),
        has_flat_pointers: true,
        item: Asked::Intrinsics([
            "llvm.amdgcn.workitem.id.x",
            "llvm.amdgcn.workitem.id.y",
            "llvm.amdgcn.workitem.id.z",
        ]),
        block: Asked::Intrinsics([
            "llvm.amdgcn.workgroup.id.x",
            "llvm.amdgcn.workgroup.id.y",
            "llvm.amdgcn.workgroup.id.z",
        ]),
        barrier: Barrier {
            name: "llvm.amdgcn.s.barrier",
            told: None,
            fences: Some("workgroup"),
        },
        exchange: Some(Exchange::Swizzle("llvm.amdgcn.ds.swizzle")),
        high_product: None,
        bound: Bound::Counts("amdgpu-flat-work-group-size"),
        goes_on: false,
        sleeps: None,
        prints: false,
        attributes: &[("uniform-work-group-size", "true")],
        atomics: Atomics {
            scope: Some("agent"),
            notes: &["amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory"],
            least: 1,
            has_floating: true,
            adds,
        },
        integers: &[],
        has_overflow: true,
        has_fills: true,
        has_same_cases: true,
        lacks: &[],
        has: &[
            "llvm.amdgcn.",
            "llvm.canonicalize",
            "llvm.frexp",
            "llvm.ldexp",
        ],
        flag: Some(("amdhsa_code_object_version", 500)),
        version: None,
        most_items: 1024,
        most_shared: 64 << 10,
        most_static: 64 << 10,
        most_passed: 4 << 10,
        library: Some("amdgcn-amd-amdhsa.bc"),
        is_for_ptxas: false,
        compiles_one: false,
    }
}

/// What OpenCL's drivers compile, of all makers.
pub static SPIRV: GpuTarget = GpuTarget {
    name: "spirv",
    words: "an OpenCL device",
    form: form::SPIRV,
    processor: Processor {
        triple: "spirv64v1.2-unknown-unknown",
        name: "",
        features: "",
        is_compiled_again: true,
    },
    code: Code::Object,
    convention: 76,
    function_convention: 75,
    global_space: 1,
    shared_space: 3,
    stack_space: 0,
    table_space: 2,
    object_space: None,
    has_flat_pointers: false,
    item: Asked::Function("_Z12get_local_idj"),
    block: Asked::Function("_Z12get_group_idj"),
    // CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE.
    barrier: Barrier {
        name: "_Z7barrierj",
        told: Some(3),
        fences: None,
    },
    exchange: None,
    high_product: None,
    bound: Bound::Nothing,
    goes_on: false,
    sleeps: None,
    prints: false,
    // Tables that LLVM makes of `switch` would be in no space that is known here.
    attributes: &[("no-jump-tables", "true")],
    atomics: Atomics {
        scope: Some("device"),
        notes: &[],
        least: 4,
        has_floating: false,
        adds: 0,
    },
    integers: &[1, 8, 16, 32, 64],
    // Of SPIR-V; but not all that read it know the instructions.
    has_overflow: false,
    has_fills: false,
    // Of SPIR-V; but what makes LLVM's code of it counts predecessors once (llvm-spirv 15).
    has_same_cases: false,
    lacks: &[
        "llvm.bitreverse",
        "llvm.maximumnum",
        "llvm.minimumnum",
        "llvm.smul.with.overflow",
    ],
    has: &[],
    flag: None,
    version: Some(("opencl.ocl.version", [2, 0])),
    most_items: 1024,
    most_shared: 64 << 10,
    most_static: 64 << 10,
    most_passed: 1 << 10,
    library: None,
    is_for_ptxas: false,
    compiles_one: true,
};

impl GpuTarget {
    /// What it is, in words, and which one where there are several.
    pub fn described(&self) -> String {
        match self.code {
            Code::Linked => format!("{}, {}", self.words, self.processor.name),
            Code::Assembly | Code::Object => self.words.to_string(),
        }
    }

    /// Whether its code is made in a process of its own, where this one is a program's.
    pub fn is_made_apart(&self) -> bool {
        self.compiles_one || self.code == Code::Linked
    }

    /// What it has by names of functions.
    pub fn functions(&self) -> Vec<&'static str> {
        let mut names = vec![self.barrier.name];
        for asked in [&self.item, &self.block] {
            match asked {
                Asked::Intrinsics(all) => names.extend(all),
                Asked::Function(name) => names.push(name),
            }
        }
        names.extend(self.sleeps);
        if self.prints {
            names.extend([print::PRINT, print::ASSERT]);
        }
        names
    }
}

impl PartialEq for GpuTarget {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.processor.name) == (other.name, other.processor.name)
    }
}

impl Eq for GpuTarget {}

impl fmt::Debug for GpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.processor.name)
    }
}
