//! k-means clustering: the cost, and a step of Newton's method, whose Hessian has a diagonal only.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{matrix, rows};
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// The sum over all points of the squared distance to the nearest centroid.
    fn cost<N, K, D>(points: f64[N, D], centroids: f64[K, D]) -> f64 {
        let difference = expand_dims(points, axes = [1]) - centroids;
        sum(min(sum(difference * difference, axis = -1), axis = -1))
    }

    /// The gradient divided by the diagonal of the Hessian. Only the diagonal is not zero, so its product with a vector
    /// of ones is the diagonal.
    fn direction<N, K, D>(points: f64[N, D], centroids: f64[K, D]) -> f64[K, D] {
        let (gradient, diagonal) =
            jvp(grad(cost, wrt = centroids), wrt = centroids)(points, centroids, ones_like(centroids));
        gradient / diagonal
    }
}

#[derive(Deserialize)]
struct Input {
    points: Vec<Vec<f64>>,
    centroids: Vec<Vec<f64>>,
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(|Input { points, centroids }| {
        let columns = points.first().map_or(0, Vec::len);
        Ok((matrix(&points, columns)?, matrix(&centroids, columns)?))
    })?;
    match function {
        "cost" => Ok(call.run(|(points, centroids)| cost(points, centroids), Value::from)),
        "dir" => Ok(call.run(|(points, centroids)| direction(points, centroids), |step| json!(rows(&step)))),
        _ => Err(Failure::Function(function.into())),
    }
}
