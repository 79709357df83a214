//! The chunks of worksharing loops (`cxx/chunks.cpp`).

use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::Call;

unsafe extern "C" {
    fn okl_count_chunks(call: LLVMValueRef, signed: bool);
}

impl Call<'_> {
    /// Makes the chunks of the worksharing loop countable whose bounds this call hands out, where clang wrote
    /// it and nothing has simplified it; `is_signed` says how its iterations are counted.
    pub fn count_chunks(self, is_signed: bool) {
        // SAFETY: a call of `__kmpc_for_static_init_*`, or of what takes its place.
        unsafe { okl_count_chunks(self.raw(), is_signed) }
    }
}
