//! A list of a shape has leading dimensions that no argument tells.

mind::mind! {
    fn merged<..A, ..B, H, D>(x: float[..A, H, D]) { reshape(x, [..B, H * D]) }
}

fn main() {}
