//! A kernel that is compiled once more at run time, against the same one as it was compiled ahead of time: what it executes on the
//! machine that stands for a device, and what NVIDIA's assembler makes of it.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{FLAGS, Kernels, Nvidia, assemble, counted, embedded, limited};
use crate::tools::finish;

/// Tells of it in Markdown; of the assembler's code where its folder is known.
pub(crate) fn run(root: &Path, libraries: &Path, nvidia: Option<&Path>) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = built.path();
    let nvidia = nvidia.map(Nvidia::of).transpose()?;
    let (executable, cache) = (folder.join("tensor"), folder.join("cache"));
    eprintln!("bench: compiling tensor, for devices");
    finish(
        Command::new(libraries.join("okl-c++"))
            .args(FLAGS)
            .args(["--okl-jit", "--okl-target=cuda", "--okl-libdevice=none"])
            .arg(root.join("programs/jit/tensor.okl"))
            .arg("-o")
            .arg(&executable),
    )?;
    let run = |jit: &str| {
        let mut start = limited(&executable);
        start.env("OKL_BACKEND", "cuda-emulated");
        let (stdout, stderr) = finish(start.env("OKL_JIT", jit).env("OKL_JIT_CACHE", &cache))?;
        Ok::<_, String>((stdout, counted(&stderr)))
    };
    let ((expected, generic), (found, version)) = (run("0")?, run("sync")?);
    if found != expected {
        return Err(format!("tensor: {found}, not {expected}"));
    }
    let files = fs::read_dir(&cache).map_err(|error| error.to_string())?;
    let mut kept = files.filter_map(|one| fs::read(one.ok()?.path()).ok());
    let mut kept = kept.next().ok_or("no version was kept")?;
    // As in a program.
    kept.push(0);
    let program = fs::read(&executable).map_err(|error| error.to_string())?;
    let mut all = [(program, generic), (kept, version)];
    if let Some(nvidia) = &nvidia {
        for (code, kernels) in &mut all {
            for module in embedded(code)? {
                assemble(nvidia, folder, &module, kernels)?;
            }
        }
    }
    Ok(table(&all.map(|(_, kernels)| kernels), nvidia.is_some()))
}

fn table([generic, version]: &[Kernels; 2], has_assembler: bool) -> String {
    let mut text = String::from(
        "\n## On a device\n\nA derivative on spectral elements of order 8, which is an argument of the kernel: on the machine that \
         executes PTX, and as NVIDIA's assembler has it for sm_90.\n\n\
         | kernel | way | warp instructions | registers | instructions of the device |\n|---|---|---|---|---|\n",
    );
    for (name, one) in generic {
        let other = version.get(name).cloned().unwrap_or_default();
        for (way, one) in [("ahead of time", one), ("`--okl-jit`", &other)] {
            let of_assembler = match has_assembler {
                true => format!("{} | {}", one.registers, one.executed),
                false => "? | ?".to_owned(),
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
        let text = table(&all, false);
        assert!(
            text.contains("| `k` | ahead of time | 100 | ? | ? |"),
            "{text}"
        );
        assert!(
            text.contains("| `k` | `--okl-jit` | 60 | ? | ? |"),
            "{text}"
        );
    }
}
