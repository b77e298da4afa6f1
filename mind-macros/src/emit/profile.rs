//! Timing of the steps of a function, if the environment requests it.

use std::fmt::Write;

use mind_core::{
    dim::{Bindings, Dim},
    plan::{Listing, Step, listing},
};

use super::{
    body::Body,
    extent::{Arithmetic, extent},
};

/// Whether functions time their steps, which is the case if `MIND_PROFILE` is set when the macro runs.
pub(super) fn wanted() -> bool {
    std::env::var_os("MIND_PROFILE").is_some()
}

/// The first line of each step in the listing of the plan.
pub(super) fn titles(body: &Body<'_>) -> Vec<String> {
    let listed = listing(&Listing { plan: body.plan, value_name: body.wishes, bindings: &Bindings::new() });
    let title = |line: &str| {
        let (number, words) = line.trim_start().split_once("  ")?;
        number.parse::<usize>().is_ok().then(|| words.to_owned())
    };
    let mut titles: Vec<_> = listed.lines().take_while(|line| !line.is_empty()).filter_map(title).collect();
    titles.resize(body.plan.steps.len(), String::new());
    titles
}

/// Emits a step between code that starts a clock and code that records the time. Steps on single numbers are not timed.
pub(super) fn step(body: &mut Body<'_>, position: usize, title: &str, step: &Step) {
    let cost = step.cost(body.plan);
    let (false, Ok(cost)) = (matches!(step, Step::Scalar(_) | Step::Load { .. }), cost) else {
        return body.step(step);
    };
    let clock = body.names.fresh("clock");
    let _ = writeln!(body.text, "let {clock} = rt::profile::start();");
    body.step(step);
    let number = |dim: &Dim| extent(dim, Arithmetic::Saturating);
    let _ = writeln!(
        body.text,
        "rt::profile::stop({clock}, rt::profile::Step {{ function: {:?}, position: {position}, title: {title:?}, \
         flops: {}, functions: {}, bytes: {} }});",
        body.function,
        number(&cost.flops),
        number(&cost.functions),
        number(&cost.bytes)
    );
}
