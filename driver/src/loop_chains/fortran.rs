//! Pragmas of loop chains in Fortran, `!$omplc`: comments to flang, in whose place the calls of markers come that the pass
//! knows, before anything is preprocessed.
//!
//! ```text
//! !$omplc loopchain schedule(..)     call __okl_omplc_chain_text_TEXT(int(value, 8), ..)
//! !$omplc for domain(..) ..          call __okl_omplc_for_text_TEXT(int(value, 8), ..)
//! do .. end do                       do .. end do; call __okl_omplc_next()
//! !$omplc end loopchain              call __okl_omplc_end()
//! ```
//!
//! Each call is in a block with an interface of its own, in which the text is part of the name, in hexadecimal digits: flang
//! copies the texts of arguments. All of the user's stays in its lines. In pragmas macros are expanded by flang, which
//! preprocesses a text that has the user's lines for the preprocessor, and of each other line its number: so it is also known
//! which lines there are.

mod lines;
mod rewrite;

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use okl_chains::pragma::{Position, Token, tokens};

use super::{WORD, bytes_of};
use crate::arguments::{Arguments, Part, Stage, is_one_of, parts};
use crate::okl::Diagnostic;
use crate::okl_inputs::plain;
use lines::{Form, Line, sentinel};

/// Of inputs in Fortran, written small.
const FREE: &str = " f90 f95 f03 f08 f18 cuf ";
const FIXED: &str = " f for ftn fpp f77 ";

/// An input with loop chains.
#[derive(Debug, PartialEq)]
pub(crate) struct Input {
    /// As the user names it.
    pub(crate) name: OsString,
    form: Form,
    text: String,
}

/// The inputs of a command that have loop chains.
pub(crate) fn inputs(arguments: &Arguments) -> Result<Vec<Input>, String> {
    if arguments.stage < Stage::Check {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (name, _) in &arguments.sources {
        let extension = Path::new(name).extension().and_then(OsStr::to_str);
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        let is_fixed = is_one_of(FIXED, &extension);
        if !is_fixed && !is_one_of(FREE, &extension) {
            continue;
        }
        let mut form = if is_fixed { Form::Fixed } else { Form::Free };
        for word in &arguments.expanded[0] {
            match word.to_str() {
                Some("-ffixed-form") => form = Form::Fixed,
                Some("-ffree-form") => form = Form::Free,
                _ => {}
            }
        }
        let Some(bytes) = bytes_of(Path::new(name)) else {
            continue;
        };
        // What is no UTF-8 is in comments and literals.
        let text = String::from_utf8_lossy(&bytes);
        let mut sentinels = text.lines().filter_map(|line| sentinel(line, form));
        if sentinels.any(|(name, _)| name == WORD) {
            if let Err(error) = std::str::from_utf8(&bytes) {
                let before = &bytes[..error.valid_up_to()];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                return Err(format!(
                    "{}:{line}: this file has loop chains, and is not UTF-8 here",
                    Path::new(name).display()
                ));
            }
            found.push(Input {
                name: name.clone(),
                form,
                text: text.into_owned(),
            });
        }
    }
    Ok(found)
}

/// A pragma, once macros are expanded.
#[derive(Clone, Debug)]
struct Pragma {
    /// Where its line is, from 0.
    line: usize,
    name: &'static str,
    at: Position,
    tokens: Vec<Token>,
}

impl Input {
    /// The text with calls of markers, or what is wrong with its pragmas. `flang` are a compiler and options, of which those
    /// for the preprocessor count.
    pub(crate) fn marked(
        &self,
        flang: &Path,
        options: &[OsString],
        folder: &Path,
    ) -> Result<Result<String, Vec<Diagnostic>>, String> {
        let name = self.name.to_string_lossy();
        let all = lines::lines(&self.text, self.form, |_| true);
        let is_active;
        let mut expanded = HashMap::new();
        if all.contains(&Line::Preprocessor) || options.iter().any(|one| is_definition(one)) {
            let text = preprocessed(&self.skeleton(&all), self, flang, options, folder)?;
            let (active, texts) = read_back(&text);
            expanded = texts;
            is_active = Some(active);
        } else {
            is_active = None;
        }
        let is_there = |line: usize| is_active.as_ref().is_none_or(|all| all.contains(&line));
        let all = lines::lines(&self.text, self.form, is_there);
        let has_openmp = options.iter().any(|one| {
            let text = one.to_string_lossy();
            text.starts_with("-fopenmp") && text != "-fopenmp-simd" || text == "-openmp"
        });
        let mut pragmas = Vec::new();
        for (line, one) in all.iter().enumerate() {
            let Line::Directive(directive) = one else {
                continue;
            };
            let written = &directive.tokens;
            let tokens = match expanded.get(&line) {
                Some(text) => {
                    let made = tokens(&text.to_ascii_lowercase(), directive.at);
                    super::pragmas::expanded_at(&made, written, directive.at)
                }
                None => written.clone(),
            };
            pragmas.push(Pragma {
                line,
                name: directive.name,
                at: directive.at,
                tokens,
            });
        }
        Ok(rewrite::run(
            &self.text, &name, self.form, &all, &pragmas, has_openmp,
        ))
    }

    /// What the preprocessor gets: a name for each line, and pragmas as text.
    fn skeleton(&self, all: &[Line]) -> String {
        let mut out = String::new();
        for (number, (text, line)) in self.text.lines().zip(all).enumerate() {
            match line {
                Line::Preprocessor => out += text,
                Line::Directive(directive) if directive.name == WORD => {
                    let _ = write!(out, "{LINE}{number} :");
                    for token in &directive.tokens {
                        // As it is written: names of macros have small and large letters.
                        let at = token.at.line as usize - 1;
                        let written = self.text.lines().nth(at).and_then(|line| {
                            let from = token.at.column as usize - 1;
                            line.get(from..from + token.text.len())
                        });
                        let gap = if token.is_apart { " " } else { "" };
                        let _ = write!(out, "{gap}{}", written.unwrap_or(&token.text));
                    }
                }
                _ => {
                    let _ = write!(out, "{LINE}{number}");
                }
            }
            out.push('\n');
        }
        out
    }
}

/// What the name of a line begins with.
const LINE: &str = "okl_line_";

/// Whether an option defines a macro, or has the preprocessor know some.
fn is_definition(option: &OsStr) -> bool {
    option.as_bytes().starts_with(b"-D") || option == "-cpp"
}

/// What flang's preprocessor makes of a text in free form in place of an input.
fn preprocessed(
    text: &str,
    input: &Input,
    flang: &Path,
    options: &[OsString],
    folder: &Path,
) -> Result<String, String> {
    let name = Path::new(&input.name);
    let told = |error: std::io::Error| format!("{}: {error}", name.display());
    let file = folder
        .join("lines")
        .join(name.file_name().unwrap_or_default());
    std::fs::create_dir_all(folder.join("lines")).map_err(told)?;
    std::fs::write(&file, text).map_err(told)?;
    let mut command = Command::new(flang);
    command.args(["-E", "-P", "-ffree-form"]);
    for part in parts(options) {
        let Part::Option(option, value) = part else {
            continue;
        };
        let text = option.to_string_lossy();
        let is_its = ["-D", "-U", "-I"].iter().any(|one| text.starts_with(one));
        let is_its = is_its || matches!(&*text, "-cpp" | "-nocpp") || text.starts_with("-fopenmp");
        if is_its {
            command.arg(option).args(value);
        }
    }
    command.arg(includes(name)).arg(&file);
    let output = command.stderr(Stdio::inherit()).output().map_err(told)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{}: the lines for the preprocessor cannot be read, which the file's loop chains may need",
            name.display()
        )),
    }
}

/// The option by which what an input includes is found from elsewhere.
pub(crate) fn includes(input: &Path) -> OsString {
    let own = input.parent().filter(|own| !own.as_os_str().is_empty());
    let mut option = OsString::from("-I");
    option.push(own.unwrap_or(Path::new(".")));
    option
}

/// The lines that are there, and the texts of pragmas.
fn read_back(text: &str) -> (HashSet<usize>, HashMap<usize, String>) {
    let mut joined: Vec<String> = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start();
        match (rest.strip_prefix('&'), joined.last_mut()) {
            (Some(rest), Some(last)) if last.ends_with('&') => {
                last.pop();
                last.push_str(rest);
            }
            _ => joined.push(rest.to_string()),
        }
    }
    let mut active = HashSet::new();
    let mut texts = HashMap::new();
    for line in &joined {
        let Some(rest) = line.strip_prefix(LINE) else {
            continue;
        };
        let (number, text) = rest.split_once(':').unwrap_or((rest, ""));
        if let Ok(number) = number.trim().parse::<usize>() {
            active.insert(number);
            texts.extend(
                rest.contains(':')
                    .then(|| (number, text.trim().to_string())),
            );
        }
    }
    (active, texts)
}

/// A name for the rewritten text of an input, the number of which is in the command.
pub(crate) fn file(folder: &Path, number: usize, input: &OsStr) -> PathBuf {
    let name = Path::new(input).file_name().unwrap_or(input);
    folder.join(number.to_string()).join(plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text becomes.
    fn marked(text: &str, form: Form) -> String {
        let input = Input {
            name: "a.f".into(),
            form,
            text: text.to_string(),
        };
        let options = ["-fopenmp".into()];
        let marked = input.marked(Path::new("no-flang"), &options, Path::new("no-folder"));
        marked.unwrap().unwrap()
    }

    #[test]
    fn all_stays_in_its_lines() {
        let text = "x = 1\n  !$omplc loopchain schedule(tile((n), serial, &\n  !$omplc& parallel))\n!$omp parallel do\n\
                    !$omplc for domain(1:n%m)\n! c\no: do i = 1, n\n end do o; y = 2\n!$omp end parallel do\n\
                    !$omplc end loopchain\nz = 3\n";
        let all = marked(text, Form::Free);
        for (line, place) in [
            ("x = 1", 1),
            ("          call okl_omplc( int( n, 8)); end block", 2),
            ("        call okl_omplc( int( n%m, 8)); end block", 5),
            ("! c", 6),
            ("o: do i = 1, n", 7),
            (" end do o; y = 2", 8),
            ("z = 3", 11),
        ] {
            let before = all.split(&format!("\n{line}\n")).next().unwrap();
            assert!(before.len() < all.len(), "{line}: {all}");
            let mut lines = before.lines().rev();
            let behind = lines
                .clone()
                .take_while(|one| !one.starts_with("#line "))
                .count();
            let marked = lines.nth(behind).unwrap();
            assert_eq!(
                marked,
                format!("#line {} \"a.f\"", place - behind),
                "{line}"
            );
        }
        assert!(!all.contains("!$omp"), "{all}");
        // A loop that has a name is there once.
        assert!(!all.contains("scheduled"), "{all}");
        let twice = marked(&text.replace("o: ", "").replace(" o;", ";"), Form::Free);
        assert!(twice.contains("okl_omplc() /= 0) then\n"), "{twice}");
        let copy = "\nelse\n#line 3 \"a.f\"\n\n!$omp parallel do\n\n! c\ndo i = 1, n\n end do; y = 2\n!$omp end parallel do\n\
                    #line 10 \"a.f\"\nend if; end block\n";
        assert!(twice.contains(copy), "{twice}");
    }

    #[test]
    fn fixed_lines_have_72_columns() {
        let text = "c$omplc loopchain schedule()\nc$omplc for domain(first:last, 1:a_long_name)\n      do 10 i = 1, n\n\
                    \x20     do 10 j = 1, n\n 10   continue\nc$omplc end loopchain\n";
        let input = Input {
            name: "a.f".into(),
            form: Form::Fixed,
            text: text.to_string(),
        };
        let marked = input.marked(Path::new("no-flang"), &[], Path::new("no-folder"));
        let marked = marked.unwrap().unwrap();
        assert!(marked.lines().all(|line| line.len() <= 72), "{marked}");
        let next = marked.find("__okl_omplc_next").unwrap();
        assert!(next > marked.find(" 10   continue").unwrap());
    }

    #[test]
    fn what_the_preprocessor_made_is_read() {
        let text = "      okl_line_0\n\n      okl_line_4 : loopchain sched&\n     &ule(fuse())\n      okl_line_7\n";
        let (active, texts) = read_back(text);
        assert_eq!(active, HashSet::from([0, 4, 7]));
        assert_eq!(texts[&4], "loopchain schedule(fuse())");
    }
}
