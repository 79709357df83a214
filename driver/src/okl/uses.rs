//! Reading attributes where they stand, in each of their spellings: `@outer(0)`, `[[okl_outer("(0)")]]`
//! and `__attribute__((okl_outer("(0)")))`.

use super::Mode;
use super::attributes::{ATTRIBUTES, Argument, Attribute, Form, Parentheses, directive, named};
use super::normalise::Normaliser;
use super::tokens::{Kind, Tokens, unescape};

/// An attribute that stands somewhere.
#[derive(Clone)]
pub(crate) struct Use {
    pub(crate) row: &'static Attribute,
    /// The byte to complain at.
    pub(crate) at: usize,
    /// The bytes that it takes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// What stays of them, being no attribute of OKL's.
    pub(crate) rest: String,
    pub(crate) arguments: Vec<Argument>,
}

const PREFIX: &str = "okl_";

impl Normaliser<'_> {
    /// Whether an attribute of OKL's begins at a token.
    pub(crate) fn is_attribute(&self, at: usize) -> bool {
        self.tokens.word(at) == "@"
            || self.listed(at).is_some_and(|items| {
                // Longer lists there are none.
                (items.0..items.1.min(items.0 + 256))
                    .any(|item| self.tokens.word(item).starts_with(PREFIX))
            })
    }

    /// The items of `[[...]]` or `__attribute__((...))`, and the token behind.
    fn listed(&self, at: usize) -> Option<(usize, usize, usize)> {
        let tokens = &self.tokens;
        let outer = match tokens.word(at) {
            "[" => at,
            "__attribute__" => at + 1,
            _ => return None,
        };
        let bracket = if outer == at { "[" } else { "(" };
        if tokens.word(outer) != bracket || tokens.word(outer + 1) != bracket {
            return None;
        }
        let (end, inner) = (tokens.partner(outer)?, tokens.partner(outer + 1)?);
        (inner + 1 == end).then_some((outer + 2, inner, end + 1))
    }

    /// The token behind the attribute at a token; nothing is said about it.
    pub(crate) fn behind_attribute(&self, at: usize) -> usize {
        if let Some((_, _, end)) = self.listed(at) {
            return end;
        }
        if !self.tokens.is_name(at + 1) {
            return at + 1;
        }
        match named(self.tokens.word(at + 1)) {
            Some(row) => self
                .own_parentheses(row, at + 2)
                .map_or(at + 2, |end| end + 1),
            None => self.unknown_end(at + 2),
        }
    }

    /// The end of what stands in parentheses right behind an attribute that is not known.
    fn unknown_end(&self, at: usize) -> usize {
        let adjacent = self.tokens.start(at) == self.tokens.all[at - 1].end;
        match self.tokens.partner(at) {
            Some(end) if adjacent && self.tokens.word(at) == "(" => end + 1,
            _ => at,
        }
    }

    /// The end of the attribute's parentheses, if those at a token are its own.
    fn own_parentheses(&self, row: &Attribute, at: usize) -> Option<usize> {
        if self.tokens.word(at) != "(" {
            return None;
        }
        let end = self.tokens.partner(at)?;
        let own = match row.parentheses {
            Parentheses::Own => true,
            Parentheses::Expression => {
                end == at + 1
                    || self.tokens.word(end + 1) == "{"
                    || [Kind::Identifier, Kind::Number]
                        .iter()
                        .any(|kind| self.tokens.is(end + 1, *kind))
            }
        };
        own.then_some(end)
    }

    /// Reads the attributes from a token on. Directives are put where they stand if this is where a
    /// statement begins. Returns the token behind.
    pub(crate) fn attributes(&mut self, mut at: usize, uses: &mut Vec<Use>, begins: bool) -> usize {
        while self.is_attribute(at) {
            let known = uses.len();
            at = match self.listed(at) {
                Some((from, to, end)) => {
                    self.list(at, from, to, end, uses);
                    end
                }
                None => self.sign(at, uses),
            };
            let mut added = uses.split_off(known);
            added.retain(|one| {
                let is_directive = matches!(one.row.form, Form::Directive);
                if is_directive && begins {
                    self.put_directive(one, &mut at);
                } else if is_directive {
                    self.misplaced(one);
                }
                !is_directive
            });
            uses.extend(added);
        }
        at
    }

    /// `@name`, `@name(...)`.
    fn sign(&mut self, at: usize, uses: &mut Vec<Use>) -> usize {
        let place = self.tokens.start(at);
        if !self.tokens.is_name(at + 1) {
            self.error(
                place,
                "expected the name of an attribute after '@'".to_owned(),
            );
            return at + 1;
        }
        let name = self.tokens.word(at + 1);
        let Some(row) = named(name) else {
            self.unknown(place, name);
            return self.unknown_end(at + 2);
        };
        let mut end = at + 2;
        let mut arguments = Vec::new();
        if let Some(close) = self.own_parentheses(row, at + 2) {
            arguments = split(&self.tokens, at + 3, close, 0);
            end = close + 1;
        } else if self.tokens.word(end) == "(" && row.parentheses == Parentheses::Own {
            self.error(
                self.tokens.start(end),
                format!("the '(' of '@{name}' is not closed"),
            );
            return end + 1;
        }
        if let Err((at, message)) = row.check_arguments(place, &arguments) {
            self.error(at, message);
            return end;
        }
        uses.push(Use {
            row,
            at: place,
            start: place,
            end: self.tokens.all[end - 1].end,
            rest: String::new(),
            arguments,
        });
        end
    }

    /// The items from one token up to another of the list that begins at `at`.
    fn list(&mut self, at: usize, from: usize, to: usize, end: usize, uses: &mut Vec<Use>) {
        let known = uses.len();
        let (start, stop) = (self.tokens.start(at), self.tokens.all[end - 1].end);
        let mut others = Vec::new();
        let mut item = from;
        while item < to {
            let behind = self.tokens.find(item, to, &[","]);
            match self.tokens.word(item).strip_prefix(PREFIX) {
                Some(name) => {
                    let place = self.tokens.start(item);
                    match named(name) {
                        Some(row) => {
                            if let Some(arguments) = self.quoted(row, item, behind) {
                                uses.push(Use {
                                    row,
                                    at: place,
                                    start: stop,
                                    end: stop,
                                    rest: String::new(),
                                    arguments,
                                });
                            }
                        }
                        None => self.unknown(place, name),
                    }
                }
                None => others.push(self.tokens.plain(item, behind)),
            }
            item = behind + 1;
        }
        if let Some(first) = uses.get_mut(known) {
            first.start = start;
            if !others.is_empty() {
                let others = others.join(", ");
                first.rest = match self.tokens.word(at) {
                    "[" => format!("[[{others}]]"),
                    _ => format!("__attribute__(({others}))"),
                };
            }
        }
    }

    /// The arguments of `okl_name("(...)")` from one token up to another, if they are right.
    fn quoted(&mut self, row: &'static Attribute, at: usize, end: usize) -> Option<Vec<Argument>> {
        let tokens = &self.tokens;
        let place = tokens.start(at);
        let string = tokens.word(at + 2);
        let arguments = match end - at {
            1 => Some(Vec::new()),
            4 if tokens.word(at + 1) == "(" && tokens.is(at + 2, Kind::String) => string
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
                .and_then(|inside| {
                    let text = unescape(inside);
                    if text.trim().is_empty() {
                        return Some(Vec::new());
                    }
                    let inner = Tokens::of(&text, "");
                    let last = inner.all.len().checked_sub(1)?;
                    let whole = inner.word(0) == "(" && inner.partner(0) == Some(last);
                    let first = tokens.start(at + 2) + 1;
                    whole.then(|| {
                        let mut arguments = split(&inner, 1, last, first);
                        if text != inside {
                            arguments.iter_mut().for_each(|one| one.at = first);
                        }
                        arguments
                    })
                }),
            _ => None,
        };
        let Some(arguments) = arguments else {
            let name = row.name;
            self.error(
                place,
                format!(
                    "'okl_{name}' takes one string: okl_{name}(\"\") or okl_{name}(\"(ARGUMENTS)\")"
                ),
            );
            return None;
        };
        match row.check_arguments(place, &arguments) {
            Ok(()) => Some(arguments),
            Err((at, message)) => {
                self.error(at, message);
                None
            }
        }
    }

    fn unknown(&mut self, at: usize, name: &str) {
        let all: Vec<_> = ATTRIBUTES
            .iter()
            .map(|row| format!("@{}", row.name))
            .collect();
        self.error(
            at,
            format!("unknown attribute '@{name}'; there are: {}", all.join(", ")),
        );
    }

    /// Says where an attribute has to stand.
    pub(crate) fn misplaced(&mut self, one: &Use) {
        self.error(
            one.at,
            format!("'@{}' must stand {}", one.row.name, one.row.stands),
        );
    }

    /// Puts a directive in the place of `@directive("#pragma ...")`; `next` is the token behind.
    fn put_directive(&mut self, one: &Use, next: &mut usize) {
        let mut end = one.end;
        // Else it would stand before a statement of nothing.
        if self.tokens.word(*next) == ";" {
            end = self.tokens.all[*next].end;
            *next += 1;
        }
        let Ok(line) = directive(&one.arguments) else {
            return;
        };
        let words = line.strip_prefix("pragma").map(str::trim_start);
        let text = match (self.mode, words) {
            (Mode::Source, Some(words)) => format!("_Pragma(\"{words}\")"),
            (Mode::Preprocessed, None) => {
                let message = "'@directive' can only insert pragmas into what is compiled";
                self.error(one.at, message.to_owned());
                return;
            }
            (_, _) => format!("#{}", unescape(line)),
        };
        self.edit_line(one.start, end, one.rest.clone() + &text);
    }
}

/// The arguments between two tokens. What stands at byte `base` is the text's beginning.
fn split(tokens: &Tokens, from: usize, to: usize, base: usize) -> Vec<Argument> {
    let mut arguments = Vec::new();
    if from >= to {
        return arguments;
    }
    let mut at = from;
    loop {
        let end = tokens.find(at, to, &[","]);
        arguments.push(Argument {
            text: tokens.plain(at, end),
            at: base + tokens.start(at),
        });
        if end == to {
            return arguments;
        }
        at = end + 1;
    }
}
