use mind::mind;

mind! {
    fn own<own>(x: f32[own]) -> f32[own] {
        x + x
    }
}

fn main() {}
