//! Random kernels, with branches and loops that lanes leave at different times: the machine gives the bits that the processor
//! gives, for which clang compiles the same text.

mod common;

use std::ffi::{CString, c_int};

use common::{Device, clang, compile};
use okl_testing::Random;

/// Writes kernels.
struct Writer {
    random: Random,
    text: String,
    depth: usize,
    loops: usize,
}

const TYPES: [&str; 7] = ["int", "uint", "long", "ulong", "short", "uchar", "uint"];

impl Writer {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.below(all.len())]
    }

    fn whole(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            let number = self.random.word() as i32 >> self.random.below(31);
            let number = format!("({number})");
            return match self.random.below(8) {
                0 | 1 => number,
                2 => "a[(i * 5 + 3) & 255]".to_owned(),
                3 => format!("l[{} & 7]", self.one_of(&["x", "y", "i"])),
                _ => self.one_of(&["x", "y", "z", "i", "w"]).to_owned(),
            };
        }
        let (a, b) = (self.whole(depth - 1), self.whole(depth - 1));
        let of = self.one_of(&TYPES);
        match self.random.below(16) {
            0..=5 => format!(
                "(({of}){a} {} ({of}){b})",
                self.one_of(&["+", "-", "*", "&", "|", "^"])
            ),
            6 => format!("((uint){a} << ((int){b} & 31))"),
            7 => format!("(({of}){a} >> ((int){b} & 7))"),
            8 => format!("(({of}){a} / ((({of}){b} & 127) + 1))"),
            9 => format!("(({of}){a} % ((({of}){b} & 127) + 1))"),
            10 => format!(
                "(({of}){a} {} ({of}){b})",
                self.one_of(&["<", "<=", "==", "!=", ">", ">="])
            ),
            11 => format!("({} ? {a} : {b})", self.condition(depth - 1)),
            12 => format!("__builtin_popcountll((ulong){a})"),
            13 => format!("mix((int){a}, (int){b})"),
            14 => format!("whole({})", self.number(depth - 1)),
            _ => format!("(-({of}){a} ^ ~({of}){b})"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(3) {
            0 => format!("({} < {})", self.number(depth), self.number(depth)),
            1 => format!(
                "((int){} & {})",
                self.whole(depth),
                1 + self.random.below(7)
            ),
            _ => format!("((int){} > (int){})", self.whole(depth), self.whole(depth)),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(20) {
            return match self.random.below(6) {
                0 => format!("{}.5", self.random.below(100)),
                1 => "b[i & 255]".to_owned(),
                2 => "(double)x".to_owned(),
                _ => self.one_of(&["p", "q", "f"]).to_owned(),
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.random.below(11) {
            10 => format!(
                "(double)((half)(float){a} {} (half)(float){b})",
                self.one_of(&["+", "-", "*", "/", "<"])
            ),
            0..=3 => format!("({a} {} {b})", self.one_of(&["+", "-", "*", "/"])),
            4 => format!(
                "((float){a} {} (float){b})",
                self.one_of(&["+", "-", "*", "/"])
            ),
            5 => format!("__builtin_sqrt(__builtin_fabs({a}))"),
            6 => format!("__builtin_fma({a}, {b}, {})", self.number(depth - 1)),
            7 => format!("({} ? {a} : {b})", self.condition(depth - 1)),
            8 => format!("(double)({}){}", self.one_of(&TYPES), self.whole(depth - 1)),
            _ => format!("(-(float){a} - __builtin_sqrtf(__builtin_fabsf((float){b})))"),
        }
    }

    fn statement(&mut self) {
        let line = match self.random.below(12) {
            0..=3 => format!("{} = {};", self.one_of(&["x", "y"]), self.whole(3)),
            4 => format!("{} = {};", self.one_of(&["z", "w"]), self.whole(3)),
            5 | 6 => format!("{} = {};", self.one_of(&["p", "q"]), self.number(3)),
            7 => format!("f = {};", self.number(2)),
            8 => format!("l[{} & 7] = {};", self.whole(1), self.whole(2)),
            _ if self.depth == 0 => format!("x += {};", self.whole(2)),
            9 => {
                let condition = self.condition(2);
                self.block(&format!("if ({condition})"));
                if self.random.chance(50) {
                    self.block("else");
                }
                return;
            }
            10 => {
                self.loops += 1;
                let name = format!("n{}", self.loops);
                let end = self.whole(1);
                self.block(&format!(
                    "for (int {name} = 0; {name} < ((int){end} & 7); {name}++)"
                ));
                return;
            }
            _ => {
                let index = self.whole(1);
                self.text += &format!("switch ((int){index} & 7) {{\n");
                for case in 0..6 {
                    self.text += &format!("case {case}: ");
                    self.block("");
                    if self.random.chance(70) {
                        self.text += "break;\n";
                    }
                }
                self.text += "}\n";
                return;
            }
        };
        self.text += &line;
        self.text.push('\n');
    }

    fn block(&mut self, head: &str) {
        self.text += &format!("{head} {{\n");
        self.depth -= 1;
        for _ in 0..1 + self.random.below(3) {
            self.statement();
        }
        self.depth += 1;
        self.text += "}\n";
    }

    fn program(seed: u64) -> String {
        let mut writer = Self {
            random: Random(seed),
            text: String::new(),
            depth: 3,
            loops: 0,
        };
        for _ in 0..8 {
            writer.statement();
        }
        format!(
            "static int whole(double p) {{ return p > -1e9 && p < 1e9 ? (int)p : 7; }}
             __attribute__((noinline)) int mix(int a, int b) {{ return (a & 3) && b > 0 ? mix(b >> 3, a / 2) ^ a : a * 31 + b; }}
             kernel void k(global long *out, global double *numbers, global const int *a, global const double *b) {{
               int i = gid;
               int x = a[i & 255], y = tid;
               long z = a[(i + 1) & 255] * 77777L;
               ulong w = i;
               double p = b[(i + 7) & 255], q = 1.5;
               float f = (float)p;
               int l[8] = {{ 1, 2, 3, 4, x, 6, 7, i }};
               {}
               out[i] = (long)x * 3 + y * 5 + z + (long)w + l[x & 7];
               numbers[i] = p + q + f == p + q + f ? p + q + f : 0;
             }}",
            writer.text
        )
    }
}

const THREADS: usize = 96;
const BLOCKS: usize = 3;

type Run = unsafe extern "C" fn(c_int, c_int, *mut i64, *mut f64, *const i32, *const f64);

/// What the processor gives.
fn on_the_processor(source: &str, seed: u64, a: &[i32], b: &[f64]) -> (Vec<i64>, Vec<f64>) {
    let text = format!(
        "#define kernel\n#define global\n#define half _Float16\n#define tid tid_\n#define ntid ntid_\n#define gid (ctaid_ * ntid_ + tid_)
         typedef unsigned char uchar; typedef unsigned int uint; typedef unsigned long ulong;
         static int tid_, ntid_, ctaid_;
         {source}
         void run(int blocks, int threads, long *out, double *numbers, const int *a, const double *b) {{
           ntid_ = threads;
           for (ctaid_ = 0; ctaid_ < blocks; ctaid_++)
             for (tid_ = 0; tid_ < threads; tid_++) k(out, numbers, a, b);
         }}"
    );
    let file =
        std::env::temp_dir().join(format!("okl-ptx-machine-{}-{seed}.so", std::process::id()));
    let name = file.to_str().expect("a name").to_owned();
    let arguments = [
        "-x",
        "c",
        "-O1",
        "-fwrapv",
        "-ffp-contract=off",
        "-fno-strict-aliasing",
        "-w",
        "-Xclang",
        "-ffloat16-excess-precision=none",
    ];
    clang(
        &text,
        &[&arguments[..], &["-shared", "-fPIC", "-o", &name, "-lm"]].concat(),
    );
    let name = CString::new(name).expect("a name");
    let (mut out, mut numbers) = (vec![0; THREADS * BLOCKS], vec![0.0; THREADS * BLOCKS]);
    // SAFETY: a library with such a function, and as much memory as it writes.
    unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!library.is_null());
        let run = libc::dlsym(library, c"run".as_ptr());
        assert!(!run.is_null());
        let run = std::mem::transmute::<*mut libc::c_void, Run>(run);
        run(
            BLOCKS as c_int,
            THREADS as c_int,
            out.as_mut_ptr(),
            numbers.as_mut_ptr(),
            a.as_ptr(),
            b.as_ptr(),
        );
        libc::dlclose(library);
    }
    std::fs::remove_file(file).expect("it was there");
    (out, numbers)
}

#[test]
fn the_machine_computes_what_the_processor_computes() {
    let first = std::env::var("OKL_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1u64);
    let count = std::env::var("OKL_TEST_COUNT")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(12u64);
    for seed in first..first + count {
        let source = Writer::program(seed * 0x9e37_79b9 + 1);
        let mut random = Random(seed);
        let a: Vec<i32> = (0..256)
            .map(|_| random.word() as i32 >> random.below(32))
            .collect();
        let b: Vec<f64> = (0..256)
            .map(|_| (random.word() as i32) as f64 / 64.0)
            .collect();
        let expected = on_the_processor(&source, seed, &a, &b);
        let device = Device::new(&format!("seed={seed}"));
        let module = device.load(&compile(&source));
        let kernel = device.kernel(module, "k");
        let (own_a, own_b) = (device.with(&a), device.with(&b));
        let (out, numbers) = (
            device.memory(8 * THREADS * BLOCKS),
            device.memory(8 * THREADS * BLOCKS),
        );
        let error = device.launch(
            kernel,
            BLOCKS as u32,
            THREADS as u32,
            &[&out, &numbers, &own_a, &own_b],
        );
        assert_eq!(error, 0, "seed {seed}: {source}");
        let given = (device.read::<i64>(out), device.read::<f64>(numbers));
        let expected = (Ok(expected.0), Ok(expected.1));
        assert!(
            given == expected,
            "seed {seed}: {given:?} instead of {expected:?}: {source}"
        );
    }
}
