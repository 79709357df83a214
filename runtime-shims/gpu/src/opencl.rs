//! OpenCL: its functions behind those of the table, and the numbers of `cl.h`.
//!
//! Memory is shared virtual memory of coarse grain, which the host never accesses: its addresses are those of the device, and
//! can be computed with. A stream is a queue that runs all in order. What a driver does not allow a kernel to reach it cannot
//! pass: each kernel is told of all memory that there is.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock};

use okl_abi::gpu::{DeviceParameter, form, parameter};
use okl_job::opened::Opened;

use crate::table::{
    Address, Attributes, Failure, Functions, Handle, Kind, Names, Processors, Status,
};

/// Devices of all makers who have an OpenCL that takes SPIR-V.
pub static OPENCL: Kind = Kind {
    words: "OpenCL",
    remedy: "install an OpenCL driver that takes SPIR-V, and a loader such as ocl-icd-libopencl1",
    backend: "spirv",
    form: form::SPIRV,
    library: c"libOpenCL.so.1",
    is_ours: false,
    names: &NAMES,
    functions,
    processors: Processors::All,
    advice: "compiled for cuda, too, it can be looked at with OKL_BACKEND=cuda-emulated",
    failure,
    attributes: &ATTRIBUTES,
    options: &[LOG, LOG_SIZE, IMAGE_SIZE],
    needed: |_| None,
    version: |number| number.to_string(),
};

static NAMES: Names = Names {
    start: c"clGetPlatformIDs",
    version: c"clGetPlatformInfo",
    count: c"clGetDeviceIDs",
    device: c"clGetDeviceIDs",
    name: c"clGetDeviceInfo",
    attribute: c"clGetDeviceInfo",
    processor: c"clGetDeviceInfo",
    context: c"clCreateContext",
    enter: c"clCreateContext",
    stream: c"clCreateCommandQueueWithProperties",
    wait: c"clFinish",
    allocate: c"clSVMAlloc",
    free: c"clSVMFree",
    upload: c"clEnqueueSVMMemcpy",
    download: c"clEnqueueSVMMemcpy",
    copy: c"clEnqueueSVMMemcpy",
    load: c"clBuildProgram",
    function: c"clCreateKernel",
    parameters: c"clCreateKernel",
    function_attribute: c"clGetKernelWorkGroupInfo",
    launch: c"clEnqueueNDRangeKernel",
    event: c"clEnqueueMarkerWithWaitList",
    record: c"clEnqueueMarkerWithWaitList",
    set_function_attribute: c"",
    occupancy: c"",
    elapsed: c"clGetEventProfilingInfo",
    error_name: c"",
    error_text: c"",
};

/// What [`attribute`] is asked for: work items, those of a direction from 1 on, blocks of a direction, and how it computes.
static ATTRIBUTES: Attributes = Attributes {
    items: 0,
    items_of: [1, 2, 3],
    blocks_of: [4, 5, 6],
    items_of_function: 0,
    registers_of_function: Attributes::NOTHING,
    items_at_once: Attributes::NOTHING,
    shared: Attributes::NOTHING,
    shared_of_function: Attributes::NOTHING,
    single: 7,
};

const LOG: c_int = 1;
const LOG_SIZE: c_int = 2;
const IMAGE_SIZE: c_int = 3;

/// None of OpenCL's errors: devices are there, and none can be used.
const TAKES_NO_SPIRV: Status = -100_001;

const DEVICE_NOT_FOUND: Status = -1;
const OUT_OF_MEMORY: Status = -4;
const INVALID_VALUE: Status = -30;
const INVALID_OPERATION: Status = -59;
const INVALID_PLATFORM: Status = -1001;

const TYPE: c_uint = 0x1000;
const MAX_WORK_GROUP_SIZE: c_uint = 0x1004;
const MAX_WORK_ITEM_SIZES: c_uint = 0x1005;
const SINGLE_FP_CONFIG: c_uint = 0x101B;
const DEVICE_NAME: c_uint = 0x102B;
const SVM_CAPABILITIES: c_uint = 0x1053;
const IL_VERSION: c_uint = 0x105B;
const ALL_TYPES: u64 = 0xFFFF_FFFF;
const TYPE_CPU: u64 = 2;
const COARSE_GRAIN: u64 = 1;
/// CL_FP_DENORM, CL_FP_INF_NAN and CL_FP_ROUND_TO_NEAREST.
const AS_IEEE: u64 = 0b111;
const READ_WRITE: u64 = 1;
const QUEUE_PROPERTIES: u64 = 0x1093;
const PROFILING: u64 = 2;
const BUILD_LOG: c_uint = 0x1183;
const WORK_GROUP_SIZE: c_uint = 0x11B0;
const SVM_POINTERS: c_uint = 0x11B6;
const COMMAND_END: c_uint = 0x1283;
const TRUE: c_uint = 1;

okl_job::functions! {
    /// Of OpenCL 2.1.
    OpenCl {
        clGetPlatformIDs(c_uint, *mut Handle, *mut c_uint) -> Status;
        clGetDeviceIDs(Handle, u64, c_uint, *mut Handle, *mut c_uint) -> Status;
        clGetDeviceInfo(Handle, c_uint, usize, *mut c_void, *mut usize) -> Status;
        clCreateContext(*const isize, c_uint, *const Handle, *const c_void, *mut c_void, *mut Status) -> Handle;
        clCreateCommandQueueWithProperties(Handle, Handle, *const u64, *mut Status) -> Handle;
        clFinish(Handle) -> Status;
        clFlush(Handle) -> Status;
        clSVMAlloc(Handle, u64, usize, c_uint) -> *mut c_void;
        clSVMFree(Handle, *mut c_void);
        clEnqueueSVMMemcpy(Handle, c_uint, *mut c_void, *const c_void, usize, c_uint, *const Handle, *mut Handle) -> Status;
        clCreateProgramWithIL(Handle, *const c_void, usize, *mut Status) -> Handle;
        clBuildProgram(Handle, c_uint, *const Handle, *const c_char, *const c_void, *mut c_void) -> Status;
        clGetProgramBuildInfo(Handle, Handle, c_uint, usize, *mut c_void, *mut usize) -> Status;
        clCreateKernel(Handle, *const c_char, *mut Status) -> Handle;
        clSetKernelArg(Handle, c_uint, usize, *const c_void) -> Status;
        clSetKernelArgSVMPointer(Handle, c_uint, *const c_void) -> Status;
        clSetKernelExecInfo(Handle, c_uint, usize, *const c_void) -> Status;
        clGetKernelWorkGroupInfo(Handle, Handle, c_uint, usize, *mut c_void, *mut usize) -> Status;
        clEnqueueNDRangeKernel(
            Handle, Handle, c_uint, *const usize, *const usize, *const usize, c_uint, *const Handle, *mut Handle
        ) -> Status;
        clEnqueueMarkerWithWaitList(Handle, c_uint, *const Handle, *mut Handle) -> Status;
        clGetEventProfilingInfo(Handle, c_uint, usize, *mut c_void, *mut usize) -> Status;
        clReleaseEvent(Handle) -> Status;
    }
}

/// What this process has of OpenCL.
struct Session {
    calls: &'static OpenCl,
    /// Those that can be used.
    devices: Vec<Handle>,
    device: Handle,
    context: Handle,
    queue: Handle,
    /// All memory: its addresses, and how often that changed.
    memory: BTreeMap<Address, usize>,
    changes: u64,
}

// SAFETY: handles of OpenCL's, which any thread may use; kernels are used under the lock.
unsafe impl Send for Session {}

/// What a function's handle leads to.
struct Kernel {
    kernel: Handle,
    /// Bytes of each parameter; 0 is an address.
    sizes: Vec<usize>,
    /// The changes of the memory that it was told of.
    knows: u64,
}

static CALLS: OnceLock<OpenCl> = OnceLock::new();
static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// Does something with the session; there is one once the driver has started.
fn with(body: impl FnOnce(&mut Session) -> Result<(), Status>) -> Status {
    match session().as_mut() {
        Some(session) => body(session).err().unwrap_or(0),
        None => INVALID_PLATFORM,
    }
}

fn done(status: Status) -> Result<(), Status> {
    match status {
        0 => Ok(()),
        _ => Err(status),
    }
}

/// # Safety
/// As of [`Functions::of`].
unsafe fn functions(library: Opened, _: &Names) -> Functions {
    // SAFETY: the caller's promise.
    let found = unsafe { OpenCl::of(library) };
    let Ok(found) = found else {
        // One older than 2.1 cannot do any of it.
        return Functions {
            error_text: Some(error_text),
            ..Functions::default()
        };
    };
    CALLS.get_or_init(|| found);
    Functions {
        start: Some(start),
        version: Some(version),
        count: Some(count),
        device: Some(device),
        name: Some(name),
        attribute: Some(attribute),
        processor: None,
        context: Some(context),
        enter: Some(enter),
        stream: Some(stream),
        wait: Some(wait),
        allocate: Some(allocate),
        free: Some(free),
        upload: Some(upload),
        download: Some(download),
        copy: Some(copy),
        load: Some(load),
        function: Some(function),
        parameters: Some(parameters),
        function_attribute: Some(function_attribute),
        launch: Some(launch),
        event: Some(event),
        record: Some(record),
        set_function_attribute: None,
        occupancy: None,
        elapsed: Some(elapsed),
        error_name: None,
        error_text: Some(error_text),
    }
}

/// A number of a device.
fn number_of(calls: &OpenCl, device: Handle, which: c_uint) -> Option<u64> {
    let mut value = 0_u64;
    // SAFETY: as many bytes as are said.
    let status = unsafe {
        (calls.clGetDeviceInfo)(device, which, 8, (&raw mut value).cast(), ptr::null_mut())
    };
    (status == 0).then_some(value)
}

fn text_of(calls: &OpenCl, device: Handle, which: c_uint) -> Option<String> {
    let mut text = vec![0_u8; 4096];
    // SAFETY: as many bytes as are said.
    let status = unsafe {
        (calls.clGetDeviceInfo)(
            device,
            which,
            text.len(),
            text.as_mut_ptr().cast(),
            ptr::null_mut(),
        )
    };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (status == 0).then(|| text.to_string_lossy().into_owned())
}

/// All devices of all platforms.
fn all_devices(calls: &OpenCl) -> Result<Vec<Handle>, Status> {
    let mut platforms = [ptr::null_mut(); 64];
    let mut count: c_uint = 0;
    // SAFETY: there is room for as many as are said.
    done(unsafe { (calls.clGetPlatformIDs)(64, platforms.as_mut_ptr(), &mut count) })?;
    let mut all = Vec::new();
    for platform in platforms.iter().take(count as usize) {
        let mut devices = [ptr::null_mut(); 64];
        let mut count: c_uint = 0;
        // SAFETY: as above.
        let status = unsafe {
            (calls.clGetDeviceIDs)(*platform, ALL_TYPES, 64, devices.as_mut_ptr(), &mut count)
        };
        if status == 0 {
            all.extend(&devices[..(count as usize).min(64)]);
        }
    }
    Ok(all)
}

unsafe extern "C" fn start(_: c_uint) -> Status {
    let Some(calls) = CALLS.get() else {
        return INVALID_PLATFORM;
    };
    let all = match all_devices(calls) {
        Ok(all) => all,
        Err(status) => return status,
    };
    let there_are_some = !all.is_empty();
    // A processor runs kernels as well without OpenCL: it is taken for a device where the user says so.
    let is_asked = okl_job::own_environment("OKL_BACKEND").is_some_and(|said| !said.is_empty());
    let can = |device: &Handle| {
        let has = |which, bit| number_of(calls, *device, which).unwrap_or(0) & bit != 0;
        let language = text_of(calls, *device, IL_VERSION).unwrap_or_default();
        has(SVM_CAPABILITIES, COARSE_GRAIN) && language.contains("SPIR-V")
    };
    let is_wanted = |device: &Handle| is_asked || number_of(calls, *device, TYPE) != Some(TYPE_CPU);
    let mut devices: Vec<_> = all.into_iter().filter(can).collect();
    if devices.is_empty() && there_are_some {
        return TAKES_NO_SPIRV;
    }
    devices.retain(is_wanted);
    devices.sort_by_key(|device| number_of(calls, *device, TYPE) == Some(TYPE_CPU));
    *session() = Some(Session {
        calls,
        devices,
        device: ptr::null_mut(),
        context: ptr::null_mut(),
        queue: ptr::null_mut(),
        memory: BTreeMap::new(),
        changes: 0,
    });
    0
}

unsafe extern "C" fn version(version: *mut c_int) -> Status {
    // SAFETY: the caller's variable.
    unsafe { *version = 21 };
    0
}

unsafe extern "C" fn count(count: *mut c_int) -> Status {
    with(|session| {
        // SAFETY: the caller's variable.
        unsafe { *count = session.devices.len() as c_int };
        Ok(())
    })
}

/// Devices are numbers.
unsafe extern "C" fn device(device: *mut c_int, number: c_int) -> Status {
    // SAFETY: the caller's variable.
    unsafe { *device = number };
    0
}

fn numbered(session: &Session, device: c_int) -> Result<Handle, Status> {
    let found = session.devices.get(device as usize).copied();
    found.ok_or(DEVICE_NOT_FOUND)
}

unsafe extern "C" fn name(to: *mut c_char, length: c_int, device: c_int) -> Status {
    with(|session| {
        let handle = numbered(session, device)?;
        let name = text_of(session.calls, handle, DEVICE_NAME).ok_or(INVALID_VALUE)?;
        let bytes = &name.as_bytes()[..name.len().min(length as usize - 1)];
        // SAFETY: the caller has room for so many.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, bytes.len());
            *to.add(bytes.len()) = 0;
        }
        Ok(())
    })
}

unsafe extern "C" fn attribute(value: *mut c_int, which: c_int, device: c_int) -> Status {
    with(|session| {
        let device = numbered(session, device)?;
        let found = match which {
            0 => number_of(session.calls, device, MAX_WORK_GROUP_SIZE).ok_or(INVALID_VALUE)?,
            1..=3 => {
                let mut sizes = [0_usize; 16];
                // SAFETY: as many bytes as are said.
                done(unsafe {
                    (session.calls.clGetDeviceInfo)(
                        device,
                        MAX_WORK_ITEM_SIZES,
                        size_of_val(&sizes),
                        sizes.as_mut_ptr().cast(),
                        ptr::null_mut(),
                    )
                })?;
                sizes[which as usize - 1] as u64
            }
            7 => {
                let single = number_of(session.calls, device, SINGLE_FP_CONFIG);
                u64::from(single.unwrap_or(0) & AS_IEEE == AS_IEEE)
            }
            _ => c_int::MAX as u64,
        };
        // SAFETY: the caller's variable.
        unsafe { *value = c_int::try_from(found).unwrap_or(c_int::MAX) };
        Ok(())
    })
}

unsafe extern "C" fn context(context: *mut Handle, device: c_int) -> Status {
    with(|session| {
        session.device = numbered(session, device)?;
        let mut status = 0;
        // SAFETY: one device; the rest may be null.
        session.context = unsafe {
            (session.calls.clCreateContext)(
                ptr::null(),
                1,
                &session.device,
                ptr::null(),
                ptr::null_mut(),
                &mut status,
            )
        };
        // SAFETY: the caller's variable.
        unsafe { *context = session.context };
        done(status)
    })
}

/// There is one for all threads.
unsafe extern "C" fn enter(_: Handle) -> Status {
    0
}

unsafe extern "C" fn stream(stream: *mut Handle, _: c_uint) -> Status {
    with(|session| {
        let properties = [QUEUE_PROPERTIES, PROFILING, 0];
        let mut status = 0;
        // SAFETY: a context and its device, and a list that ends with 0.
        session.queue = unsafe {
            (session.calls.clCreateCommandQueueWithProperties)(
                session.context,
                session.device,
                properties.as_ptr(),
                &mut status,
            )
        };
        // SAFETY: the caller's variable.
        unsafe { *stream = session.queue };
        done(status)
    })
}

unsafe extern "C" fn wait(stream: Handle) -> Status {
    // SAFETY: a queue.
    with(|session| done(unsafe { (session.calls.clFinish)(stream) }))
}

unsafe extern "C" fn allocate(address: *mut Address, bytes: usize) -> Status {
    with(|session| {
        // SAFETY: a context.
        let block = unsafe { (session.calls.clSVMAlloc)(session.context, READ_WRITE, bytes, 0) };
        if block.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        let start = block.expose_provenance() as Address;
        session.memory.insert(start, bytes);
        session.changes += 1;
        // SAFETY: the caller's variable.
        unsafe { *address = start };
        Ok(())
    })
}

unsafe extern "C" fn free(address: Address) -> Status {
    with(|session| {
        session.memory.remove(&address).ok_or(INVALID_VALUE)?;
        session.changes += 1;
        // SAFETY: memory of this context, which nothing uses any more then.
        unsafe {
            done((session.calls.clFinish)(session.queue))?;
            (session.calls.clSVMFree)(session.context, pointer(address));
        }
        Ok(())
    })
}

fn pointer(address: Address) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// # Safety
/// Both have so many bytes.
unsafe fn queue_copy(
    session: &Session,
    waits: bool,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> Result<(), Status> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    done(unsafe {
        (session.calls.clEnqueueSVMMemcpy)(
            session.queue,
            if waits { TRUE } else { 0 },
            to,
            from,
            bytes,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    })
}

unsafe extern "C" fn upload(to: Address, from: *const c_void, bytes: usize) -> Status {
    // SAFETY: the caller's promise.
    with(|session| unsafe { queue_copy(session, true, pointer(to), from, bytes) })
}

unsafe extern "C" fn download(to: *mut c_void, from: Address, bytes: usize, _: Handle) -> Status {
    // SAFETY: the caller's promise.
    with(|session| unsafe { queue_copy(session, false, to, pointer(from), bytes) })
}

unsafe extern "C" fn copy(to: Address, from: Address, bytes: usize, _: Handle) -> Status {
    // SAFETY: the caller's promise.
    with(|session| unsafe { queue_copy(session, false, pointer(to), pointer(from), bytes) })
}

/// Nobody waits for the driver's compiler who does something else meanwhile.
unsafe extern "C" fn load(
    module: *mut Handle,
    image: *const c_void,
    _: c_uint,
    _: *mut c_int,
    values: *mut *mut c_void,
) -> Status {
    // SAFETY: what `OPENCL.options` says stands there.
    let [log, log_size, image_size] = unsafe { *values.cast::<[*mut c_void; 3]>() };
    let parts = |one: &Session| (one.calls, one.context, one.device);
    let Some((calls, context, device)) = session().as_ref().map(parts) else {
        return INVALID_PLATFORM;
    };
    let mut status = 0;
    // SAFETY: so many bytes of an image.
    let program =
        unsafe { (calls.clCreateProgramWithIL)(context, image, image_size.addr(), &mut status) };
    match status {
        0 => {}
        INVALID_OPERATION => return TAKES_NO_SPIRV,
        other => return other,
    }
    // SAFETY: a program and its device; the text has as much room as is said, and the variable is the caller's.
    unsafe {
        let (none, nothing) = (ptr::null_mut(), c"".as_ptr());
        let built = (calls.clBuildProgram)(program, 1, &device, nothing, ptr::null(), none);
        if built != 0 {
            let room = log_size.addr() - 1;
            (calls.clGetProgramBuildInfo)(program, device, BUILD_LOG, room, log, ptr::null_mut());
            return built;
        }
        *module = program;
    }
    0
}

unsafe extern "C" fn function(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    with(|session| {
        let mut status = 0;
        // SAFETY: a program, and a text of the caller's.
        let kernel = unsafe { (session.calls.clCreateKernel)(module, name, &mut status) };
        done(status)?;
        let kernel = Kernel {
            kernel,
            sizes: Vec::new(),
            knows: 0,
        };
        // SAFETY: the caller's variable. Kernels stay.
        unsafe { *function = Box::into_raw(Box::new(kernel)).cast() };
        Ok(())
    })
}

unsafe extern "C" fn parameters(
    function: Handle,
    count: c_uint,
    parameters: *const DeviceParameter,
) -> Status {
    with(|_| {
        // SAFETY: of `function`, and as many as the caller says.
        let (kernel, parameters) = unsafe {
            let parameters = match count {
                0 => &[],
                _ => std::slice::from_raw_parts(parameters, count as usize),
            };
            (&mut *function.cast::<Kernel>(), parameters)
        };
        let sizes = parameters.iter().map(|one| {
            match one.kind & (parameter::ADDRESS | parameter::RESULTS) {
                0 => one.size as usize,
                _ => 0,
            }
        });
        kernel.sizes = sizes.collect();
        Ok(())
    })
}

unsafe extern "C" fn function_attribute(value: *mut c_int, _: c_int, function: Handle) -> Status {
    with(|session| {
        let mut most = 0_usize;
        // SAFETY: of `function`; as many bytes as are said, and the caller's variable.
        unsafe {
            done((session.calls.clGetKernelWorkGroupInfo)(
                (*function.cast::<Kernel>()).kernel,
                session.device,
                WORK_GROUP_SIZE,
                size_of::<usize>(),
                (&raw mut most).cast(),
                ptr::null_mut(),
            ))?;
            *value = c_int::try_from(most).unwrap_or(c_int::MAX);
        }
        Ok(())
    })
}

unsafe extern "C" fn launch(
    function: Handle,
    blocks_x: c_uint,
    blocks_y: c_uint,
    blocks_z: c_uint,
    items_x: c_uint,
    items_y: c_uint,
    items_z: c_uint,
    _: c_uint,
    stream: Handle,
    arguments: *mut *mut c_void,
    _: *mut *mut c_void,
) -> Status {
    with(|session| {
        // SAFETY: of `function`, which is used under the lock.
        let kernel = unsafe { &mut *function.cast::<Kernel>() };
        for (at, size) in kernel.sizes.iter().enumerate() {
            // SAFETY: as many arguments as parameters, of these sizes.
            done(unsafe {
                let argument = *arguments.add(at);
                match size {
                    0 => (session.calls.clSetKernelArgSVMPointer)(
                        kernel.kernel,
                        at as c_uint,
                        pointer(argument.cast::<Address>().read()),
                    ),
                    _ => {
                        (session.calls.clSetKernelArg)(kernel.kernel, at as c_uint, *size, argument)
                    }
                }
            })?;
        }
        // An address may be in front of the memory that it is meant for.
        if kernel.knows != session.changes && !session.memory.is_empty() {
            let all: Vec<_> = session.memory.keys().map(|start| pointer(*start)).collect();
            let bytes = size_of_val(&all[..]);
            // SAFETY: as many bytes.
            done(unsafe {
                (session.calls.clSetKernelExecInfo)(
                    kernel.kernel,
                    SVM_POINTERS,
                    bytes,
                    all.as_ptr().cast(),
                )
            })?;
            kernel.knows = session.changes;
        }
        let items = [items_x, items_y, items_z].map(|count| count as usize);
        let blocks = [blocks_x, blocks_y, blocks_z].map(|count| count as usize);
        let all: [usize; 3] = std::array::from_fn(|at| blocks[at] * items[at]);
        // SAFETY: a queue and a kernel, which has its arguments.
        unsafe {
            done((session.calls.clEnqueueNDRangeKernel)(
                stream,
                kernel.kernel,
                3,
                ptr::null(),
                all.as_ptr(),
                items.as_ptr(),
                0,
                ptr::null(),
                ptr::null_mut(),
            ))?;
            done((session.calls.clFlush)(stream))
        }
    })
}

/// An event is a place for one of OpenCL's.
unsafe extern "C" fn event(event: *mut Handle, _: c_uint) -> Status {
    let place: Box<Handle> = Box::new(ptr::null_mut());
    // SAFETY: the caller's variable. Events stay.
    unsafe { *event = Box::into_raw(place).cast() };
    0
}

unsafe extern "C" fn record(event: Handle, stream: Handle) -> Status {
    with(|session| {
        // SAFETY: of `event`, which one thread uses at a time.
        unsafe {
            let place = event.cast::<Handle>();
            if !(*place).is_null() {
                (session.calls.clReleaseEvent)(*place);
                *place = ptr::null_mut();
            }
            done((session.calls.clEnqueueMarkerWithWaitList)(
                stream,
                0,
                ptr::null(),
                place,
            ))
        }
    })
}

unsafe extern "C" fn elapsed(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    with(|session| {
        let time = |event: Handle| {
            let mut time = 0_u64;
            // SAFETY: of `event`, which has happened; as many bytes as are said.
            let status = unsafe {
                (session.calls.clGetEventProfilingInfo)(
                    *event.cast::<Handle>(),
                    COMMAND_END,
                    8,
                    (&raw mut time).cast(),
                    ptr::null_mut(),
                )
            };
            done(status).map(|()| time)
        };
        let nanoseconds = time(end)?.saturating_sub(time(start)?);
        // SAFETY: the caller's variable.
        unsafe { *milliseconds = nanoseconds as f32 * 1e-6 };
        Ok(())
    })
}

unsafe extern "C" fn error_text(error: Status, text: *mut *const c_char) -> Status {
    let name = match error {
        -1 => c"CL_DEVICE_NOT_FOUND",
        -2 => c"CL_DEVICE_NOT_AVAILABLE",
        -4 => c"CL_MEM_OBJECT_ALLOCATION_FAILURE",
        -5 => c"CL_OUT_OF_RESOURCES",
        -6 => c"CL_OUT_OF_HOST_MEMORY",
        -7 => c"CL_PROFILING_INFO_NOT_AVAILABLE",
        -11 => c"CL_BUILD_PROGRAM_FAILURE",
        -14 => c"CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        -15 => c"CL_COMPILE_PROGRAM_FAILURE",
        -17 => c"CL_LINK_PROGRAM_FAILURE",
        -30 => c"CL_INVALID_VALUE",
        -33 => c"CL_INVALID_DEVICE",
        -34 => c"CL_INVALID_CONTEXT",
        -36 => c"CL_INVALID_COMMAND_QUEUE",
        -42 => c"CL_INVALID_BINARY",
        -44 => c"CL_INVALID_PROGRAM",
        -45 => c"CL_INVALID_PROGRAM_EXECUTABLE",
        -46 => c"CL_INVALID_KERNEL_NAME",
        -48 => c"CL_INVALID_KERNEL",
        -49 => c"CL_INVALID_ARG_INDEX",
        -50 => c"CL_INVALID_ARG_VALUE",
        -51 => c"CL_INVALID_ARG_SIZE",
        -52 => c"CL_INVALID_KERNEL_ARGS",
        -54 => c"CL_INVALID_WORK_GROUP_SIZE",
        -55 => c"CL_INVALID_WORK_ITEM_SIZE",
        -59 => c"CL_INVALID_OPERATION",
        -61 => c"CL_INVALID_BUFFER_SIZE",
        -63 => c"CL_INVALID_GLOBAL_WORK_SIZE",
        -1001 => c"CL_PLATFORM_NOT_FOUND_KHR, no OpenCL driver is installed",
        TAKES_NO_SPIRV => {
            c"there are devices, but none that takes SPIR-V and has shared virtual memory"
        }
        _ => return INVALID_VALUE,
    };
    // SAFETY: the caller's variable.
    unsafe { *text = name.as_ptr() };
    0
}

fn failure(status: Status) -> Failure {
    match status {
        -1 | INVALID_PLATFORM | TAKES_NO_SPIRV => Failure::NoDevice,
        -4 | -6 | -61 => Failure::OutOfMemory,
        -5 | -54 | -55 => Failure::Resources,
        -11 | -15 | -17 | -42 | -44 | -45 => Failure::Refused,
        -14 => Failure::Faulted("failed"),
        -2 | -36 => Failure::Lost,
        _ => Failure::Other,
    }
}
