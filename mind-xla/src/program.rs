//! What is to be compiled: a module, its extents, and how it is split over devices.

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Diags,
    ir::ValueId,
    ops::Profile,
    plan::Update,
    stablehlo::{self, Described, Mesh, Options},
    text::{Limits, mic},
};

use crate::error::Error;

/// A function of the language, the extents of its symbols, and how its arguments are split over devices.
///
/// ```
/// use mind_xla::Program;
///
/// let double = "mic@1\nS0 \"x\"\nT0 [f32;N,3]\nN1 input S0 T0\nN2 add N1 N1 T0\nO N2\n";
/// let program = Program::from_mic(double, &[])?.extent("N", 8).axis("d", 4).split("x", &["d", "_"]);
/// assert!(program.stablehlo()?.text.contains("sdy.mesh @mesh = <[\"d\"=4]>"));
/// # Ok::<(), mind_xla::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    module: Canonical,
    options: Options,
}

impl Program {
    /// The function whose module this is: of a function `step` of `mind!`, `step::MIC` and `step::UPDATES`. The last outputs
    /// of the module update the inputs at the positions `updates`, in order.
    ///
    /// # Errors
    /// If the text is not a module's, or inputs cannot be updated so.
    pub fn from_mic(text: &str, updates: &[usize]) -> Result<Self, Error> {
        let wrong = |diags: Diags| {
            Error::Module(diags.as_slice().iter().map(|diag| &*diag.message).collect::<Vec<_>>().join("; "))
        };
        let document = mic::parse_document(text, &Limits::default()).map_err(wrong)?;
        let module = canonicalise(document.verify(Profile::Extended).map_err(wrong)?);
        let (inputs, outputs) = (module.inputs().len(), module.outputs());
        let results = outputs.len().checked_sub(updates.len());
        let results = results.ok_or_else(|| {
            let (needed, found) = (updates.len(), outputs.len());
            Error::Module(format!("it has {found} outputs, and {needed} inputs are to be updated"))
        })?;
        for (position, input) in updates.iter().enumerate() {
            let ty = (*input < inputs).then(|| module.ty(ValueId::new(*input)));
            if ty != Some(module.ty(outputs[results + position])) || updates[..position].contains(input) {
                let output = results + position;
                return Err(Error::Module(format!("output {output} cannot update input {input}")));
            }
        }
        let updates = updates.iter().enumerate();
        let updates = updates.map(|(position, input)| Update { output: results + position, input: *input });
        Ok(Self::new(module, Options { updates: updates.collect(), ..Options::default() }))
    }

    /// A module, with what is said of it.
    #[must_use]
    pub const fn new(module: Canonical, options: Options) -> Self {
        Self { module, options }
    }

    /// Says the extent of a symbol. Each symbol of the function needs one.
    #[must_use]
    pub fn extent(mut self, symbol: &str, extent: usize) -> Self {
        self.options.extents.insert(symbol.into(), number(extent));
        self
    }

    /// Adds an axis of so many devices to the mesh. The program is for as many devices as all axes together have.
    #[must_use]
    pub fn axis(mut self, name: &str, devices: usize) -> Self {
        self.options.mesh.get_or_insert_with(Mesh::default).axes.push((name.into(), number(devices)));
        self
    }

    /// Splits an argument: for each of its dimensions the axis of the mesh that splits it, or `_`. A field of a struct is
    /// named as `net.w1`. What is not split is whole on every device.
    #[must_use]
    pub fn split(mut self, argument: &str, axes: &[&str]) -> Self {
        let axes = axes.iter().map(|axis| (*axis != "_").then(|| (*axis).into())).collect();
        self.options.mesh.get_or_insert_with(Mesh::default).shards.insert(argument.into(), axes);
        self
    }

    /// The text that is compiled, and what its arguments and results are.
    ///
    /// # Errors
    /// If a symbol has no extent, or an argument cannot be split so.
    pub fn stablehlo(&self) -> Result<Described, Error> {
        Ok(stablehlo::described(&self.module, &self.options)?)
    }
}

/// What does not fit is more than any tensor or machine has, which the text refuses.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
