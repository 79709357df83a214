//! The pragmas of a text: where they are in the user's files, and what they are once macros are expanded.

use std::collections::{HashMap, HashSet};

use okl_chains::pragma::{Position, Token, tokens};

use super::WORD;
use crate::okl::columns::{self, Word};
use crate::okl::tokens::{Tokens, end_of_directive, unescape};

/// A pragma.
#[derive(Clone, Debug)]
pub(crate) struct Pragma {
    /// Where its line begins and ends in the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The token behind it.
    pub(crate) next: usize,
    /// Where its name, which follows `pragma`, is in its file.
    pub(crate) at: Position,
    /// What follows its name, at its places in its file.
    pub(crate) tokens: Vec<Token>,
    /// Its name: `omp` or `omplc`, or anything else.
    pub(crate) name: String,
}

/// All pragmas of a text in their order. In those of loop chains macros are expanded.
pub(crate) fn find(
    text: &Tokens,
    read: &impl Fn(&str) -> Option<String>,
    expand: &impl Fn(&str) -> Result<String, String>,
) -> Result<Vec<Pragma>, String> {
    let mut found = Vec::new();
    let mut files: HashMap<&str, Option<String>> = HashMap::new();
    // What the preprocessor gets: definitions, and pragmas as text.
    let mut lines = String::new();
    let mut defined = HashSet::new();
    let mut uses_macros = false;
    for &(start, is_marker) in &text.directives {
        if is_marker {
            continue;
        }
        let end = end_of_directive(text.text.as_bytes(), start);
        let directive = &text.text[start..end];
        let words = tokens(directive, Position::new(1, 1));
        let word = |at: usize| words.get(at).map_or("", |token| token.text.as_str());
        match word(1) {
            "define" | "undef" => {
                defined.insert(word(2).to_string());
                lines += directive;
                lines.push('\n');
            }
            "pragma" => {
                let place = text.position(start);
                let file = files
                    .entry(place.quoted)
                    .or_insert_with(|| read(&unescape(place.quoted)));
                let line = u32::try_from(place.line).unwrap_or(0);
                let placed = placed(&words, line, file.as_deref());
                let name = word(2).to_string();
                if name == WORD {
                    let is_macro = |token: &Token| defined.contains(&token.text);
                    uses_macros |= words[3..].iter().any(is_macro);
                    if is_closed(&words[3..]) {
                        lines += &separator(found.len());
                        let from = words.get(3).map_or(0, |token| token.at.column as usize - 1);
                        lines += if from > 0 { &directive[from..] } else { "" };
                        lines.push('\n');
                    }
                }
                found.push(Pragma {
                    start,
                    end,
                    next: text.all.partition_point(|token| token.start < start),
                    at: placed.get(2).map_or(Position::new(line, 1), |one| one.at),
                    tokens: placed.into_iter().skip(3).collect(),
                    name,
                });
            }
            _ => {}
        }
    }
    if uses_macros {
        let expanded = expand(&lines)?;
        for (number, pragma) in found.iter_mut().enumerate() {
            if let Some((_, behind)) = expanded.split_once(&separator(number)) {
                let own = behind.split("__okl_pragma_").next().unwrap_or("");
                pragma.tokens = expanded_at(&tokens(own, pragma.at), &pragma.tokens, pragma.at);
            }
        }
    }
    Ok(found)
}

/// What stands in front of a pragma that is a text. No text behind it is an argument of a macro in front of it.
fn separator(number: usize) -> String {
    format!("__okl_pragma_{number} : ")
}

/// Whether all brackets are closed, so that no macro takes what follows for arguments.
fn is_closed(tokens: &[Token]) -> bool {
    let mut depth = 0_i64;
    for token in tokens {
        depth += match token.text.as_str() {
            "(" => 1,
            ")" => -1,
            _ => 0,
        };
    }
    depth == 0
}

/// The tokens of a directive at their places in the user's file. Where they are not found there, as those of `_Pragma` are
/// not, all of them are where their line begins.
fn placed(words: &[Token], line: u32, file: Option<&str>) -> Vec<Token> {
    let skipped = usize::try_from(line.max(1) - 1).unwrap_or(0);
    let text = file.and_then(|file| {
        let begins = match skipped {
            0 => 0,
            _ => file.match_indices('\n').nth(skipped - 1)?.0 + 1,
        };
        Some(&file[begins..])
    });
    let text = text.unwrap_or("");
    let first = text.len() - text.trim_start_matches([' ', '\t']).len();
    let column = u32::try_from(first).unwrap_or(0) + 1;
    let end = end_of_directive(text.as_bytes(), first);
    let here = tokens(&text[first..end], Position::new(line, column));
    let is_same = |(one, other): (&Token, &Token)| one.text == other.text;
    if here.len() == words.len() && here.iter().zip(words).all(is_same) {
        return here;
    }
    let operator = here.iter().find(|token| token.text == "_Pragma");
    let at = operator.map_or(Position::new(line, column), |token| token.at);
    let moved = words.iter().map(|token| Token {
        at,
        ..token.clone()
    });
    moved.collect()
}

/// What macros have made of tokens: each is where it was, or where the name of its macro is.
pub(super) fn expanded_at(expanded: &[Token], written: &[Token], begins: Position) -> Vec<Token> {
    let words: Vec<&str> = expanded.iter().map(|token| token.text.as_str()).collect();
    let source: Vec<Word> = written
        .iter()
        .map(|token| (token.text.clone(), 0))
        .collect();
    let matched = columns::matches(&words, &source);
    let mut last: Option<usize> = None;
    let placed = expanded.iter().enumerate().map(|(number, token)| {
        let follows = last.map_or(0, |last| last + 1);
        let own = matched[number].or_else(|| {
            let is_free = follows < written.len() && !matched.contains(&Some(follows));
            if is_free { Some(follows) } else { last }
        });
        last = matched[number].or(last);
        Token {
            at: own.map_or(begins, |at| written[at].at),
            ..token.clone()
        }
    });
    placed.collect()
}
