//! A module in the form that is executed: instructions of all functions in one row, registers and labels as numbers, types
//! and roundings decided.

use crate::float::Rounding;
use crate::parse::{Space, Variable};
use crate::types::Type;

/// The number of a register in its function.
pub type Register = u32;

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A register of the function's.
    Register(Register),
    /// A number.
    Immediate(u64),
}

/// A predicate and whether it is negated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// The predicate's register.
    pub register: Register,
    /// Whether the instruction runs where it is false.
    pub is_negated: bool,
}

/// An instruction.
#[derive(Debug)]
pub struct Instruction {
    /// Where it runs.
    pub guard: Option<Guard>,
    /// As what it counts.
    pub class: Class,
    /// What it does.
    pub what: What,
}

/// The classes in which warp instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic of whole numbers, and of bits.
    Integer,
    /// Of halves.
    Half,
    /// Of 32-bit numbers with a point.
    Single,
    /// Of 64-bit ones.
    Double,
    /// Approximate functions.
    Special,
    /// From one type into another.
    Convert,
    /// Comparisons and selections.
    Compare,
    /// Registers from registers.
    Move,
    /// Branches, calls, returns.
    Control,
    /// Barriers and fences.
    Barrier,
    /// Between the lanes of a warp.
    Lanes,
    /// Parameters and constants.
    Parameter,
    /// The device's memory, read.
    GlobalLoad,
    /// The device's memory, written.
    GlobalStore,
    /// A block's memory, read.
    SharedLoad,
    /// A block's memory, written.
    SharedStore,
    /// A thread's own memory.
    Local,
    /// Atomic updates.
    Atomic,
}

impl Class {
    /// All of them.
    pub const ALL: [(Self, &'static str); 18] = [
        (Self::Integer, "integer"),
        (Self::Half, "half"),
        (Self::Single, "single"),
        (Self::Double, "double"),
        (Self::Special, "special"),
        (Self::Convert, "convert"),
        (Self::Compare, "compare"),
        (Self::Move, "move"),
        (Self::Control, "control"),
        (Self::Barrier, "barrier"),
        (Self::Lanes, "lanes"),
        (Self::Parameter, "parameter"),
        (Self::GlobalLoad, "global_load"),
        (Self::GlobalStore, "global_store"),
        (Self::SharedLoad, "shared_load"),
        (Self::SharedStore, "shared_store"),
        (Self::Local, "local"),
        (Self::Atomic, "atomic"),
    ];
}

/// What has two operands and whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Whole2 {
    Add,
    Sub,
    MulLow,
    MulHigh,
    MulWide,
    Mul24Low,
    Mul24High,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// What has three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Whole3 {
    MadLow,
    MadHigh,
    MadWide,
    Mad24Low,
    Sad,
    FunnelLeft { clamps: bool },
    FunnelRight { clamps: bool },
    Extract,
    Permute,
    Lop3(u8),
}

/// What has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Whole1 {
    Neg,
    Abs,
    Not,
    LogicalNot,
    Count,
    LeadingZeros,
    Reverse,
    Find { is_shift: bool },
}

/// What has one number with a point, or up to three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Floating {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Min { keeps_nan: bool },
    Max { keeps_nan: bool },
    Neg,
    Abs,
    Sqrt,
    Reciprocal,
    ReciprocalRoot,
    Exp2,
    Log2,
    Sin,
    Cos,
    Tanh,
    CopySign,
    Class(FloatClass),
}

/// What `testp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatClass {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// How numbers with a point are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How results are rounded.
    pub rounding: Rounding,
    /// Whether denormals are zeros.
    pub flushes: bool,
    /// Whether results are kept from 0 to 1.
    pub saturates: bool,
    /// Whether the result is one of those that PTX calls approximate.
    pub is_approximate: bool,
}

/// Comparisons; unordered ones are true of what is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Numbers,
    NotNumbers,
}

/// How a comparison meets another predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Combination {
    And,
    Or,
    Xor,
}

/// What threads and blocks know of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Special {
    Thread(u8),
    Threads(u8),
    Block(u8),
    Blocks(u8),
    Lane,
    Warp,
    Warps,
    LaneMask(Comparison),
    Processor,
    Processors,
    Grid,
    Clock { bits: u8 },
    Time,
    DynamicShared,
    TotalShared,
    WarpSize,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    /// The space that the instruction names.
    pub space: Space,
    /// A register or a number; in the spaces of a frame it may be relative to it.
    pub base: Operand,
    /// What is added to it.
    pub offset: i64,
    /// Whether the address is one of the function's frame.
    pub in_frame: bool,
}

/// How an access meets those of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Order {
    pub is_atomic: bool,
    pub acquires: bool,
    pub releases: bool,
}

/// What an atomic update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// How lanes read each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What lanes vote on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Same,
    Ballot,
}

/// How many threads a barrier waits for, and what it computes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Reduction {
    None,
    Count,
    And,
    Or,
}

/// A function that is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Callee {
    /// One of the module.
    Function(u32),
    /// The address of one of them.
    Register(Register),
    /// Prints.
    Print,
    /// Says that an assertion does not hold.
    Assert,
}

/// What an instruction does.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum What {
    Move {
        to: Register,
        from: Operand,
    },
    FrameAddress {
        to: Register,
        offset: u64,
    },
    Special {
        to: Register,
        which: Special,
    },
    Pack {
        to: Register,
        bits: u32,
        parts: Box<[Operand]>,
    },
    Unpack {
        parts: Box<[Option<Register>]>,
        bits: u32,
        from: Operand,
    },
    Whole1 {
        op: Whole1,
        of: Type,
        to: Register,
        a: Operand,
    },
    Whole2 {
        op: Whole2,
        of: Type,
        saturates: bool,
        to: Register,
        a: Operand,
        b: Operand,
    },
    Whole3 {
        op: Whole3,
        of: Type,
        to: Register,
        operands: [Operand; 3],
    },
    Insert {
        bits: u32,
        to: Register,
        operands: [Operand; 4],
    },
    /// Sums and products whose carry goes in, out, or both, by a register of its own.
    Carry {
        subtracts: bool,
        bits: u32,
        takes: bool,
        gives: bool,
        carry: Register,
        to: Register,
        a: Operand,
        b: Operand,
        /// What `a` and `b` are multiplied to before this is added: whether the upper half.
        product: Option<(Operand, bool, bool)>,
    },
    Floating {
        op: Floating,
        of: Type,
        mode: Mode,
        to: Register,
        operands: [Operand; 3],
        count: u8,
    },
    Compare {
        op: Comparison,
        unordered: bool,
        of: Type,
        flushes: bool,
        to: Register,
        /// The other way round.
        other: Option<Register>,
        /// As what the result is written: a predicate, all bits, or 1.0.
        result: Option<Type>,
        combination: Option<(Combination, Guard)>,
        a: Operand,
        b: Operand,
    },
    Select {
        to: Register,
        a: Operand,
        b: Operand,
        by: Guard,
    },
    /// By the sign of `by`.
    SelectBySign {
        to: Register,
        a: Operand,
        b: Operand,
        by: Operand,
        is_float: bool,
    },
    Convert {
        to: Register,
        from: Operand,
        into: Type,
        of: Type,
        mode: Mode,
        is_rounded_to_whole: bool,
        /// The upper half, where two are packed.
        upper: Option<Operand>,
    },
    ToGeneric {
        to: Register,
        from: Operand,
        in_frame: bool,
        space: Space,
    },
    FromGeneric {
        to: Register,
        from: Operand,
        space: Space,
    },
    IsIn {
        to: Register,
        from: Operand,
        space: Space,
    },
    Load {
        address: Address,
        of: Type,
        /// None: the part is not wanted. With how many bits the register has.
        to: Box<[Option<(Register, u32)>]>,
        order: Order,
    },
    Store {
        address: Address,
        of: Type,
        from: Box<[Operand]>,
        order: Order,
    },
    Atomic {
        address: Address,
        op: Update,
        of: Type,
        flushes: bool,
        to: Option<Register>,
        value: Operand,
        other: Operand,
        order: Order,
    },
    CopyAsync {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Operand,
    },
    CopyCommit,
    /// All but the last so many groups are done.
    CopyWait {
        but: u64,
        is_all: bool,
    },
    Branch {
        target: u32,
    },
    BranchIndexed {
        targets: Box<[u32]>,
        index: Operand,
    },
    Call {
        callee: Callee,
        arguments: Box<[Slot]>,
        results: Box<[Slot]>,
    },
    Return,
    Exit,
    Trap,
    Barrier {
        number: Operand,
        threads: Option<Operand>,
        waits: bool,
        reduction: Reduction,
        to: Option<Register>,
        by: Option<Guard>,
    },
    WarpBarrier {
        mask: Operand,
    },
    Shuffle {
        how: Shuffle,
        to: Register,
        inside: Option<Register>,
        value: Operand,
        lane: Operand,
        clamp: Operand,
        mask: Operand,
    },
    Vote {
        what: Vote,
        to: Register,
        by: Guard,
        mask: Operand,
    },
    Match {
        bits: u32,
        all: bool,
        to: Register,
        is_same: Option<Register>,
        value: Operand,
        mask: Operand,
    },
    Reduce {
        op: Update,
        of: Type,
        to: Register,
        value: Operand,
        mask: Operand,
    },
    ActiveMask {
        to: Register,
    },
    Fence,
    /// Others run before these lanes go on.
    Sleep,
    Nothing,
}

/// A place in a frame: where, and how many bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Bytes from the frame's start.
    pub offset: u32,
    /// How many.
    pub bytes: u32,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it can be launched.
    pub is_entry: bool,
    /// Where its instructions begin; none where it has none.
    pub start: Option<u32>,
    /// How many registers it has.
    pub registers: u32,
    /// How many bytes its frame has: its own memory, parameters, results, those of its calls.
    pub frame: u32,
    /// A kernel's: where each parameter lies among all, and how many bytes it has. Otherwise in the frame.
    pub params: Vec<Slot>,
    /// Where its results lie in the frame.
    pub returns: Vec<Slot>,
    /// How many bytes a block has for its shared variables, those of the launch not counted.
    pub shared: u32,
    /// How many bytes are its own variables.
    pub local: u32,
    /// The most threads of a block, by dimension; zeros where nothing says so.
    pub most_threads: [u32; 3],
    /// Whether a block has to have just as many.
    pub exactly: bool,
}

/// A program, without its variables' places in memory.
#[derive(Debug)]
pub struct Program {
    /// All functions.
    pub functions: Vec<Function>,
    /// The instructions of all of them.
    pub instructions: Vec<Instruction>,
    /// The line of the PTX of each instruction, the number of the source file, and its line.
    pub places: Vec<(u32, u32, u32)>,
    /// The files' names.
    pub files: Vec<(u32, String)>,
    /// Variables in the device's memory, with their addresses.
    pub variables: Vec<(Variable, u64)>,
}

impl Program {
    /// Where an instruction stands: in a file, or, without debug information, in the PTX.
    pub fn place(&self, at: u32) -> String {
        let (ptx, file, line) = self.places[at as usize];
        let name = self.files.iter().find(|(number, _)| *number == file);
        match name {
            Some((_, name)) if line > 0 => format!("{name}:{line}"),
            _ => format!("PTX:{ptx}"),
        }
    }
}

/// Where the spaces of a block and a thread lie in the generic space. None of these is an address of the host's: the
/// processor refuses them.
pub mod windows {
    /// The device's memory.
    pub const GLOBAL: u64 = 1 << 48;
    /// A block's memory.
    pub const SHARED: u64 = 2 << 48;
    /// A thread's own.
    pub const LOCAL: u64 = 3 << 48;
    /// The parameters of the kernel.
    pub const PARAM: u64 = 4 << 48;
    /// Functions.
    pub const CODE: u64 = 5 << 48;
    /// What is not the offset in a window.
    pub const WHICH: u64 = 0xffff << 48;
}
