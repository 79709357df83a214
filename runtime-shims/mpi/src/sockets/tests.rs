use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, TcpStream},
    thread::{self, JoinHandle},
    time::Duration,
};

use okl_testing::Random;

use super::*;
use crate::greeting::Secret;

const SECRET: Secret = Secret([1, 2, 3, 4]);
const HERE: [IpAddr; 1] = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
const LOOKS: Duration = Duration::from_micros(20);
const PATIENCE: Duration = Duration::from_secs(20);

fn identity(rank: u32) -> Identity {
    Identity {
        secret: SECRET,
        rank,
        ranks: 8,
    }
}

/// Rank 0, which answers each request with its rank, and as many copies of it as its first byte says.
struct Running {
    port: u16,
    stop: Stop,
    thread: JoinHandle<u64>,
}

impl Running {
    fn start() -> Self {
        let (listener, port) = listen().expect("a port");
        let server = Server::new(identity(0), listener).expect("descriptors");
        let stop = server.stop();
        let thread = thread::spawn(move || {
            let woken = server.run(|rank, request, reply| {
                reply(&[rank as u8]);
                for _ in 0..request[0] {
                    reply(request);
                }
            });
            woken.expect("it waits")
        });
        Self { port, stop, thread }
    }

    fn reach(&self, rank: u32) -> Connection {
        reach(&HERE, self.port, identity(rank), 0, PATIENCE).expect("it listens")
    }

    /// How often it woke up.
    fn end(self) -> u64 {
        self.stop.stop();
        self.thread.join().expect("it ends")
    }
}

fn ask(connection: &mut Connection, rank: u32, request: &[u8]) {
    let (head, data) = request.split_at(request.len() / 3);
    connection.send(head, data).expect("it is open");
    let mut answer = vec![0; 1 + request.len() * usize::from(request[0])];
    connection.receive(&mut answer, LOOKS).expect("it answers");
    assert_eq!(u32::from(answer[0]), rank);
    assert!(
        answer[1..]
            .chunks(request.len())
            .all(|part| part == request)
    );
}

#[test]
fn many_ask_at_once_much_and_little() {
    let running = Running::start();
    thread::scope(|scope| {
        for rank in 1..8 {
            let running = &running;
            scope.spawn(move || {
                let mut connection = running.reach(rank);
                let mut random = Random(u64::from(rank));
                for _ in 0..60 {
                    let length = match random.below(8) {
                        0 => 1 + random.below(3_000_000),
                        _ => 1 + random.below(100),
                    };
                    let request: Vec<u8> = (0..length).map(|at| (at + length) as u8 % 4).collect();
                    ask(&mut connection, rank, &request);
                }
            });
        }
    });
    running.end();
}

/// More is asked than the sockets hold of the answers, and nothing is read before all is asked; others are answered
/// meanwhile.
#[test]
fn one_that_does_not_listen_keeps_nobody_waiting() {
    let running = Running::start();
    let (mut lazy, mut other) = (running.reach(1), running.reach(2));
    let request = vec![3; 1 << 20];
    for _ in 0..16 {
        lazy.send(&[], &request).expect("it is read");
    }
    for _ in 0..100 {
        ask(&mut other, 2, &[1, 2, 3]);
    }
    let mut answer = vec![0; 1 + 3 * request.len()];
    for _ in 0..16 {
        lazy.receive(&mut answer, LOOKS).expect("it is answered");
        assert!(answer[0] == 1 && answer[1..].iter().all(|&byte| byte == 3));
    }
    running.end();
}

#[test]
fn two_that_ask_each_other_are_both_answered() {
    let both = [Running::start(), Running::start()];
    thread::scope(|scope| {
        for running in &both {
            scope.spawn(|| {
                let mut connection = running.reach(1);
                for _ in 0..40 {
                    ask(&mut connection, 1, &vec![2; 500_000]);
                }
            });
        }
    });
    for running in both {
        running.end();
    }
}

#[test]
fn nothing_wakes_it_while_nobody_asks() {
    let running = Running::start();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(running.end(), 1);

    let running = Running::start();
    let mut connection = running.reach(1);
    ask(&mut connection, 1, &[1]);
    thread::sleep(Duration::from_millis(300));
    ask(&mut connection, 1, &[1]);
    // Once to connect, twice to greet, twice to answer, once to end; two of them may be one.
    let woken = running.end();
    assert!((4..=6).contains(&woken), "{woken}");
}

#[test]
fn who_is_not_of_this_job_is_heard_no_further() {
    let running = Running::start();
    let mut rank = running.reach(3);
    let wrong = [
        Identity {
            secret: Secret([1, 2, 3, 5]),
            ..identity(1)
        },
        identity(8),
    ];
    for one in wrong {
        let why = reach(&HERE, running.port, one, 0, PATIENCE).unwrap_err();
        assert_eq!(why, "127.0.0.1: somebody else answers");
    }
    let why = reach(&HERE, running.port, identity(1), 5, PATIENCE).unwrap_err();
    assert_eq!(why, "127.0.0.1: somebody else answers");

    let stranger = || TcpStream::connect((HERE[0], running.port)).expect("it listens");
    let mut loud = stranger();
    loud.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        .expect("it is open");
    // It is closed, or reset since not all of it was read.
    assert_eq!(loud.read(&mut [0; 8]).unwrap_or(0), 0);
    // The secret is asked for, and not known: nothing that follows is taken for a request.
    let mut guess = stranger();
    let hello = crate::greeting::hello(1, 0, [7; 16]);
    guess.write_all(&hello).expect("it is open");
    guess.read_exact(&mut [0; 32]).expect("it answers");
    guess
        .write_all(&[&[0; 16][..], &crate::frames::prefix(1), &[1]].concat())
        .expect("it is open");
    assert_eq!(guess.read(&mut [0; 8]).unwrap_or(0), 0);

    ask(&mut rank, 3, &[1, 2]);
    running.end();
}

/// Those that say nothing are closed when there are many, the oldest first, and keep no rank out.
#[test]
fn silent_strangers_keep_nobody_out() {
    let running = Running::start();
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect((HERE[0], running.port)).expect("it listens"))
        .collect();
    ask(&mut running.reach(1), 1, &[2, 5]);
    assert_eq!((&silent[0]).read(&mut [0; 8]).unwrap_or(0), 0);
    silent[199].set_nonblocking(true).expect("a socket");
    let kind = (&silent[199])
        .read(&mut [0; 8])
        .map_err(|error| error.kind());
    assert_eq!(kind, Err(std::io::ErrorKind::WouldBlock));
    running.end();
}

#[test]
fn an_address_that_does_not_answer_is_passed_over() {
    let running = Running::start();
    // A port of another address of this machine's, where nobody listens, and one that answers nothing right.
    let silent = std::net::TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).expect("a port");
    let port = silent.local_addr().expect("it is bound").port();
    let why = reach(
        &[Ipv4Addr::new(127, 0, 0, 3).into()],
        port,
        identity(1),
        0,
        PATIENCE,
    );
    assert!(why.unwrap_err().starts_with("127.0.0.3: "));
    let all = [Ipv4Addr::new(127, 0, 0, 2).into()];
    let short = Duration::from_millis(100);
    let why = reach(&all, port, identity(1), 0, short).unwrap_err();
    assert_eq!(why, "127.0.0.2: no answer");
    let all = ["::2".parse().expect("an address"), HERE[0]];
    let mut found = reach(&all, running.port, identity(1), 0, PATIENCE).expect("one answers");
    ask(&mut found, 1, &[2]);
    assert!(reach(&[], 1, identity(1), 0, PATIENCE).is_err());
    running.end();
}

#[test]
fn an_end_that_has_gone_is_an_error() {
    let running = Running::start();
    let mut connection = running.reach(1);
    ask(&mut connection, 1, &[1]);
    running.end();
    assert!(connection.receive(&mut [0], LOOKS).is_err());
}
