//! Array sections by LLVM's ScalarEvolution (`cxx/sections.h`).

use std::ffi::{c_int, c_uint, c_void};
use std::marker::PhantomData;

use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};

use super::shim::{TextSink, collect_text};
use super::{Block, Call, Function, Instruction, Value};

#[repr(C)]
struct RawNests {
    private: [u8; 0],
}

#[repr(C)]
struct RawTerm {
    private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawDimension {
    stride: *const RawTerm,
    count: *const RawTerm,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawSection {
    address: *const RawTerm,
    dimensions: [RawDimension; 16],
    count: usize,
    exact: bool,
}

/// `OklTable`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawTable {
    section: RawSection,
    bytes: u32,
    signed: bool,
}

/// `OklCorner`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawCorner {
    offset: *const RawTerm,
    factors: [*const RawTerm; 4],
}

/// `OklBetween`.
#[repr(C)]
struct RawBetween {
    object: *const RawTerm,
    tables: [RawTable; 4],
    table_count: usize,
    corners: [RawCorner; 8],
    corner_count: usize,
}

/// `OklScope`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawScope {
    outer: i64,
    at: LLVMValueRef,
    turns: c_int,
}

impl RawSection {
    const EMPTY: RawSection = RawSection {
        address: std::ptr::null(),
        dimensions: [RawDimension {
            stride: std::ptr::null(),
            count: std::ptr::null(),
        }; 16],
        count: 0,
        exact: false,
    };
}

type NestSink = unsafe extern "C" fn(
    *mut c_void,
    LLVMBasicBlockRef,
    LLVMBasicBlockRef,
    i64,
    *const LLVMBasicBlockRef,
    usize,
);

unsafe extern "C" {
    fn okl_nests_open(function: LLVMValueRef) -> *mut RawNests;
    fn okl_nests_close(nests: *mut RawNests);
    fn okl_nests_loops(nests: *mut RawNests, sink: NestSink, to: *mut c_void);
    fn okl_nests_section(
        nests: *mut RawNests,
        pointer: LLVMValueRef,
        length: LLVMValueRef,
        block: LLVMBasicBlockRef,
        scope: RawScope,
        section: *mut RawSection,
    ) -> c_int;
    fn okl_nests_rows(
        nests: *mut RawNests,
        pointer: LLVMValueRef,
        length: LLVMValueRef,
        block: LLVMBasicBlockRef,
        scope: RawScope,
        sections: *mut RawSection,
        most: usize,
    ) -> usize;
    fn okl_nests_between(
        nests: *mut RawNests,
        pointer: LLVMValueRef,
        block: LLVMBasicBlockRef,
        scope: RawScope,
        between: *mut RawBetween,
    ) -> bool;
    fn okl_nests_call_section(
        nests: *mut RawNests,
        callee: *const RawSection,
        anywhere: bool,
        call: LLVMValueRef,
        scope: RawScope,
        section: *mut RawSection,
    ) -> c_int;
    fn okl_nests_anchor(
        nests: *mut RawNests,
        address: *const RawTerm,
        offset: *mut i64,
    ) -> LLVMValueRef;
    fn okl_nests_base(nests: *mut RawNests, address: *const RawTerm) -> LLVMValueRef;
    fn okl_object_size(object: LLVMValueRef) -> u64;
    fn okl_nests_difference(
        nests: *mut RawNests,
        a: *const RawTerm,
        b: *const RawTerm,
        result: *mut i64,
    ) -> bool;
    fn okl_nests_constant(nests: *mut RawNests, a: *const RawTerm, result: *mut i64) -> bool;
    fn okl_nests_is_checked(nests: *mut RawNests, a: *const RawTerm) -> bool;
    fn okl_nests_steps(
        nests: *mut RawNests,
        a: *const RawTerm,
        b: *const RawTerm,
        step: *const RawTerm,
        result: *mut i64,
    ) -> bool;
    fn okl_nests_plus(nests: *mut RawNests, a: *const RawTerm, b: i64) -> *const RawTerm;
    fn okl_nests_split(
        nests: *mut RawNests,
        term: *const RawTerm,
        variable: *mut LLVMValueRef,
        number: *mut i64,
    ) -> *const RawTerm;
    fn okl_nests_expand(
        nests: *mut RawNests,
        term: *const RawTerm,
        before: LLVMValueRef,
    ) -> LLVMValueRef;
    fn okl_nests_text(nests: *mut RawNests, term: *const RawTerm, sink: TextSink, to: *mut c_void);
    fn okl_nests_object(
        nests: *mut RawNests,
        address: *const RawTerm,
        sink: TextSink,
        to: *mut c_void,
    );
    fn okl_value_source_name(value: LLVMValueRef, sink: TextSink, to: *mut c_void);
    fn okl_strip_offset(address: LLVMValueRef, offset: *mut i64) -> LLVMValueRef;
    fn okl_memory_reach(call: LLVMValueRef) -> c_int;
    fn okl_keeps_no_argument(call: LLVMValueRef, index: c_uint) -> bool;
    fn okl_forget_memory_effects(function: LLVMValueRef);
}

/// An integer or address that the analysis knows as an expression. Two terms of one [`Nests`] are
/// equal where the expressions are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term<'m> {
    raw: *const RawTerm,
    lives: PhantomData<&'m ()>,
}

impl Term<'_> {
    fn new(raw: *const RawTerm) -> Self {
        Self {
            raw,
            lives: PhantomData,
        }
    }
}

/// A loop and its place among the others.
pub struct NestLoop<'m> {
    /// The block that runs once before the loop.
    pub preheader: Option<Block<'m>>,
    /// Index of the loop around it.
    pub parent: Option<usize>,
    /// Every block of the loop and of the loops inside it.
    pub blocks: Vec<Block<'m>>,
}

/// What an instruction accesses while a loop runs.
pub struct Section<'m> {
    /// Of the first element.
    pub address: Term<'m>,
    /// Stride in bytes and count of each dimension, outer ones first.
    pub dimensions: Vec<(Term<'m>, Term<'m>)>,
    /// Whether every element is accessed whenever control reaches the loop.
    pub exact: bool,
}

impl Section<'_> {
    fn new(raw: &RawSection) -> Self {
        let dimensions = raw.dimensions[..raw.count].iter().rev();
        Section {
            address: Term::new(raw.address),
            dimensions: dimensions
                .map(|one| (Term::new(one.stride), Term::new(one.count)))
                .collect(),
            exact: raw.exact,
        }
    }
}

/// Numbers that a loop loads.
pub struct Table<'m> {
    /// Where.
    pub section: Section<'m>,
    /// Bytes of a number.
    pub bytes: i64,
    /// Whether it has a sign.
    pub is_signed: bool,
}

/// What lies between the least and the largest of some sums of numbers in tables.
pub struct Between<'m> {
    /// The object that it is a part of.
    pub object: Term<'m>,
    /// The tables.
    pub tables: Vec<Table<'m>>,
    /// In bytes from the object's address: an offset, and a factor for the numbers of each table.
    pub corners: Vec<Vec<Term<'m>>>,
}

/// What is known of an access.
pub enum Extent<'m> {
    /// Nothing.
    Unknown,
    /// A section.
    Section(Section<'m>),
    /// A section of offsets from each of the pointers in other sections: [`Nests::rows`].
    Rows(Vec<Section<'m>>),
    /// A part of an object: [`Nests::between`].
    Between(Between<'m>),
    /// Somewhere in the object that this address points into.
    Anywhere(Term<'m>),
}

impl<'m> Extent<'m> {
    fn new(kind: c_int, raw: &RawSection) -> Self {
        match kind {
            1 => Extent::Section(Section::new(raw)),
            2 => Extent::Anywhere(Term::new(raw.address)),
            _ => Extent::Unknown,
        }
    }
}

/// Some turns of a loop.
#[derive(Clone, Copy)]
pub enum Turns {
    /// All but the last.
    AllButLast,
    /// The last.
    Last,
}

/// Where an extent is to be known.
#[derive(Clone, Copy)]
pub enum Scope<'m> {
    /// In front of the loop with this index.
    Loop(usize),
    /// In front of that loop, too, of some of its turns.
    Turns(usize, Turns),
    /// In front of this instruction.
    At(Instruction<'m>),
    /// Where the function is entered: in its parameters and in globals.
    Function,
}

impl Scope<'_> {
    fn raw(self) -> RawScope {
        let of = |index: Option<usize>, at, turns| RawScope {
            outer: index.map_or(-1, |index| index as i64),
            at,
            turns,
        };
        let none = std::ptr::null_mut();
        match self {
            Scope::Loop(index) => of(Some(index), none, 0),
            Scope::Turns(index, Turns::AllButLast) => of(Some(index), none, 1),
            Scope::Turns(index, Turns::Last) => of(Some(index), none, 2),
            Scope::At(instruction) => of(None, instruction.raw(), 0),
            Scope::Function => of(None, none, 0),
        }
    }
}

/// The loops of a function and what is known of their values. While it lives, nothing but
/// [`Nests::expand`] and inserted calls may change the function.
pub struct Nests<'m> {
    raw: *mut RawNests,
    lives: PhantomData<&'m ()>,
}

impl Drop for Nests<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once.
        unsafe { okl_nests_close(self.raw) }
    }
}

impl<'m> Nests<'m> {
    /// Analyses a function. Loops get preheaders where they have none.
    pub fn open(function: Function<'m>) -> Self {
        assert!(!function.is_declaration());
        // SAFETY: a function with a body.
        let raw = unsafe { okl_nests_open(function.raw()) };
        Self {
            raw,
            lives: PhantomData,
        }
    }

    /// The loops, outer ones first.
    pub fn loops(&self) -> Vec<NestLoop<'m>> {
        unsafe extern "C" fn push(
            to: *mut c_void,
            _header: LLVMBasicBlockRef,
            preheader: LLVMBasicBlockRef,
            parent: i64,
            blocks: *const LLVMBasicBlockRef,
            count: usize,
        ) {
            // SAFETY: `to` is the vector below; the shim passes `count` live blocks and a
            // preheader or null.
            unsafe {
                let blocks = std::slice::from_raw_parts(blocks, count);
                (*to.cast::<Vec<NestLoop<'_>>>()).push(NestLoop {
                    preheader: (!preheader.is_null()).then(|| Block::new(preheader)),
                    parent: usize::try_from(parent).ok(),
                    blocks: blocks.iter().map(|&block| Block::new(block)).collect(),
                });
            }
        }
        let mut loops: Vec<NestLoop<'m>> = Vec::new();
        // SAFETY: open; the sink's target lives through the call.
        unsafe { okl_nests_loops(self.raw, push, (&raw mut loops).cast()) }
        loops
    }

    /// What an instruction in `block` accesses at `pointer` while control is in the scope: one
    /// element, or `length` bytes.
    pub fn extent(
        &self,
        pointer: Value<'m>,
        length: Option<Value<'m>>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Extent<'m> {
        let length = length.map_or(std::ptr::null_mut(), |length| length.raw());
        let mut raw = RawSection::EMPTY;
        // SAFETY: values and a block of the function; a scope of the analysis that holds the block.
        let kind = unsafe {
            okl_nests_section(
                self.raw,
                pointer.raw(),
                length,
                block.raw(),
                scope.raw(),
                &raw mut raw,
            )
        };
        match Extent::new(kind, &raw) {
            Extent::Unknown => {
                let rows = self.rows(pointer, length, block, scope);
                if rows.is_empty() {
                    Extent::Unknown
                } else {
                    Extent::Rows(rows)
                }
            }
            known => known,
        }
    }

    /// The same through a pointer that the loop of the scope loads itself, from a table that it does not write:
    /// a section of the table, and a section of offsets from each pointer in it. Empty where that is not known.
    fn rows(
        &self,
        pointer: Value<'m>,
        length: LLVMValueRef,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Vec<Section<'m>> {
        // Rows of planes are so many pieces that pages serve them better.
        const MOST: usize = 2;
        let mut raw = [RawSection::EMPTY; MOST];
        // SAFETY: values and a block of the function; a scope of the analysis that holds the block; as many
        // sections as it says.
        let count = unsafe {
            okl_nests_rows(
                self.raw,
                pointer.raw(),
                length,
                block.raw(),
                scope.raw(),
                raw.as_mut_ptr(),
                MOST,
            )
        };
        raw[..count].iter().map(Section::new).collect()
    }

    /// What a read of one element at `pointer`, in `block`, lies between, where it is somewhere in an object
    /// whose bounds the loop of the scope loads itself.
    pub fn between(
        &self,
        pointer: Value<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Option<Between<'m>> {
        let none = std::ptr::null();
        let mut raw = RawBetween {
            object: none,
            tables: [RawTable {
                section: RawSection::EMPTY,
                bytes: 0,
                signed: false,
            }; 4],
            table_count: 0,
            corners: [RawCorner {
                offset: none,
                factors: [none; 4],
            }; 8],
            corner_count: 0,
        };
        // SAFETY: a value and a block of the function; a scope of the analysis that holds the block.
        let is_known = unsafe {
            let (pointer, block) = (pointer.raw(), block.raw());
            okl_nests_between(self.raw, pointer, block, scope.raw(), &raw mut raw)
        };
        let tables = raw.tables[..raw.table_count].iter().map(|one| Table {
            section: Section::new(&one.section),
            bytes: i64::from(one.bytes),
            is_signed: one.signed,
        });
        let corners = raw.corners[..raw.corner_count].iter().map(|one| {
            let factors = one.factors[..raw.table_count].iter();
            [one.offset]
                .iter()
                .chain(factors)
                .map(|&term| Term::new(term))
                .collect()
        });
        is_known.then(|| Between {
            object: Term::new(raw.object),
            tables: tables.collect(),
            corners: corners.collect(),
        })
    }

    /// What a call accesses while control is in the scope, where the called function accesses
    /// `extent`, of its own analysis, in its scope [`Scope::Function`].
    pub fn extent_of_call(
        &self,
        extent: &Extent<'m>,
        call: Instruction<'m>,
        scope: Scope<'m>,
    ) -> Extent<'m> {
        let mut callee = RawSection::EMPTY;
        let anywhere = match extent {
            Extent::Unknown | Extent::Rows(_) | Extent::Between(_) => return Extent::Unknown,
            Extent::Anywhere(object) => {
                callee.address = object.raw;
                true
            }
            Extent::Section(section) => {
                if section.dimensions.len() > callee.dimensions.len() {
                    return Extent::Unknown;
                }
                let dimensions = section.dimensions.iter().rev();
                for (raw, (stride, count)) in callee.dimensions.iter_mut().zip(dimensions) {
                    raw.stride = stride.raw;
                    raw.count = count.raw;
                }
                callee.address = section.address.raw;
                callee.count = section.dimensions.len();
                callee.exact = section.exact;
                false
            }
        };
        let mut raw = RawSection::EMPTY;
        // SAFETY: terms of the called function's analysis, which is open; a call of it in this one.
        let kind = unsafe {
            okl_nests_call_section(
                self.raw,
                &raw const callee,
                anywhere,
                call.raw(),
                scope.raw(),
                &raw mut raw,
            )
        };
        Extent::new(kind, &raw)
    }

    /// The value an address is a constant number of bytes away from.
    pub fn anchor(&self, address: Term<'m>) -> Option<(Value<'m>, i64)> {
        let mut offset = 0;
        // SAFETY: a term of this analysis; the result is null or a value of the function.
        unsafe {
            let raw = okl_nests_anchor(self.raw, address.raw, &raw mut offset);
            (!raw.is_null()).then(|| (Value::new(raw), offset))
        }
    }

    /// The object an address is computed from.
    pub fn base(&self, address: Term<'m>) -> Option<Value<'m>> {
        // SAFETY: a term of this analysis; the result is null or a value of the function.
        unsafe {
            let raw = okl_nests_base(self.raw, address.raw);
            (!raw.is_null()).then(|| Value::new(raw))
        }
    }

    /// `a - b`, where it is constant.
    pub fn difference(&self, a: Term<'m>, b: Term<'m>) -> Option<i64> {
        let mut result = 0;
        // SAFETY: terms of this analysis.
        unsafe { okl_nests_difference(self.raw, a.raw, b.raw, &raw mut result) }.then_some(result)
    }

    /// Its value, where it is constant.
    pub fn constant(&self, a: Term<'m>) -> Option<i64> {
        let mut result = 0;
        // SAFETY: a term of this analysis.
        unsafe { okl_nests_constant(self.raw, a.raw, &raw mut result) }.then_some(result)
    }

    /// Whether it is the largest number where an index overflows.
    pub fn is_checked(&self, a: Term<'m>) -> bool {
        // SAFETY: a term of this analysis.
        unsafe { okl_nests_is_checked(self.raw, a.raw) }
    }

    /// `(a - b) / step`, where that is a small constant.
    pub fn steps(&self, a: Term<'m>, b: Term<'m>, step: Term<'m>) -> Option<i64> {
        let mut result = 0;
        // SAFETY: terms of this analysis.
        unsafe { okl_nests_steps(self.raw, a.raw, b.raw, step.raw, &raw mut result) }
            .then_some(result)
    }

    /// `a + b`.
    pub fn plus(&self, a: Term<'m>, b: i64) -> Term<'m> {
        // SAFETY: a term of this analysis.
        Term::new(unsafe { okl_nests_plus(self.raw, a.raw, b) })
    }

    /// A term as a sum: what is left of it, if anything is, the address of a variable, if it has one, and a number.
    pub fn split(&self, term: Term<'m>) -> (Option<Term<'m>>, Option<Value<'m>>, i64) {
        let (mut variable, mut number) = (std::ptr::null_mut(), 0);
        // SAFETY: a term of this analysis; the shim writes a global variable or null, and a number.
        unsafe {
            let rest = okl_nests_split(self.raw, term.raw, &mut variable, &mut number);
            let rest = (!rest.is_null()).then(|| Term::new(rest));
            let variable = (!variable.is_null()).then(|| Value::new(variable));
            (rest, variable, number)
        }
    }

    /// Computes a term of a section in front of an instruction of the preheader.
    pub fn expand(&self, term: Term<'m>, before: Instruction<'m>) -> Value<'m> {
        // SAFETY: a term of this analysis, which checked that it can be computed there.
        unsafe { Value::new(okl_nests_expand(self.raw, term.raw, before.raw())) }
    }

    /// A term as a formula.
    pub fn text(&self, term: Term<'m>) -> String {
        // SAFETY: a term of this analysis; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_nests_text(self.raw, term.raw, sink, to) })
    }

    /// The source name of the object an address points into; empty where it is not known.
    pub fn object(&self, address: Term<'m>) -> String {
        // SAFETY: a term of this analysis; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_nests_object(self.raw, address.raw, sink, to) })
    }
}

/// What memory a call may access, as far as LLVM's attributes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Nothing,
    /// That behind its arguments.
    Arguments,
    /// Any.
    Anything,
}

impl Call<'_> {
    /// Whether it keeps no copy of argument `index`, an address, beyond its end.
    pub fn keeps_no_argument(self, index: usize) -> bool {
        // SAFETY: a call, and an argument that it has.
        unsafe { okl_keeps_no_argument(self.raw(), index as c_uint) }
    }

    /// What memory it may access, and whether it returns normally if at all.
    pub fn reach(self) -> Reach {
        // SAFETY: a call.
        match unsafe { okl_memory_reach(self.raw()) } {
            0 => Reach::Nothing,
            1 => Reach::Arguments,
            _ => Reach::Anything,
        }
    }
}

impl<'m> Value<'m> {
    /// The name it has in the source; empty where it is not known.
    pub fn source_name(self) -> String {
        // SAFETY: a live value; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_value_source_name(self.raw(), sink, to) })
    }

    /// Bytes of the object that a parameter or global variable points to, where they are known.
    pub fn object_size(self) -> Option<u64> {
        // SAFETY: a live value.
        let size = unsafe { okl_object_size(self.raw()) };
        (size > 0).then_some(size)
    }

    /// An address without its constant offset, and the offset in bytes.
    pub fn strip_offset(self) -> (Value<'m>, i64) {
        assert!(self.ty().is_pointer());
        let mut offset = 0;
        // SAFETY: an address; the shim returns a value of the same function or a constant.
        let base = unsafe { Value::new(okl_strip_offset(self.raw(), &raw mut offset)) };
        (base, offset)
    }
}

impl Function<'_> {
    /// Makes LLVM forget what it found out about the memory the function accesses.
    pub fn forget_memory_effects(self) {
        // SAFETY: a function.
        unsafe { okl_forget_memory_effects(self.raw()) }
    }
}
