//! Runs the modules that the example `engine_cases` of `tests/engines` wrote on the plugin that `MIND_PJRT_PLUGIN` names,
//! and compares results with those of the interpreter.
//!
//! ```text
//! cargo run -p mind-tests --example engine_cases -- FOLDER 100
//! run_cases FOLDER SECONDS
//! ```
//!
//! It stops after `SECONDS`. The order of modules is that of a hash of their names, so a part of them is a sample of all.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::str::{FromStr, SplitWhitespace};
use std::time::{Duration, Instant};

use mind_core::canon::{Canonical, canonicalise};
use mind_core::interp::{Array, Elements, bind};
use mind_core::ops::Profile;
use mind_core::stablehlo::Options;
use mind_core::text::{Limits, mic};
use mind_core::ty::DType;
use mind_core::verify::verify;
use mind_rt::Elements as Given;
use mind_xla::{Client, Plugin, Program};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A result of the interpreter, and the accepted error of each element.
struct Expected {
    value: Array,
    bounds: Vec<f64>,
}

fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, seconds] = &arguments[..] else { return Err("needed: FOLDER SECONDS".into()) };
    let limit = Duration::from_secs_f64(seconds.parse()?);
    let start = Instant::now();
    let client = Plugin::from_env()?.client(&[])?;
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "mic") {
            paths.push(path);
        }
    }
    paths.sort_by_key(|path| {
        let mut hasher = DefaultHasher::new();
        path.file_name().hash(&mut hasher);
        hasher.finish()
    });
    let (mut run, mut wrong) = (0, 0);
    for path in paths.iter().take_while(|_| start.elapsed() < limit) {
        run += 1;
        if let Err(fault) = case(&client, path) {
            wrong += 1;
            println!("{}: {fault}", path.display());
        }
    }
    println!("cases={} run={run} wrong={wrong} seconds={:.0}", paths.len(), start.elapsed().as_secs_f64());
    if wrong > 0 { Err("results differ from those of the interpreter".into()) } else { Ok(()) }
}

/// Runs a module and compares its results.
fn case(client: &Client, path: &Path) -> Outcome<()> {
    let parsed = mic::parse(&fs::read_to_string(path)?, &Limits::default());
    let verified = verify(parsed.map_err(|faults| format!("{faults:?}"))?, Profile::Extended);
    let module: Canonical = canonicalise(verified.map_err(|faults| format!("{faults:?}"))?);
    let (inputs, expected) = values(&path.with_extension("values"))?;
    let extents = bind(&module, &inputs)?;
    let extents = extents.iter().filter_map(|(symbol, dim)| Some((symbol.clone(), dim.as_literal()?)));
    let options = Options { extents: extents.collect(), ..Options::default() };
    let executable = client.compile(&Program::new(module.clone(), options))?;
    let mut call = executable.call();
    for ((argument, _), input) in module.inputs().zip(&inputs) {
        call = call.elements(argument, &input.shape, given(&input.elements));
    }
    let results = call.run()?;
    if results.len() != expected.len() {
        return Err(format!("{} results, expected {}", results.len(), expected.len()).into());
    }
    for (position, (result, expected)) in results.iter().zip(&expected).enumerate() {
        let found = result.read()?;
        if (result.dims(), result.dtype()) != (&expected.value.shape[..], expected.value.dtype()) {
            return Err(format!("result {position} has another type").into());
        }
        let near = match expected.value.dtype() {
            DType::F32 => 2e-5,
            DType::F64 => 1e-9,
            DType::Bool | DType::U8 | DType::I32 | DType::I64 => 0.0,
        };
        let pairs = numbers(found.as_elements()).into_iter().zip(numbers(given(&expected.value.elements)));
        for (index, (found, expected_number)) in pairs.enumerate() {
            let scale = found.abs().max(expected_number.abs()).max(1.0);
            let bound = expected.bounds.get(index).copied().unwrap_or(0.0).max(near * scale);
            let distance = (found - expected_number).abs();
            let is_near = found == expected_number || found.is_nan() && expected_number.is_nan();
            if !is_near && bound.is_finite() && (distance.is_nan() || distance > bound) {
                let text = format!("result {position}, element {index}: {found}, expected {expected_number}");
                return Err(text.into());
            }
        }
    }
    Ok(())
}

/// The inputs and the expected results of a file.
fn values(path: &Path) -> Outcome<(Vec<Array>, Vec<Expected>)> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::<Expected>::new());
    for line in fs::read_to_string(path)?.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("bounds") => outputs.last_mut().ok_or("bounds follow a result")?.bounds = all(words)?,
            Some("in") => inputs.push(array(words)?),
            Some("out") => outputs.push(Expected { value: array(words)?, bounds: Vec::new() }),
            _ => return Err(format!("{line} is no value").into()),
        }
    }
    Ok((inputs, outputs))
}

fn array(mut words: SplitWhitespace<'_>) -> Outcome<Array> {
    let (dtype, shape) = words.next().and_then(|ty| ty.split_once('[')).ok_or("a value has a type")?;
    let extents = shape.trim_end_matches(']').split(',').filter(|extent| !extent.is_empty());
    let shape = extents.map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let elements: Elements = match dtype {
        "u8" => all::<u8>(words)?.into(),
        "i32" => all::<i32>(words)?.into(),
        "i64" => all::<i64>(words)?.into(),
        "f32" => all::<f32>(words)?.into(),
        "f64" => all::<f64>(words)?.into(),
        "bool" => all::<u8>(words)?.into_iter().map(|truth| truth != 0).collect::<Vec<_>>().into(),
        _ => return Err(format!("{dtype} is no element type").into()),
    };
    Ok(Array { shape, elements })
}

fn all<T: FromStr<Err: Error + 'static>>(words: SplitWhitespace<'_>) -> Outcome<Vec<T>> {
    Ok(words.map(str::parse).collect::<Result<_, _>>()?)
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

/// Elements as numbers. Two different elements of `i64` may give the same number only beyond 2^53.
fn numbers(elements: Given<'_>) -> Vec<f64> {
    match elements {
        Given::U8(elements) => elements.iter().copied().map(f64::from).collect(),
        Given::I32(elements) => elements.iter().copied().map(f64::from).collect(),
        Given::I64(elements) => elements.iter().map(|element| *element as f64).collect(),
        Given::F32(elements) => elements.iter().copied().map(f64::from).collect(),
        Given::F64(elements) => elements.to_vec(),
        Given::Bool(elements) => elements.iter().map(|truth| f64::from(u8::from(*truth))).collect(),
    }
}
