//! Loops inside those that nests share which become one, where each of their iterations needs nothing of another one: what one
//! nest computes the next one has in a register then, and there are fewer loops to begin.
//!
//! Such loops go from and to the same numbers, where the same holds. They may be moved to where others are, past loops that have
//! nothing to do with them.
//!
//! Guarantee: of iterations that depend on each other at the same values of the loops around, the earlier one stays so: it is in
//! the same iteration of loops that have become one, in front of the later one, or in loops which stay in front of those that
//! have that.

use std::collections::HashMap;

use crate::code::{Code, Condition, Expression, If};
use crate::dependences::{Dependence, Kind};
use crate::guarded::serial;
use crate::isl::{Result, Set};
use crate::loops::sequence;
use crate::notation;
use crate::order::Order;

/// So many nests are in one loop at most: more have too much to keep.
const MOST: usize = 8;
/// Loops in a row of which some may become one are at most so many.
const MOST_IN_A_ROW: usize = 24;

/// Makes loops one where that can be. Returns the variables of the innermost of those, too.
pub(crate) fn join(order: &Order, code: Code) -> Result<(Code, Vec<usize>)> {
    let mut joining = Joining {
        order,
        known: HashMap::new(),
        joined: Vec::new(),
        variables: variables(&code),
    };
    let code = joining.code(code)?;
    Ok((code, joining.joined))
}

struct Joining<'a> {
    order: &'a Order<'a>,
    /// What has been found out of dependences, and of how far iterations are apart in each loop: in all turns of those that
    /// become one, or in those that have the same place.
    known: HashMap<(usize, Vec<(bool, i64)>), Relation>,
    joined: Vec<usize>,
    /// Numbers from this one on are of no variable.
    variables: usize,
}

/// A number that is larger than those of variables of loops.
fn variables(code: &Code) -> usize {
    match code {
        Code::Sequence(all) => all.iter().map(variables).max().unwrap_or(0),
        Code::For(one) => variables(&one.body).max(one.variable + 1),
        Code::If(one) => {
            let otherwise = one.otherwise.as_ref().map_or(0, variables);
            variables(&one.then).max(otherwise)
        }
        Code::Run { .. } => 0,
    }
}

/// Loops that run one nest, and where.
#[derive(Clone)]
struct Loops {
    condition: Option<Condition>,
    /// Variables, and from where to where they go, the outermost first.
    loops: Vec<(usize, Expression, Expression)>,
    nest: usize,
    iteration: Vec<Expression>,
}

impl Loops {
    fn of(code: &Code) -> Option<Self> {
        let (condition, mut code) = match code {
            Code::If(one) if one.otherwise.is_none() => (Some(one.condition.clone()), &one.then),
            code => (None, code),
        };
        let mut loops = Vec::new();
        while let Code::For(one) = code {
            if one.is_parallel || one.step != Expression::Constant(1) {
                return None;
            }
            loops.push((one.variable, one.first.clone(), one.last.clone()));
            code = &one.body;
        }
        let Code::Run { nest, iteration } = code else {
            return None;
        };
        (!loops.is_empty()).then(|| Self {
            condition,
            loops,
            nest: *nest,
            iteration: iteration.clone(),
        })
    }

    /// Whether it goes where another one goes.
    fn is_like(&self, other: &Self) -> bool {
        self.condition == other.condition && self.ends() == other.ends()
    }

    fn ends(&self) -> Vec<[&Expression; 2]> {
        let loops = self.loops.iter();
        loops.map(|(_, first, last)| [first, last]).collect()
    }

    /// A number of an iteration: which of its loops gives it, or what else, and a constant that is added.
    fn number(&self, at: usize) -> (Given<'_>, i64) {
        let (number, constant) = self.iteration[at].split();
        let own = |number: &Expression| {
            let variables = self.loops.iter();
            let is = |one: &(usize, _, _)| *number == Expression::Variable(one.0);
            { variables }.position(is)
        };
        (
            own(number).map_or(Given::Else(number), Given::Own),
            constant,
        )
    }

    /// Its iteration where other loops have the place of its own.
    fn within(&self, loops: &[(usize, Expression, Expression)]) -> Vec<Expression> {
        let number = |at: usize| match self.number(at) {
            (Given::Own(own), constant) => {
                let variable = Expression::Variable(loops[own].0);
                Expression::sum(variable, Expression::Constant(constant))
            }
            (Given::Else(_), _) => self.iteration[at].clone(),
        };
        (0..self.iteration.len()).map(number).collect()
    }
}

/// What a number of an iteration is, but for a constant.
#[derive(PartialEq)]
enum Given<'e> {
    Own(usize),
    Else(&'e Expression),
}

/// What loops have to do with each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Nothing,
    /// Iterations depend on each other that would be one.
    Near,
    Far,
}

impl Joining<'_> {
    fn code(&mut self, code: Code) -> Result<Code> {
        Ok(match code {
            Code::Sequence(all) => {
                let all = all.into_iter().map(|one| self.code(one));
                let all = all.collect::<Result<_>>()?;
                self.in_a_row(all)?
            }
            Code::For(mut one) => {
                one.body = self.code(one.body)?;
                Code::For(one)
            }
            Code::If(mut one) => {
                one.then = self.code(one.then)?;
                let otherwise = one.otherwise.take();
                one.otherwise = otherwise.map(|code| self.code(code)).transpose()?;
                Code::If(one)
            }
            run => run,
        })
    }

    fn relation(&mut self, one: &Loops, other: &Loops) -> Result<Relation> {
        let mut relation = Relation::Nothing;
        // Where LLVM cannot be told that iterations are independent, it has more to ask the more there is in a loop.
        let nests = [one.nest, other.nest].map(|nest| &self.order.chain.nests[nest].accesses);
        let uses = |space: usize| {
            nests
                .iter()
                .any(|its| its.iter().any(|one| one.space == space))
        };
        let mut pairs = self.order.chain.may_overlap.iter();
        if pairs.any(|pair| uses(pair.0) && uses(pair.1)) {
            return Ok(Relation::Far);
        }
        for (number, dependence) in self.order.dependences.iter().enumerate() {
            let sign = match (dependence.from, dependence.to) {
                both if both == (one.nest, other.nest) => 1,
                both if both == (other.nest, one.nest) => -1,
                _ => continue,
            };
            let rank = one.iteration.len();
            if dependence.kind == Kind::Combine || rank != other.iteration.len() {
                return Ok(Relation::Far);
            }
            let mut apart = Vec::new();
            for at in 0..rank {
                let ((given, first), (its, second)) = (one.number(at), other.number(at));
                if given != its {
                    return Ok(Relation::Far);
                }
                apart.push((matches!(given, Given::Own(_)), sign * (second - first)));
            }
            let key = (number, apart);
            let its = match self.known.get(&key) {
                Some(known) => *known,
                None => {
                    let found = of_dependence(self.order, dependence, &key.1)?;
                    *self.known.entry(key).or_insert(found)
                }
            };
            relation = relation.max(its);
        }
        Ok(relation)
    }

    /// What follows each other, with loops that are one.
    fn in_a_row(&mut self, all: Vec<Code>) -> Result<Code> {
        let known: Option<Vec<_>> = all.iter().map(Loops::of).collect();
        let Some(known) = known.filter(|known| (2..=MOST_IN_A_ROW).contains(&known.len())) else {
            return Ok(sequence(all));
        };
        let mut relations = vec![vec![Relation::Nothing; known.len()]; known.len()];
        for (later, other) in known.iter().enumerate() {
            for (earlier, one) in known[..later].iter().enumerate() {
                relations[earlier][later] = self.relation(one, other)?;
            }
        }
        let clusters = clusters(&known, &relations);
        let mut codes: Vec<Option<Code>> = all.into_iter().map(Some).collect();
        let mut row = Vec::new();
        let mut rest = &clusters[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at(in_common(&known, &relations, rest));
            rest = others;
            let mut apart = Vec::new();
            for cluster in some {
                apart.push(match cluster[..] {
                    [number] => codes[number].take().expect("each is in one cluster"),
                    ref several => self.one(several.iter().map(|&one| &known[one]).collect()),
                });
            }
            if some.len() == 1 {
                row.extend(apart);
                continue;
            }
            let all = some.iter().flatten().map(|&one| &known[one]).collect();
            let Code::If(mut one) = self.one(all) else {
                unreachable!("they do not always run");
            };
            one.otherwise = Some(sequence(apart));
            row.push(Code::If(one));
        }
        Ok(sequence(row))
    }

    /// The same loops for several nests, where all of them run.
    fn one(&mut self, all: Vec<&Loops>) -> Code {
        let loops = all[0].loops.iter().map(|(_, first, last)| {
            self.variables += 1;
            (self.variables - 1, first.clone(), last.clone())
        });
        let loops: Vec<_> = loops.collect();
        let runs = all.iter().map(|one| Code::Run {
            nest: one.nest,
            iteration: one.within(&loops),
        });
        let runs = Code::Sequence(runs.collect());
        self.joined.extend(loops.last().map(|one| one.0));
        let loops = loops.into_iter().rev();
        let code = loops.fold(runs, |body, (variable, first, last)| {
            serial(variable, first, last, body)
        });
        let conditions = all.iter().filter_map(|one| one.condition.clone());
        match Condition::all(conditions.collect()) {
            Condition::Constant(true) => code,
            condition => Code::If(Box::new(If {
                condition,
                then: code,
                otherwise: None,
            })),
        }
    }
}

/// How many clusters at the beginning of a row go from and to the same numbers, and have so much to do with each other that they
/// become one where all of them run.
fn in_common(known: &[Loops], relations: &[Vec<Relation>], row: &[Vec<usize>]) -> usize {
    let relation = |one: usize, other: usize| most(relations, &row[one], &row[other]);
    let first = |at: usize| &known[row[at][0]];
    let fits = |at: usize| {
        let nests = row[..=at].iter().map(Vec::len).sum::<usize>();
        let is_far = (0..at).any(|one| relation(one, at) == Relation::Far);
        nests <= MOST && !is_far && first(0).ends() == first(at).ends()
    };
    let mut count = 1 + (1..row.len()).take_while(|&at| fits(at)).count();
    let is_used = |at: usize| (0..at).any(|one| relation(one, at) == Relation::Near);
    while count > 1 && !is_used(count - 1) {
        count -= 1;
    }
    let is_needed = (1..count).any(|at| relation(0, at) == Relation::Near);
    let mut others = (1..count).map(first);
    match is_needed && others.any(|one| one.condition != first(0).condition) {
        true => count,
        false => 1,
    }
}

/// What of some has the most to do with some of others that follow.
fn most(relations: &[Vec<Relation>], some: &[usize], others: &[usize]) -> Relation {
    let both = some
        .iter()
        .flat_map(|&a| others.iter().map(move |&b| relations[a][b]));
    both.max().unwrap_or(Relation::Nothing)
}

/// What a dependence has iterations that are so far apart have to do with each other.
fn of_dependence(
    order: &Order,
    dependence: &Dependence,
    apart: &[(bool, i64)],
) -> Result<Relation> {
    let numbers = apart.iter().enumerate();
    let same = { numbers.clone() }.filter(|(_, (is_own, _))| !is_own);
    let same = same.map(|(at, (_, distance))| format!("q{at} = {distance}"));
    let differ = numbers.filter(|(_, (is_own, _))| *is_own);
    let differ: Vec<_> = differ
        .map(|(at, (_, distance))| format!("q{at} != {distance}"))
        .collect();
    let set = |conditions: String| {
        let header = notation::header(order.chain, &[]);
        let tuple = notation::tuple("q", apart.len());
        Set::read(&order.isl, &format!("{header}{{ {tuple} : {conditions} }}"))
    };
    let found = dependence.map.clone().deltas()?;
    let found = found.intersect(set(notation::all(same))?)?;
    Ok(match () {
        () if found.is_empty()? => Relation::Nothing,
        // A loop that does nothing else than repeat itself.
        () if differ.is_empty() => Relation::Far,
        () if found.intersect(set(differ.join(" or "))?)?.is_empty()? => Relation::Near,
        () => Relation::Far,
    })
}

/// Which loops become one, in an order in which each stays behind whatever it needs.
fn clusters(known: &[Loops], relations: &[Vec<Relation>]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let most = |some: &[usize], others: &[usize]| most(relations, some, others);
    for (number, its) in known.iter().enumerate() {
        let fits = |at: &usize| {
            let cluster = &clusters[*at];
            // What is behind it by way of others.
            let mut behind = vec![*at];
            let mut next = 0;
            while let Some(&one) = behind.get(next) {
                next += 1;
                for other in 0..clusters.len() {
                    let follows = most(&clusters[one], &clusters[other]) != Relation::Nothing;
                    if follows && !behind.contains(&other) {
                        behind.push(other);
                    }
                }
            }
            let mut others = behind[1..].iter();
            cluster.len() < MOST
                && known[cluster[0]].is_like(its)
                && most(cluster, &[number]) == Relation::Near
                && others.all(|&one| most(&clusters[one], &[number]) == Relation::Nothing)
        };
        match (0..clusters.len()).rev().find(fits) {
            Some(at) => clusters[at].push(number),
            None => clusters.push(vec![number]),
        }
    }
    let mut done = vec![false; clusters.len()];
    let mut row = Vec::new();
    while row.len() < clusters.len() {
        let waits = |at: usize| {
            let is_open = |other: &usize| !done[*other] && *other != at;
            let mut open = (0..clusters.len()).filter(is_open);
            open.any(|other| most(&clusters[other], &clusters[at]) != Relation::Nothing)
        };
        let next = (0..clusters.len()).find(|&at| !done[at] && !waits(at));
        let next = next.expect("what becomes one keeps the others in an order");
        done[next] = true;
        row.push(clusters[next].clone());
    }
    row
}
