//! What the user says of devices: `OKL_BACKEND` and `OKL_DEVICE`.

use okl_job::{Environment, launcher, settings};

use crate::cuda::{CUDA, EMULATED};
use crate::hip::HIP;
use crate::opencl::OPENCL;
use crate::table::Kind;

/// All kinds of drivers; those that are found without being asked for come first.
pub static KINDS: [&Kind; 4] = [&CUDA, &HIP, &OPENCL, &EMULATED];

/// How many of [`KINDS`] need not be asked for.
pub const FOUND: usize = 3;

/// What runs kernels.
#[derive(Clone, Copy)]
pub enum Asked {
    /// The first whose device is there.
    Any,
    /// One kind of device.
    Kind(&'static Kind),
    /// The processor.
    Processor,
}

/// `OKL_BACKEND`.
pub fn backend(environment: impl Environment, is_rank: bool) -> Result<Asked, String> {
    let Some(text) = settings::said(environment, "OKL_BACKEND") else {
        return Ok(Asked::Any);
    };
    // On ranks their processors run kernels.
    if text == "cpu" || text == "mpi" && is_rank {
        return Ok(Asked::Processor);
    }
    let kind = KINDS.iter().find(|kind| kind.backend == text);
    kind.map(|kind| Asked::Kind(kind)).ok_or_else(|| {
        let words = ["cuda", "cuda-emulated", "hip", "spirv", "cpu"];
        let words = settings::listed(&words);
        format!("OKL_BACKEND={text}: valid values for kernels on devices are {words}")
    })
}

/// Which of `count` devices this process works with: `OKL_DEVICE`, or else the ranks of a node take turns.
pub fn device(environment: impl Environment, count: usize, words: &str) -> Result<usize, String> {
    const NAME: &str = "OKL_DEVICE";
    let Some(text) = settings::said(&environment, NAME) else {
        let rank = launcher::rank_of_node(&environment).or_else(|| launcher::rank(&environment));
        return Ok(rank.unwrap_or(0) as usize % count);
    };
    match text.parse::<usize>() {
        Ok(number) if number < count => Ok(number),
        Ok(_) => Err(format!(
            "{NAME}={text}: of {words} devices there are {count}, numbered from 0"
        )),
        Err(_) => Err(format!(
            "{NAME}={text}: valid values are whole numbers from 0"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn a_backend_is_a_kind_of_device_or_the_processor() {
        let said = |text| match backend(set(&[("OKL_BACKEND", text)]), text == "mpi") {
            Ok(Asked::Any) => "any".to_owned(),
            Ok(Asked::Kind(kind)) => kind.words.to_owned(),
            Ok(Asked::Processor) => "processor".to_owned(),
            Err(wrong) => wrong,
        };
        assert_eq!(said(""), "any");
        assert_eq!(said("cuda"), "CUDA");
        assert_eq!(said("cuda-emulated"), "emulated CUDA");
        for kind in KINDS {
            assert_eq!(said(kind.backend), kind.words);
            assert!(said("gpu").contains(kind.backend));
        }
        assert_eq!(said("cpu"), "processor");
        assert_eq!(said("mpi"), "processor");
        assert!(backend(set(&[("OKL_BACKEND", "mpi")]), false).is_err());
        assert_eq!(
            said("gpu"),
            "OKL_BACKEND=gpu: valid values for kernels on devices are cuda, cuda-emulated, hip, spirv and cpu"
        );
    }

    #[test]
    fn ranks_of_a_node_take_turns_at_its_devices() {
        let number = |variables: &[(&str, &str)]| device(set(variables), 2, "CUDA");
        assert_eq!(number(&[]), Ok(0));
        let local = |rank| {
            number(&[
                ("OMPI_COMM_WORLD_RANK", "4"),
                ("OMPI_COMM_WORLD_LOCAL_RANK", rank),
            ])
        };
        assert_eq!([local("0"), local("1"), local("2")], [Ok(0), Ok(1), Ok(0)]);
        assert_eq!(number(&[("PMI_RANK", "3")]), Ok(1));
        assert_eq!(number(&[("PMI_RANK", "3"), ("OKL_DEVICE", "0")]), Ok(0));
        let wrong = "OKL_DEVICE=2: of CUDA devices there are 2, numbered from 0".to_owned();
        assert_eq!(number(&[("OKL_DEVICE", "2")]), Err(wrong));
        let wrong = "OKL_DEVICE=one: valid values are whole numbers from 0".to_owned();
        assert_eq!(number(&[("OKL_DEVICE", "one")]), Err(wrong));
    }
}
