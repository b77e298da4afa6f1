mod layers {
    pub const WIDTH: usize = 3;

    mind::mind! {
        pub fn total(x: f32[3]) -> f32 {
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
