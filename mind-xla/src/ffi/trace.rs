//! Traces by the profiler of a plugin.

use std::ffi::c_int;
use std::mem::size_of;
use std::ptr;
use std::sync::Arc;

use super::abi::{Function, Opaque, ProfilerCall, ProfilerCreate, ProfilerError, ProfilerFunctions, Text};
use super::table::{Table, borrowed, copied, copied_bytes};
use crate::error::{Failure, UNIMPLEMENTED};

/// The message `ProfileOptions` of `profiler_options.proto`: its version 1, the host's events of level 2, the devices'
/// events, and the programs.
const OPTIONS: [u8; 8] = [5 << 3, 1, 2 << 3, 2, 3 << 3, 1, 7 << 3, 1];

/// A trace that was started. Dropping it stops it.
pub struct Trace {
    _table: Arc<Table>,
    functions: ProfilerFunctions,
    profiler: Opaque,
    is_running: bool,
}

impl Trace {
    pub fn start(table: &Arc<Table>) -> Result<Self, Failure> {
        let functions = table
            .profiler
            .ok_or_else(|| Failure { code: UNIMPLEMENTED, text: "it has no profiler".into() })?;
        let none = ptr::null_mut();
        let arguments = ProfilerCreate {
            struct_size: size_of::<ProfilerCreate>(),
            options: borrowed(&OPTIONS),
            profiler: none,
        };
        // SAFETY: the function takes these arguments, and reads the options only until it returns.
        let profiler = unsafe { call(functions, functions.create, arguments) }?.profiler;
        let mut trace = Self { _table: table.clone(), functions, profiler, is_running: false };
        trace.call(functions.start)?;
        trace.is_running = true;
        Ok(trace)
    }

    /// Stops the trace and returns its events, a message `XSpace`.
    pub fn stop(mut self) -> Result<Vec<u8>, Failure> {
        self.is_running = false;
        self.call(self.functions.stop)?;
        let found = self.call(self.functions.collect)?.data;
        // SAFETY: given no memory, the function returns data that the profiler owns, and its size.
        Ok(unsafe { copied_bytes(found) })
    }

    /// Calls a function with the profiler.
    fn call(&self, function: Function) -> Result<ProfilerCall, Failure> {
        let data = Text { bytes: ptr::null(), len: 0 };
        let arguments =
            ProfilerCall { struct_size: size_of::<ProfilerCall>(), profiler: self.profiler, data };
        // SAFETY: the functions with a profiler take these arguments, and the profiler is not yet destroyed.
        unsafe { call(self.functions, function, arguments) }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // There is nothing to do about an error.
        if self.is_running {
            let _ = self.call(self.functions.stop);
        }
        let _ = self.call(self.functions.destroy);
    }
}

/// Calls a function of a profiler, and returns the arguments as the function left them.
///
/// # Safety
/// The function must take arguments of type `A`, whose pointers must be valid for what the function does.
unsafe fn call<A>(functions: ProfilerFunctions, function: Function, mut arguments: A) -> Result<A, Failure> {
    // SAFETY: the caller promises that the function takes these arguments.
    let error = unsafe { function((&raw mut arguments).cast()) };
    if error.is_null() { Ok(arguments) } else { Err(failure(functions, error)) }
}

/// Reads the message and the code of an error, and destroys the error.
fn failure(functions: ProfilerFunctions, error: Opaque) -> Failure {
    let arguments = || ProfilerError {
        struct_size: size_of::<ProfilerError>(),
        private: ptr::null_mut(),
        error,
        message: Text { bytes: ptr::null(), len: 0 },
    };
    let [mut message, mut code, mut gone] = [(); 3].map(|()| arguments());
    // SAFETY: the functions take these arguments. The error is destroyed once, after its message is copied. The code is
    // in the bytes where the message has its address.
    unsafe {
        (functions.error_message)((&raw mut message).cast());
        let text = copied(message.message);
        let second = (functions.error_code)((&raw mut code).cast());
        let code = if second.is_null() { (&raw const code.message).cast::<c_int>().read() } else { 0 };
        (functions.error_destroy)((&raw mut gone).cast());
        Failure { code, text }
    }
}
