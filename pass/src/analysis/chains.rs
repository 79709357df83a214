//! What is known of loop chains: what their pragmas declare, compared with what the code does.
//!
//! Guarantee: what an iteration accesses that another one writes is in the model, unless it is said to be trusted: that is
//! what the programmer has declared and the code does not contradict. Where more may be accessed than can be said, there is no
//! model.
//!
//! It is asked of the code as the compiler made it. What iterations do is found in a copy ([`single`]), in which each nest
//! runs one, as sums of products of its numbers and of what is the same for all ([`numbers`]); a name stands for the object
//! that its declared accesses fit to ([`spaces`]).

mod accesses;
mod front;
mod instructions;
mod numbers;
mod objects;
mod rows;
mod single;
mod spaces;
mod splits;
mod text;
mod turns;

use std::collections::HashSet;

use okl_chains::model::{self, Affine, Bounds, Mode};
use okl_chains::pragma::{Index, Name, Number as Said, Position, Sharing};

use crate::diagnostic::{Declined, Site};
use crate::ir::{Asked, Asks, Chain};
use crate::llvm::{self, Call, Module, Opcode, OwnModule, Silence, Value};
use crate::numbers::Polynomial;
use crate::recognise::loop_chain;

use accesses::Found;
use front::Fronts;
use instructions::{Originals, bytes_of};
use numbers::{Base, Counts, Number, Place, Reader, loads_of, loads_of_base, varies};
use objects::{Fit, Settled, Spaces};
use single::{Single, between, run_once};
use spaces::{Declared, Named, declared, is_so, mode, named};

pub use instructions::Accessing;
pub use text::print;

/// Questions that are asked in front of a chain, at most.
const MOST_ASKED: usize = 32;

/// What is known of a chain.
pub struct Modelled<'m> {
    /// What its order is found from.
    pub model: model::Chain,
    /// Its parameters: numbers of 64 bits, with signs, that pragmas name, in front of the chain or computed in it between its
    /// nests, from what none of them writes.
    pub parameters: Vec<Value<'m>>,
    /// Which of them the values are that its schedule names.
    pub values: Vec<usize>,
    /// Pairs of spaces of which it is not known that they have no memory in common, and of which one is written.
    pub must_not_overlap: Vec<(usize, usize)>,
    /// What iterations access spaces by, of each nest.
    pub accessing: Vec<Vec<Accessing<'m>>>,
    /// Bytes of an element of each space, if its parts lay side by side, where they are known.
    pub elements: Vec<Option<i64>>,
    /// What is not proved, and can be asked when the program runs.
    pub asked: Vec<Asked<'m>>,
    /// What is not proved, and has to be trusted.
    pub trusted: Vec<Declined<'m>>,
    /// What may be meant otherwise.
    pub doubts: Vec<Declined<'m>>,
    /// What has been found, in words.
    pub findings: Vec<String>,
}

/// What comes of looking at a chain.
#[derive(Default)]
pub struct Outcome<'m> {
    /// What is known, where all is.
    pub modelled: Option<Modelled<'m>>,
    /// What is declared and wrong.
    pub mistakes: Vec<Declined<'m>>,
    /// Why it stays as it is written.
    pub declined: Vec<Declined<'m>>,
}

/// What is known of the chains of a module, in their order.
pub fn model<'m>(module: &'m Module, chains: &[Chain<'m>]) -> Vec<Outcome<'m>> {
    if chains.is_empty() {
        return Vec::new();
    }
    let copy = OwnModule::copy_of(module);
    let originals = Originals::note(module, &copy);
    loop_chain::written::keep_marked(&copy);
    let found = loop_chain::recognise(&copy).chains;
    let _nobody_is_told = Silence::begin(&copy);
    let mut all = run_once(&copy, &found);
    if found.len() != chains.len() {
        all.clear();
    }
    all.resize_with(chains.len(), || None);
    let pairs = chains.iter().zip(&all);
    pairs
        .map(|(chain, single)| match single {
            Some(single) => Looked::at(module, &copy, &originals, chain, single).outcome(),
            None => Outcome {
                declined: vec![Declined {
                    site: Site::Instruction(chain.site.instruction()),
                    reason: "the loop chain stays as it is: what its loops do is not understood"
                        .to_string(),
                }],
                ..Outcome::default()
            },
        })
        .collect()
}

/// A chain that is looked at.
struct Looked<'a, 'c, 'm> {
    module: &'m Module,
    copy: &'c Module,
    originals: &'a Originals<'m>,
    chain: &'a Chain<'m>,
    single: &'a Single<'c>,
    inside: HashSet<llvm::Instruction<'c>>,
    mistakes: Vec<Declined<'m>>,
    declined: Vec<Declined<'m>>,
    trusted: Vec<Declined<'m>>,
    asked: Vec<Asked<'m>>,
    findings: Vec<String>,
    /// Variables that iterations read, and none writes.
    variables: Vec<Place<'c>>,
}

/// The first and the last number of each loop of a nest.
type Domain<'c> = Vec<(Number<'c>, Number<'c>)>;

impl<'a, 'c, 'm> Looked<'a, 'c, 'm> {
    fn at(
        module: &'m Module,
        copy: &'c Module,
        originals: &'a Originals<'m>,
        chain: &'a Chain<'m>,
        single: &'a Single<'c>,
    ) -> Self {
        let last = single.nests.last().expect("a chain has a nest").leave;
        Self {
            module,
            copy,
            originals,
            chain,
            single,
            inside: between(single.begin, last).into_iter().collect(),
            mistakes: Vec::new(),
            declined: Vec::new(),
            trusted: Vec::new(),
            asked: Vec::new(),
            findings: Vec::new(),
            variables: Vec::new(),
        }
    }

    fn outcome(mut self) -> Outcome<'m> {
        let modelled = self.modelled();
        let is_right = self.mistakes.is_empty() && self.declined.is_empty();
        Outcome {
            modelled: modelled.filter(|_| is_right),
            mistakes: self.mistakes,
            declined: self.declined,
        }
    }

    /// A place of a pragma; the call that marks it, where that is not known.
    fn site(&self, marker: Call<'m>, at: Position) -> Site<'m> {
        match at.line {
            0 => Site::Instruction(marker.instruction()),
            _ => Site::Pragma(marker, at),
        }
    }

    fn decline(&mut self, site: Site<'m>, why: &str) {
        let reason = format!("the loop chain stays as it is: {why}");
        self.declined.push(Declined { site, reason });
    }

    fn wrong(&mut self, site: Site<'m>, reason: String) {
        self.mistakes.push(Declined { site, reason });
    }

    fn trust(&mut self, site: Site<'m>, reason: String) {
        self.trusted.push(Declined { site, reason });
    }

    fn modelled(&mut self) -> Option<Modelled<'m>> {
        let domains = self.domains()?;
        let found = self.accesses()?;
        let depths: Vec<usize> = domains.iter().map(Vec::len).collect();
        let chain = self.chain;
        let all = declared(chain.nests.iter().map(|one| &one.said));
        let mut names: Vec<&Name> = Vec::new();
        let mut by_name = Vec::new();
        for one in &all {
            let name = &one.said.space;
            if names.iter().any(|known| known.text == name.text) {
                continue;
            }
            let its: Vec<_> = all
                .iter()
                .filter(|other| other.said.space.text == name.text)
                .collect();
            if let Some(other) = its
                .iter()
                .find(|other| other.place.len() != one.place.len())
            {
                let site = self.site(chain.nests[other.nest].site, other.said.at);
                let told = format!(
                    "{} has {} numbers here and {} elsewhere",
                    name.text,
                    other.place.len(),
                    one.place.len()
                );
                self.wrong(site, told);
            }
            names.push(name);
            by_name.push(its);
        }
        if !self.mistakes.is_empty() {
            return None;
        }
        let named = named(&by_name, &found, &depths);
        let names: Vec<_> = names.into_iter().zip(named).collect();
        let rank = |name: &Name| {
            let its = all.iter().find(|one| one.said.space.text == name.text);
            its.map_or(0, |one| one.place.len())
        };
        let mut spaces = Spaces::new(&names, rank);
        let mut nests: Vec<Vec<model::Access>> = chain.nests.iter().map(|_| Vec::new()).collect();
        let mut settled: Vec<Vec<Settled>> = found
            .iter()
            .map(|one| vec![Vec::new(); one.len()])
            .collect();
        let mut open: Vec<&Declared<'_>> = Vec::new();
        for one in &all {
            let number = names
                .iter()
                .position(|(name, _)| name.text == one.said.space.text)?;
            let within = |access: &Found<'c>| {
                let named = names[number]
                    .1
                    .as_ref()
                    .filter(|_| is_so(access, one.said))?;
                named.at(one.place, depths[one.nest], access)
            };
            let its = found[one.nest].iter().enumerate();
            let its: Vec<_> = its
                .filter_map(|(at, access)| Some((at, within(access)?)))
                .collect();
            let text = self.text(one.nest, &one.said.space.text, one.place);
            if its.is_empty() {
                open.push(one);
                continue;
            }
            let does = if one.said.is_write { "writes" } else { "reads" };
            self.findings
                .push(format!("nest {}: {does} {text}: proved", one.nest));
            let index = Some(affine_index(one.place));
            for (at, within) in its {
                settled[one.nest][at].push(Fit {
                    space: number,
                    index: index.clone(),
                    within: Some(within),
                });
                let access = model::Access {
                    space: number,
                    mode: found[one.nest][at].mode,
                    must: found[one.nest][at].must,
                    index: index.clone(),
                };
                if !nests[one.nest].contains(&access) {
                    nests[one.nest].push(access);
                }
            }
        }
        self.settle_open(&open, &found, &settled, &names, &mut nests)?;
        self.settle_others(&found, &mut settled, &open, &mut spaces, &mut nests)?;
        only_all_of_elements(&mut nests, &spaces, &found, &settled);
        self.check_rows(&spaces, &nests, &domains);
        let must_not_overlap = self.overlaps(&spaces, &nests, &found, &domains);
        self.check_loads(&domains, &spaces, &found);
        let mut doubts = Vec::new();
        for name in &chain.said.locals {
            match spaces.all[..spaces.names]
                .iter_mut()
                .find(|one| one.0.name == name.text)
            {
                Some((space, named)) => {
                    space.is_local = true;
                    let line = named
                        .as_ref()
                        .and_then(|named| self.read_behind(&named.base));
                    doubts.extend(line.map(|line| Declined {
                        site: self.site(chain.site, name.at),
                        reason: format!("{} is said to be local to this loop chain, and may be read behind it{line}", name.text),
                    }));
                }
                None => {
                    let site = self.site(chain.site, name.at);
                    let told = format!("{} is no data space of the loops of this chain", name.text);
                    self.wrong(site, told);
                }
            }
        }
        if !self.mistakes.is_empty() || !self.declined.is_empty() {
            return None;
        }
        let (parameters, values, bounds) = self.parameters(&domains)?;
        let elements = spaces.all.iter().map(|one| bytes_of(one.1.as_ref()?));
        let elements: Vec<_> = elements.collect();
        let accessing = self.accessing(&spaces, &found, &settled);
        let nests = nests.into_iter().zip(bounds).zip(&self.chain.nests);
        Some(Modelled {
            model: model::Chain {
                parameters: (0..parameters.len()).map(|at| format!("p{at}")).collect(),
                known: Vec::new(),
                spaces: spaces.all.into_iter().map(|one| one.0).collect(),
                nests: nests
                    .map(|((accesses, bounds), nest)| model::Nest {
                        line: nest.said.at.line,
                        bounds,
                        accesses,
                    })
                    .collect(),
            },
            parameters,
            values,
            must_not_overlap,
            accessing,
            elements,
            doubts,
            asked: std::mem::take(&mut self.asked),
            trusted: std::mem::take(&mut self.trusted),
            findings: std::mem::take(&mut self.findings),
        })
    }

    /// What the program accesses spaces by.
    fn accessing(
        &self,
        spaces: &Spaces<'c>,
        found: &[Vec<Found<'c>>],
        settled: &[Vec<Settled>],
    ) -> Vec<Vec<Accessing<'m>>> {
        let nests = found.iter().zip(settled).zip(&self.single.nests);
        let of_nest = |((found, settled), nest): ((&Vec<Found<'c>>, &Vec<Settled>), _)| {
            let mut all = Vec::new();
            for (access, settled) in found.iter().zip(settled) {
                for fit in settled {
                    let named = spaces.all[fit.space].1.as_ref();
                    all.extend(self.originals.accessing(access, fit, named, nest));
                }
            }
            all
        };
        nests.map(of_nest).collect()
    }

    /// A declared element as it is written.
    fn text(&self, nest: usize, name: &str, place: &[Index]) -> String {
        let iterators = &self.chain.nests[nest].said.iterators;
        let of = |one: &Index| match one.iterator {
            None => one.offset.to_string(),
            Some(level) => {
                let iterator = iterators
                    .get(level)
                    .map_or_else(|| format!("i{level}"), |name| name.text.clone());
                match one.offset {
                    0 => iterator,
                    offset => format!("{iterator}{offset:+}"),
                }
            }
        };
        let numbers: Vec<_> = place.iter().map(of).collect();
        format!("{name}{{({})}}", numbers.join(","))
    }

    /// Where an object is read behind the chain.
    fn read_behind(&self, base: &Base<'c>) -> Option<String> {
        let last = self.single.nests.last()?.leave;
        let reader = Reader::of(self.copy, &self.inside, None);
        let behind = between(last, last).into_iter();
        let reads = |at: &llvm::Instruction<'c>| {
            at.opcode() == Opcode::LLVMLoad
                && !self.inside.contains(at)
                && reader.place(at.operand(0)).base == *base
        };
        let read = { behind }.find(reads)?;
        let line = read
            .source_location()
            .map(|(_, line)| format!(" (line {line})"));
        Some(line.unwrap_or_default())
    }

    /// The domains that are declared, which are those of the loops, or trusted to be.
    fn domains(&mut self) -> Option<Vec<Domain<'c>>> {
        let mut all = Vec::new();
        for at in 0..self.chain.nests.len() {
            all.push(self.domain(at)?);
        }
        Some(all)
    }

    fn domain(&mut self, at: usize) -> Option<Domain<'c>> {
        let (nest, iteration) = (&self.chain.nests[at], &self.single.nests[at]);
        let marker = nest.site;
        let reader = Reader::of(self.copy, &self.inside, None);
        let said = |one: Said| match one {
            Said::Constant(number) => Some(Polynomial::constant(number)),
            Said::Value(number) => reader.number(*iteration.values.get(number)?, true),
        };
        let domain = nest
            .said
            .domain
            .iter()
            .map(|one| Some((said(one.0)?, said(one.1)?)));
        let domain: Option<Domain<'c>> = domain.collect();
        let Some(domain) =
            domain.filter(|all| !all.iter().any(|one| varies(&one.0) || varies(&one.1)))
        else {
            let site = Site::Instruction(marker.instruction());
            self.decline(site, "its domain is not known in front of the chain");
            return None;
        };
        let counts = counts(nest, &domain);
        let mut told = Vec::new();
        for (level, (extent, values)) in nest.loops.iter().zip(&iteration.loops).enumerate() {
            let counting = extent.counter.as_ref().map(|one| &one.counting)?;
            let reader = Reader::of(self.copy, &self.inside, Some((iteration, &counts)));
            let first = reader.number(values[1], extent.signed);
            let end = reader.number(values[2], counting.signed);
            let end = match counting.is_last {
                true => end,
                false => end.and_then(|one| one.minus(&Polynomial::constant(1))),
            };
            let wraps = reader.wraps() && !counting.signed;
            let behind = i64::from(!counting.is_last);
            let at = nest
                .said
                .domain_at
                .get(level)
                .copied()
                .unwrap_or(nest.said.at);
            told.push((level, at, first.zip(end), wraps, behind));
        }
        for (level, place, real, wraps, behind) in told {
            let site = self.site(marker, place);
            let (first, last) = &domain[level];
            let Some((real_first, real_last)) = real else {
                let told =
                    "it is trusted that this is how far the loop goes: that is not understood"
                        .to_string();
                self.trust(site, told);
                continue;
            };
            let difference =
                |a: &Number<'c>, b: &Number<'c>| a.minus(b).map(|one| one.as_constant());
            let both = [difference(first, &real_first), difference(last, &real_last)];
            let says = format!("{first}:{last}");
            let goes = format!("{real_first}:{real_last}");
            if both == [Some(Some(0)), Some(Some(0))] && !wraps {
                self.findings
                    .push(format!("nest {at}: domain {says}: proved"));
                continue;
            }
            let is_wrong = both
                .iter()
                .any(|one| matches!(one, Some(Some(number)) if *number != 0))
                || varies(&real_first)
                || varies(&real_last);
            match is_wrong {
                true => {
                    let told = format!(
                        "the domain of this loop is declared as {says}, and it goes through {goes}"
                    );
                    self.wrong(site, told);
                }
                false => {
                    let told = format!(
                        "the domain of this loop is declared as {says}, and it goes through {goes}"
                    );
                    let mut pairs = vec![(first, &real_first), (last, &real_last)];
                    pairs.retain(|(said, real)| said != real);
                    // Where it loops without a sign, no number of it has one that is taken for such.
                    let end = real_last.plus(&Polynomial::constant(behind));
                    let naturals = [Some(&real_first), end.as_ref()];
                    let naturals = naturals.into_iter().filter(|_| wraps);
                    let fronts = self.fronts();
                    let same = |(said, real): &(&Number<'c>, &Number<'c>)| {
                        Some(Asks::Same(fronts.number(said)?, fronts.number(real)?))
                    };
                    let natural =
                        |number: Option<&Number<'c>>| Some(Asks::Natural(fronts.number(number?)?));
                    let asks = pairs.iter().map(same).chain(naturals.map(natural));
                    match asks.collect::<Option<Vec<_>>>() {
                        Some(all) => {
                            self.findings.push(format!(
                                "nest {at}: domain {says}, and it goes through {goes}: asked"
                            ));
                            for asks in all {
                                self.ask(asks, (marker, place), &told);
                            }
                        }
                        None => {
                            let told = format!("{told}: whether that is the same is not known");
                            self.decline(site, &told);
                        }
                    }
                }
            }
        }
        Some(domain)
    }

    fn fronts(&self) -> Fronts<'a, 'c, 'm> {
        Fronts {
            module: self.module,
            chain: self.chain,
            single: self.single,
        }
    }

    /// Something is to hold when the program runs.
    fn ask(&mut self, asks: Asks<'m>, site: (Call<'m>, Position), otherwise: &str) {
        self.asked.push(Asked {
            asks,
            site,
            otherwise: otherwise.to_string(),
        });
    }

    /// What the iterations of each nest access.
    fn accesses(&mut self) -> Option<Vec<Vec<Found<'c>>>> {
        let mut all = Vec::new();
        let reader = Reader::of(self.copy, &self.inside, None);
        for (nest, iteration) in self.chain.nests.iter().zip(&self.single.nests) {
            let domain = nest.said.domain.iter().map(|one| match one.0 {
                Said::Constant(number) => Some(number),
                Said::Value(number) => {
                    let value = iteration.values.get(number)?;
                    reader.number(*value, true)?.as_constant()
                }
            });
            let firsts: Vec<_> = domain.collect();
            let counts: Vec<_> = nest
                .loops
                .iter()
                .zip(firsts)
                .map(|(extent, first)| Counts {
                    signed: extent.signed,
                    is_natural: first.is_some_and(|first| first >= 0),
                })
                .collect();
            let reader = Reader::of(self.copy, &self.inside, Some((iteration, &counts)));
            // Whether sums may be rounded otherwise the programmer says.
            let openmp = nest.said.openmp.as_ref();
            let combines = openmp.is_some_and(|said| {
                let mut clauses = said.clauses.iter();
                clauses.any(|one| matches!(one.sharing, Sharing::Reduction(_)))
            });
            match accesses::of(self.copy, self.single, iteration, &reader, combines) {
                Ok(found) => all.push(found),
                Err((at, why)) => {
                    let place = at
                        .source_location()
                        .map(|(_, line)| format!(" (line {line})"));
                    let told = format!(
                        "the loop chain stays as it is: an iteration of this loop {why}{}",
                        place.unwrap_or_default()
                    );
                    self.declined.push(Declined {
                        site: Site::Instruction(nest.site.instruction()),
                        reason: told,
                    });
                }
            }
        }
        self.declined.is_empty().then_some(all)
    }

    /// What is declared and has not been found: it may be what is not understood, or it is wrong.
    fn settle_open(
        &mut self,
        open: &[&Declared<'_>],
        found: &[Vec<Found<'c>>],
        settled: &[Vec<Settled>],
        names: &[(&Name, Option<Named<'c>>)],
        nests: &mut [Vec<model::Access>],
    ) -> Option<()> {
        for one in open {
            let number = names
                .iter()
                .position(|(name, _)| name.text == one.said.space.text)?;
            let named = names[number].1.as_ref();
            let may_be = |access: &Found<'c>| {
                let is_of_it = match &access.place.base {
                    Base::Unknown => true,
                    base => named.is_none_or(|named| named.base == *base),
                };
                let is_known = named.is_some_and(|named| named.index(access).is_some());
                is_so(access, one.said) && is_of_it && !is_known
            };
            let mut others = found[one.nest].iter().zip(&settled[one.nest]);
            let is_open = others.any(|(access, settled)| settled.is_empty() && may_be(access));
            let text = self.text(one.nest, &one.said.space.text, one.place);
            let does = if one.said.is_write { "writes" } else { "reads" };
            let site = self.site(self.chain.nests[one.nest].site, one.said.at);
            if is_open {
                self.findings
                    .push(format!("nest {}: {does} {text}: trusted", one.nest));
                self.trust(site, format!("it is trusted that an iteration {does} {text}: where that is is not understood"));
                nests[one.nest].push(model::Access {
                    space: number,
                    mode: mode(one.said),
                    must: false,
                    index: Some(affine_index(one.place)),
                });
                continue;
            }
            let its = found[one.nest]
                .iter()
                .filter(|access| is_so(access, one.said));
            let its = its.filter_map(|access| Some(named?.index(access)?.0));
            let its: Vec<_> = its
                .map(|index| self.text(one.nest, &one.said.space.text, &index))
                .collect();
            let does_what = match its.is_empty() {
                true => "nothing of it".to_string(),
                false => its.join(", "),
            };
            let told = format!(
                "it is declared that an iteration {does} {text}, and it {does} {does_what}"
            );
            self.wrong(site, told);
        }
        Some(())
    }

    /// What has been found and is not declared.
    fn settle_others(
        &mut self,
        found: &[Vec<Found<'c>>],
        settled: &mut [Vec<Settled>],
        open: &[&Declared<'_>],
        spaces: &mut Spaces<'c>,
        nests: &mut [Vec<model::Access>],
    ) -> Option<()> {
        let written: Vec<Base<'c>> = found
            .iter()
            .flatten()
            .filter(|one| one.mode != Mode::Read)
            .map(|one| one.place.base.clone())
            .collect();
        for (nest, all) in found.iter().enumerate() {
            let said = &self.chain.nests[nest].said;
            let is_declared = !said.accesses.is_empty();
            let marker = self.chain.nests[nest].site;
            for (at, access) in all.iter().enumerate() {
                if !settled[nest][at].is_empty() {
                    continue;
                }
                let site = self.site(marker, said.at);
                let line = access
                    .at
                    .source_location()
                    .map(|(_, line)| format!(" (line {line})"));
                let line = line.unwrap_or_default();
                let does = match access.mode {
                    Mode::Read => "reads",
                    Mode::Write => "writes",
                    Mode::Reduce(_) => "combines something with",
                };
                let may_be = |one: &&&Declared<'_>| {
                    let named = spaces.of_name(&one.said.space.text);
                    one.nest == nest
                        && is_so(access, one.said)
                        && (access.place.base == Base::Unknown
                            || named.is_none_or(|named| named.base == access.place.base))
                        && named.is_none_or(|named| named.index(access).is_none())
                };
                for one in open.iter().filter(may_be) {
                    settled[nest][at].push(Fit {
                        space: spaces.number(&one.said.space.text)?,
                        index: None,
                        within: None,
                    });
                }
                if !settled[nest][at].is_empty() {
                    continue;
                }
                if access.place.base == Base::Unknown {
                    let told = format!(
                        "an iteration of this loop {does} something{line} of which it is not known where it is"
                    );
                    self.decline(site, &told);
                    continue;
                }
                // What is at one place for all iterations is a variable, and need not be declared.
                let is_variable = access.place.offset.as_ref().is_some_and(|one| !varies(one));
                let is_read_only = !written.contains(&access.place.base);
                if is_variable && is_read_only && access.mode == Mode::Read {
                    self.variables.push(access.place.clone());
                    continue;
                }
                match spaces.place(access) {
                    Some((space, index, within)) => {
                        let name = &spaces.all[space].0.name;
                        let text = self.text(nest, name, &index);
                        if is_declared
                            && spaces.is_named(space)
                            && !(access.mode == Mode::Read && is_read_only)
                        {
                            let told = format!(
                                "an iteration of this loop {does} {text}{line}, which is not declared"
                            );
                            self.wrong(site, told);
                            continue;
                        }
                        self.findings
                            .push(format!("nest {nest}: {does} {text}: found"));
                        let index = Some(affine_index(&index));
                        settled[nest][at].push(Fit {
                            space,
                            index: index.clone(),
                            within: Some(within),
                        });
                        nests[nest].push(model::Access {
                            space,
                            mode: access.mode,
                            must: access.must,
                            index,
                        });
                    }
                    None => {
                        let base = &access.place.base;
                        let is_harmless = access.mode == Mode::Read && is_read_only;
                        let is_part = || is_part(access, &all[..], &settled[nest]);
                        if is_declared && !is_harmless && access.split.is_some() && is_part() {
                            let told = format!(
                                "an iteration of this loop {does} a part of an element in {base}{line}, which is not told from others"
                            );
                            self.decline(site, &told);
                            continue;
                        }
                        if is_declared && !is_harmless && access.split.is_none() {
                            let told = format!(
                                "an iteration of this loop {does} something in {base}{line}, and where in it is not understood"
                            );
                            self.decline(site, &told);
                            continue;
                        }
                        if is_declared && !is_variable && !is_harmless {
                            let told = format!(
                                "an iteration of this loop {does} in {base}{line} what is not declared"
                            );
                            match self.is_of_function(base) {
                                true => self.decline(site, &told),
                                false => self.wrong(site, told),
                            }
                            continue;
                        }
                        let (space, place) = spaces.add(access, found);
                        let (index, within) = place.unzip();
                        let name = &spaces.all[space].0.name;
                        let text = match &index {
                            Some(index) => self.text(nest, name, index),
                            None => format!("anywhere in {name}"),
                        };
                        self.findings
                            .push(format!("nest {nest}: {does} {text}: found"));
                        let index = index.map(|one| affine_index(&one));
                        settled[nest][at].push(Fit {
                            space,
                            index: index.clone(),
                            within,
                        });
                        nests[nest].push(model::Access {
                            space,
                            mode: access.mode,
                            must: access.must && index.is_some(),
                            index,
                        });
                    }
                }
            }
        }
        // Spaces of one object that are not numbered alike are not told apart: all of it is one then.
        spaces.join(nests, settled);
        Some(())
    }

    /// Whether an object is a variable of the function: it may be an iteration's own, where the compiler has not said so.
    fn is_of_function(&self, base: &Base<'c>) -> bool {
        matches!(base, Base::Value(value) if value.as_op(Opcode::LLVMAlloca).is_some())
    }

    /// The pairs of spaces that may have memory in common.
    fn overlaps(
        &mut self,
        spaces: &Spaces<'c>,
        nests: &[Vec<model::Access>],
        found: &[Vec<Found<'c>>],
        domains: &[Domain<'c>],
    ) -> Vec<(usize, usize)> {
        let is_written = |space: usize| {
            let mut all = nests.iter().flatten();
            all.any(|one| one.space == space && one.mode != Mode::Read)
        };
        let fronts = self.fronts();
        let mut all = Vec::new();
        let mut pairs = Vec::new();
        let mut known = Vec::new();
        for one in 0..spaces.all.len() {
            for other in one + 1..spaces.all.len() {
                if !is_written(one) && !is_written(other) {
                    continue;
                }
                let bases = [one, other].map(|at| spaces.base(at));
                let [Some(a), Some(b)] = bases else {
                    pairs.push((one, other));
                    all.push((one, other));
                    continue;
                };
                if a == b || self.are_apart(a, b) {
                    continue;
                }
                all.push((one, other));
                if known.contains(&(a, b)) {
                    continue;
                }
                let spans = [a, b].map(|base| fronts.span(base, found, domains));
                let [Some(first), Some(second)] = spans else {
                    pairs.push((one, other));
                    continue;
                };
                if self.asked.len() >= MOST_ASKED {
                    pairs.push((one, other));
                    continue;
                }
                known.push((a, b));
                let [name, other] = [one, other].map(|at| &spaces.all[at].0.name);
                let told = format!("{name} and {other} have memory in common");
                self.findings
                    .push(format!("{name} and {other} are apart: asked"));
                let site = (self.chain.site, self.chain.said.at);
                self.ask(Asks::Apart(first, second), site, &told);
            }
        }
        let site = Site::Instruction(self.chain.site.instruction());
        // Where nothing is declared, nobody has said that what is found has different names.
        let is_derived = |space: usize| {
            let said = self.chain.nests.iter().zip(nests);
            let mut derived = said.filter(|(nest, _)| nest.said.accesses.is_empty());
            !spaces.is_named(space)
                && derived.any(|(_, all)| all.iter().any(|one| one.space == space))
        };
        let name = |pair: &(usize, usize)| {
            let [a, b] = [pair.0, pair.1].map(|at| &spaces.all[at].0.name);
            format!("{a} and {b}")
        };
        if let Some(pair) = pairs
            .iter()
            .find(|pair| is_derived(pair.0) || is_derived(pair.1))
        {
            let told = format!(
                "it is not known whether {} have memory in common, and not declared what its loops access",
                name(pair)
            );
            self.decline(site, &told);
            return all;
        }
        if !pairs.is_empty() {
            let names: Vec<_> = pairs.iter().map(name).collect();
            self.trust(
                site,
                format!(
                    "it is trusted that these have no memory in common: {}",
                    names.join(", ")
                ),
            );
        }
        all
    }

    /// Whether two objects are different ones for sure.
    fn are_apart(&self, a: &Base<'c>, b: &Base<'c>) -> bool {
        if !matches!(a, Base::Value(_)) && !matches!(b, Base::Value(_)) {
            return false;
        }
        let is_confined = |one: &Base<'c>| match one {
            Base::Value(value) => self.single.kept.contains(&(*value, true)),
            _ => false,
        };
        let is_restrict = |one: &Base<'c>| match one {
            Base::Value(value) => value
                .as_parameter()
                .is_some_and(|(function, at)| function.has_parameter_attribute(at, "noalias")),
            _ => false,
        };
        let is_object = |one: &Base<'c>| match one {
            Base::Value(value) => {
                value.as_op(Opcode::LLVMAlloca).is_some()
                    || value
                        .as_global()
                        .is_some_and(|one| !one.is_interposable() || one.is_declaration())
            }
            _ => false,
        };
        let is_parameter =
            |one: &Base<'c>| matches!(one, Base::Value(value) if value.as_parameter().is_some());
        let is_variable = |one: &Base<'c>| matches!(one, Base::Value(value) if value.as_op(Opcode::LLVMAlloca).is_some());
        // Other pointers may come from a parameter that is restrict.
        let one_way = |a: &Base<'c>, b: &Base<'c>| {
            is_confined(a)
                || is_restrict(a) && (is_parameter(b) || is_object(b))
                || is_variable(a) && is_parameter(b)
        };
        one_way(a, b) || one_way(b, a) || is_object(a) && is_object(b)
    }

    /// That what bounds, and the places of objects, are loaded from is not written.
    fn check_loads(
        &mut self,
        domains: &[Domain<'c>],
        spaces: &Spaces<'c>,
        found: &[Vec<Found<'c>>],
    ) {
        let mut loads: Vec<Place<'c>> = std::mem::take(&mut self.variables);
        for (first, last) in domains.iter().flatten() {
            loads_of(first, &mut loads);
            loads_of(last, &mut loads);
        }
        for named in spaces.all.iter().filter_map(|one| one.1.as_ref()) {
            loads_of(&named.origin, &mut loads);
            named
                .strides
                .iter()
                .for_each(|one| loads_of(one, &mut loads));
            for part in &named.parts {
                loads_of(&part.stride, &mut loads);
                loads_of(&part.count, &mut loads);
            }
            loads_of_base(&named.base, &mut loads);
        }
        for access in found.iter().flatten() {
            loads_of_base(&access.place.base, &mut loads);
        }
        let written: Vec<_> = found
            .iter()
            .flatten()
            .filter(|one| one.mode != Mode::Read)
            .collect();
        let site = Site::Instruction(self.chain.site.instruction());
        let fronts = self.fronts();
        let mut known: Vec<(&Place<'c>, &Base<'c>)> = Vec::new();
        let mut is_trusted = false;
        for load in &loads {
            for write in &written {
                if write.place.base == load.base {
                    // No pointer or number has more than eight bytes.
                    let distance = write.place.offset.as_ref().zip(load.offset.as_ref());
                    let distance =
                        distance.and_then(|(one, other)| one.minus(other)?.as_constant());
                    if write.bytes > 0
                        && distance.is_some_and(|one| one >= 8 || one + write.bytes <= 0)
                    {
                        continue;
                    }
                    let told = format!(
                        "what its loops write in {} decides where they go or what they access",
                        load.base
                    );
                    self.decline(site, &told);
                    return;
                }
                let base = &write.place.base;
                if self.are_apart(base, &load.base) || known.contains(&(load, base)) {
                    continue;
                }
                let spans = [fronts.span(base, found, domains), fronts.loaded(load)];
                let [Some(written), Some(loaded)] = spans else {
                    is_trusted = true;
                    continue;
                };
                if self.asked.len() >= MOST_ASKED {
                    is_trusted = true;
                    continue;
                }
                known.push((load, base));
                let told = format!(
                    "what the loops write in {base} says where they go or what they access"
                );
                let site = (self.chain.site, self.chain.said.at);
                self.ask(Asks::Apart(written, loaded), site, &told);
            }
        }
        if is_trusted
            && self
                .chain
                .nests
                .iter()
                .any(|nest| nest.said.accesses.is_empty())
        {
            let told = "it is not known whether its loops write the pointers and numbers that say what they access, and not \
                        declared what they access";
            self.decline(site, told);
        } else if is_trusted {
            let told = "it is trusted that the loops do not write the pointers and numbers that say what they access";
            self.trust(site, told.to_string());
        }
    }

    /// The parameters of the model, those that the schedule names, and the bounds of the nests by them.
    #[allow(clippy::type_complexity)]
    fn parameters(
        &mut self,
        domains: &[Domain<'c>],
    ) -> Option<(Vec<Value<'m>>, Vec<usize>, Vec<Vec<Bounds>>)> {
        let reader = Reader::of(self.copy, &self.inside, None);
        let mut known: Vec<(Option<Number<'c>>, Value<'m>)> = Vec::new();
        let mut values = Vec::new();
        for (value, original) in self.single.values.iter().zip(&self.chain.values) {
            let number = reader.number(*value, true);
            values.push(known.len());
            known.push((number, *original));
        }
        let mut all = Vec::new();
        for (nest, domain) in self.chain.nests.iter().zip(domains) {
            let mut bounds = Vec::new();
            for (said, numbers) in nest.said.domain.iter().zip(domain) {
                let mut affine = |said: Said, number: &Number<'c>| {
                    if let Some(constant) = number.as_constant() {
                        return Some(Affine::constant(constant));
                    }
                    let Said::Value(which) = said else {
                        return None;
                    };
                    let distance = |one: &Number<'c>| number.minus(one)?.as_constant();
                    let same = known
                        .iter()
                        .enumerate()
                        .find_map(|(at, (one, _))| Some((at, distance(one.as_ref()?)?)));
                    let (at, distance) = same.unwrap_or_else(|| {
                        known.push((Some(number.clone()), nest.values[which]));
                        (known.len() - 1, 0)
                    });
                    Some(Affine {
                        constant: distance,
                        ..Affine::parameter(at)
                    })
                };
                bounds.push(Bounds {
                    first: affine(said.0, &numbers.0)?,
                    last: affine(said.1, &numbers.1)?,
                });
            }
            all.push(bounds);
        }
        Some((known.into_iter().map(|one| one.1).collect(), values, all))
    }
}

/// What is known of the numbers of a nest's loops.
fn counts(nest: &crate::ir::Nest<'_>, domain: &Domain<'_>) -> Vec<Counts> {
    let loops = nest.loops.iter().zip(domain);
    loops
        .map(|(extent, (first, _))| Counts {
            signed: extent.signed,
            is_natural: first.as_constant().is_some_and(|first| first >= 0),
        })
        .collect()
}

/// Whether an access is beside one that is declared, in the same element as it may be: a member of a struct.
fn is_part(access: &Found<'_>, all: &[Found<'_>], settled: &[Settled]) -> bool {
    let Some(split) = &access.split else {
        return false;
    };
    if !split.parts.is_empty() {
        return true;
    }
    let strides = split.factors.iter().filter_map(|one| one.as_constant());
    let least = strides.map(i64::abs).filter(|stride| *stride != 0).min();
    all.iter().zip(settled).any(|(other, settled)| {
        let Some(beside) = &other.split else {
            return false;
        };
        let distance = split.rest.minus(&beside.rest);
        let distance = distance.and_then(|one| one.as_constant());
        let is_near = distance.is_some_and(|one| least.is_some_and(|least| one.abs() < least));
        !settled.is_empty()
            && other.place.base == access.place.base
            && split.factors == beside.factors
            && (is_near || !beside.parts.is_empty())
    })
}

/// Of what every iteration writes, leaves what is all of an element.
fn only_all_of_elements<'c>(
    nests: &mut [Vec<model::Access>],
    spaces: &Spaces<'c>,
    found: &[Vec<Found<'c>>],
    settled: &[Vec<Settled>],
) {
    for (accesses, (found, settled)) in nests.iter_mut().zip(found.iter().zip(settled)) {
        for access in accesses.iter_mut().filter(|one| one.must) {
            let Some(named) = &spaces.all[access.space].1 else {
                continue;
            };
            let its = |fit: &Fit| fit.space == access.space && fit.index == access.index;
            let all = found.iter().zip(settled).filter(|(one, _)| {
                let is_solid = one.split.as_ref().is_some_and(|split| split.is_solid);
                one.must && is_solid && one.mode == access.mode
            });
            let mut runs: Vec<(i64, i64)> = all
                .flat_map(|(one, settled)| settled.iter().map(move |fit| (one, fit)))
                .filter(|(_, fit)| its(fit))
                .filter_map(|(one, fit)| {
                    let within = fit.within.as_ref().filter(|within| within.is_all)?;
                    Some((within.at, within.at + one.split.as_ref()?.bytes))
                })
                .collect();
            runs.sort_unstable();
            let mut end = 0;
            for (from, to) in runs {
                if from <= end {
                    end = end.max(to);
                }
            }
            access.must = end >= named.bytes;
        }
    }
}

/// The numbers of an element as the model has them.
fn affine_index(place: &[Index]) -> Vec<Affine> {
    let of = |one: &Index| match one.iterator {
        Some(level) => Affine::iterator(level, one.offset),
        None => Affine::constant(one.offset),
    };
    place.iter().map(of).collect()
}
