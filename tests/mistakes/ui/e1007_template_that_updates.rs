//! A template would update its argument.

mind::mind! {
    fn step(w: &mut float[..], dw: float[..]) { w -= dw }
}

fn main() {}
