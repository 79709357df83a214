//! What is declared against what has been found.
//!
//! Guarantee: what an iteration accesses that another one writes is in the model as it has been found. Only where nobody
//! understands at which place an access is, and something is declared that has not been found, is it taken for that.

use okl_chains::model::{self, Mode};
use okl_chains::pragma::Name;

use super::accesses::Found;
use super::numbers::{Base, Number, varies};
use super::objects::{Fit, Settled, Spaces};
use super::spaces::{Declared, Named, is_so, mode};
use super::{Looked, affine_index};
use crate::llvm::Opcode;

impl<'c> Looked<'_, 'c, '_> {
    /// What is declared and has not been found: it may be what is not understood, or it is wrong.
    pub(super) fn settle_open(
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
            let may_be = |access: &Found<'c>| is_of(access, one, number, names);
            let others = || {
                let all = found[one.nest].iter().zip(&settled[one.nest]);
                let all = all.filter(|(access, settled)| settled.is_empty() && may_be(access));
                all.map(|(access, _)| access)
            };
            let is_constant = self.single.reads_constants && named.is_none() && !one.said.is_write;
            let is_open = is_constant || others().any(|access| access.split.is_none());
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
                    at_last: false,
                    index: Some(affine_index(one.place)),
                });
                continue;
            }
            if let Some(access) = others().next() {
                let told = format!(
                    "it is declared that an iteration {does} {text}, and what it {does} in {}{} is not told from what others \
                     access",
                    access.place.base,
                    line_of(access)
                );
                self.decline(site, &told);
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
    pub(super) fn settle_others(
        &mut self,
        found: &[Vec<Found<'c>>],
        settled: &mut [Vec<Settled>],
        open: &[&Declared<'_>],
        names: &[(&Name, Option<Named<'c>>)],
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
                let line = line_of(access);
                let does = match access.mode {
                    Mode::Read => "reads",
                    Mode::Write => "writes",
                    Mode::Reduce(_) => "combines something with",
                };
                let may_be = |one: &&&Declared<'_>| {
                    let number = spaces.number(&one.said.space.text);
                    one.nest == nest
                        && number.is_some_and(|number| is_of(access, one, number, names))
                };
                let its = open.iter().filter(may_be);
                let is_open = its.clone().count() > 0;
                if access.split.is_none() {
                    for one in its {
                        settled[nest][at].push(Fit {
                            space: spaces.number(&one.said.space.text)?,
                            index: None,
                            within: None,
                        });
                    }
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
                let moves = |one: &Number<'c>| one.as_constant() != Some(0);
                let is_variable = match &access.split {
                    Some(split) => !split.factors.iter().any(moves),
                    None => access.place.offset.as_ref().is_some_and(|one| !varies(one)),
                };
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
                            at_last: access.at_last,
                            index,
                        });
                    }
                    None => {
                        let base = &access.place.base;
                        let is_harmless = access.mode == Mode::Read && is_read_only;
                        let is_part = || is_open || is_part(access, &all[..], &settled[nest]);
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
                            at_last: access.at_last,
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
}

/// Whether an access may be what is declared by the name with a number, and has not been found: it is to its object, or to
/// one that no name stands for, and to no element that is known.
fn is_of<'c>(
    access: &Found<'c>,
    one: &Declared<'_>,
    number: usize,
    names: &[(&Name, Option<Named<'c>>)],
) -> bool {
    let base = &access.place.base;
    let mut others = names.iter().filter_map(|(_, named)| named.as_ref());
    let is_its = match &names[number].1 {
        _ if *base == Base::Unknown => true,
        Some(named) => named.base == *base && named.index(access).is_none(),
        None => !others.any(|named| named.base == *base),
    };
    is_so(access, one.said) && is_its
}

/// The line of an access, in brackets.
fn line_of(access: &Found<'_>) -> String {
    let line = access.at.source_location();
    line.map_or_else(String::new, |(_, line)| format!(" (line {line})"))
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
        let distance = distance.map(|one| one.as_constant());
        let is_near = match distance {
            Some(Some(distance)) => least.is_some_and(|least| distance.abs() < least),
            _ => true,
        };
        !settled.is_empty()
            && other.place.base == access.place.base
            && split.factors == beside.factors
            && (is_near || !beside.parts.is_empty())
    })
}

/// Of what every iteration writes, leaves what is all of an element.
pub(super) fn only_all_of_elements<'c>(
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
