//! Chains of loops: as they are written, with Polly, in the best ways known by hand, and with the schedules of
//! `#pragma omplc`. All ways are in one executable, which runs them in turn and compares their bits.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::figures::{self, Bars};
use crate::measure::Load;
use crate::output::Counts;
use crate::statistics::Spread;
use crate::tools::{COMPILER, FLAGS, finish};

/// Seconds after which a run counts as hanging: all ways of a size, in all repetitions.
const LIMIT: &str = "1800";
const THREADS: [u32; 2] = [1, 2];
/// What the loops are called as they are written.
const PLAIN: &str = "plain";
/// Ways whose names begin so are pragmas'.
const CHAIN: &str = "chain:";
/// Of warnings about pragmas that the compiler does not know there would be many.
const QUIET: [&str; 2] = ["-fopenmp", "-Wno-unknown-pragmas"];

/// A program.
struct Program {
    name: &'static str,
    what: &'static str,
    /// What the rows of its tables count.
    unit: &'static str,
    /// Each is a table: what it is called, and the program's arguments.
    sizes: &'static [(&'static str, [&'static str; 2])],
    /// For the test that everything works.
    tiny: [&'static str; 2],
    /// What its chain is given, and what that is called.
    schedules: &'static [(&'static str, &'static str)],
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "flux",
        what: "Fluxes through the faces of boxes of cells, nine loops in three dimensions, five components; boxes in \
               parallel. `plain` has one array for the faces of all directions, `plain-three` three.",
        unit: "bytes of temporaries for each thread",
        sizes: &[
            ("16³, 512 boxes", ["16", "512"]),
            ("32³, 64 boxes", ["32", "64"]),
            ("64³, 8 boxes", ["64", "8"]),
            ("128³, 2 boxes", ["128", "2"]),
        ],
        tiny: ["9", "3"],
        schedules: &[
            ("empty", ""),
            ("fuse", "fuse()"),
            ("tile-8", "fuse(), tile((8, 8, 8), serial, serial)"),
            ("tile-16", "fuse(), tile((16, 16, 16), serial, serial)"),
            ("tile-32", "fuse(), tile((32, 32, 32), serial, serial)"),
            (
                "overlap-8",
                "fuse(), tile((8, 8, 8), parallel, serial, overlap)",
            ),
            ("auto", "auto"),
        ],
    },
    Program {
        name: "jacobi",
        what: "Pairs of Jacobi's sweeps over a plane, to `a` and back to `b`, of which `a` is temporary.",
        unit: "bytes of temporaries",
        sizes: &[
            ("N = 1000, 100 pairs", ["1000", "100"]),
            ("N = 6000, 3 pairs", ["6000", "3"]),
        ],
        tiny: ["70", "3"],
        schedules: &[
            ("empty", ""),
            ("fuse", "fuse()"),
            ("rows", "fuse((0, 0), (1, 0))"),
            ("wavefront", "fuse(), tile((256, 256), wavefront, serial)"),
            ("overlap", "fuse(), tile((64), parallel, serial, overlap)"),
            ("auto", "auto"),
        ],
    },
];

/// The runs of a way, one for each repetition.
struct Way {
    name: String,
    seconds: Vec<f64>,
    bytes: u64,
}

/// What was measured of a program at a size.
struct Timing {
    size: &'static str,
    threads: u32,
    ways: Vec<Way>,
}

impl Timing {
    /// The way whose median is the least of those that are chosen.
    fn fastest(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&Way> {
        let wanted = self.ways.iter().filter(|way| is_wanted(&way.name));
        wanted.min_by(|one, other| one.median().total_cmp(&other.median()))
    }

    /// The loops as they are written: with the arrays that make them faster.
    fn plain(&self) -> Option<&Way> {
        self.fastest(|name| name.starts_with(PLAIN) && !is_polly(name))
    }

    fn by_hand(&self) -> Option<&Way> {
        self.fastest(|name| !name.starts_with(PLAIN) && !name.starts_with(CHAIN))
    }

    /// How many times as fast as the loops as they are written.
    fn gain(&self, way: &Way) -> Option<Spread> {
        let plain = self.plain()?.seconds.iter();
        let ratios = plain.zip(&way.seconds).map(|(plain, way)| plain / way);
        Spread::of(&ratios.collect::<Vec<_>>())
    }

    fn named(&self, name: &str) -> Option<&Way> {
        self.ways.iter().find(|way| way.name == name)
    }
}

impl Way {
    fn median(&self) -> f64 {
        Spread::of(&self.seconds).map_or(f64::INFINITY, |of| of.median)
    }
}

fn is_polly(name: &str) -> bool {
    name.ends_with("-polly")
}

/// An executable, and the schedules that it is without, with the reasons.
struct Built {
    executable: PathBuf,
    refused: Vec<(&'static str, String)>,
}

/// Builds all, runs all `repetitions` times on one and two threads, and tells of it in Markdown; figures go to `figures`. Where
/// `is_smoke`, at tiny sizes.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    figures: &Path,
    repetitions: u32,
    is_smoke: bool,
) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let load = Load::now();
    let libraries = libraries
        .canonicalize()
        .map_err(|error| error.to_string())?;
    let sources = root.join("programs/chains");
    let mut text = format!(
        "# Chains of loops\n{}\nMedians of {repetitions} repetitions, in which all ways run one right after the other, and how \
         many times as fast each is as `plain` (the faster of those), which is the median of the repetitions' ratios (least to \
         most). All compute the same bits. `chain:` is what a schedule of `#pragma omplc` makes of the loops; the other ways \
         are written by hand.\n",
        load.note()
    );
    let mut all = Vec::new();
    for program in &PROGRAMS {
        let folder = built.path().join(program.name);
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let built = build(program, &sources, &libraries, &folder)?;
        let _ = write!(text, "\n## {}\n\n{}\n", program.name, program.what);
        let sizes: Vec<_> = match is_smoke {
            true => vec![("tiny", program.tiny)],
            false => program.sizes.to_vec(),
        };
        for (size, arguments) in sizes {
            for threads in THREADS {
                eprintln!("bench: {}, {size}, {threads} threads", program.name);
                let timing = time(&built.executable, size, arguments, threads, repetitions)?;
                table(&mut text, program, &timing);
                all.push((program.name, timing));
            }
        }
        for (name, why) in &built.refused {
            let _ = writeln!(text, "\n`{name}` is refused: {why}");
        }
        if program.name == "jacobi" && !is_smoke {
            on_ranks(&mut text, &sources, &libraries, &folder)?;
        }
    }
    if !is_smoke {
        draw(&all, figures)?;
    }
    Ok(text)
}

fn build(
    program: &Program,
    sources: &Path,
    libraries: &Path,
    folder: &Path,
) -> Result<Built, String> {
    eprintln!("bench: compiling {}", program.name);
    let mut objects = Vec::new();
    let mut compile = |compiler: &Path, source: &str, flags: &[String]| {
        let object = folder.join(format!("{}.o", objects.len()));
        finish(
            Command::new(compiler)
                .args(FLAGS)
                .args(QUIET)
                .args(flags)
                .arg("-c")
                .arg(sources.join(format!("{source}.c")))
                .arg("-o")
                .arg(&object),
        )?;
        objects.push(object);
        Ok::<_, String>(())
    };
    let name = program.name;
    let clang = Path::new(COMPILER);
    let polly = ["-mllvm", "-polly", "-DNAME=\"-polly\""].map(String::from);
    compile(clang, "chains", &[])?;
    compile(clang, name, &[])?;
    compile(clang, &format!("{name}_plain"), &[])?;
    compile(clang, &format!("{name}_plain"), &polly)?;
    compile(clang, &format!("{name}_hand"), &[])?;
    let okl = libraries.join("okl-cc");
    let mut refused = Vec::new();
    for (schedule, items) in program.schedules {
        let flags = [
            "--okl-target=cpu".to_owned(),
            format!("-DNAME=\"{CHAIN}{schedule}\""),
            format!("-DITEMS={items}"),
        ];
        if let Err(why) = compile(&okl, &format!("{name}_chain"), &flags) {
            let error = why.lines().find(|line| line.contains("error:"));
            let said = error.and_then(|line| line.split("error: ").nth(1));
            refused.push((*schedule, said.unwrap_or("it does not compile").to_owned()));
        }
    }
    let executable = folder.join(name);
    let mut link = Command::new(okl);
    link.args(FLAGS).args(QUIET).arg("--okl-target=cpu");
    finish(link.args(&objects).arg("-o").arg(&executable))?;
    Ok(Built {
        executable,
        refused,
    })
}

fn time(
    executable: &Path,
    size: &'static str,
    arguments: [&str; 2],
    threads: u32,
    repetitions: u32,
) -> Result<Timing, String> {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "10", LIMIT])
        .arg(executable)
        .args(arguments)
        .arg(repetitions.to_string())
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_PLACES", "cores")
        .env("OMP_PROC_BIND", "close");
    let (stdout, _) = finish(&mut command)?;
    let ways = ways(&stdout);
    match ways
        .iter()
        .all(|way| way.seconds.len() == repetitions as usize)
        && !ways.is_empty()
    {
        true => Ok(Timing {
            size,
            threads,
            ways,
        }),
        false => Err(format!("{}: {stdout}", executable.display())),
    }
}

/// From the lines `way NAME seconds SECONDS bytes BYTES`.
fn ways(stdout: &str) -> Vec<Way> {
    let mut found: Vec<Way> = Vec::new();
    for line in stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["way", name, "seconds", seconds, "bytes", bytes] = words[..] else {
            continue;
        };
        let (Ok(seconds), Ok(bytes)) = (seconds.parse(), bytes.parse()) else {
            continue;
        };
        match found.iter_mut().find(|way| way.name == name) {
            Some(way) => way.seconds.push(seconds),
            None => found.push(Way {
                name: name.to_owned(),
                seconds: vec![seconds],
                bytes,
            }),
        }
    }
    found
}

fn table(text: &mut String, program: &Program, timing: &Timing) {
    let threads = match timing.threads {
        1 => "1 thread".to_owned(),
        more => format!("{more} threads"),
    };
    let _ = writeln!(
        text,
        "\n### {}, {threads}\n\n| way | ms | times as fast | {} |\n|---|---|---|---|",
        timing.size, program.unit
    );
    let mut ways: Vec<&Way> = timing.ways.iter().collect();
    ways.sort_by(|one, other| one.median().total_cmp(&other.median()));
    for way in ways {
        let gain = timing.gain(way).map_or_else(String::new, |of| {
            format!("{:.2} ({:.2} to {:.2})", of.median, of.least, of.most)
        });
        let bytes = match way.bytes {
            0 => "not counted".to_owned(),
            bytes => bytes.to_string(),
        };
        let _ = writeln!(
            text,
            "| {} | {:.3} | {gain} | {bytes} |",
            way.name,
            way.median() * 1e3
        );
    }
}

/// Messages and bytes of a pair of sweeps on two ranks as nodes, with the chain and without it: the difference of a long and a
/// short run.
fn on_ranks(
    text: &mut String,
    sources: &Path,
    libraries: &Path,
    folder: &Path,
) -> Result<(), String> {
    const PAIRS: [u32; 2] = [20, 10];
    let okl = libraries.join("okl-cc");
    text.push_str(
        "\n### 2 ranks as nodes, N = 1000, a pair of sweeps, both ranks together\n\n\
         | way | messages | bytes |\n|---|---|---|\n",
    );
    let loops = [
        ("jacobi_plain", "plain", "plain", ""),
        (
            "jacobi_chain",
            "chain:overlap",
            "overlap",
            "fuse(), tile((64), parallel, serial, overlap)",
        ),
        ("jacobi_chain", "chain:auto", "auto", "auto"),
    ];
    for (source, way, file, items) in loops {
        let executable = folder.join(format!("on-ranks-{file}"));
        let mut command = Command::new(&okl);
        command.args(FLAGS).args(QUIET);
        if source.ends_with("chain") {
            command
                .arg(format!("-DNAME=\"{way}\""))
                .arg(format!("-DITEMS={items}"));
        }
        for source in ["chains", "jacobi", source] {
            command.arg(sources.join(format!("{source}.c")));
        }
        if finish(command.arg("-o").arg(&executable)).is_err() {
            let _ = writeln!(text, "| {way} | refused | |");
            continue;
        }
        let total = |pairs: u32| {
            let mut command = Command::new("timeout");
            command
                .args(["-k", "10", LIMIT, "mpirun", "--oversubscribe", "-n", "2"])
                .arg(&executable)
                .args(["1000", &pairs.to_string(), "0", way])
                .env("OMP_NUM_THREADS", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .env("OKL_RANKS_PER_NODE", "1")
                .env("OKL_REGIONS_ALONE", "0")
                .env("OKL_STATS", "1");
            let (_, stderr) = finish(&mut command)?;
            let counts = Counts::parse(&stderr, 2);
            let total = |label| counts.as_ref()?.total(label);
            match (total("messages"), total("bytes")) {
                (Some(messages), Some(bytes)) => Ok((messages as f64, bytes as f64)),
                _ => Err(format!("{way} on 2 ranks: no counts in {stderr}")),
            }
        };
        let (long, short) = (total(PAIRS[0])?, total(PAIRS[1])?);
        let each = f64::from(PAIRS[0] - PAIRS[1]);
        let _ = writeln!(
            text,
            "| {way} | {} | {} |",
            (long.0 - short.0) / each,
            (long.1 - short.1) / each
        );
    }
    Ok(())
}

/// `chains-N.svg` for each number of threads.
fn draw(all: &[(&str, Timing)], folder: &Path) -> Result<(), String> {
    for threads in THREADS {
        let timings = all.iter().filter(|(_, timing)| timing.threads == threads);
        let groups: Vec<_> = timings
            .map(|(program, timing)| {
                let polly = timing.fastest(is_polly);
                let ways = [
                    polly,
                    timing.by_hand(),
                    timing.named("chain:empty"),
                    timing.named("chain:auto"),
                ];
                let short = timing.size.split(',').next().unwrap_or(timing.size);
                (
                    format!("{program} {short}"),
                    ways.map(|way| timing.gain(way?)),
                )
            })
            .collect();
        let noun = if threads == 1 { "thread" } else { "threads" };
        figures::draw_bars(
            &folder.join(format!("chains-{threads}.svg")),
            &Bars {
                title: format!("Chains of loops: times as fast as written, {threads} {noun}"),
                unit: "ratio",
                series: ["Polly", "best by hand", "empty schedule", "auto"],
                groups,
            },
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_repetitions_over_the_faster_plain_loops() {
        let stdout = "way plain seconds 4 bytes 8\nway plain-three seconds 2 bytes 24\nway plain-polly seconds 1 bytes 8\n\
                      way rows seconds 1 bytes 1\nway chain:auto seconds 0.5 bytes 0\nway plain seconds 4 bytes 8\n\
                      way plain-three seconds 3 bytes 24\nway plain-polly seconds 1 bytes 8\nway rows seconds 1 bytes 1\n\
                      way chain:auto seconds 0.5 bytes 0\nway rows computes something else\n";
        let timing = Timing {
            size: "",
            threads: 1,
            ways: ways(stdout),
        };
        assert_eq!(timing.ways.len(), 5);
        assert_eq!(timing.plain().unwrap().name, "plain-three");
        let rows = timing.by_hand().unwrap();
        assert_eq!((rows.name.as_str(), rows.bytes), ("rows", 1));
        let gain = timing.gain(rows).unwrap();
        assert_eq!((gain.least, gain.median, gain.most), (2.0, 2.5, 3.0));
    }
}
