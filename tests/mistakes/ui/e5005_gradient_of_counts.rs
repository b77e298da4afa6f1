use mind::mind;

mind! {
    #[grad(rate)]
    fn counts(key: i64, rate: f32) -> f32 { sum(f32(random::poisson(key, rate, [3]))) }
}

fn main() {}
