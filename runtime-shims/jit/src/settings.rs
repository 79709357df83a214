//! What the user asks for. What is not valid ends the program at the first loop that might have versions.

use std::sync::OnceLock;

use okl_job::settings::{Statistics, said, statistics, switch};
use okl_job::{Environment, own_environment};

/// When versions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Never.
    Off,
    /// While the program goes on.
    Meanwhile,
    /// At once: the program waits, and uses them.
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    /// Results need not be those of the code as it was compiled ahead of time: `OKL_JIT_FMA`.
    pub(crate) loose: bool,
    /// Whether versions are told of in the end.
    pub(crate) tells: bool,
}

fn read(environment: impl Environment) -> Result<Settings, String> {
    let mode = match said(&environment, "OKL_JIT").as_deref() {
        None | Some("1") => Mode::Meanwhile,
        Some("0") => Mode::Off,
        Some("sync") => Mode::Sync,
        Some(other) => return Err(format!("OKL_JIT={other}: valid values are 0, 1 and sync")),
    };
    Ok(Settings {
        mode,
        loose: switch(&environment, "OKL_JIT_FMA", false)?,
        tells: statistics(&environment)? == Some(Statistics::Printed),
    })
}

/// The variables of a program that runs with the rights of its file are not the user's to set.
fn of_the_process() -> Result<Settings, String> {
    // SAFETY: asks the system.
    let has_more_rights = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    match has_more_rights {
        true => read(|_: &str| None),
        false => read(own_environment),
    }
}

/// Those of this process.
pub(crate) fn settings() -> Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    *SETTINGS.get_or_init(|| {
        of_the_process().unwrap_or_else(|wrong| {
            eprintln!("okl: {wrong}");
            std::process::exit(1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_valid_is_named() {
        let set = |name: &'static str, value: &'static str| {
            read(move |asked: &str| (asked == name).then(|| value.to_owned()))
        };
        let mode = |value| set("OKL_JIT", value).map(|one| one.mode);
        assert_eq!(mode("0"), Ok(Mode::Off));
        assert_eq!(mode("1"), Ok(Mode::Meanwhile));
        assert_eq!(mode(""), Ok(Mode::Meanwhile));
        assert_eq!(mode("sync"), Ok(Mode::Sync));
        let wrong = "OKL_JIT=on: valid values are 0, 1 and sync".to_owned();
        assert_eq!(mode("on"), Err(wrong));
        assert_eq!(set("OKL_JIT_FMA", "1").map(|one| one.loose), Ok(true));
        assert!(set("OKL_JIT_FMA", "2").is_err());
        assert_eq!(set("OKL_STATS", "1").map(|one| one.tells), Ok(true));
    }
}
