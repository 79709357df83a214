//! Atomic instructions, which only the owner of the memory can carry out, and fences, which order what
//! the ranks see.

use okl_abi::{AtomicOp, f};

use crate::analysis::memory::private_variable;
use crate::llvm::{Block, Builder, Function, Instruction, Module, Opcode, Type, Value};
use crate::lower::mpi::flags;
use crate::lower::runtime_call::declare;

/// The largest size the runtime takes in a register.
const LARGEST: u64 = 8;

/// `memory_order_seq_cst`.
const SEQUENTIALLY_CONSISTENT: i32 = 5;

/// The atomic accesses of a module.
pub struct Plan<'m> {
    /// Updates with an operation the runtime lacks, which become loops around `cmpxchg`.
    expanded: Vec<Instruction<'m>>,
    functions: Vec<Function<'m>>,
}

/// Finds the updates to expand first.
pub fn check<'m>(module: &'m Module, functions: &[Function<'m>]) -> Plan<'m> {
    let expanded = functions
        .iter()
        .flat_map(|function| shared_accesses(*function))
        .filter(|access| access.is_atomic_update() && operation(module, *access).is_none())
        .collect();
    Plan {
        expanded,
        functions: functions.to_vec(),
    }
}

fn shared_accesses(function: Function<'_>) -> Vec<Instruction<'_>> {
    function
        .instructions()
        .into_iter()
        .filter(|instruction| {
            instruction.is_atomic_access()
                && instruction.address().is_some_and(|address| {
                    private_variable(address).is_none() && !is_guard(address)
                })
        })
        .collect()
}

/// Whether `address` is the guard of a function-local static. The runtime sets the byte that the
/// program looks at only where a barrier follows, so a plain look is right and costs no message.
fn is_guard(address: Value<'_>) -> bool {
    address.name().starts_with("_ZGV")
}

/// The runtime's operation for an `atomicrmw`.
fn operation(module: &Module, update: Instruction<'_>) -> Option<AtomicOp> {
    let operation = update.atomic_operation()?;
    let ty = update.ty();
    let size = module.store_size_of(ty);
    let is_arithmetic = matches!(
        operation,
        AtomicOp::FAdd | AtomicOp::FSub | AtomicOp::FMax | AtomicOp::FMin
    );
    let fits = if is_arithmetic {
        ty.is_float_or_double()
    } else {
        // The size alone tells how wide a floating-point number is; an exchange does not care.
        size <= LARGEST || operation == AtomicOp::Xchg
    };
    fits.then_some(operation)
}

/// Turns an update into a load and a loop around `cmpxchg`.
fn expand<'m>(module: &'m Module, update: Instruction<'m>) {
    let (ty, address) = (update.ty(), update.operand(0));
    let before = update.block();
    let retry = update.split_before();
    let after = retry.instructions()[1].split_before();
    after.label().set_name("okl.updated");
    retry.label().set_name("okl.update");
    let bits = match ty.is_pointer() {
        true => ty,
        false => module.int(module.store_size_of(ty) as u32 * 8),
    };
    let cast = |builder: &Builder<'m>, value: Value<'m>, ty: Type<'m>| match value.ty() == ty {
        true => value,
        false => builder.cast(Opcode::LLVMBitCast, value, ty),
    };
    let align = update.alignment();
    let end = |block: Block<'m>| block.terminator().expect("a complete block");

    let builder = Builder::before(module, end(before));
    builder.stand_at(update);
    let first = builder.load_relaxed(bits, address, align);
    let builder = Builder::before(module, update);
    let old = builder.phi(bits);
    let value = cast(&builder, old, ty);
    let new = cast(&builder, builder.updated(update, value), bits);
    let pair = builder.compare_exchange(address, old, new, align);
    let seen = builder.extract(pair, 0);
    old.add_incoming(first, before);
    old.add_incoming(seen, retry);
    end(retry).erase();
    let builder = Builder::at_end(module, retry);
    builder.stand_at(update);
    builder.go_if(builder.extract(pair, 1), after, retry);
    update.replace_all_uses_with(value);
    update.erase();
}

/// Replaces the accesses.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) {
    for update in plan.expanded {
        expand(module, update);
    }
    for function in plan.functions {
        for access in shared_accesses(function) {
            replace(module, access);
        }
        for fence in function.instructions() {
            if fence.is_thread_fence() {
                surround(module, fence);
            }
        }
    }
}

/// Makes a fence one between ranks. The runtime does at once what the language leaves to the atomic
/// accesses before and after the fence.
fn surround<'m>(module: &'m Module, fence: Instruction<'m>) {
    let (releases, acquires) = fence.releases_and_acquires();
    let builder = Builder::before(module, fence);
    if releases {
        builder.call(declare(module, &f::okl_mpi_atomic_release), &[]);
    }
    if acquires {
        builder.call(declare(module, &f::okl_mpi_atomic_acquire), &[]);
    }
}

fn replace<'m>(module: &'m Module, access: Instruction<'m>) {
    let address = access.address().expect("an access has an address");
    if flags::is_of_flag(access) {
        return replace_of_flag(module, access, address);
    }
    let (releases, acquires) = access.releases_and_acquires();
    let order = |callee| Builder::before(module, access).call(declare(module, callee), &[]);
    if releases {
        order(&f::okl_mpi_atomic_release);
    }
    match access.opcode() {
        Opcode::LLVMLoad => {
            let value = load(module, access, address, access.ty());
            access.replace_all_uses_with(value);
        }
        Opcode::LLVMStore => store(module, access, address, access.operand(0)),
        Opcode::LLVMAtomicRMW if may_wait(access) => collect(module, access, address),
        Opcode::LLVMAtomicRMW => {
            let value = update(module, access, address);
            access.replace_all_uses_with(value);
        }
        Opcode::LLVMAtomicCmpXchg => {
            let value = compare_exchange(module, access, address);
            access.replace_all_uses_with(value);
        }
        other => unreachable!("not an atomic access: {other:?}"),
    }
    if acquires {
        order(&f::okl_mpi_atomic_acquire);
    }
    access.erase();
}

/// The run time orders what concerns a flag itself.
fn replace_of_flag<'m>(module: &'m Module, access: Instruction<'m>, address: Value<'m>) {
    let builder = Builder::before(module, access);
    if access.opcode() == Opcode::LLVMLoad {
        let (_, size) = size_of(module, access.ty());
        let bits = builder.call(declare(module, &f::okl_mpi_flag_load), &[address, size]);
        access.replace_all_uses_with(builder.value_of_bits(bits, access.ty()));
    } else {
        let value = access.operand(0);
        let (_, size) = size_of(module, value.ty());
        let bits = builder.bits_of(value, 64);
        builder.call(
            declare(module, &f::okl_mpi_flag_store),
            &[address, bits, size],
        );
    }
    access.erase();
}

fn size_of<'m>(module: &'m Module, ty: Type<'m>) -> (u64, Value<'m>) {
    let size = module.store_size_of(ty);
    (size, module.const_i32(size as i32))
}

fn load<'m>(
    module: &'m Module,
    at: Instruction<'m>,
    address: Value<'m>,
    ty: Type<'m>,
) -> Value<'m> {
    let (size, size_value) = size_of(module, ty);
    let builder = Builder::before(module, at);
    if size <= LARGEST {
        let callee = declare(module, &f::okl_mpi_atomic_load);
        let bits = builder.call(callee, &[address, size_value]);
        return builder.value_of_bits(bits, ty);
    }
    let result = variable(module, at, ty);
    let order = module.const_i32(SEQUENTIALLY_CONSISTENT);
    let callee = declare(module, &f::okl_mpi_atomic_load_n);
    builder.call(
        callee,
        &[module.const_i64(size as i64), address, result, order],
    );
    builder.load(ty, result)
}

fn store<'m>(module: &'m Module, at: Instruction<'m>, address: Value<'m>, value: Value<'m>) {
    let (size, size_value) = size_of(module, value.ty());
    let builder = Builder::before(module, at);
    if size <= LARGEST {
        let bits = builder.bits_of(value, 64);
        let callee = declare(module, &f::okl_mpi_atomic_store);
        builder.call(callee, &[address, bits, size_value]);
        return;
    }
    let copy = variable(module, at, value.ty());
    builder.store(value, copy);
    let order = module.const_i32(SEQUENTIALLY_CONSISTENT);
    let callee = declare(module, &f::okl_mpi_atomic_store_n);
    builder.call(
        callee,
        &[module.const_i64(size as i64), address, copy, order],
    );
}

/// Whether nobody can tell when exactly, until this thread synchronises, an update takes place.
fn may_wait(update: Instruction<'_>) -> bool {
    use AtomicOp::*;
    update.is_unused()
        && update.releases_and_acquires() == (false, false)
        && !matches!(update.atomic_operation(), None | Some(Xchg | Nand))
}

fn collect<'m>(module: &'m Module, at: Instruction<'m>, address: Value<'m>) {
    let operation = operation(module, at).expect("others have been expanded");
    let (_, size) = size_of(module, at.ty());
    let builder = Builder::before(module, at);
    let bits = builder.bits_of(at.operand(1), 64);
    let callee = declare(module, &f::okl_mpi_atomic_update);
    builder.call(
        callee,
        &[address, module.const_i32(operation as i32), bits, size],
    );
}

fn update<'m>(module: &'m Module, at: Instruction<'m>, address: Value<'m>) -> Value<'m> {
    let ty = at.ty();
    let operation = operation(module, at).expect("others have been expanded");
    let (size, size_value) = size_of(module, ty);
    let builder = Builder::before(module, at);
    if size <= LARGEST {
        let bits = builder.bits_of(at.operand(1), 64);
        let operation = module.const_i32(operation as i32);
        let callee = declare(module, &f::okl_mpi_atomic_rmw);
        let old = builder.call(callee, &[address, operation, bits, size_value]);
        return builder.value_of_bits(old, ty);
    }
    let copy = variable(module, at, ty);
    let result = variable(module, at, ty);
    builder.store(at.operand(1), copy);
    let order = module.const_i32(SEQUENTIALLY_CONSISTENT);
    let callee = declare(module, &f::okl_mpi_atomic_exchange_n);
    builder.call(
        callee,
        &[module.const_i64(size as i64), address, copy, result, order],
    );
    builder.load(ty, result)
}

fn compare_exchange<'m>(module: &'m Module, at: Instruction<'m>, address: Value<'m>) -> Value<'m> {
    let (expected, desired) = (at.operand(1), at.operand(2));
    let ty = expected.ty();
    let (size, size_value) = size_of(module, ty);
    let builder = Builder::before(module, at);
    let (old, swapped) = if size <= LARGEST {
        let expected_bits = builder.bits_of(expected, 64);
        let desired_bits = builder.bits_of(desired, 64);
        let callee = declare(module, &f::okl_mpi_atomic_cmpxchg);
        let old = builder.call(callee, &[address, expected_bits, desired_bits, size_value]);
        let swapped = builder.compare(old, expected_bits, false);
        (builder.value_of_bits(old, ty), swapped)
    } else {
        let old = variable(module, at, ty);
        let new = variable(module, at, ty);
        builder.store(expected, old);
        builder.store(desired, new);
        let order = module.const_i32(SEQUENTIALLY_CONSISTENT);
        let callee = declare(module, &f::okl_mpi_atomic_compare_exchange_n);
        let size = module.const_i64(size as i64);
        let status = builder.call(callee, &[size, address, old, new, order, order]);
        (
            builder.load(ty, old),
            builder.compare(status, module.const_i32(0), true),
        )
    };
    let pair = builder.insert(at.ty().poison(), old, 0);
    builder.insert(pair, swapped, 1)
}

fn variable<'m>(module: &'m Module, at: Instruction<'m>, ty: Type<'m>) -> Value<'m> {
    let align = module.align_of(ty).max(LARGEST as u32);
    Builder::at_entry(module, at.function()).alloca(ty, align)
}
