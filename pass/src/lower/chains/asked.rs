//! What the order of a chain relies on and nobody has proved is asked in front of it when the program runs.
//!
//! Numbers wrap here: what does not fit has no meaning in the program, or is of a loop that runs no iteration.

use okl_chains::pragma::Position;

use crate::diagnostic::{Site, pragma};
use crate::ir::{Address, Amount, Asked, Asks, Bytes, Front, Run, Start};
use crate::llvm::{
    Block, Builder, Comparison, Function, IntPredicate, Linkage, Module, Opcode, Value,
};
use crate::lower::cpu::counted::Copies;

/// The environment variable that asks for an error where something that is said does not hold.
const VERIFY: &str = "OKL_VERIFY";
/// The function that tells of it.
const TELLS: &str = "okl.chain.tell";

/// Writes questions at the end of a block.
pub struct Writer<'a, 'm> {
    pub module: &'m Module,
    /// Of values that the chain computes.
    pub copies: &'a mut Copies<'m>,
    pub builder: Builder<'m>,
}

impl<'m> Writer<'_, 'm> {
    /// Whether something holds, and two numbers that say why not.
    fn asked(&mut self, asks: &Asks<'m>) -> (Value<'m>, Option<[Value<'m>; 2]>) {
        let is = Comparison::Integer;
        match asks {
            Asks::Apart(a, b) => {
                let [a, b] = [a, b].map(|one| self.span(one));
                let builder = &self.builder;
                let before = |a: [Value<'m>; 2], b: [Value<'m>; 2]| {
                    builder.ask(is(IntPredicate::LLVMIntSLE), a[1], b[0])
                };
                let [one, other] = [before(a, b), before(b, a)];
                (builder.binary(Opcode::LLVMOr, one, other), None)
            }
            Asks::Same(a, b) => {
                let both = [a, b].map(|one| self.amount(one));
                let same = self.builder.compare(both[0], both[1], false);
                (same, Some(both))
            }
            Asks::Natural(a) => {
                let [number, zero] = [self.amount(a), self.module.const_i64(0)];
                let is_natural = is(IntPredicate::LLVMIntSGE);
                (self.builder.ask(is_natural, number, zero), None)
            }
        }
    }

    fn amount(&mut self, amount: &Amount<'m>) -> Value<'m> {
        let mut sum: Option<Value<'m>> = None;
        for (factors, times) in amount.terms() {
            let mut product = self.module.const_i64(times);
            for one in factors {
                let factor = self.front(one);
                product = match product.as_constant_int() {
                    Some(1) => factor,
                    _ => self.builder.binary(Opcode::LLVMMul, product, factor),
                };
            }
            sum = Some(match sum {
                Some(sum) => self.builder.sum(sum, product),
                None => product,
            });
        }
        sum.unwrap_or(self.module.const_i64(0))
    }

    fn widened(&self, value: Value<'m>, signed: bool) -> Value<'m> {
        let long = self.module.int(64);
        match signed {
            true => self.builder.sign_extend(value, long),
            false => self.builder.int_cast(value, long),
        }
    }

    fn front(&mut self, front: &Front<'m>) -> Value<'m> {
        match front {
            Front::Value(value, signed) => {
                let value = self.copies.value(*value);
                self.widened(value, *signed)
            }
            Front::Variable(variable, signed) => {
                let ty = variable.allocated_type().expect("a stack variable");
                let value = self.builder.load(ty, **variable);
                self.widened(value, *signed)
            }
            Front::Loaded(address, bits, signed) => {
                let address = self.address(address);
                let value = self.builder.load(self.module.int(*bits), address);
                self.widened(value, *signed)
            }
            Front::Computed(how, operands, bits, signed) => {
                let ty = self.module.int(*bits);
                let operands = operands.iter().map(|one| {
                    let wide = self.amount(one);
                    self.builder.int_cast(wide, ty)
                });
                let operands: Vec<_> = operands.collect();
                let value = match operands[..] {
                    [a, b] => self.builder.binary(*how, a, b),
                    _ => operands[0],
                };
                self.widened(value, *signed)
            }
        }
    }

    fn object(&mut self, object: &Start<'m>) -> Value<'m> {
        let pointer = self.module.pointer();
        match object {
            Start::Value(value) => *value,
            Start::Variable(variable) => self.builder.load(pointer, **variable),
            Start::Loaded(address) => {
                let address = self.address(address);
                self.builder.load(pointer, address)
            }
        }
    }

    fn address(&mut self, address: &Address<'m>) -> Value<'m> {
        let object = self.object(&address.object);
        let offset = self.amount(&address.offset);
        self.builder.element(self.module.int(8), object, offset)
    }

    /// The first byte of all, and the first one behind them.
    fn span(&mut self, span: &Bytes<'m>) -> [Value<'m>; 2] {
        let object = self.object(&span.object);
        let begins = self.builder.bits_of(object, 64);
        let runs: Vec<_> = span.runs.iter().map(|one| self.run(one)).collect();
        let [smaller, larger] = [IntPredicate::LLVMIntSLT, IntPredicate::LLVMIntSGT];
        let [from, to] = [(0, smaller), (1, larger)].map(|(end, better)| {
            let ends = runs.iter().map(|one| one[end]);
            let of = ends.reduce(|a, b| self.choose(better, a, b));
            of.expect("something is accessed")
        });
        let builder = &self.builder;
        // Where nothing is accessed it is apart from all.
        let is_some = builder.ask(Comparison::Integer(smaller), from, to);
        let [from, to] = [from, to].map(|one| builder.sum(begins, one));
        let [most, least] = [i64::MAX, i64::MIN].map(|one| self.module.const_i64(one));
        [
            builder.select(is_some, from, most),
            builder.select(is_some, to, least),
        ]
    }

    fn choose(&self, better: IntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        let is = Comparison::Integer(better);
        self.builder.select(self.builder.ask(is, a, b), a, b)
    }

    /// From where to where a run and all that are further on lie, in bytes from the beginning of the object.
    fn run(&mut self, run: &Run<'m>) -> [Value<'m>; 2] {
        let first = self.amount(&run.first);
        let mut ends = [first, self.builder.plus(first, run.bytes)];
        for [stride, first, last] in &run.steps {
            let [stride, first, last] = [stride, first, last].map(|one| self.amount(one));
            let [a, b] = [first, last].map(|one| self.builder.binary(Opcode::LLVMMul, stride, one));
            let least = self.choose(IntPredicate::LLVMIntSLT, a, b);
            let most = self.choose(IntPredicate::LLVMIntSGT, a, b);
            ends = [
                self.builder.sum(ends[0], least),
                self.builder.sum(ends[1], most),
            ];
        }
        // So far that no bytes of others are changed by it, and sums of it and an address do not wrap.
        let nothing = [1_i64 << 61, -(1_i64 << 61)].map(|one| self.module.const_i64(one));
        for ends_of_loop in &run.loops {
            let [first, last] = [&ends_of_loop[0], &ends_of_loop[1]].map(|one| self.amount(one));
            let is_some = Comparison::Integer(IntPredicate::LLVMIntSLE);
            let is_some = self.builder.ask(is_some, first, last);
            let end = |at: usize| self.builder.select(is_some, ends[at], nothing[at]);
            ends = [end(0), end(1)];
        }
        ends
    }
}

/// Writes all questions behind a block, each in one of its own. Where all of them hold it goes on at `holds`, else at
/// `otherwise`.
pub fn ask<'m>(
    module: &'m Module,
    copies: &mut Copies<'m>,
    all: &[Asked<'m>],
    [holds, otherwise]: [Block<'m>; 2],
    is_said: bool,
) -> Block<'m> {
    let function = holds.function();
    let first = function.append_block(module);
    let mut here = first;
    for (at, one) in all.iter().enumerate() {
        let like = one.site.0.instruction();
        let [next, fails] = [at + 1 < all.len(), true].map(|is_new| match is_new {
            true => function.append_block(module),
            false => holds,
        });
        let builder = Builder::at_end_like(module, here, like);
        let mut writer = Writer {
            module,
            copies,
            builder,
        };
        let (is_so, numbers) = writer.asked(&one.asks);
        writer.builder.go_if(is_so, next, fails);
        let builder = Builder::at_end_like(module, fails, like);
        here = next;
        // Of what the programmer has not said nothing is wrong.
        if !is_said {
            builder.go(otherwise);
            continue;
        }
        let text = module.add_text("okl.chain.text", &text(one));
        let zero = module.const_i64(0);
        let [a, b] = numbers.unwrap_or([zero, zero]);
        let has_numbers = module.const_i32(i32::from(numbers.is_some()));
        builder.call(tells(module), &[*text, has_numbers, a, b]);
        builder.go(otherwise);
    }
    first
}

/// The values that a question is computed from.
pub fn values<'m>(one: &Asked<'m>) -> Vec<Value<'m>> {
    fn of_amount<'m>(amount: &Amount<'m>, found: &mut Vec<Value<'m>>) {
        for one in amount.terms().flat_map(|(factors, _)| factors) {
            match one {
                Front::Value(value, _) => found.push(*value),
                Front::Variable(..) => {}
                Front::Loaded(address, ..) => of_amount(&address.offset, found),
                Front::Computed(_, operands, ..) => {
                    operands.iter().for_each(|one| of_amount(one, found));
                }
            }
        }
    }
    let mut found = Vec::new();
    match &one.asks {
        Asks::Apart(a, b) => {
            for run in a.runs.iter().chain(&b.runs) {
                let steps = run.steps.iter().flatten();
                let all = steps.chain(run.loops.iter().flatten()).chain([&run.first]);
                all.for_each(|one| of_amount(one, &mut found));
            }
        }
        Asks::Same(a, b) => [a, b]
            .into_iter()
            .for_each(|one| of_amount(one, &mut found)),
        Asks::Natural(a) => of_amount(a, &mut found),
    }
    found
}

/// What is told where it does not hold.
fn text(one: &Asked<'_>) -> String {
    let (marker, at) = one.site;
    let place = match (at == Position::default(), pragma(marker)) {
        (false, Some((file, _))) => format!("{file}:{}:{}", at.line, at.column),
        _ => Site::Instruction(marker.instruction()).to_string(),
    };
    format!("{place}: okl: {}", one.otherwise)
}

/// The function that says so, and ends the program, where the user asks for it.
fn tells(module: &Module) -> Function<'_> {
    if let Some(known) = module.function(TELLS) {
        return known;
    }
    let [pointer, short, long] = [module.pointer(), module.int(32), module.int(64)];
    let asks = module.declared("getenv", module.function_type(pointer, &[pointer]));
    let prints = module.declared("dprintf", module.variadic_type(short, &[short, pointer]));
    let ends = module.declared("_exit", module.function_type(module.void(), &[short]));

    let parameters = [pointer, short, long, long];
    let ty = module.function_type(module.void(), &parameters);
    let tells = module.add_function(TELLS, ty, Linkage::LLVMInternalLinkage);
    for one in ["cold", "noinline", "nounwind"] {
        tells.set_attribute(module, one);
    }
    let [start, looks, speaks, back] = [(); 4].map(|()| tells.append_block(module));
    let [text, has_numbers, a, b] = tells.parameters()[..] else {
        unreachable!("it has four");
    };
    let name = module.add_text("okl.chain.verify", VERIFY);
    let builder = Builder::at_end(module, start);
    let value = builder.call(asks, &[*name]);
    builder.go_if(builder.compare(value, pointer.zero(), false), back, looks);

    let builder = Builder::at_end(module, looks);
    let first = builder.load(module.int(8), value);
    let is_off = [0, i64::from(b'0')].map(|one| {
        let one = module.int(8).integer_constant(one);
        builder.compare(first, one, false)
    });
    let is_off = builder.binary(Opcode::LLVMOr, is_off[0], is_off[1]);
    builder.go_if(is_off, back, speaks);

    let builder = Builder::at_end(module, speaks);
    let formats = ["%s\n", "%s: %ld, not %ld\n"];
    let formats = formats.map(|one| *module.add_text("okl.chain.format", one));
    let is_plain = builder.compare(has_numbers, short.zero(), false);
    let format = builder.select(is_plain, formats[0], formats[1]);
    builder.call(prints, &[module.const_i32(2), format, text, a, b]);
    builder.call(ends, &[module.const_i32(1)]);
    builder.go(back);

    Builder::at_end(module, back).ret(None);
    tells
}
