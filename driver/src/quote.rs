//! Commands as one would type them.

use std::ffi::OsStr;

/// The words of a command, each quoted where the shell needs it.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> String {
    let quoted: Vec<_> = words.into_iter().map(quote).collect();
    quoted.join(" ")
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_the_shell_would_change() {
        let words = ["clang-22", "-DA=\"x y\"", "it's", "", "a/b,c=d"].map(OsStr::new);
        assert_eq!(
            command_line(words),
            r#"clang-22 '-DA="x y"' 'it'\''s' '' a/b,c=d"#
        );
    }
}
