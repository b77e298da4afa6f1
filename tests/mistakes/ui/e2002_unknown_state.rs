//! A misspelt state.

mind::mind! {
    struct Net { w: f32[3] }
    fn count(state: optim::Adm<Net>) -> i64 { 1 }
}

fn main() {}
