use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32 }

    fn moved(p: Line, x: f32[4]) -> Line { Line { w: x, ..p } }
}

fn main() {}
