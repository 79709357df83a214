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
        let open = (begin..stop).find(|at| self.tokens.word(*at) == "(");
        let close = open.and_then(|open| self.tokens.partner(open));
        let name = begin + 1;
        let first = open.and_then(|open| self.arguments_before(name, open));
        let (Some(open), Some(close), Some(first)) = (open, close, first) else {
            self.error(self.tokens.start(begin), FORM.to_owned());
            return next;
        };
        let is_whole = self.tokens.word(begin) == "void" && close + 1 == stop && next > stop;
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

    /// Where the arguments of a template begin that end in front of a token.
    fn arguments_before(&self, name: usize, open: usize) -> Option<usize> {
        let mut firsts = (name..open).filter(|at| self.tokens.word(*at) == "<");
        firsts.find(|at| self.tokens.template_end(*at) == Some(open - 1))
    }

    /// A piece of the text in a line, with what is changed in it so far.
    fn edited(&self, start: usize, end: usize) -> String {
        let mut edits: Vec<_> = self.edits.iter().collect();
        edits.retain(|edit| edit.start >= start && edit.end <= end);
        edits.sort_by_key(|edit| (edit.start, edit.end));
        let (mut text, mut at) = (String::new(), start);
        for edit in edits {
            text += &self.tokens.text[at..edit.start.max(at)];
            text += &edit.text;
            text += " ";
            at = edit.end.max(at);
        }
        text += &self.tokens.text[at..end];
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let words: Vec<_> = lines.flat_map(str::split_whitespace).collect();
        words.join(" ")
    }
}
