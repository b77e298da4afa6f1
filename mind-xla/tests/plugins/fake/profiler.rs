//! The profiler of the fake plugin, whose data is the log.

use std::ffi::c_int;
use std::mem::size_of;
use std::ptr::null_mut;

use crate::abi::{self, Opaque, Text};
use crate::objects::{ERRORS, EVENTS, Error, LOG, destroyed, error, made, misused_if, text};
use crate::variant;

/// An extension that does not differ among plugins.
pub struct Fixed<T>(pub T);

unsafe impl<T> Sync for Fixed<T> {}

/// An extension that mind-xla does not know, before the one with the profiler.
pub static STREAM: Fixed<abi::Extension> = Fixed(abi::Extension {
    struct_size: size_of::<abi::Extension>(),
    kind: 3,
    padding: 0,
    next: (&raw const PROFILER.0).cast(),
});

static PROFILER: Fixed<abi::ProfilerExtension> = Fixed(abi::ProfilerExtension {
    extension: abi::Extension {
        struct_size: size_of::<abi::ProfilerExtension>(),
        kind: abi::PROFILER,
        padding: 0,
        next: std::ptr::null(),
    },
    table: &raw const PROFILER_TABLE.0,
});

static PROFILER_TABLE: Fixed<abi::ProfilerTable> = Fixed(abi::ProfilerTable {
    struct_size: size_of::<abi::ProfilerTable>(),
    private: null_mut(),
    functions: abi::ProfilerFunctions {
        error_destroy: profiler_error_destroy,
        error_message: profiler_error_message,
        error_code: profiler_error_code,
        create: profiler_create,
        destroy: profiler_destroy,
        start: profiler_start,
        stop: profiler_stop,
        collect: profiler_collect,
    },
});

/// A profiler. It counts as an event.
struct Profiler {
    is_running: bool,
    data: Vec<u8>,
}

unsafe extern "C" fn profiler_error_destroy(given: Opaque) {
    unsafe { destroyed::<Error>((*given.cast::<abi::ProfilerError>()).error, &ERRORS) };
}

unsafe extern "C" fn profiler_error_message(given: Opaque) {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerError>() };
    arguments.message = text(unsafe { &(*arguments.error.cast::<Error>()).text });
}

unsafe extern "C" fn profiler_error_code(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerError>() };
    let code = unsafe { (*arguments.error.cast::<Error>()).code };
    unsafe { (&raw mut arguments.message).cast::<c_int>().write(code) };
    null_mut()
}

unsafe extern "C" fn profiler_create(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerCreate>() };
    let options = unsafe { std::slice::from_raw_parts(arguments.options.bytes.cast::<u8>(), arguments.options.len) };
    if variant() == b"busy" {
        return error(9, "another profiler runs");
    }
    arguments.profiler = made(Profiler { is_running: false, data: options.to_vec() }, &EVENTS);
    null_mut()
}

unsafe fn profiler<'a>(given: Opaque) -> (&'a mut abi::ProfilerCall, &'a mut Profiler) {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerCall>() };
    let profiler = unsafe { &mut *arguments.profiler.cast::<Profiler>() };
    (arguments, profiler)
}

unsafe extern "C" fn profiler_destroy(given: Opaque) -> Opaque {
    let (arguments, profiler) = unsafe { profiler(given) };
    misused_if(profiler.is_running);
    unsafe { destroyed::<Profiler>(arguments.profiler, &EVENTS) }
}

unsafe extern "C" fn profiler_start(given: Opaque) -> Opaque {
    unsafe { profiler(given) }.1.is_running = true;
    null_mut()
}

unsafe extern "C" fn profiler_stop(given: Opaque) -> Opaque {
    let (_, profiler) = unsafe { profiler(given) };
    misused_if(!profiler.is_running);
    profiler.is_running = false;
    null_mut()
}

/// The data has the log, and counts a zero byte after it, as real plugins do.
unsafe extern "C" fn profiler_collect(given: Opaque) -> Opaque {
    let (arguments, profiler) = unsafe { profiler(given) };
    misused_if(profiler.is_running);
    let log = LOG.text();
    profiler.data = [&[0x0a, log.len() as u8][..], log.as_bytes(), &[0]].concat();
    arguments.data = Text { bytes: profiler.data.as_ptr().cast(), len: profiler.data.len() };
    null_mut()
}
