//! Worksharing loops whose iterations write a row each, in loops of their own: several one behind another, one in another, with
//! numbers of their own between, and bounds that depend on the row. What a row is made of may depend on its other elements, so
//! that turns of its loops are not always free.

use super::generator::Generator;
use super::objects::Object;
use super::worksharing::{barrier, schedule};

/// A row of an object: where its elements are, by the loops that go over it.
struct Row {
    object: Object,
    /// The number of the iteration.
    number: String,
    /// Turns of the loops.
    turns: Vec<usize>,
}

impl Row {
    fn len(&self) -> usize {
        self.turns.iter().product()
    }

    /// The element with this number in the row.
    fn at(&self, number: &str) -> String {
        let place = format!("({} * {} + {number})", self.number, self.len());
        self.object.at(&place)
    }
}

/// A worksharing loop over rows of an object. `construct` is `for` or `parallel for`; only the former may be `nowait`.
pub(crate) fn rows(g: &mut Generator, construct: &str, clauses: &str) {
    let Some(target) = g.take_for_writing(|object| object.len > 3) else {
        if construct == "for" {
            barrier(g);
        }
        return;
    };
    let object = g.objects[target].clone();
    let mut turns = vec![g.random.between(1, object.len.min(40))];
    if g.random.chance(50) {
        turns.push(g.random.between(1, (object.len / turns[0]).clamp(1, 12)));
    }
    let (i, nowait) = (g.name("i"), construct == "for" && g.random.chance(30));
    let row = Row {
        object,
        number: i.clone(),
        turns,
    };
    let nowait_clause = if nowait { " nowait" } else { "" };
    let schedule = schedule(g);
    g.line(format!(
        "#pragma omp {construct}{clauses}{nowait_clause}{schedule}"
    ));
    let count = row.object.len / row.len();
    g.line(format!("for (int {i} = 0; {i} < {count}; {i}++) {{"));
    let outside = g.atoms.len();
    g.atoms.push(format!("(u64){i}"));
    for _ in 0..g.random.between(1, 3) {
        part(g, &row);
    }
    g.atoms.truncate(outside);
    g.line("}");
    if !nowait {
        g.phase.barrier();
    }
}

/// Something that is done with a row.
fn part(g: &mut Generator, row: &Row) {
    match g.random.between(0, 9) {
        // One element.
        0 => {
            let element = row.at(&g.random.between(0, row.len() - 1).to_string());
            let value = g.value(2);
            g.line(format!(
                "{element} = {};",
                row.object.element.stored(&value)
            ));
        }
        // What is combined of all of them.
        1 | 2 => {
            let sum = g.name("sum");
            g.line(format!("u64 {sum} = 0;"));
            let operator = g.random.pick(&["+", "^", "|"]);
            over(g, row, |g, number| {
                let value = g.value(1);
                let element = row.at(number);
                g.line(format!("{sum} {operator}= (u64){element} + {value};"));
            });
            g.atoms.push(sum);
        }
        // Each from another one of the row.
        3 => {
            let by = g.random.between(0, 3);
            over(g, row, |g, number| {
                let other = row.at(&format!("(({number} + {by}) % {})", row.len()));
                write(g, row, number, &other);
            });
        }
        _ => over(g, row, |g, number| write(g, row, number, &row.at(number))),
    }
}

/// Writes an element by what may be read, and another element of the row.
fn write(g: &mut Generator, row: &Row, number: &str, other: &str) {
    let element = row.at(number);
    g.atoms.push(format!("(u64){other}"));
    let value = g.value(3);
    g.atoms.pop();
    if g.random.chance(20) {
        let condition = g.value(1);
        g.line(format!("if ({condition} & 1)"));
    }
    g.line(format!(
        "{element} = {};",
        row.object.element.stored(&value)
    ));
}

/// Loops over elements of a row, of whose number in it something is made.
fn over(g: &mut Generator, row: &Row, what: impl FnOnce(&mut Generator, &str)) {
    let outside = g.atoms.len();
    let mut number = String::new();
    for (at, &turns) in row.turns.iter().enumerate() {
        let j = g.name("j");
        let from = match g.random.between(0, 5) {
            0 => format!("{} % {turns}", row.number),
            1 => g.random.between(0, turns - 1).to_string(),
            _ => "0".to_owned(),
        };
        let head = match g.random.between(0, 7) {
            0 => format!("int {j} = {turns} - 1; {j} >= {from}; {j}--"),
            1 => format!("int {j} = {from}; {j} < {turns}; {j} += 2"),
            2 => format!("int {j} = {from}; {j} <= {} % {turns}; {j}++", row.number),
            3 => format!("long {j} = {from}; {j} < {turns}; {j}++"),
            _ => format!("int {j} = {from}; {j} < {turns}; {j}++"),
        };
        g.line(format!("for ({head}) {{"));
        if at > 0 && g.random.chance(15) {
            let (value, wanted) = (g.value(1), g.random.between(1, 3));
            g.line(format!("if (({value} & 3) == {wanted}) continue;"));
        }
        g.atoms.push(format!("(u64){j}"));
        number = match number.is_empty() {
            true => j,
            false => format!("({number} * {turns} + {j})"),
        };
    }
    what(g, &number);
    row.turns.iter().for_each(|_| g.line("}"));
    g.atoms.truncate(outside);
}
