use mind::mind;

mind! {
    fn f(x: f32[3], y: f32[4]) -> f32[7, 7] {
        let a = x + y;
        let b = sum(a @ a, axes = [9]);
        reshape(b, [1000]) * [1.0, 2.0]
    }
}

fn main() {}
