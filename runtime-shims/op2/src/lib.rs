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
//! | `argument` | makes and checks the arguments of a loop |
//! | `par_loop` | runs a loop |
//! | `plan` | which elements may run at the same time |
//! | `private` | global arguments of several threads |
//! | `team` | threads |
//! | `data` | data out of the library: arrays and files |
//! | `program` | start, end, memory, the command line |
//! | `times`, `profile` | what took how long |
//! | `report` | errors, and output of rank 0 |

mod argument;
mod data;
mod layout;
mod mesh;
mod par_loop;
mod plan;
mod private;
mod profile;
mod program;
mod report;
mod team;
mod times;

macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the code of a loop, with the arguments it documents.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($param: okl_abi::rust_type!($type)),*) {
            // SAFETY: the caller's promise.
            unsafe { par_loop::$name($($param),*) }
        }
    )*};
}
okl_abi::for_each_op2_fn!(export);
