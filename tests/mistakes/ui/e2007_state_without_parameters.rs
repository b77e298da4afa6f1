//! The type of a state does not name the struct of parameters.

mind::mind! {
    struct Net { w: f32[3] }
    fn step(net: Net, state: optim::Adam) -> Net { net }
}

fn main() {}
