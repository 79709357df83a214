//! The loops of an order.
//!
//! Loops over tiles are made here, since the sizes of tiles may be known at run time only, which isl cannot do; they run
//! through a box of tiles. Those through the iterations of nests are isl's: where they are in a tile, its first and last
//! coordinates are parameters there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::code::{Code, Condition, Expression, For, If};
use crate::isl::{self, ExpressionKind, Failed, Node, NodeKind, Operation, Result, Set};
use crate::legality;
use crate::model::Affine;
use crate::notation;
use crate::order::{Group, Order, Piece, Size, Steps, Walk};
use crate::storage::Buffer;
use crate::{blocks, overlap};

/// Iterations of a nest may be in so many places of the code, on average, where loops are split so that nothing is asked
/// within them.
const PLACES: usize = 12;

/// Operations of isl's that it may need to split loops: some tenths of a second.
const SPLITTING: u64 = 200_000;

/// The same for loops that are split as little as can be.
const LEAST_SPLITTING: u64 = 1_000_000;

/// What names in isl's expressions stand for, but for parameters of the chain.
#[derive(Clone, Default)]
pub struct Names(HashMap<String, Expression>);

/// Numbers from the first to the last one.
pub(crate) type Range = (Expression, Expression);

/// The loops of an order, and the buffers that they bring along.
pub fn of(order: &Order) -> Result<(Code, Vec<Buffer>)> {
    let mut emission = Emission {
        order,
        variables: 0,
        combines: BTreeMap::new(),
        buffers: Vec::new(),
    };
    let mut all = Vec::new();
    for group in &order.groups {
        emission.combines = legality::combines(order, group)?;
        let anywhere = vec![None; group.depth];
        all.push(emission.group(group, &group.walk, &anywhere)?);
    }
    Ok((sequence(all), emission.buffers))
}

/// One after the other.
pub(crate) fn sequence(all: Vec<Code>) -> Code {
    let mut flat = Vec::new();
    for one in all {
        match one {
            Code::Sequence(more) => flat.extend(more),
            one => flat.push(one),
        }
    }
    match flat.len() {
        1 => flat.remove(0),
        _ => Code::Sequence(flat),
    }
}

/// The loops that are made so far.
pub(crate) struct Emission<'a> {
    pub order: &'a Order<'a>,
    variables: usize,
    combines: BTreeMap<usize, BTreeSet<usize>>,
    /// Buffers that they bring along.
    pub buffers: Vec<Buffer>,
}

/// One of the ends.
type Pick = fn(&Range) -> &Expression;

/// What is run at values of loops.
type Body<'b> = &'b mut dyn FnMut(&mut Emission, Vec<Expression>) -> Result<Code>;

impl Emission<'_> {
    /// A number for a loop's variable.
    pub fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    fn combines(&self, walk: usize) -> Vec<usize> {
        self.combines
            .get(&walk)
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }

    /// The coordinates of a group that are in `within`, where that is said, in the order of a walk.
    fn group(&mut self, group: &Group, walk: &Walk, within: &[Option<Range>]) -> Result<Code> {
        if let Steps::Blocks(blocks) = &walk.what {
            return blocks::loops(self, group, blocks);
        }
        if let Steps::Overlap(overlap) = &walk.what {
            return overlap::loops(self, group, walk.number, overlap);
        }
        if let Steps::Tiled(sizes, over, inner) = &walk.what {
            let mut ranges = Vec::new();
            let mut begins = Vec::new();
            for (at, &size) in sizes.iter().enumerate() {
                let (mut first, mut last) = self.bounds(group, at)?;
                let begin = match &within[at] {
                    Some((begin, end)) => {
                        first = Expression::largest(vec![first, begin.clone()]);
                        last = Expression::least(vec![last, end.clone()]);
                        begin.clone()
                    }
                    None => Expression::Constant(0),
                };
                let tile = |value| {
                    Expression::quotient(
                        Expression::difference(value, begin.clone()),
                        of_size(size),
                    )
                };
                ranges.push((tile(first), tile(last)));
                begins.push(begin);
            }
            let mut body = |this: &mut Emission, tiles: Vec<Expression>| {
                let mut smaller = within.to_vec();
                for (at, tile) in tiles.into_iter().enumerate() {
                    let first = Expression::product(tile, of_size(sizes[at]));
                    let first = Expression::sum(first, begins[at].clone());
                    let mut last = end_of(&first, sizes[at]);
                    if let Some((_, end)) = &within[at] {
                        last = Expression::least(vec![last, end.clone()]);
                    }
                    smaller[at] = Some((first, last));
                }
                this.group(group, inner, &smaller)
            };
            return self.boxed(over, &ranges, &mut body);
        }
        if group
            .parts
            .iter()
            .all(|part| matches!(part.piece, Piece::Nest(_)))
        {
            return self.nests(group, walk, within);
        }
        let mut ranges = Vec::new();
        for (at, within) in within.iter().enumerate() {
            let (first, last) = self.bounds(group, at)?;
            ranges.push(match within.clone() {
                Some((begin, end)) => (
                    Expression::largest(vec![first, begin]),
                    Expression::least(vec![last, end]),
                ),
                None => (first, last),
            });
        }
        let mut body = |this: &mut Emission, coordinates: Vec<Expression>| {
            let parts = group.parts.iter().map(|part| {
                let Piece::Tiles(sizes, inner) = &part.piece else {
                    return Err(Failed::Error);
                };
                let mut tile = vec![None; inner.depth];
                for (at, &size) in sizes.iter().enumerate() {
                    let number = Expression::difference(
                        coordinates[at].clone(),
                        Expression::of(&part.shift[at], &[]),
                    );
                    let first = Expression::product(number, of_size(size));
                    let last = end_of(&first, size);
                    tile[at] = Some((first, last));
                }
                this.group(inner, &inner.walk, &tile)
            });
            Ok(sequence(parts.collect::<Result<_>>()?))
        };
        self.boxed(walk, &ranges, &mut body)
    }

    /// The first and last coordinate of a group in a dimension: there may be less.
    fn bounds(&self, group: &Group, at: usize) -> Result<Range> {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for part in &group.parts {
            let (least, largest) = match &part.piece {
                Piece::Nest(nest) => ends(
                    self.order,
                    *nest,
                    &legality::coordinate(self.order, part, *nest, at),
                )?,
                Piece::Tiles(sizes, inner) => {
                    let shift =
                        Expression::of(part.shift.get(at).unwrap_or(&Affine::default()), &[]);
                    let Some(&size) = sizes.get(at) else {
                        first.push(shift.clone());
                        last.push(shift);
                        continue;
                    };
                    let (least, largest) = self.bounds(inner, at)?;
                    let tile = |value| {
                        Expression::sum(Expression::quotient(value, of_size(size)), shift.clone())
                    };
                    (tile(least), tile(largest))
                }
            };
            first.push(least);
            last.push(largest);
        }
        Ok((Expression::least(first), Expression::largest(last)))
    }

    /// Loops through a box, in the order of a walk.
    fn boxed(&mut self, walk: &Walk, ranges: &[Range], body: Body) -> Result<Code> {
        match &walk.what {
            Steps::Serial => self.nested(ranges, None, body),
            Steps::Parallel => self.nested(ranges, Some(self.combines(walk.number)), body),
            Steps::Wavefront(factors) => {
                self.front(factors, self.combines(walk.number), ranges, body)
            }
            // They are of nests alone.
            Steps::Blocks(_) | Steps::Overlap(_) => Err(Failed::Error),
            Steps::Tiled(sizes, over, within) => {
                let tile = |range: &Range, size: Size| {
                    let of =
                        |value: &Expression| Expression::quotient(value.clone(), of_size(size));
                    (of(&range.0), of(&range.1))
                };
                let outer: Vec<_> = ranges
                    .iter()
                    .zip(sizes)
                    .map(|(range, &size)| tile(range, size))
                    .collect();
                let mut inside = |this: &mut Emission, tiles: Vec<Expression>| {
                    let mut smaller = ranges.to_vec();
                    for ((range, tile), &size) in smaller.iter_mut().zip(tiles).zip(sizes) {
                        let first = Expression::product(tile, of_size(size));
                        let last = end_of(&first, size);
                        range.0 = Expression::largest(vec![range.0.clone(), first]);
                        range.1 = Expression::least(vec![range.1.clone(), last]);
                    }
                    this.boxed(within, &smaller, body)
                };
                self.boxed(over, &outer, &mut inside)
            }
        }
    }

    /// Loops one in the other.
    fn nested(
        &mut self,
        ranges: &[Range],
        parallel: Option<Vec<usize>>,
        body: Body,
    ) -> Result<Code> {
        let variables: Vec<_> = ranges.iter().map(|_| self.variable()).collect();
        let inner = body(
            self,
            variables
                .iter()
                .copied()
                .map(Expression::Variable)
                .collect(),
        )?;
        let mut parallel = parallel;
        let loops = ranges.iter().zip(variables).enumerate().rev();
        Ok(loops.fold(inner, |inner, (at, ((first, last), variable))| {
            let combines = if at == 0 { parallel.take() } else { None };
            Code::For(Box::new(For {
                variable,
                first: first.clone(),
                last: last.clone(),
                step: Expression::Constant(1),
                is_parallel: combines.is_some(),
                combines: combines.unwrap_or_default(),
                body: inner,
            }))
        }))
    }

    /// A loop over sums of coordinates times factors, and in it those over all coordinates but the first one.
    fn front(
        &mut self,
        factors: &[i64],
        combines: Vec<usize>,
        ranges: &[Range],
        body: Body,
    ) -> Result<Code> {
        let times = |factor: i64, value: &Expression| {
            Expression::product(Expression::Constant(factor), value.clone())
        };
        let of_all = |pick: Pick, but: &dyn Fn(usize) -> bool| {
            let ours = ranges
                .iter()
                .zip(factors)
                .enumerate()
                .filter(|one| !but(one.0));
            let terms = ours.map(|(_, (range, &factor))| times(factor, pick(range)));
            terms.fold(Expression::Constant(0), Expression::sum)
        };
        let (first_of, last_of): (Pick, Pick) = (|range| &range.0, |range| &range.1);
        let front = self.variable();
        let mut left = Expression::Variable(front);
        let mut loops = Vec::new();
        for at in 1..ranges.len() {
            // What the coordinates that are not known yet, without this one, can come to.
            let is_known = |other: usize| (1..=at).contains(&other);
            let (least, largest) = (of_all(first_of, &is_known), of_all(last_of, &is_known));
            let factor = factors[at];
            // The first one is the quotient rounded up.
            let first = Expression::sum(
                Expression::difference(left.clone(), largest),
                Expression::Constant(factor - 1),
            );
            let first = Expression::quotient(first, Expression::Constant(factor));
            let last = Expression::quotient(
                Expression::difference(left.clone(), least),
                Expression::Constant(factor),
            );
            let variable = self.variable();
            loops.push((
                variable,
                Expression::largest(vec![ranges[at].0.clone(), first]),
                Expression::least(vec![ranges[at].1.clone(), last]),
            ));
            left = Expression::difference(left, times(factor, &Expression::Variable(variable)));
        }
        let factor = factors[0];
        let mut coordinates = vec![Expression::quotient(
            left.clone(),
            Expression::Constant(factor),
        )];
        coordinates.extend(loops.iter().map(|one| Expression::Variable(one.0)));
        let mut inner = body(self, coordinates)?;
        if factor != 1 {
            let rest = Expression::Modulo(left.into(), Expression::Constant(factor).into());
            inner = Code::If(Box::new(If {
                condition: Condition::Equal(rest, Expression::Constant(0)),
                then: inner,
                otherwise: None,
            }));
        }
        for (at, (variable, first, last)) in loops.into_iter().enumerate().rev() {
            inner = Code::For(Box::new(For {
                variable,
                first,
                last,
                step: Expression::Constant(1),
                is_parallel: at == 0,
                combines: if at == 0 {
                    combines.clone()
                } else {
                    Vec::new()
                },
                body: inner,
            }));
        }
        Ok(Code::For(Box::new(For {
            variable: front,
            first: of_all(first_of, &|_| false),
            last: of_all(last_of, &|_| false),
            step: Expression::Constant(1),
            is_parallel: false,
            combines: Vec::new(),
            body: inner,
        })))
    }

    /// Iterations of nests, by isl.
    fn nests(&mut self, group: &Group, walk: &Walk, within: &[Option<Range>]) -> Result<Code> {
        let schedule = Schedule::new(self.order, group, &walk.what, within, None);
        let mut names = Names::default();
        for (at, range) in within.iter().enumerate() {
            if let Some((first, last)) = range {
                names.0.insert(format!("l{at}"), first.clone());
                names.0.insert(format!("h{at}"), last.clone());
            }
        }
        let code = self.partial(&schedule, &names, walk.number, group.parts.len())?;
        let is_simple = places(&code) == group.parts.len() && !asks(&code);
        if is_simple || within.iter().any(Option::is_none) {
            return Ok(code);
        }
        // Tiles that are in all nests need no questions.
        let Some(full) = self.full(&schedule)? else {
            return Ok(code);
        };
        let context = Set::read(&self.order.isl, &schedule.context)?;
        let Some((condition, node)) = self.order.isl.within(SPLITTING, || {
            let condition = full.clone().condition(context.clone())?;
            let context = context.intersect(full)?;
            Ok((
                condition,
                Node::of_schedule(context, &schedule.text("{ }"))?,
            ))
        })?
        else {
            return Ok(code);
        };
        Ok(Code::If(Box::new(If {
            condition: self::condition(&condition, &names)?,
            then: self.node(&node, &names, walk.number, false)?,
            otherwise: Some(code),
        })))
    }

    /// Iterations of nests in a tile, and as many more as are said of each part and in each dimension, one after the other.
    pub fn in_tile(
        &mut self,
        group: &Group,
        walk: usize,
        tile: &[Range],
        more: &[Vec<(i64, i64)>],
    ) -> Result<Code> {
        let mut within: Vec<_> = tile.iter().cloned().map(Some).collect();
        within.resize(group.depth, None);
        let schedule = Schedule::new(self.order, group, &Steps::Serial, &within, Some(more));
        let mut names = Names::default();
        for (at, (first, last)) in tile.iter().enumerate() {
            names.0.insert(format!("l{at}"), first.clone());
            names.0.insert(format!("h{at}"), last.clone());
        }
        self.partial(&schedule, &names, walk, group.parts.len())
    }

    /// Loops through all of it: split so that nothing is asked within them, where that is not too much.
    fn partial(
        &mut self,
        schedule: &Schedule,
        names: &Names,
        walk: usize,
        nests: usize,
    ) -> Result<Code> {
        let isl = self.order.isl.clone();
        let context = Set::read(&isl, &schedule.context)?;
        let variables = self.variables;
        for options in ["{ separate[x] }", "{ }"] {
            let text = schedule.text(options);
            let node = isl.within(SPLITTING, || Node::of_schedule(context.clone(), &text))?;
            let code = node
                .map(|node| self.node(&node, names, walk, false))
                .transpose()?;
            if let Some(code) = code.filter(|code| places(code) <= PLACES * nests) {
                return Ok(code);
            }
            self.variables = variables;
        }
        let text = schedule.text("{ atomic[x] }");
        let node = isl.within(LEAST_SPLITTING, || Node::of_schedule(context, &text))?;
        self.node(&node.ok_or(Failed::Operations)?, names, walk, false)
    }

    /// Which tiles have an iteration of each nest everywhere; None where there are no such tiles.
    fn full(&self, schedule: &Schedule) -> Result<Option<Set>> {
        let isl = &self.order.isl;
        let full = isl.within(SPLITTING, || {
            let mut full = Set::read(isl, &schedule.context)?;
            for nest in &schedule.images {
                let inside = Set::read(isl, &schedule.tile)?;
                let missing = inside.subtract(Set::read(isl, nest)?)?;
                full = full.subtract(missing.parameters()?)?;
            }
            full.coalesce()
        })?;
        match full {
            Some(full) if !full.is_empty()? => Ok(Some(full)),
            _ => Ok(None),
        }
    }

    fn node(&mut self, node: &Node, names: &Names, walk: usize, is_parallel: bool) -> Result<Code> {
        match node.kind()? {
            NodeKind::Block(all) => {
                let all = all
                    .iter()
                    .map(|one| self.node(one, names, walk, is_parallel));
                Ok(sequence(all.collect::<Result<_>>()?))
            }
            NodeKind::Mark(name, below) => self.node(&below, names, walk, name == "parallel"),
            NodeKind::User(call) => {
                let ExpressionKind::Operation(Operation::Call, arguments) = call.kind()? else {
                    return Err(Failed::Error);
                };
                let (name, arguments) = arguments.split_first().ok_or(Failed::Error)?;
                let ExpressionKind::Name(name) = name.kind()? else {
                    return Err(Failed::Error);
                };
                let nest = name
                    .strip_prefix('S')
                    .and_then(|number| number.parse().ok());
                let iteration = arguments.iter().map(|one| expression(one, names));
                Ok(Code::Run {
                    nest: nest.ok_or(Failed::Error)?,
                    iteration: iteration.collect::<Result<_>>()?,
                })
            }
            NodeKind::If {
                condition: asked,
                then,
                otherwise,
            } => {
                let then = self.node(&then, names, walk, is_parallel)?;
                let otherwise = match otherwise {
                    Some(otherwise) => Some(self.node(&otherwise, names, walk, is_parallel)?),
                    None => None,
                };
                let condition = condition(&asked, names)?;
                Ok(Code::If(Box::new(If {
                    condition,
                    then,
                    otherwise,
                })))
            }
            NodeKind::For {
                variable,
                first,
                condition,
                step,
                is_degenerate,
                body,
            } => {
                let first = expression(&first, names)?;
                let mut names = names.clone();
                if is_degenerate {
                    names.0.insert(variable, first);
                    return self.node(&body, &names, walk, false);
                }
                let ours = self.variable();
                names.0.insert(variable.clone(), Expression::Variable(ours));
                let last = last(&condition, &variable, &names)?;
                let step = expression(&step, &names)?;
                let body = self.node(&body, &names, walk, false)?;
                Ok(Code::For(Box::new(For {
                    variable: ours,
                    first,
                    last,
                    step,
                    is_parallel,
                    combines: if is_parallel {
                        self.combines(walk)
                    } else {
                        Vec::new()
                    },
                    body,
                })))
            }
        }
    }
}

/// The least and the largest value of a number at iterations of a nest. Where there is no iteration, they are any numbers.
pub fn ends(order: &Order, nest: usize, number: &Affine) -> Result<Range> {
    let chain = order.chain;
    let header = notation::header(chain, &[]);
    let mut conditions = notation::known(chain);
    let context = format!("{header}{{ : {} }}", notation::all(conditions.clone()));
    conditions.extend(notation::domain(&chain.nests[nest]));
    conditions.push(format!("c = {}", notation::affine(number, "i")));
    let text = notation::exists(chain, "c", chain.nests[nest].bounds.len(), &conditions);
    let set = Set::read(&order.isl, &text)?;
    // Where there is no iteration isl has no number, and any will do.
    let context = Set::read(&order.isl, &context)?.intersect(set.clone().parameters()?)?;
    if context.is_empty()? {
        return Ok((Expression::Constant(0), Expression::Constant(-1)));
    }
    let least = set.least_expression(0, context.clone())?;
    let largest = set.largest_expression(0, context)?;
    let names = Names::default();
    Ok((expression(&least, &names)?, expression(&largest, &names)?))
}

/// How many places of code there are in which iterations of nests are run.
fn places(code: &Code) -> usize {
    match code {
        Code::Sequence(all) => all.iter().map(places).sum(),
        Code::For(looped) => places(&looped.body),
        Code::If(choice) => places(&choice.then) + choice.otherwise.as_ref().map_or(0, places),
        Code::Run { .. } => 1,
    }
}

/// Whether anything is asked.
fn asks(code: &Code) -> bool {
    match code {
        Code::Sequence(all) => all.iter().any(asks),
        Code::For(looped) => asks(&looped.body),
        Code::If(_) => true,
        Code::Run { .. } => false,
    }
}

fn of_size(size: Size) -> Expression {
    match size {
        Size::Constant(size) => Expression::Constant(size),
        Size::Parameter(number) => Expression::Parameter(number),
    }
}

/// The last coordinate of a tile.
fn end_of(first: &Expression, size: Size) -> Expression {
    let behind = Expression::sum(first.clone(), of_size(size));
    Expression::sum(behind, Expression::Constant(-1))
}

/// A schedule tree in isl's notation.
struct Schedule {
    context: String,
    header: String,
    domain: String,
    /// Loops that all share: numbers of all nests in each.
    shared: Vec<String>,
    /// Which of them is parallel.
    parallel: Option<usize>,
    /// Nests, and the loops that each has on its own.
    nests: Vec<(String, Vec<String>)>,
    /// The coordinates of a tile.
    tile: String,
    /// The coordinates at which each nest has iterations.
    images: Vec<String>,
}

impl Schedule {
    /// In what is `within`; where parts have `more` of it, on their own, and as the iteration variables are.
    fn new(
        order: &Order,
        group: &Group,
        steps: &Steps,
        within: &[Option<Range>],
        more: Option<&[Vec<(i64, i64)>]>,
    ) -> Self {
        let chain = order.chain;
        let inside = within.iter().enumerate().filter(|one| one.1.is_some());
        let inside: Vec<_> = inside.map(|one| one.0).collect();
        let ends = inside
            .iter()
            .flat_map(|at| [format!("l{at}"), format!("h{at}")]);
        let header = notation::header(chain, &ends.collect::<Vec<_>>());
        let mut known = notation::known(chain);
        known.extend(inside.iter().map(|at| format!("l{at} <= h{at}")));
        let context = format!("{header}{{ : {} }}", notation::all(known));

        let mut domains = Vec::new();
        let mut nests = Vec::new();
        let mut images = Vec::new();
        let mut coordinates: Vec<Vec<Affine>> = Vec::new();
        for (number, part) in group.parts.iter().enumerate() {
            let Piece::Nest(nest) = part.piece else {
                continue;
            };
            let rank = chain.nests[nest].bounds.len();
            let name = format!("S{nest}{}", notation::tuple("i", rank));
            let ours: Vec<_> = (0..group.depth)
                .map(|at| legality::coordinate(order, part, nest, at))
                .collect();
            let mut conditions = notation::domain(&chain.nests[nest]);
            images.push(image(&header, rank, &ours, &conditions));
            let between = |&at: &usize| match more {
                Some(more) => {
                    let (front, behind) = more[number][at];
                    format!("l{at} - {front} <= i{at} <= h{at} + {behind}")
                }
                None => format!("l{at} <= {} <= h{at}", notation::affine(&ours[at], "i")),
            };
            conditions.extend(inside.iter().map(between));
            domains.push(format!("{name} : {}", notation::all(conditions)));
            let rest = (group.depth..rank).map(|at| format!("{{ {name} -> [(i{at})] }}"));
            let rest = rest.collect();
            nests.push((name, rest));
            coordinates.push(ours);
        }
        let of_all = |number: &dyn Fn(&[Affine]) -> String| {
            let each = coordinates.iter().zip(&nests);
            let each: Vec<_> = each
                .map(|(ours, (name, _))| format!("{name} -> [({})]", number(ours)))
                .collect();
            format!("{{ {} }}", each.join("; "))
        };
        let mut shared: Vec<_> = (0..group.depth)
            .map(|at| of_all(&|ours| notation::affine(&ours[at], "i")))
            .collect();
        let parallel = match steps {
            Steps::Parallel if group.depth > 0 => Some(0),
            Steps::Wavefront(factors) if !shared.is_empty() => {
                shared[0] = of_all(&|ours| {
                    let terms = ours.iter().zip(factors);
                    let terms: Vec<_> = terms
                        .map(|(one, factor)| format!("{factor}*({})", notation::affine(one, "i")))
                        .collect();
                    terms.join(" + ")
                });
                (group.depth > 1).then_some(1)
            }
            _ => None,
        };
        let between = inside.iter().map(|at| format!("l{at} <= c{at} <= h{at}"));
        let between = notation::all(between);
        let tile = format!(
            "{header}{{ {} : {between} }}",
            notation::tuple("c", group.depth)
        );
        Self {
            context,
            domain: format!("{header}{{ {} }}", domains.join("; ")),
            header,
            shared,
            parallel,
            nests,
            tile,
            images,
        }
    }

    fn band(&self, rows: &[String], options: &str, child: Option<String>) -> Option<String> {
        if rows.is_empty() {
            return child;
        }
        let schedule = format!("{}[{}]", self.header, rows.join(", "));
        let child = child.map_or(String::new(), |child| format!(", child: {child}"));
        Some(format!(
            "{{ schedule: \"{schedule}\", options: \"{options}\"{child} }}"
        ))
    }

    fn text(&self, options: &str) -> String {
        let mut tree = match &self.nests[..] {
            [(_, rest)] => self.band(rest, options, None),
            nests => {
                let each = nests.iter().map(|(name, rest)| {
                    let child = self.band(rest, options, None);
                    let child = child.map_or(String::new(), |child| format!(", child: {child}"));
                    format!("{{ filter: \"{}{{ {name} }}\"{child} }}", self.header)
                });
                let each: Vec<_> = each.collect();
                Some(format!("{{ sequence: [ {} ] }}", each.join(", ")))
            }
        };
        match self.parallel {
            None => tree = self.band(&self.shared, options, tree),
            Some(at) => {
                // The second mark ends the first one, also where isl needs no loop for what is between them.
                tree = self.band(&self.shared[at + 1..], options, tree);
                tree = tree.map(|tree| format!("{{ mark: \"serial\", child: {tree} }}"));
                tree = self.band(&self.shared[at..=at], options, tree);
                tree = tree.map(|tree| format!("{{ mark: \"parallel\", child: {tree} }}"));
                tree = self.band(&self.shared[..at], options, tree);
            }
        }
        let child = tree.map_or(String::new(), |child| format!(", child: {child}"));
        format!("{{ domain: \"{}\"{child} }}", self.domain)
    }
}

/// The coordinates of a nest's iterations.
fn image(header: &str, rank: usize, coordinates: &[Affine], conditions: &[String]) -> String {
    let are = coordinates
        .iter()
        .enumerate()
        .map(|(at, one)| format!("c{at} = {}", notation::affine(one, "i")));
    let all = notation::all(conditions.iter().cloned().chain(are));
    let tuple = notation::tuple("c", coordinates.len());
    let iterators: Vec<_> = (0..rank).map(|at| format!("i{at}")).collect();
    match rank {
        0 => format!("{header}{{ {tuple} : {all} }}"),
        _ => format!(
            "{header}{{ {tuple} : exists ({}: {all}) }}",
            iterators.join(", ")
        ),
    }
}

/// The largest value of a variable for which a loop goes on.
fn last(condition: &isl::Expression, variable: &str, names: &Names) -> Result<Expression> {
    let ExpressionKind::Operation(operation, arguments) = condition.kind()? else {
        return Err(Failed::Error);
    };
    let [left, right] = &arguments[..] else {
        return Err(Failed::Error);
    };
    if operation == Operation::And {
        return Ok(Expression::least(vec![
            last(left, variable, names)?,
            last(right, variable, names)?,
        ]));
    }
    match left.kind()? {
        ExpressionKind::Name(name) if name == variable => {}
        _ => return Err(Failed::Error),
    }
    let right = expression(right, names)?;
    match operation {
        Operation::AtMost => Ok(right),
        Operation::Less => Ok(Expression::difference(right, Expression::Constant(1))),
        _ => Err(Failed::Error),
    }
}

/// A number of isl's.
pub fn expression(of: &isl::Expression, names: &Names) -> Result<Expression> {
    let (operation, arguments) = match of.kind()? {
        ExpressionKind::Number(number) => return Ok(Expression::Constant(number)),
        ExpressionKind::Name(name) => {
            if let Some(known) = names.0.get(&name) {
                return Ok(known.clone());
            }
            let number = name
                .strip_prefix('p')
                .and_then(|number| number.parse().ok());
            return number.map(Expression::Parameter).ok_or(Failed::Error);
        }
        ExpressionKind::Operation(operation, arguments) => (operation, arguments),
    };
    if operation == Operation::Choose {
        let [asked, then, otherwise] = &arguments[..] else {
            return Err(Failed::Error);
        };
        let (then, otherwise) = (expression(then, names)?, expression(otherwise, names)?);
        return Ok(Expression::Choose(
            condition(asked, names)?.into(),
            then.into(),
            otherwise.into(),
        ));
    }
    let mut values = arguments
        .iter()
        .map(|one| expression(one, names))
        .collect::<Result<Vec<_>>>()?;
    match operation {
        Operation::Largest => return Ok(Expression::largest(values)),
        Operation::Least => return Ok(Expression::least(values)),
        Operation::Minus if values.len() == 1 => values.insert(0, Expression::Constant(0)),
        _ => {}
    }
    let [left, right] = <[Expression; 2]>::try_from(values).map_err(|_| Failed::Error)?;
    match operation {
        Operation::Add => Ok(Expression::sum(left, right)),
        Operation::Minus | Operation::Subtract => Ok(Expression::difference(left, right)),
        Operation::Multiply => Ok(Expression::product(left, right)),
        Operation::Divide | Operation::FloorDivide => Ok(Expression::quotient(left, right)),
        Operation::Modulo => Ok(Expression::Modulo(left.into(), right.into())),
        _ => Err(Failed::Error),
    }
}

/// A question of isl's.
pub fn condition(of: &isl::Expression, names: &Names) -> Result<Condition> {
    let (operation, arguments) = match of.kind()? {
        ExpressionKind::Number(number) => return Ok(Condition::Constant(number != 0)),
        ExpressionKind::Name(_) => return Err(Failed::Error),
        ExpressionKind::Operation(operation, arguments) => (operation, arguments),
    };
    match operation {
        Operation::And | Operation::Or => {
            let all = arguments.iter().map(|one| condition(one, names));
            let all = all.collect::<Result<Vec<_>>>()?;
            return Ok(match operation {
                Operation::And => Condition::all(all),
                _ => Condition::Any(all),
            });
        }
        _ => {}
    }
    let [left, right] = &arguments[..] else {
        return Err(Failed::Error);
    };
    let (left, right) = (expression(left, names)?, expression(right, names)?);
    let one_more = |value| Expression::sum(value, Expression::Constant(1));
    match operation {
        Operation::Equal => Ok(Condition::Equal(left, right)),
        Operation::AtLeast => Ok(Condition::AtLeast(left, right)),
        Operation::AtMost => Ok(Condition::AtLeast(right, left)),
        Operation::More => Ok(Condition::AtLeast(left, one_more(right))),
        Operation::Less => Ok(Condition::AtLeast(right, one_more(left))),
        _ => Err(Failed::Error),
    }
}
