use mind::mind;

mind! {
    struct Block { w: f32[3] }

    struct Net { first: f32[3], blocks: Block[12] }

    fn single(p: Block, x: f32[3]) -> f32[3] { fold x = x for layer in p { x * layer.w } }

    fn whole(p: Net, x: f32[3]) -> f32[3] { fold x = x for layer in p { x * layer.w } }

    fn index(p: Block) -> f32[3] { p[0].w }
}

fn main() {}
