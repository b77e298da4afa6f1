//! Knossos programs that call functions of Rust and of `mind!`.

use mind::{Nested, Tensor, mind};

mind! {
    /// The logarithm of 1 + eˣ.
    #[grad(x)]
    pub fn softplus(x: f64) -> f64 {
        log(exp(x) + 1.0)
    }

    /// The squared distance of two vectors, with its derivative by both.
    #[grad(x, y)]
    pub fn distance<N>(x: f64[N], y: f64[N]) -> f64 {
        sum((x - y) * (x - y))
    }

    pub fn normalise<N>(x: f64[N]) -> f64[N] {
        exp(x) / sum(exp(x))
    }

    pub fn normalise_back<N>(x: f64[N], d: f64[N]) -> f64[N] {
        vjp(normalise, wrt = x)(x, d)
    }

    pub fn total<N, M>(x: f32[N, M]) -> f32[M] {
        sum(x, axes = [0])
    }
}

mod by_mind {
    use super::*;

    mind::ks!(
        r#"
(edef softplus Float (Float))
(edef distance Float ((Vec Float) (Vec Float)))
(edef normalise (Vec Float) (Vec Float))
(def objective Float ((v : Vec Float) (w : Vec Float) (a : Float))
  (let (soft (map (lam (x : Float) (softplus (mul a x))) v))
    (add (distance (normalise soft) w) (mul a (sum soft)))))
(def spread Float ((v : Vec Float) (w : Vec Float)) (distance v (ts_scale 2.0 w)))
"#,
        grad = [rev objective, spread],
        bind = [
            softplus = softplus,
            grad softplus = softplus_grad,
            distance = try_distance,
            grad distance = super::distance_grad,
            normalise = normalise,
            rev normalise = self::normalise_back,
        ]
    );
}

/// Truth values are passed to a function of `mind!`, and returned by one.
mod truths {
    mind::mind! {
        #[grad(x)]
        pub fn gated(x: f64, is_on: bool) -> f64 { where(is_on, x * x, -x) }
        pub fn any_above<N>(v: f64[N], limit: f64) -> bool { any(v > limit) }
    }

    mind::ks!(
        r#"
(edef gated Float (Float Bool))
(edef above Bool ((Vec Float) Float))
(def total Float ((v : Vec Float) (limit : Float))
  (sum (map (lam (x : Float) (gated x (above v limit))) v)))
"#,
        grad = [rev total],
        bind = [gated = gated, grad gated = gated_grad, above = any_above]
    );
}

/// Bindings of functions that the prelude has too.
mod over_the_prelude {
    mind::ks!(
        r#"
(edef exp Float Float)
(edef cos Float Float)
(def both Float (x : Float) (add (exp x) (cos x)))
"#,
        grad = [rev both],
        bind = [exp = self::doubled, rev exp = self::doubled_back]
    );

    fn doubled(x: f64) -> f64 {
        2.0 * x
    }

    fn doubled_back(_: f64, d: f64) -> f64 {
        2.0 * d
    }
}

#[test]
fn truth_values_cross_both_ways() {
    let v = vector(&[1.0, -3.0]);
    assert_eq!((truths::total(&v, 0.5), truths::total(&v, 2.0)), (10.0, 2.0));
    assert_eq!(truths::rev_total(&v, 0.5, 1.0).0, vector(&[2.0, -6.0]));
    assert_eq!(truths::rev_total(&v, 2.0, 1.0).0, vector(&[-1.0, -1.0]));
}

#[test]
fn a_binding_wins_over_the_prelude() {
    assert_eq!((over_the_prelude::both(0.0), over_the_prelude::rev_both(0.0, 1.0)), (1.0, 2.0));
}

// The example of docs/knossos.md, word for word.
#[rustfmt::skip]
mod model {
    mind::mind! {
        #[grad(x)]
        pub fn softplus(x: f64) -> f64 { log(exp(x) + 1.0) }
        pub fn softmax<N>(x: f64[N]) -> f64[N] { exp(x) / sum(exp(x)) }
        pub fn softmax_back<N>(x: f64[N], d: f64[N]) -> f64[N] { vjp(softmax, wrt = x)(x, d) }
    }

    mind::ks!(r#"
        (edef softplus Float (Float))
        (edef softmax (Vec Float) (Vec Float))
        (edef power Float (Float Integer))
        (def loss Float (v : Vec Float)
          (sum (map (lam (x : Float) (power (softplus x) 2)) (softmax v))))
    "#, grad = [rev loss], bind = [
        softplus = softplus, grad softplus = softplus_grad,
        softmax = softmax, rev softmax = softmax_back,
        power = self::power, rev power = self::power_back,
    ]);

    fn power(x: f64, n: i64) -> f64 { x.powi(n as i32) }
    fn power_back(x: f64, n: i64, d: f64) -> f64 { d * n as f64 * x.powi(n as i32 - 1) }
}

fn vector(elements: &[f64]) -> Tensor![f64; ?] {
    Tensor::from_slice((elements.len(),), elements).expect("a vector of its elements")
}

/// The central difference quotient of `f` at 0.
fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-5;
    (f(step) - f(-step)) / (2.0 * step)
}

fn moved(v: &[f64], at: usize, by: f64) -> Tensor![f64; ?] {
    let mut v = vector(v);
    v.as_mut_slice()[at] += by;
    v
}

#[test]
fn gradients_go_through_functions_of_mind() {
    let (v, w, a) = ([0.3, -0.7, 1.1], [0.2, 0.5, -0.1], 0.8);
    let (dv, dw, da) = by_mind::rev_objective(&vector(&v), &vector(&w), a, 2.0);
    for at in 0..3 {
        let by_v = slope(|step| 2.0 * by_mind::objective(&moved(&v, at, step), &vector(&w), a));
        let by_w = slope(|step| 2.0 * by_mind::objective(&vector(&v), &moved(&w, at, step), a));
        assert!((dv[[at]] - by_v).abs() < 1e-8, "{at}: {} is not {by_v}", dv[[at]]);
        assert!((dw[[at]] - by_w).abs() < 1e-8, "{at}: {} is not {by_w}", dw[[at]]);
    }
    let by_a = slope(|step| 2.0 * by_mind::objective(&vector(&v), &vector(&w), a + step));
    assert!((da - by_a).abs() < 1e-8, "{da} is not {by_a}");
}

#[test]
fn the_forward_derivative_of_a_number_follows_from_the_reverse_one() {
    let (v, w) = (vector(&[1.0, 2.0]), vector(&[0.5, -1.0]));
    let (dv, dw) = by_mind::rev_spread(&v, &w, 1.0);
    let (along_v, along_w) = (vector(&[0.3, -0.2]), vector(&[1.0, 0.7]));
    let forward = by_mind::fwd_spread(&v, &w, &along_v, &along_w);
    let dot = |x: &Tensor![f64; ?], y: &Tensor![f64; ?]| -> f64 {
        x.iter().zip(y.iter()).map(|(x, y)| x * y).sum()
    };
    assert!((forward - dot(&dv, &along_v) - dot(&dw, &along_w)).abs() < 1e-12);
}

#[test]
fn errors_of_a_bound_function_have_the_place_of_the_call() {
    let error = by_mind::try_spread(&vector(&[1.0]), &vector(&[1.0, 2.0])).expect_err("1 is not 2");
    assert_eq!(error.code(), "E6010");
    let message = error.to_string();
    assert!(message.contains("tests/macros/knossos_bind.rs:42:53: `distance`: E6009"), "{message}");
}

/// Handwritten functions with parameters and results of every type.
mod by_hand {
    use super::Nested;
    use mind::{Tensor, TensorRef};

    mind::ks!(
        r#"
(edef power Float (Float Integer))
(edef weigh (Tuple Float (Vec Integer)) ((Vec Integer) (Tuple Float Bool) String))
(edef pairs (Vec (Tuple Float Integer)) Integer)
(edef rows (Vec (Vec Float)) (Vec (Vec Float)))
(edef flags (Tensor 2 Bool) (Tensor 2 Bool))
(edef columns (Vec Float) (Tensor 2 Float))
(edef answer Integer ())
(edef sin2 Float Float)
(edef scale Float ((Vec Float) (Vec Integer)))
(edef [rev scale] (Tuple (Vec Float) (Vec (Tuple))) ((Tuple (Vec Float) (Vec Integer)) Float))
(def call_weigh (Tuple Float (Vec Integer)) ((v : Vec Integer) (t : Tuple Float Bool) (s : String)) (weigh v t s))
(def call_pairs (Vec (Tuple Float Integer)) (n : Integer) (pairs (add n (sub (answer) 42))))
(def call_rows (Vec (Vec Float)) (v : Vec (Vec Float)) (rows v))
(def call_flags (Tensor 2 Bool) (t : Tensor 2 Bool) (flags t))
(def call_columns (Vec Float) (t : Tensor 2 Float) (columns t))
(def cube Float ((x : Float) (k : Integer)) (mul 2.0 (power x (add k 1))))
(def sines Float (v : Vec Float) (sum (map (lam (x : Float) (sin2 x)) v)))
(def scaled Float ((v : Vec Float) (n : Vec Integer)) (mul 2.0 (scale v n)))
"#,
        precision = f32,
        grad = [cube, rev sines, rev scaled],
        bind = [
            power = self::power,
            rev power = power_back,
            fwd power = power_along,
            weigh = weigh,
            pairs = pairs,
            rows = rows,
            flags = flags,
            columns = crate::knossos_bind::total,
            answer = answer,
            sin2 = f32::sin,
            rev sin2 = sin_back::<1>,
            scale = scale,
            rev scale = scale_back,
        ]
    );

    fn power(x: f32, n: i64) -> Result<f32, &'static str> {
        if n < 0 { Err("the exponent is negative") } else { Ok(x.powi(n as i32)) }
    }

    fn power_back(x: f32, n: i64, d: f32) -> f32 {
        d * n as f32 * x.powi(n as i32 - 1)
    }

    fn power_along(x: f32, n: i64, dx: f32) -> f32 {
        power_back(x, n, dx)
    }

    fn weigh(
        v: &TensorRef<i64, (usize,)>,
        (x, negated): (f32, bool),
        unit: &str,
    ) -> (f32, Tensor<i64, (usize,)>) {
        let sign = if negated { -1.0 } else { 1.0 };
        (sign * x * unit.len() as f32, v.to_owned())
    }

    fn pairs(n: i64) -> (Tensor<f32, (usize,)>, Tensor<i64, (usize,)>) {
        // For n = 3 the second vector has one element too many.
        let count = if n == 3 { 4 } else { n as usize };
        let floats = Tensor::from_vec((n as usize,), vec![0.5; n as usize]).expect("n elements");
        (floats, Tensor::from_vec((count,), vec![n; count]).expect("as many elements"))
    }

    fn rows(rows: &[Tensor<f32, (usize,)>]) -> Vec<Tensor<f32, (usize,)>> {
        rows.iter().rev().cloned().collect()
    }

    fn flags(flags: &Nested<bool, 2>) -> Nested<bool, 2> {
        let turned = flags.elements().iter().map(|flag| !flag).collect();
        Nested::new(flags.size(), turned).expect("as many elements")
    }

    fn answer() -> i64 {
        42
    }

    fn sin_back<const SIGN: i8>(x: f32, d: f32) -> f32 {
        f32::from(SIGN) * d * x.cos()
    }

    fn scale(v: &TensorRef<f32, (usize,)>, n: &TensorRef<i64, (usize,)>) -> f32 {
        v.iter().zip(n.iter()).map(|(v, n)| v * *n as f32).sum()
    }

    fn scale_back(
        v: &TensorRef<f32, (usize,)>,
        n: &TensorRef<i64, (usize,)>,
        d: f32,
    ) -> Tensor<f32, (usize,)> {
        let cotangent = n.iter().map(|n| d * *n as f32).collect();
        Tensor::from_vec((v.as_slice().len(),), cotangent).expect("an element for each")
    }
}

#[test]
fn values_of_every_type_go_to_rust_and_back() {
    let v = Tensor::from_vec((2,), vec![1_i64, 2]).expect("two elements");
    let (x, same) = by_hand::call_weigh(&v, (1.5, true), "unit");
    assert_eq!((x, same.as_slice()), (-6.0, &[1, 2][..]));
    let (floats, integers) = by_hand::call_pairs(2);
    assert_eq!((floats.as_slice(), integers.as_slice()), (&[0.5, 0.5][..], &[2, 2][..]));
    let rows = [vec![1.0_f32], vec![]].map(|row| Tensor::from_vec((row.len(),), row).expect("its elements"));
    let turned = by_hand::call_rows(&rows);
    assert_eq!(turned.iter().map(|row| row.as_slice().len()).collect::<Vec<_>>(), [0, 1]);
    let flags = Nested::new([1, 2], vec![true, false]).expect("two elements");
    let expected = Nested::new([1, 2], vec![false, true]).expect("two elements");
    assert_eq!(by_hand::call_flags(&flags), expected);
    let t = Tensor::from_vec((2, 3), vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("six elements");
    assert_eq!(by_hand::call_columns(&t).as_slice(), [5.0, 7.0, 9.0]);
}

#[test]
fn derivatives_by_hand_are_used() {
    assert_eq!(by_hand::cube(2.0, 2), 16.0);
    assert_eq!(by_hand::rev_cube(2.0, 2, 10.0), (240.0, ()));
    assert_eq!(by_hand::fwd_cube(2.0, 2, 0.5, ()), 12.0);
    let v = Tensor::from_vec((2,), vec![0.0_f32, 1.0]).expect("two elements");
    assert_eq!(by_hand::rev_sines(&v, 2.0).as_slice(), [2.0, 2.0 * 1.0_f32.cos()]);
    let n = Tensor::from_vec((2,), vec![3_i64, 4]).expect("two elements");
    let (dv, units) = by_hand::rev_scaled(&v, &n, 1.0);
    assert_eq!((dv.as_slice(), units), (&[6.0, 8.0][..], vec![(), ()]));
}

#[test]
fn what_a_bound_function_refuses_is_an_error() {
    let error = by_hand::try_cube(2.0, -3).expect_err("-2 is negative").to_string();
    assert!(error.contains("`power`: the exponent is negative"), "{error}");
    let error = by_hand::try_call_pairs(3).expect_err("3 is not 4").to_string();
    assert!(error.contains("the members of a tensor of tuples differ in size"), "{error}");
}

#[test]
fn the_example_of_the_documentation_is_the_one_tested() {
    let page = include_str!("../../docs/knossos.md");
    let (_, example) = page.split_once("```rust\nmod model {").expect("the page has an example of `bind`");
    let (example, _) = example.split_once("\n```").expect("it ends");
    assert!(include_str!("knossos_bind.rs").contains(example), "the example above is another:\n{example}");
    let v = [0.3, -0.7, 1.1];
    let dv = model::rev_loss(&vector(&v), 1.0);
    for at in 0..3 {
        let by_v = slope(|step| model::loss(&moved(&v, at, step)));
        assert!((dv[[at]] - by_v).abs() < 1e-8, "{at}: {} is not {by_v}", dv[[at]]);
    }
}
