//! Structs of parameters whose tensors are on devices.

use mind_rt::{Element, ElementsMut, Parameters};
use mind_shape::match_elements;

use crate::error::Error;
use crate::tensor::{DeviceTensor, Values, shown};

/// The tensors of an argument, a struct or a single one, on the devices of a client. They stay there from call to call.
#[derive(Debug)]
pub struct OnDevices {
    /// Their names within the argument: `w1`, `first.w`; empty for a tensor by itself.
    pub(crate) names: Vec<String>,
    pub(crate) tensors: Vec<DeviceTensor>,
}

impl OnDevices {
    /// Each tensor, by its name within the argument: `w1`, `first.w`; empty for a tensor by itself.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, &DeviceTensor)> {
        self.names.iter().map(|name| &**name).zip(&self.tensors)
    }

    /// Copies all of them from the devices. Nothing is changed unless all could be copied.
    ///
    /// # Errors
    /// If the parameters are others, and as [`DeviceTensor::read`].
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
