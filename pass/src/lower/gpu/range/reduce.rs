//! What threads combine behind their loop: the work items of a block combine theirs in the block's memory, and the host
//! combines what blocks have, in their order, with the program's own function.

use okl_abi::Effects;

use super::uniform::{Evaluated, Uniform};
use super::{Why, calls, items_of, steps, why, written};
use crate::analysis::runtime;
use crate::analysis::variables::is_harmless;
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::asked::meet;
use crate::lower::gpu::reach::{self, Variables};
use crate::lower::gpu::target::GpuTarget;

/// Values that are combined.
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
    for (one, read) in found.into_iter().zip(first_read) {
        let Some((base, bytes)) = one else {
            return told(at);
        };
        all.push(Evaluated::Behind(Box::new(base), bytes - read));
    }
    Ok(all)
}

/// Has the work items of a block combine what they have, and the first one leave it to the host.
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
    let at = call.instruction();
    let privates = privates(device, call)?;
    let combine = device.function(&combined.combine).expect("it is there");
    let items = items_of(combined.bytes);
    let shared: Vec<_> = privates
        .iter()
        .enumerate()
        .map(|(number, one)| {
            let ty = one.allocated_type().expect("a stack variable");
            let array = device.array(ty, items as u64);
            let name = format!("okl_combined_{which}_{number}");
            let align = one.stack_alignment().max(16);
            (
                device.add_in_space(&name, array, target.shared_space, align),
                ty,
                device.align_of(ty),
            )
        })
        .collect();
    let front = Builder::before(device, start);
    let list = device.array(device.pointer(), privates.len() as u64);
    let [own, others] = [(); 2].map(|()| front.alloca(list, 8));
    let builder = Builder::before(device, at);
    for (one, (shared, ty, align)) in privates.iter().zip(&shared) {
        let to = builder.element(*ty, *shared, item);
        builder.copy_aligned(to, **one, device.size_of(*ty) as i64, *align);
    }
    meet(&builder, target);
    let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
    let under = |count: i64, does: &dyn Fn(&Builder<'d>)| {
        let before = at.block();
        let rest = at.split_before();
        before.terminator().expect("a complete block").erase();
        let inside: Block<'d> = body.append_block(device);
        let builder = Builder::at_end_like(device, before, at);
        let is_one = builder.ask(less, item, device.const_i64(count));
        builder.go_if(is_one, inside, rest);
        let builder = Builder::at_end_like(device, inside, at);
        does(&builder);
        builder.go(rest);
    };
    let mut apart = items / 2;
    while apart > 0 {
        under(apart, &|builder| {
            for (number, (shared, ty, _)) in shared.iter().enumerate() {
                let bytes = 8 * number as i64;
                let to = builder.element(*ty, *shared, item);
                builder.store(to, builder.offset(own, bytes));
                let other = builder.element(*ty, *shared, builder.plus(item, apart));
                builder.store(other, builder.offset(others, bytes));
            }
            let call = builder.call(combine, &[own, others]).as_instruction();
            let call = call.and_then(|call| call.as_call()).expect("a call");
            call.inline_always(device);
        });
        meet(&Builder::before(device, at), target);
        apart /= 2;
    }
    under(1, &|builder| {
        let bytes = device.const_i64(combined.bytes);
        let place = builder.binary(Opcode::LLVMMul, block, bytes);
        let place = builder.element(device.int(8), results, place);
        for ((shared, ty, align), (_, bytes)) in shared.iter().zip(&combined.targets) {
            let to = builder.offset(place, *bytes);
            builder.copy_aligned(to, *shared, device.size_of(*ty) as i64, *align);
        }
    });
    Ok(())
}
