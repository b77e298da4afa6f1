//! Tests of every program of the repository in every subcommand: no call panics, valid programs succeed, and messages
//! about the others begin with the place and the code.

#[path = "../../../../tests/support/extents.rs"]
mod extents;
#[cfg(target_os = "linux")]
mod huge;
mod programs;
mod threads;

use std::{collections::BTreeSet, fs, path::Path};

use assert_cmd::cargo::cargo_bin_cmd;
use mind_core::{
    dim::{Bindings, Dim},
    interp::check_requirements,
    ir::Module,
    ops::Profile,
    stats,
    text::{Limits, mic},
    ty::DType,
    verify::{Verified, requirements, verify},
};
use mind_knossos::{ir::Definition, types::TypeId};
use programs::{Program, programs};
use tempfile::TempDir;
use threads::on_all_threads;

use crate::sample::{few, sample};

/// The minimum number of programs in the repository.
const FEWEST: usize = 1500;

#[test]
fn every_program_of_the_repository_goes_through_every_subcommand() {
    let programs = programs();
    assert!(programs.len() >= FEWEST, "only {} programs are found", programs.len());
    // Each program takes one process per subcommand.
    let programs = sample("of these", few("programs", programs));
    let trials = on_all_threads(&programs, |program| {
        let mut trial = Trial::new(program);
        (trial.run(), trial.failures)
    });
    let right = trials.iter().filter(|(right, _)| *right).count();
    let mut failures: Vec<String> = trials.into_iter().flat_map(|(_, failures)| failures).collect();
    failures.sort();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // Most programs are from tests of mistakes. A small sample may have few others.
    let is_small = programs.len() < 100;
    assert!(is_small || right * 4 > programs.len(), "only {right} of {} programs are right", programs.len());
}

/// Reading every text as every form does not panic.
#[test]
fn every_program_is_read_or_refused_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut names = BTreeSet::new();
    for (number, program) in few("texts", programs()).iter().enumerate() {
        let name = format!("p{number}.{}", program.extension);
        fs::write(folder.path().join(&name), &program.text).expect("the folder can be written");
        names.insert(name);
    }
    for form in ["mic", "core-ir", "json", "mind", "ks"] {
        // Each text is checked with the prelude, so a fifth of the texts takes as long as all texts in another form.
        let (command, step) =
            if form == "ks" { ("ks check", 5) } else { (&*format!("check --from {form}"), 1) };
        let mut arguments: Vec<_> = command.split(' ').collect();
        arguments.extend(names.iter().map(String::as_str).step_by(step));
        let answer = mind(folder.path(), &arguments);
        assert!(answer.code == 1 || answer.code == 2, "mind {command}: {answer:?}");
    }
}

#[derive(Debug)]
struct Answer {
    code: i32,
    out: String,
    err: String,
}

fn mind(folder: &Path, arguments: &[&str]) -> Answer {
    let mut command = cargo_bin_cmd!("mind");
    let output = command.current_dir(folder).args(arguments).output().expect("the command runs");
    Answer {
        // There is no code if a signal ended the process.
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A program, and the failures of the subcommands on it.
struct Trial<'a> {
    program: &'a Program,
    folder: TempDir,
    failures: Vec<String>,
}

/// The allowed results of a subcommand.
#[derive(Clone, Copy)]
enum Allowed {
    /// Only success.
    Success,
    /// Success, or one of these codes.
    Codes(&'static [&'static str]),
    /// Success, or a mistake with any code.
    Mistake,
}

/// The codes with which the interpreter may stop in a valid program: no element to gather, too little memory, Rust
/// functions.
const STOPS: Allowed = Allowed::Codes(&["E6001", "E6004", "E6010"]);

/// The codes for which a valid program may have no gradient: an operation without a derivative, outputs or inputs that
/// are not differentiable.
const NOT_DIFFERENTIABLE: Allowed = Allowed::Codes(&["E5001", "E5004", "E5005"]);

impl<'a> Trial<'a> {
    fn new(program: &'a Program) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join(format!("p.{}", program.extension));
        fs::write(file, &program.text).expect("the folder can be written");
        Self { program, folder, failures: Vec::new() }
    }

    /// Runs the subcommands and collects failures. Returns whether the program is valid.
    fn run(&mut self) -> bool {
        match self.program.extension {
            "ks" => self.knossos(),
            "mind" => self.surface(),
            extension => self.module(&format!("p.{extension}")),
        }
    }

    /// Runs the subcommands on every function of a file.
    fn surface(&mut self) -> bool {
        let checked = self.ask("check p.mind", Allowed::Mistake);
        let fine =
            |line: &str| line.strip_prefix("p.mind: ")?.split_once(": ok, ").map(|(name, _)| name.to_owned());
        let functions: Vec<String> = checked.out.lines().filter_map(fine).collect();
        self.ask("fmt --stdout p.mind", Allowed::Mistake);
        if functions.is_empty() {
            self.ask_all(COMMANDS.iter().chain(&FORMS), "p.mind", Allowed::Mistake);
        }
        for (position, function) in functions.iter().enumerate() {
            let chosen = format!("p.mind --function {function}");
            if position == 0 {
                self.ask_all(&FORMS, &chosen, Allowed::Success);
                self.ask("fmt out.ir out.json", Allowed::Success);
            }
            self.right(&chosen);
        }
        checked.code == 0
    }

    /// Runs the subcommands on a module in a file.
    fn module(&mut self, file: &str) -> bool {
        let right = self.ask(&format!("check {file}"), Allowed::Mistake).code == 0;
        let allowed = if right { Allowed::Success } else { Allowed::Mistake };
        self.ask(&format!("fmt --stdout {file}"), allowed);
        self.ask_all(&FORMS, file, allowed);
        if right {
            self.ask("fmt out.ir out.json", Allowed::Success);
            self.right(file);
        } else {
            self.ask_all(&COMMANDS, file, Allowed::Mistake);
        }
        right
    }

    /// Runs the subcommands on a module or function that verifies.
    fn right(&mut self, chosen: &str) {
        self.ask_all(&COMMANDS, chosen, Allowed::Success);
        // The written file can be read and formatted.
        if self.ask("fmt out.mic", Allowed::Success).code != 0 {
            return;
        }
        let text = fs::read_to_string(self.folder.path().join("out.mic")).expect("it was written");
        let module = mic::parse(&text, &Limits::default()).expect("it was read");
        let module = verify(module, Profile::Extended).expect("it was formatted");
        self.gradient(&module, chosen);
        self.evaluation(&module, chosen);
    }

    /// Derives the gradient by the first floating-point input.
    fn gradient(&mut self, module: &Module, chosen: &str) {
        let Some((name, _)) = module.inputs().find(|(_, ty)| ty.dtype.is_float()) else { return };
        let name = name.to_string();
        let options = ["grad", "--zero-ok", "--cotangent", "--to", "mic", "-o", "grad.mic", "--wrt", &name];
        let words: Vec<_> = options.into_iter().chain(chosen.split(' ')).collect();
        if self.ask_words(&words, NOT_DIFFERENTIABLE).code == 0 {
            self.ask("check grad.mic", Allowed::Success);
        }
    }

    /// Runs the program on zeros, with the first extents that it admits.
    fn evaluation(&mut self, module: &Verified, chosen: &str) {
        let Some(bindings) = bindings(module) else {
            return self.fail("run", "no extents are found that it admits");
        };
        let mut words: Vec<String> = chosen.split(' ').map(str::to_owned).collect();
        for (position, (name, ty)) in module.inputs().enumerate() {
            let extents: Option<Vec<i64>> = ty.shape.iter().map(|dim| dim.evaluate(&bindings)).collect();
            let extents = extents.expect("every symbol is bound");
            let count: i64 = extents.iter().product();
            if count > 1 << 20 {
                // A file of this size would test nothing more.
                return;
            }
            let descriptor = match ty.dtype {
                DType::Bool => "|b1".to_owned(),
                DType::U8 => "|u1".to_owned(),
                dtype => format!("<{}{}", if dtype.is_float() { 'f' } else { 'i' }, dtype.bytes()),
            };
            let file = format!("x{position}.npy");
            let bytes = npy(&descriptor, &extents, count as usize * ty.dtype.bytes());
            fs::write(self.folder.path().join(&file), bytes).expect("the folder can be written");
            words.extend(["--input".to_owned(), format!("{name}={file}")]);
        }
        let work = stats::flops(module).ok().and_then(|work| work.evaluate(&bindings));
        let (most, allowed) = match work {
            Some(0..MOST_WORK) => ("1G", STOPS),
            Some(_) | None => ("1", Allowed::Codes(&["E6004", "E6010"])),
        };
        let words = ["run", "--memory", most].into_iter().chain(words.iter().map(String::as_str));
        self.ask_words(&words.collect::<Vec<_>>(), allowed);
    }

    fn knossos(&mut self) -> bool {
        let right = self.ask("ks check --rules --print-ir p.ks", Allowed::Mistake).code == 0;
        // The other subcommands report that it is a Knossos program.
        self.ask_all(COMMANDS.iter().chain(&FORMS).take(1), "p.ks", Allowed::Mistake);
        let Ok(program) = mind_knossos::check(&self.program.text) else {
            self.ask("ks run p.ks", Allowed::Mistake);
            self.ask("ks grad p.ks f 1.0", Allowed::Mistake);
            return right;
        };
        if !program.overloads("main").is_empty() {
            self.ask("ks run p.ks", Allowed::Mistake);
        }
        let scalars = program.functions.iter().filter(|function| {
            let own = function.place.line > 0 && matches!(function.definition, Definition::Defined(_));
            let float = |ty: &TypeId| *ty == TypeId::FLOAT;
            own && float(&function.result)
                && function.parameters.iter().all(float)
                && function.parameters.len() == 1
        });
        let names: Vec<_> =
            scalars.map(|function| function.name.clone()).filter(|name| !name.contains('[')).collect();
        for name in names.iter().take(2) {
            self.ask(&format!("ks grad p.ks {name} 0.5"), Allowed::Mistake);
        }
        right
    }

    fn ask_all<'c>(
        &mut self,
        commands: impl IntoIterator<Item = &'c &'c str>,
        chosen: &str,
        allowed: Allowed,
    ) {
        for command in commands {
            self.ask(&command.replace("FILE", chosen), allowed);
        }
    }

    fn ask(&mut self, command: &str, allowed: Allowed) -> Answer {
        self.ask_words(&command.split(' ').collect::<Vec<_>>(), allowed)
    }

    fn ask_words(&mut self, words: &[&str], allowed: Allowed) -> Answer {
        let answer = mind(self.folder.path(), words);
        let command = words.join(" ");
        let first = answer.err.lines().next().unwrap_or_default();
        let code =
            first.split_once("error[").and_then(|(_, rest)| rest.split_once(']')).map(|(code, _)| code);
        let fine = match (answer.code, allowed) {
            // Values that a program inspects are shown on standard error.
            (0, _) => answer.err.is_empty() || self.program.text.to_lowercase().contains("inspect"),
            (1, Allowed::Mistake) => code.is_some() && begins_with_its_place(first),
            (1, Allowed::Codes(codes)) => code.is_some_and(|code| codes.contains(&code)),
            // The message names the command or option to use.
            (2, _) => is_misuse(first),
            _ => false,
        };
        if !fine {
            self.fail(&command, &format!("{}, {first}", answer.code));
        }
        answer
    }

    fn fail(&mut self, command: &str, why: &str) {
        let Program { place, text, .. } = self.program;
        let head: Vec<_> = text.lines().take(6).collect();
        self.failures.push(format!("{place}: mind {command}: {why}\n    {}", head.join("\n    ")));
    }
}

/// The commands for every function, besides `check`, `fmt`, `grad` and `run`.
const COMMANDS: [&str; 3] = [
    "convert FILE --to mic -o out.mic",
    "stats --plan FILE",
    "graph FILE -o out.svg --renderer own --expand",
];

/// Further commands for the first function of a file. They test the writing of forms.
const FORMS: [&str; 4] = [
    "graph FILE -o out.png",
    "convert FILE --to core-ir -o out.ir",
    "convert FILE --to json -o out.json",
    "convert FILE --to dot -o out.dot",
];

/// The maximum number of arithmetic operations in the interpreter. Larger programs run with too little memory.
const MOST_WORK: i64 = 1 << 20;

/// Whether a line is like `mic:3: error[E4001]: …`, or without a place if it is about the whole program.
fn begins_with_its_place(line: &str) -> bool {
    let (place, _) = line.split_once("error[").unwrap_or((line, ""));
    let place = place.trim_end_matches(": ");
    let mut parts = place.split(':');
    ["mic", "core-ir", "json", "mind", "ks"].contains(&parts.next().unwrap_or_default())
        && parts.all(|part| part.parse::<u32>().is_ok())
}

/// Whether a message is not about a mistake in the program: Knossos has a separate command, one of several functions
/// has to be chosen, or a picture has too many pixels.
fn is_misuse(first: &str) -> bool {
    let of_functions = first.ends_with(" functions") || first.ends_with("has no function");
    let is_large = first.starts_with("error: the picture is too large for .png");
    of_functions
        || is_large
        || first.ends_with(" is a Knossos program")
        || first.ends_with("has no `main` to run")
}

/// Extents that the inputs can have and that satisfy the requirements of the module.
fn bindings(module: &Verified) -> Option<Bindings> {
    let mut symbols = BTreeSet::new();
    for (_, ty) in module.inputs() {
        ty.shape.iter().for_each(|dim| dim.for_each_symbol(&mut |symbol| _ = symbols.insert(symbol.clone())));
    }
    let needed = requirements(module);
    let candidates = [2, 3, 4, 6, 8, 12, 1, 16, 32, 5, 7];
    let uniform = candidates.iter().map(|extent| vec![*extent; symbols.len()]);
    let rising = candidates.iter().map(|first| (0..symbols.len() as i64).map(|step| first + step).collect());
    let falling =
        candidates.iter().map(|last| (0..symbols.len() as i64).rev().map(|step| last + step).collect());
    uniform.chain(rising).chain(falling).find_map(|extents| {
        let dims = extents.into_iter().map(Dim::literal);
        let bindings: Bindings = symbols.iter().cloned().zip(dims).collect();
        check_requirements(&needed, &bindings).is_ok().then_some(bindings)
    })
}

/// A `.npy` file of zeros.
fn npy(descriptor: &str, extents: &[i64], bytes: usize) -> Vec<u8> {
    let shape: String = extents.iter().map(|extent| format!("{extent}, ")).collect();
    let header = format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let length = u16::try_from(header.len()).expect("a rank is at most 8");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(header.as_bytes());
    file.resize(file.len() + bytes, 0);
    file
}
