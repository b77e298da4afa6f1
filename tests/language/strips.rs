//! Compares products that are much larger than their operands, and run a strip of rows at a time, with naive loops.

use mind::{Const, Tensor, mind};

/// The result of [`attend`], and the cotangents of queries, keys and values.
struct Attended {
    y: Vec<f64>,
    back: [Vec<f64>; 3],
}

/// Attention of one head by naive loops in `f64`, and the cotangents that `dy` gives. Query `i` attends to key `j` if
/// `sees(i, j)`.
fn attend(q: &[f64], k: &[f64], v: &[f64], dy: &[f64], sees: &dyn Fn(usize, usize) -> bool) -> Attended {
    let dot = |a: &[f64], i: usize, b: &[f64], j: usize| -> f64 {
        (0..WIDTH).map(|f| a[i * WIDTH + f] * b[j * WIDTH + f]).sum()
    };
    let mut all = Attended { y: vec![0.0; q.len()], back: [(); 3].map(|()| vec![0.0; q.len()]) };
    for i in 0..PLACES {
        let seen: Vec<usize> = (0..PLACES).filter(|j| sees(i, *j)).collect();
        let scores: Vec<f64> = seen.iter().map(|j| dot(q, i, k, *j) / (WIDTH as f64).sqrt()).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp() / sum).collect();
        let back: Vec<f64> = seen.iter().map(|j| dot(dy, i, v, *j)).collect();
        let mean: f64 = weights.iter().zip(&back).map(|(weight, back)| weight * back).sum();
        for ((j, weight), back) in seen.iter().zip(&weights).zip(&back) {
            let of_score = weight * (back - mean) / (WIDTH as f64).sqrt();
            for f in 0..WIDTH {
                all.y[i * WIDTH + f] += weight * v[j * WIDTH + f];
                all.back[0][i * WIDTH + f] += of_score * k[j * WIDTH + f];
                all.back[1][j * WIDTH + f] += of_score * q[i * WIDTH + f];
                all.back[2][j * WIDTH + f] += weight * dy[i * WIDTH + f];
            }
        }
    }
    all
}

/// Numbers between -1 and 1 that differ from index to index.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * (2 * seed + 7) + seed) as f64 * 0.731).sin()).collect()
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-11, "{what} at {place}: {found}, expected {expected}");
    }
}

type Head = Tensor<f64, (Const<2>, Const<PLACES>, Const<WIDTH>)>;

fn head(seed: usize) -> Head {
    Tensor::from_vec((Const, Const, Const), numbers(2 * PLACES * WIDTH, seed)).expect("as many as it has")
}

mind! {
    /// The number of queries and of keys. It is larger than a strip, and the last strip is shorter than the others.
    const PLACES: dim = 410;
    /// The features of each query. There are so few that the scores are much larger than their operands.
    const WIDTH: dim = 5;

    fn forward(q: f64[2, PLACES, WIDTH], k: f64[2, PLACES, WIDTH], v: f64[2, PLACES, WIDTH]) -> f64[2, PLACES, WIDTH] {
        nn::attention_causal(q, k, v)
    }
    /// The cotangent is known before the scores, so one pass over the strips computes everything.
    #[grad(q, k, v)]
    fn at_once(
        q: f64[2, PLACES, WIDTH], k: f64[2, PLACES, WIDTH], v: f64[2, PLACES, WIDTH], dy: f64[2, PLACES, WIDTH]
    ) -> f64 {
        sum(nn::attention_causal(q, k, v) * dy)
    }
    /// The cotangent depends on the whole result, so the scores are computed again. The cotangents of keys and values
    /// are scaled after they have been summed.
    #[grad(q, k, v)]
    fn again(
        q: f64[2, PLACES, WIDTH], k: f64[2, PLACES, WIDTH], v: f64[2, PLACES, WIDTH], dy: f64[2, PLACES, WIDTH]
    ) -> f64 {
        let y = nn::attention(q, 2.0 * k, 3.0 * v);
        sum(y) * sum(y * dy)
    }
    fn batches<N>(q: f64[N, PLACES, WIDTH], k: f64[N, PLACES, WIDTH], v: f64[N, PLACES, WIDTH]) -> f64[N, PLACES, WIDTH] {
        nn::attention(q, k, v)
    }
}

#[test]
fn attention_by_strips_is_what_loops_make() {
    let (q, k, v, dy) = (head(1), head(2), head(3), head(4));
    for plan in [forward::PLAN, at_once_grad::PLAN] {
        assert!(plan.contains("StripColumns of 410: up to the last row"), "{plan}");
    }
    let y = forward(&q, &k, &v);
    let (_, back) = at_once_grad(&q, &k, &v, &dy);
    let len = PLACES * WIDTH;
    for of in [0..len, len..2 * len] {
        let of = |x: &Head| x.as_slice()[of.clone()].to_vec();
        let expected = attend(&of(&q), &of(&k), &of(&v), &of(&dy), &|i, j| j <= i);
        assert_near(&of(&y), &expected.y, "the result");
        let back = [&back.0, &back.1, &back.2].map(of);
        for ((found, expected), of) in back.iter().zip(&expected.back).zip(["q", "k", "v"]) {
            assert_near(found, expected, of);
        }
    }
}

/// Strips leave out masked columns only if the other factor is finite, because 0 times infinity is NaN.
#[test]
fn infinities_that_no_row_sees_are_multiplied() {
    let (q, k, v) = (head(1), head(2), head(3));
    let mut odd = v.clone();
    *odd.as_mut_slice().last_mut().expect("elements") = f64::INFINITY;
    let (expected, found) = (forward(&q, &k, &v), forward(&q, &k, &odd));
    let (expected, found) = (expected.as_slice(), found.as_slice());
    let last = found.len() - 1;
    for (place, (expected, found)) in expected.iter().zip(found).enumerate() {
        let is_beside = place / (PLACES * WIDTH) == 1 && place % WIDTH == WIDTH - 1;
        match is_beside {
            true if place == last => assert_eq!(*found, f64::INFINITY),
            true => assert!(found.is_nan(), "{found} at {place}"),
            false => assert!((expected - found).abs() < 1e-14, "{found} at {place}, expected {expected}"),
        }
    }
}

#[test]
fn scores_that_are_computed_again_give_the_same_gradients() {
    let (q, k, v, dy) = (head(1), head(2), head(3), head(4));
    assert_eq!(again_grad::PLAN.matches("strips").count(), 2, "{}", again_grad::PLAN);
    let (_, back) = again_grad(&q, &k, &v, &dy);
    let len = PLACES * WIDTH;
    let of_each = |x: &Head, by: f64| -> [Vec<f64>; 2] {
        [0, 1].map(|of| x.as_slice()[of * len..][..len].iter().map(|x| by * x).collect())
    };
    let [q, k, v, dy] = [of_each(&q, 1.0), of_each(&k, 2.0), of_each(&v, 3.0), of_each(&dy, 1.0)];
    let all = |dy: &[Vec<f64>; 2]| [0, 1].map(|of| attend(&q[of], &k[of], &v[of], &dy[of], &|_, _| true));
    let y = all(&dy).map(|attended| attended.y);
    let sum: f64 = y.iter().flatten().sum();
    let weighted: f64 = y.iter().flatten().zip(dy.iter().flatten()).map(|(y, dy)| y * dy).sum();
    let expected = all(&dy.map(|dy| dy.iter().map(|dy| sum * dy + weighted).collect()));
    for (of, expected) in expected.iter().enumerate() {
        let back = [&back.0, &back.1, &back.2];
        for (((found, expected), by), what) in
            back.iter().zip(&expected.back).zip([1.0, 2.0, 3.0]).zip(["q", "k", "v"])
        {
            let expected: Vec<f64> = expected.iter().map(|x| by * x).collect();
            assert_near(&found.as_slice()[of * len..][..len], &expected, what);
        }
    }
}

#[test]
fn batches_of_any_size_are_cut_into_strips() {
    assert!(batches::PLAN.contains("strips"), "{}", batches::PLAN);
    let (q, k, v) = (head(1), head(2), head(3));
    let dynamic = |x: &Head| {
        Tensor::<f64, (usize, Const<PLACES>, Const<WIDTH>)>::from_vec(
            (2, Const, Const),
            x.as_slice().to_vec(),
        )
        .expect("as many as it has")
    };
    let found = batches(&dynamic(&q), &dynamic(&k), &dynamic(&v));
    let len = PLACES * WIDTH;
    for of in [0..len, len..2 * len] {
        let of_input = |x: &Head| x.as_slice()[of.clone()].to_vec();
        let (q, k, v) = (of_input(&q), of_input(&k), of_input(&v));
        let expected = attend(&q, &k, &v, &vec![0.0; len], &|_, _| true);
        assert_near(&found.as_slice()[of.clone()], &expected.y, "the result");
    }
}
