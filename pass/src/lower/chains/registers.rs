//! Elements of temporary spaces that an iteration of a loop which runs several nests passes from one of them to the next ones:
//! they are in a variable of the stack meanwhile, which becomes registers, and reach the buffer once, behind the nests, where
//! others use them.
//!
//! Guarantee: all of such an element is written first, by a nest in front of those that read it, in each iteration; and what else
//! these nests access of the space is another element for sure.

use okl_chains::code::{Code, Expression, For};
use okl_chains::model::Affine;
use okl_chains::plan::Plan;

use super::code::Writer;
use super::storage::{Place, Stored, only_runs};
use crate::llvm::{Block, Builder, Instruction, Opcode, Type, Value};

/// Parts of an element are at most so many.
const MOST_PARTS: i64 = 16;
/// To how many bytes it is aligned.
const ALIGNMENT: u32 = 64;

/// An element of a space that iterations of a loop pass on.
pub struct Register<'m> {
    /// The loop's variable.
    variable: usize,
    /// The number of the space's buffer.
    pub buffer: usize,
    /// Bytes of a part, of what type it is, and how many there are.
    unit: i64,
    ty: Type<'m>,
    parts: i64,
    /// By which numbers nests access it.
    users: Vec<(usize, Vec<Affine>)>,
    /// Whether somebody else needs it.
    is_kept: bool,
}

impl<'m> Register<'m> {
    /// All that there are in an order.
    pub fn all(plan: &Plan, stored: &[Stored<'m>]) -> Vec<Self> {
        let mut all = Vec::new();
        in_code(&plan.code, &plan.joined, &mut |one| {
            for (number, its) in stored.iter().enumerate() {
                all.extend(Self::of(one, number, its));
            }
        });
        all
    }

    fn of(one: &For, buffer: usize, stored: &Stored<'m>) -> Option<Self> {
        let mut runs = Vec::new();
        let unit = stored.unit().filter(|_| only_runs(&one.body, &mut runs))?;
        let parts = stored.element() / unit;
        if parts > MOST_PARTS {
            return None;
        }
        let mut uses = Vec::new();
        for (turn, &(nest, iteration)) in runs.iter().enumerate() {
            for place in stored.accesses(nest) {
                let numbers = place.index.iter();
                let element: Vec<_> = numbers.map(|one| Expression::of(one, iteration)).collect();
                uses.push((turn, nest, place, element));
            }
        }
        let is_store = |place: &Place<'m>| place.at.opcode() == Opcode::LLVMStore;
        let written = { uses.iter() }.find(|(turn, _, place, element)| {
            let is_first =
                |(before, _, other, its): &(usize, usize, Place<'m>, Vec<Expression>)| {
                    its != element || before > turn || before == turn && is_store(other)
                };
            place.covers && is_store(place) && uses.iter().all(is_first)
        });
        let (turn, _, place, element) = written?;
        let ty = place.at.operand(0).ty();
        let is_apart = |its: &[Expression]| {
            its.iter().zip(element).any(|(one, other)| {
                let ((one, first), (other, second)) = (one.split(), other.split());
                one == other && first != second
            })
        };
        let is_known = |one: &(usize, usize, Place<'m>, Vec<Expression>)| {
            one.3 == *element || is_apart(&one.3)
        };
        let is_used = uses.iter().any(|one| one.0 > *turn && one.3 == *element);
        if !is_used || !uses.iter().all(is_known) {
            return None;
        }
        let its = uses.iter().filter(|one| one.3 == *element);
        let mut users: Vec<(usize, Vec<Affine>)> = Vec::new();
        for (_, nest, place, _) in its.clone() {
            let user = (*nest, place.index.clone());
            if !users.contains(&user) {
                users.push(user);
            }
        }
        // Elsewhere nobody uses it where each element is of one iteration, and all that use the space are here.
        let is_all = its.count() == stored.uses();
        let rank = runs.first().map_or(0, |run| run.1.len());
        Some(Self {
            variable: one.variable,
            buffer,
            unit,
            ty,
            parts,
            is_kept: !is_all || !users.iter().all(|user| is_of_one(&user.1, rank)),
            users,
        })
    }

    /// By which numbers a nest accesses it.
    pub fn indices(&self, nest: usize) -> impl Iterator<Item = &Vec<Affine>> {
        let its = self.users.iter().filter(move |user| user.0 == nest);
        its.map(|user| &user.1)
    }

    /// Whether an access of a nest is to it.
    fn has(&self, nest: usize, index: &[Affine]) -> bool {
        self.users
            .iter()
            .any(|user| user.0 == nest && user.1 == index)
    }
}

/// Whether iterations with so many numbers each have an element of their own.
fn is_of_one(index: &[Affine], rank: usize) -> bool {
    (0..rank).all(|level| {
        let is_it = |(at, factor): (usize, &i64)| (*factor != 0) == (at == level);
        let mut numbers = index.iter();
        numbers.any(|one| {
            let has_it = one.iterators.len() > level;
            has_it && one.iterators.iter().enumerate().all(is_it)
        })
    })
}

fn in_code(code: &Code, joined: &[usize], found: &mut dyn FnMut(&For)) {
    match code {
        Code::Sequence(all) => all.iter().for_each(|one| in_code(one, joined, found)),
        Code::For(one) if joined.contains(&one.variable) => found(one),
        Code::For(one) => in_code(&one.body, joined, found),
        Code::If(one) => {
            in_code(&one.then, joined, found);
            { one.otherwise.iter() }.for_each(|one| in_code(one, joined, found));
        }
        Code::Run { .. } => {}
    }
}

/// A register that a loop has, and its variable.
pub type Taken<'a, 'm> = (&'a Register<'m>, Value<'m>);

impl<'a, 'm> Writer<'a, 'm> {
    /// Gives iterations of a loop's nests its registers.
    pub fn take_registers(&mut self, one: &For) -> Vec<Taken<'a, 'm>> {
        let none = self.module.pointer().zero();
        let its = { self.registers.iter() }.filter(|its| its.variable == one.variable);
        let mut all = Vec::new();
        for register in its {
            // Where there is no buffer iterations access the space.
            let has_none =
                |&(nest, _): &(usize, _)| self.values_of(nest, register.buffer)[0] == none;
            if register.users.iter().any(has_none) {
                continue;
            }
            let entry = Builder::at_entry(self.module, self.function);
            let ty = self
                .module
                .array(register.ty, register.parts.unsigned_abs());
            let variable = entry.alloca(ty, ALIGNMENT);
            self.own.extend(variable.as_instruction());
            self.hand_register(register, variable);
            all.push((register, variable));
        }
        all
    }

    fn hand_register(&mut self, register: &Register<'m>, value: Value<'m>) {
        for (nest, iteration) in self.iterations.iter().enumerate() {
            let buffers = iteration.buffers.iter().map(|one| one.1);
            let first = iteration.values.len() + buffers.sum::<usize>();
            for (at, (buffer, index)) in iteration.registers.iter().enumerate() {
                if *buffer == register.buffer && register.has(nest, index) {
                    self.handed[nest][first + at] = value;
                }
            }
        }
    }

    /// The values by which a nest finds elements of a buffer, the first of which is its address.
    fn values_of(&self, nest: usize, buffer: usize) -> &[Value<'m>] {
        let iteration = &self.iterations[nest];
        let mut first = iteration.values.len();
        for &(number, count) in &iteration.buffers {
            if number == buffer {
                return &self.handed[nest][first..first + count];
            }
            first += count;
        }
        unreachable!("it uses the buffer")
    }

    /// Has what others need of a loop's registers reach their buffers, at the end of its body. Returns what does.
    pub fn keep_registers(
        &mut self,
        one: &For,
        taken: &[Taken<'a, 'm>],
        block: Block<'m>,
    ) -> Vec<Instruction<'m>> {
        let module = self.module;
        let none = module.pointer().zero();
        let mut stores = Vec::new();
        for &(register, variable) in taken {
            if register.is_kept {
                let builder = self.at(block);
                let mut runs = Vec::new();
                only_runs(&one.body, &mut runs);
                let (nest, index) = &register.users[0];
                let iteration = runs.iter().find(|run| run.0 == *nest).map(|run| run.1);
                let iteration = iteration.into_iter().flatten();
                let iteration: Vec<_> = iteration.map(|one| self.number(&builder, one)).collect();
                let [buffer, _, values @ ..] = self.values_of(*nest, register.buffer) else {
                    unreachable!("it has an address");
                };
                let stored = &self.stored[register.buffer];
                for part in 0..register.parts {
                    let bytes = module.const_i64(part * register.unit);
                    let from = builder.element(module.int(8), variable, bytes);
                    let value = builder.load(register.ty, from);
                    let to = stored.address_of(
                        &builder,
                        *buffer,
                        index,
                        part * register.unit,
                        values,
                        &iteration,
                    );
                    builder.store(value, to);
                    let store = *block.instructions().last().expect("the store");
                    store.limit_alignment(1 << register.unit.trailing_zeros().min(6));
                    stores.push(store);
                }
            }
            self.hand_register(register, none);
        }
        stores
    }
}

/// Which of a nest's accesses go to registers.
pub fn taken_by<'m>(
    taken: &[Taken<'_, 'm>],
    stored: &[Stored<'m>],
    nest: usize,
) -> Vec<Instruction<'m>> {
    let its = taken.iter().flat_map(|(register, _)| {
        let places = stored[register.buffer].accesses(nest).into_iter();
        places.filter(|place| register.has(nest, &place.index))
    });
    its.map(|place| place.at).collect()
}
