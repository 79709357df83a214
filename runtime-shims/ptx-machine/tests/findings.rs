//! What the checks find: each with its exact text, and beside it the right program, of which nothing is said.

mod common;

use std::process::Command;

use common::{Buffer, Device, Param, compile};

/// What a child says that runs a test of this file alone, and the error of its launch.
fn told(test: &str) -> String {
    let own = std::env::current_exe().expect("this program");
    let out = Command::new(own)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("OKL_PTX_MACHINE_TOLD", "1")
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("okl-ptx-machine: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether this is a child.
fn is_child() -> bool {
    std::env::var_os("OKL_PTX_MACHINE_TOLD").is_some()
}

/// Launches a kernel: its name, blocks and threads.
fn launch(
    source: &str,
    (blocks, threads): (u32, u32),
    params: impl Fn(&Device) -> Vec<Buffer>,
) -> i32 {
    let device = Device::new("instructions=10000");
    let module = device.load(&compile(source));
    let params = params(&device);
    let params: Vec<&dyn Param> = params.iter().map(|param| param as &dyn Param).collect();
    device.launch(device.kernel(module, "k"), blocks, threads, &params)
}

fn ints(device: &Device, count: usize) -> Buffer {
    device.with(&vec![1i32; count])
}

macro_rules! finding {
    ($name:ident, $error:expr, $text:expr, $shape:expr, $params:expr, wrong: $wrong:expr, right: $right:expr) => {
        #[test]
        fn $name() {
            if is_child() {
                assert_eq!(launch($wrong, $shape, $params), $error);
                assert_eq!(launch($right, $shape, $params), 0);
                return;
            }
            assert_eq!(
                told(stringify!($name)),
                format!("okl-ptx-machine: {}", $text)
            );
        }
    };
}

finding!(
    over_the_end,
    700,
    "k, ./kernel.cl:3: thread 100 of block 0 writes 4 bytes at 0x1000000102190: 0 bytes behind an allocation of 400 bytes",
    (1, 128),
    |device: &Device| vec![ints(device, 128), ints(device, 100)],
    wrong: "kernel void k(global const int *x, global int *y) {\n  int i = gid;\n  y[i] = x[i];\n}",
    right: "kernel void k(global const int *x, global int *y) {\n  int i = gid;\n  if (i < 100)\n  y[i] = x[i];\n}"
);

finding!(
    a_barrier_in_a_branch,
    719,
    "k, ./kernel.cl:5: a barrier is met by 10 of 64 threads of block 0: thread 10 has ended",
    (1, 64),
    |device: &Device| vec![ints(device, 64)],
    wrong: "kernel void k(global int *y) {\n  int i = gid;\n  if (i < 10) {\n    y[i]++;\n    bar();\n    y[i]++;\n  }\n}",
    right: "kernel void k(global int *y) {\n  int i = gid;\n  if (i < 10)\n    y[i]++;\n  bar();\n  if (i < 10)\n    y[i]++;\n}"
);

finding!(
    a_race_in_a_block,
    719,
    "k, ./kernel.cl:5: race: thread 0 of block 0 reads 4 bytes of shared memory at 0x4, which thread 1 wrote: no barrier is between them",
    (1, 64),
    |device: &Device| vec![ints(device, 64)],
    wrong: "kernel void k(global int *y) {\n  local int s[64];\n  int i = tid;\n  s[i] = y[i];\n  y[i] = s[(i + 1) % 64];\n}",
    right: "kernel void k(global int *y) {\n  local int s[64];\n  int i = tid;\n  s[i] = y[i];\n  bar();\n  y[i] = s[(i + 1) % 64];\n}"
);

finding!(
    a_race_between_blocks,
    719,
    "k, ./kernel.cl:2: race: thread 0 of block 1 writes 4 bytes at offset 0 of an allocation of 256 bytes, which another block wrote: nothing orders blocks",
    (2, 32),
    |device: &Device| vec![ints(device, 64)],
    wrong: "kernel void k(global int *y) {\n  y[tid] = ctaid + 5;\n}",
    right: "kernel void k(global int *y) {\n  y[gid] = ctaid + 5;\n}"
);

finding!(
    a_branch_by_what_was_never_written,
    719,
    "k, ./kernel.cl:2: a value that was never written decides a branch of thread 0 of block 0",
    (1, 32),
    |device: &Device| vec![device.memory(128), ints(device, 32)],
    wrong: "kernel void k(global const int *x, global int *y) {\n  if (x[tid] > 5) y[tid] = 7;\n}",
    right: "kernel void k(global const int *x, global int *y) {\n  if (y[tid] > 5) y[tid] = x[tid];\n}"
);

finding!(
    an_address_by_what_was_never_written,
    719,
    "k, ./kernel.cl:4: thread 0 of block 0 computes an address from a value that was never written",
    (1, 32),
    |device: &Device| vec![ints(device, 32)],
    wrong: "kernel void k(global int *y) {\n  local int s[32];\n  if (tid > 40) s[tid] = 1;\n  y[s[tid]] = 7;\n}",
    right: "kernel void k(global int *y) {\n  local int s[32];\n  s[tid] = tid;\n  y[s[tid]] = 7;\n}"
);

#[test]
fn a_result_that_was_never_written() {
    if is_child() {
        let device = Device::new("");
        let module = device.load(&compile(
            "kernel void k(global const int *x, global int *y) {\n  y[tid] = x[tid] + 1;\n}",
        ));
        let (x, y) = (device.memory(128), ints(&device, 32));
        assert_eq!(
            device.launch(device.kernel(module, "k"), 1, 32, &[&x, &y]),
            0
        );
        assert_eq!(device.read::<i32>(y), Err(719));
        return;
    }
    let text = "okl-ptx-machine: k, ./kernel.cl:2: thread 0 of block 0 stores what is computed from a value that was never written, and the host reads it";
    assert_eq!(told("a_result_that_was_never_written"), text);
}

finding!(
    memory_that_was_freed,
    700,
    "k, ./kernel.cl:2: thread 0 of block 0 writes 4 bytes at 0x1000000100000: memory that was freed",
    (1, 32),
    |device: &Device| {
        let (first, second) = (ints(device, 32), ints(device, 32));
        device.free(first);
        vec![first, second]
    },
    wrong: "kernel void k(global int *x, global int *y) {\n  x[tid] = 1;\n}",
    right: "kernel void k(global int *x, global int *y) {\n  y[tid] = 1;\n}"
);

finding!(
    an_address_that_is_not_aligned,
    716,
    "k, ./kernel.cl:2: thread 0 of block 0 writes 4 bytes at 0x1000000100001, which is no multiple of 4",
    (1, 32),
    |device: &Device| vec![ints(device, 64)],
    wrong: "kernel void k(global uchar *x) {\n  *(global int *)(x + 1) = 1;\n}",
    right: "kernel void k(global uchar *x) {\n  *(global int *)(x + 4 * tid) = 1;\n}"
);

finding!(
    different_barriers,
    719,
    "k, ./kernel.cl:4: threads of block 0 meet different barriers: thread 0 waits here, thread 32 at ./kernel.cl:8",
    (1, 64),
    |device: &Device| vec![ints(device, 64)],
    wrong: "kernel void k(global int *y) {\n  if (tid < 32) {\n    y[tid] = 5;\n    bar();\n    y[tid] += y[63 - tid];\n  } else {\n    y[tid] = 6;\n    bar();\n    y[tid] -= 1;\n  }\n}",
    right: "kernel void k(global int *y) {\n  y[tid] = tid < 32 ? 5 : 6;\n  bar();\n  if (tid < 32) y[tid] += 1;\n}"
);

finding!(
    lanes_that_do_not_come,
    719,
    "k, ./kernel.cl:3: lane 0 takes part in what lanes do together, and is not in its mask 0xfffe",
    (1, 32),
    |device: &Device| vec![ints(device, 32)],
    wrong: "kernel void k(global int *y) {\n  int v = y[tid];\n  if (tid < 16) y[tid] = __nvvm_shfl_sync_down_i32(0xfffe, v, 1, 31);\n}",
    right: "kernel void k(global int *y) {\n  int v = y[tid];\n  if (tid < 16) y[tid] = __nvvm_shfl_sync_down_i32(0xffff, v, 1, 31);\n}"
);

finding!(
    a_value_of_a_lane_that_is_elsewhere,
    719,
    "k, ./kernel.cl:4: a value that was never written decides a branch of thread 15 of block 0",
    (1, 32),
    |device: &Device| vec![ints(device, 32)],
    wrong: "kernel void k(global int *y) {\n  int v = y[tid];\n  if (tid < 16) {\n    if (__nvvm_shfl_sync_down_i32(0xffff, v, 1, 31) > 7) y[tid] = 3;\n  }\n}",
    right: "kernel void k(global int *y) {\n  int v = y[tid];\n  v = __nvvm_shfl_sync_down_i32(-1, v, 1, 31);\n  if (tid < 16 && v > 7) y[tid] = 3;\n}"
);

finding!(
    a_launch_that_does_not_end,
    702,
    "k, ./kernel.cl:2: the launch runs longer than the settings allow",
    (1, 32),
    |device: &Device| vec![device.with(&[1i32; 32])],
    wrong: "kernel void k(global volatile int *y) {\n  while (y[tid] != 2) {}\n}",
    right: "kernel void k(global volatile int *y) {\n  while (y[tid] != 1) {}\n}"
);

/// Copies that nobody has waited for are not there yet.
#[test]
fn a_copy_that_is_on_its_way() {
    if is_child() {
        let text = |wait: &str| {
            format!(
                ".version 7.0\n.target sm_80\n.address_size 64
                 .shared .align 16 .b8 s[512];
                 .visible .entry k(.param .u64 k_param_0) {{
                   .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p<2>;
                   ld.param.u64 %rd1, [k_param_0];
                   mov.u32 %r1, %tid.x;
                   mul.wide.u32 %rd2, %r1, 16;
                   add.s64 %rd1, %rd1, %rd2;
                   mov.u32 %r2, s;
                   shl.b32 %r3, %r1, 4;
                   add.s32 %r2, %r2, %r3;
                   cp.async.ca.shared.global [%r2], [%rd1], 16;
                   cp.async.commit_group;
                   {wait}
                   ld.shared.u32 %r4, [%r2+4];
                   add.s32 %r4, %r4, 5;
                   st.global.u32 [%rd1], %r4;
                   setp.gt.s32 %p1, %r4, 7;
                   @%p1 bra $L;
                   st.global.u32 [%rd1+8], %r4;
                   $L: ret;
                 }}"
            )
        };
        for (wait, error) in [
            ("cp.async.wait_group 1;", 719),
            ("cp.async.wait_group 0;", 0),
            ("cp.async.wait_all;", 0),
        ] {
            let device = Device::new("");
            let values: Vec<i32> = (0..128).collect();
            let own = device.with(&values);
            let kernel = device.kernel(device.load(&text(wait)), "k");
            assert_eq!(device.launch(kernel, 1, 32, &[&own]), error);
            if error == 0 {
                let result = device.read::<i32>(own).expect("all is known");
                assert_eq!(result[..8], [6, 1, 6, 3, 10, 5, 6, 7]);
            }
        }
        return;
    }
    let text = "okl-ptx-machine: k, PTX:21: a value that was never written decides a branch of thread 0 of block 0";
    assert_eq!(told("a_copy_that_is_on_its_way"), text);
}

/// What was never written and decides nothing may be moved around.
#[test]
fn what_decides_nothing_is_not_reported() {
    let device = Device::new("");
    let module = device.load(&compile(
        "struct pair { uchar a; int b; };
         kernel void k(global struct pair *y, global const struct pair *x, global uchar *parts) {
           struct pair one = x[tid];
           y[tid] = one;
           uint all = parts[4 * tid] | parts[4 * tid + 1] << 8 | parts[4 * tid + 2] << 16 | parts[4 * tid + 3] << 24;
           parts[4 * tid] = (all & 0xff00) == 0 ? 1 : 2;
         }",
    ));
    let (x, y) = (device.memory(256), ints(&device, 64));
    let parts = device.memory(128);
    for at in 0..32 {
        let middle = parts.address + 4 * at + 1;
        // SAFETY: memory of the device.
        let error = unsafe { okl_ptx_machine::driver::cuMemsetD8_v2(middle, 0, 1) };
        assert_eq!(error, 0);
    }
    assert_eq!(
        device.launch(device.kernel(module, "k"), 1, 32, &[&y, &x, &parts]),
        0
    );
    // What lies between the members of a struct is copied, and reaches the host.
    assert!(device.read::<u8>(y).is_ok());
    let parts = Buffer { bytes: 1, ..parts };
    assert_eq!(device.read::<u8>(parts), Ok(vec![1]));
}
