//! The cases in ndarray as its users write them: products by `dot`, `mapv` and `Zip`, gradients by hand.

use ndarray::{Array, Array1, Array2, Array4, Axis, Dimension, Zip, s};
use peers::program::program;
use peers::{Case, Outputs, Program};

const RATE: f32 = 0.01;
const EPSILON: f32 = 1e-5;

/// The program of a case, if the table has one.
pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
    let prepared = match (case.workload.as_str(), case.extents.as_slice()) {
        ("null", _) => program(vector(case, "x", 1), |x| &*x + 1.0, |_, out| vec![("out", flat(&out))]),
        ("layer", &[b, i, o]) => program(
            (matrix(case, "x", b, i), matrix(case, "w", i, o), vector(case, "b", o)),
            |(x, w, b)| relu(x.dot(w) + &*b),
            |_, out| vec![("out", flat(&out))],
        ),
        ("mlp_fwd" | "mlp_grad" | "mlp_step", &[b, i, h, o]) => {
            let (x, p) = (matrix(case, "x", b, i), Network::new(case, [i, h, o]));
            let y = || matrix(case, "y", b, o);
            match case.workload.as_str() {
                "mlp_fwd" => program((x, p), |(x, p)| p.forward(x).1, |_, out| vec![("out", flat(&out))]),
                "mlp_grad" => program(
                    (x, y(), p),
                    |(x, y, p)| p.gradient(x, y),
                    |_, (loss, g)| g.outputs(loss, ["gw1", "gb1", "gw2", "gb2"]),
                ),
                _ => program(
                    (x, y(), p),
                    |(x, y, p)| p.step(x, y),
                    |(_, _, p), loss| p.outputs(loss, ["new_w1", "new_b1", "new_w2", "new_b2"]),
                ),
            }
        }
        ("chain", &[n]) => program(
            (vector(case, "x", n), vector(case, "y", n)),
            |(x, y)| {
                let t = (-(&*x * &*y + &*x)).mapv_into(f32::exp);
                (t * &*x - &*y * &*y).sum() / x.len() as f32
            },
            |_, out| vec![("out", vec![out])],
        ),
        ("chain_grad", &[n]) => program(
            (vector(case, "x", n), vector(case, "y", n)),
            |(x, y)| chain_gradient(x, y),
            |_, (out, gx, gy)| vec![("out", vec![out]), ("gx", flat(&gx)), ("gy", flat(&gy))],
        ),
        ("softmax_xent", &[b, c]) => program(
            (matrix(case, "z", b, c), matrix(case, "t", b, c)),
            |(z, t)| entropy_gradient(z, t),
            |_, (loss, gz)| vec![("loss", vec![loss]), ("gz", flat(&gz))],
        ),
        ("conv_fwd" | "conv_grad", &[b, h, w, i, o, k]) => {
            let x = Array4::from_shape_vec((b, h, w, i), case.input("x", b * h * w * i))
                .expect("the length is right");
            let f = matrix(case, "k", k * k * i, o);
            if case.workload == "conv_fwd" {
                program((x, f), move |(x, f)| convolution(x, f, k).1, |_, out| vec![("out", flat(&out))])
            } else {
                let g = matrix(case, "g", b * (h - k + 1) * (w - k + 1), o);
                program(
                    (x, f, g),
                    move |(x, f, g)| convolution_pullback(x, f, g, k),
                    |_, (gx, gf)| vec![("gx", flat(&gx)), ("gk", flat(&gf))],
                )
            }
        }
        ("layernorm", &[n, m]) => {
            program(matrix(case, "x", n, m), |x| normalised(x).0, |_, out| vec![("out", flat(&out))])
        }
        ("layernorm_grad", &[n, m]) => program(
            (matrix(case, "x", n, m), matrix(case, "g", n, m)),
            |(x, g)| {
                let (y, inverse) = normalised(x);
                let mean = row_mean(g);
                let along = row_mean(&(&*g * &y));
                (&*g - &mean - y * &along) * &inverse
            },
            |_, gx| vec![("gx", flat(&gx))],
        ),
        _ => return None,
    };
    Some(prepared)
}

fn vector(case: &Case, name: &str, len: usize) -> Array1<f32> {
    Array1::from_vec(case.input(name, len))
}

fn matrix(case: &Case, name: &str, rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_vec((rows, columns), case.input(name, rows * columns)).expect("the length is right")
}

fn flat<D: Dimension>(array: &Array<f32, D>) -> Vec<f32> {
    array.iter().copied().collect()
}

fn relu(mut z: Array2<f32>) -> Array2<f32> {
    z.mapv_inplace(|z| z.max(0.0));
    z
}

/// Keeps `g` where the result of `relu` is positive, and sets it to 0 elsewhere.
fn relu_pullback(g: &mut Array2<f32>, relu: &Array2<f32>) {
    Zip::from(g).and(relu).for_each(|g, &y| *g = if y > 0.0 { *g } else { 0.0 });
}

struct Network {
    w1: Array2<f32>,
    b1: Array1<f32>,
    w2: Array2<f32>,
    b2: Array1<f32>,
}

impl Network {
    fn new(case: &Case, [i, h, o]: [usize; 3]) -> Self {
        Self {
            w1: matrix(case, "w1", i, h),
            b1: vector(case, "b1", h),
            w2: matrix(case, "w2", h, o),
            b2: vector(case, "b2", o),
        }
    }

    /// Returns the hidden layer and the result.
    fn forward(&self, x: &Array2<f32>) -> (Array2<f32>, Array2<f32>) {
        let h = relu(x.dot(&self.w1) + &self.b1);
        let o = h.dot(&self.w2) + &self.b2;
        (h, o)
    }

    fn gradient(&self, x: &Array2<f32>, y: &Array2<f32>) -> (f32, Self) {
        let (h, o) = self.forward(x);
        let e = o - y;
        let n = e.len() as f32;
        let loss = e.mapv(|e| e * e).sum() / n;
        let go = e * (2.0 / n);
        let mut gz = go.dot(&self.w2.t());
        relu_pullback(&mut gz, &h);
        let gradient = Self {
            w1: x.t().dot(&gz),
            b1: gz.sum_axis(Axis(0)),
            w2: h.t().dot(&go),
            b2: go.sum_axis(Axis(0)),
        };
        (loss, gradient)
    }

    fn step(&mut self, x: &Array2<f32>, y: &Array2<f32>) -> f32 {
        let (loss, g) = self.gradient(x, y);
        self.w1.scaled_add(-RATE, &g.w1);
        self.b1.scaled_add(-RATE, &g.b1);
        self.w2.scaled_add(-RATE, &g.w2);
        self.b2.scaled_add(-RATE, &g.b2);
        loss
    }

    fn outputs(&self, loss: f32, [w1, b1, w2, b2]: [&'static str; 4]) -> Outputs {
        vec![
            ("loss", vec![loss]),
            (w1, flat(&self.w1)),
            (b1, flat(&self.b1)),
            (w2, flat(&self.w2)),
            (b2, flat(&self.b2)),
        ]
    }
}

fn chain_gradient(x: &Array1<f32>, y: &Array1<f32>) -> (f32, Array1<f32>, Array1<f32>) {
    let scale = 1.0 / x.len() as f32;
    let t = (-(x * y + x)).mapv_into(f32::exp);
    let tx = &t * x;
    let out = (&tx - &(y * y)).sum() * scale;
    let gx = (&t - &(&tx * &(y + 1.0))) * scale;
    let gy = (-(tx * x) - y * 2.0) * scale;
    (out, gx, gy)
}

fn entropy_gradient(z: &Array2<f32>, t: &Array2<f32>) -> (f32, Array2<f32>) {
    let scale = 1.0 / z.nrows() as f32;
    let top = z.map_axis(Axis(1), |row| row.fold(f32::MIN, |top, z| top.max(*z))).insert_axis(Axis(1));
    let z = z - &top;
    let e = z.mapv(f32::exp);
    let sum = e.sum_axis(Axis(1));
    let loss = (sum.mapv(f32::ln) - (t * &z).sum_axis(Axis(1))).sum() * scale;
    (loss, (e / &sum.insert_axis(Axis(1)) - t) * scale)
}

/// Returns the windows of `x` as rows, and `relu` of the convolution.
fn convolution(x: &Array4<f32>, f: &Array2<f32>, k: usize) -> (Array2<f32>, Array2<f32>) {
    let (b, h, w, c) = x.dim();
    let (rows, columns) = (h - k + 1, w - k + 1);
    let mut windows = Array4::zeros((b, rows, columns, k * k * c));
    for i in 0..k {
        for j in 0..k {
            let at = (i * k + j) * c;
            windows.slice_mut(s![.., .., .., at..at + c]).assign(&x.slice(s![
                ..,
                i..i + rows,
                j..j + columns,
                ..
            ]));
        }
    }
    let windows =
        windows.into_shape_with_order((b * rows * columns, k * k * c)).expect("the array is contiguous");
    let out = relu(windows.dot(f));
    (windows, out)
}

fn convolution_pullback(
    x: &Array4<f32>,
    f: &Array2<f32>,
    g: &Array2<f32>,
    k: usize,
) -> (Array4<f32>, Array2<f32>) {
    let (b, h, w, c) = x.dim();
    let (rows, columns) = (h - k + 1, w - k + 1);
    let (windows, out) = convolution(x, f, k);
    let mut gz = g.clone();
    relu_pullback(&mut gz, &out);
    let gf = windows.t().dot(&gz);
    let gw =
        gz.dot(&f.t()).into_shape_with_order((b, rows, columns, k * k * c)).expect("the array is contiguous");
    let mut gx = Array4::zeros(x.dim());
    for i in 0..k {
        for j in 0..k {
            let at = (i * k + j) * c;
            let mut part = gx.slice_mut(s![.., i..i + rows, j..j + columns, ..]);
            part += &gw.slice(s![.., .., .., at..at + c]);
        }
    }
    (gx, gf)
}

/// Returns the normalised rows, and the inverse of each row's standard deviation.
fn normalised(x: &Array2<f32>) -> (Array2<f32>, Array2<f32>) {
    let centred = x - &row_mean(x);
    let variance = row_mean(&centred.mapv(|c| c * c));
    let inverse = variance.mapv_into(|v| 1.0 / (v + EPSILON).sqrt());
    (centred * &inverse, inverse)
}

/// The mean of each row, as a column.
fn row_mean(x: &Array2<f32>) -> Array2<f32> {
    (x.sum_axis(Axis(1)) / x.ncols() as f32).insert_axis(Axis(1))
}
