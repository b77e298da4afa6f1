//! Rows normalised to mean 0 and variance 1, and the pullback of a cotangent.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

macro_rules! normalisations {
    ($($size:ident: $rows:tt $columns:tt;)*) => {
        pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$rows, $columns] => $size::prepare(case),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                fn normalise(x: f32[$rows, $columns]) -> f32[$rows, $columns] {
                    let c = x - mean(x, axes = [1], keepdims = true);
                    let variance = mean(c * c, axes = [1], keepdims = true);
                    c * exp(-0.5 * log(variance + 0.00001))
                }

                fn pullback(x: f32[$rows, $columns], g: f32[$rows, $columns]) -> f32[$rows, $columns] {
                    vjp(normalise, wrt = x)(x, g)
                }
            }

            pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
                let x = input(case, "x");
                match case.workload.as_str() {
                    "layernorm" => Some(program(x, |x| normalise(x), |_, out| vec![named("out", &out)])),
                    "layernorm_grad" => {
                        Some(program((x, input(case, "g")), |(x, g)| pullback(x, g), |_, gx| vec![named("gx", &gx)]))
                    }
                    _ => None,
                }
            }
        })*
    };
}

normalisations! {
    rows: 512 768;
}
