//! Loop chains, read aloud: recognise them, find out what their loops do, plan the order that the programmer asks for, check
//! that it can be written, tell what is wrong, what stays as it is written and what is trusted, write the rest.
//!
//! Guarantee: where something is wrong nothing is changed but that the calls are gone that mark chains, which are in no
//! library.

use okl_chains::code::Code;
use okl_chains::plan::{Refused, as_written, in_parallel, plan};
use okl_chains::pragma::{Position, Sharing};

use crate::analysis::chains::{self, Modelled, Outcome};
use crate::diagnostic::{Declined, Site, report};
use crate::ir::{Chain, Nest};
use crate::llvm::{Block, Call, Module, Severity};
use crate::lower::chains::{
    Lowered, Order, Temporary, accesses, check, is_of_team, sums, take_out_all, temporary,
};
use crate::recognise::loop_chain;
use crate::recognise::loop_chain::written::{self, Choice, Hidden};

/// What there is to do and to say.
#[derive(Default)]
struct Lowering<'m> {
    lowered: Vec<Lowered<'m>>,
    /// What is wrong in the program.
    mistakes: Vec<Declined<'m>>,
    /// What stays as it is written.
    declined: Vec<Declined<'m>>,
    /// What is trusted.
    trusted: Vec<Declined<'m>>,
    /// Warnings.
    doubts: Vec<Declined<'m>>,
    /// Temporary spaces all of which is needed.
    whole: Vec<Declined<'m>>,
    /// Chains whose schedule is the order in which the program has them, threads and all.
    written: Vec<Call<'m>>,
}

/// Gives the chains of a module the orders that their schedules ask for. Whether nothing of them is wrong, and whether the
/// module was changed. Regions may run on devices where that is said.
pub fn lower(module: &Module, strict: bool, on_devices: bool) -> (bool, bool) {
    loop_chain::as_in_c(module);
    let alone = loop_chain::bring_in(module);
    let mut choices = written::choices(module);
    let mut hidden = Hidden::of(module, &choices);
    loop_chain::move_out(module, &choices);
    loop_chain::ask(module, &mut choices);
    let found = loop_chain::recognise(module);
    let mut all = Lowering {
        mistakes: found.mistakes,
        declined: found.declined,
        doubts: alone,
        ..Lowering::default()
    };
    let known = chains::model(module, &found.chains);
    for (chain, outcome) in found.chains.into_iter().zip(known) {
        all.check(module, chain, outcome, on_devices, &choices);
    }
    let is_right = all.tell(module, strict);
    let mut decided = vec![false; choices.len()];
    if is_right {
        for one in all.lowered {
            for (choice, is_scheduled) in choices.iter().zip(&mut decided) {
                *is_scheduled |= choice.is_of(one.site());
            }
            one.own().for_each(|own| hidden.part_from(module, own));
            one.emit(module);
        }
    }
    hidden.end();
    written::decide(module, choices.into_iter().zip(decided).collect());
    (is_right, take_out_all(module))
}

impl<'m> Lowering<'m> {
    fn check(
        &mut self,
        module: &'m Module,
        chain: Chain<'m>,
        outcome: Outcome<'m>,
        on_devices: bool,
        choices: &[Choice<'m>],
    ) {
        self.mistakes.extend(outcome.mistakes);
        self.declined.extend(outcome.declined);
        let Some(mut known) = outcome.modelled else {
            return;
        };
        self.doubts.append(&mut known.doubts);
        let site = chain.site;
        let choice = choices.iter().find(|choice| choice.is_of(site));
        let is_of_team = is_of_team(&chain);
        if is_of_team && choice.is_none() {
            self.mistakes.push(Declined {
                site: Site::Instruction(site.instruction()),
                reason: "threads of a region share the loops of this chain, and it is not there as they are written"
                    .to_string(),
            });
            return;
        }
        let why_whole = match (on_devices, is_of_team) {
            (true, _) => Some("its loops may run on a device"),
            (false, true) => Some("the threads of a region share its loops"),
            (false, false) => None,
        };
        let (temporaries, mut whole) = temporaries(&chain, &mut known, why_whole);
        let local = locals(&chain, &known);
        let written = choice.map(Choice::written);
        let may_use = (temporaries, why_whole.is_some());
        let found = order(chain, known, written, may_use, &mut self.trusted);
        if let Ok(found) = &found {
            let plan = found.as_ref().map(|order| &order.plan);
            whole.extend(
                plan.into_iter()
                    .flat_map(|plan| &plan.whole)
                    .map(|one| (one.space, one.why.to_string())),
            );
        }
        for (space, name, at) in local {
            let why = whole
                .iter()
                .find(|one| one.0 == space)
                .map(|one| one.1.clone());
            let why = match &found {
                Ok(Some(_)) => why,
                Ok(None) => Some("its loops run as they are written".to_string()),
                Err(_) => None,
            };
            self.whole.extend(why.map(|why| Declined {
                site: Site::Pragma(site, at),
                reason: format!("{name} does not shrink: {why}"),
            }));
        }
        match found {
            Ok(None) => self.written.extend(choice.map(|_| site)),
            Ok(Some(order)) => match check(module, order) {
                Ok(lowered) => self.lowered.push(lowered),
                Err(why) => self.declined.push(Declined {
                    site: Site::Instruction(site.instruction()),
                    reason: format!("the loop chain stays as it is: {why}"),
                }),
            },
            Err(refused) => {
                let told = Declined {
                    site: Site::Pragma(site, refused.at),
                    reason: refused.why,
                };
                match refused.is_illegal {
                    true => self.mistakes.push(told),
                    false => self.declined.push(told),
                }
            }
        }
    }

    /// Tells the programmer. True where nothing of it is an error.
    fn tell(&self, module: &Module, strict: bool) -> bool {
        let or_remark = strict.then_some(Severity::Error);
        let or_warning = Some(or_remark.unwrap_or(Severity::Warning));
        for (list, severity) in [
            (&self.mistakes, Some(Severity::Error)),
            (&self.declined, or_warning),
            (&self.doubts, Some(Severity::Warning)),
            (&self.trusted, or_remark),
        ] {
            for one in list {
                if let Some(severity) = severity {
                    report(module, one, severity);
                }
                let at = marker(one.site);
                if let Some(at) = at {
                    at.instruction().remark("Chain", &one.reason, true);
                }
            }
        }
        for one in &self.whole {
            if let Some(at) = marker(one.site) {
                at.instruction().remark("Chain", &one.reason, true);
            }
        }
        for one in &self.lowered {
            let site = one.site().instruction();
            for told in &one.shrinks {
                site.remark("Chain", told, false);
            }
            match &one.alone {
                Some(why) => {
                    let told =
                        format!("the loop chain runs as scheduled, but on one thread: {why}");
                    site.remark("Chain", &told, true);
                }
                None => site.remark("Chain", "the loop chain runs as scheduled", false),
            }
        }
        for one in &self.written {
            let site = one.instruction();
            site.remark("Chain", "the loop chain runs as scheduled", false);
        }
        let is_declined = !self.declined.is_empty() || !self.trusted.is_empty();
        self.mistakes.is_empty() && !(strict && is_declined)
    }
}

fn marker(site: Site<'_>) -> Option<Call<'_>> {
    match site {
        Site::Pragma(call, _) => Some(call),
        Site::Instruction(one) => one.as_call(),
        _ => None,
    }
}

/// The order that a schedule asks for; none where that is the one in which the loops are written.
fn order<'m>(
    chain: Chain<'m>,
    known: Modelled<'m>,
    written: Option<Block<'m>>,
    (temporaries, is_plain): (Vec<Option<Temporary<'m>>>, bool),
    trusted: &mut Vec<Declined<'m>>,
) -> Result<Option<Order<'m>>, Refused> {
    let plan = match chain.said.schedule.is_empty() {
        true => {
            let shared: Vec<_> = chain.nests.iter().map(is_shared).collect();
            // As the program has it, it has its threads.
            if !shared.contains(&true) || written.is_some() {
                return Ok(None);
            }
            let mut plan = as_written(&known.model);
            share(&mut plan.code, &shared);
            plan
        }
        false => {
            let plan = plan(&known.model, &chain.said.schedule, &known.values)?;
            // A device has more to do than a block for each thread of the host's, and a team is there already.
            match plan.threads.is_some() && is_plain {
                true => in_parallel(&known.model)?,
                false => plan,
            }
        }
    };
    let accesses = accesses(&known);
    let sums = sums(&known, chain.site.instruction().function());
    trusted.extend(known.trusted);
    Ok(Some(Order {
        chain,
        parameters: known.parameters,
        plan,
        temporaries,
        names: known.model.spaces.into_iter().map(|one| one.name).collect(),
        accesses,
        sums,
        written,
        asked: known.asked,
    }))
}

/// The spaces that are temporary, with their names and where that is said.
fn locals(chain: &Chain<'_>, known: &Modelled<'_>) -> Vec<(usize, String, Position)> {
    let number = |name: &str| known.model.spaces.iter().position(|one| one.name == name);
    let locals = chain.said.locals.iter();
    locals
        .filter_map(|name| Some((number(&name.text)?, name.text.clone(), name.at)))
        .collect()
}

/// The temporary spaces that can have buffers, unless none is to have one; others are not temporary then. And why they cannot.
#[allow(clippy::type_complexity)]
fn temporaries<'m>(
    chain: &Chain<'m>,
    known: &mut Modelled<'m>,
    why_whole: Option<&str>,
) -> (Vec<Option<Temporary<'m>>>, Vec<(usize, String)>) {
    let mut why_not = Vec::new();
    let spaces = 0..known.model.spaces.len();
    let all = spaces.map(|space| {
        if !known.model.spaces[space].is_local {
            return None;
        }
        let found = match why_whole {
            Some(why) => Err(why.to_string()),
            None => temporary(chain, known, space),
        };
        known.model.spaces[space].is_local = found.is_ok();
        found.map_err(|why| why_not.push((space, why))).ok()
    });
    (all.collect(), why_not)
}

/// Whether a loop's own directive has threads share it, and says of variables only that each has its own.
fn is_shared(nest: &Nest<'_>) -> bool {
    nest.said.openmp.as_ref().is_some_and(|said| {
        let mut clauses = said.clauses.iter();
        said.is_parallel && clauses.all(|one| matches!(one.sharing, Sharing::Private))
    })
}

/// Has threads share the outermost loops of nests, in the order in which these are written.
fn share(code: &mut Code, shared: &[bool]) {
    if let Code::Sequence(all) = code {
        for (one, &shared) in all.iter_mut().zip(shared) {
            if let Code::For(outermost) = one {
                outermost.is_parallel |= shared;
            }
        }
    }
}
