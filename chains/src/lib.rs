//! Loop chains: loops that follow each other, whose iterations may run in another order than the loops are written.
//!
//! What the programmer says of them is [`pragma`]; what is known of them is a [`Chain`](model::Chain); an order is a
//! [`Plan`](plan::Plan), whose loops are [`Code`](code::Code). Nothing here knows LLVM or a compiler: the driver reads
//! pragmas with it, the pass asks it for orders. Loops over sets that are to be one when a program runs are a chain, too
//! ([`elements`]).
//!
//! A schedule becomes a plan in steps: [`dependences`] are worked out; an [`Order`](order::Order) is put together, item by item,
//! each of which is proved to be legal (`legality`, with `shifts` where loops become one, `blocks` and `overlap` where rows of
//! those run in parallel), by a model where nobody says how (`choice`, and `sizes` where the chain is small); its loops are made (`loops`, and `guarded` without isl; `joined` makes
//! inner ones one where nobody says so),
//! and [`storage`] says which temporary spaces need less. All of that is in integer sets, by [`isl`].
//!
//! Guarantee: a plan runs each iteration of each loop once, but for those whose results are in buffers alone that the plan
//! relies on, and whatever one iteration reads, writes or updates that another one writes is accessed in the order in which the
//! loops are written. What cannot be had so is refused.

mod blocks;
mod choice;
pub mod code;
pub mod dependences;
pub mod elements;
mod guarded;
pub mod isl;
mod joined;
pub mod kept;
mod legality;
mod loops;
pub mod model;
mod notation;
pub mod order;
mod overlap;
pub mod plan;
pub mod pragma;
mod shifts;
pub mod sizes;
pub mod storage;
