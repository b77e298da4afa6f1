#![deny(unused_variables)]

mod layers {
    mind::mind! {
        pub fn double(x: f32[3]) -> f32[3] { 2.0 * x }
    }
}

mind::mind! {
    use layers::double;

    fn layer<N>(x: f32[3], bias: f32[N], _kept: f32) -> f32[3] {
        double(x)
    }

    #[allow(unused_variables)]
    fn allowed(x: f32, y: f32) -> f32 { x }

    fn updated(w: &mut f32[3], x: f32[3]) { w = x; }
}

fn main() {}
