//! Small models of how threads and ranks meet in the run time for MPI: loom runs each in every order of events that may
//! happen, and with every value that an atomic variable may have then.
//!
//! The modules under test are those of the run time, file by file. All that they have of the standard library and what
//! depends on the order of events comes from `primitives`, which here is loom's. `./scripts/test loom` runs them; without
//! `--cfg loom` there is nothing here. No model uses all of a file, which is expected of each where it is so.
#![cfg(all(loom, test))]

#[expect(dead_code, reason = "each kind of atomic variable has all operations")]
mod primitives;

#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/cell.rs"]
mod cell;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/exchange.rs"]
mod exchange;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/meanwhile.rs"]
mod meanwhile;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/ring.rs"]
mod ring;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/rounds.rs"]
mod rounds;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/scopes.rs"]
mod scopes;
#[expect(dead_code, reason = "the models drive a part of it")]
#[path = "../../mpi/src/turns.rs"]
mod turns;

mod models;
