//! Values and gradients of every function, compared with the values recorded by `ci/vectors`, and gradients compared
//! with differences.

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use mind_core::{
    canon::Canonical,
    interp::{Array, Elements},
    standard::FILES,
    ty::{DType, Shape, Type},
};

use super::states::state_of;
use super::support::{compiled, expression, floats, run, templates, with_gradients};

/// The usual errors, in f64 and in f32: a few roundings.
const WITHIN: [f64; 2] = [2e-14, 4e-6];

/// The allowed difference of a gradient from difference quotients, relative to the larger of 1 and the largest
/// quotient.
const OF_DIFFERENCES: f64 = 1e-7;

/// The error for a function with a loop in an expression.
const OF_A_LOOP: &str = "found a loop, which is only allowed in functions";

/// A number that is not compared.
pub const ANY: f64 = 134_217_728.0;

/// A call of a function, with its expected results.
pub struct Entry {
    /// The function: `softmax`
    pub function: String,
    /// The call: `softmax(x, axis = 0)`
    pub call: String,
    pub inputs: Vec<Tensor>,
    pub results: Vec<Tensor>,
    /// The gradients by the name of the input: none, or one for each float input.
    pub gradients: Vec<(String, Vec<f64>)>,
    pub relative: bool,
    kink: bool,
    within: [f64; 2],
    /// The only element type that it applies to; `None` for both.
    pub only: Option<DType>,
}

/// A recorded tensor: `x: float[2, 3] = 1, 2, …`
pub struct Tensor {
    pub name: String,
    elements: String,
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
    /// The numbers of an integer type. Floats do not hold all of them.
    integers: Vec<i64>,
}

#[test]
fn every_function_gives_what_is_recorded() {
    let mut wrong = String::new();
    for (file, _) in FILES {
        let entries = entries("vectors", file);
        let tried: BTreeSet<&str> = entries.iter().map(|entry| entry.function.as_str()).collect();
        for template in templates(file) {
            let name = template.name.to_string();
            // A step over a struct applies the function to each field, which another test covers.
            if !tried.contains(name.as_str()) && state_of(&template).is_none() {
                writeln!(wrong, "{file}::{name} has no entry in tests/std/vectors/{file}.txt")
                    .expect("a string");
            }
        }
        for (at, entry) in crate::sample::some("entries", entries.iter().enumerate()) {
            let calls = entry.call.contains(&format!("{}(", entry.function));
            assert!(calls, "{file}: `{}` does not call `{}`", entry.call, entry.function);
            for dtype in crate::sample::in_turn(at, [DType::F64, DType::F32]) {
                entry.check(file, dtype, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_function_gives_the_same_in_expressions() {
    let mut wrong = String::new();
    for (file, _) in FILES {
        for entry in crate::sample::sample("entries", entries("vectors", file)) {
            let inputs: Vec<Array> = entry.inputs.iter().map(|input| input.value(DType::F64)).collect();
            let expected = run(&compiled(file, &entry.program(DType::F64)), &inputs);
            let leaves: Vec<(String, Type)> = entry
                .inputs
                .iter()
                .zip(&inputs)
                .map(|(input, value)| (input.name.clone(), type_of(value)))
                .collect();
            match expression(file, &entry.call, &leaves) {
                Err(why) if why.contains(OF_A_LOOP) => {}
                Err(why) => writeln!(wrong, "{file}: `{}`: {why}", entry.call).expect("a string"),
                Ok((module, names)) => {
                    let value = |name: &String| {
                        let place = entry.inputs.iter().position(|input| input.name == *name);
                        inputs[place.expect("leaves are inputs")].clone()
                    };
                    let found = run(&module, &names.iter().map(value).collect::<Vec<_>>());
                    if bits(&found) != bits(&expected) {
                        writeln!(wrong, "{file}: `{}`: {found:?}, in a function {expected:?}", entry.call)
                            .expect("a string");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn type_of(value: &Array) -> Type {
    let extents: Vec<i64> = value.shape.iter().map(|extent| *extent as i64).collect();
    Type::new(value.dtype(), Shape::literal(&extents))
}

fn bits(values: &[Array]) -> Vec<(Vec<usize>, Vec<u64>)> {
    let numbers = |value: &Array| value.elements.to_f64().into_iter().map(f64::to_bits).collect();
    values.iter().map(|value| (value.shape.clone(), numbers(value))).collect()
}

impl Entry {
    /// The program that makes the call.
    pub fn program(&self, dtype: DType) -> String {
        let ty = |tensor: &Tensor| {
            let elements = if tensor.elements == "float" { dtype.name() } else { &tensor.elements };
            match tensor.shape[..] {
                [] => elements.to_owned(),
                _ => format!("{elements}{:?}", tensor.shape),
            }
        };
        let declared = |tensor: &Tensor, name: &str| format!("{name}: {}", ty(tensor));
        // `p.w` is a field of a struct parameter.
        let (mut parameters, mut fields) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            match input.name.split_once('.') {
                None => parameters.push(declared(input, &input.name)),
                Some((base, field)) => {
                    if fields.is_empty() {
                        parameters.push(format!("{base}: Fields"));
                    }
                    fields.push(declared(input, field));
                }
            }
        }
        let results: Vec<_> = self.results.iter().map(ty).collect();
        let result = if let [one] = &results[..] { one.clone() } else { format!("({})", results.join(", ")) };
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!("struct Fields {{ {} }}\n", fields.join(", "))
        };
        format!("{fields}fn entry({}) -> {result} {{ {} }}", parameters.join(", "), self.call)
    }

    fn check(&self, file: &str, dtype: DType, wrong: &mut String) {
        let module = compiled(file, &self.program(dtype));
        let inputs: Vec<Array> = self.inputs.iter().map(|input| input.value(dtype)).collect();
        let what = format!("{file}::{} in {dtype}, `{}`", self.function, self.call);
        let results = match self.gradients[..] {
            [] => run(&module, &inputs),
            _ => with_gradients(&module, &inputs, &self.cotangents(dtype)),
        };
        for (at, (found, wanted)) in results.iter().zip(&self.results).enumerate() {
            assert_eq!(found.shape, wanted.shape, "{what}: shape of result {at}");
            self.compare(&format!("{what}: result {at}"), found.dtype(), found, &wanted.numbers, wrong);
            if let Elements::I64(found) = &found.elements
                && *found != wanted.integers
            {
                writeln!(wrong, "{what}: {found:?}, recorded {:?}", wanted.integers).expect("a string");
            }
        }
        let gradients = &results[self.results.len()..];
        assert_eq!(
            gradients.len(),
            self.gradients.len(),
            "{what}: a gradient is recorded for each float input"
        );
        for (found, (name, wanted)) in gradients.iter().zip(&self.gradients) {
            self.compare(&format!("{what}: gradient by {name}"), dtype, found, wanted, wrong);
        }
        if dtype == DType::F64 && !gradients.is_empty() && !self.kink {
            self.compare_with_differences(&what, &module, inputs, gradients, wrong);
        }
    }

    fn compare(&self, what: &str, dtype: DType, found: &Array, wanted: &[f64], wrong: &mut String) {
        let (within, least) = match dtype {
            DType::F32 => (self.within[1], f64::from(f32::MIN_POSITIVE)),
            DType::F64 | DType::U8 | DType::I32 | DType::I64 | DType::Bool => {
                (self.within[0], f64::MIN_POSITIVE)
            }
        };
        let largest = wanted.iter().filter(|wanted| wanted.is_finite()).fold(0.0_f64, |a, b| a.max(b.abs()));
        let found = found.elements.to_f64();
        assert_eq!(found.len(), wanted.len(), "{what}");
        for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let size = if self.relative { wanted.abs() } else { wanted.abs().max(largest) };
            let same = found == wanted || found.is_nan() && wanted.is_nan();
            if !(same || (found - wanted).abs() <= within * size + least) {
                let error = (found - wanted).abs() / size;
                writeln!(wrong, "{what}[{at}]: {found:e}, recorded {wanted:e}, error {error:.1e}")
                    .expect("a string");
            }
        }
    }

    fn compare_with_differences(
        &self,
        what: &str,
        module: &Canonical,
        inputs: Vec<Array>,
        gradients: &[Array],
        wrong: &mut String,
    ) {
        let weights: Vec<f64> =
            self.cotangents(DType::F64).iter().flat_map(|c| c.elements.to_f64()).collect();
        let floats = (0..inputs.len()).filter(|position| inputs[*position].dtype().is_float());
        for (position, gradient) in floats.zip(gradients) {
            let at = |element: usize, offset: f64| -> f64 {
                let mut inputs = inputs.clone();
                let Elements::F64(elements) = &mut inputs[position].elements else { unreachable!("in f64") };
                elements[element] += offset;
                let results = run(module, &inputs);
                let numbers = results.iter().flat_map(|result| result.elements.to_f64());
                numbers.zip(&weights).map(|(number, weight)| number * weight).sum()
            };
            let step = 1e-3;
            let slope = |element, step: f64| (at(element, step) - at(element, -step)) / (2.0 * step);
            let quotients: Vec<f64> = (0..gradient.elements.len())
                .map(|element| (4.0 * slope(element, step / 2.0) - slope(element, step)) / 3.0)
                .collect();
            let largest = quotients.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
            for (element, (found, wanted)) in gradient.elements.to_f64().iter().zip(quotients).enumerate() {
                let close = (found - wanted).abs() <= OF_DIFFERENCES * largest;
                if !close {
                    let name = &self.inputs[position].name;
                    writeln!(
                        wrong,
                        "{what}: gradient by {name}[{element}]: {found:e}, differences {wanted:e}"
                    )
                    .expect("a string");
                }
            }
        }
    }

    /// The cotangents used by `ci/vectors`: element j of result i is `((7 j + 3 i) mod 11 - 4.5) / 4`.
    pub fn cotangents(&self, dtype: DType) -> Vec<Array> {
        let of = |i: usize, result: &Tensor| {
            let numbers: Vec<f64> =
                (0..result.numbers.len()).map(|j| (((7 * j + 3 * i) % 11) as f64 - 4.5) / 4.0).collect();
            let dtype = DType::from_name(&result.elements).unwrap_or(dtype);
            floats(dtype, &result.shape, &numbers)
        };
        self.results.iter().enumerate().map(|(i, result)| of(i, result)).collect()
    }
}

impl Tensor {
    pub fn value(&self, dtype: DType) -> Array {
        match self.elements.as_str() {
            "float" => floats(dtype, &self.shape, &self.numbers),
            "f32" => floats(DType::F32, &self.shape, &self.numbers),
            "f64" => floats(DType::F64, &self.shape, &self.numbers),
            "i64" => Array::new(self.shape.clone(), Elements::I64(self.integers.clone())),
            "i32" => Array::new(
                self.shape.clone(),
                Elements::I32(self.integers.iter().map(|number| *number as i32).collect()),
            ),
            "bool" => Array::new(
                self.shape.clone(),
                Elements::Bool(self.numbers.iter().map(|number| *number != 0.0).collect()),
            ),
            other => panic!("no element type `{other}`"),
        }
    }

    /// Reads `float[2, 3] = 1, 2, …`.
    fn read(name: &str, text: &str) -> Self {
        let (ty, numbers) = text.split_once(" = ").unwrap_or_else(|| panic!("`{text}` has no ` = `"));
        let (elements, shape) = ty.split_once('[').unwrap_or((ty, "]"));
        let extents = shape.trim_end_matches(']').split(", ").filter(|extent| !extent.is_empty());
        let shape: Vec<usize> = extents.map(|extent| extent.parse().expect("an extent")).collect();
        let integer = |text: &str| text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is no integer"));
        let is_integer = DType::from_name(elements).is_some_and(DType::is_integer);
        let integers = if is_integer { numbers.split(',').map(integer).collect() } else { Vec::new() };
        let numbers = numbers_of(numbers);
        assert_eq!(numbers.len(), shape.iter().product::<usize>(), "{name}: {text}");
        Self { name: name.to_owned(), elements: elements.to_owned(), shape, numbers, integers }
    }
}

fn numbers_of(text: &str) -> Vec<f64> {
    let number = |text: &str| match text.trim() {
        "true" => 1.0,
        "false" => 0.0,
        "any" => ANY,
        text => text.parse().unwrap_or_else(|_| panic!("`{text}` is no number")),
    };
    text.split(',').map(number).collect()
}

/// The entries of a table, `vectors` or `special`, for a file of the library.
pub fn entries(table: &str, file: &str) -> Vec<Entry> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/std/{table}/{file}.txt"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(line) = line.strip_prefix("    ") else {
            entries.push(Entry {
                function: line.to_owned(),
                call: String::new(),
                inputs: Vec::new(),
                results: Vec::new(),
                gradients: Vec::new(),
                relative: false,
                kink: false,
                within: WITHIN,
                only: None,
            });
            continue;
        };
        let entry = entries.last_mut().expect("a name comes first");
        if entry.call.is_empty() {
            line.clone_into(&mut entry.call);
        } else if let Some(result) = line.strip_prefix("result: ") {
            entry.results.push(Tensor::read("result", result));
        } else if let Some(gradient) = line.strip_prefix("d ") {
            let (name, numbers) = gradient.split_once(" = ").expect("`d x = …`");
            entry.gradients.push((name.to_owned(), numbers_of(numbers)));
        } else if let Some(within) = line.strip_prefix("within ") {
            let (wide, narrow) = within.split_once(' ').expect("two numbers");
            entry.within = [wide, narrow].map(|number| number.parse().expect("a number"));
        } else if let Some((name, tensor)) = line.split_once(": ") {
            entry.inputs.push(Tensor::read(name, tensor));
        } else {
            match line {
                "relative" => entry.relative = true,
                "kink" => entry.kink = true,
                "only f64" => entry.only = Some(DType::F64),
                "only f32" => entry.only = Some(DType::F32),
                _ => panic!("{file}.txt: `{line}` means nothing"),
            }
        }
    }
    entries
}
