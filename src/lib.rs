//! A tensor language inside Rust, for programs that train or fit models. [`mind!`] checks shapes, computes gradients
//! and compiles each program to Rust code for the CPU while Rust compiles.
//!
//! The package is `mind-dsl` in `Cargo.toml`, and the crate is `mind` in Rust code.
//!
//! ```
//! use mind::{Tensor, mind};
//!
//! mind! {
//!     /// A dense layer.
//!     pub fn dense<N>(x: f32[N, 4], w: f32[4, 3], b: f32[3]) -> f32[N, 3] {
//!         relu(x @ w + b)
//!     }
//!
//!     /// The mean square of the layer's output, and its gradient.
//!     #[grad(w, b)]
//!     pub fn energy<N>(x: f32[N, 4], w: f32[4, 3], b: f32[3]) -> f32 {
//!         let h = dense(x, w, b);
//!         mean(h * h)
//!     }
//!
//!     /// One step of gradient descent, in place.
//!     pub fn step<N>(x: f32[N, 4], w: &mut f32[4, 3], b: &mut f32[3], rate: f32) -> f32 {
//!         let (e, (dw, db)) = value_and_grad(energy, wrt = (w, b))(x, w, b);
//!         w -= rate * dw;
//!         b -= rate * db;
//!         e
//!     }
//! }
//!
//! let x: Tensor![f32; 2, 4] = Tensor::from([[1.0, 2.0, 3.0, 4.0], [0.5, 0.0, -1.0, 2.0]]);
//! let mut w: Tensor![f32; 4, 3] = Tensor::from_fn(|[i, j]| 0.1 * (i as f32) - 0.2 * (j as f32));
//! let mut b: Tensor![f32; 3] = Tensor::zeros();
//!
//! let before = energy(&x, &w, &b);
//! let (value, (dw, db)) = energy_grad(&x, &w, &b);
//! assert_eq!(value, before);
//! assert_eq!((dw.dims(), db.dims()), ([4, 3], [3]));
//! step(&x, &mut w, &mut b, 0.01);
//! assert!(energy(&x, &w, &b) < before);
//! ```
//!
//! # What `mind!` accepts
//!
//! `mind!` accepts items, a closure, or an expression over Rust variables. A `mind!` with items is called a block.
//!
//! **Items** are functions, structs, constants and imports, as above. Functions can call each other in any order. A
//! constant is an extent, `const H: dim = 64;`, or a `float`, `int` or `bool`, such as `const EPS: float = 1e-5;`.
//!
//! **A closure** declares the shapes of its parameters:
//!
//! ```
//! use mind::{Tensor, mind};
//! let f = mind!(|x: f32[2, 3], w: f32[3, 2]| relu(x @ w));
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
//! let w: Tensor![f32; 3, 2] = Tensor::from_fn(|[i, j]| (i + j) as f32);
//! assert_eq!(f(&x, &w), Tensor::from([[0.0, 1.0], [0.0, 0.0]]));
//! ```
//!
//! A file can contain items or a closure: `mind::include!("net.mind");` compiles it. The path is relative to the Rust
//! file. See [`include!`].
//!
//! **An expression** over Rust variables takes the shapes from the types of the variables:
//!
//! ```
//! use mind::{Tensor, mind};
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
//! let w: Tensor![f32; 3, 2] = Tensor::from_fn(|[i, j]| (i + j) as f32);
//! let b: Tensor![f32; 2] = Tensor::zeros();
//! let y = mind!(relu(x @ w + b));
//! assert_eq!(y.as_slice(), [0.0, 1.0, 0.0, 0.0]);
//! let (loss, (dw, db)) = mind!(value_and_grad(mean((x @ w + b) * (x @ w + b)), wrt = (w, b)));
//! assert_eq!((loss, dw.dims(), db.dims()), (1.5, [3, 2], [2]));
//! ```
//!
//! Its operands are variables and fields (`x`, `self.w`, `net.0`), by value or by reference. An operand can be:
//!
//! - a tensor, a view or a plain number;
//! - a Rust array, a slice or a `Vec` of numbers;
//! - an array of ndarray, with the feature `ndarray`.
//!
//! The expression reads operands in place and never moves them. An array of ndarray that is not in standard layout (row
//! by row, without gaps) is copied first. Any other Rust expression is written in braces: `{model.bias()}`. Statements
//! can come first: `mind! { let h = x @ w; sum(h * h) }`.
//!
//! `cargo check` reports a violated shape rule at the operator. In a function that is generic over shapes write
//! `mind!(late: …)`, which `cargo build` checks. Where extents are dynamic, the same rules are checked when the
//! expression runs, and a violation panics with the same message.
//!
//! | result | type |
//! | --- | --- |
//! | a single number for every shape, such as `mean(x)` | a plain number |
//! | a gradient | the type of the variable that it is taken with respect to |
//! | broadcast from one operand (`2.0 * x`), or from operands of one shape type (`w - 0.1 * g`) | that type |
//! | broadcast from such operands, and from operands that have only the last dimensions of that type (`x - mean` of a matrix and a row) | that type |
//! | any other | a tensor whose shape is [`Inferred`], with its rank in its type |
//!
//! To give a result of the last kind a shape type, write `mind!(x @ w : f32[2, 2])`, or convert it with `.into()`.
//!
//! - If operands are arrays of ndarray and none is a tensor, results are arrays of ndarray too.
//! - An operand can be given a type in place: `(x: f32[2, 3])`.
//! - A number whose Rust type is not yet inferred, as in `let rate = 0.1;`, has the element type of the tensors in its
//!   computation.
//!
//! # Functions, structs and constants of other blocks
//!
//! `use` in a block, or before a closure or an expression, imports functions, structs and constants of other blocks.
//! The other block can be in the same module, in another module or in another crate. A path needs no import:
//! `layers::dense(x, p)`, `p: layers::Dense<4, 4>`.
//!
//! ```
//! mod layers {
//!     mind::mind! {
//!         pub const SLOPE: float = 0.5;
//!         pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }
//!         pub fn dense<N, I, O>(x: f32[N, I], p: Dense<I, O>) -> f32[N, O] { relu(x @ p.w + p.b) }
//!     }
//! }
//! mod model {
//!     mind::mind! {
//!         use super::layers::{Dense, SLOPE, dense as layer};
//!         pub fn two<N>(x: f32[N, 4], p: Dense<4, 4>) -> f32[N, 4] { SLOPE * layer(layer(x, p), p) }
//!     }
//! }
//! # fn main() {
//! use mind::Tensor;
//! let x: Tensor![f32; 1, 4] = Tensor::full(1.0);
//! let p = layers::Dense { w: Tensor::full(0.5), b: Tensor::zeros() };
//! assert_eq!(model::two(&x, &p), Tensor::full(2.0));
//! # }
//! ```
//!
//! - An imported function is inlined at each call, with all functions that it calls.
//! - A function that `#[cfg(…)]` removes from its block cannot be imported.
//! - A struct is one Rust type in all blocks: the type that the declaring block generates.
//! - Paths follow Rust's rules. `pub use` re-exports functions, structs and constants. A private field can be passed
//!   along with its struct but not named.
//! - In Rust a constant is a `usize`, `f64`, `i64` or `bool`. A number with a suffix, such as `0.5_f32`, has the type
//!   of the suffix, in the language too.
//! - A struct or constant comes with a hidden macro of the same name, which `use` imports too. A name that begins with
//!   a lowercase letter has no such macro and cannot be imported.
//!
//! # Functions of Rust and of Knossos programs
//!
//! `extern fn f` in a block declares the Rust function `try_f`, by its path from the block's module.
//!
//! - The parameters of `try_f` are `&TensorRef` with run-time extents, and numbers.
//! - It returns a `Result` of a tensor with run-time extents, or of a number.
//! - A gradient calls `try_rev_f`, which takes the parameters and the cotangent of the result. It returns the cotangent
//!   of each parameter, and `()` for a parameter that is not a float.
//!
//! ```
//! use mind::{Error, Tensor, TensorRef, mind};
//!
//! fn try_sorted(x: &TensorRef<f64, (usize,)>) -> Result<Tensor<f64, (usize,)>, Error> {
//!     let mut sorted = x.to_owned();
//!     sorted.as_mut_slice().sort_by(f64::total_cmp);
//!     Ok(sorted)
//! }
//!
//! fn try_rev_sorted(
//!     x: &TensorRef<f64, (usize,)>,
//!     dy: &TensorRef<f64, (usize,)>,
//! ) -> Result<Tensor<f64, (usize,)>, Error> {
//!     let mut places: Vec<usize> = (0..x.len()).collect();
//!     places.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
//!     let mut dx = dy.to_owned();
//!     places.iter().enumerate().for_each(|(place, from)| dx[*from] = dy[place]);
//!     Ok(dx)
//! }
//!
//! mind! {
//!     /// The elements in ascending order.
//!     extern fn sorted(x: f64[3]) -> f64[3];
//!
//!     #[grad(x)]
//!     fn weighted(x: f64[3], w: f64[3]) -> f64 { sum(sorted(x) * w) }
//! }
//!
//! # fn main() {
//! let (x, w) = (Tensor::from([3.0, 1.0, 2.0]), Tensor::from([1.0, 10.0, 100.0]));
//! let (value, dx) = weighted_grad(&x, &w);
//! assert_eq!((value, dx.as_slice()), (321.0, &[100.0, 1.0, 10.0][..]));
//! # }
//! ```
//!
//! The function must have no effects: equal calls may be merged, and a call may be left out or made twice.
//! `docs/knossos.md` describes its types, and the functions that derivatives of higher order call.
//!
//! [`ks!`] and [`include_ks!`] generate such functions. Their language, Knossos, has recursion and branches for single
//! elements, which `mind!` lacks:
//!
//! ```
//! mind::ks!(r#"
//!     (def clip (Vec Float) (x : Vec Float)
//!       (map (lam (a : Float) (if (gt a 1.0) 1.0 a)) x))
//! "#, grad = [rev clip]);
//!
//! mind::mind! {
//!     extern fn clip(x: f64[3]) -> f64[3];
//!     #[grad(x)]
//!     fn loss(x: f64[3]) -> f64 { sum(clip(2.0 * x)) }
//! }
//!
//! # fn main() {
//! let (loss, dx) = loss_grad(&mind::Tensor::from([0.25, 1.0, -1.0]));
//! assert_eq!((loss, dx.as_slice()), (-0.5, &[2.0, 0.0, 2.0][..]));
//! # }
//! ```
//!
//! # Custom derivatives
//!
//! `pullback(y, dy) { … }` after a function or a template defines its derivative. `y` is the result, and `dy` is the
//! cotangent of the result, with the same shape. The body can use these and the parameters. It returns the cotangent of
//! each float parameter, with the type of the parameter. Several cotangents are a tuple in the order of the parameters.
//! Integer and boolean parameters, and attributes, have none. If the function has several results, `y` and `dy` are
//! tuples: `pullback((a, b), (da, db))`.
//!
//! ```
//! mind::mind! {
//!     /// Rounds each number, and lets gradients through as if it did not.
//!     fn quantised<N>(x: f32[N]) -> f32[N] { round(x) } pullback(_, dy) { dy }
//!
//!     /// `x`, with gradients held between -1 and 1.
//!     fn clipped<N>(x: f32[N]) -> f32[N] { x } pullback(_, dy) { maximum(minimum(dy, 1.0), -1.0) }
//!
//!     /// The logistic function, by its result.
//!     fn sigmoid(x: float[..]) { 1.0 / (1.0 + exp(-x)) } pullback(y, dy) { dy * y * (1.0 - y) }
//!
//!     #[grad(x)]
//!     fn loss<N>(x: f32[N], w: f32[N]) -> f32 { sum(clipped(quantised(x)) * w) + sum(0.0 * sigmoid(x)) }
//! }
//!
//! # fn main() {
//! use mind::Tensor;
//! let (value, dx) = loss_grad(&Tensor::from([0.75, 2.5]), &Tensor::from([3.0, 0.25]));
//! assert_eq!((value, dx.as_slice()), (3.0 + 0.5, &[1.0, 0.25][..]));
//! # }
//! ```
//!
//! - A second derivative differentiates the body of the pullback. If the body reads `y`, the pullback is also the
//!   derivative of `y`.
//! - The compiler cannot detect a wrong pullback. [`gradcheck()`] compares it with difference quotients.
//! - A pullback costs nothing where no gradient is taken.
//! - In the body, `*` and `/` preserve zeros of values that depend on `dy`, as in the gradients of built-in functions:
//!   `dy / y` is 0 where `dy` is exactly 0, even if `y` is 0 too.
//!
//! # What a function becomes
//!
//! | item of `fn f` | meaning |
//! | --- | --- |
//! | `f` | returns the results; panics with the message of the error if the call fails |
//! | `try_f` | returns an [`Error`] where `f` panics; generated only if a call can fail |
//! | `f_into` | writes into results and a [`Workspace`] of the caller; allocates nothing once the workspace is large enough, except what the crate [`matrixmultiply`](#features) needs for large products |
//! | `f_grad`, `try_f_grad`, `f_grad_into` | with `#[grad(w, b)]`, the same three forms; they return the value and the gradients |
//! | `f::CORE_IR` | the intermediate representation as text |
//! | `f::MIC` | the same program in the compact form, for files and tools |
//! | `f::UPDATES` | the inputs of that program that its last outputs update |
//! | `f::PARAMS`, `f::FLOPS`, `f::PEAK_BYTES` | the number of elements of the parameters, of arithmetic operations per call, and of bytes of workspace; functions if shapes have symbols, such as `f::peak_bytes(n)`. `#[memory(max = "64 MiB")]` before `fn f` bounds the bytes: E6011 |
//!
//! # Structs
//!
//! A `struct` in the block has tensors, numbers and other structs as fields. It becomes a Rust struct with the same
//! attributes and visibilities.
//!
//! - Functions take it as a whole (`p: Mlp`, or `p: &mut Mlp` to update it), return it, and read and assign its fields.
//! - A gradient with respect to `p` is such a struct. A gradient with respect to `p.hidden` has the type of the field.
//! - `+ - * /` apply field by field, between two values of a struct type or between a struct and a number.
//! - `Block[12]` and `Block<D>[L]` are structs with a leading axis: each field has one axis more. A loop over one takes
//!   a `Block` per step, `p.blocks.w` is a tensor, and `p.blocks[0]` is a `Block`. In Rust the type is the generated
//!   struct `BlockStack<Const<12>>` or `BlockStack<L, D>`, made by `From` from an array of `Block` and by `TryFrom`
//!   from a `Vec`. Its method `get` returns an element.
//!
//! ```
//! use mind::{Const, Parameters, Tensor, Xoshiro256, mind};
//!
//! mind! {
//!     #[derive(Clone)]
//!     struct Dense<I, O> { w: f32[I, O], b: f32[O] }
//!     struct Mlp { hidden: Dense<4, 8>, last: Dense<8, 1>, scale: f32 }
//!
//!     fn dense<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32[N, O] { x @ layer.w + layer.b }
//!     fn mlp<N>(x: f32[N, 4], p: Mlp) -> f32[N, 1] { dense(relu(dense(x, p.hidden)), p.last) * p.scale }
//!     fn energy<N>(x: f32[N, 4], p: Mlp) -> f32 { let y = mlp(x, p); mean(y * y) }
//!
//!     fn step<N>(x: f32[N, 4], p: &mut Mlp, rate: f32) -> f32 {
//!         let (e, g) = value_and_grad(energy, wrt = p)(x, p);
//!         p -= rate * g;
//!         e
//!     }
//!     fn doubled<I, O>(p: Dense<I, O>) -> Dense<I, O> { Dense { w: p.w * 2.0, ..p } }
//! }
//!
//! let mut p = Mlp { scale: 1.0, ..Mlp::he_normal(&mut Xoshiro256::new(1)) };
//! let x: Tensor![f32; 2, 4] = Tensor::from([[1.0, 2.0, 3.0, 4.0], [0.5, 0.0, -1.0, 2.0]]);
//! let before = step(&x, &mut p, 0.01);
//! assert!(energy(&x, &p) < before);
//! assert_eq!(doubled(&p.last).w, p.last.w.map(|w| 2.0 * w));
//!
//! let names: Vec<_> = p.parameters().into_iter().map(|part| part.name).collect();
//! assert_eq!(names, ["hidden.w", "hidden.b", "last.w", "last.b", "scale"]);
//! assert_eq!(Dense::<Const<3>, Const<2>>::zeros().w.dims(), Dense::zeros_with(3, 2).w.dims());
//! ```
//!
//! In an expression only Rust knows which struct a variable is. Import the struct, and annotate the variable where it
//! is first used as a whole: `(net: Net)`, or `let p: Net = net;`. The dimensions are those of the Rust type and can be
//! left out. After that, arithmetic, functions and calls of templates apply to the variable field by field. Their
//! results, and gradients with respect to the variable, are such structs. `Net { w: net.w - rate * g.w, ..net }`
//! constructs one. Single fields, `net.w`, need neither import nor annotation.
//!
//! ```
//! mod nets {
//!     mind::mind! {
//!         #[derive(Debug, PartialEq)]
//!         pub struct Net<I, O> { pub w: f32[I, O], pub b: f32[O] }
//!         pub fn output(x, p) { x @ p.w + p.b }
//!     }
//! }
//! # fn main() {
//! use mind::{Const, Tensor, mind};
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]);
//! let net = nets::Net::<Const<3>, Const<1>>::zeros();
//! let (loss, g) = mind!(
//!     use self::nets::{Net, output};
//!     let miss = output(x, (net: Net)) - 1.0;
//!     value_and_grad(sum(miss * miss), wrt = net)
//! );
//! let next = mind!(use self::nets::Net; (net: Net) - 0.5 * (g: Net));
//! assert_eq!((loss, next.b.as_slice()), (2.0, [2.0].as_slice()));
//! assert_eq!(next, mind!(use self::nets::Net; optim::sgd((net: Net), (g: Net), 0.5)));
//! assert_eq!(next, mind! { use self::nets::Net; Net { w: net.w - 0.5 * g.w, b: net.b - 0.5 * g.b } });
//! # }
//! ```
//!
//! If Rust cannot infer an extent from the fields, as in `Net { w: x.T @ y, b: sum(y, axis = 0) }`, write the type of the
//! result, in Rust or after the expression: `… : Net<3, 2>`.
//!
//! A struct has `zeros` and the initialisers of [`Initialiser`] (`glorot_uniform`, `he_normal`, …), which take any
//! [`Rng`]. If it has symbolic dimensions, it also has forms that take these (`zeros_with`). [`Parameters`] visits
//! every field with its name, type, extents and data. That is enough for saving, loading and optimisers.
//!
//! # Shapes
//!
//! `f32[N, 784]` has a symbolic and a literal dimension. A symbol is a type parameter of the Rust function: Rust
//! unifies static extents at compile time, and the function checks dynamic extents (`usize`) on entry. Dimensions can
//! be computed: `f32[N + 1]`, `f32[(H - 3) / 2 + 1, 2 * W]`. A shape that does not fit is a compile error at the
//! operator, which shows the shapes as the program writes them:
//!
//! ```compile_fail
//! mind::mind! {
//!     fn f<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] { x @ w }
//! }
//! ```
//!
//! # Operations
//!
//! | written | means |
//! | --- | --- |
//! | `a + b`, `a - b`, `a * b`, `a / b`, `a % b`, `rem`, `-a` | elementwise, broadcast as in NumPy; `/` and `%` (`rem(a, b)`) are those of Rust, and an integer divided by 0 is the error E6010 |
//! | `floor_divide(a, b)`, `remainder` | elementwise, the quotient rounded down, and the remainder with the sign of `b`: `//` and `%` of Python; an integer divided by 0 is the error E6010 |
//! | `a == b`, `!=`, `<`, `<=`, `>`, `>=`, `is_nan`, `is_finite` | truth values, `bool`; comparisons cannot be chained |
//! | `a && b`, `a \|\| b`, `!a`, `where(c, a, b)` | on truth values; both `a` and `b` are computed. The gradient of the value that is not selected is 0, even where its derivative is infinite or NaN |
//! | `a & b`, `a \| b`, `a ^ b`, `!a`, `a << b`, `a >> b`, `not(a)` | bitwise, on integers |
//! | `f32(x)` `f64(x)` `u8(x)` `i32(x)` `i64(x)` `bool(x)`, `cast(x, f32)` | conversions, like `as` in Rust; `bool(x)` is `x != 0` |
//! | `a @ b`, `matmul(a, b)`, `dot(a, b)` | matrix products; `matmul` broadcasts leading batch dimensions |
//! | `einsum("bqhd,bkhd->bhqk", q, k)` | sums of products over named axes, of any number of tensors |
//! | `sum(x, axes = [0], keepdims = true)`, `mean` `max` `min` `prod` | reductions; without `axes` over all axes |
//! | `argmax(x, axes = [0], keepdims = true)`, `argmin` | the position of the largest element, an `i64`: the first of equal elements; over several axes counted in row-major order |
//! | `cumsum(x, axis = 0, reverse = true, exclusive = true)`, `cumprod` `cummax` `cummin` | at each position the sum, product, maximum or minimum of the elements from the start of the axis to this one; `reverse` goes from the end of the axis to this one, and `exclusive` leaves this one out |
//! | `fold h = h0 for x in xs { … }` | a loop over the leading axis of `xs`: the body returns the next `h`, and the value is the last `h` |
//! | `fold x = x0 for layer in p.layers { … }` | the same over a struct with a leading axis, `layers: Layer[12]`: each step has one `Layer` |
//! | `scan h = h0 for x in xs { (h, y) }`, `for x in xs { y }` | loops that also stack the `y` of all steps along a new leading axis; over several tensors as `for (x, y) in (xs, ys)`, over integers as `for i in 0..N`, from the last element to the first with `in xs, reverse = true`; with `checkpoint = 16` a gradient keeps every 16th `h` only |
//! | `flip(x, axis = 0)` | the elements along an axis from the last to the first |
//! | `roll(x, -1, axis = 0)` | shifts the elements along an axis by a number of positions; elements that leave one end enter at the other |
//! | `sort(x, axis = -1, descending = true)`, `argsort` | the elements along an axis in order, or their positions, `i64`: equal elements keep their order, NaN comes last, or first if descending; without `axis` along the last axis |
//! | `any(x, axes = [0], keepdims = true)`, `all` | whether at least one element is true, or every element; a number is true if it is not 0 |
//! | `relu` `exp` `log` `sqrt` `tanh` `floor` `ceil` `round` `trunc` | elementwise, on floats; `round` rounds halves to the even integer |
//! | `exp2` `expm1` `log2` `log10` `log1p` `rsqrt` `cbrt` `hypot` `pow` | elementwise, on floats; `hypot(x, y)` is `√(x² + y²)` without overflow |
//! | `erf` `erfc` `erf_inv` `lgamma` `digamma` `trigamma` | elementwise, on floats; the error function, its complement and its inverse; the logarithm of `\|Γ(x)\|` and its first two derivatives |
//! | `logaddexp` `log1mexp` `erfcx` `log_ndtr` | elementwise, on floats; `log(exp(a) + exp(b))`, `log(1 - exp(-x))`, `exp(x²) erfc(x)` and the logarithm of the normal distribution function, also accurate where these formulas overflow, underflow or lose precision |
//! | `sin` `cos` `tan` `asin` `acos` `atan` `atan2` `sinh` `cosh` `asinh` `acosh` `atanh` | elementwise, on floats; angles are in radians |
//! | `neg` `abs` `sign` `maximum` `minimum` `fmax` `fmin` | elementwise, on all numbers; `fmax` and `fmin` ignore NaN |
//! | `copysign(a, b)` | elementwise, on floats; `a` with the sign of `b` |
//! | `reshape(x, [2, -1])`, `transpose(x, [1, 0])`, `moveaxis(x, 1, 0)`, `x.T`, `x.mT`, `expand_dims`, `squeeze`, `broadcast_to` | change the shape or the order of axes; `x.mT` swaps the last two axes |
//! | `x[0, 1..3, .., -1]`, `x[.., _]`, `slice(…)`, `gather(table, indices)` | parts of a tensor; `_` is a new axis of extent 1. `x[a..b;2]` takes every second element, and `x[a..b;-2]` every second one back from the end of the range: `x[..;-1]` is reversed |
//! | `x[i]`, `x[.., i]`, `x[i, j]` with tensors `i`, `j` of integers | the elements at indices; several tensors are broadcast, and their axes come first in the result, or in their place if they stand side by side |
//! | `scatter_add(x, indices, updates)` | `x` with the rows of `updates` added at indices, in their order; `replace(x[i], u)` in functions and `num::scatter` replace rows |
//! | `take_along(x, indices, axis = 1)` | for each position of `indices`, the element of `x` at that position, with the index in place of the coordinate along the axis |
//! | `concat([a, b], axis = 0)`, `stack([a, b], axis = 0)` | join any number of tensors along an axis, or along a new axis |
//! | `split(x, 3, axis = 0)`, `split(x, [2, 5], axis = 0)` | a tuple of parts along an axis: of equal extents, or between positions |
//! | `tile(x, [2, 3])`, `repeat(x, 2, axis = 0)` | copies of the whole tensor along each axis; copies of each element along an axis |
//! | `meshgrid(x, y, z)` | a tuple with a tensor for each of any number of vectors: the coordinates of the points of a grid, with an axis for each vector, in their order |
//! | `pad(x, low = [1, 0], high = [1, 2])` | adds zeros around a tensor: along each axis `low` before and `high` after its elements. `value = 1.0` adds another number, `interior = [0, 1]` adds it also between elements, and `mode` is `"edge"`, `"reflect"`, `"symmetric"` or `"wrap"`, as in NumPy |
//! | `conv2d(x, f, strides = [1, 1], padding = same)` | convolves NHWC images with HWCF filters; padding `valid`, `same` or `[[t, b], [l, r]]`. With `dilations = [2, 2]` the elements of the filter are apart; with `groups = G` each of the groups of channels has features of its own, and `G` equal to the channels is a depthwise convolution |
//! | `conv1d`, `conv3d`, `conv_transpose1d`, `conv_transpose2d`, `conv_transpose3d` | the same over one and three axes, and the transposes: `f` is `[h, w, in, out]` there too, and elements are not flipped, as in PyTorch |
//! | `max_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]])`, `sum_pool`, `avg_pool` | the largest element, the sum or the mean of windows over one to three axes before the channels, which are last; also with `dilations`. Padding is never the largest. In a mean it counts as zeros, unless `counted = false` |
//! | `unfold(x, [3, 3], axes = [1, 2], strides = 2)` | windows that slide along axes: each axis becomes the positions of the window, then the elements in it; also with `dilations` |
//! | `iota(N)`, `iota([2, N], axis = 1)` | positions along an axis from 0, of `i64` |
//! | `one_hot(indices, 10, dtype = f32)` | a new last axis with 1 at the position of each index and 0 elsewhere; an index out of range gives zeros |
//! | `zeros([2, 3])`, `ones(…)`, `full([2], 0.5)`, `zeros_like(x)`, `ones_like(x)` | constants |
//! | `extent(x, 0)`, `N` | extents, as numbers, in shapes and as bounds: `x[..N]` |
//! | `grad(f, wrt = w)(…)`, `value_and_grad(f, wrt = (w, b))(…)`, `vjp(f, wrt = w)(…, cotangent)` | derivatives; if `f` returns a tuple, `value_and_grad` and `#[grad]` differentiate its first element and also return the others |
//! | `jvp(f, wrt = x)(x, dx)`, `jacobian(f, wrt = x)(x)`, `hessian(f, wrt = x)(x)`, `hvp(f, wrt = x)(x, v)` | other derivatives: the value and its tangent, the derivatives of all elements of the result, the second derivatives, and these times a vector |
//! | `vmap(f, over = (x, y))(xs, ys, w)` | `f` for each slice of `xs` and `ys` along the first axis; `axis = 1` and `out = 1` name other axes |
//! | `associative_scan(f)(xs)` | along the first axis `x0`, `f(x0, x1)`, `f(f(x0, x1), x2)`, …, for an associative `f` |
//! | `checkpoint(f)(x, w)` | `f(x, w)`, whose gradient keeps `x` and `w` and computes the other values of `f` again |
//! | `inspect(x, "h")` | `x`, which is [shown](#debugging) each time the program runs, in the order of the text |
//! | `stop_gradient(x)` | `x`, treated as a constant by differentiation; a function with a [derivative of its own](#custom-derivatives) can do more |
//!
//! - Every function can be written as a method: `x.sum(axes = [1])`.
//! - `axis = 1` stands for `axes = [1]`. Negative axes and indices count from the end.
//! - A literal takes the element type of the other operand. The same holds for a dimension, `sum(x) / N`, and for a
//!   function of literals and dimensions, `x / sqrt(N)`. Tensors are never converted implicitly.
//! - `inf` and `nan` are numbers.
//!
//! # Named axes
//!
//! `einsum("ij,jk->ik", x, w)` multiplies tensors whose axes are named by letters, and sums over the letters that the
//! output lacks, as in NumPy:
//!
//! | written | means |
//! | --- | --- |
//! | `"ij,jk->ik"` | a product of matrices |
//! | `"ij->ji"`, `"ij->j"` | another order of axes; a sum over `i` |
//! | `"ii->i"`, `"ii"` | a diagonal; its sum |
//! | `"i,j"` | an outer product. Without `->` the output has the letters that occur once, in alphabetical order |
//! | `"...ij,...jk->...ik"` | `...` is any number of axes, aligned at the last one and broadcast. It stands first in an output without `->` |
//!
//! The axes of one letter have equal extents, or extent 1, which is broadcast in functions. Products of more than two
//! tensors are computed in pairs. For up to nine tensors the order has the least cost; beyond that, each pair is the
//! one that leaves the least memory in use. The cost is the number of multiplications plus 8 for each element of a
//! result, where an unknown extent counts as 128. `mind stats` shows the order. Pairs become products of matrices where
//! an index is summed. No value on the way has more than 8 axes.
//!
//! ```
//! use mind::{Tensor, mind};
//!
//! mind! {
//!     /// A bilinear form for each output.
//!     fn bilinear<B>(x: f32[B, 2], w: f32[3, 2, 2], y: f32[B, 2]) -> f32[B, 3] {
//!         einsum("bi,oij,bj->bo", x, w, y)
//!     }
//! }
//!
//! # fn main() {
//! let w = Tensor::from([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]]);
//! let result = bilinear(&Tensor::from([[2.0, 3.0]]), &w, &Tensor::from([[5.0, 7.0]]));
//! assert_eq!(result, Tensor::from([[10.0, 14.0, 36.0]]));
//! # }
//! ```
//!
//! # Debugging
//!
//! `inspect(x, "h")` returns `x` and shows it each time the program runs. It works in functions, templates, pullbacks,
//! closures and expressions, and as a statement, `inspect(x, "h");`. By default it prints type, range and elements to
//! the standard error stream. [`inspect::set`] passes them to a callback instead. No result changes. Gradients pass
//! through `inspect`, and a gradient shows the values of its function once.
//!
//! ```
//! use mind::{Elements, Tensor, inspect, mind};
//!
//! mind! {
//!     fn layer(x: f32[2], w: f32[2, 2]) -> f32[2] {
//!         relu(inspect(x @ w, "z"))
//!     }
//! }
//!
//! let guard = inspect::set(|seen| {
//!     assert_eq!((seen.label, seen.dims), ("z", &[2][..]));
//!     assert_eq!(seen.elements, Elements::F32(&[-1.0, 2.0]));
//! });
//! let h = layer(&Tensor::from([1.0, 1.0]), &Tensor::from([[-2.0, 1.0], [1.0, 1.0]]));
//! assert_eq!(h, Tensor::from([0.0, 2.0]));
//! drop(guard);
//! ```
//!
//! With `MIND_CHECK=nan` in the environment while Rust compiles, a program panics if it creates a NaN that a result
//! contains. The message names the first value that was NaN, with its file and line. A NaN that comes from an argument
//! does not count. [`gradcheck()`] compares gradients with difference quotients. The page
//! [docs/debugging.md](https://docs.rs/crate/mind-dsl/latest/source/docs/debugging.md) describes all three.
//!
//! # Templates
//!
//! A function whose parameters do not fix every shape, element type and attribute is a template. The compiler checks
//! and inlines it at each call, fuses it with the code around the call and differentiates through it. Functions,
//! closures and expressions call templates in the same way:
//!
//! ```
//! use mind::{Tensor, mind};
//!
//! mod layers {
//!     mind::mind! {
//!         /// A dense layer: any float, any number of leading axes.
//!         pub fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { x @ w + b }
//!
//!         /// Numbers of mean 0 and deviation 1 along an axis.
//!         pub fn standardised(x: float[..], const axis: axis = -1, const eps: float = 1e-5) {
//!             let centred = x - mean(x, axis = axis, keepdims = true);
//!             centred * rsqrt(mean(centred * centred, axis = axis, keepdims = true) + eps)
//!         }
//!     }
//! }
//!
//! mind! {
//!     use self::layers::standardised;
//!     fn layer<N>(x: f32[N, 2], w: f32[2, 2], b: f32[2]) -> f32[N, 2] {
//!         standardised(layers::dense(x, w, b), axis = 0)
//!     }
//! }
//!
//! fn main() {
//!     let x = Tensor::from([[1.0, 2.0], [3.0, 5.0]]);
//!     let (w, b) = (Tensor::from([[1.0, 0.0], [0.0, 1.0]]), Tensor::zeros());
//!     let y = layer(&x, &w, &b);
//!     let z: Tensor![f32; 2, 2] = mind!(layers::standardised(layers::dense(x, w, b), axis = 0)).into();
//!     assert_eq!(y, z);
//!     assert!((y[[1, 0]] - 1.0).abs() < 1e-4);
//! }
//! ```
//!
//! | parameter | meaning |
//! | --- | --- |
//! | `x: float[.., N]` | a tensor with elements of the class `float`, `int`, `num` or `any`, of one type such as `f32`, or of a type variable declared as `<T: float>`; `cast(i, T)` and `one_hot(i, 3, dtype = T)` can name the variable; `..` stands for any leading axes |
//! | `<..B, N>`, `x: float[..B, N]` | leading axes and an extent, each the same wherever it appears; lists of shapes can name both: `reshape(x, [..B, 2, N / 2])` |
//! | `const axis: axis = -1` | an attribute: an `axis`, `axes`, `dim`, `shape`, `dtype`, `int`, `float`, `fraction` (a number from 0 to 1) or `bool` that is known at the call |
//! | `<P: params>`, `p: P` | a struct of tensors, the same wherever `P` appears; in an expression an annotated variable, `(net: Net)` |
//! | `x` | any value, also a tuple or a struct |
//!
//! The library of the language consists of templates: activations, softmax, norms, attention, recurrent cells and losses
//! (`nn::`), numerics (`num::`), linear algebra (`linalg::`), Fourier transforms (`fft::`), log densities (`stats::`), steps of optimisers and
//! schedules (`optim::`), random numbers (`random::`).
//! `docs/library.md` documents each with its formula, shapes and stability. `nn::softmax(x)` calls one by its path,
//! anywhere. `use nn::softmax;` in a block imports the name.
//!
//! - In an expression, a parameter without a type also accepts a Rust struct, whose fields the template reads:
//!   `nn::transformer_block(x, self.block, heads = 4)`.
//! - The types of parameters are a contract. An argument that violates it is an error at the argument. An axis that the
//!   argument does not have is an error there too.
//! - Names in a template are resolved where the template is defined.
//! - A template cannot call itself, and cannot update its parameters.
//! - If a struct is passed for a tensor, the template applies to each field, and its results are structs. A step of an
//!   optimiser that is written for one tensor therefore updates any struct of parameters. Elementwise functions do the
//!   same, and `sum(p * p)` is the sum over all fields.
//!
//! # Optimisers
//!
//! The state that an optimiser keeps between steps is a struct of the library, generic over the struct that it updates:
//! `optim::Adam<Net>` in the language, [`optim::Adam`]`<Net>` in Rust. `adam_step` and similar functions take a state
//! and return its successor, so a training step is one program that updates in place:
//!
//! ```
//! use mind::{Parameters, Tensor, mind, optim::Adam};
//!
//! mind! {
//!     #[derive(Clone, Debug)]
//!     struct Net { w: f32[3, 2], b: f32[2] }
//!
//!     fn loss<N>(x: f32[N, 3], y: f32[N, 2], net: Net) -> f32 { nn::mse(nn::dense(x, net.w, net.b), y) }
//!
//!     fn step<N>(x: f32[N, 3], y: f32[N, 2], net: &mut Net, state: &mut optim::Adam<Net>, rate: f32) -> f32 {
//!         let (l, g) = value_and_grad(loss, wrt = net)(x, y, net);
//!         let (new, next) = optim::adam_step(net, optim::clip_by_global_norm(g, 1.0), state, rate);
//!         net = new;
//!         state = next;
//!         l
//!     }
//! }
//!
//! let (x, y) = (Tensor::from([[1.0, 0.5, -1.0], [0.0, 1.0, 1.0]]), Tensor::from([[1.0, 0.0], [0.0, 1.0]]));
//! let mut net = Net::zeros();
//! let mut state = Adam::zeros_like(&net);
//! let first = step(&x, &y, &mut net, &mut state, 0.1);
//! assert!(step(&x, &y, &mut net, &mut state, 0.1) < first);
//! assert_eq!(state.steps, 2);
//! let names: Vec<_> = state.parameters().into_iter().map(|part| part.name).collect();
//! assert_eq!(names, ["mean.w", "mean.b", "square.w", "square.b", "steps"]);
//! ```
//!
//! | state | steps |
//! | --- | --- |
//! | [`optim::Momentum`] | `momentum_step`, `nesterov_step`, `muon_step` |
//! | [`optim::Adam`] | `adam_step`, `adamw_step` |
//! | [`optim::RmsProp`] | `rmsprop_step` |
//! | [`optim::AdaGrad`] | `adagrad_step` |
//! | [`optim::Lion`] | `lion_step` |
//!
//! - `zeros_like` makes the state of parameters that are `Clone`.
//! - Its fields are public, and it implements [`Parameters`]: it is saved and loaded like a network.
//! - It can be a field of a struct, a result, and a parameter of a template, `state: optim::Adam<P>` beside
//!   `<P: params>`. The language reads and constructs it like any struct.
//! - It is generic over structs of floats, also over those with dimensions: `optim::Adam<Dense<64, N>>`.
//!
//! In an expression, annotate the state like any struct, and import the struct that it is generic over:
//!
//! ```
//! mod nets {
//!     mind::mind! {
//!         #[derive(Clone)]
//!         pub struct Net { pub w: f32[3, 2], pub b: f32[2] }
//!     }
//! }
//! # fn main() {
//! use mind::{Tensor, mind, optim::Adam};
//! let x: Tensor![f32; 1, 3] = Tensor::from([[1.0, 0.5, -1.0]]);
//! let (net, state) = (nets::Net::zeros(), Adam::zeros_like(&nets::Net::zeros()));
//! let (net, state) = mind!(
//!     use self::nets::Net;
//!     let net: Net = net;
//!     let g = grad(mean(nn::dense(x, net.w, net.b)), wrt = net);
//!     optim::adam_step(net, g, (state: optim::Adam<Net>), 0.1)
//! );
//! assert!(net.b[[0]] < 0.0);
//! assert_eq!(state.steps, 1);
//! # }
//! ```
//!
//! # Checking gradients
//!
//! [`gradcheck`] compares a gradient with difference quotients of the function, for tensors and for structs of tensors:
//!
//! ```
//! use mind::{Tensor, gradcheck, mind};
//!
//! mind! {
//!     #[grad(w)]
//!     fn loss(x: f64[2, 3], w: f64[3]) -> f64 { sum(nn::softmax(x * w) * x) }
//! }
//!
//! let x = Tensor::from([[1.0, -2.0, 0.5], [0.0, 1.0, 2.0]]);
//! let mut w = Tensor::from([0.3, -0.1, 0.2]);
//! let (_, gradient) = loss_grad(&x, &w);
//! gradcheck(&mut w, &gradient, |w| loss(&x, w)).expect("the gradient is that of the function");
//! ```
//!
//! # Faults
//!
//! An error at run time is an [`Error`] from `try_f` and `f_into`, and a panic from `f`. After any failure around a
//! call, the next call computes correct results:
//!
//! | failure | consequence |
//! | --- | --- |
//! | a function of yours panics: one that an `extern` function calls, an [`Rng`], or an argument of `from_fn` or `map` | the panic reaches the caller; no result and no `&mut` parameter of a function has been written; parameters that [`Initialiser::fill`] was filling are partly written |
//! | a part of a call panics on another thread | all parts end, then the panic reaches the caller; if two parts panic, the panic of the earlier part |
//! | a thread cannot be started | the existing threads do the work, or the caller alone; the result is the same to the bit. A Knossos program whose calls nest so deep that it needs another stack returns E6004 |
//! | memory cannot be allocated | error E6004, before anything is written |
//!
//! Calls can be made from anywhere:
//!
//! - from a function of yours that another call runs; the inner call has its own workspace and threads;
//! - from a destructor, while a panic unwinds or a thread ends;
//! - from several threads at once.
//!
//! [`set_threads`] can be called there too. After a `fork` the child process starts its own threads at its first large
//! call.
//!
//! The memory that is kept for later calls is bounded. A thread keeps one workspace of at most 1 MiB, and at most 638 KiB
//! for small results. It frees both when it ends. For larger workspaces, and results of more than 32 KiB, the process
//! keeps at most an eighth of the machine's memory, or of the limit of its control group; where the system does not
//! report the size of its memory, 256 MiB. The memory that has been kept longest makes room. [`trim`] frees what is kept.
//!
//! # Features
//!
//! `ndarray`: arrays of ndarray as variables of expressions and as arguments of functions, and conversions between them
//! and [`Tensor`](struct@Tensor) in both directions. `docs/ndarray.md` describes it.
//!
//! `knossos`: programs in Knossos, by `include_ks!` and `ks!`.
//!
//! `fft`: Fourier transforms, by the module `fft` of the library and the crate rustfft. A thread keeps the tables of the
//! last 16 lengths for each element type; the first call with a length allocates them. `MIND_SIMD` does not affect
//! results.
//!
//! `safetensors`: loads and saves any struct of parameters, and the state of optimisers, in that format, by
//! `files::safetensors`. `weights!` checks a file against a struct while Rust compiles and embeds it in the program.
//!
//! `npy`: loads and saves one tensor as `.npy` of NumPy, by `files::npy`, and parameters as `.npz`, by `files::npz`.
//!
//! `matrixmultiply`: the crate of that name computes large products of `f32` and `f64`, of at least 32 rows, 8 columns,
//! 8 factors per sum and 32³ multiplications.
//!
//! - On processors other than x86-64 the crate computes these products without the feature too: our own kernels for
//!   products have not been run there, and those of the crate have.
//! - The crate allocates memory at each product, into which it packs operands. If a fused loop follows, we also allocate
//!   memory for up to 128 by 512 sums. The process ends if that memory cannot be allocated.
//! - Results differ from those of our kernels in the last bits. They are the same for any number of threads, and
//!   `MIND_SIMD` does not affect them.
//! - Convolutions, products of integers and smaller products use our kernels. On processors other than x86-64 these are
//!   compiled from plain Rust, without instructions written for the processor.
//!
//! `rand_core`: `RandCore` makes a [`Rng`] of any generator of the crate rand_core.
//!
//! `serde`: tensors in the formats of serde, in the representation of ndarray's arrays. Input is checked.
//!
//! `threads` (default): large loops and products run on several threads. [`set_threads`] or the environment variable
//! `MIND_NUM_THREADS` sets their number; the default is the number that the process may use. Results are the same to
//! the bit for any number of threads, and without the feature.
#![forbid(unsafe_code)]

pub use mind_rt::{
    Axis, Const, DType, Differing, Dim, Dims, Element, Elements, ElementsMut, Error, Expr, Float,
    GradientMismatch, Inferred, Initialiser, InsertAxis, Leaf, MAX_RANK, Nested, Numeric, Parameter,
    ParameterMut, Parameters, Ranges, Rank, RemoveAxis, ReverseAxes, Rng, SameShape, Shape, SimdLevel,
    StaticShape, Tensor, TensorRef, TensorView, TensorViewMut, Workspace, Xoshiro256, dim, gradcheck,
    gradcheck_some, inspect, optim, ranks, set_threads, simd_level, threads, trim,
};

#[cfg(feature = "rand_core")]
pub use mind_rt::RandCore;

#[cfg(any(feature = "safetensors", feature = "npy"))]
pub use mind_files as files;

#[doc(hidden)]
pub use mind_rt::private as __private;

/// The functions of the language and of the library, which rust-analyzer shows and completes.
#[doc(hidden)]
#[allow(unexpected_cfgs, reason = "rust-analyzer sets it")]
pub mod __editor {
    #[cfg(rust_analyzer)]
    mind_macros::__editor! {}
}

/// Tests the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../docs/debugging.md")]
mod page_on_debugging {}

/// Tests the examples of the page, with the feature `ndarray`.
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../docs/ndarray.md")]
mod page_on_ndarray {}

/// Accepts Rust code in which `mind!< … >` can appear: items, statements or an expression.
///
/// Rust allows a macro's input in `()`, `[]` or `{}` only, so a Rust file cannot contain `mind!< x @ w >` outside of
/// this wrapper. Inside it, `mind!< x @ w >` means `mind!( x @ w )`, wherever it appears:
///
/// ```
/// use mind::{Tensor, angle, mind};
///
/// angle! {
///     fn dense(x: &Tensor![f32; 2, 3], w: &Tensor![f32; 3, 4], b: &Tensor![f32; 4]) -> Tensor![f32; 2, 4] {
///         mind!< relu(x @ w + b) >.into()
///     }
/// }
/// assert_eq!(dense(&Tensor::full(1.0), &Tensor::full(0.5), &Tensor::zeros()), Tensor::full(1.5));
/// ```
///
/// The first `>` ends the block. A `>` in brackets, in `->`, in `=>` or, in a block of items, in `fn f<N>` does not
/// count. Where Rust expects an expression, the wrapper contains one expression. Statements before it need braces:
/// `angle! {{ let a = …; mind!< a > }}`. `mind!(< … >)` needs no wrapper.
pub use mind_macros::angle;
/// Includes the items of a Rust file in which `mind!< … >` can appear anywhere: `mind::angle_include!("model.rs");`.
///
/// The path is relative to the Rust file, as in [`include_str!`]. Use it in a module of its own:
/// `mod model { mind::angle_include!("model.rs"); }`.
///
/// rustc compiles a copy of the file, in which `(` and `)` replace the angle brackets. The copy is in the build
/// directory, and errors show its path, with the lines and columns of the file. Rust resolves the paths of `mod parts;`
/// and `include_str!` relative to the copy. The macro therefore rejects modules without a body. It also rejects
/// attributes of the file (`#![…]`).
pub use mind_macros::angle_include;

/// The proc macros. The macros of this crate pass `$crate` to them, so that generated code finds this crate under
/// whatever name a manifest gives it.
#[doc(hidden)]
pub mod __macros {
    pub use mind_macros::{include, include_ks, include_mic, ks, linked, mind};
    #[cfg(feature = "safetensors")]
    pub use mind_macros::{weights, weights_linked};
}

/// Compiles tensor programs while Rust compiles.
///
/// Accepts items, `fn f<N>(x: f32[N, 3]) -> f32[N] { … }` and `const H: dim = 64;`, a closure,
/// `|x: f32[2, 3]| relu(x)`, or an expression over Rust variables, `relu(x @ w + b)`. The
/// [crate's documentation](crate) describes the language.
///
/// If `MIND_TIMINGS` is set in the environment of the build, each expansion prints its duration on the standard error
/// stream.
#[macro_export]
macro_rules! mind {
    ($($tokens:tt)*) => { $crate::__macros::mind! { [$crate] $($tokens)* } };
}

/// Compiles the text of a file as [`mind!`] does: `mind::include!("net.mind");`.
///
/// The path is relative to the Rust file, as in [`include_str!`]. The file contains items or a closure, of at most 16
/// MiB (E1008). Errors show its name, line and column. Cargo compiles the crate again when the file changes.
#[macro_export]
macro_rules! include {
    ($($tokens:tt)*) => { $crate::__macros::include! { [$crate] $($tokens)* } };
}

/// Defines the function of a MIC file: `mind::include_mic!("net.mic");`, or with its gradient,
/// `mind::include_mic!("net.mic", name = net, grad = (w, b));`.
///
/// - The function has the name of the file's function symbol. If there is none, it has the name of the file.
/// - Its parameters have the names of the file's inputs. `_` replaces characters that Rust names cannot contain.
/// - Comments above the file's first entry are its documentation.
/// - It is public, and comes with the same items as a function of [`mind!`].
/// - `grad` names parameters like `#[grad(…)]`: a single one, or several in parentheses. With `zero_ok` before it, a
///   parameter may be one that the value does not depend on.
///
/// Errors show the file's name and line. Cargo compiles the crate again when the file changes. The file has at most 10
/// MiB (E1008).
#[macro_export]
macro_rules! include_mic {
    ($($tokens:tt)*) => { $crate::__macros::include_mic! { [$crate] $($tokens)* } };
}

/// Defines the functions of a Knossos program in a file, with the feature `knossos`: `mind::include_ks!("gmm.ks");`, or
/// with options, `mind::include_ks!("gmm.ks", precision = f32, export = [objective], grad = [objective]);`.
///
/// Each function that the file defines becomes `f`, which panics if the program fails, and `try_f`, which returns the
/// failure as an [`Error`] with its place in the file. `main` becomes a function only if `export` names it.
///
/// | option | meaning |
/// | --- | --- |
/// | `export = [f]` | the functions to generate |
/// | `grad = [f]` | generates derivatives: `rev_f(x, y, d_result)` returns the cotangents of all parameters, `fwd_f(x, y, d_x, d_y)` the tangent of the result; `grad = [rev f]` generates only the first |
/// | `bind = [f = path, rev f = path]` | the Rust functions for functions that the program declares, and for their derivatives |
/// | `precision = f32` | makes every Float an `f32` |
///
/// | type | in Rust |
/// | --- | --- |
/// | `Float`, `Integer`, a tuple | `f64`, `i64`, a tuple |
/// | `(Tensor n Float)` | a [`Tensor`](struct@Tensor) of `n` dynamic extents, taken as a `&TensorRef` |
/// | a `Vec` of anything but numbers | a `Vec`, taken as a slice |
/// | a tensor of higher rank of anything but numbers | a [`Nested`] |
/// | a tensor of tuples | the tuple of its elements' tensors |
///
/// The path is relative to the Rust file, as in [`include_str!`]. Errors show the file's name and line; all independent
/// errors are reported at once. Cargo compiles the crate again when the file changes. The file has at most 16 MiB
/// (E1008). `docs/knossos.md` describes the language.
#[macro_export]
macro_rules! include_ks {
    ($($tokens:tt)*) => { $crate::__macros::include_ks! { [$crate] $($tokens)* } };
}

/// Does the same as [`include_ks!`] with a program in the Rust file, with the feature `knossos`.
///
/// ```
/// mind::ks!(r#"
///     (def norm Float (v : Vec Float)
///       (sqrt (sum (map (lam (x : Float) (mul x x)) v))))
/// "#, grad = [norm]);
///
/// # fn main() {
/// let v = mind::Tensor::from_vec((2,), vec![3.0, 4.0]).expect("two elements");
/// assert_eq!(norm(&v), 5.0);
/// // d_result * v / |v|
/// assert_eq!(rev_norm(&v, 10.0).as_slice(), [6.0, 8.0]);
/// # }
/// ```
#[macro_export]
macro_rules! ks {
    ($($tokens:tt)*) => { $crate::__macros::ks! { [$crate] $($tokens)* } };
}

/// Creates a struct of parameters from a file, with the feature `safetensors`:
/// `let net = mind::weights!("net.safetensors", Net);`. The file is checked against the struct while Rust compiles, and
/// is embedded in the program.
///
/// The path is relative to the Rust file, as in [`include_str!`]. The struct is one of a [`mind!`] block, or the state
/// of an optimiser for one: `Net`, `nets::Dense<64, 10>`, `optim::Adam<Net>`. It is named as a Rust path, with its
/// dimensions as numbers. If the file does not fit, one error at the struct lists all differences: missing tensors,
/// tensors with other extents or another element type, and unexpected tensors in the file.
///
/// Options map names that differ, the name in the file first, and allow the file to contain more:
/// `weights!("resnet.safetensors", Head, names = [("fc.weight", "w"), ("fc.bias", "b")], allow_unexpected)`.
///
/// Cargo compiles the crate again when the file changes. A file has at most 16 MiB. Load a larger one at run time with
/// `files::safetensors::load`, which makes the same checks.
#[cfg(feature = "safetensors")]
#[macro_export]
macro_rules! weights {
    ($($tokens:tt)*) => { $crate::__macros::weights! { [$crate] $($tokens)* } };
}
