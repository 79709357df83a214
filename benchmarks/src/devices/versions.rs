//! Kernels that are compiled once more at run time, against the same ones as they were compiled ahead of time: what they execute
//! on the machine that stands for a device, and what NVIDIA's assembler makes of them.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{FLAGS, Kernels, Nvidia, assemble, counted, embedded, limited};
use crate::jit::make_meshes;
use crate::output::same_checksum;
use crate::tools::finish;

/// A program with kernels.
struct Program {
    name: &'static str,
    what: &'static str,
    source: &'static str,
    arguments: &'static [&'static str],
    is_in_smoke: bool,
}

const PROGRAMS: [Program; 3] = [
    Program {
        name: "tensor",
        what: "A derivative on spectral elements of order 8, which is an argument of the kernel",
        source: "programs/jit/tensor.okl",
        arguments: &[],
        is_in_smoke: true,
    },
    Program {
        name: "airfoil",
        what: "OP2's airfoil, on 450 cells",
        source: "programs/airfoil/airfoil.cpp",
        arguments: &[MESH, "2"],
        is_in_smoke: false,
    },
    Program {
        name: "aero",
        what: "OP2's way to flow by finite elements, on 450 cells",
        source: "programs/aero/aero.cpp",
        arguments: &[MESH, "2"],
        is_in_smoke: true,
    },
];
const MESH: &str = "mesh.dat";
/// Atomic updates are in any order.
const TOLERANCE: f64 = 1e-9;

/// Tells of it in Markdown; of the assembler's code where its folder is known.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    nvidia: Option<&Path>,
    is_smoke: bool,
) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = built.path();
    let nvidia = nvidia.map(Nvidia::of).transpose()?;
    make_meshes(root, folder, &[(MESH, ["10", "15"])])?;
    let mut text = String::from(
        "\n## On a device\n\nOn the machine that executes PTX, and as NVIDIA's assembler has it for sm_90: not of kernels that had \
         several versions.\n",
    );
    let programs = PROGRAMS.iter().filter(|one| one.is_in_smoke || !is_smoke);
    for program in programs {
        let kernels = of_program(program, root, libraries, nvidia.as_ref(), folder)?;
        let _ = write!(text, "\n{}:\n\n{}", program.what, table(&kernels));
    }
    Ok(text)
}

/// What is known of kernels as they were compiled, and as they were compiled once more.
fn of_program(
    program: &Program,
    root: &Path,
    libraries: &Path,
    nvidia: Option<&Nvidia>,
    folder: &Path,
) -> Result<[Kernels; 2], String> {
    let name = program.name;
    let (executable, cache) = (folder.join(name), folder.join(format!("{name}-versions")));
    eprintln!("bench: compiling {name}, for devices");
    finish(
        Command::new(libraries.join("okl-c++"))
            .args(FLAGS)
            .args(["--okl-jit", "--okl-target=cuda", "--okl-libdevice=none"])
            .arg(root.join(program.source))
            .arg("-o")
            .arg(&executable),
    )?;
    let run = |jit: &str| {
        let mut start = limited(&executable);
        start.args(program.arguments).current_dir(folder);
        start.env("OKL_BACKEND", "cuda-emulated");
        let (stdout, stderr) = finish(start.env("OKL_JIT", jit).env("OKL_JIT_CACHE", &cache))?;
        Ok::<_, String>((stdout, counted(&stderr)))
    };
    let ((expected, mut generic), (found, mut versions)) = (run("0")?, run("sync")?);
    if !is_same(&expected, &found) {
        return Err(format!("{name}: {found}, not {expected}"));
    }
    let Some(nvidia) = nvidia else {
        return Ok([generic, versions]);
    };
    let program = fs::read(&executable).map_err(|error| error.to_string())?;
    for module in embedded(&program)? {
        assemble(nvidia, folder, &module, &mut generic)?;
    }
    let kept = kept(&cache)?;
    for module in embedded(&kept)? {
        assemble(nvidia, folder, &module, &mut versions)?;
    }
    // What was executed is known of all versions together.
    let kept = String::from_utf8_lossy(&kept);
    for (name, kernel) in &mut versions {
        if kept.matches(&format!(".entry {name}(")).count() > 1 {
            (kernel.registers, kernel.executed) = (0, 0);
        }
    }
    Ok([generic, versions])
}

/// All versions that were kept, one behind the other, each of which ends as in a program.
fn kept(cache: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let files = fs::read_dir(cache).map_err(failed)?;
    let mut files: Vec<PathBuf> = files.flatten().map(|one| one.path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        all.extend(fs::read(file).map_err(failed)?);
        all.push(0);
    }
    Ok(all)
}

/// Whether programs have printed the same, but for how long it took.
fn is_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| text.split("time ").next().unwrap_or_default());
    let (mut one, mut other) = (one.split_whitespace(), other.split_whitespace());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => match (one.parse(), other.parse()) {
                (Ok(one), Ok(other)) if same_checksum(one, other, TOLERANCE) => {}
                _ => return false,
            },
            _ => return false,
        }
    }
}

fn table([generic, versions]: &[Kernels; 2]) -> String {
    let mut text = String::from(
        "| kernel | way | warp instructions | registers | instructions of the device |\n|---|---|---|---|---|\n",
    );
    for (name, one) in generic {
        let other = versions.get(name).cloned().unwrap_or_default();
        for (way, one) in [("ahead of time", one), ("`--okl-jit`", &other)] {
            let of_assembler = match one.registers {
                0 => "? | ?".to_owned(),
                registers => format!("{registers} | {}", one.executed),
            };
            let count = one.count("warp instructions");
            let _ = writeln!(text, "| `{name}` | {way} | {count} | {of_assembler} |");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_told() {
        let all = [100, 60].map(|count| {
            counted(&format!(
                "okl-ptx-machine: k: launches 1, warp instructions {count}\n"
            ))
        });
        let text = table(&all);
        assert!(
            text.contains("| `k` | ahead of time | 100 | ? | ? |"),
            "{text}"
        );
        assert!(
            text.contains("| `k` | `--okl-jit` | 60 | ? | ? |"),
            "{text}"
        );
    }

    #[test]
    fn numbers_that_differ_are_found_out() {
        assert!(is_same(
            "2 1.0\ntime 0.1\n",
            "2 1.0000000000001\ntime 0.2\n"
        ));
        for other in ["2 1.1\n", "2\n", "2 1.0 3\n", "2 x\n"] {
            assert!(!is_same("2 1.0\n", other), "{other}");
        }
    }
}
