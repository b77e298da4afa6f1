//! Mean cross-entropy of a softmax, and its gradient.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

macro_rules! entropies {
    ($($size:ident: $batch:tt $classes:tt;)*) => {
        pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$batch, $classes] => Some($size::prepare(case)),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                #[grad(z)]
                fn entropy(z: f32[$batch, $classes], t: f32[$batch, $classes]) -> f32 {
                    let log_p = z - log(sum(exp(z), axes = [1], keepdims = true));
                    -mean(sum(t * log_p, axes = [1]))
                }
            }

            pub fn prepare(case: &Case) -> Box<dyn Program> {
                program(
                    (input(case, "z"), input(case, "t")),
                    |(z, t)| entropy_grad(z, t),
                    |_, (loss, gz)| vec![("loss", vec![loss]), named("gz", &gz)],
                )
            }
        })*
    };
}

entropies! {
    small: 128 10;
    large: 512 1000;
}
