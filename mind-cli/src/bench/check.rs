//! Programs whose predicted times are compared with measured ones. They differ from the programs that measure limits.

use std::{collections::BTreeMap, hint::black_box, rc::Rc};

use mind::{Error, Workspace};
use mind_core::{canon::canonicalise_mapped, ops::Profile, opt::optimise, plan::plan};

use super::programs::{Call, operand};
use crate::{
    args::{Form, Reading},
    input,
    prediction::{machine::Machine, time, work},
    report::{Outcome, Source},
};

/// The programs, compiled.
mod compiled {
    mind::include!("checks.mind");
}

/// A program to compare.
pub struct Check {
    /// The name of the function.
    pub name: &'static str,
    /// Allocates its operands. E6004 if memory cannot be allocated.
    pub prepare: fn() -> Result<Call, Error>,
}

/// Defines programs: the operands that are read, those that are updated, and the results.
macro_rules! checks {
    ($($name:ident $into:ident ($($read:ident: [$($read_extent:literal),+]),+)
       ($($updated:ident: [$($updated_extent:literal),+]),*) -> ($($result:ident: [$($extent:literal),*]),+);)+) => {
        /// Every program.
        pub const ALL: &[Check] = &[$(Check {
            name: stringify!($name),
            prepare: || {
                $(let $read: mind::Tensor![f32; $($read_extent),+] = operand(stringify!($read).len())?;)+
                $(let mut $updated: mind::Tensor![f32; $($updated_extent),+] = operand(stringify!($updated).len())?;)*
                $(let mut $result = checks!(@result $($extent),*);)+
                let mut workspace = Workspace::try_with_bytes(compiled::$name::PEAK_BYTES)?;
                Ok(Box::new(move || {
                    compiled::$into(
                        $(black_box(&$read),)+ $(&mut $updated,)* ($(&mut $result),+), &mut workspace
                    )?;
                    $(black_box(&$result);)+
                    Ok(())
                }))
            },
        }),+];
    };
    (@result) => { 0.0_f32 };
    (@result $($extent:literal),+) => {
        {
            let result: mind::Tensor![f32; $($extent),+] = operand(0)?;
            result
        }
    };
}

checks! {
    square square_into (x: [512, 512], y: [512, 512]) () -> (out: [512, 512]);
    layer layer_into (x: [32, 784], y: [784, 256]) () -> (out: [32, 256]);
    step step_into (x: [32, 784], y: [32, 10]) (w1: [784, 256], b1: [256], w2: [256, 10], b2: [10]) -> (out: []);
    chain chain_into (x: [1000000], y: [1000000]) () -> (out: [1000000]);
    entropy entropy_into (z: [512, 1000], t: [512, 1000]) () -> (out: []);
    entropy_grad entropy_grad_into (z: [512, 1000], t: [512, 1000]) () -> (out: [], dz: [512, 1000]);
    layernorm layernorm_into (x: [512, 768]) () -> (out: [512, 768]);
    total total_into (x: [1000000]) () -> (out: []);
}

/// The predicted time of a program for each number of threads that was measured, in seconds.
pub fn predicted(check: &Check, machine: &Machine) -> Outcome<Vec<f64>> {
    let text = include_str!("checks.mind").to_owned();
    let source = Rc::new(Source { name: "checks.mind".to_owned(), form: Form::Mind, text });
    let reading = Reading { from: None, function: Some(check.name.to_owned()), keeps_calls: false };
    let (module, context) = input::Program::of_source(&source, &reading)?.verified(Profile::Extended)?;
    let (canonical, _) = canonicalise_mapped(module);
    let plan = plan(&optimise(&canonical), &context.updates);
    let steps = work::of_plan(&plan, &BTreeMap::new());
    let seconds = |threads: &usize| time::predict(&steps, machine, *threads).total.seconds;
    Ok(machine.threads.iter().map(seconds).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = include_str!("../../../docs/book/listings/machine.txt");

    #[test]
    fn every_program_has_a_predicted_time() {
        let machine = Machine::parse(MACHINE, "machine.txt").unwrap();
        for check in ALL {
            let seconds = predicted(check, &machine).unwrap();
            assert!(seconds.iter().all(|time| *time > 1e-6 && *time < 1.0), "{}: {seconds:?}", check.name);
            assert!(seconds[1] < seconds[0], "{}: {seconds:?}", check.name);
        }
    }
}
