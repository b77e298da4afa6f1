//! A shape contains leading dimensions that no parameter has.

mind::mind! {
    fn merged<..A, ..B, H, D>(x: float[..A, H, D]) { reshape(x, [..B, H * D]) }
}

fn main() {}
