use mind::mind;

mind! {
    fn f(x: f32[3], s: f32) -> f32 {
        sum(x) * s
    }

    fn all(xs: f32[4, 3], ss: f32[5]) -> f32[4] {
        vmap(f, over = (x, s))(xs, ss)
    }
}

fn main() {}
