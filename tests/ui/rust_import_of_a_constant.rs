mod layers {
    mind::mind! {
        pub const WIDTH: dim = 3;

        pub fn total(x: f32[WIDTH]) -> f32 {
            sum(x)
        }
    }
}

mind::mind! {
    use crate::layers::{WIDTH, total};

    fn f(x: f32[WIDTH]) -> f32 {
        total(x)
    }
}

fn main() {}
