//! The files of random programs: one program alone, or several in one executable.
//!
//! A program has up to two translation units. Each of them is written once; in an executable of several programs macros
//! give its names at file scope, `main` among them, the program's number.

use super::objects::Object;
use super::text::Text;
use crate::tools::Language;

/// A translation unit of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// It has `main`, and what is `static`.
    First,
    Second,
}

/// A written program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    seed: u64,
    /// Of the units.
    languages: [Language; 2],
    /// Of the units; the second one may be empty.
    texts: [String; 2],
    /// What has to be another name in each program of an executable.
    names: Vec<String>,
}

/// What a generator has written, besides `main`.
pub(crate) struct Parts<'a> {
    pub(crate) languages: [Language; 2],
    pub(crate) objects: &'a [Object],
    /// Lengths of the permutations.
    pub(crate) permutations: &'a [usize],
    pub(crate) prototypes: &'a [String],
    /// Names of the functions.
    pub(crate) functions: Vec<String>,
    /// Their definitions, of each unit.
    pub(crate) definitions: [String; 2],
    pub(crate) main: String,
}

impl Program {
    pub(crate) fn new(seed: u64, parts: Parts) -> Self {
        let Parts {
            languages,
            objects,
            permutations,
            prototypes,
            functions,
            definitions: [first, second],
            main,
        } = parts;
        let first = first + &fill_permutations(permutations) + &main;
        let mut names = functions;
        names.extend(objects.iter().map(|object| object.name.clone()));
        names.extend(permutations.iter().map(|len| format!("permutation{len}")));
        names.extend(["main", "fill_permutations"].map(str::to_owned));
        names.extend(STATIC_ELSEWHERE.map(str::to_owned));
        let mut texts = [String::new(), String::new()];
        let c_linkage = |language| match language {
            Language::Cxx => "extern \"C\" ",
            _ => "",
        };
        let mut declare = |unit: Unit, line: &str| {
            if !line.is_empty() {
                texts[unit as usize] += line;
                texts[unit as usize] += "\n";
            }
        };
        for (name, ty, attribute) in SHARED {
            let plain = name.split('[').next().unwrap_or(name);
            let [in_first, in_second] = [&first, &second].map(|text| text.contains(plain));
            let attribute = attribute.replace("NAME", plain);
            if in_second {
                declare(Unit::Second, &format!("extern {ty}{name};{attribute}"));
            }
            match (in_first, in_second) {
                (_, true) => declare(Unit::First, &format!("{ty}{name};{attribute}")),
                (true, false) => declare(Unit::First, &format!("static {ty}{name};{attribute}")),
                (false, false) => {}
            }
            names.push(plain.to_owned());
        }
        for object in objects {
            declare(Unit::First, &object.global_declaration(languages[0]));
            declare(Unit::Second, &object.declaration(languages[1]));
        }
        for len in permutations {
            let name = format!("permutation{len}");
            if second.contains(&name) {
                declare(Unit::First, &format!("u32 {name}[{len}];"));
                declare(Unit::Second, &format!("extern u32 {name}[{len}];"));
            } else {
                declare(Unit::First, &format!("static u32 {name}[{len}];"));
            }
        }
        let mut second_has = second;
        for (name, signatures, definition) in ELSEWHERE {
            if !first.contains(name) && !second_has.contains(name) {
                continue;
            }
            for signature in signatures {
                for unit in [Unit::First, Unit::Second] {
                    let linkage = c_linkage(languages[unit as usize]);
                    declare(unit, &format!("{linkage}{signature};"));
                }
                let before = signature.split('(').next().unwrap_or_default();
                names.extend(before.split(' ').next_back().map(str::to_owned));
            }
            second_has = definition.to_string() + &second_has;
        }
        for prototype in prototypes {
            for unit in [Unit::First, Unit::Second] {
                let linkage = c_linkage(languages[unit as usize]);
                declare(unit, &format!("{linkage}{prototype}"));
            }
        }
        texts[0] += "\n";
        texts[0] += &first;
        match second_has.is_empty() {
            true => texts[1].clear(),
            false => {
                texts[1] += "\n";
                texts[1] += &second_has;
            }
        }
        Self {
            seed,
            languages,
            texts,
            names,
        }
    }

    /// This program's part of a file that has units of others, too.
    fn renamed(&self, unit: Unit) -> String {
        let seed = self.seed;
        let mut text = String::new();
        for name in &self.names {
            text += &format!("#define {name} {name}_{seed}\n");
        }
        if unit == Unit::First && self.languages[0] == Language::Cxx {
            text += "extern \"C\" int main(int, char **);\n";
        }
        text += &self.texts[unit as usize];
        for name in &self.names {
            text += &format!("#undef {name}\n");
        }
        text
    }
}

/// The files of one program, `main` first.
pub(crate) fn alone(program: &Program) -> Vec<(&'static str, String)> {
    let seed = program.seed;
    let comment =
        format!("// A random program, seed {seed}: must print what OpenMP prints.\n{DIRECTIVES}");
    let main = name(Unit::First, program.languages[0]);
    let mut files = vec![(
        main,
        comment + &prelude(&program.texts[0]) + &program.texts[0],
    )];
    let second = &program.texts[1];
    if !second.is_empty() {
        let name = name(Unit::Second, program.languages[1]);
        files.push((name, prelude(second) + second));
    }
    files
}

/// The files of one executable that runs all of `programs`, `main` first.
pub(crate) fn together(programs: &[Program]) -> Vec<(&'static str, String)> {
    let mut main = Text::default();
    for Program { seed, .. } in programs {
        main.line(format!("int main_{seed}(int, char **);"));
    }
    main.line("int main(int argc, char **argv) {");
    main.line("int threads = omp_get_max_threads();");
    for Program { seed, .. } in programs {
        main.line("omp_set_num_threads(threads);");
        main.line(format!("printf(\"program {seed}\\n\");"));
        main.line(format!("main_{seed}(argc, argv);"));
        main.line("fflush(stdout);");
    }
    main.line("return 0;");
    main.line("}");
    let mut files = vec![("main.c", main.into_string())];
    for program in programs {
        for unit in [Unit::First, Unit::Second] {
            if program.texts[unit as usize].is_empty() {
                continue;
            }
            let name = match (unit, program.languages[unit as usize]) {
                (Unit::First, Language::C) => "main.c",
                (Unit::First, _) => "first.cpp",
                (unit, language) => self::name(unit, language),
            };
            let text = program.renamed(unit);
            match files.iter_mut().find(|(other, _)| *other == name) {
                Some((_, texts)) => *texts += &text,
                None => files.push((name, text)),
            }
        }
    }
    for (_, text) in &mut files {
        *text = prelude(text) + text;
    }
    let comment = "// Random programs one after the other: must print what OpenMP prints.\n";
    files[0].1 = format!("{comment}{DIRECTIVES}{}", files[0].1);
    files
}

fn name(unit: Unit, language: Language) -> &'static str {
    match (unit, language) {
        (Unit::First, Language::Cxx) => "main.cpp",
        (Unit::First, _) => "main.c",
        (Unit::Second, Language::Cxx) => "second.cpp",
        (Unit::Second, _) => "second.c",
    }
}

/// What opens a file with `text`.
fn prelude(text: &str) -> String {
    let includes = [
        ("std::atomic", "#include <atomic>\n"),
        ("std::exception", "#include <stdexcept>\n"),
        ("std::runtime_error", "#include <stdexcept>\n"),
        ("std::vector", "#include <vector>\n"),
    ];
    let mut before: Vec<_> = includes
        .iter()
        .filter(|(name, _)| text.contains(name))
        .map(|(_, include)| *include)
        .collect();
    before.dedup();
    before.concat() + PRELUDE
}

fn fill_permutations(permutations: &[usize]) -> String {
    let mut fill = Text::default();
    fill.line("static void fill_permutations(void) {");
    for len in permutations {
        fill.line(format!("permute(permutation{len}, {len});"));
    }
    fill.line("}");
    fill.into_string() + "\n"
}

/// The result does not depend on the size of the team, nor on the level of optimisation.
const DIRECTIVES: &str = "// threads: any\n// reference-opt: -O0\n";

/// Variables that a program may have: name, type, and what follows.
const SHARED: [(&str, &str, &str); 4] = [
    ("list", "struct node *", ""),
    ("locks[4]", "omp_lock_t ", ""),
    ("copied_in", "u64 ", "\n#pragma omp threadprivate(NAME)"),
    ("collected", "u64 ", "\n#pragma omp threadprivate(NAME)"),
];

/// What is `static` among the following.
const STATIC_ELSEWHERE: [&str; 4] = ["started", "elapsed", "calls", "give_up"];

/// Functions of the second unit that are the same in every program: how their names begin, what they are, and how they
/// are written.
const ELSEWHERE: [(&str, &[&str], &str); 2] = [
    (
        "timer_",
        &[
            "void timer_start(int which)",
            "void timer_stop(int which)",
            "u64 timer_calls(int which)",
        ],
        "\
static f64 started[3], elapsed[3];
static u64 calls[3];
void timer_start(int which) { started[which] = omp_get_wtime(); }
void timer_stop(int which) {
  elapsed[which] += omp_get_wtime() - started[which];
  calls[which]++;
}
u64 timer_calls(int which) {
  u64 all = calls[which];
  calls[which] = 0;
  return all;
}
",
    ),
    (
        "must_be(",
        &["void must_be(int right, const char *what)"],
        "\
static void give_up(const char *what) {
  fprintf(stderr, \"not so: %s\\n\", what);
  exit(3);
}
void must_be(int right, const char *what) {
  if (!right) give_up(what);
}
",
    ),
];

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

static u64 mix(u64 x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}
static u64 add_seven(u64 x) { return x + 7; }
static u64 square(u64 x) { return x * x; }
static u64 (*const table[3])(u64) = {mix, add_seven, square};

#define FOR_TYPE(type, stored) \\
  __attribute__((noinline)) static void fill_##type(type *x, u64 length, u64 seed) { \\
    for (u64 i = 0; i < length; i++) x[i] = (type)(mix(i + seed) & stored); \\
  } \\
  __attribute__((noinline)) static void print_##type(const char *name, const type *x, u64 length) { \\
    u64 sum = 14695981039346656037u; \\
    for (u64 i = 0; i < length; i++) sum = (sum ^ (u64)x[i]) * 1099511628211u + i; \\
    printf(\"%s %016lx\\n\", name, sum); \\
  }
FOR_TYPE(u8, -1ul)
FOR_TYPE(u16, -1ul)
FOR_TYPE(u32, -1ul)
FOR_TYPE(u64, -1ul)
FOR_TYPE(i32, -1ul)
FOR_TYPE(i64, -1ul)
FOR_TYPE(f64, 0xffffful)

static int compare_u64(const void *a, const void *b) {
  u64 x = *(const u64 *)a, y = *(const u64 *)b;
  return x < y ? -1 : x > y;
}

static u64 list_sum(struct node *from) {
  u64 sum = 0;
  for (struct node *n = from; n; n = n->next) sum = sum * 3 + n->value;
  return sum;
}

#ifdef __cplusplus
struct wrong {
  u64 what;
};
struct passing {
  u64 *count;
  ~passing() { ++*count; }
};
#endif

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
