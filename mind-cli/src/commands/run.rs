//! `mind run`: a program in the reference interpreter.

use std::{fs, path::Path};

use mind_core::{
    diag::Code,
    interp::{self, Elements, Value},
    ir::Module,
    ops::Profile,
    ty::{DType, Type},
};

use super::gradient::unknown_input;
use crate::{
    args::RunArguments,
    input::{Context, Program},
    npy, output,
    report::{Failure, Mistake, Outcome, Spot},
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &RunArguments, style: &Style) -> Outcome {
    let (module, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let inputs = inputs(&module, &context, &arguments.values)?;
    let outputs = interp::run(&module, &inputs).map_err(|error| {
        Failure::mistake(Mistake::new(error.code, error.message).at(&context.source, Spot::default()))
    })?;
    if let Some(folder) = &arguments.output_dir {
        return write(folder, &outputs);
    }
    let mut text = String::new();
    for (position, value) in outputs.iter().enumerate() {
        let name = style.strong(&context.output_name(position));
        text.push_str(&format!("{name}: {}\n", shown(value, arguments.full)));
    }
    output::print(&text)
}

/// A value for each input, in order.
fn inputs(module: &Module, context: &Context, given: &[String]) -> Outcome<Vec<Value>> {
    let mut values: Vec<Option<Value>> = vec![None; module.inputs().len()];
    let mut mistakes = Vec::new();
    for text in given {
        let Some((name, text)) = text.split_once('=') else {
            let help = format!("write --input {text}={text}.npy");
            return Err(Failure::with_help(format!("--input {text} gives no value"), help));
        };
        let Some((position, (_, ty))) = module.inputs().enumerate().find(|(_, (input, _))| ***input == *name)
        else {
            mistakes.push(unknown_input(module, context, name));
            continue;
        };
        if values[position].is_some() {
            let mistake = Mistake::new(Code::E2007, format!("input `{name}` is given twice"));
            mistakes.push(mistake.at(&context.source, Spot::default()));
            continue;
        }
        match value(name, ty, text) {
            Ok(value) => values[position] = Some(value),
            Err(Failure::Mistakes(more)) => {
                mistakes.extend(more.into_iter().map(|mistake| mistake.at(&context.source, Spot::default())));
                // It is given, if wrongly.
                values[position] = Some(Value::new([], vec![0.0f32]));
            }
            Err(failure) => return Err(failure),
        }
    }
    for ((name, ty), _) in module.inputs().zip(&values).filter(|(_, value)| value.is_none()) {
        let mistake = Mistake::new(Code::E2007, format!("no value is given for the input `{name}`: {ty}"));
        let example = if ty.rank() == 0 { "1" } else { "x.npy" };
        let help = format!(
            "--input {name}={}",
            if ty.rank() == 0 { example.to_owned() } else { format!("{name}.npy") }
        );
        mistakes.push(mistake.at(&context.source, Spot::default()).help(help));
    }
    if mistakes.is_empty() {
        Ok(values.into_iter().flatten().collect())
    } else {
        Err(Failure::Mistakes(mistakes))
    }
}

/// The value of an input: a number where the input is one and the text is, else a file.
fn value(name: &str, ty: &Type, text: &str) -> Outcome<Value> {
    let is_number = text.parse::<f64>().is_ok();
    if ty.rank() == 0 && is_number {
        return number(name, ty.dtype, text);
    }
    let file = Path::new(text);
    if is_number && !file.exists() {
        let mistake = Mistake::new(Code::E2001, format!("input `{name}` is the number {text}, needed {ty}"));
        return Err(Failure::mistake(mistake.help(format!("give a .npy file: --input {name}={name}.npy"))));
    }
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    if let Some(other) =
        extension.as_deref().filter(|extension| *extension != "npy").filter(|_| file.exists())
    {
        let message = format!("cannot read {text} as input `{name}`: it is a .{other} file, needed .npy");
        return Err(Failure::with_help(message, "in Python: np.save(\"x.npy\", x)"));
    }
    let value = npy::read(file, ty.dtype)?;
    if value.shape.len() != ty.rank() {
        let message = format!("input `{name}` is {}{:?}, needed {ty}", value.dtype(), value.shape);
        return Err(Failure::mistake(Mistake::new(Code::E2001, message)));
    }
    Ok(value)
}

fn number(name: &str, dtype: DType, text: &str) -> Outcome<Value> {
    let refused = || {
        let message = format!("input `{name}` is {text}, needed a number that {dtype} holds");
        Failure::mistake(Mistake::new(Code::E1005, message))
    };
    let float = || text.parse::<f64>().map_err(|_| refused());
    let elements: Elements = match dtype {
        DType::I32 => vec![text.parse::<i32>().map_err(|_| refused())?].into(),
        DType::I64 => vec![text.parse::<i64>().map_err(|_| refused())?].into(),
        DType::F32 => vec![text.parse::<f32>().map_err(|_| refused())?].into(),
        DType::F64 => vec![float()?].into(),
        DType::Bool => return Err(refused()),
    };
    Ok(Value::new([], elements))
}

fn write(folder: &Path, outputs: &[Value]) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| output::unwritable(folder, &error))?;
    let mut text = String::new();
    for (position, value) in outputs.iter().enumerate() {
        let file = folder.join(format!("output{position}.npy"));
        npy::write(&file, value)?;
        text.push_str(&format!("{}: {}\n", file.display(), of_type(value)));
    }
    output::print(&text)
}

fn of_type(value: &Value) -> String {
    if value.shape.is_empty() {
        value.dtype().to_string()
    } else {
        format!("{}{:?}", value.dtype(), value.shape)
    }
}

/// Type, range and elements of a value; of a single number the number.
fn shown(value: &Value, full: bool) -> String {
    let elements = match &value.elements {
        Elements::I32(elements) => of_array(&npy::array(value, elements), full),
        Elements::I64(elements) => of_array(&npy::array(value, elements), full),
        Elements::F32(elements) => of_array(&npy::array(value, elements), full),
        Elements::F64(elements) => of_array(&npy::array(value, elements), full),
    };
    if value.shape.is_empty() {
        return format!("{} = {elements}", value.dtype());
    }
    let numbers = value.elements.to_f64();
    let [low, high] =
        [f64::min, f64::max].map(|choose| numbers.iter().copied().reduce(choose).unwrap_or(f64::NAN));
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let nans = numbers.iter().filter(|number| number.is_nan()).count();
    let nans = if nans > 0 { format!(", {nans} NaN") } else { String::new() };
    let (low, high, mean) = (short(low), short(high), short(mean));
    format!("{}, from {low} to {high}, mean {mean}{nans}\n{elements}", of_type(value))
}

/// With as many digits as a summary needs.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == number.trunc() && size < 1e15 {
        format!("{number}")
    } else if (1e-3..1e6).contains(&size) {
        let text = format!("{number:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{number:.4e}")
    }
}

fn of_array<T: std::fmt::Display>(array: &ndarray::ArrayD<T>, full: bool) -> String {
    if full { format!("{array:#}") } else { format!("{array}") }
}
