//! The side that answers.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    sync::Arc,
};

use super::connection::{Identity, receive_some, send_some};
use crate::{
    frames::{Incoming, Outgoing, now},
    greeting::{self, Hello},
};

/// Bytes that are read at once.
const READ: usize = 1 << 16;
/// Events that are looked at before new ones are asked for.
const EVENTS: usize = 64;
/// Connections that have not proved themselves, beyond one of each rank: more, and the oldest are closed.
const STRANGERS: usize = 64;

const LISTENER: u64 = 0;
const STOP: u64 = 1;
const FIRST: u64 = 2;

/// A socket that listens at a port of the system's choice, and the port.
pub(crate) fn listen() -> io::Result<(TcpListener, u16)> {
    let any: [SocketAddr; 2] = [
        (Ipv6Addr::UNSPECIFIED, 0).into(),
        (Ipv4Addr::UNSPECIFIED, 0).into(),
    ];
    // At an IPv6 address of a system that is set up as usual, those of IPv4 come in, too.
    let listener = TcpListener::bind(&any[..])?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Ends a [`Server`].
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<File>);

impl Stop {
    fn new() -> io::Result<Self> {
        // SAFETY: a new descriptor, if it is one.
        unsafe {
            let event = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            match event {
                0.. => Ok(Self(Arc::new(File::from_raw_fd(event)))),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// It ends soon.
    pub(crate) fn stop(&self) {
        let one = 1_u64.to_ne_bytes();
        io::Write::write_all(&mut &*self.0, &one).expect("an event can be told");
    }
}

/// How far a connection is.
enum State {
    /// Nothing is known of the other end; it has said so much.
    Unknown(Hello, usize),
    /// It says to be a rank, and has to prove it: what is expected, and what has come of it.
    Claimed(u32, [u8; 16], [u8; 16], usize),
    /// It is that rank.
    Rank(u32, Incoming),
}

struct Peer {
    stream: TcpStream,
    state: State,
    outgoing: Outgoing,
}

/// What answers requests.
pub(crate) struct Server {
    me: Identity,
    epoll: OwnedFd,
    listener: TcpListener,
    stop: Stop,
    peers: BTreeMap<u64, Peer>,
    next: u64,
    /// Given up for a moment where there are no more descriptors, so that who connects can be told.
    spare: Option<File>,
    /// Whether nobody is let in before somebody has gone.
    is_deaf: bool,
}

impl Server {
    /// One that answers those that connect to `listener`.
    pub(crate) fn new(me: Identity, listener: TcpListener) -> io::Result<Self> {
        // SAFETY: a new descriptor, if it is one.
        let epoll = unsafe {
            match libc::epoll_create1(libc::EPOLL_CLOEXEC) {
                epoll @ 0.. => OwnedFd::from_raw_fd(epoll),
                _ => return Err(io::Error::last_os_error()),
            }
        };
        let stop = Stop::new()?;
        let server = Self {
            me,
            epoll,
            listener,
            stop,
            peers: BTreeMap::new(),
            next: FIRST,
            spare: File::open("/dev/null").ok(),
            is_deaf: false,
        };
        let listens = server.listener.as_raw_fd();
        server.watch(libc::EPOLL_CTL_ADD, listens, LISTENER, libc::EPOLLIN)?;
        let stops = server.stop.0.as_raw_fd();
        server.watch(libc::EPOLL_CTL_ADD, stops, STOP, libc::EPOLLIN)?;
        Ok(server)
    }

    /// What ends it.
    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn watch(&self, operation: i32, file: RawFd, token: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: token,
        };
        // SAFETY: descriptors of our own, and an event.
        match unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, file, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Answers until it is stopped: calls `answer` with each request, its rank, and where the answer goes. How often it
    /// woke up.
    pub(crate) fn run(
        mut self,
        mut answer: impl FnMut(u32, &[u8], &mut dyn FnMut(&[u8])),
    ) -> io::Result<u64> {
        let mut room = vec![0; READ];
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        for wakes in 1.. {
            let there = loop {
                let (epoll, list) = (self.epoll.as_raw_fd(), events.as_mut_ptr());
                // SAFETY: room for so many events.
                match unsafe { libc::epoll_wait(epoll, list, EVENTS as i32, -1) } {
                    count @ 0.. => break count as usize,
                    _ => {
                        let error = io::Error::last_os_error();
                        if error.kind() != io::ErrorKind::Interrupted {
                            return Err(error);
                        }
                    }
                }
            };
            for event in &events[..there] {
                match event.u64 {
                    LISTENER => self.accept(),
                    STOP => return Ok(wakes),
                    token => self.look_at(token, &mut room, &mut answer),
                }
            }
        }
        unreachable!("it counts for years")
    }

    /// Takes who has connected.
    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // Where that fails the stream is closed, and whoever connected sees it.
                    let _ = self.admit(stream);
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EMFILE | libc::ENFILE) if self.spare.take().is_some() => {
                        let _ = self.listener.accept();
                        self.spare = File::open("/dev/null").ok();
                    }
                    Some(libc::EINTR | libc::ECONNABORTED) => {}
                    Some(libc::EAGAIN) => return,
                    _ => {
                        self.is_deaf = self.hear(0).is_ok();
                        return;
                    }
                },
            }
        }
    }

    fn admit(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let token = self.next;
        self.watch(
            libc::EPOLL_CTL_ADD,
            stream.as_raw_fd(),
            token,
            libc::EPOLLIN,
        )?;
        self.next += 1;
        let peer = Peer {
            stream,
            state: State::Unknown([0; 32], 0),
            outgoing: Outgoing::default(),
        };
        self.peers.insert(token, peer);
        let is_stranger = |peer: &Peer| !matches!(peer.state, State::Rank(..));
        let all = self.peers.iter().filter(|(_, peer)| is_stranger(peer));
        let tokens: Vec<u64> = all.map(|(&token, _)| token).collect();
        if tokens.len() > self.me.ranks as usize + STRANGERS {
            self.close(tokens[0]);
        }
        Ok(())
    }

    /// Something has happened to a connection; it is closed where that was its end, or not what it should be.
    fn look_at(
        &mut self,
        token: u64,
        room: &mut [u8],
        answer: &mut impl FnMut(u32, &[u8], &mut dyn FnMut(&[u8])),
    ) {
        let Some(peer) = self.peers.get_mut(&token) else {
            return;
        };
        let waited = !peer.outgoing.is_empty();
        let result = peer.go_on(self.me, room, answer);
        let waits = !peer.outgoing.is_empty();
        let file = peer.stream.as_raw_fd();
        let result = result.and_then(|()| match waited == waits {
            true => Ok(()),
            false => {
                let more = if waits { libc::EPOLLOUT } else { 0 };
                self.watch(libc::EPOLL_CTL_MOD, file, token, libc::EPOLLIN | more)
            }
        });
        if result.is_err() {
            self.close(token);
        }
    }

    fn close(&mut self, token: u64) {
        self.peers.remove(&token);
        if std::mem::take(&mut self.is_deaf) {
            let _ = self.hear(libc::EPOLLIN);
        }
    }

    fn hear(&self, events: i32) -> io::Result<()> {
        let listener = self.listener.as_raw_fd();
        self.watch(libc::EPOLL_CTL_MOD, listener, LISTENER, events)
    }
}

impl Peer {
    fn go_on(
        &mut self,
        me: Identity,
        room: &mut [u8],
        answer: &mut impl FnMut(u32, &[u8], &mut dyn FnMut(&[u8])),
    ) -> io::Result<()> {
        let stream = &self.stream;
        let write = |bytes: &[u8]| send_some(stream, bytes);
        self.outgoing.flush(write)?;
        match &mut self.state {
            State::Unknown(hello, count) => {
                if !fill(stream, hello, count)? {
                    return Ok(());
                }
                let nonce = greeting::random()?;
                let known = greeting::answer(me.secret, me.rank, hello, nonce);
                let known = known.filter(|(rank, _, _)| *rank < me.ranks);
                let (rank, said, expected) = known.ok_or(io::ErrorKind::PermissionDenied)?;
                self.outgoing.send(&said, write)?;
                self.state = State::Claimed(rank, expected, [0; 16], 0);
            }
            State::Claimed(rank, expected, proof, count) => {
                if !fill(stream, proof, count)? {
                    return Ok(());
                }
                if !greeting::is_same(proof, expected) {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                self.state = State::Rank(*rank, Incoming::default());
            }
            State::Rank(rank, incoming) => {
                let Some(count) = now(|| receive_some(stream, room, 0))? else {
                    return Ok(());
                };
                let outgoing = &mut self.outgoing;
                incoming.feed(&room[..count], |request| {
                    let mut result = Ok(());
                    answer(*rank, request, &mut |bytes| {
                        if result.is_ok() {
                            result = outgoing.send(bytes, write);
                        }
                    });
                    result
                })?;
            }
        }
        Ok(())
    }
}

/// Reads on; whether all has come.
fn fill(stream: &TcpStream, room: &mut [u8], count: &mut usize) -> io::Result<bool> {
    if let Some(more) = now(|| receive_some(stream, &mut room[*count..], 0))? {
        *count += more;
    }
    Ok(*count == room.len())
}
