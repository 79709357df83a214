//! A warp: 32 lanes, each with a program counter and a stack of its own. Lanes that are at the same instruction run it
//! together: those of the deepest calls first, and of these those that are furthest back, so that lanes that went apart meet
//! again; who waits for others in a loop of atomic accesses does not keep them from running.
//!
//! Undefined bits travel with values, and are reported when they decide a branch or an address.

mod access;
mod arithmetic;
mod collective;
mod floating;
mod print;
mod registers;

use crate::check::Who;
use crate::program::{Callee, Guard, Slot, What, windows};
use crate::surroundings::{Finding, Surroundings, codes};
use registers::Registers;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It runs.
    Running,
    /// It waits for lanes of its warp, at an instruction that they run together.
    Together,
    /// It waits at a barrier of the block.
    AtBarrier,
    /// It has ended.
    Done,
}

/// A lane's function that called another one.
#[derive(Clone, Copy, Debug)]
struct Caller {
    /// The call.
    at: u32,
    registers: u32,
    frame: u32,
    function: u32,
}

/// Lanes that wait at a barrier.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The lanes.
    pub lanes: u32,
    /// The instruction.
    pub at: u32,
    /// The barrier.
    pub number: u64,
    /// How many threads it waits for; none: all of the block.
    pub threads: Option<u64>,
    /// Whether the lanes wait, too.
    pub waits: bool,
    /// For how many of them the predicate is true.
    pub truths: u32,
}

/// A warp.
#[derive(Debug)]
pub struct Warp {
    /// Its number in the block.
    pub number: u32,
    registers: Registers,
    state: [State; LANES],
    at: [u32; LANES],
    base: [u32; LANES],
    frame: [u32; LANES],
    function: [u32; LANES],
    calls: Vec<Vec<Caller>>,
    locals: Vec<Local>,
    last_run: [u64; LANES],
    /// How often it met barriers of its own.
    barriers: u16,
    /// Lanes that have met a fence.
    fenced: u32,
    /// Copies into the block's memory that are on their way, by lane: groups, and what is in none.
    copies: Vec<Vec<Vec<access::Copy>>>,
    /// Atomic accesses that the lanes which run may make before others run.
    patience: u32,
    /// Whether lanes wait for other warps.
    sleeps: bool,
    /// Those who came to a barrier and are not told yet.
    pub arrivals: Vec<Arrival>,
}

/// A thread's own memory.
#[derive(Clone, Debug, Default)]
struct Local {
    data: Vec<u8>,
    known: Vec<u8>,
}

const PATIENCE: u32 = 512;
/// Instructions that a warp runs before others do.
const SLICE: u32 = 20_000;

/// The lanes that run.
#[derive(Clone, Copy, Debug)]
struct Group {
    lanes: u32,
    at: u32,
    base: u32,
}

type Result<T, E = Finding> = std::result::Result<T, E>;

impl Group {
    fn wrong<T>(self, code: i32, text: impl Into<String>) -> Result<T> {
        Err(Finding {
            at: self.at,
            code,
            text: text.into(),
        })
    }

    fn failed<T>(self, text: impl Into<String>) -> Result<T> {
        self.wrong(codes::LAUNCH_FAILED, text)
    }
}

/// The numbers of the lanes of a mask.
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros();
        mask &= mask - 1;
        Some(lane as usize)
    })
}

impl Warp {
    /// A warp of so many lanes at the beginning of a kernel.
    pub fn new(number: u32, lanes: u32, function: u32, surroundings: &Surroundings) -> Self {
        let kernel = &surroundings.program.functions[function as usize];
        let mut state = [State::Done; LANES];
        state[..lanes as usize].fill(State::Running);
        let mut warp = Self {
            number,
            registers: Registers::default(),
            state,
            at: [kernel.start.unwrap_or(0); LANES],
            base: [0; LANES],
            frame: [0; LANES],
            function: [function; LANES],
            calls: vec![Vec::new(); LANES],
            locals: vec![Local::default(); LANES],
            last_run: [0; LANES],
            barriers: 0,
            fenced: 0,
            copies: vec![vec![Vec::new()]; LANES],
            patience: PATIENCE,
            sleeps: false,
            arrivals: Vec::new(),
        };
        let all = warp.with(State::Running);
        warp.registers.enter(0, kernel.registers, all);
        for lane in lanes_of(all) {
            warp.locals[lane].enter(0, kernel.frame);
        }
        warp
    }

    fn with(&self, state: State) -> u32 {
        let lanes = self.state.iter().enumerate();
        lanes.fold(0, |all, (lane, one)| {
            all | (u32::from(*one == state) << lane)
        })
    }

    /// Lanes that have not ended.
    pub fn alive(&self) -> u32 {
        !self.with(State::Done)
    }

    /// Whether lanes can run.
    pub fn is_runnable(&self) -> bool {
        self.with(State::Running) != 0
    }

    /// Lanes that wait for others of the warp, and where.
    pub fn together(&self) -> Option<(u32, u32)> {
        let lanes = self.with(State::Together);
        (lanes != 0).then(|| (lanes, self.at[lanes.trailing_zeros() as usize]))
    }

    /// The first thread of the block among these lanes.
    pub fn first_thread(&self, lanes: u32) -> u32 {
        self.number * LANES as u32 + lanes.trailing_zeros()
    }

    /// Has lanes that wait at a barrier go on; for how many threads the predicate was true is what it computes.
    pub fn release(&mut self, lanes: u32, truths: u32, threads: u32, surroundings: &Surroundings) {
        for lane in lanes_of(lanes) {
            let at = self.at[lane];
            let instruction = &surroundings.program.instructions[at as usize];
            if let What::Barrier {
                reduction,
                to: Some(to),
                ..
            } = &instruction.what
            {
                use crate::program::Reduction;
                let value = match reduction {
                    Reduction::And => u64::from(truths == threads),
                    Reduction::Or => u64::from(truths > 0),
                    _ => truths.into(),
                };
                self.registers.set(self.base[lane] + to, lane, value, 0);
            }
            self.at[lane] = at + 1;
            self.state[lane] = State::Running;
        }
    }

    /// The lanes that run next.
    fn choose(&self, is_fair: bool) -> Group {
        let running = self.with(State::Running);
        let key = |lane: &usize| {
            let place = (
                usize::MAX - self.calls[*lane].len(),
                self.at[*lane],
                self.base[*lane],
            );
            (if is_fair { self.last_run[*lane] } else { 0 }, place)
        };
        let first = lanes_of(running).min_by_key(key).expect("a lane that runs");
        let (at, base) = (self.at[first], self.base[first]);
        let lanes =
            lanes_of(running).filter(|lane| self.at[*lane] == at && self.base[*lane] == base);
        let lanes = lanes.fold(0, |all, lane| all | 1 << lane);
        Group { lanes, at, base }
    }

    /// Runs until all lanes wait or have ended, or for a while.
    pub fn run(&mut self, surroundings: &mut Surroundings) -> Result<()> {
        let mut left = SLICE;
        self.sleeps = false;
        while left > 0 && self.is_runnable() && !self.sleeps {
            let is_fair = self.patience == 0;
            if is_fair {
                self.patience = PATIENCE;
            }
            let group = self.choose(is_fair);
            self.run_group(group, surroundings, &mut left, is_fair)?;
        }
        Ok(())
    }

    /// Runs lanes until they go apart, may meet others, or wait.
    fn run_group(
        &mut self,
        mut group: Group,
        surroundings: &mut Surroundings,
        left: &mut u32,
        is_fair: bool,
    ) -> Result<()> {
        let others = (self.with(State::Running) | self.with(State::Together)) & !group.lanes;
        for lane in lanes_of(group.lanes) {
            self.last_run[lane] = surroundings.clock;
        }
        // Where others wait that are ahead.
        let ahead = lanes_of(others)
            .map(|lane| self.at[lane])
            .filter(|at| *at > group.at);
        let meets = ahead.min().unwrap_or(u32::MAX);
        let program = surroundings.program;
        // Those who run out of turn do so for a while, not only up to the next instruction.
        let mut out_of_turn: u32 = if is_fair { 1000 } else { 0 };
        loop {
            let instruction = &program.instructions[group.at as usize];
            let mut lanes = group.lanes;
            if let Some(guard) = instruction.guard {
                lanes &= self.truths(group, guard, surroundings)?;
            }
            surroundings.clock += 1;
            surroundings.counts.issue(group.at);
            if lanes != 0 {
                surroundings.counts.instruction(instruction.class, lanes);
            }
            *left = left.saturating_sub(1);
            let running = Group { lanes, ..group };
            let goes_on = lanes == 0 || self.execute(&instruction.what, running, surroundings)?;
            if !goes_on {
                if surroundings.clock > surroundings.last_clock {
                    return group.wrong(702, "the launch runs longer than the settings allow");
                }
                // The instruction says where its lanes are; the others go on.
                let rest = group.lanes & !lanes;
                for lane in lanes_of(rest) {
                    self.at[lane] = group.at + 1;
                }
                // A branch that all take stays a group.
                let first = group.lanes.trailing_zeros() as usize;
                let next = (self.at[first], self.base[first]);
                let is_one = rest == 0
                    && lanes_of(lanes).all(|lane| {
                        self.state[lane] == State::Running
                            && (self.at[lane], self.base[lane]) == next
                    });
                let may_go_on = others == 0 || (out_of_turn > 0 && self.patience > 0);
                if is_one && may_go_on && *left > 0 && !self.sleeps {
                    out_of_turn = out_of_turn.saturating_sub(1);
                    (group.at, group.base) = next;
                    continue;
                }
                return Ok(());
            }
            group.at += 1;
            if group.at >= meets || *left == 0 {
                for lane in lanes_of(group.lanes) {
                    self.at[lane] = group.at;
                }
                return Ok(());
            }
        }
    }

    /// The lanes for which a predicate is true.
    fn truths(&self, group: Group, guard: Guard, surroundings: &Surroundings) -> Result<u32> {
        let register = group.base + guard.register;
        let unknown = self.registers.dirty(register) & group.lanes;
        if unknown != 0 {
            let thread = surroundings.named(self.first_thread(unknown));
            let block = surroundings.block_named();
            return group.failed(format!(
                "a value that was never written decides a branch of {thread} of {block}"
            ));
        }
        Ok(self.bits(register, guard.is_negated) & group.lanes)
    }

    fn bits(&self, register: u32, is_negated: bool) -> u32 {
        let values = self.registers.values(register);
        let lanes = values.iter().enumerate();
        let bits = lanes.fold(0u32, |all, (lane, value)| {
            all | ((*value as u32 & 1) << lane)
        });
        if is_negated { !bits } else { bits }
    }

    fn who(&self, lane: usize, surroundings: &Surroundings) -> Who {
        Who {
            thread: (self.number as usize * LANES + lane) as u16,
            warp_barriers: self.barriers,
            ..surroundings.who
        }
    }

    /// Executes an instruction of some lanes. False where it has said itself where they go on.
    fn execute(
        &mut self,
        what: &What,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<bool> {
        match what {
            What::Branch { target } => {
                for lane in lanes_of(group.lanes) {
                    self.at[lane] = *target;
                }
                return Ok(false);
            }
            What::BranchIndexed { targets, index } => {
                let (indices, unknown) = self.registers.read(group, *index);
                if unknown.is_some() {
                    return group.failed("a value that was never written decides a branch");
                }
                for lane in lanes_of(group.lanes) {
                    match targets.get(indices[lane] as usize) {
                        Some(target) => self.at[lane] = *target,
                        None => return group.failed("an index of a branch is out of its labels"),
                    }
                }
                return Ok(false);
            }
            What::Call {
                callee,
                arguments,
                results,
            } => {
                return self.call(*callee, arguments, results, group, surroundings);
            }
            What::Return => {
                self.leave(group, surroundings);
                return Ok(false);
            }
            What::Exit => {
                self.end(group.lanes);
                return Ok(false);
            }
            What::Trap => {
                let thread = surroundings.named(self.first_thread(group.lanes));
                let block = surroundings.block_named();
                return group.failed(format!("{thread} of {block} traps"));
            }
            What::Barrier {
                number,
                threads,
                waits,
                by,
                ..
            } => {
                let (numbers, _) = self.registers.read(group, *number);
                let first = group.lanes.trailing_zeros() as usize;
                let threads = threads.map(|threads| self.registers.read(group, threads).0[first]);
                let truths = match by {
                    Some(guard) => self.truths(group, *guard, surroundings)?.count_ones(),
                    None => 0,
                };
                for lane in lanes_of(group.lanes) {
                    self.at[lane] = group.at + u32::from(!waits);
                    if *waits {
                        self.state[lane] = State::AtBarrier;
                    }
                }
                self.arrivals.push(Arrival {
                    lanes: group.lanes,
                    at: group.at,
                    number: numbers[first],
                    threads,
                    waits: *waits,
                    truths,
                });
                return Ok(false);
            }
            What::Fence => self.fenced |= group.lanes,
            What::Sleep => {
                self.patience = 0;
                self.sleeps = true;
                for lane in lanes_of(group.lanes) {
                    self.at[lane] = group.at + 1;
                }
                return Ok(false);
            }
            What::Nothing => {}
            What::WarpBarrier { .. }
            | What::Shuffle { .. }
            | What::Vote { .. }
            | What::Match { .. }
            | What::Reduce { .. } => return self.collective(what, group),
            What::ActiveMask { to } => {
                let lanes = u64::from(group.lanes);
                self.registers.write(group, *to, &[lanes; LANES], None);
            }
            What::Load { .. }
            | What::Store { .. }
            | What::Atomic { .. }
            | What::CopyAsync { .. }
            | What::CopyCommit
            | What::CopyWait { .. } => self.access(what, group, surroundings)?,
            What::ToGeneric { .. }
            | What::FromGeneric { .. }
            | What::IsIn { .. }
            | What::FrameAddress { .. } => self.convert_address(what, group),
            What::Special { to, which } => self.special(*to, *which, group, surroundings),
            What::Floating { .. } | What::Convert { .. } => self.floating(what, group),
            _ => self.arithmetic(what, group),
        }
        Ok(true)
    }

    /// Lanes end; who waits for them together looks again.
    fn end(&mut self, lanes: u32) {
        for lane in lanes_of(lanes) {
            self.state[lane] = State::Done;
        }
        for state in &mut self.state {
            if *state == State::Together {
                *state = State::Running;
            }
        }
    }

    fn call(
        &mut self,
        callee: Callee,
        arguments: &[Slot],
        results: &[Slot],
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<bool> {
        let index = match callee {
            Callee::Print => {
                self.print(arguments, results, group, surroundings)?;
                return Ok(true);
            }
            Callee::Assert => return self.assert(arguments, group, surroundings),
            Callee::Function(index) => index,
            Callee::Register(register) => {
                let operand = crate::program::Operand::Register(register);
                let (addresses, unknown) = self.registers.read(group, operand);
                if unknown.is_some() {
                    return group.failed("a value that was never written decides what is called");
                }
                // Those that call another function than the first one of them do so after it.
                let first = addresses[group.lanes.trailing_zeros() as usize];
                let same = lanes_of(group.lanes).filter(|lane| addresses[*lane] == first);
                let same = same.fold(0, |all, lane| all | 1 << lane);
                let index = (first & !windows::WHICH) as u32;
                let is_known = first & windows::WHICH == windows::CODE
                    && surroundings.program.functions.get(index as usize).is_some();
                if !is_known {
                    return group.wrong(codes::ILLEGAL_ADDRESS, "what is called is no function");
                }
                for lane in lanes_of(group.lanes & !same) {
                    self.at[lane] = group.at;
                }
                let group = Group {
                    lanes: same,
                    ..group
                };
                return self.enter(index, arguments, group, surroundings);
            }
        };
        self.enter(index, arguments, group, surroundings)
    }

    fn enter(
        &mut self,
        index: u32,
        arguments: &[Slot],
        group: Group,
        surroundings: &Surroundings,
    ) -> Result<bool> {
        let program = surroundings.program;
        let callee = &program.functions[index as usize];
        let Some(start) = callee
            .start
            .filter(|_| callee.params.len() == arguments.len())
        else {
            return group.failed("what is called has no code, or other parameters");
        };
        let first = group.lanes.trailing_zeros() as usize;
        if self.calls[first].len() >= 4096 {
            return group.failed("calls are nested too deeply");
        }
        let caller = &program.functions[self.function[first] as usize];
        let base = group.base + caller.registers;
        self.registers.enter(base, callee.registers, group.lanes);
        for lane in lanes_of(group.lanes) {
            self.calls[lane].push(Caller {
                at: group.at,
                registers: group.base,
                frame: self.frame[lane],
                function: self.function[lane],
            });
            let frame = self.frame[lane] + caller.frame;
            let local = &mut self.locals[lane];
            local.enter(frame, callee.frame);
            for (from, to) in arguments.iter().zip(&callee.params) {
                local.copy(
                    self.frame[lane] + from.offset,
                    frame + to.offset,
                    to.bytes.min(from.bytes),
                );
            }
            self.frame[lane] = frame;
            self.base[lane] = base;
            self.function[lane] = index;
            self.at[lane] = start;
        }
        Ok(false)
    }

    /// Lanes return.
    fn leave(&mut self, group: Group, surroundings: &Surroundings) {
        let program = surroundings.program;
        for lane in lanes_of(group.lanes) {
            let Some(caller) = self.calls[lane].pop() else {
                self.end(1 << lane);
                continue;
            };
            let callee = &program.functions[self.function[lane] as usize];
            let call = &program.instructions[caller.at as usize].what;
            if let What::Call { results, .. } = call {
                for (to, from) in results.iter().zip(&callee.returns) {
                    let (from_offset, to_offset) =
                        (self.frame[lane] + from.offset, caller.frame + to.offset);
                    self.locals[lane].copy(from_offset, to_offset, to.bytes.min(from.bytes));
                }
            }
            let end = self.frame[lane];
            self.locals[lane].leave(end);
            self.at[lane] = caller.at + 1;
            self.base[lane] = caller.registers;
            self.frame[lane] = caller.frame;
            self.function[lane] = caller.function;
        }
    }
}

impl Local {
    fn enter(&mut self, frame: u32, bytes: u32) {
        let (start, end) = (frame as usize, (frame + bytes) as usize);
        self.data.resize(end, 0);
        self.known.resize(end, 0);
        self.known[start..end].fill(0);
    }

    fn leave(&mut self, end: u32) {
        self.data.truncate(end as usize);
        self.known.truncate(end as usize);
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) {
        let (from, to, bytes) = (from as usize, to as usize, bytes as usize);
        self.data.copy_within(from..from + bytes, to);
        self.known.copy_within(from..from + bytes, to);
    }
}
