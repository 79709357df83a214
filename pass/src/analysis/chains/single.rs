//! A copy of a module in which each nest of a chain runs a single iteration, whose number nobody knows: what is true of it is
//! true of all of them, whatever LLVM does with loops.
//!
//! Guarantee: what is read and written between [`Iteration::enter`] and [`Iteration::leave`] is what an iteration reads and
//! writes, but for variables of the function that each iteration has for itself, and for those that no loop of the chain
//! writes. Nothing is taken from one nest to another: calls of what nobody knows stand between them.

use std::collections::{HashMap, HashSet};

use super::turns::{How, Turn, mark_turns};
use crate::analysis::variables::{is_destination, is_harmless};
use crate::ir::{Chain, Counter};
use crate::llvm::{
    Block, Builder, Function, Instruction, Linkage, Module, Opcode, Passes, Type, Value,
};
use crate::recognise::loop_chain::is_marker;

/// Calls that are put in place of calls in an iteration, at most.
const MOST_CALLS: usize = 400;
/// Instructions of a function that is, and of one that has got them.
const MOST_INSTRUCTIONS: [usize; 2] = [2000, 50_000];

/// What the calls begin with that mark places of the copy.
const OURS: &str = "okl.chain.";

/// An iteration of a nest.
pub struct Iteration<'c> {
    /// Where it begins.
    pub enter: Instruction<'c>,
    /// Where it ends.
    pub leave: Instruction<'c>,
    /// The values that its pragma names.
    pub values: Vec<Value<'c>>,
    /// Of each of its loops, the outermost first: its number, the first one, and what the loop compares with.
    pub loops: Vec<[Value<'c>; 3]>,
    /// The loops in it that count, those around others first.
    pub turns: Vec<Turn<'c>>,
}

/// A chain of such.
pub struct Single<'c> {
    /// The values that its schedule names.
    pub values: Vec<Value<'c>>,
    /// Where it begins.
    pub begin: Instruction<'c>,
    /// Its nests.
    pub nests: Vec<Iteration<'c>>,
    /// Variables of the function that stay in memory, and whether their addresses go nowhere else.
    pub kept: Vec<(Value<'c>, bool)>,
    /// Whether its loops read of other variables, which none of them writes, what is at places that are constants.
    pub reads_constants: bool,
    /// What is in variables of the function in front of it, and their numbers among [`variables`].
    pub variables: Vec<(Value<'c>, usize)>,
}

/// The variables of a function that are numbers or addresses.
pub fn variables(function: Function<'_>) -> impl Iterator<Item = Instruction<'_>> {
    let entry = function.blocks()[0].instructions().into_iter();
    entry.filter(|one| {
        let ty = one.allocated_type();
        let is_one =
            one.opcode() == Opcode::LLVMAlloca && one.operand(0).as_constant_int() == Some(1);
        is_one && ty.is_some_and(|ty| ty.is_pointer() || ty.bits().is_some_and(|bits| bits <= 64))
    })
}

/// What marks a place of the copy, and what it is told.
pub fn mark<'c>(
    copy: &'c Module,
    name: &str,
    before: Instruction<'c>,
    told: Option<Value<'c>>,
) -> Value<'c> {
    let parameters: Vec<Type<'c>> = told.iter().map(|one| one.ty()).collect();
    let ty = copy.function_type(copy.void(), &parameters);
    let function = copy.add_function(&ours(name), ty, Linkage::LLVMExternalLinkage);
    let told: Vec<_> = told.into_iter().collect();
    Builder::before(copy, before).call(function, &told)
}

/// What a function is called whose calls mark places.
pub fn ours(name: &str) -> String {
    format!("{OURS}{name}")
}

/// What the call is called that marks a chain which reads variables that none of its loops writes, at places that are constants.
const CONSTANTS: &str = "constants";

/// What is in the names of calls that mark something in an iteration, which does nothing else.
const INSIDE: &str = ".inside.";

/// Whether a call marks something in an iteration.
pub fn is_inside(name: &str) -> bool {
    is_ours(name) && name.contains(INSIDE)
}

/// Has all that an iteration reads be read although nobody may use it: it is declared.
fn keep_reads<'c>(copy: &'c Module, name: &str, code: &HashSet<Instruction<'c>>) {
    let is_read = |one: &Instruction<'c>| {
        one.opcode() == Opcode::LLVMLoad && one.is_plain_access() && {
            let (base, _) = one.operand(0).offset_in_object(copy);
            base.as_op(Opcode::LLVMAlloca).is_none_or(is_array)
        }
    };
    let blocks: HashSet<Block<'c>> = code.iter().map(|one| one.block()).collect();
    let mut count = 0;
    for block in blocks {
        for pair in block.instructions().windows(2) {
            if code.contains(&pair[0]) && is_read(&pair[0]) {
                let name = format!("{name}read.{count}");
                mark(copy, &name, pair[1], Some(*pair[0]));
                count += 1;
            }
        }
    }
}

/// Whether a variable is several.
fn is_array(variable: Instruction<'_>) -> bool {
    let ty = variable.allocated_type();
    ty.is_some_and(|ty| ty.is_array()) || variable.operand(0).as_constant_int() != Some(1)
}

/// Whether a call marks a place of the copy.
pub fn is_ours(name: &str) -> bool {
    name.starts_with(OURS)
}

/// Changes a copy of a module so that its chains run once; those for which that cannot be said are left out.
pub fn run_once<'c>(copy: &'c Module, chains: &[Chain<'c>]) -> Vec<Option<Single<'c>>> {
    let numbered = || chains.iter().enumerate();
    let marked: Vec<bool> = numbered()
        .map(|(number, chain)| mark_places(copy, number, chain))
        .collect();
    let known: Vec<Option<Vec<Vec<How>>>> = numbered()
        .map(|(number, chain)| marked[number].then(|| prepare(copy, number, chain))?)
        .collect();
    let functions: HashSet<_> = chains
        .iter()
        .map(|one| one.site.instruction().function())
        .collect();
    for function in functions {
        function.remove_attribute("optnone");
        let passes = Passes::over(function);
        passes.run("sroa,instsimplify,simplifycfg,sroa,instsimplify,simplifycfg");
        read_both(copy, function);
    }
    numbered()
        .map(|(number, chain)| find(copy, number, chain, known[number].as_ref()?))
        .collect()
}

/// Whether a number that is not known says where in a variable something is.
fn is_chosen(variable: Instruction<'_>) -> bool {
    let mut rest = variable.instruction_users();
    while let Some(one) = rest.pop() {
        if one.opcode() != Opcode::LLVMGetElementPtr {
            continue;
        }
        if one.operands()[1..]
            .iter()
            .any(|index| index.as_constant_int().is_none())
        {
            return true;
        }
        rest.extend(one.instruction_users());
    }
    false
}

/// Has both be read where one of two addresses is chosen to read from, and what is read chosen instead: that is more than what
/// an iteration reads, and no less.
fn read_both<'c>(copy: &'c Module, function: Function<'c>) {
    let mut loads = function.instructions();
    loads.retain(|one| one.opcode() == Opcode::LLVMLoad && one.is_plain_access());
    while let Some(load) = loads.pop() {
        let Some(chosen) = load.operand(0).as_op(Opcode::LLVMSelect) else {
            continue;
        };
        let builder = Builder::before(copy, load);
        let [yes, no] = [1, 2].map(|which| builder.load(load.ty(), chosen.operand(which)));
        let value = builder.select(chosen.operand(0), yes, no);
        load.replace_all_uses_with(value);
        load.erase();
        if chosen.is_unused() {
            chosen.erase();
        }
        loads.extend([yes, no].into_iter().filter_map(Value::as_instruction));
    }
}

/// Marks the places of a chain, and takes its loops apart.
fn mark_places<'c>(copy: &'c Module, number: usize, chain: &Chain<'c>) -> bool {
    let can = |one: &Counter<'c>| {
        let is_phi = |one: &Instruction<'c>| one.opcode() == Opcode::LLVMPHI;
        let latch = one.steps.block().terminator();
        latch.is_some_and(|end| end.operands().len() == 1)
            && !one.exit.instructions().iter().any(is_phi)
    };
    let mut counters = chain.nests.iter().flat_map(|one| &one.loops);
    if !counters.all(|one| one.counter.as_ref().is_some_and(can)) {
        return false;
    }
    let site = chain.site.instruction();
    mark(copy, &format!("{number}.begin"), site, None);
    // Of those that the chain reads, and only reads: what others leave in theirs nobody reads.
    let inside: HashSet<_> = between(site, chain.end.instruction()).into_iter().collect();
    for (at, variable) in variables(site.function()).enumerate() {
        let mut its = variable.instruction_users();
        its.retain(|one| inside.contains(one));
        if its.is_empty() || !its.iter().all(|one| one.opcode() == Opcode::LLVMLoad) {
            continue;
        }
        let ty = variable.allocated_type().expect("a stack variable");
        let value = Builder::before(copy, site).load(ty, *variable);
        mark(copy, &format!("{number}.variable.{at}"), site, Some(value));
    }
    for (at, &value) in chain.values.iter().enumerate() {
        mark(copy, &format!("{number}.value.{at}"), site, Some(value));
    }
    for (at, nest) in chain.nests.iter().enumerate() {
        let name = |what: &str| format!("{number}.{at}.{what}");
        for (which, &value) in nest.values.iter().enumerate() {
            let site = nest.site.instruction();
            mark(copy, &name(&format!("value.{which}")), site, Some(value));
        }
        let leaves = nest.end.instruction();
        mark(copy, &name("leave"), leaves, None);
        for (level, counter) in nest
            .loops
            .iter()
            .filter_map(|one| one.counter.as_ref())
            .enumerate()
        {
            let name = |what: &str| name(&format!("{what}.{level}"));
            let first = counter.begins.operand(0);
            mark(copy, &name("first"), counter.begins, Some(first));
            let end = counter.counting.end;
            mark(copy, &name("end"), counter.decides, Some(end));
            let ty = copy.function_type(first.ty(), &[]);
            let iteration = format!("{OURS}{}", name("iteration"));
            let iteration = copy.add_function(&iteration, ty, Linkage::LLVMExternalLinkage);
            let iteration = Builder::before(copy, counter.begins).call(iteration, &[]);
            counter.begins.set_operand(0, iteration);
            let latch = counter.steps.block().terminator().expect("it goes back");
            latch.set_operand(0, counter.exit.label());
            counter.decides.always_branch(copy, true);
        }
        let innermost = nest.loops.last().and_then(|one| one.counter.as_ref());
        let body = innermost.and_then(|one| one.body.first_insertion_point());
        let body = body.expect("a body has an end");
        mark(copy, &name("enter"), body, None);
    }
    true
}

/// The only call that marks a place.
fn marked<'c>(copy: &'c Module, name: &str) -> Option<Instruction<'c>> {
    let users = copy.function(&format!("{OURS}{name}"))?.instruction_users();
    match users[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// What is run between two places of a function, block by block.
pub fn between<'c>(enter: Instruction<'c>, leave: Instruction<'c>) -> Vec<Instruction<'c>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let all = enter.block().instructions();
    let behind = all
        .iter()
        .position(|&one| one == enter)
        .map_or(0, |at| at + 1);
    let mut rest = vec![(enter.block(), behind)];
    while let Some((block, from)) = rest.pop() {
        let here = block.instructions();
        let here = &here[from..];
        let end = here.iter().position(|&one| one == leave);
        found.extend(&here[..end.unwrap_or(here.len())]);
        if end.is_none() {
            let next = block.successors().into_iter();
            rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
        }
    }
    found
}

/// The calls that mark where the iterations of a chain begin and end.
fn iterations<'c>(
    copy: &'c Module,
    number: usize,
    chain: &Chain<'c>,
) -> Option<Vec<[Instruction<'c>; 2]>> {
    let place = |at: usize, what: &str| marked(copy, &format!("{number}.{at}.{what}"));
    let all = 0..chain.nests.len();
    all.map(|at| Some([place(at, "enter")?, place(at, "leave")?]))
        .collect()
}

/// Puts what iterations call in place, and keeps in memory the variables that they have in common.
///
/// Tells how the loops in iterations count.
fn prepare<'c>(copy: &'c Module, number: usize, chain: &Chain<'c>) -> Option<Vec<Vec<How>>> {
    let places = iterations(copy, number, chain)?;
    let mut calls = 0;
    for &[enter, leave] in &places {
        let mut failed = HashSet::new();
        while let Some(call) = between(enter, leave)
            .into_iter()
            .filter_map(|one| one.as_call())
            .find(|call| {
                call.callee_function().is_some_and(|callee| {
                    let is_small = || callee.instructions().len() <= MOST_INSTRUCTIONS[0];
                    !callee.is_declaration()
                        && !callee.is_interposable()
                        && callee != enter.function()
                        && is_small()
                        && !failed.contains(&call.instruction())
                        && !callee
                            .instructions()
                            .into_iter()
                            .filter_map(|one| one.as_call())
                            .any(is_marker)
                })
            })
        {
            calls += 1;
            if calls > MOST_CALLS || !call.inline() {
                failed.insert(call.instruction());
            }
            if calls > 2 * MOST_CALLS
                || enter.function().instructions().len() > MOST_INSTRUCTIONS[1]
            {
                break;
            }
        }
    }
    let iterators: HashSet<Value<'c>> = chain
        .nests
        .iter()
        .flat_map(|one| &one.loops)
        .filter_map(|one| Some(one.counter.as_ref()?.begins.operand(1)))
        .collect();
    let spans: Vec<HashSet<Instruction<'c>>> = places
        .iter()
        .map(|&[enter, leave]| between(enter, leave).into_iter().collect())
        .collect();
    let function = chain.site.instruction().function();
    let turns = spans.iter().enumerate();
    let turns = turns.map(|(at, span)| {
        let name = format!("{number}.{at}{INSIDE}");
        keep_reads(copy, &name, span);
        mark_turns(copy, &name, function, span)
    });
    let turns = turns.collect();
    let variables = function.instructions().into_iter();
    let variables: Vec<_> = variables
        .filter(|one| one.opcode() == Opcode::LLVMAlloca)
        .collect();
    let constants = format!("{number}.{CONSTANTS}");
    for (at, variable) in variables.into_iter().enumerate() {
        if iterators.contains(&*variable) || is_destination(variable) {
            continue;
        }
        let keep = || {
            let front = variable.block().terminator().expect("a block has an end");
            mark(copy, &format!("{number}.kept.{at}"), front, Some(*variable));
        };
        let Some(uses) = uses_of(variable, |_| false, true) else {
            // What begins its life in an iteration is that one's, wherever its address goes meanwhile.
            let mut begins = variable
                .instruction_users()
                .into_iter()
                .filter(|one| {
                    one.as_call()
                        .is_some_and(|call| call.callee_name().starts_with("llvm.lifetime.start"))
                })
                .peekable();
            let is_inside = begins.peek().is_some()
                && begins.all(|one| spans.iter().any(|span| span.contains(&one)));
            if !is_inside {
                keep();
            }
            continue;
        };
        let used = |span: &&HashSet<Instruction<'c>>| uses.iter().any(|one| span.contains(one));
        let changed = spans.iter().any(|span| {
            uses.iter()
                .any(|one| span.contains(one) && one.may_write() && !is_harmless(*one))
        });
        if !spans.iter().any(|span| used(&span)) {
            continue;
        }
        if !changed {
            // What is read of it may be declared. The places that are known are no places of the copy's.
            match is_array(variable) {
                true if is_chosen(variable) => keep(),
                true if copy.function(&ours(&constants)).is_none() => {
                    mark(copy, &constants, chain.site.instruction(), None);
                }
                _ => {}
            }
            continue;
        }
        let is_own = places.iter().zip(&spans).all(|(&[enter, leave], span)| {
            !used(&span) || is_own(copy, variable, &uses, [enter, leave], span)
        });
        if !is_own {
            keep();
        }
    }
    Some(turns)
}

/// The store that gives a variable its only value, where that is read as it is and in no other way.
fn only_store(variable: Instruction<'_>) -> Option<Instruction<'_>> {
    let ty = variable.allocated_type()?;
    let mut stores = Vec::new();
    for one in variable.instruction_users() {
        match one.opcode() {
            Opcode::LLVMLoad if one.is_plain_access() && one.ty() == ty => {}
            Opcode::LLVMStore
                if one.operand(1) == *variable
                    && one.operand(0).ty() == ty
                    && one.is_plain_access() =>
            {
                stores.push(one);
            }
            _ if is_harmless(one) => {}
            _ => return None,
        }
    }
    match stores[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// What accesses a variable, or may begin or end its life, where its address goes nowhere else but to what does nothing; and,
/// if so asked, into a variable that holds nothing else, such as a parameter of what has been called.
fn uses_of<'c>(
    variable: Instruction<'c>,
    does_nothing: impl Fn(&Instruction<'c>) -> bool,
    is_handed_on: bool,
) -> Option<Vec<Instruction<'c>>> {
    let mut found = Vec::new();
    let mut rest = vec![*variable];
    let mut seen = HashSet::new();
    while let Some(address) = rest.pop() {
        for one in address.instruction_users() {
            match one.opcode() {
                _ if does_nothing(&one) => {}
                Opcode::LLVMGetElementPtr if one.operand(0) == address => {
                    if seen.insert(one) {
                        rest.push(*one);
                    }
                }
                Opcode::LLVMLoad if one.is_plain_access() => found.push(one),
                Opcode::LLVMStore if one.operand(0) != address && one.is_plain_access() => {
                    found.push(one)
                }
                Opcode::LLVMStore if is_handed_on && one.is_plain_access() => {
                    let holder = one.operand(1).as_op(Opcode::LLVMAlloca)?;
                    if only_store(holder) != Some(one) {
                        return None;
                    }
                    let users = holder.instruction_users().into_iter();
                    let reads = users.filter(|one| one.opcode() == Opcode::LLVMLoad);
                    rest.extend(reads.filter(|one| seen.insert(*one)).map(|one| *one));
                }
                Opcode::LLVMCall if is_harmless(one) => found.push(one),
                Opcode::LLVMCall
                    if one.as_call().is_some_and(|call| {
                        let name = call.callee_name();
                        name.starts_with("llvm.memcpy.")
                            || name.starts_with("llvm.memset.")
                            || name.starts_with("llvm.memmove.")
                    }) =>
                {
                    found.push(one)
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Whether each iteration has a variable for itself: it gives all of it that it reads a value, or begins its life, before it
/// reads it, and nothing reads what it has left there.
fn is_own<'c>(
    copy: &'c Module,
    variable: Instruction<'c>,
    uses: &[Instruction<'c>],
    [enter, leave]: [Instruction<'c>; 2],
    span: &HashSet<Instruction<'c>>,
) -> bool {
    let own = Own::of(copy, variable, uses, span);
    own.is_written_before_it_is_read(enter, leave) && !own.is_read_behind(leave)
}

/// What an iteration, and what is around it, do with a variable.
struct Own<'a, 'c> {
    copy: &'c Module,
    variable: Instruction<'c>,
    uses: HashSet<Instruction<'c>>,
    span: &'a HashSet<Instruction<'c>>,
    size: usize,
}

/// Bytes of a variable whose bytes are looked at one by one.
const MOST_BYTES: usize = 4096;

impl<'a, 'c> Own<'a, 'c> {
    fn of(
        copy: &'c Module,
        variable: Instruction<'c>,
        uses: &[Instruction<'c>],
        span: &'a HashSet<Instruction<'c>>,
    ) -> Self {
        let size = variable.allocated_type().map(|ty| copy.store_size_of(ty));
        let size = size.and_then(|size| usize::try_from(size).ok());
        Self {
            copy,
            variable,
            uses: uses.iter().copied().collect(),
            span,
            size: size.unwrap_or(0),
        }
    }

    fn begins(&self, one: Instruction<'c>) -> bool {
        match one.opcode() {
            Opcode::LLVMStore => {
                one.operand(1) == *self.variable
                    && Some(one.operand(0).ty()) == self.variable.allocated_type()
            }
            _ => one
                .as_call()
                .is_some_and(|call| call.callee_name().starts_with("llvm.lifetime.")),
        }
    }

    /// What an address is so many bytes behind, where it is not a variable that it is read from.
    fn object(&self, address: Value<'c>) -> (Value<'c>, i64) {
        let (mut base, mut bytes) = address.offset_in_object(self.copy);
        for _ in 0..8 {
            let holder = base.as_op(Opcode::LLVMLoad);
            let holder = holder.and_then(|load| load.operand(0).as_op(Opcode::LLVMAlloca));
            let Some(store) = holder.and_then(only_store) else {
                break;
            };
            let (from, more) = store.operand(0).offset_in_object(self.copy);
            (base, bytes) = (from, bytes.saturating_add(more));
        }
        (base, bytes)
    }

    /// The bytes of the variable that are at an address; none where that is not known.
    fn bytes(&self, address: Value<'c>, size: u64) -> Option<std::ops::Range<usize>> {
        let (base, from) = self.object(address);
        let from = usize::try_from(from).ok()?;
        let end = from.checked_add(usize::try_from(size).ok()?)?;
        (base == *self.variable && end <= self.size).then_some(from..end)
    }

    /// What a use writes of it for sure, and what it may read.
    fn does(&self, one: Instruction<'c>) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let all = 0..self.size.max(1);
        let size = |value: Value<'c>| self.copy.store_size_of(value.ty());
        let read = |bytes: Option<std::ops::Range<usize>>| (0..0, bytes.unwrap_or(all.clone()));
        match one.opcode() {
            _ if self.begins(one) => (all, 0..0),
            Opcode::LLVMLoad => read(self.bytes(one.operand(0), size(*one))),
            Opcode::LLVMStore => {
                let bytes = self.bytes(one.operand(1), size(one.operand(0)));
                (bytes.unwrap_or(0..0), 0..0)
            }
            _ if is_harmless(one) => (0..0, 0..0),
            _ => {
                let Some(call) = one.as_call() else {
                    return read(None);
                };
                let length = call.argument(2).and_then(|one| one.as_constant_int());
                let length = length.and_then(|length| u64::try_from(length).ok());
                let bytes = |at: usize| {
                    let address = call.argument(at)?;
                    self.bytes(address, length?)
                };
                let is_its = |at: usize| {
                    let address = call.argument(at);
                    let base = address.map(|one| self.object(one).0);
                    // An address with a number that is not known is one of this variable, or of another one.
                    base.is_none_or(|base| {
                        base == *self.variable || base.as_op(Opcode::LLVMGetElementPtr).is_some()
                    })
                };
                let reads = !call.callee_name().starts_with("llvm.memset.") && is_its(1);
                let read = match reads {
                    true => bytes(1).unwrap_or(all),
                    false => 0..0,
                };
                (bytes(0).unwrap_or(0..0), read)
            }
        }
    }

    /// Whether all that an iteration reads of it has been written in it.
    fn is_written_before_it_is_read(&self, enter: Instruction<'c>, leave: Instruction<'c>) -> bool {
        if self.size > MOST_BYTES {
            return self.begins_before_it_is_read(enter, leave);
        }
        // What is written where control comes to a block, whichever way it comes.
        let mut written: HashMap<Block<'c>, Vec<bool>> = HashMap::new();
        let mut rest = vec![(enter.block(), Some(enter), vec![false; self.size.max(1)])];
        while let Some((block, from, mut state)) = rest.pop() {
            if from.is_none() {
                match written.get_mut(&block) {
                    Some(known) => {
                        let both = known.iter().zip(&state).map(|(a, b)| *a && *b);
                        let both: Vec<_> = both.collect();
                        if both == *known {
                            continue;
                        }
                        *known = both.clone();
                        state = both;
                    }
                    None => {
                        written.insert(block, state.clone());
                    }
                }
            }
            let all = block.instructions();
            let behind = from.and_then(|from| all.iter().position(|&one| one == from));
            let mut is_over = false;
            for &one in all.iter().skip(behind.map_or(0, |at| at + 1)) {
                if one == leave {
                    is_over = true;
                    break;
                }
                if !self.uses.contains(&one) {
                    continue;
                }
                let (writes, reads) = self.does(one);
                if !state[reads].iter().all(|written| *written) {
                    return false;
                }
                state[writes].fill(true);
            }
            if !is_over {
                let next = block.successors().into_iter();
                rest.extend(next.map(|next| (next, None, state.clone())));
            }
        }
        true
    }

    /// The same of one that is only written as a whole.
    fn begins_before_it_is_read(&self, enter: Instruction<'c>, leave: Instruction<'c>) -> bool {
        !self.is_read(enter, Some(leave))
    }

    /// Whether what an iteration has left in it is read.
    fn is_read_behind(&self, leave: Instruction<'c>) -> bool {
        self.is_read(leave, None)
    }

    /// From a place on, as far as the end of an iteration or as far as control goes, whether something reads it before it is
    /// written.
    fn is_read(&self, from: Instruction<'c>, end: Option<Instruction<'c>>) -> bool {
        let all = from.block().instructions();
        let behind = all
            .iter()
            .position(|&one| one == from)
            .map_or(0, |at| at + 1);
        let mut rest = vec![(from.block(), behind)];
        let mut seen = HashSet::new();
        while let Some((block, from)) = rest.pop() {
            let mut is_over = false;
            for one in block.instructions().into_iter().skip(from) {
                if end == Some(one) {
                    is_over = true;
                    break;
                }
                if !self.uses.contains(&one) {
                    continue;
                }
                if self.begins(one) {
                    is_over = true;
                    break;
                }
                if end.is_none() || self.span.contains(&one) {
                    return true;
                }
            }
            if !is_over {
                let next = block.successors().into_iter();
                rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
            }
        }
        false
    }
}

/// The chain in the copy, as it is in the end.
fn find<'c>(
    copy: &'c Module,
    number: usize,
    chain: &Chain<'c>,
    turns: &[Vec<How>],
) -> Option<Single<'c>> {
    let told = |name: String| Some(marked(copy, &name)?.operand(0));
    let begin = marked(copy, &format!("{number}.begin"))?;
    let values = (0..chain.values.len()).map(|at| told(format!("{number}.value.{at}")));
    let places = iterations(copy, number, chain)?;
    let nests = chain.nests.iter().zip(places).enumerate();
    let nests = nests.map(|(at, (nest, [enter, leave]))| {
        let values =
            (0..nest.values.len()).map(|which| told(format!("{number}.{at}.value.{which}")));
        let loops = (0..nest.loops.len()).map(|level| {
            let name = |what: &str| format!("{number}.{at}.{what}.{level}");
            Some([
                *marked(copy, &name("iteration"))?,
                told(name("first"))?,
                told(name("end"))?,
            ])
        });
        // Those of which something is left are known.
        let turns = turns[at].iter().enumerate().filter_map(|(which, &how)| {
            let name = |what: &str| format!("{number}.{at}{INSIDE}{which}.{what}");
            let first = told(name("first"))?;
            let number = marked(copy, &name("number"))?;
            Some(Turn::of(how, number, first, marked(copy, &name("end"))?))
        });
        Some(Iteration {
            turns: turns.collect(),
            enter,
            leave,
            values: values.collect::<Option<_>>()?,
            loops: loops.collect::<Option<_>>()?,
        })
    });
    // Where pointers that only lead to a variable have gone, its address goes nowhere else.
    let is_ours = |one: &Instruction<'c>| {
        one.as_call()
            .is_some_and(|call| is_ours(&call.callee_name()))
    };
    let is_confined = |variable: Value<'c>| {
        let known = variable
            .as_op(Opcode::LLVMAlloca)
            .map(|one| uses_of(one, is_ours, false));
        known.is_some_and(|uses| uses.is_some())
    };
    let name = format!("{OURS}{number}.kept.");
    let functions = copy.functions().into_iter();
    let kept = functions.filter(|one| one.name().starts_with(&name));
    let kept = kept
        .flat_map(|one| one.instruction_users())
        .map(|one| one.operand(0));
    let kept = kept.map(|one| (one, is_confined(one)));
    let name = format!("{OURS}{number}.variable.");
    let known = copy.functions().into_iter().filter_map(|one| {
        let at = one.name().strip_prefix(&name)?.parse().ok()?;
        match one.instruction_users()[..] {
            [told] => Some((told.operand(0), at)),
            _ => None,
        }
    });
    Some(Single {
        values: values.collect::<Option<_>>()?,
        begin,
        nests: nests.collect::<Option<_>>()?,
        kept: kept.collect(),
        reads_constants: copy
            .function(&ours(&format!("{number}.{CONSTANTS}")))
            .is_some(),
        variables: known.filter(|one| !one.0.is_constant()).collect(),
    })
}

/// Whether control that goes from one place to another one comes through a block.
pub fn always_passes<'c>(enter: Instruction<'c>, leave: Instruction<'c>, block: Block<'c>) -> bool {
    always_passes_one(enter, leave, &[block])
}

/// The same for one of some blocks.
pub fn always_passes_one<'c>(
    enter: Instruction<'c>,
    leave: Instruction<'c>,
    blocks: &[Block<'c>],
) -> bool {
    if [enter, leave]
        .iter()
        .any(|end| blocks.contains(&end.block()))
    {
        return true;
    }
    let mut seen: HashSet<_> = blocks.iter().copied().collect();
    seen.insert(enter.block());
    let mut rest = vec![enter.block()];
    while let Some(one) = rest.pop() {
        if one == leave.block() {
            return false;
        }
        let next = one.successors().into_iter();
        rest.extend(next.filter(|one| seen.insert(*one)));
    }
    true
}
