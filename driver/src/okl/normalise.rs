//! The state of going through a text, and what becomes of arrays indexed by parentheses.

use super::Mode;
use super::attributes::{Error, Form, order};
use super::edits::Edit;
use super::occa::Kernel;
use super::scopes::{Dimensions, Scopes, What};
use super::tokens::{Kind, Tokens};
use super::uses::Use;

/// How deep blocks, statements and declarators may be in each other; clang's own limit for brackets is 256.
const DEEPEST: usize = 200;

/// Goes through a text.
pub(crate) struct Normaliser<'a> {
    pub(crate) tokens: Tokens<'a>,
    pub(crate) mode: Mode,
    pub(crate) scopes: Scopes,
    pub(crate) edits: Vec<Edit>,
    pub(crate) errors: Vec<Error>,
    /// Whether markers are called.
    pub(crate) has_markers: bool,
    pub(crate) kernels: Vec<Kernel>,
    /// The kernels that are templates: their names, and where they stand, with a number of how they are written.
    pub(crate) templates: Vec<(String, String)>,
    /// Whether instances of kernels are put into the table of them.
    pub(crate) has_instances: bool,
    depth: usize,
}

/// Where a declaration or a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Outside of functions and classes.
    File,
    /// In a class.
    Class,
    /// In a function.
    Function,
    /// Among the parameters of a function.
    Parameter,
    /// At the beginning of a loop or a condition.
    Head,
}

impl<'a> Normaliser<'a> {
    /// Goes through all of a text.
    pub(crate) fn run(tokens: Tokens<'a>, mode: Mode) -> Normaliser<'a> {
        let mut this = Normaliser {
            tokens,
            mode,
            scopes: Scopes::default(),
            edits: Vec::new(),
            errors: Vec::new(),
            has_markers: false,
            kernels: Vec::new(),
            templates: Vec::new(),
            has_instances: false,
            depth: 0,
        };
        this.scopes.push();
        let end = this.tokens.all.len();
        this.block(0, end, Context::File);
        for edit in &this.edits {
            let inside = this.tokens.directives_in(edit.start, edit.end);
            if let Some((at, _)) = inside.iter().find(|(_, is_marker)| !is_marker) {
                let message = "a directive cannot stand within an attribute";
                this.errors.push((*at, message.to_owned()));
            }
        }
        this.check_signs();
        if mode == Mode::Source {
            for at in std::mem::take(&mut this.tokens.in_macros) {
                let message = "attributes in macros can only be normalised behind the preprocessor: \
                               clang++-22 -E -x c++ FILE | okl-cc --okl-normalize -";
                this.error(at, message.to_owned());
            }
        }
        this
    }

    /// No `@` may stay, wherever it stands: in the arguments of a template, say.
    fn check_signs(&mut self) {
        if !self.errors.is_empty() {
            return;
        }
        self.edits.sort_by_key(|edit| (edit.start, edit.end));
        let mut edits = self.edits.iter().peekable();
        for at in 0..self.tokens.all.len() {
            if self.tokens.word(at) != "@" {
                continue;
            }
            let byte = self.tokens.start(at);
            while edits.next_if(|edit| edit.end <= byte).is_some() {}
            if edits.peek().is_none_or(|edit| edit.start > byte) {
                self.errors
                    .push((byte, "no attribute can stand here".to_owned()));
            }
        }
    }

    pub(crate) fn error(&mut self, at: usize, message: String) {
        self.errors.push((at, message));
    }

    pub(crate) fn edit(&mut self, start: usize, end: usize, text: String) {
        self.edits.push(Edit {
            start,
            end,
            text,
            at: None,
            is_line: false,
        });
    }

    /// Puts something in that the compiler is to see at another place.
    pub(crate) fn edit_at(&mut self, at: usize, start: usize, end: usize, text: String) {
        self.edits.push(Edit {
            start,
            end,
            text,
            at: Some(at),
            is_line: false,
        });
    }

    pub(crate) fn edit_line(&mut self, start: usize, end: usize, text: String) {
        self.edits.push(Edit {
            start,
            end,
            text,
            at: None,
            is_line: true,
        });
    }

    /// Takes an attribute out.
    pub(crate) fn remove(&mut self, one: &Use) {
        if one.start < one.end {
            self.edit(one.start, one.end, one.rest.clone());
        }
    }

    /// Whether one may go deeper at a token; who does calls `leave`.
    pub(crate) fn enter(&mut self, at: usize) -> bool {
        if self.depth == DEEPEST {
            let at = self.tokens.start(at);
            let message = format!("more than {DEEPEST} brackets and statements are in each other");
            if !self.errors.iter().any(|(_, known)| *known == message) {
                self.error(at, message);
            }
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Goes through the tokens of an expression.
    pub(crate) fn expression(&mut self, mut at: usize, end: usize) {
        while at < end {
            let word = self.tokens.word(at);
            if self.is_attribute(at) {
                let mut uses = Vec::new();
                at = self.attributes(at, &mut uses, false).max(at + 1);
                for one in &uses {
                    self.misplaced(one);
                }
                continue;
            }
            match word {
                "[" if !self.follows_value(at) => {
                    at = self.lambda(at, end);
                    continue;
                }
                // A statement in an expression.
                "{" if at > 0 && self.tokens.word(at - 1) == "(" => {
                    if let Some(close) = self.tokens.partner(at).filter(|close| *close < end) {
                        self.scopes.push();
                        self.block(at + 1, close, Context::Function);
                        self.scopes.pop();
                        at = close;
                    }
                }
                "(" if at > 0 && self.tokens.is_name(at - 1) => self.index(at, end),
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether what stands before a token is a value, so that `[` is an index.
    fn follows_value(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        match self.tokens.word(before) {
            ")" | "]" | "}" | ">" => true,
            "return" | "case" | "co_return" | "co_yield" | "delete" | "throw" | "else" => false,
            _ => self.tokens.all[before].kind != Kind::Punctuation,
        }
    }

    /// A lambda, or else brackets; returns the token behind what has been looked at.
    fn lambda(&mut self, at: usize, end: usize) -> usize {
        let Some(close) = self.tokens.partner(at).filter(|close| *close < end) else {
            return at + 1;
        };
        let mut next = close + 1;
        if self.tokens.word(next) == "<" {
            next = self.tokens.template_end(next).map_or(next, |end| end + 1);
        }
        let parameters = (self.tokens.word(next) == "(")
            .then(|| self.tokens.partner(next))
            .flatten();
        let body = self.tokens.find(
            parameters.map_or(next, |close| close + 1),
            end,
            &["{", ";", ",", ")", "]", "}", "="],
        );
        let body_end = self.tokens.partner(body).filter(|close| *close < end);
        let (Some(body_end), "{") = (body_end, self.tokens.word(body)) else {
            return at + 1;
        };
        self.expression(at + 1, close);
        if !self.enter(at) {
            return end;
        }
        self.scopes.push();
        if let Some(close) = parameters {
            self.parameters(next, close);
        }
        self.block(body + 1, body_end, Context::Function);
        self.scopes.pop();
        self.leave();
        body_end + 1
    }

    /// An opening parenthesis behind a name, which may be an array: `m(i, j)` becomes
    /// `m[(i) + (size of the first) * (j)]`.
    fn index(&mut self, open: usize, end: usize) {
        let name = open - 1;
        let is_member = name > 0 && matches!(self.tokens.word(name - 1), "." | "->" | "::");
        let word = self.tokens.word(name);
        let Some(What::Array(dimensions)) = self.scopes.find(word).map(|one| &one.what) else {
            return;
        };
        if is_member {
            return;
        }
        let dimensions = dimensions.clone();
        let Some(close) = self.tokens.partner(open).filter(|close| *close < end) else {
            return;
        };
        let mut starts = vec![open + 1];
        let mut ends = Vec::new();
        while let Some(start) = starts.last() {
            let comma = self.tokens.find(*start, close, &[","]);
            ends.push(comma);
            if comma == close {
                break;
            }
            starts.push(comma + 1);
        }
        let count = if close == open + 1 { 0 } else { starts.len() };
        let expected = dimensions.sizes.len();
        if count != expected {
            let (at, what) = if count < expected {
                (self.tokens.start(name), "too few")
            } else {
                (self.tokens.start(starts[expected]), "too many")
            };
            let plural = if expected == 1 { "index" } else { "indices" };
            let message =
                format!("{what} indices of '{word}': it takes {expected} {plural}, not {count}");
            self.error(at, message);
            return;
        }
        if let Some((start, _)) = starts.iter().zip(&ends).find(|(start, end)| start == end) {
            let at = self.tokens.start(*start);
            self.error(at, format!("an index of '{word}' is empty"));
            return;
        }
        for (used, id) in &dimensions.names {
            let now = self.scopes.find(used);
            if id.is_some() && now.map(|one| one.id) != *id {
                let line = now.map_or(0, |one| self.tokens.position(one.at).line);
                let message = format!(
                    "'{used}' in the '@dim' of '{word}' is another '{used}' here, declared at line {line}"
                );
                self.error(self.tokens.start(name), message);
                return;
            }
        }
        // What an index is multiplied by: the sizes of all dimensions before its own in memory.
        let stride = |index: usize| -> String {
            let before = dimensions.order.iter().take_while(|one| **one != index);
            before
                .map(|one| format!("({})*", dimensions.sizes[*one]))
                .collect()
        };
        for (index, (start, stop)) in starts.iter().zip(&ends).enumerate() {
            let before = if index == 0 { "[" } else { ")+" };
            let bracket = &self.tokens.all[start - 1];
            self.edit(
                bracket.start,
                bracket.end,
                format!("{before}{}(", stride(index)),
            );
            if *stop == close {
                let bracket = &self.tokens.all[close];
                self.edit(bracket.start, bracket.end, ")]".to_owned());
            }
        }
    }

    /// The dimensions that the attributes of a variable or a type state, beginning with those of its type.
    pub(crate) fn dimensions<'u>(
        &mut self,
        inherited: Option<&Dimensions>,
        uses: impl Iterator<Item = &'u Use> + Clone,
    ) -> Option<Dimensions> {
        let of = |form: fn(&Form) -> bool| uses.clone().find(|one| form(&one.row.form));
        let sizes = of(|form| matches!(form, Form::Sizes));
        let ordered = of(|form| matches!(form, Form::Order));
        let mut dimensions = inherited.cloned().unwrap_or_default();
        if let Some(one) = sizes {
            dimensions.sizes = one.arguments.iter().map(|size| size.text.clone()).collect();
            dimensions.order = (0..dimensions.sizes.len()).collect();
            dimensions.names = self.names_in(&dimensions.sizes);
        }
        if let Some(one) = ordered {
            let (count, sizes) = (one.arguments.len(), dimensions.sizes.len());
            if sizes == 0 {
                self.error(one.at, "'@dimOrder' needs '@dim'".to_owned());
                return None;
            }
            if count != sizes {
                let message =
                    format!("'@dimOrder' and '@dim' differ in length: {count} and {sizes}");
                self.error(one.at, message);
                return None;
            }
            dimensions.order = order(&one.arguments).unwrap_or_default();
        }
        (!dimensions.sizes.is_empty()).then_some(dimensions)
    }

    /// The names in expressions, with what they mean here.
    fn names_in(&self, expressions: &[String]) -> Vec<(String, Option<usize>)> {
        let mut names: Vec<(String, Option<usize>)> = Vec::new();
        for text in expressions {
            let tokens = Tokens::of(text, "");
            for at in 0..tokens.all.len() {
                let name = tokens.word(at);
                let is_member = at > 0 && matches!(tokens.word(at - 1), "." | "->" | "::");
                if tokens.is_name(at) && !is_member && !names.iter().any(|(known, _)| known == name)
                {
                    names.push((name.to_owned(), self.scopes.find(name).map(|one| one.id)));
                }
            }
        }
        names
    }
}
