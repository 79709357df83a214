//! Pragmas as calls of markers.

mod legacy;
mod told;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::iter::repeat_n;

use okl_chains::pragma::{
    ChainPragma, Item, LoopPragma, Position, Pragma as Says, Said, Sharing, What as Do, Within,
    Written, parse, write_marker,
};

use legacy::is_strip;

use super::functions::{self, Called, Function};
use super::openmp::{self, Directive};
use super::pragmas::Pragma;
use super::{Dialect, Facts, WORD, twice};
use crate::okl::edits::{self, Edit};
use crate::okl::tokens::{Tokens, unescape};
use crate::okl::{Diagnostic, Mode};
use crate::tune::schedules::Choice;
use crate::tune::told::Tuned;

/// How deep statements may be in each other.
const DEEPEST: usize = 1000;

/// A chain.
struct Chain {
    /// The number of its pragma.
    pragma: usize,
    said: ChainPragma,
    values: Vec<Written>,
    /// The brackets of its statement.
    open: usize,
    close: usize,
    /// Whether its schedule is left to okl.
    is_auto: bool,
    /// Whether the loops stay as they are written.
    is_left: bool,
    /// Whether threads of a region around share all of its loops.
    is_shared: bool,
    /// The loops in it, by the numbers of their pragmas.
    loops: Vec<(usize, LoopPragma)>,
    /// Calls of functions in it that may have loops, in front of which no pragma stands.
    calls: Vec<Called>,
    /// Whether loops of it are in other functions.
    has_callees: bool,
    /// Whether conditions in its loops hold for none of them.
    has_strips: bool,
}

/// The text with calls of markers, or what is wrong.
pub(crate) fn run(
    tokens: &Tokens,
    pragmas: &[Pragma],
    facts: Facts,
    tuned: Option<&Tuned>,
) -> Result<Result<String, Vec<Diagnostic>>, String> {
    let mut rewriting = Rewriting {
        tuned,
        tokens,
        pragmas,
        facts,
        edits: Vec::new(),
        errors: Vec::new(),
        wrong: Vec::new(),
        chains: Vec::new(),
        in_functions: Vec::new(),
        stripped: Vec::new(),
        callees: Vec::new(),
        functions: OnceCell::new(),
        copies: 0,
    };
    let ours = (0..pragmas.len()).filter(|number| pragmas[*number].name == WORD);
    for number in ours.clone() {
        let pragma = &pragmas[number];
        match parse(&pragma.tokens, pragma.at) {
            Ok(Said {
                pragma: Says::Chain(said),
                values,
            }) => rewriting.chain(number, said, values),
            Ok(Said {
                pragma: Says::Loop(said),
                values,
            }) => rewriting.one_loop(number, said, &values),
            Ok(Said {
                pragma: Says::Strip(_),
                ..
            }) => rewriting.strip(number),
            Ok(Said {
                pragma: Says::Call(_),
                ..
            }) => unreachable!("no pragma says that"),
            Err(error) => {
                if pragma
                    .tokens
                    .first()
                    .is_some_and(|one| one.text == "loopchain")
                {
                    rewriting.set_aside(number);
                }
                rewriting.error(number, error.at, error.message);
            }
        }
        rewriting.remove(number);
    }
    rewriting.mark_calls();
    for chain in std::mem::take(&mut rewriting.chains) {
        rewriting.check(&chain);
        rewriting.mark_chain(&chain);
        if rewriting.errors.is_empty() {
            rewriting.tell(&chain)?;
        }
    }
    if rewriting.errors.is_empty() {
        return Ok(Ok(edits::apply(
            tokens,
            rewriting.edits,
            Mode::Preprocessed,
        )));
    }
    rewriting.errors.sort_by_key(|(number, _)| *number);
    let errors = rewriting.errors.into_iter().map(|(_, error)| error);
    Ok(Err(errors.collect()))
}

struct Rewriting<'a> {
    tokens: &'a Tokens<'a>,
    pragmas: &'a [Pragma],
    facts: Facts,
    tuned: Option<&'a Tuned>,
    edits: Vec<Edit>,
    /// What is wrong, and with which pragma.
    errors: Vec<(usize, Diagnostic)>,
    /// The brackets of chains whose pragmas are wrong.
    wrong: Vec<(usize, usize)>,
    chains: Vec<Chain>,
    /// Loops in functions that chains may call, by their first tokens.
    in_functions: Vec<(usize, LoopPragma)>,
    /// Loops that have conditions which hold for none of them.
    stripped: Vec<(usize, usize)>,
    /// The names of functions that have loops of chains in them which call them.
    callees: Vec<String>,
    /// The functions of the text, where somebody wants to know.
    functions: OnceCell<Vec<Function>>,
    /// Copies of variables that have got names.
    copies: usize,
}

impl Rewriting<'_> {
    fn file(&self, number: usize) -> String {
        unescape(self.tokens.position(self.pragmas[number].start).quoted)
    }

    fn error(&mut self, number: usize, at: Position, message: String) {
        let error = Diagnostic {
            file: self.file(number),
            line: at.line as usize,
            column: at.column as usize,
            message,
        };
        self.errors.push((number, error));
    }

    /// Of the loops of a chain that is wrong it is not said that they are in none.
    fn set_aside(&mut self, number: usize) {
        let open = self.pragmas[number].next;
        let close = self.tokens.partner(open);
        let close = close.filter(|_| self.tokens.word(open) == "{");
        self.wrong.extend(close.map(|close| (open, close)));
    }

    /// What stands behind a pragma, for messages.
    fn behind(&self, number: usize) -> String {
        match self.tokens.word(self.pragmas[number].next) {
            "" => "the file ends".to_string(),
            word => format!("'{word}' follows"),
        }
    }

    /// Blanks in place of a pragma.
    fn remove(&mut self, number: usize) {
        let Pragma { start, end, .. } = self.pragmas[number];
        self.edits.push(Edit {
            start,
            end,
            text: String::new(),
            at: None,
            is_line: false,
        });
    }

    fn insert(&mut self, byte: usize, text: String) {
        self.edits.push(Edit {
            start: byte,
            end: byte,
            text,
            at: None,
            is_line: true,
        });
    }

    /// The pragmas between two tokens, of which one is behind them.
    fn group(&self, next: usize) -> impl Iterator<Item = usize> {
        let all = self.pragmas;
        let first = all.partition_point(|pragma| pragma.next < next);
        let last = all.partition_point(|pragma| pragma.next <= next);
        first..last
    }

    fn chain(&mut self, number: usize, mut said: ChainPragma, values: Vec<Written>) {
        let pragma = &self.pragmas[number];
        let open = pragma.next;
        let close = self.tokens.partner(open);
        let (Some(close), "{") = (close, self.tokens.word(open)) else {
            let message = format!(
                "'{{' is missing behind '#pragma omplc loopchain', and '}}' behind the loops of the chain; {}",
                self.behind(number)
            );
            return self.error(number, pragma.at, message);
        };
        if let Some(outer) = self.chains.iter().find(|chain| open < chain.close) {
            let message = format!(
                "a loop chain cannot stand in another one, which begins in line {}",
                self.pragmas[outer.pragma].at.line
            );
            return self.error(number, pragma.at, message);
        }
        if self.group(open).any(|other| {
            other > number && self.pragmas[other].name == "omp" && self.facts.has_openmp
        }) {
            self.set_aside(number);
            let message =
                "a directive of OpenMP cannot stand between '#pragma omplc loopchain' and its '{'";
            return self.error(number, pragma.at, message.to_string());
        }
        let is_auto = matches!(said.schedule[..], [Item { what: Do::Auto, .. }]);
        let is_left = self.choose(number, [open, close], &mut said);
        let mut calls = Vec::new();
        self.called(open + 1, close, &mut calls);
        let has_pragma = |call: &Called| {
            let mut group = self.group(call.begins);
            group.any(|other| self.pragmas[other].name == WORD)
        };
        let count = calls.len();
        calls.retain(|call| !has_pragma(call));
        self.chains.push(Chain {
            pragma: number,
            is_auto,
            is_left,
            is_shared: self.is_shared(open, close),
            said,
            values,
            open,
            close,
            loops: Vec::new(),
            calls,
            has_callees: count > 0,
            has_strips: false,
        });
    }

    /// Has a chain whose schedule is `auto`, between brackets, run as a file of schedules says. True where it stays as it is.
    fn choose(&self, number: usize, brackets: [usize; 2], said: &mut ChainPragma) -> bool {
        let (Some(tuned), [Item { at, what: Do::Auto }]) = (self.tuned, &said.schedule[..]) else {
            return false;
        };
        let text = self.text(brackets, &said.locals);
        match tuned.choice(&self.file(number), said.at.line, &text, *at) {
            Choice::Own | Choice::Changed(_) => false,
            Choice::AsWritten => true,
            Choice::Items(items) => {
                said.schedule = items;
                false
            }
        }
    }

    /// Whether the threads of a region share all loops of a chain, in a way in which okl can have them do so: each has a
    /// directive for that, and they can be there twice.
    fn is_shared(&self, open: usize, close: usize) -> bool {
        let in_it = self.pragmas.iter().filter(|one| {
            let word = one.tokens.first().map(|token| token.text.as_str());
            (open + 1..=close).contains(&one.next) && one.name == WORD && word == Some("for")
        });
        let shared = |one: &Pragma| {
            let mut all = self.group(one.next).map(|other| &self.pragmas[other]);
            all.any(|other| {
                let read = || openmp::read(other).ok().flatten();
                other.name == "omp" && read().is_some_and(|directive| directive.says.is_shared)
            })
        };
        self.facts.has_openmp
            && twice::can_be(self.tokens, open, close)
            && in_it.clone().count() > 0
            && { in_it }.all(shared)
    }

    fn one_loop(&mut self, number: usize, mut said: LoopPragma, values: &[Written]) {
        let pragma = &self.pragmas[number];
        let begins = pragma.next;
        if self
            .wrong
            .iter()
            .any(|(open, close)| (*open..*close).contains(&begins))
            && self.tokens.word(begins) == "for"
        {
            return;
        }
        let around = self.chains.iter().rposition(|chain| chain.open < begins);
        let around = around.filter(|at| begins < self.chains[*at].close);
        let called =
            around.and_then(|at| functions::call(self.tokens, begins, self.chains[at].close));
        if self.tokens.word(begins) != "for" && called.is_none() {
            let message = format!(
                "'#pragma omplc for' is not in front of a 'for' loop{}: {}",
                if around.is_some() {
                    ", or of a call of a function that has one"
                } else {
                    ""
                },
                self.behind(number)
            );
            return self.error(number, pragma.at, message);
        }
        let limit = match around {
            Some(around) => self.chains[around].close,
            None => {
                // Chains call the function, in this file or in another one.
                let Some(function) = self.around(begins) else {
                    let message = "'#pragma omplc for' is in no loop chain, and in no function that one may call";
                    return self.error(number, pragma.at, message.to_string());
                };
                let Function {
                    name,
                    parameters,
                    close,
                    ..
                } = function;
                let (name, mut parameters, close) = (name.clone(), parameters.clone(), *close);
                let open = function.open;
                // Its own variables are others in each call.
                for access in &said.accesses {
                    let space = &access.space.text;
                    let is_known = parameters.contains(space);
                    if !is_known && functions::declares(self.tokens, open, begins, space) {
                        parameters.push(space.clone());
                    }
                }
                if !self.callees.contains(&name) {
                    self.callees.push(name.clone());
                }
                said.within = Some(Within { name, parameters });
                close
            }
        };
        let Some(end) = self.statement(begins, limit, 0) else {
            let message = "the loop behind '#pragma omplc for' has no end";
            return self.error(number, pragma.at, message.to_string());
        };
        let in_it =
            |other: &&Pragma| other.name == WORD && other.start > pragma.start && other.next < end;
        let has_strips = self.pragmas.iter().filter(in_it).any(is_strip);
        let mut inside = self
            .pragmas
            .iter()
            .filter(|other| in_it(other) && !is_strip(other));
        if let Some(inner) = inside.next() {
            let message = if inner.next == begins {
                "the loop has a '#pragma omplc for' already"
            } else {
                "'#pragma omplc' cannot stand in a loop of a chain"
            };
            let number = self.pragmas.iter().position(|one| one.start == inner.start);
            let at = inner.at;
            return self.error(number.unwrap_or_default(), at, message.to_string());
        }

        if let Some(around) = around.filter(|at| self.chains[*at].is_left) {
            self.chains[around].loops.push((number, said));
            return;
        }

        // The block begins in front of whatever is about this loop.
        let group: Vec<_> = self.group(begins).collect();
        let before = group.iter().rev().skip_while(|other| **other >= number);
        let before = before.take_while(|other| openmp::is_of_loop(&self.pragmas[**other]));
        let first = before.last().copied().unwrap_or(number);
        let [mut in_front, mut behind] = [const { String::new() }; 2];
        for other in group {
            if self.pragmas[other].name != "omp" || !self.facts.has_openmp {
                continue;
            }
            let is_for = self.pragmas[other]
                .tokens
                .first()
                .is_some_and(|token| token.text == "for");
            if is_for && !around.is_some_and(|at| self.chains[at].is_shared) {
                continue;
            }
            match openmp::read(&self.pragmas[other]) {
                Err((at, message)) => self.error(other, at, message),
                Ok(None) => {}
                Ok(Some(directive)) => {
                    self.remove(other);
                    let own = self.own_variables(&directive, values, begins, end);
                    in_front += &own[0];
                    behind += &own[1];
                    said.openmp = Some(directive.says);
                }
            }
        }
        let text = write_marker(&self.file(number), &Says::Loop(said.clone()));
        let mut marker = self.marker(number, "__okl_omplc_for", &text, values, &in_front);
        if !behind.is_empty() {
            let _ = write!(marker, "\n{}{behind}", self.place(number, pragma.at.line));
        }
        let starts = self.pragmas[first].start;
        let mut ends = " }".to_string();
        if around.is_none()
            && (said.openmp.is_some() || has_strips)
            && twice::can_be(self.tokens, begins, end - 1)
        {
            marker = self.asks(starts) + "\n" + &marker;
            ends += "\n";
            ends += &twice::copy(self.tokens, starts, self.tokens.all[end - 1].end);
        }
        self.insert(starts, marker);
        self.end_marker(end - 1, "__okl_omplc_next", &ends);
        if has_strips {
            self.stripped.push((begins, end));
        }
        match around {
            Some(around) => {
                self.chains[around].has_strips |= has_strips;
                self.chains[around].loops.push((number, said));
            }
            None => self.in_functions.push((begins, said)),
        }
    }

    /// The markers at the brackets of a chain.
    fn mark_chain(&mut self, chain: &Chain) {
        if chain.is_left {
            return;
        }
        let text = write_marker(&self.file(chain.pragma), &Says::Chain(chain.said.clone()));
        let marker = self.marker(chain.pragma, "__okl_omplc_chain", &text, &chain.values, "");
        let inside = self.tokens.all[chain.open].end;
        // The user's own bracket begins the block.
        self.insert(inside, marker.replacen("{ ", "", 1));
        self.end_marker(chain.close, "__okl_omplc_end", "");
        // A schedule takes the place of what makes these loops parallel.
        let has_threads = chain.loops.iter().any(|(_, said)| said.openmp.is_some());
        if (has_threads || chain.has_callees || chain.has_strips)
            && twice::can_be(self.tokens, chain.open, chain.close)
        {
            let begins = self.tokens.all[chain.open].start;
            self.insert(begins, self.asks(begins));
            let ends = self.tokens.all[chain.close].end;
            self.insert(ends, twice::copy(self.tokens, begins, ends));
        }
    }

    /// What stands in front of what is there twice.
    fn asks(&self, byte: usize) -> String {
        let place = self.tokens.position(byte);
        let asks = twice::asks(self.facts.dialect);
        format!("# {} \"{}\" 3\n{asks}", place.line, place.quoted)
    }

    /// A line marker for a line of the file that a pragma is in.
    fn place(&self, number: usize, line: u32) -> String {
        let quoted = self.tokens.position(self.pragmas[number].start).quoted;
        format!("# {line} \"{quoted}\" 3\n")
    }

    /// A block begins, and in it, behind declarations, a marker with the values of a pragma, each at its place.
    fn marker(
        &self,
        number: usize,
        name: &str,
        text: &str,
        values: &[Written],
        declarations: &str,
    ) -> String {
        let pragma = &self.pragmas[number];
        let quoted = self.tokens.position(pragma.start).quoted;
        self.marker_at((quoted, pragma.at), name, text, values, declarations)
    }

    /// The same for what stands at a place of a file.
    fn marker_at(
        &self,
        (file, at): (&str, Position),
        name: &str,
        text: &str,
        values: &[Written],
        declarations: &str,
    ) -> String {
        let place = |line: u32| format!("# {line} \"{file}\" 3\n");
        let blanks = |at: Position| repeat_n(' ', at.column.saturating_sub(1) as usize);
        let mut out = place(at.line);
        let _ = writeln!(
            out,
            "{{ extern void {name}(const char *, ...) __asm__(\"{name}\") __attribute__((nothrow)); {declarations}"
        );
        out += &place(at.line);
        out.extend(blanks(at));
        let _ = write!(out, "{name}({}", quoted(text));
        for value in values {
            let _ = write!(out, ", (long)(\n{}", place(value.at.line));
            out.extend(blanks(value.at));
            let _ = write!(out, "{})", value.text);
        }
        out += ");";
        out
    }

    /// A marker without a text, in front of the last bracket of a chain or behind the last token of a loop.
    fn end_marker(&mut self, token: usize, name: &str, behind: &str) {
        let bytes = self.tokens.all[token];
        let is_behind = !behind.is_empty();
        let byte = if is_behind { bytes.end } else { bytes.start };
        let place = self.tokens.position(bytes.start);
        let text = format!(
            "# {} \"{}\" 3\n{{ extern void {name}(void) __asm__(\"{name}\") __attribute__((nothrow)); {name}(); }}{behind}",
            place.line, place.quoted
        );
        self.insert(byte, text);
    }

    /// Variables of a loop's own, by what its directive says: those in front of the marker, where nothing that they do parts
    /// it from the loop, and those behind it, as the marker's values name those outside.
    fn own_variables(
        &mut self,
        directive: &Directive,
        values: &[Written],
        begins: usize,
        end: usize,
    ) -> [String; 2] {
        let mut own = Vec::new();
        let mut copied = Vec::new();
        let mut is_kept = Vec::new();
        for clause in &directive.says.clauses {
            let names = clause.variables.iter().map(|name| name.text.clone());
            match clause.sharing {
                Sharing::Private => own.extend(names),
                Sharing::FirstPrivate => copied.extend(names),
                // What they are behind the loop is what it leaves in them.
                Sharing::LastPrivate | Sharing::Reduction(_) => is_kept.extend(names),
            }
        }
        if !directive.says.is_simd {
            own.extend(self.iterators(begins, directive.collapse));
        }
        own.retain(|name| !is_kept.contains(name));
        own.sort();
        own.dedup();
        copied.retain(|name| !is_kept.contains(name) && !self.is_only_read(name, begins, end));
        let [mut out, mut behind] = [const { String::new() }; 2];
        for name in copied {
            self.copies += 1;
            let copy = format!("__okl_copy_{}", self.copies);
            let _ = match self.facts.dialect {
                Dialect::C => write!(
                    out,
                    "__typeof__({name}) {copy}; __builtin_memcpy((void *)&{copy}, (const void *)&{name}, sizeof {copy}); \
                     __typeof__({name}) {name}; __builtin_memcpy((void *)&{name}, (const void *)&{copy}, sizeof {copy}); "
                ),
                // A class's own copying copies arrays, too.
                Dialect::Cpp => write!(
                    out,
                    "struct {copy}_of {{ __remove_reference_t(decltype({name})) value; }} \
                     {copy}(*(const {copy}_of *)(const volatile void *)__builtin_addressof({name})); \
                     auto &{name} = {copy}.value; "
                ),
            };
        }
        for name in own {
            let is_named = values.iter().any(|value| {
                let mut names = value
                    .text
                    .split(|one: char| !one.is_alphanumeric() && one != '_');
                names.any(|one| one == name)
            });
            let out = if is_named { &mut behind } else { &mut out };
            let _ = match self.facts.dialect {
                Dialect::C => write!(out, "__typeof__({name}) {name}; "),
                Dialect::Cpp => write!(out, "__remove_reference_t(decltype({name})) {name}; "),
            };
        }
        [out, behind]
    }

    /// The variables of so many loops one in the other that are declared outside.
    fn iterators(&self, mut at: usize, count: usize) -> Vec<String> {
        let mut names = Vec::new();
        for _ in 0..count {
            let open = at + 1;
            let (Some(close), "for") = (self.tokens.partner(open), self.tokens.word(at)) else {
                break;
            };
            if self.tokens.is_name(open + 1) && self.tokens.word(open + 2) == "=" {
                names.push(self.tokens.word(open + 1).to_string());
            }
            at = close + 1;
            while self.tokens.word(at) == "{" {
                at += 1;
            }
        }
        names
    }

    /// Whether a variable, an array or a class's too, is surely only read: as part of an index, compared with
    /// something, or multiplied or divided.
    fn is_only_read(&self, name: &str, begins: usize, end: usize) -> bool {
        const BEHIND_INDEX: [&str; 6] = ["]", "+", "-", "*", "/", "%"];
        const BEHIND_COMPARED: [&str; 10] = [";", ")", "&&", "||", "?", "+", "-", "*", "/", "%"];
        let word = |at: usize| self.tokens.word(at);
        let mut uses = (begins..end).filter(|at| word(*at) == name);
        uses.all(|at| {
            // Not what a lambda captures.
            let is_index = word(at - 1) == "["
                && (self.tokens.is_name(at - 2) || matches!(word(at - 2), ")" | "]"));
            let is_compared = matches!(word(at - 1), "<" | "<=" | "==" | "!=");
            let is_factor = matches!(word(at - 1), "/" | "%")
                || word(at - 1) == "*"
                    && (word(at - 2) == "]"
                        || self.tokens.is_name(at - 2) && word(at - 2) != "return");
            let is_product = matches!(word(at - 1), "=" | "+=" | "-=" | "+" | "-" | "(")
                && matches!(word(at + 1), "*" | "/" | "%");
            is_product
                || is_factor && BEHIND_COMPARED.contains(&word(at + 1))
                || is_index && BEHIND_INDEX.contains(&word(at + 1))
                || is_compared && BEHIND_COMPARED.contains(&word(at + 1))
        })
    }

    /// The token behind a statement.
    fn statement(&self, at: usize, limit: usize, depth: usize) -> Option<usize> {
        if at >= limit || depth > DEEPEST {
            return None;
        }
        let word = |at: usize| if at < limit { self.tokens.word(at) } else { "" };
        let behind = |open: usize| {
            let close = self.tokens.partner(open).filter(|close| *close < limit);
            close.map(|close| close + 1)
        };
        let next = |at: usize| self.statement(at, limit, depth + 1);
        match word(at) {
            "{" => behind(at),
            "for" | "while" | "switch" if word(at + 1) == "(" => next(behind(at + 1)?),
            "if" => {
                let mut open = at + 1;
                while matches!(word(open), "constexpr" | "consteval" | "!") {
                    open += 1;
                }
                let then = if word(open) == "(" {
                    behind(open)?
                } else {
                    open
                };
                let end = next(then)?;
                if word(end) == "else" {
                    next(end + 1)
                } else {
                    Some(end)
                }
            }
            "do" => {
                let end = next(at + 1)?;
                let end = behind(end + 1).filter(|_| word(end) == "while")?;
                (word(end) == ";").then_some(end + 1)
            }
            "try" => {
                let mut end = behind(at + 1)?;
                while word(end) == "catch" {
                    end = behind(behind(end + 1)?)?;
                }
                Some(end)
            }
            "case" => next(self.tokens.find(at, limit, &[":"]) + 1),
            "default" => next(at + 2),
            "[" if word(at + 1) == "[" => next(behind(at)?),
            _ if self.tokens.is_name(at) && word(at + 1) == ":" => next(at + 2),
            _ => {
                let end = self.tokens.find(at, limit, &[";"]);
                (end < limit).then_some(end + 1)
            }
        }
    }

    /// What can only be said of all loops of a chain.
    fn check(&mut self, chain: &Chain) {
        let in_it = |pragma: &&Pragma| (chain.open + 1..=chain.close).contains(&pragma.next);
        let written = self.pragmas.iter().filter(in_it);
        let is_loop = |pragma: &&Pragma| {
            pragma.name == WORD && pragma.tokens.first().is_some_and(|one| one.text == "for")
        };
        let written = written.filter(is_loop).count();
        let has_calls = !chain.calls.is_empty();
        if written == 0 && !has_calls {
            let message = "the loop chain has no loops: '#pragma omplc for domain(...)' stands in front of each of them";
            self.error(chain.pragma, chain.said.at, message.to_string());
            return;
        }
        let fuse = chain
            .said
            .schedule
            .iter()
            .find_map(|item| match &item.what {
                Do::Fuse(Some(shifts)) => Some(Some((item.at, shifts.len()))),
                Do::Fuse(None) => Some(None),
                _ => None,
            });
        if let Some((at, shifts)) = fuse.flatten()
            && shifts != written
            && !has_calls
        {
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            let message = format!(
                "'fuse' has {shifts} shift{}, and the chain has {written} loop{}: each loop has one shift",
                plural(shifts),
                plural(written)
            );
            self.error(chain.pragma, at, message);
        }
        let mut ranks: HashMap<&str, (usize, u32)> = HashMap::new();
        let mut is_derived = has_calls;
        for (number, one) in &chain.loops {
            is_derived |= one.accesses.is_empty();
            for access in &one.accesses {
                let rank = access.places.first().map_or(0, Vec::len);
                let space = &access.space;
                let known = ranks.entry(&space.text).or_insert((rank, space.at.line));
                if known.0 != rank {
                    let message = format!(
                        "elements of '{}' have {rank} indices here and {} in line {}",
                        space.text, known.0, known.1
                    );
                    self.error(*number, space.at, message);
                }
            }
        }
        for name in &chain.said.locals {
            if !is_derived && !ranks.contains_key(name.text.as_str()) {
                let message = format!("no loop of the chain accesses '{}'", name.text);
                self.error(chain.pragma, name.at, message);
            }
        }
    }
}

/// A text as a literal of C.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for one in text.chars() {
        match one {
            // `?`, as three of them may be one character of another kind.
            '\\' | '"' | '?' => out.extend(['\\', one]),
            one => out.push(one),
        }
    }
    out.push('"');
    out
}
