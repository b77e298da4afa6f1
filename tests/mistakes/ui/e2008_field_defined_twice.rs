use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32, w: f32[4] }

    fn weights(p: Line) -> f32[3] { p.w }
}

fn main() {}
