//! Where control may go in a function, from one instruction to the next.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::llvm::{Block, Instruction, Opcode};

/// How a search goes on behind an instruction.
pub enum Goes {
    /// Behind it.
    On,
    /// Not there.
    NoFurther,
    /// It has found what it is for.
    Found,
}

/// Goes through all instructions that control may come to, once each, beginning with this one; what was found. (The code in front
/// of it in its block comes where control comes back there.)
pub fn search<'m>(
    start: Instruction<'m>,
    mut visit: impl FnMut(Instruction<'m>) -> Goes,
) -> Option<Instruction<'m>> {
    let mut seen = HashSet::new();
    let mut rest = vec![start];
    while let Some(start) = rest.pop() {
        let mut goes_on = true;
        for at in code_from(start) {
            match visit(at) {
                Goes::On => {}
                Goes::Found => return Some(at),
                Goes::NoFurther => {
                    goes_on = false;
                    break;
                }
            }
        }
        if goes_on {
            let next = start.block().successors().into_iter();
            let next = next.filter(|one| seen.insert(*one));
            rest.extend(next.map(|one| one.instructions()[0]));
        }
    }
    None
}

/// Whether control may come from one instruction to another one, and not by a third one.
pub fn comes_to<'m>(
    from: Instruction<'m>,
    to: Instruction<'m>,
    not: Option<Instruction<'m>>,
) -> bool {
    let mut all = starts_behind(from).into_iter();
    all.any(|start| {
        let found = search(start, |at| match at == to {
            true => Goes::Found,
            false if Some(at) == not => Goes::NoFurther,
            false => Goes::On,
        });
        found.is_some()
    })
}

/// All instructions that control may come to from one on.
pub fn behind<'m>(from: Instruction<'m>) -> HashSet<Instruction<'m>> {
    let mut all = HashSet::new();
    for start in starts_behind(from) {
        search(start, |at| {
            all.insert(at);
            Goes::On
        });
    }
    all
}

/// The blocks on the ways between which a branch chooses, and the block in which these meet again: all of them that come to an
/// end of the function come there first. None where they do not meet.
pub fn decided<'m>(branch: Instruction<'m>) -> (HashSet<Block<'m>>, Option<Block<'m>>) {
    let starts = branch.block().successors();
    let returns = |block: &Block<'m>| {
        let end = block.terminator().expect("a complete block").opcode();
        matches!(end, Opcode::LLVMRet | Opcode::LLVMResume)
    };
    // Each with the block that it is come to from.
    let all_but = |not: Option<Block<'m>>| {
        let mut order: Vec<_> = starts.clone();
        let mut from: HashMap<_, Option<Block<'m>>> = HashMap::new();
        from.extend(starts.iter().map(|one| (*one, None)));
        let mut at = 0;
        while let Some(block) = order.get(at).copied() {
            at += 1;
            if Some(block) == not {
                continue;
            }
            for next in block.successors() {
                if let Entry::Vacant(entry) = from.entry(next) {
                    entry.insert(Some(block));
                    order.push(next);
                }
            }
        }
        order.retain(|one| Some(*one) != not);
        (order, from)
    };
    let (order, from) = all_but(None);
    let all = order.iter().copied().collect();
    let Some(end) = order.into_iter().find(returns) else {
        return (all, None);
    };
    // They meet in a block of each way to the end, the shortest one among them.
    let mut way = vec![end];
    while let Some(Some(before)) = from.get(way.last().expect("it has one")) {
        way.push(*before);
    }
    for join in way.into_iter().rev() {
        let (blocks, _) = all_but(Some(join));
        if !blocks.iter().any(returns) {
            return (blocks.into_iter().collect(), Some(join));
        }
    }
    (all, None)
}

/// Where control goes from an instruction: the next one, or the first ones of blocks.
fn starts_behind(from: Instruction<'_>) -> Vec<Instruction<'_>> {
    match code_from(from).get(1) {
        Some(next) => vec![*next],
        None => {
            let next = from.block().successors().into_iter();
            next.map(|one| one.instructions()[0]).collect()
        }
    }
}

/// The instructions of a block from one on.
pub fn code_from(start: Instruction<'_>) -> Vec<Instruction<'_>> {
    let code = start.block().instructions();
    let at = code.iter().position(|one| *one == start);
    code[at.expect("it stands in its block")..].to_vec()
}

/// The next one in its block, which it does not end.
pub fn next_of(at: Instruction<'_>) -> Instruction<'_> {
    code_from(at)[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Opcode, OwnModule};

    const CODE: &str = "
        define void @code(ptr %p, i1 %c) {
        first:
            store i32 1, ptr %p
            br label %turn
        turn:
            store i32 2, ptr %p
            store i32 3, ptr %p
            br i1 %c, label %turn, label %last
        last:
            store i32 4, ptr %p
            ret void
        }";

    #[test]
    fn control_is_followed_from_one_instruction_to_another() {
        let module = OwnModule::parse(CODE);
        let code = module.function("code").expect("it is there").instructions();
        let stores: Vec<_> = code
            .iter()
            .copied()
            .filter(|one| one.opcode() == Opcode::LLVMStore)
            .collect();
        let comes = |from: usize, to: usize, not: Option<usize>| {
            comes_to(
                stores[from - 1],
                stores[to - 1],
                not.map(|not| stores[not - 1]),
            )
        };
        assert!(comes(1, 4, None) && comes(3, 2, None) && comes(2, 2, None));
        assert!(!comes(1, 1, None) && !comes(4, 2, None) && !comes(2, 1, None));
        assert!(comes(1, 2, Some(3)) && !comes(1, 4, Some(2)) && !comes(3, 3, Some(2)));
        assert_eq!(behind(stores[3]).len(), 1);
        assert_eq!(behind(stores[2]).len(), 5);
        let end = *code.last().expect("it returns");
        assert!(behind(end).is_empty());
    }

    #[test]
    fn the_ways_of_a_branch_meet() {
        let module = OwnModule::parse(
            "
            define void @code(i1 %c, i1 %d) {
            first:
                br i1 %c, label %then, label %else
            then:
                br i1 %d, label %join, label %dies
            dies:
                unreachable
            else:
                br i1 %d, label %else, label %join
            join:
                br i1 %d, label %one, label %other
            one:
                ret void
            other:
                ret void
            }",
        );
        let blocks = module.function("code").expect("it is there").blocks();
        let of = |at: usize| decided(blocks[at].terminator().expect("a complete block"));
        let set = |all: &[usize]| all.iter().map(|at| blocks[*at]).collect::<HashSet<_>>();
        assert!(of(0) == (set(&[1, 2, 3]), Some(blocks[4])));
        assert!(of(1) == (set(&[2]), Some(blocks[4])));
        // It decides how often it is come to.
        assert!(of(3) == (set(&[3]), Some(blocks[4])));
        assert!(of(4) == (set(&[5, 6]), None));
    }
}
