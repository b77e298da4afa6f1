//! Programs from files and standard input.

use std::{path::Path, rc::Rc};

use mind_core::{
    diag::{Code, Diags},
    ir::{Module, ValueId},
    ops::Profile,
    plan::Update,
    surface::{
        self,
        ast::{self, Import},
        lower::{EinsumOrder, Function, Lowered},
    },
    text::{Document, Limits, core_ir, json, mic},
    verify::{Verified, VerifyError, verify},
};

use crate::{
    args::{Form, Input, Reading},
    report::{Failure, Mistake, Outcome, Source, Spot},
    source::read_source,
};

/// A program that was read but not verified.
#[derive(Debug)]
pub struct Program {
    /// The instructions.
    pub module: Module,
    /// Information about the program besides its module.
    pub context: Context,
}

/// Information about a program besides its module.
#[derive(Debug)]
pub struct Context {
    /// The text of the program.
    pub source: Rc<Source>,
    /// The name of the function, if it has one.
    pub function: Option<String>,
    /// The name of each value in the text: `N3`, `%2`.
    pub names: Vec<String>,
    /// The place of each instruction.
    pub insts: Vec<Spot>,
    /// The place of each output.
    pub outputs: Vec<Spot>,
    /// The names of outputs that have one.
    pub output_names: Vec<Option<String>>,
    /// The outputs that update inputs.
    pub updates: Vec<Update>,
    /// The orders of products of its calls of `einsum`.
    pub einsums: Vec<EinsumOrder>,
    /// The document of a text form, which contains more than the module.
    pub document: Option<Document>,
}

impl Program {
    /// Reads the program that the command line names.
    pub fn read(input: &Input) -> Outcome<Self> {
        Self::read_file(&input.file, &input.reading)
    }

    /// Reads a file, or standard input if the file is `-`.
    pub fn read_file(file: &Path, reading: &Reading) -> Outcome<Self> {
        Self::of_source(&read_source(file, reading.from)?, reading)
    }

    /// Reads a text.
    pub fn of_source(source: &Rc<Source>, reading: &Reading) -> Outcome<Self> {
        let programs = read_programs(source, reading)?;
        choose(programs, reading.function.as_deref(), source)
    }

    /// Reads every program of a file, or only the requested one. A program that cannot be read is an error in the list.
    ///
    /// # Errors
    /// A failure that prevents reading the whole file.
    pub fn read_all(file: &Path, reading: &Reading) -> Outcome<Vec<Outcome<Self>>> {
        let source = read_source(file, reading.from)?;
        let programs = read_programs(&source, reading)?;
        match &reading.function {
            Some(name) => Ok(vec![choose(programs, Some(name), &source)]),
            None => Ok(programs.into_iter().map(|Named { program, .. }| program).collect()),
        }
    }

    /// The program if it satisfies every rule, otherwise its mistakes.
    pub fn verified(self, profile: Profile) -> Outcome<(Verified, Context)> {
        let Self { module, context } = self;
        let mistakes: Vec<Mistake> = match &context.document {
            Some(document) => match document.clone().verify(profile) {
                Ok(verified) => return Ok((verified, context)),
                Err(diags) => {
                    diags.as_slice().iter().map(|diag| Mistake::of_diag(diag, &context.source)).collect()
                }
            },
            None => match verify(module, profile) {
                Ok(verified) => return Ok((verified, context)),
                Err(errors) => errors.iter().map(|error| context.mistake(error)).collect(),
            },
        };
        Err(Failure::Mistakes(mistakes))
    }
}

impl Context {
    fn without_places(source: Rc<Source>, names: Vec<String>) -> Self {
        Self {
            source,
            function: None,
            names,
            insts: Vec::new(),
            outputs: Vec::new(),
            output_names: Vec::new(),
            updates: Vec::new(),
            einsums: Vec::new(),
            document: None,
        }
    }

    /// The title of the program: the function, and the file without its folders.
    pub fn title(&self) -> String {
        let file = self.source.title();
        self.function.as_ref().map_or(file.clone(), |function| format!("{function} in {file}"))
    }

    fn mistake(&self, error: &VerifyError) -> Mistake {
        let of_value = error.value.and_then(|value: ValueId| self.insts.get(value.index()));
        let of_output = error.output.and_then(|output| self.outputs.get(output));
        let spot = of_value.or(of_output).copied().unwrap_or_default();
        let value = error.value.map_or_else(String::new, |value| format!("{value}: "));
        let message =
            if spot.line == 0 { format!("{value}{}", error.message) } else { error.message.clone() };
        Mistake::new(error.code, message).at(&self.source, spot)
    }

    /// The name of an output, or its number if it has no name.
    pub fn output_name(&self, position: usize) -> String {
        self.output_names.get(position).cloned().flatten().unwrap_or_else(|| format!("output {position}"))
    }
}

/// A program or its failure, with the name of its function if it has one.
struct Named {
    function: Option<String>,
    program: Outcome<Program>,
}

impl From<Program> for Named {
    fn from(program: Program) -> Self {
        Self { function: program.context.function.clone(), program: Ok(program) }
    }
}

/// Every program of a text.
fn read_programs(source: &Rc<Source>, reading: &Reading) -> Outcome<Vec<Named>> {
    if reading.function.is_some() && source.form != Form::Mind {
        let (name, form) = (&source.name, source.form.name());
        return Err(Failure::usage(format!("--function works only with .mind files; {name} is {form}")));
    }
    match source.form {
        Form::Mic => Ok(vec![read_document(source.clone(), mic::parse_document)?.into()]),
        Form::CoreIr => Ok(vec![read_document(source.clone(), core_ir::parse_document)?.into()]),
        Form::Json => Ok(vec![read_json(source.clone())?.into()]),
        Form::Mind => read_surface(source, reading.keeps_calls),
        Form::Ks => {
            let message = format!("{} is a Knossos program", source.name);
            Err(Failure::with_help(message, "`mind ks` checks, runs and differentiates it"))
        }
    }
}

fn read_document(
    source: Rc<Source>,
    parse: impl Fn(&str, &Limits) -> Result<Document, Diags>,
) -> Outcome<Program> {
    let document = parse(&source.text, &Limits::default()).map_err(|diags| mistakes(&diags, &source))?;
    let module = document.module.clone();
    let values = || module.iter().map(|(value, _)| value);
    let names = values().map(|value| document.value_name(value)).collect();
    let context = Context {
        function: document.name.as_ref().map(ToString::to_string),
        insts: values().map(|value| document.site(value).into()).collect(),
        outputs: (0..module.outputs().len()).map(|output| document.output_site(output).into()).collect(),
        document: Some(document),
        ..Context::without_places(source, names)
    };
    Ok(Program { module, context })
}

fn read_json(source: Rc<Source>) -> Outcome<Program> {
    let module = json::parse(&source.text, &Limits::default()).map_err(|diags| mistakes(&diags, &source))?;
    let names = module.iter().map(|(value, _)| value.to_string()).collect();
    Ok(Program { module, context: Context::without_places(source, names) })
}

/// The failure with the mistakes that the compiler found in a text.
pub fn mistakes(diags: &Diags, source: &Rc<Source>) -> Failure {
    Failure::Mistakes(diags.as_slice().iter().map(|diag| Mistake::of_diag(diag, source)).collect())
}

/// Every function of a text, with its name.
fn read_surface(source: &Rc<Source>, keeps_calls: bool) -> Outcome<Vec<Named>> {
    let (tokens, mut diags) = surface::lex(&source.text);
    let (program, more) = surface::parse(tokens);
    diags.extend(more);
    let (lowered, more) = surface::lower(&program);
    diags.extend(more);
    if !diags.is_empty() {
        return Err(mistakes(&diags, source));
    }
    let lowered = if keeps_calls { with_calls(&program).unwrap_or(lowered) } else { lowered };
    let imports = program.imports();
    // Functions with an imported struct or constant in their types. Only their names are known.
    let missing: Vec<Named> = match &program {
        ast::Program::Block(block) => {
            let names = block.functions.iter().map(|function| function.name.to_string());
            let is_known = |name: &String| lowered.functions.iter().any(|known| known.name == *name);
            let missing = names.filter(|name| !is_known(name));
            missing
                .map(|name| Named { program: Err(importing(&name, imports, source)), function: Some(name) })
                .collect()
        }
        ast::Program::Closure(_) => Vec::new(),
        ast::Program::Expression(_) => {
            return Err(Failure::mistake(Mistake::of_diag(&surface::expression_in_file(), source)));
        }
    };
    let functions = lowered.functions.into_iter().map(|function| {
        let name = function.name.to_string();
        let program = match function.program.clone() {
            Some(program) => Ok(surface_program(&function, program, source)),
            None => Err(importing(&name, imports, source)),
        };
        Named { function: Some(name), program }
    });
    Ok(functions.chain(missing).collect())
}

/// The functions of a text without mistakes, whose calls stay calls. `None` if they break a limit in this form.
fn with_calls(program: &ast::Program) -> Option<Lowered> {
    let (lowered, diags) = surface::lower_with_calls(program);
    diags.is_empty().then_some(lowered)
}

fn surface_program(
    function: &Function,
    program: surface::lower::LoweredModule,
    source: &Rc<Source>,
) -> Program {
    let module = program.module;
    let results = module.outputs().len() - function.updates.len();
    let inputs: Vec<_> = module.inputs().map(|(name, _)| name).collect();
    // An updated input is a parameter, or a field of one.
    let updated = function.updates.iter().map(|input| Some(format!("{} (updated)", inputs[*input])));
    let updates = function.updates.iter().enumerate();
    let updates = updates.map(|(position, input)| Update { output: results + position, input: *input });
    let names = module.iter().map(|(value, _)| value.to_string()).collect();
    let context = Context {
        updates: updates.collect(),
        einsums: program.einsums,
        function: Some(function.name.to_string()),
        insts: program.sites.iter().map(|site| Spot::from(*site)).collect(),
        output_names: std::iter::repeat_n(None, results).chain(updated).collect(),
        ..Context::without_places(source.clone(), names)
    };
    Program { module, context }
}

/// E2002 for a function that uses an import of its file.
fn importing(function: &str, imports: &[Import], source: &Rc<Source>) -> Failure {
    let names: Vec<_> = imports.iter().map(|import| format!("`{}`", import.name)).collect();
    let message =
        format!("`{function}` needs imports of its file, which only `mind!` can read: {}", names.join(", "));
    let spot = imports.first().map_or_else(Spot::default, |import| import.site.into());
    let help = "define it in this file, or compile the program with `mind!` or `mind::include!`";
    Failure::mistake(Mistake::new(Code::E2002, message).at(source, spot).help(help))
}

/// The function of this name, or the only function.
fn choose(mut programs: Vec<Named>, name: Option<&str>, source: &Source) -> Outcome<Program> {
    let names: Vec<String> = programs.iter().filter_map(|program| program.function.clone()).collect();
    let position = match name {
        Some(name) => names.iter().position(|other| other == name).ok_or_else(|| {
            let message = format!("{} has no function `{name}`", source.name);
            Failure::with_help(message, format!("its functions are {}", names.join(", ")))
        })?,
        None if programs.len() == 1 => 0,
        None if programs.is_empty() => {
            return Err(Failure::usage(format!("{} has no function", source.name)));
        }
        None => {
            let message = format!("{} has {} functions", source.name, programs.len());
            let help = format!("choose one with --function: {}", names.join(", "));
            return Err(Failure::with_help(message, help));
        }
    };
    programs.swap_remove(position).program
}
