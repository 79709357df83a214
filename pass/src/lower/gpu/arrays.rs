//! Large variables of the program, which the run time for devices watches page by page, as it does large blocks of the heap.
//!
//! Guarantee: a variable on the list that the run time finds in the program begins a page, and has room behind its last byte up
//! to the end of a page. So no other variable is in its pages, and an address right behind it is still its own.
//!
//! That concerns all files, also those without a loop: a kernel may be given what another file defines.

use okl_abi::gpu::arrays::{PAGE, SECTION, SMALLEST};

use crate::llvm::{Global, Linkage, Module};
use crate::marks::is_ours;

/// Gives large variables pages of their own. True where the module was changed.
pub fn give_pages(module: &Module) -> bool {
    // Where files are compiled together when they are linked, those that have been done are on the list.
    let listed = module.globals().into_iter();
    let listed = listed.filter(|one| one.section() == SECTION);
    let done: Vec<_> = listed
        .filter_map(|one| Some(one.initializer()?.operand(0)))
        .collect();
    let all = module.globals().into_iter();
    let all: Vec<_> = all
        .filter(|one| is_large(module, *one) && !done.contains(&**one))
        .collect();
    for one in &all {
        let bytes = module.size_of(one.value_type());
        let page = PAGE as u64;
        let wide = one.widen((bytes + 1).next_multiple_of(page) - bytes);
        wide.set_alignment(wide.alignment().max(PAGE as u32));
        let row = module.const_struct(&[*wide, module.const_i64(bytes as i64)]);
        let linkage = Linkage::LLVMInternalLinkage;
        let row = module.add_global("okl.array", row.ty(), Some(row), linkage);
        row.set_section(SECTION);
        row.set_alignment(8);
        module.append_to_used(&[row]);
    }
    !all.is_empty()
}

/// Whether a variable is one of those.
fn is_large(module: &Module, global: Global<'_>) -> bool {
    use Linkage::*;
    // Others have no symbol, or the linker may take another file's, which does not begin a page as code of this one has it.
    let is_own = matches!(global.linkage(), LLVMExternalLinkage | LLVMInternalLinkage);
    // A file whose definition of a group is not taken must not name what is only its own there.
    is_own
        && !global.has_comdat()
        && !global.is_declaration()
        && !global.is_readonly()
        && !global.is_thread_local()
        && global.address_space() == 0
        // The program may count on what lies there.
        && global.section().is_empty()
        && !is_ours(global)
        && module.size_of(global.value_type()) >= SMALLEST as u64
}
