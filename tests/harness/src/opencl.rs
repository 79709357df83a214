//! An OpenCL device for tests: the one whose driver `OKL_TEST_OPENCL` names, such as that of `scripts/intel-opencl`, else
//! PoCL's, which runs on this processor, behind a layer that makes of SPIR-V what PoCL takes (`tests/launch/spirv_layer.c`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::Tools;

/// That device.
pub(crate) enum OpenCl {
    /// PoCL's.
    Pocl {
        layer: PathBuf,
        /// PoCL keeps what it has compiled there.
        cache: PathBuf,
    },
    /// A driver that takes SPIR-V.
    Named {
        /// The folder that says which.
        vendors: PathBuf,
        /// The folder of the driver and of what it needs.
        libraries: PathBuf,
    },
}

/// The driver that is asked for.
fn named() -> Option<OsString> {
    std::env::var_os("OKL_TEST_OPENCL")
}

impl OpenCl {
    /// What this machine lacks for one.
    pub(crate) fn lacks(tools: &Tools) -> Option<String> {
        let needed: &[&str] = match named() {
            Some(_) => &["libOpenCL"],
            None => &["llvm-spirv-15", "libOpenCL", "libpocl"],
        };
        let needed: Vec<_> = needed.iter().map(|name| name.to_string()).collect();
        let missing = tools.missing(&needed);
        missing.map(|name| format!("{name} is missing"))
    }

    /// In a folder, which stays as long as programs run there.
    pub(crate) fn new(tools: &Tools, folder: &Path) -> Result<Self, String> {
        if let Some(driver) = named() {
            let at = |error: std::io::Error| format!("OKL_TEST_OPENCL: {error}");
            let driver = Path::new(&driver).canonicalize().map_err(at)?;
            let vendors = folder.join("vendors");
            fs::create_dir_all(&vendors).map_err(at)?;
            fs::write(vendors.join("named.icd"), driver.display().to_string()).map_err(at)?;
            let libraries = driver.parent().ok_or("OKL_TEST_OPENCL: no folder")?;
            return Ok(Self::Named {
                vendors,
                libraries: libraries.to_owned(),
            });
        }
        let layer = folder.join("spirv_layer.so");
        tools.library("../launch/spirv_layer.c", &layer)?;
        let cache = folder.join("pocl");
        Ok(Self::Pocl { layer, cache })
    }

    /// Whether it computes some kernels wrongly in which work items meet under a condition, as PoCL 3.1 does.
    pub(crate) fn meets_wrongly_under_conditions(&self) -> bool {
        matches!(self, Self::Pocl { .. })
    }

    /// Has a program use it.
    pub(crate) fn serves<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        match self {
            Self::Pocl { layer, cache } => {
                let _ = fs::create_dir_all(cache);
                command
                    .env("OPENCL_LAYERS", layer)
                    .env("POCL_CACHE_DIR", cache)
                    // The other one compiles kernels while it is asked for more, and crashes in LLVM now and then.
                    .env("POCL_DEVICES", "basic")
            }
            Self::Named { vendors, libraries } => command
                .env("OCL_ICD_VENDORS", vendors)
                .env("LD_LIBRARY_PATH", libraries),
        };
        command.env("OKL_BACKEND", "spirv")
    }
}
