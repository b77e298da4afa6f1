use mind::mind;

mind! {
    fn f(x: f32[2, 3, 4]) -> f32[3, 2] {
        x.transpose([1, 0])
    }
}

fn main() {}
