//! What the body reads and writes: components of its arguments and of its own variables, each a vector while it runs.

use crate::analysis::kernel;
use crate::ir::{Mode, Parameter};
use crate::llvm::{Call, Comparison, Instruction, IntPredicate, Opcode, Type, Value};
use crate::lower::cpu::lanes::plan::{Cell, Object, Operand, Operation, is_contiguous};

use super::{Mask, Planner};

impl<'a, 'm> Planner<'a, 'm> {
    /// The object that an address leads to, by its number, and the byte in it.
    pub(super) fn place(&mut self, pointer: Value<'m>) -> Option<(usize, i64)> {
        let (of, offset) = self.kernel.place(pointer)?;
        let objects = &mut self.plan.objects;
        let number = *self.numbers.entry(of).or_insert_with(|| {
            let argument = self.kernel.argument(of);
            let components = argument.map_or(0, |one| one.element().components);
            objects.push(Object {
                of,
                ty: self.kernel.type_of(of),
                cells: vec![Cell::default(); components as usize],
            });
            objects.len() - 1
        });
        Some((number, offset))
    }

    pub(super) fn argument(&self, object: usize) -> Option<&'a Parameter<'a>> {
        self.kernel.argument(self.plan.objects[object].of)
    }

    pub(super) fn cell_at(&mut self, (object, cell): (usize, usize)) -> &mut Cell<'m> {
        &mut self.plan.objects[object].cells[cell]
    }

    /// Where an address leads to: a cell of an object.
    fn cell(&mut self, pointer: Value<'m>, bytes: i64) -> Result<Option<(usize, usize)>, String> {
        let Some((object, offset)) = self.place(pointer) else {
            return Ok(None);
        };
        let of = &self.plan.objects[object];
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
        let Some((object, _)) = self.place(pointer) else {
            return Ok(());
        };
        let of = &self.plan.objects[object];
        let kernel::Object::Variable(variable) = of.of else {
            return Ok(());
        };
        if of.ty.is_some() {
            return Ok(());
        }
        let variable = variable
            .as_instruction()
            .expect("a variable is made by one");
        let count = variable.operand(0).as_constant_int();
        let one = variable.allocated_type().filter(|ty| !ty.is_scalable());
        let (Some(count), Some(one)) = (count, one) else {
            return Err("the kernel has a variable whose size is not constant".into());
        };
        let size = count as u64 * self.kernel.module.size_of(one);
        let cells = size as usize / self.bytes(ty) as usize;
        let of = &mut self.plan.objects[object];
        of.ty = Some(ty);
        of.cells.resize(cells, Cell::default());
        Ok(())
    }

    fn as_type(&mut self, value: Operand<'m>, ty: Type<'m>) -> Operand<'m> {
        let wanted = match self.is_vector(value) {
            true => self.vector_of(ty),
            false => ty,
        };
        match self.ty(value) == wanted {
            true => value,
            false => self.add(Operation::Cast(Opcode::LLVMBitCast, value, wanted), wanted),
        }
    }

    /// What a cell holds before the body, if nothing is known of it yet.
    fn fetch(&mut self, (object, cell): (usize, usize)) -> Operand<'m> {
        if let Some(now) = self.plan.objects[object].cells[cell].now {
            return now;
        }
        let ty = self.plan.objects[object].ty.expect("it has been used");
        let vector = self.vector_of(ty);
        let new = match self.argument(object) {
            None => Operand::Constant(vector.poison()),
            Some(one) if one.is_own_number() => self.add(Operation::Numbers, vector),
            Some(one) if one.is_sum() && !one.is_whole() => {
                self.splat(Operand::Constant(ty.neutral()))
            }
            Some(one) if one.is_whole() && one.access.mode == Mode::Read => {
                self.add(Operation::Shared(object, cell), ty)
            }
            Some(one) if one.is_whole() => {
                let carried = self.add(Operation::Carried(object, cell), vector);
                self.cell_at((object, cell)).carried = Some(carried);
                carried
            }
            Some(_) => return self.gather((object, cell)),
        };
        self.cell_at((object, cell)).now = Some(new);
        new
    }

    fn gather(&mut self, (object, cell): (usize, usize)) -> Operand<'m> {
        let of = &self.plan.objects[object];
        let vector = self.vector_of(of.ty.expect("it has been used"));
        let results = match is_contiguous(&self.layout, of) {
            true => cell..cell + 1,
            false => 0..of.cells.len(),
        };
        self.plan.operations.push(Operation::Gather(object, cell));
        for cell in results {
            self.types.push(vector);
            let result = Operand::Result(self.types.len() - 1);
            // The cell may have been written already.
            self.cell_at((object, cell)).now.get_or_insert(result);
        }
        let now = self.plan.objects[object].cells[cell].now;
        now.expect("it is one of those that are gathered")
    }

    fn put(
        &mut self,
        (object, cell): (usize, usize),
        new: Operand<'m>,
        mask: Mask<'m>,
    ) -> Result<(), String> {
        let argument = self.argument(object);
        if argument.is_some_and(|one| one.access.mode == Mode::Read) {
            return Err("the kernel writes what it shall read".into());
        }
        let ty = self.plan.objects[object].ty.expect("a cell has one");
        let new = self.splat(new);
        let mut new = self.as_type(new, ty);
        let poison = Operand::Constant(self.vector_of(ty).poison());
        match mask {
            Some(mask) => {
                let only_writes = argument.is_some_and(is_written_through_map);
                let here = self.cell_at((object, cell));
                if only_writes && here.now.is_none() {
                    here.is_conditional = true;
                    here.now = Some(poison);
                }
                let old = self.fetch((object, cell));
                new = self.select(mask, new, old);
            }
            None => {
                self.cell_at((object, cell)).is_conditional = false;
                // A reduction needs the value before, even if only to say that it was lost.
                if argument.is_some_and(Parameter::is_whole) {
                    self.fetch((object, cell));
                }
            }
        }
        let here = self.cell_at((object, cell));
        here.now = Some(new);
        here.is_written = true;
        if argument.is_some() {
            self.plan.written.retain(|one| *one != object);
            self.plan.written.push(object);
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let [to, from, length, ..] = call.arguments()[..] else {
            unreachable!("an intrinsic that copies");
        };
        let source = self.place(from);
        let target = self.place(to);
        let ty = |place: Option<(usize, i64)>| {
            place.and_then(|(object, _)| self.plan.objects[object].ty)
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
            let cell = self.copied(source, bytes, at)?;
            values.push(self.fetch(cell));
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
        let of = &self.plan.objects[object];
        let own = of.ty.map(|ty| self.bytes(ty));
        let index = (offset / bytes + behind) as usize;
        if own != Some(bytes) || offset < 0 || offset % bytes != 0 || index >= of.cells.len() {
            return Err("the kernel copies more components than there are".into());
        }
        Ok((object, index))
    }

    pub(super) fn fill(&mut self, call: Call<'m>, mask: Mask<'m>) -> Result<(), String> {
        let [to, byte, length, ..] = call.arguments()[..] else {
            unreachable!("an intrinsic that fills");
        };
        let target = self.place(to);
        let ty = target.and_then(|(object, _)| self.plan.objects[object].ty);
        let (Some(length), Some(0), Some((object, offset)), Some(ty)) =
            (length.as_constant_int(), byte.as_constant_int(), target, ty)
        else {
            return Err("the kernel fills memory that is not followed".into());
        };
        let bytes = self.bytes(ty);
        let cells = self.plan.objects[object].cells.len() as i64;
        let is_whole = offset >= 0 && offset % bytes == 0 && length % bytes == 0;
        if !is_whole || (offset + length) / bytes > cells {
            return Err("the kernel takes a value apart".into());
        }
        let zero = Operand::Constant(self.vector_of(ty).zero());
        for cell in offset / bytes..(offset + length) / bytes {
            self.put((object, cell as usize), zero, mask)?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
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

    /// Addresses within arguments are followed where they are used. Of others, their use says what is wrong.
    pub(super) fn address(&mut self, one: Instruction<'m>) {
        if self.place(*one).is_some() {
            return;
        }
        let operands = one.operands();
        let is_known = |one: &Value<'m>| one.is_constant() || self.is_scalar(*one);
        if operands.iter().all(is_known)
            && let Ok(operands) = self.values(&operands)
        {
            self.copy_of(one, operands);
        }
    }

    /// Every argument is there.
    pub(super) fn compare(&mut self, one: Instruction<'m>) -> Result<(), String> {
        let place = self.place(one.operand(0));
        let other = one.operand(1);
        let differs = match one.comparison() {
            Some(Comparison::Integer(IntPredicate::LLVMIntEQ)) => Some(0),
            Some(Comparison::Integer(IntPredicate::LLVMIntNE)) => Some(1),
            _ => None,
        };
        let is_known = other.is_null() && place.is_some_and(|(_, offset)| offset == 0);
        let differs = differs.filter(|_| is_known);
        let differs = differs.ok_or("the kernel compares addresses")?;
        let answer = self.kernel.module.int(1).integer_constant(differs);
        self.known.insert(*one, Operand::Constant(answer));
        Ok(())
    }

    pub(super) fn load(&mut self, one: Instruction<'m>, mask: Mask<'m>) -> Result<(), String> {
        if !one.is_plain_access() {
            return Err("the kernel accesses memory that others see change".into());
        }
        let (ty, pointer) = ((*one).ty(), one.operand(0));
        if ty.is_pointer() {
            let place = self.place(*one);
            return place
                .map(|_| ())
                .ok_or_else(|| "the kernel loads an address".into());
        }
        self.shape(pointer, ty)?;
        if let Some(place) = self.cell(pointer, self.bytes(ty))? {
            let now = self.fetch(place);
            let here = *self.cell_at(place);
            let only_writes = self.argument(place.0).is_some_and(is_written_through_map);
            if here.is_conditional {
                return Err("it reads what only some elements write".into());
            }
            if only_writes && !here.is_written {
                return Err("it reads what it shall write through a map".into());
            }
            let value = self.as_type(now, ty);
            self.known.insert(*one, value);
            return Ok(());
        }
        // The same for all lanes.
        if !pointer.is_constant() && !self.is_scalar(pointer) {
            return Err("the kernel reads memory at a computed place".into());
        }
        if mask.is_some() && !one.can_always_load() {
            return Err("the kernel reads memory on a condition".into());
        }
        let pointer = self.value(pointer)?;
        self.copy_of(one, vec![pointer]);
        Ok(())
    }
}

/// Whether lanes may write the same element, which they do not read.
fn is_written_through_map(parameter: &Parameter<'_>) -> bool {
    parameter.columns().is_some() && parameter.access.mode == Mode::Write
}
