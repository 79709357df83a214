//! Loops that count, as clang writes them before anything is simplified: `for (int i = START; i < END; i += STEP)`, with an
//! iterator that is a variable of the function.
//!
//! Guarantee: such a loop runs an iteration for each number that it comes to until its end, and nothing but the loop itself
//! changes the iterator or the end meanwhile, as far as these are variables of the function. What is not understood is no
//! such loop.

mod counts;

use std::collections::HashSet;

use crate::analysis::variables::{Does, uses};
use crate::llvm::{Block, Comparison, Instruction, IntPredicate, NaturalLoop, Opcode, Value};

use counts::Written;

/// Why a loop is none of these: the end of a sentence that begins with the loop.
pub struct Why {
    /// Why.
    pub text: String,
    /// Whether that may only come of a loop in it that is none.
    pub may_follow: bool,
    /// Whether it is left otherwise than by its end.
    pub is_left: bool,
}

impl From<&str> for Why {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_string(),
            may_follow: false,
            is_left: false,
        }
    }
}

/// What such a loop looks like.
pub const FORM: &str = "is not understood: it has the form `for (int i = START; i < END; i += STEP)`, with `<`, `<=`, `>` or \
                        `>=`, `++`, `--`, `+=` or `-=`";

/// A variable that can count loops.
pub struct Iterator<'m> {
    /// The variable.
    pub variable: Instruction<'m>,
    /// Its bits.
    pub width: u32,
    /// What is stored in it, anywhere.
    pub stores: Vec<Instruction<'m>>,
}

impl<'m> Iterator<'m> {
    /// A variable, if it can.
    pub fn of(variable: Instruction<'m>) -> Result<Self, Why> {
        let ty = variable.allocated_type().and_then(|ty| ty.bits());
        let width = ty.filter(|bits| [8, 16, 32, 64].contains(bits));
        let width = width.ok_or("counts with something that is no integer of at most 64 bits")?;
        let stores = stores(variable)
            .ok_or("has an iterator whose address is taken: nothing but the loop may change it")?;
        Ok(Self {
            variable,
            width,
            stores,
        })
    }
}

/// How a loop counts.
pub struct Form<'m> {
    /// Gives the iterator its first value.
    pub begins: Instruction<'m>,
    /// Gives it the next one.
    pub steps: Instruction<'m>,
    /// Decides whether there is another iteration.
    pub decides: Instruction<'m>,
    /// Where an iteration begins.
    pub body: Block<'m>,
    /// Where control goes in the end.
    pub exit: Block<'m>,
    /// Its first block.
    pub header: Block<'m>,
    /// All of them.
    pub blocks: Vec<Block<'m>>,
    /// Where it ends.
    pub bound: Bound<'m>,
    /// How far it goes.
    pub step: Step<'m>,
    /// The step, where the compiler knows it.
    pub by: Option<i64>,
    /// Iterations, where the compiler knows them, and whether there are so many also if the computation of the ends
    /// overflows, as numbers without a sign may. There are none then.
    pub count: Option<(i64, bool)>,
    /// Bits of the iterator.
    pub width: u32,
}

impl<'m> Form<'m> {
    /// Of a loop that a variable counts, whose first value something gives it in front of the loop. Where `may_differ`, it may
    /// also run until the iterator is the end (`!=`).
    pub fn of(
        natural: &NaturalLoop<'m>,
        iterator: &Iterator<'m>,
        begins: Instruction<'m>,
        may_differ: bool,
    ) -> Result<Self, Why> {
        let (variable, width) = (iterator.variable, iterator.width);
        let wrong = |why: &str| Why::from(why);
        let stores = iterator.stores.iter().copied();
        let inside: Vec<_> = stores
            .filter(|one| natural.blocks.contains(&one.block()))
            .collect();
        let may_follow = |why: &str| Why {
            may_follow: true,
            ..wrong(why)
        };
        let steps = match inside[..] {
            [one] => one,
            [] => return Err(wrong(FORM)),
            _ => return Err(may_follow("has an iterator that is changed in its body")),
        };
        let changes = Changes::of(natural, variable);
        let header = natural.header;
        let decides = header.terminator().ok_or_else(|| wrong(FORM))?;
        let [body, exit] = decides.block().successors()[..] else {
            return Err(wrong(FORM));
        };
        if !natural.blocks.contains(&body) || natural.blocks.contains(&exit) {
            return Err(wrong(FORM));
        }
        let until = || may_differ.then(|| Bound::until(decides, steps, variable))?;
        let bound = Bound::of(decides, variable).or_else(until);
        let bound = bound.ok_or_else(|| wrong(FORM))?;
        if let Some(why) = changes.of_value(bound.value) {
            return Err(wrong(&format!("has an end that {why}")));
        }
        let step = Step::of(steps, variable).ok_or_else(|| wrong(FORM))?;
        if let Some(why) = changes.of_value(step.value) {
            return Err(wrong(&format!("has a step that {why}")));
        }
        if !is_step_alone(steps, header) {
            return Err(wrong(FORM));
        }
        let constant = step.value.as_constant_int();
        let constant = constant.map(|one| if step.is_added { one } else { -one });
        match constant {
            Some(0) => return Err(wrong("has a step of 0")),
            Some(by) if (by > 0) != bound.is_above => {
                return Err(wrong("steps away from its end"));
            }
            None if step.is_added != bound.is_above => {
                return Err(wrong("may step away from its end"));
            }
            _ => {}
        }
        if leaves(natural, exit) {
            return Err(Why {
                is_left: true,
                ..may_follow(
                    "is left by a `break`, `return` or `goto`: all of its iterations have to run; `continue` ends one of \
                 them",
                )
            });
        }
        // How often a part of the iterator is below the end, nobody counts.
        let counted = constant.filter(|_| bound.is_whole(width));
        let numbers = counted.and_then(|by| {
            let begin = number(begins.operand(0), bound.counts_signed)?;
            Some((begin, number(bound.value, bound.signed)?, i128::from(by)))
        });
        let known = numbers.map(|(begin, end, by)| count(end - begin, by, bound.is_last));
        if let Some(((begin, _, by), count)) = numbers.zip(known) {
            let end = begin + i128::from(count) * by;
            let least = -i128::from(bound.counts_signed) << (width - 1);
            if !(least..least + (1 << width)).contains(&end) {
                return Err(wrong(
                    "does not come to its end: its iterator is too small for that",
                ));
            }
        }
        let count = match (known, counted) {
            (Some(count), _) => Some((count, true)),
            (None, Some(by)) => {
                let written = Written {
                    begins,
                    blocks: &natural.blocks,
                };
                written.count(&bound, by, width)
            }
            (None, None) => None,
        };
        Ok(Self {
            begins,
            steps,
            decides,
            body,
            exit,
            header,
            blocks: natural.blocks.clone(),
            bound,
            step,
            by: constant,
            count,
            width,
        })
    }

    /// Whether a block is in it.
    pub fn has(&self, block: Block<'m>) -> bool {
        self.blocks.contains(&block)
    }
}

/// Whether a value is all of a variable.
pub fn is_load_of<'m>(value: Value<'m>, variable: Instruction<'m>) -> bool {
    let load = value.as_op(Opcode::LLVMLoad);
    let is_whole = Some(value.ty()) == variable.allocated_type();
    load.is_some_and(|load| load.operand(0) == *variable && is_whole)
}

/// The stores into a variable, where nothing else changes it, whoever else reads it.
fn stores<'m>(variable: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let uses = uses(variable).into_iter();
    let changes = uses.filter(|(_, does)| *does != Does::Read);
    let is_store =
        |one: Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.operand(1) == *variable;
    changes
        .map(|(one, does)| (does == Does::Write && is_store(one)).then_some(one))
        .collect()
}

/// A value without what only makes it wider or narrower.
pub fn without_casts(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while let Some(cast) = value.as_instruction()
        && matches!(
            cast.opcode(),
            Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc
        )
    {
        value = cast.operand(0);
    }
    value
}

/// Where a loop ends.
pub struct Bound<'m> {
    /// The number.
    pub value: Value<'m>,
    /// The iterator, as it is compared.
    pub iterator: Value<'m>,
    /// Whether the loop counts up to it.
    pub is_above: bool,
    /// Whether there is an iteration of this number.
    pub is_last: bool,
    /// Whether it is compared as a number with a sign.
    pub signed: bool,
    /// Whether the iterator has one.
    pub counts_signed: bool,
}

impl<'m> Bound<'m> {
    fn of(decides: Instruction<'m>, variable: Instruction<'m>) -> Option<Self> {
        use IntPredicate::*;
        let asks = decides.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let Comparison::Integer(predicate) = asks.comparison()? else {
            return None;
        };
        let (is_above, is_last, signed) = match predicate {
            LLVMIntSLT => (true, false, true),
            LLVMIntSLE => (true, true, true),
            LLVMIntULT => (true, false, false),
            LLVMIntULE => (true, true, false),
            LLVMIntSGT => (false, false, true),
            LLVMIntSGE => (false, true, true),
            LLVMIntUGT => (false, false, false),
            LLVMIntUGE => (false, true, false),
            LLVMIntEQ | LLVMIntNE => return None,
        };
        Self::with(asks, variable, is_above, is_last, signed)
    }

    /// Of a loop that runs until its iterator is the end, which it cannot pass: it takes steps of one, and has no next number
    /// behind the last one that it can count to.
    fn until(
        decides: Instruction<'m>,
        steps: Instruction<'m>,
        variable: Instruction<'m>,
    ) -> Option<Self> {
        let asks = decides.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let is_other = asks.comparison()? == Comparison::Integer(IntPredicate::LLVMIntNE);
        let next = steps.operand(0).as_instruction()?;
        let step = Step::of(steps, variable)?;
        let is_one = matches!(step.value.as_constant_int(), Some(1 | -1));
        if !(is_other && is_one && next.has_no_signed_wrap()) {
            return None;
        }
        let is_up = step.is_added == (step.value.as_constant_int() == Some(1));
        let is_first = is_load_of(without_casts(asks.operand(0)), variable);
        Self::with(asks, variable, is_up == is_first, false, true)
    }

    /// With what a comparison of the iterator with the end asks, as of the first of both.
    fn with(
        asks: Instruction<'m>,
        variable: Instruction<'m>,
        is_above: bool,
        is_last: bool,
        signed: bool,
    ) -> Option<Self> {
        let [first, second] = [asks.operand(0), asks.operand(1)];
        let is_it = |value| is_load_of(without_casts(value), variable);
        let (value, is_above) = match (is_it(first), is_it(second)) {
            (true, false) => (second, is_above),
            (false, true) => (first, !is_above),
            _ => return None,
        };
        // A narrow one is made wider first, as its type has it.
        let iterator = if value == first { second } else { first };
        let counts_signed = match iterator.as_instruction().map(Instruction::opcode) {
            Some(Opcode::LLVMZExt) => false,
            Some(Opcode::LLVMSExt) => true,
            _ => signed,
        };
        Some(Self {
            value,
            iterator,
            is_above,
            is_last,
            signed,
            counts_signed,
        })
    }

    /// Whether all of an iterator with so many bits is compared.
    pub fn is_whole(&self, width: u32) -> bool {
        let mut value = self.iterator;
        while let Some(cast) = value.as_instruction()
            && cast.is_cast()
            && value.ty().bits() > Some(width)
        {
            value = cast.operand(0);
        }
        value.as_op(Opcode::LLVMLoad).is_some()
    }
}

/// What a loop adds to its iterator, or takes from it.
pub struct Step<'m> {
    /// The number.
    pub value: Value<'m>,
    /// Whether it is added.
    pub is_added: bool,
}

impl<'m> Step<'m> {
    fn of(store: Instruction<'m>, variable: Instruction<'m>) -> Option<Self> {
        let sum = without_casts(store.operand(0)).as_instruction()?;
        let is_added = match sum.opcode() {
            Opcode::LLVMAdd => true,
            Opcode::LLVMSub => false,
            _ => return None,
        };
        let [first, second] = [sum.operand(0), sum.operand(1)];
        let is_it = |value| is_load_of(without_casts(value), variable);
        let value = match (is_it(first), is_it(second)) {
            (true, false) => second,
            (false, true) if is_added => first,
            _ => return None,
        };
        Some(Self { value, is_added })
    }
}

/// What a loop may change.
struct Changes<'m> {
    variable: Instruction<'m>,
    blocks: HashSet<Block<'m>>,
}

impl<'m> Changes<'m> {
    fn of(natural: &NaturalLoop<'m>, variable: Instruction<'m>) -> Self {
        let blocks = natural.blocks.iter().copied().collect();
        Self { variable, blocks }
    }

    /// Why a value that is computed in the loop need not be the same in all iterations.
    fn of_value(&self, value: Value<'m>) -> Option<String> {
        let mut rest = vec![value];
        let mut seen = HashSet::new();
        while let Some(value) = rest.pop() {
            let Some(one) = value.as_instruction() else {
                continue;
            };
            if !self.blocks.contains(&one.block()) || !seen.insert(one) {
                continue;
            }
            if is_load_of(value, self.variable) {
                return Some("depends on its iterator".to_string());
            }
            if let Some(address) = one.address() {
                let stored = |user: Value<'m>| {
                    user.as_op(Opcode::LLVMStore).is_some_and(|store| {
                        store.operand(1) == address && self.blocks.contains(&store.block())
                    })
                };
                let is_variable = address.as_op(Opcode::LLVMAlloca).is_some();
                if is_variable && address.users().into_iter().any(stored) {
                    return Some("changes while it runs".to_string());
                }
            }
            rest.extend(one.operands());
        }
        None
    }
}

/// Whether the block of a step does nothing else, and is the only one that goes back to the header.
fn is_step_alone<'m>(steps: Instruction<'m>, header: Block<'m>) -> bool {
    let block = steps.block();
    let is_simple = |one: Instruction<'m>| {
        let is_kept = matches!(
            one.opcode(),
            Opcode::LLVMLoad | Opcode::LLVMBr | Opcode::LLVMGetElementPtr
        );
        one == steps || is_kept || one.only_computes()
    };
    let mut before = header.predecessors();
    before.retain(|one| *one != steps.block());
    block.successors() == [header]
        && block.instructions().into_iter().all(is_simple)
        && before.len() == 1
}

/// Whether a loop ends in another way than by its count, with the program going on.
fn leaves<'m>(natural: &NaturalLoop<'m>, exit: Block<'m>) -> bool {
    let members: HashSet<_> = natural.blocks.iter().copied().collect();
    let mut rest = Vec::new();
    for &block in &natural.blocks {
        let next = block.successors().into_iter();
        let next = next.filter(|next| !members.contains(next));
        rest.extend(next.filter(|next| block != natural.header || *next != exit));
    }
    let mut seen: HashSet<_> = rest.iter().copied().collect();
    while let Some(block) = rest.pop() {
        let end = block.terminator();
        if end.is_some_and(|end| end.opcode() == Opcode::LLVMRet) {
            return true;
        }
        rest.extend(
            block
                .successors()
                .into_iter()
                .filter(|next| seen.insert(*next)),
        );
    }
    false
}

/// A constant, as a number with or without a sign.
pub fn number(value: Value<'_>, signed: bool) -> Option<i128> {
    let number = i128::from(value.as_constant_int()?);
    let bits = value.ty().bits()?;
    Some(match signed || number >= 0 {
        true => number,
        false => number + (1_i128 << bits),
    })
}

/// Iterations of a loop that has so far to go, and its last number among them or not.
pub fn count(distance: i128, by: i128, is_last: bool) -> i64 {
    let (distance, by) = if by > 0 {
        (distance, by)
    } else {
        (-distance, -by)
    };
    let distance = distance + i128::from(is_last);
    let count = (distance + by - 1).div_euclid(by).max(0);
    i64::try_from(count).unwrap_or(i64::MAX)
}
