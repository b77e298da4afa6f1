use mind::mind;

mind! {
    fn f(x: f32[4, 4]) -> f32[1, 2, 2, 1] {
        sum_pool(x, [2, 2], strides = [1, 1])
    }
}

fn main() {}
