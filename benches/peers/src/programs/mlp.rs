//! A network of two layers: forward, the gradient of its mean squared error, and a step of gradient descent in place.

use mind::mind;

use super::{input, named};
use crate::Case;
use crate::program::{Program, program};

macro_rules! networks {
    ($($size:ident: $batch:tt $inputs:tt $hidden:tt $outputs:tt;)*) => {
        pub(super) fn prepare(case: &Case) -> Option<Box<dyn Program>> {
            match *case.extents {
                $([$batch, $inputs, $hidden, $outputs] => $size::prepare(case),)*
                _ => None,
            }
        }

        $(mod $size {
            use super::*;

            mind! {
                struct Network {
                    w1: f32[$inputs, $hidden],
                    b1: f32[$hidden],
                    w2: f32[$hidden, $outputs],
                    b2: f32[$outputs],
                }

                fn forward(x: f32[$batch, $inputs], p: Network) -> f32[$batch, $outputs] {
                    relu(x @ p.w1 + p.b1) @ p.w2 + p.b2
                }

                #[grad(p)]
                fn loss(x: f32[$batch, $inputs], y: f32[$batch, $outputs], p: Network) -> f32 {
                    let e = forward(x, p) - y;
                    mean(e * e)
                }

                fn step(x: f32[$batch, $inputs], y: f32[$batch, $outputs], p: &mut Network) -> f32 {
                    let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
                    p -= 0.01 * g;
                    l
                }
            }

            pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
                let x = input(case, "x");
                let p = Network {
                    w1: input(case, "w1"),
                    b1: input(case, "b1"),
                    w2: input(case, "w2"),
                    b2: input(case, "b2"),
                };
                if case.workload == "mlp_fwd" {
                    return Some(program((x, p), |(x, p)| forward(x, p), |_, out| vec![named("out", &out)]));
                }
                let state = (x, input(case, "y"), p);
                match case.workload.as_str() {
                    "mlp_grad" => Some(program(
                        state,
                        |(x, y, p)| loss_grad(x, y, p),
                        |_, (loss, g)| {
                            vec![
                                ("loss", vec![loss]),
                                named("gw1", &g.w1),
                                named("gb1", &g.b1),
                                named("gw2", &g.w2),
                                named("gb2", &g.b2),
                            ]
                        },
                    )),
                    "mlp_step" => Some(program(
                        state,
                        |(x, y, p)| step(x, y, p),
                        |(_, _, p), loss| {
                            vec![
                                ("loss", vec![loss]),
                                named("new_w1", &p.w1),
                                named("new_b1", &p.b1),
                                named("new_w2", &p.w2),
                                named("new_b2", &p.b2),
                            ]
                        },
                    )),
                    _ => None,
                }
            }
        })*
    };
}

networks! {
    tiny: 1 4 8 2;
    small: 32 64 32 10;
    medium: 32 784 256 10;
    large: 128 784 512 10;
}
