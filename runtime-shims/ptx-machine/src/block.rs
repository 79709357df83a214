//! A block: its warps take turns, and wait for each other at barriers. A barrier that part of the block meets, or that threads
//! meet at different instructions, is a finding.

use crate::surroundings::{Finding, Surroundings, codes};
use crate::warp::{LANES, Warp, lanes_of};

/// A barrier that threads wait at.
#[derive(Debug)]
struct Barrier {
    number: u64,
    /// How many threads it waits for; none: all.
    threads: Option<u64>,
    /// Warps, their lanes and where they wait; no lanes where they went on.
    waiting: Vec<(usize, u32, u32)>,
    arrived: u64,
    truths: u32,
}

/// Runs a block; `turn` says which warp begins.
pub fn run(function: u32, turn: usize, surroundings: &mut Surroundings) -> Result<(), Finding> {
    let threads = surroundings.shape.block_size();
    let count = threads.div_ceil(LANES as u32);
    let lanes = |number: u32| (threads - number * LANES as u32).min(LANES as u32);
    let mut warps: Vec<Warp> = (0..count)
        .map(|number| Warp::new(number, lanes(number), function, surroundings))
        .collect();
    let mut barriers: Vec<Barrier> = Vec::new();
    let count = warps.len();
    loop {
        let mut has_run = false;
        for place in 0..count {
            let number = (place + turn) % count;
            let warp = &mut warps[number];
            if !warp.is_runnable() {
                continue;
            }
            has_run = true;
            warp.run(surroundings)?;
            for arrival in std::mem::take(&mut warp.arrivals) {
                let at = barriers.iter().position(|one| one.number == arrival.number);
                let at = at.unwrap_or_else(|| {
                    barriers.push(Barrier {
                        number: arrival.number,
                        threads: arrival.threads,
                        waiting: Vec::new(),
                        arrived: 0,
                        truths: 0,
                    });
                    barriers.len() - 1
                });
                let barrier = &mut barriers[at];
                let whole_warp =
                    arrival.threads.is_some() && arrival.lanes == warps[number].alive();
                barrier.arrived += if whole_warp {
                    32
                } else {
                    arrival.lanes.count_ones().into()
                };
                barrier.truths += arrival.truths;
                barrier.threads = barrier.threads.or(arrival.threads);
                let lanes = if arrival.waits { arrival.lanes } else { 0 };
                barrier.waiting.push((number, lanes, arrival.at));
            }
            complete(&mut barriers, &mut warps, threads, surroundings)?;
        }
        if !has_run {
            break;
        }
    }
    if warps.iter().all(|warp| warp.alive() == 0) {
        return Ok(());
    }
    Err(stuck(&barriers, &warps, threads, surroundings))
}

/// Has those go on whose barriers all have met.
fn complete(
    barriers: &mut Vec<Barrier>,
    warps: &mut [Warp],
    threads: u32,
    surroundings: &mut Surroundings,
) -> Result<(), Finding> {
    while let Some(at) = barriers.iter().position(|barrier| {
        let expected = barrier.threads.unwrap_or(threads.into());
        barrier.arrived >= expected
    }) {
        let barrier = barriers.remove(at);
        let first = barrier.waiting[0];
        if barrier.threads.is_none()
            && let Some(other) = barrier.waiting.iter().find(|one| one.2 != first.2)
        {
            let (one, two) = (
                surroundings.named(warps[first.0].first_thread(first.1)),
                surroundings.named(warps[other.0].first_thread(other.1)),
            );
            return Err(Finding {
                at: first.2,
                code: codes::LAUNCH_FAILED,
                text: format!(
                    "threads of {} meet different barriers: {one} waits here, {two} at {}",
                    surroundings.block_named(),
                    surroundings.program.place(other.2)
                ),
            });
        }
        let met = barrier.waiting.iter().map(|one| one.1.count_ones()).sum();
        for (warp, lanes, _) in barrier.waiting {
            warps[warp].release(lanes, barrier.truths, met, surroundings);
        }
        surroundings.begin_segment();
    }
    Ok(())
}

/// Why nobody can run.
fn stuck(
    barriers: &[Barrier],
    warps: &[Warp],
    threads: u32,
    surroundings: &Surroundings,
) -> Finding {
    let block = surroundings.block_named();
    let together = warps.iter().find_map(|warp| Some((warp, warp.together()?)));
    let Some(barrier) = barriers.first() else {
        let (warp, (lanes, at)) = together.expect("somebody waits");
        let thread = surroundings.named(warp.first_thread(lanes));
        return Finding {
            at,
            code: codes::LAUNCH_FAILED,
            text: format!("{thread} of {block} waits for lanes of its warp that do not come here"),
        };
    };
    let here: Vec<u32> = barrier
        .waiting
        .iter()
        .flat_map(|(warp, lanes, _)| lanes_of(*lanes).map(move |lane| (warp * LANES + lane) as u32))
        .collect();
    let missing = (0..threads).find(|thread| !here.contains(thread));
    let other = missing.map(|thread| {
        let (warp, lane) = (thread as usize / LANES, thread as usize % LANES);
        let name = surroundings.named(thread);
        let elsewhere = barriers.iter().flat_map(|one| &one.waiting);
        let mut elsewhere =
            elsewhere.filter(|(other, lanes, _)| *other == warp && lanes >> lane & 1 == 1);
        if warps[warp].alive() >> lane & 1 == 0 {
            format!(": {name} has ended")
        } else if let Some((_, _, at)) = elsewhere.next() {
            format!(": {name} waits at {}", surroundings.program.place(*at))
        } else {
            format!(": {name} waits for lanes of its warp")
        }
    });
    Finding {
        at: barrier.waiting[0].2,
        code: codes::LAUNCH_FAILED,
        text: format!(
            "a barrier is met by {} of {} threads of {block}{}",
            barrier.arrived,
            barrier.threads.unwrap_or(threads.into()),
            other.unwrap_or_default()
        ),
    }
}
