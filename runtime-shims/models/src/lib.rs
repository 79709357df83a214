//! Small models of how threads and ranks meet in the run time for MPI: loom runs each in every order of events that may
//! happen, and with every value that an atomic variable may have then.
//!
//! The modules under test are those of the run time, file by file. All that they have of the standard library and what
//! depends on the order of events comes from `primitives`, which here is loom's. `./scripts/test loom` runs them; without
//! `--cfg loom` there is nothing here.
#![cfg(all(loom, test))]
#![allow(dead_code)] // what no model uses

mod primitives;

#[path = "../../mpi/src/ring.rs"]
mod ring;

mod models;
