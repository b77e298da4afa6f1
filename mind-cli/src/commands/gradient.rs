//! The gradient according to options, which `grad` and `graph` share.

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Code,
    grad::{self, Cotangent, Wrt, differentiate},
    ir::{Module, ValueId},
    verify::Verified,
};

use crate::{
    args::GradientOptions,
    graph::Subject,
    input::Context,
    report::{Failure, Mistake, Outcome, Spot},
    spelling::{distance, is_near},
};

/// The gradient of a program with respect to inputs by name.
pub fn gradient(
    program: Verified,
    context: &Context,
    wrt: &[String],
    options: &GradientOptions,
) -> Outcome<Canonical> {
    let wrt = parameters(&program, context, wrt, options.zero_ok)?;
    let options = grad::GradientOptions {
        wrt,
        cotangent: if options.cotangent { Cotangent::Input } else { Cotangent::One },
        profile: options.profile.into(),
    };
    match differentiate(&canonicalise(program), &options) {
        Ok(gradient) => Ok(gradient.module),
        Err(error) => {
            let code = error.code();
            let mistake = Mistake::new(code, error.to_string()).at(&context.source, Spot::default());
            Err(Failure::mistake(if code == Code::E5004 && options.cotangent == Cotangent::One {
                mistake.help("reduce the output to a single number, or give --cotangent")
            } else if code == Code::E5005 {
                mistake.help("remove it from --wrt, or give --zero-ok for zeros")
            } else {
                mistake
            }))
        }
    }
}

/// The description of a picture of a program's gradient.
pub fn picture_of(program: &Module, context: &Context, wrt: &[String]) -> Subject {
    let primal = program.outputs().len();
    let mut output_names: Vec<_> = (0..primal).map(|position| context.output_name(position)).collect();
    output_names.extend(wrt.iter().map(|name| format!("gradient of {name}")));
    let title = format!("{} with its gradient by {}", context.title(), wrt.join(", "));
    Subject { title, primal_outputs: Some(primal), output_names, ..Subject::default() }
}

fn parameters(module: &Module, context: &Context, names: &[String], zero_ok: bool) -> Outcome<Vec<Wrt>> {
    let mut wrt: Vec<Wrt> = Vec::with_capacity(names.len());
    let mut mistakes = Vec::new();
    for name in names {
        let position = module.inputs().position(|(input, _)| **input == **name);
        match position.map(ValueId::new) {
            Some(input) if wrt.iter().any(|wrt| wrt.input == input) => {
                let mistake = Mistake::new(Code::E2008, format!("`{name}` is named twice in --wrt"));
                mistakes.push(mistake.at(&context.source, Spot::default()));
            }
            Some(input) => wrt.push(Wrt { input, zero_ok }),
            None => mistakes.push(unknown_input(module, context, name)),
        }
    }
    if mistakes.is_empty() { Ok(wrt) } else { Err(Failure::Mistakes(mistakes)) }
}

/// E2002 for a name that is not the name of an input.
pub fn unknown_input(module: &Module, context: &Context, name: &str) -> Mistake {
    let mistake = Mistake::new(Code::E2002, format!("the program has no input `{name}`"));
    let mistake = mistake.at(&context.source, Spot::default());
    let near = module.inputs().map(|(input, _)| input).min_by_key(|input| distance(input, name));
    match near.filter(|input| is_near(input, name)) {
        Some(near) => mistake.help(format!("write `{near}`")),
        None => {
            let inputs: Vec<_> = module.inputs().map(|(name, ty)| format!("{name}: {ty}")).collect();
            mistake.help(format!("its inputs are {}", inputs.join(", ")))
        }
    }
}
