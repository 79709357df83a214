//! Where all work items of a block are sure to meet: the code that each of them runs, cut there.
//!
//! Guarantee: all work items that enter the code come to the same cuts in the same order. A piece between cuts is entered
//! at one place, and left for one place. What decides at a cut how the code goes on, and what a cut stores, is computed of
//! what is the same for all work items, and of nothing that may fail: it may be computed once for all of them.
//!
//! Cuts that are no barriers keep the conditions and the variables of regular loops around barriers out of the pieces. All
//! that is asked of them is what is checked in the end, of each piece; which ones there are only decides what is found.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::analysis::variables::{Does, is_destination, is_harmless, uses};
use crate::llvm::{Block, Instruction, Opcode, Value};
use crate::marks::OKL_BARRIER;

/// The code that a work item runs.
pub struct ItemCode<'a, 'm> {
    /// Its blocks, the first one first.
    pub blocks: &'a [Block<'m>],
    /// Where it ends: in front of this one.
    pub end: Block<'m>,
    /// The loops over work items around it, whole.
    pub nest: &'a [Block<'m>],
}

/// The code of a work item, cut.
pub struct Pieces<'m> {
    /// What lies between cuts.
    pub pieces: Vec<Piece<'m>>,
    /// Where it is cut.
    pub cuts: Vec<Cut<'m>>,
    /// Where it begins.
    pub first: Next,
}

/// Code between cuts.
pub struct Piece<'m> {
    /// Consecutive instructions of a block each; it is entered where the first one begins.
    pub runs: Vec<Vec<Instruction<'m>>>,
    /// Where it is left for.
    pub next: Next,
}

/// A place where the code is cut.
pub struct Cut<'m> {
    /// The barrier, the store or the end of a block that it consists of.
    pub at: Instruction<'m>,
    /// What a store stores and an end asks for is computed of, in its order: what of that stands in front of another cut of the
    /// block that is no barrier, that has.
    pub computes: Vec<Instruction<'m>>,
    /// Where the code goes on, for each successor of an end; nowhere where that ends the program.
    pub next: Vec<Option<Next>>,
}

/// Where code goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// At a cut.
    Cut(usize),
    /// At a piece.
    Piece(usize),
    /// At the end.
    End,
}

/// Whether the work items of a block meet at an instruction.
pub fn is_barrier(one: Instruction<'_>) -> bool {
    let call = one.as_call();
    call.is_some_and(|call| call.callee_name() == OKL_BARRIER)
}

/// The code, cut at its barriers; or one of them that it is not sure of that all work items come to it.
pub fn cut<'m>(code: &ItemCode<'_, 'm>) -> Result<Pieces<'m>, Instruction<'m>> {
    let all = code.blocks.iter().flat_map(|block| block.instructions());
    let barriers: Vec<_> = all.filter(|one| is_barrier(*one)).collect();
    let mut found = Common::default();
    for &barrier in &barriers {
        found.add(code, barrier).ok_or(barrier)?;
    }
    let first = *barriers.first().expect("there is something to cut");
    found.distribute();
    Graph::of(code, &found)
        .and_then(|mut graph| graph.pieces())
        .ok_or(first)
}

/// The ends of blocks that decide whether an instruction is reached, and how often: one way on from each of them cannot
/// but lead there, and another one leads out of these blocks without it; or they decide so of such an end. What ends the
/// program does not lead out of them, nor does an exception that leaves the loops over work items around them: for that it
/// ends, too.
pub fn conditions<'m>(
    of: Instruction<'m>,
    blocks: &[Block<'m>],
    nest: &[Block<'m>],
) -> Vec<Instruction<'m>> {
    let follow = |one: Block<'m>| {
        let end = one.terminator();
        let may_throw = end.is_some_and(|end| end.opcode() == Opcode::LLVMInvoke);
        let mut next = one.successors();
        next.retain(|to| !may_throw || nest.contains(to));
        next
    };
    let inside: HashSet<_> = blocks[1..].iter().copied().collect();
    let leaves = |one: &Block<'m>| !inside.contains(one);
    let is_return =
        |one: Instruction<'m>| matches!(one.opcode(), Opcode::LLVMRet | Opcode::LLVMResume);
    let never = |one: &Block<'m>| {
        let end = one.terminator();
        end.is_some_and(|end| end.opcode() == Opcode::LLVMUnreachable)
    };
    let returns = |one: Block<'m>| one.terminator().is_some_and(is_return);
    // The blocks from which some way leads to one of which that is so already.
    let close = |known: &mut HashSet<Block<'m>>, not: Option<Block<'m>>| {
        let mut count = None;
        while count.replace(known.len()) != Some(known.len()) {
            for &one in blocks.iter().filter(|one| Some(**one) != not) {
                let next = follow(one);
                let leads = |to: &Block<'m>| !leaves(to) && known.contains(to);
                if next.iter().any(leads) {
                    known.insert(one);
                }
            }
        }
    };
    let mut found = Vec::new();
    let mut rest = vec![of.block()];
    while let Some(block) = rest.pop() {
        let mut to_it = HashSet::from([block]);
        close(&mut to_it, None);
        let others = blocks.iter().copied().filter(|one| *one != block);
        let is_last = |one: &Block<'m>| returns(*one) || follow(*one).iter().any(leaves);
        let mut around: HashSet<_> = others.filter(is_last).collect();
        close(&mut around, Some(block));
        for &one in blocks {
            let next = follow(one);
            let goes_around = |to: &Block<'m>| !never(to) && (leaves(to) || around.contains(to));
            let must = |to: &Block<'m>| !goes_around(to) && to_it.contains(to);
            if next.iter().any(goes_around)
                && next.iter().any(must)
                && let Some(end) = one.terminator()
                && !found.contains(&end)
            {
                found.push(end);
                rest.push(one);
            }
        }
    }
    found
}

/// What is the same for all work items.
#[derive(Default)]
struct Common<'m> {
    barriers: Vec<Instruction<'m>>,
    /// Ends of blocks and stores, and what they are computed of.
    computed: HashMap<Instruction<'m>, Vec<Instruction<'m>>>,
}

impl<'m> Common<'m> {
    /// Adds a barrier, all that decides whether it is reached, and what that is computed of.
    fn add(&mut self, code: &ItemCode<'_, 'm>, barrier: Instruction<'m>) -> Option<()> {
        self.barriers.push(barrier);
        let mut rest = vec![barrier];
        while let Some(next) = rest.pop() {
            let ends = conditions(next, code.blocks, code.nest).into_iter();
            let mut new: Vec<_> = ends
                .map(|end| Some((end, end.branch_condition()?)))
                .collect::<Option<_>>()?;
            while let Some((at, value)) = new.pop() {
                if self.computed.contains_key(&at) {
                    continue;
                }
                let (computes, stores) = computation(code, at, value)?;
                self.computed.insert(at, computes);
                rest.push(at);
                new.extend(stores.into_iter().map(|store| (store, store.operand(0))));
            }
        }
        Some(())
    }

    /// Leaves each computation to the first cut behind it, so that it is done in the order in which it was.
    fn distribute(&mut self) {
        let all: HashSet<_> = self.computed.values().flatten().copied().collect();
        let is_cut: HashSet<_> = self.computed.keys().copied().collect();
        for (at, computes) in &mut self.computed {
            computes.clear();
            let block = at.block().instructions();
            for one in block.into_iter().take_while(|one| one != at) {
                // What is in front of another cut is left to that.
                match is_cut.contains(&one) {
                    true => computes.clear(),
                    false if all.contains(&one) => computes.push(one),
                    false => {}
                }
            }
        }
    }
}

/// What a value is computed of in front of an instruction of its block, where that is the same for all work items, and
/// the stores by which it is.
fn computation<'m>(
    code: &ItemCode<'_, 'm>,
    at: Instruction<'m>,
    value: Value<'m>,
) -> Option<(Vec<Instruction<'m>>, Vec<Instruction<'m>>)> {
    let mut before = at.block().instructions();
    before.truncate(before.iter().position(|one| *one == at)?);
    let mut found = HashSet::new();
    let mut stores = Vec::new();
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        let Some(one) = value.as_instruction() else {
            let is_same = value.is_constant() || value.as_parameter().is_some();
            is_same.then_some(())?;
            continue;
        };
        if !found.insert(one) {
            continue;
        }
        if !before.contains(&one) || !cannot_fail(one) {
            return None;
        }
        if one.opcode() == Opcode::LLVMLoad {
            stores.extend(stores_of(code, one)?);
            // Only its indices are left to be looked at.
            let mut address = one.operand(0);
            while let Some(part) = address.as_op(Opcode::LLVMGetElementPtr) {
                before.contains(&part).then_some(())?;
                found.insert(part);
                rest.extend(part.operands().into_iter().skip(1));
                address = part.operand(0);
            }
        } else {
            rest.extend(one.operands());
        }
    }
    before.retain(|one| found.contains(one));
    Some((before, stores))
}

/// Whether an instruction only computes, whatever its operands are.
pub fn cannot_fail(one: Instruction<'_>) -> bool {
    let divides = matches!(
        one.opcode(),
        Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem
    );
    let by = divides.then(|| one.operand(1).as_constant_int());
    one.only_computes()
        && one.as_call().is_none()
        && !by.is_some_and(|by| matches!(by, None | Some(0 | -1)))
}

/// The stores by which the work items change a variable that is loaded, where it is the same for all of them.
fn stores_of<'m>(code: &ItemCode<'_, 'm>, load: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let address = load.operand(0);
    let mut base = address;
    while let Some(part) = base.as_op(Opcode::LLVMGetElementPtr) {
        base = part.operand(0);
    }
    if base.as_global().is_some_and(|one| one.is_readonly()) {
        return Some(Vec::new());
    }
    let variable = base.as_op(Opcode::LLVMAlloca)?;
    if is_destination(variable) {
        return last_stores(code, load);
    }
    // Iterators of outer loops are the same for all of a block.
    let is_said_otherwise = |one: Instruction<'m>| {
        let call = one.as_call().filter(|_| is_harmless(one));
        let said = call.and_then(|call| call.argument(1)?.as_text());
        said.is_some_and(|said| said.starts_with("okl.") && said != "okl.outer")
    };
    if variable
        .instruction_users()
        .into_iter()
        .any(is_said_otherwise)
    {
        return None;
    }
    let uses = uses(variable);
    if uses.iter().any(|(_, does)| *does == Does::Unknown) {
        return None;
    }
    let writes = uses.iter().filter(|(_, does)| *does == Does::Write);
    let (inside, outside): (Vec<_>, Vec<_>) = writes
        .map(|(one, _)| *one)
        .partition(|one| code.nest.contains(&one.block()));
    let is_whole = |one: &Instruction<'m>| {
        one.opcode() == Opcode::LLVMStore
            && !one.is_volatile_or_atomic()
            && one.operand(1) == base
            && Some(one.operand(0).ty()) == variable.allocated_type()
            && code.blocks.contains(&one.block())
            && one.block() != code.end
    };
    let is_right =
        inside.is_empty() || (address == base && outside.is_empty() && inside.iter().all(is_whole));
    is_right.then_some(inside)
}

/// The last stores into a variable on all ways to a load of it; none where a way leads from the beginning of the code.
fn last_stores<'m>(code: &ItemCode<'_, 'm>, load: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let before = load.block().instructions().into_iter();
    let mut rest = vec![before.take_while(|one| *one != load).collect::<Vec<_>>()];
    let mut blocks = vec![load.block()];
    while let Some((instructions, block)) = rest.pop().zip(blocks.pop()) {
        let is_store = |one: &&Instruction<'m>| {
            one.opcode() == Opcode::LLVMStore && one.operand(1) == load.operand(0)
        };
        if let Some(&store) = instructions.iter().rev().find(is_store) {
            found.push(store);
            continue;
        }
        if block == code.blocks[0] {
            return None;
        }
        for before in block.predecessors() {
            if !code.blocks.contains(&before) {
                return None;
            }
            if seen.insert(before) {
                rest.push(before.instructions());
                blocks.push(before);
            }
        }
    }
    Some(found)
}

/// Consecutive instructions of a block, or a cut.
struct Node<'m> {
    code: Vec<Instruction<'m>>,
    /// What the cut is computed of.
    cut: Option<Vec<Instruction<'m>>>,
    /// Where control goes: nowhere else where there is none, and to the end.
    next: Vec<To>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Node(usize),
    End,
    /// Where the program ends, or what is thrown goes.
    Elsewhere,
}

struct Graph<'m> {
    nodes: Vec<Node<'m>>,
}

impl<'m> Graph<'m> {
    fn of(code: &ItemCode<'_, 'm>, common: &Common<'m>) -> Option<Self> {
        let mut nodes: Vec<Node<'m>> = Vec::new();
        let mut begins = HashMap::new();
        let mut ends = Vec::new();
        let blocks = code.blocks.iter().copied();
        for block in blocks.filter(|block| *block != code.end) {
            begins.insert(block, nodes.len());
            let mut run = Vec::new();
            let mut add = |code: Vec<Instruction<'m>>, cut| {
                let next = vec![To::Node(nodes.len() + 1)];
                nodes.push(Node { code, cut, next });
            };
            for one in block.instructions() {
                let cut = match common.barriers.contains(&one) {
                    true => Some(Vec::new()),
                    false => common.computed.get(&one).cloned(),
                };
                match cut {
                    None => run.push(one),
                    Some(computes) => {
                        if !run.is_empty() {
                            add(std::mem::take(&mut run), None);
                        }
                        add(vec![one], Some(computes));
                    }
                }
            }
            if !run.is_empty() {
                add(run, None);
            }
            ends.push((block, nodes.len() - 1));
        }
        for (block, last) in ends {
            let to = |next: Block<'m>| match begins.get(&next) {
                Some(&begin) => To::Node(begin),
                None if next == code.end => To::End,
                None => To::Elsewhere,
            };
            nodes[last].next = block.successors().into_iter().map(to).collect();
        }
        // The first one is the one that is entered.
        (begins.get(&code.blocks[0]) == Some(&0)).then_some(Self { nodes })
    }

    /// The node at whose beginning the piece is entered that each node is in.
    fn entries(&self) -> Vec<Option<usize>> {
        let is_item = |node: usize| self.nodes[node].cut.is_none();
        let behind = self.nodes.iter().filter(|one| one.cut.is_some());
        let behind = behind.flat_map(|one| &one.next);
        let behind = behind.filter_map(|to| match to {
            To::Node(node) => Some(*node),
            To::End | To::Elsewhere => None,
        });
        let mut entries: BTreeSet<usize> = behind.chain([0]).filter(|&one| is_item(one)).collect();
        'again: loop {
            let mut of = vec![None; self.nodes.len()];
            for &entry in &entries {
                of[entry] = Some(entry);
            }
            let mut rest: Vec<_> = entries.iter().copied().collect();
            while let Some(node) = rest.pop() {
                for next in &self.nodes[node].next {
                    let &To::Node(next) = next else { continue };
                    if !is_item(next) || entries.contains(&next) {
                        continue;
                    }
                    match of[next] {
                        None => {
                            of[next] = of[node];
                            rest.push(next);
                        }
                        Some(other) if Some(other) != of[node] => {
                            // Ways of two pieces come together there: another one begins.
                            entries.insert(next);
                            continue 'again;
                        }
                        Some(_) => {}
                    }
                }
            }
            return of;
        }
    }

    fn pieces(&mut self) -> Option<Pieces<'m>> {
        let entries = self.entries();
        let mut numbers = HashMap::new();
        let mut cuts = 0;
        let mut pieces: Vec<usize> = Vec::new();
        for (node, one) in self.nodes.iter().enumerate() {
            if one.cut.is_some() {
                numbers.insert(node, Next::Cut(cuts));
                cuts += 1;
            } else if entries[node] == Some(node) {
                numbers.insert(node, Next::Piece(pieces.len()));
                pieces.push(node);
            }
        }
        let of = |to: &To| match to {
            To::Elsewhere => None,
            To::End => Some(Next::End),
            // What control does not reach has no number.
            To::Node(node) => numbers.get(node).copied(),
        };
        let mut found = Vec::new();
        for &entry in &pieces {
            let own = (0..self.nodes.len()).filter(|&node| entries[node] == Some(entry));
            let mut own: Vec<_> = own.collect();
            own.sort_by_key(|&node| (node != entry, node));
            let mut leaves = BTreeSet::new();
            for &node in &own {
                for to in &self.nodes[node].next {
                    let is_inside = matches!(to, To::Node(next) if entries[*next] == Some(entry));
                    if !is_inside && *to != To::Elsewhere {
                        leaves.insert(of(to)?);
                    }
                }
            }
            let runs = own.iter().map(|&node| self.nodes[node].code.clone());
            // Otherwise it is the work items that decide.
            let [next] = leaves.into_iter().collect::<Vec<_>>()[..] else {
                return None;
            };
            found.push(Piece {
                runs: runs.collect(),
                next,
            });
        }
        let mut cuts = Vec::new();
        for one in &self.nodes {
            if let Some(computes) = &one.cut {
                cuts.push(Cut {
                    at: one.code[0],
                    computes: computes.clone(),
                    next: one.next.iter().map(of).collect(),
                });
            }
        }
        Some(Pieces {
            pieces: found,
            cuts,
            first: numbers[&0],
        })
    }
}

impl<'m> Pieces<'m> {
    /// What is computed for cuts only, in its order in each block.
    pub fn left_to_cuts(&self) -> Vec<Instruction<'m>> {
        let mut all: Vec<_> = self
            .cuts
            .iter()
            .flat_map(|cut| &cut.computes)
            .copied()
            .collect();
        let ends: HashSet<_> = self.cuts.iter().map(|cut| cut.at).collect();
        loop {
            let known: HashSet<_> = all.iter().chain(&ends).copied().collect();
            let before = all.len();
            all.retain(|one| {
                let mut users = one.instruction_users().into_iter();
                users.all(|user| known.contains(&user))
            });
            if all.len() == before {
                return all;
            }
        }
    }

    /// Whether a piece runs more than once each time that the code does.
    pub fn repeats(&self, piece: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut rest = vec![self.pieces[piece].next];
        while let Some(next) = rest.pop() {
            if !seen.insert(next) {
                continue;
            }
            match next {
                Next::Cut(cut) => rest.extend(self.cuts[cut].next.iter().flatten()),
                Next::Piece(piece) => rest.push(self.pieces[piece].next),
                Next::End => {}
            }
        }
        seen.contains(&Next::Piece(piece))
    }
}

impl<'m> Piece<'m> {
    /// Its instructions.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'m>> + '_ {
        self.runs.iter().flatten().copied()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        let does_nothing = |one: Instruction<'m>| {
            let goes_on = one.opcode() == Opcode::LLVMBr && one.branch_condition().is_none();
            goes_on || is_harmless(one) || one.only_computes()
        };
        !matches!(self.next, Next::Piece(_))
            && self.runs.len() == 1
            && self.instructions().all(does_nothing)
    }

    /// Whether it may use what a variable was when it is entered, for more than what the cuts compute.
    pub fn begins_with(&self, variable: Instruction<'m>, cuts: &[Cut<'m>]) -> bool {
        let is_of_cut = |one: Instruction<'m>| cuts.iter().any(|cut| cut.computes.contains(&one));
        let is_whole = |one: Instruction<'m>| {
            one.opcode() == Opcode::LLVMStore
                && one.operand(1) == *variable
                && one.operand(0) != *variable
                && Some(one.operand(0).ty()) == variable.allocated_type()
        };
        let mut seen = HashSet::from([0]);
        let mut rest = vec![0];
        while let Some(at) = rest.pop() {
            let run = &self.runs[at];
            let uses = |one: &&Instruction<'m>| {
                one.operands().contains(&variable) && !is_harmless(**one) && !is_of_cut(**one)
            };
            match run.iter().find(uses) {
                Some(one) if is_whole(*one) => continue,
                Some(_) => return true,
                None => {}
            }
            let last = *run.last().expect("a run has instructions");
            let block = last.block();
            let next = match block.terminator() == Some(last) {
                true => block.successors(),
                false => Vec::new(),
            };
            let begins = next.into_iter().map(|block| block.instructions()[0]);
            let begins: Vec<_> = begins.collect();
            let follow = (0..self.runs.len()).filter(|&run| begins.contains(&self.runs[run][0]));
            rest.extend(follow.filter(|run| seen.insert(*run)));
        }
        false
    }
}
