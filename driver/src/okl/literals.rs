//! Kernels that a file asks for by literals, `okl::kernel<void(int, float *)>("add<float, 4>")`, and whose templates it has:
//! instances of these are put behind its text, and into the table of kernels; see `runtime-shims/okl/include/okl_instances.hpp`.
//!
//! A literal may be anything. Here is told what may be an instance of a template; whether it is one the compiler finds out, and
//! `crate::attempts` leaves out what is none.

use super::tokens::{Kind, Tokens};

/// A kernel that a literal names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// The name as C++, from the outermost namespace on.
    path: String,
    /// As it is asked for.
    said: String,
    /// The type of a pointer to it, as C++.
    ty: String,
    /// Where it is asked for: the file as it stands between quotes, and the line.
    file: String,
    line: usize,
}

/// What errors about the instances name as their file; their number is the line.
pub(crate) const PLACE: &str = "okl::kernel";

/// Words of types that mean the same everywhere.
const BUILTIN: &str = " void bool char wchar_t char8_t char16_t char32_t short int long float double signed unsigned const \
    volatile __restrict ( ) [ ] * & && , ";

/// The kernels of these templates that are asked for by literals.
pub(crate) fn find(tokens: &Tokens, templates: &[(String, String)]) -> Vec<Literal> {
    let mut found: Vec<Literal> = Vec::new();
    if templates.is_empty() {
        return found;
    }
    for at in 2..tokens.all.len() {
        let is_call = tokens.word(at) == "kernel"
            && tokens.word(at - 1) == "::"
            && tokens.word(at - 2) == "okl"
            && tokens.word(at + 1) == "<";
        if !is_call {
            continue;
        }
        let Some(one) = asked(tokens, at, templates) else {
            continue;
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// What the call of `okl::kernel` asks for whose `kernel` is at a token.
fn asked(tokens: &Tokens, at: usize, templates: &[(String, String)]) -> Option<Literal> {
    let close = end_of_arguments(tokens, at + 1)?;
    let open = close + 1 + usize::from(tokens.is_name(close + 1));
    if !matches!(tokens.word(open), "(" | "{") {
        return None;
    }
    let (mut name, mut next) = literal(tokens, open + 1)?;
    if tokens.word(next) == "," && tokens.word(next + 1) == "{" {
        let end = tokens.partner(next + 1)?;
        let mut parts = Vec::new();
        next += 2;
        while next < end {
            let (part, behind) = literal(tokens, next)?;
            if behind != end && tokens.word(behind) != "," {
                return None;
            }
            parts.push(part);
            next = behind + 1;
        }
        if !parts.is_empty() {
            name = format!("{name}<{}>", parts.join(", "));
        }
        next = end + 1;
    }
    if !matches!(tokens.word(next), ")" | "}" | ",") {
        return None;
    }
    let (base, path) = instance(&name)?;
    if !templates.iter().any(|(known, _)| *known == base) {
        return None;
    }
    let signature = tokens.plain(at + 2, close);
    let is_known = |at: usize| {
        tokens.is(at, Kind::Number) || BUILTIN.contains(&format!(" {} ", tokens.word(at)))
    };
    // What else is named there may mean something else behind the text.
    let ty = match (at + 2..close).all(is_known) {
        true => format!("::okl_kernels::Pointer<{signature}>"),
        false => format!("decltype(&{path})"),
    };
    let place = match open == close + 1 {
        true => at,
        false => close + 1,
    };
    let place = tokens.position(tokens.start(place));
    Some(Literal {
        path,
        said: name,
        ty,
        file: place.quoted.to_owned(),
        line: place.line,
    })
}

/// The `>` that belongs to a `<`.
fn end_of_arguments(tokens: &Tokens, open: usize) -> Option<usize> {
    const FARTHEST: usize = 512;
    let (mut depth, mut at) = (0, open);
    while at < open + FARTHEST {
        match tokens.word(at) {
            "<" => depth += 1,
            ">" if depth == 1 => return Some(at),
            ">" => depth -= 1,
            "(" | "[" | "{" => at = tokens.partner(at)?,
            "" | ")" | "]" | "}" | ";" => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The text of a literal of one or more pieces, and the token behind it.
fn literal(tokens: &Tokens, at: usize) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut next = at;
    while tokens.is(next, Kind::String) {
        text += &meant(tokens.word(next))?;
        next += 1;
    }
    (next > at).then_some((text, next))
}

/// What a piece of a literal means, if that is plain.
fn meant(word: &str) -> Option<String> {
    if let Some(raw) = word.strip_prefix("R\"") {
        let (delimiter, rest) = raw.split_once('(')?;
        let rest = rest.strip_suffix(&format!("){delimiter}\""))?;
        return Some(rest.to_owned());
    }
    let inside = word.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut characters = inside.chars();
    while let Some(one) = characters.next() {
        text.push(match one {
            '\\' => characters
                .next()
                .filter(|one| matches!(one, '\\' | '\'' | '"'))?,
            one => one,
        });
    }
    Some(text)
}

/// What the template is called whose instance has this name, without its namespaces, and the name from the outermost one on;
/// nothing where it is no such name.
fn instance(name: &str) -> Option<(String, String)> {
    if name.contains('\n') || name.contains("//") || name.contains("/*") {
        return None;
    }
    let tokens = Tokens::of(name, "");
    let mut next = usize::from(tokens.word(0) == "::");
    while tokens.is_name(next) && tokens.word(next + 1) == "::" {
        next += 2;
    }
    let is_piece = |at: usize| match tokens.all[at].kind {
        Kind::Identifier | Kind::Number | Kind::Character => true,
        Kind::String => false,
        Kind::Punctuation => match tokens.word(at) {
            "(" | ")" | "[" | "]" => tokens.partner(at).is_some(),
            word => word.chars().all(|one| "<>:,*&.+-=!|^%/~?".contains(one)),
        },
    };
    let last = tokens.all.len().checked_sub(1)?;
    let is_one = tokens.is_name(next)
        && tokens.word(next + 1) == "<"
        && (0..=last).all(is_piece)
        && end_of_arguments(&tokens, next + 1) == Some(last);
    let path = tokens.plain(usize::from(tokens.word(0) == "::"), last + 1);
    is_one.then(|| (tokens.word(next).to_owned(), format!("::{path}")))
}

/// What is put behind the text for literals with numbers, which are lines of a file of their own.
pub(crate) fn text<'l>(literals: impl Iterator<Item = (usize, &'l Literal)>) -> String {
    let one = |(number, one): (usize, &Literal)| {
        let Literal {
            path,
            said,
            ty,
            file,
            line,
        } = one;
        let said = said.replace('\\', "\\\\").replace('"', "\\\"");
        // As in a header of the system: the compiler does not warn of it.
        format!(
            "# {number} \"{PLACE}\" 3\n\
             static ::okl_kernels::Entry okl_kernel_literal_{number} = {{::okl_kernels::told<{ty}, &{path}>(), \"{said}\", \
             reinterpret_cast<void *>(static_cast<{ty}>(&{path})), \"{file}\", {line}}}; \
             static ::okl_kernels::Literal okl_kernel_registers_{number} __attribute__((init_priority(101), unused))\
             (&okl_kernel_literal_{number});\n"
        )
    };
    let all: String = literals.map(one).collect();
    match all.is_empty() {
        true => all,
        false => format!("\n{all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let templates = ["axpy", "lit"].map(|name| (name.to_owned(), "k.okl:1".to_owned()));
        let found = find(&Tokens::of(text, "k.okl"), &templates);
        found
            .iter()
            .map(|one| format!("{} {}", one.path, one.ty))
            .collect()
    }

    #[test]
    fn a_literal_is_an_instance_of_a_template_of_the_file() {
        const BUILTIN: &str = "::okl_kernels::Pointer<void(int, float *)>";
        for (call, path) in [
            ("(\"axpy<float, 4>\")", "::axpy<float, 4>"),
            (" k(\"::in::axpy<float>\")", "::in::axpy<float>"),
            (" k{\"axpy\" \"<float>\"};", "::axpy<float>"),
            ("(R\"x(lit<'\\''>)x\", place)", "::lit<'\\''>"),
            ("(\"lit<'>'>\")", "::lit<'>'>"),
            (
                "(\"axpy<(1 > 0), vec<vec<int> > >\")",
                "::axpy<(1 > 0), vec<vec<int> > >",
            ),
            ("(\"axpy\", {\"float\", \"4\"})", "::axpy<float, 4>"),
        ] {
            let text = format!("auto k = okl::kernel<void(int, float *)>{call};");
            assert_eq!(names(&text), [format!("{path} {BUILTIN}")], "{text}");
        }
        // Types with names may be others at the end of the file.
        let named =
            "void f() { using real = float; okl::kernel<void(int, real *)> k(\"axpy<float>\"); }";
        assert_eq!(names(named), ["::axpy<float> decltype(&::axpy<float>)"]);
        let twice = "okl::kernel<void()>(\"axpy<int>\"), okl::kernel<void()>(\"axpy<int>\")";
        assert_eq!(names(twice).len(), 1);
        // Each is asked for at its place.
        assert_eq!(names(&twice.replace(", ", "\n, ")).len(), 2);
    }

    #[test]
    fn other_literals_are_left_alone() {
        for call in [
            "(\"axpy\")",
            "(\"other<int>\")",
            "(\"axpy<int>; int x\")",
            "(\"axpy<int>, lit<1>\")",
            "(\"axpy<int\")",
            "(\"axpy<int>>\")",
            "(\"axpy<(int>\")",
            "(\"axpy<int /* c */>\")",
            "(\"axpy<int // c\")",
            "(\"axpy<[]{ return 1; }()>\")",
            "(\"axpy<\\x69nt>\")",
            "(\"axpy<int\\n>\")",
            "(\"axpy<\\\"a\\\">\")",
            "(L\"axpy<int>\")",
            "(\"axpy<int>\" + s)",
            "(\"axpy\", {s, \"4\"})",
            "(s)",
            "()",
            ";",
        ] {
            let text = format!("auto k = okl::kernel<void(int, float *)>{call};");
            assert!(names(&text).is_empty(), "{text}");
        }
        assert!(names("other::kernel<void()>(\"axpy<int>\")").is_empty());
        assert!(names("// okl::kernel<void()>(\"axpy<int>\")").is_empty());
        assert!(names("okl::kernel<void(").is_empty());
    }

    #[test]
    fn each_instance_is_a_line_of_its_own() {
        let templates = [("lit".to_owned(), String::new())];
        let found = find(
            &Tokens::of("\nokl::kernel<void()>(\"lit<'\\\\''>\")", "k.okl"),
            &templates,
        );
        let text = text([7].into_iter().zip(&found));
        assert_eq!(
            text,
            "\n# 7 \"okl::kernel\" 3\nstatic ::okl_kernels::Entry okl_kernel_literal_7 = \
             {::okl_kernels::told<::okl_kernels::Pointer<void()>, &::lit<'\\''>>(), \"lit<'\\\\''>\", reinterpret_cast<void *>\
             (static_cast<::okl_kernels::Pointer<void()>>(&::lit<'\\''>)), \"k.okl\", 2}; static ::okl_kernels::Literal \
             okl_kernel_registers_7 __attribute__((init_priority(101), unused))(&okl_kernel_literal_7);\n"
        );
    }
}
