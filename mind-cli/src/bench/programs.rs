//! The measured products, loops and programs: functions of `mind!`, compiled with this command like functions of users.
//!
//! Operands, results and workspaces are allocated before the measurement. A call allocates nothing.

use std::hint::black_box;

use mind::{Element, Error, StaticShape, Tensor, Workspace, mind};

use crate::prediction::machine::Float;

/// A call with its operands.
pub type Call = Box<dyn FnMut() -> Result<(), Error>>;

/// A program to measure.
pub struct Program {
    /// The name. The command line selects programs by words in their names.
    pub name: &'static str,
    /// The lower bound of its time.
    pub cost: Cost,
    /// Allocates its operands. E6004 if memory cannot be allocated.
    pub prepare: fn() -> Result<Call, Error>,
}

/// The work that bounds the time of a program from below.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// Multiply-adds, as a number of floating-point operations.
    Multiply(Float, f64),
    /// Bytes that are read. The program writes few bytes.
    Read(usize),
    /// The sum of the bytes that are read and the bytes that are written.
    Move(usize),
}

/// The cost of a product of `m` by `k` and `k` by `n`.
const fn product(float: Float, m: usize, k: usize, n: usize) -> Cost {
    Cost::Multiply(float, 2.0 * m as f64 * k as f64 * n as f64)
}

/// Allocates the result of a program.
macro_rules! result {
    ($type:ident [$($extent:literal),+]) => {
        {
            let result: mind::Tensor![$type; $($extent),+] = operand(0)?;
            result
        }
    };
    ($type:ident) => {
        $type::default()
    };
}

/// Defines a list of programs that only read their operands: a name, a cost, and a function each.
macro_rules! programs {
    ($list:ident: $($module:ident $name:literal $cost:expr;
       ($($operand:ident: $type:ident [$($extent:literal),+]),+) -> ($($result:tt)+) { $($body:tt)+ })+) => {
        $(mod $module {
            use super::*;

            mind! {
                fn run($($operand: $type[$($extent),+]),+) -> $($result)+ { $($body)+ }
            }

            pub fn prepare() -> Result<Call, Error> {
                $(let $operand: mind::Tensor![$type; $($extent),+] = operand(stringify!($operand).len())?;)+
                let mut result = result!($($result)+);
                let mut workspace = Workspace::try_with_bytes(run::PEAK_BYTES)?;
                Ok(Box::new(move || {
                    run_into($(black_box(&$operand)),+, &mut result, &mut workspace)?;
                    black_box(&result);
                    Ok(())
                }))
            }
        })+

        pub(super) const $list: &[Program] =
            &[$(Program { name: $name, cost: $cost, prepare: $module::prepare }),+];
    };
}

pub(super) use {programs, result};

programs! { READERS:
    f32_32 "product f32 32x32x32" product(Float::F32, 32, 32, 32);
    (x: f32[32, 32], y: f32[32, 32]) -> (f32[32, 32]) { x @ y }

    f32_128 "product f32 128x128x128" product(Float::F32, 128, 128, 128);
    (x: f32[128, 128], y: f32[128, 128]) -> (f32[128, 128]) { x @ y }

    f32_512 "product f32 512x512x512" product(Float::F32, 512, 512, 512);
    (x: f32[512, 512], y: f32[512, 512]) -> (f32[512, 512]) { x @ y }

    f32_512_tn "product f32 512x512x512tn" product(Float::F32, 512, 512, 512);
    (x: f32[512, 512], y: f32[512, 512]) -> (f32[512, 512]) { x.T @ y }

    f32_512_nt "product f32 512x512x512nt" product(Float::F32, 512, 512, 512);
    (x: f32[512, 512], y: f32[512, 512]) -> (f32[512, 512]) { x @ y.T }

    f32_1024 "product f32 1024x1024x1024" product(Float::F32, 1024, 1024, 1024);
    (x: f32[1024, 1024], y: f32[1024, 1024]) -> (f32[1024, 1024]) { x @ y }

    f32_layer "product f32 32x784x256" product(Float::F32, 32, 784, 256);
    (x: f32[32, 784], y: f32[784, 256]) -> (f32[32, 256]) { x @ y }

    f32_wide "product f32 256x1024x1024" product(Float::F32, 256, 1024, 1024);
    (x: f32[256, 1024], y: f32[1024, 1024]) -> (f32[256, 1024]) { x @ y }

    f32_vector "product f32 1x1024x1024" Cost::Read(4 * 1024 * 1026);
    (x: f32[1, 1024], y: f32[1024, 1024]) -> (f32[1, 1024]) { x @ y }

    f64_128 "product f64 128x128x128" product(Float::F64, 128, 128, 128);
    (x: f64[128, 128], y: f64[128, 128]) -> (f64[128, 128]) { x @ y }

    f64_512 "product f64 512x512x512" product(Float::F64, 512, 512, 512);
    (x: f64[512, 512], y: f64[512, 512]) -> (f64[512, 512]) { x @ y }

    f64_512_tn "product f64 512x512x512tn" product(Float::F64, 512, 512, 512);
    (x: f64[512, 512], y: f64[512, 512]) -> (f64[512, 512]) { x.T @ y }

    f64_512_nt "product f64 512x512x512nt" product(Float::F64, 512, 512, 512);
    (x: f64[512, 512], y: f64[512, 512]) -> (f64[512, 512]) { x @ y.T }

    add_small "add f32 1000" Cost::Move(4 * 3 * 1_000);
    (x: f32[1000], y: f32[1000]) -> (f32[1000]) { x + y }

    add "add f32 1000000" Cost::Move(4 * 3 * 1_000_000);
    (x: f32[1000000], y: f32[1000000]) -> (f32[1000000]) { x + y }

    exp_small "exp f32 1000" Cost::Move(4 * 2 * 1_000);
    (x: f32[1000]) -> (f32[1000]) { exp(x) }

    exp "exp f32 1000000" Cost::Move(4 * 2 * 1_000_000);
    (x: f32[1000000]) -> (f32[1000000]) { exp(x) }

    exp_f64 "exp f64 1000000" Cost::Move(8 * 2 * 1_000_000);
    (x: f64[1000000]) -> (f64[1000000]) { exp(x) }

    chain "chain f32 1000000" Cost::Move(4 * 3 * 1_000_000);
    (x: f32[1000000], y: f32[1000000]) -> (f32[1000000]) { exp(-(x * x)) * y + x * 0.5 - 1.0 }

    sum_f32 "sum f32 1000000" Cost::Read(4 * 1_000_000);
    (x: f32[1000000]) -> (f32) { sum(x) }

    sum_f64 "sum f64 1000000" Cost::Read(8 * 1_000_000);
    (x: f64[1000000]) -> (f64) { sum(x) }

    softmax "softmax f32 1024x1024" Cost::Move(4 * 2 * 1024 * 1024);
    (x: f32[1024, 1024]) -> (f32[1024, 1024]) { nn::softmax(x) }

    layer_norm "layer_norm f32 1024x1024" Cost::Move(4 * 2 * 1024 * 1025);
    (x: f32[1024, 1024], scale: f32[1024], bias: f32[1024]) -> (f32[1024, 1024]) { nn::layer_norm(x, scale, bias) }

    conv2d "conv2d f32 8x28x28x16x32x3" Cost::Multiply(Float::F32, 2.0 * 8.0 * 26.0 * 26.0 * 9.0 * 16.0 * 32.0);
    (x: f32[8, 28, 28, 16], filter: f32[3, 3, 16, 32]) -> (f32[8, 26, 26, 32]) { conv2d(x, filter) }

    attention "attention f32 8x256x64" Cost::Multiply(Float::F32, 4.0 * 8.0 * 256.0 * 256.0 * 64.0);
    (q: f32[8, 256, 64], k: f32[8, 256, 64], v: f32[8, 256, 64]) -> (f32[8, 256, 64]) { nn::attention(q, k, v) }
}

/// An in-place step of gradient descent for a network of two layers.
mod step {
    use super::*;

    mind! {
        fn loss(
            x: f32[32, 784], y: f32[32, 10], w1: f32[784, 256], b1: f32[256], w2: f32[256, 10], b2: f32[10]
        ) -> f32 {
            let z = relu(x @ w1 + b1) @ w2 + b2;
            -mean(sum(y * nn::log_softmax(z), axes = [1]))
        }

        fn run(
            x: f32[32, 784], y: f32[32, 10],
            w1: &mut f32[784, 256], b1: &mut f32[256], w2: &mut f32[256, 10], b2: &mut f32[10], rate: f32
        ) -> f32 {
            let (l, (dw1, db1, dw2, db2)) = value_and_grad(loss, wrt = (w1, b1, w2, b2))(x, y, w1, b1, w2, b2);
            w1 -= rate * dw1;
            b1 -= rate * db1;
            w2 -= rate * dw2;
            b2 -= rate * db2;
            l
        }
    }

    /// The two products of the forward pass, the products of the gradients of the weights, and the product of the
    /// cotangent through the second layer.
    pub const COST: Cost =
        Cost::Multiply(Float::F32, 2.0 * 32.0 * (2.0 * 784.0 * 256.0 + 3.0 * 256.0 * 10.0));

    pub fn prepare() -> Result<Call, Error> {
        let x: mind::Tensor![f32; 32, 784] = operand(1)?;
        // The targets are equal for all classes, so that the weights stay finite over many steps.
        let mut y: mind::Tensor![f32; 32, 10] = operand(2)?;
        y.fill(0.1);
        let mut w1: mind::Tensor![f32; 784, 256] = operand(3)?;
        let mut b1: mind::Tensor![f32; 256] = operand(4)?;
        let mut w2: mind::Tensor![f32; 256, 10] = operand(5)?;
        let mut b2: mind::Tensor![f32; 10] = operand(6)?;
        let mut loss = 0.0;
        let mut workspace = Workspace::try_with_bytes(run::PEAK_BYTES)?;
        Ok(Box::new(move || {
            run_into(&x, &y, &mut w1, &mut b1, &mut w2, &mut b2, black_box(1e-3), &mut loss, &mut workspace)?;
            black_box(&loss);
            Ok(())
        }))
    }
}

/// Every program, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Program> {
    const STEP: &Program =
        &Program { name: "step f32 32x784x256x10", cost: step::COST, prepare: step::prepare };
    READERS.iter().chain([STEP])
}

/// An element type of the programs: `f32` or `f64`.
pub(super) trait Number: Element {
    fn of(x: f32) -> Self;
}

impl Number for f32 {
    fn of(x: f32) -> Self {
        x
    }
}

impl Number for f64 {
    fn of(x: f32) -> Self {
        x.into()
    }
}

/// Numbers between -0.5 and 0.5, the same in every run.
pub(super) fn operand<T: Number, S: StaticShape>(seed: usize) -> Result<Tensor<T, S>, Error> {
    let mut tensor = Tensor::try_zeros_with(S::SHAPE)?;
    for (index, element) in tensor.as_mut_slice().iter_mut().enumerate() {
        let mixed = (index + seed * 104_729).wrapping_mul(2_654_435_761) >> 7 & 0xffff;
        *element = T::of(mixed as f32 / 65536.0 - 0.5);
    }
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_what_is_computed_and_are_their_own() {
        let names: Vec<_> = all().map(|program| program.name).collect();
        assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)));
        assert!(names.iter().all(|name| name.split(' ').count() == 3), "{names:?}");
    }

    #[test]
    fn every_cost_is_above_zero() {
        for program in all() {
            let amount = match program.cost {
                Cost::Multiply(_, flops) => flops,
                Cost::Read(bytes) | Cost::Move(bytes) => bytes as f64,
            };
            assert!(amount > 0.0, "{}", program.name);
        }
    }

    #[test]
    fn small_programs_run() {
        for program in all().filter(|program| program.name.ends_with(" 1000")) {
            let mut call = (program.prepare)().unwrap();
            assert_eq!(call(), Ok(()));
        }
    }
}
