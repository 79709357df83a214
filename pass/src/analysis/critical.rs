//! Critical sections that do nothing but update objects by operations that commute.
//!
//! Guarantee: a section that is taken to pieces here consists of updates `*p = *p op v`, of which nothing
//! else gets to know the old value, and of what computes their addresses and values: from private memory
//! and from the loads that are listed. Whether another thread may tell that its updates take place one by
//! one is another question, which is not asked here.

use std::collections::{HashMap, HashSet};

use okl_abi::{AtomicOp, Effects};

use crate::analysis::control_flow;
use crate::analysis::library::{self, is_mathematics};
use crate::analysis::objects::{Objects, Place};
use crate::analysis::runtime::{self, effects};
use crate::analysis::updates::{arithmetic, choice};
use crate::llvm::{Block, Call, Function, Instruction, Module, Opcode, Value};

const NO_END: &str = "may be left in a way that is not understood";
/// Most instructions of a section that is looked at.
const MOST_INSTRUCTIONS: usize = 2000;

/// A critical section.
pub struct Section<'m> {
    /// The call that enters it.
    pub enter: Call<'m>,
    /// What excludes others: a variable that has the name of the section.
    pub lock: Value<'m>,
    /// The calls that leave it, and what stands between. None where its end is not clear.
    pub body: Option<Body<'m>>,
    /// What it does, or why it is not of this kind: the end of a sentence that begins with "it".
    pub updates: Result<Updates<'m>, String>,
}

/// What stands in a section.
pub struct Body<'m> {
    /// The calls that leave it.
    pub leave: Vec<Call<'m>>,
    /// The instructions, block by block.
    pub instructions: Vec<Instruction<'m>>,
}

/// What a section of this kind does.
pub struct Updates<'m> {
    /// The updates.
    pub updates: Vec<Update<'m>>,
    /// The loads of memory that other threads may have written.
    pub loads: Vec<Access<'m>>,
}

/// A load or store.
#[derive(Clone)]
pub struct Access<'m> {
    /// The instruction.
    pub at: Instruction<'m>,
    /// What it accesses.
    pub places: Vec<Place<'m>>,
    /// Bytes.
    pub size: u64,
}

/// An update of one object.
pub struct Update<'m> {
    /// The store, and what it stores to.
    pub store: Access<'m>,
    /// What is done to the object.
    pub operation: AtomicOp,
    /// With what; as many bits of it as the object has.
    pub value: Value<'m>,
    /// A branch around the store, and whether it goes to the store where its condition holds.
    pub branch: Option<(Instruction<'m>, bool)>,
    /// What nothing needs any more; users first.
    pub unneeded: Vec<Instruction<'m>>,
}

/// Every critical section of a function.
pub fn sections<'m>(
    module: &'m Module,
    objects: &Objects<'_, 'm>,
    function: Function<'m>,
) -> Vec<Section<'m>> {
    let calls = function.instructions().into_iter();
    let calls = calls.filter_map(|instruction| instruction.as_call());
    calls
        .filter(|&call| effects(call).has(Effects::ENTERS))
        .filter_map(|enter| Some(section(module, objects, enter, lock(enter)?)))
        .collect()
}

/// The variable that stands for the name of a critical section, of a call that enters or leaves it.
fn lock<'m>(call: Call<'m>) -> Option<Value<'m>> {
    call.argument(runtime::function(call)?.position("name")?)
}

/// What belongs to the section that a call enters; otherwise the end of a sentence that begins with "it".
pub fn body_of(enter: Call<'_>) -> Result<Body<'_>, &'static str> {
    lock(enter).map_or(Err(NO_END), |lock| body(enter, lock))
}

fn section<'m>(
    module: &'m Module,
    objects: &Objects<'_, 'm>,
    enter: Call<'m>,
    lock: Value<'m>,
) -> Section<'m> {
    let body = body(enter, lock);
    let updates = match &body {
        Err(reason) => Err((*reason).to_string()),
        Ok(body) => Search {
            module,
            objects,
            body,
            ways_into: ways_into(enter.instruction().function()),
            known: HashSet::new(),
        }
        .updates(),
    };
    Section {
        enter,
        lock,
        body: body.ok(),
        updates,
    }
}

fn body<'m>(enter: Call<'m>, lock: Value<'m>) -> Result<Body<'m>, &'static str> {
    let mut body = Body {
        leave: Vec::new(),
        instructions: Vec::new(),
    };
    let first = enter.instruction().block();
    let mut rest = vec![first];
    let mut seen = HashSet::new();
    // Those of which all from where the section is entered on belongs to it.
    let mut whole = HashSet::new();
    while let Some(block) = rest.pop() {
        // Others may end the program there, too.
        if block != first && ends_program(block) {
            continue;
        }
        let mut instructions = block.instructions();
        if block == first && seen.is_empty() {
            let at = instructions
                .iter()
                .position(|one| *one == enter.instruction());
            instructions.drain(..=at.expect("it stands in its block"));
        }
        if !seen.insert(block) {
            continue;
        }
        let mut is_left = false;
        for instruction in instructions {
            if let Some(call) = instruction.as_call() {
                let effects = effects(call);
                let is_of_lock = effects.has_some(Effects::ENTERS.and(Effects::LEAVES))
                    && self::lock(call) == Some(lock);
                if is_of_lock && effects.has(Effects::LEAVES) {
                    body.leave.push(call);
                    is_left = true;
                    break;
                }
                if is_of_lock {
                    return Err(NO_END);
                }
            }
            body.instructions.push(instruction);
        }
        if is_left {
            continue;
        }
        whole.insert(block);
        let next = block.successors();
        let is_entered_again = next.contains(&first);
        if next.is_empty() || is_entered_again || body.instructions.len() > MOST_INSTRUCTIONS {
            return Err(NO_END);
        }
        rest.extend(next);
    }
    let entered = seen.iter().filter(|block| **block != first);
    let entered: HashSet<_> = entered.copied().collect();
    for block in enter.instruction().function().blocks() {
        let enters = block.successors().iter().any(|next| entered.contains(next));
        if enters && !whole.contains(&block) {
            return Err(NO_END);
        }
    }
    Ok(body)
}

/// Whether a block ends the program, for an exception that may not leave the section.
fn ends_program(block: Block<'_>) -> bool {
    let ends = |call: Call<'_>| library::terminates(&call.callee_name());
    let mut calls = block.instructions().into_iter();
    let is_end = |end: Instruction<'_>| end.opcode() == Opcode::LLVMUnreachable;
    block.terminator().is_some_and(is_end) && calls.any(|one| one.as_call().is_some_and(ends))
}

fn ways_into<'m>(function: Function<'m>) -> HashMap<Block<'m>, Vec<Block<'m>>> {
    let mut ways: HashMap<_, Vec<_>> = HashMap::new();
    for block in function.blocks() {
        for next in block.successors() {
            ways.entry(next).or_default().push(block);
        }
    }
    ways
}

struct Search<'a, 'm> {
    module: &'m Module,
    objects: &'a Objects<'a, 'm>,
    body: &'a Body<'m>,
    /// From which blocks control comes to a block.
    ways_into: HashMap<Block<'m>, Vec<Block<'m>>>,
    /// Loads of old values.
    known: HashSet<Instruction<'m>>,
}

impl<'m> Search<'_, 'm> {
    fn updates(mut self) -> Result<Updates<'m>, String> {
        let mut updates = Vec::new();
        for &at in &self.body.instructions {
            match at.opcode() {
                Opcode::LLVMStore if !at.is_plain_access() => {
                    return Err("accesses a volatile or atomic object".to_string());
                }
                Opcode::LLVMStore => {
                    let access = self.access(at);
                    if !self.objects.are_private(&access.places) {
                        updates.push(self.update(access)?);
                    }
                }
                _ => {}
            }
        }
        let mut loads = Vec::new();
        for &at in &self.body.instructions {
            match at.opcode() {
                Opcode::LLVMStore | Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMAlloca => {}
                Opcode::LLVMLoad if !at.is_plain_access() => {
                    return Err("accesses a volatile or atomic object".to_string());
                }
                Opcode::LLVMLoad => {
                    let access = self.access(at);
                    if !self.known.contains(&at) && !self.objects.are_private(&access.places) {
                        loads.push(access);
                    }
                }
                Opcode::LLVMCall => {
                    let call = at.as_call();
                    if !call.is_some_and(is_harmless) {
                        let name = call.map_or_else(String::new, |call| call.callee_name());
                        return Err(match name.is_empty() {
                            true => "calls through a pointer".to_string(),
                            false => format!("calls {}", crate::llvm::demangle(&name)),
                        });
                    }
                }
                _ if is_computation(at) || at.opcode() == Opcode::LLVMPHI => {}
                _ => return Err("does more than update objects".to_string()),
            }
        }
        if updates.is_empty() {
            return Err("updates nothing that threads share".to_string());
        }
        Ok(Updates { updates, loads })
    }

    fn access(&self, at: Instruction<'m>) -> Access<'m> {
        access(self.module, self.objects, at)
    }

    /// The update that a store is the end of.
    fn update(&mut self, store: Access<'m>) -> Result<Update<'m>, String> {
        let at = store.at;
        let value = at.operand(0);
        let ty = value.ty();
        let is_number = ty.is_float_or_double()
            || ty
                .bits()
                .is_some_and(|bits| matches!(bits, 8 | 16 | 32 | 64));
        let name = self.name_of(&store);
        if !is_number || u64::from(at.alignment()) < store.size {
            return Err(format!(
                "stores to {name}, which cannot be updated in one piece"
            ));
        }
        let found = self
            .by_arithmetic(at, value)
            .or_else(|| self.by_branch(at, value))
            .or_else(|| self.by_choice(at, value));
        let Some(found) = found else {
            return Err(format!(
                "does something else to {name} than add, combine bits, or take the larger or smaller"
            ));
        };
        for &load in &found.olds {
            self.known.insert(load);
        }
        let mut unneeded = found.unneeded;
        unneeded.extend(found.olds);
        Ok(Update {
            store,
            operation: found.operation,
            value: found.value,
            branch: found.branch,
            unneeded,
        })
    }

    fn name_of(&self, access: &Access<'m>) -> String {
        use crate::analysis::objects::Object;
        let name = access.places.iter().find_map(|place| match place.object {
            Object::Named(object) | Object::PointedToBy(object, _) => Some(object.name()),
            Object::Foreign | Object::Unknown => None,
        });
        name.filter(|name| !name.is_empty())
            .unwrap_or_else(|| "memory".to_string())
    }

    /// `*p = *p op v`.
    fn by_arithmetic(&self, store: Instruction<'m>, value: Value<'m>) -> Option<Found<'m>> {
        let last = value.as_instruction().filter(|one| is_used_once(**one))?;
        // Narrow integers are computed as wide ones.
        let (last, narrowed) = match last.opcode() {
            Opcode::LLVMTrunc => (last.operand(0).as_instruction()?, Some(last)),
            _ => (last, None),
        };
        if !is_used_once(*last) {
            return None;
        }
        let (operation, commutes) = arithmetic(last)?;
        let is_integer = value.ty().is_integer();
        if narrowed.is_some() && !is_integer {
            return None;
        }
        let chosen = [(0, 1), (1, 0)].into_iter().find_map(|(old, other)| {
            if old == 1 && !commutes {
                return None;
            }
            let mut wide = None;
            let mut load = last.operand(old).as_instruction()?;
            if narrowed.is_some() && matches!(load.opcode(), Opcode::LLVMSExt | Opcode::LLVMZExt) {
                wide = Some(load).filter(|one| is_used_once(**one));
                wide?;
                load = load.operand(0).as_instruction()?;
            }
            self.is_old(load, store)
                .then_some((load, wide, last.operand(other)))
        });
        let (load, wide, operand) = chosen?;
        // Comparing wide numbers is not the same as comparing their lower parts.
        let is_modular = !matches!(
            operation,
            AtomicOp::Max | AtomicOp::Min | AtomicOp::UMax | AtomicOp::UMin
        );
        if narrowed.is_some() && (!is_modular || wide.is_none()) {
            return None;
        }
        let unneeded = [narrowed, Some(last), wide].into_iter().flatten();
        Some(Found {
            operation,
            value: operand,
            branch: None,
            unneeded: unneeded.collect(),
            olds: vec![load],
        })
    }

    /// `if (v > *p) *p = v`.
    fn by_branch(&self, store: Instruction<'m>, value: Value<'m>) -> Option<Found<'m>> {
        let block = store.block();
        let (before, branch) = self.only_way_into(block)?;
        let [to_first, to_second] = before.successors()[..] else {
            return None;
        };
        let is_first = to_first == block;
        let after = if is_first { to_second } else { to_first };
        let starts_with_phi = after
            .instructions()
            .first()
            .is_some_and(|one| one.opcode() == Opcode::LLVMPHI);
        if block.successors() != [after] || after == block || starts_with_phi {
            return None;
        }
        let shared = block.instructions().into_iter();
        let stores = shared
            .filter(|one| one.opcode() == Opcode::LLVMStore)
            .count();
        let condition = branch.branch_condition()?.as_instruction()?;
        let (old, new, mirrored) = self.compared(condition, store)?;
        if stores != 1 || !is_used_once(*condition) || !self.is_same(new, value) {
            return None;
        }
        Some(Found {
            operation: choice(condition.comparison()?, mirrored, is_first)?,
            value: new,
            branch: Some((branch, is_first)),
            unneeded: vec![condition],
            olds: vec![old],
        })
    }

    /// `*p = v > *p ? v : *p`.
    fn by_choice(&self, store: Instruction<'m>, value: Value<'m>) -> Option<Found<'m>> {
        let chosen = value.as_instruction().filter(|one| is_used_once(**one))?;
        let (condition, if_true, if_false, branch) = match chosen.opcode() {
            Opcode::LLVMSelect => (
                chosen.operand(0),
                chosen.operand(1),
                chosen.operand(2),
                None,
            ),
            Opcode::LLVMPHI => {
                let [(a, from_a), (b, from_b)] = chosen.incoming()[..] else {
                    return None;
                };
                let (before, branch) = self.only_way_into(from_a)?;
                let is_plain = |block: Block<'m>| {
                    block.successors() == [chosen.block()]
                        && block
                            .instructions()
                            .iter()
                            .all(|one| one.opcode() != Opcode::LLVMStore)
                };
                if self.only_way_into(from_b)?.0 != before
                    || !is_plain(from_a)
                    || !is_plain(from_b)
                    || chosen.block() != store.block()
                {
                    return None;
                }
                let condition = branch.branch_condition()?;
                match before.successors()[..] {
                    [first, second] if first == from_a && second == from_b => {
                        (condition, a, b, Some(branch))
                    }
                    [first, second] if first == from_b && second == from_a => {
                        (condition, b, a, Some(branch))
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let condition = condition.as_instruction()?;
        if !is_used_once(*condition) {
            return None;
        }
        let (old, new, mirrored) = self.compared(condition, store)?;
        let is_other_old = |value: Value<'m>| {
            let load = value.as_op(Opcode::LLVMLoad)?;
            (load != old && self.is_old(load, store)).then_some(load)
        };
        let (other_old, takes_if) = match (is_other_old(if_true), is_other_old(if_false)) {
            (None, Some(load)) if self.is_same(new, if_true) => (load, true),
            (Some(load), None) if self.is_same(new, if_false) => (load, false),
            _ => return None,
        };
        Some(Found {
            operation: choice(condition.comparison()?, mirrored, takes_if)?,
            value: new,
            branch: branch.map(|branch| (branch, true)),
            unneeded: vec![chosen, condition],
            olds: vec![old, other_old],
        })
    }

    /// The block from which alone a block of the section is entered, and its branch.
    fn only_way_into(&self, block: Block<'m>) -> Option<(Block<'m>, Instruction<'m>)> {
        let [one] = self.ways_into(block)[..] else {
            return None;
        };
        let branch = one.terminator()?;
        self.body
            .instructions
            .contains(&branch)
            .then_some((one, branch))
    }

    /// The old value and the other one of a comparison, and whether the old one comes first.
    fn compared(
        &self,
        condition: Instruction<'m>,
        store: Instruction<'m>,
    ) -> Option<(Instruction<'m>, Value<'m>, bool)> {
        condition.comparison()?;
        let old = |index: usize| {
            let load = condition.operand(index).as_op(Opcode::LLVMLoad)?;
            self.is_old(load, store).then_some(load)
        };
        match (old(0), old(1)) {
            (None, Some(load)) => Some((load, condition.operand(0), false)),
            (Some(load), None) => Some((load, condition.operand(1), true)),
            _ => None,
        }
    }

    /// Whether a load, which nothing else uses, is of what a store stores to.
    fn is_old(&self, load: Instruction<'m>, store: Instruction<'m>) -> bool {
        load.opcode() == Opcode::LLVMLoad
            && load.is_plain_access()
            && self.body.instructions.contains(&load)
            && is_used_once(*load)
            && (*load).ty() == store.operand(0).ty()
            && self.is_quiet_between(load, store)
            && self.is_same(load.operand(0), store.operand(1))
    }

    /// Whether two values are computed in the same way from the same variables, which do not change from
    /// the one computation to the other.
    fn is_same(&self, one: Value<'m>, other: Value<'m>) -> bool {
        if one == other {
            return true;
        }
        let (Some(a), Some(b)) = (one.as_instruction(), other.as_instruction()) else {
            return false;
        };
        let (from, to) = (a.operands(), b.operands());
        let is_load = a.opcode() == Opcode::LLVMLoad && a.is_plain_access() && b.is_plain_access();
        let is_call = a
            .as_call()
            .is_some_and(|call| is_mathematics_intrinsic(&call.callee_name()));
        a.opcode() == b.opcode()
            && one.ty() == other.ty()
            && from.len() == to.len()
            && a.comparison() == b.comparison()
            && a.source_element_type() == b.source_element_type()
            && (is_computation(a) || is_call || is_load && self.is_quiet_between(a, b))
            && from.into_iter().zip(to).all(|(a, b)| self.is_same(a, b))
    }

    /// Whether nothing is stored from one instruction of the section until another one is reached.
    fn is_quiet_between(&self, from: Instruction<'m>, to: Instruction<'m>) -> bool {
        let inside = |one: &Instruction<'m>| self.body.instructions.contains(one);
        if !inside(&from) || !inside(&to) {
            return false;
        }
        let is_quiet = |part: &[Instruction<'m>]| {
            part.iter().all(|one| match one.opcode() {
                Opcode::LLVMStore => false,
                Opcode::LLVMCall => one.as_call().is_some_and(is_harmless),
                _ => true,
            })
        };
        let (first, last) = (from.block(), to.block());
        let (start, end) = (first.instructions(), last.instructions());
        let at = |list: &[Instruction<'m>], one| list.iter().position(|other| *other == one);
        let (Some(i), Some(j)) = (at(&start, from), at(&end, to)) else {
            return false;
        };
        if first == last {
            return i < j && is_quiet(&start[i..j]);
        }
        if !is_quiet(&start[i..]) || !is_quiet(&end[..j]) {
            return false;
        }
        let between = |mut blocks: Vec<Block<'m>>| {
            blocks.retain(|block| ![first, last].contains(block));
            blocks
        };
        let behind = control_flow::reached(between(first.successors()), |block| {
            between(block.successors())
        });
        let before = control_flow::reached(between(self.ways_into(last)), |block| {
            between(self.ways_into(block))
        });
        behind
            .intersection(&before)
            .all(|block| is_quiet(&block.instructions()))
    }

    fn ways_into(&self, block: Block<'m>) -> Vec<Block<'m>> {
        self.ways_into.get(&block).cloned().unwrap_or_default()
    }
}

struct Found<'m> {
    operation: AtomicOp,
    value: Value<'m>,
    branch: Option<(Instruction<'m>, bool)>,
    unneeded: Vec<Instruction<'m>>,
    olds: Vec<Instruction<'m>>,
}

/// What a load or store accesses.
pub fn access<'m>(
    module: &'m Module,
    objects: &Objects<'_, 'm>,
    at: Instruction<'m>,
) -> Access<'m> {
    let ty = match at.opcode() {
        Opcode::LLVMStore => at.operand(0).ty(),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => at.operand(1).ty(),
        _ => at.ty(),
    };
    let address = at.address().expect("an access has an address");
    Access {
        at,
        places: objects.places(address),
        size: module.store_size_of(ty),
    }
}

fn is_used_once(value: Value<'_>) -> bool {
    value.users().len() == 1
}

/// Whether an instruction computes a value from others and does nothing else.
fn is_computation(instruction: Instruction<'_>) -> bool {
    use Opcode::*;
    matches!(
        instruction.opcode(),
        LLVMGetElementPtr
            | LLVMSExt
            | LLVMZExt
            | LLVMTrunc
            | LLVMFPExt
            | LLVMFPTrunc
            | LLVMSIToFP
            | LLVMUIToFP
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMBitCast
            | LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMSDiv
            | LLVMUDiv
            | LLVMSRem
            | LLVMURem
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMICmp
            | LLVMFCmp
            | LLVMSelect
            | LLVMFreeze
    )
}

/// Intrinsics whose result depends on their arguments alone.
fn is_mathematics_intrinsic(name: &str) -> bool {
    const KINDS: [&str; 20] = [
        "fabs",
        "sqrt",
        "fma",
        "fmuladd",
        "maxnum",
        "minnum",
        "smax",
        "smin",
        "umax",
        "umin",
        "abs",
        "floor",
        "ceil",
        "trunc",
        "round",
        "rint",
        "nearbyint",
        "copysign",
        "pow",
        "exp",
    ];
    name.strip_prefix("llvm.")
        .and_then(|rest| rest.split('.').next())
        .is_some_and(|kind| KINDS.contains(&kind))
}

/// Whether a call touches no memory of the program's but errno. A program may have a function of its own that is called
/// like one of the library.
fn is_harmless(call: Call<'_>) -> bool {
    const MARKERS: [&str; 4] = [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.threadlocal.address",
    ];
    let callee = call.callee_function();
    callee
        .filter(|one| one.is_declaration())
        .is_some_and(|one| {
            let name = one.name();
            is_mathematics_intrinsic(&name)
                || is_mathematics(&name)
                || MARKERS.iter().any(|prefix| name.starts_with(prefix))
        })
}
