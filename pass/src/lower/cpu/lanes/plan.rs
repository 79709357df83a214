//! What a loop is to compute for several elements at once: found by [`planner`](super::planner), written by
//! [`write`](super::write), in which nothing can fail.

use crate::analysis::kernel;
use crate::llvm::{Call, Comparison, Function, Instruction, Intrinsic, Opcode, Type, Value};

use super::layout::Layout;

/// What several lanes are to compute.
pub struct Plan<'m> {
    /// How many elements.
    pub width: usize,
    /// Of which arguments the components lie apart: see [`Layout`].
    pub by_component: Vec<bool>,
    /// In their order.
    pub operations: Vec<Operation<'m>>,
    /// What the body addresses.
    pub objects: Vec<Object<'m>>,
    /// Elements of arguments, by their numbers, in the order in which the body wrote them last.
    pub written: Vec<usize>,
    /// Square roots of negative numbers, which set `errno`.
    pub roots: Option<Roots<'m>>,
}

/// A value: the same for all lanes, or a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand<'m> {
    /// A constant.
    Constant(Value<'m>),
    /// The result with this number, of all operations.
    Result(usize),
}

/// What computes a value.
pub enum Operation<'m> {
    /// A vector of one value.
    Splat(Operand<'m>),
    /// An operation on two values of one type.
    Binary(Opcode, [Operand<'m>; 2]),
    /// A floating-point number with the other sign.
    Negate(Operand<'m>),
    /// The opposite of a truth value.
    Not(Operand<'m>),
    /// Poison replaced by some value.
    Freeze(Operand<'m>),
    /// A comparison of two values of one type.
    Compare(Comparison, [Operand<'m>; 2]),
    /// The second or the third, as the first one says.
    Select([Operand<'m>; 3]),
    /// A value in another type.
    Cast(Opcode, Operand<'m>, Type<'m>),
    /// An intrinsic, as it is declared for these types.
    Intrinsic(Intrinsic, Vec<Type<'m>>, Vec<Operand<'m>>),
    /// A call in each lane, of what is called by this one.
    EachLane(Call<'m>, Vec<Operand<'m>>),
    /// An instruction as it is, with other operands.
    Copy(Instruction<'m>, Vec<Operand<'m>>),
    /// The result before this, with what an instruction promises of its own.
    Flags(Instruction<'m>),
    /// The numbers of the elements.
    Numbers,
    /// A component of a global argument, which nobody changes: an object, and the number of the component.
    Shared(usize, usize),
    /// A vector of a component of a global argument, as the elements before have left it.
    Carried(usize, usize),
    /// The lanes' vector of a component of an object; of one whose lanes do not lie side by side a vector for each.
    Gather(usize, usize),
    /// In which lanes of the elements before there have been square roots of negative numbers; type of a vector.
    RootsBefore(Type<'m>),
}

/// What the body can address: the element of an argument, or a variable of its own.
pub struct Object<'m> {
    /// Which one.
    pub of: kernel::Object<'m>,
    /// Of each cell. What a variable is made of, its use says.
    pub ty: Option<Type<'m>>,
    /// Its components.
    pub cells: Vec<Cell<'m>>,
}

/// A component of an object: its values of the element of each lane.
#[derive(Clone, Copy, Default)]
pub struct Cell<'m> {
    /// Nothing before the first use; a vector once it is written.
    pub now: Option<Operand<'m>>,
    /// Of a reduction: its value before these elements.
    pub carried: Option<Operand<'m>>,
    /// Whether the body writes it.
    pub is_written: bool,
    /// Written by some lanes only.
    pub is_conditional: bool,
}

/// Square roots of negative numbers.
#[derive(Clone, Copy)]
pub struct Roots<'m> {
    /// In which lanes there have been some, before these elements.
    pub before: Operand<'m>,
    /// And after them.
    pub now: Operand<'m>,
    /// The function that computes roots.
    pub function: Function<'m>,
}

/// Whether the lanes' values of a component lie side by side.
pub fn is_contiguous(layout: &Layout<'_>, of: &Object<'_>) -> bool {
    matches!(of.of, kernel::Object::Element(at, _) if layout.is_contiguous(at))
}
