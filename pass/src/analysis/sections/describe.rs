//! What code accesses, as known in front of a nest, of one instruction, or where a function is entered.

use super::calls::{Dependence, Effect};
use super::entry::{Entry, Quantity, What, entry_of, is_of_variable};
use super::marks::alignment;
use super::places::Place;
use super::{
    Access, Direct, FunctionSections, Known, MOST_MARKS, Scan, Size, Spoiled, Summary, merge,
};
use crate::analysis::nests::{Extent, Scope, Section, Turns};
use crate::diagnostic::user_name;
use crate::llvm::{Block, Instruction, demangle};

/// What some code accesses.
#[derive(Default)]
pub(super) struct Found<'m> {
    pub(super) all: Summary<'m>,
    pub(super) direct: Vec<Direct<'m>>,
    /// What of it is not known here.
    pub(super) depends: Vec<Dependence<'m>>,
}

impl<'m> Scan<'m> {
    /// What some blocks access, as known in the scope. `marked` gets the stores that can be declared only
    /// where they mark what they write, with their sizes and objects; without it there may be none.
    pub(super) fn describe(
        &self,
        blocks: &[Block<'m>],
        scope: Scope<'m>,
        known: &Known<'m>,
        mut marked: Option<&mut Vec<(Access<'m>, i64, Quantity<'m>)>>,
    ) -> Result<Found<'m>, Spoiled<'m>> {
        let mut found = Found::default();
        for &block in blocks {
            for at in block.instructions() {
                match self.effects.get(&at) {
                    None | Some(Effect::Nothing) => {}
                    Some(Effect::Accesses(list)) => {
                        for access in list {
                            match self.place(access) {
                                Place::Own => {}
                                Place::Direct(one) => found.direct.push(one),
                                Place::Elsewhere => {
                                    self.access(access, block, scope, &mut marked, &mut found.all)?;
                                }
                            }
                        }
                    }
                    Some(Effect::Calls(callee)) => {
                        let callee = &*known[callee];
                        self.call(callee, at, scope, &mut found)?;
                        found.depends.extend(callee.depends.iter().cloned());
                    }
                    Some(Effect::Depends(one)) => {
                        found.direct.extend(one.direct.iter().cloned());
                        found.depends.push((**one).clone());
                    }
                    Some(Effect::Shares | Effect::Synchronises) => {
                        return Err(Spoiled {
                            at,
                            reason: "synchronises in a loop".to_string(),
                        });
                    }
                    Some(Effect::Spoils(reason)) => {
                        return Err(Spoiled {
                            at,
                            reason: reason.clone(),
                        });
                    }
                }
            }
        }
        found.all.entries = merge::merge(&self.out.nests, found.all.entries);
        Ok(found)
    }

    pub(super) fn place(&self, access: &Access<'m>) -> Place<'m> {
        let size = match access.size {
            Size::Constant(size) => Some(size),
            Size::Bytes(_) => None,
        };
        self.places.of_address(access.address, size)
    }

    /// Adds what an access outside the known places accesses.
    fn access(
        &self,
        access: &Access<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
        marked: &mut Option<&mut Vec<(Access<'m>, i64, Quantity<'m>)>>,
        all: &mut Summary<'m>,
    ) -> Result<(), Spoiled<'m>> {
        let (element, length) = access.size.element();
        let nests = &self.out.nests;
        let mut extents = parts(scope, |scope| {
            nests.extent(access.address, length, block, scope)
        });
        if let Some(marked) = marked
            && let Some(entry) = self.marked(access, block, &extents)
        {
            marked.push((*access, element, entry.address));
            all.entries.push(entry);
            return Ok(());
        }
        if let ([bound], None, false, Scope::Loop(_)) =
            (&extents[..], length, access.is_write, scope)
            && matches!(
                bound,
                Extent::Unknown
                    | Extent::Anywhere(_)
                    | Extent::Section(Section { exact: false, .. })
            )
        {
            let choices = nests.choices(access.address, block, scope);
            if !choices.is_empty() {
                for one in choices {
                    all.entries
                        .push(entry_of(nests, one, false, element, access.at)?);
                }
                return Ok(());
            }
            if matches!(bound, Extent::Unknown)
                && let Some(reads) = self.hulls(access, element, block, scope)
            {
                all.entries.extend(reads?);
                return Ok(());
            }
            if !matches!(bound, Extent::Unknown) {
                let bound = extents.remove(0);
                let read = self.inexact_read(bound, access, element, block, scope)?;
                all.entries.extend(read);
                return Ok(());
            }
        }
        let (is_write, at) = (access.is_write, access.at);
        let mut extents = extents.into_iter();
        extents.try_for_each(|extent| self.add(extent, scope, is_write, element, at, all))
    }

    /// A write anywhere in an object that can mark what it writes.
    fn marked(
        &self,
        access: &Access<'m>,
        block: Block<'m>,
        extents: &[Extent<'m>],
    ) -> Option<Entry<'m>> {
        let ([Extent::Anywhere(object)], (element, None), true) =
            (extents, access.size.element(), access.is_write)
        else {
            return None;
        };
        let nests = &self.out.nests;
        let unit = 1 << (alignment(access.at) | element | 8).trailing_zeros();
        (1..=MOST_MARKS).contains(&(element / unit)).then(|| Entry {
            what: What::Marked {
                by_bits: !self.is_local(access, block),
                counted: false,
                of_variable: is_of_variable(nests, *object),
            },
            element: unit,
            address: Quantity::Term(*object),
            // What the runtime tells.
            dimensions: vec![(Quantity::Constant(0), Quantity::Constant(0))],
            object: demangle(&nests.object_name(*object)),
            at: access.at,
            table: None,
        })
    }

    /// A read in a nest that no exact section describes. Numbers that are read, or computed, turn by turn may say more than the
    /// bound.
    fn inexact_read(
        &self,
        bound: Extent<'m>,
        access: &Access<'m>,
        element: i64,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Result<Vec<Entry<'m>>, Spoiled<'m>> {
        let nests = &self.out.nests;
        let entry = |extent, element| entry_of(nests, extent, false, element, access.at);
        if matches!(bound, Extent::Anywhere(_))
            && let Some(between) = nests.between(access.address, block, scope)
        {
            return Ok(vec![entry(Extent::Between(between), element)?]);
        }
        if let Some(places) = nests.places(access.address, block, scope) {
            return Ok(vec![entry(bound, element)?.at_places(places, element)]);
        }
        let hull = match bound {
            Extent::Anywhere(_) => self.hulls(access, element, block, scope),
            _ => None,
        };
        match hull {
            Some(all) => all,
            None => Ok(vec![entry(bound, element)?]),
        }
    }

    /// What reads lie between of which nothing else is known.
    fn hulls(
        &self,
        access: &Access<'m>,
        element: i64,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Option<Result<Vec<Entry<'m>>, Spoiled<'m>>> {
        let nests = &self.out.nests;
        let is_own = |one| self.places.is_own(one);
        let hulls = nests.hulls(access.address, element, block, scope, is_own)?;
        let hulls = hulls.into_iter().map(Extent::Section);
        Some(
            { hulls }
                .map(|hull| entry_of(nests, hull, false, 1, access.at))
                .collect(),
        )
    }

    /// Adds what is accessed in a scope.
    fn add(
        &self,
        extent: Extent<'m>,
        scope: Scope<'m>,
        is_write: bool,
        element: i64,
        at: Instruction<'m>,
        all: &mut Summary<'m>,
    ) -> Result<(), Spoiled<'m>> {
        match (scope, extent) {
            (_, Extent::Unknown) if !is_write && self.may_read_elsewhere => {
                all.elsewhere = all.elsewhere.or(Some(at));
            }
            (Scope::Function, Extent::Anywhere(object)) if is_write => {
                all.written.push((object, at))
            }
            (_, extent) => {
                let entry = entry_of(&self.out.nests, extent, is_write, element, at)?;
                all.entries.push(entry);
            }
        }
        Ok(())
    }

    /// Adds what a call accesses.
    pub(super) fn call(
        &self,
        callee: &FunctionSections<'m>,
        at: Instruction<'m>,
        scope: Scope<'m>,
        found: &mut Found<'m>,
    ) -> Result<(), Spoiled<'m>> {
        if callee.is_quiet() {
            return Ok(());
        }
        let Some(summary) = &callee.summary else {
            return Err(Spoiled {
                at,
                reason: format!("calls {} in a loop", user_name(callee.function)),
            });
        };
        let elsewhere = &mut found.all.elsewhere;
        *elsewhere = elsewhere.or(summary.elsewhere);
        let nests = &self.out.nests;
        let entries = summary.entries.iter();
        let entries = entries.map(|one| (one.extent(), one.what.is_write(), one.element));
        let written = summary.written.iter();
        let written = written.map(|&(object, _)| (Extent::Anywhere(object), true, 1));
        let extents = entries
            .chain(written)
            .flat_map(|(of_callee, is_write, element)| {
                let extents = parts(scope, |scope| {
                    nests.extent_of_call(&callee.nests, &of_callee, at, scope)
                });
                let extents = extents.into_iter();
                extents.map(move |extent| (extent, is_write, element))
            });
        for (extent, is_write, element) in extents {
            let base = match &extent {
                Extent::Section(section) => nests.base(section.address),
                Extent::Anywhere(object) => nests.base(*object),
                Extent::Rows(_) | Extent::Between(_) | Extent::Unknown => None,
            };
            if base.is_some_and(|base| self.places.is_own(base)) {
                continue;
            }
            if let Extent::Section(section) = &extent
                && section.dimensions.is_empty()
                && let Some((object, offset)) = nests.anchor(section.address)
                && let Some(one) = self.places.of_object(object, offset, element)
            {
                found.direct.push(one);
                continue;
            }
            self.add(extent, scope, is_write, element, at, &mut found.all)?;
        }
        Ok(())
    }
}

/// What is accessed in a scope. Where rows are clipped at the end of a loop, its last turn is for itself: so
/// both parts are just what is accessed.
fn parts<'m>(scope: Scope<'m>, extent: impl Fn(Scope<'m>) -> Extent<'m>) -> Vec<Extent<'m>> {
    let whole = extent(scope);
    let is_exact = |extent: &Extent<'m>| match extent {
        Extent::Section(one) => one.exact,
        Extent::Rows(all) => all.iter().all(|one| one.exact),
        Extent::Between(_) | Extent::Anywhere(_) | Extent::Unknown => false,
    };
    let Scope::Loop(index) = scope else {
        return vec![whole];
    };
    if !is_exact(&whole) {
        let turns = [Turns::AllButLast, Turns::Last];
        let parts = turns.map(|turns| extent(Scope::Turns(index, turns)));
        if parts.iter().all(is_exact) {
            return parts.into();
        }
    }
    vec![whole]
}
