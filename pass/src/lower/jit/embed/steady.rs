//! Which variables keep their values while code runs.
//!
//! Guarantee: what is called steady here is written neither by the code, nor by anything that runs meanwhile and that the code
//! waits for. (Whoever writes it otherwise has a race with the code.)

use std::collections::HashSet;

use okl_abi::Effects;

use super::regions::Fork;
use crate::analysis::kernel::{Memory, says_nothing};
use crate::analysis::library::is_mathematics;
use crate::analysis::runtime;
use crate::analysis::stored_types::are_other_objects;
use crate::ir::Region;
use crate::llvm::{Call, Function, Global, Instruction, Intrinsic, Module, Opcode, Value};

/// Code, and what it does to memory.
pub(super) struct Code<'a, 'm> {
    module: &'m Module,
    /// All forks of the module.
    forks: &'a [Fork<'m>],
    functions: HashSet<Function<'m>>,
    /// What it stores where it does not show into which variable.
    stores: Vec<Instruction<'m>>,
    /// What it stores into anything that may have been there before.
    lasting: Vec<Instruction<'m>>,
    /// Whether it may wait for others than the threads of its team, or runs what is not known.
    has_strangers: bool,
}

/// What an instruction does with a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Writes,
    /// Looks at its address.
    Compares,
    /// Takes its address to where it is not followed.
    Hides,
}

/// What is done with a variable: by instructions, or by what is none.
type Uses<'m> = Vec<(Option<Instruction<'m>>, Does)>;

impl<'a, 'm> Code<'a, 'm> {
    /// Of these functions, which are all that it consists of, in a module with these forks.
    pub(super) fn of(module: &'m Module, forks: &'a [Fork<'m>], bodies: &[Function<'m>]) -> Self {
        let mut code = Self {
            module,
            forks,
            functions: bodies.iter().copied().collect(),
            stores: Vec::new(),
            lasting: Vec::new(),
            has_strangers: false,
        };
        for one in bodies.iter().flat_map(|body| body.instructions()) {
            code.note(one);
        }
        code
    }

    fn note(&mut self, one: Instruction<'m>) {
        let written = match one.opcode() {
            Opcode::LLVMStore if one.is_plain_access() => Some(one.operand(1)),
            Opcode::LLVMCall => {
                let call = one.as_call().expect("a call");
                self.has_strangers |= !self.is_known(call);
                written_by(call)
            }
            // What another thread has written before is not seen after it.
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg
                if one.releases_and_acquires() == (false, false) =>
            {
                Some(one.operand(0))
            }
            _ => {
                self.has_strangers |= one.may_write() || one.is_volatile_or_atomic();
                None
            }
        };
        if let Some(address) = written {
            if !self.is_of_variable(address) {
                self.stores.push(one);
            }
            let object = address.underlying_object();
            if object.as_op(Opcode::LLVMAlloca).is_none() {
                self.lasting.push(one);
            }
        }
    }

    /// Whether a call does nothing but what is looked at here, or waits at most for threads of the team.
    fn is_known(&self, call: Call<'m>) -> bool {
        if let Some(intrinsic) = call.intrinsic().map(Intrinsic::name) {
            let is_known = says_nothing(&intrinsic) || Memory::of(&intrinsic).is_some();
            return is_known || !call.instruction().may_write();
        }
        let Some(callee) = call.callee_function() else {
            return false;
        };
        if !callee.is_declaration() {
            return self.functions.contains(&callee);
        }
        let name = callee.name();
        let of_team = [Effects::QUIET, Effects::HIDDEN, Effects::SEPARATES];
        let reaches_others = Effects::ATOMIC
            .and(Effects::UPDATES)
            .and(Effects::UNPLAIN)
            .and(Effects::ENTERS)
            .and(Effects::LEAVES)
            .and(Effects::FLUSHES)
            .and(Effects::FORKS)
            .and(Effects::FORKS_BODY);
        // Others of these write behind pointers, or the sign of a logarithm.
        let is_pure = || {
            let arguments = call.arguments();
            let of_numbers = arguments.iter().all(|one| one.ty().is_floating());
            call.is_of_library() && of_numbers && !name.starts_with("lgamma")
        };
        is_mathematics(&name) && is_pure()
            || runtime::function_of(&name).is_some_and(|one| {
                let is_of_team = of_team.iter().any(|effect| one.has(*effect));
                is_of_team && !one.effects.has_some(reaches_others)
            })
    }

    /// Whether an address shows of which variable it is.
    fn is_of_variable(&self, address: Value<'m>) -> bool {
        let is_variable = |address: Value<'m>| {
            let object = address.underlying_object();
            object.as_global().is_some() || object.as_op(Opcode::LLVMAlloca).is_some()
        };
        let object = address.underlying_object();
        let Some((function, number)) = object.as_parameter() else {
            return is_variable(object);
        };
        // Only forks name it.
        let mut users = function.users().into_iter();
        users.all(|user| {
            let fork = self
                .forks
                .iter()
                .find(|one| Some(one.site) == user.as_call());
            let given = fork.filter(|one| one.body == function && number >= Region::LEADING);
            given.is_some_and(|one| is_variable(one.given(number)))
        })
    }

    /// Whether a stack variable keeps its value that the code gets as one of these parameters.
    pub(super) fn keeps(&self, variable: Value<'m>, parameter: Value<'m>) -> bool {
        // In a version it is another variable.
        let read = self.uses(parameter);
        read.iter().all(|(_, does)| *does == Does::Reads)
            && (self.is_hidden(variable) || !self.has_strangers && self.stores_others(&read))
    }

    /// Whether a variable of the program keeps its value.
    pub(super) fn keeps_global(&self, variable: Global<'m>) -> bool {
        self.reads_of(variable)
            .is_some_and(|uses| self.is_hidden_global(variable) || self.stores_others(&uses))
    }

    /// Whether what these loads read of a variable of the program keeps its value.
    pub(super) fn keeps_part(&self, variable: Global<'m>, loads: &[Instruction<'m>]) -> bool {
        let is_read = self.reads_of(variable).is_some();
        is_read
            && (self.is_hidden_global(variable)
                || self.are_others(&self.stores, loads.iter().copied()))
    }

    /// What the code does with a variable of the program, if it does not write it by its name, nor waits for others who may.
    fn reads_of(&self, variable: Global<'m>) -> Option<Uses<'m>> {
        let mut uses = self.uses(*variable);
        uses.retain(|(at, _)| at.is_none_or(|at| self.functions.contains(&at.function())));
        let keeps = |does: Does| matches!(does, Does::Reads | Does::Compares);
        let is_read = uses.iter().all(|(at, does)| at.is_none() || keeps(*does));
        (!self.has_strangers && is_read).then_some(uses)
    }

    fn is_hidden_global(&self, variable: Global<'m>) -> bool {
        variable.is_local() && self.is_hidden(*variable)
    }

    /// Whether what these loads read, which was there before the code began, keeps its value.
    pub(super) fn keeps_loaded(&self, loads: &[Instruction<'m>]) -> bool {
        !self.has_strangers && self.are_others(&self.lasting, loads.iter().copied())
    }

    /// Whether what the code stores is of other types than what it reads so.
    fn stores_others(&self, uses: &Uses<'m>) -> bool {
        let read = uses.iter().filter_map(|(at, _)| *at);
        self.are_others(&self.stores, read)
    }

    /// Whether what is stored is of other types than what is read.
    fn are_others(
        &self,
        stores: &[Instruction<'m>],
        mut read: impl Iterator<Item = Instruction<'m>>,
    ) -> bool {
        let types = |one: &Instruction<'m>| one.noted_type(self.module);
        let stored: Option<Vec<_>> = stores.iter().map(types).collect();
        stores.is_empty()
            || stored.is_some_and(|stored| {
                read.all(|at| {
                    let is_other =
                        |read: Vec<String>| are_other_objects(&stored, &read, at.function());
                    types(&at).is_some_and(is_other)
                })
            })
    }

    /// Whether all that accesses a variable names it.
    fn is_hidden(&self, variable: Value<'m>) -> bool {
        let uses = self.uses(variable);
        uses.iter().all(|(_, does)| *does != Does::Hides)
    }

    /// What is done with the variable at an address, by all that gets that.
    fn uses(&self, address: Value<'m>) -> Uses<'m> {
        let mut uses = Uses::new();
        let mut seen = HashSet::from([address]);
        let mut rest = vec![address];
        while let Some(address) = rest.pop() {
            for user in address.users() {
                let mut next = Vec::new();
                let does = self.does(address, user, &mut next);
                uses.extend(does.map(|does| (user.as_instruction(), does)));
                rest.extend(next.into_iter().filter(|one| seen.insert(*one)));
            }
        }
        uses
    }

    fn does(&self, address: Value<'m>, user: Value<'m>, next: &mut Vec<Value<'m>>) -> Option<Does> {
        if user.is_constant_gep() {
            next.push(user);
            return None;
        }
        let Some(one) = user.as_instruction() else {
            return Some(Does::Hides);
        };
        match one.opcode() {
            Opcode::LLVMGetElementPtr => {
                next.push(user);
                None
            }
            Opcode::LLVMLoad if one.is_plain_access() => Some(Does::Reads),
            Opcode::LLVMLoad => Some(Does::Writes),
            Opcode::LLVMStore if one.operand(0) != address => Some(Does::Writes),
            Opcode::LLVMStore if is_list_for_ranks(one.operand(1)) => None,
            Opcode::LLVMICmp => Some(Does::Compares),
            Opcode::LLVMCall => self.call_does(address, user.as_call()?, next),
            _ => Some(Does::Hides),
        }
    }

    fn call_does(
        &self,
        address: Value<'m>,
        call: Call<'m>,
        next: &mut Vec<Value<'m>>,
    ) -> Option<Does> {
        let arguments = call.arguments();
        let places = arguments.iter().enumerate();
        let places = places.filter(|(_, one)| **one == address).map(|(at, _)| at);
        let intrinsic = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
        if says_nothing(&intrinsic) {
            return None;
        }
        if Memory::of(&intrinsic).is_some() {
            let is_written = arguments[0] == address;
            return Some(if is_written {
                Does::Writes
            } else {
                Does::Reads
            });
        }
        let fork = self.forks.iter().find(|one| one.site == call);
        let callee = call.callee_function();
        let own = callee.filter(|one| !one.is_declaration() && !one.is_interposable());
        let mut does = None;
        for at in places {
            let parameter = match (fork, own) {
                (Some(fork), _) => fork.parameter(at),
                (None, Some(callee)) => callee.parameters().get(at).copied(),
                (None, None) => None,
            };
            match parameter {
                Some(parameter) => next.push(parameter),
                None if call.callee() != address && call.only_reads_behind(at) => {
                    does = does.or(Some(Does::Reads));
                }
                None => does = Some(Does::Hides),
            }
        }
        does.or((call.callee() == address).then_some(Does::Hides))
    }
}

/// Where a call of LLVM's writes.
fn written_by<'m>(call: Call<'m>) -> Option<Value<'m>> {
    let intrinsic = call.intrinsic().map(Intrinsic::name)?;
    Memory::of(&intrinsic)?;
    call.argument(0)
}

/// Whether an address is in a list of what a region gets where ranks run it: what uses that there is another version of a body
/// that is looked at, and does the same.
fn is_list_for_ranks(address: Value<'_>) -> bool {
    let mut rest = vec![address.underlying_object()];
    if rest[0].as_op(Opcode::LLVMAlloca).is_none() {
        return false;
    }
    let mut is_handed_over = false;
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let Some(one) = user.as_instruction() else {
                return false;
            };
            match one.opcode() {
                Opcode::LLVMGetElementPtr => rest.push(user),
                Opcode::LLVMStore if one.operand(0) != address => {}
                Opcode::LLVMCall => {
                    let call = user.as_call().expect("a call");
                    let intrinsic = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
                    let is_fork = runtime::effects(call).has(Effects::FORKS);
                    is_handed_over |= is_fork;
                    if !is_fork && !says_nothing(&intrinsic) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    is_handed_over
}
