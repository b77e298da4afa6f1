use mind::mind;

mind! {
    fn f(x: f32[2, 3]) -> f32 {
        let rows: f32[3] = sum(x, axes = [1]);
        sum(rows)
    }
}

fn main() {}
