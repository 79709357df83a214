//! The conformance list of devices (`tests/devices.txt`): programs with kernels, of all front ends, which are built once, for
//! all kinds of devices, and give on each what they give on the processor. Their kernels run there: the table of costs says so.
//!
//! | target | what runs there |
//! |---|---|
//! | `build` | nothing: LLVM's linker takes the code for AMD's devices, and no warning is an error |
//! | `spirv-val` | nothing: the module is valid, whatever the environment |
//! | `ptxas` | nothing: NVIDIA's assembler takes the PTX, for the oldest and a new device; only with `--ptxas` |
//! | `cuda` | the PTX, on an NVIDIA device, where there is one |
//! | `cuda-emulated` | the PTX, on the machine that checks it |
//! | `spirv` | SPIR-V, on PoCL: see `opencl.rs` |
//! | `hip` | the PTX behind a driver that takes code objects as AMD's does: `tests/launch/hip_on_ptx.c` |
//!
//! What this machine lacks is a test that is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Common;
use crate::compare::difference;
use crate::directives::Comparison;
use crate::jobs::{self, Outcome, Tally};
use crate::opencl::OpenCl;
use crate::process::{self, End, command_line};
use crate::ptxas;
use crate::tools::{Language, Tools};

const LIMIT: Duration = Duration::from_secs(300);

const TARGETS: [&str; 6] = [
    "spirv-val",
    "ptxas",
    "cuda",
    "cuda-emulated",
    "spirv",
    "hip",
];

/// What NVIDIA's driver makes where it has found a device.
const NVIDIA_DEVICES: &str = "/dev/nvidiactl";

/// A program of the list.
struct Program {
    /// Of its run.
    variables: Vec<(String, String)>,
    /// Below the list's folder.
    path: PathBuf,
    flags: Vec<String>,
}

/// Runs the programs of a list, on some of the targets or all.
pub(crate) fn run(
    list: &Path,
    wanted: &[String],
    ptxas: Option<&Path>,
    common: &Common,
) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let folder = common.folder()?;
    let told = |error: std::io::Error| format!("{}: {error}", list.display());
    let list = list.canonicalize().map_err(told)?;
    let text = fs::read_to_string(&list).map_err(told)?;
    let filter = common.filter.as_deref().unwrap_or("");
    let programs: Vec<_> = text
        .lines()
        .filter(|line| line.contains(filter))
        .filter_map(|line| Program::of(line, list.parent().unwrap_or(&list)))
        .enumerate()
        .collect();
    let is_wanted = |target: &&str| wanted.is_empty() || wanted.iter().any(|one| one == target);
    let targets: Vec<_> = TARGETS
        .into_iter()
        .filter(is_wanted)
        .filter(|target| *target != "ptxas" || ptxas.is_some())
        .collect();
    if let Some(unknown) = wanted.iter().find(|one| !TARGETS.contains(&one.as_str())) {
        return Err(format!("there is no target {unknown}"));
    }
    let devices = Devices::new(&tools, folder.path(), &targets, ptxas)?;
    let tests: Vec<_> = programs
        .iter()
        .flat_map(|(number, program)| {
            let own = folder.path().join(number.to_string());
            targets
                .iter()
                .map(move |target| (program, own.clone(), *target))
        })
        .collect();
    // That there is no such device is said once.
    let tests: Vec<_> = match devices.lacks("cuda") {
        Some(_) => {
            let (without, others): (Vec<_>, Vec<_>) = tests
                .into_iter()
                .partition(|(_, _, target)| *target == "cuda");
            without.into_iter().take(1).chain(others).collect()
        }
        None => tests,
    };
    let built = jobs::run_all(
        &programs,
        common.jobs,
        |(_, program)| program.name("build"),
        |(number, program)| {
            let own = folder.path().join(number.to_string());
            devices
                .build(program, &own)
                .map_or_else(Outcome::Failed, |()| Outcome::Passed)
        },
    );
    let ran = jobs::run_all(
        &tests,
        common.jobs,
        |(program, _, target)| program.name(target),
        |(program, own, target)| match devices.lacks(target) {
            Some(lacks) => Outcome::Skipped(lacks),
            None if !own.join("expected").is_file() => {
                Outcome::Skipped("there is no program".to_owned())
            }
            None => {
                let result = devices.check(program, own, target);
                result.map_or_else(Outcome::Failed, |()| Outcome::Passed)
            }
        },
    );
    Ok(built.and(ran))
}

impl Program {
    /// That of a line, if it has one.
    fn of(line: &str, folder: &Path) -> Option<Self> {
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace().peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        Some(Self {
            variables,
            path: folder.join(words.next()?),
            flags: words.map(str::to_owned).collect(),
        })
    }

    fn name(&self, target: &str) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value} "));
        let variables: String = variables.collect();
        let path = crate::lines::short_name(&self.path);
        format!("{variables}{path} {}: {target}", self.flags.join(" "))
    }

    fn start(&self, own: &Path, backend: &str) -> Command {
        let mut command = Command::new(own.join("program"));
        for name in [
            "OP_AUTO_SOA",
            "OKL_INCREMENTS",
            "OKL_REPRODUCIBLE",
            "OMP_NUM_THREADS",
        ] {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // Several tests share the cores: waiting threads must not spin.
        command.env("OMP_WAIT_POLICY", "passive");
        command.env("OKL_BACKEND", backend).env("OKL_STATS", "1");
        command
    }
}

/// What programs run on.
struct Devices<'a> {
    tools: &'a Tools,
    opencl: Result<OpenCl, String>,
    /// The folder of a driver that is called as AMD's is.
    hip: PathBuf,
    ptxas: Option<PathBuf>,
}

impl<'a> Devices<'a> {
    fn new(
        tools: &'a Tools,
        folder: &Path,
        targets: &[&str],
        ptxas: Option<&Path>,
    ) -> Result<Self, String> {
        let opencl = match OpenCl::lacks(tools) {
            Some(lacks) => Err(lacks),
            None => Ok(OpenCl::new(tools, folder)?),
        };
        let hip = folder.join("hip");
        if targets.contains(&"hip") {
            fs::create_dir_all(&hip).map_err(|error| error.to_string())?;
            tools.library("../launch/hip_on_ptx.c", &hip.join("libamdhip64.so"))?;
        }
        let ptxas = ptxas.map(|path| {
            let found = path.canonicalize();
            found.map_err(|error| format!("{}: {error}", path.display()))
        });
        Ok(Self {
            tools,
            opencl,
            hip,
            ptxas: ptxas.transpose()?,
        })
    }

    /// What this machine lacks for a target.
    fn lacks(&self, target: &str) -> Option<String> {
        match target {
            "spirv" => self.opencl.as_ref().err().cloned(),
            "spirv-val" => {
                let missing = self.tools.missing(&["spirv-val".to_owned()]).is_some();
                missing.then(|| "spirv-val is missing".to_owned())
            }
            "cuda" => (!Path::new(NVIDIA_DEVICES).exists())
                .then(|| "there is no NVIDIA device".to_owned()),
            _ => None,
        }
    }

    /// Builds a program for all of them, and says what it gives on the processor.
    fn build(&self, program: &Program, own: &Path) -> Result<(), String> {
        fs::create_dir_all(own).map_err(|error| error.to_string())?;
        let is_cxx = Language::of(&program.path) != Some(Language::C);
        let driver = if is_cxx { "okl-c++" } else { "okl-cc" };
        let mut compile = self.tools.driver(driver);
        compile
            .args(&program.flags)
            .args(["-w", "--okl-target=cuda,hip,spirv,cpu"])
            .arg(&program.path)
            .args(["-o", "program", "-lm"]);
        let done = process::run(&mut compile, own, "", LIMIT)?;
        if done.end != End::Exit(0) {
            return Err(format!(
                "{}: {}\n{}",
                done.end,
                command_line(&compile),
                done.stderr
            ));
        }
        let mut start = program.start(own, "cpu");
        let done = process::run(&mut start, own, "", LIMIT)?;
        match done.end {
            End::Exit(0) => {
                fs::write(own.join("expected"), done.stdout).map_err(|error| error.to_string())
            }
            end => Err(format!("{end}: {}\n{}", command_line(&start), done.stderr)),
        }
    }

    fn check(&self, program: &Program, own: &Path, target: &str) -> Result<(), String> {
        let mut start = program.start(own, target);
        match target {
            "spirv-val" => return self.validate(own),
            "ptxas" => {
                let all = fs::read(own.join("program")).map_err(|error| error.to_string())?;
                let ptxas = self.ptxas.as_deref().expect("it was said");
                return ptxas::assemble(ptxas, &all, own, || command_line(&start));
            }
            "spirv" => {
                let opencl = self.opencl.as_ref().expect("it is there");
                opencl.serves(&mut start);
            }
            "hip" => {
                let machine = self.tools.runtime_dir.join("libokl_ptx_machine.so");
                start
                    .env("LD_LIBRARY_PATH", &self.hip)
                    .env("HIP_ON_PTX", machine);
            }
            _ => {}
        }
        let done = process::run(&mut start, own, "", LIMIT)?;
        let how = command_line(&start);
        if done.end != End::Exit(0) {
            return Err(format!("{}: {how}\n{}", done.end, done.stderr));
        }
        let expected =
            fs::read_to_string(own.join("expected")).map_err(|error| error.to_string())?;
        if let Some(why) = difference(&expected, &done.stdout, Comparison::Exact) {
            return Err(format!("{how}\n{why}"));
        }
        match done.stderr.contains("okl: kernels on ") {
            true => Ok(()),
            false => Err(format!("no kernel ran there: {how}\n{}", done.stderr)),
        }
    }

    fn validate(&self, own: &Path) -> Result<(), String> {
        let all = fs::read(own.join("program")).map_err(|error| error.to_string())?;
        let modules = modules(&all);
        if modules.is_empty() {
            return Err("there is no SPIR-V".to_owned());
        }
        for module in modules {
            let path = own.join("module.spv");
            fs::write(&path, module).map_err(|error| error.to_string())?;
            let mut validate = Command::new("spirv-val");
            let done = process::run(validate.arg(&path), own, "", LIMIT)?;
            if done.end != End::Exit(0) {
                return Err(format!("{}\n{}", command_line(&validate), done.stderr));
            }
        }
        Ok(())
    }
}

/// The modules of SPIR-V in a program.
fn modules(program: &[u8]) -> Vec<&[u8]> {
    const MAGIC: u32 = 0x0723_0203;
    /// Words of a module's head.
    const HEAD: usize = 5;
    const FUNCTION_END: u32 = 1 << 16 | 56;
    /// `OpLine`, `OpFunction`, `OpNoLine`: with what goes on behind a function.
    const GOES_ON: [u32; 3] = [8, 54, 317];
    let word = |at: usize| {
        let bytes = program.get(4 * at..4 * at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    };
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = word(at) {
        let start = at;
        at += 1;
        if first != MAGIC {
            continue;
        }
        let mut end = start + HEAD;
        while let Some(one) = word(end).filter(|one| one >> 16 > 0) {
            end += (one >> 16) as usize;
            let next = word(end).unwrap_or(0) & 0xffff;
            if one == FUNCTION_END && !GOES_ON.contains(&next) {
                all.extend(program.get(4 * start..4 * end));
                at = end;
                break;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_variables_a_program_and_options() {
        let of = |line| Program::of(line, Path::new("tests"));
        assert!(of("").is_none() && of("  # OP2").is_none());
        let one = of("A=1 B=2 op2/x.cpp -O2 -DA=1 # why").expect("a program");
        assert_eq!(one.variables.len(), 2);
        assert_eq!(one.path, Path::new("tests/op2/x.cpp"));
        assert_eq!(one.flags, ["-O2", "-DA=1"]);
    }

    #[test]
    fn modules_are_found_in_programs() {
        let module = [
            0x0723_0203,
            0x10200,
            43,
            9,
            0,
            5 << 16 | 54,
            1,
            2,
            3,
            4,
            1 << 16 | 56,
        ];
        let words = [&[7_u32][..], &module, &[0, 0], &module].concat();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let found = modules(&bytes);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|one| one.len() == 4 * module.len()));
    }
}
