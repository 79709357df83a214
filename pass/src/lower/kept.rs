//! What loops in a nest write at computed places, marked in longer pieces than they write it in: what goes on where the one
//! before has ended is one piece with it.
//!
//! Guarantee: behind the nest everything is marked that such a store has written, and nothing else. Where the run time says
//! so, all of it is marked in front of the loop that writes it.

use std::collections::HashMap;

use crate::analysis::sections::{Exit, FunctionSections, Mark};
use crate::llvm::{Block, Builder, Instruction, Module, Value};
use crate::lower::marks::MarksOf;

/// A store of which is known, in front of its nest, how it will be marked.
pub struct Keeping<'a, 'm> {
    exits: &'a [Exit<'m>],
    place: MarksOf<'m>,
    at_each: Value<'m>,
    /// In front of the loop that writes.
    before: Instruction<'m>,
    /// The first mark of what it writes then, and how many there are.
    number: Value<'m>,
    count: Value<'m>,
    /// Where it is kept which is the first mark that has still to be set, and which is behind the last one.
    kept: [Value<'m>; 2],
}

/// In front of the nest, before `in_front`: nothing has to be marked yet. `at_each` says whether the run time wants to have it
/// marked before it is written.
pub fn begin<'a, 'm>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    in_front: Instruction<'m>,
    mark: &'a Mark<'m>,
    place: MarksOf<'m>,
    at_each: Value<'m>,
) -> Keeping<'a, 'm> {
    let run = mark.run.as_ref().expect("only runs are kept");
    let word = module.int(64);
    let at_entry = Builder::at_entry(module, sections.function);
    let kept = [(); 2].map(|()| at_entry.alloca(word, 8));
    let builder = Builder::before(module, in_front);
    for one in kept {
        builder.store(module.const_i64(0), one);
    }
    let address = sections.nests.expand(run.address, run.before);
    let times = sections.nests.expand(run.count, run.before);
    let builder = &Builder::before(module, run.before);
    let number = place.number(builder, address);
    let count = builder.multiply(times, module.const_i64(mark.size / place.unit));
    Keeping {
        exits: mark.kept.as_deref().unwrap_or_default(),
        place,
        at_each,
        before: run.before,
        number,
        count: place.clipped(builder, number, count),
        kept,
    }
}

impl<'m> Keeping<'_, 'm> {
    /// Where control leaves the nest.
    pub fn exits(&self) -> &[Exit<'m>] {
        self.exits
    }

    /// In front of the loop, and behind the nest.
    pub fn emit(&self, module: &'m Module, behind: &HashMap<&Exit<'m>, Block<'m>>) {
        let word = module.int(64);
        let [first_kept, end_kept] = self.kept;
        let builder = &Builder::before(module, self.before);
        let end = builder.load(word, end_kept);
        let is_elsewhere = builder.compare(end, self.number, true);
        let is_new = builder.select(self.at_each, self.at_each, is_elsewhere);
        let then = self.before.insert_if(is_new);
        {
            let builder = &Builder::before(module, then);
            let first = builder.load(word, first_kept);
            let before = builder.difference(end, first);
            let at_each = |yes, no| builder.select(self.at_each, yes, no);
            self.place.set(
                builder,
                at_each(self.number, first),
                at_each(self.count, before),
            );
            let behind = builder.sum(self.number, self.count);
            builder.store(at_each(behind, self.number), first_kept);
        }
        let builder = &Builder::before(module, self.before);
        builder.store(builder.sum(self.number, self.count), end_kept);
        for exit in self.exits {
            let first = behind[exit].first_insertion_point();
            let builder = &Builder::before(module, first.expect("a block that control comes to"));
            let [first, end] = self.kept.map(|one| builder.load(word, one));
            self.place
                .set(builder, first, builder.difference(end, first));
        }
    }
}
