//! Runs modules on the plugin that `MIND_PJRT_PLUGIN` names.

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements},
    ir::{Op, ValueId},
    map::Map,
    ops::Profile,
    stablehlo::Options,
    ty::{Shape, Type},
    verify::verify,
};
use mind_rt::Elements as Given;
use mind_xla::{Client, Plugin, Program, VARIABLE, Values};

/// A client with one device, or `None` without a plugin.
pub fn client() -> Option<Client> {
    if std::env::var_os(VARIABLE).is_none() {
        eprintln!("NOT RUN: `{VARIABLE}` names no plugin; `ci/xla` installs one");
        return None;
    }
    let plugin = Plugin::from_env().expect("the plugin loads");
    Some(plugin.client(&[]).expect("the plugin makes a client"))
}

/// Compiles and runs a module on the plugin, and returns its results.
pub fn run(client: &Client, name: &str, module: &Canonical, inputs: &[Array]) -> Vec<Elements> {
    let program = Program::new(module.clone(), Options::default());
    let executable = client.compile(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut call = executable.call();
    for ((argument, _), input) in module.inputs().zip(inputs) {
        call = call.elements(argument, &input.shape, given(&input.elements));
    }
    let results = call.run().unwrap_or_else(|error| panic!("{name}: {error}"));
    results.iter().map(|result| found(result.read().expect("it is read"))).collect()
}

/// A module that applies an element-wise function to operands of these shapes and element types.
pub fn of_elements(map: Map, operands: &[Array]) -> Canonical {
    let mut b = Builder::new();
    let inputs: Vec<_> = operands
        .iter()
        .zip(map.row().formals)
        .map(|(operand, formal)| {
            let extents: Vec<_> = operand.shape.iter().map(|extent| *extent as i64).collect();
            b.input(*formal, Type::new(operand.dtype(), Shape::literal(&extents))).expect("it is an input")
        })
        .collect();
    let result = b.push(Op::Map(map), &inputs).expect("it takes them");
    canonical(b, result)
}

/// The canonical module with this result.
pub fn canonical(builder: Builder, result: ValueId) -> Canonical {
    canonicalise(verify(builder.finish([result]), Profile::Extended).expect("it is valid"))
}

/// The gradient of a module by all floating-point inputs, with a cotangent as its last input. `None` if the module has
/// no floating-point inputs, or outputs of other types.
pub fn gradient(module: &Canonical) -> Option<Canonical> {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt: Vec<_> = floats.map(|(input, _)| Wrt { input: ValueId::new(input), zero_ok: true }).collect();
    let is_float = module.outputs().iter().all(|output| module.ty(*output).dtype.is_float());
    if wrt.is_empty() || !is_float {
        return None;
    }
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    Some(differentiate(module, &options).expect("it has a gradient").module)
}

/// Borrows elements of the interpreter as elements for the plugin.
fn given(elements: &Elements) -> Given<'_> {
    match elements {
        Elements::U8(elements) => Given::U8(elements),
        Elements::I32(elements) => Given::I32(elements),
        Elements::I64(elements) => Given::I64(elements),
        Elements::F32(elements) => Given::F32(elements),
        Elements::F64(elements) => Given::F64(elements),
        Elements::Bool(elements) => Given::Bool(elements),
    }
}

fn found(values: Values) -> Elements {
    match values {
        Values::U8(elements) => elements.into(),
        Values::I32(elements) => elements.into(),
        Values::I64(elements) => elements.into(),
        Values::F32(elements) => elements.into(),
        Values::F64(elements) => elements.into(),
        Values::Bool(elements) => elements.into(),
    }
}
