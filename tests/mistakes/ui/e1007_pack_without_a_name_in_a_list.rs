//! In a list of a shape leading dimensions have a name.

mind::mind! {
    fn merged<H, D>(x: float[.., H, D]) { reshape(x, [.., H * D]) }
}

fn main() {}
