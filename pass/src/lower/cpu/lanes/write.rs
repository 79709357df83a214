//! Writes what is planned for several lanes. What the body reads of each element is gathered into vectors, one for each
//! component; what it wrote is put back element by element, in their order. So elements that change the same
//! target do so as they would one after the other.
//!
//! Reads are of whole rows, which are transposed, and so are writes; where elements may lead to the same target, each
//! lane's part is put back before the next one's.

use std::collections::HashMap;

use crate::analysis::kernel;
use crate::ir::Parameter;
use crate::llvm::{
    Block, Builder, Comparison, Function, IntPredicate, Intrinsic, Linkage, Module, Opcode, Type,
    Value,
};
use crate::lower::elements::{Fields, Source, combined, put_back};

use super::layout::Layout;
use super::plan::{Operand, Operation, Plan, Roots};

/// Values at the end of a function's entry block, of what is passed of an argument.
#[derive(Clone, Copy)]
struct LaneValues<'m> {
    /// Where its elements are, as it is expected.
    source: Source<'m>,
    /// Bytes from one element to the next as they are, where that is to be compared.
    found_size: Option<Value<'m>>,
    /// Columns of the map as they are.
    found_arity: Value<'m>,
}

impl<'m> LaneValues<'m> {
    /// Of an argument, if those of all arguments are at `passed`.
    fn of(builder: &Builder<'m>, layout: &Layout<'_>, passed: Value<'m>, at: usize) -> Self {
        let module = builder.module();
        let fields = Fields::of(builder, passed, at);
        let is_compared = layout.has_components() && layout.parameters[at].is_either();
        let found_size = is_compared.then(|| fields.number("size"));
        let stride = layout.by_component[at].then(|| fields.number("stride"));
        let data = fields.address("data");
        let size = match layout.size(at) {
            None => fields.number("size"),
            Some(size) => module.const_i64(size),
        };
        let map = fields.address("map");
        let found_arity = fields.number("arity");
        let arity = layout.arity(at);
        let arity = arity.map_or(found_arity, |arity| module.const_i64(arity));
        let source = Source {
            data,
            size,
            stride,
            map,
            arity,
            column: None,
        };
        Self {
            source,
            found_size,
            found_arity,
        }
    }
}

/// A function in the making.
struct Writer<'a, 'm> {
    module: &'m Module,
    plan: &'a Plan<'m>,
    layout: Layout<'a>,
    values: Vec<LaneValues<'m>>,
    width: usize,
    /// At the end of the code for several elements.
    builder: Builder<'m>,
    /// At the end of the entry block.
    at_entry: Builder<'m>,
    entry: Block<'m>,
    inside: Block<'m>,
    /// A phi: the number of the first lane's element.
    number: Value<'m>,
    from: Value<'m>,
    to: Value<'m>,
    /// Of the plan's operations.
    results: Vec<Value<'m>>,
    rows: HashMap<(usize, i64), Vec<Value<'m>>>,
    /// By argument and column.
    targets: HashMap<(usize, i64), Vec<Value<'m>>>,
}

/// Bytes of rows that are moved at once.
const PIECE: i64 = 32;

/// A range function as it is planned, of this name; it leaves to `rest` what it does not do itself.
pub fn write<'m>(
    module: &'m Module,
    name: &str,
    rest: Function<'m>,
    plan: &Plan<'m>,
    parameters: &[Parameter<'_>],
) -> Function<'m> {
    let layout = Layout {
        parameters,
        by_component: &plan.by_component,
    };
    let lanes = module.add_function(name, rest.function_type(), Linkage::LLVMInternalLinkage);
    lanes.compile_like(rest);
    let entry = lanes.append_block(module);
    let [kernel, passed, from, to] = lanes.parameters()[..] else {
        unreachable!("four parameters");
    };
    let builder = Builder::at_end(module, entry);
    let values = (0..parameters.len()).map(|at| LaneValues::of(&builder, &layout, passed, at));
    let values: Vec<_> = values.collect();
    let [inside, exit, tail] = [(); 3].map(|()| lanes.append_block(module));
    let mut writer = Writer::new(module, plan, layout, values, [entry, inside], [from, to]);
    let width = module.const_i64(plan.width as i64);
    let next = writer.builder.add_without_wrap(writer.number, width);
    for operation in &plan.operations {
        writer.operation(operation);
    }
    writer.put_back();
    writer.number.add_incoming(next, inside);
    let more = writer.are_enough(&writer.builder, next);
    let back = writer.builder.go_if(more, inside, exit);
    back.keep_loop(module);

    let expected = writer.is_as_expected();
    writer.at_entry.go_if(expected, inside, tail);
    writer.builder = Builder::at_end(module, exit);
    writer.reduce();
    let mut last = exit;
    if let Some(roots) = &plan.roots {
        let [before, now] = [roots.before, roots.now].map(|one| writer.value(one));
        before.add_incoming(now, inside);
        last = writer.set_errno(roots, tail);
        writer.builder = Builder::at_end(module, last);
    }
    writer.builder.go(tail);

    let builder = Builder::at_end(module, tail);
    let first = builder.phi(module.int(64));
    first.add_incoming(writer.from, entry);
    first.add_incoming(next, last);
    let first = builder.int_cast(first, module.int(32));
    builder.call(rest, &[kernel, passed, first, to]);
    builder.ret(None);
    lanes
}

impl<'a, 'm> Writer<'a, 'm> {
    /// For code in `inside`, a new block, which control comes to from `entry`, and where `from` and `to` are bounds.
    fn new(
        module: &'m Module,
        plan: &'a Plan<'m>,
        layout: Layout<'a>,
        values: Vec<LaneValues<'m>>,
        [entry, inside]: [Block<'m>; 2],
        [from, to]: [Value<'m>; 2],
    ) -> Self {
        let [builder, at_entry] = [inside, entry].map(|block| Builder::at_end(module, block));
        let long = module.int(64);
        let [from, to] = [from, to].map(|bound| at_entry.sign_extend(bound, long));
        let number = builder.phi(long);
        number.add_incoming(from, entry);
        Self {
            module,
            plan,
            layout,
            values,
            width: plan.width,
            builder,
            at_entry,
            entry,
            inside,
            number,
            from,
            to,
            results: Vec::new(),
            rows: HashMap::new(),
            targets: HashMap::new(),
        }
    }

    fn value(&self, of: Operand<'m>) -> Value<'m> {
        match of {
            Operand::Constant(value) => value,
            Operand::Result(number) => self.results[number],
        }
    }

    fn values_of(&self, all: &[Operand<'m>]) -> Vec<Value<'m>> {
        all.iter().map(|one| self.value(*one)).collect()
    }

    fn operation(&mut self, operation: &Operation<'m>) {
        let builder = &self.builder;
        let new = match *operation {
            Operation::Splat(of) => builder.splat(self.value(of), self.width),
            Operation::Binary(opcode, values) => {
                let [a, b] = values.map(|one| self.value(one));
                builder.binary(opcode, a, b)
            }
            Operation::Negate(of) => builder.negate(self.value(of)),
            Operation::Not(of) => builder.not(self.value(of)),
            Operation::Freeze(of) => builder.freeze(self.value(of)),
            Operation::Compare(what, values) => {
                let [a, b] = values.map(|one| self.value(one));
                builder.ask(what, a, b)
            }
            Operation::Select(values) => {
                let [condition, yes, no] = values.map(|one| self.value(one));
                builder.select(condition, yes, no)
            }
            Operation::Cast(opcode, of, ty) => builder.cast(opcode, self.value(of), ty),
            Operation::Intrinsic(intrinsic, ref types, ref operands) => {
                builder.call_intrinsic(intrinsic, types, &self.values_of(operands))
            }
            Operation::EachLane(call, ref operands) => {
                let operands = self.values_of(operands);
                let mut all = (*call).ty().vector(self.width).poison();
                for lane in 0..self.width {
                    let own = operands.iter().map(|one| builder.extract_lane(*one, lane));
                    let own: Vec<_> = own.collect();
                    let one = builder.call_alike(call, &own);
                    all = builder.insert_lane(all, one, lane);
                }
                all
            }
            Operation::Copy(one, ref operands) => builder.copy_of(one, &self.values_of(operands)),
            Operation::Flags(of) => {
                let made = self.results.last().and_then(|one| one.as_instruction());
                if let Some(made) = made {
                    made.copy_flags(of);
                }
                return;
            }
            Operation::Numbers => {
                let int = self.module.int(32);
                let lanes = (0..self.width).map(|lane| self.module.const_i32(lane as i32));
                let lanes: Vec<_> = lanes.collect();
                let first = builder.splat(builder.int_cast(self.number, int), self.width);
                builder.binary(Opcode::LLVMAdd, first, builder.constant_vector(&lanes))
            }
            Operation::Shared(object, cell) => self.before(object, cell),
            Operation::Carried(object, cell) => {
                let before = match self.parameter_of(object).is_sum() {
                    true => self.ty(object).neutral(),
                    false => self.before(object, cell),
                };
                self.carry(self.at_entry.splat(before, self.width))
            }
            Operation::RootsBefore(ty) => self.carry(ty.zero()),
            Operation::Gather(object, cell) => {
                let gathered = self.gather(object, cell);
                self.results.extend(gathered);
                return;
            }
        };
        self.results.push(new);
    }

    /// A component of a global argument before all elements.
    fn before(&self, object: usize, cell: usize) -> Value<'m> {
        let (ty, source) = (self.ty(object), self.source_of(object));
        let address = source.component(&self.at_entry, ty, source.data, cell);
        let bytes = self.bytes_of(object);
        self.at_entry.load_aligned(ty, address, bytes)
    }

    /// What the elements before leave of something that is `before` all of them.
    fn carry(&self, before: Value<'m>) -> Value<'m> {
        let phi = Builder::at_top(self.module, self.inside).phi(before.ty());
        phi.add_incoming(before, self.entry);
        phi
    }

    fn ty(&self, object: usize) -> Type<'m> {
        self.plan.objects[object].ty.expect("it has been used")
    }

    fn vector_of(&self, ty: Type<'m>) -> Type<'m> {
        ty.vector(self.width)
    }

    fn now(&self, object: usize, cell: usize) -> Value<'m> {
        let now = self.plan.objects[object].cells[cell].now;
        self.value(now.expect("it has been fetched or written"))
    }

    /// The argument that an object is an element of, and the column that leads to it.
    fn argument_of(&self, object: usize) -> (usize, i64) {
        match self.plan.objects[object].of {
            kernel::Object::Element(at, column) => (at, column),
            kernel::Object::Variable(_) => unreachable!("a variable is nowhere else"),
        }
    }

    fn parameter_of(&self, object: usize) -> &'a Parameter<'a> {
        &self.layout.parameters[self.argument_of(object).0]
    }

    fn source_of(&self, object: usize) -> &Source<'m> {
        &self.values[self.argument_of(object).0].source
    }

    /// Bytes of a component.
    fn bytes_of(&self, object: usize) -> i64 {
        self.layout.bytes(self.argument_of(object).0)
    }

    fn at(&self, number: usize) -> Value<'m> {
        self.module.const_i64(number as i64)
    }

    fn is_contiguous(&self, object: usize) -> bool {
        self.layout.is_contiguous(self.argument_of(object).0)
    }

    /// Pieces of a row that are moved as vectors: position and length.
    fn pieces(&self, object: usize) -> Vec<(usize, usize)> {
        let most = match self.layout.by_component[self.argument_of(object).0] {
            true => 1,
            false => self.width.min((PIECE / self.bytes_of(object)) as usize),
        };
        let count = self.plan.objects[object].cells.len();
        let mut found = Vec::new();
        let mut at = 0;
        while at < count {
            let mut length = most;
            while length > count - at {
                length /= 2;
            }
            found.push((at, length));
            at += length;
        }
        found
    }

    /// The elements of the target set that the lanes' elements lead to.
    fn targets(&mut self, at: usize, column: i64) -> Vec<Value<'m>> {
        let leader = self.layout.leader(at);
        if let Some(found) = self.targets.get(&(leader, column)) {
            return found.clone();
        }
        let (source, builder) = (&self.values[leader].source, &self.builder);
        let first = source.row(builder, self.number);
        let target = |lane| source.target(builder, source.row_behind(builder, first, lane), column);
        let found: Vec<_> = (0..self.width).map(target).collect();
        self.targets.insert((leader, column), found.clone());
        found
    }

    /// Where the lanes' elements begin.
    fn rows(&mut self, object: usize) -> Vec<Value<'m>> {
        let (at, column) = self.argument_of(object);
        if let Some(found) = self.rows.get(&(at, column)) {
            return found.clone();
        }
        let is_indirect = self.layout.parameters[at].columns().is_some();
        let targets = is_indirect.then(|| self.targets(at, column));
        let (source, builder) = (&self.values[at].source, &self.builder);
        let found: Vec<_> = match targets {
            Some(targets) => {
                let row = |target| source.element(builder, target);
                targets.into_iter().map(row).collect()
            }
            None => {
                let first = source.element(builder, self.number);
                let row = |lane| source.element_behind(builder, first, lane);
                (0..self.width).map(row).collect()
            }
        };
        self.rows.insert((at, column), found.clone());
        found
    }

    /// Where a component is of the element that begins at `row`.
    fn component(&self, row: Value<'m>, object: usize, cell: usize) -> Value<'m> {
        let ty = self.ty(object);
        self.source_of(object)
            .component(&self.builder, ty, row, cell)
    }

    /// A component, or all of them, as the plan has it.
    fn gather(&mut self, object: usize, cell: usize) -> Vec<Value<'m>> {
        let rows = self.rows(object);
        let (ty, bytes) = (self.ty(object), self.bytes_of(object));
        if self.is_contiguous(object) {
            let address = self.component(rows[0], object, cell);
            let all = self.vector_of(ty);
            return vec![self.builder.load_aligned(all, address, bytes)];
        }
        let mut gathered = Vec::new();
        for (at, length) in self.pieces(object) {
            let piece = match length {
                1 => ty,
                _ => ty.vector(length),
            };
            let load = |row: &Value<'m>| {
                let address = self.component(*row, object, at);
                self.builder.load_aligned(piece, address, bytes)
            };
            let loaded: Vec<_> = rows.iter().map(load).collect();
            if length > 1 {
                gathered.extend(self.to_components(&loaded, length));
                continue;
            }
            let mut all = self.vector_of(ty).poison();
            for (lane, one) in loaded.into_iter().enumerate() {
                all = self.builder.insert_lane(all, one, lane);
            }
            gathered.push(all);
        }
        gathered
    }

    /// Exchanges rows and columns of each square of these vectors, which are as many as a square is wide.
    fn transpose(&self, squares: &mut [Value<'m>]) {
        let width = self.width;
        let mut step = 1;
        while step < squares.len() {
            for at in (0..squares.len()).filter(|at| at & step == 0) {
                let low = |p| if p & step == 0 { p } else { width + p - step };
                let high = |p| if p & step == 0 { p + step } else { width + p };
                let (low, high): (Vec<_>, Vec<_>) = (0..width).map(|p| (low(p), high(p))).unzip();
                let (first, second) = (squares[at], Some(squares[at + step]));
                squares[at] = self.builder.shuffle(first, second, &low);
                squares[at + step] = self.builder.shuffle(first, second, &high);
            }
            step *= 2;
        }
    }

    /// Vectors of a component each, from rows of `length` components.
    fn to_components(&self, rows: &[Value<'m>], length: usize) -> Vec<Value<'m>> {
        let square = |at: usize| {
            let mut parts: Vec<_> = rows.iter().skip(at).step_by(length).copied().collect();
            let mut size = length;
            while parts.len() > 1 {
                size *= 2;
                let all: Vec<_> = (0..size).collect();
                let pairs = parts.chunks(2);
                let join = |pair: &[_]| self.builder.shuffle(pair[0], Some(pair[1]), &all);
                parts = pairs.map(join).collect();
            }
            parts[0]
        };
        let mut squares: Vec<_> = (0..length).map(square).collect();
        self.transpose(&mut squares);
        squares
    }

    /// Rows, one for each lane, from vectors of a component each.
    fn to_rows(&self, components: &[Value<'m>]) -> Vec<Value<'m>> {
        let mut squares = components.to_vec();
        let length = components.len();
        self.transpose(&mut squares);
        let row = |lane: usize| {
            let begin = lane / length * length;
            let all: Vec<_> = (begin..begin + length).collect();
            self.builder.shuffle(squares[lane % length], None, &all)
        };
        (0..self.width).map(row).collect()
    }

    /// One lane after the other; in each, the arguments as the body wrote them.
    fn put_back(&mut self) {
        // Object, position in the row, and values of each lane.
        let mut parts: Vec<(usize, usize, Vec<Value<'m>>)> = Vec::new();
        for &object in &self.plan.written {
            let parameter = self.parameter_of(object);
            if parameter.is_whole() || parameter.is_own_number() {
                continue;
            }
            let cells = &self.plan.objects[object].cells;
            if self.is_contiguous(object) {
                for at in (0..cells.len()).filter(|at| cells[*at].is_written) {
                    let row = self.rows(object)[0];
                    let address = self.component(row, object, at);
                    put_back(&self.builder, parameter, address, self.now(object, at));
                }
                continue;
            }
            for (at, length) in self.pieces(object) {
                let piece = at..at + length;
                let is_whole = piece.clone().all(|at| cells[at].is_written);
                if is_whole && length > 1 {
                    let components: Vec<_> = piece.map(|at| self.now(object, at)).collect();
                    parts.push((object, at, self.to_rows(&components)));
                    continue;
                }
                for at in piece.filter(|at| cells[*at].is_written) {
                    let all = self.now(object, at);
                    let each = (0..self.width).map(|lane| self.builder.extract_lane(all, lane));
                    parts.push((object, at, each.collect()));
                }
            }
        }
        for lane in 0..self.width {
            for (object, at, new) in &parts {
                let row = self.rows(*object)[lane];
                let address = self.component(row, *object, *at);
                let parameter = self.parameter_of(*object);
                put_back(&self.builder, parameter, address, new[lane]);
            }
        }
    }

    /// At the entry: whether what was expected of the maps is true and elements are enough.
    fn is_as_expected(&self) -> Value<'m> {
        let entry = &self.at_entry;
        let mut right = self.are_enough(entry, self.from);
        let mut also = |a, b| right = entry.and(right, entry.compare(a, b, false));
        for (at, own) in self.values.iter().enumerate() {
            if let Some(found) = own.found_size {
                also(found, own.source.size);
            }
            let leader = self.layout.leader(at);
            if leader != at {
                let leader = &self.values[leader];
                also(own.source.map, leader.source.map);
                also(own.found_arity, leader.found_arity);
            } else if self.layout.arity(at).is_some() {
                also(own.found_arity, own.source.arity);
            }
        }
        right
    }

    /// Whether there are elements for all lanes from that number on.
    fn are_enough(&self, builder: &Builder<'m>, from: Value<'m>) -> Value<'m> {
        let end = builder.add_without_wrap(from, self.at(self.width));
        builder.ask(Comparison::Integer(IntPredicate::LLVMIntSLE), end, self.to)
    }

    /// Behind the loop: the lanes of global arguments, from the first.
    fn reduce(&self) {
        for (object, of) in self.plan.objects.iter().enumerate() {
            for (at, cell) in of.cells.iter().enumerate() {
                let Some(carried) = cell.carried else {
                    continue;
                };
                let now = self.now(object, at);
                self.value(carried).add_incoming(now, self.inside);
                if !cell.is_written {
                    continue;
                }
                let (parameter, source) = (self.parameter_of(object), self.source_of(object));
                let (bytes, builder) = (self.bytes_of(object), &self.builder);
                let address = self.component(source.data, object, at);
                let mut total = builder.load_aligned(self.ty(object), address, bytes);
                for lane in 0..self.width {
                    let own = builder.extract_lane(now, lane);
                    total = combined(builder, parameter, total, own);
                }
                builder.store_aligned(total, address, bytes);
            }
        }
    }

    /// Ends the block behind the loop, and returns the one to go on in, both in front of the `tail`.
    fn set_errno(&self, roots: &Roots<'m>, tail: Block<'m>) -> Block<'m> {
        let module = self.module;
        let [set, done] = [(); 2].map(|()| tail.insert_before(module));
        let any = Intrinsic::named("llvm.vector.reduce.or");
        let (builder, now) = (&self.builder, self.value(roots.now));
        let any = builder.call_intrinsic(any, &[now.ty()], &[now]);
        builder.go_if(any, set, done);
        let builder = Builder::at_end(module, set);
        let ty = roots.function.function_type().parameters()[0];
        builder.call(roots.function, &[ty.floating_constant(-1.0)]);
        builder.go(done);
        done
    }
}
