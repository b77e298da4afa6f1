//! Nobody says what Adam remembers the gradients of.

mind::mind! {
    struct Net { w: f32[3] }
    fn step(net: Net, state: optim::Adam) -> Net { net }
}

fn main() {}
