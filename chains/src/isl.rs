//! Sets and relations of integers, and loops that run through them, by isl.
//!
//! Guarantee: everything of isl's is freed once, before the [`Isl`] that it belongs to; what isl cannot do, or not with the
//! operations that it is given, is an [`Failed`], and nothing worse.

mod table;

use std::cell::Cell;
use std::ffi::{CStr, CString, c_int};
use std::ptr::NonNull;
use std::rc::Rc;

use table::{Pointer, Table};

/// Operations that isl may need for one plan, besides splitting loops: a second or some. (To compare and to sort count next to
/// nothing.)
const OPERATIONS: u64 = 2_000_000;
/// `ISL_ON_ERROR_CONTINUE`: nothing is printed, and functions return NULL.
const CONTINUE: c_int = 1;
/// `isl_error_quota`.
const QUOTA: c_int = 6;
/// `isl_dim_set`.
const DIMENSIONS: c_int = 3;

/// Why isl has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It is not installed.
    Missing,
    /// It would need too long.
    Operations,
    /// Whatever else.
    Error,
}

/// What isl has to say.
pub type Result<T> = std::result::Result<T, Failed>;

/// The place where all of a plan is worked out.
#[derive(Clone)]
pub struct Isl(Rc<Context>);

struct Context {
    table: &'static Table,
    pointer: NonNull<std::ffi::c_void>,
    /// Whether it has needed more operations than it may: whatever fails behind that fails for that.
    is_exhausted: Cell<bool>,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: whatever belongs to it holds it, and has been freed.
        unsafe { (self.table.ctx_free)(self.pointer.as_ptr()) }
    }
}

impl Isl {
    /// A new one.
    pub fn new() -> Result<Self> {
        Self::with(OPERATIONS)
    }

    /// A new one that may need so many operations.
    pub fn with(operations: u64) -> Result<Self> {
        let table = table::table().ok_or(Failed::Missing)?;
        // SAFETY: it takes nothing.
        let pointer = NonNull::new(unsafe { (table.ctx_alloc)() }).ok_or(Failed::Error)?;
        // SAFETY: the context is there.
        unsafe {
            (table.options_set_on_error)(pointer.as_ptr(), CONTINUE);
            (table.ctx_set_max_operations)(pointer.as_ptr(), operations);
        }
        Ok(Self(Rc::new(Context {
            table,
            pointer,
            is_exhausted: Cell::new(false),
        })))
    }

    /// Whether the library is there.
    pub fn is_installed() -> bool {
        table::table().is_some()
    }

    /// What needs at most so many operations; None where it would need more, which is no failure then.
    pub fn within<T>(
        &self,
        operations: u64,
        what: impl FnOnce() -> Result<T>,
    ) -> Result<Option<T>> {
        let (table, pointer) = (self.0.table, self.0.pointer.as_ptr());
        // SAFETY: the context is there.
        let most = unsafe { (table.ctx_get_max_operations)(pointer) };
        // SAFETY: the context is there.
        unsafe {
            (table.ctx_reset_operations)(pointer);
            (table.ctx_set_max_operations)(pointer, operations);
        }
        let result = what();
        // SAFETY: the context is there.
        unsafe {
            (table.ctx_reset_operations)(pointer);
            (table.ctx_set_max_operations)(pointer, most);
        }
        match result {
            Err(Failed::Operations) => {
                // SAFETY: the context is there, and it is known what has failed.
                unsafe { (table.ctx_reset_error)(pointer) };
                self.0.is_exhausted.set(false);
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// Whether anything has.
    fn has_failed(&self) -> bool {
        // SAFETY: the context is there.
        unsafe { (self.0.table.ctx_last_error)(self.0.pointer.as_ptr()) != 0 }
    }

    fn failed(&self) -> Failed {
        // SAFETY: the context is there.
        let last = unsafe { (self.0.table.ctx_last_error)(self.0.pointer.as_ptr()) };
        if last == QUOTA {
            self.0.is_exhausted.set(true);
        }
        match self.0.is_exhausted.get() {
            true => Failed::Operations,
            false => Failed::Error,
        }
    }

    fn holds(&self, answer: c_int) -> Result<bool> {
        match answer {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.failed()),
        }
    }

    fn owned(&self, pointer: Pointer, free: Free) -> Result<Owned> {
        let pointer = NonNull::new(pointer).ok_or_else(|| self.failed())?;
        let isl = self.clone();
        Ok(Owned { pointer, free, isl })
    }

    fn text(text: &str) -> Result<CString> {
        CString::new(text).map_err(|_| Failed::Error)
    }
}

type Free = unsafe extern "C" fn(Pointer) -> Pointer;

/// Something of isl's, freed when it goes.
struct Owned {
    pointer: NonNull<std::ffi::c_void>,
    free: Free,
    isl: Isl,
}

impl Owned {
    fn get(&self) -> Pointer {
        self.pointer.as_ptr()
    }

    fn table(&self) -> &'static Table {
        self.isl.0.table
    }

    /// Hands it to a function that takes it.
    fn give(self) -> Pointer {
        let pointer = self.pointer.as_ptr();
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: only this field is dropped, once, since nothing else of it is used again.
        unsafe { std::ptr::drop_in_place(&raw mut this.isl) };
        pointer
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it is its own, and the context is there still.
        unsafe { (self.free)(self.pointer.as_ptr()) };
    }
}

/// Calls a function of the table with things that are there, and owns what it returns.
macro_rules! call {
    ($isl:expr, $name:ident($($argument:expr),*), $free:ident) => {{
        let isl: Isl = $isl.clone();
        // SAFETY: arguments are of the types that the function asks for, and what it takes is given to it.
        let pointer = unsafe { (isl.0.table.$name)($($argument),*) };
        isl.owned(pointer, isl.0.table.$free)
    }};
}

/// Calls a function of the table that only looks at things.
macro_rules! ask {
    ($owned:expr, $name:ident($($argument:expr),*)) => {
        // SAFETY: arguments are of the types that the function asks for, and it takes none of them.
        unsafe { ($owned.table().$name)($owned.get() $(, $argument)*) }
    };
}

/// A set of tuples of numbers, which depends on parameters.
pub struct Set(Owned);

impl Clone for Set {
    fn clone(&self) -> Self {
        let copy = call!(self.0.isl, set_copy(self.0.get()), set_free);
        Self(copy.expect("copies count references"))
    }
}

impl Set {
    /// What isl's notation says.
    pub fn read(isl: &Isl, text: &str) -> Result<Self> {
        let text = Isl::text(text)?;
        let context = isl.0.pointer.as_ptr();
        call!(isl, set_read_from_str(context, text.as_ptr()), set_free).map(Self)
    }

    /// Whether there is nothing in it, whatever the parameters.
    pub fn is_empty(&self) -> Result<bool> {
        self.0.isl.holds(ask!(self.0, set_is_empty()))
    }

    /// What is in both.
    pub fn intersect(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_intersect(self.0.give(), other.0.give()), set_free).map(Self)
    }

    /// What is in one of both.
    pub fn union(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_union(self.0.give(), other.0.give()), set_free).map(Self)
    }

    /// What is in this one alone.
    pub fn subtract(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_subtract(self.0.give(), other.0.give()), set_free).map(Self)
    }

    /// What the relation takes it to.
    pub fn apply(self, map: Map) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_apply(self.0.give(), map.0.give()), set_free).map(Self)
    }

    /// The lexicographically smallest, for each value of the parameters.
    pub fn smallest(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_lexmin(self.0.give()), set_free).map(Self)
    }

    /// The same with fewer parts.
    pub fn coalesce(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_coalesce(self.0.give()), set_free).map(Self)
    }

    /// What is not in it.
    pub fn complement(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_complement(self.0.give()), set_free).map(Self)
    }

    /// Whatever the parameters are.
    pub fn without_parameters(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_project_out_all_params(self.0.give()), set_free).map(Self)
    }

    /// For which parameters there is something in it.
    pub fn parameters(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, set_params(self.0.give()), set_free).map(Self)
    }

    /// How many numbers its tuples have.
    pub fn rank(&self) -> usize {
        ask!(self.0, set_dim(DIMENSIONS)).max(0) as usize
    }

    /// The largest value in a dimension, whatever the parameters.
    pub fn largest(&self, dimension: usize) -> Result<Extreme> {
        let set = self.clone();
        let isl = self.0.isl.clone();
        let value = call!(
            isl,
            set_dim_max_val(set.0.give(), dimension as c_int),
            val_free
        )?;
        if isl.holds(ask!(value, val_is_infty()))? {
            return Ok(Extreme::Unbounded);
        }
        if isl.holds(ask!(value, val_is_nan()))? {
            return Ok(Extreme::Empty);
        }
        number(&value).map(Extreme::Is)
    }

    /// Some tuple of it.
    pub fn sample(self) -> Result<Option<Vec<i64>>> {
        let rank = self.rank();
        let isl = self.0.isl.clone();
        let point = call!(isl, set_sample_point(self.0.give()), point_free)?;
        if isl.holds(ask!(point, point_is_void()))? {
            return Ok(None);
        }
        let coordinate = |at: usize| {
            let value = call!(
                isl,
                point_get_coordinate_val(point.get(), DIMENSIONS, at as c_int),
                val_free
            )?;
            number(&value)
        };
        (0..rank).map(coordinate).collect::<Result<_>>().map(Some)
    }

    /// The least value in a dimension as an expression of the parameters, where they are as `context` says.
    pub fn least_expression(&self, dimension: usize, context: Self) -> Result<Expression> {
        let build = Build::of(context)?;
        let set = self.clone();
        let value = call!(
            self.0.isl,
            set_dim_min(set.0.give(), dimension as c_int),
            pw_aff_free
        )?;
        build.expression(value)
    }

    /// The largest value in a dimension as an expression of the parameters, where they are as `context` says.
    pub fn largest_expression(&self, dimension: usize, context: Self) -> Result<Expression> {
        let build = Build::of(context)?;
        let set = self.clone();
        let value = call!(
            self.0.isl,
            set_dim_max(set.0.give(), dimension as c_int),
            pw_aff_free
        )?;
        build.expression(value)
    }

    /// Whether parameters are in it as a condition, where they are as `context` says.
    pub fn condition(self, context: Self) -> Result<Expression> {
        let build = Build::of(context)?;
        let isl = self.0.isl.clone();
        let expression = call!(
            isl,
            ast_build_expr_from_set(build.0.get(), self.0.give()),
            ast_expr_free
        )?;
        Ok(Expression(expression))
    }
}

/// The largest value of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// There is no value.
    Empty,
    /// This one.
    Is(i64),
    /// There are values larger than any.
    Unbounded,
}

fn number(value: &Owned) -> Result<i64> {
    // Numbers that do not fit come from texts that have such numbers only, and are wrong by then.
    match value.isl.holds(ask!(value, val_is_int()))? {
        true => Ok(ask!(value, val_get_num_si())),
        false => Err(Failed::Error),
    }
}

/// A relation of tuples of numbers, which depends on parameters.
pub struct Map(Owned);

impl Clone for Map {
    fn clone(&self) -> Self {
        let copy = call!(self.0.isl, map_copy(self.0.get()), map_free);
        Self(copy.expect("copies count references"))
    }
}

impl Map {
    /// What isl's notation says.
    pub fn read(isl: &Isl, text: &str) -> Result<Self> {
        let text = Isl::text(text)?;
        let context = isl.0.pointer.as_ptr();
        call!(isl, map_read_from_str(context, text.as_ptr()), map_free).map(Self)
    }

    /// Whether it relates nothing, whatever the parameters.
    pub fn is_empty(&self) -> Result<bool> {
        self.0.isl.holds(ask!(self.0, map_is_empty()))
    }

    /// What is in both.
    pub fn intersect(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, map_intersect(self.0.give(), other.0.give()), map_free).map(Self)
    }

    /// What is in one of both.
    pub fn union(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, map_union(self.0.give(), other.0.give()), map_free).map(Self)
    }

    /// The same with fewer parts.
    pub fn coalesce(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, map_coalesce(self.0.give()), map_free).map(Self)
    }

    /// From there to here.
    pub fn reverse(self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(isl, map_reverse(self.0.give()), map_free).map(Self)
    }

    /// This one, and then that one.
    pub fn then(self, other: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(
            isl,
            map_apply_range(self.0.give(), other.0.give()),
            map_free
        )
        .map(Self)
    }

    /// With its sources taken by a relation to others.
    pub fn from(self, sources: Self) -> Result<Self> {
        let isl = self.0.isl.clone();
        call!(
            isl,
            map_apply_domain(self.0.give(), sources.0.give()),
            map_free
        )
        .map(Self)
    }

    /// What it leads to.
    pub fn targets(self) -> Result<Set> {
        let isl = self.0.isl.clone();
        call!(isl, map_range(self.0.give()), set_free).map(Set)
    }

    /// Targets less sources.
    pub fn deltas(self) -> Result<Set> {
        let isl = self.0.isl.clone();
        call!(isl, map_deltas(self.0.give()), set_free).map(Set)
    }
}

/// What loops and expressions are built in.
struct Build(Owned);

impl Build {
    fn of(context: Set) -> Result<Self> {
        let isl = context.0.isl.clone();
        call!(
            isl,
            ast_build_from_context(context.0.give()),
            ast_build_free
        )
        .map(Self)
    }

    fn expression(&self, value: Owned) -> Result<Expression> {
        call!(
            self.0.isl,
            ast_build_expr_from_pw_aff(self.0.get(), value.give()),
            ast_expr_free
        )
        .map(Expression)
    }
}

/// A part of a program.
pub struct Node(Owned);

/// What a part of a program is.
pub enum NodeKind {
    /// A loop.
    For {
        /// The name of its variable.
        variable: String,
        /// The first value.
        first: Expression,
        /// Whether to go on.
        condition: Expression,
        /// What is added.
        step: Expression,
        /// Whether there is the first value alone.
        is_degenerate: bool,
        /// What is run.
        body: Node,
    },
    /// A choice.
    If {
        /// What is asked.
        condition: Expression,
        /// What is run where it holds.
        then: Node,
        /// What is run where it does not.
        otherwise: Option<Node>,
    },
    /// One after the other.
    Block(Vec<Node>),
    /// What a mark of the schedule has below it.
    Mark(String, Node),
    /// A call.
    User(Expression),
}

impl Node {
    /// The program that runs through a schedule in isl's notation, where parameters are as `context` says.
    pub fn of_schedule(context: Set, schedule: &str) -> Result<Self> {
        let isl = context.0.isl.clone();
        let build = Build::of(context)?;
        let text = Isl::text(schedule)?;
        let pointer = isl.0.pointer.as_ptr();
        let schedule = call!(
            isl,
            schedule_read_from_str(pointer, text.as_ptr()),
            schedule_free
        )?;
        // A part of a text that isl cannot read may be left out of what it returns.
        if isl.has_failed() {
            return Err(isl.failed());
        }
        call!(
            isl,
            ast_build_node_from_schedule(build.0.get(), schedule.give()),
            ast_node_free
        )
        .map(Self)
    }

    /// What it is.
    pub fn kind(&self) -> Result<NodeKind> {
        let isl = &self.0.isl;
        let node = self.0.get();
        let expression = |owned: Result<Owned>| owned.map(Expression);
        match ask!(self.0, ast_node_get_type()) {
            1 => {
                let iterator = call!(isl, ast_node_for_get_iterator(node), ast_expr_free)?;
                let is_degenerate = isl.holds(ask!(self.0, ast_node_for_is_degenerate()))?;
                Ok(NodeKind::For {
                    variable: name_of(&iterator)?,
                    first: expression(call!(isl, ast_node_for_get_init(node), ast_expr_free))?,
                    condition: expression(call!(isl, ast_node_for_get_cond(node), ast_expr_free))?,
                    step: expression(call!(isl, ast_node_for_get_inc(node), ast_expr_free))?,
                    is_degenerate,
                    body: Self(call!(isl, ast_node_for_get_body(node), ast_node_free)?),
                })
            }
            2 => {
                let otherwise = match isl.holds(ask!(self.0, ast_node_if_has_else_node()))? {
                    true => Some(Self(call!(
                        isl,
                        ast_node_if_get_else_node(node),
                        ast_node_free
                    )?)),
                    false => None,
                };
                Ok(NodeKind::If {
                    condition: expression(call!(isl, ast_node_if_get_cond(node), ast_expr_free))?,
                    then: Self(call!(isl, ast_node_if_get_then_node(node), ast_node_free)?),
                    otherwise,
                })
            }
            3 => {
                let list = call!(isl, ast_node_block_get_children(node), ast_node_list_free)?;
                let child =
                    |at| call!(isl, ast_node_list_get_at(list.get(), at), ast_node_free).map(Self);
                let count = ask!(list, ast_node_list_size());
                (0..count)
                    .map(child)
                    .collect::<Result<_>>()
                    .map(NodeKind::Block)
            }
            4 => {
                let id = call!(isl, ast_node_mark_get_id(node), id_free)?;
                let child = call!(isl, ast_node_mark_get_node(node), ast_node_free)?;
                Ok(NodeKind::Mark(name(&id)?, Self(child)))
            }
            5 => expression(call!(isl, ast_node_user_get_expr(node), ast_expr_free))
                .map(NodeKind::User),
            _ => Err(isl.failed()),
        }
    }
}

/// An expression of a program.
pub struct Expression(Owned);

/// What an expression is.
pub enum ExpressionKind {
    /// A number.
    Number(i64),
    /// A name.
    Name(String),
    /// An operation, by its number in isl, and what it is given.
    Operation(Operation, Vec<Expression>),
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    And,
    Or,
    Largest,
    Least,
    Minus,
    Add,
    Subtract,
    Multiply,
    /// Without a remainder.
    Divide,
    /// Rounded down.
    FloorDivide,
    Modulo,
    Choose,
    Equal,
    AtMost,
    Less,
    AtLeast,
    More,
    Call,
}

impl Expression {
    /// What it is.
    pub fn kind(&self) -> Result<ExpressionKind> {
        let isl = &self.0.isl;
        match ask!(self.0, ast_expr_get_type()) {
            0 => {
                let count = ask!(self.0, ast_expr_op_get_n_arg());
                let argument =
                    |at| call!(isl, ast_expr_op_get_arg(self.0.get(), at), ast_expr_free).map(Self);
                let arguments = (0..count).map(argument).collect::<Result<_>>()?;
                use Operation::*;
                let operation = match ask!(self.0, ast_expr_op_get_type()) {
                    0 | 1 => And,
                    2 | 3 => Or,
                    4 => Largest,
                    5 => Least,
                    6 => Minus,
                    7 => Add,
                    8 => Subtract,
                    9 => Multiply,
                    10 => Divide,
                    11 | 12 => FloorDivide,
                    13 | 14 => Modulo,
                    15 | 16 => Choose,
                    17 => Equal,
                    18 => AtMost,
                    19 => Less,
                    20 => AtLeast,
                    21 => More,
                    22 => Call,
                    _ => return Err(Failed::Error),
                };
                Ok(ExpressionKind::Operation(operation, arguments))
            }
            1 => name_of(&self.0).map(ExpressionKind::Name),
            2 => {
                let value = call!(isl, ast_expr_int_get_val(self.0.get()), val_free)?;
                number(&value).map(ExpressionKind::Number)
            }
            _ => Err(isl.failed()),
        }
    }
}

fn name_of(expression: &Owned) -> Result<String> {
    let id = call!(
        expression.isl,
        ast_expr_id_get_id(expression.get()),
        id_free
    )?;
    name(&id)
}

fn name(id: &Owned) -> Result<String> {
    let text = ask!(id, id_get_name());
    if text.is_null() {
        return Err(Failed::Error);
    }
    // SAFETY: it is a text that lives as long as the identifier does.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(str::to_string).map_err(|_| Failed::Error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_in_a_schedule_is_seen() {
        let isl = Isl::new().expect("isl is installed");
        let context = Set::read(&isl, "[n] -> { : }").expect("it is a set");
        let broken = "{ domain: \"[n] -> { S0[i] : 0 <= i <= n }\", \
            child: { schedule: \"[] -> [{ S0[i] -> [(i)] }]\" } }";
        assert!(Node::of_schedule(context, broken).is_err());
    }
}
