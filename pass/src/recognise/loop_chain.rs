//! Loop chains: calls that the driver has put where pragmas were, around the loops of a chain and around each of them.
//!
//! Guarantee: control comes into a chain by its beginning only, runs each of its nests once, in the order in which they are
//! written, and leaves it by its end. Between nests nothing is run that has an effect, and nothing but counters between the
//! loops of a nest. Each loop counts up by 1, to an end that stays the same, as far as variables of the function say it; its
//! counter is written nowhere else while it runs. What is no such chain is told, and stays as it is written, which is always
//! right.

mod callees;
mod do_loops;
mod early;
mod elsewhere;
mod moved;
mod nest;
mod plain;
pub mod regions;
mod straight;
mod strips;
pub mod written;

use std::collections::HashSet;

use okl_chains::pragma::Pragma;

use crate::diagnostic::{Declined, Site, pragma};
use crate::ir::Chain;
use crate::llvm::{Block, Call, Function, Instruction, Module, NaturalLoop, Opcode, Value};
use crate::marks::CHAINS;

pub use callees::bring_in;
pub use do_loops::as_in_c;
pub use elsewhere::elsewhere;
pub use moved::move_out;
use straight::{Path, Stop};
pub use strips::{ask, split};

const BEGINS: &str = "__okl_omplc_chain";
const ENDS: &str = "__okl_omplc_end";
const FOR: &str = "__okl_omplc_for";
const NEXT: &str = "__okl_omplc_next";
/// Says that a condition holds for none of the iterations.
const STRIP: &str = "__okl_omplc_strip";
/// In front of a chain: not 0 where a function that it calls returns in front of its loops.
const EARLY: &str = "__okl_omplc_early";
/// Says what stands for the parameters of what is called next.
const CALL: &str = "__okl_omplc_call";

/// The chains of a module.
#[derive(Default)]
pub struct Chains<'m> {
    /// Those that are right, in the order in which their functions and they stand in the module.
    pub chains: Vec<Chain<'m>>,
    /// What can be no chain, by the calls in front of it: errors.
    pub mistakes: Vec<(Call<'m>, Declined<'m>)>,
    /// What is not understood, and stays as it is written.
    pub declined: Vec<(Call<'m>, Declined<'m>)>,
    /// All calls that mark chains, of which the code has no need.
    pub markers: Vec<Call<'m>>,
}

/// Why something is no chain.
struct Wrong<'m> {
    site: Site<'m>,
    reason: String,
    is_mistake: bool,
}

impl<'m> Wrong<'m> {
    fn mistake(site: Site<'m>, reason: impl Into<String>) -> Self {
        Self {
            site,
            reason: reason.into(),
            is_mistake: true,
        }
    }

    fn declined(site: Site<'m>, reason: impl Into<String>) -> Self {
        Self {
            is_mistake: false,
            ..Self::mistake(site, reason)
        }
    }
}

/// The chains of a module, as the compiler made it.
pub fn recognise(module: &Module) -> Chains<'_> {
    find(module, false)
}

/// The same; also those that have conditions which are to be stripped, if that is said.
fn find(module: &Module, with_strips: bool) -> Chains<'_> {
    let mut found = Chains::default();
    let functions = module.functions();
    if !functions.iter().any(|one| one.name().starts_with(CHAINS)) {
        return found;
    }
    for function in functions {
        let markers = markers(function);
        if markers.is_empty() {
            continue;
        }
        let here = Here {
            with_strips,
            ..Here::of(function)
        };
        let mut known = HashSet::new();
        for &site in markers.iter().filter(|one| one.callee_name() == BEGINS) {
            match here.chain(site, &mut known) {
                Ok(chain) => found.chains.push(chain),
                Err(wrong) => {
                    let list = match wrong.is_mistake {
                        true => &mut found.mistakes,
                        false => &mut found.declined,
                    };
                    let reason = match function.is_fortran() {
                        true => wrong.reason.replace("#pragma omplc", "!$omplc"),
                        false => wrong.reason,
                    };
                    let told = Declined {
                        site: wrong.site,
                        reason,
                    };
                    list.push((site, told));
                }
            }
        }
        found.markers.extend(markers);
    }
    found
}

/// The calls of a function that mark chains.
fn markers(function: Function<'_>) -> Vec<Call<'_>> {
    let calls = function.instructions().into_iter();
    let calls = calls.filter_map(|one| one.as_call());
    calls.filter(|&call| is_marker(call)).collect()
}

/// Whether a call marks a chain.
pub fn is_marker(call: Call<'_>) -> bool {
    let callee = call.callee().as_function();
    callee.is_some_and(|callee| callee.name().starts_with(CHAINS) && callee.name() != CALL)
}

/// Whether a call says something of the next one.
fn is_note(call: Call<'_>) -> bool {
    call.callee_name() == CALL
}

/// The numbers behind the text of a call; none where they are no such numbers.
fn values(marker: Call<'_>) -> Option<Vec<Value<'_>>> {
    let values: Vec<_> = marker.arguments().into_iter().skip(1).collect();
    let mut all = values.iter();
    all.all(|one| one.ty().bits() == Some(64)).then_some(values)
}

/// The place of an instruction, or of the call that marks what it is in.
fn at<'m>(instruction: Instruction<'m>, marker: Call<'m>) -> Site<'m> {
    let has_place = instruction.source_location().is_some();
    Site::Instruction(match has_place {
        true => instruction,
        false => marker.instruction(),
    })
}

/// A function that has chains.
struct Here<'m> {
    loops: Vec<NaturalLoop<'m>>,
    /// Whether chains may have conditions that are to be stripped.
    with_strips: bool,
}

impl<'m> Here<'m> {
    fn of(function: Function<'m>) -> Self {
        Self {
            loops: function.loops(),
            with_strips: false,
        }
    }

    /// The chain that begins there.
    fn chain(
        &self,
        site: Call<'m>,
        known: &mut HashSet<Instruction<'m>>,
    ) -> Result<Chain<'m>, Wrong<'m>> {
        let here = Site::Instruction(site.instruction());
        let lost = || Wrong::mistake(here, "the text of this loop chain cannot be read");
        let Some((file, Pragma::Chain(said))) = pragma(site) else {
            return Err(lost());
        };
        let mut path = Path::behind(site);
        let mut nests = Vec::new();
        let end = loop {
            let stop = path.follow(self);
            let marker = path.notes.last().copied().unwrap_or(site);
            // What it stops at is what keeps statements in front of it where they are.
            if let Some(&store) = path.stores.first()
                && !matches!(stop, Stop::Loop(_) | Stop::Other(_))
            {
                return Err(between(store, marker));
            }
            match stop {
                Stop::Marker(call) if call.callee_name() == FOR => {
                    let (nest, behind) = self.nest(call)?;
                    if !self.with_strips
                        && let Some(&strip) = strips::left(&nest).first()
                    {
                        let site = Site::Instruction(strip.instruction());
                        return Err(Wrong::declined(site, strips::WHY));
                    }
                    path = behind;
                    nests.push(nest);
                }
                Stop::Marker(call) if call.callee_name() == ENDS => break call,
                Stop::Marker(call) => {
                    let told = match call.callee_name() == BEGINS {
                        true => "this loop chain is inside of another one",
                        false => "this is no end of a loop of the chain",
                    };
                    return Err(Wrong::mistake(Site::Instruction(call.instruction()), told));
                }
                Stop::Loop(natural) => {
                    let first = natural.header.terminator().unwrap_or(site.instruction());
                    let told = "this loop is in a loop chain and has no `#pragma omplc for`";
                    return Err(Wrong::mistake(at(first, site), told));
                }
                Stop::Block => unreachable!("no block is waited for"),
                Stop::Other(instruction) => {
                    return Err(between(instruction, marker));
                }
            }
        };
        if !known.insert(end.instruction()) {
            return Err(Wrong::mistake(
                here,
                "this loop chain ends where another one does",
            ));
        }
        let values = values(site).ok_or_else(lost)?;
        if nests.is_empty() {
            let told = "this loop chain has no loop with `#pragma omplc for`";
            return Err(Wrong::mistake(here, told));
        }
        Ok(Chain {
            site,
            end,
            file,
            said,
            values,
            nests,
        })
    }
}

/// What stands between the loops of a chain, and cannot.
fn between<'m>(instruction: Instruction<'m>, marker: Call<'m>) -> Wrong<'m> {
    let site = at(instruction, marker);
    let is_handed = is_note(marker) && instruction.opcode() == Opcode::LLVMStore;
    match instruction.opcode() {
        _ if is_handed && instruction.source_location().is_none() => Wrong::declined(
            Site::Instruction(marker.instruction()),
            "the loop chain stays as it is: what is handed to a function here cannot be computed in front of the chain; keep it \
             in a variable of the function there",
        ),
        Opcode::LLVMRet | Opcode::LLVMUnreachable => {
            Wrong::mistake(site, "this leaves the loop chain, all of which has to run")
        }
        Opcode::LLVMBr | Opcode::LLVMSwitch => Wrong::declined(
            site,
            "the loop chain stays as it is: control does not go from one of its loops to the next one here without a \
             condition",
        ),
        _ if let Some(why) = instruction.as_call().and_then(callees::why_not) => {
            Wrong::declined(site, format!("the loop chain stays as it is: {why}"))
        }
        _ => Wrong::declined(
            site,
            "the loop chain stays as it is: this stands between its loops, and belongs in front of the chain or behind it",
        ),
    }
}

/// Whether control that comes to a block may come to another one.
fn leads_to<'m>(from: Block<'m>, to: Block<'m>) -> bool {
    let mut seen = HashSet::from([from]);
    let mut rest = vec![from];
    while let Some(block) = rest.pop() {
        if block == to {
            return true;
        }
        let next = block.successors().into_iter();
        rest.extend(next.filter(|one| seen.insert(*one)));
    }
    false
}
