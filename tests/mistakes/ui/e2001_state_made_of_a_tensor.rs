//! A state is over a struct.

mind::mind! {
    fn fresh(w: f32[3]) -> f32 { let state = optim::Lion { mean: w }; 1.0 }
}

fn main() {}
