//! What stands behind an instruction's name: each word is taken by what understands it, and one that nobody takes is an error.

use super::{Result, wrong};
use crate::float::Rounding;
use crate::parse::Space;
use crate::types::Type;

/// The words behind a name.
pub struct Words<'a> {
    name: String,
    line: u32,
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// Those of an instruction.
    pub fn of(words: &'a [String], line: u32) -> Self {
        Self {
            name: words.join("."),
            line,
            rest: words[1..].iter().map(String::as_str).collect(),
        }
    }

    /// Takes a word if it is there.
    pub fn has(&mut self, word: &str) -> bool {
        let at = self.rest.iter().position(|one| *one == word);
        at.map(|at| self.rest.remove(at)).is_some()
    }

    /// Takes the first word that means something.
    pub fn find<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut found = self.rest.iter().enumerate();
        let (at, found) = found.find_map(|(at, word)| Some((at, meaning(word)?)))?;
        self.rest.remove(at);
        Some(found)
    }

    /// Takes all types.
    pub fn types(&mut self) -> Vec<Type> {
        let mut types = Vec::new();
        while let Some(found) = self.find(Type::named) {
            types.push(found);
        }
        types
    }

    /// Takes the only type.
    pub fn one_type(&mut self) -> Result<Type> {
        match self.types()[..] {
            [one] => Ok(one),
            _ => self.unknown(),
        }
    }

    /// Takes a rounding.
    pub fn rounding(&mut self) -> Option<Rounding> {
        self.find(|word| {
            Some(match word {
                "rn" => Rounding::Nearest,
                "rna" => Rounding::Away,
                "rz" => Rounding::Zero,
                "rm" => Rounding::Down,
                "rp" => Rounding::Up,
                _ => return None,
            })
        })
    }

    /// Takes a rounding to whole numbers.
    pub fn whole_rounding(&mut self) -> Option<Rounding> {
        self.find(|word| {
            Some(match word {
                "rni" => Rounding::Nearest,
                "rzi" => Rounding::Zero,
                "rmi" => Rounding::Down,
                "rpi" => Rounding::Up,
                _ => return None,
            })
        })
    }

    /// Takes a state space; without one it is the generic one.
    pub fn space(&mut self) -> Space {
        let found = self.find(|word| {
            Some(match word {
                "global" => Space::Global,
                "shared" | "shared::cta" => Space::Shared,
                "local" => Space::Local,
                "const" => Space::Constant,
                "param" | "param::entry" | "param::func" => Space::Param,
                _ => return None,
            })
        });
        found.unwrap_or(Space::Generic)
    }

    /// Takes what only says how memory is cached.
    pub fn caching(&mut self) {
        for word in [
            "nc",
            "ca",
            "cg",
            "cs",
            "lu",
            "cv",
            "wb",
            "wt",
            "L1::evict_normal",
            "L1::evict_unchanged",
            "L1::evict_first",
            "L1::evict_last",
            "L1::no_allocate",
            "L2::64B",
            "L2::128B",
            "L2::256B",
        ] {
            self.has(word);
        }
    }

    /// Takes for whom an order holds.
    pub fn scope(&mut self) -> bool {
        let found = ["cta", "cluster", "gpu", "sys"].map(|word| self.has(word));
        found.contains(&true)
    }

    /// The error that the instruction is not known.
    pub fn unknown<T>(&self) -> Result<T> {
        wrong(
            self.line,
            format!("the instruction `{}` is not known", self.name),
        )
    }

    /// An error if a word is left.
    pub fn end(&self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(word) => wrong(
                self.line,
                format!("`.{word}` of the instruction `{}` is not known", self.name),
            ),
        }
    }
}
