//! Small models of how threads and ranks meet in the run time for MPI: loom runs each in every order of events that may
//! happen, and with every value that an atomic variable may have then.
//!
//! The modules under test are those of the run time, file by file. All that they have of the standard library and what
//! depends on the order of events comes from `primitives`, which here is loom's. `./scripts/test loom` runs them; without
//! `--cfg loom` there is nothing here.
#![cfg(all(loom, test))]
#![allow(dead_code)] // what no model uses

mod primitives;

#[path = "../../mpi/src/cell.rs"]
mod cell;
#[path = "../../mpi/src/exchange.rs"]
mod exchange;
#[path = "../../mpi/src/meanwhile.rs"]
mod meanwhile;
#[path = "../../mpi/src/ring.rs"]
mod ring;
#[path = "../../mpi/src/rounds.rs"]
mod rounds;
#[path = "../../mpi/src/scopes.rs"]
mod scopes;
#[path = "../../mpi/src/turns.rs"]
mod turns;

mod models;
