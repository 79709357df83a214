//! What words say, and a model of threads that run dynamic loops, may be late, and take chunks from each other.

use std::sync::{Barrier, Mutex};

use okl_testing::Random;

use super::*;

#[test]
fn a_word_says_what_was_put_there() {
    for left in [
        Left {
            number: 1,
            first: 0,
            end: MOST_UNITS,
        },
        Left {
            number: BEYOND,
            first: MOST_UNITS,
            end: MOST_UNITS,
        },
        Left {
            number: 77,
            first: 5,
            end: 1 << 19,
        },
    ] {
        assert_eq!(Left::of(left.word()), left);
    }
}

#[test]
fn blocks_of_units_are_those_of_loops_that_are_run_whole() {
    let mut random = Random(7);
    for round in 0..20_000 {
        let trips = 1 + u128::from(random.word()) % if round % 2 == 0 { 100 } else { 1 << 40 };
        let chunk = i128::from(random.word() % 50);
        let threads = 1 + (random.word() % 9) as u32;
        let units = Units::of(trips, chunk);
        assert!(units.count <= MOST_UNITS);
        for thread in 0..threads {
            let member = Member { thread, threads };
            let whole = piece(Mapping::BlocksOfChunks(chunk), trips, member, 0);
            let block = units.block(member);
            let found = (!block.is_empty()).then(|| units.piece(&block, trips));
            assert_eq!(found, whole, "{trips} {chunk} {member:?}");
        }
    }
}

/// One thread of a team, as the tests have it.
struct One<'a> {
    words: &'a [[AtomicU64; WORDS]],
    member: Member,
    random: Random,
    runs: &'a [Mutex<Vec<u32>>],
}

impl One<'_> {
    fn own(&self) -> &[AtomicU64; WORDS] {
        &self.words[self.member.thread as usize]
    }

    /// Sometimes lets others go first.
    fn dawdle(&mut self, of: u64) {
        if self.random.word().is_multiple_of(of) {
            match self.random.word() % 16 {
                0 => std::thread::sleep(Duration::from_micros(100)),
                turns => (0..turns % 4).for_each(|_| std::thread::yield_now()),
            }
        }
    }

    fn run(&mut self, number: u32, units: Range<u32>) {
        for unit in units {
            self.runs[number as usize].lock().unwrap()[unit as usize] += 1;
        }
        self.dawdle(4);
    }

    /// Takes from another thread, which may be late.
    fn take(&mut self, at: At, units: Units) -> Option<Range<u32>> {
        let start = self.random.word() as u32 % self.member.threads;
        let others = (0..self.member.threads).map(|one| (one + start) % self.member.threads);
        let others: Vec<u32> = others.filter(|one| *one != self.member.thread).collect();
        others.into_iter().find_map(|thread| {
            let words = &self.words[thread as usize];
            let seen = look(words, || self.dawdle(8));
            let block = units.block(Member {
                thread,
                ..self.member
            });
            let found = available(&seen, at, &block)?;
            self.dawdle(8);
            let exchange = |old, new| {
                let slot = &words[slot(at.number)];
                let now = slot.compare_exchange(old, new, SeqCst, SeqCst);
                now.unwrap_or_else(|now| now)
            };
            take_back(found, |_| true, exchange)
        })
    }

    /// A loop. Where it is `cancelled` this thread may leave it early.
    fn run_loop(&mut self, at: At, units: Units, is_cancelled: bool) {
        let block = units.block(self.member);
        let wants_whole = self.random.word().is_multiple_of(4);
        let (_, is_whole) = enter(self.own(), at, &block, wants_whole);
        if is_whole {
            return self.run(at.number, block);
        }
        let most = 1 + self.random.word() as u32 % 3;
        loop {
            while let Some(taken) = take_front(&self.own()[slot(at.number)], at.number, most) {
                self.run(at.number, taken);
                if is_cancelled && self.random.word().is_multiple_of(3) {
                    return;
                }
            }
            let Some(taken) = self.take(at, units) else {
                return;
            };
            let left = Left {
                number: at.number,
                first: taken.start,
                end: taken.end,
            };
            self.own()[slot(at.number)].store(left.word(), SeqCst);
        }
    }
}

/// Threads that go through loops of regions, some of them late, and take units from each other, run each once. Some
/// loops are cancelled: of these none is run twice.
#[test]
fn each_unit_is_run_by_one_thread() {
    const THREADS: u32 = 4;
    const MOST: u32 = 7;
    const REGIONS: u64 = 400;
    let words = [const { [const { AtomicU64::new(0) }; WORDS] }; THREADS as usize];
    let runs: Vec<Mutex<Vec<u32>>> = (0..=MOST).map(|_| Mutex::default()).collect();
    let meet = Barrier::new(THREADS as usize);
    let count = |region: u64, number: u32| 1 + (region as u32 * 31 + number * 17) % 41;
    let loops = |region: u64| 1 + region as u32 % MOST;
    let is_cancelled = |region: u64, number: u32| (region as u32 + number).is_multiple_of(9);
    let mut helped = 0;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (words, runs, meet) = (&words, &runs, &meet);
                scope.spawn(move || {
                    let member = Member {
                        thread,
                        threads: THREADS,
                    };
                    let random = Random(u64::from(thread) + 1);
                    let mut one = One {
                        words,
                        member,
                        random,
                        runs,
                    };
                    // A thread that ended in an error here would leave the others waiting.
                    let (mut helped, mut wrong) = (0, Vec::new());
                    for region in 1..=REGIONS {
                        if thread == 0 {
                            for number in 1..=loops(region) {
                                let count = count(region, number) as usize;
                                *runs[number as usize].lock().unwrap() = vec![0; count];
                            }
                        }
                        // Numbers of regions are the same, but not each is met.
                        meet.wait();
                        one.dawdle(2);
                        for number in 1..=loops(region) {
                            one.dawdle(3);
                            let units = Units {
                                size: 1,
                                chunks: 1,
                                count: count(region, number),
                            };
                            let at = At {
                                region: 2 * region,
                                number,
                            };
                            let slot = one.own()[slot(number)].load(SeqCst);
                            helped += u32::from(Left::of(slot).number == number);
                            let is_cancelled = is_cancelled(region, number);
                            one.run_loop(at, units, is_cancelled);
                            // As behind a cancelled loop.
                            if is_cancelled {
                                meet.wait();
                            }
                        }
                        leave_region(one.own(), 2 * region, region);
                        meet.wait();
                        if thread == 0 {
                            for number in 1..=loops(region) {
                                let runs = runs[number as usize].lock().unwrap();
                                let right = match is_cancelled(region, number) {
                                    true => runs.iter().all(|times| *times <= 1),
                                    false => runs.iter().all(|times| *times == 1),
                                };
                                wrong.extend(
                                    (!right).then(|| format!("{region}/{number}: {runs:?}")),
                                );
                            }
                        }
                        meet.wait();
                    }
                    (helped, wrong)
                })
            })
            .collect();
        for (times, wrong) in threads.into_iter().map(|one| one.join().unwrap()) {
            helped += times;
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    });
    assert!(helped > 50, "{helped} times a loop was begun for a thread");
}

#[test]
fn what_can_be_taken_depends_on_where_the_thread_is() {
    let at = At {
        region: 4,
        number: 3,
    };
    let left = |number, first, end| Left { number, first, end }.word();
    let place = |region, number| At { region, number }.word();
    let block = 10..20;
    let found = |place, slot| {
        let seen = [0, slot, place];
        available(&seen, at, &block).map(|(_, left)| (left.first, left.end))
    };
    // At the loop.
    assert_eq!(found(place(4, 3), left(3, 12, 20)), Some((12, 20)));
    assert_eq!(found(place(4, 3), left(3, 20, 20)), None);
    // At the one before; others may have begun the loop for it.
    assert_eq!(found(place(4, 2), left(1, 15, 15)), Some((10, 20)));
    assert_eq!(found(place(4, 2), left(3, 10, 15)), Some((10, 15)));
    // Earlier, later, behind the last loop, and not yet in the region.
    assert_eq!(found(place(4, 1), left(1, 15, 15)), None);
    assert_eq!(found(place(4, 5), left(5, 15, 18)), None);
    assert_eq!(found(place(4, BEYOND), closed(7)), None);
    assert_eq!(found(place(2, BEYOND), closed(7)), None);
    let first = At { number: 1, ..at };
    let found = |place| available(&[0, closed(7), place], first, &block).is_some();
    assert!(found(place(2, BEYOND)));
    assert!(found(place(0, 0)));
    assert!(!found(place(4, BEYOND)));
    assert!(!found(place(6, 1)));
}

#[test]
fn halves_are_taken_from_the_back() {
    let word = AtomicU64::new(0);
    let put = |number, first, end| word.store(Left { number, first, end }.word(), SeqCst);
    let exchange = |old, new| {
        let now = word.compare_exchange(old, new, SeqCst, SeqCst);
        now.unwrap_or_else(|now| now)
    };
    let seen = || {
        let seen = word.load(SeqCst);
        (seen, Left::of(seen))
    };
    put(3, 4, 9);
    assert_eq!(take_back(seen(), |_| false, exchange), None);
    assert_eq!(take_front(&word, 2, 1), None);
    let late = seen();
    assert_eq!(take_back(seen(), |_| true, exchange), Some(6..9));
    // What another thread was quicker to take is seen.
    assert_eq!(take_back(late, |_| true, exchange), Some(5..6));
    assert_eq!(take_front(&word, 3, 2), Some(4..5));
    assert_eq!(take_back(seen(), |_| true, exchange), None);
    assert_eq!(take_front(&word, 3, 1), None);
    // Of a loop that has ended meanwhile nothing is taken.
    put(3, 4, 9);
    let late = seen();
    put(5, 4, 9);
    assert_eq!(take_back(late, |_| true, exchange), None);
}
