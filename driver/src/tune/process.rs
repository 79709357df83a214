//! Commands that are run for their time and their output, in a process group of their own, which ends when they take too long
//! or a signal comes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::search::Stop;

/// How often it is looked whether there is a reason to end.
const LOOKS: Duration = Duration::from_millis(20);
/// How long what is to end may take for that.
const LAST: Duration = Duration::from_secs(2);

/// How a command has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) time: Duration,
    /// Whether it was ended, as it took too long.
    pub(crate) is_late: bool,
    pub(crate) output: Vec<u8>,
    /// What it wrote to standard error; to standard output, where that is the same.
    pub(crate) errors: Vec<u8>,
}

/// Until when, and how long, commands run.
pub(crate) struct Limits<'a> {
    /// The signal that has come, or 0.
    pub(crate) signal: &'a AtomicUsize,
    /// When all is to end.
    pub(crate) end: Option<Instant>,
    /// How long the command may take.
    pub(crate) longest: Option<Duration>,
}

/// A command of the shell.
pub(crate) fn shell(command: &OsString) -> Command {
    let mut process = Command::new("sh");
    process.arg("-c").arg(command);
    process
}

/// Runs a command, which gets no input.
pub(crate) fn run(mut command: Command, limits: &Limits) -> Result<Ended, Stop> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error: io::Error| Stop::Failed(format!("cannot run {name}: {error}"));
    let [mut output, mut errors] = [tempfile::tempfile(), tempfile::tempfile()];
    let [output, errors] = [output.as_mut(), errors.as_mut()].map(|one| match one {
        Ok(file) => Ok(file),
        Err(error) => Err(failed(io::Error::new(error.kind(), error.to_string()))),
    });
    let (output, errors) = (output?, errors?);
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(output.try_clone().map_err(failed)?);
    command.stderr(errors.try_clone().map_err(failed)?);
    let begins = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (to, ended) = mpsc::channel();
    thread::spawn(move || {
        let status = child.wait();
        // Who waits may have gone.
        let _ = to.send((status, Instant::now()));
    });
    let mut stop = None;
    let mut asked: Option<Instant> = None;
    let (status, end) = loop {
        if let Ok(ended) = ended.recv_timeout(LOOKS) {
            break ended;
        }
        let now = Instant::now();
        if asked.is_none() {
            stop = if limits.signal.load(Ordering::SeqCst) != 0 {
                Some(Some(Stop::Interrupted))
            } else if limits.end.is_some_and(|end| now > end) {
                Some(Some(Stop::Limit))
            } else if limits.longest.is_some_and(|longest| now - begins > longest) {
                Some(None)
            } else {
                None
            };
        }
        if stop.is_some() {
            let hard = asked.is_some_and(|asked| now - asked > LAST);
            let signal = if hard { Signal::KILL } else { Signal::TERM };
            if let Some(group) = group.filter(|_| hard || asked.is_none()) {
                // It may have ended.
                let _ = kill_process_group(group, signal);
            }
            asked.get_or_insert(now);
        }
    };
    if let (Some(group), Some(asked)) = (group, asked) {
        // What it has started ends after it, and may have something to put in order.
        while test_kill_process_group(group).is_ok() && asked.elapsed() < LAST {
            thread::sleep(LOOKS);
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    let is_late = match stop {
        Some(Some(stop)) => return Err(stop),
        Some(None) => true,
        None => false,
    };
    Ok(Ended {
        status: status.map_err(failed)?,
        time: end - begins,
        is_late,
        output: all_of(output).map_err(failed)?,
        errors: all_of(errors).map_err(failed)?,
    })
}

fn all_of(file: &mut File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    Ok(all)
}

impl Ended {
    /// How it has failed, if it has.
    pub(crate) fn failure(&self) -> Option<String> {
        if self.is_late {
            return Some("takes too long".to_string());
        }
        match (self.status.code(), self.status.signal()) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("ends with {code}")),
            (None, signal) => Some(format!("is ended by signal {}", signal.unwrap_or(0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command of the shell's ends at once, and what it runs puts things in order.
    #[test]
    fn what_is_ended_may_put_things_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("done");
        let signal = AtomicUsize::new(0);
        let limits = Limits {
            signal: &signal,
            end: None,
            longest: Some(Duration::from_millis(300)),
        };
        let inner = format!(
            "trap 'sleep 0.3; echo >{}; exit' TERM; sleep 60 & wait",
            file.display()
        );
        let text = format!("sh -c \"{inner}\" & sleep 60");
        assert!(run(shell(&text.into()), &limits).unwrap().is_late);
        assert!(file.exists());
    }

    #[test]
    fn what_takes_too_long_ends_with_all_that_it_has_started() {
        let signal = AtomicUsize::new(0);
        let mut limits = Limits {
            signal: &signal,
            end: None,
            longest: Some(Duration::from_millis(100)),
        };
        let run = |text: &str, limits: &Limits| run(shell(&text.into()), limits);
        let ended = run("trap '' TERM; echo x; sleep 60 & wait; sleep 60", &limits).unwrap();
        assert!(ended.is_late && ended.time < Duration::from_secs(30));
        assert_eq!(ended.output, b"x\n");
        limits.longest = None;
        let ended = run("echo y >&2; exit 3", &limits).unwrap();
        assert_eq!(
            (ended.failure().as_deref(), &ended.errors[..]),
            (Some("ends with 3"), &b"y\n"[..])
        );
        limits.end = Some(Instant::now());
        assert_eq!(run("sleep 60", &limits).err(), Some(Stop::Limit));
        signal.store(15, Ordering::SeqCst);
        assert_eq!(run("sleep 60", &limits).err(), Some(Stop::Interrupted));
    }
}
