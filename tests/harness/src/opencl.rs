//! An OpenCL device for tests: PoCL's, which runs on this processor, behind a layer that makes of SPIR-V what PoCL takes
//! (`tests/launch/spirv_layer.c`).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::Tools;

/// That device.
pub(crate) struct OpenCl {
    layer: PathBuf,
    /// PoCL keeps what it has compiled there.
    cache: PathBuf,
}

impl OpenCl {
    /// What this machine lacks for one.
    pub(crate) fn lacks(tools: &Tools) -> Option<String> {
        let needed = ["llvm-spirv-15", "libOpenCL", "libpocl"].map(str::to_owned);
        let missing = tools.missing(&needed);
        missing.map(|name| format!("{name} is missing"))
    }

    /// In a folder, which stays as long as programs run there.
    pub(crate) fn new(tools: &Tools, folder: &Path) -> Result<Self, String> {
        let layer = folder.join("spirv_layer.so");
        tools.library("../launch/spirv_layer.c", &layer)?;
        Ok(Self {
            layer,
            cache: folder.join("pocl"),
        })
    }

    /// Has a program use it.
    pub(crate) fn serves<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let _ = std::fs::create_dir_all(&self.cache);
        command
            .env("OPENCL_LAYERS", &self.layer)
            .env("POCL_CACHE_DIR", &self.cache)
            // The other one compiles kernels while it is asked for more, and crashes in LLVM now and then.
            .env("POCL_DEVICES", "basic")
            .env("OKL_BACKEND", "spirv")
    }
}
