//! Expressions of LLVM's ScalarEvolution as nodes: the safe side of `cxx/expressions.h`.

use std::ffi::{c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ops::Deref;

use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};

use super::code::{RawCode, RawLoop};
use super::shim::{TextSink, collect_text};
use super::{Code, Instruction, Type, Value};

#[repr(C)]
struct RawExpression {
    private: [u8; 0],
}

type Raw = *const RawExpression;

unsafe extern "C" {
    fn okl_expression_kind(one: Raw) -> c_int;
    fn okl_expression_operands(one: Raw, count: *mut usize) -> *const Raw;
    fn okl_expression_type(one: Raw) -> LLVMTypeRef;
    fn okl_expression_bits(code: *mut RawCode, one: Raw) -> c_uint;
    fn okl_expression_size(one: Raw) -> c_uint;
    fn okl_expression_constant(one: Raw, words: *mut u64) -> bool;
    fn okl_expression_value(one: Raw) -> LLVMValueRef;
    fn okl_expression_loop(one: Raw) -> *const RawLoop;
    fn okl_expression_text(one: Raw, sink: TextSink, to: *mut c_void);

    fn okl_can_be_expression(code: *mut RawCode, value: LLVMValueRef) -> bool;
    fn okl_expression_of(code: *mut RawCode, value: LLVMValueRef) -> Raw;
    fn okl_expression_number(code: *mut RawCode, bits: c_uint, number: i64) -> Raw;
    fn okl_expression_make(
        code: *mut RawCode,
        kind: c_int,
        operands: *const Raw,
        count: usize,
    ) -> Raw;
    fn okl_expression_like(
        code: *mut RawCode,
        like: Raw,
        operands: *const Raw,
        count: usize,
    ) -> Raw;
    fn okl_expression_minus(code: *mut RawCode, a: Raw, b: Raw) -> Raw;
    fn okl_expression_negative(code: *mut RawCode, a: Raw) -> Raw;
    fn okl_expression_resize(code: *mut RawCode, one: Raw, bits: c_uint, signed: bool) -> Raw;
    fn okl_expression_recurrence(
        code: *mut RawCode,
        operands: *const Raw,
        count: usize,
        of: *const RawLoop,
    ) -> Raw;
    fn okl_expression_at_turn(code: *mut RawCode, recurrence: Raw, turn: Raw) -> Raw;
    fn okl_expression_backedges(code: *mut RawCode, of: *const RawLoop) -> Raw;
    fn okl_expression_backedges_until(
        code: *mut RawCode,
        of: *const RawLoop,
        exiting: LLVMBasicBlockRef,
    ) -> Raw;
    fn okl_expression_object(code: *mut RawCode, address: Raw) -> Raw;
    fn okl_expression_offset(code: *mut RawCode, address: Raw) -> Raw;

    fn okl_expression_is_invariant(code: *mut RawCode, one: Raw, of: *const RawLoop) -> bool;
    fn okl_expression_is_not_negative(code: *mut RawCode, one: Raw) -> bool;
    fn okl_expression_is_positive(code: *mut RawCode, one: Raw) -> bool;
    fn okl_expression_is_greater_before(
        code: *mut RawCode,
        of: *const RawLoop,
        a: Raw,
        b: Raw,
    ) -> bool;
    fn okl_expression_difference(code: *mut RawCode, a: Raw, b: Raw, result: *mut i64) -> bool;

    fn okl_expression_can_be_computed(code: *mut RawCode, one: Raw, at: LLVMValueRef) -> bool;
    fn okl_expression_compute(code: *mut RawCode, one: Raw, before: LLVMValueRef) -> LLVMValueRef;
}

/// What an expression is (LLVM's `SCEVTypes`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum ExpressionKind {
    /// A number.
    Constant,
    /// The lower bits of its operand.
    Truncate,
    /// Its operand with zeros in front.
    ZeroExtend,
    /// Its operand with its sign in front.
    SignExtend,
    /// A sum.
    Add,
    /// A product.
    Multiply,
    /// A quotient, without signs.
    UnsignedDivide,
    /// What changes in each turn of a loop: a start, a step, the step's step and so on.
    Recurrence,
    /// The largest operand, without signs.
    UnsignedMax,
    /// The largest operand.
    SignedMax,
    /// The least operand, without signs.
    UnsignedMin,
    /// The least operand.
    SignedMin,
    /// The least operand, without signs; those after a zero do not matter.
    SequentialMin,
    /// An address as a number.
    PointerToInteger,
    /// A value of the program that is not looked into.
    Value,
    /// Something else.
    Other,
    /// What could not be computed.
    Unknown,
}

impl ExpressionKind {
    const ALL: [Self; 17] = [
        Self::Constant,
        Self::Truncate,
        Self::ZeroExtend,
        Self::SignExtend,
        Self::Add,
        Self::Multiply,
        Self::UnsignedDivide,
        Self::Recurrence,
        Self::UnsignedMax,
        Self::SignedMax,
        Self::UnsignedMin,
        Self::SignedMin,
        Self::SequentialMin,
        Self::PointerToInteger,
        Self::Value,
        Self::Other,
        Self::Unknown,
    ];

    /// Whether it is one of its operands.
    pub fn is_choice(self) -> bool {
        use ExpressionKind::*;
        matches!(
            self,
            UnsignedMax | SignedMax | UnsignedMin | SignedMin | SequentialMin
        )
    }
}

/// An integer or an address as LLVM knows it. Equal expressions of one [`Evolution`], which has to live longer, are one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Expression<'m> {
    raw: Raw,
    lives: PhantomData<&'m ()>,
}

impl<'m> Expression<'m> {
    fn new(raw: Raw) -> Self {
        debug_assert!(!raw.is_null());
        Self {
            raw,
            lives: PhantomData,
        }
    }

    /// What it is.
    pub fn kind(self) -> ExpressionKind {
        // SAFETY: a live node.
        ExpressionKind::ALL[unsafe { okl_expression_kind(self.raw) } as usize]
    }

    /// Whether it is of this kind.
    pub fn is(self, kind: ExpressionKind) -> bool {
        self.kind() == kind
    }

    /// What it is computed from.
    pub fn operands(self) -> &'m [Expression<'m>] {
        let mut count = 0;
        // SAFETY: a live node, which keeps that many operands; an expression is laid out as the pointer to its node.
        unsafe {
            let data = okl_expression_operands(self.raw, &raw mut count);
            match count {
                0 => &[],
                _ => std::slice::from_raw_parts(data.cast(), count),
            }
        }
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        assert!(!self.is(ExpressionKind::Unknown));
        // SAFETY: a live node that has a type.
        unsafe { Type::new(okl_expression_type(self.raw)) }
    }

    /// How many operations it consists of.
    pub fn size(self) -> usize {
        // SAFETY: a live node.
        unsafe { okl_expression_size(self.raw) as usize }
    }

    /// The number that it is, with a sign.
    pub fn constant(self) -> Option<i128> {
        let mut words = [0; 2];
        // SAFETY: a constant, and room for two words.
        let is_one = self.is(ExpressionKind::Constant)
            && unsafe { okl_expression_constant(self.raw, words.as_mut_ptr()) };
        is_one.then(|| (i128::from(words[1] as i64) << 64) | i128::from(words[0]))
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.constant() == Some(0)
    }

    /// The value of the program that it is.
    pub fn value(self) -> Option<Value<'m>> {
        // SAFETY: a node of a value.
        self.is(ExpressionKind::Value)
            .then(|| unsafe { Value::new(okl_expression_value(self.raw)) })
    }

    /// Whether it is part of it, or itself, that the question is answered with yes for.
    pub fn contains(self, mut is_it: impl FnMut(Expression<'m>) -> bool) -> bool {
        let (mut rest, mut seen) = (vec![self], std::collections::HashSet::from([self]));
        while let Some(one) = rest.pop() {
            if is_it(one) {
                return true;
            }
            rest.extend(one.operands().iter().filter(|&&one| seen.insert(one)));
        }
        false
    }

    /// As LLVM prints it.
    pub fn text(self) -> String {
        // SAFETY: a live node; the sink's target lives through the call.
        collect_text(|sink, to| unsafe { okl_expression_text(self.raw, sink, to) })
    }
}

/// A function whose values are known as expressions.
pub struct Evolution<'m>(Code<'m>);

impl<'m> Deref for Evolution<'m> {
    type Target = Code<'m>;
    fn deref(&self) -> &Code<'m> {
        &self.0
    }
}

/// A recurrence with a step that does not change.
#[derive(Clone, Copy)]
pub struct Recurrence<'m> {
    /// Itself.
    pub whole: Expression<'m>,
    /// The loop in which it changes.
    pub of: usize,
    /// Its value in the first turn.
    pub start: Expression<'m>,
    /// What is added from turn to turn.
    pub step: Expression<'m>,
}

impl<'m> Evolution<'m> {
    /// Of code that does not change any more, but by [`compute`](Self::compute) and by calls that are inserted.
    pub fn of(code: Code<'m>) -> Self {
        Self(code)
    }

    /// Whether a value can be an expression: whether it is an integer or an address.
    pub fn can_know(&self, value: Value<'m>) -> bool {
        // SAFETY: a value of the function.
        unsafe { okl_can_be_expression(self.raw(), value.raw()) }
    }

    /// A value as an expression.
    pub fn expression(&self, value: Value<'m>) -> Expression<'m> {
        assert!(self.can_know(value));
        // SAFETY: an integer or address of the function.
        Expression::new(unsafe { okl_expression_of(self.raw(), value.raw()) })
    }

    /// A number of so many bits.
    pub fn number(&self, bits: u32, number: i64) -> Expression<'m> {
        // SAFETY: no handles.
        Expression::new(unsafe { okl_expression_number(self.raw(), bits, number) })
    }

    fn make(&self, kind: ExpressionKind, operands: &[Expression<'m>]) -> Expression<'m> {
        assert!(!operands.is_empty());
        // SAFETY: nodes of this function's; laid out as pointers to them.
        Expression::new(unsafe {
            let data = operands.as_ptr().cast();
            okl_expression_make(self.raw(), kind as c_int, data, operands.len())
        })
    }

    /// Their sum.
    pub fn sum(&self, operands: &[Expression<'m>]) -> Expression<'m> {
        self.make(ExpressionKind::Add, operands)
    }

    /// Their product.
    pub fn product(&self, operands: &[Expression<'m>]) -> Expression<'m> {
        self.make(ExpressionKind::Multiply, operands)
    }

    /// `a / b`, without signs.
    pub fn quotient(&self, a: Expression<'m>, b: Expression<'m>) -> Expression<'m> {
        self.make(ExpressionKind::UnsignedDivide, &[a, b])
    }

    /// One of the operands: a kind that [is a choice](ExpressionKind::is_choice).
    pub fn choice(&self, kind: ExpressionKind, operands: &[Expression<'m>]) -> Expression<'m> {
        assert!(kind.is_choice());
        self.make(kind, operands)
    }

    /// The least of the operands, with signs.
    pub fn least(&self, operands: &[Expression<'m>]) -> Expression<'m> {
        self.make(ExpressionKind::SignedMin, operands)
    }

    /// The largest of the operands, with signs.
    pub fn largest(&self, operands: &[Expression<'m>]) -> Expression<'m> {
        self.make(ExpressionKind::SignedMax, operands)
    }

    /// The same as an expression, which may be another function's, of other operands: a constant where it has none.
    pub fn like(&self, like: Expression<'m>, operands: &[Expression<'m>]) -> Expression<'m> {
        assert!(operands.len() == like.operands().len());
        // SAFETY: a live node, and nodes of this function's, as many as it has.
        Expression::new(unsafe {
            let data = operands.as_ptr().cast();
            okl_expression_like(self.raw(), like.raw, data, operands.len())
        })
    }

    /// `a - b`; unknown where these point into objects that are not the same.
    pub fn minus(&self, a: Expression<'m>, b: Expression<'m>) -> Expression<'m> {
        // SAFETY: nodes of this function's.
        Expression::new(unsafe { okl_expression_minus(self.raw(), a.raw, b.raw) })
    }

    /// `-a`.
    pub fn negative(&self, a: Expression<'m>) -> Expression<'m> {
        // SAFETY: a node of this function's.
        Expression::new(unsafe { okl_expression_negative(self.raw(), a.raw) })
    }

    /// An integer as one of so many bits: its lower ones, or with its sign in front.
    pub fn with_sign(&self, one: Expression<'m>, bits: u32) -> Expression<'m> {
        assert!(one.ty().is_integer());
        // SAFETY: an integer of this function's.
        Expression::new(unsafe { okl_expression_resize(self.raw(), one.raw, bits, true) })
    }

    /// An integer as one of so many bits: its lower ones, or with zeros in front.
    pub fn without_sign(&self, one: Expression<'m>, bits: u32) -> Expression<'m> {
        assert!(one.ty().is_integer());
        // SAFETY: an integer of this function's.
        Expression::new(unsafe { okl_expression_resize(self.raw(), one.raw, bits, false) })
    }

    /// What starts as the first operand and gets more by the second in each turn of a loop, and so on.
    pub fn recurring(&self, operands: &[Expression<'m>], of: usize) -> Expression<'m> {
        // SAFETY: nodes and a loop of this function's.
        Expression::new(unsafe {
            let (data, count) = (operands.as_ptr().cast(), operands.len());
            okl_expression_recurrence(self.raw(), data, count, self.raw_loop(of))
        })
    }

    /// The loop in which a recurrence changes.
    pub fn changes_in(&self, one: Expression<'m>) -> Option<usize> {
        // SAFETY: a recurrence.
        one.is(ExpressionKind::Recurrence)
            .then(|| self.number_of(unsafe { okl_expression_loop(one.raw) }))
    }

    /// A recurrence whose step does not change.
    pub fn recurrence(&self, one: Expression<'m>) -> Option<Recurrence<'m>> {
        let of = self.changes_in(one)?;
        match *one.operands() {
            [start, step] => Some(Recurrence {
                whole: one,
                of,
                start,
                step,
            }),
            _ => None,
        }
    }

    /// The value of a recurrence in a turn, counted from 0.
    pub fn in_turn(&self, recurrence: Expression<'m>, turn: Expression<'m>) -> Expression<'m> {
        assert!(recurrence.is(ExpressionKind::Recurrence));
        // SAFETY: a recurrence and an integer.
        Expression::new(unsafe { okl_expression_at_turn(self.raw(), recurrence.raw, turn.raw) })
    }

    /// How often a loop goes back to its header, unless the program ends in it.
    pub fn backedge_taken_count(&self, of: usize) -> Option<Expression<'m>> {
        let known =
            |one: Raw| Some(Expression::new(one)).filter(|one| !one.is(ExpressionKind::Unknown));
        // SAFETY: a loop of the function.
        let whole = known(unsafe { okl_expression_backedges(self.raw(), self.raw_loop(of)) });
        whole.or_else(|| match self.exiting(of)[..] {
            // SAFETY: as above, and one of its blocks.
            [exiting] => known(unsafe {
                okl_expression_backedges_until(self.raw(), self.raw_loop(of), exiting.raw())
            }),
            _ => None,
        })
    }

    /// What an address is computed from, as far as that is known; an integer itself.
    pub fn object(&self, address: Expression<'m>) -> Expression<'m> {
        // SAFETY: a node of this function's.
        Expression::new(unsafe { okl_expression_object(self.raw(), address.raw) })
    }

    /// The bytes from its [object](Self::object) to an address.
    pub fn offset(&self, address: Expression<'m>) -> Expression<'m> {
        assert!(address.ty().is_pointer());
        // SAFETY: an address of this function's.
        Expression::new(unsafe { okl_expression_offset(self.raw(), address.raw) })
    }

    /// Bits of an expression's type.
    pub fn bits(&self, one: Expression<'m>) -> u32 {
        assert!(!one.is(ExpressionKind::Unknown));
        // SAFETY: a node of this function's, which has a type.
        unsafe { okl_expression_bits(self.raw(), one.raw) }
    }

    /// Whether it is the same in all turns of a loop.
    pub fn is_invariant(&self, one: Expression<'m>, of: usize) -> bool {
        // SAFETY: a node and a loop of this function's.
        unsafe { okl_expression_is_invariant(self.raw(), one.raw, self.raw_loop(of)) }
    }

    /// Whether LLVM knows that it is not negative.
    pub fn is_not_negative(&self, one: Expression<'m>) -> bool {
        // SAFETY: a node of this function's.
        unsafe { okl_expression_is_not_negative(self.raw(), one.raw) }
    }

    /// Whether LLVM knows that it is positive.
    pub fn is_positive(&self, one: Expression<'m>) -> bool {
        // SAFETY: a node of this function's.
        unsafe { okl_expression_is_positive(self.raw(), one.raw) }
    }

    /// Whether LLVM knows that `a` is larger than `b`, with signs, when control comes to a loop.
    pub fn is_greater_before(&self, of: usize, a: Expression<'m>, b: Expression<'m>) -> bool {
        assert!(a.ty() == b.ty());
        // SAFETY: nodes of one type and a loop of this function's.
        unsafe { okl_expression_is_greater_before(self.raw(), self.raw_loop(of), a.raw, b.raw) }
    }

    /// `a - b`, where it is constant.
    pub fn difference(&self, a: Expression<'m>, b: Expression<'m>) -> Option<i64> {
        let mut result = 0;
        // SAFETY: nodes of this function's.
        unsafe { okl_expression_difference(self.raw(), a.raw, b.raw, &raw mut result) }
            .then_some(result)
    }

    /// Whether it can be computed in front of an instruction.
    pub fn can_be_computed(&self, one: Expression<'m>, at: Instruction<'m>) -> bool {
        // SAFETY: a node and an instruction of this function's.
        unsafe { okl_expression_can_be_computed(self.raw(), one.raw, at.raw()) }
    }

    /// Its value, computed in front of an instruction, where it [can be](Self::can_be_computed).
    pub fn compute(&self, one: Expression<'m>, before: Instruction<'m>) -> Value<'m> {
        // SAFETY: a node and an instruction of this function's; the shim returns a value.
        unsafe { Value::new(okl_expression_compute(self.raw(), one.raw, before.raw())) }
    }
}
