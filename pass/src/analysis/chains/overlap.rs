//! Whether spaces have memory in common, and whether loops write what says where they go.

use okl_chains::model::{self, Mode};

use super::accesses::Found;
use super::numbers::{Base, Place, loads_of, loads_of_base};
use super::objects::Spaces;
use super::{Domain, Looked};
use crate::diagnostic::Site;
use crate::ir::Asks;
use crate::llvm::Opcode;

impl<'c> Looked<'_, 'c, '_> {
    /// The pairs of spaces that may have memory in common, though the chain runs as scheduled.
    pub(super) fn overlaps(
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
                // What is asked is so where the chain runs as scheduled.
                if known.contains(&(a, b)) {
                    continue;
                }
                let bytes = [a, b].map(|base| fronts.span(base, found, domains));
                let ([Some(first), Some(second)], true) = (bytes, self.may_ask()) else {
                    pairs.push((one, other));
                    all.push((one, other));
                    continue;
                };
                known.push((a, b));
                let [name, other] = [one, other].map(|at| &spaces.all[at].0.name);
                self.findings
                    .push(format!("{name} and {other} are apart: asked"));
                let told = format!("{name} and {other} have memory in common");
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
        // In Fortran this is for the compiler to say: pointers, and what they may lead to, may have memory in common.
        let is_own = |space: usize| {
            let base = spaces.base(space);
            let mut its = found
                .iter()
                .flatten()
                .filter(|one| Some(&one.place.base) == base);
            base.is_some() && its.all(|one| self.is_own(one))
        };
        let is_fortran = self.chain.site.instruction().function().is_fortran();
        let mut shared = pairs
            .iter()
            .filter(|pair| !is_own(pair.0) && !is_own(pair.1));
        if let Some(pair) = shared.next().filter(|_| is_fortran) {
            let told = format!(
                "it is not known whether {} have memory in common: they may be pointers or targets",
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

    /// Whether flang says of all that an access does that it is to the memory of an array that no pointer leads to.
    fn is_own(&self, access: &Found<'c>) -> bool {
        const OWN: [&str; 4] = [
            "dummy arg data",
            "allocated data",
            "global data",
            "direct data",
        ];
        access.by.iter().all(|(at, _)| {
            let noted = at.noted_type(self.copy);
            let noted = noted.and_then(|names| names.into_iter().next());
            noted.is_some_and(|name| OWN.iter().any(|own| name.starts_with(own)))
        })
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
    pub(super) fn check_loads(
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
                let bytes = [fronts.span(base, found, domains), fronts.loaded(load)];
                let ([Some(written), Some(loaded)], true) = (bytes, self.may_ask()) else {
                    is_trusted = true;
                    continue;
                };
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
}
