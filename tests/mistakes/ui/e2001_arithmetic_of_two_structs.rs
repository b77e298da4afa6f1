use mind::mind;

mind! {
    struct Mlp { w1: f32[64, 32], b1: f32[32] }
    struct Line { w: f32[3], b: f32 }

    fn step(p: &mut Mlp, g: Line, rate: f32) { p -= rate * g; }
}

fn main() {}
