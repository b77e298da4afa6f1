use mind::mind;

mind! {
    struct Block { w: f32[3] }

    fn f(p: Block[0], x: f32[3]) -> f32[3] { fold x = x for layer in p { x * layer.w } }
}

fn main() {}
