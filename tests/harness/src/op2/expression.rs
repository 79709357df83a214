//! Random expressions of whole numbers, none of them greater than what each type holds exactly.

use crate::random::text::Random;

/// What expressions are computed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Double,
    Float,
    Int,
    Long,
}

use Number::{Double, Float, Int, Long};

impl Number {
    pub(super) fn random(random: &mut Random) -> Self {
        random.one_of(&[Double, Double, Float, Int, Int, Long])
    }

    /// C++'s name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Double => "double",
            Float => "float",
            Int => "int",
            Long => "ll",
        }
    }

    fn is_floating(self) -> bool {
        matches!(self, Double | Float)
    }
}

/// Whole numbers up to this one are exact in each type.
const MOST: f64 = 16_777_216.0;

/// What can be read.
#[derive(Clone)]
pub(super) struct Leaf {
    text: String,
    /// Its greatest magnitude.
    most: f64,
}

impl Leaf {
    /// Data: what is incremented again and again stays below this.
    pub(super) fn of_data(text: String) -> Self {
        Self::small(text, MOST / 2.0)
    }

    pub(super) fn small(text: String, most: f64) -> Self {
        Self { text, most }
    }
}

/// What can be computed at a place.
pub(super) struct Expressions {
    leaves: Vec<Leaf>,
}

impl Expressions {
    pub(super) fn new(leaves: &[Leaf]) -> Self {
        Self {
            leaves: leaves.to_vec(),
        }
    }

    pub(super) fn add(&mut self, leaf: Leaf) {
        self.leaves.push(leaf);
    }

    /// What [`Expressions::forget`] goes back to.
    pub(super) fn mark(&self) -> usize {
        self.leaves.len()
    }

    pub(super) fn forget(&mut self, mark: usize) {
        self.leaves.truncate(mark);
    }

    /// A whole number.
    pub(super) fn value(&self, random: &mut Random, number: Number, depth: usize) -> String {
        self.bounded(random, number, depth).text
    }

    fn leaf(&self, random: &mut Random, number: Number) -> Leaf {
        let name = number.name();
        if self.leaves.is_empty() || random.chance(15) {
            let literal = random.between(0, 9);
            return Leaf::small(format!("({name}){literal}"), literal as f64);
        }
        let leaf = &self.leaves[random.between(0, self.leaves.len() - 1)];
        Leaf::small(format!("({name}){}", leaf.text), leaf.most)
    }

    /// The same, of 0..63.
    fn folded(of: &Leaf, number: Number) -> Leaf {
        Leaf::small(format!("fold(({})({}))", number.name(), of.text), 64.0)
    }

    fn bounded(&self, random: &mut Random, number: Number, depth: usize) -> Leaf {
        if depth == 0 || random.chance(15) {
            return self.leaf(random, number);
        }
        let name = number.name();
        let part = |random: &mut Random| self.bounded(random, number, depth - 1);
        let folded = |random: &mut Random| Self::folded(&part(random), number);
        let (a, b) = (part(random), part(random));
        match random.between(0, 13) {
            0..=3 => {
                let sign = random.pick(&["+", "-"]);
                Self::joined(&a, sign, &b, a.most + b.most, number)
            }
            4..=6 => Self::joined(&a, "*", &b, a.most * b.most, number),
            7 => {
                let condition = self.condition(random, 0);
                let text = format!("({condition} ? {} : {})", a.text, b.text);
                Leaf::small(text, a.most.max(b.most))
            }
            8 => {
                let function = random.pick(&["min", "max"]);
                let text = format!("std::{function}<{name}>({}, {})", a.text, b.text);
                Leaf::small(text, a.most.max(b.most))
            }
            9 if number.is_floating() => Leaf::small(
                format!("std::floor(std::sqrt({}))", folded(random).text),
                8.0,
            ),
            9 => {
                let by = folded(random).text;
                let sign = random.pick(&["/", "%"]);
                Leaf::small(format!("(({}) {sign} ({by} + 1))", a.text), a.most)
            }
            10 if number.is_floating() => {
                let (x, by) = (folded(random).text, folded(random).text);
                match random.between(0, 2) {
                    0 => Leaf::small(format!("std::floor(4 * std::sin({x}))"), 4.0),
                    1 => Leaf::small(format!("std::fmod({x}, {by} + 1)"), 64.0),
                    _ => Leaf::small(format!("std::floor({x} / ({by} + 1))"), 64.0),
                }
            }
            10 => {
                let sign = random.pick(&["&", "|", "^"]);
                let (x, y) = (folded(random).text, folded(random).text);
                Leaf::small(format!("({x} {sign} {y})"), 64.0)
            }
            11 => {
                let other = Number::random(random);
                let of = self.bounded(random, other, depth - 1);
                Leaf::small(format!("({name})({})", of.text), of.most)
            }
            12 if random.chance(30) => {
                let count = random.between(2, 5);
                let x = folded(random).text;
                Leaf::small(format!("turns({x}, {count})"), 70.0)
            }
            12 => Leaf::small(format!("(-({}))", a.text), a.most),
            _ => folded(random),
        }
    }

    fn joined(a: &Leaf, sign: &str, b: &Leaf, most: f64, number: Number) -> Leaf {
        if most <= MOST {
            return Leaf::small(format!("({} {sign} {})", a.text, b.text), most);
        }
        let (a, b) = (Self::folded(a, number), Self::folded(b, number));
        Leaf::small(format!("({} {sign} {})", a.text, b.text), 4096.0)
    }

    /// What may be true.
    pub(super) fn condition(&self, random: &mut Random, depth: usize) -> String {
        let number = Number::random(random);
        let (name, depth_below) = (number.name(), depth.min(1));
        let value = |random: &mut Random| {
            let one = self.bounded(random, number, depth_below);
            format!("(({name})({}))", one.text)
        };
        match random.between(0, 5) {
            0 => format!("few{} == 1", value(random)),
            1 => format!("few{} > 1", value(random)),
            2 => format!("fold{} < {}", value(random), random.between(1, 60)),
            3 if depth > 0 => {
                let (a, b) = (self.condition(random, 0), self.condition(random, 0));
                let sign = random.pick(&["&&", "||"]);
                format!("({a} {sign} {b})")
            }
            _ => {
                let sign = random.pick(&["<", ">", "<=", "!="]);
                format!("{} {sign} {}", value(random), value(random))
            }
        }
    }
}
