//! OKL files as what OCCA's run time has in its cache of kernels for devices: a folder with `binary`, the code of the device,
//! `launcher_binary`, the library whose functions launch it, what these are called and passed, as JSON, and the OKL file, which
//! OCCA's programs name. Where OCCA itself makes the folder and calls the driver as its compiler, one of the two files.
//!
//! Guarantee: `binary`, by which OCCA knows that a folder is complete, is written last, and no file of the folder is ever there in
//! part.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use object::read::{Object, ObjectSection};
use okl_abi::AbiType;
use okl_abi::gpu::{self, DeviceKernel, DeviceParameter, does, parameter};
use serde_json::{Value, json};

use crate::arguments::{Arguments, Part, Stage, parts};
use crate::okl::occa::{CONSTANT, ENTRY, POINTER, SECTION, TYPES};
use crate::okl_inputs::{begins, output, plain};

/// What launches kernels, by OCCA's classes, but for what [`abi`] adds.
const LAUNCHER: &str = include_str!("occa_devices/launcher.cpp");
/// What the names of sections begin with that have code for a processor.
const CODE: &str = ".okl.device.";
/// Where OCCA is, and where it is installed, as its programs are told.
const OF_OCCA: [&str; 2] = ["OCCA_DIR", "OCCA_INSTALL_DIR"];

/// A kind of device that OCCA has a mode for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cuda,
    Hip,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// A folder.
    Folder,
    /// What launches.
    Launcher,
    /// The code.
    Code,
}

/// What a command is to write for OCCA's devices.
#[derive(Debug)]
pub(crate) struct Layout {
    kind: Kind,
    writes: Writes,
    /// The folder, or the file.
    to: PathBuf,
    /// The OKL file, of which OCCA's programs name a copy in the folder.
    source: PathBuf,
    /// The user's words but for the output.
    words: Vec<OsString>,
}

/// What OCCA calls what it has its compilers compile: for the host, and for the device. Both are made of OKL files, which lie
/// beside them.
const OCCAS_LAUNCHER: &str = "launcher_source.cpp";
const OCCAS_CODE: &str = ".source.cpp";
const OCCAS_OKL: &str = ".raw_source.cpp";
/// How options begin that OCCA has for compilers of devices.
const OF_DEVICE_COMPILERS: [&str; 5] = ["-cubin", "--genco", "-arch=", "--offload-arch=", "-x"];

/// The command in place of one that OCCA gives its compilers, and what that writes; `None` where it is no such command. An error
/// where it is not clear of which file.
pub(crate) fn in_place_of_occas(
    arguments: &Arguments,
    words: &[OsString],
) -> Result<Option<(Vec<OsString>, Writes)>, String> {
    let is_asked = arguments.wishes.occa && arguments.okl.is_empty();
    // In its other modes OCCA has the same compiler compile what it has made of OKL.
    let is_for_device = words
        .iter()
        .any(|word| word == "-cubin" || word == "--genco");
    let asked = words.iter().filter(|_| is_asked).find_map(|word| {
        let path = Path::new(word);
        let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
        let okl = |stem: &str| folder.join(format!("{stem}{OCCAS_OKL}"));
        let (okl, writes) = match name.strip_suffix(OCCAS_CODE) {
            _ if name == OCCAS_LAUNCHER => {
                let files = fs::read_dir(folder).ok()?.flatten();
                let is_okl = |file: &PathBuf| file.to_string_lossy().ends_with(OCCAS_OKL);
                let all: Vec<_> = files.map(|file| file.path()).filter(is_okl).collect();
                // While OCCA writes a file its name has something in front.
                let is_whole = |one: &&PathBuf| {
                    let name = one.to_string_lossy();
                    let mut others = all.iter().filter_map(|other| other.file_name()?.to_str());
                    !others.any(|other| name.ends_with(&format!(".{other}")))
                };
                let found: Vec<_> = all.iter().filter(is_whole).collect();
                match found[..] {
                    [one] => (one.clone(), Writes::Launcher),
                    [] => return None,
                    _ => {
                        let folder = folder.display();
                        return Some(Err(format!("{folder} has several files {OCCAS_OKL}: remove it, for OCCA to make it again")));
                    }
                }
            }
            Some(stem) if is_for_device => (okl(stem), Writes::Code),
            _ => return None,
        };
        okl.is_file().then(|| Ok(((word.clone(), okl), writes)))
    });
    let (okl, writes) = match asked {
        Some(Ok(asked)) => asked,
        Some(Err(why)) => return Err(why),
        None => return Ok(None),
    };
    let mut all = Vec::new();
    for part in parts(words) {
        match part {
            Part::Input(input) if input == okl.0 => {
                all.extend(["-x".into(), "okl".into(), okl.1.clone().into()]);
                all.extend(["-x".into(), "none".into()]);
            }
            Part::Option(option, _) if begins(option, &OF_DEVICE_COMPILERS) => {}
            Part::Option(option, value) => {
                all.push(option.to_owned());
                all.extend(value.map(OsStr::to_owned));
            }
            Part::Language(_) => {}
            Part::Input(input) => all.push(input.to_owned()),
        }
    }
    Ok(Some((all, writes)))
}

impl Layout {
    /// That of a command, if it asks for one.
    pub(crate) fn of(arguments: &Arguments, writes: Writes) -> Result<Option<Layout>, String> {
        let target = arguments.wishes.target.as_deref().unwrap_or_default();
        let mut kinds: Vec<_> = target.split(',').map(kind).collect();
        kinds.dedup();
        if !arguments.wishes.occa || kinds.iter().all(Result::is_err) {
            return match target.contains("spirv") && arguments.wishes.occa {
                true => Err(only_these(target)),
                false => Ok(None),
            };
        }
        let [Ok(kind)] = kinds[..] else {
            return Err(only_these(target));
        };
        let mut words = Vec::new();
        let mut to = None;
        for part in parts(&arguments.passed) {
            match part {
                part if output(&part).is_some() => to = output(&part),
                Part::Option(option, value) => {
                    words.push(option.to_owned());
                    words.extend(value.map(OsStr::to_owned));
                }
                Part::Language(language) => words.extend(["-x".into(), language.into()]),
                Part::Input(input) => words.push(input.to_owned()),
            }
        }
        words.extend(arguments.inputs.iter().map(|input| plain(input)));
        let (to, source) = match (to, arguments.stage, &arguments.okl[..]) {
            (Some(to), Stage::Link, [source]) if source != "-" => (to.into(), source.into()),
            _ => {
                return Err(format!(
                    "--okl-occa with --okl-target={target} writes a folder: it takes one OKL file, and -o FOLDER"
                ));
            }
        };
        Ok(Some(Layout {
            kind,
            writes,
            to,
            source,
            words,
        }))
    }

    /// How far that command goes that is run in place of the user's.
    pub(crate) fn stage(&self) -> Stage {
        match self.writes {
            Writes::Folder | Writes::Launcher => Stage::Link,
            Writes::Code => Stage::Compile,
        }
    }

    /// The words of the command that makes the library in a folder; where nobody launches by it, the object.
    pub(crate) fn words(&self, folder: &Path) -> Vec<OsString> {
        let mut words = self.words.clone();
        if self.writes == Writes::Code {
            let object = folder.join("launcher_binary").into();
            words.extend(["-c".into(), "-o".into(), object]);
            return words;
        }
        for place in OF_OCCA.into_iter().filter_map(env::var_os) {
            words.extend(["-I".into(), Path::new(&place).join("include").into()]);
        }
        let library = folder.join("launcher_binary").into();
        words.extend(["-shared".into(), "-fPIC".into(), "-o".into(), library]);
        words.extend(["-x".into(), "c++".into(), launcher(folder).into()]);
        words
    }

    /// Puts what launches kernels where those words name it.
    pub(crate) fn prepare(&self, folder: &Path) -> Result<(), String> {
        let file = launcher(folder);
        let text = LAUNCHER.replace("OKL_ABI\n", &abi());
        let text = text.replace("OKL_LAUNCH", launch());
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Writes OCCA's folder, when that command has run.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("cannot write {}: {error}", self.to.display());
        let library = fs::read(folder.join("launcher_binary")).map_err(failed)?;
        let parsed = object::File::parse(&*library);
        let parsed = parsed.map_err(|error| format!("launcher_binary: {error}"))?;
        let mut codes = Vec::new();
        let mut told = Vec::new();
        for section in parsed.sections() {
            let name = section.name().unwrap_or_default();
            let data = || section.data().unwrap_or_default().to_vec();
            if let Some(processor) = name.strip_prefix(CODE) {
                codes.push((processor.to_owned(), data()));
            } else if name == SECTION {
                told = kernels(&data());
            }
        }
        let code = match (self.kind, &mut codes[..]) {
            (_, []) => return Err("no kernel of the file runs on a device".to_owned()),
            (Kind::Cuda, [(_, text)]) => {
                text.truncate(text.iter().take_while(|byte| **byte != 0).count());
                text.clone()
            }
            (Kind::Hip, [(_, code)]) => code.clone(),
            (Kind::Hip, codes) => bundle(codes),
            (Kind::Cuda, _) => return Err("there is code for several kinds of devices".to_owned()),
        };
        match self.writes {
            Writes::Launcher => return write_program(&self.to, &library).map_err(failed),
            Writes::Code => return write_program(&self.to, &code).map_err(failed),
            Writes::Folder => {}
        }
        let has_entry = |name: &str| has_name(&code, name.as_bytes());
        fs::create_dir_all(&self.to).map_err(failed)?;
        // A folder of before is not complete from now on.
        match fs::remove_file(self.to.join("binary")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let write = |name: &str, bytes: &[u8]| write_program(&self.to.join(name), bytes);
        let build = |kernels: Vec<Value>| {
            let build = json!({
                "build": {"version": {"okl": env!("CARGO_PKG_VERSION")}},
                "kernel": {"dependencies": {}, "metadata": kernels},
            });
            format!("{build:#}\n").into_bytes()
        };
        let of_device = told.iter().flat_map(|kernel| {
            let name = |number: usize| format!("{ENTRY}{}_{number}", kernel.name);
            let names = (0..).map(name).take_while(|name| has_entry(name));
            names.map(|name| kernel.json(&name, None))
        });
        let of_launcher = told.iter().map(|kernel| {
            let first =
                json!({"const": false, "dtype": dtype(0), "name": "deviceKernels", "ptr": true});
            kernel.json(&kernel.name, Some(first))
        });
        let all = || {
            let name = self.source.file_name().unwrap_or_default();
            write(&name.to_string_lossy(), &fs::read(&self.source)?)?;
            write("launcher_binary", &library)?;
            write("launcher_build.json", &build(of_launcher.collect()))?;
            write("build.json", &build(of_device.collect()))?;
            write("binary", &code)
        };
        all().map_err(failed)
    }
}

/// Writes a file that may be run.
fn write_program(to: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = to.parent().filter(|folder| *folder != "");
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    let mode = Permissions::from_mode(0o755);
    file.as_file().set_permissions(mode)?;
    file.persist(to).map(drop).map_err(Into::into)
}

fn launcher(folder: &Path) -> PathBuf {
    folder.join("launcher.cpp")
}

/// The kind of device that a target is.
fn kind(target: &str) -> Result<Kind, ()> {
    match target {
        "cuda" => Ok(Kind::Cuda),
        "hip" => Ok(Kind::Hip),
        _ if target.starts_with("hip:") => Ok(Kind::Hip),
        _ => Err(()),
    }
}

fn only_these(target: &str) -> String {
    format!("--okl-occa goes with --okl-target=cuda, hip or hip:PROCESSOR, not with {target}")
}

/// Whether a name, and no longer one, is in some bytes.
fn has_name(all: &[u8], name: &[u8]) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut places = all.windows(name.len() + 1);
    places.any(|one| one.starts_with(name) && !goes_on(one[name.len()]))
}

/// What a kernel is called and passed.
struct Kernel {
    name: String,
    /// The number of its type and its name.
    parameters: Vec<(u8, String)>,
}

impl Kernel {
    /// As OCCA has it.
    fn json(&self, name: &str, first: Option<Value>) -> Value {
        let parameters = self.parameters.iter().map(|(number, name)| {
            json!({
                "const": number & CONSTANT != 0,
                "dtype": dtype(number & (CONSTANT - 1)),
                "name": name,
                "ptr": number & POINTER != 0,
            })
        });
        let arguments: Vec<_> = first.into_iter().chain(parameters).collect();
        json!({"arguments": arguments, "name": name})
    }
}

/// The type of a number, as OCCA has it.
fn dtype(number: u8) -> Value {
    let (_, name) = TYPES.get(usize::from(number)).unwrap_or(&TYPES[0]);
    json!({"name": name, "type": "builtin"})
}

/// What the compiler has said of the kernels: see [`SECTION`].
fn kernels(data: &[u8]) -> Vec<Kernel> {
    let mut bytes = data.iter().copied();
    let mut all = Vec::new();
    loop {
        let mut word = || -> String {
            let word = bytes.by_ref().take_while(|byte| *byte != 0);
            word.map(char::from).collect()
        };
        let name = word();
        // Between two of them there may be zeros.
        if name.is_empty() && bytes.len() > 0 {
            continue;
        }
        let Some(count) = bytes.next() else {
            return all;
        };
        let mut parameters = Vec::new();
        for _ in 0..count {
            let number = bytes.next().unwrap_or_default();
            let name = bytes.by_ref().take_while(|byte| *byte != 0);
            parameters.push((number, name.map(char::from).collect()));
        }
        all.push(Kernel { name, parameters });
    }
}

/// Code objects for several processors, as AMD's driver loads them: what `clang-offload-bundler` writes.
fn bundle(codes: &[(String, Vec<u8>)]) -> Vec<u8> {
    const ALIGNMENT: usize = 4096;
    // The host's part is empty, and has to be there.
    let host = ("host-x86_64-unknown-linux--".to_owned(), &[][..]);
    let device = |(processor, code)| (format!("hipv4-amdgcn-amd-amdhsa--{processor}"), code);
    let codes = codes.iter().map(|(processor, code)| (processor, &code[..]));
    let entries: Vec<_> = [host].into_iter().chain(codes.map(device)).collect();
    let head: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
    let mut at = (32 + head).next_multiple_of(ALIGNMENT);
    let mut file = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    file.extend((entries.len() as u64).to_le_bytes());
    for (name, code) in &entries {
        for number in [at, code.len(), name.len()] {
            file.extend((number as u64).to_le_bytes());
        }
        file.extend(name.as_bytes());
        at = (at + code.len()).next_multiple_of(ALIGNMENT);
    }
    for (_, code) in &entries {
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        file.extend(*code);
    }
    file
}

/// The function that kernels are launched with.
fn launch() -> &'static str {
    let mut all = gpu::ALL.iter().map(|one| one.name);
    let found = all.find(|name| name.starts_with("okl_gpu_launch_v"));
    found.expect("there is one")
}

/// The part of [`okl_abi::gpu`] that launching takes, as C++.
fn abi() -> String {
    let mut text = String::new();
    let structs = [
        (
            "DeviceParameter",
            DeviceParameter::NAMES,
            DeviceParameter::FIELDS,
        ),
        ("DeviceKernel", DeviceKernel::NAMES, DeviceKernel::FIELDS),
    ];
    for (name, names, fields) in structs {
        let fields = names
            .iter()
            .zip(fields)
            .map(|(name, ty)| match (*name, ty) {
                ("name" | "place" | "entry", _) => format!("const char *{name}; "),
                ("parameters", _) => format!("const DeviceParameter *{name}; "),
                (_, AbiType::Ptr) => format!("const void *{name}; "),
                _ => format!("int64_t {name}; "),
            });
        let _ = writeln!(text, "struct {name} {{ {}}};", fields.collect::<String>());
    }
    let numbers = [
        ("ADDRESS", parameter::ADDRESS),
        ("RESULTS", parameter::RESULTS),
        ("OF_LIBRARY", parameter::OF_LIBRARY),
        ("LOCK", parameter::LOCK),
        ("ITEMS", parameter::ITEMS),
        ("FIRST_Y", parameter::FIRST_Y),
        ("FIRST_Z", parameter::FIRST_Z),
        ("PRINTS", does::PRINTS),
    ];
    for (name, value) in numbers {
        let _ = writeln!(text, "const int64_t {name} = {value};");
    }
    text
}
