//! A struct that holds what is remembered of itself.

mind::mind! {
    struct Net { w: f32[3], adam: optim::Adam<Net> }
}

fn main() {}
