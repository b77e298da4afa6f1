//! A state is for a struct of parameters, not for a tensor.

mind::mind! {
    fn count(state: optim::Adam<f32[3]>) -> i64 { state.steps }
}

fn main() {}
