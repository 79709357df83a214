//! Whole kernels, as clang compiles them, whose results are compared with those of the host.

mod common;

use common::{Device, compile};

#[test]
fn saxpy() {
    let device = Device::new("");
    let module = device.load(&compile(
        "kernel void saxpy(global float *y, global const float *x, float a, int n) {
           int i = gid;
           if (i < n) y[i] = a * x[i] + y[i];
         }",
    ));
    let kernel = device.kernel(module, "saxpy");
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.1).collect();
    let y: Vec<f32> = (0..n).map(|i| 1.0 / (i + 1) as f32).collect();
    let (own_x, own_y) = (device.with(&x), device.with(&y));
    assert_eq!(
        device.launch(kernel, 8, 128, &[&own_y, &own_x, &2.5f32, &n]),
        0
    );
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
    assert_eq!(device.read::<f32>(own_y), Ok(expected));
}

#[test]
fn a_block_adds_up() {
    for seed in [0, 3] {
        let device = Device::new(&format!("seed={seed}"));
        let module = device.load(&compile(
            "kernel void reduce(global double *out, global const double *x, int n) {
               local double s[256];
               int t = tid;
               double v = 0;
               for (int i = gid; i < n; i += nctaid * ntid) v += x[i];
               s[t] = v;
               bar();
               for (int h = 128; h; h /= 2) {
                 if (t < h) s[t] += s[t + h];
                 bar();
               }
               if (!t) out[ctaid] = s[0];
             }",
        ));
        let x: Vec<f64> = (0..10_000).map(f64::from).collect();
        let (own, out) = (device.with(&x), device.memory(8 * 4));
        assert_eq!(
            device.launch(
                device.kernel(module, "reduce"),
                4,
                256,
                &[&out, &own, &10_000]
            ),
            0
        );
        let sums = device.read::<f64>(out).expect("all is written");
        assert_eq!(sums.iter().sum::<f64>(), 49_995_000.0);
    }
}

#[test]
fn calls_and_atomic_updates() {
    let device = Device::new("");
    let module = device.load(&compile(
        "__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
         kernel void calls(global int *out) { out[gid] = fib(tid % 12); }
         kernel void count(global int *out, global const uchar *x, int n) {
           int i = gid;
           if (i < n) __nvvm_atom_add_gen_i((int *)(out + x[i]), 1);
         }",
    ));
    let out = device.memory(4 * 128);
    assert_eq!(
        device.launch(device.kernel(module, "calls"), 2, 64, &[&out]),
        0
    );
    let fib = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    let expected: Vec<i32> = (0..128).map(|i| fib[i % 64 % 12]).collect();
    assert_eq!(device.read::<i32>(out), Ok(expected));
    let bytes: Vec<u8> = (0..777).map(|i| (i * i % 7) as u8).collect();
    let mut expected = vec![0; 7];
    bytes
        .iter()
        .for_each(|byte| expected[usize::from(*byte)] += 1);
    let (own, counts) = (device.with(&bytes), device.with(&[0i32; 7]));
    assert_eq!(
        device.launch(
            device.kernel(module, "count"),
            7,
            128,
            &[&counts, &own, &777]
        ),
        0
    );
    assert_eq!(device.read::<i32>(counts), Ok(expected));
}

#[test]
fn lanes_read_each_other() {
    let device = Device::new("");
    let module = device.load(&compile(
        "kernel void shuffles(global int *out, global const int *in) {
           int v = in[gid];
           for (int h = 16; h; h /= 2) v += __nvvm_shfl_sync_down_i32(-1, v, h, 31);
           int all = __nvvm_shfl_sync_idx_i32(-1, v, 0, 31);
           int other = __nvvm_shfl_sync_bfly_i32(-1, tid, 3, 31);
           int before = __nvvm_shfl_sync_up_i32(-1, tid, 1, 0);
           int odd = __nvvm_vote_ballot_sync(-1, tid & 1);
           out[gid * 4] = all; out[gid * 4 + 1] = other; out[gid * 4 + 2] = before; out[gid * 4 + 3] = odd;
         }",
    ));
    let values: Vec<i32> = (0..64).map(|i| i * i).collect();
    let (own, out) = (device.with(&values), device.memory(4 * 4 * 64));
    assert_eq!(
        device.launch(device.kernel(module, "shuffles"), 1, 64, &[&out, &own]),
        0
    );
    let expected = (0..64).flat_map(|i| {
        let warp: i32 = (i / 32 * 32..i / 32 * 32 + 32).map(|j| j * j).sum();
        let before = if i % 32 == 0 { i } else { i - 1 };
        [warp, i ^ 3, before, 0xaaaa_aaaau32 as i32]
    });
    assert_eq!(device.read::<i32>(out), Ok(expected.collect()));
}

#[test]
fn lanes_that_wait_for_each_other_get_on() {
    let device = Device::new("instructions=6000000");
    let module = device.load(&compile(
        "kernel void locks(global int *lock, global volatile int *sum) {
           int done = 0;
           while (!done) {
             if (__nvvm_atom_cas_gen_i((int *)lock, 0, 1) == 0) {
               __nvvm_membar_gl();
               *sum = *sum + tid;
               __nvvm_membar_gl();
               __nvvm_atom_xchg_gen_i((int *)lock, 0);
               done = 1;
             }
           }
         }
         kernel void spins(global int *lock, global int *sum) {
           while (__nvvm_atom_cas_gen_i((int *)lock, 0, 1) != 0) {}
           __nvvm_membar_gl();
           *sum += tid;
           __nvvm_membar_gl();
           __nvvm_atom_xchg_gen_i((int *)lock, 0);
         }",
    ));
    for name in ["locks", "spins"] {
        let (lock, sum) = (device.with(&[0i32]), device.with(&[0i32]));
        assert_eq!(
            device.launch(device.kernel(module, name), 2, 96, &[&lock, &sum]),
            0,
            "{name}"
        );
        assert_eq!(device.read::<i32>(sum), Ok(vec![2 * 95 * 48]), "{name}");
    }
}

#[test]
fn the_last_block_adds_up() {
    let device = Device::new("seed=5");
    let module = device.load(&compile(
        "kernel void last(global int *parts, global int *tickets, global int *out) {
           local int is_last;
           if (tid == 0) {
             parts[ctaid] = ctaid + 1;
             __nvvm_membar_gl();
             is_last = __nvvm_atom_add_gen_i((int *)tickets, 1) == nctaid - 1;
           }
           bar();
           if (is_last && tid == 0) {
             int sum = 0;
             for (int i = 0; i < nctaid; i++) sum += parts[i];
             *out = sum;
           }
         }",
    ));
    let (parts, tickets, out) = (
        device.memory(4 * 20),
        device.with(&[0i32]),
        device.memory(4),
    );
    assert_eq!(
        device.launch(
            device.kernel(module, "last"),
            20,
            64,
            &[&parts, &tickets, &out]
        ),
        0
    );
    assert_eq!(device.read::<i32>(out), Ok(vec![210]));
}

#[test]
fn memory_of_a_thread() {
    let device = Device::new("");
    let module = device.load(&compile(
        "struct pair { char a; int b; double c; };
         __attribute__((noinline)) void fill(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i * i; }
         __attribute__((noinline)) struct pair swap(struct pair in) {
           struct pair out = { in.b, in.a, -in.c };
           return out;
         }
         kernel void own(global int *out, global const int *at) {
           int squares[16];
           fill(squares, 16);
           struct pair one = { tid, at[tid], 2.5 };
           struct pair other = swap(one);
           out[gid] = squares[at[tid] & 15] + other.a * 1000 + other.b * 100000 + (other.c < 0);
         }",
    ));
    let at: Vec<i32> = (0..32).map(|i| i * 7 % 16).collect();
    let (own, out) = (device.with(&at), device.memory(128));
    assert_eq!(
        device.launch(device.kernel(module, "own"), 1, 32, &[&out, &own]),
        0
    );
    let expected: Vec<i32> = (0..32)
        .map(|i| at[i as usize].pow(2) + at[i as usize] * 1000 + i * 100_000 + 1)
        .collect();
    assert_eq!(device.read::<i32>(out), Ok(expected));
}

#[test]
fn what_it_costs() {
    let device = Device::new("");
    let module = device.load(&compile(
        "kernel void k(global int *y, global const int *x, int by) { y[gid] = x[gid * by]; }",
    ));
    let kernel = device.kernel(module, "k");
    let (x, y) = (device.with(&[1i32; 64 * 8]), device.memory(4 * 64));
    let mut lines = Vec::new();
    for by in [1, 8] {
        assert_eq!(device.launch(kernel, 1, 64, &[&y, &x, &by]), 0);
        let mut line = [0; 512];
        // SAFETY: a name and a buffer.
        let error = unsafe {
            okl_ptx_machine::driver::okl_ptx_machine_counts(
                c"k".as_ptr(),
                line.as_mut_ptr(),
                line.len(),
            )
        };
        assert_eq!(error, 0);
        // SAFETY: a zero is behind it.
        let line = unsafe { std::ffi::CStr::from_ptr(line.as_ptr()) };
        let line = line.to_string_lossy().into_owned();
        lines.push(line[line.find("load requests").expect("it is there")..].to_owned());
    }
    assert_eq!(
        lines,
        [
            "load requests 2 sectors 8, store requests 2 sectors 8",
            "load requests 4 sectors 72, store requests 4 sectors 16"
        ]
    );
}

/// Instructions that lanes run together, a branch by an index, and a barrier that counts.
#[test]
fn what_lanes_do_together() {
    let device = Device::new("");
    let module = device.load(
        ".version 7.0\n.target sm_80\n.address_size 64
         .visible .entry k(.param .u64 k_param_0) {
           .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<4>;
           ld.param.u64 %rd1, [k_param_0];
           mov.u32 %r1, %tid.x;
           mul.wide.u32 %rd2, %r1, 16;
           add.s64 %rd1, %rd1, %rd2;
           and.b32 %r2, %r1, 3;
           brx.idx %r2, $targets;
           $targets: .branchtargets $zero, $one, $zero, $three;
           $zero: mov.u32 %r3, 10; bra.uni $end;
           $one: mov.u32 %r3, 11; bra.uni $end;
           $three: mov.u32 %r3, 13;
           $end:
           match.any.sync.b32 %r4, %r3, 0xffffffff;
           redux.sync.add.s32 %r5, %r1, 0xffffffff;
           setp.gt.u32 %p1, %r1, 39;
           bar.red.popc.u32 %r6, 0, %p1;
           st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};
           ret;
         }",
    );
    let out = device.memory(16 * 64);
    assert_eq!(device.launch(device.kernel(module, "k"), 1, 64, &[&out]), 0);
    let expected = (0..64u32).flat_map(|i| {
        let of = |i: u32| [10, 11, 10, 13][i as usize & 3];
        let same = (0..32)
            .filter(|j| of(*j) == of(i))
            .fold(0, |all, j| all | 1 << j);
        [of(i), same, if i < 32 { 496 } else { 496 + 32 * 32 }, 24]
    });
    assert_eq!(device.read::<u32>(out), Ok(expected.collect()));
}

/// What kernels print comes out as the C library prints it.
#[test]
fn printing() {
    if std::env::var_os("OKL_PTX_MACHINE_PRINTS").is_none() {
        let own = std::env::current_exe().expect("this program");
        let mut child = std::process::Command::new(own);
        child
            .args(["--exact", "printing", "--nocapture"])
            .env("OKL_PTX_MACHINE_PRINTS", "1");
        let out = child.output().expect("a child");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            text.contains("1 of   3: -7 1.500 0.25 1e+10 <tail>\n"),
            "{text}"
        );
        return;
    }
    let device = Device::new("");
    let module = device.load(&compile(
        "int vprintf(const char *format, const void *values);
         struct values { int a; int b; long c; double d; double e; double f; const char *g; };
         kernel void k(int by) {
           struct values values = { tid + 1, 3, -7, 1.5, 0.25, 1e10 * by, (const char *)(ulong)\"tail\" };
           vprintf((const char *)(ulong)\"%d of %3u: %ld %.3f %g %g <%s>\\n\", &values);
         }",
    ));
    assert_eq!(device.launch(device.kernel(module, "k"), 1, 1, &[&1]), 0);
}
