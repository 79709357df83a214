//! The compiler's command, and running it.
//!
//! The plugin is named first, so that the user's own options win; the libraries last, where a linker
//! looks for what is still missing. Between `--start-no-unused-arguments` and its end clang does not
//! mind options that it has no use for, while it still tells the user of his.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::arguments::{Arguments, Stage};
use crate::explain;
use crate::installation::{self, Installation};
use crate::language::Language;
use crate::okl;
use crate::quote::command_line;

/// Does what a driver is asked for. Returns where the compiler did not take over.
pub fn run(language: &Language, words: Vec<OsString>) -> Result<ExitCode, String> {
    let arguments = Arguments::read(words)?;
    if arguments.wishes.normalize {
        return normalize(&arguments);
    }
    refuse(&arguments.okl)?;
    let (compiler, mode) = installation::compiler(language)?;
    let mut all: Vec<OsString> = vec![compiler.clone().into()];
    if arguments.stage == Stage::Itself {
        all.extend(arguments.passed);
        return Err(execute(&all));
    }
    let found = Installation::find()?;
    if arguments.wishes.version {
        println!(
            "{} {} ({})",
            language.driver,
            env!("CARGO_PKG_VERSION"),
            language.package.replace('-', " ")
        );
        println!("compiler: {}", compiler.display());
        println!("plugin: {}", found.plugin().display());
        println!("libraries: {}", found.libraries.display());
        return Ok(ExitCode::SUCCESS);
    }
    all.extend(mode.map(Into::into));
    all.extend(before(language, &arguments, &found));
    all.extend(arguments.passed.iter().cloned());
    // Behind the user's folders.
    let interfaces = installation::interfaces(language, &compiler);
    all.extend(interfaces.map(|folder| joined("-I", &folder)));
    if arguments.stage == Stage::Link {
        // Options cannot follow `--`.
        all.extend(arguments.inputs.iter().map(|input| as_plain_word(input)));
        all.extend(after(language, &found, &compiler)?);
    } else if !arguments.inputs.is_empty() {
        all.push("--".into());
        all.extend(arguments.inputs.iter().cloned());
    }
    if arguments.wishes.show {
        println!("{}", command_line(all.iter().map(OsString::as_os_str)));
        return Ok(ExitCode::SUCCESS);
    }
    let compiles = matches!(arguments.stage, Stage::Compile | Stage::Link);
    if arguments.wishes.explain && compiles {
        if arguments.records {
            return Err(
                "--okl-explain does not go with the compiler's own optimization record".to_string(),
            );
        }
        return explain::run(language, &all, arguments.optimises);
    }
    Err(execute(&all))
}

/// Prints an OKL file as C++, or what is wrong with it.
fn normalize(arguments: &Arguments) -> Result<ExitCode, String> {
    let all: Vec<_> = arguments.passed.iter().chain(&arguments.inputs).collect();
    let one = match all[..] {
        [one] if *one == "-" || arguments.inputs.len() == 1 => one,
        [one] if !one.as_bytes().starts_with(b"-") => one,
        _ => return Err("--okl-normalize takes one OKL file, or -, and nothing else".to_owned()),
    };
    let (name, text) = if *one == "-" {
        let mut text = Vec::new();
        let read = io::stdin().read_to_end(&mut text);
        ("<stdin>".into(), read.map(|_| text))
    } else {
        (one.to_string_lossy(), fs::read(one))
    };
    let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
    let text = String::from_utf8(text).map_err(|_| format!("{name} is not UTF-8"))?;
    match okl::normalise_for(&text, &name, okl::Mode::Source, arguments.wishes.occa) {
        Ok(normalised) => {
            let written = io::stdout().write_all(normalised.as_bytes());
            written.map_err(|error| format!("cannot write: {error}"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("{error}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Refuses OKL files: they are not normalised on their way to the compiler yet.
fn refuse(okl: &[OsString]) -> Result<(), String> {
    let Some(file) = okl.first().map(|file| file.to_string_lossy()) else {
        return Ok(());
    };
    Err(format!(
        "{file}: OKL files cannot be compiled yet; `--okl-normalize {file}` prints the file as C++ with \
         annotations, which okl-c++ compiles for one thread"
    ))
}

/// Becomes the compiler; returns why not.
fn execute(words: &[OsString]) -> String {
    let error = Command::new(&words[0]).args(&words[1..]).exec();
    format!("cannot run {}: {error}", words[0].to_string_lossy())
}

/// What a process that has ended by `status` ends with in a shell.
pub(crate) fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// What stands before the user's own options.
fn before(language: &Language, arguments: &Arguments, found: &Installation) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    if let (true, Some(headers)) = (language.headers, &found.headers) {
        words.push("-idirafter".into());
        words.push(headers.into());
    }
    if arguments.stage != Stage::Preprocess {
        if !arguments.has_plugin {
            words.push(joined("-fpass-plugin=", &found.plugin()));
        }
        // The assembler would not know these.
        let mut proper = |option: &str| {
            words.extend([language.proper, "-mllvm", language.proper, option].map(OsString::from));
        };
        if let Some(target) = &arguments.wishes.target {
            proper(&format!("-okl-target={target}"));
        }
        if arguments.wishes.strict {
            proper("-okl-strict");
        }
    }
    unminded(language, words)
}

/// What stands behind the user's own inputs: the run-time libraries, of which the linker takes those
/// that something refers to: that of OpenMP as well, which programs call on one rank and which is often
/// named where files are compiled and not where they are linked. In this spelling libtool and CMake, which look for libraries that a
/// compiler always adds, do not see them.
fn after(
    language: &Language,
    found: &Installation,
    compiler: &Path,
) -> Result<Vec<OsString>, String> {
    let mut linker: Vec<OsString> = ["--push-state", "-Bdynamic", "--as-needed"]
        .map(Into::into)
        .into();
    let (folders, names) = found.runtimes()?;
    let openmp = installation::openmp(compiler);
    linker.extend(
        folders
            .iter()
            .chain(&openmp)
            .map(|folder| joined("--library-path=", folder)),
    );
    for name in names.into_iter().chain(openmp.is_some().then_some("omp")) {
        linker.push(format!("--library={name}").into());
    }
    linker.push("--pop-state".into());
    if found.needs_rpath() {
        linker.push("-rpath".into());
        linker.push(found.libraries.clone().into());
    }
    let has_comma = found.libraries.as_os_str().as_bytes().contains(&b',');
    let words = if has_comma {
        linker
            .into_iter()
            .flat_map(|word| ["-Xlinker".into(), word])
            .collect()
    } else {
        vec![joined("-Wl,", &linker.join(OsStr::new(",")))]
    };
    Ok(unminded(language, words))
}

/// The words where clang does not mind what it has no use for.
fn unminded(language: &Language, mut words: Vec<OsString>) -> Vec<OsString> {
    if let (false, Some([start, end])) = (words.is_empty(), language.unused) {
        words.insert(0, start.into());
        words.push(end.into());
    }
    words
}

fn joined(option: &str, value: &(impl AsRef<OsStr> + ?Sized)) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// An input that does not look like an option.
fn as_plain_word(input: &OsStr) -> OsString {
    if input.as_bytes().starts_with(b"-") || input.as_bytes().starts_with(b"@") {
        Path::new(".").join(input).into()
    } else {
        input.to_owned()
    }
}
