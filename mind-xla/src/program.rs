//! The input of compilation: a module, the extents of its symbols, and its split over devices.

use std::collections::BTreeMap;

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Diags,
    ir::ValueId,
    ops::Profile,
    plan::Update,
    stablehlo::{self, Compute, Described, Mesh, Options, Precision},
    text::{Limits, mic},
};

use crate::error::Error;

/// A function of the language, the extents of its symbols, and the split of its arguments over devices.
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
    /// XLA's options by name.
    pub(crate) flags: BTreeMap<String, String>,
}

impl Program {
    /// Creates the program of a module. For a function `step` of `mind!`, pass `step::MIC` and `step::UPDATES`. The
    /// last outputs of the module update the inputs at the positions `updates`, in order.
    ///
    /// # Errors
    /// If the text is not a valid module, or an output cannot update the input at its position of `updates`.
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

    /// Creates the program of a parsed module, with these options.
    #[must_use]
    pub const fn new(module: Canonical, options: Options) -> Self {
        Self { module, options, flags: BTreeMap::new() }
    }

    /// Sets the extent of a symbol. Each symbol of the function needs an extent.
    #[must_use]
    pub fn extent(mut self, symbol: &str, extent: usize) -> Self {
        self.options.extents.insert(symbol.into(), number(extent));
        self
    }

    /// Adds an axis of `devices` devices to the mesh. The program runs on as many devices as the product of all axes.
    #[must_use]
    pub fn axis(mut self, name: &str, devices: usize) -> Self {
        self.options.mesh.get_or_insert_with(Mesh::default).axes.push((name.into(), number(devices)));
        self
    }

    /// Splits an argument. `axes` has one entry per dimension: the axis of the mesh that splits it, or `_`. Name a
    /// field of a struct as in `net.w1`. An argument that is not split is whole on every device.
    #[must_use]
    pub fn split(mut self, argument: &str, axes: &[&str]) -> Self {
        let axes = axes.iter().map(|axis| (*axis != "_").then(|| (*axis).into())).collect();
        self.options.mesh.get_or_insert_with(Mesh::default).shards.insert(argument.into(), axes);
        self
    }

    /// Sets the lowest precision in which the devices may compute products and convolutions of `f32`. The default is
    /// [`Precision::Highest`], which is `f32` throughout.
    ///
    /// ```
    /// use mind_xla::{Precision, Program};
    ///
    /// let product = "mic@1\nS0 \"x\"\nT0 [f32;4,4]\nN1 input S0 T0\nN2 matmul N1 N1 T0\nO N2\n";
    /// let program = Program::from_mic(product, &[])?;
    /// assert!(program.stablehlo()?.text.contains("precision = [HIGHEST, HIGHEST]"));
    /// let program = program.precision(Precision::Tf32);
    /// assert!(program.stablehlo()?.text.contains("precision = [HIGH, HIGH]"));
    /// # Ok::<(), mind_xla::Error>(())
    /// ```
    #[must_use]
    pub const fn precision(mut self, precision: Precision) -> Self {
        self.options.precision = precision;
        self
    }

    /// Sets the type in which products and convolutions of `f32` are computed. With [`Compute::Bf16`] their operands are
    /// rounded on every device. Arguments, results, sums and all other operations stay `f32`.
    ///
    /// ```
    /// use mind_xla::{Compute, Program};
    ///
    /// let product = "mic@1\nS0 \"x\"\nT0 [f32;4,4]\nN1 input S0 T0\nN2 matmul N1 N1 T0\nO N2\n";
    /// let text = Program::from_mic(product, &[])?.compute(Compute::Bf16).stablehlo()?.text;
    /// assert!(text.contains("(tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>"));
    /// # Ok::<(), mind_xla::Error>(())
    /// ```
    #[must_use]
    pub const fn compute(mut self, compute: Compute) -> Self {
        self.options.compute = compute;
        self
    }

    /// Sets an option of XLA's compiler by name, such as `xla_gpu_autotune_level`. The plugin reads the text by the
    /// option's type, and compiling fails if it has no such option. Boolean options are `True` or `False`.
    ///
    /// ```
    /// use mind_xla::Program;
    ///
    /// let double = "mic@1\nS0 \"x\"\nT0 [f32;3]\nN1 input S0 T0\nN2 add N1 N1 T0\nO N2\n";
    /// let program = Program::from_mic(double, &[])?.xla_option("xla_backend_optimization_level", "0");
    /// # let _ = program;
    /// # Ok::<(), mind_xla::Error>(())
    /// ```
    #[must_use]
    pub fn xla_option(mut self, name: &str, value: &str) -> Self {
        self.flags.insert(name.into(), value.into());
        self
    }

    /// The StableHLO text of the program, with descriptions of its arguments and results.
    ///
    /// # Errors
    /// If a symbol has no extent, or an argument cannot be split as set.
    pub fn stablehlo(&self) -> Result<Described, Error> {
        Ok(stablehlo::described(&self.module, &self.options)?)
    }
}

/// Converts a count. A count that does not fit becomes `i64::MAX`, which lowering rejects.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
