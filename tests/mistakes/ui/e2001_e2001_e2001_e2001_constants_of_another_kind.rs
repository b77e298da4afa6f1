mod numbers {
    mind::mind! {
        pub const EPS: float = 1e-3;
        pub const WIDTH: dim = 3;
    }
}

mind::mind! {
    const HALF: float = 1;
    const STEPS: int = 1.5;
}

mind::mind! {
    use numbers::{EPS, WIDTH};
    fn f(x: f32[EPS]) -> f32 { sum(x) }
    fn g(x: WIDTH) -> f32 { 1.0 }
}

fn main() {}
