use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32 }

    fn total(p: Line) -> f32 { mean(p) }
}

fn main() {}
