//! The server of the store, which runs on threads of process 0.

use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::protocol::{self, Answer, GRACE, LEAVE, Request};
use crate::error::{ALREADY_EXISTS, DEADLINE_EXCEEDED, Failure, INVALID_ARGUMENT, NOT_FOUND, UNAVAILABLE};

/// A server that runs until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
}

struct Shared {
    count: usize,
    /// The end of the time in which the processes meet.
    until: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    values: HashMap<Vec<u8>, Vec<u8>>,
    processes: Vec<Presence>,
    /// The reason why the processes cannot meet.
    refusal: Option<String>,
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    Absent,
    There,
    Left,
    /// The connection ended, and the process did not say that it leaves.
    Lost,
}

impl Server {
    /// Listens at an address, and answers on threads.
    pub fn start(address: &str, count: usize, until: Instant) -> Result<Self, String> {
        let listener = TcpListener::bind(address).map_err(|error| format!("cannot listen there: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let processes = vec![Presence::Absent; count];
        let state = State { values: HashMap::new(), processes, refusal: None, has_ended: false };
        let shared = Arc::new(Shared { count, until, state: Mutex::new(state), changed: Condvar::new() });
        let server = Self { shared: shared.clone(), address };
        let spawned = thread::Builder::new().name("mind-kv".into()).spawn(move || shared.listen(&listener));
        spawned.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(server)
    }

    /// Waits until all other processes have left or are lost, at most for `limit`.
    pub fn wait_for_others(&self, limit: Duration) {
        let is_there = |state: &mut State| state.processes[1..].contains(&Presence::There);
        drop(self.shared.changed.wait_timeout_while(self.shared.lock(), limit, is_there));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.lock().has_ended = true;
        self.shared.changed.notify_all();
        // Wakes the thread that listens, which then ends. Without it, the thread waits for a connection.
        drop(TcpStream::connect_timeout(&self.address, GRACE));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.lock().has_ended {
                return;
            }
            let Ok(stream) = stream else { continue };
            let shared = self.clone();
            // Without a thread, the connection is closed, which is an error of the request.
            drop(thread::Builder::new().name("mind-kv".into()).spawn(move || shared.serve(stream)));
        }
    }

    /// Answers the request of a connection. Errors of the connection concern only the process at its other end.
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GRACE))?;
        stream.set_write_timeout(Some(GRACE))?;
        let Some(request) = Request::read(&mut stream)? else { return Ok(()) };
        let given = match request {
            Ok(Request::Arrive { process, count }) => return self.stay(stream, process, count),
            Ok(Request::Get { key, limit }) => self.get(&key, limit),
            Ok(Request::TryGet { key }) => {
                let found = self.lock().values.get(&key).cloned();
                found.ok_or_else(|| failure(NOT_FOUND, format!("no process has put `{}`", shown(&key))))
            }
            Ok(Request::Put { key, value }) => self.put(key, value),
            Err(failure) => Err(failure),
        };
        protocol::answer(&mut stream, &given)?;
        stream.shutdown(Shutdown::Write)
    }

    /// Answers once all processes are there, and waits for the end of the connection.
    fn stay(&self, mut stream: TcpStream, process: usize, count: usize) -> io::Result<()> {
        if let Err(refusal) = self.arrive(process, count) {
            return protocol::answer(&mut stream, &Err(failure(INVALID_ARGUMENT, refusal)));
        }
        let met = self.meet();
        let is_refused = met.is_err();
        let mut end = [0];
        let said = protocol::answer(&mut stream, &met)
            .and_then(|()| stream.set_read_timeout(None))
            .and_then(|()| if is_refused { Ok(1) } else { stream.read(&mut end) });
        let has_left = is_refused || matches!(said, Ok(1)) && end == [LEAVE];
        self.lock().processes[process] = if has_left { Presence::Left } else { Presence::Lost };
        self.changed.notify_all();
        Ok(())
    }

    /// Notes that a process is there.
    fn arrive(&self, process: usize, count: usize) -> Result<(), String> {
        let mut state = self.lock();
        let refusal = if count != self.count {
            format!("process {process} is one of {count} processes, and process 0 one of {}", self.count)
        } else if state.processes.get(process).is_none_or(|presence| *presence != Presence::Absent) {
            format!("two processes have the number {process}")
        } else {
            state.processes[process] = Presence::There;
            self.changed.notify_all();
            return Ok(());
        };
        state.refusal.get_or_insert_with(|| refusal.clone());
        self.changed.notify_all();
        Err(refusal)
    }

    /// Waits until all processes are there.
    fn meet(&self) -> Answer {
        let waits = |state: &mut State| {
            state.refusal.is_none() && !state.has_ended && state.processes.contains(&Presence::Absent)
        };
        let limit = self.until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.lock(), limit, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let absent = numbers(&state.processes, Presence::Absent);
        if !absent.is_empty() {
            let text = format!("of {} processes, {absent} did not come in time", self.count);
            state.refusal.get_or_insert(text);
        }
        match &state.refusal {
            Some(refusal) => Err(failure(DEADLINE_EXCEEDED, refusal.clone())),
            None => Ok(Vec::new()),
        }
    }

    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> Answer {
        let mut state = self.lock();
        if state.values.contains_key(&key) {
            return Err(failure(ALREADY_EXISTS, format!("`{}` was put before", shown(&key))));
        }
        state.values.insert(key, value);
        self.changed.notify_all();
        Ok(Vec::new())
    }

    /// Waits until a process has put the key.
    fn get(&self, key: &[u8], limit: Duration) -> Answer {
        let may_come = |state: &State| {
            !state.has_ended
                && !state.processes.contains(&Presence::Lost)
                && state.processes.contains(&Presence::There)
        };
        let waits = |state: &mut State| !state.values.contains_key(key) && may_come(state);
        let waited = self.changed.wait_timeout_while(self.lock(), limit, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = state.values.get(key) {
            return Ok(value.clone());
        }
        let key = shown(key);
        let lost = numbers(&state.processes, Presence::Lost);
        Err(if !lost.is_empty() {
            failure(UNAVAILABLE, format!("{lost} is lost, and no process has put `{key}`"))
        } else if may_come(&state) {
            failure(DEADLINE_EXCEEDED, format!("no process has put `{key}` within {} ms", limit.as_millis()))
        } else {
            failure(UNAVAILABLE, format!("the processes have left, and none has put `{key}`"))
        })
    }
}

fn failure(code: i32, text: String) -> Failure {
    Failure { code, text }
}

/// The processes with this presence, such as `process 1, process 3`. Empty if there are none.
fn numbers(processes: &[Presence], presence: Presence) -> String {
    let found = processes.iter().enumerate().filter(|(_, found)| **found == presence);
    let found: Vec<_> = found.map(|(process, _)| format!("process {process}")).collect();
    found.join(", ")
}

fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}
