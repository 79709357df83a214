//! Instances of kernels that a file names for programs that find kernels by their names: `template @kernel void
//! axpy<double, 4>(int, double, const double *, double *);`. It is an instance as C++ has them, and behind it stands what puts it
//! into the table: see `runtime-shims/okl/include/okl_instances.hpp`.

use super::normalise::Normaliser;

/// What such a line is.
const FORM: &str = "an instance of a kernel is 'template @kernel void NAME<ARGUMENTS>(PARAMETERS);', outside of functions and \
                    classes";

impl Normaliser<'_> {
    /// An instance that begins at a token; returns the token behind.
    pub(crate) fn instance(&mut self, at: usize, end: usize) -> usize {
        let mut uses = Vec::new();
        let begin = self.attributes(at + 1, &mut uses, false);
        let stop = self.tokens.find(begin, end, &[";", "{", "}"]);
        let next = stop + usize::from(stop < end && self.tokens.word(stop) == ";");
        for one in &uses {
            match one.row.name {
                "kernel" => self.remove(one),
                _ => self.misplaced(one),
            }
        }
        // What stands in front of the parameters may have parentheses.
        let name = begin + 1;
        let close = stop
            .checked_sub(1)
            .filter(|at| self.tokens.word(*at) == ")");
        let open = close.and_then(|close| self.tokens.partner(close));
        let open = open.filter(|open| *open > name);
        let first = open.and_then(|open| self.arguments_before(name, open));
        let (Some(open), Some(close), Some(first)) = (open, close, first) else {
            self.error(self.tokens.start(begin), FORM.to_owned());
            return next;
        };
        let is_whole = self.tokens.word(begin) == "void" && next > stop;
        if !is_whole {
            self.error(self.tokens.start(begin), FORM.to_owned());
            return next;
        }
        self.scopes.push();
        self.parameters(open, close);
        self.scopes.pop();
        let name = self.edited(self.tokens.start(name), self.tokens.all[open - 1].end);
        let arguments = self.edited(self.tokens.start(first), self.tokens.all[open - 1].end);
        let parameters = self.edited(self.tokens.all[open].end, self.tokens.start(close));
        let quoted = arguments.replace('\\', "\\\\").replace('"', "\\\"");
        let number = self.tokens.start(at);
        let behind = self.tokens.all[stop].end;
        let text = format!(
            " static ::okl_kernels::Instance<void (*)({parameters}), &{name}> okl_kernel_{number} \
             __attribute__((init_priority(101), unused))(\"{quoted}\");"
        );
        // The compiler sees it where the name is.
        self.edit_at(self.tokens.start(begin + 1), behind, behind, text);
        self.has_instances = true;
        next
    }

    /// Where the arguments of a template begin that end in front of a token. What stands in parentheses compares.
    fn arguments_before(&self, name: usize, open: usize) -> Option<usize> {
        let (mut depth, mut at) = (0, open);
        while at > name + 1 {
            at -= 1;
            match self.tokens.word(at) {
                ">" => depth += 1,
                "<" if depth == 1 => return Some(at),
                "<" => depth -= 1,
                ")" | "]" => at = self.tokens.partner(at)?,
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// A piece of the text in a line and without comments, with what is changed in it so far.
    fn edited(&self, start: usize, end: usize) -> String {
        let edits = self.edits.iter();
        let edits = edits.filter(|edit| edit.start >= start && edit.end <= end);
        let mut pieces: Vec<(usize, usize, &str, bool)> = edits
            .map(|edit| (edit.start, edit.end, edit.text.trim(), true))
            .collect();
        let first = self.tokens.all.partition_point(|one| one.start < start);
        let tokens = self.tokens.all[first..]
            .iter()
            .take_while(|one| one.end <= end);
        let is_replaced = |start: usize| {
            let mut edits = pieces.iter();
            edits.any(|(from, to, ..)| *from <= start && start < *to)
        };
        let tokens: Vec<_> = tokens
            .filter(|one| !is_replaced(one.start))
            .map(|one| {
                (
                    one.start,
                    one.end,
                    &self.tokens.text[one.start..one.end],
                    false,
                )
            })
            .collect();
        pieces.extend(tokens);
        pieces.sort_by_key(|(start, end, ..)| (*start, *end));
        let (mut text, mut last) = (String::new(), (start, false));
        pieces.retain(|one| !one.2.is_empty());
        for (start, end, piece, is_edit) in pieces {
            if !text.is_empty() && (last.0 < start || last.1 || is_edit) {
                text.push(' ');
            }
            text += piece;
            last = (end, is_edit);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mode, normalise};

    #[test]
    fn arguments_have_parentheses_and_quotes() {
        for (instance, name, arguments, parameters) in [
            (
                "axpy<double, 4>(int, double)",
                "axpy<double, 4>",
                "<double, 4>",
                "int, double",
            ),
            (
                "n::g<(1+2)>(int (*)[3])",
                "n::g<(1+2)>",
                "<(1+2)>",
                "int (*)[3]",
            ),
            (
                "g < (1 > 0),\n 1 << 2 >()",
                "g < (1 > 0), 1 << 2 >",
                "< (1 > 0), 1 << 2 >",
                "",
            ),
            ("lit<'>', '<'>(int)", "lit<'>', '<'>", "<'>', '<'>", "int"),
            (
                "lit<'\t', '  '>(int)",
                "lit<'\t', '  '>",
                "<'\t', '  '>",
                "int",
            ),
            (
                "lit<'\\'', 1'000>(int)",
                "lit<'\\'', 1'000>",
                "<'\\\\'', 1'000>",
                "int",
            ),
            (
                "v<vec<vec<int>>, '\"'>()",
                "v<vec<vec<int>>, '\"'>",
                "<vec<vec<int>>, '\\\"'>",
                "",
            ),
            (
                "g<1 /* < */>(@restrict int *a)",
                "g<1 >",
                "<1 >",
                "int * __restrict a",
            ),
        ] {
            let text = format!("template @kernel void {instance};");
            let done = normalise(&text, "f.okl", Mode::Preprocessed).unwrap();
            let made = format!("Instance<void (*)({parameters}), &{name}> ");
            let found = done.contains(&made) && done.contains(&format!("(\"{arguments}\");"));
            assert!(found, "{text}: {done}");
        }
        for wrong in [
            "g(int)",
            "g<1>",
            "<1>(int)",
            "g<(1>0>(int)",
            "a<1>b(int)",
            "g<int{1}>(int)",
            "g<1>(int) x",
        ] {
            let text = format!("template @kernel void {wrong};");
            let errors = normalise(&text, "f.okl", Mode::Preprocessed).expect_err(wrong);
            assert!(
                errors[0].message.starts_with("an instance of a kernel is"),
                "{wrong}"
            );
        }
    }
}
