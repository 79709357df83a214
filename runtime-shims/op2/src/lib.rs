//! Run-time library of OP2 programs: sets, maps and data of an unstructured mesh, and parallel loops over
//! them.
//!
//! A program compiled against the headers in `include/`, or against OP2's own, calls this library's C
//! functions; their names and signatures are OP2's. Every process of a job runs the whole program.
//!
//! | module | what it does |
//! |---|---|
//! | `layout` | the structs that programs see |
//! | `mesh` | what the program has declared |
//! | `declare` | declares it |
//! | `order`, `storage` | how data lie in memory |
//! | `argument` | makes and checks the arguments of a loop |
//! | `par_loop`, `as_one` | what the code of a loop calls, and of loops that may be one |
//! | `one_loop` | runs it |
//! | `lazy`, `join`, `waiting` | loops that wait, which of them may be one, and who has them run |
//! | `body` | runs a loop for elements of this rank |
//! | `versions` | code of loops that was compiled while the program runs |
//! | `offload` | runs a loop on a device |
//! | `increments`, `staged` | how what it adds through maps comes there, and what its blocks add |
//! | `ranks` | the same over a distributed set |
//! | `foreign_loops` | what loops call that run themselves |
//! | `plan` | which elements may run at the same time |
//! | `conflicts` | tells of elements that write the same |
//! | `private` | global arguments of several threads |
//! | `sums`, `exact` | sums that depend on no order |
//! | `team` | threads |
//! | `device`, `mirror` | a device, and data on it |
//! | `backend`, `job` | what the program runs on; MPI |
//! | `topology` | the mesh that is divided, and the ranks |
//! | `partition`, `choice` | who owns which element, and what the program says about it |
//! | `graph`, `scotch` | which elements belong together; division of graphs |
//! | `renumber` | an order of elements in which neighbours are near |
//! | `halo` | what a rank has of a distributed mesh |
//! | `distribute` | distributes the mesh, and gathers it |
//! | `exchange`, `packed` | data between ranks, of the host and of a device |
//! | `data` | data out of the library: arrays and files |
//! | `value` | types of values |
//! | `hdf5` | OP2's files in HDF5 |
//! | `slabs` | parts of data in the program's order, piece by piece |
//! | `local` | programs that declare a part of the mesh on each rank |
//! | `other_target` | files that cannot be part of an OP2 program |
//! | `program` | start, end, the command line |
//! | `settings`, `memory` | what they ask for; memory |
//! | `times`, `profile` | what took how long |
//! | `random` | pseudo-random numbers |
//! | `report` | errors, and output of rank 0 |

mod argument;
mod as_one;
mod backend;
mod body;
mod choice;
mod conflicts;
mod data;
mod declare;
mod device;
mod distribute;
mod exact;
mod exchange;
mod foreign_loops;
mod graph;
mod halo;
mod hdf5;
mod increments;
mod job;
mod join;
#[cfg(test)]
mod layers;
mod layout;
mod lazy;
mod local;
mod memory;
mod mesh;
mod mirror;
mod offload;
mod one_loop;
mod order;
mod other_target;
mod packed;
mod par_loop;
mod partition;
mod plan;
mod private;
mod profile;
mod program;
mod random;
mod ranks;
mod renumber;
mod report;
mod scotch;
mod settings;
mod slabs;
mod staged;
mod storage;
mod sums;
mod team;
mod times;
mod topology;
mod value;
mod versions;
mod waiting;

macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*): [$($effect:ident),*] $($words:literal)?;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the code of a loop, with the arguments it documents.
        #[unsafe(no_mangle)]
        // What a kernel throws goes through to the program.
        pub unsafe extern "C-unwind" fn $name($($param: okl_abi::rust_type!($type)),*) {
            // SAFETY: the caller's promise.
            unsafe { par_loop::$name($($param),*) }
        }
    )*};
}
okl_abi::for_each_op2_fn!(export);
