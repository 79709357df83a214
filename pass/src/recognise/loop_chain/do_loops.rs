//! Chains of Fortran: the calls that `okl-fc` has put in front of them, and flang's `do` loops, as clang would have written
//! them.
//!
//! ```text
//! pre:    br header                                     store first, variable; br header
//! header: index = phi [first, pre], [next, ..]          index = load variable
//!         left = phi [turns, pre], [left - 1, ..]
//!         left > 0 ? body : exit                        index <= last ? body : exit
//! body:   store index, variable; ..                     ..; br latch
//!         next = load variable + 1; br header   latch:  store load variable + 1, variable; br header
//! exit:   store index, variable                         ..
//! ```
//!
//! Guarantee: the program is the same. What is no such loop stays as it is, and is no loop of a chain then.

use std::collections::HashSet;

use super::BEGINS;
use super::callees::Functions;
use super::elsewhere::called_in;
use super::written::SCHEDULED;
use crate::analysis::variables::{Does, uses};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, NaturalLoop,
    Opcode, Value,
};
use crate::marks::CHAINS;

/// What stands in the name of a call of Fortran's between the marker that it is and the text that this has, which is written
/// in hexadecimal digits: a text that is an argument flang copies to where nobody finds it.
const WITH_TEXT: &str = "_text_";

/// What a loop of a chain looks like.
pub(super) const FORM: &str = "is not understood: it has the form `do i = FIRST, LAST`, with a variable of the procedure that \
                               nothing but the loop changes";

const LEFT: &str = "is left by an `exit`, `return` or `go to`: all of its iterations have to run; `cycle` ends one of them";
const STEPS: &str = "does not count up by 1";

/// Why a loop is none of a chain, where it is not written so: the end of a sentence.
pub(super) fn why_not(natural: &NaturalLoop<'_>) -> &'static str {
    let others = natural.blocks.iter().filter(|one| **one != natural.header);
    let mut behind = others.flat_map(|one| one.successors());
    // What ends the program does not leave the loop.
    let ends = |one: &Block<'_>| {
        let end = one.terminator().map(Instruction::opcode);
        end == Some(Opcode::LLVMUnreachable)
    };
    if behind.any(|next| !natural.blocks.contains(&next) && !ends(&next)) {
        return LEFT;
    }
    let next = natural.header.phis().flat_map(|phi| phi.incoming());
    let next = next.filter(|one| natural.blocks.contains(&one.1));
    let mut sums = next.filter_map(|one| one.0.as_op(Opcode::LLVMAdd));
    let counts = |one: Instruction<'_>| matches!(one.operand(1).as_constant_int(), Some(1 | -1));
    match sums.all(counts) {
        true => FORM,
        false => STEPS,
    }
}

/// Has a module's chains in Fortran look like those of C.
pub fn as_in_c(module: &Module) {
    let functions = module.functions().into_iter();
    let ours: Vec<_> = functions
        .filter(|one| one.is_declaration() && one.name().starts_with(CHAINS))
        .collect();
    let mut changed: Vec<Function<'_>> = Vec::new();
    for function in ours {
        let name = function.name();
        let Some((marker, text)) = name
            .split_once(WITH_TEXT)
            .and_then(|(marker, text)| Some((marker, decoded(text)?)))
        else {
            continue;
        };
        let text = module.add_text("okl.chain.text", &text);
        let ty = module.variadic_type(module.void(), &[module.pointer()]);
        let named = module.function(marker);
        let marker =
            named.unwrap_or_else(|| module.add_function(marker, ty, Linkage::LLVMExternalLinkage));
        for call in function.instruction_users() {
            let Some(call) = call.as_call().filter(|one| one.callee() == *function) else {
                continue;
            };
            let builder = Builder::before(module, call.instruction());
            let mut arguments = vec![*text];
            let numbers = call.arguments().into_iter();
            arguments.extend(numbers.map(|one| exact(&builder, one, DEEPEST)));
            builder.call(marker, &arguments);
            let around = call.instruction().function();
            if !changed.contains(&around) {
                changed.push(around);
            }
            call.instruction().erase();
        }
        if function.is_unused() {
            function.erase_unused_declaration();
        }
    }
    if !changed.is_empty() {
        ask_as_in_c(module);
    }
    for function in called_from_c(module, &changed) {
        // What flang says of the types of its arguments holds for one call.
        let all = function.instructions().into_iter();
        all.for_each(|one| one.forget_types(module));
        changed.push(function);
    }
    for function in changed {
        forget_stacks(function);
        read_once(function);
        without_least_extents(module, function);
        without_copies(function);
        // Each of them changes the blocks of those around it.
        while let Some(counted) = function.loops().iter().find_map(Counted::of) {
            counted.rewrite(module);
        }
    }
}

/// Functions that chains of other functions than these call, where flang has made some of the module's.
fn called_from_c<'m>(module: &'m Module, known: &[Function<'m>]) -> Vec<Function<'m>> {
    if !module.producers().iter().any(|one| one.contains("flang")) {
        return Vec::new();
    }
    let chains = module.function(BEGINS).into_iter();
    let chains = chains
        .flat_map(|one| one.users())
        .filter_map(Value::as_call);
    let chains = chains.filter(|site| !known.contains(&site.instruction().function()));
    let mut functions = Functions::default();
    let called = chains.flat_map(called_in).flat_map(|one| {
        let mut all = functions.reach(one);
        all.insert(one);
        all
    });
    let called: HashSet<_> = called.filter(|one| !one.is_declaration()).collect();
    let in_order = module.functions().into_iter();
    in_order
        .filter(|one| called.contains(one) && !known.contains(one))
        .collect()
}

/// How deep numbers are looked into.
const DEEPEST: usize = 16;

/// A number of a pragma, computed once more: Fortran's integers do not overflow, which flang says of subscripts only, and of
/// where loops end.
fn exact<'m>(builder: &Builder<'m>, value: Value<'m>, deepest: usize) -> Value<'m> {
    let Some(one) = value.as_instruction().filter(|_| deepest > 0) else {
        return value;
    };
    let operand = |at: usize| exact(builder, one.operand(at), deepest - 1);
    let computed = match one.opcode() {
        Opcode::LLVMSExt => return builder.sign_extend(operand(0), value.ty()),
        Opcode::LLVMAdd => builder.sum(operand(0), operand(1)),
        Opcode::LLVMSub => builder.difference(operand(0), operand(1)),
        Opcode::LLVMMul => return builder.multiply(operand(0), operand(1)),
        _ => return value,
    };
    if let Some(one) = computed.as_instruction() {
        one.promise_no_wrap(true);
    }
    computed
}

/// What asks whether a chain runs as scheduled is a truth in C, and a number in Fortran.
fn ask_as_in_c(module: &Module) {
    let truth = module.int(1);
    let asks = module.function(SCHEDULED);
    let Some(asks) = asks.filter(|one| one.function_type().result() != truth) else {
        return;
    };
    asks.set_name("okl.chain.asks");
    let ty = module.function_type(truth, &[]);
    let own = module.add_function(SCHEDULED, ty, Linkage::LLVMExternalLinkage);
    for call in asks.instruction_users() {
        let not_zero = Comparison::Integer(IntPredicate::LLVMIntNE);
        for one in call.instruction_users() {
            let is_asked = one.comparison() == Some(not_zero)
                && one.operand(0) == *call
                && one.operand(1).as_constant_int() == Some(0);
            if is_asked {
                let truth = Builder::before(module, call).call(own, &[]);
                one.replace_all_uses_with(truth);
                one.erase();
            }
        }
        // What asks otherwise has the chain run as it is written.
        call.replace_all_uses_with(call.ty().zero());
        call.erase();
    }
    if asks.is_unused() {
        asks.erase_unused_declaration();
    }
}

/// Arguments that a procedure only reads are read where it begins, if it does so there: these are the numbers that bounds are.
fn read_once(function: Function<'_>) {
    let entry = function.blocks()[0];
    for (at, parameter) in function.parameters().into_iter().enumerate() {
        if !parameter.ty().is_pointer() || !function.has_parameter_attribute(at, "noalias") {
            continue;
        }
        let all = parameter.instruction_users();
        let is_read =
            |one: &Instruction<'_>| one.opcode() == Opcode::LLVMLoad && one.is_plain_access();
        let mut here = entry.instructions().into_iter();
        let Some(first) = here.find(|one| all.contains(one)) else {
            continue;
        };
        if all.iter().all(|one| is_read(one) && one.ty() == first.ty()) {
            for other in all.into_iter().filter(|one| *one != first) {
                other.replace_all_uses_with(*first);
                other.erase();
            }
        }
    }
}

/// Addresses are computed from an array's extents as they are declared, and not from 0 where these are negative: then there is
/// nothing at any address.
fn without_least_extents(module: &Module, function: Function<'_>) {
    let above = Comparison::Integer(IntPredicate::LLVMIntSGT);
    for one in function.instructions() {
        if one.opcode() != Opcode::LLVMSelect || one.operand(2).as_constant_int() != Some(0) {
            continue;
        }
        let extent = one.operand(1);
        let asks = one.operand(0).as_op(Opcode::LLVMICmp).filter(|asks| {
            asks.comparison() == Some(above)
                && asks.operand(0) == extent
                && asks.operand(1).as_constant_int() == Some(0)
        });
        if asks.is_none() {
            continue;
        }
        let users = one.instruction_users().into_iter();
        let users: Vec<_> = users
            .filter(|user| user.opcode() == Opcode::LLVMMul && is_of_addresses(*user, DEEPEST))
            .collect();
        if users.is_empty() {
            continue;
        }
        let extent = exact(&Builder::before(module, one), extent, DEEPEST);
        for user in users {
            for at in 0..2 {
                if user.operand(at) == *one {
                    user.set_operand(at, extent);
                }
            }
        }
    }
}

/// What describes an array is read where it is, and not in a copy that flang makes for each statement.
fn without_copies(function: Function<'_>) {
    for block in function.blocks() {
        let all = block.instructions();
        for (at, copy) in all.iter().enumerate() {
            let Some(call) = copy.as_call() else {
                continue;
            };
            if !call.callee_name().starts_with("llvm.memcpy.") {
                continue;
            }
            let arguments = call.arguments();
            let [to, from, _, is_volatile] = arguments[..] else {
                continue;
            };
            if to.as_op(Opcode::LLVMAlloca).is_none() || is_volatile.as_constant_int() != Some(0) {
                continue;
            }
            let mut rest = vec![to];
            let mut uses = Vec::new();
            let mut is_read_only = true;
            while let Some(address) = rest.pop() {
                for user in address.instruction_users() {
                    match user.opcode() {
                        Opcode::LLVMGetElementPtr => {
                            rest.push(*user);
                            uses.push(user);
                        }
                        Opcode::LLVMLoad if user.is_plain_access() => uses.push(user),
                        _ => is_read_only &= user == *copy,
                    }
                }
            }
            // Nothing has changed it until the last of them.
            let behind = all.iter().skip(at + 1);
            let last = behind.clone().rposition(|one| uses.contains(one));
            let until = last.map_or(0, |last| last + 1);
            let here = behind.clone().take(until);
            let are_all = here.clone().filter(|one| uses.contains(one)).count() == uses.len();
            let changes = |one: &Instruction<'_>| one.may_write() && !one.only_computes();
            if is_read_only && are_all && from != to && !{ here }.any(changes) {
                copy.erase();
                to.replace_all_uses_with(from);
            }
        }
    }
}

/// Whether nothing but addresses that are accessed is computed from a number.
fn is_of_addresses(number: Instruction<'_>, deepest: usize) -> bool {
    let accesses = |address: Instruction<'_>| {
        let users = address.instruction_users();
        users.into_iter().all(|one| match one.opcode() {
            Opcode::LLVMLoad => true,
            Opcode::LLVMStore => one.operand(0) != *address,
            _ => false,
        })
    };
    deepest > 0
        && number
            .instruction_users()
            .into_iter()
            .all(|user| match user.opcode() {
                Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul => {
                    is_of_addresses(user, deepest - 1)
                }
                Opcode::LLVMGetElementPtr => user.operand(0) != *number && accesses(user),
                _ => false,
            })
}

/// A text in hexadecimal digits.
fn decoded(digits: &str) -> Option<String> {
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// The stack is as it was behind a block of Fortran's that has no variables, such as that of a marker.
fn forget_stacks(function: Function<'_>) {
    let is = |one: &Instruction<'_>, name: &str| {
        one.as_call()
            .is_some_and(|call| call.callee_name().starts_with(name))
    };
    for block in function.blocks() {
        let all = block.instructions();
        for (at, save) in all.iter().enumerate() {
            if !is(save, "llvm.stacksave") {
                continue;
            }
            let users = save.instruction_users();
            let [restore] = users[..] else {
                continue;
            };
            let behind = all[at..].iter().take_while(|one| **one != restore);
            let is_here = restore.block() == block && is(&restore, "llvm.stackrestore");
            if is_here && { behind }.all(|one| one.opcode() != Opcode::LLVMAlloca) {
                restore.erase();
                save.erase();
            }
        }
    }
}

/// A loop of flang's that counts up by 1.
struct Counted<'m> {
    /// Where control comes from.
    before: Instruction<'m>,
    header: Block<'m>,
    index: Instruction<'m>,
    left: Instruction<'m>,
    decides: Instruction<'m>,
    /// Where it goes back.
    back: Instruction<'m>,
    first: Value<'m>,
    last: Last<'m>,
    /// Whether the next number is known to be one of its kind.
    wraps: bool,
    /// The variable of the program, where that is one of the function, and what gives it its values.
    variable: Option<Instruction<'m>>,
    stores: Vec<Instruction<'m>>,
}

/// The last number of a loop: a value and a constant.
struct Last<'m> {
    value: Value<'m>,
    more: i64,
}

impl<'m> Counted<'m> {
    fn of(natural: &NaturalLoop<'m>) -> Option<Self> {
        let header = natural.header;
        let [one, other] = header.predecessors()[..] else {
            return None;
        };
        let [before, back] = match (
            natural.blocks.contains(&one),
            natural.blocks.contains(&other),
        ) {
            (false, true) => [one, other],
            (true, false) => [other, one],
            _ => return None,
        };
        if before.successors() != [header] || back.successors() != [header] {
            return None;
        }
        let decides = header.terminator()?;
        let asks = decides.branch_condition()?.as_op(Opcode::LLVMICmp)?;
        let is_above = asks.comparison()? == Comparison::Integer(IntPredicate::LLVMIntSGT);
        if !is_above || asks.operand(1).as_constant_int() != Some(0) {
            return None;
        }
        let [body, exit] = header.successors()[..] else {
            return None;
        };
        if !natural.blocks.contains(&body) || natural.blocks.contains(&exit) {
            return None;
        }
        let left = asks.operand(0).as_op(Opcode::LLVMPHI)?;
        let all = header.instructions();
        let phis = all.iter().filter(|one| one.opcode() == Opcode::LLVMPHI);
        let phis: Vec<_> = phis.copied().collect();
        let index = match phis[..] {
            [one, two] if one == left => two,
            [one, two] if two == left => one,
            _ => return None,
        };
        if all.len() != 4 || asks.instruction_users() != [decides] {
            return None;
        }
        let from = |phi: Instruction<'m>, block: Block<'m>| {
            let mut all = phi.incoming().into_iter();
            all.find(|one| one.1 == block).map(|one| one.0)
        };
        // One turn less each time, and nobody else knows how many are left.
        let fewer = from(left, back)?.as_instruction()?;
        let by = fewer.operands().get(1)?.as_constant_int()?;
        let is_one_less = match fewer.opcode() {
            Opcode::LLVMSub => by == 1,
            Opcode::LLVMAdd => by == -1,
            _ => false,
        };
        if !is_one_less || fewer.operand(0) != *left || fewer.instruction_users() != [left] {
            return None;
        }
        let mut users = left.instruction_users().into_iter();
        if !users.all(|one| one == asks || one == fewer) {
            return None;
        }
        let next = from(index, back)?.as_op(Opcode::LLVMAdd)?;
        if next.operand(1).as_constant_int() != Some(1) {
            return None;
        }
        let first = from(index, before)?;
        let last = last(first, from(left, before)?)?;
        let counted = next.operand(0);
        let read = counted.as_op(Opcode::LLVMLoad);
        let variable = read.and_then(|read| read.operand(0).as_instruction());
        let variable = variable.filter(|one| one.opcode() == Opcode::LLVMAlloca);
        // What is in the program's variable is what is counted: nothing but these gives it a value while the loop runs.
        let is_index =
            |one: &Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.operand(0) == *index;
        let stores: Vec<_> = index.instruction_users();
        let stores: Vec<_> = stores.into_iter().filter(is_index).collect();
        let own = variable.filter(|variable| {
            let mut inside = stores.iter().filter(|one| one.operand(1) == **variable);
            let begins = inside.find(|one| one.block() == body);
            let uses = uses(*variable);
            let is_used = |one: &Instruction<'m>| uses.iter().any(|(at, _)| at == one);
            let first = body.instructions().into_iter().find(is_used);
            let changes = |at: Instruction<'m>| natural.blocks.contains(&at.block());
            variable.allocated_type() == Some(index.ty())
                && begins.is_some_and(|begins| {
                    first == Some(*begins)
                        && uses.iter().all(|(at, does)| match does {
                            Does::Read => true,
                            Does::Write => !changes(*at) || at == begins,
                            Does::Unknown => false,
                        })
                })
        });
        if own.is_none() && counted != *index {
            return None;
        }
        let is_own = |one: &Instruction<'m>| {
            let here = one.block() == exit && exit.predecessors() == [header];
            own.is_some_and(|own| one.operand(1) == *own)
                && (here || natural.blocks.contains(&one.block()))
        };
        let stores = stores.into_iter().filter(is_own).collect();
        Some(Self {
            before: before.terminator()?,
            header,
            index,
            left,
            decides,
            back: back.terminator()?,
            first,
            last,
            wraps: !next.has_no_signed_wrap(),
            variable: own,
            stores,
        })
    }

    fn rewrite(self, module: &'m Module) {
        let (ty, wide) = (self.index.ty(), self.left.ty());
        let function = self.header.function();
        let variable = match self.variable {
            Some(variable) => *variable,
            None => Builder::at_entry(module, function).alloca(ty, module.align_of(ty)),
        };
        Builder::before(module, self.before).store(self.first, variable);
        for store in self.stores {
            store.erase();
        }
        let before = Builder::before(module, self.before);
        let last = match self.last.more {
            0 => self.last.value,
            more => {
                let sum = before.sum(self.last.value, wide.integer_constant(more));
                if let Some(sum) = sum.as_instruction().filter(|_| ty.bits() < wide.bits()) {
                    // It is a number of the variable's kind.
                    sum.promise_no_wrap(true);
                }
                sum
            }
        };
        let header = Builder::before(module, self.decides);
        let number = header.load(ty, variable);
        let is_left = header.ask(
            Comparison::Integer(IntPredicate::LLVMIntSLE),
            header.sign_extend(number, wide),
            last,
        );
        let asks = self.decides.branch_condition();
        self.decides.set_branch_condition(is_left);
        let latch = function.append_block(module);
        let steps = Builder::at_end_like(module, latch, self.back);
        let next = steps.sum(steps.load(ty, variable), ty.integer_constant(1));
        if let Some(next) = next.as_instruction().filter(|_| !self.wraps) {
            next.promise_no_wrap(true);
        }
        steps.store(next, variable);
        steps.go(self.header);
        self.back.set_operand(0, latch.label());
        self.index.replace_all_uses_with(number);
        let rest = [*self.index, *self.left].map(|phi| {
            let incoming = phi.as_instruction().map(|one| one.incoming());
            incoming
                .into_iter()
                .flatten()
                .filter_map(|one| one.0.as_instruction())
        });
        let rest: HashSet<_> = rest.into_iter().flatten().collect();
        if let Some(asks) = asks.and_then(|one| one.as_instruction()) {
            asks.erase();
        }
        self.left.replace_all_uses_with(wide.zero());
        self.left.erase();
        self.index.erase();
        for one in rest {
            if one.is_unused() && one.only_computes() {
                one.erase();
            }
        }
    }
}

/// The last number of a loop with so many turns, by the numbers that these are computed from.
fn last<'m>(first: Value<'m>, turns: Value<'m>) -> Option<Last<'m>> {
    let mut more = -1_i64;
    let mut value = turns;
    let mut is_from_first = false;
    // `end - first + 1`, where parts of it may be constants.
    for _ in 0..4 {
        let Some(one) = value.as_instruction() else {
            break;
        };
        let by = |at: usize| one.operand(at).as_constant_int();
        let (next, plus) = match one.opcode() {
            Opcode::LLVMAdd => (one.operand(0), by(1)),
            Opcode::LLVMSub if by(1).is_some() => (one.operand(0), by(1).map(|by| -by)),
            Opcode::LLVMSub if !is_from_first && is_same(one.operand(1), first) => {
                is_from_first = true;
                (one.operand(0), Some(0))
            }
            _ => break,
        };
        let Some(plus) = plus else {
            break;
        };
        (value, more) = (next, more.checked_add(plus)?);
    }
    if !is_from_first {
        more = more.checked_add(first.as_constant_int()?)?;
    }
    Some(Last { value, more })
}

/// Whether a number is the first one, made wider or narrower without a change.
fn is_same<'m>(number: Value<'m>, first: Value<'m>) -> bool {
    let wider = |value: Value<'m>| Some(value.as_op(Opcode::LLVMSExt)?.operand(0));
    let narrow = first.as_op(Opcode::LLVMTrunc);
    let is_kept = || {
        let from = wider(number).and_then(|one| one.ty().bits());
        from.is_some() && from <= first.ty().bits()
    };
    let constant = number.as_constant_int();
    number == first
        || wider(number) == Some(first)
        || narrow.is_some_and(|one| one.operand(0) == number) && is_kept()
        || constant.is_some() && constant == first.as_constant_int()
}
