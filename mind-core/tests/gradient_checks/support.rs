//! Shared by the gradient tests: modules, arguments, and central differences by the reference interpreter.

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    data::TensorData,
    dim::{Bindings, Dim, Symbol},
    grad::{AutodiffError, Cotangent, Gradient, GradientOptions, Wrt, differentiate},
    interp::{self, Array, Elements},
    ir::{Const, Module, Nested, Op, ValueId},
    map::Map,
    ops::{
        Profile,
        sample::{Case, Domain},
    },
    opt::optimise_exactly,
    text::core_ir,
    ty::{DType, Shape, Type},
    verify::verify,
};

pub const PROFILES: [Profile; 2] = [Profile::Extended, Profile::CoreV1];
pub const FLOATS: [DType; 2] = [DType::F32, DType::F64];

/// Compares the gradient of every output by every float input with central differences in f64.
///
/// The analytic gradient runs in the module's own element type. Its error may be `tolerance` times the larger of 1 and
/// the difference quotient. Also checks that the primal's outputs are unchanged, bit for bit.
pub fn assert_gradients(
    what: &str,
    module: &Canonical,
    arguments: &[Array],
    profile: Profile,
    tolerance: f64,
) -> Result<Gradient, AutodiffError> {
    let gradient = differentiate(module, &every_float(module, profile))?;
    let mut rng = Rng::new(what);
    let results = run(module, arguments);
    let cotangents: Vec<Array> =
        results.iter().map(|result| like(result, |_| rng.between(-1.0, 1.0))).collect();
    let outputs = run(&gradient.module, &[arguments, &cotangents].concat());
    let (primal, analytic) = outputs.split_at(results.len());
    assert_eq!(bits(primal), bits(&results), "{what}: the primal's results changed");

    let reference = in_f64(module);
    let wide: Vec<Array> = arguments.iter().map(widened).collect();
    let weights: Vec<Vec<f64>> = cotangents.iter().map(numbers).collect();
    let float_inputs = (0..arguments.len()).filter(|position| arguments[*position].dtype().is_float());
    for (position, analytic) in float_inputs.zip(analytic) {
        let quotients = central_differences(&reference, &wide, position, &weights);
        for (element, (found, wanted)) in numbers(analytic).into_iter().zip(quotients).enumerate() {
            let allowed = tolerance * wanted.abs().max(1.0);
            assert!(
                (found - wanted).abs() <= allowed,
                "{what} in {profile:?}: input {position} element {element}: gradient {found:e}, differences {wanted:e}\n\
                 module\n{}gradient\n{}arguments {arguments:?}\ncotangents {cotangents:?}",
                core_ir::print(module),
                core_ir::print(&gradient.module)
            );
        }
    }
    Ok(gradient)
}

/// Differentiates by every float input, with one cotangent per output.
pub fn every_float(module: &Module, profile: Profile) -> GradientOptions {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(position, _)| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    GradientOptions { wrt, cotangent: Cotangent::Input, profile }
}

/// Differentiates by the inputs at these positions, which must reach the only output.
pub fn scalar_options(wrt: &[usize], profile: Profile) -> GradientOptions {
    let wrt = wrt.iter().map(|position| Wrt { input: ValueId::new(*position), zero_ok: false }).collect();
    GradientOptions { wrt, cotangent: Cotangent::One, profile }
}

/// Fourth-order differences of the weighted sum of all outputs by every element of one argument.
fn central_differences(
    module: &Canonical,
    arguments: &[Array],
    position: usize,
    weights: &[Vec<f64>],
) -> Vec<f64> {
    let at = |element: usize, offset: f64| {
        let mut arguments = arguments.to_vec();
        let Elements::F64(elements) = &mut arguments[position].elements else { panic!("widened to f64") };
        elements[element] += offset;
        let results = run(module, &arguments);
        let products = results.iter().zip(weights).flat_map(|(result, weights)| {
            numbers(result)
                .into_iter()
                .zip(weights)
                .map(|(result, weight)| weighted(result, *weight))
                .collect::<Vec<_>>()
        });
        products.sum::<f64>()
    };
    let step = 1e-3;
    let slope = |element, step: f64| (at(element, step) - at(element, -step)) / (2.0 * step);
    (0..numbers(&arguments[position]).len())
        .map(|element| (4.0 * slope(element, step / 2.0) - slope(element, step)) / 3.0)
        .collect()
}

/// A term of a weighted sum. An output that is always infinite, such as the maximum of no elements, has no slope.
fn weighted(result: f64, weight: f64) -> f64 {
    if result.is_infinite() { 0.0 } else { result * weight }
}

/// The slope of the weighted sum of all outputs as the arguments move along `directions`, by fourth-order differences.
pub fn slope_along(module: &Canonical, arguments: &[Array], directions: &[Array], weights: &[Array]) -> f64 {
    let at = |offset: f64| {
        let moved = arguments.iter().zip(directions).map(|(argument, direction)| {
            let (from, along) = (numbers(argument), numbers(direction));
            like(argument, |element| from[element] + offset * along[element])
        });
        let results = run(module, &moved.collect::<Vec<_>>());
        let products = results.iter().zip(weights).flat_map(|(result, weights)| {
            numbers(result).into_iter().zip(numbers(weights)).map(|(result, weight)| weighted(result, weight))
        });
        products.sum::<f64>()
    };
    let step = 1e-4;
    let slope = |step: f64| (at(step) - at(-step)) / (2.0 * step);
    (4.0 * slope(step / 2.0) - slope(step)) / 3.0
}

/// Turns the values that differentiation treats as constant into additional inputs. Returns the module and these
/// values.
pub fn frozen(module: &Canonical, arguments: &[Array]) -> (Canonical, Vec<Array>) {
    let stops: Vec<ValueId> = module
        .iter()
        .filter(|(_, inst)| inst.op == Op::Map(Map::StopGradient))
        .map(|(value, _)| value)
        .collect();
    if stops.is_empty() {
        return (module.clone(), Vec::new());
    }
    let insts = Module::clone(module).into_parts().0;
    let constants = run(&canonical(Module::from_parts(insts, stops.clone())), arguments);
    let mut builder = Builder::new();
    let mut values: Vec<ValueId> = module
        .inputs()
        .map(|(name, ty)| builder.input(name.clone(), ty.clone()).expect("was valid"))
        .collect();
    let mut constant_inputs: Vec<ValueId> = stops
        .iter()
        .map(|stop| builder.input(format!("stopped{stop}"), module.ty(*stop).clone()).expect("a new name"))
        .collect();
    constant_inputs.reverse();
    for (_, inst) in module.iter().skip(values.len()) {
        let operands = inst.operands.map(|operand| values[operand.index()]);
        values.push(if inst.op == Op::Map(Map::StopGradient) {
            constant_inputs.pop().expect("one a stop")
        } else {
            push(&mut builder, inst.op.clone(), &operands)
        });
    }
    let outputs: Vec<_> = module.outputs().iter().map(|output| values[output.index()]).collect();
    (canonical(builder.finish(outputs)), constants)
}

/// The module of one operation on inputs `a`, `b`, `c`.
pub fn single(op: &Op, operands: &[Type]) -> Canonical {
    build(operands, |b, inputs| vec![push(b, op.clone(), inputs)])
}

/// A module on inputs named `a`, `b`, ….
pub fn build(inputs: &[Type], body: impl FnOnce(&mut Builder, &[ValueId]) -> Vec<ValueId>) -> Canonical {
    let mut builder = Builder::new();
    let names = ('a'..='z').map(String::from);
    let values: Vec<_> = inputs
        .iter()
        .zip(names)
        .map(|(ty, name)| builder.input(name, ty.clone()).expect("a valid input"))
        .collect();
    let outputs = body(&mut builder, &values);
    canonical(builder.finish(outputs))
}

pub fn push(builder: &mut Builder, op: Op, operands: &[ValueId]) -> ValueId {
    builder.push(op, operands).unwrap_or_else(|error| panic!("{error}"))
}

/// The module with its floats in f64.
pub fn in_f64(module: &Module) -> Canonical {
    canonical(converted(module))
}

fn converted(module: &Module) -> Module {
    let mut builder = Builder::new();
    let mut values = Vec::new();
    for (_, inst) in module.iter() {
        let operands = inst.operands.map(|operand| values[operand.index()]);
        values.push(match &inst.op {
            Op::Input { name } => {
                let dtype = if inst.ty.dtype == DType::F32 { DType::F64 } else { inst.ty.dtype };
                builder.input(name.clone(), Type::new(dtype, inst.ty.shape.clone())).expect("was valid")
            }
            Op::Const(Const::F32(number)) => {
                push(&mut builder, Op::Const(Const::F64(f64::from(number.get()).into())), &[])
            }
            Op::Const(Const::Tensor { data: TensorData::F32(data), shape }) => {
                let data: Vec<f64> = data.iter().map(|element| f64::from(element.get())).collect();
                push(&mut builder, Op::Const(Const::Tensor { data: data.into(), shape: shape.clone() }), &[])
            }
            Op::Const(Const::Count { shape, dtype: DType::F32 }) => {
                push(&mut builder, Op::Const(Const::Count { shape: shape.clone(), dtype: DType::F64 }), &[])
            }
            Op::Map(Map::ToF32) => push(&mut builder, Op::Map(Map::ToF64), &operands),
            op => match op.nested() {
                Some(nested) => {
                    let nested =
                        Nested::new(converted(nested)).expect("it is as deep and as large as it was");
                    push(&mut builder, op.clone().with_nested(nested), &operands)
                }
                None => push(&mut builder, op.clone(), &operands),
            },
        });
    }
    let outputs: Vec<_> = module.outputs().iter().map(|output| values[output.index()]).collect();
    builder.finish(outputs)
}

/// The extent of a symbol in tests. It depends on the name and is never 1.
pub fn extent_of(symbol: &Symbol) -> i64 {
    2 + symbol.bytes().map(i64::from).sum::<i64>() % 3
}

/// The shape with every symbol bound by [`extent_of`].
pub fn bound(shape: &Shape) -> Vec<usize> {
    let symbols = ["A", "B", "C", "H", "K", "L", "M", "N", "P", "Q", "W"].map(Symbol::from);
    let bindings: Bindings = symbols.map(|symbol| (symbol.clone(), Dim::literal(extent_of(&symbol)))).into();
    let shape = shape.substitute(&bindings).expect("small extents");
    let extents = shape.as_literals().unwrap_or_else(|| panic!("a symbol of {shape} has no extent here"));
    extents.into_iter().map(|extent| usize::try_from(extent).expect("positive")).collect()
}

/// Arguments for an operation or a module: floats from `domain`, integers as indices below `index_bound`.
pub fn arguments(rng: &mut Rng, types: &[Type], domain: Domain, index_bound: i64) -> Vec<Array> {
    let mut apart = if domain == Domain::Apart { rng.between(0.0, 1.0) } else { 0.0 };
    types
        .iter()
        .map(|ty| {
            filled(ty.dtype, &bound(&ty.shape), |_| match (ty.dtype.is_float(), domain) {
                // Multiples of the golden ratio modulo 1, which are never close to each other.
                (true, Domain::Apart) => {
                    apart = (apart + 0.618_033_988_75).fract();
                    f64::from((apart * 4.0 - 2.0) as f32)
                }
                (true, _) => rng.float(domain),
                (false, _) => rng.below(index_bound) as f64,
            })
        })
        .collect()
}

/// The exclusive upper bound of valid indices, for a case whose operands include indices; 1 for other cases.
pub fn rows(case: &Case) -> i64 {
    let Op::Rows(rows) = &case.op else {
        return case
            .operands
            .first()
            .and_then(|ty| bound(&ty.shape).first().copied())
            .map_or(1, |rows| rows as i64);
    };
    let operands: Vec<&Type> = case.operands.iter().collect();
    let result = (case.op.info().infer)(&case.op, &operands).expect("a case obeys the rules");
    let extent = rows.extent_of_indices(&operands, &result).expect("small extents");
    bound(&Shape::new(vec![extent]))[0] as i64
}

pub fn filled(dtype: DType, shape: &[usize], mut element: impl FnMut(usize) -> f64) -> Array {
    let numbers: Vec<f64> = (0..shape.iter().product()).map(&mut element).collect();
    let elements = match dtype {
        DType::U8 => Elements::U8(numbers.iter().map(|number| *number as u8).collect()),
        DType::I32 => Elements::I32(numbers.iter().map(|number| *number as i32).collect()),
        DType::I64 => Elements::I64(numbers.iter().map(|number| *number as i64).collect()),
        DType::F32 => Elements::F32(numbers.iter().map(|number| *number as f32).collect()),
        DType::F64 => Elements::F64(numbers),
        DType::Bool => Elements::Bool(numbers.iter().map(|number| *number > 0.0).collect()),
    };
    Array { shape: shape.to_vec(), elements }
}

pub fn like(value: &Array, element: impl FnMut(usize) -> f64) -> Array {
    filled(value.dtype(), &value.shape, element)
}

pub fn vector(dtype: DType, elements: &[f64]) -> Array {
    filled(dtype, &[elements.len()], |position| elements[position])
}

pub fn scalar(dtype: DType, element: f64) -> Array {
    filled(dtype, &[], |_| element)
}

pub fn numbers(value: &Array) -> Vec<f64> {
    value.elements.to_f64()
}

/// The bits of elements, so that NaN and -0.0 compare equal only to themselves.
pub fn bits(values: &[Array]) -> Vec<Vec<u64>> {
    let of = |value: &Array| match &value.elements {
        Elements::U8(elements) => elements.iter().map(|element| *element as u64).collect(),
        Elements::I32(elements) => elements.iter().map(|element| *element as u64).collect(),
        Elements::I64(elements) => elements.iter().map(|element| *element as u64).collect(),
        Elements::F32(elements) => elements.iter().map(|element| u64::from(element.to_bits())).collect(),
        Elements::F64(elements) => elements.iter().map(|element| element.to_bits()).collect(),
        Elements::Bool(elements) => elements.iter().map(|element| u64::from(*element)).collect(),
    };
    values.iter().map(of).collect()
}

fn widened(value: &Array) -> Array {
    if value.dtype().is_float() {
        filled(DType::F64, &value.shape, |element| numbers(value)[element])
    } else {
        value.clone()
    }
}

pub fn canonical(module: Module) -> Canonical {
    let verified = verify(module, Profile::Extended).unwrap_or_else(|error| panic!("{error:?}"));
    canonicalise(verified)
}

/// Whether an elementwise function jumps where the quotient of its operands is an integer, as remainders do.
pub fn jumps_between_integers(op: &Op) -> bool {
    matches!(op, Op::Map(map) if map.row().pole.is_some() && map.row().jumps_where_equal)
}

/// Whether all quotients are away from integers, where remainders jump.
pub fn are_fractions(quotients: &[f64]) -> bool {
    quotients.iter().all(|quotient| (quotient - quotient.round()).abs() > 0.02)
}

/// The results of a module. Checks that the optimised module has the same results, bit for bit.
pub fn run(module: &Canonical, arguments: &[Array]) -> Vec<Array> {
    let results = interp::run(module, arguments)
        .unwrap_or_else(|error| panic!("{error} in\n{}", core_ir::print(module)));
    let optimised =
        verify((*optimise_exactly(module)).clone(), Profile::Extended).expect("optimised modules are valid");
    let again = interp::run(&optimised, arguments).expect("a module that runs runs optimised");
    let bits = |value: &Array| {
        value
            .elements
            .to_f64()
            .iter()
            .map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits())
            .collect::<Vec<_>>()
    };
    for (result, again) in results.iter().zip(&again) {
        assert_eq!(bits(result), bits(again), "{}\n{}", core_ir::print(module), core_ir::print(&optimised));
    }
    results
}

/// SplitMix64, seeded by a name.
pub struct Rng(u64);

impl Rng {
    pub fn new(name: &str) -> Self {
        Self(
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            }),
        )
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: i64) -> i64 {
        (self.next() % bound as u64) as i64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        // Only 20 random bits, so that arguments are the same numbers in f32 and f64.
        let unit = (self.next() >> 44) as f64 / (1u64 << 20) as f64;
        f64::from((low + unit * (high - low)) as f32)
    }

    pub fn float(&mut self, domain: Domain) -> f64 {
        match domain {
            Domain::Any | Domain::Apart => self.between(-2.0, 2.0),
            Domain::Positive => self.between(0.5, 2.0),
            Domain::AboveOne => self.between(1.2, 3.0),
            Domain::Unit => self.between(-0.9, 0.9),
            Domain::OffHalves => {
                let half = self.next() % 8;
                half as f64 * 0.5 - 2.0 + self.between(0.1, 0.4)
            }
            Domain::NonZero => {
                let size = self.between(0.1, 2.0);
                if self.next().is_multiple_of(2) { size } else { -size }
            }
        }
    }
}
