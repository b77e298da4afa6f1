//! Hand tracking: the distances of measured points from the skin of a posed hand, and their Jacobian.

use mind::{Const, Tensor};
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// A hand of `B` bones and `V` vertices.
    struct Hand<B, V> {
        /// The bone that each is attached to; -1 for none.
        parents: i64[B],
        base_relatives: f64[B, 4, 4],
        inverse_base_absolutes: f64[B, 4, 4],
        base_positions: f64[V, 4],
        weights: f64[V, B],
        /// The positions in `theta` of the angles about x, z and y of each bone; 26 for an angle of 0.
        angles: i64[B, 3],
        /// -1 for a mirrored hand, else 1.
        side: f64,
    }

    /// A rotation about x, then y, then z, as a transformation of four coordinates.
    fn of_angles(angles: f64[3]) -> f64[4, 4] {
        let (s, c) = (sin(angles), cos(angles));
        let x = [[1.0, 0.0, 0.0, 0.0], [0.0, c[0], -s[0], 0.0], [0.0, s[0], c[0], 0.0], [0.0, 0.0, 0.0, 1.0]];
        let y = [[c[2], 0.0, s[2], 0.0], [0.0, 1.0, 0.0, 0.0], [-s[2], 0.0, c[2], 0.0], [0.0, 0.0, 0.0, 1.0]];
        let z = [[c[1], -s[1], 0.0, 0.0], [s[1], c[1], 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
        z @ y @ x
    }

    /// A rotation about an axis whose length is the angle.
    fn of_axis(rotation: f64[3]) -> f64[3, 3] {
        let angle = sqrt(sum(rotation * rotation));
        if angle < 0.0001 {
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        } else {
            let a = rotation / angle;
            let (s, c) = (sin(angle) * a, cos(angle));
            let cross = [[0.0, -s[2], s[1]], [s[2], 0.0, -s[0]], [-s[1], s[0], 0.0]];
            num::outer(a, a) * (1.0 - c) + cross + num::diag([c, c, c])
        }
    }

    /// The vertices of a posed hand.
    fn vertices<B, V>(theta: f64[26], hand: Hand<B, V>) -> f64[V, 3] {
        let turns = vmap(of_angles, over = angles)(gather(concat([theta, [0.0]]), hand.angles));
        let relatives = hand.base_relatives @ turns;
        let absolutes = fold all = zeros_like(relatives) for (i, parent, own) in (iota(B), hand.parents, relatives) {
            replace(all[i], if parent < 0 { own } else { all[parent] @ own })
        };
        let transforms = absolutes @ hand.inverse_base_absolutes;
        let skin = einsum("vb, bij, vj -> vi", hand.weights, transforms[0.., 0..3], hand.base_positions);
        let mirrored = skin * [hand.side, 1.0, 1.0];
        mirrored @ of_axis(theta[0..3]).T + theta[3..6]
    }

    /// The distances of points from vertices.
    fn from_vertices<B, V, N>(theta: f64[26], hand: Hand<B, V>, points: f64[N, 3], nearest: i64[N]) -> f64[N, 3] {
        points - gather(vertices(theta, hand), nearest)
    }

    /// The distances of points from places in triangles; `u` has two coordinates of each place.
    fn from_triangles<B, V, N>(
        theta: f64[26], u: f64[N, 2], hand: Hand<B, V>, points: f64[N, 3], corners: i64[N, 3]
    ) -> f64[N, 3] {
        let all = gather(vertices(theta, hand), corners);
        let (first, second) = (u[.., 0..1], u[.., 1..2]);
        points - (first * all[.., 0, 0..] + second * all[.., 1, 0..] + (1.0 - first - second) * all[.., 2, 0..])
    }

    fn from_vertices_by_theta<B, V, N>(
        theta: f64[26], hand: Hand<B, V>, points: f64[N, 3], nearest: i64[N]
    ) -> f64[N, 3, 26] {
        jacobian(from_vertices, wrt = theta, mode = forward)(theta, hand, points, nearest)
    }

    /// The derivatives by the two coordinates of each point's own place, then by `theta`.
    fn from_triangles_by_all<B, V, N>(
        theta: f64[26], u: f64[N, 2], hand: Hand<B, V>, points: f64[N, 3], corners: i64[N, 3]
    ) -> f64[N, 3, 28] {
        let (toward_first, toward_second) = (zeros_like(u) + [1.0, 0.0], zeros_like(u) + [0.0, 1.0]);
        let (_, first) = jvp(from_triangles, wrt = u)(theta, u, hand, points, corners, toward_first);
        let (_, second) = jvp(from_triangles, wrt = u)(theta, u, hand, points, corners, toward_second);
        let by_theta = jacobian(from_triangles, wrt = theta, mode = forward)(theta, u, hand, points, corners);
        concat([first[.., _], second[.., _], by_theta], axis = -1)
    }
}

#[derive(Deserialize)]
struct Input {
    theta: Vec<f64>,
    data: Data,
    us: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Data {
    model: Model,
    correspondences: Vec<usize>,
    points: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Model {
    parents: Vec<i64>,
    base_relatives: Vec<Vec<Vec<f64>>>,
    inverse_base_absolutes: Vec<Vec<Vec<f64>>>,
    base_positions: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
    triangles: Vec<Vec<i64>>,
    is_mirrored: bool,
}

struct Problem {
    theta: mind::Tensor![f64; 26],
    hand: Hand<usize, usize>,
    points: mind::Tensor![f64; ?, 3],
    places: Places,
}

/// The places of the hand to which the points belong.
enum Places {
    Vertices(mind::Tensor![i64; ?]),
    Triangles { corners: mind::Tensor![i64; ?, 3], u: mind::Tensor![f64; ?, 2] },
}

impl Problem {
    fn new(input: Input) -> Result<Self, Failure> {
        let Input { theta, data: Data { model, correspondences, points }, us } = input;
        let (bones, vertices) = (model.parents.len(), model.base_positions.len());
        let transforms = |all: &[Vec<Vec<f64>>]| {
            Tensor::from_vec((bones, Const, Const), all.iter().flatten().flatten().copied().collect())
        };
        let places = if us.is_empty() {
            let nearest: Vec<i64> = correspondences.iter().map(|vertex| *vertex as i64).collect();
            Places::Vertices(Tensor::from_vec((nearest.len(),), nearest)?)
        } else {
            let corners =
                correspondences.iter().flat_map(|triangle| model.triangles[*triangle].iter().copied());
            Places::Triangles {
                corners: Tensor::from_vec((us.len(), Const), corners.collect())?,
                u: Tensor::from_vec((us.len(), Const), us.concat())?,
            }
        };
        Ok(Self {
            theta: Tensor::from_vec((Const,), theta)?,
            hand: Hand {
                base_relatives: transforms(&model.base_relatives)?,
                inverse_base_absolutes: transforms(&model.inverse_base_absolutes)?,
                base_positions: Tensor::from_vec((vertices, Const), model.base_positions.concat())?,
                weights: Tensor::from_vec((vertices, bones), model.weights.concat())?,
                angles: angles(bones),
                side: if model.is_mirrored { -1.0 } else { 1.0 },
                parents: Tensor::from_vec((bones,), model.parents)?,
            },
            points: Tensor::from_vec((points.len(), Const), points.concat())?,
            places,
        })
    }
}

/// The positions of the angles of each bone in `theta`. Each of five fingers has two angles of its first bone and one
/// of the next two; its last bone and the two bones before all fingers do not turn.
fn angles(bones: usize) -> mind::Tensor![i64; ?, 3] {
    Tensor::from_fn_with((bones, Const), |[bone, angle]| {
        let at = bone.checked_sub(2).map(|at| (at / 4, at % 4)).filter(|(finger, _)| *finger < 5);
        match (at, angle) {
            (Some((finger, 0)), 0 | 1) => (6 + 4 * finger + angle) as i64,
            (Some((finger, joint @ 1..=2)), 0) => (7 + 4 * finger + joint) as i64,
            _ => 26,
        }
    })
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(Problem::new)?;
    match function {
        "objective" => {
            let errors = |Problem { theta, hand, points, places }: &Problem| match places {
                Places::Vertices(nearest) => from_vertices(theta, hand, points, nearest),
                Places::Triangles { corners, u } => from_triangles(theta, u, hand, points, corners),
            };
            Ok(call.run(errors, |errors| errors.as_slice().into()))
        }
        "jacobian" => {
            let jacobian = |Problem { theta, hand, points, places }: &Problem| match places {
                Places::Vertices(nearest) => {
                    (26, from_vertices_by_theta(theta, hand, points, nearest).as_slice().to_vec())
                }
                Places::Triangles { corners, u } => {
                    (28, from_triangles_by_all(theta, u, hand, points, corners).as_slice().to_vec())
                }
            };
            Ok(call.run(jacobian, |(columns, jacobian)| jacobian.chunks(columns).collect::<Vec<_>>().into()))
        }
        _ => Err(Failure::Function(function.into())),
    }
}
