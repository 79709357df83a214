//! The compiler's command, and running it.
//!
//! Inputs that are OKL or have loop chains are rewritten before, in a temporary folder: see `okl_inputs` and `front_step`.
//!
//! The plugin is named first, so that the user's own options win; the libraries last, where a linker
//! looks for what is still missing. Between `--start-no-unused-arguments` and its end clang does not
//! mind options that it has no use for, while it still tells the user of his.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use crate::arguments::{self, Arguments, Stage, Wishes};
use crate::front_step::{self, Failure, FrontStep};
use crate::installation::{self, Installation};
use crate::language::Language;
use crate::link_time::{self, Linking};
use crate::loop_chains::{self, Dialect, fortran};
use crate::measured::Measured;
use crate::occa_devices::{self, Layout, Writes};
use crate::okl_inputs::{self, Kind, Source, Step, Steps};
use crate::quote::command_line;
use crate::tune::told::Tuned;
use crate::{attempts, embedded, explain, okl, tune};

/// Has clang keep the places of code, as it does where remarks of some name are asked for.
const PLACES: &str = "-Rpass=^okl-places$";

/// Does what a driver is asked for. Returns where the compiler did not take over.
pub fn run(language: &'static Language, words: Vec<OsString>) -> Result<ExitCode, String> {
    let mut arguments = Arguments::read(words.clone())?;
    let mut writes = Writes::Folder;
    if let Some((words, of_occa)) = occa_devices::in_place_of_occas(&arguments, &words)? {
        arguments = Arguments::read(words)?;
        writes = of_occa;
    }
    if tune::is_asked_for(&arguments)? {
        return tune::run(language, &arguments, &words);
    }
    if arguments.wishes.normalize {
        return normalize(&arguments, language);
    }
    let (compiler, mode) = installation::compiler(language)?;
    if arguments.stage == Stage::Itself {
        let mut all: Vec<OsString> = vec![compiler.into()];
        all.extend(arguments.passed);
        return Err(execute(&all, None));
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
    let typed = loop_chains::reads_typed(&arguments, language)
        .then(front_step::typed)
        .transpose()?;
    let text = typed.as_ref().map(|(text, _)| text.as_slice());
    let chains = loop_chains::chains(&arguments, language, text)?;
    let typed = typed.map(|(_, file)| file);
    let fortran = match language.headers {
        true => Vec::new(),
        false => fortran::inputs(&arguments)?,
    };
    let mut tuned = None;
    if !chains.is_empty() {
        tuned = Tuned::of(&arguments.wishes)?;
    }
    if !chains.is_empty() || !fortran.is_empty() {
        [arguments.passed, arguments.inputs] = arguments.expanded.clone();
    }
    let context = Context {
        language,
        compiler,
        mode,
        arguments: &arguments,
        found,
        chains,
        tuned,
        typed,
    };
    if !arguments.wishes.show
        && let Some(linked) = context.link_time(!fortran.is_empty())?
    {
        return Ok(linked);
    }
    if !arguments.okl.is_empty() || !context.chains.is_empty() {
        return context.compile_rewritten(writes);
    }
    if !fortran.is_empty() {
        return context.compile_fortran(&fortran);
    }
    let mut words = arguments.passed.clone();
    if arguments.stage == Stage::Link {
        // Options cannot follow `--`.
        words.extend(
            arguments
                .inputs
                .iter()
                .map(|input| okl_inputs::plain(input)),
        );
    }
    let mut all = context.command(arguments.stage, &words)?;
    if arguments.stage != Stage::Link && !arguments.inputs.is_empty() {
        all.push("--".into());
        all.extend(arguments.inputs.iter().cloned());
    }
    if arguments.wishes.show {
        println!("{}", show(&all));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(asked) = context.explains(arguments.stage)? {
        return explain::run(language, &all, &asked, context.typed.as_ref()).map(exit_code);
    }
    Err(execute(&all, context.typed))
}

/// A driver, and what it is asked for.
struct Context<'a> {
    language: &'static Language,
    compiler: PathBuf,
    mode: Option<&'static str>,
    arguments: &'a Arguments,
    found: Installation,
    /// The inputs that may have loop chains.
    chains: Vec<(OsString, Dialect)>,
    /// The schedules that chains have from a file.
    tuned: Option<Tuned>,
    /// What stands in for standard input, where that has been read.
    typed: Option<File>,
}

impl Context<'_> {
    /// The compiler's command for the user's words.
    fn command(&self, stage: Stage, words: &[OsString]) -> Result<Vec<OsString>, String> {
        let mut all: Vec<OsString> = vec![self.compiler.clone().into()];
        all.extend(self.mode.map(Into::into));
        all.extend(before(self.language, stage, self.arguments, &self.found));
        all.extend_from_slice(words);
        // Behind the user's folders.
        let interfaces = installation::interfaces(self.language, &self.compiler);
        all.extend(interfaces.map(|folder| joined("-I", &folder)));
        if stage == Stage::Link {
            all.extend(after(self.language, &self.found, &self.compiler)?);
        }
        Ok(all)
    }

    /// Links, where loop chains of one object may call functions of another one.
    fn link_time(&self, has_fortran: bool) -> Result<Option<ExitCode>, String> {
        let stage = self.arguments.stage;
        let linking = Linking {
            language: self.language,
            arguments: self.arguments,
            has_chains: has_fortran || !self.chains.is_empty(),
            command: &|words| self.command(stage, words),
        };
        linking.run()
    }

    /// The command that preprocesses an input.
    fn preprocesses(&self, source: &Source) -> Result<Vec<OsString>, String> {
        let mut words = source.preprocess.clone();
        if let (Some(tuned), Kind::Chains(_)) = (&self.tuned, source.kind) {
            // The file of dependencies is to name it.
            let entry = joined("-fdepfile-entry=", tuned.name());
            words.splice(0..0, ["-Xclang".into(), entry]);
        }
        self.command(Stage::Preprocess, &words)
    }

    /// How the remarks of a command are explained, if they are.
    fn explains(&self, stage: Stage) -> Result<Option<explain::Asked>, String> {
        let wishes = &self.arguments.wishes;
        if !wishes.explain || stage < Stage::Compile {
            return Ok(None);
        }
        if self.arguments.records {
            return Err(
                "--okl-explain does not go with the compiler's own optimization record".to_string(),
            );
        }
        let measured = wishes.measured.as_deref().map(Measured::read);
        Ok(Some(explain::Asked {
            optimises: self.arguments.optimises,
            measured: measured.transpose()?,
        }))
    }

    /// Does what a command with inputs that are rewritten asks for; for OCCA's devices `writes` is what.
    fn compile_rewritten(&self, writes: Writes) -> Result<ExitCode, String> {
        let arguments = self.arguments;
        if !arguments.okl.is_empty() && !self.language.headers {
            return Err(format!(
                "{}: {} takes no OKL files; compile them with okl-c++ -c",
                arguments.okl[0].to_string_lossy(),
                self.language.driver
            ));
        }
        if !arguments.okl.is_empty() {
            self.found.require_okl_headers()?;
        }
        let layout = Layout::of(arguments, writes)?;
        let stage = layout.as_ref().map_or(arguments.stage, Layout::stage);
        let steps_in = |folder: &Path| {
            let words = match &layout {
                Some(layout) => layout.words(folder),
                None => {
                    let mut words = arguments.passed.clone();
                    if !arguments.inputs.is_empty() {
                        words.push("--".into());
                        words.extend_from_slice(&arguments.inputs);
                    }
                    words
                }
            };
            okl_inputs::steps(&arguments::parts(&words), &self.chains, stage, folder)
        };
        if arguments.wishes.show {
            self.show_rewritten(&steps_in(Path::new("okl.tmp")))?;
            return Ok(ExitCode::SUCCESS);
        }
        let explains = self.explains(arguments.stage)?;
        let step = FrontStep::begin()?;
        let steps = steps_in(step.folder());
        let run = || {
            if let Some(layout) = &layout {
                layout.prepare(step.folder())?;
            }
            let failed = self.run_rewritten(&step, &steps, layout.is_some(), explains.as_ref())?;
            if let (Some(layout), None, false) = (&layout, failed, step.is_to_end()) {
                layout.write(step.folder())?;
            }
            Ok::<_, String>(failed)
        };
        let failed = run();
        step.end();
        Ok(failed?.map_or(ExitCode::SUCCESS, front_step::end_as))
    }

    /// Does what a command with inputs in Fortran asks for that have loop chains: they are rewritten before.
    fn compile_fortran(&self, inputs: &[fortran::Input]) -> Result<ExitCode, String> {
        let arguments = self.arguments;
        let words_in = |folder: &Path| {
            let own = |name: &OsStr| inputs.iter().position(|one| one.name == name);
            // Versions of loops for strides are no loops of a chain.
            let mut words: Vec<OsString> = vec!["-fno-version-loops-for-stride".into()];
            words.extend(
                inputs
                    .iter()
                    .map(|one| fortran::includes(Path::new(&one.name))),
            );
            let replaced = |word: &OsString| match own(word) {
                Some(number) => fortran::file(folder, number, word).into_os_string(),
                None => word.clone(),
            };
            // An option's value may be called as an input is.
            let mut is_value = false;
            for word in &arguments.passed {
                words.push(match is_value {
                    true => word.clone(),
                    false => replaced(word),
                });
                is_value = !is_value && arguments::has_value(word);
            }
            words.extend(arguments.inputs.iter().map(replaced));
            words
        };
        if arguments.wishes.show {
            let words = words_in(Path::new("okl.tmp"));
            println!("{}", show(&self.command(arguments.stage, &words)?));
            return Ok(ExitCode::SUCCESS);
        }
        let explains = self.explains(arguments.stage)?;
        let step = FrontStep::begin()?;
        let run = || {
            let mut failed = None;
            for (number, input) in inputs.iter().enumerate() {
                match input.marked(&self.compiler, &arguments.passed, step.folder())? {
                    Ok(text) => {
                        let file = fortran::file(step.folder(), number, &input.name);
                        let folder = file.parent().unwrap_or(step.folder());
                        fs::create_dir_all(folder)
                            .and_then(|()| fs::write(&file, text))
                            .map_err(|error| format!("{}: {error}", file.display()))?;
                    }
                    Err(errors) => {
                        errors.iter().for_each(|error| eprintln!("{error}"));
                        failed = Some(Failure::Text);
                    }
                }
            }
            if failed.is_some() || step.is_to_end() {
                return Ok(failed);
            }
            let command = self.command(arguments.stage, &words_in(step.folder()))?;
            let status = match &explains {
                Some(asked) => explain::run(self.language, &command, asked, None)?,
                None => front_step::run(&command, None)?,
            };
            Ok::<_, String>(Failure::of(status))
        };
        let failed = run();
        step.end();
        Ok(failed?.map_or(ExitCode::SUCCESS, front_step::end_as))
    }

    /// Rewrites inputs, then runs the commands; returns how the first ended that failed.
    fn run_rewritten(
        &self,
        step: &FrontStep,
        steps: &Steps,
        on_devices: bool,
        explains: Option<&explain::Asked>,
    ) -> Result<Option<Failure>, String> {
        let occa = self.arguments.wishes.occa.then_some(match on_devices {
            true => okl::Occa::Devices,
            false => okl::Occa::Processor,
        });
        let embedded = embedded::words(self.arguments, &self.compiler);
        let (mut failed, mut asking) = (None, Vec::new());
        for source in steps.sources.iter().take_while(|_| !step.is_to_end()) {
            let command = self.preprocesses(source)?;
            let expand = |text: &str, dialect| expand(&self.compiler, self.mode, text, dialect);
            let rewritten = front_step::rewrite(
                &command,
                self.typed.as_ref(),
                source,
                occa,
                self.tuned.as_ref(),
                embedded.as_deref(),
                expand,
            )?;
            match rewritten {
                Ok(one) => asking.extend(Some(one).filter(|one| !one.literals.is_empty())),
                Err(failure) => failed = failed.or(Some(failure)),
            }
        }
        if failed.is_some() {
            // As clang does where it cannot compile.
            if let (Stage::Compile, Some(output)) = (self.arguments.stage, &steps.output) {
                front_step::remove(Path::new(output));
            }
            return Ok(failed);
        }
        if let Some(folder) = &steps.kept_in {
            front_step::keep(steps, folder)?;
        }
        for command in steps.commands.iter().take_while(|_| !step.is_to_end()) {
            let may_ask = command.stage >= Stage::Compile && self.arguments.stage >= Stage::Compile;
            let command = self.compiles(steps, command)?;
            let typed = self.typed.as_ref();
            let mut compiled = None;
            if may_ask && occa.is_none() && !asking.is_empty() {
                compiled = attempts::run(&command, typed, &asking)?;
                if let (Some(folder), Some(_)) = (&steps.kept_in, &compiled) {
                    front_step::keep(steps, folder)?;
                }
            }
            let status = match (explains, compiled) {
                _ if step.is_to_end() => break,
                (Some(asked), _) => explain::run(self.language, &command, asked, typed)?,
                (None, Some(compiled)) => compiled.tell()?,
                (None, None) => front_step::run(&command, typed)?,
            };
            failed = failed.or(Failure::of(status));
        }
        if let (Some(_), Some(note)) = (failed, self.tuned.as_ref().and_then(Tuned::note)) {
            eprintln!("{}: note: {note}", self.language.driver);
        }
        Ok(failed)
    }

    /// A command of rewritten inputs. What is said of loop chains names variables.
    fn compiles(&self, steps: &Steps, command: &Step) -> Result<Vec<OsString>, String> {
        let mut sources = steps.sources.iter();
        let has_chains = sources.any(|source| matches!(source.kind, Kind::Chains(_)));
        let mut words = command.words.clone();
        if has_chains && command.stage >= Stage::Compile {
            words.insert(0, "-fno-discard-value-names".into());
            if link_time::kept_words(self.arguments, self.language).is_some() {
                // What is wrong with it is told when it is linked.
                words.insert(0, PLACES.into());
            }
        }
        self.command(command.stage, &words)
    }

    /// Prints the commands, with a folder of this folder in place of a temporary one.
    fn show_rewritten(&self, steps: &Steps) -> Result<(), String> {
        for source in &steps.sources {
            let [from, to] =
                [&source.preprocessed, &source.file].map(|file| command_line([file.as_os_str()]));
            println!("{}", show(&self.preprocesses(source)?));
            let schedules = self.tuned.as_ref().map(|tuned| {
                let option = joined("--okl-schedules=", tuned.name());
                format!("{} ", command_line([option.as_os_str()]))
            });
            println!(
                "{} --okl-normalize {}{from} >{to}",
                self.language.driver,
                schedules.unwrap_or_default()
            );
        }
        for step in &steps.commands {
            println!("{}", show(&self.compiles(steps, step)?));
        }
        Ok(())
    }
}

/// What the preprocessor makes of definitions and text.
fn expand(
    compiler: &Path,
    mode: Option<&'static str>,
    text: &str,
    dialect: Dialect,
) -> Result<String, String> {
    let mut words: Vec<OsString> = vec![compiler.into()];
    words.extend(mode.map(OsString::from));
    words.extend(loop_chains::expansion(dialect).map(OsString::from));
    front_step::filtered(&words, text)
}

/// A command as one would type it.
fn show(words: &[OsString]) -> String {
    command_line(words.iter().map(OsString::as_os_str))
}

/// Prints an OKL file as C++, and markers in place of the pragmas of loop chains; or what is wrong with it.
fn normalize(arguments: &Arguments, language: &Language) -> Result<ExitCode, String> {
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
    let occa = arguments.wishes.occa.then_some(okl::Occa::Processor);
    let mut normalised = okl::normalise_for(&text, &name, okl::Mode::Source, occa);
    if let (Ok(of_okl), true) = (&normalised, loop_chains::may_be_in(&text)) {
        normalised = marked(of_okl, &text, &name, language, &arguments.wishes)?;
    }
    match normalised {
        Ok(mut normalised) => {
            // What is wrong with it is to be said of the user's file; where markers are declared, that is so already.
            let is_preprocessed = text.starts_with("# 1 ");
            let says_where = is_preprocessed || normalised.contains("\n#line 1 ");
            if normalised != text && !says_where {
                normalised.insert_str(0, &format!("#line 1 {name:?}\n"));
            }
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

/// A text that may have been OKL, which `all` was, with markers in place of the pragmas of loop chains.
fn marked(
    text: &str,
    all: &str,
    name: &str,
    language: &Language,
    wishes: &Wishes,
) -> Result<Result<String, Vec<okl::Diagnostic>>, String> {
    let (compiler, mode) = installation::compiler(language)?;
    let facts = loop_chains::Facts::of(all);
    let mut placed = okl::without_definitions(text);
    if text == all {
        placed = okl::at_columns(&placed, front_step::readable);
    }
    let expand = |text: &str| expand(&compiler, mode, text, facts.dialect);
    let tuned = Tuned::of(wishes)?;
    loop_chains::marked(
        &placed,
        name,
        facts,
        tuned.as_ref(),
        front_step::readable,
        expand,
    )
}

/// Becomes the compiler, which reads `typed`; returns why not.
fn execute(words: &[OsString], typed: Option<File>) -> String {
    let mut command = Command::new(&words[0]);
    if let Some(typed) = typed {
        command.stdin(typed);
    }
    let error = command.args(&words[1..]).exec();
    format!("cannot run {}: {error}", words[0].to_string_lossy())
}

/// What a process that has ended by `status` ends with in a shell.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// What stands before the user's own options.
fn before(
    language: &Language,
    stage: Stage,
    arguments: &Arguments,
    found: &Installation,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for headers in found.headers.iter().filter(|_| language.headers) {
        words.push("-idirafter".into());
        words.push(headers.into());
    }
    if stage >= Stage::Compile {
        if !arguments.has_plugin {
            words.push(joined("-fpass-plugin=", &found.plugin()));
        }
        if !arguments.okl.is_empty() || !arguments.wishes.plugins.is_empty() {
            // Errors name them.
            words.push(PLACES.into());
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
        if arguments.wishes.fuse {
            proper("-okl-fuse");
        }
        if arguments.wishes.jit {
            proper("-okl-jit");
        }
        for file in &arguments.wishes.plugins {
            proper(&format!("-okl-plugin={}", file.display()));
        }
        if let Some(words) = link_time::kept_words(arguments, language) {
            proper(&format!("-okl-keep={words}"));
        }
        if let Some(place) = &arguments.wishes.libdevice {
            proper(&format!("-okl-libdevice={place}"));
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
