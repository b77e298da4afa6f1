use mind::mind;

mind! {
    struct Block { w: f32[3] }

    fn f(p: Block[12], xs: f32[11, 3], x: f32[3]) -> f32[3] {
        fold x = x for (layer, y) in (p, xs) { x * layer.w + y }
    }
}

fn main() {}
