//! Puts values that are known into code.
//!
//! A variable becomes one that never changes, where the program has it: whoever takes its address gets the program's. What is
//! behind a parameter becomes a constant wherever it is loaded.

use okl_abi::Effects;
use okl_abi::jit::{ENTRY, JitValue, value};

use crate::analysis::runtime::{argument, effects};
use crate::llvm::{Builder, Function, Global, Instruction, Module, Opcode, Type, Value};
use crate::marks::runs_range;

/// A value that is known.
pub struct Known<'a> {
    /// Where it is.
    pub at: &'a JitValue,
    /// What it is.
    pub bytes: &'a [u8],
}

/// Puts in those of variables; `symbols` are the names and places of what the module declares.
pub fn variables(module: &Module, symbols: &[(String, u64)], known: &[Known<'_>]) {
    for one in known.iter().filter(|one| one.at.kind == value::VARIABLE) {
        let variable = module.global(&symbols[one.at.place as usize].0);
        if let Some(variable) = variable.filter(|one| one.is_declaration()) {
            variable.set_known(module, module.const_bytes(one.bytes));
        }
    }
}

/// Puts in those behind parameters of functions that run a loop for a range of elements.
pub fn behind_parameters(module: &Module, known: &[Known<'_>]) {
    let functions = module
        .functions()
        .into_iter()
        .filter(|one| runs_range(*one));
    for function in functions.filter(|one| !one.is_declaration()) {
        for (load, place, offset) in loads(module, function) {
            let found = known.iter().find(|one| {
                let JitValue {
                    kind,
                    place: of,
                    offset: at,
                    ..
                } = *one.at;
                (kind, of, at) == (value::BEHIND, place, offset)
            });
            let constant = found.and_then(|one| constant(load.ty(), one.bytes));
            if let Some(constant) = constant {
                load.replace_all_uses_with(constant);
            }
        }
    }
}

/// The loads of a function from a known place behind a parameter of its: with that parameter's number, and the byte.
pub fn loads<'m>(
    module: &'m Module,
    function: Function<'m>,
) -> impl Iterator<Item = (Instruction<'m>, i64, i64)> {
    let all = function.instructions().into_iter();
    let all = all.filter(|one| one.opcode() == Opcode::LLVMLoad && !one.is_volatile_or_atomic());
    all.filter_map(move |one| {
        let (base, offset) = one.operand(0).constant_offset(module);
        let (_, number) = base.as_parameter()?;
        Some((one, number as i64, offset))
    })
}

/// Where something is: behind a parameter of the function or in a variable, and how many bytes behind each of the pointers on the
/// way.
pub type Path<'m> = (Value<'m>, Vec<i64>);

/// Where a load reads.
pub fn path<'m>(module: &'m Module, load: Instruction<'m>) -> Option<Path<'m>> {
    let (mut at, mut offsets) = (load, Vec::new());
    while offsets.len() < MOST_POINTERS && !at.is_volatile_or_atomic() {
        let (base, offset) = at.operand(0).constant_offset(module);
        offsets.insert(0, offset);
        let is_shared = |one: Global<'m>| !one.is_thread_local();
        if base.as_parameter().is_some() || base.as_global().is_some_and(is_shared) {
            return Some((base, offsets));
        }
        at = base.as_op(Opcode::LLVMLoad)?;
    }
    None
}

/// No longer paths are followed.
const MOST_POINTERS: usize = 4;

/// The path to what is behind the pointer at this position of values, of which these are the kinds, places and offsets; without
/// its last number. `variable` says which ones there are.
fn pointer<'m>(
    function: Function<'m>,
    variable: &impl Fn(usize) -> Option<Value<'m>>,
    values: &[[i64; 3]],
    at: i64,
) -> Option<Path<'m>> {
    let [kind, place, offset] = *values.get(at as usize)?;
    match kind {
        value::GIVEN => {
            let parameter = function.parameters().get(place as usize).copied();
            Some((parameter?, Vec::new()))
        }
        value::NAMED => Some((variable(place as usize)?, Vec::new())),
        // They come in order.
        value::LOADED if place < at => {
            let (base, mut offsets) = pointer(function, variable, values, place)?;
            offsets.push(offset);
            Some((base, offsets))
        }
        _ => None,
    }
}

/// The loads of a function whose path is that of a value behind a pointer, and the pointers that they read behind.
pub fn loads_through<'m>(
    module: &'m Module,
    function: Function<'m>,
    variable: &impl Fn(usize) -> Option<Value<'m>>,
    values: &[[i64; 3]],
    at: usize,
) -> Vec<(Instruction<'m>, Value<'m>)> {
    let [kind, place, offset] = values[at];
    if kind != value::THROUGH {
        return Vec::new();
    }
    let Some((base, mut offsets)) = pointer(function, variable, values, place) else {
        return Vec::new();
    };
    offsets.push(value::Through::from_bits(offset).offset);
    let path = Some((base, offsets));
    let all = function.instructions().into_iter();
    let all = all.filter(|one| one.opcode() == Opcode::LLVMLoad);
    let all = all.filter(|one| self::path(module, *one) == path);
    all.map(|one| (one, one.operand(0).constant_offset(module).0))
        .collect()
}

/// An integer of as many bytes.
fn constant<'m>(ty: Type<'m>, bytes: &[u8]) -> Option<Value<'m>> {
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let fits = ty.bits() == Some(bytes.len() as u32 * 8);
    fits.then(|| ty.integer_constant(i64::from_le_bytes(whole)))
}

/// Puts in those that a region gets: variables that its parameters point to become constants, and numbers, too; and those behind
/// pointers.
pub fn parameters<'m>(
    module: &'m Module,
    variable: impl Fn(usize) -> Option<Value<'m>>,
    known: &[Known<'_>],
) {
    let Some(region) = region(module) else {
        return;
    };
    let parameters = region.parameters();
    for (load, place, offset) in loads(module, region).collect::<Vec<_>>() {
        let is_loaded = |one: &&Known<'_>| {
            let is_there = (one.at.place, one.at.offset) == (place, offset);
            let size = size_of_number(module, load.ty());
            one.at.kind == value::MEMBER && is_there && size == Some(one.at.size)
        };
        if let Some(one) = known.iter().find(is_loaded) {
            load.set_operand(0, *constant_variable(module, one.bytes));
        }
    }
    let values: Vec<_> = known
        .iter()
        .map(|one| [one.at.kind, one.at.place, one.at.offset])
        .collect();
    let mut through = Vec::new();
    for (at, one) in known.iter().enumerate() {
        let is_it = |load: &Instruction<'_>| size_of_number(module, load.ty()) == Some(one.at.size);
        let loads = loads_through(module, region, &variable, &values, at).into_iter();
        let loads = loads.map(|(load, _)| load).filter(is_it);
        through.extend(loads.map(|load| (load, one.bytes)));
    }
    for (load, bytes) in through {
        load.set_operand(0, *constant_variable(module, bytes));
    }
    let whole = [value::BEHIND, value::PARAMETER];
    for one in known.iter().filter(|one| whole.contains(&one.at.kind)) {
        let parameter = parameters[one.at.place as usize];
        let constant = constant_variable(module, one.bytes);
        match one.at.kind {
            value::BEHIND => parameter.replace_all_uses_with(*constant),
            _ => {
                let load = Builder::at_entry(module, region).load(parameter.ty(), *constant);
                parameter.replace_all_uses_with(load);
            }
        }
    }
}

/// A variable that has these bytes and never changes.
fn constant_variable<'m>(module: &'m Module, bytes: &[u8]) -> Global<'m> {
    let constant = module.add_constant("okl.jit.known", module.const_bytes(bytes));
    constant.set_alignment(MOST_ALIGNED);
    constant
}

/// What the threads of a team run, where that is what the module has: it hands it over.
pub fn region(module: &Module) -> Option<Function<'_>> {
    let entry = module.function(ENTRY)?;
    let code = entry.instructions().into_iter();
    let mut calls = code.filter_map(|one| one.as_call());
    let call = calls.find(|one| effects(*one).has(Effects::HAS_VERSIONS))?;
    let function = argument(call, "function")?.as_function()?;
    (!function.is_declaration()).then_some(function)
}

/// The largest alignment of a variable whose value may be put in.
pub const MOST_ALIGNED: u32 = 64;

/// Bytes of a variable whose value may be put in.
pub fn size_of(module: &Module, variable: Global<'_>) -> Option<i64> {
    let is_plain = !variable.is_thread_local();
    is_plain.then(|| size_of_type(module, variable.value_type()))?
}

/// Bytes of variables of a type that may be put in: it consists of numbers, and is no large table.
pub fn size_of_type(module: &Module, ty: Type<'_>) -> Option<i64> {
    let size = (!ty.has_pointers()).then(|| module.size_of(ty) as i64)?;
    (1..=MOST_BYTES).contains(&size).then_some(size)
}

/// Bytes of a number that may be put in.
pub fn size_of_number(module: &Module, ty: Type<'_>) -> Option<i64> {
    let is_whole = ty.bits().is_some_and(|bits| bits.is_multiple_of(8));
    let size = (is_whole || ty.is_float_or_double()).then(|| module.store_size_of(ty) as i64)?;
    (1..=8).contains(&size).then_some(size)
}

/// Bytes of a variable: each call compares them with those of a version.
const MOST_BYTES: i64 = 256;
