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
mod overlap;
mod rows;
mod settled;
mod single;
mod spaces;
mod splits;
mod text;
mod turns;

use std::collections::HashSet;

use okl_chains::model::{self, Affine, Bounds};
use okl_chains::pragma::{Index, Name, Number as Said, Position, Sharing};

use crate::diagnostic::{Declined, Site};
use crate::ir::{Asked, Asks, Chain};
use crate::llvm::{self, Call, Module, Opcode, OwnModule, Silence, Value};
use crate::numbers::Polynomial;
use crate::recognise::loop_chain;

use accesses::Found;
use front::Fronts;
use instructions::{Originals, bytes_of};
use numbers::{Base, Counts, Number, Place, Reader, varies};
use objects::{Fit, Settled, Spaces};
use single::{Single, between, run_once};
use spaces::{Arrays, Declared, declared, is_so, named};

pub use instructions::{Accessing, Inside};
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
    arrays: Arrays<'c>,
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
        let inside: HashSet<_> = between(single.begin, last).into_iter().collect();
        Self {
            module,
            arrays: arrays(copy, &inside),
            copy,
            originals,
            chain,
            single,
            inside,
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
        let mut named = named(&by_name, &found, &depths, &self.arrays);
        for (named, its) in named.iter_mut().zip(&by_name) {
            if let Some(named) = named {
                lower(named, its, &domains);
            }
        }
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
                    at_last: found[one.nest][at].at_last,
                    index: index.clone(),
                };
                if !nests[one.nest].contains(&access) {
                    nests[one.nest].push(access);
                }
            }
        }
        self.settle_open(&open, &found, &settled, &names, &mut nests)?;
        self.settle_others(&found, &mut settled, &open, &names, &mut spaces, &mut nests)?;
        settled::only_all_of_elements(&mut nests, &spaces, &found, &settled);
        self.check_rows(&spaces, &nests, &domains, &all);
        let may_overlap = self.overlaps(&spaces, &nests, &found, &domains);
        self.check_loads(&domains, &spaces, &found);
        let mut doubts = Vec::new();
        for name in &chain.said.locals {
            // Several that nobody has named may be called alike.
            let plain = |one: &(model::Space, Option<spaces::Named<'c>>)| {
                one.0.name.trim_end_matches('\'') == name.text
            };
            let is_clear = spaces.number(&name.text).is_some()
                || spaces.all.iter().filter(|one| plain(one)).count() == 1;
            let mut its = spaces.all.iter_mut().filter(|_| is_clear);
            match its.find(|one| one.0.name == name.text) {
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
                    let mut nests = chain.nests.iter();
                    let is_derived = nests.any(|one| one.said.accesses.is_empty());
                    let more = match is_derived {
                        true => {
                            ", as far as is known of those that say nothing of what they access: say it"
                        }
                        false => "",
                    };
                    let told = format!(
                        "{} is no data space of the loops of this chain{more}",
                        name.text
                    );
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
                may_overlap,
            },
            parameters,
            values,
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

    /// Whether there is room for one more question.
    fn may_ask(&self) -> bool {
        self.asked.len() < MOST_ASKED
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
            let is_last = |at: llvm::Instruction<'c>| {
                let original = self.originals.of(at);
                original.is_some_and(|one| nest.lasts.contains(&one))
            };
            match accesses::of(
                self.copy,
                self.single,
                iteration,
                &reader,
                combines,
                &is_last,
            ) {
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
        accesses::tell_rows(&mut all);
        self.declined.is_empty().then_some(all)
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

/// The arrays whose elements are counted in code.
fn arrays<'c>(copy: &'c Module, code: &HashSet<llvm::Instruction<'c>>) -> Arrays<'c> {
    let reader = Reader::of(copy, code, None);
    let mut arrays = Arrays::default();
    for one in code {
        let mut ty = one.source_element_type();
        while let Some((array, element)) = ty.and_then(|ty| Some((ty, ty.array_element()?))) {
            let [size, of] = [array, element].map(|ty| copy.store_size_of(ty) as i64);
            let one = (reader.place(**one).base, size, of);
            if !arrays.all.contains(&one) {
                arrays.all.push(one);
            }
            ty = Some(element);
        }
    }
    arrays
}

/// Has numbers that are the same for all iterations begin where those do that are declared.
fn lower<'c>(named: &mut spaces::Named<'c>, its: &[&Declared<'_>], domains: &[Domain<'c>]) {
    for one in its {
        for (from, index) in named.from.iter_mut().zip(one.place) {
            let first = index.iterator.map_or(Some(0), |level| {
                domains[one.nest].get(level)?.0.as_constant()
            });
            if let Some(first) = first.and_then(|first| first.checked_add(index.offset)) {
                *from = first.min(*from);
            }
        }
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

/// The numbers of an element as the model has them.
fn affine_index(place: &[Index]) -> Vec<Affine> {
    let of = |one: &Index| match one.iterator {
        Some(level) => Affine::iterator(level, one.offset),
        None => Affine::constant(one.offset),
    };
    place.iter().map(of).collect()
}
