//! Pragmas in Fortran as calls of markers.

use std::collections::HashMap;
use std::fmt::Write as _;

use okl_chains::pragma::{
    ChainPragma, Position, Pragma as Says, Said, Token, Written, parse, write_marker,
};

use super::Pragma;
use super::lines::{Does, Form, Line, does};
use crate::loop_chains::{WORD, openmp, pragmas};
use crate::okl::Diagnostic;

/// The columns that a statement has in fixed form.
const COLUMNS: std::ops::Range<usize> = 6..72;

/// A chain.
struct Chain {
    /// The line of its pragma.
    line: usize,
    said: ChainPragma,
    values: Vec<Written>,
    /// Whether one of its loops has threads by a directive of OpenMP.
    has_threads: bool,
    loops: usize,
}

/// What comes in place of lines, or behind them.
#[derive(Default)]
struct Changes {
    /// Lines that go; what comes in their place.
    instead: HashMap<usize, String>,
    behind: HashMap<usize, String>,
}

/// The text with calls of markers, or what is wrong with its pragmas.
pub(super) fn run(
    text: &str,
    name: &str,
    form: Form,
    lines: &[Line],
    pragmas: &[Pragma],
    has_openmp: bool,
) -> Result<String, Vec<Diagnostic>> {
    let mut rewriting = Rewriting {
        name,
        form,
        lines,
        pragmas,
        has_openmp,
        changes: Changes::default(),
        errors: Vec::new(),
        chains: Vec::new(),
    };
    rewriting.chains();
    if !rewriting.errors.is_empty() {
        rewriting.errors.sort_by_key(|one| (one.line, one.column));
        return Err(rewriting.errors);
    }
    rewriting.twice(text);
    Ok(rewriting.changes.apply(text, name))
}

impl Changes {
    fn apply(&self, text: &str, name: &str) -> String {
        let place = |line: usize| format!("#line {line} \"{}\"\n", escaped(name));
        let mut out = place(1);
        for (number, line) in text.lines().enumerate() {
            match self.instead.get(&number) {
                Some(instead) => {
                    out += instead;
                    out += &place(number + 2);
                }
                None => {
                    out += line;
                    out.push('\n');
                }
            }
            if let Some(behind) = self.behind.get(&number) {
                out += &place(number + 1);
                out += behind;
                out += &place(number + 2);
            }
        }
        out
    }
}

/// A file's name in a directive of the preprocessor.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

struct Rewriting<'a> {
    name: &'a str,
    form: Form,
    lines: &'a [Line],
    pragmas: &'a [Pragma],
    has_openmp: bool,
    changes: Changes,
    errors: Vec<Diagnostic>,
    /// Those that are complete, and the lines that they end in.
    chains: Vec<(Chain, usize)>,
}

impl Rewriting<'_> {
    fn error(&mut self, at: Position, message: impl Into<String>) {
        self.errors.push(Diagnostic {
            file: self.name.to_string(),
            line: at.line as usize,
            column: at.column as usize,
            message: message.into().replace("'#pragma omplc", "'!$omplc"),
        });
    }

    /// Marks all chains and their loops.
    fn chains(&mut self) {
        let mut open: Option<Chain> = None;
        let mut is_wrong = false;
        for (number, pragma) in self.pragmas.iter().enumerate() {
            if pragma.name != WORD {
                continue;
            }
            self.remove(pragma.line);
            let word = |at: usize| pragma.tokens.get(at).map_or("", |token| &token.text);
            if word(0) == "end" {
                if word(1) != "loopchain" || pragma.tokens.len() > 2 {
                    let message = "'loopchain', and nothing else, is missing behind '!$omplc end'";
                    self.error(pragma.at, message);
                } else {
                    match open.take() {
                        Some(chain) => self.end(chain, pragma),
                        None if is_wrong => {}
                        None => self.error(pragma.at, "no loop chain ends here: none has begun"),
                    }
                }
                is_wrong = false;
                continue;
            }
            match parse(&pragma.tokens, pragma.at) {
                Ok(Said {
                    pragma: Says::Chain(said),
                    values,
                }) => {
                    if let Some(outer) = &open {
                        let message = format!(
                            "a loop chain cannot stand in another one, which begins in line {}; '!$omplc end loopchain' \
                             ends it",
                            outer.line + 1
                        );
                        self.error(pragma.at, message);
                        continue;
                    }
                    open = Some(Chain {
                        line: pragma.line,
                        said,
                        values,
                        has_threads: false,
                        loops: 0,
                    });
                }
                Ok(Said {
                    pragma: Says::Loop(said),
                    values,
                }) => match &mut open {
                    Some(chain) => {
                        chain.loops += 1;
                        let has_threads = self.one_loop(number, said, &values);
                        if let Some(chain) = &mut open {
                            chain.has_threads |= has_threads;
                        }
                    }
                    None if is_wrong => {}
                    None => {
                        let message = "'!$omplc for' is in no loop chain: '!$omplc loopchain schedule(...)' stands in \
                                       front of its loops, and '!$omplc end loopchain' behind them";
                        self.error(pragma.at, message);
                    }
                },
                Ok(Said {
                    pragma: Says::Strip(_) | Says::Call(_),
                    ..
                }) => {
                    let message = "'!$omplc strip' is not there for Fortran: without it, the condition stays where it is";
                    self.error(pragma.at, message);
                }
                Err(error) => {
                    match &mut open {
                        Some(chain) => chain.loops += 1,
                        None => is_wrong |= word(0) == "loopchain",
                    }
                    self.error(error.at, error.message);
                }
            }
        }
        if let Some(chain) = open {
            let message = "'!$omplc end loopchain' is missing behind the loops of this chain";
            self.error(chain.said.at, message);
        }
    }

    fn end(&mut self, chain: Chain, end: &Pragma) {
        if chain.loops == 0 {
            let message = "the loop chain has no loops: '!$omplc for domain(...)' stands in front of each of them";
            return self.error(chain.said.at, message);
        }
        let text = write_marker(self.name, &Says::Chain(chain.said.clone()));
        let marker = self.marker(
            "__okl_omplc_chain",
            Some(&text),
            &chain.values,
            chain.said.at,
        );
        self.instead(chain.line, marker);
        let marker = self.marker("__okl_omplc_end", None, &[], end.at);
        self.instead(end.line, marker);
        self.chains.push((chain, end.line));
    }

    /// Nothing in place of a directive.
    fn remove(&mut self, line: usize) {
        let rest = self.lines[line + 1..].iter();
        let rest = rest.take_while(|one| **one == Line::Continued).count();
        for line in line..=line + rest {
            self.changes.instead.insert(line, String::new());
        }
    }

    fn instead(&mut self, line: usize, text: String) {
        let place = self.place(line + 1);
        self.changes.instead.insert(line, place + &text);
    }

    /// One loop; whether it has threads.
    fn one_loop(
        &mut self,
        number: usize,
        mut said: okl_chains::pragma::LoopPragma,
        values: &[Written],
    ) -> bool {
        let pragma = &self.pragmas[number];
        let Some((first, last)) = self.loop_behind(pragma.line) else {
            let message = "'!$omplc for' is not in front of a 'do' loop that ends in this file";
            self.error(pragma.at, message);
            return false;
        };
        let inside = |other: &&Pragma| (pragma.line + 1..=last).contains(&other.line);
        let ours = |other: &&Pragma| inside(other) && other.name == WORD;
        if let Some(inner) = self.pragmas.iter().find(ours) {
            let message = if inner.line < first {
                "the loop has a '!$omplc for' already"
            } else {
                "'!$omplc' cannot stand in a loop of a chain"
            };
            self.error(inner.at, message);
            return false;
        }
        if self.has_openmp {
            let before = self.pragmas[..number].last();
            let before = before.filter(|one| self.is_next(one.line, pragma.line));
            let between = self.pragmas[number + 1..].iter();
            let between = between.take_while(|one| one.line < first);
            let directives: Vec<_> = before.into_iter().chain(between).cloned().collect();
            for directive in directives.iter().filter(|one| one.name == "omp") {
                match openmp::read(&in_c(directive)) {
                    Err((at, message)) => self.error(at, message),
                    Ok(None) => {}
                    Ok(Some(read)) => {
                        self.remove(directive.line);
                        said.openmp = Some(read.says);
                    }
                }
            }
            let behind = self.pragmas.iter().find(|one| one.line > last);
            let behind = behind.filter(|one| self.is_next(last, one.line) && one.name == "omp");
            if let (Some(end), true) = (behind, said.openmp.is_some())
                && end.tokens.first().is_some_and(|one| one.text == "end")
            {
                self.remove(end.line);
            }
        }
        let has_threads = said.openmp.is_some();
        let text = write_marker(self.name, &Says::Loop(said));
        let marker = self.marker("__okl_omplc_for", Some(&text), values, pragma.at);
        self.instead(pragma.line, marker);
        let end = Position::new(u32::try_from(last).unwrap_or(0) + 1, 1);
        let marker = self.marker("__okl_omplc_next", None, &[], end);
        self.changes.behind.insert(last, marker);
        has_threads
    }

    /// Whether nothing but comments is between two lines.
    fn is_next(&self, from: usize, to: usize) -> bool {
        let between = self.lines[from + 1..to].iter();
        { between }.all(|one| matches!(one, Line::Blank | Line::Continued | Line::Preprocessor))
    }

    /// The lines in which the loop behind one begins and ends.
    fn loop_behind(&self, line: usize) -> Option<(usize, usize)> {
        let mut open: Vec<Option<u32>> = Vec::new();
        let mut first = None;
        for (at, one) in self.lines.iter().enumerate().skip(line + 1) {
            let Line::Statements(all) = one else {
                continue;
            };
            for statement in all.iter().filter(|one| !one.is_empty()) {
                let (label, _, what) = does(statement);
                match what {
                    Does::Begin(until) => open.push(until),
                    Does::End if open.last() == Some(&None) => drop(open.pop()),
                    Does::End | Does::Other => {}
                }
                while label.is_some() && open.last() == Some(&label) {
                    open.pop();
                }
                first = first.or((!open.is_empty()).then_some(at));
                if open.is_empty() {
                    let rest = self.lines[at + 1..].iter();
                    let rest = rest.take_while(|one| **one == Line::Continued).count();
                    return first.map(|first| (first, at + rest));
                }
            }
        }
        None
    }

    /// A block in which a marker is called at a place, with a text and numbers.
    fn marker(&self, name: &str, text: Option<&str>, values: &[Written], at: Position) -> String {
        let names: Vec<String> = (0..values.len()).map(|at| format!("okl_{at}")).collect();
        let mut declares = Statement::default();
        declares.add("block; interface; pure subroutine okl_omplc( ");
        declares.list(&names);
        declares.add(") bind(c, name= ");
        match text {
            None => declares.add(&format!("'{name}'")),
            Some(text) => {
                declares.add(&format!("'{name}_text_'"));
                for part in text.as_bytes().chunks(20) {
                    let mut piece = String::from("//'");
                    for byte in part {
                        let _ = write!(piece, "{byte:02x}");
                    }
                    declares.add(&format!("{piece}'"));
                }
            }
        }
        declares.add("); ");
        if !values.is_empty() {
            declares.add("integer(8), value :: ");
            declares.list(&names);
            declares.add("; ");
        }
        declares.add("end subroutine; end interface");
        let mut calls = Statement::default();
        calls.add("call okl_omplc( ");
        for (at, value) in values.iter().enumerate() {
            calls.add(if at > 0 { ", int( " } else { "int( " });
            calls.add(&value.text);
            calls.add(", 8)");
        }
        calls.add("); end block");
        let place = self.place(at.line as usize);
        format!(
            "{}{place}{}",
            declares.lines(self.form, 1),
            calls.lines(self.form, at.column as usize)
        )
    }

    /// What says that the next line is one of the user's file.
    fn place(&self, line: usize) -> String {
        format!("#line {line} \"{}\"\n", escaped(self.name))
    }

    /// Has chains whose loops have directives of OpenMP be there once more, for where they do not run as scheduled.
    fn twice(&mut self, text: &str) {
        let all: Vec<&str> = text.lines().collect();
        for (chain, end) in &self.chains {
            let end = *end;
            let inside = chain.line + 1..end;
            if !chain.has_threads || !self.can_be_twice(inside.clone()) {
                continue;
            }
            let asks = "block; interface; integer(4) function okl_omplc() bind(c, name= '__okl_omplc_scheduled'); end \
                        function; end interface; if (okl_omplc() /= 0) then";
            let line = |text: &str| {
                let mut statement = Statement::default();
                statement.add(text);
                statement.lines(self.form, 1)
            };
            let begins = self.changes.instead.get(&chain.line).cloned();
            let begins = begins.unwrap_or_default();
            let (place, marker) = begins.split_once('\n').unwrap_or_default();
            let begins = format!("{place}\n{}{marker}", line(asks));
            let mut copy = String::new();
            let ours: Vec<_> = self.pragmas.iter().filter(|one| one.name == WORD).collect();
            for at in inside {
                let is_ours = ours.iter().any(|one| {
                    let rest = self.lines[one.line + 1..].iter();
                    let rest = rest.take_while(|one| **one == Line::Continued).count();
                    (one.line..=one.line + rest).contains(&at)
                });
                copy += if is_ours { "" } else { all[at] };
                copy.push('\n');
            }
            let behind = self.changes.instead.get(&end).cloned().unwrap_or_default();
            let behind = format!(
                "{behind}{}{}{copy}{}{}",
                line("else"),
                self.place(chain.line + 2),
                self.place(end + 1),
                line("end if; end block")
            );
            self.changes.instead.insert(chain.line, begins);
            self.changes.instead.insert(end, behind);
        }
    }

    /// Whether lines mean the same where they are there once more: nothing in them has a label or a name.
    fn can_be_twice(&self, mut lines: std::ops::Range<usize>) -> bool {
        lines.all(|at| match &self.lines[at] {
            Line::Statements(all) => all.iter().all(|one| {
                let (label, is_named, _) = does(one);
                label.is_none() && !is_named
            }),
            Line::Preprocessor => false,
            _ => true,
        })
    }
}

/// A statement in pieces between which a line may end.
#[derive(Default)]
struct Statement {
    pieces: Vec<String>,
}

impl Statement {
    /// More of it, where a line may end behind each blank.
    fn add(&mut self, text: &str) {
        let more = text.split_inclusive(' ').map(str::to_string);
        self.pieces.extend(more);
    }

    /// Names with commas between.
    fn list(&mut self, names: &[String]) {
        for (at, name) in names.iter().enumerate() {
            self.add(if at > 0 { ", " } else { "" });
            self.add(name);
        }
    }

    /// Its lines, the first of which begins in a column if it can.
    fn lines(&self, form: Form, column: usize) -> String {
        let blanks = column.saturating_sub(1);
        if form == Form::Free {
            return " ".repeat(blanks) + &self.pieces.concat() + "\n";
        }
        let first = blanks.clamp(COLUMNS.start, COLUMNS.end / 2);
        let mut out = " ".repeat(first);
        let mut column = first;
        for piece in &self.pieces {
            if column + piece.len() > COLUMNS.end {
                out += "\n     &";
                column = COLUMNS.start;
            }
            out += piece;
            column += piece.len();
        }
        out + "\n"
    }
}

/// A directive of Fortran's OpenMP as that of C's.
fn in_c(directive: &Pragma) -> pragmas::Pragma {
    let word = |token: &Token| match token.text.as_str() {
        "do" => "for".to_string(),
        other => other.to_string(),
    };
    let mut tokens = directive.tokens.clone();
    let names = tokens.iter_mut().take_while(|token| token.text != "(");
    names.for_each(|token| token.text = word(token));
    pragmas::Pragma {
        start: 0,
        end: 0,
        next: 0,
        at: directive.at,
        tokens,
        name: directive.name.to_string(),
    }
}
