//! Clients of a plugin.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::mem::size_of;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use super::abi::{self, FunctionIndex, Opaque, Start, Text};
use super::buffer::Buffer;
use super::executable::Executable;
use super::key_value;
use super::launch::LaunchIds;
use super::step::{Queue, Step, StepFailure};
use super::table::{Padded, Table, borrowed, int, start};
use super::transfer::Transfer;
use crate::device::{ClientOption, Memory, MemoryStats};
use crate::error::{Failure, UNIMPLEMENTED};
use crate::processes::Store;

/// A client of a plugin.
pub struct Client {
    pub(super) table: Arc<Table>,
    client: Opaque,
    /// The devices of this process.
    devices: Vec<Opaque>,
    /// The devices of all processes, in the order in which programs are split over them.
    mesh: Vec<MeshDevice>,
    pub(super) queue: RefCell<Queue>,
    /// The store that the plugin's callbacks reach. It lives until the client is destroyed.
    store: Option<Box<Store>>,
}

/// A device of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshDevice {
    /// The number of the device, which differs from those of all other processes.
    pub id: i32,
    /// The position among the devices of this process. `None` for a device of another process.
    pub local: Option<usize>,
}

/// The number of runs in flight unless another is set.
const STEPS_IN_FLIGHT: usize = 2;

impl Client {
    /// Makes a client of this process, or with a store, one of several processes.
    pub fn new(
        table: &Arc<Table>,
        options: &[(&str, ClientOption)],
        store: Option<Store>,
    ) -> Result<Self, Failure> {
        let values: Vec<_> = options.iter().map(|(name, value)| named_value(name, value)).collect();
        let store = store.map(Box::new);
        let user = store.as_deref().map_or(ptr::null_mut(), |store| ptr::from_ref(store).cast_mut().cast());
        let arguments = abi::ClientCreate {
            start: start::<abi::ClientCreate>(),
            options: values.as_ptr(),
            option_count: values.len(),
            get: store.as_ref().map(|_| key_value::get as abi::KeyValueGet),
            get_user: user,
            put: store.as_ref().map(|_| key_value::put as abi::KeyValuePut),
            put_user: user,
            client: ptr::null_mut(),
            try_get: store.as_ref().map(|_| key_value::try_get as abi::KeyValueTryGet),
            try_get_user: user,
        };
        // SAFETY: the function takes these arguments. The names and values of options live until it returns. The store
        // lives until the client is destroyed, and threads may share it.
        let client = unsafe { table.call(FunctionIndex::ClientCreate, arguments) }?.client;
        let queue = RefCell::new(Queue::new(STEPS_IN_FLIGHT));
        let (devices, mesh) = (Vec::new(), Vec::new());
        let mut client = Self { table: table.clone(), client, devices, mesh, queue, store };
        // SAFETY: the function lists the devices of a client, and `client.client` is a client.
        client.devices =
            unsafe { client.table.parts(FunctionIndex::ClientAddressableDevices, client.client) }?;
        client.mesh = match &client.store {
            None => client.own_mesh()?,
            Some(store) => client.mesh_of_processes(store)?,
        };
        Ok(client)
    }

    /// The devices of this process.
    fn own_mesh(&self) -> Result<Vec<MeshDevice>, Failure> {
        (0..self.devices.len())
            .map(|device| Ok(MeshDevice { id: self.device(device)?.0, local: Some(device) }))
            .collect()
    }

    /// The devices of all processes, by their numbers. Fails unless the plugin has as many processes as the store, with
    /// the same numbers.
    fn mesh_of_processes(&self, store: &Store) -> Result<Vec<MeshDevice>, Failure> {
        let table = &self.table;
        for place in [
            FunctionIndex::ClientProcessIndex,
            FunctionIndex::ClientDevices,
            FunctionIndex::DeviceDescriptionProcessIndex,
        ] {
            table.has(place)?;
        }
        let own = self.own_mesh()?;
        let (mut mesh, mut processes) = (Vec::new(), BTreeSet::new());
        // SAFETY: the client is alive, and it owns the devices and their descriptions. The functions take these objects.
        let process = unsafe {
            for device in table.parts(FunctionIndex::ClientDevices, self.client)? {
                let description = table.make(FunctionIndex::DeviceGetDescription, device)?;
                let id = int(table.number(FunctionIndex::DeviceDescriptionId, description)?);
                let local = own.iter().find(|device| device.id == id).and_then(|device| device.local);
                mesh.push(MeshDevice { id, local });
                let process = table.number(FunctionIndex::DeviceDescriptionProcessIndex, description)?;
                processes.insert(int(process));
            }
            int(table.number(FunctionIndex::ClientProcessIndex, self.client)?)
        };
        mesh.sort_by_key(|device| device.id);
        let (found, needed) = (processes.len(), store.count());
        if found != needed || usize::try_from(process) != Ok(store.process()) {
            let text = format!(
                "it has the devices of {found} processes, needed {needed}, and takes this process for number \
                 {process}, needed {}",
                store.process()
            );
            return Err(Failure { code: UNIMPLEMENTED, text });
        }
        Ok(mesh)
    }

    /// The number of this process among those of the mesh, if there are several.
    pub fn process(&self) -> Option<usize> {
        self.store.as_ref().map(|store| store.process())
    }

    /// The devices of all processes, in the order in which programs are split over them.
    pub fn mesh(&self) -> &[MeshDevice] {
        &self.mesh
    }

    pub fn platform(&self) -> Result<[String; 2], Failure> {
        // SAFETY: the functions return texts of a client, and `self.client` is a client.
        unsafe {
            Ok([
                self.table.named(FunctionIndex::ClientPlatformName, self.client)?,
                self.table.named(FunctionIndex::ClientPlatformVersion, self.client)?,
            ])
        }
    }

    /// The version of the plugin's interface.
    pub fn version(&self) -> (i32, i32) {
        self.table.version()
    }

    /// Sets the number of runs in flight, at least 1.
    pub fn set_steps_in_flight(&self, steps: usize) {
        self.queue.borrow_mut().set_limit(steps);
    }

    /// Waits until another run may start.
    pub fn make_room(&self) {
        self.queue.borrow_mut().make_room();
    }

    /// Takes note of the runs that have ended, without waiting.
    pub fn collect(&self) {
        self.queue.borrow_mut().collect();
    }

    /// Waits for the end of a run.
    pub fn wait_for(&self, step: &Step) -> Result<(), StepFailure> {
        self.queue.borrow_mut().wait_for(step);
        step.failure().cloned().map_or(Ok(()), Err)
    }

    /// A text that changes with the plugin's file.
    pub fn plugin_file(&self) -> &str {
        &self.table.file
    }

    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// The number, kind and description of a device.
    pub fn device(&self, device: usize) -> Result<(i32, [String; 2]), Failure> {
        let table = &self.table;
        // SAFETY: the client is alive, and it owns the device and its description. The functions take these objects.
        unsafe {
            let description = table.make(FunctionIndex::DeviceGetDescription, self.devices[device])?;
            let id = int(table.number(FunctionIndex::DeviceDescriptionId, description)?);
            let kind = table.named(FunctionIndex::DeviceDescriptionKind, description)?;
            Ok((id, [kind, table.named(FunctionIndex::DeviceDescriptionToString, description)?]))
        }
    }

    pub fn memories(&self, device: usize) -> Result<Vec<Memory>, Failure> {
        let table = &self.table;
        // SAFETY: the client is alive, and it owns the device and its memories. The functions take these objects.
        unsafe {
            let memories = table.parts(FunctionIndex::DeviceAddressableMemories, self.devices[device])?;
            let memories = memories.into_iter().map(|memory| {
                let kind = table.named(FunctionIndex::MemoryKind, memory)?;
                Ok(Memory { kind, description: table.named(FunctionIndex::MemoryToString, memory)? })
            });
            memories.collect()
        }
    }

    pub fn memory_stats(&self, device: usize) -> Result<MemoryStats, Failure> {
        let none = abi::Optional { number: 0, is_set: [0; 8] };
        let device = self.devices[device];
        let arguments =
            abi::MemoryStats { start: start::<abi::MemoryStats>(), device, in_use: 0, more: [none; 10] };
        // SAFETY: the function takes these arguments. The client is alive, and it owns the device.
        let stats = unsafe { self.table.call(FunctionIndex::DeviceMemoryStats, arguments) }?;
        let [peak, .., limit] = &stats.more[..=abi::LIMIT] else { unreachable!("four were taken of ten") };
        let known = |optional: &abi::Optional| (optional.is_set[0] != 0).then_some(optional.number);
        Ok(MemoryStats { in_use: stats.in_use, peak: known(peak), limit: known(limit) })
    }

    pub fn compile(self: &Rc<Self>, text: &str, options: &[u8]) -> Result<Executable, Failure> {
        let program = Padded::new(abi::Program {
            start: start::<abi::Program>(),
            code: borrowed(text.as_bytes()),
            format: borrowed(b"mlir"),
        });
        let arguments = abi::ClientCompile {
            start: start::<abi::ClientCompile>(),
            client: self.client,
            program: &raw const program.arguments,
            options: borrowed(options),
            executable: ptr::null_mut(),
        };
        let launch_ids = match self.store {
            None => LaunchIds::OfProcess,
            Some(_) => LaunchIds::of_program(text, options),
        };
        // SAFETY: the function takes these arguments. It only reads the text and the options, which live until it
        // returns. Nothing else owns the executable.
        unsafe {
            let executable = self.table.call(FunctionIndex::ClientCompile, arguments)?.executable;
            Executable::new(self, executable, launch_ids)
        }
    }

    /// Loads a program that [`Executable::serialize`] wrote, for a client without other processes.
    pub fn load(self: &Rc<Self>, bytes: &[u8]) -> Result<Executable, Failure> {
        self.table.has(FunctionIndex::ExecutableDeserializeAndLoad)?;
        let arguments = abi::Deserialize {
            start: start::<abi::Deserialize>(),
            client: self.client,
            bytes: borrowed(bytes),
            executable: ptr::null_mut(),
            options: Text { bytes: ptr::null(), len: 0 },
        };
        // SAFETY: the function takes these arguments. It only reads the bytes, which live until it returns. Nothing
        // else owns the executable.
        unsafe {
            let arguments = self.table.call(FunctionIndex::ExecutableDeserializeAndLoad, arguments)?;
            Executable::new(self, arguments.executable, LaunchIds::OfProcess)
        }
    }

    /// Copies elements to a device. `bytes` must have the size that `extents` and the element type give.
    pub fn buffer(
        self: &Rc<Self>,
        device: usize,
        element: i32,
        extents: &[i64],
        bytes: &[u8],
    ) -> Result<Buffer, Failure> {
        // SAFETY: the plugin reads the bytes only until the call returns. The event is awaited once.
        unsafe {
            let (buffer, done) = self.put(device, element, extents, bytes, abi::ONLY_DURING_CALL)?;
            self.table.wait(done)?;
            Ok(buffer)
        }
    }

    /// Starts to copy elements to a device. They are those that `bytes` borrows from the owner, and must have the size
    /// that `extents` and the element type give. The copy keeps the owner alive.
    pub fn transfer<T: ?Sized + 'static>(
        self: &Rc<Self>,
        device: usize,
        element: i32,
        extents: &[i64],
        owner: &Rc<T>,
        bytes: impl FnOnce(&T) -> &[u8],
    ) -> Result<Transfer, Failure> {
        // SAFETY: the owner lends the bytes, so it keeps them while nothing borrows it as mutable. The copy holds a
        // pointer to it, so nothing can.
        unsafe {
            let until = abi::UNTIL_TRANSFER_COMPLETES;
            let (buffer, done) = self.put(device, element, extents, bytes(owner), until)?;
            Ok(Transfer::new(self, buffer, done, Box::new(owner.clone())))
        }
    }

    /// Starts to copy elements to a device. Returns the buffer, and the event after which the bytes are no longer read.
    ///
    /// # Safety
    /// `bytes` must have the size that `extents` and the element type give, and live as long as `semantics` needs. The
    /// caller owns the event.
    unsafe fn put(
        self: &Rc<Self>,
        device: usize,
        element: i32,
        extents: &[i64],
        bytes: &[u8],
        semantics: c_int,
    ) -> Result<(Buffer, Opaque), Failure> {
        let arguments = abi::BufferFromHost {
            start: start::<abi::BufferFromHost>(),
            client: self.client,
            data: bytes.as_ptr().cast(),
            element,
            padding: 0,
            dims: extents.as_ptr(),
            rank: extents.len(),
            byte_strides: ptr::null(),
            byte_stride_count: 0,
            semantics,
            padding_of_semantics: 0,
            device: self.devices[device],
            memory: ptr::null_mut(),
            layout: ptr::null_mut(),
            done: ptr::null_mut(),
            buffer: ptr::null_mut(),
        };
        // SAFETY: the function takes these arguments. The caller promises that the bytes are there. The device belongs
        // to the client. Nothing else owns the buffer that the function returns.
        unsafe {
            let arguments = self.table.call(FunctionIndex::ClientBufferFromHostBuffer, arguments)?;
            Ok((Buffer::new(self, arguments.buffer), arguments.done))
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.queue.borrow_mut().wait_for_all();
        // SAFETY: the client is destroyed once, after its executables and buffers, which keep it alive, and after the
        // ends of all runs. A drop cannot return an error.
        let _ = unsafe { self.table.tell(FunctionIndex::ClientDestroy, self.client) };
    }
}

fn named_value(name: &str, value: &ClientOption) -> abi::NamedValue {
    let mut bytes = [0; 8];
    let (kind, value_size) = match value {
        ClientOption::Text(text) => {
            bytes = text.as_ptr().expose_provenance().to_ne_bytes();
            (abi::STRING, text.len())
        }
        ClientOption::Int(number) => {
            bytes = number.to_ne_bytes();
            (abi::INT64, 1)
        }
        ClientOption::Float(number) => {
            bytes[..4].copy_from_slice(&number.to_ne_bytes());
            (abi::FLOAT, 1)
        }
        ClientOption::Bool(truth) => {
            bytes[0] = u8::from(*truth);
            (abi::BOOL, 1)
        }
    };
    // An option is an item of an array, so it has the exact size of the header, without zeros after it.
    let start = Start { struct_size: size_of::<abi::NamedValue>(), extension_start: ptr::null_mut() };
    abi::NamedValue { start, name: borrowed(name.as_bytes()), kind, padding: 0, value: bytes, value_size }
}
