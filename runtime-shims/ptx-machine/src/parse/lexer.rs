//! The words of a text and their lines. A word keeps its dots: `ld.global.b32` is one.

use super::Error;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name, a directive, an instruction.
    Word(String),
    /// A whole number.
    Number(u64),
    /// The bits of a number with a point, and how many they are.
    Float(u64, u32),
    /// What stands in quotes.
    Text(String),
    /// Anything else.
    Sign(char),
}

/// All words of `text`.
pub fn words(text: &str) -> Result<Vec<(u32, Token)>, Error> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                line += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/").map(|end| at + 2 + end + 2);
                let end = end.ok_or_else(|| wrong(line, "a comment that does not end"))?;
                line += text[at..end].matches('\n').count() as u32;
                at = end;
            }
            b'"' => {
                let end = text[at + 1..].find('"').map(|end| at + 1 + end);
                let end = end.ok_or_else(|| wrong(line, "a text that does not end"))?;
                words.push((line, Token::Text(text[at + 1..end].to_owned())));
                at = end + 1;
            }
            b'0'..=b'9' => {
                let end = end_of(bytes, at, |byte| {
                    byte.is_ascii_alphanumeric() || byte == b'.'
                });
                words.push((line, number(&text[at..end], line)?));
                at = end;
            }
            _ if is_of_word(byte) => {
                let mut end = at;
                loop {
                    end = end_of(bytes, end, is_of_word);
                    // `.shared::cta`
                    let goes_on = bytes[end..].starts_with(b"::")
                        && bytes.get(end + 2).is_some_and(|next| is_of_word(*next));
                    if !goes_on {
                        break;
                    }
                    end += 2;
                }
                words.push((line, Token::Word(text[at..end].to_owned())));
                at = end;
            }
            _ if byte.is_ascii_graphic() => {
                words.push((line, Token::Sign(byte as char)));
                at += 1;
            }
            _ => return Err(wrong(line, "a character that PTX does not have")),
        }
    }
    Ok(words)
}

fn wrong(line: u32, what: &str) -> Error {
    Error {
        line,
        what: what.to_owned(),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

fn end_of(bytes: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> usize {
    let rest = &bytes[at..];
    at + rest
        .iter()
        .position(|byte| !is_in(*byte))
        .unwrap_or(rest.len())
}

fn number(text: &str, line: u32) -> Result<Token, Error> {
    let bad = || wrong(line, &format!("`{text}` is no number"));
    let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| bad());
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0f").filter(|digits| digits.len() == 8) {
        return Ok(Token::Float(hexadecimal(digits)?, 32));
    }
    if let Some(digits) = lower.strip_prefix("0d").filter(|digits| digits.len() == 16) {
        return Ok(Token::Float(hexadecimal(digits)?, 64));
    }
    if let Some(digits) = lower.strip_prefix("0x") {
        return Ok(Token::Number(hexadecimal(digits.trim_end_matches('u'))?));
    }
    if lower.contains('.') {
        let value: f64 = lower.parse().map_err(|_| bad())?;
        return Ok(Token::Float(value.to_bits(), 64));
    }
    let digits = lower.trim_end_matches('u');
    let value = match digits.strip_prefix("0b") {
        Some(binary) => u64::from_str_radix(binary, 2),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
        None => digits.parse(),
    };
    Ok(Token::Number(value.map_err(|_| bad())?))
}
