use mind::mind;

mind! {
    fn f(x: f32[2, 3], y: f32[2, 3]) -> f32[2, 2] {
        x @ y
    }

    fn g(x: f32[2, 3]) -> f32[3] {
        sum(x, axes = [-4])
    }

    fn h(x: f32[2, 3]) -> f32[3] {
        sum(x, axes = [0])
    }
}

fn main() {}
