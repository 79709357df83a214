//! HIP: the names and numbers of `hip_runtime_api.h`, and what it has in another way than CUDA.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use okl_abi::gpu::form;
use okl_job::opened::Opened;

use crate::table::{Attributes, Failure, Functions, Handle, Kind, Names, Processors, Status};

/// AMD's devices.
pub static HIP: Kind = Kind {
    words: "HIP",
    remedy: "install AMD's driver and ROCm's libamdhip64",
    backend: "hip",
    form: form::CODE_OBJECT,
    library: c"libamdhip64.so",
    is_ours: false,
    names: &NAMES,
    functions,
    processors: Processors::Names,
    advice: "compiled for cuda, too, it can be looked at with OKL_BACKEND=cuda-emulated",
    failure,
    attributes: &ATTRIBUTES,
    options: &[],
    needed: |_| None,
    version,
};

static NAMES: Names = Names {
    start: c"hipInit",
    version: c"hipDriverGetVersion",
    count: c"hipGetDeviceCount",
    device: c"hipDeviceGet",
    name: c"hipDeviceGetName",
    attribute: c"hipDeviceGetAttribute",
    processor: c"hipGetDeviceProperties",
    context: c"hipSetDevice",
    enter: c"hipSetDevice",
    stream: c"hipStreamCreateWithFlags",
    wait: c"hipStreamSynchronize",
    allocate: c"hipMalloc",
    free: c"hipFree",
    upload: c"hipMemcpyHtoD",
    download: c"hipMemcpyDtoHAsync",
    copy: c"hipMemcpyDtoDAsync",
    load: c"hipModuleLoadData",
    function: c"hipModuleGetFunction",
    parameters: c"",
    function_attribute: c"hipFuncGetAttribute",
    launch: c"hipModuleLaunchKernel",
    event: c"hipEventCreateWithFlags",
    record: c"hipEventRecord",
    set_function_attribute: c"",
    occupancy: c"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
    elapsed: c"hipEventElapsedTime",
    error_name: c"hipGetErrorName",
    error_text: c"hipGetErrorString",
};

static ATTRIBUTES: Attributes = Attributes {
    items: 56,
    items_of: [26, 27, 28],
    blocks_of: [29, 30, 31],
    items_of_function: 0,
    registers_of_function: 4,
    // Which number it has differs between versions.
    items_at_once: Attributes::NOTHING,
    shared: Attributes::NOTHING,
    shared_of_function: Attributes::NOTHING,
    single: Attributes::NOTHING,
};

type Text = unsafe extern "C" fn(Status) -> *const c_char;
type Properties = unsafe extern "C" fn(*mut c_void, c_int) -> Status;

/// Functions that are called in another way than the table's.
struct Own {
    set_device: unsafe extern "C" fn(c_int) -> Status,
    load: unsafe extern "C" fn(*mut Handle, *const c_void) -> Status,
    /// And where the name of the processor begins in what it writes.
    properties: Option<(Properties, usize)>,
    error_name: Option<Text>,
    error_text: Option<Text>,
}

static OWN: OnceLock<Own> = OnceLock::new();

/// Where `gcnArchName` is in `hipDeviceProp_t`, as it is since ROCm 6, and as it was before.
const PROPERTIES: [(&CStr, usize); 2] = [
    (c"hipGetDevicePropertiesR0600", 1160),
    (c"hipGetDeviceProperties", 396),
];
/// Bytes of that structure, and more.
const PROPERTIES_SIZE: usize = 8192;
const UNKNOWN: Status = 999;

/// # Safety
/// As of [`Functions::of`].
unsafe fn functions(library: Opened, names: &Names) -> Functions {
    // SAFETY: the caller's promise; signatures are those of `hip_runtime_api.h`.
    unsafe {
        let properties = PROPERTIES.iter().find_map(|(name, at)| {
            let function = library.symbol::<Properties>(name).ok()?;
            Some((function, *at))
        });
        let (set_device, load) = (library.symbol(names.enter), library.symbol(names.load));
        let mut functions = Functions::of(library, names);
        functions.processor = properties.is_some().then_some(processor);
        functions.context = set_device.is_ok().then_some(context);
        functions.enter = set_device.is_ok().then_some(enter);
        functions.load = load.is_ok().then_some(self::load);
        functions.error_name = Some(error_name);
        functions.error_text = Some(error_text);
        if let (Ok(set_device), Ok(load)) = (set_device, load) {
            OWN.get_or_init(|| Own {
                set_device,
                load,
                properties,
                error_name: library.symbol(names.error_name).ok(),
                error_text: library.symbol(names.error_text).ok(),
            });
        }
        functions
    }
}

/// A context is the number of a device.
unsafe extern "C" fn context(context: *mut Handle, device: c_int) -> Status {
    let handle = std::ptr::without_provenance_mut(device as usize);
    // SAFETY: the caller's variable; a function of the library.
    unsafe {
        *context = handle;
        enter(handle)
    }
}

unsafe extern "C" fn enter(context: Handle) -> Status {
    // SAFETY: a function of the library.
    OWN.get().map_or(UNKNOWN, |own| unsafe {
        (own.set_device)(context.addr() as c_int)
    })
}

unsafe extern "C" fn load(
    module: *mut Handle,
    image: *const c_void,
    _: c_uint,
    _: *mut c_int,
    _: *mut *mut c_void,
) -> Status {
    // SAFETY: a function of the library, with the caller's arguments.
    OWN.get()
        .map_or(UNKNOWN, |own| unsafe { (own.load)(module, image) })
}

unsafe extern "C" fn processor(to: *mut c_char, length: c_int, device: c_int) -> Status {
    let Some((properties, at)) = OWN.get().and_then(|own| own.properties) else {
        return UNKNOWN;
    };
    let mut all = [0_u64; PROPERTIES_SIZE / 8];
    // SAFETY: there is room for what it writes, and then for as much as the caller says.
    unsafe {
        let status = properties(all.as_mut_ptr().cast(), device);
        if status == 0 {
            let name = all.as_ptr().cast::<c_char>().add(at);
            std::ptr::copy_nonoverlapping(name, to, (length as usize).min(256));
            *to.add(length as usize - 1) = 0;
        }
        status
    }
}

unsafe extern "C" fn error_name(error: Status, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's variable.
    unsafe { told(|own| own.error_name, error, text) }
}

unsafe extern "C" fn error_text(error: Status, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's variable.
    unsafe { told(|own| own.error_text, error, text) }
}

/// # Safety
/// `text` can be written.
unsafe fn told(
    which: impl Fn(&Own) -> Option<Text>,
    error: Status,
    text: *mut *const c_char,
) -> Status {
    match OWN.get().and_then(which) {
        // SAFETY: a function of the library, and the caller's promise.
        Some(function) => unsafe {
            *text = function(error);
            0
        },
        None => UNKNOWN,
    }
}

fn failure(status: Status) -> Failure {
    match status {
        2 => Failure::OutOfMemory,
        35 | 100 | 101 => Failure::NoDevice,
        200 | 209 | 218 | 300 => Failure::Refused,
        700 => Failure::Faulted("accessed memory that is not there"),
        701 => Failure::Resources,
        702 => Failure::Faulted("took longer than the driver allows"),
        710 => Failure::Faulted("found an assertion that does not hold"),
        719 => Failure::Faulted("failed"),
        4 | 214 | 709 | 999 => Failure::Lost,
        _ => Failure::Other,
    }
}

/// As in `HIP_VERSION`: 60342134 is 6.3.42134.
fn version(number: c_int) -> String {
    format!("{}.{}", number / 10_000_000, number / 100_000 % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_rocm() {
        assert_eq!(version(60_342_134), "6.3");
        assert_eq!(version(50_221_153), "5.2");
    }
}
