//! Items around a block or an expression of `mind!` do not change its meaning, whatever their names.
#![no_implicit_prelude]
#![deny(warnings)]
#![allow(non_upper_case_globals, non_camel_case_types, dead_code, reason = "names of what is emitted")]

use ::mind::{Tensor, mind};
use ::std::assert_eq;

// If emitted code bound one of these names in a pattern, the pattern would mean the constant.
const i: u8 = 3;
const i0: u8 = 3;
const j: u8 = 3;
const lane: u8 = 3;
const known: u8 = 3;
const len: u8 = 3;
const memory: u8 = 3;
const nodes: u8 = 3;
const results: u8 = 3;
const value: u8 = 3;
const error: u8 = 3;
const form: u8 = 3;
const result: u8 = 3;
const row: u8 = 3;
const sizes: u8 = 3;

// If emitted code used one of these names as a type, it would mean the alias.
type usize = u8;
type f32 = u8;
type bool = u8;
type Ok = u8;
type Result = u8;
type Option = u8;
type Vec = u8;

mind! {
    struct Layer<N> { w: f32[N, 3], b: f32[3] }

    #[grad(x)]
    fn loss<N>(x: f32[N, 3]) -> f32 {
        mean(exp(x) / sum(exp(x), axes = [1], keepdims = true) * relu(x))
    }

    fn layer<N>(x: f32[2, N], p: Layer<N>) -> f32[2, 3] { x @ p.w + p.b }

    fn columns<N, M>(x: f32[N, M]) -> f32[M] { sum(x, axis = 0) + sum(x * x, axis = 0) }

    fn step<N>(p: &mut Layer<N>, s: f32) -> Layer<N> {
        p -= s * p;
        p
    }

    fn constants(CORE_IR: f32[2], MIC: f32[2], PLAN: f32[2], PARAMS: f32[2], FLOPS: f32[2], PEAK_BYTES: f32[2]) -> f32[2] {
        CORE_IR + MIC + PLAN + PARAMS + FLOPS + PEAK_BYTES
    }
}

#[test]
fn functions_see_nothing_around_them() {
    let x: Tensor<_, (::mind::Const<2>, ::mind::Const<3>)> = Tensor::full(1.0);
    assert_eq!(loss_grad(&x).0, loss(&x));
    let ones = || Tensor::full(1.0);
    let mut p =
        Layer { w: Tensor::<_, (::mind::Const<3>, ::mind::Const<3>)>::full(1.0), b: Tensor::full(1.0) };
    assert_eq!(layer(&x, &p), Tensor::full(4.0));
    assert_eq!(step(&mut p, 0.5).b, Tensor::from([0.5, 0.5, 0.5]));
    assert_eq!(columns(&x), Tensor::from([4.0, 4.0, 4.0]));
    assert_eq!(constants(&ones(), &ones(), &ones(), &ones(), &ones(), &ones()), Tensor::from([6.0, 6.0]));
}

#[test]
fn expressions_see_nothing_around_them() {
    let x: Tensor<_, (::mind::Const<2>, ::mind::Const<3>)> = Tensor::full(1.0_f32);
    assert_eq!(mind!(sum(relu(x @ x.T) + 1.0)), 16.0);
    assert_eq!(mind!(sum(sum(x * x, axis = 0))), 6.0);
    assert_eq!(mind!(sum(grad(sum(exp(x) / exp(x) + x * x), wrt = x))), 12.0);
}
