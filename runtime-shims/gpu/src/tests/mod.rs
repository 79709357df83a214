//! Kernels on a driver that is none ([`fake`]): what they find and leave, what is copied, and what the user is told.

mod fake;
mod messages;
mod on_copies;
mod process;

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicI64;

use okl_abi::gpu::{DeviceParameter, Image, does, form};

use crate::arena::Arena;
use crate::described::Described;
use crate::mirrors::Moved;
use crate::offload::Offload;
use crate::places::Context;
use crate::values::Values;
use fake::{Memory, device, fake, kernel};

const VALUE: i64 = 0;
const READ: i64 = 3;
const WRITTEN: i64 = 5;
const BOTH: i64 = 7;

const PTX: &std::ffi::CStr = c".version 7.0\n.target sm_70\n";

fn image(processor: &'static std::ffi::CStr, code: &'static std::ffi::CStr) -> Image {
    Image {
        form: form::PTX,
        processor: processor.as_ptr().cast_mut().cast(),
        code: code.as_ptr().cast_mut().cast(),
        size: code.count_bytes() as i64,
        adds: does::ADDITIONS,
    }
}

/// A kernel with code that is right, of these kinds of parameters.
fn described(name: &'static str, kinds: &[i64]) -> Described<'static> {
    let parameters = kinds.iter().map(|&kind| DeviceParameter { kind, size: 8 });
    Described {
        name,
        place: "k.okl:3",
        entry: Box::leak(std::ffi::CString::new(name).unwrap().into_boxed_c_str()),
        images: vec![image(c"sm_70", PTX)].leak(),
        parameters: parameters.collect::<Vec<_>>().leak(),
        most_items: 0,
        shared: 0,
        does: 0,
        sections: &[],
        codes: &[],
        number: Box::leak(Box::new(AtomicI64::new(0))),
    }
}

fn arena() -> &'static Arena {
    Box::leak(Box::new(Arena::of(64 << 20).unwrap()))
}

fn offload(arena: &'static Arena) -> Offload {
    Offload::new(device(), Some(arena), true)
}

fn values(kernel: &Described, arguments: &[u64]) -> Values {
    let addresses = arguments
        .iter()
        .map(|one| ptr::from_ref(one).cast::<c_void>());
    let addresses: Vec<_> = addresses.collect();
    // SAFETY: as many words.
    unsafe { Values::of(kernel.parameters, addresses.as_ptr()) }
}

/// Has a kernel run in one block of `items`.
fn launch(offload: &mut Offload, kernel: &Described, arguments: &[u64]) -> Result<(), String> {
    launch_of(offload, kernel, [1, 1, 1], [32, 1, 1], arguments)
}

fn launch_of(
    offload: &mut Offload,
    kernel: &Described,
    blocks: [i64; 3],
    items: [i64; 3],
    arguments: &[u64],
) -> Result<(), String> {
    let here = 0_u8;
    let context = Context {
        frame: (&raw const here).addr(),
        has_arena: true,
    };
    // SAFETY: as many arguments as parameters.
    unsafe {
        offload.launch(
            kernel,
            [blocks, items],
            values(kernel, arguments),
            None,
            context,
        )
    }
}

/// `n, from, to`: doubles `n` numbers.
fn twice(memory: &mut Memory, _: [u32; 3], _: [u32; 3], arguments: &[Vec<u8>]) -> Result<(), i32> {
    let word = |at: usize| u64::from_ne_bytes(arguments[at][..8].try_into().unwrap());
    for at in 0..word(0) {
        let value = memory.read(word(1) + 8 * at)?;
        memory.write(word(2) + 8 * at, 2.0 * value)?;
    }
    Ok(())
}

fn with_twice() -> Described<'static> {
    kernel("twice", &[8, 8, 8], twice);
    described("twice", &[VALUE, READ, WRITTEN])
}

/// A block of the heap with so many numbers.
fn block(arena: &Arena, numbers: &[f64]) -> u64 {
    let block = arena.allocate(8 * numbers.len(), 1).unwrap();
    let to = ptr::with_exposed_provenance_mut(block);
    // SAFETY: a new block.
    unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len()) };
    block as u64
}

/// What the program finds there.
fn read(offload: &mut Offload, address: u64, count: usize) -> Vec<f64> {
    offload
        .touch_all(address as usize..address as usize + 8 * count, false)
        .unwrap();
    let from = ptr::with_exposed_provenance::<f64>(address as usize);
    // SAFETY: of a live block, which can be read.
    unsafe { std::slice::from_raw_parts(from, count) }.to_vec()
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|at| at as f64).collect()
}

fn doubled(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|one| 2.0 * one).collect()
}

#[test]
fn blocks_of_the_heap_stay_on_the_device_between_kernels() {
    let (arena, twice) = (arena(), with_twice());
    let mut offload = offload(arena);
    let count = 20_000;
    let pages = (8 * count as u64).next_multiple_of(4096);
    let x = block(arena, &numbers(count));
    let [y, z] = [(); 2].map(|()| block(arena, &vec![1.0; count]));
    launch(&mut offload, &twice, &[count as u64, x, y]).unwrap();
    launch(&mut offload, &twice, &[count as u64, y, z]).unwrap();
    // What is perhaps written is there before.
    assert_eq!(
        offload.cost(0).moved,
        Moved {
            up: 3 * pages,
            down: 0
        }
    );
    assert!(!fake(|fake| fake.calls.contains(&"wait")), "nothing waits");
    assert_eq!(
        read(&mut offload, z, count),
        doubled(&doubled(&numbers(count)))
    );
    assert_eq!(
        offload.cost(0).moved,
        Moved {
            up: 3 * pages,
            down: pages
        }
    );
    // Of y nothing has come back.
    launch(&mut offload, &twice, &[count as u64, z, y]).unwrap();
    assert_eq!(
        offload.cost(0).moved,
        Moved {
            up: 3 * pages,
            down: pages
        }
    );
    // Arguments that lead into one block, beyond its first address.
    launch(&mut offload, &twice, &[100, y + 800, y + 8000]).unwrap();
    let all = read(&mut offload, y, count);
    let eightfold: Vec<f64> = doubled(&doubled(&doubled(&numbers(count))));
    assert_eq!(all[1000..1100], doubled(&eightfold[100..200]));
    assert_eq!(all[..1000], eightfold[..1000]);
    assert_eq!(all[1100..], eightfold[1100..]);
    // A block that is freed, and given out again.
    offload.forget_block(y as usize).unwrap();
    assert!(arena.free(y as usize));
    let again = block(arena, &vec![3.0; count]);
    assert_eq!(again, y);
    launch(&mut offload, &twice, &[count as u64, again, z]).unwrap();
    assert_eq!(read(&mut offload, z, count), vec![6.0; count]);
    assert_eq!(offload.cost(0).launches, 5);
    let table = crate::costs::table(&offload.device.name, offload.costs());
    assert!(
        table.starts_with("okl: kernels on Fake 1\n  kernel  launches"),
        "{table}"
    );
    assert!(
        table.contains("\n  twice          5         2.500 "),
        "{table}"
    );
    assert!(table.contains("        40       50% k.okl:3"), "{table}");
}

thread_local! {
    static NUMBERS: Cell<[f64; 64]> = const { Cell::new([0.0; 64]) };
}
static GLOBAL: [std::sync::atomic::AtomicU64; 64] =
    [const { std::sync::atomic::AtomicU64::new(0) }; 64];

#[test]
fn other_memory_is_copied_at_each_launch() {
    let twice = with_twice();
    let mut offload = offload(arena());
    let on_stack: [f64; 100] = std::array::from_fn(|at| at as f64);
    let small = vec![0.0_f64; 200];
    let (from, to) = (
        on_stack.as_ptr().expose_provenance() as u64,
        small.as_ptr().expose_provenance() as u64,
    );
    launch(&mut offload, &twice, &[100, from, to + 80]).unwrap();
    let small = std::hint::black_box(small);
    assert_eq!(small[10..110], doubled(&on_stack));
    assert!(
        small[..10]
            .iter()
            .chain(&small[110..])
            .all(|one| *one == 0.0)
    );
    // Two arguments into one object, whose kernel reads what it has written.
    launch(&mut offload, &twice, &[50, to + 80, to + 480]).unwrap();
    let small = std::hint::black_box(small);
    let expected: Vec<f64> = (0..50).map(|at| 4.0 * f64::from(at)).collect();
    assert_eq!(small[60..110], expected);
    // Variables.
    let global = GLOBAL.as_ptr().expose_provenance() as u64;
    launch(&mut offload, &twice, &[64, from, global]).unwrap();
    let value = |at: usize| f64::from_bits(GLOBAL[at].load(std::sync::atomic::Ordering::Relaxed));
    assert!((0..64).all(|at| value(at) == 2.0 * at as f64));
    // Another thread's stack, and its variables, are memory like others.
    let mut there = [0.0_f64; 32];
    let address = there.as_mut_ptr().expose_provenance() as u64;
    std::thread::scope(|scope| {
        let body = || {
            let twice = with_twice();
            let own: [f64; 32] = std::array::from_fn(|at| at as f64);
            let mut offload = self::offload(arena());
            let from = own.as_ptr().expose_provenance() as u64;
            launch(&mut offload, &twice, &[32, from, address]).unwrap();
            let own = NUMBERS.with(|numbers| numbers.as_ptr().expose_provenance() as u64);
            launch(&mut offload, &twice, &[32, from, own]).unwrap();
            assert_eq!(NUMBERS.get()[31], 62.0);
        };
        scope.spawn(body).join().unwrap();
    });
    let there = std::hint::black_box(there);
    assert_eq!(there[31], 62.0);
}

/// `first, last, from, to`: doubles the numbers between these; what the compiler says of it.
fn with_part() -> Described<'static> {
    kernel("part", &[8, 8, 8, 8], |memory, _, _, arguments| {
        let word = |at: usize| u64::from_ne_bytes(arguments[at][..8].try_into().unwrap());
        for at in word(0)..=word(1) {
            let value = memory.read(word(2) + 8 * at)?;
            memory.write(word(3) + 8 * at, 2.0 * value)?;
        }
        Ok(())
    });
    let mut part = described("part", &[VALUE, VALUE, READ, WRITTEN]);
    const ITERATION: i64 = okl_abi::gpu::section::ITERATION;
    part.sections = &[
        0, 1, 2, 0, 8, 1, 8, 1, ITERATION, 0, 3, 1, 8, 1, 8, 1, ITERATION, 0,
    ];
    part
}

#[test]
fn of_small_objects_what_a_kernel_accesses_is_copied_and_nothing_waits_twice() {
    let part = with_part();
    let mut offload = offload(arena());
    let mut from = [1.0_f64; 5000];
    let mut to = vec![7.0_f64; 6000];
    let addresses = [
        from.as_mut_ptr().expose_provenance() as u64,
        to.as_mut_ptr().expose_provenance() as u64,
    ];
    let mut launch = |first: u64, last: u64| {
        let before = offload.moved_so_far();
        fake(|fake| fake.calls.clear());
        let [from, to] = addresses;
        launch(&mut offload, &part, &[first, last, from, to]).unwrap();
        let moved = offload.moved_so_far();
        let calls = fake(|fake| fake.calls.clone());
        let calls = calls.iter().filter(|name| {
            ["upload", "download", "wait", "launch", "allocate", "free"].contains(name)
        });
        let calls: Vec<_> = calls.copied().collect();
        (moved.up - before.up, moved.down - before.down, calls)
    };
    launch(10, 19);
    launch(4000, 4009);
    let (up, down, calls) = launch(4000, 4009);
    // Both lie near each other on the device.
    assert_eq!(calls, ["upload", "launch", "download", "wait"]);
    assert!((160..=160 + 512).contains(&up), "{up}");
    assert_eq!(down, 80);
    // Far from each other in one object.
    let in_one = addresses[1];
    let to = std::hint::black_box(to);
    let is_written = |at: &usize| (10..20).contains(at) || (4000..4010).contains(at);
    for (at, value) in to.iter().enumerate() {
        assert_eq!(*value, if is_written(&at) { 2.0 } else { 7.0 });
    }
    fake(|fake| fake.calls.clear());
    let arguments = [0, 9, in_one + 80, in_one + 8 * 4500];
    self::launch(&mut offload, &part, &arguments).unwrap();
    let to = std::hint::black_box(to);
    assert_eq!(to[4500..4510], [4.0; 10]);
    let uploads = fake(|fake| fake.calls.iter().filter(|one| **one == "upload").count());
    assert_eq!(uploads, 2);
    std::hint::black_box(from);
}

#[test]
fn the_device_s_memory_is_reused() {
    let twice = with_twice();
    let mut offload = offload(arena());
    let mut numbers = [1.0_f64; 100];
    let address = numbers.as_mut_ptr().expose_provenance() as u64;
    for _ in 0..5 {
        launch(&mut offload, &twice, &[100, address, address]).unwrap();
    }
    assert_eq!(std::hint::black_box(numbers), [32.0; 100]);
    let allocations = fake(|fake| {
        fake.calls
            .iter()
            .filter(|name| **name == "allocate")
            .count()
    });
    assert_eq!(allocations, 1);
    let loads = fake(|fake| {
        fake.calls
            .iter()
            .filter(|name| **name == "load" || **name == "function")
            .count()
    });
    assert_eq!(loads, 2);
}

#[test]
fn objects_make_room_for_each_other() {
    let (arena, twice) = (arena(), with_twice());
    let mut offload = offload(arena);
    let count = 16_384;
    let blocks: Vec<u64> = (0..6).map(|_| block(arena, &numbers(count))).collect();
    // Room for three of them.
    fake(|fake| fake.room = 3 * 8 * count + 1000);
    for two in blocks.windows(2) {
        launch(&mut offload, &twice, &[count as u64, two[0], two[1]]).unwrap();
    }
    for (power, &block) in blocks.iter().enumerate() {
        let factor = f64::from(1 << power);
        let expected: Vec<f64> = numbers(count).iter().map(|one| factor * one).collect();
        assert_eq!(read(&mut offload, block, count), expected);
    }
}

#[test]
fn values_are_packed_by_their_sizes() {
    kernel("mixed", &[4, 8, 1, 16, 8], |_, blocks, items, arguments| {
        assert_eq!(arguments[0], 7_u32.to_ne_bytes());
        assert_eq!(arguments[1], 2.5_f64.to_ne_bytes());
        assert_eq!(arguments[2], [9]);
        assert_eq!(arguments[3], (1_u128 << 100 | 3).to_ne_bytes());
        assert_eq!(arguments[4], [0; 8]);
        assert_eq!((blocks, items), ([3, 2, 1], [4, 5, 6]));
        Ok(())
    });
    let mut kernel = described("mixed", &[]);
    let parameter = |kind, size| DeviceParameter { kind, size };
    kernel.parameters = vec![
        parameter(VALUE, 4),
        parameter(VALUE, 8),
        parameter(VALUE, 1),
        parameter(VALUE, 16),
        parameter(BOTH, 8),
    ]
    .leak();
    let (a, b, c, d, e) = (7_u32, 2.5_f64, 9_u8, 1_u128 << 100 | 3, 0_usize);
    let addresses: [*const c_void; 5] = [
        ptr::from_ref(&a).cast(),
        ptr::from_ref(&b).cast(),
        ptr::from_ref(&c).cast(),
        ptr::from_ref(&d).cast(),
        ptr::from_ref(&e).cast(),
    ];
    let mut offload = offload(arena());
    let context = Context {
        frame: 0,
        has_arena: true,
    };
    // SAFETY: the values are those of the parameters.
    unsafe {
        let values = Values::of(kernel.parameters, addresses.as_ptr());
        offload
            .launch(&kernel, [[3, 2, 1], [4, 5, 6]], values, None, context)
            .unwrap();
        // Nothing to do.
        let values = Values::of(kernel.parameters, addresses.as_ptr());
        offload
            .launch(&kernel, [[3, 0, 1], [4, 5, 6]], values, None, context)
            .unwrap();
    }
    offload.wait("a test").unwrap();
    assert_eq!(offload.cost(0).launches, 1);
}

#[test]
fn the_code_for_the_newest_generation_that_the_device_has_is_taken() {
    kernel("one", &[], |_, _, _, _| Ok(()));
    let mut one = described("one", &[]);
    const OLD: &std::ffi::CStr = c".version 6.0\n";
    one.images = vec![
        image(c"sm_50", OLD),
        image(c"sm_86", PTX),
        image(c"sm_90", c"none"),
        image(c"sm_80a", c"none"),
    ]
    .leak();
    let mut offload = offload(arena());
    launch(&mut offload, &one, &[]).unwrap();
}

#[test]
fn memory_that_the_program_manages_is_passed_as_it_is() {
    let (arena, twice) = (arena(), with_twice());
    let mut offload = offload(arena);
    let count = 10_000;
    let x = offload.own_memory(8 * count).unwrap();
    let y = offload.own_memory(8 * count).unwrap();
    let from = block(arena, &numbers(count));
    let to = block(arena, &vec![0.0; count]);
    // SAFETY: all have so many bytes.
    unsafe {
        offload.copy(x as usize, from as usize, 8 * count).unwrap();
        launch(&mut offload, &twice, &[count as u64 - 5, x + 40, y]).unwrap();
        launch(&mut offload, &twice, &[count as u64, y, x]).unwrap();
        offload.copy(y as usize, x as usize, 8 * count).unwrap();
        offload
            .copy(to as usize, y as usize, 8 * count - 40)
            .unwrap();
    }
    let mut expected = doubled(&doubled(&numbers(count)[5..]));
    expected.extend([0.0; 5]);
    assert_eq!(read(&mut offload, to, count), expected);
    // SAFETY: as many bytes as are there, or an error.
    unsafe {
        // From the program's memory that the device has.
        launch(&mut offload, &twice, &[count as u64, x, to]).unwrap();
        offload.copy(x as usize, to as usize, 800).unwrap();
        let mut one = [0.0_f64; 2];
        let here = one.as_mut_ptr().expose_provenance();
        offload.copy(here, x as usize + 8, 16).unwrap();
        assert_eq!(
            std::hint::black_box(one),
            [2.0 * expected[1], 2.0 * expected[2]]
        );
        let wrong = offload.copy(x as usize + 8, here, 8 * count);
        assert_eq!(
            wrong.unwrap_err(),
            format!(
                "okl_copy of 80000 bytes reaches beyond the 80000 bytes of okl_malloc at {x:#x}"
            )
        );
    }
    offload.free_own_memory(x).unwrap();
    let wrong = offload.free_own_memory(x);
    assert_eq!(
        wrong.unwrap_err(),
        format!("okl_free of {x:#x}, which is no memory of okl_malloc's")
    );
    assert_eq!(
        fake(|fake| fake
            .calls
            .iter()
            .filter(|name| **name == "allocate")
            .count()),
        3
    );
}
