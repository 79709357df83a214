//! The body of a loop for several elements at once. Its control flow becomes masks, its operations those of vectors;
//! [`data`](super::data) moves what it reads and writes. So results of one lane are computed by the same operations as
//! without lanes.
//!
//! The caller guarantees that no written data overlap with those of another argument, except where both are increments
//! through maps.

use std::collections::{HashMap, HashSet};

use crate::ir::{Mode, Parameter};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Intrinsic, Module,
    Opcode, RealPredicate, Type, Value,
};

use super::argument::LaneArgument;
use super::body::{Body, Memory, says_nothing};
use super::data::{Data, LaneValues};

/// A mask; nothing: all lanes.
type Mask<'m> = Option<Value<'m>>;

struct Lanes<'a, 'm> {
    data: Data<'a, 'm>,
    lanes: Function<'m>,
    rest: Function<'m>,
    /// Blocks behind the loop, and for what is left.
    exit: Block<'m>,
    tail: Block<'m>,
    /// The number of the next first lane's element.
    next: Value<'m>,
    /// Blocks that all lanes come to.
    always: HashSet<Block<'m>>,
    /// What values of the body are, where all lanes have the same, and where not.
    scalars: HashMap<Value<'m>, Value<'m>>,
    vectors: HashMap<Value<'m>, Value<'m>>,
    /// Under which mask control goes from one block to another.
    edges: HashMap<(Block<'m>, Block<'m>), Mask<'m>>,
    roots: Option<Roots<'m>>,
    work: usize,
}

/// Square roots of negative numbers, which set `errno`.
struct Roots<'m> {
    /// A phi: in which lanes there have been some, before these elements.
    before: Value<'m>,
    now: Value<'m>,
    function: Function<'m>,
}

/// Completes a range function `lanes`, whose entry block ends behind `values`: `body` for `width` elements at a time, and
/// the others in a call of `rest`. Where it cannot be done: why. What was written is then of no use.
pub fn write<'m>(
    module: &'m Module,
    [lanes, rest, body]: [Function<'m>; 3],
    arguments: &[LaneArgument<'_>],
    values: &[LaneValues<'m>],
    width: usize,
) -> Result<(), String> {
    let mut body = Body::of(module, body, super::parameters(arguments));
    check(&mut body)?;
    let always = on_all_ways(&body.order);
    let entry = lanes.blocks()[0];
    let [inside, exit, tail] = [(); 3].map(|()| lanes.append_block(module));
    let [_, _, from, to] = lanes.parameters()[..] else {
        unreachable!("four parameters");
    };
    let data = Data::new(body, arguments, values, width, [entry, inside], [from, to]);
    let width = module.const_i64(width as i64);
    let next = data.builder.add_without_wrap(data.number, width);
    let mut all = Lanes {
        data,
        lanes,
        rest,
        exit,
        tail,
        next,
        always,
        scalars: HashMap::new(),
        vectors: HashMap::new(),
        edges: HashMap::new(),
        roots: None,
        work: 0,
    };
    for block in all.data.body.order.clone() {
        all.block(block)?;
    }
    if !all.pays() {
        return Err("it computes too little for what it moves".into());
    }
    all.end()
}

/// What can be told without writing anything.
fn check(body: &mut Body<'_, '_>) -> Result<(), String> {
    let position: HashMap<_, _> = body.order.iter().copied().zip(0..).collect();
    for block in &body.order {
        let is_back = |next: &Block<'_>| position[next] <= position[block];
        if block.successors().iter().any(is_back) {
            let reason = "the kernel has a loop whose turns are not constant, or too many";
            return Err(reason.into());
        }
    }
    for argument in &body.arguments {
        let reason = match argument.access.mode {
            Mode::ReadWrite if argument.columns().is_some() => {
                "it reads and writes through a map, where elements may meet"
            }
            Mode::Write | Mode::ReadWrite if argument.is_whole() => "it writes a global argument",
            _ => continue,
        };
        return Err(reason.into());
    }
    for at in 0..body.arguments.len() {
        if body.arguments[at].is_sum() {
            body.only_increments(at)?;
        }
    }
    Ok(())
}

/// The blocks that control comes to on all ways, of blocks each of which stands behind those it follows.
fn on_all_ways<'m>(order: &[Block<'m>]) -> HashSet<Block<'m>> {
    let position: HashMap<_, usize> = order.iter().copied().zip(0..).collect();
    let mut furthest = 0;
    let mut found = HashSet::new();
    for (at, block) in order.iter().enumerate() {
        // No way so far leads past this block.
        if furthest <= at {
            found.insert(*block);
        }
        let next = block.successors();
        let last = next.iter().map(|next| position[next]).max();
        furthest = furthest.max(last.unwrap_or(usize::MAX));
    }
    found
}

impl<'m> Lanes<'_, 'm> {
    fn module(&self) -> &'m Module {
        self.data.body.module
    }

    fn bytes(&self, ty: Type<'m>) -> i64 {
        self.module().store_size_of(ty) as i64
    }

    /// What a value of the body is: the same for all lanes, or a vector.
    fn value(&self, value: Value<'m>) -> Result<Value<'m>, String> {
        if value.is_plain_constant() {
            return Ok(value);
        }
        let found = self.scalars.get(&value);
        let found = found.or_else(|| self.vectors.get(&value));
        let reason = "the kernel computes an address that is not followed";
        found.copied().ok_or_else(|| reason.to_string())
    }

    fn values(&self, of: &[Value<'m>]) -> Result<Vec<Value<'m>>, String> {
        of.iter().map(|one| self.value(*one)).collect()
    }

    fn define(&mut self, instruction: Instruction<'m>, value: Value<'m>) {
        let map = match value.is_vector() {
            true => &mut self.vectors,
            false => &mut self.scalars,
        };
        map.insert(*instruction, value);
    }

    /// A condition may be poison where the mask is off.
    fn both(&mut self, mask: Mask<'m>, condition: Value<'m>) -> Value<'m> {
        match mask {
            Some(mask) => {
                let no = self.module().int(1).zero();
                self.data.select(mask, condition, no)
            }
            None => condition,
        }
    }

    fn either(&mut self, mut a: Value<'m>, mut b: Value<'m>) -> Value<'m> {
        if a.is_vector() || b.is_vector() {
            a = self.data.splat(a);
            b = self.data.splat(b);
        }
        self.data.builder.binary(Opcode::LLVMOr, a, b)
    }

    fn mask(&mut self, block: Block<'m>) -> Mask<'m> {
        let mut mask = None;
        for before in block.predecessors() {
            // Others are not reached.
            if let Some(&edge) = self.edges.get(&(before, block)) {
                let edge = edge?;
                mask = Some(match mask {
                    Some(mask) => self.either(mask, edge),
                    None => edge,
                });
            }
        }
        mask
    }

    fn block(&mut self, block: Block<'m>) -> Result<(), String> {
        let mask = match self.always.contains(&block) {
            true => None,
            false => self.mask(block),
        };
        let mut instructions = block.instructions();
        let end = instructions.pop().expect("a complete block");
        for instruction in instructions {
            self.instruction(instruction, mask)?;
        }
        self.leave(block, end, mask)
    }

    fn edge(&mut self, from: Block<'m>, to: Block<'m>, mask: Mask<'m>) {
        let mask = match (self.edges.get(&(from, to)).copied(), mask) {
            (None, mask) => mask,
            (Some(Some(other)), Some(mask)) => Some(self.either(other, mask)),
            (Some(_), _) => None,
        };
        self.edges.insert((from, to), mask);
    }

    fn leave(
        &mut self,
        block: Block<'m>,
        end: Instruction<'m>,
        mask: Mask<'m>,
    ) -> Result<(), String> {
        match end.opcode() {
            Opcode::LLVMRet | Opcode::LLVMUnreachable => {}
            Opcode::LLVMBr => match (end.branch_condition(), &block.successors()[..]) {
                (None, &[next]) => self.edge(block, next, mask),
                (Some(condition), &[yes, no]) => {
                    let condition = self.value(condition)?;
                    let holds = self.both(mask, condition);
                    self.edge(block, yes, Some(holds));
                    let not = self.data.builder.not(condition);
                    let fails = self.both(mask, not);
                    self.edge(block, no, Some(fails));
                }
                _ => unreachable!("one way, or two"),
            },
            Opcode::LLVMSwitch => {
                let condition = self.value(end.operand(0))?;
                let (cases, others) = end.cases();
                let mut any = None;
                for (mut number, to) in cases {
                    if condition.is_vector() {
                        number = self.data.splat(number);
                    }
                    let equal = self.data.builder.compare(condition, number, false);
                    let taken = self.both(mask, equal);
                    self.edge(block, to, Some(taken));
                    any = Some(match any {
                        Some(any) => self.either(any, equal),
                        None => equal,
                    });
                }
                let other = match any {
                    Some(any) => {
                        let none = self.data.builder.not(any);
                        Some(self.both(mask, none))
                    }
                    None => mask,
                };
                self.edge(block, others, other);
            }
            _ => return Err("the kernel ends in a way that is not known".into()),
        }
        Ok(())
    }

    /// Where an address leads to: a cell of an object.
    fn cell(&mut self, pointer: Value<'m>, bytes: i64) -> Result<Option<(usize, usize)>, String> {
        let Some((object, offset)) = self.data.body.place(pointer) else {
            return Ok(None);
        };
        let of = &self.data.body.objects[object];
        let own = of.ty.map(|ty| self.bytes(ty));
        if own != Some(bytes) || offset < 0 || offset % bytes != 0 {
            return Err("the kernel takes a value apart".into());
        }
        let index = (offset / bytes) as usize;
        if index >= of.cells.len() {
            return Err("the kernel accesses more components than it says".into());
        }
        Ok(Some((object, index)))
    }

    /// The type and number of the cells of the body's own variables follow from their use.
    fn shape(&mut self, pointer: Value<'m>, ty: Type<'m>) -> Result<(), String> {
        let body = &mut self.data.body;
        let Some((object, _)) = body.place(pointer) else {
            return Ok(());
        };
        if body.objects[object].ty.is_some() {
            return Ok(());
        }
        let variables = body.of_variable.iter();
        let variable = variables
            .filter(|(_, of)| **of == object)
            .map(|(one, _)| one);
        let variable = variable.filter_map(|one| one.as_instruction()).next();
        let variable = variable.expect("what has no type yet is a variable");
        let count = variable.operand(0).as_constant_int();
        let one = variable.allocated_type().filter(|ty| !ty.is_scalable());
        let (Some(count), Some(one)) = (count, one) else {
            return Err("the kernel has a variable whose size is not constant".into());
        };
        let size = count as u64 * self.module().size_of(one);
        let cells = size as usize / self.bytes(ty) as usize;
        let of = &mut self.data.body.objects[object];
        of.ty = Some(ty);
        of.cells.resize(cells, Default::default());
        Ok(())
    }

    fn as_type(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let wanted = match value.is_vector() {
            true => self.data.vector_of(ty),
            false => ty,
        };
        match value.ty() == wanted {
            true => value,
            false => {
                let builder = &self.data.builder;
                builder.cast(Opcode::LLVMBitCast, value, wanted)
            }
        }
    }

    fn put(
        &mut self,
        (object, cell): (usize, usize),
        new: Value<'m>,
        mask: Mask<'m>,
    ) -> Result<(), String> {
        let argument = self.data.body.argument(object);
        if argument.is_some_and(|one| one.access.mode == Mode::Read) {
            return Err("the kernel writes what it shall read".into());
        }
        let ty = self.data.body.objects[object].ty.expect("a cell has one");
        let new = self.data.splat(new);
        let mut new = self.as_type(new, ty);
        let poison = self.data.vector_of(ty).poison();
        let here = &mut self.data.body.objects[object].cells[cell];
        match mask {
            Some(mask) => {
                let only_writes = argument.is_some_and(|one| is_written_through_map(&one));
                if only_writes && here.now.is_none() {
                    here.is_conditional = true;
                    here.now = Some(poison);
                }
                let old = self.data.fetch(object, cell);
                new = self.data.select(mask, new, old);
            }
            None => {
                here.is_conditional = false;
                // A reduction needs the value before, even if only to say that it was lost.
                if argument.is_some_and(|one| one.is_whole()) {
                    self.data.fetch(object, cell);
                }
            }
        }
        let here = &mut self.data.body.objects[object].cells[cell];
        here.now = Some(new);
        here.is_written = true;
        if argument.is_some() {
            self.data.written.retain(|one| *one != object);
            self.data.written.push(object);
        }
        Ok(())
    }

    fn copy(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let [to, from, length, ..] = call.arguments()[..] else {
            unreachable!("an intrinsic that copies");
        };
        let source = self.data.body.place(from);
        let target = self.data.body.place(to);
        let ty = |place: Option<(usize, i64)>| {
            place.and_then(|(object, _)| self.data.body.objects[object].ty)
        };
        let ty = ty(source).or_else(|| ty(target));
        let (Some(length), Some(source), Some(target), Some(ty)) =
            (length.as_constant_int(), source, target, ty)
        else {
            return Err("the kernel copies memory that is not followed".into());
        };
        self.shape(from, ty)?;
        self.shape(to, ty)?;
        let bytes = self.bytes(ty);
        if length % bytes != 0 {
            return Err("the kernel takes a value apart".into());
        }
        let count = length / bytes;
        let mut values = Vec::new();
        for at in 0..count {
            let (object, cell) = self.copied(source, bytes, at)?;
            values.push(self.data.fetch(object, cell));
        }
        for (at, value) in (0..count).zip(values) {
            let cell = self.copied(target, bytes, at)?;
            self.put(cell, value, mask)?;
        }
        Ok(())
    }

    /// The cell so many behind a place.
    fn copied(
        &self,
        (object, offset): (usize, i64),
        bytes: i64,
        behind: i64,
    ) -> Result<(usize, usize), String> {
        let of = &self.data.body.objects[object];
        let own = of.ty.map(|ty| self.bytes(ty));
        let index = (offset / bytes + behind) as usize;
        if own != Some(bytes) || offset < 0 || offset % bytes != 0 || index >= of.cells.len() {
            return Err("the kernel copies more components than there are".into());
        }
        Ok((object, index))
    }

    fn fill(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let [to, byte, length, ..] = call.arguments()[..] else {
            unreachable!("an intrinsic that fills");
        };
        let target = self.data.body.place(to);
        let ty = target.and_then(|(object, _)| self.data.body.objects[object].ty);
        let (Some(length), Some(0), Some((object, offset)), Some(ty)) =
            (length.as_constant_int(), byte.as_constant_int(), target, ty)
        else {
            return Err("the kernel fills memory that is not followed".into());
        };
        let bytes = self.bytes(ty);
        let cells = self.data.body.objects[object].cells.len() as i64;
        let is_whole = offset >= 0 && offset % bytes == 0 && length % bytes == 0;
        if !is_whole || (offset + length) / bytes > cells {
            return Err("the kernel takes a value apart".into());
        }
        let zero = self.data.vector_of(ty).zero();
        for cell in offset / bytes..(offset + length) / bytes {
            self.put((object, cell as usize), zero, mask)?;
        }
        Ok(())
    }

    fn instruction(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        let ty = (*one).ty();
        let call = one.as_call();
        let intrinsic = call.and_then(Call::intrinsic).map(Intrinsic::name);
        let intrinsic = intrinsic.unwrap_or_default();
        let is_debug = intrinsic.starts_with("llvm.dbg.") || intrinsic == "llvm.pseudoprobe";
        if one.opcode() == Opcode::LLVMAlloca || is_debug {
            return Ok(());
        }
        if ty.is_aggregate() {
            return Err("the kernel computes with values of several components".into());
        }
        match (one.opcode(), call) {
            (Opcode::LLVMPHI, _) => self.phi(one),
            (Opcode::LLVMLoad, _) => self.load(one, mask),
            (Opcode::LLVMStore, _) => self.store(one, mask),
            (_, Some(call)) => match Memory::of(&intrinsic) {
                Some(Memory::Copies) => self.copy(call, mask),
                Some(Memory::Fills) => self.fill(call, mask),
                None => self.call(call, mask),
            },
            _ if ty.is_pointer() => self.address(one),
            (Opcode::LLVMICmp, _) if one.operand(0).ty().is_pointer() => self.compare(one),
            _ => self.compute(one, mask),
        }
    }

    fn store(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        let (new, pointer) = (one.operand(0), one.operand(1));
        let ty = new.ty();
        if !one.is_plain_access() || ty.is_pointer() {
            return Err("the kernel stores in a way that is not followed".into());
        }
        self.shape(pointer, ty)?;
        let cell = self.cell(pointer, self.bytes(ty))?;
        let cell = cell.ok_or("the kernel writes memory that is not an argument")?;
        let new = self.value(new)?;
        self.put(cell, new, mask)
    }

    /// Addresses within arguments are followed where they are used.
    fn address(&mut self, one: Instruction<'m>) -> Result<(), String> {
        if self.data.body.place(*one).is_some() {
            return Ok(());
        }
        let operands = one.operands();
        let is_known = |one: &Value<'m>| one.is_constant() || self.scalars.contains_key(one);
        if operands.iter().all(is_known) {
            let operands = self.values(&operands)?;
            self.clone(one, &operands);
        }
        // Else its use says what is wrong.
        Ok(())
    }

    /// Every argument is there.
    fn compare(&mut self, one: Instruction<'m>) -> Result<(), String> {
        let place = self.data.body.place(one.operand(0));
        let other = one.operand(1);
        let differs = match one.comparison() {
            Some(Comparison::Integer(IntPredicate::LLVMIntEQ)) => Some(0),
            Some(Comparison::Integer(IntPredicate::LLVMIntNE)) => Some(1),
            _ => None,
        };
        let is_known = other.is_null() && place.is_some_and(|(_, offset)| offset == 0);
        let differs = differs.filter(|_| is_known);
        let differs = differs.ok_or("the kernel compares addresses")?;
        let answer = self.module().int(1).integer_constant(differs);
        self.define(one, answer);
        Ok(())
    }

    fn clone(&mut self, one: Instruction<'m>, operands: &[Value<'m>]) {
        let copy = self.data.builder.copy_of(one, operands);
        self.scalars.insert(*one, copy);
    }

    fn phi(&mut self, one: Instruction<'m>) -> Result<(), String> {
        if (*one).ty().is_pointer() {
            return Ok(());
        }
        let mut result = None;
        for (value, from) in one.incoming() {
            let Some(&edge) = self.edges.get(&(from, one.block())) else {
                continue;
            };
            let value = self.value(value)?;
            result = Some(match (result, edge) {
                (Some(other), Some(edge)) => self.data.select(edge, value, other),
                _ => value,
            });
        }
        let result = result.ok_or("the kernel has code that is never reached")?;
        self.define(one, result);
        Ok(())
    }

    fn load(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        if !one.is_plain_access() {
            return Err("the kernel accesses memory that others see change".into());
        }
        let (ty, pointer) = ((*one).ty(), one.operand(0));
        if ty.is_pointer() {
            let place = self.data.body.place(*one);
            return place
                .map(|_| ())
                .ok_or_else(|| "the kernel loads an address".into());
        }
        self.shape(pointer, ty)?;
        if let Some((object, cell)) = self.cell(pointer, self.bytes(ty))? {
            let now = self.data.fetch(object, cell);
            let here = self.data.body.objects[object].cells[cell];
            let argument = self.data.body.argument(object);
            let only_writes = argument.is_some_and(|one| is_written_through_map(&one));
            if here.is_conditional {
                return Err("it reads what only some elements write".into());
            }
            if only_writes && !here.is_written {
                return Err("it reads what it shall write through a map".into());
            }
            let value = self.as_type(now, ty);
            self.define(one, value);
            return Ok(());
        }
        // The same for all lanes.
        if !pointer.is_constant() && !self.scalars.contains_key(&pointer) {
            return Err("the kernel reads memory at a computed place".into());
        }
        if mask.is_some() && !one.can_always_load() {
            return Err("the kernel reads memory on a condition".into());
        }
        let pointer = self.value(pointer)?;
        self.clone(one, &[pointer]);
        Ok(())
    }

    fn compute(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        use Opcode::*;
        let opcode = one.opcode();
        let mut operands = self.values(&one.operands())?;
        let divisions = [LLVMSDiv, LLVMUDiv, LLVMSRem, LLVMURem];
        let mask = mask.filter(|_| divisions.contains(&opcode));
        if mask.is_none() && !operands.iter().any(|one| one.is_vector()) {
            self.clone(one, &operands);
            return Ok(());
        }
        self.work += weight(opcode);
        for (at, operand) in operands.iter_mut().enumerate() {
            if opcode != LLVMSelect || at > 0 {
                *operand = self.data.splat(*operand);
            }
        }
        let ty = (*one).ty();
        let new = match opcode {
            LLVMFNeg => self.data.builder.negate(operands[0]),
            LLVMICmp | LLVMFCmp => {
                let what = one.comparison().expect("a comparison has a predicate");
                self.data.builder.ask(what, operands[0], operands[1])
            }
            LLVMSelect => {
                let [condition, yes, no] = operands[..] else {
                    unreachable!("three operands");
                };
                self.data.builder.select(condition, yes, no)
            }
            LLVMFreeze => self.data.builder.freeze(operands[0]),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
            | LLVMFPTrunc | LLVMFPExt | LLVMBitCast => {
                let to = self.data.vector_of(ty);
                self.data.builder.cast(opcode, operands[0], to)
            }
            LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast | LLVMPtrToAddr => {
                return Err("the kernel computes with addresses".into());
            }
            LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv
            | LLVMFDiv | LLVMURem | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr
            | LLVMAnd | LLVMOr | LLVMXor => {
                if let Some(mask) = mask {
                    let one = self.data.splat(ty.integer_constant(1));
                    operands[1] = self.data.select(mask, operands[1], one);
                }
                let [a, b] = [operands[0], operands[1]];
                self.data.builder.binary(opcode, a, b)
            }
            _ => {
                let name = one.opcode_name();
                return Err(format!("the kernel has an instruction '{name}'"));
            }
        };
        self.finish(one, new);
        Ok(())
    }

    /// What an instruction computes in all lanes.
    fn finish(&mut self, one: Instruction<'m>, new: Value<'m>) {
        if let Some(made) = new.as_instruction() {
            made.copy_flags(one);
        }
        self.vectors.insert(*one, new);
    }

    fn call(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let callee = call.callee().as_function();
        let callee = callee.ok_or("the kernel calls a function that is not known")?;
        if let Some(intrinsic) = call.intrinsic() {
            let name = intrinsic.name();
            if says_nothing(&name) || name == "llvm.experimental.noalias.scope.decl" {
                return Ok(());
            }
            if intrinsic.is_elementwise() && !(*call).ty().is_void() {
                return self.elementwise(call, intrinsic);
            }
        }
        let name = callee.name();
        if call.is_of_library() {
            let plain = name.trim_start_matches('\u{1}');
            if let "sqrt" | "sqrtf" = plain {
                return self.root(call, callee, mask);
            }
            let double = plain.strip_suffix('f').unwrap_or(plain);
            if ELEMENTARY.contains(&plain) || ELEMENTARY.contains(&double) {
                return self.lane_by_lane(call, mask);
            }
        }
        Err(format!("the kernel calls {name}"))
    }

    fn elementwise(&mut self, call: Call<'m>, intrinsic: Intrinsic) -> Result<(), String> {
        let one = call.instruction();
        let mut operands = self.values(&call.arguments())?;
        if !operands.iter().any(|one| one.is_vector()) {
            self.clone(one, &operands);
            return Ok(());
        }
        self.work += weight(Opcode::LLVMCall);
        let mut types = Vec::new();
        if intrinsic.is_declared_for(None) {
            types.push(self.data.vector_of((*one).ty()));
        }
        for (at, operand) in operands.iter_mut().enumerate() {
            if !intrinsic.keeps_scalar(at) {
                *operand = self.data.splat(*operand);
            } else if operand.is_vector() {
                return Err("the kernel calls a function that is not known".into());
            }
            if intrinsic.is_declared_for(Some(at)) {
                types.push(operand.ty());
            }
        }
        let new = self
            .data
            .builder
            .call_intrinsic(intrinsic, &types, &operands);
        self.finish(one, new);
        Ok(())
    }

    /// A square root of a negative number sets errno. Nothing in the body can see that, so it is enough to set it once,
    /// in the end.
    fn root(
        &mut self,
        call: Call<'m>,
        function: Function<'m>,
        mask: Mask<'m>,
    ) -> Result<(), String> {
        let of = self.value(call.arguments()[0])?;
        let of = self.data.splat(of);
        self.work += 8;
        let sqrt = Intrinsic::named("llvm.sqrt");
        let new = self.data.builder.call_intrinsic(sqrt, &[of.ty()], &[of]);
        self.finish(call.instruction(), new);
        if !call.accesses_memory() {
            return Ok(());
        }
        let less = Comparison::Floating(RealPredicate::LLVMRealOLT);
        let bad = self.data.builder.ask(less, of, of.ty().zero());
        let bad = self.both(mask, bad);
        let bad = self.data.splat(bad);
        let roots = self.roots.get_or_insert_with(|| {
            let before = Builder::at_top(self.data.body.module, self.data.lanes).phi(bad.ty());
            before.add_incoming(bad.ty().zero(), self.data.entry);
            Roots {
                before,
                now: before,
                function,
            }
        });
        roots.now = self.data.builder.binary(Opcode::LLVMOr, roots.now, bad);
        Ok(())
    }

    fn lane_by_lane(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let mut operands = Vec::new();
        for operand in call.arguments() {
            let ty = operand.ty();
            let mut value = self.value(operand)?;
            if !ty.is_floating() {
                return Err("the kernel calls a function that is not known".into());
            }
            value = self.data.splat(value);
            if let Some(mask) = mask {
                let one = self.data.splat(ty.floating_constant(1.0));
                value = self.data.select(mask, value, one);
            }
            operands.push(value);
        }
        let builder = &self.data.builder;
        let mut all = self.data.vector_of((*call).ty()).poison();
        for lane in 0..self.data.width {
            let own = operands.iter().map(|one| builder.extract_lane(*one, lane));
            let own: Vec<_> = own.collect();
            let one = builder.call_alike(call, &own);
            all = builder.insert_lane(all, one, lane);
        }
        self.vectors.insert(*call, all);
        Ok(())
    }

    /// Whether what is computed at once is worth the rearrangement.
    fn pays(&self) -> bool {
        let mut moves = 0;
        for (object, of) in self.data.body.objects.iter().enumerate() {
            let Some(argument) = self.data.body.argument(object) else {
                continue;
            };
            let lies_right = self.data.is_component_contiguous(object);
            if !argument.is_whole() && !lies_right {
                let each = of.cells.iter();
                let each =
                    each.map(|one| usize::from(one.now.is_some()) + usize::from(one.is_written));
                moves += each.sum::<usize>();
            }
        }
        2 * self.work >= moves
    }

    fn end(mut self) -> Result<(), String> {
        let module = self.module();
        self.data.put_back()?;
        let (inside, entry) = (self.data.lanes, self.data.entry);
        self.data.number.add_incoming(self.next, inside);
        let more = self.data.are_enough(&self.data.builder, self.next);
        let back = self.data.builder.go_if(more, inside, self.exit);
        back.keep_loop(module);

        let expected = self.data.is_as_expected();
        self.data.at_entry.go_if(expected, inside, self.tail);
        self.data.builder = Builder::at_end(module, self.exit);
        for object in 0..self.data.body.objects.len() {
            for cell in 0..self.data.body.objects[object].cells.len() {
                if let Some(carried) = self.data.body.objects[object].cells[cell].carried {
                    self.data.reduce(object, cell, carried);
                }
            }
        }
        let mut last = self.exit;
        if let Some(roots) = &self.roots {
            roots.before.add_incoming(roots.now, inside);
            last = self.set_errno(roots);
            self.data.builder = Builder::at_end(module, last);
        }
        self.data.builder.go(self.tail);

        let builder = Builder::at_end(module, self.tail);
        let first = builder.phi(module.int(64));
        first.add_incoming(self.data.from, entry);
        first.add_incoming(self.next, last);
        let [body, parameters, _, to] = self.lanes.parameters()[..] else {
            unreachable!("four parameters");
        };
        let first = builder.int_cast(first, module.int(32));
        builder.call(self.rest, &[body, parameters, first, to]);
        builder.ret(None);
        Ok(())
    }

    /// Ends the block behind the loop, and returns the one to go on in.
    fn set_errno(&self, roots: &Roots<'m>) -> Block<'m> {
        let module = self.module();
        let [set, done] = [(); 2].map(|()| self.tail.insert_before(module));
        let any = Intrinsic::named("llvm.vector.reduce.or");
        let builder = &self.data.builder;
        let any = builder.call_intrinsic(any, &[roots.now.ty()], &[roots.now]);
        builder.go_if(any, set, done);
        let builder = Builder::at_end(module, set);
        let ty = roots.function.function_type().parameters()[0];
        builder.call(roots.function, &[ty.floating_constant(-1.0)]);
        builder.go(done);
        done
    }
}

/// Whether lanes may write the same element, which they do not read.
fn is_written_through_map(parameter: &Parameter<'_>) -> bool {
    parameter.columns().is_some() && parameter.access.mode == Mode::Write
}

fn weight(opcode: Opcode) -> usize {
    use Opcode::*;
    match opcode {
        LLVMFDiv | LLVMFRem | LLVMSDiv | LLVMUDiv => 8,
        LLVMCall => 4,
        _ => 1,
    }
}

/// Functions of numbers, of which errno is all they change; of 1 they are a number. There are those of `float`, too.
const ELEMENTARY: [&str; 18] = [
    "exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "cbrt", "fmod",
];
