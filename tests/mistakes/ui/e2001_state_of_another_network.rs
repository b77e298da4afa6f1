//! Adam's state of one network is passed with another network.

mind::mind! {
    struct Net { w: f32[3] }
    struct Other { w: f32[4] }
    fn step(net: Net, g: Net, state: optim::Adam<Other>) -> Net {
        let (net, state) = optim::adam_step(net, g, state, 0.1);
        net
    }
}

fn main() {}
