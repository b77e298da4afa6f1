use mind::mind;

mind! {
    fn vectors(x: f32[3]) -> f32[3] { x.mT }

    fn twice(x: f32[3]) -> f32[3, 1] { x[.., _, ..] }
}

fn main() {}
