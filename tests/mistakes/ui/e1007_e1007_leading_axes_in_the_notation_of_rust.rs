use mind::mind;

mind! {
    struct Block { w: f32[3] }

    fn array(p: [Block; 12]) -> f32 { sum(p.w) }

    fn twice(p: Block[2][3]) -> f32 { sum(p.w) }
}

fn main() {}
