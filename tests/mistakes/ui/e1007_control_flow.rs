use mind::mind;

mind! {
    fn f(x: f32[3], flag: f32) -> f32[3] {
        if flag { x } else { -x }
    }
}

fn main() {}
