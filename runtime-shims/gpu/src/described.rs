//! What the compiler says of a kernel, read from its descriptor.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicI64;

use okl_abi::gpu::{DeviceKernel, DeviceParameter, Image};
use okl_job::settings;

use crate::table::{Kind, Processors};

/// A kernel.
#[derive(Clone, Copy)]
pub struct Described<'a> {
    /// Its name as the user wrote it.
    pub name: &'a str,
    /// `file:line`.
    pub place: &'a str,
    /// The function's name in all images.
    pub entry: &'a CStr,
    /// Its code.
    pub images: &'a [Image],
    /// What it is passed.
    pub parameters: &'a [DeviceParameter],
    /// Work items of a block at most; 0 where that is not known.
    pub most_items: i64,
    /// Bytes of memory that a block is given, besides what its code has.
    pub shared: i64,
    /// Bits of [`okl_abi::gpu::does`].
    pub does: i64,
    /// Which bytes it accesses: see [`okl_abi::gpu::section`].
    pub sections: &'a [i64],
    /// Of each image what may be compiled once more, a `JitCode` or null; empty where that is so of none.
    pub codes: &'a [*mut c_void],
    /// Its number, from 1 on, once it is known.
    pub number: &'a AtomicI64,
}

impl Described<'_> {
    /// # Safety
    /// It is a kernel of the program's.
    pub unsafe fn of(kernel: *mut c_void) -> Self {
        let kernel = kernel.cast::<DeviceKernel>();
        // SAFETY: the caller's promise: texts are NUL-terminated, arrays have as many entries, and all stays.
        unsafe {
            let c_text = |text: *mut c_void| CStr::from_ptr(text.cast::<c_char>());
            let text = |at| c_text(at).to_str().unwrap_or("?");
            Self {
                name: text((*kernel).name),
                place: text((*kernel).place),
                entry: c_text((*kernel).entry),
                images: array((*kernel).images, (*kernel).image_count),
                parameters: array((*kernel).parameters, (*kernel).parameter_count),
                most_items: (*kernel).most_items,
                shared: (*kernel).shared,
                does: (*kernel).does,
                sections: array((*kernel).sections, (*kernel).section_count),
                codes: match (*kernel).codes.is_null() {
                    true => &[],
                    false => array((*kernel).codes, (*kernel).image_count),
                },
                number: AtomicI64::from_ptr(&raw mut (*kernel).state),
            }
        }
    }
}

/// # Safety
/// There are so many.
unsafe fn array<'a, T>(first: *mut c_void, count: i64) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 && !first.is_null() => unsafe {
            std::slice::from_raw_parts(first.cast(), count)
        },
        _ => &[],
    }
}

/// The bytes of an image.
pub fn code(image: &Image) -> &[u8] {
    // SAFETY: so many bytes, of a constant of the program's.
    unsafe { array(image.code, image.size) }
}

/// The processor that an image is for.
pub fn processor(image: &Image) -> &str {
    // SAFETY: a text of the program's.
    let text = unsafe { CStr::from_ptr(image.processor.cast::<c_char>()) };
    text.to_str().unwrap_or("")
}

/// Which of the images is for a device of a kind, of that processor: of the newest generation that it has.
pub fn best(images: &[Image], kind: &Kind, own: &str) -> Option<usize> {
    let of_kind = images.iter().enumerate();
    let of_kind = of_kind.filter(|(_, image)| image.form == kind.form);
    let fitting = of_kind
        .filter_map(|(at, image)| Some((fits(&kind.processors, processor(image), own)?, at)));
    fitting
        .max_by_key(|(how_well, _)| *how_well)
        .map(|(_, at)| at)
}

/// How well an image for a processor fits one of a device: better ones have larger numbers. `None`: not at all.
fn fits(processors: &Processors, image: &str, device: &str) -> Option<i32> {
    match processors {
        Processors::Generations(_) => {
            let (number, is_exact) = generation(image)?;
            let (its_number, _) = generation(device)?;
            match is_exact {
                true => (number == its_number).then_some(2 * number + 1),
                false => (number <= its_number).then_some(2 * number),
            }
        }
        Processors::Names => (image == device).then_some(0),
        Processors::All => Some(0),
    }
}

/// What images for these processors are for, in words.
pub fn wanted(processors: &Processors, images: &[&str]) -> String {
    match processors {
        Processors::Generations(_) => {
            let all = images.iter().filter_map(|image| generation(image));
            format!(
                "devices from sm_{} on",
                all.map(|(number, _)| number).min().unwrap_or(0)
            )
        }
        Processors::Names | Processors::All => settings::listed(images),
    }
}

/// The number of a generation, and whether its code runs on no other.
fn generation(processor: &str) -> Option<(i32, bool)> {
    let number = processor.strip_prefix("sm_")?;
    let digits = number.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    Some((digits.parse().ok()?, digits.len() < number.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_device_has_its_own_way_to_know_its_code() {
        let cuda = Processors::Generations([0, 0]);
        let of = |image| fits(&cuda, image, "sm_90");
        assert!(of("sm_70") < of("sm_90") && of("sm_90") < of("sm_90a"));
        assert_eq!([of("sm_100"), of("sm_80a"), of("gfx90a")], [None; 3]);
        assert_eq!(wanted(&cuda, &["sm_90", "sm_70"]), "devices from sm_70 on");
        let hip = Processors::Names;
        assert_eq!(fits(&hip, "gfx90a", "gfx90a"), Some(0));
        assert_eq!(fits(&hip, "gfx90a", "gfx942"), None);
        assert_eq!(wanted(&hip, &["gfx90a", "gfx942"]), "gfx90a and gfx942");
        assert_eq!(fits(&Processors::All, "", ""), Some(0));
    }
}
