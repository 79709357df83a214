//! Loops over blocks that ranks share: each rank has its part of the outermost loop run on its device.
//!
//! What is evaluated in front of all blocks are numbers of 64 bits, which the function gets that threads run; with the part
//! that one of them is dealt they go to a function that launches the kernel.

use std::collections::HashSet;

use okl_abi::gpu::f;

use super::host::{copied, is_number, items};
use super::{Nest, Passed};
use crate::llvm::{Block, Builder, Function, Global, Linkage, Module, Opcode, Type, Value};
use crate::lower::cpu::counted::Copies;
use crate::lower::cpu::threads::Launch;
use crate::lower::cpu::threads::area::Area;
use crate::lower::runtime_call::declare;

/// Why blocks are not shared by devices of ranks.
pub const ATOMIC: &str = "it updates memory atomically, which ranks do together";

/// Whether code, or a function that it calls, may have atomic accesses.
pub fn updates_together(code: &[Block<'_>]) -> bool {
    let mut seen = HashSet::new();
    let mut rest = code.to_vec();
    while let Some(block) = rest.pop() {
        for one in block.instructions() {
            if one.is_atomic_access() {
                return true;
            }
            let callee = one.as_call().and_then(|call| call.callee_function());
            if let Some(callee) = callee.filter(|callee| seen.insert(*callee)) {
                rest.extend(callee.blocks());
            }
        }
    }
    false
}

/// How a value comes to the function that launches.
enum Carried<'m> {
    /// As a number of 64 bits.
    Number(Type<'m>),
    /// By its address, as such a number.
    Object(Type<'m>),
    /// It is the number of the first iteration.
    Base,
    /// The library gives it.
    Library,
}

/// Evaluates in front of the loop what its kernel needs, and makes the function that launches it.
pub fn launch_parts<'m>(
    module: &'m Module,
    nest: &Nest<'m>,
    record: Global<'m>,
    has_cpu: bool,
) -> Launch<'m> {
    let outermost = &nest.grid[0];
    let known = Area::of(outermost).known;
    let mut copies = Copies::before(module, outermost.begins, known);
    let grid = nest.grid.iter().map(|one| copies.counted(module, one));
    let counted: Vec<_> = grid.collect();
    let one = module.const_i64(1);
    let long = module.int(64);
    let items = items(module, nest, &mut copies);
    let builder = copies.builder;
    // The direction of the outermost loop is that of the part.
    let mut blocks = [one; 3];
    for (counter, counted) in nest.grid.iter().zip(&counted).skip(1) {
        blocks[counter.axis] = counted.count;
    }
    let mut values: Vec<_> = blocks.into_iter().chain(items).collect();
    let entry = Builder::at_entry(module, nest.function);
    let mut carried = Vec::new();
    for what in &nest.passed {
        let load = |ty: Type<'m>, address: Value<'m>| {
            let value = builder.load(ty, address);
            match ty.is_pointer() {
                true => builder.cast(Opcode::LLVMPtrToInt, value, long),
                false => builder.bits_of(value, 64),
            }
        };
        let object = |ty: Type<'m>, address: Value<'m>| {
            let copy = copied(&entry, &builder, ty, address);
            builder.cast(Opcode::LLVMPtrToInt, copy, long)
        };
        let of = |ty: Type<'m>, address: Value<'m>| match is_number(ty) {
            true => (load(ty, address), Carried::Number(ty)),
            false => (object(ty, address), Carried::Object(ty)),
        };
        let (value, how) = match *what {
            Passed::Base => {
                carried.push(Carried::Base);
                continue;
            }
            Passed::Lock | Passed::Lacks | Passed::FirstBlock(_) => {
                carried.push(Carried::Library);
                continue;
            }
            Passed::Global(ref name) => {
                let variable = module.global(name).expect("the device's code is a copy");
                let address = builder.cast(Opcode::LLVMPtrToInt, *variable, long);
                (address, Carried::Number(module.pointer()))
            }
            Passed::First(at) => (counted[at].first, Carried::Number(long)),
            Passed::Step(at) => (counted[at].step, Carried::Number(long)),
            Passed::Few(at) => {
                let value = builder.load(long, *nest.variables[at]);
                (value, Carried::Number(module.int(32)))
            }
            Passed::Variable(at) => {
                let variable = nest.variables[at];
                of(
                    variable.allocated_type().expect("a stack variable"),
                    *variable,
                )
            }
            Passed::Object(at) => {
                let ty = nest.function.copied_parameter(at);
                let ty = ty.expect("it is passed as a copy");
                of(ty, nest.function.parameters()[at])
            }
        };
        values.push(value);
        carried.push(how);
    }
    let function = launcher(module, nest, record, &carried, values.len(), has_cpu);
    Launch { function, values }
}

/// `i32 launch(i64 first, i64 count, i64 ...)`: what follows are blocks and work items, three of each, and what is carried.
fn launcher<'m>(
    module: &'m Module,
    nest: &Nest<'m>,
    record: Global<'m>,
    carried: &[Carried<'m>],
    values: usize,
    has_cpu: bool,
) -> Function<'m> {
    let (long, short) = (module.int(64), module.int(32));
    let ty = module.function_type(short, &vec![long; 2 + values]);
    let name = format!("{}.launch", nest.function.name());
    let function = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    function.compile_like(nest.function);
    function.set_attribute(module, "nounwind");
    let block = function.append_block(module);
    let builder = Builder::at_end(module, block);
    builder.stand_at_start_of(function);
    let parameters = function.parameters();
    let (first, count, rest) = (parameters[0], parameters[1], &parameters[2..]);
    let array = |values: &[Value<'m>]| {
        let array = builder.alloca(module.array(long, values.len() as u64), 8);
        for (at, value) in values.iter().enumerate() {
            builder.store(*value, builder.offset(array, 8 * at as i64));
        }
        array
    };
    let mut blocks = rest[..3].to_vec();
    blocks[nest.grid[0].axis] = count;
    let blocks = array(&blocks);
    let items = array(&rest[3..6]);
    let arguments = builder.alloca(
        module.array(module.pointer(), carried.len().max(1) as u64),
        8,
    );
    let mut passed = rest[6..].iter().copied();
    for (at, how) in carried.iter().enumerate() {
        let keep = |value: Value<'m>| {
            let ty = value.ty();
            let copy = builder.alloca(ty, module.align_of(ty));
            builder.store(value, copy);
            copy
        };
        let address = match how {
            Carried::Base => keep(first),
            Carried::Library => module.pointer().zero(),
            Carried::Number(ty) => {
                let value = passed.next().expect("one for each");
                keep(match ty.is_pointer() {
                    true => builder.cast(Opcode::LLVMIntToPtr, value, *ty),
                    false => builder.value_of_bits(value, *ty),
                })
            }
            Carried::Object(ty) => {
                let value = passed.next().expect("one for each");
                let from = builder.cast(Opcode::LLVMIntToPtr, value, module.pointer());
                copied(&builder, &builder, *ty, from)
            }
        };
        builder.store(address, builder.offset(arguments, 8 * at as i64));
    }
    let may = module.const_i32(i32::from(has_cpu));
    let launch = declare(module, &f::okl_gpu_launch_v6);
    let ran = builder.call(launch, &[*record, blocks, items, arguments, may]);
    builder.ret(Some(ran));
    function
}
