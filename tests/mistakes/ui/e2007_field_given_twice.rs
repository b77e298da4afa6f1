use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32 }

    fn shifted(p: Line, by: f32) -> Line { Line { w: p.w, b: p.b + by, b: p.b } }
}

fn main() {}
