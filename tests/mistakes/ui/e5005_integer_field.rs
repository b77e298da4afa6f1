use mind::mind;

mind! {
    struct State { w: f32[3], steps: i64 }

    #[grad(p)]
    fn energy(p: State) -> f32 { sum(p.w * p.w) }
}

fn main() {}
