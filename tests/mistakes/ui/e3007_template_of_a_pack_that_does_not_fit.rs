//! A template reshapes to leading and other dimensions with another number of elements.

mind::mind! {
    fn merged<..B, H, D>(x: float[..B, H, D]) { reshape(x, [..B, H + D]) }
    fn f(x: f32[5, 2, 3]) -> f32[5, 5] { merged(x) }
}

fn main() {}
