use mind::mind;

mind! {
    fn std(x: f32[2]) -> f32[2] {
        x
    }
}

fn main() {
    let _: std::vec::Vec<f32> = std::vec::Vec::new();
}
