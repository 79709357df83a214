//! What is known of a chain: where its loops go, and what their iterations access.

/// A sum of a constant, and of multiples of iteration variables and parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The constant.
    pub constant: i64,
    /// What the iteration variables are multiplied with, the outermost first; those that are left out with 0.
    pub iterators: Vec<i64>,
    /// What the parameters are multiplied with; those that are left out with 0.
    pub parameters: Vec<i64>,
}

/// Loops that follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Numbers that are known in front of it, by names that are all different.
    pub parameters: Vec<String>,
    /// What is known of the parameters: each of these is at least 0.
    pub known: Vec<Affine>,
    /// What is accessed.
    pub spaces: Vec<Space>,
    /// The loops, in the order in which they are written.
    pub nests: Vec<Nest>,
    /// Pairs of spaces, one of which is written, of which it is trusted that they have no memory in common: neither does the code
    /// show it, nor is it asked in front of the chain.
    pub may_overlap: Vec<(usize, usize)>,
}

/// A data space: elements that have numbers. Two of them have none in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its name, for messages.
    pub name: String,
    /// Numbers of an element; of a single variable there are none.
    pub rank: usize,
    /// Whether nothing reads it behind the chain.
    pub is_local: bool,
}

/// Loops one in the other, each of which counts up by 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nest {
    /// The line it is in, for messages; 0 where that is not known.
    pub line: u32,
    /// From where to where they count, the outermost first.
    pub bounds: Vec<Bounds>,
    /// What an iteration accesses. What is not here is not accessed.
    pub accesses: Vec<Access>,
}

/// The first and the last value of an iteration variable, which may depend on those of loops around: there are none where the
/// last one is smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The first one.
    pub first: Affine,
    /// The last one.
    pub last: Affine,
}

/// What an iteration accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the space.
    pub space: usize,
    /// How.
    pub mode: Mode,
    /// Whether every iteration does.
    pub must: bool,
    /// Whether only the last iteration does, if any.
    pub at_last: bool,
    /// The element, by as many numbers as the space has; anywhere in the space where there are none.
    pub index: Option<Vec<Affine>>,
}

/// How something is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Something is combined with it: the order of iterations that do so in the same way does not matter but for rounding.
    /// The number says in which way.
    Reduce(u32),
}

impl Affine {
    /// A number.
    pub fn constant(constant: i64) -> Self {
        Self {
            constant,
            ..Self::default()
        }
    }

    /// A parameter.
    pub fn parameter(number: usize) -> Self {
        let mut parameters = vec![0; number + 1];
        parameters[number] = 1;
        Self {
            parameters,
            ..Self::default()
        }
    }

    /// An iteration variable and a constant.
    pub fn iterator(number: usize, constant: i64) -> Self {
        let mut iterators = vec![0; number + 1];
        iterators[number] = 1;
        Self {
            constant,
            iterators,
            ..Self::default()
        }
    }
}

impl Affine {
    /// A sum.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            constant: self.constant.saturating_add(other.constant),
            iterators: sums(&self.iterators, &other.iterators, 1),
            parameters: sums(&self.parameters, &other.parameters, 1),
        }
    }

    /// A difference.
    pub fn less(&self, other: &Self) -> Self {
        Self {
            constant: self.constant.saturating_sub(other.constant),
            iterators: sums(&self.iterators, &other.iterators, -1),
            parameters: sums(&self.parameters, &other.parameters, -1),
        }
    }
}

/// Numbers, and multiples of others; those that are left out are 0.
fn sums(some: &[i64], others: &[i64], factor: i64) -> Vec<i64> {
    let at = |numbers: &[i64], place: usize| numbers.get(place).copied().unwrap_or(0);
    let sum = |place| at(some, place).saturating_add(factor.saturating_mul(at(others, place)));
    (0..some.len().max(others.len())).map(sum).collect()
}
