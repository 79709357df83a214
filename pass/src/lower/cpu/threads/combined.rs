//! What threads combine behind a loop that they share, as clang writes a `reduction`: each has a variable of its own, which
//! begins with what changes nothing in the end, and one after the other combines what is in it with what is there for all.

use okl_abi::{AtomicOp, f};

use crate::analysis::folds::Fold;
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Opcode,
    RealPredicate, Type, Value,
};
use crate::lower::runtime_call::declare_openmp;

use super::outline::{PLAIN, ident};

/// The lock that threads take by turns, by the name that clang gives it.
const LOCK: &str = ".gomp_critical_user_.reduction.var";

/// What threads combine.
pub struct Combined<'m> {
    /// Where it is in the end: an address that is known in front of the loop.
    pub target: Value<'m>,
    /// The variable that each thread has of its own, on the stack.
    pub own: Instruction<'m>,
    /// How.
    pub operation: Fold,
    /// What each thread begins with, as a number of 64 bits from in front of the loop, where that is no constant.
    pub first: Option<Value<'m>>,
}

/// The number that changes nothing where it is combined with others of its type; none where that depends on them.
fn neutral(operation: Fold, ty: Type<'_>) -> Option<Value<'_>> {
    match operation {
        Fold::Add => Some(ty.neutral()),
        Fold::Multiply if ty.is_integer() => Some(ty.integer_constant(1)),
        Fold::Multiply => Some(ty.floating_constant(1.0)),
        Fold::Xor => Some(ty.zero()),
        Fold::And | Fold::Or | Fold::All | Fold::Any | Fold::Choice(_) | Fold::Put(_) => None,
    }
}

/// Two numbers as one.
fn combine<'m>(builder: &Builder<'m>, operation: Fold, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    let ty = a.ty();
    let is_floating = ty.is_floating();
    let how = match operation {
        Fold::Add if is_floating => Opcode::LLVMFAdd,
        Fold::Add => Opcode::LLVMAdd,
        Fold::Multiply if is_floating => Opcode::LLVMFMul,
        Fold::Multiply => Opcode::LLVMMul,
        Fold::And => Opcode::LLVMAnd,
        Fold::Or => Opcode::LLVMOr,
        Fold::Xor => Opcode::LLVMXor,
        Fold::All | Fold::Any => {
            let [a, b] = [a, b].map(|one| builder.compare(one, ty.zero(), true));
            let how = match operation {
                Fold::All => Opcode::LLVMAnd,
                _ => Opcode::LLVMOr,
            };
            return builder.int_cast(builder.binary(how, a, b), ty);
        }
        Fold::Choice(by) => return chosen(builder, by, a, b),
        Fold::Put(constant) => {
            let is_put = builder.compare(b, ty.integer_constant(constant.into()), false);
            return builder.select(is_put, b, a);
        }
    };
    builder.binary(how, a, b)
}

/// One of two numbers.
fn chosen<'m>(builder: &Builder<'m>, by: AtomicOp, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    let takes = |is: Comparison| builder.select(builder.ask(is, b, a), b, a);
    let keeps = |is: Comparison| builder.select(builder.ask(is, b, a), a, b);
    let integer = Comparison::Integer;
    let floating = Comparison::Floating;
    match by {
        AtomicOp::Max => takes(integer(IntPredicate::LLVMIntSGT)),
        AtomicOp::Min => takes(integer(IntPredicate::LLVMIntSLT)),
        AtomicOp::UMax => takes(integer(IntPredicate::LLVMIntUGT)),
        AtomicOp::UMin => takes(integer(IntPredicate::LLVMIntULT)),
        AtomicOp::FGreater => takes(floating(RealPredicate::LLVMRealOGT)),
        AtomicOp::FLess => takes(floating(RealPredicate::LLVMRealOLT)),
        AtomicOp::FNotLess => keeps(floating(RealPredicate::LLVMRealOLT)),
        AtomicOp::FNotGreater => keeps(floating(RealPredicate::LLVMRealOGT)),
        AtomicOp::FMax | AtomicOp::FMin => {
            let name = match by {
                AtomicOp::FMax => "maxnum",
                _ => "minnum",
            };
            let module = builder.module();
            let bits = module.store_size_of(a.ty()) * 8;
            let ty = module.function_type(a.ty(), &[a.ty(), a.ty()]);
            let function = module.declared(&format!("llvm.{name}.f{bits}"), ty);
            builder.call(function, &[a, b])
        }
        _ => unreachable!("it is no choice"),
    }
}

/// Whether threads can combine numbers of a type so, each in a variable of its own.
pub fn can_combine(operation: Fold, ty: Type<'_>) -> bool {
    let fits = ty.is_float_or_double() || ty.is_integer() && ty.bits() <= Some(64);
    let has_first = ty.is_integer() || ty.is_floating();
    fits || has_first && neutral(operation, ty).is_some()
}

impl<'m> Combined<'m> {
    /// What each thread begins with, in front of the loop: what is there, where combining it twice changes nothing.
    pub fn first(
        builder: &Builder<'m>,
        target: Value<'m>,
        operation: Fold,
        ty: Type<'m>,
    ) -> Option<Value<'m>> {
        let is_asked = neutral(operation, ty).is_none();
        is_asked.then(|| builder.bits_of(builder.load(ty, target), 64))
    }

    fn ty(&self) -> Type<'m> {
        self.own.allocated_type().expect("a stack variable")
    }

    /// Gives a thread's variable its first value.
    pub fn begin(&self, builder: &Builder<'m>) {
        let known = neutral(self.operation, self.ty());
        let first = known.or_else(|| Some(builder.value_of_bits(self.first?, self.ty())));
        builder.store(first.expect("it was looked at before"), *self.own);
    }
}

/// Has a thread combine its own with what all have: between two blocks, of which the first one has no end. `list` is a variable
/// of the thread's with room for so many addresses. Returns the blocks for that.
pub fn end<'m>(
    builder: &Builder<'m>,
    all: &[Combined<'m>],
    list: Value<'m>,
    thread: Value<'m>,
    behind: Block<'m>,
) -> [Block<'m>; 2] {
    let module = builder.module();
    let function = behind.function();
    let pointer = module.pointer();
    for (at, one) in all.iter().enumerate() {
        let place = builder.element(pointer, list, module.const_i64(at as i64));
        builder.store(*one.own, place);
    }
    let source = ident(module, PLAIN);
    let lock = module.global(LOCK).unwrap_or_else(|| {
        let ty = module.array(module.int(32), 8);
        let linkage = Linkage::LLVMCommonLinkage;
        let lock = module.add_global(LOCK, ty, Some(ty.zero()), linkage);
        lock.set_alignment(8);
        lock
    });
    let meets = meets(module);
    let leaves = declare_openmp(module, &f::okl_mpi_kmpc_end_reduce_nowait);
    for one in [meets, leaves] {
        one.set_attribute(module, "convergent");
    }
    let count = module.const_i32(all.len() as i32);
    let bytes = module.const_i64(8 * all.len() as i64);
    let function_of_lists = of_lists(module, function, all);
    let arguments = [
        source,
        thread,
        count,
        bytes,
        list,
        *function_of_lists,
        *lock,
    ];
    let turn = builder.call(meets, &arguments);
    let [takes, never] = [(); 2].map(|()| function.append_block(module));
    // That they are to combine it by atomic operations the run time says only to whom says that he can.
    let cases = [(1, takes), (2, never)].map(|(case, block)| (module.const_i32(case), block));
    builder.go_by(turn, &cases, behind);

    let like = turn.as_instruction().expect("a call");
    let builder = Builder::at_end_like(module, never, like);
    builder.trap();
    builder.go(behind);
    let builder = Builder::at_end_like(module, takes, like);
    for one in all {
        let target = builder.load(one.ty(), one.target);
        let own = builder.load(one.ty(), *one.own);
        builder.store(combine(&builder, one.operation, target, own), one.target);
    }
    builder.call(leaves, &[source, thread, *lock]);
    builder.go(behind);
    [takes, never]
}

/// The run time's function by which threads take turns. Ours on ranks has one parameter more.
fn meets(module: &Module) -> Function<'_> {
    const NAME: &str = "__kmpc_reduce_nowait";
    module.function(NAME).unwrap_or_else(|| {
        let ours = &f::okl_mpi_reduce_nowait;
        let parameters = ours.params[..ours.params.len() - 1].iter();
        let parameters: Vec<_> = parameters.map(|&ty| module.abi_type(ty)).collect();
        let ty = module.function_type(module.abi_type(ours.ret), &parameters);
        let declared = module.add_function(NAME, ty, Linkage::LLVMExternalLinkage);
        declared.set_attribute(module, "nounwind");
        declared
    })
}

/// The function that combines what the addresses of one list lead to with what those of a second one do.
fn of_lists<'m>(module: &'m Module, function: Function<'m>, all: &[Combined<'m>]) -> Function<'m> {
    let pointer = module.pointer();
    let ty = module.function_type(module.void(), &[pointer, pointer]);
    let name = format!("{}.omp.reduction.reduction_func", function.name());
    let combines = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    combines.compile_like(function);
    for one in ["norecurse", "nounwind"] {
        combines.set_attribute(module, one);
    }
    let builder = Builder::at_end(module, combines.append_block(module));
    let lists = combines.parameters();
    for (at, one) in all.iter().enumerate() {
        let place = |list: Value<'m>| {
            let place = builder.element(pointer, list, module.const_i64(at as i64));
            builder.load(pointer, place)
        };
        let [to, from] = [lists[0], lists[1]].map(place);
        let [a, b] = [to, from].map(|place| builder.load(one.ty(), place));
        builder.store(combine(&builder, one.operation, a, b), to);
    }
    builder.ret(None);
    combines
}
