use mind::mind;

mind! {
    struct Block { w: f32[3] }

    struct BlockStack { v: f32[3] }

    fn f(p: Block[12], q: BlockStack, x: f32[3]) -> f32[3] {
        (fold x = x for layer in p { x * layer.w }) + q.v
    }

    struct Cell { w: f32[3] }

    fn CellStack(p: Cell[12]) -> f32 { sum(p.w) }
}

fn main() {}
