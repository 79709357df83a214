//! The tokens of a text of C++ with `@`, and the lines they are on.
//!
//! White space, comments and directives are no tokens. Line markers (`# 12 "file" 3`) and `#line` say
//! where the lines behind them come from.

/// No token.
pub(crate) const NONE: usize = usize::MAX;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Identifier,
    /// A number.
    Number,
    /// A string, with its prefix and quotes.
    String,
    /// A character in quotes.
    Character,
    /// An operator or a bracket.
    Punctuation,
}

/// A token: its kind and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A line of the text, and where it comes from.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    number: usize,
    /// Index in `files`.
    file: usize,
}

/// A file as a marker names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    /// Between the quotes, with its escapes.
    quoted: String,
    /// Of the marker's flags, those that say what kind of file it is.
    flags: String,
}

/// Where something is in the user's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position<'a> {
    /// The file's name as it stands between quotes.
    pub(crate) quoted: &'a str,
    /// The flags of its markers.
    pub(crate) flags: &'a str,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A text and its tokens.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    pub(crate) all: Vec<Token>,
    /// For each bracket its counterpart, or `NONE`.
    pub(crate) partners: Vec<usize>,
    /// Where attributes begin in definitions of macros.
    pub(crate) in_macros: Vec<usize>,
    /// Where directives begin, and whether they only say where lines come from.
    pub(crate) directives: Vec<(usize, bool)>,
    lines: Vec<Line>,
    files: Vec<File>,
}

/// A branch of `#if` and its place among the tokens.
enum Branch {
    If(usize),
    Else(usize),
    End(usize),
}

/// The longest first; `>` is always alone, as it may end template arguments.
const OPERATORS: [&str; 27] = [
    "<=>", "<<=", "->*", "...", "::", "->", "++", "--", "<<", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##", "<:", ":>",
];

impl<'a> Tokens<'a> {
    /// The tokens of a text that comes from `file` where no marker says otherwise.
    pub(crate) fn of(text: &'a str, file: &str) -> Tokens<'a> {
        let mut tokens = Tokens {
            text,
            all: Vec::new(),
            partners: Vec::new(),
            in_macros: Vec::new(),
            directives: Vec::new(),
            lines: Vec::new(),
            files: vec![File {
                quoted: escape(file),
                flags: String::new(),
            }],
        };
        let branches = tokens.scan();
        tokens.pair(&branches);
        tokens
    }

    /// The text of a token; nothing behind the last.
    pub(crate) fn word(&self, at: usize) -> &'a str {
        self.all
            .get(at)
            .map_or("", |token| &self.text[token.start..token.end])
    }

    /// Whether the token is a name or a keyword.
    pub(crate) fn is_name(&self, at: usize) -> bool {
        self.is(at, Kind::Identifier)
    }

    /// Whether the token is of this kind.
    pub(crate) fn is(&self, at: usize, kind: Kind) -> bool {
        self.all.get(at).is_some_and(|token| token.kind == kind)
    }

    /// The counterpart of a bracket.
    pub(crate) fn partner(&self, at: usize) -> Option<usize> {
        self.partners
            .get(at)
            .copied()
            .filter(|partner| *partner != NONE)
    }

    /// Where a token begins; behind the last, where the text ends.
    pub(crate) fn start(&self, at: usize) -> usize {
        self.all
            .get(at)
            .map_or(self.text.len(), |token| token.start)
    }

    /// Whether nothing but white space stands before the token on its line.
    pub(crate) fn is_first_on_line(&self, at: usize) -> bool {
        let before = &self.text[..self.start(at)];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        before[line..].trim().is_empty()
    }

    /// The text from one token up to another, in one line and without comments.
    pub(crate) fn plain(&self, from: usize, to: usize) -> String {
        let mut plain = String::new();
        for at in from..to.min(self.all.len()) {
            if at > from && self.all[at - 1].end < self.all[at].start {
                plain.push(' ');
            }
            plain += self.word(at);
        }
        plain
    }

    /// The `>` of the template arguments that `<` begins, if what is between looks like such.
    pub(crate) fn template_end(&self, open: usize) -> Option<usize> {
        const FARTHEST: usize = 512;
        let mut depth = 0;
        let mut at = open;
        while at < open + FARTHEST {
            match self.word(at) {
                "<" => depth += 1,
                ">" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                "(" | "[" => at = self.partner(at)?,
                "::" | "," | "*" | "&" | "&&" | "..." => {}
                _ if self.is_name(at) || self.is(at, Kind::Number) => {}
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// The first of `stops` from a token on that is in no brackets, or `limit`. Commas between template
    /// arguments do not count.
    pub(crate) fn find(&self, mut at: usize, limit: usize, stops: &[&str]) -> usize {
        while at < limit {
            let word = self.word(at);
            if stops.contains(&word) {
                return at;
            }
            match word {
                "(" | "[" | "{" => at = self.partner(at).filter(|end| *end < limit).unwrap_or(at),
                "<" if at > 0 && self.is_name(at - 1) && stops.contains(&",") => {
                    at = self
                        .template_end(at)
                        .filter(|end| *end < limit && self.may_follow_template(end + 1))
                        .unwrap_or(at);
                }
                _ => {}
            }
            at += 1;
        }
        limit
    }

    /// Whether a token may stand behind template arguments.
    pub(crate) fn may_follow_template(&self, at: usize) -> bool {
        self.is_name(at)
            || matches!(
                self.word(at),
                "(" | "::" | "{" | "*" | "&" | "&&" | "@" | "..."
            )
    }

    /// Where a byte of the text comes from.
    pub(crate) fn position(&self, byte: usize) -> Position<'_> {
        let at = self.lines.partition_point(|line| line.start <= byte);
        let line = self.lines[at.saturating_sub(1)];
        let file = &self.files[line.file];
        Position {
            quoted: &file.quoted,
            flags: &file.flags,
            line: line.number,
            column: byte - line.start + 1,
        }
    }

    /// The directives between two bytes.
    pub(crate) fn directives_in(&self, start: usize, end: usize) -> &[(usize, bool)] {
        let first = self.directives.partition_point(|(at, _)| *at < start);
        let last = self.directives.partition_point(|(at, _)| *at < end);
        &self.directives[first..last.max(first)]
    }

    /// Finds tokens and lines.
    fn scan(&mut self) -> Vec<Branch> {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut branches = Vec::new();
        let (mut file, mut number) = (0, 1);
        self.lines.push(Line {
            start: 0,
            number,
            file,
        });
        let mut known = 0;
        let mut at = 0;
        let mut first_on_line = true;
        loop {
            // Lines within tokens and comments count as well.
            while let Some(end) = bytes[known..at].iter().position(|byte| *byte == b'\n') {
                known += end + 1;
                number = number.wrapping_add(1);
                self.lines.push(Line {
                    start: known,
                    number,
                    file,
                });
            }
            known = at;
            let Some(&byte) = bytes.get(at) else {
                return branches;
            };
            let rest = &bytes[at..];
            match byte {
                b'\n' => {
                    at += 1;
                    first_on_line = true;
                }
                _ if byte.is_ascii_whitespace() || byte == 0x0b => at += 1,
                b'\\' if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") => {
                    at += if rest[1] == b'\n' { 2 } else { 3 };
                }
                b'/' if rest.starts_with(b"//") || rest.starts_with(b"/*") => {
                    at = end_of_comment(bytes, at);
                }
                b'#' if first_on_line => {
                    let end = end_of_directive(bytes, at);
                    let directive = &text[at..end];
                    let marker = marker(directive);
                    self.directives.push((at, marker.is_some()));
                    if let Some((line, named)) = marker {
                        if let Some(named) = named {
                            file = self.file(named);
                        }
                        // Of the line behind it.
                        number = line.saturating_sub(1);
                        number = number.wrapping_sub(directive.matches('\n').count());
                    }
                    let word = directive[1..].trim_start();
                    if word.starts_with("if") {
                        branches.push(Branch::If(self.all.len()));
                    } else if word.starts_with("el") {
                        branches.push(Branch::Else(self.all.len()));
                    } else if word.starts_with("endif") {
                        branches.push(Branch::End(self.all.len()));
                    } else if word.starts_with("define") {
                        self.look_for_attributes(at, end);
                    }
                    at = end;
                }
                _ => {
                    let token = token(text, at);
                    self.all.push(token);
                    at = token.end;
                    first_on_line = false;
                }
            }
        }
    }

    fn file(&mut self, named: File) -> usize {
        match self.files.iter().position(|one| *one == named) {
            Some(known) => known,
            None => {
                self.files.push(named);
                self.files.len() - 1
            }
        }
    }

    /// Finds `@name` in a directive.
    fn look_for_attributes(&mut self, mut at: usize, end: usize) {
        let bytes = self.text.as_bytes();
        let mut sign = None;
        while at < end {
            let rest = &bytes[at..end];
            if rest[0].is_ascii_whitespace() || rest[0] == b'\\' {
                at += 1;
            } else if rest.starts_with(b"//") || rest.starts_with(b"/*") {
                at = end_of_comment(bytes, at);
            } else {
                let token = token(self.text, at);
                if let (Some(sign), Kind::Identifier) = (sign, token.kind) {
                    self.in_macros.push(sign);
                }
                sign = (rest[0] == b'@').then_some(at);
                at = token.end;
            }
        }
    }

    /// Finds the counterparts of brackets. All branches of a condition begin with the brackets that are
    /// open before it.
    fn pair(&mut self, branches: &[Branch]) {
        self.partners = vec![NONE; self.all.len()];
        let mut open: Vec<usize> = Vec::new();
        // The places in `open` of each kind.
        let mut of_kind: [Vec<usize>; 3] = Default::default();
        let mut before: Vec<Vec<usize>> = Vec::new();
        let mut branches = branches.iter().peekable();
        for at in 0..self.all.len() {
            while let Some(branch) = branches.next_if(|branch| {
                let (Branch::If(place) | Branch::Else(place) | Branch::End(place)) = branch;
                *place <= at
            }) {
                match branch {
                    // So that the copies stay small.
                    Branch::If(_) if before.len() < 64 => before.push(open.clone()),
                    Branch::If(_) => {}
                    Branch::Else(_) => {
                        if let Some(before) = before.last() {
                            open.clone_from(before);
                            of_kind = Default::default();
                            for (place, at) in open.iter().enumerate() {
                                of_kind[bracket(self.word(*at))].push(place);
                            }
                        }
                    }
                    Branch::End(_) => {
                        before.pop();
                    }
                }
            }
            let word = self.word(at);
            match word {
                "(" | "[" | "{" => {
                    of_kind[bracket(word)].push(open.len());
                    open.push(at);
                }
                ")" | "]" | "}" => {
                    // What is open within a block ends with it; other brackets do not close blocks.
                    let kind = bracket(word);
                    let Some(found) = of_kind[kind].last().copied() else {
                        continue;
                    };
                    if of_kind[bracket("}")]
                        .last()
                        .is_none_or(|block| *block <= found)
                    {
                        self.partners[at] = open[found];
                        self.partners[open[found]] = at;
                        open.truncate(found);
                        for all in &mut of_kind {
                            all.truncate(all.partition_point(|one| *one < found));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The kind of a bracket, as a number.
fn bracket(word: &str) -> usize {
    match word {
        "(" | ")" => 0,
        "[" | "]" => 1,
        _ => 2,
    }
}

/// A name as it stands between quotes.
fn escape(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A name from between quotes.
pub(crate) fn unescape(quoted: &str) -> String {
    let mut name = String::new();
    let mut characters = quoted.chars();
    while let Some(one) = characters.next() {
        match one {
            '\\' => name.extend(characters.next()),
            one => name.push(one),
        }
    }
    name
}

/// What a line marker or `#line` says: the number of the next line, and the file.
fn marker(directive: &str) -> Option<(usize, Option<File>)> {
    let rest = directive.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let line = rest[..digits].parse().ok()?;
    let Some(rest) = rest[digits..].trim_start().strip_prefix('"') else {
        return Some((line, None));
    };
    let mut end = 0;
    while end < rest.len() && rest.as_bytes()[end] != b'"' {
        end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
    }
    let quoted = rest.get(..end)?.to_owned();
    let flags = rest.get(end + 1..).unwrap_or_default();
    let kinds: Vec<_> = flags
        .split_ascii_whitespace()
        .filter(|flag| matches!(*flag, "3" | "4"))
        .map(|flag| format!(" {flag}"))
        .collect();
    Some((
        line,
        Some(File {
            quoted,
            flags: kinds.concat(),
        }),
    ))
}

fn end_of_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        let mut end = 0;
        while end < rest.len() && rest[end] != b'\n' {
            end += if rest[end..].starts_with(b"\\\n") {
                2
            } else {
                1
            };
        }
        return at + end.min(rest.len());
    }
    let end = rest[2..].windows(2).position(|two| two == b"*/");
    end.map_or(bytes.len(), |end| at + end + 4)
}

/// The end of a directive's last line, without its end of line.
pub(crate) fn end_of_directive(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        let rest = &bytes[at..];
        at = if rest.starts_with(b"\\\n") {
            at + 2
        } else if rest.starts_with(b"\\\r\n") {
            at + 3
        } else if rest.starts_with(b"/*") {
            end_of_comment(bytes, at)
        } else if rest.starts_with(b"//") {
            return end_of_comment(bytes, at);
        } else if rest[0] == b'"' || rest[0] == b'\'' {
            end_of_quote(bytes, at)
        } else {
            at + 1
        };
    }
    at
}

/// The end of a string or a character, at the latest that of its line.
fn end_of_quote(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'\n' {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    end.min(bytes.len())
}

fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The token at a byte that begins one.
fn token(text: &str, at: usize) -> Token {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let number =
        rest[0].is_ascii_digit() || rest[0] == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit);
    let (kind, end) = if number {
        (Kind::Number, end_of_number(bytes, at))
    } else if continues_name(rest[0]) {
        let end = at
            + rest
                .iter()
                .take_while(|byte| continues_name(**byte))
                .count();
        let prefix = &text[at..end];
        match bytes.get(end) {
            Some(b'"') if matches!(prefix, "R" | "LR" | "uR" | "UR" | "u8R") => {
                (Kind::String, end_of_raw_string(bytes, end))
            }
            Some(b'"') if matches!(prefix, "L" | "u" | "U" | "u8") => {
                (Kind::String, end_of_quote(bytes, end))
            }
            Some(b'\'') if matches!(prefix, "L" | "u" | "U" | "u8") => {
                (Kind::Character, end_of_quote(bytes, end))
            }
            _ => (Kind::Identifier, end),
        }
    } else if rest[0] == b'"' {
        (Kind::String, end_of_quote(bytes, at))
    } else if rest[0] == b'\'' {
        (Kind::Character, end_of_quote(bytes, at))
    } else {
        let long = OPERATORS
            .iter()
            .find(|one| rest.starts_with(one.as_bytes()));
        (Kind::Punctuation, at + long.map_or(1, |one| one.len()))
    };
    // An escape may have gone over a character of several bytes.
    let mut end = end.clamp(at + 1, bytes.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Token {
        kind,
        start: at,
        end,
    }
}

fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        let sign = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1] | 0x20, b'e' | b'p');
        let separator = *byte == b'\'' && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        // In a hexadecimal number `e` is a digit.
        let sign =
            sign && !(matches!(bytes[end - 1], b'e' | b'E') && bytes[at..].starts_with(b"0x"));
        if !(continues_name(*byte) || *byte == b'.' || sign || separator) {
            break;
        }
        end += 1;
    }
    end
}

fn end_of_raw_string(bytes: &[u8], quote: usize) -> usize {
    let rest = &bytes[quote + 1..];
    let Some(open) = rest.iter().take(17).position(|byte| *byte == b'(') else {
        return end_of_quote(bytes, quote);
    };
    let mut close = vec![b')'];
    close.extend(&rest[..open]);
    close.push(b'"');
    let end = rest[open..]
        .windows(close.len())
        .position(|window| window == close);
    end.map_or(bytes.len(), |end| quote + 1 + open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let tokens = Tokens::of(text, "f");
        (0..tokens.all.len()).map(|at| tokens.word(at)).collect()
    }

    #[test]
    fn splits_a_text() {
        assert_eq!(
            words(
                "a<<=1'000.5e-3f>>b /*c*/ @ outer(0) // d\n\"e\\\"f\" R\"x()\")x\" u8'g' h->i::j 0xe+1"
            ),
            [
                "a",
                "<<=",
                "1'000.5e-3f",
                ">",
                ">",
                "b",
                "@",
                "outer",
                "(",
                "0",
                ")",
                "\"e\\\"f\"",
                "R\"x()\")x\"",
                "u8'g'",
                "h",
                "->",
                "i",
                "::",
                "j",
                "0xe",
                "+",
                "1"
            ]
        );
        assert_eq!(words("a\n  # pragma b \\\n c\nd \\\ne"), ["a", "d", "e"]);
        assert_eq!(words("\"open\n'x\n\"\\"), ["\"open", "'x", "\"\\"]);
    }

    #[test]
    fn knows_where_lines_come_from() {
        let text = "a\n# 7 \"x\\\"y.okl\" 1 3\nb /*\n*/ c\n#line 40\nd";
        let tokens = Tokens::of(text, "f");
        let place = |at: usize| {
            let found = tokens.position(tokens.start(at));
            format!(
                "{}{}:{}:{}",
                found.quoted, found.flags, found.line, found.column
            )
        };
        assert_eq!(
            [0, 1, 2, 3].map(place),
            [
                "f:1:1",
                "x\\\"y.okl 3:7:1",
                "x\\\"y.okl 3:8:4",
                "x\\\"y.okl 3:40:1"
            ]
        );
    }

    #[test]
    fn pairs_brackets_in_every_branch() {
        let tokens = Tokens::of("#if A\nf(a) {\n#else\nf(b) {\n#endif\n} ( ] { ) }", "f");
        let partner = |at| tokens.partner(at);
        assert_eq!(partner(1), Some(3));
        assert_eq!(partner(9), Some(10));
        assert_eq!(partner(10), Some(9));
        assert_eq!((partner(11), partner(12), partner(14)), (None, None, None));
        assert_eq!(partner(13), Some(15));
    }

    #[test]
    fn finds_attributes_in_macros() {
        let tokens = Tokens::of("#define A \"@x\" @ outer /*@y*/ @\n#pragma @z\n", "f");
        assert_eq!(tokens.in_macros, [15]);
    }
}
