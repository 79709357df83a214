//! Random parallel loops of OpenMP that follow each other (`--okl-fuse`): a program prints what it prints without okl, on any number
//! of threads, whichever of its loops are run as one.
//!
//! No loop has a race, and sums are of integers, so that every number of threads prints the same. What a loop has found the least
//! and the largest of is printed so that zeros have no sign.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::random::{index, print_checks};
use super::{Built, each_seed};
use crate::Common;
use crate::jobs::Tally;
use crate::random::text::{Random, Text};
use crate::tools::{Language, Tools};

/// Elements of an array in each dimension. Loops count from `FIRST` on, at most `MOST` further.
const EXTENT: [usize; 3] = [400, 40, 16];
const FIRST: usize = 4;
const MOST: [usize; 3] = [390, 32, 8];
const ITERATORS: [&str; 3] = ["i", "j", "k"];
/// So many programs have some in which loops become one: one of four has.
const MANY: u64 = 40;

/// Compares the programs of some seeds.
pub(crate) fn run(seeds: Range<u64>, common: &Common) -> Result<Tally, String> {
    let count = seeds.end - seeds.start;
    let (tally, fused) = each_seed(seeds, common, "--fuse ", program, check)?;
    println!("loops run as one in {fused} of {count} programs");
    match fused == 0 && count >= MANY {
        true => Err("no loops run as one: this compares nothing".to_owned()),
        false => Ok(tally),
    }
}

/// Whether any of its loops are run as one; what is wrong otherwise.
fn check(seed: u64, tools: &Tools, folder: &Path) -> Result<bool, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let source = folder.join("loops.c");
    fs::write(&source, program(seed)).map_err(|error| error.to_string())?;
    let levels: [&[&str]; 4] = [&["-O2"], &["-O3"], &["-O0"], &["-O1", "-g"]];
    let flags = levels[seed as usize % 4].iter().copied();
    let flags: Vec<String> = flags.map(str::to_owned).collect();
    let built = Built {
        source: &source,
        flags: &flags,
        folder,
    };
    let expected = built.prints(&mut tools.compiler(Language::C))?;
    let mut compile = tools.driver("okl-cc");
    compile.args(["--okl-fuse", "-Rpass=okl"]);
    let told = built.is_same(&mut compile, "cpu", &expected)?;
    Ok(told.contains(" run as one"))
}

/// A bound: a constant, or that and `n`.
#[derive(Clone, Copy)]
struct Bound {
    constant: i64,
    is_computed: bool,
}

impl Bound {
    fn text(self) -> String {
        match self.is_computed {
            true => index("n", self.constant),
            false => self.constant.to_string(),
        }
    }
}

/// What an element is accessed by.
struct Access {
    array: usize,
    offsets: Vec<i64>,
}

impl Access {
    fn text(&self) -> String {
        let place = std::iter::zip(ITERATORS, &self.offsets);
        let place: Vec<_> = place.map(|(name, offset)| index(name, *offset)).collect();
        format!("a{}[{}]", self.array, place.join("]["))
    }
}

/// The arrays that the function knows by names, and what they are: some are parts of others.
struct Arrays {
    /// The array that is handed over, and how many rows are left out.
    given: Vec<(usize, usize)>,
    rank: usize,
    n: usize,
}

impl Arrays {
    fn is_same(&self, one: usize, other: usize) -> bool {
        self.given[one].0 == self.given[other].0
    }
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x6675_7365);
    let rank = random.one_of(&[1, 1, 2, 2, 2, 3]);
    let count = random.between(2, 4);
    // What is a part of another one has room at its end.
    let given = (0..count).map(|at| match random.chance(15) && at > 0 {
        true => (random.between(0, at - 1), random.between(0, 2)),
        false => (at, 0),
    });
    let arrays = Arrays {
        given: given.collect(),
        rank,
        n: random.between(0, MOST[rank - 1]),
    };
    let extents = format!("[{}]", EXTENT[rank - 1]).repeat(rank);
    let inner = format!("[{}]", EXTENT[rank - 1]).repeat(rank - 1);
    let mut text = Text::default();
    for header in ["stdint", "stdio", "string"] {
        text.line(format!("#include <{header}.h>"));
    }
    for array in 0..count {
        text.line(format!("static double s{array}{extents};"));
    }
    let mut parameters = String::new();
    let mut arguments = String::new();
    for (at, (array, rows)) in arrays.given.iter().enumerate() {
        let _ = write!(parameters, ", double (*a{at}){inner}");
        let _ = write!(arguments, ", s{array} + {rows}");
    }
    // The compiler sees that they are others, or the program asks.
    let are_known = random.chance(60);
    if are_known {
        for (at, (array, _)) in arrays.given.iter().enumerate() {
            text.line(format!("#define a{at} s{array}"));
        }
        (parameters, arguments) = (String::new(), String::new());
    }
    if rank == 1 {
        parameters = parameters.replace("(*a", "*a").replace(')', "");
    }
    text.line("");
    text.line(format!(
        "__attribute__((noinline)) static void loops(int n, int from, double by{parameters}) {{"
    ));
    text.line("long sum = 1, bits = 7, rest = 2;");
    text.line("double least = 1e6, largest = -3, exact = 0.5, last = 0;");
    text.line("int top = -1000;");
    text.line("short low = 30000;");
    text.line("unsigned char high = 3;");
    for _ in 0..random.between(2, 6) {
        between(&mut random, &mut text);
        print_loop(&mut random, &mut text, &arrays);
    }
    text.line("printf(\"%ld %ld %ld %d %d %d %a %a %a %a\\n\", sum, bits, rest, top, low, high, least + 0.0, largest + 0.0, exact, last + 0.0);");
    text.line("}");
    print_checks(&mut text);
    text.line("int main(int argc, char **argv) {");
    text.line("(void)argv;");
    for array in 0..count {
        text.line(format!(
            "fill((double *)s{array}, sizeof s{array} / sizeof(double), {array});"
        ));
    }
    let from = FIRST - random.one_of(&[0, 0, 1, 2]);
    text.line(format!(
        "loops({} * argc, {from} * argc, 0.5{arguments});",
        arrays.n
    ));
    text.line(format!(
        "loops({} * argc, {from} * argc, 2{arguments});",
        random.one_of(&[arrays.n, 0, 1, arrays.n / 2])
    ));
    for array in 0..count {
        text.line(format!(
            "tell((double *)s{array}, sizeof s{array} / sizeof(double));"
        ));
    }
    text.line("return 0;");
    text.line("}");
    text.into_string()
}

/// What stands between loops: nothing, as a rule.
fn between(random: &mut Random, text: &mut Text) {
    match random.between(0, 24) {
        0 => text.line("by = n * 0.25;"),
        1 => text.line("largest = by;"),
        2 => text.line("sum = sum * 3 + 1;"),
        3 => text.line("top = n - 5;"),
        4 => text.line("by = largest > 9 ? 1 : 2;"),
        5 => text.line("by = last > 9 ? 1 : 2;"),
        _ => {}
    }
}

fn print_loop(random: &mut Random, text: &mut Text, arrays: &Arrays) {
    let rank = arrays.rank;
    let access = |most: i64, random: &mut Random| Access {
        array: random.between(0, arrays.given.len() - 1),
        offsets: (0..rank)
            .map(|_| random.one_of(&[0, 0, 0, 1, -1, 2, -2]).clamp(-most, most))
            .collect(),
    };
    let writes = access(0, random);
    let reads: Vec<_> = (0..random.between(1, 3))
        .map(|_| access(2, random))
        .filter(|read| !arrays.is_same(read.array, writes.array))
        .collect();
    let bounds: Vec<_> = (0..rank)
        .map(|level| {
            let less = random.one_of(&[0, 0, 0, 1, 2]);
            let is_computed = random.chance(if level == 0 { 60 } else { 20 });
            let first = match random.chance(if level == 0 { 12 } else { 6 }) {
                true => "from".to_owned(),
                false => (FIRST - random.one_of(&[0, 0, 0, 1, 2])).to_string(),
            };
            let last = match is_computed {
                true => FIRST as i64 - 1 - less,
                false => (FIRST + MOST[rank - 1] / 2) as i64 - less,
            };
            let last = Bound {
                constant: last,
                is_computed,
            };
            (first, last)
        })
        .collect();
    let sum: String =
        reads
            .iter()
            .zip(["0.5", "0.25", "-0.5"])
            .fold(String::from("1"), |mut sum, (read, by)| {
                let _ = write!(sum, " + {by} * {}", read.text());
                sum
            });
    let to = writes.text();
    let mut clauses = String::new();
    let mut statements = Vec::new();
    let drawn = random.between(0, 12);
    let result = match drawn {
        0 => Some(("reduction(+ : sum)", format!("sum += (long)({sum}) % 13;"))),
        1 => Some((
            "reduction(max : largest)",
            random
                .pick(&[
                    "if (VALUE > largest) largest = VALUE;",
                    "largest = VALUE > largest ? VALUE : largest;",
                    "largest = largest > VALUE ? largest : VALUE;",
                ])
                .replace("VALUE", &format!("({sum})")),
        )),
        2 => Some((
            "reduction(min : least) reduction(^ : bits)",
            format!("if ({sum} < least) least = {sum}; bits ^= (long)({sum});"),
        )),
        3 => Some((
            "reduction(max : top)",
            format!("int found = (int)({sum}); if (found > top) top = found;"),
        )),
        4 => Some((
            "reduction(+ : exact)",
            format!("exact += (double)(long)({sum});"),
        )),
        5 | 6 => Some((
            "lastprivate(last, rest)",
            match random.chance(80) {
                true => format!("last = {sum}; rest = (long)last + i;"),
                false => format!("rest = i; if (rest > 9) last = {sum}; else last = 1;"),
            },
        )),
        7 => Some((
            "reduction(min : low) reduction(max : high)",
            format!(
                "short found = (short)(long)({sum}); if (found < low) low = found; \
                 unsigned char other = (unsigned char)(long)({sum}); high = other > high ? other : high;"
            ),
        )),
        _ => None,
    };
    let is_alone = result.is_some() && random.chance(50);
    if let Some((clause, statement)) = result {
        let _ = write!(clauses, " {clause}");
        statements.push(statement);
    }
    if !is_alone {
        let scaled = match random.chance(20) {
            true => {
                if random.chance(50) {
                    clauses.push_str(" firstprivate(by)");
                }
                format!("{sum} + by")
            }
            false => sum,
        };
        statements.push(match random.chance(20) {
            true => format!("{to} = {to} * 0.5 + {scaled};"),
            false => format!("{to} = {scaled};"),
        });
    }
    let collapse = match rank > 1 && random.chance(40) {
        true => random.between(2, rank),
        false => 1,
    };
    // Where inner loops have no iteration the last one of the outer one leaves nothing.
    let collapse = match clauses.contains("lastprivate") {
        true => rank,
        false => collapse,
    };
    if collapse > 1 {
        let _ = write!(clauses, " collapse({collapse})");
    }
    clauses.push_str(match random.between(0, 29) {
        0 => " schedule(dynamic, 3)",
        1 => " schedule(static, 5)",
        2..=5 => " schedule(static)",
        6 => " num_threads(2)",
        _ => "",
    });
    let ty = match random.between(0, 9) {
        0 => "unsigned",
        1 | 2 => "long",
        _ => "int",
    };
    let is_region = random.chance(5) && !clauses.contains("num_threads");
    if is_region {
        text.line("#pragma omp parallel");
        text.line(format!("#pragma omp for nowait{clauses}"));
    } else {
        text.line(format!("#pragma omp parallel for{clauses}"));
    }
    for (name, (first, last)) in std::iter::zip(ITERATORS, &bounds) {
        // Without a sign there is nothing below 0.
        let ty = match last.is_computed && last.constant < 0 {
            true => "int",
            false => ty,
        };
        let (than, last) = match random.chance(30) {
            true => ("<=", *last),
            false => (
                "<",
                Bound {
                    constant: last.constant + 1,
                    ..*last
                },
            ),
        };
        let step = match random.chance(2) {
            true => format!("{name} += 2"),
            false => format!("{name}++"),
        };
        text.line(format!(
            "for ({ty} {name} = {first}; {name} {than} {}; {step})",
            last.text()
        ));
    }
    text.line("{");
    statements.iter().for_each(|one| text.line(one));
    text.line("}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_stay_in_their_arrays() {
        for rank in 1..=3 {
            // The last iteration, an offset, and the rows that a part of an array leaves out.
            assert!(MOST[rank - 1] + FIRST - 1 + 2 + 2 < EXTENT[rank - 1]);
        }
        const { assert!(FIRST - 2 >= 2) };
    }

    /// Two hundred programs together have all that there can be.
    #[test]
    fn programs_have_everything() {
        let all: String = (0..200).map(program).collect();
        for what in [
            "collapse(2)",
            "collapse(3)",
            "reduction(max : largest)",
            "reduction(min : least)",
            "reduction(+ : exact)",
            "lastprivate(last, rest)",
            "reduction(min : low)",
            "i = from",
            "firstprivate(by)",
            "for nowait",
            "schedule(dynamic, 3)",
            "unsigned i",
            "+= 2)",
            "by = largest",
        ] {
            assert!(all.contains(what), "{what}");
        }
        assert_eq!(program(7), program(7));
    }
}
