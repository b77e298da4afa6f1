//! A dense layer, and the call that does nothing else.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
    match case.extents.as_slice() {
        [1] => Some(null(case)),
        _ => layer(case),
    }
}

mind! {
    fn increment(x: f32[1]) -> f32[1] { x + 1.0 }
}

fn null(case: &Case) -> Box<dyn Program> {
    program(input(case, "x"), |x| increment(x), |_, out| vec![named("out", &out)])
}

macro_rules! layers {
    ($($size:ident: $batch:tt $inputs:tt $outputs:tt;)*) => {
        fn layer(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$batch, $inputs, $outputs] => Some($size::prepare(case)),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                fn layer(x: f32[$batch, $inputs], w: f32[$inputs, $outputs], b: f32[$outputs]) -> f32[$batch, $outputs] {
                    relu(x @ w + b)
                }
            }

            pub fn prepare(case: &Case) -> Box<dyn Program> {
                program(
                    (input(case, "x"), input(case, "w"), input(case, "b")),
                    |(x, w, b)| layer(x, w, b),
                    |_, out| vec![named("out", &out)],
                )
            }
        })*
    };
}

layers! {
    tiny: 1 4 8;
    small: 32 64 32;
    medium: 32 784 256;
    large: 128 784 512;
    huge: 256 1024 1024;
}
