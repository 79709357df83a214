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

/// What stands for a choice that is left to the device of a rank.
const LEFT: u8 = u8::MAX;

static CHOSEN: AtomicU8 = AtomicU8::new(LEFT);

/// What the user has chosen, if anything.
fn choose(
    environment: impl Environment,
    is_reproducible: bool,
) -> Result<Option<Increments>, String> {
    let Some(said) = settings::said(environment, VARIABLE) else {
        return Ok(is_reproducible.then_some(Increments::Blocks));
    };
    let chosen = NAMES.iter().find(|(name, _)| *name == said);
    match chosen {
        None => Err(format!(
            "{VARIABLE}={said}: valid values are atomics, colours and blocks"
        )),
        Some((_, Increments::Atomics)) if is_reproducible => Err(format!(
            "{VARIABLE}=atomics: with OKL_REPRODUCIBLE=1 valid values are colours and blocks"
        )),
        Some((_, chosen)) => Ok(Some(*chosen)),
    }
}

/// Takes rank 0's word for it.
pub(crate) fn read(is_reproducible: bool) {
    let chosen = choose(own_environment, is_reproducible);
    let chosen = chosen.unwrap_or_else(|mistake| fatal(&mistake));
    let mut of_all = [chosen.map_or(LEFT, |one| one as u8)];
    job::broadcast(&mut of_all, 0);
    CHOSEN.store(of_all[0], Relaxed);
}

/// What the user has chosen; else what suits a device that `exchanges`, as it has no instructions for what is added.
///
/// Each rank has its own device: which elements of it run at the same time concerns no other one.
pub(crate) fn chosen(exchanges: bool) -> Increments {
    let is_it = |one: &&(&str, Increments)| one.1 as u8 == CHOSEN.load(Relaxed);
    match (NAMES.iter().find(is_it), exchanges) {
        (Some((_, chosen)), _) => *chosen,
        (None, true) => Increments::Blocks,
        (None, false) => Increments::Atomics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reproducible_has_no_atomic_operations() {
        let choose = |said: Option<&'static str>, is_reproducible| {
            choose(|_: &str| said.map(str::to_owned), is_reproducible)
        };
        assert_eq!(choose(None, false), Ok(None));
        assert_eq!(choose(None, true), Ok(Some(Increments::Blocks)));
        assert_eq!(choose(Some("colours"), true), Ok(Some(Increments::Colours)));
        assert_eq!(choose(Some("blocks"), false), Ok(Some(Increments::Blocks)));
        assert_eq!(
            choose(Some("atomics"), false),
            Ok(Some(Increments::Atomics))
        );
        assert!(choose(Some("atomics"), true).is_err());
        assert!(choose(Some("color"), false).is_err());
    }
}
