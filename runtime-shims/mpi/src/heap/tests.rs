//! Random operations on the heaps of three ranks against a model, and the cases that need a name.

use std::{collections::BTreeMap, sync::LazyLock};

use super::*;
use okl_testing::Random;

use crate::kernel;

const ARENA: usize = 64 << 20;

/// Adjacent arenas in fresh memory, with the heap of each. The first is half as large again as the others.
fn ranks(count: usize, size: usize) -> Vec<Heap> {
    let first = size + (size / 2).next_multiple_of(PAGE);
    // SAFETY: a new anonymous mapping; the result is checked. The tests let it live until the process ends.
    let base = unsafe {
        kernel::mmap(
            ptr::null_mut(),
            first + count * size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    assert_ne!(base, libc::MAP_FAILED);
    let base = base as usize;
    let arenas = Arenas {
        first: base,
        others: base + first,
        size,
    };
    (0..count)
        .map(|rank| {
            let (start, size) = match rank {
                0 => (base, first),
                _ => (base + first + (rank - 1) * size, size),
            };
            // SAFETY: disjoint parts of the mapping.
            unsafe { Heap::new(start, size, arenas) }
        })
        .collect()
}

/// Mostly small lengths, some of any size, some at the limits.
fn some_length(random: &mut Random) -> usize {
    match random.below(16) {
        0..8 => random.below(200),
        8..12 => random.below(8 << 10),
        12 => (1 << random.below(18)) + random.below(3) * HEADER,
        13 => SMALL - 20 + random.below(40),
        _ => random.below(300 << 10),
    }
}

struct Content {
    length: usize,
    seed: usize,
}

/// The contents of blocks: `length` bytes from place `seed` of one long sequence.
fn content(length: usize, seed: usize) -> &'static [u8] {
    static SEQUENCE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut random = Random(1);
        (0..1 << 20).map(|_| random.below(256) as u8).collect()
    });
    &SEQUENCE[seed..seed + length]
}

fn bytes(address: usize, length: usize) -> &'static mut [u8] {
    // SAFETY: callers pass a live block of at least `length` bytes, and keep no other reference.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u8, length) }
}

fn check(address: usize, length: usize, seed: usize) {
    assert!(
        bytes(address, length) == content(length, seed),
        "the block at {address:#x} was overwritten"
    );
}

/// Checks that the block fits between its neighbours, headers included, and enters it.
fn enter(model: &mut BTreeMap<usize, Content>, address: usize, length: usize, seed: usize) {
    if let Some((&before, content)) = model.range(..=address).next_back() {
        assert!(
            before + content.length.max(1) <= address - HEADER,
            "{address:#x} overlaps {before:#x}"
        );
    }
    if let Some((&after, _)) = model.range(address..).next() {
        assert!(
            address + length.max(1) <= after - HEADER,
            "{address:#x} overlaps {after:#x}"
        );
    }
    bytes(address, length).copy_from_slice(content(length, seed));
    model.insert(address, Content { length, seed });
}

fn random_operations(seed: u64, operations: usize) {
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let mut heaps = ranks(3, ARENA);
    let mut model: BTreeMap<usize, Content> = BTreeMap::new();
    for step in 0..operations {
        let heap = random.below(heaps.len());
        let heap = &mut heaps[heap];
        let chosen = model.keys().nth(random.below(model.len().max(1))).copied();
        let fresh = random.below(1000);
        match (random.below(10), chosen) {
            (0..3, _) => {
                let length = some_length(&mut random);
                let address = heap.allocate(length, HEADER).expect("room");
                assert!(address.is_multiple_of(HEADER));
                enter(&mut model, address, length, fresh);
            }
            (3, _) => {
                let length = some_length(&mut random);
                let address = heap.allocate_zeroed(length, HEADER).expect("room");
                assert!(bytes(address, length).iter().all(|&byte| byte == 0));
                enter(&mut model, address, length, fresh);
            }
            (4, _) => {
                let (length, alignment) = (some_length(&mut random), 1 << random.below(17));
                let address = heap.allocate(length, alignment).expect("room");
                assert!(address.is_multiple_of(alignment.max(HEADER)));
                enter(&mut model, address, length, fresh);
            }
            (5..7, Some(address)) => {
                let Content { length, seed } = model.remove(&address).expect("in the model");
                let new_length = some_length(&mut random);
                let new = heap
                    .resize(address, new_length)
                    .expect("a block")
                    .expect("room");
                check(new, length.min(new_length), seed);
                enter(&mut model, new, new_length, fresh);
            }
            (_, Some(address)) => {
                let Content { length, seed } = model.remove(&address).expect("in the model");
                check(address, length, seed);
                assert!(heap.usable_length(address).expect("a block") >= length);
                heap.free(address).expect("a block");
                if random.below(8) == 0 {
                    assert_eq!(heap.free(address), Err(Misuse::AlreadyFree));
                }
            }
            (_, None) => {}
        }
        if step % 300 == 0 {
            synchronise(&mut heaps);
        }
        if step % 512 == 0 {
            check_free_pages(&heaps, &model);
        }
    }
    for (&address, content) in &model {
        check(address, content.length, content.seed);
        heaps[0].free(address).expect("a block");
    }
    assert_eq!(heaps.iter().map(Heap::bytes_live).sum::<i64>(), 0);
}

/// Every rank's free blocks go back to the arenas they lie in.
fn synchronise(heaps: &mut [Heap]) {
    for heap in heaps.iter_mut() {
        for (start, end) in heap.take_idle() {
            assert!(end - start >= IDLE && heap.is_own(start) && heap.is_own(end - 1));
            // Nothing that is in use is overwritten, which the contents of blocks show.
            bytes(start, end - start).fill(0xdb);
        }
    }
    let returned: Vec<_> = heaps.iter_mut().map(Heap::give_back).collect();
    for (rank, heap) in heaps.iter_mut().enumerate() {
        for (giver, words) in returned.iter().enumerate() {
            if giver != rank {
                heap.take_back(words);
            }
        }
    }
}

/// Free pages of all ranks are disjoint from each other and from live blocks, and are joined.
fn check_free_pages(heaps: &[Heap], model: &BTreeMap<usize, Content>) {
    let mut all = BTreeMap::new();
    for (heap, pages) in heaps
        .iter()
        .flat_map(|heap| [(heap, &heap.pages), (heap, &heap.foreign_pages)])
    {
        let mut last_end = 0;
        for (start, end) in pages.ranges() {
            assert!(last_end < start || (last_end == start && heap.arenas.offset(start) == 0));
            assert!(heap.arenas.offset(start) < heap.arenas.offset(end - 1));
            last_end = end;
            all.insert(start, end);
        }
    }
    let mut last_end = 0;
    for (&start, &end) in &all {
        assert!(last_end <= start);
        last_end = end;
    }
    for (&address, content) in model {
        if let Some((_, &end)) = all.range(..address + content.length).next_back() {
            assert!(end <= address - HEADER, "{address:#x} lies in free pages");
        }
    }
}

#[test]
fn random_operations_agree_with_a_model() {
    for seed in [0x9e37_79b9_7f4a_7c15, 0x1234_5678_9abc_def1, 42, 7] {
        random_operations(seed, 20_000);
    }
}

#[test]
fn classes_are_the_smallest_that_fit() {
    for length in 0..=SMALL {
        let class = class_of(length);
        assert!(data_bytes(class) >= length, "{length}");
        assert!(class == 0 || data_bytes(class - 1) < length, "{length}");
        assert!((data_bytes(class) + HEADER).is_multiple_of(HEADER));
    }
    assert_eq!(data_bytes(CLASSES - 1), SMALL);
}

#[test]
fn misuse_is_found() {
    let mut heap = ranks(1, 1 << 20).remove(0);
    let base = heap.base;
    for length in [1, 100, 5000, 100_000] {
        let block = heap.allocate(length, HEADER).expect("room");
        for wild in [
            base,
            base + 8,
            block + 8,
            block + HEADER,
            block - HEADER,
            base + (1 << 20) - HEADER,
        ] {
            assert_eq!(heap.free(wild), Err(Misuse::NotABlock), "{wild:#x}");
            assert_eq!(heap.resize(wild, 10), Err(Misuse::NotABlock));
        }
        heap.free(block).expect("a block");
        assert_eq!(heap.free(block), Err(Misuse::AlreadyFree));
        assert_eq!(heap.resize(block, 10), Err(Misuse::AlreadyFree));
    }
    let aligned = heap.allocate(100, 512).expect("room");
    heap.free(aligned).expect("a block");
    assert_eq!(heap.free(aligned), Err(Misuse::AlreadyFree));
    assert_eq!(heap.bytes_live(), 0);
}

#[test]
fn large_blocks_have_pages_of_their_own_and_are_used_again() {
    let mut heap = ranks(1, 1 << 20).remove(0);
    let [a, b, c] = [(); 3].map(|()| heap.allocate(100_000, HEADER).expect("room"));
    assert!([a, b, c].iter().all(|block| block.is_multiple_of(PAGE)));
    heap.free(a).expect("a block");
    heap.free(b).expect("a block");
    let both = heap.allocate(200_000, HEADER).expect("room");
    assert_eq!(both, a, "the joined pages fit best");
    assert_eq!(heap.resize(both, 150_000), Ok(Some(both)));
    assert_eq!(heap.resize(both, 200_000), Ok(Some(both)));
    assert_eq!(
        heap.resize(c, 500_000),
        Ok(Some(c)),
        "the last block grows in place"
    );
    assert_eq!(heap.resize(c, 2 << 20), Ok(None), "the arena is full");
    assert_eq!(heap.allocate(usize::MAX, HEADER), None);
    assert_eq!(heap.allocate(usize::MAX, 1 << 30), None);
    assert!(heap.allocate(1000, HEADER).is_some());
}

#[test]
fn extents_cover_the_object_and_stay_in_the_arena() {
    let mut heaps = ranks(2, 1 << 20);
    let small = heaps[0].allocate(40, HEADER).expect("room");
    let large = heaps[0].allocate(100_000, HEADER).expect("room");
    let [first, second] = &mut heaps[..] else {
        unreachable!()
    };
    assert_eq!(first.extent_of(large + 77_777), Some((large, 102_400)));
    let (start, length) = first.extent_of(small).expect("ours");
    assert!(start <= small && small + 40 <= start + length && start + length <= first.end);
    assert_eq!(second.extent_of(small), None);
    assert_eq!(first.extent_of(second.base), None);
    assert_eq!(first.extent_of(first.end), None);
    // Another rank frees the block and gives its pages out again.
    second.free(large).expect("a block");
    let again = second.allocate(50_000, HEADER).expect("room");
    assert_eq!(again, large);
    assert_eq!(second.extent_of(large + 1), Some((large, 53_248)));
    assert_eq!(
        first.bytes_live() + second.bytes_live(),
        48 - HEADER as i64 + 16 + 53_248
    );
}

#[test]
fn pages_are_not_joined_across_arenas() {
    let mut heaps = ranks(2, 1 << 20);
    let [first, second] = &mut heaps[..] else {
        unreachable!()
    };
    let whole = first.allocate((1 << 20) - PAGE, HEADER).expect("room");
    let next = second.allocate((1 << 19) - PAGE, HEADER).expect("room");
    second.free(next).expect("a block");
    second.free(whole).expect("a block");
    assert_eq!(second.pages.ranges().count(), 1);
    assert_eq!(second.foreign_pages.ranges().count(), 1);
    let again = second.allocate((1 << 20) - PAGE, HEADER).expect("room");
    assert_eq!(again, whole);
    assert_eq!(second.resize(again, 1 << 20), Ok(None));
}

#[test]
fn idle_pages_are_told_once_for_each_use() {
    let mut heap = ranks(1, 8 << 20).remove(0);
    let [a, b, c] = [(); 3].map(|()| heap.allocate(IDLE, HEADER).expect("room"));
    let third = |heap: &mut Heap| {
        assert_eq!(heap.take_idle(), []);
        assert_eq!(heap.take_idle(), []);
        let mut idle = heap.take_idle();
        idle.sort_unstable();
        idle
    };
    assert_eq!(third(&mut heap), []);
    heap.free(a).expect("a block");
    heap.free(c).expect("a block");
    let whole = IDLE + PAGE;
    assert!(heap.has_idle());
    let idle = third(&mut heap);
    assert!(!heap.has_idle());
    assert_eq!(
        idle,
        [a, c].map(|block| (block - PAGE, block - PAGE + whole))
    );
    // Their headers are no more.
    bytes(a - PAGE, PAGE).fill(0);
    assert_eq!(heap.free(a), Err(Misuse::AlreadyFree));
    assert_eq!(third(&mut heap), []);
    // A part that is used again is idle again, together with what is free and has not been told.
    assert_eq!(heap.resize(b, IDLE / 2), Ok(Some(b)));
    assert_eq!(third(&mut heap), []);
    let again = heap.allocate(IDLE, HEADER).expect("room");
    assert_eq!(again, a);
    heap.looks = Looks::new(heap.arenas);
    heap.free(again).expect("a block");
    assert_eq!(third(&mut heap), [(a - PAGE, a + IDLE)]);
    heap.free(b).expect("a block");
    assert_eq!(third(&mut heap), [(b - PAGE, b + IDLE)]);
    // What is used again in time stays.
    let again = heap.allocate(IDLE, HEADER).expect("room");
    heap.free(again).expect("a block");
    assert_eq!(heap.take_idle(), []);
    assert_eq!(heap.allocate(IDLE, HEADER), Some(again));
    assert_eq!(heap.take_idle(), []);
    assert_eq!(third(&mut heap), []);
}

#[test]
fn memory_that_is_used_again_and_again_stays() {
    let mut heap = ranks(1, 8 << 20).remove(0);
    let mut returned = Vec::new();
    // As the steps of a program do that allocates its work arrays in each.
    for step in 0..100 {
        let block = heap.allocate(IDLE, HEADER).expect("room");
        heap.free(block).expect("a block");
        for _ in 0..50 {
            if !heap.take_idle().is_empty() {
                returned.push(step);
            }
        }
    }
    let often = MOST_IN_VAIN as usize + 3;
    assert_eq!(returned, (0..often).collect::<Vec<_>>());
    assert!(!heap.has_idle());
    // When it has none any more it goes back even so; and then, what is idle at once again.
    let looks = |heap: &mut Heap| (1..).find(|_| !heap.take_idle().is_empty());
    assert!(looks(&mut heap).is_some_and(|looks| (10..1000).contains(&looks)));
    for _ in 0..MOST_PERIOD {
        assert_eq!(heap.take_idle(), []);
    }
    let other = heap.allocate(IDLE * 2, HEADER).expect("room");
    heap.free(other).expect("a block");
    assert!(heap.has_idle());
    assert_eq!(looks(&mut heap), Some(3));
}

#[test]
fn what_others_free_comes_back() {
    let mut heaps = ranks(2, 4 << 20);
    for round in 0..100 {
        let blocks: Vec<usize> = [40, 700, 5000, 100_000, 1_000_000]
            .map(|length| heaps[0].allocate(length, HEADER).expect("room"))
            .into();
        for &block in &blocks {
            heaps[1].free(block).expect("a block");
        }
        // Until they go back, who freed them can use them.
        let borrowed = heaps[1].allocate(700, HEADER).expect("room");
        assert!(round > 0 || blocks.contains(&borrowed));
        heaps[1].free(borrowed).expect("a block");
        synchronise(&mut heaps);
    }
    assert_eq!(heaps[1].foreign_pages.ranges().count(), 0);
    assert!(heaps[0].end <= heaps[0].base + (2 << 20));
}

#[test]
fn fresh_memory_is_not_zeroed_again() {
    let mut heap = ranks(1, 4 << 20).remove(0);
    let used = heap.place(100_000, HEADER).expect("room");
    assert!(used.fresh_from <= used.start);
    bytes(used.start, 100_000).fill(9);
    heap.free(used.start).expect("a block");
    // Half of this one is the old block, the rest is fresh.
    let place = heap.place(200_000, HEADER).expect("room");
    assert_eq!(
        (place.start, place.fresh_from),
        (used.start, used.start + 102_400)
    );
    heap.free(place.start).expect("a block");
    let zeroed = heap.allocate_zeroed(200_000, HEADER).expect("room");
    assert!(bytes(zeroed, 200_000).iter().all(|&byte| byte == 0));
}
