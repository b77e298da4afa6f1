//! A state must be made from all of its fields.

mind::mind! {
    struct Net { w: f32[3] }
    fn fresh(net: Net) -> optim::Adam<Net> { optim::Adam { mean: net, square: net } }
}

fn main() {}
