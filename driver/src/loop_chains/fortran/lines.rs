//! The lines of a text in Fortran, as far as loop chains have to know them: directives, and statements that begin and end
//! loops.

use okl_chains::pragma::{Position, Token, tokens};

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of any length.
    Free,
    /// Labels in the first five columns, a mark of a continuation in the sixth, statements up to column 72.
    Fixed,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// One of the preprocessor's.
    Preprocessor,
    /// A directive begins: how its sentinel begins, which is `omplc` or `omp`, and what it says in all of its lines.
    Directive(Directive),
    /// Statements begin, without what their literals say, their blanks and comments, and in small letters.
    Statements(Vec<String>),
    /// What has begun before goes on.
    Continued,
    /// Nothing of it counts.
    Blank,
}

/// A directive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Directive {
    pub(super) name: &'static str,
    pub(super) at: Position,
    pub(super) tokens: Vec<Token>,
}

/// The sentinels, without what a comment begins with.
const SENTINELS: [&str; 2] = ["$omplc", "$omp"];

/// What all lines of a text are; those that are not active are blank.
pub(super) fn lines(text: &str, form: Form, is_active: impl Fn(usize) -> bool) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    // The directive or the statement that may go on, and whether a mark at its end says so.
    let mut directive: Option<(usize, bool)> = None;
    let mut statement: Option<(usize, bool)> = None;
    let mut quote = None;
    let mut is_preprocessor = false;
    for (number, line) in text.lines().enumerate() {
        if is_preprocessor || line.starts_with('#') {
            is_preprocessor = line.ends_with('\\');
            all.push(Line::Preprocessor);
            continue;
        }
        if !is_active(number) {
            all.push(Line::Blank);
            continue;
        }
        if let Some((name, column)) = sentinel(line, form) {
            let (text, goes_on) = said(&line[column..]);
            let begin = text.len() - text.trim_start().len();
            let is_marked = name == "omp" && form == Form::Fixed && begin == 0 && !text.is_empty();
            let mark = text.trim_start().starts_with('&') || is_marked && !text.starts_with('0');
            let skipped = match mark {
                true => begin + 1,
                false => begin,
            };
            let at = u32::try_from(column + skipped).unwrap_or(0) + 1;
            let line = u32::try_from(number).unwrap_or(0) + 1;
            let text = text.get(skipped..).unwrap_or("").to_ascii_lowercase();
            let more = tokens(&text, Position::new(line, at));
            let begun = directive.filter(|(_, goes_on)| *goes_on || mark);
            let begun = begun.and_then(|(begun, _)| match &mut all[begun] {
                Line::Directive(begun_here) if begun_here.name == name => {
                    begun_here.tokens.extend(more.clone());
                    Some(begun)
                }
                _ => None,
            });
            directive = Some((begun.unwrap_or(number), goes_on));
            all.push(match begun {
                Some(_) => Line::Continued,
                None => Line::Directive(Directive {
                    name,
                    at: Position::new(line, at),
                    tokens: more,
                }),
            });
            continue;
        }
        let Some(code) = code(line, form) else {
            all.push(Line::Blank);
            continue;
        };
        directive = None;
        let is_marked = match form {
            Form::Free => code.trim_start().starts_with('&'),
            Form::Fixed => {
                let mark = code.as_bytes().get(5);
                let has_label = code.as_bytes().iter().take(5).any(|one| *one != b' ');
                !code.starts_with('\t')
                    && !has_label
                    && mark.is_some_and(|one| !b" 0".contains(one))
            }
        };
        let begun = statement.filter(|(_, goes_on)| match form {
            Form::Free => *goes_on,
            Form::Fixed => is_marked,
        });
        let code = match (form, begun) {
            (Form::Fixed, Some(_)) => code.get(6..).unwrap_or(""),
            (Form::Free, Some(_)) if is_marked => &code.trim_start()[1..],
            _ => code,
        };
        if begun.is_none() {
            quote = None;
        }
        let (plain, goes_on) = plain(code, &mut quote);
        let begins = begun.map_or(number, |(begins, _)| begins);
        match begun.map(|(begins, _)| &mut all[begins]) {
            Some(Line::Statements(known)) => {
                let mut more = plain.split(';');
                if let (Some(last), Some(more)) = (known.last_mut(), more.next()) {
                    last.push_str(more);
                }
                known.extend(more.map(str::to_string));
                all.push(Line::Continued);
            }
            _ if plain.is_empty() => {
                all.push(Line::Blank);
                continue;
            }
            _ => all.push(Line::Statements(
                plain.split(';').map(str::to_string).collect(),
            )),
        }
        statement = Some((begins, goes_on));
    }
    all
}

/// The name of a directive, and how many bytes of its line are in front of what it says.
pub(super) fn sentinel(line: &str, form: Form) -> Option<(&'static str, usize)> {
    let begins = line.len() - line.trim_start().len();
    let first = line.as_bytes().get(begins)?.to_ascii_lowercase();
    let may_begin = match form {
        Form::Free => first == b'!',
        Form::Fixed => first == b'!' || begins == 0 && b"c*".contains(&first),
    };
    if !may_begin {
        return None;
    }
    let rest = &line.as_bytes()[begins + 1..];
    SENTINELS.into_iter().find_map(|one| {
        let word = rest.get(..one.len())?;
        let goes_on = rest.get(one.len()).is_some_and(u8::is_ascii_alphanumeric);
        (word.eq_ignore_ascii_case(one.as_bytes()) && !goes_on)
            .then_some((&one[1..], begins + 1 + one.len()))
    })
}

/// What a line of a directive says without a comment, and whether it goes on in the next one.
fn said(text: &str) -> (&str, bool) {
    let text = text.split('!').next().unwrap_or("").trim_end();
    match text.strip_suffix('&') {
        Some(text) if !text.trim().is_empty() || text.is_empty() => (text, true),
        _ => (text, false),
    }
}

/// A line of statements; none where it is a comment.
fn code(line: &str, form: Form) -> Option<&str> {
    let is_comment = match form {
        Form::Free => line.trim_start().starts_with('!'),
        Form::Fixed => {
            line.starts_with(['c', 'C', '*', 'd', 'D', '!']) || line.trim_start().starts_with('!')
        }
    };
    (!is_comment && !line.trim().is_empty()).then_some(line)
}

/// What counts of a line, and whether it goes on in the next one; `quote` is the literal that it begins in, and then the one
/// that it ends in.
fn plain(code: &str, quote: &mut Option<char>) -> (String, bool) {
    let mut out = String::new();
    for one in code.chars() {
        match (*quote, one) {
            (Some(open), one) if open == one => *quote = None,
            (Some(_), '&') => out.push('&'),
            (Some(_), _) => {}
            (None, '\'' | '"') => {
                *quote = Some(one);
                out.push('_');
            }
            (None, '!') => break,
            (None, one) if one.is_whitespace() => {}
            (None, one) => out.extend(one.to_lowercase()),
        }
    }
    let goes_on = out.ends_with('&');
    (out.replace('&', ""), goes_on)
}

/// What a statement does with loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// A loop begins; it ends with this label, where it has one.
    Begin(Option<u32>),
    /// A loop ends.
    End,
    /// Neither.
    Other,
}

/// The label of a statement without blanks, whether it is the name of a construct that begins, and what it does with loops.
pub(super) fn does(statement: &str) -> (Option<u32>, bool, Does) {
    let digits = statement.len()
        - statement
            .trim_start_matches(|one: char| one.is_ascii_digit())
            .len();
    let label = statement[..digits].parse().ok();
    let mut rest = &statement[digits..];
    let name = rest.len() - rest.trim_start_matches(is_of_name).len();
    let is_named = name > 0 && rest[name..].starts_with(':') && !rest[name..].starts_with("::");
    if is_named {
        rest = &rest[name + 1..];
    }
    if let Some(behind) = rest.strip_prefix("enddo") {
        let is_end = behind.chars().all(is_of_name);
        return (
            label,
            is_named,
            if is_end { Does::End } else { Does::Other },
        );
    }
    let begins = rest.strip_prefix("do").and_then(|rest| {
        let digits = rest.len()
            - rest
                .trim_start_matches(|one: char| one.is_ascii_digit())
                .len();
        let until = rest[..digits].parse().ok();
        let rest = rest[digits..].trim_start_matches(',');
        let name = rest.len() - rest.trim_start_matches(is_of_name).len();
        let counts = rest[name..].strip_prefix('=').is_some_and(|bounds| {
            let mut depth = 0_i32;
            name > 0
                && bounds.chars().any(|one| {
                    depth += i32::from(one == '(') - i32::from(one == ')');
                    depth == 0 && one == ','
                })
        });
        let others =
            rest.is_empty() || rest.starts_with("while(") || rest.starts_with("concurrent(");
        (counts || others).then_some(until)
    });
    (label, is_named, begins.map_or(Does::Other, Does::Begin))
}

fn is_of_name(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, form: Form) -> Vec<String> {
        let all = lines(text, form, |_| true).into_iter();
        let shown = |line| match line {
            Line::Preprocessor => "#".to_string(),
            Line::Directive(one) => {
                let words = one
                    .tokens
                    .iter()
                    .map(|token| format!("{}@{}:{}", token.text, token.at.line, token.at.column));
                format!("{} {}", one.name, words.collect::<Vec<_>>().join(" "))
            }
            Line::Statements(all) => all.join(" | "),
            Line::Continued => "+".to_string(),
            Line::Blank => String::new(),
        };
        all.map(shown).collect()
    }

    #[test]
    fn lines_of_both_forms_are_told_apart() {
        let free = "#if A\n  !$OMPLC for & ! more\n!$omplc& X(1)\n  x = 'a!;' // & ! c\n  ! comment\n   & 'do'; Do I = 1, n\n\
                    !$omplcx\nc$omplc for\n!$omp parallel do\n";
        assert_eq!(
            shown(free, Form::Free),
            [
                "#",
                "omplc for@2:11 x@3:10 (@3:11 1@3:12 )@3:13",
                "+",
                "x=_//_ | doi=1,n",
                "",
                "+",
                "",
                "c$omplcfor",
                "omp parallel@9:7 do@9:16"
            ]
        );
        let fixed = "c$omplc for\n*$OMPLC& with\nC comment\n   10 do 20 i = 1,\n     &  n\n 20   continue\n!$omp parallel\n\
                     c$omp+do\n";
        assert_eq!(
            shown(fixed, Form::Fixed),
            [
                "omplc for@1:9 with@2:10",
                "+",
                "",
                "10do20i=1,n",
                "+",
                "20continue",
                "omp parallel@7:7 do@8:7",
                "+"
            ]
        );
    }

    #[test]
    fn loops_are_told_from_assignments() {
        for (statement, label, is_named, what) in [
            ("doi=1,n", None, false, Does::Begin(None)),
            ("10do20,i=1,n", Some(10), false, Does::Begin(Some(20))),
            ("do20i=f(1,2)", None, false, Does::Other),
            ("outer:dowhile(x>1)", None, true, Does::Begin(None)),
            ("do", None, false, Does::Begin(None)),
            ("doconcurrent(i=1:n)", None, false, Does::Begin(None)),
            ("enddoouter", None, false, Does::End),
            ("enddo=1", None, false, Does::Other),
            ("real(8)::x", None, false, Does::Other),
            ("20continue", Some(20), false, Does::Other),
            ("double=1", None, false, Does::Other),
        ] {
            assert_eq!(does(statement), (label, is_named, what), "{statement}");
        }
    }
}
