//! Columns behind the preprocessor, which prints one blank where the user has several, or a comment, and other
//! text where he has macros.
//!
//! What is read from the user's files is compared with what was preprocessed, line by line: tokens of both are
//! put back to their columns, and the text of a macro to that of its name. Where that is no room, a line marker
//! begins the line anew. But for white space and such markers, the text stays as it is.

use std::collections::HashMap;
use std::iter::repeat_n;

use super::edits::marker;
use super::tokens::Tokens;

/// A token of the user's file, and its column.
pub(crate) type Word = (String, usize);

/// Longer pairs of lines are only compared for being equal.
const MOST_COMPARED: usize = 1 << 18;

/// The preprocessor's text with tokens at the user's columns. `read` reads the user's files.
pub fn at_columns(text: &str, read: impl Fn(&str) -> Option<String>) -> String {
    let tokens = Tokens::of(text, "");
    let mut files: HashMap<&str, HashMap<usize, Vec<Word>>> = HashMap::new();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut first = 0;
    while first < tokens.all.len() {
        let mut next = first + 1;
        while next < tokens.all.len()
            && !text[tokens.all[next - 1].start..tokens.all[next].start].contains('\n')
        {
            next += 1;
        }
        let line = first..next;
        first = next;
        let place = tokens.position(tokens.start(line.start));
        // Behind a string of several lines there is more on its last.
        if place.flags.contains('3') || !tokens.is_first_on_line(line.start) {
            continue;
        }
        let file = files.entry(place.quoted).or_insert_with(|| {
            lines(&read(&super::tokens::unescape(place.quoted)).unwrap_or_default())
        });
        let Some(source) = file.get(&place.line) else {
            continue;
        };
        let words: Vec<&str> = line.clone().map(|at| tokens.word(at)).collect();
        let matched = matches(&words, source);
        // Behind what is written of this line.
        let mut column = 1;
        for (number, at) in line.enumerate() {
            let token = tokens.all[at];
            let (gap, follows) = match number.checked_sub(1) {
                None => (token.start + 1 - place.column..token.start, Some(0)),
                Some(last) => {
                    let follows = matched[last].map(|known| known + 1);
                    (tokens.all[at - 1].end..token.start, follows)
                }
            };
            // The text of a macro begins where its name does.
            let is_free = |known: &usize| !matched.contains(&Some(*known));
            let known = matched[number].or(follows.filter(is_free));
            let wanted = known.and_then(|known| source.get(known));
            let wanted = wanted.map(|(_, column)| *column);
            let may_touch = gap.is_empty()
                || column == 1
                || matched[number].is_some() && matched[number] == follows;
            out += &text[copied..gap.start];
            copied = token.start;
            match wanted {
                Some(wanted) if wanted > column || wanted == column && may_touch => {
                    out.extend(repeat_n(' ', wanted - column));
                    column = wanted;
                }
                Some(wanted) => {
                    out.push('\n');
                    out += &marker(&tokens, token.start);
                    out.extend(repeat_n(' ', wanted - 1));
                    column = wanted;
                }
                None => {
                    column += gap.len();
                    out += &text[gap];
                }
            }
            column += token.end - token.start;
        }
    }
    out += &text[copied..];
    out
}

/// The tokens of each line of a file.
fn lines(text: &str) -> HashMap<usize, Vec<Word>> {
    let tokens = Tokens::of(text, "");
    let mut lines: HashMap<usize, Vec<Word>> = HashMap::new();
    for at in 0..tokens.all.len() {
        let place = tokens.position(tokens.start(at));
        // `#line` may say that it is another file's.
        if place.quoted.is_empty() {
            let word = (tokens.word(at).to_owned(), place.column);
            lines.entry(place.line).or_default().push(word);
        }
    }
    lines
}

/// For each word its place in the source's line, in the same order: a longest common subsequence.
pub(crate) fn matches(words: &[&str], source: &[Word]) -> Vec<Option<usize>> {
    let is_same = |at: usize, known: usize| words[at] == source[known].0;
    if words.len() == source.len() && (0..words.len()).all(|at| is_same(at, at)) {
        return (0..words.len()).map(Some).collect();
    }
    let mut matched = vec![None; words.len()];
    let width = source.len() + 1;
    if (words.len() + 1).saturating_mul(width) > MOST_COMPARED {
        return matched;
    }
    // How long the longest is of what is behind two places.
    let mut longest = vec![0_u32; (words.len() + 1) * width];
    for at in (0..words.len()).rev() {
        for known in (0..source.len()).rev() {
            longest[at * width + known] = if is_same(at, known) {
                longest[(at + 1) * width + known + 1] + 1
            } else {
                longest[(at + 1) * width + known].max(longest[at * width + known + 1])
            };
        }
    }
    let (mut at, mut known) = (0, 0);
    while at < words.len() && known < source.len() {
        if is_same(at, known) {
            matched[at] = Some(known);
            at += 1;
            known += 1;
        } else if longest[(at + 1) * width + known] >= longest[at * width + known + 1] {
            at += 1;
        } else {
            known += 1;
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of the one line `text` of a file that has the line `source`.
    fn line(source: &str, text: &str) -> String {
        let text = format!("# 1 \"f\"\n{text}\n");
        let restored = at_columns(&text, |file| (file == "f").then(|| source.to_owned()));
        let words = |text: &str| {
            let tokens = Tokens::of(text, "");
            let words = (0..tokens.all.len()).map(|at| tokens.word(at).to_owned());
            words.collect::<Vec<_>>()
        };
        assert_eq!(words(&restored), words(&text));
        restored
            .strip_prefix("# 1 \"f\"\n")
            .and_then(|rest| rest.strip_suffix('\n'))
            .unwrap()
            .to_owned()
    }

    #[test]
    fn blanks_and_comments_keep_their_room() {
        assert_eq!(
            line("a  =\tb /* c */+ d;// e", "a = b + d;"),
            "a  = b        + d;"
        );
        assert_eq!(line("\tf(x)", " f(x)"), " f(x)");
    }

    #[test]
    fn macros_begin_where_their_names_do() {
        assert_eq!(line("a[  N] = 1;", "a[ 2] = 1;"), "a[  2] = 1;");
        assert_eq!(line("a[LONG] = 1;", "a[2] = 1;"), "a[2   ] = 1;");
        assert_eq!(
            line("a[N] = N + x;", "a[20 + 1] = 20 + 1 + x;"),
            "a[20 + 1\n# 1 \"f\"\n   ] = 20 + 1\n# 1 \"f\"\n         + x;"
        );
        assert_eq!(line("NOTHING  int a;", "  int a;"), "         int a;");
    }

    #[test]
    fn what_must_not_touch_does_not() {
        assert_eq!(line("N-N", "-1- -1"), "-1-\n# 1 \"f\"\n -1");
        assert_eq!(line("-N", "- -1"), "-\n# 1 \"f\"\n -1");
    }

    #[test]
    fn other_texts_stay() {
        let text = "# 1 \"f\"\na  b\n# 1 \"g\" 1 3\na  b\n# 9 \"f\" 2\na  b R\"(\nx)\"  a\n  # pragma  x\n";
        assert_eq!(
            at_columns(text, |_| Some("a b".to_owned())),
            text.replacen("a  b", "a b", 1)
        );
    }
}
