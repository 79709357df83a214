//! What the lanes of a loop work on. What the body reads of each element is gathered into vectors, one for each
//! component; what it wrote is put back element by element, in their order. So elements that change the same
//! target do so as they would one after the other.
//!
//! Reads are of whole rows, which are transposed, and so are writes; where elements may lead to the same target, each
//! lane's part is put back before the next one's.

use std::collections::HashMap;

use crate::ir::{Mode, Parameter};
use crate::llvm::{Block, Builder, Comparison, IntPredicate, Opcode, Type, Value};
use crate::lower::elements::{Source, combined, put_back};

use super::argument::LaneArgument;
use super::body::Body;

/// Values at the end of a function's entry block, of what is passed of an argument.
#[derive(Clone, Copy)]
pub struct LaneValues<'m> {
    /// Where its elements are, as it is expected.
    pub source: Source<'m>,
    /// Bytes from one element to the next as they are, where that is to be compared.
    pub found_size: Option<Value<'m>>,
    /// Columns of the map as they are.
    pub found_arity: Value<'m>,
}

/// The body, and the vectors it works on.
pub struct Data<'a, 'm> {
    pub body: Body<'a, 'm>,
    arguments: &'a [LaneArgument<'a>],
    values: &'a [LaneValues<'m>],
    pub width: usize,
    /// At the end of the code for several elements.
    pub builder: Builder<'m>,
    /// At the end of the entry block.
    pub at_entry: Builder<'m>,
    pub entry: Block<'m>,
    pub lanes: Block<'m>,
    /// A phi: the number of the first lane's element.
    pub number: Value<'m>,
    pub from: Value<'m>,
    pub to: Value<'m>,
    /// Objects in the order in which the body wrote them last.
    pub written: Vec<usize>,
    splats: HashMap<Value<'m>, Value<'m>>,
    rows: HashMap<(usize, i64), Vec<Value<'m>>>,
    /// By argument and column.
    targets: HashMap<(usize, i64), Vec<Value<'m>>>,
}

/// Bytes of rows that are moved at once.
const PIECE: i64 = 32;

impl<'a, 'm> Data<'a, 'm> {
    /// For code in `lanes`, a new block, which control comes to from `entry`, and where `from` and `to` are bounds.
    pub fn new(
        body: Body<'a, 'm>,
        arguments: &'a [LaneArgument<'a>],
        values: &'a [LaneValues<'m>],
        width: usize,
        [entry, lanes]: [Block<'m>; 2],
        [from, to]: [Value<'m>; 2],
    ) -> Self {
        let module = body.module;
        let [builder, at_entry] = [lanes, entry].map(|block| Builder::at_end(module, block));
        let long = module.int(64);
        let [from, to] = [from, to].map(|bound| at_entry.sign_extend(bound, long));
        let number = builder.phi(long);
        number.add_incoming(from, entry);
        Self {
            body,
            arguments,
            values,
            width,
            builder,
            at_entry,
            entry,
            lanes,
            number,
            from,
            to,
            written: Vec::new(),
            splats: HashMap::new(),
            rows: HashMap::new(),
            targets: HashMap::new(),
        }
    }

    pub fn vector_of(&self, ty: Type<'m>) -> Type<'m> {
        ty.vector(self.width)
    }

    fn ty(&self, object: usize) -> Type<'m> {
        self.body.objects[object].ty.expect("it has been used")
    }

    fn now(&self, object: usize, cell: usize) -> Value<'m> {
        let now = self.body.objects[object].cells[cell].now;
        now.expect("it has been fetched or written")
    }

    fn argument_of(&self, object: usize) -> (usize, &'a LaneArgument<'a>) {
        let at = self.body.objects[object].argument;
        let at = at.expect("it is no variable");
        (at, &self.arguments[at])
    }

    fn parameter_of(&self, object: usize) -> Parameter<'a> {
        self.argument_of(object).1.parameter
    }

    fn source_of(&self, object: usize) -> &'a Source<'m> {
        &self.values[self.argument_of(object).0].source
    }

    fn at(&self, number: usize) -> Value<'m> {
        self.body.module.const_i64(number as i64)
    }

    /// The value of all lanes as a vector.
    pub fn splat(&mut self, value: Value<'m>) -> Value<'m> {
        if value.is_vector() {
            return value;
        }
        if value.is_constant() {
            return self.builder.splat(value, self.width);
        }
        let (builder, width) = (&self.builder, self.width);
        let found = self.splats.entry(value);
        *found.or_insert_with(|| builder.splat(value, width))
    }

    pub fn select(
        &mut self,
        condition: Value<'m>,
        mut yes: Value<'m>,
        mut no: Value<'m>,
    ) -> Value<'m> {
        if yes == no {
            return yes;
        }
        if condition.is_vector() || yes.is_vector() || no.is_vector() {
            yes = self.splat(yes);
            no = self.splat(no);
        }
        self.builder.select(condition, yes, no)
    }

    /// What a cell holds before the body, if nothing is known of it yet.
    pub fn fetch(&mut self, object: usize, cell: usize) -> Value<'m> {
        if let Some(now) = self.body.objects[object].cells[cell].now {
            return now;
        }
        let ty = self.ty(object);
        let Some(argument) = self.body.argument(object) else {
            return self.set(object, cell, self.vector_of(ty).poison());
        };
        let is_global = argument.is_whole();
        if argument.is_own_number() {
            let module = self.body.module;
            let lanes: Vec<_> = (0..self.width)
                .map(|lane| module.const_i32(lane as i32))
                .collect();
            let first = self.builder.int_cast(self.number, module.int(32));
            let first = self.splat(first);
            let lanes = self.builder.constant_vector(&lanes);
            let numbers = self.builder.binary(Opcode::LLVMAdd, first, lanes);
            return self.set(object, cell, numbers);
        }
        if argument.is_sum() {
            let zero = self.splat(ty.neutral());
            return match is_global {
                true => self.carry(object, cell, zero),
                false => self.set(object, cell, zero),
            };
        }
        if is_global {
            let source = self.source_of(object);
            let address = source.component(&self.at_entry, ty, source.data, cell);
            let bytes = argument.element().scalar.bytes;
            let loaded = self.at_entry.load_aligned(ty, address, bytes);
            if argument.access.mode == Mode::Read {
                return self.set(object, cell, loaded);
            }
            let before = self.at_entry.splat(loaded, self.width);
            return self.carry(object, cell, before);
        }
        self.gather(object, cell);
        self.now(object, cell)
    }

    fn set(&mut self, object: usize, cell: usize, value: Value<'m>) -> Value<'m> {
        self.body.objects[object].cells[cell].now = Some(value);
        value
    }

    fn carry(&mut self, object: usize, cell: usize, before: Value<'m>) -> Value<'m> {
        let top = Builder::at_top(self.body.module, self.lanes);
        let phi = top.phi(before.ty());
        phi.add_incoming(before, self.entry);
        self.body.objects[object].cells[cell].carried = Some(phi);
        self.set(object, cell, phi)
    }

    /// Pieces of a row that are moved as vectors: position and length.
    fn pieces(&self, object: usize) -> Vec<(usize, usize)> {
        let (_, argument) = self.argument_of(object);
        let most = match argument.is_by_component {
            true => 1,
            false => self.width.min((PIECE / argument.bytes()) as usize),
        };
        let count = self.body.objects[object].cells.len();
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
        let leader = self.arguments[at].leader;
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
        let (at, argument) = self.argument_of(object);
        let column = self.body.objects[object].column;
        if let Some(found) = self.rows.get(&(at, column)) {
            return found.clone();
        }
        let is_indirect = argument.parameter.columns().is_some();
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

    /// Whether the lanes' values of a component lie side by side.
    fn is_contiguous(&self, object: usize) -> bool {
        let argument = self.argument_of(object).1;
        let size = self.source_of(object).size.as_constant_int();
        argument.parameter.columns().is_none() && size == Some(argument.bytes())
    }

    /// The same of an argument whose components do not.
    pub fn is_component_contiguous(&self, object: usize) -> bool {
        self.argument_of(object).1.is_by_component && self.is_contiguous(object)
    }

    /// Where a component is of the element that begins at `row`.
    fn component(&self, row: Value<'m>, object: usize, cell: usize) -> Value<'m> {
        let ty = self.ty(object);
        self.source_of(object)
            .component(&self.builder, ty, row, cell)
    }

    fn gather(&mut self, object: usize, cell: usize) {
        let rows = self.rows(object);
        let (ty, bytes) = (self.ty(object), self.argument_of(object).1.bytes());
        if self.is_contiguous(object) {
            let address = self.component(rows[0], object, cell);
            let all = self.vector_of(ty);
            let all = self.builder.load_aligned(all, address, bytes);
            self.take(object, cell, all);
            return;
        }
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
            if length == 1 {
                let mut all = self.vector_of(ty).poison();
                for (lane, one) in loaded.into_iter().enumerate() {
                    all = self.builder.insert_lane(all, one, lane);
                }
                self.take(object, at, all);
                continue;
            }
            let components = self.to_components(&loaded, length);
            for (index, one) in components.into_iter().enumerate() {
                self.take(object, at + index, one);
            }
        }
    }

    /// The cell may have been written already.
    fn take(&mut self, object: usize, cell: usize, value: Value<'m>) {
        let now = &mut self.body.objects[object].cells[cell].now;
        now.get_or_insert(value);
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
    pub fn put_back(&mut self) -> Result<(), String> {
        // Object, position in the row, and values of each lane.
        let mut parts: Vec<(usize, usize, Vec<Value<'m>>)> = Vec::new();
        for object in self.written.clone() {
            let parameter = self.parameter_of(object);
            if parameter.is_whole() || parameter.is_own_number() {
                continue;
            }
            let cells = self.body.objects[object].cells.clone();
            let is_conditional = cells.iter().any(|cell| cell.is_conditional);
            if parameter.columns().is_some() && is_conditional {
                return Err("it writes through a map on a condition".into());
            }
            if self.is_contiguous(object) {
                for at in (0..cells.len()).filter(|at| cells[*at].is_written) {
                    let row = self.rows(object)[0];
                    let address = self.component(row, object, at);
                    let all = self.splat(self.now(object, at));
                    put_back(&self.builder, &parameter, address, all);
                }
                continue;
            }
            for (at, length) in self.pieces(object) {
                let piece = at..at + length;
                let is_whole = piece.clone().all(|at| cells[at].is_written);
                if is_whole && length > 1 {
                    let components: Vec<_> =
                        piece.map(|at| self.splat(self.now(object, at))).collect();
                    parts.push((object, at, self.to_rows(&components)));
                    continue;
                }
                for at in piece.filter(|at| cells[*at].is_written) {
                    let all = self.splat(self.now(object, at));
                    let each = (0..self.width).map(|lane| self.builder.extract_lane(all, lane));
                    parts.push((object, at, each.collect()));
                }
            }
        }
        for lane in 0..self.width {
            for (object, at, new) in &parts {
                let row = self.rows(*object)[lane];
                let address = self.component(row, *object, *at);
                put_back(
                    &self.builder,
                    &self.parameter_of(*object),
                    address,
                    new[lane],
                );
            }
        }
        Ok(())
    }

    /// At the entry: whether what was expected of the maps is true and elements are enough.
    pub fn is_as_expected(&self) -> Value<'m> {
        let entry = &self.at_entry;
        let mut right = self.are_enough(entry, self.from);
        let mut also = |a, b| right = entry.and(right, entry.compare(a, b, false));
        for (at, argument) in self.arguments.iter().enumerate() {
            let own = &self.values[at];
            if let Some(found) = own.found_size {
                also(found, own.source.size);
            }
            if argument.leader != at {
                let leader = &self.values[argument.leader];
                also(own.source.map, leader.source.map);
                also(own.found_arity, leader.found_arity);
            } else if argument.arity.is_some() {
                also(own.found_arity, own.source.arity);
            }
        }
        right
    }

    /// Whether there are elements for all lanes from that number on.
    pub fn are_enough(&self, builder: &Builder<'m>, from: Value<'m>) -> Value<'m> {
        let end = builder.add_without_wrap(from, self.at(self.width));
        builder.ask(Comparison::Integer(IntPredicate::LLVMIntSLE), end, self.to)
    }

    /// Behind the loop: a global argument's lanes, from the first.
    pub fn reduce(&mut self, object: usize, cell: usize, carried: Value<'m>) {
        let now = self.splat(self.now(object, cell));
        carried.add_incoming(now, self.lanes);
        if !self.body.objects[object].cells[cell].is_written {
            return;
        }
        let (parameter, source) = (self.parameter_of(object), self.source_of(object));
        let (bytes, builder) = (parameter.element().scalar.bytes, &self.builder);
        let address = self.component(source.data, object, cell);
        let mut total = builder.load_aligned(self.ty(object), address, bytes);
        for lane in 0..self.width {
            let own = builder.extract_lane(now, lane);
            total = combined(builder, &parameter, total, own);
        }
        builder.store_aligned(total, address, bytes);
    }
}
