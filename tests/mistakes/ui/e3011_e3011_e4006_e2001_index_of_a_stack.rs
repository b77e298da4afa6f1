use mind::mind;

mind! {
    struct Block { w: f32[3] }

    fn beyond(p: Block[12]) -> f32[3] { p[12].w }

    fn before(p: Block[12]) -> f32[3] { p[-13].w }

    fn twice(p: Block[12]) -> f32[3] { p[0, 1].w }

    fn new(p: Block[12]) -> f32[3] { p[_].w }
}

fn main() {}
