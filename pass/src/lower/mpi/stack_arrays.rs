//! Arrays on the stack that regions share get pages to themselves, where threads wait for flags.
//!
//! What else is on a page with the end of an array, such as captured variables that regions access undeclared, would keep that
//! page out of section mode: its changes are found by comparing it, at each flag that a thread sets. Only arrays of
//! a page at least are concerned; the room is lost that is left on their last pages.

use crate::analysis::flags;
use crate::llvm::{Builder, Function, Module, Opcode};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Aligns and rounds up such arrays in these functions.
pub fn widen<'m>(module: &'m Module, functions: &[Function<'m>]) {
    for variable in flags::captured_variables(functions) {
        let Some(at) = variable.as_op(Opcode::LLVMAlloca) else {
            continue;
        };
        let is_plain = at.operand(0).as_constant_int() == Some(1);
        let Some(ty) = at.allocated_type().filter(|ty| is_plain && ty.is_array()) else {
            continue;
        };
        let size = module.store_size_of(ty);
        if size < PAGE || u64::from(at.stack_alignment()) >= PAGE {
            continue;
        }
        let bytes = module.array(module.int(8), size.next_multiple_of(PAGE));
        let wide = Builder::before(module, at).alloca(bytes, PAGE as u32);
        wide.set_name(&variable.name());
        variable.replace_all_uses_with(wide);
        at.erase();
    }
}
