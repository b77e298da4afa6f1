//! Batches on their way to the devices.

use std::array;
use std::fmt;
use std::iter::Fuse;
use std::rc::Rc;

use mind_rt::Parameters;

use crate::error::{Error, Failure};
use crate::executable::Executable;
use crate::ffi::{self, Transfer, bytes_of};
use crate::layout::{Layout, LocalDevice};
use crate::parameters::OnDevices;
use crate::tensor::DeviceTensor;

/// The values of a batch, one for each of `N` arguments: a tuple of up to six tensors or structs, or an array of shared
/// ones.
pub trait Batch<const N: usize> {
    /// The values, in order. The loader reads them until their copies have ended.
    fn values(self) -> [Rc<dyn Parameters>; N];
}

impl<const N: usize> Batch<N> for [Rc<dyn Parameters>; N] {
    fn values(self) -> [Rc<dyn Parameters>; N] {
        self
    }
}

macro_rules! tuples {
    ($($count:literal: $($value:ident)*;)*) => { $(
        impl<$($value: Parameters + 'static),*> Batch<$count> for ($($value,)*) {
            fn values(self) -> [Rc<dyn Parameters>; $count] {
                #[allow(non_snake_case, reason = "the names of types serve for values")]
                let ($($value,)*) = self;
                [$(Rc::new($value)),*]
            }
        }
    )* };
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
}

/// An iterator that copies batches to the devices, made by [`Executable::loader`].
///
/// Each item has the values of a batch on the devices, for [`Call::lend`](crate::Call::lend). While the caller uses one
/// batch, the copy of the next is on its way, so copies overlap with programs that are started in between. At most two
/// batches of the loader are in host memory: the one on its way, and the one that the iterator of batches has just made.
///
/// ```no_run
/// # use mind::{Const, Tensor};
/// # fn example(executable: &mind_xla::Executable, net: &mut mind_xla::OnDevices) -> Result<(), mind_xla::Error> {
/// let batches = (0..100).map(|step| {
///     let x: Tensor![f32; ?, 64] = Tensor::from_fn_with((32, Const), |[i, j]| (step + i * j) as f32);
///     let y: Tensor![i64; ?] = Tensor::from_fn_with((32,), |[i]| (i % 10) as i64);
///     (x, y)
/// });
/// for batch in executable.loader(["x", "y"], batches) {
///     let [x, y] = batch?;
///     executable.call().lend("x", &x).lend("y", &y).update("net", net).start()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// - **Errors**: an item is an error if its batch does not fit the program, with all faults, or its copy fails. The next
///   item is the next batch.
/// - **Time of the iterator**: `next` takes a further batch from the iterator of batches before it returns. A batch that
///   takes long to make can be made on another thread: pass the receiver of a [`sync_channel`](std::sync::mpsc::sync_channel),
///   `receiver.into_iter()`.
/// - **Drop**: a loader can be dropped at any time. It waits until the plugin no longer reads the batch on its way.
pub struct Loader<'a, I, const N: usize> {
    executable: &'a Executable,
    arguments: [&'a str; N],
    batches: Fuse<I>,
    /// The batch on its way. `None` before the first batch and after the last.
    next: Option<Result<[Argument; N], Error>>,
    is_started: bool,
}

/// An argument whose copy was started.
struct Argument {
    /// The names of its parts.
    names: Vec<String>,
    parts: Vec<Loading>,
}

/// A tensor whose copy was started.
struct Loading {
    client: Rc<ffi::Client>,
    name: String,
    layout: Layout,
    /// The copy to each device.
    transfers: Vec<Transfer>,
}

impl<'a, I: Iterator<Item: Batch<N>>, const N: usize> Loader<'a, I, N> {
    pub(crate) fn new(executable: &'a Executable, arguments: [&'a str; N], batches: I) -> Self {
        Self { executable, arguments, batches: batches.fuse(), next: None, is_started: false }
    }

    /// Starts the copies of a batch.
    fn start(&self, batch: I::Item) -> Result<[Argument; N], Error> {
        let values = batch.values();
        let mut faults = Vec::new();
        let placed: [Vec<usize>; N] = array::from_fn(|argument| {
            let parts = values[argument].parameters();
            self.executable.place(self.arguments[argument], &parts, &mut faults)
        });
        if !faults.is_empty() {
            return Err(Error::Arguments(faults));
        }
        each(|argument| Argument::start(self.executable, &placed[argument], &values[argument]))
    }
}

impl<I: Iterator<Item: Batch<N>>, const N: usize> Iterator for Loader<'_, I, N> {
    type Item = Result<[OnDevices; N], Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.is_started {
            self.is_started = true;
            self.next = self.batches.next().map(|batch| self.start(batch));
        }
        let on_its_way = self.next.take()?;
        // The batch is made while the copy of the one before ends.
        let further = self.batches.next();
        let ready = on_its_way.and_then(|arguments| {
            let mut arguments = arguments.into_iter();
            each(|_| arguments.next().expect("there are `N`").finish())
        });
        self.next = further.map(|batch| self.start(batch));
        Some(ready)
    }
}

/// The results of a function for 0 to `N`, or its first error.
fn each<T, const N: usize>(mut function: impl FnMut(usize) -> Result<T, Error>) -> Result<[T; N], Error> {
    let results: Vec<T> = (0..N).map(&mut function).collect::<Result<_, _>>()?;
    let mut results = results.into_iter();
    Ok(array::from_fn(|_| results.next().expect("there are `N`")))
}

impl Argument {
    /// Starts the copies of a value to the positions of its parts.
    fn start(
        executable: &Executable,
        positions: &[usize],
        value: &Rc<dyn Parameters>,
    ) -> Result<Self, Error> {
        let names = value.parameters().into_iter().map(|part| part.name.into_owned()).collect();
        let parts = positions.iter().enumerate();
        let parts = parts.map(|(part, position)| Loading::start(executable, *position, value, part));
        Ok(Self { names, parts: parts.collect::<Result<_, _>>()? })
    }

    /// Waits for the ends of the copies.
    fn finish(self) -> Result<OnDevices, Error> {
        let tensors = self.parts.into_iter().map(Loading::finish).collect::<Result<_, _>>()?;
        Ok(OnDevices { names: self.names, tensors })
    }
}

impl Loading {
    /// Starts to copy a part of a value, which has the number and the type of elements of the argument.
    fn start(
        executable: &Executable,
        position: usize,
        value: &Rc<dyn Parameters>,
        part: usize,
    ) -> Result<Self, Error> {
        let (name, layout) = executable.argument(position);
        let (client, element, extents) = (executable.client(), layout.element(), layout.part_extents());
        let size = layout.bytes();
        let transfers = layout.local().iter().map(|LocalDevice { position: of_mesh, device }| {
            if layout.is_whole() {
                return client
                    .transfer(*device, element, &extents, value, |value| bytes_of_part(value, part, size));
            }
            let mut bytes = Vec::new();
            layout.gather(*of_mesh, bytes_of_part(&**value, part, size), &mut bytes);
            client.transfer(*device, element, &extents, &Rc::new(bytes), |bytes| bytes)
        });
        let transfers = transfers.collect::<Result<_, _>>().map_err(copying(name))?;
        Ok(Self { client: client.clone(), name: name.to_owned(), layout: layout.clone(), transfers })
    }

    /// Waits for the end of the copy.
    fn finish(self) -> Result<DeviceTensor, Error> {
        let parts = self.transfers.into_iter().map(Transfer::finish).collect::<Result<_, _>>();
        let parts = parts.map_err(copying(&self.name))?;
        Ok(DeviceTensor::new(self.client, self.layout, parts, None))
    }
}

/// The bytes of a part of a value. The caller has compared its type.
fn bytes_of_part(value: &dyn Parameters, part: usize, size: usize) -> &[u8] {
    let bytes = bytes_of(value.parameters().swap_remove(part).elements);
    assert_eq!(bytes.len(), size, "a value has the same parts whenever it is asked");
    bytes
}

/// The error of a copy.
fn copying(name: &str) -> impl FnOnce(Failure) -> Error {
    Failure::during(format!("copy `{name}` to the devices"))
}

impl<I, const N: usize> fmt::Debug for Loader<'_, I, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}
