//! The driver's functions: their order, their errors, and that work is done as late as it may be.

mod common;

use std::ffi::{CStr, c_char, c_int, c_void};

use common::{Device, compile};
use okl_ptx_machine::driver::*;

const ADD: &str = "kernel void add(global int *x, int by) { x[gid] += by; }";

#[test]
fn who_is_too_early_is_told_so() {
    let device = Device::new("driver=11080,capability=80");
    // SAFETY: places for results.
    unsafe {
        let (mut version, mut count, mut major) = (0, 0, 0);
        assert_eq!(cuDriverGetVersion(&mut version), 0);
        assert_eq!(cuDeviceGetCount(&mut count), 0);
        assert_eq!(cuDeviceGetAttribute(&mut major, 75, 0), 0);
        assert_eq!((version, count, major), (11_080, 1, 8));
        assert_eq!(cuDeviceGet(&mut count, 1), 101);
        let mut name = [0; 8];
        assert_eq!(cuDeviceGetName(name.as_mut_ptr(), 8, 0), 0);
        assert_eq!(CStr::from_ptr(name.as_ptr()).to_bytes(), b"okl PTX");
        assert_eq!(cuCtxSetCurrent(std::ptr::null_mut()), 0);
        let mut address = 0;
        assert_eq!(cuMemAlloc_v2(&mut address, 8), 201);
        let mut context = std::ptr::null_mut();
        assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), 0);
        assert_eq!(cuCtxSetCurrent(context), 0);
        assert_eq!(cuDevicePrimaryCtxRelease_v2(0), 0);
        let mut text = std::ptr::null();
        assert_eq!(cuGetErrorName(700, &mut text), 0);
        assert_eq!(
            CStr::from_ptr(text).to_bytes(),
            b"CUDA_ERROR_ILLEGAL_ADDRESS"
        );
        assert_eq!(cuGetErrorString(5, &mut text), 1);
    }
    drop(device);
}

/// What `cuModuleLoadDataEx` says of a text.
fn refused(text: &str) -> (c_int, String) {
    let text = std::ffi::CString::new(text).expect("a text");
    let mut log = [0 as c_char; 256];
    let mut module = std::ptr::null_mut();
    let mut options = [5, 6];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(log.len()),
    ];
    // SAFETY: two options and their values.
    let error = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    // SAFETY: a zero is behind the text.
    let log = unsafe { CStr::from_ptr(log.as_ptr()) };
    (error, log.to_string_lossy().into_owned())
}

#[test]
fn what_is_not_known_is_not_loaded() {
    let device = Device::new("driver=11080,capability=80");
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let kernel =
        |line: &str| format!("{head}.visible .entry k() {{\n.reg .b32 %r<4>;\n{line}\nret;\n}}\n");
    let cases = [
        (
            kernel("dp4a.u32.u32 %r1, %r2, %r3, %r0;"),
            218,
            "PTX line 6: the instruction `dp4a.u32.u32` is not known",
        ),
        (
            kernel("add.wrap.s32 %r1, %r2, %r3;"),
            218,
            "PTX line 6: `.wrap` of the instruction `add.wrap.s32` is not known",
        ),
        (
            kernel("mov.b32 %r1, %r7;"),
            218,
            "PTX line 6: %r7 is not defined",
        ),
        (kernel("bra $L;"), 218, "PTX line 6: there is no label $L"),
        (
            kernel("add.s32 %r1, %r2 %r3;"),
            218,
            "PTX line 6: `%r3` is not expected here",
        ),
        (
            kernel("call.uni f, ();"),
            218,
            "PTX line 6: the function f is not defined",
        ),
        (
            kernel("").replace("sm_70", "sm_90"),
            209,
            "the module is for sm_90, the device is sm_80",
        ),
        (
            kernel("").replace("7.0", "8.0"),
            222,
            "PTX 8.0 is too new for a driver of CUDA 11.8",
        ),
        ("no text".to_owned(), 200, "the image is no PTX"),
        (kernel(""), 0, ""),
    ];
    for (text, error, log) in cases {
        assert_eq!(refused(&text), (error, log.to_owned()), "{text}");
    }
    drop(device);
}

#[test]
fn launches_that_cannot_be() {
    let device = Device::new("");
    let module = device.load(&compile(ADD));
    let add = device.kernel(module, "add");
    let x = device.with(&[0i32; 64]);
    for (blocks, threads) in [
        ([1, 1, 1], [1025, 1, 1]),
        ([0, 1, 1], [1, 1, 1]),
        ([1, 70_000, 1], [1, 1, 1]),
    ] {
        assert_eq!(device.launch_with(add, blocks, threads, 0, &[&x, &1]), 1);
    }
    let own = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bounded(.param .u64 x)\n.maxntid 32, 1, 1\n{ ret; }\n";
    let own = device.load(own);
    let bounded = device.kernel(own, "bounded");
    assert_eq!(device.launch(bounded, 1, 64, &[&x]), 701);
    assert_eq!(device.launch(bounded, 1, 32, &[&x]), 0);
    // SAFETY: a name that is not there, places for results.
    unsafe {
        let mut found = std::ptr::null_mut();
        assert_eq!(
            cuModuleGetFunction(&mut found, module, c"sub".as_ptr()),
            500
        );
        let (mut most, mut blocks) = (0, 0);
        assert_eq!(cuFuncGetAttribute(&mut most, 0, bounded), 0);
        assert_eq!(
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, add, 256, 0),
            0
        );
        assert_eq!((most, blocks), (32, 8));
        let (mut grid, mut block) = (0, 0);
        assert_eq!(
            cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, bounded, None, 0, 0),
            0
        );
        assert_eq!(block, 32);
        assert_eq!(cuMemFree_v2(x.address + 4), 1);
        assert_eq!(cuModuleUnload(module), 0);
        assert_eq!(cuModuleUnload(module), 400);
    }
}

#[test]
fn what_failed_once_fails_always() {
    let device = Device::new("lost=1");
    let module = device.load(&compile(ADD));
    let add = device.kernel(module, "add");
    let x = device.with(&[0i32; 32]);
    assert_eq!(device.launch(add, 1, 32, &[&x, &1]), 0);
    assert_eq!(device.read::<i32>(x), Ok(vec![1; 32]));
    assert_eq!(device.launch(add, 1, 32, &[&x, &1]), 999);
    assert_eq!(device.read::<i32>(x), Err(999));
}

#[test]
fn memory_is_as_much_as_there_is() {
    let device = Device::new("memory=4096");
    let first = device.memory(4000);
    let mut address = 0;
    // SAFETY: a place for the address.
    unsafe {
        assert_eq!(cuMemAlloc_v2(&mut address, 200), 2);
        assert_eq!(cuMemFree_v2(first.address), 0);
        assert_eq!(cuMemAlloc_v2(&mut address, 200), 0);
        assert_eq!(cuMemsetD32_v2(address, 7, 50), 0);
        assert_eq!(cuMemsetD32_v2(address, 7, 51), 1);
        let mut values = [0i32; 50];
        assert_eq!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, 200), 0);
        assert_eq!(values, [7; 50]);
    }
}

#[test]
fn work_is_done_as_late_as_it_may_be() {
    let device = Device::new("");
    let module = device.load(&compile(ADD));
    let add = device.kernel(module, "add");
    let x = device.with(&[0i32; 32]);
    let none = std::ptr::null_mut::<c_void>();
    // SAFETY: places for results, memory of 128 bytes, a pointer for each parameter.
    unsafe {
        let (mut one, mut other, mut event) = (none, none, none);
        assert_eq!(cuStreamCreate(&mut one, 1), 0);
        assert_eq!(cuStreamCreate(&mut other, 1), 0);
        assert_eq!(cuEventCreate(&mut event, 0), 0);
        let mut pinned = none;
        assert_eq!(cuMemHostAlloc(&mut pinned, 128, 0), 0);
        let values = pinned.cast::<i32>();
        (0..32).for_each(|at| values.add(at).write(-1));
        let (mut address, mut by) = (x.address, 5i32);
        let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut by).cast()];
        let launch = |stream, params: &mut [*mut c_void; 2]| {
            cuLaunchKernel(
                add,
                1,
                1,
                1,
                32,
                1,
                1,
                0,
                stream,
                params.as_mut_ptr(),
                none.cast(),
            )
        };
        assert_eq!(launch(one, &mut params), 0);
        assert_eq!(cuEventRecord(event, one), 0);
        assert_eq!(cuStreamWaitEvent(other, event, 0), 0);
        assert_eq!(cuMemcpyDtoHAsync_v2(pinned, x.address, 128, other), 0);
        // Nobody has waited yet.
        assert_eq!(values.read(), -1);
        assert_eq!(cuStreamSynchronize(other), 0);
        assert_eq!((values.read(), values.add(31).read()), (5, 5));
        // What is copied from pinned memory is what is in it then.
        assert_eq!(cuMemcpyHtoDAsync_v2(x.address, pinned, 128, one), 0);
        values.write(8);
        assert_eq!(launch(one, &mut params), 0);
        assert_eq!(cuStreamSynchronize(one), 0);
        let mut time = 0.0;
        assert_eq!(cuEventElapsedTime(&mut time, event, event), 0);
        assert_eq!(cuMemFreeHost(pinned), 0);
        assert_eq!(cuEventDestroy_v2(event), 0);
        assert_eq!(cuStreamDestroy_v2(one), 0);
        assert_eq!(cuStreamDestroy_v2(one), 400);
    }
    let mut expected = vec![10; 32];
    expected[0] = 13;
    assert_eq!(device.read::<i32>(x), Ok(expected));
}

#[test]
fn variables_of_a_module() {
    let device = Device::new("");
    let module = device.load(
        ".version 7.0\n.target sm_70\n.address_size 64
         .visible .global .align 4 .u32 factors[3] = {2, 3, 5};
         .visible .const .align 4 .f32 half = 0f3F000000;
         .visible .global .align 8 .u64 where = factors;
         .visible .entry k(.param .u64 k_param_0) {
           .reg .b64 %rd<4>; .reg .b32 %r<4>;
           ld.param.u64 %rd1, [k_param_0];
           ld.global.u64 %rd2, [where];
           ld.global.u32 %r1, [%rd2+8];
           ld.const.f32 %r2, [half];
           st.global.v2.b32 [%rd1], {%r1, %r2};
           ret;
         }",
    );
    let out = device.memory(8);
    assert_eq!(device.launch(device.kernel(module, "k"), 1, 1, &[&out]), 0);
    assert_eq!(device.read::<u32>(out), Ok(vec![5, 0.5f32.to_bits()]));
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: places for results, 12 bytes.
    unsafe {
        assert_eq!(
            cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"factors".as_ptr()),
            0
        );
        assert_eq!(bytes, 12);
        let mut values = [0u32; 3];
        assert_eq!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, 12), 0);
        assert_eq!(values, [2, 3, 5]);
    }
}

#[test]
fn shared_memory_that_the_launch_adds() {
    let device = Device::new("");
    let module = device.load(
        ".version 7.0\n.target sm_70\n.address_size 64
         .extern .shared .align 16 .b8 more[];
         .shared .align 4 .b8 own[64];
         .visible .entry k(.param .u64 k_param_0) {
           .reg .b64 %rd<4>; .reg .b32 %r<6>;
           ld.param.u64 %rd1, [k_param_0];
           mov.u32 %r1, %tid.x;
           shl.b32 %r2, %r1, 2;
           mov.u32 %r3, more;
           add.s32 %r3, %r3, %r2;
           st.shared.u32 [%r3], %r1;
           bar.sync 0;
           xor.b32 %r3, %r3, 4;
           ld.shared.u32 %r4, [%r3];
           mul.wide.u32 %rd2, %r1, 4;
           add.s64 %rd1, %rd1, %rd2;
           st.global.u32 [%rd1], %r4;
           ret;
         }",
    );
    let kernel = device.kernel(module, "k");
    let out = device.memory(128);
    assert_eq!(
        device.launch_with(kernel, [1, 1, 1], [32, 1, 1], 60_000, &[&out]),
        1
    );
    assert_eq!(
        device.launch_with(kernel, [1, 1, 1], [32, 1, 1], 128, &[&out]),
        0
    );
    let expected: Vec<u32> = (0..32).map(|i| i ^ 1).collect();
    assert_eq!(device.read::<u32>(out), Ok(expected));
    // SAFETY: an attribute of a kernel.
    assert_eq!(unsafe { cuFuncSetAttribute(kernel, 8, 60_000) }, 0);
    assert_eq!(
        device.launch_with(kernel, [1, 1, 1], [32, 1, 1], 60_000, &[&out]),
        0
    );
    assert_eq!(
        device.launch_with(kernel, [1, 1, 1], [32, 1, 1], 64, &[&out]),
        700
    );
}

#[test]
fn modules_are_loaded_from_files_too() {
    let device = Device::new("");
    let name = format!("okl-ptx-machine-{}.ptx", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, compile(ADD)).expect("a folder for files");
    let text = |path: &std::path::Path| {
        let path = path.to_str().expect("a path");
        std::ffi::CString::new(path).expect("a path")
    };
    // SAFETY: names, and places for results.
    unsafe {
        let mut module = std::ptr::null_mut();
        assert_eq!(cuModuleLoad(&mut module, text(&path).as_ptr()), 0);
        let mut add = std::ptr::null_mut();
        assert_eq!(cuModuleGetFunction(&mut add, module, c"add".as_ptr()), 0);
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(cuModuleLoad(&mut module, text(&path).as_ptr()), 301);
        let mut pinned = std::ptr::null_mut();
        assert_eq!(cuMemAllocHost_v2(&mut pinned, 64), 0);
        assert_eq!(cuMemFreeHost(pinned), 0);
    }
    drop(device);
}
