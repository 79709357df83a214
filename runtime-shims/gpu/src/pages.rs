//! What host and device have of an object's pages.
//!
//! Invariant: each page is in one [`State`], and whoever it names has what the program wrote there last. The host's
//! protection of the page allows no more than the state: reading where the host has it, writing where the host alone has it.
//! So whatever the host does otherwise faults, and comes here first ([`Pages::touch`]); what kernels do is said before they
//! run ([`Pages::before_kernel`]), with the host's protection changed before anything is copied, so that nothing that other
//! threads write meanwhile is lost.
//!
//! Nothing here knows addresses, drivers or the kernel's protections: that is a [`Machine`].

use std::ops::Range;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Who has a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// The host alone.
    Host,
    /// Both.
    Both,
    /// The device alone.
    Device,
}

/// What the host's protection allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// The memory of host and device.
pub trait Machine {
    /// What may go wrong.
    type Problem;
    /// Has the host's protection of pages be that. False: there are too many mappings.
    fn protect(&mut self, pages: Range<usize>, access: Access) -> bool;
    /// Copies pages to the device, past their protection.
    fn upload(&mut self, pages: Range<usize>) -> Result<(), Self::Problem>;
    /// Copies pages from the device, past their protection.
    fn download(&mut self, pages: Range<usize>) -> Result<(), Self::Problem>;
    /// Not even the whole object can be protected in one piece.
    fn too_many_mappings(&mut self) -> Self::Problem;
}

/// Threads of the program go through parts of their own: where so many of them are at a time is known.
const MOST_WALKS: usize = 64;

/// Pages that are touched one after the other.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// Behind what was touched last.
    next: usize,
    /// So many pages were taken then.
    pages: usize,
}

/// How far one goes at once.
#[derive(Clone, Debug)]
struct Ahead {
    /// The one that went on last is the last one.
    walks: Vec<Walk>,
    first: usize,
    most: usize,
    habit: Habit,
}

/// Whether the host does the same to the whole object between any two kernels.
#[derive(Clone, Copy, Debug, Default)]
struct Habit {
    /// How often in a row it did.
    times: usize,
    /// So often that is taken for granted, and then looked at again.
    granted: usize,
    /// Pages it did it to since the last kernel.
    pages: usize,
}

impl Habit {
    const TIMES: usize = 2;
    const GRANTED: usize = 8;

    /// A kernel is to run.
    fn ends(&mut self, count: usize) {
        match std::mem::take(&mut self.pages) {
            0 => {}
            _ if self.granted > 0 => self.granted -= 1,
            most if 4 * most >= 3 * count => {
                self.times += 1;
                if self.times >= Self::TIMES {
                    self.granted = Self::GRANTED;
                }
            }
            _ => self.times = 0,
        }
    }
}

impl Ahead {
    fn new(first: usize, most: usize) -> Self {
        Self {
            walks: Vec::new(),
            first,
            most,
            habit: Habit::default(),
        }
    }

    /// What to take of a run of pages, of which `page` is touched.
    fn take(&mut self, page: usize, run: Range<usize>) -> Range<usize> {
        let known = self.walks.iter().position(|walk| walk.next == page);
        let before = known.map(|known| self.walks.remove(known));
        let pages = before.map_or(self.first, |walk| (2 * walk.pages).min(self.most));
        let taken = match self.habit.granted {
            0 => page..run.end.min(page + pages),
            _ => run,
        };
        if self.walks.len() == MOST_WALKS {
            self.walks.remove(0);
        }
        let next = taken.end;
        self.walks.push(Walk { next, pages });
        self.habit.pages += taken.len();
        taken
    }
}

/// So many pages that the host has not written are copied with those before and behind them, which it has.
const MOST_BETWEEN: usize = 16;

/// The pages of an object.
#[derive(Debug)]
pub struct Pages {
    states: Vec<State>,
    /// How many are in each state.
    counts: [usize; 3],
    /// Copies to the host begin with 64 KiB, and end with 16 MiB.
    copied: Ahead,
    /// Pages that the host writes: what is opened too much is uploaded in vain.
    written: Ahead,
}

impl Pages {
    /// So many, which the host has.
    pub fn new(count: usize) -> Self {
        Self {
            states: vec![State::Host; count],
            counts: [count, 0, 0],
            copied: Ahead::new(16, 4096),
            written: Ahead::new(1, 512),
        }
    }

    /// Of one page.
    #[cfg(test)]
    pub fn state(&self, page: usize) -> State {
        self.states[page]
    }

    fn count(&self, state: State) -> usize {
        self.counts[state as usize]
    }

    /// Whether the host can do with all of it what it likes.
    #[cfg(test)]
    pub fn are_home(&self) -> bool {
        self.count(State::Host) == self.states.len()
    }

    fn set(&mut self, pages: Range<usize>, state: State) {
        for one in &mut self.states[pages] {
            self.counts[*one as usize] -= 1;
            self.counts[state as usize] += 1;
            *one = state;
        }
    }

    /// The run of pages in one state around one of them.
    fn around(&self, page: usize) -> Range<usize> {
        let state = self.states[page];
        let before = self.states[..page].iter().rposition(|one| *one != state);
        let behind = self.states[page..].iter().position(|one| *one != state);
        before.map_or(0, |before| before + 1)..behind.map_or(self.states.len(), |one| page + one)
    }

    /// The first pages from `from` on that the host alone has, to the last of them, with a few between them that both have.
    fn written_run(&self, from: usize) -> Option<Range<usize>> {
        let mut run = self.run(from, State::Host)?;
        while let Some(next) = self.run(run.end, State::Host)
            && next.start - run.end <= MOST_BETWEEN
            && self.states[run.end..next.start]
                .iter()
                .all(|one| *one == State::Both)
        {
            run.end = next.end;
        }
        Some(run)
    }

    /// The first run of pages in that state, from `from` on.
    fn run(&self, from: usize, state: State) -> Option<Range<usize>> {
        let start = from + self.states[from..].iter().position(|one| *one == state)?;
        let length = self.states[start..].iter().position(|one| *one != state);
        Some(start..length.map_or(self.states.len(), |length| start + length))
    }

    /// Allows the host less. More pages than these may get no more than that: they fault, and get it back.
    fn restrict<M: Machine>(
        &mut self,
        pages: Range<usize>,
        access: Access,
        machine: &mut M,
    ) -> Result<(), M::Problem> {
        if machine.protect(pages, access) || machine.protect(0..self.states.len(), access) {
            return Ok(());
        }
        Err(machine.too_many_mappings())
    }

    /// Pages get a state that allows the host more; if need be, all do.
    fn open<M: Machine>(
        &mut self,
        pages: Range<usize>,
        state: State,
        machine: &mut M,
    ) -> Result<(), M::Problem> {
        let access = match state {
            State::Host => Access::Write,
            State::Both => Access::Read,
            State::Device => Access::None,
        };
        if machine.protect(pages.clone(), access) {
            self.set(pages, state);
            return Ok(());
        }
        self.go_home(machine)
    }

    /// A kernel is to run that may access the object: what the host alone has is copied. Where it may write, the device alone
    /// has all of it afterwards.
    pub fn before_kernel<M: Machine>(
        &mut self,
        writes: bool,
        machine: &mut M,
    ) -> Result<(), M::Problem> {
        for ahead in [&mut self.copied, &mut self.written] {
            ahead.walks.clear();
            ahead.habit.ends(self.states.len());
        }
        let mut from = 0;
        while self.count(State::Host) > 0
            && let Some(run) = self.written_run(from)
        {
            self.restrict(run.clone(), Access::Read, machine)?;
            machine.upload(run.clone())?;
            self.set(run.clone(), State::Both);
            from = run.end;
        }
        if writes && self.count(State::Device) < self.states.len() {
            let all = 0..self.states.len();
            self.restrict(all.clone(), Access::None, machine)?;
            self.set(all, State::Device);
        }
        Ok(())
    }

    /// The host reads, or writes, a page.
    pub fn touch<M: Machine>(
        &mut self,
        page: usize,
        writes: bool,
        machine: &mut M,
    ) -> Result<(), M::Problem> {
        if self.states[page] == State::Device {
            let run = self.copied.take(page, self.around(page));
            machine.download(run.clone())?;
            self.open(run, State::Both, machine)?;
            if !writes {
                return Ok(());
            }
        }
        if writes && self.states[page] == State::Both {
            let run = self.written.take(page, self.around(page));
            return self.open(run, State::Host, machine);
        }
        // Its state allows it: another thread was faster, or more was restricted than had to be.
        let state = self.states[page];
        self.open(page..page + 1, state, machine)
    }

    /// The host reads, or writes, all of these, which nothing protects meanwhile.
    pub fn touch_all<M: Machine>(
        &mut self,
        pages: Range<usize>,
        writes: bool,
        machine: &mut M,
    ) -> Result<(), M::Problem> {
        let mut at = pages.start;
        while at < pages.end {
            let state = self.states[at];
            let run = self.run(at, state).expect("this page at least");
            let run = at..run.end.min(pages.end);
            at = run.end;
            if state == State::Device {
                machine.download(run.clone())?;
                self.open(run.clone(), State::Both, machine)?;
            }
            if writes && self.states[run.start] != State::Host {
                self.open(run, State::Host, machine)?;
            }
        }
        // Some may be restricted more than they have to be.
        match writes {
            true if !machine.protect(pages, Access::Write) => self.go_home(machine),
            _ => Ok(()),
        }
    }

    /// The host alone has all of it, and may do with it what it likes.
    pub fn go_home<M: Machine>(&mut self, machine: &mut M) -> Result<(), M::Problem> {
        let mut from = 0;
        while self.count(State::Device) > 0
            && let Some(run) = self.run(from, State::Device)
        {
            machine.download(run.clone())?;
            self.set(run.clone(), State::Both);
            from = run.end;
        }
        let all = 0..self.states.len();
        if !machine.protect(all.clone(), Access::Write) {
            return Err(machine.too_many_mappings());
        }
        self.set(all, State::Host);
        Ok(())
    }

    /// The contents do not matter any more.
    pub fn abandon<M: Machine>(&mut self, machine: &mut M) -> Result<(), M::Problem> {
        let all = 0..self.states.len();
        self.set(all, State::Both);
        self.go_home(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    /// Memory of one number a page, and what was copied.
    struct Memory {
        host: Vec<u32>,
        device: Vec<u32>,
        access: Vec<Access>,
        most_mappings: usize,
        copied: [usize; 2],
        changes: usize,
    }

    impl Memory {
        fn new(pages: usize, most_mappings: usize) -> Self {
            Self {
                host: vec![0; pages],
                device: vec![u32::MAX; pages],
                access: vec![Access::Write; pages],
                most_mappings,
                copied: [0; 2],
                changes: 0,
            }
        }
    }

    impl Machine for Memory {
        type Problem = ();

        fn protect(&mut self, pages: Range<usize>, access: Access) -> bool {
            self.changes += 1;
            let mut new = self.access.clone();
            new[pages].fill(access);
            let mappings = 1 + new.windows(2).filter(|two| two[0] != two[1]).count();
            if mappings > self.most_mappings {
                return false;
            }
            self.access = new;
            true
        }

        fn upload(&mut self, pages: Range<usize>) -> Result<(), ()> {
            self.copied[0] += pages.len();
            self.device[pages.clone()].copy_from_slice(&self.host[pages]);
            Ok(())
        }

        fn download(&mut self, pages: Range<usize>) -> Result<(), ()> {
            self.copied[1] += pages.len();
            self.host[pages.clone()].copy_from_slice(&self.device[pages]);
            Ok(())
        }

        fn too_many_mappings(&mut self) {}
    }

    /// The program accesses a page; what it reads.
    fn access(pages: &mut Pages, memory: &mut Memory, page: usize, write: Option<u32>) -> u32 {
        let allows = |access| match access {
            Access::None => false,
            Access::Read => write.is_none(),
            Access::Write => true,
        };
        let mut faults = 0;
        while !allows(memory.access[page]) {
            pages.touch(page, write.is_some(), memory).unwrap();
            faults += 1;
            assert!(faults < 3, "a fault that is not served");
        }
        if let Some(value) = write {
            memory.host[page] = value;
        }
        memory.host[page]
    }

    fn hold(pages: &Pages, memory: &Memory, model: &[u32]) {
        let mut counts = [0; 3];
        for (page, &value) in model.iter().enumerate() {
            let state = pages.state(page);
            counts[state as usize] += 1;
            let (host, device) = (memory.host[page], memory.device[page]);
            assert!(state == State::Device || host == value, "{page}: {state:?}");
            assert!(state == State::Host || device == value, "{page}: {state:?}");
            let allowed = memory.access[page];
            assert!(
                match state {
                    State::Host => true,
                    State::Both => allowed != Access::Write,
                    State::Device => allowed == Access::None,
                },
                "{page}: {state:?}, {allowed:?}"
            );
        }
        assert_eq!(counts, pages.counts);
    }

    #[test]
    fn random_accesses_of_host_and_device_see_one_memory() {
        for seed in 1..400 {
            let mut random = Random(seed);
            let count = 1 + random.below(60);
            let most_mappings = if random.chance(50) { 4 } else { usize::MAX };
            let mut memory = Memory::new(count, most_mappings);
            let mut pages = Pages::new(count);
            let mut model = vec![0; count];
            for step in 1..120 {
                let page = random.below(count);
                match random.below(10) {
                    0 | 1 => {
                        // A kernel that writes some pages.
                        pages.before_kernel(true, &mut memory).unwrap();
                        assert_eq!(memory.device, model);
                        for (one, known) in memory.device.iter_mut().zip(&mut model) {
                            if random.chance(30) {
                                (*one, *known) = (step, step);
                            }
                        }
                    }
                    2 => {
                        pages.before_kernel(false, &mut memory).unwrap();
                        assert_eq!(memory.device, model);
                    }
                    3 => {
                        let range = page..page + random.below(count - page + 1);
                        let writes = random.chance(50);
                        pages.touch_all(range.clone(), writes, &mut memory).unwrap();
                        assert_eq!(memory.host[range.clone()], model[range.clone()]);
                        if writes {
                            assert!(
                                memory.access[range.clone()]
                                    .iter()
                                    .all(|one| *one == Access::Write)
                            );
                            memory.host[range.clone()].fill(step);
                            model[range].fill(step);
                        }
                    }
                    4 if random.chance(20) => {
                        pages.go_home(&mut memory).unwrap();
                        assert!(pages.are_home());
                    }
                    5 | 6 => {
                        access(&mut pages, &mut memory, page, Some(step));
                        model[page] = step;
                    }
                    7 => {
                        for (at, known) in model.iter_mut().enumerate().skip(page) {
                            access(&mut pages, &mut memory, at, Some(step));
                            *known = step;
                        }
                    }
                    _ => {
                        let seen = access(&mut pages, &mut memory, page, None);
                        assert_eq!(seen, model[page]);
                    }
                }
                hold(&pages, &memory, &model);
            }
        }
    }

    #[test]
    fn only_what_was_written_is_copied_again() {
        let mut memory = Memory::new(100, usize::MAX);
        let mut pages = Pages::new(100);
        let kernel = |pages: &mut Pages, memory: &mut Memory, writes| {
            pages.before_kernel(writes, memory).unwrap();
            std::mem::take(&mut memory.copied)
        };
        assert_eq!(kernel(&mut pages, &mut memory, true), [100, 0]);
        assert_eq!(kernel(&mut pages, &mut memory, true), [0, 0]);
        // One page is written, which comes with fifteen others that stay as they are.
        access(&mut pages, &mut memory, 20, Some(1));
        assert_eq!(kernel(&mut pages, &mut memory, false), [1, 16]);
        assert_eq!(kernel(&mut pages, &mut memory, false), [0, 0]);
        // Pages in turn are opened for writing in growing runs: 1, 2, 4, and 8.
        for page in 21..30 {
            access(&mut pages, &mut memory, page, Some(2));
        }
        assert_eq!(kernel(&mut pages, &mut memory, false), [15, 0]);
        // What is only read is never copied back.
        for page in 0..36 {
            access(&mut pages, &mut memory, page, None);
        }
        assert_eq!(kernel(&mut pages, &mut memory, true)[0], 0);
    }

    #[test]
    fn threads_fault_rarely_and_habits_once() {
        let mut memory = Memory::new(100, usize::MAX);
        let mut pages = Pages::new(100);
        // How often the protection changes while four threads write their parts, page by page, behind a kernel.
        let turn = |pages: &mut Pages, memory: &mut Memory, all| {
            pages.before_kernel(true, memory).unwrap();
            memory.changes = 0;
            for page in 0..all {
                for thread in 0..4 {
                    access(pages, memory, 25 * thread + page, None);
                    access(pages, memory, 25 * thread + page, Some(1));
                }
            }
            memory.changes
        };
        // Each reads runs of 16 and 9 pages, and writes 1, 2, 4, 8, what is left of the first run, and the second.
        let in_runs = 4 * (2 + 6);
        for _ in 0..2 {
            assert_eq!(turn(&mut pages, &mut memory, 25), in_runs);
        }
        for _ in 0..2 {
            for _ in 0..Habit::GRANTED {
                assert_eq!(turn(&mut pages, &mut memory, 25), 2);
            }
            // It may have become another one.
            assert_eq!(turn(&mut pages, &mut memory, 25), in_runs);
        }
        for _ in 0..Habit::GRANTED {
            turn(&mut pages, &mut memory, 1);
        }
        for _ in 0..Habit::GRANTED {
            assert_eq!(turn(&mut pages, &mut memory, 1), 4 * 2);
        }
    }

    #[test]
    fn what_lies_near_goes_in_one_piece() {
        let mut memory = Memory::new(100, usize::MAX);
        let mut pages = Pages::new(100);
        pages.before_kernel(false, &mut memory).unwrap();
        for page in [3, 10, 60, 80] {
            access(&mut pages, &mut memory, page, Some(1));
        }
        memory.copied = [0; 2];
        memory.changes = 0;
        pages.before_kernel(false, &mut memory).unwrap();
        assert_eq!((memory.copied, memory.changes), ([8 + 1 + 1, 0], 3));
    }
}
