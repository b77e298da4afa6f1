//! Runs the directives of a module.

use std::fmt::Write as _;

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Diags,
    grad::{Cotangent, Gradient, GradientOptions, Wrt, differentiate},
    interp::{self, Array, RunError},
    ir::{Module, Op, ValueId},
    ops::Profile,
    opt::optimise,
    text::{self, Document, Limits, TextForm, core_ir, mic},
    verify::{Verified, verify},
};

use super::{case::Directive, values};

/// The expected lines below a directive.
pub(crate) fn run(text: &str, directive: &Directive<'_>) -> String {
    let subject = Subject { text, directive };
    match directive.name {
        "roundtrip" => subject.roundtrip(),
        "verify" => subject.verify(),
        "canon" => subject.canon(),
        "grad" => subject.grad(),
        "opt" => subject.opt(),
        "run" => subject.run(),
        "run-grad" => subject.run_grad(),
        other => panic!("there is no directive `{other}`"),
    }
}

struct Subject<'a> {
    text: &'a str,
    directive: &'a Directive<'a>,
}

impl Subject<'_> {
    fn roundtrip(&self) -> String {
        let document = match self.parse() {
            Ok(document) => document,
            Err(errors) => return errors,
        };
        let module = &document.module;
        assert_eq!(
            core_ir::parse(&core_ir::print(module), &Limits::default()).expect("printed text is read"),
            *module
        );
        assert_eq!(
            mic::parse(&mic::print(module), &Limits::default()).expect("printed text is read"),
            *module
        );
        let printed = match self.form() {
            TextForm::Mic => mic::print_document(&document),
            TextForm::CoreIr => core_ir::print(module),
        };
        if printed == self.text { "ok\n".into() } else { printed }
    }

    fn verify(&self) -> String {
        match self.parse().and_then(|document| self.verified(document, self.profile())) {
            Ok(_) => "ok\n".into(),
            Err(errors) => errors,
        }
    }

    fn canon(&self) -> String {
        self.canonical().map_or_else(|errors| errors, |canonical| self.print(&canonical))
    }

    fn opt(&self) -> String {
        self.canonical().map_or_else(|errors| errors, |canonical| self.print(&optimise(&canonical)))
    }

    fn grad(&self) -> String {
        let gradient = self.canonical().and_then(|canonical| self.gradient(&canonical, self.profile()));
        gradient.map_or_else(|errors| errors, |gradient| self.print(&gradient.module))
    }

    fn run(&self) -> String {
        let canonical = self.canonical().unwrap_or_else(|errors| panic!("{errors}"));
        let verified = self.verified(self.parse().expect("canonical"), Profile::Extended).expect("canonical");
        let inputs = self.inputs(&verified);
        let found = interp::run(&verified, &inputs);
        let bits = |result: &Result<Vec<Array>, RunError>| format!("{result:?}");
        assert_eq!(bits(&found), bits(&interp::run(&canonical, &inputs)), "canonical form keeps the bits");
        let optimised =
            verify((*optimise(&canonical)).clone(), Profile::Extended).expect("optimised modules verify");
        assert_eq!(bits(&found), bits(&interp::run(&optimised, &inputs)), "the optimiser keeps the bits");
        self.recorded(found)
    }

    fn run_grad(&self) -> String {
        let canonical = self.canonical().unwrap_or_else(|errors| panic!("{errors}"));
        let profiles = match self.directive.argument("profile") {
            Some(_) => vec![self.profile()],
            None => vec![Profile::Extended, Profile::CoreV1],
        };
        let results = profiles.into_iter().map(|profile| {
            let gradient = self.gradient(&canonical, profile).unwrap_or_else(|errors| panic!("{errors}"));
            interp::run(&gradient.module, &self.inputs(&gradient.module))
        });
        let results: Vec<_> = results.collect();
        for other in &results[1..] {
            let (Ok(first), Ok(other)) = (&results[0], other) else { continue };
            let agree = first.iter().zip(other).all(|(a, b)| values::close(a, b, self.tolerance()));
            assert!(agree, "the profiles differ: {first:?} and {other:?}");
        }
        self.recorded(results.into_iter().next().expect("one profile at least"))
    }

    fn parse(&self) -> Result<Document, String> {
        let parsed = match self.form() {
            TextForm::Mic => mic::parse_document(self.text, &Limits::default()),
            TextForm::CoreIr => core_ir::parse_document(self.text, &Limits::default()),
        };
        parsed.map_err(|diags| self.report(diags))
    }

    fn print(&self, module: &Module) -> String {
        match self.form() {
            TextForm::Mic => mic::print(module),
            TextForm::CoreIr => core_ir::print(module),
        }
    }

    fn form(&self) -> TextForm {
        if self.text.starts_with('%') || self.text.starts_with("outputs:") {
            TextForm::CoreIr
        } else {
            TextForm::Mic
        }
    }

    fn verified(&self, document: Document, profile: Profile) -> Result<Verified, String> {
        document.verify(profile).map_err(|diags| self.report(diags))
    }

    fn report(&self, diags: Diags) -> String {
        let source = match self.form() {
            TextForm::Mic => "mic",
            TextForm::CoreIr => "core-ir",
        };
        diags.into_iter().map(|diag| format!("{}\n", text::report(&diag, source, self.form()))).collect()
    }

    fn canonical(&self) -> Result<Canonical, String> {
        Ok(canonicalise(self.verified(self.parse()?, Profile::Extended)?))
    }

    fn gradient(&self, canonical: &Canonical, profile: Profile) -> Result<Gradient, String> {
        let wrt = self.directive.argument("wrt").expect("`wrt=x` says what to differentiate by");
        let wrt = wrt.split(',').map(|name| match name.strip_prefix("zero_ok:") {
            Some(name) => Wrt { input: input(canonical, name), zero_ok: true },
            None => Wrt { input: input(canonical, name), zero_ok: false },
        });
        let cotangent = match self.directive.argument("cotangent") {
            Some(_) => Cotangent::Input,
            None => Cotangent::One,
        };
        let options = GradientOptions { wrt: wrt.collect(), cotangent, profile };
        differentiate(canonical, &options).map_err(|error| format!("error[{}]: {error}\n", error.code()))
    }

    fn profile(&self) -> Profile {
        match self.directive.argument("profile") {
            None | Some("extended") => Profile::Extended,
            Some("core-v1") => Profile::CoreV1,
            Some(other) => panic!("there is no profile `{other}`"),
        }
    }

    fn tolerance(&self) -> f64 {
        let written = self.directive.argument("tolerance");
        written.map_or(0.0, |tolerance| tolerance.parse().expect("a tolerance is a number"))
    }

    /// The values in the lines `name = …`, in the order of the module's inputs.
    fn inputs(&self, module: &Verified) -> Vec<Array> {
        let lines = || self.directive.body.lines().filter(|line| !line.starts_with("> "));
        let given: Vec<(&str, &str)> =
            lines().map(|line| line.split_once(" = ").expect("an input is `name = value`")).collect();
        let value = |(name, dtype): (String, _)| {
            let text = given.iter().find(|(given, _)| *given == name).map(|(_, text)| *text);
            values::parse(dtype, text.unwrap_or_else(|| panic!("the input `{name}` has no value")))
        };
        assert_eq!(lines().count(), module.inputs().count(), "each input has one line");
        names(module).into_iter().map(value).collect()
    }

    /// The inputs as written, and the recorded outputs where they are close enough.
    fn recorded(&self, found: Result<Vec<Array>, RunError>) -> String {
        let mut text = String::new();
        for line in self.directive.body.lines().filter(|line| !line.starts_with("> ")) {
            writeln!(text, "{line}").expect("writing to a string cannot fail");
        }
        let outputs = match found {
            Ok(outputs) => outputs,
            Err(error) => {
                writeln!(text, "> error[{}]: {}", error.code, error.message)
                    .expect("writing to a string cannot fail");
                return text;
            }
        };
        let mut recorded = self.directive.body.lines().filter_map(|line| line.strip_prefix("> "));
        for output in outputs {
            let (printed, old) = (values::print(&output), recorded.next());
            let kept = old.filter(|old| self.tolerance() > 0.0 && is_near(old, &output, self.tolerance()));
            writeln!(text, "> {}", kept.unwrap_or(&printed)).expect("writing to a string cannot fail");
        }
        text
    }
}

/// Whether a recorded line holds this value, within `tolerance`.
fn is_near(line: &str, value: &Array, tolerance: f64) -> bool {
    let Some(rest) = line.strip_prefix(value.dtype().name()) else { return false };
    values::close(&values::parse(value.dtype(), rest), value, tolerance)
}

fn input(module: &Module, name: &str) -> ValueId {
    let position = names(module).iter().position(|(known, _)| known == name);
    ValueId::new(position.unwrap_or_else(|| panic!("there is no input `{name}`")))
}

fn names(module: &Module) -> Vec<(String, mind_core::ty::DType)> {
    let name = |(_, inst): (ValueId, &mind_core::ir::Inst)| match &inst.op {
        Op::Input { name } => Some((name.to_string(), inst.ty.dtype)),
        _ => None,
    };
    module.iter().filter_map(name).collect()
}
