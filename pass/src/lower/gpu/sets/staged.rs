//! What a block adds to elements through maps, staged in memory that its work items share.
//!
//! Guarantee: an element that the block leads to is read and written once for each group of arguments, without atomic
//! operations, by one work item, which adds to it what work items have left for it in the order of the run time's list: results
//! are the same in each run. No other block that runs at the same time leads to these elements; that is the run time's
//! business.
//!
//! A group are arguments of the same data. Each work item has a slot for each column of a group, and of that as many components
//! at a time as there is room for.

use okl_abi::op2::device as what;

use super::item::Writer;
use super::signature::Signature;
use super::{BLOCK, Passed};
use crate::ir::{ParallelLoop, Parameter};
use crate::llvm::{Block, Builder, Comparison, IntPredicate, Value};
use crate::lower::elements::combined;
use crate::lower::elements::one::Passed as Access;
use crate::lower::gpu::asked::meet;

/// Bytes that a block shares for one component of a group, at most: what drivers give blocks is that, and as much for all else.
const MOST: i64 = 24 << 10;

/// So many bytes are worth it to have several components at a time: more would leave room for fewer blocks.
const WORTH: i64 = 16 << 10;

/// What goes along with values has room of its own, in which as many of these fit as blocks can have beside what is staged.
const MOST_ALONG: usize = 8;

/// Bytes of parameters with which kernels of all kinds of devices begin.
const MOST_PASSED: i64 = 1 << 10;

/// Arguments of the same data, and which parameters say what the block adds to.
pub(super) struct Group {
    /// Their positions.
    members: Vec<usize>,
    /// Slots of a work item.
    columns: i64,
    rows: usize,
    targets: usize,
    slots: usize,
}

impl Group {
    /// Slots of a block.
    fn all_slots(&self) -> i64 {
        self.columns * BLOCK
    }

    /// Components that are staged at a time, and the bytes of that.
    fn batch(&self, arguments: &[Parameter<'_>]) -> (i64, i64) {
        let element = arguments[self.members[0]].element();
        let of_one = self.all_slots() * element.scalar.bytes;
        let count = (WORTH / of_one).clamp(1, element.components);
        (count, count * of_one)
    }
}

/// The groups of a loop that only adds to what it writes through maps, and what is passed for them; none where there is no room
/// for what is staged.
pub(super) fn groups(
    signature: &mut Signature<'_>,
    one: &ParallelLoop<'_>,
    parameters: &[Parameter<'_>],
) -> Vec<Group> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        if !parameter.is_sum() || parameter.is_whole() {
            continue;
        }
        let first = |at: usize| one.arguments[at].first;
        // The data are said to consist of other elements where a mistake is to be told.
        let is_like = |other: usize| {
            let of_it = &parameters[other];
            first(other) == first(at)
                && of_it.element() == parameter.element()
                && of_it.kind == parameter.kind
        };
        match found.iter_mut().find(|members| is_like(members[0])) {
            Some(members) => members.push(at),
            None => found.push(vec![at]),
        }
    }
    let columns = |members: &[usize]| {
        let all = members.iter().map(|at| parameters[*at].elements());
        all.sum::<i64>()
    };
    let has_room = |members: &Vec<usize>| {
        let bytes = parameters[members[0]].element().scalar.bytes;
        columns(members) * BLOCK * bytes <= MOST
    };
    const PARAMETERS: i64 = 3;
    let passed = signature.bytes() + found.len() as i64 * PARAMETERS * 16;
    if passed > MOST_PASSED
        || !found.iter().all(has_room)
        || one.description.along.len() > MOST_ALONG
    {
        return Vec::new();
    }
    let groups = found.into_iter().map(|members| {
        let first = members[0];
        for at in &members {
            let beside = Passed::of(what::BESIDE, *at, first as i64);
            signature.holds.push(beside);
        }
        Group {
            rows: signature.address(what::ROWS, first, 4, true),
            targets: signature.address(what::TARGETS, first, 8, true),
            slots: signature.address(what::SLOTS, first, 2, true),
            columns: columns(&members),
            members,
        }
    });
    groups.collect()
}

/// Has a block add what its work items have left. `place` is the position of the block. Continues behind that.
pub(super) fn write<'d>(
    writer: &Writer<'d>,
    mut end: (Builder<'d>, Block<'d>),
    groups: &[Group],
    arguments: &[Parameter<'_>],
    accesses: &[&Access<'_, 'd>],
    [item, place]: [Value<'d>; 2],
) -> (Builder<'d>, Block<'d>) {
    let module = writer.device;
    let bytes = groups.iter().map(|one| one.batch(arguments).1);
    let bytes = module.array(module.int(8), bytes.max().unwrap_or(0) as u64);
    let name = format!("{}_increments", writer.name);
    let shared = module.add_in_space(&name, bytes, writer.target.shared_space, 16);
    for (at, group) in groups.iter().enumerate() {
        let element = arguments[group.members[0]].element();
        let (count, _) = group.batch(arguments);
        let list = List::of(writer, &end.0, group, [item, place]);
        let mut first = 0;
        while first < element.components {
            if (at, first) != (0, 0) {
                // The work items have taken what was staged before.
                meet(&end.0, writer.target);
            }
            let components = first..(first + count).min(element.components);
            let batch = Batch {
                writer,
                group,
                argument: &arguments[group.members[0]],
                shared,
                components: components.clone(),
            };
            batch.leave(&end.0, arguments, accesses, item);
            meet(&end.0, writer.target);
            end = batch.add(end, accesses[group.members[0]], &list);
            first = components.end;
        }
    }
    end
}

/// Which elements a block adds to.
struct List<'d> {
    /// The entry that the work item begins with, and the one behind the last.
    first: Value<'d>,
    end: Value<'d>,
    /// Where the entries are, and the slots of the block.
    entries: Value<'d>,
    slots: Value<'d>,
}

impl<'d> List<'d> {
    fn of(
        writer: &Writer<'d>,
        builder: &Builder<'d>,
        group: &Group,
        [item, place]: [Value<'d>; 2],
    ) -> Self {
        let module = writer.device;
        let (short, int, long) = (module.int(16), module.int(32), module.int(64));
        let rows = writer.address(builder, group.rows);
        let row = |at: Value<'d>| {
            let row = builder.load(int, builder.element(int, rows, at));
            builder.sign_extend(row, long)
        };
        let slots = writer.address(builder, group.slots);
        let before = builder.multiply(place, module.const_i64(group.all_slots()));
        Self {
            first: builder.sum(row(place), item),
            end: row(builder.plus(place, 1)),
            entries: writer.address(builder, group.targets),
            slots: builder.element(short, slots, before),
        }
    }
}

/// Components of a group that are staged at a time.
struct Batch<'a, 'd> {
    writer: &'a Writer<'d>,
    group: &'a Group,
    /// One of its arguments.
    argument: &'a Parameter<'a>,
    shared: Value<'d>,
    components: std::ops::Range<i64>,
}

impl<'d> Batch<'_, 'd> {
    /// Where the slot of a number is of a component.
    fn slot(&self, builder: &Builder<'d>, component: i64, slot: Value<'d>) -> Value<'d> {
        let scalar = self.argument.element().scalar;
        let before = (component - self.components.start) * self.group.all_slots();
        let slots = builder.offset(self.shared, before * scalar.bytes);
        builder.element(scalar.ty(self.writer.device), slots, slot)
    }

    /// Has the work item leave what it adds. (Where it has no element, nobody looks.)
    fn leave(
        &self,
        builder: &Builder<'d>,
        arguments: &[Parameter<'_>],
        accesses: &[&Access<'_, 'd>],
        item: Value<'d>,
    ) {
        let scalar = self.argument.element().scalar.ty(self.writer.device);
        let mut before = 0;
        for &member in &self.group.members {
            for column in 0..arguments[member].elements() {
                let slot = builder.plus(item, before);
                for component in self.components.clone() {
                    let left = accesses[member].left(builder, column, component);
                    let left = builder.load(scalar, left);
                    builder.store(left, self.slot(builder, component, slot));
                }
                before += BLOCK;
            }
        }
    }

    /// Has the work item add to each of its elements what was left for it.
    fn add(
        &self,
        (builder, front): (Builder<'d>, Block<'d>),
        access: &Access<'_, 'd>,
        list: &List<'d>,
    ) -> (Builder<'d>, Block<'d>) {
        let (module, kernel) = (self.writer.device, self.writer.kernel);
        let (short, long) = (module.int(16), module.int(64));
        let scalar = self.argument.element().scalar.ty(module);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        let at = |block| {
            let builder = Builder::at_end(module, block);
            builder.stand_at_start_of(kernel);
            builder
        };
        let [head, begin, each, put, done] = [(); 5].map(|()| kernel.append_block(module));
        builder.go(head);

        let builder = at(head);
        let entry = builder.phi(long);
        entry.add_incoming(list.first, front);
        builder.go_if(builder.ask(less, entry, list.end), begin, done);

        let builder = at(begin);
        let word = builder.load(long, builder.element(long, list.entries, entry));
        let target = builder.int_cast(word, module.int(32));
        let target = builder.sign_extend(target, long);
        let slot = builder.shift_right(word, 32);
        let slot = builder.int_cast(builder.int_cast(slot, short), long);
        let count = builder.shift_right(word, 48);
        let end = builder.sum(slot, count);
        let places = self.components.clone();
        let places = places.map(|component| access.component(&builder, target, component));
        let places: Vec<_> = places.collect();
        let old = places.iter().map(|place| builder.load(scalar, *place));
        let old: Vec<_> = old.collect();
        builder.go(each);

        let builder = at(each);
        let which = builder.phi(long);
        which.add_incoming(slot, begin);
        let sums: Vec<_> = old
            .iter()
            .map(|old| {
                let sum = builder.phi(scalar);
                sum.add_incoming(*old, begin);
                sum
            })
            .collect();
        let slot = builder.load(short, builder.element(short, list.slots, which));
        let slot = builder.int_cast(slot, long);
        let mut new = Vec::new();
        for (component, sum) in self.components.clone().zip(sums) {
            let left = builder.load(scalar, self.slot(&builder, component, slot));
            let both = combined(&builder, self.argument, sum, left);
            sum.add_incoming(both, each);
            new.push(both);
        }
        let next = builder.plus(which, 1);
        which.add_incoming(next, each);
        builder.go_if(builder.ask(less, next, end), each, put);

        let builder = at(put);
        for (place, new) in places.iter().zip(new) {
            builder.store(new, *place);
        }
        let behind = builder.plus(entry, BLOCK);
        entry.add_incoming(behind, put);
        builder.go(head);
        (at(done), done)
    }
}
