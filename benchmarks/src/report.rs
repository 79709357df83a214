//! Writes what was measured: every time and every count as CSV, the tables as Markdown, the
//! figures.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::count::{Communication, PerIteration};
use crate::figures;
use crate::measure::{Results, Timing};
use crate::model::{self, Forecast};
use crate::statistics::Spread;
use crate::tools::Variant;

impl Timing {
    /// okl's ranks as nodes : hand MPI.
    pub(crate) fn nodes_to_hand_mpi(&self) -> Option<Spread> {
        self.ratio(Variant::OklNodes, Variant::HandMpi)
    }

    /// okl : hand MPI.
    pub(crate) fn to_hand_mpi(&self) -> Option<Spread> {
        self.ratio(Variant::Okl, Variant::HandMpi)
    }

    /// okl : OpenMP.
    pub(crate) fn to_openmp(&self) -> Option<Spread> {
        self.ratio(Variant::Okl, Variant::OpenMp)
    }

    fn ratio(&self, above: Variant, below: Variant) -> Option<Spread> {
        Spread::of_ratios(&self.seconds[above as usize], &self.seconds[below as usize])
    }

    /// Seconds per iteration.
    pub(crate) fn spread(&self, variant: Variant) -> Option<Spread> {
        let times: Vec<f64> = self.seconds[variant as usize]
            .iter()
            .flatten()
            .copied()
            .collect();
        Spread::of(&times)
    }
}

/// Writes `results/` and `figures/` into `out` and prints the tables.
pub(crate) fn write(results: &Results, out: &Path) -> Result<(), String> {
    let tables = tables(results);
    println!("{tables}");
    let folder = |name: &str| {
        let folder = out.join(name);
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        Ok::<_, String>(folder)
    };
    let stored = folder("results")?;
    for (name, text) in [
        ("results.md", &tables),
        ("times.csv", &times_csv(results)),
        ("ratios.csv", &ratios_csv(results)),
        ("communication.csv", &communication_csv(results)),
        ("compile.csv", &compile_csv(results)),
    ] {
        let path = stored.join(name);
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    figures::draw(results, &folder("figures")?)?;
    println!("stored in {}", out.display());
    Ok(())
}

fn tables(results: &Results) -> String {
    let mut text = String::from("# okl against OpenMP and hand-written MPI\n\n");
    line(&mut text, &machine(results.cores));
    line(
        &mut text,
        &format!(
            "{} repetitions, the variants of a program one right after the other. Ratios are of each \
             repetition: median (least to most). What the columns mean is in \
             [benchmarks/README.md](../README.md).",
            results.repetitions
        ),
    );
    text.push_str(&results.load.note());
    for error in &results.errors {
        let first = error.lines().next().unwrap_or_default();
        line(&mut text, &format!("\n**Error**: {first}"));
    }
    line(
        &mut text,
        "\n## Time\n\nMedians, microseconds per iteration.\n",
    );
    row(
        &mut text,
        &[
            "program",
            "ranks",
            "OpenMP",
            "hand MPI",
            "okl as nodes",
            "okl",
            "okl as nodes : hand MPI",
            "okl : hand MPI",
            "aim",
            "okl : OpenMP",
        ]
        .map(String::from),
    );
    row(&mut text, &[(); 10].map(|()| "---".into()));
    for timing in &results.timings {
        let time = |variant| {
            timing
                .spread(variant)
                .map_or("-".into(), |spread| rounded(spread.median * 1e6))
        };
        row(
            &mut text,
            &[
                timing.benchmark.name.into(),
                timing.ranks.to_string(),
                time(Variant::OpenMp),
                time(Variant::HandMpi),
                time(Variant::OklNodes),
                time(Variant::Okl),
                spread(timing.nodes_to_hand_mpi()),
                spread(timing.to_hand_mpi()),
                format!("{:.2}", timing.benchmark.kind.bound()),
                spread(timing.to_openmp()),
            ],
        );
    }
    aims(results, &mut text);
    communication_table(results, &mut text);
    compile_table(results, &mut text);
    model_table(results, &mut text);
    text
}

/// Which programs reach what okl aims at, as nodes first.
fn aims(results: &Results, text: &mut String) {
    let mut ranks: Vec<u32> = results.timings.iter().map(|timing| timing.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    line(text, "");
    type Ratio = fn(&Timing) -> Option<Spread>;
    let modes: [(&str, Ratio); 2] = [
        (" as nodes", Timing::nodes_to_hand_mpi),
        ("", Timing::to_hand_mpi),
    ];
    for ranks in ranks {
        for (mode, ratio) in modes {
            let of_ranks = || {
                let timings = results
                    .timings
                    .iter()
                    .filter(|timing| timing.ranks == ranks);
                timings.filter_map(|timing| Some((timing, ratio(timing)?.median)))
            };
            let missed: Vec<String> = of_ranks()
                .filter(|(timing, median)| *median > timing.benchmark.kind.bound())
                .map(|(timing, median)| format!("{} {median:.2}", timing.benchmark.name))
                .collect();
            let all = of_ranks().count();
            if all == 0 {
                continue;
            }
            let noun = if ranks == 1 { "rank" } else { "ranks" };
            let mut words = format!(
                "On {ranks} {noun}{mode}, {} of {all} programs reach their aim",
                all - missed.len()
            );
            if !missed.is_empty() {
                words += &format!("; not {}", missed.join(", "));
            }
            line(text, &format!("- {words}."));
        }
    }
}

fn communication_table(results: &Results, text: &mut String) {
    line(
        text,
        "\n## Communication\n\nPer iteration, all ranks together; memory is of the rank that holds most.\n",
    );
    row(
        text,
        &[
            "program",
            "ranks",
            "messages: hand MPI",
            "okl, data",
            "okl, all",
            "bytes: hand MPI",
            "okl, data",
            "okl, all",
            "okl: regions started",
            "okl: page faults",
            "MiB: hand MPI",
            "okl",
        ]
        .map(String::from),
    );
    row(text, &[(); 12].map(|()| "---".into()));
    for okl in rows(results, Variant::Okl) {
        let hand = rows(results, Variant::HandMpi)
            .find(|hand| (hand.benchmark, hand.ranks) == (okl.benchmark, okl.ranks));
        let hand_total = |count: fn(&Communication) -> Option<PerIteration>| {
            hand.map_or("-".into(), |hand| total(count(hand)))
        };
        let mebibytes = |kib: Option<u64>| {
            kib.map_or("not counted".into(), |kib| {
                format!("{:.1}", kib as f64 / 1024.0)
            })
        };
        row(
            text,
            &[
                okl.benchmark.into(),
                okl.ranks.to_string(),
                hand_total(|hand| hand.messages),
                total(okl.data_messages),
                total(okl.messages),
                hand_total(|hand| hand.bytes),
                total(okl.data_bytes),
                total(okl.bytes),
                okl.forks
                    .map_or("not counted".into(), |forks| rounded(forks.busiest)),
                total(okl.faults),
                mebibytes(hand.and_then(|hand| hand.resident_kib)),
                mebibytes(okl.resident_kib),
            ],
        );
    }
}

fn compile_table(results: &Results, text: &mut String) {
    line(
        text,
        "\n## Compile time\n\nMilliseconds for one object file; the ratio is with the plugin : without.\n",
    );
    row(
        text,
        &["source", "OpenMP", "okl", "okl : OpenMP"].map(String::from),
    );
    row(text, &[(); 4].map(|()| "---".into()));
    for times in &results.compile_times {
        let median = |times: &[Option<f64>]| {
            let times: Vec<f64> = times.iter().flatten().copied().collect();
            Spread::of(&times).map_or("-".into(), |spread| rounded(spread.median * 1e3))
        };
        row(
            text,
            &[
                times.source.into(),
                median(&times.openmp),
                median(&times.okl),
                spread(Spread::of_ratios(&times.okl, &times.openmp)),
            ],
        );
    }
}

fn model_table(results: &Results, text: &mut String) {
    let mut ranks: Vec<u32> = results.communication.iter().map(|row| row.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if ranks.len() < 3 {
        line(
            text,
            "\nNo model of many ranks: it needs counts on three numbers of ranks.",
        );
        return;
    }
    let network = model::NETWORK;
    line(text, "\n## Model: many ranks\n");
    line(
        text,
        &format!(
            "**A model, not a measurement.** Messages and bytes of one iteration grow from the counts \
             above by the laws that fit them best; the time is what communication alone would take by \
             LogGP with L = {} us, o = {} us, g = {} us, G = {} ns per byte. It takes the size of the \
             problem as it is, and a decomposition that is possible on so many ranks.\n",
            network.latency,
            network.overhead,
            network.gap,
            network.gap_per_byte * 1e3
        ),
    );
    row(
        text,
        &[
            "program",
            "ranks",
            "messages: hand MPI",
            "okl",
            "bytes: hand MPI",
            "okl",
            "us: hand MPI",
            "okl",
            "laws off by at most",
        ]
        .map(String::from),
    );
    row(text, &[(); 9].map(|()| "---".into()));
    let mut names: Vec<&str> = results
        .communication
        .iter()
        .map(|row| row.benchmark)
        .collect();
    names.dedup();
    for name in names {
        let counted = |variant| -> Vec<&Communication> {
            rows(results, variant)
                .filter(|row| row.benchmark == name)
                .collect()
        };
        let (hand, okl) = (counted(Variant::HandMpi), counted(Variant::Okl));
        for ranks in model::RANKS {
            let forecasts = [&hand, &okl].map(|counted| model::forecast(counted, ranks));
            let both = |value: fn(&Forecast) -> f64| {
                forecasts
                    .map(|forecast| forecast.as_ref().map_or("-".into(), |f| rounded(value(f))))
            };
            let [hand_messages, okl_messages] = both(|f| f.messages);
            let [hand_bytes, okl_bytes] = both(|f| f.bytes);
            let [hand_time, okl_time] = both(|f| f.microseconds);
            if forecasts.iter().all(Option::is_none) {
                continue;
            }
            let worst = forecasts.iter().flatten().map(|f| f.deviation);
            row(
                text,
                &[
                    name.into(),
                    ranks.to_string(),
                    hand_messages,
                    okl_messages,
                    hand_bytes,
                    okl_bytes,
                    hand_time,
                    okl_time,
                    format!("{:.0} %", worst.fold(0.0, f64::max) * 100.0),
                ],
            );
        }
    }
}

fn rows(results: &Results, variant: Variant) -> impl Iterator<Item = &Communication> {
    results
        .communication
        .iter()
        .filter(move |row| row.variant == variant)
}

fn times_csv(results: &Results) -> String {
    let mut text = String::from("program,ranks,variant,repetition,seconds_per_iteration\n");
    for timing in &results.timings {
        for (variant, times) in Variant::ALL.iter().zip(&timing.seconds) {
            for (repetition, time) in times.iter().enumerate() {
                let time = time.map_or("failed".into(), |time| format!("{time:.9}"));
                line(
                    &mut text,
                    &format!(
                        "{},{},{},{repetition},{time}",
                        timing.benchmark.name,
                        timing.ranks,
                        variant.key()
                    ),
                );
            }
        }
    }
    text
}

fn ratios_csv(results: &Results) -> String {
    let mut text =
        String::from("program,ranks,ratio,least,lower_quartile,median,upper_quartile,most\n");
    for timing in &results.timings {
        for (name, spread) in [
            ("okl-nodes:mpi", timing.nodes_to_hand_mpi()),
            ("okl:mpi", timing.to_hand_mpi()),
            ("okl:openmp", timing.to_openmp()),
        ] {
            let Some(s) = spread else { continue };
            line(
                &mut text,
                &format!(
                    "{},{},{name},{:.4},{:.4},{:.4},{:.4},{:.4}",
                    timing.benchmark.name,
                    timing.ranks,
                    s.least,
                    s.lower_quartile,
                    s.median,
                    s.upper_quartile,
                    s.most
                ),
            );
        }
    }
    text
}

fn communication_csv(results: &Results) -> String {
    let mut text = String::from(
        "program,ranks,variant,messages,bytes,data_messages,data_bytes,collectives,\
         regions_started,page_faults,resident_kib\n",
    );
    for row in &results.communication {
        let total = |count: Option<PerIteration>| {
            count.map_or(String::new(), |count| format!("{}", count.total))
        };
        line(
            &mut text,
            &format!(
                "{},{},{},{},{},{},{},{},{},{},{}",
                row.benchmark,
                row.ranks,
                row.variant.key(),
                total(row.messages),
                total(row.bytes),
                total(row.data_messages),
                total(row.data_bytes),
                row.collectives
                    .map_or(String::new(), |count| format!("{}", count.busiest)),
                row.forks
                    .map_or(String::new(), |count| format!("{}", count.busiest)),
                total(row.faults),
                row.resident_kib
                    .map_or(String::new(), |kib| kib.to_string()),
            ),
        );
    }
    text
}

fn compile_csv(results: &Results) -> String {
    let mut text = String::from("source,variant,repetition,seconds\n");
    for times in &results.compile_times {
        for (variant, seconds) in [("openmp", &times.openmp), ("okl", &times.okl)] {
            for (repetition, seconds) in seconds.iter().flatten().enumerate() {
                line(
                    &mut text,
                    &format!("{},{variant},{repetition},{seconds:.6}", times.source),
                );
            }
        }
    }
    text
}

/// The processor and the versions, in one line.
fn machine(cores: u32) -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = info
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(':'))
        .map_or("an unknown processor", |(_, name)| name.trim());
    let version = |program: &str| {
        let output = Command::new(program).arg("--version").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let text = text.unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_owned()
    };
    format!(
        "{processor}, {cores} cores; {}; {}.",
        version("clang-22"),
        version("mpirun")
    )
}

fn spread(spread: Option<Spread>) -> String {
    spread.map_or("-".into(), |s| {
        format!("{:.2} ({:.2} to {:.2})", s.median, s.least, s.most)
    })
}

fn total(count: Option<PerIteration>) -> String {
    count.map_or("not counted".into(), |count| rounded(count.total))
}

/// Whole if it is large, with a few digits if it is small.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn row(text: &mut String, cells: &[String]) {
    line(text, &format!("| {} |", cells.join(" | ")));
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string");
}
