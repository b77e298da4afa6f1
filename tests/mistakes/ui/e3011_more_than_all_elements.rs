//! More elements than the axis has.

mind::mind! {
    fn f(x: f32[6]) -> (f32[7], i64[7]) { num::top_k(x, k = 7) }
}

fn main() {}
