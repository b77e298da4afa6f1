//! The callbacks by which a plugin reaches the store of several processes. Threads of the plugin call them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_char;
use std::ptr;
use std::time::Duration;

use super::abi::{
    KeyValueGetArguments, KeyValuePutArguments, KeyValueTryGetArguments, MakeError, Opaque, OwnedValue,
};
use super::table::copied_bytes;
use crate::error::Failure;
use crate::processes::Store;

/// Gives the plugin the value of a key, once a process has put it.
///
/// # Safety
/// The arguments must be as the header says, and `user` must point to a [`Store`] that lives until the function returns.
pub(super) unsafe extern "C" fn get(arguments: *mut KeyValueGetArguments) -> Opaque {
    // SAFETY: the caller promises it. No other reference to the arguments exists while the function runs.
    unsafe {
        let arguments = &mut *arguments;
        let store = &*arguments.user.cast::<Store>();
        let limit = Duration::from_millis(u64::try_from(arguments.timeout_ms).unwrap_or(0));
        let value = store.get(&copied_bytes(arguments.key), limit);
        returned(value, &mut arguments.value, arguments.make_error)
    }
}

/// Gives the plugin the value of a key, if a process has put it.
///
/// # Safety
/// As [`get`].
pub(super) unsafe extern "C" fn try_get(arguments: *mut KeyValueTryGetArguments) -> Opaque {
    // SAFETY: the caller promises it. No other reference to the arguments exists while the function runs.
    unsafe {
        let arguments = &mut *arguments;
        let value = (*arguments.user.cast::<Store>()).try_get(&copied_bytes(arguments.key));
        returned(value, &mut arguments.value, arguments.make_error)
    }
}

/// Puts a key of the plugin.
///
/// # Safety
/// As [`get`].
pub(super) unsafe extern "C" fn put(arguments: *mut KeyValuePutArguments) -> Opaque {
    // SAFETY: the caller promises it.
    unsafe {
        let arguments = &*arguments;
        let (key, value) = (copied_bytes(arguments.key), copied_bytes(arguments.value));
        match (*arguments.user.cast::<Store>()).put(&key, &value) {
            Ok(_) => ptr::null_mut(),
            Err(failure) => error(&failure, arguments.make_error),
        }
    }
}

/// Writes a value to the arguments, or returns an error.
///
/// # Safety
/// `make_error` must point to a function of the plugin.
unsafe fn returned(
    value: Result<Vec<u8>, Failure>,
    to: &mut OwnedValue,
    make_error: *const MakeError,
) -> Opaque {
    match value {
        Ok(value) => {
            *to = OwnedValue { bytes: allocated(&value), len: value.len(), delete: Some(delete) };
            ptr::null_mut()
        }
        // SAFETY: the caller promises it.
        Err(failure) => unsafe { error(&failure, make_error) },
    }
}

/// Makes an error of the plugin.
///
/// # Safety
/// `make_error` must point to a function of the plugin.
unsafe fn error(failure: &Failure, make_error: *const MakeError) -> Opaque {
    // SAFETY: the caller promises it. The function copies the text.
    unsafe { (*make_error)(failure.code, failure.text.as_ptr().cast(), failure.text.len()) }
}

/// The size of the number before a value in memory. It is the length, which [`delete`] needs.
const HEAD: usize = size_of::<usize>();

/// Copies a value to memory that [`delete`] frees.
fn allocated(value: &[u8]) -> *mut c_char {
    let layout = layout(value.len());
    // SAFETY: the memory has room for the head and the value, and is aligned for the head. Its size is not 0.
    unsafe {
        let memory = alloc(layout);
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        memory.cast::<usize>().write(value.len());
        let bytes = memory.add(HEAD);
        ptr::copy_nonoverlapping(value.as_ptr(), bytes, value.len());
        bytes.cast()
    }
}

/// Frees a value.
///
/// # Safety
/// The value must be null or one of [`allocated`], and is not used any more.
unsafe extern "C" fn delete(value: *mut c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: the caller promises it, so the memory starts with the length of the value.
    unsafe {
        let memory = value.cast::<u8>().sub(HEAD);
        let len = memory.cast::<usize>().read();
        dealloc(memory, layout(len));
    }
}

/// The memory of a value. Values come in answers of at most 64 MiB, or they are texts of this process.
fn layout(len: usize) -> Layout {
    Layout::from_size_align(HEAD + len, align_of::<usize>()).expect("a value has at most 64 MiB")
}
