//! A tensor is no struct of parameters.

mind::mind! {
    fn count(state: optim::Adam<f32[3]>) -> i64 { state.steps }
}

fn main() {}
