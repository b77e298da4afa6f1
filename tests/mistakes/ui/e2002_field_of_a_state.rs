//! A misspelt field of a state. Adam's field is `mean`.

mind::mind! {
    struct Net { w: f32[3] }
    fn first(state: optim::Adam<Net>) -> Net { state.means }
}

fn main() {}
