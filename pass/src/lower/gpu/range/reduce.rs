//! What threads combine behind their loop: the work items of a block combine theirs, by exchange with others nearby where the
//! device has that, else in the block's memory, and the host combines what blocks have, in their order, with the program's own
//! function.
//!
//! Guarantee: what is combined with what, and in which order, is the same in each run and on each device.

use okl_abi::Effects;

use super::uniform::{Evaluated, Uniform};
use super::{Why, calls, items_of, steps, why, written};
use crate::analysis::runtime;
use crate::analysis::variables::is_harmless;
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type,
    Value,
};
use crate::lower::gpu::asked::{self, meet};
use crate::lower::gpu::reach::{self, Variables};
use crate::lower::gpu::target::{Exchange, GpuTarget};

/// Values that are combined.
#[derive(PartialEq)]
pub struct Combined {
    /// Where each is in the end, on the host, and how many bytes behind the first one of a block's it lies.
    pub targets: Vec<(Evaluated, i64)>,
    /// The function that combines all of two lists.
    pub combine: String,
    /// Bytes of a block's.
    pub bytes: i64,
}

/// Bytes of what is combined, at most: work items have so many each in their block's memory.
const MOST_BYTES: i64 = 768;

const NOT_UNDERSTOOD: &str = "it combines values in a way that is not understood";

/// What is combined in a body, where nothing is from then on, but for the call.
pub fn find<'d>(device: &'d Module, uniform: &Uniform<'d>) -> Result<Option<Combined>, Why> {
    let body = uniform.code.function();
    let all = calls(body).into_iter();
    let all: Vec<_> = all
        .filter(|call| runtime::effects(*call).has(Effects::REDUCES))
        .collect();
    let [call] = all[..] else {
        return match all.get(1) {
            None => Ok(None),
            Some(second) => why(
                Some(second.instruction()),
                "it combines values in several places",
            ),
        };
    };
    let at = call.instruction();
    let privates = privates(device, call)?;
    let combine = runtime::argument(call, "combine").and_then(Value::as_function);
    let Some(combine) = combine.filter(|one| !one.is_declaration()) else {
        return why(Some(at), NOT_UNDERSTOOD);
    };
    reach::check(device, &combine.blocks(), Variables::Constants).map_err(|(at, why)| Why {
        why,
        place: crate::diagnostic::place(at),
    })?;
    let targets = targets(device, uniform, call, &privates)?;
    let mut bytes = 0;
    let mut placed = Vec::new();
    for (one, target) in privates.iter().zip(targets) {
        let ty = one.allocated_type().expect("a stack variable");
        let align = i64::from(one.stack_alignment().max(8));
        bytes = (bytes + align - 1) / align * align;
        placed.push((target, bytes));
        bytes += device.size_of(ty) as i64;
    }
    // One block's lie behind the other's.
    bytes = (bytes + 15) / 16 * 16;
    if bytes > MOST_BYTES {
        return why(Some(at), "it combines values of too many bytes");
    }
    let combined = Combined {
        targets: placed,
        combine: combine.name(),
        bytes,
    };
    for user in at.instruction_users() {
        for (index, operand) in user.operands().into_iter().enumerate() {
            if operand == *at {
                user.set_operand(index, at.ty().zero());
            }
        }
    }
    Ok(Some(combined))
}

/// Checks that what a thread combines is what its iterations made of it: behind cleaning up.
pub fn check<'d>(
    device: &'d Module,
    body: Function<'d>,
    is_inside: &dyn Fn(Instruction<'d>) -> bool,
    is_behind: &dyn Fn(Instruction<'d>) -> bool,
) -> Result<(), Why> {
    let all = calls(body).into_iter();
    for call in all.filter(|call| runtime::effects(*call).has(Effects::REDUCES)) {
        for variable in privates(device, call)? {
            for at in body.instructions() {
                if is_inside(at) || is_harmless(at) || at == call.instruction() {
                    continue;
                }
                let reads = address_read(at).is_some_and(|from| steps::object(from) == *variable);
                let writes = written(at).is_some_and(|to| steps::object(to) == *variable);
                if reads || writes && is_behind(at) {
                    let told = "outside of the loop each thread has a part in what is combined";
                    return why(Some(at), told);
                }
            }
        }
    }
    Ok(())
}

fn address_read(at: Instruction<'_>) -> Option<Value<'_>> {
    match at.opcode() {
        Opcode::LLVMLoad => Some(at.operand(0)),
        Opcode::LLVMCall => {
            let call = at.as_call()?;
            let name = call.callee_name();
            let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
            copies.then(|| call.arguments()[1])
        }
        _ => None,
    }
}

/// The variables whose values a thread gives, in the order of the list.
pub fn privates<'d>(device: &'d Module, call: Call<'d>) -> Result<Vec<Instruction<'d>>, Why> {
    let at = call.instruction();
    let told = || why(Some(at), NOT_UNDERSTOOD);
    let [list, count] = ["list", "items"].map(|name| runtime::argument(call, name));
    let (Some(list), Some(count)) = (list, count.and_then(Value::as_constant_int)) else {
        return told();
    };
    if list.as_op(Opcode::LLVMAlloca).is_none() {
        return told();
    }
    let stores = at.function().instructions().into_iter();
    let stores: Vec<_> = stores
        .filter(|one| one.opcode() == Opcode::LLVMStore)
        .collect();
    let mut all = Vec::new();
    for index in 0..count {
        let mut its = stores
            .iter()
            .filter(|one| one.operand(1).offset_in_object(device) == (list, 8 * index));
        let (Some(store), None) = (its.next(), its.next()) else {
            return told();
        };
        let value = store.operand(0);
        if !value.ty().is_pointer() {
            return told();
        }
        let variable = match value.offset_in_object(device) {
            (base, 0) => base.as_op(Opcode::LLVMAlloca),
            _ => None,
        };
        let is_single = |one: &Instruction<'d>| {
            one.operand(0).as_constant_int() == Some(1)
                && one
                    .allocated_type()
                    .is_some_and(|ty| !ty.is_pointer() && !ty.has_pointers())
        };
        if variable.is_some_and(|one| one.operand(0).as_constant_int() != Some(1)) {
            return why(Some(at), "it combines arrays whose sizes are computed");
        }
        match variable.filter(is_single) {
            Some(variable) => all.push(variable),
            None => return told(),
        }
    }
    Ok(all)
}

/// Where the values go, in the order of the list: found where one thread combines them.
fn targets<'d>(
    device: &'d Module,
    uniform: &Uniform<'d>,
    call: Call<'d>,
    privates: &[Instruction<'d>],
) -> Result<Vec<Evaluated>, Why> {
    let at = call.instruction();
    let told = |at: Instruction<'d>| why(Some(at), NOT_UNDERSTOOD);
    let users = at.instruction_users();
    let switch = users.iter().find(|one| one.opcode() == Opcode::LLVMSwitch);
    let first = switch.and_then(|switch| {
        let (cases, _) = switch.cases();
        cases
            .into_iter()
            .find(|(case, _)| case.as_constant_int() == Some(1))
    });
    let Some((_, first)) = first else {
        return told(at);
    };
    let ends = |one: Instruction<'d>| {
        let call = one.as_call();
        call.is_some_and(|call| call.callee_name().starts_with("__kmpc_end_reduce"))
    };
    let mut reached = vec![first];
    let mut index = 0;
    while let Some(&block) = reached.get(index) {
        if !block.instructions().into_iter().any(ends) {
            reached.extend(
                block
                    .successors()
                    .into_iter()
                    .filter(|one| !reached.contains(one))
                    .collect::<Vec<_>>(),
            );
        }
        index += 1;
    }
    let mut found: Vec<Option<(Evaluated, i64)>> = vec![None; privates.len()];
    let mut current: Option<usize> = None;
    let mut first_read = vec![i64::MAX; privates.len()];
    let blocks = at.function().blocks();
    for block in blocks.into_iter().filter(|block| reached.contains(block)) {
        for one in block.instructions() {
            if ends(one) {
                break;
            }
            if let Some(from) = address_read(one) {
                let object = steps::object(from);
                if let Some(which) = privates.iter().position(|private| **private == object) {
                    let is_next = match current {
                        None => which == 0,
                        Some(current) => {
                            which == current || which == current + 1 && found[current].is_some()
                        }
                    };
                    let (base, bytes) = steps::first(device, from);
                    if !is_next || base != object {
                        return told(one);
                    }
                    current = Some(which);
                    first_read[which] = first_read[which].min(bytes);
                }
            }
            if !one.may_write() || is_harmless(one) {
                continue;
            }
            let Some(to) = written(one)
                .filter(|_| one.opcode() == Opcode::LLVMStore || one.as_call().is_some())
            else {
                return told(one);
            };
            if steps::object(to).as_op(Opcode::LLVMAlloca).is_some() {
                continue;
            }
            let (base, bytes) = steps::first(device, to);
            let (Some(current), Some(Evaluated::Behind(base, 0))) =
                (current, uniform.evaluated(base))
            else {
                return told(one);
            };
            let is_others = found.iter().enumerate().any(|(other, known)| {
                other != current
                    && known
                        .as_ref()
                        .is_some_and(|(known, at)| *known == *base && *at == bytes)
            });
            if is_others {
                return told(one);
            }
            match &mut found[current] {
                Some((known, first)) if *known == *base => *first = bytes.min(*first),
                Some(_) => return told(one),
                none => *none = Some((*base, bytes)),
            }
        }
    }
    let mut all = Vec::new();
    for ((one, read), private) in found.into_iter().zip(first_read).zip(privates) {
        let Some((base, bytes)) = one else {
            return told(at);
        };
        // Of a struct's members another one may be read than is written: where it begins is known of what begins with both.
        if has_members(private) && (read, bytes) != (0, 0) {
            return told(at);
        }
        all.push(Evaluated::Behind(Box::new(base), bytes - read));
    }
    Ok(all)
}

/// Whether a variable is a struct, or an array of them.
fn has_members(variable: &Instruction<'_>) -> bool {
    let mut ty = variable.allocated_type();
    while let Some(element) = ty.and_then(Type::array_element) {
        ty = Some(element);
    }
    ty.is_none_or(Type::is_aggregate)
}

/// Bytes of what work items exchange without memory, at most.
const MOST_EXCHANGED: i64 = 64;

/// Work items that may do so, and how many other ones of a block's follow each other so far apart.
const ROW: i64 = 32;

/// Where the work items of a block combine what they have.
struct Meeting<'d, 'a> {
    device: &'d Module,
    target: &'a GpuTarget,
    /// The call behind which nothing is combined any more.
    at: Instruction<'d>,
    /// The work item's number, and how many there are.
    item: Value<'d>,
    items: i64,
    /// What it has, and the function that adds to it what others have.
    privates: Vec<Instruction<'d>>,
    combine: Function<'d>,
    /// The lists that the function is passed.
    own: Value<'d>,
    others: Value<'d>,
}

/// Has the work items of a block combine what they have, and the first one leave it to the host. On all devices in the same
/// order: those of a row, 16 apart first, and then the first ones of the rows.
pub fn emit<'d>(
    device: &'d Module,
    body: Function<'d>,
    start: Instruction<'d>,
    combined: &Combined,
    [block, item, results]: [Value<'d>; 3],
    which: usize,
    target: &GpuTarget,
) -> Result<(), Why> {
    let all = calls(body).into_iter();
    let mut all = all.filter(|call| runtime::effects(*call).has(Effects::REDUCES));
    let Some(call) = all.next() else {
        return why(None, "what it combines is never combined");
    };
    let privates = privates(device, call)?;
    let front = Builder::before(device, start);
    let list = device.array(device.pointer(), privates.len() as u64);
    let [own, others] = [(); 2].map(|()| front.alloca(list, 8));
    let meeting = Meeting {
        device,
        target,
        at: call.instruction(),
        item,
        items: items_of(combined.bytes),
        privates,
        combine: device.function(&combined.combine).expect("it is there"),
        own,
        others,
    };
    let leave = |builder: &Builder<'d>, from: &[Value<'d>]| {
        let bytes = device.const_i64(combined.bytes);
        let place = builder.binary(Opcode::LLVMMul, block, bytes);
        let place = builder.element(device.int(8), results, place);
        for ((from, ty), (_, bytes)) in from.iter().zip(meeting.types()).zip(&combined.targets) {
            meeting.copy(builder, builder.offset(place, *bytes), *from, ty);
        }
    };
    let exchange = target.exchange.as_ref();
    match exchange.filter(|_| combined.bytes <= MOST_EXCHANGED) {
        Some(exchange) => meeting.by_exchange(&front, exchange, which, &leave),
        None => meeting.by_memory(which, &leave),
    }
    Ok(())
}

/// Whether a work item is one that is meant.
type Asks<'a, 'd> = &'a dyn Fn(&Builder<'d>) -> Value<'d>;

/// What it does then.
type Does<'a, 'd> = &'a dyn Fn(&Builder<'d>);

/// Leaves to the host what lies at some addresses.
type Leave<'a, 'd> = &'a dyn Fn(&Builder<'d>, &[Value<'d>]);

impl<'d> Meeting<'d, '_> {
    fn types(&self) -> impl Iterator<Item = Type<'d>> + '_ {
        let types = self.privates.iter().map(|one| one.allocated_type());
        types.map(|ty| ty.expect("a stack variable"))
    }

    /// Memory of the block's for what so many work items have, for each value.
    fn memory(&self, which: usize, count: i64) -> Vec<Value<'d>> {
        let all = self.privates.iter().zip(self.types()).enumerate();
        all.map(|(number, (one, ty))| {
            let array = self.device.array(ty, count as u64);
            let name = format!("okl_combined_{which}_{number}");
            let (space, align) = (self.target.shared_space, one.stack_alignment().max(16));
            self.device.add_in_space(&name, array, space, align)
        })
        .collect()
    }

    fn copy(&self, builder: &Builder<'d>, to: Value<'d>, from: Value<'d>, ty: Type<'d>) {
        let (size, align) = (self.device.size_of(ty) as i64, self.device.align_of(ty));
        builder.copy_aligned(to, from, size, align);
    }

    /// Has only those work items do something that are asked for, and of these only those the next thing that are asked for
    /// then.
    fn under(&self, steps: &[(Asks<'_, 'd>, Does<'_, 'd>)]) {
        let (device, at) = (self.device, self.at);
        let mut before: Block<'d> = at.block();
        let rest = at.split_before();
        before.terminator().expect("a complete block").erase();
        for (asks, does) in steps {
            let builder = Builder::at_end_like(device, before, at);
            let inside = before.function().append_block(device);
            builder.go_if(asks(&builder), inside, rest);
            does(&Builder::at_end_like(device, inside, at));
            before = inside;
        }
        Builder::at_end_like(device, before, at).go(rest);
    }

    fn is_below(&self, builder: &Builder<'d>, value: Value<'d>, end: i64) -> Value<'d> {
        let less = Comparison::Integer(IntPredicate::LLVMIntULT);
        builder.ask(less, value, self.device.const_i64(end))
    }

    /// The number of the work item in its row, and that of the row.
    fn place(&self, builder: &Builder<'d>) -> [Value<'d>; 2] {
        [
            builder.and(self.item, self.device.const_i64(ROW - 1)),
            builder.shift_right(self.item, ROW.ilog2()),
        ]
    }

    /// Adds to what lies at some addresses what lies at others.
    fn combine(&self, builder: &Builder<'d>, own: &[Value<'d>], others: &[Value<'d>]) {
        for (list, all) in [(self.own, own), (self.others, others)] {
            for (number, one) in all.iter().enumerate() {
                builder.store(*one, builder.offset(list, 8 * number as i64));
            }
        }
        let call = builder.call(self.combine, &[self.own, self.others]);
        let call = call.as_instruction().and_then(|call| call.as_call());
        call.expect("a call").inline_always(self.device);
    }

    /// In memory of the block's.
    fn by_memory(&self, which: usize, leave: Leave<'_, 'd>) {
        let (device, target) = (self.device, self.target);
        let shared = self.memory(which, self.items);
        let builder = Builder::before(device, self.at);
        for ((shared, private), ty) in shared.iter().zip(&self.privates).zip(self.types()) {
            let to = builder.element(ty, *shared, self.item);
            self.copy(&builder, to, **private, ty);
        }
        meet(&builder, target);
        let of_row = [16, 8, 4, 2, 1].map(|apart| (apart, true));
        let mut apart = self.items / ROW / 2;
        let of_rows = std::iter::from_fn(|| {
            let now = apart;
            apart /= 2;
            (now > 0).then_some((now, false))
        });
        for (apart, is_row) in of_row.into_iter().chain(of_rows) {
            let is_one = |builder: &Builder<'d>| {
                let [in_row, row] = self.place(builder);
                match is_row {
                    true => self.is_below(builder, in_row, apart),
                    false => builder.and(
                        self.is_below(builder, in_row, 1),
                        self.is_below(builder, row, apart),
                    ),
                }
            };
            let adds = |builder: &Builder<'d>| {
                let far = if is_row { apart } else { ROW * apart };
                let other = builder.plus(self.item, far);
                let [own, others] = [self.item, other].map(|item| {
                    let all = shared.iter().zip(self.types());
                    all.map(|(shared, ty)| builder.element(ty, *shared, item))
                        .collect::<Vec<_>>()
                });
                self.combine(builder, &own, &others);
            };
            self.under(&[(&is_one, &adds)]);
            meet(&Builder::before(device, self.at), target);
        }
        self.under(&[(
            &|builder| self.is_below(builder, self.item, 1),
            &|builder| {
                leave(builder, &shared);
            },
        )]);
    }

    /// By exchange with others of the row, and then by the first row what the first ones of all rows have.
    fn by_exchange(
        &self,
        front: &Builder<'d>,
        exchange: &Exchange,
        which: usize,
        leave: Leave<'_, 'd>,
    ) {
        let (device, rows) = (self.device, self.items / ROW);
        let short = device.int(32);
        // What is exchanged are numbers of 32 bits.
        let words = |ty: Type<'d>| (device.size_of(ty) as i64 + 3) / 4;
        let room = |ty: Type<'d>| {
            front.alloca(
                device.array(short, words(ty) as u64),
                device.align_of(ty).max(8),
            )
        };
        let rooms: Vec<_> = self.types().map(|ty| [(); 2].map(|()| room(ty))).collect();
        let privates: Vec<_> = self.privates.iter().map(|one| **one).collect();
        let step = |builder: &Builder<'d>, apart: i64| {
            for ((private, ty), [own, other]) in privates.iter().zip(self.types()).zip(&rooms) {
                let size = device.size_of(ty) as i64;
                let is_in_words = size % 4 == 0 && device.align_of(ty) >= 4;
                let from = match is_in_words {
                    true => *private,
                    false => {
                        if size % 4 != 0 {
                            let last = builder.offset(*own, size / 4 * 4);
                            builder.store(device.const_i32(0), last);
                        }
                        self.copy(builder, *own, *private, ty);
                        *own
                    }
                };
                for word in 0..words(ty) {
                    let value = builder.load(short, builder.offset(from, 4 * word));
                    let value = asked::other(builder, exchange, value, apart as i32);
                    builder.store(value, builder.offset(*other, 4 * word));
                }
            }
            let others: Vec<_> = rooms.iter().map(|[_, other]| *other).collect();
            self.combine(builder, &privates, &others);
        };
        let shared = self.memory(which, rows);
        let builder = Builder::before(device, self.at);
        for apart in [16, 8, 4, 2, 1] {
            step(&builder, apart);
        }
        let is_first = |builder: &Builder<'d>| {
            let [in_row, _] = self.place(builder);
            self.is_below(builder, in_row, 1)
        };
        let stores = |builder: &Builder<'d>| {
            let [_, row] = self.place(builder);
            for ((shared, private), ty) in shared.iter().zip(&privates).zip(self.types()) {
                self.copy(builder, builder.element(ty, *shared, row), *private, ty);
            }
        };
        self.under(&[(&is_first, &stores)]);
        meet(&Builder::before(device, self.at), self.target);
        let is_in_first = |builder: &Builder<'d>| self.is_below(builder, self.item, ROW);
        let adds = |builder: &Builder<'d>| {
            // All of the row exchange, and have something.
            let row = builder.and(self.item, device.const_i64(rows - 1));
            for ((shared, private), ty) in shared.iter().zip(&privates).zip(self.types()) {
                self.copy(builder, *private, builder.element(ty, *shared, row), ty);
            }
            let mut apart = rows / 2;
            while apart > 0 {
                step(builder, apart);
                apart /= 2;
            }
        };
        let is_first = |builder: &Builder<'d>| self.is_below(builder, self.item, 1);
        let leaves = |builder: &Builder<'d>| leave(builder, &privates);
        self.under(&[(&is_in_first, &adds), (&is_first, &leaves)]);
    }
}
