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
    let device = Device::new("");
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
    let text = "okl-ptx-machine: k, ./kernel.cl:2: thread 0 of block 0 stores a value that was never written, and the host reads it";
    assert_eq!(told("a_result_that_was_never_written"), text);
}
