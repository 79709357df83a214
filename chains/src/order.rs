//! Orders as they are put together: which loops have become one, moved by how much, and how their iterations follow each other.
//!
//! Iterations of a group have coordinates, as many as its depth. They are walked through one after the other, or
//! otherwise ([`Way`]); at each, the parts of the group are run in the order in which they are written: the iteration of a
//! nest that has these coordinates, or the iterations of another group that are in the tile which has them.
//!
//! Guarantee: whatever is asked of an [`Order`] is done only where it is legal, and is otherwise an error that says why.

use crate::blocks::{self, Blocks, Length};
use crate::code::{Condition, Expression};
use crate::dependences::{Dependence, dependences};
use crate::isl::{Failed, Isl};
use crate::model::{Affine, Chain};
use crate::overlap::{self, Overlap};
use crate::plan::{Plan, Refused};
use crate::pragma::Position;
use crate::{choice, joined, legality, loops, shifts, storage};

/// Iterations of a tile in a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A constant.
    Constant(i64),
    /// A parameter of the chain.
    Parameter(usize),
}

/// How iterations or tiles are to follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Where that is said.
    pub at: Position,
    /// How.
    pub what: Way,
}

/// How iterations or tiles are to follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// One by one.
    Serial,
    /// Those of the outermost loop at the same time.
    Parallel,
    /// Those at the same time that are in front of nothing of which they need something.
    Wavefront,
    /// Tile by tile.
    Tile(Vec<Size>, Box<Manner>, Box<Manner>),
}

/// Loops that are one.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub parts: Vec<Part>,
    pub depth: usize,
    pub walk: Walk,
}

/// What is run at coordinates of a group.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// What is added to coordinates of the piece.
    pub shift: Vec<Affine>,
    pub piece: Piece,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Nest(usize),
    /// Tiles of a group, whose own walk is that within a tile.
    Tiles(Vec<Size>, Box<Group>),
}

#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// Different for each.
    pub number: usize,
    pub at: Position,
    pub what: Steps,
}

#[derive(Clone, Debug)]
pub(crate) enum Steps {
    Serial,
    Parallel,
    /// The outermost loop counts a sum of coordinates, times these factors; there are none before they have been found.
    Wavefront(Vec<i64>),
    Tiled(Vec<Size>, Box<Walk>, Box<Walk>),
    /// Blocks of the outermost loop in parallel, each serially, behind what is at their edges.
    Blocks(Blocks),
    /// Tiles in parallel, each serially, that compute again what they need of others.
    Overlap(Overlap),
}

/// An order of a chain.
pub struct Order<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) isl: Isl,
    pub(crate) dependences: Vec<Dependence>,
    pub(crate) groups: Vec<Group>,
    pub(crate) requires: Vec<Condition>,
    /// Parameters that loops are moved by.
    pub(crate) moving: Vec<usize>,
    /// Whether it depends on how many threads there are.
    asks_for_threads: bool,
    /// Whether inner loops may become one.
    joins: bool,
    /// What has become one by choice, before anything of it is parallel.
    fused: Vec<Group>,
    walks: usize,
}

/// What has been asked for cannot be had.
type Done = std::result::Result<(), Refused>;

impl<'a> Order<'a> {
    /// The order as written.
    pub fn new(chain: &'a Chain) -> std::result::Result<Self, Failed> {
        Self::in_context(chain, Isl::new()?)
    }

    /// The order as written, with as many operations of isl's as this context allows.
    pub fn in_context(chain: &'a Chain, isl: Isl) -> std::result::Result<Self, Failed> {
        let dependences = dependences(&isl, chain)?;
        let mut order = Self {
            chain,
            isl,
            dependences,
            groups: Vec::new(),
            requires: Vec::new(),
            moving: Vec::new(),
            asks_for_threads: false,
            joins: false,
            fused: Vec::new(),
            walks: 0,
        };
        order.groups = (0..chain.nests.len())
            .map(|nest| order.of_nest(nest))
            .collect();
        Ok(order)
    }

    fn of_nest(&mut self, nest: usize) -> Group {
        let depth = self.chain.nests[nest].bounds.len();
        let part = Part {
            shift: vec![Affine::default(); depth],
            piece: Piece::Nest(nest),
        };
        Group {
            parts: vec![part],
            depth,
            walk: self.walk(Position::default(), Steps::Serial),
        }
    }

    fn walk(&mut self, at: Position, what: Steps) -> Walk {
        self.walks += 1;
        Walk {
            number: self.walks,
            at,
            what,
        }
    }

    fn walk_of(
        &mut self,
        manner: &Manner,
        depth: usize,
        first_nest: usize,
    ) -> std::result::Result<Walk, Refused> {
        let what = match &manner.what {
            Way::Serial => Steps::Serial,
            Way::Parallel => Steps::Parallel,
            Way::Wavefront => Steps::Wavefront(Vec::new()),
            Way::Tile(sizes, over, within) => {
                self.sizes(manner.at, sizes, depth, first_nest)?;
                let over = self.walk_of(over, sizes.len(), first_nest)?;
                let within = self.walk_of(within, depth, first_nest)?;
                Steps::Tiled(sizes.clone(), over.into(), within.into())
            }
        };
        Ok(self.walk(manner.at, what))
    }

    fn sizes(&mut self, at: Position, sizes: &[Size], depth: usize, nest: usize) -> Done {
        let refuse = |why| Err(Refused::illegal(at, why));
        if sizes.is_empty() {
            return refuse("a tile needs a size".to_string());
        }
        if sizes.len() > depth {
            let (sizes, name) = (sizes.len(), self.name(nest));
            let dimensions = dimensions(depth);
            return refuse(format!(
                "tiles of {sizes} dimensions do not fit {name}, which has {dimensions}"
            ));
        }
        for size in sizes {
            match *size {
                Size::Constant(size) if size < 1 => {
                    return refuse(format!(
                        "a tile has at least 1 iteration in each dimension, not {size}"
                    ));
                }
                Size::Constant(_) => {}
                Size::Parameter(number) => self.require(Condition::AtLeast(
                    Expression::Parameter(number),
                    Expression::Constant(1),
                )),
            }
        }
        Ok(())
    }

    pub(crate) fn require(&mut self, condition: Condition) {
        if !self.requires.contains(&condition) {
            self.requires.push(condition);
        }
    }

    /// Chooses an order of loops none of which has one yet: which of them become one a model of caches says. Rows run in parallel
    /// where that is legal, else in blocks.
    pub fn choose(&mut self, at: Position) -> Done {
        let chosen = choice::choose(self).map_err(|failed| Refused::failed(at, failed))?;
        self.joins = true;
        let mut group = 0;
        for one in chosen {
            let mut groups = group..group + one.count;
            if let Some(depth) = one.shifts.first().map(Vec::len).filter(|_| one.count > 1) {
                let affine = |shift: Vec<i64>| shift.into_iter().map(Affine::constant).collect();
                let shifts: Vec<_> = one.shifts.into_iter().map(affine).collect();
                match self.fuse(at, groups.clone(), Some(&shifts), Some(depth)) {
                    Ok(()) => groups.end = group + 1,
                    Err(refused) if refused.is_illegal => {}
                    Err(refused) => return Err(refused),
                }
            }
            group = groups.end;
        }
        self.fused.clone_from(&self.groups);
        for group in 0..self.groups.len() {
            if !self.tried_parallel(at, group)? && !self.tried_overlap(at, group)? {
                self.cut(at, group)?;
            }
        }
        Ok(())
    }

    /// What has become one by choice, before anything of it was made parallel.
    pub(crate) fn fused(&self) -> &[Group] {
        &self.fused
    }

    /// The loops that have become one by choice, one iteration after the other, without buffers.
    pub(crate) fn plan_of_fused(&mut self) -> std::result::Result<Plan, Failed> {
        self.groups = std::mem::take(&mut self.fused);
        (self.joins, self.asks_for_threads) = (false, false);
        let plan = self.plan()?;
        Ok(Plan {
            buffers: Vec::new(),
            ..plan
        })
    }

    /// Runs the outermost loop of a group in parallel, where that is legal. Says whether it is.
    pub(crate) fn tried_parallel(
        &mut self,
        at: Position,
        group: usize,
    ) -> std::result::Result<bool, Refused> {
        let what = Way::Parallel;
        match self.set(group, &Manner { at, what }) {
            Ok(()) => Ok(true),
            Err(refused) if refused.is_illegal => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    /// Cuts a group into blocks of rows that run in parallel, one for each thread. Says whether that can be done.
    pub fn cut(&mut self, at: Position, group: usize) -> std::result::Result<bool, Refused> {
        let edges = blocks::edges(self, &self.groups[group]);
        let Some(edges) = edges.map_err(|failed| Refused::failed(at, failed))? else {
            return Ok(false);
        };
        let length = Length::Threads(self.chain.parameters.len());
        let walk = self.walk(at, Steps::Blocks(Blocks { length, edges }));
        self.change(group, |changed| changed.walk = walk)?;
        self.asks_for_threads = true;
        Ok(true)
    }

    /// Cuts a group into tiles of rows that overlap, one for each thread, where that can be done. Says whether it can.
    fn tried_overlap(&mut self, at: Position, group: usize) -> std::result::Result<bool, Refused> {
        let length = Length::Threads(self.chain.parameters.len());
        let found = overlap::found(self, &self.groups[group], vec![length]);
        let Ok(overlap) = found.map_err(|failed| Refused::failed(at, failed))? else {
            return Ok(false);
        };
        let walk = self.walk(at, Steps::Overlap(overlap));
        self.change(group, |changed| changed.walk = walk)?;
        self.asks_for_threads = true;
        Ok(true)
    }

    /// Cuts a group into tiles of such sizes that overlap. Where they would overwrite what others need, what is needed beyond
    /// tiles of rows runs first.
    pub fn overlap(&mut self, at: Position, group: usize, sizes: &[Size]) -> Done {
        let (depth, nest) = (self.groups[group].depth, self.groups[group].first_nest());
        self.sizes(at, sizes, depth, nest)?;
        let failed = |failed| Refused::failed(at, failed);
        if !matches!(self.groups[group].walk.what, Steps::Serial) {
            let why = "only loops that are serial so far are cut into tiles that overlap";
            return Err(Refused::illegal(at, why.to_string()));
        }
        let lengths = sizes.iter().copied().map(Length::Is).collect();
        let found = overlap::found(self, &self.groups[group], lengths).map_err(failed)?;
        let steps = match found {
            Ok(overlap) => Steps::Overlap(overlap),
            Err(why) => {
                let edges = match sizes.len() {
                    1 => blocks::edges(self, &self.groups[group]).map_err(failed)?,
                    _ => None,
                };
                let Some(edges) = edges else {
                    let why = format!(
                        "tiles cannot overlap: {why}; the loops stay in the order in which they are written"
                    );
                    return Err(Refused {
                        is_illegal: false,
                        ..Refused::illegal(at, why)
                    });
                };
                let length = Length::Is(sizes[0]);
                Steps::Blocks(Blocks { length, edges })
            }
        };
        let walk = self.walk(at, steps);
        self.change(group, |changed| changed.walk = walk)
    }

    /// How many there are of what has become one.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Tiles a group, or tiles of it where it is tiled.
    pub fn tile(&mut self, group: usize, manner: &Manner) -> Done {
        let Way::Tile(sizes, over, within) = &manner.what else {
            return self.set(group, manner);
        };
        let (at, nest) = (manner.at, self.groups[group].first_nest());
        let depth = self.groups[group]
            .walk
            .outermost_depth(self.groups[group].depth);
        if let Steps::Wavefront(_) = self.groups[group].walk.outermost().what {
            let why = "a wavefront cannot be tiled: write `tile(.., wavefront, ..)`";
            return Err(Refused::illegal(at, why.to_string()));
        }
        self.sizes(at, sizes, depth, nest)?;
        let over = self.walk_of(over, sizes.len(), nest)?;
        let within = self.walk_of(within, depth, nest)?;
        let tiled = self.walk(at, Steps::Tiled(sizes.clone(), over.into(), within.into()));
        self.change(group, |changed| *changed.walk.outermost_mut() = tiled)
    }

    /// How the iterations of a group's outermost loops are to follow each other.
    pub fn set(&mut self, group: usize, manner: &Manner) -> Done {
        if let Way::Tile(..) = manner.what {
            return self.tile(group, manner);
        }
        let (depth, nest) = (self.groups[group].depth, self.groups[group].first_nest());
        let walk = self.walk_of(manner, depth, nest)?;
        self.change(group, |changed| *changed.walk.outermost_mut() = walk)
    }

    /// Makes some groups one. Loops are moved by as much as is said, or as is needed. `depth` says how many loops of each
    /// become one, if not all.
    pub fn fuse(
        &mut self,
        at: Position,
        groups: std::ops::Range<usize>,
        shifts: Option<&[Vec<Affine>]>,
        depth: Option<usize>,
    ) -> Done {
        let mut fused: Vec<Group> = self.groups[groups.clone()].to_vec();
        if fused.len() < 2 && shifts.is_none() {
            return Ok(());
        }
        let peeled: Vec<_> = fused.drain(..).map(Group::peeled).collect();
        let depths = peeled.iter().map(|group| group.depth).max().unwrap_or(0);
        // All dimensions of tiles become one: what has them knows no others.
        let is_of_nests = peeled
            .iter()
            .flat_map(|group| &group.parts)
            .all(|part| matches!(part.piece, Piece::Nest(_)));
        let depth = depth
            .filter(|_| is_of_nests)
            .map_or(depths, |depth| depth.min(depths));
        let alike = peeled
            .windows(2)
            .all(|two| two[0].walk.is_like(&two[1].walk));
        if !alike || !peeled.windows(2).all(|two| two[0].is_tiled_like(&two[1])) {
            let why = "loops that run in different ways cannot be fused".to_string();
            return Err(Refused::illegal(at, why));
        }
        let what = match &peeled[0].walk.what {
            Steps::Wavefront(_) => Steps::Wavefront(Vec::new()),
            Steps::Parallel => Steps::Parallel,
            _ => Steps::Serial,
        };
        let walk = match what {
            Steps::Serial => self.walk(at, what),
            what => self.walk(peeled[0].walk.at, what),
        };
        let shifts = match shifts {
            Some(shifts) => {
                shifts::check(at, shifts, &peeled, depth)?;
                for number in shifts
                    .iter()
                    .flatten()
                    .flat_map(|one| one.parameters.iter().enumerate())
                {
                    if *number.1 != 0 && !self.moving.contains(&number.0) {
                        self.moving.push(number.0);
                    }
                }
                shifts.to_vec()
            }
            None => shifts::found(self, at, &peeled, depth)?,
        };
        let mut parts = Vec::new();
        for (group, shift) in peeled.into_iter().zip(shifts) {
            parts.extend(group.parts.into_iter().map(|mut part| {
                part.shift.resize(depth, Affine::default());
                for (so_far, more) in part.shift.iter_mut().zip(&shift) {
                    *so_far = so_far.plus(more);
                }
                part
            }));
        }
        let group = Group { parts, depth, walk };
        self.reaches(at, &group)?;
        let first = groups.start;
        let before: Vec<_> = self.groups.splice(groups, [group]).collect();
        let done = self.settle(first);
        if done.is_err() {
            self.groups.splice(first..=first, before);
        }
        done
    }

    /// Of which space it is not known which elements nests access that depend on each other by it.
    pub fn unknown_of(&self, earlier: &[usize], later: &[usize]) -> Option<String> {
        let unknown = |nest: usize, space: usize| {
            let mut all = self.chain.nests[nest].accesses.iter();
            all.any(|one| one.space == space && one.index.is_none())
        };
        let its = self.dependences.iter().find_map(|one| {
            let is_between = earlier.contains(&one.from) && later.contains(&one.to);
            let nest = [one.from, one.to]
                .into_iter()
                .find(|nest| unknown(*nest, one.space));
            nest.filter(|_| is_between).map(|nest| (nest, one.space))
        });
        let (nest, space) = its?;
        let space = &self.chain.spaces[space].name;
        Some(format!(
            "it is not understood which elements of `{space}` {} accesses",
            self.name(nest)
        ))
    }

    /// Asks that tiles of sizes that are known at run time are as large as what their parts need of each other reaches.
    fn reaches(&mut self, at: Position, group: &Group) -> Done {
        for (size, reach) in
            legality::reaches(self, group).map_err(|failed| Refused::failed(at, failed))?
        {
            let Some(reach) = reach else {
                let far = "one needs what is arbitrarily many iterations away in another";
                let why = self.unknown_of(&group.nests(), &group.nests());
                let why = why.unwrap_or_else(|| far.to_string());
                let why = format!("loops that are tiled cannot be fused: {why}");
                return Err(Refused::illegal(at, why));
            };
            let (size, reach) = (Expression::Parameter(size), Expression::Constant(reach));
            self.require(Condition::AtLeast(size, reach));
        }
        Ok(())
    }

    fn change(&mut self, group: usize, change: impl FnOnce(&mut Group)) -> Done {
        let before = self.groups[group].clone();
        change(&mut self.groups[group]);
        let done = self.settle(group);
        if done.is_err() {
            self.groups[group] = before;
        }
        done
    }

    /// Finds how wavefronts are skewed, and proves that all is legal.
    fn settle(&mut self, group: usize) -> Done {
        legality::settle(self, group)
    }

    /// What a nest is called.
    pub(crate) fn name(&self, nest: usize) -> String {
        match self.chain.nests[nest].line {
            0 => format!("loop {}", nest + 1),
            line => format!("loop {} (line {line})", nest + 1),
        }
    }

    /// The loops.
    pub fn plan(&self) -> std::result::Result<Plan, Failed> {
        let (mut code, needed) = loops::of(self)?;
        let mut joined = Vec::new();
        if self.joins {
            (code, joined) = joined::join(self, code)?;
        }
        let (mut buffers, mut whole) = storage::buffers(self)?;
        whole.retain(|one| needed.iter().all(|buffer| buffer.space != one.space));
        buffers.extend(needed);
        Ok(Plan {
            code,
            requires: Condition::all(self.requires.clone()),
            buffers,
            whole,
            independent: legality::independent(self)?,
            joined,
            threads: self.asks_for_threads.then_some(self.chain.parameters.len()),
            small: None,
        })
    }
}

/// So many dimensions, in words.
pub(crate) fn dimensions(count: usize) -> String {
    match count {
        1 => "1 dimension".to_string(),
        _ => format!("{count} dimensions"),
    }
}

impl Group {
    /// The first nest, for messages.
    pub fn first_nest(&self) -> usize {
        self.nests()[0]
    }

    /// The nests in it.
    pub fn nests(&self) -> Vec<usize> {
        self.parts.iter().flat_map(Part::nests).collect()
    }

    /// The part that a nest is in.
    pub fn part_of(&self, nest: usize) -> Option<usize> {
        self.parts
            .iter()
            .position(|part| part.nests().contains(&nest))
    }

    /// The same with its outermost loops as those that others may become one with.
    fn peeled(self) -> Self {
        let Steps::Tiled(sizes, over, within) = self.walk.what else {
            return self;
        };
        let depth = sizes.len();
        let inner = Self {
            walk: *within,
            ..self
        };
        let part = Part {
            shift: vec![Affine::default(); depth],
            piece: Piece::Tiles(sizes, Box::new(inner)),
        };
        Self::peeled(Self {
            parts: vec![part],
            depth,
            walk: *over,
        })
    }

    fn is_tiled_like(&self, other: &Self) -> bool {
        match (&self.parts[0].piece, &other.parts[0].piece) {
            (Piece::Nest(_), Piece::Nest(_)) => true,
            (Piece::Tiles(sizes, one), Piece::Tiles(others, other)) => {
                sizes == others && one.is_tiled_like(other)
            }
            _ => false,
        }
    }
}

impl Part {
    fn nests(&self) -> Vec<usize> {
        match &self.piece {
            Piece::Nest(nest) => vec![*nest],
            Piece::Tiles(_, group) => group.nests(),
        }
    }
}

impl Walk {
    /// How the outermost loops are walked.
    pub fn outermost(&self) -> &Self {
        match &self.what {
            Steps::Tiled(_, over, _) => over.outermost(),
            _ => self,
        }
    }

    fn outermost_mut(&mut self) -> &mut Self {
        match self.what {
            Steps::Tiled(..) => {
                let Steps::Tiled(_, over, _) = &mut self.what else {
                    unreachable!("it has just been seen");
                };
                over.outermost_mut()
            }
            _ => self,
        }
    }

    fn outermost_depth(&self, depth: usize) -> usize {
        match &self.what {
            Steps::Tiled(sizes, over, _) => over.outermost_depth(sizes.len()),
            _ => depth,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.what) == std::mem::discriminant(&other.what)
    }
}

impl Order<'_> {
    /// By how much what has become one group is moved, where that is by constants.
    pub fn shifts(&self, group: usize) -> Vec<Vec<i64>> {
        let parts = self.groups[group].parts.iter();
        parts
            .map(|part| part.shift.iter().map(|one| one.constant).collect())
            .collect()
    }
}
