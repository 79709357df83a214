//! How the body of a loop can work on several elements at once. Its control flow becomes masks, its operations those
//! of vectors, so that results of one lane are computed by the same operations as without lanes.
//!
//! Guarantee: nothing is written here. Whatever may be in the way is found here, and what is found is all that is written.
//!
//! The caller guarantees that no written data overlap with those of another argument, except where both are increments
//! through maps.

mod memory;

use std::collections::{HashMap, HashSet};

use crate::analysis::kernel::{self, Kernel, Memory, says_nothing};
use crate::ir::Mode;
use crate::llvm::{
    Block, Call, Comparison, Function, Instruction, IntPredicate, Intrinsic, Opcode, RealPredicate,
    Type, Value,
};

use super::layout::Layout;
use super::plan::{Operand, Operation, Plan, Roots};

/// A mask; nothing: all lanes.
type Mask<'m> = Option<Operand<'m>>;

/// A plan in the making.
struct Planner<'a, 'm> {
    kernel: &'a Kernel<'a, 'm>,
    layout: Layout<'a>,
    plan: Plan<'m>,
    /// The types of all results.
    types: Vec<Type<'m>>,
    /// Blocks that all lanes come to.
    always: HashSet<Block<'m>>,
    /// What values of the body are.
    known: HashMap<Value<'m>, Operand<'m>>,
    /// Under which mask control goes from one block to another.
    edges: HashMap<(Block<'m>, Block<'m>), Mask<'m>>,
    splats: HashMap<Operand<'m>, Operand<'m>>,
    numbers: HashMap<kernel::Object<'m>, usize>,
    work: usize,
}

impl<'m> Plan<'m> {
    /// Of a kernel, for `width` elements that lie as `layout` says, or why it cannot be done.
    pub fn of(kernel: &Kernel<'_, 'm>, layout: Layout<'_>, width: usize) -> Result<Self, String> {
        let order = kernel.order();
        let mut planner = Planner {
            kernel,
            layout,
            plan: Plan {
                width,
                by_component: layout.by_component.to_vec(),
                operations: Vec::new(),
                objects: Vec::new(),
                written: Vec::new(),
                roots: None,
            },
            types: Vec::new(),
            always: on_all_ways(&order),
            known: HashMap::new(),
            edges: HashMap::new(),
            splats: HashMap::new(),
            numbers: HashMap::new(),
            work: 0,
        };
        for block in order {
            planner.block(block)?;
        }
        if !planner.pays() {
            return Err("it computes too little for what it moves".into());
        }
        if planner.leaves_some() {
            return Err("it writes through a map on a condition".into());
        }
        Ok(planner.plan)
    }
}

/// Why a kernel is nothing for lanes, however its data lie. `fits` says of which arguments
/// it does what the loop says of them.
pub fn check(kernel: &Kernel<'_, '_>, fits: &[bool]) -> Result<(), String> {
    let order = kernel.order();
    let position: HashMap<_, _> = order.iter().copied().zip(0..).collect();
    for block in &order {
        let is_back = |next: &Block<'_>| position[next] <= position[block];
        if block.successors().iter().any(is_back) {
            let reason = "the kernel has a loop whose turns are not constant, or too many";
            return Err(reason.into());
        }
    }
    for argument in kernel.arguments {
        let reason = match argument.access.mode {
            Mode::ReadWrite if argument.columns().is_some() => {
                "it reads and writes through a map, where elements may meet"
            }
            Mode::Write | Mode::ReadWrite if argument.is_whole() => "it writes a global argument",
            _ => continue,
        };
        return Err(reason.into());
    }
    for (argument, fits) in kernel.arguments.iter().zip(fits) {
        if argument.is_sum() && !fits {
            return Err("it does more than add to what it shall increment".into());
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

impl<'m> Planner<'_, 'm> {
    fn bytes(&self, ty: Type<'m>) -> i64 {
        self.kernel.module.store_size_of(ty) as i64
    }

    fn vector_of(&self, ty: Type<'m>) -> Type<'m> {
        ty.vector(self.plan.width)
    }

    fn ty(&self, value: Operand<'m>) -> Type<'m> {
        match value {
            Operand::Constant(value) => value.ty(),
            Operand::Result(number) => self.types[number],
        }
    }

    fn is_vector(&self, value: Operand<'m>) -> bool {
        self.ty(value).is_vector()
    }

    /// The same for all lanes, and known.
    fn is_scalar(&self, value: Value<'m>) -> bool {
        let known = self.known.get(&value);
        known.is_some_and(|one| !self.is_vector(*one))
    }

    /// What a value of the body is.
    fn value(&self, value: Value<'m>) -> Result<Operand<'m>, String> {
        if value.is_plain_constant() {
            return Ok(Operand::Constant(value));
        }
        let reason = "the kernel computes an address that is not followed";
        let found = self.known.get(&value).copied();
        found.ok_or_else(|| reason.to_string())
    }

    fn values(&self, of: &[Value<'m>]) -> Result<Vec<Operand<'m>>, String> {
        of.iter().map(|one| self.value(*one)).collect()
    }

    /// Adds an operation, whose result is of this type.
    fn add(&mut self, operation: Operation<'m>, ty: Type<'m>) -> Operand<'m> {
        self.plan.operations.push(operation);
        self.types.push(ty);
        Operand::Result(self.types.len() - 1)
    }

    /// What an instruction computes in all lanes.
    fn finish(&mut self, one: Instruction<'m>, operation: Operation<'m>, ty: Type<'m>) {
        let new = self.add(operation, ty);
        self.plan.operations.push(Operation::Flags(one));
        self.known.insert(*one, new);
    }

    /// The value of all lanes as a vector.
    fn splat(&mut self, value: Operand<'m>) -> Operand<'m> {
        if self.is_vector(value) {
            return value;
        }
        if let Some(&found) = self.splats.get(&value) {
            return found;
        }
        let ty = self.vector_of(self.ty(value));
        let new = self.add(Operation::Splat(value), ty);
        self.splats.insert(value, new);
        new
    }

    fn select(
        &mut self,
        condition: Operand<'m>,
        mut yes: Operand<'m>,
        mut no: Operand<'m>,
    ) -> Operand<'m> {
        if yes == no {
            return yes;
        }
        if [condition, yes, no].iter().any(|one| self.is_vector(*one)) {
            yes = self.splat(yes);
            no = self.splat(no);
        }
        let ty = self.ty(yes);
        self.add(Operation::Select([condition, yes, no]), ty)
    }

    /// A comparison of two values, both vectors or none.
    fn ask(&mut self, what: Comparison, values: [Operand<'m>; 2]) -> Operand<'m> {
        let truth = self.kernel.module.int(1);
        let ty = match self.is_vector(values[0]) {
            true => self.vector_of(truth),
            false => truth,
        };
        self.add(Operation::Compare(what, values), ty)
    }

    fn not(&mut self, value: Operand<'m>) -> Operand<'m> {
        let ty = self.ty(value);
        self.add(Operation::Not(value), ty)
    }

    /// A condition may be poison where the mask is off.
    fn both(&mut self, mask: Mask<'m>, condition: Operand<'m>) -> Operand<'m> {
        match mask {
            Some(mask) => {
                let no = Operand::Constant(self.kernel.module.int(1).zero());
                self.select(mask, condition, no)
            }
            None => condition,
        }
    }

    fn either(&mut self, mut a: Operand<'m>, mut b: Operand<'m>) -> Operand<'m> {
        if self.is_vector(a) || self.is_vector(b) {
            a = self.splat(a);
            b = self.splat(b);
        }
        let ty = self.ty(a);
        self.add(Operation::Binary(Opcode::LLVMOr, [a, b]), ty)
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
                    let not = self.not(condition);
                    let fails = self.both(mask, not);
                    self.edge(block, no, Some(fails));
                }
                _ => unreachable!("one way, or two"),
            },
            Opcode::LLVMSwitch => {
                let condition = self.value(end.operand(0))?;
                let (cases, others) = end.cases();
                let mut any = None;
                for (number, to) in cases {
                    let mut number = Operand::Constant(number);
                    if self.is_vector(condition) {
                        number = self.splat(number);
                    }
                    let is_equal = Comparison::Integer(IntPredicate::LLVMIntEQ);
                    let equal = self.ask(is_equal, [condition, number]);
                    let taken = self.both(mask, equal);
                    self.edge(block, to, Some(taken));
                    any = Some(match any {
                        Some(any) => self.either(any, equal),
                        None => equal,
                    });
                }
                let other = match any {
                    Some(any) => {
                        let none = self.not(any);
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
            _ if ty.is_pointer() => {
                self.address(one);
                Ok(())
            }
            (Opcode::LLVMICmp, _) if one.operand(0).ty().is_pointer() => self.compare(one),
            _ => self.compute(one, mask),
        }
    }

    /// An instruction that is the same for all lanes.
    fn copy_of(&mut self, one: Instruction<'m>, operands: Vec<Operand<'m>>) {
        let copy = self.add(Operation::Copy(one, operands), (*one).ty());
        self.known.insert(*one, copy);
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
                (Some(other), Some(edge)) => self.select(edge, value, other),
                _ => value,
            });
        }
        let result = result.ok_or("the kernel has code that is never reached")?;
        self.known.insert(*one, result);
        Ok(())
    }

    fn compute(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        use Opcode::*;
        let opcode = one.opcode();
        let not_known = || {
            let name = one.opcode_name();
            Err(format!("the kernel has an instruction '{name}'"))
        };
        // What is done once, each lane would have to do.
        if one.may_write() || one.is_volatile_or_atomic() {
            return not_known();
        }
        let mut operands = self.values(&one.operands())?;
        let divisions = [LLVMSDiv, LLVMUDiv, LLVMSRem, LLVMURem];
        let mask = mask.filter(|_| divisions.contains(&opcode));
        if mask.is_none() && !operands.iter().any(|one| self.is_vector(*one)) {
            self.copy_of(one, operands);
            return Ok(());
        }
        self.work += weight(opcode);
        for (at, operand) in operands.iter_mut().enumerate() {
            if opcode != LLVMSelect || at > 0 {
                *operand = self.splat(*operand);
            }
        }
        let ty = (*one).ty();
        let vector = self.vector_of(ty);
        let operation = match (opcode, &operands[..]) {
            (LLVMFNeg, &[of]) => Operation::Negate(of),
            (LLVMICmp | LLVMFCmp, &[a, b]) => {
                let what = one.comparison().expect("a comparison has a predicate");
                Operation::Compare(what, [a, b])
            }
            (LLVMSelect, &[condition, yes, no]) => Operation::Select([condition, yes, no]),
            (LLVMFreeze, &[of]) => Operation::Freeze(of),
            (
                LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
                | LLVMFPTrunc | LLVMFPExt | LLVMBitCast,
                &[of],
            ) => Operation::Cast(opcode, of, vector),
            (LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast | LLVMPtrToAddr, _) => {
                return Err("the kernel computes with addresses".into());
            }
            (
                LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv
                | LLVMFDiv | LLVMURem | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr
                | LLVMAnd | LLVMOr | LLVMXor,
                &[a, mut b],
            ) => {
                if let Some(mask) = mask {
                    let one = self.splat(Operand::Constant(ty.integer_constant(1)));
                    b = self.select(mask, b, one);
                }
                Operation::Binary(opcode, [a, b])
            }
            _ => return not_known(),
        };
        self.finish(one, operation, vector);
        Ok(())
    }

    fn call(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let callee = call.callee().as_function();
        let callee = callee.ok_or("the kernel calls a function that is not known")?;
        if let Some(intrinsic) = call.intrinsic() {
            let name = intrinsic.name();
            if says_nothing(&name) {
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
        if !operands.iter().any(|one| self.is_vector(*one)) {
            self.copy_of(one, operands);
            return Ok(());
        }
        self.work += weight(Opcode::LLVMCall);
        let result = self.vector_of((*one).ty());
        let mut types = Vec::new();
        if intrinsic.is_declared_for(None) {
            types.push(result);
        }
        for (at, operand) in operands.iter_mut().enumerate() {
            if !intrinsic.keeps_scalar(at) {
                *operand = self.splat(*operand);
            } else if self.is_vector(*operand) {
                return Err("the kernel calls a function that is not known".into());
            }
            if intrinsic.is_declared_for(Some(at)) {
                types.push(self.ty(*operand));
            }
        }
        let operation = Operation::Intrinsic(intrinsic, types, operands);
        self.finish(one, operation, result);
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
        let of = self.splat(of);
        self.work += 8;
        let (sqrt, ty) = (Intrinsic::named("llvm.sqrt"), self.ty(of));
        let operation = Operation::Intrinsic(sqrt, vec![ty], vec![of]);
        self.finish(call.instruction(), operation, ty);
        if !call.accesses_memory() {
            return Ok(());
        }
        let less = Comparison::Floating(RealPredicate::LLVMRealOLT);
        let bad = self.ask(less, [of, Operand::Constant(ty.zero())]);
        let bad = self.both(mask, bad);
        let bad = self.splat(bad);
        let truths = self.ty(bad);
        let (before, old) = match self.plan.roots {
            Some(roots) => (roots.before, roots.now),
            None => {
                let before = self.add(Operation::RootsBefore(truths), truths);
                (before, before)
            }
        };
        let now = self.add(Operation::Binary(Opcode::LLVMOr, [old, bad]), truths);
        let function = self.plan.roots.map_or(function, |roots| roots.function);
        self.plan.roots = Some(Roots {
            before,
            now,
            function,
        });
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
            value = self.splat(value);
            if let Some(mask) = mask {
                let one = self.splat(Operand::Constant(ty.floating_constant(1.0)));
                value = self.select(mask, value, one);
            }
            operands.push(value);
        }
        let ty = self.vector_of((*call).ty());
        let all = self.add(Operation::EachLane(call, operands), ty);
        self.known.insert(*call, all);
        Ok(())
    }

    /// Whether what is computed at once is worth the rearrangement.
    fn pays(&self) -> bool {
        let mut moves = 0;
        for of in &self.plan.objects {
            let kernel::Object::Element(at, _) = of.of else {
                continue;
            };
            let lies_right = self.layout.by_component[at] && self.layout.is_contiguous(at);
            if !self.layout.parameters[at].is_whole() && !lies_right {
                let each = of.cells.iter();
                let each =
                    each.map(|one| usize::from(one.now.is_some()) + usize::from(one.is_written));
                moves += each.sum::<usize>();
            }
        }
        2 * self.work >= moves
    }

    /// Whether some lanes do not write what the others write through a map.
    fn leaves_some(&self) -> bool {
        self.plan.written.iter().any(|&object| {
            let mut cells = self.plan.objects[object].cells.iter();
            let is_led_to = self
                .argument(object)
                .is_some_and(|one| one.columns().is_some());
            is_led_to && cells.any(|cell| cell.is_conditional)
        })
    }
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
