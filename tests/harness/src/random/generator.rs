//! The state of a program being written, expressions, and the order of its parts.

use super::calls;
use super::objects::{Object, Shape, Type};
use super::phase::{Phase, Protection, Use};
use super::source::{Parts, Program, Unit};
use super::text::{Random, Text};
use super::{region, serial};
use crate::tools::Language;

/// A variable that collects one thread's contributions.
#[derive(Clone)]
pub(crate) struct Accumulator {
    pub(crate) name: String,
    pub(crate) element: Type,
    pub(crate) operator: &'static str,
}

/// A program being written.
pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) objects: Vec<Object>,
    /// Where the next line goes.
    pub(crate) text: Text,
    /// What the units are written in.
    languages: [Language; 2],
    /// Where the code that is being written stands.
    pub(crate) unit: Unit,
    /// Functions written so far, of each unit.
    functions: [String; 2],
    /// Declarations of the functions that both units know.
    prototypes: Vec<String>,
    names_of_functions: Vec<String>,
    /// Functions of their arguments alone, and the unit that each stands in.
    pub(crate) pure: Vec<(String, Unit)>,
    /// Regions are loops that devices can run, for the most part.
    pub(crate) for_devices: bool,
    /// In a region without atomic accesses, locks and the like, so that its loops may declare what they access.
    pub(crate) plain: bool,
    /// Something calls the timers.
    pub(crate) is_timed: bool,
    /// Inside a function that expressions call.
    pub(crate) in_callee: bool,
    /// Names of functions with worksharing in them that take no arguments.
    pub(crate) orphans: Vec<String>,
    /// Lengths for which there is an array with a permutation.
    pub(crate) permutations: Vec<usize>,
    pub(crate) phase: Phase,
    /// `u64` expressions that are valid here; in a region outside of loops they are the same on
    /// every thread.
    pub(crate) atoms: Vec<String>,
    pub(crate) accumulators: Vec<Accumulator>,
    /// Objects that may be used here.
    pub(crate) visible: Vec<usize>,
    /// Inside a function that regions and serial code call.
    pub(crate) in_orphan: bool,
    names: usize,
}

impl Generator {
    fn new(seed: u64, for_devices: bool) -> Self {
        let mut random = Random::new(seed);
        let first = random.one_of(&[Language::C, Language::Cxx]);
        let second = match random.chance(20) {
            true => Language::Cxx,
            false => first,
        };
        let count = random.between(5, 11);
        let mut objects: Vec<_> = (0..count).map(|n| Object::random(&mut random, n)).collect();
        for object in &mut objects {
            let is_odd = matches!(object.shape, Shape::Rows { .. } | Shape::Atomic);
            if for_devices && is_odd && random.chance(80) {
                object.shape = random.one_of(&[Shape::Heap, Shape::Global, Shape::Static]);
            }
        }
        Self {
            random,
            visible: (0..objects.len()).collect(),
            objects,
            text: Text::default(),
            languages: [first, second],
            unit: Unit::First,
            functions: [String::new(), String::new()],
            prototypes: Vec::new(),
            names_of_functions: Vec::new(),
            pure: Vec::new(),
            for_devices,
            plain: false,
            is_timed: false,
            in_callee: false,
            orphans: Vec::new(),
            permutations: Vec::new(),
            phase: Phase::default(),
            atoms: Vec::new(),
            accumulators: Vec::new(),
            in_orphan: false,
            names: 0,
        }
    }

    /// A name that is used nowhere else.
    pub(crate) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}_{}", self.names)
    }

    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.text.line(line);
    }

    /// A `u64` expression over what may be read here.
    pub(crate) fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            return self.leaf();
        }
        let left = self.value(depth - 1);
        match self.random.between(0, 9) {
            0 => format!("mix({left})"),
            1 => format!("({left} >> {})", self.random.between(1, 9)),
            2 => format!("({left} << {})", self.random.between(1, 9)),
            _ => {
                let operator = self.random.pick(&["+", "-", "*", "^", "|", "&"]);
                let right = self.value(depth - 1);
                format!("({left} {operator} {right})")
            }
        }
    }

    fn leaf(&mut self) -> String {
        let readable: Vec<_> = self
            .visible
            .iter()
            .copied()
            .filter(|&object| self.phase.may_read(object))
            .collect();
        // Each access to an atomic variable may be a message.
        let atomic = self.random.chance(10);
        let readable: Vec<_> = readable
            .into_iter()
            .filter(|&object| atomic || self.objects[object].shape != Shape::Atomic)
            .collect();
        match self.random.between(0, 9) {
            0..=3 if !self.atoms.is_empty() => {
                self.atoms[self.random.between(0, self.atoms.len() - 1)].clone()
            }
            4..=7 if !readable.is_empty() => {
                let object = readable[self.random.between(0, readable.len() - 1)];
                self.phase.note(object, Use::Read);
                let index = self.index(object);
                format!("(u64){}", self.objects[object].at(&index))
            }
            8 if self.random.chance(50) => calls::value(self),
            8 if !self.for_devices => format!("list_sum(list + {})", self.random.between(0, 9)),
            _ => format!("{}u", self.random.between(0, 100_000)),
        }
    }

    /// A valid index of `object` made of an atom or a constant.
    fn index(&mut self, object: usize) -> String {
        let len = self.objects[object].len;
        if self.atoms.is_empty() || self.random.chance(20) {
            return self.random.between(0, len - 1).to_string();
        }
        let atom = self.atoms[self.random.between(0, self.atoms.len() - 1)].clone();
        let offset = self.random.between(0, len);
        format!("({atom} + {offset}) % {len}")
    }

    /// An object nobody has touched since the last barrier, now noted as written.
    pub(crate) fn take_for_writing(&mut self, wanted: impl Fn(&Object) -> bool) -> Option<usize> {
        let free: Vec<_> = self
            .visible
            .iter()
            .copied()
            .filter(|&object| self.phase.may_write(object) && wanted(&self.objects[object]))
            .collect();
        if free.is_empty() {
            return None;
        }
        let object = free[self.random.between(0, free.len() - 1)];
        self.phase.note(object, Use::Written);
        Some(object)
    }

    /// An object and an operator for updates under `by`.
    pub(crate) fn take_for_updates(&mut self, by: Protection) -> Option<(usize, &'static str)> {
        let mut choices = Vec::new();
        for &object in &self.visible {
            for operator in self.objects[object].updates() {
                if self.phase.may_update(object, operator, by) {
                    choices.push((object, operator));
                }
            }
        }
        if choices.is_empty() {
            return None;
        }
        let (object, operator) = choices[self.random.between(0, choices.len() - 1)];
        self.phase.note(
            object,
            Use::Updated {
                operator,
                protection: by,
            },
        );
        Some((object, operator))
    }

    /// Writes a function with `body` and returns its name; `result` and `parameters` as in C. Code of the second unit
    /// writes there, other code wherever chance has it.
    pub(crate) fn function(
        &mut self,
        result: &str,
        parameters: &str,
        body: impl FnOnce(&mut Self),
    ) -> String {
        let name = self.name("part");
        let outer = std::mem::take(&mut self.text);
        let (unit, visible) = (self.unit, self.visible.clone());
        if self.random.chance(if self.for_devices { 5 } else { 40 }) {
            self.unit = Unit::Second;
        }
        let there = self.unit;
        let objects = &self.objects;
        self.visible
            .retain(|&object| objects[object].is_visible_in(there));
        // Both kinds must be right: bodies the compiler inlines and bodies it leaves alone.
        let inline = self.random.pick(&["", "__attribute__((noinline)) "]);
        let signature = format!("{result} {name}({parameters})");
        match there {
            Unit::First => self.line(format!("{inline}static {signature} {{")),
            Unit::Second => {
                self.prototypes.push(format!("{signature};"));
                self.line(format!("{inline}{signature} {{"));
            }
        }
        body(self);
        self.line("}");
        let function = std::mem::replace(&mut self.text, outer).into_string();
        self.functions[there as usize].push_str(&(function + "\n"));
        (self.unit, self.visible) = (unit, visible);
        self.names_of_functions.push(name.clone());
        name
    }

    /// Whether all of the program may throw exceptions.
    pub(crate) fn has_exceptions(&self) -> bool {
        self.languages == [Language::Cxx; 2] && !self.for_devices
    }

    /// What the code at hand is written in.
    pub(crate) fn language(&self) -> Language {
        self.languages[self.unit as usize]
    }

    /// Writes something else, of which what is around it knows nothing, and comes back.
    pub(crate) fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let atoms = std::mem::take(&mut self.atoms);
        let accumulators = std::mem::take(&mut self.accumulators);
        let visible = self.visible.clone();
        let objects = &self.objects;
        self.visible.retain(|&object| !objects[object].is_local());
        let written = write(self);
        (self.atoms, self.accumulators, self.visible) = (atoms, accumulators, visible);
        written
    }

    /// All objects that code of the unit at hand may name.
    pub(crate) fn all_visible(&self) -> Vec<usize> {
        let mut all: Vec<_> = (0..self.objects.len()).collect();
        all.retain(|&object| {
            let object = &self.objects[object];
            object.is_visible_in(self.unit) && !(self.plain && object.shape == Shape::Atomic)
        });
        all
    }

    /// The objects on the stack of `main`, as parameters and as arguments.
    pub(crate) fn local_parameters(&self) -> (String, String) {
        let locals = || self.objects.iter().filter(|object| object.is_local());
        let parameters: Vec<_> = locals().map(Object::parameter).collect();
        let arguments: Vec<_> = locals().map(|object| object.name.clone()).collect();
        (parameters.join(", "), arguments.join(", "))
    }

    /// The array that holds a permutation of `0..len`.
    pub(crate) fn permutation(&mut self, len: usize) -> String {
        if !self.permutations.contains(&len) {
            self.permutations.push(len);
        }
        format!("permutation{len}")
    }
}

/// The whole program of `seed`; `for_devices`: one of loops that devices can run, for the most part.
pub(crate) fn program(seed: u64, for_devices: bool) -> Program {
    let mut generator = Generator::new(seed, for_devices);
    generator.line("int main(int argc, char **argv) {");
    main_body(&mut generator);
    let main = std::mem::take(&mut generator.text).into_string();
    Program::new(
        seed,
        Parts {
            languages: generator.languages,
            objects: &generator.objects,
            permutations: &generator.permutations,
            prototypes: &generator.prototypes,
            functions: generator.names_of_functions,
            definitions: generator.functions,
            main,
        },
    )
}

/// `main`; the permutations it must fill are known only after the rest was written.
fn main_body(g: &mut Generator) {
    g.line("(void)argv;");
    let objects = g.objects.clone();
    for object in &objects {
        object.create(&mut g.text);
    }
    g.line("for (int i = 0; i < 4; i++) omp_init_lock(&locks[i]);");
    g.line("list = (struct node *)malloc(12 * sizeof *list);");
    g.line("for (int i = 0; i < 12; i++) {");
    g.line("list[i].value = mix(i);");
    g.line("list[i].next = i < 11 ? &list[i + 1] : NULL;");
    g.line("}");
    g.line("fill_permutations();");
    for object in 0..objects.len() {
        serial::fill(g, object);
    }
    for _ in 0..g.random.between(3, 7) {
        if g.random.chance(45) {
            serial::step(g);
        } else {
            region::region(g);
        }
        if g.random.chance(30) {
            let object = g.random.between(0, objects.len() - 1);
            objects[object].print(&mut g.text);
        }
    }
    region::region(g);
    for object in &objects {
        object.print(&mut g.text);
    }
    if g.is_timed {
        g.line("for (int i = 0; i < 3; i++) printf(\"timer %lu\\n\", timer_calls(i));");
    }
    for object in &objects {
        object.destroy(&mut g.text);
    }
    g.line("free(list);");
    g.line("for (int i = 0; i < 4; i++) omp_destroy_lock(&locks[i]);");
    g.line("return 0;");
    g.line("}");
}
