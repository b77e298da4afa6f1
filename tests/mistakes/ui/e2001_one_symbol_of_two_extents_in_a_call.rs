use mind::mind;

mind! {
    fn add<N>(x: f32[N], y: f32[N]) -> f32[N] {
        x + y
    }

    fn f(x: f32[3], y: f32[4]) -> f32[3] {
        add(x, y)
    }
}

fn main() {}
