use mind::mind;

mind! {
    fn f(x: f32[3, 4]) -> f32[2, 4] {
        slice(x, starts = [0], ends = [2, 4], steps = [1, 1])
    }
}

fn main() {}
