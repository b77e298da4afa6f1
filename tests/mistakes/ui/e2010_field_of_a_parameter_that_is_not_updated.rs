use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32 }

    fn shift(p: Line, by: f32) -> f32 { p.b += by; p.b }
}

fn main() {}
