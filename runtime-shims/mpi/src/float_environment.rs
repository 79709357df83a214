//! Rounding, denormal numbers and trapped exceptions of floating-point arithmetic: OpenMP threads
//! inherit them at a fork, so ranks have to be told.

use std::arch::asm;

/// The exceptions that have happened, which are no setting.
const HAPPENED: u32 = 0x3f;

/// The settings of this thread, in one word.
pub(crate) fn current() -> u64 {
    let (mut vector, mut x87) = (0_u32, 0_u16);
    // SAFETY: both instructions store to the variable.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &mut vector, options(nostack));
        asm!("fnstcw [{}]", in(reg) &mut x87, options(nostack));
    }
    u64::from(vector & !HAPPENED) | u64::from(x87) << 32
}

/// Takes over the settings of another thread.
pub(crate) fn adopt(settings: u64) {
    if settings == current() {
        return;
    }
    let (vector, x87) = (settings as u32, (settings >> 32) as u16);
    // SAFETY: both instructions read the variable; the values are those of another thread. Nothing
    // in the runtime depends on how numbers are rounded.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &vector, options(nostack));
        asm!("fldcw [{}]", in(reg) &x87, options(nostack));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_travels() {
        const UPWARD: u64 = 2 << 13 | 2 << (32 + 10);
        let before = current();
        adopt(before | UPWARD);
        assert_eq!(current(), before | UPWARD);
        let (one, three) = (std::hint::black_box(1.0), std::hint::black_box(3.0));
        let up: f64 = std::hint::black_box(one / three);
        adopt(before);
        assert!(up > 1.0 / 3.0);
    }
}
