//! A struct contains an optimiser's state of itself.

mind::mind! {
    struct Net { w: f32[3], adam: optim::Adam<Net> }
}

fn main() {}
