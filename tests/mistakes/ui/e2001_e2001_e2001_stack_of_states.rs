use mind::mind;

mind! {
    struct Net { w: f32[3] }

    struct Learning { net: Net, adam: optim::Adam<Net> }

    fn state(p: optim::Adam<Net>[12]) -> f32 { sum(p.mean.w) }

    fn within(p: Learning[12]) -> f32 { sum(p.net.w) }

    fn given(p: Learning) -> f32 {
        let all = for i in 0..2 { p };
        sum(all.net.w)
    }
}

fn main() {}
