use mind::mind;

mind! {
    fn matrix(x: f32[2], m: f32[2, 2]) -> f32[2, 2] { meshgrid(x, m).0 }
    fn nothing(x: f32[2]) -> f32[2] { x + meshgrid() }
    fn order(x: f32[2]) -> f32[2, 2] { meshgrid(x, x, indexing = "xy").0 }
}

fn main() {}
