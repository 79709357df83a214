//! Kernels on a CUDA device: okl's, against CUDA C++ written by hand and compiled by NVIDIA's run-time compiler. No device
//! is needed: the PTX machine executes both and counts, and NVIDIA's assembler says what becomes of their PTX. What is
//! counted is the same in every run.
//!
//! NVIDIA's tools are looked for in a folder that `scripts/nvidia-tools` fills. Without them only okl's kernels are counted.

pub(crate) mod versions;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::output::same_checksum;
use crate::tools::{COMPILER_CPP, FLAGS, LIMIT, finish};

/// The kernels, in the order in which the program runs them; the last ones are OpenMP's.
const KERNELS: [&str; 19] = [
    "saxpy",
    "stencil",
    "reduction",
    "product",
    "edges",
    "polynomial",
    "functions",
    "transpose",
    "sparse",
    "wave",
    "sweep",
    "distance",
    "rows",
    "cube",
    "axpy",
    "moments",
    "extremes",
    "multiply",
    "histogram",
];
/// Both have mathematical functions of their own, and atomic updates in any order.
const TOLERANCE: f64 = 1e-9;
/// For which device code is assembled.
const ASSEMBLED_FOR: &str = "sm_90";
/// Of a warp's instructions, and of sectors: so many times the rival's at most.
const MOST: [f64; 2] = [1.10, 1.05];

/// NVIDIA's tools.
struct Nvidia {
    libdevice: PathBuf,
    nvrtc: PathBuf,
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

impl Nvidia {
    fn of(folder: &Path) -> Result<Self, String> {
        let there = |name: &str| {
            let path = folder.join("nvidia").join(name);
            match path.is_file() {
                true => Ok(path),
                false => Err(format!("{} is not there", path.display())),
            }
        };
        Ok(Self {
            libdevice: there("cuda_nvcc/nvvm/libdevice/libdevice.10.bc")?,
            nvrtc: there("cuda_nvrtc/lib/libnvrtc.so.12")?,
            ptxas: there("cuda_nvcc/bin/ptxas")?,
            nvdisasm: there("cu13/bin/nvdisasm")?,
        })
    }
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kernel {
    /// Counts of the machine's, by name.
    counts: BTreeMap<String, u64>,
    /// How often warps came to a line of the PTX.
    lines: BTreeMap<u32, u64>,
    registers: u64,
    spilled: u64,
    /// Instructions of the device's own: how many there are, and how many warps execute.
    instructions: u64,
    executed: u64,
}

impl Kernel {
    fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    fn sectors(&self) -> u64 {
        let kinds = ["load", "store", "atomic"].iter();
        kinds
            .map(|kind| self.count(&format!("{kind} sectors")))
            .sum()
    }

    fn add(&mut self, other: Self) {
        for (name, count) in other.counts {
            *self.counts.entry(name).or_default() += count;
        }
        self.registers = self.registers.max(other.registers);
        self.spilled += other.spilled;
        self.instructions += other.instructions;
        self.executed += other.executed;
    }
}

type Kernels = BTreeMap<String, Kernel>;

/// Builds both variants, runs them, and tells of them in Markdown.
pub(crate) fn run(root: &Path, libraries: &Path, nvidia: Option<&Path>) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = built.path();
    let canonical = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    let programs = canonical(&root.join("programs/devices"))?;
    let libraries = canonical(libraries)?;
    let nvidia = nvidia.map(Nvidia::of).transpose()?;

    eprintln!("bench: compiling");
    let own = folder.join("okl");
    // Both have the same mathematical functions.
    let library = match &nvidia {
        Some(nvidia) => nvidia.libdevice.as_path(),
        None => Path::new("none"),
    };
    finish(
        // NVIDIA's compiler contracts, too.
        Command::new(libraries.join("okl-c++"))
            .args(FLAGS)
            .args(["-ffp-contract=fast", "-fopenmp", "--okl-target=cuda"])
            .arg(format!("--okl-libdevice={}", library.display()))
            .arg(programs.join("main.cpp"))
            .arg(programs.join("kernels.okl"))
            .arg(programs.join("openmp.cpp"))
            .arg("-o")
            .arg(&own),
    )?;
    eprintln!("bench: okl's kernels");
    let mut start = limited(&own);
    start.env("OKL_BACKEND", "cuda-emulated");
    let (checksums, mut ours) = execute(&mut start)?;
    let ptx = embedded(&fs::read(&own).map_err(|error| error.to_string())?)?;
    let Some(nvidia) = nvidia else {
        return Ok(report(&by_function(ours), None));
    };
    for module in &ptx {
        assemble(&nvidia, folder, module, &mut ours)?;
    }

    let rival = folder.join("rival");
    finish(
        Command::new(COMPILER_CPP)
            .args(FLAGS)
            .arg("-std=c++17")
            .arg(programs.join("main.cpp"))
            .arg(programs.join("rival.cpp"))
            .args(["-ldl", "-o"])
            .arg(&rival),
    )?;
    eprintln!("bench: the rival's kernels");
    let text = folder.join("rival.ptx");
    let mut start = limited(&rival);
    start
        .env("NVRTC", &nvidia.nvrtc)
        .env("CUDA_DRIVER", libraries.join("libokl_ptx_machine.so"))
        .env("KERNELS", programs.join("kernels.cu"))
        // As okl's PTX is made for.
        .env("ARCHITECTURE", "compute_70")
        .env("PTX", &text);
    let (others, mut its) = execute(&mut start)?;
    for (kernel, one) in &checksums {
        let other = others.get(kernel).copied().unwrap_or(f64::NAN);
        if !same_checksum(*one, other, TOLERANCE) {
            return Err(format!("{kernel}: {one}, but the rival computes {other}"));
        }
    }
    let ptx = fs::read_to_string(&text).map_err(|error| error.to_string())?;
    assemble(&nvidia, folder, &ptx, &mut its)?;
    Ok(report(&by_function(ours), Some(&by_function(its))))
}

fn limited(executable: &Path) -> Command {
    let mut start = Command::new("timeout");
    start.args(["-k", "10", LIMIT]).arg(executable);
    start.env("OKL_PTX_MACHINE", "counts,lines,races=0");
    start
}

/// Runs a variant: what it computes, and what its kernels cost.
fn execute(start: &mut Command) -> Result<(BTreeMap<String, f64>, Kernels), String> {
    let (stdout, stderr) = finish(start)?;
    let checksum = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [kernel, "checksum", value] => Some((kernel.to_owned(), value.parse().ok()?)),
        _ => None,
    };
    let checksums: BTreeMap<_, _> = stdout.lines().filter_map(checksum).collect();
    if let Some(missing) = KERNELS.iter().find(|one| !checksums.contains_key(**one)) {
        return Err(format!("no checksum of {missing}:\n{stdout}{stderr}"));
    }
    Ok((checksums, counted(&stderr)))
}

/// What the machine tells of kernels.
fn counted(stderr: &str) -> Kernels {
    let mut all = Kernels::new();
    for line in stderr.lines() {
        let Some((name, told)) = line
            .strip_prefix("okl-ptx-machine: ")
            .and_then(|rest| rest.split_once(": "))
        else {
            continue;
        };
        if let Some(name) = name.strip_prefix("lines of ") {
            let lines = told.split(' ').filter_map(|word| {
                let (line, count) = word.split_once('=')?;
                Some((line.parse().ok()?, count.parse().ok()?))
            });
            all.entry(name.to_owned()).or_default().lines = lines.collect();
            continue;
        }
        let counts = &mut all.entry(name.to_owned()).or_default().counts;
        for part in told.split(", ") {
            // `load requests 10 sectors 40`
            let mut of = "";
            let mut name = Vec::new();
            for word in part.split(' ') {
                match word.parse() {
                    Err(_) => name.push(word),
                    Ok(count) => {
                        let whole = match &name[..] {
                            [first, "requests"] => {
                                of = first;
                                name.join(" ")
                            }
                            rest if of.is_empty() => rest.join(" "),
                            rest => format!("{of} {}", rest.join(" ")),
                        };
                        counts.insert(whole, count);
                        name.clear();
                    }
                }
            }
        }
    }
    all
}

/// The PTX in an executable, of each of its files.
fn embedded(executable: &[u8]) -> Result<Vec<String>, String> {
    const BEGINS: &[u8] = b"//\n// Generated by LLVM NVPTX";
    let mut modules = Vec::new();
    let mut rest = executable;
    while let Some(at) = rest.windows(BEGINS.len()).position(|one| one == BEGINS) {
        let text = &rest[at..];
        let end = text.iter().position(|byte| *byte == 0);
        let (text, behind) = text.split_at(end.ok_or("its PTX does not end")?);
        modules.push(String::from_utf8(text.to_vec()).map_err(|error| error.to_string())?);
        rest = behind;
    }
    match modules.is_empty() {
        true => Err("the program has no PTX".to_owned()),
        false => Ok(modules),
    }
}

/// PTX in which each instruction says in which line it stood.
fn numbered(ptx: &str) -> String {
    let mut text = String::new();
    let (mut is_code, mut is_new) = (false, false);
    for (at, line) in ptx.lines().enumerate() {
        let code = line.trim();
        if code.starts_with(".loc ") || code.starts_with(".loc\t") || code.starts_with(".file") {
            continue;
        }
        let other = code.starts_with(['.', '{', '}', '(', ')']) || code.starts_with("//");
        if is_code && is_new && !code.is_empty() && !other && !code.ends_with(':') {
            let _ = writeln!(text, "\t.loc 1 {} 0", at + 1);
        }
        if !code.is_empty() && !code.starts_with("//") {
            is_new = code.ends_with([';', '{', '}', ':']);
        }
        match line.as_bytes().first() {
            Some(b'{') => (is_code, is_new) = (true, true),
            Some(b'}') => is_code = false,
            _ => {}
        }
        text.push_str(line);
        text.push('\n');
        if code.starts_with(".address_size") {
            text.push_str(".file 1 \"kernels.ptx\"\n");
        }
    }
    text
}

/// Adds what NVIDIA's assembler makes of the kernels.
fn assemble(
    nvidia: &Nvidia,
    folder: &Path,
    ptx: &str,
    kernels: &mut Kernels,
) -> Result<(), String> {
    let [source, code] = ["numbered.ptx", "numbered.cubin"].map(|name| folder.join(name));
    fs::write(&source, numbered(ptx)).map_err(|error| error.to_string())?;
    let mut command = Command::new(&nvidia.ptxas);
    command.args(["-v", "-lineinfo", &format!("-arch={ASSEMBLED_FOR}")]);
    let (_, told) = finish(command.arg(&source).arg("-o").arg(&code))?;
    let (sass, _) = finish(Command::new(&nvidia.nvdisasm).args(["-g", "-c"]).arg(&code))?;
    let mut name = String::new();
    for line in told.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_owned();
        }
        let Some(kernel) = kernels.get_mut(&name) else {
            continue;
        };
        let before = |what: &str| {
            let number = line.split_once(what)?.0.split([' ', ',']);
            number
                .filter_map(|word| word.parse::<u64>().ok())
                .next_back()
        };
        kernel.registers = before(" registers").unwrap_or(kernel.registers);
        kernel.spilled += before(" bytes spill stores").unwrap_or(0);
        kernel.spilled += before(" bytes spill loads").unwrap_or(0);
    }
    executed(&sass, kernels);
    Ok(())
}

/// How many instructions warps execute: those of a line of the PTX as often as they come to it. Slow paths that are functions
/// of the assembler's own are left out: they are for numbers that are hardly ever there.
fn executed(sass: &str, kernels: &mut Kernels) {
    let mut name = String::new();
    let mut count = 0;
    let mut is_own = true;
    for line in sass.lines() {
        let code = line.trim();
        if let Some(section) = code.strip_prefix(".text.")
            && let Some(kernel) = section.strip_suffix(':')
        {
            name = kernel.to_owned();
            is_own = true;
            continue;
        }
        if code.starts_with('$') && code.ends_with(':') {
            is_own = false;
        }
        let Some(kernel) = kernels.get_mut(&name) else {
            continue;
        };
        if let Some((_, at)) = code.split_once("\", line ")
            && code.starts_with("//##")
        {
            let number = at.split(|c: char| !c.is_ascii_digit()).next();
            let number = number.and_then(|number| number.parse::<u32>().ok());
            let reached = number.and_then(|number| kernel.lines.get(&number));
            count = reached.copied().unwrap_or(0);
            continue;
        }
        let is_instruction = code.starts_with("/*") && code.contains(';');
        if is_own && is_instruction && !code.contains(" NOP") {
            kernel.instructions += 1;
            kernel.executed += count;
        }
    }
}

/// The kernels that a function's loops have become, together.
fn by_function(all: Kernels) -> Kernels {
    let mut functions = Kernels::new();
    for (entry, kernel) in all {
        let name = entry.strip_prefix("okl__Z").unwrap_or(&entry);
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
        if let Some(function) = KERNELS.iter().find(|one| name.starts_with(**one)) {
            functions
                .entry((*function).to_owned())
                .or_default()
                .add(kernel);
        }
    }
    functions
}

fn report(ours: &Kernels, its: Option<&Kernels>) -> String {
    let mut text = "# Kernels on a CUDA device, without a device\n\n".to_owned();
    let none = Kernel::default();
    let Some(its) = its else {
        text += "| kernel | warp instructions (PTX) | sectors | shared memory asked |\n|---|---|---|---|\n";
        for name in KERNELS {
            let one = ours.get(name).unwrap_or(&none);
            let (warps, asked) = (one.count("warp instructions"), one.count("shared asked"));
            let _ = writeln!(text, "| {name} | {warps} | {} | {asked} |", one.sectors());
        }
        return text;
    };
    text += &format!(
        "okl's kernels, and behind it the ratio to the same kernels in CUDA C++, written by hand and compiled by NVRTC: what warps \
         execute and what memory is asked for on the PTX machine, and what `ptxas` makes of the PTX for {ASSEMBLED_FOR} (executed: its \
         instructions, each as often as warps come to the line of the PTX that it is of). Both contract multiplications and \
         additions. The aims are {:.2} for instructions that are executed and {:.2} for sectors, and no spills.\n\n",
        MOST[0], MOST[1]
    );
    text += "| kernel | executed | warp instructions (PTX) | sectors | shared memory asked | barriers | registers | spilled, bytes | \
             instructions |\n|---|---|---|---|---|---|---|---|---|\n";
    let mut above = Vec::new();
    for name in KERNELS {
        let [one, other] = [ours, its].map(|all| all.get(name).unwrap_or(&none));
        let cell = |one: u64, other: u64| match other {
            0 => format!("{one} (rival {other})"),
            other => format!("{one} ({:.2})", one as f64 / other as f64),
        };
        let count = |what: &str| cell(one.count(what), other.count(what));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} (rival {}) | {} (rival {}) | {} |",
            cell(one.executed, other.executed),
            count("warp instructions"),
            cell(one.sectors(), other.sectors()),
            count("shared asked"),
            count("barrier"),
            one.registers,
            other.registers,
            one.spilled,
            other.spilled,
            cell(one.instructions, other.instructions),
        );
        let ratio = |one: u64, other: u64| one as f64 / other.max(1) as f64;
        let is_above = ratio(one.executed, other.executed) > MOST[0]
            || ratio(one.sectors(), other.sectors()) > MOST[1]
            || one.spilled > other.spilled;
        above.extend(is_above.then_some(name));
    }
    let _ = match above.is_empty() {
        true => writeln!(text, "\nAll of them reach the aims."),
        false => writeln!(text, "\nAbove an aim: {}.", above.join(", ")),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_machine_tells() {
        let all = counted(
            "okl-ptx-machine: k: launches 1, warp instructions 20, load requests 2 sectors 8, shared requests 4 asked 5\n\
             okl-ptx-machine: lines of k: 7=3 9=10\nanything\n",
        );
        let kernel = &all["k"];
        assert_eq!(kernel.count("warp instructions"), 20);
        assert_eq!((kernel.sectors(), kernel.count("shared asked")), (8, 5));
        assert_eq!(kernel.lines, BTreeMap::from([(7, 3), (9, 10)]));
    }

    #[test]
    fn instructions_are_executed_as_often_as_their_line() {
        let ptx = ".address_size 64\n.entry k(\n)\n{\n\t.reg .b32 %r;\n\tadd.s32 a,\n\t\tb;\nL:\n\tret;\n}\n";
        let lines = numbered(ptx);
        assert!(lines.contains("\t.loc 1 6 0\n\tadd.s32 a,\n\t\tb;\nL:\n\t.loc 1 9 0\n\tret;"));
        assert_eq!(lines.matches(".loc").count(), 2);
        let lines = BTreeMap::from([(6, 10), (9, 1)]);
        let kernel = Kernel {
            lines,
            ..Kernel::default()
        };
        let mut all = Kernels::from([("k".to_owned(), kernel)]);
        let sass = ".text.k:\n  //## File \"kernels.ptx\", line 6\n  /*0000*/ IADD3 R0, R1 ;\n  /*0010*/ IADD3 R0, R1 ;\n  \
                    //## File \"kernels.ptx\", line 9\n  /*0020*/ EXIT ;\n  /*0030*/ NOP;\n$slow:\n  /*0040*/ RET ;\n";
        executed(sass, &mut all);
        assert_eq!((all["k"].instructions, all["k"].executed), (3, 21));
    }

    #[test]
    fn kernels_of_a_function_belong_together() {
        let kernel = |registers| Kernel {
            registers,
            instructions: 1,
            ..Kernel::default()
        };
        let entries = [
            ("okl__Z4waveifPKfPf_0", kernel(3)),
            ("okl__Z4waveifPKfPf_1", kernel(8)),
            ("saxpy", kernel(2)),
        ];
        let all = by_function(entries.map(|(name, one)| (name.to_owned(), one)).into());
        assert_eq!(
            (
                all["wave"].registers,
                all["wave"].instructions,
                all["saxpy"].registers
            ),
            (8, 2, 2)
        );
    }
}
