//! Internal control variables, and the environment variables of OpenMP 5.2 that set them.
//!
//! Guarantee: a bad value is an error that names variable, value and what is valid; none is ignored.

use std::fmt::Write as _;

use okl_job::settings;

use super::{
    SCHEDULE_AUTO, SCHEDULE_DYNAMIC, SCHEDULE_GUIDED, SCHEDULE_MONOTONIC, SCHEDULE_STATIC,
    SUPPORTED_ACTIVE_LEVELS, checked_schedule,
};

/// OpenMP's internal control variables: plain data, so that a fork can hand them to other ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Icv {
    /// nthreads-var; 0: not set, a team has as many threads as it can.
    pub(crate) num_threads: i32,
    /// dyn-var, 0 or 1.
    pub(crate) dynamic: i32,
    /// max-active-levels-var, 0 or 1.
    pub(crate) max_active_levels: i32,
    /// run-sched-var: an `omp_sched_t`, with the bit of `omp_sched_monotonic`.
    pub(crate) schedule_kind: i32,
    /// Its chunk size; 0: none.
    pub(crate) schedule_chunk: i32,
    /// thread-limit-var; 0: not set.
    pub(crate) thread_limit: i32,
    /// bind-var: an `omp_proc_bind_t`.
    pub(crate) proc_bind: i32,
    /// default-device-var.
    pub(crate) default_device: i32,
    /// nteams-var; 0: not set.
    pub(crate) num_teams: i32,
    /// teams-thread-limit-var; 0: not set.
    pub(crate) teams_thread_limit: i32,
    /// max-task-priority-var.
    pub(crate) max_task_priority: i32,
    /// `OMP_DISPLAY_ENV`: 0 no, 1 yes, 2 verbose.
    pub(crate) display_env: i32,
    /// cancel-var, 0 or 1.
    pub(crate) cancellation: i32,
    /// The `thread_limit` clause of the `teams` construct about to begin; 0: none.
    pub(crate) pushed_team_threads: i32,
    /// def-allocator-var: an `omp_allocator_handle_t`.
    pub(crate) default_allocator: i64,
}

impl Default for Icv {
    fn default() -> Self {
        Self {
            num_threads: 0,
            dynamic: 0,
            max_active_levels: SUPPORTED_ACTIVE_LEVELS,
            schedule_kind: SCHEDULE_STATIC,
            schedule_chunk: 0,
            thread_limit: 0,
            proc_bind: 0,
            default_device: 0,
            num_teams: 0,
            teams_thread_limit: 0,
            max_task_priority: 0,
            display_env: 0,
            cancellation: 0,
            pushed_team_threads: 0,
            default_allocator: 1,
        }
    }
}

/// The predefined allocators, from handle 1 on.
const ALLOCATORS: [&str; 8] = [
    "omp_default_mem_alloc",
    "omp_large_cap_mem_alloc",
    "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc",
    "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",
    "omp_thread_mem_alloc",
];

/// The values of `omp_proc_bind_t`.
const BINDINGS: [&str; 5] = ["FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"];

impl Icv {
    /// Words of [`Icv::to_words`].
    pub(crate) const WORDS: usize = 15;

    /// The variables as words of a message.
    pub(crate) fn to_words(self) -> [u64; Self::WORDS] {
        [
            self.num_threads as u64,
            self.dynamic as u64,
            self.max_active_levels as u64,
            self.schedule_kind as u64,
            self.schedule_chunk as u64,
            self.thread_limit as u64,
            self.proc_bind as u64,
            self.default_device as u64,
            self.num_teams as u64,
            self.teams_thread_limit as u64,
            self.max_task_priority as u64,
            self.display_env as u64,
            self.pushed_team_threads as u64,
            self.cancellation as u64,
            self.default_allocator as u64,
        ]
    }

    /// The inverse of [`Icv::to_words`].
    pub(crate) fn from_words(words: [u64; Self::WORDS]) -> Self {
        let number = |index: usize| words[index] as i32;
        Self {
            num_threads: number(0),
            dynamic: number(1),
            max_active_levels: number(2),
            schedule_kind: number(3),
            schedule_chunk: number(4),
            thread_limit: number(5),
            proc_bind: number(6),
            default_device: number(7),
            num_teams: number(8),
            teams_thread_limit: number(9),
            max_task_priority: number(10),
            display_env: number(11),
            pushed_team_threads: number(12),
            cancellation: number(13),
            default_allocator: words[14] as i64,
        }
    }

    /// The initial values, with those the user set in the environment.
    pub(crate) fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let environment = Environment {
            variable: &variable,
        };
        let mut icv = Self::default();
        if let Some(numbers) = settings::threads(&variable)? {
            icv.num_threads = numbers[0] as i32;
        }
        if let Some(dynamic) = environment.get("OMP_DYNAMIC", switch, SWITCH)? {
            icv.dynamic = dynamic.into();
        }
        environment.get("OMP_NESTED", switch, SWITCH)?;
        if let Some(levels) = environment.get("OMP_MAX_ACTIVE_LEVELS", from_zero, FROM_ZERO)? {
            icv.max_active_levels = levels.min(SUPPORTED_ACTIVE_LEVELS);
        }
        if let Some(schedule) = environment.get("OMP_SCHEDULE", schedule, SCHEDULE)? {
            (icv.schedule_kind, icv.schedule_chunk) = schedule;
        }
        for (name, field) in [
            ("OMP_THREAD_LIMIT", &mut icv.thread_limit),
            ("OMP_NUM_TEAMS", &mut icv.num_teams),
            ("OMP_TEAMS_THREAD_LIMIT", &mut icv.teams_thread_limit),
        ] {
            if let Some(number) = environment.get(name, from_one, FROM_ONE)? {
                *field = number;
            }
        }
        for (name, field) in [
            ("OMP_DEFAULT_DEVICE", &mut icv.default_device),
            ("OMP_MAX_TASK_PRIORITY", &mut icv.max_task_priority),
        ] {
            if let Some(number) = environment.get(name, from_zero, FROM_ZERO)? {
                *field = number;
            }
        }
        if let Some(binding) = environment.get("OMP_PROC_BIND", binding, BINDING)? {
            icv.proc_bind = binding;
        }
        if let Some(display) = environment.get("OMP_DISPLAY_ENV", display, DISPLAY)? {
            icv.display_env = display;
        }
        if let Some(allocator) = environment.get("OMP_ALLOCATOR", allocator, ALLOCATOR)? {
            icv.default_allocator = allocator;
        }
        if let Some(cancellation) = environment.get("OMP_CANCELLATION", switch, SWITCH)? {
            icv.cancellation = cancellation.into();
        }
        environment.get("OMP_DISPLAY_AFFINITY", switch, SWITCH)?;
        Ok(icv)
    }

    /// thread-limit-var with `most` as its default and its most.
    pub(crate) fn thread_limit_of(&self, most: i32) -> i32 {
        if self.thread_limit > 0 {
            self.thread_limit.min(most)
        } else {
            most
        }
    }

    /// The size of a team that is not nested and has at most `most` threads; `asked` by a `num_threads`
    /// clause, 0: none.
    pub(crate) fn most_threads(&self, asked: i32, most: i32) -> i32 {
        let limit = self.thread_limit_of(most);
        let wanted = if asked > 0 { asked } else { self.num_threads };
        if wanted > 0 { wanted.min(limit) } else { limit }
    }

    /// What `omp_display_env` prints.
    pub(super) fn display(
        &self,
        verbose: bool,
        ranks: i32,
        most: i32,
        affinity_format: &str,
    ) -> String {
        let switch = |on: bool| if on { "TRUE" } else { "FALSE" };
        let kind = match self.schedule_kind & !SCHEDULE_MONOTONIC {
            SCHEDULE_DYNAMIC => "DYNAMIC",
            SCHEDULE_GUIDED => "GUIDED",
            SCHEDULE_AUTO => "AUTO",
            _ => "STATIC",
        };
        let monotonic = self.schedule_kind & SCHEDULE_MONOTONIC != 0;
        let mut schedule = format!("{}{kind}", if monotonic { "MONOTONIC:" } else { "" });
        if self.schedule_chunk > 0 && kind != "AUTO" {
            let _ = write!(schedule, ",{}", self.schedule_chunk);
        }
        let allocator = usize::try_from(self.default_allocator - 1).ok();
        let allocator = allocator
            .and_then(|index| ALLOCATORS.get(index))
            .unwrap_or(&"of the program");
        let threads = self.most_threads(0, most).to_string();
        let mut lines = vec![
            ("OMP_AFFINITY_FORMAT", affinity_format.to_owned()),
            ("OMP_ALLOCATOR", (*allocator).to_owned()),
            (
                "OMP_CANCELLATION",
                switch(self.cancellation != 0).to_owned(),
            ),
            ("OMP_DEFAULT_DEVICE", self.default_device.to_string()),
            ("OMP_DYNAMIC", switch(self.dynamic != 0).to_owned()),
            ("OMP_MAX_ACTIVE_LEVELS", self.max_active_levels.to_string()),
            ("OMP_MAX_TASK_PRIORITY", self.max_task_priority.to_string()),
            ("OMP_NUM_TEAMS", self.num_teams.to_string()),
            ("OMP_NUM_THREADS", threads),
            ("OMP_PLACES", String::new()),
            (
                "OMP_PROC_BIND",
                BINDINGS[self.proc_bind as usize].to_owned(),
            ),
            ("OMP_SCHEDULE", schedule),
            (
                "OMP_TEAMS_THREAD_LIMIT",
                self.teams_thread_limit.to_string(),
            ),
            ("OMP_THREAD_LIMIT", self.thread_limit_of(most).to_string()),
        ];
        if verbose {
            lines.push(("MPI ranks", ranks.to_string()));
        }
        let mut text = String::from("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP='202011'\n");
        for (name, value) in lines {
            let _ = writeln!(text, "  [host] {name}='{value}'");
        }
        text.push_str("OPENMP DISPLAY ENVIRONMENT END\n");
        text
    }
}

struct Environment<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    /// The value of a variable, `None` where it is not set.
    fn get<T>(
        &self,
        name: &str,
        parse: fn(&str) -> Option<T>,
        valid: &str,
    ) -> Result<Option<T>, String> {
        let Some(text) = settings::said(self.variable, name) else {
            return Ok(None);
        };
        match parse(text.trim()) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name}={text}: valid values are {valid}")),
        }
    }
}

const FROM_ONE: &str = "whole numbers from 1";
const FROM_ZERO: &str = "whole numbers from 0";
const SWITCH: &str = "true and false";
const DISPLAY: &str = "true, false and verbose";
const SCHEDULE: &str = "static, dynamic, guided and auto, with monotonic: or nonmonotonic: before them \
                        and a comma and a chunk size from 1 behind them";
const BINDING: &str = "true, false, and primary, close and spread, separated by commas";
const ALLOCATOR: &str = "the names of predefined allocators, such as omp_default_mem_alloc";

fn from_zero(text: &str) -> Option<i32> {
    text.parse().ok().filter(|&number| number >= 0)
}

fn from_one(text: &str) -> Option<i32> {
    from_zero(text).filter(|&number| number > 0)
}

/// Besides the specification's words, those that libomp takes.
fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | ".true." | "t" | ".t." | "yes" | "on" | "1" => Some(true),
        "false" | ".false." | "f" | ".f." | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn display(text: &str) -> Option<i32> {
    if text.eq_ignore_ascii_case("verbose") {
        Some(2)
    } else {
        switch(text).map(i32::from)
    }
}

fn schedule(text: &str) -> Option<(i32, i32)> {
    let text = text.to_ascii_lowercase();
    let (modifier, rest) = match text.split_once(':') {
        Some((modifier, rest)) => (modifier.trim(), rest),
        None => ("nonmonotonic", text.as_str()),
    };
    let monotonic = match modifier {
        "monotonic" => SCHEDULE_MONOTONIC,
        "nonmonotonic" => 0,
        _ => return None,
    };
    let (kind, chunk) = match rest.split_once(',') {
        Some((kind, chunk)) => (kind, from_one(chunk.trim())?),
        None => (rest, 0),
    };
    let kind = match kind.trim() {
        "static" => SCHEDULE_STATIC,
        "dynamic" => SCHEDULE_DYNAMIC,
        "guided" => SCHEDULE_GUIDED,
        "auto" => SCHEDULE_AUTO,
        _ => return None,
    };
    Some(checked_schedule(kind | monotonic, chunk))
}

fn binding(text: &str) -> Option<i32> {
    if let Some(on) = switch(text) {
        return Some(on.into());
    }
    let level = |word: &str| match word.trim().to_ascii_lowercase().as_str() {
        "master" | "primary" => Some(2),
        "close" => Some(3),
        "spread" => Some(4),
        _ => None,
    };
    let levels: Option<Vec<i32>> = text.split(',').map(level).collect();
    levels.map(|levels| levels[0])
}

fn allocator(text: &str) -> Option<i64> {
    let index = ALLOCATORS
        .iter()
        .position(|name| text.eq_ignore_ascii_case(name))?;
    Some(index as i64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Icv, String> {
        Icv::from_environment(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn nothing_set_leaves_the_defaults() {
        assert_eq!(Icv::from_environment(|_| None), Ok(Icv::default()));
        assert_eq!(
            Icv::from_environment(|_| Some(String::new())),
            Ok(Icv::default())
        );
    }

    #[test]
    fn values_of_the_specification_are_read() {
        let default = Icv::default();
        for (name, value, expected) in [
            (
                "OMP_NUM_THREADS",
                " 4, 2 ",
                Icv {
                    num_threads: 4,
                    ..default
                },
            ),
            (
                "OMP_DYNAMIC",
                "TRUE",
                Icv {
                    dynamic: 1,
                    ..default
                },
            ),
            (
                "OMP_MAX_ACTIVE_LEVELS",
                "0",
                Icv {
                    max_active_levels: 0,
                    ..default
                },
            ),
            ("OMP_MAX_ACTIVE_LEVELS", "7", default),
            ("OMP_NESTED", "true", default),
            ("OMP_SCHEDULE", "static", default),
            (
                "OMP_SCHEDULE",
                "Static , 8",
                Icv {
                    schedule_chunk: 8,
                    ..default
                },
            ),
            (
                "OMP_SCHEDULE",
                "dynamic",
                Icv {
                    schedule_kind: 2,
                    schedule_chunk: 1,
                    ..default
                },
            ),
            (
                "OMP_SCHEDULE",
                "monotonic:guided,4",
                Icv {
                    schedule_kind: 3 | SCHEDULE_MONOTONIC,
                    schedule_chunk: 4,
                    ..default
                },
            ),
            (
                "OMP_THREAD_LIMIT",
                "3",
                Icv {
                    thread_limit: 3,
                    ..default
                },
            ),
            ("OMP_DEFAULT_DEVICE", "0", default),
            (
                "OMP_PROC_BIND",
                "close,spread",
                Icv {
                    proc_bind: 3,
                    ..default
                },
            ),
            (
                "OMP_PROC_BIND",
                "true",
                Icv {
                    proc_bind: 1,
                    ..default
                },
            ),
            (
                "OMP_DISPLAY_ENV",
                "VERBOSE",
                Icv {
                    display_env: 2,
                    ..default
                },
            ),
            (
                "OMP_ALLOCATOR",
                "omp_thread_mem_alloc",
                Icv {
                    default_allocator: 8,
                    ..default
                },
            ),
            (
                "OMP_CANCELLATION",
                "true",
                Icv {
                    cancellation: 1,
                    ..default
                },
            ),
        ] {
            assert_eq!(read(name, value), Ok(expected), "{name}={value}");
        }
    }

    #[test]
    fn bad_values_are_named() {
        for (name, value, valid) in [
            ("OMP_DYNAMIC", "maybe", SWITCH),
            ("OMP_MAX_ACTIVE_LEVELS", "-3", FROM_ZERO),
            ("OMP_SCHEDULE", "foo", SCHEDULE),
            ("OMP_SCHEDULE", "dynamic,0", SCHEDULE),
            ("OMP_SCHEDULE", "sometimes:static", SCHEDULE),
            ("OMP_THREAD_LIMIT", "0", FROM_ONE),
            ("OMP_PROC_BIND", "close,far", BINDING),
            ("OMP_DISPLAY_ENV", "loud", DISPLAY),
            ("OMP_ALLOCATOR", "mine", ALLOCATOR),
            ("OMP_CANCELLATION", "2", SWITCH),
        ] {
            let message = format!("{name}={value}: valid values are {valid}");
            assert_eq!(read(name, value), Err(message));
        }
    }

    #[test]
    fn a_team_is_no_larger_than_asked_and_no_larger_than_allowed() {
        let icv = Icv::default();
        assert_eq!(icv.most_threads(0, 4), 4);
        assert_eq!(icv.most_threads(2, 4), 2);
        assert_eq!(icv.most_threads(9, 4), 4);
        let icv = Icv {
            num_threads: 3,
            thread_limit: 2,
            ..icv
        };
        assert_eq!(icv.most_threads(0, 4), 2);
        assert_eq!(icv.most_threads(1, 4), 1);
        assert_eq!(icv.thread_limit_of(1), 1);
    }

    #[test]
    fn the_display_is_that_of_the_specification() {
        let icv = Icv {
            schedule_kind: 2 | SCHEDULE_MONOTONIC,
            schedule_chunk: 4,
            ..Icv::default()
        };
        let text = icv.display(true, 4, 8, "%n");
        assert!(
            text.starts_with("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP='202011'\n"),
            "{text}"
        );
        assert!(
            text.ends_with("\nOPENMP DISPLAY ENVIRONMENT END\n"),
            "{text}"
        );
        for line in [
            "OMP_SCHEDULE='MONOTONIC:DYNAMIC,4'",
            "OMP_NUM_THREADS='8'",
            "MPI ranks='4'",
        ] {
            assert!(text.contains(&format!("  [host] {line}\n")), "{text}");
        }
    }
}
