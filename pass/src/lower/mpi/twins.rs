//! Functions in two versions: one for a program on a single rank, which is the OpenMP program as it was, and one for
//! several ranks.
//!
//! Guarantee: a process that runs on one rank executes no lowered function, but calls that do nothing there.
//!
//! * A function that lowering changes has two versions, and so has one that calls it, if that may be often: they call
//!   versions of their own kind. Its name, and so its address, is that of an entry that chooses, where it can be reached
//!   otherwise than by such calls.
//!   A variable of each executable and library says which it is ([`FLAG`]); the run time sets it before anything of the
//!   program runs.
//! * Entries that LLVM inlines into a version are settled there ([`choose`]), so that it goes on in its own kind.
//! * Any other function is the same for both ([`SHARED`]), which chooses where it begins a region. What a region reaches
//!   of these has a version for several ranks besides, which only such versions call: accesses are declared in it harmless.
//! * And so has what only functions with two versions call: each is called as often as in the OpenMP program, so that
//!   LLVM inlines what it would inline there (a function that is called once whatever its size).

use std::collections::{HashMap, HashSet};

use okl_abi::{Effects, PLAIN_FORKS, openmp};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::runtime::effects;
use crate::llvm::{Function, Global, Instruction, Linkage, Module, Opcode, Value, Visibility};
use crate::marks::{
    ENTRY, PLAIN, RANKS, SHARED, is_for_ranks, is_lowered, is_plain, is_shared, name_for_ranks,
    plain_name,
};

mod choice;
mod copies;
mod uses;

pub use choice::{add_choice, is_set};
pub use uses::{replace_in, replace_in_constants, replace_outside};

use choice::add_entry;
pub use copies::can_be_copied;
use copies::{become_twin, copy_beside, is_copy_but_for, is_copy_of, replace_copy};
use uses::{needs_entry, redirect_calls};

/// The variable that is not 0 in a process on one rank.
const FLAG: &str = "okl.plain";

/// Mentions the OpenMP run time.
const RUNTIME: &str = "okl.runtime";

/// Whether a function is only handed to the OpenMP run time to begin regions, and called by what ours hands it to.
fn is_only_forked(body: Function<'_>) -> bool {
    let is_fork = |user: &Instruction<'_>| {
        let call = (**user).as_call();
        call.is_some_and(|call| call.callee() != *body && effects(call).has(Effects::FORKS_BODY))
            || is_for_ranks(user.function())
    };
    body.instruction_users().iter().all(is_fork)
}

/// Whether a function of this module's own is only called, and only by `callers`; copies aside.
fn is_only_called_by<'m>(callers: &HashSet<Function<'m>>, function: Function<'m>) -> bool {
    let is_call = |user: Value<'m>| {
        let Some(user) = user.as_instruction() else {
            return false;
        };
        let is_call = user
            .as_call()
            .is_some_and(|call| call.callee() == *function);
        is_call && (callers.contains(&user.function()) || is_plain(user.function()))
    };
    function.is_local() && function.users().into_iter().all(is_call)
}

/// The functions of a module, each with a copy of it as it was.
pub struct Copies<'m> {
    functions: Vec<Function<'m>>,
    copies: HashMap<Function<'m>, Function<'m>>,
    /// Those of which there cannot be two in the object file, each with what it may be.
    single: Vec<(Function<'m>, Function<'m>)>,
    mentions: HashMap<Function<'m>, Vec<Function<'m>>>,
    /// Functions with those that they call and mention in no other way, each call outside of loops.
    calls_once: HashMap<Function<'m>, HashSet<Function<'m>>>,
}

/// What is no reason for two versions: it does nothing on one rank, or chooses.
pub struct Harmless<'m> {
    /// The name of a function that calls have been added of.
    pub added: &'static str,
    /// Functions whose calls have become calls of others.
    pub renamed: Vec<(Function<'m>, Function<'m>)>,
    /// The functions in which something is changed in one of these ways, or will be.
    pub some: HashSet<Function<'m>>,
    /// Those that have two versions therefore.
    pub costly: Vec<Function<'m>>,
}

/// Copies functions that are about to be lowered.
pub fn copy<'m>(module: &'m Module, functions: &[Function<'m>]) -> Copies<'m> {
    let graph = CallGraph::of(module);
    let mentions = functions.iter().filter_map(|&function| {
        let node = graph.node(function)?;
        Some((function, node.mentions.clone()))
    });
    let mentions = mentions.collect();
    let calls_once = functions.iter().map(|&one| (one, calls_once(one)));
    let calls_once = calls_once.collect();
    let several = functions.iter().filter(|one| can_be_copied(**one));
    let copies = several.map(|&function| {
        let copy = copy_beside(module, function);
        PLAIN.put_on(module, copy);
        (function, copy)
    });
    let copies = copies.collect();
    Copies {
        functions: functions.to_vec(),
        copies,
        single: Vec::new(),
        mentions,
        calls_once,
    }
}

/// What a function calls outside of loops, and mentions in no other way.
fn calls_once<'m>(function: Function<'m>) -> HashSet<Function<'m>> {
    let loops = function.loops();
    let in_loops: HashSet<_> = loops.iter().flat_map(|one| &one.blocks).copied().collect();
    let (mut once, mut otherwise) = (HashSet::new(), HashSet::new());
    for instruction in function.instructions() {
        let call = instruction.as_call();
        let callee = call.filter(|_| !in_loops.contains(&instruction.block()));
        let callee = callee.and_then(|call| call.callee().as_function());
        let mentioned = instruction
            .operands()
            .into_iter()
            .filter_map(Value::as_function);
        for one in mentioned {
            let is_argument = call.is_some_and(|call| call.arguments().contains(&one));
            match callee == Some(one) && !is_argument {
                true => once.insert(one),
                false => otherwise.insert(one),
            };
        }
    }
    once.retain(|one| !otherwise.contains(one));
    once
}

/// Which functions have two versions.
pub struct Twins<'m> {
    /// The flag by which to choose.
    pub flag: Global<'m>,
    /// Functions that would have to be two, but of which there cannot be two in the object file.
    pub torn: Vec<Function<'m>>,
    plain: HashMap<Function<'m>, Function<'m>>,
}

impl<'m> Twins<'m> {
    /// The version of a function for one rank, which may be the only one.
    pub fn plain(&self, function: Function<'m>) -> Function<'m> {
        self.plain.get(&function).copied().unwrap_or(function)
    }
}

/// The flag of this executable or library.
pub fn flag(module: &Module) -> Global<'_> {
    if let Some(flag) = module.global(FLAG) {
        return flag;
    }
    let byte = module.int(8);
    // Until the run time has said so nothing runs on several ranks.
    let flag = module.add_global(
        FLAG,
        byte,
        Some(module.const_i8(1)),
        Linkage::LLVMLinkOnceODRLinkage,
    );
    module.set_visibility(*flag, Visibility::LLVMHiddenVisibility);
    flag.join_comdat(module, FLAG);
    flag.set_externally_initialized();
    flag.set_alignment(1);
    flag
}

/// Settles the choices in a version of a function: those of entries that were inlined into it. True where there are any.
pub fn choose(module: &Module, function: Function<'_>) -> bool {
    let is_plain = is_plain(function);
    if !is_plain && !is_for_ranks(function) {
        return false;
    }
    let Some(flag) = module.global(FLAG) else {
        return false;
    };
    let loads = flag.instruction_users().into_iter();
    let mut changed = false;
    for load in loads.filter(|one| one.opcode() == Opcode::LLVMLoad && one.function() == function) {
        load.replace_all_uses_with(module.const_i8(u8::from(is_plain)));
        load.erase();
        changed = true;
    }
    changed
}

/// Has versions for several ranks call each other where LLVM has found out which function a call reaches. True where
/// there are such calls.
pub fn call_own_kind(module: &Module) -> bool {
    let mut changed = false;
    for function in module.functions() {
        let Some(version) = version_of(module, function) else {
            continue;
        };
        let is_called = |user: &Instruction<'_>| is_for_ranks(user.function());
        changed |= function.instruction_users().iter().any(is_called);
        redirect_calls(function, version, RANKS);
    }
    changed
}

/// What several ranks run for a function that has another version for them.
fn version_of<'m>(module: &'m Module, function: Function<'m>) -> Option<Function<'m>> {
    if ENTRY.is_on(function) {
        let callees = function.instructions().into_iter();
        let mut callees = callees.filter_map(|one| one.as_call()?.callee().as_function());
        return callees.find(|&callee| is_for_ranks(callee));
    }
    if !is_shared(function) {
        return None;
    }
    let version = module.function(&name_for_ranks(&function.name()));
    version.filter(|&version| is_for_ranks(version))
}

/// Has versions for one rank start regions by names of ours, and removes versions for several that turned out the same.
/// True where the module was changed.
pub fn finish(module: &Module) -> bool {
    let mut changed = merge(module);
    for (fork, name) in PLAIN_FORKS {
        let Some(old) = module.function(fork).filter(|one| one.is_declaration()) else {
            continue;
        };
        // They may have been inlined.
        let is_ours = |at: &Instruction<'_>| is_lowered(at.function());
        if !old.instruction_users().iter().any(is_ours) {
            continue;
        }
        let new = module.function(name).unwrap_or_else(|| {
            module.add_function(name, old.function_type(), Linkage::LLVMExternalLinkage)
        });
        for mark in [PLAIN, ENTRY, SHARED, RANKS] {
            replace_in(*old, *new, mark);
        }
        // A linker that leaves out libraries nothing is taken from must not do so.
        if module.global(RUNTIME).is_none() {
            let ty = module.function_type(module.int(32), &[module.pointer()]);
            let any = module.function(openmp::PRESENT).unwrap_or_else(|| {
                module.add_function(openmp::PRESENT, ty, Linkage::LLVMExternalLinkage)
            });
            let mention = module.add_global(
                RUNTIME,
                module.pointer(),
                Some(*any),
                Linkage::LLVMPrivateLinkage,
            );
            mention.set_readonly();
            module.append_to_compiler_used(*mention);
        }
        changed = true;
    }
    changed
}

/// Removes versions for several ranks in which nothing was declared. True where there were any.
fn merge(module: &Module) -> bool {
    let functions = module.functions().into_iter();
    let functions = functions.filter(|one| is_shared(*one));
    let versions = functions.filter_map(|function| Some((function, version_of(module, function)?)));
    let mut versions: Vec<_> = versions.collect();
    let before = versions.len();
    // Those that call others which are the same are the same then.
    loop {
        let count = versions.len();
        versions.retain(|&(function, version)| {
            let differs = !is_copy_of(version, function);
            if !differs {
                replace_copy(version, function);
            }
            differs
        });
        if versions.len() == count {
            return count < before;
        }
    }
}

impl<'m> Copies<'m> {
    /// To be called when what does nothing on one rank is there: what else is changed in a function of which there
    /// cannot be two is noticed by [`Copies::settle`].
    pub fn keep_single(&mut self, module: &'m Module) {
        let functions = self.functions.iter();
        let single = functions.filter(|one| !self.copies.contains_key(one));
        let with_copy = single.map(|&one| {
            let copy = copy_beside(module, one);
            PLAIN.put_on(module, copy);
            (one, copy)
        });
        self.single = with_copy.collect();
    }

    /// Keeps the copies that are needed, has each version call its own kind, and adds the entries. `bodies` are those
    /// of regions, which are still begun by the OpenMP run time.
    pub fn settle(
        self,
        module: &'m Module,
        bodies: &[Function<'m>],
        harmless: &Harmless<'m>,
    ) -> Twins<'m> {
        let mut torn = Vec::new();
        for &(function, before) in &self.single {
            if !is_copy_but_for(before, function, "", &harmless.renamed) {
                torn.push(function);
            }
            before.erase();
        }
        let flag = flag(module);
        let different = self.different(bodies, harmless);
        let described = self.described(&different, bodies, harmless);
        let mut twins = Twins {
            flag,
            torn,
            plain: HashMap::new(),
        };
        let mut for_ranks = Vec::new();
        for &function in &self.functions {
            let copy = self.copies.get(&function).copied();
            match copy {
                Some(copy) if different.contains(&function) => {
                    RANKS.put_on(module, function);
                    copy.set_name(&plain_name(&function.name()));
                    become_twin(module, copy, function);
                    twins.plain.insert(function, copy);
                    continue;
                }
                Some(copy) if described.contains(&function) => {
                    RANKS.put_on(module, copy);
                    copy.set_name(&name_for_ranks(&function.name()));
                    become_twin(module, copy, function);
                    for_ranks.push((function, copy));
                }
                Some(copy) => copy.erase(),
                None => {}
            }
            SHARED.put_on(module, function);
        }
        for (function, version) in for_ranks {
            redirect_calls(function, version, RANKS);
        }
        let several = || {
            let functions = self.functions.iter();
            functions.filter_map(|one| twins.plain.get_key_value(one))
        };
        for (&function, &plain) in several() {
            redirect_calls(function, plain, PLAIN);
            // Through other names of it, too.
            redirect_calls(function, function, RANKS);
            if bodies.contains(&function) {
                redirect_calls(function, plain, SHARED);
            }
        }
        for (&function, &plain) in several() {
            if needs_entry(function, RANKS) {
                let entry = add_entry(module, function, plain, flag, RANKS);
                ENTRY.put_on(module, entry);
                become_twin(module, function, entry);
            }
        }
        twins
    }

    /// The functions of which one rank runs another version than several, among those that can have two.
    fn different(&self, bodies: &[Function<'m>], harmless: &Harmless<'m>) -> HashSet<Function<'m>> {
        let mut in_regions = HashSet::new();
        self.add(&mut in_regions, bodies.to_vec(), &self.mentions);
        let often = self.called_often();
        let mut callers: HashMap<Function<'m>, Vec<Function<'m>>> = HashMap::new();
        for (&caller, mentions) in &self.mentions {
            // To choose costs next to nothing in serial code that is not run often.
            let is_rare = !in_regions.contains(&caller) && !often.contains(&caller);
            for &mentioned in mentions {
                let once = is_rare && self.calls_once[&caller].contains(&mentioned);
                if !once || bodies.contains(&mentioned) {
                    callers.entry(mentioned).or_default().push(caller);
                }
            }
        }
        // Who begins a region chooses there.
        for body in bodies.iter().filter(|body| is_only_forked(**body)) {
            callers.remove(body);
        }
        let copies = self.copies.iter();
        let changed = copies.filter(|(function, copy)| {
            !is_copy_but_for(**copy, **function, harmless.added, &harmless.renamed)
        });
        let changed = changed.map(|(&function, _)| function);
        // In a region it would cost time on one rank.
        let reached = in_regions.intersection(&harmless.some).copied();
        let start = changed
            .chain(harmless.costly.iter().copied())
            .chain(reached);
        let mut found = HashSet::new();
        self.add(
            &mut found,
            start.chain(bodies.iter().copied()).collect(),
            &callers,
        );
        found
    }

    /// What is called in loops of this module, or mentioned otherwise, and what that reaches.
    fn called_often(&self) -> HashSet<Function<'m>> {
        let mentions = self.mentions.iter();
        let often = mentions.flat_map(|(caller, mentioned)| {
            let once = &self.calls_once[caller];
            mentioned.iter().filter(|one| !once.contains(one))
        });
        let mut found = HashSet::new();
        self.add(&mut found, often.copied().collect(), &self.mentions);
        found
    }

    /// The functions that have a version for several ranks.
    fn described(
        &self,
        different: &HashSet<Function<'m>>,
        bodies: &[Function<'m>],
        harmless: &Harmless<'m>,
    ) -> HashSet<Function<'m>> {
        let mut found = different.clone();
        self.add(&mut found, bodies.to_vec(), &self.mentions);
        loop {
            let copies = self.copies.keys().copied();
            let is_new = |one: &Function<'m>| {
                let is_complete = !found.contains(one) && !harmless.some.contains(one);
                is_complete && is_only_called_by(&found, *one)
            };
            let new: Vec<_> = copies.filter(is_new).collect();
            if new.is_empty() {
                return found;
            }
            found.extend(new);
        }
    }

    /// Adds what can be reached from `start`, among functions that can have two versions.
    fn add(
        &self,
        found: &mut HashSet<Function<'m>>,
        start: Vec<Function<'m>>,
        next: &HashMap<Function<'m>, Vec<Function<'m>>>,
    ) {
        let mut rest = start;
        let mut seen: HashSet<_> = rest.iter().copied().collect();
        while let Some(function) = rest.pop() {
            if self.copies.contains_key(&function) {
                found.insert(function);
            }
            let more = next.get(&function).into_iter().flatten().copied();
            rest.extend(more.filter(|&one| seen.insert(one)));
        }
    }
}
