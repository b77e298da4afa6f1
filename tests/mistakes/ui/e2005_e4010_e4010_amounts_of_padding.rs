use mind::mind;

mind! {
    fn too_few(x: f32[3, 2]) -> f32[4, 2] { pad(x, low = [1], high = [0, 0]) }

    fn negative(x: f32[3]) -> f32[2] { pad(x, [0], [-1]) }

    fn truths(x: bool[3]) -> bool[4] { pad(x, [0], [1]) }
}

fn main() {}
