//! Leaves the code of loops over sets for the program to compile once more.
//!
//! What runs a loop is handed a [`JitCode`]: the code that it has now, before it works on several elements at once, and what a
//! version of it may rest on. That are variables of the program that the loop's body reads and cannot change, and how
//! the elements of its arguments lie. A loop that is not left runs as it was compiled: a remark says why.

use std::collections::HashSet;

use okl_abi::jit::{ENTRY, JitCode, JitValue, code_flags, value};
use okl_abi::op2::{Parameter as Passed, f};

use super::{declared, fold, rounding};
use crate::analysis::call_graph::is_final;
use crate::analysis::kernel::Kernel;
use crate::ir::Mode;
use crate::llvm::{
    Builder, Call, Function, Linkage, Module, OwnModule, Value, VectorUnit, Visibility, demangle,
    hash_bytes,
};
use crate::lower::cpu::lanes::{loops, operand, position, record};
use crate::lower::runtime_call::declare;
use crate::marks::runs_range;
use crate::record::LoopRecord;
use crate::simplified::mentioned;

/// A loop that is left.
pub struct Left<'m> {
    sites: Vec<Call<'m>>,
    name: String,
    bitcode: Vec<u8>,
    addresses: Vec<Value<'m>>,
    values: Vec<Place<'m>>,
    flags: i64,
    vector_bits: i64,
}

/// A value that may be known.
struct Place<'m> {
    kind: i64,
    place: i64,
    offset: i64,
    size: i64,
    variable: Option<Value<'m>>,
}

/// Finds the loops of a lowered module that can be left.
pub fn check<'m>(module: &'m Module, unit: &VectorUnit<'_>) -> Vec<Left<'m>> {
    let mut found = Vec::new();
    for (range, sites) in loops(module) {
        let is_new = sites.iter().all(|site| operand(*site, "jit").is_null());
        let Some(record) = record(range, &sites).filter(|_| is_new) else {
            continue;
        };
        match record.and_then(|record| Left::of(module, unit, range, &sites, &record)) {
            Ok(left) => found.push(left),
            Err(why) => {
                for site in &sites {
                    let message = format!("loop is not compiled once more at run time: {why}");
                    site.instruction().remark("Jit", &message, true);
                }
            }
        }
    }
    found
}

/// Leaves them. True where the module was changed.
pub fn emit<'m>(module: &'m Module, all: &[Left<'m>]) -> bool {
    for left in all {
        left.emit(module);
    }
    !all.is_empty()
}

impl<'m> Left<'m> {
    fn of(
        module: &'m Module,
        unit: &VectorUnit<'_>,
        range: Function<'m>,
        sites: &[Call<'m>],
        record: &LoopRecord<'_>,
    ) -> Result<Self, String> {
        let function = |name| operand(sites[0], name).as_function();
        let kernel = function("kernel").filter(|one| !one.is_declaration() && is_final(*one));
        let kernel = kernel.ok_or("the kernel is defined or replaced in another file")?;
        let parameters = record.parameters();
        Kernel::of(module, kernel, &parameters).keeps_to_arguments()?;
        let roots: Vec<_> = [Some(kernel), Some(range), function("components")]
            .into_iter()
            .flatten()
            .collect();
        let reached = mentioned(&roots);
        let bodies = || {
            let functions = reached.iter().filter_map(|one| one.as_function());
            functions.filter(|one| !one.is_declaration() && !one.is_interposable())
        };
        for body in bodies() {
            can_be_moved(body)?;
        }
        let tables = reached.iter().filter_map(|one| one.as_global());
        let mut tables = tables.filter_map(|one| one.initializer());
        if tables.any(names_own_function) {
            return Err(TAKES_ADDRESS.to_string());
        }
        let code = code(module, &reached, sites[0], record)?;
        let found = declared(&code);
        let addresses: Option<Vec<_>> = found.iter().map(|one| address(module, *one)).collect();
        let addresses = addresses.ok_or("it uses something by a second name")?;
        let mut values = Vec::new();
        for (place, (own, there)) in found.iter().zip(&addresses).enumerate() {
            let variable = own.as_global().filter(|one| {
                one.is_declaration() && one.linkage() != Linkage::LLVMExternalWeakLinkage
            });
            let size = variable.and_then(|one| fold::size_of(module, one));
            values.extend(size.map(|size| Place {
                kind: value::VARIABLE,
                place: place as i64,
                offset: 0,
                size,
                variable: Some(*there),
            }));
        }
        values.extend(shapes(module, &roots));
        let counts = [Mode::Increment, Mode::Min, Mode::Max];
        let mut flags = 0;
        let flag = [
            (code_flags::FUSED, fuses(kernel)),
            (
                code_flags::COUNTS_LANES,
                record.accesses.iter().any(|one| counts.contains(&one.mode)),
            ),
            (code_flags::ROUNDS_FREELY, bodies().any(rounding::is_free)),
        ];
        for (bit, is_set) in flag {
            flags |= if is_set { bit } else { 0 };
        }
        Ok(Self {
            sites: sites.to_vec(),
            name: demangle(&kernel.name()),
            bitcode: code.bitcode(),
            addresses,
            values,
            flags,
            vector_bits: i64::from(unit.bits(kernel)),
        })
    }

    fn emit(&self, module: &'m Module) {
        let list = |name: &str, values: &[Value<'m>]| match values.first() {
            None => module.pointer().zero(),
            Some(first) => *module.add_constant(name, module.const_array(first.ty(), values)),
        };
        let (number, none) = (|value| module.const_i64(value), module.pointer().zero());
        let values = self.values.iter().map(|one| {
            let fields = JitValue::NAMES.iter().map(|&field| match field {
                "kind" => number(one.kind),
                "place" => number(one.place),
                "offset" => number(one.offset),
                "size" => number(one.size),
                "variable" => one.variable.unwrap_or(none),
                other => unreachable!("a value has no {other}"),
            });
            module.const_struct(&fields.collect::<Vec<_>>())
        });
        let values: Vec<_> = values.collect();
        let fields = JitCode::NAMES.iter().map(|&field| match field {
            "name" => *module.add_text("okl.jit.name", &self.name),
            "hash" => number(hash_bytes(&self.bitcode) as i64),
            "bitcode" => *module.add_bytes("okl.jit.bitcode", &self.bitcode),
            "length" => number(self.bitcode.len() as i64),
            "addresses" => list("okl.jit.addresses", &self.addresses),
            "address_count" => number(self.addresses.len() as i64),
            "values" => list("okl.jit.values", &values),
            "value_count" => number(values.len() as i64),
            "flags" => number(self.flags),
            "vector_bits" => number(self.vector_bits),
            "versions" => none,
            other => unreachable!("code has no {other}"),
        });
        let code = module.const_struct(&fields.collect::<Vec<_>>());
        let linkage = Linkage::LLVMInternalLinkage;
        let global = module.add_global("okl.jit.code", code.ty(), Some(code), linkage);
        global.set_alignment(8);
        for &site in &self.sites {
            let site_position = position(site, "jit");
            site.instruction().set_operand(site_position, *global);
            let message = "loop may be compiled once more at run time";
            site.instruction().remark("Jit", message, false);
        }
    }
}

/// A copy of a function is at another address.
const TAKES_ADDRESS: &str = "it takes addresses of functions";

/// Whether a constant has the address of a function of the file's.
fn names_own_function(constant: Value<'_>) -> bool {
    match constant.as_function() {
        Some(function) => !function.is_declaration(),
        None if constant.is_global_value() => false,
        None => constant.is_constant() && constant.operands().into_iter().any(names_own_function),
    }
}

/// Whether a function is the same elsewhere in the process.
fn can_be_moved(function: Function<'_>) -> Result<(), String> {
    for one in function.instructions() {
        let callee = one.as_call().map(Call::callee);
        for operand in one.operands() {
            if Some(operand) != callee && names_own_function(operand) {
                return Err(TAKES_ADDRESS.to_string());
            }
            if operand.as_block_address().is_some() {
                return Err("it has addresses of labels".to_string());
            }
            if operand.as_global().is_some_and(|one| one.is_thread_local()) {
                return Err("it has variables of its thread".to_string());
            }
        }
        let Some(call) = one.as_call() else { continue };
        if call.callee().as_inline_assembly().is_some() {
            return Err("it has assembly".to_string());
        }
        // Where they are passed depends on the processor.
        let is_own = call.intrinsic().is_some();
        let vectors =
            || call.ty().is_vector() || call.arguments().iter().any(|one| one.ty().is_vector());
        if !is_own && vectors() {
            return Err("it passes vectors".to_string());
        }
    }
    Ok(())
}

/// What is reached, in a module of its own, and the function that hands over what becomes of it: it calls what runs the loop.
fn code(
    module: &Module,
    reached: &HashSet<Value<'_>>,
    site: Call<'_>,
    record: &LoopRecord<'_>,
) -> Result<OwnModule, String> {
    let mut code = OwnModule::copy_with(module, |global| {
        let is_kept = match global.as_global() {
            Some(one) => one.is_readonly() && one.linkage() != Linkage::LLVMAppendingLinkage,
            None => global.as_function().is_some(),
        };
        is_kept && reached.contains(&global) && !global.is_interposable()
    });
    code.declare_chosen_functions();
    code.strip_debug_info();
    code.detach();
    for function in code.functions() {
        if !function.is_declaration() {
            function.set_linkage(Linkage::LLVMInternalLinkage);
            code.set_visibility(*function, Visibility::LLVMDefaultVisibility);
        }
    }
    for global in code.globals() {
        if !global.is_declaration() {
            // The program has it, too: there it is.
            global.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
            code.set_visibility(*global, Visibility::LLVMDefaultVisibility);
        }
    }
    {
        let named = |name: &str| {
            let there = operand(site, name).as_function();
            there.and_then(|one| code.function(&one.name()))
        };
        let kernel = named("kernel").ok_or("its kernel has no name")?;
        let range = named("range").ok_or("it has no name")?;
        let (none, zero) = (code.pointer().zero(), code.const_i32(0));
        let ty = code.function_type(code.void(), &[code.pointer()]);
        let entry = code.add_function(ENTRY, ty, Linkage::LLVMExternalLinkage);
        entry.compile_like(kernel);
        let builder = Builder::at_end(&code, entry.append_block(&code));
        let runs = &f::okl_op2_par_loop_v7;
        let callee = declare(&code, runs);
        let operands = runs.param_names.iter().map(|&name| match name {
            "name" => entry.parameters()[0],
            "kernel" => *kernel,
            "range" => *range,
            "components" => named(name).map_or(none, |one| *one),
            "count" | "width" | "any_order" => zero,
            _ => none,
        });
        let anchor = builder.call(callee, &operands.collect::<Vec<_>>());
        let anchor = anchor.as_call().expect("a call");
        record.leave_at(&code, anchor);
        builder.ret(None);
    }
    erase_unused(&code);
    Ok(code)
}

/// Deletes what a module declares and does not use.
fn erase_unused(module: &Module) {
    loop {
        let globals = module.globals().into_iter();
        let globals = globals.filter(|one| one.is_unused()).map(|one| one.erase());
        let functions = module.functions().into_iter();
        let functions = functions.filter(|one| one.is_declaration() && one.is_unused());
        if globals.count() + functions.map(|one| one.erase_unused_declaration()).count() == 0 {
            return;
        }
    }
}

/// Where something is that another module declares. What runs the loop is replaced.
fn address<'m>(module: &'m Module, declared: Value<'_>) -> Option<Value<'m>> {
    let name = declared.name();
    if name == f::okl_op2_par_loop_v7.name {
        return Some(module.pointer().zero());
    }
    match declared.as_function() {
        Some(_) => module.function(&name).map(|one| *one),
        None => module.global(&name).map(|one| *one),
    }
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

/// Whether a function is compiled for a processor that adds a product in one operation.
fn fuses(function: Function<'_>) -> bool {
    let features = function.mark_value("target-features").unwrap_or_default();
    let has = features
        .split(',')
        .any(|one| matches!(one, "+fma" | "+fma4"));
    has || cfg!(target_arch = "aarch64")
}
