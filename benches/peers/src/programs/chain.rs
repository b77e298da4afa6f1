//! A chain of elementwise operations under a mean, and its gradient.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

macro_rules! chains {
    ($($size:ident: $len:tt;)*) => {
        pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$len] => $size::prepare(case),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                #[grad(x, y)]
                fn chain(x: f32[$len], y: f32[$len]) -> f32 { mean(exp(-(x * y + x)) * x - y * y) }
            }

            pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
                let inputs = (input(case, "x"), input(case, "y"));
                match case.workload.as_str() {
                    "chain" => Some(program(inputs, |(x, y)| chain(x, y), |_, out| vec![("out", vec![out])])),
                    "chain_grad" => Some(program(
                        inputs,
                        |(x, y)| chain_grad(x, y),
                        |_, (out, (gx, gy))| vec![("out", vec![out]), named("gx", &gx), named("gy", &gy)],
                    )),
                    _ => None,
                }
            }
        })*
    };
}

chains! {
    thousand: 1000;
    million: 1000000;
}
