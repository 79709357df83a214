//! Addresses that each turn of a loop chooses among, by what only that turn knows: `a[i][up ? j - 1 : j + 1]`.
//!
//! Guarantee: what is accessed in any turn is in one of the extents. None of them is exact.

use super::conditions::add;
use super::extents::Access;
use super::rewrite::{Instead, Rewrite};
use super::{Expression, Extent, Nests, Scope};
use crate::llvm::{Block, ExpressionKind as Kind, Opcode, Value};

/// More addresses to choose among are not looked at.
const MOST: usize = 8;

impl<'m> Nests<'m> {
    /// Sections of the addresses that may be that of an element at `pointer`, which is read in `block` in each turn of the
    /// scope's loop; none where there is but one, or one without a section.
    pub fn choices(
        &self,
        pointer: Value<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Vec<Extent<'m>> {
        self.sections_of_choices(pointer, block, scope)
            .unwrap_or_default()
    }

    fn sections_of_choices(
        &self,
        pointer: Value<'m>,
        block: Block<'m>,
        scope: Scope<'m>,
    ) -> Option<Vec<Extent<'m>>> {
        let (nest, address) = (scope.nest()?, self.access(pointer, None, block)?.address);
        let (mut rest, mut addresses) = (vec![address], Vec::new());
        while let Some(one) = rest.pop() {
            match self.choice_in(one, block, nest) {
                Some((choice, options)) => {
                    for option in options {
                        add(&mut rest, Instead::new(self, choice, option).rewrite(one));
                    }
                }
                None => add(&mut addresses, one),
            }
            if rest.len() + addresses.len() > MOST {
                return None;
            }
        }
        if addresses == [address] {
            return None;
        }
        let sections = addresses.into_iter().map(|address| {
            let access = Access {
                exact: false,
                ..Access::at(address, block)
            };
            let extent = self.extent_of(&access, scope);
            matches!(extent, Extent::Section(_)).then_some(extent)
        });
        sections.collect()
    }

    /// A part of an address that is one of several others in each turn of `nest`.
    fn choice_in(
        &self,
        address: Expression<'m>,
        block: Block<'m>,
        nest: usize,
    ) -> Option<(Expression<'m>, Vec<Expression<'m>>)> {
        // A hull of sums in which quotients occur is much more than either of them.
        let is_collapsed = address
            .contains(|part| part.is(Kind::UnsignedDivide) && !self.is_invariant(part, nest));
        let mut rest = vec![address];
        while let Some(one) = rest.pop() {
            if self.is_invariant(one, nest) {
                continue;
            }
            let options = match one.kind() {
                Kind::Value => self.options(one.value()?, block),
                kind if kind.is_choice() && is_collapsed => Some(one.operands().to_vec()),
                _ => None,
            };
            if let Some(options) = options {
                return Some((one, options));
            }
            rest.extend(one.operands());
        }
        None
    }

    /// What `value` is one of, in the same turn of all loops around `block`.
    fn options(&self, value: Value<'m>, block: Block<'m>) -> Option<Vec<Expression<'m>>> {
        let at = value.as_instruction()?;
        let values: Vec<Value<'m>> = match at.opcode() {
            Opcode::LLVMSelect => vec![at.operand(1), at.operand(2)],
            Opcode::LLVMPHI => at.incoming().into_iter().map(|(one, _)| one).collect(),
            _ => return None,
        };
        let loops = || 0..self.loops().len();
        let is_in_turn = |one: Value<'m>| {
            one.as_instruction().is_none_or(|one| {
                loops().all(|of| !self.contains(of, one.block()) || self.contains(of, block))
            })
        };
        let is_alike = loops().all(|of| self.contains(of, at.block()) == self.contains(of, block));
        let begins = loops().any(|of| self.loops()[of].header == at.block());
        let is_phi = at.opcode() == Opcode::LLVMPHI;
        if !is_alike || is_phi && begins {
            return None;
        }
        let is_known = |&one: &Value<'m>| is_in_turn(one) && self.can_know(one);
        values
            .iter()
            .all(is_known)
            .then(|| values.iter().map(|&one| self.expression(one)).collect())
    }
}
