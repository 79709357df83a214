//! Loops over sets.

use std::collections::HashSet;

use okl_abi::jit::{code_flags, value};
use okl_abi::op2::{Parameter as Passed, f};

use super::{
    At, Left, Place, Reached, add_entry, addresses, copy, counts_flag, declared, erase_unused,
    fold, tell,
};
use crate::analysis::access::{outside, pointers, touched_of_each};
use crate::analysis::call_graph::is_final;
use crate::analysis::kernel::Kernel;
use crate::ir::{Kind, Mode};
use crate::llvm::{Call, Function, Module, OwnModule, VectorUnit, demangle};
use crate::lower::cpu::lanes::{loops, operand, record};
use crate::lower::jit::ranges;
use crate::marks::runs_range;
use crate::record::LoopRecord;
use crate::simplified::Unrolled;

/// Finds those of a lowered module that can be left.
pub(super) fn check<'m>(module: &'m Module, unit: &VectorUnit<'_>) -> Vec<Left<'m>> {
    let mut found = Vec::new();
    for (range, sites) in loops(module) {
        let is_new = sites.iter().all(|site| operand(*site, "jit").is_null());
        let Some(record) = record(range, &sites).filter(|_| is_new) else {
            continue;
        };
        match record.and_then(|record| of(module, unit, range, &sites, &record)) {
            Ok(left) => found.push(left),
            Err(why) => {
                for site in sites {
                    tell(site, ("loop", ""), Some(&why));
                }
            }
        }
    }
    found
}

fn of<'m>(
    module: &'m Module,
    unit: &VectorUnit<'_>,
    range: Function<'m>,
    sites: &[Call<'m>],
    record: &LoopRecord<'_>,
) -> Result<Left<'m>, String> {
    let function = |name| operand(sites[0], name).as_function();
    let kernel = function("kernel").filter(|one| !one.is_declaration() && is_final(*one));
    let kernel = kernel.ok_or("the kernel is defined or replaced in another file")?;
    let parameters = record.parameters();
    Kernel::of(module, kernel, &parameters).keeps_to_arguments()?;
    let roots: Vec<_> = [Some(kernel), Some(range), function("components")]
        .into_iter()
        .flatten()
        .collect();
    let reached = Reached::by(&roots)?;
    reached.calls_alike(unit)?;
    let left = Reached::by(&[kernel])?;
    let code = code(module, &left, sites[0], record)?;
    let (addresses, mut values) = addresses(module, &code, |_| true)?;
    values.extend(shapes(module, &roots));
    let counts = [Mode::Increment, Mode::Min, Mode::Max];
    let counts_lanes = record.accesses.iter().any(|one| counts.contains(&one.mode));
    let waits = may_wait(module, kernel, record).and_then(|()| knows_variables(&code, &values));
    if let Err(why) = &waits {
        for site in sites {
            let message = format!("loop runs at once with OKL_LAZY=1, too: {why}");
            site.instruction().remark("Lazy", &message, true);
        }
    }
    let waits = waits.map_or(0, |()| code_flags::MAY_WAIT);
    Ok(Left {
        at: At::Loops(sites.to_vec()),
        name: demangle(&kernel.name()),
        bitcode: code.bitcode(),
        addresses,
        flags: reached.flags(kernel, counts_lanes, false) | waits | counts_flag(&code, &values),
        values,
        vector_bits: i64::from(unit.bits(kernel)),
        unwinds: reached.unwinds(),
    })
}

/// Whether a kernel, which writes its arguments alone, also reads nothing but these and variables that it names, and uses of each
/// argument the element alone; and if not, why.
fn may_wait(module: &Module, kernel: Function<'_>, record: &LoopRecord<'_>) -> Result<(), String> {
    let kernel = Unrolled::of(module, kernel);
    let parameters = record.parameters();
    Kernel::of(module, *kernel, &parameters).reads_known_memory()?;
    for (at, (parameter, value)) in parameters.iter().zip(kernel.parameters()).enumerate() {
        if parameter.kind == Kind::Number {
            continue;
        }
        let known = parameter.access.element.and_then(|element| {
            let pointers = pointers(module, value, parameter.is_table())?;
            let touched = touched_of_each(module, &pointers)?;
            let mut touched = touched.iter();
            touched
                .all(|one| outside(element, one.all()).is_none())
                .then_some(())
        });
        known.ok_or_else(|| {
            format!("what its kernel uses of arg{at} besides the element is not known")
        })?;
    }
    Ok(())
}

/// Whether all variables that code names are among its values; and if not, which is not.
fn knows_variables(code: &Module, values: &[Place<'_>]) -> Result<(), String> {
    for (at, one) in declared(code).into_iter().enumerate() {
        let mut known = values.iter().filter(|one| one.kind == value::VARIABLE);
        let is_variable = one.as_global().is_some_and(|one| one.is_declaration());
        if is_variable && !known.any(|one| one.place == at as i64) {
            let name = demangle(&one.name());
            return Err(format!(
                "its kernel reads {name}, which is large or has pointers"
            ));
        }
    }
    Ok(())
}

/// What is reached, in a module of its own, and what runs the loop there: the kernel stands for what [`ranges`] writes.
fn code(
    module: &Module,
    reached: &Reached<'_>,
    site: Call<'_>,
    record: &LoopRecord<'_>,
) -> Result<OwnModule, String> {
    let code = copy(module, &reached.all);
    {
        let named = |name: &str| {
            let there = operand(site, name).as_function();
            there.and_then(|one| code.function(&one.name()))
        };
        let kernel = named("kernel").ok_or("its kernel has no name")?;
        let ranges = ["range", "components"].map(|name| operand(site, name).as_function());
        let [_, components] = ranges;
        let calls = |range: Option<Function<'_>>| {
            let kernel = operand(site, "kernel").as_function();
            kernel
                .zip(range)
                .is_some_and(|(kernel, range)| ranges::calls(range, kernel))
        };
        if ranges.into_iter().any(calls) {
            // It is as large there.
            kernel.set_attribute(&code, "noinline");
        }
        let (none, zero) = (code.pointer().zero(), code.const_i32(0));
        let runs = &f::okl_op2_par_loop_v8;
        let anchor = add_entry(&code, kernel, runs, |name| match name {
            "kernel" | "range" => *kernel,
            "components" if components.is_some() => *kernel,
            "count" | "width" | "any_order" => zero,
            _ => none,
        });
        record.leave_at(&code, anchor);
    }
    erase_unused(&code);
    Ok(code)
}

/// The fields of what is passed that functions read which run the loop for a range, and that say how elements lie.
fn shapes<'m>(module: &'m Module, functions: &[Function<'m>]) -> Vec<Place<'m>> {
    const FIELD: i64 = 8;
    /// The parameter of such a function that all of that is behind.
    const PASSED: i64 = 1;
    let mut offsets = HashSet::new();
    for &function in functions.iter().filter(|one| runs_range(**one)) {
        let read = fold::loads(module, function).filter(|(_, place, _)| *place == PASSED);
        offsets.extend(read.filter_map(|(_, _, offset)| {
            let field = (offset / FIELD) as usize % Passed::NAMES.len();
            let is_shape = ["size", "arity", "stride"].contains(&Passed::NAMES[field]);
            (is_shape && offset % FIELD == 0).then_some(offset)
        }));
    }
    let mut offsets: Vec<_> = offsets.into_iter().collect();
    offsets.sort_unstable();
    let all = offsets.into_iter().map(|offset| Place {
        kind: value::BEHIND,
        place: PASSED,
        offset,
        size: FIELD,
        variable: None,
    });
    all.collect()
}
