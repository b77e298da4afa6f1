//! Functions of `mind!` that call functions of Knossos programs, and their gradients.

use mind::{Tensor, Workspace, mind};

mod cells {
    mind::ks!(
        r#"
; A leaky step: what is above the threshold is weighed by the other vector.
(def cell (Vec Float) ((x : Vec Float) (h : Vec Float) (leak : Float))
  (build (size x) (lam (i : Integer)
    (let ((a (index i x)) (b (index i h)))
      (if (gt a 0.0) (mul a b) (mul leak (sin a)))))))

; The smallest of positive numbers, with a check.
(def least Float (v : Vec Float)
  (let (m (neg (max (map (lam (x : Float) (neg x)) v))))
    (let (u (assert (gt m 0.0) m)) u)))

(def pick Float ((v : Vec Float) (i : Integer)) (index i v))

(def chosen (Vec Float) ((v : Vec Float) (flag : Bool))
  (if flag (map (lam (x : Float) (mul x x)) v) v))

(def halves (Vec Float) (v : Vec Float) (build (div (size v) 2) (lam (i : Integer) (index i v))))

(def norms (Vec Float) (t : Tensor 2 Float)
  (let ((m n) (size t))
    (build m (lam (i : Integer)
      (sqrt (sumbuild n (lam (j : Integer)
        (let (x (index (tuple i j) t)) (mul x x)))))))))
"#,
        grad = [
            rev cell, rev rev cell, rev rev rev cell, rev least, rev pick, rev rev pick, rev chosen, rev rev chosen, rev halves, rev norms,
            rev rev norms
        ]
    );
}

mind! {
    extern fn cells::cell(x: f64[4], h: f64[4], leak: f64) -> f64[4];
    extern fn cells::least(v: f64[4]) -> f64;
    extern fn cells::pick(v: f64[4], i: i64) -> f64;
    extern fn cells::chosen(v: f64[4], flag: bool) -> f64[4];
    extern fn cells::halves(v: f64[4]) -> f64[4];
    extern fn cells::norms<M, N>(t: f64[M, N]) -> f64[M];

    /// Two calls, with ordinary operations before, between and after them.
    #[grad(x, h, w, leak)]
    pub fn loss(x: f64[4], h: f64[4], w: f64[4, 4], leak: f64) -> f64 {
        let first = cell(x @ w + 0.1, exp(h), leak * 2.0);
        let second = cell(first * 2.0, relu(h), leak);
        sum((second + first) * x) + 0.5 * sum(first)
    }

    pub fn forward(x: f64[4], h: f64[4], leak: f64) -> f64[4] {
        cell(x, h, leak)
    }

    #[grad(v)]
    pub fn share(v: f64[4]) -> f64 {
        least(v) / sum(v)
    }

    #[grad(v)]
    pub fn one(v: f64[4], i: i64) -> f64 {
        pick(v * v, i)
    }

    /// Passes a computed truth value to the Knossos program.
    #[grad(v)]
    pub fn squares_if_large(v: f64[4], least: f64) -> f64 {
        sum(chosen(2.0 * v, v[0] > least && any(v < 0.0)) * v)
    }

    #[grad(v)]
    pub fn slope_if_large(v: f64[4], least: f64) -> f64 {
        sum(grad(squares_if_large, wrt = v)(v, least))
    }

    pub fn wrong(v: f64[4]) -> f64[4] {
        halves(v) + 1.0
    }

    #[grad(t)]
    pub fn lengths<M, N>(t: f64[M, N], w: f64[M]) -> f64 {
        norms(2.0 * t) @ w
    }

    /// Second derivatives by every input of the first derivatives.
    #[grad(x, h, w, leak)]
    pub fn steepness(x: f64[4], h: f64[4], w: f64[4, 4], leak: f64) -> f64 {
        let (dx, dh, dw, d_leak) = grad(loss, wrt = (x, h, w, leak))(x, h, w, leak);
        sum(dx * dx) + sum(dh * x) + sum(dw * dw) + d_leak * d_leak
    }

    /// Third derivatives.
    #[grad(x, leak)]
    pub fn bend(x: f64[4], h: f64[4], leak: f64) -> f64 {
        let (dx, d_leak) = grad(slope_of_cells, wrt = (x, leak))(x, h, leak);
        sum(dx * h) + d_leak * d_leak
    }

    fn slope_of_cells(x: f64[4], h: f64[4], leak: f64) -> f64 {
        let (dx, d_leak) = grad(cells_of, wrt = (x, leak))(x, h, leak);
        sum(dx * dx) + d_leak
    }

    fn cells_of(x: f64[4], h: f64[4], leak: f64) -> f64 {
        sum(cell(x, h, leak) * x)
    }

    fn gradient_of_cells(x: f64[4], h: f64[4], leak: f64) -> f64[4] {
        grad(cells_of, wrt = x)(x, h, leak)
    }

    /// The tangent of the result of a Knossos function, and the same by its gradient.
    pub fn pushed(x: f64[4], h: f64[4], leak: f64, dx: f64[4], d_leak: f64) -> (f64, f64, f64) {
        let (value, tangent) = jvp(cells_of, wrt = (x, leak))(x, h, leak, dx, d_leak);
        let (gx, g_leak) = grad(cells_of, wrt = (x, leak))(x, h, leak);
        (value, tangent, gx @ dx + g_leak * d_leak)
    }

    /// Forward over reverse: the derivative of the gradient along `dx`.
    pub fn bent_along(x: f64[4], h: f64[4], leak: f64, dx: f64[4]) -> (f64[4], f64) {
        (hvp(cells_of, wrt = x)(x, h, leak, dx), slope_of_cells(x, h, leak))
    }

    #[grad(v)]
    pub fn one_slope(v: f64[4], i: i64) -> f64 {
        sum(grad(one, wrt = v)(v, i))
    }

    #[grad(t)]
    pub fn steepness_of_lengths<M, N>(t: f64[M, N], w: f64[M]) -> f64 {
        let dt = grad(lengths, wrt = t)(t, w);
        sum(dt * dt * t)
    }

    /// An update in place, which fails if `least` fails.
    pub fn step(v: &mut f64[4], rate: f64) -> f64 {
        let (l, dv) = value_and_grad(share, wrt = v)(v);
        v += rate * dv;
        l
    }

    pub fn pair(v: f64[4], w: f64[4]) -> (f64[4], f64) {
        (cell(v, v, 0.5), least(w))
    }

    /// Updates the caller's `v`, but only after the call that may fail.
    pub fn both(v: &mut f64[4], w: f64[4]) -> f64 {
        let old = sum(v * v);
        v += 1.0;
        old + least(w)
    }
}

// The example of docs/knossos.md, word for word.
#[rustfmt::skip]
mod recurrent {
    mind::ks!(r#"
        (def cell (Vec Float) ((x : Vec Float) (h : Vec Float))
          (build (size x) (lam (i : Integer)
            (let ((a (index i x)) (b (index i h)))
              (if (gt a b) (tanh a) (mul 0.5 b))))))
    "#, precision = f32, grad = [rev cell]);

    mind::mind! {
        extern fn cell(x: f32[4], h: f32[4]) -> f32[4];

        #[grad(w)]
        pub fn energy(x: f32[4], h: f32[4], w: f32[4, 4]) -> f32 {
            let next = cell(x @ w, h);
            sum(next * next)
        }
    }
}

type Vector = Tensor![f64; 4];

fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-6;
    (f(step) - f(-step)) / (2.0 * step)
}

fn moved<S: mind::Shape>(x: &Tensor<f64, S>, at: usize, by: f64) -> Tensor<f64, S> {
    let mut x = x.clone();
    x.as_mut_slice()[at] += by;
    x
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-7 * expected.abs().max(1.0), "{found} is not {expected}");
}

#[test]
fn truth_values_are_handed_to_programs() {
    let v = Tensor::from([3.0, -1.0, 0.5, 2.0]);
    // The loss is the sum of 4 v³ if the truth value is true, else of 2 v².
    assert_eq!(squares_if_large(&v, 2.0), 4.0 * (27.0 - 1.0 + 0.125 + 8.0));
    assert_eq!(squares_if_large(&v, 4.0), 2.0 * (9.0 + 1.0 + 0.25 + 4.0));
    assert_eq!(squares_if_large_grad(&v, 2.0).1, Tensor::from([108.0, 12.0, 3.0, 48.0]));
    assert_eq!(squares_if_large_grad(&v, 4.0).1, Tensor::from([12.0, -4.0, 2.0, 8.0]));
    assert_eq!(slope_if_large_grad(&v, 2.0).1, Tensor::from([72.0, -24.0, 12.0, 48.0]));
    assert_eq!(slope_if_large_grad(&v, 4.0).1, Tensor::from([4.0; 4]));
}

#[test]
fn a_call_gives_what_the_function_gives() {
    let (x, h) = (Vector::from([0.5, -1.0, 2.0, -0.25]), Vector::from([2.0, 3.0, 4.0, 5.0]));
    let expected = [1.0, 0.1 * (-1.0_f64).sin(), 8.0, 0.1 * (-0.25_f64).sin()];
    assert_eq!(forward(&x, &h, 0.1).as_slice(), expected);
    let mut out = Vector::zeros();
    forward_into(&x, &h, 0.1, &mut out, &mut Workspace::new()).expect("nothing fails");
    assert_eq!(out.as_slice(), expected);
}

#[test]
fn gradients_through_calls_agree_with_differences() {
    let (x, h) = (Vector::from([0.5, -1.0, 0.7, -0.25]), Vector::from([0.2, 0.3, -0.4, 0.5]));
    let w = Tensor::<f64, _>::from([
        [0.3, -0.1, 0.2, 0.5],
        [0.7, 0.4, -0.6, 0.1],
        [-0.2, 0.9, 0.3, -0.8],
        [0.1, 0.2, 0.4, -0.3],
    ]);
    let leak = 0.3;
    let (value, (dx, dh, dw, d_leak)) = loss_grad(&x, &h, &w, leak);
    assert_eq!(value, loss(&x, &h, &w, leak));
    for at in 0..4 {
        close(dx.as_slice()[at], slope(|step| loss(&moved(&x, at, step), &h, &w, leak)));
        close(dh.as_slice()[at], slope(|step| loss(&x, &moved(&h, at, step), &w, leak)));
    }
    for at in 0..16 {
        close(dw.as_slice()[at], slope(|step| loss(&x, &h, &moved(&w, at, step), leak)));
    }
    close(d_leak, slope(|step| loss(&x, &h, &w, leak + step)));
}

#[test]
fn numbers_and_integers_go_in_and_out() {
    let v = Vector::from([2.0, 0.5, 3.0, 1.0]);
    let (value, dv) = share_grad(&v);
    assert_eq!(value, 0.5 / 6.5);
    for at in 0..4 {
        close(dv.as_slice()[at], slope(|step| share(&moved(&v, at, step))));
    }
    let (value, dv) = one_grad(&v, 2);
    assert_eq!((value, dv.as_slice()), (9.0, &[0.0, 0.0, 6.0, 0.0][..]));
}

#[test]
fn extents_may_be_symbols() {
    let t = Tensor::<f64, _>::from([[3.0, 4.0], [5.0, 12.0], [8.0, 15.0]]);
    let w = Tensor::<f64, _>::from([1.0, 10.0, 100.0]);
    let (value, dt) = lengths_grad(&t, &w);
    close(value, 2.0 * (5.0 + 130.0 + 1700.0));
    for at in 0..6 {
        close(dt.as_slice()[at], slope(|step| lengths(&moved(&t, at, step), &w)));
    }
}

#[test]
fn second_and_third_derivatives_agree_with_differences() {
    let (x, h) = (Vector::from([0.5, -1.0, 0.7, -0.25]), Vector::from([0.2, 0.3, -0.4, 0.5]));
    let w = Tensor::<f64, _>::from_fn(|[row, column]| ((3 * row + 5 * column) % 7) as f64 / 7.0 - 0.4);
    let leak = 0.3;
    let (value, (dx, dh, dw, d_leak)) = steepness_grad(&x, &h, &w, leak);
    assert_eq!(value, steepness(&x, &h, &w, leak));
    for at in 0..4 {
        close(dx.as_slice()[at], slope(|step| steepness(&moved(&x, at, step), &h, &w, leak)));
        close(dh.as_slice()[at], slope(|step| steepness(&x, &moved(&h, at, step), &w, leak)));
    }
    for at in 0..16 {
        close(dw.as_slice()[at], slope(|step| steepness(&x, &h, &moved(&w, at, step), leak)));
    }
    close(d_leak, slope(|step| steepness(&x, &h, &w, leak + step)));

    let (_, (dx, d_leak)) = bend_grad(&x, &h, leak);
    for at in 0..4 {
        close(dx.as_slice()[at], slope(|step| bend(&moved(&x, at, step), &h, leak)));
    }
    close(d_leak, slope(|step| bend(&x, &h, leak + step)));
}

#[test]
fn second_derivatives_have_integers_and_symbols() {
    let v = Vector::from([2.0, 0.5, 3.0, 1.0]);
    let (value, dv) = one_slope_grad(&v, 2);
    assert_eq!((value, dv.as_slice()), (6.0, &[0.0, 0.0, 2.0, 0.0][..]));

    let t = Tensor::<f64, _>::from([[3.0, 4.0], [5.0, 12.0], [8.0, 15.0]]);
    let w = Tensor::<f64, _>::from([1.0, -0.5, 0.25]);
    let (_, dt) = steepness_of_lengths_grad(&t, &w);
    for at in 0..6 {
        close(dt.as_slice()[at], slope(|step| steepness_of_lengths(&moved(&t, at, step), &w)));
    }
}

#[test]
fn what_fails_there_is_an_error_here() {
    let error = try_share(&Vector::from([1.0, -1.0, 2.0, 3.0])).expect_err("-1 is not positive");
    assert_eq!(error.code(), "E6010");
    assert!(error.to_string().contains("tests/macros/extern_ks.rs:17:13: the assertion failed"), "{error}");
    let error = try_one(&Vector::zeros(), 4).expect_err("4 is out of range");
    assert_eq!(error.code(), "E6001");
    let error = try_wrong(&Vector::zeros()).expect_err("2 is not 4");
    assert!(
        error.to_string().contains("`cells::halves`: parameter `result`: dimension 0 is 2, needed 4"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "the assertion failed")]
fn the_plain_form_panics_with_the_message() {
    share(&Vector::from([1.0, -1.0, 2.0, 3.0]));
}

#[test]
fn nothing_that_the_caller_sees_is_written_where_a_call_fails() {
    let mut v = Vector::from([1.0, 2.0, 3.0, 4.0]);
    let before = v.clone();
    try_both(&mut v, &Vector::from([1.0, 0.0, 1.0, 1.0])).expect_err("0 is not positive");
    assert_eq!(v, before);
    assert_eq!(both(&mut v, &Vector::from([1.0, 0.5, 1.0, 1.0])), 30.5);
    assert_eq!(v.as_slice(), [2.0, 3.0, 4.0, 5.0]);
    let mut v = Vector::from([1.0, -2.0, 3.0, 4.0]);
    let before = v.clone();
    try_step(&mut v, 0.1).expect_err("-2 is not positive");
    assert_eq!(v, before);
}

#[test]
fn no_result_is_written_where_another_call_fails() {
    let v = Vector::from([1.0, 2.0, 3.0, 4.0]);
    let (mut squares, mut least) = (Vector::zeros(), 0.0);
    let mut workspace = Workspace::with_bytes(pair::PEAK_BYTES);
    let mut into = |w: [f64; 4]| {
        let failed = pair_into(&v, &Vector::from(w), (&mut squares, &mut least), &mut workspace);
        (failed.is_err(), squares.clone(), least)
    };
    assert_eq!(into([1.0, 0.0, 1.0, 1.0]), (true, Vector::zeros(), 0.0));
    assert_eq!(into([1.0, 0.5, 1.0, 1.0]), (false, Vector::from([1.0, 4.0, 9.0, 16.0]), 0.5));
}

#[test]
fn a_step_in_place_goes_up() {
    let mut v = Vector::from([1.0, 2.0, 3.0, 4.0]);
    let first = step(&mut v, 0.5);
    assert!(share(&v) > first);
}

#[test]
fn the_texts_have_the_call() {
    assert!(forward::CORE_IR.contains("Extern (%0, %1, %2) {function=\"cells::cell\", shape=[4]} : f64[4]"));
    assert!(forward::PLAN.contains("cells::cell("), "{}", forward::PLAN);
    assert!(loss_grad::CORE_IR.contains("ExternGrad ("));
    assert!(bend_grad::CORE_IR.contains("{function=\"cells::cell\", order=3}"));
    assert!(bend_grad::PLAN.contains("<- derivative of derivative of derivative of cells::cell("));
}

#[test]
fn the_example_of_the_documentation_is_the_one_tested() {
    let page = include_str!("../../docs/knossos.md");
    let (_, example) =
        page.split_once("```rust\nmod recurrent {").expect("the page has an example of `extern`");
    let (example, _) = example.split_once("\n```").expect("it ends");
    assert!(include_str!("extern_ks.rs").contains(example), "the example above is another:\n{example}");
    let (x, h) = (Tensor::from([0.5_f32, -1.0, 0.7, -0.25]), Tensor::from([0.2_f32, 0.3, -0.4, 0.5]));
    let w = Tensor::<f32, _>::from_fn(|[row, column]| (row as f32 - column as f32) / 4.0);
    let (_, dw) = recurrent::energy_grad(&x, &h, &w);
    for at in 0..16 {
        let energy = |by: f32| {
            let mut w = w.clone();
            w.as_mut_slice()[at] += by;
            recurrent::energy(&x, &h, &w)
        };
        let expected = (energy(1e-2) - energy(-1e-2)) / 2e-2;
        assert!((dw.as_slice()[at] - expected).abs() < 1e-2, "{} is not {expected}", dw.as_slice()[at]);
    }
}

#[test]
fn tangents_pass_through_knossos_functions() {
    let (x, h) = (Tensor::from([0.5, -0.3, 0.8, -1.2]), Tensor::from([0.2, 0.4, -0.6, 0.9]));
    let dx = Tensor::from([1.0, -0.5, 0.25, 2.0]);
    let (value, tangent, by_gradient) = pushed(&x, &h, 0.3, &dx, 0.7);
    assert_eq!(value, cells_of(&x, &h, 0.3));
    assert!((tangent - by_gradient).abs() < 1e-12, "{tangent}, by the gradient {by_gradient}");
    assert!(tangent.abs() > 0.05, "{tangent}");
    let (along, _) = bent_along(&x, &h, 0.3, &dx);
    let step = 1e-5;
    let moved = |sign: f64| {
        let x: Vec<f64> =
            x.as_slice().iter().zip(dx.as_slice()).map(|(x, dx)| x + sign * step * dx).collect();
        let x = Tensor::from_vec((mind::Const::<4>,), x).unwrap();
        gradient_of_cells(&x, &h, 0.3).as_slice().to_vec()
    };
    let (after, before) = (moved(1.0), moved(-1.0));
    for at in 0..4 {
        let difference = (after[at] - before[at]) / (2.0 * step);
        assert!((along.as_slice()[at] - difference).abs() < 1e-7, "{at}: {along:?}, not {difference}");
    }
}
