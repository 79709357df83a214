//! Loops of chains that are in functions which the chain calls, and in those that these call: their code takes the place of the
//! calls, so that the chain has them as if they were written in it.
//!
//! Guarantee: the program means the same. A function's code takes the place of a call only where every path through the chain
//! runs it, where it is the function that is run, and where LLVM may put it there. What such a function says of its loops by
//! the names of its parameters is said by the caller's names then. Where it may return in front of its loops, the chain runs as
//! it is written if it does.

use std::collections::{HashMap, HashSet};

use okl_chains::pragma::{Pragma, write_marker};

use super::early::Early;
use super::straight::{Path, Stop};
use super::written::is_asked;
use super::{BEGINS, CALL, FOR, Here, NEXT, is_note};
use crate::analysis::library::known;
use crate::analysis::runtime::is_of_runtime;
use crate::diagnostic::{Declined, Site, pragma, user_name};
use crate::llvm::{
    Builder, Call, Function, Instruction, Linkage, Module, NaturalLoop, Opcode, Value,
};

/// Calls that code takes the place of in a chain, at most.
const MOST: usize = 500;

/// Brings them in. What of all loops with pragmas is in no chain is told.
pub fn bring_in(module: &Module) -> Vec<Declined<'_>> {
    let begins = module.function(BEGINS).into_iter();
    let begins = begins.flat_map(|one| one.users());
    let begins: Vec<_> = begins.filter_map(Value::as_call).collect();
    let mut known = Functions::default();
    let callers = begins.iter().map(|one| one.instruction().function());
    let called = callers.flat_map(|one| known.reach(one)).collect();
    let kept = begins
        .into_iter()
        .flat_map(|site| Bringing::into(module, site));
    let kept: HashSet<_> = kept.collect();
    let notes = module.function(CALL).into_iter();
    let notes = notes.flat_map(|one| one.users()).filter_map(Value::as_call);
    for note in notes.filter(|note| !kept.contains(&note.instruction())) {
        note.take_out(module);
    }
    alone(module, &called)
}

/// Loops that say that they are in a chain, but for those in functions that some call.
fn alone<'m>(module: &'m Module, called: &HashSet<Function<'m>>) -> Vec<Declined<'m>> {
    let pragmas = module.function(FOR).into_iter();
    let pragmas = pragmas
        .flat_map(|one| one.users())
        .filter_map(Value::as_call);
    let mut told = Vec::new();
    for site in pragmas {
        let function = site.instruction().function();
        // What many files have need not be used in all of them.
        let is_everywhere = matches!(
            function.linkage(),
            Linkage::LLVMLinkOnceODRLinkage
                | Linkage::LLVMLinkOnceAnyLinkage
                | Linkage::LLVMAvailableExternallyLinkage
                | Linkage::LLVMWeakODRLinkage
        );
        if is_everywhere || called.contains(&function) {
            continue;
        }
        if let Some((_, Pragma::Loop(said))) = pragma(site)
            && said.within.is_some()
        {
            told.push(Declined {
                site: Site::Pragma(site, said.at),
                reason: format!(
                    "no loop chain of this file, or of one that is linked with it with -flto, calls '{}': this loop runs as it is \
                     written",
                    user_name(function)
                ),
            });
        }
    }
    told
}

/// Whether something is a call of a function of the program, and no intrinsic of LLVM's.
pub fn is_called(call: Call<'_>) -> bool {
    let callee = call.callee_function();
    callee.is_none_or(|callee| !callee.name().starts_with("llvm."))
        && call.callee().as_inline_assembly().is_none()
}

/// Why the code of what is called cannot take the place of a call; none where it could, or where nobody wants it to.
pub fn why_not(call: Call<'_>) -> Option<String> {
    if !is_called(call) {
        return None;
    }
    let caller = call.instruction().function();
    let Some(callee) = call.callee_function() else {
        return Some(
            "which function is called here is known only when the program runs".to_string(),
        );
    };
    if is_of_runtime(&callee.name()) {
        let told = "this is of a directive of OpenMP, which the schedule replaces only where the pragma of a loop stands in \
                    front of it";
        return Some(told.to_string());
    }
    if callee.is_declaration() {
        return Some(not_seen(&user_name(callee)));
    }
    let mut known = Functions::default();
    if callee.loops().is_empty() && !known.have_loops(callee) {
        let all = known.elsewhere(callee);
        return all.first().map(|one| not_seen(&user_name(*one)));
    }
    let why = obstacle(call, caller, callee)?;
    Some(format!(
        "'{}' has loops of it, and {why}",
        user_name(callee)
    ))
}

fn not_seen(name: &str) -> String {
    format!(
        "what '{name}' does is not seen, as it is in another file or a library; if it has loops of the chain, compile both \
         files and link them by okl-cc with -flto, or define it in this file or in a header that this file includes; other \
         calls belong in front of the chain or behind it"
    )
}

fn obstacle<'m>(
    call: Call<'m>,
    caller: Function<'m>,
    callee: Function<'m>,
) -> Option<&'static str> {
    let mut known = Functions::default();
    if callee.is_interposable() {
        Some("another function may take its place when the program is linked")
    } else if callee == caller || known.reach(callee).contains(&callee) {
        Some("calls itself")
    } else if callee.function_type().is_variadic() {
        Some("takes any number of arguments")
    } else if known.has(callee, BEGINS) {
        Some("has a loop chain of its own")
    } else if !call.may_be_inlined() {
        Some(
            "its code cannot stand in place of its call, as where it is compiled for another processor",
        )
    } else {
        None
    }
}

/// What functions call.
#[derive(Default)]
pub struct Functions<'m> {
    called: HashMap<Function<'m>, HashSet<Function<'m>>>,
}

impl<'m> Functions<'m> {
    /// The functions that a function may call by name, and those that they do.
    pub fn reach(&mut self, function: Function<'m>) -> HashSet<Function<'m>> {
        let mut found = HashSet::new();
        let mut rest = vec![function];
        while let Some(one) = rest.pop() {
            let called = self.called.entry(one).or_insert_with(|| {
                let all = one.instructions().into_iter();
                let all = all.filter_map(|one| one.as_call());
                all.filter_map(|call| call.callee_function()).collect()
            });
            rest.extend(called.iter().filter(|one| found.insert(**one)));
        }
        found
    }

    /// Whether a function calls something with a name, itself or by others.
    fn has(&mut self, function: Function<'m>, name: &str) -> bool {
        self.reach(function).iter().any(|one| one.name() == name)
    }

    /// Those of it and of what it calls that are in other files, by their names. What others call that the C library has is its.
    pub fn elsewhere(&mut self, function: Function<'m>) -> Vec<Function<'m>> {
        let mut all: Vec<_> = self.reach(function).into_iter().collect();
        all.retain(|one| known(&one.name()).is_none() && *one != function);
        all.push(function);
        all.retain(|one| {
            one.is_declaration() && !one.is_intrinsic() && !one.name().starts_with("__")
        });
        all.sort_by_key(|one| one.name());
        all
    }

    fn have_loops(&mut self, function: Function<'m>) -> bool {
        self.has(function, FOR)
    }
}

/// What is done with a chain.
struct Bringing<'m> {
    module: &'m Module,
    site: Call<'m>,
    /// Pragmas in front of calls whose code has taken their place.
    at_calls: HashSet<Instruction<'m>>,
    /// Notes of calls whose code has.
    used: HashSet<Instruction<'m>>,
    /// Whether any code has.
    has_code: bool,
}

/// What to do next.
enum Step<'m> {
    /// There is nothing left; the notes that the chain has.
    End(HashSet<Instruction<'m>>),
    /// A loop is there twice.
    Choose(Call<'m>),
    /// A call: the note in front of it, and the pragma.
    Inline(Call<'m>, Option<Call<'m>>, Option<Call<'m>>),
    /// A branch by which a function returns in front of its loops.
    Return(Early<'m>, HashSet<Instruction<'m>>),
}

impl<'m> Bringing<'m> {
    /// Brings what a chain calls into it.
    fn into(module: &'m Module, site: Call<'m>) -> HashSet<Instruction<'m>> {
        let mut this = Bringing {
            module,
            site,
            at_calls: HashSet::new(),
            used: HashSet::new(),
            has_code: false,
        };
        for _ in 0..MOST {
            match this.next() {
                Step::End(notes) => {
                    this.settle();
                    return notes;
                }
                Step::Choose(asks) => {
                    let function = asks.instruction().function();
                    for branch in asks.instruction().instruction_users() {
                        let marked = branch.block().successors()[0];
                        Builder::before(module, branch).go(marked);
                        branch.erase();
                    }
                    asks.take_out(module);
                    function.remove_unreachable_blocks();
                }
                Step::Inline(call, note, at) => this.inline(call, note, at),
                Step::Return(early, notes) => {
                    if !early.ask(module, site) {
                        this.settle();
                        return notes;
                    }
                }
            }
        }
        HashSet::new()
    }

    fn next(&self) -> Step<'m> {
        let here = Here::of(self.site.instruction().function());
        let mut path = Path::behind(self.site);
        let mut pragma: Option<Call<'m>> = None;
        let mut notes = HashSet::new();
        loop {
            let stop = path.follow(&here);
            notes.extend(path.notes.iter().map(|one| one.instruction()));
            match stop {
                Stop::Marker(call) if is_asked(call) => return Step::Choose(call),
                Stop::Marker(call) => {
                    match call.callee_name().as_str() {
                        FOR => pragma = Some(call),
                        NEXT => pragma = None,
                        _ => return Step::End(notes),
                    }
                    path = Path::behind(call);
                }
                Stop::Loop(natural) => {
                    let mut exits = natural.header.successors().into_iter();
                    let exit = exits.find(|one| !natural.blocks.contains(one));
                    let Some(exit) = exit.filter(|_| pragma.is_some()) else {
                        return Step::End(notes);
                    };
                    path = Path::from(exit);
                }
                Stop::Other(one) if self.has_code && one.branch_condition().is_some() => {
                    return match Early::of(self.module, self.site, one) {
                        Some(early) => Step::Return(early, notes),
                        None => Step::End(notes),
                    };
                }
                Stop::Other(one) => {
                    let call = one.as_call().filter(|call| self.is_wanted(*call, pragma));
                    return match call {
                        Some(call) => {
                            let note = path.notes.last().copied();
                            let is_new = |one: &Call<'m>| !self.used.contains(&one.instruction());
                            Step::Inline(call, note.filter(is_new), pragma)
                        }
                        None => Step::End(notes),
                    };
                }
                Stop::Block => unreachable!("no block is waited for"),
            }
        }
    }

    fn is_wanted(&self, call: Call<'m>, pragma: Option<Call<'m>>) -> bool {
        let Some(callee) = call.callee_function().filter(|_| is_called(call)) else {
            return false;
        };
        let caller = call.instruction().function();
        !callee.is_declaration()
            && (pragma.is_some() || Functions::default().have_loops(callee))
            && obstacle(call, caller, callee).is_none()
    }

    /// Puts code in place of a call, behind a note, and a pragma.
    fn inline(&mut self, call: Call<'m>, note: Option<Call<'m>>, at: Option<Call<'m>>) {
        let function = self.site.instruction().function();
        let all = || {
            let calls = function.instructions().into_iter();
            let calls = calls.filter_map(|one| one.as_call());
            calls.filter(|&call| super::is_marker(call) || is_note(call))
        };
        let known: HashSet<_> = all().map(|one| one.instruction()).collect();
        if !call.inline() {
            return;
        }
        self.has_code = true;
        self.at_calls.extend(at.map(|at| at.instruction()));
        let said = note.and_then(pragma);
        let new: Vec<_> = all()
            .filter(|one| !known.contains(&one.instruction()))
            .collect();
        for marker in new {
            let is_pragma = [FOR, NEXT, CALL].contains(&marker.callee_name().as_str());
            // What stands at the call counts.
            if at.is_some() && is_pragma {
                marker.take_out(self.module);
                continue;
            }
            let Some((file, mut inner)) = pragma(marker) else {
                continue;
            };
            let is_bound = match &said {
                Some((_, Pragma::Call(said))) => said.bind(&mut inner),
                _ => false,
            };
            match &mut inner {
                // Nobody knows what its names stand for.
                Pragma::Loop(said) if !is_bound => {
                    said.accesses.clear();
                    said.within = None;
                }
                Pragma::Call(said) if !is_bound => {
                    said.arguments.clear();
                    said.within = None;
                }
                _ => {}
            }
            let text = self.module.add_text("", &write_marker(&file, &inner));
            marker.instruction().set_operand(0, *text);
        }
        self.used.extend(note.map(|note| note.instruction()));
    }

    /// Loops look as if they were written here. Pragmas in front of calls go where the loop begins, so that what the function
    /// does before stands in front of them.
    fn settle(&self) {
        let function = self.site.instruction().function();
        if !self.has_code {
            return;
        }
        for natural in function.loops() {
            part_step(&natural);
        }
        let here = Here::of(function);
        for &at in &self.at_calls {
            let Some(call) = at.as_call() else {
                continue;
            };
            let mut path = Path::behind(call);
            if let Stop::Loop(_) = path.follow(&here)
                && let Some(&begins) = path.stores.last()
            {
                at.move_before(begins);
            }
        }
    }
}

/// LLVM joins blocks of code that it puts somewhere; the step of a loop has one of its own.
fn part_step(natural: &NaturalLoop<'_>) {
    let mut before = natural.header.predecessors();
    before.retain(|one| natural.blocks.contains(one));
    let [latch] = before[..] else {
        return;
    };
    let all = latch.instructions();
    let is_store = |one: &Instruction<'_>| one.opcode() == Opcode::LLVMStore;
    let Some(mut first) = all.iter().rposition(is_store) else {
        return;
    };
    let mut rest = vec![all[first]];
    while let Some(one) = rest.pop() {
        let operands = one.operands().into_iter();
        for operand in operands.filter_map(|one| one.as_instruction()) {
            if let Some(at) = all.iter().position(|one| *one == operand) {
                first = first.min(at);
                rest.push(operand);
            }
        }
    }
    if first > 0 {
        all[first].split_before();
    }
}
