//! What a random OKL program consists of. How it is written is in `text.rs`, what it means in `interpreter.rs`.
//!
//! All data are unsigned numbers of 32 bits, which wrap around; what is computed in floating point, and the array `real` of
//! such numbers, is exact.

/// A program: a kernel, and what it is called with.
pub(super) struct Program {
    /// The value of the parameter `n`.
    pub(super) n: i64,
    /// What the array `a` holds.
    pub(super) input: Vec<u32>,
    /// How often a loop around all nests, over `turn`, runs; 0 without one.
    pub(super) turns: i64,
    /// What nests of loops do, one after the other.
    pub(super) nests: Vec<Nest>,
    /// The arrays `sumK` of [`SUMS`] cells, each with what its updates are.
    pub(super) sums: Vec<Operation>,
    /// Whether these arrays are variables of the file, and no parameters.
    pub(super) has_globals: bool,
    /// What the host does behind each call of the kernel but the last one.
    pub(super) between: Vec<Vec<Host>>,
}

impl Program {
    /// Whether work items meet under a condition: in a loop or an `if` of a block, or in an `@inner` loop.
    pub(super) fn meets_under_conditions(&self) -> bool {
        let meets = |one: &Phase| match one {
            Phase::Items(_, body, _) => {
                let is_meeting =
                    |one| matches!(one, &Statement::Together(..) | &Statement::Barrier);
                body.iter().any(is_meeting)
            }
            Phase::Repeat(..) | Phase::If(..) => true,
            Phase::Barrier => false,
        };
        self.nests.iter().any(|nest| match nest {
            Nest::Blocks(blocks) => blocks.phases.iter().any(meets),
            Nest::Tiles(..) => false,
        })
    }
}

/// What the host does with arrays between two calls.
pub(super) enum Host {
    /// Each cell, or the one of a number, becomes so many times what it was, more by a number.
    Change(String, Option<usize>, u32, u32),
    /// `seen` takes a cell in.
    Read(String, usize),
}

/// Cells of an array of sums.
pub(super) const SUMS: usize = 5;

/// A nest of loops. Nest `K` writes the array `outK`: each work item one cell of its own for each shape.
pub(super) enum Nest {
    /// Loops over blocks and over work items.
    Blocks(Blocks),
    /// Loops with `@tile`, one in the other.
    Tiles(Vec<Tile>, Vec<Statement>),
}

/// Loops over blocks of work items.
pub(super) struct Blocks {
    /// The `@outer` loops, the outermost first.
    pub(super) outer: Vec<Count>,
    /// The shapes of its blocks: `@inner` loops, the outermost first.
    pub(super) shapes: Vec<Vec<Count>>,
    /// Cells of the arrays `sharedK`.
    pub(super) shared: Vec<usize>,
    /// The variables `ownK`, which are arrays where they have cells; and what they begin with.
    pub(super) exclusive: Vec<(Option<usize>, Option<Expression>)>,
    /// The constants `fixedK` of a block.
    pub(super) fixed: Vec<Expression>,
    /// What a block does.
    pub(super) phases: Vec<Phase>,
}

/// What a block does, one after the other.
pub(super) enum Phase {
    /// Loops over work items of a shape, what each does, and whether `@nobarrier` is said.
    Items(usize, Vec<Statement>, bool),
    /// A loop over `NAME` from 0 to below a number.
    Repeat(String, i64, Vec<Phase>),
    /// What happens if a condition of the block is true.
    If(Expression, Vec<Phase>),
    /// `@barrier`.
    Barrier,
}

/// A loop that counts.
#[derive(Clone)]
pub(super) struct Count {
    /// Its iterator.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: &'static str,
    pub(super) first: Bound,
    pub(super) limit: Bound,
    /// Not 0.
    pub(super) step: i64,
    /// Whether there is an iteration of the limit.
    pub(super) is_inclusive: bool,
    /// Whether the limit stands on the left.
    pub(super) is_flipped: bool,
    /// The axis, where one is named.
    pub(super) axis: Option<usize>,
    /// So many iterations it has at most.
    pub(super) most: usize,
}

/// Where a loop begins or ends: a number, or a variable and a number.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) of: Option<String>,
    pub(super) plus: i64,
}

/// A loop in tiles.
pub(super) struct Tile {
    pub(super) count: Count,
    pub(super) size: Bound,
    /// What `check` says, where something is said.
    pub(super) check: Option<bool>,
}

/// A number.
#[derive(Clone)]
pub(super) enum Expression {
    Number(u32),
    /// A variable of any type, as an unsigned number.
    Name(String),
    /// A cell of an array.
    Cell(Cell),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// The same in floating point, of so few bits that it is exact.
    Real(Real, Box<Expression>, Box<Expression>),
    /// `A < B ? C : D`
    Choose(Box<[Expression; 4]>),
}

/// What is computed in floating point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Real {
    /// `(A * 0.5 + B) * 2`, of 10 bits.
    Halves,
    /// `A * B`, of 12 bits.
    Product,
    /// The larger of both.
    Larger,
    /// A root that is a number.
    Root,
    /// `A / 8`, and what is behind the point of it is lost.
    Eighths,
}

/// The bits of [`Real`]'s numbers.
pub(super) const REAL_BITS: u32 = 0x3ff;

impl Real {
    /// What it gives.
    pub(super) fn apply(self, a: u32, b: u32) -> u32 {
        let (a, b) = (a & REAL_BITS, b & REAL_BITS);
        match self {
            Self::Halves => a + 2 * b,
            Self::Product => a * b,
            Self::Larger => a.max(b),
            Self::Root => a + b,
            Self::Eighths => a / 8 + b,
        }
    }
}

/// A cell of an array.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) array: String,
    pub(super) index: Index,
}

/// Which cell.
#[derive(Clone)]
pub(super) enum Index {
    /// The work item's own: its number in its block, of a shape.
    Item,
    /// The work item's own of all blocks.
    ItemOfAll,
    /// A number, modulo the array's length.
    Modulo(Box<Expression>, usize),
}

/// What a work item does.
#[derive(Clone)]
pub(super) enum Statement {
    /// A new variable.
    Let(String, Expression),
    /// A new array of zeros.
    Array(String, usize),
    /// `NAME OP= E`
    Set(String, Operation, Expression),
    /// `CELL OP= E`
    Store(Cell, Operation, Expression),
    /// `@atomic CELL OP= E`, as a block or not.
    Atomic(Cell, Operation, Expression, bool),
    /// Two of these in one block.
    Both(Box<[Statement; 2]>),
    /// `@atomic real[E] OP= E`, in doubles.
    Accumulate(Expression, Operation, Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// What happens if an item is on one side of a border, and on the other one.
    Border(Border, Vec<Statement>, Vec<Statement>),
    /// A loop over `NAME` from 0 to below a number modulo another one.
    For(String, Expression, u32, Vec<Statement>),
    /// The same with a number that is the same for all work items of a block, and barriers in it.
    Together(String, i64, Vec<Statement>),
    /// `if (E) continue;`
    Skip(Expression),
    Barrier,
}

/// `A + F * B OP LIMIT`
#[derive(Clone)]
pub(super) struct Border {
    /// Iterators, and what they are multiplied with. They have signs where there are several.
    pub(super) sum: Vec<(String, i64)>,
    pub(super) sign: &'static str,
    pub(super) limit: Bound,
    /// Whether the iterator has a sign.
    pub(super) is_signed: bool,
}

/// What an assignment does with what there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Assign,
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
}

impl Operation {
    /// As it is written in front of `=`.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Assign => "",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
        }
    }

    /// What becomes of a number.
    pub(super) fn apply(self, old: u32, new: u32) -> u32 {
        match self {
            Self::Assign => new,
            Self::Add => old.wrapping_add(new),
            Self::Subtract => old.wrapping_sub(new),
            Self::Multiply => old.wrapping_mul(new),
            Self::And => old & new,
            Self::Or => old | new,
            Self::Xor => old ^ new,
        }
    }
}

impl Nest {
    /// So many cells its array has.
    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Blocks(blocks) => {
                blocks.block_count() * blocks.shapes.len() * blocks.most_items()
            }
            Self::Tiles(tiles, _) => tiles.iter().map(|tile| tile.count.most).product(),
        }
    }
}

impl Blocks {
    /// At most so many blocks.
    pub(super) fn block_count(&self) -> usize {
        self.outer.iter().map(|one| one.most).product()
    }

    /// At most so many work items in a block of any shape.
    pub(super) fn most_items(&self) -> usize {
        let of = |shape: &Vec<Count>| shape.iter().map(|one| one.most).product();
        self.shapes.iter().map(of).max().unwrap_or(1)
    }
}
