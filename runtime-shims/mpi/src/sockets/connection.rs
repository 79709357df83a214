//! The side that asks.

use std::{
    fmt::Write,
    io,
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    time::{Duration, Instant},
};

use crate::{
    frames::{self, now},
    greeting::{self, Secret},
};

/// What a process is known by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) secret: Secret,
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
}

/// A way to one other rank.
#[derive(Debug)]
pub(crate) struct Connection(TcpStream);

impl Connection {
    /// Sends a message that begins with `head`.
    pub(crate) fn send(&mut self, head: &[u8], data: &[u8]) -> io::Result<()> {
        let prefix = frames::prefix(head.len() + data.len());
        let mut parts = [&prefix[..], head, data];
        while parts.iter().any(|part| !part.is_empty()) {
            let count = now(|| self.send_some(parts))?;
            let mut left = count.ok_or(io::ErrorKind::TimedOut)?;
            for part in &mut parts {
                let taken = left.min(part.len());
                *part = &part[taken..];
                left -= taken;
            }
        }
        Ok(())
    }

    fn send_some(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let mut vector = parts.map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        // SAFETY: all zero is an empty message; the parts are there until the call returns.
        let sent = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = vector.as_mut_ptr();
            message.msg_iovlen = vector.len();
            libc::sendmsg(self.0.as_raw_fd(), &message, libc::MSG_NOSIGNAL)
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Waits for as many bytes as there is room for. Sleeps only when it has looked for so long.
    pub(crate) fn receive(&mut self, mut room: &mut [u8], looks: Duration) -> io::Result<()> {
        let since = Instant::now();
        while !room.is_empty() {
            let waits = since.elapsed() >= looks;
            let flags = if waits { 0 } else { libc::MSG_DONTWAIT };
            match now(|| receive_some(&self.0, room, flags))? {
                Some(count) => room = &mut room[count..],
                None if waits => return Err(io::ErrorKind::TimedOut.into()),
                None => std::thread::yield_now(),
            }
        }
        Ok(())
    }

    /// Makes sure that the other end is rank `to` of this job, within `patience`.
    fn greet(&mut self, me: Identity, to: u32, patience: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(patience))?;
        let hello = greeting::hello(me.rank, to, greeting::random()?);
        self.send_plain(&hello)?;
        let mut answer = [0; 32];
        self.receive(&mut answer, Duration::ZERO)?;
        let proof = greeting::proof(me.secret, &hello, &answer);
        self.send_plain(&proof.ok_or(io::ErrorKind::PermissionDenied)?)?;
        self.0.set_read_timeout(None)
    }

    fn send_plain(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = now(|| send_some(&self.0, bytes))?;
            bytes = &bytes[count.ok_or(io::ErrorKind::TimedOut)?..];
        }
        Ok(())
    }
}

/// Sends what is taken now. The program's handlers are told nothing of an end that has gone.
pub(super) fn send_some(to: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let (from, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: so many bytes.
    let sent = unsafe { libc::send(to.as_raw_fd(), from, length, libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives what is there.
pub(super) fn receive_some(from: &TcpStream, room: &mut [u8], flags: i32) -> io::Result<usize> {
    let (to, length) = (room.as_mut_ptr().cast(), room.len());
    // SAFETY: room for so many bytes.
    let got = unsafe { libc::recv(from.as_raw_fd(), to, length, flags) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// How long an address has to answer before the next one is tried beside it.
const STAGGER: Duration = Duration::from_millis(50);

/// Connects to rank `to`, which is at one of the `addresses`, within `patience`. An error says what came of each.
pub(crate) fn reach(
    addresses: &[IpAddr],
    port: u16,
    me: Identity,
    to: u32,
    patience: Duration,
) -> Result<Connection, String> {
    let end = Instant::now() + patience;
    let (mut attempts, mut failures) = (Vec::<(IpAddr, TcpStream)>::new(), String::new());
    let mut rest = addresses.iter();
    loop {
        let next = rest.next();
        if let Some(&address) = next {
            match begin(SocketAddr::new(address, port)) {
                Ok(stream) => attempts.push((address, stream)),
                Err(error) => fail(&mut failures, address, &error),
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        if next.is_none() && (attempts.is_empty() || left.is_zero()) {
            for (address, _) in attempts {
                fail(&mut failures, address, &io::ErrorKind::TimedOut.into());
            }
            return Err(failures);
        }
        let wait = if next.is_some() {
            STAGGER.min(left)
        } else {
            left
        };
        for at in ready(&attempts, wait).into_iter().rev() {
            let (address, stream) = attempts.remove(at);
            let left = end.saturating_duration_since(Instant::now());
            let others = attempts.len() + rest.len();
            match finish(stream, me, to, left / (1 + others as u32)) {
                Ok(connection) => return Ok(connection),
                Err(error) => fail(&mut failures, address, &error),
            }
        }
    }
}

fn fail(failures: &mut String, address: IpAddr, error: &io::Error) {
    let comma = if failures.is_empty() { "" } else { ", " };
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::UnexpectedEof => {
            "somebody else answers".to_owned()
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer".to_owned(),
        _ => error.to_string(),
    };
    let _ = write!(failures, "{comma}{address}: {why}");
}

/// Begins to connect to `address`.
fn begin(address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: a new descriptor, if it is one.
    let stream = unsafe {
        let socket = libc::socket(family, kind, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        TcpStream::from(OwnedFd::from_raw_fd(socket))
    };
    let socket = stream.as_raw_fd();
    // SAFETY: addresses of the families that they say, with their lengths.
    let status = unsafe {
        match address {
            SocketAddr::V4(address) => {
                let mut room: libc::sockaddr_in = std::mem::zeroed();
                room.sin_family = family as u16;
                room.sin_port = address.port().to_be();
                room.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                libc::connect(socket, (&raw const room).cast(), size_of_val(&room) as u32)
            }
            SocketAddr::V6(address) => {
                let mut room: libc::sockaddr_in6 = std::mem::zeroed();
                room.sin6_family = family as u16;
                room.sin6_port = address.port().to_be();
                room.sin6_addr.s6_addr = address.ip().octets();
                libc::connect(socket, (&raw const room).cast(), size_of_val(&room) as u32)
            }
        }
    };
    let error = io::Error::last_os_error();
    match status {
        0 => Ok(stream),
        _ if [libc::EINPROGRESS, libc::EINTR].contains(&error.raw_os_error().unwrap_or(0)) => {
            Ok(stream)
        }
        _ => Err(error),
    }
}

/// The attempts that have come to an end, within `wait`.
fn ready(attempts: &[(IpAddr, TcpStream)], wait: Duration) -> Vec<usize> {
    let mut list: Vec<libc::pollfd> = attempts
        .iter()
        .map(|(_, stream)| libc::pollfd {
            fd: stream.as_raw_fd(),
            events: libc::POLLOUT,
            revents: 0,
        })
        .collect();
    let milliseconds = wait.as_millis() as i32 + 1;
    // SAFETY: a list of so many. Where a signal interrupts it nothing is found, and it is asked again.
    if unsafe { libc::poll(list.as_mut_ptr(), list.len() as u64, milliseconds) } <= 0 {
        return Vec::new();
    }
    let there = list.iter().enumerate().filter(|(_, one)| one.revents != 0);
    there.map(|(at, _)| at).collect()
}

/// Sees what has come of an attempt. The other end greets within `patience`, or is somebody else.
fn finish(stream: TcpStream, me: Identity, to: u32, patience: Duration) -> io::Result<Connection> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut connection = Connection(stream);
    connection.greet(me, to, patience.max(Duration::from_millis(1)))?;
    Ok(connection)
}
