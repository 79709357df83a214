//! What the preprocessor leaves: macros in pragmas.
//!
//! It prints pragmas as they are, and the compiler expands macros in them and nowhere else where a text is
//! preprocessed already. So it also prints definitions (`-dD`); here those are taken out that no pragma leads
//! to, of which the compiler would say again what the preprocessor has said.

use std::collections::{HashMap, HashSet};

use super::tokens::{Kind, Tokens, end_of_directive};

/// The preprocessor's text with the definitions that pragmas need, each line where it was.
pub fn without_definitions(text: &str) -> String {
    let tokens = Tokens::of(text, "");
    let directives = tokens.directives.iter().filter(|(_, is_marker)| !is_marker);
    let directives: Vec<_> = directives
        .map(|(start, _)| {
            let end = end_of_directive(text.as_bytes(), *start);
            let (kind, rest) = word(&text[start + 1..end]);
            (*start, end, kind, rest)
        })
        .collect();

    let mut bodies: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut texts = Vec::new();
    for (_, _, kind, rest) in &directives {
        match *kind {
            "define" => {
                let (name, body) = word(rest);
                bodies.entry(name).or_default().push(body);
            }
            // The preprocessor expands what is in these.
            "pragma" if word(rest).0 != "omp" => texts.push(*rest),
            _ => {}
        }
    }
    // `@directive("#pragma ...")`
    let strings = (0..tokens.all.len()).filter(|at| tokens.is(*at, Kind::String));
    texts.extend(
        strings
            .map(|at| tokens.word(at))
            .filter(|one| one.contains("#pragma")),
    );
    let mut needed = HashSet::new();
    while let Some(mut rest) = texts.pop() {
        while let Some(at) = rest.find(is_of_name) {
            let (name, behind) = word(&rest[at..]);
            if needed.insert(name) {
                texts.extend(bodies.get(name).into_iter().flatten());
            }
            rest = behind;
        }
    }

    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end, kind, rest) in directives {
        if matches!(kind, "define" | "undef") && !needed.contains(word(rest).0) {
            out += &text[at..start];
            out.extend(text[start..end].matches('\n'));
            at = end;
        }
    }
    out += &text[at..];
    out
}

/// The first name, and what is behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|one| !is_of_name(one)).unwrap_or(text.len()))
}

fn is_of_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_' || one == '$'
}

#[cfg(test)]
mod tests {
    use super::without_definitions;

    #[test]
    fn keeps_what_pragmas_lead_to() {
        let text = "#define N 4\n#define M F(P)\n#define P 3\n#define F(x) x + Q\n#define Q M\n#define R N\n\
            #undef N\n#undef M\n#pragma unroll M\n#pragma omp parallel for num_threads(R)\nN\n";
        let kept = "\n#define M F(P)\n#define P 3\n#define F(x) x + Q\n#define Q M\n\n\
            \n#undef M\n#pragma unroll M\n#pragma omp parallel for num_threads(R)\nN\n";
        assert_eq!(without_definitions(text), kept);
        let text = "#define N 4\n#define M 4\n@directive(\"#pragma unroll(N)\") \"M\"";
        let kept = "#define N 4\n\n@directive(\"#pragma unroll(N)\") \"M\"";
        assert_eq!(without_definitions(text), kept);
    }

    #[test]
    fn leaves_what_only_looks_like_a_definition() {
        let text = "# 1 \"f\"\nconst char *s = R\"(\n#define N 4\n)\";\n#pragma unroll 4\n";
        assert_eq!(without_definitions(text), text);
    }
}
