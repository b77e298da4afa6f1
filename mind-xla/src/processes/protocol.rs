//! The messages between a process and the server of the store.
//!
//! A connection starts with [`MAGIC`] and one request. Integers have 64 bits, lowest byte first. Texts and values follow
//! their length. The answer is a code, 0 for success, and bytes: a value, or the message of an error.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::{DEADLINE_EXCEEDED, Failure, INVALID_ARGUMENT, UNAVAILABLE};

/// The first bytes of a connection, which exclude clients of other protocols.
const MAGIC: &[u8; 8] = b"mind-kv1";

/// The byte that a process sends when it leaves.
pub const LEAVE: u8 = 1;

/// The time that an answer may take beyond the limit of its request, and the time to receive a request.
pub const GRACE: Duration = Duration::from_secs(5);

/// The largest key and the largest value, in bytes.
pub const LARGEST: [u64; 2] = [1 << 12, 1 << 26];

/// A request to the server.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// The process is there, and stays until the connection ends.
    Arrive { process: usize, count: usize },
    /// Waits for the value of a key.
    Get { key: Vec<u8>, limit: Duration },
    /// Returns the value of a key if it is there.
    TryGet { key: Vec<u8> },
    /// Sets the value of a key.
    Put { key: Vec<u8>, value: Vec<u8> },
}

/// An answer: a value or an error.
pub type Answer = Result<Vec<u8>, Failure>;

/// Connects to an address, once.
pub fn connect(address: &str, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the address has no host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(until)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Sends a request and waits for its answer.
pub fn ask(stream: &mut TcpStream, request: &Request, until: Instant) -> Answer {
    let mut exchange = || -> io::Result<Answer> {
        stream.set_write_timeout(Some(left(until)))?;
        stream.write_all(&request.encoded())?;
        stream.set_read_timeout(Some(left(until)))?;
        read_answer(stream)
    };
    exchange().unwrap_or_else(|error| Err(lost(&error)))
}

/// Tells the server that the process of this connection leaves.
pub fn leave(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[LEAVE])
}

/// The failure of a connection to the server.
pub fn lost(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Failure { code: DEADLINE_EXCEEDED, text: "process 0 does not answer".into() }
        }
        _ => Failure { code: UNAVAILABLE, text: format!("process 0, which serves keys, is gone: {error}") },
    }
}

/// The time until an instant. It is never zero, which sockets refuse.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

impl Request {
    fn encoded(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
        match self {
            Self::Arrive { process, count } => [0, *process as u64, *count as u64].map(number),
            Self::Get { key, limit } => {
                [1, u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), key.len() as u64].map(number)
            }
            Self::TryGet { key } => [2, 0, key.len() as u64].map(number),
            Self::Put { key, value } => [3, value.len() as u64, key.len() as u64].map(number),
        };
        match self {
            Self::Arrive { .. } => {}
            Self::Get { key, .. } | Self::TryGet { key } => bytes.extend_from_slice(key),
            Self::Put { key, value } => bytes.extend([key, value].into_iter().flatten()),
        }
        bytes
    }

    /// Reads a request. Returns `None` if the connection is not one of this protocol.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Result<Self, Failure>>> {
        let mut magic = [0; 8];
        stream.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Ok(None);
        }
        let [kind, number, len] = [read_number(stream)?, read_number(stream)?, read_number(stream)?];
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if kind == 0 {
            return Ok(Some(Ok(Self::Arrive { process: size(number), count: size(len) })));
        }
        if len > LARGEST[0] || kind == 3 && number > LARGEST[1] {
            return Ok(Some(Err(too_large())));
        }
        let key = read_bytes(stream, size(len))?;
        Ok(match kind {
            1 => Some(Ok(Self::Get { key, limit: Duration::from_millis(number) })),
            2 => Some(Ok(Self::TryGet { key })),
            3 => Some(Ok(Self::Put { key, value: read_bytes(stream, size(number))? })),
            _ => None,
        })
    }
}

/// The failure of a key or a value that is too large.
pub fn too_large() -> Failure {
    let [key, value] = LARGEST;
    let text = format!("a key has at most {key} bytes, and a value {value}");
    Failure { code: INVALID_ARGUMENT, text }
}

/// Writes an answer.
pub fn answer(stream: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let (code, bytes) = match answer {
        Ok(value) => (0, &**value),
        Err(failure) => (failure.code, failure.text.as_bytes()),
    };
    let head = [u64::from(code.unsigned_abs()), bytes.len() as u64].map(u64::to_le_bytes);
    stream.write_all(&[head.as_flattened(), bytes].concat())
}

fn read_answer(stream: &mut impl Read) -> io::Result<Answer> {
    let [code, len] = [read_number(stream)?, read_number(stream)?];
    if len > LARGEST[1] {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it sends something else than answers"));
    }
    let bytes = read_bytes(stream, usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok(match i32::try_from(code).unwrap_or(UNAVAILABLE) {
        0 => Ok(bytes),
        code => Err(Failure { code, text: String::from_utf8_lossy(&bytes).into_owned() }),
    })
}

fn read_number(stream: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads bytes, of which the caller has bounded the number.
fn read_bytes(stream: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<Result<Request, i32>> {
        let read = Request::read(&mut &*bytes).ok()?;
        read.map(|request| request.map_err(|failure| failure.code))
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let (key, value) = (b"cuda:0".to_vec(), vec![7; 300]);
        for request in [
            Request::Arrive { process: 3, count: 8 },
            Request::Get { key: key.clone(), limit: Duration::from_millis(1500) },
            Request::TryGet { key: Vec::new() },
            Request::Put { key, value },
        ] {
            let bytes = request.encoded();
            assert!(read(&bytes[..bytes.len() - 1]).is_none(), "{request:?} is cut");
            assert_eq!(read(&bytes), Some(Ok(request)));
        }
    }

    #[test]
    fn other_protocols_and_large_sizes_are_refused_before_memory_is_taken() {
        assert_eq!(read(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), None);
        let with = |numbers: [u64; 3]| [&MAGIC[..], numbers.map(u64::to_le_bytes).as_flattened()].concat();
        assert_eq!(read(&with([4, 0, 0])), None);
        assert_eq!(read(&with([2, 0, u64::MAX])), Some(Err(INVALID_ARGUMENT)));
        assert_eq!(read(&with([3, u64::MAX, 1])), Some(Err(INVALID_ARGUMENT)));
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        for text in ["", "a value"] {
            let mut bytes = Vec::new();
            answer(&mut bytes, &Ok(text.into())).expect("a list takes bytes");
            assert_eq!(
                read_answer(&mut &*bytes).expect("it is whole").expect("it is a value"),
                text.as_bytes()
            );
            bytes.clear();
            answer(&mut bytes, &Err(Failure { code: 5, text: text.into() })).expect("a list takes bytes");
            let failure = read_answer(&mut &*bytes).expect("it is whole").expect_err("it is an error");
            assert_eq!((failure.code, &*failure.text), (5, text));
        }
    }
}
