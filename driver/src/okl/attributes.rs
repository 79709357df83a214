//! What attributes say that stand in a text: whether their arguments are right, and the annotations that they become.
//!
//! Which attributes there are is said in the table of `attributes` at the root of the repository.

use super::tokens::{Kind, Tokens};
use crate::attributes::language::{INNER, OUTER};
pub(crate) use crate::attributes::{
    ATTRIBUTES, Attribute, Form, LoopKind, Parentheses, Place, Values, named,
};

/// An argument of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Its text, in one line and without comments.
    pub(crate) text: String,
    /// The byte at which it begins.
    pub(crate) at: usize,
}

/// An error at a byte of the text.
pub(crate) type Error = (usize, String);

impl Attribute {
    /// What is wrong with the arguments of one that stands at byte `at`.
    pub(crate) fn check_arguments(&self, at: usize, arguments: &[Argument]) -> Result<(), Error> {
        let [least, most] = self.arguments;
        if arguments.len() < least || arguments.len() > most {
            let at = arguments.get(most).map_or(at, |one| one.at);
            return Err((at, format!("'@{}' takes {}", self.name, self.takes)));
        }
        for (number, argument) in arguments.iter().enumerate() {
            if argument.text.is_empty() {
                let message = format!("argument {} of '@{}' is empty", number + 1, self.name);
                return Err((argument.at, message));
            }
        }
        if let Values::Integers { are, must } = self.values {
            let is_wrong = |one: &&Argument| {
                literal(&one.text).is_some_and(|number| !are(number)) || is_no_integer(&one.text)
            };
            if let Some(wrong) = arguments.iter().find(is_wrong) {
                return Err((wrong.at, must.to_owned()));
            }
        }
        match self.form {
            Form::Tile => Tile::of(arguments).map(|_| ()),
            Form::Order => order(arguments).map(|_| ()),
            Form::Directive => directive(arguments).map(|_| ()),
            Form::Call(_, words) => self.check_word(words, arguments),
            Form::Annotation | Form::Around(_) | Form::Restrict | Form::Nothing | Form::Sizes => {
                Ok(())
            }
        }
    }

    /// Whether an argument is one of some words.
    fn check_word(&self, words: &[(&str, i64)], arguments: &[Argument]) -> Result<(), Error> {
        let is_one = |text: &str| words.iter().any(|(word, _)| *word == text);
        match arguments.first() {
            Some(word) if !is_one(&word.text) => {
                let (name, takes) = (self.name, self.takes);
                let message = format!("'@{name}' takes {takes}, not {}", word.text);
                Err((word.at, message))
            }
            _ => Ok(()),
        }
    }

    /// The annotation that it becomes, if it becomes one.
    pub(crate) fn annotation(&self, arguments: &[Argument]) -> Option<String> {
        let words = match self.form {
            Form::Annotation if arguments.is_empty() => {
                self.without.iter().map(i64::to_string).collect()
            }
            Form::Annotation => arguments.iter().map(|one| constant(&one.text)).collect(),
            Form::Tile => Tile::of(arguments).ok()?.words(),
            _ => return None,
        };
        let name = format!("\"okl.{}\"", self.name);
        let words = [name].into_iter().chain(words).collect::<Vec<_>>();
        Some(format!("__attribute__((annotate({})))", words.join(", ")))
    }

    /// What it makes of the loop at which it stands, the outer one of two first; nothing where it is about loops made otherwise.
    pub(crate) fn makes(&self, arguments: &[Argument]) -> Option<Vec<LoopKind>> {
        match self.name {
            "outer" => Some(vec![LoopKind::Outer]),
            "inner" => Some(vec![LoopKind::Inner]),
            "tile" => Some(Tile::of(arguments).ok()?.kinds()),
            _ => None,
        }
    }
}

/// A constant expression as an argument of `annotate`, which is to be an `int`.
fn constant(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.to_owned()
    } else {
        format!("(int)({text})")
    }
}

/// The permutation that `@dimOrder` states.
pub(crate) fn order(arguments: &[Argument]) -> Result<Vec<usize>, Error> {
    let mut order = Vec::new();
    for argument in arguments {
        let number = literal(&argument.text).and_then(|number| usize::try_from(number).ok());
        let Some(number) = number.filter(|number| *number < arguments.len()) else {
            let message = match arguments.len() {
                1 => "the argument of '@dimOrder' must be 0".to_owned(),
                2 => "the arguments of '@dimOrder' must be 0 and 1".to_owned(),
                count => format!(
                    "the arguments of '@dimOrder' must be the numbers from 0 to {}",
                    count - 1
                ),
            };
            return Err((argument.at, message));
        };
        if order.contains(&number) {
            return Err((
                argument.at,
                format!("index {number} is twice in '@dimOrder'"),
            ));
        }
        order.push(number);
    }
    Ok(order)
}

/// What stands behind `#` in the string of `@directive`, with its escapes.
pub(crate) fn directive(arguments: &[Argument]) -> Result<&str, Error> {
    let Some(argument) = arguments.first() else {
        return Ok("");
    };
    let inside = argument
        .text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inside| {
            // One string, not two, and one line.
            let mut bytes = inside.bytes();
            while let Some(byte) = bytes.next() {
                if byte == b'"' || byte == b'\\' && !matches!(bytes.next(), Some(b'"' | b'\\')) {
                    return false;
                }
            }
            true
        });
    inside
        .and_then(|line| line.trim().strip_prefix('#'))
        .map(str::trim_start)
        .filter(|line| line.starts_with(|one: char| one.is_ascii_lowercase()))
        .ok_or_else(|| {
            let message = "'@directive' takes one string, such as \"#pragma unroll\"";
            (argument.at, message.to_owned())
        })
}

/// The arguments of `@tile`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// The size, if it is a number.
    constant: Option<String>,
    /// The size, if only the compiler or the program knows it.
    pub(crate) computed: Option<String>,
    /// The kinds and the axes of the loop over tiles and of that in a tile.
    loops: Vec<(LoopKind, String)>,
    check: bool,
}

impl Tile {
    /// Reads the arguments.
    pub(crate) fn of(arguments: &[Argument]) -> Result<Tile, Error> {
        let Some((size, rest)) = arguments.split_first() else {
            return Err((0, String::new()));
        };
        let number = literal(&size.text);
        if number.is_some_and(|size| size <= 0 || size > i64::from(i32::MAX))
            || is_no_integer(&size.text)
        {
            return Err((
                size.at,
                "the size of '@tile' must be a positive integer, at most 2147483647".to_owned(),
            ));
        }
        let mut tile = Tile {
            constant: number.map(|number| number.to_string()),
            computed: number.is_none().then(|| size.text.clone()),
            loops: Vec::new(),
            check: true,
        };
        let mut checked = false;
        for argument in rest {
            if checked {
                let message = "'check' must be the last argument of '@tile'";
                return Err((argument.at, message.to_owned()));
            }
            let wrong = |message: &str| Err((argument.at, message.to_owned()));
            let tokens = Tokens::of(&argument.text, "");
            if tokens.word(0) == "check" {
                tile.check = match (tokens.word(1), tokens.word(2), tokens.all.len()) {
                    ("=", "true", 3) => true,
                    ("=", "false", 3) => false,
                    _ => return wrong("'check' must be true or false"),
                };
                checked = true;
            } else if tile.loops.len() == 2 {
                return wrong(
                    "'@tile' takes a size, at most two loops, and 'check=true' or 'check=false'",
                );
            } else {
                tile.loops.push(one_loop(&tokens, argument)?);
            }
        }
        tile.loops
            .resize_with(2, || (LoopKind::Regular, "-1".to_owned()));
        Ok(tile)
    }

    fn kinds(&self) -> Vec<LoopKind> {
        self.loops.iter().map(|(kind, _)| *kind).collect()
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec![self.constant.clone().unwrap_or("0".to_owned())];
        for (kind, axis) in &self.loops {
            words.push(format!("\"{}\"", kind.name().trim_start_matches('@')));
            words.push(axis.clone());
        }
        words.push(u8::from(self.check).to_string());
        words
    }
}

/// `@outer` or `@inner`, perhaps with an axis, as an argument of `@tile`.
fn one_loop(tokens: &Tokens, argument: &Argument) -> Result<(LoopKind, String), Error> {
    let wrong = || {
        let message = "the second and third argument of '@tile' must be '@outer' or '@inner'";
        Err((argument.at, message.to_owned()))
    };
    let (kind, row) = match tokens.word(1) {
        "outer" if tokens.word(0) == "@" => (LoopKind::Outer, &OUTER),
        "inner" if tokens.word(0) == "@" => (LoopKind::Inner, &INNER),
        _ => return wrong(),
    };
    if tokens.all.len() == 2 {
        return Ok((kind, "-1".to_owned()));
    }
    let last = tokens.all.len() - 1;
    if tokens.word(2) != "(" || tokens.partner(2) != Some(last) {
        return wrong();
    }
    let text = tokens.plain(3, last);
    if text.is_empty() {
        return Ok((kind, "-1".to_owned()));
    }
    let inner = Argument {
        text,
        at: argument.at,
    };
    let axis = constant(&inner.text);
    row.check_arguments(argument.at, &[inner])?;
    Ok((kind, axis))
}

/// Whether the text is a string or no expression at all.
fn is_no_integer(text: &str) -> bool {
    let tokens = Tokens::of(text, "");
    (0..tokens.all.len()).any(|at| {
        tokens.is(at, Kind::String)
            || tokens.is(at, Kind::Number) && is_floating(tokens.word(at))
            || matches!(tokens.word(at), "@" | ";" | "{" | "}" | "=")
    })
}

/// Whether a literal is of a number with a fraction.
fn is_floating(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let exponent = if word.starts_with("0x") { 'p' } else { 'e' };
    word.contains('.') || word.contains(exponent)
}

/// The value of an expression of integer literals.
pub(crate) fn literal(text: &str) -> Option<i64> {
    let tokens = Tokens::of(text, "");
    if tokens.all.len() > 64 {
        return None;
    }
    let mut at = 0;
    let value = sum(&tokens, &mut at)?;
    (at == tokens.all.len()).then_some(value)
}

fn sum(tokens: &Tokens, at: &mut usize) -> Option<i64> {
    let mut value = product(tokens, at)?;
    loop {
        match tokens.word(*at) {
            "+" => {
                *at += 1;
                value = value.checked_add(product(tokens, at)?)?;
            }
            "-" => {
                *at += 1;
                value = value.checked_sub(product(tokens, at)?)?;
            }
            _ => return Some(value),
        }
    }
}

fn product(tokens: &Tokens, at: &mut usize) -> Option<i64> {
    let mut value = factor(tokens, at)?;
    loop {
        let operator = tokens.word(*at);
        if !matches!(operator, "*" | "/" | "%") {
            return Some(value);
        }
        *at += 1;
        let other = factor(tokens, at)?;
        value = match operator {
            "*" => value.checked_mul(other)?,
            "/" => value.checked_div(other)?,
            _ => value.checked_rem(other)?,
        };
    }
}

fn factor(tokens: &Tokens, at: &mut usize) -> Option<i64> {
    let here = *at;
    *at += 1;
    match tokens.word(here) {
        "-" => factor(tokens, at)?.checked_neg(),
        "+" => factor(tokens, at),
        "(" => {
            let value = sum(tokens, at)?;
            let closes = tokens.word(*at) == ")";
            *at += 1;
            closes.then_some(value)
        }
        word if tokens.is(here, Kind::Number) => integer(word),
        _ => None,
    }
}

/// The value of an integer literal.
fn integer(word: &str) -> Option<i64> {
    let word = word.replace('\'', "").to_ascii_lowercase();
    let word = word.trim_end_matches(['u', 'l', 'z']);
    if let Some(digits) = word.strip_prefix("0x") {
        i64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = word.strip_prefix("0b") {
        i64::from_str_radix(digits, 2).ok()
    } else if word.len() > 1 && word.starts_with('0') {
        i64::from_str_radix(word, 8).ok()
    } else {
        word.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluates_literals() {
        for (text, value) in [
            ("2", Some(2)),
            ("-(1 + 2*3) % 4", Some(-3)),
            ("0x10ul - 010", Some(8)),
            ("1'000", Some(1000)),
            ("1.5", None),
            ("n", None),
            ("4/0", None),
            ("2 3", None),
            ("(2", None),
            ("", None),
        ] {
            assert_eq!(literal(text), value, "{text}");
        }
    }
}
