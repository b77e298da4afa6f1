//! An axis of a template must be a known number, not a dimension.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f<N>(x: f32[N, 4]) -> f32[4] { total(x, axis = N) }
}

fn main() {}
