mind::mind! {
    pub fn dense(x: f32[3]) -> f32[3] { x }
}

pub mod dense {}

fn main() {}
