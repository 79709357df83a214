//! The host's side of regions: what is evaluated in front of one, its launch, and what is combined behind it.

use okl_abi::gpu::f;

use super::divide::Part;
use super::reduce::Combined;
use super::rows::Powers;
use super::{Fork, Hosted, Passed, items_of, share};
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
    let holds = does.holds.iter();
    conditions.extend(holds.map(|one| one.emit(&builder, &fork.captures)));
    let distance = does.last.as_ref().map(|(last, _, signed)| {
        let last = last.emit(&builder, &fork.captures);
        let last = match (last.ty() == long, signed) {
            (true, _) => last,
            (_, true) => builder.cast(Opcode::LLVMSExt, last, long),
            (_, false) => builder.cast(Opcode::LLVMZExt, last, long),
        };
        conditions.push(builder.ask(at_most, zero, last));
        conditions.push(builder.ask(at_most, last, module.const_i64(MOST_ITERATIONS - 2)));
        last
    });
    let divides = does.passed.iter().filter_map(|one| match one {
        Passed::Divides(by, Part::Factor) => Some(by),
        _ => None,
    });
    conditions.extend(divides.map(|by| by.is_good(&builder, &fork.captures)));
    if let Some(condition) = fork.condition {
        conditions.push(builder.compare(condition, condition.ty().zero(), true));
    }
    conditions.push(is_alone_now(&builder));
    // Where one does not hold, what the next ones ask may have no value.
    let no = builder.int_cast(module.const_i64(0), module.int(1));
    let all = conditions.into_iter();
    let all = all.reduce(|before, next| builder.select(before, next, no));
    let launches = function.append_block(module);
    builder.go_if(all.expect("there is one"), launches, threads);

    let builder = Builder::at_end_like(module, launches, at);
    let power = distance.and_then(|last| {
        let rows = does.rows.as_ref()?;
        Some(rows.emit(&builder, &fork.captures, [zero, last]))
    });
    let blocks = match distance {
        Some(distance) => blocks_of(&builder, does, distance, power.map(|power| power.all)),
        None => module.const_i64(BLOCKS_IF_UNKNOWN),
    };
    let combined = |builder: &Builder<'m>, combined: &Combined| {
        let targets = combined.targets.iter();
        targets
            .map(|(target, _)| target.emit(builder, &fork.captures))
            .collect()
    };
    let runs = Runs {
        does,
        record,
        has_cpu,
        captures: &fork.captures,
        bounds: None,
        last: distance,
        power,
        combined: &combined,
    };
    runs.launch(&builder, at, blocks, [behind, threads]);
}

/// How many blocks there are at most.
fn most_blocks(does: &Hosted) -> i64 {
    match does.combined {
        Some(_) => MOST_BLOCKS_WITH_RESULTS,
        None => MOST_BLOCKS,
    }
}

/// Work items of a block.
fn in_block(does: &Hosted) -> i64 {
    items_of(does.combined.as_ref().map_or(0, |combined| combined.bytes))
}

/// How many blocks there are where so many iterations stand behind the first one; each is that of as many work items as this
/// is the power of two of.
pub(super) fn blocks_of<'m>(
    builder: &Builder<'m>,
    does: &Hosted,
    distance: Value<'m>,
    power: Option<Value<'m>>,
) -> Value<'m> {
    let module = builder.module();
    let in_block = in_block(does);
    let distance = match power {
        Some(power) => {
            let items = builder.binary(Opcode::LLVMShl, builder.plus(distance, 1), power);
            builder.plus(items, -1)
        }
        None => distance,
    };
    let more = builder.plus(distance, in_block);
    let blocks = builder.binary(Opcode::LLVMSDiv, more, module.const_i64(in_block));
    builder.least(blocks, module.const_i64(most_blocks(does)))
}

/// What is known of a launch.
pub(super) struct Runs<'a, 'm> {
    pub(super) does: &'a Hosted,
    pub(super) record: Global<'m>,
    pub(super) has_cpu: bool,
    pub(super) captures: &'a [Value<'m>],
    /// The first iteration and the last one, where not all of them run.
    pub(super) bounds: Option<[Value<'m>; 2]>,
    /// The last iteration, where all of them run and the host counts them.
    pub(super) last: Option<Value<'m>>,
    /// How many work items share an iteration, as a power of two, where they do.
    pub(super) power: Option<Powers<'m>>,
    /// Where what blocks leave is combined with what is there.
    pub(super) combined: &'a dyn Fn(&Builder<'m>, &Combined) -> Vec<Value<'m>>,
}

impl<'m> Runs<'_, 'm> {
    /// Launches so many blocks, and combines what they leave. Control goes on where a kernel has run, or where none has.
    pub(super) fn launch(
        &self,
        builder: &Builder<'m>,
        like: Instruction<'m>,
        blocks: Value<'m>,
        [done, rest]: [Block<'m>; 2],
    ) {
        let module = builder.module();
        let does = self.does;
        let long = module.int(64);
        let entry = Builder::at_entry(module, like.function());
        let array = |values: &[Value<'m>]| {
            let array = entry.alloca(module.array(long, values.len() as u64), 8);
            for (at, value) in values.iter().enumerate() {
                builder.store(*value, builder.offset(array, 8 * at as i64));
            }
            array
        };
        let [one, in_block] = [1, in_block(does)].map(|number| module.const_i64(number));
        let sizes = array(&[blocks, one, one]);
        let items = array(&[in_block, one, one]);
        let results = does.combined.as_ref().map(|combined| {
            let bytes = combined.bytes * MOST_BLOCKS_WITH_RESULTS;
            entry.alloca(module.array(module.int(8), bytes as u64), 16)
        });
        let arguments = does.passed.len().max(1) as u64;
        let arguments = entry.alloca(module.array(module.pointer(), arguments), 8);
        for (number, one) in does.passed.iter().enumerate() {
            let bound = |at: usize| self.bounds.expect("a kernel of a share gets them")[at];
            let value = match one {
                Passed::Value(value) => value.emit(builder, self.captures),
                Passed::Items => builder.binary(Opcode::LLVMMul, blocks, in_block),
                Passed::Divides(by, part) => by.part(*part, builder, self.captures),
                Passed::Last => {
                    let last = self.last.expect("the host counts them");
                    builder.int_cast(last, module.int(32))
                }
                Passed::From => bound(0),
                Passed::To => bound(1),
                Passed::Results => results.expect("there are some"),
                Passed::Power | Passed::Along | Passed::Sharing => {
                    let power = self.power.expect("it is known how many share one");
                    let value = match one {
                        Passed::Power => power.all,
                        Passed::Along => power.along,
                        _ => builder.binary(Opcode::LLVMShl, module.const_i64(1), power.all),
                    };
                    builder.int_cast(value, module.int(32))
                }
            };
            let ty = value.ty();
            let copy = entry.alloca(ty, module.align_of(ty));
            builder.store(value, copy);
            builder.store(copy, builder.offset(arguments, 8 * number as i64));
        }
        let may = module.const_i32(i32::from(self.has_cpu));
        let called = [*self.record, sizes, items, arguments, may];
        let ran = builder.call(declare(module, &f::okl_gpu_launch_v6), &called);
        let is_done = builder.compare(ran, module.const_i32(0), true);
        let Some((combined, results)) = does.combined.as_ref().zip(results) else {
            builder.go_if(is_done, done, rest);
            return;
        };
        // One block's after the other.
        let [combines, turn] = [(); 2].map(|()| like.function().append_block(module));
        builder.go_if(is_done, combines, rest);
        let builder = Builder::at_end_like(module, combines, like);
        let targets = (self.combined)(&builder, combined);
        let list = module.array(module.pointer(), targets.len() as u64);
        let [own, others] = [(); 2].map(|()| entry.alloca(list, 8));
        for (number, target) in targets.into_iter().enumerate() {
            builder.store(target, builder.offset(own, 8 * number as i64));
        }
        let index = entry.alloca(long, 8);
        builder.store(module.const_i64(0), index);
        builder.go(turn);
        let builder = Builder::at_end_like(module, turn, like);
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
        builder.go_if(builder.ask(less, next, blocks), turn, done);
    }
}
