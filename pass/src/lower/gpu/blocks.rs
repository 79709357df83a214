//! OKL's loops over blocks of work items become kernels of a device module: each nest of outer loops becomes one, in which a
//! work item runs each inner loop once, at its own number.
//!
//! A kernel runs one block: it sets the iterators of the loops over blocks, and each loop over work items runs once, at the
//! number of the work item, if there is an iteration of that number. It gets the variables that the loops read as values.
//! What each work item has for itself are variables of the kernel's, and what a block shares are variables in memory of the
//! block's own.

pub mod given;
mod host;
mod lock;
mod parts;
mod rounds;
mod shared;

pub use host::launch;
pub use parts::launch_parts;
pub use shared::bytes as shared_bytes;

use std::collections::{HashMap, HashSet};

use okl_abi::gpu::parameter;

use super::asked::{self, meet};
use super::compile::{Failed, entry_name, failed};
use super::launch::{Kernel, Parameter};
use super::reach::{self, Variables};
use super::shape::{Shape, Wrong, followers};
use super::target::GpuTarget;
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::is_harmless;
use crate::ir::{Counter, ParallelLoop};
use crate::llvm::{
    Block, Builder, Call, Function, Instruction, Linkage, Module, Opcode, Type, Value,
};
use crate::lower::cpu::atomics;
use crate::lower::cpu::counted::{Copies, Counted};
use crate::lower::cpu::threads;
use crate::lower::cpu::threads::area::{Area, Is, Variable};
use crate::marks::FEW_ITERATIONS;
use crate::recognise;
use given::Given;

/// So many blocks each device has in each direction.
const FEW_BLOCKS: i64 = 65_535;

/// A loop over blocks that may go to a device, as far as can be seen in the module.
pub struct Candidate<'a, 'm> {
    /// Which loop over blocks of the module it is.
    number: usize,
    /// The loop.
    pub one: &'a ParallelLoop<'m>,
    grid: Vec<Counter<'m>>,
    shape: Shape<'m>,
    on_ranks: bool,
}

/// A loop over blocks that goes to a device, for the host.
pub struct Nest<'m> {
    /// The function it is in.
    pub function: Function<'m>,
    /// The stack variables that it has from its beginning.
    variables: Vec<Instruction<'m>>,
    /// The loops that count blocks, the outermost first.
    grid: Vec<Counter<'m>>,
    shape: Shape<'m>,
    /// What is passed, for each parameter of the kernel.
    passed: Vec<Passed>,
}

/// A value that is passed. Kernels get them in this order, whatever that of their uses, which is not the same on all devices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passed {
    /// What a stack variable has: of those at the beginning of the function, the one of a number.
    Variable(usize),
    /// The same of one of 64 bits, as a number of 32 bits without a sign.
    Few(usize),
    /// What a parameter of the function points to.
    Object(usize),
    /// With what a loop over blocks begins, of 64 bits.
    First(usize),
    /// Its step.
    Step(usize),
    /// The address of a variable of the program's.
    Global(String),
    /// The lock of all kernels.
    Lock,
    /// Where it is noted that a block has too few work items.
    Lacks,
    /// The number of the first block in a direction, of 32 bits.
    FirstBlock(usize),
    /// The number of the first iteration of the outermost loop that runs: of 64 bits.
    Base,
}

impl<'a, 'm> Candidate<'a, 'm> {
    /// The loop over blocks of a number, if all that it is can be done on each of these devices; `on_ranks`: of which each
    /// rank's runs a part.
    pub fn of(
        module: &'m Module,
        number: usize,
        one: &'a ParallelLoop<'m>,
        targets: &[&'static GpuTarget],
        on_ranks: bool,
    ) -> Result<Self, Wrong<'m>> {
        let grid = threads::grid(one).map_err(|why| (one.site.instruction(), why))?;
        let shape = Shape::of(module, one, &grid, targets)?;
        reach::check(module, &shape.code, Variables::Given)?;
        reach::check_for(&shape.code, targets)?;
        Ok(Self {
            number,
            one,
            grid,
            shape,
            on_ranks,
        })
    }

    /// For the host, which passes this.
    pub fn nest(self, passed: Vec<Passed>) -> Nest<'m> {
        let function = self.grid[0].decides.function();
        Nest {
            function,
            variables: variables(function),
            grid: self.grid,
            shape: self.shape,
            passed,
        }
    }
}

/// The stack variables that a function has from its beginning.
fn variables(function: Function<'_>) -> Vec<Instruction<'_>> {
    let code = function.blocks()[0].instructions().into_iter();
    code.filter(|one| one.opcode() == Opcode::LLVMAlloca)
        .collect()
}

/// Makes kernels of these loops in a copy of their module, and says what is passed to them.
pub fn outline_all(
    device: &Module,
    candidates: &[&Candidate<'_, '_>],
    target: &'static GpuTarget,
) -> Result<Vec<(Kernel, Vec<Passed>)>, Failed> {
    for function in device.functions() {
        if !function.is_declaration() {
            function.remove_unreachable_blocks();
        }
    }
    let kernels = candidates.iter().map(|one| {
        let name = one.grid[0].decides.function().name();
        device.function(&name)
    });
    let Some(kernels) = kernels.collect::<Option<Vec<_>>>() else {
        return failed(None, "its copy is not what it was");
    };
    // Code that becomes a part of them brings variables along, which the host knows nothing of.
    let variables: HashMap<_, _> = kernels.iter().map(|one| (*one, variables(*one))).collect();
    if let Err((which, why)) = given::gather(device, &kernels) {
        return failed(Some(which), &why);
    }
    let found = recognise::recognise_blocks(device);
    let loops: Vec<_> = found
        .loops
        .iter()
        .filter(|one| one.region().is_some())
        .collect();
    let mut shapes = Vec::new();
    for (which, candidate) in candidates.iter().enumerate() {
        let Some(&one) = loops.get(candidate.number) else {
            return failed(Some(which), "its copy is not what it was");
        };
        let shape = threads::grid(one).and_then(|grid| {
            let shape = Shape::of(device, one, &grid, &[target]);
            Ok((grid, shape.map_err(|(_, why)| why)?))
        });
        match shape {
            Ok((grid, shape)) => shapes.push((one, grid, shape)),
            Err(why) => return failed(Some(which), &why),
        }
    }
    let entries = candidates.iter();
    let entries = entries.map(|one| entry(device, &loops, one.number));
    let entries: Vec<_> = entries.collect();
    // Of several loops of a function, the first to become another one may take some along.
    let mut stacks = Vec::new();
    for (which, (_, grid, _)) in shapes.iter().enumerate() {
        let area = Area::of(&grid[0]);
        match area.variables() {
            Ok(used) => stacks.push(Stack {
                all: variables[&area.kernel].clone(),
                used,
                area,
            }),
            Err(why) => return failed(Some(which), &why),
        }
    }
    let shared = shapes
        .iter()
        .enumerate()
        .map(|(number, (one, ..))| shared::share(device, one, number, target));
    let shared: Vec<_> = shared.collect();
    let which = |marker: &Call<'_>| {
        let block = marker.instruction().block();
        shapes
            .iter()
            .position(|(_, _, shape)| shape.code.contains(&block))
    };
    let needs = found
        .markers
        .iter()
        .filter(|one| atomics::needs_lock(device, **one));
    let has_lock: HashSet<_> = needs.filter_map(which).collect();
    if let Some(&which) = has_lock.iter().find(|&&which| candidates[which].on_ranks) {
        return failed(Some(which), parts::ATOMIC);
    }
    // Kernels run one after the other, so each has the lock for all its atomic code, or for none. What is in no kernel stays
    // on the processor.
    let (mut locked, mut plain) = (Vec::new(), Vec::new());
    for marker in &found.markers {
        match which(marker) {
            Some(which) if has_lock.contains(&which) => locked.push(*marker),
            Some(_) => plain.push(*marker),
            None if kernels.contains(&marker.instruction().function()) => {}
            None if atomics::needs_lock(device, *marker) => {}
            None => plain.push(*marker),
        }
    }
    let sections = atomics::check(device, &locked, &mut Vec::new()).take_locked();
    let sections = sections
        .into_iter()
        .filter_map(|section| Some((which(&section.0)?, section)));
    let sections: Vec<_> = sections.collect();
    let plan = atomics::check(device, &plain, &mut Vec::new());
    for (which, section) in sections {
        let items = shapes[which].2.constant_items();
        if let Err(why) = lock::lock(device, &section, items, target) {
            return failed(Some(which), &why);
        }
    }
    atomics::emit(device, &plan);
    for (which, (_, _, shape)) in shapes.iter().enumerate() {
        if candidates[which].on_ranks && parts::updates_together(&shape.code) {
            return failed(Some(which), parts::ATOMIC);
        }
    }
    let has_atomics = |shape: &Shape<'_>| {
        let code = shape.code.iter().flat_map(|block| block.instructions());
        code.into_iter().any(|one| {
            one.is_atomic_access()
                || one.as_call().is_some_and(|call| {
                    call.callee_function()
                        .is_some_and(|callee| !callee.is_intrinsic())
                })
        })
    };
    let has_barriers = |shape: &Shape<'_>, grid: &[Counter<'_>]| {
        let last = grid.last().expect("it has a loop");
        let mut code = shape.code.iter().flat_map(|block| block.instructions());
        let mut nests = shape.outermost.iter();
        !shape.reads.is_empty()
            || code.any(is_barrier)
            || nests.any(|nest| shape.is_followed(nest, last))
    };
    let is_plain: Vec<_> = shapes
        .iter()
        .enumerate()
        .map(|(number, (_, grid, shape))| {
            !has_lock.contains(&number) && !has_atomics(shape) && !has_barriers(shape, grid)
        })
        .collect();
    for marker in &found.markers {
        if is_barrier(marker.instruction()) {
            meet(&Builder::before(device, marker.instruction()), target);
        }
        marker.take_out(device);
    }
    let mut made = Vec::new();
    for (number, ((_, grid, shape), is_plain)) in shapes.iter().zip(is_plain).enumerate() {
        let stack = &stacks[number];
        let entry = (entries[number].clone(), candidates[number].on_ranks);
        match outline(device, grid, shape, stack, entry, is_plain, target) {
            Ok((kernel, passed)) => {
                let shared = shared[number];
                made.push((Kernel { shared, ..kernel }, passed));
            }
            Err(why) => return failed(Some(number), &why),
        }
    }
    Ok(made)
}

/// The name of the kernel of the loop of a number. Where the user's kernel says how names begin, its loops are counted.
fn entry(device: &Module, loops: &[&ParallelLoop<'_>], number: usize) -> String {
    let kernel = loops[number].site.instruction().function();
    match recognise::okl::entry_of(kernel, device) {
        Some(name) => {
            let before = loops[..number].iter();
            let before = before.filter(|one| one.site.instruction().function() == kernel);
            let before = before.count();
            format!("{name}_{before}")
        }
        None => entry_name(kernel, number),
    }
}

/// The value that an iterator has in an iteration of a number.
fn iterator<'d>(
    builder: &Builder<'d>,
    counter: &Counter<'d>,
    counted: &Counted<'d>,
    number: Value<'d>,
) -> Value<'d> {
    let by = builder.binary(Opcode::LLVMMul, number, counted.step);
    let value = match counter.counting.is_up {
        true => builder.sum(counted.first, by),
        false => builder.difference(counted.first, by),
    };
    let ty = counted.variable.allocated_type();
    builder.int_cast(value, ty.expect("a stack variable"))
}

/// The stack variables of a function.
struct Stack<'d> {
    /// From its beginning.
    all: Vec<Instruction<'d>>,
    /// Those that a loop uses.
    used: Vec<Variable<'d>>,
    /// That loop.
    area: Area<'d>,
}

/// Makes a kernel of a loop over blocks.
fn outline<'d>(
    device: &'d Module,
    grid: &[Counter<'d>],
    shape: &Shape<'d>,
    stack: &Stack<'d>,
    (entry, has_base): (String, bool),
    is_plain: bool,
    target: &GpuTarget,
) -> Result<(Kernel, Vec<Passed>), String> {
    let outermost = &grid[0];
    let innermost = grid.last().expect("it has a loop");
    let function = outermost.decides.function();
    let followed: Vec<_> = shape
        .outermost
        .iter()
        .filter(|nest| shape.is_followed(nest, innermost))
        .collect();
    for block in &shape.reads {
        let end = block.terminator().expect("a complete block");
        meet(&Builder::before(device, end), target);
    }
    for nest in followed {
        let first = nest.exit.first_insertion_point().expect("a complete block");
        meet(&Builder::before(device, first), target);
    }
    let mut given = Given::to(device, function);
    for counter in &shape.inner {
        let mut lacks = || given.value(Passed::Lacks);
        rounds::run(device, counter, shape, target, &mut lacks);
    }
    // In front of the loop what it begins with, and behind that the block.
    let like = outermost.begins;
    let mut copies = Copies::before(device, like, stack.area.known.clone());
    let counted: Vec<_> = grid.iter().map(|one| copies.counted(device, one)).collect();
    let base = has_base.then(|| {
        let long = device.int(64);
        let slot = Builder::at_entry(device, function).alloca(long, 8);
        copies.builder.load(long, slot)
    });
    let front = like.block();
    front.terminator().expect("a complete block").erase();
    let [start, done] = [(); 2].map(|()| function.append_block(device));
    let builder = Builder::at_end_like(device, start, like);
    for (depth, (counter, counted)) in grid.iter().zip(&counted).enumerate() {
        let own = asked::number(&builder, &target.block, counter.axis, None);
        let is_few = counted.count.as_constant_int();
        let is_few = is_few.is_some_and(|count| count <= FEW_BLOCKS);
        let first =
            (counter.axis > 0 && !is_few).then(|| given.value(Passed::FirstBlock(counter.axis)));
        let own = rounds::plus(&builder, own, first);
        let own = match base {
            Some(base) if depth == 0 => builder.sum(own, base),
            _ => own,
        };
        let value = match counted.variable.has_note(FEW_ITERATIONS) {
            true => {
                let [own, step] =
                    [own, counted.step].map(|one| builder.int_cast(one, device.int(32)));
                let value = builder.binary(Opcode::LLVMMul, own, step);
                if let Some(product) = value.as_op(Opcode::LLVMMul) {
                    product.promise_no_wrap(false);
                }
                builder.int_cast(value, device.int(64))
            }
            false => iterator(&builder, counter, counted, own),
        };
        builder.store(value, *counted.variable);
    }
    builder.go(innermost.body);
    let steps = innermost.steps.block();
    steps.turn(innermost.decides.block(), done);
    Builder::at_end_like(device, done, like).go(outermost.exit);
    Builder::at_end_like(device, front, like).go(start);
    like.erase();
    function.remove_unreachable_blocks();

    let mut code = vec![start];
    let mut at = 0;
    while let Some(&block) = code.get(at) {
        for next in followers(block) {
            if next != outermost.exit && !code.contains(&next) {
                code.push(next);
            }
        }
        at += 1;
    }
    let all: Vec<_> = code.iter().flat_map(|block| block.instructions()).collect();
    given.replace(&all);
    let body = Block::extract(&code, "device").ok_or("LLVM cannot make a function of it")?;
    let call = body.users().first().and_then(|user| user.as_call());
    let call = call.expect("it is called once");

    let is_read = |one: Instruction<'d>| {
        let known = stack.used.iter().find(|known| known.variable == one);
        known.is_some_and(|known| known.is == Is::Others)
    };
    let arguments = call.arguments();
    let mut places = Vec::new();
    for &argument in &arguments {
        let place = match given.passed(argument) {
            Some(passed) => Some(Place::Passed(passed.clone(), argument.ty(), 1)),
            None if base == Some(argument) => Some(Place::Passed(Passed::Base, argument.ty(), 1)),
            None => place(argument, function, &stack.all, &counted, &is_read),
        };
        places.push(place.ok_or("it uses a value from in front of it that is in no variable")?);
    }
    let numbered = places.iter().enumerate();
    let mut in_order: Vec<_> = numbered
        .filter_map(|(at, place)| match place {
            Place::Passed(value, ty, _) => Some((value, *ty, at)),
            Place::Own(..) => None,
        })
        .collect();
    in_order.sort_by_key(|(value, ..)| *value);
    let mut parameters = Vec::new();
    let mut all_passed = Vec::new();
    let mut types = Vec::new();
    for &(value, ty, at) in &in_order {
        let argument = arguments[at];
        let is_address = ty.is_pointer();
        if !is_address && ty.has_pointers() {
            return Err("it gets an object with pointers in it".to_string());
        }
        types.push(match (is_address, ty.is_aggregate()) {
            _ if matches!(value, Passed::Few(_)) => device.int(32),
            (true, _) => device.pointer_into(target.global_space),
            (_, true) => match target.object_space {
                Some(space) => device.pointer_into(space),
                None => device.pointer(),
            },
            _ => ty,
        });
        all_passed.push(value.clone());
        if given.passed(argument).is_some() {
            parameters.push(given::parameter(device, value, ty));
            continue;
        }
        let size = match value {
            Passed::Few(_) => 4,
            _ => device.size_of(ty) as i64,
        };
        parameters.push(Parameter {
            kind: if is_address { parameter::ADDRESS } else { 0 },
            size,
            is_alone: is_address && is_alone(argument, function),
            stays: None,
        });
    }
    // Each is at an address that is a multiple of its alignment.
    let bytes = parameters.iter().map(|one| one.size.saturating_add(8));
    if bytes.fold(0_i64, i64::saturating_add) > target.most_passed {
        return Err(format!(
            "it gets more values than the {} bytes that {} has room for",
            target.most_passed, target.name
        ));
    }
    let kernel = device.add_function(
        &entry,
        device.function_type(device.void(), &types),
        Linkage::LLVMExternalLinkage,
    );
    kernel.copy_subprogram(body);
    let block = kernel.append_block(device);
    let builder = Builder::at_end(device, block);
    builder.stand_at_start_of(kernel);
    let own_parameters = kernel.parameters();
    let mut arguments = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let variable = |ty: Type<'d>| builder.alloca(ty, device.align_of(ty));
        arguments.push(match place {
            Place::Own(ty, align) => builder.alloca(*ty, *align),
            Place::Passed(value, ty, align) => {
                let (ty, align) = (*ty, *align);
                let at = in_order.iter().position(|(.., of)| *of == number);
                let at = at.expect("one for each");
                let parameter = own_parameters[at];
                match value {
                    Passed::First(_) | Passed::Step(_) | Passed::FirstBlock(_) | Passed::Base => {
                        parameter
                    }
                    Passed::Global(_) | Passed::Lock | Passed::Lacks => {
                        builder.cast(Opcode::LLVMAddrSpaceCast, parameter, ty)
                    }
                    Passed::Few(_) => {
                        let variable = variable(ty);
                        builder.store(builder.int_cast(parameter, ty), variable);
                        variable
                    }
                    Passed::Variable(_) | Passed::Object(_) if ty.is_aggregate() => {
                        let own = device.align_of(ty);
                        let align = align.max(own);
                        if target.object_space.is_some() {
                            kernel.refer_to_parameter(device, at, ty, own);
                            let variable = builder.alloca(ty, align);
                            let bytes = device.size_of(ty) as i64;
                            builder.copy_aligned(variable, parameter, bytes, own);
                            variable
                        } else {
                            kernel.copy_parameter(device, at, ty, align);
                            parameter
                        }
                    }
                    Passed::Variable(_) | Passed::Object(_) => {
                        let value = match ty.is_pointer() {
                            true => builder.cast(Opcode::LLVMAddrSpaceCast, parameter, ty),
                            false => parameter,
                        };
                        let variable = variable(ty);
                        builder.store(value, variable);
                        variable
                    }
                }
            }
        });
    }
    for (at, one) in parameters.iter().enumerate() {
        if one.is_alone && is_plain {
            kernel.set_parameter_attribute(device, at, "noalias");
        }
    }
    let runs = builder.call(body, &arguments).as_call().expect("a call");
    runs.inline_always(device);
    builder.ret(None);
    body.set_linkage(Linkage::LLVMInternalLinkage);
    let kernel = Kernel {
        entry,
        parameters,
        items: shape.constant_items(),
        ..Kernel::default()
    };
    Ok((kernel, all_passed))
}

/// What a parameter of the outlined code gets.
#[derive(Clone)]
enum Place<'d> {
    /// The address of a variable of the kernel's own.
    Own(Type<'d>, u32),
    /// What is passed: the address of a variable with that, which code that reads it takes to be aligned so, or the value.
    Passed(Passed, Type<'d>, u32),
}

fn place<'d>(
    argument: Value<'d>,
    function: Function<'d>,
    fixed: &[Instruction<'d>],
    counted: &[Counted<'d>],
    is_read: &dyn Fn(Instruction<'d>) -> bool,
) -> Option<Place<'d>> {
    if let Some(variable) = argument.as_op(Opcode::LLVMAlloca) {
        let ty = variable.allocated_type()?;
        if variable.operand(0).as_constant_int() != Some(1) {
            return None;
        }
        return Some(match is_read(variable) {
            true => {
                let at = fixed.iter().position(|one| *one == variable)?;
                let passed = match variable.has_note(FEW_ITERATIONS) {
                    true => Passed::Few(at),
                    false => Passed::Variable(at),
                };
                Place::Passed(passed, ty, variable.stack_alignment())
            }
            false => Place::Own(ty, variable.stack_alignment()),
        });
    }
    if let Some((_, index)) = argument.as_parameter() {
        let ty = function.copied_parameter(index)?;
        let align = function.parameter_alignment(index);
        return Some(Place::Passed(Passed::Object(index), ty, align));
    }
    let ty = argument.ty();
    let first = counted.iter().position(|one| one.first == argument);
    let step = || counted.iter().position(|one| one.step == argument);
    let value = first
        .map(Passed::First)
        .or_else(|| step().map(Passed::Step));
    Some(Place::Passed(value?, ty, 1))
}

/// Whether the kernel says of the pointer in a variable that nothing else leads to what it points to.
fn is_alone<'d>(variable: Value<'d>, kernel: Function<'d>) -> bool {
    let users = variable.instruction_users().into_iter();
    let mut others = users.filter(|one| !is_harmless(*one) && one.opcode() != Opcode::LLVMLoad);
    let store = others.find(|one| one.opcode() == Opcode::LLVMStore);
    let parameter = store.and_then(|store| store.operand(0).as_parameter());
    let more = variable
        .instruction_users()
        .into_iter()
        .filter(|one| one.opcode() == Opcode::LLVMStore)
        .count();
    more == 1
        && parameter.is_some_and(|(_, index)| kernel.has_parameter_attribute(index, "noalias"))
}
