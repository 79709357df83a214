//! Numbers and pointers that a nest loads itself, and what is accessed through such pointers.
//!
//! Guarantee: a table is one that the nest writes in no worse way than is asked for.

use super::conditions::{Guard, MOST_OPERATIONS, single_predecessor};
use super::extents::Access;
use super::{Expression, Nests, Scope, Section};
use crate::analysis::call_graph::is_final;
use crate::analysis::library::is_mathematics;
use crate::llvm::{Instruction, Opcode, Type, Value};

/// How a nest may write where it loads from, in this turn or in another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TableWrites {
    None,
    /// By plain stores and copies, and calls of what does nothing else: of a nest that is described, what they write is
    /// declared.
    ByStores,
    ByOthers,
}

/// What is known of a value that a nest loads from a table.
#[derive(Clone, Copy)]
pub(super) struct Loaded<'m> {
    pub(super) address: Expression<'m>,
    pub(super) ty: Type<'m>,
    /// How it is extended then.
    pub(super) extension: Option<Opcode>,
}

/// Whether all that an instruction writes it writes by plain stores and copies, in functions that it calls, too.
fn stores_plainly(at: Instruction<'_>, depth: usize) -> bool {
    const MOST_DEPTH: usize = 4;
    if at.opcode() == Opcode::LLVMStore {
        return at.is_plain_access();
    }
    super::copies_or_fills(at)
        || depth < MOST_DEPTH
            && at.as_call().is_some_and(|call| {
                call.callee_function().is_some_and(|callee| {
                    if callee.is_declaration() {
                        // Of errno at most.
                        return is_mathematics(&call.callee_name());
                    }
                    let blocks = callee.blocks();
                    let mut all = blocks.iter().flat_map(|block| block.instructions());
                    is_final(callee)
                        && all.all(|one| !super::writes(one) || stores_plainly(one, depth + 1))
                })
            })
}

impl<'m> Nests<'m> {
    fn writes_to_table(&self, load: Instruction<'m>, nest: usize) -> TableWrites {
        if let Some(&known) = self.written.borrow().get(&(load, nest)) {
            return known;
        }
        let writes = if load.is_plain_access() {
            let blocks = self.loops()[nest].blocks.iter();
            let writers: Vec<_> = blocks
                .flat_map(|block| block.instructions())
                .filter(|&one| super::writes(one))
                .collect();
            let changing = self.changing_in_turns(load, &writers);
            match changing.iter().all(|one| stores_plainly(*one, 0)) {
                true if changing.is_empty() => TableWrites::None,
                true => TableWrites::ByStores,
                false => TableWrites::ByOthers,
            }
        } else {
            TableWrites::ByOthers
        };
        self.written.borrow_mut().insert((load, nest), writes);
        writes
    }

    /// Where in a table a value is loaded from that the nest writes in no worse way than `most`. LLVM keeps what it loaded
    /// for other branches and for the next turn of a loop.
    pub(super) fn loaded_from(
        &self,
        value: Value<'m>,
        nest: usize,
        most: TableWrites,
    ) -> Option<Loaded<'m>> {
        self.loaded_within(value, nest, most, 0)
    }

    fn loaded_within(
        &self,
        value: Value<'m>,
        nest: usize,
        most: TableWrites,
        depth: usize,
    ) -> Option<Loaded<'m>> {
        let at = value.as_instruction()?;
        let deeper = |value| self.loaded_within(value, nest, most, depth + 1);
        match at.opcode() {
            extension @ (Opcode::LLVMSExt | Opcode::LLVMZExt) if depth <= 4 => {
                let loaded = deeper(at.operand(0))?;
                loaded.extension.is_none().then_some(Loaded {
                    extension: Some(extension),
                    ..loaded
                })
            }
            Opcode::LLVMLoad => {
                let is_inside = self.contains(nest, at.block());
                if self.writes_to_table(at, nest) > most
                    || !(is_inside || self.is_unchanged(at, nest))
                {
                    return None;
                }
                Some(Loaded {
                    address: self.expression(at.address()?),
                    ty: value.ty(),
                    extension: None,
                })
            }
            Opcode::LLVMPHI if self.contains(nest, at.block()) && depth <= 4 => {
                let of = self.loop_of(at.block())?;
                let incoming = at.incoming();
                let is_alike =
                    |a: &Loaded<'m>, b: &Loaded<'m>| (a.ty, a.extension) == (b.ty, b.extension);
                if self.loops()[of].header != at.block() {
                    let all: Option<Vec<_>> =
                        incoming.iter().map(|&(value, _)| deeper(value)).collect();
                    let all = all?;
                    let first = *all.first()?;
                    return all
                        .iter()
                        .all(|one| is_alike(one, &first) && one.address == first.address)
                        .then_some(first);
                }
                let (preheader, latch) = (self.loops()[of].preheader?, self.loops()[of].latch?);
                let from = |block| incoming.iter().find(|one| one.1 == block).map(|one| one.0);
                let first = deeper(from(preheader)?)?;
                let next = deeper(from(latch)?)?;
                let changes = self.recurrence(next.address).filter(|one| one.of == of)?;
                // Loaded for the next turn: one step further on.
                let is_next = self.sum(&[first.address, changes.step]) == changes.start;
                (is_next && is_alike(&first, &next)).then(|| Loaded {
                    address: self.recurring(&[first.address, changes.step], of),
                    ..first
                })
            }
            _ => None,
        }
    }

    /// Whether nothing is written from a load to the loop behind it, or never where it loads from.
    fn is_unchanged(&self, load: Instruction<'m>, of: usize) -> bool {
        const MOST_STEPS: usize = 400;
        let object = load.address().map(Value::underlying_object);
        if (object.and_then(Value::as_global)).is_some_and(|one| one.is_readonly()) {
            return true;
        }
        let Some(mut at) = self.front_of(of) else {
            return false;
        };
        for _ in 0..MOST_STEPS {
            if at == load {
                return true;
            }
            if at.may_write() && super::intrinsic_name(at) != "llvm.assume" {
                return false;
            }
            let before = at.previous().or_else(|| {
                let block = single_predecessor(at.block())?;
                block.terminator()
            });
            match before {
                Some(before) => at = before,
                None => return false,
            }
        }
        at == load
    }

    /// Through a pointer that is loaded in the nest: the access in each turn of the loops around the load, as offsets from the
    /// pointer, and then the access to the table. The table comes first; none are exact if one is not.
    pub(super) fn rows(&self, access: Access<'m>, scope: Scope<'m>) -> Option<Vec<Section<'m>>> {
        // Rows of planes, and a section of each row.
        const MOST: usize = 3;
        let nest = scope.nest()?;
        self.front_of(nest)?;
        let mut access = access;
        let mut rows: Vec<Section<'m>> = Vec::new();
        while rows.len() < MOST {
            let object = self.object(access.address).value();
            let pointer = object
                .and_then(Value::as_instruction)
                .filter(|one| self.contains(nest, one.block()));
            let Some(pointer) = pointer else {
                if rows.is_empty() {
                    return None;
                }
                let table = self.affine(access.clone(), scope);
                rows.push(table.or_else(|| self.widened_section(&access, scope))?);
                let exact = rows.iter().all(|one| one.exact);
                rows.iter_mut().for_each(|one| one.exact = exact);
                rows.reverse();
                return Some(rows);
            };
            let mut around = self.loop_of(pointer.block())?;
            let from = self.loaded_from(*pointer, nest, TableWrites::None)?;
            if access.address.size() > MOST_OPERATIONS {
                return None;
            }
            // What is loaded from the same place in each turn could be loaded in front of the loop.
            while around != nest && self.is_invariant(from.address, around) {
                around = self.loops()[around].parent?;
            }
            access.address = self.offset(access.address);
            if !self.contains(around, access.block)
                || !self.leave_loops(&mut access, scope, Some(around))
            {
                return None;
            }
            let table = Access {
                when: std::mem::take(&mut access.when),
                exact: access.exact,
                ..Access::at(from.address, access.block)
            };
            if !self.is_fixed(access.address, scope)
                && !self.leave_with_table(&mut access, &table, (around, nest), scope)
            {
                return None;
            }
            let row = self.describe(&mut access, scope)?;
            rows.push(row);
            access = Access {
                exact: table.exact && access.exact,
                ..table
            };
        }
        None
    }

    /// Leaves the loops from the one around the load of a pointer to the nest with an access through it. No loop may change
    /// both the access and the place of the pointer, so that each pointer is one of all these accesses; and the counts of all
    /// have to hold in front of the nest: no number may depend on a loop, and each loop inside the nest be entered in each
    /// turn of the one around it, on conditions that are noted.
    fn leave_with_table(
        &self,
        access: &mut Access<'m>,
        table: &Access<'m>,
        (around, nest): (usize, usize),
        scope: Scope<'m>,
    ) -> bool {
        if scope.turns().is_some() {
            return false;
        }
        let mut table = table.clone();
        let mut of = Some(around);
        while let Some(this) = of {
            let changes = |one: &Access<'m>| !self.is_invariant(one.address, this);
            let is_entered = this == nest || self.is_entered(this, scope, &mut access.when.guards);
            if !is_entered
                || changes(access) && changes(&table)
                || !self.leave_loop(access, this, scope)
                || !self.leave_loop(&mut table, this, scope)
            {
                return false;
            }
            of = self.loops()[this].parent.filter(|_| this != nest);
        }
        let mut all = [&*access, &table]
            .into_iter()
            .flat_map(|one| &one.dimensions);
        all.all(|one| self.is_fixed(one.stride, scope) && self.is_fixed(one.count, scope))
    }

    /// Whether a loop is entered in each turn of the one around it if guards hold, which are noted.
    fn is_entered(&self, of: usize, scope: Scope<'m>, guards: &mut Vec<Guard<'m>>) -> bool {
        let this = &self.loops()[of];
        this.preheader.is_some_and(|before| {
            let first = self.climb(before, this.parent, scope, guards);
            self.always_runs(first, this.parent)
        })
    }
}
