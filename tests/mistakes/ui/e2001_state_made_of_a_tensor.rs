//! A field of a state must be a struct of parameters, not a tensor.

mind::mind! {
    fn fresh(w: f32[3]) -> f32 { let state = optim::Lion { mean: w }; 1.0 }
}

fn main() {}
