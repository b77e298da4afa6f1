//! Structs of the library are named by their path.

mind::mind! {
    use optim::Adam;
    struct Net { w: f32[3] }
    fn count(state: Adam<Net>) -> i64 { state.steps }
}

fn main() {}
