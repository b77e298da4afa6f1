//! `mind run`: runs a program in the reference interpreter, or on XLA.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    path::Path,
};

use mind_core::{
    diag::Code,
    interp::{self, Array, Elements, NanSearch, Observed, Options, RunError},
    ir::{Module, Op},
    memory::Budget,
    ops::Profile,
    ty::Type,
    verify::Verified,
};

use mind_shape::{match_elements, write_in_brackets};

use super::gradient::unknown_input;
#[cfg(feature = "xla")]
use super::xla;
use crate::{
    args::{Check, Engine, RunArguments},
    input::{Context, Program},
    literal, npy, output,
    report::{Failure, Mistake, Outcome, Spot},
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &RunArguments, style: &Style) -> Outcome {
    check_use(arguments)?;
    refuse_misplaced(arguments)?;
    let (module, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let options = Options { most_bytes: arguments.memory.most_bytes() };
    let inputs = inputs(&module, &context, &arguments.values, Budget::new(options.most_bytes))?;
    // The inputs are moved into the run, since their memory may be needed for the output.
    let outputs = match arguments.on {
        Engine::Interpreter => interpreted(&module, &context, inputs, &options, arguments),
        #[cfg(feature = "xla")]
        Engine::Xla => on_xla(module, &context, inputs, arguments),
        #[cfg(not(feature = "xla"))]
        Engine::Xla => unreachable!("it is refused above"),
    }?;
    if let Some(folder) = &arguments.output_dir {
        return write(folder, &outputs);
    }
    for (position, value) in outputs.iter().enumerate() {
        let name = style.strong(&context.output_name(position));
        output::print(&format!("{name}: "))?;
        show(value, arguments.full)?;
    }
    Ok(())
}

/// Reports an argument after the file of the program.
fn refuse_misplaced(arguments: &RunArguments) -> Outcome {
    let Some(text) = arguments.misplaced.first() else { return Ok(()) };
    let help = match text.split_once('=') {
        Some(_) => format!("give an input with -i: -i {text}"),
        None => format!("`mind run` takes one program; give an input with -i, as in -i x={text}"),
    };
    Err(Failure::with_help(format!("unexpected argument `{text}`"), help))
}

/// Rejects options that the engine does not support.
fn check_use(arguments: &RunArguments) -> Outcome {
    let RunArguments { plugin, lowering, compile, .. } = arguments;
    let option = match arguments.on {
        Engine::Xla if arguments.check.is_some() => {
            return Err(Failure::with_help(
                "--check works only with the interpreter",
                "run it without --on xla",
            ));
        }
        #[cfg(feature = "xla")]
        Engine::Xla => return Ok(()),
        #[cfg(not(feature = "xla"))]
        Engine::Xla => return Err(super::absent::failure("mind run --on xla", "xla")),
        Engine::Interpreter if plugin.plugin.is_some() => "--plugin",
        Engine::Interpreter if plugin.devices.is_some() => "--devices",
        Engine::Interpreter if !lowering.mesh.is_empty() => "--mesh",
        Engine::Interpreter if compile.cache.is_some() => "--cache",
        Engine::Interpreter if !compile.xla_options.is_empty() => "--xla-option",
        Engine::Interpreter if arguments.processes.processes.is_some() => "--processes",
        Engine::Interpreter if arguments.trace.is_some() => "--trace",
        Engine::Interpreter if lowering.precision.is_some() => "--precision",
        Engine::Interpreter if lowering.compute.is_some() => "--compute",
        Engine::Interpreter => return Ok(()),
    };
    Err(Failure::with_help(
        format!("{option} works only with --on xla"),
        "the interpreter has no devices and compiles nothing",
    ))
}

/// The results of the interpreter.
fn interpreted(
    module: &Verified,
    context: &Context,
    inputs: Vec<Array>,
    options: &Options,
    arguments: &RunArguments,
) -> Outcome<Vec<Array>> {
    let mut watch = Watch {
        module,
        context,
        search: arguments.check.map(|Check::Nan| NanSearch::new(module)),
        full: arguments.full,
        spot: Spot::default(),
    };
    let outputs = interp::run_observed(module, &inputs, options, &mut |seen| watch.value(&seen));
    outputs.map_err(|error| failed(error, watch.spot, module, context, (&arguments.values, &inputs)))
}

/// The results of an XLA plugin.
#[cfg(feature = "xla")]
fn on_xla(
    module: Verified,
    context: &Context,
    inputs: Vec<Array>,
    arguments: &RunArguments,
) -> Outcome<Vec<Array>> {
    let given = (&*arguments.values, &*inputs);
    let extents = interp::bind(&module, &inputs);
    let extents = extents.map_err(|error| failed(error, Spot::default(), &module, context, given))?;
    xla::results(module, context, &inputs, &extents, arguments)
}

/// The failure of a run. `given` contains the texts and the values of the inputs.
fn failed(
    error: RunError,
    spot: Spot,
    module: &Module,
    context: &Context,
    given: (&[String], &[Array]),
) -> Failure {
    let mut mistake = Mistake::new(error.code, error.message).at(&context.source, spot);
    if error.code == Code::E6009 {
        mistake.notes = shapes_in_files(module, given.0, given.1);
    }
    Failure::mistake(with_help(mistake))
}

/// The type of each input that is a tensor, and its file.
fn shapes_in_files(module: &Module, given: &[String], inputs: &[Array]) -> Vec<String> {
    let tensors = module.inputs().zip(inputs).filter(|(_, value)| !value.shape.is_empty());
    let shapes = tensors.filter_map(|((name, _), value)| {
        let of_name = |text: &String| text.strip_prefix(&**name)?.strip_prefix('=').map(str::to_owned);
        let file = given.iter().find_map(of_name)?;
        let place = if is_literal(&file) { String::new() } else { format!(" in {file}") };
        Some(format!("`{name}` is {}{place}", of_type(value)))
    });
    shapes.collect()
}

/// Observes the values of a run.
struct Watch<'a> {
    module: &'a Module,
    context: &'a Context,
    search: Option<NanSearch>,
    full: bool,
    /// The place of the value that ended the run.
    spot: Spot,
}

impl Watch<'_> {
    fn value(&mut self, seen: &Observed<'_>) -> Result<(), RunError> {
        if let Op::Effect(effect) = &seen.inst.op {
            // If standard error is closed, the run continues.
            eprintln!("{}: {}", effect.label(), shown(seen.result, self.full).trim_end());
        }
        let Some(went) = self.search.as_mut().and_then(|search| search.value(seen)) else { return Ok(()) };
        let inst = self.module.inst(went.value);
        let name = self.context.names.get(went.value.index());
        let name = name.cloned().unwrap_or_else(|| went.value.to_string());
        let what = match inst.op.input_name() {
            Some(input) => format!("input `{input}`"),
            None => format!("{name} = {}", inst.op.info().name),
        };
        let at = if went.first.is_empty() { String::new() } else { format!(" at {:?}", went.first) };
        if went.is_input {
            eprintln!(
                "{what}, {}, is already NaN as given{at}; values computed from it are NaN too",
                inst.ty
            );
            return Ok(());
        }
        self.spot = self.context.insts.get(went.value.index()).copied().unwrap_or_default();
        let operands = inst.operands.iter().map(|operand| {
            let input = self.module.inst(*operand).op.input_name().map(ToString::to_string);
            let name = input.or_else(|| self.context.names.get(operand.index()).cloned());
            format!("{}: {}", name.unwrap_or_else(|| operand.to_string()), self.module.ty(*operand))
        });
        let operands: Vec<_> = operands.collect();
        let operands =
            if operands.is_empty() { String::new() } else { format!(", of {}", operands.join(", ")) };
        let (ty, count) = (&inst.ty, went.count);
        let message = format!("{what}, {ty}, is the first value that is NaN{at}, {count} in all{operands}");
        Err(RunError::new(Code::E6010, message))
    }
}

/// Adds the option for more memory to a mistake about memory.
pub fn with_help(mistake: Mistake) -> Mistake {
    match mistake.code {
        Some(Code::E6004) => mistake.help("`--memory` sets the limit of a run, as in `--memory 8G`"),
        _ => mistake,
    }
}

/// A value for each input, in order.
fn inputs(module: &Module, context: &Context, given: &[String], mut budget: Budget) -> Outcome<Vec<Array>> {
    let mut values: Vec<Option<Array>> = vec![None; module.inputs().len()];
    let mut mistakes = Vec::new();
    for text in given {
        let Some((name, text)) = text.split_once('=') else {
            let help = format!("write --input {text}={text}.npy");
            return Err(Failure::with_help(format!("--input {text} has no value"), help));
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
        match value(name, ty, text, &mut budget) {
            Ok(value) => values[position] = Some(value),
            Err(Failure::Mistakes(more)) => {
                mistakes.extend(more.into_iter().map(|mistake| mistake.at(&context.source, Spot::default())));
                // The input is given, although its value is wrong.
                values[position] = Some(Array::new([], vec![0.0f32]));
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

/// Whether a text contains the elements of a tensor, as opposed to the name of a file.
fn is_literal(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

/// The value of an input: a number if the input and the text are one, elements in brackets, or a file.
fn value(name: &str, ty: &Type, text: &str, budget: &mut Budget) -> Outcome<Array> {
    let is_number = text.parse::<f64>().is_ok();
    if ty.rank() == 0 && (is_number || matches!(text, "true" | "false")) {
        return literal::number(name, ty.dtype, text);
    }
    let file = Path::new(text);
    if is_literal(text) && !file.exists() {
        return literal::tensor(name, ty, text, budget);
    }
    if is_number && !file.exists() {
        let mistake = Mistake::new(Code::E2001, format!("input `{name}` is the number {text}, needed {ty}"));
        let help = format!("give its elements or a .npy file: -i '{name}=[1, 2]', -i {name}={name}.npy");
        return Err(Failure::mistake(mistake.help(help)));
    }
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    if let Some(other) =
        extension.as_deref().filter(|extension| *extension != "npy").filter(|_| file.exists())
    {
        let message = format!("cannot read {text} as input `{name}`: it is a .{other} file, needed .npy");
        return Err(Failure::with_help(message, "in Python: np.save(\"x.npy\", x)"));
    }
    let value = npy::read(file, ty.dtype, budget)?;
    if value.shape.len() != ty.rank() {
        let message = format!("input `{name}` is {} in {text}, needed {ty}", of_type(&value));
        return Err(Failure::mistake(Mistake::new(Code::E2001, message)));
    }
    Ok(value)
}

fn write(folder: &Path, outputs: &[Array]) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| output::unwritable(folder, &error))?;
    let mut text = String::new();
    for (position, value) in outputs.iter().enumerate() {
        let file = folder.join(format!("output{position}.npy"));
        npy::write(&file, value)?;
        text.push_str(&format!("{}: {}\n", file.display(), of_type(value)));
    }
    output::print(&text)
}

fn of_type(value: &Array) -> String {
    if value.shape.is_empty() {
        value.dtype().to_string()
    } else {
        format!("{}{:?}", value.dtype(), value.shape)
    }
}

/// Prints the type, range and elements of a value, or a single number.
fn show(value: &Array, full: bool) -> Outcome {
    output::print(&described(value))?;
    let elements = InBrackets(value);
    match full {
        true => output::print_args(format_args!("{elements:#}\n")),
        false => output::print(&format!("{elements}\n")),
    }
}

/// The text that [`show`] prints.
fn shown(value: &Array, full: bool) -> String {
    let elements = InBrackets(value);
    let elements = if full { format!("{elements:#}") } else { elements.to_string() };
    described(value) + &elements
}

/// The elements of a value.
struct InBrackets<'a>(&'a Array);

impl Display for InBrackets<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fn write<T: Display>(f: &mut Formatter<'_>, extents: &[usize], elements: &[T]) -> fmt::Result {
            write_in_brackets(f, extents, &|at, f| elements[at].fmt(f))
        }
        let Array { shape, elements } = self.0;
        match_elements!(elements, Elements(elements) => write(f, shape, elements))
    }
}

/// The text before the elements.
fn described(value: &Array) -> String {
    match value.shape.is_empty() {
        true => format!("{} = ", value.dtype()),
        false => format!("{}, {}\n", of_type(value), range(value)),
    }
}

/// The range of a value: `from -1 to 2, mean 0.5, 1 NaN`, or `3 of 4 true` for truth values.
fn range(value: &Array) -> String {
    if let Elements::Bool(elements) = &value.elements {
        let count = elements.iter().filter(|element| **element).count();
        return format!("{count} of {} true", elements.len());
    }
    let (mut low, mut high, mut total, mut nans) = (f64::NAN, f64::NAN, 0.0, 0);
    let mut take = |number: f64| {
        (low, high, total) = (low.min(number), high.max(number), total + number);
        nans += usize::from(number.is_nan());
    };
    value.elements.to_f64().into_iter().for_each(&mut take);
    let mean = short(total / value.elements.len() as f64);
    let nans = if nans > 0 { format!(", {nans} NaN") } else { String::new() };
    format!("from {} to {}, mean {mean}{nans}", short(low), short(high))
}

/// A number with few digits, for a summary.
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
