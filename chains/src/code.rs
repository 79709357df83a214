//! Loops in the order in which a chain is run: what code is made of, whatever the code is for.

/// Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// One after the other.
    Sequence(Vec<Code>),
    /// A loop.
    For(Box<For>),
    /// A choice.
    If(Box<If>),
    /// An iteration of a nest.
    Run {
        /// The number of the nest in the chain.
        nest: usize,
        /// The values of its iteration variables, the outermost first, as the program has them.
        iteration: Vec<Expression>,
    },
}

/// A loop that counts up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The number of its variable: loops one in the other have different ones.
    pub variable: usize,
    /// The first value.
    pub first: Expression,
    /// No value is larger than this one. Where it is smaller than the first one there is no iteration.
    pub last: Expression,
    /// What is added, which is larger than 0.
    pub step: Expression,
    /// Whether its iterations may run at the same time, and are to.
    pub is_parallel: bool,
    /// What is run.
    pub body: Code,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// What is asked.
    pub condition: Condition,
    /// What is run where it holds.
    pub then: Code,
    /// What is run where it does not.
    pub otherwise: Option<Code>,
}

/// A number of 64 bits with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A constant.
    Constant(i64),
    /// A parameter of the chain.
    Parameter(usize),
    /// The variable of a loop around.
    Variable(usize),
    /// A sum.
    Add(Box<Expression>, Box<Expression>),
    /// A difference.
    Subtract(Box<Expression>, Box<Expression>),
    /// A product.
    Multiply(Box<Expression>, Box<Expression>),
    /// A quotient rounded down, by a number larger than 0.
    FloorDivide(Box<Expression>, Box<Expression>),
    /// What is left of such a division, which is at least 0.
    Modulo(Box<Expression>, Box<Expression>),
    /// The least of some.
    Least(Vec<Expression>),
    /// The largest of some.
    Largest(Vec<Expression>),
    /// One of two.
    Choose(Box<Condition>, Box<Expression>, Box<Expression>),
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The answer is known.
    Constant(bool),
    /// Whether the first number is at least as large as the second one.
    AtLeast(Expression, Expression),
    /// Whether two numbers are the same.
    Equal(Expression, Expression),
    /// Whether all of them hold.
    All(Vec<Condition>),
    /// Whether one of them holds.
    Any(Vec<Condition>),
    /// Whether it does not hold.
    Not(Box<Condition>),
}

impl Expression {
    /// The value of an affine number, given the values of iteration variables.
    pub fn of(number: &crate::model::Affine, iterators: &[Expression]) -> Self {
        let of_parameter = |(at, &factor): (usize, &i64)| (factor, Expression::Parameter(at));
        let of_iterator = |(at, &factor): (usize, &i64)| (factor, iterators[at].clone());
        let parameters = number.parameters.iter().enumerate().map(of_parameter);
        let iterators = number
            .iterators
            .iter()
            .enumerate()
            .filter(|one| *one.1 != 0);
        let terms = parameters.chain(iterators.map(of_iterator));
        let constant = Expression::Constant(number.constant);
        terms
            .filter(|one| one.0 != 0)
            .fold(constant, |sum, (factor, value)| {
                let factor = Box::new(Expression::Constant(factor));
                let term = Expression::Multiply(factor, Box::new(value));
                Expression::Add(Box::new(sum), Box::new(term))
            })
    }
}
