//! A template cannot have a `&mut` parameter.

mind::mind! {
    fn step(w: &mut float[..], dw: float[..]) { w -= dw }
}

fn main() {}
