//! Runs the commands of the documents, so that what they tell a reader to type works as written.
//!
//! In a Markdown file, the fenced blocks count:
//!
//! - `sh`: commands. Those of one document run in order, in one shell and one new folder, in which `okl`
//!   leads to the repository; the first that fails ends it.
//! - `sh not-run: REASON`: commands that are not run here.
//! - `LANGUAGE FILE`, as in `c heat.c`: writes the file.
//! - `text`, right behind `sh`: what that block prints, on either stream. Its lines appear in this order,
//!   each whole; others may stand between them, and `...` in a line is any text.
//!
//! Blocks of another language alone are for reading only; each names one. The programs beside the runner (`okl-cc`, `okl-run`) are on the path.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Common;
use crate::jobs::{self, Outcome, Tally};
use crate::lines::short_name;
use crate::process::{self, End};
use crate::tools::Tools;

/// Of all commands of a document.
const LIMIT: Duration = Duration::from_secs(300);
/// Stands in the output where a block begins; the number of its line follows.
const BLOCK: &str = "okl-tests: the block at line ";

/// A fenced block that does something.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    /// Commands, and the lines they print.
    Commands { text: String, prints: Vec<String> },
    /// A file and its text.
    File { name: String, text: String },
}

/// Runs the commands of every document at or below `paths`.
pub(crate) fn run(paths: &[PathBuf], common: &Common) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let mut documents = Vec::new();
    for path in paths {
        let at = |error: std::io::Error| format!("{}: {error}", path.display());
        collect(&path.canonicalize().map_err(at)?, &mut documents).map_err(at)?;
    }
    let wanted = common.filter.as_deref().unwrap_or("");
    documents.retain(|one| one.to_string_lossy().contains(wanted));
    documents.sort();
    Ok(jobs::run_all(
        &documents,
        common.jobs,
        |one| short_name(one),
        |one| match check(one, &tools, common) {
            Ok(()) => Outcome::Passed,
            Err(why) => Outcome::Failed(why),
        },
    ))
}

fn collect(path: &Path, documents: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), documents)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "md") {
        documents.push(path.to_owned());
    }
    Ok(())
}

/// Whether the document's blocks are what blocks may be, and its commands do what it says.
fn check(document: &Path, tools: &Tools, common: &Common) -> Result<(), String> {
    let text = fs::read_to_string(document).map_err(|error| error.to_string())?;
    let blocks = blocks(&text)?;
    if blocks.is_empty() {
        return Ok(());
    }
    let folder = common.folder()?;
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    repository
        .canonicalize()
        .and_then(|repository| symlink(repository, folder.path().join("okl")))
        .map_err(|error| error.to_string())?;
    let mut path = tools.runtime_dir.clone().into_os_string();
    path.push(":");
    path.push(tools.path());
    let finished = process::run(
        Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", &script(&blocks)])
            .env("PATH", path)
            .env("OKL_JIT_CACHE", "0"),
        folder.path(),
        "",
        LIMIT,
    )?;
    let printed = finished.stdout;
    if finished.end != End::Exit(0) {
        return Err(format!("{}\n{printed}", finished.end));
    }
    for (line, block) in &blocks {
        let Block::Commands { prints, .. } = block else {
            continue;
        };
        let begin = printed.split_once(&format!("{BLOCK}{line}\n"));
        let own = begin.map_or("", |(_, rest)| rest.split(BLOCK).next().unwrap_or(""));
        if let Some(missing) = first_missing(prints, own) {
            return Err(format!(
                "line {line}: the commands do not print, at its place:\n{missing}\nbut:\n{own}"
            ));
        }
    }
    Ok(())
}

/// One script of all blocks, in which each tells its line before it runs.
fn script(blocks: &[(usize, Block)]) -> String {
    let mut script = String::from("exec 2>&1\n");
    for (line, block) in blocks {
        let written = match block {
            Block::Commands { text, .. } => writeln!(script, "echo '{BLOCK}{line}'\n{text}"),
            Block::File { name, text } => writeln!(
                script,
                "mkdir -p \"$(dirname '{name}')\"\ncat >'{name}' <<'OKL END'\n{text}OKL END"
            ),
        };
        written.expect("writing to a string");
    }
    script
}

/// The first of `wanted` that does not appear in `printed` behind those before it.
fn first_missing<'a>(wanted: &'a [String], printed: &str) -> Option<&'a str> {
    let mut lines = printed.lines();
    wanted
        .iter()
        .find(|wanted| !lines.any(|line| fits(wanted, line)))
        .map(String::as_str)
}

/// Whether a line is as the document has it, where `...` is any text.
fn fits(wanted: &str, line: &str) -> bool {
    let (wanted, mut rest) = (wanted.trim_end(), line.trim_end());
    let Some((first, others)) = wanted.split_once("...") else {
        return wanted == rest;
    };
    let Some(behind) = rest.strip_prefix(first) else {
        return false;
    };
    rest = behind;
    let mut parts = others.split("...").peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    true
}

/// The blocks of a document that do something, each with the number of its first line.
fn blocks(text: &str) -> Result<Vec<(usize, Block)>, String> {
    let mut blocks: Vec<(usize, Block)> = Vec::new();
    // The block of commands that the next block of output belongs to.
    let mut commands: Option<usize> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            if !line.trim().is_empty() {
                commands = None;
            }
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let mut body = String::new();
        loop {
            let (_, line) = lines
                .next()
                .ok_or(format!("line {}: the block has no end", number + 1))?;
            if line.trim() == "```" {
                break;
            }
            body.push_str(line.get(indent..).unwrap_or("").trim_end());
            body.push('\n');
        }
        let (language, rest) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
        match (language, rest, commands) {
            ("sh", "", _) => {
                let prints = Vec::new();
                blocks.push((number + 1, Block::Commands { text: body, prints }));
                commands = Some(blocks.len() - 1);
                continue;
            }
            ("sh", reason, _) if reason.starts_with("not-run: ") => {}
            ("sh", other, _) => {
                return Err(format!(
                    "line {}: 'sh {other}' is neither 'sh' nor 'sh not-run: REASON'",
                    number + 1
                ));
            }
            ("text", "", Some(of)) => {
                if let Block::Commands { prints, .. } = &mut blocks[of].1 {
                    prints.extend(body.lines().map(str::to_owned));
                }
            }
            (_, name, _) if !name.is_empty() => {
                let name = name.to_owned();
                blocks.push((number + 1, Block::File { name, text: body }));
            }
            ("", ..) => {
                return Err(format!(
                    "line {}: what is in this block? `sh`, `text`, the name of a language ...",
                    number + 1
                ));
            }
            _ => {}
        }
        commands = None;
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files_commands_and_what_they_print() {
        let text = "# T\n```c a.c\nint a;\n```\n1. x\n   ```sh\n   cc a.c\n   ```\n   ```text\n   ok ...\n   ```\n\
                    ```sh not-run: takes long\nsleep 9\n```\n```text\nfor reading\n```\n";
        let file = Block::File {
            name: "a.c".into(),
            text: "int a;\n".into(),
        };
        let commands = Block::Commands {
            text: "cc a.c\n".into(),
            prints: vec!["ok ...".into()],
        };
        assert_eq!(blocks(text).unwrap(), [(2, file), (6, commands)]);
        assert!(blocks("```sh\nx").is_err());
        assert!(blocks("```\nx\n```").is_err());
        assert!(blocks("```sh slow\nx\n```").is_err());
    }

    #[test]
    fn output_of_another_block_is_none() {
        let text = "```sh\nx\n```\nWords.\n```text\ny\n```\n";
        let commands = Block::Commands {
            text: "x\n".into(),
            prints: Vec::new(),
        };
        assert_eq!(blocks(text).unwrap(), [(1, commands)]);
    }

    #[test]
    fn lines_fit_with_any_text_for_dots() {
        assert!(fits("a ... b ... c", "a 1 b 2 c"));
        assert!(!fits("a ... b ... c", "a 1 b 2 d"));
        assert!(!fits("a ... b", "a 1"));
        assert!(fits("...", ""));
        assert!(fits("x", "x  "));
        assert!(!fits("x", "x y"));
    }

    #[test]
    fn finds_lines_in_their_order_only() {
        let wanted = ["b".to_owned(), "a".to_owned()];
        assert_eq!(first_missing(&wanted, "a\nb\n"), Some("a"));
        assert_eq!(first_missing(&wanted, "b\nx\na\n"), None);
    }
}
