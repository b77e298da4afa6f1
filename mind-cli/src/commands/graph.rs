//! `mind graph`: draws a picture of a program.

use std::{
    env,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use mind_core::{
    dim::{Bindings, Dim},
    ir::Module,
    ops::Profile,
};

#[cfg(not(feature = "png"))]
use super::absent;
use super::gradient::{gradient, picture_of};
#[cfg(feature = "png")]
use crate::graph::png;
use crate::{
    args::{GraphArguments, Reading, Renderer},
    dims,
    graph::{Picture, Subject, costs::Costs, dot, svg},
    input::{Context, Program},
    output,
    report::{Failure, Outcome},
    source::reason,
};

/// Runs the command.
pub fn run(arguments: &GraphArguments) -> Outcome {
    let target = Target::of(&arguments.output)?;
    // A gradient has no calls.
    let reading = Reading { keeps_calls: arguments.wrt.is_empty(), ..arguments.input.reading.clone() };
    let program = Program::read_file(&arguments.input.file, &reading)?;
    let (program, context) = program.verified(Profile::Extended)?;
    let bindings = bindings(&program, &context, arguments)?;
    let (module, subject) = if arguments.wrt.is_empty() {
        let output_names =
            (0..program.outputs().len()).map(|position| context.output_name(position)).collect();
        let title = context.title();
        let subject =
            Subject { title, primal_outputs: arguments.primal_outputs, output_names, ..Subject::default() };
        (program.into_module(), subject)
    } else {
        let subject = picture_of(&program, &context, &arguments.wrt);
        let module = gradient(program, &context, &arguments.wrt, &arguments.gradient)?;
        (module.into_verified().into_module(), subject)
    };
    let costs = arguments.costs.then(|| Costs::of(&module, bindings));
    let subject = Subject { expand: arguments.expand.unwrap_or(0), costs, ..subject };
    let picture = Picture::of(&module, &subject);
    let text = match (target, arguments.renderer) {
        (Target::Dot, _) => dot::render(&picture),
        (Target::Svg, Renderer::Own) => svg::render(&picture),
        (Target::Svg, Renderer::Graphviz) => svg_of_graphviz(&picture)?,
        (Target::Svg, Renderer::Auto) if has_graphviz() => svg_of_graphviz(&picture)?,
        (Target::Svg, Renderer::Auto) => svg::render(&picture),
        (Target::Png, Renderer::Graphviz) => {
            return output::write_bytes(&arguments.output, &graphviz(&picture, "-Tpng")?);
        }
        (Target::Png, Renderer::Own | Renderer::Auto) => {
            return output::write_bytes(&arguments.output, &png_of(&picture, &arguments.output)?);
        }
    };
    output::write(&arguments.output, &text)
}

#[cfg(feature = "png")]
fn png_of(picture: &Picture, file: &Path) -> Outcome<Vec<u8>> {
    png::render(picture).map_err(|png::TooLarge { width, height }| {
        let message = format!("the picture is too large for .png: {width} by {height} pixels");
        Failure::with_help(message, format!("write {}", file.with_extension("svg").display()))
    })
}

#[cfg(not(feature = "png"))]
fn png_of(_: &Picture, _: &Path) -> Outcome<Vec<u8>> {
    Err(absent::failure("mind graph -o FILE.png", "png"))
}

/// The extents of symbols. Costs need all of them.
fn bindings(module: &Module, context: &Context, arguments: &GraphArguments) -> Outcome<Bindings> {
    let given = dims::parse_extents(module, context, &arguments.dims)?;
    let unknown: Vec<_> =
        dims::symbols(module).into_iter().filter(|symbol| !given.contains_key(symbol)).collect();
    if arguments.costs && !unknown.is_empty() {
        let message = format!("--costs needs the extents of {}", unknown.join(", "));
        let help = unknown.iter().map(|symbol| format!("--dim {symbol}=32")).collect::<Vec<_>>();
        return Err(Failure::with_help(message, format!("add {}", help.join(" "))));
    }
    Ok(given.into_iter().map(|(symbol, extent)| (symbol, Dim::literal(extent))).collect())
}

#[derive(Clone, Copy)]
enum Target {
    Svg,
    Png,
    Dot,
}

impl Target {
    fn of(file: &Path) -> Outcome<Self> {
        let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            _ if file.as_os_str() == "-" => Ok(Self::Svg),
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("dot" | "gv") => Ok(Self::Dot),
            other => {
                let found = other.map_or("no extension".to_owned(), |extension| format!(".{extension}"));
                let message =
                    format!("cannot draw {}: it has {found}, needed .svg, .png or .dot", file.display());
                let help = format!("write {}", file.with_extension("svg").display());
                Err(Failure::with_help(message, help))
            }
        }
    }
}

fn has_graphviz() -> bool {
    let Some(path) = env::var_os("PATH") else { return false };
    env::split_paths(&path).any(|folder| folder.join(format!("dot{}", env::consts::EXE_SUFFIX)).is_file())
}

fn svg_of_graphviz(picture: &Picture) -> Outcome<String> {
    graphviz(picture, "-Tsvg").map(|svg| String::from_utf8_lossy(&svg).into_owned())
}

/// The picture with the layout of Graphviz's `dot`, in the format of this option.
fn graphviz(picture: &Picture, format: &str) -> Outcome<Vec<u8>> {
    let failed = |what: String| Failure::with_help(what, "--renderer own needs no Graphviz");
    let mut command = Command::new("dot");
    let command = command.arg(format).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| failed(format!("cannot start Graphviz's `dot`: {}", reason(&error))))?;
    let text = dot::render(picture);
    let mut input = child.stdin.take().expect("standard input was asked for");
    // A separate thread writes the input, since `dot` may fill its output pipe before it has read all input.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child
        .wait_with_output()
        .map_err(|error| failed(format!("cannot run Graphviz's `dot`: {}", reason(&error))))?;
    // If `dot` did not read everything, its exit status shows that.
    let _ = writer.join();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!(
            "Graphviz's `dot` failed: {}",
            errors.lines().next().unwrap_or("it printed no error")
        )));
    }
    Ok(output.stdout)
}
