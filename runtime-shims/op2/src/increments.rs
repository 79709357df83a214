//! How what a loop on a device adds to elements through maps comes there.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use okl_job::{Environment, own_environment, settings};

use crate::{job, report::fatal};

/// The ways; with the last two no two elements, or blocks of elements, that add to the same run at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Increments {
    /// By atomic operations: sums are rounded in another order each time.
    Atomics,
    /// Elements that add to the same run one colour after the other.
    Colours,
    /// Blocks do, each of which adds what its elements have left, in their order.
    Blocks,
}

const NAMES: [(&str, Increments); 3] = [
    ("atomics", Increments::Atomics),
    ("colours", Increments::Colours),
    ("blocks", Increments::Blocks),
];

/// The variable by which the user chooses.
const VARIABLE: &str = "OKL_INCREMENTS";

static CHOSEN: AtomicU8 = AtomicU8::new(Increments::Atomics as u8);

fn choose(environment: impl Environment, is_reproducible: bool) -> Result<Increments, String> {
    let Some(said) = settings::said(environment, VARIABLE) else {
        return Ok(match is_reproducible {
            true => Increments::Blocks,
            false => Increments::Atomics,
        });
    };
    let chosen = NAMES.iter().find(|(name, _)| *name == said);
    match chosen {
        None => Err(format!(
            "{VARIABLE}={said}: valid values are atomics, colours and blocks"
        )),
        Some((_, Increments::Atomics)) if is_reproducible => Err(format!(
            "{VARIABLE}=atomics: with OKL_REPRODUCIBLE=1 valid values are colours and blocks"
        )),
        Some((_, chosen)) => Ok(*chosen),
    }
}

/// Takes rank 0's word for it.
pub(crate) fn read(is_reproducible: bool) {
    let chosen = choose(own_environment, is_reproducible);
    let chosen = chosen.unwrap_or_else(|mistake| fatal(&mistake));
    let mut of_all = [chosen as u8];
    job::broadcast(&mut of_all, 0);
    CHOSEN.store(of_all[0], Relaxed);
}

/// What the user has chosen.
pub(crate) fn chosen() -> Increments {
    let is_it = |one: &&(&str, Increments)| one.1 as u8 == CHOSEN.load(Relaxed);
    NAMES.iter().find(is_it).expect("it is one of them").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reproducible_has_no_atomic_operations() {
        let choose = |said: Option<&'static str>, is_reproducible| {
            choose(|_: &str| said.map(str::to_owned), is_reproducible)
        };
        assert_eq!(choose(None, false), Ok(Increments::Atomics));
        assert_eq!(choose(None, true), Ok(Increments::Blocks));
        assert_eq!(choose(Some("colours"), true), Ok(Increments::Colours));
        assert_eq!(choose(Some("blocks"), false), Ok(Increments::Blocks));
        assert!(choose(Some("atomics"), true).is_err());
        assert!(choose(Some("color"), false).is_err());
    }
}
