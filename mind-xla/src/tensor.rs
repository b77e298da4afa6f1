//! Tensors on devices.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use mind_core::ty::DType;
use mind_rt::{Element, Elements};
use mind_shape::{element_types, match_dtype, match_elements};

use crate::error::{Error, Failure};
use crate::ffi::{self, Buffer, Step, StepFailure, bytes_of, bytes_of_mut};
use crate::layout::{Layout, LocalDevice};

/// A tensor on the devices of a client, whole or split.
///
/// The results of [`Call::start`](crate::Call::start) are there once the program has ended. Methods that read elements
/// wait for that. Dropping a tensor does not wait.
pub struct DeviceTensor {
    client: Rc<ffi::Client>,
    layout: Layout,
    /// The part of each device. Empty if a failed run took the memory.
    parts: Vec<Buffer>,
    /// The run of which the tensor is a result, unless it is known to have succeeded.
    step: Option<Rc<Step>>,
}

macro_rules! values {
    ($($element:ident $variant:ident;)*) => {
        /// Elements in host memory, in row-major order.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values {
            $(#[doc = concat!("Of `", stringify!($element), "`.")] $variant(Vec<$element>),)*
        }

        $(impl From<Vec<$element>> for Values {
            fn from(elements: Vec<$element>) -> Self {
                Self::$variant(elements)
            }
        })*
    };
}

element_types!(all => values!);

impl Values {
    /// Borrows the elements.
    #[must_use]
    pub fn as_elements(&self) -> Elements<'_> {
        match_elements!(self, Self(elements) => Element::elements(elements))
    }

    /// A single number.
    pub(crate) fn number<T: Element>(number: T) -> Self {
        match_elements!(T::elements(&[number]), Elements(elements) => elements.to_vec().into())
    }
}

impl DeviceTensor {
    pub(crate) const fn new(
        client: Rc<ffi::Client>,
        layout: Layout,
        parts: Vec<Buffer>,
        step: Option<Rc<Step>>,
    ) -> Self {
        Self { client, layout, parts, step }
    }

    /// Copies elements to the devices. They must have the number and the type of `layout`.
    pub(crate) fn put(
        client: &Rc<ffi::Client>,
        layout: &Layout,
        elements: Elements<'_>,
        name: &str,
    ) -> Result<Self, Error> {
        let bytes = bytes_of(elements);
        assert_eq!(bytes.len(), layout.bytes(), "the caller compares the types");
        let extents = layout.part_extents();
        let mut part = Vec::new();
        let parts = layout.local().iter().map(|LocalDevice { position, device }| {
            let bytes = if layout.is_whole() {
                bytes
            } else {
                part.clear();
                layout.gather(*position, bytes, &mut part);
                &part
            };
            client.buffer(*device, layout.element(), &extents, bytes)
        });
        let parts = parts.collect::<Result<_, _>>();
        let parts = parts.map_err(Failure::during(format!("copy `{name}` to the devices")))?;
        Ok(Self::new(client.clone(), layout.clone(), parts, None))
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn parts(&self) -> &[Buffer] {
        &self.parts
    }

    pub(crate) fn is_of(&self, client: &Rc<ffi::Client>) -> bool {
        Rc::ptr_eq(&self.client, client)
    }

    /// The run of which the tensor is a result, unless it is known to have succeeded.
    pub(crate) const fn step(&self) -> Option<&Rc<Step>> {
        self.step.as_ref()
    }

    /// Replaces the parts by others of the same layout, which are results of a run.
    pub(crate) fn replace(&mut self, parts: Vec<Buffer>, step: Option<Rc<Step>>) {
        (self.parts, self.step) = (parts, step);
    }

    /// Whether the tensor still has its elements. `false` if a failed run took its memory, or the tensor is a result of
    /// a run that is known to have failed. The method does not wait for the end of a run; [`wait`](Self::wait) does.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let failed = self.step.as_ref().is_some_and(|step| step.has_failed());
        self.parts.len() == self.layout.local().len() && !failed
    }

    /// Waits until the elements are there. Returns at once if the tensor is not a result of a program in flight.
    ///
    /// # Errors
    /// If the program failed of which the tensor is a result, or one whose results that program took.
    pub fn wait(&self) -> Result<(), Error> {
        let ended = self.step.as_ref().map_or(Ok(()), |step| self.client.wait_for(step));
        ended.map_err(|StepFailure { doing, failure }| Failure::during(doing)(failure))
    }

    /// The extents of the whole tensor.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.layout.extents
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// Copies the elements from the devices, once they are there.
    ///
    /// # Errors
    /// If the plugin reports an error, or the elements are [lost](Self::is_there), and the errors of
    /// [`wait`](Self::wait).
    pub fn read(&self) -> Result<Values, Error> {
        let count = self.layout.extents.iter().product();
        Ok(match_dtype!(self.layout.dtype, T {
            truths => {
                let mut bytes = vec![0; count];
                self.read_bytes(&mut bytes)?;
                Values::Bool(bytes.into_iter().map(|byte| byte != 0).collect())
            },
            numbers => self.numbers::<T>(count)?.into(),
        }))
    }

    /// Copies the elements from the devices, as elements of `T`.
    ///
    /// # Errors
    /// If the tensor has another element type, and the errors of [`read`](Self::read).
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        let values = self.read()?;
        let elements = T::slice(values.as_elements());
        elements.map(<[T]>::to_vec).ok_or_else(|| self.read_as(T::DTYPE.to_string()))
    }

    /// Copies the number of a tensor without dimensions from the devices.
    ///
    /// # Errors
    /// If the tensor has dimensions or another element type, and the errors of [`read`](Self::read).
    pub fn number<T: Element>(&self) -> Result<T, Error> {
        match *self.to_vec::<T>()? {
            [number] if self.dims().is_empty() => Ok(number),
            _ => Err(self.read_as(format!("a number of {}", T::DTYPE))),
        }
    }

    fn read_as(&self, needed: String) -> Error {
        Error::Read { found: shown(self.dtype(), self.dims()), needed }
    }

    fn numbers<T: ffi::Plain + Default>(&self, count: usize) -> Result<Vec<T>, Error> {
        let mut numbers = vec![T::default(); count];
        self.read_bytes(bytes_of_mut(&mut numbers))?;
        Ok(numbers)
    }

    fn read_bytes(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.wait()?;
        if !self.is_there() {
            let found = format!("{}, lost in a failed run,", shown(self.dtype(), self.dims()));
            return Err(Error::Read { found, needed: "elements".into() });
        }
        let (fault, rank) = (|| Failure::during("copy a tensor from the devices"), self.dims().len());
        if self.layout.is_whole() {
            return self.parts[0].read(rank, bytes).map_err(fault());
        }
        // Each different part, with the position in the mesh of a device that has it.
        let mut parts = BTreeMap::new();
        for (LocalDevice { position, .. }, buffer) in self.layout.local().iter().zip(&self.parts) {
            parts.entry(self.layout.part(*position)).or_insert((*position, buffer));
        }
        let (found, needed) = (parts.len(), self.layout.part_count());
        if found < needed {
            let shown = shown(self.dtype(), self.dims());
            let found = format!("{shown}, of which this process has {found} of {needed} parts,");
            return Err(Error::Read { found, needed: "a whole tensor".into() });
        }
        let mut part = vec![0; self.layout.part_bytes()];
        for (position, buffer) in parts.into_values() {
            buffer.read(rank, &mut part).map_err(fault())?;
            let mut rest = &*part;
            for run in self.layout.runs(position) {
                let (first, others) = rest.split_at(run.len);
                bytes[run.start..run.start + run.len].copy_from_slice(first);
                rest = others;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DeviceTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = shown(self.dtype(), self.dims());
        write!(f, "DeviceTensor({shown} on {} devices)", self.layout.local().len())
    }
}

/// The text of a type, such as `f32[2, 3]`.
pub fn shown(dtype: impl fmt::Display, dims: &[usize]) -> String {
    let dims: Vec<_> = dims.iter().map(ToString::to_string).collect();
    if dims.is_empty() { dtype.to_string() } else { format!("{dtype}[{}]", dims.join(", ")) }
}
