//! Adam calls it `mean`.

mind::mind! {
    struct Net { w: f32[3] }
    fn first(state: optim::Adam<Net>) -> Net { state.means }
}

fn main() {}
