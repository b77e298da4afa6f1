//! Compares programs that `mind!` compiled, items and bare expressions, with the interpreter at random extents. Only
//! emitted code contains the loops of fused nests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use mind::{Tensor, mind};
use mind_core::interp::{Array, Elements};
use mind_core::ops::Profile;
use mind_core::testing::{Random, run_bounded};
use mind_core::text::{Limits, core_ir};
use mind_core::ty::DType;
use mind_core::verify::{Verified, verify};
use mind_rt::private as rt;

use crate::case::{Case, SMALL, extent, smaller_extents};
use crate::number::{Digest, Number};

mind! {
    fn chain<N>(x: f32[N], y: f32[N]) -> f32[N] { exp(-(x * x)) * y + x / (log(y * y + 1.0) + 0.5) - 1.0 }

    #[grad(x, y)]
    fn total<N>(x: f32[N], y: f32[N]) -> f32 { sum(chain(x, y) * y) + mean(x) }

    fn moments<N, M>(x: f64[N, M]) -> (f64[N], f64[M], f64) {
        let e = exp(x) / log(x * x + 2.0);
        (sum(e, axes = [1]), mean(e, axes = [0]), sum(e * x))
    }

    #[grad(z)]
    fn cross_entropy<N, C>(z: f32[N, C], y: f32[N, C]) -> f32 {
        let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
        -mean(sum(y * logp, axes = [1]))
    }

    fn softmax<N, C>(z: f32[N, C]) -> f32[N, C] {
        let e = exp(z);
        e / sum(e, axes = [1], keepdims = true)
    }

    fn normal<N, M>(x: f32[N, M], scale: f32[M]) -> f32[N, M] {
        let centred = x - mean(x, axes = [1], keepdims = true);
        let variance = mean(centred * centred, axes = [1], keepdims = true);
        centred * exp(-0.5 * log(variance + 0.00001)) * scale
    }

    fn inner<N, M, K>(x: f32[N, M, K]) -> (f32[N, K], f32[M], f32, f32[K]) {
        (sum(x, axes = [1]), sum(x * x, axes = [0, 2]), mean(relu(x)), mean(exp(x), axes = [0, 1]))
    }

    fn few<N>(x: f32[N, 3], y: f32[N, 10], z: f32[N, 33], i: i32[N, 5]) -> (f32[3], f32[10], f32[33], f32[N], f32[N], i32[N], i32[5]) {
        (
            mean(x * x, axes = [0]),
            sum(relu(y), axes = [0]),
            sum(z, axes = [0]),
            sum(x, axes = [1]),
            sum(exp(y), axes = [1]),
            sum(i * i, axes = [1]),
            sum(i, axes = [0]),
        )
    }

    fn extremes<N, M>(x: f32[N, M], y: f64[N, M]) -> (f32[N], f32[M], f32, f64[N], f64[M], f64) {
        (
            max(x, axes = [1]),
            min(x * x - 1.0, axes = [0]),
            max(exp(x)),
            min(y, axes = [1]),
            max(y * y - y, axes = [0]),
            min(y),
        )
    }

    fn products<N, M>(x: f64[N, M], i: i32[N, M]) -> (f64[N], f64[M], i32[N], i32[M], i32) {
        let near = 1.0 + x / 1024.0;
        (
            prod(near, axes = [1]),
            prod(near, axes = [0]),
            prod(i + 1, axes = [1]),
            prod(i - 1, axes = [0]),
            max(i * i - i),
        )
    }

    fn few_extremes<N>(x: f32[N, 3], y: f32[N, 10]) -> (f32[3], f32[10], f32[N], f32[N]) {
        (max(x * x, axes = [0]), min(y, axes = [0]), prod(x, axes = [1]), max(exp(y), axes = [1]))
    }

    #[grad(x)]
    fn spread<N, M>(x: f64[N, M], y: f64[N]) -> f64 {
        sum((max(x, axes = [1]) - min(x, axes = [1])) * y) + sum(prod(1.0 + x / 4096.0, axes = [1]))
    }

    fn layer<N, M, K>(x: f32[N, M], w: f32[M, K], b: f32[K]) -> f32[N, K] { relu(x @ w + b) }

    #[grad(x, w, b)]
    fn loss<N, M, K>(x: f32[N, M], w: f32[M, K], b: f32[K]) -> f32 {
        let y = layer(x, w, b);
        mean(y * y)
    }

    fn step<N, M, K>(x: f32[N, M], w: &mut f32[M, K], b: &mut f32[K], rate: f32) -> f32 {
        let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, w, b);
        w -= rate * dw;
        b -= rate * db;
        l
    }

    fn transposed<N, M, K>(x: f64[K, N], y: f64[K, M], z: f64[M, N]) -> (f64[N, M], f64[M, N], f64[N, K]) {
        (x.T @ y, relu(y.T @ x - z), x.T * 2.0)
    }

    fn batched<B, N, M, K>(x: f32[B, N, M], w: f32[B, M, K], v: f32[M, K]) -> (f32[B, N, K], f32[B, N, K]) {
        (x @ w, relu(x @ v) - 1.0)
    }

    fn integers<N, M, K>(x: i64[N, M], w: i64[M, K], s: i32[N, M]) -> (i64[N, K], i64[K], i32) {
        let y = x @ w;
        (y * 3 - 1, sum(y, axes = [0]), sum(s * s))
    }

    #[grad(x, k, b)]
    fn convolved<N, H, W, C, F>(x: f32[N, H, W, C], k: f32[3, 2, C, F], b: f32[F]) -> f32 {
        let y = relu(conv2d(x, k, strides = [1, 2], padding = same) + b);
        mean(y * y)
    }

    #[grad(t)]
    fn looked_up<N, M, K>(t: f32[N, M], i: i32[K]) -> f32 {
        let rows = gather(t, i);
        sum(rows * rows) + sum(t[0, ..])
    }

    fn copies<N, M, K>(x: f64[N, M, K], v: f64[M]) -> (f64[K, M, N], f64[M, N], f64[N, M, K], f64[N, K]) {
        (
            x.T,
            transpose(x[0.., 0.., 0], [1, 0]) + expand_dims(v, axes = [1]),
            broadcast_to(expand_dims(v, axes = [1]), [N, M, K]) * x,
            x[0.., -1, 0..],
        )
    }

    fn divided<N, M>(x: &mut f64[N, M], c: f64[N, 1], d: f64) -> f64[1, 1] {
        let middle = mean(c, axes = [0, 1], keepdims = true);
        x = x / (c + d);
        middle
    }

    fn placed<N>(x: &mut f32[N], y: &mut f32[N], z: f32[N]) {
        let old = x;
        x = y * 0.5 + z;
        y -= old * z;
    }
}

/// Computes the outputs of a program from its inputs. Updated inputs are outputs too.
type Run = fn(&[Array]) -> Vec<Array>;

/// A program: its name, its Core IR, and the function that runs it.
struct Program {
    name: &'static str,
    core_ir: &'static str,
    run: Run,
}

/// The body of a [`Run`]: converts each input to a tensor of the given type and rank, then evaluates the results.
macro_rules! run {
    (|$($name:ident: $ty:ident $dims:tt),*| $results:expr) => {
        |inputs| {
            let [$($name),*] = inputs else { panic!("as many inputs as parameters") };
            $(run!(@input $name $ty $dims);)*
            $results
        }
    };
    (@input $name:ident $ty:ident [0]) => { let $name = one::<$ty>($name); };
    (@input $name:ident $ty:ident [$($rank:tt)*]) => {
        #[allow(unused_mut, reason = "some programs update it")]
        let mut $name = tensor::<$ty, ($(run!(@usize $rank),)*)>($name);
    };
    (@usize $rank:tt) => { usize };
}

/// Converts results to arrays.
macro_rules! values {
    ($($result:expr),* $(,)?) => { vec![$(value(&$result)),*] };
}

macro_rules! program {
    ($name:ident, $run:expr) => {
        Program { name: stringify!($name), core_ir: $name::CORE_IR, run: $run }
    };
}

fn programs() -> Vec<Program> {
    vec![
        program!(chain, run!(|x: f32[_], y: f32[_]| values![chain(&x, &y)])),
        program!(
            total_grad,
            run!(|x: f32[_], y: f32[_]| {
                let (l, (dx, dy)) = total_grad(&x, &y);
                vec![number(l), value(&dx), value(&dy)]
            })
        ),
        program!(
            moments,
            run!(|x: f64[_ _]| {
                let (rows, columns, all) = moments(&x);
                vec![value(&rows), value(&columns), number(all)]
            })
        ),
        program!(
            cross_entropy_grad,
            run!(|z: f32[_ _], y: f32[_ _]| {
                let (l, dz) = cross_entropy_grad(&z, &y);
                vec![number(l), value(&dz)]
            })
        ),
        program!(softmax, run!(|z: f32[_ _]| values![softmax(&z)])),
        Program {
            name: "softmax, bare",
            core_ir: softmax::CORE_IR,
            run: run!(|z: f32[_ _]| values![matrix(mind!(exp(z) / sum(exp(z), axes = [1], keepdims = true)).into())]),
        },
        program!(normal, run!(|x: f32[_ _], s: f32[_]| values![normal(&x, &s)])),
        Program {
            name: "normal, bare",
            core_ir: normal::CORE_IR,
            run: run!(|x: f32[_ _], s: f32[_]| values![matrix(mind!({
                let centred = x - mean(x, axes = [1], keepdims = true);
                let variance = mean(centred * centred, axes = [1], keepdims = true);
                centred * exp(-0.5 * log(variance + 0.00001)) * s
            }).into())]),
        },
        program!(
            inner,
            run!(|x: f32[_ _ _]| {
                let (a, b, c, d) = inner(&x);
                vec![value(&a), value(&b), number(c), value(&d)]
            })
        ),
        program!(
            few,
            run!(|x: f32[_ _], y: f32[_ _], z: f32[_ _], i: i32[_ _]| {
                let x = x.try_into_shape::<(usize, mind::Const<3>)>().expect("three columns");
                let y = y.try_into_shape::<(usize, mind::Const<10>)>().expect("ten columns");
                let z = z.try_into_shape::<(usize, mind::Const<33>)>().expect("33 columns");
                let i = i.try_into_shape::<(usize, mind::Const<5>)>().expect("five columns");
                let (a, b, c, d, e, f, g) = few(&x, &y, &z, &i);
                vec![value(&a), value(&b), value(&c), value(&d), value(&e), value(&f), value(&g)]
            })
        ),
        program!(
            extremes,
            run!(|x: f32[_ _], y: f64[_ _]| {
                let (a, b, c, d, e, f) = extremes(&x, &y);
                vec![value(&a), value(&b), number(c), value(&d), value(&e), number(f)]
            })
        ),
        program!(
            products,
            run!(|x: f64[_ _], i: i32[_ _]| {
                let (a, b, c, d, e) = products(&x, &i);
                vec![value(&a), value(&b), value(&c), value(&d), number(e)]
            })
        ),
        program!(
            few_extremes,
            run!(|x: f32[_ _], y: f32[_ _]| {
                let x = x.try_into_shape::<(usize, mind::Const<3>)>().expect("three columns");
                let y = y.try_into_shape::<(usize, mind::Const<10>)>().expect("ten columns");
                let (a, b, c, d) = few_extremes(&x, &y);
                vec![value(&a), value(&b), value(&c), value(&d)]
            })
        ),
        program!(
            spread_grad,
            run!(|x: f64[_ _], y: f64[_]| {
                let (s, dx) = spread_grad(&x, &y);
                vec![number(s), value(&dx)]
            })
        ),
        program!(layer, run!(|x: f32[_ _], w: f32[_ _], b: f32[_]| values![layer(&x, &w, &b)])),
        Program {
            name: "layer, bare",
            core_ir: layer::CORE_IR,
            run: run!(|x: f32[_ _], w: f32[_ _], b: f32[_]| values![matrix(mind!(relu(x @ w + b)).into())]),
        },
        program!(
            loss_grad,
            run!(|x: f32[_ _], w: f32[_ _], b: f32[_]| {
                let (l, (dx, dw, db)) = loss_grad(&x, &w, &b);
                vec![number(l), value(&dx), value(&dw), value(&db)]
            })
        ),
        program!(
            step,
            run!(|x: f32[_ _], w: f32[_ _], b: f32[_], rate: f32[0]| {
                let l = step(&x, &mut w, &mut b, rate);
                vec![number(l), value(&w), value(&b)]
            })
        ),
        program!(
            transposed,
            run!(|x: f64[_ _], y: f64[_ _], z: f64[_ _]| {
                let (a, b, c) = transposed(&x, &y, &z);
                values![a, b, c]
            })
        ),
        program!(
            batched,
            run!(|x: f32[_ _ _], w: f32[_ _ _], v: f32[_ _]| {
                let (a, b) = batched(&x, &w, &v);
                values![a, b]
            })
        ),
        program!(
            integers,
            run!(|x: i64[_ _], w: i64[_ _], s: i32[_ _]| {
                let (a, b, c) = integers(&x, &w, &s);
                vec![value(&a), value(&b), number(c)]
            })
        ),
        program!(
            convolved_grad,
            run!(|x: f32[_ _ _ _], k: f32[_ _ _ _], b: f32[_]| {
                let k = k.try_into_shape::<(mind::Const<3>, mind::Const<2>, usize, usize)>().expect("3 by 2");
                let (l, (dx, dk, db)) = convolved_grad(&x, &k, &b);
                vec![number(l), value(&dx), value(&dk), value(&db)]
            })
        ),
        program!(
            looked_up_grad,
            run!(|t: f32[_ _], i: i32[_]| {
                let (l, dt) = looked_up_grad(&t, &i);
                vec![number(l), value(&dt)]
            })
        ),
        program!(
            copies,
            run!(|x: f64[_ _ _], v: f64[_]| {
                let (a, b, c, d) = copies(&x, &v);
                values![a, b, c, d]
            })
        ),
        program!(
            divided,
            run!(|x: f64[_ _], c: f64[_ _], d: f64[0]| {
                let c = c.try_into_shape::<(usize, mind::Const<1>)>().expect("one column");
                let middle = divided(&mut x, &c, d);
                values![middle, x]
            })
        ),
        program!(
            placed,
            run!(|x: f32[_], y: f32[_], z: f32[_]| {
                placed(&mut x, &mut y, &z);
                values![x, y]
            })
        ),
    ]
}

/// An element type of programs.
trait Item: Number {
    fn wrap(elements: Vec<Self>) -> Elements;
    fn unwrap(elements: &Elements) -> &[Self];
}

macro_rules! item {
    ($($ty:ident: $variant:ident),*) => {
        $(impl Item for $ty {
            fn wrap(elements: Vec<Self>) -> Elements {
                Elements::$variant(elements)
            }

            fn unwrap(elements: &Elements) -> &[Self] {
                let Elements::$variant(elements) = elements else { panic!("inputs have their types") };
                elements
            }
        })*
    };
}

item!(f32: F32, f64: F64, i32: I32, i64: I64);

fn tensor<T: Item, S: rt::Shape>(value: &Array) -> Tensor<T, S> {
    let dims = S::from_extents(&value.shape).expect("inputs have their ranks");
    Tensor::from_vec(dims, T::unwrap(&value.elements).to_vec()).expect("as many as the shape holds")
}

fn one<T: Item>(value: &Array) -> T {
    T::unwrap(&value.elements)[0]
}

fn value<T: Item, S: rt::Rank<R>, const R: usize>(tensor: &Tensor<T, S>) -> Array {
    Array::new(rt::extents(tensor).to_vec(), T::wrap(tensor.as_slice().to_vec()))
}

/// The result of a bare expression as a matrix. The type of the expression itself cannot be named.
fn matrix(result: Tensor<f32, (usize, usize)>) -> Tensor<f32, (usize, usize)> {
    result
}

fn number<T: Item>(number: T) -> Array {
    Array::new(Vec::new(), T::wrap(vec![number]))
}

/// The programs with their verified modules.
fn corpus() -> &'static [(Program, Verified)] {
    static CORPUS: OnceLock<Vec<(Program, Verified)>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let verified = |program: Program| {
            let module =
                core_ir::parse(program.core_ir, &Limits::default()).expect("the macro writes what is read");
            let module = verify(module, Profile::Extended).expect("the macro verifies");
            (program, module)
        };
        programs().into_iter().map(verified).collect()
    })
}

/// A call of a program.
#[derive(Clone)]
pub struct Call {
    program: usize,
    /// The extents of the program's symbols.
    symbols: BTreeMap<String, usize>,
    seed: u64,
}

impl Call {
    pub fn random(random: &mut Random) -> Self {
        let most = if SMALL { 1 << 13 } else { 1 << 17 };
        let program = random.below(corpus().len());
        loop {
            let mut symbols = BTreeMap::new();
            for (_, ty) in corpus()[program].1.inputs() {
                for dim in ty.shape.iter() {
                    if let Some(symbol) = dim.as_symbol() {
                        let longest = if SMALL { 63 } else { 20_000 };
                        symbols.entry(symbol.to_string()).or_insert_with(|| extent(random, longest));
                    }
                }
            }
            // For a product, the interpreter loops over all of these extents.
            if symbols.values().product::<usize>() <= most {
                return Self { program, symbols, seed: random.bits() };
            }
        }
    }

    fn inputs(&self) -> Vec<Array> {
        let mut random = Random::new(self.seed);
        let table = self.symbols.values().next().copied().unwrap_or(1);
        let rows = self.symbols.get("N").copied().unwrap_or(table);
        let input = |(_, ty): (_, &mind_core::ty::Type)| {
            let extent = |dim: &mind_core::dim::Dim| match dim.as_symbol() {
                Some(symbol) => self.symbols[&symbol.to_string()],
                None => dim.as_literal().and_then(|extent| usize::try_from(extent).ok()).expect("an extent"),
            };
            let shape: Vec<usize> = ty.shape.iter().map(extent).collect();
            let count: usize = shape.iter().product();
            let mut draw = || random.below(4097) as f64 / 1024.0 - 2.0;
            let elements = match ty.dtype {
                DType::F32 => Elements::F32((0..count).map(|_| draw() as f32).collect()),
                DType::F64 => Elements::F64((0..count).map(|_| draw()).collect()),
                DType::U8 => Elements::U8((0..count).map(|_| random.below(rows) as u8).collect()),
                DType::I32 => Elements::I32((0..count).map(|_| random.below(rows) as i32).collect()),
                DType::I64 => Elements::I64((0..count).map(|_| random.bits() as i64).collect()),
                DType::Bool => panic!("no program takes truth values"),
            };
            Array::new(shape, elements)
        };
        corpus()[self.program].1.inputs().map(input).collect()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {:?}", corpus()[self.program].0.name, self.symbols)
    }
}

impl Case for Call {
    fn run(&self) -> Result<u64, String> {
        let (program, module) = &corpus()[self.program];
        let inputs = self.inputs();
        let expected = run_bounded(module, &inputs).map_err(|error| error.to_string())?;
        let found = (program.run)(&inputs);
        if found.len() != expected.len() {
            return Err(format!("{} results, {} outputs", found.len(), expected.len()));
        }
        let mut digest = Digest::new();
        for (output, (found, expected)) in found.iter().zip(&expected).enumerate() {
            expected.check(found).map_err(|why| format!("output {output}: {why}"))?;
            digest = match &found.elements {
                Elements::F32(elements) => digest.add(elements),
                Elements::F64(elements) => digest.add(elements),
                Elements::U8(elements) => {
                    digest.add(&elements.iter().map(|byte| i32::from(*byte)).collect::<Vec<_>>())
                }
                Elements::I32(elements) => digest.add(elements),
                Elements::I64(elements) => digest.add(elements),
                Elements::Bool(elements) => {
                    digest.add(&elements.iter().map(|truth| i32::from(*truth)).collect::<Vec<_>>())
                }
            };
        }
        Ok(digest.finish())
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let mut smaller: Vec<Box<dyn Case>> = Vec::new();
        for (symbol, extent) in &self.symbols {
            for extent in smaller_extents(*extent, 1) {
                let mut case = self.clone();
                case.symbols.insert(symbol.clone(), extent);
                smaller.push(Box::new(case));
            }
        }
        smaller
    }
}
