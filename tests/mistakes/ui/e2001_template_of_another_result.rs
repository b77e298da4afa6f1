//! A template returns another type than the function declares.

mind::mind! {
    fn total<N, D>(x: float[N, D]) { sum(x, axis = 0) }
    fn f(x: f32[2, 4]) -> f32[2] { total(x) }
}

fn main() {}
