//! The functions that run a loop over a set for a range of elements.
//!
//! Code that is left has the loop's kernel and its record alone: in the program they are written once more of these, as they were
//! ahead of time. So the kernel, which LLVM puts in the place of its calls there, is left once.

use okl_abi::Effects;

use crate::analysis::runtime::effects;
use crate::llvm::{Function, Module, Value};
use crate::lower::cpu::lanes::{operand, position};
use crate::lower::cpu::{fill_range, new_range};
use crate::marks::{COMPONENTS, RANGE};
use crate::record::LoopRecord;

/// What such a function is to whoever runs the loop, what its name begins with, and whether data may lie component by component.
const FUNCTIONS: [(&str, &str, bool); 2] =
    [("range", RANGE, false), ("components", COMPONENTS, true)];

/// Whether a kernel is called in a function, where LLVM has not put it in the place of its calls.
pub fn calls(function: Function<'_>, kernel: Function<'_>) -> bool {
    let code = function.instructions().into_iter();
    let mut calls = code.filter_map(|one| one.as_call());
    calls.any(|call| call.callee_function() == Some(kernel))
}

/// Writes those of the loop that code is of, where the kernel stands for them.
pub fn write(code: &Module) -> Result<(), String> {
    let functions = code.functions().into_iter();
    let all = functions.flat_map(|one| one.instructions());
    let mut calls = all.filter_map(|one| one.as_call());
    let Some(anchor) = calls.find(|one| effects(*one).has(Effects::RUNS_LOOP)) else {
        return Ok(());
    };
    let record = LoopRecord::at(anchor).and_then(Result::ok);
    let record = record.ok_or("its record is lost")?;
    let kernel = operand(anchor, "kernel").as_function();
    let kernel = kernel.ok_or("it has no kernel")?;
    for (name, prefix, by_component) in FUNCTIONS {
        if operand(anchor, name) != *kernel {
            continue;
        }
        let range = new_range(code, prefix, kernel);
        range.copy_attribute(kernel, "nounwind");
        fill_range(code, range, kernel, &record.parameters(), by_component);
        let calls = kernel.users().into_iter().filter_map(Value::as_call);
        let calls = calls.filter(|one| one.instruction().function() == range);
        for call in calls.collect::<Vec<_>>() {
            call.follow_convention(kernel);
            if !kernel.has_attribute("noinline") {
                // Where that is not possible it stays a call.
                call.inline();
            }
        }
        let at = position(anchor, name);
        anchor.instruction().set_operand(at, *range);
    }
    Ok(())
}
