use mind::mind;

mind! {
    fn f<usize>(x: f32[usize]) -> f32[usize] {
        x
    }
}

fn main() {}
