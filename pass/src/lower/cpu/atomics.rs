//! `@atomic`: an update of one object becomes an atomic instruction, or a loop around a compare-and-exchange; all other
//! code runs under a lock, which all of the program's such code has in common.
//!
//! An object may be updated in both ways, so a module has one of them: the lock, where anything needs it. What belongs to a
//! block of work items alone, as `@shared` arrays do, no other thread sees: nothing is to be done for it.

use std::collections::HashSet;

use okl_abi::f;

use crate::diagnostic::{Declined, Site};
use crate::llvm::{
    Block, Builder, Call, Function, Instruction, Linkage, Module, Opcode, Type, Update, Value,
};
use crate::lower::runtime_call::declare_openmp;
use crate::marks::{OKL_ATOMIC, is_okl_marker};

use super::threads::{PLAIN, ident};

/// The largest object that is updated at once, in bytes.
const LARGEST: u64 = 8;
/// The lock: by the name that clang gives those of `#pragma omp critical (okl.atomic)`.
const LOCK: &str = ".gomp_critical_user_okl.atomic.var";

/// What becomes of all atomic code of a module.
#[derive(Default)]
pub struct Plan<'m> {
    atomics: Vec<Atomic<'m>>,
    /// Whether it needs the lock.
    locks: bool,
}

/// Code that nobody sees half done.
struct Atomic<'m> {
    begin: Call<'m>,
    ends: Vec<Call<'m>>,
    form: Form<'m>,
}

/// What it does to memory that other threads may use.
enum Form<'m> {
    /// Nothing.
    Own,
    /// It reads by these.
    Read(Vec<Instruction<'m>>),
    /// It writes one object once.
    Write(Instruction<'m>),
    /// It reads and writes one object.
    Update(OneUpdate<'m>),
    /// Something else.
    Section,
}

/// The code of an update.
struct OneUpdate<'m> {
    store: Instruction<'m>,
    /// What reads the object before.
    loads: Vec<Instruction<'m>>,
    /// What is computed from that, in its order.
    computes: Vec<Instruction<'m>>,
    /// What reads the object behind it.
    again: Vec<Instruction<'m>>,
}

fn is_begin(call: Call<'_>) -> bool {
    call.callee_name() == OKL_ATOMIC[0]
}

fn is_end(call: Call<'_>) -> bool {
    call.callee_name() == OKL_ATOMIC[1]
}

/// Whether code that begins with a call is more than one update of one object.
pub(in crate::lower) fn needs_lock(module: &Module, begin: Call<'_>) -> bool {
    is_begin(begin) && matches!(Form::of(module, begin), Form::Section)
}

/// What becomes of the atomic code of a module, and what is wrong with it.
pub fn check<'m>(module: &Module, markers: &[Call<'m>], wrong: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let begins = markers.iter().copied().filter(|call| is_begin(*call));
    let forms: Vec<_> = begins
        .map(|begin| (begin, Form::of(module, begin)))
        .collect();
    let locks = forms.iter().any(|(_, form)| matches!(form, Form::Section));
    // A `return` leaves atomic code and the loops around it: one mistake.
    let is_in = |known: &Declined<'m>, function: Function<'m>| matches!(known.site, Site::Instruction(other) if other.function() == function);
    let known = wrong.len();
    let mut atomics = Vec::new();
    for (begin, form) in forms {
        let needs_lock = locks && !matches!(form, Form::Own);
        match inside(begin).and_then(|inside| inside.check(needs_lock)) {
            Ok(ends) => atomics.push(Atomic { begin, ends, form }),
            Err((at, reason)) if needs_lock => {
                let mut before = wrong[..known].iter();
                if !before.any(|known| is_in(known, at.function())) {
                    wrong.push(Declined {
                        site: Site::Instruction(at),
                        reason: reason.to_string(),
                    });
                }
            }
            // It is found to be a few instructions that come to their end.
            Err(_) => atomics.push(Atomic {
                begin,
                ends: Vec::new(),
                form,
            }),
        }
    }
    Plan { atomics, locks }
}

/// What is wrong, and where.
type Wrong<'m> = (Instruction<'m>, &'static str);

/// The code between a call that begins atomic code and those that end it.
struct Inside<'m> {
    ends: Vec<Call<'m>>,
    calls: Vec<Call<'m>>,
}

impl<'m> Inside<'m> {
    /// Its ends, where a lock that is held in it is given back.
    fn check(self, needs_lock: bool) -> Result<Vec<Call<'m>>, Wrong<'m>> {
        let has_some = |call: &&Call<'m>| {
            let callee = call.callee_function();
            callee.is_some_and(|callee| has_atomics(callee, &mut HashSet::new()))
        };
        match self.calls.iter().find(has_some).filter(|_| needs_lock) {
            None => Ok(self.ends),
            Some(call) => {
                let told = "the function that is called here has @atomic code, for which @atomic code would wait forever: \
                            call it in front of this";
                Err((call.instruction(), told))
            }
        }
    }
}

/// Whether a function, or one that it calls, has atomic code, as far as it is known.
fn has_atomics<'m>(function: Function<'m>, seen: &mut HashSet<Function<'m>>) -> bool {
    if function.is_declaration() || !seen.insert(function) {
        return false;
    }
    let instructions = function.instructions().into_iter();
    let mut calls = instructions.filter_map(|one| one.as_call());
    calls.any(|call| {
        let callee = call.callee_function();
        is_begin(call) || callee.is_some_and(|callee| has_atomics(callee, seen))
    })
}

fn inside(begin: Call<'_>) -> Result<Inside<'_>, Wrong<'_>> {
    let at = begin.instruction();
    let mut found = Inside {
        ends: Vec::new(),
        calls: Vec::new(),
    };
    let mut seen = HashSet::new();
    let mut rest = match begin.invoke_targets() {
        Some((normal, _)) => vec![normal.instructions()],
        None => {
            let here = at.block().instructions().into_iter();
            vec![here.skip_while(|one| *one != at).skip(1).collect()]
        }
    };
    while let Some(instructions) = rest.pop() {
        let mut has_ended = false;
        for one in &instructions {
            let call = one.as_call();
            if let Some(end) = call.filter(|call| is_end(*call)) {
                found.ends.push(end);
                has_ended = true;
                break;
            }
            if call.is_some_and(is_begin) || one.opcode() == Opcode::LLVMRet {
                let told = "this @atomic code is left by a `return`, `break`, `continue` or `goto`, or has other @atomic \
                            code in it: it has to come to its end";
                return Err((at, told));
            }
            if call.is_some_and(|call| is_okl_marker(&call.callee_name())) {
                return Err((
                    *one,
                    "this barrier is in @atomic code: while one work item waits in there, no other one comes to it",
                ));
            }
            found.calls.extend(call);
        }
        if let Some(last) = instructions.last().filter(|_| !has_ended) {
            let next = last.block().successors().into_iter();
            let next = next.filter(|next| seen.insert(*next));
            rest.extend(next.map(|next| next.instructions()));
        }
    }
    match found.ends.is_empty() {
        true => Err((at, "this @atomic code has no end")),
        false => Ok(found),
    }
}

/// The instructions behind a call that begins atomic code up to its end, where one follows on the other.
fn straight(begin: Call<'_>) -> Option<Vec<Instruction<'_>>> {
    let at = begin.instruction();
    let mut found = Vec::new();
    let mut block = at.block();
    let mut rest: Vec<_> = block.instructions();
    rest.drain(..=rest.iter().position(|one| *one == at)?);
    let mut next = begin.invoke_targets().map(|(normal, _)| normal);
    loop {
        if let Some(to) = next.take() {
            if to.predecessors().len() != 1 || to == at.block() {
                return None;
            }
            block = to;
            rest = block.instructions();
        }
        for one in rest.drain(..) {
            if let Some(call) = one.as_call() {
                if is_end(call) {
                    return Some(found);
                }
                if is_okl_marker(&call.callee_name()) {
                    return None;
                }
                next = call.invoke_targets().map(|(normal, _)| normal);
            }
            if let Opcode::LLVMBr = one.opcode() {
                let [to] = block.successors()[..] else {
                    return None;
                };
                next = Some(to);
                continue;
            }
            found.push(one);
        }
        next?;
    }
}

impl<'m> Form<'m> {
    fn of(module: &Module, begin: Call<'m>) -> Self {
        let is_block = begin.argument(0).and_then(Value::as_constant_int) != Some(0);
        match straight(begin) {
            Some(code) => Self::of_code(module, &code, is_block).unwrap_or(Form::Section),
            None => Form::Section,
        }
    }

    /// Of instructions that follow on each other; `None` of what needs the lock.
    fn of_code(module: &Module, code: &[Instruction<'m>], is_block: bool) -> Option<Self> {
        if !code.iter().all(|one| is_simple(*one)) {
            return None;
        }
        let of = |opcode| {
            code.iter()
                .copied()
                .filter(move |one| one.opcode() == opcode)
        };
        let is_shared = |one: &Instruction<'m>| !is_own(one.address());
        let stores: Vec<_> = of(Opcode::LLVMStore).filter(is_shared).collect();
        let reads: Vec<_> = of(Opcode::LLVMLoad).filter(is_shared).collect();
        let fits = |one: &Instruction<'m>, ty: Type<'m>| {
            let size = module.store_size_of(ty);
            let is_whole = ty.bits().is_some_and(|bits| u64::from(bits) == 8 * size);
            let is_right = ty.is_pointer() || ty.is_floating() || is_whole;
            is_right
                && module.size_of(ty) == size
                && size.is_power_of_two()
                && size <= LARGEST
                && u64::from(one.alignment()) >= size
        };
        let position = |one: &Instruction<'m>| code.iter().position(|other| other == one);
        let [store] = stores[..] else {
            if !stores.is_empty() {
                return None;
            }
            let own = of(Opcode::LLVMStore).filter(|one| !is_shared(one));
            let updates = |store: Instruction<'m>| {
                let to = store.operand(1);
                of(Opcode::LLVMLoad).any(|load| is_same(load.operand(0), to))
            };
            let has_calls = of(Opcode::LLVMCall)
                .chain(of(Opcode::LLVMInvoke))
                .any(is_unknown);
            return match () {
                () if has_calls => None,
                () if reads.is_empty() || own.into_iter().any(updates) => Some(Form::Own),
                () if is_block && reads.len() > 1 => None,
                () if reads.iter().all(|one| fits(one, one.ty())) => Some(Form::Read(reads)),
                () => None,
            };
        };
        let (value, address) = (store.operand(0), store.operand(1));
        let ty = value.ty();
        if !fits(&store, ty) {
            return None;
        }
        let at = position(&store)?;
        let writes_before = code[..at]
            .iter()
            .any(|one| one.opcode() == Opcode::LLVMStore);
        let its = |load: &Instruction<'m>| {
            let other = load.operand(0);
            load.ty() == ty && (other == address || !writes_before && is_same(other, address))
        };
        let (its, others): (Vec<_>, Vec<_>) = reads.into_iter().partition(its);
        let (loads, again): (Vec<_>, Vec<_>) = its
            .into_iter()
            .partition(|load| position(load).is_some_and(|of| of < at));
        if is_block && !others.is_empty() {
            return None;
        }
        if loads.is_empty() {
            // What is read may be of the same array, and the same element.
            let base = |one: &Instruction<'m>| base(one.operand(0));
            let is_alike = |one: &Instruction<'m>| {
                one.ty() == ty
                    && (base(one) == self::base(address) || self::base(address).is_none())
            };
            return (again.is_empty() && !others.iter().any(is_alike))
                .then_some(Form::Write(store));
        }
        let mut depends: HashSet<Value<'m>> = loads.iter().map(|one| **one).collect();
        let mut computes = Vec::new();
        for one in &code[..at] {
            if !loads.contains(one) && one.operands().iter().any(|of| depends.contains(of)) {
                if !one.only_computes() {
                    return None;
                }
                depends.insert(**one);
                computes.push(*one);
            }
        }
        (!depends.contains(&address)).then_some(Form::Update(OneUpdate {
            store,
            loads,
            computes,
            again,
        }))
    }
}

/// Whether an instruction may be between the reading and the writing of an object: it computes, or accesses memory in a
/// plain way, or calls a function that is handed no address.
fn is_simple(one: Instruction<'_>) -> bool {
    match one.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore => one.is_plain_access(),
        Opcode::LLVMCall | Opcode::LLVMInvoke => {
            let call = one.as_call().expect("a call");
            let name = call.callee_name();
            let is_address = |value: &Value<'_>| value.ty().is_pointer();
            one.only_computes()
                || name.starts_with("llvm.lifetime.")
                || !name.is_empty()
                    && !call.arguments().iter().any(is_address)
                    && !one.ty().is_pointer()
        }
        _ => one.only_computes(),
    }
}

/// Whether a call does more than compute.
fn is_unknown(one: Instruction<'_>) -> bool {
    let name = one.as_call().map(|call| call.callee_name());
    !one.only_computes() && !name.is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// Whether an address is that of a stack variable, or in one: no other thread is handed it.
fn is_own(address: Option<Value<'_>>) -> bool {
    address.is_some_and(|one| one.underlying_object().as_op(Opcode::LLVMAlloca).is_some())
}

/// The variable that an address is computed from, or that holds the one that it is computed from.
fn base(address: Value<'_>) -> Option<Value<'_>> {
    let object = address.underlying_object();
    match object.as_op(Opcode::LLVMLoad) {
        Some(load) => base(load.operand(0)),
        None if object.is_constant() || object.as_op(Opcode::LLVMAlloca).is_some() => Some(object),
        None => None,
    }
}

/// Whether two values are computed in the same way, of the same memory.
fn is_same<'m>(one: Value<'m>, other: Value<'m>) -> bool {
    if one == other {
        return true;
    }
    let (Some(a), Some(b)) = (one.as_instruction(), other.as_instruction()) else {
        return false;
    };
    let is_pure = |one: Instruction<'m>| one.only_computes() && one.as_call().is_none();
    is_pure(a)
        && is_pure(b)
        && a.is_same_operation(b, false)
        && a.source_element_type() == b.source_element_type()
        && a.operands().len() == b.operands().len()
        && a.operands()
            .into_iter()
            .zip(b.operands())
            .all(|(a, b)| is_same(a, b))
}

impl<'m> Plan<'m> {
    /// What is to be under the lock, as where it begins and where it ends: who asks sees to that.
    pub(in crate::lower) fn take_locked(&mut self) -> Vec<(Call<'m>, Vec<Call<'m>>)> {
        if !std::mem::take(&mut self.locks) {
            return Vec::new();
        }
        let all = std::mem::take(&mut self.atomics).into_iter();
        let locked = all.filter(|one| !matches!(one.form, Form::Own));
        locked.map(|one| (one.begin, one.ends)).collect()
    }
}

/// Does it. The marking calls are still there.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) {
    for one in &plan.atomics {
        match &one.form {
            Form::Own => {}
            _ if plan.locks => one.lock(module),
            Form::Read(loads) => loads.iter().for_each(|load| load.set_relaxed()),
            Form::Write(store) => {
                let builder = Builder::before(module, *store);
                let (value, address) = (store.operand(0), store.operand(1));
                let exchange = Update::LLVMAtomicRMWBinOpXchg;
                builder.update(exchange, address, value, store.alignment());
                store.erase();
            }
            Form::Update(update) => update.emit(module),
            Form::Section => unreachable!("it needs the lock"),
        }
    }
}

impl<'m> Atomic<'m> {
    /// Puts it under the lock.
    fn lock(&self, module: &'m Module) {
        if let Form::Section = self.form {
            let told = "this @atomic code runs under a lock, and with it all @atomic code of the file: it is more than \
                        one update of one object";
            self.begin.instruction().remark("Locked", told, true);
        }
        let lock = module.global(LOCK).unwrap_or_else(|| {
            let ty = module.array(module.int(32), 8);
            let linkage = Linkage::LLVMCommonLinkage;
            let lock = module.add_global(LOCK, ty, Some(ty.zero()), linkage);
            lock.set_alignment(8);
            lock
        });
        let place = ident(module, PLAIN);
        let asks = declare_openmp(module, &f::okl_mpi_kmpc_global_thread_num);
        let enters = declare_openmp(module, &f::okl_mpi_kmpc_critical);
        let leaves = declare_openmp(module, &f::okl_mpi_kmpc_end_critical);
        let begin = [(self.begin, enters)].into_iter();
        for (at, what) in begin.chain(self.ends.iter().map(|end| (*end, leaves))) {
            what.set_attribute(module, "convergent");
            let builder = Builder::before(module, at.instruction());
            let thread = builder.call(asks, &[place]);
            builder.call(what, &[place, thread, *lock]);
        }
    }
}

impl<'m> OneUpdate<'m> {
    /// The instruction that does it, and what it is handed.
    fn instruction(&self) -> Option<(Update, Value<'m>)> {
        let ([load], [computes]) = (&self.loads[..], &self.computes[..]) else {
            return None;
        };
        if **computes != self.store.operand(0) {
            return None;
        }
        let is_plain = computes.ty().is_integer() || computes.ty().is_float_or_double();
        let update = match computes.opcode() {
            Opcode::LLVMAdd => Update::LLVMAtomicRMWBinOpAdd,
            Opcode::LLVMSub => Update::LLVMAtomicRMWBinOpSub,
            Opcode::LLVMAnd => Update::LLVMAtomicRMWBinOpAnd,
            Opcode::LLVMOr => Update::LLVMAtomicRMWBinOpOr,
            Opcode::LLVMXor => Update::LLVMAtomicRMWBinOpXor,
            Opcode::LLVMFAdd => Update::LLVMAtomicRMWBinOpFAdd,
            Opcode::LLVMFSub => Update::LLVMAtomicRMWBinOpFSub,
            _ => return None,
        };
        let is_difference = matches!(computes.opcode(), Opcode::LLVMSub | Opcode::LLVMFSub);
        let [first, second] = [computes.operand(0), computes.operand(1)];
        let by = match (first == **load, second == **load) {
            (true, false) => second,
            (false, true) if !is_difference => first,
            _ => return None,
        };
        is_plain.then_some((update, by))
    }

    fn emit(&self, module: &'m Module) {
        let (store, ty) = (self.store, self.store.operand(0).ty());
        let (address, align) = (store.operand(1), store.alignment());
        let new = store.operand(0);
        if let Some((update, by)) = self.instruction() {
            let builder = Builder::before(module, store);
            let old = builder.update(update, address, by, align);
            self.computes[0].move_before(store);
            self.finish(old, new);
            store.erase();
            if new.is_unused() {
                self.computes[0].erase();
            }
            return;
        }
        let before = store.block();
        let retry = store.split_before();
        let after = retry.instructions()[1].split_before();
        let end = |block: Block<'m>| block.terminator().expect("a complete block");
        let bits = match ty.is_pointer() {
            true => ty,
            false => module.int(module.store_size_of(ty) as u32 * 8),
        };
        let cast = |builder: &Builder<'m>, value: Value<'m>, ty: Type<'m>| match value.ty() == ty {
            true => value,
            false => builder.cast(Opcode::LLVMBitCast, value, ty),
        };
        let builder = Builder::before(module, end(before));
        builder.stand_at(store);
        let first = builder.load_relaxed(bits, address, align);
        let builder = Builder::before(module, store);
        let old = builder.phi(bits);
        let value = cast(&builder, old, ty);
        for one in &self.computes {
            one.move_before(store);
        }
        // It may be what was read that is written.
        let new = match self.loads.iter().any(|load| **load == new) {
            true => value,
            false => new,
        };
        self.finish(value, new);
        let builder = Builder::before(module, store);
        let desired = cast(&builder, new, bits);
        let pair = builder.compare_exchange(address, old, desired, align);
        let seen = builder.extract(pair, 0);
        let is_done = builder.extract(pair, 1);
        old.add_incoming(first, before);
        old.add_incoming(seen, retry);
        end(retry).erase();
        let builder = Builder::at_end_like(module, retry, store);
        builder.go_if(is_done, after, retry);
        store.erase();
    }

    /// Has what follows use what was there, and what is there now.
    fn finish(&self, old: Value<'m>, new: Value<'m>) {
        for load in &self.loads {
            load.replace_all_uses_with(old);
            load.erase();
        }
        for load in &self.again {
            load.replace_all_uses_with(new);
            load.erase();
        }
    }
}
