//! The types of values that the library knows.

use std::ffi::c_double;

/// A type of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Double,
    Float,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Bool,
}

impl Value {
    const ALL: [Self; 7] = [
        Self::Double,
        Self::Float,
        Self::Int,
        Self::Unsigned,
        Self::Long,
        Self::UnsignedLong,
        Self::Bool,
    ];

    /// The type of that name; the storage order makes no difference. `None` for the program's own types.
    pub(crate) fn of(type_name: &str) -> Option<Self> {
        let name = type_name.strip_suffix(":soa").unwrap_or(type_name);
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Float | Self::Int | Self::Unsigned => 4,
            Self::Double | Self::Long | Self::UnsignedLong => 8,
        }
    }

    /// What OP2 calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Float => "float",
            Self::Int => "int",
            Self::Unsigned => "uint",
            Self::Long => "ll",
            Self::UnsignedLong => "ull",
            Self::Bool => "bool",
        }
    }

    /// A value as text. `bytes` are those of one.
    pub(crate) fn text(self, bytes: &[u8]) -> String {
        macro_rules! value {
            ($type:ty) => {
                <$type>::from_ne_bytes(bytes.try_into().expect("a value of its type"))
            };
        }
        match self {
            Self::Double => scientific(value!(f64)),
            Self::Float => scientific(f64::from(value!(f32))),
            Self::Int => value!(i32).to_string(),
            Self::Unsigned => value!(u32).to_string(),
            Self::Long => value!(i64).to_string(),
            Self::UnsignedLong => value!(u64).to_string(),
            Self::Bool => u8::from(bytes[0] != 0).to_string(),
        }
    }
}

/// A number with sign and 15 digits behind the point; zero has no sign of its own.
fn scientific(value: f64) -> String {
    let value = if value == 0.0 { 0.0 } else { value };
    let mut text = [0u8; 40];
    // SAFETY: `snprintf` writes no more than the buffer's length.
    let length = unsafe {
        libc::snprintf(
            text.as_mut_ptr().cast(),
            text.len(),
            c"%+2.15lE".as_ptr(),
            value as c_double,
        )
    };
    String::from_utf8_lossy(&text[..length as usize]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_bytes_and_texts() {
        for value in Value::ALL {
            assert_eq!(Value::of(value.name()), Some(value));
            assert_eq!(Value::of(&format!("{}:soa", value.name())), Some(value));
            let zero = value.text(&vec![0; value.bytes()]);
            assert!(zero == "0" || zero == "+0.000000000000000E+00", "{zero}");
        }
        assert_eq!(Value::of("point"), None);
        assert_eq!(Value::Long.text(&(-5i64).to_ne_bytes()), "-5");
        assert_eq!(
            Value::Double.text(&(-0.0f64).to_ne_bytes()),
            "+0.000000000000000E+00"
        );
    }
}
