//! Elements of other ranks on a device: a kernel that moves elements between data and a buffer.
//!
//! Guarantee: each work item moves one piece, and a piece is of one component of one element, however data lie: nothing is moved
//! but the elements that the run time asks for.

use okl_abi::gpu::parameter;
use okl_abi::op2::halo::{ADDRESSES, BLOCK, INTS, NUMBERS, PIECES};

use super::asked::number;
use super::launch::{Kernel, Parameter};
use super::target::GpuTarget;
use crate::llvm::{Builder, Comparison, IntPredicate, Linkage, Module, Opcode};

/// Its name in the code.
const ENTRY: &str = "okl_op2_halo";

/// Makes it, in a copy of a module with loops over sets.
pub fn outline(device: &Module, target: &'static GpuTarget) -> Kernel {
    let (int, long) = (device.int(32), device.int(64));
    let address = device.pointer_into(target.global_space);
    let types = [
        vec![address; ADDRESSES],
        vec![int; INTS],
        vec![long; NUMBERS],
    ];
    let ty = device.function_type(device.void(), &types.concat());
    let kernel = device.add_function(ENTRY, ty, Linkage::LLVMExternalLinkage);
    let given = kernel.parameters();
    let (addresses, rest) = given.split_at(ADDRESSES);
    let (ints, numbers) = rest.split_at(INTS);
    let (&[data, buffer, listed], &[takes, first]) = (addresses, ints) else {
        unreachable!("there are as many");
    };
    let &[count, bytes, of_component, of_element, step, stride] = numbers else {
        unreachable!("there are as many");
    };
    let at = |block| Builder::at_end(device, block);
    let [start, begin, look, run, done] = [(); 5].map(|()| kernel.append_block(device));
    let byte = device.int(8);

    let builder = at(start);
    let item = number(&builder, &target.item, 0, Some(BLOCK));
    let block = number(&builder, &target.block, 0, None);
    let before = builder.multiply(block, device.const_i64(BLOCK));
    let which = builder.sum(before, item);
    let end = builder.multiply(count, of_element);
    let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
    builder.go_if(builder.ask(less, which, end), begin, done);

    let builder = at(begin);
    let position = builder.binary(Opcode::LLVMUDiv, which, of_element);
    let piece = builder.binary(Opcode::LLVMURem, which, of_element);
    let component = builder.binary(Opcode::LLVMUDiv, piece, of_component);
    let within = builder.binary(Opcode::LLVMURem, piece, of_component);
    let following = builder.sum(builder.sign_extend(first, long), position);
    let is_listed = builder.compare(listed, listed.ty().zero(), true);
    builder.go_if(is_listed, look, run);

    let builder = at(look);
    let entry = builder.element(int, listed, position);
    let told = builder.sign_extend(builder.load(int, entry), long);
    builder.go(run);

    let builder = at(run);
    let element = builder.phi(long);
    element.add_incoming(following, begin);
    element.add_incoming(told, look);
    let there = [(element, step), (component, stride), (within, bytes)]
        .map(|(number, by)| builder.multiply(number, by))
        .into_iter()
        .fold(data, |at, distance| builder.element(byte, at, distance));
    let here = builder.element(byte, buffer, builder.multiply(which, bytes));
    let is_taken = builder.compare(takes, int.zero(), true);
    let from = builder.select(is_taken, here, there);
    let to = builder.select(is_taken, there, here);
    let mut front = builder;
    for one in PIECES {
        let [yes, next] = [(); 2].map(|()| kernel.append_block(device));
        let is_it = front.compare(bytes, device.const_i64(one), false);
        front.go_if(is_it, yes, next);
        let builder = at(yes);
        let ty = device.int(8 * one as u32);
        builder.store(builder.load(ty, from), to);
        builder.go(done);
        front = at(next);
    }
    front.go(done);
    at(done).ret(None);

    described()
}

/// What the host knows of it, which is the same for all devices.
pub fn described() -> Kernel {
    let of = |kind, size| Parameter {
        kind,
        size,
        is_alone: false,
        stays: None,
    };
    let mut parameters = Vec::new();
    parameters.extend((0..ADDRESSES).map(|_| of(parameter::ADDRESS, 8)));
    parameters.extend((0..INTS).map(|_| of(0, 4)));
    parameters.extend((0..NUMBERS).map(|_| of(0, 8)));
    Kernel {
        entry: ENTRY.to_string(),
        parameters,
        items: Some([BLOCK, 1, 1]),
        ..Kernel::default()
    }
}
