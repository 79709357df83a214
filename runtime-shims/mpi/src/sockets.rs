//! Requests between processes over TCP: one side connects, asks and waits, the other sleeps until it is asked.
//!
//! Guarantee: the side that answers never waits for one of those that ask it, but for all of them at once, and without
//! an end; nothing but a request wakes it. Requests of a connection are answered in the order in which they were sent.
//! Who connects and does not prove to be of this job ([`crate::greeting`]) is heard no further, and disturbs nobody.

mod connection;
mod server;
#[cfg(test)]
mod tests;

pub(crate) use connection::{Connection, Identity, reach};
pub(crate) use server::{Server, Stop, listen};
