//! What lanes and warps do together: barriers, shuffles, votes, matches and reductions.

use super::Operands;
use crate::decode::words::Words;
use crate::decode::{Decoder, Result, wrong};
use crate::parse;
use crate::program::{Class, Reduction, Register, Shuffle, Vote, What};
use crate::types::Type;

impl Decoder<'_> {
    pub(super) fn barrier(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let number_type = Type::named("u32").expect("a type");
        if words.has("warp") {
            if !words.has("sync") {
                return words.unknown();
            }
            let mask = self.value(operands, number_type)?;
            return Ok((Class::Barrier, What::WarpBarrier { mask }));
        }
        let line = operands.line;
        words.has("cta");
        words.has("aligned");
        words.has("all");
        let (sync, arrive, red) = (words.has("sync"), words.has("arrive"), words.has("red"));
        let reduction = match red {
            false => Reduction::None,
            true if words.has("popc") => Reduction::Count,
            true if words.has("and") => Reduction::And,
            true if words.has("or") => Reduction::Or,
            true => return words.unknown(),
        };
        if u8::from(sync) + u8::from(arrive) + u8::from(red) != 1 {
            return words.unknown();
        }
        words.types();
        let to = if red {
            Some(self.to(operands)?.0)
        } else {
            None
        };
        let number = self.value(operands, number_type)?;
        let at_least = usize::from(red);
        let threads = if operands.left() > at_least {
            Some(self.value(operands, number_type)?)
        } else {
            None
        };
        if arrive && threads.is_none() {
            return wrong(line, "bar.arrive has a number of threads");
        }
        let by = if red {
            Some(self.guard_of(operands.next()?, line)?)
        } else {
            None
        };
        let what = What::Barrier {
            number,
            threads,
            waits: !arrive,
            reduction,
            to,
            by,
        };
        Ok((Class::Barrier, what))
    }

    pub(super) fn shuffle(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        if !words.has("sync") {
            return words.unknown();
        }
        let how = words.find(|word| {
            Some(match word {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Butterfly,
                "idx" => Shuffle::Index,
                _ => return None,
            })
        });
        let Some(how) = how else {
            return words.unknown();
        };
        let of = words.one_type()?;
        let line = operands.line;
        let (to, inside) = self.pair(operands.next()?, line)?;
        let value = self.value(operands, of)?;
        let (lane, clamp) = (self.value(operands, of)?, self.value(operands, of)?);
        let mask = self.value(operands, of)?;
        let what = What::Shuffle {
            how,
            to,
            inside,
            value,
            lane,
            clamp,
            mask,
        };
        Ok((Class::Lanes, what))
    }

    pub(super) fn pair(
        &mut self,
        operand: &parse::Operand,
        line: u32,
    ) -> Result<(Register, Option<Register>)> {
        Ok(match operand {
            parse::Operand::Pair(to, other) => {
                let to = self.perhaps_to(to, line)?;
                let to = to.unwrap_or_else(|| self.sink());
                (to, self.perhaps_to(other, line)?)
            }
            operand => (self.register_of(operand, line)?.0, None),
        })
    }

    pub(super) fn vote(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let what = words.find(|word| {
            Some(match word {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Same,
                "ballot" => Vote::Ballot,
                _ => return None,
            })
        });
        let (Some(what), true) = (what, words.has("sync")) else {
            return words.unknown();
        };
        words.one_type()?;
        let line = operands.line;
        let to = self.to(operands)?.0;
        let by = self.guard_of(operands.next()?, line)?;
        let mask = self.value(operands, Type::named("b32").expect("a type"))?;
        Ok((Class::Lanes, What::Vote { what, to, by, mask }))
    }

    pub(super) fn matched(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (any, all) = (words.has("any"), words.has("all"));
        if any == all || !words.has("sync") {
            return words.unknown();
        }
        let of = words.one_type()?;
        let line = operands.line;
        let (to, is_same) = self.pair(operands.next()?, line)?;
        let value = self.value(operands, of)?;
        let mask = self.value(operands, Type::named("b32").expect("a type"))?;
        let bits = of.width();
        Ok((
            Class::Lanes,
            What::Match {
                bits,
                all,
                to,
                is_same,
                value,
                mask,
            },
        ))
    }

    pub(super) fn reduction(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (Some(op), true) = (Self::update(words), words.has("sync")) else {
            return words.unknown();
        };
        let of = words.one_type()?;
        if !of.is_whole() || of.width() != 32 {
            return words.unknown();
        }
        let to = self.to(operands)?.0;
        let value = self.value(operands, of)?;
        let mask = self.value(operands, Type::named("b32").expect("a type"))?;
        Ok((
            Class::Lanes,
            What::Reduce {
                op,
                of,
                to,
                value,
                mask,
            },
        ))
    }
}
