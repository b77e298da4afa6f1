//! Structs of the library cannot be imported. They are written with their path.

mind::mind! {
    use optim::Adam;
    struct Net { w: f32[3] }
    fn count(state: Adam<Net>) -> i64 { state.steps }
}

fn main() {}
