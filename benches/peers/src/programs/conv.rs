//! A convolution under `relu`, and the pullback of a cotangent through both.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

macro_rules! convolutions {
    ($($size:ident: $batch:tt $height:tt $width:tt $inputs:tt $outputs:tt $kernel:tt;)*) => {
        pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$batch, $height, $width, $inputs, $outputs, $kernel] => $size::prepare(case),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                const B: dim = $batch;
                const H: dim = $height;
                const W: dim = $width;
                const C: dim = $inputs;
                const O: dim = $outputs;
                const K: dim = $kernel;

                fn layer(x: f32[B, H, W, C], k: f32[K, K, C, O]) -> f32[B, H - K + 1, W - K + 1, O] {
                    relu(conv2d(x, k))
                }

                fn pullback(x: f32[B, H, W, C], k: f32[K, K, C, O], g: f32[B, H - K + 1, W - K + 1, O])
                    -> (f32[B, H, W, C], f32[K, K, C, O])
                {
                    vjp(layer, wrt = (x, k))(x, k, g)
                }
            }

            pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
                let (x, k) = (input(case, "x"), input(case, "k"));
                match case.workload.as_str() {
                    "conv_fwd" => Some(program((x, k), |(x, k)| layer(x, k), |_, out| vec![named("out", &out)])),
                    "conv_grad" => Some(program(
                        (x, k, input(case, "g")),
                        |(x, k, g)| pullback(x, k, g),
                        |_, (gx, gk)| vec![named("gx", &gx), named("gk", &gk)],
                    )),
                    _ => None,
                }
            }
        })*
    };
}

convolutions! {
    first: 8 28 28 1 16 3;
    second: 8 28 28 16 32 3;
}
