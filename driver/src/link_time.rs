//! Linking where loop chains and functions that they call stand in different files.
//!
//! With `-flto` the plugin has each object keep its module as the compiler made it ([`Kept`]). Before the linker runs, those that
//! belong together become one module, which is compiled as one file is, and takes the place of their objects: so a chain sees
//! functions of other files, and what is wrong with it is said then. The linker does the rest, as with any objects that
//! `-flto` makes.
//!
//! Guarantee: what the linker gets defines what the objects define that it stands for, and each symbol is that of the file that
//! the linker would have taken it from. Where that is not certain the objects stay as they are.

mod objects;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use okl_chains::kept::Kept;

use crate::arguments::{self, Arguments, CHECKS, COMPILES, PREPROCESSES, Part, Stage, is_one_of};
use crate::front_step::{self, Failure, FrontStep};
use crate::installation;
use crate::language::{LANGUAGES, Language};
use crate::okl_inputs::{self, Dependencies, Input, Keep};
use crate::quote::command_line;
use objects::{Found, Objects};

/// What the compiler of a module is told once more when it is one of several; and of these what has to be the same in all of
/// them.
const AGAIN: [&str; 7] = ["-O", "-f", "-m", "-R", "-W", "--coverage", "--target="];
const AGAIN_ALONE: &str = " -target -w ";
const ALIKE: [&str; 11] = [
    "--coverage",
    "--okl-",
    "--target=",
    "-fcoverage",
    "-fcs-profile",
    "-flto",
    "-fno-lto",
    "-fprofile",
    "-fsanitize",
    "-m32",
    "-m64",
];
/// Of options that begin so it is not.
const ONCE: [&str; 14] = [
    "-Wa,",
    "-Wl,",
    "-Wp,",
    "-fdepfile-entry",
    "-ffixed-form",
    "-ffree-form",
    "-fmodule",
    "-foptimization-record",
    "-fpass-plugin",
    "-fplugin",
    "-fsave-optimization-record",
    "-fsyntax-only",
    "-ftime-trace",
    "-fuse-ld",
];
/// What the linker is told that may make a function another one than that of its name: options, and files with such.
const CHANGES_SYMBOLS: [&str; 11] = [
    "@",
    "T",
    "R",
    "allow-multiple-definition",
    "default-script",
    "defsym",
    "just-symbols",
    "muldefs",
    "script",
    "start-lib",
    "wrap",
];

/// What the plugin is told of a command, where the objects that it makes keep their modules.
pub(crate) fn kept_words(arguments: &Arguments, language: &Language) -> Option<String> {
    let [passed, inputs] = &arguments.expanded;
    let words: Vec<_> = passed.iter().chain(inputs).cloned().collect();
    let parts = arguments::parts(&words);
    let says = |one: &str| options(&parts).any(|(option, _)| option == one);
    let is_code = |(name, language): &(OsString, String)| {
        let extension = Path::new(name).extension();
        language == "ir" || extension.is_some_and(|one| one == "bc" || one == "ll")
    };
    let makes_objects = (says("-c") || says("--compile")) && !says("-S") && !says("-emit-llvm");
    if !makes_objects || !is_link_time(&parts) || arguments.sources.iter().any(is_code) {
        return None;
    }
    let mut all = arguments.wishes.words_of_code();
    for (option, value) in options(&parts) {
        let text = option.to_str().unwrap_or_default();
        let is_again = (okl_inputs::begins(option, &AGAIN) || is_one_of(AGAIN_ALONE, text))
            && !okl_inputs::begins(option, &ONCE)
            // Flang has options that clang has not.
            && (language.headers || !text.starts_with("-f") || text.starts_with("-flto"));
        if is_again {
            all.push(option.to_owned());
            all.extend(value.map(OsStr::to_owned));
        }
    }
    Some(command_line(all.iter().map(OsString::as_os_str)))
}

/// The options of a command, and their values.
fn options<'a>(parts: &[Part<'a>]) -> impl Iterator<Item = (&'a OsStr, Option<&'a OsStr>)> {
    parts.iter().filter_map(|part| match *part {
        Part::Option(option, value) => Some((option, value)),
        _ => None,
    })
}

/// Whether objects are LLVM's bitcode, and nothing else.
fn is_link_time(parts: &[Part]) -> bool {
    let mut is_said = false;
    for (option, _) in options(parts) {
        match option.to_str() {
            Some("-fno-lto" | "-ffat-lto-objects") => is_said = false,
            Some(text) if text == "-flto" || text.starts_with("-flto=") => is_said = true,
            _ => {}
        }
    }
    is_said
}

/// Whether an input is a source that is compiled before anything is linked.
fn is_source(input: &Input) -> bool {
    const EXTENSIONS: &str =
        " c i cc cp cxx cpp CPP c++ C CXX ii okl f90 f95 f03 f08 f18 f for F90 F95 F F03 F08 ";
    if !matches!(input.language, "" | "none") {
        return true;
    }
    let extension = Path::new(input.name).extension().and_then(OsStr::to_str);
    extension.is_some_and(|one| is_one_of(EXTENSIONS, one))
}

/// A command that links.
pub(crate) struct Linking<'a> {
    pub(crate) language: &'static Language,
    pub(crate) arguments: &'a Arguments,
    /// Whether some of its sources have chains, or functions for them.
    pub(crate) has_chains: bool,
    /// The compiler's command for the user's words.
    pub(crate) command: &'a Compiler<'a>,
}

/// The compiler's command for a user's words.
pub(crate) type Compiler<'a> = dyn Fn(&[OsString]) -> Result<Vec<OsString>, String> + 'a;

impl Linking<'_> {
    /// Links, where modules that are kept are of use; none where the command is like any other one.
    pub(crate) fn run(&self) -> Result<Option<ExitCode>, String> {
        let [passed, inputs] = &self.arguments.expanded;
        let mut words = passed.clone();
        words.extend(inputs.iter().map(|one| okl_inputs::plain(one)));
        let parts = arguments::parts(&words);
        if !self.links(&parts) {
            return Ok(None);
        }
        let all = okl_inputs::inputs(&parts, &[]);
        let is_open = Objects::read(&parts, &BTreeMap::new(), |at| is_source(&all[at])).has_open();
        let is_wanted = is_open || self.has_chains && is_link_time(&parts);
        if !is_wanted {
            return Ok(None);
        }
        let divides = all.iter().any(is_source);
        if all.iter().any(|input| input.name == "-") {
            // Standard input is read once.
            if is_open {
                eprintln!(
                    "{}: warning: loop chains stay as they are that call functions of other files, as a source is read from \
                     standard input: compile it by a command of its own",
                    self.language.driver
                );
            }
            return Ok(None);
        }
        let step = FrontStep::begin()?;
        let linked = self.link(&step, &parts, &all, divides);
        step.end();
        Ok(Some(linked?.map_or(ExitCode::SUCCESS, front_step::end_as)))
    }

    /// Whether a command makes a program or a shared library, and is no question.
    fn links(&self, parts: &[Part]) -> bool {
        self.arguments.stage >= Stage::Compile
            && options(parts).all(|(option, _)| {
                let text = option.to_str().unwrap_or_default();
                let ends = [PREPROCESSES, CHECKS, COMPILES].iter();
                !ends.into_iter().any(|one| is_one_of(one, text))
                    && !matches!(
                        text,
                        "-###" | "-r" | "-Wl,-r" | "-Wl,--relocatable" | "-Wl,-i"
                    )
            })
    }

    fn link(
        &self,
        step: &FrontStep,
        parts: &[Part],
        all: &[Input],
        divides: bool,
    ) -> Result<Option<Failure>, String> {
        let folder = step.folder();
        let mut made: BTreeMap<usize, PathBuf> = BTreeMap::new();
        if divides {
            let sources = all.iter().enumerate();
            for (at, input) in sources.filter(|(_, one)| is_source(one)) {
                let object = folder
                    .join(at.to_string())
                    .join(Path::new(input.name).file_stem().unwrap_or(input.name))
                    .with_added_extension("o");
                let place = object.parent().unwrap_or(folder);
                fs::create_dir_all(place).map_err(|error| cannot_write(place, &error))?;
                let words = self.compiles(parts, all, at, &object);
                let failed = Failure::of(self.run_driver(&words)?);
                if failed.is_some() || step.is_to_end() {
                    return Ok(failed);
                }
                made.insert(at, object);
            }
        }
        let found = Objects::read(parts, &made, |at| is_source(&all[at]));
        let changes_symbols = options(parts).any(|(option, value)| {
            let text = option.to_string_lossy();
            let words = match (text.strip_prefix("-Wl,"), value) {
                (Some(words), _) => words.to_string(),
                (None, Some(word)) if text == "-Xlinker" || text == "-z" => {
                    word.to_string_lossy().into_owned()
                }
                _ => String::new(),
            };
            let is_script = text.starts_with("-T");
            let mut words = words.split(',');
            is_script
                || words.any(|word| {
                    let name = word.trim_start_matches('-');
                    CHANGES_SYMBOLS.iter().any(|one| name.starts_with(one))
                })
        });
        let mut gone = BTreeSet::new();
        for (number, group) in found.groups(changes_symbols, alike).into_iter().enumerate() {
            let place = folder.join(format!("linked-{number}"));
            fs::create_dir_all(&place).map_err(|error| cannot_write(&place, &error))?;
            let Some(code) = merge(&place, &group)? else {
                continue;
            };
            if step.is_to_end() {
                return Ok(None);
            }
            let object = place.join("linked.o");
            let words = self.compiles_code(parts, &group, &code, &object);
            let failed = Failure::of(self.run_on_code(&words)?);
            if failed.is_some() || step.is_to_end() {
                return Ok(failed);
            }
            let mut inputs = group.iter().map(|one| one.input);
            if let Some(first) = inputs.next() {
                made.insert(first, object);
            }
            gone.extend(inputs);
        }
        let mut words: Vec<OsString> = Vec::new();
        if divides {
            // What is meant for the compiler.
            words.extend(self.language.headers.then(|| "-Qunused-arguments".into()));
        }
        words.extend(okl_inputs::compose(
            parts,
            all,
            |_| Keep::Yes,
            |at, input| match made.get(&at) {
                _ if gone.contains(&at) => None,
                Some(object) => Some(("none", object.clone().into_os_string())),
                None => Some((input.language, okl_inputs::plain(input.name))),
            },
        ));
        let command = (self.command)(&words)?;
        Ok(Failure::of(front_step::run(&command, None)?))
    }

    /// What a driver is told to compile a source to an object.
    fn compiles(
        &self,
        parts: &[Part],
        all: &[Input],
        source: usize,
        object: &Path,
    ) -> Vec<OsString> {
        let mut words = self.arguments.wishes.words();
        words.push("-c".into());
        words.extend(self.language.headers.then(|| "-Qunused-arguments".into()));
        let written = Dependencies::of(parts);
        let output = parts.iter().rev().find_map(okl_inputs::output);
        let keep = |part: &Part| match okl_inputs::output(part) {
            Some(_) => Keep::No,
            None => Keep::Yes,
        };
        words.extend(okl_inputs::compose(parts, all, keep, |at, input| {
            (at == source).then(|| (input.language, okl_inputs::plain(input.name)))
        }));
        words.extend(written.words(all[source].name, output));
        words.extend(["-o".into(), object.into()]);
        words
    }

    /// What a driver is told to compile modules that have become one.
    fn compiles_code(
        &self,
        parts: &[Part],
        group: &[&Found],
        code: &Path,
        object: &Path,
    ) -> Vec<OsString> {
        let calls = group.iter().find(|one| one.kept.is_open);
        let words = calls.map_or_else(Vec::new, |one| words_of(&one.kept));
        let level = group.iter().map(|one| level_of(&words_of(&one.kept)));
        let level = level.max_by_key(|level| rank(level));
        let mut all: Vec<OsString> = words;
        all.extend(level);
        if self.arguments.wishes.explain {
            all.push("--okl-explain".into());
        }
        let remarks = options(parts).filter(|(option, _)| okl_inputs::begins(option, &["-R"]));
        all.extend(remarks.map(|(option, _)| option.to_owned()));
        all.extend(["-Qunused-arguments", "-c", "-x", "ir"].map(OsString::from));
        all.extend([code.into(), "-o".into(), object.into()]);
        all
    }

    fn driver(language: &Language, words: &[OsString]) -> Result<Command, String> {
        let own = env::current_exe().map_err(|error| cannot_run(language, &error))?;
        let mut driver = Command::new(own);
        driver.arg0(language.driver).args(words);
        Ok(driver)
    }

    /// Compiles a source.
    fn run_driver(&self, words: &[OsString]) -> Result<ExitStatus, String> {
        let mut driver = Self::driver(self.language, words)?;
        driver
            .status()
            .map_err(|error| cannot_run(self.language, &error))
    }

    /// Compiles code. Of errors at places in files clang says something more then, which is none of the user's.
    fn run_on_code(&self, words: &[OsString]) -> Result<ExitStatus, String> {
        const MORE: &[u8] = b"error: cannot compile inline asm";
        let language = &LANGUAGES[0];
        let failed = |error: io::Error| cannot_run(language, &error);
        let mut words = words.to_vec();
        if io::stderr().is_terminal() {
            words.insert(0, "-fcolor-diagnostics".into());
        }
        let mut driver = Self::driver(language, &words)?;
        let mut driver = driver.stderr(Stdio::piped()).spawn().map_err(failed)?;
        if let Some(said) = driver.stderr.take() {
            let mut said = BufReader::new(said);
            let mut line = Vec::new();
            while said.read_until(b'\n', &mut line).map_err(failed)? > 0 {
                let plain: Vec<u8> = without_colours(&line);
                if plain.trim_ascii() != MORE {
                    io::stderr().write_all(&line).map_err(failed)?;
                }
                line.clear();
            }
        }
        driver.wait().map_err(failed)
    }
}

/// Puts the modules of a group into one file; none where they cannot be one, which is told.
fn merge(folder: &Path, group: &[&Found]) -> Result<Option<PathBuf>, String> {
    let mut files = Vec::new();
    for (number, one) in group.iter().enumerate() {
        let file = folder.join(format!("{number}.bc"));
        fs::write(&file, &one.kept.code).map_err(|error| cannot_write(&file, &error))?;
        files.push(file);
    }
    let [first, others @ ..] = &files[..] else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(Some(first.clone()));
    }
    let merged = folder.join("linked.bc");
    let (clang, mode) = installation::compiler(&LANGUAGES[0])?;
    let mut command = Command::new(&clang);
    command.args(mode).args(["-c", "-emit-llvm", "-O1", "-w"]);
    let words = words_of(&group[0].kept);
    command.args(
        words
            .iter()
            .filter(|word| okl_inputs::begins(word, &["--target=", "-m32"])),
    );
    command.args(["-Xclang", "-disable-llvm-passes", "-x", "ir"]);
    command.arg(first);
    for other in others {
        command.args(["-Xclang", "-mlink-bitcode-file", "-Xclang"]);
        command.arg(other);
    }
    let output = command.arg("-o").arg(&merged).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", clang.display()))?;
    if output.status.success() {
        return Ok(Some(merged));
    }
    let names: Vec<_> = group.iter().map(|one| one.name.as_str()).collect();
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().find_map(|line| line.split_once("error: "));
    let told = format!(
        "loop chains stay as they are that call functions of other files: {} cannot be one module: {}",
        names.join(", "),
        why.map_or("clang does not link them", |(_, why)| why)
    );
    let is_strict = |one: &&Found| {
        words_of(&one.kept)
            .iter()
            .any(|word| word == "--okl-strict")
    };
    if group.iter().any(is_strict) {
        return Err(told);
    }
    eprintln!("okl: warning: {told}");
    Ok(None)
}

/// The words of a module's options.
fn words_of(kept: &Kept) -> Vec<OsString> {
    arguments::tokens(kept.options.as_bytes())
}

/// Whether modules are compiled so that they may be one; where they are not the user is told.
fn alike(one: &Found, other: &Found) -> bool {
    let words = |kept: &Kept| {
        let mut all = words_of(kept);
        all.retain(|word| okl_inputs::begins(word, &ALIKE));
        all.sort();
        all.dedup();
        all
    };
    let [first, second] = [one, other].map(|one| words(&one.kept));
    let alone = |all: &[OsString], others: &[OsString]| {
        let alone = all.iter().filter(|word| !others.contains(word));
        command_line(alone.map(OsString::as_os_str))
    };
    if first != second {
        let [only, missing] = [alone(&first, &second), alone(&second, &first)];
        let with = |words: &str| match words {
            "" => "without".to_string(),
            words => format!("with {words}"),
        };
        eprintln!(
            "okl: warning: loop chains of {} do not see functions of {}: one is compiled {}, the other {}",
            one.name,
            other.name,
            with(&only),
            with(&missing)
        );
    }
    first == second
}

/// The last option about optimisation.
fn level_of(words: &[OsString]) -> OsString {
    let mut all = words.iter().rev();
    let level = all.find(|word| okl_inputs::begins(word, &["-O"]));
    level.cloned().unwrap_or_else(|| "-O0".into())
}

/// The less an option about optimisation says, the smaller.
fn rank(level: &OsStr) -> usize {
    const LEVELS: [&str; 8] = ["-O0", "-Og", "-O1", "-Oz", "-Os", "-O2", "-O3", "-O4"];
    // `-O` is `-O1`, and `-Ofast` is more than all.
    let place = LEVELS.iter().position(|one| level == *one);
    place.unwrap_or(if level == "-O" { 2 } else { LEVELS.len() })
}

/// A line without what has a terminal colour it.
fn without_colours(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut is_code = false;
    for &byte in line {
        match (byte, is_code) {
            (b'\x1b', _) => is_code = true,
            (b'm', true) => is_code = false,
            (_, true) => {}
            (byte, false) => plain.push(byte),
        }
    }
    plain
}

fn cannot_run(language: &Language, error: &io::Error) -> String {
    format!("cannot run {}: {error}", language.driver)
}

fn cannot_write(what: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", what.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(command: &str, language: &Language) -> Option<String> {
        let words = command.split_whitespace().map(OsString::from).collect();
        kept_words(&Arguments::read(words).unwrap(), language)
    }

    #[test]
    fn objects_keep_what_their_compiler_is_told_again() {
        let [c, _, fortran] = &LANGUAGES;
        for (command, words) in [
            (
                "-c -O3 -flto -Iinclude -DX -march=native -Wall -Wl,-x -w -mllvm -a -fuse-ld=lld -ofast a.c --okl-strict \
                 --okl-target=mpi",
                Some("--okl-target=mpi --okl-strict -O3 -flto -march=native -Wall -w -mllvm -a"),
            ),
            ("-c -flto=thin a.c", Some("-flto=thin")),
            ("-c -flto -fno-lto a.c", None),
            ("-c -flto -ffat-lto-objects a.c", None),
            ("-c -flto a.bc", None),
            ("-c -flto -x ir a", None),
            ("-S -flto a.c", None),
            ("-flto a.c", None),
            ("-O2 -c a.c", None),
        ] {
            assert_eq!(kept(command, c).as_deref(), words, "{command}");
        }
        let words = kept("-O2 -flto -fno-version-loops-for-stride -c a.f90", fortran);
        assert_eq!(words.as_deref(), Some("-O2 -flto"));
    }

    #[test]
    fn the_highest_level_counts() {
        let levels = ["-O0", "-O1", "-O", "-Os", "-O2", "-O3", "-Ofast"];
        let ranks = levels.map(|one| rank(OsStr::new(one)));
        assert!(ranks.is_sorted(), "{ranks:?}");
        let words = ["-O3", "-x", "-O1"].map(OsString::from);
        assert_eq!(level_of(&words), "-O1");
        assert_eq!(level_of(&[]), "-O0");
    }

    #[test]
    fn colours_are_no_part_of_a_line() {
        assert_eq!(
            without_colours(b"\x1b[0;1;31merror: \x1b[0mwhy\n"),
            b"error: why\n"
        );
    }
}
