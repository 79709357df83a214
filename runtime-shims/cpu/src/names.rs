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

/// A name or a type without blanks that separate no words.
pub(crate) fn plain(text: &str) -> String {
    let in_word = |one: char| one.is_alphanumeric() || one == '_';
    let mut plain = String::new();
    for word in text.split_whitespace() {
        if plain.ends_with(in_word) && word.starts_with(in_word) {
            plain.push(' ');
        }
        plain += word;
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
    if !name.ends_with('>') {
        return "";
    }
    let (mut depth, mut inside) = (0, 0);
    for (at, one) in name.char_indices().rev() {
        match one {
            ')' | ']' => inside += 1,
            '(' | '[' => inside -= 1,
            _ if inside > 0 => {}
            '>' => depth += 1,
            '<' if depth == 1 => return &name[at..],
            '<' => depth -= 1,
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
        assert_eq!(plain("add < unsigned  long , 4 >"), "add<unsigned long,4>");
    }
}
