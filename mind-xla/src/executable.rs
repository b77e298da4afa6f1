//! Compiled programs and their calls.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use mind_core::stablehlo::{Described, ProgramArgument, ShardedType};
use mind_rt::{Element, Elements, Parameter, Parameters};

use crate::cache::{Cache, Cached, Key};
use crate::client::if_implemented;
use crate::device::ProgramMemory;
use crate::error::{Error, Failure};
use crate::ffi::{self, Buffer, MeshDevice, Step, StepFailure};
use crate::layout::{Layout, LocalDevice};
use crate::loader::{Batch, Loader};
use crate::options::compile_options;
use crate::parameters::OnDevices;
use crate::program::Program;
use crate::tensor::{DeviceTensor, Values, shown};

/// The option of XLA by which products on CPUs use XNNPACK. In the plugin `xla-cpu-pjrt` 0.0.1 a product then may take the
/// earlier elements of an operand whose memory was updated in place, so it is off unless a program sets it.
const XNNPACK: &str = "xla_cpu_use_xnnpack";

/// A program that a client compiled for the devices of its mesh.
pub struct Executable {
    client: Rc<ffi::Client>,
    executable: ffi::Executable,
    cached: Cached,
    described: Described,
    arguments: Vec<Layout>,
    results: Vec<Layout>,
    /// The number of devices of this process that the program runs on.
    local_devices: usize,
    /// The position of each argument, by its name.
    positions: BTreeMap<String, usize>,
}

impl Executable {
    pub(crate) fn new(
        client: &Rc<ffi::Client>,
        cache: Option<&Cache>,
        program: &Program,
    ) -> Result<Self, Error> {
        let described = program.stablehlo()?;
        let needed = described.axes.iter().map(|(_, devices)| *devices).product();
        let found = client.mesh().len();
        let devices = usize::try_from(needed).ok().filter(|devices| *devices <= found);
        let devices = devices.ok_or(Error::Devices { needed, found })?;
        let mesh = &client.mesh()[..devices];
        let ids: Vec<_> = mesh.iter().map(|device| device.id).collect();
        let local = mesh.iter().enumerate();
        let local = local.filter_map(|(position, MeshDevice { local, .. })| {
            Some(LocalDevice { position, device: (*local)? })
        });
        let local: Rc<[LocalDevice]> = local.collect();
        if local.is_empty() {
            let process = client.process().unwrap_or(0);
            return Err(Error::NoLocalDevice { needed: devices, process });
        }
        let build = |flags: &BTreeMap<String, String>| {
            let options = compile_options(&ids, flags);
            match cache {
                None => compile(client, &described, &options).map(|executable| (executable, Cached::Off)),
                // Such a program holds this process's part, and the others must compile at the same time.
                Some(_) if client.process().is_some() => {
                    let kept = Cached::NotStored("programs of several processes are not kept".into());
                    compile(client, &described, &options).map(|executable| (executable, kept))
                }
                Some(cache) => compile_once(client, cache, &described, devices, &options),
            }
        };
        let [platform, _] = client.platform().map_err(Failure::during("tell its platform"))?;
        let compiled = if platform == "cpu" && !program.flags.contains_key(XNNPACK) {
            let mut flags = program.flags.clone();
            flags.insert(XNNPACK.into(), "False".into());
            match build(&flags) {
                // Other versions may not have the option.
                Err(failure) if failure.text.contains(XNNPACK) => build(&program.flags),
                compiled => compiled,
            }
        } else {
            build(&program.flags)
        };
        let (executable, cached) = compiled.map_err(Failure::during("compile the program"))?;
        let layout = |placed: &ShardedType| Layout::new(placed, &described, &local);
        let arguments = described.arguments.iter().map(|argument| layout(&argument.placed)).collect();
        let results = described.results.iter().map(layout).collect();
        let positions = described.arguments.iter().enumerate();
        let positions = positions.map(|(position, argument)| (argument.name.to_string(), position)).collect();
        let (client, local_devices) = (client.clone(), local.len());
        Ok(Self { client, executable, cached, described, arguments, results, local_devices, positions })
    }

    /// The arguments in order, each with its split over the devices.
    #[must_use]
    pub fn arguments(&self) -> &[ProgramArgument] {
        &self.described.arguments
    }

    /// The results in order. Results that update an argument are last.
    #[must_use]
    pub fn results(&self) -> &[ShardedType] {
        &self.described.results
    }

    /// Whether the client's [cache](crate::Client::cache) loaded the program, stored it, or was not used.
    #[must_use]
    pub const fn cached(&self) -> &Cached {
        &self.cached
    }

    /// The memory that the program needs on each device, if the plugin reports it.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn memory(&self) -> Result<Option<ProgramMemory>, Error> {
        if_implemented(self.executable.memory()).map_err(Failure::during("tell the memory of a program"))
    }

    /// The StableHLO text that was compiled.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.described.text
    }

    /// Copies `parameters` to the devices, split as the program splits the argument `argument`.
    ///
    /// # Errors
    /// Returns all faults if `parameters` do not fit the argument, or the error of the plugin.
    pub fn load(&self, argument: &str, parameters: &impl Parameters) -> Result<OnDevices, Error> {
        let (parts, mut faults) = (parameters.parameters(), Vec::new());
        let positions = self.place(argument, &parts, &mut faults);
        if !faults.is_empty() {
            return Err(Error::Arguments(faults));
        }
        let tensors =
            positions.into_iter().zip(&parts).map(|(position, part)| self.put(position, part.elements));
        let tensors = tensors.collect::<Result<_, _>>()?;
        Ok(OnDevices { tensors, names: parts.into_iter().map(|part| part.name.into_owned()).collect() })
    }

    /// Copies batches to the devices, each while the program runs on the one before. A batch has a value for each of
    /// `arguments`. See [`Loader`] for an example.
    pub fn loader<'a, I, const N: usize>(
        &'a self,
        arguments: [&'a str; N],
        batches: I,
    ) -> Loader<'a, I::IntoIter, N>
    where
        I: IntoIterator,
        I::Item: Batch<N>,
    {
        Loader::new(self, arguments, batches.into_iter())
    }

    /// The positions of the parts of an argument. Adds the faults of parts that do not fit or are missing.
    pub(crate) fn place(
        &self,
        argument: &str,
        parts: &[Parameter<'_>],
        faults: &mut Vec<String>,
    ) -> Vec<usize> {
        let (mut names, mut positions) = (Vec::new(), Vec::new());
        for part in parts {
            let name = under(argument, &part.name);
            match self.fitting(&name, &part.dims, part.elements) {
                Ok(position) => positions.push(position),
                Err(fault) => faults.push(fault),
            }
            names.push(name);
        }
        let missing = self.positions.keys().filter(|name| is_within(name, argument) && !names.contains(name));
        faults.extend(missing.map(|name| format!("`{name}` is not given")));
        positions
    }

    /// The name of an argument, and how it is split over the devices.
    pub(crate) fn argument(&self, position: usize) -> (&str, &Layout) {
        (&self.described.arguments[position].name, &self.arguments[position])
    }

    pub(crate) const fn client(&self) -> &Rc<ffi::Client> {
        &self.client
    }

    /// Makes a call, which takes its arguments by further methods.
    pub fn call(&self) -> Call<'_> {
        self.client.collect();
        let given = self.arguments.iter().map(|_| None).collect();
        Call { executable: self, given, faults: Vec::new() }
    }

    /// The position of the argument `name`. Fails unless it has these extents and this element type.
    fn fitting(&self, name: &str, dims: &[usize], elements: Elements<'_>) -> Result<usize, String> {
        let position =
            *self.positions.get(name).ok_or_else(|| format!("the program has no argument `{name}`"))?;
        let layout = &self.arguments[position];
        let (needed, found) = (shown(layout.dtype, &layout.extents), shown(elements.dtype(), dims));
        if needed != found {
            return Err(format!("`{name}` is {needed}, and {found} is given"));
        }
        let (found, needed) = (elements.len(), layout.extents.iter().product::<usize>());
        if found != needed {
            return Err(format!("`{name}` has {needed} elements, and {found} are given"));
        }
        Ok(position)
    }

    fn put(&self, position: usize, elements: Elements<'_>) -> Result<DeviceTensor, Error> {
        let name = &self.described.arguments[position].name;
        DeviceTensor::put(&self.client, &self.arguments[position], elements, name)
    }
}

/// Compiles a text, and checks that it has as many results as the text.
fn compile(
    client: &Rc<ffi::Client>,
    described: &Described,
    options: &[u8],
) -> Result<ffi::Executable, Failure> {
    let executable = client.compile(&described.text, options)?;
    let (found, needed) = (executable.results(), described.results.len());
    if found == needed {
        return Ok(executable);
    }
    Err(Failure { code: 0, text: format!("it has {found} results, needed {needed}") })
}

/// Loads a program from the cache, or else compiles and stores it.
fn compile_once(
    client: &Rc<ffi::Client>,
    cache: &Cache,
    described: &Described,
    devices: usize,
    options: &[u8],
) -> Result<(ffi::Executable, Cached), Failure> {
    let key = Key::new(client, devices, &described.text, options)?;
    let loaded = cache.find(key).and_then(|program| client.load(&program).ok());
    // A program that the plugin refuses, or takes for another one, is compiled again and replaced.
    if let Some(executable) = loaded.filter(|loaded| loaded.results() == described.results.len()) {
        return Ok((executable, Cached::Found));
    }
    let executable = compile(client, described, options)?;
    let serialized = executable
        .serialize()
        .map_err(|Failure { text, .. }| format!("the plugin cannot write compiled programs: {text}"));
    let stored = serialized.and_then(|program| cache.store(key, &program));
    let cached = stored.map_or_else(Cached::NotStored, |()| Cached::Stored);
    Ok((executable, cached))
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.described.arguments.iter().map(|argument| &argument.name).collect();
        f.debug_struct("Executable").field("arguments", &names).finish_non_exhaustive()
    }
}

/// A call of a program that has not run yet. [`run`](Self::run) and [`start`](Self::start) report all faults of its
/// arguments at once.
#[must_use = "a call does nothing until it is run"]
pub struct Call<'a> {
    executable: &'a Executable,
    given: Vec<Option<CallArgument<'a>>>,
    faults: Vec<String>,
}

/// An argument of a call.
enum CallArgument<'a> {
    HostMemory(Elements<'a>),
    Number(Values),
    Kept(&'a DeviceTensor),
    Updated(&'a mut DeviceTensor),
}

impl<'a> Call<'a> {
    /// Passes a tensor or a struct in host memory. Its elements are copied to the devices.
    pub fn pass(mut self, argument: &str, value: &'a impl Parameters) -> Self {
        for part in value.parameters() {
            self = self.elements(&under(argument, &part.name), &part.dims, part.elements);
        }
        self
    }

    /// Passes a number.
    pub fn number(mut self, argument: &str, number: impl Element) -> Self {
        let values = Values::number(number);
        match self.executable.fitting(argument, &[], values.as_elements()) {
            Ok(position) => self.set_argument(position, CallArgument::Number(values)),
            Err(fault) => self.faults.push(fault),
        }
        self
    }

    /// Passes elements in host memory, in row-major order.
    pub fn elements(mut self, argument: &str, dims: &[usize], elements: Elements<'a>) -> Self {
        match self.executable.fitting(argument, dims, elements) {
            Ok(position) => self.set_argument(position, CallArgument::HostMemory(elements)),
            Err(fault) => self.faults.push(fault),
        }
        self
    }

    /// Passes tensors on the devices, for an argument that the program only reads. If the program updates some fields
    /// of a struct, pass the struct by [`update`](Self::update).
    pub fn lend(mut self, argument: &str, value: &'a OnDevices) -> Self {
        for (name, tensor) in value.names.iter().zip(&value.tensors) {
            let name = under(argument, name);
            match self.on_devices(&name, tensor) {
                Ok(position) => {
                    if self.executable.described.arguments[position].updated.is_some() {
                        self.faults.push(format!(
                            "`{name}` is lent, and the program updates it: give `{argument}` by `update`, which lends the \
                             fields that are only read"
                        ));
                    }
                    self.set_argument(position, CallArgument::Kept(tensor));
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        self
    }

    /// Passes tensors on the devices, for an argument that the program updates. Their memory is reused. Fields that the
    /// program only reads, such as frozen layers, are passed as by [`lend`](Self::lend).
    pub fn update(mut self, argument: &str, value: &'a mut OnDevices) -> Self {
        let mut updates_any = false;
        let mut only_read = Vec::new();
        for (name, tensor) in value.names.iter().zip(&mut value.tensors) {
            let name = under(argument, name);
            match self.on_devices(&name, tensor) {
                Ok(position) if self.executable.described.arguments[position].updated.is_some() => {
                    updates_any = true;
                    self.set_argument(position, CallArgument::Updated(tensor));
                }
                Ok(position) => {
                    self.set_argument(position, CallArgument::Kept(tensor));
                    only_read.push(name);
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        if !updates_any {
            let fault = |name: String| {
                format!(
                    "`{name}` is given to be updated, and the program only reads it: give `{argument}` by `lend`"
                )
            };
            self.faults.extend(only_read.into_iter().map(fault));
        }
        self
    }

    /// The position of the argument `name`. Fails unless it can take `tensor`, which is on the devices.
    fn on_devices(&self, name: &str, tensor: &DeviceTensor) -> Result<usize, String> {
        let executable = self.executable;
        let position = executable.positions.get(name);
        let position = *position.ok_or_else(|| format!("the program has no argument `{name}`"))?;
        let (needed, found) = (&executable.arguments[position], tensor.layout());
        if !tensor.is_of(&executable.client) {
            return Err(format!("`{name}` is on the devices of another client"));
        }
        if needed == found {
            return Ok(position);
        }
        let (types, devices) = (
            [needed, found].map(|layout| shown(layout.dtype, &layout.extents)),
            [needed, found].map(|layout| layout.local().len()),
        );
        Err(if types[0] != types[1] {
            format!("`{name}` is {}, and {} is given", types[0], types[1])
        } else if devices[0] != devices[1] {
            format!("`{name}` is to be on {} devices, and is on {}", devices[0], devices[1])
        } else {
            format!("`{name}` is split over the devices in another way than the program has it")
        })
    }

    fn set_argument(&mut self, position: usize, given: CallArgument<'a>) {
        if self.given[position].replace(given).is_some() {
            let name = &self.executable.described.arguments[position].name;
            self.faults.push(format!("`{name}` is given twice"));
        }
    }

    /// Runs the program and waits for its end. Returns the results in order, except for results that replace tensors of
    /// [`update`](Self::update).
    ///
    /// # Errors
    /// - Returns all faults if arguments are missing or do not fit. Nothing has been copied or run then.
    /// - Returns the error of the plugin. Each tensor of [`update`](Self::update) is then unchanged, or
    ///   [lost](DeviceTensor::is_there) if the plugin had already taken its memory.
    pub fn run(self) -> Result<Vec<DeviceTensor>, Error> {
        let Started { executable, results, step, mut updated } = self.launch()?;
        match executable.client.wait_for(&step) {
            Ok(()) => Ok(executable.keep(results, &mut updated, None)),
            Err(StepFailure { doing, failure }) => {
                updated.into_values().for_each(forget_what_is_gone);
                Err(Failure::during(doing)(failure))
            }
        }
    }

    /// Starts the program and does not wait for its end. Returns the results as [`run`](Self::run) does. Further calls
    /// can take the results, and the tensors of [`update`](Self::update), before they are there. Methods that read them
    /// wait.
    ///
    /// The client bounds the number of [programs in flight](crate::Client::in_flight).
    ///
    /// ```no_run
    /// # fn example(executable: &mind_xla::Executable, net: &mut mind_xla::OnDevices) -> Result<(), mind_xla::Error> {
    /// let mut losses = Vec::new();
    /// for _ in 0..100 {
    ///     losses.extend(executable.call().update("net", net).start()?);
    /// }
    /// // Waits for the last step.
    /// println!("{}", losses[99].number::<f32>()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), for programs that cannot be started. If a program fails after it was started, the error is
    /// told by all of its results and by the tensors that it updates, which are then lost. Results of later programs
    /// that took them tell it too.
    pub fn start(self) -> Result<Vec<DeviceTensor>, Error> {
        let Started { executable, results, step, mut updated } = self.launch()?;
        Ok(executable.keep(results, &mut updated, Some(&step)))
    }

    /// Copies the arguments to the devices and starts the program.
    fn launch(self) -> Result<Started<'a>, Error> {
        let Self { executable, given, mut faults } = self;
        let mut arguments = Vec::new();
        for (given, argument) in given.into_iter().zip(&executable.described.arguments) {
            match given {
                Some(given) => arguments.push((&argument.name, given)),
                None => faults.push(format!("`{}` is not given", argument.name)),
            }
        }
        if faults.is_empty() {
            // The end of an earlier run may show that arguments are lost.
            executable.client.make_room();
        }
        let lost =
            arguments.iter().filter(|(_, given)| given.tensor().is_some_and(|tensor| !tensor.is_there()));
        faults.extend(lost.map(|(name, _)| format!("`{name}` is lost: a failed run consumed it")));
        if !faults.is_empty() {
            return Err(Error::Arguments(faults));
        }
        let copied = arguments.iter().enumerate().map(|(position, (_, given))| match given {
            CallArgument::HostMemory(elements) => executable.put(position, *elements).map(Some),
            CallArgument::Number(values) => executable.put(position, values.as_elements()).map(Some),
            CallArgument::Kept(_) | CallArgument::Updated(_) => Ok(None),
        });
        let copied: Vec<Option<DeviceTensor>> = copied.collect::<Result<_, _>>()?;
        let tensors = arguments.iter().zip(&copied).map(|((_, given), copied)| {
            given.tensor().or(copied.as_ref()).expect("what is not on the devices was copied above")
        });
        let tensors: Vec<&DeviceTensor> = tensors.collect();
        let lists: Vec<Vec<&Buffer>> = (0..executable.local_devices)
            .map(|device| tensors.iter().map(|tensor| &tensor.parts()[device]).collect())
            .collect();
        let earlier = tensors.iter().filter_map(|tensor| tensor.step().cloned());
        let started = executable.executable.start(&lists, earlier.collect());
        drop((lists, tensors));
        let updated = executable.updated(arguments.into_iter().map(|(_, given)| given).collect());
        match started {
            Ok((results, step)) => Ok(Started { executable, results, step, updated }),
            Err(failure) => {
                updated.into_values().for_each(forget_what_is_gone);
                Err(Failure::during("run the program")(failure))
            }
        }
    }
}

/// A program that was started.
struct Started<'a> {
    executable: &'a Executable,
    /// The results of each device.
    results: Vec<Vec<Buffer>>,
    step: Rc<Step>,
    /// The tensors that are updated, each with the position of the result that replaces it.
    updated: BTreeMap<usize, &'a mut DeviceTensor>,
}

impl CallArgument<'_> {
    /// The tensor, if the argument is on the devices.
    const fn tensor(&self) -> Option<&DeviceTensor> {
        match self {
            Self::Kept(tensor) => Some(tensor),
            Self::Updated(tensor) => Some(tensor),
            Self::HostMemory(_) | Self::Number(_) => None,
        }
    }
}

impl Executable {
    /// The tensors that are updated, each with the position of the result that replaces it.
    fn updated<'a>(&self, arguments: Vec<CallArgument<'a>>) -> BTreeMap<usize, &'a mut DeviceTensor> {
        let arguments = arguments.into_iter().zip(&self.described.arguments);
        let updated = arguments.filter_map(|(given, argument)| match given {
            CallArgument::Updated(tensor) => Some((argument.updated?, tensor)),
            CallArgument::HostMemory(_) | CallArgument::Number(_) | CallArgument::Kept(_) => None,
        });
        updated.collect()
    }

    /// Stores results in the tensors that they update, and returns the other results as new tensors. They are there once
    /// the run has ended.
    fn keep(
        &self,
        results: Vec<Vec<Buffer>>,
        updated: &mut BTreeMap<usize, &mut DeviceTensor>,
        step: Option<&Rc<Step>>,
    ) -> Vec<DeviceTensor> {
        let mut devices: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        let mut kept = Vec::new();
        for (position, layout) in self.results.iter().enumerate() {
            let parts = devices.iter_mut().filter_map(Iterator::next).collect();
            match updated.get_mut(&position) {
                Some(tensor) => tensor.replace(parts, step.cloned()),
                None => {
                    kept.push(DeviceTensor::new(self.client.clone(), layout.clone(), parts, step.cloned()))
                }
            }
        }
        kept
    }
}

/// After a failed run, removes the parts of a tensor if the plugin took the memory of any part.
fn forget_what_is_gone(tensor: &mut DeviceTensor) {
    if tensor.parts().iter().any(|part| part.is_gone().unwrap_or(true)) {
        tensor.replace(Vec::new(), None);
    }
}

/// The name of a part of an argument in the program, such as `net.w1`.
fn under(argument: &str, part: &str) -> String {
    if part.is_empty() { argument.to_owned() } else { format!("{argument}.{part}") }
}

/// Whether `name` names the argument or a part of it.
fn is_within(name: &str, argument: &str) -> bool {
    name.strip_prefix(argument).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
