//! Compares the plans of random programs, run with the kernels, with the interpreter.

use std::fmt;

use mind_core::ir::Module;
use mind_core::testing::{Random, possible_updates, random_module, shrink};
use mind_core::text::core_ir;

use crate::case::Case;
use crate::programs;

/// A random program, and how it is tested.
#[derive(Clone)]
pub struct Program {
    module: Module,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Results,
    Updates,
    Gradient,
}

impl Program {
    pub fn random(random: &mut Random) -> Self {
        let size = 4 + random.below(20);
        let of = [Of::Results, Of::Updates, Of::Gradient][random.below(3)];
        Self { module: random_module(random.bits(), size), of }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of\n{}", self.of, core_ir::print(&self.module))
    }
}

impl Case for Program {
    fn run(&self) -> Result<u64, String> {
        match self.of {
            Of::Results => programs::compare(&self.module, &[])?,
            Of::Updates => programs::compare(&self.module, &possible_updates(&self.module))?,
            Of::Gradient => {
                if let Some(gradient) = programs::gradient(&self.module) {
                    programs::compare(&gradient, &[])?;
                }
            }
        }
        Ok(0)
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let programs = shrink(&self.module).into_iter().map(|module| Self { module, of: self.of });
        programs.map(|program| Box::new(program) as Box<dyn Case>).collect()
    }
}
