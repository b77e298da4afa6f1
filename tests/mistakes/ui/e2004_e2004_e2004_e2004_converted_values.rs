//! Values that are converted beside one of another element type: in an update the new one, and in a call the literal.

mind::mind! {
    fn rows(x: &mut f32[4, 3], i: i32[2], u: f64[2, 3]) { x[i] += u; }

    fn whole(x: &mut f32[4], u: f64[4]) { x *= u + 1.0; }

    fn call(x: f64[2]) -> f64[2] { num::diag([0.1, 0.2]) @ x }

    fn transpose(x: f64[2]) -> f64[2] { [[0.1, 0.2], [0.3, 0.4]].T @ x }
}

fn main() {}
