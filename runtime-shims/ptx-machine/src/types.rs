//! The types of PTX's instructions: what a register's bits are read as.

/// What the bits of a value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Only bits.
    Bits,
    /// A whole number without a sign.
    Unsigned,
    /// A whole number with one.
    Signed,
    /// IEEE 754's binary16, 32 or 64.
    Float,
    /// The upper half of a binary32.
    Brain,
    /// True or false.
    Predicate,
}

/// A type: one value, or two of 16 bits side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What its bits mean.
    pub kind: Kind,
    /// How many bits a value has.
    pub bits: u8,
    /// 2 where two values lie side by side.
    pub packed: u8,
}

impl Type {
    const fn new(kind: Kind, bits: u8) -> Self {
        Self {
            kind,
            bits,
            packed: 1,
        }
    }

    /// The type of a name without its dot.
    pub fn named(name: &str) -> Option<Self> {
        use Kind::{Bits, Brain, Float, Predicate, Signed, Unsigned};
        let packed = |kind| Self {
            kind,
            bits: 16,
            packed: 2,
        };
        Some(match name {
            "pred" => Self::new(Predicate, 1),
            "b8" => Self::new(Bits, 8),
            "b16" => Self::new(Bits, 16),
            "b32" => Self::new(Bits, 32),
            "b64" => Self::new(Bits, 64),
            "u8" => Self::new(Unsigned, 8),
            "u16" => Self::new(Unsigned, 16),
            "u32" => Self::new(Unsigned, 32),
            "u64" => Self::new(Unsigned, 64),
            "s8" => Self::new(Signed, 8),
            "s16" => Self::new(Signed, 16),
            "s32" => Self::new(Signed, 32),
            "s64" => Self::new(Signed, 64),
            "f16" => Self::new(Float, 16),
            "f32" => Self::new(Float, 32),
            "f64" => Self::new(Float, 64),
            "bf16" => Self::new(Brain, 16),
            "f16x2" => packed(Float),
            "bf16x2" => packed(Brain),
            "u16x2" => packed(Unsigned),
            "s16x2" => packed(Signed),
            _ => return None,
        })
    }

    /// How many bits it has in all.
    pub fn width(self) -> u32 {
        u32::from(self.bits) * u32::from(self.packed)
    }

    /// How many bytes it has in memory.
    pub fn bytes(self) -> usize {
        (self.width() as usize).div_ceil(8)
    }

    /// Whether it has a sign.
    pub fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    /// Whether it is a number with a point.
    pub fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float | Kind::Brain)
    }

    /// Whether it is a whole number, or bits that may be taken as one.
    pub fn is_whole(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed) && self.packed == 1
    }
}

/// So many low bits.
pub const fn ones(bits: u32) -> u64 {
    if bits >= 64 { !0 } else { (1 << bits) - 1 }
}

/// The lowest `bits` of `value`, with their sign.
pub const fn sign_extended(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits;
    (((value << shift) as i64) >> shift) as u64
}
