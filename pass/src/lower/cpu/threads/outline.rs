//! The function that threads run, which nothing leaves by an exception, and the calls of OpenMP's run time around it.

use std::collections::HashSet;

use okl_abi::{f, openmp};

use super::Places;
use super::area::{Area, Is, Variable, is_pad};
use crate::analysis::variables::is_harmless;
use crate::ir::Region;
use crate::llvm::{Block, Builder, Function, Instruction, Module, Opcode, Value};
use crate::lower::cpu::exceptions;
use crate::lower::runtime_call::declare_openmp;
use crate::marks::BLOCKS;

/// What the name of the function that threads run ends with, behind that of the kernel.
const SUFFIX: &str = "omp_outlined";

/// Makes a function of the code. `first` stands behind what is to become its first parameters. Of code that is of no kernel
/// it is said which variables each thread has of its own: others are shared, whoever writes them.
pub fn outline<'m>(
    module: &'m Module,
    area: Area<'m>,
    places: &Places<'m>,
    first: Instruction<'m>,
    known: Option<&[Instruction<'m>]>,
) -> Function<'m> {
    let mut own = Vec::new();
    let variables = match known {
        Some(known) => area.variables_of(known),
        None => area.variables().expect("it was looked at before"),
    };
    for Variable { variable, is } in variables {
        match is {
            _ if [places.thread, places.bound].contains(&variable) => {}
            Is::Own => {
                for user in variable.instruction_users() {
                    if !area.has(user) {
                        user.erase();
                    }
                }
                variable.move_debug_records(&area.blocks, first);
                own.push(variable);
            }
            Is::Slot => own.push(area.instead(module, variable)),
            Is::Others => own.extend(area.value_of(module, variable, first)),
            Is::Shared => {}
        }
    }
    let mut blocks = area.blocks;
    keep_exceptions(module, area.kernel, &mut blocks);
    for variable in &own {
        variable.move_before(first);
    }
    let body = Block::extract(&blocks, SUFFIX).expect("it was looked at before");
    let entry = body.blocks()[0].terminator().expect("a complete block");
    for variable in own {
        variable.move_before(entry);
    }
    body.set_attribute(module, "nounwind");
    if known.is_none() {
        BLOCKS.put_on(module, body);
    }
    keep_apart(module, area.kernel, body);
    body
}

/// Says of pointers what the kernel says of them: that nothing else leads to what is written by them. What threads update
/// together they all have pointers to.
fn keep_apart<'m>(module: &'m Module, kernel: Function<'m>, body: Function<'m>) {
    let is_known = |one: Instruction<'m>| {
        let callee = one.as_call().map(|call| call.callee_function());
        let is_ours = |callee: Function<'m>| {
            let ends = ["noreturn", "nounwind"];
            let ends = ends.iter().all(|one| callee.has_attribute(one));
            ends || callee.name().starts_with("__kmpc_for_static_")
        };
        let is_known = callee.is_none_or(|callee| {
            callee.is_some_and(|callee| callee.is_intrinsic() || is_ours(callee))
        });
        is_known && !one.is_atomic_access()
    };
    let call = body.users().first().and_then(|user| user.as_call());
    let arguments = call.map(|call| call.arguments()).unwrap_or_default();
    if !body.instructions().into_iter().all(is_known) {
        return;
    }
    for (at, argument) in arguments.into_iter().enumerate() {
        let load = argument.as_op(Opcode::LLVMLoad);
        let variable = load.and_then(|load| load.operand(0).as_op(Opcode::LLVMAlloca));
        let Some(variable) = variable.filter(|_| argument.ty().is_pointer()) else {
            continue;
        };
        let users = variable.instruction_users().into_iter();
        let mut stores = users.filter(|user| user.opcode() == Opcode::LLVMStore);
        let (Some(store), None) = (stores.next(), stores.next()) else {
            continue;
        };
        let parameter = store.operand(0).as_parameter();
        if parameter.is_some_and(|(_, index)| kernel.has_parameter_attribute(index, "noalias")) {
            body.set_parameter_attribute(module, at, "noalias");
        }
    }
}

impl<'m> Area<'m> {
    /// A variable that it uses instead of another one.
    fn instead(&self, module: &'m Module, variable: Instruction<'m>) -> Instruction<'m> {
        let ty = variable.allocated_type().expect("a stack variable");
        let entry = Builder::at_entry(module, self.kernel);
        let new = entry.alloca(ty, variable.stack_alignment());
        variable.replace_uses_if(new, |one| {
            let user = one.user().as_instruction();
            user.is_some_and(|user| self.has(user))
        });
        new.as_instruction().expect("a stack variable")
    }

    /// Of a variable that it only reads, as anybody does: one with its value, where nobody looks at variables.
    fn value_of(
        &self,
        module: &'m Module,
        variable: Instruction<'m>,
        first: Instruction<'m>,
    ) -> Option<Instruction<'m>> {
        let ty = variable.allocated_type()?;
        let is_small =
            ty.is_pointer() || ty.is_float_or_double() || ty.bits().is_some_and(|bits| bits <= 64);
        let is_plain = |user: Instruction<'m>| match user.opcode() {
            Opcode::LLVMLoad => user.is_plain_access() && user.ty() == ty,
            Opcode::LLVMStore => user.operand(0) != *variable,
            _ => is_harmless(user) && !self.has(user),
        };
        let users = variable.instruction_users();
        if !is_small || !users.into_iter().all(is_plain) || self.kernel.has_attribute("optnone") {
            return None;
        }
        let mut stores = variable.instruction_users();
        stores.retain(|user| user.opcode() == Opcode::LLVMStore);
        if let [store] = stores[..]
            && store.operand(0).is_constant()
            && store.operand(0).ty() == ty
        {
            let new = self.instead(module, variable);
            Builder::before(module, first).store(store.operand(0), *new);
            return Some(new);
        }
        let front = self.blocks[0].predecessors()[0].terminator()?;
        let builder = Builder::before(module, front);
        let value = builder.load(ty, *variable);
        let passed = match ty.is_pointer() {
            true => value,
            false => builder.bits_of(value, 64),
        };
        let new = self.instead(module, variable);
        let builder = Builder::before(module, first);
        let value = match ty.is_pointer() {
            true => passed,
            false => builder.value_of_bits(passed, ty),
        };
        builder.store(value, *new);
        Some(new)
    }
}

/// Has the program end for an exception that would leave blocks.
fn keep_exceptions<'m>(module: &'m Module, kernel: Function<'m>, blocks: &mut Vec<Block<'m>>) {
    let known: HashSet<_> = blocks.iter().copied().collect();
    let throws = !kernel.has_attribute("nounwind");
    let all: Vec<_> = blocks
        .iter()
        .flat_map(|block| block.instructions())
        .collect();
    // Where exceptions come to that nothing in the blocks handles.
    let mut pad = None;
    let mut added = Vec::new();
    let mut pad_like = |like: Instruction<'m>, added: &mut Vec<Block<'m>>| {
        *pad.get_or_insert_with(|| {
            let block = exceptions::pad(module, like);
            added.push(block);
            block
        })
    };
    for one in all {
        match one.opcode() {
            Opcode::LLVMCall if throws && one.may_throw() => {
                let pad = pad_like(one, &mut added);
                added.push(one.as_call().expect("a call").unwind_to(pad));
            }
            Opcode::LLVMLandingPad => one.catch_all(module),
            Opcode::LLVMResume => {
                let builder = Builder::before(module, one);
                let thrown = builder.extract(one.operand(0), 0);
                exceptions::end_for(&builder, thrown);
                one.erase();
            }
            Opcode::LLVMInvoke | Opcode::LLVMBr | Opcode::LLVMSwitch => {
                let block = one.block();
                // The last block goes on behind the loop.
                let is_left =
                    |next: &Block<'m>| !known.contains(next) && Some(&block) != blocks.last();
                for next in block.successors().into_iter().filter(is_left) {
                    // Calls in the block that are above may have been split from it.
                    if added.contains(&next) {
                        continue;
                    }
                    let instead = match is_pad(next) {
                        true => pad_like(one, &mut added),
                        false => {
                            let new = kernel.append_block(module);
                            exceptions::end(&Builder::at_end_like(module, new, one));
                            added.push(new);
                            new
                        }
                    };
                    block.turn(next, instead);
                }
            }
            _ => {}
        }
    }
    blocks.extend(added);
}

/// Has all threads run what a call runs, where there is something for several, and else this thread.
pub fn fork<'m>(
    module: &'m Module,
    call: Instruction<'m>,
    places: &Places<'m>,
    thread: Value<'m>,
    several: impl FnOnce(&Builder<'m>) -> Value<'m>,
) {
    let kernel = call.function();
    let like = thread.as_instruction().expect("a call");
    let before = call.block();
    let serial = call.split_before();
    let jump = serial.terminator().expect("a complete block");
    let after = serial.successors()[0];
    let arguments = call.as_call().expect("it is one");
    let body = arguments.callee();
    let captures: Vec<_> = arguments
        .arguments()
        .into_iter()
        .skip(Region::LEADING)
        .collect();
    let source = ident(module, PLAIN);

    let forks = kernel.append_block(module);
    let builder = Builder::at_end_like(module, forks, like);
    let count = module.const_i32(captures.len() as i32);
    let passed: Vec<_> = [source, count, body].into_iter().chain(captures).collect();
    builder.call(
        declare_openmp(module, &openmp::f::__kmpc_fork_call),
        &passed,
    );
    builder.go(after);

    let begins = declare_openmp(module, &f::okl_mpi_kmpc_serialized_parallel);
    let ends = declare_openmp(module, &f::okl_mpi_kmpc_end_serialized_parallel);
    let builder = Builder::before(module, call);
    builder.stand_at(like);
    builder.call(begins, &[source, thread]);
    builder.store(thread, places.thread);
    builder.store(module.const_i32(0), places.bound);
    let builder = Builder::before(module, jump);
    builder.stand_at(like);
    builder.call(ends, &[source, thread]);

    before.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, before, like);
    builder.go_if(several(&builder), forks, serial);
}

/// What OpenMP's run time is told of the source: `KMP_IDENT_KMPC`, and for a loop `KMP_IDENT_WORK_LOOP`.
pub const PLAIN: i32 = 2;
/// See [`PLAIN`].
pub const LOOP: i32 = 2 | 0x200;

/// A place in the source, which is not told.
pub fn ident(module: &Module, flags: i32) -> Value<'_> {
    const UNKNOWN: &str = ";unknown;unknown;0;0;;";
    let name = format!("okl.ident.{flags}");
    if let Some(known) = module.global(&name) {
        return *known;
    }
    let text = module.global("okl.source");
    let text = text.unwrap_or_else(|| module.add_text("okl.source", UNKNOWN));
    let [zero, flags, size] = [0, flags, UNKNOWN.len() as i32].map(|one| module.const_i32(one));
    let value = module.const_struct(&[zero, flags, zero, size, *text]);
    let ident = module.add_constant(&name, value);
    ident.set_alignment(8);
    *ident
}
