//! The calls of the fake plugin to the store of several processes.

use std::ffi::{c_char, c_int};
use std::mem::size_of;
use std::ptr::null_mut;

use crate::abi::{self, KeyValueGet, KeyValuePut, KeyValueTryGet, MakeError, Opaque, OwnedValue, Start, Text};
use crate::objects::{ERRORS, Error, destroyed, error, text};

/// The callbacks of a client that is one of several.
#[derive(Clone)]
pub struct Processes {
    pub process: i64,
    pub count: i64,
    /// The time limit for a key in milliseconds.
    pub limit: i64,
    get: KeyValueGet,
    try_get: KeyValueTryGet,
    put: KeyValuePut,
    /// The address of the user's object.
    user: usize,
}

/// An error of a callback, with its code.
pub struct Refusal(pub c_int, pub String);

static MAKE_ERROR: MakeError = make_error;

unsafe extern "C" fn make_error(code: c_int, message: *const c_char, len: usize) -> Opaque {
    let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), len) };
    error(code, &String::from_utf8_lossy(message))
}

impl Processes {
    /// The callbacks of a new client, if it has them.
    pub fn new(given: &abi::ClientCreate, process: i64, count: i64, limit: i64) -> Option<Self> {
        let (get, try_get, put) = (given.get?, given.try_get?, given.put?);
        let user = given.get_user.expose_provenance();
        let same = [given.put_user, given.try_get_user].iter().all(|other| other.addr() == user);
        same.then_some(Self { process, count, limit, get, try_get, put, user })
    }

    fn user(&self) -> Opaque {
        std::ptr::with_exposed_provenance_mut(self.user)
    }

    pub fn put(&self, key: &str, value: &str) -> Result<(), Refusal> {
        let start = start::<abi::KeyValuePutArguments>();
        let (key, value, make_error) = (text(key), text(value), &raw const MAKE_ERROR);
        let mut arguments = abi::KeyValuePutArguments { start, key, value, make_error, user: self.user() };
        answer(unsafe { (self.put)(&raw mut arguments) })
    }

    pub fn get(&self, key: &str, limit: i64) -> Result<String, Refusal> {
        let mut arguments = abi::KeyValueGetArguments {
            start: start::<abi::KeyValueGetArguments>(),
            key: text(key),
            timeout_ms: limit as c_int,
            padding: 0,
            make_error: &raw const MAKE_ERROR,
            user: self.user(),
            value: NO_VALUE,
        };
        answer(unsafe { (self.get)(&raw mut arguments) })?;
        Ok(taken(arguments.value))
    }

    pub fn try_get(&self, key: &str) -> Result<String, Refusal> {
        let mut arguments = abi::KeyValueTryGetArguments {
            start: start::<abi::KeyValueTryGetArguments>(),
            key: text(key),
            make_error: &raw const MAKE_ERROR,
            user: self.user(),
            value: NO_VALUE,
        };
        answer(unsafe { (self.try_get)(&raw mut arguments) })?;
        Ok(taken(arguments.value))
    }

    /// The values of all processes for the key `name`.
    pub fn exchange(&self, name: &str, value: &str) -> Result<Vec<String>, Refusal> {
        self.put(&format!("{name}/{}", self.process), value)?;
        (0..self.count).map(|process| self.get(&format!("{name}/{process}"), self.limit)).collect()
    }

    /// Does what a script says, such as `put a 1, get b 100, try c`, and tells the results.
    pub fn run(&self, script: &str) -> String {
        let lines = script.split(", ").map(|command| {
            let words: Vec<&str> = command.split(' ').collect();
            let result = match *words {
                ["put", key, value] => self.put(key, value).map(|()| "done".to_owned()),
                ["get", key, limit] => self.get(key, limit.parse().expect("a limit is a number")),
                ["try", key] => self.try_get(key),
                _ => panic!("no such command: {command}"),
            };
            let result = result.unwrap_or_else(|Refusal(code, text)| format!("error {code}: {text}"));
            format!("{command}: {result}")
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

const NO_VALUE: OwnedValue = OwnedValue { bytes: null_mut(), len: 0, delete: None };

const fn start<A>() -> Start {
    Start { struct_size: size_of::<A>(), extension_start: null_mut() }
}

/// Copies a value and deletes it.
fn taken(value: OwnedValue) -> String {
    let Text { bytes, len } = Text { bytes: value.bytes, len: value.len };
    let copied = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) }.to_vec();
    unsafe { value.delete.expect("a value has a function that deletes it")(value.bytes) };
    String::from_utf8(copied).expect("the plugin put texts")
}

fn answer(found: Opaque) -> Result<(), Refusal> {
    if found.is_null() {
        return Ok(());
    }
    let (code, text) = unsafe { ((*found.cast::<Error>()).code, (*found.cast::<Error>()).text.clone()) };
    unsafe { destroyed::<Error>(found, &ERRORS) };
    Err(Refusal(code, text))
}
