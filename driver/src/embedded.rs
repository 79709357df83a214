//! The text of OKL files with kernels that are templates, in the object (`--okl-jit`): a program has instances that no file
//! names compiled while it runs, by `okl-c++` and with the options by which the file was.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::Path;

use crate::arguments::{self, Arguments, CHECKS, COMPILES, Part};
use crate::okl_inputs::{OF_PREPROCESSOR, begins, is, output};

/// How options begin that are for the linker, that say what the object is for, that write other files, or that warn: these
/// have done so. (What `OF_PREPROCESSOR` is for is in the text.)
const LEFT_OUT: [&str; 23] = [
    "-D",
    "-L",
    "-R",
    "-W",
    "-Xlinker",
    "-fPI",
    "-fcoverage",
    "-flto",
    "-fno-lto",
    "-fno-PI",
    "-fno-pi",
    "-fpi",
    "-fprofile",
    "-ftime-",
    "-l",
    "-no-pie",
    "-pie",
    "-rdynamic",
    "-s",
    "-v",
    "-w",
    "--for-linker",
    "--save-temps",
];
/// Of these that begin so.
const KEPT: [&str; 2] = ["-std", "-stdlib"];
const TARGET: &str = "OKL_TARGET";

/// The words by which an instance is compiled, one of them in each line; nothing where programs have none compiled.
pub(crate) fn words(arguments: &Arguments, compiler: &Path) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    let wishes = &arguments.wishes;
    let of_environment = env::var(TARGET).ok().filter(|one| !one.is_empty());
    let target = wishes.target.clone().or(of_environment.clone());
    // Ranks would have to have all of what one of them loads.
    let is_shared = target.is_some_and(|target| target.starts_with("mpi"));
    if !wishes.jit || wishes.occa || is_shared {
        return None;
    }
    let mut words: Vec<OsString> = Vec::new();
    for part in arguments::parts(&arguments.passed) {
        let Part::Option(option, value) = part else {
            continue;
        };
        let is_left_out = begins(option, &LEFT_OUT) && !begins(option, &KEPT)
            || begins(option, &OF_PREPROCESSOR)
            || is(CHECKS, option)
            || is(COMPILES, option)
            || output(&part).is_some();
        if !is_left_out {
            words.push(option.to_owned());
            words.extend(value.map(OsStr::to_owned));
        }
    }
    words.extend(wishes.words_of_code());
    if let (None, Some(target)) = (&wishes.target, of_environment) {
        words.push(format!("--okl-target={target}").into());
    }
    let mut lines = compiler.as_os_str().as_bytes().to_vec();
    for word in words.iter().map(|word| word.as_bytes()) {
        // No option has one, and a file's name that has is not worth it.
        if word.contains(&b'\n') {
            return None;
        }
        lines.push(b'\n');
        lines.extend(word);
    }
    Some(lines)
}

/// What is added to a text: itself, and what its templates are called and where they are.
pub(crate) fn source(text: &str, words: &[u8], templates: &[(String, String)]) -> String {
    const LEVEL: u8 = 6;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), LEVEL);
    let names = templates
        .iter()
        .map(|(name, place)| format!("{name}\n{place}\n"));
    let names: String = names.collect();
    format!(
        "\n# 1 \"okl\" 3\nstatic ::okl_kernels::Source okl_kernels_source __attribute__((init_priority(101), unused))\
         (\"{}\", {}, {}, \"{}\", \"{}\");\n",
        literal(&packed),
        packed.len(),
        text.len(),
        literal(words),
        literal(names.as_bytes()),
    )
}

/// Bytes as a literal of C++.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 3);
    for byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => {
                text.push('\\');
                text.push(char::from(*byte));
            }
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_compiled_as_their_file() {
        let words = |command: &str| {
            let all = command.split_whitespace().map(Into::into).collect();
            let read = Arguments::read(all).unwrap();
            words(&read, Path::new("/c")).map(|words| String::from_utf8(words).unwrap())
        };
        assert_eq!(
            words(
                "--okl-jit -O3 -march=native -std=c++20 -I. -DX -g -Wall -fPIC -shared -c k.okl -o k.o -lm -mllvm -x \
                 --okl-target=cuda,cpu -flto -MMD"
            ),
            Some("/c\n-O3\n-march=native\n-std=c++20\n-g\n-mllvm\n-x\n--okl-target=cuda,cpu\n--okl-jit".to_owned())
        );
        assert_eq!(words("-O3 k.okl"), None);
        assert_eq!(words("--okl-jit --okl-target=mpi k.okl"), None);
    }

    #[test]
    fn a_literal_has_all_bytes() {
        assert_eq!(
            literal(b"a\"\\?\n\x011\xff"),
            "a\\\"\\\\\\?\\012\\0011\\377"
        );
    }
}
