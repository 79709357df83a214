//! Whose mathematical functions a device gets, and where they are.
//!
//! Guarantee: what is added to a module is there in full, or the user is told what is missing.

use std::fs;
use std::path::PathBuf;

use super::mended;
use super::target::GpuTarget;
use crate::llvm::OwnModule;
use crate::options;

/// Whose functions they are.
#[derive(Debug, PartialEq, Eq)]
pub enum Library {
    /// NVIDIA's, in a file.
    Libdevice(PathBuf),
    /// LLVM's libclc, in a file of its folder.
    Libclc(&'static str),
    /// The driver's, by the names of libclc's.
    Driver,
}

/// Where libclc is installed.
const LIBCLC: [&str; 3] = [
    "/usr/lib/clc",
    "/usr/share/clc",
    "/usr/lib/llvm-22/share/clc",
];

impl Library {
    /// That of a kind of device. An error says what the user has asked for in vain.
    pub fn of(target: &GpuTarget) -> Result<Self, String> {
        let Some(libclc) = target.library else {
            return Ok(Self::Driver);
        };
        let libdevice = match target.is_for_ptxas {
            true => options::libdevice()?,
            false => None,
        };
        Ok(libdevice.map_or(Self::Libclc(libclc), Self::Libdevice))
    }

    /// What it calls a function of so many numbers, `f` or `d`.
    pub fn named(&self, name: &str, letter: char, count: usize) -> String {
        match self {
            Self::Libdevice(_) => format!("__nv_{name}{}", if letter == 'f' { "f" } else { "" }),
            Self::Libclc(_) => mended::named(name, letter, count)
                .unwrap_or_else(|| Self::Driver.named(name, letter, count)),
            Self::Driver => {
                let letters: String = std::iter::repeat_n(letter, count).collect();
                format!("_Z{}{name}{letters}", name.len())
            }
        }
    }

    /// Adds what a module calls by these names. An error is why it cannot.
    pub fn link(&self, device: &mut OwnModule, called: &[String]) -> Result<(), String> {
        let (code, what) = match self {
            Self::Driver => return Ok(()),
            Self::Libdevice(file) => (
                fs::read(file).ok(),
                format!("libdevice, {}", file.display()),
            ),
            Self::Libclc(name) => {
                device.link_text(&mended::text(called.iter().map(String::as_str)));
                let mut folders = LIBCLC.iter();
                let code = folders.find_map(|folder| fs::read(format!("{folder}/{name}")).ok());
                if code.is_none() {
                    return Err(format!(
                        "it calls mathematical functions, and libclc's {name} is not there: install libclc-22"
                    ));
                }
                (code, format!("libclc's {name}"))
            }
        };
        if !code.is_some_and(|code| device.link_needed(&code)) {
            return Err(format!("{what} cannot be read"));
        }
        if let Self::Libdevice(_) = self {
            // Of what it asks, LLVM knows all but this: whether square roots are to be right.
            device.answer("__CUDA_PREC_SQRT", 1);
        }
        Ok(())
    }
}
