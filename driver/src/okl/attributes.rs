//! The attributes: one row of a table for each, with where it may stand, its arguments, and what it
//! becomes in C++.
//!
//! An attribute that becomes an annotation of a loop's iterator or of a variable needs nothing but a row.
//! `docs/okl.md` lists what the annotations and markers are.

use super::tokens::{Kind, Tokens};

/// What an attribute stands before or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A `for` loop.
    Loop,
    /// A block.
    Block,
    /// A lone `;`.
    Null,
    /// An expression and its `;`.
    Expression,
    /// A variable in a function.
    Variable,
    /// A variable outside all functions, or a static one of a class.
    Global,
    /// A parameter of a function.
    Parameter,
    /// A field of a class.
    Field,
    /// A name for a type.
    Typedef,
    /// A function, or what it returns.
    Function,
}

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

/// What an attribute becomes.
pub(crate) enum Form {
    /// An annotation of the loop's iterator: the arguments of `annotate`.
    Iterator(fn(&[Argument]) -> String),
    /// An annotation of what is declared.
    Declared(&'static str),
    /// A call in place of the attribute.
    Call(fn(&[Argument]) -> String),
    /// Calls before and behind an expression (`0`) or a block (`1`).
    Around(fn(u8) -> [String; 2]),
    /// `__restrict`.
    Restrict,
    /// The sizes of a multi-dimensional array.
    Sizes,
    /// The order of its dimensions.
    Order,
    /// A line for the preprocessor.
    Directive,
}

/// Whether parentheses behind an attribute are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parentheses {
    /// They are.
    Own,
    /// Only if nothing is in them, or what follows begins anew: else they belong to the expression.
    Expression,
}

/// An attribute of OKL.
pub(crate) struct Attribute {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it may stand at.
    pub(crate) places: &'static [Place],
    /// The same in words: "it must stand ...".
    pub(crate) stands: &'static str,
    /// The attribute without which it means nothing at a loop.
    pub(crate) needs: Option<&'static str>,
    /// How many arguments it has.
    pub(crate) arguments: [usize; 2],
    /// The same in words: "it takes ...".
    pub(crate) takes: &'static str,
    /// Whose parentheses follow it.
    pub(crate) parentheses: Parentheses,
    /// What is wrong with the arguments, if their number is right.
    pub(crate) check: fn(&[Argument]) -> Result<(), Error>,
    /// What it becomes.
    pub(crate) form: Form,
}

/// Any number of arguments.
const MANY: usize = usize::MAX;
const AT_LOOPS: &str = "before a 'for' loop or in its fourth clause";
const AT_VARIABLES: &str = "at a variable in a kernel, or at a typedef";
const AT_ARRAYS: &str = "at a variable, a parameter or a typedef";

/// The attributes.
pub(crate) static ATTRIBUTES: [Attribute; 15] = [
    Attribute {
        name: "kernel",
        places: &[Place::Function],
        stands: "before a function",
        needs: None,
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Own,
        check: anything,
        form: Form::Declared("okl.kernel"),
    },
    Attribute {
        name: "outer",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: None,
        arguments: [0, 1],
        takes: "at most one argument, the axis",
        parentheses: Parentheses::Own,
        check: |arguments| check_axis("outer", arguments),
        form: Form::Iterator(|arguments| format!("\"okl.outer\", {}", axis(arguments))),
    },
    Attribute {
        name: "inner",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: None,
        arguments: [0, 1],
        takes: "at most one argument, the axis",
        parentheses: Parentheses::Own,
        check: |arguments| check_axis("inner", arguments),
        form: Form::Iterator(|arguments| format!("\"okl.inner\", {}", axis(arguments))),
    },
    Attribute {
        name: "tile",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: None,
        arguments: [1, 4],
        takes: "a size, at most two loops, and 'check=true' or 'check=false'",
        parentheses: Parentheses::Own,
        check: |arguments| Tile::of(arguments).map(|_| ()),
        form: Form::Iterator(|arguments| match Tile::of(arguments) {
            Ok(tile) => tile.annotation(),
            Err(_) => String::new(),
        }),
    },
    Attribute {
        name: "nobarrier",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: Some("inner"),
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Own,
        check: anything,
        form: Form::Iterator(|_| "\"okl.nobarrier\"".to_owned()),
    },
    Attribute {
        name: "max_inner_dims",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: Some("outer"),
        arguments: [1, 3],
        takes: "one to three sizes",
        parentheses: Parentheses::Own,
        check: |arguments| check_positive("max_inner_dims", arguments),
        form: Form::Iterator(|arguments| listed("okl.max_inner_dims", arguments)),
    },
    Attribute {
        name: "simd_length",
        places: &[Place::Loop],
        stands: AT_LOOPS,
        needs: Some("outer"),
        arguments: [1, 1],
        takes: "one argument, the number of lanes",
        parentheses: Parentheses::Own,
        check: |arguments| check_positive("simd_length", arguments),
        form: Form::Iterator(|arguments| listed("okl.simd_length", arguments)),
    },
    Attribute {
        name: "shared",
        places: &[Place::Variable, Place::Typedef],
        stands: AT_VARIABLES,
        needs: None,
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Own,
        check: anything,
        form: Form::Declared("okl.shared"),
    },
    Attribute {
        name: "exclusive",
        places: &[Place::Variable, Place::Typedef],
        stands: AT_VARIABLES,
        needs: None,
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Own,
        check: anything,
        form: Form::Declared("okl.exclusive"),
    },
    Attribute {
        name: "atomic",
        places: &[Place::Expression, Place::Block],
        stands: "before an expression or a block",
        needs: None,
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Expression,
        check: anything,
        form: Form::Around(|block| {
            [
                format!("{{ __okl_atomic_begin({block});"),
                "__okl_atomic_end(); }".to_owned(),
            ]
        }),
    },
    Attribute {
        name: "barrier",
        places: &[Place::Null],
        stands: "alone, before a ';'",
        needs: None,
        arguments: [0, 1],
        takes: "nothing or \"warp\"",
        parentheses: Parentheses::Own,
        check: check_barrier,
        form: Form::Call(|arguments| format!("__okl_barrier({})", arguments.len())),
    },
    Attribute {
        name: "dim",
        places: &[
            Place::Variable,
            Place::Global,
            Place::Parameter,
            Place::Typedef,
        ],
        stands: AT_ARRAYS,
        needs: None,
        arguments: [1, MANY],
        takes: "the size of each dimension",
        parentheses: Parentheses::Own,
        check: check_sizes,
        form: Form::Sizes,
    },
    Attribute {
        name: "dimOrder",
        places: &[
            Place::Variable,
            Place::Global,
            Place::Parameter,
            Place::Typedef,
        ],
        stands: AT_ARRAYS,
        needs: None,
        arguments: [1, MANY],
        takes: "the number of each dimension",
        parentheses: Parentheses::Own,
        check: |arguments| order(arguments).map(|_| ()),
        form: Form::Order,
    },
    Attribute {
        name: "restrict",
        places: &[
            Place::Variable,
            Place::Global,
            Place::Parameter,
            Place::Field,
            Place::Typedef,
            Place::Function,
        ],
        stands: "at a variable, a parameter, a field, a typedef or a function",
        needs: None,
        arguments: [0, 0],
        takes: "no arguments",
        parentheses: Parentheses::Own,
        check: anything,
        form: Form::Restrict,
    },
    Attribute {
        name: "directive",
        places: &[],
        stands: "before a statement or a declaration",
        needs: None,
        arguments: [1, 1],
        takes: "one string, such as \"#pragma unroll\"",
        parentheses: Parentheses::Own,
        check: |arguments| directive(arguments).map(|_| ()),
        form: Form::Directive,
    },
];

/// The row of an attribute.
pub(crate) fn named(name: &str) -> Option<&'static Attribute> {
    ATTRIBUTES.iter().find(|one| one.name == name)
}

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
        (self.check)(arguments)
    }

    /// Whether it makes its loop run in parallel.
    pub(crate) fn divides(&self) -> bool {
        matches!(self.name, "outer" | "inner" | "tile")
    }
}

fn anything(_: &[Argument]) -> Result<(), Error> {
    Ok(())
}

/// A constant expression as an argument of `annotate`, which is to be an `int`.
fn constant(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.to_owned()
    } else {
        format!("(int)({text})")
    }
}

fn axis(arguments: &[Argument]) -> String {
    let given = arguments.first();
    given.map_or("-1".to_owned(), |one| constant(&one.text))
}

fn listed(name: &str, arguments: &[Argument]) -> String {
    let mut words = vec![format!("\"{name}\"")];
    words.extend(arguments.iter().map(|one| constant(&one.text)));
    words.join(", ")
}

fn check_axis(name: &str, arguments: &[Argument]) -> Result<(), Error> {
    for argument in arguments {
        if literal(&argument.text).is_some_and(|axis| !(0..=2).contains(&axis))
            || is_no_integer(&argument.text)
        {
            let message = format!("the axis of '@{name}' must be 0, 1 or 2");
            return Err((argument.at, message));
        }
    }
    Ok(())
}

fn check_positive(name: &str, arguments: &[Argument]) -> Result<(), Error> {
    for argument in arguments {
        if literal(&argument.text).is_some_and(|size| size <= 0) || is_no_integer(&argument.text) {
            let message = format!("the arguments of '@{name}' must be positive integers");
            return Err((argument.at, message));
        }
    }
    Ok(())
}

fn check_sizes(arguments: &[Argument]) -> Result<(), Error> {
    let wrong = |one: &&Argument| {
        literal(&one.text).is_some_and(|size| size <= 0) || is_no_integer(&one.text)
    };
    match arguments.iter().find(wrong) {
        Some(one) => Err((
            one.at,
            "the sizes of '@dim' must be positive integers".to_owned(),
        )),
        None => Ok(()),
    }
}

fn check_barrier(arguments: &[Argument]) -> Result<(), Error> {
    match arguments.first() {
        Some(kind) if kind.text != "\"warp\"" => Err((
            kind.at,
            format!("'@barrier' takes nothing or \"warp\", not {}", kind.text),
        )),
        _ => Ok(()),
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
    loops: Vec<(&'static str, String)>,
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
        tile.loops.resize_with(2, || ("regular", "-1".to_owned()));
        Ok(tile)
    }

    /// Whether one of its loops is of this kind.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.loops.iter().any(|(one, _)| *one == kind)
    }

    fn annotation(&self) -> String {
        let size = self.constant.as_deref().unwrap_or("0");
        let mut words = vec!["\"okl.tile\"".to_owned(), size.to_owned()];
        for (kind, axis) in &self.loops {
            words.push(format!("\"{kind}\""));
            words.push(axis.clone());
        }
        words.push(u8::from(self.check).to_string());
        words.join(", ")
    }
}

/// `@outer` or `@inner`, perhaps with an axis, as an argument of `@tile`.
fn one_loop(tokens: &Tokens, argument: &Argument) -> Result<(&'static str, String), Error> {
    let wrong = || {
        let message = "the second and third argument of '@tile' must be '@outer' or '@inner'";
        Err((argument.at, message.to_owned()))
    };
    let kind = match tokens.word(1) {
        "outer" if tokens.word(0) == "@" => "outer",
        "inner" if tokens.word(0) == "@" => "inner",
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
    let inner = [Argument {
        text,
        at: argument.at,
    }];
    check_axis(kind, &inner)?;
    Ok((kind, axis(&inner)))
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

    #[test]
    fn every_attribute_stands_somewhere_and_has_a_name_of_its_own() {
        for (at, one) in ATTRIBUTES.iter().enumerate() {
            assert!(ATTRIBUTES[..at].iter().all(|other| other.name != one.name));
            let is_directive = matches!(one.form, Form::Directive);
            assert_eq!(one.places.is_empty(), is_directive, "{}", one.name);
        }
    }
}
