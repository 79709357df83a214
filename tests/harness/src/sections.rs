//! Random loop nests: what the pass declares of them, against a shadow run that marks every byte the
//! loops access. Reads must be declared; declared exact writes must be what is written.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::Common;
use crate::jobs::{self, Outcome, Tally};
use crate::process::{self, End};
use crate::random::text::Random;
use crate::tools::{Language, Tools};

const SHADOW: &str = include_str!("sections/shadow.c");

/// Runs the programs of `seeds`.
pub(crate) fn run(seeds: Range<u64>, common: &Common) -> Result<Tally, String> {
    let tools = Tools::find(common)?;
    tools.require_libraries()?;
    let folder = common.folder()?;
    let seeds: Vec<u64> = seeds.collect();
    let (regions, declared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let tally = jobs::run_all(
        &seeds,
        common.jobs,
        |seed| format!("seed {seed}"),
        |seed| match test(&tools, folder.path(), *seed) {
            Ok((of, number)) => {
                regions.fetch_add(of, Ordering::Relaxed);
                declared.fetch_add(number, Ordering::Relaxed);
                Outcome::Passed
            }
            Err(why) => Outcome::Failed(why),
        },
    );
    let (regions, declared) = (regions.into_inner(), declared.into_inner());
    println!("{declared} of {regions} regions declare all their accesses");
    if declared * 100 < regions * LEAST_DECLARED {
        return Err(format!("fewer than {LEAST_DECLARED} % of the regions"));
    }
    Ok(tally)
}

/// Percentage of the regions that the pass has to see through.
const LEAST_DECLARED: usize = 40;

/// The number of regions, and of those that declare everything.
fn test(tools: &Tools, folder: &Path, seed: u64) -> Result<(usize, usize), String> {
    let path = |suffix: &str| folder.join(format!("seed-{seed}{suffix}"));
    let put =
        |suffix: &str, text: &str| fs::write(path(suffix), text).map_err(|error| error.to_string());
    let program = Program::random(seed);
    put(".c", &program.kernel())?;
    put("-shadow.c", &format!("{SHADOW}\n{}", program.shadow()))?;
    let level = if seed.is_multiple_of(3) { "-O1" } else { "-O2" };
    let mut kernel = tools.compiler(Language::C);
    kernel
        .args([
            level,
            "-g",
            "-fopenmp",
            "-c",
            "-Rpass=okl",
            "-mllvm",
            "-okl-target=mpi",
        ])
        .arg(format!("-fpass-plugin={}", tools.plugin.display()))
        .arg(path(".c"))
        .arg("-o")
        .arg(path(".o"));
    let remarks = step(&mut kernel, folder)?;
    let declared = remarks.matches("region declares all").count();
    let mut shadow = tools.compiler(Language::C);
    shadow
        .args(["-O1", "-w", "-c"])
        .arg(path("-shadow.c"))
        .arg("-o")
        .arg(path("-shadow.o"));
    step(&mut shadow, folder)?;
    let mut link = tools.compiler(Language::C);
    link.arg("-fopenmp")
        .arg(path(".o"))
        .arg(path("-shadow.o"))
        .arg("-o")
        .arg(path(""));
    link.arg(format!("-L{}", tools.runtime_dir.display()))
        .arg("-lokl_mpi");
    link.arg(format!("-Wl,-rpath,{}", tools.runtime_dir.display()));
    step(&mut link, folder)?;
    // Nothing is declared in the versions for one rank.
    let mut run = Command::new(path(""));
    run.env("OKL_BACKEND", "mpi").env(
        "SHADOW_READS_ELSEWHERE",
        reading_elsewhere(&program, &remarks),
    );
    step(&mut run, folder)
        .map(|_| (program.loops.len(), declared))
        .map_err(|why| format!("{why}\n{}", program.kernel()))
}

/// The kernels, as bits of a number, that the pass says to read more than they declare.
fn reading_elsewhere(program: &Program, remarks: &str) -> String {
    let text = program.kernel();
    let regions = text.lines().zip(1..);
    let regions = regions.filter(|(line, _)| *line == "#pragma omp parallel");
    let reads_elsewhere = |line: usize| {
        let remarks = remarks
            .lines()
            .filter(|one| one.contains("but for some reads"));
        let place = format!(".c:{line}:");
        remarks.into_iter().any(|one| one.contains(&place))
    };
    let bits = regions
        .enumerate()
        .filter(|&(_, (_, line))| reads_elsewhere(line))
        .map(|(kernel, _)| 1u64 << kernel);
    bits.sum::<u64>().to_string()
}

fn step(command: &mut Command, folder: &Path) -> Result<String, String> {
    let done = process::run(command, folder, "", Duration::from_secs(60))?;
    let text = format!("{}{}", done.stdout, done.stderr);
    match done.end {
        End::Exit(0) => Ok(text),
        end => Err(format!("{}\n{end}\n{text}", process::command_line(command))),
    }
}

/// Lines and columns of the shadow run; small, and some empty.
const SIZES: &str = "{0, 0}, {1, 1}, {1, 6}, {5, 1}, {2, 3}, {3, 2}, {7, 5}, {6, 11}";
/// Threads that chunks are dealt out to, each of which runs alone.
const TEAM: usize = 3;
/// Elements on all sides of what the loops are about.
const MARGIN: usize = 4;

/// A kernel: loops with one statement each.
struct Program {
    /// How an element of each array is written as C types.
    element: &'static str,
    /// Whether arrays are global, with rows of a constant length.
    is_global: bool,
    /// How many tables of pointers are above the rows, which lie in another order: one of rows, or one of planes of rows.
    tables: usize,
    loops: Vec<Loops>,
}

/// A loop nest.
struct Loops {
    pragma: String,
    /// Iterations of a chunk, where the schedule deals them out.
    chunk: Option<&'static str>,
    /// Heads of the loops, the outer one first.
    heads: Vec<String>,
    /// Around the statement; may be empty.
    condition: String,
    /// Target of the assignment: array and element.
    target: (usize, String),
    sources: Vec<(usize, String)>,
    /// Statement of the middle loop, before the inner one: array and element.
    middle: Option<(usize, String)>,
}

const ARRAYS: usize = 3;

impl Program {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) + 17);
        let element = random.pick(&["double", "float", "int", "struct five"]);
        let count = random.between(3, 8);
        let is_global = random.chance(40);
        let tables = match !is_global && random.chance(50) {
            true => random.between(1, 2),
            false => 0,
        };
        Self {
            element: ["double", "float", "int", "struct five"]
                .into_iter()
                .find(|one| *one == element)
                .unwrap_or("double"),
            is_global,
            tables,
            loops: (0..count)
                .map(|_| Loops::random(&mut random, tables))
                .collect(),
        }
    }

    /// Parameters or globals: `a0` to `a2` with elements, `map` with numbers of lines, and `near` with some that are -1.
    fn parameters(&self) -> String {
        let element = self.element;
        let star = "*".repeat(self.tables + 1);
        format!(
            "int n, int m, {element} {star}p0, {element} {star}p1, {element} {star}p2, int *map, int *near"
        )
    }

    fn common(&self) -> String {
        let row = if self.is_global {
            "32".to_string()
        } else {
            format!("(m + {})", 2 * MARGIN)
        };
        let bases = (0..ARRAYS).fold(String::new(), |mut text, k| {
            let base = if self.is_global {
                format!("g{k}")
            } else {
                format!("p{k}")
            };
            let _ = writeln!(text, "#define a{k} {base}");
            text
        });
        let element = self.element;
        let linkage = if self.is_global { "extern " } else { "" };
        let globals = if self.is_global {
            (0..ARRAYS)
                .map(|k| format!("{linkage}{element} g{k}[32 * 32];\n"))
                .collect()
        } else {
            String::new()
        };
        format!("struct five {{ double v[5]; }};\n#define ROW {row}\n{globals}{bases}")
    }

    /// The translated file.
    fn kernel(&self) -> String {
        let mut text = format!(
            "#include <stdlib.h>\n{}",
            self.common().replace("extern ", "")
        );
        let element = self.element;
        let _ = writeln!(
            text,
            "void shadow_array(void *, long);\nvoid shadow_check(const char *);\nint shadow_end(void);\n\
             static int min(int a, int b) {{ return a < b ? a : b; }}\n\
             void shadow_region(int);\nvoid shadow_thread(int, int);"
        );
        for (k, one) in self.loops.iter().enumerate() {
            let _ = writeln!(text, "void shadow_kernel{k}({});", self.parameters());
            let _ = writeln!(
                text,
                "__attribute__((noinline)) static void kernel{k}({}) {{\n#pragma omp parallel\n{{\n{}}}\n}}",
                self.parameters(),
                one.as_kernel(self.element)
            );
        }
        let _ = write!(
            text,
            "static const int sizes[][2] = {{{SIZES}}};\nint main(void) {{\n\
             for (int s = 0; s < sizeof sizes / sizeof *sizes; s++) {{\n\
             int n = sizes[s][0], m = sizes[s][1];\n\
             long size = sizeof({element}) * 32 * 32;\n\
             {element} *q0 = calloc(1, size), *q1 = calloc(1, size), *q2 = calloc(1, size);\n\
             int *map = calloc(64, sizeof(int));\n\
             for (int i = 0; i < 64; i++) map[i] = i * 7 % (n + 1);\n\
             int *near = calloc(64, sizeof(int));\n\
             for (int i = 0; i < 64; i++) near[i] = (i + s) % 3 == 1 ? -1 : i * 5 % (n + 1);\n"
        );
        for k in 0..ARRAYS {
            let base = if self.is_global {
                format!("g{k}")
            } else {
                format!("q{k}")
            };
            let _ = writeln!(text, "shadow_array({base}, size);");
            match self.tables {
                0 => {}
                1 => {
                    let _ = writeln!(
                        text,
                        "{element} *t{k}[32];\n\
                         for (int i = 0; i < 32; i++) t{k}[i] = q{k} + i * 5 % 24 * 32;\n\
                         shadow_array(t{k}, sizeof t{k});"
                    );
                }
                _ => {
                    let _ = writeln!(
                        text,
                        "{element} *r{k}[24][32], **t{k}[32];\n\
                         for (int i = 0; i < 24; i++)\n\
                         for (int j = 0; j < 32; j++) r{k}[i][j] = q{k} + (i * 7 + j * 5) % 24 * 32;\n\
                         for (int i = 0; i < 32; i++) t{k}[i] = r{k}[i * 5 % 24];\n\
                         shadow_array(r{k}, sizeof r{k});\nshadow_array(t{k}, sizeof t{k});"
                    );
                }
            }
        }
        let base = if self.tables > 0 { "t" } else { "q" };
        text += "shadow_array(map, 64 * sizeof(int));\nshadow_array(near, 64 * sizeof(int));\n\
                 char run[] = {'r', 'u', 'n', ' ', '0' + s, 0};\n";
        for (k, one) in self.loops.iter().enumerate() {
            let threads = if one.chunk.is_some() { TEAM } else { 1 };
            let _ = writeln!(
                text,
                "for (int t = 0; t < {threads}; t++) {{\nshadow_thread(t, {threads});\n\
                 kernel{k}(n, m, {base}0, {base}1, {base}2, map, near);\n\
                 shadow_kernel{k}(n, m, {base}0, {base}1, {base}2, map, near);\n\
                 shadow_region({k});\n}}"
            );
        }
        text + "shadow_check(run);\n}\nreturn shadow_end();\n}\n"
    }

    /// The same loops, marking what they access.
    fn shadow(&self) -> String {
        let mut text = self.common();
        text += "static int min(int a, int b) { return a < b ? a : b; }\n";
        for (k, one) in self.loops.iter().enumerate() {
            let _ = writeln!(
                text,
                "void shadow_kernel{k}({}) {{\n{}}}",
                self.parameters(),
                one.as_shadow()
            );
        }
        text
    }
}

impl Loops {
    fn random(random: &mut Random, tables: usize) -> Self {
        let row_and_column = |at: &str| match at.split_once(" * ROW + ") {
            Some((row, column)) => (row.to_string(), column.to_string()),
            None => ("3".to_string(), at.to_string()),
        };
        let element = |random: &mut Random, depth, is_read| {
            let at = element(random, depth, is_read);
            let (row, column) = row_and_column(&at);
            match tables {
                0 => at,
                1 => format!("{row}][{column}"),
                _ => {
                    let (plane, _) = row_and_column(&self::element(random, depth, false));
                    format!("{plane}][{row}][{column}")
                }
            }
        };
        let depth = random.between(1, 3);
        let collapse = depth == 2 && random.chance(12);
        let offset = random.between(0, 2);
        let mut heads = vec![match random.between(0, 5) {
            0 => format!("for (int i = n - 1; i >= {offset}; i--)"),
            1 => format!("for (int i = {offset}; i < n; i += 2)"),
            _ => format!("for (int i = {offset}; i < n; i++)"),
        }];
        if depth >= 2 {
            heads.push(
                match random.between(0, if collapse { 2 } else { 16 }) {
                    0 => "for (int j = 1; j < m; j++)",
                    1 => "for (int j = m - 1; j >= 0; j--)",
                    2 => "for (int j = 0; j < m; j += 3)",
                    3 => "for (int j = 0; j <= i; j++)",
                    4 => "for (int j = i; j < n; j++)",
                    5 => "for (int j = 0; j < n - i; j++)",
                    6 => "for (int j = i; j < min(i + 3, m); j++)",
                    7 => "for (int j = i + 1; j <= m; j++)",
                    8 => "for (int j = map[i]; j < map[i + 1]; j++)",
                    9 => "for (int j = map[i + 1]; j > map[i]; j -= 2)",
                    10 => "for (int j = 0; j < map[i + 1] - map[i]; j++)",
                    // Of tiles, where `i` goes two steps at once.
                    11 => "for (int j = i; j < min(i + 2, n); j++)",
                    12 => "for (int j = 2 * i; j < 2 * (i + 1); j++)",
                    13 => "for (int j = 0; j < m; j += 3)",
                    14 => "for (int j = 3 * i; j < min(3 * (i + 1), n); j++)",
                    _ => "for (int j = 0; j < m; j++)",
                }
                .to_string(),
            );
        }
        if depth == 3 {
            heads.push(
                random
                    .pick(&[
                        "for (int k = 0; k < 3; k++)",
                        "for (int k = 0; k < n; k++)",
                        "for (int k = j; k < m; k++)",
                        "for (int k = 0; k < n - i; k++)",
                        "for (int k = j; k < min(j + 3, m); k++)",
                        "for (int k = j; k < min(j + 3, n); k++)",
                        "for (int k = j; k < j + 3; k++)",
                        "for (int k = map[i] + j; k < map[i + 1] + 2; k++)",
                    ])
                    .to_string(),
            );
        }
        let near = random.pick(&["near[i]", "near[i + 1]", "near[2 * i + 1]"]);
        let guarded = random.pick(&[">= 0", "> -1", "!= -1", "> 0"]);
        let guarded = format!("if ({near} {guarded})");
        let condition = match random.between(0, 13) {
            0 => "if (i > 1)",
            1 => "if (n > 2)",
            2 => "if ((i & 1) == 0)",
            3 if depth >= 2 => "if (j != i)",
            4..=6 => &guarded,
            _ => "",
        };
        let (schedule, chunk) = match random.between(0, 7) {
            0 => (" schedule(static, 1)", Some("1")),
            1 => (" schedule(static, 2)", Some("2")),
            2 => (" schedule(static, m + 1)", Some("(m + 1)")),
            3 => (" schedule(dynamic, 3)", None),
            _ => ("", None),
        };
        let target = (random.between(0, ARRAYS - 1), element(random, depth, false));
        let is_guarded = condition.contains(near);
        let source = |random: &mut Random| {
            if is_guarded && random.chance(50) {
                let at = random.pick(&["* ROW + 2", "+ 1", "+ m", "+ 2 * ROW"]);
                let (row, column) = row_and_column(&format!("{near} {at}"));
                return match tables {
                    0 => format!("{near} {at}"),
                    1 => format!("{row}][{column}"),
                    _ => format!("{row}][1][{column}"),
                };
            }
            element(random, depth, true)
        };
        let sources = (0..random.between(1, 3))
            .map(|_| (random.between(0, ARRAYS - 1), source(random)))
            .collect();
        let middle = (depth >= 2 && !collapse && random.chance(25))
            .then(|| (random.between(0, ARRAYS - 1), element(random, 1, false)));
        Self {
            pragma: format!(
                "#pragma omp for{}{schedule}",
                if collapse { " collapse(2)" } else { "" }
            ),
            chunk,
            heads,
            condition: condition.to_string(),
            target,
            sources,
            middle,
        }
    }

    /// The element of `near` that the condition asks for.
    fn near(&self) -> Option<&str> {
        let asked = self.condition.strip_prefix("if (")?;
        let near = &asked[..=asked.find(']')?];
        near.starts_with("near[").then_some(near)
    }

    /// Whether structs are copied as a whole.
    fn copies(&self) -> bool {
        self.sources.len() == 1 && self.heads.len() == 1
    }

    fn as_kernel(&self, element: &str) -> String {
        let part = |(array, at): &(usize, String)| {
            let field = if element == "struct five" {
                ".v[1]"
            } else {
                ""
            };
            format!("a{array}[{at}]{field}")
        };
        let sum: Vec<_> = self.sources.iter().map(part).collect();
        // Added to, so that no iteration is in vain and what it reads is needed.
        let store = if element == "struct five" && self.copies() {
            let (array, at) = &self.sources[0];
            format!("a{}[{}] = a{array}[{at}];", self.target.0, self.target.1)
        } else {
            format!("{} += {};", part(&self.target), sum.join(" + "))
        };
        let mut text = format!("{}\n", self.pragma);
        for (depth, head) in self.heads.iter().enumerate() {
            let _ = writeln!(text, "{head} {{");
            if let (0, Some(middle)) = (depth, &self.middle) {
                let _ = writeln!(text, "{} = 2;", part(middle));
            }
        }
        let _ = writeln!(text, "{} {store}", self.condition);
        text + &"}".repeat(self.heads.len()) + "\n"
    }

    fn as_shadow(&self) -> String {
        // The number of the iteration that is shared out.
        let mut text = "long turn = 0;\n".to_string();
        let shared = usize::from(self.pragma.contains("collapse"));
        let mark = |(array, at): &(usize, String), whole: bool, written: i32| {
            let rows = at.match_indices("][").map(|(end, _)| {
                let row = &at[..end];
                format!("shadow_access(&a{array}[{row}], sizeof a{array}[{row}], 0);")
            });
            let rows: String = rows.collect();
            // One field of a struct, or all of it.
            format!(
                "{1}shadow_access((char *)&a{array}[{at}] + (sizeof a{array}[{at}] == 40 && !{0} ? 8 : 0), \
                 sizeof a{array}[{at}] == 40 && !{0} ? 8 : sizeof a{array}[{at}], {written});",
                i32::from(whole),
                rows
            )
        };
        for (depth, head) in self.heads.iter().enumerate() {
            let _ = writeln!(text, "{head} {{");
            if let Some(chunk) = self.chunk.filter(|_| depth == shared) {
                let _ = writeln!(text, "if (shadow_skips(turn++, {chunk})) continue;");
            }
            if let (0, Some(middle)) = (depth, &self.middle) {
                let _ = writeln!(text, "{}", mark(middle, false, 1));
            }
        }
        let whole = self.copies();
        // What a condition or a number of an element reads of `near`.
        if let Some(near) = self.near() {
            let _ = writeln!(text, "shadow_access(&{near}, sizeof *near, 0);");
        }
        let _ = writeln!(text, "{} {{", self.condition);
        if self.heads.iter().any(|head| head.contains("map[")) {
            text += "shadow_access(&map[i], 2 * sizeof *map, 0);";
        }
        for source in &self.sources {
            text += &mark(source, whole, 0);
            if source.1.contains("map[") {
                text += "shadow_access(&map[i], sizeof *map, 0);";
            }
        }
        // A copy of a struct does not read its target; other elements than structs are added to.
        let _ = writeln!(
            text,
            "if (sizeof a{0}[{3}] != 40 || !{1}) {{ {2} }}",
            self.target.0,
            i32::from(whole),
            mark(&self.target, whole, 0),
            self.target.1
        );
        let _ = writeln!(text, "{} }}", mark(&self.target, whole, 1));
        text + &"}".repeat(self.heads.len()) + "\n"
    }
}

/// The number of an element, from the loops' variables.
fn element(random: &mut Random, depth: usize, is_read: bool) -> String {
    let (a, b) = (random.between(0, 3), random.between(0, 3));
    if is_read && random.chance(8) {
        return format!("map[i] * ROW + {b}");
    }
    match (depth, random.between(0, 4)) {
        (1, 0) => format!("(i + {a}) * ROW + {b}"),
        (1, 1) => format!("2 * i + {a}"),
        (1, _) => format!("i + {a}"),
        (2, 0) => format!("(j + {a}) * ROW + i + {b}"),
        (2, 1) => format!("(i + {a}) * ROW + 5"),
        (2, 2) => format!("j + {a}"),
        (2, _) => format!("(i + {a}) * ROW + j + {b}"),
        (_, 0) => format!("(i + {a}) * ROW + k + {b}"),
        (_, 1) => format!("(k + {a}) * ROW + j + {b}"),
        (_, 2) => format!("(i + {a}) * ROW + j + k + {b}"),
        (_, _) => format!("(j + {a}) * ROW + i + {b}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    #[test]
    fn a_seed_gives_one_program() {
        assert_eq!(Program::random(3).kernel(), Program::random(3).kernel());
        assert_ne!(Program::random(3).kernel(), Program::random(4).kernel());
    }
}
