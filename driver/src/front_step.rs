//! Rewriting inputs in a temporary folder, which goes away however the command ends.
//!
//! While the folder is there, a signal that would end this process is noted: the compiler, which gets those of
//! the terminal as well, ends, the folder goes, and then the signal does what it does.

use std::ffi::{OsString, c_int};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Seek, Write};
use std::iter::repeat_n;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::attempts::Asking;
use crate::command::exit_code;
use crate::embedded;
use crate::loop_chains::{self, Dialect};
use crate::okl::{self, Mode};
use crate::okl_inputs::{Kind, Source, Steps};
use crate::tune::told::Tuned;

/// Signals that end a process which does not see to them.
const ENDING: [c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The time in which the folder is there.
pub(crate) struct FrontStep {
    folder: tempfile::TempDir,
    /// The signal that came last, or 0.
    signal: Arc<AtomicUsize>,
}

impl FrontStep {
    pub(crate) fn begin() -> Result<FrontStep, String> {
        let failed = |error: io::Error| format!("cannot make a temporary folder: {error}");
        let signal = noted_signals()?;
        // Its name, which objects may have, is that of the command while no other one like it runs.
        let mut hasher = DefaultHasher::new();
        (env::current_dir().ok(), env::args_os().collect::<Vec<_>>()).hash(&mut hasher);
        let name = format!("okl-{:016x}", hasher.finish());
        let folder = tempfile::Builder::new()
            .prefix(&name)
            .rand_bytes(0)
            .tempdir();
        let folder = folder.or_else(|_| tempfile::Builder::new().prefix("okl-").tempdir());
        let folder = folder.map_err(failed)?;
        Ok(FrontStep { folder, signal })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether a signal has come.
    pub(crate) fn is_to_end(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// Ends the process if it got a signal in the meantime.
    pub(crate) fn end(self) {
        // What cannot be removed does not make the output wrong.
        let _ = self.folder.close();
        if let Ok(signal @ 1..) = c_int::try_from(self.signal.load(Ordering::SeqCst)) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}

/// From now on signals that would end this process are noted: the last one, or 0.
pub(crate) fn noted_signals() -> Result<Arc<AtomicUsize>, String> {
    let failed = |error: io::Error| format!("cannot see to signals: {error}");
    let signal = Arc::new(AtomicUsize::new(0));
    for one in ENDING.into_iter().filter(|one| !is_ignored(*one)) {
        let noted = usize::try_from(one).unwrap_or_default();
        flag::register_usize(one, Arc::clone(&signal), noted).map_err(failed)?;
    }
    Ok(signal)
}

/// Whether this process was started so that a signal does nothing, as `nohup` does; its children then are, too.
fn is_ignored(signal: c_int) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.unwrap_or(0) >> (signal - 1) & 1 == 1
}

/// How a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The compiler ended so.
    Compiler(ExitStatus),
    /// There are errors in the text of an input, which have been printed.
    Text,
}

impl Failure {
    pub(crate) fn of(status: ExitStatus) -> Option<Failure> {
        (!status.success()).then_some(Failure::Compiler(status))
    }
}

/// Ends as the compiler did.
pub(crate) fn end_as(failure: Failure) -> ExitCode {
    match failure {
        Failure::Text => ExitCode::FAILURE,
        Failure::Compiler(status) => {
            // One of another kind would leave a second image of memory.
            if let Some(signal) = status.signal().filter(|one| ENDING.contains(one)) {
                let _ = low_level::emulate_default_handler(signal);
            }
            exit_code(status)
        }
    }
}

/// Preprocesses and rewrites an input; `typed` is standard input. OCCA may call the kernels of OKL; `tuned` has schedules for
/// loop chains; where programs have instances of its templates compiled, by the words in `embedded`; `expand` is the preprocessor
/// of a dialect. Returns which instances it asks for, or how that failed.
pub(crate) fn rewrite(
    command: &[OsString],
    typed: Option<&File>,
    source: &Source,
    occa: Option<okl::Occa>,
    tuned: Option<&Tuned>,
    embedded: Option<&[u8]>,
    expand: impl Fn(&str, Dialect) -> Result<String, String>,
) -> Result<Result<Asking, Failure>, String> {
    let name = match source.name.to_str() {
        Some("-") => "<stdin>".into(),
        _ => source.name.to_string_lossy(),
    };
    let folder = source.file.parent().unwrap_or(Path::new("."));
    let failed = |error: io::Error| format!("{name}: {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    if let Some(failure) = Failure::of(run(command, typed)?) {
        return Ok(Err(failure));
    }
    let text = match fs::read(&source.preprocessed) {
        // With `-###`.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        text => text.map_err(failed)?,
    };
    let text = match (String::from_utf8(text), source.kind) {
        (Ok(text), _) => text,
        (Err(_), Kind::Okl) => return Err(format!("{name} is not UTF-8")),
        (Err(_), Kind::Chains(_)) => return Err(loop_chains::not_utf_8(&name)),
    };
    let read = |file: &str| match typed.filter(|_| file == "<stdin>") {
        Some(typed) => text_of(typed).ok(),
        None => readable(file),
    };
    let facts = loop_chains::Facts::of(&text);
    let text = okl::without_definitions(&text);
    let text = okl::at_columns(&text, read);
    let (mut templates, mut literals) = (Vec::new(), Vec::new());
    let mut rewritten = match source.kind {
        Kind::Okl => {
            let done = okl::normalise_with_templates(&text, &name, Mode::Preprocessed, occa);
            done.map(|done| {
                (templates, literals) = (done.templates, done.literals);
                done.text
            })
        }
        Kind::Chains(_) => Ok(text),
    };
    if let Ok(text) = &rewritten
        && loop_chains::may_be_in(text)
    {
        let expand = |text: &str| expand(text, facts.dialect);
        rewritten = loop_chains::marked(text, &name, facts, tuned, read, expand)?;
    }
    match rewritten {
        Ok(mut text) => {
            if let Some(words) = embedded.filter(|_| !templates.is_empty()) {
                text += &embedded::source(&text, words, &templates);
            }
            fs::write(&source.file, text).map_err(failed)?;
        }
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("{error}"));
            return Ok(Err(Failure::Text));
        }
    }
    let file = source.file.clone();
    Ok(Ok(Asking { file, literals }))
}

/// What a command prints that reads a text.
pub(crate) fn filtered(command: &[OsString], text: &str) -> Result<String, String> {
    let failed = |error: io::Error| cannot_run(command, &error);
    // A file, as the command may print before it has read all.
    let input = file_of(text.as_bytes()).map_err(failed)?;
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).stdin(input);
    let output = process.stderr(Stdio::inherit()).output().map_err(failed)?;
    if !output.status.success() {
        return Err(format!(
            "{} cannot expand macros",
            command[0].to_string_lossy()
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| cannot_run(command, &io::Error::other(error)))
}

/// Puts the texts where the compiler leaves what is between its stages.
pub(crate) fn keep(steps: &Steps, folder: &Path) -> Result<(), String> {
    for source in &steps.sources {
        let kept = folder.join(source.file.file_name().unwrap_or_default());
        let copied = fs::copy(&source.file, &kept);
        copied.map_err(|error| format!("cannot write {}: {error}", kept.display()))?;
    }
    Ok(())
}

/// Runs a command to its end, with all of `typed` as standard input where that has been read.
pub(crate) fn run(command: &[OsString], typed: Option<&File>) -> Result<ExitStatus, String> {
    let status = process(command, typed)?.status();
    status.map_err(|error| cannot_run(command, &error))
}

/// The same; what the command prints is not printed.
pub(crate) fn output(command: &[OsString], typed: Option<&File>) -> Result<Output, String> {
    let mut process = process(command, typed)?;
    if typed.is_none() {
        process.stdin(Stdio::inherit());
    }
    process
        .output()
        .map_err(|error| cannot_run(command, &error))
}

fn process(command: &[OsString], typed: Option<&File>) -> Result<Command, String> {
    let failed = |error: io::Error| cannot_run(command, &error);
    let mut process = Command::new(&command[0]);
    if let Some(mut typed) = typed {
        // Another command may have read it.
        typed.rewind().map_err(failed)?;
        process.stdin(typed.try_clone().map_err(failed)?);
    }
    process.args(&command[1..]);
    Ok(process)
}

/// Standard input, and a file that may stand in for it.
pub(crate) fn typed() -> Result<(Vec<u8>, File), String> {
    let failed = |error: io::Error| format!("cannot read standard input: {error}");
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text).map_err(failed)?;
    Ok((text.clone(), file_of(&text).map_err(failed)?))
}

/// A file as text, in which other bytes than those of UTF-8 are question marks, so that what follows stays in its column.
pub(crate) fn readable(file: &str) -> Option<String> {
    let bytes = loop_chains::bytes_of(Path::new(file))?;
    let text = bytes.utf8_chunks().flat_map(|chunk| {
        let others = chunk.invalid().len();
        chunk.valid().chars().chain(repeat_n('?', others))
    });
    Some(text.collect())
}

/// All that is in a file, whose place for reading stays.
fn text_of(file: &File) -> io::Result<String> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut text = vec![0; length];
    file.read_exact_at(&mut text, 0)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// A file without a name that has a text.
fn file_of(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// Removes what an earlier command wrote, unless it is no plain file.
pub(crate) fn remove(output: &Path) {
    if output.symlink_metadata().is_ok_and(|file| file.is_file()) {
        let _ = fs::remove_file(output);
    }
}

fn cannot_run(command: &[OsString], error: &io::Error) -> String {
    format!("cannot run {}: {error}", command[0].to_string_lossy())
}
