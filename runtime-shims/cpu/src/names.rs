//! What kernels are called, and their types, in the words of compilers.

use std::ffi::{CStr, c_char, c_void};

/// What a compiler tells of a template's arguments: `... [T = void (*)(int), F = &name]`, `[with T = ...; T F = name<int>]`.
pub(crate) struct Told<'a> {
    /// The type.
    pub(crate) ty: &'a str,
    /// The function, if one is told, without its arguments as a template.
    pub(crate) function: Option<&'a str>,
}

impl<'a> Told<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let rest = ["[T = ", "[with T = "]
            .iter()
            .find_map(|one| text.split_once(one))
            .map_or(text, |(_, rest)| rest);
        let rest = rest.strip_suffix(']').unwrap_or(rest);
        let function = [", F = ", "; T F = "]
            .iter()
            .find_map(|one| rest.split_once(one));
        match function {
            Some((ty, function)) => {
                let function = function.trim_start_matches('&');
                let path = function.len() - arguments(function).len();
                Self {
                    ty,
                    function: Some(&function[..path]),
                }
            }
            None => Self {
                ty: rest,
                function: None,
            },
        }
    }
}

/// Operators that have `<` or `>` and bracket nothing.
const OPERATORS: [&str; 6] = ["<=>", "<<", "<=", ">=", "->", "::"];

/// The words of a name: identifiers, numbers, characters in quotes and operators, and where each begins.
pub(crate) fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if in_word(first) {
            let is_number = first.is_ascii_digit();
            // `1'000`
            let separates = |end: usize| {
                is_number && rest[end..].starts_with('\'') && rest[end + 1..].starts_with(in_word)
            };
            let mut ends = rest
                .char_indices()
                .skip_while(|(end, one)| in_word(*one) || separates(*end));
            let end = ends.next().map_or(rest.len(), |(end, _)| end);
            match matches!(&rest[..end], "u8" | "u" | "U" | "L") && rest[end..].starts_with('\'') {
                true => end + quoted(&rest[end..]),
                false => end,
            }
        } else if first == '\'' {
            quoted(rest)
        } else {
            let operator = OPERATORS.iter().find(|one| rest.starts_with(**one));
            operator.map_or(first.len_utf8(), |one| one.len())
        };
        if !first.is_whitespace() {
            words.push((at, &rest[..length]));
        }
        at += length;
    }
    words
}

pub(crate) fn in_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_' || one == '$'
}

/// How long a character in quotes is that a text begins with.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        if one == '\'' && !is_escaped {
            return at + 1;
        }
        is_escaped = one == '\\' && !is_escaped;
    }
    text.len()
}

/// A name or a type without blanks that separate nothing: two words, or two operators that would be one.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut end = 0;
    for (at, word) in words(text) {
        let is_apart = at > end;
        let joins = plain.ends_with(in_word) && word.starts_with(|one| in_word(one) || one == '\'')
            || plain.ends_with('\'') && word.starts_with(in_word)
            || ["+", "-", "&", "|"].contains(&word) && plain.ends_with(word);
        if is_apart && joins {
            plain.push(' ');
        }
        plain += word;
        end = at + word.len();
    }
    plain
}

/// The parameters of a kernel's type, as a user reads them.
pub(crate) fn parameters(ty: &str) -> &str {
    let begin = ty.find("(*)").map_or(0, |at| at + "(*)".len());
    &ty[begin..]
}

/// A template's arguments, with which a name ends: `<double, 4>`, or nothing. What stands in parentheses compares.
pub(crate) fn arguments(name: &str) -> &str {
    let name = name.trim_end();
    let words = words(name);
    if words.last().is_none_or(|(_, word)| *word != ">") {
        return "";
    }
    let (mut depth, mut inside) = (0, 0);
    for (at, word) in words.into_iter().rev() {
        match word {
            ")" | "]" => inside += 1,
            "(" | "[" => inside -= 1,
            _ if inside > 0 => {}
            ">" => depth += 1,
            "<" if depth == 1 => return &name[at..],
            "<" => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Whether a type is of one file alone, so that another file's may be called the same.
pub(crate) fn is_of_one_file(ty: &str) -> bool {
    ["(anonymous", "{anonymous", "(lambda", "<lambda", "(unnamed"]
        .iter()
        .any(|one| ty.contains(one))
}

/// A NUL-terminated text.
///
/// # Safety
/// It is one.
pub(crate) unsafe fn text(at: *mut c_void) -> String {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(at.cast::<c_char>()) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_tell_types_and_names() {
        let clang = "okl_kernels::Instance<void (*)(int), &ns::add>::Instance(int) [T = void (*)(int, const double *), F = &ns::add]";
        let told = Told::of(clang);
        assert_eq!(plain(told.ty), "void(*)(int,const double*)");
        assert_eq!(parameters(told.ty), "(int, const double *)");
        assert_eq!(told.function, Some("ns::add"));
        let gcc = "Instance<T, F>::Instance(int) [with T = void (*)(int, const double*); T F = ns::add<a<int> >]";
        let other = Told::of(gcc);
        assert_eq!(plain(other.ty), plain(told.ty));
        assert_eq!(other.function, Some("ns::add"));
        let rows = Told::of("f() [T = void (*)(int (*)[3])]");
        assert_eq!(parameters(rows.ty), "(int (*)[3])");
        let alone = Told::of("const char *type() [T = void (*)(int *)]");
        assert_eq!((alone.ty, alone.function), ("void (*)(int *)", None));
    }

    #[test]
    fn arguments_are_those_of_the_last_name() {
        assert_eq!(arguments("a::b<vec<double>, 4> "), "<vec<double>, 4>");
        assert_eq!(arguments("b<int>::c"), "");
        assert_eq!(arguments("b<double, (1>0)>"), "<double, (1>0)>");
        assert_eq!(arguments("n<(2<3)>::b<a<(1>>0)>>"), "<a<(1>>0)>>");
        assert_eq!(arguments("c"), "");
        assert_eq!(arguments("n::lit<'>'>"), "<'>'>");
        assert_eq!(arguments("lit<'<', '\\'', u8'>'>"), "<'<', '\\'', u8'>'>");
        assert_eq!(arguments("g<1 << 2>"), "<1 << 2>");
        assert_eq!(arguments("g<1'000>"), "<1'000>");
        assert_eq!(arguments("g<(p->n)>"), "<(p->n)>");
        assert_eq!(arguments("a-b>"), "");
        assert_eq!(arguments("'<a>"), "");
    }

    #[test]
    fn names_are_the_same_but_for_blanks_that_separate_nothing() {
        for (name, same) in [
            ("add < unsigned  long , 4 >", "add<unsigned long,4>"),
            (" lit < ' ' > ", "lit<' '>"),
            ("lit<'  '>", "lit<'  '>"),
            ("lit<'\\'', '>'>", "lit<'\\'','>'>"),
            ("g<1'000 - 1>", "g<1'000-1>"),
            ("g<(1 - -1)>", "g<(1- -1)>"),
            ("g<(1 --1)>", "g<(1--1)>"),
            ("g<(& x), a & & b>", "g<(&x),a& &b>"),
            ("const int * *", "const int**"),
            ("vec<vec<int> >", "vec<vec<int>>"),
            ("a :: b < 1 << 2 >", "a::b<1<<2>"),
            ("lit<L'a'>", "lit<L'a'>"),
            ("lit<sizeof 'a'>", "lit<sizeof 'a'>"),
            ("lit<'a", "lit<'a"),
            (
                "void (*)(int, const double *)",
                "void(*)(int,const double*)",
            ),
        ] {
            assert_eq!(plain(name), same);
            assert_eq!(plain(same), same);
        }
    }
}
