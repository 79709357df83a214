//! What reads a clock waits for the device: a launch returns at once, and whoever measures a loop means its kernels.
//!
//! Guarantee: in front of each call of a function that tells the time, all that was launched has run. That concerns all files,
//! also those without a loop.

use okl_abi::gpu::f;

use crate::llvm::{Builder, Instruction, Module};
use crate::lower::runtime_call::declare;

/// Functions that tell the time: of C and POSIX, of OpenMP and MPI, of C++'s and of flang's library, and of the processor.
const CLOCKS: [&str; 20] = [
    "clock",
    "clock_gettime",
    "ftime",
    "getrusage",
    "gettimeofday",
    "time",
    "times",
    "timespec_get",
    "omp_get_wtime",
    "omp_get_wtime_",
    "MPI_Wtime",
    "PMPI_Wtime",
    "mpi_wtime_",
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv",
    "_ZNSt3__16chrono12steady_clock3nowEv",
    "_ZNSt3__16chrono12system_clock3nowEv",
    "_FortranACpuTime",
    "llvm.readcyclecounter",
    "llvm.x86.rdtsc",
];

/// With numbers of bytes behind it.
const FORTRAN_CLOCK: &str = "_FortranASystemClockCount";

/// Has all that reads a clock wait. True where the module was changed.
pub fn wait_for_kernels(module: &Module) -> bool {
    let all = module.functions().into_iter();
    let clocks = all.filter(|one| one.is_declaration() && is_clock(&one.name()));
    let calls = clocks.flat_map(|clock| {
        let users = clock.users().into_iter();
        let users = users.filter_map(|user| user.as_instruction());
        users.filter(move |one| {
            let call = one.as_call();
            call.is_some_and(|call| call.callee_function() == Some(clock))
        })
    });
    // Where files are compiled together when they are linked, some wait already.
    let calls: Vec<_> = calls.filter(|call| !waits(*call)).collect();
    for call in &calls {
        let finish = declare(module, &f::okl_gpu_finish_v1);
        Builder::before(module, *call).call(finish, &[]);
    }
    !calls.is_empty()
}

/// Whether what is in front of a call waits.
fn waits(call: Instruction<'_>) -> bool {
    let before = call.previous().and_then(|one| one.as_call());
    before.is_some_and(|one| one.callee_name() == f::okl_gpu_finish_v1.name)
}

fn is_clock(name: &str) -> bool {
    CLOCKS.contains(&name) || name.starts_with(FORTRAN_CLOCK)
}
