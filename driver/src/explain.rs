//! `--okl-explain`: the plugin's remarks, what costs most first, each with a sentence on what to change.
//!
//! The compiler writes the remarks as an optimization record into a pipe, so that the user's own
//! diagnostics stay as they are, and several files of one command add to one record.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::process::{Command, ExitStatus};
use std::{io, process, thread};

use crate::language::Language;
use crate::measured::Measured;

/// A remark of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its kind.
    pub name: String,
    /// Whether something could not be done.
    pub missed: bool,
    /// File and line, or the function.
    pub place: String,
    /// What it says.
    pub message: String,
}

/// What to change about a remark of a kind that says something.
struct Advice {
    name: &'static str,
    /// Words of the message; empty for all others of the kind.
    says: &'static str,
    advice: &'static str,
}

const fn advice(name: &'static str, says: &'static str, advice: &'static str) -> Advice {
    Advice { name, says, advice }
}

/// What costs most first; of a kind the first line that fits counts.
#[rustfmt::skip]
const TABLE: &[Advice] = &[
    // A whole region on one rank.
    advice("Declined", "waits for a flag", "Set OKL_FLAGS=ranks where threads compute for milliseconds between two flags and okl does not distribute it by itself; otherwise let them wait at a barrier or through task dependences."),
    advice("Declined", "waits for another thread", "Let threads wait at a barrier, for a lock or through task dependences instead of for a variable."),
    advice("Declined", "keeps state in the C library", "Call a variant that keeps its state in the caller (rand_r, strtok_r, localtime_r), or call it before the region."),
    advice("Declined", "open in one process only", "Let the region write into memory, and write that to the file behind the region."),
    advice("Declined", "standard input", "Read the input into memory before the region."),
    advice("Declined", "works inside one process only", "Use OpenMP's own locks, critical or atomic, or do this outside of the region."),
    advice("Declined", "inline assembly", "Use C or a builtin of the compiler instead of assembly, or move it out of the region."),
    advice("Declined", "C++ stream", "Let the region write into a std::ostringstream, and write that to the file behind the region."),
    advice("Declined", "leaves the region's frames", "Leave the region in the usual way, with a flag or `cancel`, instead of by a jump."),
    advice("Declined", "op_par_loop runs element by element", "Write the loop with literal dimensions, types and accesses, and its kernel as a function of the same file."),
    advice("Declined", "", "Move what is named here out of the region."),
    // The same of a whole region that others could share.
    advice("AtOnce", "", "Let each thread count, or collect what it finds, in memory of its own, and use one atomic access for many elements."),
    // A page fault for each page, where a copy would do.
    advice("Elsewhere", "", "Give the loop one array (rows at one distance, a[i * n + j]) instead of pointers that it loads itself."),
    advice("Tracked", "which is not known here", "Define the function in this file or in a header, so that the compiler sees what it accesses."),
    advice("Tracked", "in a loop", "Make what is called small enough to be inlined, or have one loop nest for each region."),
    advice("Tracked", "not known before the loop", "Give the loop one array (rows at one distance, a[i * n + j]) instead of pointers that it loads itself."),
    advice("Tracked", "cannot be told before the loop", "Let each iteration write at a place that follows from its number."),
    advice("Tracked", "too many", "Divide the region, or its largest function, into several."),
    advice("Tracked", "has a critical section", "Let the critical section do nothing but updates such as `sum += x`, or use a reduction."),
    advice("Tracked", "recursive", "Call the recursive function outside of the region, or use a loop."),
    advice("Tracked", "escape", "Do not hand the address of a private variable to functions that are not inlined."),
    advice("Tracked", "calls", "Define the function in this file or in a header and let it be inlined, or call it outside of the region."),
    advice("Tracked", "", "Use loops whose bounds and indices are known before they start."),
    // The same, unless another file says what is accessed.
    advice("Depends", "", "Nothing, if the function only computes, keeps times and counts, or shares loops itself. OKL_STATS=1 tells where pages were tracked even so: define the function in this file or in a header then."),
    // An OP2 loop, or a critical section, one after the other.
    advice("Threads", "op_par_loop", "Let the kernel do nothing but change its arguments, without calls that the compiler cannot see."),
    advice("Threads", "of this @outer loop", "Let the loop count by variables of the kernel, and have at most 256 KiB of @shared, @exclusive and other variables."),
    advice("Threads", "", "Compile the file with --okl-target=cpu, or let loops of OP2 do what its regions do."),
    advice("Locked", "@atomic", "Write `@atomic` before single updates such as `a[i] += x`, and keep conditions and calls with addresses out of it."),
    advice("Locked", "", "Let the critical section do nothing but updates such as `sum += x`, or use a reduction."),
    advice("Lanes", "one element at a time", "Compile with -O2 -march=native, and let the kernel be short, with constant loops and no calls."),
    advice("Storage", "looks at op_dat->data", "Get the data with op_fetch_data instead of op_dat->data."),
    advice("Storage", "", "Let the kernel only read its data, or add to them through OP_INC."),
    advice("Chain", "on one thread", "Compile with -fopenmp, and let the chain stand outside of parallel regions."),
    advice("Chain", "it is trusted that", "Look whether it is so; --okl-strict makes it an error."),
    advice("Chain", "stay", "docs/loop-chains.md says what loops a chain can have."),
    advice("Fused", "not run as one", "docs/loop-chains.md says which parallel loops can run as one; where pragmas make a chain of them, more can."),
    advice("Jit", "is not compiled once more", "docs/jit.md says what such loops and regions can do; it runs as it was compiled."),
    advice("Lazy", "", "docs/jit.md says what such kernels can do; without OKL_LAZY=1 nothing is lost."),
    // Nothing to change.
    advice("Jit", "", ""),
    advice("Distributed", "", ""),
    advice("Fused", "", ""),
    advice("Chain", "", ""),
    advice("Declared", "", ""),
    advice("Device", "", ""),
    advice("Collected", "", ""),
    advice("Lanes", "", ""),
];

/// Runs the compiler, which reads `typed`, and explains what the plugin remarks.
pub(crate) fn run(
    language: &Language,
    command: &[OsString],
    asked: &Asked,
    typed: Option<&File>,
) -> Result<ExitStatus, String> {
    let failed = |error: io::Error| format!("cannot run {}: {error}", command[0].to_string_lossy());
    let (mut reader, writer) = io::pipe().map_err(failed)?;
    let pipe = format!("/proc/{}/fd/{}", process::id(), writer.as_raw_fd());
    let reading = thread::spawn(move || {
        let mut text = Vec::new();
        reader.read_to_end(&mut text).map(|_| text)
    });
    let options = ["-opt-record-file", &pipe, "-opt-record-passes", "okl"];
    let mut all = Command::new(&command[0]);
    // The first word may be `--driver-mode`.
    all.args(options.iter().flat_map(|option| [language.proper, option]));
    if let Some(mut typed) = typed {
        // Another command may have read it.
        typed.rewind().map_err(failed)?;
        all.stdin(typed.try_clone().map_err(failed)?);
    }
    let status = all.args(&command[1..]).status().map_err(failed)?;
    drop(writer);
    let text = reading
        .join()
        .map_err(|_| "cannot read the remarks")?
        .map_err(failed)?;
    if status.success() {
        eprint!("{}", explain(parse(&String::from_utf8_lossy(&text)), asked));
    }
    Ok(status)
}

/// How remarks are explained.
#[derive(Debug, Default)]
pub struct Asked {
    /// Whether the code is optimised.
    pub optimises: bool,
    /// What the program cost when it ran.
    pub measured: Option<Measured>,
}

/// The remarks as text for the user.
pub fn explain(remarks: Vec<Remark>, asked: &Asked) -> String {
    let Asked {
        optimises,
        measured,
    } = asked;
    let mut ranked: Vec<(usize, &str, Remark)> = Vec::new();
    for remark in remarks {
        let (rank, advice) = rank(&remark);
        if !ranked.iter().any(|(_, _, known)| *known == remark) {
            ranked.push((rank, advice, remark));
        }
    }
    if ranked.is_empty() {
        return "okl: nothing to explain: no parallel regions or loops of OP2\n".to_string();
    }
    ranked.sort_by_key(|(rank, _, _)| *rank);
    if let Some(run) = measured {
        // What cost alike stays in order.
        let share = |remark: &Remark| run.at(&remark.place).map_or(0.0, |place| run.share(place));
        ranked.sort_by(|(_, _, a), (_, _, b)| share(b).total_cmp(&share(a)));
    }
    let mut told = Vec::new();
    let costs = ranked.iter().filter(|(_, _, remark)| remark.missed).count();
    let mut text = match (measured, costs) {
        (Some(_), _) => "okl: what cost most when the program ran comes first:\n".to_string(),
        (None, 0) => "okl: nothing to change:\n".to_string(),
        (None, _) => "okl: what costs most comes first:\n".to_string(),
    };
    for (_, advice, remark) in &ranked {
        let _ = writeln!(
            text,
            "{}: {} [{}]",
            remark.place, remark.message, remark.name
        );
        if !advice.is_empty() {
            let _ = writeln!(text, "    {advice}");
        }
        // The numbers of a place once, with what is to be changed there.
        let place = measured
            .as_ref()
            .and_then(|run| Some((run, run.at(&remark.place)?)));
        if let Some((run, place)) = place
            && !told.contains(&&remark.place)
        {
            told.push(&remark.place);
            let _ = writeln!(text, "    {}", run.in_words(place));
            let all_there = ranked
                .iter()
                .filter(|(_, _, other)| other.place == remark.place);
            let is_fine = all_there.into_iter().all(|(_, _, other)| !other.missed);
            let advice = if is_fine { run.advice(place) } else { "" };
            if !advice.is_empty() {
                let _ = writeln!(text, "    {advice}");
            }
        }
    }
    let has = |name: &str| ranked.iter().any(|(_, _, remark)| remark.name == name);
    if has("Distributed") && !optimises {
        text += "okl: without -O1 or more, nothing is known of what regions access: give -O2\n";
    }
    text
}

/// The place in the order of costs, and the advice. What is not known comes before what needs no change.
fn rank(remark: &Remark) -> (usize, &'static str) {
    let found = TABLE
        .iter()
        .position(|line| line.name == remark.name && remark.message.contains(line.says));
    let first_without = TABLE.iter().position(|line| line.advice.is_empty());
    match found {
        Some(at) => (2 * at + 1, TABLE[at].advice),
        None if remark.missed => (2 * first_without.unwrap_or(TABLE.len()), ""),
        None => (2 * TABLE.len(), ""),
    }
}

/// Reads LLVM's optimization record, which is YAML: one document for each remark.
pub fn parse(record: &str) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for document in record.split("--- !").skip(1) {
        let (kind, body) = document.split_once('\n').unwrap_or((document, ""));
        let field = |name: &str| {
            let rest = body.lines().find_map(|line| line.strip_prefix(name))?;
            Some(scalar(rest).0)
        };
        if field("Pass:").as_deref() != Some("okl") {
            continue;
        }
        let Some(name) = field("Name:") else { continue };
        let function = field("Function:").unwrap_or_default();
        let arguments = body.split_once("\nArgs:").map_or("", |(_, rest)| rest);
        let message = arguments
            .lines()
            .filter_map(|line| line.strip_prefix("  - ")?.split_once(':'))
            .map(|(_, value)| scalar(value).0)
            .collect();
        remarks.push(Remark {
            name,
            missed: kind.trim() == "Missed",
            place: location(body).unwrap_or_else(|| format!("in function {function}")),
            message,
        });
    }
    remarks
}

/// `FILE:LINE` of a document's `DebugLoc: { File: FILE, Line: LINE, Column: COLUMN }`, which may be
/// broken into lines behind a comma.
fn location(body: &str) -> Option<String> {
    let (_, rest) = body.split_once("DebugLoc:")?;
    let rest = rest.trim_start().strip_prefix('{')?;
    let (_, rest) = rest.split_once("File:")?;
    let (file, rest) = scalar(rest);
    let (_, rest) = rest.split_once("Line:")?;
    let line: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    Some(format!("{file}:{line}"))
}

/// A plain or quoted scalar at the start of the text, and what follows it.
fn scalar(text: &str) -> (String, &str) {
    let text = text.trim_start_matches([' ', '\n']);
    match text.chars().next() {
        Some('\'') => {
            let mut value = String::new();
            let mut rest = &text[1..];
            loop {
                let Some((part, behind)) = rest.split_once('\'') else {
                    return (value + rest, "");
                };
                value += part;
                match behind.strip_prefix('\'') {
                    Some(more) => {
                        value.push('\'');
                        rest = more;
                    }
                    None => return (value, behind),
                }
            }
        }
        Some('"') => {
            let mut value = String::new();
            let mut rest = text[1..].chars();
            while let Some(one) = rest.next() {
                match one {
                    '"' => break,
                    '\\' => match rest.next() {
                        Some('n') => value.push('\n'),
                        Some('t') => value.push('\t'),
                        Some(other) => value.push(other),
                        None => break,
                    },
                    one => value.push(one),
                }
            }
            (value, rest.as_str())
        }
        _ => {
            let end = text.find([',', '\n', '}']).unwrap_or(text.len());
            // In a block, a comma is part of a plain scalar.
            let line = text.find('\n').unwrap_or(text.len());
            let end = if text[..line].contains('}') {
                end
            } else {
                line
            };
            (text[..end].trim_end().to_string(), &text[end..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};
    use std::{collections::BTreeSet, fs};

    const RECORD: &str = "--- !Passed
Pass:            okl
Name:            Distributed
DebugLoc:        { File: a.c, Line: 4, Column: 1 }
Function:        main
Args:
  - String:          parallel region distributed over MPI ranks
...
--- !Missed
Pass:            inline
Name:            NoDefinition
Function:        main
...
--- !Missed
Pass:            okl
Name:            Declined
DebugLoc:        { File: 'a/very''long/name.c', 
                   Line: 5, Column: 1 }
Function:        main
Args:
  - String:          'region runs on rank 0 alone: it calls rand, which keeps state in the C library (a.c:6)'
...
--- !Missed
Pass:            okl
Name:            New
Function:        f
Args:
  - String:          \"a \\\"new\\\" one\"
...
";

    #[test]
    fn reads_a_record() {
        let remarks = parse(RECORD);
        assert_eq!(remarks.len(), 3);
        assert_eq!(remarks[0].place, "a.c:4");
        assert_eq!(
            remarks[0].message,
            "parallel region distributed over MPI ranks"
        );
        assert!(!remarks[0].missed);
        assert_eq!(remarks[1].place, "a/very'long/name.c:5");
        assert!(remarks[1].message.ends_with("(a.c:6)"));
        assert_eq!(remarks[2].place, "in function f");
        assert_eq!(remarks[2].message, "a \"new\" one");
    }

    #[test]
    fn what_costs_most_comes_first() {
        let mut remarks = parse(RECORD);
        remarks.extend(parse(RECORD));
        assert_eq!(
            explain(remarks, &Asked::default()),
            "okl: what costs most comes first:
a/very'long/name.c:5: region runs on rank 0 alone: it calls rand, which keeps state in the C library (a.c:6) [Declined]
    Call a variant that keeps its state in the caller (rand_r, strtok_r, localtime_r), or call it before the region.
in function f: a \"new\" one [New]
a.c:4: parallel region distributed over MPI ranks [Distributed]
okl: without -O1 or more, nothing is known of what regions access: give -O2
"
        );
    }

    #[test]
    fn names_are_together_and_end_with_a_line_for_all() {
        let names: Vec<_> = TABLE.iter().map(|line| line.name).collect();
        for (at, line) in TABLE.iter().enumerate() {
            let last = names.iter().rposition(|name| *name == line.name).unwrap();
            assert_eq!(
                line.says.is_empty(),
                at == last,
                "{}: {}",
                line.name,
                line.says
            );
        }
    }

    /// The text of the plugin's sources, where strings that go on in the next line are joined.
    fn sources() -> String {
        fn add(folder: &Path, text: &mut String) {
            let mut entries: Vec<PathBuf> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    add(&path, text);
                } else if path
                    .extension()
                    .is_some_and(|one| one == "rs" || one == "cpp")
                {
                    *text += &fs::read_to_string(path).unwrap();
                }
            }
        }
        let pass = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pass");
        let mut text = String::new();
        add(&pass.join("src"), &mut text);
        add(&pass.join("cxx"), &mut text);
        let mut parts = text.split("\\\n");
        let first = parts.next().unwrap().to_string();
        parts.fold(first, |all, part| all + part.trim_start())
    }

    /// Every kind of remark that the plugin has is in the table, and no other.
    #[test]
    fn every_kind_of_remark_has_advice() {
        let sources = sources();
        let calls = sources.split(".remark(").skip(1);
        let made: BTreeSet<_> = calls
            .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split_once('"'))
            .map(|(name, _)| name)
            .collect();
        let named = sources.matches("remark(&self").count();
        assert!(made.len() >= 9 && named > 0, "{made:?}");
        let known: BTreeSet<_> = TABLE.iter().map(|line| line.name).collect();
        assert_eq!(made, known);
        // Without arguments it is a function that makes remarks; all others have their name before them.
        let with_a_name = sources
            .split(".remark(")
            .skip(1)
            .filter(|rest| !rest.trim_start().starts_with(')'))
            .all(|rest| rest.trim_start().starts_with('"'));
        assert!(with_a_name, "a remark whose name is no literal");
    }

    /// Advice is given for words that the plugin still says.
    #[test]
    fn advice_is_about_what_the_plugin_says() {
        let sources = sources();
        for line in TABLE {
            assert!(sources.contains(line.says), "{}: {}", line.name, line.says);
        }
    }
}
