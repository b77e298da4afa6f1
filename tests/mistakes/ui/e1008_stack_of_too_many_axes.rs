use mind::mind;

mind! {
    struct Block { w: f32[1, 1, 1, 1, 1, 1, 2] }

    fn f(p: Block[2, 3]) -> f32 { sum(p.w) }
}

fn main() {}
