//! The shared data of a random program: shapes of arrays, how they are declared, reached and
//! checked.

use super::source::Unit;
use super::text::{Random, Text};
use crate::tools::Language;

/// Element types. Arithmetic is done in `u64`, so it wraps and is exact in any order; doubles hold
/// small integers only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    F64,
}

impl Type {
    const ALL: [Type; 7] = [
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::I32,
        Type::I64,
        Type::F64,
    ];

    pub(crate) fn random(random: &mut Random) -> Self {
        Self::ALL[random.between(0, Self::ALL.len() - 1)]
    }

    /// The name of the typedef in the program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::F64 => "f64",
        }
    }

    /// The type of an atomic variable.
    fn atomic(self, language: Language) -> String {
        match language {
            Language::Cxx => format!("std::atomic<{}>", self.name()),
            _ => format!("_Atomic({})", self.name()),
        }
    }

    /// `value` (a `u64` expression) as a value of this type.
    pub(crate) fn stored(self, value: &str) -> String {
        match self {
            Type::F64 => format!("(f64)(({value}) & 0xfffff)"),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::I32 | Type::I64 => {
                format!("({})({value})", self.name())
            }
        }
    }

    /// Updates that give the same result in any order, without overflow of a signed type.
    pub(crate) fn updates(self) -> &'static [&'static str] {
        match self {
            Type::U8 | Type::U32 | Type::U64 => &["+", "-", "^", "|", "&", "*"],
            // Two u16 are multiplied as signed integers, which may overflow.
            Type::U16 => &["+", "-", "^", "|", "&"],
            Type::I32 | Type::I64 => &["^", "|", "&"],
            Type::F64 => &["+"],
        }
    }

    pub(crate) fn is_unsigned(self) -> bool {
        matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// The right-hand side of an update `x op= ...` from a `u64` expression.
    pub(crate) fn operand(self, value: &str) -> String {
        match self {
            Type::F64 => format!("(f64)(({value}) & 0xff)"),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::I32 | Type::I64 => {
                format!("({})({value})", self.name())
            }
        }
    }
}

/// An array of atomic variables has at most this many.
const ATOMIC: usize = 50;

/// Where an object lives and how its elements are reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A global scalar.
    Scalar,
    /// A global array.
    Global,
    /// A file-local array.
    Static,
    /// An array on the stack of `main`.
    Stack,
    /// A variable-length array on the stack of `main`.
    Vla,
    /// A pointer to heap memory, in a global.
    Heap,
    /// One field of a global array of structs.
    Field,
    /// A global array of atomic variables.
    Atomic,
    /// Row pointers, each row a heap block.
    Rows { width: usize },
}

/// One shared variable.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) element: Type,
    pub(crate) shape: Shape,
    pub(crate) len: usize,
}

impl Object {
    pub(crate) fn random(random: &mut Random, number: usize) -> Self {
        let mut element = Type::random(random);
        let len = match random.between(0, 9) {
            0 => random.between(1, 7),
            1..=6 => random.between(8, 700),
            _ => random.between(700, 4000),
        };
        let shape = match random.between(0, 10) {
            0 | 1 => Shape::Scalar,
            2 => Shape::Global,
            3 => Shape::Static,
            4 => Shape::Stack,
            5 => Shape::Vla,
            6 | 7 => Shape::Heap,
            8 => Shape::Field,
            9 => Shape::Atomic,
            _ => Shape::Rows {
                width: random.between(1, 40),
            },
        };
        let len = match shape {
            Shape::Scalar => 1,
            // Each access may be a message.
            Shape::Atomic => len.min(ATOMIC),
            Shape::Rows { width } => len.div_ceil(width) * width,
            Shape::Global
            | Shape::Static
            | Shape::Stack
            | Shape::Vla
            | Shape::Heap
            | Shape::Field => len,
        };
        if shape == Shape::Atomic && element == Type::F64 {
            element = Type::U64;
        }
        Self {
            name: format!("x{number}"),
            element,
            shape,
            len,
        }
    }

    /// Visible in functions other than `main` only as a parameter.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.shape, Shape::Stack | Shape::Vla)
    }

    /// Whether functions of `unit` may name it, as a parameter if it is local.
    pub(crate) fn is_visible_in(&self, unit: Unit) -> bool {
        unit == Unit::First || !matches!(self.shape, Shape::Static | Shape::Field)
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.shape == Shape::Scalar
    }

    /// Updates that give the same result in any order.
    pub(crate) fn updates(&self) -> Vec<&'static str> {
        let mut updates = self.element.updates().to_vec();
        if self.shape == Shape::Atomic {
            updates.retain(|operator| *operator != "*");
        }
        updates
    }

    /// Elements lie side by side behind the name, so that `memcpy` may be used.
    pub(crate) fn is_contiguous(&self) -> bool {
        match self.shape {
            Shape::Global | Shape::Static | Shape::Stack | Shape::Vla | Shape::Heap => true,
            Shape::Scalar | Shape::Field | Shape::Atomic | Shape::Rows { .. } => false,
        }
    }

    /// Element `index`, an lvalue; `index` must be below the length.
    pub(crate) fn at(&self, index: &str) -> String {
        let name = &self.name;
        match self.shape {
            Shape::Scalar => name.clone(),
            Shape::Field => format!("{name}[{index}].value"),
            Shape::Rows { width } => format!("{name}[({index}) / {width}][({index}) % {width}]"),
            Shape::Global
            | Shape::Static
            | Shape::Stack
            | Shape::Vla
            | Shape::Heap
            | Shape::Atomic => format!("{name}[{index}]"),
        }
    }

    /// The statement that makes element `index` `value`, a `u64` expression.
    pub(crate) fn assignment(&self, index: &str, value: &str) -> String {
        format!("{} = {};", self.at(index), self.element.stored(value))
    }

    /// Declaration at file scope, empty for what `main` declares.
    pub(crate) fn global_declaration(&self, language: Language) -> String {
        let (name, ty, len) = (&self.name, self.element.name(), self.len);
        match self.shape {
            Shape::Scalar => format!("{ty} {name} = {};", self.len + 2),
            Shape::Global => format!("{ty} {name}[{len}];"),
            Shape::Atomic => format!("{} {name}[{len}];", self.element.atomic(language)),
            Shape::Static => format!("static {ty} {name}[{len}] = {{2}};"),
            Shape::Heap => format!("{ty} *{name};"),
            Shape::Field => {
                format!("static struct {{ u8 before; {ty} value; u16 after; }} {name}[{len}];")
            }
            Shape::Rows { .. } => format!("{ty} **{name};"),
            Shape::Stack | Shape::Vla => String::new(),
        }
    }

    /// Declaration in the other unit, empty for what that does not know.
    pub(crate) fn declaration(&self, language: Language) -> String {
        let (name, ty, len) = (&self.name, self.element.name(), self.len);
        match self.shape {
            Shape::Scalar => format!("extern {ty} {name};"),
            Shape::Global => format!("extern {ty} {name}[{len}];"),
            Shape::Atomic => format!("extern {} {name}[{len}];", self.element.atomic(language)),
            Shape::Heap => format!("extern {ty} *{name};"),
            Shape::Rows { .. } => format!("extern {ty} **{name};"),
            Shape::Static | Shape::Field | Shape::Stack | Shape::Vla => String::new(),
        }
    }

    /// Statements at the beginning of `main` that create it.
    pub(crate) fn create(&self, text: &mut Text) {
        let (name, ty, len) = (&self.name, self.element.name(), self.len);
        match self.shape {
            Shape::Scalar | Shape::Global | Shape::Static | Shape::Field | Shape::Atomic => {}
            Shape::Stack => text.line(format!("{ty} {name}[{len}];")),
            Shape::Vla => text.line(format!("{ty} {name}[argc * {len}];")),
            Shape::Heap => text.line(format!("{name} = ({ty} *)malloc({len} * sizeof *{name});")),
            Shape::Rows { width } => {
                let rows = len / width;
                text.line(format!(
                    "{name} = ({ty} **)malloc({rows} * sizeof *{name});"
                ));
                text.line(format!(
                    "for (int i = 0; i < {rows}; i++) {name}[i] = ({ty} *)malloc({width} * sizeof **{name});"
                ));
            }
        }
    }

    /// Statements at the end of `main`.
    pub(crate) fn destroy(&self, text: &mut Text) {
        let name = &self.name;
        match self.shape {
            Shape::Heap => text.line(format!("free({name});")),
            Shape::Rows { width } => {
                let rows = self.len / width;
                text.line(format!("for (int i = 0; i < {rows}; i++) free({name}[i]);"));
                text.line(format!("free({name});"));
            }
            Shape::Scalar
            | Shape::Global
            | Shape::Static
            | Shape::Stack
            | Shape::Vla
            | Shape::Atomic
            | Shape::Field => {}
        }
    }

    /// Parameter of a function that takes this local object.
    pub(crate) fn parameter(&self) -> String {
        format!("{} *{}", self.element.name(), self.name)
    }

    /// Prints a checksum that depends on every element and its place.
    pub(crate) fn print(&self, text: &mut Text) {
        let (name, at) = (&self.name, self.at("i"));
        if self.is_contiguous() {
            let ty = self.element.name();
            return text.line(format!("print_{ty}(\"{name}\", {name}, {});", self.len));
        }
        text.line("{");
        text.line("u64 sum = 14695981039346656037u;");
        text.line(format!("for (u64 i = 0; i < {}; i++) {{", self.len));
        text.line(format!("sum = (sum ^ (u64){at}) * 1099511628211u + i;"));
        text.line("}");
        text.line(format!("printf(\"{name} %016lx\\n\", sum);"));
        text.line("}");
    }
}
