//! Chains of loops: as they are written, with Polly, in the best ways known by hand, and with the schedules of
//! `#pragma omplc`. All ways are in one executable, which runs them in turn and compares their bits.

mod aims;
mod ranks;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::aims::Aims;
use crate::figures::{self, Bars};
use crate::measure::Load;
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
    /// Each is a table: what it is called, and the program's arguments.
    sizes: &'static [(&'static str, [&'static str; 2])],
    /// For the test that everything works.
    tiny: [&'static str; 2],
    schedules: &'static [Schedule],
    /// What runs on two ranks: a table each.
    on_ranks: &'static [OnRanks],
    /// How many times as fast as the plain loops `auto` is to be, by the sizes of which something is asked.
    aims: &'static [(&'static str, f64)],
}

/// What a chain is given.
struct Schedule {
    name: &'static str,
    items: &'static str,
    /// Whether the test that everything works has it, too.
    is_tried: bool,
    flags: &'static [&'static str],
}

/// A schedule that is measured alone.
const fn schedule(name: &'static str, items: &'static str) -> Schedule {
    Schedule {
        name,
        items,
        is_tried: false,
        flags: &[],
    }
}

/// One that is always built.
const fn tried(name: &'static str, items: &'static str) -> Schedule {
    Schedule {
        is_tried: true,
        ..schedule(name, items)
    }
}

/// One of a chain that calls functions which have its loops.
const fn of_calls(name: &'static str, items: &'static str) -> Schedule {
    Schedule {
        flags: &["-DCALLS"],
        ..schedule(name, items)
    }
}

/// How messages and bytes of a run on two ranks are counted: as what a long run has more than a short one.
struct OnRanks {
    /// What is counted.
    what: &'static str,
    /// What the sources are compiled with.
    flags: &'static [&'static str],
    /// The program's arguments: of the short run, and of the long one.
    arguments: [[&'static str; 3]; 2],
    /// How many runs of what is counted the latter has more.
    more: u32,
    /// Of the chain.
    schedules: &'static [&'static str],
    /// Whether tiles of `overlap` do: then it is to send half as much as the loops as they are written.
    overlaps: bool,
}

const PROGRAMS: [Program; 3] = [
    Program {
        name: "flux",
        what: "Fluxes through the faces of boxes of cells, nine loops in three dimensions, five components; boxes in \
               parallel. `plain` has one array for the faces of all directions, `plain-three` three.",
        sizes: &[
            (BOXES_OF_16, ["16", "512"]),
            ("32³, 64 boxes", ["32", "64"]),
            ("64³, 8 boxes", ["64", "8"]),
            (BOXES_OF_128, ["128", "2"]),
        ],
        tiny: ["9", "3"],
        schedules: &[
            tried("empty", ""),
            schedule("fuse", "fuse()"),
            schedule("tile-8", "fuse(), tile((8, 8, 8), serial, serial)"),
            schedule("tile-16", "fuse(), tile((16, 16, 16), serial, serial)"),
            schedule("tile-32", "fuse(), tile((32, 32, 32), serial, serial)"),
            schedule(
                "overlap-8",
                "fuse(), tile((8, 8, 8), parallel, serial, overlap)",
            ),
            tried("auto", "auto"),
        ],
        on_ranks: &[OnRanks {
            what: "64 boxes of 16³ cells",
            flags: &[],
            arguments: [["16", "64", "1"], ["16", "64", "3"]],
            more: 2,
            schedules: &["fuse", "auto"],
            overlaps: false,
        }],
        aims: &[(BOXES_OF_16, 1.2), (BOXES_OF_128, 1.35)],
    },
    Program {
        name: "limiter",
        what: "A limiter for interpolation by parabolas on boxes of 32² cells, three components: slopes of three cells and \
               faces of five, along rows and then along columns; boxes in parallel. The plain loops are in functions that are \
               called for each box: `plain` has one array for the slopes of both directions, `plain-three` two. \
               `chain:calls-` are chains that call these functions.",
        sizes: &[
            ("32², 512 boxes", ["32", "512"]),
            ("32², 16 boxes", ["32", "16"]),
        ],
        tiny: ["9", "3"],
        schedules: &[
            tried("empty", ""),
            schedule("fuse", "fuse()"),
            schedule("rows", "fuse((0, 0, 0), (0, 1, 0), (0, 0, 0), (0, 3, 0))"),
            schedule("tile-8", "fuse(), tile((1, 8, 8), serial, serial)"),
            schedule("tile-32", "fuse(), tile((1, 8, 32), serial, serial)"),
            schedule(
                "overlap-8",
                "fuse(), tile((1, 8, 32), parallel, serial, overlap)",
            ),
            tried("auto", "auto"),
            of_calls("calls-empty", ""),
            of_calls("calls-auto", "auto"),
        ],
        on_ranks: &[OnRanks {
            what: "64 boxes of 32² cells",
            flags: &[],
            arguments: [["32", "64", "1"], ["32", "64", "3"]],
            more: 2,
            schedules: &["fuse", "auto"],
            overlaps: false,
        }],
        aims: &[],
    },
    Program {
        name: "jacobi",
        what: "Pairs of Jacobi's sweeps over a plane, to `a` and back to `b`, of which `a` is temporary.",
        sizes: &[
            (PLANE_OF_1000, ["1000", "100"]),
            (PLANE_OF_6000, ["6000", "3"]),
        ],
        tiny: ["70", "3"],
        schedules: &[
            tried("empty", ""),
            schedule("fuse", "fuse()"),
            schedule("rows", "fuse((0, 0), (1, 0))"),
            schedule("wavefront", "fuse(), tile((256, 256), wavefront, serial)"),
            schedule("overlap", "fuse(), tile((64), parallel, serial, overlap)"),
            tried("auto", "auto"),
        ],
        on_ranks: &[
            OnRanks {
                what: "a pair of sweeps in place, N = 1000",
                flags: &[],
                arguments: [["1000", "10", "0"], ["1000", "20", "0"]],
                more: 10,
                schedules: &["overlap", "auto"],
                overlaps: false,
            },
            OnRanks {
                what: "a pair of sweeps to a third plane, N = 1000",
                flags: &["-DTHIRD"],
                arguments: [["1000", "10", "0"], ["1000", "20", "0"]],
                more: 10,
                schedules: &["overlap", "auto"],
                overlaps: true,
            },
        ],
        aims: &[(PLANE_OF_1000, 1.4), (PLANE_OF_6000, 1.4)],
    },
];

const BOXES_OF_16: &str = "16³, 512 boxes";
const BOXES_OF_128: &str = "128³, 2 boxes";
const PLANE_OF_1000: &str = "N = 1000, 100 pairs";
const PLANE_OF_6000: &str = "N = 6000, 3 pairs";

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// The first and the last size of each program.
    Quick,
    /// Whether everything works, at tiny sizes.
    Smoke,
}

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
        way.gain_over(self.plain()?)
    }

    fn named(&self, name: &str) -> Option<&Way> {
        self.ways.iter().find(|way| way.name == name)
    }
}

impl Way {
    /// How many times as fast as another one, repetition by repetition.
    fn gain_over(&self, other: &Way) -> Option<Spread> {
        let seconds = other.seconds.iter().zip(&self.seconds);
        let ratios = seconds.map(|(other, own)| other / own);
        Spread::of(&ratios.collect::<Vec<_>>())
    }

    fn median(&self) -> f64 {
        Spread::of(&self.seconds).map_or(f64::INFINITY, |of| of.median)
    }
}

fn is_polly(name: &str) -> bool {
    name.ends_with("-polly")
}

/// An executable.
struct Built {
    executable: PathBuf,
    /// What is to be said of ways: those that it is without, and those of which the compiler has said something.
    remarks: Vec<String>,
}

/// Where things are.
struct Folders<'a> {
    sources: &'a Path,
    libraries: &'a Path,
    built: &'a Path,
}

/// Builds all, runs all `repetitions` times on one and two threads, and tells of it in Markdown; figures go to `figures`.
pub(crate) fn run(
    root: &Path,
    libraries: &Path,
    figures: &Path,
    repetitions: u32,
    extent: Extent,
) -> Result<String, String> {
    let built = tempfile::tempdir().map_err(|error| error.to_string())?;
    let load = Load::now();
    let libraries = libraries
        .canonicalize()
        .map_err(|error| error.to_string())?;
    let sources = root.join("programs/chains");
    let has_polly = has_polly();
    let mut text = format!(
        "# Chains of loops\n{}\nMedians of {repetitions} repetitions, in which all ways run one right after the other, and how \
         many times as fast each is as `plain` (the faster of those), which is the median of the repetitions' ratios (least to \
         most). All compute the same bits. `chain:` is what a schedule of `#pragma omplc` makes of the loops; the other ways \
         are written by hand. Temporaries are what lies between loops, of all threads together: bytes of arrays that are \
         written, and what is allocated besides.\n",
        load.note()
    );
    if !has_polly {
        let _ = writeln!(text, "\nThis {COMPILER} has no Polly: `-polly` is skipped.");
    }
    let (mut all, mut aims) = (Vec::new(), Aims::default());
    for program in &PROGRAMS {
        let folder = built.path().join(program.name);
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let folders = Folders {
            sources: &sources,
            libraries: &libraries,
            built: &folder,
        };
        let built = build(program, &folders, has_polly, extent)?;
        let _ = write!(text, "\n## {}\n\n{}\n", program.name, program.what);
        let sizes: Vec<_> = match (extent, program.sizes) {
            (Extent::Smoke, _) => vec![("tiny", program.tiny)],
            (Extent::Quick, [first, .., last]) => vec![*first, *last],
            (Extent::Quick | Extent::Whole, all) => all.to_vec(),
        };
        for (size, arguments) in sizes {
            for threads in THREADS {
                eprintln!("bench: {}, {size}, {threads} threads", program.name);
                let timing = time(&built.executable, size, arguments, threads, repetitions)?;
                table(&mut text, &timing);
                aims.note(program, &timing);
                all.push((program.name, timing));
            }
        }
        for remark in &built.remarks {
            let _ = writeln!(text, "\n{remark}");
        }
        if extent != Extent::Smoke {
            for on_ranks in program.on_ranks {
                let sent = ranks::count(program, on_ranks, &folders)?;
                text.push_str(&ranks::table(on_ranks, &sent));
                if on_ranks.overlaps {
                    aims.note_sent(program, on_ranks, &sent);
                }
            }
        }
    }
    if extent != Extent::Smoke {
        text.push_str(&aims.table());
        draw(&all, figures)?;
    }
    Ok(text)
}

/// Whether the compiler has Polly in it.
fn has_polly() -> bool {
    let mut command = Command::new(COMPILER);
    command.args(["-mllvm", "-polly", "-x", "c", "-c", "/dev/null", "-o"]);
    finish(command.arg("/dev/null")).is_ok()
}

/// How a schedule is asked for of a program's chain.
fn asked(schedule: &Schedule) -> Vec<String> {
    let mut flags = vec![
        format!("-DNAME=\"{CHAIN}{}\"", schedule.name),
        format!("-DITEMS={}", schedule.items),
    ];
    flags.extend(schedule.flags.iter().map(|flag| (*flag).to_owned()));
    flags
}

fn build(
    program: &Program,
    folders: &Folders,
    has_polly: bool,
    extent: Extent,
) -> Result<Built, String> {
    eprintln!("bench: compiling {}", program.name);
    let mut objects = Vec::new();
    let mut compile = |compiler: &Path, source: &str, flags: &[String]| {
        let object = folders.built.join(format!("{}.o", objects.len()));
        let (_, said) = finish(
            Command::new(compiler)
                .args(FLAGS)
                .args(QUIET)
                .args(flags)
                .arg("-c")
                .arg(folders.sources.join(format!("{source}.c")))
                .arg("-o")
                .arg(&object),
        )?;
        objects.push(object);
        Ok::<_, String>(said)
    };
    let name = program.name;
    let clang = Path::new(COMPILER);
    let polly = ["-mllvm", "-polly", "-DNAME=\"-polly\""].map(String::from);
    for source in ["chains", "allocated", name] {
        compile(clang, source, &[])?;
    }
    compile(clang, &format!("{name}_plain"), &[])?;
    if has_polly {
        compile(clang, &format!("{name}_plain"), &polly)?;
    }
    compile(clang, &format!("{name}_hand"), &[])?;
    let okl = folders.libraries.join("okl-cc");
    let mut remarks = Vec::new();
    for schedule in program.schedules {
        if extent == Extent::Smoke && !schedule.is_tried {
            continue;
        }
        let mut flags = asked(schedule);
        flags.push("--okl-target=cpu".to_owned());
        let way = format!("`{CHAIN}{}`", schedule.name);
        match compile(&okl, &format!("{name}_chain"), &flags) {
            Ok(said) => {
                // Others are of the same chain.
                let warning = said_after("warning: ", &said);
                remarks.extend(warning.map(|warning| format!("{way}: {warning}")));
            }
            Err(why) => {
                let error = said_after("error: ", &why);
                let error = error.unwrap_or_else(|| "it does not compile".to_owned());
                remarks.push(format!("{way} is refused: {error}"));
            }
        }
    }
    let executable = folders.built.join(name);
    let mut link = Command::new(okl);
    link.args(FLAGS).args(QUIET).arg("--okl-target=cpu");
    finish(
        link.args(&objects)
            .args(["-lm", "-ldl", "-o"])
            .arg(&executable),
    )?;
    Ok(Built {
        executable,
        remarks,
    })
}

/// What a compiler says first behind `word`.
fn said_after(word: &str, said: &str) -> Option<String> {
    let text = said.lines().find_map(|line| line.split_once(word))?.1;
    Some(text.split(" [-W").next().unwrap_or(text).to_owned())
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

fn table(text: &mut String, timing: &Timing) {
    let threads = match timing.threads {
        1 => "1 thread".to_owned(),
        more => format!("{more} threads"),
    };
    let _ = writeln!(
        text,
        "\n### {}, {threads}\n\n| way | ms | times as fast | bytes of temporaries |\n|---|---|---|---|",
        timing.size
    );
    let mut ways: Vec<&Way> = timing.ways.iter().collect();
    ways.sort_by(|one, other| one.median().total_cmp(&other.median()));
    for way in ways {
        let gain = timing.gain(way).map_or_else(String::new, |of| {
            format!("{:.2} ({:.2} to {:.2})", of.median, of.least, of.most)
        });
        let _ = writeln!(
            text,
            "| {} | {:.3} | {gain} | {} |",
            way.name,
            way.median() * 1e3,
            way.bytes
        );
    }
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
