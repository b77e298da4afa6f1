use mind::mind;

mind! {
    fn f(x: f32[3]) -> f32[2, 4] {
        broadcast_to(x, [2, 4])
    }
}

fn main() {}
