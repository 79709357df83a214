//! The functions of a text and their calls, by its brackets: what a name of a chain stands for in another function.

use crate::okl::tokens::{Kind, Tokens};

/// What is no function, with brackets behind it.
const HAVE_BRACKETS: [&str; 9] = [
    "if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "requires",
];

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    /// Its parameters; those without a name are empty.
    pub(super) parameters: Vec<String>,
    /// The brackets of its body.
    pub(super) open: usize,
    pub(super) close: usize,
}

/// A statement that calls a function.
pub(super) struct Called {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// Its first token, and the one behind it.
    pub(super) begins: usize,
    pub(super) end: usize,
}

/// All functions of a text but those that are in others, in their order.
pub(super) fn all(tokens: &Tokens) -> Vec<Function> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.all.len() {
        let function = (tokens.word(at) == "{").then(|| function(tokens, at));
        if let Some(function) = function.flatten() {
            at = function.close;
            found.push(function);
        }
        at += 1;
    }
    found
}

/// The function whose body begins with a bracket.
fn function(tokens: &Tokens, open: usize) -> Option<Function> {
    const BEHIND: [&str; 8] = [
        "const", "noexcept", "override", "final", "volatile", "&", "&&", "mutable",
    ];
    let close = tokens.partner(open)?;
    let mut at = open.checked_sub(1)?;
    let (first, last) = loop {
        if BEHIND.contains(&tokens.word(at)) {
            at = at.checked_sub(1)?;
            continue;
        }
        let first = tokens.partner(at).filter(|_| tokens.word(at) == ")")?;
        match tokens.word(first.checked_sub(1)?) {
            "noexcept" | "__attribute__" | "throw" => at = first.checked_sub(2)?,
            _ => break (first, at),
        }
    };
    // An explicit specialisation has the arguments of its template behind its name.
    let named = match tokens.word(first - 1) {
        ">" => (0..first - 1)
            .rev()
            .find(|at| tokens.word(*at) == "<" && tokens.template_end(*at) == Some(first - 1))?
            .checked_sub(1)?,
        _ => first - 1,
    };
    let name = tokens.word(named);
    if !tokens.is_name(named) || HAVE_BRACKETS.contains(&name) {
        return None;
    }
    let parameters = parts(tokens, first, last).into_iter();
    Some(Function {
        name: name.to_string(),
        parameters: parameters
            .map(|(from, to)| parameter(tokens, from, to))
            .collect(),
        open,
        close,
    })
}

/// What commas separate between brackets: tokens from and to.
fn parts(tokens: &Tokens, open: usize, close: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = open + 1;
    while from < close {
        let to = tokens.find(from, close, &[","]);
        found.push((from, to));
        from = to + 1;
    }
    found
}

/// The name of a parameter.
fn parameter(tokens: &Tokens, from: usize, to: usize) -> String {
    let to = tokens.find(from, to, &["="]);
    let mut name = String::new();
    let mut at = from;
    while at < to {
        match tokens.word(at) {
            // A pointer to a function, or to an array.
            "(" if matches!(tokens.word(at + 1), "*" | "&") => {
                let close = tokens.partner(at).unwrap_or(to);
                return parameter(tokens, at + 1, close);
            }
            "(" | "[" | "{" => at = tokens.partner(at).unwrap_or(to),
            "<" => at = tokens.template_end(at).unwrap_or(at),
            word if at > from && tokens.is_name(at) => name = word.to_string(),
            _ => {}
        }
        at += 1;
    }
    name
}

/// The statement that begins with a token, if all that it does is a call of a function that has a name.
pub(super) fn call(tokens: &Tokens, begins: usize, limit: usize) -> Option<Called> {
    const NONE_OF: [&str; 16] = [
        "return",
        "goto",
        "throw",
        "delete",
        "new",
        "co_return",
        "co_yield",
        "co_await",
        "case",
        "default",
        "typedef",
        "using",
        "static_assert",
        "_Static_assert",
        "sizeof",
        "asm",
    ];
    let end = tokens.find(begins, limit, &[";"]);
    let last = end.checked_sub(1).filter(|_| end < limit)?;
    let open = tokens.partner(last).filter(|_| tokens.word(last) == ")")?;
    let mut name = String::new();
    let mut at = begins;
    // Its result is not used.
    if [0, 1, 2].map(|next| tokens.word(at + next)) == ["(", "void", ")"] {
        at += 3;
    }
    let mut was_name = false;
    let is_other = |word: &str| NONE_OF.contains(&word) || HAVE_BRACKETS.contains(&word);
    while at < open {
        let is_name = tokens.is_name(at);
        match tokens.word(at) {
            word if is_name && !was_name && !is_other(word) => name = word.to_string(),
            "::" | "." | "->" => {}
            "<" => at = tokens.template_end(at).filter(|end| *end < open)?,
            "(" | "[" => at = tokens.partner(at).filter(|end| *end < open)?,
            _ => return None,
        }
        was_name = is_name;
        at += 1;
    }
    if name.is_empty() || tokens.word(open - 1) == "]" {
        return None;
    }
    let arguments = parts(tokens, open, last).into_iter();
    Some(Called {
        name,
        arguments: arguments
            .map(|(from, to)| argument(tokens, from, to))
            .collect(),
        begins,
        end: end + 1,
    })
}

/// An argument as it is written, but for what is around all of it.
fn argument(tokens: &Tokens, mut from: usize, mut to: usize) -> String {
    while from + 1 < to && tokens.word(from) == "(" && tokens.partner(from) == Some(to - 1) {
        (from, to) = (from + 1, to - 1);
    }
    tokens.plain(from, to)
}

/// The statements of a function, or of part of it, that are calls of functions with some names.
pub(super) fn calls(
    tokens: &Tokens,
    [open, close]: [usize; 2],
    is_one: impl Fn(&str) -> bool,
) -> Vec<Called> {
    let mut found = Vec::new();
    for at in open + 1..close {
        let is_call = tokens.is(at, Kind::Identifier) && is_one(tokens.word(at));
        if !is_call || !matches!(tokens.word(at + 1), "(" | "<") {
            continue;
        }
        let mut begins = at;
        while matches!(tokens.word(begins - 1), "::" | "." | "->") && tokens.is_name(begins - 2) {
            begins -= 2;
        }
        let before = tokens.word(begins - 1);
        if matches!(before, "{" | "}" | ";" | ")" | "else" | "do" | ":")
            && let Some(call) = call(tokens, begins, close)
            && is_one(&call.name)
        {
            found.push(call);
        }
    }
    found
}

/// Whether a name seems to be declared between two tokens.
pub(super) fn declares(tokens: &Tokens, from: usize, to: usize, name: &str) -> bool {
    (from + 1..to).any(|at| {
        let is_type = tokens.is_name(at - 1) && tokens.word(at - 1) != "return";
        tokens.word(at) == name
            && (is_type || matches!(tokens.word(at - 1), "*" | "&" | ">" | ","))
            && matches!(tokens.word(at + 1), "[" | "=" | ";" | "," | ")" | "{" | "(")
    })
}
