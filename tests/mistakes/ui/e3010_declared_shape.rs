use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        let kernel: f32[3] = [1.0, 2.0];
        x * kernel
    }
}

fn main() {}
