//! Writes the files that `run` and `loops` in this folder give to other engines. `NAME.mlir` is a module as StableHLO, and
//! `NAME.mic` the module, which the example `run_cases` of mind-xla runs on a plugin. `NAME.values` holds its inputs, the
//! interpreter's results, and the accepted errors.
//!
//! `cargo run -p mind-tests --example engine_cases -- FOLDER COUNT` writes every module of `tests/files`, every
//! elementwise function and COUNT random modules, each with its gradient by all floating-point inputs.
//!
//! `cargo run -p mind-tests --example engine_cases -- FOLDER loops COUNT` writes COUNT random modules of loops instead:
//! see [`loops`].

mod loops;

use std::{
    env,
    error::Error,
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
};

use mind_core::{
    build::Builder,
    canon::{Canonical, canonicalise},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, Elements, bind},
    ir::{Module, Op, ValueId},
    map::{Domain, Hlo, Map},
    ops::Profile,
    stablehlo::{self, Options},
    surface,
    testing::{Bounded, Random, possible_updates, random_inputs, random_module, run_bounded},
    text::{Limits, core_ir, mic},
    ty::{DType, Shape, Type},
    verify::verify,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "engine_cases FOLDER [loops] COUNT";
    let folder = PathBuf::from(arguments.next().ok_or(usage)?);
    fs::create_dir_all(&folder)?;
    let count = arguments.next().ok_or(usage)?;
    if count == "loops" {
        return loops::write(&folder, arguments.next().ok_or(usage)?.parse()?);
    }
    let count: usize = count.parse()?;
    let mut writer = Writer::new(&folder);
    for (name, module) in modules_of_files()? {
        writer.with_gradient(&name, module)?;
    }
    for map in Map::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| map.row().takes(*dtype)) {
            writer.function(*map, dtype)?;
        }
    }
    let (mut seed, mut written) = (0, 0);
    while written < count {
        let (name, module) = (format!("random_{seed}"), random_module(seed, 5 + seed as usize % 30));
        seed += 1;
        // StableHLO supports orders up to 2, and a random module may compute a larger one. `function` tests orders 0 to
        // 2.
        if module.insts().iter().any(|inst| inst.op == Op::Map(Map::ErfcxDerivative)) {
            continue;
        }
        // A module that stops with an error is replaced by the next one.
        match writer.with_gradient(&name, module)? {
            true => written += 1,
            false => _ = writer.skipped.pop(),
        }
    }
    println!(
        "{} cases; {} modules have no gradient by all their floats",
        writer.written, writer.without_gradient
    );
    for (name, why) in &writer.skipped {
        println!("left out: {name}: {why}");
    }
    Ok(())
}

/// The modules of `tests/files` that verify, with the names of their files.
fn modules_of_files() -> Result<Vec<(String, Module)>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
    let mut paths = Vec::new();
    for entry in fs::read_dir(&root)? {
        let path = entry?.path();
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                paths.push(entry?.path());
            }
        } else {
            paths.push(path);
        }
    }
    paths.sort();
    let mut modules = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root)?.with_extension("").display().to_string().replace('/', "_");
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match extension.as_str() {
            "txt" => {
                let (_, rest) = text.split_once("=== module\n").ok_or("a file has a module")?;
                let module = rest.split("\n=== ").next().unwrap_or_default().to_owned() + "\n";
                modules.extend(module_of(&module).map(|module| (name, module)));
            }
            "mic" => modules.extend(module_of(&text).map(|module| (name, module))),
            "mind" => {
                let (lowered, _) = surface::lower(&surface::parse(surface::lex(&text).0).0);
                for function in lowered.functions {
                    let Some(program) = function.program else { continue };
                    modules.push((format!("{name}_{}", function.name), program.module));
                }
            }
            _ => {}
        }
    }
    Ok(modules)
}

/// The module of a text in either form. Returns `None` if the file shows an error.
fn module_of(text: &str) -> Option<Module> {
    let is_core_ir = text.starts_with('%') || text.starts_with("outputs:");
    let parsed = if is_core_ir {
        core_ir::parse(text, &Limits::default())
    } else {
        mic::parse(text, &Limits::default())
    };
    verify(parsed.ok()?, Profile::Extended).ok().map(|verified| verified.into_module())
}

struct Writer {
    folder: PathBuf,
    written: usize,
    without_gradient: usize,
    skipped: Vec<(String, String)>,
}

impl Writer {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), written: 0, without_gradient: 0, skipped: Vec::new() }
    }

    /// Writes a module and its gradient. Returns whether the module runs.
    fn with_gradient(&mut self, name: &str, module: Module) -> Result<bool, Box<dyn Error>> {
        let module = canonicalise(verify(module, Profile::Extended).map_err(|errors| format!("{errors:?}"))?);
        if !self.module(name, &module)? {
            return Ok(false);
        }
        match differentiate(&module, &by_all_floats(&module)) {
            Ok(gradient) => {
                self.module(&format!("{name}.grad"), &gradient.module)?;
            }
            Err(_) => self.without_gradient += 1,
        }
        Ok(true)
    }

    /// Writes a module with inputs on which it runs. Returns whether there are such inputs.
    fn module(&mut self, name: &str, module: &Canonical) -> Result<bool, Box<dyn Error>> {
        let mut why = "no extents are found".to_owned();
        for seed in 0..50 {
            let Some(inputs) = random_inputs(module, seed) else { continue };
            match run_bounded(module, &inputs) {
                Ok(outputs) => return self.case(name, module, &inputs, &outputs).map(|()| true),
                Err(error) => why = error.to_string(),
            }
        }
        self.skipped.push((name.to_owned(), why));
        Ok(false)
    }

    /// Writes an elementwise function with numbers of its domain and special numbers.
    fn function(&mut self, map: Map, dtype: DType) -> Result<(), Box<dyn Error>> {
        let row = map.row();
        let mut builder = Builder::new();
        let mut random = Random::new(7);
        let count = 64;
        let mut inputs = Vec::new();
        let mut operands = Vec::new();
        for (position, formal) in row.formals.iter().enumerate() {
            let dtype = row.operand(position, dtype);
            operands.push(builder.input(*formal, Type::new(dtype, Shape::literal(&[count])))?);
            // The functions of the gamma family use another formula below 0.
            let is_of_gamma = matches!(map, Map::Lgamma | Map::Digamma | Map::Trigamma | Map::Polygamma);
            let mut number = || match is_of_gamma && random.once_in(3) {
                true => -20.0 * within(Domain::Positive, &mut random),
                false => within(row.domain, &mut random),
            };
            let elements: Elements = match dtype {
                // The orders of derivatives.
                DType::F32 | DType::F64 if *formal == "n" => {
                    // The orders that StableHLO supports.
                    let orders = if map == Map::ErfcxDerivative { 0..3 } else { -1..5 };
                    let orders =
                        (0..count).map(|at| (orders.start + at % (orders.end - orders.start)) as f64);
                    let orders = orders.collect::<Vec<_>>();
                    if dtype == DType::F32 {
                        orders.iter().map(|n| *n as f32).collect::<Vec<_>>().into()
                    } else {
                        orders.into()
                    }
                }
                DType::F32 => (0..count).map(|_| number() as f32).collect::<Vec<_>>().into(),
                DType::F64 => (0..count).map(|_| number()).collect::<Vec<_>>().into(),
                // The integers may be divisors and shifts, and division by 0 stops the interpreter.
                DType::U8 => (0..count).map(|_| 1 + random.below(40) as u8).collect::<Vec<_>>().into(),
                DType::I32 => (0..count).map(|_| 1 + random.below(40) as i32).collect::<Vec<_>>().into(),
                DType::I64 => (0..count).map(|_| 1 + random.below(70) as i64).collect::<Vec<_>>().into(),
                DType::Bool => (0..count).map(|_| random.below(2) == 1).collect::<Vec<_>>().into(),
            };
            inputs.push(Array::new([count as usize], elements));
        }
        let result = builder.push(Op::Map(map), &operands)?;
        let module =
            verify(builder.finish([result]), Profile::Extended).map_err(|errors| format!("{errors:?}"))?;
        // The canonical form may reorder the operands, but never the inputs.
        let module = canonicalise(module);
        let outputs = run_bounded(&module, &inputs)?;
        assert_ne!(row.hlo, Hlo::Formula(&[]), "{}", row.name);
        self.case(&format!("function_{}_{dtype}", row.mnemonic), &module, &inputs, &outputs)
    }

    fn case(
        &mut self,
        name: &str,
        module: &Canonical,
        inputs: &[Array],
        outputs: &[Bounded],
    ) -> Result<(), Box<dyn Error>> {
        let text = match stablehlo::print(module, &options(module, inputs)?) {
            Ok(text) => text,
            Err(error) => {
                self.skipped.push((name.to_owned(), error.to_string()));
                return Ok(());
            }
        };
        let mut values = String::new();
        for input in inputs {
            values += &format!("in {}\n", printed(input));
        }
        for Bounded { value, bounds } in outputs {
            values += &format!("out {}\nbounds{}\n", printed(value), all(bounds));
        }
        let path = self.folder.join(format!("{name}.mlir"));
        if path.exists() {
            return Err(format!("two cases are called {name}").into());
        }
        fs::write(path, text)?;
        fs::write(self.folder.join(format!("{name}.mic")), mic::print(module))?;
        fs::write(self.folder.join(format!("{name}.values")), values)?;
        self.written += 1;
        Ok(())
    }
}

/// The options of the gradient by every floating-point input.
fn by_all_floats(module: &Module) -> GradientOptions {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(input, _)| Wrt { input: ValueId::new(input), zero_ok: true }).collect();
    GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended }
}

/// The options of the StableHLO of a module for the extents of these inputs, on one device.
fn options(module: &Canonical, inputs: &[Array]) -> Result<Options, Box<dyn Error>> {
    let bindings = bind(module, inputs)?;
    let extents = bindings.iter().filter_map(|(symbol, dim)| Some((symbol.clone(), dim.as_literal()?)));
    Ok(Options { extents: extents.collect(), updates: possible_updates(module), ..Options::default() })
}

fn within(domain: Domain, random: &mut Random) -> f64 {
    let unit = random.below(1 << 20) as f64 / f64::from(1 << 20);
    let sign = if random.once_in(2) { 1.0 } else { -1.0 };
    match domain {
        Domain::Any | Domain::Apart => 4.0 * unit - 2.0,
        Domain::Positive => 0.5 + 1.5 * unit,
        Domain::AboveOne => 1.2 + 1.8 * unit,
        Domain::Unit => 1.8 * unit - 0.9,
        Domain::NonZero => sign * (0.1 + 1.9 * unit),
        Domain::OffHalves => sign * (0.1 + 0.3 * unit + random.below(4) as f64 * 0.5),
    }
}

/// Formats a value as `f32[2, 3] 1.0 …`.
fn printed(value: &Array) -> String {
    let elements = match &value.elements {
        Elements::U8(elements) => all(elements),
        Elements::I32(elements) => all(elements),
        Elements::I64(elements) => all(elements),
        Elements::F32(elements) => all(elements),
        Elements::F64(elements) => all(elements),
        Elements::Bool(elements) => all(&elements.iter().map(|is| u8::from(*is)).collect::<Vec<_>>()),
    };
    let shape = format!("{:?}", value.shape).replace(' ', "");
    format!("{}{shape}{elements}", value.dtype())
}

fn all<T: Debug>(elements: &[T]) -> String {
    elements.iter().map(|element| format!(" {element:?}")).collect()
}
