//! Tensors and structs of parameters on devices.

use mind_rt::{Element, ElementsMut, Parameters};
use mind_shape::match_elements;

use crate::error::Error;
use crate::tensor::{DeviceTensor, Values, shown};

/// The tensors of one argument, a struct or a single tensor, on the devices of a client. They stay there between calls.
#[derive(Debug)]
pub struct OnDevices {
    /// The names within the argument, such as `w1` or `first.w`. Empty for an argument that is a single tensor.
    pub(crate) names: Vec<String>,
    pub(crate) tensors: Vec<DeviceTensor>,
}

/// A single tensor, such as a result, as the argument of a call.
impl From<DeviceTensor> for OnDevices {
    fn from(tensor: DeviceTensor) -> Self {
        Self { names: vec![String::new()], tensors: vec![tensor] }
    }
}

impl OnDevices {
    /// The tensors, each with its name within the argument, such as `w1` or `first.w`. The name is empty for an
    /// argument that is a single tensor.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, &DeviceTensor)> {
        self.names.iter().map(|name| &**name).zip(&self.tensors)
    }

    /// Waits until all tensors are there, as [`DeviceTensor::wait`] does.
    ///
    /// # Errors
    /// The errors of [`DeviceTensor::wait`].
    pub fn wait(&self) -> Result<(), Error> {
        self.tensors.iter().try_for_each(DeviceTensor::wait)
    }

    /// Copies all tensors from the devices to `parameters`. An error leaves `parameters` unchanged.
    ///
    /// # Errors
    /// If `parameters` have other names, shapes or element types, and the errors of [`DeviceTensor::read`].
    pub fn read_into(&self, parameters: &mut impl Parameters) -> Result<(), Error> {
        let mut faults = Vec::new();
        let parts = parameters.parameters();
        if parts.len() != self.names.len() {
            let (found, needed) = (parts.len(), self.names.len());
            faults.push(format!("there are {found} tensors to be read into, and {needed} on the devices"));
        }
        for (part, (name, tensor)) in parts.iter().zip(self.tensors()) {
            let (needed, found) = (shown(tensor.dtype(), tensor.dims()), shown(part.dtype(), &part.dims));
            if part.name != name || found != needed {
                faults.push(format!("`{}` is to be read of `{name}`, which is {needed}", part.name));
            }
        }
        if !faults.is_empty() {
            return Err(Error::Arguments(faults));
        }
        let values: Vec<Values> = self.tensors.iter().map(DeviceTensor::read).collect::<Result<_, _>>()?;
        for (part, values) in parameters.parameters_mut().into_iter().zip(&values) {
            match_elements!(part.elements, ElementsMut(to) => {
                to.copy_from_slice(Element::slice(values.as_elements()).expect("the types were compared"))
            });
        }
        Ok(())
    }
}
