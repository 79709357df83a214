//! How this thread rounds numbers.

/// Whether this thread rounds numbers to the nearest one, and leaves small ones as they are: what LLVM computes of values that it
/// knows, on a thread that begins as this one is, is right then.
pub fn is_usual() -> bool {
    read() & HOW == 0
}

/// As long as it is there this thread rounds as usual.
pub struct Usual(Register);

impl Usual {
    /// From now on.
    pub fn begin() -> Self {
        let before = read();
        if before & HOW != 0 {
            write(before & !HOW);
        }
        Self(before)
    }
}

impl Drop for Usual {
    fn drop(&mut self) {
        if self.0 & HOW != 0 {
            write(read() | self.0 & HOW);
        }
    }
}

#[cfg(target_arch = "x86_64")]
type Register = u32;
#[cfg(target_arch = "aarch64")]
type Register = u64;

/// Rounding control, flush to zero, and denormals are zeros (Intel's manual, volume 1, 10.2.3).
#[cfg(target_arch = "x86_64")]
const HOW: Register = 3 << 13 | 1 << 15 | 1 << 6;

/// Rounding mode, flush to zero, also of half precision (Arm's manual, FPCR).
#[cfg(target_arch = "aarch64")]
const HOW: Register = 3 << 22 | 1 << 24 | 1 << 19;

#[cfg(target_arch = "x86_64")]
fn read() -> Register {
    let mut register = 0;
    // SAFETY: stores the register there.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags));
    }
    register
}

#[cfg(target_arch = "x86_64")]
fn write(register: Register) {
    // SAFETY: sets how numbers are rounded, to what it has been.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "aarch64")]
fn read() -> Register {
    let register;
    // SAFETY: reads the register.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) register, options(nomem, nostack, preserves_flags));
    }
    register
}

#[cfg(target_arch = "aarch64")]
fn write(register: Register) {
    // SAFETY: sets how numbers are rounded, to what it has been.
    unsafe {
        std::arch::asm!("msr fpcr, {}", in(reg) register, options(nomem, nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_there_again_behind_the_usual_one() {
        assert!(is_usual());
        let before = read();
        write(before | HOW);
        assert!(!is_usual());
        {
            let _usual = Usual::begin();
            assert!(is_usual());
        }
        assert_eq!(read() & HOW, HOW);
        write(before);
        let _usual = Usual::begin();
        assert!(is_usual());
    }
}
