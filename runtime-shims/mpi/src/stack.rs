//! The stack that code runs on.

/// The stack pointer of the caller, roughly.
#[inline(always)]
pub(crate) fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// Calls `function` on the stack that ends at `top`, and comes back.
///
/// An exception that nothing catches finds the end of the stack there, so the C++ runtime calls
/// `std::terminate` with its usual message.
pub(crate) fn call_on(top: usize, function: extern "C" fn()) {
    // SAFETY: `top` is the end of a stack nothing else uses; the called function returns normally.
    unsafe { switch(function, top) };
}

#[unsafe(naked)]
unsafe extern "C" fn switch(function: extern "C" fn(), top: usize) {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        "mov rbp, rsp",
        "and rsi, -16",
        "mov rsp, rsi",
        ".cfi_undefined rip",
        "call rdi",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        ".cfi_endproc",
    )
}
