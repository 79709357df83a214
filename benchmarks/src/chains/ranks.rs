//! What chains send on two ranks, each of which is a node of its own, with their schedules and as they are written.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use super::{CHAIN, Folders, LIMIT, OnRanks, PLAIN, Program, QUIET, asked, said_after};
use crate::output::Counts;
use crate::tools::{FLAGS, finish};

const RANKS: u32 = 2;

/// What a way sends in a run, of both ranks together, or why there is no such way.
pub(super) struct Sent {
    pub(super) way: String,
    pub(super) counts: Result<[f64; 2], String>,
}

/// Of all ways of a program that run so, the loops as they are written first.
pub(super) fn count(
    program: &Program,
    on_ranks: &OnRanks,
    folders: &Folders,
) -> Result<Vec<Sent>, String> {
    let name = program.name;
    let plain = (PLAIN.to_owned(), format!("{name}_plain"), Vec::new());
    let chosen = program.schedules.iter();
    let chosen = chosen.filter(|schedule| on_ranks.schedules.contains(&schedule.name));
    let chains = chosen.map(|schedule| {
        let way = format!("{CHAIN}{}", schedule.name);
        (way, format!("{name}_chain"), asked(schedule))
    });
    let (mut all, mut left): (Vec<Sent>, Option<String>) = (Vec::new(), None);
    for (at, (way, source, flags)) in std::iter::once(plain).chain(chains).enumerate() {
        eprintln!("bench: {name}, {way} on {RANKS} ranks");
        let executable = folders.built.join(format!("on-ranks-{at}"));
        let mut command = Command::new(folders.libraries.join("okl-cc"));
        command.args(FLAGS).args(QUIET);
        command.args(on_ranks.flags).args(flags);
        for source in ["chains", name, &source] {
            command.arg(folders.sources.join(format!("{source}.c")));
        }
        let counts = match finish(command.args(["-lm", "-o"]).arg(&executable)) {
            Err(why) => Err(said_after("error: ", &why).unwrap_or(why)),
            Ok(_) => {
                let [short, long] = on_ranks.arguments;
                let (short, _) = run(&executable, short, &way)?;
                let (long, found) = run(&executable, long, &way)?;
                // All leave what the first one does.
                match &left {
                    None => left = Some(found),
                    Some(left) if *left == found => {}
                    Some(_) => {
                        return Err(format!(
                            "{name}: {way} on {RANKS} ranks computes something else"
                        ));
                    }
                }
                let each = |at: usize| (long[at] - short[at]) / f64::from(on_ranks.more);
                Ok([each(0), each(1)])
            }
        };
        all.push(Sent { way, counts });
    }
    Ok(all)
}

/// Messages and bytes, and what is left behind.
fn run(executable: &Path, arguments: [&str; 3], way: &str) -> Result<([f64; 2], String), String> {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "10", LIMIT, "mpirun", "--oversubscribe", "-n"])
        .arg(RANKS.to_string())
        .arg(executable)
        .args(arguments)
        .arg(way)
        .env("OMP_NUM_THREADS", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OKL_RANKS_PER_NODE", "1")
        .env("OKL_REGIONS_ALONE", "0")
        .env("OKL_STATS", "1");
    let (stdout, stderr) = finish(&mut command)?;
    let counts = Counts::parse(&stderr, RANKS);
    let total = |label| counts.as_ref()?.total(label);
    let left = stdout.lines().find_map(|line| line.split_once(" leaves "));
    match (total("messages"), total("bytes"), left) {
        (Some(messages), Some(bytes), Some((_, left))) => {
            Ok(([messages as f64, bytes as f64], left.to_owned()))
        }
        _ => Err(format!(
            "{way} on {RANKS} ranks: no counts in {stdout}{stderr}"
        )),
    }
}

pub(super) fn table(on_ranks: &OnRanks, sent: &[Sent]) -> String {
    let mut text = format!(
        "\n### {RANKS} ranks as nodes, {}, both ranks together\n\n| way | messages | bytes |\n|---|---|---|\n",
        on_ranks.what
    );
    for Sent { way, counts } in sent {
        let _ = match counts {
            Ok([messages, bytes]) => writeln!(text, "| {way} | {messages:.1} | {bytes:.0} |"),
            Err(why) => writeln!(text, "| {way} | refused: {why} | |"),
        };
    }
    text
}
