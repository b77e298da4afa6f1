//! A state is for float parameters only, because integers have no gradient.

mind::mind! {
    struct Net { w: f32[3], words: i64[2] }
    fn count(state: optim::Adam<Net>) -> i64 { state.steps }
}

fn main() {}
