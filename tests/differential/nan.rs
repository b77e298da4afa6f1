//! Compares where results are NaN. Comparisons with bounds ignore NaN.

use mind_core::{
    canon::canonicalise,
    interp::{Array, run},
    ir::Module,
    opt::optimise,
    plan::{Limits, plan_by},
};

use super::{
    check::{bindings, verified},
    execute::{Nests, execute},
};

/// Checks that a plan with the shortest strips gives NaN exactly where the interpreter does.
/// [`compare_on`](super::check::compare_on) does not check results that are not finite.
pub fn has_nan_where_the_interpreter_has(module: &Module, inputs: &[Array]) -> Result<(), String> {
    let canonical = canonicalise(verified(module));
    let plan = plan_by(&optimise(&canonical), &[], &Limits { large: 1, larger: 0, bytes: 12 });
    // [`compare_on`](super::check::compare_on) compares failures.
    let Ok(expected) = run(&canonical, inputs) else { return Ok(()) };
    let outcome = execute(&plan, inputs, &bindings(module, inputs), Nests::Lowered);
    let found = outcome.map_err(|failure| failure.error.to_string())?.results;
    for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let (expected, found) = (expected.elements.to_f64(), found.elements.to_f64());
        let mut elements = expected.iter().zip(&found);
        if let Some(place) = elements.position(|(expected, found)| expected.is_nan() != found.is_nan()) {
            let (expected, found) = (expected[place], found[place]);
            return Err(format!("element {place} of output {output} is {found}, expected {expected}"));
        }
    }
    Ok(())
}
