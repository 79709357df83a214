//! Differential run tests: the same program with and without the plugin prints the same.
//!
//! A test is a .c, .cpp, .okl or .f90 file, or a folder that holds a `main.c`, `main.cpp` or `main.f90` and other sources;
//! sources in its subfolder `part` become a shared library that the program links. The main file
//! carries the directives (see [`crate::directives`]). What it is run in, is [`crate::combinations`]' matter.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::combinations::{Combination, Mode, combinations, sample, stack_shift};
use crate::compare::difference;
use crate::directives::{self, Directives, Exit, Reference, Threads};
use crate::jobs::{self, Outcome, Tally};
use crate::lines::short_name;
use crate::opencl::OpenCl;
use crate::process::{self, End, Finished};
use crate::tools::{self, Language, Tools};
use crate::{Common, Launch};

const COMPILE_LIMIT: Duration = Duration::from_secs(180);
/// What the compiler says when something is not distributed.
const ON_ONE_RANK: [&str; 2] = ["runs on rank 0 alone", "run on rank 0"];

/// How the runtime's messages begin.
const RUNTIME_SAYS: &str = "okl: rank ";

/// What it may always say: a test runs on few ranks, whatever its regions ask for.
const RUNTIME_MAY_SAY: &str = ": no team has more";

/// A program with what its comment says about running it.
pub(crate) struct Program {
    /// Main file of the test.
    main: PathBuf,
    /// All sources of the executable, the main file among them.
    sources: Vec<PathBuf>,
    /// Sources of the shared library, if there are any.
    part: Vec<PathBuf>,
    directives: Directives,
    test: Test,
}

/// How a program is known to the runner.
pub(crate) struct Test {
    /// What the runner is told to run this program only.
    command: String,
    /// From which name its combinations and the place of its stack are drawn.
    pub(crate) drawn_as: String,
    /// It may take so many times as long as others.
    pub(crate) times: u32,
}

impl Test {
    pub(crate) fn new(command: String) -> Self {
        Self {
            drawn_as: command.clone(),
            command,
            times: 1,
        }
    }
}

/// The two builds of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    OpenMp,
    Okl,
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Build::OpenMp => "openmp",
            Build::Okl => "okl",
        }
    }
}

/// Where and how programs are built and run.
pub(crate) struct Setting<'a> {
    tools: Tools,
    launch: &'a Launch,
    keep: bool,
    reference_only: bool,
    /// Where programs run that are to run on one, and its folder.
    opencl: Option<(OpenCl, TempDir)>,
}

/// Runs every test below `paths`.
pub(crate) fn run(
    paths: &[PathBuf],
    common: &Common,
    launch: &Launch,
    reference_only: bool,
) -> Result<Tally, String> {
    let mut mains = Vec::new();
    for path in paths {
        let at = |error: std::io::Error| format!("{}: {error}", path.display());
        let path = path.canonicalize().map_err(at)?;
        collect(&path, &mut mains).map_err(at)?;
    }
    mains.sort();
    let wanted = common.filter.as_deref().unwrap_or("");
    mains.retain(|main| main.to_string_lossy().contains(wanted));
    let setting = Setting::new(common, launch, reference_only)?;
    Ok(jobs::run_all(
        &mains,
        common.jobs,
        |main| short_name(main),
        |main| match setting.test_file(main, Test::new(format!("run {}", name(main)))) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Failed(why),
        },
    ))
}

/// Finds the main files of the tests at or below `path`.
fn collect(path: &Path, mains: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_file() {
        mains.push(path.to_owned());
        return Ok(());
    }
    if let Some(main) = main_file(path) {
        mains.push(main);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        if entry.is_dir() {
            collect(&entry, mains)?;
        } else if tools::is_source(&entry) && is_program(&entry)? {
            mains.push(entry);
        }
    }
    Ok(())
}

/// False for OKL of which only messages are tested.
fn is_program(source: &Path) -> std::io::Result<bool> {
    let is_okl = Language::of(source) == Some(Language::Okl);
    Ok(!is_okl || fs::read_to_string(source)?.contains("int main("))
}

/// The main file of a folder that is one test.
fn main_file(folder: &Path) -> Option<PathBuf> {
    ["main.c", "main.cpp", "main.f90"]
        .iter()
        .map(|name| folder.join(name))
        .find(|main| main.is_file())
}

/// The sources in `folder`, which may be missing, by name: modules come before what uses them.
fn sources_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut sources = Vec::new();
    if folder.is_dir() {
        let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if tools::is_source(&path) {
                sources.push(path);
            }
        }
    }
    sources.sort();
    Ok(sources)
}

impl Program {
    fn load(main: &Path, test: Test) -> Result<Self, String> {
        let text = fs::read_to_string(main).map_err(|error| error.to_string())?;
        let folder = main.parent().ok_or("no folder")?;
        let is_folder = main_file(folder).is_some_and(|file| file == main);
        let (sources, part) = if is_folder {
            (sources_in(folder)?, sources_in(&folder.join("part"))?)
        } else {
            (vec![main.to_owned()], Vec::new())
        };
        Ok(Self {
            main: main.to_owned(),
            sources,
            part,
            directives: directives::parse(&text)?,
            test,
        })
    }
}

impl<'a> Setting<'a> {
    pub(crate) fn new(
        common: &Common,
        launch: &'a Launch,
        reference_only: bool,
    ) -> Result<Self, String> {
        let tools = Tools::find(common)?;
        if !reference_only {
            tools.require_libraries()?;
        }
        let is_spirv = |set: &(String, String)| set.0 == "OKL_BACKEND" && set.1 == "spirv";
        let mut opencl = None;
        if launch.environment.iter().any(is_spirv) {
            if let Some(lacks) = OpenCl::lacks(&tools) {
                return Err(lacks);
            }
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            opencl = Some((OpenCl::new(&tools, folder.path())?, folder));
        }
        Ok(Self {
            tools,
            launch,
            keep: common.keep,
            reference_only,
            opencl,
        })
    }

    /// The test whose main file is `main`.
    pub(crate) fn test_file(&self, main: &Path, test: Test) -> Result<Outcome, String> {
        self.test(&Program::load(main, test)?)
    }

    /// Builds and runs `program` in every way its directives ask for.
    fn test(&self, program: &Program) -> Result<Outcome, String> {
        if let Some(lacks) = self.tools.missing(&program.directives.requires) {
            return Ok(Outcome::Skipped(format!("{lacks} is missing")));
        }
        let sources = program.sources.iter().chain(&program.part);
        let mut languages = sources.filter_map(|source| Language::of(source));
        if let Some(why) = languages.find_map(|language| self.tools.lacks(language)) {
            return Ok(Outcome::Skipped(why));
        }
        let wanted = match self.wanted(program) {
            Ok(wanted) => wanted,
            Err(why) => return Ok(Outcome::Skipped(why)),
        };
        let mut temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
        if self.keep {
            temporary.disable_cleanup(true);
        }
        let folder = match &self.launch.builds {
            Some(builds) => builds.join(program.main.strip_prefix("/").unwrap_or(&program.main)),
            None => temporary.path().to_owned(),
        };
        let mut failures = Vec::new();
        for of_level in wanted.chunk_by(|one, next| one.opt == next.opt) {
            let opt = of_level[0].opt.as_str();
            let folder = folder.join(opt.trim_start_matches('-'));
            let failure = if self.reference_only {
                self.check_reference(program, opt, of_level, &folder)
            } else {
                self.compare_builds(program, opt, of_level, &folder)
            };
            failures.extend(failure.err().map(|why| format!("{opt}: {why}")));
        }
        if failures.is_empty() {
            return Ok(Outcome::Passed);
        }
        if self.keep {
            failures.push(format!("kept: {}", folder.display()));
        }
        Ok(Outcome::Failed(failures.join("\n")))
    }

    /// What to run `program` in, sorted by level; or why there is nothing.
    fn wanted(&self, program: &Program) -> Result<Vec<Combination>, String> {
        let (launch, asked) = (self.launch, &program.directives);
        for skip in &asked.skip_with {
            if launch.environment.contains(skip) {
                return Err(format!("with {}={}", skip.0, skip.1));
            }
        }
        let ranks = asked_and_given(&asked.ranks, &launch.ranks, &[1, 2, 3, 4]);
        if ranks.is_empty() {
            return Err("needs other rank counts".to_owned());
        }
        let levels = ["-O0".to_owned(), "-O2".to_owned()];
        let levels = asked_and_given(&asked.opt, &launch.opt, &levels);
        if levels.is_empty() {
            return Err("needs another optimisation level".to_owned());
        }
        let is_skipped = |mode: &Mode| {
            if mode.threads() > 1 && matches!(asked.threads, Threads::Fixed(_)) {
                return true;
            }
            let sets = mode.environment();
            let skips = &asked.skip_with;
            sets.iter()
                .any(|set| skips.iter().any(|skip| (&*skip.0, &*skip.1) == *set))
        };
        let modes: Vec<_> = launch
            .modes()
            .into_iter()
            .filter(|mode| !is_skipped(mode))
            .collect();
        let all = combinations(&levels, &ranks, &modes);
        if all.is_empty() {
            return Err("needs another mode".to_owned());
        }
        Ok(match launch.sample {
            None => all,
            Some(count) => sample(all, count, launch.sample_seed, &program.test.drawn_as),
        })
    }

    /// The OpenMP build against the okl build in all of `wanted`, which are of this level.
    fn compare_builds(
        &self,
        program: &Program,
        opt: &str,
        wanted: &[Combination],
        folder: &Path,
    ) -> Result<(), String> {
        let okl = self.build(program, opt, Build::Okl, folder)?;
        let openmp = match &program.directives.reference {
            Reference::OpenMp => {
                let opt = program.directives.reference_opt.as_deref().unwrap_or(opt);
                Some(self.build(program, opt, Build::OpenMp, folder)?)
            }
            Reference::File(_) | Reference::None => None,
        };
        // With a fixed number of threads one reference run serves all rank counts.
        let mut references: HashMap<u32, Option<String>> = HashMap::new();
        let mut failed = Vec::new();
        let mut first = String::new();
        for one in wanted {
            let threads = match program.directives.threads {
                Threads::Ranks => one.ranks.max(1) * one.mode.threads(),
                Threads::Fixed(threads) => threads,
                Threads::Any => 1,
            };
            if let Entry::Vacant(entry) = references.entry(threads) {
                entry.insert(self.expected(program, openmp.as_deref(), threads, folder)?);
            }
            let expected = references[&threads].as_deref();
            let finished = self.launch_okl(program, &okl, one, folder)?;
            if let Err(why) = check_run(&finished, expected, &program.directives) {
                if failed.is_empty() {
                    first = format!("{why}\nagain: {}", self.again(program, one));
                }
                failed.push(match one.mode {
                    Mode::Node => one.ranks.to_string(),
                    mode => format!("{} ({})", one.ranks, mode.name()),
                });
                // A program that hangs once hangs again: do not spend minutes on it.
                if matches!(finished.end, End::TimedOut(_)) {
                    break;
                }
            }
        }
        if failed.is_empty() {
            Ok(())
        } else {
            Err(format!("fails on {} ranks\n{first}", failed.join(", ")))
        }
    }

    fn stack_shift(&self, program: &Program) -> usize {
        let drawn = stack_shift(self.launch.sample_seed, &program.test.drawn_as);
        self.launch.stack_shift.unwrap_or(drawn)
    }

    /// The command that repeats one run.
    fn again(&self, program: &Program, one: &Combination) -> String {
        let mut line = format!(
            "cargo run --release -q -p okl-tests -- {} --opt={} --ranks={} --modes={}",
            program.test.command,
            one.opt,
            one.ranks,
            one.mode.name()
        );
        line += &format!(" --stack-shift={}", self.stack_shift(program));
        if self.launch.jit {
            line += &format!(" --jit --target={}", self.launch.target);
        }
        for (name, value) in &self.launch.environment {
            line += &format!(" --environment '{name}={value}'");
        }
        line
    }

    /// What the program must print; `None`: anything.
    fn expected(
        &self,
        program: &Program,
        openmp: Option<&Path>,
        threads: u32,
        folder: &Path,
    ) -> Result<Option<String>, String> {
        match (&program.directives.reference, openmp) {
            (Reference::File(name), _) => {
                let path = program.main.with_file_name(name);
                let text = fs::read_to_string(&path);
                text.map(Some)
                    .map_err(|error| format!("{}: {error}", path.display()))
            }
            (Reference::OpenMp, Some(executable)) => {
                let finished = self.launch_openmp(program, executable, threads, folder)?;
                check_end(&finished, program.directives.exit)
                    .map_err(|why| format!("OpenMP, {threads} threads: {why}"))?;
                Ok(Some(finished.stdout))
            }
            (Reference::OpenMp, None) | (Reference::None, _) => Ok(None),
        }
    }

    /// The OpenMP build alone: it ends as expected and prints the same twice at each team size, or
    /// at all team sizes where the test says so.
    fn check_reference(
        &self,
        program: &Program,
        opt: &str,
        wanted: &[Combination],
        folder: &Path,
    ) -> Result<(), String> {
        if program.directives.reference != Reference::OpenMp {
            return Ok(());
        }
        let openmp = self.build(program, opt, Build::OpenMp, folder)?;
        let mut first: Option<String> = None;
        for one in wanted {
            let threads = match program.directives.threads {
                Threads::Ranks | Threads::Any => one.ranks.max(1) * one.mode.threads(),
                Threads::Fixed(threads) => threads,
            };
            if program.directives.threads != Threads::Any {
                first = None;
            }
            for _ in 0..2 {
                let finished = self.launch_openmp(program, &openmp, threads, folder)?;
                let problem = check_end(&finished, program.directives.exit).err();
                let expected = first.get_or_insert_with(|| finished.stdout.clone());
                let change = difference(expected, &finished.stdout, program.directives.compare);
                if let Some(why) = problem.or(change) {
                    return Err(format!("{threads} threads: {why}"));
                }
                if finished.stdout.is_empty() {
                    return Err(format!("{threads} threads: prints nothing"));
                }
            }
        }
        Ok(())
    }

    /// The executable of `program`, which is built unless an earlier run left it.
    fn build(
        &self,
        program: &Program,
        opt: &str,
        build: Build,
        folder: &Path,
    ) -> Result<PathBuf, String> {
        let folder = folder.join(build.name());
        let executable = folder.join("program");
        if executable.is_file() {
            return Ok(executable);
        }
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut said = String::new();
        let mut libraries = Vec::new();
        if !program.part.is_empty() {
            let objects = self.compile(program, &program.part, opt, build, &folder, &mut said)?;
            let (language, with) = Language::linker(&program.part);
            let mut link = self.tools.compiler(language);
            link.args([opt, "-fopenmp", "-shared", "-o", "libpart.so"]);
            link.args(objects)
                .args(with)
                .args(&program.directives.flags);
            link.args(self.runtime(build));
            compile_step(&mut link, &folder, &mut said)?;
            libraries.extend(["-L.".to_owned(), "-lpart".to_owned()]);
            libraries.push(format!("-Wl,-rpath,{}", folder.display()));
        }
        let objects = self.compile(program, &program.sources, opt, build, &folder, &mut said)?;
        let (language, with) = Language::linker(&program.sources);
        let mut link = self.tools.compiler(language);
        link.args([opt, "-fopenmp", "-o", "program"]).args(objects);
        link.args(with);
        link.args(&program.directives.flags);
        link.args(libraries).args(self.runtime(build)).arg("-lm");
        link.args(&program.directives.libs);
        compile_step(&mut link, &folder, &mut said)?;
        if build == Build::Okl {
            check_warnings(&said, &program.directives.warns)?;
        }
        Ok(executable)
    }

    fn runtime(&self, build: Build) -> Vec<String> {
        let dir = self.tools.runtime_dir.display();
        match build {
            // OKL's kernels on threads need it.
            Build::OpenMp => vec![
                format!("-L{dir}"),
                "-Wl,--push-state,--as-needed,-lokl_cpu,--pop-state".to_owned(),
                format!("-Wl,-rpath,{dir}"),
            ],
            Build::Okl => {
                // Where there is nothing for a device it is asked for all the same.
                let target = self.launch.target.as_str();
                let ranks = target.starts_with("mpi").then_some("-lokl_mpi");
                let devices = (target != "mpi").then_some("-lokl_gpu");
                let versions = self.launch.jit.then_some("-lokl_cpu");
                let libraries = [ranks, devices, versions].into_iter().flatten();
                let folders = [format!("-L{dir}"), format!("-Wl,-rpath,{dir}")];
                folders
                    .into_iter()
                    .chain(libraries.map(str::to_owned))
                    .collect()
            }
        }
    }

    /// Compiles `sources` one by one and returns the objects.
    fn compile(
        &self,
        program: &Program,
        sources: &[PathBuf],
        opt: &str,
        build: Build,
        folder: &Path,
        said: &mut String,
    ) -> Result<Vec<String>, String> {
        let mut objects = Vec::new();
        for source in sources {
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            // Sources of the shared library may share names with those of the program.
            let in_part = program.part.contains(source);
            let object = format!("{}{name}.o", if in_part { "part-" } else { "" });
            let language = Language::of(source).unwrap_or(Language::C);
            let mut compile = self.tools.compiler(language);
            compile.args([opt, "-fopenmp"]);
            if in_part {
                compile.arg("-fPIC");
            }
            let plain = program.directives.untranslated.iter().any(|u| *u == name);
            let is_for_ranks = build == Build::Okl && !plain;
            match (language, is_for_ranks) {
                (Language::Okl, true) => {
                    compile.arg(format!("--okl-target={}", self.launch.target));
                }
                // Threads run its kernels.
                (Language::Okl, false) => {
                    compile.arg("--okl-target=cpu");
                }
                (_, true) => {
                    compile.arg(format!("-fpass-plugin={}", self.tools.plugin.display()));
                    let target = format!("-okl-target={}", self.launch.target);
                    compile.args(["-mllvm", &target]);
                    if self.launch.jit {
                        compile.args(["-mllvm", "-okl-jit"]);
                    }
                }
                (_, false) => {}
            }
            compile.args(&program.directives.flags);
            compile.arg("-c").arg(source).args(["-o", &object]);
            compile_step(&mut compile, folder, said)?;
            objects.push(object);
        }
        Ok(objects)
    }

    fn launch_openmp(
        &self,
        program: &Program,
        executable: &Path,
        threads: u32,
        folder: &Path,
    ) -> Result<Finished, String> {
        let mut command = Command::new(executable);
        command.env("OMP_NUM_THREADS", threads.to_string());
        // Several tests share the cores: waiting threads must not spin.
        command.env("OMP_WAIT_POLICY", "passive");
        self.launch(program, command, folder)
    }

    fn launch_okl(
        &self,
        program: &Program,
        executable: &Path,
        one: &Combination,
        folder: &Path,
    ) -> Result<Finished, String> {
        let mut command = match one.ranks {
            0 => Command::new(executable),
            ranks => process::on_ranks(executable, ranks as usize),
        };
        command.env_remove("OMP_NUM_THREADS");
        if one.ranks <= 1 {
            // One rank runs plain OpenMP, unless the test says otherwise.
            let threads = match program.directives.threads {
                Threads::Ranks => 1,
                Threads::Fixed(threads) => threads,
                Threads::Any => 2,
            };
            let asks = |one: &(String, String)| one.0 == "OKL_BACKEND";
            if !program.directives.env.iter().any(asks) {
                command.env("OMP_NUM_THREADS", threads.to_string());
                command.env("OMP_WAIT_POLICY", "passive");
            }
        }
        command.envs(one.mode.environment().iter().copied());
        command.env("SHIFT", "x".repeat(self.stack_shift(program)));
        command.envs(self.launch.environment.iter().cloned());
        if let Some((opencl, _)) = &self.opencl {
            opencl.serves(&mut command);
        }
        self.launch(program, command, folder)
    }

    /// Runs a build in an empty folder of its own.
    fn launch(
        &self,
        program: &Program,
        mut command: Command,
        folder: &Path,
    ) -> Result<Finished, String> {
        let cwd = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
        command.args(&program.directives.args);
        command.envs(program.directives.env.iter().cloned());
        process::run(
            &mut command,
            cwd.path(),
            &program.directives.stdin,
            program.directives.limit.unwrap_or(self.launch.timeout) * program.test.times,
        )
    }
}

/// A test's own values as far as the given ones allow them; `default` where there are neither.
fn asked_and_given<T: Clone + PartialEq>(
    own: &Option<Vec<T>>,
    given: &[T],
    default: &[T],
) -> Vec<T> {
    match (own, given) {
        (None, []) => default.to_vec(),
        (None, given) => given.to_vec(),
        (Some(own), []) => own.clone(),
        (Some(own), given) => {
            let mut both = own.clone();
            both.retain(|one| given.contains(one));
            both
        }
    }
}

/// A test's path from the repository's root, so that samples do not depend on where that lies.
fn name(main: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or_default();
    let path = main.strip_prefix(root).unwrap_or(main);
    path.display().to_string()
}

fn compile_step(command: &mut Command, folder: &Path, said: &mut String) -> Result<(), String> {
    let finished = process::run(command, folder, "", COMPILE_LIMIT)?;
    said.push_str(&finished.stderr);
    if finished.end == End::Exit(0) {
        return Ok(());
    }
    let line = process::command_line(command);
    Err(format!(
        "{}: {line}\n{}",
        finished.end,
        tail(&finished.stderr, 20)
    ))
}

/// Every expected warning was given, and no region was declined without one.
fn check_warnings(said: &str, expected: &[String]) -> Result<(), String> {
    for text in expected {
        if !said.contains(text.as_str()) {
            return Err(format!("no warning '{text}'; the compiler said:\n{said}"));
        }
    }
    let unexpected = said.lines().find(|line| {
        let is_alone = ON_ONE_RANK.iter().any(|text| line.contains(text));
        is_alone && !expected.iter().any(|text| line.contains(text))
    });
    match unexpected {
        Some(line) => Err(format!("unexpected: {line}")),
        None => Ok(()),
    }
}

fn check_end(finished: &Finished, exit: Exit) -> Result<(), String> {
    let wanted = match (exit, finished.end) {
        (Exit::Code(code), End::Exit(got)) if got == code => return Ok(()),
        (Exit::Failure, End::Exit(got)) if got != 0 => return Ok(()),
        (Exit::Code(code), _) => format!("exit code {code}"),
        (Exit::Failure, _) => "a failure".to_owned(),
    };
    Err(format!(
        "{} instead of {wanted}\n{}",
        finished.end,
        complaint(&finished.stderr)
    ))
}

fn check_run(
    finished: &Finished,
    expected: Option<&str>,
    asked: &Directives,
) -> Result<(), String> {
    check_end(finished, asked.exit)?;
    let diff = expected.and_then(|text| difference(text, &finished.stdout, asked.compare));
    if let Some(diff) = diff {
        return Err(format!("{diff}\n{}", complaint(&finished.stderr)));
    }
    let lacks = |text: &&String| !finished.stderr.contains(text.as_str());
    if let Some(text) = asked.stderr.iter().find(lacks) {
        let said = complaint(&finished.stderr);
        return Err(format!("stderr lacks '{text}'\n{said}"));
    }
    let unexpected = finished
        .stderr
        .lines()
        .filter(|line| !line.ends_with(RUNTIME_MAY_SAY))
        .find(|line| line.starts_with(RUNTIME_SAYS) && asked.stderr.is_empty());
    match unexpected {
        Some(line) => Err(format!("unexpected: {line}")),
        None => Ok(()),
    }
}

/// What a program said on standard error: the runtime's own messages if there are any, else how it begins, where a crash
/// says why and where, and how it ends.
fn complaint(stderr: &str) -> String {
    let own: Vec<_> = stderr
        .lines()
        .filter(|line| line.starts_with(RUNTIME_SAYS))
        .take(6)
        .collect();
    if own.is_empty() {
        let begins: Vec<_> = stderr.lines().take(30).collect();
        match stderr.lines().count() {
            0..=42 => stderr.to_string(),
            _ => format!("{}\n...\n{}", begins.join("\n"), tail(stderr, 12)),
        }
    } else {
        own.join("\n")
    }
}

/// The last `count` lines.
fn tail(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
