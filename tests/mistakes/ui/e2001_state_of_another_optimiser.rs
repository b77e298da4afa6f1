//! The state of Lion is passed to a step of Adam.

mind::mind! {
    struct Net { w: f32[3] }
    fn step(net: Net, g: Net, state: optim::Lion<Net>) -> Net {
        let (net, state) = optim::adam_step(net, g, state, 0.1);
        net
    }
}

fn main() {}
