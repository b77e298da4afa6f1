use mind::mind;

mind! {
    fn f(x: f32[1, 4, 4, 1]) -> f32[1, 2, 2, 1] {
        max_pool(x, [2, 2, 2, 2], strides = [1, 1, 1, 1])
    }
}

fn main() {}
