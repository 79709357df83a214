//! Requests over sockets of our own, which cost nothing while nobody asks.
//!
//! Ranks tell each other their addresses, and the secret by which they know each other, through MPI. When the job starts
//! each node is reached once from each other one; the connections that are used are made when they are first needed.

use std::{net::IpAddr, thread::JoinHandle, time::Duration};

use okl_job::agree;

use super::{answers::Answers, start_thread};
use crate::{
    greeting::Secret,
    interfaces::{self, ALL_WORDS, Choice},
    mpi_job, report, scopes,
    sockets::{self, Connection, Identity, Server, Stop},
};

/// How long an attempt to reach a rank may take when the job starts, and later: then a debugger may have stopped it.
const PATIENCE_AT_START: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(3600);

/// When a rank is gone the launcher ends the job, as a rule, within this time.
const PATIENCE_WITH_LAUNCHER: Duration = Duration::from_secs(10);

/// An answer, where a rank has a processor, comes in about that time, and a thread that sleeps wakes up later.
const LOOKS: Duration = Duration::from_micros(200);

/// Where a rank is reached.
struct Place {
    addresses: Vec<IpAddr>,
    port: u16,
}

pub(super) struct Reached {
    me: Identity,
    places: Vec<Place>,
    /// To each rank that was asked something.
    connections: Vec<Option<Connection>>,
    /// How long an answer is looked for before this thread sleeps.
    looks: Duration,
    stop: Stop,
    thread: JoinHandle<()>,
}

impl Reached {
    /// Starts the thread that answers. `nodes` are those of all ranks, and the interfaces of `choice` are used. An error
    /// says, on all ranks, why the ranks do not reach each other so. Collective.
    pub(super) fn start(
        answers: Answers,
        nodes: &[u32],
        choice: &Choice,
        is_crowded: bool,
    ) -> Result<Self, String> {
        let me = Identity {
            secret: agree_on_secret()?,
            rank: mpi_job::rank(),
            ranks: mpi_job::ranks(),
        };
        let listening = agree::agree(listen(me, choice), mpi_job::gathered);
        let (server, own) = listening?;
        let places = exchange(&own);
        let stop = server.stop();
        let thread = start_thread(move || {
            let answered = server.run(|rank, request, reply| {
                answers.answer(rank, request, reply);
            });
            if let Err(error) = answered {
                report::fatal(&format!(
                    "requests of other ranks cannot be waited for: {error}"
                ));
            }
        });
        let this = Self {
            me,
            places,
            connections: (0..me.ranks).map(|_| None).collect(),
            looks: match is_crowded {
                true => Duration::ZERO,
                false => LOOKS,
            },
            stop,
            thread,
        };
        match agree::agree(this.check(nodes), mpi_job::gathered) {
            Ok(()) => Ok(this),
            Err(why) => {
                this.stop();
                Err(why)
            }
        }
    }

    /// Reaches one rank of each other node, or of as many as fall to this one of its own node's ranks.
    fn check(&self, nodes: &[u32]) -> Result<(), String> {
        let ranks_of = |node: u32| {
            let all = (0_u32..).zip(nodes);
            let there = all.filter(move |(_, of)| **of == node);
            there.map(|(rank, _)| rank).collect::<Vec<_>>()
        };
        let here = ranks_of(nodes[self.me.rank as usize]);
        let index = here.iter().position(|rank| *rank == self.me.rank);
        let index = index.expect("a rank is on its node");
        let mut others: Vec<u32> = nodes.to_vec();
        others.sort_unstable();
        others.dedup();
        others.retain(|node| *node != nodes[self.me.rank as usize]);
        let mine = others.iter().skip(index).step_by(here.len());
        for &node in mine {
            let there = ranks_of(node);
            self.reach(there[index % there.len()], PATIENCE_AT_START)?;
        }
        Ok(())
    }

    fn reach(&self, rank: u32, patience: Duration) -> Result<Connection, String> {
        let Place { addresses, port } = &self.places[rank as usize];
        let reached = match addresses[..] {
            [] => Err("its chosen interfaces lead to no other machine".to_owned()),
            _ => sockets::reach(addresses, *port, self.me, rank, patience),
        };
        reached.map_err(|why| format!("rank {} does not reach rank {rank} ({why})", self.me.rank))
    }

    fn connection(&mut self, rank: u32) -> &mut Connection {
        let at = rank as usize;
        if self.connections[at].is_none() {
            let reached = scopes::private(|| self.reach(rank, PATIENCE));
            let reached = reached.unwrap_or_else(|why| {
                report::fatal(&format!(
                    "{why}, although their nodes reached each other when the job started"
                ))
            });
            self.connections[at] = Some(reached);
        }
        self.connections[at].as_mut().expect("it is there now")
    }

    pub(super) fn send(&mut self, head: &[u8], data: &[u8], rank: u32) {
        if let Err(error) = self.connection(rank).send(head, data) {
            lost(rank, &error);
        }
    }

    pub(super) fn receive(&mut self, into: &mut [u8], rank: u32) {
        let looks = self.looks;
        if let Err(error) = self.connection(rank).receive(into, looks) {
            lost(rank, &error);
        }
    }

    pub(super) fn stop(self) {
        self.stop.stop();
        self.thread
            .join()
            .expect("the service thread does not panic");
    }
}

/// Another rank is gone: whoever ended it has told why, and ends this one, too.
fn lost(rank: u32, error: &std::io::Error) -> ! {
    std::thread::sleep(PATIENCE_WITH_LAUNCHER);
    report::fatal(&format!("rank {rank} is gone: {error}"))
}

/// Rank 0's, on all ranks.
fn agree_on_secret() -> Result<Secret, String> {
    let made = match mpi_job::rank() {
        0 => Secret::new().map_err(|error| format!("no random bytes: {error}")),
        _ => Ok(Secret([0; 4])),
    };
    let Secret(mut words) = agree::agree(made, mpi_job::gathered)?;
    mpi_job::broadcast(&mut words);
    Ok(Secret(words))
}

/// A server that listens, and where.
fn listen(me: Identity, choice: &Choice) -> Result<(Server, Place), String> {
    let addresses = interfaces::addresses(choice);
    let addresses = addresses.map_err(|error| format!("no list of interfaces: {error}"))?;
    if addresses.is_empty() {
        return Err("no chosen interface is up that has an IP address".into());
    }
    let listening = sockets::listen().and_then(|(listener, port)| {
        let server = Server::new(me, listener)?;
        Ok((server, port))
    });
    let (server, port) = listening.map_err(|error| format!("no socket that listens: {error}"))?;
    Ok((server, Place { addresses, port }))
}

/// The places of all ranks. Addresses that only one machine reaches are those of ranks there.
fn exchange(own: &Place) -> Vec<Place> {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let names = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let host = agree::hash((read("/proc/sys/kernel/random/boot_id"), names));
    let mut mine = vec![host, u64::from(own.port)];
    mine.extend(interfaces::to_words(&own.addresses));
    let all = mpi_job::gathered(&mine);
    let place = |theirs: &[u64]| {
        let mut addresses = interfaces::from_words(&theirs[2..]);
        addresses.retain(|address| theirs[0] == host || !address.is_loopback());
        Place {
            addresses,
            port: theirs[1] as u16,
        }
    };
    all.chunks(2 + ALL_WORDS).map(place).collect()
}
