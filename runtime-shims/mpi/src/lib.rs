//! Run-time library of OpenMP programs that okl re-targets to MPI.
//!
//! A program compiled with `libokl_pass.so` and the target `mpi` calls this library where it called
//! the OpenMP runtime before. Rank 0 is the program's initial thread and alone runs serial code; the
//! other ranks are the other threads of its teams. Shared memory has the same addresses on every rank
//! and is kept coherent at OpenMP's synchronisation points.
//!
//! The protocol is [`okl_coherence`]'s. What the modules here know of each other, layer by layer, says the table
//! in `ARCHITECTURE.md`, and `layers` holds them to it.

mod allocators;
mod alone;
mod alternate_stack;
mod api;
mod atomics;
mod build_id;
mod byte_sets;
mod cancel;
mod cell;
mod console;
mod constructs;
mod control_area;
mod control_words;
mod devices;
mod directly;
mod doacross;
mod exchange;
mod fault;
mod files;
mod flags;
mod float_environment;
mod foreign_regions;
mod fortran;
mod frames;
mod greeting;
mod heap;
mod interfaces;
mod interpose;
mod kernel;
mod large_pages;
#[cfg(test)]
mod layers;
mod layout;
mod libomp;
mod locale;
mod lock_table;
mod locks;
mod loops;
mod marks;
mod meanwhile;
mod memory;
mod mpi_job;
mod names;
mod next;
mod objects;
mod observe;
mod ordered;
mod owed;
mod plain;
mod primitives;
mod private_allocator;
mod process;
mod processors;
mod program;
mod program_graph;
mod program_stacks;
mod pushes;
mod readable;
mod reduce;
mod region;
mod report;
mod ring;
mod room;
mod rounds;
mod scopes;
mod sections;
mod service;
mod settings;
mod sockets;
mod stack;
mod start;
mod stats;
mod stream_format;
mod summaries;
mod symbolise;
mod sync;
mod tasks;
mod team;
mod thread_privates;
mod threads;
mod touch;
mod traffic;
mod turns;
mod verify;
mod view;
mod waiting;

/// Runtime memory is private to the process, whoever asks for it.
#[cfg_attr(not(okl_thread_sanitizer), global_allocator)]
static ALLOCATOR: private_allocator::PrivateAllocator = private_allocator::PrivateAllocator;

/// What each exported symbol does, by its name.
mod entry {
    pub(crate) use crate::{
        allocators::*, api::*, atomics::*, cancel::*, constructs::*, doacross::*, flags::*,
        fortran::*, locks::*, loops::*, ordered::*, plain::*, program_graph::*, readable::*,
        reduce::*, sections::*, start::*, sync::*, tasks::*, team::*, threads::*, touch::*,
        waiting::*,
    };
}

macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*] $($words:literal)?;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Called by code that the pass generated, with the arguments it documents.
            #[unsafe(no_mangle)]
            #[allow(clippy::too_many_arguments, unused_unsafe)]
            pub unsafe extern "C" fn $name($($param: okl_abi::rust_type!($type)),*) $(-> okl_abi::rust_type!($ret))? {
                sections::leave_nest();
                // SAFETY: the caller's promise.
                unsafe { entry::$name($($param),*) }
            }
        )*
    };
}

okl_abi::for_each_mpi_fn!(export);
