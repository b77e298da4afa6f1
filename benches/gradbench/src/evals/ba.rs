//! Bundle adjustment: the errors of points that cameras observe, and their sparse Jacobian.

use mind::{Const, Tensor};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Vector;
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// A point rotated about an axis; the length of `rotation` is the angle.
    fn rotate(rotation: f64[3], point: f64[3]) -> f64[3] {
        let square = sum(rotation * rotation);
        if square != 0.0 {
            let angle = sqrt(square);
            let axis = rotation / angle;
            point * cos(angle)
                + num::cross(axis, point) * sin(angle)
                + axis * (dot(axis, point) * (1.0 - cos(angle)))
        } else {
            point + num::cross(rotation, point)
        }
    }

    /// The error of an observation. A camera is its rotation, center, focal length, principal point and distortion.
    fn error(camera: f64[11], point: f64[3], weight: f64, feature: f64[2]) -> f64[2] {
        let p = rotate(camera[0..3], point - camera[3..6]);
        let flat = p[0..2] / p[2];
        let square = sum(flat * flat);
        let distorted = flat * (1.0 + camera[9] * square + camera[10] * square * square);
        weight * (distorted * camera[6] + camera[7..9] - feature)
    }

    fn weight_error(weight: f64) -> f64 { 1.0 - weight * weight }

    fn errors<C, X, N>(
        cameras: f64[C, 11], points: f64[X, 3], weights: f64[N], features: f64[N, 2], camera_of: i64[N], point_of: i64[N]
    ) -> (f64[N, 2], f64[N]) {
        let errors = vmap(error, over = (camera, point, weight, feature))(
            gather(cameras, camera_of), gather(points, point_of), weights, features
        );
        (errors, vmap(weight_error, over = weight)(weights))
    }

    /// The columns and values of the Jacobian, row by row: each error has derivatives by its camera, point and weight,
    /// and each error of a weight has one.
    fn elements<C, X, N>(
        cameras: f64[C, 11], points: f64[X, 3], weights: f64[N], features: f64[N, 2], camera_of: i64[N], point_of: i64[N]
    ) -> (i64[31 * N], f64[31 * N]) {
        let (by_camera, by_point, by_weight) =
            vmap(jacobian(error, wrt = (camera, point, weight)), over = (camera, point, weight, feature))(
                gather(cameras, camera_of), gather(points, point_of), weights, features
            );
        let of_errors = concat((by_camera, by_point, by_weight[.., _]), axis = 2);
        let of_weights = vmap(grad(weight_error, wrt = weight), over = weight)(weights);

        let weight_columns = 11 * C + 3 * X + iota(N);
        let camera = (11 * camera_of)[.., _, _] + iota([N, 2, 11], axis = 2);
        let point = (11 * C + 3 * point_of)[.., _, _] + iota([N, 2, 3], axis = 2);
        let weight = broadcast_to(weight_columns[.., _, _], [N, 2, 1]);
        let columns = concat((camera, point, weight), axis = 2);
        (
            concat((reshape(columns, [30 * N]), weight_columns), axis = 0),
            concat((reshape(of_errors, [30 * N]), of_weights), axis = 0)
        )
    }
}

#[derive(Deserialize)]
struct Input {
    n: usize,
    m: usize,
    p: usize,
    cam: [f64; 11],
    x: [f64; 3],
    w: f64,
    feat: [f64; 2],
}

struct Problem {
    cameras: mind::Tensor![f64; ?, 11],
    points: mind::Tensor![f64; ?, 3],
    weights: Vector,
    features: mind::Tensor![f64; ?, 2],
    camera_of: mind::Tensor![i64; ?],
    point_of: mind::Tensor![i64; ?],
}

impl Problem {
    fn new(input: Input) -> Self {
        let Input { n, m, p, cam, x, w, feat } = input;
        Self {
            cameras: Tensor::from_fn_with((n, Const), |[_, at]| cam[at]),
            points: Tensor::from_fn_with((m, Const), |[_, at]| x[at]),
            weights: Tensor::full_with((p,), w),
            features: Tensor::from_fn_with((p, Const), |[_, at]| feat[at]),
            camera_of: Tensor::from_fn_with((p,), |[at]| (at % n) as i64),
            point_of: Tensor::from_fn_with((p,), |[at]| (at % m) as i64),
        }
    }

    fn jacobian(&self) -> Sparse {
        let Self { cameras, points, weights, features, camera_of, point_of } = self;
        let (columns, values) = elements(cameras, points, weights, features, camera_of, point_of);
        let [p] = weights.dims();
        let of_errors = (0..2 * p).map(|row| 15 * row);
        Sparse { rows: of_errors.chain(30 * p..=31 * p).collect(), columns, values }
    }
}

/// A sparse matrix by rows: `rows` has the position in `columns` and `values` of the first element of each row.
struct Sparse {
    rows: Vec<usize>,
    columns: mind::Tensor![i64; ?],
    values: Vector,
}

impl Sparse {
    /// The first 30 and the last entry of each part. All observations have equal derivatives.
    fn shown(&self) -> Value {
        let Self { rows, columns, values } = self;
        json!({ "rows": ends(rows), "cols": ends(columns.as_slice()), "vals": ends(values.as_slice()) })
    }
}

fn ends<T: Copy>(all: &[T]) -> Vec<T> {
    all.iter().take(30).chain(all.last()).copied().collect()
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(|input| Ok(Problem::new(input)))?;
    match function {
        "objective" => {
            let all = |p: &Problem| {
                errors(&p.cameras, &p.points, &p.weights, &p.features, &p.camera_of, &p.point_of)
            };
            Ok(call.run(all, |(errors, weights)| {
                json!({
                    "reproj_error": { "elements": errors.as_slice()[..2], "repeated": errors.dims()[0] },
                    "w_err": { "element": weights.as_slice()[0], "repeated": weights.dims()[0] },
                })
            }))
        }
        "jacobian" => Ok(call.run(Problem::jacobian, |sparse| sparse.shown())),
        _ => Err(Failure::Function(function.into())),
    }
}
