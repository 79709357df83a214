//! Regions that declare what they access, among serial code and regions that do not.

use super::{
    nests::{Nest, Part, Words, nest, positions, random_nests, section, steps, within},
    *,
};
use crate::coherence::declared::{Accesses, Mode};

/// `rounds` times the same, but for `surprises` of 100 intervals, on each rank with `per_rank` threads.
fn declaring_region(
    job: &mut Job,
    random: &mut Random,
    rounds: usize,
    surprises: usize,
    per_rank: usize,
) {
    let direct: Vec<Page> = (0..random.below(3))
        .map(|_| random.below(job.used as usize) as Page)
        .collect();
    // Regions with contributions have one thread on each rank.
    let contributions = per_rank == 1 && random.chance(60);
    job.enter_region(&Accesses::Declared {
        direct: direct.clone(),
        contributions: contributions && random.chance(50),
    });
    // Of their own, so that the others stay what they are.
    let mut others = Random(random.0 ^ 0x5555);
    let reads_undeclared = others.chance(40);
    // Then what is open by a declaration is current as a whole.
    let is_expected = reads_undeclared && !contributions && others.chance(60);
    if is_expected {
        job.ranks
            .each(|_, node| node.side.coherence.expect_undeclared_reads());
    }
    let threads = job.ranks.len() * per_rank;
    let nests = |job: &Job, random: &mut Random| {
        let mut nests = random_nests(job, threads, random);
        if contributions {
            for (_, nest) in &mut nests {
                nest.keep_nothing();
            }
        }
        nests
    };
    let intervals: Vec<Vec<(usize, Nest)>> = (0..1 + random.below(3))
        .map(|_| nests(job, random))
        .collect();
    let mut contributed: Vec<Object> = Vec::new();
    for round in 0..rounds {
        for (index, usual) in intervals.iter().enumerate() {
            if (round, index) != (0, 0) {
                job.barrier();
            }
            if !contributed.is_empty() && random.chance(20) {
                for _ in 0..3 {
                    let (start, end) = contributed[random.below(contributed.len())].bytes();
                    let rank = random.below(job.ranks.len());
                    let size = (end - start) as usize;
                    let sections = vec![section(Mode::Read, start as usize, size, &[])];
                    job.run(rank, &nest(sections), random);
                }
                job.barrier();
            }
            let unusual = match random.below(100) < surprises {
                true => Some(nests(job, random)),
                false => None,
            };
            let nests = unusual.as_ref().unwrap_or(usual);
            let words = Words::of(nests, &direct, job.ranks.len());
            let number = random.below(1 << 20);
            let is_written = |at: usize| {
                let all = nests.iter().flat_map(|(_, nest)| &nest.sections);
                let mut written = all.filter(|one| !matches!(one.mode, Mode::Read | Mode::MayRead));
                written.any(|one| (one.shape.hull().0..one.shape.hull().1).contains(&(at as u64)))
            };
            let touched: Vec<usize> = nests
                .iter()
                .flat_map(|(_, nest)| &nest.sections)
                .flat_map(|one| positions(&one.shape.ranges()))
                .map(|at| at / PAGE)
                .collect();
            let mut running = vec![None; threads];
            for (thread, nest, part) in steps(nests, random) {
                job.run_part(thread / per_rank, &nests[nest].1, part, random);
                if job.frees.is_some() && others.chance(20) {
                    let rank = others.below(job.ranks.len());
                    job.ranks[rank].make_room(0);
                }
                if !contributions && reads_undeclared && others.chance(20) {
                    let page = others.below(job.used as usize) as Page;
                    let rank = others.below(job.ranks.len());
                    let offset = others.below(PAGE);
                    if !direct.contains(&page)
                        && !is_written(page as usize * PAGE + offset)
                        && (is_expected || !job.ranks[rank].is_open_by_declaration(page))
                    {
                        job.check(rank, page, offset, "an undeclared read");
                    }
                }
                running[thread] = (part != Part::Second).then_some(&nests[nest].1);
                for _ in 0..random.below(if contributions { 4 } else { 1 }) {
                    let page = random.below(job.used as usize) as Page;
                    let word = random.below(PAGE / 8) * 8;
                    let rank = random.below(job.ranks.len());
                    if let Some(owner) = words.owner(page, word)
                        && !running[rank].is_some_and(|nest| nest.accesses_part_of(page, word))
                    {
                        let of = (rank, owner);
                        let place = (page, word);
                        if let Some(object) =
                            collected::contribute_to_word(job, random, of, place, number)
                        {
                            contributed.push(object);
                        }
                    }
                }
                for &page in &direct {
                    if !touched.contains(&(page as usize)) {
                        let offset = random.below(PAGE);
                        let owner = offset % job.ranks.len();
                        job.check(owner, page, offset, "undeclared in a declaring region");
                        job.write(owner, page, offset, random.below(256) as u8);
                    }
                }
            }
        }
    }
    if per_rank == 1 && random.chance(10) {
        job.stop_declaring();
        let pages = some_pages(job, random);
        for _ in 0..random.below(4) {
            interval(job, random, &pages, true, true);
            job.barrier();
            job.begin_next_interval();
        }
    }
    job.leave_region();
    for object in contributed {
        job.check_object(0, object, "contributed in a declaring region");
    }
}

fn random_mixture(seed: u64, ranks: usize, per_rank: usize, mappings: Option<u32>) -> Counts {
    let (mut job, mut random) = random_job(seed, ranks, mappings);
    for _ in 0..5 {
        serial(&mut job, &mut random);
        if random.chance(75) {
            let rounds = 1 + random.below(5);
            declaring_region(&mut job, &mut random, rounds, 10, per_rank);
        } else {
            let atomics = random.chance(30);
            job.enter_region(&Accesses::Tracked { atomics });
            let pages = some_pages(&job, &mut random);
            for _ in 0..1 + random.below(5) {
                interval(&mut job, &mut random, &pages, true, atomics);
                job.barrier();
                job.begin_next_interval();
            }
            job.barrier();
            job.leave_region();
        }
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
    job.counts(0)
}

#[test]
fn declared_and_undeclared_accesses_see_one_memory() {
    let mut transitions = 0;
    let mut pulls = 0;
    let mut collapses = 0;
    for seed in seeds(80) {
        for ranks in 1..=4 {
            let counts = random_mixture(seed, ranks, 1, None);
            transitions += counts.transitions;
            pulls += counts.pulls;
            collapses += counts.collapses;
        }
    }
    assert!(transitions > 0 && pulls > 0 && collapses > 0);
}

#[test]
fn a_limit_on_mappings_changes_nothing_for_sections() {
    for seed in seeds(40) {
        random_mixture(seed, 3, 1, Some(20));
    }
}

#[test]
fn threads_of_a_rank_declare_while_others_compute() {
    for seed in seeds(60) {
        for ranks in 1..=3 {
            random_mixture(seed, ranks, 2, None);
            random_mixture(seed, ranks, 3, None);
        }
        random_mixture(seed, 2, 2, Some(20));
    }
}

/// Ranks on several nodes learn what they copy from each other; sometimes they copy something else.
#[test]
fn pushes_change_nothing() {
    let (mut pushed, mut taken, mut surprised) = (0, 0, 0);
    for seed in seeds(60) {
        for (ranks, per_node) in [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2)] {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let mut job = Job::new(ranks, false, None);
            job.cluster.borrow_mut().per_node = per_node;
            if seed.is_multiple_of(4) {
                job.be_short_of_memory(seed);
            }
            for _ in 0..3 {
                serial(&mut job, &mut random);
                let rounds = 3 + random.below(8);
                let surprises = [0, 20][random.below(2)];
                declaring_region(&mut job, &mut random, rounds, surprises, 1);
            }
            let cluster = job.cluster();
            pushed += cluster.pushed_bytes;
            taken += cluster.taken_bytes;
            surprised += usize::from(cluster.pushed_bytes > cluster.taken_bytes);
        }
    }
    assert!(taken > 0 && surprised > 0);
    assert!(pushed < 2 * taken, "{pushed} bytes pushed, {taken} taken");
}

/// A stencil on rows: after the first iterations an iteration makes no plan, no fault and no exchange,
/// and moves one row each way.
#[test]
fn an_iteration_like_the_one_before_moves_only_halos() {
    for per_node in [1, 2] {
        only_halos_move(per_node);
    }
}

fn only_halos_move(per_node: usize) {
    const ROW: usize = 1500;
    const ROWS: usize = 12;
    let ranks = 2;
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = per_node;
    let mut random = Random(77);
    let arrays = [100, 6 * PAGE + 40];
    assert!(arrays[1] + (ROWS + 2) * ROW < job.used as usize * PAGE);
    let mut steady = Counts::default();
    let mut taken_before = 0;
    for sweep in 0..12 {
        let (from, to) = (arrays[sweep % 2], arrays[(sweep + 1) % 2]);
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            contributions: false,
        });
        for rank in 0..ranks {
            let first = 1 + rank * ROWS / 2;
            let last = (rank + 1) * ROWS / 2;
            let rows = last - first + 1;
            let nest = nest(
                [
                    within(
                        (from, from + (ROWS + 2) * ROW),
                        vec![section(
                            Mode::Read,
                            from + (first - 1) * ROW,
                            ROW,
                            &[(ROW, rows + 2)],
                        )],
                    ),
                    within(
                        (to, to + (ROWS + 2) * ROW),
                        vec![section(
                            Mode::Write,
                            to + first * ROW + 8,
                            ROW - 16,
                            &[(ROW, rows)],
                        )],
                    ),
                ]
                .concat(),
            );
            job.run(rank, &nest, &mut random);
        }
        job.leave_region();
        if sweep == 7 {
            steady = job.counts(1);
            taken_before = job.cluster().taken_bytes;
        }
    }
    let end = job.counts(1);
    assert_eq!(end.plans, steady.plans);
    assert_eq!(end.transitions, steady.transitions);
    assert_eq!(
        (end.read_faults, end.write_faults),
        (steady.read_faults, steady.write_faults)
    );
    assert_eq!(end.pulls - steady.pulls, 4);
    assert_eq!(
        end.pulled_bytes - steady.pulled_bytes,
        4 * (ROW as u64 - 16)
    );
    // Between nodes all of it is pushed.
    let cluster = job.cluster();
    let row = if per_node == 1 { ROW - 16 } else { 0 };
    assert_eq!(cluster.taken_bytes - taken_before, 8 * row);
    // Rank 1 sent its row for a sweep that did not come.
    assert_eq!(cluster.pushed_bytes, cluster.taken_bytes + row);
}

/// What one rank owns alone it writes without a fault in a region that declares nothing; what serial code
/// copied of it before is not taken for current.
#[test]
fn an_owner_writes_unnoticed_where_nobody_has_copies() {
    let mut job = Job::new(2, false, None);
    let mut random = Random(5);
    let page = job.layout.arena(0).page;
    let write = nest(vec![section(
        Mode::Write,
        page as usize * PAGE,
        2 * PAGE,
        &[],
    )]);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    job.run(1, &write, &mut random);
    job.barrier();
    job.leave_region();
    job.check(0, page, 0, "in serial code");
    job.fork(&[]);
    job.enter_region(&Accesses::Tracked { atomics: false });
    let faults = job.ranks[1].counts.write_faults;
    job.write(1, page, 0, 7);
    job.write(1, page, 1, 8);
    assert_eq!(job.ranks[1].counts.write_faults, faults);
    job.barrier();
    job.check(0, page, 0, "after the owner wrote");
    job.barrier();
    // Now there is a copy, and the owner's writes are noticed.
    job.write(1, page, 0, 9);
    assert_eq!(job.ranks[1].counts.write_faults, faults + 1);
    job.barrier();
    job.check(0, page, 0, "after the owner wrote again");
    job.leave_region();
}

/// In a tracked region an acquisition drops copies of what the owner may have changed, and no others.
#[test]
fn an_acquisition_keeps_what_its_owner_did_not_change() {
    let mut job = Job::new(2, false, None);
    let mut random = Random(7);
    let page = job.layout.arena(0).page;
    let first = page as usize * PAGE;
    let write = nest(vec![section(Mode::Write, first, 2 * PAGE, &[])]);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    job.run(0, &write, &mut random);
    job.barrier();
    job.leave_region();
    job.fork(&[]);
    job.enter_region(&Accesses::Tracked { atomics: false });
    let mut fetched = job.ranks[1].counts.pages_fetched;
    for (round, expected) in [2, 2, 1, 1, 1].into_iter().enumerate() {
        for page in [page + 1, page] {
            job.check(1, page, 0, "in a critical section");
        }
        job.ranks[1].release();
        let now = job.ranks[1].counts.pages_fetched;
        // The first time the owner writes without being noticed: it announces all that was copied.
        assert_eq!(
            now - std::mem::replace(&mut fetched, now),
            expected,
            "round {round}"
        );
        job.ranks[0].acquire();
        job.write(0, page + 1, 0, round as u8);
        job.ranks[0].release();
        job.ranks[1].acquire();
    }
    job.barrier();
    for page in [page, page + 1] {
        job.check(1, page, 0, "after the region");
    }
}

/// In a region that declares its accesses a rank reads what it has not declared, as a library does under it. The owner is
/// not told of that copy, and writes next in serial code, or as it declares.
#[test]
fn an_undeclared_copy_does_not_outlive_its_interval() {
    for serially in [true, false] {
        for reads_declared in [true, false] {
            let mut job = Job::new(2, false, None);
            let mut random = Random(11);
            let page = job.layout.arena(0).page;
            let on_page = |mode| nest(vec![section(mode, page as usize * PAGE, PAGE, &[])]);
            let declaring = Accesses::Declared {
                direct: vec![],
                contributions: false,
            };
            for turn in 0..4 {
                if serially && turn > 0 {
                    job.write(0, page, 0, 100 + turn);
                }
                job.fork(&[]);
                job.enter_region(&declaring);
                if !serially || turn == 0 {
                    job.run(0, &on_page(Mode::Write), &mut random);
                    job.barrier();
                }
                if turn > 0 && reads_declared {
                    job.run(1, &on_page(Mode::Read), &mut random);
                    job.barrier();
                }
                job.check(1, page, 0, "undeclared");
                job.check(1, page, PAGE - 1, "undeclared");
                job.leave_region();
            }
        }
    }
}

/// Rank 0 writes a page again and again, and rank 1 reads it in a region that declares its accesses, but not
/// this read; where `declares` says so, another region reads it declared. `writes_serially`: rank 0's second
/// write of each turn is in serial code.
fn undeclared_reads(per_node: usize, writes_serially: bool, declares: bool) -> (u64, u64) {
    let mut job = Job::new(2, false, None);
    job.cluster.borrow_mut().per_node = per_node;
    let mut random = Random(7);
    let page = job.layout.arena(0).page;
    let on_page = |mode, offset, length| {
        nest(vec![section(
            mode,
            page as usize * PAGE + offset,
            length,
            &[],
        )])
    };
    let declaring = Accesses::Declared {
        direct: vec![],
        contributions: false,
    };
    let mut copied = (0, 0);
    for turn in 0..8 {
        job.fork(&[]);
        job.enter_region(&declaring);
        job.run(0, &on_page(Mode::Write, 0, PAGE), &mut random);
        job.barrier();
        job.check(1, page, 100, "an undeclared read");
        job.barrier();
        job.check(1, page, 101, "another one");
        job.leave_region();
        if writes_serially {
            job.write(0, page, 100, turn);
            job.write(0, page, 101, turn);
        }
        job.fork(&[]);
        job.enter_region(&declaring);
        if !writes_serially {
            job.run(0, &on_page(Mode::Write, 0, 200), &mut random);
            job.barrier();
        }
        if declares {
            job.run(1, &on_page(Mode::Read, 100, 1), &mut random);
        }
        job.check(1, page, 101, "undeclared beside a declared read");
        job.leave_region();
        if turn == 3 {
            let counts = job.counts(1);
            copied = (counts.plans, counts.transitions);
        }
    }
    let counts = job.counts(1);
    (counts.plans - copied.0, counts.transitions - copied.1)
}

#[test]
fn an_undeclared_read_leaves_no_old_copy() {
    for per_node in [1, 2] {
        for writes_serially in [false, true] {
            for declares in [false, true] {
                let new = undeclared_reads(per_node, writes_serially, declares);
                assert_eq!(new, (0, 0), "a turn like the one before finds out nothing");
            }
        }
    }
}

/// A page that was here before it entered section mode, and one that serial code read, are not read when
/// others have written them since.
#[test]
fn what_was_open_before_is_closed_when_another_rank_writes_it() {
    let mut job = Job::new(3, false, None);
    let mut random = Random(7);
    let page = job.layout.arena(0).page;
    let write = nest(vec![section(Mode::Write, page as usize * PAGE, PAGE, &[])]);
    let declaring = Accesses::Declared {
        direct: vec![],
        contributions: false,
    };
    job.write(0, page, 0, 1);
    job.fork(&[]);
    job.enter_region(&declaring);
    job.check(2, page, 0, "before it enters");
    job.barrier();
    for writer in [1, 0, 1, 1] {
        job.run(writer, &write, &mut random);
        job.barrier();
        for reader in [0, 2] {
            job.check(reader, page, 0, "undeclared in a region");
        }
        job.leave_region();
        job.check(0, page, 0, "in serial code");
        job.fork(&[]);
        job.enter_region(&declaring);
    }
    job.leave_region();
}

/// Rank 0 may write bytes of its own, changes them and changes them back. Rank 1 may write them as well, and
/// copies them in between: that copy must not count as current afterwards.
#[test]
fn a_copy_made_between_uncertain_writes_does_not_stay() {
    let object = (PAGE, 2 * PAGE);
    let on_object = |mode| nest(within(object, vec![section(mode, PAGE, 64, &[])]));
    let mut job = Job::new(2, false, None);
    let mut random = Random(3);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    let whole = nest(within(object, vec![section(Mode::Write, PAGE, PAGE, &[])]));
    job.run(0, &whole, &mut random);
    job.barrier();
    let uncertain = on_object(Mode::MayWrite);
    let before = job.truth[1][0];
    for (rank, value) in [(0, !before), (1, before)] {
        job.ranks[rank].declare(uncertain.signature(), || uncertain.sections.clone());
        job.write(0, 1, 0, value);
    }
    job.barrier();
    job.run(1, &on_object(Mode::Read), &mut random);
    job.leave_region();
}

/// What was declared to be read, or perhaps written, is accessed later, without a fault, in a page that was not here
/// until another declaration opened it for writing: another thread's, or that of a loop nest whose first values are
/// read behind it.
#[test]
fn an_opened_page_serves_what_was_declared_before() {
    for mode in [Mode::Read, Mode::MayWrite] {
        let mut job = Job::new(2, false, None);
        let mut random = Random(7);
        for offset in 0..PAGE {
            job.write(0, 2, offset, offset as u8 | 1);
        }
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            contributions: false,
        });
        let object = (PAGE, 4 * PAGE);
        let declares = |mode, start, bytes| {
            nest(within(
                object,
                vec![section(mode, 2 * PAGE + start, bytes, &[])],
            ))
        };
        let first = declares(mode, 8, 90);
        job.run_part(1, &first, Part::Declare, &mut random);
        job.run(1, &declares(Mode::Write, 200, PAGE), &mut random);
        job.run_part(1, &first, Part::First, &mut random);
        job.run_part(1, &first, Part::Second, &mut random);
        job.barrier();
        for offset in 0..PAGE {
            job.check(0, 2, offset, "after the barrier");
        }
        job.leave_region();
    }
}
