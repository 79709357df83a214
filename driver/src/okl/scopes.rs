//! The names that are declared, where they can be seen.

use std::collections::HashMap;

/// What is known of an object of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It is a number, or nothing.
    Scalar,
    /// It is a pointer.
    Pointer,
    /// It is an array.
    Array,
    /// It may be anything.
    #[default]
    Unknown,
}

/// The dimensions of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dimensions {
    /// Their sizes; none if only their order is known yet.
    pub(crate) sizes: Vec<String>,
    /// Which of them is first, second, ... in memory.
    pub(crate) order: Vec<usize>,
    /// The names in the sizes, and what they mean where the array is declared, if they mean anything.
    pub(crate) names: Vec<(String, Option<usize>)>,
}

/// A type that has a name, with attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) dimensions: Option<Dimensions>,
    /// The attributes that each variable of the type has, and the annotations these become.
    pub(crate) annotations: Vec<(&'static str, String)>,
    pub(crate) shape: Shape,
}

/// What a name is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing of interest.
    Plain,
    /// A variable that can be indexed by parentheses.
    Array(Dimensions),
    /// A type.
    Type(Type),
}

/// A declared name.
#[derive(Debug)]
pub(crate) struct Declared {
    /// No other declaration has it.
    pub(crate) id: usize,
    /// The byte at which it is declared.
    pub(crate) at: usize,
    pub(crate) what: What,
}

/// The scopes that are open at a place.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    names: HashMap<String, Vec<Declared>>,
    open: Vec<Vec<String>>,
    next: usize,
}

impl Scopes {
    pub(crate) fn push(&mut self) {
        self.open.push(Vec::new());
    }

    pub(crate) fn pop(&mut self) {
        for name in self.open.pop().unwrap_or_default() {
            if let Some(all) = self.names.get_mut(&name) {
                all.pop();
                if all.is_empty() {
                    self.names.remove(&name);
                }
            }
        }
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: &str, what: What, at: usize) {
        self.next += 1;
        let declared = Declared {
            id: self.next,
            at,
            what,
        };
        self.names
            .entry(name.to_owned())
            .or_default()
            .push(declared);
        if let Some(scope) = self.open.last_mut() {
            scope.push(name.to_owned());
        }
    }

    /// What a name means here.
    pub(crate) fn find(&self, name: &str) -> Option<&Declared> {
        self.names.get(name)?.last()
    }

    /// Looks up again what the sizes of the arrays of the innermost scope name: parameters may name
    /// those behind them.
    pub(crate) fn resolve(&mut self) {
        let Some(scope) = self.open.last() else {
            return;
        };
        for name in scope {
            let Some(What::Array(mut dimensions)) = self.find(name).map(|one| one.what.clone())
            else {
                continue;
            };
            for (name, id) in &mut dimensions.names {
                *id = self
                    .names
                    .get(name)
                    .and_then(|all| all.last())
                    .map(|one| one.id);
            }
            if let Some(one) = self.names.get_mut(name).and_then(|all| all.last_mut()) {
                one.what = What::Array(dimensions);
            }
        }
    }
}
