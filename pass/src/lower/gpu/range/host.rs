//! The host's side of regions: what is evaluated in front of one, its launch, and what is combined behind it.

use okl_abi::gpu::f;

use super::divide::Part;
use super::{Fork, Passed, items_of, share};
use crate::llvm::{
    Block, Builder, Call, Comparison, Global, Instruction, IntPredicate, Linkage, Module, Opcode,
    Value,
};
use crate::lower::runtime_call::declare;

/// Blocks of a kernel, at most, which is enough for a work item for each iteration; of one that leaves results, and of one
/// whose iterations the host cannot count.
pub(super) const MOST_BLOCKS: i64 = MOST_ITERATIONS / items_of(0);
pub(super) const MOST_BLOCKS_WITH_RESULTS: i64 = 256;
const BLOCKS_IF_UNKNOWN: i64 = 256;

/// Iterations, at most: numbers of work items lie as far apart, and do not overflow.
pub(super) const MOST_ITERATIONS: i64 = 1 << 30;

/// OpenMP's function that says whether there is a team already.
const IN_PARALLEL: &str = "omp_in_parallel";

/// The block in front of a call that begins a region, that of the call, which begins with what is told of the region alone,
/// and that behind it.
pub fn around<'m>(site: Call<'m>) -> [Block<'m>; 3] {
    let at = site.instruction();
    let is_told = |one: &Instruction<'m>| {
        one.as_call()
            .is_some_and(|call| call.callee_name().starts_with("__kmpc_push_"))
    };
    // How many threads it is to have is told of this region.
    let code = at.block().instructions();
    let front = code.iter().take_while(|one| **one != at);
    let told: Vec<_> = front.filter(|one| is_told(one)).copied().collect();
    for one in &told {
        one.move_out(at);
    }
    let code = at.block().instructions();
    let position = code.iter().position(|one| *one == at);
    let position = position.expect("it stands in its block");
    let behind = code[position + 1].split_before();
    let threads = code[position - told.len()].split_before();
    let [front] = threads.predecessors()[..] else {
        unreachable!("it was split");
    };
    [front, threads, behind]
}

/// Asks whether no threads are a team already: those that are share devices with others.
pub fn is_alone_now<'m>(builder: &Builder<'m>) -> Value<'m> {
    let module = builder.module();
    let asked = module.function(IN_PARALLEL).unwrap_or_else(|| {
        let ty = module.function_type(module.int(32), &[]);
        module.add_function(IN_PARALLEL, ty, Linkage::LLVMExternalLinkage)
    });
    let inside = builder.call(asked, &[]);
    builder.compare(inside, module.const_i32(0), false)
}

/// Puts the launch in front of the call that begins a region.
pub fn launch<'m>(module: &'m Module, fork: &Fork<'m>, record: Global<'m>, has_cpu: bool) {
    if let Some(share) = &fork.share {
        return share::launch(module, fork, share, record, has_cpu);
    }
    let at = fork.site.instruction();
    let function = at.function();
    let [front, threads, behind] = around(fork.site);
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, front, at);
    let does = &fork.does;
    let (zero, long) = (module.const_i64(0), module.int(64));
    let at_most = Comparison::Integer(IntPredicate::LLVMIntSLE);
    let mut conditions = Vec::new();
    let count = does.last.as_ref().map(|(last, _, signed)| {
        let last = last.emit(&builder, &fork.captures);
        let last = match (last.ty() == long, signed) {
            (true, _) => last,
            (_, true) => builder.cast(Opcode::LLVMSExt, last, long),
            (_, false) => builder.cast(Opcode::LLVMZExt, last, long),
        };
        conditions.push(builder.ask(at_most, zero, last));
        conditions.push(builder.ask(at_most, last, module.const_i64(MOST_ITERATIONS - 2)));
        builder.binary(Opcode::LLVMAdd, last, module.const_i64(1))
    });
    let holds = does.holds.iter();
    conditions.extend(holds.map(|one| one.emit(&builder, &fork.captures)));
    let divides = does.passed.iter().filter_map(|one| match one {
        Passed::Divides(by, Part::Factor) => Some(by),
        _ => None,
    });
    conditions.extend(divides.map(|by| by.is_good(&builder, &fork.captures)));
    if let Some(condition) = fork.condition {
        conditions.push(builder.compare(condition, condition.ty().zero(), true));
    }
    conditions.push(is_alone_now(&builder));
    let all = conditions.into_iter().reduce(|a, b| builder.and(a, b));
    let launches = function.append_block(module);
    builder.go_if(all.expect("there is one"), launches, threads);

    let builder = Builder::at_end_like(module, launches, at);
    let in_block = items_of(does.combined.as_ref().map_or(0, |combined| combined.bytes));
    let most = match does.combined {
        Some(_) => MOST_BLOCKS_WITH_RESULTS,
        None => MOST_BLOCKS,
    };
    let blocks = match count {
        Some(count) => {
            let more = builder.binary(Opcode::LLVMAdd, count, module.const_i64(in_block - 1));
            let blocks = builder.binary(Opcode::LLVMSDiv, more, module.const_i64(in_block));
            builder.least(blocks, module.const_i64(most))
        }
        None => module.const_i64(BLOCKS_IF_UNKNOWN),
    };
    let entry = Builder::at_entry(module, function);
    let array = |values: &[Value<'m>]| {
        let array = entry.alloca(module.array(long, values.len() as u64), 8);
        for (at, value) in values.iter().enumerate() {
            builder.store(*value, builder.offset(array, 8 * at as i64));
        }
        array
    };
    let one = module.const_i64(1);
    let sizes = array(&[blocks, one, one]);
    let items = array(&[module.const_i64(in_block), one, one]);
    let results = does.combined.as_ref().map(|combined| {
        let bytes = combined.bytes * MOST_BLOCKS_WITH_RESULTS;
        entry.alloca(module.array(module.int(8), bytes as u64), 16)
    });
    let arguments = does.passed.len().max(1) as u64;
    let arguments = entry.alloca(module.array(module.pointer(), arguments), 8);
    for (number, one) in does.passed.iter().enumerate() {
        let value = match one {
            Passed::Value(value) => value.emit(&builder, &fork.captures),
            Passed::Items => builder.binary(Opcode::LLVMMul, blocks, module.const_i64(in_block)),
            Passed::Divides(by, part) => by.part(*part, &builder, &fork.captures),
            Passed::Last => {
                let count = count.expect("the host counts them");
                builder.int_cast(builder.plus(count, -1), module.int(32))
            }
            Passed::Results => results.expect("there are some"),
            Passed::From | Passed::To => unreachable!("all of the loop runs"),
        };
        let ty = value.ty();
        let copy = entry.alloca(ty, module.align_of(ty));
        builder.store(value, copy);
        builder.store(copy, builder.offset(arguments, 8 * number as i64));
    }
    let may = module.const_i32(i32::from(has_cpu));
    let called = [*record, sizes, items, arguments, may];
    let ran = builder.call(declare(module, &f::okl_gpu_launch_v3), &called);
    let is_done = builder.compare(ran, module.const_i32(0), true);
    let Some((combined, results)) = does.combined.as_ref().zip(results) else {
        builder.go_if(is_done, behind, threads);
        return;
    };
    // One block's after the other.
    let [combines, turn] = [(); 2].map(|()| function.append_block(module));
    builder.go_if(is_done, combines, threads);
    let builder = Builder::at_end_like(module, combines, at);
    let count = combined.targets.len() as u64;
    let list = module.array(module.pointer(), count);
    let [own, others] = [(); 2].map(|()| entry.alloca(list, 8));
    for (number, (target, _)) in combined.targets.iter().enumerate() {
        let target = target.emit(&builder, &fork.captures);
        builder.store(target, builder.offset(own, 8 * number as i64));
    }
    let index = entry.alloca(long, 8);
    builder.store(zero, index);
    builder.go(turn);
    let builder = Builder::at_end_like(module, turn, at);
    let number = builder.load(long, index);
    let place = builder.binary(Opcode::LLVMMul, number, module.const_i64(combined.bytes));
    let place = builder.element(module.int(8), results, place);
    for (number, (_, bytes)) in combined.targets.iter().enumerate() {
        let from = builder.offset(place, *bytes);
        builder.store(from, builder.offset(others, 8 * number as i64));
    }
    let combine = module.function(&combined.combine).expect("the copy had it");
    builder.call(combine, &[own, others]);
    let next = builder.plus(number, 1);
    builder.store(next, index);
    let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
    builder.go_if(builder.ask(less, next, blocks), turn, behind);
}
