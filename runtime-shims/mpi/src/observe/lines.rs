//! What each source line cost: barriers, reductions, locks, loops that declare what they access, and
//! instructions that take page faults.

use std::collections::HashMap;

use super::{
    Place,
    costs::{self, Costs},
    regions,
};
use crate::{cell::ProgramCell, mpi_job};

/// Most lines printed.
const MOST: usize = 16;

struct Lines {
    known: Option<HashMap<Place, Costs>>,
    /// Costs of what ended inside what goes on: a page fault inside a reduction is the fault's.
    inner: Costs,
}

static LINES: ProgramCell<Lines> = ProgramCell::new(Lines {
    known: None,
    inner: Costs::NONE,
});

/// The costs when something began.
pub(crate) struct Before {
    so_far: Costs,
    inner: Costs,
}

/// Something begins that a line will be charged for.
pub(crate) fn begin() -> Before {
    let so_far = regions::so_far();
    let inner = LINES.with(|lines| std::mem::replace(&mut lines.inner, Costs::NONE));
    Before { so_far, inner }
}

/// It ends after `spent` nanoseconds, and was at `place`.
pub(crate) fn end(place: Place, before: Before, spent: u64) {
    let all = regions::so_far().minus(before.so_far).with_inside(spent);
    let own = LINES.with(|lines| {
        let own = all.minus(lines.inner);
        lines.inner = before.inner.plus(all);
        let costs = lines.known.get_or_insert_default().entry(place);
        let costs = costs.or_insert(Costs::NONE);
        *costs = costs.plus(own.with_runs(1));
        own
    });
    regions::was_inside(own.inside());
}

/// Of what goes on, `spent` nanoseconds were not the runtime's.
pub(crate) fn not_inside(spent: u64) {
    LINES.with(|lines| {
        let inside = lines.inner.inside() + spent;
        lines.inner = lines.inner.with_inside(inside);
    });
}

/// The costs of each line, the most first: sums over all ranks, on rank 0. Collective.
pub(super) fn sums() -> Vec<(String, Costs)> {
    let known = LINES.with(|lines| lines.known.take()).unwrap_or_default();
    let mut by_line: HashMap<String, Costs> = HashMap::new();
    let mut add = |line: String, costs: Costs| {
        let sum = by_line.entry(line).or_insert(Costs::NONE);
        *sum = sum.plus(costs);
    };
    for (place, costs) in known {
        add(place.text(), costs);
    }
    if mpi_job::rank() != 0 {
        mpi_job::send(encode(&by_line).as_bytes(), 0);
        return Vec::new();
    }
    for rank in 1..mpi_job::ranks() {
        for (line, costs) in decode(&String::from_utf8_lossy(&mpi_job::receive(rank))) {
            add(line, costs);
        }
    }
    let mut lines: Vec<(String, Costs)> = by_line.into_iter().collect();
    lines.sort_by(|a, b| {
        let by_weight = b.1.weight().cmp(&a.1.weight());
        by_weight.then_with(|| a.0.cmp(&b.0))
    });
    lines
}

/// A table of those that cost most.
pub(super) fn table(lines: &[(String, Costs)]) -> String {
    let title = match lines.len() {
        0..=MOST => "source lines".to_owned(),
        all => format!("source lines, the first {MOST} of {all}"),
    };
    let rows = lines.iter().take(MOST);
    costs::table(&title, rows.map(|(line, costs)| (costs, &line[..])))
}

fn encode(lines: &HashMap<String, Costs>) -> String {
    let row = |(line, costs): (&String, &Costs)| {
        let numbers: Vec<String> = costs.words().iter().map(u64::to_string).collect();
        format!("{} {line}\n", numbers.join(" "))
    };
    lines.iter().map(row).collect()
}

fn decode(text: &str) -> impl Iterator<Item = (String, Costs)> {
    text.lines().map(|row| {
        let mut fields = row.splitn(Costs::WORDS + 1, ' ');
        let numbers = fields.by_ref().take(Costs::WORDS);
        let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap_or(0)).collect();
        let line = fields.next().unwrap_or_default();
        (line.to_owned(), Costs::from_words(&numbers))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_travel_with_their_costs() {
        let costs = Costs::from_words(&Vec::from_iter(1..=Costs::WORDS as u64));
        let lines = HashMap::from([
            ("x.c:3".to_owned(), costs),
            ("in function f (prog)".to_owned(), Costs::NONE),
        ]);
        let back: HashMap<String, Costs> = decode(&encode(&lines)).collect();
        assert_eq!(back, lines);
    }
}
