//! A tensor language inside Rust: [`mind!`] compiles tensor programs while Rust compiles.
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
//! # What `mind!` takes
//!
//! Items, as above: functions that may call each other in any order, and constants: `const H: dim = 64;` for extents, and
//! `float`, `int` and `bool`, as `const EPS: float = 1e-5;`. Or a closure, whose shapes are all written:
//!
//! ```
//! use mind::{Tensor, mind};
//! let f = mind!(|x: f32[2, 3], w: f32[3, 2]| relu(x @ w));
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
//! let w: Tensor![f32; 3, 2] = Tensor::from_fn(|[i, j]| (i + j) as f32);
//! assert_eq!(f(&x, &w), Tensor::from([[0.0, 1.0], [0.0, 0.0]]));
//! ```
//!
//! Either can stand in a file of its own: `mind::include!("net.mind");` is what `mind!` makes of the file's text, the path
//! being relative to the Rust file. See [`include!`].
//!
//! Or an expression over the Rust variables around it. Its shapes are those of their types:
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
//! Leaves are variables and fields (`x`, `self.w`, `net.0`), by value or by reference: tensors, views, plain numbers,
//! arrays of Rust, slices, `Vec`s of numbers, and with the feature `ndarray` its arrays. They are read where they are
//! and never moved; an ndarray that does not lie row by row is copied first. Any other Rust expression stands in
//! braces: `{model.bias()}`. Statements may come first: `mind! { let h = x @ w; sum(h * h) }`. A broken
//! rule is an error of `cargo check` at the operator; in a function that is generic in shapes write `mind!(late: …)`,
//! which `cargo build` checks. Where extents are dynamic the same rules run when the expression does, and panic with
//! the same words.
//!
//! A result that is broadcast from one leaf (`2.0 * x`), or from leaves of one shape type (`w - 0.1 * g`), has that
//! type, and so has one whose other leaves have the last dims of it (`x - mean` of a matrix and a row). A gradient has
//! the type of what it is by. One that is a single number whatever the shapes are (`mean(x)`) is a plain number. Any
//! other has a shape that is [`Inferred`], with its rank in its type; `mind!(x @ w : f32[2, 2])` writes the type instead,
//! and `.into()` converts. A number whose Rust type is open, as in `let rate = 0.1;`, has the element type of the tensors
//! that it is computed with. Where leaves are ndarray's arrays and
//! none is a tensor, results are such arrays. A leaf can be given a type in place, `(x: f32[2, 3])`.
//!
//! # Functions, structs and constants of other blocks
//!
//! `use` in a block, or before a closure or an expression, names functions, structs and constants of other blocks: of the
//! same module, of others, of other crates. A path does without: `layers::dense(x, p)`, `p: layers::Dense<4, 4>`.
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
//! What is imported is inlined where it is called, with all that it calls itself. A struct is the Rust type of the block that
//! declares it, in every block. Rust's rules say what a path reaches: `pub use` passes all three on, and a private field can be
//! passed along with its struct but not named. A function configured away (`#[cfg(…)]`) cannot be imported; what an imported
//! function calls is inlined whatever its configuration, as within a block.
//!
//! In Rust a constant is a `usize`, `f64`, `i64` or `bool`; of a number with a suffix, `0.5_f32`, it has that type, in the
//! language too. Beside a struct or constant stands a hidden macro of its name, which `use` brings along; a name that begins with a
//! small letter has none, and is not imported.
//!
//! # Functions of Rust and of Knossos programs
//!
//! `extern fn f` in a block declares the Rust function `try_f`, by its path from the block's module. Its parameters are `&TensorRef` with
//! run-time extents, and numbers; it returns a `Result` of such a tensor or of a number. A gradient calls `try_rev_f`, which takes the
//! parameters and the cotangent of the result, and returns the cotangent of each parameter, `()` for one that is no float.
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
//! fn try_rev_sorted(x: &TensorRef<f64, (usize,)>, dy: &TensorRef<f64, (usize,)>) -> Result<Tensor<f64, (usize,)>, Error> {
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
//! The function has no effects: equal calls may be one, and a call may be left out or made twice. `docs/knossos.md` says what it may
//! be, and which functions derivatives of higher order call.
//!
//! Functions that [`ks!`] and [`include_ks!`] make are such functions. Branches and recursion, which the language lacks, can be written there:
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
//! `pullback(y, dy) { … }` behind a function or a template tells what flows back to its parameters: `y` is the result, `dy` the
//! cotangent of that, of its shape. The body knows these and the parameters, and gives one value for each parameter of floats, of
//! its type and in order, a tuple where there are several; parameters of integers, truth values and attributes get none.
//! Where there are several results, `y` and `dy` are tuples of them: `pullback((a, b), (da, db))`.
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
//! A derivative of a derivative goes through the text of the pullback; `y` in it has the derivative that the pullback tells. A
//! pullback that tells no derivative is not told apart from one that does: try it against differences. It costs nothing where
//! no gradient is taken. In the body of a pullback `*` and `/` keep zeros of what depends on `dy`: `dy / y` is 0 where `dy` is
//! exactly 0, even if `y` is 0 too, as in the gradients of built-in functions.
//!
//! # What a function becomes
//!
//! For `fn f` there is `f`; `try_f`, which returns what can fail at run time as an [`Error`] where `f` panics with its
//! message; `f_into`, which writes into the caller's results and [`Workspace`] and allocates nothing once the workspace is
//! large enough (but for what large products need that are the crate [`matrixmultiply`](#features)'s); with
//! `#[grad(w, b)]` the same three of `f_grad`, which returns the value and the gradients; and a module `f` with
//! `CORE_IR` (the intermediate representation as text), `MIC` (the same in the compact form, for files and tools), `UPDATES`
//! (which inputs of that module the last of its outputs update), `PARAMS`, `FLOPS` and `PEAK_BYTES`. Where shapes have symbols the
//! last three are functions of them: `f::peak_bytes(n)`.
//!
//! # Structs
//!
//! A `struct` in the block has tensors, numbers and other structs as fields, and becomes a Rust struct with the same
//! attributes and visibilities. Functions take it whole (`p: Mlp`, or `p: &mut Mlp` to update it), give it as a
//! result, and read and assign its fields. A gradient by `p` is such a struct, one by `p.hidden` such a field; `+ - * /`
//! go field by field, between two of a struct or with a number.
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
//! In an expression only Rust knows which struct a variable is. So the struct is imported, and told where the variable is first
//! named as a whole: `(net: Net)`, or `let p: Net = net;`. Its dimensions are those of the Rust type and may be left out. From
//! there on the variable is that struct: arithmetic, functions and calls of templates go field by field, a gradient by it is
//! such a struct, and so are results. `Net { w: net.w - rate * g.w, ..net }` makes one. Fields alone, `net.w`, need nothing.
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
//! Where no field tells an extent to Rust, as of `Net { w: x.T @ y, b: sum(y, axis = 0) }`, the type of the result is written, in
//! Rust or behind the expression: `… : Net<3, 2>`.
//!
//! Beside `zeros` there are the initialisers of [`Initialiser`] (`glorot_uniform`, `he_normal`, …), which take any
//! [`Rng`]; with symbolic dimensions also forms that take these (`zeros_with`). [`Parameters`] visits every field with its
//! name, type, extents and data: saving, loading and optimisers need no more.
//!
//! # Shapes
//!
//! `f32[N, 784]` has a symbolic and a literal dimension. A symbol is a type parameter of the Rust function, so Rust
//! unifies it at compile time where extents are static; where they are dynamic (`usize`), the function checks them on
//! entry. Dimensions can be computed: `f32[N + 1]`, `f32[(H - 3) / 2 + 1, 2 * W]`. A shape that does not fit is a compile
//! error at the operator, in the words of the program:
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
//! | `a + b`, `a - b`, `a * b`, `a / b`, `a % b`, `rem`, `-a` | elementwise, broadcast as in NumPy; `/` and `%` (`rem(a, b)`) are as in Rust, and an integer by 0 is E6010 |
//! | `floor_divide(a, b)`, `remainder` | elementwise, the quotient rounded down and what it leaves, with the sign of `b`: `//` and `%` of Python; an integer by 0 is E6010 |
//! | `a == b`, `!=`, `<`, `<=`, `>`, `>=`, `is_nan`, `is_finite` | truth values, `bool`; one comparison between two operands |
//! | `a && b`, `a \|\| b`, `!a`, `where(c, a, b)` | of truth values; both `a` and `b` are computed. The gradient of what is not selected is 0, even where its derivative is infinite or NaN |
//! | `a & b`, `a \| b`, `a ^ b`, `!a`, `a << b`, `a >> b`, `not(a)` | integers bit by bit |
//! | `f32(x)` `f64(x)` `u8(x)` `i32(x)` `i64(x)` `bool(x)`, `cast(x, f32)` | conversions as by Rust's `as`; `bool(x)` is `x != 0` |
//! | `a @ b`, `matmul(a, b)`, `dot(a, b)` | matrix products; `matmul` broadcasts leading batch dimensions |
//! | `sum(x, axes = [0], keepdims = true)`, `mean` `max` `min` `prod` | reductions; without `axes` over all |
//! | `argmax(x, axes = [0], keepdims = true)`, `argmin` | where the largest is, an `i64`: the first of equal ones; over several axes counted row by row |
//! | `cumsum(x, axis = 0, reverse = true, exclusive = true)`, `cumprod` `cummax` `cummin` | at each place the sum, product, largest or smallest of what is before it along an axis and of its own, or under `reverse` of what is behind; `exclusive` leaves its own out |
//! | `fold h = h0 for x in xs { … }` | a loop over the leading axis of `xs`: the body gives the next `h`, and the last is the value |
//! | `scan h = h0 for x in xs { (h, y) }`, `for x in xs { y }` | loops that also stack what each step gives, along a new leading axis; over several tensors as `for (x, y) in (xs, ys)`, over integers as `for i in 0..N`, from the last element to the first with `in xs, reverse = true` |
//! | `flip(x, axis = 0)` | the elements along an axis from the last to the first |
//! | `roll(x, -1, axis = 0)` | the elements along an axis moved by that many places, those moved off one end to the other |
//! | `sort(x, axis = -1, descending = true)`, `argsort` | the elements along an axis in order, or their positions, `i64`: equal ones stay as they are, NaN comes last; without `axis` along the last |
//! | `any(x, axes = [0], keepdims = true)`, `all` | whether any element is true, or all are; what is not 0 is true |
//! | `relu` `exp` `log` `sqrt` `tanh` `floor` `ceil` `round` `trunc` | elementwise, on floats; `round` takes the even one of two |
//! | `exp2` `expm1` `log2` `log10` `log1p` `rsqrt` `cbrt` `hypot` `pow` | elementwise, on floats; `hypot(x, y)` is `√(x² + y²)` without overflow |
//! | `erf` `erfc` `erf_inv` `lgamma` `digamma` `trigamma` | elementwise, on floats; the error function, the logarithm of `\|Γ(x)\|` and its derivatives |
//! | `logaddexp` `log1mexp` `erfcx` `log_ndtr` | elementwise, on floats; `log(exp(a) + exp(b))`, `log(1 - exp(-x))`, `exp(x²) erfc(x)` and the logarithm of the normal distribution function, in ranges where these leave theirs |
//! | `sin` `cos` `tan` `asin` `acos` `atan` `atan2` `sinh` `cosh` `asinh` `acosh` `atanh` | elementwise, on floats; angles are in radians |
//! | `neg` `abs` `sign` `maximum` `minimum` `fmax` `fmin` | elementwise, on all numbers; `fmax` and `fmin` pass NaN over |
//! | `copysign(a, b)` | elementwise, on floats; `a` with the sign of `b` |
//! | `reshape(x, [2, -1])`, `transpose(x, [1, 0])`, `x.T`, `x.mT`, `expand_dims`, `squeeze`, `broadcast_to` | arrangement; `x.mT` swaps the last two axes |
//! | `x[0, 1..3, .., -1]`, `x[.., _]`, `slice(…)`, `gather(table, indices)` | parts; `_` is a new axis of extent 1 |
//! | `take_along(x, indices, axis = 1)` | of each place of `indices` the element of `x` there, but along the axis where the index says |
//! | `concat([a, b], axis = 0)`, `stack([a, b], axis = 0)` | tensors one after the other along an axis, or along a new one; any number |
//! | `pad(x, low = [1, 0], high = [1, 2])` | zeros around a tensor, so many before and behind it along each axis |
//! | `conv2d(x, f, strides = [1, 1], padding = same)` | NHWC by HWCF; padding `valid`, `same` or `[[t, b], [l, r]]` |
//! | `iota(N)`, `iota([2, N], axis = 1)` | positions along an axis from 0, of `i64` |
//! | `one_hot(indices, 10, dtype = f32)` | a new last axis with 1 at the place of each index and 0 elsewhere, also where there is no such place |
//! | `zeros([2, 3])`, `ones(…)`, `full([2], 0.5)`, `zeros_like(x)`, `ones_like(x)` | constants |
//! | `extent(x, 0)`, `N` | extents, as numbers, in shapes and as bounds: `x[..N]` |
//! | `grad(f, wrt = w)(…)`, `value_and_grad(f, wrt = (w, b))(…)`, `vjp(f, wrt = w)(…, cotangent)` | derivatives; `value_and_grad` and `#[grad]` of a tuple differentiate its first and pass the others on |
//! | `inspect(x, "h")` | `x`, which is [shown](#found-fast-when-wrong) as the program runs, in the order of its text |
//! | `stop_gradient(x)` | `x`, taken as constant by differentiation; a function with a [derivative of its own](#custom-derivatives) can do more |
//!
//! Every function can be written as a method: `x.sum(axes = [1])`. `axis = 1` stands for `axes = [1]`; negative axes and
//! indices count from the end. A literal takes its element type from what it stands beside, and so does a dimension,
//! `sum(x) / N`, and a function of these, `x / sqrt(N)`; tensors are converted only where it is written. `inf` and `nan` are numbers.
//!
//! # Found fast when wrong
//!
//! `inspect(x, "h")` is `x`, and shows it each time that the program runs: in functions, templates, pullbacks, closures and
//! expressions. By default type, range and elements are printed to the standard error stream; [`inspect::set`] passes them to a callback.
//! Nothing else of the program changes, gradients pass through, and a gradient shows what its function shows once. As a
//! statement, `inspect(x, "h");`, it shows too.
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
//! Compiled with `MIND_CHECK=nan` in the environment, a program that gives NaN that it was not given panics, and names the first
//! value that was NaN, with its file and line. [`gradcheck()`] compares gradients with difference quotients. The page
//! [docs/debugging.md](https://docs.rs/crate/mind-dsl/latest/source/docs/debugging.md) has more.
//!
//! # Templates
//!
//! A function whose parameters leave something open is a template. It is checked and inlined at each call, so it is fused and
//! differentiated with what is around it. Functions, closures and expressions call templates alike:
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
//! | written | is |
//! | --- | --- |
//! | `x: float[.., N]` | a tensor of `float`, `int` or `num`, of a type as `f32`, or of a variable declared as `<T: float>`, to which `cast(i, T)` converts, and of which `one_hot(i, 3, dtype = T)` is; `..` stands for any leading axes |
//! | `<..B, N>`, `x: float[..B, N]` | leading axes, and an extent, that are the same wherever they are written; both stand in lists of shapes too: `reshape(x, [..B, 2, N / 2])` |
//! | `const axis: axis = -1` | an attribute: an `axis`, `axes`, `dim`, `int`, `float` or `bool` that is known where it is called |
//! | `<P: params>`, `p: P` | a struct of tensors, the same wherever `P` is written; in an expression one that is told, `(net: Net)` |
//! | `x` | anything, a tuple or a struct too |
//!
//! The library of the language is made of templates: activations, softmax, norms, attention, cells and losses (`nn::`), numerics
//! (`num::`), log densities (`stats::`), steps of optimisers and schedules (`optim::`). `docs/library.md` describes each with
//! its formula, shapes and stability. `nn::softmax(x)` calls it by path, everywhere; `use nn::softmax;` in a block by name.
//!
//! In an expression a parameter without a type takes a struct of Rust too, of which the template reads fields:
//! `nn::transformer_block(x, self.block, heads = 4)`.
//!
//! What a template writes is a contract: an argument that breaks it is an error at the argument, and so is an axis that a call
//! has not. Names in a template mean what they mean where it stands. A template may not call itself, and updates nothing.
//!
//! A struct that is given for a tensor is taken field by field, and so are results: a step of an optimiser that
//! is written for one tensor updates any struct of parameters. Functions of elements do the same, and `sum(p * p)` is that
//! of all fields.
//!
//! # Optimisers
//!
//! What an optimiser remembers between steps is a struct of the library over the struct that it updates:
//! `optim::Adam<Net>` in the language, [`optim::Adam`]`<Net>` in Rust. `adam_step` and the like take one and give its
//! successor, so the whole step is one program in place:
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
//! `zeros_like` makes one of parameters that are `Clone`. Fields are public, and the whole is [`Parameters`]: it is saved
//! and loaded like a network. It may be a field of a struct, a result, and what a template takes as
//! `state: optim::Adam<P>` beside `<P: params>`. It is read and made like any struct. It is over structs of floats, by name or
//! with dimensions as `optim::Adam<Dense<64, N>>`.
//!
//! In an expression it is told like any struct, and the struct that it is over is imported:
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
//! [`gradcheck`] compares a gradient with difference quotients of the function, of tensors and of structs of them:
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
//! What can fail at run time is an [`Error`] of `try_f` and `f_into`, and a panic of `f`. Whatever else fails around a call,
//! the next call is right:
//!
//! | what fails | what follows |
//! | --- | --- |
//! | a function of yours panics: what an `extern` function calls, an [`Rng`], what `from_fn` or `map` takes | the panic is the caller's; no result and no `&mut` parameter of a function has been written, and what [`Initialiser::fill`] fills has been in part |
//! | a part of a call panics on another thread | all parts end, then the panic is the caller's; of two panics the one of the earlier part |
//! | a thread cannot be started | the threads that there are do the work, at least the caller does; the result is the same to the bit. A Knossos program whose calls nest so deep that it needs another stack returns E6004 |
//! | memory cannot be had | error E6004, before anything is written |
//!
//! Calls may be made from any place: from a function of yours that a call runs, with a workspace and threads of its own; from
//! a destructor, while a panic unwinds or a thread ends; from several threads at once. [`set_threads`] may be called there too.
//! After a `fork` the child starts threads of its own at its first large call.
//!
//! Memory is bounded. A thread keeps one workspace, as large as its calls have needed, and at most 638 KiB for small results;
//! it gives both back when it ends. The process keeps at most 32 MiB for results of more than 32 KiB.
//!
//! # Features
//!
//! `ndarray`: arrays of ndarray as leaves of expressions and as arguments of functions, and conversions between them and
//! [`Tensor`](struct@Tensor), both ways. `docs/ndarray.md` describes it.
//!
//! `knossos`: programs in Knossos, by `include_ks!` and `ks!`.
//!
//! `safetensors`: any struct of parameters, and what optimisers remember, to and from files of that format, by
//! `files::safetensors`; `weights!`, which checks a file against a struct while Rust compiles and makes it part of the program.
//!
//! `npy`: one tensor to and from NumPy's `.npy`, by `files::npy`, and parameters to and from `.npz`, by `files::npz`.
//!
//! `matrixmultiply`: large products of `f32` and `f64` (of at least 32 rows, 8 columns, 8 factors a sum and 32³ multiplications)
//! are computed by the crate of that name. On processors other than x86-64 they are, whether that is asked for or not: no kernel of ours for products has run
//! there, while that crate's users run its kernels. At each product the crate allocates what it packs operands into, and where a
//! fused loop follows, so do we for up to 128 by 512 sums; the process ends where that memory cannot be had. Results have other
//! last bits than by our kernels, the same for any number of threads, and `MIND_SIMD` has no say in them. Convolutions, integers
//! and smaller products stay ours; on those processors they are compiled from plain Rust, without instructions written for one.
//!
//! `serde`: tensors in the formats of serde, as ndarray writes its arrays; what is read is checked.
//!
//! `threads` (default): large loops and products run on several threads, as many as [`set_threads`] or the environment
//! variable `MIND_NUM_THREADS` says, by default as many as the process may use. Results are the same to the bit for any
//! number of threads, and without the feature.
#![forbid(unsafe_code)]

pub use mind_rt::{
    Axis, Const, DType, Differing, Dim, Dims, Element, Elements, ElementsMut, Error, Expr, Float,
    GradientMismatch, Inferred, Initialiser, InsertAxis, Leaf, MAX_RANK, Nested, Numeric, Parameter,
    ParameterMut, Parameters, Ranges, Rank, RemoveAxis, ReverseAxes, Rng, SameShape, Shape, SimdLevel,
    StaticShape, Tensor, TensorRef, TensorView, TensorViewMut, Workspace, Xoshiro256, dim, gradcheck,
    gradcheck_some, inspect, optim, ranks, set_threads, simd_level, threads,
};

#[cfg(any(feature = "safetensors", feature = "npy"))]
pub use mind_files as files;

#[doc(hidden)]
pub use mind_rt::private as __private;

/// What rust-analyzer shows of the functions of the language and of the library, and completes.
#[doc(hidden)]
#[allow(unexpected_cfgs, reason = "rust-analyzer sets it")]
pub mod __editor {
    #[cfg(rust_analyzer)]
    mind_macros::__editor! {}
}

/// Its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../docs/debugging.md")]
mod page_on_debugging {}

/// Its examples are tested with the feature `ndarray`.
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../docs/ndarray.md")]
mod page_on_ndarray {}

/// Rust in which `mind!< … >` may stand: items, statements or an expression.
///
/// Rust's grammar has `()`, `[]` and `{}` around what a macro takes, and no others, so `mind!< x @ w >` cannot stand in a Rust
/// file by itself. In this wrapper it is what `mind!( x @ w )` is, wherever it stands:
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
/// The first `>` ends the block, but for those in brackets, those of `->` and `=>`, and in a block of items that of `fn f<N>`. In
/// the place of an expression the
/// wrapper holds one expression: statements before it go in braces, `angle! {{ let a = …; mind!< a > }}`.
/// `mind!(< … >)` needs no wrapper.
pub use mind_macros::angle;
/// The items of a whole file of Rust, in which `mind!< … >` may stand anywhere: `mind::angle_include!("model.rs");`.
///
/// The path is relative to the Rust file, as that of [`include_str!`]. Best in a module of its own:
/// `mod model { mind::angle_include!("model.rs"); }`. Mistakes have the file's lines and columns: rustc is given a copy with `(` and
/// `)`, in the folder it writes to, and shows its path. What Rust looks for beside a file, `mod parts;` and `include_str!`, it would
/// look for beside that copy: modules without their content are refused in it, as are attributes of the file (`#![…]`).
pub use mind_macros::angle_include;

/// The proc macros themselves. What stands in front of each hands over `$crate`, so that generated code finds this
/// crate under whatever name a manifest gives it.
#[doc(hidden)]
pub mod __macros {
    pub use mind_macros::{include, include_ks, include_mic, ks, linked, mind};
    #[cfg(feature = "safetensors")]
    pub use mind_macros::{weights, weights_linked};
}

/// Tensor programs, compiled while Rust compiles.
///
/// Takes items, `fn f<N>(x: f32[N, 3]) -> f32[N] { … }` and `const H: dim = 64;`, a closure, `|x: f32[2, 3]| relu(x)`, or an
/// expression over Rust variables, `relu(x @ w + b)`. The [crate's documentation](crate) describes the language.
///
/// With `MIND_TIMINGS` set in the environment of the build, each expansion says on standard error how long it took.
#[macro_export]
macro_rules! mind {
    ($($tokens:tt)*) => { $crate::__macros::mind! { [$crate] $($tokens)* } };
}

/// What [`mind!`] makes of the text of a file: `mind::include!("net.mind");`.
///
/// The path is relative to the Rust file, as that of [`include_str!`]. The file holds what `mind!` takes; mistakes in it
/// are reported with its name, line and column, and the crate is compiled anew when it changes. It has at most 16 MiB
/// (E1008).
#[macro_export]
macro_rules! include {
    ($($tokens:tt)*) => { $crate::__macros::include! { [$crate] $($tokens)* } };
}

/// The function that a file of MIC holds: `mind::include_mic!("net.mic");`, or with its gradient,
/// `mind::include_mic!("net.mic", name = net, grad = (w, b));`.
///
/// The function is named after the file's function symbol or, where there is none, the file; its parameters after the
/// file's inputs, with `_` for what Rust's names cannot hold. Comments above the file's first entry are its documentation. It is
/// public, and has all that a function of [`mind!`] has beside it. `grad` names parameters as `#[grad(…)]` does: one
/// alone, several in parentheses, `zero_ok` before one that may be out of reach. Mistakes are reported with the file's
/// name and line, and the crate is compiled anew when the file changes. It has at most 10 MiB (E1008).
#[macro_export]
macro_rules! include_mic {
    ($($tokens:tt)*) => { $crate::__macros::include_mic! { [$crate] $($tokens)* } };
}

/// With the feature `knossos`, the functions of a Knossos program in a file: `mind::include_ks!("gmm.ks");`, or with options,
/// `mind::include_ks!("gmm.ks", precision = f32, export = [objective], grad = [objective]);`.
///
/// Each function that the file defines becomes `f`, which panics where the program fails, and `try_f`, which returns the
/// failure as an [`Error`] with its place in the file; `main` of no argument only where `export` names it. `export` says which
/// functions there are to be, `grad` of which there are to be derivatives: `rev_f(x, y, d_result)` gives the cotangents
/// of all parameters, `fwd_f(x, y, d_x, d_y)` the tangent of the result; `grad = [rev f]` makes the first alone.
/// `bind = [f = path, rev f = path]` says which Rust functions those are that the program declares, and their
/// derivatives. `precision = f32` makes every Float an `f32`.
///
/// A Float is an `f64`, an Integer an `i64`, a tuple a tuple; a `(Tensor n Float)` is a [`Tensor`](struct@Tensor) of `n` dynamic extents, taken
/// as a `&TensorRef`; a `Vec` of anything but numbers is a `Vec`, taken as a slice, and of higher rank a [`Nested`]. A
/// tensor of tuples is the tuple of its members' tensors.
///
/// The path is relative to the Rust file, as that of [`include_str!`]. Mistakes are reported with the file's name and
/// line, all that are independent at once, and the crate is compiled anew when the file changes. It has at most 16 MiB
/// (E1008). `docs/knossos.md` describes the language.
#[macro_export]
macro_rules! include_ks {
    ($($tokens:tt)*) => { $crate::__macros::include_ks! { [$crate] $($tokens)* } };
}

/// What [`include_ks!`] makes of a file, of a program in place, with the feature `knossos`.
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

/// With the feature `safetensors`, a struct of parameters with what a file has, which is checked while Rust compiles and is part
/// of the program: `let net = mind::weights!("net.safetensors", Net);`.
///
/// The path is relative to the Rust file, as that of [`include_str!`]. The struct is one of a [`mind!`] block, named as a Rust
/// path, with its dimensions as numbers, or what an optimiser remembers of one: `Net`, `nets::Dense<64, 10>`,
/// `optim::Adam<Net>`. Where the file does not fit, all differences are told in one error at the struct: what is missing, what
/// has other extents or another element type, and what is in the file beside.
///
/// Names that differ are told, of each that in the file first, and so is that the file may hold more:
/// `weights!("resnet.safetensors", Head, names = [("fc.weight", "w"), ("fc.bias", "b")], allow_unexpected)`.
///
/// The crate is compiled anew when the file changes. A file has at most 16 MiB; a larger one is loaded at run time, by
/// `files::safetensors::load`, which checks the same.
#[cfg(feature = "safetensors")]
#[macro_export]
macro_rules! weights {
    ($($tokens:tt)*) => { $crate::__macros::weights! { [$crate] $($tokens)* } };
}
