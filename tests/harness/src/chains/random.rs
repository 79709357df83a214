//! Random loop chains with random schedules: okl refuses a schedule with an error that has a place, and then takes the empty one, or
//! the program prints what it prints without okl, on any number of threads.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::{Built, LARGE, each_seed};
use crate::Common;
use crate::jobs::Tally;
use crate::random::text::{Random, Text};
use crate::tools::{Language, Tools};

/// Elements of a space in each dimension, and where its loops count at most: offsets do not leave it.
const EXTENT: [usize; 3] = [64, 32, 20];
const FIRST: usize = 5;
const MOST: [usize; 3] = [50, 20, 9];
const ITERATORS: [&str; 3] = ["i", "j", "k"];

/// Compares the programs of some seeds.
pub(crate) fn run(seeds: Range<u64>, common: &Common) -> Result<Tally, String> {
    let count = seeds.end - seeds.start;
    let (tally, refused) = each_seed(seeds, common, "", program, check)?;
    println!("{refused} of {count} schedules refused");
    Ok(tally)
}

/// Whether the schedule is refused; what is wrong otherwise.
fn check(seed: u64, tools: &Tools, folder: &Path) -> Result<bool, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let source = folder.join("chain.c");
    fs::write(&source, program(seed)).map_err(|error| error.to_string())?;
    let flags = [["-O2"], ["-O3"], ["-O0"], ["-O1"]][seed as usize % 4].map(str::to_owned);
    let built = Built {
        source: &source,
        flags: &flags,
        folder,
    };
    let expected = built.prints(&mut tools.compiler(Language::C))?;
    let mut compile = tools.driver("okl-cc");
    if (seed / 4).is_multiple_of(2) {
        compile.env(LARGE, "1");
    }
    let why = match built.is_same(&mut compile, "cpu", &expected) {
        Ok(_) => return Ok(false),
        Err(why) => why,
    };
    match built.refused(&mut tools.driver("okl-cc")) {
        Err(_) => Err(why),
        Ok(_) => {
            let mut compile = tools.driver("okl-cc");
            compile.arg("-DAS_WRITTEN");
            built.is_same(&mut compile, "cpu", &expected)?;
            Ok(true)
        }
    }
}

/// What an element of a space is.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    /// A number.
    Number,
    /// Two numbers side by side, with names.
    Pair,
    /// Numbers side by side, which are counted.
    Inner,
    /// Numbers in planes as large as the space, which are counted.
    Outer,
    /// The same in memory that a pointer leads to, with a distance of planes that is computed.
    Planes,
}

/// Numbers of an element that are counted.
const COMPONENTS: i64 = 3;

/// How many more numbers than `n` there are in a dimension whose extent is computed: offsets do not leave it.
const ROOM: usize = 9;

/// A loop of a chain.
struct Nest {
    /// The constant first value of each iteration variable, and the last one, which is that and `n`.
    bounds: Vec<(usize, i64)>,
    writes: Access,
    reads: Vec<Access>,
    /// Whether what is written is added to what is there.
    adds: bool,
    /// How it goes through the numbers of elements.
    through: Through,
}

/// How an iteration goes through the numbers of elements.
#[derive(Clone, Copy, PartialEq)]
enum Through {
    /// In a loop, upwards or downwards.
    Loop(bool),
    /// One after the other.
    Unrolled,
    /// It accesses only some, and all in a loop besides.
    Some,
}

/// A space, and how far the element is from the iteration in each dimension.
struct Access {
    space: usize,
    offsets: Vec<i64>,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let rank = random.one_of(&[1, 1, 2, 2, 2, 3]);
    let spaces = random.between(2, 4);
    let n = random.between(0, MOST[rank - 1]);
    let elements: Vec<Element> = (0..spaces)
        .map(|_| match random.between(0, 9) {
            0 => Element::Pair,
            1 | 2 => Element::Inner,
            3 | 4 => Element::Outer,
            5 => Element::Planes,
            _ => Element::Number,
        })
        .collect();
    let mut nests: Vec<Nest> = (0..random.between(2, 5))
        .map(|_| nest(&mut random, rank, spaces))
        .collect();
    // Each reads what those in front of it have written: spaces that are temporary.
    let is_pipeline = random.chance(40);
    if is_pipeline {
        pass_on(&mut random, &mut nests, spaces);
    }
    let has_accesses: Vec<bool> = nests.iter().map(|_| random.chance(90)).collect();
    // What no loop names cannot be local.
    let is_named = |space: usize| {
        std::iter::zip(&nests, &has_accesses).any(|(nest, &says)| {
            let mut all = nest.reads.iter().chain([&nest.writes]);
            says && all.any(|access| access.space == space)
        })
    };
    let locals: Vec<usize> = (0..spaces)
        .filter(|&space| is_named(space) && random.chance(if is_pipeline { 70 } else { 25 }))
        .collect();
    let schedule = schedule(&mut random, rank, nests.len());
    let are_parameters = random.chance(30);

    let mut text = Text::default();
    text.line("#include <stdint.h>");
    text.line("#include <stdio.h>");
    text.line("#include <string.h>");
    text.line("#ifdef AS_WRITTEN");
    text.line("#define ITEMS");
    text.line("#else");
    text.line(format!("#define ITEMS {schedule}"));
    text.line("#endif");
    let extents = format!("[{}]", EXTENT[rank - 1]).repeat(rank);
    text.line("struct pair { double first, second; };");
    let declared = |space: usize| match elements[space] {
        Element::Number => format!("double s{space}{extents}"),
        Element::Pair => format!("struct pair s{space}{extents}"),
        Element::Inner => format!("double s{space}{extents}[{COMPONENTS}]"),
        Element::Outer => format!("double s{space}[{COMPONENTS}]{extents}"),
        Element::Planes => {
            let all = COMPONENTS as usize * EXTENT[rank - 1].pow(rank as u32);
            format!("double s{space}[{all}]")
        }
    };
    for space in 0..spaces {
        text.line(format!("static {};", declared(space)));
    }
    let parameters: String = match are_parameters {
        true => (0..spaces).fold(String::new(), |mut all, space| {
            let _ = write!(all, ", {}", declared(space));
            all
        }),
        false => String::new(),
    };
    text.line("");
    text.line(format!(
        "__attribute__((noinline)) static void chain(int n, int t{parameters}) {{"
    ));
    text.line("double last = t;");
    text.line("int rest = 3;");
    let local = match locals.as_slice() {
        [] => String::new(),
        some => {
            let names: Vec<_> = some.iter().map(|space| format!("s{space}")).collect();
            format!(" local({})", names.join(", "))
        }
    };
    text.line(format!("#pragma omplc loopchain schedule(ITEMS){local}"));
    text.line("{");
    for (one, says) in std::iter::zip(&nests, has_accesses) {
        print_nest(&mut random, &mut text, one, &elements, rank, says);
    }
    text.line("}");
    text.line("printf(\"%a %d\\n\", last + 0.0, rest);");
    text.line("}");
    print_main(
        &mut random,
        &mut text,
        &elements,
        &locals,
        n,
        are_parameters,
    );
    text.into_string()
}

fn access(random: &mut Random, rank: usize, spaces: usize, most: i64) -> Access {
    let mut offset = || {
        let far = random.one_of(&[0, 0, 1, 1, 2]).min(most);
        if random.chance(50) { far } else { -far }
    };
    let offsets = (0..rank).map(|_| offset()).collect();
    Access {
        space: random.between(0, spaces - 1),
        offsets,
    }
}

fn nest(random: &mut Random, rank: usize, spaces: usize) -> Nest {
    let most = if random.chance(20) { 1 } else { 0 };
    let writes = access(random, rank, spaces, most);
    let count = random.between(1, 3);
    let mut reads: Vec<Access> = (0..count)
        .map(|_| access(random, rank, spaces, 2))
        .collect();
    if random.chance(80) {
        // Most loops do not read what they write.
        for read in &mut reads {
            if read.space == writes.space {
                read.space = (read.space + 1) % spaces;
            }
        }
    }
    let bounds = (0..rank)
        .map(|_| {
            let first = FIRST - usize::from(random.chance(30)) * random.between(0, 2);
            (first, FIRST as i64 - 1 - random.one_of(&[0, 0, 0, 1, 2]))
        })
        .collect();
    Nest {
        bounds,
        writes,
        reads,
        adds: random.chance(15),
        through: match random.between(0, 5) {
            0 => Through::Unrolled,
            1 => Through::Some,
            2 => Through::Loop(false),
            _ => Through::Loop(true),
        },
    }
}

/// Has each loop write a space, all of it before the next one reads it, or all but what is round it.
fn pass_on(random: &mut Random, nests: &mut [Nest], spaces: usize) {
    for (number, nest) in nests.iter_mut().enumerate() {
        let within = number.min(2);
        for bounds in &mut nest.bounds {
            *bounds = (FIRST - 2 + within, FIRST as i64 - 1 - within as i64);
        }
        nest.adds = false;
        nest.writes.space = number % spaces;
        nest.writes.offsets.iter_mut().for_each(|one| *one = 0);
        for read in &mut nest.reads {
            let back = random.between(1, number.clamp(1, spaces - 1));
            read.space = (number + spaces - back) % spaces;
            for offset in &mut read.offsets {
                *offset = (*offset).clamp(-1, 1);
            }
        }
    }
}

fn schedule(random: &mut Random, rank: usize, nests: usize) -> String {
    let shifts = |random: &mut Random| {
        let all: Vec<String> = (0..nests)
            .map(|nest| {
                let each: Vec<String> = (0..rank)
                    .map(|_| {
                        let more = random.one_of(&[0, 0, 0, 1]);
                        (nest * random.between(0, 2) + more).to_string()
                    })
                    .collect();
                format!("({})", each.join(", "))
            })
            .collect();
        format!("fuse({})", all.join(", "))
    };
    let fuse = match random.between(0, 5) {
        0 => "fuse".to_owned(),
        1..=3 => "fuse()".to_owned(),
        _ => shifts(random),
    };
    let tile = tile(random, rank, 1);
    match random.between(0, 11) {
        0 => String::new(),
        1 => "auto".to_owned(),
        2 => fuse,
        3 => format!(
            "{fuse}, {}",
            random.pick(&["parallel", "wavefront", "serial"])
        ),
        4 => random.pick(&["parallel", "wavefront", "serial"]).to_owned(),
        5 => tile,
        6 => format!("{tile}, fuse()"),
        _ => format!("{fuse}, {tile}"),
    }
}

fn tile(random: &mut Random, rank: usize, depth: usize) -> String {
    let count = random.between(1, rank);
    let sizes: Vec<String> = (0..count)
        .map(|_| match random.chance(15) {
            true => random.pick(&["t", "t + 1"]).to_owned(),
            false => random.between(1, 9).to_string(),
        })
        .collect();
    let sizes = sizes.join(", ");
    let how = ["serial", "serial", "parallel", "wavefront"];
    let over = random.pick(&how);
    let within = match random.chance(15) && depth > 0 {
        true => self::tile(random, rank, depth - 1),
        false => random.pick(&how).to_owned(),
    };
    match random.chance(20) {
        true => format!("tile(({sizes}), parallel, serial, overlap)"),
        false => format!("tile(({sizes}), {over}, {within})"),
    }
}

/// A number of an element: with a name, or counted by what is in `component`.
fn number_of(element: Element, access: &Access, rank: usize, component: &str) -> String {
    let place: Vec<String> = std::iter::zip(&ITERATORS[..rank], &access.offsets)
        .map(|(name, offset)| index(name, *offset))
        .collect();
    let name = format!("s{}", access.space);
    let at = format!("[{}]", place.join("]["));
    match element {
        Element::Number => format!("{name}{at}"),
        Element::Pair => match component {
            "1" => format!("{name}{at}.second"),
            _ => format!("{name}{at}.first"),
        },
        Element::Inner => format!("{name}{at}[{component}]"),
        Element::Outer => format!("{name}[{component}]{at}"),
        Element::Planes => {
            let first = component.to_string();
            let all = place
                .iter()
                .fold(first, |sum, one| format!("({sum}) * (n + {ROOM}) + {one}"));
            format!("{name}[{all}]")
        }
    }
}

fn print_nest(
    random: &mut Random,
    text: &mut Text,
    nest: &Nest,
    elements: &[Element],
    rank: usize,
    says: bool,
) {
    let names: [&str; 3] = match random.chance(20) {
        true => ["x", "y", "z"],
        false => ITERATORS,
    };
    let last = |end: i64| format!("n + {end}");
    let domain: Vec<String> = nest
        .bounds
        .iter()
        .map(|&(first, end)| format!("{first} : {}", last(end)))
        .collect();
    let place = |access: &Access, names: &[&str]| {
        let each: Vec<String> = std::iter::zip(names, &access.offsets)
            .map(|(name, offset)| index(name, *offset))
            .collect();
        each
    };
    let mut clauses = format!("#pragma omplc for domain({})", domain.join(", "));
    if says {
        let _ = write!(clauses, " with({})", names[..rank].join(", "));
        let mut one = |how: &str, access: &Access| {
            let place = place(access, &names[..rank]).join(", ");
            let _ = write!(clauses, " {how} s{}{{({place})}}", access.space);
        };
        for read in &nest.reads {
            one("read", read);
        }
        if nest.adds {
            one("read", &nest.writes);
        }
        one("write", &nest.writes);
    }
    text.line(clauses);
    let is_parallel = !nest.adds
        && nest
            .reads
            .iter()
            .all(|read| read.space != nest.writes.space);
    // The last iteration leaves something behind.
    let is_left = matches!(elements[nest.writes.space], Element::Number) && random.chance(15);
    if is_parallel && random.chance(30) {
        let collapse = format!(" collapse({rank}) lastprivate(last, rest)");
        let clauses = if is_left { &collapse } else { "" };
        text.line(format!("#pragma omp parallel for{clauses}"));
    }
    for (iterator, &(first, end)) in std::iter::zip(ITERATORS, &nest.bounds) {
        let bound = last(end);
        text.line(format!(
            "for (int {iterator} = {first}; {iterator} <= {bound}; {iterator}++)"
        ));
    }
    let written = elements[nest.writes.space];
    let statement = |component: &str, fixed: bool| {
        // What is counted in another way has its first number read, or its second one.
        let term = |(at, read): (usize, &Access)| {
            let element = elements[read.space];
            let component = match (element, fixed) {
                (Element::Pair, _) => ["0", "1"][at % 2],
                (_, true) => ["0", "1", "2"][at],
                _ => component,
            };
            let read = number_of(element, read, rank, component);
            format!("{} * {read}", ["0.5", "0.25", "-0.75"][at])
        };
        let terms: Vec<String> = nest.reads.iter().enumerate().map(term).collect();
        let sign = if nest.adds { "+=" } else { "=" };
        let to = number_of(written, &nest.writes, rank, component);
        let sum = terms.join(" + ");
        match is_left {
            true => format!("{{ last = {sum}; rest = i * 3; {to} {sign} last; }}"),
            false => format!("{to} {sign} {sum};"),
        }
    };
    match (written, nest.through) {
        (Element::Number, _) => text.line(statement("1", true)),
        (Element::Pair, _) => {
            text.line("{");
            text.line(statement("0", true));
            text.line(statement("1", true));
            text.line("}");
        }
        (_, Through::Unrolled) => {
            text.line("{");
            for component in ["0", "1", "2"] {
                text.line(statement(component, false));
            }
            text.line("}");
        }
        (_, through) => {
            text.line("{");
            text.line(match through {
                Through::Loop(false) => {
                    format!("for (int c = {COMPONENTS} - 1; c >= 0; c--)")
                }
                _ => format!("for (int c = 0; c < {COMPONENTS}; c++)"),
            });
            text.line(statement("c", through == Through::Some));
            text.line("}");
        }
    }
}

/// A variable and a constant.
pub(super) fn index(name: &str, offset: i64) -> String {
    match offset {
        0 => name.to_owned(),
        more if more > 0 => format!("{name} + {more}"),
        less => format!("{name} - {}", -less),
    }
}

/// Functions that fill arrays, and print what is in them as one number.
pub(super) fn print_checks(text: &mut Text) {
    text.line("");
    text.line("static void fill(double *s, int count, int seed) {");
    text.line("for (int at = 0; at < count; at++)");
    text.line("s[at] = ((at * 7919L + seed * 104729L) % 1009) / 512.0;");
    text.line("}");
    text.line("static void tell(const double *s, int count) {");
    text.line("uint64_t mix = 0;");
    text.line("for (int at = 0; at < count; at++) {");
    text.line("uint64_t bits;");
    text.line("memcpy(&bits, s + at, sizeof bits);");
    text.line("mix = (mix ^ bits) * 0x100000001b3u + (mix >> 31);");
    text.line("}");
    text.line("printf(\"%016llx\\n\", (unsigned long long)mix);");
    text.line("}");
}

fn print_main(
    random: &mut Random,
    text: &mut Text,
    elements: &[Element],
    locals: &[usize],
    n: usize,
    are_parameters: bool,
) {
    let spaces = elements.len();
    print_checks(text);
    text.line("int main(int argc, char **argv) {");
    text.line("(void)argv;");
    let all = |space: usize| format!("(double *)s{space}, sizeof s{space} / sizeof(double)");
    for space in 0..spaces {
        text.line(format!("fill({}, {space});", all(space)));
    }
    let times = random.between(1, 2);
    let arguments: String = match are_parameters {
        true => (0..spaces).fold(String::new(), |mut all, space| {
            let _ = write!(all, ", s{space}");
            all
        }),
        false => String::new(),
    };
    text.line(format!("for (int time = 0; time < {times}; time++) {{"));
    // What a chain leaves in a local space is not known.
    for space in locals {
        text.line(format!("fill({}, {space});", all(*space)));
    }
    text.line(format!(
        "chain({n} * argc, {} * argc{arguments});",
        random.between(1, 6)
    ));
    text.line("}");
    for space in (0..spaces).filter(|space| !locals.contains(space)) {
        text.line(format!("tell({});", all(space)));
    }
    text.line("return 0;");
    text.line("}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_stay_in_their_spaces() {
        for rank in 1..=3 {
            let last = MOST[rank - 1] + FIRST - 1;
            assert!(last + 2 < EXTENT[rank - 1] && FIRST - 2 >= 2);
            assert!(FIRST - 1 + 2 < ROOM && MOST[rank - 1] + ROOM <= EXTENT[rank - 1]);
        }
    }

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }
}
