//! Compares two outputs and shows where they differ.

use crate::directives::Comparison;

/// Lines of context around a difference.
const CONTEXT: usize = 2;
/// Lines of a difference that are shown.
const SHOWN: usize = 24;

/// `None` if the outputs agree, else an excerpt of their difference.
pub(crate) fn difference(expected: &str, actual: &str, how: Comparison) -> Option<String> {
    match how {
        Comparison::Exact => (expected != actual).then(|| excerpt(expected, actual)),
        Comparison::Sorted => {
            let (expected, actual) = (sorted(expected), sorted(actual));
            (expected != actual).then(|| excerpt(&expected, &actual))
        }
        Comparison::Tolerance(limit) => {
            let same = expected.lines().count() == actual.lines().count()
                && expected
                    .lines()
                    .zip(actual.lines())
                    .all(|(a, b)| agree(a, b, limit));
            (!same).then(|| excerpt(expected, actual))
        }
    }
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Word by word; words that are numbers in both lines may differ by `limit` relative to the larger
/// of the expected magnitude and one.
fn agree(expected: &str, actual: &str, limit: f64) -> bool {
    let words = |line: &str| -> Vec<String> {
        line.split(|c: char| c.is_whitespace() || "=,:;()[]".contains(c))
            .map(str::to_owned)
            .collect()
    };
    let (expected, actual) = (words(expected), words(actual));
    expected.len() == actual.len()
        && expected.iter().zip(&actual).all(|(a, b)| {
            a == b
                || match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) => (a - b).abs() <= limit * a.abs().max(1.0),
                    _ => false,
                }
        })
}

/// A unified diff of the part between the common beginning and the common end.
fn excerpt(expected: &str, actual: &str) -> String {
    let a: Vec<_> = expected.split('\n').collect();
    let b: Vec<_> = actual.split('\n').collect();
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let rest = a.len().min(b.len()) - start;
    let end = (0..rest)
        .take_while(|i| a[a.len() - 1 - i] == b[b.len() - 1 - i])
        .count();
    let context = start.saturating_sub(CONTEXT)..start;
    let mut lines = vec![
        "--- expected".to_owned(),
        "+++ actual".to_owned(),
        format!("@@ line {} @@", context.start + 1),
    ];
    lines.extend(a[context].iter().map(|line| format!(" {line}")));
    let (a, tail) = (&a[start..a.len() - end], &a[a.len() - end..]);
    let b = &b[start..b.len() - end];
    changes(a, b, &mut lines);
    lines.extend(tail.iter().take(CONTEXT).map(|line| format!(" {line}")));
    let hidden = lines.len().saturating_sub(SHOWN);
    if hidden > 1 {
        lines.truncate(SHOWN);
        lines.push(format!("... {hidden} more lines"));
    }
    lines.join("\n")
}

/// The shortest edit of `a` into `b` where that is cheap to find, else all of both.
fn changes(a: &[&str], b: &[&str], lines: &mut Vec<String>) {
    if a.len() * b.len() > 1_000_000 {
        lines.extend(a.iter().map(|line| format!("-{line}")));
        lines.extend(b.iter().map(|line| format!("+{line}")));
        return;
    }
    // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push(format!(" {}", a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            lines.push(format!("-{}", a[i]));
            i += 1;
        } else {
            lines.push(format!("+{}", b[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_and_sorted() {
        assert!(difference("a\nb\n", "a\nb\n", Comparison::Exact).is_none());
        assert!(difference("a\nb\n", "b\na\n", Comparison::Exact).is_some());
        assert!(difference("a\nb\n", "b\na\n", Comparison::Sorted).is_none());
    }

    #[test]
    fn tolerance_needs_the_same_words() {
        let near = Comparison::Tolerance(1e-6);
        assert!(difference("x = 1.0", "x = 1.0000001", near).is_none());
        assert!(difference("x = 1.0", "x = 1.1", near).is_some());
        assert!(difference("x = 1.0", "y = 1.0", near).is_some());
        assert!(difference("1", "1\n1", near).is_some());
        assert!(difference("x = 1", "x = nan", near).is_some());
    }

    #[test]
    fn excerpt_shows_the_changed_lines() {
        let text = difference("a\nb\nc\nd\n", "a\nb\nx\nd\n", Comparison::Exact).unwrap();
        assert_eq!(
            text,
            "--- expected\n+++ actual\n@@ line 1 @@\n a\n b\n-c\n+x\n d\n "
        );
    }
}
