//! `checkpoint(f)`: functions whose gradients compute their values again.

use mind::{Const, Tensor, mind};

mod shared {
    mind::mind! {
        pub fn shared(x: f64[4]) -> f64[4] { sin(x) * exp(-x) }
    }
}

/// The same programs with a function as it is, and with `checkpoint`.
macro_rules! programs {
    ($($name:ident [$($layer:tt)*] [$($parts:tt)*] [$($inner:tt)*] [$($outer:tt)*] [$($shared:tt)*] [$($cell:tt)*] [$($folded:tt)*] [$($rows:tt)*];)*) => {$(
        mod $name {
            mind::mind! {
                use super::shared::shared;

                pub struct Layer<D> { w: f64[D, D], b: f64[D] }

                fn layer<N>(x: f64[N, 4], p: Layer<4>) -> f64[N, 4] { x + 0.5 * tanh(nn::gelu(x @ p.w + p.b) @ p.w) }

                // Layers of extents that the compiler does not know.
                fn net<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> f64 {
                    let x = $($layer)*($($layer)*(x, p), q);
                    mean(x * x)
                }
                fn net_1<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> (f64, (f64[N, 4], Layer<4>, Layer<4>)) {
                    value_and_grad(net, wrt = (x, p, q))(x, p, q)
                }

                // Parameters that several calls read.
                fn tied<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> f64 {
                    net($($layer)*(x, p), p, q) + net(x, q, p)
                }
                fn tied_1<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> (f64[N, 4], Layer<4>, Layer<4>) {
                    grad(tied, wrt = (x, p, q))(x, p, q)
                }
                fn slope<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> f64 {
                    let (x, p, q) = tied_1(x, p, q);
                    sum(x * x) + sum(p.w * q.w) + sum(sin(p.b) + q.b)
                }
                fn tied_2<N>(x: f64[N, 4], p: Layer<4>, q: Layer<4>) -> (f64[N, 4], Layer<4>, Layer<4>) {
                    grad(slope, wrt = (x, p, q))(x, p, q)
                }

                // Several results, one of which is not read, and parameters that have no gradient.
                fn parts(x: f64[4], y: f64, i: i64[2], on: bool) -> (f64[4], f64, i64, f64[2]) {
                    (where(on, sin(x * y), x), cos(y), sum(i), gather(x, i) * y)
                }
                fn of_parts(x: f64[4], y: f64, i: i64[2], on: bool) -> f64 {
                    let (a, b, count, c) = $($parts)*(x, y, i, on);
                    sum(a * a) * b + sum(c) * f64(count)
                }
                fn parts_1(x: f64[4], y: f64, i: i64[2], on: bool) -> (f64[4], f64) {
                    grad(of_parts, wrt = (x, y))(x, y, i, on)
                }

                // A checkpoint in a checkpoint, and an imported function.
                fn inner(x: f64[4], y: f64) -> f64[4] { exp(sin(x) * y) }
                fn outer(x: f64[4], y: f64) -> f64[4] { sin($($inner)*(x * x, y)) * $($inner)*(x, y) }
                fn twice(x: f64[4], y: f64) -> f64 { sum($($outer)*($($shared)*(x), y)) }
                fn twice_1(x: f64[4], y: f64) -> (f64[4], f64) { grad(twice, wrt = (x, y))(x, y) }
                fn twice_2(x: f64[4], y: f64) -> f64[4, 4] { hessian(twice, wrt = x)(x, y) }
                fn twice_along(x: f64[4], y: f64, dx: f64[4]) -> (f64, f64) { jvp(twice, wrt = x)(x, y, dx) }

                // Slices, of a gradient and in a gradient.
                fn sliced<N>(xs: f64[N, 4], y: f64) -> (f64[N, 4], f64[N]) { vmap(twice_1, over = x)(xs, y) }
                fn all<N>(xs: f64[N, 4], y: f64) -> f64 { sum(vmap($($outer)*, over = x)(xs, y)) }
                fn all_1<N>(xs: f64[N, 4], y: f64) -> (f64[N, 4], f64) { grad(all, wrt = (xs, y))(xs, y) }
                fn rows<N>(xs: f64[N, 4], y: f64) -> f64 { sum($($rows)*(xs, y)) }
                fn rows_1<N>(xs: f64[N, 4], y: f64) -> (f64[N, 4], f64) { grad(rows, wrt = (xs, y))(xs, y) }

                // In loops, and around one.
                fn cell(h: f64[4], x: f64[4], y: f64) -> f64[4] { tanh(h * y + sin(x)) }
                fn steps<N>(xs: f64[N, 4], y: f64) -> f64 {
                    let h = fold h = xs[0] for x in xs { $($cell)*(h, x, y) };
                    let h = fold h = h for x in xs, checkpoint = 2 { $($cell)*(h, x, y) };
                    sum(h * h)
                }
                fn steps_1<N>(xs: f64[N, 4], y: f64) -> (f64[N, 4], f64) { grad(steps, wrt = (xs, y))(xs, y) }
                fn folded<N>(xs: f64[N, 4], y: f64) -> f64[4] { fold h = xs[0] for x in xs { cell(h, x, y) } }
                fn around<N>(xs: f64[N, 4], y: f64) -> f64 { sum($($folded)*(xs, y)) }
                fn around_1<N>(xs: f64[N, 4], y: f64) -> (f64[N, 4], f64) { grad(around, wrt = (xs, y))(xs, y) }

                // In a template.
                fn squared(x, y) { let z = $($inner)*(x, y); sum(z * z) }
                #[grad(x, y)]
                fn of_template(x: f64[4], y: f64) -> f64 { squared(x, y) }
            }

            fn layers(x: &super::Vector, w: &super::Square) -> [Layer<mind::Const<4>>; 2] {
                [Layer { w: w.clone(), b: x.clone() }, Layer { w: -w, b: x * 0.5 }]
            }

            /// The first and second derivatives of the layers whose parameters several calls read.
            pub fn of_tied(x: &super::Vector, xs: &super::Vectors, w: &super::Square) -> Vec<f64> {
                let [p, q] = layers(x, w);
                let mut found = Vec::new();
                for (dx, dp, dq) in [tied_1(xs, &p, &q), tied_2(xs, &p, &q)] {
                    found.extend_from_slice(dx.as_slice());
                    for of in [dp, dq] {
                        found.extend_from_slice(of.w.as_slice());
                        found.extend_from_slice(of.b.as_slice());
                    }
                }
                found
            }

            /// The values and the other gradients, as bits.
            pub fn values(x: &super::Vector, xs: &super::Vectors, w: &super::Square) -> Vec<Vec<u64>> {
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
                let [p, q] = layers(x, w);
                let (value, (dx, dp, dq)) = net_1(xs, &p, &q);
                let mut found = vec![bits(&[net(xs, &p, &q), tied(xs, &p, &q), value]), bits(dx.as_slice())];
                let mut add = |of: &[f64]| found.push(bits(of));
                for of in [dp, dq] {
                    add(of.w.as_slice());
                    add(of.b.as_slice());
                }
                let (y, i) = (0.75, mind::Tensor::from([3_i64, 1]));
                for on in [false, true] {
                    let (dx, dy) = parts_1(x, y, &i, on);
                    add(dx.as_slice());
                    add(&[of_parts(x, y, &i, on), dy]);
                }
                for (dx, dy) in [twice_1(x, y), { let (_, by) = of_template_grad(x, y); by }] {
                    add(dx.as_slice());
                    add(&[twice(x, y), of_template(x, y), dy]);
                }
                add(twice_2(x, y).as_slice());
                let (value, tangent) = twice_along(x, y, &(x * 0.5));
                add(&[value, tangent]);
                let (dx, dy) = sliced(xs, y);
                add(dx.as_slice());
                add(dy.as_slice());
                for (dx, dy) in [all_1(xs, y), rows_1(xs, y), steps_1(xs, y), around_1(xs, y)] {
                    add(dx.as_slice());
                    add(&[dy, all(xs, y), rows(xs, y), steps(xs, y), around(xs, y)]);
                }
                found
            }
        }
    )*};
}

type Vector = Tensor<f64, (Const<4>,)>;
type Vectors = Tensor<f64, (usize, Const<4>)>;
type Square = Tensor<f64, (Const<4>, Const<4>)>;

programs! {
    plain [layer] [parts] [inner] [outer] [shared] [cell] [folded] [vmap(inner, over = x)];
    checkpointed [checkpoint(layer)] [checkpoint(parts)] [checkpoint(inner)] [checkpoint(outer)] [checkpoint(shared)] [checkpoint(cell)] [checkpoint(folded)] [checkpoint(vmap(inner, over = x))];
}

fn sample(count: usize, scale: f64) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 % 1009) as f64 / 1009.0 - 0.4) * scale).collect()
}

fn inputs(rows: usize) -> (Vector, Vectors, Square) {
    let x = Tensor::from_vec((Const::<4>,), sample(4, 1.2)).unwrap();
    let w = Tensor::from_vec((Const::<4>, Const::<4>), sample(16, 0.7)).unwrap();
    (x, Tensor::from_vec((rows, Const::<4>), sample(rows * 4, 1.5)).unwrap(), w)
}

#[test]
fn a_checkpoint_of_a_function_changes_no_bit_of_values_and_gradients() {
    for rows in [1, 2, 5] {
        let (x, xs, w) = inputs(rows);
        let (expected, found) = (plain::values(&x, &xs, &w), checkpointed::values(&x, &xs, &w));
        for (at, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(expected, found, "value {at}, {rows} rows");
        }
    }
}

#[test]
fn cotangents_of_an_argument_of_several_calls_are_added_call_by_call() {
    let (x, xs, w) = inputs(3);
    let (expected, found) = (plain::of_tied(&x, &xs, &w), checkpointed::of_tied(&x, &xs, &w));
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.into_iter().zip(found) {
        assert!((expected - found).abs() <= 1e-14 * expected.abs().max(1.0), "{found} for {expected}");
    }
}

mind! {
    struct Block { w: f32[32, 32], b: f32[32] }

    struct Net { a: Block, b: Block, c: Block, d: Block, e: Block, f: Block, g: Block, h: Block }

    fn block(x: f32[64, 32], p: Block) -> f32[64, 32] { x + 0.1 * tanh(nn::gelu(x @ p.w + p.b) @ p.w) }

    fn block_slope(x: f32[64, 32], p: Block, dy: f32[64, 32]) -> (f32[64, 32], Block) {
        vjp(block, wrt = (x, p))(x, p, dy)
    }

    fn chain(x: f32[64, 32], p: Net) -> f32 {
        let x = block(block(block(block(x, p.a), p.b), p.c), p.d);
        mean(block(block(block(block(x, p.e), p.f), p.g), p.h))
    }
    fn slope(x: f32[64, 32], p: Net) -> (f32[64, 32], Net) { grad(chain, wrt = (x, p))(x, p) }

    fn kept_chain(x: f32[64, 32], p: Net) -> f32 {
        let x = checkpoint(block)(checkpoint(block)(x, p.a), p.b);
        let x = checkpoint(block)(checkpoint(block)(x, p.c), p.d);
        let x = checkpoint(block)(checkpoint(block)(x, p.e), p.f);
        mean(checkpoint(block)(checkpoint(block)(x, p.g), p.h))
    }
    fn kept_slope(x: f32[64, 32], p: Net) -> (f32[64, 32], Net) { grad(kept_chain, wrt = (x, p))(x, p) }
}

#[test]
fn a_gradient_keeps_the_arguments_of_each_block_and_the_values_of_one() {
    // Seven of the eight blocks have an argument that is not a parameter. One cotangent is an argument of a gradient,
    // and one is its result.
    const ARGUMENT: usize = 64 * 32 * 4;
    const { assert!(kept_slope::PEAK_BYTES <= block_slope::PEAK_BYTES + 9 * ARGUMENT) };
    const { assert!(kept_slope::PEAK_BYTES * 3 < slope::PEAK_BYTES) };
    // A function without a gradient needs no more memory than before.
    const { assert!(kept_chain::PEAK_BYTES == chain::PEAK_BYTES) };
}
