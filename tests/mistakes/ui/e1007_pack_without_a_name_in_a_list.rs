//! In a shape of an expression, leading dimensions need a name.

mind::mind! {
    fn merged<H, D>(x: float[.., H, D]) { reshape(x, [.., H * D]) }
}

fn main() {}
