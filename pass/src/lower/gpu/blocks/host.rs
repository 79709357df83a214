//! The host's side of loops over blocks: what is evaluated in front of one, its launch, and where the processor goes on.

use okl_abi::gpu::f;

use super::{Nest, Passed};
use crate::llvm::{Builder, Comparison, Global, IntPredicate, Module, Type, Value};
use crate::lower::cpu::counted::{Copies, Counted};
use crate::lower::cpu::threads::area::Area;
use crate::lower::gpu::shape::Extent;
use crate::lower::runtime_call::declare;

/// Puts the launch in front of a loop.
pub fn launch<'m>(module: &'m Module, nest: &Nest<'m>, record: Global<'m>, has_cpu: bool) {
    let outermost = &nest.grid[0];
    let begins = outermost.begins;
    let known = Area::of(outermost).known;
    let mut copies = Copies::before(module, begins, known);
    let counted: Vec<_> = nest
        .grid
        .iter()
        .map(|one| copies.counted(module, one))
        .collect();
    let items = items(module, nest, &mut copies);
    let builder = copies.builder;
    let [zero, one] = [0, 1].map(|number| module.const_i64(number));
    let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
    let is_some = counted
        .iter()
        .map(|loop_| builder.ask(more, loop_.count, zero));
    let is_some = is_some.reduce(|a, b| builder.and(a, b));
    let is_some = is_some.expect("it has a loop");
    let mut blocks = [one; 3];
    for (counter, counted) in nest.grid.iter().zip(&counted) {
        blocks[counter.axis] = counted.count;
    }

    let front = begins.block();
    let start = begins.split_before();
    let launches = nest.function.append_block(module);
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, front, begins);
    builder.go_if(is_some, launches, outermost.exit);

    let builder = Builder::at_end_like(module, launches, begins);
    let entry = Builder::at_entry(module, nest.function);
    let long = module.int(64);
    let array = |values: &[Value<'m>]| {
        let array = entry.alloca(module.array(long, values.len() as u64), 8);
        for (at, value) in values.iter().enumerate() {
            builder.store(*value, builder.offset(array, 8 * at as i64));
        }
        array
    };
    let blocks = array(&blocks);
    let items = array(&items);
    let count = nest.passed.len().max(1) as u64;
    let arguments = entry.alloca(module.array(module.pointer(), count), 8);
    for (at, one) in nest.passed.iter().enumerate() {
        let value = passed(nest, one, &counted, &entry, &builder);
        builder.store(value, builder.offset(arguments, 8 * at as i64));
    }
    let launch = declare(module, &f::okl_gpu_launch_v6);
    let may = module.const_i32(i32::from(has_cpu));
    let ran = builder.call(launch, &[*record, blocks, items, arguments, may]);
    match has_cpu {
        true => {
            let is_done = builder.compare(ran, module.const_i32(0), true);
            builder.go_if(is_done, outermost.exit, start);
        }
        false => builder.go(outermost.exit),
    }
}

/// How many work items a block has in each direction: as many as the loop that has the most of them, and one at least.
pub(super) fn items<'m>(
    module: &'m Module,
    nest: &Nest<'m>,
    copies: &mut Copies<'m>,
) -> Vec<Value<'m>> {
    let extents = nest.shape.extents.iter();
    let counts = extents.map(|extents| {
        let counts = extents.iter().map(|one| match one {
            Extent::Constant(count) => module.const_i64(*count),
            Extent::Computed(counter) => copies.counted(module, counter).count,
            Extent::Unknown(_) => unreachable!("a number has been chosen"),
        });
        counts.collect::<Vec<_>>()
    });
    let counts: Vec<_> = counts.collect();
    let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
    let builder = &copies.builder;
    let most = |counts: Vec<Value<'m>>| {
        counts.into_iter().fold(module.const_i64(1), |most, count| {
            builder.select(builder.ask(more, count, most), count, most)
        })
    };
    counts.into_iter().map(most).collect()
}

/// The address of a copy of what is passed: what the kernel has stays its own for those that optimise it.
fn passed<'m>(
    nest: &Nest<'m>,
    what: &Passed,
    counted: &[Counted<'m>],
    entry: &Builder<'m>,
    builder: &Builder<'m>,
) -> Value<'m> {
    let (module, function, variables) = (builder.module(), nest.function, &nest.variables);
    let keep = |value: Value<'m>| {
        let ty = value.ty();
        let copy = entry.alloca(ty, module.align_of(ty));
        builder.store(value, copy);
        copy
    };
    let (address, ty) = match *what {
        Passed::First(at) => return keep(counted[at].first),
        Passed::Step(at) => return keep(counted[at].step),
        Passed::Global(ref name) => {
            let variable = module.global(name).expect("the device's code is a copy");
            return keep(*variable);
        }
        Passed::Lock | Passed::Lacks | Passed::FirstBlock(_) => return module.pointer().zero(),
        Passed::Base => return keep(module.const_i64(0)),
        Passed::Few(at) => {
            let value = builder.load(module.int(64), *variables[at]);
            return keep(builder.int_cast(value, module.int(32)));
        }
        Passed::Variable(at) => {
            let variable = variables[at];
            let ty = variable.allocated_type();
            (*variable, ty.expect("a stack variable"))
        }
        Passed::Object(at) => {
            let ty = function.copied_parameter(at);
            (
                function.parameters()[at],
                ty.expect("it is passed as a copy"),
            )
        }
    };
    copied(entry, builder, ty, address)
}

/// Whether an object that a kernel is passed is a number of 64 bits, or less; else it is what lies at an address.
pub(super) fn is_number(ty: Type<'_>) -> bool {
    ty.is_pointer() || ty.is_float_or_double() || ty.bits().is_some_and(|bits| bits <= 64)
}

/// The address of a copy of an object.
pub(super) fn copied<'m>(
    entry: &Builder<'m>,
    builder: &Builder<'m>,
    ty: Type<'m>,
    address: Value<'m>,
) -> Value<'m> {
    let module = builder.module();
    let align = module.align_of(ty);
    let copy = entry.alloca(ty, align);
    match is_number(ty) {
        true => builder.store(builder.load(ty, address), copy),
        false => builder.copy_aligned(copy, address, module.size_of(ty) as i64, align),
    }
    copy
}
