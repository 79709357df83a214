//! Every option of the plugin.
//!
//! | option | pass parameter | compiler flag | environment |
//! |---|---|---|---|
//! | where loops go | `okl-lower<mpi>`, `okl-lower<cuda;cpu>` | `-mllvm -okl-target=mpi`, `=cuda,cpu`, `=mpi+cuda,cpu`, or as a plug-in names its own | `OKL_TARGET=mpi` |
//! | declines are errors | `okl-lower<strict>` | `-mllvm -okl-strict` | |
//! | parallel loops that follow each other are chains | `okl-lower<fuse>` | `-mllvm -okl-fuse` | |
//! | code is left to be compiled once more | | `-mllvm -okl-jit` | |
//! | plug-ins of the user's | `okl-plugins<FILE;FILE>` | `-mllvm -okl-plugin=FILE` | |
//! | modules are kept for linking | | `-mllvm -okl-keep=WORDS` | |
//! | mathematical functions on CUDA devices | | `-mllvm -okl-libdevice=FILE` | `OKL_LIBDEVICE=FILE`, `CUDA_PATH`, `CUDA_HOME` |
//!
//! A pass parameter beats a flag, a flag beats the environment.

use std::path::{Path, PathBuf};

use crate::llvm::{libdevice_option, user_targets};
use crate::lower::gpu::target::{CUDA, HIP, HIP_USUAL, SPIRV};
use crate::plan::{Plan, Target};

/// What the user may call them. Behind `hip` there may be a processor: `hip:gfx942`; in front of the first one `mpi+`.
const NAMES: [&str; 5] = ["mpi", "cpu", "cuda", "hip", "spirv"];

/// All of them, with those of the user's plug-ins.
fn valid(own: &[String]) -> String {
    let own: String = own.iter().map(|name| format!(", {name}")).collect();
    let names = NAMES.join(", ");
    format!("{names}, mpi+cuda, mpi+hip, mpi+spirv{own}")
}

/// Why a target of a plug-in cannot be called so.
pub fn wrong_name(name: &str) -> Option<String> {
    let is_letter = |one: char| one.is_ascii_alphanumeric() || "-_".contains(one);
    let is_other = NAMES.contains(&name) || ["strict", "fuse"].contains(&name);
    match (name.is_empty() || !name.chars().all(is_letter), is_other) {
        (true, _) => Some(format!(
            "a target cannot be called '{name}': letters, digits, - and _"
        )),
        (_, true) => Some(format!(
            "a target cannot be called '{name}', which is okl's own"
        )),
        (false, false) => None,
    }
}

/// The target of a plug-in that some names ask for, which are as they have to be then.
fn own_target(names: &[&str], own: &[String]) -> Result<Option<String>, String> {
    let is_own = |name: &&&str| own.iter().any(|one| one == **name);
    let Some(name) = names.iter().find(is_own) else {
        return Ok(None);
    };
    match names {
        [_] | [_, "cpu"] if names[0] == *name => Ok(Some(name.to_string())),
        _ => Err(format!(
            "target '{name}' of a plug-in goes with 'cpu' behind it, and with no other"
        )),
    }
}

/// What is in front of a target that runs what a rank has of a loop.
const RANKS: &str = "mpi+";

/// Whether ranks share what goes there, and what it goes to. An error is the beginning of a message.
fn targets_called(name: &str) -> Result<(bool, Vec<Target>), String> {
    if let Some(share) = name.strip_prefix(RANKS) {
        return match targets_called(share) {
            Ok((false, targets)) if targets != [Target::Cpu] => Ok((true, targets)),
            Ok(_) => Err(format!(
                "target '{name}': behind 'mpi+' stands a kind of device"
            )),
            Err(why) => Err(why),
        };
    }
    let targets = match name {
        "mpi" => return Ok((true, vec![Target::Cpu])),
        "cpu" => vec![Target::Cpu],
        "cuda" => vec![Target::Gpu(&CUDA)],
        "spirv" => vec![Target::Gpu(&SPIRV)],
        "hip" => HIP[..HIP_USUAL].iter().map(Target::Gpu).collect(),
        _ => {
            let Some(processor) = name.strip_prefix("hip:") else {
                return Err(format!("unknown target '{name}'"));
            };
            let Some(found) = HIP.iter().find(|one| one.processor.name == processor) else {
                let known = HIP.each_ref().map(|one| one.processor.name).join(", ");
                return Err(format!(
                    "unknown processor '{processor}' of target 'hip' (there are {known})"
                ));
            };
            vec![Target::Gpu(found)]
        }
    };
    Ok((false, targets))
}

/// The plan of these names, the first choice first. Names of several devices, and of the processor behind them, go together.
/// An error is the end of a message.
pub fn plan_called<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Plan, String> {
    let mut plan: Option<Plan> = None;
    for name in names {
        let (distribute, targets) = targets_called(name)?;
        let Some(plan) = &mut plan else {
            plan = Some(Plan {
                distribute,
                targets,
            });
            continue;
        };
        if plan.distribute && !plan.has_devices() || distribute && name == "mpi" {
            return Err(
                "target 'mpi' goes with no other (ranks with a device each: 'mpi+cuda')"
                    .to_string(),
            );
        }
        if distribute {
            return Err(format!(
                "target '{name}' is not the first one: 'mpi+' is said once"
            ));
        }
        if plan.has_cpu() {
            return Err(format!(
                "target '{name}' behind 'cpu', which is there whenever it is asked for: it comes last"
            ));
        }
        if targets.iter().any(|target| plan.targets.contains(target)) {
            return Err(format!("target '{name}' twice"));
        }
        plan.targets.extend(targets);
    }
    plan.ok_or_else(|| "no target".to_string())
}

/// Where a CUDA toolkit has libdevice.
const IN_TOOLKIT: &str = "nvvm/libdevice/libdevice.10.bc";
/// Where toolkits are installed.
const TOOLKITS: [&str; 2] = ["/usr/local/cuda", "/usr/lib/cuda"];

/// NVIDIA's functions for devices, where there are any. An error is why those that were asked for are not.
pub fn libdevice() -> Result<Option<PathBuf>, String> {
    libdevice_by(&libdevice_option(), |name| std::env::var(name).ok())
}

fn libdevice_by(
    flag: &str,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Option<PathBuf>, String> {
    let variable = environment("OKL_LIBDEVICE").unwrap_or_default();
    let asked = [("-okl-libdevice", flag), ("OKL_LIBDEVICE", &variable)];
    if let Some((name, value)) = asked.into_iter().find(|(_, value)| !value.is_empty()) {
        if value == "none" {
            return Ok(None);
        }
        let path = Path::new(value);
        let file = [path.to_owned(), path.join(IN_TOOLKIT)];
        let found = file.into_iter().find(|file| file.is_file());
        return found.map(Some).ok_or_else(|| {
            format!("{name}={value}: neither that nor {IN_TOOLKIT} in it is a file")
        });
    }
    let named = ["CUDA_PATH", "CUDA_HOME"].map(environment);
    let named = named.into_iter().flatten().map(PathBuf::from);
    let mut folders = named.chain(TOOLKITS.map(PathBuf::from));
    Ok(folders.find_map(|folder| Some(folder.join(IN_TOOLKIT)).filter(|file| file.is_file())))
}

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where regions go, where the user says it.
    pub plan: Option<Plan>,
    /// The target of a plug-in that gets loops which threads would share; the plan is the processor's then.
    pub own: Option<String>,
    /// Whether a decline is an error.
    pub strict: bool,
    /// Whether parallel loops that follow each other are chains.
    pub fuse: bool,
}

impl Options {
    /// Reads the options from their three sources. An error is a complete message.
    pub fn read(
        parameters: &str,
        target_flag: &str,
        strict_flag: bool,
        fuse_flag: bool,
        environment: Option<&str>,
    ) -> Result<Options, String> {
        let own: Vec<_> = user_targets().into_iter().map(|one| one.name).collect();
        let flags = (strict_flag, fuse_flag);
        Self::read_with(&own, parameters, target_flag, flags, environment)
    }

    /// The same where plug-ins have these targets.
    fn read_with(
        own: &[String],
        parameters: &str,
        target_flag: &str,
        (strict_flag, fuse_flag): (bool, bool),
        environment: Option<&str>,
    ) -> Result<Options, String> {
        let (mut strict, mut fuse) = (strict_flag, fuse_flag);
        let mut named = Vec::new();
        for word in parameters.split(';').filter(|word| !word.is_empty()) {
            match word {
                "strict" => strict = true,
                "fuse" => fuse = true,
                _ if NAMES.contains(&word)
                    || word.starts_with("hip:")
                    || word.starts_with(RANKS)
                    || own.iter().any(|one| one == word) =>
                {
                    named.push(word)
                }
                _ => {
                    return Err(format!(
                        "okl: unknown parameter '{word}' of okl-lower; valid are: {}, strict, fuse",
                        valid(own)
                    ));
                }
            }
        }
        let flag = target_flag.split(',');
        let variable = environment.unwrap_or_default().split(',');
        let sources = [
            (named, "as a parameter of okl-lower"),
            (flag.collect(), "of -okl-target"),
            (variable.collect(), "in OKL_TARGET"),
        ];
        let mut given = sources
            .into_iter()
            .filter(|(names, _)| !names.is_empty() && names[..] != [""]);
        let plan = given.next().map(|(names, place)| {
            let plan = own_target(&names, own).and_then(|found| match found {
                Some(name) => Ok((Plan::local(), Some(name))),
                None => plan_called(names).map(|plan| (plan, None)),
            });
            plan.map_err(|why| format!("okl: {why} {place}; valid are: {}", valid(own)))
        });
        let (plan, own) = plan.transpose()?.unzip();
        Ok(Options {
            plan,
            own: own.flatten(),
            strict,
            fuse,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(flag: &str) -> Result<Vec<Target>, String> {
        let options = Options::read("", flag, false, false, None)?;
        Ok(options.plan.expect("it is named").targets)
    }

    #[test]
    fn libdevice_is_where_the_user_says_or_a_toolkit_is() {
        let folder = std::env::temp_dir().join(format!("okl-libdevice-{}", std::process::id()));
        let file = folder.join(IN_TOOLKIT);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&file, "").expect("it can be written");
        let folder_name = folder.to_str().expect("a name");
        let none = |_: &str| None;
        let toolkit = |name: &str| (name == "CUDA_HOME").then(|| folder_name.to_string());
        let other = |name: &str| (name == "OKL_LIBDEVICE").then(|| "/nowhere".to_string());
        let found = Ok(Some(file.clone()));
        assert_eq!(libdevice_by(folder_name, none), found);
        assert_eq!(libdevice_by(file.to_str().expect("a name"), other), found);
        assert_eq!(libdevice_by("", toolkit), found);
        assert_eq!(libdevice_by("none", toolkit), Ok(None));
        let why = libdevice_by("", other).expect_err("it is not there");
        assert!(
            why.starts_with("OKL_LIBDEVICE=/nowhere: neither that nor nvvm/"),
            "{why}"
        );
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn devices_are_tried_in_the_order_in_which_they_are_named() {
        let cuda = Target::Gpu(&CUDA);
        assert_eq!(targets("cuda"), Ok(vec![cuda]));
        assert_eq!(targets("cuda,cpu"), Ok(vec![cuda, Target::Cpu]));
        let options = Options::read("cuda;cpu;strict", "mpi", false, false, None);
        let plan = options.expect("valid options").plan.expect("it is named");
        assert_eq!((plan.has_cpu(), plan.devices().count()), (true, 1));
        assert!(!plan.distribute);
    }

    #[test]
    fn ranks_may_have_devices() {
        let plan = |flag: &str| {
            let options = Options::read("", flag, false, false, None);
            options.expect("valid options").plan.expect("it is named")
        };
        let all = plan("mpi+cuda,hip:gfx942,cpu");
        assert!(all.distribute && all.has_cpu());
        assert_eq!(all.devices().count(), 2);
        let cuda = plan("mpi+cuda");
        assert!(cuda.distribute && !cuda.has_cpu() && cuda.has_devices());
        assert!(!plan("mpi").has_devices());
    }

    #[test]
    fn targets_of_plug_ins_go_alone_or_in_front_of_cpu() {
        let own = ["mine".to_owned(), "yours".to_owned()];
        let read = |names: &str| Options::read_with(&own, "", names, (false, false), None);
        for names in ["mine", "mine,cpu"] {
            let options = read(names).expect("valid options");
            assert_eq!(options.own.as_deref(), Some("mine"), "{names}");
            assert_eq!(options.plan, Some(Plan::local()), "{names}");
        }
        for names in [
            "cpu,mine",
            "mine,cuda",
            "mpi,mine",
            "mine,mine",
            "mine,cpu,cpu",
        ] {
            let told = "okl: target 'mine' of a plug-in goes with 'cpu' behind it, and with no other of -okl-target; valid are: mpi, \
                        cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv, mine, yours";
            assert_eq!(read(names), Err(told.to_owned()), "{names}");
        }
        for wrong in ["", "a,b", "cpu", "strict"] {
            assert!(wrong_name(wrong).is_some(), "{wrong}");
        }
        assert_eq!(wrong_name("my_pool-2"), None);
    }

    #[test]
    fn lists_that_make_no_sense_are_errors() {
        const ALONE: &str =
            "target 'mpi' goes with no other (ranks with a device each: 'mpi+cuda')";
        for (flag, why) in [
            ("mpi,cuda", ALONE),
            ("cuda,mpi", ALONE),
            ("mpi+cuda,mpi", ALONE),
            (
                "mpi+cuda,mpi+hip",
                "target 'mpi+hip' is not the first one: 'mpi+' is said once",
            ),
            (
                "cuda,mpi+cuda",
                "target 'mpi+cuda' is not the first one: 'mpi+' is said once",
            ),
            (
                "mpi+cpu",
                "target 'mpi+cpu': behind 'mpi+' stands a kind of device",
            ),
            (
                "mpi+mpi",
                "target 'mpi+mpi': behind 'mpi+' stands a kind of device",
            ),
            ("mpi+gpu", "unknown target 'gpu'"),
            ("mpi+cuda+hip", "unknown target 'cuda+hip'"),
            ("mpi+cuda,cuda", "target 'cuda' twice"),
            (
                "cpu,cuda",
                "target 'cuda' behind 'cpu', which is there whenever it is asked for: it comes last",
            ),
            ("cuda,cuda", "target 'cuda' twice"),
            ("cuda,", "unknown target ''"),
            ("gpu", "unknown target 'gpu'"),
            ("hip,hip:gfx90a", "target 'hip:gfx90a' twice"),
            (
                "hip:gfx1",
                "unknown processor 'gfx1' of target 'hip' (there are gfx90a, gfx942, gfx1100, gfx900, gfx906, gfx908, gfx950, gfx1010, gfx1030, gfx1101, gfx1102, gfx1200, gfx1201)",
            ),
        ] {
            let told = format!(
                "okl: {why} of -okl-target; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv"
            );
            assert_eq!(targets(flag), Err(told), "{flag}");
        }
    }
}
