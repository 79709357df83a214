//! What a command asks for: how far the compiler goes, what is meant for okl, and the rest, which is
//! handed on as it is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::tune;

/// The options of the drivers, and what each is for.
pub const OPTIONS: [(&str, &str); 19] = [
    (
        "--okl-target=mpi|cpu|[mpi+]cuda|[mpi+]hip|[mpi+]spirv[,cpu]",
        "where parallel regions and kernels go",
    ),
    ("--okl-strict", "what would run on rank 0 alone is an error"),
    (
        "--okl-fuse",
        "parallel loops that follow each other run as one where that is proved to be right",
    ),
    (
        "--okl-jit",
        "OP2's loops are compiled once more while the program runs, for what is known then",
    ),
    (
        "--okl-plugin=FILE",
        "a library of the user's that knows of more parallel loops",
    ),
    (
        "--okl-libdevice=FILE|FOLDER|none",
        "NVIDIA's mathematical functions for CUDA devices, or the CUDA toolkit that has them",
    ),
    (
        "--okl-explain[=FILE]",
        "tells what costs time, and what to change; with what a run cost, as OKL_STATS=FILE.json wrote it",
    ),
    (
        "--okl-schedules=FILE",
        "loop chains with schedule(auto) run as the file says",
    ),
    (
        "--okl-tune=COMMAND",
        "finds the fastest schedules of the loop chains of the program that the command runs",
    ),
    (
        "--okl-tune-build=COMMAND",
        "what builds the program, in place of this command",
    ),
    (
        "--okl-tune-program=FILE",
        "what that makes, where the command that runs it does not name it",
    ),
    (
        "--okl-tune-measure=TEXT",
        "the number that the program prints behind the text is to be small, in place of its time",
    ),
    ("--okl-tune-runs=N", "how often each program runs"),
    (
        "--okl-tune-limit=SECONDS",
        "ends the search then, with the best so far",
    ),
    (
        "--okl-tune-ignore-output",
        "the program may print something else each time",
    ),
    ("--okl-show", "prints the command in place of running it"),
    (
        "--okl-normalize",
        "prints an OKL file as C++ in place of compiling it",
    ),
    (
        "--okl-occa",
        "kernels of OKL files are what OCCA's host programs load",
    ),
    ("--okl-version", "prints versions and places"),
];
const PREFIX: &str = "--okl-";
/// Behind `hip:` there may be a processor, which the plugin knows.
const TARGETS: [&str; 5] = ["mpi", "cpu", "cuda", "hip", "spirv"];

/// What is meant for okl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Where parallel regions go, if the command says it.
    pub target: Option<String>,
    /// Declines are errors.
    pub strict: bool,
    /// Whether parallel loops that follow each other may run as one.
    pub fuse: bool,
    /// Code of loops is embedded for versions that are made at run time.
    pub jit: bool,
    /// The libraries that know of more parallel loops.
    pub plugins: Vec<PathBuf>,
    /// Where libdevice is, if the command says it.
    pub libdevice: Option<String>,
    /// The remarks are explained.
    pub explain: bool,
    /// With what a run of the program told.
    pub measured: Option<PathBuf>,
    /// The file of schedules, if the command says it.
    pub schedules: Option<PathBuf>,
    /// How schedules are to be found.
    pub tune: tune::Asked,
    /// The command is printed.
    pub show: bool,
    /// An OKL file is printed as C++.
    pub normalize: bool,
    /// Kernels can be called by OCCA.
    pub occa: bool,
    /// Versions are printed.
    pub version: bool,
}

/// How far the compiler goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The compiler proper is called itself: nothing may be added.
    Itself,
    /// The text is preprocessed, or what it depends on is listed.
    Preprocess,
    /// The text is checked, and nothing is optimised.
    Check,
    /// To an object or before it.
    Compile,
    /// To a program or a shared library.
    Link,
}

/// A command.
#[derive(Debug)]
pub struct Arguments {
    /// What the compiler gets.
    pub passed: Vec<OsString>,
    /// What it gets behind `--`: nothing but inputs.
    pub inputs: Vec<OsString>,
    /// What okl gets.
    pub wishes: Wishes,
    /// How far the compiler goes.
    pub stage: Stage,
    /// The inputs that are OKL.
    pub okl: Vec<OsString>,
    /// All inputs, and the languages that are named for them.
    pub sources: Vec<(OsString, String)>,
    /// Where the program's own headers are looked for.
    pub folders: Vec<PathBuf>,
    /// The files that are read before each input.
    pub included: Vec<PathBuf>,
    /// Whether a precompiled header is named.
    pub has_precompiled: bool,
    /// `passed` and `inputs` with what is in response files.
    pub expanded: [Vec<OsString>; 2],
    /// Whether the plugin is named already.
    pub has_plugin: bool,
    /// Whether the compiler optimises.
    pub optimises: bool,
    /// Whether the compiler is to write its own record of remarks.
    pub records: bool,
}

/// Options whose value is the next word; so that it is not taken for an input.
const WITH_VALUE: &str = " -A -B -D -F -G -I -L -MF -MJ -MQ -MT -T -U -V -Xanalyzer -Xassembler -Xclang \
    -Xclangas -Xcuda-fatbinary -Xcuda-ptxas -Xflang -Xlinker -Xopenmp-target -Xpreprocessor \
    -allowable_client -arch -b -ccc-gcc-name -ccc-install-dir -client_name -compatibility_version \
    -current_version -cxx-isystem -dependency-dot -dependency-file -dumpdir -dylib_file -e \
    -exported_symbols_list -fmodules-user-build-path -framework -gen-cdb-fragment-path -idirafter \
    -iframework -iframeworkwithsysroot -imacros -image_base -imultilib -include -include-pch -init \
    -install_name -iprefix -iquote -isysroot -isystem -isystem-after -ivfsoverlay -iwithprefix \
    -iwithprefixbefore -iwithsysroot -J -l -meabi -mllvm -mmlir -module-dependency-dir -mthread-model \
    -o -resource-dir -rpath -serialize-diagnostics -stdlib++-isystem -target -u -vfsoverlay \
    -working-directory -x -y -z --analyzer-output --assert --config --define-macro --for-assembler \
    --for-linker --force-link --imacros --include --include-directory --include-directory-after \
    --include-prefix --include-with-prefix --include-with-prefix-after --include-with-prefix-before \
    --language --library-directory --linker-option --output --param --prefix --sysroot \
    --system-header-prefix --undefine-macro ";

/// Options that end at a stage; the earliest counts.
pub(crate) const PREPROCESSES: &str = " -E --preprocess -M --dependencies -MM --user-dependencies \
    --driver-mode=cpp ";
pub(crate) const CHECKS: &str = " -fsyntax-only ";
pub(crate) const COMPILES: &str = " -c --compile -S --assemble --analyze --precompile -emit-ast -emit-pch \
    -emit-interface-stubs -verify-pch -rewrite-objc -extract-api ";
/// Where the program's own headers are looked for.
const FOLDERS: &str = " -I -iquote --include-directory ";
/// With these, the linker makes something that shared libraries have no place in.
const LINKS_ALONE: &str = " -r -static --static -static-pie -Wl,-r -Wl,--relocatable -Wl,-i ";
const RECORDS: [&str; 2] = ["-fsave-optimization-record", "-foptimization-record-file"];
const HEADERS: &str = " h hh hp hpp hxx h++ H tcc pch gch pcm ";

/// What some words of a command are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// An option, and its value where that is the next word.
    Option(&'a OsStr, Option<&'a OsStr>),
    /// The language of the inputs behind it, from an option.
    Language(&'a str),
    /// A file, or `-`.
    Input(&'a OsStr),
}

/// The parts of a command, in their order. Behind `--` there are but inputs.
pub(crate) fn parts(words: &[OsString]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut words = words.iter().map(OsString::as_os_str);
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        parts.push(if text == "--" {
            parts.extend(words.by_ref().map(Part::Input));
            break;
        } else if is_one_of(WITH_VALUE, text) {
            let value = words.next();
            match value.and_then(OsStr::to_str) {
                Some(language) if matches!(text, "-x" | "--language") => Part::Language(language),
                _ => Part::Option(word, value),
            }
        } else if let Some(language) = text.strip_prefix("-x") {
            Part::Language(language)
        } else if let Some(language) = text.strip_prefix("--language=") {
            Part::Language(language)
        } else if word.as_bytes().starts_with(b"-") && text != "-" {
            Part::Option(word, None)
        } else {
            Part::Input(word)
        });
    }
    parts
}

/// Whether the next word is an option's value.
pub(crate) fn has_value(option: &OsStr) -> bool {
    is_one_of(WITH_VALUE, option.to_str().unwrap_or_default())
}

/// A set of words, as text with a space on either side of each.
pub(crate) fn is_one_of(words: &str, word: &str) -> bool {
    !word.is_empty() && words.contains(&format!(" {word} "))
}

impl Arguments {
    /// Reads a command without the program's own name.
    pub fn read(words: Vec<OsString>) -> Result<Arguments, String> {
        if words
            .first()
            .is_some_and(|first| first.as_bytes().starts_with(b"-cc1"))
        {
            return Ok(Arguments {
                stage: Stage::Itself,
                ..Self::of_words(words, Vec::new())
            });
        }
        // What is meant for okl must not reach the compiler, and cannot be taken out of a file.
        let expanded = expand(&words, 0);
        let is_ours = |word: &OsString| word.as_bytes().starts_with(PREFIX.as_bytes());
        let in_files = expanded.iter().filter(|one| is_ours(one)).count()
            > words.iter().filter(|one| is_ours(one)).count();
        let passed = if in_files { expanded.clone() } else { words };
        let mut read = Self::of_words(Vec::new(), passed);
        read.scan(&expanded)?;
        read.wishes.check_target()?;
        // Where the compiler gets other files in place of some.
        let all = Self::of_words(Vec::new(), expanded);
        read.expanded = [all.passed, all.inputs];
        if !read.okl.is_empty() {
            [read.passed, read.inputs] = read.expanded.clone();
        }
        Ok(read)
    }

    fn of_words(passed: Vec<OsString>, all: Vec<OsString>) -> Arguments {
        let mut read = Arguments {
            passed,
            inputs: Vec::new(),
            wishes: Wishes::default(),
            stage: Stage::Compile,
            okl: Vec::new(),
            sources: Vec::new(),
            folders: Vec::new(),
            included: Vec::new(),
            has_precompiled: false,
            expanded: Default::default(),
            has_plugin: false,
            optimises: false,
            records: false,
        };
        let mut value = false;
        let mut words = all.into_iter();
        for word in words.by_ref() {
            let text = word.to_string_lossy();
            if !value && text == "--" {
                break;
            }
            let ours = !value && text.starts_with(PREFIX);
            value = !value && is_one_of(WITH_VALUE, &text);
            if !ours {
                read.passed.push(word);
            }
        }
        read.inputs.extend(words);
        read
    }

    /// Looks at all words, those of response files among them.
    fn scan(&mut self, words: &[OsString]) -> Result<(), String> {
        let mut stage = Stage::Link;
        let mut alone = false;
        let mut language = "";
        let mut links_something = false;
        for part in parts(words) {
            let (word, value) = match part {
                Part::Language(named) => {
                    language = named;
                    continue;
                }
                Part::Input(input) => {
                    links_something |= is_linked(Path::new(input), language);
                    self.sources.push((input.to_owned(), language.to_owned()));
                    self.okl
                        .extend(is_okl(input, language).then(|| input.to_owned()));
                    continue;
                }
                Part::Option(word, value) => (word.to_string_lossy(), value),
            };
            let text = word.as_ref();
            match value {
                Some(folder) if is_one_of(FOLDERS, text) => self.folders.push(folder.into()),
                Some(file) if is_one_of(" -include --include ", text) => {
                    self.included.push(file.into());
                }
                Some(_) if text == "-include-pch" => self.has_precompiled = true,
                None => {
                    let folder = ["-I", "-iquote", "--include-directory="];
                    let folder = folder.iter().find_map(|one| text.strip_prefix(one));
                    self.folders.extend(folder.map(PathBuf::from));
                }
                _ => {}
            }
            if let Some(wish) = text.strip_prefix(PREFIX) {
                self.wishes.read(wish)?;
            } else if value.is_some() {
                links_something |= is_one_of(" -l -Xlinker --for-linker --linker-option ", text);
            } else if is_one_of(PREPROCESSES, text) {
                stage = stage.min(Stage::Preprocess);
            } else if is_one_of(CHECKS, text) {
                stage = stage.min(Stage::Check);
            } else if is_one_of(COMPILES, text) {
                stage = stage.min(Stage::Compile);
            } else if is_one_of(LINKS_ALONE, text) {
                alone = true;
            } else if let Some(level) = text.strip_prefix("-O") {
                self.optimises = level != "0";
            } else if let Some(file) = text.strip_prefix("-fpass-plugin=") {
                self.has_plugin |= file.ends_with("libokl_pass.so");
            } else if text.starts_with("-l") || text.starts_with("-Wl,") {
                links_something = true;
            } else if RECORDS.iter().any(|one| text.starts_with(one)) {
                self.records = true;
            }
        }
        self.stage = match stage {
            Stage::Link if alone || !links_something => Stage::Compile,
            stage => stage,
        };
        Ok(())
    }
}

impl Wishes {
    /// The options that say what becomes of code.
    pub(crate) fn words_of_code(&self) -> Vec<OsString> {
        let said = [("target", &self.target), ("libdevice", &self.libdevice)];
        let said = said.into_iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some(format!("{PREFIX}{name}={value}"))
        });
        let flags = [
            ("strict", self.strict),
            ("fuse", self.fuse),
            ("jit", self.jit),
        ];
        let flags = flags.into_iter().filter(|(_, is_said)| *is_said);
        let words = said.chain(flags.map(|(name, _)| format!("{PREFIX}{name}")));
        let plugins = self.plugins.iter().map(|file| {
            let mut word = OsString::from(format!("{PREFIX}plugin="));
            word.push(file);
            word
        });
        words.map(OsString::from).chain(plugins).collect()
    }

    /// The options for another command that compiles.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut all = self.words_of_code();
        let mut with_file = |name: &str, file: &Option<PathBuf>| {
            if let Some(file) = file {
                let mut word = OsString::from(format!("{PREFIX}{name}="));
                word.push(file);
                all.push(word);
            }
        };
        with_file("schedules", &self.schedules);
        with_file("explain", &self.measured);
        if self.explain && self.measured.is_none() {
            all.push(format!("{PREFIX}explain").into());
        }
        if self.occa {
            all.push(format!("{PREFIX}occa").into());
        }
        all
    }

    /// Finds targets that there are not. Those of plug-ins the pass knows, which loads them.
    fn check_target(&self) -> Result<(), String> {
        let targets = self.target.as_deref().unwrap_or(TARGETS[0]);
        let mut all = targets.split(',').filter(|_| self.plugins.is_empty());
        let is_unknown = |one: &&str| {
            let own = one.strip_prefix("mpi+").unwrap_or(one);
            !TARGETS.contains(&own) && !own.starts_with("hip:")
        };
        match all.find(is_unknown) {
            Some(unknown) => Err(format!(
                "unknown target '{unknown}' of --okl-target; valid are: {}, and what a plug-in that --okl-plugin names calls its own",
                TARGETS.join(", ")
            )),
            None => Ok(()),
        }
    }

    /// Reads an option without its prefix.
    fn read(&mut self, wish: &str) -> Result<(), String> {
        match wish.split_once('=') {
            Some(("target", targets)) => {
                // Which of them go together the plugin knows.
                self.target = Some(targets.to_owned());
            }
            None if wish == "strict" => self.strict = true,
            None if wish == "fuse" => self.fuse = true,
            None if wish == "jit" => self.jit = true,
            Some(("plugin", file)) if !file.is_empty() => {
                // A name without a folder would be looked for elsewhere.
                let file = std::path::absolute(file).map_err(|why| format!("{file}: {why}"))?;
                self.plugins.push(file);
            }
            Some(("libdevice", place)) if !place.is_empty() => {
                self.libdevice = Some(place.to_owned());
            }
            None if wish == "explain" => self.explain = true,
            Some(("explain", file)) if !file.is_empty() => {
                self.explain = true;
                self.measured = Some(file.into());
            }
            Some(("schedules", file)) if !file.is_empty() => self.schedules = Some(file.into()),
            _ if wish.starts_with("tune") && self.tune.read(wish) => {}
            None if wish == "show" => self.show = true,
            None if wish == "normalize" => self.normalize = true,
            None if wish == "occa" => self.occa = true,
            None if wish == "version" => self.version = true,
            _ => {
                return Err(format!(
                    "unknown option '{PREFIX}{wish}'; there are: {}",
                    OPTIONS.map(|(option, _)| option).join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// Whether an input reaches the linker: all but headers do.
fn is_linked(input: &Path, language: &str) -> bool {
    if !language.is_empty() && language != "none" {
        return !language.ends_with("header");
    }
    let extension = input.extension().unwrap_or_default();
    !is_one_of(HEADERS, &extension.to_string_lossy())
}

/// Whether an input is OKL, by the language that is named, or else by its extension; OKL is C++, as build
/// systems say of it.
pub(crate) fn is_okl(input: &OsStr, language: &str) -> bool {
    match language {
        "" | "none" | "c++" => Path::new(input).extension() == Some(OsStr::new("okl")),
        language => language == "okl",
    }
}

/// The words with those of response files in their place, as clang reads them. A file that cannot be
/// read stays a word; clang will say so.
fn expand(words: &[OsString], depth: usize) -> Vec<OsString> {
    const DEEPEST: usize = 16;
    let mut all = Vec::new();
    for word in words {
        let file = word.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes);
        match file.map(fs::read) {
            Some(Ok(text)) if depth < DEEPEST => all.extend(expand(&tokens(&text), depth + 1)),
            _ => all.push(word.clone()),
        }
    }
    all
}

/// The words of a response file: separated by white space, with quotes, and a backslash before what
/// is to be taken literally.
pub(crate) fn tokens(text: &[u8]) -> Vec<OsString> {
    let mut all = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', open) if open != Some(b'\'') => {
                word.get_or_insert_default().extend(bytes.next());
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => all.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    all.extend(word);
    all.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str) -> Arguments {
        let words = command.split_whitespace().map(OsString::from).collect();
        Arguments::read(words).unwrap()
    }

    #[test]
    fn tells_how_far_the_compiler_goes() {
        for (command, stage) in [
            ("a.c", Stage::Link),
            ("-o a a.o b.a -lm", Stage::Link),
            ("-shared -o a.so a.o", Stage::Link),
            ("-xc -", Stage::Link),
            ("-lm", Stage::Link),
            ("-Xlinker --version", Stage::Link),
            ("-- a.c", Stage::Link),
            ("-c a.c", Stage::Compile),
            ("-S a.c -o -", Stage::Compile),
            ("-r a.o -o b.o", Stage::Compile),
            ("-static a.o", Stage::Compile),
            ("a.h", Stage::Compile),
            ("-x c++-header a", Stage::Compile),
            ("-xc-header a.c -xnone b.h", Stage::Compile),
            ("-x c-header a.h -x none b.c", Stage::Link),
            ("-v", Stage::Compile),
            ("--version", Stage::Compile),
            (
                "-dumpversion -target x86_64-linux-gnu -o x -I y -Xclang z",
                Stage::Compile,
            ),
            ("-xc -E -v -", Stage::Preprocess),
            ("-c -MM a.c", Stage::Preprocess),
            ("-E -c a.c", Stage::Preprocess),
            ("-fsyntax-only -c a.c", Stage::Check),
            ("-fsyntax-only -E a.c", Stage::Preprocess),
            ("-cc1 a.c", Stage::Itself),
            ("-cc1as a.s --okl-nonsense", Stage::Itself),
            ("-o -c a.c", Stage::Link),
        ] {
            assert_eq!(read(command).stage, stage, "{command}");
        }
    }

    #[test]
    fn takes_out_what_is_meant_for_okl() {
        let read = read("--okl-target=cpu -c --okl-strict a.c -Xclang --okl-value -- --okl-file.c");
        assert_eq!(read.passed, ["-c", "a.c", "-Xclang", "--okl-value"]);
        assert_eq!(read.inputs, ["--okl-file.c"]);
        assert_eq!(read.wishes.target.as_deref(), Some("cpu"));
        assert!(read.wishes.strict && !read.wishes.explain);
    }

    #[test]
    fn tells_which_inputs_are_okl() {
        for (command, okl) in [
            ("a.okl b.cpp -o c.okl", vec!["a.okl"]),
            (
                "-x okl a.cpp - -x none b.cpp c.okl",
                vec!["a.cpp", "-", "c.okl"],
            ),
            ("-xc a.okl -x c++-header a.okl", vec![]),
            ("-x c++ a.okl b", vec!["a.okl"]),
            ("a.o -- -x.okl", vec!["-x.okl"]),
        ] {
            assert_eq!(read(command).okl, okl, "{command}");
        }
    }

    #[test]
    fn says_which_options_there_are() {
        let error = |word: &str| Arguments::read(vec![word.into()]).unwrap_err();
        assert_eq!(
            error("--okl-fast"),
            "unknown option '--okl-fast'; there are: --okl-target=mpi|cpu|[mpi+]cuda|[mpi+]hip|[mpi+]spirv[,cpu], --okl-strict, --okl-fuse, --okl-jit, --okl-plugin=FILE, \
             --okl-libdevice=FILE|FOLDER|none, --okl-explain[=FILE], --okl-schedules=FILE, --okl-tune=COMMAND, --okl-tune-build=COMMAND, --okl-tune-program=FILE, \
             --okl-tune-measure=TEXT, --okl-tune-runs=N, --okl-tune-limit=SECONDS, --okl-tune-ignore-output, --okl-show, --okl-normalize, --okl-occa, --okl-version"
        );
        assert_eq!(
            error("--okl-target=gpu"),
            "unknown target 'gpu' of --okl-target; valid are: mpi, cpu, cuda, hip, spirv, and what a plug-in that --okl-plugin names calls its own"
        );
        assert_eq!(error("--okl-target=cuda,gpu"), error("--okl-target=gpu"));
        let own = read("--okl-target=gpu,cpu --okl-plugin=p.so a.c").wishes;
        assert_eq!(own.target.as_deref(), Some("gpu,cpu"));
        assert_eq!(
            read("--okl-target=mpi+cuda,cpu a.c")
                .wishes
                .target
                .as_deref(),
            Some("mpi+cuda,cpu")
        );
        assert_eq!(
            read("--okl-target=cuda,hip:gfx90a,spirv,cpu a.c")
                .wishes
                .target
                .as_deref(),
            Some("cuda,hip:gfx90a,spirv,cpu")
        );
        assert!(error("--okl-strict=yes").starts_with("unknown option '--okl-strict=yes'"));
        assert!(error("--okl-target").starts_with("unknown option '--okl-target'"));
    }

    #[test]
    fn splits_response_files_as_clang_does() {
        let words = tokens(b"-c 'a b.c'\n\t-DX=\\\"q\\\" \"x\\\"y\" '' 'back\\slash' end");
        assert_eq!(
            words,
            ["-c", "a b.c", "-DX=\"q\"", "x\"y", "", "back\\slash", "end"]
        );
    }
}
