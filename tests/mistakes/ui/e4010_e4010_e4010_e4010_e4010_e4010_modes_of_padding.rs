use mind::mind;

mind! {
    fn unknown(x: f32[3]) -> f32[5] { pad(x, [1], [1], mode = "mirror") }
    fn far(x: f32[3]) -> f32[6] { pad(x, [3], [0], mode = "reflect") }
    fn negative(x: f32[3]) -> f32[3] { pad(x, [0], [-1], value = 1.0) }
    fn both(x: f32[3]) -> f32[5] { pad(x, [1], [1], mode = "edge", value = 1.0) }
    fn between(x: f32[3]) -> f32[5] { pad(x, [0], [0], mode = "edge", interior = [1]) }
    fn interior(x: f32[3]) -> f32[5] { pad(x, [0], [0], interior = [-1]) }
}

fn main() {}
