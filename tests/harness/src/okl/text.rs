//! A random program as OKL: the kernel, and a host program that prints all that the kernel writes.

use super::kernel::{
    Blocks, Border, Bound, Cell, Count, Expression, Host, Index, Nest, Phase, Program, REAL_BITS,
    Real, SUMS, Statement, Tile,
};
use crate::random::text::Text;

/// The program's file.
pub(super) fn write(program: &Program) -> String {
    let mut text = Text::default();
    text.line("#include <cmath>");
    text.line("#include <cstdio>");
    text.line("#include <vector>");
    text.line("");
    let arrays = arrays(program);
    for (name, cells) in arrays.iter().filter(|(name, _)| is_global(program, name)) {
        text.line(format!("unsigned {name}[{cells}];"));
    }
    let passed: Vec<_> = arrays
        .iter()
        .filter(|(name, _)| !is_global(program, name))
        .collect();
    let parameters = passed.iter().map(|(name, _)| format!(", unsigned *{name}"));
    let parameters: String = parameters.collect();
    text.line(format!(
        "@kernel void k(const int n, @restrict const unsigned *a{parameters}, double *real) {{"
    ));
    if program.turns > 0 {
        let turns = program.turns;
        text.line(format!("for (int turn = 0; turn < {turns}; ++turn) {{"));
    }
    for (number, nest) in program.nests.iter().enumerate() {
        match nest {
            Nest::Blocks(blocks) => write_blocks(&mut text, blocks, number),
            Nest::Tiles(tiles, body) => write_tiles(&mut text, tiles, body, number),
        }
    }
    if program.turns > 0 {
        text.line("}");
    }
    text.line("}");
    text.line("");
    write_host(&mut text, program, &arrays);
    text.into_string()
}

/// Whether an array is a variable of the file.
fn is_global(program: &Program, name: &str) -> bool {
    program.has_globals && name.starts_with("sum")
}

/// The arrays that the kernel writes, with their cells.
pub(super) fn arrays(program: &Program) -> Vec<(String, usize)> {
    let nests = program.nests.iter().enumerate();
    let nests = nests.map(|(number, nest)| (format!("out{number}"), nest.cells()));
    let sums = (0..program.sums.len()).map(|number| (format!("sum{number}"), SUMS));
    nests.chain(sums).collect()
}

fn write_host(text: &mut Text, program: &Program, arrays: &[(String, usize)]) {
    text.line("int main() {");
    let input = program.input.iter().map(|value| format!("{value}u"));
    let input: Vec<_> = input.collect();
    text.line(format!(
        "std::vector<unsigned> a = {{{}}};",
        input.join(", ")
    ));
    for (name, cells) in arrays {
        match is_global(program, name) {
            true => text.line(format!("for (unsigned &one : {name}) one = 1u;")),
            false => text.line(format!("std::vector<unsigned> {name}({cells}, 1u);")),
        }
    }
    text.line(format!("std::vector<double> real({SUMS});"));
    text.line("unsigned seen = 0;");
    let passed = arrays
        .iter()
        .filter(|(name, _)| !is_global(program, name))
        .map(|(name, _)| format!(", {name}.data()"));
    let passed: String = passed.collect();
    let call = format!("k({}, a.data(){passed}, real.data());", program.n);
    for between in &program.between {
        text.line(&call);
        between.iter().for_each(|one| write_between(text, one));
    }
    text.line(call);
    for (name, _) in arrays {
        text.line(format!(
            "for (std::size_t i = 0; i < std::size({name}); i++)"
        ));
        text.line(format!("  printf(\"{name} %zu %u\\n\", i, {name}[i]);"));
    }
    text.line("for (double one : real) printf(\"real %.17g\\n\", one);");
    text.line("printf(\"seen %u\\n\", seen);");
    text.line("}");
}

fn write_between(text: &mut Text, one: &Host) {
    match one {
        Host::Change(name, None, times, plus) => text.line(format!(
            "for (unsigned &one : {name}) one = one * {times}u + {plus}u;"
        )),
        Host::Change(name, Some(at), times, plus) => {
            text.line(format!("{name}[{at}] = {name}[{at}] * {times}u + {plus}u;"))
        }
        Host::Read(name, at) => text.line(format!("seen = seen * 31u + {name}[{at}];")),
    }
}

fn write_blocks(text: &mut Text, blocks: &Blocks, number: usize) {
    for count in &blocks.outer {
        write_loop(text, count, "outer");
    }
    for (at, cells) in blocks.shared.iter().enumerate() {
        text.line(format!("@shared unsigned shared{at}[{cells}];"));
    }
    for (at, (cells, first)) in blocks.exclusive.iter().enumerate() {
        let cells = cells.map(|cells| format!("[{cells}]")).unwrap_or_default();
        let first = first.as_ref().map(|first| match cells.is_empty() {
            true => format!(" = {}", expression(first, "")),
            false => format!(" = {{{}}}", expression(first, "")),
        });
        let first = first.unwrap_or_default();
        text.line(format!("@exclusive unsigned own{at}{cells}{first};"));
    }
    for (at, value) in blocks.fixed.iter().enumerate() {
        let value = expression(value, "");
        text.line(format!("const unsigned fixed{at} = {value};"));
    }
    write_phases(text, blocks, number, &blocks.phases);
    blocks.outer.iter().for_each(|_| text.line("}"));
}

fn write_phases(text: &mut Text, blocks: &Blocks, nest: usize, phases: &[Phase]) {
    for phase in phases {
        match phase {
            Phase::Items(shape, body, no_barrier) => {
                let counts = &blocks.shapes[*shape];
                for (at, count) in counts.iter().enumerate() {
                    let attribute = match *no_barrier && at == 0 {
                        true => "inner @nobarrier",
                        false => "inner",
                    };
                    write_loop(text, count, attribute);
                }
                let place = Place::of_blocks(blocks, *shape, nest);
                write_statements(text, body, &place);
                counts.iter().for_each(|_| text.line("}"));
            }
            Phase::Repeat(name, times, phases) => {
                text.line(format!(
                    "for (int {name} = 0; {name} < {times}; ++{name}) {{"
                ));
                write_phases(text, blocks, nest, phases);
                text.line("}");
            }
            Phase::If(condition, phases) => {
                text.line(format!("if ({} % 2u) {{", expression(condition, "")));
                write_phases(text, blocks, nest, phases);
                text.line("}");
            }
            Phase::Barrier => text.line("@barrier;"),
        }
    }
}

fn write_tiles(text: &mut Text, tiles: &[Tile], body: &[Statement], nest: usize) {
    for tile in tiles {
        let size = bound(&tile.size);
        let check = tile.check.map(|check| format!(", check={check}"));
        let check = check.unwrap_or_default();
        write_loop(
            text,
            &tile.count,
            &format!("tile({size}, @outer, @inner{check})"),
        );
    }
    let counts: Vec<_> = tiles.iter().map(|tile| &tile.count).collect();
    let place = Place {
        item: String::new(),
        of_all: format!("out{nest}[{}]", linear(&counts)),
    };
    write_statements(text, body, &place);
    tiles.iter().for_each(|_| text.line("}"));
}

/// Where a work item's own cells are.
struct Place {
    /// The index in arrays of its block.
    item: String,
    /// The cell of its own.
    of_all: String,
}

impl Place {
    fn of_blocks(blocks: &Blocks, shape: usize, nest: usize) -> Self {
        let item = linear(&blocks.shapes[shape].iter().collect::<Vec<_>>());
        let block = linear(&blocks.outer.iter().collect::<Vec<_>>());
        let (shapes, most) = (blocks.shapes.len(), blocks.most_items());
        Self {
            of_all: format!("out{nest}[({block} * {shapes}u + {shape}u) * {most}u + {item}]"),
            item,
        }
    }
}

/// The number of an iteration of loops that are one in the other.
fn linear(counts: &[&Count]) -> String {
    let mut text = "0u".to_owned();
    for count in counts {
        let number = number(count);
        text = format!("({text} * {}u + {number})", count.most);
    }
    text
}

/// The number of an iteration, from 0.
fn number(count: &Count) -> String {
    let (name, first, step) = (&count.name, bound(&count.first), count.step);
    match step > 0 {
        true => format!("(unsigned)(({name} - {first}) / {step})"),
        false => format!("(unsigned)(({first} - {name}) / {})", -step),
    }
}

fn bound(bound: &Bound) -> String {
    match (&bound.of, bound.plus) {
        (None, plus) => plus.to_string(),
        (Some(name), 0) => name.clone(),
        (Some(name), plus) if plus > 0 => format!("({name} + {plus})"),
        (Some(name), plus) => format!("({name} - {})", -plus),
    }
}

fn write_loop(text: &mut Text, count: &Count, attribute: &str) {
    let Count { name, ty, step, .. } = count;
    let (first, limit) = (bound(&count.first), bound(&count.limit));
    let (up, down) = match count.is_inclusive {
        true => ("<=", ">="),
        false => ("<", ">"),
    };
    let is_up = *step > 0;
    let test = match count.is_flipped {
        false => format!("{name} {} {limit}", if is_up { up } else { down }),
        true => format!("{limit} {} {name}", if is_up { down } else { up }),
    };
    let change = match step {
        1 => format!("++{name}"),
        -1 => format!("{name}--"),
        step if *step > 0 => format!("{name} += {step}"),
        step => format!("{name} -= {}", -step),
    };
    let attribute = match (count.axis, attribute.split_once(' ')) {
        (None, _) => attribute.to_owned(),
        (Some(axis), None) => format!("{attribute}({axis})"),
        (Some(axis), Some((kind, rest))) => format!("{kind}({axis}) {rest}"),
    };
    // Both forms, by turns.
    match is_up == count.is_flipped {
        true => text.line(format!(
            "@{attribute} for ({ty} {name} = {first}; {test}; {change}) {{"
        )),
        false => text.line(format!(
            "for ({ty} {name} = {first}; {test}; {change}; @{attribute}) {{"
        )),
    }
}

/// A condition, with what is done where it holds and where it does not.
fn write_if(text: &mut Text, condition: &str, [then, otherwise]: [&[Statement]; 2], place: &Place) {
    text.line(format!("if ({condition}) {{"));
    write_statements(text, then, place);
    text.line("}");
    if !otherwise.is_empty() {
        text.line("else {");
        write_statements(text, otherwise, place);
        text.line("}");
    }
}

fn write_statements(text: &mut Text, statements: &[Statement], place: &Place) {
    let of = |one: &Expression| written(one, place);
    for statement in statements {
        match statement {
            Statement::Let(name, value) => text.line(format!("unsigned {name} = {};", of(value))),
            Statement::Array(name, cells) => text.line(format!("unsigned {name}[{cells}] = {{}};")),
            Statement::Set(name, operation, value) => {
                text.line(format!("{name} {}= {};", operation.sign(), of(value)));
            }
            Statement::Store(one, operation, value) => {
                let (one, value) = (cell(one, place), of(value));
                text.line(format!("{one} {}= {value};", operation.sign()));
            }
            Statement::Atomic(one, operation, value, is_block) => {
                let (one, value) = (cell(one, place), of(value));
                let what = format!("{one} {}= {value};", operation.sign());
                match is_block {
                    true => text.line(format!("@atomic {{ {what} }}")),
                    false => text.line(format!("@atomic {what}")),
                }
            }
            Statement::Both(both) => {
                let of = |one: &Statement| match one {
                    Statement::Atomic(one, operation, value, _) => {
                        let (one, value) = (cell(one, place), written(value, place));
                        format!("{one} {}= {value};", operation.sign())
                    }
                    _ => unreachable!("two updates"),
                };
                text.line(format!("@atomic {{ {} {} }}", of(&both[0]), of(&both[1])));
            }
            Statement::Accumulate(index, operation, value) => {
                let (index, value, sign) = (of(index), of(value), operation.sign());
                text.line(format!(
                    "@atomic real[{index} % {SUMS}u] {sign}= (double)({value} & {REAL_BITS}u);"
                ));
            }
            Statement::If(number, then, otherwise) => {
                write_if(
                    text,
                    &format!("{} % 3u", of(number)),
                    [then, otherwise],
                    place,
                );
            }
            Statement::Border(border, then, otherwise) => {
                write_if(text, &condition(border), [then, otherwise], place);
            }
            Statement::For(name, value, modulo, body) => {
                let limit = format!("(int)({} % {modulo}u)", of(value));
                text.line(format!(
                    "for (int {name} = 0; {name} < {limit}; ++{name}) {{"
                ));
                write_statements(text, body, place);
                text.line("}");
            }
            Statement::Together(name, times, body) => {
                text.line(format!(
                    "for (int {name} = 0; {name} < {times}; ++{name}) {{"
                ));
                write_statements(text, body, place);
                text.line("}");
            }
            Statement::Skip(condition) => {
                text.line(format!("if ({} % 4u == 1u) continue;", of(condition)));
            }
            Statement::Barrier => text.line("@barrier;"),
        }
    }
}

fn condition(border: &Border) -> String {
    let terms = border.sum.iter().map(|(name, by)| match by {
        1 => name.clone(),
        by => format!("{name} * {by}"),
    });
    let terms: Vec<_> = terms.collect();
    let limit = match border.is_signed {
        true => bound(&border.limit),
        false => format!("{}u", bound(&border.limit)),
    };
    format!("{} {} {limit}", terms.join(" + "), border.sign)
}

fn cell(one: &Cell, place: &Place) -> String {
    match &one.index {
        Index::Item => format!("{}[{}]", one.array, place.item),
        Index::ItemOfAll => place.of_all.clone(),
        Index::Modulo(index, cells) => {
            format!("{}[{} % {cells}u]", one.array, written(index, place))
        }
    }
}

/// An expression of a block, which has no cells of its own.
fn expression(one: &Expression, item: &str) -> String {
    let place = Place {
        item: item.to_owned(),
        of_all: String::new(),
    };
    written(one, &place)
}

fn written(one: &Expression, place: &Place) -> String {
    match one {
        Expression::Number(number) => format!("{number}u"),
        Expression::Name(name) => format!("(unsigned){name}"),
        Expression::Cell(one) => cell(one, place),
        Expression::Binary(sign, a, b) => {
            format!("({} {sign} {})", written(a, place), written(b, place))
        }
        Expression::Real(what, a, b) => {
            let of = |ty: &str, one| format!("({ty})({} & {REAL_BITS}u)", written(one, place));
            match what {
                Real::Halves => {
                    let (a, b) = (of("float", a), of("float", b));
                    format!("(unsigned)(({a} * 0.5f + {b}) * 2.0f)")
                }
                Real::Product => format!("(unsigned)({} * {})", of("float", a), of("float", b)),
                Real::Larger => format!("(unsigned)fmax({}, {})", of("double", a), of("double", b)),
                Real::Root => {
                    let sum = format!("({} + {})", of("double", a), of("double", b));
                    format!("(unsigned)sqrt({sum} * {sum})")
                }
                Real::Eighths => {
                    let (a, b) = (of("double", a), of("int", b));
                    format!("((unsigned)({a} / 8.0) + (unsigned)(double){b})")
                }
            }
        }
        Expression::Choose(parts) => {
            let [a, b, c, d] = parts.each_ref().map(|part| written(part, place));
            format!("({a} < {b} ? {c} : {d})")
        }
    }
}
