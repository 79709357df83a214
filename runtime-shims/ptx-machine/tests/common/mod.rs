//! A program that uses the driver: what tests have in common.

#![allow(dead_code)]

use std::ffi::{CString, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use okl_ptx_machine::driver::*;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A context, which a test has for itself.
pub struct Device {
    _alone: MutexGuard<'static, ()>,
}

/// Memory of the device.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub address: u64,
    pub bytes: usize,
}

/// A parameter of a kernel.
pub trait Param {
    fn bytes(&self) -> Vec<u8>;
}

macro_rules! params {
    ($($type:ty),*) => {$(
        impl Param for $type {
            fn bytes(&self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}
params!(u8, u16, u32, i32, u64, i64, f32, f64);

impl Param for Buffer {
    fn bytes(&self) -> Vec<u8> {
        self.address.to_ne_bytes().to_vec()
    }
}

impl Device {
    /// A device as `OKL_PTX_MACHINE` of these words has it.
    pub fn new(settings: &str) -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: tests that use the driver run one at a time.
        unsafe {
            std::env::set_var("OKL_PTX_MACHINE", settings);
            assert_eq!(cuInit(0), 0);
            let mut context = std::ptr::null_mut();
            assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), 0);
            assert_eq!(cuCtxSetCurrent(context), 0);
        }
        Self { _alone: alone }
    }

    /// Loads a module.
    pub fn load(&self, text: &str) -> *mut c_void {
        let text = CString::new(text).expect("a text");
        let mut module = std::ptr::null_mut();
        assert_eq!(
            // SAFETY: a text, and a place for the handle.
            unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) },
            0
        );
        module
    }

    /// A kernel of it.
    pub fn kernel(&self, module: *mut c_void, name: &str) -> *mut c_void {
        let name = CString::new(name).expect("a name");
        let mut kernel = std::ptr::null_mut();
        assert_eq!(
            // SAFETY: a name, and a place for the handle.
            unsafe { cuModuleGetFunction(&mut kernel, module, name.as_ptr()) },
            0
        );
        kernel
    }

    /// Memory in which nothing was written.
    pub fn memory(&self, bytes: usize) -> Buffer {
        let mut address = 0;
        // SAFETY: a place for the address.
        assert_eq!(unsafe { cuMemAlloc_v2(&mut address, bytes) }, 0);
        Buffer { address, bytes }
    }

    /// Memory with these values.
    pub fn with<T: Copy>(&self, values: &[T]) -> Buffer {
        let bytes = size_of_val(values);
        let buffer = self.memory(bytes.max(1));
        assert_eq!(
            // SAFETY: so many bytes are there.
            unsafe { cuMemcpyHtoD_v2(buffer.address, values.as_ptr().cast(), bytes) },
            0
        );
        buffer
    }

    /// Gives memory back.
    pub fn free(&self, buffer: Buffer) {
        // SAFETY: an address of the device.
        assert_eq!(unsafe { cuMemFree_v2(buffer.address) }, 0);
    }

    /// What is in memory, or the error.
    pub fn read<T: Copy + Default>(&self, buffer: Buffer) -> Result<Vec<T>, c_int> {
        let mut values = vec![T::default(); buffer.bytes / size_of::<T>()];
        // SAFETY: so many bytes are there.
        match unsafe { cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), buffer.address, buffer.bytes) } {
            0 => Ok(values),
            error => Err(error),
        }
    }

    /// Launches and waits: 0, or the error.
    pub fn launch(
        &self,
        kernel: *mut c_void,
        blocks: u32,
        threads: u32,
        params: &[&dyn Param],
    ) -> c_int {
        self.launch_with(kernel, [blocks, 1, 1], [threads, 1, 1], 0, params)
    }

    /// The same with all that a launch says.
    pub fn launch_with(
        &self,
        kernel: *mut c_void,
        blocks: [u32; 3],
        threads: [u32; 3],
        shared: u32,
        params: &[&dyn Param],
    ) -> c_int {
        let mut values: Vec<Vec<u8>> = params.iter().map(|param| param.bytes()).collect();
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| value.as_mut_ptr().cast())
            .collect();
        let none = std::ptr::null_mut();
        // SAFETY: a pointer for each parameter.
        let error = unsafe {
            cuLaunchKernel(
                kernel,
                blocks[0],
                blocks[1],
                blocks[2],
                threads[0],
                threads[1],
                threads[2],
                shared,
                none,
                pointers.as_mut_ptr(),
                none.cast(),
            )
        };
        if error != 0 {
            return error;
        }
        // SAFETY: nothing is handed over.
        unsafe { cuCtxSynchronize() }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing is handed over.
        unsafe { cuDevicePrimaryCtxRelease_v2(0) };
    }
}

/// PTX of C for OpenCL, by clang: `tid`, `gid` and others are defined.
pub fn compile(source: &str) -> String {
    let text = format!(
        "{}\n#line 1 \"kernel.cl\"\n{source}",
        include_str!("head.cl")
    );
    let target = [
        "--target=nvptx64-nvidia-cuda",
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-O2",
        "-S",
        "-nogpulib",
    ];
    let others = [
        "-march=sm_70",
        "-Xclang",
        "-target-feature",
        "-Xclang",
        "+ptx70",
        "-ffp-contract=off",
    ];
    let told = [
        "-gline-tables-only",
        "-fdebug-compilation-dir=.",
        "-cl-fp32-correctly-rounded-divide-sqrt",
    ];
    let arguments = [
        &target[..],
        &others,
        &told,
        &[
            "-fwrapv",
            "-w",
            "-Xclang",
            "-cl-ext=+cl_khr_fp16",
            "-o",
            "-",
        ],
    ]
    .concat();
    String::from_utf8(clang(&text, &arguments)).expect("a text")
}

/// What clang makes of a text.
pub fn clang(text: &str, arguments: &[&str]) -> Vec<u8> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let clang = std::env::var("OKL_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    let mut child = Command::new(clang)
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clang-22");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("a reader");
    let out = child.wait_with_output().expect("its end");
    assert!(out.status.success(), "{text}");
    out.stdout
}
