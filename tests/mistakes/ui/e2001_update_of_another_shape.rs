use mind::mind;

mind! {
    fn f(w: &mut f32[3], x: f32[2, 3]) {
        w -= x;
    }
}

fn main() {}
