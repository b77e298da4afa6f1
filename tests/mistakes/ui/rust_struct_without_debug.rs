use mind::mind;

mind! {
    pub struct Layer { w: f32[3, 3], b: f32[3] }

    #[derive(Debug)]
    pub struct Net { first: Layer }
}

fn main() {}
