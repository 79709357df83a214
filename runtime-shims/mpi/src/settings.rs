//! The runtime's environment variables, each checked when the job starts.

use std::{path::PathBuf, sync::OnceLock};

use okl_job::settings::{self, Statistics};

use crate::interfaces;

/// What is asked for.
pub(crate) mod asked {
    /// Forks, barriers, ends of regions, reductions and locks are told.
    pub(crate) const SYNC: u64 = 1;
    /// What is copied between ranks is told, and what decides about it.
    pub(crate) const DATA: u64 = 2;
    /// Page faults are told.
    pub(crate) const FAULTS: u64 = 4;
    pub(crate) const TIMELINE: u64 = 8;
    pub(crate) const STATS: u64 = 16;
}

/// The words of `OKL_TRACE` and what they ask for.
const WORDS: [(&str, u64); 4] = [
    ("comm", asked::SYNC | asked::DATA | asked::FAULTS),
    ("data", asked::DATA),
    ("faults", asked::FAULTS),
    ("sync", asked::SYNC),
];

/// Whether threads take chunks of dynamic loops that were dealt to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunksMove {
    Never,
    WhereItPays,
    /// As many as possible: for tests.
    Always,
}

/// Whether shared memory that is accessed again and again has large pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LargePages {
    Never,
    WhereTheyPay,
    /// Whatever it costs to make them: for tests.
    Always,
}

/// Whether rank 0 runs regions by itself of which it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionsAlone {
    Never,
    WhereFaster,
    Always,
    /// By turns with the ranks: for tests.
    Alternate,
}

/// Who runs regions whose threads wait for flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// The ranks, where they are on several nodes and a flag takes one message from one to the other.
    OnNodes,
    /// Rank 0's threads.
    Alone,
    /// The ranks.
    OnRanks,
}

/// What the user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `OKL_STATS`: what happened is told at exit.
    pub(crate) stats: Option<Statistics>,
    /// `OKL_TRACE=word,word`: what is told on standard error as it happens, in bits of
    /// [`asked`].
    pub(crate) trace: u64,
    /// `OKL_TIMELINE=FILE`: write what happened when.
    pub(crate) timeline: Option<PathBuf>,
    /// `OKL_TIMELINE_EVENTS=n`: keep so many events of each rank for it.
    pub(crate) timeline_events: usize,
    /// `OKL_VERIFY=1`: report conflicting writes.
    pub(crate) verify: bool,
    /// `OKL_SECTIONS=0`: ignore what the compiler declared; pages alone keep memory coherent.
    pub(crate) sections: bool,
    /// `OKL_MOVE_CHUNKS=0` or `always`: whether threads take chunks of dynamic loops from each other.
    pub(crate) chunks_move: ChunksMove,
    /// `OKL_REGIONS_ALONE=0`, `always` or `alternate`: whether rank 0 runs short regions by itself.
    pub(crate) regions_alone: RegionsAlone,
    /// `OKL_FLAGS=alone`, `nodes` or `ranks`: who runs regions whose threads wait for flags.
    pub(crate) flags: Flags,
    /// `OKL_RANKS_PER_NODE=n`: treat each `n` consecutive ranks as a node of their own.
    pub(crate) ranks_per_node: Option<u32>,
    /// `OKL_SOCKET_IFNAME=name,name`: over which interfaces ranks on different nodes ask each other.
    pub(crate) interfaces: interfaces::Choice,
    /// `OKL_LARGE_PAGES`.
    pub(crate) large_pages: LargePages,
    /// `OKL_MEMORY=size`: so many bytes of shared memory a rank may hold before it gives copies up.
    pub(crate) memory: Option<u64>,
    /// `OMP_STACKSIZE` in bytes: each rank's stack for region frames.
    pub(crate) stack_bytes: usize,
}

const DEFAULT_STACK: usize = 64 << 20;
const DEFAULT_EVENTS: usize = 1 << 18;

impl Settings {
    /// Reads the variables through `variable`. The error names the variable and says what is valid.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let switch = |name: &str, default| settings::switch(&variable, name, default);
        let number = |name: &str| settings::number(&variable, name);
        let stack_bytes = match settings::said(&variable, "OMP_STACKSIZE") {
            None => DEFAULT_STACK,
            Some(text) => stack_size(&text).ok_or_else(|| {
                format!("OMP_STACKSIZE={text}: valid values are a number and one of B, K, M, G, at least 16K")
            })?,
        };
        let flags = one_of(
            &variable,
            "OKL_FLAGS",
            &[
                ("nodes", Flags::OnNodes),
                ("alone", Flags::Alone),
                ("ranks", Flags::OnRanks),
            ],
        )?;
        Ok(Self {
            stats: settings::statistics(&variable)?,
            trace: trace_words(&variable("OKL_TRACE").unwrap_or_default())?,
            timeline: settings::said(&variable, "OKL_TIMELINE").map(PathBuf::from),
            timeline_events: number("OKL_TIMELINE_EVENTS")?
                .map_or(DEFAULT_EVENTS, |events| events as usize),
            verify: switch("OKL_VERIFY", false)?,
            sections: switch("OKL_SECTIONS", true)?,
            chunks_move: one_of(
                &variable,
                "OKL_MOVE_CHUNKS",
                &[
                    ("1", ChunksMove::WhereItPays),
                    ("0", ChunksMove::Never),
                    ("always", ChunksMove::Always),
                ],
            )?,
            regions_alone: one_of(
                &variable,
                "OKL_REGIONS_ALONE",
                &[
                    ("1", RegionsAlone::WhereFaster),
                    ("0", RegionsAlone::Never),
                    ("always", RegionsAlone::Always),
                    ("alternate", RegionsAlone::Alternate),
                ],
            )?,
            // What is released late, and to whom it matters, looks to verification like races.
            flags: match (flags, switch("OKL_VERIFY", false)?) {
                (flags, false) => flags,
                (_, true) => Flags::Alone,
            },
            ranks_per_node: number("OKL_RANKS_PER_NODE")?,
            interfaces: interfaces::Choice::of(&variable("OKL_SOCKET_IFNAME").unwrap_or_default()),
            large_pages: one_of(
                &variable,
                "OKL_LARGE_PAGES",
                &[
                    ("1", LargePages::WhereTheyPay),
                    ("0", LargePages::Never),
                    ("always", LargePages::Always),
                ],
            )?,
            memory: settings::size(&variable, "OKL_MEMORY", "MG", "16M")?,
            stack_bytes,
        })
    }
}

/// What one of some words asks for; what is not said is the first.
fn one_of<T: Copy>(
    variable: &impl Fn(&str) -> Option<String>,
    name: &str,
    words: &[(&str, T)],
) -> Result<T, String> {
    let Some(said) = settings::said(variable, name) else {
        return Ok(words[0].1);
    };
    let known = words.iter().find(|(word, _)| *word == said);
    known.map(|one| one.1).ok_or_else(|| {
        let mut valid: Vec<&str> = words.iter().map(|one| one.0).collect();
        valid.sort_unstable();
        let (last, others) = valid.split_last().expect("there are words");
        format!(
            "{name}={said}: valid values are {} and {last}",
            others.join(", ")
        )
    })
}

/// What the words of `OKL_TRACE` ask for.
fn trace_words(text: &str) -> Result<u64, String> {
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words
        .map(word_bits)
        .try_fold(0, |all, bits| Ok(all | bits?))
        .map_err(|word: &str| {
            let valid: Vec<&str> = WORDS.iter().map(|known| known.0).collect();
            format!(
                "OKL_TRACE={text}: there is no word {word}; valid words are {}",
                settings::listed(&valid)
            )
        })
}

fn word_bits(word: &str) -> Result<u64, &str> {
    let known = WORDS.iter().find(|known| known.0 == word);
    known.map(|known| known.1).ok_or(word)
}

/// `size[B|K|M|G]`, in kilobytes where there is no unit (OpenMP 5.2, section 21.2.3).
fn stack_size(text: &str) -> Option<usize> {
    let text = text.trim().to_ascii_uppercase();
    let (number, shift) = match text.as_bytes().last()? {
        b'B' => (&text[..text.len() - 1], 0),
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (&text[..], 10),
    };
    let size = number.trim().parse::<usize>().ok()?.checked_shl(shift)?;
    (16 << 10..=1 << 36).contains(&size).then_some(size)
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Fixes the settings of this job.
pub(crate) fn install(settings: Settings) {
    assert!(SETTINGS.set(settings).is_ok(), "one job starts once");
}

/// The settings of this job.
pub(crate) fn settings() -> &'static Settings {
    SETTINGS.get().expect("the job has started")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Settings, String> {
        Settings::read(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn sizes_have_the_units_of_the_specification() {
        for (text, bytes) in [
            ("2000", 2000 << 10),
            ("20M", 20 << 20),
            ("1 G", 1 << 30),
            ("32768B", 32768),
        ] {
            assert_eq!(
                read("OMP_STACKSIZE", text).unwrap().stack_bytes,
                bytes,
                "{text}"
            );
        }
    }

    #[test]
    fn words_of_a_trace_add_up() {
        let trace = |words: &str| read("OKL_TRACE", words).unwrap().trace;
        assert_eq!(trace(""), 0);
        assert_eq!(trace("comm"), trace("sync, data,faults"));
        assert_ne!(trace("data"), trace("sync"));
    }

    #[test]
    fn bad_values_are_named() {
        assert_eq!(
            read("OMP_STACKSIZE", "").unwrap().stack_bytes,
            DEFAULT_STACK
        );
        for (name, value, message) in [
            (
                "OKL_STATS",
                "yes",
                "OKL_STATS=yes: valid values are 0 and 1, or a file FILE.json",
            ),
            (
                "OKL_MOVE_CHUNKS",
                "yes",
                "OKL_MOVE_CHUNKS=yes: valid values are 0, 1 and always",
            ),
            (
                "OKL_REGIONS_ALONE",
                "yes",
                "OKL_REGIONS_ALONE=yes: valid values are 0, 1, alternate and always",
            ),
            (
                "OKL_FLAGS",
                "1",
                "OKL_FLAGS=1: valid values are alone, nodes and ranks",
            ),
            (
                "OKL_RANKS_PER_NODE",
                "0",
                "OKL_RANKS_PER_NODE=0: valid values are whole numbers from 1",
            ),
            (
                "OKL_MEMORY",
                "4T",
                "OKL_MEMORY=4T: valid values are a number and one of M, G, at least 16M",
            ),
            (
                "OKL_MEMORY",
                "15M",
                "OKL_MEMORY=15M: valid values are a number and one of M, G, at least 16M",
            ),
            (
                "OKL_TRACE",
                "comm,bytes",
                "OKL_TRACE=comm,bytes: there is no word bytes; valid words are comm, data, faults and sync",
            ),
            (
                "OKL_TIMELINE_EVENTS",
                "many",
                "OKL_TIMELINE_EVENTS=many: valid values are whole numbers from 1",
            ),
            (
                "OMP_STACKSIZE",
                " ",
                "OMP_STACKSIZE= : valid values are a number and one of B, K, M, G, at least 16K",
            ),
            (
                "OMP_STACKSIZE",
                "big",
                "OMP_STACKSIZE=big: valid values are a number and one of B, K, M, G, at least 16K",
            ),
        ] {
            assert_eq!(read(name, value).unwrap_err(), message);
        }
    }
}
