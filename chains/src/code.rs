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
    /// The spaces that iterations of a parallel loop combine something with at the same places: there, threads have to
    /// take turns, or to combine what each has on its own.
    pub combines: Vec<usize>,
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
        let of_iterator = |(at, &factor): (usize, &i64)| match factor {
            0 => Self::Constant(0),
            _ => Self::product(Self::Constant(factor), iterators[at].clone()),
        };
        let of_parameter = |(at, &factor): (usize, &i64)| match factor {
            0 => Self::Constant(0),
            _ => Self::product(Self::Constant(factor), Self::Parameter(at)),
        };
        let iterators = number.iterators.iter().enumerate().map(of_iterator);
        let parameters = number.parameters.iter().enumerate().map(of_parameter);
        let terms = iterators
            .chain(parameters)
            .fold(Self::Constant(0), Self::sum);
        Self::sum(terms, Self::Constant(number.constant))
    }

    /// A sum, as simple as it is seen to be.
    pub fn sum(left: Self, right: Self) -> Self {
        match (left, right) {
            (Self::Constant(0), other) | (other, Self::Constant(0)) => other,
            (Self::Constant(left), Self::Constant(right)) if left.checked_add(right).is_some() => {
                Self::Constant(left + right)
            }
            (Self::Constant(constant), other) => Self::sum(other, Self::Constant(constant)),
            (Self::Add(left, middle), Self::Constant(right)) => match *middle {
                Self::Constant(constant) if constant.checked_add(right).is_some() => {
                    Self::sum(*left, Self::Constant(constant + right))
                }
                middle => Self::Add(
                    Box::new(Self::Add(left, Box::new(middle))),
                    Self::Constant(right).into(),
                ),
            },
            (Self::Subtract(left, middle), Self::Constant(right)) => match *middle {
                Self::Constant(constant) if right.checked_sub(constant).is_some() => {
                    Self::sum(*left, Self::Constant(right - constant))
                }
                middle => Self::Add(
                    Box::new(Self::Subtract(left, Box::new(middle))),
                    Self::Constant(right).into(),
                ),
            },
            (left, right) => Self::Add(left.into(), right.into()),
        }
    }

    /// A difference, as simple as it is seen to be.
    pub fn difference(left: Self, right: Self) -> Self {
        match (left, right) {
            (left, Self::Constant(i64::MIN)) => {
                Self::Subtract(left.into(), Self::Constant(i64::MIN).into())
            }
            (left, Self::Constant(right)) => Self::sum(left, Self::Constant(-right)),
            (left, right) if left == right => Self::Constant(0),
            (left, right) => Self::Subtract(left.into(), right.into()),
        }
    }

    /// A product, as simple as it is seen to be.
    pub fn product(left: Self, right: Self) -> Self {
        match (left, right) {
            (Self::Constant(0), _) | (_, Self::Constant(0)) => Self::Constant(0),
            (Self::Constant(1), other) | (other, Self::Constant(1)) => other,
            (Self::Constant(left), Self::Constant(right)) if left.checked_mul(right).is_some() => {
                Self::Constant(left * right)
            }
            (left, right) => Self::Multiply(left.into(), right.into()),
        }
    }

    /// A quotient rounded down, as simple as it is seen to be.
    pub fn quotient(left: Self, right: Self) -> Self {
        match (left, right) {
            (left, Self::Constant(1)) => left,
            (Self::Constant(left), Self::Constant(right)) if right > 0 => {
                Self::Constant(left.div_euclid(right))
            }
            (left, right) => Self::FloorDivide(left.into(), right.into()),
        }
    }

    /// The least of some, as simple as it is seen to be.
    pub fn least(of: Vec<Self>) -> Self {
        Self::extreme(of, i64::min, Self::Least)
    }

    /// The largest of some, as simple as it is seen to be.
    pub fn largest(of: Vec<Self>) -> Self {
        Self::extreme(of, i64::max, Self::Largest)
    }

    /// What it is without a constant that is added, and that constant.
    pub fn split(&self) -> (&Self, i64) {
        const NOTHING: &Expression = &Expression::Constant(0);
        match self {
            Self::Constant(constant) => (NOTHING, *constant),
            Self::Add(base, more) => match **more {
                Self::Constant(constant) => (base, constant),
                _ => (self, 0),
            },
            one => (one, 0),
        }
    }

    /// Of those that differ by a constant, one is enough.
    fn extreme(of: Vec<Self>, better: fn(i64, i64) -> i64, all: fn(Vec<Self>) -> Self) -> Self {
        let mut parts: Vec<(Self, i64)> = Vec::new();
        for one in of {
            let (base, constant) = one.split();
            match parts.iter_mut().find(|part| part.0 == *base) {
                Some(part) => part.1 = better(part.1, constant),
                None => parts.push((base.clone(), constant)),
            }
        }
        let sum = |(base, constant)| Self::sum(base, Self::Constant(constant));
        let mut parts: Vec<_> = parts.into_iter().map(sum).collect();
        match parts.len() {
            1 => parts.remove(0),
            _ => all(parts),
        }
    }

    /// Its value. Nothing where it is divided by what is not larger than 0, where a variable has no value, or where a number
    /// does not fit.
    pub fn value(&self, parameters: &[i64], variables: &[Option<i64>]) -> Option<i64> {
        let of = |one: &Self| one.value(parameters, variables);
        match self {
            Self::Constant(value) => Some(*value),
            Self::Parameter(at) => parameters.get(*at).copied(),
            Self::Variable(at) => variables.get(*at).copied().flatten(),
            Self::Add(left, right) => of(left)?.checked_add(of(right)?),
            Self::Subtract(left, right) => of(left)?.checked_sub(of(right)?),
            Self::Multiply(left, right) => of(left)?.checked_mul(of(right)?),
            Self::FloorDivide(left, right) => {
                let divisor = of(right).filter(|&divisor| divisor > 0)?;
                Some(of(left)?.div_euclid(divisor))
            }
            Self::Modulo(left, right) => {
                let divisor = of(right).filter(|&divisor| divisor > 0)?;
                Some(of(left)?.rem_euclid(divisor))
            }
            Self::Least(all) => all
                .iter()
                .map(of)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .min(),
            Self::Largest(all) => all
                .iter()
                .map(of)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .max(),
            Self::Choose(condition, then, otherwise) => {
                match condition.holds(parameters, variables)? {
                    true => of(then),
                    false => of(otherwise),
                }
            }
        }
    }
}

impl Condition {
    /// All of some, as simple as it is seen to be.
    pub fn all(of: Vec<Self>) -> Self {
        let mut others: Vec<Self> = Vec::new();
        for one in of {
            match one {
                Self::Constant(true) => {}
                Self::Constant(false) => return one,
                Self::All(more) => others.extend(more),
                one if others.contains(&one) => {}
                one => others.push(one),
            }
        }
        match others.len() {
            0 => Self::Constant(true),
            1 => others.remove(0),
            _ => Self::All(others),
        }
    }

    /// Whether it holds. Nothing where one of its numbers has no value.
    pub fn holds(&self, parameters: &[i64], variables: &[Option<i64>]) -> Option<bool> {
        let of = |one: &Self| one.holds(parameters, variables);
        let value = |one: &Expression| one.value(parameters, variables);
        match self {
            Self::Constant(answer) => Some(*answer),
            Self::AtLeast(left, right) => Some(value(left)? >= value(right)?),
            Self::Equal(left, right) => Some(value(left)? == value(right)?),
            Self::All(all) => all
                .iter()
                .try_fold(true, |so_far, one| Some(so_far && of(one)?)),
            Self::Any(all) => all
                .iter()
                .try_fold(false, |so_far, one| Some(so_far || of(one)?)),
            Self::Not(one) => of(one).map(|answer| !answer),
        }
    }
}

/// An iteration of a parallel loop that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Which time it is that a parallel loop is run: two of the same number may run at the same time.
    pub run: usize,
    /// The loop's variable.
    pub variable: usize,
    /// Its value.
    pub value: i64,
}

/// What is done at an iteration of a nest: its number, the values of its iteration variables, and the parallel loops around.
pub type Visit<'a> = dyn FnMut(usize, &[i64], &[Turn]) + 'a;

/// Runs code: `visit` is called for each iteration of a nest, in order. Says whether all numbers had values.
pub fn run(code: &Code, parameters: &[i64], visit: &mut Visit<'_>) -> bool {
    let mut state = State {
        parameters,
        variables: Vec::new(),
        turns: Vec::new(),
        runs: 0,
        visit,
    };
    state.run(code).is_some()
}

struct State<'a, 'b> {
    parameters: &'a [i64],
    variables: Vec<Option<i64>>,
    turns: Vec<Turn>,
    runs: usize,
    visit: &'a mut Visit<'b>,
}

impl State<'_, '_> {
    fn value(&self, of: &Expression) -> Option<i64> {
        of.value(self.parameters, &self.variables)
    }

    fn run(&mut self, code: &Code) -> Option<()> {
        match code {
            Code::Sequence(all) => all.iter().try_for_each(|one| self.run(one)),
            Code::If(choice) => match choice.condition.holds(self.parameters, &self.variables)? {
                true => self.run(&choice.then),
                false => choice.otherwise.iter().try_for_each(|one| self.run(one)),
            },
            Code::Run { nest, iteration } => {
                let values: Option<Vec<_>> = iteration.iter().map(|one| self.value(one)).collect();
                (self.visit)(*nest, &values?, &self.turns);
                Some(())
            }
            Code::For(looped) => {
                let (first, last) = (self.value(&looped.first)?, self.value(&looped.last)?);
                let step = self.value(&looped.step).filter(|&step| step > 0)?;
                if self.variables.len() <= looped.variable {
                    self.variables.resize(looped.variable + 1, None);
                }
                // Loops one in the other have different variables.
                if self.variables[looped.variable].is_some() {
                    return None;
                }
                self.runs += 1;
                let run = self.runs;
                let mut value = first;
                while value <= last {
                    self.variables[looped.variable] = Some(value);
                    if looped.is_parallel {
                        self.turns.push(Turn {
                            run,
                            variable: looped.variable,
                            value,
                        });
                    }
                    self.run(&looped.body)?;
                    if looped.is_parallel {
                        self.turns.pop();
                    }
                    value = value.checked_add(step)?;
                }
                self.variables[looped.variable] = None;
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_numbers_that_differ_by_a_constant_one_is_enough() {
        let parameter =
            |constant| Expression::sum(Expression::Parameter(0), Expression::Constant(constant));
        let three = |first: i64| {
            vec![
                parameter(first),
                Expression::Constant(5),
                parameter(1),
                Expression::Constant(2),
            ]
        };
        let all = [parameter(2), Expression::Constant(5)];
        assert_eq!(
            Expression::largest(three(2)),
            Expression::Largest(all.to_vec())
        );
        assert_eq!(
            Expression::least(vec![parameter(-1), parameter(0)]),
            parameter(-1)
        );
        assert_eq!(
            Expression::difference(parameter(3), parameter(3)),
            Expression::Constant(0)
        );
        assert_eq!(
            Expression::quotient(Expression::Constant(-1), Expression::Constant(4)),
            Expression::Constant(-1)
        );
    }

    #[test]
    fn a_number_that_does_not_fit_has_no_value() {
        let large = Expression::sum(Expression::Parameter(0), Expression::Constant(i64::MAX));
        assert_eq!(large.value(&[1], &[]), None);
        assert_eq!(large.value(&[0], &[]), Some(i64::MAX));
        let divided = Expression::quotient(Expression::Constant(1), Expression::Parameter(0));
        assert_eq!(divided.value(&[0], &[]), None);
    }
}
