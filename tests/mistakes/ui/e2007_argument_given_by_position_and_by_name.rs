use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32[3] {
        sum(x, [0], axes = [0])
    }
}

fn main() {}
