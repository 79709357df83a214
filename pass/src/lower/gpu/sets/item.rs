//! What a work item of a loop over a set does.

use super::BLOCK;
use super::combine::Ties;
use super::signature::{Has, How, Map};
use super::staged::{self, Group};
use crate::ir::Parameter;
use crate::llvm::{Block, Builder, Comparison, Function, IntPredicate, Module, Opcode, Value};
use crate::lower::elements::Source;
use crate::lower::elements::one::{Adds, Passed as Access};
use crate::lower::gpu::asked::number;
use crate::lower::gpu::target::GpuTarget;

/// A kernel in the making.
pub(super) struct Writer<'d> {
    pub(super) device: &'d Module,
    pub(super) target: &'static GpuTarget,
    pub(super) kernel: Function<'d>,
    pub(super) body: Function<'d>,
    /// What it is passed.
    pub(super) given: Vec<Value<'d>>,
    pub(super) name: String,
    /// How what is added to elements through maps comes there.
    pub(super) adds: Adds,
}

impl<'d> Writer<'d> {
    /// An address of the device's memory as one like others.
    pub(super) fn address(&self, builder: &Builder<'d>, at: usize) -> Value<'d> {
        let pointer = self.device.pointer();
        builder.cast(Opcode::LLVMAddrSpaceCast, self.given[at], pointer)
    }

    /// Writes it. What is staged are the increments of these groups.
    pub(super) fn write(
        &mut self,
        [from, to, numbers]: [usize; 3],
        arguments: &[Parameter<'_>],
        has: &[Has],
        groups: &[Group],
    ) {
        let (module, kernel) = (self.device, self.kernel);
        let [start, begin, look, run, join] = [(); 5].map(|()| kernel.append_block(module));
        let (int, long) = (module.int(32), module.int(64));
        let at = |block| {
            let builder = Builder::at_end(module, block);
            builder.stand_at_start_of(kernel);
            builder
        };
        let builder = at(start);
        if let Some(space) = self.target.object_space {
            for given in &mut self.given {
                if given.ty().space() == Some(space) {
                    *given = builder.cast(Opcode::LLVMAddrSpaceCast, *given, module.pointer());
                }
            }
        }
        let item = number(&builder, &self.target.item, 0, Some(BLOCK));
        let block = number(&builder, &self.target.block, 0, None);
        let first = builder.sign_extend(self.given[from], long);
        // Of a kernel that runs blocks in an order of the run time's, the position of this one, and the element that it begins
        // with; of others, the position of the element.
        let is_staged = self.adds == Adds::Staged;
        let place = builder.sum(first, block);
        let position = match is_staged {
            true => {
                let begins = builder.element(int, self.given[numbers], place);
                let begins = builder.load(int, begins);
                builder.sum(builder.sign_extend(begins, long), item)
            }
            false => {
                let before = builder.multiply(block, module.const_i64(BLOCK));
                builder.sum(builder.sum(first, before), item)
            }
        };
        let end = builder.sign_extend(self.given[to], long);
        let accesses: Vec<_> = arguments
            .iter()
            .zip(has)
            .map(|(argument, has)| self.access(&builder, argument, has))
            .collect();
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        // What stands for an element where there is none: a number that none has.
        let nobody = builder.difference(module.const_i64(i64::from(i32::MAX)), item);
        let nobody = builder.int_cast(nobody, int);
        let is_there = builder.ask(less, position, end);
        builder.go_if(is_there, begin, join);

        let builder = at(begin);
        let same = builder.int_cast(position, int);
        let none = self.given[numbers].ty().zero();
        let has_numbers = match is_staged {
            true => module.int(1).zero(),
            false => builder.compare(self.given[numbers], none, true),
        };
        builder.go_if(has_numbers, look, run);

        let builder = at(look);
        let entry = builder.element(int, self.given[numbers], position);
        let told = builder.load(int, entry);
        builder.go(run);

        let mut builder = at(run);
        let number = builder.phi(int);
        number.add_incoming(same, begin);
        number.add_incoming(told, look);
        let mut front = run;
        let mut gathered = Vec::new();
        for ((access, _), has) in accesses.iter().zip(has) {
            let mut shown = number;
            if let How::Number { numbers } = has.how {
                let known = self.given[numbers];
                let differs = builder.compare(known, known.ty().zero(), true);
                (builder, front, shown) =
                    self.only_if(builder, front, differs, number, |builder| {
                        builder.load(int, builder.element(int, known, number))
                    });
            }
            let Some(is_there) = has.is_there else {
                gathered.push(access.gather(&builder, shown));
                continue;
            };
            let mut found = None;
            let is_there = builder.compare(self.given[is_there], int.zero(), true);
            let none = module.pointer().zero();
            let parameter;
            (builder, front, parameter) = self.only_if(builder, front, is_there, none, |builder| {
                let one = access.gather(builder, shown);
                let parameter = one.parameter;
                found = Some(one);
                parameter
            });
            gathered.push(found.expect("it was made").instead(parameter));
        }
        let passed: Vec<_> = gathered.iter().map(|one| one.parameter).collect();
        let call = builder.call(self.body, &passed).as_call();
        for (((access, _), has), gathered) in accesses.iter().zip(has).zip(&gathered) {
            let Some(is_there) = has.is_there.filter(|_| access.is_scattered()) else {
                access.scatter(&builder, gathered);
                continue;
            };
            let is_there = builder.compare(self.given[is_there], int.zero(), true);
            (builder, front, _) = self.only_if(builder, front, is_there, int.zero(), |builder| {
                access.scatter_anew(builder, number);
                int.zero()
            });
        }
        let mut shown = number;
        let known = has.iter().find_map(|one| match one.how {
            How::Winner { numbers, .. } => Some(self.given[numbers]),
            _ => None,
        });
        if let Some(known) = known {
            let differs = builder.compare(known, known.ty().zero(), true);
            (builder, front, shown) = self.only_if(builder, front, differs, number, |builder| {
                builder.load(int, builder.element(int, known, number))
            });
        }
        builder.go(join);
        let builder = at(join);
        let shown_by = [(nobody, start), (shown, front)];
        let shown = builder.phi(int);
        for (shown_there, from) in shown_by {
            shown.add_incoming(shown_there, from);
        }
        call.expect("a call").inline();

        let mut end = (builder, join);
        if is_staged {
            let accesses: Vec<_> = accesses.iter().map(|(access, _)| access).collect();
            end = staged::write(self, end, groups, arguments, &accesses, [item, place]);
        }
        let mut shared = None;
        let all = has;
        let each = arguments.iter().zip(all).zip(&accesses).enumerate();
        for (which, ((argument, has), (_, own))) in each {
            let (to, firsts) = match has.how {
                How::Partials { to, .. } => (to, None),
                How::Winner { to, firsts, .. } => (to, Some(firsts)),
                _ => continue,
            };
            let own = own.expect("it has a copy");
            let shared = *shared.get_or_insert_with(|| {
                let slots = module.array(long, BLOCK as u64);
                let name = format!("{}_values", self.name);
                module.add_in_space(&name, slots, self.target.shared_space, 16)
            });
            let ties = firsts.map(|firsts| {
                let slots = module.array(int, BLOCK as u64);
                let name = format!("{}_numbers_{which}", self.name);
                let along = all.iter().zip(&accesses).filter_map(|(has, (_, own))| {
                    let How::Along {
                        to, winner, bytes, ..
                    } = has.how
                    else {
                        return None;
                    };
                    let is_its = winner == which;
                    is_its.then(|| {
                        let own = own.expect("it has a copy");
                        (own, self.address(&end.0, to), bytes)
                    })
                });
                Ties {
                    number: shown,
                    shared: module.add_in_space(&name, slots, self.target.shared_space, 16),
                    firsts: self.address(&end.0, firsts),
                    along: along.collect(),
                }
            });
            let to = self.address(&end.0, to);
            end = self.combine(end, argument, [item, block], [own, shared, to], ties);
        }
        end.0.ret(None);
    }

    /// Does something where a condition holds, and has a value of it, or `other`. Continues behind that.
    fn only_if(
        &self,
        builder: Builder<'d>,
        front: Block<'d>,
        condition: Value<'d>,
        other: Value<'d>,
        does: impl FnOnce(&Builder<'d>) -> Value<'d>,
    ) -> (Builder<'d>, Block<'d>, Value<'d>) {
        let [yes, next] = [(); 2].map(|()| self.kernel.append_block(self.device));
        let at = |block| {
            let builder = Builder::at_end(self.device, block);
            builder.stand_at_start_of(self.kernel);
            builder
        };
        builder.go_if(condition, yes, next);
        let builder = at(yes);
        let value = does(&builder);
        builder.go(next);
        let builder = at(next);
        let both = builder.phi(value.ty());
        both.add_incoming(value, yes);
        both.add_incoming(other, front);
        (builder, next, both)
    }

    /// How the body gets at an argument; where it has a copy of a global argument, its address.
    fn access<'a>(
        &self,
        builder: &Builder<'d>,
        argument: &Parameter<'a>,
        has: &Has,
    ) -> (Access<'a, 'd>, Option<Value<'d>>) {
        let module = self.device;
        let zero = module.const_i64(0);
        let element = argument.element();
        let mut source = Source {
            data: module.pointer().zero(),
            size: zero,
            stride: None,
            map: module.pointer().zero(),
            arity: module.const_i64(1),
            column: None,
        };
        let column_of = |map: &Map| {
            let distance = self.given[map.column];
            let distance = builder.multiply(distance, module.const_i64(map.which));
            let entries = self.address(builder, map.entries);
            builder.element(module.int(32), entries, distance)
        };
        let mut own = None;
        match &has.how {
            How::Data { data, order, map } => {
                source.data = self.address(builder, *data);
                source.size = module.const_i64(element.bytes().unwrap_or(0));
                if let Some([step, stride]) = order {
                    source.size = self.given[*step];
                    source.stride = Some(self.given[*stride]);
                }
                if let Some(map) = map {
                    source.map = column_of(map);
                    source.column = Some(self.given[map.column]);
                }
            }
            How::Number { .. } => source.data = builder.alloca(module.int(32), 4),
            How::MappedNumber(map) => {
                source.data = column_of(map);
                source.size = module.const_i64(4);
            }
            How::Value(at) => source.data = self.given[*at],
            How::Along { first, bytes, .. } => {
                let value = builder.alloca(module.array(module.int(8), *bytes as u64), 16);
                builder.copy(value, self.given[*first], *bytes);
                source.data = value;
                own = Some(value);
            }
            How::Partials { .. } | How::Winner { .. } => {
                let first = match &has.how {
                    How::Partials { first, .. } => *first,
                    How::Winner { first, .. } => Some(*first),
                    _ => None,
                };
                let scalar = element.scalar.ty(module);
                let values = module.array(scalar, element.components as u64);
                let values = builder.alloca(values, 16);
                for component in 0..element.components {
                    let at = component * element.scalar.bytes;
                    let value = match first {
                        Some(first) => {
                            let from = builder.offset(self.given[first], at);
                            builder.load(scalar, from)
                        }
                        None => scalar.zero(),
                    };
                    builder.store(value, builder.offset(values, at));
                }
                source.data = values;
                own = Some(values);
            }
        }
        let columns = argument.elements().max(1) as u64;
        let columns_at = match argument.is_table() {
            true => builder.alloca(module.array(module.pointer(), columns), 8),
            false => module.pointer().zero(),
        };
        let access = Access::of_item(builder, *argument, source, columns_at, self.adds);
        (access, own)
    }
}
