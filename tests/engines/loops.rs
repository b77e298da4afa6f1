//! Writes random modules of loops. Each has the files of a module, and two further ones:
//!
//! - `NAME.json`: the module before canonicalisation, with its symbols replaced by the extents of the inputs;
//! - `NAME.split`: the module as StableHLO for eight devices. Each input whose leading extent is a multiple of 8 is
//!   split along that axis, and the other inputs are whole on every device.
//!
//! Its gradient by all floating-point inputs is `NAME.grad`, on the same inputs and random cotangents. It has no JSON.
//!
//! Floats are drawn from 2^20 numbers, so that elements are hardly ever equal or 0. There engines have other
//! derivatives.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    path::Path,
    sync::Arc,
};

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    cumulate::Cumulate,
    dim::{Bindings, Dim},
    grad::differentiate,
    interp::{Array, Elements, Options, run, run_observed},
    ir::{Guard, Module, Nested, Nesting, Op, Own, Rows, Window},
    map::Notation,
    ops::{Profile, WorkClass},
    stablehlo::{self, Mesh},
    testing::{Random, loops_from_bytes, random_inputs, run_bounded},
    text::json,
    verify::verify,
};
use mind_shape::match_elements;

use super::{Writer, by_all_floats, options};

/// The number of devices.
const DEVICES: usize = 8;

/// One module in this number has a symbol as its number of steps, which is [`DEVICES`].
const SPLIT: usize = 3;

/// One module in this number has a loop in a loop, which is rare otherwise.
const NESTED: usize = 4;

/// The least number of instructions in loops that compute floats.
const COMPUTED: usize = 3;

/// The least number of inputs on which the outputs depend.
const READ: usize = 2;

/// Writes `count` modules.
pub fn write(folder: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    let mut writer = Writer::new(folder);
    // The number of modules that are still needed, by whether they have a symbol and a loop in a loop.
    let mut needed: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    for at in 0..count {
        *needed.entry((at % SPLIT == 0, at % NESTED == 0)).or_default() += 1;
    }
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0.. {
        if needed.values().all(|needed| *needed == 0) {
            break;
        }
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..1000).map(|_| random.bits() as u8).collect();
        let module = loops_from_bytes(&bytes);
        // The canonical form contains a part of these instructions.
        if Properties::of(&module).computed < COMPUTED || has_operations_of_gradients(&module) {
            continue;
        }
        let verified = verify(module.clone(), Profile::Extended).map_err(|errors| format!("{errors:?}"))?;
        let canonical = canonicalise(verified);
        let properties = Properties::of(&canonical);
        let Some(needed) = needed.get_mut(&properties.kind()).filter(|needed| **needed > 0) else { continue };
        let is_written = properties.computed >= COMPUTED
            && write_module(&mut writer, &format!("loops_{seed}"), &module, &canonical, &mut random)?;
        if is_written {
            *needed -= 1;
            for name in properties.names {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    println!("{count} modules of loops, {} cases", writer.written);
    for (name, count) in counts {
        println!("  {count:4} {name}");
    }
    for (name, why) in &writer.skipped {
        println!("left out: {name}: {why}");
    }
    Ok(())
}

/// Writes a module and its gradient if there are [inputs that matter](inputs_that_matter). Returns whether there are.
fn write_module(
    writer: &mut Writer,
    name: &str,
    module: &Module,
    canonical: &Canonical,
    random: &mut Random,
) -> Result<bool, Box<dyn Error>> {
    let bindings: Bindings = [("N".into(), Dim::literal(DEVICES as i64))].into();
    // A window may be larger than such an extent.
    let Ok(known) = specialised(module, &bindings) else { return Ok(false) };
    let Some(inputs) = inputs_that_matter(canonical, &known, random)? else { return Ok(false) };
    let gradient = differentiate(canonical, &by_all_floats(canonical))
        .map_err(|error| format!("{name}: {error}"))?
        .module;
    let outputs = run_bounded(canonical, &inputs)?;
    let cotangents = outputs.iter().map(|output| spread(&output.value, random));
    let given: Vec<Array> = inputs.iter().cloned().chain(cotangents).collect();
    let results = run_bounded(&gradient, &given)?;

    fs::write(writer.folder.join(format!("{name}.json")), json::print(&known))?;
    writer.case(name, canonical, &inputs, &outputs)?;
    write_split(writer, name, canonical, &inputs)?;
    let name = format!("{name}.grad");
    writer.case(&name, &gradient, &given, &results)?;
    write_split(writer, &name, &gradient, &given)?;
    Ok(true)
}

/// Writes a module for several devices.
fn write_split(
    writer: &Writer,
    name: &str,
    module: &Canonical,
    inputs: &[Array],
) -> Result<(), Box<dyn Error>> {
    let axis: Arc<str> = "d".into();
    let mut mesh = Mesh { axes: vec![(axis.clone(), DEVICES as i64)], ..Mesh::default() };
    for ((name, _), input) in module.inputs().zip(inputs) {
        if input.shape.first().is_some_and(|extent| extent % DEVICES == 0) {
            let mut axes = vec![None; input.shape.len()];
            axes[0] = Some(axis.clone());
            mesh.shards.insert(name.clone(), axes);
        }
    }
    let options = stablehlo::Options { mesh: Some(mesh), ..options(module, inputs)? };
    fs::write(writer.folder.join(format!("{name}.split")), stablehlo::print(module, &options)?)?;
    Ok(())
}

const NESTED_LOOP: &str = "with a loop in a loop";
const SYMBOL: &str = "with a symbol as number of steps";

/// The properties of a module, of which the output has counts.
#[derive(Default)]
struct Properties {
    names: BTreeSet<&'static str>,
    /// The number of instructions in loops that compute floats.
    computed: usize,
}

impl Properties {
    fn of(module: &Module) -> Self {
        let mut properties = Self::default();
        properties.add(module, 0);
        let has_symbol = module.inputs().any(|(_, ty)| ty.shape.as_literals().is_none());
        properties.names.extend(has_symbol.then_some(SYMBOL));
        properties
    }

    /// Whether the module has a symbol, and whether it has a loop in a loop.
    fn kind(&self) -> (bool, bool) {
        (self.names.contains(SYMBOL), self.names.contains(NESTED_LOOP))
    }

    /// Adds the properties of a module in so many loops.
    fn add(&mut self, module: &Module, depth: usize) {
        for inst in module.insts() {
            let computes = match inst.op.info().class {
                WorkClass::Elementwise | WorkClass::Reduction | WorkClass::Kernel => inst.ty.dtype.is_float(),
                WorkClass::Input | WorkClass::Constant | WorkClass::View | WorkClass::Module => false,
            };
            self.computed += usize::from(depth > 0 && computes);
            let Some(nested) = runs(&inst.op) else {
                self.names.extend(inst.op.nested().map(|_| "with a pullback"));
                continue;
            };
            let Some(scan) = inst.op.as_loop() else {
                // The canonical form has the instructions of a call.
                self.add(nested, depth);
                continue;
            };
            self.names.insert(match scan.guard {
                Guard::Always => "with a loop of all steps",
                Guard::Carry => "with a loop that ends early",
                Guard::Operand => "with a loop that leaves out steps",
            });
            let others = [
                (depth > 0, NESTED_LOOP),
                (scan.reverse, "with a reversed loop"),
                (scan.carries > 1, "with a loop of several carries"),
                (scan.checkpoint > 0, "with a checkpoint"),
            ];
            self.names.extend(others.into_iter().filter(|(has, _)| *has).map(|(_, name)| name));
            self.add(nested, depth + 1);
        }
    }
}

/// Whether a module has operations that only gradients contain. An engine derives gradients from other operations.
fn has_operations_of_gradients(module: &Module) -> bool {
    module.insts().iter().any(|inst| {
        let is_of_gradients = match &inst.op {
            Op::Map(map) => map.row().notation == Notation::Never,
            op => matches!(
                op,
                Op::Cumulate(Cumulate::Recurrence, _)
                    | Op::Rows(Rows::ScatterAdd { .. } | Rows::AddAlong { .. })
                    | Op::Window(Window::Conv2dGradInput { .. } | Window::Conv2dGradFilter { .. })
            ),
        };
        is_of_gradients || runs(&inst.op).is_some_and(|nested| has_operations_of_gradients(nested))
    })
}

/// The module that an operation runs. Only gradients run that of a pullback.
fn runs(op: &Op) -> Option<&Nested> {
    op.nested().filter(|_| !matches!(op, Op::Own(Own::Nesting(Nesting::Pullback(_)))))
}

/// The module with symbols replaced.
fn specialised(module: &Module, bindings: &Bindings) -> Result<Module, Box<dyn Error>> {
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    for (name, ty) in module.inputs() {
        inputs.push(builder.input(name.clone(), ty.substitute(bindings)?)?);
    }
    let outputs = builder.inline(module, &inputs, bindings)?;
    Ok(builder.finish(outputs))
}

/// Inputs on which every value of a module is finite, if its outputs depend on at least [`READ`] of them. Where a value
/// is not finite, engines have other derivatives. `known` is the module without symbols.
fn inputs_that_matter(
    module: &Canonical,
    known: &Module,
    random: &mut Random,
) -> Result<Option<Vec<Array>>, Box<dyn Error>> {
    let known = verify(known.clone(), Profile::Extended).map_err(|errors| format!("{errors:?}"))?;
    for seed in 0..10 {
        let Some(mut inputs) = random_inputs(&known, seed) else { continue };
        inputs.iter_mut().for_each(|input| *input = spread(input, random));
        let mut is_finite = true;
        let outputs = run_observed(&known, &inputs, &Options::default(), &mut |seen| {
            is_finite &= seen.result.elements.to_f64().iter().all(|element| element.is_finite());
            Ok(())
        });
        let (Ok(outputs), true) = (outputs, is_finite) else { continue };
        let matters = |input: &usize| {
            let mut others = inputs.clone();
            others[*input] = spread(&inputs[*input], random);
            run(module, &others).is_ok_and(|found| differ(&found, &outputs))
        };
        let matter = (0..inputs.len()).filter(matters).count();
        return Ok((matter >= READ).then_some(inputs));
    }
    Ok(None)
}

/// Whether any element is finite in both and differs.
fn differ(some: &[Array], others: &[Array]) -> bool {
    some.iter().zip(others).any(|(a, b)| {
        let (a, b) = (a.elements.to_f64(), b.elements.to_f64());
        a.iter().zip(&b).any(|(a, b)| a.is_finite() && b.is_finite() && a != b)
    })
}

/// The same value with random floats from -2 to 2.
fn spread(value: &Array, random: &mut Random) -> Array {
    let mut value = value.clone();
    match_elements!(&mut value.elements, Elements(elements) {
        floats => elements.iter_mut().for_each(|element| {
            *element = (random.below(1 << 20) as f64 / f64::from(1 << 18) - 2.0) as _;
        }),
        others => {},
    });
    value
}
