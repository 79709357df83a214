//! Variables by which the user says what he wants. An error names the variable and says what is valid; one that is empty
//! says nothing.

use std::path::PathBuf;

use crate::Environment;

/// What a variable says.
pub fn said(environment: impl Environment, name: &str) -> Option<String> {
    environment(name).filter(|text| !text.is_empty())
}

/// `0` or `1`; what is not said is `default`.
pub fn switch(environment: impl Environment, name: &str, default: bool) -> Result<bool, String> {
    match said(environment, name).as_deref() {
        None => Ok(default),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(format!("{name}={other}: valid values are 0 and 1")),
    }
}

/// Where `OKL_STATS` has statistics go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// To standard error.
    Printed,
    /// Into a file, as JSON.
    Written(PathBuf),
}

/// `OKL_STATS`: nowhere, `1`, or the name of a file that ends with `.json`.
pub fn statistics(environment: impl Environment) -> Result<Option<Statistics>, String> {
    const NAME: &str = "OKL_STATS";
    match said(&environment, NAME) {
        Some(file) if file.ends_with(".json") => Ok(Some(Statistics::Written(file.into()))),
        _ => match switch(environment, NAME, false) {
            Ok(is_on) => Ok(is_on.then_some(Statistics::Printed)),
            Err(wrong) => Err(format!("{wrong}, or a file FILE.json")),
        },
    }
}

/// A whole number from 1 on, if one is said.
pub fn number(environment: impl Environment, name: &str) -> Result<Option<u32>, String> {
    let Some(text) = said(environment, name) else {
        return Ok(None);
    };
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(format!(
            "{name}={text}: valid values are whole numbers from 1"
        )),
    }
}

/// So many bytes: a number and one of `units`, which are some of K, M and G; at least `least`, if it is said.
pub fn size(
    environment: impl Environment,
    name: &str,
    units: &str,
    least: &str,
) -> Result<Option<u64>, String> {
    let bytes = |text: &str| {
        let (at, unit) = text.char_indices().next_back()?;
        let unit = unit.to_ascii_uppercase();
        let number: u64 = text[..at].parse().ok()?;
        let power = "KMG".find(unit).filter(|_| units.contains(unit))?;
        number.checked_mul(1 << (10 * (power + 1)))
    };
    let Some(text) = said(environment, name) else {
        return Ok(None);
    };
    match bytes(&text) {
        Some(number) if Some(number) >= bytes(least) => Ok(Some(number)),
        _ => {
            let units: Vec<_> = units.chars().map(String::from).collect();
            let units = units.join(", ");
            Err(format!(
                "{name}={text}: valid values are a number and one of {units}, at least {least}"
            ))
        }
    }
}

/// What `OKL_BACKEND` chooses among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Backend {
    /// One process, one thread, one element at a time.
    Sequential,
    /// One process, its threads and vectors.
    Cpu,
    /// The ranks of a job.
    Mpi,
    /// A device of NVIDIA's.
    Cuda,
    /// A machine that executes its code.
    CudaEmulated,
    /// A device of AMD's.
    Hip,
    /// A device of OpenCL's.
    Spirv,
}

impl Backend {
    fn name(self) -> &'static str {
        match self {
            Self::Sequential => "seq",
            Self::Cpu => "cpu",
            Self::Mpi => "mpi",
            Self::Cuda => "cuda",
            Self::CudaEmulated => "cuda-emulated",
            Self::Hip => "hip",
            Self::Spirv => "spirv",
        }
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// `OKL_BACKEND`, one of those that are `valid` for `program`, if one is said.
pub fn backend(
    environment: impl Environment,
    program: &str,
    valid: &[Backend],
) -> Result<Option<Backend>, String> {
    let Some(text) = said(environment, "OKL_BACKEND") else {
        return Ok(None);
    };
    if let Some(&found) = valid.iter().find(|one| one.name() == text) {
        return Ok(Some(found));
    }
    let names: Vec<&str> = valid.iter().map(|one| one.name()).collect();
    Err(format!(
        "OKL_BACKEND={text}: valid values for {program} are {}",
        listed(&names)
    ))
}

/// `OMP_NUM_THREADS`: how many threads there are to be at each level of nesting, if it is said. A value that OpenMP
/// (5.2, section 21.1.2) does not know is an error.
pub fn threads(environment: impl Environment) -> Result<Option<Vec<u32>>, String> {
    let Some(text) = said(environment, "OMP_NUM_THREADS") else {
        return Ok(None);
    };
    let number = |text: &str| {
        let number = text.trim().parse::<i32>().ok()?;
        u32::try_from(number).ok().filter(|number| *number > 0)
    };
    let numbers: Option<Vec<u32>> = text.split(',').map(number).collect();
    numbers.map(Some).ok_or_else(|| {
        format!(
            "OMP_NUM_THREADS={text}: valid values are whole numbers from 1, separated by commas"
        )
    })
}

/// Words as they stand in a sentence: `a, b and c`.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_is_one_of_those_that_a_program_has() {
        let said = |text: &'static str| {
            let valid = [Backend::Cpu, Backend::Mpi];
            backend(move |_: &str| Some(text.to_owned()), "a program", &valid)
        };
        assert_eq!(said(""), Ok(None));
        assert_eq!(said("mpi"), Ok(Some(Backend::Mpi)));
        let wrong = "OKL_BACKEND=seq: valid values for a program are cpu and mpi".to_string();
        assert_eq!(said("seq"), Err(wrong));
        assert!(said("MPI").is_err());
        assert_eq!(backend(|_: &str| None, "", &[]), Ok(None));
    }

    #[test]
    fn threads_are_numbers_of_each_level() {
        let said = |text: &'static str| threads(move |_: &str| Some(text.to_owned()));
        assert_eq!(threads(|_: &str| None), Ok(None));
        assert_eq!(said(""), Ok(None));
        assert_eq!(said(" 4 "), Ok(Some(vec![4])));
        assert_eq!(said("4, 2"), Ok(Some(vec![4, 2])));
        for wrong in [" ", "abc", "4,0", "-1", "4,", "3000000000"] {
            let why = format!(
                "OMP_NUM_THREADS={wrong}: valid values are whole numbers from 1, separated by commas"
            );
            assert_eq!(said(wrong), Err(why));
        }
    }

    #[test]
    fn what_is_not_valid_is_named() {
        let set = |value: &'static str| move |_: &str| Some(value.to_string());
        assert_eq!(switch(set("1"), "A", false), Ok(true));
        assert_eq!(switch(set(""), "A", true), Ok(true));
        assert_eq!(switch(|_: &str| None, "A", true), Ok(true));
        let wrong = "A=yes: valid values are 0 and 1".to_string();
        assert_eq!(switch(set("yes"), "A", true), Err(wrong));
        assert_eq!(statistics(set("1")), Ok(Some(Statistics::Printed)));
        assert_eq!(statistics(set("0")), Ok(None));
        let file = Statistics::Written("a/run.json".into());
        assert_eq!(statistics(set("a/run.json")), Ok(Some(file)));
        let wrong = "OKL_STATS=run: valid values are 0 and 1, or a file FILE.json".to_string();
        assert_eq!(statistics(set("run")), Err(wrong));
        assert_eq!(number(set("7"), "N"), Ok(Some(7)));
        assert_eq!(number(|_: &str| None, "N"), Ok(None));
        assert_eq!(number(set(""), "N"), Ok(None));
        let wrong = "N=0: valid values are whole numbers from 1".to_string();
        assert_eq!(number(set("0"), "N"), Err(wrong));
    }
}
