//! What the user is told.

use super::fake::{device, driver, fake, kernel};
use super::*;
use crate::device::Device;
use crate::program::{State, exchanges};
use crate::table::Functions;

/// What a launch of a kernel ends in that has nothing wrong with it.
fn told(change: impl FnOnce(&mut Offload, &mut Described)) -> String {
    kernel("add", &[], |_, _, _, _| Ok(()));
    let mut offload = offload(arena());
    let mut add = described("add", &[]);
    change(&mut offload, &mut add);
    let result = launch(&mut offload, &add, &[]).and_then(|()| offload.wait("okl_sync"));
    result.unwrap_err()
}

fn fails(function: &'static str, status: i32) {
    fake(|fake| fake.fails.insert(function, status));
}

#[test]
fn code_that_does_not_fit() {
    let wrong =
        told(|_, kernel| kernel.images = vec![image(c"sm_90", PTX), image(c"sm_100a", PTX)].leak());
    assert_eq!(
        wrong,
        "k.okl:3: kernel add: its code is for devices from sm_90 on, and Fake 1 is sm_86: compile it for that one"
    );
    let wrong = told(|_, kernel| kernel.images = vec![image(c"sm_70", c".version 8.3\n")].leak());
    assert_eq!(
        wrong,
        "k.okl:3: kernel add: its code needs a driver of CUDA 12.3, and this one has 12.0: install a newer one"
    );
    let wrong = told(|_, kernel| {
        fake(|fake| {
            fake.log = "ptxas application ptx input, line 3; fatal : Parsing error\n".to_owned()
        });
        kernel.images = vec![image(c"sm_70", c"garbage")].leak();
    });
    assert_eq!(
        wrong,
        "k.okl:3: kernel add: the driver refuses its code (cuModuleLoadDataEx: INVALID_PTX):\nptxas application ptx \
         input, line 3; fatal : Parsing error"
    );
    let wrong = told(|_, kernel| kernel.entry = c"other");
    assert_eq!(wrong, "k.okl:3: kernel add: cuModuleGetFunction: NOT_FOUND");
}

#[test]
fn blocks_that_are_too_large() {
    kernel("add", &[], |_, _, _, _| Ok(()));
    let mut offload = offload(arena());
    let mut add = described("add", &[]);
    let mut told = |blocks, items| launch_of(&mut offload, &add, blocks, items, &[]).unwrap_err();
    assert_eq!(
        told([1, 1, 1], [32, 33, 1]),
        "k.okl:3: kernel add: its blocks have 1056 work items (32 x 33 x 1), and Fake 1 can run 1024 of it at most: use \
         smaller blocks"
    );
    assert_eq!(
        told([1, 1, 1], [1, 1, 65]),
        "k.okl:3: kernel add: its blocks have 1 x 1 x 65 work items, and in direction z Fake 1 can run 64 at most: use \
         smaller blocks"
    );
    assert_eq!(
        told([7, 70_000, 1], [1, 1, 1]),
        "k.okl:3: kernel add: it has 7 x 70000 x 1 blocks, and in direction y Fake 1 can run 65535 at most: have the \
         longest loop over blocks be the innermost of them"
    );
    assert_eq!(
        told([1 << 40, 1, 1], [1 << 40, 1 << 40, 1]),
        "k.okl:3: kernel add: its blocks have 1208925819614629174706176 work items (1099511627776 x 1099511627776 x 1), \
         and Fake 1 can run 1024 of it at most: use smaller blocks"
    );
    add.most_items = 128;
    add.number = Box::leak(Box::new(AtomicI64::new(0)));
    let mut offload = super::offload(arena());
    fake(|fake| fake.calls.clear());
    let other = Described {
        images: vec![image(c"sm_70", c".version 7.0\n\n")].leak(),
        ..add
    };
    assert_eq!(
        launch_of(&mut offload, &other, [1, 1, 1], [129, 1, 1], &[]).unwrap_err(),
        "k.okl:3: kernel add: its blocks have 129 work items (129 x 1 x 1), and Fake 1 can run 128 of it at most: use \
         smaller blocks"
    );
}

#[test]
fn kernels_that_fail() {
    let wrong = told(|_, _| kernel("add", &[], |_, _, _, _| Err(700)));
    assert_eq!(
        wrong,
        "k.okl:3: kernel add accessed memory that is not there (cuStreamSynchronize: ILLEGAL_ADDRESS); \
         OKL_BACKEND=cuda-emulated says where"
    );
}

#[test]
fn of_several_kernels_one_failed() {
    let wrong = told(|offload, _| {
        kernel("first", &[], |_, _, _, _| Ok(()));
        kernel("add", &[], |_, _, _, _| Err(700));
        let mut first = described("first", &[]);
        first.place = "k.okl:9";
        first.images = vec![image(c"sm_70", c".version 7.0\n\n\n")].leak();
        for _ in 0..2 {
            launch(offload, &first, &[]).unwrap();
        }
    });
    assert_eq!(
        wrong,
        "one of the kernels first (k.okl:9), add (k.okl:3) accessed memory that is not there (cuStreamSynchronize: \
         ILLEGAL_ADDRESS); OKL_BACKEND=cuda-emulated says where"
    );
}

#[test]
fn a_host_pointer_that_is_passed_by_mistake_is_a_fault() {
    let twice = with_twice();
    let mut offload = offload(arena());
    // Nothing is mapped there.
    launch(&mut offload, &twice, &[1, 64, 128]).unwrap();
    let wrong = offload.wait("okl_sync").unwrap_err();
    assert!(
        wrong.starts_with("k.okl:3: kernel twice accessed memory that is not there ("),
        "{wrong}"
    );
}

#[test]
fn devices_that_are_full_or_lost() {
    let arena = arena();
    let twice = with_twice();
    let mut offload = offload(arena);
    let x = block(arena, &numbers(100_000));
    let y = block(arena, &numbers(200_000));
    fake(|fake| fake.room = 1_000_000);
    assert_eq!(
        launch(&mut offload, &twice, &[1, x, y]).unwrap_err(),
        "k.okl:3: kernel twice: the memory of Fake 1 is full (for 1601536 bytes, cuMemAlloc_v2: OUT_OF_MEMORY); this program has 802816 bytes \
         of its heap there and 0 of okl_malloc: use smaller data, or more ranks with a device each"
    );
    assert_eq!(
        offload.own_memory(2_000_000).unwrap_err(),
        "okl_malloc of 2000000 bytes: the memory of Fake 1 is full (for 2000000 bytes, cuMemAlloc_v2: OUT_OF_MEMORY); this program has 0 bytes \
         of its heap there and 0 of okl_malloc: use smaller data, or more ranks with a device each"
    );
    let wrong = told(|_, _| fails("wait", 214));
    assert_eq!(
        wrong,
        "k.okl:3: kernel add: Fake 1 does not answer any more (cuStreamSynchronize: ECC_UNCORRECTABLE): it may have to be reset, or \
         the machine started again"
    );
}

#[test]
fn what_else_a_driver_refuses() {
    let wrong = told(|_, _| fails("launch", 701));
    assert_eq!(
        wrong,
        "k.okl:3: kernel add: a block needs more registers or shared memory than Fake 1 has (cuLaunchKernel: \
         LAUNCH_OUT_OF_RESOURCES): use smaller blocks"
    );
    fake(|fake| fake.fails.clear());
    let functions = Functions {
        wait: None,
        ..fake::functions()
    };
    let driver = crate::device::Driver::with(driver().kind, functions);
    driver.count().unwrap();
    let mut offload = Offload::new(Device::open(driver, 0).unwrap(), None, false);
    assert_eq!(
        offload.wait("okl_sync").unwrap_err(),
        "okl_sync: the driver is too old, it has no cuStreamSynchronize: install a newer one"
    );
}

#[test]
fn drivers_without_devices() {
    fake(|fake| fake.devices = 0);
    let problem = driver().count().unwrap_err();
    assert_eq!(problem.text, "the driver finds none");
    fails("start", 100);
    let problem = driver().count().unwrap_err();
    assert_eq!(problem.text, "cuInit: NO_DEVICE");
    let _ = device;
}

#[test]
fn what_a_device_has_no_instructions_for_it_exchanges() {
    let of = |does, adds| {
        let mut kernel = with_twice();
        kernel.does = does;
        kernel.images = vec![Image {
            adds,
            ..image(c"sm_70", PTX)
        }]
        .leak();
        exchanges(&State::Device(Box::new(offload(arena()))), &kernel)
    };
    assert!(!of(does::PRINTS, 0));
    assert!(!of(does::ADDS_F32, does::ADDITIONS));
    assert!(!of(does::ADDS_F64, does::ADDS_F64));
    assert!(of(does::ADDS_F64, does::ADDS_F32));
    assert!(of(does::ADDITIONS, does::ADDS_F64));
    assert!(!exchanges(&State::Processor, &with_twice()));
}
