//! What the preprocessor leaves: macros in pragmas about loops.
//!
//! The preprocessor prints pragmas as they are, and the compiler would expand macros in them; behind it there
//! are none. So it also prints definitions (`-dD`), which are taken out here and used in these pragmas. Macros
//! with arguments are not: the compiler then says that it does not know the name.

use std::collections::HashMap;

use super::tokens::{Tokens, end_of_directive};

/// The preprocessor's text without definitions, each line where it was.
pub fn without_definitions(text: &str) -> String {
    let mut known: HashMap<&str, &str> = HashMap::new();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, is_marker) in &Tokens::of(text, "").directives {
        if *is_marker || *start < at {
            continue;
        }
        let end = end_of_directive(text.as_bytes(), *start);
        let directive = &text[*start..end];
        out += &text[at..*start];
        at = end;
        let (kind, rest) = word(&directive[1..]);
        match kind {
            "define" => {
                let (name, body) = word(rest);
                // As it replaces what the name was before.
                match body.starts_with('(') {
                    true => known.remove(name),
                    false => known.insert(name, body.trim()),
                };
                out.extend(directive.matches('\n'));
            }
            "undef" => {
                known.remove(word(rest).0);
                out.extend(directive.matches('\n'));
            }
            "pragma" => match values(rest) {
                Some(values) => {
                    out += &directive[..directive.len() - values.len()];
                    expand(values, &known, &mut Vec::new(), &mut out);
                }
                None => out += directive,
            },
            _ => out += directive,
        }
    }
    out += &text[at..];
    out
}

/// The first name, and what is behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let is_of_name = |one: char| one.is_alphanumeric() || one == '_' || one == '$';
    text.split_at(text.find(|one| !is_of_name(one)).unwrap_or(text.len()))
}

/// What a pragma says with values of the program's, where it is about loops: all behind its name or its first
/// bracket.
fn values(pragma: &str) -> Option<&str> {
    let (first, rest) = word(pragma);
    let (second, behind) = word(rest);
    match (first, second) {
        ("unroll" | "unroll_and_jam", _) => Some(rest),
        ("GCC", "unroll" | "ivdep") => Some(behind),
        ("clang", "loop") => Some(&behind[behind.find('(').unwrap_or(behind.len())..]),
        _ => None,
    }
}

/// Writes the text with macros in place of their names, but for those that are being written.
fn expand<'a>(
    text: &'a str,
    known: &HashMap<&'a str, &'a str>,
    open: &mut Vec<&'a str>,
    out: &mut String,
) {
    let tokens = Tokens::of(text, "");
    let mut at = 0;
    for (number, token) in tokens.all.iter().enumerate() {
        let name = &text[token.start..token.end];
        // `vectorize_width(N)`: the name of an option.
        let is_option = open.is_empty() && tokens.word(number + 1) == "(";
        if let Some(&body) = known.get(name)
            && !open.contains(&name)
            && !is_option
        {
            out.push_str(&text[at..token.start]);
            open.push(name);
            expand(body, known, open, out);
            open.pop();
            at = token.end;
        }
    }
    out.push_str(&text[at..]);
}

#[cfg(test)]
mod tests {
    use super::without_definitions;

    #[test]
    fn expands_macros_in_pragmas_about_loops() {
        let text = "#define N 4\n#define M N+(P)\n#define P M\n#define F(x) x\n#define vectorize_width(a) 1\n\
            #pragma unroll N\n#pragma clang loop unroll_count(M) vectorize_width(N)\n#pragma GCC unroll F(N)\n\
            #pragma other N\n#undef N\n#pragma unroll(N) // N\nN\n";
        assert_eq!(
            without_definitions(text),
            "\n\n\n\n\n\
            #pragma unroll 4\n#pragma clang loop unroll_count(4+(M)) vectorize_width(4)\n#pragma GCC unroll F(4)\n\
            #pragma other N\n\n#pragma unroll(N) // N\nN\n"
        );
    }

    #[test]
    fn leaves_what_only_looks_like_a_definition() {
        let text = "# 1 \"f\"\nconst char *s = R\"(\n#define N 4\n)\";\n#pragma unroll N\n";
        assert_eq!(without_definitions(text), text);
    }

    #[test]
    fn a_macro_with_arguments_hides_one_without() {
        let text = "#define N 4\n#define N(x) x\n#pragma unroll N\n";
        assert_eq!(without_definitions(text), "\n\n#pragma unroll N\n");
    }
}
