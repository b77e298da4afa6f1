//! Every function of elements and every reduction on a real plugin, with their gradients, at special numbers: NaN, infinities,
//! zeros of both signs, the ends of the range. The interpreter says what is right, but for what `docs/engines.md` lists.
//! The plugin is that which `MIND_PJRT_PLUGIN` names; without, it is said aloud that nothing was tried.

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{self, Elements, Value},
    ir::{Cumulation, Op, Reduction, ValueId},
    map::Map,
    ops::Profile,
    reduce::{ArgReduce, Cumulate, Reduce},
    stablehlo::Options,
    ty::{DType, Shape, Type},
    verify::verify,
};
use mind_rt::Elements as Given;
use mind_xla::{Client, Plugin, Program, VARIABLE, Values};

/// One device; none where there is no plugin.
fn client() -> Option<Client> {
    if std::env::var_os(VARIABLE).is_none() {
        eprintln!("NOT RUN: `{VARIABLE}` names no plugin; `ci/xla` installs one");
        return None;
    }
    let plugin = Plugin::from_env().expect("the plugin loads");
    Some(plugin.client(&[]).expect("the plugin makes a client"))
}

/// Numbers at which functions are special, and some beside them.
fn specials(dtype: DType) -> Vec<f64> {
    let largest = if dtype == DType::F32 { f64::from(f32::MAX) } else { f64::MAX };
    let least = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    // Above the least normal number, as what is a part of that is subnormal, which engines flush to 0.
    let least = 4.0 * least;
    let either = [
        0.0, 0.5, 1.0, 1.0001, 1.5, 1.999, 2.0, 3.0, 1e-20, 1e-10, 1e-3, 6.0, 104.0, 1e10, 1e20, largest,
        least,
    ];
    let both = either.into_iter().chain([f64::INFINITY]).flat_map(|number| [number, -number]);
    both.chain([f64::NAN]).collect()
}

fn integers(dtype: DType) -> Vec<i64> {
    let ends = if dtype == DType::I32 { [i32::MIN.into(), i32::MAX.into()] } else { [i64::MIN, i64::MAX] };
    [1, 2, 3, 7, -1, -2, -3].into_iter().chain(ends).collect()
}

fn elements(dtype: DType, floats: &[f64]) -> Elements {
    match dtype {
        DType::F32 => floats.iter().map(|x| *x as f32).collect::<Vec<_>>().into(),
        DType::F64 => floats.to_vec().into(),
        DType::Bool => floats.iter().map(|x| *x > 0.0).collect::<Vec<_>>().into(),
        DType::I32 | DType::I64 => unreachable!("integers have numbers of their own"),
    }
}

/// The operands of a function: every combination of special numbers.
fn operands(map: Map, dtype: DType) -> Vec<Elements> {
    let row = map.row();
    let choices = if dtype.is_float() {
        specials(dtype).len()
    } else if dtype == DType::Bool {
        2
    } else {
        integers(dtype).len()
    };
    let count = choices.pow(row.arity() as u32);
    // The interpreter's second derivative of `erfcx` is NaN near the largest number, where the engine's is right.
    let orders = if row.mnemonic == "polygamma" { 4 } else { 1 };
    let chosen = |position: usize| (0..count).map(move |at| at / choices.pow(position as u32) % choices);
    let operands = (0..row.arity()).map(|position| match row.operand(position, dtype) {
        DType::Bool => Elements::from(chosen(position).map(|at| at % 2 == 1).collect::<Vec<_>>()),
        // Shifts by less than nothing stop nowhere, and are no number of any engine.
        DType::I32 => chosen(position).map(|at| integers(dtype)[at] as i32).collect::<Vec<_>>().into(),
        DType::I64 => chosen(position).map(|at| integers(dtype)[at]).collect::<Vec<_>>().into(),
        // Orders of derivatives that engines have, with the gradient one order up.
        DType::F32 | DType::F64 if row.formals[position] == "n" => {
            elements(dtype, &chosen(position).map(|at| (at % orders) as f64).collect::<Vec<_>>())
        }
        DType::F32 | DType::F64 => {
            elements(dtype, &chosen(position).map(|at| specials(dtype)[at]).collect::<Vec<_>>())
        }
    });
    operands.collect()
}

fn canonical(builder: Builder, result: ValueId) -> Canonical {
    canonicalise(verify(builder.finish([result]), Profile::Extended).expect("it is valid"))
}

/// The module's gradient by all floats, of a cotangent that is an input; none where it has none.
fn gradient(module: &Canonical) -> Option<Canonical> {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt: Vec<_> = floats.map(|(input, _)| Wrt { input: ValueId::new(input), zero_ok: true }).collect();
    let is_float = module.outputs().iter().all(|output| module.ty(*output).dtype.is_float());
    if wrt.is_empty() || !is_float {
        return None;
    }
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    Some(differentiate(module, &options).expect("it has a gradient").module)
}

/// A value with the same elements as the plugin takes them.
fn given(elements: &Elements) -> Given<'_> {
    match elements {
        Elements::I32(elements) => Given::I32(elements),
        Elements::I64(elements) => Given::I64(elements),
        Elements::F32(elements) => Given::F32(elements),
        Elements::F64(elements) => Given::F64(elements),
        Elements::Bool(elements) => Given::Bool(elements),
    }
}

fn found(values: Values) -> Elements {
    match values {
        Values::I32(elements) => elements.into(),
        Values::I64(elements) => elements.into(),
        Values::F32(elements) => elements.into(),
        Values::F64(elements) => elements.into(),
        Values::Bool(elements) => elements.into(),
    }
}

/// How a result is compared.
#[derive(Clone, Copy)]
struct Near {
    relative: f64,
    /// The least normal number, below which engines give 0, and of which parts of a result may be 0.
    least: f64,
}

fn near(name: &str, dtype: DType) -> Near {
    // The fourth derivative below 0 is the difference of larger numbers. XLA's `tanh` is a unit in the last place off near 1, of which
    // the gradient at 6 is a hundredth.
    let loose = match name.split(' ').next() {
        Some("polygamma") => 1e-3,
        Some("tanh") => 1e-2,
        Some(_) | None => 2e-5,
    };
    match dtype {
        DType::F32 => Near { relative: loose, least: f64::from(f32::MIN_POSITIVE) },
        DType::F64 => Near { relative: 1e-9, least: f64::MIN_POSITIVE },
        DType::I32 | DType::I64 | DType::Bool => Near { relative: 0.0, least: 0.0 },
    }
}

fn agree(found: f64, expected: f64, near: Near) -> bool {
    let apart = (found - expected).abs();
    found == expected
        || (found.is_nan() && expected.is_nan())
        || apart <= near.relative * expected.abs()
        || (found.abs() <= near.least && expected.abs() <= 1000.0 * near.least)
}

/// Where the plugin's results are not the interpreter's.
fn differences(client: &Client, name: &str, module: &Canonical, inputs: &[Value], wrong: &mut Vec<String>) {
    let expected = interp::run(module, inputs).expect("it runs");
    let program = Program::new(module.clone(), Options::default());
    let executable = client.compile(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut call = executable.call();
    for ((argument, _), input) in module.inputs().zip(inputs) {
        call = call.elements(argument, &input.shape, given(&input.elements));
    }
    let results = call.run().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(results.len(), expected.len(), "{name}");
    for (output, (result, expected)) in results.iter().zip(&expected).enumerate() {
        let result = found(result.read().expect("it is read"));
        let near = near(name, expected.dtype());
        let (found, expected) = (result.to_f64(), expected.elements.to_f64());
        let apart: Vec<_> = (0..found.len()).filter(|at| !agree(found[*at], expected[*at], near)).collect();
        let shown = apart.iter().take(6).map(|at| {
            let at_inputs = inputs.iter().map(|input| {
                let all = input.elements.to_f64();
                format!("{:e}", all[*at % all.len()])
            });
            let at_inputs = at_inputs.collect::<Vec<_>>().join(", ");
            format!("\n    ({at_inputs}): {:e}, needed {:e}", found[*at], expected[*at])
        });
        if !apart.is_empty() {
            wrong.push(format!(
                "{name}, output {output}: {} of {}{}",
                apart.len(),
                found.len(),
                shown.collect::<String>()
            ));
        }
    }
}

#[test]
fn functions_of_elements_keep_special_numbers() {
    let Some(client) = client() else { return };
    let mut wrong = Vec::new();
    for map in Map::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| map.row().takes(*dtype)) {
            let row = map.row();
            let operands = operands(*map, dtype);
            let count = operands[0].len();
            let mut b = Builder::new();
            let inputs: Vec<_> = operands.into_iter().map(|elements| Value::new([count], elements)).collect();
            let ids: Vec<_> = inputs
                .iter()
                .zip(row.formals)
                .map(|(input, formal)| {
                    let ty = Type::new(input.dtype(), Shape::literal(&[count as i64]));
                    b.input(*formal, ty).expect("it is an input")
                })
                .collect();
            let result = b.push(Op::Map(*map), &ids).expect("it takes them");
            let module = canonical(b, result);
            let name = format!("{} of {dtype}", row.mnemonic);
            if interp::run(&module, &inputs).is_err() {
                continue;
            }
            differences(&client, &name, &module, &inputs, &mut wrong);
            if let Some(gradient) = gradient(&module) {
                let mut inputs = inputs.clone();
                inputs.push(Value::new(
                    [count],
                    elements(module.ty(module.outputs()[0]).dtype, &vec![1.0; count]),
                ));
                differences(&client, &format!("{name}, gradient"), &gradient, &inputs, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows of three numbers, in which each special number stands at each place, beside others of its kind too.
fn rows(dtype: DType) -> Vec<f64> {
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -2.0, 1e20];
    let all = specials.iter().flat_map(|a| specials.iter().map(move |b| (*a, *b)));
    let rows = all.flat_map(|(a, b)| specials.iter().flat_map(move |c| [a, b, *c]));
    let rows: Vec<f64> = rows.collect();
    if dtype == DType::Bool { rows.iter().map(|x| if *x > 0.0 { 1.0 } else { 0.0 }).collect() } else { rows }
}

#[test]
fn reductions_keep_special_numbers() {
    let Some(client) = client() else { return };
    let mut wrong = Vec::new();
    let over = || Reduction { axes: vec![1], keepdims: false };
    let along = |reverse, exclusive| Cumulation { axis: 1, reverse, exclusive };
    let sums = [(false, false), (true, false), (false, true), (true, true)];
    let sums = sums.map(|(reverse, exclusive)| Op::Cumulate(Cumulate::Sum, along(reverse, exclusive)));
    for dtype in [DType::F32, DType::F64, DType::Bool] {
        let reductions = Reduce::ALL.iter().filter(|reduce| takes(**reduce, dtype));
        let reductions = reductions.map(|reduce| Op::Reduce(*reduce, over()));
        let places = [ArgReduce::Max, ArgReduce::Min].map(|arg| Op::ArgReduce(arg, over()));
        let others = places.into_iter().chain(sums.clone()).filter(|_| dtype.is_float());
        for op in reductions.chain(others) {
            let name = format!("{op:?} of {dtype}");
            let elements_of_rows = rows(dtype);
            let count = elements_of_rows.len() / 3;
            let mut b = Builder::new();
            let ty = Type::new(dtype, Shape::literal(&[count as i64, 3]));
            let x = b.input("x", ty).expect("it is an input");
            let result = b.push(op, &[x]).expect("it takes it");
            let module = canonical(b, result);
            let inputs = vec![Value::new([count, 3], elements(dtype, &elements_of_rows))];
            differences(&client, &name, &module, &inputs, &mut wrong);
            if let Some(gradient) = gradient(&module) {
                let like = gradient.inputs().last().expect("the cotangent is the last input").1;
                let shape: Vec<usize> =
                    like.shape.iter().map(|dim| dim.as_literal().expect("it is a number") as usize).collect();
                let ones = vec![1.0; shape.iter().product()];
                let inputs = [inputs, vec![Value::new(shape, elements(dtype, &ones))]].concat();
                differences(&client, &format!("{name}, gradient"), &gradient, &inputs, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn takes(reduce: Reduce, dtype: DType) -> bool {
    let ty = Type::new(dtype, Shape::literal(&[2, 3]));
    let mut b = Builder::new();
    let x = b.input("x", ty).expect("it is an input");
    b.push(Op::Reduce(reduce, Reduction { axes: vec![1], keepdims: false }), &[x]).is_ok()
}
