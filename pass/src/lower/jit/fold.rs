//! Puts values that are known into code.
//!
//! A variable becomes one that never changes, where the program has it: whoever takes its address gets the program's. What is
//! behind a parameter becomes a constant wherever it is loaded.

use okl_abi::jit::{JitValue, value};

use crate::llvm::{Function, Global, Instruction, Module, Opcode, Type, Value};
use crate::marks::runs_range;

/// A value that is known.
pub struct Known<'a> {
    /// Where it is.
    pub at: &'a JitValue,
    /// What it is.
    pub bytes: &'a [u8],
}

/// Puts in those of variables; `declared` are what [`super::declared`] finds in the module.
pub fn variables<'m>(module: &'m Module, declared: &[Value<'m>], known: &[Known<'_>]) {
    for one in known.iter().filter(|one| one.at.kind == value::VARIABLE) {
        let variable = declared[one.at.place as usize].as_global();
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

/// An integer of as many bytes.
fn constant<'m>(ty: Type<'m>, bytes: &[u8]) -> Option<Value<'m>> {
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let fits = ty.bits() == Some(bytes.len() as u32 * 8);
    fits.then(|| ty.integer_constant(i64::from_le_bytes(whole)))
}

/// Bytes of a variable whose value may be put in: it consists of numbers, and is no large table.
pub fn size_of(module: &Module, variable: Global<'_>) -> Option<i64> {
    let ty = variable.value_type();
    let is_plain = !variable.is_thread_local() && !ty.has_pointers();
    let size = is_plain.then(|| module.size_of(ty) as i64)?;
    (1..=MOST_BYTES).contains(&size).then_some(size)
}

/// Bytes of a variable: each call compares them with those of a version.
const MOST_BYTES: i64 = 256;
