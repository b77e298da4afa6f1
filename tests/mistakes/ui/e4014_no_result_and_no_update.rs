use mind::mind;

mind! {
    fn f(x: f32[3]) {
        let y = x + x;
    }
}

fn main() {}
