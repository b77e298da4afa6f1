//! Programs that a client compiled, and their runs.

use std::ptr;
use std::rc::Rc;

use super::abi::{self, FunctionIndex, Opaque, Text};
use super::buffer::Buffer;
use super::client::Client;
use super::launch::LaunchIds;
use super::step::Step;
use super::table::{Padded, copied_bytes, start};
use crate::device::ProgramMemory;
use crate::error::Failure;

/// A program that a client compiled.
pub struct Executable {
    client: Rc<Client>,
    executable: Opaque,
    launch_ids: LaunchIds,
    results: usize,
}

impl Executable {
    /// Takes ownership of an executable, and counts its results.
    ///
    /// # Safety
    /// The executable must be one of the client, which nothing else owns.
    pub(super) unsafe fn new(
        client: &Rc<Client>,
        executable: Opaque,
        launch_ids: LaunchIds,
    ) -> Result<Self, Failure> {
        let mut executable = Self { client: client.clone(), executable, launch_ids, results: 0 };
        // SAFETY: the function takes an executable of this kind.
        let results = executable
            .with_inner(|inner| unsafe { client.table.number(FunctionIndex::ExecutableNumOutputs, inner) })?;
        executable.results = usize::from_ne_bytes(results);
        Ok(executable)
    }

    /// Passes the part of the executable that is independent of devices to a function, and destroys it afterwards.
    fn with_inner<T>(&self, action: impl FnOnce(Opaque) -> Result<T, Failure>) -> Result<T, Failure> {
        let table = &self.client.table;
        // SAFETY: the function takes a loaded executable.
        let inner = unsafe { table.make(FunctionIndex::LoadedExecutableGetExecutable, self.executable) }?;
        let done = action(inner);
        // SAFETY: `inner` is destroyed once, after its use.
        unsafe { table.tell(FunctionIndex::ExecutableDestroy, inner) }?;
        done
    }

    /// The program as bytes, which [`Client::load`] reads.
    pub fn serialize(&self) -> Result<Vec<u8>, Failure> {
        let table = &self.client.table;
        table.has(FunctionIndex::ExecutableSerialize)?;
        self.with_inner(|executable| {
            let arguments = abi::Serialize {
                start: start::<abi::Serialize>(),
                executable,
                bytes: Text { bytes: ptr::null(), len: 0 },
                owner: ptr::null_mut(),
                delete: None,
            };
            // SAFETY: the function takes these arguments. The bytes live until their owner is deleted, which happens
            // once, after they are copied.
            unsafe {
                let abi::Serialize { bytes, owner, delete, .. } =
                    table.call(FunctionIndex::ExecutableSerialize, arguments)?;
                let copied = copied_bytes(bytes);
                if let Some(delete) = delete {
                    delete(owner);
                }
                Ok(copied)
            }
        })
    }

    /// The memory that the program needs on a device.
    pub fn memory(&self) -> Result<ProgramMemory, Failure> {
        let place = FunctionIndex::ExecutableGetCompiledMemoryStats;
        self.client.table.has(place)?;
        self.with_inner(|executable| {
            let arguments = abi::CompiledMemoryStats {
                start: start::<abi::CompiledMemoryStats>(),
                executable,
                on_device: [0; 5],
                on_host: [0; 5],
                peak: 0,
            };
            // SAFETY: the function takes these arguments.
            let stats = unsafe { self.client.table.call(place, arguments) }?;
            let [code, arguments, results, reused, temporaries] = stats.on_device;
            let peak = (stats.peak > 0).then_some(stats.peak);
            Ok(ProgramMemory { code, arguments, results, reused, temporaries, peak })
        })
    }

    /// The number of results.
    pub const fn results(&self) -> usize {
        self.results
    }

    /// Starts the program. Takes a list of arguments and returns a list of results per device. The results are there
    /// once the run has ended. `earlier` are the runs whose results are among the arguments.
    pub fn start(
        &self,
        arguments: &[Vec<&Buffer>],
        mut earlier: Vec<Rc<Step>>,
    ) -> Result<(Vec<Vec<Buffer>>, Rc<Step>), Failure> {
        let table = &self.client.table;
        let count = arguments.first().map_or(0, Vec::len);
        assert!(
            arguments.iter().all(|list| list.len() == count),
            "all devices have the same number of arguments"
        );
        let lists = arguments.iter().map(|list| list.iter().map(|buffer| buffer.object()).collect());
        let lists: Vec<Vec<Opaque>> = lists.collect();
        let argument_lists: Vec<*const Opaque> = lists.iter().map(Vec::as_ptr).collect();
        let mut results = vec![vec![ptr::null_mut(); self.results]; arguments.len()];
        let result_lists: Vec<*mut Opaque> = results.iter_mut().map(Vec::as_mut_ptr).collect();
        let mut events = vec![ptr::null_mut(); arguments.len()];
        let mut options = Padded::new(abi::ExecuteOptions {
            start: start::<abi::ExecuteOptions>(),
            callbacks: [ptr::null_mut(); 2],
            callback_counts: [0; 2],
            launch: self.launch_ids.next(),
            padding: 0,
            kept: ptr::null(),
            kept_count: 0,
            context: ptr::null_mut(),
            call_location: ptr::null(),
            task_count: 0,
            tasks: [ptr::null_mut(); 2],
        });
        let execute = abi::Execute {
            start: start::<abi::Execute>(),
            executable: self.executable,
            options: (&raw mut options).cast(),
            arguments: argument_lists.as_ptr(),
            device_count: arguments.len(),
            argument_count: count,
            results: result_lists.as_ptr(),
            events: events.as_mut_ptr(),
            device: ptr::null_mut(),
        };
        // SAFETY: the function takes these arguments. For each device, it reads a list of live buffers, and writes
        // `self.results` results and one event. All lists live until it returns.
        let ran = unsafe { table.call(FunctionIndex::LoadedExecutableExecute, execute) };
        // Takes ownership of all results first, so that a later error does not leak them.
        // SAFETY: the function wrote these buffers, and nothing else owns them.
        let own = |buffer: &Opaque| unsafe { Buffer::new(&self.client, *buffer) };
        let results =
            results.iter().map(|list| list.iter().filter(|buffer| !buffer.is_null()).map(own).collect());
        let results: Vec<Vec<Buffer>> = results.collect();
        ran?;
        earlier.retain(|step| !step.has_ended());
        // SAFETY: a successful call returned these events, and nothing else owns them.
        let step = Rc::new(unsafe { Step::new(table, self.executable, events, earlier) });
        self.client.queue.borrow_mut().push(step.clone());
        if results.iter().any(|list| list.len() != self.results) {
            return Err(Failure { code: 0, text: "it gave no buffer for a result".into() });
        }
        Ok((results, step))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.client.queue.borrow_mut().wait_for_all_of(self.executable);
        // SAFETY: the executable is destroyed once, before its client and after its runs. A drop cannot return an error.
        let _ = unsafe { self.client.table.tell(FunctionIndex::LoadedExecutableDestroy, self.executable) };
    }
}
