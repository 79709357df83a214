//! Variables of which each work item of a block has one, as arrays.
//!
//! Guarantee: what outlives a nest, or a piece of it, is an array with room for all work items that there may be, and each
//! uses its own. Others stay as they are. An array of an item lies component by component, where nothing is done with it
//! but that its scalars are read and written: then those of neighbouring items are side by side.

use std::collections::{HashMap, HashSet};

use super::room::Rooms;
use super::{Nest, Wrong};
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::ir::{Counter, ParallelLoop};
use crate::llvm::{
    Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type, Value,
};

/// Alignment of what work items share or have one each of.
pub(super) const ALIGNMENT: u32 = 64;
/// Bytes of the arrays of one variable, and of all that a block shares: they are on the stack.
pub(super) const MOST_BYTES: u64 = 4 << 20;
/// Directions of a block of work items.
const AXES: usize = ParallelLoop::MOST_EXTENTS;

/// A variable of which each work item has one.
pub(super) struct Array<'m> {
    variable: Instruction<'m>,
    /// Where it is declared, or first used.
    pub(super) site: Instruction<'m>,
    /// Work items of a block, where the compiler knows that.
    count: u64,
    /// Whether the program counts the work items, and not the compiler.
    pub(super) is_computed: bool,
    /// The work items that there are room for, by direction.
    room: [i64; AXES],
    /// What mentions it, and the nest that that is in.
    users: Vec<(usize, Instruction<'m>)>,
    /// Behind these it is the same for all work items.
    pub(super) fills: Vec<Instruction<'m>>,
    /// Where it lies component by component.
    components: Option<Components<'m>>,
}

/// The scalars that an array consists of.
struct Components<'m> {
    scalar: Type<'m>,
    count: u64,
}

/// What mentions a variable.
pub(super) fn users<'m>(variable: Instruction<'m>) -> Vec<Instruction<'m>> {
    let all = variable.instruction_users().into_iter();
    all.filter(|one| !is_harmless(*one)).collect()
}

fn nest_of<'m>(nests: &[Nest<'m>], at: Instruction<'m>) -> Option<usize> {
    nests.iter().position(|nest| nest.segment_of(at).is_some())
}

/// What becomes of a variable that each work item has: nothing where it does not outlive a nest.
pub(super) fn exclusive<'m>(
    module: &Module,
    variable: Instruction<'m>,
    site: Call<'m>,
    nests: &[Nest<'m>],
) -> Result<Option<Array<'m>>, Wrong<'m>> {
    let mut inside = Vec::new();
    let mut outside: Vec<Instruction<'m>> = Vec::new();
    for one in users(variable) {
        match nest_of(nests, one) {
            Some(nest) => inside.push((nest, one)),
            None => outside.push(one),
        }
    }
    let counts = |one: &&Instruction<'m>| {
        let block = one.block();
        nests
            .iter()
            .any(|nest| nest.outermost().blocks.contains(&block))
    };
    if let Some(one) = outside.iter().find(counts) {
        let told = "an @exclusive variable is used inside of all @inner loops of a nest only";
        return Err((*one, told.to_string()));
    }
    let uses = uses(variable);
    let mut fills: Vec<Instruction<'m>> = Vec::new();
    for (one, _) in uses
        .iter()
        .filter(|(one, _)| nest_of(nests, *one).is_none())
    {
        let rest = one
            .block()
            .instructions()
            .into_iter()
            .skip_while(|other| other != one);
        if rest.clone().count() < 2 {
            let told = "what this @exclusive variable begins with is computed by what may fail";
            return Err((*one, told.to_string()));
        }
        let others = uses.iter().map(|(other, _)| *other);
        let mut others = others.filter(|other| other != one);
        // The last one of a block is enough.
        if !others.any(|other| rest.clone().any(|one| one == other)) && !fills.contains(one) {
            fills.push(*one);
        }
    }
    let mut places: Vec<_> = uses
        .iter()
        .filter_map(|(one, _)| {
            let nest = nest_of(nests, *one)?;
            Some((nest, nests[nest].segment_of(*one)))
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    let is_unknown = uses.iter().any(|(_, does)| *does == Does::Unknown);
    let outlives = places.len() > 1
        || places.iter().any(|&(nest, segment)| {
            let since = site.instruction();
            segment.is_some_and(|segment| nests[nest].repeats(segment, since))
        })
        || is_unknown
        || !fills.is_empty();
    if !outlives || inside.is_empty() {
        return Ok(None);
    }
    array(module, variable, site.instruction(), nests, inside, fills).map(Some)
}

/// The variables of an iteration that are needed behind a barrier in it.
pub(super) fn private<'m>(
    module: &Module,
    kernel: Function<'m>,
    nest: usize,
    nests: &[Nest<'m>],
) -> Result<Vec<Array<'m>>, Wrong<'m>> {
    let mut reached = HashSet::new();
    let mut rest = vec![kernel.blocks()[0]];
    while let Some(block) = rest.pop() {
        if reached.insert(block) {
            rest.extend(block.successors());
        }
    }
    // Nothing leaves a nest that is cut by an exception.
    reached.retain(|block| !nests[nest].leaving.contains(block));
    let entry = kernel.blocks()[0].instructions().into_iter();
    let variables = entry.filter(|one| one.opcode() == Opcode::LLVMAlloca);
    let mut arrays = Vec::new();
    for variable in variables {
        let mut inside = users(variable);
        inside.retain(|one| reached.contains(&one.block()));
        let here = &nests[nest];
        let is_here = |one: &Instruction<'m>| here.segment_of(*one).is_some();
        if inside.is_empty() || !inside.iter().all(is_here) || !is_own(variable) {
            continue;
        }
        let uses = uses(variable);
        let first = here.segment_of(inside[0]).expect("it is there");
        let pieces = here.pieces.as_ref().expect("it is split");
        let lives_on =
            pieces.repeats(first) && pieces.pieces[first].begins_with(variable, &pieces.cuts);
        let outlives = lives_on
            || uses.iter().any(|(one, does)| {
                let is_reached = reached.contains(&one.block());
                *does == Does::Unknown || is_reached && here.segment_of(*one) != Some(first)
            });
        if outlives {
            let all = kernel.instructions();
            let at = |one: &Instruction<'m>| all.iter().position(|other| other == one);
            let site = *inside.iter().min_by_key(|one| at(one)).expect("it is used");
            let inside: Vec<_> = inside.into_iter().map(|one| (nest, one)).collect();
            arrays.push(array(module, variable, site, nests, inside, Vec::new())?);
        }
    }
    Ok(arrays)
}

/// Whether nothing is said of a variable: it is one of each iteration then.
fn is_own(variable: Instruction<'_>) -> bool {
    let mut users = variable.instruction_users().into_iter();
    let is_said = |one: Instruction<'_>| {
        let call = one.as_call();
        call.is_some_and(|call| call.callee_name().starts_with("llvm.var.annotation"))
    };
    !users.any(is_said)
}

fn array<'m>(
    module: &Module,
    variable: Instruction<'m>,
    site: Instruction<'m>,
    nests: &[Nest<'m>],
    users: Vec<(usize, Instruction<'m>)>,
    fills: Vec<Instruction<'m>>,
) -> Result<Array<'m>, Wrong<'m>> {
    let mut room = [1_i64; AXES];
    let mut is_computed = false;
    for (at, _) in &users {
        for extent in &nests[*at].extents {
            let last = extent.last.and_then(|last| last.as_constant_int());
            let axis = extent.counter.as_ref().map_or(0, |one| one.axis);
            match last.or(extent.most) {
                Some(last) => room[axis] = room[axis].max(last.saturating_add(1)),
                None => is_computed = true,
            }
        }
    }
    let count = room.iter().try_fold(1_u64, |count, &room| {
        count.checked_mul(u64::try_from(room).ok()?)
    });
    let size = |count: u64| stride(module, variable)?.checked_mul(count);
    match count.filter(|&count| size(count).is_some_and(|bytes| bytes <= MOST_BYTES)) {
        Some(count) => Ok(Array {
            components: Components::of(module, variable)
                .filter(|_| fills.is_empty() && !is_computed),
            variable,
            site,
            count,
            is_computed,
            room,
            users,
            fills,
        }),
        None => {
            let told = "a variable for each work item of a block does not fit on the stack";
            Err((site, told.to_string()))
        }
    }
}

/// Has an instruction use another address.
fn redirect<'m>(user: Instruction<'m>, from: Value<'m>, to: Value<'m>) {
    for (operand, value) in user.operands().into_iter().enumerate() {
        if value == from {
            user.set_operand(operand, to);
        }
    }
}

impl<'m> Components<'m> {
    /// Of a variable that is an array of which nothing but scalars is accessed.
    fn of(module: &Module, variable: Instruction<'m>) -> Option<Self> {
        let ty = variable.allocated_type().filter(|ty| ty.is_array())?;
        let mut scalar = ty;
        while let Some(part) = scalar.array_element() {
            scalar = part;
        }
        let size = module.size_of(scalar);
        let is_scalar = scalar.is_integer() || scalar.is_float_or_double() || scalar.is_pointer();
        let is_whole = size == module.store_size_of(scalar);
        let one = Self {
            scalar,
            count: module.size_of(ty).checked_div(size)?,
        };
        let is_plain = u64::from(variable.stack_alignment()) <= u64::from(ALIGNMENT);
        let mut users = variable.instruction_users().into_iter();
        (is_scalar
            && is_whole
            && is_plain
            && users.all(|user| one.is_known(module, user, *variable)))
        .then_some(one)
    }

    /// Whether all that is done with an address is to access scalars.
    fn is_known(&self, module: &Module, user: Instruction<'m>, address: Value<'m>) -> bool {
        let accesses = |value: Value<'m>| user.is_plain_access() && value.ty() == self.scalar;
        match user.opcode() {
            Opcode::LLVMLoad => accesses(*user),
            Opcode::LLVMStore => user.operand(0) != address && accesses(user.operand(0)),
            Opcode::LLVMGetElementPtr => {
                let mut users = user.instruction_users().into_iter();
                self.steps(module, user).is_some()
                    && users.all(|one| self.is_known(module, one, *user))
            }
            _ => is_harmless(user),
        }
    }

    /// The indices by which an address is computed, and how many scalars each is worth.
    fn steps(&self, module: &Module, part: Instruction<'m>) -> Option<Vec<(Value<'m>, u64)>> {
        let size = module.size_of(self.scalar);
        let mut ty = part.source_element_type()?;
        let mut steps = Vec::new();
        for (at, index) in part.operands().into_iter().skip(1).enumerate() {
            if at > 0 {
                ty = ty.array_element()?;
            }
            let bytes = module.size_of(ty);
            if !bytes.is_multiple_of(size) || !index.ty().is_integer() {
                return None;
            }
            steps.push((index, bytes / size));
        }
        Some(steps)
    }

    /// Has what uses an address use that of the same part of a work item's.
    fn lead(
        &self,
        module: &'m Module,
        user: Instruction<'m>,
        from: Value<'m>,
        to: Value<'m>,
        pitch: u64,
    ) {
        if user.opcode() != Opcode::LLVMGetElementPtr {
            // The first one of an item's array may have been at the beginning of a larger part.
            user.limit_alignment(module.align_of(self.scalar));
            return redirect(user, from, to);
        }
        let builder = Builder::before(module, user);
        builder.stand_at(user);
        let steps = self.steps(module, user).expect("it was looked at before");
        let mut address = to;
        for (index, scalars) in steps {
            if index.as_constant_int() != Some(0) {
                let index = builder.sign_extend(index, module.int(64));
                let ty = module.array(self.scalar, scalars * pitch);
                address = builder.element(ty, address, index);
            }
        }
        // What computes the old address stays: others know the code that it is in by it.
        for one in user.instruction_users() {
            self.lead(module, one, *user, address, pitch);
        }
    }
}

/// Bytes of an array for each work item: as many as keep the alignment that the variable's users rely on.
fn stride(module: &Module, variable: Instruction<'_>) -> Option<u64> {
    let size = module.size_of(variable.allocated_type()?);
    Some(size.next_multiple_of(u64::from(variable.stack_alignment()).max(1)))
}

/// What an array has for each work item.
fn element<'m>(module: &'m Module, variable: Instruction<'m>) -> Option<Type<'m>> {
    let ty = variable.allocated_type()?;
    let stride = stride(module, variable)?;
    Some(match stride == module.size_of(ty) {
        true => ty,
        false => module.array(module.int(8), stride),
    })
}

/// A variable that counts the iterations of a loop from 0.
pub(super) fn count_in<'m>(
    module: &'m Module,
    kernel: Function<'m>,
    counter: &Counter<'m>,
) -> Value<'m> {
    let int = module.int(64);
    let count = Builder::at_entry(module, kernel).alloca(int, 8);
    let builder = Builder::before(module, counter.begins);
    builder.store(module.const_i64(0), count);
    let builder = Builder::before(module, counter.steps);
    let before = builder.load(int, count);
    builder.store(builder.plus(before, 1), count);
    count
}

impl<'m> Array<'m> {
    pub(super) fn emit(
        &self,
        module: &'m Module,
        kernel: Function<'m>,
        nests: &[Nest<'m>],
        jumps: &HashMap<usize, Instruction<'m>>,
        counts: &HashMap<Instruction<'m>, Value<'m>>,
        rooms: Option<&Rooms<'_, 'm>>,
    ) -> Value<'m> {
        let rooms = rooms.filter(|_| self.is_computed);
        let (ty, count) = match &self.components {
            Some(one) => (one.scalar, one.count * self.pitch(module, one)),
            None => {
                let ty = element(module, self.variable).expect("a stack variable");
                (ty, self.count)
            }
        };
        let alignment = ALIGNMENT.max(self.variable.stack_alignment());
        let all = match rooms {
            Some(rooms) => rooms.array(module, ty, alignment),
            None => {
                let entry = Builder::at_entry(module, kernel);
                entry.alloca(module.array(ty, count), alignment)
            }
        };
        let mut addresses: HashMap<usize, Value<'m>> = HashMap::new();
        for &(at, user) in &self.users {
            let address = *addresses.entry(at).or_insert_with(|| {
                let jump = jumps[&at];
                let number = self.number(module, (at, &nests[at]), jump, counts, rooms);
                Builder::before(module, jump).element(ty, all, number)
            });
            match &self.components {
                Some(one) => {
                    let pitch = self.pitch(module, one);
                    one.lead(module, user, *self.variable, address, pitch);
                }
                None => redirect(user, *self.variable, address),
            }
        }
        let count = rooms.map_or(module.const_i64(self.count as i64), |rooms| rooms.items);
        let is_early = |fill: &Instruction<'m>| rooms.is_some_and(|rooms| rooms.is_early(*fill));
        let (early, fills): (Vec<_>, Vec<_>) = self.fills.iter().partition(|one| is_early(one));
        // There is no array yet where they stand.
        let at = all.as_instruction().filter(|_| !early.is_empty());
        for fill in fills.into_iter().chain(at) {
            self.fill(module, kernel, fill, all, count);
        }
        all
    }

    /// The nests whose work items use it.
    pub(super) fn nests(&self) -> impl Iterator<Item = usize> + '_ {
        self.users.iter().map(|&(at, _)| at)
    }

    /// Bytes of it for each work item.
    pub(super) fn item_bytes(&self, module: &Module) -> u64 {
        stride(module, self.variable).unwrap_or(u64::MAX)
    }

    /// Whether work items of a nest use it.
    pub(super) fn is_used_in(&self, nest: usize) -> bool {
        self.users.iter().any(|&(at, _)| at == nest)
    }

    /// Bytes of it, where the compiler knows how many there are.
    pub(super) fn bytes(&self, module: &Module) -> u64 {
        match &self.components {
            _ if self.is_computed => 0,
            Some(one) => {
                let scalars = one.count.saturating_mul(self.pitch(module, one));
                scalars.saturating_mul(module.size_of(one.scalar))
            }
            None => {
                let each = stride(module, self.variable).unwrap_or(0);
                each.saturating_mul(self.count)
            }
        }
    }

    /// How many scalars are from a component to the next one.
    fn pitch(&self, module: &Module, one: &Components<'m>) -> u64 {
        let size = module.size_of(one.scalar);
        // At such a distance, components would be in the same place of a cache.
        let is_bad = (self.count * size).is_multiple_of(2048) && one.count > 1;
        match is_bad {
            true => self.count + u64::from(ALIGNMENT).div_ceil(size),
            false => self.count,
        }
    }

    /// The number of a work item, in front of the code that it runs.
    fn number(
        &self,
        module: &'m Module,
        (at, nest): (usize, &Nest<'m>),
        jump: Instruction<'m>,
        counts: &HashMap<Instruction<'m>, Value<'m>>,
        rooms: Option<&Rooms<'_, 'm>>,
    ) -> Value<'m> {
        let mut number = module.const_i64(0);
        for (axis, _) in self.room.iter().enumerate().rev() {
            let of_axis = nest.extents.iter().find_map(|extent| {
                let counter = extent.counter.as_ref().filter(|one| one.axis == axis)?;
                Some((extent, counts[&counter.steps]))
            });
            let Some((extent, count)) = of_axis else {
                continue;
            };
            let room = match rooms {
                Some(rooms) => rooms.axes[axis],
                None => module.const_i64(self.room[axis]),
            };
            let builder = Builder::before(module, jump);
            let count = builder.load(module.int(64), count);
            if let Some(rooms) = rooms {
                rooms.look(module, at, axis, count, jump);
            } else if extent.last.is_none() {
                let is_less = Comparison::Integer(IntPredicate::LLVMIntUGE);
                let then = jump.insert_if(builder.ask(is_less, count, room));
                Builder::before(module, then).trap();
            }
            let builder = Builder::before(module, jump);
            number = builder.sum(builder.multiply(number, room), count);
        }
        number
    }

    /// Gives all work items what the variable is behind an instruction.
    fn fill(
        &self,
        module: &'m Module,
        kernel: Function<'m>,
        behind: Instruction<'m>,
        all: Value<'m>,
        count: Value<'m>,
    ) {
        let ty = self.variable.allocated_type().expect("a stack variable");
        let element = element(module, self.variable).expect("a stack variable");
        let instructions = behind.block().instructions();
        let at = instructions.iter().position(|one| *one == behind);
        let next = instructions[at.expect("it stands in its block") + 1];
        let before = next.block();
        let after = next.split_before();
        let inside = kernel.append_block(module);
        let jump = before.terminator().expect("a complete block");
        jump.set_operand(0, inside.label());
        let builder = Builder::at_end_like(module, inside, behind);
        let number = builder.phi(module.int(64));
        let to = builder.element(element, all, number);
        let align = module.align_of(ty);
        let bytes = module.size_of(ty) as i64;
        builder.copy_aligned(to, *self.variable, bytes, align);
        let more = builder.plus(number, 1);
        let is_end = builder.compare(more, count, false);
        builder.go_if(is_end, after, inside);
        number.add_incoming(module.const_i64(0), before);
        number.add_incoming(more, inside);
    }
}
