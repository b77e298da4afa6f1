use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[3] {
        if x > 0.0 { x } else { -x }
    }
}

fn main() {}
