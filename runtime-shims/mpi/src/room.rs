//! How much memory a rank may take for copies.
//!
//! With `OKL_MEMORY` that is said. Without it a rank takes what there is, and gives copies up when the machine, or the
//! control group that the process is in, has little left.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use okl_coherence::PAGE;

/// It is looked again after so many pages, where a limit is said and where not, or after so long.
const PAGES_WITH_LIMIT: u32 = 256;
const PAGES: u32 = 4096;
const LONG: Duration = Duration::from_millis(100);

/// What is left of memory stays so large.
const LEAST_FREE: u64 = 64 << 20;
const MOST_FREE: u64 = 2 << 30;
/// Or so small a part of it.
const FREE_PART: u64 = 16;

/// Watches how much memory there is.
pub(crate) struct Room {
    limit: Option<u64>,
    /// The files that say what the control groups of this process, and those around them, may take.
    groups: Vec<Group>,
    fetched: u32,
    looked: Instant,
}

/// The files of a control group: what it may take, what it takes, and of what.
struct Group {
    most: PathBuf,
    taken: PathBuf,
    statistics: PathBuf,
    /// What of it is only a copy of files.
    files: &'static str,
}

impl Room {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let groups = match limit {
            Some(_) => Vec::new(),
            None => groups_of(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default()),
        };
        Self {
            limit,
            groups,
            fetched: 0,
            looked: Instant::now(),
        }
    }

    /// By how many pages there is too little room for `more`, where `resident` are the bytes that this rank takes. Looks
    /// now and then.
    pub(crate) fn surplus(&mut self, more: u32, resident: impl FnOnce() -> u64) -> u32 {
        let interval = match self.limit {
            Some(_) => PAGES_WITH_LIMIT,
            None => PAGES,
        };
        self.fetched = self.fetched.saturating_add(more);
        if self.fetched < interval && self.looked.elapsed() < LONG {
            return 0;
        }
        self.looked = Instant::now();
        self.fetched = 0;
        let ahead = u64::from(more.max(interval)) * PAGE as u64;
        let bytes = match self.limit {
            Some(limit) => (resident() + ahead).saturating_sub(limit),
            None => self.left().map(|left| left.lacks(ahead)).max().unwrap_or(0),
        };
        (bytes.div_ceil(PAGE as u64)).min(u64::from(u32::MAX)) as u32
    }

    /// Whether `more` bytes fit beside the `resident` ones of this rank.
    pub(crate) fn has(&self, more: u64, resident: impl FnOnce() -> u64) -> bool {
        match self.limit {
            Some(limit) => resident().saturating_add(more) <= limit,
            None => self.left().all(|left| left.lacks(more) == 0),
        }
    }

    /// What is left, of each kind that counts.
    fn left(&self) -> impl Iterator<Item = Left> {
        let machine = machine(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
        self.groups.iter().filter_map(Group::room).chain(machine)
    }
}

/// How much memory there is, in bytes, and how much of it nobody takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    all: u64,
    free: u64,
}

impl Left {
    /// What is missing of a reserve when `ahead` more are taken.
    fn lacks(self, ahead: u64) -> u64 {
        let reserve = (self.all / FREE_PART).clamp(LEAST_FREE, MOST_FREE);
        (reserve + ahead).saturating_sub(self.free)
    }
}

/// The machine's memory, out of the text of `/proc/meminfo`.
fn machine(text: &str) -> Option<Left> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let number: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(number << 10)
    };
    Some(Left {
        all: field("MemTotal:")?,
        free: field("MemAvailable:")?,
    })
}

/// The control groups that count memory, out of the text of `/proc/self/cgroup`, innermost first.
fn groups_of(text: &str) -> Vec<Group> {
    let found = text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        match controllers {
            "" if fs::exists("/sys/fs/cgroup/cgroup.controllers").unwrap_or(false) => {
                Some(("/sys/fs/cgroup", path, true))
            }
            _ if controllers.split(',').any(|one| one == "memory") => {
                Some(("/sys/fs/cgroup/memory", path, false))
            }
            _ => None,
        }
    });
    let Some((root, path, is_unified)) = found else {
        return Vec::new();
    };
    let [most, taken, files] = match is_unified {
        true => ["memory.max", "memory.current", "inactive_file "],
        false => [
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ],
    };
    let mut folder = PathBuf::from(format!("{root}{path}"));
    let mut groups = Vec::new();
    while folder.starts_with(root) {
        groups.push(Group {
            most: folder.join(most),
            taken: folder.join(taken),
            statistics: folder.join("memory.stat"),
            files,
        });
        folder.pop();
    }
    groups.retain(|group| group.room().is_some());
    groups
}

impl Group {
    /// `None` where it has no limit.
    fn room(&self) -> Option<Left> {
        let number =
            |path: &PathBuf| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
        // What no machine has stands for no limit, too.
        const NO_LIMIT: u64 = 1 << 60;
        let all = number(&self.most).filter(|&most| most < NO_LIMIT)?;
        let statistics = fs::read_to_string(&self.statistics).unwrap_or_default();
        let files = statistics
            .lines()
            .find_map(|line| line.strip_prefix(self.files)?.parse::<u64>().ok());
        let taken = number(&self.taken)?.saturating_sub(files.unwrap_or(0));
        Some(Left {
            all,
            free: all.saturating_sub(taken),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_what_is_taken_now_and_what_comes() {
        let mut room = Room::new(Some(100 * PAGE as u64));
        let taken = |pages: u64| move || pages * PAGE as u64;
        // Few pages: nobody looks.
        assert_eq!(room.surplus(1, || unreachable!("nobody looks")), 0);
        assert_eq!(
            room.surplus(PAGES_WITH_LIMIT, taken(90)),
            90 + PAGES_WITH_LIMIT - 100
        );
        let mut room = Room::new(Some(1000 * PAGE as u64));
        assert_eq!(room.surplus(PAGES_WITH_LIMIT, taken(500)), 0);
    }

    #[test]
    fn a_machine_keeps_some_memory_free() {
        let text =
            "MemTotal:       16777216 kB\nMemFree:          1 kB\nMemAvailable:    2097152 kB\n";
        let left = machine(text).expect("both numbers are there");
        assert_eq!((left.all, left.free), (16 << 30, 2 << 30));
        assert_eq!(left.lacks(0), 0);
        assert_eq!(left.lacks(1 << 30), 0);
        assert_eq!(left.lacks(1 << 31), 1 << 30);
        let small = Left {
            all: 256 << 20,
            free: 10 << 20,
        };
        assert_eq!(small.lacks(0), 54 << 20);
        assert_eq!(machine("MemTotal: 5 kB\n"), None);
    }
}
