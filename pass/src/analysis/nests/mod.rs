//! What loop nests access, as array sections: expressions that are known in front of a loop, an instruction or a function.
//!
//! Guarantee: an exact section is just what is accessed whenever control gets there, another one at least that, if the
//! indices of the program do not overflow; where they may, the count of a dimension is the largest number then, and whoever
//! uses it sees that.
//!
//! `hoist` first brings loops into a form in which their bounds and addresses are known in front of them, with what `sole`
//! knows of objects, and `threaded` of conditions that are asked several times, and `variables` what functions load where they are entered, so that it is known where they are called.
//! `extents` leaves them one by one, `collapsed` those that are several at once; `choices` takes
//! addresses apart that turns choose among; `conditions` says under
//! which conditions, `tiles` joins rows, `hull` says between what reads lie whose rows end in many ways,
//! `widening` computes with numbers that do not overflow, `tables` and `between` follow what a nest loads itself, `places`
//! writes what computes where single elements are, `shares` says what all threads access of which one has a share. `rewrite` replaces parts of expressions; `names` puts them in words. `iterations` says the same of one turn of a loop.

mod between;
mod choices;
mod collapsed;
mod conditions;
mod extents;
mod hoist;
mod hull;
mod iterations;
mod names;
mod places;
mod rewrite;
mod shares;
mod sole;
mod tables;
#[cfg(test)]
mod tests;
mod threaded;
mod tiles;
mod variables;
mod widening;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::llvm::{
    Block, Builder, Code, Comparison, Evolution, Expression, ExpressionKind as Kind, Function,
    Instruction, Module, Opcode, Type, Value,
};
use conditions::{Check, Conditions, Guard, MOST_OPERATIONS, Question};
use extents::{Access, Dimension};
use tables::TableWrites;

pub use iterations::{InTurn, Turn};
pub use names::source_name;
pub use places::Places;
pub use variables::LARGE;

/// Bytes of a pointer.
const POINTER: i64 = 8;
/// Bits of the numbers in sections.
const WORD: u32 = 64;

/// An integer or address that a [`Nests`] knows as an expression, on conditions. Two terms of one analysis are equal where
/// these are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term<'m> {
    /// Number of the analysis.
    of: u32,
    index: u32,
    lives: PhantomData<&'m ()>,
}

/// What is accessed while control is in a scope.
pub struct Section<'m> {
    /// Of the first element.
    pub address: Term<'m>,
    /// Stride in bytes and count of each dimension, outer ones first.
    pub dimensions: Vec<(Term<'m>, Term<'m>)>,
    /// Whether every element is accessed whenever control reaches the loop.
    pub exact: bool,
}

/// Numbers that a loop loads.
pub struct Table<'m> {
    /// Where.
    pub place: TablePlace<'m>,
    /// Bytes of a number.
    pub bytes: i64,
    /// Whether it has a sign.
    pub is_signed: bool,
    /// Which are not used.
    pub unused: Unused,
}

/// Numbers in tables that say that there is nothing to access, such as -1 for no neighbour: conditions keep the nest from
/// using them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unused {
    /// Those below zero.
    pub negative: bool,
    /// Zero.
    pub zero: bool,
    /// That of which all bits are set.
    pub minus_one: bool,
}

/// Where the numbers of a table lie.
pub enum TablePlace<'m> {
    /// In a section.
    Section(Section<'m>),
    /// Between the corners of a part of an object, which have factors for the numbers of each table in front of this one.
    Between {
        /// The object.
        object: Term<'m>,
        /// As in [`Between`].
        corners: Vec<Vec<Term<'m>>>,
    },
}

/// What lies between the least and the largest of some sums of numbers in tables.
pub struct Between<'m> {
    /// The object that it is a part of.
    pub object: Term<'m>,
    /// The tables. Where some lie follows from what is in others, in front of them.
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
    /// A section of offsets from each of the pointers in other sections, which a loop loads itself and does not write.
    Rows(Vec<Section<'m>>),
    /// A part of an object: [`Nests::between`].
    Between(Between<'m>),
    /// Somewhere in the object that this address points into.
    Anywhere(Term<'m>),
}

/// Some turns of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    /// In front of that loop, too, of some of its turns. Where rows are clipped at an end, only those of the last turn are.
    Turns(usize, Turns),
    /// In front of this instruction.
    At(Instruction<'m>),
    /// Where the function is entered: in its parameters and in globals.
    Function,
}

impl Scope<'_> {
    fn nest(self) -> Option<usize> {
        match self {
            Self::Loop(nest) | Self::Turns(nest, _) => Some(nest),
            Self::At(_) | Self::Function => None,
        }
    }

    fn turns(self) -> Option<Turns> {
        match self {
            Self::Turns(_, turns) => Some(turns),
            Self::Loop(_) | Self::At(_) | Self::Function => None,
        }
    }
}

/// A call of a function that has been analysed, in a scope around it.
#[derive(Clone, Copy)]
struct CallSite<'a, 'm> {
    callee: &'a Nests<'m>,
    call: Instruction<'m>,
    scope: Scope<'m>,
}

/// What terms stand for.
#[derive(Default)]
struct Terms<'m> {
    all: Vec<(Expression<'m>, Conditions<'m>)>,
    /// Those of each expression.
    of: HashMap<Expression<'m>, Vec<u32>>,
}

/// The loops of a function and what is known of their values. While it lives, nothing but
/// [`Nests::expand`], its own loads and inserted calls may change the function.
pub struct Nests<'m> {
    module: &'m Module,
    evolution: Evolution<'m>,
    /// Different for each analysis.
    number: u32,
    terms: RefCell<Terms<'m>>,
    /// How nests write where these load from.
    written: RefCell<HashMap<(Instruction<'m>, usize), TableWrites>>,
    /// The loads whose values are known where the function is entered.
    at_entry: RefCell<HashSet<Value<'m>>>,
    /// What was loaded for calls: from where, as what, in front of what.
    loaded: RefCell<HashMap<(Value<'m>, Type<'m>, Instruction<'m>), Option<Value<'m>>>>,
    /// The end of the block in which the function is entered, and the blocks in which it returns.
    entry_end: Option<Instruction<'m>>,
    returns: Vec<Block<'m>>,
}

impl<'m> Deref for Nests<'m> {
    type Target = Evolution<'m>;
    fn deref(&self) -> &Evolution<'m> {
        &self.evolution
    }
}

impl<'m> Nests<'m> {
    /// Analyses a function. Loops get preheaders where they have none, and loads go out of loops that do not write what they
    /// load.
    pub fn open(module: &'m Module, function: Function<'m>) -> Self {
        Self::of(module, prepared(module, function))
    }

    /// Analyses a function that has been [prepared](prepare) and not changed since.
    pub fn prepared(module: &'m Module, function: Function<'m>) -> Self {
        Self::of(module, Code::open(function))
    }

    fn of(module: &'m Module, code: Code<'m>) -> Self {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        let function = code.function();
        let ends: Vec<_> = function
            .blocks()
            .into_iter()
            .map(Block::terminator)
            .collect();
        let returns = ends
            .iter()
            .flatten()
            .filter(|end| end.opcode() == Opcode::LLVMRet);
        Self {
            module,
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            terms: RefCell::default(),
            written: RefCell::default(),
            at_entry: RefCell::new(variables::known_at_entry(module, &code)),
            loaded: RefCell::default(),
            entry_end: ends.first().copied().flatten(),
            returns: returns.map(|end| end.block()).collect(),
            evolution: Evolution::of(code),
        }
    }

    fn term(&self, value: Expression<'m>) -> Term<'m> {
        self.term_when(value, Conditions::default())
    }

    /// The value of an expression; zero unless every guard holds, the largest number if a check fails.
    fn term_when(&self, value: Expression<'m>, when: Conditions<'m>) -> Term<'m> {
        let Terms { all, of } = &mut *self.terms.borrow_mut();
        let known = of.entry(value).or_default();
        let same = known.iter().find(|&&index| all[index as usize].1 == when);
        let index = same.copied().unwrap_or_else(|| {
            let index = all.len() as u32;
            known.push(index);
            all.push((value, when));
            index
        });
        Term {
            of: self.number,
            index,
            lives: PhantomData,
        }
    }

    fn parts(&self, term: Term<'m>) -> (Expression<'m>, Conditions<'m>) {
        assert!(term.of == self.number, "a term of another analysis");
        self.terms.borrow().all[term.index as usize].clone()
    }

    fn value(&self, term: Term<'m>) -> Expression<'m> {
        self.parts(term).0
    }

    /// Its value where it depends on no condition.
    fn plain(&self, term: Term<'m>) -> Option<Expression<'m>> {
        let (value, when) = self.parts(term);
        when.is_empty().then_some(value)
    }

    /// A number of 64 bits.
    fn word(&self, number: i64) -> Expression<'m> {
        self.number(WORD, number)
    }

    fn more(&self, one: Expression<'m>, number: i64) -> Expression<'m> {
        self.sum(&[one, self.word(number)])
    }

    /// The end of the block that runs once before a loop.
    fn front_of(&self, of: usize) -> Option<Instruction<'m>> {
        self.loops()[of].preheader?.terminator()
    }

    /// Whether a value is computed outside of a loop.
    fn is_outside(&self, value: Value<'m>, of: usize) -> bool {
        let at = value.as_instruction();
        at.is_none_or(|at| !self.contains(of, at.block()))
    }

    fn access(
        &self,
        pointer: Value<'m>,
        length: Option<Value<'m>>,
        block: Block<'m>,
    ) -> Option<Access<'m>> {
        if !self.can_know(pointer) {
            return None;
        }
        let address = self.expression(pointer);
        if self.bits(address) != WORD {
            return None;
        }
        let bytes = length.map(|length| Dimension {
            stride: self.word(1),
            count: self.without_sign(self.expression(length), WORD),
            over: None,
        });
        Some(Access {
            dimensions: bytes.into_iter().collect(),
            ..Access::at(address, block)
        })
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
        let Some(access) = self.access(pointer, length, block) else {
            return Extent::Unknown;
        };
        match self.extent_of(&access, scope) {
            Extent::Unknown => self
                .rows(access, scope)
                .map_or(Extent::Unknown, Extent::Rows),
            known => known,
        }
    }

    fn extent_of(&self, access: &Access<'m>, scope: Scope<'m>) -> Extent<'m> {
        if scope
            .nest()
            .is_some_and(|nest| self.front_of(nest).is_none())
        {
            return Extent::Unknown;
        }
        let section = (access.address.size() <= MOST_OPERATIONS)
            .then(|| {
                let affine = self.affine(access.clone(), scope);
                affine.or_else(|| self.widened(access, scope))
            })
            .flatten();
        match section {
            Some(section) => Extent::Section(section),
            None => self.anywhere(access.address, scope),
        }
    }

    fn anywhere(&self, address: Expression<'m>, scope: Scope<'m>) -> Extent<'m> {
        let object = self.object(address);
        match object.is(Kind::Value) && self.is_usable(object, scope) {
            true => Extent::Anywhere(self.term(object)),
            false => Extent::Unknown,
        }
    }

    /// What a read of one element at `pointer`, in `block`, lies between, where it is somewhere in an object
    /// whose bounds the loop of the scope loads itself. The loop may write the tables, by plain stores and copies.
    pub fn between(
        &self,
        pointer: Value<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Option<Between<'m>> {
        self.corners(pointer, &self.access(pointer, None, block)?, scope)
    }

    /// What a call accesses while control is in the scope, where the called function, of the analysis `callee`, accesses
    /// `extent` in its scope [`Scope::Function`].
    pub fn extent_of_call(
        &self,
        callee: &Nests<'m>,
        extent: &Extent<'m>,
        call: Instruction<'m>,
        scope: Scope<'m>,
    ) -> Extent<'m> {
        self.translated_extent(callee, extent, call, scope)
            .unwrap_or(Extent::Unknown)
    }

    fn translated_extent(
        &self,
        callee: &Nests<'m>,
        extent: &Extent<'m>,
        call: Instruction<'m>,
        scope: Scope<'m>,
    ) -> Option<Extent<'m>> {
        let at = CallSite {
            callee,
            call,
            scope,
        };
        let translate = |one| self.translate(one, at, &mut HashMap::new());
        let section = match extent {
            Extent::Unknown | Extent::Rows(_) | Extent::Between(_) => return None,
            Extent::Anywhere(object) => {
                return Some(self.anywhere(translate(callee.value(*object))?, scope));
            }
            Extent::Section(section) => section,
        };
        let mut access = Access {
            exact: section.exact,
            ..Access::at(translate(callee.value(section.address))?, call.block())
        };
        for &(stride, count) in section.dimensions.iter().rev() {
            let (count, when) = callee.parts(count);
            access.dimensions.push(Dimension {
                stride: translate(callee.value(stride))?,
                count: translate(count)?,
                over: None,
            });
            for guard in when.guards {
                let question = match guard.question {
                    Question::Comparison(predicate, a, b) => translate(a)
                        .zip(translate(b))
                        .map(|(a, b)| Question::Comparison(predicate, a, b)),
                    Question::Value(value) => argument_for(value, call).map(Question::Value),
                };
                let guard = question.map(|question| Guard { question, ..guard });
                match guard.filter(|guard| self.can_ask(guard, scope)) {
                    Some(guard) => access.when.guards.push(guard),
                    None => access.exact = false,
                }
            }
            for check in when.checks {
                access.when.checks.push(Check {
                    value: translate(check.value)?,
                    ..check
                });
            }
        }
        Some(self.extent_of(&access, scope))
    }

    /// An expression in the parameters of the callee, in globals and in what they hold, at a call in this function.
    fn translate(
        &self,
        one: Expression<'m>,
        at: CallSite<'_, 'm>,
        known: &mut HashMap<Expression<'m>, Expression<'m>>,
    ) -> Option<Expression<'m>> {
        if let Some(&known) = known.get(&one) {
            return Some(known);
        }
        let new = match one.kind() {
            Kind::Recurrence | Kind::Unknown => return None,
            Kind::Value => {
                let value = one.value()?;
                let value = match at.callee.at_entry.borrow().contains(&value) {
                    true => self.loaded_for(value, at.scope, at.call)?,
                    false => argument_for(value, at.call)?,
                };
                (value.ty() == one.ty() && self.can_know(value)).then(|| self.expression(value))?
            }
            _ => {
                let mut operands = Vec::new();
                for &operand in one.operands() {
                    operands.push(self.translate(operand, at, known)?);
                }
                self.like(one, &operands)
            }
        };
        known.insert(one, new);
        Some(new)
    }

    /// The value an address is a constant number of bytes away from.
    pub fn anchor(&self, address: Term<'m>) -> Option<(Value<'m>, i64)> {
        let value = self.value(address);
        if !value.ty().is_pointer() {
            return None;
        }
        let distance = self.offset(value).constant()?;
        Some((self.base(address)?, i64::try_from(distance).ok()?))
    }

    /// The object an address is computed from.
    pub fn base(&self, address: Term<'m>) -> Option<Value<'m>> {
        self.object(self.value(address)).value()
    }

    /// `a - b`, where it is constant.
    pub fn distance(&self, a: Term<'m>, b: Term<'m>) -> Option<i64> {
        let ((a, a_when), (b, b_when)) = (self.parts(a), self.parts(b));
        (a_when == b_when).then(|| self.difference(a, b))?
    }

    /// Its value, where it is constant.
    pub fn constant(&self, a: Term<'m>) -> Option<i64> {
        i64::try_from(self.plain(a)?.constant()?).ok()
    }

    /// Whether it is the largest number where an index overflows.
    pub fn is_checked(&self, a: Term<'m>) -> bool {
        !self.parts(a).1.checks.is_empty()
    }

    /// From one address to another, where that is a constant.
    pub fn way(&self, from: Value<'m>, to: Value<'m>) -> Option<i64> {
        let (from, to) = (self.expression(from), self.expression(to));
        let distance = self.minus(to, from);
        let is_known = !distance.is(Kind::Unknown);
        i64::try_from(distance.constant().filter(|_| is_known)?).ok()
    }

    /// `(a - b) / step`, where that is a small constant.
    pub fn steps(&self, a: Term<'m>, b: Term<'m>, step: Term<'m>) -> Option<i64> {
        let (a, b, step) = (self.plain(a)?, self.plain(b)?, self.plain(step)?);
        let difference = self.minus(a, b);
        if difference.is(Kind::Unknown) || step.is_zero() {
            return None;
        }
        (-4..=4).find(|&times| difference == self.product(&[step, self.word(times)]))
    }

    /// `a + b`.
    pub fn plus(&self, a: Term<'m>, b: i64) -> Term<'m> {
        let (value, when) = self.parts(a);
        self.term_when(self.more(value, b), when)
    }

    /// A term as a sum: what is left of it, if anything is, the address of a variable, if it has one, and a number.
    pub fn split(&self, term: Term<'m>) -> (Option<Term<'m>>, Option<Value<'m>>, i64) {
        let Some(mut rest) = self.plain(term) else {
            return (Some(term), None, 0);
        };
        let variable = match rest.ty().is_pointer() {
            true => self.base(term).and_then(Value::as_global),
            false => None,
        };
        let variable = variable.filter(|one| !one.is_thread_local());
        if variable.is_some() {
            rest = self.offset(rest);
        }
        let number = constant_part(rest);
        if number != 0 {
            rest = self.more(rest, number.wrapping_neg());
        }
        let left = (!rest.is_zero()).then(|| self.term(rest));
        (left, variable.map(|one| *one), number)
    }

    /// Computes a term of a section in front of an instruction of the preheader.
    pub fn expand(&self, term: Term<'m>, before: Instruction<'m>) -> Value<'m> {
        let (value, when) = self.parts(term);
        self.expand_when(value, when, before)
    }

    /// The same where nobody asks whether indices of the program overflow.
    pub fn expand_unchecked(&self, term: Term<'m>, before: Instruction<'m>) -> Value<'m> {
        let (value, mut when) = self.parts(term);
        when.checks.clear();
        self.expand_when(value, when, before)
    }

    fn expand_when(
        &self,
        value: Expression<'m>,
        when: Conditions<'m>,
        before: Instruction<'m>,
    ) -> Value<'m> {
        let word = self.module.int(WORD);
        let mut result = self.compute(value, before);
        if result.ty().is_pointer() {
            let build = Builder::before(self.module, before);
            result = build.cast(Opcode::LLVMPtrToInt, result, word);
        }
        for check in when.checks {
            let whole = self.compute(check.value, before);
            let build = Builder::before(self.module, before);
            let part = build.int_cast(whole, self.module.int(check.bits));
            let extended = match check.signed {
                true => build.sign_extend(part, whole.ty()),
                false => build.int_cast(part, whole.ty()),
            };
            let fits = build.compare(whole, extended, false);
            result = build.select(fits, result, word.integer_constant(i64::MAX));
        }
        for guard in when.guards {
            let holds = match guard.question {
                Question::Value(value) => value,
                Question::Comparison(predicate, a, b) => {
                    let (a, b) = (self.compute(a, before), self.compute(b, before));
                    let build = Builder::before(self.module, before);
                    build.ask(Comparison::Integer(predicate), a, b)
                }
            };
            let build = Builder::before(self.module, before);
            let zero = word.zero();
            result = match guard.wanted {
                true => build.select(holds, result, zero),
                false => build.select(holds, zero, result),
            };
        }
        result
    }
}

/// Brings the loops of a function into the form in which they are analysed.
pub fn prepare<'m>(module: &'m Module, function: Function<'m>) {
    prepared(module, function);
}

fn prepared<'m>(module: &'m Module, function: Function<'m>) -> Code<'m> {
    let code = Code::open(function);
    hoist::prepare(module, &code);
    code
}

/// What is handed over for a parameter; any other value is itself.
fn argument_for<'m>(value: Value<'m>, call: Instruction<'m>) -> Option<Value<'m>> {
    match value.as_parameter() {
        Some((_, index)) => call.as_call()?.argument(index),
        None => Some(value),
    }
}

/// What is constant in a sum.
fn constant_part(one: Expression<'_>) -> i64 {
    let operands = one.operands();
    match one.kind() {
        Kind::Constant if one.ty().bits() == Some(WORD) => {
            one.constant().map_or(0, |number| number as i64)
        }
        Kind::Recurrence => constant_part(operands[0]),
        Kind::Add => operands
            .iter()
            .fold(0, |sum: i64, &part| sum.wrapping_add(constant_part(part))),
        _ => 0,
    }
}

/// The variable that a number is loaded from, if it is just that.
fn variable_of(number: Expression<'_>) -> Option<Value<'_>> {
    let number = match number.kind() {
        Kind::SignExtend | Kind::ZeroExtend => number.operands()[0],
        _ => number,
    };
    number.value()?.as_op(Opcode::LLVMLoad)?.address()
}

/// Whether two numbers are loaded from one variable: it is no surprise then if they are the same.
fn are_of_one_variable<'m>(a: Expression<'m>, b: Expression<'m>) -> bool {
    variable_of(a).is_some_and(|variable| variable_of(b) == Some(variable))
}

/// Whether a number is what OpenMP says is between a thread's chunks.
fn is_between_chunks(step: Expression<'_>) -> bool {
    variable_of(step).is_some_and(|variable| variable.as_op(Opcode::LLVMAlloca).is_some())
}

/// The name of the intrinsic, or any other function, that an instruction calls; empty where it calls none.
fn intrinsic_name(at: Instruction<'_>) -> String {
    let callee = at.as_call().and_then(|call| call.callee().as_function());
    callee.map_or_else(String::new, |callee| callee.name())
}

/// Whether it is one of LLVM's intrinsics that copy or fill memory.
fn copies_or_fills(at: Instruction<'_>) -> bool {
    const NAMES: [&str; 4] = [
        "llvm.memcpy.",
        "llvm.memmove.",
        "llvm.memset.",
        "llvm.experimental.memset.",
    ];
    at.opcode() == Opcode::LLVMCall && {
        let name = intrinsic_name(at);
        NAMES.iter().any(|one| name.starts_with(one))
    }
}

/// Whether it begins or ends the life of a variable.
fn is_lifetime(at: Instruction<'_>) -> bool {
    at.opcode() == Opcode::LLVMCall && intrinsic_name(at).starts_with("llvm.lifetime.")
}

/// Whether it may write memory of the program.
fn writes(at: Instruction<'_>) -> bool {
    at.may_write() && {
        let name = intrinsic_name(at);
        !["llvm.lifetime.", "llvm.dbg."]
            .iter()
            .any(|one| name.starts_with(one))
    }
}
