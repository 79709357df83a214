//! Random kernels that do what their arguments' accesses allow, and nothing that depends on the order of elements.

use crate::random::text::{Random, Text};

use super::expression::{Expressions, Leaf, Number};

/// Types of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    Double,
    Float,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Bool,
}

use Scalar::{Bool, Double, Float, Int, Long, Unsigned, UnsignedLong};

impl Scalar {
    pub(super) fn random(random: &mut Random) -> Self {
        match random.between(0, 15) {
            0..=5 => Double,
            6..=8 => Float,
            9..=10 => Int,
            11 => Unsigned,
            12..=13 => Long,
            14 => UnsignedLong,
            _ => Bool,
        }
    }

    /// OP2's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Double => "double",
            Float => "float",
            Int => "int",
            Unsigned => "uint",
            Long => "ll",
            UnsignedLong => "ull",
            Bool => "bool",
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Double | Float | Int | Long)
    }

    /// What expressions for it are computed in.
    fn number(self, random: &mut Random) -> Number {
        match self {
            Double => Number::Double,
            Float => Number::Float,
            Int => Number::Int,
            Long => Number::Long,
            Unsigned | UnsignedLong | Bool => {
                random.one_of(&[Number::Int, Number::Long, Number::Double])
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Read,
    Write,
    ReadWrite,
    Increment,
    Min,
    Max,
}

impl Access {
    pub(super) fn name(self) -> &'static str {
        match self {
            Access::Read => "OP_READ",
            Access::Write => "OP_WRITE",
            Access::ReadWrite => "OP_RW",
            Access::Increment => "OP_INC",
            Access::Min => "OP_MIN",
            Access::Max => "OP_MAX",
        }
    }
}

/// What a parameter of a kernel points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// An element.
    Element,
    /// Pointers to so many.
    Row(usize),
    Global,
    /// The element's number.
    Number,
    /// What goes along with the parameter before.
    Along,
    /// Which of the optional arguments are there.
    Flags,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parameter {
    pub(super) what: What,
    pub(super) scalar: Scalar,
    pub(super) dim: usize,
    pub(super) access: Access,
    /// Its flag's position, where it may be left out.
    pub(super) flag: Option<usize>,
}

/// What a kernel's increments of a component may come to, in steps of 3.
const MOST_STEPS: usize = 8;

struct Kernel<'a> {
    random: &'a mut Random,
    parameters: &'a [Parameter],
    text: Text,
    expressions: Expressions,
    /// Increments that are left to each parameter.
    steps: Vec<usize>,
    /// Of the loops around the place that is written.
    turns: usize,
    /// The variables of the loops around the place, with their bounds.
    loops: Vec<(String, usize)>,
    names: usize,
}

/// The parameters and the body of a kernel; `constants` can be read, too.
pub(super) fn kernel(
    random: &mut Random,
    parameters: &[Parameter],
    constants: &[Leaf],
) -> (String, String) {
    let mut shown = Vec::new();
    for (at, one) in parameters.iter().enumerate() {
        let constant = match one.what {
            What::Flags => " const",
            What::Along => "",
            _ if one.access == Access::Read && random.chance(80) => " const",
            _ => "",
        };
        let stars = match one.what {
            What::Row(_) => "**",
            _ => "*",
        };
        shown.push(format!("{}{constant} {stars}a{at}", one.scalar.name()));
    }
    let mut kernel = Kernel {
        expressions: Expressions::new(constants),
        steps: vec![MOST_STEPS; parameters.len()],
        random,
        parameters,
        text: Text::default(),
        turns: 1,
        loops: Vec::new(),
        names: 0,
    };
    kernel.body();
    (shown.join(", "), kernel.text.into_string())
}

impl Kernel<'_> {
    fn body(&mut self) {
        self.text.line("{");
        for (at, one) in self.parameters.iter().enumerate() {
            if one.flag.is_none() {
                self.add_leaves(at);
            }
        }
        let mut duties = Vec::new();
        for (at, one) in self.parameters.iter().enumerate() {
            let is_written = !matches!(one.what, What::Number | What::Flags | What::Along);
            if !is_written || one.access == Access::Read {
                continue;
            }
            let count = match one.access {
                Access::Write => self.random.between(1, 2),
                _ => self.random.between(1, 3),
            };
            duties.extend(std::iter::repeat_n(at, count));
        }
        self.shuffle(&mut duties);
        let mut written: Vec<usize> = Vec::new();
        let writes = self
            .parameters
            .iter()
            .any(|one| one.access == Access::Write);
        let mut may_return = !writes && self.random.chance(10);
        for at in duties {
            if self.random.chance(30) {
                self.variable();
            }
            if self.parameters[at].access == Access::Write && !written.contains(&at) {
                self.write_all(at);
                written.push(at);
                continue;
            }
            self.duty(at);
            if may_return && self.random.chance(50) {
                let condition = self.condition();
                self.text.line(format!("if ({condition}) return;"));
                may_return = false;
            }
        }
        self.text.line("}");
    }

    fn shuffle(&mut self, all: &mut [usize]) {
        for k in (1..all.len()).rev() {
            all.swap(k, self.random.between(0, k));
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// What of a parameter can be read from now on.
    fn add_leaves(&mut self, at: usize) {
        let one = self.parameters[at];
        // What is left in a global argument by the elements before depends on their order.
        let is_known = match one.what {
            What::Flags | What::Along => false,
            What::Global => one.access == Access::Read,
            _ => matches!(one.access, Access::Read | Access::ReadWrite),
        };
        if !is_known {
            return;
        }
        let mut add = |text: String| self.expressions.add(Leaf::of_data(text));
        match one.what {
            What::Row(columns) => {
                for column in 0..columns {
                    for k in 0..one.dim {
                        add(format!("a{at}[{column}][{k}]"));
                    }
                }
            }
            What::Number => add(format!("*a{at}")),
            _ => (0..one.dim).for_each(|k| add(format!("a{at}[{k}]"))),
        }
    }

    fn value(&mut self, number: Number) -> String {
        let depth = self.random.between(1, 3);
        self.expressions.value(self.random, number, depth)
    }

    fn condition(&mut self) -> String {
        self.expressions.condition(self.random, 1)
    }

    /// A variable of the kernel's own.
    fn variable(&mut self) {
        let number = Number::random(self.random);
        let name = self.name("t");
        let ty = number.name();
        match self.random.between(0, 5) {
            0 => {
                let (condition, one, other) =
                    (self.condition(), self.folded(number), self.folded(number));
                self.text.line(format!("{ty} {name};"));
                self.text.line(format!("if ({condition}) {{"));
                self.text.line(format!("{name} = {one};"));
                self.text.line("} else {");
                self.text.line(format!("{name} = {other};"));
                self.text.line("}");
            }
            1 => {
                let count = self.random.between(2, 4);
                let all: Vec<_> = (0..count).map(|_| self.folded(number)).collect();
                self.text
                    .line(format!("{ty} {name}[] = {{{}}};", all.join(", ")));
                let by = self.folded(number);
                let k = self.random.between(0, count - 1);
                self.text.line(format!("{name}[{k}] += {by};"));
                for k in 0..count {
                    self.expressions
                        .add(Leaf::small(format!("{name}[{k}]"), 128.0));
                }
                return;
            }
            2 => {
                let value = self.folded(number);
                let k = self.name("k");
                let count = match self.random.chance(50) {
                    true => self.random.between(2, 5).to_string(),
                    false => format!("(int){}", self.small(Number::Int)),
                };
                self.text.line(format!("{ty} {name} = {value};"));
                self.text
                    .line(format!("for (int {k} = 0; {k} < {count}; {k}++) {{"));
                let by = self.folded(number);
                self.text.line(format!("{name} = fold({name} + {by});"));
                self.text.line("}");
            }
            _ => {
                let value = self.folded(number);
                self.text.line(format!("{ty} {name} = {value};"));
            }
        }
        self.expressions.add(Leaf::small(name, 64.0));
    }

    /// Of 0..63.
    fn folded(&mut self, number: Number) -> String {
        let value = self.value(number);
        format!("fold(({})({value}))", number.name())
    }

    /// Of 0..3.
    fn small(&mut self, number: Number) -> String {
        let value = self.value(number);
        format!("few(({})({value}))", number.name())
    }

    /// A value that is stored.
    fn stored(&mut self, scalar: Scalar) -> String {
        let number = scalar.number(self.random);
        let value = self.folded(number);
        let name = scalar.name();
        match scalar {
            Bool => format!("{value} > {}", self.random.between(0, 40)),
            Double | Float | Int | Long if self.random.chance(40) => {
                format!("({name})({value} - {})", self.random.between(1, 40))
            }
            Unsigned | UnsignedLong if number == Number::Double => format!("({name})(ll){value}"),
            _ => format!("({name}){value}"),
        }
    }

    /// What is added: at most 3.
    fn step(&mut self, scalar: Scalar) -> String {
        let number = scalar.number(self.random);
        let value = self.small(number);
        let name = scalar.name();
        match scalar {
            _ if scalar.is_signed() && self.random.chance(60) => {
                format!("({name})({value} - {})", self.random.between(0, 3))
            }
            Unsigned | UnsignedLong if number == Number::Double => format!("({name})(ll){value}"),
            _ => format!("({name}){value}"),
        }
    }

    /// All components of an argument are written, whatever comes.
    fn write_all(&mut self, at: usize) {
        let one = self.parameters[at];
        let is_optional = one.flag.is_some();
        if let Some(flag) = one.flag {
            let condition = self.present_condition(at, flag);
            self.text.line(format!("if ({condition}) {{"));
        }
        let rows = match one.what {
            What::Row(columns) => (0..columns).map(|c| format!("a{at}[{c}]")).collect(),
            _ => vec![format!("a{at}")],
        };
        for row in rows {
            match self.random.between(0, 3) {
                0 => {
                    let k = self.name("k");
                    let dim = one.dim;
                    self.text
                        .line(format!("for (int {k} = 0; {k} < {dim}; {k}++) {{"));
                    let mark = self.expressions.mark();
                    self.expressions.add(Leaf::small(k.clone(), dim as f64));
                    let value = self.stored(one.scalar);
                    self.text.line(format!("{row}[{k}] = {value};"));
                    self.expressions.forget(mark);
                    self.text.line("}");
                }
                1 => {
                    let condition = self.condition();
                    self.text.line(format!("if ({condition}) {{"));
                    self.write_row(&row, one);
                    self.text.line("} else {");
                    self.write_row(&row, one);
                    self.text.line("}");
                }
                _ => self.write_row(&row, one),
            }
            // What has been written may be read.
            if !is_optional && self.random.chance(25) {
                let k = self.random.between(0, one.dim - 1);
                self.expressions
                    .add(Leaf::small(format!("{row}[{k}]"), 64.0));
            }
        }
        if is_optional {
            self.text.line("}");
        }
    }

    fn write_row(&mut self, row: &str, one: Parameter) {
        for k in 0..one.dim {
            let value = self.stored(one.scalar);
            self.text.line(format!("{row}[{k}] = {value};"));
        }
    }

    fn present_condition(&mut self, at: usize, flag: usize) -> String {
        match self.random.chance(25) {
            true => format!("a{at}"),
            false => {
                let flags = self
                    .parameters
                    .iter()
                    .position(|one| one.what == What::Flags);
                format!(
                    "a{}[{flag}]",
                    flags.expect("a kernel with optional arguments has flags")
                )
            }
        }
    }

    /// Something is done to an argument, on a condition or not.
    fn duty(&mut self, at: usize) {
        let mark = self.expressions.mark();
        let mut blocks = 0;
        if let Some(flag) = self.parameters[at].flag {
            let condition = self.present_condition(at, flag);
            self.text.line(format!("if ({condition}) {{"));
            blocks += 1;
            self.add_leaves(at);
        }
        // What may not be there is read where it is.
        let optional = self.parameters.iter().enumerate();
        let optional = optional.filter(|(other, one)| {
            *other != at && one.flag.is_some() && one.access == Access::Read
        });
        let optional: Vec<_> = optional.map(|(other, _)| other).collect();
        for other in optional {
            if self.random.chance(50) {
                let flag = self.parameters[other].flag.expect("it is optional");
                let condition = self.present_condition(other, flag);
                self.text.line(format!("if ({condition}) {{"));
                blocks += 1;
                self.add_leaves(other);
            }
        }
        self.statement(at, 2);
        for _ in 0..blocks {
            self.text.line("}");
        }
        self.expressions.forget(mark);
    }

    fn statement(&mut self, at: usize, depth: usize) {
        let kind = if depth == 0 {
            9
        } else {
            self.random.between(0, 12)
        };
        match kind {
            0 | 1 => {
                let condition = self.condition();
                self.text.line(format!("if ({condition}) {{"));
                self.statement(at, depth - 1);
                if self.random.chance(40) {
                    self.text.line("} else {");
                    self.statement(at, depth - 1);
                }
                self.text.line("}");
            }
            2 => {
                let value = self.small(Number::Int);
                self.text.line(format!("switch ((int){value}) {{"));
                for case in ["case 0:", "case 2:", "default:"] {
                    if case != "default:" || self.random.chance(50) {
                        self.text.line(format!("{case} {{"));
                        self.statement(at, depth - 1);
                        let end = if self.random.chance(80) {
                            "break;"
                        } else {
                            "// and on"
                        };
                        self.text.line(end);
                        self.text.line("}");
                    }
                }
                self.text.line("}");
            }
            3 | 4 if self.turns == 1 => {
                let k = self.name("k");
                let (count, most) = match self.random.chance(60) {
                    true => {
                        let count = self.random.between(1, 4);
                        (count.to_string(), count)
                    }
                    false => (format!("(int){}", self.small(Number::Int)), 3),
                };
                self.text
                    .line(format!("for (int {k} = 0; {k} < {count}; {k}++) {{"));
                let mark = self.expressions.mark();
                self.expressions.add(Leaf::small(k.clone(), most as f64));
                self.turns = most;
                self.loops.push((k, most));
                self.statement(at, depth - 1);
                self.loops.pop();
                self.turns = 1;
                self.expressions.forget(mark);
                self.text.line("}");
            }
            5 => {
                let mark = self.expressions.mark();
                self.text.line("{");
                self.variable();
                self.statement(at, depth - 1);
                self.text.line("}");
                self.expressions.forget(mark);
            }
            _ => self.change(at),
        }
    }

    /// One of the components that a parameter leads to.
    fn component(&mut self, at: usize) -> String {
        let one = self.parameters[at];
        let index = |kernel: &mut Self, below: usize| match kernel.loops.last().cloned() {
            Some((k, most)) if kernel.random.chance(60) => match most <= below {
                true => k,
                false => format!("{k} % {below}"),
            },
            _ => kernel.random.between(0, below - 1).to_string(),
        };
        match one.what {
            What::Row(columns) => {
                let (column, k) = (index(self, columns), index(self, one.dim));
                format!("a{at}[{column}][{k}]")
            }
            _ => format!("a{at}[{}]", index(self, one.dim)),
        }
    }

    /// What the access allows.
    fn change(&mut self, at: usize) {
        let one = self.parameters[at];
        let scalar = one.scalar;
        let there = self.component(at);
        match one.access {
            Access::Read => unreachable!("it is not written"),
            // A global argument that is read and written: the order must not matter.
            Access::ReadWrite if one.what == What::Global => {
                if self.steps[at] >= self.turns {
                    self.steps[at] -= self.turns;
                    let by = self.step(scalar);
                    self.text.line(format!("{there} += {by};"));
                }
            }
            Access::Write | Access::ReadWrite => {
                let value = self.stored(scalar);
                let exchanges =
                    one.what == What::Element && one.dim > 1 && one.access == Access::ReadWrite;
                match self.random.between(0, 5) {
                    0 if exchanges => self.text.line(format!("std::swap(a{at}[0], a{at}[1]);")),
                    _ => self.text.line(format!("{there} = {value};")),
                }
            }
            Access::Increment => {
                if self.steps[at] < self.turns {
                    return;
                }
                self.steps[at] -= self.turns;
                let by = self.step(scalar);
                let name = scalar.name();
                let line = match self.random.between(0, 9) {
                    0 => format!("{there} = {there} + {by};"),
                    1 => format!("{there} = {by} + {there};"),
                    2 if scalar.is_signed() => format!("{there} -= {by};"),
                    3 => format!("{there} += {} ? {by} : ({name})0;", self.condition()),
                    4 => format!("add(&{there}, {by});"),
                    5 if self.random.chance(40) => format!("add_far(&{there}, {by});"),
                    _ => format!("{there} += {by};"),
                };
                self.text.line(line);
            }
            Access::Min | Access::Max => {
                let value = self.stored(scalar);
                let name = scalar.name();
                let (sign, function) = match one.access {
                    Access::Min => ("<", "min"),
                    _ => (">", "max"),
                };
                let along = self
                    .parameters
                    .get(at + 1)
                    .filter(|next| next.what == What::Along);
                if along.is_some() {
                    let new = self.name("n");
                    let number = self
                        .parameters
                        .iter()
                        .position(|one| one.what == What::Number);
                    let number = number.expect("what goes along is the element's number");
                    self.text.line(format!("{name} {new} = {value};"));
                    self.text.line(format!("if ({new} {sign} {there}) {{"));
                    self.text.line(format!("{there} = {new};"));
                    self.text.line(format!("*a{} = *a{number};", at + 1));
                    self.text.line("}");
                    return;
                }
                match self.random.between(0, 2) {
                    0 => {
                        let new = self.name("n");
                        self.text.line(format!("{name} {new} = {value};"));
                        self.text
                            .line(format!("if ({new} {sign} {there}) {there} = {new};"));
                    }
                    1 => self.text.line(format!(
                        "{there} = std::{function}<{name}>({there}, {value});"
                    )),
                    _ => {
                        let new = self.name("n");
                        self.text.line(format!("{name} {new} = {value};"));
                        self.text
                            .line(format!("{there} = {new} {sign} {there} ? {new} : {there};"));
                    }
                }
            }
        }
    }
}
