//! Indices have no gradient, so no optimiser remembers any.

mind::mind! {
    struct Net { w: f32[3], words: i64[2] }
    fn count(state: optim::Adam<Net>) -> i64 { state.steps }
}

fn main() {}
