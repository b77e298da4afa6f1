use mind::mind;

mind! {
    pub struct Layer { w: f32[3, 3], b: f32[3] }

    fn total(p: Layer) -> f32 { sum(p.w) + sum(p.b) }
}

fn main() {
    total(&Layer::zeros(3));
}
