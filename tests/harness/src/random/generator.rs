//! The state of a program being written, expressions, and the order of its parts.

use super::objects::{Object, Type};
use super::phase::{Phase, Protection, Use};
use super::text::{Random, Text};
use super::{region, serial};

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
    /// Functions written so far.
    pub(crate) functions: String,
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
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = random.between(5, 11);
        let objects: Vec<_> = (0..count).map(|n| Object::random(&mut random, n)).collect();
        Self {
            random,
            visible: (0..objects.len()).collect(),
            objects,
            text: Text::default(),
            functions: String::new(),
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
            8 => format!("list_sum(list + {})", self.random.between(0, 9)),
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
            for &operator in self.objects[object].element.updates() {
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

    /// Writes a function with `body` and returns its name; `parameters` as in C.
    pub(crate) fn function(&mut self, parameters: &str, body: impl FnOnce(&mut Self)) -> String {
        let name = self.name("part");
        let outer = std::mem::take(&mut self.text);
        // Both kinds must be right: bodies the compiler inlines and bodies it leaves alone.
        let inline = self.random.pick(&["", "__attribute__((noinline)) "]);
        self.line(format!("{inline}static void {name}({parameters}) {{"));
        body(self);
        self.line("}");
        let function = std::mem::replace(&mut self.text, outer);
        self.functions.push_str(&function.into_string());
        self.functions.push('\n');
        name
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

const PRELUDE: &str = "\
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;
typedef int i32;
typedef long i64;
typedef double f64;

struct node {
  u64 value;
  struct node *next;
};
static struct node *list;
static omp_lock_t locks[4];
static u64 copied_in, collected;
#pragma omp threadprivate(copied_in, collected)

static u64 mix(u64 x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}
static u64 add_seven(u64 x) { return x + 7; }
static u64 square(u64 x) { return x * x; }
static u64 (*const table[3])(u64) = {mix, add_seven, square};

static int compare_u64(const void *a, const void *b) {
  u64 x = *(const u64 *)a, y = *(const u64 *)b;
  return x < y ? -1 : x > y;
}

static u64 list_sum(struct node *from) {
  u64 sum = 0;
  for (struct node *n = from; n; n = n->next) sum = sum * 3 + n->value;
  return sum;
}

static u64 tree(u64 low, u64 high) {
  if (high - low < 8) {
    u64 sum = 0;
    for (u64 i = low; i < high; i++) sum += mix(i);
    return sum;
  }
  u64 left, right, middle = low + (high - low) / 2;
#pragma omp task shared(left)
  left = tree(low, middle);
#pragma omp task shared(right)
  right = tree(middle, high);
#pragma omp taskwait
  return left + right * 3;
}

static void permute(u32 *order, u32 length) {
  for (u32 i = 0; i < length; i++) order[i] = i;
  for (u32 i = length - 1; i > 0; i--) {
    u32 j = (u32)(mix(i) % (i + 1)), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
}
";

/// The whole program of `seed`.
pub(crate) fn program(seed: u64) -> String {
    let mut generator = Generator::new(seed);
    generator.line("int main(int argc, char **argv) {");
    let body = main_body(&mut generator);
    let mut text = Text::default();
    text.line(format!(
        "// A random program, seed {seed}: must print what OpenMP prints."
    ));
    // The result does not depend on the size of the team.
    text.line("// threads: any");
    let mut program = text.into_string();
    program.push_str(PRELUDE);
    for object in &generator.objects {
        let declaration = object.global_declaration();
        if !declaration.is_empty() {
            program.push_str(&declaration);
            program.push('\n');
        }
    }
    for len in &generator.permutations {
        program.push_str(&format!("static u32 permutation{len}[{len}];\n"));
    }
    program.push('\n');
    program.push_str(&generator.functions);
    program.push_str(&body);
    program
}

/// `main`; the permutations it must fill are known only after the rest was written.
fn main_body(g: &mut Generator) -> String {
    g.line("(void)argv;");
    let objects = g.objects.clone();
    for object in &objects {
        object.create(&mut g.text);
    }
    g.line("for (int i = 0; i < 4; i++) omp_init_lock(&locks[i]);");
    g.line("list = malloc(12 * sizeof *list);");
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
    for object in &objects {
        object.destroy(&mut g.text);
    }
    g.line("free(list);");
    g.line("for (int i = 0; i < 4; i++) omp_destroy_lock(&locks[i]);");
    g.line("return 0;");
    g.line("}");
    let mut fill = Text::default();
    fill.line("static void fill_permutations(void) {");
    for len in &g.permutations {
        fill.line(format!("permute(permutation{len}, {len});"));
    }
    fill.line("}");
    fill.into_string() + "\n" + &std::mem::take(&mut g.text).into_string()
}
