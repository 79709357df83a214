//! CUDA's driver interface: the names and numbers of `cuda.h`.

use std::ffi::c_int;

use okl_abi::gpu::form;

use crate::table::{Attributes, Failure, Functions, Kind, Names, Processors, Status};

/// NVIDIA's devices.
pub static CUDA: Kind = Kind {
    words: "CUDA",
    remedy: "install NVIDIA's driver, or run without a device with OKL_BACKEND=cuda-emulated",
    backend: "cuda",
    form: form::PTX,
    library: c"libcuda.so.1",
    is_ours: false,
    names: &NAMES,
    functions: Functions::of,
    processors: PROCESSORS,
    advice: "OKL_BACKEND=cuda-emulated says where",
    failure,
    attributes: &ATTRIBUTES,
    options: &[5, 6],
    needed,
    version,
};

/// The same code, executed without a device.
pub static EMULATED: Kind = Kind {
    words: "emulated CUDA",
    remedy: "install okl again",
    backend: "cuda-emulated",
    form: form::PTX,
    library: c"libokl_ptx_machine.so",
    is_ours: true,
    names: &NAMES,
    functions: Functions::of,
    processors: PROCESSORS,
    advice: "",
    failure,
    attributes: &ATTRIBUTES,
    options: &[5, 6],
    needed,
    version,
};

static NAMES: Names = Names {
    start: c"cuInit",
    version: c"cuDriverGetVersion",
    count: c"cuDeviceGetCount",
    device: c"cuDeviceGet",
    name: c"cuDeviceGetName",
    attribute: c"cuDeviceGetAttribute",
    processor: c"",
    context: c"cuDevicePrimaryCtxRetain",
    enter: c"cuCtxSetCurrent",
    stream: c"cuStreamCreate",
    wait: c"cuStreamSynchronize",
    allocate: c"cuMemAlloc_v2",
    free: c"cuMemFree_v2",
    upload: c"cuMemcpyHtoD_v2",
    download: c"cuMemcpyDtoHAsync_v2",
    copy: c"cuMemcpyDtoDAsync_v2",
    load: c"cuModuleLoadDataEx",
    function: c"cuModuleGetFunction",
    parameters: c"",
    function_attribute: c"cuFuncGetAttribute",
    set_function_attribute: c"cuFuncSetAttribute",
    occupancy: c"cuOccupancyMaxActiveBlocksPerMultiprocessor",
    launch: c"cuLaunchKernel",
    event: c"cuEventCreate",
    record: c"cuEventRecord",
    elapsed: c"cuEventElapsedTime",
    error_name: c"cuGetErrorName",
    error_text: c"cuGetErrorString",
};

const PROCESSORS: Processors = Processors::Generations([75, 76]);

static ATTRIBUTES: Attributes = Attributes {
    items: 1,
    items_of: [2, 3, 4],
    blocks_of: [5, 6, 7],
    items_of_function: 0,
    registers_of_function: 4,
    items_at_once: 39,
    shared: 97,
    shared_of_function: 8,
    single: Attributes::NOTHING,
};

fn failure(status: Status) -> Failure {
    match status {
        2 => Failure::OutOfMemory,
        34 | 100 | 101 => Failure::NoDevice,
        200 | 209 | 218 | 222 => Failure::Refused,
        700 => Failure::Faulted("accessed memory that is not there"),
        701 => Failure::Resources,
        702 => Failure::Faulted("took longer than the driver allows"),
        710 => Failure::Faulted("found an assertion that does not hold"),
        714 => Failure::Faulted("has a stack overflow, or a broken stack"),
        715 => Failure::Faulted("came to an instruction that there is not"),
        716 => Failure::Faulted("accessed memory at an address that is not aligned"),
        717 => Failure::Faulted("accessed memory in the wrong address space"),
        718 => Failure::Faulted("left its code"),
        719 => Failure::Faulted("failed"),
        4 | 46 | 214 | 220 | 709 | 999 => Failure::Lost,
        _ => Failure::Other,
    }
}

/// The version of CUDA that knows the version of PTX which the text says it is.
fn needed(image: &[u8]) -> Option<c_int> {
    let text = String::from_utf8_lossy(&image[..image.len().min(4096)]);
    let said = text.split(".version").nth(1)?.split_whitespace().next()?;
    let (major, minor) = said.split_once('.')?;
    let (major, minor): (c_int, c_int) = (major.parse().ok()?, minor.parse().ok()?);
    // "PTX ISA", release notes: each version of PTX came with one of CUDA.
    Some(match (major, minor) {
        (..6, _) => 8000,
        (6, 0..=2) => 9000 + 10 * minor,
        (6, _) => 10_000 + 10 * (minor - 3),
        (7, _) => 11_000 + 10 * minor,
        (8, 0..=5) => 12_000 + 10 * minor,
        (8, _) => 12_000 + 10 * (minor + 1),
        _ => 1000 * (major + 4) + 10 * minor,
    })
}

fn version(number: c_int) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_ptx_needs_one_of_cuda() {
        for (ptx, cuda) in [
            ("6.0", "9.0"),
            ("6.3", "10.0"),
            ("6.5", "10.2"),
            ("7.0", "11.0"),
            ("7.8", "11.8"),
            ("8.5", "12.5"),
            ("8.6", "12.7"),
            ("8.8", "12.9"),
            ("9.0", "13.0"),
        ] {
            let text = format!("//\n// a text\n\n.version {ptx}\n.target sm_70\n");
            assert_eq!(needed(text.as_bytes()).map(version).as_deref(), Some(cuda));
        }
        assert_eq!(needed(b".target sm_70"), None);
    }
}
