//! The tokens of a pragma.

use super::Position;

/// A token: a name, a number, a string or a character, `::`, `->`, or one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it is.
    pub at: Position,
    /// What it is.
    pub text: String,
    /// Whether something stands between the token before and this one.
    pub is_apart: bool,
}

impl Token {
    /// Whether it is a name.
    pub fn is_name(&self) -> bool {
        self.text
            .starts_with(|one: char| is_of_name(one) && !one.is_ascii_digit())
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.text.starts_with(|one: char| one.is_ascii_digit())
    }
}

fn is_of_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// The tokens of a text that begins at `at`. Comments, and ends of lines behind a backslash, stand between tokens.
pub fn tokens(text: &str, at: Position) -> Vec<Token> {
    let mut found = Vec::new();
    let mut place = at;
    let mut rest = text;
    let mut is_apart = false;
    while !rest.is_empty() {
        let (length, is_token) = next(rest);
        let (one, behind) = rest.split_at(length);
        if is_token {
            found.push(Token {
                at: place,
                text: one.to_string(),
                is_apart,
            });
        }
        is_apart = !is_token;
        for byte in one.bytes() {
            if byte == b'\n' {
                place = Position::new(place.line + 1, 1);
            } else {
                place.column += 1;
            }
        }
        rest = behind;
    }
    found
}

/// How long what a text begins with is, and whether it is a token.
fn next(text: &str) -> (usize, bool) {
    let while_in = |is_in: fn(char) -> bool| text.find(|one| !is_in(one)).unwrap_or(text.len());
    let first = text.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        return (while_in(char::is_whitespace), false);
    }
    if let Some(behind) = text.strip_prefix('\\')
        && (behind.starts_with('\n') || behind.starts_with("\r\n"))
    {
        return (1, false);
    }
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), false);
    }
    if let Some(behind) = text.strip_prefix("/*") {
        return (behind.find("*/").map_or(text.len(), |end| end + 4), false);
    }
    if first == '"' || first == '\'' {
        let mut is_escaped = false;
        let end = text.char_indices().skip(1).find(|(_, one)| {
            let ends = !is_escaped && *one == first;
            is_escaped = !is_escaped && *one == '\\';
            ends
        });
        return (end.map_or(text.len(), |(end, _)| end + 1), true);
    }
    if first.is_ascii_digit() {
        let in_number = |one: char| is_of_name(one) || one == '.' || one == '\'';
        return (while_in(in_number), true);
    }
    if is_of_name(first) {
        return (while_in(is_of_name), true);
    }
    if text.starts_with("::") || text.starts_with("->") {
        return (2, true);
    }
    (first.len_utf8(), true)
}

/// The text of tokens.
pub(super) fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (number, token) in tokens.iter().enumerate() {
        if number > 0 && token.is_apart {
            text.push(' ');
        }
        text += &token.text;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_pragma() {
        let found = tokens(
            "for /* a */ domain(1:n->m[2],a::b) \\\n  \"x\\\"y\" 0x1fL // end",
            Position::new(3, 9),
        );
        let words: Vec<_> = found
            .iter()
            .map(|one| format!("{} {}", one.at, one.text))
            .collect();
        assert_eq!(
            words,
            [
                "3:9 for",
                "3:21 domain",
                "3:27 (",
                "3:28 1",
                "3:29 :",
                "3:30 n",
                "3:31 ->",
                "3:33 m",
                "3:34 [",
                "3:35 2",
                "3:36 ]",
                "3:37 ,",
                "3:38 a",
                "3:39 ::",
                "3:41 b",
                "3:42 )",
                "4:3 \"x\\\"y\"",
                "4:10 0x1fL"
            ]
        );
        assert_eq!(joined(&found[5..11]), "n->m[2]");
        assert_eq!(joined(&tokens("a  <<b", Position::new(1, 1))), "a <<b");
    }
}
