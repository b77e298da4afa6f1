//! A template is called with a tensor of another rank.

mind::mind! {
    fn rows<N, D>(x: float[N, D]) { sum(x, axis = 1) / D }
    fn f(x: f32[4]) -> f32[4] { rows(x) }
}

fn main() {}
