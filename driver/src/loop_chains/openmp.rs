//! The directives of OpenMP that loops of a chain have.

use okl_chains::pragma::{Clause, Name, OpenMp, Position, Sharing, Token};

use super::pragmas::Pragma;

/// A directive that a schedule takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    /// What it says.
    pub(crate) says: OpenMp,
    /// Of how many loops the iterations are shared out.
    pub(crate) collapse: usize,
}

/// Whether a pragma is about the loop behind it, so that nothing may stand between.
pub(crate) fn is_of_loop(pragma: &Pragma) -> bool {
    let word = |at: usize| {
        pragma
            .tokens
            .get(at)
            .map_or("", |token| token.text.as_str())
    };
    let of_loops = [
        "for",
        "simd",
        "loop",
        "taskloop",
        "distribute",
        "tile",
        "unroll",
        "reverse",
        "interchange",
    ];
    match pragma.name.as_str() {
        "omp" => {
            let names = pragma.tokens.iter().map(|token| token.text.as_str());
            let mut names = names.take_while(|name| *name != "(");
            names.any(|name| of_loops.contains(&name))
        }
        "clang" => word(0) == "loop",
        "GCC" => matches!(word(0), "ivdep" | "unroll"),
        "unroll" | "nounroll" | "unroll_and_jam" | "nounroll_and_jam" | "ivdep" | "vector" => true,
        _ => false,
    }
}

/// Clauses that are about how iterations are shared out, which a schedule says, or about what the code tells as well.
const DROPPED: [&str; 16] = [
    "schedule",
    "num_threads",
    "collapse",
    "default",
    "shared",
    "proc_bind",
    "if",
    "safelen",
    "simdlen",
    "linear",
    "aligned",
    "nontemporal",
    "order",
    "severity",
    "message",
    "nowait",
];

/// A directive of a loop, if it is one that a schedule takes the place of.
pub(crate) fn read(pragma: &Pragma) -> Result<Option<Directive>, (Position, String)> {
    let word = |at: usize| {
        pragma
            .tokens
            .get(at)
            .map_or("", |token| token.text.as_str())
    };
    let is_shared = word(0) == "for";
    let (is_parallel, is_simd, mut at) = match [word(0), word(1), word(2)] {
        ["parallel", "for", "simd"] => (true, true, 3),
        ["parallel", "for", _] => (true, false, 2),
        ["for", "simd", _] => (false, true, 2),
        ["for", ..] => (false, false, 1),
        ["simd", ..] => (false, true, 1),
        _ => return Ok(None),
    };
    let mut directive = Directive {
        says: OpenMp {
            at: pragma.at,
            is_parallel,
            is_shared,
            is_simd,
            clauses: Vec::new(),
        },
        collapse: 1,
    };
    while at < pragma.tokens.len() {
        let clause = &pragma.tokens[at];
        at += 1;
        if clause.text == "," {
            continue;
        }
        let first = at + 1;
        let mut arguments: &[Token] = &[];
        if word(at) == "(" {
            let end = end_of_brackets(&pragma.tokens, at);
            arguments = &pragma.tokens[first..end.max(first)];
            at = end + 1;
        }
        let name = clause.text.as_str();
        let cannot = |why: &str| {
            let message = format!("the clause '{name}' cannot be kept in a loop chain{why}");
            Err((clause.at, message))
        };
        let sharing = match name {
            "private" => Sharing::Private,
            "firstprivate" => Sharing::FirstPrivate,
            "lastprivate" => Sharing::LastPrivate,
            "reduction" => {
                let Some(colon) = arguments.iter().position(|one| one.text == ":") else {
                    return cannot(": it has no ':'");
                };
                let by = match &arguments[..colon] {
                    [modifier, comma, by @ ..] if comma.text == "," => {
                        if modifier.text != "default" {
                            return cannot(&format!(" where it is '{}'", modifier.text));
                        }
                        by
                    }
                    by => by,
                };
                let by = by.iter().map(|token| token.text.as_str()).collect();
                arguments = &arguments[colon + 1..];
                Sharing::Reduction(by)
            }
            "collapse" => {
                directive.collapse = match arguments {
                    [number] => number.text.parse().unwrap_or(1),
                    _ => return cannot(" where its argument is no number"),
                };
                continue;
            }
            _ if DROPPED.contains(&name) => continue,
            _ => return cannot(""),
        };
        let mut depth = 0_i32;
        let variables = arguments.split(|token| {
            match token.text.as_str() {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                _ => {}
            }
            depth == 0 && token.text == ","
        });
        let name_of = |tokens: &[Token]| {
            let text = tokens.iter().map(|token| token.text.as_str()).collect();
            tokens.first().map(|first| Name { at: first.at, text })
        };
        let is_plain = |name: &Name| {
            name.text
                .chars()
                .all(|one| one.is_alphanumeric() || one == '_')
        };
        let variables: Vec<_> = variables.filter_map(name_of).collect();
        if !matches!(sharing, Sharing::Reduction(_)) && !variables.iter().all(is_plain) {
            return cannot(" where it has more than names of variables");
        }
        directive.says.clauses.push(Clause { sharing, variables });
    }
    Ok(Some(directive))
}

/// The bracket that closes what one opens, or the last token.
fn end_of_brackets(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}
