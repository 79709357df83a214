//! Reads at addresses that a nest computes from numbers it loads, such as the bounds of the rows of a sparse matrix:
//! numbers in tables, between whose least and largest everything lies. Such a table, of the matrix's columns, say, may itself
//! be read between the numbers of others. Numbers that conditions keep from the access count for nothing; sums that an address
//! is computed from are taken apart where they cannot overflow.

use std::collections::HashSet;

use super::conditions::{Check, Conditions, MOST_OPERATIONS, add};
use super::extents::Access;
use super::rewrite::{Rewrite, Rewritten, rewrites};
use super::tables::TableWrites;
use super::threaded::compared_with;
use super::{Between, Expression, Nests, Scope, Table, TablePlace, Term, Unused, WORD};
use crate::llvm::{
    Block, Evolution, ExpressionKind as Kind, Instruction, IntPredicate, Opcode, Value,
};

/// More are not worth their time.
const MOST_TABLES: usize = 4;
const MOST_CORNERS: usize = 8;
/// A table behind a table behind others.
const MOST_DEPTH: usize = 3;

/// Replaces the extension of a difference, in the number of turns of a loop, by the difference of the extensions: the number
/// of a bucket's elements is where the next one begins less where it begins itself.
struct WideDifferences<'a, 'm> {
    nests: &'a Nests<'m>,
    of: usize,
    rewritten: Rewritten<'m>,
}

impl<'m> Rewrite<'m> for WideDifferences<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        if !part.is(Kind::ZeroExtend) {
            return None;
        }
        let nests = self.nests;
        let difference = part.operands()[0];
        let (Kind::Add, &[a, b]) = (difference.kind(), difference.operands()) else {
            return Some(part);
        };
        let bits = nests.bits(part);
        let wide = [(a, b), (b, a)].into_iter().find_map(|(more, minus)| {
            let less = nests.negative(minus);
            let is_one = less.is(Kind::Value) && self.is_positive(difference, more, less);
            is_one.then(|| nests.minus(nests.with_sign(more, bits), nests.with_sign(less, bits)))
        });
        Some(wide.unwrap_or(part))
    }
}

impl<'m> WideDifferences<'_, 'm> {
    /// Whether `more - less`, of numbers with a sign, is positive where the loop begins. As a number without a sign the
    /// difference does not overflow then.
    fn is_positive(
        &self,
        difference: Expression<'m>,
        more: Expression<'m>,
        less: Expression<'m>,
    ) -> bool {
        let (nests, of) = (self.nests, self.of);
        if nests.is_greater_before(of, more, less) {
            return true;
        }
        // A difference that is known to be positive has to be without overflow itself.
        let zero = nests.number(nests.bits(difference), 0);
        let users = less.value().map_or_else(Vec::new, |value| value.users());
        nests.is_greater_before(of, difference, zero)
            && users.into_iter().any(|user| {
                user.as_op(Opcode::LLVMSub).is_some_and(|computed| {
                    computed.function() == nests.function()
                        && computed.has_no_signed_wrap()
                        && nests.expression(*computed) == difference
                        && nests.dominates(computed.block(), nests.loops()[of].header)
                        && computed.must_not_be_poison()
                })
            })
    }
}

/// Replaces the extension of a sum that a pointer is computed from, in a narrow type and without overflow as its instruction
/// says, by the sum of the extensions: where the sum overflowed, the access would be undefined.
struct WideSums<'a, 'm> {
    nests: &'a Nests<'m>,
    sums: Vec<Instruction<'m>>,
    rewritten: Rewritten<'m>,
}

impl<'a, 'm> WideSums<'a, 'm> {
    fn of(nests: &'a Nests<'m>, pointer: Value<'m>) -> Self {
        const MOST: usize = 64;
        let mut sums = Vec::new();
        let mut seen = HashSet::new();
        let mut rest = vec![pointer];
        while let Some(value) = rest.pop() {
            use Opcode::{
                LLVMAdd, LLVMGetElementPtr, LLVMMul, LLVMSExt, LLVMShl, LLVMSub, LLVMZExt,
            };
            let Some(at) = value.as_instruction() else {
                continue;
            };
            // Where an operand of such is poison so is its result.
            let is_computed = matches!(
                at.opcode(),
                LLVMAdd | LLVMGetElementPtr | LLVMMul | LLVMSExt | LLVMShl | LLVMSub | LLVMZExt
            );
            if !is_computed || seen.len() == MOST || !seen.insert(at) {
                continue;
            }
            if at.opcode() == LLVMAdd && at.has_no_signed_wrap() {
                sums.push(at);
            }
            rest.extend(at.operands());
        }
        Self {
            nests,
            sums,
            rewritten: Rewritten::new(),
        }
    }

    /// A value of a narrow type as one of 64 bits.
    fn wide(&self, value: Value<'m>) -> Expression<'m> {
        let sum = value.as_instruction().filter(|at| self.sums.contains(at));
        match sum {
            Some(at) => self
                .nests
                .sum(&[self.wide(at.operand(0)), self.wide(at.operand(1))]),
            None => self.nests.with_sign(self.nests.expression(value), WORD),
        }
    }
}

impl<'m> Rewrite<'m> for WideSums<'_, 'm> {
    rewrites!();

    fn replace(&mut self, part: Expression<'m>) -> Option<Expression<'m>> {
        if !part.is(Kind::SignExtend) || self.nests.bits(part) != WORD {
            return None;
        }
        let sum = part.operands()[0];
        let mut sums = self.sums.iter();
        let at = sums.find(|&&at| self.nests.expression(*at) == sum)?;
        Some(self.wide(**at))
    }
}

/// An offset and a factor for the numbers of each table.
struct Corner<'m> {
    offset: Term<'m>,
    factors: [Term<'m>; MOST_TABLES],
}

struct Corners<'a, 'm> {
    nests: &'a Nests<'m>,
    scope: Scope<'m>,
    nest: usize,
    tables: Vec<Table<'m>>,
    /// The number, as it is used, that each table holds, and which are not used.
    held: Vec<(Expression<'m>, Unused)>,
    corners: Vec<Corner<'m>>,
    /// Conditions of the corners.
    checks: Vec<Check<'m>>,
    /// How many tables are being looked for, each of which says where the one before lies.
    depth: usize,
}

/// What an expression is the sum of. A multiple of a sum is one of multiples.
fn summands<'m>(nests: &Nests<'m>, one: Expression<'m>) -> Vec<Expression<'m>> {
    let parts = match one.kind() {
        Kind::Add => one.operands(),
        _ => &[one],
    };
    let multiples = |part: &Expression<'m>| match *part.operands() {
        [factor, sum] if part.is(Kind::Multiply) && sum.is(Kind::Add) => {
            let parts = sum.operands().iter();
            parts.map(|&one| nests.product(&[factor, one])).collect()
        }
        _ => vec![*part],
    };
    parts.iter().flat_map(multiples).collect()
}

impl<'m> Corners<'_, 'm> {
    /// Follows an offset out of the loops around a block; `None` where it is not made of what is loaded.
    fn find(&mut self, offset: Expression<'m>, block: Block<'m>) -> Option<()> {
        let mut ends = vec![offset];
        let around: Vec<usize> = self.nests.loops_around(block).collect();
        for of in around {
            let mut next = Vec::new();
            for end in ends {
                for one in self.operands(end, 0)? {
                    self.ends(one, of, &mut next)?;
                }
            }
            ends = next;
            if of == self.nest {
                break;
            }
        }
        for end in ends {
            for one in self.operands(end, 0)? {
                self.corner(one, block)?;
            }
        }
        Some(())
    }

    /// A minimum or maximum is one of its operands: the expressions with each.
    fn operands(&self, one: Expression<'m>, depth: usize) -> Option<Vec<Expression<'m>>> {
        let nests = self.nests;
        if depth > 4 || one.size() > MOST_OPERATIONS {
            return None;
        }
        for part in summands(nests, one) {
            let (factor, choice) = match *part.operands() {
                [factor, rest] if part.is(Kind::Multiply) => (factor, rest),
                _ => (nests.word(1), part),
            };
            if nests.is_fixed(part, self.scope) || !choice.kind().is_choice() {
                continue;
            }
            let rest = nests.minus(one, part);
            let mut all = Vec::new();
            for &operand in choice.operands() {
                let with = nests.sum(&[rest, nests.product(&[factor, operand])]);
                all.extend(self.operands(with, depth + 1)?);
                if all.len() > MOST_CORNERS * MOST_CORNERS {
                    return None;
                }
            }
            return Some(all);
        }
        Some(vec![one])
    }

    /// Its values in the first and the last turn of a loop, if it has others.
    fn ends(
        &mut self,
        one: Expression<'m>,
        of: usize,
        ends: &mut Vec<Expression<'m>>,
    ) -> Option<()> {
        let nests = self.nests;
        let changes = summands(nests, one);
        let changes = changes
            .iter()
            .rfind(|&&part| nests.changes_in(part) == Some(of));
        let rest = changes.map_or(one, |&changes| nests.minus(one, changes));
        if rest.contains(|part| nests.changes_in(part) == Some(of)) {
            return None;
        }
        if let Some(&changes) = changes {
            let backedges = nests.backedges(of)?;
            let changes = nests.recurrence(changes)?;
            if !self.is_narrow(changes.step) {
                return None;
            }
            let backedges = WideDifferences {
                nests,
                of,
                rewritten: Rewritten::new(),
            }
            .rewrite(backedges);
            let first = nests.sum(&[rest, changes.start]);
            ends.push(first);
            ends.push(nests.sum(&[first, nests.product(&[changes.step, backedges])]));
        } else {
            ends.push(one);
        }
        (ends.len() <= MOST_CORNERS).then_some(())
    }

    /// Makes sure that a number is one of 32 bits: what it is multiplied with then does not overflow.
    fn is_narrow(&mut self, number: Expression<'m>) -> bool {
        if let Some(constant) = number.constant() {
            return i32::try_from(constant).is_ok();
        }
        let check = Check {
            value: number,
            bits: 32,
            signed: true,
        };
        add(&mut self.checks, check);
        self.nests.is_usable(number, self.scope)
    }

    /// Adds a sum of what is known in front of the nest and of factors times what is loaded, for an access in a block.
    fn corner(&mut self, one: Expression<'m>, block: Block<'m>) -> Option<()> {
        let nests = self.nests;
        if self.corners.len() == MOST_CORNERS {
            return None;
        }
        let mut offset = nests.word(0);
        let mut factors = [nests.word(0); MOST_TABLES];
        for part in summands(nests, one) {
            if nests.is_fixed(part, self.scope) {
                offset = nests.sum(&[offset, part]);
                continue;
            }
            let (mut factor, mut number) = (nests.word(1), Some(part));
            if part.is(Kind::Multiply) {
                number = None;
                for &one in part.operands() {
                    if nests.is_fixed(one, self.scope) {
                        factor = nests.product(&[factor, one]);
                    } else if number.replace(one).is_some() {
                        return None;
                    }
                }
            }
            let table = self.table(number?, block)?;
            if !self.is_narrow(factor) {
                return None;
            }
            factors[table] = nests.sum(&[factors[table], factor]);
        }
        if !nests.is_usable(offset, self.scope) {
            return None;
        }
        let when = Conditions {
            guards: Vec::new(),
            checks: self.checks.clone(),
        };
        self.corners.push(Corner {
            offset: nests.term_when(offset, when),
            factors: factors.map(|factor| nests.term(factor)),
        });
        Some(())
    }

    /// The table that a number is loaded from which an access in a block uses.
    fn table(&mut self, number: Expression<'m>, block: Block<'m>) -> Option<usize> {
        let nests = self.nests;
        let is_unsigned = number.is(Kind::ZeroExtend);
        let whole = match number.kind() {
            Kind::ZeroExtend | Kind::SignExtend => number.operands()[0],
            _ => number,
        };
        let at = whole.value()?.as_instruction()?;
        if !nests.contains(self.nest, at.block()) {
            return None;
        }
        let from = nests.loaded_from(*at, self.nest, TableWrites::ByStores)?;
        // What a nest stores to its function's own variables is not declared, so that nobody would know it for a change of
        // the table.
        let object = nests
            .object(from.address)
            .value()
            .and_then(Value::as_instruction);
        if object.is_some_and(|one| one.opcode() == Opcode::LLVMAlloca) {
            return None;
        }
        let mut unused = unused_in(nests, *at, block);
        if from.extension == Some(Opcode::LLVMZExt) {
            // Numbers of the table that were negative are positive.
            (unused.negative, unused.minus_one) = (false, false);
        }
        let held = (number, unused);
        if let Some(known) = self.held.iter().position(|&one| one == held) {
            return Some(known);
        }
        let bits = from.ty.bits()?;
        // A number without a sign stays one; with one it may not lose it.
        let is_unsigned = is_unsigned && !unused.negative;
        if !matches!(bits, 8 | 16 | 32 | 64)
            || (from.extension == Some(Opcode::LLVMSExt) && is_unsigned)
        {
            return None;
        }
        let read = Access::at(from.address, at.block());
        let section = nests.affine(read.clone(), self.scope);
        let section = section.or_else(|| nests.widened_section(&read, self.scope));
        let place = match section {
            Some(section) => TablePlace::Section(section),
            None => self.place_between(from.address, at.block())?,
        };
        if self.tables.len() == MOST_TABLES {
            return None;
        }
        self.tables.push(Table {
            place,
            bytes: i64::from(bits / 8),
            is_signed: match from.extension {
                Some(extension) => extension == Opcode::LLVMSExt,
                None => !is_unsigned,
            },
            unused,
        });
        self.held.push(held);
        Some(self.tables.len() - 1)
    }

    /// Where a table lies that is read in a block at an address that is made of what is loaded, too.
    fn place_between(
        &mut self,
        address: Expression<'m>,
        block: Block<'m>,
    ) -> Option<TablePlace<'m>> {
        let nests = self.nests;
        let object = nests.object(address);
        if self.depth == MOST_DEPTH
            || !object.is(Kind::Value)
            || !nests.is_usable(object, self.scope)
        {
            return None;
        }
        let corners = std::mem::take(&mut self.corners);
        let checks = std::mem::take(&mut self.checks);
        self.depth += 1;
        let found = self.find(nests.offset(address), block);
        self.depth -= 1;
        self.checks = checks;
        let corners = std::mem::replace(&mut self.corners, corners);
        found?;
        Some(TablePlace::Between {
            object: nests.term(object),
            corners: in_terms(corners, self.tables.len()),
        })
    }
}

/// Which values control never comes to a block with.
fn unused_in<'m>(nests: &Nests<'m>, value: Value<'m>, block: Block<'m>) -> Unused {
    let is_never = |predicate, number, answer| {
        compared_with(nests, value, predicate, number, block) == Some(answer)
    };
    Unused {
        negative: is_never(IntPredicate::LLVMIntSGT, -1, true),
        zero: is_never(IntPredicate::LLVMIntEQ, 0, false),
        minus_one: is_never(IntPredicate::LLVMIntEQ, -1, false),
    }
}

/// Corners with a factor for each of some tables.
fn in_terms<'m>(corners: Vec<Corner<'m>>, tables: usize) -> Vec<Vec<Term<'m>>> {
    let corners = corners.into_iter().map(|one| {
        let factors = one.factors.into_iter().take(tables);
        std::iter::once(one.offset).chain(factors).collect()
    });
    corners.collect()
}

impl<'m> Nests<'m> {
    /// Of an access at a pointer.
    pub(super) fn corners(
        &self,
        pointer: Value<'m>,
        access: &Access<'m>,
        scope: Scope<'m>,
    ) -> Option<Between<'m>> {
        let Scope::Loop(nest) = scope else {
            return None;
        };
        self.front_of(nest)?;
        let object = self.object(access.address);
        if !access.dimensions.is_empty()
            || !self.contains(nest, access.block)
            || !object.is(Kind::Value)
            || !self.is_usable(object, scope)
        {
            return None;
        }
        let mut found = Corners {
            nests: self,
            scope,
            nest,
            tables: Vec::new(),
            held: Vec::new(),
            corners: Vec::new(),
            checks: Vec::new(),
            depth: 0,
        };
        let offset = WideSums::of(self, pointer).rewrite(self.offset(access.address));
        found.find(offset, access.block)?;
        let tables = found.tables.len();
        (tables > 0).then(|| Between {
            object: self.term(object),
            corners: in_terms(found.corners, tables),
            tables: found.tables,
        })
    }
}
