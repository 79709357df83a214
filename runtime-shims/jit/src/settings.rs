//! What the user asks for. What is not valid ends the program at the first loop that might have versions.

use std::path::PathBuf;
use std::sync::OnceLock;

use okl_job::settings::{Statistics, said, size, statistics, switch};
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
    /// The same, with all that may be compared, which run in turns.
    InTurns,
}

/// Where versions are kept for the next run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) folder: PathBuf,
    /// So many bytes there may be.
    pub(crate) most: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    /// Results need not be those of the code as it was compiled ahead of time: `OKL_JIT_FMA`.
    pub(crate) loose: bool,
    /// Whether versions are told of in the end.
    pub(crate) tells: bool,
    pub(crate) cache: Option<Cache>,
}

fn read(environment: impl Environment) -> Result<Settings, String> {
    let mode = match said(&environment, "OKL_JIT").as_deref() {
        None | Some("1") => Mode::Meanwhile,
        Some("0") => Mode::Off,
        Some("sync") => Mode::Sync,
        Some("turns") => Mode::InTurns,
        Some(other) => {
            let valid = "valid values are 0, 1, sync and turns";
            return Err(format!("OKL_JIT={other}: {valid}"));
        }
    };
    Ok(Settings {
        mode,
        loose: switch(&environment, "OKL_JIT_FMA", false)?,
        tells: statistics(&environment)? == Some(Statistics::Printed),
        cache: cache(&environment)?,
    })
}

/// `OKL_JIT_CACHE`, or where the user has what programs keep.
fn cache(environment: &impl Environment) -> Result<Option<Cache>, String> {
    const MOST: u64 = 64 << 20;
    let most = size(environment, "OKL_JIT_CACHE_SIZE", "KMG", "64K")?.unwrap_or(MOST);
    let absolute = |name: &str| {
        let path = said(environment, name).map(PathBuf::from);
        path.filter(|one| one.is_absolute())
    };
    let folder = match environment("OKL_JIT_CACHE").as_deref() {
        Some("" | "0") => None,
        // The program may go to another folder.
        Some(folder) => Some(std::path::absolute(folder).map_err(|why| why.to_string())?),
        None => absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map(|folder| folder.join("okl")),
    };
    Ok(folder.map(|folder| Cache { folder, most }))
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
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
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
        assert_eq!(mode("turns"), Ok(Mode::InTurns));
        let wrong = "OKL_JIT=on: valid values are 0, 1, sync and turns".to_owned();
        assert_eq!(mode("on"), Err(wrong));
        assert_eq!(set("OKL_JIT_FMA", "1").map(|one| one.loose), Ok(true));
        assert!(set("OKL_JIT_FMA", "2").is_err());
        assert_eq!(set("OKL_STATS", "1").map(|one| one.tells), Ok(true));
    }

    #[test]
    fn versions_are_kept_where_the_user_says() {
        let folder = |set: &[(&'static str, &'static str)]| {
            let set = set.to_vec();
            let value = move |asked: &str| {
                let found = set.iter().find(|(name, _)| *name == asked);
                found.map(|(_, value)| (*value).to_owned())
            };
            let cache = read(value).map(|one| one.cache);
            cache.map(|one| one.map(|one| one.folder.display().to_string()))
        };
        let is = |folder: &str| Ok(Some(folder.to_owned()));
        let home = ("HOME", "/home/a");
        assert_eq!(folder(&[]), Ok(None));
        assert_eq!(folder(&[home]), is("/home/a/.cache/okl"));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "/c")]), is("/c/okl"));
        // By the XDG's word.
        assert_eq!(
            folder(&[home, ("XDG_CACHE_HOME", "c")]),
            is("/home/a/.cache/okl")
        );
        assert_eq!(folder(&[home, ("OKL_JIT_CACHE", "/d")]), is("/d"));
        for none in ["", "0"] {
            assert_eq!(folder(&[home, ("OKL_JIT_CACHE", none)]), Ok(None));
        }
        let wrong =
            "OKL_JIT_CACHE_SIZE=1: valid values are a number and one of K, M, G, at least 64K";
        assert_eq!(
            folder(&[("OKL_JIT_CACHE_SIZE", "1")]),
            Err(wrong.to_owned())
        );
        let most = |value: &'static str| {
            let all = move |asked: &str| match asked {
                "HOME" => Some("/home/a".to_owned()),
                "OKL_JIT_CACHE_SIZE" => Some(value.to_owned()),
                _ => None,
            };
            read(all).map(|one| one.cache.expect("a cache").most)
        };
        assert_eq!(most("2M"), Ok(2 << 20));
        assert_eq!(most(""), Ok(64 << 20));
        assert!(most("63K").is_err());
    }
}
