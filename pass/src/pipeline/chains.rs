//! Loop chains, read aloud: recognise them, find out what their loops do, plan the order that the programmer asks for, check
//! that it can be written, tell what is wrong, what stays as it is written and what is trusted, write the rest.
//!
//! Guarantee: where something is wrong nothing is changed but that the calls are gone that mark chains, which are in no
//! library.

use okl_chains::code::Code;
use okl_chains::model::{self, Mode};
use okl_chains::plan::{Refused, as_written, in_parallel, plan_by_size};
use okl_chains::pragma::{Position, Sharing};
use okl_chains::sizes::Costs;

use crate::analysis::chains::{self, Modelled, Outcome};
use crate::diagnostic::{Declined, Site, report};
use crate::ir::{Chain, Nest};
use crate::llvm::{Block, Call, Instruction, Module, Severity};
use crate::lower::chains::{
    Lowered, Order, Temporary, accesses, check, costs, is_of_team, nests_of, sums, take_out_all,
    temporary,
};
use crate::recognise::loop_chain;
use crate::recognise::loop_chain::regions::{self, Implied};
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
    /// Loops that nobody has written as a chain, and that become one.
    fused: Vec<Declined<'m>>,
    /// Why others do not.
    apart: Vec<Declined<'m>>,
}

/// What is asked of chains.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Whether what is declined is an error.
    pub strict: bool,
    /// Whether regions may run on devices.
    pub on_devices: bool,
    /// Whether a chain may have two orders, of which its size says which one runs.
    pub by_size: bool,
    /// Whether parallel loops that follow each other are chains.
    pub fuse: bool,
    /// Whether chains of other files may call functions of this one when the program is linked.
    pub is_kept: bool,
    /// Whether chains of this file call functions of others, of which more may be seen then.
    pub is_open: bool,
}

/// What became of the chains of a module.
#[derive(Clone, Copy, Debug)]
pub struct Became {
    /// Whether nothing of them is wrong.
    pub is_right: bool,
    /// Whether the module was changed.
    pub is_changed: bool,
    /// Whether some stay as they are written because of what is not seen or understood.
    pub is_declined: bool,
}

/// Gives the chains of a module the orders that their schedules ask for.
pub fn lower(module: &Module, asked: Asked) -> Became {
    let mut alone = loop_chain::bring_in(module);
    if asked.is_kept {
        // Chains of other files may call them.
        alone.clear();
    }
    let mut runs = match asked.fuse {
        true => regions::runs(module),
        false => Vec::new(),
    };
    let mut all = Became {
        is_right: true,
        is_changed: false,
        is_declined: false,
    };
    loop {
        let (became, rest) = round(module, asked, &runs, std::mem::take(&mut alone));
        all.is_right = became.is_right;
        all.is_changed |= became.is_changed;
        all.is_declined |= became.is_declined;
        if !all.is_right || rest.is_empty() {
            return all;
        }
        runs = rest;
    }
}

/// The same of those that are there, and of parallel loops that follow each other, with doubts to tell. With parts of these
/// that may be tried alone.
fn round<'m>(
    module: &'m Module,
    asked: Asked,
    runs: &[Vec<Call<'m>>],
    doubts: Vec<Declined<'m>>,
) -> (Became, Vec<Vec<Call<'m>>>) {
    let implied = regions::mark(module, runs);
    let mut choices = written::choices(module);
    let mut hidden = Hidden::of(module, &choices);
    loop_chain::move_out(module, &choices);
    loop_chain::ask(module, &mut choices);
    let found = loop_chain::split(module, &mut choices);
    let mut all = Lowering {
        doubts,
        apart: implied.declined,
        ..Lowering::default()
    };
    let of = |site: Call<'_>| implied.chains.iter().find(|one| one.site == site);
    for (list, is_mistake) in [(found.mistakes, true), (found.declined, false)] {
        for (site, told) in list {
            match (of(site), is_mistake) {
                (Some(implied), _) => all.stay_apart(implied, told.site, &told.reason),
                (None, true) => all.mistakes.push(told),
                (None, false) => all.declined.push(told),
            }
        }
    }
    let known = chains::model(module, &found.chains);
    for (chain, outcome) in found.chains.into_iter().zip(known) {
        match of(chain.site) {
            Some(implied) => all.check_implied(module, chain, outcome, asked, &choices, implied),
            None => all.check(module, chain, outcome, asked, &choices),
        }
    }
    let is_right = all.tell(module, asked);
    let is_declined = !all.declined.is_empty();
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
    let tried = implied.chains.into_iter().filter(|one| {
        let mut all = choices.iter().zip(&decided);
        !all.any(|(choice, is_scheduled)| *is_scheduled && choice.has(one.forks[0]))
    });
    let halves = tried.flat_map(|one| {
        let (first, second) = one.forks.split_at(one.forks.len().div_ceil(2));
        [first.to_vec(), second.to_vec()]
    });
    let halves = halves.filter(|one| one.len() > 1).collect();
    written::decide(module, choices.into_iter().zip(decided).collect());
    let became = Became {
        is_right,
        is_changed: take_out_all(module),
        is_declined,
    };
    (became, halves)
}

impl<'m> Lowering<'m> {
    fn check(
        &mut self,
        module: &'m Module,
        chain: Chain<'m>,
        outcome: Outcome<'m>,
        asked: Asked,
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
        let why_whole = match (asked.on_devices, is_of_team) {
            (true, _) => Some("its loops may run on a device"),
            (false, true) => Some("the threads of a region share its loops"),
            (false, false) => None,
        };
        let (temporaries, mut whole) = temporaries(&chain, &mut known, why_whole);
        let local = locals(&chain, &known);
        let written = choice.map(Choice::written);
        let may_use = (temporaries, why_whole.is_some());
        let by_size = asked.by_size && why_whole.is_none();
        let costs = by_size.then(|| costs(module, &chain, &known));
        let found = order(chain, known, written, may_use, costs, &mut self.trusted);
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

    /// The same of a chain that nobody has written: what is not proved of it leaves its loops as they are.
    fn check_implied(
        &mut self,
        module: &'m Module,
        chain: Chain<'m>,
        outcome: Outcome<'m>,
        asked: Asked,
        choices: &[Choice<'m>],
        implied: &Implied<'m>,
    ) {
        let site = chain.site;
        let here = Site::Instruction(site.instruction());
        let wrong = outcome.declined.into_iter().chain(outcome.mistakes);
        if let Some(told) = wrong.into_iter().next() {
            return self.stay_apart(implied, told.site, &told.reason);
        }
        let Some(known) = outcome.modelled else {
            return self.stay_apart(implied, here, "what they do is not understood");
        };
        if let Some(told) = known.trusted.first() {
            return self.stay_apart(implied, told.site, &told.reason);
        }
        let choice = choices.iter().find(|choice| choice.is_of(site));
        let written = choice.map(Choice::written);
        let temporaries = known.model.spaces.iter().map(|_| None).collect();
        let found = order(
            chain,
            known,
            written,
            (temporaries, asked.on_devices),
            None,
            &mut self.trusted,
        );
        let order = match found {
            Ok(Some(order)) => Order {
                is_said: false,
                ..order
            },
            Ok(None) => return,
            Err(refused) => return self.stay_apart(implied, here, &refused.why),
        };
        let of_nests = order.sums.all.iter().map(|all| {
            let each = all.iter().map(|one| (one.variable, one.operation));
            each.collect::<Vec<_>>()
        });
        let of_nests: Vec<_> = of_nests.collect();
        if !implied.chosen.iter().all(|one| one.is_among(&of_nests)) {
            let told = "threads combine what one of them computes in a way that is not understood";
            return self.stay_apart(implied, here, told);
        }
        let groups = groups(&order.plan.code, implied.lines.len());
        if groups.iter().all(|one| one.len() < 2) {
            let told =
                "no order in which some of them are one is legal, parallel and moves less memory";
            return self.stay_apart(implied, here, told);
        }
        match check(module, order) {
            Ok(lowered) => match &lowered.alone {
                Some(why) => self.stay_apart(implied, here, why),
                None => {
                    for group in groups.iter().filter(|one| one.len() > 1) {
                        let lines = group.iter().map(|&nest| implied.lines[nest]);
                        self.fused.push(Declined {
                            site: here,
                            reason: format!("{} run as one", named(lines)),
                        });
                    }
                    self.lowered.push(lowered);
                }
            },
            Err(why) => self.stay_apart(implied, here, &why),
        }
    }

    /// Loops that nobody has written as a chain stay as they are.
    fn stay_apart(&mut self, implied: &Implied<'m>, site: Site<'m>, why: &str) {
        // What is not declared the programmer need not hear where nothing is.
        const UNDECLARED: &str = ", and not declared what its loops access";
        let plain = why.strip_prefix("the loop chain stays as it is: ");
        let why = plain.unwrap_or(why);
        let why = why.strip_suffix(UNDECLARED).unwrap_or(why);
        let lines = named(implied.lines.iter().copied());
        self.apart.push(Declined {
            // What is said of a call that marks something is said of the loops.
            site: match site {
                Site::Instruction(_) => site,
                _ => Site::Instruction(implied.site.instruction()),
            },
            reason: format!("{lines} are not run as one: {why}"),
        });
    }

    /// Tells the programmer. True where nothing of it is an error.
    fn tell(&self, module: &Module, asked: Asked) -> bool {
        let or_remark = asked.strict.then_some(Severity::Error);
        // What is not seen yet may be when the program is linked, and is told there.
        let or_warning = match asked.is_open {
            true => None,
            false => Some(or_remark.unwrap_or(Severity::Warning)),
        };
        for (list, severity, is_later) in [
            (&self.mistakes, Some(Severity::Error), false),
            (&self.declined, or_warning, asked.is_open),
            (&self.doubts, Some(Severity::Warning), false),
            (&self.trusted, or_remark, false),
        ] {
            for one in list {
                if let Some(severity) = severity {
                    report(module, one, severity);
                }
                let at = marker(one.site);
                if let Some(at) = at {
                    let until = match is_later {
                        true => "until the program is linked, ",
                        false => "",
                    };
                    let told = format!("{until}{}", one.reason);
                    at.instruction().remark("Chain", &told, true);
                }
            }
        }
        for one in &self.whole {
            if let Some(at) = marker(one.site) {
                at.instruction().remark("Chain", &one.reason, true);
            }
        }
        for (list, missed) in [(&self.fused, false), (&self.apart, true)] {
            for one in list {
                if let Site::Instruction(at) = one.site {
                    at.remark("Fused", &one.reason, missed);
                }
            }
        }
        let fused: Vec<_> = self.fused.iter().map(|one| one.site).collect();
        let is_fused = |site: Instruction<'m>| {
            let mut all = fused.iter();
            all.any(|one| matches!(one, Site::Instruction(at) if *at == site))
        };
        let others = self.lowered.iter();
        for one in others.filter(|one| !is_fused(one.site().instruction())) {
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
            if let Some(told) = one.told_of_small() {
                site.remark("Chain", &told, false);
            }
        }
        for one in &self.written {
            let site = one.instruction();
            site.remark("Chain", "the loop chain runs as scheduled", false);
        }
        let is_declined = !self.declined.is_empty() && !asked.is_open || !self.trusted.is_empty();
        self.mistakes.is_empty() && !(asked.strict && is_declined)
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
    costs: Option<Costs>,
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
            let said = &chain.said.schedule;
            let plan = plan_by_size(&known.model, said, &known.values, costs.as_ref())?;
            // A device has more to do than a block for each thread of the host's, and a team is there already.
            match plan.threads.is_some() && is_plain {
                true => in_parallel(&known.model)?,
                false => plan,
            }
        }
    };
    let mut plan = plan;
    combine_what_is_run(&mut plan.code, &known.model);
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
        is_said: true,
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

/// Loops combine what the nests in them do: where an order has parts of a nest alone, others may combine nothing.
fn combine_what_is_run(code: &mut Code, chain: &model::Chain) {
    match code {
        Code::Sequence(all) => all
            .iter_mut()
            .for_each(|one| combine_what_is_run(one, chain)),
        Code::For(one) => {
            let mut its = Vec::new();
            nests_of(&one.body, &mut its);
            one.combines.retain(|space| {
                let mut accesses = its.iter().flat_map(|&nest| &chain.nests[nest].accesses);
                accesses.any(|one| one.space == *space && matches!(one.mode, Mode::Reduce(_)))
            });
            combine_what_is_run(&mut one.body, chain);
        }
        Code::If(one) => {
            combine_what_is_run(&mut one.then, chain);
            if let Some(otherwise) = &mut one.otherwise {
                combine_what_is_run(otherwise, chain);
            }
        }
        Code::Run { .. } => {}
    }
}

/// The nests of an order that are in one loop with each other, by their numbers.
fn groups(code: &Code, nests: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = (0..nests).map(|one| vec![one]).collect();
    let all = match code {
        Code::Sequence(all) => &all[..],
        one => std::slice::from_ref(one),
    };
    for one in all {
        let mut its = Vec::new();
        nests_of(one, &mut its);
        let (mut joined, rest): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.iter().any(|nest| its.contains(nest)));
        groups = rest;
        if !joined.is_empty() {
            let mut one = joined.concat();
            one.sort_unstable();
            joined = vec![one];
        }
        groups.extend(joined);
    }
    groups.sort();
    groups
}

/// Loops by their lines.
fn named(lines: impl Iterator<Item = u32>) -> String {
    let lines: Vec<_> = lines.map(|one| one.to_string()).collect();
    let (last, others) = lines.split_last().expect("a chain has loops");
    if lines.iter().any(|one| one == "0") {
        return format!("{} parallel loops that follow each other", lines.len());
    }
    format!(
        "the parallel loops in lines {} and {last}",
        others.join(", ")
    )
}
