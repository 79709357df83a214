//! Commands with inputs that are OKL or have loop chains, as the commands that are run in their place.
//!
//! Each such input is preprocessed and rewritten by itself. Then the user's command is run with the result at
//! the input's place: preprocessed C or C++ whose name has the same stem, between options `-x`, so that the names
//! of objects, the order in which files are linked and what other options mean stay as they are.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::arguments::{CHECKS, COMPILES, Part, Stage, is_okl, is_one_of};
use crate::installation::IMPLICIT;
use crate::loop_chains::Dialect;

/// Between these clang does not mind options that it has no use for.
const UNUSED: [&str; 2] = ["--start-no-unused-arguments", "--end-no-unused-arguments"];

/// What is read before each OKL input: see `runtime-shims/okl/include`.
const READ_BEFORE: [&str; 2] = ["-include", IMPLICIT];
/// How an input is preprocessed: with the definitions, which pragmas may need. Of options that there is no
/// use for, or that clang does not know, it tells when it compiles.
const PREPROCESS: [&str; 3] = ["-E", "-dD", "-Qunused-arguments"];
const PREPROCESS_LAST: [&str; 2] = ["-Wno-unknown-warning-option", "-x"];
/// Options about what the preprocessor prints, and about what later stages write.
const OF_OUTPUT: &str =
    " -C -CC -P -dD -dI -dM -dN -dU -MJ -mllvm -save-temps --save-temps -ftime-trace ";
const OF_OUTPUT_WITH: [&str; 3] = ["-save-temps=", "--save-temps=", "-ftime-trace="];
/// How options begin that clang has no use for where the text is preprocessed already.
pub(crate) const OF_PREPROCESSOR: [&str; 19] = [
    "-C",
    "-F",
    "-H",
    "-I",
    "-M",
    "-P",
    "-U",
    "-Wp,",
    "-Xpreprocessor",
    "-cxx-isystem",
    "-fcoverage-prefix-map=",
    "-fmacro-prefix-map=",
    "-i",
    "-nostdinc",
    "-nostdlibinc",
    "-stdlib++-isystem",
    "-stdlib=",
    "--embed-dir",
    "--include",
];
const WRITES_DEPENDENCIES: &str = " -MD -MMD --write-dependencies --write-user-dependencies ";
/// What the compiler proper does in place of what it is there for, and what it loads.
const PROPER_ACTIONS: [&str; 6] = [
    "-analyze",
    "-ast-",
    "-dump-",
    "-emit-",
    "-fsyntax-only",
    "-S",
];
const PROPER_WITH_VALUE: &str = " -mllvm -load -plugin -add-plugin ";

/// An input that is rewritten.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// As the user names it.
    pub(crate) name: OsString,
    /// What is rewritten.
    pub(crate) kind: Kind,
    /// What the preprocessor is told, its input and output included.
    pub(crate) preprocess: Vec<OsString>,
    /// What it writes.
    pub(crate) preprocessed: PathBuf,
    /// What it becomes.
    pub(crate) file: PathBuf,
}

/// What is rewritten in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// OKL.
    Okl,
    /// Loop chains in C or C++.
    Chains(Dialect),
}

/// A command in the user's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// How far it goes.
    pub(crate) stage: Stage,
    /// Options and inputs.
    pub(crate) words: Vec<OsString>,
}

/// What is run in place of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// What is preprocessed and normalised before.
    pub(crate) sources: Vec<Source>,
    /// What is run then.
    pub(crate) commands: Vec<Step>,
    /// The file that is written, if the command says it.
    pub(crate) output: Option<OsString>,
    /// Where files between stages are kept, if the command asks for them.
    pub(crate) kept_in: Option<PathBuf>,
}

/// An input of the user's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) name: &'a OsStr,
    /// As the command names it.
    pub(crate) language: &'a str,
    /// What is rewritten in it, if anything is.
    kind: Option<Kind>,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Yes,
    /// But clang is not to mind that it has no use for it.
    Quietly,
    No,
}

/// What is run in place of a command with inputs that are rewritten, whose texts go below `folder`: OKL, and those that
/// `chains` names.
pub(crate) fn steps(
    parts: &[Part],
    chains: &[(OsString, Dialect)],
    stage: Stage,
    folder: &Path,
) -> Steps {
    let output = parts.iter().rev().find_map(output);
    let mut steps = Steps {
        output: output.map(OsStr::to_owned),
        kept_in: kept_in(parts, output),
        ..Steps::default()
    };
    let inputs = inputs(parts, chains);
    match stage {
        Stage::Itself | Stage::Preprocess => {
            let okl = |_, input: Input| input.is_okl().then(|| ("c++", plain(input.name)));
            let mut words: Vec<OsString> = READ_BEFORE.map(Into::into).into();
            words.extend(compose(parts, &inputs, |_| Keep::Yes, okl));
            steps.commands.push(Step { stage, words });
        }
        Stage::Check => {
            steps.sources = sources(parts, &inputs, output, folder);
            let rewritten = (0..inputs.len()).filter(|at| inputs[*at].kind.is_some());
            let okl = steps.sources.iter().zip(rewritten);
            for (source, place) in okl.filter(|one| one.0.kind == Kind::Okl) {
                // Where clang only checks it does not call the plugin. What it writes here goes nowhere.
                let mut words: Vec<OsString> = ["-S", "-emit-llvm", "-o", "/dev/null"]
                    .map(Into::into)
                    .into();
                words.extend(compose(parts, &inputs, checked, |at, _| {
                    (at == place).then(|| source.text())
                }));
                steps.commands.push(Step {
                    stage: Stage::Compile,
                    words,
                });
            }
        }
        Stage::Compile | Stage::Link => {
            steps.sources = sources(parts, &inputs, output, folder);
            let words = compose(parts, &inputs, compiled, replaced(&inputs, &steps.sources));
            steps.commands.push(Step { stage, words });
        }
    }
    if stage <= Stage::Check && inputs.iter().any(|input| !input.is_okl()) {
        let keep = |part: &Part| match steps.sources.is_empty() {
            true => Keep::Yes,
            false => compiled(part),
        };
        let replaced = replaced(&inputs, &steps.sources);
        let words = compose(parts, &inputs, keep, |at, input| match input.is_okl() {
            true => None,
            false => replaced(at, input),
        });
        steps.commands.push(Step { stage, words });
    }
    steps
}

/// What the compiler gets for an input: its text, or itself.
fn replaced<'a>(
    inputs: &[Input<'a>],
    sources: &[Source],
) -> impl Fn(usize, Input<'a>) -> Option<(&'a str, OsString)> {
    let mut texts = sources.iter().map(Source::text);
    let texts: Vec<_> = inputs
        .iter()
        .map(|input| input.kind.and_then(|_| texts.next()))
        .collect();
    move |at, input| Some(texts[at].clone().unwrap_or_else(|| input.itself()))
}

impl Kind {
    /// The language, and what its extension is once it is preprocessed.
    fn language(self) -> (&'static str, &'static str) {
        match self {
            Kind::Chains(Dialect::C) => ("c", "i"),
            Kind::Okl | Kind::Chains(Dialect::Cpp) => ("c++", "ii"),
        }
    }
}

impl Source {
    /// What the compiler gets: a language, and a file.
    fn text(&self) -> (&'static str, OsString) {
        let language = match self.kind {
            Kind::Chains(Dialect::C) => "cpp-output",
            Kind::Okl | Kind::Chains(Dialect::Cpp) => "c++-cpp-output",
        };
        (language, self.file.clone().into_os_string())
    }
}

impl<'a> Input<'a> {
    fn is_okl(self) -> bool {
        self.kind == Some(Kind::Okl)
    }

    fn itself(self) -> (&'a str, OsString) {
        (self.language, plain(self.name))
    }
}

/// The inputs of a command, in their order.
pub(crate) fn inputs<'a>(parts: &[Part<'a>], chains: &[(OsString, Dialect)]) -> Vec<Input<'a>> {
    let mut language = "none";
    let mut inputs = Vec::new();
    for part in parts {
        match *part {
            Part::Language(named) => language = named,
            Part::Input(name) => {
                let chains = chains.iter().find(|one| one.0 == name);
                let chains = chains.map(|one| Kind::Chains(one.1));
                let okl = is_okl(name, language).then_some(Kind::Okl);
                inputs.push(Input {
                    name,
                    language,
                    kind: okl.or(chains),
                });
            }
            Part::Option(..) => {}
        }
    }
    inputs
}

/// The words of a command: options as `keep` says, and for the input of a number what `replace` says, with its
/// language.
pub(crate) fn compose<'a>(
    parts: &[Part<'a>],
    inputs: &[Input<'a>],
    keep: impl Fn(&Part<'a>) -> Keep,
    mut replace: impl FnMut(usize, Input<'a>) -> Option<(&'a str, OsString)>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut inputs = inputs.iter().copied().enumerate();
    let mut in_force = "none";
    let mut quiet = false;
    for part in parts {
        let kept = keep(part);
        if quiet != (kept == Keep::Quietly) && kept != Keep::No {
            words.push(UNUSED[usize::from(quiet)].into());
            quiet = !quiet;
        }
        match part {
            Part::Option(option, value) if kept != Keep::No => {
                words.push((*option).to_owned());
                words.extend(value.map(OsStr::to_owned));
            }
            Part::Option(..) | Part::Language(_) => {}
            Part::Input(_) => {
                let replaced = inputs.next().and_then(|(at, input)| replace(at, input));
                let Some((language, input)) = replaced else {
                    continue;
                };
                if language != in_force {
                    words.extend(["-x".into(), language.into()]);
                    in_force = language;
                }
                words.push(input);
            }
        }
    }
    words.extend(quiet.then(|| UNUSED[1].into()));
    words
}

/// What becomes of the options of a command that compiles.
fn compiled(part: &Part) -> Keep {
    let Part::Option(option, _) = part else {
        return Keep::Yes;
    };
    let is_for_preprocessor = OF_PREPROCESSOR
        .iter()
        .any(|one| option.as_bytes().starts_with(one.as_bytes()));
    if is_for_preprocessor {
        Keep::Quietly
    } else {
        Keep::Yes
    }
}

/// What becomes of the options of a command that checks.
fn checked(part: &Part) -> Keep {
    match part {
        Part::Option(option, _) if is(CHECKS, option) || is(COMPILES, option) => Keep::No,
        part if output(part).is_some() => Keep::No,
        part => compiled(part),
    }
}

/// The inputs that are rewritten, and how each is preprocessed.
fn sources(parts: &[Part], inputs: &[Input], output: Option<&OsStr>, folder: &Path) -> Vec<Source> {
    // The value of an option of the compiler proper comes with an `-Xclang` of its own.
    let drops_value = Cell::new(false);
    let keep = |part: &Part| {
        let Part::Option(option, value) = part else {
            return Keep::Yes;
        };
        if let (Some("-Xclang"), Some(value)) = (option.to_str(), value) {
            let is_dropped = drops_value.get()
                || is(PROPER_WITH_VALUE, value)
                || value.as_bytes().starts_with(b"-plugin-arg-")
                || begins(value, &PROPER_ACTIONS);
            let has_value =
                is(PROPER_WITH_VALUE, value) || value.as_bytes().starts_with(b"-plugin-arg-");
            drops_value.set(has_value && !drops_value.get());
            return if is_dropped { Keep::No } else { Keep::Yes };
        }
        let is_dropped = is(OF_OUTPUT, option)
            || begins(option, &OF_OUTPUT_WITH)
            || is(CHECKS, option)
            || is(COMPILES, option)
            || self::output(part).is_some();
        if is_dropped { Keep::No } else { Keep::Yes }
    };
    let options = compose(parts, inputs, keep, |_, _| None);
    let written = Dependencies::of(parts);
    let source = |(at, (kind, input)): (usize, (Kind, &Input))| {
        let (language, extension) = kind.language();
        let mut preprocess: Vec<OsString> = Vec::new();
        if kind == Kind::Okl {
            preprocess.extend(READ_BEFORE.map(OsString::from));
        }
        preprocess.extend(PREPROCESS.map(OsString::from));
        preprocess.extend_from_slice(&options);
        preprocess.extend(written.words(input.name, output));
        preprocess.extend(PREPROCESS_LAST.map(OsString::from));
        preprocess.push(language.into());
        let mut file = Path::new(input.name)
            .file_stem()
            .unwrap_or(input.name)
            .to_owned();
        file.push(".");
        file.push(extension);
        let file = folder.join(at.to_string()).join(file);
        let preprocessed = match kind {
            Kind::Okl => file.with_extension("i"),
            Kind::Chains(_) => file.with_extension(format!("E.{extension}")),
        };
        preprocess.extend([plain(input.name), "-o".into(), preprocessed.clone().into()]);
        Source {
            name: input.name.to_owned(),
            kind,
            preprocess,
            preprocessed,
            file,
        }
    };
    let rewritten = inputs.iter().filter_map(|input| Some((input.kind?, input)));
    rewritten.enumerate().map(source).collect()
}

/// What a command says of the file of dependencies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dependencies {
    is_written: bool,
    has_file: bool,
    has_target: bool,
}

impl Dependencies {
    pub(crate) fn of(parts: &[Part]) -> Dependencies {
        let mut found = Dependencies::default();
        for part in parts {
            let Part::Option(option, _) = part else {
                continue;
            };
            let text = option.to_string_lossy();
            found.is_written |= is(WRITES_DEPENDENCIES, option);
            found.has_file |= text.starts_with("-MF");
            found.has_target |= text.starts_with("-MT") || text.starts_with("-MQ");
            if let Some(file) = ["-Wp,-MD", "-Wp,-MMD"]
                .iter()
                .find_map(|one| text.strip_prefix(one))
            {
                found.is_written = true;
                found.has_file |= !file.is_empty();
            }
        }
        found
    }

    /// The file and the target that clang chooses, where the command does not say them.
    pub(crate) fn words(self, input: &OsStr, output: Option<&OsStr>) -> Vec<OsString> {
        let mut words = Vec::new();
        let in_this_folder = Path::new(input).file_name().unwrap_or(input);
        if self.is_written && !self.has_file {
            words.extend([
                "-MF".into(),
                with_extension(output.unwrap_or(in_this_folder), "d"),
            ]);
        }
        if self.is_written && !self.has_target {
            let object = || with_extension(in_this_folder, "o");
            words.extend(["-MQ".into(), output.map_or_else(object, OsStr::to_owned)]);
        }
        words
    }
}

/// The name with another extension, as clang sees it: what begins with the last dot of the file's name.
fn with_extension(name: &OsStr, extension: &str) -> OsString {
    let bytes = name.as_bytes();
    let file = bytes
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    let dot = bytes[file..].iter().rposition(|byte| *byte == b'.');
    let mut named = bytes[..dot.map_or(bytes.len(), |dot| file + dot)].to_vec();
    named.push(b'.');
    named.extend(extension.as_bytes());
    OsString::from_vec(named)
}

/// The file that the option says is to be written.
pub(crate) fn output<'a>(part: &Part<'a>) -> Option<&'a OsStr> {
    let Part::Option(option, value) = part else {
        return None;
    };
    match option.as_bytes() {
        b"-o" | b"--output" => *value,
        option => [&b"--output="[..], b"-o"]
            .into_iter()
            .find_map(|one| option.strip_prefix(one))
            .map(OsStr::from_bytes),
    }
}

/// Where `-save-temps` has the compiler keep files.
fn kept_in(parts: &[Part], output: Option<&OsStr>) -> Option<PathBuf> {
    let option = parts.iter().rev().find_map(|part| match part {
        Part::Option(option, _) => option
            .to_str()?
            .trim_start_matches('-')
            .strip_prefix("save-temps"),
        _ => None,
    })?;
    match option {
        "=obj" => Some(
            Path::new(output.unwrap_or_default())
                .parent()
                .unwrap_or(Path::new(""))
                .to_owned(),
        ),
        _ => Some(PathBuf::new()),
    }
}

/// An input that does not look like an option.
pub(crate) fn plain(input: &OsStr) -> OsString {
    let bytes = input.as_bytes();
    if bytes.starts_with(b"@") || bytes.starts_with(b"-") && bytes != b"-" {
        Path::new(".").join(input).into()
    } else {
        input.to_owned()
    }
}

pub(crate) fn is(words: &str, option: &OsStr) -> bool {
    is_one_of(words, option.to_str().unwrap_or_default())
}

pub(crate) fn begins(option: &OsStr, with: &[&str]) -> bool {
    with.iter()
        .any(|one| option.as_bytes().starts_with(one.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{self, Arguments};

    fn read(command: &str) -> Steps {
        let words: Vec<OsString> = command.split_whitespace().map(Into::into).collect();
        let stage = Arguments::read(words.clone()).unwrap().stage;
        steps(&arguments::parts(&words), &[], stage, Path::new("T"))
    }

    fn joined(words: &[OsString]) -> String {
        words.join(OsStr::new(" ")).into_string().unwrap()
    }

    /// What is run, a command in a line; without what is told about every text before its options and behind.
    fn shown(command: &str) -> Vec<String> {
        let steps = read(command);
        let sources = steps.sources.iter().map(|source| {
            let text = joined(&source.preprocess);
            let text = text.strip_prefix("-include okl_implicit.hpp -E -dD -Qunused-arguments");
            let text = text.unwrap().replace(" -Wno-unknown-warning-option", "");
            let (text, output) = text.rsplit_once(" -o ").unwrap();
            assert_eq!(output, source.preprocessed.to_str().unwrap());
            format!("{}:{text}", source.file.display())
        });
        let commands = steps.commands.iter().map(|step| joined(&step.words));
        sources.chain(commands).collect()
    }

    #[test]
    fn texts_take_the_places_of_inputs() {
        for (command, run) in [
            (
                "-O3 app.cpp x/kernels.okl -lm -o app",
                vec![
                    "T/0/kernels.ii: -O3 -lm -x c++ x/kernels.okl",
                    "-O3 app.cpp -x c++-cpp-output T/0/kernels.ii -lm -o app",
                ],
            ),
            (
                "-c a.okl b.c c.okl",
                vec![
                    "T/0/a.ii: -x c++ a.okl",
                    "T/1/c.ii: -x c++ c.okl",
                    "-c -x c++-cpp-output T/0/a.ii -x none b.c -x c++-cpp-output T/1/c.ii",
                ],
            ),
            (
                "-S -x okl a.b.cpp - -x c d -xnone e.okl",
                vec![
                    "T/0/a.b.ii: -x c++ a.b.cpp",
                    "T/1/-.ii: -x c++ -",
                    "T/2/e.ii: -x c++ e.okl",
                    "-S -x c++-cpp-output T/0/a.b.ii T/1/-.ii -x c d -x c++-cpp-output T/2/e.ii",
                ],
            ),
            (
                "-c -- -a.okl @b.cpp",
                vec![
                    "T/0/-a.ii: -x c++ ./-a.okl",
                    "-c -x c++-cpp-output T/0/-a.ii -x none ./@b.cpp",
                ],
            ),
        ] {
            assert_eq!(shown(command), run, "{command}");
        }
    }

    #[test]
    fn options_go_where_they_are_for() {
        for (command, run) in [
            (
                "-c -I. -DX -save-temps=obj -Iy -std=c++20 -mllvm -x -dM a.okl -P -Xlinker z",
                vec![
                    "T/0/a.ii: -I. -DX -Iy -std=c++20 -Xlinker z -x c++ a.okl",
                    "-c --start-no-unused-arguments -I. --end-no-unused-arguments -DX -save-temps=obj \
                     --start-no-unused-arguments -Iy --end-no-unused-arguments -std=c++20 -mllvm -x -dM \
                     -x c++-cpp-output T/0/a.ii --start-no-unused-arguments -P --end-no-unused-arguments \
                     -Xlinker z",
                ],
            ),
            (
                "-c -Xclang -include -Xclang x.h -Xclang -mllvm -Xclang -y -Xclang -ast-dump -Xclang -add-plugin \
                 -Xclang z -Xclang -DX a.okl",
                vec![
                    "T/0/a.ii: -Xclang -include -Xclang x.h -Xclang -DX -x c++ a.okl",
                    "-c -Xclang -include -Xclang x.h -Xclang -mllvm -Xclang -y -Xclang -ast-dump -Xclang \
                     -add-plugin -Xclang z -Xclang -DX -x c++-cpp-output T/0/a.ii",
                ],
            ),
        ] {
            assert_eq!(shown(command), run, "{command}");
        }
    }

    #[test]
    fn checks_go_on_to_the_plugin() {
        assert_eq!(
            shown("-fsyntax-only -c -O2 a.okl b.cpp -o c d.okl"),
            [
                "T/0/a.ii: -O2 -x c++ a.okl",
                "T/1/d.ii: -O2 -x c++ d.okl",
                "-S -emit-llvm -o /dev/null -O2 -x c++-cpp-output T/0/a.ii",
                "-S -emit-llvm -o /dev/null -O2 -x c++-cpp-output T/1/d.ii",
                "-fsyntax-only -c -O2 b.cpp -o c",
            ]
        );
        let stages = read("-fsyntax-only a.okl b.cpp").commands;
        let stages: Vec<_> = stages.iter().map(|step| step.stage).collect();
        assert_eq!(stages, [Stage::Compile, Stage::Check]);
    }

    #[test]
    fn preprocessing_is_left_to_clang() {
        assert_eq!(
            shown("-E -x okl a -o b -dM"),
            ["-include okl_implicit.hpp -E -x c++ a -o b -dM"]
        );
        assert_eq!(
            shown("-MM b.cpp a.okl"),
            ["-include okl_implicit.hpp -MM -x c++ a.okl", "-MM b.cpp"]
        );
    }

    #[test]
    fn dependencies_go_where_clang_writes_them() {
        for (command, words) in [
            ("-c a.okl", ""),
            ("-MF x -c a.okl", "-MF x "),
            ("-c x/a.b.okl -MD", "-MD -MF a.b.d -MQ a.b.o "),
            ("-c a.okl -MMD -o x.y/.z", "-MMD -MF x.y/.d -MQ x.y/.z "),
            ("-c a.okl -MMD -o x.y/z", "-MMD -MF x.y/z.d -MQ x.y/z "),
            ("-S a.okl -MMD -ox/a.s", "-MMD -MF x/a.d -MQ x/a.s "),
            ("-c a.okl -MD -MF b", "-MD -MF b -MQ a.o "),
            ("-c a.okl -MD -MTb", "-MD -MTb -MF a.d "),
            ("-c a.okl -Wp,-MD,b", "-Wp,-MD,b -MQ a.o "),
            ("-c a.okl -Wp,-MMD", "-Wp,-MMD -MF a.d -MQ a.o "),
            ("-MD a.okl -o app", "-MD -MF app.d -MQ app "),
        ] {
            let words = format!(": {words}-x c++ ");
            assert!(shown(command)[0].contains(&words), "{command}: {words}");
        }
    }

    #[test]
    fn tells_what_is_written_and_kept() {
        let output = |command| read(command).output;
        assert_eq!(output("-o a b.okl -oc"), Some("c".into()));
        assert_eq!(output("--output=a b.okl"), Some("a".into()));
        assert_eq!(output("a.okl"), None);
        let kept_in = |command| read(command).kept_in;
        assert_eq!(kept_in("-save-temps=obj -o a/b c.okl"), Some("a".into()));
        assert_eq!(kept_in("--save-temps -o a/b c.okl"), Some("".into()));
        assert_eq!(kept_in("-c c.okl"), None);
    }
}
