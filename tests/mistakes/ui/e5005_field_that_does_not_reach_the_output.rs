use mind::mind;

mind! {
    struct Line { w: f32[3], b: f32 }

    fn slope(p: Line) -> f32 { sum(p.w * p.w) }

    fn step(p: &mut Line) { p -= 0.1 * grad(slope, wrt = p)(p); }
}

fn main() {}
