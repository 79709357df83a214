//! Kernels that run on copies of memory that others keep.

use std::ops::Range;

use super::{arena, numbers, offload, values, with_twice};
use crate::described::Described;
use crate::mirrors::Moved;
use crate::offload::{Copied, Copies, Offload, Part};

/// A range of memory with numbers in it, which nobody looks for there.
fn copied(start: usize, numbers: &[f64], writes: bool) -> Copied {
    let contents: Vec<u8> = numbers.iter().flat_map(|one| one.to_ne_bytes()).collect();
    let range = start..start + contents.len();
    let part = Part {
        range: range.clone(),
        writes,
        contents,
        after: Vec::new(),
    };
    Copied {
        range,
        parts: vec![part],
    }
}

/// Of that only some numbers.
fn part(mut all: Copied, numbers: Range<usize>) -> Copied {
    let one = &mut all.parts[0];
    one.contents = one.contents[8 * numbers.start..8 * numbers.end].to_vec();
    one.range = all.range.start + 8 * numbers.start..all.range.start + 8 * numbers.end;
    all
}

/// Doubles so many numbers of a copy into the other one, from a place on; what that has then, and what moved.
fn launch(
    offload: &mut Offload,
    twice: &Described,
    [from, to]: [Copied; 2],
    places: [usize; 2],
    count: u64,
) -> (Vec<f64>, Moved) {
    let before = match twice.number.load(std::sync::atomic::Ordering::Relaxed) {
        0 => Moved::default(),
        _ => offload.cost(0).moved,
    };
    let objects = vec![(1, from.range.start), (2, to.range.start)];
    let values = values(twice, &[count, places[0] as u64, places[1] as u64]);
    let copies = Copies {
        all: vec![from, to],
        objects,
    };
    // SAFETY: as many arguments as parameters.
    let launched =
        unsafe { offload.launch_on_copies(twice, [[1; 3], [32, 1, 1]], (values, None), copies) };
    let (all, _) = launched.unwrap();
    let after = all[1].parts[0].after.chunks_exact(8);
    let after = after.map(|one| f64::from_ne_bytes(one.try_into().unwrap()));
    let moved = offload.cost(0).moved;
    let moved = Moved {
        up: moved.up - before.up,
        down: moved.down - before.down,
    };
    (after.collect(), moved)
}

const FROM: Range<usize> = 0x1_0008..0x1_0008 + 8000;
const TO: Range<usize> = 0x2_0010..0x2_0010 + 8000;

#[test]
fn what_is_the_same_as_on_the_device_stays_there() {
    let twice = with_twice();
    let mut offload = offload(arena());
    let mut own = numbers(1000);
    let run = |offload: &mut Offload, own: &[f64], to: &[f64]| {
        let copies = [copied(FROM.start, own, false), copied(TO.start, to, true)];
        launch(offload, &twice, copies, [FROM.start, TO.start + 80], 900)
    };
    let (left, moved) = run(&mut offload, &own, &[0.0; 1000]);
    assert_eq!((left[9], left[10], left[909]), (0.0, 0.0, 1798.0));
    assert_eq!((left[910], moved.up, moved.down), (0.0, 16000, 8000));
    // As the kernel has left it.
    let (left, moved) = run(&mut offload, &own, &left);
    assert_eq!((left[909], moved.up, moved.down), (1798.0, 0, 8000));
    // One number is another one, and one of the last ones.
    (own[300], own[999]) = (-1.0, 5.0);
    let (left, moved) = run(&mut offload, &own, &left);
    assert_eq!((left[310], left[909]), (-2.0, 1798.0));
    assert_eq!(moved.up, 1024 + (8000 - 7 * 1024));
}

#[test]
fn memory_that_is_used_otherwise_is_brought_again() {
    let twice = with_twice();
    let mut offload = offload(arena());
    let own = numbers(1000);
    let copies = || {
        [
            copied(FROM.start, &own, false),
            copied(TO.start, &own, true),
        ]
    };
    launch(&mut offload, &twice, copies(), [FROM.start, TO.start], 10);
    let [_, to] = copies();
    let shorter = copied(FROM.start + 800, &own[..50], false);
    // In front of its object, as arrays that count from 1.
    let places = [FROM.start + 792, TO.start];
    let objects = [shorter, to];
    let (left, moved) = launch(&mut offload, &twice, objects, places, 0);
    assert_eq!((left[1], moved.up), (1.0, 400 + 1024));
    let (_, moved) = launch(&mut offload, &twice, copies(), [FROM.start, TO.start], 10);
    assert_eq!(moved.up, 8000);
}

#[test]
fn what_was_used_last_is_kept() {
    let twice = with_twice();
    let mut offload = offload(arena());
    offload.keep_at_most(16_000);
    let own = numbers(1000);
    const OTHER: usize = 0x3_0000;
    let mut run = |from: usize, to: &[f64]| {
        let copies = [copied(from, &own, false), copied(TO.start, to, true)];
        launch(&mut offload, &twice, copies, [from, TO.start], 1000)
    };
    let (left, moved) = run(FROM.start, &[0.0; 1000]);
    assert_eq!(moved.up, 16_000);
    let (left, moved) = run(FROM.start, &left);
    assert_eq!(moved.up, 0);
    // The first range goes where there is another one.
    let (left, moved) = run(OTHER, &left);
    assert_eq!(moved.up, 8000);
    let (left, moved) = run(OTHER, &left);
    assert_eq!(moved.up, 0);
    let (left, moved) = run(FROM.start, &left);
    assert_eq!((left[999], moved.up), (1998.0, 8000));
}

#[test]
fn only_parts_are_copied_that_a_kernel_may_access() {
    let twice = with_twice();
    let mut offload = offload(arena());
    let mut own = numbers(1000);
    let run = |offload: &mut Offload, own: &[f64], numbers: Range<usize>, to: &[f64]| {
        let copies = [
            part(copied(FROM.start, own, false), numbers.clone()),
            part(copied(TO.start, to, true), numbers.clone()),
        ];
        let places = [FROM.start, TO.start].map(|start| start + 8 * numbers.start);
        launch(offload, &twice, copies, places, numbers.len() as u64)
    };
    let zeros = [0.0; 1000];
    let (left, moved) = run(&mut offload, &own, 100..300, &zeros);
    assert_eq!((left.len(), left[0], left[199]), (200, 200.0, 598.0));
    assert_eq!((moved.up, moved.down), (3200, 1600));
    // One row more on each side.
    let mut to = zeros;
    to[100..300].copy_from_slice(&left);
    let (left, moved) = run(&mut offload, &own, 90..310, &to);
    assert_eq!((left[0], left[219]), (180.0, 618.0));
    assert!(moved.up <= 2 * 4 * 1024, "{}", moved.up);
    assert_eq!(moved.down, 1760);
    to[90..310].copy_from_slice(&left);
    // What others have changed elsewhere is brought where it is looked at.
    own[700] = -1.0;
    let (_, moved) = run(&mut offload, &own, 90..310, &to);
    assert_eq!((moved.up, moved.down), (0, 1760));
    let (left, _) = run(&mut offload, &own, 0..1000, &to);
    assert_eq!((left[0], left[700], left[999]), (0.0, -2.0, 1998.0));
}
