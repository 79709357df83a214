//! Runs one command with a time limit. Whatever it started is gone when [`run`] returns.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Signal(i32),
    TimedOut(Duration),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exit(code) => write!(f, "exit code {code}"),
            End::Signal(number) => write!(f, "signal {number}"),
            End::TimedOut(limit) => write!(f, "killed after {} s", limit.as_secs()),
        }
    }
}

/// What a command did.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The command as a shell user would type it, for messages.
pub(crate) fn command_line(command: &Command) -> String {
    let quote = |text: &std::ffi::OsStr| {
        let text = text.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?, value?)))
        .filter(|(name, _)| *name != "PATH")
        .map(|(name, value)| format!("{name}={}", quote(value)));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables
        .chain(words.map(quote))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Tells Open MPI that ranks share the cores with others: they may run on any, and those that wait do not spin.
pub(crate) const SHARES_CORES: &[(&str, &str)] = &[
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
];

/// A program on that many ranks, which share the cores.
pub(crate) fn on_ranks(program: &Path, ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe"]);
    command.args(["-n", &ranks.to_string()]).arg(program);
    command.envs(SHARES_CORES.iter().copied());
    command
}

/// Runs `command` in `folder` with `input` as its standard input, for at most `limit`. Once more where Open MPI met a
/// race of its own and the command failed for it: what fails for another reason fails again.
pub(crate) fn run(
    command: &mut Command,
    folder: &Path,
    input: &str,
    limit: Duration,
) -> Result<Finished, String> {
    let mut once = || {
        let finished = run_io(command, folder, input, limit);
        finished.map_err(|error| format!("cannot run {}: {error}", command_line(command)))
    };
    match once()? {
        finished if finished.end != End::Exit(0) && met_race_of_mpirun(&finished.stderr) => once(),
        finished => Ok(finished),
    }
}

/// Whether mpirun of Open MPI 4 says of a rank that it ended without a word, and knows no process of that rank any more.
/// It says so of ranks that ended well, in one run of some thousands (open-mpi/ompi, issues 7833 and 9389).
fn met_race_of_mpirun(stderr: &str) -> bool {
    stderr.contains("with PID 0 on") && stderr.contains("exiting improperly")
}

fn run_io(
    command: &mut Command,
    folder: &Path,
    input: &str,
    limit: Duration,
) -> io::Result<Finished> {
    // Files instead of pipes: a process that outlives the command cannot keep us waiting.
    let streams = tempfile::tempdir()?;
    let path = |name: &str| streams.path().join(name);
    fs::write(path("in"), input)?;
    let mut child = command
        .current_dir(folder)
        .process_group(0)
        .stdin(File::open(path("in"))?)
        .stdout(File::create(path("out"))?)
        .stderr(File::create(path("err"))?)
        .spawn()?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break match (status.code(), status.signal()) {
                (Some(code), _) => End::Exit(code),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            };
        }
        if start.elapsed() >= limit {
            kill_with_descendants(child.id())?;
            child.wait()?;
            break End::TimedOut(limit);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let text = |name| fs::read(path(name)).map(|b| String::from_utf8_lossy(&b).into_owned());
    Ok(Finished {
        end,
        stdout: text("out")?,
        stderr: text("err")?,
    })
}

/// Ends `root`, its process group and all its descendants: mpirun puts each rank into a group of
/// its own.
fn kill_with_descendants(root: u32) -> io::Result<()> {
    let mut doomed = vec![root];
    let parents = parents()?;
    let mut i = 0;
    while i < doomed.len() {
        let parent = doomed[i];
        doomed.extend(
            parents
                .iter()
                .filter(|(_, p)| *p == parent)
                .map(|(pid, _)| *pid),
        );
        i += 1;
    }
    let pids = doomed.iter().map(u32::to_string).collect::<Vec<_>>();
    Command::new("bash")
        .args(["-c", "kill -KILL -- \"$@\"", "kill", &format!("-{root}")])
        .args(pids)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}

/// (process, parent) of every process there is.
fn parents() -> io::Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        // A process may end between listing and reading.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name in parentheses may itself hold spaces and parentheses.
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1))
            .and_then(|field| field.parse().ok());
        found.extend(parent.map(|parent| (pid, parent)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a command ends that says `says` and fails in its first `failures` runs.
    fn end(says: &str, failures: u32) -> End {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo x >> runs; [ $(wc -l < runs) -gt {failures} ] || {{ echo '{says}' >&2; exit 1; }}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let finished = run(&mut command, folder.path(), "", Duration::from_secs(10));
        finished.unwrap().end
    }

    #[test]
    fn what_mpirun_gets_wrong_is_run_once_more() {
        let says =
            "mpirun has exited due to process rank 1 with PID 0 on\\nnode vm exiting improperly.";
        assert_eq!(end(says, 1), End::Exit(0));
        assert_eq!(end(says, 2), End::Exit(1));
        assert_eq!(end("anything else", 1), End::Exit(1));
    }
}
